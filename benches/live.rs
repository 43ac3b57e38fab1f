//! `crokeye watch` before a network camera of 1280 x 720 px at 30 frames a second: CPU time of the whole program, from the
//! socket to the events, while the board is still, while a hand moves over it and while it is played on; and the time from
//! the first frame of a rest on the wire to its `settled` event. `cargo bench --bench live`.
//!
//! The camera is a server of Motion JPEG in this process; the program is another process, whose time is counted alone.

#[path = "../tests/support/mod.rs"]
mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use support::camera::{Camera, Frames};
use support::evening::{self, Evening, FPS};
use support::program::{Program, settled_with};

/// How long the still board and the moving hand are measured.
const MEASURED: Duration = Duration::from_secs(20);

fn main() {
    let Evening { rests, hands } = evening::evening();
    let rests: Vec<Frames> = rests.into_iter().map(Arc::new).collect();
    let hand = on_its_way(&hands);
    let camera = Camera::start(FPS);
    camera.show(&rests[0]);
    let mut program = Program::watch(env!("CARGO_BIN_EXE_crokeye"), &camera.address, &[]);
    program.wait_for("an empty board", settled_with(0));
    let process = program.id();
    let percent_since = |start: Instant, before_ms: u64| {
        (evening::cpu_ms(&process) - before_ms) as f64 / 10.0 / start.elapsed().as_secs_f64()
    };
    let percent_of_a_core = || {
        let (start, before_ms) = (Instant::now(), evening::cpu_ms(&process));
        std::thread::sleep(MEASURED);
        percent_since(start, before_ms)
    };
    // Both judgements of the first rest are over by then.
    std::thread::sleep(Duration::from_secs(2));
    let still = percent_of_a_core();
    camera.show(&hand);
    std::thread::sleep(Duration::from_secs(1));
    let moving = percent_of_a_core();
    let (start, before_ms) = (Instant::now(), evening::cpu_ms(&process));
    let mut delays_ms = Vec::new();
    let mut missed = 0;
    for (discs, rest) in rests.iter().enumerate().skip(1) {
        camera.show(&hand);
        std::thread::sleep(Duration::from_secs(1));
        camera.show(rest);
        let seen = program.find(Duration::from_secs(3), settled_with(discs));
        match seen.zip(camera.shown_since()) {
            Some(((seen, _), since)) => delays_ms.push(seen.saturating_duration_since(since).as_secs_f64() * 1000.0),
            None => missed += 1,
        }
        std::thread::sleep(Duration::from_millis(1_500));
    }
    let play = percent_since(start, before_ms);
    let memory_mib = evening::resident_kib(&process) / 1024;
    delays_ms.sort_by(f64::total_cmp);
    let [median, most] =
        [delays_ms.get(delays_ms.len() / 2), delays_ms.last()].map(|ms| ms.copied().unwrap_or(f64::NAN));
    println!("share of one core   still {still:.1} %, a hand {moving:.1} %, play with a shot every 2.7 s {play:.1} %");
    println!(
        "rest to its event   median {median:.0} ms, most {most:.0} ms of {} rests, {missed} missed",
        delays_ms.len()
    );
    println!("memory              {memory_mib} MiB");
}

/// The hand's pictures in turn, each time with other noise.
fn on_its_way(hands: &[evening::Shown]) -> Frames {
    let versions = hands.iter().map(Vec::len).min().unwrap_or_default();
    Arc::new((0..versions).flat_map(|version| hands.iter().map(move |hand| hand[version].clone())).collect())
}
