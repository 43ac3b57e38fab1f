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

/// Uses a service of its own in the browser, as the script says.
fn use_pages(script: &str, more: &[&str]) {
    if !browser::is_there() {
        return;
    }
    let out = Path::new(ROOT).join("target/serve-page");
    std::fs::create_dir_all(&out).unwrap();
    let server = server::Server::start(&[]);
    let run = Command::new("node")
        .current_dir(Path::new(ROOT).join("tests/browser"))
        .arg(script)
        .arg(format!("http://{}", server.address))
        .arg(&out)
        .args(more.iter().map(|name| Path::new(ROOT).join(name)))
        .output()
        .expect("node is installed: scripts/setup.sh --test");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn a_referee_and_a_hall_can_use_the_pages() {
    use_pages("serve.mjs", &[]);
}

#[test]
fn a_newcomer_sets_up_plays_a_round_and_audits_three_photos() {
    let photos = ["samples/cherry-twenty.jpg", "samples/bamboo-tilted.jpg", "samples/birch-crowded.jpg"];
    use_pages("newcomer.mjs", &photos);
}
