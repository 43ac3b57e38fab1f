//! What the columns of a sheet mean, by their titles.
//!
//! Titles are taken apart into words ("score_a", "A 20s", "Total black", "scoreB") whatever their case and order, in
//! English, French and German. `--columns` names what is called otherwise. A sheet has one row a picture, with a column
//! for each side, or one row a picture and side.

use std::str::FromStr;

use crate::count::palette::{self, DiscColour};

/// Whose number a column holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Who {
    /// The side of that index: 0 for a, 1 for b.
    Letter(usize),
    /// The side that plays this colour.
    Colour(&'static DiscColour),
    /// The side that the row itself names.
    Row,
}

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Points of the round.
    Total,
    /// 20s of the round.
    Twenties,
    /// 20s that were taken off the board.
    SetAside,
}

/// What a column is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Role {
    /// File name of the picture.
    Picture,
    /// When the round ended: date and time.
    Time,
    /// The day, where the time stands in its own column.
    Date,
    /// The side or colour of the row.
    Side,
    /// A number.
    Number(Who, Measure),
}

/// Why a sheet's columns do not do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ColumnsError {
    /// Neither picture nor time.
    #[error("the sheet has no column for the picture or the time; it has {0}: say which with --columns picture=TITLE")]
    NoPicture(String),
    /// No number.
    #[error("the sheet has no column for totals; it has {0}: say which with --columns a=TITLE,b=TITLE")]
    NoTotals(String),
    /// `--columns` names a column that is not there.
    #[error("the sheet has no column {title:?}; it has {there}")]
    NoSuchColumn {
        /// What was named.
        title: String,
        /// What there is.
        there: String,
    },
    /// Totals of one side, and no other side.
    #[error("the sheet has totals of one side alone ({0}): say the other with --columns a=TITLE,b=TITLE")]
    OneSide(String),
}

/// A column named by the user: `picture=Foto`, `a=Rot`, `b.20s=Zwanziger B`.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    role: Role,
    title: String,
}

impl FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, title) = text.split_once('=').ok_or_else(|| format!("{text:?} is not ROLE=TITLE"))?;
        let key = key.trim().to_lowercase();
        let role = match key.as_str() {
            "picture" => Role::Picture,
            "time" => Role::Time,
            "date" => Role::Date,
            "side" | "colour" | "color" => Role::Side,
            _ => number_role(&key)?,
        };
        Ok(Self { role, title: title.trim().to_owned() })
    }
}

/// `a`, `b.20s`, `black`, `total`, `aside`.
fn number_role(key: &str) -> Result<Role, String> {
    let measure = |word: &str| match word {
        "total" => Some(Measure::Total),
        "20s" => Some(Measure::Twenties),
        "aside" => Some(Measure::SetAside),
        _ => None,
    };
    if let Some(measure) = measure(key) {
        return Ok(Role::Number(Who::Row, measure));
    }
    let (who, what) = key.split_once('.').unwrap_or((key, "total"));
    let who = match who {
        "a" => Some(Who::Letter(0)),
        "b" => Some(Who::Letter(1)),
        colour => palette::named(colour).map(Who::Colour),
    };
    who.zip(measure(what)).map(|(who, measure)| Role::Number(who, measure)).ok_or_else(|| {
        format!("{key:?} is no role: picture, time, date, side, total, 20s, aside, a, b, a.20s, b.aside, or a colour")
    })
}

/// Roles of a sheet's columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    roles: Vec<Option<Role>>,
}

impl Columns {
    /// Reads the titles; what `named` says goes before.
    ///
    /// # Errors
    /// See [`ColumnsError`].
    pub fn of(header: &[String], named: &[Named]) -> Result<Self, ColumnsError> {
        let there = header.iter().map(|title| format!("{title:?}")).collect::<Vec<_>>().join(", ");
        let mut roles: Vec<Option<Role>> = vec![None; header.len()];
        for Named { role, title } in named {
            let same = |other: &String| other.trim().to_lowercase() == title.to_lowercase();
            let at = header
                .iter()
                .position(same)
                .ok_or_else(|| ColumnsError::NoSuchColumn { title: title.clone(), there: there.clone() })?;
            roles[at] = Some(*role);
        }
        let guesses: Vec<Option<(Role, usize)>> = header.iter().map(|title| guess(title)).collect();
        for (at, guess) in guesses.iter().enumerate() {
            let Some((role, rank)) = guess else { continue };
            let taken = roles.contains(&Some(*role));
            // Of two columns for one thing ("points A", "total A") the plainer title holds it.
            let better = guesses.iter().flatten().any(|(other, other_rank)| other == role && other_rank < rank);
            if roles[at].is_none() && !taken && !better {
                roles[at] = Some(*role);
            }
        }
        let columns = Self { roles };
        columns.check(header, there)
    }

    fn check(self, header: &[String], there: String) -> Result<Self, ColumnsError> {
        if [Role::Picture, Role::Time, Role::Date].iter().all(|role| self.find(*role).is_none()) {
            return Err(ColumnsError::NoPicture(there));
        }
        let sides = self.wide();
        match sides.as_slice() {
            [] if self.find(Role::Number(Who::Row, Measure::Total)).is_none() => Err(ColumnsError::NoTotals(there)),
            [only] => {
                let at = self.find(Role::Number(*only, Measure::Total)).unwrap_or_default();
                Err(ColumnsError::OneSide(header[at].clone()))
            }
            _ => Ok(self),
        }
    }

    /// Index of the column of that role.
    pub fn find(&self, role: Role) -> Option<usize> {
        self.roles.iter().position(|found| *found == Some(role))
    }

    /// The sides that have a column of totals each, in the order of the columns, letters by letter; empty where a row
    /// holds one side.
    pub fn wide(&self) -> Vec<Who> {
        let totals = self.roles.iter().filter_map(|role| match role {
            Some(Role::Number(who, Measure::Total)) if *who != Who::Row => Some(*who),
            _ => None,
        });
        let mut sides: Vec<Who> = totals.collect();
        if sides.contains(&Who::Letter(0)) && sides.contains(&Who::Letter(1)) {
            sides = vec![Who::Letter(0), Who::Letter(1)];
        }
        sides.truncate(2);
        sides
    }

    /// Titles of the columns that mean nothing here.
    pub fn unused<'a>(&'a self, header: &'a [String]) -> impl Iterator<Item = &'a str> {
        let unused = self.roles.iter().zip(header).filter(|(role, title)| role.is_none() && !title.is_empty());
        unused.map(|(_, title)| title.as_str())
    }
}

const PICTURE: [&str; 12] = [
    "picture",
    "photo",
    "file",
    "filename",
    "image",
    "img",
    "source",
    "foto",
    "bild",
    "fichier",
    "datei",
    "photograph",
];
const TIME: [&str; 9] = ["time", "datetime", "timestamp", "taken", "when", "played", "heure", "zeit", "uhrzeit"];
const DATE: [&str; 4] = ["date", "datum", "jour", "day"];
const SIDE: [&str; 7] = ["side", "colour", "color", "couleur", "farbe", "seite", "camp"];
/// Titles of whose row it is where no better one is there.
const OWNER: [&str; 5] = ["player", "team", "joueur", "spieler", "equipe"];
const TOTAL: [&str; 9] = ["total", "totals", "score", "sum", "somme", "summe", "points", "pts", "punkte"];
const TWENTIES: [&str; 7] = ["20s", "20", "twenties", "twenty", "20er", "zwanziger", "vingts"];

/// What a title means, and how plainly it says so (0 is plainest); None for a title that says nothing of use.
fn guess(title: &str) -> Option<(Role, usize)> {
    let words = words(title);
    let place = |list: &[&str]| words.iter().find_map(|word| list.iter().position(|known| known == word));
    let who = words.iter().find_map(|word| who(word));
    let aside = words.iter().any(|word| word == "aside");
    let number = |measure| Role::Number(who.unwrap_or(Who::Row), measure);
    if let Some(rank) = place(&PICTURE) {
        return Some((Role::Picture, rank));
    }
    if aside {
        return Some((number(Measure::SetAside), 0));
    }
    if let Some(rank) = place(&TWENTIES) {
        return Some((number(Measure::Twenties), rank));
    }
    if let Some(rank) = place(&TOTAL) {
        return Some((number(Measure::Total), rank));
    }
    if let Some(rank) = place(&TIME) {
        return Some((Role::Time, rank));
    }
    if let Some(rank) = place(&DATE) {
        // A single column of both is mostly called by its day.
        return Some((Role::Date, rank));
    }
    // "side a", "player 1", "black": the side's total without more words.
    if let Some(who) = who {
        return Some((Role::Number(who, Measure::Total), TOTAL.len()));
    }
    if let Some(rank) = place(&SIDE) {
        return Some((Role::Side, rank));
    }
    place(&OWNER).map(|rank| (Role::Side, SIDE.len() + rank))
}

fn who(word: &str) -> Option<Who> {
    match word {
        "a" | "1" => Some(Who::Letter(0)),
        "b" | "2" => Some(Who::Letter(1)),
        colour => palette::named(colour).map(Who::Colour),
    }
}

/// The words of a title: parted at signs, at a capital after a small letter, and between letters and figures (but
/// "20s").
fn words(title: &str) -> Vec<String> {
    let mut out: Vec<String> = vec![String::new()];
    let mut before = ' ';
    for letter in title.chars() {
        let camel = before.is_lowercase() && letter.is_uppercase();
        let figures = before.is_ascii_digit() != letter.is_ascii_digit() && before.is_alphanumeric();
        let plural = before.is_ascii_digit() && matches!(letter, 's' | 'e');
        if !letter.is_alphanumeric() || camel || (figures && !plural) {
            out.push(String::new());
        }
        if letter.is_alphanumeric() {
            out.last_mut().into_iter().for_each(|word| word.extend(letter.to_lowercase()));
        }
        before = letter;
    }
    out.retain(|word| !word.is_empty());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(titles: &[&str], named: &[&str]) -> Result<Columns, ColumnsError> {
        let header: Vec<String> = titles.iter().map(|title| (*title).to_owned()).collect();
        let named: Vec<Named> = named.iter().map(|text| text.parse().unwrap()).collect();
        Columns::of(&header, &named)
    }

    fn number(who: Who, measure: Measure) -> Role {
        Role::Number(who, measure)
    }

    #[test]
    fn titles_are_known_in_any_order_and_case() {
        let a = |measure| number(Who::Letter(0), measure);
        let b = |measure| number(Who::Letter(1), measure);
        for titles in [
            ["B", "a", "20s A", "20S b", "Picture"],
            ["total_b", "total_a", "twenties_a", "twenties_b", "file name"],
            ["scoreB", "scoreA", "A20s", "B20s", "Photo"],
            ["Player 2", "Player 1", "20s 1", "20s 2", "IMAGE"],
        ] {
            let found = columns(&titles, &[]).unwrap();
            let at = [b(Measure::Total), a(Measure::Total), a(Measure::Twenties), b(Measure::Twenties), Role::Picture]
                .map(|role| found.find(role));
            assert_eq!(at, [0, 1, 2, 3, 4].map(Some), "{titles:?}");
            assert_eq!(found.wide(), [Who::Letter(0), Who::Letter(1)]);
        }
    }

    #[test]
    fn colours_name_sides() {
        let found = columns(&["photo", "Black", "Natural", "black 20s", "natural set aside"], &[]).unwrap();
        let black = palette::named("black").unwrap();
        let natural = palette::named("natural").unwrap();
        assert_eq!(found.wide(), [Who::Colour(black), Who::Colour(natural)]);
        assert_eq!(found.find(number(Who::Colour(black), Measure::Twenties)), Some(3));
        assert_eq!(found.find(number(Who::Colour(natural), Measure::SetAside)), Some(4));
    }

    #[test]
    fn a_row_may_hold_one_side() {
        let found = columns(&["Round", "Photo", "Colour", "Total", "20s"], &[]).unwrap();
        assert!(found.wide().is_empty());
        assert_eq!(found.find(Role::Side), Some(2));
        assert_eq!(found.find(number(Who::Row, Measure::Twenties)), Some(4));
        let header = ["Round", "Photo", "Colour", "Total", "20s"].map(str::to_owned);
        assert_eq!(found.unused(&header).collect::<Vec<_>>(), ["Round"]);
    }

    #[test]
    fn totals_go_before_points() {
        let found = columns(&["picture", "points a", "points b", "total a", "total b"], &[]).unwrap();
        assert_eq!(found.find(number(Who::Letter(0), Measure::Total)), Some(3));
    }

    #[test]
    fn other_titles_are_named_by_the_user() {
        assert!(matches!(columns(&["Aufnahme", "Heim", "Gast"], &[]), Err(ColumnsError::NoPicture(_))));
        let found = columns(&["Aufnahme", "Heim", "Gast"], &["picture=aufnahme", "a=Heim", "b=Gast"]).unwrap();
        assert_eq!(found.find(Role::Picture), Some(0));
        assert_eq!(found.wide().len(), 2);
        let error = columns(&["picture", "x", "y"], &["a=z"]).unwrap_err().to_string();
        assert!(error.contains("\"z\"") && error.contains("\"x\""), "{error}");
        assert!("plaid=x".parse::<Named>().unwrap_err().contains("picture"));
        assert!("picture".parse::<Named>().is_err());
    }

    #[test]
    fn a_sheet_without_what_is_needed_is_refused_with_what_to_say() {
        assert!(matches!(columns(&["picture", "who won"], &[]), Err(ColumnsError::NoTotals(_))));
        assert!(matches!(columns(&["picture", "total a"], &[]), Err(ColumnsError::OneSide(_))));
    }
}
