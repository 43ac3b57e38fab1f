//! Crokinole Reference's input sheet (xlsx): two rows (Pts, 20s) a player and match.
//!
//! Source: its import script and sheet. Columns: Inclusion, Date, Tournament, Division, Category, Stage, Pool, StageGame,
//! Board, Position, Player, Opponent, First/Hammer, Comment, Pts/20s, Total, Round1 to Round20. Round cells of a Pts row are
//! the round's points, of a 20s row its 20s. First/Hammer speaks of round 1 and is taken to alternate: "Hammer" is who had
//! the last shot there. Partners are joined by a slash. References `reference.division` and the like fill the other columns.

use rust_xlsxwriter::{Format as CellFormat, Workbook, XlsxError};

use super::{ExportError, Exported, two_sides};
use crate::score::format::{Format, Party};
use crate::score::game::Match;

const NAME: &str = "Crokinole Reference sheet";

/// The sheet's name, as the import script asks for it.
pub(in crate::score) const SHEET: &str = "Matches";

/// Rounds the sheet has columns for.
const ROUNDS: usize = 20;

/// Columns before the rounds.
pub(in crate::score) const COLUMNS: [&str; 16] = [
    "Inclusion",
    "Date",
    "Tournament",
    "Division",
    "Category",
    "Stage",
    "Pool",
    "StageGame",
    "Board",
    "Position",
    "Player",
    "Opponent",
    "First/Hammer",
    "Comment",
    "Pts/20s",
    "Total",
];

/// A workbook with one sheet.
///
/// # Errors
/// Three sides, or more than 20 rounds.
pub fn write(matches: &[Exported]) -> Result<Vec<u8>, ExportError> {
    for exported in matches {
        two_sides(NAME, exported.game)?;
        let rounds = exported.game.standing().counted as usize;
        if rounds > ROUNDS {
            let reason = format!("{rounds} rounds, the sheet has columns for {ROUNDS}");
            return Err(ExportError::Unfit { format: NAME, reason });
        }
    }
    fill(matches).map_err(|error| ExportError::Write { format: NAME, reason: error.to_string() })
}

/// What the sheet cannot hold.
pub fn losses(game: &Match) -> Vec<String> {
    let mut losses = vec![
        "totals of the rounds are left out: the sheet holds points and 20s".to_owned(),
        "rules, discs per zone and the time of day are left out".to_owned(),
    ];
    if !alternates(game) {
        losses.push(
            "first and last shooter are given for round 1 and taken to alternate, which these rounds do not".to_owned(),
        );
    }
    if game.standing().without_twenties > 0 {
        losses.push("20s that are not known are empty cells, and their sum leaves them out".to_owned());
    }
    if game.format().sides() != 2 {
        losses.push("three sides: the match cannot be written".to_owned());
    }
    losses
}

fn alternates(game: &Match) -> bool {
    let last: Vec<Party> = game.counted().map(|(_, round)| game.format().party_at(round.last)).collect();
    last.windows(2).all(|pair| pair[0] != pair[1])
}

fn fill(matches: &[Exported]) -> Result<Vec<u8>, XlsxError> {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet().set_name(SHEET)?;
    let day = CellFormat::new().set_num_format("yyyy-mm-dd");
    for (column, title) in (0u16..).zip(COLUMNS) {
        sheet.write(0, column, title)?;
    }
    for round in 0..ROUNDS as u16 {
        sheet.write(0, COLUMNS.len() as u16 + round, format!("Round{}", round + 1))?;
    }
    let mut row = 1;
    for exported in matches {
        let game = exported.game;
        let refs = &game.setup().context.refs;
        let category = if game.format() == Format::Singles { "Singles" } else { "Doubles" };
        for (party, other) in [(Party::A, Party::B), (Party::B, Party::A)] {
            let first_or_hammer = game
                .counted()
                .next()
                .map(|(_, round)| if game.format().party_at(round.last) == party { "Hammer" } else { "First" });
            for kind in ["Pts", "20s"] {
                let date = game.played_at().strftime("%Y-%m-%d").to_string();
                sheet.write_with_format(row, 1, rust_xlsxwriter::ExcelDateTime::parse_from_str(&date)?, &day)?;
                let texts = [
                    (0, refs.get("reference.inclusion").map_or("Public", String::as_str)),
                    (2, game.setup().context.event.as_deref().unwrap_or_default()),
                    (3, reference(game, "division")),
                    (4, refs.get("reference.category").map_or(category, String::as_str)),
                    (5, reference(game, "stage")),
                    (6, reference(game, "pool")),
                    (7, reference(game, "stage_game")),
                    (8, reference(game, "board")),
                    (9, reference(game, "position")),
                    (10, game.name(party).as_str()),
                    (11, game.name(other).as_str()),
                    (12, first_or_hammer.unwrap_or_default()),
                    (13, reference(game, "comment")),
                    (14, kind),
                ]
                .map(|(column, text)| (column, text.to_owned()));
                for (column, text) in texts.iter().filter(|(_, text)| !text.is_empty()) {
                    sheet.write_string(row, *column, text)?;
                }
                let cells: Vec<Option<u32>> = game
                    .counted()
                    .map(|(_, round)| match kind {
                        "Pts" => Some(game.points_of(round)[party.index()]),
                        _ => round.sides.get(party.index()).and_then(|side| side.twenties()),
                    })
                    .collect();
                if cells.iter().any(Option::is_some) {
                    sheet.write(row, 15, cells.iter().flatten().map(|cell| f64::from(*cell)).sum::<f64>())?;
                }
                for (column, cell) in (COLUMNS.len() as u16..).zip(&cells) {
                    if let Some(cell) = cell {
                        sheet.write(row, column, *cell)?;
                    }
                }
                row += 1;
            }
        }
    }
    sheet.set_freeze_panes(1, 0)?;
    book.save_to_buffer()
}

fn reference<'a>(game: &'a Match, column: &str) -> &'a str {
    game.setup().context.refs.get(&format!("reference.{column}")).map_or("", String::as_str)
}
