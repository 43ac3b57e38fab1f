//! `crokeye audit decide`: what a person says about a picture, kept with author, time and reason.

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, Parser};
use crokeye::audit::decision::{Change, Decision, is_value};
use crokeye::audit::matching;
use crokeye::board::Side;
use jiff::Timestamp;
use serde_json::Value;

use super::results::{Called, Folder};
use super::{AuditArgs, once, there};
use crate::cli::out::outln;

/// Decide what a picture shows: the decision is kept, survives every further run and shows in the report.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  crokeye audit decide crokeye-audit IMG_0412.jpg --disc 4=10 --reason \"seen on the video\"
  crokeye audit decide crokeye-audit IMG_0412.jpg --owner 3=b --no-disc 9 --missed a=15
  crokeye audit decide crokeye-audit IMG_0412.jpg --accept         the count is right as it stands
  crokeye audit decide crokeye-audit IMG_0412.jpg --withdraw       take all decisions about it back

The numbers of the discs are those in the report.")]
pub(super) struct DecideArgs {
    /// The folder of the audit.
    dir: PathBuf,
    /// The picture, by its file name.
    picture: String,
    /// A disc has this value: 4=10.
    #[arg(long, value_name = "DISC=VALUE")]
    disc: Vec<Pair<u32, u32>>,
    /// A disc belongs to this side: 4=b.
    #[arg(long, value_name = "DISC=SIDE")]
    owner: Vec<Pair<u32, Letter>>,
    /// This is no disc.
    #[arg(long, value_name = "DISC")]
    no_disc: Vec<u32>,
    /// A disc was missed: a=10.
    #[arg(long, value_name = "SIDE=VALUE")]
    missed: Vec<Pair<Letter, u32>>,
    /// The count is right as it stands.
    #[arg(long)]
    accept: bool,
    /// Take all decisions about this picture back.
    #[arg(long, conflicts_with_all = ["disc", "owner", "no_disc", "missed", "accept"])]
    withdraw: bool,
    /// Why.
    #[arg(long)]
    reason: Option<String>,
    /// Who decides [default: $USER].
    #[arg(long, value_name = "NAME")]
    author: Option<String>,
    /// Say nothing but errors.
    #[arg(long, short)]
    quiet: bool,
}

/// `KEY=VALUE`.
#[derive(Clone, Copy, Debug)]
struct Pair<K, V>(K, V);

impl<K: FromStr, V: FromStr> FromStr for Pair<K, V> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=').and_then(|(key, value)| Some((key.parse().ok()?, value.parse().ok()?)));
        parts.map(|(key, value)| Self(key, value)).ok_or_else(|| format!("{text:?} is not as 4=10, 4=b or a=10"))
    }
}

/// `a` or `b`.
#[derive(Clone, Copy, Debug)]
struct Letter(Side);

impl FromStr for Letter {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text.to_ascii_lowercase().as_str() {
            "a" => Ok(Self(Side::A)),
            "b" => Ok(Self(Side::B)),
            _ => Err(()),
        }
    }
}

/// Runs `crokeye audit decide`.
///
/// # Errors
/// There is no such audit, picture or disc, or the decision cannot be kept.
pub(super) fn run(args: &DecideArgs) -> Result<ExitCode> {
    let results = args.dir.join("results.jsonl");
    let text = std::fs::read_to_string(&results)
        .with_context(|| format!("{} is no folder of an audit: {}", args.dir.display(), results.display()))?;
    let picture = find(&text, &args.picture)?;
    let changes = changes(args, &picture)?;
    ensure!(!changes.is_empty(), "nothing was decided: say --disc 4=10, --accept, ... (`crokeye audit decide --help`)");
    let folder = Folder::open(&args.dir)?;
    let mut decisions = folder.decisions()?;
    let user = || std::env::var("USER").ok().filter(|user| !user.is_empty());
    let author = args.author.clone().or_else(user).unwrap_or_else(|| "somebody".to_owned());
    let name = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
    for change in changes {
        decisions.decisions.push(Decision {
            picture: name(picture["source"].as_str().unwrap_or_default()),
            sha256: picture["audit"]["sha256"].as_str().unwrap_or_default().to_owned(),
            change,
            author: author.clone(),
            at: Timestamp::now(),
            reason: args.reason.clone(),
        });
    }
    folder.keep_decisions(&decisions)?;
    if !args.quiet {
        outln!("Kept in {}.", args.dir.join("decisions.json").display());
    }
    refresh(args, &folder)
}

/// The one picture of that name: its line of results.
fn find(results: &str, wanted: &str) -> Result<Value> {
    let all = results.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>().context("results.jsonl")?;
    let source = |picture: &Value| picture["source"].as_str().unwrap_or_default().to_owned();
    let paths: Vec<String> = all.iter().map(source).collect();
    let mut named: Vec<Value> = matching::named(&paths, wanted).into_iter().map(|at| all[at].clone()).collect();
    named.dedup_by(|a, b| a["audit"]["sha256"] == b["audit"]["sha256"]);
    match (named.pop(), named.len()) {
        (None, _) => bail!("there is no picture {wanted:?} in this audit"),
        (Some(picture), 0) => Ok(picture),
        (Some(_), more) => bail!("{} pictures are called {wanted:?}: write their folder too", more + 1),
    }
}

fn changes(args: &DecideArgs, picture: &Value) -> Result<Vec<Change>> {
    let place = |id: u32| -> Result<[f64; 2]> {
        let discs = picture["discs"].as_array().map(Vec::as_slice).unwrap_or_default();
        let disc = discs.iter().find(|disc| disc["id"] == id);
        let disc = disc.with_context(|| format!("there is no disc {id}: the picture has {}", discs.len()))?;
        serde_json::from_value(disc["base_mm"].clone()).context("results.jsonl")
    };
    let mut out = Vec::new();
    for Pair(disc, value) in &args.disc {
        is_value(*value)?;
        out.push(Change::Value { disc: *disc, at_mm: place(*disc)?, value: *value });
    }
    for Pair(disc, Letter(side)) in &args.owner {
        out.push(Change::Owner { disc: *disc, at_mm: place(*disc)?, side: *side });
    }
    for disc in &args.no_disc {
        out.push(Change::NoDisc { disc: *disc, at_mm: place(*disc)? });
    }
    for Pair(Letter(side), value) in &args.missed {
        is_value(*value)?;
        out.push(Change::Missed { side: *side, value: *value });
    }
    if args.accept {
        out.push(Change::Accept);
    }
    if args.withdraw {
        out.push(Change::Withdraw);
    }
    Ok(out)
}

/// The audit's own command line.
#[derive(Parser)]
struct Again {
    #[command(flatten)]
    args: AuditArgs,
}

/// Brings the results up to date by the command that made them.
fn refresh(args: &DecideArgs, folder: &Folder) -> Result<ExitCode> {
    let Some(Called { folder: place, arguments }) = folder.called() else { return Ok(ExitCode::SUCCESS) };
    let out = std::path::absolute(&args.dir).context("the folder of the audit")?;
    // The program's name and `audit` stand before the rest.
    let mut again = Again::try_parse_from(std::iter::once("audit").chain(arguments.iter().skip(2).map(String::as_str)))
        .context("the audit cannot be repeated: run it again to see the decision in the report")?
        .args;
    std::env::set_current_dir(&place).with_context(|| format!("the folder of the audit, {}", place.display()))?;
    again.out = out;
    again.decisions = None;
    again.watch = false;
    again.json = false;
    again.quiet = true;
    once(&again, folder, &there(&again)?)?;
    if !args.quiet {
        outln!("The results are up to date: {}", again.out.join("report.html").display());
    }
    Ok(ExitCode::SUCCESS)
}
