//! How people write a side's score, a seat and a side: `20:1,15:2,5:1`, `65`, `A2`, `b`. Parsing only; whether the numbers
//! can be is the match's business.

use std::str::FromStr;

use super::format::{Format, Party, Seat};
use super::tally::{SideEntry, ZoneEntry};
use super::violation::Violation;

/// A seat as typed: `B`, or `A2` for the second player of side A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeatName {
    party: Party,
    player: usize,
}

impl FromStr for SeatName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no seat: A, B or C, or A1, A2, B1, B2 for a player");
        let mut letters = text.trim().chars();
        let side = letters.next().map(|letter| letter.to_string()).ok_or_else(wrong)?;
        let party = side.parse().map_err(|_| wrong())?;
        let player = match letters.as_str() {
            "" | "1" => 0,
            "2" => 1,
            _ => return Err(wrong()),
        };
        Ok(Self { party, player })
    }
}

impl SeatName {
    /// The seat in a format.
    ///
    /// # Errors
    /// The format has no such player.
    pub fn seat(self, format: Format) -> Result<Seat, Violation> {
        (0..format.seats())
            .map(Seat)
            .find(|seat| format.party_at(*seat) == self.party && format.player_at(*seat) == self.player)
            .ok_or(Violation::NoPlayer { format, party: self.party, player: self.player + 1 })
    }
}

/// A seat in words: `A`, or `A2` where a side has two players.
pub fn seat_word(format: Format, seat: Seat) -> String {
    let party = format.party_at(seat);
    match format.players(party) {
        1 => party.to_string(),
        _ => format!("{party}{}", format.player_at(seat) + 1),
    }
}

impl FromStr for Party {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim().to_ascii_lowercase().as_str() {
            "a" => Ok(Party::A),
            "b" => Ok(Party::B),
            "c" => Ok(Party::C),
            _ => Err(format!("{text:?} is no side: A, B or C")),
        }
    }
}

/// `65`, `20:1,15:2,5:1`, `15:3,aside:2,total:85`, `points:2`. Parts are parted by commas or blanks.
impl FromStr for SideEntry {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut entry = SideEntry::default();
        let mut seen: Vec<String> = Vec::new();
        for part in text.split([',', ' ']).map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once([':', '=']).unwrap_or(("total", part));
            let key = key.trim().to_ascii_lowercase();
            let number = value.parse::<i64>().map_err(|_| {
                format!("{value:?} is not a whole number: give a total as 65, zones as 20:1,15:2,5:1, or points:2")
            })?;
            match key.as_str() {
                "aside" => entry.set_aside = Some(number),
                "total" => entry.total = Some(number),
                "20s" | "twenties" => entry.twenties = Some(number),
                "points" | "pts" => entry.points = Some(number),
                zone => *zone_slot(entry.zones.get_or_insert_default(), zone)? = number,
            }
            if seen.contains(&key) {
                return Err(format!("{key} stands twice"));
            }
            seen.push(key);
        }
        if seen.is_empty() {
            return Err("nothing was given: a total, or zones as 20:1,15:2,5:1".to_owned());
        }
        Ok(entry)
    }
}

fn zone_slot<'a>(zones: &'a mut ZoneEntry, key: &str) -> Result<&'a mut i64, String> {
    match key {
        "20" => Ok(&mut zones.twenty),
        "15" => Ok(&mut zones.fifteen),
        "10" => Ok(&mut zones.ten),
        "5" => Ok(&mut zones.five),
        "0" | "out" => Ok(&mut zones.out),
        _ => Err(format!(
            "{key:?} is not known: zones 20, 15, 10, 5, 0; aside (20s taken off the board), total, 20s, points"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(text: &str) -> Result<SideEntry, String> {
        text.parse()
    }

    #[test]
    fn a_bare_number_is_a_total() {
        assert_eq!(side("65"), Ok(SideEntry::of_total(65)));
    }

    #[test]
    fn zones_extras_and_their_total_are_read() {
        let entry = side("15:2 5:1,aside:1, total:55").unwrap();
        let zones = entry.zones.unwrap();
        assert_eq!((zones.fifteen, zones.five, zones.twenty), (2, 1, 0));
        assert_eq!((entry.set_aside, entry.total), (Some(1), Some(55)));
    }

    #[test]
    fn what_stands_twice_or_is_unknown_is_an_error() {
        assert!(side("15:1,15:2").is_err());
        assert!(side("12:1").is_err());
        assert!(side("15:x").is_err());
        assert!(side(" , ").is_err());
    }

    #[test]
    fn seats_are_named_by_side_and_player() {
        let seat = |text: &str, format| text.parse::<SeatName>().unwrap().seat(format).ok();
        assert_eq!(seat("a2", Format::Doubles), Some(Seat(2)));
        assert_eq!(seat("B", Format::TwoVersusOne), Some(Seat(1)));
        assert_eq!(seat("A2", Format::Singles), None);
        for format in [Format::Singles, Format::Doubles, Format::CutThroat] {
            for number in 0..format.seats() {
                assert_eq!(seat(&seat_word(format, Seat(number)), format), Some(Seat(number)));
            }
        }
    }
}
