//! Reads a sheet of typed scores: a CSV file or a workbook to a table of texts.
//!
//! In: the bytes of the file. Out: a [`Table`]. What the columns mean is read in [`super::columns`]. A spreadsheet program
//! of a French or German desk writes semicolons and Windows' letters; both are read as they are meant.

use std::io::Cursor;

use calamine::{Data, Reader, Xlsx};
use jiff::Span;
use jiff::civil::{Date, Time};

/// Cells that are looked at: a season has some thousand rows.
const MOST_CELLS: usize = 5_000_000;

/// A table of texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Titles of the columns.
    pub header: Vec<String>,
    /// The rows beneath, each with its number in the file (the header is row 1 where it stands first).
    pub rows: Vec<(usize, Vec<String>)>,
}

/// Why a sheet cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SheetError {
    /// Not a CSV file.
    #[error("the sheet cannot be read as CSV: {0}")]
    Csv(#[from] csv::Error),
    /// Not a workbook.
    #[error("the workbook cannot be read: {0}: save it as XLSX or CSV")]
    Workbook(String),
    /// An older or another format.
    #[error("the sheet is neither CSV nor XLSX: save it as one of these")]
    OtherFormat,
    /// More than any season has.
    #[error("the sheet has more than {MOST_CELLS} cells: give only the scores")]
    TooLarge,
    /// No row.
    #[error("the sheet is empty: its first row must name the columns, e.g. picture,a,b")]
    Empty,
}

impl Table {
    /// Reads a CSV file or a workbook, by its content.
    ///
    /// # Errors
    /// See [`SheetError`].
    pub fn read(bytes: &[u8]) -> Result<Self, SheetError> {
        let table = if bytes.starts_with(b"PK\x03\x04") {
            workbook(bytes)?
        } else if bytes.starts_with(b"\xd0\xcf\x11\xe0") || bytes.contains(&0) {
            return Err(SheetError::OtherFormat);
        } else {
            text(&decoded(bytes))?
        };
        if table.header.iter().all(|title| title.is_empty()) { Err(SheetError::Empty) } else { Ok(table) }
    }

    /// The first row with content becomes the header.
    fn from_rows(rows: impl Iterator<Item = (usize, Vec<String>)>) -> Self {
        let mut rows = rows.filter(|(_, cells)| cells.iter().any(|cell| !cell.is_empty()));
        let header = rows.next().map(|(_, cells)| cells).unwrap_or_default();
        Self { header, rows: rows.collect() }
    }
}

/// UTF-8, or else the letters of Windows' Western code page, as far as they are those of Latin-1.
fn decoded(bytes: &[u8]) -> String {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    String::from_utf8(bytes.to_vec()).unwrap_or_else(|_| bytes.iter().map(|&byte| char::from(byte)).collect())
}

fn text(text: &str) -> Result<Table, SheetError> {
    let text = &text.replace("\r\n", "\n").replace('\r', "\n");
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let count = |mark: u8| first.bytes().filter(|&byte| byte == mark).count();
    let delimiter = [b',', b';', b'\t'].into_iter().rev().max_by_key(|&mark| count(mark)).unwrap_or(b',');
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut rows = Vec::new();
    let mut cells = 0;
    // The reader's own count of lines stops before empty ones.
    let (mut line, mut counted) = (1, 0);
    for record in reader.records() {
        let record = record?;
        cells += record.len();
        if cells > MOST_CELLS {
            return Err(SheetError::TooLarge);
        }
        let from = record.position().map_or(0, |position| position.byte() as usize);
        let start = from + text.as_bytes()[from..].iter().take_while(|&&byte| byte == b'\n').count();
        line += text.as_bytes()[counted..start].iter().filter(|&&byte| byte == b'\n').count();
        counted = start;
        rows.push((line, record.iter().map(str::to_owned).collect()));
    }
    Ok(Table::from_rows(rows.into_iter()))
}

/// The first sheet that has any content.
fn workbook(bytes: &[u8]) -> Result<Table, SheetError> {
    let wrong = |error: calamine::XlsxError| SheetError::Workbook(error.to_string());
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).map_err(wrong)?;
    for name in book.sheet_names() {
        let range = book.worksheet_range(&name).map_err(wrong)?;
        let (height, width) = range.get_size();
        if height.saturating_mul(width) > MOST_CELLS {
            return Err(SheetError::TooLarge);
        }
        let top = range.start().map_or(0, |(row, _)| row as usize);
        let rows = range.rows().enumerate().map(|(at, cells)| (top + at + 1, cells.iter().map(cell).collect()));
        let table = Table::from_rows(rows);
        if !table.header.is_empty() {
            return Ok(table);
        }
    }
    Err(SheetError::Empty)
}

/// A cell as it would stand in a CSV file.
fn cell(data: &Data) -> String {
    match data {
        Data::DateTime(serial) => moment(serial.as_f64()).unwrap_or_else(|| data.to_string()),
        Data::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => format!("{number:.0}"),
        other => other.to_string().trim().to_owned(),
    }
}

/// A workbook's moment: days since 30 December 1899. A time of day alone counts from day 0.
fn moment(days: f64) -> Option<String> {
    let seconds = (days.fract() * 86_400.0).round() as i64;
    let day = Date::constant(1899, 12, 30).checked_add(Span::new().try_days(days.trunc() as i64).ok()?).ok()?;
    let moment = day.to_datetime(Time::midnight()).checked_add(Span::new().seconds(seconds)).ok()?;
    let format = if days < 1.0 { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" };
    Some(moment.strftime(format).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Table {
        Table::read(text).unwrap()
    }

    #[test]
    fn commas_semicolons_and_tabs_part_columns() {
        for text in ["picture,a,b\nx.jpg,10,20\n", "picture;a;b\r\nx.jpg;10;20\r\n", "picture\ta\tb\nx.jpg\t10\t20"] {
            let table = read(text.as_bytes());
            assert_eq!(table.header, ["picture", "a", "b"], "{text:?}");
            assert_eq!(table.rows, [(2, vec!["x.jpg".to_owned(), "10".to_owned(), "20".to_owned()])]);
        }
    }

    #[test]
    fn rows_keep_their_number_over_empty_lines_and_a_mark_of_byte_order() {
        let table = read(b"\xef\xbb\xbf\nfile,total\n\n a.jpg , 15 \n");
        assert_eq!(table.header, ["file", "total"]);
        assert_eq!(table.rows, [(4, vec!["a.jpg".to_owned(), "15".to_owned()])]);
    }

    #[test]
    fn western_letters_of_an_older_desk_are_read() {
        assert_eq!(read(b"picture;Wei\xdf\nx;1").header[1], "Weiß");
    }

    #[test]
    fn a_workbook_is_read_as_its_text() {
        let mut book = rust_xlsxwriter::Workbook::new();
        let sheet = book.add_worksheet();
        for (column, title) in ["Photo", "Time", "A"].into_iter().enumerate() {
            sheet.write(2, column as u16, title).unwrap();
        }
        sheet.write(3, 0, "x.jpg").unwrap();
        let time = rust_xlsxwriter::ExcelDateTime::parse_from_str("2026-11-30 20:15").unwrap();
        let format = rust_xlsxwriter::Format::new().set_num_format("yyyy-mm-dd hh:mm");
        sheet.write_with_format(3, 1, &time, &format).unwrap();
        sheet.write(3, 2, 65.0).unwrap();
        let table = read(&book.save_to_buffer().unwrap());
        assert_eq!(table.header, ["Photo", "Time", "A"]);
        let row = ["x.jpg", "2026-11-30 20:15:00", "65"].map(str::to_owned).to_vec();
        assert_eq!(table.rows, [(4, row)]);
    }

    #[test]
    fn what_is_no_sheet_is_refused_with_what_to_do() {
        let wrong = |bytes: &[u8]| Table::read(bytes).unwrap_err().to_string();
        assert!(wrong(b"").contains("first row"));
        assert!(wrong(b"\xd0\xcf\x11\xe0\xa1").contains("CSV"));
        assert!(wrong(b"PK\x03\x04broken").contains("XLSX"));
    }
}
