//! A simulated evening through the live path: what a frame costs, how soon a rest is judged, whether memory grows.
//!
//! `cargo run --release --example soak -- --minutes 60`: so many minutes of a camera of 1280 x 720 px at 30 frames a second,
//! played as fast as they can be judged. Rounds of shots: a hand, a disc, a rest. Pictures are drawn before; noise differs
//! from frame to frame by eight versions of each. Prints one JSON object.

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use crokeye::board::Side::{A, B};
use crokeye::live::input::Told;
use crokeye::live::{GateConfig, Glimpse, Player, Settings};
use image::RgbImage;
use image::codecs::jpeg::JpegEncoder;
use support::Random;
use support::play::{arm, board, disc, noisy};
use support::scene::View;

const FPS: u64 = 30;
const VERSIONS: usize = 8;

/// A picture in several versions of noise.
struct Shown(Vec<RgbImage>);

fn main() {
    let minutes: u64 = std::env::args()
        .skip_while(|word| word != "--minutes")
        .nth(1)
        .map_or(5, |text| text.parse().expect("--minutes takes a whole number"));
    let (rests, hands) = pictures();
    let decode_ms = decode_ms(&rests[0].0[0]);
    let mut player = Player::new(Settings::default(), GateConfig::default());
    let mut frame = 0u64;
    let mut spent = Spent::default();
    let mut start_kib = 0;
    while frame < minutes * 60 * FPS {
        for rest in &rests {
            for step in 0..25 {
                spent.show(&mut player, &hands[step % hands.len()], &mut frame, true);
            }
            for _ in 0..75 {
                spent.show(&mut player, rest, &mut frame, false);
            }
        }
        if start_kib == 0 {
            start_kib = resident_kib();
        }
    }
    let per_second =
        |time: Duration, frames: u64| time.as_secs_f64() * 1000.0 / frames.max(1) as f64 * FPS as f64 / 10.0;
    println!(
        "{}",
        serde_json::json!({
            "minutes": minutes,
            "frames": frame,
            "decode_ms": decode_ms,
            "hand_percent_of_a_core": per_second(spent.hand, spent.hand_frames),
            "still_percent_of_a_core": per_second(spent.still, spent.still_frames),
            "judgements": spent.judged,
            "judgement_ms_mean": spent.judging.as_secs_f64() * 1000.0 / spent.judged.max(1) as f64,
            "judgement_ms_most": spent.longest.as_secs_f64() * 1000.0,
            "rest_to_judged_ms_most": (spent.latest + spent.longest).as_secs_f64() * 1000.0,
            "resident_mib_after_first_round": start_kib / 1024,
            "resident_mib_at_end": resident_kib() / 1024,
        })
    );
}

#[derive(Default)]
struct Spent {
    hand: Duration,
    hand_frames: u64,
    still: Duration,
    still_frames: u64,
    judging: Duration,
    longest: Duration,
    judged: u64,
    /// Longest time from the first frame of a rest to the frame at which it was judged.
    latest: Duration,
    rest_since: Option<Duration>,
}

impl Spent {
    fn show(&mut self, player: &mut Player, shown: &Shown, frame: &mut u64, hand: bool) {
        let rgb = &shown.0[*frame as usize % VERSIONS];
        let at = Duration::from_micros(*frame * 1_000_000 / FPS);
        if hand {
            self.rest_since = None;
        } else if self.rest_since.is_none() {
            self.rest_since = Some(at);
        }
        let start = Instant::now();
        let told = player.frame(rgb, *frame, at);
        let took = start.elapsed();
        let what = told.map(|(input, _)| input.what);
        match what {
            Some(Told::Glimpse(Glimpse::Still { refined, .. })) => {
                self.judging += took;
                self.judged += 1;
                self.longest = self.longest.max(took);
                if let (false, Some(since)) = (refined, self.rest_since) {
                    self.latest = self.latest.max(at - since);
                }
            }
            _ if hand => {
                self.hand += took;
                self.hand_frames += 1;
            }
            _ => {
                self.still += took;
                self.still_frames += 1;
            }
        }
        *frame += 1;
    }
}

/// Boards with 0 to 8 discs, and hands over a board.
fn pictures() -> (Vec<Shown>, Vec<Shown>) {
    let mut scene = board();
    scene.view = View { width_px: 1280, height_px: 720, share: 0.84, ..View::overhead() };
    let mut random = Random::new(3);
    let mut versions = |scene: &support::Scene| {
        let picture = scene.picture();
        Shown((0..VERSIONS).map(|_| noisy(&picture, &mut random)).collect())
    };
    let places = [
        (0.0, 150.0),
        (-150.0, 200.0),
        (60.0, 20.0),
        (150.0, -50.0),
        (-150.0, -60.0),
        (20.0, -140.0),
        (-60.0, 40.0),
        (220.0, 110.0),
    ];
    let mut rests = vec![versions(&scene)];
    for (index, (x, y)) in places.into_iter().enumerate() {
        scene.discs.push(disc(if index % 2 == 0 { A } else { B }, x, y));
        rests.push(versions(&scene));
    }
    let hands = [(30.0, 330.0), (45.0, 300.0), (20.0, 280.0), (60.0, 310.0)].map(|(x, y)| {
        scene.arm = arm(x, y);
        versions(&scene)
    });
    (rests, hands.into())
}

/// Time to decode a frame as a camera sends it, ms.
fn decode_ms(rgb: &RgbImage) -> f64 {
    let mut jpeg = std::io::Cursor::new(Vec::new());
    rgb.write_with_encoder(JpegEncoder::new_with_quality(&mut jpeg, 85)).expect("a picture in memory");
    let jpeg = jpeg.into_inner();
    let start = Instant::now();
    for _ in 0..20 {
        std::hint::black_box(crokeye::capture::photo::decode("frame.jpg", &jpeg).expect("just encoded"));
    }
    start.elapsed().as_secs_f64() * 1000.0 / 20.0
}

/// Resident memory of this process, KiB; 0 where the system does not tell.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or_default()
}
