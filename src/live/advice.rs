//! What the rules say about a shot that was seen from above.
//!
//! In: the changes between two settled boards. Out: facts for [`shot::judge`], and its verdict as advice. The camera sees
//! where discs lie, not what touched what: a disc that moved counts as struck, one that did not move as not touched, so a
//! soft touch may be missed. Only a shot that left its disc on the board is judged.

use super::event::{Removal, What};
use super::tracker::{Change, Known, Moment};
use crate::board::{State, Zone};
use crate::register::Registration;
use crate::score::Party;
use crate::score::rules::Rules;
use crate::score::shot::{self, Breach, DiscFact, Excursion, Lie, Touch, Why};

/// Advice about the shot that led from one settled board to this one; None where there is nothing to say.
pub fn advise(rules: &Rules, board: &Registration, radius_mm: f64, now: &[Known], changes: &[Change]) -> Option<What> {
    let mut placed = changes.iter().filter_map(|change| match change {
        Change::Placed(moment) => Some(moment),
        _ => None,
    });
    let (shot, None) = (placed.next()?, placed.next()) else { return None };
    let side = shot.side?;
    let lie = |moment: &Moment| lie(moment, board, radius_mm);
    let fact = |moment: &Moment, touch, lie| {
        Some(DiscFact {
            id: moment.id,
            owner: Party::from(moment.side?),
            shot: moment.id == shot.id,
            touch,
            lie,
            excursion: Excursion::None,
            moved_by_returner: false,
        })
    };
    let mut facts: Vec<DiscFact> = Vec::new();
    for change in changes {
        facts.extend(match change {
            Change::Placed(moment) => fact(moment, Touch::None, lie(moment)),
            Change::Moved(moment, _) => fact(moment, Touch::Struck, lie(moment)),
            // What lay in the hole was taken out by its owner, not struck.
            Change::Removed(moment) if moment.state == State::InHole => None,
            Change::Removed(moment) => fact(moment, Touch::Struck, Lie::Off),
        });
    }
    let changed: Vec<u32> = facts.iter().map(|fact| fact.id).collect();
    facts.extend(now.iter().filter(|disc| !changed.contains(&disc.id)).filter_map(|disc| {
        let moment = disc.moment();
        fact(&moment, Touch::None, lie(&moment))
    }));
    facts.sort_by_key(|fact| fact.id);
    let verdict = shot::judge(rules, Party::from(side), &facts);
    // What is gone needs no advice, and a 20 has its own event.
    let on_board = |id: u32| now.iter().any(|disc| disc.id == id && disc.zone != Zone::Twenty);
    let remove: Vec<Removal> = verdict
        .remove
        .iter()
        .filter(|(id, why)| on_board(*id) && *why != Why::Twenty)
        .map(|(disc, why)| Removal { disc: *disc, why: *why })
        .collect();
    if verdict.breach.is_none() && remove.is_empty() {
        return None;
    }
    let text = text(verdict.breach, &remove);
    Some(What::Advice { side, breach: verdict.breach, remove, decided_by: verdict.decided_by, text })
}

/// Where a disc lies, in the words of the rules.
fn lie(disc: &Moment, board: &Registration, radius_mm: f64) -> Lie {
    let [five, _, fifteen] = &board.rings;
    let rho = disc.base.norm();
    match (disc.state, disc.zone) {
        (State::InHole, _) | (_, Zone::Twenty) => Lie::Hole,
        (State::Leaning, _) => Lie::Leaning,
        (_, Zone::Fifteen) => Lie::Fifteen,
        (_, Zone::Ten) if rho - radius_mm < fifteen.outer_mm => Lie::OnFifteenLine,
        (_, Zone::Ten) => Lie::Ten,
        (_, Zone::Five) => Lie::Five,
        (_, Zone::Out) if rho - radius_mm < five.outer_mm => Lie::OnShootingLine,
        (_, Zone::Out) => Lie::Beyond,
    }
}

fn text(breach: Option<Breach>, remove: &[Removal]) -> String {
    let mut sentences = Vec::new();
    match breach {
        Some(Breach::NoHit) => sentences.push("no opposing disc seems to have been touched".to_owned()),
        Some(Breach::Hiding) => sentences.push("no disc reached the 15 zone".to_owned()),
        None => {}
    }
    for removal in remove {
        let why = match removal.why {
            Why::InvalidShot => "goes with the invalid shot",
            Why::OnShootingLine => "lies on the shooting line and should be taken off",
            Why::Outside => "lies beyond the shooting line and should be taken off",
            Why::CameBack => "came back from outside and should be taken off",
            Why::Twenty => "is a 20 and is set aside",
        };
        sentences.push(format!("disc {} {why}", removal.disc));
    }
    sentences.join("; ")
}
