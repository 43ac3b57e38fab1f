//! The command line: one file a subcommand. Only this module prints.

pub mod calibrate;
pub mod completions;
pub mod count;
pub mod db;
pub mod match_log;
pub mod out;
pub mod rules;
pub mod snap;
pub mod watch;
