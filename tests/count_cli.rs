//! `crokeye count` as its users meet it: what it prints, writes and returns.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

fn crokeye() -> Command {
    let mut command = Command::cargo_bin("crokeye").unwrap();
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

/// A sample picture, by the stem of its name.
fn sample(name: &str) -> String {
    format!("samples/{name}.jpg")
}

fn stdout(command: &mut Command) -> (i32, String) {
    let output = command.output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

fn json_lines(command: &mut Command) -> (i32, Vec<Value>) {
    let (status, text) = stdout(command);
    (status, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// A folder with a text file that is named like a picture.
fn folder_with_text() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.jpg");
    std::fs::write(&path, "no picture").unwrap();
    (folder, path)
}

#[test]
fn json_has_a_line_for_each_photo_in_the_order_given() {
    let (_folder, text) = folder_with_text();
    let photos = [sample("oak-empty"), text.display().to_string(), sample("black-one-disc")];
    let (status, lines) = json_lines(crokeye().args(["count", "--json", "--jobs", "2"]).args(&photos));
    assert_eq!(status, 2, "an unreadable photo");
    let sources: Vec<&str> = lines.iter().map(|line| line["source"].as_str().unwrap()).collect();
    assert_eq!(sources, photos);
    assert!(lines.iter().all(|line| line["schema"] == "crokeye.count/1"));
    assert_eq!(lines[1]["status"], "error");
    assert!(lines[1]["error"].as_str().unwrap().contains("JPEG, PNG or WebP"));
    assert!(lines[1]["image"].is_null() && lines[1]["board"].is_null());
    assert_ne!(lines[2]["status"], "error", "the rest go on");
}

#[test]
fn an_empty_board_is_nil_to_nil_with_status_nought() {
    let (status, lines) = json_lines(crokeye().args(["count", "--json", &sample("oak-empty")]));
    assert_eq!((status, lines[0]["status"].as_str()), (0, Some("counted")));
    let totals: Vec<u64> =
        lines[0]["sides"].as_array().unwrap().iter().map(|side| side["total"].as_u64().unwrap()).collect();
    assert_eq!(totals, [0, 0]);
    let timing = &lines[0]["timing_ms"];
    assert!(timing["decode"].as_f64() > Some(0.0) && timing["total"].as_f64() > timing["decode"].as_f64());
}

#[test]
fn twenties_set_aside_are_added() {
    let (_, lines) = json_lines(crokeye().args(["count", "--json", "--set-aside", "2,1", &sample("oak-empty")]));
    let side = |index: usize| &lines[0]["sides"][index];
    assert_eq!((side(0)["set_aside"].as_u64(), side(0)["total"].as_u64()), (Some(2), Some(40)));
    assert_eq!(side(1)["total"], 20);
}

#[test]
fn named_sides_come_in_the_order_named() {
    let totals = |names: Option<&str>| {
        let mut command = crokeye();
        command.args(["count", "--json"]);
        if let Some(names) = names {
            command.args(["--sides", names]);
        }
        let (_, lines) = json_lines(command.arg(sample("birch-crowded")));
        [0, 1].map(|side| (lines[0]["sides"][side]["colour"].clone(), lines[0]["sides"][side]["total"].clone()))
    };
    let by_darkness = totals(None);
    let [a, b] = totals(Some("white,black"));
    assert_eq!([b, a], by_darkness);
}

#[test]
fn the_same_photo_gives_the_same_bytes() {
    let without_timing = || {
        let (_, mut lines) = json_lines(crokeye().args(["count", "--json", &sample("white-round")]));
        lines[0].as_object_mut().unwrap().remove("timing_ms");
        lines[0].to_string()
    };
    assert_eq!(without_timing(), without_timing());
}

#[test]
fn a_folder_stands_for_its_pictures_by_name() {
    let folder = tempfile::tempdir().unwrap();
    for (from, to) in [("oak-empty", "b.JPG"), ("black-one-disc", "a.jpg")] {
        std::fs::copy(sample(from), folder.path().join(to)).unwrap();
    }
    std::fs::write(folder.path().join("notes.txt"), "not counted").unwrap();
    let (_, lines) = json_lines(crokeye().args(["count", "--json"]).arg(folder.path()));
    let names: Vec<&str> = lines
        .iter()
        .map(|line| Path::new(line["source"].as_str().unwrap()).file_name().unwrap().to_str().unwrap())
        .collect();
    assert_eq!(names, ["a.jpg", "b.JPG"]);
}

#[test]
fn the_table_shows_totals_and_says_what_is_wrong() {
    let (_folder, text) = folder_with_text();
    let (status, table) = stdout(crokeye().args(["count", &sample("birch-crowded")]).arg(&text));
    assert_eq!(status, 2);
    for word in ["birch-crowded", "black", "white", "total", "error", "not a picture that crokeye knows"] {
        assert!(table.contains(word), "{word} is not in\n{table}");
    }
}

#[test]
fn overlays_and_top_views_are_written_beside_each_other() {
    let out = tempfile::tempdir().unwrap();
    let copy = out.path().join("oak-empty.jpg");
    std::fs::copy(sample("oak-empty"), &copy).unwrap();
    let written = out.path().join("seen");
    let folder = written.to_str().unwrap();
    let (status, _) = stdout(
        crokeye()
            .args(["count", "--overlay", folder, "--top-view", folder, "--top-view-marks", &sample("oak-empty")])
            .arg(&copy),
    );
    assert_eq!(status, 0);
    let mut names: Vec<String> =
        std::fs::read_dir(&written).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let expected = ["oak-empty-2.overlay.png", "oak-empty-2.top.png", "oak-empty.overlay.png", "oak-empty.top.png"];
    assert_eq!(names, expected);
    let top = image::open(written.join("oak-empty.top.png")).unwrap();
    assert_eq!(top.width(), top.height());
    // 1920 x 1080 under a banner, with nothing to review beside it.
    let overlay = image::open(written.join("oak-empty.overlay.png")).unwrap();
    assert_eq!((overlay.width(), overlay.height()), (1920, 1182));
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error() {
    let (_folder, file) = folder_with_text();
    let inside_a_file = file.join("overlays");
    let output = crokeye().args(["count", "--overlay"]).arg(inside_a_file).arg(sample("oak-empty")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot make the folder"));
}

#[test]
fn wrong_use_is_status_two_with_a_word_on_how() {
    for (arguments, word) in [
        (vec!["count"], "PHOTO"),
        (vec!["count", "--fov", "0", "a.jpg"], "from 5 to 170"),
        (vec!["count", "--close-level", "2", "a.jpg"], "to 0.5"),
        (vec!["count", "--sides", "black,plaid", "a.jpg"], "natural"),
        (vec!["count", "--set-aside", "3", "a.jpg"], "A,B"),
        (vec!["count", "--jobs", "0", "a.jpg"], "1..=256"),
        (
            vec!["snap", "nowhere.mp4", "-o", "a.jpg"],
            if cfg!(feature = "opencv") { "nowhere.mp4" } else { "built without cameras" },
        ),
    ] {
        let output = crokeye().args(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(word), "{arguments:?}: {errors}");
    }
}

#[test]
fn help_teaches_by_example() {
    for subcommand in ["count", "snap", "completions"] {
        let (status, help) = stdout(crokeye().args([subcommand, "--help"]));
        assert_eq!(status, 0);
        assert!(help.contains("Examples:") && help.contains(&format!("crokeye {subcommand} ")), "{help}");
    }
}

#[test]
fn shells_get_their_completions() {
    for shell in ["bash", "zsh", "fish"] {
        let (status, script) = stdout(crokeye().args(["completions", shell]));
        assert_eq!(status, 0);
        assert!(script.contains("crokeye") && script.contains("set-aside"), "{shell}");
    }
}

#[test]
fn the_manual_has_a_page_for_every_subcommand() {
    let folder = tempfile::tempdir().unwrap();
    let (status, _) = stdout(crokeye().arg("man").arg(folder.path().join("man1")));
    assert_eq!(status, 0);
    for page in ["crokeye", "crokeye-serve", "crokeye-config", "crokeye-match-new"] {
        let text = std::fs::read_to_string(folder.path().join(format!("man1/{page}.1"))).unwrap();
        assert!(text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"), "{page}");
    }
    let (status, _) = stdout(crokeye().args(["man", "/dev/null/man"]));
    assert_eq!(status, 2);
}
