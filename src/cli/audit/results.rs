//! The folder of an audit: results for people and programs, and in `.audit` what the next run goes on from.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use crokeye::audit::decision::Decisions;
use crokeye::audit::journal::Journal;
use crokeye::audit::output::{OutputError, html, jsonl, tables, workbook};
use crokeye::audit::picture::Made;
use crokeye::audit::{Audit, Item};
use serde::{Deserialize, Serialize};

/// The folder, held against a second run in it.
pub(super) struct Folder {
    path: PathBuf,
    /// Locked as long as this lives.
    _lock: File,
}

/// How the audit was called, for `decide` to bring the results up to date.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Called {
    /// Where.
    pub folder: PathBuf,
    /// The arguments, the program's name first.
    pub arguments: Vec<String>,
}

impl Folder {
    /// Opens the folder, or makes it.
    pub fn open(path: &Path) -> Result<Self> {
        let wrong = || format!("cannot make the folder {}", path.display());
        fs::create_dir_all(path.join(".audit/pictures")).with_context(wrong)?;
        let lock = File::create(path.join(".audit/lock")).with_context(wrong)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(fs::TryLockError::WouldBlock) => bail!(
                "another crokeye audit is at work in {}: end it first; or, where it runs with --watch, let it run with \
                 --watch --decisions FILE, and put decisions into FILE as the report saves them",
                path.display()
            ),
            Err(fs::TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("cannot lock {}", path.display()))
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The journal in it.
    pub fn journal(&self) -> Result<Journal> {
        let path = self.path.join(".audit/journal.jsonl");
        Journal::open(&path).with_context(|| format!("cannot open {}", path.display()))
    }

    /// Keeps how the audit was called.
    pub fn keep_command(&self) -> Result<()> {
        let folder = std::env::current_dir().context("the current folder is not known")?;
        let arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
        let text = serde_json::to_vec(&Called { folder, arguments })?;
        self.replace(".audit/called.json", |out| Ok(out.write_all(&text)?))
    }

    /// How the audit was called; None where it never ran to that point.
    pub fn called(&self) -> Option<Called> {
        serde_json::from_slice(&fs::read(self.path.join(".audit/called.json")).ok()?).ok()
    }

    /// The decisions kept here.
    pub fn decisions(&self) -> Result<Decisions> {
        let path = self.path.join("decisions.json");
        match fs::read(&path) {
            Ok(bytes) => Decisions::read(&bytes).with_context(|| path.display().to_string()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Decisions::default()),
            Err(error) => Err(error).with_context(|| path.display().to_string()),
        }
    }

    /// Keeps decisions in place of those here.
    pub fn keep_decisions(&self, decisions: &Decisions) -> Result<()> {
        let text = serde_json::to_vec_pretty(decisions)?;
        self.replace("decisions.json", |out| Ok(out.write_all(&text)?))
    }

    /// Whether a picture for the report is there.
    pub fn has_picture(&self, key: &str, name: &str) -> bool {
        self.picture(key, name).exists()
    }

    /// Keeps a picture for the report.
    pub fn keep_picture(&self, key: &str, made: &Made) -> Result<()> {
        let name = format!(".audit/pictures/{key}-{}", made.name);
        self.replace(&name, |out| Ok(out.write_all(&made.bytes)?))
    }

    fn picture(&self, key: &str, name: &str) -> PathBuf {
        self.path.join(".audit/pictures").join(format!("{key}-{name}"))
    }

    /// Writes all results.
    pub fn write(&self, audit: &Audit) -> Result<()> {
        self.replace("results.jsonl", |out| jsonl::write(audit, out))?;
        self.replace("results.csv", |out| tables::pictures(audit).write_csv(out))?;
        self.replace("discs.csv", |out| tables::discs(audit).write_csv(out))?;
        let book = workbook::bytes(audit).context("results.xlsx")?;
        self.replace("results.xlsx", |out| Ok(out.write_all(&book)?))?;
        let mut pictures = |item: &Item, name: &str| match fs::read(self.picture(&item.audit.key, name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        };
        self.replace("report.html", |out| html::write(audit, &mut pictures, out))
    }

    /// Writes a file beside its place and puts it there in one step, so that nobody ever sees half of it.
    fn replace(&self, name: &str, write: impl FnOnce(&mut dyn Write) -> Result<(), OutputError>) -> Result<()> {
        let path = self.path.join(name);
        let wrong = || format!("cannot write {}", path.display());
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        let beside = self.path.join(".audit").join(format!("{file_name}.new"));
        let mut out = BufWriter::new(File::create(&beside).with_context(wrong)?);
        write(&mut out).with_context(wrong)?;
        out.into_inner().map_err(io::IntoInnerError::into_error).with_context(wrong)?;
        fs::rename(&beside, &path).with_context(wrong)
    }
}
