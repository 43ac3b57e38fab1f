//! The rules of a single shot as pure functions: from facts about a shot to what happens to the discs.
//!
//! The facts are what an observer can see: which discs were touched, where they ended, whether one left and came back.
//! The answer names the rule parameters that decided, and [`references`] gives their text.
//!
//! "Struck" is what the shot disc itself hit; a disc moved only by a struck disc is moved "in a chain". For the hit rule and
//! the no-hiding rule both satisfy ("directly or via own disc", "a disc it struck"); removal takes the struck ones, except
//! where the rule set says that a whole failed combination goes (S2, S3).

use serde::{Deserialize, Serialize};

use super::format::Party;
use super::rules::{
    EdgeTouch, HidingBy, HitRequired, InvalidRemoves, NoHiding, Quadrant, Reach, Rebound, RuleSet, Rules,
    ShootingLineRest, TimeOut,
};

/// Where a disc ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lie {
    /// In the hole, such that it is a 20 by the rule set's definition.
    Hole,
    /// Leaning into the hole or over it: in the 15 zone.
    Leaning,
    /// Inside the 15 line.
    Fifteen,
    /// Touching the 15 line: near enough for the no-hiding rule, worth 10.
    OnFifteenLine,
    /// In the 10 zone, clear of the 15 line.
    Ten,
    /// In the 5 zone.
    Five,
    /// Touching the shooting line.
    OnShootingLine,
    /// On the surface beyond the shooting line.
    Beyond,
    /// In the ditch or on the table.
    Off,
}

/// What moved or touched a disc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Touch {
    /// Nothing.
    None,
    /// The shot disc hit it.
    Struck,
    /// A disc that had been hit hit it.
    Chain,
}

/// Whether a disc was outside during the shot and is on the surface again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Excursion {
    /// It never met the outer line.
    None,
    /// It touched or crossed the outer line and came back by itself.
    CrossedLine,
    /// Beyond the line, yet on the surface, it struck a disc that was out, and came back.
    StruckOutside,
    /// It left the raised surface, or struck the rail, and came back.
    LeftSurface,
}

/// A disc that takes part: the shot disc, and every disc that was on the board before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscFact {
    /// The observer's number for it.
    pub id: u32,
    /// Whose colour it has.
    pub owner: Party,
    /// Is it the disc that was shot?
    #[serde(default)]
    pub shot: bool,
    /// What moved it.
    #[serde(default = "untouched")]
    pub touch: Touch,
    /// Where it ended.
    pub lie: Lie,
    /// Was it outside meanwhile?
    #[serde(default = "never_outside")]
    pub excursion: Excursion,
    /// Was it moved by a disc that had been outside and come back?
    #[serde(default)]
    pub moved_by_returner: bool,
}

fn untouched() -> Touch {
    Touch::None
}

fn never_outside() -> Excursion {
    Excursion::None
}

/// The rule a shot broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Breach {
    /// There were opposing discs and none was touched.
    NoHit,
    /// The board was open and no disc ended near the centre.
    Hiding,
}

/// Why a disc goes off the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The shot was invalid and this disc goes with it.
    InvalidShot,
    /// It rests on the shooting line.
    OnShootingLine,
    /// It lies beyond the shooting line, in the ditch or on the table.
    Outside,
    /// It came back from outside.
    CameBack,
    /// A 20: set aside for its owner.
    Twenty,
}

/// What happens after a shot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The rule that was broken; none for a valid shot.
    pub breach: Option<Breach>,
    /// Discs that leave the board, in the order given, 20s among them.
    pub remove: Vec<(u32, Why)>,
    /// 20s that count, with their owners.
    pub twenties: Vec<(u32, Party)>,
    /// Discs that are put back where they were before.
    pub put_back: Vec<u32>,
    /// Names of the parameters that decided.
    pub decided_by: Vec<String>,
}

/// Judges a shot by `shooter`. `discs` holds the shot disc and every disc that was on the board before the shot.
pub fn judge(rules: &Rules, shooter: Party, discs: &[DiscFact]) -> Verdict {
    let mut verdict = Verdict::default();
    let opponents = discs.iter().any(|disc| !disc.shot && disc.owner != shooter);
    verdict.breach = if opponents { hit_breach(rules, shooter, discs) } else { hiding_breach(rules, discs) };
    let combination = discs.iter().any(|disc| !disc.shot && disc.touch != Touch::None) && opponents;
    let mut decided = Vec::new();
    match verdict.breach {
        Some(Breach::NoHit) => decided.extend(["hit_required", "invalid_removes"]),
        Some(Breach::Hiding) => decided.extend(["no_hiding", "invalid_removes"]),
        None => {}
    }
    for disc in discs {
        let goes_with_it = verdict.breach.is_some() && removed_with(rules, shooter, disc, combination);
        let replaced = rules.rebound == Rebound::DamageReplaced && disc.moved_by_returner;
        if replaced && !goes_with_it {
            decided.push("rebound");
            verdict.put_back.push(disc.id);
        } else if came_back(rules, disc) {
            decided.push("edge_touch");
            verdict.remove.push((disc.id, Why::CameBack));
        } else if disc.lie == Lie::Hole && !(goes_with_it && rules.twenty_void_on_invalid) {
            if disc.moved_by_returner {
                decided.push("rebound");
            }
            verdict.remove.push((disc.id, Why::Twenty));
            verdict.twenties.push((disc.id, disc.owner));
        } else if goes_with_it {
            if disc.lie == Lie::Hole {
                decided.push("twenty_void_on_invalid");
            }
            verdict.remove.push((disc.id, Why::InvalidShot));
        } else if disc.lie == Lie::OnShootingLine && rules.shooting_line_rest == ShootingLineRest::Out {
            decided.push("shooting_line_rest");
            verdict.remove.push((disc.id, Why::OnShootingLine));
        } else if matches!(disc.lie, Lie::Beyond | Lie::Off) {
            verdict.remove.push((disc.id, Why::Outside));
        }
    }
    for name in decided {
        if !verdict.decided_by.iter().any(|known| known == name) {
            verdict.decided_by.push(name.to_owned());
        }
    }
    verdict
}

/// The texts behind a verdict: each deciding parameter with its value's source in this rule set.
pub fn references(set: &RuleSet, verdict: &Verdict) -> Vec<String> {
    let rows = set.rows().unwrap_or_default();
    let texts = verdict.decided_by.iter().filter_map(|name| rows.iter().find(|row| row.name == *name));
    texts.map(|row| format!("{}: {}", row.name, row.source)).collect()
}

fn hit_breach(rules: &Rules, shooter: Party, discs: &[DiscFact]) -> Option<Breach> {
    let hit = discs.iter().any(|disc| !disc.shot && disc.owner != shooter && disc.touch != Touch::None);
    match rules.hit_required {
        HitRequired::DirectOrViaOwn | HitRequired::Contact if !hit => Some(Breach::NoHit),
        _ => None,
    }
}

fn hiding_breach(rules: &Rules, discs: &[DiscFact]) -> Option<Breach> {
    let NoHiding::On { reach, by } = rules.no_hiding else { return None };
    let near = |lie: Lie| match lie {
        Lie::Hole | Lie::Leaning | Lie::Fifteen => true,
        Lie::OnFifteenLine => reach == Reach::Touch,
        _ => false,
    };
    let may = |disc: &&DiscFact| disc.shot || (by == HidingBy::AnyStruck && disc.touch != Touch::None);
    if discs.iter().filter(may).any(|disc| near(disc.lie)) { None } else { Some(Breach::Hiding) }
}

fn removed_with(rules: &Rules, shooter: Party, disc: &DiscFact, combination: bool) -> bool {
    let struck = disc.touch == Touch::Struck;
    disc.shot
        || match rules.invalid_removes {
            InvalidRemoves::Shooter => false,
            InvalidRemoves::ShooterAndOwnStruck => struck && disc.owner == shooter,
            InvalidRemoves::ShooterAndAllStruck => struck,
            InvalidRemoves::ShooterAndStruckInCombination => combination && disc.touch != Touch::None,
        }
}

fn came_back(rules: &Rules, disc: &DiscFact) -> bool {
    if matches!(disc.lie, Lie::Beyond | Lie::Off) {
        return false;
    }
    match (rules.edge_touch, disc.excursion) {
        (_, Excursion::None) => false,
        (_, Excursion::LeftSurface) | (EdgeTouch::TouchOrCrossOut, _) => true,
        (EdgeTouch::TouchOrCrossOutSpinning, Excursion::StruckOutside) => true,
        (_, Excursion::CrossedLine | Excursion::StruckOutside) => false,
    }
}

/// How a disc lies before it is shot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartFacts {
    /// Does it touch the shooting line anywhere?
    pub touches_shooting_line: bool,
    /// Does it touch the part of the shooting line that belongs to the player's quadrant?
    pub touches_own_arc: bool,
    /// Does it touch one of the quadrant's two edge lines?
    pub touches_quadrant_line: bool,
    /// Share of the disc that lies inside the quadrant, 0 to 1.
    pub share_inside: f64,
}

/// Is this a legal place to shoot from? If not, the parameter that says so.
///
/// # Errors
/// `quadrant`, or `touches_shooting_line` where the disc is off the line.
pub fn judge_start(rules: &Rules, start: &StartFacts) -> Result<(), &'static str> {
    if !start.touches_shooting_line {
        return Err("touches_shooting_line");
    }
    let legal = match rules.quadrant {
        Quadrant::TouchLine => start.touches_own_arc,
        Quadrant::HalfIn => start.touches_own_arc && start.share_inside >= 0.5,
        Quadrant::TouchBothLines => start.share_inside >= 1.0 || start.touches_quadrant_line,
    };
    if legal { Ok(()) } else { Err("quadrant") }
}

/// Which side may shoot once more when the clock ends a round: the one that has shot fewer discs, where the rules give it.
pub fn shot_owed(rules: &Rules, shots_a: u32, shots_b: u32) -> Option<Party> {
    match (rules.time_out, shots_a.cmp(&shots_b)) {
        (TimeOut::OneMoreShot, std::cmp::Ordering::Less) => Some(Party::A),
        (TimeOut::OneMoreShot, std::cmp::Ordering::Greater) => Some(Party::B),
        _ => None,
    }
}
