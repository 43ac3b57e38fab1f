//! `crokeye man`: the manual, a page a subcommand.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Command};

/// Write the manual's pages into a folder.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  crokeye man ~/.local/share/man/man1      then: man crokeye, man crokeye-serve")]
pub struct ManArgs {
    /// The folder; it is made where there is none.
    folder: PathBuf,
}

/// Runs `crokeye man` for the whole command line `program`.
///
/// # Errors
/// The folder cannot be written.
pub fn run(args: &ManArgs, program: Command) -> Result<ExitCode> {
    let failed = || format!("writing the manual into {}", args.folder.display());
    std::fs::create_dir_all(&args.folder).with_context(failed)?;
    clap_mangen::generate_to(program, &args.folder).with_context(failed)?;
    Ok(ExitCode::SUCCESS)
}
