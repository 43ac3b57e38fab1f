//! `results.xlsx`: pictures, discs and what the sheet leaves over, one tab each.

use rust_xlsxwriter::{Color, DocProperties, ExcelDateTime, Format, Workbook, Worksheet};

use super::OutputError;
use super::tables::{self, Cell, Sheet};
use crate::audit::Audit;

/// Makes the workbook. It carries no time of its making: the same audit gives the same bytes.
///
/// # Errors
/// A cell holds more than a workbook can.
pub fn bytes(audit: &Audit) -> Result<Vec<u8>, OutputError> {
    let mut book = Workbook::new();
    let long_ago = ExcelDateTime::from_ymd(2000, 1, 1)?;
    book.set_properties(&DocProperties::new().set_creation_datetime(&long_ago));
    fill(book.add_worksheet().set_name("Pictures")?, &tables::pictures(audit), Some(1))?;
    fill(book.add_worksheet().set_name("Discs")?, &tables::discs(audit), None)?;
    let left: Vec<Vec<Cell>> = left_over(audit)
        .into_iter()
        .map(|(row, reason)| vec![Cell::Number(row as f64), Cell::Text(reason.to_owned())])
        .collect();
    fill(book.add_worksheet().set_name("Rows left over")?, &Sheet { header: vec!["row", "reason"], rows: left }, None)?;
    Ok(book.save_to_buffer()?)
}

/// Rows of the sheet that belong to no picture or cannot be used.
fn left_over(audit: &Audit) -> Vec<(usize, &str)> {
    let faults = audit.faults.iter().map(|fault| (fault.row, fault.reason.as_str()));
    let mut rows: Vec<(usize, &str)> =
        audit.unmatched.iter().map(|(row, reason)| (*row, reason.as_str())).chain(faults).collect();
    rows.sort_unstable();
    rows
}

/// Most characters that a cell of a workbook holds.
const MOST_CHARACTERS: usize = 32_000;

fn fill(sheet: &mut Worksheet, table: &Sheet, coloured: Option<usize>) -> Result<(), OutputError> {
    let bold = Format::new().set_bold();
    for (column, title) in table.header.iter().enumerate() {
        sheet.write_with_format(0, column as u16, *title, &bold)?;
    }
    let fill = |rgb: u32| Format::new().set_background_color(Color::RGB(rgb));
    let (red, yellow, green) = (fill(0xf8cbc6), fill(0xfbe9b7), fill(0xd3ecd3));
    for (row, cells) in (1..).zip(&table.rows) {
        for (at, cell) in cells.iter().enumerate() {
            let column = at as u16;
            match cell {
                Cell::Text(text) if coloured == Some(at) => {
                    let format = match text.as_str() {
                        "disagrees" => &red,
                        "agrees" => &green,
                        _ => &yellow,
                    };
                    sheet.write_with_format(row, column, text, format)?;
                }
                Cell::Text(text) => {
                    let short: String = text.chars().take(MOST_CHARACTERS).collect();
                    sheet.write(row, column, short)?;
                }
                Cell::Number(number) => {
                    sheet.write(row, column, *number)?;
                }
                Cell::Empty => {}
            }
        }
    }
    sheet.set_freeze_panes(1, 1)?;
    sheet.set_column_width(0, 32)?;
    if !table.rows.is_empty() {
        sheet.autofilter(0, 0, table.rows.len() as u32, table.header.len().saturating_sub(1) as u16)?;
    }
    Ok(())
}
