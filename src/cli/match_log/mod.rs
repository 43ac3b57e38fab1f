//! `crokeye match`: keep the score of a match, correct it, take it to other systems.

mod commands;
mod from_count;
mod print;
mod transfer;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use crokeye::score::{Command, Party, Violation};
use crokeye::store::{Purpose, Store, StoreError};
use serde_json::json;

use crate::cli::out::outln;
use commands::*;
use crokeye::score::notation::SeatName;
pub use from_count::IntoMatch;

/// Keep the score of a match.
#[derive(Args, Debug)]
#[command(after_help = "A match from start to end:\n  \
    crokeye match new Ann Bob --rules nca          prints its number, here 1\n  \
    crokeye match add 1 --a 20:1,15:2,5:1 --b 65   zones (count each), or a total\n  \
    crokeye match correct 1 1 --b 60 --reason \"disc on the line\"\n  \
    crokeye match undo 1                           takes back the latest step, whatever it was\n  \
    crokeye match show 1\n  \
    crokeye match export 1 --to cmn -o match.json\n\n\
    ID is a match's number, `last`, or some of its UUID. Sides are A, B (and C); players of a side are A1, A2.\n\
    Nothing is ever overwritten: `crokeye match show ID --log` shows every step.\n\
    Exit status: 0 done, 1 refused by the rules or changed meanwhile, 2 wrong usage or unreadable input.")]
pub struct MatchArgs {
    #[command(flatten)]
    pub(super) common: Common,
    #[command(subcommand)]
    command: Box<MatchCommand>,
}

/// Options of every command that opens the store.
#[derive(Args, Debug, Clone)]
pub struct Common {
    /// The database [default: $CROKEYE_DB, else crokeye/crokeye.db in the user's data folder].
    #[arg(long, global = true, display_order = 900, value_name = "FILE")]
    pub db: Option<PathBuf>,
    /// Print JSON, one object a line, and nothing else on stdout.
    #[arg(long, global = true, display_order = 901)]
    pub json: bool,
    /// Who does this; written into the log [default: $USER].
    #[arg(long, global = true, display_order = 902, value_name = "NAME")]
    pub author: Option<String>,
}

#[derive(Subcommand, Debug)]
enum MatchCommand {
    /// Start a match.
    New(NewArgs),
    /// List matches, newest first.
    List {
        /// How many.
        #[arg(long, default_value_t = 20)]
        limit: u32,
    },
    /// Show a match.
    Show {
        /// Which match.
        id: String,
        /// Show every step of its log.
        #[arg(long)]
        log: bool,
    },
    /// Add a round.
    Add(AddArgs),
    /// Propose a round from a count (`crokeye count --json`), for a person to accept.
    Propose(ProposeArgs),
    /// Accept a proposed round.
    Accept {
        /// Which match.
        id: String,
        /// Number of the proposal; may be left out when one is open.
        proposal: Option<u64>,
        #[command(flatten)]
        sides: SideArgs,
    },
    /// Reject a proposed round.
    Dismiss {
        /// Which match.
        id: String,
        /// Number of the proposal; may be left out when one is open.
        proposal: Option<u64>,
        /// Why.
        #[arg(long)]
        reason: String,
    },
    /// Correct a round; the former numbers stay in the log.
    Correct(CorrectArgs),
    /// Take back the latest step, also across the end of a round or of the match.
    Undo {
        /// Which match.
        id: String,
        /// Only if this is the latest step (its number in `show --log`).
        #[arg(long, value_name = "STEP")]
        of: Option<u64>,
    },
    /// Do again what undo took back.
    Redo {
        /// Which match.
        id: String,
    },
    /// Make a round count no more.
    Void {
        /// Which match.
        id: String,
        /// Number of the round.
        round: u32,
        /// Why.
        #[arg(long)]
        reason: String,
    },
    /// Say who starts the next round.
    First {
        /// Which match.
        id: String,
        /// A, B or C; A1, A2 for a player.
        seat: SeatName,
    },
    /// Correct a side's names or colour.
    Rename {
        /// Which match.
        id: String,
        /// Which side.
        side: Party,
        /// Its players, joined by a slash.
        names: String,
        /// Colour of its discs.
        #[arg(long)]
        colour: Option<String>,
    },
    /// Hang a document (a photo, a score card) on a round.
    Attach {
        /// Which match.
        id: String,
        /// Number of the round.
        round: u32,
        /// The document.
        file: PathBuf,
        /// What it is.
        #[arg(long, default_value = "photo")]
        kind: String,
    },
    /// End a match by hand: as it stands, by shoot-out, by forfeit, or broken off.
    Finish(FinishArgs),
    /// Write matches in another system's format.
    Export(transfer::ExportArgs),
    /// Read matches from another system's file.
    Import(transfer::ImportArgs),
    /// Run commands from stdin, one JSON object a line; each is answered by a line once it is on disk.
    Apply {
        /// Which match.
        id: String,
    },
    /// Statistics of players, and head to head.
    Stats {
        /// Which matches; all when none is given.
        ids: Vec<String>,
        /// Only this player.
        #[arg(long)]
        player: Option<String>,
    },
}

impl MatchCommand {
    /// What it opens the store for: only a command that brings a match makes a database.
    fn purpose(&self) -> Purpose {
        match self {
            MatchCommand::New(_) | MatchCommand::Import(_) => Purpose::Create,
            MatchCommand::List { .. }
            | MatchCommand::Show { .. }
            | MatchCommand::Export(_)
            | MatchCommand::Stats { .. } => Purpose::Read,
            _ => Purpose::Write,
        }
    }
}

/// Runs `crokeye match`.
///
/// # Errors
/// The store cannot be opened or read; refusals by the rules are printed and give status 1.
pub fn run(args: &MatchArgs) -> Result<ExitCode> {
    let common = &args.common;
    let done = block(async {
        let store = common.open_for(args.command.purpose()).await?;
        let done = dispatch(&store, common, &args.command).await;
        store.close().await;
        done
    });
    refusals(common, done)
}

/// Refusals and conflicts are answers, not failures: printed, status 1.
fn refusals(common: &Common, done: Result<ExitCode>) -> Result<ExitCode> {
    let Err(error) = done else { return done };
    let kind = match error.downcast_ref::<StoreError>() {
        Some(StoreError::Refused(_)) => "refused",
        Some(StoreError::Conflict { .. }) => "conflict",
        _ if error.downcast_ref::<Violation>().is_some() => "refused",
        _ => return Err(error),
    };
    if common.json {
        outln!("{}", json!({ "schema": "crokeye.error/1", "kind": kind, "error": error.to_string() }));
    } else {
        eprintln!("{kind}: {error}");
    }
    Ok(ExitCode::from(1))
}

async fn dispatch(store: &Store, common: &Common, command: &MatchCommand) -> Result<ExitCode> {
    let number = async |id: &str| store.find(id).await;
    match command {
        MatchCommand::New(args) => new(store, common, args).await?,
        MatchCommand::List { limit } => print::list(common, &store.list(*limit).await?),
        MatchCommand::Show { id, log } => {
            let mut records = Vec::new();
            let loaded = store.load_with(number(id).await?, &mut |record| records.push(record.clone())).await?;
            print::game(common, &loaded);
            if *log {
                print::log(common, &records);
            }
        }
        MatchCommand::Add(args) => add(store, common, args).await?,
        MatchCommand::Propose(args) => return propose_files(store, common, args).await,
        MatchCommand::Accept { id, proposal, sides } => accept(store, common, id, *proposal, sides).await?,
        MatchCommand::Dismiss { id, proposal, reason } => {
            let number = number(id).await?;
            let proposal = the_proposal(&store.load(number).await?, *proposal)?;
            act(store, common, number, None, Command::Dismiss { proposal, reason: reason.clone() }).await?;
        }
        MatchCommand::Correct(args) => correct(store, common, args).await?,
        MatchCommand::Undo { id, of } => {
            act(store, common, number(id).await?, None, Command::Undo { of: *of }).await?;
        }
        MatchCommand::Redo { id } => act(store, common, number(id).await?, None, Command::Redo).await?,
        MatchCommand::Void { id, round, reason } => {
            let command = Command::Void { round: *round, reason: reason.clone() };
            act(store, common, number(id).await?, None, command).await?;
        }
        MatchCommand::First { id, seat } => {
            let number = number(id).await?;
            let seat = seat.seat(store.load(number).await?.game.format())?;
            act(store, common, number, None, Command::SetFirst { seat }).await?;
        }
        MatchCommand::Rename { id, side, names, colour } => {
            rename(store, common, id, *side, names, colour.as_deref()).await?;
        }
        MatchCommand::Attach { id, round, file, kind } => attach(store, common, id, *round, file, kind).await?,
        MatchCommand::Finish(args) => finish(store, common, args).await?,
        MatchCommand::Export(args) => return transfer::export(store, common, args).await,
        MatchCommand::Import(args) => return transfer::import(store, common, args).await,
        MatchCommand::Apply { id } => return apply(store, common, id).await,
        MatchCommand::Stats { ids, player } => transfer::statistics(store, common, ids, player.as_deref()).await?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Common {
    /// Where the database lies.
    ///
    /// # Errors
    /// Neither an option nor the environment says.
    pub fn path(&self) -> Result<PathBuf> {
        if let Some(path) = &self.db {
            return Ok(path.clone());
        }
        let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(path) = given("CROKEYE_DB") {
            return Ok(path);
        }
        let data = given("XDG_DATA_HOME").or_else(|| given("HOME").map(|home| home.join(".local/share")));
        let data = data.context("no place for the database: give --db FILE or set CROKEYE_DB")?;
        Ok(data.join("crokeye").join("crokeye.db"))
    }

    /// Opens the store that is there, to write.
    ///
    /// # Errors
    /// There is none, or it cannot be opened.
    pub async fn open(&self) -> Result<Store> {
        self.open_for(Purpose::Write).await
    }

    async fn open_for(&self, purpose: Purpose) -> Result<Store> {
        Ok(Store::open_for(&self.path()?, purpose).await?)
    }

    /// Who acts.
    pub fn author(&self) -> String {
        let user = || std::env::var("USER").ok().filter(|user| !user.is_empty());
        self.author.clone().or_else(user).unwrap_or_else(|| "somebody".to_owned())
    }
}

/// Runs the store's futures to their end.
///
/// # Errors
/// What the future gives.
pub fn block<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(future)
}

/// Media type by file name, for evidence.
pub fn media_type(path: &Path) -> &'static str {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("png") => "image/png",
        Some("webp") => "image/webp",
        Some("json") => "application/json",
        Some("pdf") => "application/pdf",
        _ => "application/octet-stream",
    }
}
