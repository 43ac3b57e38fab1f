//! Measures detection alone against labelled rendered pictures: the true camera is taken from the label, so that what
//! is seen here is the discs' doing and not the registration's.
//!
//! `cargo run --release --example detect_dev -- [--each] [--debug DIR] [--perturb SEED] FOLDER...`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use crokeye::board::{Line, SHOOTING_LINE_MM, Side, State};
use crokeye::capture::{Frame, LensHint};
use crokeye::detect::shape::Sight;
use crokeye::detect::{self, Detections, Shape};
use crokeye::geometry::{BoardMm, Camera, Point};
use crokeye::kernels::planes::Raster;
use crokeye::register::{Quality, Registration, Ring};
use serde_json::Value;

/// One true disc.
struct Truth {
    base: Point<BoardMm>,
    side: Side,
    state: String,
    zone: u64,
    visible: f64,
}

/// A label as what detection takes in and should give out.
struct Label {
    registration: Registration,
    truth: Vec<Truth>,
    radius_mm: f64,
    height_mm: f64,
    edge_mm: f64,
}

fn number(value: &Value, path: &str) -> Result<f64> {
    value.pointer(path).and_then(Value::as_f64).with_context(|| format!("no number at {path}"))
}

fn label(value: &Value) -> Result<Label> {
    let board = |key: &str| number(value, &format!("/board/{key}"));
    let of_camera = |key: &str| number(value, &format!("/camera/{key}"));
    let scale = SHOOTING_LINE_MM / board("r5")?;
    let mut r = [[0.0; 3]; 3];
    let mut t = [0.0; 3];
    for i in 0..3 {
        for j in 0..3 {
            r[i][j] = number(value, &format!("/camera/R/{i}/{j}"))?;
        }
        t[i] = number(value, &format!("/camera/t/{i}"))? * scale;
    }
    // Label axes: z out of the board. Ours: z into it, so y and z turn over; then in-plane until x is as seen.
    let flipped = r.map(|row| [row[0], -row[1], -row[2]]);
    let mut camera = Camera {
        focal_px: of_camera("fx")?,
        principal: Point::new(of_camera("cx")?, of_camera("cy")?),
        k1: of_camera("k1")?,
        k2: of_camera("k2")?,
        rotation: flipped,
        translation_mm: t,
    };
    let j = camera.jacobian(Point::new(0.0, 0.0), 0.0).context("centre behind the camera")?;
    let angle = (j[1][0] - j[0][1]).atan2(j[0][0] + j[1][1]);
    // x_label = Q x_ours with Q the rotation by -angle.
    let (s, c) = angle.sin_cos();
    camera.rotation = flipped.map(|row| [row[0] * c - row[1] * s, row[0] * s + row[1] * c, row[2]]);
    let ours = |x: f64, y: f64| Point::new((x * c - y * s) * scale, (x * s + y * c) * scale);
    let half = board("line_w")? * scale / 2.0;
    let ring = |line, radius: f64| Ring {
        line,
        inner_mm: radius * scale - half,
        outer_mm: radius * scale + half,
        residual_px: 0.3,
        coverage: 1.0,
    };
    let registration = Registration {
        model: "truth".into(),
        camera,
        height_sigma_mm: 0.0,
        rings: [ring(Line::Five, board("r5")?), ring(Line::Ten, board("r10")?), ring(Line::Fifteen, board("r15")?)],
        hole_mm: board("hole_r")? * scale,
        surface_mm: board("surface_r")? * scale,
        quadrant_rad: None,
        peg_rad: None,
        deviations: Vec::new(),
        quality: Quality { residual_px: 0.3, coverage: 1.0 },
    };
    let mut truth = Vec::new();
    for disc in value["discs"].as_array().context("no discs")? {
        let at = |key: &str| disc[key].as_f64().with_context(|| format!("disc without {key}"));
        truth.push(Truth {
            base: ours(at("x_mm")?, -at("y_mm")?),
            side: if disc["side"] == "a" { Side::A } else { Side::B },
            state: disc["state"].as_str().unwrap_or("").to_owned(),
            zone: disc["zone"].as_u64().unwrap_or(0),
            visible: at("visible")?,
        });
    }
    Ok(Label {
        registration,
        truth,
        radius_mm: board("disc_r")? * scale,
        height_mm: board("disc_h")? * scale,
        edge_mm: board("disc_edge")? * scale,
    })
}

/// The registration as a fair solver might have got it: focal length off with the height to match, shifted a little.
fn perturbed(registration: &Registration, seed: u64) -> Registration {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    };
    let mut out = registration.clone();
    let zoom = 1.0 + 0.08 * uniform();
    out.camera.focal_px *= zoom;
    out.camera.translation_mm[2] *= zoom;
    out.camera.k1 *= zoom * zoom;
    out.camera.principal = out.camera.principal.offset(0.3 * uniform(), 0.3 * uniform());
    out.hole_mm += 0.3 * uniform();
    out.surface_mm += 2.0 * uniform();
    out
}

fn raster(frame: &Frame) -> Raster<'_> {
    Raster { bytes: frame.rgb.as_raw(), columns: frame.rgb.width() as usize, rows: frame.rgb.height() as usize }
}

#[derive(Default)]
struct Tally {
    pictures: usize,
    discs: usize,
    missed: usize,
    invented: usize,
    wrong_side: usize,
    wrong_state: usize,
    doubtful: usize,
    position_mm: Vec<f64>,
    z: Vec<f64>,
    radius_mm: Vec<f64>,
    height_mm: Vec<f64>,
    set_z: Vec<f64>,
    millis: Vec<f64>,
}

fn quantile(values: &mut [f64], q: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(((values.len() as f64 * q) as usize).min(values.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}

fn pairs(truth: &[Truth], found: &Detections, reach_mm: f64) -> Vec<(usize, usize)> {
    let mut all: Vec<(f64, usize, usize)> = Vec::new();
    for (i, t) in truth.iter().enumerate() {
        for (j, d) in found.discs.iter().enumerate() {
            all.push((t.base.distance(d.base), i, j));
        }
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut used_truth, mut used_found, mut out) = (vec![false; truth.len()], vec![false; found.discs.len()], vec![]);
    for (distance, i, j) in all {
        if distance <= reach_mm && !used_truth[i] && !used_found[j] {
            used_truth[i] = true;
            used_found[j] = true;
            out.push((i, j));
        }
    }
    out
}

/// Prints what went wrong in one picture and adds it to the tally.
fn compare(name: &str, label: &Label, given: &Registration, found: &Detections, tally: &mut Tally, each: bool) {
    tally.pictures += 1;
    let pairs = pairs(&label.truth, found, label.radius_mm);
    let shooting = given.inner_mm()[0];
    let mut swapped = 0i32;
    for &(i, j) in &pairs {
        let (t, d) = (&label.truth[i], &found.discs[j]);
        if let Some(side) = d.side {
            swapped += if side == t.side { -1 } else { 1 };
        }
    }
    let seen_as = |side: Side| match (side, swapped > 0) {
        (Side::A, false) | (Side::B, true) => Side::A,
        _ => Side::B,
    };
    for (i, t) in label.truth.iter().enumerate() {
        if t.zone > 0 {
            tally.discs += 1;
            if !pairs.iter().any(|p| p.0 == i) {
                tally.missed += 1;
                println!(
                    "{name}: missed {:?} {} zone {} visible {:.2} at {:?}",
                    t.side, t.state, t.zone, t.visible, t.base
                );
            }
        }
    }
    for (j, d) in found.discs.iter().enumerate() {
        let inside = d.base.norm() + found.set.radius_mm < shooting;
        let paired = pairs.iter().find(|p| p.1 == j);
        if paired.is_none() && inside {
            tally.invented += 1;
            println!(
                "{name}: invented at {:?} confidence {:.2} visible {:.2} side {:?}",
                d.base, d.confidence, d.visible, d.side
            );
        }
        let Some(&(i, _)) = paired else { continue };
        let t = &label.truth[i];
        if t.state == "ditch" {
            continue;
        }
        if d.confidence < 0.9 {
            tally.doubtful += 1;
            println!(
                "{name}: doubtful {:.2} visible {:.2} side {:?} lab {:?} at {:?}",
                d.confidence, d.visible, d.side, d.lab, d.base
            );
        }
        if d.side.map(seen_as) != Some(t.side) {
            tally.wrong_side += 1;
            println!(
                "{name}: side {:?} for {:?} lab {:?} confidence {:.2} at {:?}",
                d.side, t.side, d.lab, d.confidence, t.base
            );
        }
        let state = match t.state.as_str() {
            "in_hole" => State::InHole,
            "leaning" => State::Leaning,
            _ => State::Flat,
        };
        if state != d.state {
            tally.wrong_state += 1;
            println!("{name}: state {:?} for {state:?} at {:?} found {:?}", d.state, t.base, d.base);
        }
        if t.state != "flat" {
            continue;
        }
        // As the evaluation does: through the picture back to the board with the true camera.
        let Some(true_middle) = label.registration.camera.project(t.base, label.height_mm / 2.0) else { continue };
        if let Some(base_px) = given.camera.project(d.base, 0.0)
            && let Some(back) = label.registration.camera.board_at(base_px, 0.0)
        {
            let error = back.distance(t.base);
            tally.position_mm.push(error);
            if error > 1.0 {
                println!(
                    "{name}: {error:.2} mm off at {:?} confidence {:.2} visible {:.2}",
                    t.base, d.confidence, d.visible
                );
            }
        }
        if each && let Some(seen) = label.registration.camera.board_at(d.middle_px, label.height_mm / 2.0) {
            let foot = label.registration.camera.foot();
            let l = [(t.base.x - foot.x), (t.base.y - foot.y)];
            let norm = l[0].hypot(l[1]);
            let e = [seen.x - t.base.x, seen.y - t.base.y];
            println!(
                "{name}: middle along {:+.3} across {:+.3} lean {:.2} visible {:.2} dr {:+.2} dh {:+.2} L {:.0} p {:.2}",
                (e[0] * l[0] + e[1] * l[1]) / norm,
                (e[1] * l[0] - e[0] * l[1]) / norm,
                norm / label.registration.camera.height_mm(),
                d.visible,
                found.set.radius_mm - label.radius_mm,
                found.set.height_mm - label.height_mm,
                d.lab[0],
                d.confidence,
            );
        }
        let (ex, ey) = (d.middle_px.x - true_middle.x, d.middle_px.y - true_middle.y);
        for (e, v) in [(ex, d.covariance_px2[0][0]), (ey, d.covariance_px2[1][1])] {
            tally.z.push(e.abs() / v.sqrt());
        }
    }
    tally.radius_mm.push(found.set.radius_mm - label.radius_mm);
    tally.height_mm.push(found.set.height_mm - label.height_mm);
    tally.set_z.push((found.set.radius_mm - label.radius_mm).abs() / found.set.radius_sigma_mm);
    if each {
        println!(
            "{name}: {} of {} discs, radius {:+.2} ({:.2}) height {:+.2} ({:.2}) of {:.2} {:.2} {:.2}",
            found.discs.len(),
            label.truth.iter().filter(|t| t.state != "ditch").count(),
            found.set.radius_mm - label.radius_mm,
            found.set.radius_sigma_mm,
            found.set.height_mm - label.height_mm,
            found.set.height_sigma_mm,
            label.radius_mm,
            label.height_mm,
            label.edge_mm,
        );
    }
}

/// Outlines over the picture: found green (doubtful yellow), invented red, missed blue, rejected small grey.
fn draw(frame: &Frame, label: &Label, given: &Registration, found: &Detections, path: &Path) -> Result<()> {
    let mut out = frame.rgb.clone();
    let mut ring = |at: Point<BoardMm>, radius: f64, height: f64, colour: [u8; 3]| {
        for k in 0..360 {
            let (s, c) = (k as f64).to_radians().sin_cos();
            if let Some(p) = given.camera.project(at.offset(radius * c, radius * s), height)
                && p.x >= 0.0
                && p.y >= 0.0
                && p.x < out.width() as f64 - 1.0
                && p.y < out.height() as f64 - 1.0
            {
                out.put_pixel(p.x.round() as u32, p.y.round() as u32, image::Rgb(colour));
            }
        }
    };
    let pairs = pairs(&label.truth, found, label.radius_mm);
    for (j, d) in found.discs.iter().enumerate() {
        let colour = match (pairs.iter().any(|p| p.1 == j), d.confidence >= 0.9) {
            (false, _) => [255, 0, 0],
            (true, true) => [0, 255, 0],
            (true, false) => [255, 255, 0],
        };
        ring(d.base, found.set.radius_mm, d.middle_height_mm, colour);
        ring(d.base, 2.0, 0.0, if d.side == Some(Side::A) { [255, 0, 255] } else { [0, 255, 255] });
    }
    for (i, t) in label.truth.iter().enumerate() {
        if t.state != "ditch" && !pairs.iter().any(|p| p.0 == i) {
            ring(t.base, label.radius_mm, 5.0, [60, 60, 255]);
        }
    }
    for r in &found.rejected {
        ring(r.base, 3.0, 5.0, [160, 160, 160]);
    }
    let (left, top, right, bottom) = bounds(given, &out);
    image::imageops::crop_imm(&out, left, top, right - left, bottom - top).to_image().save(path)?;
    Ok(())
}

fn bounds(given: &Registration, picture: &image::RgbImage) -> (u32, u32, u32, u32) {
    let mut box_px = [f64::MAX, f64::MAX, f64::MIN, f64::MIN];
    for k in 0..36 {
        let (s, c) = (k as f64 * 10.0).to_radians().sin_cos();
        if let Some(p) = given.camera.project(Point::<BoardMm>::new(400.0 * c, 400.0 * s), 0.0) {
            box_px = [box_px[0].min(p.x), box_px[1].min(p.y), box_px[2].max(p.x), box_px[3].max(p.y)];
        }
    }
    let clip = |v: f64, limit: u32| v.clamp(0.0, limit as f64) as u32;
    (
        clip(box_px[0], picture.width()),
        clip(box_px[1], picture.height()),
        clip(box_px[2], picture.width()),
        clip(box_px[3], picture.height()),
    )
}

/// How far `p` lies outside the outline of a disc at `at`, mm (negative inside).
fn outside(shape: &Shape, sight: &Sight, at: Point<BoardMm>, p: Point<BoardMm>) -> f64 {
    let lean = sight.lean(at);
    let rel = [p.x - at.x, p.y - at.y];
    let mut worst = f64::MIN;
    let towards = rel[1].atan2(rel[0]);
    for k in -60..=60 {
        let (s, c) = (towards + k as f64 * 0.01).sin_cos();
        let o = shape.outline(sight, lean, [c, s]).offset;
        worst = worst.max((rel[0] - o[0]) * c + (rel[1] - o[1]) * s);
    }
    worst
}

/// Lines across true outlines (from starts a little off) and across things that are none, for training.
/// Record: 63 colours, 4 numbers of the line, target mm (99 = none), picture, disc.
fn dump_lines(
    file: &mut impl Write,
    picture: u64,
    frame: &Frame,
    label: &Label,
    given: &Registration,
    config: &detect::Config,
) -> Result<()> {
    let mut state = (picture + 7).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    };
    let truth = Shape { radius_mm: label.radius_mm, height_mm: label.height_mm, edge_mm: label.edge_mm };
    let search = detect::search::search(raster(frame), given, config);
    let true_plane = label.height_mm / 2.0;
    // All on the scene's plane: the truth's middle as it appears there.
    let camera = &given.camera;
    let middle = |t: &Truth| camera.project(t.base, true_plane).and_then(|p| camera.board_at(p, search.scene.plane_mm));
    let mut put = |values: &[f32]| -> Result<()> {
        for v in values {
            file.write_all(&v.to_le_bytes())?;
        }
        Ok(())
    };
    let sight = search.scene.sight;
    for (d, t) in label.truth.iter().enumerate().filter(|(_, t)| t.state == "flat" && t.visible > 0.6) {
        let Some(at) = middle(t) else { continue };
        for n in 0..5 {
            // Wide enough that the net learns to look and not to guess that the start was right.
            let wide = if n == 0 { 0.8 } else { 2.2 };
            let start = at.offset(wide * uniform(), wide * uniform());
            let shape = Shape {
                radius_mm: truth.radius_mm + 0.6 * wide * uniform(),
                height_mm: truth.height_mm + 0.7 * wide * uniform(),
                edge_mm: 1.9 + 0.4 * uniform(),
            };
            let profiles = search.scene.profiles(&shape, start, 1);
            let lean = sight.lean(start);
            let light = detect::localise::Light::of(&profiles);
            for k in 0..detect::fit::DIRECTIONS {
                if !profiles.seen[k] {
                    continue;
                }
                let dir = detect::fit::direction(k);
                let o = shape.outline(&sight, lean, dir).offset;
                let mut target = 0.0;
                for _ in 0..4 {
                    let p = start.offset(o[0] + target * dir[0], o[1] + target * dir[1]);
                    target -= outside(&truth, &sight, at, p);
                }
                let values = detect::localise::line_values(&profiles, lean, &light, k);
                put(&values)?;
                put(&[target as f32, picture as f32, d as f32])?;
            }
        }
    }
    for c in search.candidates.iter() {
        let at = c.fit.at;
        let far = label.truth.iter().all(|t| t.base.distance(at) > 9.0);
        if !far || at.norm() < 20.0 {
            continue;
        }
        let start = at.offset(0.7 * uniform(), 0.7 * uniform());
        let shape = Shape { radius_mm: truth.radius_mm + 0.5 * uniform(), ..search.shape.shape };
        let profiles = search.scene.profiles(&shape, start, 1);
        let light = detect::localise::Light::of(&profiles);
        for k in 0..detect::fit::DIRECTIONS {
            if profiles.seen[k] {
                put(&detect::localise::line_values(&profiles, sight.lean(start), &light, k))?;
                put(&[99.0, picture as f32, -1.0])?;
            }
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let (mut folders, mut each, mut debug, mut seed, mut only, mut dump, mut lines) =
        (Vec::new(), false, None, None, None, None, None);
    let mut held_back = false;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--each" => each = true,
            "--held-back" => held_back = true,
            "--debug" => debug = args.next().map(PathBuf::from),
            "--perturb" => seed = args.next().map(|s| s.parse::<u64>()).transpose()?,
            "--dump" => dump = args.next().map(PathBuf::from),
            "--lines" => lines = args.next().map(PathBuf::from),
            "--only" => only = args.next(),
            _ => folders.push(PathBuf::from(arg)),
        }
    }
    let config = detect::Config::default();
    let mut lines = lines.map(std::fs::File::create).transpose()?.map(std::io::BufWriter::new);
    let mut dump = dump.map(std::fs::File::create).transpose()?;
    if let Some(file) = &mut dump {
        writeln!(file, "name,rank,state,d,x,y,support,dr,ring,visible,residual,p,moved,spread,like,low,kin,odist")?;
    }
    let mut tally = Tally::default();
    for folder in folders {
        let mut labels: Vec<PathBuf> = std::fs::read_dir(&folder)
            .with_context(|| folder.display().to_string())?
            .filter_map(|entry| entry.ok().map(|e| e.path()))
            .filter(|path| path.extension().is_some_and(|e| e == "json"))
            .collect();
        labels.sort();
        for path in labels {
            let name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            let number: usize = name.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap_or(1);
            if held_back && number % 5 != 0 {
                continue;
            }
            if only.as_ref().is_some_and(|o| !name.contains(o.as_str())) {
                continue;
            }
            let label = label(&serde_json::from_str(&std::fs::read_to_string(&path)?)?)?;
            let rgb = image::open(path.with_extension("jpg"))?.to_rgb8();
            let frame = Frame { source: name.clone(), rgb, lens: LensHint::default() };
            let given = match seed {
                Some(seed) => perturbed(&label.registration, seed + tally.pictures as u64),
                None => label.registration.clone(),
            };
            if let Some(file) = &mut dump {
                let search = detect::search::search(raster(&frame), &given, &config);
                let shape = search.shape.shape;
                let hole = detect::hole::measure(&search, given.hole_mm);
                let state = label
                    .truth
                    .iter()
                    .filter(|t| t.base.norm() < 26.0)
                    .map(|t| format!("{}@{:.1}", t.state, t.base.norm()))
                    .collect::<Vec<_>>()
                    .join("+");
                let kin =
                    search.kin.iter().map(|k| detect::colour::distance(*k, hole.interior.lab)).fold(99.0f32, f32::min);
                let e = &hole.evidence;
                let near = search.kin.iter().min_by(|a, b| {
                    detect::colour::distance(**a, hole.interior.lab)
                        .total_cmp(&detect::colour::distance(**b, hole.interior.lab))
                });
                println!(
                    "KIN {name} {state} {:?} of {} hole {:?}",
                    near.map(|k| k.map(|v| v.round())),
                    search.kin.len(),
                    hole.interior.lab.map(|v| v.round())
                );
                println!(
                    "HOLE {name} [{state}] gap {:.2} at {:.2} dr {:+.2} reach {:+.2} kin {kin:.1} like {:.2} gapdip {:.3} uneven {:.3}",
                    given.hole_mm - shape.radius_mm,
                    hole.at.norm(),
                    hole.radius_mm - shape.radius_mm,
                    hole.reach_mm,
                    hole.evidence.likelihood,
                    hole.gap,
                    hole.uneven
                );
                for (rank, c) in search.candidates.iter().enumerate() {
                    let at = c.fit.at;
                    let near = label.truth.iter().min_by(|a, b| a.base.distance(at).total_cmp(&b.base.distance(at)));
                    let (d, state) = near.map_or((999.0, ""), |t| (t.base.distance(at), t.state.as_str()));
                    let state = if d < 6.0 { state } else { "none" };
                    let e = &c.evidence;
                    // Distance to the nearest true disc that is not this one's own.
                    let others = |c: &detect::search::Candidate| {
                        label.truth.iter().map(|t| t.base.distance(c.fit.at)).filter(|d| *d > 4.0).fold(999.0, f64::min)
                    };
                    writeln!(
                        file,
                        "{name},{rank},{state},{d:.2},{:.1},{:.1},{:.3},{:.2},{:.3},{:.3},{:.3},{:.3},{:.2},{:.1},{:.3},{:.3},{:.2},{:.1}",
                        at.x,
                        at.y,
                        c.settled.support,
                        c.settled.radius_mm - shape.radius_mm,
                        e.ring,
                        e.visible,
                        c.fit.residual_mm,
                        c.probability,
                        c.settled.at.distance(c.fit.at),
                        c.interior.spread,
                        e.likelihood,
                        e.likelihood_low,
                        e.kin,
                        others(c),
                    )?;
                }
                continue;
            }
            if let Some(file) = &mut lines {
                dump_lines(file, tally.pictures as u64, &frame, &label, &given, &config)?;
                tally.pictures += 1;
                continue;
            }
            let start = Instant::now();
            let found = detect::detect(&frame, &given, &config);
            tally.millis.push(start.elapsed().as_secs_f64() * 1e3);
            compare(&name, &label, &given, &found, &mut tally, each);
            if let Some(folder) = &debug {
                draw(&frame, &label, &given, &found, &folder.join(format!("{name}.png")))?;
            }
        }
    }
    let share = |n: usize| 100.0 * n as f64 / tally.discs.max(1) as f64;
    println!(
        "{} pictures, {} scoring discs: missed {} ({:.2} %) invented {} ({:.2} %) wrong side {} ({:.2} %) wrong state {} doubtful {}",
        tally.pictures,
        tally.discs,
        tally.missed,
        share(tally.missed),
        tally.invented,
        share(tally.invented),
        tally.wrong_side,
        share(tally.wrong_side),
        tally.wrong_state,
        tally.doubtful,
    );
    let [p50, p95, p100] = [0.5, 0.95, 1.0].map(|q| quantile(&mut tally.position_mm, q));
    println!("position error mm: median {p50:.3} p95 {p95:.3} max {p100:.2}");
    let [z68, z95] = [0.68, 0.95].map(|q| quantile(&mut tally.z, q));
    println!("middle error over sigma, an axis: p68 {z68:.2} p95 {z95:.2}");
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len().max(1) as f64;
    let bias = [mean(&tally.radius_mm), mean(&tally.height_mm)];
    let mut spread =
        [tally.radius_mm.clone(), tally.height_mm.clone()].map(|v| v.iter().map(|x| x.abs()).collect::<Vec<_>>());
    println!(
        "radius error mm: mean {:+.3} abs median {:.3} p95 {:.3}; over sigma p68 {:.2}; height: mean {:+.3} abs median {:.3} p95 {:.3}",
        bias[0],
        quantile(&mut spread[0], 0.5),
        quantile(&mut spread[0], 0.95),
        quantile(&mut tally.set_z, 0.68),
        bias[1],
        quantile(&mut spread[1], 0.5),
        quantile(&mut spread[1], 0.95),
    );
    println!("detect ms: median {:.1} p95 {:.1}", quantile(&mut tally.millis, 0.5), quantile(&mut tally.millis, 0.95));
    Ok(())
}
