//! `crokeye watch` before a network camera of 1280 x 720 px at 30 frames a second: CPU time of the whole program, from the
//! socket to the events, while the board is still, while a hand moves over it and while it is played on; and the time from
//! the first frame of a rest on the wire to its `settled` event. `cargo bench --bench live`.
//!
//! The camera is a server of Motion JPEG in this process; the program is another process, whose time is counted alone.

#[path = "../tests/support/mod.rs"]
mod support;

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::evening::{self, Evening, FPS};

/// How long the still board and the moving hand are measured.
const MEASURED: Duration = Duration::from_secs(20);

/// What the camera shows.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shows {
    Rest(usize),
    Hand,
}

/// What the camera is to show, and since when it does.
#[derive(Debug)]
struct Stage {
    shows: Shows,
    since: Option<Instant>,
}

fn main() {
    let evening = evening::evening();
    let rests = evening.rests.len();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = format!("http://{}/camera", listener.local_addr().expect("an address"));
    let stage = Arc::new(Mutex::new(Stage { shows: Shows::Rest(0), since: None }));
    let camera = Arc::clone(&stage);
    std::thread::spawn(move || serve(&listener, &evening, &camera));
    let (mut program, events) = watch(&address);
    let process = program.id().to_string();
    if settled(&events, 0, Duration::from_secs(60)).is_none() {
        let _ = program.kill();
        panic!("no board was found in a minute");
    }
    let show = |shows| *stage.lock().expect("the camera lives") = Stage { shows, since: None };
    let percent_of_a_core = |while_for: Duration| {
        let (start, before) = (Instant::now(), evening::cpu_ms(&process));
        std::thread::sleep(while_for);
        let spent_ms = evening::cpu_ms(&process) - before;
        spent_ms as f64 / 10.0 / start.elapsed().as_secs_f64()
    };
    // Both judgements of the first rest are over by then.
    std::thread::sleep(Duration::from_secs(2));
    let still = percent_of_a_core(MEASURED);
    show(Shows::Hand);
    std::thread::sleep(Duration::from_secs(1));
    let hand = percent_of_a_core(MEASURED);
    let (start, before) = (Instant::now(), evening::cpu_ms(&process));
    let mut delays_ms = Vec::new();
    let mut missed = 0;
    for rest in 1..rests {
        show(Shows::Hand);
        std::thread::sleep(Duration::from_secs(1));
        show(Shows::Rest(rest));
        let seen = settled(&events, rest, Duration::from_secs(3));
        let since = stage.lock().expect("the camera lives").since;
        match seen.zip(since) {
            Some((seen, since)) => delays_ms.push(seen.saturating_duration_since(since).as_secs_f64() * 1000.0),
            None => missed += 1,
        }
        std::thread::sleep(Duration::from_millis(1_500));
    }
    let play = (evening::cpu_ms(&process) - before) as f64 / 10.0 / start.elapsed().as_secs_f64();
    let memory_mib = evening::resident_kib(&process) / 1024;
    let _ = program.kill();
    let _ = program.wait();
    delays_ms.sort_by(f64::total_cmp);
    let [median, most] =
        [delays_ms.get(delays_ms.len() / 2), delays_ms.last()].map(|ms| ms.copied().unwrap_or(f64::NAN));
    println!("share of one core   still {still:.1} %, a hand {hand:.1} %, play with a shot every 2.8 s {play:.1} %");
    println!(
        "rest to its event   median {median:.0} ms, most {most:.0} ms of {} rests, {missed} missed",
        delays_ms.len()
    );
    println!("memory              {memory_mib} MiB");
}

/// Serves Motion JPEG to whoever asks, at the frame rate and no faster.
fn serve(listener: &TcpListener, evening: &Evening, stage: &Mutex<Stage>) {
    for stream in listener.incoming().map_while(Result::ok) {
        // The program may hang up and ask again.
        let _ = stream_to(stream, evening, stage);
    }
}

fn stream_to(mut stream: TcpStream, evening: &Evening, stage: &Mutex<Stage>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut request = BufReader::new(stream.try_clone()?).lines();
    while request.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=frame\r\n\r\n")?;
    let start = Instant::now();
    for frame in 0u64.. {
        let due = start + Duration::from_micros(frame * 1_000_000 / FPS);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let shows = {
            let mut stage = stage.lock().expect("nobody dies with it");
            stage.since.get_or_insert_with(Instant::now);
            stage.shows
        };
        let picture = match shows {
            Shows::Rest(rest) => &evening.rests[rest],
            Shows::Hand => &evening.hands[frame as usize % evening.hands.len()],
        };
        let jpeg = &picture[frame as usize % picture.len()];
        write!(stream, "--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n", jpeg.len())?;
        stream.write_all(jpeg)?;
        stream.write_all(b"\r\n")?;
    }
    Ok(())
}

/// The program, and its events with the moment that each came.
fn watch(address: &str) -> (Child, Receiver<(Instant, Value)>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_crokeye"))
        .args(["watch", "--json", "--rules", "off", "--source", address])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let (send, events) = channel();
    let out = child.stdout.take().expect("a pipe");
    std::thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            let at = Instant::now();
            let event = serde_json::from_str(&line).expect("one JSON object a line");
            if send.send((at, event)).is_err() {
                return;
            }
        }
    });
    (child, events)
}

/// When the board with so many discs was told to be settled; None where it was not within `patience`.
fn settled(events: &Receiver<(Instant, Value)>, discs: usize, patience: Duration) -> Option<Instant> {
    let until = Instant::now() + patience;
    loop {
        let (at, event) = events.recv_timeout(until.saturating_duration_since(Instant::now())).ok()?;
        let seen = event["count"]["discs"].as_array().map(Vec::len);
        if event["event"] == "settled" && seen == Some(discs) {
            return Some(at);
        }
    }
}
