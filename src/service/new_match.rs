//! A match as people ask for it, to what is settled before its first shot.

use std::collections::BTreeMap;

use serde::Deserialize;
use utoipa::ToSchema;

use crate::score::event::{Context, Player, Setup, SideInfo};
use crate::score::notation::SeatName;
use crate::score::rules::{RuleSet, RulesError};
use crate::score::{Format, Violation};

/// What a person asks for.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMatch {
    /// Names of the sides; partners joined by a slash.
    pub sides: Vec<String>,
    /// Rule set by name.
    #[serde(default = "nca")]
    pub rules: String,
    /// Parameters chosen, as `name=value`.
    #[serde(default)]
    pub choices: Vec<String>,
    /// Who starts: A, B, C, or A1, A2 for a player.
    #[serde(default = "side_a")]
    pub first: String,
    /// Colours of the sides, as counts name them.
    #[serde(default)]
    pub colours: Vec<String>,
    /// The event it belongs to.
    #[serde(default)]
    pub event: Option<String>,
    /// What it is called elsewhere, such as `croki.match_code`.
    #[serde(default)]
    pub refs: BTreeMap<String, String>,
}

fn nca() -> String {
    "nca".to_owned()
}

fn side_a() -> String {
    "A".to_owned()
}

/// Why there is no such match.
#[derive(Debug, thiserror::Error)]
pub enum NewMatchError {
    /// The rules are unknown or cannot be played.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// The seat is none.
    #[error(transparent)]
    Seat(#[from] Violation),
    /// No seat is written like this.
    #[error("{0}")]
    SeatName(String),
    /// One against two.
    #[error("two against one: name the two first")]
    TwoFirst,
    /// Any other numbers of players.
    #[error("that is no format: 1 or 2 players a side, or three who play alone")]
    Format,
    /// Not one colour a side.
    #[error("{colours} colours for {sides} sides")]
    Colours {
        /// Colours given.
        colours: usize,
        /// Sides there are.
        sides: usize,
    },
}

impl NewMatch {
    /// With a rule set by name.
    ///
    /// # Errors
    /// See [`NewMatchError`].
    pub fn setup(&self) -> Result<Setup, NewMatchError> {
        self.setup_with(&RuleSet::builtin(&self.rules)?)
    }

    /// With a rule set that is at hand.
    ///
    /// # Errors
    /// See [`NewMatchError`].
    pub fn setup_with(&self, set: &RuleSet) -> Result<Setup, NewMatchError> {
        let set = set.with(&self.choices)?;
        let (rules, defaults_taken) = set.settle()?;
        let mut sides: Vec<SideInfo> = self.sides.iter().map(|names| side_info(names, None)).collect();
        let counts: Vec<usize> = sides.iter().map(|side| side.players.len()).collect();
        let format = match counts.as_slice() {
            [1, 1] => Format::Singles,
            [2, 2] => Format::Doubles,
            [2, 1] => Format::TwoVersusOne,
            [1, 2] => return Err(NewMatchError::TwoFirst),
            [1, 1, 1] => Format::CutThroat,
            _ => return Err(NewMatchError::Format),
        };
        if !self.colours.is_empty() && self.colours.len() != sides.len() {
            return Err(NewMatchError::Colours { colours: self.colours.len(), sides: sides.len() });
        }
        for (side, colour) in sides.iter_mut().zip(&self.colours) {
            side.colour = Some(colour.trim().to_owned());
        }
        let first: SeatName = self.first.parse().map_err(NewMatchError::SeatName)?;
        Ok(Setup {
            rules_name: set.name.clone(),
            rules,
            defaults_taken,
            choices: self.choices.clone(),
            format,
            sides,
            first: first.seat(format)?,
            context: Context { event: self.event.clone(), refs: self.refs.clone(), ..Context::default() },
        })
    }
}

/// A side by its players' names, joined by a slash.
pub fn side_info(names: &str, colour: Option<&str>) -> SideInfo {
    SideInfo { players: names.split('/').map(Player::named).collect(), colour: colour.map(str::to_owned) }
}
