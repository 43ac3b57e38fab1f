//! Crokinole Reference's input sheet (xlsx): two rows (Pts, 20s) a player and match, two players a match.
//!
//! Rows are read one cell at a time, so that a sheet that claims a million columns costs nothing. Rows belong together when
//! date, tournament and the other place columns agree and the names are each other's; a second Pts row of the same player
//! starts the next match of the pair.

use std::collections::BTreeMap;
use std::io::Cursor;

use calamine::{DataRef, Reader, Xlsx};

use super::{ForeignRound, ImportError, Imported, partners};
use crate::score::export::reference::{COLUMNS, SHEET};
use crate::score::rules::End;
use crate::score::tally::SideEntry;

const NAME: &str = "a Crokinole Reference sheet";

/// Columns looked at: those of the sheet, and some an owner may have added.
const MOST_COLUMNS: u32 = 100;

/// Cells looked at: a season of the whole sport is some 10,000 rows.
const MOST_CELLS: usize = 5_000_000;

type Row = BTreeMap<String, String>;

/// Reads the matches of a workbook.
///
/// # Errors
/// Not a workbook, no sheet "Matches", a column is missing, or a cell that should hold a number does not.
pub fn read(bytes: &[u8]) -> Result<Vec<Imported>, ImportError> {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut index: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
    for (number, row) in rows(bytes)? {
        let wrong = |reason: String| ImportError::Parse { format: NAME, reason: format!("row {number}: {reason}") };
        let (player, opponent) = (cell(&row, "Player"), cell(&row, "Opponent"));
        if player.is_empty() || opponent.is_empty() {
            return Err(wrong("Player or Opponent is empty".to_owned()));
        }
        let kind = match cell(&row, "Pts/20s") {
            "Pts" => 0,
            "20s" => 1,
            other => return Err(wrong(format!("Pts/20s is {other:?}"))),
        };
        let line = rounds(&row).map_err(wrong)?;
        let mut key: Vec<String> = COLUMNS[1..8].iter().map(|name| cell(&row, name).to_owned()).collect();
        let mut names = [player.to_owned(), opponent.to_owned()];
        names.sort();
        key.extend(names);
        let known = index.entry(key).or_default();
        let free = known.iter().copied().find(|at| {
            let pair = &pairs[*at];
            pair.lines[usize::from(pair.names[0] != player)][kind].is_none()
        });
        let at = free.unwrap_or_else(|| {
            known.push(pairs.len());
            pairs.push(Pair::new(player, opponent, &row));
            pairs.len() - 1
        });
        let pair = &mut pairs[at];
        let side = usize::from(pair.names[0] != player);
        match cell(&row, "First/Hammer") {
            "First" => pair.first = Some(side),
            "Hammer" => pair.first = Some(1 - side),
            _ => {}
        }
        pair.lines[side][kind] = Some(line);
    }
    Ok(pairs.into_iter().map(Pair::finish).collect())
}

struct Pair {
    names: [String; 2],
    row: Row,
    first: Option<usize>,
    /// Per side: points of the rounds, 20s of the rounds.
    lines: [[Option<Vec<Option<i64>>>; 2]; 2],
}

impl Pair {
    fn new(player: &str, opponent: &str, row: &Row) -> Self {
        let names = [player.to_owned(), opponent.to_owned()];
        Self { names, row: row.clone(), first: None, lines: Default::default() }
    }

    fn finish(self) -> Imported {
        let mut imported =
            Imported { sides: self.names.iter().map(|name| partners(name)).collect(), ..Imported::default() };
        let length = self.lines.iter().flatten().flatten().map(Vec::len).max().unwrap_or(0);
        let value = |side: usize, kind: usize, round: usize| -> Option<i64> {
            self.lines[side][kind].as_ref().and_then(|line| line.get(round).copied().flatten())
        };
        for round in 0..length {
            let (a, b) = (value(0, 0, round), value(1, 0, round));
            // One side's points tell the other's under 2/1/0; without any the round's result is not known.
            let points = match (a, b) {
                (Some(a), Some(b)) => [a, b],
                (Some(a @ 0..=2), None) => [a, 2 - a],
                (None, Some(b @ 0..=2)) => [2 - b, b],
                _ => {
                    imported.notes.push(format!("round {} has no points and is left out", round + 1));
                    continue;
                }
            };
            let sides = [0, 1].map(|side| SideEntry {
                points: Some(points[side]),
                twenties: value(side, 1, round),
                ..SideEntry::default()
            });
            let first = self.first.map(|first| if round % 2 == 0 { first } else { 1 - first });
            imported.rounds.push(ForeignRound { sides: sides.to_vec(), first, last: None });
        }
        imported.end = u32::try_from(imported.rounds.len()).ok().filter(|rounds| *rounds > 0).map(End::Rounds);
        imported.context.event = Some(cell(&self.row, "Tournament").to_owned()).filter(|name| !name.is_empty());
        let date = format!("{}T00:00:00Z", cell(&self.row, "Date"));
        imported.context.played_at = date.parse().ok();
        if imported.context.played_at.is_none() {
            imported.notes.push("its date cannot be read".to_owned());
        }
        for (column, key) in [
            ("Inclusion", "inclusion"),
            ("Division", "division"),
            ("Category", "category"),
            ("Stage", "stage"),
            ("Pool", "pool"),
            ("StageGame", "stage_game"),
            ("Board", "board"),
            ("Position", "position"),
            ("Comment", "comment"),
        ] {
            let text = cell(&self.row, column);
            if !text.is_empty() {
                imported.context.refs.insert(format!("reference.{key}"), text.to_owned());
            }
        }
        if imported.rounds.is_empty() {
            imported.notes.push("it holds no rounds".to_owned());
        }
        imported
    }
}

/// The sheet's rows under its titles, with their numbers as a spreadsheet shows them.
fn rows(bytes: &[u8]) -> Result<Vec<(u32, Row)>, ImportError> {
    let wrong = |reason: String| ImportError::Parse { format: NAME, reason };
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).map_err(|error| wrong(error.to_string()))?;
    let mut cells = book.worksheet_cells_reader(SHEET).map_err(|error| wrong(error.to_string()))?;
    let (mut titles, mut table): (BTreeMap<u32, String>, BTreeMap<u32, Row>) = Default::default();
    let mut seen = 0;
    while let Some(cell) = cells.next_cell().map_err(|error| wrong(error.to_string()))? {
        seen += 1;
        if seen > MOST_CELLS {
            return Err(ImportError::TooMuch { format: NAME, what: "cells", found: seen, most: MOST_CELLS });
        }
        let (row, column) = cell.get_position();
        let text = words(cell.get_value());
        if column >= MOST_COLUMNS || text.is_empty() {
            continue;
        }
        if row == 0 {
            titles.insert(column, text);
        } else if let Some(title) = titles.get(&column) {
            table.entry(row).or_default().insert(title.clone(), text);
        }
    }
    for needed in ["Date", "Player", "Opponent", "Pts/20s", "Round1"] {
        if !titles.values().any(|title| title == needed) {
            return Err(wrong(format!("the column {needed:?} is missing")));
        }
    }
    Ok(table.into_iter().map(|(row, cells)| (row.saturating_add(1), cells)).collect())
}

fn words(value: &DataRef) -> String {
    match value {
        DataRef::String(text) => text.trim().to_owned(),
        DataRef::SharedString(text) => text.trim().to_owned(),
        DataRef::Float(number) => number.to_string(),
        DataRef::Int(number) => number.to_string(),
        DataRef::Bool(value) => value.to_string(),
        DataRef::DateTime(serial) => day(serial.as_f64()),
        DataRef::DateTimeIso(text) => text.get(..10).unwrap_or(text).to_owned(),
        _ => String::new(),
    }
}

/// A spreadsheet's day number as a date.
fn day(serial: f64) -> String {
    /// Day 0 of the 1900 system, such that days from March 1900 on come out right.
    const EPOCH: jiff::civil::Date = jiff::civil::date(1899, 12, 30);
    // The cast saturates, and a date out of range gives no date.
    let days = jiff::Span::new().try_days(serial.floor() as i64);
    days.ok().and_then(|days| EPOCH.checked_add(days).ok()).map(|date| date.to_string()).unwrap_or_default()
}

fn rounds(row: &Row) -> Result<Vec<Option<i64>>, String> {
    let mut line: Vec<Option<i64>> = (1..=20)
        .map(|round| {
            let name = format!("Round{round}");
            let text = cell(row, &name);
            if text.is_empty() {
                return Ok(None);
            }
            text.parse().map(Some).map_err(|_| format!("{name} is {text:?}, not a whole number"))
        })
        .collect::<Result<_, _>>()?;
    line.truncate(line.iter().rposition(Option::is_some).map_or(0, |at| at + 1));
    Ok(line)
}

fn cell<'a>(row: &'a Row, name: &str) -> &'a str {
    row.get(name).map_or("", String::as_str)
}
