//! What a board looks like: its measures in mm and its colours, with a few boards to start from.

use super::colour::{Linear, srgb};
use std::f64::consts::{FRAC_PI_4, FRAC_PI_8};

/// The shape of the frame around the ditch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Frame {
    /// A ring.
    Round,
    /// Eight sides.
    Octagon,
    /// Four sides.
    Square,
}

/// One scoring line as painted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaintedLine {
    /// Radius of the inner edge, mm.
    pub inner_mm: f64,
    /// Radius of the outer edge, mm.
    pub outer_mm: f64,
}

/// A board: measures in mm, angles in radians, colours in linear light.
#[derive(Clone, Debug)]
pub struct BoardLook {
    /// The shooting line, the 10 line, the 15 line.
    pub lines: [PaintedLine; 3],
    pub hole_mm: f64,
    pub hole_depth_mm: f64,
    /// Radius of the playing surface's rim.
    pub surface_mm: f64,
    pub ditch_width_mm: f64,
    pub ditch_depth_mm: f64,
    pub frame: Frame,
    pub frame_turn_rad: f64,
    pub rail_width_mm: f64,
    /// Height of the rail's top above the playing surface.
    pub rail_top_mm: f64,
    /// How far the table lies below the playing surface.
    pub table_depth_mm: f64,
    pub pegs: usize,
    pub peg_mm: f64,
    pub peg_height_mm: f64,
    /// Direction of the first peg.
    pub peg_turn_rad: f64,
    /// Direction of the first quadrant line.
    pub quadrant_turn_rad: f64,
    pub quadrant_width_mm: f64,
    /// Whether 5, 10 and 15 are printed into the zones.
    pub digits: bool,
    /// Strength of the wood's grain, 0 (painted) to 1 (wild).
    pub grain: f32,
    /// How much the surface mirrors the lamp, 0 (matt) to 1.
    pub gloss: f32,
    pub surface: Linear,
    pub line: Linear,
    pub hole: Linear,
    pub ditch: Linear,
    pub rail: Linear,
    pub peg: Linear,
}

impl BoardLook {
    /// The standard measures in natural maple with dark lines, round.
    pub fn maple() -> Self {
        Self {
            lines: lines([304.8, 203.2, 101.6], [1.6, 1.6, 1.6]),
            hole_mm: 17.45,
            hole_depth_mm: 8.0,
            surface_mm: 330.2,
            ditch_width_mm: 50.0,
            ditch_depth_mm: 16.0,
            frame: Frame::Round,
            frame_turn_rad: 0.0,
            rail_width_mm: 25.0,
            rail_top_mm: 6.0,
            table_depth_mm: 30.0,
            pegs: 8,
            peg_mm: 4.0,
            peg_height_mm: 16.0,
            peg_turn_rad: FRAC_PI_8,
            quadrant_turn_rad: FRAC_PI_4,
            quadrant_width_mm: 1.6,
            digits: false,
            grain: 0.5,
            gloss: 0.3,
            surface: srgb(0xD9B98A),
            line: srgb(0x2A1A10),
            hole: srgb(0x3A2A1C),
            ditch: srgb(0x26221F),
            rail: srgb(0x8A5A34),
            peg: srgb(0xA8A8AC),
        }
    }

    /// Dark walnut with pale lines and an octagonal frame.
    pub fn walnut_octagon() -> Self {
        Self {
            lines: lines([304.8, 203.2, 101.6], [2.0, 1.2, 1.2]),
            frame: Frame::Octagon,
            frame_turn_rad: FRAC_PI_8,
            grain: 0.8,
            surface: srgb(0x5A3A28),
            line: srgb(0xE2C060),
            hole: srgb(0x1C1410),
            ditch: srgb(0x141414),
            rail: srgb(0x6A4028),
            ..Self::maple()
        }
    }

    /// Painted white, thin black lines, a red ditch.
    pub fn white() -> Self {
        Self {
            lines: lines([304.8, 203.2, 101.6], [1.2, 1.2, 1.2]),
            grain: 0.03,
            gloss: 0.6,
            surface: srgb(0xE6E4DE),
            line: srgb(0x181818),
            hole: srgb(0x9A1818),
            ditch: srgb(0x601818),
            rail: srgb(0x202020),
            ..Self::maple()
        }
    }

    /// Painted black with white lines and a pale ditch.
    pub fn black() -> Self {
        Self {
            grain: 0.03,
            gloss: 0.7,
            surface: srgb(0x202226),
            line: srgb(0xE8E8E8),
            hole: srgb(0xB09060),
            ditch: srgb(0x5A4A38),
            rail: srgb(0x1A1A1A),
            ..Self::maple()
        }
    }

    /// A home-made square board of other proportions, lines of unlike width, digits printed.
    pub fn home_square() -> Self {
        Self {
            lines: lines([304.8, 213.0, 105.0], [3.0, 2.0, 2.4]),
            hole_mm: 19.0,
            surface_mm: 327.0,
            ditch_width_mm: 44.0,
            ditch_depth_mm: 12.0,
            frame: Frame::Square,
            rail_top_mm: 12.0,
            digits: true,
            grain: 0.6,
            surface: srgb(0xC89058),
            line: srgb(0x301810),
            ditch: srgb(0x204020),
            rail: srgb(0xB07840),
            ..Self::maple()
        }
    }

    /// All of them.
    pub fn all() -> Vec<Self> {
        vec![Self::maple(), Self::walnut_octagon(), Self::white(), Self::black(), Self::home_square()]
    }

    /// Inner edges of the three lines, mm, outermost first.
    pub fn inner_mm(&self) -> [f64; 3] {
        self.lines.map(|line| line.inner_mm)
    }

    /// Normals of the frame's straight sides, one of each opposite pair; none for a ring.
    pub fn side_normals(&self) -> Vec<[f64; 2]> {
        let (count, step) = match self.frame {
            Frame::Round => (0, 0.0),
            Frame::Octagon => (4, FRAC_PI_4),
            Frame::Square => (2, 2.0 * FRAC_PI_4),
        };
        (0..count)
            .map(|i| {
                let (s, c) = (self.frame_turn_rad + step * f64::from(i)).sin_cos();
                [c, s]
            })
            .collect()
    }

    /// Reach of the frame's inner wall, mm.
    pub fn rail_inner_mm(&self) -> f64 {
        self.surface_mm + self.ditch_width_mm
    }

    /// Reach of the frame's outer wall, mm.
    pub fn rail_outer_mm(&self) -> f64 {
        self.rail_inner_mm() + self.rail_width_mm
    }

    /// Where the pegs stand.
    pub fn peg_places(&self) -> Vec<[f64; 2]> {
        let radius = (self.lines[2].inner_mm + self.lines[2].outer_mm) / 2.0;
        (0..self.pegs)
            .map(|i| {
                let (s, c) = (self.peg_turn_rad + std::f64::consts::TAU * i as f64 / self.pegs as f64).sin_cos();
                [radius * c, radius * s]
            })
            .collect()
    }

    /// The strokes that are printed beside the circles: quadrant lines and digits.
    pub fn strokes(&self) -> Vec<Stroke> {
        let mut out = Vec::new();
        for quarter in 0..4 {
            let (s, c) = (self.quadrant_turn_rad + f64::from(quarter) * 2.0 * FRAC_PI_4).sin_cos();
            let (from, to) = (self.lines[1].outer_mm, self.lines[0].inner_mm);
            out.push(Stroke { from: [from * c, from * s], to: [to * c, to * s], width_mm: self.quadrant_width_mm });
        }
        if self.digits {
            let middle = |outer: usize, inner: f64| (self.lines[outer].inner_mm + inner) / 2.0;
            let along = self.quadrant_turn_rad + FRAC_PI_4;
            for (text, radius) in [
                ("5", middle(0, self.lines[1].outer_mm)),
                ("10", middle(1, self.lines[2].outer_mm)),
                ("15", middle(2, self.hole_mm)),
            ] {
                print_digits(text, radius, along, &mut out);
            }
        }
        out
    }
}

/// A straight printed stroke with square ends cut off round.
#[derive(Clone, Copy, Debug)]
pub struct Stroke {
    pub from: [f64; 2],
    pub to: [f64; 2],
    pub width_mm: f64,
}

fn lines(radii: [f64; 3], widths: [f64; 3]) -> [PaintedLine; 3] {
    [0, 1, 2].map(|i| PaintedLine { inner_mm: radii[i] - widths[i] / 2.0, outer_mm: radii[i] + widths[i] / 2.0 })
}

/// Digits of 22 mm height in strokes of 3 mm, upright towards the centre, around the direction `along_rad`.
fn print_digits(text: &str, radius: f64, along_rad: f64, out: &mut Vec<Stroke>) {
    const HALF: f64 = 11.0;
    const WIDE: f64 = 6.0;
    const GAP: f64 = 9.5;
    let (s, c) = along_rad.sin_cos();
    let width = GAP * (text.len() as f64 - 1.0);
    for (i, digit) in text.chars().enumerate() {
        let shift = 2.0 * GAP * i as f64 - width;
        let path: &[[f64; 2]] = match digit {
            '0' => &[[-WIDE, -HALF], [WIDE, -HALF], [WIDE, HALF], [-WIDE, HALF], [-WIDE, -HALF]],
            '1' => &[[-WIDE * 0.6, -HALF * 0.6], [0.0, -HALF], [0.0, HALF]],
            _ => &[[WIDE, -HALF], [-WIDE, -HALF], [-WIDE, 0.0], [WIDE, 0.0], [WIDE, HALF], [-WIDE, HALF]],
        };
        // (right, up) of the digit: right along the circle, up away from the centre.
        let place = |p: [f64; 2]| {
            let (across, outwards) = (p[0] + shift, radius - p[1]);
            [outwards * c - across * s, outwards * s + across * c]
        };
        for pair in path.windows(2) {
            out.push(Stroke { from: place(pair[0]), to: place(pair[1]), width_mm: 3.0 });
        }
    }
}
