//! Scripted rounds before a simulated camera, through the real live path: exactly these events and no others.
//!
//! Words: `a+10` a disc of side a placed on 10, `a>5` moved to 5, `a-` removed, `20 a` a 20, `= 10 5` a settled board with
//! these totals, `held` the count is held.

#[path = "support/mod.rs"]
mod support;

use std::time::Duration;

use crokeye::board::Side::{A, B};
use crokeye::count::SideColours;
use crokeye::live::event::CameraState;
use crokeye::live::{Key, RoundConfig, Settings, Watcher};
use crokeye::score::rules::RuleSet;
use support::colour::srgb;
use support::play::{Play, arm, board, cup, disc, in_ditch, in_hole};
use support::scene::Light;

/// Holds a script's events against what must have happened.
#[track_caller]
fn expect(play: &Play, expected: &[&str]) {
    let story = play.story();
    assert_eq!(story, expected, "\nwhat happened:\n{}", serde_json::to_string_pretty(&play.events).unwrap());
}

/// Three shots: a on 10, b on 5, a on 15.
fn opened() -> Play {
    let mut play = Play::new();
    play.draw(A, 0.0, 150.0).draw(B, -150.0, 200.0).draw(A, 60.0, 20.0);
    play
}

/// What [`opened`] tells.
const OPENED: [&str; 8] = ["found", "= 0 0", "= 10 0", "a+10", "= 10 5", "b+5", "= 25 5", "a+15"];

/// What comes after [`opened`].
#[track_caller]
fn expect_after_opening(play: &Play, expected: &[&str]) {
    expect(play, &[&OPENED[..], expected].concat());
}

/// Five discs on the board: a 10, 15, 10 and b 5, 10.
fn five() -> Play {
    let mut play = opened();
    play.draw(B, 150.0, -50.0).draw(A, -150.0, -60.0);
    play
}

const FIVE: [&str; 12] =
    ["found", "= 0 0", "= 10 0", "a+10", "= 10 5", "b+5", "= 25 5", "a+15", "= 25 15", "b+10", "= 35 15", "a+10"];

#[track_caller]
fn expect_after_five(play: &Play, expected: &[&str]) {
    expect(play, &[&FIVE[..], expected].concat());
}

#[test]
fn shots_are_placed_one_by_one() {
    expect_after_opening(&opened(), &[]);
}

#[test]
fn a_camera_that_compresses_as_phones_do_rests_too() {
    let mut play = Play::of(board(), Settings::default());
    play.quality = Some(50);
    play.rest(0.8).draw(A, 0.0, 150.0).draw(B, -150.0, 200.0).draw(A, 60.0, 20.0);
    expect_after_opening(&play, &[]);
}

#[test]
fn a_hand_that_comes_and_goes_changes_nothing() {
    let mut play = opened();
    play.hand(0.0, 200.0, 6).rest(0.8);
    expect_after_opening(&play, &["= 25 5"]);
}

#[test]
fn a_disc_knocked_away_has_moved_and_the_striker_is_placed() {
    let mut play = opened();
    play.shot(B, |discs| {
        discs[0] = disc(A, 40.0, 245.0);
        discs.push(disc(B, 10.0, 120.0));
    });
    expect_after_opening(&play, &["= 20 15", "a>5", "b+10"]);
}

#[test]
fn a_disc_knocked_into_the_ditch_is_removed() {
    let mut play = opened();
    play.shot(B, |discs| {
        discs[0] = in_ditch(A, 100.0);
        discs.push(disc(B, 10.0, 120.0));
    });
    expect_after_opening(&play, &["= 15 15", "a-", "b+10"]);
}

#[test]
fn a_shot_straight_into_the_ditch_leaves_the_board_as_it_was() {
    let mut play = opened();
    play.shot(B, |discs| discs.push(in_ditch(B, 250.0)));
    expect_after_opening(&play, &["= 25 5"]);
}

#[test]
fn a_twenty_is_counted_and_set_aside() {
    let mut play = opened();
    play.shot(B, |discs| discs.push(in_hole(B)));
    play.take(|disc| disc.at.norm() < 5.0).rest(0.8);
    expect_after_opening(&play, &["= 25 25", "b+20", "20 b", "= 25 25", "b-"]);
}

/// What the terminal's `--sides` does: the sides have the colours that a person named, in the order given.
#[test]
fn a_twenty_of_a_named_colour_is_counted_too() {
    for (names, told) in [(["black", "red"], "20 b"), (["red", "black"], "20 a")] {
        let mut settings = Settings::default();
        settings.options.sides = Some(SideColours::named(names[0], names[1]).unwrap());
        let mut play = Play::of(board(), settings);
        play.rest(0.8).draw(A, 0.0, 150.0).draw(B, -150.0, 200.0).draw(A, 60.0, 20.0);
        play.shot(B, |discs| discs.push(in_hole(B)));
        play.take(|disc| disc.at.norm() < 5.0).rest(0.8);
        let story = play.story();
        assert_eq!(story.iter().filter(|word| word.starts_with("20")).collect::<Vec<_>>(), [told], "{story:?}");
    }
}

#[test]
fn a_twenty_taken_out_within_a_second_is_counted() {
    let mut play = opened();
    play.hand(30.0, 330.0, 3).flash(|scene| scene.discs.push(disc(B, 20.0, 120.0)));
    // The disc lies in the hole for half a second while a hand moves at the edge, then it is gone.
    for frame in 0..5 {
        play.flash(|scene| {
            scene.discs.push(in_hole(B));
            scene.arm = arm(30.0 + 15.0 * f64::from(frame % 2), 330.0);
        });
    }
    play.hand(5.0, 40.0, 3).hand(30.0, 330.0, 2).rest(0.8);
    expect_after_opening(&play, &["= 25 25", "20 b"]);
}

#[test]
fn a_disc_knocked_into_the_hole_is_a_twenty_for_its_side() {
    let mut play = opened();
    play.shot(B, |discs| {
        discs[2] = in_hole(A);
        discs.push(disc(B, 70.0, 60.0));
    });
    expect_after_opening(&play, &["= 30 15", "a>20", "b+10", "20 a"]);
}

#[test]
fn two_twenties_one_after_the_other_are_two() {
    let mut play = opened();
    play.shot(B, |discs| discs.push(in_hole(B)));
    play.take(|disc| disc.at.norm() < 5.0).rest(0.5);
    play.shot(A, |discs| discs.push(in_hole(A)));
    play.take(|disc| disc.at.norm() < 5.0).rest(0.5);
    let expected = ["= 25 25", "b+20", "20 b", "= 25 25", "b-", "= 45 25", "a+20", "20 a", "= 45 25", "a-"];
    expect_after_opening(&play, &expected);
}

#[test]
fn clearing_ends_the_round_with_the_last_settled_board() {
    let mut play = five();
    play.clear();
    let cleared = ["a-", "b-", "a-", "b-", "a-", "ROUND cleared: 35 with 0 aside, 15 with 0 aside", "= 0 0"];
    let story = play.story();
    assert_eq!(sorted(&story[12..17]), sorted(&cleared.map(String::from)[..5]), "{story:?}");
    assert_eq!(story[17..], cleared[5..]);
}

fn sorted(words: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    words.sort();
    words
}

#[test]
fn clearing_disc_by_disc_with_pauses_is_one_clearing() {
    let mut play = five();
    for _ in 0..5 {
        let first = play.scene.discs[0].at;
        play.take(|disc| disc.at == first).rest(0.4);
    }
    play.rest(1.0);
    let story = play.story();
    let rounds: Vec<&String> = story.iter().filter(|word| word.starts_with("ROUND")).collect();
    assert_eq!(rounds, ["ROUND cleared: 35 with 0 aside, 15 with 0 aside"], "{story:?}");
}

#[test]
fn a_disc_forgotten_while_clearing_makes_no_second_round() {
    let mut play = five();
    play.take(|disc| disc.at.x > -140.0).rest(1.0).rest(3.0);
    play.take(|disc| disc.at.x < -140.0 && disc.at.y < 0.0).rest(3.0);
    play.take(|_| true).rest(2.0).end();
    let story = play.story();
    let rounds: Vec<&String> = story.iter().filter(|word| word.starts_with("ROUND")).collect();
    assert_eq!(rounds, ["ROUND cleared: 35 with 0 aside, 15 with 0 aside"], "{story:?}");
}

#[test]
fn a_disc_forgotten_in_the_ditch_does_not_keep_the_round_open() {
    let mut play = five();
    play.scene.discs.push(in_ditch(B, 200.0));
    play.rest(0.5).take(|disc| disc.at.norm() < 340.0).rest(1.0);
    let story = play.story();
    assert_eq!(story.last().unwrap(), "= 0 0");
    assert!(story.contains(&"ROUND cleared: 35 with 0 aside, 15 with 0 aside".to_owned()), "{story:?}");
}

#[test]
fn someone_leaning_over_the_board_holds_the_count() {
    let mut play = five();
    play.scene.arm = Some(([-500.0, -300.0, 90.0], [40.0, 60.0, 90.0], 90.0));
    play.rest(2.0);
    play.scene.arm = None;
    play.rest(0.8);
    expect_after_five(&play, &["held", "= 35 15"]);
}

#[test]
fn a_hand_that_rests_on_the_board_holds_the_count() {
    let mut play = opened();
    play.scene.arm = arm(-120.0, -150.0);
    play.rest(1.5);
    play.scene.arm = None;
    play.rest(0.8);
    expect_after_opening(&play, &["held", "= 25 5"]);
}

#[test]
fn fingertips_at_the_edge_hold_the_count() {
    let mut play = opened();
    play.scene.arm = arm(0.0, 305.0);
    play.rest(1.0);
    play.scene.arm = None;
    play.rest(0.8);
    expect_after_opening(&play, &["held", "= 25 5"]);
}

#[test]
fn a_cup_put_down_holds_the_count_until_it_is_gone() {
    let mut play = five();
    play.hand(100.0, 120.0, 3);
    play.scene.clutter.push(cup(100.0, 120.0));
    play.rest(4.0).hand(100.0, 120.0, 3);
    play.scene.clutter.clear();
    play.rest(0.8);
    expect_after_five(&play, &["held", "= 35 15"]);
}

#[test]
fn a_dimmed_lamp_changes_nothing() {
    let mut play = opened();
    play.scene.sensor.exposure = 0.6;
    play.rest(1.0);
    expect_after_opening(&play, &["= 25 5"]);
}

#[test]
fn a_warmer_light_changes_nothing() {
    let mut play = opened();
    play.scene.light.tint = [1.0, 0.86, 0.66];
    play.rest(1.0);
    expect_after_opening(&play, &["= 25 5"]);
}

#[test]
fn a_lamp_from_the_other_side_changes_nothing() {
    let mut play = opened();
    play.scene.light = Light { slope: [-0.4, -0.3], gradient: [-0.25, 0.2], ..Light::even() };
    play.rest(1.0);
    expect_after_opening(&play, &["= 25 5"]);
}

#[test]
fn light_that_fades_slowly_is_no_motion() {
    let mut play = opened();
    for step in 0..20 {
        play.scene.sensor.exposure = 1.0 - 0.005 * f64::from(step) as f32;
        play.rest(0.2);
    }
    let story = play.story();
    assert!(story[8..].iter().all(|word| word == "= 25 5"), "{story:?}");
}

#[test]
fn a_bumped_camera_is_followed() {
    let mut play = opened();
    play.scene.view.aim = [0.012, -0.008];
    play.rest(1.0).draw(B, 150.0, -50.0);
    let story = play.story();
    assert_eq!(story[8], "bumped", "{story:?} {:?}", play.events.iter().map(|event| &event.what).nth(8));
    assert!(story[9..].iter().filter(|word| !word.starts_with('=')).eq(["b+10"]), "{story:?}");
}

#[test]
fn a_turned_board_takes_its_discs_along() {
    let mut play = five();
    let turn = 7f64.to_radians();
    play.hand(250.0, 250.0, 3);
    play.scene.view.turn_rad += turn;
    play.rest(1.0).draw(B, 20.0, -140.0);
    let story = play.story();
    let rest: Vec<&String> = story[12..].iter().filter(|word| !word.starts_with('=')).collect();
    assert!(rest == ["bumped", "b+10"] || rest == ["b+10"], "{story:?}");
    assert!(story.iter().all(|word| !word.ends_with('-')), "{story:?}");
}

#[test]
fn a_camera_pushed_far_finds_the_board_again_and_goes_on() {
    let mut play = five();
    play.scene.view.aim = [0.06, 0.05];
    play.scene.view.share = 0.78;
    play.rest(5.0).draw(B, 20.0, -140.0);
    let story = play.story();
    let rest: Vec<&String> = story[12..].iter().filter(|word| !word.starts_with('=')).collect();
    assert!(rest.iter().all(|word| ["held", "lost", "found", "bumped", "b+10"].contains(&word.as_str())), "{story:?}");
    assert_eq!(rest.last().unwrap().as_str(), "b+10");
    assert_eq!(story.iter().filter(|word| *word == "= 35 25").count(), 1, "{story:?}");
}

#[test]
fn what_moves_beside_the_board_is_ignored() {
    let mut play = opened();
    for step in 0..20 {
        play.flash(|scene| scene.clutter.push(cup(-530.0 + 6.0 * f64::from(step % 3), 100.0 - 10.0 * f64::from(step))));
    }
    play.rest(0.5);
    expect_after_opening(&play, &[]);
}

#[test]
fn a_covered_lens_is_said_and_the_round_goes_on() {
    let mut play = opened();
    play.scene.sensor.exposure = 0.0;
    play.rest(1.0);
    play.scene.sensor.exposure = 1.0;
    play.rest(0.8);
    expect_after_opening(&play, &["camera dark", "camera back", "= 25 5"]);
}

#[test]
fn a_lost_camera_that_returns_goes_on_in_the_same_round() {
    let mut play = opened();
    play.camera(CameraState::Lost).camera(CameraState::Back);
    play.draw(B, 150.0, -50.0);
    expect_after_opening(&play, &["camera lost", "camera back", "= 25 15", "b+10"]);
}

/// A session of sides with so few discs that a script can shoot them all.
fn short(discs: u32, quiet_secs: u64) -> Settings {
    let round = RoundConfig { discs, quiet: Duration::from_secs(quiet_secs), ..RoundConfig::default() };
    Settings { round, ..Settings::default() }
}

#[test]
fn the_round_is_over_when_all_discs_were_shot() {
    let mut play = Play::of(board(), short(3, 600));
    play.rest(0.8);
    play.draw(A, 0.0, 150.0).draw(B, -150.0, 200.0).draw(A, 60.0, 20.0);
    // A black disc in a dark ditch would not be seen.
    play.shot(B, |discs| discs.push(in_ditch(B, 300.0)));
    play.draw(A, -150.0, -60.0).draw(B, 150.0, -50.0).rest(6.0).clear();
    let story = play.story();
    let over: Vec<&String> = story.iter().filter(|word| word.starts_with("ROUND") || *word == "final").collect();
    assert_eq!(over, ["ROUND all shot: 35 with 0 aside, 15 with 0 aside", "final"], "{story:?}");
}

#[test]
fn a_quiet_time_ends_the_round() {
    let mut play = Play::of(board(), short(12, 8));
    play.rest(0.8);
    play.draw(A, 0.0, 150.0).draw(B, -150.0, 200.0).draw(A, 60.0, 20.0).draw(B, 150.0, -50.0).rest(10.0);
    let story = play.story();
    assert_eq!(story.last().unwrap(), "ROUND quiet: 25 with 0 aside, 15 with 0 aside");
}

#[test]
fn play_that_goes_on_after_a_quiet_time_is_the_same_round() {
    let mut play = Play::of(board(), short(12, 8));
    play.rest(0.8);
    play.draw(A, 0.0, 150.0).draw(B, -150.0, 200.0).draw(A, 60.0, 20.0).draw(B, 150.0, -50.0).rest(10.0);
    play.draw(A, -150.0, -60.0).clear();
    let story = play.story();
    let told: Vec<&String> = story.iter().filter(|word| word.starts_with("ROUND") || *word == "resumed").collect();
    let expected =
        ["ROUND quiet: 25 with 0 aside, 15 with 0 aside", "resumed", "ROUND cleared: 35 with 0 aside, 15 with 0 aside"];
    assert_eq!(told, expected, "{story:?}");
}

#[test]
fn a_key_ends_the_round_and_the_next_waits_for_an_empty_board() {
    let mut play = five();
    play.key(Key::EndRound).draw(B, 20.0, -140.0).clear();
    play.draw(A, 0.0, 150.0).end();
    let story = play.story();
    let told: Vec<&String> = story.iter().filter(|word| word.starts_with("ROUND")).collect();
    let expected = ["ROUND key: 35 with 0 aside, 15 with 0 aside", "ROUND end: 10 with 0 aside, 0 with 0 aside"];
    assert_eq!(told, expected, "{story:?}");
}

#[test]
fn the_end_of_the_source_ends_the_round() {
    let mut play = five();
    play.end();
    expect_after_five(&play, &["ROUND end: 35 with 0 aside, 15 with 0 aside"]);
}

#[test]
fn a_source_that_ends_after_the_clearing_has_told_its_round() {
    let mut play = five();
    play.clear().rest(1.0).end();
    let story = play.story();
    assert_eq!(story.iter().filter(|word| word.starts_with("ROUND")).count(), 1, "{story:?}");
}

#[test]
fn two_rounds_are_two_with_their_own_twenties() {
    let mut play = opened();
    play.shot(B, |discs| discs.push(in_hole(B)));
    play.take(|disc| disc.at.norm() < 5.0).rest(0.8).clear();
    play.draw(A, 0.0, 150.0).draw(B, -150.0, 200.0).draw(A, 60.0, 20.0).draw(B, 150.0, -50.0).clear();
    let story = play.story();
    let told: Vec<&String> = story.iter().filter(|word| word.starts_with("ROUND")).collect();
    let expected =
        ["ROUND cleared: 25 with 0 aside, 25 with 1 aside", "ROUND cleared: 25 with 0 aside, 15 with 0 aside"];
    assert_eq!(told, expected, "{story:?}");
}

#[test]
fn a_board_shot_empty_is_not_cleared() {
    let mut play = Play::new();
    play.draw(A, 0.0, 150.0);
    play.shot(B, |discs| *discs = vec![in_ditch(A, 80.0), in_ditch(B, 120.0)]);
    play.draw(A, 60.0, 20.0).draw(B, 150.0, -50.0);
    let expected = ["found", "= 0 0", "= 10 0", "a+10", "= 0 0", "a-", "= 15 0", "a+15", "= 15 10", "b+10"];
    expect(&play, &expected);
}

#[test]
fn one_disc_put_down_and_taken_away_is_no_round() {
    let mut play = Play::new();
    play.draw(A, 0.0, 150.0).clear();
    expect(&play, &["found", "= 0 0", "= 10 0", "a+10", "a-", "abandoned", "= 0 0"]);
}

#[test]
fn a_twenty_of_the_last_shot_counts_when_all_is_cleared() {
    let mut play = five();
    play.shot(B, |discs| discs.push(in_hole(B))).clear();
    let story = play.story();
    assert!(story.contains(&"ROUND cleared: 35 with 0 aside, 35 with 0 aside".to_owned()), "{story:?}");
}

#[test]
fn an_invalid_disc_taken_off_after_the_last_shot_stays_off() {
    let mut play = five();
    let last = play.scene.discs.last().unwrap().at;
    play.take(|disc| disc.at == last).rest(4.0).clear();
    let story = play.story();
    assert!(story.contains(&"ROUND cleared: 25 with 0 aside, 15 with 0 aside".to_owned()), "{story:?}");
}

#[test]
fn a_hand_that_was_there_first_leaves_no_ghost() {
    let mut scene = board();
    scene.arm = arm(-150.0, 120.0);
    let mut play = Play::of(scene, Settings::default());
    play.rest(2.0);
    play.scene.arm = None;
    play.rest(1.0).draw(A, 0.0, 150.0).draw(B, 150.0, -50.0);
    let story = play.story();
    let expected = ["= 10 0", "a+10", "= 10 10", "b+10"].map(String::from);
    assert!(story.ends_with(&expected), "{story:?} {:?}", play.events.last().map(|event| &event.what));
}

#[test]
fn a_session_may_begin_in_mid_round() {
    let mut scene = board();
    scene.discs = vec![disc(A, 0.0, 150.0), disc(B, -150.0, 200.0), disc(A, 60.0, 20.0)];
    let mut play = Play::of(scene, Settings::default());
    play.rest(1.0).draw(B, 150.0, -50.0);
    expect(&play, &["found", "= 25 5", "a+15", "a+10", "b+5", "= 25 15", "b+10"]);
}

/// A session with advice by the NCA's rules.
fn advised() -> Play {
    let (rules, _) = RuleSet::builtin("nca").unwrap().settle().unwrap();
    let round = RoundConfig { rules: Some(rules), ..RoundConfig::default() };
    let mut play = Play::of(board(), Settings { round, ..Settings::default() });
    play.rest(0.8);
    play
}

#[test]
fn a_shot_that_hides_is_advised_off() {
    let mut play = advised();
    play.draw(A, 0.0, 160.0);
    let advice = "advice: no disc reached the 15 zone; disc 1 goes with the invalid shot";
    expect(&play, &["found", "= 0 0", "= 10 0", "a+10", advice]);
}

#[test]
fn a_shot_that_touches_no_opponent_is_advised_off() {
    let mut play = advised();
    play.draw(A, 60.0, 20.0).draw(B, -120.0, 100.0);
    let advice = "advice: no opposing disc seems to have been touched; disc 2 goes with the invalid shot";
    expect(&play, &["found", "= 0 0", "= 15 0", "a+15", "= 15 10", "b+10", advice]);
}

#[test]
fn a_disc_on_the_shooting_line_is_advised_off() {
    let mut play = advised();
    play.draw(A, 60.0, 20.0);
    play.shot(B, |discs| {
        discs[0] = disc(A, 90.0, 10.0);
        discs.push(disc(B, 0.0, 302.0));
    });
    let advice = "advice: disc 2 lies on the shooting line and should be taken off";
    expect(&play, &["found", "= 0 0", "= 15 0", "a+15", "= 10 0", "a>10", "b+0", advice]);
}

#[test]
fn a_hit_that_ends_well_needs_no_advice() {
    let mut play = advised();
    play.draw(A, 60.0, 20.0);
    play.shot(B, |discs| {
        discs[0] = disc(A, 150.0, 10.0);
        discs.push(disc(B, 40.0, 40.0));
    });
    expect(&play, &["found", "= 0 0", "= 15 0", "a+15", "= 10 15", "a>10", "b+15"]);
}

#[test]
fn trays_are_a_cross_check() {
    let region = crokeye::live::Region { x: 4, y: 4, width: 130, height: 90 };
    let mut scene = board();
    scene.table = srgb(0x8C8478);
    let mut play = Play::of(scene, Settings { trays: [None, Some(region)], ..Settings::default() });
    play.rest(0.8);
    play.draw(A, 0.0, 150.0).draw(B, -150.0, 200.0).draw(A, 60.0, 20.0);
    play.shot(B, |discs| discs.push(in_hole(B)));
    play.take(|disc| disc.at.norm() < 5.0).rest(0.8).end();
    let story = play.story();
    assert_eq!(story.last().unwrap(), "ROUND end: 25 with 0 aside, 25 with 1 aside");
    let last = serde_json::to_value(play.events.last().unwrap()).unwrap();
    let reasons = last["review"].as_array().unwrap().iter().map(|review| review["reason"].as_str().unwrap());
    assert!(reasons.clone().any(|reason| reason.contains("the tray shows 0 20s")), "{:?}", reasons.collect::<Vec<_>>());
}

#[test]
fn the_same_inputs_give_the_same_events_byte_for_byte() {
    let mut play = five();
    play.shot(B, |discs| discs.push(in_hole(B)));
    play.take(|disc| disc.at.norm() < 5.0).rest(0.8).clear().end();
    let mut again = Watcher::new(Settings::default());
    let replayed: Vec<String> = play
        .inputs
        .iter()
        .flat_map(|input| again.take(input))
        .map(|event| serde_json::to_string(&event).unwrap())
        .collect();
    let first: Vec<String> = play.events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    assert_eq!(first, replayed);
}
