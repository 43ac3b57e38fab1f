//! The audit itself: what was counted, pooled, decided and typed, picture by picture.
//!
//! In: the entries of the journal in the order of the pictures, the sheet, the decisions. Out: an [`Audit`]. Nothing here
//! reads a picture, and the same input gives the same output.

use std::collections::{BTreeMap, HashMap};

use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

use super::claim::{self, Claim, Fault};
use super::columns::{Columns, ColumnsError, Named};
use super::compare::{self, Comparison, Conventions, Verdict};
use super::decision::{self, Decision, Decisions};
use super::duplicates;
use super::journal::{Entry, Found, Measured};
use super::matching::{self, Taken};
use super::picture::Grade;
use super::pool::{self, Kin};
use super::sheet::{SheetError, Table};
use crate::count::report::{ImageSize, Report, Status};
use crate::count::{self, Options};

/// Which photos know things together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// Those whose tags name one camera and lens.
    #[default]
    ByTags,
    /// All of one size.
    Always,
    /// All of one size, taken from one place.
    FixedCamera,
    /// None.
    Never,
}

/// A sheet as read.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// Its rows.
    pub claims: Vec<Claim>,
    /// Rows that cannot be used.
    pub faults: Vec<Fault>,
    /// Titles of columns that mean nothing here.
    pub unused: Vec<String>,
}

/// Why a sheet is not used.
#[derive(Debug, thiserror::Error)]
pub enum UnusableSheet {
    /// It is no table.
    #[error(transparent)]
    Table(#[from] SheetError),
    /// Its columns are not those that are needed.
    #[error(transparent)]
    Columns(#[from] ColumnsError),
}

impl Sheet {
    /// Reads a CSV file or a workbook; `named` are columns that are called otherwise.
    ///
    /// # Errors
    /// See [`UnusableSheet`].
    pub fn read(bytes: &[u8], named: &[Named]) -> Result<Self, UnusableSheet> {
        let table = Table::read(bytes)?;
        let columns = Columns::of(&table.header, named)?;
        let (claims, faults) = claim::claims(&table, &columns);
        let unused = columns.unused(&table.header).map(str::to_owned).collect();
        Ok(Self { claims, faults, unused })
    }
}

/// How an audit is done.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How a photo is judged.
    pub options: Options,
    /// Which photos know things together.
    pub pooling: Pooling,
    /// A photo taken at most so long from the time of a row may belong to it, minutes.
    pub window_minutes: i64,
}

/// One picture of the audit.
#[derive(Clone, Debug, Serialize)]
pub struct Item {
    /// Its count, decisions applied: the public format.
    #[serde(flatten)]
    pub report: Report,
    /// What the audit adds.
    pub audit: About,
}

/// What the audit knows of a picture.
#[derive(Clone, Debug, Serialize)]
pub struct About {
    /// Hash of the file's content.
    pub sha256: String,
    /// When it was taken, by its own clock.
    pub taken: Option<DateTime>,
    /// The sheet's row about it.
    pub row: Option<usize>,
    /// Picture against sheet.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// Decisions that hold.
    pub decisions: Vec<Decision>,
    /// Numbers of the discs that were decided.
    pub decided: Vec<u32>,
    /// Decisions about a place where no disc is.
    pub stale: Vec<Decision>,
    /// Pictures that show the same share a number.
    pub double: Option<usize>,
    /// How many photos of its camera it was judged with; 1 for one alone.
    pub pooled: usize,
    /// Whether it was left out of its group: another place, camera, board or set of discs than most have.
    pub left_out: bool,
    /// Files written about it start with this.
    #[serde(skip)]
    pub key: String,
    /// What was measured, for drawing.
    #[serde(skip)]
    pub measured: Option<Box<Measured>>,
}

/// The whole audit.
#[derive(Clone, Debug)]
pub struct Audit {
    /// The pictures in their order.
    pub items: Vec<Item>,
    /// Rows without a picture: number and reason.
    pub unmatched: Vec<(usize, String)>,
    /// Rows that cannot be used.
    pub faults: Vec<Fault>,
    /// Titles of columns that mean nothing here.
    pub unused: Vec<String>,
    /// How the sheet was read.
    pub conventions: Conventions,
    /// Whether there is a sheet at all.
    pub has_sheet: bool,
}

/// Puts an audit together. `photos` are (path, entry) in order.
pub fn audit(photos: Vec<(String, Entry)>, sheet: Option<&Sheet>, decisions: &Decisions, settings: &Settings) -> Audit {
    let (paths, mut entries): (Vec<String>, Vec<Entry>) = photos.into_iter().unzip();
    let kin = pool_groups(&mut entries, settings);
    let mut items: Vec<Item> = Vec::with_capacity(entries.len());
    for ((path, entry), kin) in paths.into_iter().zip(entries).zip(kin) {
        items.push(item(&path, entry, kin, decisions, &settings.options));
    }
    let empty = Sheet::default();
    let has_sheet = sheet.is_some();
    let sheet = sheet.unwrap_or(&empty);
    let taken: Vec<Taken> = items
        .iter()
        .map(|item| Taken {
            path: item.report.source.clone(),
            time: item.audit.taken,
            sha256: item.audit.sha256.clone(),
        })
        .collect();
    let matches = matching::matched(&taken, &sheet.claims, settings.window_minutes);
    let claim_of = |at: usize| matches.claim_of[at].map(|claim| &sheet.claims[claim]);
    let pairs = items.iter().enumerate().filter_map(|(at, item)| Some((&item.report, claim_of(at)?)));
    let conventions = compare::conventions(pairs);
    for (at, item) in items.iter_mut().enumerate() {
        item.audit.row = claim_of(at).map(|claim| claim.row);
        item.audit.comparison = compare::compare(&item.report, claim_of(at), conventions);
    }
    let shown: Vec<(&str, &Report)> = items.iter().map(|item| (item.audit.sha256.as_str(), &item.report)).collect();
    let doubles = duplicates::groups(&shown);
    items.iter_mut().zip(doubles).for_each(|(item, double)| item.audit.double = double);
    let row = |claim: usize| sheet.claims[claim].row;
    Audit {
        items,
        unmatched: matches.unmatched.into_iter().map(|(claim, reason)| (row(claim), reason)).collect(),
        faults: sheet.faults.clone(),
        unused: sheet.unused.clone(),
        conventions,
        has_sheet,
    }
}

/// Pools the groups in place; says with whom each photo was judged.
fn pool_groups(entries: &mut [Entry], settings: &Settings) -> Vec<Kin> {
    let mut kin = vec![Kin { photos: 1, left_out: false }; entries.len()];
    let mut groups: BTreeMap<(Option<String>, u32, u32), Vec<usize>> = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        let (Found::Board(_), Some(ImageSize { width, height })) = (&entry.found, entry.size) else { continue };
        let camera = match settings.pooling {
            Pooling::Never => continue,
            Pooling::ByTags if entry.camera.is_none() => continue,
            Pooling::ByTags => entry.camera.clone(),
            Pooling::Always | Pooling::FixedCamera => None,
        };
        groups.entry((camera, width, height)).or_default().push(at);
    }
    for group in groups.into_values() {
        // A copy knows nothing new.
        let mut first: HashMap<&str, usize> = HashMap::new();
        let distinct: Vec<usize> =
            group.iter().copied().filter(|&at| first.insert(&entries[at].sha256, at).is_none()).collect();
        let mut photos: Vec<Measured> = distinct.iter().filter_map(|&at| measured(&entries[at]).cloned()).collect();
        let judged = pool::pool(&mut photos, settings.pooling == Pooling::FixedCamera, &settings.options.detect);
        let known: HashMap<String, (Measured, Kin)> =
            distinct.iter().map(|&at| entries[at].sha256.clone()).zip(photos.into_iter().zip(judged)).collect();
        for &at in &group {
            if let Some((photo, judged)) = known.get(&entries[at].sha256) {
                entries[at].found = Found::Board(Box::new(photo.clone()));
                kin[at] = *judged;
            }
        }
    }
    kin
}

fn measured(entry: &Entry) -> Option<&Measured> {
    if let Found::Board(measured) = &entry.found { Some(measured) } else { None }
}

fn item(path: &str, entry: Entry, kin: Kin, decisions: &Decisions, options: &Options) -> Item {
    let held = decisions.of(&entry.sha256);
    let size = entry.size.unwrap_or(ImageSize { width: 0, height: 0 });
    let key = super::key(&entry.sha256, &entry.basis);
    let (mut report, measured) = match entry.found {
        Found::Board(measured) => {
            let (registration, detections) = (measured.registration.clone(), measured.detections.clone());
            let count = count::judged(path, size, registration, detections, options);
            (count.report, Some(measured))
        }
        Found::NoBoard(reason) => (Report::no_board(path, size, reason), None),
        Found::Unreadable(reason) => (Report::error(path, reason), None),
    };
    let (decided, stale) = decision::apply(&mut report, &held);
    let stale: Vec<Decision> = stale.into_iter().cloned().collect();
    let comparison = compare::compare(&report, None, Conventions::default());
    let decisions = held.into_iter().cloned().collect();
    let about = About {
        sha256: entry.sha256,
        taken: entry.taken,
        row: None,
        comparison,
        decisions,
        decided,
        stale,
        double: None,
        pooled: kin.photos,
        left_out: kin.left_out,
        key,
        measured,
    };
    Item { report, audit: about }
}

impl Item {
    /// How fine its pictures are.
    pub fn grade(&self) -> Grade {
        if self.needs_eyes() { Grade::Fine } else { Grade::Plain }
    }

    /// Whether a person has to look at it.
    pub fn needs_eyes(&self) -> bool {
        let open = matches!(self.report.status, Status::Review | Status::NoBoard | Status::Error);
        open && self.audit.comparison.verdict != Verdict::Agrees
            || matches!(self.audit.comparison.verdict, Verdict::Disagrees | Verdict::Doubtful | Verdict::Open)
            || !self.audit.stale.is_empty()
    }
}

/// How many pictures came out how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// All.
    pub pictures: usize,
    /// Totals as in the sheet.
    pub agree: usize,
    /// Clear, with other totals.
    pub disagree: usize,
    /// Not clear, and the sheet's totals are not among what is open.
    pub doubtful: usize,
    /// Not clear; the sheet may be right.
    pub open: usize,
    /// Without a row, but counted clearly.
    pub unclaimed: usize,
    /// Without a row, and a person should look.
    pub unclaimed_open: usize,
    /// Without a board.
    pub no_board: usize,
    /// That cannot be read.
    pub unreadable: usize,
    /// With decisions that hold.
    pub decided: usize,
    /// Discs found.
    pub discs: usize,
    /// Discs too close to call.
    pub close_discs: usize,
}

impl Audit {
    /// The numbers of the audit.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally { pictures: self.items.len(), ..Tally::default() };
        for item in &self.items {
            let open = item.report.status == Status::Review;
            *match item.audit.comparison.verdict {
                Verdict::Agrees => &mut tally.agree,
                Verdict::Disagrees => &mut tally.disagree,
                Verdict::Doubtful => &mut tally.doubtful,
                Verdict::Open => &mut tally.open,
                Verdict::Unclaimed if open => &mut tally.unclaimed_open,
                Verdict::Unclaimed => &mut tally.unclaimed,
                Verdict::NoBoard => &mut tally.no_board,
                Verdict::Unreadable => &mut tally.unreadable,
            } += 1;
            tally.decided += usize::from(!item.audit.decisions.is_empty());
            tally.discs += item.report.discs.len();
            tally.close_discs += item.report.discs.iter().filter(|disc| disc.close).count();
        }
        tally
    }

    /// The pictures as a person should go through them: disagreements first, then what is open, then the rest; those that
    /// show the same stand together, where the first of them belongs.
    pub fn ranked(&self) -> Vec<&Item> {
        let rank = |item: &Item| {
            let verdict = item.audit.comparison.verdict;
            let open = verdict == Verdict::Unclaimed && item.report.status == Status::Review;
            (if open { Verdict::Open } else { verdict }, item.report.status == Status::Counted)
        };
        let mut ranked: Vec<&Item> = self.items.iter().collect();
        ranked.sort_by_key(|item| rank(item));
        let mut first: HashMap<usize, usize> = HashMap::new();
        let place =
            |(at, item): (usize, &&Item)| item.audit.double.map_or(at, |group| *first.entry(group).or_insert(at));
        let places: Vec<usize> = ranked.iter().enumerate().map(place).collect();
        let mut order: Vec<usize> = (0..ranked.len()).collect();
        order.sort_by_key(|&at| places[at]);
        order.into_iter().map(|at| ranked[at]).collect()
    }

    /// Pictures that show the same, group by group.
    pub fn doubles(&self) -> Vec<Vec<&Item>> {
        let mut groups: BTreeMap<usize, Vec<&Item>> = BTreeMap::new();
        for item in &self.items {
            if let Some(group) = item.audit.double {
                groups.entry(group).or_default().push(item);
            }
        }
        groups.into_values().collect()
    }
}

#[cfg(test)]
mod tests;
