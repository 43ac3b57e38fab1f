use super::*;
use crate::audit::claim::SideClaim;
use crate::audit::decision::Change;
use crate::board::Side;
use crate::count::testing::overhead;

fn entry(sha256: &str, camera: Option<&str>) -> Entry {
    let truth = overhead(&[(200.0, 0.0), (-80.0, 40.0)]);
    let measured = Measured { registration: truth.registration, detections: truth.detections };
    let mut entry = Entry::new(sha256.to_owned(), "basis".to_owned(), Found::Board(Box::new(measured)));
    let (width, height) = truth.frame.rgb.dimensions();
    entry.size = Some(ImageSize { width, height });
    entry.camera = camera.map(str::to_owned);
    entry
}

fn settings(pooling: Pooling) -> Settings {
    Settings { options: Options::default(), pooling, window_minutes: 15 }
}

fn done(photos: Vec<(String, Entry)>, sheet: Option<&Sheet>, pooling: Pooling) -> Audit {
    audit(photos, sheet, &Decisions::default(), &settings(pooling))
}

#[test]
fn an_entry_comes_back_from_the_journal_as_it_was() {
    let before = entry("f00d", None);
    let text = serde_json::to_string(&before).unwrap();
    let after: Entry = serde_json::from_str(&text).unwrap();
    let reports = [before, after].map(|entry| {
        let audit = done(vec![("x.jpg".to_owned(), entry)], None, Pooling::Never);
        serde_json::to_string(&audit.items[0]).unwrap()
    });
    assert_eq!(reports[0], reports[1]);
}

#[test]
fn photos_are_pooled_by_their_tags_or_on_demand() {
    let night = |camera: Option<&str>| -> Vec<(String, Entry)> {
        (0..6).map(|at| (format!("{at}.jpg"), entry(&at.to_string(), camera))).collect()
    };
    let pooled = |photos, pooling| done(photos, None, pooling).items[0].audit.pooled;
    assert_eq!(pooled(night(None), Pooling::ByTags), 1);
    assert_eq!(pooled(night(Some("phone")), Pooling::ByTags), 6);
    assert_eq!(pooled(night(Some("phone")), Pooling::Never), 1);
    assert_eq!(pooled(night(None), Pooling::FixedCamera), 6);
    let copies = (0..6).map(|at| (format!("{at}.jpg"), entry("same", Some("phone")))).collect();
    assert_eq!(pooled(copies, Pooling::ByTags), 1, "copies know nothing new");
}

#[test]
fn what_is_left_over_is_told_and_the_rest_is_compared() {
    let claim = |row: usize, picture: &str, totals: [u32; 2]| Claim {
        row,
        picture: picture.to_owned(),
        time: None,
        sides: totals.map(|total| SideClaim { total: Some(total), ..SideClaim::default() }),
    };
    let photos = || vec![("a.jpg".to_owned(), entry("1", None)), ("b.jpg".to_owned(), entry("2", None))];
    let report = &done(photos(), None, Pooling::Never).items[0].report;
    let totals = [report.sides[0].total, report.sides[1].total];
    let sheet = Sheet { claims: vec![claim(2, "a", totals), claim(3, "c", totals)], ..Sheet::default() };
    let audit = done(photos(), Some(&sheet), Pooling::Never);
    let verdicts: Vec<Verdict> = audit.items.iter().map(|item| item.audit.comparison.verdict).collect();
    assert_eq!(verdicts, [Verdict::Agrees, Verdict::Unclaimed]);
    assert_eq!((audit.unmatched[0].0, audit.items[0].audit.row), (3, Some(2)));
    assert_eq!(audit.tally().agree, 1);
}

#[test]
fn decisions_change_what_is_compared() {
    let photo = || vec![("a.jpg".to_owned(), entry("1", None))];
    let mut decisions = Decisions::default();
    decisions.decisions.push(Decision {
        picture: "a.jpg".to_owned(),
        sha256: "1".to_owned(),
        change: Change::Missed { side: Side::A, value: 20 },
        author: "Ann".to_owned(),
        at: jiff::Timestamp::UNIX_EPOCH,
        reason: None,
    });
    let before = done(photo(), None, Pooling::Never).items[0].report.sides[0].total;
    let after = &audit(photo(), None, &decisions, &settings(Pooling::Never)).items[0];
    assert_eq!(after.report.sides[0].total, before + 20);
    assert_eq!(after.audit.decisions.len(), 1);
}
