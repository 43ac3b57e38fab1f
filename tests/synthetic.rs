//! The synthetic camera measured: its pictures have their edges where its numbers say.

#[path = "support/mod.rs"]
mod support;

use crokeye::board::{Line, Side, Zone};
use crokeye::geometry::Point;
use support::colour::srgb;
use support::scene::{Light, Sensor, View};
use support::solid::Solid;
use support::trace::Tracer;
use support::{BoardLook, Recipe, Scene};

fn plain() -> Scene {
    let board = BoardLook { grain: 0.0, gloss: 0.0, pegs: 0, ..BoardLook::maple() };
    let scene = Scene::overhead(board);
    let light = Light { gradient: [0.0, 0.0], vignette: 0.0, ..scene.light };
    Scene { sensor: Sensor::ideal(), light, ..scene }
}

fn slanting() -> Scene {
    let view = View { tilt_rad: 0.6, turn_rad: 1.1, roll_rad: 0.2, k1: -0.15, aim: [0.05, -0.03], ..View::overhead() };
    Scene { view, ..plain() }
}

#[test]
fn the_same_scene_gives_the_same_bytes() {
    let recipe = Recipe { size_px: (320, 240), ..Recipe::fair() };
    let scene = recipe.deal(7);
    assert_eq!(scene.picture(), recipe.deal(7).picture());
    assert_ne!(scene.picture(), recipe.deal(8).picture());
}

/// Light at a place between pixel centres, red channel.
fn light_at(picture: &image::RgbImage, at: [f64; 2]) -> f64 {
    let (x, y) = (at[0].floor(), at[1].floor());
    let value = |dx: u32, dy: u32| {
        let pixel = picture.get_pixel(x as u32 + dx, y as u32 + dy).0[0];
        f64::from(srgb(u32::from(pixel) << 16)[0])
    };
    let (sx, sy) = (at[0] - x, at[1] - y);
    let upper = value(0, 0) * (1.0 - sx) + value(1, 0) * sx;
    let lower = value(0, 1) * (1.0 - sx) + value(1, 1) * sx;
    upper * (1.0 - sy) + lower * sy
}

#[test]
fn a_painted_line_lies_where_the_board_says_and_is_as_wide() {
    for scene in [plain(), slanting()] {
        let picture = scene.picture();
        let camera = scene.camera();
        let board = scene.board.as_ref().unwrap();
        for line in &board.lines {
            let (mut moment, mut weight, mut angles) = (0.0, 0.0, 0);
            let (from, to, step) = (line.inner_mm - 4.0, line.outer_mm + 4.0, 0.05);
            for i in 0..720 {
                let (s, c) = (f64::from(i) / 720.0 * std::f64::consts::TAU).sin_cos();
                // Away from the quadrant lines, which join the circles.
                if (c.abs() - s.abs()).abs() < 0.25 {
                    continue;
                }
                let light = |rho: f64| {
                    let at = camera.project(Point::new(rho * c, rho * s), 0.0).unwrap();
                    light_at(&picture, at.to_array())
                };
                let full = (light(from) + light(to)) / 2.0;
                let dark = full * (1.0 - f64::from(board.line[0] / board.surface[0]));
                let mut rho = from;
                while rho < to {
                    let share = (full - light(rho)) / dark * step;
                    moment += share * rho;
                    weight += share;
                    rho += step;
                }
                angles += 1;
            }
            let (middle, width) = (moment / weight, weight / f64::from(angles));
            assert!((middle - (line.inner_mm + line.outer_mm) / 2.0).abs() < 0.03, "{line:?}: middle {middle}");
            assert!((width - (line.outer_mm - line.inner_mm)).abs() < 0.05, "{line:?}: width {width}");
        }
    }
}

/// Area and centroid of a convex outline of points, px.
fn hull_moments(mut points: Vec<[f64; 2]>) -> (f64, [f64; 2]) {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let turn = |o: [f64; 2], a: [f64; 2], b: [f64; 2]| (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
    let mut hull: Vec<[f64; 2]> = Vec::new();
    for pass in 0..2 {
        let floor = hull.len() + 1;
        for &p in &points {
            while hull.len() > floor && turn(hull[hull.len() - 2], hull[hull.len() - 1], p) <= 0.0 {
                hull.pop();
            }
            hull.push(p);
        }
        hull.pop();
        if pass == 0 {
            points.reverse();
        }
    }
    let (mut area, mut centre) = (0.0, [0.0, 0.0]);
    for i in 0..hull.len() {
        let (a, b) = (hull[i], hull[(i + 1) % hull.len()]);
        let cross = a[0] * b[1] - b[0] * a[1];
        area += cross / 2.0;
        centre = [centre[0] + (a[0] + b[0]) * cross / 6.0, centre[1] + (a[1] + b[1]) * cross / 6.0];
    }
    (area.abs(), centre.map(|v| v / area))
}

#[test]
fn a_disc_covers_what_the_projection_of_its_surface_covers() {
    let scene = slanting().with(Side::A, 140.0, -160.0);
    let camera = scene.camera();
    let set = scene.set;
    // Independent of the tracer: points on the rounded cylinder, projected.
    let mut outline = Vec::new();
    for i in 0..360 {
        let (s, c) = f64::from(i).to_radians().sin_cos();
        for j in 0..=40 {
            let (up, out) = (f64::from(j) / 40.0 * std::f64::consts::FRAC_PI_2).sin_cos();
            let rho = set.radius_mm - set.edge_mm + set.edge_mm * out;
            for height in [set.edge_mm * (1.0 - up), set.height_mm - set.edge_mm * (1.0 - up)] {
                let at = Point::new(140.0 + rho * c, -160.0 + rho * s);
                outline.push(camera.project(at, height).unwrap().to_array());
            }
        }
    }
    let (area, centre) = hull_moments(outline);
    let tracer = Tracer::new(&scene);
    let around = camera.project(Point::new(140.0, -160.0), 0.0).unwrap();
    let (mut seen, mut moment) = (0.0, [0.0, 0.0]);
    let fine = 6;
    for i in -50 * fine..50 * fine {
        for j in -50 * fine..50 * fine {
            let at = [around.x + f64::from(i) / f64::from(fine), around.y + f64::from(j) / f64::from(fine)];
            if tracer.see(at[0], at[1], 1.0).id >= 16 {
                seen += 1.0;
                moment = [moment[0] + at[0], moment[1] + at[1]];
            }
        }
    }
    let found = moment.map(|v| v / seen);
    let seen_area = seen / f64::from(fine * fine);
    assert!((seen_area / area - 1.0).abs() < 0.005, "area {seen_area} px2, expected {area}");
    assert!((found[0] - centre[0]).hypot(found[1] - centre[1]) < 0.03, "centroid {found:?}, expected {centre:?}");
}

#[test]
fn a_disc_inside_the_15_line_has_the_margin_that_one_computes_by_hand() {
    let truth = plain().with(Side::A, 0.0, -80.1).truth();
    let disc = truth.discs[0];
    let (line, margin) = disc.margin.unwrap();
    assert_eq!((disc.zone, line), (Zone::Fifteen, Line::Fifteen));
    assert!((margin - (100.8 - 80.1 - 15.875)).abs() < 1e-9);
    assert_eq!(truth.totals, [15, 0]);
}

#[test]
fn a_leaning_disc_reaches_the_floor_of_the_hole_and_overhangs_its_edge() {
    let board = BoardLook::maple();
    let scene = Scene::overhead(board.clone());
    for towards in [0.0, 2.0, 4.0] {
        let (at, pose) = support::scene::leaning_in_hole(&board, &scene.set, towards);
        let set = scene.set;
        let solid = Solid::upright([at.x, at.y, 0.0], set.radius_mm, set.height_mm, 0.0, srgb(0)).posed(&pose);
        let lowest = solid.outline().iter().map(|p| p[2]).fold(f64::MAX, f64::min);
        assert!((lowest + board.hole_depth_mm).abs() < 0.5, "lowest {lowest}");
        assert!((1.5..10.0).contains(&at.norm()), "off centre by {}", at.norm());
    }
}

#[test]
fn dealt_discs_lie_free_of_each_other_and_of_the_pegs() {
    for seed in 0..40 {
        let scene = Recipe::fair().deal(seed);
        let board = scene.board.clone().unwrap();
        for (i, disc) in scene.discs.iter().enumerate() {
            for other in &scene.discs[..i] {
                let apart = disc.at.distance(other.at);
                assert!(apart > 2.0 * scene.set.radius_mm - 1e-9, "seed {seed}: {apart}");
            }
            for peg in board.peg_places() {
                assert!(disc.at.distance(Point::new(peg[0], peg[1])) > scene.set.radius_mm + board.peg_mm);
            }
        }
    }
}

/// Not a check: writes pictures to look at into `target/synthetic` and tells how long one takes.
/// `cargo test --release --test synthetic -- --ignored --nocapture`
#[test]
#[ignore = "writes pictures for people"]
fn pictures_to_look_at() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("../synthetic");
    std::fs::create_dir_all(&folder).unwrap();
    for seed in 0..12 {
        let recipe = Recipe { tilt_deg: (0.0, 45.0), leaning: 0.3, k1: (-0.2, 0.0), ..Recipe::fair() };
        let scene = recipe.deal(seed);
        let start = std::time::Instant::now();
        let picture = scene.picture();
        println!("{seed}: {:.0} ms, totals {:?}", start.elapsed().as_secs_f64() * 1e3, scene.truth().totals);
        picture.save(folder.join(format!("{seed:02}.png"))).unwrap();
    }
}

/// Not a check: writes the synthetic pictures of `samples/` anew.
/// `cargo test --release --test synthetic -- --ignored samples`
#[test]
#[ignore = "rewrites committed pictures"]
fn samples_are_written_anew() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    for (name, scene) in support::showcase::scenes() {
        std::fs::write(folder.join(format!("{name}.jpg")), scene.jpeg(92)).unwrap();
        std::fs::write(folder.join(format!("{name}.json")), format!("{}\n", scene.label())).unwrap();
    }
}
