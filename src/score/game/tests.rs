use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::score::event::{Command, Context, Player};
use crate::score::format::Format;
use crate::score::rules::{BUILTIN, Conversion, RoundTie, RuleSet};
use crate::score::tally::{SideEntry, ZoneEntry};

fn setup(rules: &str, format: Format) -> Setup {
    let set = RuleSet::builtin(rules).unwrap();
    let (rules, defaults_taken) = set.settle().unwrap();
    let side = |party: &Party| SideInfo {
        players: (0..format.players(*party)).map(|number| Player::named(&format!("{party}{number}"))).collect(),
        colour: None,
    };
    Setup {
        rules_name: set.name,
        rules,
        defaults_taken,
        choices: Vec::new(),
        format,
        sides: format.parties().iter().map(side).collect(),
        first: Seat(0),
        context: Context::default(),
    }
}

/// A match with its log, run by commands.
struct Table {
    state: Option<Match>,
    log: Vec<Record>,
}

impl Table {
    fn new(rules: &str, format: Format) -> Self {
        let mut table = Self { state: None, log: Vec::new() };
        table.run(&Command::Create(Box::new(setup(rules, format)))).unwrap();
        table
    }

    fn run(&mut self, command: &Command) -> Result<(), crate::score::Violation> {
        for event in Match::decide(self.state.as_ref(), command)? {
            let revision = self.log.len() as u64 + 1;
            let at = Timestamp::from_second(revision as i64).unwrap();
            let record = Record { revision, at, author: "test".to_owned(), event };
            Match::apply(&mut self.state, &record);
            self.log.push(record);
        }
        Ok(())
    }

    fn game(&self) -> &Match {
        self.state.as_ref().unwrap()
    }
}

fn entry() -> impl Strategy<Value = SideEntry> {
    let small = || 0i64..4;
    let zones = (small(), small(), small(), small(), small(), 0i64..3).prop_map(|(a, b, c, d, e, aside)| SideEntry {
        zones: Some(ZoneEntry { twenty: a, fifteen: b, ten: c, five: d, out: e }),
        set_aside: Some(aside),
        ..SideEntry::default()
    });
    let total = (0i64..34, proptest::option::of(0i64..4)).prop_map(|(fives, twenties)| SideEntry {
        total: Some(5 * fives),
        twenties,
        ..SideEntry::default()
    });
    let points = (0i64..3).prop_map(|points| SideEntry { points: Some(points), ..SideEntry::default() });
    let number = || proptest::option::of(any::<i64>());
    let wild = (number(), number(), number(), number()).prop_map(|(total, twenties, points, set_aside)| SideEntry {
        total,
        twenties,
        points,
        set_aside,
        zones: None,
    });
    prop_oneof![5 => total, 4 => zones, 2 => points, 1 => wild]
}

fn round() -> impl Strategy<Value = RoundEntry> {
    let source = prop_oneof![
        4 => Just(Source::Person),
        1 => Just(Source::Import { format: "x".to_owned() }),
        1 => Just(Source::Camera { name: None })
    ];
    let seat = || proptest::option::weighted(0.2, (0u8..5).prop_map(Seat));
    let sides = prop_oneof![8 => prop::collection::vec(entry(), 2..=3), 1 => prop::collection::vec(entry(), 0..5)];
    (sides, seat(), seat(), source, prop::collection::vec(evidence(), 0..2))
        .prop_map(|(sides, first, last, source, evidence)| RoundEntry { sides, first, last, source, evidence })
}

fn evidence() -> impl Strategy<Value = Evidence> {
    (0u8..6, prop_oneof!["photo", "count"]).prop_map(|(number, kind)| Evidence {
        sha256: format!("{number:064x}"),
        kind,
        media_type: "image/jpeg".to_owned(),
        name: None,
    })
}

fn command() -> impl Strategy<Value = Command> {
    let sides = || proptest::option::of(prop::collection::vec(entry(), 2..=3));
    let reason = || prop_oneof![9 => Just("because".to_owned()), 1 => Just(" ".to_owned())];
    let party = || prop_oneof![Just(Party::A), Just(Party::B), Just(Party::C)];
    let finish = prop_oneof![
        Just(Finish::AsItStands),
        Just(Finish::Abandoned),
        party().prop_map(|by| Finish::Forfeit { by }),
        party().prop_map(|winner| Finish::ShootOut { winner }),
        proptest::option::of(party()).prop_map(|winner| Finish::Stated { winner }),
    ];
    prop_oneof![
        12 => round().prop_map(|round| Command::Record { round }),
        3 => round().prop_map(|round| Command::Propose { round, review: Vec::new() }),
        3 => (0u64..30, sides()).prop_map(|(proposal, sides)| Command::Accept { proposal, sides, reason: None }),
        1 => (0u64..30, reason()).prop_map(|(proposal, reason)| Command::Dismiss { proposal, reason }),
        4 => (0u32..9, sides(), reason())
            .prop_map(|(round, sides, reason)| Command::Correct { round, sides, first: None, last: None, reason }),
        1 => (0u32..9, 0u8..5, reason()).prop_map(|(round, seat, reason)| Command::Correct {
            round,
            sides: None,
            first: Some(Seat(seat)),
            last: None,
            reason
        }),
        2 => (0u32..9, reason()).prop_map(|(round, reason)| Command::Void { round, reason }),
        1 => (0u8..5).prop_map(|seat| Command::SetFirst { seat: Seat(seat) }),
        1 => (party(), "[a-c]{0,2}").prop_map(|(side, name)| Command::Rename {
            side,
            info: SideInfo { players: vec![Player::named(&name)], colour: None }
        }),
        1 => (0u32..9, evidence()).prop_map(|(round, evidence)| Command::Attach { round, evidence }),
        1 => finish.prop_map(|finish| Command::Finish { finish, reason: None }),
        5 => Just(Command::Undo { of: None }),
        3 => Just(Command::Redo),
    ]
}

fn table() -> impl Strategy<Value = (usize, Format)> {
    let format =
        prop_oneof![Just(Format::Singles), Just(Format::Doubles), Just(Format::TwoVersusOne), Just(Format::CutThroat)];
    (0..BUILTIN.len(), format)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_sequence_of_commands_panics_or_breaks_an_invariant(
        (rules, format) in table(),
        commands in prop::collection::vec(command(), 0..60),
    ) {
        let mut table = Table::new(BUILTIN[rules].0, format);
        for command in &commands {
            let before = table.game().clone();
            if table.run(command).is_err() {
                prop_assert_eq!(&before, table.game());
                prop_assert_eq!(before.revision(), table.game().revision());
            }
            let game = table.game();
            prop_assert_eq!(game.derived.standing, game.sum(), "the kept sums are not the sums");
            prop_assert_eq!(game.revision(), table.log.len() as u64);
            let valid = game.rounds.iter().filter(|round| round.void.is_none()).count();
            prop_assert_eq!(valid, (game.standing().counted + game.standing().surplus) as usize);
            prop_assert_eq!(game.counted().count(), game.standing().counted as usize);
            for round in game.rounds() {
                prop_assert_eq!(round.sides.len(), format.sides());
                prop_assert!(format.has(round.first) && format.has(round.last));
            }
        }
        // Folding the log, also after a trip through its stored form, gives the same match.
        let stored: Vec<Record> = table
            .log
            .iter()
            .map(|record| serde_json::from_str(&serde_json::to_string(record).unwrap()).unwrap())
            .collect();
        prop_assert_eq!(&stored, &table.log);
        let replayed = Match::replay(&stored).unwrap();
        prop_assert_eq!(&replayed, table.game());
        prop_assert_eq!(replayed.undoable(), table.game().undoable());
    }

    #[test]
    fn undo_restores_exactly_and_redo_repeats_exactly(
        (rules, format) in table(),
        commands in prop::collection::vec(command(), 0..40),
    ) {
        let mut table = Table::new(BUILTIN[rules].0, format);
        // The state before each event that can be undone, oldest first.
        let mut past: Vec<Match> = Vec::new();
        for command in commands.iter().filter(|command| !matches!(command, Command::Undo { .. } | Command::Redo)) {
            let before = table.game().clone();
            if table.run(command).is_ok() {
                past.push(before);
            }
        }
        let mut future = Vec::new();
        while let Some(expected) = past.pop() {
            future.push(table.game().clone());
            table.run(&Command::Undo { of: table.game().undoable() }).unwrap();
            prop_assert_eq!(&expected, table.game());
        }
        prop_assert_eq!(table.run(&Command::Undo { of: None }), Err(crate::score::Violation::NothingToUndo));
        while let Some(expected) = future.pop() {
            table.run(&Command::Redo).unwrap();
            prop_assert_eq!(&expected, table.game());
        }
    }

    #[test]
    fn a_round_under_2_1_0_shares_out_two_points(totals in prop::array::uniform2(0u32..240)) {
        let (rules, _) = RuleSet::builtin("nca").unwrap().settle().unwrap();
        prop_assert_eq!(rules.conversion, Conversion::MatchPoints);
        prop_assert_eq!(rules.round_tie, RoundTie::Shared);
        let points = crate::score::standing::convert(&rules, &totals);
        prop_assert_eq!(points[0] + points[1], 2);
        let swapped = crate::score::standing::convert(&rules, &[totals[1], totals[0]]);
        prop_assert_eq!([points[0], points[1]], [swapped[1], swapped[0]]);
    }

    #[test]
    fn under_the_difference_one_side_at_most_scores_and_it_is_the_higher(totals in prop::array::uniform2(0u32..240)) {
        let (rules, _) = RuleSet::builtin("spruce").unwrap().settle().unwrap();
        let points = crate::score::standing::convert(&rules, &totals);
        prop_assert_eq!(points[0].abs_diff(points[1]), totals[0].abs_diff(totals[1]));
        prop_assert_eq!(points[0].min(points[1]), 0);
        prop_assert_eq!(points[0] > points[1], totals[0] > totals[1]);
    }

    #[test]
    fn three_players_share_three_or_two_points(totals in prop::array::uniform3(0u32..12)) {
        let (rules, _) = RuleSet::builtin("mayday-match").unwrap().settle().unwrap();
        let points = crate::score::standing::convert(&rules, &totals);
        let level = totals[0] == totals[1] && totals[1] == totals[2];
        let distinct = totals[0] != totals[1] && totals[1] != totals[2] && totals[0] != totals[2];
        let sum: u32 = points.iter().sum();
        prop_assert_eq!(sum, if level || distinct { 3 } else { 2 });
        for (own, other) in [(0, 1), (1, 2), (2, 0)] {
            prop_assert!(totals[own] < totals[other] || points[own] >= points[other]);
        }
    }
}

#[test]
fn undo_names_what_it_means_so_that_nothing_newer_is_taken_back() {
    let mut table = Table::new("nca", Format::Singles);
    let entry = || RoundEntry {
        sides: vec![SideEntry::of_total(60), SideEntry::of_total(40)],
        first: None,
        last: None,
        source: Source::Person,
        evidence: Vec::new(),
    };
    table.run(&Command::Record { round: entry() }).unwrap();
    let seen = table.game().undoable();
    table.run(&Command::Propose { round: entry(), review: Vec::new() }).unwrap();
    let refused = table.run(&Command::Undo { of: seen });
    assert_eq!(refused, Err(crate::score::Violation::NotLatest { expected: 2, found: 3 }));
}

#[test]
fn one_photo_is_one_round() {
    let mut table = Table::new("nca", Format::Singles);
    let photo =
        Evidence { sha256: "ab".repeat(32), kind: "photo".to_owned(), media_type: "image/jpeg".to_owned(), name: None };
    let round = RoundEntry {
        sides: vec![SideEntry::of_total(60), SideEntry::of_total(40)],
        first: None,
        last: None,
        source: Source::Camera { name: None },
        evidence: vec![photo],
    };
    table.run(&Command::Propose { round: round.clone(), review: Vec::new() }).unwrap();
    let again = Command::Propose { round, review: Vec::new() };
    assert!(matches!(table.run(&again), Err(crate::score::Violation::SameEvidence { .. })));
    table.run(&Command::Accept { proposal: 2, sides: None, reason: None }).unwrap();
    assert!(matches!(table.run(&again), Err(crate::score::Violation::SameEvidence { .. })));
    table.run(&Command::Void { round: 1, reason: "wrong photo".to_owned() }).unwrap();
    table.run(&again).unwrap();
}

#[test]
fn a_correction_that_ends_the_match_earlier_leaves_later_rounds_out_and_says_so() {
    let mut table = Table::new("first-to-5", Format::Singles);
    let record = |a, b| Command::Record {
        round: RoundEntry {
            sides: vec![SideEntry::of_total(a), SideEntry::of_total(b)],
            first: None,
            last: None,
            source: Source::Person,
            evidence: Vec::new(),
        },
    };
    for (a, b) in [(60, 40), (40, 60), (60, 40), (60, 40)] {
        table.run(&record(a, b)).unwrap();
    }
    assert_eq!(table.game().standing().points[..2], [6, 2]);
    let sides = Some(vec![SideEntry::of_total(60), SideEntry::of_total(40)]);
    let correct = Command::Correct { round: 2, sides, first: None, last: None, reason: "swapped".to_owned() };
    table.run(&correct).unwrap();
    assert_eq!(table.game().standing().points[..2], [6, 0]);
    assert_eq!((table.game().standing().counted, table.game().standing().surplus), (3, 1));
    assert!(table.game().notices()[0].contains("do not count"));
}

fn totals(totals: &[i64]) -> Vec<SideEntry> {
    totals.iter().map(|total| SideEntry::of_total(*total)).collect()
}

fn recorded(sides: Vec<SideEntry>, source: Source) -> Command {
    Command::Record { round: RoundEntry { sides, first: None, last: None, source, evidence: Vec::new() } }
}

#[test]
fn a_side_that_a_correction_leaves_alone_is_not_asked_again() {
    let mut table = Table::new("nca", Format::Singles);
    table.run(&recorded(totals(&[21, 20]), Source::Import { format: "croki".to_owned() })).unwrap();
    let correct = |sides: &[i64]| Command::Correct {
        round: 1,
        sides: Some(totals(sides)),
        first: None,
        last: None,
        reason: "typed wrong".to_owned(),
    };
    assert!(table.run(&correct(&[21, 24])).is_err(), "what is typed now has to be right");
    table.run(&correct(&[21, 25])).unwrap();
    assert_eq!(table.game().rounds()[0].sides[1].total(), Some(25));
}

#[test]
fn a_shoot_out_is_won_by_one_of_those_who_are_level() {
    let mut three = setup("nk-nl", Format::CutThroat);
    three.rules.end = crate::score::rules::End::Rounds(2);
    let mut table = Table { state: None, log: Vec::new() };
    table.run(&Command::Create(Box::new(three))).unwrap();
    table.run(&recorded(totals(&[50, 20, 10]), Source::Person)).unwrap();
    table.run(&recorded(totals(&[20, 50, 10]), Source::Person)).unwrap();
    let won_by = |winner| Command::Finish { finish: Finish::ShootOut { winner }, reason: None };
    assert_eq!(table.run(&won_by(Party::C)), Err(crate::score::Violation::NotLevel { party: Party::C }));
    table.run(&won_by(Party::B)).unwrap();
}

#[test]
fn points_that_no_round_gives_are_refused() {
    let points = |a, b| {
        let entry = |points| SideEntry { points: Some(points), ..SideEntry::default() };
        recorded(vec![entry(a), entry(b)], Source::Person)
    };
    Table::new("hilinski", Format::Singles).run(&points(240, 0)).unwrap();
    let mut table = Table::new("hilinski", Format::Singles);
    for refused in [points(245, 0), points(7, 0), points(i64::from(u32::MAX), 0)] {
        assert!(matches!(table.run(&refused), Err(crate::score::Violation::PointsImpossible { .. })), "{refused:?}");
    }
}

#[test]
fn a_name_that_steers_a_terminal_or_fills_a_screen_is_refused() {
    for name in ["Ann\u{1b}[2J", "Ann\nBob", &"A".repeat(201)] {
        let mut hostile = setup("nca", Format::Singles);
        hostile.sides[1] = SideInfo { players: vec![Player::named(name)], colour: None };
        let refused = Match::decide(None, &Command::Create(Box::new(hostile)));
        assert!(matches!(refused, Err(crate::score::Violation::Unpresentable { .. })), "{name:?}");
    }
}
