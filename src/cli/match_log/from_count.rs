//! `crokeye count --match ID`: counts go into a match as proposed rounds.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use crokeye::service::proposal::{CountOffer, Offered, propose};
use crokeye::store::Store;

use super::{Common, block, media_type};

/// Options of `crokeye count` that take its counts into a match.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Into a match")]
pub struct IntoMatch {
    /// Propose each count as a round of this match (`crokeye match new` starts one), with photo and count as evidence.
    #[arg(long = "match", value_name = "ID")]
    match_id: Option<String>,

    /// Take the round at once when nothing needs review.
    #[arg(long, requires = "match_id")]
    accept: bool,

    /// The database of matches [default: the one of `crokeye match`].
    #[arg(long, value_name = "FILE", requires = "match_id")]
    db: Option<PathBuf>,

    /// Who does this; written into the log [default: $USER].
    #[arg(long, value_name = "NAME", requires = "match_id")]
    author: Option<String>,
}

/// What became of the counts.
#[derive(Debug, Default)]
pub struct Taken {
    /// A line a photo, for people.
    pub lines: Vec<String>,
    /// Is there one that a person must look at?
    pub waits: bool,
}

impl IntoMatch {
    /// Was a match named?
    pub fn is_wanted(&self) -> bool {
        self.match_id.is_some()
    }

    /// Proposes counts in the order given: each photo's path with its line of `crokeye.count/1`. Does nothing without
    /// `--match`. A photo that is refused does not keep the next from being taken.
    ///
    /// # Errors
    /// The store cannot be opened, or there is no such match.
    pub fn take(&self, counts: &[(PathBuf, String)]) -> Result<Taken> {
        let Some(id) = &self.match_id else { return Ok(Taken::default()) };
        let common = Common { db: self.db.clone(), json: false, author: self.author.clone() };
        block(async {
            let store = common.open().await?;
            let number = store.find(id).await?;
            let mut taken = Taken::default();
            for (photo, count) in counts {
                let line = self.take_one(&store, &common.author(), number, photo, count, &mut taken.waits).await?;
                taken.lines.push(format!("{}: {line}", photo.display()));
            }
            store.close().await;
            Ok(taken)
        })
    }

    async fn take_one(
        &self,
        store: &Store,
        author: &str,
        number: i64,
        photo: &Path,
        count: &str,
        waits: &mut bool,
    ) -> Result<String> {
        let bytes = match std::fs::read(photo) {
            Ok(bytes) => bytes,
            Err(error) => {
                *waits = true;
                return Ok(format!("not taken: {error}"));
            }
        };
        let name = photo.file_name().unwrap_or_default().to_string_lossy();
        let offer = CountOffer {
            photo: Some((&bytes, media_type(photo), &name)),
            clip: None,
            count: count.as_bytes(),
            accept: self.accept,
        };
        match propose(store, author, number, &offer).await {
            Ok(Offered { loaded, accepted: true, .. }) => {
                Ok(format!("taken as round {} of match {}", loaded.game.rounds().len(), loaded.number))
            }
            Ok(Offered { loaded, .. }) => {
                *waits |= self.accept;
                Ok(format!(
                    "proposed for match {}; `crokeye match accept {0}` takes it, `crokeye match show {0}` shows it",
                    loaded.number
                ))
            }
            Err(error) if error.is_refusal() => {
                *waits = true;
                Ok(format!("not taken: {error}"))
            }
            Err(error) => Err(error.into()),
        }
    }
}
