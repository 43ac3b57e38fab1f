//! Killing the program at any instant loses no event that it had acknowledged.
//!
//! A child writes rounds through `crokeye match apply`, which answers a line only when its event is on disk. It is killed
//! (SIGKILL) at a random instant, many times over on one database; after each death every acknowledged round must be there,
//! the log must be whole, and nothing half-written may show.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Deaths. One in four falls at a random instant after the start (opening, migrating, the first write), the others at a random
/// instant after the first acknowledgement (writing, committing, checkpointing), however slow the machine starts a program.
const DEATHS: u32 = 60;

/// How long a test waits for a child's first acknowledgement, s.
const FIRST_ANSWER: Duration = Duration::from_secs(60);

const ROUND: &str = r#"{"command":"record","round":{"sides":[{"total":60},{"total":40}]}}"#;

fn crokeye(db: &Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("crokeye"));
    command.arg("match").arg("--db").arg(db).args(["--json", "--author", "test"]);
    command
}

fn shown(db: &Path) -> serde_json::Value {
    let shown = crokeye(db).args(["show", "1"]).output().unwrap();
    assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
    serde_json::from_slice(&shown.stdout).unwrap()
}

#[test]
fn no_acknowledged_round_is_lost_when_the_writer_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("crokeye.db");
    let made = crokeye(&db).args(["new", "Ann", "Bob", "--set", "end={rounds=1000000}"]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));

    // A fixed sequence of instants that falls everywhere between the first write and some hundred writes later.
    let mut seed = 0x2545_f491_4f6c_dd1du64;
    let mut random = |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    let mut acknowledged = 0u64;
    let (mut killed_while_writing, mut unacknowledged) = (0, 0u64);
    for death in 0..DEATHS {
        let mut child = crokeye(&db).args(["apply", "1"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let feeder = std::thread::spawn(move || {
            // Ends when the child is gone and the pipe breaks.
            while writeln!(input, "{ROUND}").is_ok() {}
        });
        let output = child.stdout.take().unwrap();
        let (first, answered) = mpsc::sync_channel(1);
        let counter = std::thread::spawn(move || {
            let mut highest = 0;
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                // A line cut by death is no acknowledgement.
                let Ok(answer) = serde_json::from_str::<serde_json::Value>(&line) else { break };
                assert_eq!(answer["ok"], true, "{line}");
                highest = answer["revision"].as_u64().unwrap();
                // Only the first is waited for.
                first.try_send(()).ok();
            }
            highest
        });
        if death % 4 > 0 {
            answered.recv_timeout(FIRST_ANSWER).expect("a child that writes answers");
        }
        std::thread::sleep(Duration::from_micros(random(20_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        feeder.join().unwrap();
        let highest = counter.join().unwrap();
        killed_while_writing += u32::from(highest > 0);
        acknowledged = acknowledged.max(highest);

        let game = shown(&db);
        let revision = game["revision"].as_u64().unwrap();
        assert!(revision >= acknowledged, "death {death}: {acknowledged} acknowledged, {revision} there");
        assert_eq!(game["rounds"].as_array().unwrap().len() as u64, revision - 1, "death {death}");
        unacknowledged = unacknowledged.max(revision - acknowledged);
        acknowledged = revision;
    }
    assert!(killed_while_writing > DEATHS / 4, "only {killed_while_writing} deaths fell into writing: no proof");
    assert!(unacknowledged <= 1, "one event at most may be on disk without its answer, {unacknowledged} were");

    let checked =
        Command::new(assert_cmd::cargo::cargo_bin!("crokeye")).args(["db", "check", "--db"]).arg(&db).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}
