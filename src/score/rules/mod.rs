//! Rule sets as data: from a TOML file, built in or a user's own, to settled [`Rules`].
//!
//! A file names each parameter with a value and its source, or says that the text is silent; nothing is smoothed over.
//! What a match takes for a silence stands once, in `models/rules/defaults.toml`, and is always said aloud ([`Taken`]).

mod builtin;
mod parameter;
mod values;

use serde::{Deserialize, Serialize};

pub use builtin::{BUILTIN, FIRST_TO};
pub use parameter::{Mark, NAMES, Parameter, Parameters, Row, Rules, Taken};
pub use values::*;

/// What is wrong with a rule set.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    /// No built-in set has this name.
    #[error("no rule set is called {name:?}; there are {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The file is not TOML, a name is unknown, a value is not one of those allowed, or a parameter is missing.
    #[error("{file}: {reason}")]
    Parse {
        /// Which file.
        file: String,
        /// Line, column and what was expected.
        reason: String,
    },
    /// A value is out of bounds.
    #[error("{0}")]
    Bounds(String),
    /// An override is not `PARAMETER=VALUE`, or names no parameter.
    #[error("{text:?}: {reason}")]
    Override {
        /// What was given.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// A rule set: where it comes from, and its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSet {
    /// Short name, as typed.
    pub name: String,
    /// Full name.
    pub title: String,
    /// The documents it was taken from.
    pub sources: Vec<String>,
    /// Its parameters.
    pub parameters: Parameters,
}

/// A file that names only what differs from a published set.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    name: String,
    title: String,
    extends: String,
    sources: Vec<String>,
    #[serde(default)]
    parameters: toml::Table,
}

impl RuleSet {
    /// A built-in set by name; `first-to-N` and `first-to-N-by-M` carry their end in the name.
    ///
    /// # Errors
    /// The name is unknown.
    pub fn builtin(name: &str) -> Result<Self, RulesError> {
        builtin::load(name)
    }

    /// The house defaults: what a match takes where a text is silent and nobody chose.
    ///
    /// # Errors
    /// Only if the file shipped with the program were broken.
    pub fn defaults() -> Result<Self, RulesError> {
        Self::parse("defaults.toml", builtin::DEFAULTS)
    }

    /// Parses and checks a rule file. `file` is its name for messages.
    ///
    /// # Errors
    /// See [`RulesError`]: the message names line and column.
    pub fn parse(file: &str, text: &str) -> Result<Self, RulesError> {
        let wrong = |reason: String| RulesError::Parse { file: file.to_owned(), reason };
        let extends = toml::from_str::<toml::Table>(text).is_ok_and(|table| table.contains_key("extends"));
        if extends {
            let raw: RawFile = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
            let base = Self::builtin(&raw.extends)?;
            let mut merged = toml::Table::try_from(&base.parameters).map_err(|error| wrong(error.to_string()))?;
            for (name, value) in raw.parameters {
                if !NAMES.contains(&name.as_str()) {
                    return Err(wrong(format!("no parameter is called {name:?}; there are {}", NAMES.join(", "))));
                }
                value.clone().try_into::<toml::Table>().map_err(|error| wrong(format!("{name}: {error}")))?;
                merged.insert(name, value);
            }
            let parameters = merged.try_into().map_err(|error: toml::de::Error| wrong(error.to_string()))?;
            let set = Self { name: raw.name, title: raw.title, sources: raw.sources, parameters };
            return set.checked();
        }
        let set: Self = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        set.checked()
    }

    /// This set with parameters chosen by a person, each `NAME=VALUE` with VALUE in TOML or a bare word.
    ///
    /// # Errors
    /// The name is unknown, or the value is not one that the parameter takes.
    pub fn with(&self, choices: &[String]) -> Result<Self, RulesError> {
        let mut set = self.clone();
        for choice in choices {
            set = set.with_one(choice)?;
        }
        Ok(set)
    }

    /// Rules to play by, and the defaults taken where the text is silent.
    ///
    /// # Errors
    /// A value is out of bounds.
    pub fn settle(&self) -> Result<(Rules, Vec<Taken>), RulesError> {
        let defaults = Self::defaults()?;
        let (rules, taken) = self
            .parameters
            .settle(&defaults.parameters)
            .map_err(|name| RulesError::Bounds(format!("the house defaults are silent about {name}")))?;
        rules.check().map_err(RulesError::Bounds)?;
        Ok((rules, taken))
    }

    /// The parameters in order, ready to print.
    ///
    /// # Errors
    /// Only if the defaults shipped with the program were broken.
    pub fn rows(&self) -> Result<Vec<Row>, RulesError> {
        Ok(self.parameters.rows(&Self::defaults()?.parameters))
    }

    fn checked(self) -> Result<Self, RulesError> {
        // The defaults themselves are settled by themselves.
        let house = if self.name == "defaults" { self.clone() } else { Self::defaults()? };
        let (rules, _) = self
            .parameters
            .settle(&house.parameters)
            .map_err(|name| RulesError::Bounds(format!("{}: {name} must have a value", self.name)))?;
        rules.check().map_err(|reason| RulesError::Bounds(format!("{}: {reason}", self.name)))?;
        Ok(self)
    }

    fn with_one(&self, choice: &str) -> Result<Self, RulesError> {
        let wrong = |reason: String| RulesError::Override { text: choice.to_owned(), reason };
        let (name, text) = choice.split_once('=').ok_or_else(|| wrong("expected PARAMETER=VALUE".to_owned()))?;
        let (name, text) = (name.trim(), text.trim());
        if !NAMES.contains(&name) {
            return Err(wrong(format!("no parameter is called {name:?}; there are {}", NAMES.join(", "))));
        }
        let value = toml::from_str::<toml::Table>(&format!("v = {text}"))
            .ok()
            .and_then(|mut table| table.remove("v"))
            .unwrap_or_else(|| match text {
                "yes" => toml::Value::Boolean(true),
                "no" => toml::Value::Boolean(false),
                _ => toml::Value::String(text.to_owned()),
            });
        let mut parameters = toml::Table::try_from(&self.parameters).map_err(|error| wrong(error.to_string()))?;
        let mut chosen = toml::Table::new();
        chosen.insert("value".to_owned(), value);
        chosen.insert("mark".to_owned(), "house".into());
        chosen.insert("source".to_owned(), "chosen for this match".into());
        parameters.insert(name.to_owned(), toml::Value::Table(chosen));
        let parameters = parameters.try_into().map_err(|error: toml::de::Error| {
            wrong(match shape(name) {
                Some(shape) => format!("say {shape}"),
                None => error.message().to_owned(),
            })
        })?;
        Self { parameters, ..self.clone() }.checked()
    }
}

/// How a parameter that is more than one word is written, in examples.
fn shape(name: &str) -> Option<&'static str> {
    match name {
        "end" => Some("end={rounds=4}, end={target=100} or end={first_to={points=7,margin=2}}"),
        "no_hiding" => Some("no_hiding=off or no_hiding={on={reach=\"touch\",by=\"any_struck\"}}"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
