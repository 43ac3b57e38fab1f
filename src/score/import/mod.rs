//! Other systems' files to commands of a match. Tolerant of what it does not know, exact about what it does.
//!
//! An import gives [`Imported`] matches: a setup, rounds and a stated result, which then go through [`Match::decide`] like
//! anything else, marked as foreign: totals that no count can give are accepted and marked, never derived or "repaired".

pub mod cmn;
pub mod croki;
pub mod json;
pub mod reference;
pub mod scorekinole;
pub mod tourney;

use jiff::Timestamp;

use uuid::Uuid;

use super::event::{Command, Context, Finish, Player, Record, RoundEntry, Setup, SideInfo, Source};
use super::format::{Format, Party, Seat};
use super::game::{Match, Status};
use super::rules::{End, EndTie, RuleSet, RulesError};
use super::tally::SideEntry;
use super::violation::Violation;

/// A format that matches can be read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Crokinole Match Notation.
    Cmn,
    /// A croki.nl body or its answer.
    Croki,
    /// Scorekinole's text.
    Scorekinole,
    /// Crokinole Reference's sheet.
    Reference,
    /// crokinole-tourney's backup.
    Tourney,
    /// crokeye's own JSON.
    Json,
}

impl Origin {
    /// All formats, in the order they are listed.
    pub const ALL: [Origin; 6] =
        [Origin::Cmn, Origin::Croki, Origin::Scorekinole, Origin::Reference, Origin::Tourney, Origin::Json];

    /// Name on the command line, the same as for the export.
    pub const fn name(self) -> &'static str {
        match self {
            Origin::Cmn => "cmn",
            Origin::Croki => "croki",
            Origin::Scorekinole => "scorekinole",
            Origin::Reference => "reference",
            Origin::Tourney => "tourney",
            Origin::Json => "json",
        }
    }
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Not of this format.
    #[error("not {format}: {reason}")]
    Parse {
        /// The format.
        format: &'static str,
        /// Where and why.
        reason: String,
    },
    /// Larger than any such file.
    #[error("{format}: {found} {what} are more than any such file holds ({most})")]
    TooMuch {
        /// The format.
        format: &'static str,
        /// Of what.
        what: &'static str,
        /// How many.
        found: usize,
        /// The most.
        most: usize,
    },
    /// The rules named for it are not there.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// A match in it breaks the rules of any match.
    #[error("match {at} of the file: {reason}")]
    Refused {
        /// Which one, from 1.
        at: usize,
        /// Why.
        reason: Violation,
    },
}

/// Largest file read: a season of a large league is some 100 kB a format.
pub const MOST_BYTES: usize = 64 << 20;

/// Most matches of one file.
const MOST_MATCHES: usize = 100_000;

/// A match as a file states it.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// Players of each side.
    pub sides: Vec<Vec<Player>>,
    /// Rounds in order.
    pub rounds: Vec<ForeignRound>,
    /// The winner as stated: `None` where the file does not say, `Some(None)` for a draw.
    pub winner: Option<Option<usize>>,
    /// A shoot-out's winner.
    pub shoot_out: Option<usize>,
    /// How the match was to end, as far as the file says.
    pub end: Option<End>,
    /// Rule set named in the file.
    pub rules: Option<String>,
    /// Parameters chosen beside it.
    pub choices: Vec<String>,
    /// Where it belongs.
    pub context: Context,
    /// What the reader should know.
    pub notes: Vec<String>,
}

/// A round as a file states it.
#[derive(Clone, Debug, Default)]
pub struct ForeignRound {
    /// One entry a side.
    pub sides: Vec<SideEntry>,
    /// The side that shot first, as an index, where the file says.
    pub first: Option<usize>,
    /// The side that shot last, as an index, where the file says.
    pub last: Option<usize>,
}

/// A file's match as a log, ready for the store.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its identity, where the file is crokeye's own.
    pub id: Option<Uuid>,
    /// The log.
    pub log: Vec<Record>,
    /// What the reader should know.
    pub notes: Vec<String>,
    /// The state the log comes to.
    pub game: Match,
}

/// Who imports, and when: stamped on what foreign files bring.
#[derive(Clone, Copy, Debug)]
pub struct Stamp<'a> {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub author: &'a str,
}

/// Reads a file and plans its matches. `rules` names the rule set to take where the file names none.
///
/// # Errors
/// See [`ImportError`]. All matches are planned before any is stored.
pub fn read(origin: Origin, bytes: &[u8], rules: &str, stamp: Stamp) -> Result<Vec<Plan>, ImportError> {
    if bytes.len() > MOST_BYTES {
        let found = bytes.len();
        return Err(ImportError::TooMuch { format: origin.name(), what: "bytes", found, most: MOST_BYTES });
    }
    let matches = match origin {
        Origin::Cmn => cmn::read(bytes)?,
        Origin::Croki => croki::read(bytes)?,
        Origin::Scorekinole => scorekinole::read(bytes)?,
        Origin::Reference => reference::read(bytes)?,
        Origin::Tourney => tourney::read(bytes)?,
        Origin::Json => return json::read(bytes),
    };
    if matches.len() > MOST_MATCHES {
        let found = matches.len();
        return Err(ImportError::TooMuch { format: origin.name(), what: "matches", found, most: MOST_MATCHES });
    }
    matches.into_iter().zip(1..).map(|(imported, at)| plan(origin, imported, rules, stamp, at)).collect()
}

fn plan(origin: Origin, mut imported: Imported, fallback: &str, stamp: Stamp, at: usize) -> Result<Plan, ImportError> {
    let refused = |reason| ImportError::Refused { at, reason };
    let mut setup = setup(&mut imported, fallback)?;
    let played = u32::try_from(imported.rounds.len()).unwrap_or(u32::MAX);
    let mut draft = match follow(origin, &imported, &setup, stamp) {
        // The rounds go on after the end that the file or the rule set states: the file is the record.
        Err(Violation::MatchOver { .. } | Violation::AwaitingShootOut) => {
            imported.notes.push(format!(
                "its {played} rounds go on after the end that {} gives: all are kept, the end is taken from the file",
                words(setup.rules.end)
            ));
            setup.rules.end = End::Rounds(played.max(1));
            follow(origin, &imported, &setup, stamp)
        }
        other => other,
    }
    .map_err(refused)?;
    if let (Status::Over { winner, .. }, Some(stated)) = (draft.status(), imported.winner)
        && winner.map(Party::index) != stated
    {
        let name =
            |at: Option<usize>| at.and_then(|at| Party::ALL.get(at)).map_or("a draw".to_owned(), Party::to_string);
        imported.notes.push(format!(
            "it states {} as the result, its rounds come to {}: the rounds are kept, the statement is noted",
            name(stated),
            name(winner.map(Party::index))
        ));
        setup.context.extra.insert("stated_winner".to_owned(), serde_json::json!(stated));
        draft = follow(origin, &imported, &setup, stamp).map_err(refused)?;
    }
    if let Some(finish) = finish(&imported, draft.status()) {
        draft.run(&Command::Finish { finish, reason: None }).map_err(refused)?;
    }
    let game = draft.state.ok_or(refused(Violation::NotCreated))?;
    imported.notes.extend(game.notices());
    Ok(Plan { id: None, log: draft.log, notes: imported.notes, game })
}

fn setup(imported: &mut Imported, fallback: &str) -> Result<Setup, ImportError> {
    let name = imported.rules.clone().unwrap_or_else(|| fallback.to_owned());
    let set = match RuleSet::builtin(&name) {
        Err(_) if imported.rules.is_some() => {
            imported.notes.push(format!("its rule set {name:?} is not known here: {fallback} was taken"));
            RuleSet::builtin(fallback)?
        }
        other => other?,
    };
    let set = match set.with(&imported.choices) {
        Ok(set) => set,
        Err(error) => {
            imported.notes.push(format!("its choices of rules were left out: {error}"));
            imported.choices.clear();
            set
        }
    };
    let (mut rules, defaults_taken) = set.settle()?;
    if let Some(end) = imported.end {
        rules.end = end;
    }
    if imported.shoot_out.is_some() {
        rules.end_tie = EndTie::ShootOut;
    }
    let format = match imported.sides.as_slice() {
        [a, b] if a.len() == 2 && b.len() == 2 => Format::Doubles,
        [a, b] if a.len() == 2 && b.len() == 1 => Format::TwoVersusOne,
        [_, _, _] => Format::CutThroat,
        _ => Format::Singles,
    };
    let first = imported.rounds.first().and_then(|round| round.first).unwrap_or(0);
    Ok(Setup {
        rules_name: set.name.clone(),
        rules,
        defaults_taken,
        choices: imported.choices.clone(),
        format,
        sides: imported.sides.iter().map(|players| SideInfo { players: players.clone(), colour: None }).collect(),
        first: Seat(u8::try_from(first).unwrap_or(0)),
        context: imported.context.clone(),
    })
}

/// A log in the making.
struct Draft<'a> {
    state: Option<Match>,
    log: Vec<Record>,
    stamp: Stamp<'a>,
}

impl Draft<'_> {
    fn run(&mut self, command: &Command) -> Result<(), Violation> {
        for event in Match::decide(self.state.as_ref(), command)? {
            let revision = self.log.len() as u64 + 1;
            let record = Record { revision, at: self.stamp.at, author: self.stamp.author.to_owned(), event };
            Match::apply(&mut self.state, &record);
            self.log.push(record);
        }
        Ok(())
    }

    fn status(&self) -> Status {
        self.state.as_ref().map_or(Status::Open, Match::status)
    }
}

fn follow<'a>(origin: Origin, imported: &Imported, setup: &Setup, stamp: Stamp<'a>) -> Result<Draft<'a>, Violation> {
    let mut draft = Draft { state: None, log: Vec::new(), stamp };
    draft.run(&Command::Create(Box::new(setup.clone())))?;
    for round in &imported.rounds {
        let due = draft.state.as_ref().map_or(setup.first, Match::next_first);
        let first = round.first.and_then(|side| seat_of(side, due, setup.format));
        let last = round.last.and_then(|side| {
            let due = setup.format.last_of(first.unwrap_or(due));
            seat_of(side, due, setup.format)
        });
        let source = Source::Import { format: origin.name().to_owned() };
        let entry = RoundEntry { sides: round.sides.clone(), first, last, source, evidence: Vec::new() };
        draft.run(&Command::Record { round: entry })?;
    }
    Ok(draft)
}

/// A file names a side; the seat is the one due if it is of that side, else the next one clockwise.
fn seat_of(side: usize, due: Seat, format: Format) -> Option<Seat> {
    let seats = format.seats();
    (0..seats).map(|step| Seat((due.0 + step) % seats)).find(|seat| format.party_at(*seat).index() == side)
}

/// The result still to be stated after the rounds: a shoot-out, or a winner that the points do not give.
fn finish(imported: &Imported, status: Status) -> Option<Finish> {
    let party = |at: usize| Party::ALL.get(at).copied();
    match (status, imported.shoot_out, imported.winner) {
        (Status::ShootOutDue, Some(winner), _) => Some(Finish::ShootOut { winner: party(winner)? }),
        (Status::Over { .. }, ..) | (_, _, None) => None,
        (_, _, Some(winner)) => Some(Finish::Stated { winner: winner.and_then(party) }),
    }
}

fn words(end: End) -> String {
    match end {
        End::Rounds(rounds) => format!("{rounds} rounds"),
        End::Target(target) => format!("a target of {target}"),
        End::FirstTo { points, margin: 1 } => format!("first to {points}"),
        End::FirstTo { points, margin } => format!("first to {points} by {margin}"),
    }
}

/// Shared by the readers: names joined by a slash, as most systems write partners.
fn partners(name: &str) -> Vec<Player> {
    name.split('/').map(Player::named).filter(|player| !player.name.is_empty()).collect()
}
