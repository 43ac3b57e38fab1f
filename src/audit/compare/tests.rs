use super::*;
use crate::audit::testing::{claim, report};
use crate::count::palette;

const LOOSE: Conventions = Conventions { twenties: Twenties::All, sides_fixed: false, in_order: 0, exchanged: 0 };
const FIXED: Conventions = Conventions { sides_fixed: true, ..LOOSE };

fn verdict(report: &Report, claim: &Claim, conventions: Conventions) -> Verdict {
    compare(report, Some(claim), conventions).verdict
}

#[test]
fn equal_totals_agree_and_others_do_not() {
    let picture = report(&[15, 10, 10], &[20, 5]);
    assert_eq!(verdict(&picture, &claim([35, 25]), FIXED), Verdict::Agrees);
    assert_eq!(verdict(&picture, &claim([30, 25]), FIXED), Verdict::Disagrees);
    assert_eq!(compare(&picture, None, FIXED).verdict, Verdict::Unclaimed);
    assert_eq!(verdict(&Report::error("x", "cut off".to_owned()), &claim([0, 0]), FIXED), Verdict::Unreadable);
}

#[test]
fn totals_the_other_way_round_agree_only_where_the_sheet_has_no_order() {
    let picture = report(&[15, 10, 10], &[5]);
    assert_eq!(verdict(&picture, &claim([5, 35]), LOOSE), Verdict::Agrees);
    let strict = compare(&picture, Some(&claim([5, 35])), FIXED);
    assert_eq!((strict.verdict, strict.remarks), (Verdict::Disagrees, vec![Remark::Exchanged]));
}

#[test]
fn named_colours_settle_the_order() {
    let picture = report(&[15, 10], &[5]);
    let mut claim = claim([5, 25]);
    claim.sides[0].colour = palette::named("natural");
    claim.sides[1].colour = palette::named("black");
    let found = compare(&picture, Some(&claim), FIXED);
    assert_eq!((found.verdict, found.exchanged, found.claimed), (Verdict::Agrees, true, Some([25, 5])));
    claim.sides.swap(0, 1);
    claim.sides[0].total = Some(5);
    claim.sides[1].total = Some(25);
    assert_eq!(verdict(&picture, &claim, LOOSE), Verdict::Disagrees);
}

/// A brown and a natural side, as near to black as brown wood is.
fn brown_and_natural() -> Report {
    let mut picture = report(&[20, 20, 20], &[15, 15, 15]);
    picture.sides[0].colour = Some("brown".to_owned());
    for disc in picture.discs.iter_mut().filter(|disc| disc.side == Some(Side::A)) {
        disc.colour = crate::count::report::Colour { name: "brown".to_owned(), lab: [45.0, 12.0, 25.0] };
    }
    picture
}

#[test]
fn a_colour_that_a_side_bears_goes_there_and_the_other_to_the_other_side() {
    let picture = brown_and_natural();
    for (names, totals) in
        [(["black", "natural"], [60, 45]), (["natural", "dark"], [45, 60]), (["brown", "red"], [60, 45])]
    {
        let mut row = claim(totals);
        row.sides.iter_mut().zip(names).for_each(|(side, name)| side.colour = palette::named(name));
        assert_eq!(verdict(&picture, &row, FIXED), Verdict::Agrees, "{names:?}");
        row.sides[0].total = Some(5);
        assert_eq!(verdict(&picture, &row, FIXED), Verdict::Disagrees, "{names:?}");
    }
}

#[test]
fn colours_that_are_not_in_the_picture_leave_it_doubtful_with_a_remark() {
    let mut row = claim([60, 45]);
    row.sides.iter_mut().zip(["green", "blue"]).for_each(|(side, name)| side.colour = palette::named(name));
    for totals in [[60, 45], [45, 60], [5, 10]] {
        row.sides.iter_mut().zip(totals).for_each(|(side, total)| side.total = Some(total));
        let found = compare(&brown_and_natural(), Some(&row), FIXED);
        assert_eq!(found.verdict, Verdict::Doubtful);
        assert!(found.remarks.contains(&Remark::OtherColours), "{found:?}");
    }
}

#[test]
fn open_calls_leave_what_they_allow_open() {
    let mut picture = report(&[15, 10], &[5]);
    picture.status = Status::Review;
    let doubt = |disc, total| crate::count::report::Review {
        disc,
        reason: String::new(),
        at_mm: None,
        total_if_other: [(Side::A, total)].into(),
    };
    picture.review = vec![doubt(Some(1), 20), doubt(Some(2), 20)];
    for (total, expected) in [
        (25, Verdict::Agrees),
        (20, Verdict::Open),
        (15, Verdict::Open),
        (10, Verdict::Doubtful),
        (30, Verdict::Doubtful),
    ] {
        assert_eq!(verdict(&picture, &claim([total, 5]), FIXED), expected, "{total}");
    }
    let mut whole = picture.clone();
    whole.review.push(crate::count::report::Review { total_if_other: Default::default(), ..doubt(None, 25) });
    for (totals, expected) in [([240, 5], Verdict::Open), ([1, 1], Verdict::Doubtful), ([245, 5], Verdict::Doubtful)] {
        assert_eq!(verdict(&whole, &claim(totals), FIXED), expected, "{totals:?}");
    }
    let mut spot = report(&[15, 10], &[5]);
    spot.status = Status::Review;
    spot.review = vec![crate::count::report::Review {
        at_mm: Some([116.0, 0.0]),
        total_if_other: Default::default(),
        ..doubt(None, 25)
    }];
    for (totals, expected) in [
        ([35, 5], Verdict::Open),
        ([25, 15], Verdict::Open),
        ([1, 1], Verdict::Doubtful),
        ([200, 200], Verdict::Doubtful),
        ([20, 5], Verdict::Doubtful),
    ] {
        assert_eq!(verdict(&spot, &claim(totals), FIXED), expected, "{totals:?}");
    }
}

#[test]
fn twenties_are_read_as_most_clear_pictures_have_them() {
    let pictures = [report(&[20, 15], &[5]), report(&[10], &[20, 10]), report(&[15], &[15])];
    let sheet = |rows: [[(u32, u32); 2]; 3]| {
        rows.map(|row| {
            let mut claim = claim(row.map(|side| side.0));
            (0..2).for_each(|side| claim.sides[side].twenties = Some(row[side].1));
            claim
        })
    };
    let read = |claims: &[Claim; 3]| conventions(pictures.iter().zip(claims)).twenties;
    // Two 20s were taken off side a in each round.
    assert_eq!(read(&sheet([[(75, 3), (5, 0)], [(50, 2), (30, 1)], [(55, 2), (15, 0)]])), Twenties::All);
    assert_eq!(read(&sheet([[(75, 2), (5, 0)], [(50, 2), (30, 0)], [(55, 2), (15, 0)]])), Twenties::Aside);
    assert_eq!(read(&sheet([[(15, 3), (5, 0)], [(10, 2), (10, 1)], [(15, 2), (15, 0)]])), Twenties::Apart);
    assert_eq!(read(&sheet([[(35, 2), (5, 0)], [(10, 2), (30, 0)], [(15, 2), (15, 0)]])), Twenties::Beside);
}

#[test]
fn figures_are_shown_as_typed() {
    let picture = report(&[20, 15], &[5]);
    for (twenties, count, right) in
        [(Twenties::All, 3, 75), (Twenties::Aside, 2, 75), (Twenties::Apart, 3, 15), (Twenties::Beside, 2, 35)]
    {
        for (typed, expected) in [(right, Verdict::Agrees), (right + 5, Verdict::Disagrees)] {
            let mut row = claim([typed, 5]);
            row.sides[0].twenties = Some(count);
            let found = compare(&picture, Some(&row), Conventions { twenties, ..FIXED });
            assert_eq!((found.verdict, found.claimed, found.counted), (expected, Some([typed, 5]), Some([right, 5])));
            assert!(!found.remarks.iter().any(|remark| matches!(remark, Remark::MoreTwenties { .. })), "{found:?}");
        }
    }
}

#[test]
fn a_sheet_is_held_to_its_order_until_many_rows_break_it() {
    let picture = report(&[15, 10, 10], &[5]);
    let read = |straight: usize, crossed: usize| {
        let claims = [vec![claim([35, 5]); straight], vec![claim([5, 35]); crossed]].concat();
        conventions(claims.iter().map(|claim| (&picture, claim)))
    };
    for (straight, crossed) in [(0, 0), (0, 1), (1, 1), (3, 1), (11, 1), (59, 1), (50, 8)] {
        let found = read(straight, crossed);
        assert!(found.sides_fixed, "{crossed} exchanged beside {straight} show nothing");
        assert_eq!((found.in_order as usize, found.exchanged as usize), (straight, crossed));
    }
    for (straight, crossed) in [(0, 2), (2, 2), (4, 3), (8, 4), (30, 30), (0, 20)] {
        assert!(!read(straight, crossed).sides_fixed, "{crossed} exchanged beside {straight} keep no order");
    }
}

#[test]
fn a_difference_of_20s_and_impossible_totals_are_remarked() {
    let picture = report(&[15, 10], &[5]);
    let found = compare(&picture, Some(&claim([65, 7])), FIXED);
    assert_eq!(found.verdict, Verdict::Disagrees);
    let expected = [Remark::SetAside { side: Side::A, count: 2 }, Remark::Impossible { side: Side::B, total: 7 }];
    assert_eq!(found.remarks, expected);
}
