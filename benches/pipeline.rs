//! Speed of the way from a picture to a count, at three sizes: `make bench` prints the table.
//!
//! The picture is a sample (a tilted board with discs, glare and clutter), resampled to each size. `decode` reads the
//! same picture from a JPEG, so that a count can be held against the reading that it needs anyway.

use std::hint::black_box;
use std::io::Cursor;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use crokeye::capture::{Frame, photo};
use crokeye::count::{self, Options};
use crokeye::register;
use image::imageops::{FilterType, resize};

const SIZES: [(&str, u32, u32); 3] = [("1280x720", 1280, 720), ("1920x1080", 1920, 1080), ("12mp", 4000, 3000)];
const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/samples/white-round.jpg");

/// The sample on a picture of `width` x `height` px, its edges repeated where the shapes differ.
fn frame(width: u32, height: u32) -> Frame {
    let sample = photo::read(Path::new(SAMPLE)).expect("the sample is readable");
    let scale = f64::from(height) / f64::from(sample.rgb.height());
    let fitted = (f64::from(sample.rgb.width()) * scale).round() as u32;
    let scaled = resize(&sample.rgb, fitted, height, FilterType::CatmullRom);
    let left = (i64::from(width) - i64::from(fitted)) / 2;
    let rgb = image::RgbImage::from_fn(width, height, |x, y| {
        let x = (i64::from(x) - left).clamp(0, i64::from(fitted) - 1) as u32;
        *scaled.get_pixel(x, y)
    });
    Frame { source: "bench".into(), rgb, lens: sample.lens }
}

fn pipeline(criterion: &mut Criterion) {
    let options = Options::default();
    for (name, width, height) in SIZES {
        let frame = frame(width, height);
        let board = register::register(&frame, &options.register).expect("the sample has a board");
        let mut jpeg = Cursor::new(Vec::new());
        frame.rgb.write_to(&mut jpeg, image::ImageFormat::Jpeg).expect("a picture in memory");
        let jpeg = jpeg.into_inner();
        let mut group = |stage: &str, run: &mut dyn FnMut()| {
            let mut group = criterion.benchmark_group(stage);
            group.sample_size(10);
            group.bench_function(name, |b| b.iter(&mut *run));
            group.finish();
        };
        group("decode", &mut || drop(black_box(photo::decode("bench.jpg", &jpeg))));
        group("register/cold", &mut || drop(black_box(register::register(&frame, &options.register))));
        group("register/track", &mut || drop(black_box(register::track(&frame, &board))));
        group("count/cold", &mut || drop(black_box(count::run(&frame, &options))));
        group("count/tracked", &mut || drop(black_box(count::run_tracked(&frame, &board, &options))));
    }
}

criterion_group!(benches, pipeline);
criterion_main!(benches);
