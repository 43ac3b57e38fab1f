//! A simulated evening through the live path: what a frame costs, how soon a rest is judged, whether memory grows.
//!
//! `cargo run --release --example soak -- --minutes 60`: so many minutes of a camera of 1280 x 720 px at 30 frames a second,
//! played as fast as they can be judged. Rounds of shots: a hand, a disc, a rest. Prints one JSON object.
//!
//! Frames are read from Motion JPEG by OpenCV, as a camera's are, and all times are CPU times of this process, capture and
//! decoding included, so that other programs of the computer do not count. When a rest would be judged by a live session is
//! reckoned from them: a judgement begins when its frame is there and the one before it is done.

#[path = "../tests/support/mod.rs"]
mod support;

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use crokeye::capture::feed::Feed;
use crokeye::capture::video::Video;
use crokeye::live::input::Told;
use crokeye::live::{GateConfig, Glimpse, Player, Settings};
use support::evening::{self, Evening, FPS};

/// Frames of a shot: so many of a hand, so many at rest.
const HAND: usize = 25;
const REST: usize = 75;

fn main() {
    let minutes: u64 = std::env::args()
        .skip_while(|word| word != "--minutes")
        .nth(1)
        .map_or(5, |text| text.parse().expect("--minutes takes a whole number"));
    let folder = tempfile::tempdir().expect("a folder for the video");
    let path = folder.path().join("round.mjpeg");
    write_round(&path, &evening::evening()).expect("room for a round of frames");
    let mut player = Player::new(Settings::default(), GateConfig::default());
    let mut spent = Spent::default();
    let mut memory_kib = Vec::new();
    while spent.frame < minutes * 60 * FPS {
        let mut round = Video::open(&path).expect("just written");
        spent.play(&mut player, &mut round);
        memory_kib.push(evening::resident_kib("self"));
    }
    let percent = |ms: u64, frames: u64| ms as f64 * FPS as f64 / frames.max(1) as f64 / 10.0;
    let [early, half, end] = [memory_kib.len() / 10, memory_kib.len() / 2, memory_kib.len() - 1];
    println!(
        "{}",
        serde_json::json!({
            "minutes": minutes,
            "frames": spent.frame,
            "rounds": memory_kib.len(),
            "still_percent_of_a_core": percent(spent.still_ms, spent.still_frames),
            "hand_percent_of_a_core": percent(spent.hand_ms, spent.hand_frames),
            "all_percent_of_a_core": percent(spent.still_ms + spent.hand_ms + spent.judging_ms, spent.frame),
            "rests": spent.rests,
            "rests_not_judged": spent.rests - spent.first_judgements,
            "judgements": spent.judgements,
            "judgement_cpu_ms_mean": spent.judging_ms as f64 / spent.judgements.max(1) as f64,
            "judgement_cpu_ms_most": spent.longest_ms,
            "rest_to_judged_ms_most": spent.latest.as_millis() as u64,
            "resident_mib": {
                "tenth": memory_kib[early] / 1024,
                "half": memory_kib[half] / 1024,
                "end": memory_kib[end] / 1024,
            },
        })
    );
}

/// One round: an empty board, then a shot for each disc.
fn write_round(path: &Path, evening: &Evening) -> std::io::Result<()> {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    for rest in &evening.rests {
        for step in 0..HAND {
            let hand = &evening.hands[step % evening.hands.len()];
            file.write_all(&hand[step % hand.len()])?;
        }
        for step in 0..REST {
            file.write_all(&rest[step % rest.len()])?;
        }
    }
    file.flush()
}

/// CPU time in ms, by what the frames showed.
#[derive(Default)]
struct Spent {
    frame: u64,
    hand_ms: u64,
    hand_frames: u64,
    still_ms: u64,
    still_frames: u64,
    judging_ms: u64,
    judgements: u64,
    longest_ms: u64,
    rests: u64,
    first_judgements: u64,
    /// Longest time from the first frame of a rest to the end of its first judgement.
    latest: Duration,
    /// When the judgement before is done.
    busy_until: Duration,
    rest_since: Duration,
}

impl Spent {
    fn play(&mut self, player: &mut Player, round: &mut Video) {
        let mut before_ms = evening::cpu_ms("self");
        for step in 0.. {
            let Some(taken) = round.next().expect("a frame that was just written") else { return };
            let at = Duration::from_micros(self.frame * 1_000_000 / FPS);
            let hand = step % (HAND + REST) < HAND;
            if step % (HAND + REST) == HAND {
                (self.rests, self.rest_since) = (self.rests + 1, at);
            }
            let told = player.frame(&taken.rgb, self.frame, at);
            let now_ms = evening::cpu_ms("self");
            self.keep(told.map(|(input, _)| input.what), hand, at, now_ms - before_ms);
            before_ms = now_ms;
            self.frame += 1;
        }
    }

    fn keep(&mut self, told: Option<Told>, hand: bool, at: Duration, took_ms: u64) {
        let Some(Told::Glimpse(glimpse @ (Glimpse::Still { .. } | Glimpse::Hole(_) | Glimpse::Search(_)))) = told
        else {
            let (ms, frames) = match hand {
                true => (&mut self.hand_ms, &mut self.hand_frames),
                false => (&mut self.still_ms, &mut self.still_frames),
            };
            *ms += took_ms;
            *frames += 1;
            return;
        };
        self.judging_ms += took_ms;
        self.judgements += 1;
        self.longest_ms = self.longest_ms.max(took_ms);
        self.busy_until = self.busy_until.max(at) + Duration::from_millis(took_ms);
        if !hand && matches!(glimpse, Glimpse::Still { refined: false, .. }) {
            self.first_judgements += 1;
            self.latest = self.latest.max(self.busy_until - self.rest_since);
        }
    }
}
