//! `crokeye watch` as its users meet it: recordings played again, sources that fail, wrong arguments.
#![cfg(all(feature = "opencv", unix))]

#[path = "support/mod.rs"]
mod support;

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use crokeye::board::Side::{A, B};
use serde_json::Value;
use support::camera::{Camera, Frames};
use support::play::{arm, board, disc, in_hole, noisy, picture};
use support::program::{Program, camera, settled_with};
use support::{Random, Scene};

const BINARY: &str = env!("CARGO_BIN_EXE_crokeye");

/// A folder of frames, ten a second, as a scene is played.
struct Film<'a> {
    folder: &'a Path,
    frames: usize,
    random: Random,
}

impl<'a> Film<'a> {
    fn in_folder(folder: &'a Path) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        Self { folder, frames: 0, random: Random::new(9) }
    }

    fn show(&mut self, scene: &Scene, frames: usize) -> &mut Self {
        let shown = picture(scene);
        for _ in 0..frames {
            noisy(&shown, &mut self.random).save(self.folder.join(format!("{:05}.jpg", self.frames))).unwrap();
            self.frames += 1;
        }
        self
    }

    /// A hand, then the scene at rest.
    fn shot(&mut self, scene: &Scene) -> &mut Self {
        for x in [30.0, 45.0] {
            self.show(&Scene { arm: arm(x, 330.0), ..scene.clone() }, 1);
        }
        self.show(scene, 5)
    }
}

fn watch(source: &Path, more: &[&str]) -> Output {
    let arguments = ["watch", "--json", "--rules", "off", "--source"];
    Command::new(BINARY).args(arguments).arg(source).args(more).output().unwrap()
}

fn events(out: &[u8]) -> Vec<Value> {
    String::from_utf8_lossy(out).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event"].as_str().unwrap()).collect()
}

/// A board with a 10 of each side.
fn two_tens() -> Scene {
    Scene { discs: vec![disc(A, 0.0, 150.0), disc(B, 150.0, -50.0)], ..board() }
}

#[test]
fn a_recorded_folder_gives_the_same_events_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let (frames, kept) = (folder.path().join("frames"), folder.path().join("kept"));
    let mut scene = two_tens();
    let mut film = Film::in_folder(&frames);
    film.show(&board(), 6).shot(&scene);
    scene.discs.push(in_hole(B));
    film.shot(&scene);
    scene.discs.pop();
    film.shot(&scene);
    scene.view.aim = [0.012, -0.008];
    film.show(&scene, 6);
    scene.discs.push(disc(A, 60.0, 20.0));
    film.shot(&scene);
    let first = watch(&frames, &["--record", kept.to_str().unwrap()]);
    let told = events(&first.stdout);
    let names = names(&told);
    assert!(names.contains(&"twenty") && names.last() == Some(&"round"), "{names:?}");
    assert!(told.iter().any(|event| event["change"] == "moved" && event["event"] == "board"), "{names:?}");
    let again = watch(&kept, &[]);
    assert_eq!(String::from_utf8_lossy(&again.stdout), String::from_utf8_lossy(&first.stdout));
    assert_eq!(std::fs::read(kept.join("events.jsonl")).unwrap(), first.stdout);
    assert_eq!((first.status.code(), again.status.code()), (Some(0), Some(0)));
}

/// A scene as a camera sends it.
fn frames(scene: &Scene, random: &mut Random) -> Frames {
    let shown = picture(scene);
    let jpeg = |rgb: image::RgbImage| {
        let mut bytes = std::io::Cursor::new(Vec::new());
        rgb.write_to(&mut bytes, image::ImageFormat::Jpeg).unwrap();
        bytes.into_inner()
    };
    Arc::new((0..4).map(|_| jpeg(noisy(&shown, random))).collect())
}

#[test]
fn a_recorded_camera_that_failed_in_mid_round_gives_the_same_events_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let mut random = Random::new(4);
    let mut frames = |scene: &Scene| frames(scene, &mut random);
    let server = Camera::start(20);
    let empty = frames(&board());
    let mut scene = two_tens();
    let two = frames(&scene);
    scene.discs.push(in_hole(B));
    let twenty = frames(&scene);
    scene.discs.pop();
    scene.view.aim = [0.012, -0.008];
    let bumped = frames(&scene);
    scene.discs.push(disc(A, 60.0, 20.0));
    let three = frames(&scene);

    server.show(&empty);
    let mut program = Program::watch(BINARY, &server.address, &["--record", kept.to_str().unwrap()]);
    program.wait_for("an empty board", settled_with(0));
    server.show(&two);
    program.wait_for("two discs", settled_with(2));
    server.show(&twenty);
    program.wait_for("a 20", |event| event["event"] == "twenty");
    server.show(&two);
    program.wait_for("two discs again", settled_with(2));
    server.show(&bumped);
    program.wait_for("a bump", |event| event["event"] == "board" && event["change"] == "moved");
    server.fail();
    program.wait_for("the loss of the camera", camera("lost"));
    server.show(&three);
    program.wait_for("its return", camera("back"));
    program.wait_for("three discs", settled_with(3));
    program.interrupt();
    let status = program.ended();
    let told = events(program.printed.as_bytes());
    let round = told.iter().find(|event| event["event"] == "round").expect("the round is told");
    let totals: Vec<&Value> = round["sides"].as_array().unwrap().iter().map(|side| &side["total"]).collect();
    assert_eq!(totals, [25, 30], "15 and 10 of a, 10 and a 20 of b");
    let again = watch(&kept, &[]);
    assert_eq!(String::from_utf8_lossy(&again.stdout), program.printed);
    assert_eq!(std::fs::read_to_string(kept.join("events.jsonl")).unwrap(), program.printed);
    assert_eq!(again.status.code(), status);
}

#[test]
fn a_broken_frame_is_left_out_and_a_source_that_fails_has_told_its_round() {
    let folder = tempfile::tempdir().unwrap();
    Film::in_folder(folder.path()).show(&two_tens(), 5);
    std::fs::write(folder.path().join("00002.jpg"), "no picture").unwrap();
    let whole = watch(folder.path(), &[]);
    assert_eq!(names(&events(&whole.stdout)).last(), Some(&"round"));
    assert!(String::from_utf8_lossy(&whole.stderr).contains("left out"), "{whole:?}");
    image::RgbImage::new(64, 48).save(folder.path().join("00005.jpg")).unwrap();
    let failing = watch(folder.path(), &[]);
    assert_eq!(names(&events(&failing.stdout)).last(), Some(&"round"));
    assert!(String::from_utf8_lossy(&failing.stderr).contains("64 x 48"), "{failing:?}");
    assert_eq!(failing.status.code(), Some(2));
}

#[test]
fn what_cannot_be_done_is_said_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let frames = folder.path().join("frames");
    Film::in_folder(&frames).show(&board(), 1);
    let bad = folder.path().join("bad");
    std::fs::create_dir(&bad).unwrap();
    std::fs::write(bad.join("a.jpg"), "no picture").unwrap();
    let cases: [(&Path, &[&str], &str); 6] = [
        (&frames, &["--record", frames.to_str().unwrap()], "is not empty"),
        (&frames, &["--tray-a", "900,700,200,200"], "--tray-a does not lie in the picture, which is 960 x 720 px"),
        (&frames, &["--calibration", "never-made"], "there is no calibration/never-made.toml"),
        (&bad, &[], "there is no frame to be read"),
        (Path::new("97"), &[], "cannot open camera 97 (/dev/video97): is it plugged in"),
        (Path::new("97"), &["--preview"], "--preview needs a screen"),
    ];
    for (source, more, reason) in cases {
        let output = Command::new(BINARY)
            .current_dir(folder.path())
            .envs([("DISPLAY", ""), ("WAYLAND_DISPLAY", ""), ("QT_QPA_PLATFORM", "")])
            .env_remove("CROKEYE_CALIBRATION")
            .args(["watch", "--json", "--source"])
            .arg(source)
            .args(more)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(reason), "{more:?}: {errors}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{more:?}");
    }
}
