//! What the sheet says about each picture.
//!
//! In: a [`Table`] and its [`Columns`]. Out: a [`Claim`] a picture, and a sentence for every row that could not be read:
//! nothing is dropped silently. Rows of one side each are joined by their picture, or by their time.

use jiff::civil::{Date, DateTime, Time};

use super::columns::{Columns, Measure, Role, Who};
use super::sheet::Table;
use crate::count::palette::{self, DiscColour};

/// One round as typed.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Number of its row in the sheet (of the first one, where each side has its own).
    pub row: usize,
    /// File name of the picture, as typed; empty where there is none.
    pub picture: String,
    /// When the round ended.
    pub time: Option<DateTime>,
    /// The two sides, in the sheet's order: a and b where it names them so.
    pub sides: [SideClaim; 2],
}

/// One side as typed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SideClaim {
    /// Points.
    pub total: Option<u32>,
    /// 20s.
    pub twenties: Option<u32>,
    /// 20s taken off the board.
    pub set_aside: Option<u32>,
    /// The colour it plays, where the sheet says.
    pub colour: Option<&'static DiscColour>,
}

/// A row that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its number in the sheet.
    pub row: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// Reads all rows.
pub fn claims(table: &Table, columns: &Columns) -> (Vec<Claim>, Vec<Fault>) {
    let wide = columns.wide();
    let mut claims: Vec<Claim> = Vec::new();
    let mut faults = Vec::new();
    for (row, cells) in &table.rows {
        let line = Row { row: *row, cells, columns };
        let read = match wide.as_slice() {
            [first, second] => line.both(*first, *second).map(|claim| claims.push(claim)),
            _ => line.one().and_then(|half| join(&mut claims, half)),
        };
        if let Err(reason) = read {
            faults.push(Fault { row: *row, reason });
        }
    }
    let is_whole = |claim: &Claim| claim.sides.iter().all(|side| side.total.is_some());
    let halves = claims.iter().filter(|claim| !is_whole(claim));
    faults.extend(halves.map(|claim| Fault { row: claim.row, reason: "the other side's total is missing".to_owned() }));
    claims.retain(is_whole);
    faults.sort_by_key(|fault| fault.row);
    (claims, faults)
}

/// One side of a claim, still alone.
struct Half {
    row: usize,
    picture: String,
    time: Option<DateTime>,
    /// Index of the side, where the sheet says a or b.
    letter: Option<usize>,
    side: SideClaim,
}

fn join(claims: &mut Vec<Claim>, half: Half) -> Result<(), String> {
    let same = |claim: &&mut Claim| {
        if half.picture.is_empty() { claim.time == half.time } else { claim.picture == half.picture }
    };
    let place = |letter: Option<usize>| letter.unwrap_or(0);
    let Some(claim) = claims.iter_mut().find(same) else {
        let mut sides = [SideClaim::default(), SideClaim::default()];
        sides[place(half.letter)] = half.side;
        claims.push(Claim { row: half.row, picture: half.picture, time: half.time, sides });
        return Ok(());
    };
    let free = claim.sides.iter().position(|side| side.total.is_none());
    match (half.letter, free) {
        (Some(letter), _) if claim.sides[letter].total.is_none() => claim.sides[letter] = half.side,
        (None, Some(free)) => claim.sides[free] = half.side,
        _ => return Err(format!("this side of the picture has its total in row {} already", claim.row)),
    }
    Ok(())
}

struct Row<'a> {
    row: usize,
    cells: &'a [String],
    columns: &'a Columns,
}

impl Row<'_> {
    fn text(&self, role: Role) -> &str {
        let at = self.columns.find(role);
        at.and_then(|at| self.cells.get(at)).map_or("", |cell| cell.trim())
    }

    fn both(&self, first: Who, second: Who) -> Result<Claim, String> {
        let (picture, time) = self.whereabouts()?;
        let side = |who: Who| -> Result<SideClaim, String> {
            let colour = if let Who::Colour(colour) = who { Some(colour) } else { None };
            let claim = SideClaim { colour, ..self.side(who)? };
            if claim.total.is_none() { Err("a total is missing".to_owned()) } else { Ok(claim) }
        };
        Ok(Claim { row: self.row, picture, time, sides: [side(first)?, side(second)?] })
    }

    fn one(&self) -> Result<Half, String> {
        let (picture, time) = self.whereabouts()?;
        let name = self.text(Role::Side).to_lowercase();
        let letter = match name.as_str() {
            "a" | "1" | "side a" => Some(0),
            "b" | "2" | "side b" => Some(1),
            _ => None,
        };
        let side = SideClaim { colour: palette::named(&name), ..self.side(Who::Row)? };
        if side.total.is_none() {
            return Err("the total is missing".to_owned());
        }
        Ok(Half { row: self.row, picture, time, letter, side })
    }

    fn side(&self, who: Who) -> Result<SideClaim, String> {
        let number = |measure| number(self.text(Role::Number(who, measure)));
        Ok(SideClaim {
            total: number(Measure::Total)?,
            twenties: number(Measure::Twenties)?,
            set_aside: number(Measure::SetAside)?,
            colour: None,
        })
    }

    fn whereabouts(&self) -> Result<(String, Option<DateTime>), String> {
        let picture = self.text(Role::Picture).to_owned();
        let time = time(self.text(Role::Date), self.text(Role::Time));
        if picture.is_empty() && time.is_none() {
            let said = [self.text(Role::Date), self.text(Role::Time)].join(" ");
            return Err(match said.trim() {
                "" => "neither picture nor time is named".to_owned(),
                said => format!("{said:?} is no date and time: write 2026-11-30 20:15"),
            });
        }
        Ok((picture, time))
    }
}

/// A whole number; None for an empty cell.
fn number(text: &str) -> Result<Option<u32>, String> {
    let plain = text.strip_suffix(".0").or(text.strip_suffix(",0")).unwrap_or(text);
    if matches!(plain, "" | "-" | "–") {
        return Ok(None);
    }
    plain.parse().map(Some).map_err(|_| format!("{text:?} is no number"))
}

/// A date and time from one cell or two. Days are read as 2026-11-30, 30.11.2026 and 30/11/2026.
fn time(date: &str, time: &str) -> Option<DateTime> {
    let whole = |text: &str| {
        let (day, clock) = text.trim_end_matches('Z').split_once([' ', 'T'])?;
        Some(day_of(day)?.to_datetime(clock_of(clock)?))
    };
    // A workbook's cell that holds a day alone is one with the time 0:00.
    let day = |text: &str| day_of(text.split([' ', 'T']).next()?);
    let both = || Some(day(date)?.to_datetime(clock_of(time)?));
    whole(time).or_else(both).or_else(|| whole(date))
}

fn day_of(text: &str) -> Option<Date> {
    let parts: Vec<i16> =
        text.trim().split(['-', '.', '/', ':']).map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [first, month, last] = parts.try_into().ok()?;
    let (year, day) = if first > 31 { (first, last) } else { (last, first) };
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

fn clock_of(text: &str) -> Option<Time> {
    let text = text.trim().replace(['h', '.'], ":");
    let parts: Vec<i8> = text.split(':').take(3).map(|part| part.parse().ok()).collect::<Option<_>>()?;
    match parts.as_slice() {
        [hour, minute] => Time::new(*hour, *minute, 0, 0).ok(),
        [hour, minute, second] => Time::new(*hour, *minute, *second, 0).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn read(text: &str) -> (Vec<Claim>, Vec<Fault>) {
        let table = Table::read(text.as_bytes()).unwrap();
        claims(&table, &Columns::of(&table.header, &[]).unwrap())
    }

    fn totals(claim: &Claim) -> [Option<u32>; 2] {
        [claim.sides[0].total, claim.sides[1].total]
    }

    #[test]
    fn a_row_may_hold_both_sides() {
        let (claims, faults) = read("picture,b,a,20s a\nx.jpg,10,65,2\ny.jpg,0,5,\n");
        assert!(faults.is_empty());
        assert_eq!(totals(&claims[0]), [Some(65), Some(10)]);
        assert_eq!((claims[0].sides[0].twenties, claims[1].sides[0].twenties), (Some(2), None));
        assert_eq!((claims[1].row, claims[1].picture.as_str()), (3, "y.jpg"));
    }

    #[test]
    fn rows_of_one_side_are_joined_by_picture_or_by_time() {
        let (claims, faults) = read("photo,colour,total\nx,natural,10\nx,black,65\n");
        assert!(faults.is_empty());
        assert_eq!(totals(&claims[0]), [Some(10), Some(65)]);
        assert_eq!(claims[0].sides[1].colour.map(|colour| colour.name.as_str()), Some("black"));
        let (claims, _) = read("time,side,total\n2026-11-30 20:15,b,10\n2026-11-30 20:15,a,65\n2026-11-30 20:31,a,5\n");
        assert_eq!(claims.len(), 1);
        assert_eq!(totals(&claims[0]), [Some(65), Some(10)]);
    }

    #[test]
    fn rows_that_cannot_be_read_are_told() {
        let (claims, faults) = read("picture,a,b\nx,5,\n,5,10\ny,ten,10\nz,5,10\n");
        assert_eq!(claims.len(), 1);
        let told: Vec<(usize, &str)> = faults.iter().map(|fault| (fault.row, fault.reason.as_str())).collect();
        assert_eq!(told.len(), 3);
        assert!(told[0].0 == 2 && told[0].1.contains("missing"));
        assert!(told[1].1.contains("picture") && told[2].1.contains("ten"), "{told:?}");
        let (claims, faults) = read("picture,side,total\nx,a,5\nx,a,10\ny,a,5\n");
        assert!(claims.is_empty());
        assert_eq!(faults.iter().map(|fault| fault.row).collect::<Vec<_>>(), [2, 3, 4]);
    }

    #[test]
    fn a_workbook_may_hold_day_and_time_in_two_cells() {
        let mut book = rust_xlsxwriter::Workbook::new();
        let sheet = book.add_worksheet();
        for (column, title) in ["Date", "Time", "A", "B"].into_iter().enumerate() {
            sheet.write(0, column as u16, title).unwrap();
        }
        let moment = |text: &str| rust_xlsxwriter::ExcelDateTime::parse_from_str(text).unwrap();
        let format = |text: &str| rust_xlsxwriter::Format::new().set_num_format(text);
        sheet.write_with_format(1, 0, moment("2026-03-14"), &format("yyyy-mm-dd")).unwrap();
        sheet.write_with_format(1, 1, moment("20:15:00"), &format("hh:mm")).unwrap();
        sheet.write(1, 2, 60).unwrap();
        sheet.write(1, 3, 45).unwrap();
        let table = Table::read(&book.save_to_buffer().unwrap()).unwrap();
        let (claims, faults) = claims(&table, &Columns::of(&table.header, &[]).unwrap());
        assert!(faults.is_empty(), "{faults:?}");
        assert_eq!(claims[0].time, Some(date(2026, 3, 14).at(20, 15, 0, 0)));
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        let half_past = date(2026, 11, 30).at(20, 30, 0, 0);
        for (day, clock) in [
            ("", "2026-11-30 20:30"),
            ("", "2026-11-30T20:30:00Z"),
            ("30.11.2026", "20:30"),
            ("30/11/2026", "20h30"),
            ("2026-11-30 20:30:00", ""),
            ("2026-11-30 00:00:00", "20:30:00"),
        ] {
            assert_eq!(time(day, clock), Some(half_past), "{day:?} {clock:?}");
        }
        for wrong in ["", "yesterday", "2026-13-40 20:30", "2026-11-30 99:99"] {
            assert_eq!(time("", wrong), None, "{wrong}");
        }
    }
}
