//! `crokeye serve` killed at any instant and on a full disk: nothing that it acknowledged is lost, what follows goes on.

#![cfg(unix)]

#[path = "support/server.rs"]
#[allow(dead_code, reason = "this test uses only a part of the client")]
mod server;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use server::{Answer, Server};

/// Deaths in mid-confirmation.
const DEATHS: u64 = 12;
/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

fn revision(answer: &Answer) -> u64 {
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["revision"].as_u64().unwrap()
}

fn checked(db: &Path) {
    let checked = server::crokeye(&["db", "check", "--db", db.to_str().unwrap()], b"");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}

#[test]
fn killed_in_mid_round_it_plays_on_the_same_match_and_proposals_that_were_written_wait() {
    let mut server = Server::start_at("4", &[]);
    until(|| server.get("/api/v1/state").json()["board"]["standing"]["phase"] == "playing");
    server.kill();
    let mut server = server.again_at("20");
    let proposed = server.until_proposed();
    assert_eq!((&proposed["number"], proposed["proposals"].as_array().unwrap().len()), (&json!(1), 1));
    let totals = proposed["proposals"][0]["round"]["sides"].clone();
    assert_eq!((&totals[0]["total"], &totals[1]["total"]), (&json!(55), &json!(70)));

    // The proposal waits for its decision; no other round is played meanwhile.
    server.kill();
    let mut server = server.again_at("20");
    let again = server.until_proposed();
    assert_eq!((&again["revision"], &again["proposals"]), (&proposed["revision"], &proposed["proposals"]));
    until(|| server.get("/api/v1/boards/1/picture.jpg").body.starts_with(&[0xff, 0xd8]));
    let number = again["proposals"][0]["number"].as_u64().unwrap();
    let path = format!("/api/v1/matches/1/proposals/{number}/confirm");
    revision(&server.post(&path, &json!({ "author": "Ann" })));
    server.kill();
    checked(&server.db());
}

#[test]
fn killed_in_mid_confirmation_it_has_all_that_it_acknowledged() {
    let mut server = Server::start(&[]);
    let proposal = server.until_proposed()["proposals"][0]["number"].as_u64().unwrap();
    let confirm = format!("/api/v1/matches/1/proposals/{proposal}/confirm");
    let mut seed = 0x2545_f491_4f6c_dd1du64;
    let (mut acknowledged, mut answers) = (0, 0u32);
    for death in 0..DEATHS {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let pid = server.id();
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_micros(20_000 + (seed >> 33) % 180_000));
            assert!(Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap().success());
        });
        // Confirmed and undone over and over, until nobody answers any more.
        let is_open = |server: &Server| {
            server.get("/api/v1/state").json()["match"]["proposals"].as_array().is_some_and(|open| !open.is_empty())
        };
        let mut open = is_open(&server);
        loop {
            let path = if open { confirm.as_str() } else { "/api/v1/matches/1/undo" };
            let Some(answer) = server.try_post(path, &json!({ "author": "Ann" })) else { break };
            acknowledged = revision(&answer);
            (open, answers) = (!open, answers + 1);
        }
        killer.join().unwrap();
        server.kill();
        server = server.again();
        let game = server.get("/api/v1/state").json()["match"].clone();
        let there = game["revision"].as_u64().unwrap();
        assert_eq!(game["number"], 1, "death {death}");
        assert!((acknowledged..=acknowledged + 1).contains(&there), "death {death}: {acknowledged}, then {there}");
        // What is there is whole: confirmed with its totals, or open.
        let confirmed = game["rounds"].as_array().unwrap().len();
        assert_eq!(confirmed + game["proposals"].as_array().unwrap().len(), 1, "death {death}: {game}");
        acknowledged = there;
    }
    assert!(answers > DEATHS as u32 * 2, "only {answers} answers before {DEATHS} deaths: no proof");
    server.kill();
    checked(&server.db());
}

#[test]
fn on_a_full_disk_it_refuses_says_what_to_do_and_goes_on_when_there_is_room() {
    let disk = Disk::new();
    let mut server = disk.serve("20");
    let proposed = server.until_proposed();
    let proposal = proposed["proposals"][0]["number"].as_u64().unwrap();
    let mut acknowledged = proposed["revision"].as_u64().unwrap();
    disk.fill(&server);

    // A write may still fit into what the log holds already; one that does not is refused, and nothing of it is kept.
    let mut seat = ["A", "B"].into_iter().cycle();
    let until = Instant::now() + PATIENCE;
    let refused = loop {
        let answer = server.post("/api/v1/matches/1/first", &json!({ "seat": seat.next().unwrap() }));
        if answer.status != 200 {
            break answer;
        }
        acknowledged = revision(&answer);
        assert!(Instant::now() < until, "the disk never gets full");
    };
    assert_eq!((refused.status, refused.json()["kind"].clone()), (503, json!("unavailable")), "{}", refused.text());
    assert!(refused.text().contains("is the disk full"), "{}", refused.text());
    let now = |server: &Server| server.get("/api/v1/matches/1").json();
    assert_eq!(now(&server)["revision"], acknowledged);
    let confirm = format!("/api/v1/matches/1/proposals/{proposal}/confirm");
    assert_eq!(server.post(&confirm, &json!({})).status, 503);
    assert_eq!(server.get("/healthz").status, 200);

    // Killed now: all that was acknowledged is there once there is room.
    server.kill();
    let full = disk.try_serve();
    if let Err(said) = &full {
        assert!(said.contains("disk") || said.contains("space") || said.contains("full"), "{said}");
    }
    drop(full);
    disk.make_room(None);
    let server = disk.serve("20");
    assert_eq!(now(&server)["revision"], acknowledged);
    assert_eq!(now(&server)["proposals"][0]["number"], proposal);

    // A round that is played while the disk is full is kept by the program, and written when there is room.
    let mut events = server.stream("/api/v1/events", &[]);
    assert_eq!(server.post(&confirm, &json!({})).status, 200);
    disk.fill(&server);
    let told = loop {
        let (_, event) = events.event();
        if event["event"] == "not_proposed" {
            break event;
        }
    };
    assert!(told["reason"].as_str().unwrap().contains("is the disk full"), "{told}");
    disk.make_room(Some(&server));
    let second = server.until_proposed();
    assert_eq!(second["rounds"].as_array().unwrap().len(), 1);
    assert_eq!(second["proposals"][0]["round"]["sides"][1]["total"], 70);
    revision(&server.post("/api/v1/matches/1/undo", &json!({})));
    drop(server);
    checked(&disk.db());
}

/// Waits until it is so.
fn until(mut test: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !test() {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A disk that can be full: a small tmpfs where one may be mounted (root), else a limit on the size of the server's files.
struct Disk {
    folder: tempfile::TempDir,
    mounted: bool,
}

/// Size of the tmpfs.
const SIZE: &str = "size=24m";

impl Disk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", SIZE, "tmpfs"]).arg(folder.path()).output();
        let mounted = mounted.is_ok_and(|done| done.status.success());
        if !mounted {
            eprintln!("no tmpfs can be mounted: the size of files is limited instead");
        }
        Self { folder, mounted }
    }

    fn db(&self) -> PathBuf {
        self.folder.path().join("crokeye.db")
    }

    fn ballast(&self) -> PathBuf {
        self.folder.path().join("ballast")
    }

    fn serve(&self, speed: &str) -> Server {
        Server::start_with(self.folder.path(), speed, &[])
    }

    /// Starts it on the full disk; what it says where it does not start.
    fn try_serve(&self) -> Result<Server, String> {
        Server::try_start_with(self.folder.path(), "0.1", &[])
    }

    /// From now on no byte more can be written.
    fn fill(&self, server: &Server) {
        if !self.mounted {
            self.limit(server, "0");
            return;
        }
        let mut file = std::fs::File::create(self.ballast()).unwrap();
        for size in [1 << 20, 4096, 1] {
            while std::io::Write::write_all(&mut file, &vec![1; size]).is_ok() {}
        }
    }

    /// There is room again.
    fn make_room(&self, server: Option<&Server>) {
        match server {
            _ if self.mounted => std::fs::remove_file(self.ballast()).unwrap(),
            Some(server) => self.limit(server, "unlimited"),
            None => {}
        }
    }

    fn limit(&self, server: &Server, bytes: &str) {
        let limited = Command::new("prlimit")
            .args([&format!("--pid={}", server.id()), &format!("--fsize={bytes}:unlimited")])
            .status();
        assert!(limited.unwrap().success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.mounted {
            // Lazily: whoever still has a file open there may keep it.
            let _ = Command::new("umount").arg("-l").arg(self.folder.path()).status();
        }
    }
}
