//! The service under requests that Schemathesis makes up from the document of the API: no 5xx, and no answer that the
//! document does not know. Few of them here; `scripts/schemathesis.sh ADDRESS 500` asks more.

#[path = "support/server.rs"]
#[allow(dead_code, reason = "this test uses only a part of the client")]
mod server;

use std::path::Path;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn requests_made_up_from_the_document_find_no_fault() {
    if !Path::new(ROOT).join("target/schemathesis/bin/schemathesis").exists() {
        let wanted = std::env::var_os("CROKEYE_TEST_SCHEMATHESIS").is_some();
        assert!(!wanted, "no Schemathesis: run scripts/setup.sh --test");
        return;
    }
    let server = server::Server::start(&[]);
    server.until_proposed();
    let script = Path::new(ROOT).join("scripts/schemathesis.sh");
    let run = Command::new(script).arg(format!("http://{}", server.address)).args(["5", "20"]).output().unwrap();
    assert!(run.status.success(), "{}\n{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert_eq!(server.get("/healthz").status, 200);
}
