use super::*;
use approx::assert_relative_eq;
use proptest::prelude::*;

const CENTRE: Point<BoardMm> = Point::new(0.0, 0.0);

/// The standard board: middles of lines at 101.6, 203.2, 304.8 mm, 1.6 mm wide.
const STANDARD: Edges = Edges { inner_mm: [304.0, 202.4, 100.8], centres: [CENTRE; 3], hole_mm: 17.45 };

fn flat(rho: f64) -> Placed {
    // Off any axis, so that both coordinates matter.
    Placed {
        base: Point::new(0.6 * rho, -0.8 * rho),
        radius_mm: 16.0,
        random_sigma_mm: 0.1,
        state: State::Flat,
        alternatives: Vec::new(),
    }
}

fn judged(rho: f64) -> Verdict {
    judge(&flat(rho), &STANDARD, &Config::default())
}

#[test]
fn published_edge_cases_have_their_published_values() {
    // Rows of the reference table of edge cases, standard board and a contact radius of 16 mm.
    for (rho, zone) in [
        (84.7, Zone::Fifteen),
        (84.9, Zone::Ten),
        (118.3, Zone::Ten),
        (186.3, Zone::Ten),
        (186.5, Zone::Five),
        (219.9, Zone::Five),
        (287.9, Zone::Five),
        (288.1, Zone::Out),
        (322.0, Zone::Out),
    ] {
        assert_eq!(judged(rho).zone, zone, "centre at {rho} mm");
    }
}

#[test]
fn a_tangent_disc_is_too_close_to_call_and_proposed_lower() {
    let verdict = judged(84.8);
    assert_eq!(verdict.zone, Zone::Ten);
    assert_eq!(verdict.close_other(), Some(Zone::Fifteen));
    assert!(verdict.call.unwrap().error_chance > 0.49);
}

#[test]
fn a_disc_touching_the_shooting_line_is_off() {
    let verdict = judged(288.1);
    assert_eq!((verdict.state, verdict.zone), (State::Off, Zone::Out));
    let call = verdict.call.unwrap();
    assert_eq!((call.line, call.otherwise, call.close), (Line::Five, Zone::Five, true));
    assert_relative_eq!(call.margin_mm, -0.1, epsilon = 1e-9);
}

#[test]
fn a_disc_flat_in_the_hole_scores_twenty_at_no_line() {
    let disc = Placed { state: State::InHole, ..flat(1.2) };
    let verdict = judge(&disc, &STANDARD, &Config::default());
    assert_eq!(verdict, Verdict { state: State::InHole, zone: Zone::Twenty, call: None });
}

#[test]
fn a_leaning_disc_scores_fifteen() {
    let disc = Placed { state: State::Leaning, ..flat(5.0) };
    let verdict = judge(&disc, &STANDARD, &Config::default());
    assert_eq!((verdict.state, verdict.zone, verdict.close_other()), (State::Leaning, Zone::Fifteen, None));
}

#[test]
fn a_disc_said_to_be_in_the_hole_but_too_far_from_it_leans() {
    let disc = Placed { state: State::InHole, ..flat(5.0) };
    assert_eq!(judge(&disc, &STANDARD, &Config::default()).state, State::Leaning);
}

#[test]
fn a_disc_cannot_lie_flat_across_the_hole() {
    // sqrt(17.45² - 16²) = 6.96 mm: nearer than that it tips; at 12 mm it overhangs, flat.
    assert_eq!(judged(4.0).state, State::Leaning);
    assert_eq!((judged(12.0).state, judged(12.0).zone), (State::Flat, Zone::Fifteen));
}

#[test]
fn shared_errors_add_up_in_squares() {
    let mut disc = flat(80.0);
    let moved = |by: f64, radius_mm: f64, edge: f64| Alternative {
        base: Point::new(0.6 * (80.0 + by), -0.8 * (80.0 + by)),
        radius_mm,
        inner_mm: [304.0, 202.4, 100.8 + edge],
        centres: [CENTRE; 3],
    };
    disc.alternatives = vec![moved(0.3, 16.0, 0.0), moved(0.0, 15.8, 0.0), moved(0.0, 16.0, 0.4)];
    let call = judge(&disc, &STANDARD, &Config::default()).call.unwrap();
    let expected = (0.1f64.powi(2) + 0.3f64.powi(2) + 0.2f64.powi(2) + 0.4f64.powi(2)).sqrt();
    assert_relative_eq!(call.sigma_mm, expected, epsilon = 1e-9);
    assert_relative_eq!(call.margin_mm, 4.8, epsilon = 1e-9);
    assert!(!call.close);
}

#[test]
fn an_error_that_moves_disc_and_line_together_cancels() {
    let mut disc = flat(80.0);
    disc.alternatives = vec![Alternative {
        base: Point::new(0.6 * 81.0, -0.8 * 81.0),
        radius_mm: 16.0,
        inner_mm: [305.0, 203.4, 101.8],
        centres: [CENTRE; 3],
    }];
    assert_relative_eq!(judge(&disc, &STANDARD, &Config::default()).call.unwrap().sigma_mm, 0.1, epsilon = 1e-9);
}

#[test]
fn the_close_level_is_the_chance_that_is_tolerated() {
    // 0.3 mm at a sigma of 0.1 mm: wrong in 1.35 of 1,000.
    let call = |level| judge(&flat(84.5), &STANDARD, &Config { close_level: level }).call.unwrap();
    assert!(call(0.001).close);
    assert!(!call(0.002).close);
}

#[test]
fn the_normal_tail_has_its_tabled_values() {
    for (z, tail) in [
        (0.0, 0.5),
        (1.0, 0.158_655_253_931_457),
        (1.959_963_984_540_05, 0.025),
        (2.999_999_9, 0.001_349_898_474_8),
        (3.0, 0.001_349_898_031_63),
        (6.0, 9.865_876_450_377e-10),
    ] {
        assert_relative_eq!(normal_tail(z), tail, max_relative = 1e-8);
    }
}

/// One row of `tests/truth/lines.csv`.
struct Row {
    edges: Edges,
    disc: Placed,
    zone: u32,
    line: Line,
    margin_mm: f64,
}

/// The labelled discs of the rendered pictures: their boards, places and published calls.
fn labelled() -> Vec<Row> {
    let file = include_str!("../../tests/truth/lines.csv");
    let mut reader = csv::Reader::from_reader(file.as_bytes());
    reader
        .records()
        .map(|record| {
            let record = record.unwrap();
            let number = |index: usize| record[index].parse::<f64>().unwrap();
            let half = number(3) / 2.0;
            let line = Line::ALL.into_iter().find(|line| line.name() == &record[10]).unwrap();
            let state = if &record[8] == "leaning" { State::Leaning } else { State::Flat };
            Row {
                edges: Edges {
                    inner_mm: [number(0) - half, number(1) - half, number(2) - half],
                    centres: [CENTRE; 3],
                    hole_mm: number(4),
                },
                disc: Placed {
                    base: Point::new(number(6), number(7)),
                    radius_mm: number(5),
                    random_sigma_mm: 0.0,
                    state,
                    alternatives: Vec::new(),
                },
                zone: record[9].parse().unwrap(),
                line,
                margin_mm: number(11),
            }
        })
        .collect()
}

#[test]
fn every_labelled_disc_has_its_labelled_value_line_and_margin() {
    let rows = labelled();
    assert!(rows.len() > 900, "{} rows", rows.len());
    for row in rows {
        let verdict = judge(&row.disc, &row.edges, &Config::default());
        let call = verdict.call.unwrap();
        let place = row.disc.base;
        assert_eq!(verdict.zone.value(), row.zone, "{place:?}");
        assert_eq!(call.line, row.line, "{place:?}");
        // A leaning disc's margin holds its tilt, which decides nothing.
        if row.disc.state == State::Flat {
            assert!((call.margin_mm - row.margin_mm).abs() < 2e-4, "{place:?}: {} {}", call.margin_mm, row.margin_mm);
        }
    }
}

proptest! {
    #[test]
    fn turning_the_board_changes_no_verdict(rho in 0.0..330.0f64, angle in 0.0..6.3f64) {
        let mut turned = flat(rho);
        turned.base = Point::new(rho * angle.cos(), rho * angle.sin());
        let (a, b) = (judged(rho), judge(&turned, &STANDARD, &Config::default()));
        prop_assert_eq!(a.state, b.state);
        let (a, b) = (a.call.unwrap(), b.call.unwrap());
        prop_assert!((a.margin_mm - b.margin_mm).abs() < 1e-9);
    }

    #[test]
    fn further_out_never_scores_more(rho in 10.0..330.0f64, by in 0.0..50.0f64) {
        prop_assert!(judged(rho + by).zone <= judged(rho).zone);
    }
}

#[test]
fn a_disc_is_judged_by_the_line_beside_it_wherever_that_lines_centre_is() {
    let disc = Placed { base: Point::new(186.0, 0.0), ..flat(0.0) };
    let mut edges = STANDARD;
    assert_relative_eq!(judge(&disc, &edges, &Config::default()).call.unwrap().margin_mm, 0.4, epsilon = 1e-9);
    // The 10 line painted 0.5 mm too far to the left runs through the disc's edge.
    edges.centres[Line::Ten as usize] = Point::new(-0.5, 0.0);
    let verdict = judge(&disc, &edges, &Config::default());
    assert_relative_eq!(verdict.call.unwrap().margin_mm, -0.1, epsilon = 1e-9);
    assert_eq!(verdict.zone, Zone::Five);
}
