use super::report::Status;
use super::testing::{Truth, lab, labelled, overhead};
use super::*;
use crate::board::{State, Zone};
use crate::capture::LensHint;

const LABELS: [&str; 7] = ["dev_000", "dev_001", "dev_010", "dev_020", "dev_026", "more_018", "more_040"];

fn report(truth: &Truth) -> Report {
    truth.count(&Options::default()).report
}

#[test]
fn perfect_stages_give_the_labelled_totals() {
    for name in LABELS {
        let truth = labelled(name);
        let report = report(&truth);
        let totals: Vec<u32> = report.sides.iter().map(|side| side.total).collect();
        assert_eq!(totals, truth.totals, "{name}");
    }
}

#[test]
fn what_is_not_counted_says_why() {
    for name in LABELS {
        let report = report(&labelled(name));
        assert_eq!(report.status == Status::Review, !report.review.is_empty(), "{name}");
        for disc in report.discs.iter().filter(|disc| disc.close) {
            assert!(report.review.iter().any(|entry| entry.disc == Some(disc.id)), "{name} disc {}", disc.id);
        }
    }
}

#[test]
fn ids_grow_from_the_centre_outwards() {
    let report = report(&labelled("dev_000"));
    let rho: Vec<f64> = report.discs.iter().map(|disc| disc.base_mm[0].hypot(disc.base_mm[1])).collect();
    assert!(rho.is_sorted());
    assert!(report.discs.iter().enumerate().all(|(index, disc)| disc.id as usize == index + 1));
}

#[test]
fn an_empty_board_is_counted_nil_to_nil() {
    let report = report(&overhead(&[]));
    assert_eq!(report.status, Status::Counted);
    assert_eq!(report.sides.iter().map(|side| side.total).collect::<Vec<_>>(), [0, 0]);
}

#[test]
fn twenties_set_aside_are_points() {
    let options = Options { set_aside: [2, 1], ..Options::default() };
    let report = overhead(&[(30.0, 0.0)]).count(&options).report;
    assert_eq!([report.sides[0].total, report.sides[1].total], [55, 20]);
    assert_eq!([report.sides[0].set_aside, report.sides[1].set_aside], [2, 1]);
    assert_eq!(report.sides[0].count.twenty, 0);
}

#[test]
fn the_same_scene_gives_the_same_bytes() {
    let bytes = || serde_json::to_string(&report(&labelled("dev_010"))).unwrap();
    assert_eq!(bytes(), bytes());
}

#[test]
fn the_public_json_is_the_contracts() {
    let mut truth = overhead(&[(50.0, 20.0), (170.25, 0.0), (-300.0, 40.0)]);
    truth.detections.discs[1].side = Some(Side::B);
    truth.detections.discs[1].lab = lab("natural");
    truth.detections.palette[1] = Some(lab("natural"));
    truth.registration.camera.k1 = -0.08;
    insta::assert_json_snapshot!(report(&truth));
}

#[test]
fn a_disc_in_the_hole_is_placed_on_its_floor() {
    let truth = labelled("dev_010");
    let count = truth.count(&Options::default());
    let disc = count.report.discs.iter().find(|disc| disc.state == State::InHole).unwrap();
    assert_eq!((disc.value, disc.line, disc.margin_mm), (20, None, None));
    // The label gives the image of its base: on the floor, 8 mm below the surface.
    let label = std::fs::read_to_string(format!("{}/tests/labels/dev_010.json", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let label: serde_json::Value = serde_json::from_str(&label).unwrap();
    let discs = label["discs"].as_array().unwrap();
    let base = &discs.iter().find(|disc| disc["state"] == "in_hole").unwrap()["image_base"];
    let off = (disc.base_px[0] - base[0].as_f64().unwrap()).hypot(disc.base_px[1] - base[1].as_f64().unwrap());
    assert!(off < 0.1, "{off} px");
}

#[test]
fn every_labelled_base_appears_where_its_label_says() {
    for name in LABELS {
        let truth = labelled(name);
        let path = format!("{}/tests/labels/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let label: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let bases: Vec<[f64; 2]> = label["discs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|disc| [0, 1].map(|i| disc["image_base"][i].as_f64().unwrap()))
            .collect();
        // A leaning disc touches the board with a point of its rim, not with a circle.
        for disc in report(&truth).discs.iter().filter(|disc| disc.state != State::Leaning) {
            let nearest = bases
                .iter()
                .map(|base| (disc.base_px[0] - base[0]).hypot(disc.base_px[1] - base[1]))
                .fold(f64::INFINITY, f64::min);
            assert!(nearest < 0.05, "{name} disc {}: {nearest} px", disc.id);
        }
    }
}

#[test]
fn a_picture_without_a_board_says_so_and_no_totals() {
    let frame = Frame {
        source: "grey.png".to_owned(),
        rgb: image::RgbImage::from_pixel(320, 240, image::Rgb([127; 3])),
        lens: LensHint::default(),
    };
    let count = run(&frame, &Options::default());
    assert_eq!(count.report.status, Status::NoBoard);
    assert!(count.scene.is_none() && count.report.sides.is_empty() && count.report.discs.is_empty());
    assert!(!count.report.review[0].reason.is_empty());
}

#[test]
fn a_disc_over_the_shooting_line_scores_nothing() {
    let count = overhead(&[(295.0, 0.0)]).count(&Options::default());
    let disc = &count.report.discs[0];
    assert_eq!((disc.state, disc.value), (State::Off, 0));
    assert_eq!(count.scene.unwrap().verdicts[0].zone, Zone::Out);
}

#[test]
fn a_tracked_picture_is_counted_like_a_new_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/samples/home-square-bulb.jpg");
    let frame = crate::capture::photo::read(std::path::Path::new(path)).unwrap();
    let options = Options::default();
    let cold = run(&frame, &options);
    let totals = |count: &Count| count.report.sides.iter().map(|side| side.total).collect::<Vec<_>>();
    let tracked = run_tracked(&frame, &cold.scene.as_ref().unwrap().registration, &options);
    assert_eq!(totals(&tracked), totals(&cold));
    // A board that is not where it was is looked for again.
    let moved = overhead(&[]).registration;
    assert_eq!(totals(&run_tracked(&frame, &moved, &options)), totals(&cold));
}
