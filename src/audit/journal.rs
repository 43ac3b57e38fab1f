//! What was counted so far, one line a picture, so that an interrupted audit goes on where it stopped.
//!
//! A line is written in one piece when a picture is done, and holds all that later steps need; a line cut off by a crash
//! is left out and overwritten. Lines are found again by the content of the picture and by what else the count depends
//! on. Memory holds one entry of the index for each picture, not the lines.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

use crate::count::Count;
use crate::count::report::ImageSize;
use crate::detect::Detections;
use crate::register::Registration;

/// Version of the lines; others are counted anew.
const VERSION: u32 = 1;

/// One counted picture.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    version: u32,
    /// Hash of the file's content.
    pub sha256: String,
    /// What else the count depends on: program and options.
    pub basis: String,
    /// When it was taken, by its own clock.
    pub taken: Option<DateTime>,
    /// The camera, by its tags.
    pub camera: Option<String>,
    /// Size of the picture as a viewer shows it; None where it could not be read.
    pub size: Option<ImageSize>,
    /// What was found.
    pub found: Found,
}

/// What was found in a picture.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// A board.
    Board(Box<Measured>),
    /// No board, and why.
    NoBoard(String),
    /// No picture, and why.
    Unreadable(String),
}

/// A board as measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// Where it is.
    pub registration: Registration,
    /// What lies on it.
    pub detections: Detections,
}

impl From<Count> for Found {
    fn from(count: Count) -> Self {
        match count.scene {
            Some(scene) => {
                Self::Board(Box::new(Measured { registration: scene.registration, detections: scene.detections }))
            }
            None => Self::NoBoard(count.report.review.into_iter().map(|doubt| doubt.reason).collect()),
        }
    }
}

impl Entry {
    /// An entry about a picture in which nothing has been found yet.
    pub fn new(sha256: String, basis: String, found: Found) -> Self {
        Self { version: VERSION, sha256, basis, taken: None, camera: None, size: None, found }
    }
}

/// The file with all entries.
#[derive(Debug)]
pub struct Journal {
    file: File,
    end: u64,
    /// (content, basis) to place and length of the line.
    lines: HashMap<(String, String), (u64, usize)>,
}

impl Journal {
    /// Opens or makes the file at `path`.
    ///
    /// # Errors
    /// The file cannot be opened or read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let mut lines = HashMap::new();
        let mut end = 0;
        let mut reader = BufReader::new(&file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line)?;
            if length == 0 || line.last() != Some(&b'\n') {
                break;
            }
            // Only what names the line is kept.
            if let Ok(entry) = serde_json::from_slice::<Head>(&line)
                && entry.version == VERSION
            {
                lines.insert((entry.sha256, entry.basis), (end, length));
            }
            end += length as u64;
        }
        drop(reader);
        file.set_len(end)?;
        Ok(Self { file, end, lines })
    }

    /// Whether the picture of this content was counted on this basis.
    pub fn has(&self, sha256: &str, basis: &str) -> bool {
        self.lines.contains_key(&(sha256.to_owned(), basis.to_owned()))
    }

    /// Appends an entry in one write: a process that is killed loses whole lines or none.
    ///
    /// # Errors
    /// The disk is full or gone.
    pub fn append(&mut self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(&line)?;
        self.lines.insert((entry.sha256.clone(), entry.basis.clone()), (self.end, line.len()));
        self.end += line.len() as u64;
        Ok(())
    }

    /// The entry of that content and basis.
    ///
    /// # Errors
    /// It is not there, or the file cannot be read.
    pub fn read(&mut self, sha256: &str, basis: &str) -> io::Result<Entry> {
        let key = (sha256.to_owned(), basis.to_owned());
        let (at, length) = *self.lines.get(&key).ok_or(io::ErrorKind::NotFound)?;
        let mut line = vec![0; length];
        self.file.seek(SeekFrom::Start(at))?;
        self.file.read_exact(&mut line)?;
        Ok(serde_json::from_slice(&line)?)
    }
}

/// What names a line.
#[derive(Deserialize)]
struct Head {
    version: u32,
    sha256: String,
    basis: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(sha256: &str, reason: &str) -> Entry {
        Entry::new(sha256.to_owned(), "v1".to_owned(), Found::NoBoard(reason.to_owned()))
    }

    fn reason(journal: &mut Journal, sha256: &str) -> String {
        match journal.read(sha256, "v1").unwrap().found {
            Found::NoBoard(reason) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn entries_are_found_again_by_content_and_basis() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut journal = Journal::open(&path).unwrap();
        journal.append(&entry("a", "one")).unwrap();
        journal.append(&entry("b", "two")).unwrap();
        drop(journal);
        let mut again = Journal::open(&path).unwrap();
        assert_eq!((reason(&mut again, "b"), reason(&mut again, "a")), ("two".to_owned(), "one".to_owned()));
        assert!(again.has("a", "v1") && !again.has("a", "v2") && !again.has("c", "v1"));
        assert!(again.read("c", "v1").is_err());
    }

    #[test]
    fn a_file_cut_off_anywhere_keeps_its_whole_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut journal = Journal::open(&path).unwrap();
        journal.append(&entry("a", "one")).unwrap();
        let whole = journal.end as usize;
        journal.append(&entry("b", "two")).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for length in 0..bytes.len() {
            std::fs::write(&path, &bytes[..length]).unwrap();
            let mut cut = Journal::open(&path).unwrap();
            assert_eq!(cut.has("a", "v1"), length >= whole, "{length}");
            assert!(!cut.has("b", "v1"));
            cut.append(&entry("c", "three")).unwrap();
            drop(cut);
            assert_eq!(reason(&mut Journal::open(&path).unwrap(), "c"), "three");
        }
    }
}
