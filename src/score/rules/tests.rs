use super::*;

#[test]
fn every_built_in_set_parses_and_settles() {
    for (name, _) in BUILTIN {
        let set = RuleSet::builtin(name).unwrap();
        assert_eq!(set.name, *name);
        assert!(!set.sources.is_empty());
        let (rules, taken) = set.settle().unwrap();
        let silent = set.rows().unwrap().iter().filter(|row| row.value.is_none()).count();
        assert_eq!(taken.len(), silent, "{name}: every silence is a default that is said");
        assert!(rules.discs_singles >= 8);
    }
}

#[test]
fn every_value_has_a_source_and_every_silence_says_what_was_looked_at() {
    for (name, _) in BUILTIN {
        for row in RuleSet::builtin(name).unwrap().rows().unwrap() {
            assert!(row.source.len() > 1, "{name}: {} has no source", row.name);
            assert_eq!(row.value.is_some(), row.mark.is_some(), "{name}: {}", row.name);
        }
    }
}

#[test]
fn where_the_founding_documents_disagree_both_behaviours_exist() {
    let rules = |name: &str| RuleSet::builtin(name).unwrap().settle().unwrap().0;
    let (s0, s1, s2, s4) = (rules("marquoir"), rules("spruce"), rules("corre"), rules("hilinski"));
    assert_eq!((s0.discs_singles, s1.discs_singles), (8, 12));
    assert_eq!((s0.conversion, s1.conversion), (Conversion::MatchPoints, Conversion::Difference));
    assert_eq!((s0.end, s1.end), (End::Rounds(4), End::Target(100)));
    assert_eq!(s0.invalid_removes, InvalidRemoves::ShooterAndAllStruck);
    assert_eq!(s1.invalid_removes, InvalidRemoves::ShooterAndOwnStruck);
    assert_eq!(s2.invalid_removes, InvalidRemoves::ShooterAndStruckInCombination);
    assert_eq!(s4.invalid_removes, InvalidRemoves::Shooter);
    assert_eq!(s0.no_hiding, NoHiding::On { reach: Reach::Touch, by: HidingBy::AnyStruck });
    assert_eq!(s1.no_hiding, NoHiding::On { reach: Reach::Touch, by: HidingBy::ShotDisc });
    assert_eq!(s4.no_hiding, NoHiding::Off);
    assert_eq!(
        (s0.quadrant, s1.quadrant, s4.quadrant),
        (Quadrant::TouchLine, Quadrant::HalfIn, Quadrant::TouchBothLines)
    );
}

#[test]
fn first_to_carries_its_end_in_the_name() {
    let end = |name: &str| RuleSet::builtin(name).unwrap().settle().unwrap().0.end;
    assert_eq!(end("first-to-5"), End::FirstTo { points: 5, margin: 1 });
    assert_eq!(end("first-to-9-by-2"), End::FirstTo { points: 9, margin: 2 });
    assert!(RuleSet::builtin("first-to-0").is_err());
    assert!(RuleSet::builtin("first-to-x").is_err());
    assert!(matches!(RuleSet::builtin("nhl"), Err(RulesError::Unknown { .. })));
}

#[test]
fn a_choice_overrides_a_parameter_and_is_marked_as_the_houses() {
    let set = RuleSet::builtin("nca").unwrap();
    let chosen = set.with(&["end_tie=shoot_out".into(), "end={rounds=6}".into(), "discs_singles=12".into()]).unwrap();
    let (rules, _) = chosen.settle().unwrap();
    assert_eq!((rules.end_tie, rules.end, rules.discs_singles), (EndTie::ShootOut, End::Rounds(6), 12));
    let row = chosen.rows().unwrap().into_iter().find(|row| row.name == "end").unwrap();
    assert_eq!((row.mark, row.value.as_deref()), (Some(Mark::House), Some("rounds 6")));
}

#[test]
fn a_wrong_choice_names_the_alternatives() {
    let set = RuleSet::builtin("nca").unwrap();
    let wrong = |choice: &str| set.with(&[choice.to_owned()]).unwrap_err().to_string();
    assert!(wrong("end_tie=replay").contains("final_round"), "{}", wrong("end_tie=replay"));
    assert!(wrong("disks=8").contains("discs_singles"));
    assert!(wrong("end_tie").contains("PARAMETER=VALUE"));
    assert!(wrong("discs_singles=0").contains("1 to"));
    assert!(wrong("end={first_to={points=5,margin=9}}").contains("margin"));
    assert!(wrong("end=7").contains("end={rounds=4}"), "{}", wrong("end=7"));
}

const HOUSE: &str = r#"
name = "kitchen"
title = "Our kitchen"
extends = "nca"
sources = ["agreed at the table"]

[parameters]
discs_singles = { value = 12, source = "we own 12" }
conversion = { value = "difference", source = "grandfather" }
end = { value = { target = 50 }, source = "grandfather" }
"#;

#[test]
fn a_house_set_builds_on_a_published_one() {
    let set = RuleSet::parse("kitchen.toml", HOUSE).unwrap();
    let (rules, _) = set.settle().unwrap();
    assert_eq!((rules.discs_singles, rules.conversion, rules.end), (12, Conversion::Difference, End::Target(50)));
    assert_eq!(rules.no_hiding, RuleSet::builtin("nca").unwrap().settle().unwrap().0.no_hiding);
}

#[test]
fn a_wrong_file_is_refused_with_its_place() {
    let wrong =
        |from: &str, to: &str| RuleSet::parse("kitchen.toml", &HOUSE.replace(from, to)).unwrap_err().to_string();
    assert!(wrong("conversion", "conversions").contains("conversions"));
    assert!(wrong("\"difference\"", "\"differnce\"").contains("match_points"));
    assert!(wrong("source = \"we own 12\"", "").contains("source"));
    assert!(wrong("target = 50", "target = 0").contains("1 to"));
    assert!(wrong("\"nca\"", "\"ncaa\"").contains("ncaa"));
    assert!(wrong("sources", "sauces").contains("sauces"), "{}", wrong("sources", "sauces"));
    let nca = BUILTIN.iter().find(|(name, _)| *name == "nca").unwrap().1;
    let typo = nca
        .replace("no_hiding = { value = { on = { reach = \"touch\"", "no_hiding = { value = { on = { reach = \"tuch\"");
    assert_ne!(typo, nca);
    let message = RuleSet::parse("nca.toml", &typo).unwrap_err().to_string();
    assert!(message.contains("line ") && message.contains("inside"), "{message}");
}
