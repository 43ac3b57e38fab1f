use super::*;
use crate::count::report::Status;
use crate::count::testing::{Truth, overhead};

fn reviewed(truth: &Truth) -> Vec<Review> {
    truth.count(&Options::default()).report.review
}

#[test]
fn clear_discs_give_a_count() {
    let report = overhead(&[(50.0, 0.0), (0.0, 150.0), (-250.0, 0.0)]).count(&Options::default()).report;
    assert_eq!(report.review, []);
    assert_eq!(report.status, Status::Counted);
    assert_eq!(report.sides[0].total, 30);
}

#[test]
fn a_close_call_says_what_the_total_would_be() {
    // The 10 line's inner edge is at 202.4: a far edge at 202.3 is 0.1 mm inside.
    let review = reviewed(&overhead(&[(186.3, 0.0), (0.0, 50.0)]));
    assert_eq!(review.len(), 1);
    assert!(review[0].reason.starts_with("0.1 mm from the 10 line"), "{}", review[0].reason);
    assert_eq!((review[0].disc, &review[0].total_if_other), (Some(2), &[(Side::A, 20)].into()));
}

#[test]
fn a_close_call_at_the_shooting_line_adds_what_is_lost() {
    let review = reviewed(&overhead(&[(0.0, 288.1)]));
    assert_eq!(review[0].total_if_other, [(Side::A, 5)].into());
}

#[test]
fn a_third_colour_holds_both_totals() {
    let mut truth = overhead(&[(50.0, 0.0), (0.0, 150.0)]);
    truth.detections.discs[1].side = None;
    truth.detections.discs[1].lab = crate::count::testing::lab("orange");
    let review = reviewed(&truth);
    assert!(review[0].reason.contains("orange"), "{}", review[0].reason);
    assert_eq!(review[0].total_if_other, [(Side::A, 25), (Side::B, 10)].into());
}

#[test]
fn a_third_colour_beyond_the_line_changes_nothing() {
    let mut truth = overhead(&[(50.0, 0.0), (0.0, 310.0)]);
    truth.detections.discs[1].side = None;
    assert_eq!(reviewed(&truth), []);
}

#[test]
fn a_leaning_disc_is_for_a_person() {
    let mut truth = overhead(&[(5.0, 0.0)]);
    truth.detections.discs[0].state = State::Leaning;
    let review = reviewed(&truth);
    assert_eq!(review.len(), 1);
    assert_eq!(review[0].total_if_other, [(Side::A, 20)].into());
}

#[test]
fn an_unsure_disc_is_for_a_person_where_it_scores() {
    let mut truth = overhead(&[(50.0, 0.0), (0.0, 312.0)]);
    truth.detections.discs[0].confidence = 0.4;
    truth.detections.discs[1].confidence = 0.4;
    let review = reviewed(&truth);
    assert_eq!(review.len(), 1);
    assert_eq!((review[0].disc, &review[0].total_if_other), (Some(1), &[(Side::A, 0)].into()));
}

#[test]
fn two_discs_in_one_place_are_impossible() {
    let review = reviewed(&overhead(&[(150.0, 0.0), (150.0, 24.0)]));
    assert_eq!(review.len(), 1);
    assert!(review[0].reason.contains("24 mm from disc 1"), "{}", review[0].reason);
    assert_eq!(reviewed(&overhead(&[(150.0, 0.0), (150.0, 31.9)])), []);
}

#[test]
fn a_disc_on_a_peg_is_impossible() {
    let peg = (101.6 * 22.5f64.to_radians().cos(), 101.6 * 22.5f64.to_radians().sin());
    let review = reviewed(&overhead(&[(peg.0 + 8.0, peg.1)]));
    assert!(review.iter().any(|entry| entry.reason.contains("peg")), "{review:?}");
    // Touching it from outside is not.
    let beside = (peg.0 * (1.0 + 21.0 / 101.6), peg.1 * (1.0 + 21.0 / 101.6));
    assert!(reviewed(&overhead(&[beside])).iter().all(|entry| !entry.reason.contains("peg")));
}

#[test]
fn more_discs_than_can_be_are_for_a_person() {
    let places: Vec<(f64, f64)> =
        (0..9).map(|k| (160.0 * (f64::from(k) * 0.7).cos(), 160.0 * (f64::from(k) * 0.7).sin())).collect();
    let truth = overhead(&places);
    let most = |max_discs, set_aside| {
        let options = Options { max_discs, set_aside, ..Options::default() };
        truth.count(&options).report.review.len()
    };
    assert_eq!(most(9, [0, 0]), 0);
    assert_eq!(most(9, [1, 0]), 1);
    assert_eq!(most(8, [0, 0]), 1);
}

#[test]
fn a_board_that_leaves_the_picture_may_hide_discs() {
    let mut truth = overhead(&[(50.0, 0.0)]);
    truth.registration.camera.principal = Point::new(499.5, 250.0);
    let disc = &mut truth.detections.discs[0];
    disc.middle_px = truth.registration.camera.project(disc.base, 5.0).unwrap();
    let review = reviewed(&truth);
    assert!(review[0].reason.contains("outside the picture"), "{review:?}");
    assert_eq!(review[0].disc, None);
}

#[test]
fn a_line_that_was_hardly_seen_is_not_trusted() {
    let mut truth = overhead(&[(50.0, 0.0)]);
    truth.registration.rings[1].coverage = 0.04;
    assert!(reviewed(&truth)[0].reason.contains("10 line"));
}

#[test]
fn lengths_for_people_do_not_read_nought() {
    assert_eq!([millimetres(0.04), millimetres(0.1), millimetres(12.34)], ["0.04", "0.1", "12.3"]);
}
