//! The program: parse, dispatch, exit status.

mod cli;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use tracing_subscriber::EnvFilter;

/// Point a camera at a crokinole board, and the round counts itself.
#[derive(Parser, Debug)]
#[command(version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Count(cli::count::CountArgs),
    Audit(cli::audit::AuditArgs),
    Watch(cli::watch::WatchArgs),
    Serve(cli::serve::ServeArgs),
    Config(cli::config::ConfigArgs),
    Calibrate(cli::calibrate::CalibrateArgs),
    Snap(cli::snap::SnapArgs),
    Rules(cli::rules::RulesArgs),
    Match(cli::match_log::MatchArgs),
    Db(cli::db::DbArgs),
    Completions(cli::completions::CompletionsArgs),
    Man(cli::man::ManArgs),
}

fn main() -> ExitCode {
    warn_on_stderr();
    let done = match &Arguments::parse().command {
        Command::Count(args) => cli::count::run(args),
        Command::Audit(args) => cli::audit::run(args),
        Command::Watch(args) => cli::watch::run(args),
        Command::Serve(args) => cli::serve::run(args),
        Command::Config(args) => cli::config::run(args),
        Command::Calibrate(args) => cli::calibrate::run(args),
        Command::Snap(args) => cli::snap::run(args),
        Command::Rules(args) => cli::rules::run(args),
        Command::Match(args) => cli::match_log::run(args),
        Command::Db(args) => cli::db::run(args),
        Command::Completions(args) => cli::completions::run(args, Arguments::command()),
        Command::Man(args) => cli::man::run(args, Arguments::command()),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}

/// What a person should act on is told on stderr; `CROKEYE_LOG=crokeye=debug` tells more.
fn warn_on_stderr() {
    let filter = EnvFilter::try_from_env("CROKEYE_LOG").unwrap_or_else(|_| EnvFilter::new("crokeye=warn"));
    tracing_subscriber::fmt()
        .with_ansi(std::io::stderr().is_terminal())
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .without_time()
        .with_target(false)
        .init();
}
