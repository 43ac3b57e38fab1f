//! The report of an audit in Chromium: filters, keys, decisions, print. `scripts/setup.sh --test` installs what it needs.
//!
//! Pictures of the page are left in `target/report-page/` for people to look at.

#[path = "support/browser.rs"]
mod browser;

use std::path::Path;
use std::process::Command;

use serde_json::Value;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn an_auditor_can_use_the_report() {
    if !browser::is_there() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let photos = folder.path().join("photos");
    std::fs::create_dir(&photos).unwrap();
    for sample in std::fs::read_dir(Path::new(ROOT).join("samples")).unwrap() {
        let path = sample.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "jpg") {
            std::fs::copy(&path, photos.join(path.file_name().unwrap())).unwrap();
        }
    }
    std::fs::write(photos.join("broken.jpg"), b"no picture").unwrap();
    let audit = |arguments: &[&str]| {
        let output = Command::new(assert_cmd::cargo::cargo_bin!("crokeye"))
            .current_dir(folder.path())
            .args(["audit", "photos", "--json"])
            .args(arguments)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        serde_json::from_slice::<Value>(&output.stdout).unwrap_or_else(|_| panic!("{errors}"))
    };
    audit(&[]);
    let results = std::fs::read_to_string(folder.path().join("crokeye-audit/results.jsonl")).unwrap();
    let mut sheet = "picture,a,b\n".to_owned();
    let mut altered = false;
    for line in results.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let [a, b] = [0, 1].map(|side| line["sides"][side]["total"].as_u64());
        let (Some(a), Some(b)) = (a, b) else { continue };
        let wrong = !altered && line["status"] == "counted";
        altered |= wrong;
        sheet.push_str(&format!("{},{},{b}\n", line["source"].as_str().unwrap(), a + if wrong { 5 } else { 0 }));
    }
    sheet.push_str("lost.jpg,10,10\n");
    std::fs::write(folder.path().join("scores.csv"), sheet).unwrap();
    let summary = audit(&["--expected", "scores.csv"]);
    assert_eq!(summary["tally"]["disagree"], 1, "{summary}");

    let out = Path::new(ROOT).join("target/report-page");
    std::fs::create_dir_all(&out).unwrap();
    let run = Command::new("node")
        .current_dir(Path::new(ROOT).join("tests/browser"))
        .arg("report.mjs")
        .arg(folder.path().join("crokeye-audit/report.html"))
        .arg(&out)
        .output()
        .expect("node is installed: scripts/setup.sh --test");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let used: Value = serde_json::from_slice(&run.stdout).unwrap();
    let pdf = std::fs::read(out.join("report.pdf")).unwrap();
    assert!(pdf.starts_with(b"%PDF") && pdf.len() > 20_000, "{} bytes", pdf.len());

    // What the page saved is what the next run holds to.
    let saved = out.join("decisions.json");
    let summary = audit(&["--expected", "scores.csv", "--decisions", saved.to_str().unwrap()]);
    assert_eq!(summary["tally"]["decided"], 1);
    let results = std::fs::read_to_string(folder.path().join("crokeye-audit/results.jsonl")).unwrap();
    let decided = results
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|line| line["source"].as_str().unwrap().ends_with(used["decided"]["name"].as_str().unwrap()))
        .unwrap();
    let disc = decided["discs"].as_array().unwrap().iter().find(|disc| disc["id"] == used["decided"]["disc"]).unwrap();
    assert_eq!(disc["value"], used["decided"]["value"]);
    assert_eq!(decided["audit"]["decisions"][0]["author"], "Ann Lee");
    assert_eq!(decided["audit"]["decisions"][0]["reason"], "seen on the video");
}
