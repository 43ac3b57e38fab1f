//! `crokeye db`: care of the database.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use crokeye::score::export::{Exported, Target, export};
use crokeye::store::{Purpose, Store};
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
    /// Copy the database as it is now, with its photos; safe while others write.
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
            DbCommand::Check => check(&args.common, &Store::open_for(&path, Purpose::Rescue).await?).await,
            DbCommand::Backup { target } => {
                let store = Store::open_for(&path, Purpose::Read).await?;
                store.backup(target).await?;
                store.close().await;
                if args.common.json {
                    outln!("{}", json!({ "backup": target }));
                } else {
                    outln!("Backed up to {}.", target.display());
                }
                Ok(ExitCode::SUCCESS)
            }
            DbCommand::Export { output } => {
                dump(&Store::open_for(&path, Purpose::Rescue).await?, output.as_ref()).await
            }
        }
    })
}

async fn check(common: &Common, store: &Store) -> Result<ExitCode> {
    let report = store.check().await?;
    if common.json {
        let mut value = json!(report);
        value["ok"] = json!(report.faults.is_empty());
        outln!("{value}");
    } else {
        outln!(
            "{}: layout {}, {} match(es), {} event(s), {} document(s) checked.",
            store.path().display(),
            report.layout,
            report.matches,
            report.events,
            report.documents
        );
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
    let mut unreadable = false;
    for number in store.numbers().await? {
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
