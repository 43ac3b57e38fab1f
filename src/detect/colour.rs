//! Colour: what a disc looks like inside, and which of the two sides it belongs to.

use crate::board::Side;
use crate::geometry::{BoardMm, Point};
use crate::kernels::planes::flat;

use super::fit::{Fitting, Profiles, SAMPLES, STEP_MM};
use super::shape::{Shape, Sight};
use super::view::TopView;

/// Inner part of the disc whose colour is taken, as a share of its radius: the rounded edge mirrors the room.
const INNER_SHARE: f64 = 0.72;

/// Ring around the disc in which the board's own colour is taken, mm beyond its radius.
const AROUND_MM: [f64; 2] = [3.0, 7.5];
/// A channel at least this bright is at the sensor's limit.
const CLIPPED: f32 = 250.0;

/// Robust interior colour of a disc.
#[derive(Clone, Copy, Debug)]
pub struct Interior {
    /// Median colour, CIE L*a*b* (D65).
    pub lab: [f32; 3],
    /// Median colour of the darkest of the rounded edge, CIE L*a*b*: it faces away from what the top mirrors.
    pub rim: [f32; 3],
    /// How much more light the board around gives back than it does elsewhere, linear, 0 to 1.
    pub glare: f32,
    /// True where at least two channels are at the sensor's limit.
    pub clipped: bool,
    /// Median absolute deviation of brightness, grey levels.
    pub spread: f32,
}

/// The board's ordinary colour by distance from the centre, in linear light.
#[derive(Clone, Debug)]
pub struct Ground {
    bands: Vec<(f64, [f32; 3])>,
}

impl Ground {
    /// Measures the bands that end at `radii_mm` (ascending).
    pub fn of(view: &TopView, radii_mm: &[f64]) -> Self {
        let (rows, columns) = view.planes.shape();
        let mut bands = Vec::with_capacity(radii_mm.len());
        let mut inner = 0.0;
        for &outer in radii_mm {
            let mut channels: [Vec<f32>; 3] = Default::default();
            for y in (0..rows).step_by(6) {
                for x in (0..columns).step_by(6) {
                    let r = view.mm(x as f64, y as f64).norm();
                    if r >= inner && r < outer {
                        (0..3).for_each(|c| channels[c].push(flat(&view.planes.rgb[c])[y * columns + x]));
                    }
                }
            }
            bands.push((outer, [0, 1, 2].map(|c| linear(median(&mut channels[c])))));
            inner = outer;
        }
        Self { bands }
    }

    /// The board's ordinary colour round the hole, CIE L*a*b* (D65); black where nothing of it is seen.
    pub fn around_hole(&self) -> [f32; 3] {
        self.at(0.0).map_or([0.0; 3], lab_of_linear)
    }

    fn at(&self, radius_mm: f64) -> Option<[f32; 3]> {
        self.bands.iter().find(|b| radius_mm < b.0).or(self.bands.last()).map(|b| b.1)
    }
}

/// The colour of a fitted disc.
pub fn of_disc(view: &TopView, ground: &Ground, sight: &Sight, fit: &Fitting, shape: &Shape) -> Interior {
    interior(view, ground, fit.at, shape.radius_mm, rim(&fit.profiles, &fit.all_predicted(sight, shape)))
}

/// The colour inside the disc of `radius_mm` at `at` (on the view's plane). Medians by channel: glare and grain that
/// cover less than half of it do not matter. `rim` is [`rim`] of the same disc.
pub fn interior(view: &TopView, ground: &Ground, at: Point<BoardMm>, radius_mm: f64, rim: [f32; 3]) -> Interior {
    let mut inside: [Vec<f32>; 3] = Default::default();
    collect(view, at, 0.0, INNER_SHARE * radius_mm, 1, &mut inside);
    if inside[0].is_empty() {
        return Interior { lab: [0.0; 3], rim: [0.0; 3], glare: 0.0, clipped: false, spread: 255.0 };
    }
    let rgb = [0, 1, 2].map(|c| median(&mut inside[c]));
    let mut off: Vec<f32> = inside[1].iter().map(|v| (v - rgb[1]).abs()).collect();
    let mut around: [Vec<f32>; 3] = Default::default();
    collect(view, at, radius_mm + AROUND_MM[0], radius_mm + AROUND_MM[1], 2, &mut around);
    let around = [0, 1, 2].map(|c| linear(median(&mut around[c])));
    let ordinary = ground.at(at.norm()).unwrap_or(around);
    let glare = [0, 1, 2].map(|c| (around[c] - ordinary[c]).max(0.0));
    Interior {
        lab: lab(rgb),
        rim,
        glare: (glare[0] + glare[1] + glare[2]) / 3.0,
        clipped: rgb.iter().filter(|v| **v >= CLIPPED).count() >= 2,
        spread: median(&mut off),
    }
}

/// Part of a line across the outline that lies on the disc's rounded edge, samples from the outline.
const RIM_SAMPLES: [i32; 2] = [-3, 0];

/// Median over the outline of the darkest colour of the rounded edge. `beyond_mm[k]` is where the outline lies on line k,
/// from the middle of the line.
pub fn rim(profiles: &Profiles, beyond_mm: &[f64]) -> [f32; 3] {
    let mut channels: [Vec<f32>; 3] = Default::default();
    for (k, line) in profiles.colour.iter().enumerate().filter(|(k, _)| profiles.seen[*k]) {
        let middle = (SAMPLES / 2) as i32 + (beyond_mm[k] / STEP_MM).round() as i32;
        let darkest = (RIM_SAMPLES[0]..=RIM_SAMPLES[1])
            .map(|o| line[(middle + o).clamp(0, SAMPLES as i32 - 1) as usize])
            .min_by(|p, q| p.iter().sum::<f32>().total_cmp(&q.iter().sum()));
        if let Some(c) = darkest {
            (0..3).for_each(|i| channels[i].push(c[i]));
        }
    }
    lab([0, 1, 2].map(|c| median(&mut channels[c])))
}

/// Adds the view's pixels between two distances (mm) from `at` to `channels`, every `step`th each way.
fn collect(view: &TopView, at: Point<BoardMm>, inner: f64, outer: f64, step: usize, channels: &mut [Vec<f32>; 3]) {
    let (inner, outer) = (inner * view.px_per_mm, outer * view.px_per_mm);
    let (cx, cy) = view.px(at);
    let (rows, columns) = view.planes.shape();
    let (top, bottom) = ((cy - outer).max(0.0) as usize, ((cy + outer) as usize + 1).min(rows));
    let (left, right) = ((cx - outer).max(0.0) as usize, ((cx + outer) as usize + 1).min(columns));
    for y in (top..bottom).step_by(step) {
        for x in (left..right).step_by(step) {
            let r2 = (x as f64 - cx).powi(2) + (y as f64 - cy).powi(2);
            if r2 >= inner * inner && r2 <= outer * outer {
                for (values, plane) in channels.iter_mut().zip(&view.planes.rgb) {
                    values.push(flat(plane)[y * columns + x]);
                }
            }
        }
    }
}

/// Median; reorders the values. 0 for none.
pub fn median(values: &mut [f32]) -> f32 {
    if values.is_empty() {
        return 0.0;
    }
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f32::total_cmp).1
}

/// One sRGB channel (0 to 255) in linear light, 0 to 1.
fn linear(v: f32) -> f32 {
    let v = (v / 255.0).clamp(0.0, 1.0);
    if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
}

/// sRGB (0 to 255) to CIE L*a*b* under D65.
pub fn lab(rgb: [f32; 3]) -> [f32; 3] {
    lab_of_linear(rgb.map(linear))
}

fn lab_of_linear([r, g, b]: [f32; 3]) -> [f32; 3] {
    let x = (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047;
    let y = 0.2126729 * r + 0.7151522 * g + 0.072175 * b;
    let z = (0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883;
    let f = |t: f32| if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
    [116.0 * f(y) - 16.0, 500.0 * (f(x) - f(y)), 200.0 * (f(y) - f(z))]
}

/// The colour with `share` of the white light that it reflects like a mirror added to it.
fn glossed(colour: [f32; 3], share: f32) -> [f32; 3] {
    let y = (colour[0] + 16.0) / 116.0;
    let cube = |t: f32| if t > 0.206_893 { t.powi(3) } else { (t - 16.0 / 116.0) / 7.787 };
    let (x, y, z) = (cube(y + colour[1] / 500.0) * 0.95047, cube(y), cube(y - colour[2] / 200.0) * 1.08883);
    // Linear sRGB of XYZ under D65; white adds the same to each channel.
    lab_of_linear([
        3.240_454 * x - 1.537_139 * y - 0.498_531 * z + share,
        -0.969_266 * x + 1.876_011 * y + 0.041_556 * z + share,
        0.055_643 * x - 0.204_026 * y + 1.057_225 * z + share,
    ])
}

/// Shares of mirrored light that are tried.
const GLOSS: [f32; 9] = [0.02, 0.04, 0.06, 0.09, 0.13, 0.18, 0.26, 0.38, 0.55];
/// What it costs to explain a colour with as much mirrored light as the board around the disc shows.
const GLOSS_COST: f32 = 5.0;
/// A polished disc mirrors this much where the board around mirrors nothing.
const OWN_GLOSS: f32 = 0.03;

/// Distance of a disc's colour from `colour`, where a lamp may be mirrored in the disc: gloss adds white light and
/// takes saturation away. It makes grey of black, and never a darker or a more vivid colour.
fn lit_distance(colour: [f32; 3], disc: &Interior) -> f32 {
    GLOSS
        .iter()
        .map(|&s| distance(glossed(colour, s), disc.lab) + GLOSS_COST * s / (disc.glare + OWN_GLOSS))
        .fold(distance(colour, disc.lab), f32::min)
}

/// Weight of the logarithm of the ratio of light: lamps light one place of a board up to twice as much as another.
const LIGHT_WEIGHT: f32 = 14.0;
/// Weight of saturation, a* or b* over L* + 16: dimming a light by any factor leaves that unchanged.
const SATURATION_WEIGHT: f32 = 70.0;
/// Beyond this saturation a colour is vivid, and gloss takes more or less of it away without making it another.
const VIVID: f32 = 0.25;
/// Weight of saturation beyond [`VIVID`].
const VIVID_SLOPE: f32 = 0.4;
/// Two colours of play are at least this far apart; anything closer is one colour. Of one hue that is a ratio of light
/// of 2.5.
const LEAST_SEPARATION: f32 = 13.0;
/// A disc further from both sides than this share of their separation (and than [`LEAST_STRANGE`]) is of neither.
const STRANGE_SHARE: f32 = 0.6;
/// See [`STRANGE_SHARE`].
const LEAST_STRANGE: f32 = 25.0;
/// A disc this near to a side's colour needs no second look at its rim.
const NEAR: f32 = 7.0;
/// A lit disc this near to the other side, as a share of its distance from its own, is not told by its top alone.
const UNCLEAR_SHARE: f32 = 0.55;
/// Light beyond the board's ordinary above which a disc does not tell the colours of play.
const GLARE: f32 = 0.08;

/// Light beyond the ordinary in which a black disc may look white.
const DAZZLE: f32 = 0.3;
/// What a disc in more light than the board's ordinary counts for when the colours of play are told.
const LIT_SHARE: f64 = 0.2;
/// Spread of a disc's brightness, grey levels, above which a lamp is mirrored in it.
const UNEVEN: f32 = 11.0;

/// Saturation of a colour: a* and b* over L* + 16.
fn saturation(c: [f32; 3]) -> [f32; 2] {
    [c[1] / (c[0] + 16.0), c[2] / (c[0] + 16.0)]
}

/// How far apart the saturations of two colours are, blind to how brightly they are lit; wood from wood about 0.2, blue
/// from wood about 1.
pub fn tint(p: [f32; 3], q: [f32; 3]) -> f32 {
    let (s, t) = (saturation(p), saturation(q));
    (s[0] - t[0]).hypot(s[1] - t[1])
}

/// Distance of two colours, nearly blind to how brightly they are lit.
pub fn distance(p: [f32; 3], q: [f32; 3]) -> f32 {
    let kept = |c: [f32; 3]| {
        let s = saturation(c);
        let full = s[0].hypot(s[1]);
        let kept = if full > VIVID { (VIVID + VIVID_SLOPE * (full - VIVID)) / full } else { 1.0 };
        [s[0] * kept, s[1] * kept]
    };
    let (s, t) = (kept(p), kept(q));
    // L* + 16 goes with the cube root of light.
    let l = LIGHT_WEIGHT * 3.0 * ((p[0] + 16.0) / (q[0] + 16.0)).ln();
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

/// Parts the discs into two sides by colour; `weights` say how sure each disc is. A disc under glare, or of a strange
/// colour, is told by its rim, against the rims of the others.
pub fn sides(discs: &[Interior], weights: &[f64]) -> Sides {
    if discs.is_empty() {
        return Sides { palette: [None, None], sides: Vec::new() };
    }
    let telling = |d: &Interior| match d.glare {
        _ if d.clipped => 0.0,
        g if g <= GLARE => 1.0,
        g if g <= DAZZLE => LIT_SHARE,
        _ => 0.0,
    };
    let plain: Vec<usize> = (0..discs.len()).filter(|&i| telling(&discs[i]) > 0.0).collect();
    let members: Vec<usize> = if plain.is_empty() { (0..discs.len()).collect() } else { plain };
    let colours: Vec<[f32; 3]> = members.iter().map(|&i| discs[i].lab).collect();
    let weight: Vec<f64> = members.iter().map(|&i| weights[i] * telling(&discs[i]).max(0.01)).collect();
    let mut centres = match two_means(&colours, &weight) {
        Some([p, q]) if p[0] <= q[0] => vec![p, q],
        Some([p, q]) => vec![q, p],
        None => vec![weighted_median(&colours, &weight, |_| true)],
    };
    let dazzled = if let [dark, light] = centres[..] { lit_only(discs, &members, dark, light) } else { Vec::new() };
    if !dazzled.is_empty() {
        centres.truncate(1);
    }
    let nearest_by = |d: Vec<f32>| -> (usize, f32, f32) {
        if d.len() < 2 || d[0] <= d[1] { (0, d[0], d.get(1).copied().unwrap_or(f32::MAX)) } else { (1, d[1], d[0]) }
    };
    let nearest = |c: [f32; 3], among: &[Option<[f32; 3]>]| {
        nearest_by(among.iter().map(|m| m.map_or(f32::MAX, |m| distance(m, c))).collect())
    };
    let palette: Vec<Option<[f32; 3]>> = centres.iter().copied().map(Some).collect();
    // The rims of each side's plain discs.
    let rims: Vec<Option<[f32; 3]>> = (0..centres.len())
        .map(|side| {
            let own: Vec<usize> =
                members.iter().copied().filter(|&i| nearest(discs[i].lab, &palette).0 == side).collect();
            let rims: Vec<[f32; 3]> = own.iter().map(|&i| discs[i].rim).collect();
            (!rims.is_empty()).then(|| weighted_median(&rims, &vec![1.0; rims.len()], |_| true))
        })
        .collect();
    let separation = if let [a, b] = centres[..] { distance(a, b) } else { 0.0 };
    let strange = (STRANGE_SHARE * separation).max(LEAST_STRANGE);
    let sides = discs
        .iter()
        .enumerate()
        .map(|(index, d)| {
            let lit = d.glare > GLARE || d.clipped || d.spread > UNEVEN;
            let (mut side, mut near, mut far) = if lit {
                nearest_by(centres.iter().map(|c| lit_distance(*c, d)).collect())
            } else {
                nearest(d.lab, &palette)
            };
            let unsure =
                near > NEAR && ((lit && near > UNCLEAR_SHARE * far) || d.glare > DAZZLE || near > LEAST_STRANGE);
            let mut agreed = !unsure;
            if unsure {
                let by_rim = nearest(d.rim, &rims);
                if by_rim.1 < strange {
                    agreed = by_rim.0 == side;
                    (side, near, far) = by_rim;
                }
            }
            if near > strange {
                return (None, 0.5);
            }
            let clear =
                if far < f32::MAX { (far - near) / (far + near).max(1.0) } else { 1.0 - near / (2.0 * strange) };
            let sure = match agreed && !(unsure && lit) && d.glare <= DAZZLE {
                _ if dazzled.contains(&index) => UNTOLD,
                true => 1.0,
                false => DOUBTFUL,
            };
            (Some([Side::A, Side::B][side]), ((0.5 + clear as f64).min(1.0) * sure).max(0.5))
        })
        .collect();
    Sides { palette: [palette[0], palette.get(1).copied().flatten()], sides }
}

/// The `members` of colour `light`, where that is no second colour of play: each lies in mirrored light, and shows what
/// colour `dark` shows in that light. Empty where one of them shows it in ordinary light, or as `dark` never does.
fn lit_only(discs: &[Interior], members: &[usize], dark: [f32; 3], light: [f32; 3]) -> Vec<usize> {
    let own: Vec<usize> =
        members.iter().copied().filter(|&i| distance(light, discs[i].lab) < distance(dark, discs[i].lab)).collect();
    let mirrors = |d: &Interior| d.glare > GLARE && lit_distance(dark, d) < LEAST_SEPARATION;
    if own.iter().all(|&i| mirrors(&discs[i])) { own } else { Vec::new() }
}

/// How sure a side is that only the rim could tell.
const DOUBTFUL: f64 = 0.85;
/// How sure a side is that only the light around tells: a set of just that colour, all of it under the lamp, looks alike.
const UNTOLD: f64 = 0.7;

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
    fn a_black_disc_greyed_by_a_mirrored_lamp_is_nearer_to_black_than_to_wood() {
        let (black, wood) = ([22.0, 1.5, 8.0], [60.0, 8.4, 36.0]);
        let grey = Interior { lab: [43.7, 1.6, 8.1], rim: [30.0, 2.0, 8.0], glare: 0.1, clipped: false, spread: 6.0 };
        assert!(distance(wood, grey.lab) < distance(black, grey.lab), "the plain distance is fooled");
        assert!(lit_distance(black, &grey) < 0.6 * lit_distance(wood, &grey));
    }

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

    fn plain(lab: [f32; 3]) -> Interior {
        Interior { lab, rim: lab, glare: 0.0, clipped: false, spread: 1.0 }
    }

    #[test]
    fn one_colour_in_light_and_shade_is_one_side() {
        let colours: Vec<_> = (0..6).map(|i| plain([60.0 + 2.0 * i as f32, 10.0, 30.0 + 0.5 * i as f32])).collect();
        let sides = sides(&colours, &[1.0; 6]);
        assert!(sides.palette[1].is_none());
        assert!(sides.sides.iter().all(|s| s.0 == Some(Side::A)));
    }

    #[test]
    fn black_discs_under_glare_stay_black() {
        let mut colours = vec![[15.0, 0.0, 0.0], [18.0, 0.0, 1.0], [41.0, 0.0, 0.0]];
        colours.extend([[72.0, 6.0, 28.0], [80.0, 5.0, 25.0], [66.0, 8.0, 30.0]]);
        let colours: Vec<_> = colours.into_iter().map(plain).collect();
        let sides = sides(&colours, &[1.0; 6]);
        let got: Vec<_> = sides.sides.iter().map(|s| s.0).collect();
        assert_eq!(got, [[Some(Side::A); 3], [Some(Side::B); 3]].concat());
    }

    #[test]
    fn a_colour_that_only_discs_under_a_lamp_show_is_no_second_side() {
        let lit = |lab, glare| Interior { lab, rim: lab, glare, clipped: false, spread: 2.0 };
        let black = lit([10.0, 0.5, 1.0], 0.0);
        let grey = lit([50.6, 0.0, 5.6], 0.22);
        let one = sides(&[black, black, black, grey, grey], &[1.0; 5]);
        assert!(one.palette[1].is_none());
        assert!(one.sides.iter().all(|s| s.0 == Some(Side::A)), "{one:?}");
        assert!(one.sides[4].1 < 0.75, "a grey set there cannot be told from a black one");
        // One of them away from the lamp, or pale wood under it, is a second colour.
        for other in [lit([50.6, 0.0, 5.6], 0.0), lit([78.0, 5.0, 24.0], 0.22)] {
            let two = sides(&[black, black, black, grey, other], &[1.0; 5]);
            assert_eq!(two.sides[4].0, Some(Side::B), "{two:?}");
        }
    }

    #[test]
    fn a_third_colour_has_no_side() {
        let colours = [[15.0, 0.0, 0.0], [16.0, 0.0, 0.0], [75.0, 5.0, 28.0], [74.0, 5.0, 27.0], [45.0, 65.0, 45.0]];
        assert_eq!(sides(&colours.map(plain), &[1.0; 5]).sides[4].0, None);
    }
}
