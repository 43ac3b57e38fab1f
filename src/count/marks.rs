//! What is drawn on a board, in any view of it: line edges, discs, values, margins.
//!
//! In: a judged scene and a [`View`] that says where board points appear on the canvas. The overlay, its insets and the
//! top view share this.

use std::f64::consts::TAU;

use crate::board::{Side, Zone};
use crate::geometry::{BoardMm, Camera, Point};

use super::Scene;
use super::doubt::{id, millimetres};
use super::draw::{At, Canvas, Colour, text_width};
use super::telling::floor_mm;

/// Inner edges of the lines, the ones that decide.
pub(super) const INNER_EDGE: Colour = [0, 229, 255];
/// Outer edges, and the hole.
const OUTER_EDGE: Colour = [0, 90, 120];
/// Discs of side a, side b and of neither.
const SIDES: [Colour; 3] = [[79, 142, 255], [255, 178, 36], [235, 235, 235]];
/// Close calls.
pub(super) const CLOSE: Colour = [255, 35, 95];
/// Text about them.
const CLOSE_TEXT: Colour = [255, 190, 205];
/// Behind text and lines.
pub(super) const DARK: Colour = [12, 14, 18];
/// Text.
pub(super) const LIGHT: Colour = [255, 255, 255];

/// Where board points appear on a canvas.
pub(super) trait View {
    /// The canvas position of the point `height_mm` above `at`; None where it cannot be seen.
    fn at(&self, at: Point<BoardMm>, height_mm: f64) -> Option<At>;
}

/// The picture itself, magnified by `scale` and moved.
pub(super) struct Picture<'a> {
    pub camera: &'a Camera,
    pub scale: f64,
    pub shift: At,
}

impl View for Picture<'_> {
    fn at(&self, at: Point<BoardMm>, height_mm: f64) -> Option<At> {
        let image = self.camera.project(at, height_mm)?.rescaled(self.scale);
        Some((image.x + self.shift.0, image.y + self.shift.1))
    }
}

/// How large strokes and letters are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// Width of a thin line, px.
    pub line_px: f64,
    /// Height of small text, px.
    pub text_px: f64,
}

/// Colour of a side's marks.
pub(super) fn side_colour(side: Option<Side>) -> Colour {
    SIDES[side.map_or(2, super::index)]
}

/// Both edges of each line, and the hole.
pub(super) fn rings(canvas: &mut Canvas, scene: &Scene, view: &dyn View, size: Size) {
    let centre = Point::new(0.0, 0.0);
    for ring in &scene.registration.rings {
        circle(canvas, view, ring.centre, ring.outer_mm, 0.0, (size.line_px * 0.7, OUTER_EDGE, 0.75));
        circle(canvas, view, ring.centre, ring.inner_mm, 0.0, (size.line_px, INNER_EDGE, 0.9));
    }
    circle(canvas, view, centre, scene.registration.hole_mm, 0.0, (size.line_px * 0.7, OUTER_EDGE, 0.75));
}

/// A disc's contact circle, and faintly the circle of its top.
pub(super) fn disc(canvas: &mut Canvas, scene: &Scene, disc: usize, view: &dyn View, size: Size) {
    let (fit, placed, verdict) = (&scene.detections.discs[disc], &scene.placed[disc], &scene.verdicts[disc]);
    let close = verdict.close_other().is_some();
    let colour = if close { CLOSE } else { side_colour(fit.side) };
    let floor_mm = floor_mm(scene, fit);
    let top_mm = floor_mm + scene.detections.set.height_mm;
    let radius_mm = scene.detections.set.radius_mm;
    circle(canvas, view, placed.base, radius_mm, top_mm, (size.line_px * 0.7, colour, 0.45));
    let width = if close { 2.4 } else { 1.6 } * size.line_px;
    circle(canvas, view, placed.base, placed.radius_mm, floor_mm, (width + size.line_px, DARK, 0.5));
    circle(canvas, view, placed.base, placed.radius_mm, floor_mm, (width, colour, 1.0));
}

/// The value on each disc and its margin beside it; `doubtful` discs carry their number.
pub(super) fn labels(
    canvas: &mut Canvas,
    scene: &Scene,
    view: &dyn View,
    size: Size,
    doubtful: impl Fn(usize) -> bool,
) {
    let seen: Vec<(usize, Spot)> =
        (0..scene.verdicts.len()).filter_map(|disc| Some((disc, spot(scene, disc, view)?))).collect();
    let mut taken: Vec<Spot> = seen.iter().map(|(_, spot)| *spot).collect();
    for &(disc, spot) in &seen {
        let (text, is_doubtful) = (margin_text(scene, disc, doubtful(disc)), doubtful(disc));
        let text_px = (spot.half.0 * 0.5).clamp(size.text_px, 3.0 * size.text_px);
        let place = free_place(spot, &text, text_px, &taken);
        taken.push(place);
        canvas.edged_text(place.middle, text_px, if is_doubtful { CLOSE_TEXT } else { LIGHT }, DARK, &text);
    }
    for (disc, spot) in seen {
        let (zone, close) = (scene.verdicts[disc].zone, scene.verdicts[disc].close_other());
        let text = close.map_or(zone.value().to_string(), |other| format!("{}?{}", zone.value(), other.value()));
        let share = if close.is_some() { 0.72 } else { 0.95 };
        // A picture that is all disc must not ask for letters larger than itself.
        let text_px = (spot.half.0 * share).clamp(size.text_px, 6.0 * size.text_px);
        canvas.edged_text(spot.middle, text_px, if close.is_some() { CLOSE_TEXT } else { LIGHT }, DARK, &text);
    }
}

/// A box that a disc or a text takes on the canvas.
#[derive(Clone, Copy, Debug)]
struct Spot {
    middle: At,
    half: (f64, f64),
}

impl Spot {
    /// Area that both cover, px².
    fn overlap(&self, other: &Spot) -> f64 {
        let along = |a: f64, b: f64, reach: f64| (reach - (a - b).abs()).max(0.0);
        along(self.middle.0, other.middle.0, self.half.0 + other.half.0)
            * along(self.middle.1, other.middle.1, self.half.1 + other.half.1)
    }
}

/// Where a disc's top is seen.
fn spot(scene: &Scene, disc: usize, view: &dyn View) -> Option<Spot> {
    let (fit, placed) = (&scene.detections.discs[disc], &scene.placed[disc]);
    let top_mm = floor_mm(scene, fit) + scene.detections.set.height_mm;
    let rim = |dx: f64, dy: f64| view.at(placed.base.offset(dx * placed.radius_mm, dy * placed.radius_mm), top_mm);
    let (middle, right, below) = (rim(0.0, 0.0)?, rim(1.0, 0.0)?, rim(0.0, 1.0)?);
    let along = |a: At| (a.0 - middle.0).hypot(a.1 - middle.1);
    let radius = (along(right) + along(below)) / 2.0;
    Some(Spot { middle, half: (radius, radius) })
}

fn margin_text(scene: &Scene, disc: usize, with_number: bool) -> String {
    let verdict = &scene.verdicts[disc];
    let number = with_number.then(|| format!("#{}", id(disc)));
    let told = verdict.call.filter(|_| verdict.zone != Zone::Out || verdict.close_other().is_some());
    let margin = told.map(|call| signed(call.margin_mm));
    [number, margin].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// A margin with its sign, for people.
pub(super) fn signed(margin_mm: f64) -> String {
    format!("{}{}", if margin_mm < 0.0 { "-" } else { "+" }, millimetres(margin_mm.abs()))
}

/// Below a disc, or above or beside it, wherever its text covers the least of what is there already.
fn free_place(disc: Spot, text: &str, text_px: f64, taken: &[Spot]) -> Spot {
    let half = (text_width(text_px, text) / 2.0, text_px * 0.5);
    let (down, aside) = (disc.half.1 + 0.75 * text_px, disc.half.0 + half.0 + 0.2 * text_px);
    let places = [(0.0, down), (0.0, -down), (aside, 0.0), (-aside, 0.0)]
        .map(|(dx, dy)| Spot { middle: (disc.middle.0 + dx, disc.middle.1 + dy), half });
    let covered = |place: &Spot| taken.iter().map(|other| place.overlap(other)).sum::<f64>();
    let mut best = places[0];
    for place in &places[1..] {
        if covered(place) < covered(&best) {
            best = *place;
        }
    }
    best
}

/// A circle on the board, `height_mm` up.
fn circle(
    canvas: &mut Canvas,
    view: &dyn View,
    centre: Point<BoardMm>,
    radius_mm: f64,
    height_mm: f64,
    (width, colour, alpha): (f64, Colour, f64),
) {
    // Chords of a fiftieth of the radius leave a 20,000th of it between chord and arc: nothing, at any size.
    const PIECES: usize = 320;
    let path: Vec<Option<At>> = (0..=PIECES)
        .map(|piece| {
            let angle = TAU * piece as f64 / PIECES as f64;
            view.at(centre.offset(radius_mm * angle.cos(), radius_mm * angle.sin()), height_mm)
        })
        .collect();
    canvas.stroke(&path, width, colour, alpha);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disc(x: f64, y: f64) -> Spot {
        Spot { middle: (x, y), half: (20.0, 20.0) }
    }

    #[test]
    fn a_margin_stands_below_its_disc_unless_another_is_there() {
        let own = disc(100.0, 100.0);
        let below = free_place(own, "+1.4", 14.0, &[own]);
        assert!(below.middle.1 > 120.0 && below.middle.0 == 100.0);
        let above = free_place(own, "+1.4", 14.0, &[own, disc(100.0, 141.0)]);
        assert!(above.middle.1 < 80.0);
        let crowded = [own, disc(100.0, 141.0), disc(100.0, 59.0), disc(141.0, 100.0)];
        assert!(free_place(own, "+1.4", 14.0, &crowded).middle.0 < 80.0);
    }

    #[test]
    fn margins_carry_their_sign() {
        assert_eq!([signed(-0.04), signed(1.43)], ["-0.04", "+1.4"]);
    }
}
