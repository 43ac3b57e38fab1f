//! Runs the binary over the labelled pictures in `../shared` with the measure that lies there, and holds it to the
//! committed floors of `tests/floors.toml`.
//!
//! Where `../shared` is missing there is nothing to measure on: the test says so and passes, but never on CI.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The floors of one set of pictures.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Floors {
    /// Folder below `../shared`.
    folder: String,
    /// Whether every picture's true field of view is told (`--fov`).
    #[serde(default)]
    fov: bool,
    #[serde(default)]
    at_least: BTreeMap<String, f64>,
    #[serde(default)]
    at_most: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
struct FloorFile {
    set: Vec<Floors>,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// `../shared`; None where it is missing and may be.
fn shared() -> Option<PathBuf> {
    let shared = root().join("../shared");
    if shared.join("evaluate/evaluate.py").is_file() {
        return Some(shared);
    }
    let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(!is_ci, "../shared is missing: on CI the counter has to be measured");
    eprintln!("../shared is missing: nothing measured");
    None
}

fn floors() -> Vec<Floors> {
    let text = std::fs::read_to_string(root().join("tests/floors.toml")).unwrap();
    toml::from_str::<FloorFile>(&text).unwrap().set
}

mod slow {
    use super::*;

    #[test]
    fn counts_of_labelled_pictures_hold_the_committed_floors() {
        let Some(shared) = shared() else { return };
        let sets = floors();
        assert!(!sets.is_empty());
        let mut broken = Vec::new();
        for set in &sets {
            let (figures, output) = evaluate(&shared, set);
            let name = format!("{}{}", set.folder, if set.fov { " --fov" } else { "" });
            println!("{name}\n{output}");
            let value =
                |key: &str| *figures.get(key).unwrap_or_else(|| panic!("{name}: no figure `{key}`: {figures:?}"));
            for (key, &floor) in &set.at_least {
                if value(key) < floor {
                    broken.push(format!("{name}: {key} is {}, has to be at least {floor}", value(key)));
                }
            }
            for (key, &floor) in &set.at_most {
                // Not a number: there was nothing to measure, which is no success.
                if value(key).is_nan() || value(key) > floor {
                    broken.push(format!("{name}: {key} is {}, has to be at most {floor}", value(key)));
                }
            }
        }
        assert!(broken.is_empty(), "\n{}", broken.join("\n"));
    }
}

/// Runs the measure over one set: its figures by name, and what it printed.
fn evaluate(shared: &Path, set: &Floors) -> (BTreeMap<String, f64>, String) {
    let json = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new("python3");
    command.arg(shared.join("evaluate/evaluate.py"));
    command.arg("--bin").arg(env!("CARGO_BIN_EXE_crokeye"));
    command.arg("--each").arg("--json").arg(json.path());
    if set.fov {
        command.arg("--fov");
    }
    let output = command.arg(shared.join(&set.folder)).output().expect("python3 runs the measure");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", set.folder);
    let printed = String::from_utf8(output.stdout).unwrap();
    let figures: BTreeMap<String, BTreeMap<String, f64>> =
        serde_json::from_slice(&std::fs::read(json.path()).unwrap().replace_nan()).unwrap();
    let mut figures = figures.into_values().next().expect("one set was measured");
    let (pictures, report): (Vec<&str>, Vec<&str>) = printed.lines().partition(|line| line.starts_with('{'));
    for line in &report {
        figures.extend(printed_figures(line));
    }
    let pairs = figures.get("paired").copied().unwrap_or(0.0).max(1.0);
    figures.insert("close_share".into(), figures["close"] / pairs);
    (figures, [report, pictures.into_iter().filter(|line| is_telling(line)).collect()].concat().join("\n"))
}

/// Python writes NaN into JSON, which is none.
trait ReplaceNan {
    fn replace_nan(self) -> Self;
}

impl ReplaceNan for Vec<u8> {
    fn replace_nan(self) -> Self {
        String::from_utf8(self).unwrap().replace("NaN", "1e300").into_bytes()
    }
}

/// Figures that the measure prints but does not write: medians and the honesty of sigma.
fn printed_figures(line: &str) -> Vec<(String, f64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let after = |word: &str| {
        let at = words.iter().position(|w| *w == word)?;
        words.get(at + 1)?.parse::<f64>().ok()
    };
    let prefix = match words.as_slice() {
        ["position", "error", ..] => "position",
        ["margin", "error", "mm", ..] => "margin",
        ["margin", "error", "/", "sigma", ..] => "sigma",
        _ => return Vec::new(),
    };
    ["median", "p68", "p95", "max"]
        .iter()
        .filter_map(|name| after(name).map(|value| (format!("{prefix}_{name}_printed"), value)))
        .collect()
}

/// Whether a picture's line tells of a fault.
fn is_telling(line: &str) -> bool {
    let row: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
    row["exact"] == false || row["ok"] == false || row["extra"].as_u64() > Some(0) || row["missed"][0].is_u64()
}

#[test]
fn the_measure_s_report_is_understood() {
    let position = printed_figures("   position error mm     median 0.26  p95 0.59  max 1.30");
    assert_eq!(position[0], ("position_median_printed".to_owned(), 0.26));
    let sigma = printed_figures("   margin error / sigma  p68 1.02 (1 is honest)  p95 2.10 (2 is honest)");
    assert_eq!(sigma, [("sigma_p68_printed".to_owned(), 1.02), ("sigma_p95_printed".to_owned(), 2.1)]);
    assert!(printed_figures("   exact totals          22/22 = 100.0%   mean gap 0.00 points").is_empty());
}

#[test]
fn every_floor_names_a_folder_and_at_least_one_bound() {
    for set in floors() {
        assert!(!set.folder.is_empty());
        assert!(!set.at_most.is_empty() && set.at_most.contains_key("silent"), "{}: silent has no floor", set.folder);
    }
}
