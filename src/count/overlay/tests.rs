use super::*;
use crate::count::Options;
use crate::count::testing::{Truth, labelled, overhead};

fn drawn(truth: &Truth) -> RgbImage {
    draw(&truth.frame, &truth.count(&Options::default()))
}

/// Pixels of about that colour.
fn count_of(picture: &RgbImage, colour: Colour) -> usize {
    picture.pixels().filter(|pixel| pixel.0.iter().zip(colour).all(|(a, b)| a.abs_diff(b) < 30)).count()
}

#[test]
fn a_counted_board_has_a_banner_and_no_panel() {
    let truth = overhead(&[(50.0, 0.0)]);
    let picture = drawn(&truth);
    // 1000 x 800 is enlarged to 1200 x 960 under a banner of 64.
    assert_eq!(picture.dimensions(), (1200, 1024));
    assert!(count_of(&picture, status_colour(Status::Counted)) > 2000);
    assert_eq!(count_of(&picture, CLOSE), 0);
}

#[test]
fn the_inner_edge_is_drawn_where_the_line_is() {
    let picture = drawn(&overhead(&[]));
    // The 10 line's inner edge, 202.4 mm to the right of the hole, at 1.2 times 1 px a mm.
    let (x, y) = ((499.5f64 + 202.4 + 0.5) * 1.2 - 0.5, (399.5f64 + 0.5) * 1.2 - 0.5 + 64.0);
    let pixel = picture.get_pixel(x.round() as u32, y.round() as u32).0;
    assert!(pixel[0] < 90 && pixel[2] > 200, "{pixel:?}");
}

#[test]
fn a_close_call_stands_out_with_an_inset() {
    let clear = drawn(&overhead(&[(180.0, 0.0)]));
    let close = drawn(&overhead(&[(186.3, 0.0)]));
    assert!(close.width() > clear.width(), "the panel stands beside the picture");
    assert!(count_of(&close, CLOSE) > count_of(&clear, CLOSE) + 500);
}

#[test]
fn pictures_of_any_size_are_drawn_within_bounds() {
    for (width, height) in [(1, 1), (3, 2000), (65_500, 1), (4000, 3000), (640, 480)] {
        let mut truth = overhead(&[(186.3, 0.0)]);
        truth.frame.rgb = RgbImage::new(width, height);
        let picture = drawn(&truth);
        assert!(picture.width() <= 2000 + 600 && picture.height() <= 2000 + 120, "{:?}", picture.dimensions());
    }
}

#[test]
fn a_picture_without_a_board_shows_the_reason() {
    let truth = overhead(&[]);
    let mut count = truth.count(&Options::default());
    count.scene = None;
    count.report.status = Status::NoBoard;
    count.report.sides.clear();
    count.report.review = vec![crate::count::report::Review {
        disc: None,
        reason: "no three concentric lines".to_owned(),
        at_mm: None,
        total_if_other: Default::default(),
    }];
    let picture = draw(&truth.frame, &count);
    assert!(picture.width() > 1200);
}

#[test]
fn many_close_calls_still_fit_the_panel() {
    let places: Vec<(f64, f64)> =
        (0..14).map(|k| f64::from(k) * 0.45).map(|angle| (186.35 * angle.cos(), 186.35 * angle.sin())).collect();
    let picture = drawn(&overhead(&places));
    assert_eq!(picture.height(), 1024);
}

#[test]
fn a_tilted_board_is_drawn_without_a_break() {
    let truth = labelled("dev_026");
    let picture = drawn(&truth);
    assert!(count_of(&picture, INNER_EDGE) > 3000);
}
