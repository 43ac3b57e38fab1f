//! A session kept in a folder, and played again.
//!
//! `session.jsonl` holds what the watcher was told, its first line the choices; each settled picture lies beside it as PNG
//! (nothing is lost, so a count of it is the same count); `events.jsonl` what came of it. Playing the folder tells the
//! watcher the same things again: the same events, byte for byte.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use crokeye::capture::photo;
use crokeye::live::Input;
use crokeye::live::input::Line;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};

use super::choices::{Choices, SCHEMA};

/// File of a recording that holds what the watcher was told.
const SESSION: &str = "session.jsonl";
/// File of a recording that holds the events.
const EVENTS: &str = "events.jsonl";

/// Writes a recording.
#[derive(Debug)]
pub struct Recorder {
    folder: PathBuf,
    session: BufWriter<File>,
    events: BufWriter<File>,
    pictures: u64,
}

impl Recorder {
    /// Starts a recording in `folder`, which must be new or empty.
    ///
    /// # Errors
    /// The folder cannot be made, or holds something.
    pub fn start(folder: &Path, choices: &Choices) -> Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        let held = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?.next();
        anyhow::ensure!(held.is_none(), "{} is not empty: give --record a new folder", folder.display());
        let create = |name: &str| {
            let path = folder.join(name);
            File::create_new(&path).map(BufWriter::new).with_context(|| format!("cannot write {}", path.display()))
        };
        let (mut session, events) = (create(SESSION)?, create(EVENTS)?);
        writeln!(session, "{}", serde_json::to_string(choices)?)?;
        session.flush()?;
        Ok(Self { folder: folder.to_owned(), session, events, pictures: 0 })
    }

    /// Keeps what the watcher was told and the lines of the events that came of it.
    ///
    /// # Errors
    /// The disk is full or gone.
    pub fn keep(&mut self, input: &Input, events: &[String]) -> Result<()> {
        let name = format!("{:08}.png", self.pictures);
        if let Some(rgb) = input.picture() {
            self.pictures += 1;
            let path = self.folder.join(&name);
            let file = BufWriter::new(File::create(&path).with_context(|| format!("cannot write {}", path.display()))?);
            let encoder = PngEncoder::new_with_quality(file, CompressionType::Fast, FilterType::Sub);
            rgb.write_with_encoder(encoder).with_context(|| format!("cannot write {}", path.display()))?;
        }
        writeln!(self.session, "{}", serde_json::to_string(&input.line(&name))?)
            .context("cannot write the recording")?;
        self.session.flush().context("cannot write the recording")?;
        for event in events {
            writeln!(self.events, "{event}").context("cannot write the recording")?;
        }
        self.events.flush().context("cannot write the recording")
    }
}

/// Reads a recording.
pub struct Recording {
    folder: PathBuf,
    lines: std::io::Lines<BufReader<File>>,
}

/// Is there a recording in this folder?
pub fn is_recording(folder: &Path) -> bool {
    folder.join(SESSION).is_file()
}

impl Recording {
    /// Opens the recording in `folder`: its choices, and what follows.
    ///
    /// # Errors
    /// It is none, or of another version.
    pub fn open(folder: &Path) -> Result<(Choices, Self)> {
        let path = folder.join(SESSION);
        let file = File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut lines = BufReader::new(file).lines();
        let first = lines.next().transpose()?.unwrap_or_default();
        let choices: Choices = serde_json::from_str(&first)
            .with_context(|| format!("{} does not begin as a recording does", path.display()))?;
        anyhow::ensure!(choices.schema == SCHEMA, "{} is a {} file, not {SCHEMA}", path.display(), choices.schema);
        Ok((choices, Self { folder: folder.to_owned(), lines }))
    }

    /// What the watcher was told next. A last line that was cut off by a crash ends the recording.
    ///
    /// # Errors
    /// A picture is missing or damaged.
    pub fn next(&mut self) -> Result<Option<Input>> {
        let Some(text) = self.lines.next().transpose()? else { return Ok(None) };
        let Ok(line) = serde_json::from_str::<Line>(&text) else { return Ok(None) };
        let rgb = match line.picture() {
            // A name that leaves the folder is none of ours.
            Some(name) if name.contains(['/', '\\']) => {
                anyhow::bail!("the recording names a picture elsewhere: {name}")
            }
            Some(name) => {
                let path = self.folder.join(name);
                photo::read(&path).with_context(|| format!("{} of the recording", path.display()))?.rgb
            }
            None => image::RgbImage::default(),
        };
        Ok(Some(line.input(rgb)))
    }
}
