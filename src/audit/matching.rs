//! Which row of the sheet speaks of which picture: by file name, then by time.
//!
//! In: the pictures with their paths and the times when they were taken, and the claims. Out: a claim or none for each
//! picture, and the claims left over, each with the reason.

use jiff::civil::DateTime;

use super::claim::Claim;

/// What is known of a picture before it is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its path as given.
    pub path: String,
    /// When it was taken, by its own clock.
    pub time: Option<DateTime>,
    /// Hash of its content, to tell copies from others of the same name.
    pub sha256: String,
}

/// The outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// Index of the claim of each picture.
    pub claim_of: Vec<Option<usize>>,
    /// Claims without a picture, each with the reason.
    pub unmatched: Vec<(usize, String)>,
}

/// Matches pictures and claims. A time may be `window_minutes` from the row's at most.
pub fn matched(pictures: &[Taken], claims: &[Claim], window_minutes: i64) -> Matches {
    let mut claim_of: Vec<Option<usize>> = vec![None; pictures.len()];
    let mut reasons: Vec<Option<String>> = vec![None; claims.len()];
    let paths: Vec<String> = pictures.iter().map(|picture| comparable(&picture.path)).collect();
    for (at, claim) in claims.iter().enumerate().filter(|(_, claim)| !claim.picture.is_empty()) {
        let named = meant(&paths, &claim.picture);
        let free: Vec<usize> = named.iter().copied().filter(|picture| claim_of[*picture].is_none()).collect();
        let same_content = free.windows(2).all(|pair| pictures[pair[0]].sha256 == pictures[pair[1]].sha256);
        reasons[at] = match (named.len(), free.as_slice()) {
            (0, _) => Some(format!("there is no picture {:?}", claim.picture)),
            (_, []) => Some(format!("another row speaks of the picture {:?} already", claim.picture)),
            (_, several) if several.len() > 1 && !same_content => {
                Some(format!("{} pictures are called {:?}: write their folder too", several.len(), claim.picture))
            }
            (_, copies) => {
                copies.iter().for_each(|&picture| claim_of[picture] = Some(at));
                None
            }
        };
    }
    by_time(pictures, claims, window_minutes, &mut claim_of, &mut reasons);
    let unmatched = reasons.into_iter().enumerate().filter_map(|(at, reason)| Some((at, reason?))).collect();
    Matches { claim_of, unmatched }
}

/// Indices of the pictures with these paths that `typed` may mean: those whose path ends with it, with or without its
/// extension, whatever the case.
pub fn named(paths: &[String], typed: &str) -> Vec<usize> {
    meant(&paths.iter().map(|path| comparable(path)).collect::<Vec<_>>(), typed)
}

/// A path as names are compared: `/` between folders, small letters.
fn comparable(path: &str) -> String {
    path.replace('\\', "/").to_lowercase()
}

fn meant(paths: &[String], typed: &str) -> Vec<usize> {
    let typed = comparable(typed);
    let ends = |path: &str, wanted: &str| {
        path.strip_suffix(wanted).is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    let find = |wanted: &str, bare: bool| -> Vec<usize> {
        let matches = |path: &String| ends(if bare { stem(path) } else { path }, wanted);
        (0..paths.len()).filter(|&at| matches(&paths[at])).collect()
    };
    let ways = [(typed.as_str(), false), (typed.as_str(), true), (stem(&typed), true)];
    let file = typed.rsplit('/').next().unwrap_or_default();
    // A folder of another computer in front of the name does not matter where the name alone is plain.
    let ways = ways.into_iter().chain([(file, false), (stem(file), true)]);
    ways.map(|(wanted, bare)| find(wanted, bare)).find(|found| !found.is_empty()).unwrap_or_default()
}

/// A path without its extension.
fn stem(path: &str) -> &str {
    match path.rsplit_once('.') {
        Some((stem, extension)) if !extension.contains('/') && !stem.is_empty() && !stem.ends_with('/') => stem,
        _ => path,
    }
}

/// Nearest in time goes first; a row and a picture are given once.
fn by_time(
    pictures: &[Taken],
    claims: &[Claim],
    window_minutes: i64,
    claim_of: &mut [Option<usize>],
    reasons: &mut [Option<String>],
) {
    let is_open = |at: usize, reasons: &[Option<String>]| claims[at].picture.is_empty() || reasons[at].is_some();
    let mut pairs: Vec<(i64, usize, usize)> = Vec::new();
    for (claim, time) in claims.iter().enumerate().filter_map(|(at, claim)| Some((at, claim.time?))) {
        if !is_open(claim, reasons) {
            continue;
        }
        for (picture, taken) in pictures.iter().enumerate().filter_map(|(at, picture)| Some((at, picture.time?))) {
            let apart = seconds(time, taken).abs();
            if claim_of[picture].is_none() && apart <= window_minutes * 60 {
                pairs.push((apart, claim, picture));
            }
        }
    }
    pairs.sort_unstable();
    let mut given = vec![false; claims.len()];
    for (_, claim, picture) in pairs {
        if !given[claim] && claim_of[picture].is_none() {
            claim_of[picture] = Some(claim);
            given[claim] = true;
            reasons[claim] = None;
        }
    }
    for (at, claim) in claims.iter().enumerate() {
        if claim.picture.is_empty() && !given[at] {
            let time = claim.time.map(|time| time.strftime("%Y-%m-%d %H:%M").to_string()).unwrap_or_default();
            reasons[at] = Some(format!("no picture was taken within {window_minutes} minutes of {time}"));
        }
    }
}

/// Seconds from `a` to `b`.
fn seconds(a: DateTime, b: DateTime) -> i64 {
    b.duration_since(a).as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::claim::SideClaim;
    use jiff::civil::date;

    fn taken(path: &str, minute: Option<i8>) -> Taken {
        let time = minute.map(|minute| date(2026, 11, 30).at(20, minute, 0, 0));
        Taken { path: path.to_owned(), time, sha256: path.to_owned() }
    }

    fn claim(picture: &str, minute: Option<i8>) -> Claim {
        let time = minute.map(|minute| date(2026, 11, 30).at(20, minute, 0, 0));
        Claim { row: 2, picture: picture.to_owned(), time, sides: [SideClaim::default(), SideClaim::default()] }
    }

    fn by_name(paths: &[&str], typed: &[&str]) -> Matches {
        let pictures: Vec<Taken> = paths.iter().map(|path| taken(path, None)).collect();
        let claims: Vec<Claim> = typed.iter().map(|typed| claim(typed, None)).collect();
        matched(&pictures, &claims, 10)
    }

    #[test]
    fn names_match_whatever_case_folder_and_extension() {
        for typed in ["IMG_1.jpg", "img_1.JPG", "IMG_1", "night/IMG_1.jpg", r"C:\club\IMG_1.jpg", "IMG_1.png"] {
            let found = by_name(&["season/night/IMG_1.jpg", "season/IMG_11.jpg"], &[typed]);
            assert_eq!(found.claim_of, [Some(0), None], "{typed}");
        }
    }

    #[test]
    fn what_is_not_there_or_not_plain_is_told() {
        let found = by_name(&["a/x.jpg", "b/x.jpg"], &["x.jpg", "y.jpg", "b/x.jpg", "b/x"]);
        assert_eq!(found.claim_of, [None, Some(2)]);
        let reasons: Vec<(usize, &str)> = found.unmatched.iter().map(|(at, reason)| (*at, reason.as_str())).collect();
        assert!(matches!(reasons[0], (0, reason) if reason.contains("folder")), "{reasons:?}");
        assert!(matches!(reasons[1], (1, reason) if reason.contains("no picture")));
        assert!(matches!(reasons[2], (3, reason) if reason.contains("another row")));
    }

    #[test]
    fn copies_of_one_picture_share_its_row() {
        let mut copy = taken("b/x.jpg", None);
        copy.sha256 = "a/x.jpg".to_owned();
        let found = matched(&[taken("a/x.jpg", None), copy], &[claim("x.jpg", None)], 10);
        assert_eq!(found.claim_of, [Some(0), Some(0)]);
    }

    #[test]
    fn times_match_the_nearest_row_once() {
        let pictures = [taken("x", Some(10)), taken("y", Some(12)), taken("z", Some(50)), taken("w", None)];
        let claims = [claim("", Some(13)), claim("", Some(11)), claim("", Some(30)), claim("gone.jpg", Some(49))];
        let found = matched(&pictures, &claims, 10);
        assert_eq!(found.claim_of, [Some(1), Some(0), Some(3), None]);
        assert_eq!(found.unmatched.len(), 1);
        assert!(found.unmatched[0].1.contains("20:30"), "{:?}", found.unmatched);
    }
}
