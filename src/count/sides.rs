//! Whose disc is whose: the two colours of play become side a and side b, and their totals.

use crate::board::Side;
use crate::detect::Detections;

use super::palette::{self, DiscColour};
use super::report::{SideTotal, ZoneCount};
use super::{Options, Scene, index};

/// Named colours that fit what was seen less well than this (squared distance in standard deviations, summed over the
/// colours seen) were not those of this board: three deviations in each channel.
const MISFIT: f32 = 27.0;

/// The two ways to give the names must differ by this much (same unit) for the given one to be believed.
const CLEAR_LEAD: f32 = 2.0;

/// The colours of side a and side b as a person names them.
#[derive(Clone, Debug, PartialEq)]
pub struct SideColours([&'static DiscColour; 2]);

/// Why colours cannot name the sides.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SideColoursError {
    /// A name that is not in the palette.
    #[error("unknown disc colour {name:?}: say one of {known}")]
    Unknown {
        /// What was said.
        name: String,
        /// What may be said.
        known: String,
    },
    /// Both sides would have one colour.
    #[error("{a:?} and {b:?} are one colour, {colour}: the sides need two")]
    Same {
        /// The first name.
        a: String,
        /// The second name.
        b: String,
        /// What both mean.
        colour: String,
    },
}

impl SideColours {
    /// The colours of these names.
    ///
    /// # Errors
    /// Where a name is not in the palette, or both are one colour.
    pub fn named(a: &str, b: &str) -> Result<Self, SideColoursError> {
        let find = |name: &str| {
            palette::named(name).ok_or_else(|| SideColoursError::Unknown {
                name: name.to_owned(),
                known: palette::all().iter().map(|colour| colour.name.as_str()).collect::<Vec<_>>().join(", "),
            })
        };
        let colours = [find(a)?, find(b)?];
        if colours[0] == colours[1] {
            let colour = colours[0].name.clone();
            return Err(SideColoursError::Same { a: a.to_owned(), b: b.to_owned(), colour });
        }
        Ok(Self(colours))
    }

    /// Gives each disc its side by these names, and the palette the order of the sides. Returns how badly the names fit
    /// what is seen, as they are and the other way round (squared distance in standard deviations).
    pub(crate) fn assign(&self, detections: &mut Detections) -> [f32; 2] {
        let cost = |labs: [Option<[f32; 3]>; 2]| -> f32 {
            labs.iter().zip(self.0).filter_map(|(lab, colour)| lab.map(|lab| colour.distance2(lab))).sum()
        };
        let seen = detections.palette;
        let (straight, swapped) = (cost(seen), cost([seen[1], seen[0]]));
        if swapped < straight {
            detections.palette.swap(0, 1);
            for disc in &mut detections.discs {
                disc.side = disc.side.map(Side::other);
            }
        }
        [straight, swapped]
    }
}

/// What sides are called, and whether that is sure.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Naming {
    /// Colour names of side a and b.
    pub names: [Option<String>; 2],
    /// Why the colours that the caller named may be the wrong way round or not on the board.
    pub doubt: Option<String>,
}

/// Gives each disc its side by the caller's names, where there are any; the detector's order (darker first) stands
/// otherwise. The palette is put in the order of sides too.
pub(super) fn assign(detections: &mut Detections, wanted: Option<&SideColours>) -> Naming {
    let seen = detections.palette;
    let Some(colours) = wanted else {
        let names = seen.map(|lab| lab.map(|lab| palette::name_of(lab).to_owned()));
        return Naming { names, doubt: None };
    };
    let ([straight, swapped], wanted) = (colours.assign(detections), colours.0);
    let best = straight.min(swapped);
    let doubt = if best > MISFIT {
        Some(format!("no discs of the colours {} and {} are seen", wanted[0].name, wanted[1].name))
    } else if (straight - swapped).abs() < CLEAR_LEAD && seen.iter().any(Option::is_some) {
        Some(format!("which discs are {} and which {} is not clear", wanted[0].name, wanted[1].name))
    } else {
        None
    };
    Naming { names: wanted.map(|colour| Some(colour.name.clone())), doubt }
}

/// The totals of side a and side b.
pub(super) fn totals(scene: &Scene, naming: &Naming, options: &Options) -> [SideTotal; 2] {
    [Side::A, Side::B].map(|side| {
        let mut count = ZoneCount::default();
        let own = scene.detections.discs.iter().zip(&scene.verdicts).filter(|(disc, _)| disc.side == Some(side));
        own.for_each(|(_, verdict)| count.add(verdict.zone));
        let set_aside = options.set_aside[index(side)];
        let total = count.points() + 20 * set_aside;
        SideTotal { side, colour: naming.names[index(side)].clone(), count, set_aside, total }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::testing::overhead;

    const BLACK: [f32; 3] = [15.0, 1.0, 2.0];
    const RED: [f32; 3] = [35.0, 45.0, 30.0];
    const MAPLE: [f32; 3] = [70.0, 7.0, 32.0];

    fn seen(palette: [Option<[f32; 3]>; 2]) -> Detections {
        let mut detections = overhead(&[(50.0, 0.0), (-50.0, 0.0)]).detections;
        detections.palette = palette;
        detections.discs[0].side = Some(Side::A);
        detections.discs[1].side = Some(Side::B);
        detections
    }

    #[test]
    fn without_names_the_detectors_order_stands() {
        let mut detections = seen([Some(BLACK), Some(MAPLE)]);
        let naming = assign(&mut detections, None);
        assert_eq!(naming.names, [Some("black".to_owned()), Some("natural".to_owned())]);
        assert_eq!(detections.discs[0].side, Some(Side::A));
    }

    #[test]
    fn names_the_other_way_round_swap_the_sides() {
        let mut detections = seen([Some(BLACK), Some(MAPLE)]);
        let wanted = SideColours::named("maple", "black").unwrap();
        let naming = assign(&mut detections, Some(&wanted));
        assert_eq!(naming.doubt, None);
        assert_eq!(detections.discs[0].side, Some(Side::B));
        assert_eq!(detections.palette, [Some(MAPLE), Some(BLACK)]);
        assert_eq!(naming.names, [Some("natural".to_owned()), Some("black".to_owned())]);
    }

    #[test]
    fn a_one_sided_round_goes_to_the_side_that_is_named() {
        let mut detections = seen([Some(RED), None]);
        detections.discs[1].side = Some(Side::A);
        let naming = assign(&mut detections, Some(&SideColours::named("black", "red").unwrap()));
        assert_eq!(naming.doubt, None);
        assert!(detections.discs.iter().all(|disc| disc.side == Some(Side::B)));
    }

    #[test]
    fn colours_that_are_not_on_the_board_are_in_doubt() {
        let mut detections = seen([Some(BLACK), Some(MAPLE)]);
        let naming = assign(&mut detections, Some(&SideColours::named("green", "blue").unwrap()));
        assert!(naming.doubt.unwrap().contains("green"));
    }

    #[test]
    fn an_empty_board_has_the_named_sides_and_no_doubt() {
        let mut detections = seen([None, None]);
        detections.discs.clear();
        let naming = assign(&mut detections, Some(&SideColours::named("black", "natural").unwrap()));
        assert_eq!(naming.doubt, None);
        assert_eq!(naming.names[1].as_deref(), Some("natural"));
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let error = SideColours::named("black", "tartan").unwrap_err().to_string();
        assert!(error.contains("tartan") && error.contains("natural"), "{error}");
        assert!(matches!(SideColours::named("maple", "wood"), Err(SideColoursError::Same { .. })));
    }
}
