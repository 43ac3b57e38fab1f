//! What is drawn on a board, in any view of it: line edges, discs, values, margins.
//!
//! In: a judged scene and a [`View`] that says where board points appear on the canvas. The overlay, its insets and the
//! top view share this.

use std::f64::consts::TAU;

use crate::board::{Side, Zone};
use crate::geometry::{BoardMm, Camera, Point};

use super::Scene;
use super::doubt::{id, millimetres};
use super::draw::{At, Canvas, Colour};
use super::telling::floor_mm;

/// Inner edges of the lines, the ones that decide.
pub(super) const INNER_EDGE: Colour = [0, 229, 255];
/// Outer edges, and the hole.
const OUTER_EDGE: Colour = [0, 90, 120];
/// Discs of side a, side b and of neither.
const SIDES: [Colour; 3] = [[79, 142, 255], [255, 178, 36], [235, 235, 235]];
/// Close calls.
pub(super) const CLOSE: Colour = [255, 35, 95];
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
        circle(canvas, view, centre, ring.outer_mm, 0.0, (size.line_px * 0.7, OUTER_EDGE, 0.75));
        circle(canvas, view, centre, ring.inner_mm, 0.0, (size.line_px, INNER_EDGE, 0.9));
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

/// The value on a disc and its margin below it; `doubtful` discs carry their number.
pub(super) fn label(canvas: &mut Canvas, scene: &Scene, disc: usize, view: &dyn View, size: Size, doubtful: bool) {
    let (fit, placed, verdict) = (&scene.detections.discs[disc], &scene.placed[disc], &scene.verdicts[disc]);
    let top_mm = floor_mm(scene, fit) + scene.detections.set.height_mm;
    let rim = |dx: f64, dy: f64| view.at(placed.base.offset(dx * placed.radius_mm, dy * placed.radius_mm), top_mm);
    let (Some(middle), Some(right), Some(below)) = (rim(0.0, 0.0), rim(1.0, 0.0), rim(0.0, 1.0)) else { return };
    let along = |a: At, b: At| (a.0 - b.0).hypot(a.1 - b.1);
    let radius_px = (along(right, middle) + along(below, middle)) / 2.0;
    let close = verdict.close_other();
    let value = match close {
        Some(other) => format!("{}?{}", verdict.zone.value(), other.value()),
        None => verdict.zone.value().to_string(),
    };
    let colour = if close.is_some() { [255, 190, 205] } else { LIGHT };
    // A picture that is all disc must not ask for letters larger than itself.
    let value_px = (radius_px * if close.is_some() { 0.72 } else { 0.95 }).clamp(size.text_px, 6.0 * size.text_px);
    canvas.edged_text(middle, value_px, colour, DARK, &value);
    let mut lines = Vec::new();
    if doubtful {
        lines.push(format!("#{}", id(disc)));
    }
    if let Some(call) = verdict.call.filter(|_| verdict.zone != Zone::Out || close.is_some()) {
        lines.push(format!("{}{}", if call.margin_mm < 0.0 { "-" } else { "+" }, millimetres(call.margin_mm.abs())));
    }
    let text_px = (radius_px * 0.5).clamp(size.text_px, 3.0 * size.text_px);
    let at = (middle.0, middle.1 + radius_px + 0.75 * text_px);
    canvas.edged_text(at, text_px, if doubtful { [255, 190, 205] } else { LIGHT }, DARK, &lines.join(" "));
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
