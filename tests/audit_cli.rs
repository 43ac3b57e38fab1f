//! `crokeye audit` as its users meet it: what it finds, keeps, writes and returns.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A folder with photos, and the audits of it.
struct Club {
    folder: tempfile::TempDir,
}

impl Club {
    /// Copies of these samples, or of all.
    fn new(samples: &[&str]) -> Self {
        let club = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(club.path("photos")).unwrap();
        samples.iter().for_each(|name| club.add(name, &format!("{name}.jpg")));
        club
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn add(&self, sample: &str, name: &str) {
        std::fs::copy(format!("{ROOT}/samples/{sample}.jpg"), self.path("photos").join(name)).unwrap();
    }

    fn sheet(&self, text: &str) {
        std::fs::write(self.path("scores.csv"), text).unwrap();
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("crokeye"));
        command.current_dir(self.folder.path()).arg("audit").args(arguments.split_whitespace()).env("USER", "Ann");
        command
    }

    fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// The summary of a run, with its status.
    fn json(&self, arguments: &str) -> (i32, Value) {
        let output = self.run(&format!("photos --json {arguments}"));
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        let summary = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}\n{errors}"));
        (output.status.code().unwrap(), summary)
    }

    fn results(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path("crokeye-audit/results.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The result of the photo of that name, with or without its extension.
    fn result(&self, name: &str) -> Value {
        let named = |line: &Value| {
            let path = Path::new(line["source"].as_str().unwrap());
            path.ends_with(name) || path.file_stem().is_some_and(|stem| stem == name)
        };
        self.results().into_iter().find(named).unwrap_or_else(|| panic!("no result of {name}"))
    }
}

fn totals(result: &Value) -> [u64; 2] {
    [0, 1].map(|side| result["sides"][side]["total"].as_u64().unwrap())
}

fn names(list: &Value) -> BTreeSet<String> {
    let name = |entry: &Value| {
        Path::new(entry["picture"].as_str().unwrap()).file_name().unwrap().to_string_lossy().into_owned()
    };
    list.as_array().unwrap().iter().map(name).collect()
}

/// A folder's result files, by name.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    ["results.jsonl", "results.csv", "discs.csv", "results.xlsx", "report.html"]
        .map(|name| (name.to_owned(), std::fs::read(folder.join(name)).unwrap()))
        .to_vec()
}

const CLEAR: &str = "cherry-wood-discs";
const OPEN: &str = "birch-crowded";

#[test]
fn a_wrong_total_is_named_and_right_ones_are_not() {
    let club = Club::new(&[CLEAR, "oak-empty", OPEN]);
    let (status, summary) = club.json("");
    assert_eq!(summary["tally"]["pictures"], 3);
    assert_eq!(status, 3, "a close call waits for a person");
    let row = |name: &str, more: u64| {
        let [a, b] = totals(&club.result(&format!("{name}.jpg")));
        format!("{name},{},{b}\n", a + more)
    };
    club.sheet(&format!("Picture,A,B\n{}{}{}", row(CLEAR, 0), row("oak-empty", 0), row(OPEN, 0)));
    let (status, summary) = club.json("--expected scores.csv");
    assert_eq!((status, summary["tally"]["agree"].as_u64()), (0, Some(3)), "{summary}");
    assert_eq!(summary["counted_now"], 0, "nothing is counted twice");

    club.sheet(&format!("Picture,A,B\n{}{}{}gone.jpg,5,5\n", row(CLEAR, 5), row("oak-empty", 0), row(OPEN, 5)));
    let (status, summary) = club.json("--expected scores.csv");
    assert_eq!(status, 1);
    assert_eq!(names(&summary["disagree"]), [format!("{CLEAR}.jpg")].into());
    assert_eq!(names(&summary["open"]), [format!("{OPEN}.jpg")].into());
    assert_eq!(summary["rows_without_picture"][0]["row"], 5);
    let text = String::from_utf8(club.run("photos --expected scores.csv").stdout).unwrap();
    assert!(text.contains("row 2") && text.contains("gone.jpg"), "{text}");
    assert!(club.run("photos --expected scores.csv --quiet").stdout.is_empty());
    let csv = std::fs::read_to_string(club.path("crokeye-audit/results.csv")).unwrap();
    assert!(csv.lines().any(|line| line.contains(CLEAR) && line.contains("disagrees")), "{csv}");
}

#[test]
fn damaged_foreign_and_boardless_files_are_listed_and_stop_nothing() {
    let club = Club::new(&["plates-no-board", CLEAR]);
    let photos = club.path("photos");
    let whole = std::fs::read(photos.join(format!("{CLEAR}.jpg"))).unwrap();
    std::fs::write(photos.join("cut.jpg"), &whole[..whole.len() / 2]).unwrap();
    std::fs::write(photos.join("empty.jpg"), b"").unwrap();
    std::fs::write(photos.join("text.png"), b"no picture").unwrap();
    std::fs::write(photos.join("phone.heic"), b"\0\0\0\x18ftypheic\0\0\0\0mif1heic").unwrap();
    std::fs::create_dir_all(photos.join("below/further")).unwrap();
    std::fs::copy(photos.join("cut.jpg"), photos.join("below/further/cut.jpg")).unwrap();
    std::fs::write(photos.join("notes.txt"), b"of the evening").unwrap();
    let (status, summary) = club.json("");
    assert_eq!(status, 2);
    assert_eq!(summary["tally"]["pictures"], 7);
    assert_eq!((summary["tally"]["unreadable"].as_u64(), summary["tally"]["no_board"].as_u64()), (Some(5), Some(1)));
    let errors: Vec<String> =
        club.results().iter().filter_map(|line| line["error"].as_str().map(str::to_owned)).collect();
    for word in ["cut off", "empty", "not a picture", "HEIC"] {
        assert!(errors.iter().any(|error| error.contains(word)), "{word}: {errors:?}");
    }
    let (_, again) = club.json("");
    assert_eq!(again["tally"], summary["tally"]);
}

#[test]
fn decisions_are_kept_and_change_results_until_they_are_withdrawn() {
    let club = Club::new(&[CLEAR]);
    club.json("");
    let before = totals(&club.result(CLEAR));
    let disc = club.result(CLEAR)["discs"][0].clone();
    let (id, value) = (disc["id"].as_u64().unwrap(), disc["value"].as_u64().unwrap());
    let other = if value == 5 { 10 } else { 5 };
    let decide = |arguments: &str| club.run(&format!("decide crokeye-audit {CLEAR}.jpg {arguments}"));
    assert!(decide(&format!("--disc {id}={other} --reason video")).status.success());
    let decided = club.result(CLEAR);
    let side = if disc["side"] == "a" { 0 } else { 1 };
    assert_eq!(totals(&decided)[side], before[side] - value + other);
    let kept = &decided["audit"]["decisions"][0];
    assert_eq!((kept["author"].as_str(), kept["reason"].as_str()), (Some("Ann"), Some("video")));
    assert!(std::fs::read_to_string(club.path("crokeye-audit/report.html")).unwrap().contains("\"reason\":\"video\""));

    // It belongs to the content: another name, another run.
    let photos = club.path("photos");
    std::fs::rename(photos.join(format!("{CLEAR}.jpg")), photos.join("renamed.jpg")).unwrap();
    club.json("");
    assert_eq!(totals(&club.result("renamed.jpg")), totals(&decided));

    // What the report saves is read back.
    let saved = std::fs::read(club.path("crokeye-audit/decisions.json")).unwrap();
    std::fs::write(club.path("saved.json"), &saved).unwrap();
    std::fs::remove_dir_all(club.path("crokeye-audit")).unwrap();
    club.json("--decisions saved.json");
    assert_eq!(totals(&club.result("renamed.jpg")), totals(&decided));
    assert!(club.run("decide crokeye-audit RENAMED --withdraw").status.success());
    assert_eq!(totals(&club.result("renamed.jpg")), before);

    for (arguments, word) in [
        ("decide crokeye-audit none.jpg --accept", "no picture"),
        ("decide crokeye-audit renamed.jpg --disc 99=10", "no disc 99"),
        ("decide crokeye-audit renamed.jpg --disc 1=7", "7 is no value"),
        ("decide crokeye-audit renamed.jpg", "nothing was decided"),
        ("decide photos renamed.jpg --accept", "no folder of an audit"),
    ] {
        let output = club.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(word), "{arguments}: {output:?}");
    }
}

#[test]
fn copies_are_shown_together() {
    let club = Club::new(&[CLEAR, "oak-empty"]);
    club.add(CLEAR, "copy.jpg");
    let (_, summary) = club.json("");
    assert_eq!(summary["counted_now"], 2, "a copy is not counted again");
    let double = |name: &str| club.result(name)["audit"]["double"].clone();
    assert_eq!(double("copy.jpg"), double(CLEAR));
    assert_eq!(summary["doubles"][0].as_array().map(Vec::len), Some(2));
    assert!(double("copy.jpg").is_u64() && double("oak-empty.jpg").is_null());
}

#[test]
fn rows_with_times_find_photos_by_when_they_were_taken() {
    let club = Club::new(&[]);
    for (sample, name, time) in [(CLEAR, "1.jpg", "2026:11:30 20:14:10"), ("oak-empty", "2.jpg", "2026:11:30 20:31:00")]
    {
        let picture = image::open(format!("{ROOT}/samples/{sample}.jpg")).unwrap().to_rgb8();
        std::fs::write(club.path("photos").join(name), dated(&picture, time)).unwrap();
    }
    club.json("");
    let [a, b] = totals(&club.result("1.jpg"));
    club.sheet(&format!("when;a;b\n2026-11-30 20:32;0;0\n2026-11-30 20:15;{a};{b}\n2026-11-30 23:00;5;5\n"));
    let (status, summary) = club.json("--expected scores.csv");
    assert_eq!((status, summary["tally"]["agree"].as_u64()), (3, Some(2)), "{summary}");
    assert_eq!(club.result("1.jpg")["audit"]["row"], 3);
    assert!(summary["rows_without_picture"][0]["reason"].as_str().unwrap().contains("23:00"));
}

/// The picture as a JPEG file taken at that time.
fn dated(picture: &image::RgbImage, time: &str) -> Vec<u8> {
    use image::ImageEncoder;
    let field = exif::Field {
        tag: exif::Tag::DateTimeOriginal,
        ifd_num: exif::In::PRIMARY,
        value: exif::Value::Ascii(vec![time.as_bytes().to_vec()]),
    };
    let mut writer = exif::experimental::Writer::new();
    writer.push_field(&field);
    let mut block = std::io::Cursor::new(Vec::new());
    writer.write(&mut block, true).unwrap();
    let mut out = Vec::new();
    let mut encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut out, 95);
    encoder.set_exif_metadata(block.into_inner()).unwrap();
    let (width, height) = picture.dimensions();
    encoder.write_image(picture, width, height, image::ExtendedColorType::Rgb8).unwrap();
    out
}

#[test]
fn what_is_wrong_with_the_command_is_told_before_anything_is_counted() {
    let club = Club::new(&[CLEAR]);
    club.sheet("who,won\nAnn,yes\n");
    for (arguments, word) in [
        ("photos --expected scores.csv", "--columns"),
        ("photos --expected none.csv", "none.csv"),
        ("photos --rules nonesuch", "nonesuch"),
        ("photos --camera none.toml", "none.toml"),
        ("photos --decisions scores.csv", "decisions"),
        ("photos --columns plaid=x", "plaid"),
        ("photos --pool --fixed-camera", "--fixed-camera"),
        ("", "PHOTOS"),
    ] {
        let output = club.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(word), "{arguments}: {output:?}");
        assert!(!club.path("crokeye-audit/results.jsonl").exists());
    }
}

#[test]
fn a_path_with_a_slip_in_it_leaves_an_earlier_report_alone() {
    let club = Club::new(&["oak-empty"]);
    club.run("photos");
    let before = files(&club.path("crokeye-audit"));
    for arguments in ["fotos", "fotos none-*.jpg"] {
        let output = club.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("fotos"), "{output:?}");
    }
    assert!(files(&club.path("crokeye-audit")) == before);
    assert_eq!(club.run("fotos --out elsewhere").status.code(), Some(2));
    assert!(!club.path("elsewhere").exists());
}

/// Moments at which a run is killed.
const DEATHS: u32 = 20;

#[test]
fn a_run_that_is_killed_again_and_again_ends_as_one_that_was_not() {
    let samples = [CLEAR, "oak-empty", OPEN, "plates-no-board", "white-round", "black-octagon"];
    let calm = Club::new(&samples);
    let start = Instant::now();
    calm.json("");
    let whole = start.elapsed();
    let club = Club::new(&samples);
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below.max(1)
    };
    let journal = club.path("crokeye-audit/.audit/journal.jsonl");
    let mut interrupted = 0;
    for _ in 0..DEATHS {
        // What earlier runs finished is cut off somewhere, so that there is always work to be killed at.
        if let Ok(journal) = std::fs::OpenOptions::new().write(true).open(&journal) {
            journal.set_len(random(journal.metadata().unwrap().len())).unwrap();
        }
        let mut child = club.command("photos --quiet").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random(whole.as_micros() as u64 / 2)));
        interrupted += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(interrupted > DEATHS / 4, "only {interrupted} runs were killed at work: no proof");
    club.json("");
    let folder = |club: &Club| club.path("crokeye-audit");
    for ((name, killed), (_, undisturbed)) in files(&folder(&club)).into_iter().zip(files(&folder(&calm))) {
        assert!(killed == undisturbed, "{name} differs");
    }
}

#[cfg(unix)]
#[test]
fn control_c_stops_after_the_pictures_in_flight_and_says_how_to_go_on() {
    let club = Club::new(&[CLEAR, OPEN, "white-round", "black-octagon"]);
    let child = club.command("photos --jobs 1").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let journal = club.path("crokeye-audit/.audit/journal.jsonl");
    wait_until(|| std::fs::metadata(&journal).is_ok_and(|about| about.len() > 0));
    interrupt(child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("goes on from there"), "{output:?}");
    let (_, summary) = club.json("");
    assert!(summary["counted_now"].as_u64() < Some(4), "{summary}");
}

#[cfg(unix)]
#[test]
fn watching_takes_photos_as_they_arrive_whole() {
    let club = Club::new(&["oak-empty"]);
    let child = club.command("photos --watch --json").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let results = club.path("crokeye-audit/results.jsonl");
    wait_until(|| results.exists());
    // A camera that uploads slowly: half a file, a break, the rest.
    let bytes = std::fs::read(format!("{ROOT}/samples/{CLEAR}.jpg")).unwrap();
    let path = club.path("photos/arriving.jpg");
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    std::thread::sleep(Duration::from_millis(1200));
    std::fs::write(&path, &bytes).unwrap();
    wait_until(|| std::fs::read_to_string(&results).is_ok_and(|text| text.contains("arriving.jpg")));
    interrupt(child.id());
    let output = child.wait_with_output().unwrap();
    let summaries: Vec<Value> =
        String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(summaries.len(), 2, "half a file is waited for");
    assert_eq!(summaries[1]["tally"]["unreadable"], 0);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[cfg(unix)]
fn interrupt(process: u32) {
    assert!(Command::new("kill").args(["-INT", &process.to_string()]).status().unwrap().success());
}

fn wait_until(is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(120), "it never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The rendered sets, where they are at hand.
mod slow {
    use super::*;

    fn rendered(set: &str) -> Option<PathBuf> {
        let path = Path::new(ROOT).join("../shared/render").join(set);
        path.canonicalize().ok()
    }

    fn truth(picture: &Path) -> [u64; 2] {
        let label: Value = serde_json::from_slice(&std::fs::read(picture.with_extension("json")).unwrap()).unwrap();
        [label["totals"]["a"].as_u64().unwrap(), label["totals"]["b"].as_u64().unwrap()]
    }

    /// Of 60 typed rounds five are wrong: they are named, and no other clear picture is.
    #[test]
    fn five_altered_totals_of_sixty_are_exactly_those_named() {
        let Some(set) = rendered("more") else { return };
        let club = Club::new(&[]);
        let mut pictures: Vec<PathBuf> = std::fs::read_dir(&set)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "jpg"))
            .collect();
        pictures.sort();
        assert_eq!(pictures.len(), 60);
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        club.run(&format!("{} --quiet", set.display()));
        let clear: Vec<String> = club
            .results()
            .iter()
            .filter(|line| line["status"] == "counted")
            .map(|line| name(Path::new(line["source"].as_str().unwrap())))
            .collect();
        assert!(clear.len() >= 10, "only {} clear pictures", clear.len());
        let altered = [0, 2, 5, 7, 9].map(|at| clear[at].clone());
        let mut sheet = "20s a,file,total b,total a\n".to_owned();
        for (at, picture) in pictures.iter().enumerate() {
            let [a, b] = truth(picture);
            let wrong = altered.contains(&name(picture));
            let (a, b) = match (wrong, at % 2) {
                (true, 0) => (a + 5, b),
                (true, _) => (a, if b >= 20 { b - 20 } else { b + 10 }),
                (false, _) => (a, b),
            };
            sheet.push_str(&format!(",{},{b},{a}\n", name(picture)));
        }
        club.sheet(&sheet);
        let output = club.run(&format!("{} --json --expected scores.csv", set.display()));
        let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(names(&summary["disagree"]), altered.into_iter().collect());
        assert_eq!(output.status.code(), Some(1));
        assert!(summary["tally"]["agree"].as_u64() >= Some(clear.len() as u64 - 5), "{summary}");
    }

    /// Photos of one camera that stands still know it better together, and never worse. What all of them share, such as
    /// where a painted edge ends, no number of photos narrows: on a clear view from above that is nearly all.
    #[test]
    fn pooling_narrows_what_is_too_close_to_call() {
        for (set, least_gain) in [("fixed", 0.999), ("fixed-home", 1.005)] {
            let Some(path) = rendered(set) else { return };
            let measure = |how: &str| {
                let club = Club::new(&[]);
                club.run(&format!("{} --quiet --close-level 1e-9 {how}", path.display()));
                let results = club.results();
                let discs = || results.iter().flat_map(|line| line["discs"].as_array().unwrap());
                let beside_a_line = |disc: &&Value| {
                    disc["value"] != 0 && disc["margin_mm"].as_f64().is_some_and(|margin| margin.abs() < 15.0)
                };
                let sigmas: Vec<f64> =
                    discs().filter(beside_a_line).filter_map(|disc| disc["margin_sigma_mm"].as_f64()).collect();
                let close = discs().filter(|disc| disc["close"] == true).count();
                (close, sigmas.iter().sum::<f64>() / sigmas.len() as f64)
            };
            let (alone, together) = (measure("--pool=never"), measure("--fixed-camera"));
            assert!(together.0 <= alone.0, "{set}: {alone:?} {together:?}");
            assert!(alone.1 / together.1 > least_gain, "{set}: {alone:?} {together:?}");
        }
    }
}
