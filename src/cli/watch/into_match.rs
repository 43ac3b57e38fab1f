//! Rounds of a session go to a match: each with its frame, its count and the clip of its settled frames.
//!
//! A round is taken once it is final; one that only seemed over waits, because play may go on.

use anyhow::Result;
use clap::Args;
use crokeye::live::{Event, Input};
use crokeye::score::event::Setup;
use crokeye::service::gather::{Gathered, Gatherer};
use crokeye::service::proposal::{CountOffer, Offered, propose};

use crate::cli::match_log::{Common, block};

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

/// Proposes the rounds of a session.
pub struct IntoMatch {
    options: MatchOptions,
    id: String,
    gatherer: Gatherer,
}

impl IntoMatch {
    /// For the match named in the options; None where none is named.
    pub fn new(options: &MatchOptions) -> Option<Self> {
        let id = options.match_id.clone()?;
        Some(Self { options: options.clone(), id, gatherer: Gatherer::default() })
    }

    /// Takes what happened; a line for people for each round that was proposed.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn take(&mut self, input: &Input, events: &[Event]) -> Result<Vec<String>> {
        let over = self.gatherer.take(input, events)?;
        over.iter().map(|gathered| self.propose(gathered)).collect()
    }

    /// Proposes a round that still waits for the board to be cleared.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn end(&mut self) -> Result<Vec<String>> {
        let waiting = self.gatherer.end();
        waiting.map(|gathered| self.propose(&gathered)).into_iter().collect()
    }

    fn propose(&self, gathered: &Gathered) -> Result<String> {
        let round = gathered.round;
        let Some(shown) = &gathered.shown else {
            return Ok(format!("round {round}: its frame is not kept any more; not proposed"));
        };
        let count = serde_json::to_vec(&shown.count)?;
        let offer = CountOffer {
            photo: Some((&shown.photo, "image/jpeg", &format!("round-{round}.jpg"))),
            clip: Some((&shown.clip, "video/x-motion-jpeg", &format!("round-{round}.mjpeg"))),
            count: &count,
            accept: self.options.auto_accept,
        };
        let common = self.options.common();
        let proposed = block(async {
            let store = common.open().await?;
            let number = store.find(&self.id).await?;
            let proposed = propose(&store, &common.author(), number, &offer).await;
            store.close().await;
            Ok(proposed)
        });
        match proposed? {
            Ok(Offered { loaded, accepted: true, .. }) => {
                Ok(format!("round {round} taken as round {} of match {}", loaded.game.rounds().len(), loaded.number))
            }
            Ok(Offered { loaded, .. }) => Ok(format!(
                "round {round} proposed for match {0}; `crokeye match accept {0}` takes it, `crokeye match show {0}` shows it",
                loaded.number
            )),
            Err(error) if error.is_refusal() => Ok(format!("round {round} not taken: {error}")),
            Err(error) => Err(error.into()),
        }
    }
}
