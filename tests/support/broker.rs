//! A real MQTT broker, Mosquitto, for tests.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long the broker may take to start.
const PATIENCE: Duration = Duration::from_secs(20);
/// Where it is installed; `/usr/sbin` is not on everybody's path.
const PROGRAMS: [&str; 2] = ["/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto"];

/// Is there a broker? Where there is none a test may pass over its work.
///
/// # Panics
/// There is none, and `make test` says with `CROKEYE_TEST_BROKER` that there must be.
pub fn is_there() -> bool {
    let there = program().is_some();
    assert!(there || std::env::var_os("CROKEYE_TEST_BROKER").is_none(), "no Mosquitto: run scripts/setup.sh --test");
    there
}

fn program() -> Option<&'static str> {
    PROGRAMS.into_iter().find(|path| Path::new(path).exists())
}

/// A broker that knows one user.
pub struct Broker {
    child: Option<Child>,
    folder: tempfile::TempDir,
    pub port: u16,
}

impl Broker {
    pub const USER: &str = "crokeye";
    pub const PASSWORD: &str = "hall pass";

    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let passwords = folder.path().join("passwords");
        let mut make = Command::new("mosquitto_passwd");
        make.args(["-b", "-c"]).arg(&passwords).args([Self::USER, Self::PASSWORD]);
        assert!(make.status().unwrap().success());
        // Else it would become a user who may not read the file.
        let user = if is_root() { "user root\n" } else { "" };
        let text = format!(
            "listener {port} 127.0.0.1\nallow_anonymous false\npassword_file {}\npersistence false\n{user}",
            passwords.display()
        );
        std::fs::write(folder.path().join("mosquitto.conf"), text).unwrap();
        let mut broker = Self { child: None, folder, port };
        broker.begin();
        broker
    }

    /// Starts it, again after [`Broker::stop`]; it has forgotten everything then.
    pub fn begin(&mut self) {
        let mut command = Command::new(program().unwrap());
        command.arg("-c").arg(self.folder.path().join("mosquitto.conf"));
        self.child = Some(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let until = Instant::now() + PATIENCE;
        while std::net::TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(Instant::now() < until, "the broker does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.stop();
    }
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|out| out.stdout.starts_with(b"0"))
}
