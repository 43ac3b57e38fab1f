//! Chromium for tests of pages.

use std::path::Path;

/// Is there a browser to look at pages with? Where there is none a test of pages may pass over its work.
///
/// # Panics
/// There is none, and `make test` says with `CROKEYE_TEST_BROWSER` that there must be.
pub fn is_there() -> bool {
    let chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    let named = std::env::var_os("CHROMIUM").is_some();
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/node_modules");
    let driver = ["playwright-core", "axe-core"].iter().all(|name| modules.join(name).exists());
    let there = (named || chromium.iter().any(|path| Path::new(path).exists())) && driver;
    assert!(there || std::env::var_os("CROKEYE_TEST_BROWSER").is_none(), "no Chromium: run scripts/setup.sh --test");
    there
}
