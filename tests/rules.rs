//! Worked examples of every rule set, as data: `tests/rules/*.toml`, one file a set, readable by a referee.
//!
//! A case is a match: steps with what they must bring. Side scores are written as on the command line. A shot is facts
//! about discs with what must happen to them. A line call is a disc's place on the standard board with its value (mm from
//! the hole's centre; inner line edges 100.8, 202.4, 304.0, contact radius 16.0). `timeout` gives shots per side and who may shoot once more.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use crokeye::board::State;
use crokeye::geometry::Point;
use crokeye::judge::{self, Edges, Placed};
use crokeye::score::event::{Context, Finish, Player, RoundEntry, Setup, SideInfo, Source};
use crokeye::score::game::Status;
use crokeye::score::notation::{SeatName, seat_word};
use crokeye::score::rules::{BUILTIN, RuleSet};
use crokeye::score::shot::{self, Breach, DiscFact, StartFacts, judge_start, references, shot_owed};
use crokeye::score::tally::SideEntry;
use crokeye::score::{Command, Format, Match, Party, Record};
use jiff::Timestamp;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rules: String,
    #[serde(default)]
    case: Vec<Case>,
    #[serde(default)]
    shot: Vec<Shot>,
    #[serde(default)]
    start: Vec<Start>,
    #[serde(default)]
    line: Vec<LineCall>,
    #[serde(default)]
    timeout: Vec<TimeOut>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    title: String,
    source: String,
    /// A rule set other than the file's, such as first-to-5.
    rules: Option<String>,
    format: Option<Format>,
    #[serde(default)]
    set: Vec<String>,
    first: Option<String>,
    /// Defaults that must be reported as taken.
    #[serde(default)]
    silent_about: Vec<String>,
    step: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    // What is done: one of these.
    round: Option<Vec<String>>,
    /// A round as another system states it.
    foreign: Option<Vec<String>>,
    propose: Option<Vec<String>>,
    accept: Option<Accept>,
    correct: Option<u32>,
    void: Option<u32>,
    next_starter: Option<String>,
    undo: Option<bool>,
    redo: Option<bool>,
    shoot_out: Option<String>,
    forfeit: Option<String>,
    // With what.
    sides: Option<Vec<String>>,
    started_by: Option<String>,
    // What must come of it.
    event: Option<String>,
    refused: Option<String>,
    totals: Option<Vec<u32>>,
    round_points: Option<Vec<u32>>,
    points: Option<Vec<u64>>,
    state: Option<String>,
    first: Option<String>,
    last: Option<String>,
    next: Option<String>,
    odd: Option<Vec<String>>,
    held: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Accept {
    #[serde(default)]
    sides: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shot {
    title: String,
    source: String,
    shooter: Party,
    discs: Vec<DiscFact>,
    breach: Option<Breach>,
    #[serde(default)]
    removed: Vec<u32>,
    #[serde(default)]
    twenties: BTreeMap<String, u32>,
    #[serde(default)]
    put_back: Vec<u32>,
    /// A piece of the rule text that must be quoted.
    reference: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Start {
    title: String,
    source: String,
    facts: StartFacts,
    legal: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineCall {
    title: String,
    source: String,
    rho_mm: f64,
    #[serde(default = "flat")]
    lies: State,
    value: u32,
    #[serde(default)]
    close: bool,
}

fn flat() -> State {
    State::Flat
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TimeOut {
    title: String,
    source: String,
    shots: [u32; 2],
    owed: Option<Party>,
}

struct Referee {
    state: Option<Match>,
    log: Vec<Record>,
}

impl Referee {
    fn run(&mut self, command: &Command) -> Result<String, String> {
        let events = Match::decide(self.state.as_ref(), command).map_err(|reason| reason.to_string())?;
        let name = events[0].name().to_owned();
        for event in events {
            let revision = self.log.len() as u64 + 1;
            let record = Record { revision, at: Timestamp::UNIX_EPOCH, author: "referee".to_owned(), event };
            Match::apply(&mut self.state, &record);
            self.log.push(record);
        }
        Ok(name)
    }
}

fn entries(sides: &[String]) -> Vec<SideEntry> {
    sides.iter().map(|side| side.parse().unwrap_or_else(|error| panic!("{side:?}: {error}"))).collect()
}

fn command(step: &Step, state: &Match) -> Command {
    let seat = |name: &String| SeatName::from_str(name).unwrap().seat(state.format()).unwrap();
    let entry = |sides: &[String], source| RoundEntry {
        sides: entries(sides),
        first: step.started_by.as_ref().map(seat),
        last: None,
        source,
        evidence: Vec::new(),
    };
    let reason = "as the example says".to_owned();
    if let Some(sides) = &step.round {
        return Command::Record { round: entry(sides, Source::Person) };
    }
    if let Some(sides) = &step.foreign {
        return Command::Record { round: entry(sides, Source::Import { format: "elsewhere".to_owned() }) };
    }
    if let Some(sides) = &step.propose {
        return Command::Propose { round: entry(sides, Source::Camera { name: None }), review: Vec::new() };
    }
    if let Some(accept) = &step.accept {
        let proposal = state.open_proposals().last().map_or(0, |proposal| proposal.number);
        return Command::Accept { proposal, sides: accept.sides.as_deref().map(entries), reason: None };
    }
    if let Some(round) = step.correct {
        let first = step.started_by.as_ref().map(seat);
        return Command::Correct { round, sides: step.sides.as_deref().map(entries), first, last: None, reason };
    }
    if let Some(round) = step.void {
        return Command::Void { round, reason };
    }
    if let Some(name) = &step.next_starter {
        return Command::SetFirst { seat: seat(name) };
    }
    if let Some(winner) = &step.shoot_out {
        return Command::Finish { finish: Finish::ShootOut { winner: winner.parse().unwrap() }, reason: None };
    }
    if let Some(by) = &step.forfeit {
        return Command::Finish { finish: Finish::Forfeit { by: by.parse().unwrap() }, reason: None };
    }
    match (step.undo, step.redo) {
        (Some(true), _) => Command::Undo { of: None },
        (_, Some(true)) => Command::Redo,
        _ => panic!("a step does nothing"),
    }
}

fn state_words(game: &Match) -> String {
    match game.status() {
        Status::Open => "open".to_owned(),
        Status::ShootOutDue => "shoot-out due".to_owned(),
        Status::Over { winner: Some(winner), .. } => format!("{winner} won"),
        Status::Over { winner: None, .. } => "drawn".to_owned(),
    }
}

fn play(file: &File, case: &Case) {
    let set = RuleSet::builtin(case.rules.as_ref().unwrap_or(&file.rules)).unwrap().with(&case.set).unwrap();
    let (rules, defaults_taken) = set.settle().unwrap();
    for name in &case.silent_about {
        assert!(defaults_taken.iter().any(|taken| taken.parameter == *name), "{name} was not reported as a default");
    }
    let format = case.format.unwrap_or(Format::Singles);
    let sides = format.parties().iter().map(|party| SideInfo {
        players: (1..=format.players(*party)).map(|number| Player::named(&format!("{party}{number}"))).collect(),
        colour: None,
    });
    let first = case.first.as_deref().unwrap_or("A");
    let setup = Setup {
        rules_name: set.name.clone(),
        rules,
        defaults_taken,
        choices: case.set.clone(),
        format,
        sides: sides.collect(),
        first: SeatName::from_str(first).unwrap().seat(format).unwrap(),
        context: Context::default(),
    };
    let mut referee = Referee { state: None, log: Vec::new() };
    referee.run(&Command::Create(Box::new(setup))).unwrap();
    for (number, step) in (1..).zip(&case.step) {
        let before = referee.state.clone();
        let outcome = referee.run(&command(step, before.as_ref().unwrap()));
        let game = referee.state.as_ref().unwrap();
        let at = format!("step {number}");
        match (&step.refused, &outcome) {
            (Some(words), Err(reason)) => {
                assert!(reason.contains(words), "{at}: refused for {reason:?}, expected {words:?}");
                assert_eq!(before.as_ref(), Some(game), "{at}: a refused command changed the state");
            }
            (Some(words), Ok(event)) => panic!("{at}: {event}, but it should be refused for {words:?}"),
            (None, Err(reason)) => panic!("{at}: refused: {reason}"),
            (None, Ok(event)) => {
                if let Some(expected) = &step.event {
                    assert_eq!(event, expected, "{at}: event");
                }
            }
        }
        let sides = game.format().sides();
        if let Some(expected) = &step.points {
            assert_eq!(&game.standing().points[..sides], expected.as_slice(), "{at}: points of the match");
        }
        if let Some(expected) = &step.state {
            assert_eq!(&state_words(game), expected, "{at}: state");
        }
        if let Some(expected) = &step.next {
            assert_eq!(&seat_word(game.format(), game.next_first()), expected, "{at}: next starter");
        }
        if let Some(expected) = &step.held {
            let held = game.proposals().last().map(|proposal| proposal.held.join("; ")).unwrap_or_default();
            assert!(held.contains(expected), "{at}: held for {held:?}");
        }
        let round = match step.correct {
            Some(round) => game.rounds().get(round as usize - 1),
            None => game.rounds().last(),
        };
        if let Some(expected) = &step.totals {
            let totals: Vec<u32> = round.unwrap().sides.iter().filter_map(|side| side.total()).collect();
            assert_eq!(&totals, expected, "{at}: totals");
        }
        if let Some(expected) = &step.round_points {
            assert_eq!(&game.points_of(round.unwrap())[..sides], expected.as_slice(), "{at}: points of the round");
        }
        for (expected, found) in
            [(&step.first, round.map(|round| round.first)), (&step.last, round.map(|round| round.last))]
        {
            if let Some(expected) = expected {
                assert_eq!(&seat_word(game.format(), found.unwrap()), expected, "{at}: first or last shooter");
            }
        }
        if let Some(expected) = &step.odd {
            let odd: Vec<String> = round
                .unwrap()
                .odd
                .iter()
                .map(|odd| serde_json::to_value(odd).unwrap().as_str().unwrap().to_owned())
                .collect();
            assert_eq!(&odd, expected, "{at}: marks");
        }
    }
    assert_eq!(Match::replay(&referee.log), referee.state, "replaying the log gives another state");
}

fn judge_shot(set: &RuleSet, example: &Shot) {
    let (rules, _) = set.settle().unwrap();
    let verdict = shot::judge(&rules, example.shooter, &example.discs);
    assert_eq!(verdict.breach, example.breach, "breach");
    let removed: Vec<u32> = verdict.remove.iter().map(|(id, _)| *id).collect();
    assert_eq!(removed, example.removed, "removed");
    let mut twenties = BTreeMap::new();
    for (_, owner) in &verdict.twenties {
        *twenties.entry(owner.letter().to_ascii_lowercase().to_string()).or_insert(0) += 1;
    }
    assert_eq!(twenties, example.twenties, "twenties");
    assert_eq!(verdict.put_back, example.put_back, "put back");
    if let Some(words) = &example.reference {
        let texts = references(set, &verdict);
        assert!(texts.iter().any(|text| text.contains(words)), "no reference says {words:?}: {texts:?}");
    }
}

fn call_line(call: &LineCall) {
    let edges = Edges { inner_mm: [304.0, 202.4, 100.8], centres: [Point::new(0.0, 0.0); 3], hole_mm: 17.46 };
    let disc = Placed {
        base: Point::new(call.rho_mm, 0.0),
        radius_mm: 16.0,
        // Sharper than any picture: the examples are about the rule, not about the measurement.
        random_sigma_mm: 0.01,
        state: call.lies,
        alternatives: Vec::new(),
    };
    let verdict = crokeye::judge::judge(&disc, &edges, &judge::Config::default());
    assert_eq!(verdict.zone.value(), call.value, "value");
    assert_eq!(verdict.close_other().is_some(), call.close, "close");
}

/// Runs one example and names it when it fails.
fn named(file: &str, title: &str, source: &str, run: impl FnOnce()) -> bool {
    assert!(!source.is_empty(), "{file}: {title:?} has no source");
    let fine = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_ok();
    if !fine {
        eprintln!("FAILED {file}: {title} ({source})");
    }
    fine
}

fn files() -> Vec<(String, File)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/rules");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let file = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (name, file)
    };
    paths.iter().map(read).collect()
}

#[test]
fn every_worked_example_comes_out_as_written() {
    let mut failed = 0;
    let mut ran = 0;
    for (name, file) in &files() {
        let set = RuleSet::builtin(&file.rules).unwrap();
        for case in &file.case {
            failed += usize::from(!named(name, &case.title, &case.source, || play(file, case)));
        }
        for shot in &file.shot {
            failed += usize::from(!named(name, &shot.title, &shot.source, || judge_shot(&set, shot)));
        }
        let (rules, _) = set.settle().unwrap();
        for start in &file.start {
            let run = || assert_eq!(judge_start(&rules, &start.facts).is_ok(), start.legal);
            failed += usize::from(!named(name, &start.title, &start.source, run));
        }
        for timeout in &file.timeout {
            let run = || assert_eq!(shot_owed(&rules, timeout.shots[0], timeout.shots[1]), timeout.owed);
            failed += usize::from(!named(name, &timeout.title, &timeout.source, run));
        }
        for call in &file.line {
            failed += usize::from(!named(name, &call.title, &call.source, || call_line(call)));
        }
        ran += file.case.len() + file.shot.len() + file.start.len() + file.line.len() + file.timeout.len();
    }
    assert_eq!(failed, 0, "{failed} of {ran} worked examples failed");
}

#[test]
fn every_rule_set_has_a_file_of_examples() {
    let files = files();
    for (name, _) in BUILTIN {
        let found = files.iter().find(|(file, _)| file == name);
        let (_, file) = found.unwrap_or_else(|| panic!("tests/rules/{name}.toml is missing"));
        assert_eq!(&file.rules, name, "tests/rules/{name}.toml is about another set");
        assert!(!file.case.is_empty(), "tests/rules/{name}.toml plays no match");
    }
}
