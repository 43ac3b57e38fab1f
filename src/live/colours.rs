//! Which colour is which side, over a whole evening.
//!
//! A single picture calls the darker colour side a, and the only colour too. Over time the two colours are remembered,
//! so that a disc that lies alone on the board keeps its side; until both were seen, a single dark colour is a and a
//! light one b.

use super::tracker::other;
use crate::detect::Detections;
use crate::detect::colour::distance;

/// A single colour with less lightness than this (CIE L*) is taken for the darker of two.
const DARK_L: f32 = 48.0;
/// Colours of two pictures further apart than this are not the same (unit of [`distance`]).
const STRANGER: f32 = 40.0;
/// A single colour further than this from the one that was alone before is the other side's.
const OTHER: f32 = 30.0;
/// Weight of a new picture's colours against those remembered.
const LEARN: f32 = 0.2;

/// The colours of side a and side b as CIE L*a*b*.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Colours {
    known: [Option<[f32; 3]>; 2],
}

/// What a picture changed in what is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learnt {
    /// Nothing of note.
    Nothing,
    /// Both colours are known now.
    Both,
    /// Both colours are known now, and what was called a is b.
    Swapped,
}

impl Colours {
    /// Colours that were measured before.
    pub fn remembered(known: [Option<[f32; 3]>; 2]) -> Self {
        Self { known }
    }

    /// The colours of side a and b.
    pub fn known(&self) -> [Option<[f32; 3]>; 2] {
        self.known
    }

    /// Gives the discs of a picture the sides that their colours had before. A side of which no disc is seen keeps its
    /// colour.
    pub fn settle(&mut self, detections: &mut Detections) -> Learnt {
        let learnt = self.recognise(detections);
        for (seen, known) in detections.palette.iter_mut().zip(self.known) {
            *seen = seen.or(known);
        }
        learnt
    }

    /// Remembers the colours of discs whose sides were named. A side of which no disc is seen keeps its colour.
    pub fn keep(&mut self, detections: &mut Detections) {
        for (seen, known) in detections.palette.iter_mut().zip(&mut self.known) {
            *known = seen.or(*known);
            *seen = *known;
        }
    }

    fn recognise(&mut self, detections: &mut Detections) -> Learnt {
        match (self.known, detections.palette) {
            (_, [None, None]) => Learnt::Nothing,
            ([Some(a), Some(b)], seen) => {
                let far = |known: [f32; 3], seen: Option<[f32; 3]>| seen.map_or(0.0, |seen| distance(known, seen));
                let straight = far(a, seen[0]) + far(b, seen[1]);
                let crossed = far(a, seen[1]) + far(b, seen[0]);
                if crossed < straight {
                    swap(detections);
                }
                for (known, seen) in self.known.iter_mut().zip(detections.palette) {
                    if let (Some(known), Some(seen)) =
                        (known.as_mut(), seen.filter(|_| straight.min(crossed) < STRANGER))
                    {
                        *known = [0, 1, 2].map(|i| known[i] + LEARN * (seen[i] - known[i]));
                    }
                }
                Learnt::Nothing
            }
            (before, [Some(dark), Some(light)]) => self.learn_both(before, dark, light),
            (before, [one, two]) => {
                let Some(seen) = one.or(two) else { return Learnt::Nothing };
                let called_b = one.is_none();
                if let Some(alone) = before[0].or(before[1]).filter(|alone| distance(*alone, seen) > OTHER) {
                    let [dark, light] = if seen[0] < alone[0] { [seen, alone] } else { [alone, seen] };
                    if (seen == light) != called_b {
                        swap(detections);
                    }
                    return self.learn_both(before, dark, light);
                }
                let is_b = match before {
                    [None, Some(_)] => true,
                    [Some(_), None] => false,
                    _ => seen[0] > DARK_L,
                };
                self.known = if is_b { [None, Some(seen)] } else { [Some(seen), None] };
                if is_b != called_b {
                    swap(detections);
                }
                Learnt::Nothing
            }
        }
    }

    /// The second colour appears: was the one that was alone called by the wrong name?
    fn learn_both(&mut self, before: [Option<[f32; 3]>; 2], dark: [f32; 3], light: [f32; 3]) -> Learnt {
        self.known = [Some(dark), Some(light)];
        let swapped = match before {
            [Some(alone), None] => distance(alone, light) < distance(alone, dark),
            [None, Some(alone)] => distance(alone, dark) < distance(alone, light),
            _ => false,
        };
        if swapped { Learnt::Swapped } else { Learnt::Both }
    }
}

fn swap(detections: &mut Detections) {
    detections.palette.swap(0, 1);
    for disc in &mut detections.discs {
        disc.side = disc.side.map(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Side;
    use crate::count::testing::overhead;

    const BLACK: [f32; 3] = [15.0, 1.0, 2.0];
    const ORANGE: [f32; 3] = [60.0, 45.0, 50.0];
    const BLUE: [f32; 3] = [30.0, 10.0, -40.0];

    fn seen(palette: [Option<[f32; 3]>; 2], sides: &[Side]) -> Detections {
        let places: Vec<(f64, f64)> = (0..sides.len()).map(|i| (60.0 * (i + 1) as f64, 0.0)).collect();
        let mut detections = overhead(&places).detections;
        detections.palette = palette;
        detections.discs.iter_mut().zip(sides).for_each(|(disc, side)| disc.side = Some(*side));
        detections
    }

    #[test]
    fn a_light_disc_that_is_alone_is_side_b_and_stays_so() {
        let mut colours = Colours::default();
        let mut first = seen([Some(ORANGE), None], &[Side::A]);
        assert_eq!(colours.settle(&mut first), Learnt::Nothing);
        assert_eq!(first.discs[0].side, Some(Side::B));
        let mut both = seen([Some(BLUE), Some(ORANGE)], &[Side::B, Side::A]);
        assert_eq!(colours.settle(&mut both), Learnt::Both);
        let mut alone = seen([Some(BLUE), None], &[Side::A]);
        colours.settle(&mut alone);
        assert_eq!(alone.discs[0].side, Some(Side::A));
        let mut alone = seen([Some(ORANGE), None], &[Side::A]);
        colours.settle(&mut alone);
        assert_eq!(alone.discs[0].side, Some(Side::B));
        assert_eq!(alone.palette, [Some(BLUE), Some(ORANGE)], "a side without discs keeps its colour");
    }

    #[test]
    fn colours_of_named_sides_are_remembered_in_the_order_named() {
        let mut colours = Colours::default();
        colours.keep(&mut seen([Some(ORANGE), None], &[Side::A]));
        let mut both = seen([None, Some(BLUE)], &[Side::B]);
        colours.keep(&mut both);
        assert_eq!(colours.known(), [Some(ORANGE), Some(BLUE)], "the lighter may well be side a");
        assert_eq!(both.palette, colours.known());
    }

    #[test]
    fn a_dark_disc_that_turns_out_to_be_the_lighter_one_is_renamed() {
        let mut colours = Colours::default();
        colours.settle(&mut seen([Some(BLUE), None], &[Side::A]));
        assert_eq!(colours.settle(&mut seen([Some(BLACK), Some(BLUE)], &[Side::A])), Learnt::Swapped);
    }

    #[test]
    fn another_single_colour_is_the_other_side() {
        let mut colours = Colours::default();
        colours.settle(&mut seen([Some(BLUE), None], &[Side::A]));
        let mut second = seen([Some(ORANGE), None], &[Side::A]);
        assert_eq!(colours.settle(&mut second), Learnt::Both);
        assert_eq!(second.discs[0].side, Some(Side::B));
    }
}
