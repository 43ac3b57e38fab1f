//! Every sentence that pages and reports may show is known in French: refusals, reasons for a look, what is wrong.

use std::collections::BTreeMap;

use crokeye::register::NotFound;
use crokeye::register::start::StartError;
use crokeye::score::{Format, Party, Seat, Violation};
use regex::Regex;
use serde::Deserialize;

#[derive(Deserialize)]
struct French {
    sentences: Vec<(String, String)>,
    colours: BTreeMap<String, String>,
}

fn french() -> French {
    serde_json::from_str(include_str!("../assets/french.json")).unwrap()
}

/// As pages do it: the first pattern that fits, then whatever is left over.
fn told(french: &French, sentence: &str) -> Option<String> {
    for (pattern, instead) in &french.sentences {
        let Some(found) = Regex::new(pattern).unwrap().captures(sentence) else { continue };
        let whole = found.get(0).unwrap();
        let mut said = instead.clone();
        for at in (1..found.len()).rev() {
            said = said.replace(&format!("${at}"), found.get(at).map_or("", |part| part.as_str()));
        }
        let rest = &sentence[whole.end()..];
        return if rest.is_empty() { Some(said) } else { told(french, rest).map(|rest| said + &rest) };
    }
    None
}

#[test]
fn refusals_of_the_rules_are_known_in_french() {
    let (party, format) = (Party::A, Format::Singles);
    let refusals = [
        Violation::NotCreated,
        Violation::AlreadyCreated,
        Violation::Sides { format, needed: 2, found: 1 },
        Violation::Players { format, party, needed: 1, found: 2 },
        Violation::Unnamed { party },
        Violation::Unpresentable { what: "a player", most: 60 },
        Violation::Rules("discs".to_owned()),
        Violation::Seat { format, seat: Seat(9) },
        Violation::NoPlayer { format, party, player: 2 },
        Violation::NoSide { format, party },
        Violation::Negative { party, what: "discs", value: -1 },
        Violation::TooLarge { party, what: "20s", value: 99 },
        Violation::TooManyDiscs { party, found: 13, allowed: 12 },
        Violation::TotalNotSum { party, stated: 5, sum: 10 },
        Violation::TwentiesNotCounted { party, stated: 1, counted: 2 },
        Violation::NotMultipleOfFive { party, total: 7 },
        Violation::AboveMaximum { party, total: 500, most: 240, discs: 12 },
        Violation::TwentiesUnlikeTotal { party, total: 5, twenties: 3 },
        Violation::PointsBesideZones { party },
        Violation::NothingEntered { party },
        Violation::MixedEntry,
        Violation::PointsImpossible { found: vec![3, 3], conversion: "two a round" },
        Violation::PointsUnlikeTotals { stated: vec![2, 0], computed: vec![0, 2] },
        Violation::MatchOver { how: "won".to_owned() },
        Violation::AwaitingShootOut,
        Violation::NotLevel { party },
        Violation::NoShootOut,
        Violation::NoRound { round: 3, rounds: 2 },
        Violation::RoundIsVoid { round: 1 },
        Violation::NoProposal { proposal: 4 },
        Violation::ProposalClosed { proposal: 4 },
        Violation::ProposalHeld { proposal: 4, reason: Violation::MixedEntry.to_string() },
        Violation::SameEvidence { kind: "photo".to_owned(), place: "round 1".to_owned() },
        Violation::NoReason,
        Violation::NothingChanged,
        Violation::NothingToUndo,
        Violation::NothingToRedo,
        Violation::NotLatest { expected: 3, found: 4 },
    ];
    let french = french();
    for refusal in refusals {
        let sentence = refusal.to_string();
        assert!(told(&french, &sentence).is_some(), "{sentence}");
        // Pages and programs with sentences of their own know it by its code.
        assert!(serde_json::to_value(&refusal).unwrap()["code"].is_string(), "{sentence}");
    }
}

#[test]
fn what_is_said_of_a_board_and_of_points_is_known_in_french() {
    let mut sentences: Vec<String> = [
        StartError::Points(2),
        StartError::Outside,
        StartError::OtherShape,
        StartError::NoEllipse,
        StartError::HoleAside,
        StartError::NoLines,
        StartError::OtherLine,
    ]
    .into_iter()
    .flat_map(|error| [error.to_string(), NotFound::NotAtStart(error).to_string()])
    .collect();
    sentences.extend([NotFound::NoRings.to_string(), NotFound::TooSmall { width: 9, height: 9 }.to_string()]);
    let french = french();
    for sentence in sentences {
        assert!(told(&french, &sentence).is_some(), "{sentence}");
    }
}

#[test]
fn what_is_seen_in_a_game_is_said_in_french_with_its_numbers() {
    let french = french();
    for (english, expected) in [
        (
            "disc 4: 0.1 mm from the 10 line (±0.2 mm): 10 or 5",
            "palet 4 : à 0.1 mm de la ligne des 10 (± 0.2 mm) : 10 ou 5",
        ),
        ("its colour (grey) is of neither side", "sa couleur (grey) n’est celle d’aucun camp"),
        ("something covers the board near (12, -30) mm", "quelque chose couvre le plateau près de (12, -30) mm"),
        (
            "the tray shows 3 20s, 2 were seen taken off the board",
            "le plateau à vingts en montre 3, 2 ont été vus retirés du jeu",
        ),
        (
            "proposal 4 cannot be taken as it is: that changes nothing",
            "la proposition 4 ne peut pas être prise telle quelle : cela ne change rien",
        ),
    ] {
        assert_eq!(told(&french, english).as_deref(), Some(expected));
    }
    assert_eq!(french.colours["black"], "noir");
}
