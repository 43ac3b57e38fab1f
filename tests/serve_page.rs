//! The pages of `crokeye serve` in Chromium: a replayed round, its close call settled by a tap, confirmed, undone,
//! corrected, exported, in both languages. `scripts/setup.sh --test` installs what it needs.
//!
//! Pictures of the pages are left in `target/serve-page/` for people to look at.

#[path = "support/server.rs"]
#[allow(dead_code, reason = "this test uses only a part of the client")]
mod server;

#[path = "support/browser.rs"]
mod browser;

use std::path::Path;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn a_referee_and_a_hall_can_use_the_pages() {
    if !browser::is_there() {
        return;
    }
    let out = Path::new(ROOT).join("target/serve-page");
    std::fs::create_dir_all(&out).unwrap();
    let server = server::Server::start(&[]);
    let run = Command::new("node")
        .current_dir(Path::new(ROOT).join("tests/browser"))
        .arg("serve.mjs")
        .arg(format!("http://{}", server.address))
        .arg(&out)
        .output()
        .expect("node is installed: scripts/setup.sh --test");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
