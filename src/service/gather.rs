//! The evidence of a round while it is played: its settled frames, and at the end the one that was counted.
//!
//! A round is told once it is final; one that only seemed over waits, because play may go on.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::{ImageError, RgbImage};

use crate::count::report::{Report, Status};
use crate::live::event::RoundResult;
use crate::live::input::Told;
use crate::live::{Event, Glimpse, Input, What};

/// Quality of the pictures that are kept as evidence.
const JPEG_QUALITY: u8 = 90;
/// Settled frames of a round that are kept for its clip; of more, the first are dropped.
const MOST_FRAMES: usize = 120;

/// A round that is over, with what shows it.
#[derive(Clone, Debug)]
pub struct Gathered {
    /// Number of the round in its session.
    pub round: u32,
    /// What was counted; None where the frame is not kept any more.
    pub shown: Option<Shown>,
}

/// The frame that was counted, and those before it.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The frame as JPEG.
    pub photo: Vec<u8>,
    /// The settled frames one after another: a video that players know as Motion JPEG.
    pub clip: Vec<u8>,
    /// The count with the round's totals, as `crokeye.count/1`.
    pub count: Report,
}

/// Gathers the evidence of rounds.
#[derive(Debug, Default)]
pub struct Gatherer {
    /// The settled frames of this round: number, JPEG, count.
    frames: Vec<(u64, Vec<u8>, Report)>,
    waiting: Option<RoundResult>,
}

impl Gatherer {
    /// Takes what happened; the rounds that are over with it.
    ///
    /// # Errors
    /// A frame cannot be written as JPEG.
    pub fn take(&mut self, input: &Input, events: &[Event]) -> Result<Vec<Gathered>, ImageError> {
        let mut over = Vec::new();
        for event in events {
            match &event.what {
                What::Settled { count, .. } => self.keep(input, event.frame, count)?,
                What::Round(result) if result.is_final => {
                    self.waiting = None;
                    over.push(self.gathered(result));
                }
                What::Round(result) => self.waiting = Some((**result).clone()),
                What::Final { .. } => over.extend(self.end()),
                What::Resumed => self.waiting = None,
                What::Abandoned => self.frames.clear(),
                _ => {}
            }
        }
        Ok(over)
    }

    /// A round that still waits for the board to be cleared.
    pub fn end(&mut self) -> Option<Gathered> {
        let waiting = self.waiting.take();
        waiting.map(|result| self.gathered(&result))
    }

    fn keep(&mut self, input: &Input, frame: u64, count: &Report) -> Result<(), ImageError> {
        let Told::Glimpse(Glimpse::Still { rgb, .. }) = &input.what else { return Ok(()) };
        self.frames.push((frame, jpeg(rgb, JPEG_QUALITY)?, count.clone()));
        if self.frames.len() > MOST_FRAMES {
            self.frames.remove(0);
        }
        Ok(())
    }

    fn gathered(&mut self, result: &RoundResult) -> Gathered {
        let frames = std::mem::take(&mut self.frames);
        let counted = frames.iter().rev().find(|(frame, ..)| *frame <= result.counted_frame);
        let shown = counted.map(|(_, photo, report)| {
            let mut count = report.clone();
            count.status = if result.review.is_empty() { count.status } else { Status::Review };
            count.review.clone_from(&result.review);
            for (side, round) in count.sides.iter_mut().zip(&result.sides) {
                (side.count, side.set_aside, side.total) = (round.count, round.set_aside, round.total);
            }
            let clip = frames.iter().flat_map(|(_, jpeg, _)| jpeg.iter().copied()).collect();
            Shown { photo: photo.clone(), clip, count }
        });
        Gathered { round: result.round, shown }
    }
}

/// A picture as JPEG.
///
/// # Errors
/// The encoder refuses it.
pub fn jpeg(rgb: &RgbImage, quality: u8) -> Result<Vec<u8>, ImageError> {
    let mut bytes = Cursor::new(Vec::new());
    rgb.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, quality))?;
    Ok(bytes.into_inner())
}
