//! Ten still frames against one: how far a noisy sensor throws a margin.

#[path = "support/mod.rs"]
mod support;

use crokeye::board::Side::{A, B};
use crokeye::capture::{Frame, LensHint};
use crokeye::count::{self, Count, Options};
use crokeye::live::Fuse;
use crokeye::register::{self, Registration};
use image::RgbImage;
use support::Random;
use support::play::{board, disc, picture};

/// Deviation of the noise, levels: a webcam in a dim room.
const NOISE: f64 = 28.0;

fn frame(rgb: RgbImage) -> Frame {
    Frame { source: String::new(), rgb, lens: LensHint::default() }
}

/// Counts a picture as the live part does: the board is where it was.
fn count_of(rgb: RgbImage, board: &Registration) -> Count {
    count::run_tracked(&frame(rgb), board, &Options::default())
}

/// Margins by disc, from the centre outwards.
fn margins(count: &Count) -> Vec<f64> {
    count.report.discs.iter().filter_map(|disc| disc.margin_mm).collect()
}

fn noisy(rgb: &RgbImage, random: &mut Random) -> RgbImage {
    let mut out = rgb.clone();
    out.iter_mut()
        .for_each(|byte| *byte = (f64::from(*byte) + NOISE * random.normal()).round().clamp(0.0, 255.0) as u8);
    out
}

#[test]
fn ten_fused_frames_halve_the_error_of_a_margin_at_least() {
    let mut scene = board();
    for (index, (x, y)) in
        [(0.0, 150.0), (-150.0, 190.0), (60.0, 20.0), (150.0, -50.0), (-150.0, -60.0), (20.0, -140.0)]
            .into_iter()
            .enumerate()
    {
        scene.discs.push(disc(if index % 2 == 0 { A } else { B }, x, y));
    }
    let clean = picture(&scene);
    let mut random = Random::new(11);
    let frames: Vec<RgbImage> = (0..60).map(|_| noisy(&clean, &mut random)).collect();
    let place = register::register(&frame(clean), &Options::default().register).unwrap();
    let fused = |frames: &[RgbImage]| {
        let mut fuse = Fuse::default();
        frames.iter().for_each(|frame| fuse.add(frame));
        margins(&count_of(fuse.mean(), &place))
    };
    // What no noise throws: how the picture as a whole is read is the same error in all of them.
    let reference = fused(&frames);
    assert_eq!(reference.len(), 6);
    let (mut single, mut ten, mut compared) = (0.0, 0.0, 0);
    for group in frames.chunks(10) {
        let (one, many) = (margins(&count_of(group[0].clone(), &place)), fused(group));
        assert_eq!(many.len(), 6, "a fused picture shows every disc");
        if one.len() != 6 {
            continue;
        }
        for disc in 0..6 {
            single += (one[disc] - reference[disc]).powi(2);
            ten += (many[disc] - reference[disc]).powi(2);
            compared += 1;
        }
    }
    assert!(compared >= 18, "{compared} margins compared");
    let rms = |sum: f64| (sum / f64::from(compared)).sqrt();
    println!("margin error by noise: {:.3} mm from one frame, {:.3} mm from ten", rms(single), rms(ten));
    assert!(rms(ten) * 2.0 <= rms(single), "{:.3} mm from one frame, {:.3} mm from ten", rms(single), rms(ten));
}
