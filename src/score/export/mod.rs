//! Matches to other systems' formats, one file a format; and what each format cannot hold.
//!
//! An export reads folded matches and gives bytes. Nothing is dropped silently: [`explain`] lists what stays behind.

pub mod cmn;
pub mod croki;
pub mod discs_csv;
pub mod json;
pub mod reference;
pub mod rounds_csv;
pub mod scorekinole;
pub mod tourney;

use uuid::Uuid;

use super::game::{Match, Status};

/// A format that matches can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// Crokinole Match Notation 1.0-draft.
    Cmn,
    /// Body of croki.nl's score ingest.
    Croki,
    /// Scorekinole's text.
    Scorekinole,
    /// Crokinole Reference's two-row sheet.
    Reference,
    /// crokinole-tourney's backup.
    Tourney,
    /// One line a round and side.
    RoundsCsv,
    /// One line a disc of the counts kept as evidence.
    DiscsCsv,
    /// Everything: setup, log, standing.
    Json,
}

impl Target {
    /// All formats, in the order they are listed.
    pub const ALL: [Target; 8] = [
        Target::Cmn,
        Target::Croki,
        Target::Scorekinole,
        Target::Reference,
        Target::Tourney,
        Target::RoundsCsv,
        Target::DiscsCsv,
        Target::Json,
    ];

    /// Name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Target::Cmn => "cmn",
            Target::Croki => "croki",
            Target::Scorekinole => "scorekinole",
            Target::Reference => "reference",
            Target::Tourney => "tourney",
            Target::RoundsCsv => "rounds-csv",
            Target::DiscsCsv => "discs-csv",
            Target::Json => "json",
        }
    }

    /// File extension.
    pub const fn extension(self) -> &'static str {
        match self {
            Target::Cmn | Target::Croki | Target::Tourney | Target::Json => "json",
            Target::Scorekinole => "txt",
            Target::Reference => "xlsx",
            Target::RoundsCsv | Target::DiscsCsv => "csv",
        }
    }

    /// Does the format take several matches in one file?
    pub const fn takes_many(self) -> bool {
        !matches!(self, Target::Croki)
    }
}

/// A match to export, with what the log adds to its state.
#[derive(Clone, Copy, Debug)]
pub struct Exported<'a> {
    /// Identity.
    pub id: Uuid,
    /// The state.
    pub game: &'a Match,
    /// The log, for the format that keeps it.
    pub log: &'a [super::Record],
    /// Counts (`crokeye.count/1`) kept as evidence, as (SHA-256, bytes), for the format that keeps discs.
    pub counts: &'a [(String, Vec<u8>)],
}

/// What an export cannot do.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The format has no place for such a match at all.
    #[error("{format} cannot hold this match: {reason}")]
    Unfit {
        /// The format.
        format: &'static str,
        /// Why.
        reason: String,
    },
    /// Something the receiver needs is missing.
    #[error("{format} needs {what}")]
    Missing {
        /// The format.
        format: &'static str,
        /// What, and how to give it.
        what: String,
    },
    /// The writer of the format failed.
    #[error("writing {format} failed: {reason}")]
    Write {
        /// The format.
        format: &'static str,
        /// What it says.
        reason: String,
    },
}

/// Writes matches in a format.
///
/// # Errors
/// The format cannot hold them, or needs something that is not there.
pub fn export(target: Target, matches: &[Exported]) -> Result<Vec<u8>, ExportError> {
    match target {
        Target::Cmn => cmn::write(matches),
        Target::Croki => croki::write(matches),
        Target::Scorekinole => scorekinole::write(matches),
        Target::Reference => reference::write(matches),
        Target::Tourney => tourney::write(matches),
        Target::RoundsCsv => rounds_csv::write(matches),
        Target::DiscsCsv => discs_csv::write(matches),
        Target::Json => json::write(matches),
    }
}

/// What of this match the format cannot hold or changes, one sentence each; empty when all of it survives.
pub fn explain(target: Target, game: &Match) -> Vec<String> {
    let mut losses = Vec::new();
    let log_is_lost = |losses: &mut Vec<String>| {
        let voided = game.rounds().iter().filter(|round| round.void.is_some()).count();
        let amended = game.rounds().iter().filter(|round| !round.amendments.is_empty()).count();
        if voided > 0 {
            losses.push(format!("{voided} void round(s) are left out"));
        }
        if amended > 0 {
            losses.push(format!("{amended} corrected round(s) appear with their latest numbers only"));
        }
        if game.rounds().iter().any(|round| !round.evidence.is_empty()) {
            losses.push("evidence (photos, counts) is left out".to_owned());
        }
        if game.finish().is_some() && !matches!(target, Target::Cmn | Target::Croki) {
            losses.push("that the match was ended by hand (shoot-out, forfeit) is left out".to_owned());
        }
        if matches!(target, Target::Reference | Target::Tourney) && !matches!(game.status(), Status::Over { .. }) {
            losses.push("that the match is not over is left out: read back, it is".to_owned());
        }
        losses.push("authors and times of each entry, and undone steps, are left out".to_owned());
    };
    match target {
        Target::Cmn => {
            log_is_lost(&mut losses);
            losses.extend(cmn::losses(game));
        }
        Target::Croki => {
            log_is_lost(&mut losses);
            losses.extend(croki::losses(game));
        }
        Target::Scorekinole => {
            log_is_lost(&mut losses);
            losses.extend(scorekinole::losses(game));
        }
        Target::Reference => {
            log_is_lost(&mut losses);
            losses.extend(reference::losses(game));
        }
        Target::Tourney => {
            log_is_lost(&mut losses);
            losses.extend(tourney::losses(game));
        }
        Target::RoundsCsv => losses.extend(rounds_csv::losses(game)),
        Target::DiscsCsv => losses.extend(discs_csv::losses(game)),
        Target::Json => {
            if game.rounds().iter().any(|round| !round.evidence.is_empty()) {
                losses.push("evidence (photos, counts) is named by its hash; the files stay here".to_owned());
            }
        }
    }
    losses
}

/// The two sides of a match, for formats that know two.
fn two_sides(format: &'static str, game: &Match) -> Result<(), ExportError> {
    match game.format().sides() {
        2 => Ok(()),
        sides => Err(ExportError::Unfit { format, reason: format!("it has {sides} sides, the format knows two") }),
    }
}
