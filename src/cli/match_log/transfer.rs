//! `crokeye match export`, `import` and `stats`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use crokeye::score::export::{self, Exported, Target};
use crokeye::score::import::{self, Origin, Stamp};
use crokeye::score::stats::Collector;
use crokeye::score::{Match, Record};
use crokeye::store::{Loaded, Store, StoreError};
use jiff::Timestamp;
use serde_json::json;

use super::commands::reference;
use super::{Common, print};
use crate::cli::files;
use crate::cli::out::outln;

/// Formats to write.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum To {
    /// Crokinole Match Notation 1.0-draft (JSON).
    Cmn,
    /// Body for croki.nl's score ingest (JSON).
    Croki,
    /// Scorekinole text.
    Scorekinole,
    /// Crokinole Reference two-row sheet (xlsx).
    Reference,
    /// crokinole-tourney backup (JSON).
    Tourney,
    /// A line a round and side.
    RoundsCsv,
    /// A line a disc of the counts kept as evidence.
    DiscsCsv,
    /// crokeye's own JSON with the whole log.
    Json,
}

/// Formats to read.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum From {
    /// Crokinole Match Notation (JSON), single or batch.
    Cmn,
    /// A croki.nl body, answer or list (JSON).
    Croki,
    /// Scorekinole text.
    Scorekinole,
    /// Crokinole Reference two-row sheet (xlsx).
    Reference,
    /// crokinole-tourney backup (JSON).
    Tourney,
    /// crokeye's own JSON with the whole log.
    Json,
}

/// Arguments of `match export`.
#[derive(Args, Debug)]
pub struct ExportArgs {
    /// Which matches.
    #[arg(required = true)]
    ids: Vec<String>,
    /// The format.
    #[arg(long)]
    to: To,
    /// Where to write; stdout when not given.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// List what the format cannot hold of these matches; write nothing.
    #[arg(long)]
    explain: bool,
    /// A key the format asks for, for this export only, e.g. `croki.match_code=MD55`.
    #[arg(long = "ref", value_name = "KEY=VALUE", value_parser = reference)]
    refs: Vec<(String, String)>,
}

/// Arguments of `match import`.
#[derive(Args, Debug)]
pub struct ImportArgs {
    /// The file.
    file: PathBuf,
    /// Its format.
    #[arg(long)]
    from: From,
    /// Rule set to take where the file names none.
    #[arg(long, default_value = "nca")]
    rules: String,
    /// Say what would be read; store nothing.
    #[arg(long)]
    dry_run: bool,
}

impl To {
    fn target(self) -> Target {
        match self {
            To::Cmn => Target::Cmn,
            To::Croki => Target::Croki,
            To::Scorekinole => Target::Scorekinole,
            To::Reference => Target::Reference,
            To::Tourney => Target::Tourney,
            To::RoundsCsv => Target::RoundsCsv,
            To::DiscsCsv => Target::DiscsCsv,
            To::Json => Target::Json,
        }
    }
}

impl From {
    fn origin(self) -> Origin {
        match self {
            From::Cmn => Origin::Cmn,
            From::Croki => Origin::Croki,
            From::Scorekinole => Origin::Scorekinole,
            From::Reference => Origin::Reference,
            From::Tourney => Origin::Tourney,
            From::Json => Origin::Json,
        }
    }
}

/// A match with its log and the counts kept as evidence.
struct Whole {
    loaded: Loaded,
    log: Vec<Record>,
    counts: Vec<(String, Vec<u8>)>,
}

impl Whole {
    fn exported(&self) -> Exported<'_> {
        Exported { id: self.loaded.id, game: &self.loaded.game, log: &self.log, counts: &self.counts }
    }
}

async fn whole(store: &Store, number: i64, with_counts: bool) -> Result<Whole> {
    let mut log = Vec::new();
    let loaded = store.load_with(number, &mut |record| log.push(record.clone())).await?;
    let mut counts = Vec::new();
    if with_counts {
        let evidence = loaded.game.rounds().iter().flat_map(|round| &round.evidence);
        for evidence in evidence.filter(|evidence| evidence.kind == "count") {
            match store.fetch(&evidence.sha256).await {
                Ok(bytes) => counts.push((evidence.sha256.clone(), bytes)),
                // A match read from another database's JSON names documents that stayed there.
                Err(StoreError::NoEvidence(_)) => eprintln!("a count of match {number} is not in this database"),
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(Whole { loaded, log, counts })
}

/// Writes matches, or explains what would be lost.
pub async fn export(store: &Store, common: &Common, args: &ExportArgs) -> Result<ExitCode> {
    let target = args.to.target();
    let mut all = Vec::new();
    for id in &args.ids {
        let mut whole = whole(store, store.find(id).await?, target == Target::DiscsCsv).await?;
        if !args.refs.is_empty() && target != Target::Json {
            whole.loaded.game = with_refs(&whole.log, &args.refs)?;
        }
        all.push(whole);
    }
    if args.explain {
        all.iter().for_each(|whole| explained(common, target, whole));
        return Ok(ExitCode::SUCCESS);
    }
    let exported: Vec<Exported> = all.iter().map(Whole::exported).collect();
    let bytes = export::export(target, &exported)?;
    match &args.output {
        Some(path) => {
            write_new(path, &bytes)?;
            if common.json {
                outln!("{}", json!({ "file": path, "bytes": bytes.len(), "matches": all.len() }));
            } else {
                outln!("Wrote {} match(es) to {}.", all.len(), path.display());
            }
        }
        None if target == Target::Reference && std::io::IsTerminal::is_terminal(&std::io::stdout()) => {
            bail!("a workbook is no text: give -o FILE.xlsx");
        }
        None => std::io::stdout().write_all(&bytes).context("writing to stdout")?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a file that was not there: what stands under that name may be the only copy of something.
fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    let made = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    if made.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::AlreadyExists) {
        bail!("{} exists already: choose another name, or move it away", path.display());
    }
    made.and_then(|mut file| file.write_all(bytes)).with_context(|| format!("writing {}", path.display()))
}

/// Says what a format loses of a match, and why it cannot take it at all as it is now.
fn explained(common: &Common, target: Target, whole: &Whole) {
    let (number, name) = (whole.loaded.number, target.name());
    let losses = export::explain(target, &whole.loaded.game);
    let refused = export::export(target, &[whole.exported()]).err().map(|error| error.to_string());
    if common.json {
        outln!("{}", json!({ "match": number, "format": name, "losses": losses, "refused": refused }));
        return;
    }
    if losses.is_empty() {
        outln!("Match {number}: {name} holds all of it.");
    } else {
        outln!("Match {number}: {name} does not hold everything:");
        losses.iter().for_each(|loss| outln!("  - {loss}"));
    }
    if let Some(refused) = refused {
        outln!("  It cannot be written now: {refused}.");
    }
}

/// The match with further references, for one export; the stored one is not touched.
fn with_refs(log: &[Record], refs: &[(String, String)]) -> Result<Match> {
    let mut log = log.to_vec();
    if let Some(Record { event: crokeye::score::Event::MatchCreated(setup), .. }) = log.first_mut() {
        setup.context.refs.extend(refs.iter().cloned());
    }
    Match::replay(&log).context("the match has no events")
}

/// Reads matches into the store.
pub async fn import(store: &Store, common: &Common, args: &ImportArgs) -> Result<ExitCode> {
    let bytes = files::whole(&args.file, import::MOST_BYTES as u64)?;
    let author = common.author();
    let stamp = Stamp { at: Timestamp::now(), author: &author };
    let plans = import::read(args.from.origin(), &bytes, &args.rules, stamp)
        .with_context(|| format!("reading {}", args.file.display()))?;
    let stored = if args.dry_run { Vec::new() } else { store.restore(&plans).await? };
    for (at, plan) in plans.iter().enumerate() {
        let sides: Vec<String> = plan.game.format().parties().iter().map(|party| plan.game.name(*party)).collect();
        let points: Vec<u64> =
            plan.game.format().parties().iter().map(|party| plan.game.standing().points[party.index()]).collect();
        let number = stored.get(at).map(|loaded| loaded.number);
        if common.json {
            let mut line = json!({ "number": number, "sides": sides, "points": points, "notes": plan.notes });
            line["rounds"] = json!(plan.game.standing().counted);
            outln!("{line}");
            continue;
        }
        let number = number.map(|number| format!("Match {number}")).unwrap_or_else(|| "Would read".to_owned());
        let points: Vec<String> = points.iter().map(u64::to_string).collect();
        let rounds = plan.game.standing().counted;
        outln!("{number}: {}, {} after {rounds} round(s)", sides.join(" v "), points.join("-"));
        plan.notes.iter().for_each(|note| outln!("  Note: {note}."));
    }
    if !common.json && plans.is_empty() {
        outln!("{} holds no finished match.", args.file.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Sums matches one at a time.
pub async fn statistics(store: &Store, common: &Common, ids: &[String], player: Option<&str>) -> Result<()> {
    let numbers = if ids.is_empty() {
        store.numbers().await?
    } else {
        let mut numbers = Vec::new();
        for id in ids {
            numbers.push(store.find(id).await?);
        }
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    };
    let mut collector = Collector::default();
    for number in numbers {
        collector.add(&store.load(number).await?.game);
    }
    let mut statistics = collector.finish();
    if let Some(player) = player {
        let wanted = |name: &str| name.trim().to_lowercase() == player.trim().to_lowercase();
        statistics.players.retain(|stats| wanted(&stats.name));
        statistics.head_to_head.retain(|pair| wanted(&pair.player));
        if statistics.players.is_empty() {
            bail!("nobody called {player:?} has played");
        }
    }
    print::statistics(common, &statistics);
    Ok(())
}
