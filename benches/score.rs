//! The scoring core and the store at 100,000 rounds.
//!
//! `fold/100k` folds one match of 100,000 rounds from its records; `decide/100k` adds a round to it; `append/100k` writes
//! 25,000 matches of 4 rounds; `open/100k` opens that store with its check; `list/100k` shows its latest matches.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use crokeye::score::event::{Context, Player, RoundEntry, Setup, SideInfo, Source};
use crokeye::score::import::Plan;
use crokeye::score::rules::{End, RuleSet};
use crokeye::score::tally::{SideEntry, ZoneCounts};
use crokeye::score::{Command, Format, Match, Record, Seat};
use crokeye::store::Store;
use jiff::Timestamp;

const ROUNDS: u32 = 100_000;

fn setup(rounds: u32) -> Command {
    let (mut rules, defaults_taken) = RuleSet::builtin("nca").unwrap().settle().unwrap();
    rules.end = End::Rounds(rounds);
    let side = |name: &str| SideInfo { players: vec![Player::named(name)], colour: None };
    Command::Create(Box::new(Setup {
        rules_name: "nca".to_owned(),
        rules,
        defaults_taken,
        choices: Vec::new(),
        format: Format::Singles,
        sides: vec![side("Ann"), side("Bob")],
        first: Seat(0),
        context: Context::default(),
    }))
}

fn round(number: u32) -> Command {
    let zones = ZoneCounts { fifteen: number % 4, ten: number % 3, five: 1, ..ZoneCounts::default() };
    Command::Record {
        round: RoundEntry {
            sides: vec![SideEntry::of_zones(zones, number % 2), SideEntry::of_total(5 * i64::from(number % 25))],
            first: None,
            last: None,
            source: Source::Person,
            evidence: Vec::new(),
        },
    }
}

fn log(rounds: u32) -> (Vec<Record>, Match) {
    let (mut state, mut log) = (None, Vec::new());
    for command in std::iter::once(setup(rounds + 1)).chain((0..rounds).map(round)) {
        for event in Match::decide(state.as_ref(), &command).unwrap() {
            let revision = log.len() as u64 + 1;
            let record = Record { revision, at: Timestamp::UNIX_EPOCH, author: "bench".to_owned(), event };
            Match::apply(&mut state, &record);
            log.push(record);
        }
    }
    (log, state.unwrap())
}

async fn fill(path: &Path) {
    let store = Store::open(path).await.unwrap();
    let (log, game) = log(4);
    let plan = Plan { id: None, log, notes: Vec::new(), game };
    let thousand = vec![plan; 1_000];
    for _ in 0..ROUNDS / 4 / 1_000 {
        store.restore(&thousand).await.unwrap();
    }
    store.close().await;
}

fn benches(c: &mut Criterion) {
    let (long, game) = log(ROUNDS);
    let mut group = c.benchmark_group("score");
    group.sample_size(10);
    group.bench_function("fold/100k", |b| b.iter(|| Match::replay(black_box(&long))));
    group.bench_function("decide/100k", |b| b.iter(|| Match::decide(Some(black_box(&game)), &round(7))));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    group.bench_function("append/100k", |b| {
        b.iter_with_large_drop(|| {
            let folder = tempfile::tempdir().unwrap();
            runtime.block_on(fill(&folder.path().join("bench.db")));
            folder
        });
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bench.db");
    runtime.block_on(fill(&path));
    group.bench_function("open/100k", |b| {
        b.iter(|| runtime.block_on(async { Store::open(&path).await.unwrap().close().await }));
    });
    let store = runtime.block_on(Store::open(&path)).unwrap();
    group.bench_function("list/100k", |b| b.iter(|| runtime.block_on(store.list(20)).unwrap()));
    group.finish();
}

criterion_group!(score, benches);
criterion_main!(score);
