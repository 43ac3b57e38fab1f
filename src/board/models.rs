//! Board models: what is known beforehand about the kinds of boards that exist.
//!
//! In: the TOML files of `models/boards/`, embedded. Out: [`BoardModel`], each number with its spread and source.
//! A model is a first guess and a prior, never a truth: ring proportions differ between makes by up to 14 mm, so
//! registration measures them and only then says which model they match.

use std::sync::LazyLock;

use serde::Deserialize;

/// The embedded files, the commonest kind first.
const FILES: [&str; 9] = [
    include_str!("../../models/boards/nca.toml"),
    include_str!("../../models/boards/octagon-numerals.toml"),
    include_str!("../../models/boards/octagon-printed.toml"),
    include_str!("../../models/boards/octagon-blue.toml"),
    include_str!("../../models/boards/octagon-inlaid.toml"),
    include_str!("../../models/boards/octagon-white.toml"),
    include_str!("../../models/boards/table-white.toml"),
    include_str!("../../models/boards/walnut-double.toml"),
    include_str!("../../models/boards/antique-bands.toml"),
];

/// A number, how much it varies, and where it is from.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// The expected value.
    pub value: f64,
    /// One standard deviation among boards of the kind, the measuring included; same unit.
    pub sigma: f64,
    /// Rule text, maker or photograph.
    pub source: String,
}

/// One kind of board. Every length but `r5` is a fraction of the shooting line's radius, all radii of lines are those
/// of the middle of the painted line.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct BoardModel {
    /// Short name, as reported in output.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// Radius of the shooting line, mm, where boards of this kind share one size.
    pub r5: Option<Measure>,
    /// Radius of the 15 line.
    pub r15: Measure,
    /// Radius of the 10 line.
    pub r10: Measure,
    /// Radius of the hole.
    pub hole: Measure,
    /// Radius of the playing surface's rim.
    pub surface: Measure,
    /// Width of the painted lines.
    pub line_width: Measure,
    /// Radius of a disc.
    pub disc_radius: Measure,
    /// Height of a disc.
    pub disc_height: Measure,
    /// Depth of the hole's floor below the surface.
    pub hole_depth: Measure,
    /// Angle between a quadrant line and the nearest peg, degrees (the file's unit), where measured.
    pub peg_offset_deg: Option<Measure>,
}

impl BoardModel {
    /// Radius of the shooting line that fixes this model's millimetres.
    pub fn shooting_line_mm(&self) -> f64 {
        self.r5.as_ref().map_or(super::SHOOTING_LINE_MM, |r5| r5.value)
    }

    /// Radii of the middles of the lines as fractions, outermost first.
    pub fn lines(&self) -> [f64; 3] {
        [1.0, self.r10.value, self.r15.value]
    }
}

/// All known kinds, the commonest first.
pub fn all() -> &'static [BoardModel] {
    // A file that does not parse cannot be met outside the tests: one of them holds that every file is here.
    static MODELS: LazyLock<Vec<BoardModel>> =
        LazyLock::new(|| FILES.iter().filter_map(|file| toml::from_str(file).ok()).collect());
    &MODELS
}

/// The kind of that name.
pub fn named(name: &str) -> Option<&'static BoardModel> {
    all().iter().find(|model| model.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_file_is_a_model() {
        for file in FILES {
            let model: BoardModel = toml::from_str(file).unwrap();
            assert!(all().contains(&model), "{}", model.name);
        }
        assert_eq!(all().len(), FILES.len());
        assert_eq!(all()[0].name, "nca");
    }

    #[test]
    fn every_file_in_the_folder_is_embedded() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/models/boards");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
            assert!(named(&stem).is_some(), "{stem} is not in FILES");
        }
    }

    #[test]
    fn numbers_lie_within_what_was_ever_measured() {
        for m in all() {
            let within = |what: &Measure, low: f64, high: f64| {
                assert!((low..=high).contains(&what.value), "{}: {}", m.name, what.value);
                assert!(what.sigma > 0.0 && what.sigma < 0.2 * what.value && !what.source.is_empty(), "{}", m.name);
            };
            within(&m.r15, 0.304, 0.357);
            within(&m.r10, 0.631, 0.724);
            within(&m.hole, 0.052, 0.073);
            within(&m.surface, 1.066, 1.114);
            assert!((0.005..=0.012).contains(&m.line_width.value));
            within(&m.disc_radius, 0.044, 0.065);
            within(&m.disc_height, 0.028, 0.042);
            assert!(m.disc_radius.value < m.hole.value, "{}: a disc falls into the hole", m.name);
            if let Some(offset) = &m.peg_offset_deg {
                within(offset, 18.0, 22.5);
            }
        }
    }

    #[test]
    fn the_standard_board_has_circles_every_four_inches() {
        let nca = named("nca").unwrap();
        assert!((nca.shooting_line_mm() - 304.8).abs() < 1e-9);
        assert!((nca.lines()[1] * 304.8 - 203.2).abs() < 0.02 && (nca.lines()[2] * 304.8 - 101.6).abs() < 0.02);
    }
}
