//! Views of a calibration sheet: which are worth keeping, and what is still missing.
//!
//! In: the corners of the sheet in each picture. A lens is known from views that fill the picture into its corners and that
//! are tilted both ways; many views of one kind say no more than one.

use super::lens::MeasuredLens;

/// Inner corners of the sheet: columns and rows.
pub const CORNERS: [usize; 2] = [9, 6];
/// Least number of views.
const LEAST_VIEWS: usize = 8;
/// Two views whose corners differ by less than this share of the picture's width, on average, are one, unless they are
/// tilted otherwise.
const SAME_SHARE: f64 = 0.05;
/// The picture is divided into so many columns and rows.
const FIELDS: [usize; 2] = [4, 3];
/// Fields in which corners must have been seen.
const LEAST_FIELDS: usize = 10;
/// Opposite sides of a tilted sheet differ by this, relatively.
const TILTED: f64 = 0.12;
/// Views that must be tilted about each axis.
const LEAST_TILTED: usize = 2;

/// Corners of one view, row by row, px.
pub type Corners = Vec<[f64; 2]>;

/// A lens with how well it explains the views.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solved {
    /// Focal length, px.
    pub focal_px: f64,
    /// The rest of it.
    pub lens: MeasuredLens,
    /// RMS distance of corners seen from corners expected, px.
    pub rms_px: f64,
}

/// What became of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// It is kept.
    Kept,
    /// It is like one that is kept already.
    Alike,
}

/// The views kept so far.
#[derive(Clone, Debug, Default)]
pub struct Views {
    size_px: (u32, u32),
    kept: Vec<Corners>,
}

impl Views {
    /// No views of pictures of that size.
    pub fn new(size_px: (u32, u32)) -> Self {
        Self { size_px, kept: Vec::new() }
    }

    /// The views.
    pub fn kept(&self) -> &[Corners] {
        &self.kept
    }

    /// Size of the pictures, px.
    pub fn size_px(&self) -> (u32, u32) {
        self.size_px
    }

    /// Offers a view.
    pub fn offer(&mut self, corners: Corners) -> Offered {
        let least = SAME_SHARE * f64::from(self.size_px.0);
        let apart = |kept: &Corners| {
            let sum: f64 = kept.iter().zip(&corners).map(|(a, b)| (a[0] - b[0]).hypot(a[1] - b[1])).sum();
            sum / corners.len().max(1) as f64
        };
        let turned = |kept: &Corners| {
            let (before, now) = (tilt(kept), tilt(&corners));
            (0..2).any(|axis| (before[axis] - now[axis]).abs() > TILTED / 2.0)
        };
        if self.kept.iter().any(|kept| apart(kept) < least && !turned(kept)) {
            return Offered::Alike;
        }
        self.kept.push(corners);
        Offered::Kept
    }

    /// What is missing, as sentence parts for people; empty when there is enough.
    pub fn missing(&self) -> Vec<String> {
        let mut out = Vec::new();
        if self.kept.len() < LEAST_VIEWS {
            out.push(format!("{} more different views", LEAST_VIEWS - self.kept.len()));
        }
        let seen = self.fields();
        if seen.iter().filter(|seen| **seen).count() < LEAST_FIELDS {
            let names = |index: usize| {
                let (column, row) = (index % FIELDS[0], index / FIELDS[0]);
                let vertical = ["upper", "middle", "lower"][row.min(2)];
                let horizontal = ["left", "centre left", "centre right", "right"][column.min(3)];
                format!("{vertical} {horizontal}")
            };
            let unseen: Vec<String> = (0..seen.len()).filter(|index| !seen[*index]).map(names).collect();
            out.push(format!("views with the sheet in these parts of the picture: {}", unseen.join(", ")));
        }
        for (axis, how) in [(0, "its left or right side"), (1, "its upper or lower side")] {
            let tilted = self.kept.iter().filter(|view| tilt(view)[axis].abs() > TILTED).count();
            if tilted < LEAST_TILTED {
                out.push(format!("{} views with {how} nearer to the camera", LEAST_TILTED - tilted));
            }
        }
        out
    }

    fn fields(&self) -> Vec<bool> {
        let mut seen = vec![false; FIELDS[0] * FIELDS[1]];
        let (w, h) = (f64::from(self.size_px.0.max(1)), f64::from(self.size_px.1.max(1)));
        for [x, y] in self.kept.iter().flatten() {
            let index = |share: f64, fields: usize| (share.clamp(0.0, 0.9999) * fields as f64) as usize;
            seen[index(y / h, FIELDS[1]) * FIELDS[0] + index(x / w, FIELDS[0])] = true;
        }
        seen
    }
}

/// How much opposite sides of the sheet differ: left against right, upper against lower; 0 where they are alike.
fn tilt(view: &Corners) -> [f64; 2] {
    let [columns, rows] = CORNERS;
    if view.len() != columns * rows {
        return [0.0; 2];
    }
    let side = |from: usize, to: usize| (view[from][0] - view[to][0]).hypot(view[from][1] - view[to][1]);
    let last = columns * (rows - 1);
    let (left, right) = (side(0, last), side(columns - 1, last + columns - 1));
    let (upper, lower) = (side(0, columns - 1), side(last, last + columns - 1));
    [(left / right).ln(), (upper / lower).ln()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sheet at (x, y) whose far sides are smaller by `tilt`.
    fn view(x: f64, y: f64, tilt: [f64; 2]) -> Corners {
        let [columns, rows] = CORNERS;
        (0..columns * rows)
            .map(|i| {
                let (u, v) = ((i % columns) as f64 / 8.0 - 0.5, (i / columns) as f64 / 5.0 - 0.5);
                let scale = 1.0 / (1.0 + tilt[0] * u + tilt[1] * v);
                [x + 300.0 * u * scale, y + 200.0 * v * scale]
            })
            .collect()
    }

    #[test]
    fn a_view_like_another_is_not_kept() {
        let mut views = Views::new((1280, 720));
        assert_eq!(views.offer(view(300.0, 300.0, [0.0; 2])), Offered::Kept);
        assert_eq!(views.offer(view(310.0, 300.0, [0.0; 2])), Offered::Alike);
        assert_eq!(views.offer(view(600.0, 300.0, [0.0; 2])), Offered::Kept);
        for tilt in [[0.25, 0.0], [-0.25, 0.0], [0.0, 0.25]] {
            assert_eq!(views.offer(view(600.0, 300.0, tilt)), Offered::Kept, "tilted in place");
            assert_eq!(views.offer(view(605.0, 300.0, tilt)), Offered::Alike);
        }
    }

    #[test]
    fn what_is_missing_is_said_until_there_is_enough() {
        let mut views = Views::new((1280, 720));
        assert_eq!(views.missing().len(), 4);
        for (i, x) in [160.0, 420.0, 860.0, 1120.0].into_iter().enumerate() {
            for y in [110.0, 360.0, 610.0] {
                views.offer(view(x, y, [0.0; 2]));
            }
            assert!(i == 3 || views.missing().iter().any(|part| part.contains("right")), "{:?}", views.missing());
        }
        let missing = views.missing();
        assert_eq!(missing.len(), 2, "flat views alone: {missing:?}");
        for x in [300.0, 700.0] {
            views.offer(view(x, 200.0, [0.4, 0.0]));
            views.offer(view(x, 500.0, [0.0, 0.4]));
        }
        assert!(views.missing().is_empty(), "{:?}", views.missing());
    }
}
