//! The named parameters of a rule set, from a value with its source to rules ready to play.
//!
//! One list, [`parameters!`] below, makes the sourced form ([`Parameters`], what a TOML file says, silence included),
//! the settled form ([`Rules`], what a match is played by), and the rows that `crokeye rules` prints.

use serde::{Deserialize, Serialize};

use super::values::*;

/// How a value is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mark {
    /// The rule text itself was read.
    P,
    /// As quoted by somebody else.
    #[serde(rename = "2")]
    Second,
    /// Derived from other rules.
    D,
    /// Chosen by a person: a house rule, an override.
    #[serde(rename = "house")]
    House,
}

/// One parameter as a rule text gives it: a value with its source, or silence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written<T>", untagged, bound(deserialize = "T: Deserialize<'de>"))]
pub enum Parameter<T> {
    /// The text says.
    Said {
        /// What it says.
        value: T,
        /// How that is known.
        mark: Mark,
        /// Document and place, quoted where the wording matters.
        source: String,
    },
    /// The text is silent: the user chooses.
    Silent {
        /// What was looked at.
        unset: String,
        /// A default of this rule set in place of the house's.
        #[serde(skip_serializing_if = "Option::is_none")]
        fallback: Option<T>,
    },
}

/// The fields as they stand in a file; apart from [`Parameter`] so that a wrong value is named with its alternatives.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written<T> {
    value: Option<T>,
    mark: Option<Mark>,
    source: Option<String>,
    unset: Option<String>,
    fallback: Option<T>,
}

impl<T> TryFrom<Written<T>> for Parameter<T> {
    type Error = &'static str;

    fn try_from(written: Written<T>) -> Result<Self, Self::Error> {
        match written {
            Written { value: Some(value), mark, source: Some(source), unset: None, fallback: None } => {
                Ok(Self::Said { value, mark: mark.unwrap_or(Mark::House), source })
            }
            Written { value: None, mark: None, source: None, unset: Some(unset), fallback } => {
                Ok(Self::Silent { unset, fallback })
            }
            _ => Err("expected { value = .., source = \"..\" } or { unset = \"why\" }"),
        }
    }
}

impl<T: Clone> Parameter<T> {
    /// The value, unless the text is silent.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Said { value, .. } => Some(value),
            Self::Silent { .. } => None,
        }
    }

    /// Where the value comes from, or what was silent.
    pub fn source(&self) -> &str {
        match self {
            Self::Said { source, .. } => source,
            Self::Silent { unset, .. } => unset,
        }
    }
}

/// A parameter ready to print.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// What it decides.
    pub about: String,
    /// Its value in words; `None` where the text is silent.
    pub value: Option<String>,
    /// How the value is known.
    pub mark: Option<Mark>,
    /// Source, or what was silent.
    pub source: String,
    /// What a match takes where the text is silent and the user chose nothing.
    pub default: Option<String>,
}

/// A default that was taken because the rule text is silent and nobody chose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// Which parameter.
    pub parameter: String,
    /// The value taken, in words.
    pub value: String,
    /// Why this one.
    pub reason: String,
}

macro_rules! parameters {
    ($( $(#[doc = $doc:literal])+ $name:ident : $ty:ty ),+ $(,)?) => {
        /// Every parameter with its source, as a rule file states it.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Parameters { $( $(#[doc = $doc])+ pub $name: Parameter<$ty> ),+ }

        /// Settled rules: every parameter has a value. A match carries these in its first event.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Rules { $( $(#[doc = $doc])+ pub $name: $ty ),+ }

        /// The parameters' names, in the order of the rule files.
        pub const NAMES: &[&str] = &[ $( stringify!($name) ),+ ];

        impl Parameters {
            /// The parameters in order, with the defaults a silent text falls back to.
            pub fn rows(&self, defaults: &Parameters) -> Vec<Row> {
                vec![ $( row(stringify!($name), concat!($($doc),+), &self.$name, &defaults.$name) ),+ ]
            }

            /// Fills every silence: by the set's own fallback, else by the house defaults. Says which were taken.
            pub fn settle(&self, defaults: &Parameters) -> Result<(Rules, Vec<Taken>), &'static str> {
                let mut taken = Vec::new();
                let rules = Rules {
                    $( $name: settle_one(stringify!($name), &self.$name, &defaults.$name, &mut taken)? ),+
                };
                Ok((rules, taken))
            }
        }

        impl Rules {
            /// Each parameter's name and value in words.
            pub fn rows(&self) -> Vec<(&'static str, String)> {
                vec![ $( (stringify!($name), words(&self.$name)) ),+ ]
            }
        }
    };
}

parameters! {
    /// Discs of each player in singles.
    discs_singles: u32,
    /// Discs of each player in doubles.
    discs_doubles: u32,
    /// What a disc touching a scoring line is worth.
    line_rule: LineRule,
    /// Which edge of the disc is judged.
    touch_basis: TouchBasis,
    /// A disc resting on the shooting line.
    shooting_line_rest: ShootingLineRest,
    /// A moving disc meeting the outer line.
    edge_touch: EdgeTouch,
    /// What makes a 20.
    twenty_def: TwentyDef,
    /// A disc leaning into the hole.
    leaner_value: LeanerValue,
    /// Is a 20 made on an invalid shot lost?
    twenty_void_on_invalid: bool,
    /// Which discs an invalid shot removes.
    invalid_removes: InvalidRemoves,
    /// Must a shot hit an opposing disc when there is one?
    hit_required: HitRequired,
    /// Where an open-board shot must end.
    no_hiding: NoHiding,
    /// Discs moved by a disc that came back from outside.
    rebound: Rebound,
    /// How totals become points.
    conversion: Conversion,
    /// When the match is over.
    end: End,
    /// Points of a level round under match_points; the difference of a level round is 0.
    round_tie: RoundTie,
    /// What follows when the match ends level.
    end_tie: EndTie,
    /// Who starts the next round.
    next_first: NextFirst,
    /// Where a shot may start.
    quadrant: Quadrant,
    /// What the scorer writes down.
    scorer_input: ScorerInput,
    /// A round cut short by the clock.
    time_out: TimeOut,
}

impl Rules {
    /// Bounds that keep every later sum finite and every match playable.
    ///
    /// # Errors
    /// The name of the parameter and what it must be.
    pub fn check(&self) -> Result<(), String> {
        /// More discs than any set has: three sets of 12.
        const MOST_DISCS: u32 = 36;
        for (name, discs) in [("discs_singles", self.discs_singles), ("discs_doubles", self.discs_doubles)] {
            if discs == 0 || discs > MOST_DISCS {
                return Err(format!("{name} is {discs}: it must be 1 to {MOST_DISCS}"));
            }
        }
        let (name, points, margin) = match self.end {
            End::Rounds(rounds) => ("rounds", rounds, 1),
            End::Target(points) => ("target", points, 1),
            End::FirstTo { points, margin } => ("first_to", points, margin),
        };
        /// Far above any match ever played.
        const MOST: u32 = 10_000_000;
        if points == 0 || points > MOST {
            return Err(format!("end: {name} is {points}: it must be 1 to {MOST}"));
        }
        if margin == 0 || margin > points {
            return Err(format!("end: a margin of {margin} needs to be 1 to {points}"));
        }
        Ok(())
    }
}

fn row<T: Clone + Serialize>(name: &'static str, about: &str, own: &Parameter<T>, house: &Parameter<T>) -> Row {
    let default = match own {
        Parameter::Said { .. } => None,
        Parameter::Silent { fallback, .. } => fallback.as_ref().or_else(|| house.value()).map(words),
    };
    Row {
        name,
        about: about.trim().to_owned(),
        value: own.value().map(words),
        mark: if let Parameter::Said { mark, .. } = own { Some(*mark) } else { None },
        source: own.source().to_owned(),
        default,
    }
}

fn settle_one<T: Clone + Serialize>(
    name: &'static str,
    own: &Parameter<T>,
    house: &Parameter<T>,
    taken: &mut Vec<Taken>,
) -> Result<T, &'static str> {
    let (value, reason) = match own {
        Parameter::Said { value, .. } => return Ok(value.clone()),
        Parameter::Silent { unset, fallback: Some(value) } => (value, unset.as_str()),
        Parameter::Silent { fallback: None, .. } => (house.value().ok_or(name)?, house.source()),
    };
    taken.push(Taken { parameter: name.to_owned(), value: words(value), reason: reason.to_owned() });
    Ok(value.clone())
}

/// A value in words: `8`, `yes`, `lower`, `rounds 4`, `first_to points=5 margin=2`.
fn words<T: Serialize>(value: &T) -> String {
    fn plain(value: &serde_json::Value) -> String {
        match value {
            serde_json::Value::Bool(true) => "yes".to_owned(),
            serde_json::Value::Bool(false) => "no".to_owned(),
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Object(fields) => {
                let single = fields.len() == 1;
                let part = |(name, value): (&String, &serde_json::Value)| {
                    if single { format!("{name} {}", plain(value)) } else { format!("{name}={}", plain(value)) }
                };
                fields.iter().map(part).collect::<Vec<_>>().join(" ")
            }
            other => other.to_string(),
        }
    }
    serde_json::to_value(value).map(|value| plain(&value)).unwrap_or_default()
}
