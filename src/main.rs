//! The program: parse, dispatch, exit status.

mod cli;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Point a camera at a crokinole board, and the round counts itself.
#[derive(Parser, Debug)]
#[command(version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Rules(cli::rules::RulesArgs),
    Match(cli::match_log::MatchArgs),
    Db(cli::db::DbArgs),
}

fn main() -> ExitCode {
    let done = match &Arguments::parse().command {
        Command::Rules(args) => cli::rules::run(args),
        Command::Match(args) => cli::match_log::run(args),
        Command::Db(args) => cli::db::run(args),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}
