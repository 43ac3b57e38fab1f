//! The overlay: a picture that a referee can judge from.
//!
//! In: the frame and its count. Out: the picture with both edges of every line, the circle on which each disc touches
//! the board, values and margins; a banner with the totals; and beside it, for whatever needs a person, the reason, and
//! for a close call the disc's edge and the line enlarged. Strokes and letters grow with the picture.

use image::imageops::{self, FilterType};
use image::{Rgb, RgbImage};

use crate::capture::Frame;
use crate::geometry::{BoardMm, ImagePx, Point};

use super::draw::{Canvas, Colour, text_width, wrapped};
use super::marks::{self, CLOSE, DARK, INNER_EDGE, LIGHT, Picture, Size};
use super::report::{Report, SideTotal, Status};
use super::{Count, Scene, palette};

/// Longest side of the picture part: what a screen shows and a browser loads at once.
const MAX_SIDE_PX: u32 = 2000;

/// Smaller pictures are enlarged to this, so that letters on a disc can be read.
const MIN_SIDE_PX: u32 = 1200;

/// Most insets of close calls; more than these are listed by their reasons.
const MAX_INSETS: usize = 6;

/// Side of an inset's window in disc radii: a tenth of a millimetre is more than a pixel of the inset.
const INSET_RADII: f64 = 1.7;

/// Colour of the banner's bar by status.
fn status_colour(status: Status) -> Colour {
    match status {
        Status::Counted => [28, 150, 84],
        Status::Review => CLOSE,
        Status::NoBoard | Status::Error => [120, 120, 128],
    }
}

/// Draws the overlay.
pub fn draw(frame: &Frame, count: &Count) -> RgbImage {
    let (picture, scale) = fitted(&frame.rgb);
    let (width, height) = picture.dimensions();
    let unit = f64::from(width.max(height)) / 1200.0;
    let size = Size { line_px: 1.6 * unit, text_px: 13.0 * unit };
    let mut canvas = Canvas::new(picture);
    if let Some(scene) = &count.scene {
        let view = Picture { camera: &scene.registration.camera, scale, shift: (0.0, 0.0) };
        marks::rings(&mut canvas, scene, &view, size);
        (0..scene.verdicts.len()).for_each(|disc| marks::disc(&mut canvas, scene, disc, &view, size));
        let review = &count.report.review;
        let doubtful = |disc: usize| review.iter().any(|entry| entry.disc == Some(super::doubt::id(disc)));
        marks::labels(&mut canvas, scene, &view, size, doubtful);
    }
    let side = panel(frame, count, unit, height);
    let banner_px = (64.0 * unit).round();
    let side_px = side.as_ref().map_or(0, RgbImage::width);
    let mut sheet = Canvas::filled(width + side_px, height + banner_px as u32, DARK);
    banner(&mut sheet, &count.report, banner_px);
    sheet.paste(&canvas.into_picture(), 0, banner_px as u32);
    if let Some(side) = side {
        sheet.paste(&side, width, banner_px as u32);
    }
    sheet.into_picture()
}

/// The picture at a size that can be drawn on, and how much it was scaled.
fn fitted(picture: &RgbImage) -> (RgbImage, f64) {
    let (width, height) = picture.dimensions();
    let long = width.max(height).max(1);
    let wanted = long.clamp(MIN_SIDE_PX, MAX_SIDE_PX);
    if wanted == long {
        return (picture.clone(), 1.0);
    }
    let scale = f64::from(wanted) / f64::from(long);
    let scaled = |side: u32| ((f64::from(side) * scale).round() as u32).max(1);
    let (width, height) = (scaled(width), scaled(height));
    let out = if scale < 1.0 {
        imageops::thumbnail(picture, width, height)
    } else {
        imageops::resize(picture, width, height, FilterType::CatmullRom)
    };
    (out, scale)
}

/// Status, totals and colours over the picture.
fn banner(sheet: &mut Canvas, report: &Report, height: f64) {
    let width = f64::from(sheet.width());
    let pad = height * 0.22;
    let colour = status_colour(report.status);
    sheet.plate(0.0, height - (height * 0.07).max(1.0), width, height, colour, 1.0);
    let word = match report.status {
        Status::Counted => "COUNTED",
        Status::Review => "REVIEW",
        Status::NoBoard => "NO BOARD",
        Status::Error => "ERROR",
    };
    // The status takes its room first; totals share what is left.
    let mut word_px = height * 0.42;
    word_px = word_px.min(word_px * 0.3 * width / text_width(word_px, word).max(1.0));
    let word_width = text_width(word_px, word) + 2.0 * pad;
    sheet.plate(width - word_width, 0.0, word_width, height, colour, 1.0);
    sheet.text((width - word_width + pad, (height - word_px) / 2.0 - height * 0.03), word_px, LIGHT, word);
    let room = width - word_width - pad;
    let line = total_line(&report.sides);
    let full = height * 0.5;
    let needed = full * 0.9 * report.sides.len() as f64 + text_width(full, &line);
    let size = full * (room / needed.max(1.0)).min(1.0);
    let mut x = pad;
    for side in &report.sides {
        let swatch = size * 0.62;
        let top = (height - swatch) / 2.0;
        sheet.plate(x - 2.0, top - 2.0, swatch + 4.0, swatch + 4.0, marks::side_colour(Some(side.side)), 1.0);
        sheet.plate(x, top, swatch, swatch, swatch_colour(side.colour.as_deref()), 1.0);
        x += size * 0.85;
        let text = side_text(side);
        sheet.text((x, (height - size) / 2.0), size, LIGHT, &text);
        x += text_width(size, &format!("{text}    "));
    }
}

fn total_line(sides: &[SideTotal]) -> String {
    sides.iter().map(|side| format!("{}    ", side_text(side))).collect()
}

fn side_text(side: &SideTotal) -> String {
    let name = side.name();
    match side.set_aside {
        0 => format!("{name} {}", side.total),
        aside => format!("{name} {} ({aside} set aside)", side.total),
    }
}

/// A known colour as sRGB, for the swatch beside its name.
fn swatch_colour(name: Option<&str>) -> Colour {
    let Some(colour) = name.and_then(palette::named) else { return [128; 3] };
    let [l, a, b] = colour.lab.map(f64::from);
    let fy = (l + 16.0) / 116.0;
    let cubed = |f: f64| if f > 6.0 / 29.0 { f.powi(3) } else { 3.0 * (6.0f64 / 29.0).powi(2) * (f - 4.0 / 29.0) };
    let (x, y, z) = (0.95047 * cubed(fy + a / 500.0), cubed(fy), 1.08883 * cubed(fy - b / 200.0));
    let linear = [
        3.2406 * x - 1.5372 * y - 0.4986 * z,
        -0.9689 * x + 1.8758 * y + 0.0415 * z,
        0.0557 * x - 0.2040 * y + 1.0570 * z,
    ];
    linear.map(|v| {
        let v = v.clamp(0.0, 1.0);
        let srgb = if v <= 0.003_130_8 { 12.92 * v } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
        (srgb * 255.0).round() as u8
    })
}

/// The column beside the picture: every reason, close calls with their inset. None where there is nothing to look at.
fn panel(frame: &Frame, count: &Count, unit: f64, height: u32) -> Option<RgbImage> {
    let review = &count.report.review;
    if review.is_empty() {
        return None;
    }
    let width = (330.0 * unit).round();
    let pad = 14.0 * unit;
    let text_px = 15.0 * unit;
    let line_px = text_px * 1.25;
    let bottom = f64::from(height) - pad;
    let mut sheet = Canvas::filled(width as u32, height, [30, 33, 40]);
    let close: Vec<usize> = count.scene.as_ref().map_or(Vec::new(), |scene| {
        (0..scene.verdicts.len()).filter(|&disc| scene.verdicts[disc].close_other().is_some()).collect()
    });
    // Insets share the room that the text leaves, up to a square of the column's width.
    let texts: Vec<Vec<String>> =
        review.iter().map(|entry| wrapped(text_px, width - 2.0 * pad, &entry.sentence(&count.report.sides))).collect();
    let text_room: f64 = texts.iter().map(|lines| lines.len() as f64 * line_px + pad * 0.6).sum();
    let shown = close.len().min(MAX_INSETS);
    let inset_px = ((bottom - pad - text_room) / shown.max(1) as f64 - pad).min(width - 2.0 * pad).floor();
    let mut y = pad;
    let mut pictured = Vec::new();
    for (entry, lines) in review.iter().zip(&texts) {
        let disc = entry.disc.map(|id| id as usize - 1);
        let inset = disc.filter(|disc| close[..shown].contains(disc) && !pictured.contains(disc) && inset_px >= 90.0);
        for line in lines {
            if y + line_px > bottom {
                sheet.text((pad, bottom - line_px), text_px, LIGHT, "...");
                return Some(sheet.into_picture());
            }
            sheet.text((pad, y), text_px, if disc.is_some() { LIGHT } else { [255, 210, 120] }, line);
            y += line_px;
        }
        if let (Some(disc), Some(scene)) = (inset, &count.scene) {
            pictured.push(disc);
            let picture = inset_of(frame, scene, disc, inset_px as u32, unit);
            sheet.paste(&picture, ((width - inset_px) / 2.0) as u32, y as u32);
            y += inset_px + pad * 0.4;
        }
        y += pad * 0.6;
    }
    Some(sheet.into_picture())
}

/// The disc's far edge and the line beside it, enlarged from the full picture.
fn inset_of(frame: &Frame, scene: &Scene, disc: usize, side_px: u32, unit: f64) -> RgbImage {
    let (camera, placed) = (&scene.registration.camera, &scene.placed[disc]);
    let rho = placed.base.norm().max(1e-6);
    let out = placed.radius_mm / rho;
    let edge: Point<BoardMm> = placed.base.offset(placed.base.x * out, placed.base.y * out);
    let (Some(middle), Some(px_per_mm)) = (camera.project(edge, 0.0), camera.scale_px_per_mm(edge, 0.0)) else {
        return RgbImage::new(side_px, side_px);
    };
    let scale = f64::from(side_px) / (INSET_RADII * placed.radius_mm * px_per_mm);
    let half = f64::from(side_px) / 2.0 - 0.5;
    let shift = (half - middle.rescaled(scale).x, half - middle.rescaled(scale).y);
    let picture = RgbImage::from_fn(side_px, side_px, |x, y| {
        let at = Point::<ImagePx>::new(f64::from(x) - shift.0, f64::from(y) - shift.1).rescaled(1.0 / scale);
        super::top_view::sample(&frame.rgb, at).map_or(Rgb(DARK), Rgb)
    });
    let mut canvas = Canvas::new(picture);
    let view = Picture { camera, scale, shift };
    let size = Size { line_px: 1.4 * unit, text_px: 13.0 * unit };
    marks::rings(&mut canvas, scene, &view, size);
    marks::disc(&mut canvas, scene, disc, &view, size);
    if let Some(call) = scene.verdicts[disc].call {
        let text = format!("#{}  {} mm", super::doubt::id(disc), marks::signed(call.margin_mm));
        let text_px = 16.0 * unit;
        canvas.edged_text((half, text_px), text_px, LIGHT, DARK, &text);
    }
    let frame_px = f64::from(side_px) - 1.0;
    let border = [(0.0, 0.0), (frame_px, 0.0), (frame_px, frame_px), (0.0, frame_px), (0.0, 0.0)].map(Some);
    canvas.stroke(&border, 2.0 * unit, INNER_EDGE, 1.0);
    canvas.into_picture()
}

#[cfg(test)]
mod tests;
