//! `crokeye config`: what holds for the service, and who said so.

mod choices;
mod layers;
mod plan;

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use toml::{Table, Value};

pub use layers::{Effective, Flags};
pub use plan::{Plan, plans};

use super::out::outln;
use super::serve::database;

/// A configuration with every choice explained, all of them commented out.
const EXAMPLE: &str = include_str!("../../../assets/crokeye.toml");
/// Endings of keys whose values are nobody's business.
const SECRET: [&str; 4] = ["password", "secret", "token", "api_key"];
/// Column of the remarks.
const REMARKS: usize = 44;

/// Print the configuration of `crokeye serve` and where each value comes from.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  crokeye config                        what holds now, as TOML; the remark behind a value says who said so
  crokeye config --config hall.toml --port 9000
  crokeye config --example > crokeye.toml

Flags win over variables (CROKEYE_PORT for --port), variables over the file, the file over what nothing is said about.
Secrets are not shown. Exit status: 0, or 2 where something is not understood.")]
pub struct ConfigArgs {
    /// Print a configuration in which every choice is explained.
    #[arg(long, exclusive = true)]
    example: bool,

    #[command(flatten)]
    flags: Flags,
}

/// Runs `crokeye config`.
///
/// # Errors
/// The configuration is not understood.
pub fn run(args: &ConfigArgs) -> Result<ExitCode> {
    if args.example {
        outln!("{}", EXAMPLE.trim_end());
        return Ok(ExitCode::SUCCESS);
    }
    let effective = Effective::read(&args.flags)?;
    let plans = plans(&effective)?;
    match (&effective.file, layers::usual_place()) {
        (Some(path), _) => outln!("# read from {}", path.display()),
        (None, Some(path)) => outln!("# no file at {}: crokeye config --example makes one", path.display()),
        (None, None) => outln!("# no file: name one with --config"),
    }
    if effective.house.db.is_none() {
        outln!("# database: {}", database(None, &plans)?.display());
    }
    for line in lines(&effective.table, "", &effective) {
        outln!("{line}");
    }
    Ok(ExitCode::SUCCESS)
}

/// A table as lines of TOML, each value with who said it: first values, then tables.
fn lines(table: &Table, prefix: &str, effective: &Effective) -> Vec<String> {
    let mut out = Vec::new();
    let mut after = Vec::new();
    for (key, value) in table {
        let path = format!("{prefix}{key}");
        match value {
            Value::Table(inner) => {
                // Elements of a list are named by the list: the latest is meant.
                let name: Vec<&str> = path.split('.').filter(|part| part.parse::<usize>().is_err()).collect();
                after.extend([String::new(), format!("[{}]", name.join("."))]);
                after.extend(lines(inner, &format!("{path}."), effective));
            }
            Value::Array(list) if list.iter().all(Value::is_table) && !list.is_empty() => {
                for (at, inner) in list.iter().filter_map(Value::as_table).enumerate() {
                    after.extend([String::new(), format!("[[{key}]]")]);
                    after.extend(lines(inner, &format!("{path}.{at}."), effective));
                }
            }
            _ if SECRET.iter().any(|secret| key.ends_with(secret)) => out.push(format!("# {key} is set and not shown")),
            value => {
                let line = format!("{key} = {}", shown(value));
                out.push(format!("{line:REMARKS$} # {}", effective.origin(&path)));
            }
        }
    }
    out.extend(after);
    out
}

/// A value without the password that an address may hold.
fn shown(value: &Value) -> Value {
    let Value::String(text) = value else { return value.clone() };
    let hidden = text.split_once("://").and_then(|(scheme, rest)| {
        let host = rest.find('/').unwrap_or(rest.len());
        let at = rest.get(..host)?.rfind('@')?;
        Some(format!("{scheme}://...@{}", rest.get(at + 1..)?))
    });
    Value::String(hidden.unwrap_or_else(|| text.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example with all that is commented out.
    fn uncommented() -> String {
        let is_choice =
            |line: &&str| line.starts_with("#[") || line.strip_prefix('#').is_some_and(|l| !l.starts_with(' '));
        EXAMPLE.lines().filter(is_choice).map(|line| format!("{}\n", line.trim_start_matches('#'))).collect()
    }

    #[test]
    fn the_example_says_nothing_as_it_is_and_names_every_choice() {
        assert!(toml::from_str::<Table>(EXAMPLE).unwrap().is_empty());
        let text = uncommented();
        let house: choices::House = toml::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let table: Table = toml::from_str(&text).unwrap();
        let named = |table: &Table, command: clap::Command| {
            for name in command.get_arguments().filter_map(|argument| argument.get_long()) {
                assert!(table.contains_key(&name.replace('-', "_")), "{name} is not in the example");
            }
        };
        named(&table, choices::House::augment_args(clap::Command::new("house")));
        let board = table["board"].as_array().unwrap()[0].as_table().unwrap().clone();
        named(&board, choices::Choices::augment_args(clap::Command::new("board")));
        assert!(house.board.len() > 1);
    }

    #[test]
    fn secrets_of_connectors_are_not_shown_and_where_they_come_from_is() {
        let text = "[[webhook]]\nname = 'hall'\nurl = 'http://me:hush@x/'\nsecret = 'whisper'\n\
                    [croki]\nurl = 'http://x/'\napi_key = { file = 'key' }\n[mqtt]\nhost = 'x'\npassword = 'hush'\n";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hall.toml");
        std::fs::write(&path, text).unwrap();
        let effective = Effective::read(&Flags { config: Some(path), ..Flags::default() }).unwrap();
        let shown = lines(&effective.table, "", &effective).join("\n");
        assert!(!shown.contains("hush") && !shown.contains("whisper"), "{shown}");
        let key = folder.path().join("key").display().to_string();
        assert!(shown.contains("[croki.api_key]") && shown.contains(&key), "{shown}");
        let connectors = effective.house.connectors();
        assert_eq!(connectors.webhook[0].secret.as_ref().unwrap().read().unwrap(), "whisper");
        assert_eq!(connectors.mqtt.unwrap().password.unwrap().read().unwrap(), "hush");
    }

    #[test]
    fn passwords_are_not_shown() {
        let value = |text: &str| shown(&Value::String(text.to_owned())).to_string();
        assert_eq!(value("rtsp://me:secret@cam/1"), "\"rtsp://...@cam/1\"");
        assert_eq!(value("http://cam/1?a=b@c"), "\"http://cam/1?a=b@c\"");
        assert_eq!(value("sample"), "\"sample\"");
    }
}
