//! `crokeye watch --json` as another program starts it: its events as they come.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The running program; it does not outlive its test.
pub struct Program {
    child: Child,
    lines: Receiver<(Instant, String)>,
    /// All that it printed and that was waited for.
    pub printed: String,
}

impl Program {
    /// Starts `binary` to watch `source`, without advice.
    pub fn watch(binary: &str, source: &str, more: &[&str]) -> Self {
        let mut child = Command::new(binary)
            .args(["watch", "--json", "--rules", "off", "--source", source])
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let (send, lines) = channel();
        let out = child.stdout.take().expect("a pipe");
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if send.send((Instant::now(), line)).is_err() {
                    return;
                }
            }
        });
        Self { child, lines, printed: String::new() }
    }

    /// Its process.
    pub fn id(&self) -> String {
        self.child.id().to_string()
    }

    /// The next event that `wanted` accepts and when it came; None where none does within `patience`.
    pub fn find(&mut self, patience: Duration, wanted: impl Fn(&Value) -> bool) -> Option<(Instant, Value)> {
        let until = Instant::now() + patience;
        loop {
            let (at, line) = self.lines.recv_timeout(until.saturating_duration_since(Instant::now())).ok()?;
            let event: Value = serde_json::from_str(&line).expect("one JSON object a line");
            self.printed.push_str(&line);
            self.printed.push('\n');
            if wanted(&event) {
                return Some((at, event));
            }
        }
    }

    /// The next event that `wanted` accepts.
    #[track_caller]
    pub fn wait_for(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        match self.find(Duration::from_secs(60), wanted) {
            Some((_, event)) => event,
            None => panic!("{what} did not come; this did:\n{}", self.printed),
        }
    }

    /// Asks it to end, as Ctrl-C does.
    pub fn interrupt(&self) {
        let done = Command::new("kill").args(["-INT", &self.id()]).status();
        assert!(done.is_ok_and(|status| status.success()));
    }

    /// Waits for its end: its exit status.
    pub fn ended(&mut self) -> Option<i32> {
        while let Ok((_, line)) = self.lines.recv() {
            self.printed.push_str(&line);
            self.printed.push('\n');
        }
        self.child.wait().expect("it was started").code()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A settled board with so many discs.
pub fn settled_with(discs: usize) -> impl Fn(&Value) -> bool {
    move |event| event["event"] == "settled" && event["count"]["discs"].as_array().is_some_and(|all| all.len() == discs)
}

/// A camera that is lost, back, dark or frozen.
pub fn camera(state: &'static str) -> impl Fn(&Value) -> bool {
    move |event| event["event"] == "camera" && event["state"] == state
}
