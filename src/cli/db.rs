//! `crokeye db`: care of the database.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use crokeye::score::export::{Exported, Target, export};
use crokeye::store::{Purpose, Report, Store, StoreError};
use serde_json::json;

use super::match_log::{Common, block};
use super::out::outln;

/// Check, back up and export the database of matches.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  crokeye db check\n  crokeye db backup /media/stick/crokeye-2026-11-30.db\n  \
                        crokeye db export -o all.jsonl     every match with its log; `crokeye match import --from json` reads it\n\n\
                        Photos and counts lie beside the database in a folder NAME.evidence; a backup takes them along.")]
pub struct DbArgs {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: DbCommand,
}

#[derive(Subcommand, Debug)]
enum DbCommand {
    /// Say where the database lies.
    Path,
    /// Check everything: file, references, the chain of every event, every match, every photo. Status 1 if not well.
    Check,
    /// Copy the database as it is now, with its photos; safe while others write. Status 1 if a damaged photo is left out.
    Backup {
        /// The new file; it must not exist.
        target: PathBuf,
    },
    /// Write every match that can be read, with its log, as JSON lines; works on a damaged database too.
    Export {
        /// Where to write; stdout when not given.
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// Runs `crokeye db`.
///
/// # Errors
/// The database cannot be opened, or the target cannot be written.
pub fn run(args: &DbArgs) -> Result<ExitCode> {
    let path = args.common.path()?;
    if let DbCommand::Path = args.command {
        outln!("{}", path.display());
        return Ok(ExitCode::SUCCESS);
    }
    block(async {
        match &args.command {
            DbCommand::Path => Ok(ExitCode::SUCCESS),
            DbCommand::Check => check(&args.common, &path).await,
            DbCommand::Backup { target } => {
                let store = Store::open_for(&path, Purpose::Read).await?;
                let left_out = store.backup(target).await?;
                store.close().await;
                if args.common.json {
                    outln!("{}", json!({ "backup": target, "left_out": left_out }));
                } else {
                    left_out.iter().for_each(|what| outln!("LEFT OUT: {what}"));
                    outln!("Backed up to {}.", target.display());
                }
                Ok(if left_out.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
            }
            DbCommand::Export { output } => {
                dump(&Store::open_for(&path, Purpose::Rescue).await?, output.as_ref()).await
            }
        }
    })
}

async fn check(common: &Common, path: &Path) -> Result<ExitCode> {
    let report = match Store::open_for(path, Purpose::Rescue).await {
        Ok(store) => {
            let report = store.check().await?;
            store.close().await;
            report
        }
        Err(error @ StoreError::Damaged { .. }) => Report { faults: vec![error.to_string()], ..Report::default() },
        Err(error) => return Err(error.into()),
    };
    if common.json {
        let mut value = json!(report);
        value["ok"] = json!(report.faults.is_empty());
        outln!("{value}");
    } else {
        outln!(
            "{}: layout {}, {} match(es), {} event(s), {} document(s) checked.",
            path.display(),
            report.layout,
            report.matches,
            report.events,
            report.documents
        );
        report.elsewhere.iter().for_each(|what| outln!("Note: {what}, which is not in this database."));
        match report.faults.as_slice() {
            [] => outln!("All is well."),
            faults => faults.iter().for_each(|fault| outln!("FAULT: {fault}")),
        }
    }
    Ok(if report.faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// One match at a time, so that memory does not grow with the database.
async fn dump(store: &Store, output: Option<&PathBuf>) -> Result<ExitCode> {
    let mut out: Box<dyn Write> = match output {
        Some(path) => {
            let file = std::fs::File::create_new(path).with_context(|| format!("writing {}", path.display()))?;
            Box::new(std::io::BufWriter::new(file))
        }
        None => Box::new(std::io::stdout().lock()),
    };
    let (numbers, hidden) = store.numbers_found().await?;
    let mut unreadable = hidden.is_some();
    if let Some(error) = hidden {
        eprintln!("matches may be missing: {error}");
    }
    for number in numbers {
        let mut log = Vec::new();
        let loaded = match store.load_with(number, &mut |record| log.push(record.clone())).await {
            Ok(loaded) => loaded,
            Err(error) => {
                eprintln!("match {number} is left out: {error}");
                unreadable = true;
                continue;
            }
        };
        let exported = Exported { id: loaded.id, game: &loaded.game, log: &log, counts: &[] };
        out.write_all(&export(Target::Json, &[exported])?).context("writing")?;
    }
    out.flush().context("writing")?;
    Ok(if unreadable { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
