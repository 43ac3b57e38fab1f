//! Names of disc colours.
//!
//! In: a disc's interior colour, CIE L*a*b*, or a name that a person gives. Out: the name of the nearest known colour,
//! or the known colour of that name. Known colours stand in `models/palettes/`, measured on labelled discs.

use std::sync::LazyLock;

use serde::Deserialize;

const FILE: &str = include_str!("../../models/palettes/discs.toml");

/// A colour that discs have.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct DiscColour {
    /// The name used in output.
    pub name: String,
    /// Other names that people use.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// CIE L*a*b* (D65).
    pub lab: [f32; 3],
    /// Standard deviation over discs and rooms, per channel.
    pub sigma: [f32; 3],
    /// What it was measured on.
    pub source: String,
}

impl DiscColour {
    /// Squared distance of `lab` in standard deviations.
    pub fn distance2(&self, lab: [f32; 3]) -> f32 {
        (0..3).map(|i| ((lab[i] - self.lab[i]) / self.sigma[i]).powi(2)).sum()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Palette {
    colour: Vec<DiscColour>,
}

/// All known colours.
pub fn all() -> &'static [DiscColour] {
    // The embedded file parses: the tests hold that it is not empty.
    static COLOURS: LazyLock<Vec<DiscColour>> =
        LazyLock::new(|| toml::from_str::<Palette>(FILE).map(|palette| palette.colour).unwrap_or_default());
    &COLOURS
}

/// The known colour of that name or alias, whatever the case.
pub fn named(name: &str) -> Option<&'static DiscColour> {
    let wanted = name.trim().to_lowercase();
    all().iter().find(|colour| colour.name == wanted || colour.aliases.contains(&wanted))
}

/// The name of the known colour nearest to `lab`.
pub fn name_of(lab: [f32; 3]) -> &'static str {
    let nearest = all().iter().min_by(|a, b| a.distance2(lab).total_cmp(&b.distance2(lab)));
    nearest.map_or("unknown", |colour| &colour.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_colour_is_nearest_to_itself_and_has_a_source() {
        assert!(all().len() >= 8);
        for colour in all() {
            assert_eq!(name_of(colour.lab), colour.name);
            assert!(!colour.source.is_empty());
        }
    }

    #[test]
    fn colours_measured_on_photographs_have_the_names_that_people_gave_them() {
        for (lab, name) in [
            ([11.2, -0.5, 3.2], "black"),
            ([24.5, 2.9, 7.8], "black"),
            ([37.3, 60.0, 45.0], "red"),
            ([69.3, 6.8, 27.5], "natural"),
            ([88.3, 1.2, 28.5], "natural"),
            ([38.1, -32.6, 22.3], "green"),
            ([26.2, 16.9, 15.9], "brown"),
        ] {
            assert_eq!(name_of(lab), name, "{lab:?}");
        }
    }

    #[test]
    fn people_may_use_other_names() {
        assert_eq!(named(" Maple ").unwrap().name, "natural");
        assert_eq!(named("BLACK").unwrap().name, "black");
        assert_eq!(["noir", "Weiß", "bleu"].map(|name| named(name).unwrap().name.as_str()), ["black", "white", "blue"]);
        assert!(named("tartan").is_none());
    }
}
