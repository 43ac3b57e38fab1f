//! Two rendered rounds, played as a camera of ten frames a second would see them: one round each with the exact totals,
//! every 20, every settled board, and no change of the count while a hand is there.
//!
//! The rounds lie in `../shared/render/rounds`; where they are not, nothing is tested.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crokeye::capture::photo;
use crokeye::live::input::Told;
use crokeye::live::{Event, GateConfig, Player, Settings, What};
use image::RgbImage;
use serde_json::Value;

const FPS: f64 = 10.0;

/// How long each kind of picture is held, s, as `../shared/evaluate/expand_round.py` does; at least one frame.
fn hold_secs(kind: &str) -> f64 {
    match kind {
        "empty" => 2.0,
        "hand" => 0.6,
        "settled" => 1.6,
        _ => 0.0,
    }
}

/// A round's frames: for each frame of the camera the index of its picture.
fn played(truth: &[Value]) -> Vec<usize> {
    let mut out = Vec::new();
    for (index, frame) in truth.iter().enumerate() {
        let last = index + 1 == truth.len();
        let secs = if last { 4.0 } else { hold_secs(frame["kind"].as_str().unwrap()) };
        out.extend(std::iter::repeat_n(index, (secs * FPS).round().max(1.0) as usize));
    }
    out
}

fn watched(folder: &Path, truth: &[Value]) -> (Vec<Event>, Vec<usize>) {
    let frames = played(truth);
    let mut player = Player::new(Settings::default(), GateConfig::default());
    let mut events = Vec::new();
    let mut shown: Option<(usize, RgbImage)> = None;
    for (number, index) in frames.iter().enumerate() {
        if shown.as_ref().is_none_or(|(shown, _)| shown != index) {
            let path = folder.join(truth[*index]["image"].as_str().unwrap());
            shown = Some((*index, photo::read(&path).unwrap().rgb));
        }
        let (_, rgb) = shown.as_ref().unwrap();
        let at = Duration::from_secs_f64(number as f64 / FPS);
        events.extend(player.frame(rgb, number as u64, at).into_iter().flat_map(|(_, events)| events));
    }
    let last = frames.len() as u64 - 1;
    events.extend(player.tell(Told::End, last, Duration::from_secs_f64(last as f64 / FPS)).1);
    (events, frames)
}

/// Totals of both sides, the truth's side a first; `swapped` where the darker colour is the truth's side b.
fn totals(sides: [u32; 2], swapped: bool) -> [u32; 2] {
    if swapped { [sides[1], sides[0]] } else { sides }
}

fn pair(value: &Value) -> [u32; 2] {
    ["a", "b"].map(|side| value[side].as_u64().unwrap() as u32)
}

fn check(name: &str, swapped: bool) {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/render/rounds")).join(name);
    let Ok(text) = std::fs::read_to_string(folder.join("seq.json")) else {
        eprintln!("{} is not there: not tested", folder.display());
        return;
    };
    let sequence: Value = serde_json::from_str(&text).unwrap();
    let truth = sequence["frames"].as_array().unwrap();
    let (events, frames) = watched(&folder, truth);
    let shown = |event: &Event| &truth[frames[event.frame as usize]];

    let rounds: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.what {
            What::Round(round) => Some(round),
            _ => None,
        })
        .collect();
    assert_eq!(rounds.len(), 1, "{name}: rounds");
    let found = [0, 1].map(|side| rounds[0].sides[side].total);
    assert_eq!(totals(found, swapped), pair(&sequence["final_totals"]["total"]), "{name}: totals");

    let mut seen = vec![None; truth.len()];
    let mut last = None;
    let mut both_known = false;
    for event in &events {
        let kind = shown(event)["kind"].as_str().unwrap();
        match &event.what {
            What::Sides { .. } => both_known = true,
            What::Settled { count, .. } => {
                let sides = [0, 1].map(|side| count.sides[side].total);
                // Until both colours were seen the only one may be called by either name.
                let sides = totals(sides, if both_known { swapped } else { sides[0] < sides[1] });
                if kind == "settled" || kind == "empty" {
                    seen[frames[event.frame as usize]] = Some(sides);
                } else {
                    // A hand that hardly reaches into the picture may be taken for none; it must not change the count.
                    assert_eq!(last, Some(sides), "{name}: a hand changed the count in frame {}", event.frame);
                }
                last = Some(sides);
            }
            What::Twenty { .. } => {
                assert_eq!(shown(event)["twenty_in_hole"], true, "{name}: a 20 in frame {}", event.frame);
            }
            _ => {}
        }
    }
    let twenties = events.iter().filter(|event| matches!(event.what, What::Twenty { .. })).count();
    let thrown = pair(&sequence["final_totals"]["twenties"]);
    assert_eq!(twenties as u32, thrown[0] + thrown[1], "{name}: 20s");
    for (index, frame) in truth.iter().enumerate() {
        if frame["kind"] == "settled" && index + 1 < truth.len() {
            let truth = pair(&frame["round_totals_so_far"]);
            let early = |found: [u32; 2]| found[0].max(found[1]) == truth[0].max(truth[1]) && truth.contains(&0);
            let found = seen[index].unwrap_or_else(|| panic!("{name}: picture {index} was not settled"));
            assert!(found == truth || early(found), "{name}: picture {index}: {found:?} instead of {truth:?}");
        }
    }
}

#[test]
fn a_round_on_a_standard_board() {
    // Orange against blue: the darker one is the truth's side b.
    check("seq0", true);
}

#[test]
fn a_round_on_a_home_board_under_a_bulb() {
    // Red against black.
    check("seq3", true);
}
