//! The sample round: a rendered round of twelve shots that is built into the program, played as a camera of ten frames
//! a second would have seen it. `samples/round/` holds the same pictures with their truth.

use std::time::Duration;

use image::RgbImage;
use serde::Deserialize;

use super::feed::{Feed, FeedError, Taken};
use super::photo;

/// Name of the sample as a source.
pub const NAME: &str = "sample";

/// The colours of the round's sides.
pub const SIDES: [&str; 2] = ["red", "black"];

/// What is held for how long, and the truth, which is of no concern here.
const ROUND: &str = include_str!("../../samples/round/round.json");

macro_rules! pictures {
    ($($name:literal)*) => {
        &[$(($name, include_bytes!(concat!("../../samples/round/", $name)).as_slice())),*]
    };
}

/// The pictures by name.
const PICTURES: &[(&str, &[u8])] = pictures! {
    "00-empty.jpg" "01-hand.jpg" "02-settled.jpg" "03-hand.jpg"
    "04-settled.jpg" "05-hand.jpg" "06-settled.jpg" "07-hand.jpg"
    "08-settled.jpg" "09-hand.jpg" "10-settled.jpg" "11-hand.jpg"
    "12-settled.jpg" "13-hand.jpg" "14-settled.jpg" "15-hand.jpg"
    "16-settled.jpg" "17-hand.jpg" "18-settled.jpg" "19-hand.jpg"
    "20-settled.jpg" "21-hand.jpg" "22-settled.jpg" "23-hand.jpg"
    "24-settled.jpg" "25-hand.jpg"
};

#[derive(Deserialize)]
struct Round {
    fps: f64,
    frames: Vec<Held>,
}

#[derive(Deserialize)]
struct Held {
    picture: String,
    frames: u32,
}

/// Plays the sample round.
#[derive(Debug)]
pub struct Sample {
    /// Indices into [`PICTURES`], one a frame.
    frames: Vec<usize>,
    fps: f64,
    next: usize,
    mark: [u8; 4],
    shown: Option<(usize, RgbImage)>,
}

impl Sample {
    /// From its first frame. No two plays of other `seed`s show the same pictures, as no two real rounds do: four blocks
    /// of a corner far from the board differ. (The same photo is not taken for two rounds of a match.)
    ///
    /// # Errors
    /// The program was built from a damaged sample.
    pub fn open(seed: u64) -> Result<Self, FeedError> {
        let none = || FeedError::NoFrames(NAME.to_owned());
        let round: Round = serde_json::from_str(ROUND).map_err(|_| none())?;
        let mut frames = Vec::new();
        for held in &round.frames {
            let picture = PICTURES.iter().position(|(name, _)| *name == held.picture).ok_or_else(none)?;
            frames.extend(std::iter::repeat_n(picture, held.frames as usize));
        }
        Ok(Self { frames, fps: round.fps, next: 0, mark: mark(seed), shown: None })
    }
}

impl Feed for Sample {
    fn next(&mut self) -> Result<Option<Taken>, FeedError> {
        let Some(&picture) = self.frames.get(self.next) else { return Ok(None) };
        let rgb = match &self.shown {
            Some((shown, rgb)) if *shown == picture => rgb.clone(),
            _ => {
                let (name, bytes) = PICTURES[picture];
                let failed = |error| FeedError::Photo { path: format!("{NAME}/{name}"), error };
                let mut rgb = photo::decode(name, bytes).map_err(failed)?.rgb;
                for (x, y) in (0..2 * BLOCK_PX).flat_map(|y| (0..2 * BLOCK_PX).map(move |x| (x, y))) {
                    let block = (x / BLOCK_PX + 2 * (y / BLOCK_PX)) as usize;
                    rgb.put_pixel(x, y, image::Rgb([self.mark[block]; 3]));
                }
                self.shown = Some((picture, rgb.clone()));
                rgb
            }
        };
        let number = self.next as u64;
        self.next += 1;
        Ok(Some(Taken { number, at: Duration::from_secs_f64(number as f64 / self.fps), rgb }))
    }
}

/// Side of a block that JPEG keeps apart from its neighbours, px.
const BLOCK_PX: u32 = 8;

/// Four greys, each one of sixteen.
fn mark(seed: u64) -> [u8; 4] {
    // Fibonacci hashing: seeds that lie close together give marks that do not.
    let bits = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
    [0, 4, 8, 12].map(|shift| ((bits >> shift) & 15) as u8 * 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_whole_and_every_picture_is_shown() {
        let mut sample = Sample::open(1).unwrap();
        let all: std::collections::BTreeSet<usize> = sample.frames.iter().copied().collect();
        assert_eq!(all.len(), PICTURES.len());
        let first = sample.next().unwrap().unwrap();
        let second = sample.next().unwrap().unwrap();
        assert_eq!((first.number, second.number, second.at.as_millis()), (0, 1, 100));
        assert_eq!(first.rgb, second.rgb);
        let other = Sample::open(2).unwrap().next().unwrap().unwrap();
        let differ = first.rgb.enumerate_pixels().filter(|(x, y, pixel)| other.rgb.get_pixel(*x, *y) != *pixel);
        let differ: Vec<(u32, u32)> = differ.map(|(x, y, _)| (x, y)).collect();
        assert!(!differ.is_empty() && differ.iter().all(|(x, y)| *x < 16 && *y < 16));
    }
}
