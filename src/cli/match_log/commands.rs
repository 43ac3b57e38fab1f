//! The commands of `crokeye match` that change a match.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use crokeye::score::event::{Finish, RoundEntry, Source};
use crokeye::score::tally::SideEntry;
use crokeye::score::{Command, Format, Match, Party, Seat};
use crokeye::store::{Loaded, Store, StoreError};
use jiff::Timestamp;
use serde_json::json;

use super::{Common, media_type, print};
use crate::cli::files;
use crate::cli::rules::load as load_rules;
use crokeye::score::notation::SeatName;
use crokeye::service::new_match::{NewMatch, side_info};
use crokeye::service::proposal::{CountOffer, Offered, ProposalError, propose};

/// Arguments of `match new`.
#[derive(Args, Debug)]
pub struct NewArgs {
    /// The sides; partners joined by a slash. Two names: singles. Ann/Al Bob/Ben: doubles. Ann/Al Bob: two against one.
    /// Three names: cut-throat.
    #[arg(required = true, num_args = 2..=3, value_name = "SIDE")]
    sides: Vec<String>,
    /// Rule set by name, or a rule file (.toml). `crokeye rules` shows them.
    #[arg(long, default_value = "nca")]
    rules: String,
    /// Choose a parameter, e.g. `end_tie=extra_round`, `end={rounds=6}`, `discs_singles=12`.
    #[arg(long = "set", value_name = "PARAMETER=VALUE")]
    choices: Vec<String>,
    /// Who starts: A, B, C, or A1, A2 for a player.
    #[arg(long, default_value = "A", value_parser = seat_name)]
    first: String,
    /// Colours of the sides in order, as `crokeye count` names them, e.g. `black,natural`.
    #[arg(long, value_delimiter = ',')]
    colours: Vec<String>,
    /// The event it belongs to.
    #[arg(long)]
    event: Option<String>,
    /// A key of another system, e.g. `croki.match_code=MD55`.
    #[arg(long = "ref", value_name = "KEY=VALUE", value_parser = reference)]
    refs: Vec<(String, String)>,
}

/// One score a side.
#[derive(Args, Debug, Clone)]
pub struct SideArgs {
    /// Side A: a total (65), zones with counts (20:1,15:2,5:1; aside:N for 20s taken off), or points:N.
    #[arg(long, value_name = "SCORE", allow_hyphen_values = true)]
    a: Option<SideEntry>,
    /// Side B.
    #[arg(long, value_name = "SCORE", allow_hyphen_values = true)]
    b: Option<SideEntry>,
    /// Side C, in cut-throat.
    #[arg(long, value_name = "SCORE", allow_hyphen_values = true)]
    c: Option<SideEntry>,
}

impl SideArgs {
    fn given(&self) -> Vec<Option<SideEntry>> {
        vec![self.a.clone(), self.b.clone(), self.c.clone()]
    }

    /// Every side of the match must be given.
    fn all(&self, format: Format) -> Result<Vec<SideEntry>> {
        let given = self.given();
        if let Some(extra) =
            Party::ALL.iter().find(|party| party.index() >= format.sides() && given[party.index()].is_some())
        {
            bail!("{} has no side {extra}", format.name());
        }
        format
            .parties()
            .iter()
            .map(|party| {
                let missing =
                    || format!("side {party}'s score is missing: --{} SCORE", party.letter().to_ascii_lowercase());
                given[party.index()].clone().with_context(missing)
            })
            .collect()
    }
}

/// Arguments of `match add`.
#[derive(Args, Debug)]
pub struct AddArgs {
    /// Which match.
    id: String,
    #[command(flatten)]
    sides: SideArgs,
    /// Who started, if not the one due.
    #[arg(long)]
    first: Option<SeatName>,
    /// Who shot last, if not the one before the first.
    #[arg(long)]
    last: Option<SeatName>,
    /// A photo that shows it.
    #[arg(long, value_name = "FILE")]
    photo: Vec<PathBuf>,
    /// Only if the match is still at this revision.
    #[arg(long, value_name = "REVISION")]
    expect: Option<u64>,
}

/// Arguments of `match propose`.
#[derive(Args, Debug)]
pub struct ProposeArgs {
    /// Which match.
    id: String,
    /// The count: a line of `crokeye count --json`.
    #[arg(long, value_name = "FILE")]
    count: PathBuf,
    /// The photo it was counted from.
    #[arg(long, value_name = "FILE")]
    photo: Option<PathBuf>,
    /// Take it at once when nothing needs review.
    #[arg(long)]
    accept: bool,
}

/// Arguments of `match correct`.
#[derive(Args, Debug)]
pub struct CorrectArgs {
    /// Which match.
    id: String,
    /// Number of the round.
    round: u32,
    #[command(flatten)]
    sides: SideArgs,
    /// Who really started.
    #[arg(long)]
    first: Option<SeatName>,
    /// Who really shot last.
    #[arg(long)]
    last: Option<SeatName>,
    /// Why.
    #[arg(long)]
    reason: String,
}

/// Arguments of `match finish`.
#[derive(Args, Debug)]
pub struct FinishArgs {
    /// Which match.
    id: String,
    /// The winner of the shoot-out that is due.
    #[arg(long, value_name = "SIDE", conflicts_with_all = ["forfeit", "abandon"])]
    shoot_out: Option<Party>,
    /// The side that gives up or did not come.
    #[arg(long, value_name = "SIDE", conflicts_with = "abandon")]
    forfeit: Option<Party>,
    /// Broken off without a result.
    #[arg(long)]
    abandon: bool,
    /// Why.
    #[arg(long)]
    reason: Option<String>,
}

/// A seat as typed, refused where it is none.
fn seat_name(text: &str) -> Result<String, String> {
    text.parse::<SeatName>().map(|_| text.to_owned())
}

/// Reads `KEY=VALUE`.
///
/// # Errors
/// There is no `=`, or nothing before it.
pub fn reference(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err(format!("{text:?} is not KEY=VALUE")),
    }
}

/// Runs one command and shows the match.
pub async fn act(store: &Store, common: &Common, number: i64, expected: Option<u64>, command: Command) -> Result<()> {
    let (loaded, records) = store.execute(number, expected, &command, Timestamp::now(), &common.author()).await?;
    print::step(common, &loaded, &records);
    Ok(())
}

pub async fn new(store: &Store, common: &Common, args: &NewArgs) -> Result<()> {
    let wanted = NewMatch {
        sides: args.sides.clone(),
        rules: args.rules.clone(),
        choices: args.choices.clone(),
        first: args.first.clone(),
        colours: args.colours.clone(),
        event: args.event.clone(),
        refs: args.refs.iter().cloned().collect(),
    };
    let setup = wanted.setup_with(&load_rules(&args.rules)?)?;
    let loaded = store.create(&Command::Create(Box::new(setup)), Timestamp::now(), &common.author()).await?;
    print::created(common, &loaded);
    Ok(())
}

pub async fn add(store: &Store, common: &Common, args: &AddArgs) -> Result<()> {
    let number = store.find(&args.id).await?;
    let game = store.load(number).await?.game;
    let format = game.format();
    let mut evidence = Vec::new();
    for photo in &args.photo {
        evidence.push(keep_file(store, photo, "photo").await?);
    }
    let round = RoundEntry {
        sides: args.sides.all(format)?,
        first: seat(args.first, format)?,
        last: seat(args.last, format)?,
        source: Source::Person,
        evidence,
    };
    // Without --expect a round typed meanwhile by somebody else would be hard to tell from this one: hold on to what
    // was read a moment ago.
    let expected = args.expect.unwrap_or(game.revision());
    act(store, common, number, Some(expected), Command::Record { round }).await
}

pub async fn propose_files(store: &Store, common: &Common, args: &ProposeArgs) -> Result<ExitCode> {
    let count = files::whole(&args.count, MOST_EVIDENCE_BYTES)?;
    let photo = args.photo.as_deref();
    let photo = photo.map(|path| anyhow::Ok((files::whole(path, MOST_EVIDENCE_BYTES)?, path))).transpose()?;
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let named = photo.as_ref().map(|(bytes, path)| (bytes, media_type(path), name(path)));
    let offer = CountOffer {
        photo: named.as_ref().map(|(bytes, media, name)| (bytes.as_slice(), *media, name.as_str())),
        clip: None,
        count: &count,
        accept: args.accept,
    };
    let number = store.find(&args.id).await?;
    let Offered { loaded, accepted, .. } = match propose(store, &common.author(), number, &offer).await {
        // The store's refusals are answers, told apart by their type.
        Err(ProposalError::Store(error)) => return Err(error.into()),
        offered => offered?,
    };
    print::proposed(common, &loaded, accepted);
    // Status 1 says that a person should look, as for `crokeye count`.
    Ok(if args.accept && !accepted { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// The proposal meant: the one named, or the only one open.
pub fn the_proposal(loaded: &Loaded, named: Option<u64>) -> Result<u64> {
    let open: Vec<u64> = loaded.game.open_proposals().map(|proposal| proposal.number).collect();
    match (named, open.as_slice()) {
        (Some(number), _) => Ok(number),
        (None, [only]) => Ok(*only),
        (None, []) => bail!("no proposal is open"),
        (None, several) => {
            let names: Vec<String> = several.iter().map(u64::to_string).collect();
            bail!("{} proposals are open: say which after the match, one of {}", names.len(), names.join(", "))
        }
    }
}

pub async fn accept(store: &Store, common: &Common, id: &str, proposal: Option<u64>, sides: &SideArgs) -> Result<()> {
    let number = store.find(id).await?;
    let loaded = store.load(number).await?;
    let proposal = the_proposal(&loaded, proposal)?;
    let given = sides.given();
    let sides = if given.iter().all(Option::is_none) {
        None
    } else {
        // Sides not named keep what was proposed.
        let found = loaded.game.proposals().iter().find(|found| found.number == proposal);
        let proposed = found.map(|found| found.round.sides.clone()).unwrap_or_default();
        Some(proposed.into_iter().zip(given).map(|(old, new)| new.unwrap_or(old)).collect())
    };
    let expected = Some(loaded.game.revision());
    act(store, common, number, expected, Command::Accept { proposal, sides, reason: None }).await
}

pub async fn correct(store: &Store, common: &Common, args: &CorrectArgs) -> Result<()> {
    let number = store.find(&args.id).await?;
    let loaded = store.load(number).await?;
    let format = loaded.game.format();
    let given = args.sides.given();
    let sides = if given.iter().all(Option::is_none) {
        None
    } else {
        // Sides not named keep their score.
        let at = (args.round as usize).checked_sub(1);
        let old = at.and_then(|at| loaded.game.rounds().get(at)).map(|round| round.sides.clone()).unwrap_or_default();
        let old = old.iter().map(crokeye::score::tally::SideEntry::from);
        Some(old.zip(given).map(|(old, new)| new.unwrap_or(old)).collect())
    };
    let command = Command::Correct {
        round: args.round,
        sides,
        first: seat(args.first, format)?,
        last: seat(args.last, format)?,
        reason: args.reason.clone(),
    };
    act(store, common, number, Some(loaded.game.revision()), command).await
}

pub async fn rename(
    store: &Store,
    common: &Common,
    id: &str,
    side: Party,
    names: &str,
    colour: Option<&str>,
) -> Result<()> {
    let number = store.find(id).await?;
    let loaded = store.load(number).await?;
    let old = loaded.game.setup().sides.get(side.index());
    let mut info = side_info(names, colour.or_else(|| old.and_then(|old| old.colour.as_deref())));
    for (player, old) in info.players.iter_mut().zip(old.map(|old| old.players.as_slice()).unwrap_or_default()) {
        player.cid.clone_from(&old.cid);
    }
    act(store, common, number, None, Command::Rename { side, info }).await
}

pub async fn attach(store: &Store, common: &Common, id: &str, round: u32, file: &Path, kind: &str) -> Result<()> {
    let number = store.find(id).await?;
    let evidence = keep_file(store, file, kind).await?;
    act(store, common, number, None, Command::Attach { round, evidence }).await
}

/// Largest file kept as evidence: a photo of 100 megapixels is half of that.
const MOST_EVIDENCE_BYTES: u64 = 200 << 20;

async fn keep_file(store: &Store, file: &Path, kind: &str) -> Result<crokeye::score::event::Evidence> {
    let bytes = files::whole(file, MOST_EVIDENCE_BYTES)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Ok(store.keep(&bytes, kind, media_type(file), Some(&name), Timestamp::now()).await?)
}

pub async fn finish(store: &Store, common: &Common, args: &FinishArgs) -> Result<()> {
    let finish = match (args.shoot_out, args.forfeit, args.abandon) {
        (Some(winner), ..) => Finish::ShootOut { winner },
        (None, Some(by), _) => Finish::Forfeit { by },
        (None, None, true) => Finish::Abandoned,
        (None, None, false) => Finish::AsItStands,
    };
    let number = store.find(&args.id).await?;
    act(store, common, number, None, Command::Finish { finish, reason: args.reason.clone() }).await
}

/// Commands from stdin. A line is answered only when its events are on disk; a refusal does not stop the rest.
pub async fn apply(store: &Store, common: &Common, id: &str) -> Result<ExitCode> {
    let number = store.find(id).await?;
    let author = common.author();
    let mut game: Match = store.load(number).await?.game;
    let mut refused = false;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line.context("reading stdin")?;
        if line.trim().is_empty() {
            continue;
        }
        let answer = match apply_one(store, number, &mut game, &line, &author).await {
            Ok(revision) => json!({ "ok": true, "revision": revision }),
            Err(error) => {
                refused = true;
                json!({ "ok": false, "error": error.to_string() })
            }
        };
        writeln!(out, "{answer}").and_then(|()| out.flush()).context("writing the answer")?;
    }
    Ok(if refused { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

async fn apply_one(store: &Store, number: i64, game: &mut Match, line: &str, author: &str) -> Result<u64> {
    let command: Command = serde_json::from_str(line).context("that is no command")?;
    let events = Match::decide(Some(game), &command).map_err(StoreError::Refused)?;
    match store.append(number, game, events, Timestamp::now(), author).await {
        Err(StoreError::Conflict { expected, found }) => {
            // Somebody else wrote: this command was decided on what is no longer there.
            *game = store.load(number).await?.game;
            Err(StoreError::Conflict { expected, found }.into())
        }
        other => {
            other?;
            Ok(game.revision())
        }
    }
}

fn seat(name: Option<SeatName>, format: Format) -> Result<Option<Seat>> {
    Ok(name.map(|name| name.seat(format)).transpose()?)
}
