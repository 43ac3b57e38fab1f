//! Counts `samples/` as a user would and holds each picture against the truth beside it: exact, or honestly in review.

use assert_cmd::Command;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples")
}

/// Pictures of the folder with their labels, by name.
fn samples() -> BTreeMap<String, Value> {
    let mut out = BTreeMap::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ext| ext == "jpg") {
            let label = fs::read_to_string(path.with_extension("json")).unwrap();
            out.insert(path.file_stem().unwrap().to_str().unwrap().to_owned(), serde_json::from_str(&label).unwrap());
        }
    }
    out
}

fn has_board(label: &Value) -> bool {
    label["board"] != Value::Bool(false)
}

/// Totals of sides a and b.
fn totals(label: &Value) -> [u64; 2] {
    ["a", "b"].map(|side| label["totals"][side].as_u64().unwrap())
}

#[test]
fn there_are_eight_to_twelve_samples_and_the_readme_tells_their_totals() {
    let samples = samples();
    assert!((8..=12).contains(&samples.len()), "{} samples", samples.len());
    let readme = fs::read_to_string(folder().join("README.md")).unwrap();
    for (name, label) in &samples {
        let row = readme.lines().find(|line| line.starts_with(&format!("| `{name}`")));
        let row = row.unwrap_or_else(|| panic!("samples/README.md has no row for {name}"));
        let [a, b] = totals(label);
        let told = if has_board(label) { format!("| {a} : {b} |") } else { "| no board |".to_owned() };
        assert!(row.ends_with(&told), "{row}\nhas to end with {told}");
    }
}

#[test]
fn labels_agree_with_their_own_discs() {
    for (name, label) in samples() {
        for (side, total) in ["a", "b"].into_iter().zip(totals(&label)) {
            let discs = label["discs"].as_array().unwrap();
            let sum: u64 =
                discs.iter().filter(|disc| disc["side"] == side).map(|disc| disc["zone"].as_u64().unwrap()).sum();
            assert_eq!(sum, total, "{name}, side {side}");
        }
    }
}

mod slow {
    use super::*;

    #[test]
    fn every_sample_is_counted_right_or_sent_to_review() {
        let samples = samples();
        let paths: Vec<PathBuf> = samples.keys().map(|name| folder().join(name).with_extension("jpg")).collect();
        let output = Command::cargo_bin("crokeye").unwrap().args(["count", "--json"]).args(&paths).output().unwrap();
        let lines: Vec<Value> =
            String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), samples.len(), "one line a picture: {}", String::from_utf8_lossy(&output.stderr));
        let mut wrong = Vec::new();
        let mut exact = 0;
        for ((name, label), count) in samples.iter().zip(&lines) {
            let status = count["status"].as_str().unwrap();
            if !has_board(label) {
                if status != "no_board" {
                    wrong.push(format!("{name}: a board was found where there is none"));
                }
                continue;
            }
            let found = ["a", "b"].map(|side| {
                let sides = count["sides"].as_array().into_iter().flatten();
                sides.filter(|row| row["side"] == side).map(|row| row["total"].as_u64().unwrap()).sum::<u64>()
            });
            // The label does not say which of its sides is the darker one.
            let [a, b] = totals(label);
            let is_exact = found == [a, b] || found == [b, a];
            exact += usize::from(is_exact);
            match status {
                "counted" if !is_exact => wrong.push(format!("{name}: silently {found:?} instead of {:?}", [a, b])),
                "counted" | "review" => {}
                _ => wrong.push(format!("{name}: {status}")),
            }
        }
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
        // A counter that sends everything to review would pass so far.
        assert!(exact + 2 >= samples.len() - 1, "only {exact} exact totals of {}", samples.len() - 1);
    }
}
