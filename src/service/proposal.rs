//! A count becomes a proposed round of a match, with the photo and the count as its evidence.

use jiff::Timestamp;

use crate::score::event::{Evidence, RoundEntry, Source};
use crate::score::intake::{self, IntakeError};
use crate::score::{Command, Record};
use crate::store::{Loaded, Store, StoreError};

/// A document: its bytes, media type and file name.
pub type Document<'a> = (&'a [u8], &'a str, &'a str);

/// A count to propose as a round.
#[derive(Clone, Copy, Debug)]
pub struct CountOffer<'a> {
    /// The photo.
    pub photo: Option<Document<'a>>,
    /// A clip of what led to it.
    pub clip: Option<Document<'a>>,
    /// The count as `crokeye count --json` prints it.
    pub count: &'a [u8],
    /// Take it at once when nothing needs review.
    pub accept: bool,
}

/// Why a count is not proposed.
#[derive(Debug, thiserror::Error)]
pub enum ProposalError {
    /// The count is none for this match.
    #[error(transparent)]
    Intake(#[from] IntakeError),
    /// The rules or the store refuse.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ProposalError {
    /// Is it an answer to this count, so that the next one may be taken? Otherwise the store itself fails.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Intake(_) | Self::Store(StoreError::Refused(_) | StoreError::Conflict { .. }))
    }
}

/// What became of an offer.
#[derive(Clone, Debug)]
pub struct Offered {
    /// The match after it.
    pub loaded: Loaded,
    /// What was appended.
    pub records: Vec<Record>,
    /// Was it taken at once?
    pub accepted: bool,
}

/// Proposes a count as a round of a match; accepts it where asked and nothing is doubtful.
///
/// # Errors
/// No such match, the picture was not counted, or the rules refuse the round.
pub async fn propose(
    store: &Store,
    author: &str,
    number: i64,
    offer: &CountOffer<'_>,
) -> Result<Offered, ProposalError> {
    let loaded = store.load(number).await?;
    let intake = intake::from_count(offer.count, loaded.game.setup())?;
    let now = Timestamp::now();
    let mut evidence: Vec<Evidence> = Vec::new();
    for (kind, document) in [("photo", offer.photo), ("clip", offer.clip)] {
        if let Some((bytes, media_type, name)) = document {
            evidence.push(store.keep(bytes, kind, media_type, Some(name), now).await?);
        }
    }
    evidence.push(store.keep(offer.count, "count", "application/json", None, now).await?);
    let source = Source::Camera { name: None };
    let round = RoundEntry { sides: intake.sides, first: None, last: None, source, evidence };
    let clear = intake.review.is_empty();
    let propose = Command::Propose { round, review: intake.review };
    let revision = loaded.game.revision();
    let (loaded, mut records) = store.execute(number, Some(revision), &propose, now, author).await?;
    let held = loaded.game.proposals().last().is_some_and(|proposal| !proposal.held.is_empty());
    if !(offer.accept && clear && !held) {
        return Ok(Offered { loaded, records, accepted: false });
    }
    let proposal = records.last().map(|record| record.revision).unwrap_or_default();
    let accept = Command::Accept { proposal, sides: None, reason: None };
    let (loaded, more) = store.execute(number, Some(loaded.game.revision()), &accept, now, author).await?;
    records.extend(more);
    Ok(Offered { loaded, records, accepted: true })
}
