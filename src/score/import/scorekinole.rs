//! Scorekinole's text: headers, `NameA,NameB,ptsA,ptsB` lines, and `pA,pB,20A,20B` lines of the rounds below them.
//!
//! The `p` are points of the round. Standings (three fields a line) hold no match and are passed over with a note.

use super::{ForeignRound, ImportError, Imported, partners};
use crate::score::tally::SideEntry;

const NAME: &str = "Scorekinole text";

/// Reads the matches of a text.
///
/// # Errors
/// Not UTF-8, or a line with more than four fields.
pub fn read(bytes: &[u8]) -> Result<Vec<Imported>, ImportError> {
    let wrong = |reason: String| ImportError::Parse { format: NAME, reason };
    let text = std::str::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
    let mut matches: Vec<Reading> = Vec::new();
    let mut header = String::new();
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let line = line.trim();
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let numbers: Option<Vec<i64>> = fields.iter().map(|field| field.parse().ok()).collect();
        match (fields.as_slice(), numbers.as_deref()) {
            ([""], _) => {}
            ([title], _) => header = (*title).to_owned(),
            ([_, _, _, _], Some([a, b, twenties_a, twenties_b])) => {
                let reading =
                    matches.last_mut().ok_or_else(|| wrong(format!("line {number}: a round before any match")))?;
                reading.rounds([[*a, *twenties_a], [*b, *twenties_b]]);
            }
            ([name_a, name_b, points_a, points_b], None) => {
                let points = |text: &str| {
                    text.parse::<i64>().map_err(|_| wrong(format!("line {number}: {text:?} is not a number of points")))
                };
                matches.push(Reading::new(&header, [name_a, name_b], [points(points_a)?, points(points_b)?]));
            }
            ([_, _, _], _) => {}
            _ => return Err(wrong(format!("line {number} has {} fields, four are needed", fields.len()))),
        }
    }
    if matches.is_empty() {
        return Err(wrong("it holds no line NameA,NameB,pointsA,pointsB".to_owned()));
    }
    Ok(matches.into_iter().map(Reading::finish).collect())
}

struct Reading {
    imported: Imported,
    stated: [i64; 2],
}

impl Reading {
    fn new(header: &str, names: [&str; 2], stated: [i64; 2]) -> Self {
        let mut imported = Imported { sides: names.map(partners).to_vec(), ..Imported::default() };
        if let Some((system, round)) = header.split_once(" R")
            && round.parse::<u32>().is_ok()
        {
            imported.context.refs.insert("scorekinole.system".to_owned(), system.to_owned());
            imported.context.refs.insert("scorekinole.round".to_owned(), round.to_owned());
        } else if !header.is_empty() {
            imported.context.refs.insert("scorekinole.stage".to_owned(), header.to_owned());
        }
        Self { imported, stated }
    }

    fn rounds(&mut self, sides: [[i64; 2]; 2]) {
        let entry = |[points, twenties]: [i64; 2]| SideEntry {
            points: Some(points),
            twenties: Some(twenties),
            ..SideEntry::default()
        };
        self.imported.rounds.push(ForeignRound { sides: sides.map(entry).to_vec(), ..ForeignRound::default() });
    }

    fn finish(mut self) -> Imported {
        let sum = |at: usize| -> i128 {
            self.imported.rounds.iter().filter_map(|round| round.sides[at].points).map(i128::from).sum()
        };
        let [a, b] = self.stated;
        if !self.imported.rounds.is_empty() && [sum(0), sum(1)] != [a, b].map(i128::from) {
            self.imported.notes.push(format!("its rounds add up to {}-{}, it states {a}-{b}", sum(0), sum(1)));
        }
        if self.imported.rounds.is_empty() {
            self.imported.notes.push("it holds no rounds: only the result is taken over".to_owned());
        }
        self.imported.context.extra.insert("scorekinole.points".to_owned(), serde_json::json!(self.stated));
        self.imported.winner = Some(match a.cmp(&b) {
            std::cmp::Ordering::Greater => Some(0),
            std::cmp::Ordering::Less => Some(1),
            std::cmp::Ordering::Equal => None,
        });
        self.imported
    }
}
