//! Readers of foreign files against mutilated ones: an answer or an error, never a panic, and what is read can be stored.
//!
//! `PROPTEST_CASES=1000000 cargo test --release --test exchange_mutants` makes a long run of it; `fuzz/` holds the same
//! question as a coverage-guided target.

use crokeye::score::export::{Exported, Target, explain, export};
use crokeye::score::import::{Origin, Stamp, read};
use crokeye::score::{Match, Record};
use jiff::Timestamp;
use proptest::prelude::*;

const SEEDS: &[(Origin, &[u8])] = &[
    (Origin::Cmn, include_bytes!("exchange/seeds/single.cmn.json")),
    (Origin::Cmn, include_bytes!("exchange/seeds/batch.cmn.json")),
    (Origin::Croki, include_bytes!("exchange/seeds/list.croki.json")),
    (Origin::Scorekinole, include_bytes!("exchange/seeds/league.scorekinole.txt")),
    (Origin::Reference, include_bytes!("exchange/seeds/sheet.reference.xlsx")),
    (Origin::Tourney, include_bytes!("exchange/seeds/backup.tourney.json")),
    (Origin::Json, include_bytes!("exchange/seeds/match.crokeye.jsonl")),
];

/// Values that readers of numbers and names tend to trip over.
const SPLINTERS: &[&str] = &[
    "null",
    "-1",
    "0",
    "1e999",
    "18446744073709551616",
    "-9223372036854775808",
    "9007199254740993",
    "0.5",
    "\"\"",
    "\"/\"",
    "\"a/b/c\"",
    "[]",
    "{}",
    "[[[[]]]]",
    "true",
    ",",
    "\n",
    "\u{0}",
    "\u{feff}",
    "\"\\ud800\"",
    "first_to",
    "2026-13-40T99:99:99Z",
    "-009999-01-01T00:00:00Z",
];

#[derive(Clone, Debug)]
enum Cut {
    Flip(usize, u8),
    Remove(usize, usize),
    Double(usize, usize),
    Truncate(usize),
    Insert(usize, &'static str),
    Replace(usize, &'static str),
}

fn cut() -> impl Strategy<Value = Cut> {
    let at = || any::<usize>();
    let splinter = || prop::sample::select(SPLINTERS);
    prop_oneof![
        1 => (at(), any::<u8>()).prop_map(|(at, bits)| Cut::Flip(at, bits)),
        1 => (at(), 1usize..40).prop_map(|(at, length)| Cut::Remove(at, length)),
        1 => (at(), 1usize..400).prop_map(|(at, length)| Cut::Double(at, length)),
        1 => at().prop_map(Cut::Truncate),
        2 => (at(), splinter()).prop_map(|(at, text)| Cut::Insert(at, text)),
        5 => (at(), splinter()).prop_map(|(at, text)| Cut::Replace(at, text)),
    ]
}

fn mutilate(bytes: &mut Vec<u8>, cut: &Cut) {
    if bytes.is_empty() {
        return;
    }
    let length = bytes.len();
    match *cut {
        Cut::Flip(at, bits) => bytes[at % length] ^= bits,
        Cut::Remove(at, count) => drop(bytes.drain(at % length..(at % length + count).min(length))),
        Cut::Double(at, count) => {
            let part = bytes[at % length..(at % length + count).min(length)].to_vec();
            bytes.splice(at % length..at % length, part);
        }
        Cut::Truncate(at) => bytes.truncate(at % length),
        Cut::Insert(at, text) => drop(bytes.splice(at % length..at % length, text.bytes())),
        // The value that begins at or after a place: a number, or a text in quotes.
        Cut::Replace(at, text) => {
            let Some(start) = bytes[at % length..].iter().position(|byte| byte.is_ascii_digit() || *byte == b'"')
            else {
                return;
            };
            let start = at % length + start;
            let end = if bytes[start] == b'"' {
                bytes[start + 1..].iter().position(|byte| *byte == b'"').map_or(length, |end| start + end + 2)
            } else {
                bytes[start..].iter().position(|byte| !byte.is_ascii_digit()).map_or(length, |end| start + end)
            };
            bytes.splice(start..end.min(length), text.bytes());
        }
    }
}

fn check(origin: Origin, bytes: &[u8]) {
    let Ok(plans) = read(origin, bytes, "nca", Stamp { at: Timestamp::UNIX_EPOCH, author: "test" }) else { return };
    for plan in plans {
        let stored: Vec<Record> = plan
            .log
            .iter()
            .map(|record| serde_json::from_str(&serde_json::to_string(record).unwrap()).unwrap())
            .collect();
        assert_eq!(Match::replay(&stored).unwrap(), plan.game);
        let exported = Exported { id: uuid::Uuid::nil(), game: &plan.game, log: &plan.log, counts: &[] };
        for target in Target::ALL {
            // Written or refused: either is an answer.
            let _ = export(target, &[exported]);
            explain(target, &plan.game);
        }
    }
}

#[test]
fn every_seed_is_read() {
    for (origin, bytes) in SEEDS {
        let stamp = Stamp { at: Timestamp::UNIX_EPOCH, author: "test" };
        let plans = read(*origin, bytes, "nca", stamp).unwrap_or_else(|error| panic!("{}: {error}", origin.name()));
        assert!(!plans.is_empty(), "{}", origin.name());
    }
}

/// Files tried in an ordinary run: some three seconds.
const CASES: u32 = 3_000;

fn config() -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { max_global_rejects: u32::MAX, ..ProptestConfig::with_cases(asked.unwrap_or(CASES)) }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn mutilated_files_are_read_or_refused(seed in 0..SEEDS.len(), cuts in prop::collection::vec(cut(), 1..12)) {
        let (origin, bytes) = SEEDS[seed];
        let mut bytes = bytes.to_vec();
        cuts.iter().for_each(|cut| mutilate(&mut bytes, cut));
        check(origin, &bytes);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[ -~\\n,]{0,200}") {
        Origin::ALL.iter().for_each(|origin| check(*origin, text.as_bytes()));
    }
}
