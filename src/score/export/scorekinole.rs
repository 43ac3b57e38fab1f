//! Scorekinole's text for its tournament import wizard.
//!
//! Source: its exporter. A header `RR R1` (round robin) or `SS R1` (Swiss), a line `NameA,NameB,ptsA,ptsB` a match, then
//! `pA,pB,20A,20B` a round. The `p` are points of the round and add up to the match's. Partners are joined by " / ".
//! References `scorekinole.system` (RR or SS) and `scorekinole.round` fill the header; matches of one header stand together.

use std::fmt::Write;

use super::{ExportError, Exported, two_sides};
use crate::score::format::Party;
use crate::score::game::{Match, Status};

const NAME: &str = "Scorekinole text";

/// Matches under their headers, in the order given.
///
/// # Errors
/// Three sides, a match that is not over, or a name with a comma or line break, which the format cannot quote.
pub fn write(matches: &[Exported]) -> Result<Vec<u8>, ExportError> {
    let mut text = String::new();
    let mut current: Option<String> = None;
    for exported in matches {
        let game = exported.game;
        two_sides(NAME, game)?;
        if !matches!(game.status(), Status::Over { .. }) {
            return Err(ExportError::Unfit { format: NAME, reason: "it holds finished matches only".to_owned() });
        }
        let refs = &game.setup().context.refs;
        let part = |key: &str, default: &str| refs.get(key).cloned().unwrap_or_else(|| default.to_owned());
        let header = format!("{} R{}", part("scorekinole.system", "RR"), part("scorekinole.round", "1"));
        let mut block = String::new();
        if current.as_ref() != Some(&header) {
            if current.is_some() {
                block.push('\n');
            }
            block.push_str(&header);
            block.push('\n');
        }
        write_match(&mut block, game)?;
        text.push_str(&block);
        current = Some(header);
    }
    Ok(text.into_bytes())
}

/// What the text cannot hold.
pub fn losses(game: &Match) -> Vec<String> {
    let mut losses = vec![
        "totals of the rounds are left out: the text holds points and 20s".to_owned(),
        "date, rules, discs per zone, first and last shooter are left out".to_owned(),
    ];
    if game.standing().without_twenties > 0 {
        losses.push("rounds whose 20s are not known are written with 0 20s".to_owned());
    }
    if game.format().sides() != 2 {
        losses.push("three sides: the match cannot be written".to_owned());
    }
    losses
}

fn write_match(text: &mut String, game: &Match) -> Result<(), ExportError> {
    let failed = |error: std::fmt::Error| ExportError::Write { format: NAME, reason: error.to_string() };
    let [a, b] = [name(game, Party::A)?, name(game, Party::B)?];
    let points = game.standing().points;
    writeln!(text, "{a},{b},{},{}", points[0], points[1]).map_err(failed)?;
    for (_, round) in game.counted() {
        let points = game.points_of(round);
        let [ta, tb] = [0, 1].map(|at| round.sides.get(at).and_then(|side| side.twenties()).unwrap_or(0));
        writeln!(text, "{},{},{ta},{tb}", points[0], points[1]).map_err(failed)?;
    }
    Ok(())
}

fn name(game: &Match, party: Party) -> Result<String, ExportError> {
    let players = game.setup().sides.get(party.index()).map(|side| side.players.as_slice()).unwrap_or_default();
    let name = players.iter().map(|player| player.name.trim()).collect::<Vec<_>>().join(" / ");
    if name.contains([',', '\n', '\r']) {
        let reason = format!("the name {name:?} has a comma or a line break, and the text cannot quote");
        return Err(ExportError::Unfit { format: NAME, reason });
    }
    if name.parse::<i64>().is_ok() {
        let reason = format!("the name {name:?} is a number, and the text would read it as a round");
        return Err(ExportError::Unfit { format: NAME, reason });
    }
    Ok(name)
}
