//! `results.csv` and `discs.csv`: a line a picture, a line a disc; and the same tables for the workbook.

use std::io::Write;

use super::{OutputError, status_name};
use crate::audit::item::Item;
use crate::audit::{Audit, compare::Remark};
use crate::board::{Side, State};
use crate::count::report::{Disc, SideTotal};

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number.
    Number(f64),
    /// Nothing.
    Empty,
}

/// A table with titles.
pub struct Sheet {
    /// Titles.
    pub header: Vec<&'static str>,
    /// Rows, as long as the titles.
    pub rows: Vec<Vec<Cell>>,
}

impl Sheet {
    /// Writes it as CSV.
    ///
    /// # Errors
    /// The writer's.
    pub fn write_csv(&self, out: impl Write) -> Result<(), OutputError> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(&self.header)?;
        for row in &self.rows {
            writer.write_record(row.iter().map(|cell| match cell {
                Cell::Text(text) => text.clone(),
                Cell::Number(number) => number.to_string(),
                Cell::Empty => String::new(),
            }))?;
        }
        Ok(writer.flush()?)
    }
}

const PICTURES: [&str; 36] = [
    "picture",
    "verdict",
    "status",
    "row",
    "a_colour",
    "b_colour",
    "a_total",
    "b_total",
    "a_sheet",
    "b_sheet",
    "a_difference",
    "b_difference",
    "a_aside",
    "b_aside",
    "a_20",
    "a_15",
    "a_10",
    "a_5",
    "a_0",
    "b_20",
    "b_15",
    "b_10",
    "b_5",
    "b_0",
    "close_discs",
    "open",
    "remarks",
    "decided",
    "decided_by",
    "double",
    "pooled",
    "taken",
    "width_px",
    "height_px",
    "error",
    "sha256",
];

/// A line a picture.
pub fn pictures(audit: &Audit) -> Sheet {
    Sheet { header: PICTURES.to_vec(), rows: audit.items.iter().map(picture).collect() }
}

fn picture(item: &Item) -> Vec<Cell> {
    let (report, about) = (&item.report, &item.audit);
    let comparison = &about.comparison;
    let side = |side: Side| report.sides.iter().find(|total| total.side == side);
    let sides = [side(Side::A), side(Side::B)];
    let of_side = |cell: &dyn Fn(&SideTotal) -> Cell| sides.map(|side| side.map_or(Cell::Empty, cell));
    let pair =
        |pair: Option<[i64; 2]>| pair.map_or([Cell::Empty, Cell::Empty], |pair| pair.map(|n| Cell::Number(n as f64)));
    let wide = |numbers: [u32; 2]| numbers.map(i64::from);
    let difference = comparison.counted.zip(comparison.claimed).map(|(counted, claimed)| {
        let (counted, claimed) = (wide(counted), wide(claimed));
        [claimed[0] - counted[0], claimed[1] - counted[1]]
    });
    let open: Vec<String> = report.review.iter().map(|doubt| doubt.sentence(&report.sides)).collect();
    let remarks: Vec<String> = comparison.remarks.iter().map(sentence).collect();
    let decided: Vec<String> = about.decided.iter().map(|id| format!("#{id}")).collect();
    let mut authors: Vec<&str> = about.decisions.iter().map(|decision| decision.author.as_str()).collect();
    authors.dedup();
    let mut row = vec![
        text(&report.source),
        text(comparison.verdict.name()),
        text(status_name(report.status)),
        about.row.map_or(Cell::Empty, number),
    ];
    row.extend(of_side(&|side| text(side.name())));
    row.extend(pair(comparison.counted.map(wide)));
    row.extend(pair(comparison.claimed.filter(|_| about.row.is_some()).map(wide)));
    row.extend(pair(difference));
    row.extend(pair(about.row.map(|_| wide(comparison.set_aside))));
    for total in sides {
        let count = total.map(|total| total.count);
        let numbers = count.map(|count| [count.twenty, count.fifteen, count.ten, count.five, count.out]);
        row.extend(numbers.map_or([const { Cell::Empty }; 5], |numbers| numbers.map(|n| Cell::Number(n.into()))));
    }
    row.extend([
        number(report.discs.iter().filter(|disc| disc.close).count()),
        text(&open.join("; ")),
        text(&remarks.join("; ")),
        text(&decided.join(" ")),
        text(&authors.join(", ")),
        about.double.map_or(Cell::Empty, |group| number(group + 1)),
        number(about.pooled),
        about.taken.map_or(Cell::Empty, |taken| text(&taken.strftime("%Y-%m-%d %H:%M:%S").to_string())),
        report.image.map_or(Cell::Empty, |size| Cell::Number(size.width.into())),
        report.image.map_or(Cell::Empty, |size| Cell::Number(size.height.into())),
        text(report.error.as_deref().unwrap_or_default()),
        text(&about.sha256),
    ]);
    row
}

/// A remark in words.
pub fn sentence(remark: &Remark) -> String {
    let letter = |side: &Side| if *side == Side::A { "a" } else { "b" };
    match remark {
        Remark::Exchanged => "the sheet's totals fit with the sides exchanged".to_owned(),
        Remark::OtherColours => "neither side has a colour that the sheet names".to_owned(),
        Remark::SetAside { side, count } => format!("{count} × 20 set aside would explain side {}", letter(side)),
        Remark::Impossible { side, total } => format!("no count of side {} gives {total}", letter(side)),
        Remark::MoreTwenties { side, seen, sheet } => {
            format!("20s of side {} in the hole: {seen}, in the sheet: {sheet}", letter(side))
        }
    }
}

const DISCS: [&str; 19] = [
    "picture",
    "disc",
    "side",
    "colour",
    "state",
    "value",
    "line",
    "margin_mm",
    "margin_sigma_mm",
    "close",
    "decided",
    "confidence",
    "visible",
    "x_mm",
    "y_mm",
    "x_px",
    "y_px",
    "radius_mm",
    "sha256",
];

/// A line a disc.
pub fn discs(audit: &Audit) -> Sheet {
    let rows = audit.items.iter().flat_map(|item| item.report.discs.iter().map(|found| disc(item, found)));
    Sheet { header: DISCS.to_vec(), rows: rows.collect() }
}

fn disc(item: &Item, disc: &Disc) -> Vec<Cell> {
    let yes = |is: bool| text(if is { "yes" } else { "no" });
    let side = match disc.side {
        Some(Side::A) => "a",
        Some(Side::B) => "b",
        None => "",
    };
    let state = match disc.state {
        State::Flat => "flat",
        State::InHole => "in_hole",
        State::Leaning => "leaning",
        State::Off => "off",
    };
    vec![
        text(&item.report.source),
        Cell::Number(disc.id.into()),
        text(side),
        text(&disc.colour.name),
        text(state),
        Cell::Number(disc.value.into()),
        disc.line.map_or(Cell::Empty, |line| text(line.name())),
        disc.margin_mm.map_or(Cell::Empty, Cell::Number),
        disc.margin_sigma_mm.map_or(Cell::Empty, Cell::Number),
        yes(disc.close),
        yes(item.audit.decided.contains(&disc.id)),
        Cell::Number(disc.confidence),
        Cell::Number(disc.visible),
        Cell::Number(disc.base_mm[0]),
        Cell::Number(disc.base_mm[1]),
        Cell::Number(disc.base_px[0]),
        Cell::Number(disc.base_px[1]),
        Cell::Number(disc.radius_mm),
        text(&item.audit.sha256),
    ]
}

fn text(text: &str) -> Cell {
    if text.is_empty() { Cell::Empty } else { Cell::Text(text.to_owned()) }
}

fn number(number: usize) -> Cell {
    Cell::Number(number as f64)
}
