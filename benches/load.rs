//! `crokeye serve` under load on loopback, `make load`: 500 WebSocket clients for a minute, 50 photos sent in at once, all
//! while a network camera of 1280 x 720 px at 30 frames a second is counted.
//!
//! The camera and the clients are this process, the service is another; both share the machine's cores. A client's delay is
//! the time from the step's own time stamp, taken before it is written, to the message in the client's hands: the disk is in
//! it. A settled board counts as seen when its event comes before the next hand.

#[path = "../tests/support/mod.rs"]
mod support;

#[path = "../tests/support/server.rs"]
#[allow(dead_code, reason = "the load uses only a part of the client")]
mod server;

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::{Value, json};
use server::Server;
use support::camera::{Camera, Frames};
use support::evening::{self, Evening, FPS};

/// Clients that listen.
const CLIENTS: usize = 500;
/// Photos sent in at once.
const PHOTOS: usize = 50;
/// How long all of it goes on.
const MEASURED: Duration = Duration::from_secs(60);
/// A step of the match every so often.
const STEP: Duration = Duration::from_millis(250);
/// How long a hand is over the board, and how long the board rests.
const HAND: Duration = Duration::from_secs(1);
const REST: Duration = Duration::from_millis(1_700);
/// Stack of a client's thread: it reads and looks for a time stamp.
const STACK: usize = 256 << 10;

const SAMPLE: &[u8] = include_bytes!("../samples/cherry-twenty.jpg");

/// What the clients saw.
#[derive(Default)]
struct Heard {
    delays_us: Mutex<Vec<u64>>,
    messages: AtomicU64,
    snapshots: AtomicU32,
    lost: AtomicU32,
    stop: AtomicBool,
}

fn main() {
    let Evening { rests, hands } = evening::evening();
    let rests: Vec<Frames> = rests.into_iter().map(Arc::new).collect();
    let versions = hands.iter().map(Vec::len).min().unwrap_or_default();
    let hand: Frames =
        Arc::new((0..versions).flat_map(|version| hands.iter().map(move |hand| hand[version].clone())).collect());
    let camera = Camera::start(FPS);
    camera.show(&rests[0]);
    let server = Server::watching(&camera.address);
    let number = server.post("/api/v1/matches", &json!({ "sides": ["Ann", "Bob"] })).json()["number"].clone();
    let settled = settled_boards(&server);
    wait_for(&settled, 0, Duration::from_secs(60)).expect("the empty board is counted");

    let heard = Arc::new(Heard::default());
    for _ in 0..CLIENTS {
        let mut socket = server.socket("/api/v1/live", None).expect("a place for every client");
        socket.get_ref().set_read_timeout(Some(Duration::from_secs(1))).expect("a socket");
        let heard = Arc::clone(&heard);
        let listen = move || {
            while !heard.stop.load(Ordering::Relaxed) {
                match socket.read() {
                    Ok(message) => heard.take(message.to_text().unwrap_or_default()),
                    Err(tungstenite::Error::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                    Err(_) => {
                        heard.lost.fetch_add(1, Ordering::Relaxed);
                        return;
                    }
                }
            }
        };
        std::thread::Builder::new().stack_size(STACK).spawn(listen).expect("a thread for every client");
    }
    let (start, cpu_ms) = (Instant::now(), evening::cpu_ms(&server.id().to_string()));
    let (photos, (shown, missed), steps) = std::thread::scope(|scope| {
        let photos = scope.spawn(|| send_photos(&server));
        let steps = scope.spawn(|| take_steps(&server, &number, start));
        let boards = play(&camera, &rests, &hand, &settled, start);
        (photos.join().expect("no fault"), boards, steps.join().expect("no fault"))
    });
    let share = (evening::cpu_ms(&server.id().to_string()) - cpu_ms) as f64 / 10.0 / start.elapsed().as_secs_f64();
    heard.stop.store(true, Ordering::Relaxed);
    let metrics = server.get("/metrics").text();
    let metric = |name: &str| metrics.lines().find_map(|line| line.strip_prefix(&format!("{name}{{board=\"1\"}} ")));
    let frames = metric("crokeye_frames_total").unwrap_or("?");
    let mut delays_us = heard.delays_us.lock().expect("no client dies with it").clone();
    delays_us.sort_unstable();
    let at = |share: f64| {
        let index = ((delays_us.len() as f64 * share) as usize).min(delays_us.len().saturating_sub(1));
        delays_us.get(index).map_or(f64::NAN, |us| *us as f64 / 1000.0)
    };
    let Photos { refused, all } = photos;
    println!("clients             {CLIENTS}, {} lost, {} given the state again", lost(&heard), again(&heard));
    println!("steps of the match  {steps}, {} messages of all kinds received", heard.messages.load(Ordering::Relaxed));
    println!(
        "step to client      median {:.1} ms, p99 {:.1} ms, most {:.1} ms of {} messages",
        at(0.5),
        at(0.99),
        at(1.0),
        delays_us.len()
    );
    println!("photos              {PHOTOS} at once, the last of them counted after {all:.1} s");
    println!("refused             {refused} times with 429, each sent again as told");
    println!("settled boards      {shown} shown, {missed} missed; {frames} frames seen");
    println!(
        "service             {share:.0} % of a core, {} MiB",
        evening::resident_kib(&server.id().to_string()) / 1024
    );
    let fine = missed == 0 && lost(&heard) == 0 && at(0.99) <= 200.0;
    println!(
        "{}",
        if fine { "as promised" } else { "NOT as promised: p99 within 200 ms, no client lost, no board missed" }
    );
    std::io::stdout().flush().expect("a reader");
    drop(server);
    std::process::exit(i32::from(!fine));
}

fn lost(heard: &Heard) -> u32 {
    heard.lost.load(Ordering::Relaxed)
}

/// How often a client was too slow and was given the whole state; the first message of each is one, too.
fn again(heard: &Heard) -> i64 {
    i64::from(heard.snapshots.load(Ordering::Relaxed)) - CLIENTS as i64
}

impl Heard {
    fn take(&self, text: &str) {
        let now = Timestamp::now();
        if text.is_empty() {
            return;
        }
        self.messages.fetch_add(1, Ordering::Relaxed);
        if text.contains("\"event\":\"snapshot\"") {
            self.snapshots.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let because = text.find("\"event\":\"match\"").and_then(|at| text[at..].split("\"because\":{").nth(1));
        let stamp = because.and_then(|rest| rest.split("\"at\":\"").nth(1)?.split('"').next());
        if let Some(at) = stamp.and_then(|stamp| stamp.parse::<Timestamp>().ok()) {
            let delay_us = now.as_microsecond().saturating_sub(at.as_microsecond()).max(0);
            self.delays_us.lock().expect("no client dies with it").push(delay_us.unsigned_abs());
        }
    }
}

/// How many discs lie on each board that is counted, as it is told.
fn settled_boards(server: &Server) -> Receiver<usize> {
    let mut events = server.stream("/api/v1/events", &[]);
    let (told, settled) = channel();
    std::thread::spawn(move || {
        loop {
            let (_, event): (String, Value) = events.event();
            let discs =
                (event["event"] == "settled").then(|| event["count"]["discs"].as_array().map(Vec::len)).flatten();
            if discs.is_some_and(|discs| told.send(discs).is_err()) {
                return;
            }
        }
    });
    settled
}

/// Waits for a board with so many discs.
fn wait_for(settled: &Receiver<usize>, discs: usize, patience: Duration) -> Option<()> {
    let until = Instant::now() + patience;
    loop {
        if settled.recv_timeout(until.saturating_duration_since(Instant::now())).ok()? == discs {
            return Some(());
        }
    }
}

/// Shows boards with more and more discs, a hand before each, over and over; how many, and how many were not counted in time.
fn play(camera: &Camera, rests: &[Frames], hand: &Frames, settled: &Receiver<usize>, start: Instant) -> (u32, u32) {
    let (mut shown, mut missed) = (0, 0);
    for (discs, rest) in rests.iter().enumerate().cycle().skip(1) {
        if start.elapsed() >= MEASURED {
            break;
        }
        camera.show(hand);
        std::thread::sleep(HAND);
        camera.show(rest);
        let since = Instant::now();
        shown += 1;
        missed += u32::from(wait_for(settled, discs, REST).is_none());
        std::thread::sleep(REST.saturating_sub(since.elapsed()));
    }
    (shown, missed)
}

/// Steps of the match, as a referee takes them; how many.
fn take_steps(server: &Server, number: &Value, start: Instant) -> u32 {
    let path = format!("/api/v1/matches/{number}/first");
    for step in 1.. {
        let due = start + STEP * step;
        if due >= start + MEASURED {
            return step - 1;
        }
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let answer = server.post(&path, &json!({ "seat": if step % 2 == 0 { "A" } else { "B" } }));
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    0
}

struct Photos {
    /// How often one was refused for now.
    refused: u32,
    /// How long all took, s.
    all: f64,
}

/// Sends all photos at once, each again for as long as it is told to wait.
fn send_photos(server: &Server) -> Photos {
    let (start, refused) = (Instant::now(), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for _ in 0..PHOTOS {
            scope.spawn(|| {
                loop {
                    let answer = server.send("POST", "/api/v1/counts", &[], SAMPLE);
                    if answer.status == 200 {
                        break;
                    }
                    assert_eq!(answer.status, 429, "{}", answer.text());
                    refused.fetch_add(1, Ordering::Relaxed);
                    let wait = answer.header("retry-after").and_then(|secs| secs.parse().ok()).unwrap_or(1);
                    std::thread::sleep(Duration::from_secs(wait));
                }
            });
        }
    });
    Photos { refused: refused.into_inner(), all: start.elapsed().as_secs_f64() }
}
