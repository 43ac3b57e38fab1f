//! `crokeye serve` as a process, and a client that says what it is told to say, right or wrong.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tungstenite::WebSocket;
use tungstenite::client::IntoClientRequest;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the program with this on its stdin.
pub fn crokeye(arguments: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("crokeye"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(stdin).unwrap();
    child.wait_with_output().unwrap()
}

/// A server of its own, with a database of its own, that plays the sample round twenty times as fast.
pub struct Server {
    child: Child,
    folder: Option<tempfile::TempDir>,
    /// Kept open: a program whose reader is gone ends.
    _said: BufReader<ChildStdout>,
    pub address: String,
}

impl Server {
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), "20", arguments)
    }

    /// One whose board hardly moves: for what has nothing to do with it.
    pub fn idle(arguments: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), "0.1", arguments)
    }

    /// One with this configuration, beside its database.
    pub fn configured(configuration: &str, arguments: &[&str]) -> Self {
        Self::configured_in(tempfile::tempdir().unwrap(), configuration, arguments)
    }

    /// Once more with the same database, and this configuration.
    pub fn again_configured(mut self, configuration: &str) -> Self {
        Self::configured_in(self.folder.take().unwrap(), configuration, &[])
    }

    /// One with this configuration in a folder that holds more.
    pub fn configured_in(folder: tempfile::TempDir, configuration: &str, arguments: &[&str]) -> Self {
        let path = folder.path().join("hall.toml");
        std::fs::write(&path, configuration).unwrap();
        let path = path.to_str().unwrap().to_owned();
        Self::run(folder, &[&["--config", &path], arguments].concat())
    }

    fn start_in(folder: tempfile::TempDir, speed: &str, arguments: &[&str]) -> Self {
        Self::run(folder, &[&["--source", "sample", "--speed", speed], arguments].concat())
    }

    fn run(folder: tempfile::TempDir, arguments: &[&str]) -> Self {
        let mut server = Self::try_run(folder.path(), arguments).unwrap_or_else(|said| panic!("{said}"));
        server.folder = Some(folder);
        server
    }

    fn try_run(folder: &Path, arguments: &[&str]) -> Result<Self, String> {
        let program = assert_cmd::cargo::cargo_bin!("crokeye");
        // A signal that a limit on the size of files sends is ignored: what is tested is the write that fails.
        let (shell, script) = ("/bin/sh", "trap '' XFSZ 2>/dev/null; exec \"$0\" \"$@\"");
        let mut command = if cfg!(unix) { Command::new(shell) } else { Command::new(program) };
        if cfg!(unix) {
            command.args(["-c", script]).arg(program);
        }
        let mut child = command
            .args(["serve", "--port", "0", "--db"])
            .arg(folder.join("crokeye.db"))
            .args(arguments)
            // What the person has who runs the tests is of no concern here.
            .env("XDG_CONFIG_HOME", folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut complaints = child.stderr.take().unwrap();
        said.read_line(&mut line).unwrap();
        let Some(address) = line.split("http://").nth(1) else {
            let mut text = String::new();
            complaints.read_to_string(&mut text).unwrap();
            child.wait().unwrap();
            return Err(text);
        };
        // Shown where a test fails.
        std::thread::spawn(move || {
            for line in BufReader::new(complaints).lines().map_while(Result::ok) {
                eprintln!("{line}");
            }
        });
        let address = address.trim().trim_end_matches('/').replace("0.0.0.0", "127.0.0.1");
        Ok(Self { child, folder: None, _said: said, address })
    }

    /// One that plays the sample so many times as fast.
    pub fn start_at(speed: &str, arguments: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), speed, arguments)
    }

    /// One that watches this source.
    pub fn watching(source: &str) -> Self {
        Self::run(tempfile::tempdir().unwrap(), &["--source", source])
    }

    /// One whose database lies in a folder that outlives it.
    pub fn start_with(folder: &Path, speed: &str, arguments: &[&str]) -> Self {
        Self::try_start_with(folder, speed, arguments).unwrap()
    }

    /// As [`Server::start_with`]; what it says on stderr where it does not start.
    pub fn try_start_with(folder: &Path, speed: &str, arguments: &[&str]) -> Result<Self, String> {
        Self::try_run(folder, &[&["--source", "sample", "--speed", speed], arguments].concat())
    }

    /// Once more, with the same database and a board that hardly moves.
    pub fn again(self) -> Self {
        self.again_at("0.1")
    }

    /// Once more, with the same database.
    pub fn again_at(mut self, speed: &str) -> Self {
        Self::start_in(self.folder.take().unwrap(), speed, &[])
    }

    /// Where its database lies.
    pub fn db(&self) -> PathBuf {
        self.folder.as_ref().unwrap().path().join("crokeye.db")
    }

    /// Number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end.
    pub fn terminate(&mut self, patience: Duration) -> Option<ExitStatus> {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        let until = Instant::now() + patience;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().unwrap() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        None
    }

    /// Writes over the file of a document, as a bad disk does.
    pub fn spoil(&self, sha256: &str) {
        let folder = self.folder.as_ref().unwrap().path().join("crokeye.db.evidence");
        std::fs::write(folder.join(&sha256[..2]).join(sha256), "spoilt").unwrap();
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[("Content-Type", "application/json")], body.to_string().as_bytes())
    }

    /// As [`Server::post`]; None where there is no whole answer.
    pub fn try_post(&self, path: &str, body: &Value) -> Option<Answer> {
        let answer =
            self.try_send("POST", path, &[("Content-Type", "application/json")], body.to_string().as_bytes())?;
        let length = answer.header("content-length").and_then(|length| length.parse::<usize>().ok());
        (length == Some(answer.body.len())).then_some(answer)
    }

    /// Sends a request; a connection that ends without an answer gives status 0.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.try_send(method, path, headers, body).expect("it listens")
    }

    fn try_send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Option<Answer> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        let head =
            self.head(method, path, headers, &format!("Content-Length: {}\r\nConnection: close\r\n", body.len()));
        // Who refuses a body need not read it to its end.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        Some(Answer::parse(&bytes))
    }

    /// Opens a stream, past its head.
    pub fn stream(&self, path: &str, headers: &[(&str, &str)]) -> Stream {
        let mut stream = self.connect();
        stream.write_all(self.head("GET", path, headers, "").as_bytes()).unwrap();
        let mut stream = Stream(BufReader::new(stream));
        assert!(stream.line().starts_with("HTTP/1.1 200"));
        while !stream.line().is_empty() {}
        stream
    }

    pub fn socket(&self, path: &str, origin: Option<&str>) -> Result<WebSocket<TcpStream>, String> {
        let mut request = format!("ws://{}{path}", self.address).into_client_request().unwrap();
        if let Some(origin) = origin {
            request.headers_mut().insert("Origin", origin.parse().unwrap());
        }
        tungstenite::client(request, self.connect()).map(|(socket, _)| socket).map_err(|error| error.to_string())
    }

    /// Waits until the sample round is proposed; the match then.
    pub fn until_proposed(&self) -> Value {
        self.until_proposed_at("/api/v1/state")
    }

    /// The same of the board whose state is told there.
    pub fn until_proposed_at(&self, path: &str) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let state = self.get(path).json();
            if !state["match"]["proposals"][0].is_null() && state["board"]["state"] == "waiting" {
                return state["match"].clone();
            }
            assert!(Instant::now() < until, "no round was proposed: {state}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn head(&self, method: &str, path: &str, headers: &[(&str, &str)], more: &str) -> String {
        let named = |name: &str| headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
        let host = if named("Host") { String::new() } else { format!("Host: {}\r\n", self.address) };
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!("{method} {path} HTTP/1.1\r\n{host}{headers}{more}\r\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended already is no trouble.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or(0);
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .collect();
        let mut body = bytes.get(end + 4..).unwrap_or_default().to_vec();
        if headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked") {
            body = unchunked(&body);
        }
        Self { status, headers, body }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.text()))
    }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(&String::from_utf8_lossy(&bytes[..end]), 16).unwrap_or(0);
        let Some(chunk) = bytes.get(end + 2..end + 2 + size).filter(|_| size > 0) else { break };
        out.extend_from_slice(chunk);
        bytes = bytes.get(end + 4 + size..).unwrap_or_default();
    }
    out
}

/// An answer that goes on.
pub struct Stream(BufReader<TcpStream>);

impl Stream {
    /// The next line, without the sizes of chunks.
    pub fn line(&mut self) -> String {
        loop {
            let mut bytes = Vec::new();
            self.0.read_until(b'\n', &mut bytes).unwrap();
            assert!(!bytes.is_empty(), "the stream has ended");
            let line = String::from_utf8_lossy(&bytes).trim_end().to_owned();
            let is_size = line.len() < 9 && !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_hexdigit());
            if !is_size {
                return line;
            }
        }
    }

    /// The next server-sent event: its id and what it holds.
    pub fn event(&mut self) -> (String, Value) {
        let mut id = String::new();
        loop {
            let line = self.line();
            if let Some(text) = line.strip_prefix("id:") {
                id = text.trim().to_owned();
            } else if let Some(text) = line.strip_prefix("data:") {
                return (id, serde_json::from_str(text.trim()).unwrap());
            }
        }
    }
}
