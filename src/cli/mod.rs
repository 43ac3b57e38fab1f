//! The command line: one file a subcommand. Only this module prints.

pub mod audit;
pub mod calibrate;
pub mod completions;
pub mod config;
pub mod count;
pub mod db;
pub mod files;
pub mod man;
pub mod match_log;
pub mod out;
pub mod parallel;
pub mod rules;
pub mod serve;
pub mod snap;
pub mod watch;
