//! Rounds of a session go to a match: each with its frame, its count and the clip of its settled frames.
//!
//! A round is taken once it is final; one that only seemed over waits, because play may go on.

use std::io::Cursor;

use anyhow::Result;
use clap::Args;
use crokeye::count::report::{Report, Status};
use crokeye::live::event::RoundResult;
use crokeye::live::input::Told;
use crokeye::live::{Event, Glimpse, Input, What};
use crokeye::score::event::Setup;
use crokeye::score::intake::IntakeError;
use crokeye::store::StoreError;
use image::RgbImage;
use image::codecs::jpeg::JpegEncoder;

use crate::cli::match_log::{Common, CountOffer, block, propose};

/// Quality of the pictures that are kept as evidence.
const JPEG_QUALITY: u8 = 90;
/// Settled frames of a round that are kept for its clip; of more, the first are dropped.
const MOST_FRAMES: usize = 120;

/// Options that take rounds into a match.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Into a match")]
pub struct MatchOptions {
    /// Propose each round to this match (`crokeye match new` starts one), with frame, count and clip as evidence; its
    /// rules and format decide how many discs a round has.
    #[arg(long = "match", value_name = "ID")]
    pub match_id: Option<String>,

    /// Take a round at once when nothing is close and nothing needs review.
    #[arg(long, requires = "match_id")]
    pub auto_accept: bool,

    /// The database of matches [default: the one of `crokeye match`].
    #[arg(long, value_name = "FILE", requires = "match_id")]
    pub db: Option<std::path::PathBuf>,

    /// Who does this; written into the log [default: $USER].
    #[arg(long, value_name = "NAME", requires = "match_id")]
    pub author: Option<String>,
}

impl MatchOptions {
    fn common(&self) -> Common {
        Common { db: self.db.clone(), json: false, author: self.author.clone() }
    }

    /// How the named match is played; None where none is named.
    ///
    /// # Errors
    /// There is no such match.
    pub fn setup(&self) -> Result<Option<Setup>> {
        let Some(id) = &self.match_id else { return Ok(None) };
        block(async {
            let store = self.common().open().await?;
            let loaded = store.load(store.find(id).await?).await?;
            let setup = loaded.game.setup().clone();
            store.close().await;
            Ok(Some(setup))
        })
    }
}

/// Gathers the evidence of a round and proposes it.
pub struct IntoMatch {
    options: MatchOptions,
    id: String,
    /// The settled frames of this round: number, JPEG, count.
    frames: Vec<(u64, Vec<u8>, Report)>,
    waiting: Option<RoundResult>,
}

impl IntoMatch {
    /// For the match named in the options; None where none is named.
    pub fn new(options: &MatchOptions) -> Option<Self> {
        let id = options.match_id.clone()?;
        Some(Self { options: options.clone(), id, frames: Vec::new(), waiting: None })
    }

    /// Takes what happened; a line for people for each round that was proposed.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn take(&mut self, input: &Input, events: &[Event]) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        for event in events {
            match &event.what {
                What::Settled { count, .. } => self.keep(input, event.frame, count)?,
                What::Round(result) if result.is_final => {
                    self.waiting = None;
                    lines.push(self.propose(result)?);
                }
                What::Round(result) => self.waiting = Some((**result).clone()),
                What::Final { .. } => lines.extend(self.end()?),
                What::Resumed => self.waiting = None,
                What::Abandoned => self.frames.clear(),
                _ => {}
            }
        }
        Ok(lines)
    }

    /// Proposes a round that still waits for the board to be cleared.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn end(&mut self) -> Result<Vec<String>> {
        let waiting = self.waiting.take();
        waiting.map(|result| self.propose(&result)).into_iter().collect()
    }

    fn keep(&mut self, input: &Input, frame: u64, count: &Report) -> Result<()> {
        let Told::Glimpse(Glimpse::Still { rgb, .. }) = &input.what else { return Ok(()) };
        self.frames.push((frame, jpeg(rgb)?, count.clone()));
        if self.frames.len() > MOST_FRAMES {
            self.frames.remove(0);
        }
        Ok(())
    }

    fn propose(&mut self, result: &RoundResult) -> Result<String> {
        let frames = std::mem::take(&mut self.frames);
        let counted = frames.iter().rev().find(|(frame, ..)| *frame <= result.counted_frame);
        let Some((_, photo, report)) = counted else {
            return Ok(format!("round {}: its frame is not kept any more; not proposed", result.round));
        };
        let mut report = report.clone();
        report.status = if result.review.is_empty() { report.status } else { Status::Review };
        report.review.clone_from(&result.review);
        for (side, round) in report.sides.iter_mut().zip(&result.sides) {
            (side.count, side.set_aside, side.total) = (round.count, round.set_aside, round.total);
        }
        let count = serde_json::to_vec(&report)?;
        // JPEGs one after another are a video that players know as Motion JPEG.
        let clip: Vec<u8> = frames.iter().flat_map(|(_, jpeg, _)| jpeg.iter().copied()).collect();
        let offer = CountOffer {
            photo: Some((photo, "image/jpeg", &format!("round-{}.jpg", result.round))),
            clip: Some((&clip, "video/x-motion-jpeg", &format!("round-{}.mjpeg", result.round))),
            count: &count,
            accept: self.options.auto_accept,
        };
        let common = self.options.common();
        let proposed = block(async {
            let store = common.open().await?;
            let proposed = propose(&store, &common.author(), &self.id, &offer).await;
            store.close().await;
            proposed
        });
        match proposed {
            Ok((loaded, true)) => Ok(format!(
                "round {} taken as round {} of match {}",
                result.round,
                loaded.game.rounds().len(),
                loaded.number
            )),
            Ok((loaded, false)) => Ok(format!(
                "round {} proposed for match {1}; `crokeye match accept {1}` takes it, `crokeye match show {1}` shows it",
                result.round, loaded.number
            )),
            Err(error)
                if matches!(error.downcast_ref(), Some(StoreError::Refused(_) | StoreError::Conflict { .. }))
                    || error.downcast_ref::<IntakeError>().is_some() =>
            {
                Ok(format!("round {} not taken: {error}", result.round))
            }
            Err(error) => Err(error),
        }
    }
}

fn jpeg(rgb: &RgbImage) -> Result<Vec<u8>> {
    let mut bytes = Cursor::new(Vec::new());
    rgb.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY))?;
    Ok(bytes.into_inner())
}
