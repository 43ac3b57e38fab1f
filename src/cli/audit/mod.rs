//! `crokeye audit`: a season of saved photos against a sheet of typed scores.

mod decide;
mod interrupt;
mod options;
mod results;
mod say;
mod watch;
mod work;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::{Args, Subcommand, ValueEnum};
use crokeye::audit::columns::Named;
use crokeye::audit::decision::Decisions;
use crokeye::audit::{self, Audit, Pooling, Sheet};
use crokeye::count::SideColours;

use super::count;
use super::files::{self, Take};
use results::Folder;
use work::Work;

/// Count a folder of saved photos and set them against a sheet of typed scores.
#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
Examples:
  crokeye audit season/ --expected scores.csv            which typed scores are wrong?
  crokeye audit season/ --expected scores.xlsx --columns picture=Foto,a=Rot,b=Blau
  crokeye audit 'night-*/*.jpg' --out night              no sheet: count them all, with a report
  crokeye audit hall-camera/ --fixed-camera --watch      keep going as the camera uploads photos
  crokeye audit decide crokeye-audit IMG_0412.jpg --disc 4=10 --reason \"seen on the video\"

The sheet names its columns in the first row, in any order: picture (a file name) or time; then a and b, or colours
(black, natural), with their totals, and \"20s a\", \"20s b\" where they are kept; or one row a side with side, total, 20s.

The folder given with --out then holds report.html (open it in a browser; it needs no network), results.csv, results.xlsx,
discs.csv, results.jsonl and decisions.json. The same command again counts only what is new.

Exit status: 0 all agree; 1 a clear picture disagrees with the sheet; 2 wrong use, or files that cannot be read;
3 nothing disagrees, but something waits for a person; 130 interrupted.")]
pub struct AuditArgs {
    #[command(subcommand)]
    command: Option<AuditCommand>,

    /// Photos (JPEG, PNG, WebP, HEIC), folders of them with all below, or patterns.
    #[arg(required = true, value_name = "PHOTOS")]
    photos: Vec<PathBuf>,

    /// The sheet of typed scores: CSV or XLSX.
    #[arg(long, short, value_name = "FILE")]
    expected: Option<PathBuf>,

    /// Columns of the sheet that are called otherwise: picture, time, date, side, total, 20s, a, b, a.20s, b.aside, black, ...
    #[arg(long, value_name = "ROLE=TITLE", value_delimiter = ',')]
    columns: Vec<Named>,

    /// Where the results go.
    #[arg(long, short, value_name = "DIR", default_value = "crokeye-audit")]
    out: PathBuf,

    /// Rule set by name, or a rule file: how many discs a side can have.
    #[arg(long, value_name = "RULES", default_value = "nca")]
    rules: String,

    /// What is known of the camera: a profile (TOML) with its lens.
    #[arg(long, value_name = "PROFILE", conflicts_with = "fov")]
    camera: Option<PathBuf>,

    /// Angle that the photos show from their left to their right edge.
    #[arg(long, value_name = "DEGREES", value_parser = count::fov)]
    fov: Option<f64>,

    /// Colours of side a and side b; without it side a is the darker.
    #[arg(long, value_name = "A,B", value_parser = count::sides)]
    sides: Option<SideColours>,

    /// Chance of a wrong call that is tolerated; above it a disc is too close to call.
    #[arg(long, value_name = "CHANCE", value_parser = count::chance, default_value = "0.001")]
    close_level: f64,

    /// How far the edge that touches the board lies inside a disc's outline, for discs with a chamfer.
    #[arg(long, value_name = "MM", value_parser = count::inset, default_value = "0")]
    edge_inset: f64,

    /// Height of a disc, where it is known better than the usual 10.
    #[arg(long, value_name = "MM", value_parser = count::height)]
    disc_height: Option<f64>,

    /// Photos of one camera know its lens and the discs better together: those that EXIF says are of one, all, or none.
    #[arg(long, value_enum, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_value = "exif",
        default_missing_value = "always")]
    pool: PoolWhich,

    /// All photos are of one camera that did not move.
    #[arg(long, conflicts_with = "pool")]
    fixed_camera: bool,

    /// A photo taken at most so long from the time in a row may belong to it.
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(i64).range(1..=1440), default_value = "15")]
    time_window: i64,

    /// Decisions to take over, as the report saves them.
    #[arg(long, value_name = "FILE")]
    decisions: Option<PathBuf>,

    /// Photos counted at the same time; one for each processor core when not given.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,

    /// Keep going as photos arrive in the folders.
    #[arg(long)]
    watch: bool,

    /// Say nothing but errors.
    #[arg(long, short)]
    quiet: bool,

    /// Print the summary as one JSON object (with --watch, one each time).
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand, Clone, Debug)]
enum AuditCommand {
    Decide(decide::DecideArgs),
}

/// Which photos know things together.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum PoolWhich {
    /// Those whose EXIF tags name one camera and lens.
    Exif,
    /// All of one size.
    Always,
    /// None.
    Never,
}

/// Runs `crokeye audit`.
///
/// # Errors
/// The sheet, the rules, the profile or the decisions cannot be read, or the results cannot be written.
pub fn run(args: &AuditArgs) -> Result<ExitCode> {
    if let Some(AuditCommand::Decide(decide)) = &args.command {
        return decide::run(decide);
    }
    interrupt::listen()?;
    if args.watch {
        let folder = Folder::open(&args.out)?;
        folder.keep_command()?;
        return watch::run(args, &folder);
    }
    let photos = there(args)?;
    let folder = Folder::open(&args.out)?;
    folder.keep_command()?;
    once(args, &folder, &photos)
}

/// The photos that the command names. Where none of them is there, the results of an earlier run are not touched.
fn there(args: &AuditArgs) -> Result<Vec<PathBuf>> {
    let photos = photos(args);
    let named = args.photos.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    ensure!(
        photos.iter().any(|path| path.symlink_metadata().is_ok()),
        "there is nothing at {named}: nothing was counted or written"
    );
    Ok(photos)
}

/// One round of counting and writing.
fn once(args: &AuditArgs, folder: &Folder, photos: &[PathBuf]) -> Result<ExitCode> {
    let Some(passed) = pass(args, folder, photos)? else {
        return Ok(ExitCode::from(interrupt::STATUS));
    };
    say::summary(args, folder, &passed)?;
    Ok(status(&passed.audit))
}

/// What one round of counting and writing gave.
struct Passed {
    audit: Audit,
    /// Photos that were counted now; the others were known.
    counted: usize,
}

/// Counts what is new among `photos` and writes all results; None when interrupted.
fn pass(args: &AuditArgs, folder: &Folder, photos: &[PathBuf]) -> Result<Option<Passed>> {
    // What can be wrong about the command is told before anything is counted.
    let sheet = args.expected.as_deref().map(|path| read_sheet(path, &args.columns)).transpose()?;
    let settings = options::settings(args)?;
    let decisions = decisions(args, folder)?;
    let work = Work::new(args, settings.clone(), folder)?;
    let Some((entries, counted)) = work.count(photos)? else { return Ok(None) };
    let audit = audit::audit(entries, sheet.as_ref(), &decisions, &settings);
    if !work.draw(&audit)? {
        return Ok(None);
    }
    folder.write(&audit)?;
    Ok(Some(Passed { audit, counted }))
}

/// The photos that the command names, each once.
fn photos(args: &AuditArgs) -> Vec<PathBuf> {
    let mut seen = std::collections::HashSet::new();
    let mut photos = files::expand(&args.photos, Take::Every, Some(&args.out));
    photos.retain(|path| seen.insert(path.clone()));
    photos
}

fn read_sheet(path: &Path, columns: &[Named]) -> Result<Sheet> {
    let wrong = || format!("the sheet {}", path.display());
    let bytes = std::fs::read(path).with_context(wrong)?;
    Sheet::read(&bytes, columns).with_context(wrong)
}

/// The decisions of earlier runs, and those to take over, which are kept from now on.
fn decisions(args: &AuditArgs, folder: &Folder) -> Result<Decisions> {
    let mut decisions = folder.decisions()?;
    if let Some(path) = &args.decisions {
        let wrong = || format!("the decisions {}", path.display());
        let bytes = std::fs::read(path).with_context(wrong)?;
        decisions.merge(Decisions::read(&bytes).with_context(wrong)?);
        folder.keep_decisions(&decisions)?;
    }
    Ok(decisions)
}

fn pooling(args: &AuditArgs) -> Pooling {
    match (args.fixed_camera, args.pool) {
        (true, _) => Pooling::FixedCamera,
        (false, PoolWhich::Exif) => Pooling::ByTags,
        (false, PoolWhich::Always) => Pooling::Always,
        (false, PoolWhich::Never) => Pooling::Never,
    }
}

fn status(audit: &Audit) -> ExitCode {
    let tally = audit.tally();
    let waits = audit.items.iter().any(|item| item.needs_eyes());
    let left_over = audit.has_sheet && (tally.unclaimed + tally.unclaimed_open > 0)
        || !audit.unmatched.is_empty()
        || !audit.faults.is_empty();
    ExitCode::from(if tally.disagree > 0 {
        1
    } else if tally.unreadable > 0 {
        2
    } else if waits || left_over {
        3
    } else {
        0
    })
}
