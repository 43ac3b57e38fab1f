//! The counts as people read them: a table, and below it what needs their eyes.

use std::io::{self, Write};

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table};
use crokeye::count::report::{Report, SideTotal, Status};

/// Prints the table, then the reasons photo by photo.
pub(super) fn print(reports: &[Report], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", table(reports))?;
    for report in reports.iter().filter(|report| report.status != Status::Counted) {
        writeln!(out, "\n{}", report.source)?;
        if let Some(error) = &report.error {
            writeln!(out, "  {error}")?;
        }
        for entry in &report.review {
            writeln!(out, "  {}", entry.sentence(&report.sides))?;
        }
    }
    Ok(())
}

fn table(reports: &[Report]) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    let head = ["photo", "", "20", "15", "10", "5", "0", "aside", "total", ""];
    table.set_header(head.map(|word| Cell::new(word).add_attribute(Attribute::Bold)));
    for report in reports {
        let status = status(report.status);
        if report.sides.is_empty() {
            let mut row = vec![Cell::new(&report.source)];
            row.extend((0..8).map(|_| Cell::new("")));
            row.push(status);
            table.add_row(row);
            continue;
        }
        // One row with two lines a cell keeps a photo together.
        let lines = |cell: &dyn Fn(&SideTotal) -> String| report.sides.iter().map(cell).collect::<Vec<_>>().join("\n");
        let number = |cell: &dyn Fn(&SideTotal) -> u32| {
            let shown = |n: u32| if n == 0 { "·".to_owned() } else { n.to_string() };
            Cell::new(lines(&|side| shown(cell(side)))).set_alignment(CellAlignment::Right)
        };
        let totals = lines(&|side| side.total.to_string());
        table.add_row(vec![
            Cell::new(&report.source),
            Cell::new(lines(&|side| side.name().to_owned())),
            number(&|side| side.count.twenty),
            number(&|side| side.count.fifteen),
            number(&|side| side.count.ten),
            number(&|side| side.count.five),
            number(&|side| side.count.out),
            number(&|side| side.set_aside),
            Cell::new(totals).set_alignment(CellAlignment::Right).add_attribute(Attribute::Bold),
            status,
        ]);
    }
    table
}

fn status(status: Status) -> Cell {
    match status {
        Status::Counted => Cell::new("counted").fg(Color::Green),
        Status::Review => Cell::new("review").fg(Color::Yellow),
        Status::NoBoard => Cell::new("no board").fg(Color::Yellow),
        Status::Error => Cell::new("error").fg(Color::Red),
    }
}
