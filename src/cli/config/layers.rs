//! What is chosen, in layers: what nothing else is said about, the file, the environment, flags; the later wins.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, Command, FromArgMatches};
use crokeye::service::connectors::settings::Secret;
use serde::Serialize;
use toml::{Table, Value};

use super::choices::{Choices, House};

/// What may be said on the command line.
#[derive(Args, Clone, Debug, Default)]
pub struct Flags {
    /// The configuration [default: $CROKEYE_CONFIG, else the place that `crokeye config` tells, if there is one].
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    #[command(flatten)]
    pub house: House,

    #[command(flatten)]
    pub board: Choices,
}

/// What holds, and who said so.
#[derive(Clone, Debug)]
pub struct Effective {
    /// Every choice; only what has no default may be None.
    pub house: House,
    /// Who said so, by key: `port`, `board.0.source`.
    pub origins: BTreeMap<String, String>,
    /// The file that was read.
    pub file: Option<PathBuf>,
    /// The same as a table.
    pub table: Table,
}

impl Effective {
    /// Reads file and environment and puts the flags over them.
    ///
    /// # Errors
    /// A file cannot be read, or something in it, in a variable or in the flags is none of what there is.
    pub fn read(flags: &Flags) -> Result<Self> {
        let environment = environment(|name| std::env::var_os(name))?;
        let named = flags.config.clone().or_else(|| environment.config.clone());
        let file = match named {
            Some(path) => Some(path),
            None => usual_place().filter(|path| path.exists()),
        };
        let text = match &file {
            Some(path) => std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?,
            None => String::new(),
        };
        Self::of(file, &text, &environment, flags)
    }

    fn of(file: Option<PathBuf>, text: &str, environment: &Flags, flags: &Flags) -> Result<Self> {
        let path = file.as_deref().unwrap_or(Path::new(""));
        let from_file = path.display().to_string();
        let mut given: House = toml::from_str(text).with_context(|| format!("{from_file} is not understood"))?;
        beside(path, &mut given);
        let mut layers = Layers::default();
        layers.lay("", &House { board: Vec::new(), ..defaults() }, |_| "default".to_owned())?;
        let boards = std::mem::take(&mut given.board);
        layers.lay("", &given, |_| from_file.clone())?;
        layers.lay("", &environment.house, variable)?;
        layers.lay("", &flags.house, flag)?;
        let several = boards.len() > 1;
        let boards = if boards.is_empty() { vec![Choices::default()] } else { boards };
        for (at, board) in boards.iter().enumerate() {
            let prefix = format!("board.{at}.");
            layers.lay(&prefix, &of_board(at), |_| "default".to_owned())?;
            layers.lay(&prefix, board, |_| from_file.clone())?;
            for (said, origin) in [(&environment.board, variable as fn(&str) -> String), (&flags.board, flag)] {
                if let Some(key) = table(said)?.keys().next().filter(|_| several) {
                    bail!("{} is for a single board, and {from_file} has {}: say it there", origin(key), boards.len());
                }
                layers.lay(&prefix, said, origin)?;
            }
        }
        let Layers { table, origins } = layers;
        let house = table.clone().try_into().context("the configuration is not understood")?;
        Ok(Self { house, origins, file, table })
    }

    /// Who said this: what lies deeper in a section comes from where the section does.
    pub fn origin(&self, key: &str) -> &str {
        let wider = std::iter::successors(Some(key), |key| key.rsplit_once('.').map(|(wider, _)| wider));
        wider.filter_map(|key| self.origins.get(key)).next().map_or("the configuration", String::as_str)
    }
}

/// Choices one over the other.
#[derive(Default)]
struct Layers {
    table: Table,
    origins: BTreeMap<String, String>,
}

impl Layers {
    /// Lays choices over those below; `prefix` says whose they are: nothing, or `board.N.`.
    fn lay(&mut self, prefix: &str, choices: &impl Serialize, origin: impl Fn(&str) -> String) -> Result<()> {
        let whose = match prefix.trim_end_matches('.').rsplit_once('.') {
            None => &mut self.table,
            Some((name, at)) => {
                let list = self.table.entry(name).or_insert_with(|| Value::Array(Vec::new()));
                let (Value::Array(list), Ok(at)) = (list, at.parse::<usize>()) else { bail!("{name} is no list") };
                if list.len() <= at {
                    list.push(Value::Table(Table::new()));
                }
                list.get_mut(at).and_then(Value::as_table_mut).with_context(|| format!("{name} is no list"))?
            }
        };
        for (key, value) in table(choices)? {
            self.origins.insert(format!("{prefix}{key}"), origin(&key));
            whose.insert(key, value);
        }
        Ok(())
    }
}

fn table(choices: &impl Serialize) -> Result<Table> {
    Table::try_from(choices).context("a choice that cannot be written as TOML")
}

/// What holds where nothing is said.
fn defaults() -> House {
    House {
        listen: Some(std::net::Ipv4Addr::LOCALHOST.into()),
        port: Some(8080),
        public_scoreboard: Some(false),
        auto_accept: Some(false),
        ..House::default()
    }
}

fn of_board(at: usize) -> Choices {
    Choices {
        id: Some((at + 1).to_string()),
        speed: Some(1.0),
        close_level: Some(0.001),
        quiet: Some(60.0),
        ..Choices::default()
    }
}

/// The variable of a choice.
fn variable(key: &str) -> String {
    format!("CROKEYE_{}", key.to_uppercase().replace('-', "_"))
}

/// The flag of a choice.
fn flag(key: &str) -> String {
    format!("--{}", key.replace('_', "-"))
}

/// What the environment says, read as flags are. `CROKEYE_CALIBRATION` is older and names the folder of calibrations.
fn environment(read: impl Fn(&str) -> Option<OsString>) -> Result<Flags> {
    let command = Flags::augment_args(Command::new("crokeye").no_binary_name(true));
    let mut said: Vec<OsString> = Vec::new();
    for name in command.get_arguments().filter_map(|argument| argument.get_long()).filter(|name| *name != "calibration")
    {
        let Some(value) = read(&variable(name)).filter(|value| !value.is_empty()) else { continue };
        let mut one = OsString::from(format!("--{name}="));
        one.push(value);
        if let Err(error) = command.clone().try_get_matches_from([&one]) {
            let reason = error.to_string();
            let reason = reason.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            bail!("{}: {reason}", variable(name));
        }
        said.push(one);
    }
    Ok(Flags::from_arg_matches(&command.try_get_matches_from(said)?)?)
}

/// Paths in a file are meant from where it lies.
fn beside(file: &Path, given: &mut House) {
    let folder = file.parent().unwrap_or(Path::new(""));
    for path in [&mut given.db, &mut given.password_file].into_iter().flatten() {
        *path = folder.join(&path);
    }
    for secret in given.secrets() {
        if let Secret::File { file } = secret {
            *file = folder.join(&file);
        }
    }
    for source in given.board.iter_mut().filter_map(|board| board.source.as_mut()) {
        let there = folder.join(&*source);
        if there.exists() {
            *source = there.display().to_string();
        }
    }
}

/// Where a configuration usually lies; None where the environment names no such place.
pub fn usual_place() -> Option<PathBuf> {
    let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = if cfg!(windows) {
        given("APPDATA")
    } else if cfg!(target_os = "macos") {
        given("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        given("XDG_CONFIG_HOME").or_else(|| given("HOME").map(|home| home.join(".config")))
    };
    folder.map(|folder| folder.join("crokeye").join("crokeye.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "port = 9000\npassword_file = 'p'\n[[board]]\nsource = 'sample'\nfps = 25\n";

    fn flags(said: &[&str]) -> Flags {
        let command = Flags::augment_args(Command::new("crokeye").no_binary_name(true));
        Flags::from_arg_matches(&command.get_matches_from(said)).unwrap()
    }

    fn of(text: &str, variables: &[(&str, &str)], said: &[&str]) -> Result<Effective> {
        let read = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        Effective::of(Some("/etc/crokeye.toml".into()), text, &environment(read)?, &flags(said))
    }

    #[test]
    fn the_file_is_laid_over_defaults_the_environment_over_it_and_flags_over_all() {
        let all = of(FILE, &[("CROKEYE_PORT", "9100"), ("CROKEYE_SPEED", "2")], &["--speed", "3"]).unwrap();
        let board = &all.house.board[0];
        assert_eq!((all.house.port, board.speed, board.fps), (Some(9100), Some(3.0), Some(25.0)));
        assert_eq!(all.house.password_file.as_deref(), Some(Path::new("/etc/p")));
        let origins = ["listen", "password_file", "port", "board.0.fps", "board.0.speed", "board.0.id"];
        let origins = origins.map(|key| all.origin(key));
        assert_eq!(
            origins,
            ["default", "/etc/crokeye.toml", "CROKEYE_PORT", "/etc/crokeye.toml", "--speed", "default"]
        );
    }

    #[test]
    fn without_a_file_there_is_one_board_and_flags_speak_of_it() {
        let all = of("", &[], &["--source", "0", "--auto-accept"]).unwrap();
        assert_eq!(all.house.auto_accept, Some(true));
        assert_eq!((all.house.board.len(), all.house.board[0].source.as_deref()), (1, Some("0")));
        assert_eq!(of("", &[], &["--auto-accept=off"]).unwrap().house.auto_accept, Some(false));
    }

    #[test]
    fn what_is_none_is_refused_with_its_place() {
        let error = |text: &str, variables: &[(&str, &str)], said: &[&str]| {
            format!("{:#}", of(text, variables, said).unwrap_err())
        };
        let unknown = error("prot = 1", &[], &[]);
        assert!(
            unknown.contains("/etc/crokeye.toml") && unknown.contains("prot") && unknown.contains("port"),
            "{unknown}"
        );
        let inside = error("[[board]]\nfsp = 1", &[], &[]);
        assert!(inside.contains("fsp") && inside.contains("line 2"), "{inside}");
        let variable = error("", &[("CROKEYE_PORT", "many")], &[]);
        assert!(variable.starts_with("CROKEYE_PORT: invalid value 'many'"), "{variable}");
        let two = format!("{FILE}[[board]]\nsource = '1'\n");
        assert!(error(&two, &[], &["--source", "2"]).starts_with("--source is for a single board"));
        assert!(error(&two, &[("CROKEYE_FPS", "2")], &[]).starts_with("CROKEYE_FPS is for a single board"));
    }
}
