//! Audits over the network: photos that are sent in one by one, counted, held against a sheet, decided.
//!
//! Each audit has a folder of its own below a temporary one: the photos, the pictures of the report, the journal. It goes
//! away when the audit is deleted, was not used for a day, or the program ends: what is to be kept is downloaded. What
//! audits may take is bounded, in number, photos and bytes. Everything here may read and write files, and none of it
//! belongs on a thread that serves requests.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::Deserialize;
use tempfile::TempDir;
use uuid::Uuid;

use crate::audit::decision::{Change, Decision, Decisions, is_value};
use crate::audit::journal::{Entry, Found, Journal};
use crate::audit::output::{OutputError, html};
use crate::audit::picture::{self, Grade, Made};
use crate::audit::{self, Audit, Item, Pooling, Settings, Sheet};
use crate::capture::about::about;
use crate::capture::photo;
use crate::count::report::{ImageSize, Status};
use crate::count::{self, Options, SideColours, SideColoursError};

/// Audits at once.
const MOST_AUDITS: usize = 8;
/// Photos of one audit: a season of a club has some hundreds.
const MOST_PHOTOS: usize = 1_000;
/// Bytes of one audit's photos: a thousand from phones.
const MOST_BYTES: u64 = 4 << 30;
/// Decisions of one audit.
const MOST_DECISIONS: usize = 10_000;
/// An audit that nobody used for so long goes away.
const IDLE: Duration = Duration::from_secs(24 * 3600);
/// Longest name of a photo, letters.
const LONGEST_NAME: usize = 200;
/// What a count depends on besides the photo and the settings, which are one audit's own.
const BASIS: &str = env!("CARGO_PKG_VERSION");
/// Said of a photo whose counting failed.
const FAULT: &str = "a fault in crokeye stopped the counting of this picture: please report it with the picture";

/// What a person asks for.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewAudit {
    /// Which photos know things together.
    pub pool: Pooling,
    /// Colours of side a and side b; without them side a is the darker.
    pub sides: Option<[String; 2]>,
    /// A photo taken at most so long from the time of a row may belong to it, minutes.
    pub time_window: Option<u32>,
}

/// Why something is not done.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// There is no audit of this name, or none any more.
    #[error("such audit")]
    NoAudit,
    /// The audit has no such photo.
    #[error("such picture")]
    NoPicture,
    /// There are too many.
    #[error("{MOST_AUDITS} audits are open already: delete one of them first")]
    TooMany,
    /// An audit holds all that it may.
    #[error("the audit is full: it holds {MOST_PHOTOS} photos or {} GiB; start another for the rest", MOST_BYTES >> 30)]
    Full,
    /// The decisions are more than anybody makes.
    #[error("the audit holds {MOST_DECISIONS} decisions, which is the most it takes")]
    TooManyDecisions,
    /// The colours are unknown.
    #[error(transparent)]
    Colours(#[from] SideColoursError),
    /// A decision is none.
    #[error(transparent)]
    Decision(#[from] audit::decision::DecisionsError),
    /// The folder cannot be written or read.
    #[error("the audit's folder fails: {0}")]
    Io(#[from] io::Error),
    /// A result cannot be made.
    #[error("a result of the audit fails: {0}")]
    Output(#[from] OutputError),
}

/// All audits.
#[derive(Debug)]
pub struct Audits {
    folder: TempDir,
    all: Mutex<BTreeMap<String, Arc<Session>>>,
}

/// One audit.
#[derive(Debug)]
pub struct Session {
    /// Its name.
    pub id: String,
    /// When it was begun.
    pub began: Timestamp,
    settings: Settings,
    folder: TempDir,
    /// When it was used last; apart from the rest, which may be busy for long.
    used: Mutex<Instant>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    journal: Journal,
    /// Names and contents of the photos, as they came.
    photos: Vec<(String, String)>,
    bytes: u64,
    sheet: Option<(String, Sheet)>,
    decisions: Decisions,
    /// What it all comes to; None after a change.
    audit: Option<Arc<Audit>>,
}

/// An audit in a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its name.
    pub id: String,
    /// When it was begun.
    pub began: Timestamp,
    /// Photos in it.
    pub photos: usize,
}

impl Audits {
    /// None yet; their folders come into a temporary one.
    ///
    /// # Errors
    /// There is no place for temporary files.
    pub fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("crokeye-audits-").tempdir()?;
        Ok(Self { folder, all: Mutex::default() })
    }

    /// Begins an audit.
    ///
    /// # Errors
    /// There are too many, the colours are unknown, or the disk is full.
    pub fn begin(&self, wanted: &NewAudit) -> Result<Arc<Session>, AuditError> {
        let mut options = Options::default();
        if let Some([a, b]) = &wanted.sides {
            options.sides = Some(SideColours::named(a, b)?);
        }
        let settings = Settings {
            options,
            pooling: wanted.pool,
            window_minutes: wanted.time_window.map_or(15, |minutes| i64::from(minutes.clamp(1, 1_440))),
        };
        let mut all = self.all();
        if all.len() >= MOST_AUDITS {
            return Err(AuditError::TooMany);
        }
        let folder = tempfile::Builder::new().tempdir_in(self.folder.path())?;
        let state = State {
            journal: Journal::open(&folder.path().join("journal.jsonl"))?,
            photos: Vec::new(),
            bytes: 0,
            sheet: None,
            decisions: Decisions::default(),
            audit: None,
        };
        let id = Uuid::now_v7().simple().to_string();
        let session = Session {
            id: id.clone(),
            began: Timestamp::now(),
            settings,
            folder,
            used: Mutex::new(Instant::now()),
            state: Mutex::new(state),
        };
        let session = Arc::new(session);
        all.insert(id, Arc::clone(&session));
        Ok(session)
    }

    /// The audit of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn find(&self, id: &str) -> Result<Arc<Session>, AuditError> {
        let session = self.all().get(id).cloned().ok_or(AuditError::NoAudit)?;
        *session.used() = Instant::now();
        Ok(session)
    }

    /// All of them, the newest first.
    pub fn list(&self) -> Vec<Listed> {
        let sessions: Vec<Arc<Session>> = self.all().values().rev().cloned().collect();
        let listed = |session: &Arc<Session>| Listed {
            id: session.id.clone(),
            began: session.began,
            photos: session.state().photos.len(),
        };
        sessions.iter().map(listed).collect()
    }

    /// Deletes an audit with all that it holds.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn delete(&self, id: &str) -> Result<(), AuditError> {
        // Its folder goes with the last who works in it.
        self.all().remove(id).map(drop).ok_or(AuditError::NoAudit)
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Session>>> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, session| session.used().elapsed() < IDLE);
        all
    }
}

impl Session {
    /// Is there room for a photo of so many bytes, and is it not here already?
    ///
    /// # Errors
    /// [`AuditError::Full`].
    pub fn room(&self, sha256: &str, bytes: usize) -> Result<(), AuditError> {
        let state = self.state();
        let is_new = !state.journal.has(sha256, BASIS);
        let full = state.photos.len() >= MOST_PHOTOS || (is_new && state.bytes + bytes as u64 > MOST_BYTES);
        if full { Err(AuditError::Full) } else { Ok(()) }
    }

    /// Counts a photo and keeps it; one that is here already gets its other name alone. What is no photo, and what
    /// `refused` gives a reason for, is kept as that. Gives the photo's content hash.
    ///
    /// # Errors
    /// The audit is full, or the disk is.
    pub fn add(&self, name: &str, bytes: &[u8], refused: Option<String>) -> Result<String, AuditError> {
        let sha256 = audit::sha256(bytes);
        let name = label(name);
        self.room(&sha256, bytes.len())?;
        let is_known = self.state().journal.has(&sha256, BASIS);
        let entry = if is_known { None } else { Some(self.counted(&name, &sha256, bytes, refused)?) };
        let mut state = self.state();
        if let Some(entry) = entry
            && !state.journal.has(&sha256, BASIS)
        {
            state.journal.append(&entry)?;
            state.bytes += bytes.len() as u64;
        }
        let photo = (name, sha256.clone());
        if !state.photos.contains(&photo) {
            state.photos.push(photo);
            state.audit = None;
        }
        Ok(sha256)
    }

    fn counted(&self, name: &str, sha256: &str, bytes: &[u8], refused: Option<String>) -> Result<Entry, AuditError> {
        let unreadable = |reason| Entry::new(sha256.to_owned(), BASIS.to_owned(), Found::Unreadable(reason));
        if let Some(reason) = refused {
            return Ok(unreadable(reason));
        }
        let frame = match photo::decode(name, bytes) {
            Ok(frame) => frame,
            Err(error) => return Ok(unreadable(error.to_string())),
        };
        let counted = catch_unwind(AssertUnwindSafe(|| count::run(&frame, &self.settings.options)));
        let Ok(count) = counted else { return Ok(unreadable(FAULT.to_owned())) };
        fs::write(self.photo(sha256), bytes)?;
        // Drawing needs the pixels, which are at hand now; what is lacking later is made then.
        let grade = if count.report.status == Status::Counted { Grade::Plain } else { Grade::Fine };
        let camera = count.scene.as_ref().map(|scene| &scene.registration.camera);
        if let Ok(made) = picture::make(&frame.rgb, &count.report, camera, grade) {
            self.keep(&audit::key(sha256, BASIS), &made)?;
        }
        let about = about(bytes);
        let (width, height) = frame.rgb.dimensions();
        let mut entry = Entry::new(sha256.to_owned(), BASIS.to_owned(), count.into());
        (entry.taken, entry.camera, entry.size) = (about.taken, about.camera, Some(ImageSize { width, height }));
        Ok(entry)
    }

    /// Takes a sheet in place of the one before; None takes it away.
    pub fn set_sheet(&self, sheet: Option<(String, Sheet)>) {
        let mut state = self.state();
        state.sheet = sheet.map(|(name, sheet)| (label(&name), sheet));
        state.audit = None;
    }

    /// Name of the sheet.
    pub fn sheet(&self) -> Option<String> {
        self.state().sheet.as_ref().map(|(name, _)| name.clone())
    }

    /// Keeps what a person decided about the photo of this content.
    ///
    /// # Errors
    /// There is no such photo, the decision is none, or there are too many.
    pub fn decide(
        &self,
        sha256: &str,
        change: Change,
        author: String,
        reason: Option<String>,
    ) -> Result<(), AuditError> {
        if let Change::Value { value, .. } | Change::Missed { value, .. } = change {
            is_value(value)?;
        }
        let mut state = self.state();
        let name = state.photos.iter().find(|(_, content)| content == sha256).map(|(name, _)| name.clone());
        let picture = name.ok_or(AuditError::NoPicture)?;
        if state.decisions.decisions.len() >= MOST_DECISIONS {
            return Err(AuditError::TooManyDecisions);
        }
        let decision = Decision { picture, sha256: sha256.to_owned(), change, author, at: Timestamp::now(), reason };
        state.decisions.decisions.push(decision);
        state.audit = None;
        Ok(())
    }

    /// All decisions, as `decisions.json` holds them.
    pub fn decisions(&self) -> Decisions {
        self.state().decisions.clone()
    }

    /// What it comes to, as it stands.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn audit(&self) -> Result<Arc<Audit>, AuditError> {
        let mut state = self.state();
        if let Some(audit) = &state.audit {
            return Ok(Arc::clone(audit));
        }
        let mut entries = Vec::with_capacity(state.photos.len());
        for (name, sha256) in state.photos.clone() {
            entries.push((name, state.journal.read(&sha256, BASIS)?));
        }
        let sheet = state.sheet.as_ref().map(|(_, sheet)| sheet);
        let audit = Arc::new(audit::audit(entries, sheet, &state.decisions, &self.settings));
        state.audit = Some(Arc::clone(&audit));
        Ok(audit)
    }

    /// The picture with that end of its name, of the photo of this content: one that was made, or that the report shows.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn picture(&self, sha256: &str, name: &str) -> Result<Vec<u8>, AuditError> {
        let audit = self.audit()?;
        let item = audit.items.iter().find(|item| item.audit.sha256 == sha256).ok_or(AuditError::NoPicture)?;
        let is_name =
            name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte));
        let made = if is_name { self.made(item, name)? } else { None };
        made.ok_or(AuditError::NoPicture)
    }

    /// Writes the report: one page that opens without a network.
    ///
    /// # Errors
    /// The writer's, or the folder cannot be read.
    pub fn report(&self, out: impl Write) -> Result<(), AuditError> {
        let audit = self.audit()?;
        let mut pictures = |item: &Item, name: &str| self.made(item, name);
        Ok(html::write(&audit, &mut pictures, out)?)
    }

    /// A picture from the folder, or else made now; None where the report shows none of that name.
    fn made(&self, item: &Item, name: &str) -> io::Result<Option<Vec<u8>>> {
        let path = self.folder.path().join(format!("{}-{name}", item.audit.key));
        match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            read => return read.map(Some),
        }
        let is_shown = picture::names(&item.report, item.grade()).iter().any(|shown| shown == name);
        if !is_shown || item.report.image.is_none() {
            return Ok(None);
        }
        let Ok(frame) = photo::decode(&item.report.source, &fs::read(self.photo(&item.audit.sha256))?) else {
            return Ok(None);
        };
        let camera = item.audit.measured.as_ref().map(|measured| &measured.registration.camera);
        let drawn = catch_unwind(AssertUnwindSafe(|| picture::make(&frame.rgb, &item.report, camera, item.grade())));
        let Ok(Ok(made)) = drawn else { return Ok(None) };
        self.keep(&item.audit.key, &made)?;
        Ok(made.into_iter().find(|made| made.name == name).map(|made| made.bytes))
    }

    fn keep(&self, key: &str, made: &[Made]) -> io::Result<()> {
        made.iter().try_for_each(|made| fs::write(self.folder.path().join(format!("{key}-{}", made.name)), &made.bytes))
    }

    fn photo(&self, sha256: &str) -> PathBuf {
        self.folder.path().join(format!("{sha256}.photo"))
    }

    fn used(&self) -> MutexGuard<'_, Instant> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A change is made whole under the lock: one that died while holding it leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of a file as people and reports may see it. It names nothing on this computer.
fn label(name: &str) -> String {
    let name: String = name.trim().chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect();
    if name.is_empty() { "photo".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Side;

    const PHOTO: &[u8] = include_bytes!("../../samples/cherry-twenty.jpg");

    #[test]
    fn photos_are_counted_decided_and_reported_and_go_away_with_their_audit() {
        let audits = Audits::new().unwrap();
        let session = audits.begin(&NewAudit::default()).unwrap();
        let sha256 = session.add("night/one.jpg", PHOTO, None).unwrap();
        assert_eq!(session.add("night/one.jpg", PHOTO, None).unwrap(), sha256, "sent again");
        session.add("no\tphoto.jpg", b"text", None).unwrap();
        let before = session.audit().unwrap();
        assert_eq!(before.items.len(), 2);
        assert_eq!(before.items[1].report.source, "nophoto.jpg");
        assert_eq!(before.tally().unreadable, 1);
        let totals = |audit: &Audit| audit.items[0].report.sides.iter().map(|side| side.total).collect::<Vec<_>>();

        let missed = Change::Missed { side: Side::A, value: 10 };
        session.decide(&sha256, missed, "Ann".to_owned(), Some("under the hand".to_owned())).unwrap();
        assert!(matches!(session.decide("f00d", Change::Accept, String::new(), None), Err(AuditError::NoPicture)));
        let after = session.audit().unwrap();
        assert_eq!(totals(&after)[0], totals(&before)[0] + 10);

        let sheet = Sheet::read(b"picture,a,b\none.jpg,1,2\n", &[]).unwrap();
        session.set_sheet(Some(("scores.csv".to_owned(), sheet)));
        // The photo has a close call: what the sheet says of it is doubtful.
        let held = session.audit().unwrap();
        assert_eq!((held.items[0].audit.row, held.tally().agree, held.tally().doubtful), (Some(2), 0, 1));
        let mut page = Vec::new();
        session.report(&mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        assert!(page.contains("under the hand") && page.contains("-photo\""), "the fine picture was not made");
        assert!(session.picture(&sha256, "photo-fine.jpg").unwrap().starts_with(&[0xff, 0xd8]));
        for trick in ["../journal.jsonl", "nope.jpg", ""] {
            assert!(session.picture(&sha256, trick).is_err(), "{trick}");
        }

        let folder = session.folder.path().to_owned();
        audits.delete(&session.id).unwrap();
        assert!(matches!(audits.find(&session.id), Err(AuditError::NoAudit)));
        drop(session);
        assert!(!folder.exists());
    }

    #[test]
    fn audits_are_bounded() {
        let audits = Audits::new().unwrap();
        let open: Vec<_> = (0..MOST_AUDITS).map(|_| audits.begin(&NewAudit::default()).unwrap()).collect();
        assert!(matches!(audits.begin(&NewAudit::default()), Err(AuditError::TooMany)));
        assert_eq!(audits.list().len(), MOST_AUDITS);
        open[0].state().bytes = MOST_BYTES;
        assert!(matches!(open[0].add("x.jpg", PHOTO, None), Err(AuditError::Full)));
        let Some(long_ago) = Instant::now().checked_sub(IDLE) else { return };
        *open[1].used() = long_ago;
        assert!(audits.begin(&NewAudit::default()).is_ok(), "one that nobody uses makes room");
    }
}
