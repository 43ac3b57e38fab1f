//! Two hundred mutilated picture files: each becomes a count or a sentence, in time, and never a panic.

#[path = "support/mod.rs"]
mod support;

use crokeye::board::Side;
use crokeye::capture::photo::{self, PhotoError};
use crokeye::count::{self, Options, report::Status};
use std::time::{Duration, Instant};
use support::mutilate::{Specimen, harmed, lies, whole};
use support::scene::{DiscSet, View};
use support::{BoardLook, Random, Scene};

/// A small picture that counts 15 : 10.
fn scene() -> Scene {
    let scene = Scene::overhead(BoardLook::maple()).with(Side::A, 40.0, 20.0).with(Side::B, -90.0, 120.0);
    let view = View { width_px: 800, height_px: 600, ..scene.view };
    Scene { view, set: DiscSet::coloured(0x1E1E20, 0xB02020), ..scene }
}

/// What becomes of a file, and how long that took. Panics where reading or counting does.
fn attend(file: &Specimen) -> (Result<Status, PhotoError>, Duration) {
    let start = Instant::now();
    let status =
        photo::decode(&file.name, &file.bytes).map(|frame| count::run(&frame, &Options::default()).report.status);
    (status, start.elapsed())
}

mod slow {
    use super::*;

    #[test]
    fn every_kind_of_picture_file_gives_the_same_totals() {
        let scene = scene();
        for file in whole(&scene.picture()) {
            // Of CMYK only the mean of each block is written: too coarse to count.
            if file.name == "cmyk.jpg" {
                let frame = photo::decode(&file.name, &file.bytes).unwrap();
                assert_eq!(frame.rgb.dimensions(), (800, 600));
                continue;
            }
            let frame = photo::decode(&file.name, &file.bytes).unwrap_or_else(|error| panic!("{}: {error}", file.name));
            let report = count::run(&frame, &Options::default()).report;
            let mut totals: Vec<u32> = report.sides.iter().map(|side| side.total).collect();
            totals.sort_unstable();
            // A grey picture keeps the discs, and their values, though not always their sides.
            if file.name.starts_with("grey") {
                assert_eq!(totals.iter().sum::<u32>(), 25, "{}: {:?}", file.name, report.review);
            } else {
                assert_eq!(totals, [10, 15], "{}: {:?}", file.name, report.review);
            }
        }
    }

    #[test]
    fn two_hundred_mutilated_files_are_counted_or_refused_in_time() {
        let picture = scene().picture();
        let seeds = whole(&picture);
        let mut files = lies(&picture);
        let mut random = Random::new(2);
        while files.len() < 200 {
            let seed = random.pick(&seeds);
            files.push(harmed(&seed, &mut random));
        }
        let (mut refused, mut read) = (0, 0);
        for file in &files {
            let (status, took) = attend(file);
            assert!(took < Duration::from_secs(10), "{}: {took:.1?}", file.name);
            match status {
                Ok(_) => read += 1,
                Err(error) => {
                    refused += 1;
                    assert!(error.to_string().len() > 20, "{}: `{error}` is no sentence", file.name);
                }
            }
        }
        // Both ends are tried, or the accidents are no test.
        assert!(refused > 40 && read > 20, "{refused} refused, {read} read");
    }
}
