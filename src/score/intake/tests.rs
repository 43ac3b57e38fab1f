use super::*;
use crate::score::event::{Context, Player, SideInfo};
use crate::score::format::{Format, Seat};
use crate::score::rules::RuleSet;

fn setup(colours: [Option<&str>; 2]) -> Setup {
    let set = RuleSet::builtin("nca").unwrap();
    let (rules, defaults_taken) = set.settle().unwrap();
    let side = |colour: Option<&str>| SideInfo { players: vec![Player::named("x")], colour: colour.map(str::to_owned) };
    Setup {
        rules_name: set.name,
        rules,
        defaults_taken,
        choices: Vec::new(),
        format: Format::Singles,
        sides: colours.map(side).to_vec(),
        first: Seat(0),
        context: Context::default(),
    }
}

fn count(status: &str, a: &str, b: &str) -> String {
    format!(
        r#"{{"schema":"crokeye.count/1","status":"{status}","error":null,"new_field":[1],
        "discs":[{{"id":1,"side":"a","value":15}}],
        "sides":[{{"side":"a","colour":{a},"count":{{"20":1,"15":2,"10":0,"5":1,"0":0}},"set_aside":1,"total":75}},
                 {{"side":"b","colour":{b},"count":{{"20":0,"15":1,"10":1,"5":0,"0":2}},"set_aside":0,"total":25}}],
        "review":[]}}"#
    )
}

fn totals(intake: &Intake) -> [Option<i64>; 2] {
    [intake.sides[0].total, intake.sides[1].total]
}

#[test]
fn without_colours_the_darker_side_is_a() {
    let intake = from_count(count("counted", "\"black\"", "\"natural\"").as_bytes(), &setup([None, None])).unwrap();
    assert_eq!(totals(&intake), [Some(75), Some(25)]);
    assert!(intake.review.is_empty());
}

#[test]
fn named_colours_decide_whose_discs_they_are() {
    let json = count("counted", "\"black\"", "\"natural\"");
    let straight = from_count(json.as_bytes(), &setup([Some("Black"), Some("natural")])).unwrap();
    assert_eq!(totals(&straight), [Some(75), Some(25)]);
    let crossed = from_count(json.as_bytes(), &setup([Some("natural"), Some("black")])).unwrap();
    assert_eq!(totals(&crossed), [Some(25), Some(75)]);
    assert!(crossed.review.is_empty());
}

#[test]
fn one_colour_on_the_board_is_enough() {
    let intake = from_count(count("counted", "\"red\"", "null").as_bytes(), &setup([Some("black"), Some("red")]));
    assert_eq!(totals(&intake.unwrap()), [Some(25), Some(75)]);
}

#[test]
fn one_colour_that_fits_decides_with_a_doubt() {
    let json = count("counted", "\"black\"", "\"red\"");
    for (colours, expected) in [([Some("green"), Some("black")], [25, 75]), ([Some("black"), Some("green")], [75, 25])]
    {
        let intake = from_count(json.as_bytes(), &setup(colours)).unwrap();
        assert_eq!(totals(&intake), expected.map(Some));
        assert_eq!(intake.review.len(), 1, "{:?}", intake.review);
    }
}

#[test]
fn colours_of_another_set_are_for_a_person_to_look_at() {
    let json = count("counted", "\"green\"", "\"natural\"");
    let intake = from_count(json.as_bytes(), &setup([Some("black"), Some("natural")])).unwrap();
    assert_eq!(intake.review.len(), 1, "{:?}", intake.review);
}

#[test]
fn a_disc_of_a_third_colour_holds_the_count_for_review() {
    let json = count("counted", "null", "null").replace("\"side\":\"a\",\"value\"", "\"side\":null,\"value\"");
    let intake = from_count(json.as_bytes(), &setup([None, None])).unwrap();
    assert!(intake.review[0].contains("neither side"));
}

#[test]
fn reasons_of_the_count_are_kept() {
    let json = count("review", "null", "null").replace(
        "\"review\":[]",
        r#""review":[{"disc":4,"reason":"0.1 mm from the 10 line","total_if_other":{"a":35}}]"#,
    );
    let intake = from_count(json.as_bytes(), &setup([None, None])).unwrap();
    assert_eq!(intake.review, ["disc 4: 0.1 mm from the 10 line"]);
    let silent = from_count(count("review", "null", "null").as_bytes(), &setup([None, None])).unwrap();
    assert_eq!(silent.review.len(), 1, "a review without a reason is still a review");
}

#[test]
fn what_was_not_counted_is_no_round() {
    for status in ["no_board", "error"] {
        let refused = from_count(count(status, "null", "null").as_bytes(), &setup([None, None]));
        assert!(matches!(refused, Err(IntakeError::NotCounted(_))));
    }
    assert!(matches!(from_count(b"{}", &setup([None, None])), Err(IntakeError::Parse(_))));
    let other = count("counted", "null", "null").replace("count/1", "count/2");
    assert!(matches!(from_count(other.as_bytes(), &setup([None, None])), Err(IntakeError::Schema(_))));
}
