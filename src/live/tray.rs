//! 20s in a tray beside the board, as a cross-check.
//!
//! In: a region of the picture that a person drew, and pictures. Out: how many discs lie there: the area that differs from
//! the empty tray (as it was when the board was empty) over the area of a disc. Stacked discs are seen as one.

use image::RgbImage;

/// A region of the picture, px.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
pub struct Region {
    /// Left edge.
    pub x: u32,
    /// Upper edge.
    pub y: u32,
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

impl Region {
    /// Does all of it lie in a picture of that width and height?
    pub fn lies_in(&self, (width, height): (u32, u32)) -> bool {
        let fits = |from: u32, side: u32, all: u32| from.checked_add(side).is_some_and(|end| end <= all);
        fits(self.x, self.width, width) && fits(self.y, self.height, height)
    }
}

/// Sum of the three channels' differences that is another thing, levels.
const OTHER: u32 = 75;

/// A tray that is watched.
#[derive(Clone, Debug)]
pub struct Tray {
    region: Region,
    empty: Option<Vec<[u8; 3]>>,
}

impl Tray {
    /// Watches a region.
    pub fn new(region: Region) -> Self {
        Self { region, empty: None }
    }

    /// The tray as it looks now holds no 20 of this round.
    pub fn learn(&mut self, rgb: &RgbImage) {
        self.empty = Some(self.read(rgb));
    }

    /// Discs that came into the tray; `disc_px` is a disc's radius there. None before the empty tray is known.
    pub fn discs(&self, rgb: &RgbImage, disc_px: f64) -> Option<u32> {
        let now = self.read(rgb);
        let empty = self.empty.as_ref().filter(|empty| empty.len() == now.len())?;
        let differs =
            |(a, b): &(&[u8; 3], &[u8; 3])| (0..3).map(|i| u32::from(a[i].abs_diff(b[i]))).sum::<u32>() > OTHER;
        let changed = empty.iter().zip(&now).filter(differs).count() as f64;
        Some((changed / (std::f64::consts::PI * disc_px * disc_px).max(1.0)).round() as u32)
    }

    fn read(&self, rgb: &RgbImage) -> Vec<[u8; 3]> {
        let Region { x, y, width, height } = self.region;
        let (right, lower) = (x.saturating_add(width).min(rgb.width()), y.saturating_add(height).min(rgb.height()));
        (y.min(lower)..lower)
            .flat_map(|row| (x.min(right)..right).map(move |column| (column, row)))
            .map(|(column, row)| rgb.get_pixel(column, row).0)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgb;

    fn tray(discs: &[(i32, i32)]) -> RgbImage {
        RgbImage::from_fn(200, 100, |x, y| {
            let inside = discs.iter().any(|(cx, cy)| (x as i32 - cx).pow(2) + (y as i32 - cy).pow(2) < 144);
            if inside { Rgb([30; 3]) } else { Rgb([150, 120, 90]) }
        })
    }

    #[test]
    fn a_region_lies_in_a_picture_or_not() {
        let region = |x, y, width, height| Region { x, y, width, height };
        assert!(region(0, 0, 200, 100).lies_in((200, 100)));
        for outside in [region(1, 0, 200, 100), region(0, 95, 10, 10), region(u32::MAX, 0, 2, 2)] {
            assert!(!outside.lies_in((200, 100)), "{outside:?}");
        }
    }

    #[test]
    fn discs_that_came_into_the_tray_are_counted() {
        let mut watched = Tray::new(Region { x: 10, y: 10, width: 150, height: 500 });
        assert_eq!(watched.discs(&tray(&[]), 12.0), None);
        watched.learn(&tray(&[(40, 40)]));
        assert_eq!(watched.discs(&tray(&[(40, 40)]), 12.0), Some(0));
        assert_eq!(watched.discs(&tray(&[(40, 40), (80, 40), (120, 60)]), 12.0), Some(2));
        assert_eq!(Tray::new(Region { x: 900, y: 900, width: 5, height: 5 }).read(&tray(&[])).len(), 0);
    }
}
