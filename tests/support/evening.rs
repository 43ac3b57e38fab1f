//! What a camera of 1280 x 720 px sees of an evening, as the JPEGs that it sends: boards at rest with more and more discs,
//! and a hand on its way over the board and back. Noise differs from frame to frame by eight versions of each picture.

use crokeye::board::Side::{A, B};
use image::RgbImage;
use image::codecs::jpeg::JpegEncoder;

use super::Scene;
use super::play::{arm, board, disc, noisy};
use super::random::Random;
use super::scene::View;

/// Frames a second.
pub const FPS: u64 = 30;
/// Versions of a picture.
const VERSIONS: usize = 8;
/// Quality of the JPEGs: webcams send 80 to 90.
const QUALITY: u8 = 85;

/// One picture in several versions of noise, each a JPEG.
pub type Shown = Vec<Vec<u8>>;

/// The pictures of an evening.
pub struct Evening {
    /// Boards with 0 to 8 discs.
    pub rests: Vec<Shown>,
    /// A hand that reaches for the middle and draws back.
    pub hands: Vec<Shown>,
}

/// Draws the pictures.
pub fn evening() -> Evening {
    let mut scene = board();
    scene.view = View { width_px: 1280, height_px: 720, share: 0.84, ..View::overhead() };
    let mut random = Random::new(3);
    let mut rests = vec![shown(&scene, &mut random)];
    let places = [
        (0.0, 150.0),
        (-150.0, 200.0),
        (60.0, 20.0),
        (150.0, -50.0),
        (-150.0, -60.0),
        (20.0, -140.0),
        (-60.0, 40.0),
        (220.0, 110.0),
    ];
    for (index, (x, y)) in places.into_iter().enumerate() {
        scene.discs.push(disc(if index % 2 == 0 { A } else { B }, x, y));
        rests.push(shown(&scene, &mut random));
    }
    let way = [(30.0, 330.0), (45.0, 260.0), (35.0, 180.0), (20.0, 90.0), (5.0, 10.0), (25.0, 120.0), (40.0, 230.0)];
    let hands = way.map(|(x, y)| {
        scene.arm = arm(x, y);
        shown(&scene, &mut random)
    });
    Evening { rests, hands: hands.into() }
}

fn shown(scene: &Scene, random: &mut Random) -> Shown {
    let picture = scene.picture();
    (0..VERSIONS).map(|_| jpeg(&noisy(&picture, random))).collect()
}

fn jpeg(rgb: &RgbImage) -> Vec<u8> {
    let mut bytes = Vec::new();
    rgb.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, QUALITY)).expect("a picture in memory");
    bytes
}

/// CPU time that a process has used on all its threads, ms, in steps of 10; 0 where the system does not tell.
pub fn cpu_ms(process: &str) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name, in brackets, may hold anything; user and system time are the 12th and 13th fields after it.
    let fields = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok());
    10 * ticks.sum::<u64>()
}

/// Resident memory of a process, KiB; 0 where the system does not tell.
pub fn resident_kib(process: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or_default()
}
