//! A network camera that dies in mid-round and comes back: the round survives.
//!
//! ffmpeg serves Motion JPEG over HTTP, a small GStreamer server RTSP, both on loopback; the program itself watches.
//! `scripts/setup.sh --test` installs both; where one is missing its test says so, and fails under `make test`.
#![cfg(all(feature = "opencv", target_os = "linux"))]

#[path = "support/mod.rs"]
mod support;

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crokeye::board::Side::{A, B};
use serde_json::Value;
use support::Random;
use support::play::{arm, board, disc, noisy, picture};
use support::program::{Program, camera, settled_with};

const FPS: usize = 10;

/// A process that does not outlive its test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const RTSP_SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/rtsp_server.py");

/// True where `program` can be run for a test. `make test` says with a variable that it must be.
fn can_serve(name: &str, program: &str, arguments: &[&str]) -> bool {
    let there = succeeds(program, arguments);
    let must = std::env::var_os("CROKEYE_TEST_CAMERA").is_some();
    assert!(there || !must, "no {name}: run scripts/setup.sh --test");
    if !there {
        eprintln!("{name} is not installed: not tested");
    }
    there
}

fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let done = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    done.is_ok_and(|status| status.success())
}

/// Writes frames as `00000.jpg` and on: `discs` lie on the board, after a hand was there.
fn frames(folder: &Path, discs: usize, seconds: usize) {
    let mut scene = board();
    let places = [disc(A, 0.0, 150.0), disc(B, -150.0, 200.0), disc(A, 60.0, 20.0), disc(B, 150.0, -50.0)];
    scene.discs = places[..discs].to_vec();
    let still = picture(&scene);
    scene.arm = arm(60.0, 200.0);
    let hand = picture(&scene);
    let mut random = Random::new(discs as u64);
    std::fs::create_dir_all(folder).unwrap();
    for frame in 0..seconds * FPS {
        let shown = if frame < 4 && frame % 2 == 1 { &hand } else { &still };
        noisy(shown, &mut random).save(folder.join(format!("{frame:05}.jpg"))).unwrap();
    }
}

fn http(folder: &Path, port: u16) -> Server {
    let input = folder.join("%05d.jpg");
    let child = Command::new("ffmpeg")
        .args(["-loglevel", "error", "-re", "-framerate", &FPS.to_string(), "-i"])
        .arg(input)
        .args(["-c:v", "copy", "-f", "mpjpeg", "-listen", "1"])
        .arg(format!("http://127.0.0.1:{port}/camera"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    Server(child.unwrap())
}

fn rtsp(folder: &Path, port: u16) -> Server {
    let child = Command::new("/usr/bin/python3")
        .arg(RTSP_SERVER)
        .arg(folder)
        .arg(port.to_string())
        .arg(FPS.to_string())
        .spawn();
    Server(child.unwrap())
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn survives(serve: impl Fn(&Path, u16) -> Server, scheme: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    frames(&before, 3, 60);
    frames(&after, 4, 60);
    let port = free_port();
    let first = serve(&before, port);
    std::thread::sleep(Duration::from_secs(1));
    let binary = env!("CARGO_BIN_EXE_crokeye");
    let mut program = Program::watch(binary, &format!("{scheme}://127.0.0.1:{port}/camera"), &[]);
    program.wait_for("a settled board", settled_with(3));
    drop(first);
    let killed = Instant::now();
    program.wait_for("the loss of the camera", camera("lost"));
    assert!(killed.elapsed() < Duration::from_millis(3_500), "noticed after {:?}", killed.elapsed());
    let _second = serve(&after, port);
    program.wait_for("the camera's return", camera("back"));
    program.wait_for("the next settled board", settled_with(4));
    // SIGINT ends the session and tells its round.
    program.interrupt();
    let round = program.wait_for("the round", |event| event["event"] == "round");
    let totals: Vec<&Value> = round["sides"].as_array().unwrap().iter().map(|side| &side["total"]).collect();
    assert_eq!(totals, [25, 15]);
    assert_eq!(round["round"], 1);
    assert!(program.ended().is_some(), "it ends by itself");
}

#[test]
fn a_round_survives_the_death_of_its_http_camera() {
    if can_serve("ffmpeg", "ffmpeg", &["-version"]) {
        survives(http, "http");
    }
}

#[test]
fn a_round_survives_the_death_of_its_rtsp_camera() {
    if can_serve("GStreamer RTSP server", "/usr/bin/python3", &[RTSP_SERVER, "--check"]) {
        survives(rtsp, "rtsp");
    }
}
