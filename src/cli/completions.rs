//! `crokeye completions`: what a shell needs to complete the command line.

use std::io;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Command};
use clap_complete::Shell;

/// Print completions for a shell.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  crokeye completions bash > ~/.local/share/bash-completion/completions/crokeye
  crokeye completions zsh > ~/.zfunc/_crokeye
  crokeye completions fish > ~/.config/fish/completions/crokeye.fish")]
pub struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// Runs `crokeye completions` for the whole command line `program`.
///
/// # Errors
/// None; the signature is that of every subcommand.
pub fn run(args: &CompletionsArgs, mut program: Command) -> Result<ExitCode> {
    clap_complete::generate(args.shell, &mut program, "crokeye", &mut io::stdout());
    Ok(ExitCode::SUCCESS)
}
