//! Statistics over matches: per player, and head to head. Pure sums over folded matches, in a fixed order.
//!
//! A side's round belongs to each of its players: nobody can tell afterwards which partner's disc lies where. Averages are
//! over the rounds in which the number is known, never over all of them.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::format::Party;
use super::game::{Match, Status};
use super::standing::How;
use super::tally::ZoneCounts;

/// Won, drawn, lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Won.
    pub won: u32,
    /// Level.
    pub drawn: u32,
    /// Lost.
    pub lost: u32,
}

impl Tally {
    /// All of them.
    pub const fn played(&self) -> u32 {
        self.won + self.drawn + self.lost
    }

    fn add(&mut self, own: u64, best_other: u64) {
        match own.cmp(&best_other) {
            std::cmp::Ordering::Greater => self.won += 1,
            std::cmp::Ordering::Equal => self.drawn += 1,
            std::cmp::Ordering::Less => self.lost += 1,
        }
    }
}

/// What a player's rounds come to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PlayerStats {
    /// The name as first seen.
    pub name: String,
    /// Matches that are over.
    pub matches: Tally,
    /// Rounds, by the points they brought.
    pub rounds: Tally,
    /// Points of the match, all rounds.
    pub points: u64,
    /// Sum of totals, over `rounds_with_total`.
    pub total: u64,
    /// Rounds whose total is known.
    pub rounds_with_total: u32,
    /// Highest total of a round.
    pub best_total: Option<u32>,
    /// 20s, over `rounds_with_twenties`.
    pub twenties: u64,
    /// Rounds whose 20s are known.
    pub rounds_with_twenties: u32,
    /// Discs per zone, over `rounds_with_zones`.
    pub zones: ZoneCounts,
    /// Rounds counted disc by disc.
    pub rounds_with_zones: u32,
    /// Rounds in which the player's side had the last shot, by the points they brought.
    pub with_last_shot: Tally,
}

impl PlayerStats {
    /// Points a round.
    pub fn points_per_round(&self) -> Option<f64> {
        ratio(self.points, self.rounds.played())
    }

    /// Total a round.
    pub fn total_per_round(&self) -> Option<f64> {
        ratio(self.total, self.rounds_with_total)
    }

    /// 20s a round.
    pub fn twenties_per_round(&self) -> Option<f64> {
        ratio(self.twenties, self.rounds_with_twenties)
    }

    /// Share of the counted discs that lay in each zone: 20, 15, 10, 5, out.
    pub fn zone_shares(&self) -> Option<[f64; 5]> {
        let discs = self.zones.discs();
        let zones = [self.zones.twenty, self.zones.fifteen, self.zones.ten, self.zones.five, self.zones.out];
        (discs > 0).then(|| zones.map(|count| f64::from(count) / f64::from(discs)))
    }
}

/// One player against another, from the first one's view.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HeadToHead {
    /// The player.
    pub player: String,
    /// The opponent.
    pub opponent: String,
    /// Matches that are over.
    pub matches: Tally,
    /// Rounds.
    pub rounds: Tally,
    /// Points for the player.
    pub points_for: u64,
    /// Points for the opponent.
    pub points_against: u64,
}

/// Everything.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Statistics {
    /// Matches looked at.
    pub matches: usize,
    /// Players by name.
    pub players: Vec<PlayerStats>,
    /// Pairs by name, each once per direction.
    pub head_to_head: Vec<HeadToHead>,
}

/// Sums matches one at a time, so that a store of any size can be walked.
#[derive(Clone, Debug, Default)]
pub struct Collector {
    matches: usize,
    players: BTreeMap<String, PlayerStats>,
    pairs: BTreeMap<(String, String), HeadToHead>,
}

impl Collector {
    /// Adds a match.
    pub fn add(&mut self, game: &Match) {
        self.matches += 1;
        for party in game.format().parties() {
            for player in game.setup().sides.get(party.index()).map(|side| side.players.as_slice()).unwrap_or_default()
            {
                let stats = self.players.entry(key(&player.name)).or_default();
                if stats.name.is_empty() {
                    stats.name.clone_from(&player.name);
                }
                add_side(stats, game, *party);
                for other in game.format().parties().iter().filter(|other| *other != party) {
                    let opponents = game.setup().sides.get(other.index()).map(|side| side.players.as_slice());
                    for opponent in opponents.unwrap_or_default() {
                        let pair = self.pairs.entry((key(&player.name), key(&opponent.name))).or_default();
                        pair.player.clone_from(&player.name);
                        pair.opponent.clone_from(&opponent.name);
                        add_pair(pair, game, *party, *other);
                    }
                }
            }
        }
    }

    /// What the matches come to.
    pub fn finish(self) -> Statistics {
        Statistics {
            matches: self.matches,
            players: self.players.into_values().collect(),
            head_to_head: self.pairs.into_values().collect(),
        }
    }
}

/// Two spellings that differ in case or outer blanks are one player.
pub fn key(name: &str) -> String {
    name.trim().to_lowercase()
}

fn add_side(stats: &mut PlayerStats, game: &Match, party: Party) {
    if let Some(result) = result(game, party) {
        add_result(&mut stats.matches, result);
    }
    for (_, round) in game.counted() {
        let points = game.points_of(round);
        let own = u64::from(points[party.index()]);
        let best_other = others(game, party).map(|other| u64::from(points[other.index()])).max().unwrap_or(0);
        stats.rounds.add(own, best_other);
        stats.points += own;
        if game.format().party_at(round.last) == party {
            stats.with_last_shot.add(own, best_other);
        }
        let Some(score) = round.sides.get(party.index()) else { continue };
        if let Some(total) = score.total() {
            stats.total += u64::from(total);
            stats.rounds_with_total += 1;
            stats.best_total = stats.best_total.max(Some(total));
        }
        if let Some(twenties) = score.twenties() {
            stats.twenties += u64::from(twenties);
            stats.rounds_with_twenties += 1;
        }
        if let Some(zones) = score.zones() {
            stats.zones.twenty = stats.zones.twenty.saturating_add(zones.twenty);
            stats.zones.fifteen = stats.zones.fifteen.saturating_add(zones.fifteen);
            stats.zones.ten = stats.zones.ten.saturating_add(zones.ten);
            stats.zones.five = stats.zones.five.saturating_add(zones.five);
            stats.zones.out = stats.zones.out.saturating_add(zones.out);
            stats.rounds_with_zones += 1;
        }
    }
}

fn add_pair(pair: &mut HeadToHead, game: &Match, party: Party, other: Party) {
    if let Some(result) = result(game, party) {
        // Against one of two rivals a match is decided by who of the two won; when the third did, by points.
        let theirs = self::result(game, other);
        let points = &game.standing().points;
        let ordering = match (result, theirs) {
            (Result::Lost, Some(Result::Lost)) => points[party.index()].cmp(&points[other.index()]),
            (Result::Won, _) => std::cmp::Ordering::Greater,
            (Result::Lost, _) => std::cmp::Ordering::Less,
            (Result::Drawn, _) => std::cmp::Ordering::Equal,
        };
        let result = match ordering {
            std::cmp::Ordering::Greater => Result::Won,
            std::cmp::Ordering::Equal => Result::Drawn,
            std::cmp::Ordering::Less => Result::Lost,
        };
        add_result(&mut pair.matches, result);
    }
    for (_, round) in game.counted() {
        let points = game.points_of(round);
        let (own, theirs) = (u64::from(points[party.index()]), u64::from(points[other.index()]));
        pair.rounds.add(own, theirs);
        pair.points_for += own;
        pair.points_against += theirs;
    }
}

/// Name and version of the public form.
pub const SCHEMA: &str = "crokeye.stats/1";

/// Statistics as other programs see them: the sums with what they come to a round.
pub fn view(statistics: &Statistics) -> Value {
    let player = |stats: &PlayerStats| {
        let mut value = json!(stats);
        value["points_per_round"] = json!(stats.points_per_round());
        value["total_per_round"] = json!(stats.total_per_round());
        value["twenties_per_round"] = json!(stats.twenties_per_round());
        value["zone_shares"] = json!(stats.zone_shares());
        value
    };
    json!({
        "schema": SCHEMA,
        "matches": statistics.matches,
        "players": statistics.players.iter().map(player).collect::<Vec<_>>(),
        "head_to_head": statistics.head_to_head,
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Result {
    Won,
    Drawn,
    Lost,
}

/// A match broken off has no result.
fn result(game: &Match, party: Party) -> Option<Result> {
    match game.status() {
        Status::Over { how: How::Abandoned, .. } => None,
        Status::Over { winner: Some(winner), .. } if winner == party => Some(Result::Won),
        Status::Over { winner: Some(_), .. } => Some(Result::Lost),
        Status::Over { winner: None, .. } => Some(Result::Drawn),
        Status::Open | Status::ShootOutDue => None,
    }
}

fn add_result(tally: &mut Tally, result: Result) {
    match result {
        Result::Won => tally.won += 1,
        Result::Drawn => tally.drawn += 1,
        Result::Lost => tally.lost += 1,
    }
}

fn others(game: &Match, party: Party) -> impl Iterator<Item = Party> {
    game.format().parties().iter().copied().filter(move |other| *other != party)
}

fn ratio(sum: u64, count: u32) -> Option<f64> {
    (count > 0).then(|| sum as f64 / f64::from(count))
}
