//! Colour: what a disc looks like inside, and which of the two sides it belongs to.

use crate::board::Side;
use crate::geometry::{BoardMm, Point};
use crate::kernels::planes::flat;

use super::view::TopView;

/// Inner part of the disc whose colour is taken, as a share of its radius: the rounded edge mirrors the room.
const INNER_SHARE: f64 = 0.72;

/// Robust interior colour of a disc.
#[derive(Clone, Copy, Debug)]
pub struct Interior {
    /// Median colour, CIE L*a*b* (D65).
    pub lab: [f32; 3],
    /// Median absolute deviation of brightness, grey levels.
    pub spread: f32,
}

/// The colour inside the disc of `radius_mm` at `at` (on the view's plane). Medians by channel: glare and grain that
/// cover less than half of it do not matter.
pub fn interior(view: &TopView, at: Point<BoardMm>, radius_mm: f64) -> Interior {
    let reach = INNER_SHARE * radius_mm * view.px_per_mm;
    let (cx, cy) = view.px(at);
    let (rows, columns) = view.planes.shape();
    let mut channels: [Vec<f32>; 3] = Default::default();
    let (top, bottom) = ((cy - reach).max(0.0) as usize, ((cy + reach) as usize + 1).min(rows));
    for y in top..bottom {
        let dy = y as f64 - cy;
        let half = (reach * reach - dy * dy).max(0.0).sqrt();
        let (left, right) = ((cx - half).ceil().max(0.0) as usize, ((cx + half) as usize + 1).min(columns));
        if left >= right {
            continue;
        }
        for (values, plane) in channels.iter_mut().zip(&view.planes.rgb) {
            values.extend_from_slice(&flat(plane)[y * columns + left..y * columns + right]);
        }
    }
    if channels[0].is_empty() {
        return Interior { lab: [0.0; 3], spread: 255.0 };
    }
    let medians = [0, 1, 2].map(|c| median(&mut channels[c]));
    let mut off: Vec<f32> = channels[1].iter().map(|v| (v - medians[1]).abs()).collect();
    Interior { lab: lab(medians), spread: median(&mut off) }
}

/// Median; reorders the values. 0 for none.
pub fn median(values: &mut [f32]) -> f32 {
    if values.is_empty() {
        return 0.0;
    }
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f32::total_cmp).1
}

/// sRGB (0 to 255) to CIE L*a*b* under D65.
pub fn lab(rgb: [f32; 3]) -> [f32; 3] {
    let linear = rgb.map(|v| {
        let v = (v / 255.0).clamp(0.0, 1.0);
        if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
    });
    let [r, g, b] = linear;
    let x = (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047;
    let y = 0.2126729 * r + 0.7151522 * g + 0.072175 * b;
    let z = (0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883;
    let f = |t: f32| if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
    [116.0 * f(y) - 16.0, 500.0 * (f(x) - f(y)), 200.0 * (f(y) - f(z))]
}

/// Weight of lightness against saturation in the distance of two colours: light changes over a board, hue hardly does.
const LIGHTNESS_WEIGHT: f32 = 0.5;
/// Weight of saturation, a* or b* over L* + 16: dimming a light by any factor leaves that unchanged.
const SATURATION_WEIGHT: f32 = 70.0;
/// Beyond this saturation a colour is vivid, and gloss takes more or less of it away without making it another.
const VIVID: f32 = 0.25;
/// Weight of saturation beyond [`VIVID`].
const VIVID_SLOPE: f32 = 0.4;
/// Two colours of play are at least this far apart (distance as below); anything closer is one colour.
const LEAST_SEPARATION: f32 = 11.0;
/// A disc further from both sides than this share of their separation (and than [`LEAST_STRANGE`]) is of neither.
const STRANGE_SHARE: f32 = 0.75;
/// See [`STRANGE_SHARE`].
const LEAST_STRANGE: f32 = 28.0;

/// Distance of two colours, nearly blind to how brightly they are lit.
pub fn distance(p: [f32; 3], q: [f32; 3]) -> f32 {
    let saturation = |c: [f32; 3]| {
        let s = [c[1] / (c[0] + 16.0), c[2] / (c[0] + 16.0)];
        let full = s[0].hypot(s[1]);
        let kept = if full > VIVID { (VIVID + VIVID_SLOPE * (full - VIVID)) / full } else { 1.0 };
        [s[0] * kept, s[1] * kept]
    };
    let (s, t) = (saturation(p), saturation(q));
    let l = LIGHTNESS_WEIGHT * (p[0] - q[0]);
    let (a, b) = (SATURATION_WEIGHT * (s[0] - t[0]), SATURATION_WEIGHT * (s[1] - t[1]));
    (l * l + a * a + b * b).sqrt()
}

/// The two colours of play, and each disc's side with how clear that is (0 to 1).
#[derive(Clone, Debug)]
pub struct Sides {
    /// Darker first; a single colour is side A's.
    pub palette: [Option<[f32; 3]>; 2],
    /// Per disc.
    pub sides: Vec<(Option<Side>, f64)>,
}

/// Parts the discs' colours into two sides; `weights` say how sure each disc is.
pub fn sides(colours: &[[f32; 3]], weights: &[f64]) -> Sides {
    if colours.is_empty() {
        return Sides { palette: [None, None], sides: Vec::new() };
    }
    let Some([p, q]) = two_means(colours, weights) else {
        let one = weighted_median(colours, weights, |_| true);
        let sides = colours
            .iter()
            .map(|c| if distance(*c, one) > LEAST_STRANGE { (None, 0.5) } else { (Some(Side::A), 1.0) })
            .collect();
        return Sides { palette: [Some(one), None], sides };
    };
    let [a, b] = if p[0] <= q[0] { [p, q] } else { [q, p] };
    let separation = distance(a, b);
    let sides = colours
        .iter()
        .map(|c| {
            let (da, db) = (distance(*c, a), distance(*c, b));
            if da.min(db) > (STRANGE_SHARE * separation).max(LEAST_STRANGE) {
                return (None, 0.5);
            }
            let clear = ((da - db).abs() / separation).min(1.0) as f64;
            (Some(if da <= db { Side::A } else { Side::B }), (0.5 + clear).min(1.0))
        })
        .collect();
    Sides { palette: [Some(a), Some(b)], sides }
}

/// Two centres by k-medians started from the pair of discs furthest apart; None where one colour explains all.
fn two_means(colours: &[[f32; 3]], weights: &[f64]) -> Option<[[f32; 3]; 2]> {
    let mut best: Option<(f32, [[f32; 3]; 2])> = None;
    for i in 0..colours.len() {
        for j in i + 1..colours.len() {
            let centres = [colours[i], colours[j]];
            let apart = distance(centres[0], centres[1]);
            if apart < LEAST_SEPARATION {
                continue;
            }
            let cost: f32 = colours
                .iter()
                .zip(weights)
                .map(|(c, w)| *w as f32 * distance(*c, centres[0]).min(distance(*c, centres[1])).min(30.0))
                .sum();
            if best.is_none_or(|(b, _)| cost < b) {
                best = Some((cost, centres));
            }
        }
    }
    let (_, mut centres) = best?;
    for _ in 0..4 {
        let now = centres;
        let nearer = |c: &[f32; 3]| distance(*c, now[0]) <= distance(*c, now[1]);
        centres = [weighted_median(colours, weights, nearer), weighted_median(colours, weights, |c| !nearer(c))];
    }
    let separation = distance(centres[0], centres[1]);
    // The spread within the two, against which a mere shade of one colour is told from two colours.
    let mut within: Vec<f32> = colours.iter().map(|c| distance(*c, centres[0]).min(distance(*c, centres[1]))).collect();
    let typical = median(&mut within);
    (separation > LEAST_SEPARATION && separation > 3.0 * typical).then_some(centres)
}

fn weighted_median(colours: &[[f32; 3]], weights: &[f64], keep: impl Fn(&[f32; 3]) -> bool) -> [f32; 3] {
    [0, 1, 2].map(|i| {
        let mut values: Vec<(f32, f64)> =
            colours.iter().zip(weights).filter(|(c, _)| keep(c)).map(|(c, w)| (c[i], *w)).collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let half = values.iter().map(|v| v.1).sum::<f64>() / 2.0;
        let mut sum = 0.0;
        for (value, weight) in &values {
            sum += weight;
            if sum >= half {
                return *value;
            }
        }
        0.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_colours_have_their_published_lab_values() {
        for (rgb, expected) in [
            ([255.0, 255.0, 255.0], [100.0, 0.0, 0.0]),
            ([255.0, 0.0, 0.0], [53.24, 80.09, 67.2]),
            ([0.0, 0.0, 255.0], [32.3, 79.19, -107.86]),
        ] {
            let got = lab(rgb);
            for i in 0..3 {
                assert!((got[i] - expected[i]).abs() < 0.3, "{got:?} for {expected:?}");
            }
        }
    }

    #[test]
    fn one_colour_in_light_and_shade_is_one_side() {
        let colours: Vec<[f32; 3]> = (0..6).map(|i| [60.0 + 2.0 * i as f32, 10.0, 30.0 + 0.5 * i as f32]).collect();
        let sides = sides(&colours, &[1.0; 6]);
        assert!(sides.palette[1].is_none());
        assert!(sides.sides.iter().all(|s| s.0 == Some(Side::A)));
    }

    #[test]
    fn black_discs_under_glare_stay_black() {
        let mut colours = vec![[15.0, 0.0, 0.0], [18.0, 0.0, 1.0], [41.0, 0.0, 0.0]];
        colours.extend([[72.0, 6.0, 28.0], [80.0, 5.0, 25.0], [66.0, 8.0, 30.0]]);
        let sides = sides(&colours, &[1.0; 6]);
        let got: Vec<_> = sides.sides.iter().map(|s| s.0).collect();
        assert_eq!(got, [[Some(Side::A); 3], [Some(Side::B); 3]].concat());
    }

    #[test]
    fn a_third_colour_has_no_side() {
        let colours = [[15.0, 0.0, 0.0], [16.0, 0.0, 0.0], [75.0, 5.0, 28.0], [74.0, 5.0, 27.0], [45.0, 65.0, 45.0]];
        assert_eq!(sides(&colours, &[1.0; 5]).sides[4].0, None);
    }
}
