//! Printing that a closed pipe (`crokeye rules | head`) does not turn into a crash, and the shape of tables.

use std::io::Write;

use comfy_table::{ContentArrangement, Table, TableComponent, presets};

/// Width of a table when stdout is no terminal and `COLUMNS` does not say.
const PIPED_WIDTH: u16 = 120;

/// Prints a line. A reader that went away ends the program quietly, as it ends `cat`.
pub fn line(text: std::fmt::Arguments) {
    let mut out = std::io::stdout().lock();
    if let Err(error) = writeln!(out, "{text}") {
        let quiet = error.kind() == std::io::ErrorKind::BrokenPipe;
        std::process::exit(if quiet { 0 } else { 2 });
    }
}

/// `println!` through [`line`].
macro_rules! outln {
    ($($text:tt)*) => { $crate::cli::out::line(format_args!($($text)*)) };
}
pub(crate) use outln;

/// A table with its titles underlined and nothing else drawn.
pub fn table() -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_style(TableComponent::HeaderLines, '─').set_style(TableComponent::MiddleHeaderIntersections, '─');
    if !table.is_tty() {
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        table.set_width(columns.unwrap_or(PIPED_WIDTH));
    }
    table
}
