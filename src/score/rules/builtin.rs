//! The rule sets that ship with the program, each a file in `models/rules/`.

use super::{End, Mark, Parameter, RuleSet, RulesError};

/// What a match takes where a rule text is silent.
pub(super) const DEFAULTS: &str = include_str!("../../../models/rules/defaults.toml");

/// The set whose end is chosen in its name: `first-to-7-by-2`.
pub const FIRST_TO: &str = "first-to";

macro_rules! sets {
    ($($name:literal),+ $(,)?) => {
        /// Name and text of every built-in set, in the order they are listed.
        pub const BUILTIN: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../models/rules/", $name, ".toml")))),+];
    };
}

sets!(
    "nca",
    "wcc",
    "marquoir",
    "spruce",
    "corre",
    "hilinski",
    "mayday-100",
    "mayday-match",
    "nk-nl",
    "first-to",
    "additive",
);

/// Finds and parses a built-in set.
pub(super) fn load(name: &str) -> Result<RuleSet, RulesError> {
    if let Some((_, text)) = BUILTIN.iter().find(|(known, _)| *known == name) {
        return RuleSet::parse(&format!("{name}.toml"), text);
    }
    let unknown =
        || RulesError::Unknown { name: name.to_owned(), known: format!("{}, first-to-N, first-to-N-by-M", names()) };
    let end = name.strip_prefix("first-to-").ok_or_else(unknown)?;
    let (points, margin) = end.split_once("-by-").unwrap_or((end, "1"));
    let points = points.parse().map_err(|_| unknown())?;
    let margin = margin.parse().map_err(|_| unknown())?;
    let mut set = load(FIRST_TO)?;
    set.name = name.to_owned();
    set.title = format!("First to {points}{}", if margin > 1 { format!(", {margin} ahead") } else { String::new() });
    set.parameters.end = Parameter::Said {
        value: End::FirstTo { points, margin },
        mark: Mark::House,
        source: "chosen in the set's name".to_owned(),
    };
    set.checked()
}

fn names() -> String {
    BUILTIN.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}
