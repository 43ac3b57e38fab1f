//! `crokeye rules`: the published rule sets side by side, one with its sources, and a check of one's own.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use comfy_table::{ContentArrangement, Table};
use crokeye::score::rules::{BUILTIN, Mark, RuleSet};
use serde_json::json;

use super::files;
use super::out::{outln, table};

/// Columns of sets beside each other; more do not fit a terminal.
const SETS_BESIDE: usize = 4;

/// Compare the published rule sets, see where each rule comes from, check a house set.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  crokeye rules                       all sets side by side\n  \
                        crokeye rules list nca wcc          two of them\n  \
                        crokeye rules show hilinski         one, with sources and what it leaves open\n  \
                        crokeye rules check house.toml      is my own file right?\n\n\
                        A house set may build on a published one:\n  \
                        name = \"house\"\n  title = \"Our kitchen\"\n  extends = \"nca\"\n  sources = [\"agreed at the table\"]\n  \
                        [parameters]\n  discs_singles = { value = 12, source = \"we own 12\" }")]
pub struct RulesArgs {
    #[command(subcommand)]
    command: Option<RulesCommand>,
    /// Print JSON, one object a line.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand, Debug)]
enum RulesCommand {
    /// Sets side by side; an entry in brackets is the default taken where the text is silent.
    List {
        /// Names of the sets; all when none is given.
        names: Vec<String>,
    },
    /// One set with the source of every value.
    Show {
        /// Name of a set, or a file.
        name: String,
    },
    /// Check a rule file of one's own.
    Check {
        /// The file.
        file: PathBuf,
    },
}

/// Runs `crokeye rules`.
///
/// # Errors
/// A set or file cannot be read.
pub fn run(args: &RulesArgs) -> Result<ExitCode> {
    match &args.command {
        None => list(&[], args.json)?,
        Some(RulesCommand::List { names }) => list(names, args.json)?,
        Some(RulesCommand::Show { name }) => show(&load(name)?, args.json)?,
        Some(RulesCommand::Check { file }) => {
            let set = load_file(file)?;
            let (_, taken) = set.settle()?;
            if args.json {
                outln!(
                    "{}",
                    json!({ "schema": "crokeye.rules/1", "name": set.name, "ok": true, "defaults_taken": taken })
                );
            } else {
                outln!("{}: {} is a rule set that can be played.", file.display(), set.name);
                if !taken.is_empty() {
                    outln!("It leaves open, and a match would take:");
                    for taken in taken {
                        outln!("  {} = {}  ({})", taken.parameter, taken.value, taken.reason);
                    }
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A set by name, or a rule file by its path.
///
/// # Errors
/// It is neither, or the file is wrong.
pub fn load(name: &str) -> Result<RuleSet> {
    if name.ends_with(".toml") { load_file(Path::new(name)) } else { Ok(RuleSet::builtin(name)?) }
}

/// Largest rule set: the longest of ours has 3 kB.
const MOST_RULE_BYTES: u64 = 1 << 20;

fn load_file(file: &Path) -> Result<RuleSet> {
    let bytes = files::whole(file, MOST_RULE_BYTES)?;
    let text = String::from_utf8(bytes).with_context(|| format!("{} is no text", file.display()))?;
    Ok(RuleSet::parse(&file.display().to_string(), &text)?)
}

fn list(names: &[String], json: bool) -> Result<()> {
    let names: Vec<String> =
        if names.is_empty() { BUILTIN.iter().map(|(name, _)| (*name).to_owned()).collect() } else { names.to_vec() };
    let sets = names.iter().map(|name| load(name)).collect::<Result<Vec<_>>>()?;
    if json {
        for set in &sets {
            print_json(set)?;
        }
        return Ok(());
    }
    // As many sets beside each other as fit without breaking words.
    let mut rest = sets.as_slice();
    while !rest.is_empty() {
        let mut count = rest.len().min(SETS_BESIDE);
        let mut table = beside(&rest[..count])?;
        while count > 1 && natural_width(&table) > table.width().unwrap_or(u16::MAX).into() {
            count -= 1;
            table = beside(&rest[..count])?;
        }
        outln!("{table}\n");
        rest = &rest[count..];
    }
    outln!("[in brackets]: the text is silent; a match takes this unless told otherwise (`crokeye match new --set`).");
    outln!("Sources: `crokeye rules show NAME`. first-to takes its end in the name: first-to-7, first-to-5-by-2.");
    Ok(())
}

fn beside(sets: &[RuleSet]) -> Result<Table> {
    let mut table = table();
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(std::iter::once("parameter").chain(sets.iter().map(|set| set.name.as_str())));
    let rows = sets.iter().map(RuleSet::rows).collect::<Result<Vec<_>, _>>()?;
    for at in 0..rows[0].len() {
        let cells = rows.iter().map(|rows| match (&rows[at].value, &rows[at].default) {
            (Some(value), _) => value.clone(),
            (None, Some(default)) => format!("[{default}]"),
            (None, None) => "-".to_owned(),
        });
        table.add_row(std::iter::once(rows[0][at].name.to_owned()).chain(cells));
    }
    Ok(table)
}

fn natural_width(table: &Table) -> usize {
    table.lines().map(|line| line.trim_end().chars().count()).max().unwrap_or(0)
}

fn show(set: &RuleSet, json: bool) -> Result<()> {
    if json {
        return print_json(set);
    }
    outln!("{}: {}", set.name, set.title);
    for source in &set.sources {
        outln!("  {source}");
    }
    for row in set.rows()? {
        let value = match (&row.value, &row.default) {
            (Some(value), _) => value.clone(),
            (None, default) => format!("not said [{}]", default.as_deref().unwrap_or("-")),
        };
        let mark = match row.mark {
            Some(Mark::P) => "  (text read)",
            Some(Mark::Second) => "  (as quoted by others)",
            Some(Mark::D) => "  (derived)",
            Some(Mark::House) => "  (house rule)",
            None => "",
        };
        outln!("\n{} = {value}\n    {}\n    {}{mark}", row.name, row.about, row.source);
    }
    outln!("\nnot said [x]: the text is silent; a match takes x unless told otherwise with --set PARAMETER=VALUE.");
    Ok(())
}

fn print_json(set: &RuleSet) -> Result<()> {
    let object = json!({
        "schema": "crokeye.rules/1",
        "name": set.name,
        "title": set.title,
        "sources": set.sources,
        "parameters": set.rows()?,
    });
    outln!("{object}");
    Ok(())
}
