//! A scripted round before a simulated camera: scenes held for a while, hands, discs that roll, and what the live part makes
//! of it.
//!
//! A [`Play`] holds the present scene and feeds every frame of it to a real [`Player`]: gate, fusion, registration,
//! detection, rounds. Frames differ by fresh noise, as a sensor's do. What happened is told in short words, so that a
//! script's expected events can be read: `a+ 10`, `b- `, `20 a`, `= a 25 b 10`.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use crokeye::board::Side;
use crokeye::geometry::Point;
use crokeye::live::event::{BoardChange, CameraState, DiscChange, Ended};
use crokeye::live::input::Told;
use crokeye::live::{Event, GateConfig, Input, Key, Player, Settings, What};
use image::RgbImage;
use image::codecs::jpeg::JpegEncoder;

use super::random::Random;
use super::scene::{Clutter, Disc, DiscSet, Pose, Sensor, View};
use super::{BoardLook, Scene};

/// Frames a second.
pub const FPS: u64 = 10;

/// A session before the simulated camera.
pub struct Play {
    pub scene: Scene,
    pub player: Player,
    pub events: Vec<Event>,
    pub inputs: Vec<Input>,
    frame: u64,
    noise: Random,
    /// Quality of the JPEGs that the camera sends; None sends what the sensor saw.
    pub quality: Option<u8>,
}

/// An empty board, straight from above, filling the picture.
pub fn board() -> Scene {
    let view = View { width_px: 960, height_px: 720, share: 0.84, ..View::overhead() };
    let sensor = Sensor { noise: 0.0, ..Sensor::fair() };
    Scene { view, sensor, set: DiscSet::coloured(0x1E1E20, 0xB02020), ..Scene::overhead(BoardLook::maple()) }
}

/// A disc that lies flat.
pub fn disc(side: Side, x_mm: f64, y_mm: f64) -> Disc {
    Disc { at: Point::new(x_mm, y_mm), side, pose: Pose::Flat }
}

/// A disc in the hole.
pub fn in_hole(side: Side) -> Disc {
    Disc { at: Point::new(0.3, -0.2), side, pose: Pose::InHole }
}

/// A disc in the ditch.
pub fn in_ditch(side: Side, angle_deg: f64) -> Disc {
    let (s, c) = angle_deg.to_radians().sin_cos();
    Disc { at: Point::new(356.0 * c, 356.0 * s), side, pose: Pose::Ditch }
}

/// An arm that reaches from outside to (x, y).
pub fn arm(x_mm: f64, y_mm: f64) -> Option<([f64; 3], [f64; 3], f64)> {
    let far = 560.0 / x_mm.hypot(y_mm).max(1.0);
    Some(([x_mm * far, y_mm * far, 60.0], [x_mm, y_mm, 35.0], 32.0))
}

impl Play {
    /// A session that begins with `scene`.
    pub fn of(scene: Scene, settings: Settings) -> Self {
        let player = Player::new(settings, GateConfig::default());
        let noise = Random::new(5);
        Self { scene, player, events: Vec::new(), inputs: Vec::new(), frame: 0, noise, quality: None }
    }

    /// A session that begins with an empty board at rest.
    pub fn new() -> Self {
        let mut play = Self::of(board(), Settings::default());
        play.rest(0.8);
        play
    }

    /// The scene stays for so many seconds.
    pub fn rest(&mut self, seconds: f64) -> &mut Self {
        let picture = picture(&self.scene);
        for _ in 0..(seconds * FPS as f64).round() as u64 {
            self.show(&picture);
        }
        self
    }

    /// One frame of the scene as `change` makes it.
    pub fn flash(&mut self, change: impl FnOnce(&mut Scene)) -> &mut Self {
        let mut scene = self.scene.clone();
        change(&mut scene);
        let picture = picture(&scene);
        self.show(&picture);
        self
    }

    /// An arm over (x, y) that moves for so many frames.
    pub fn hand(&mut self, x_mm: f64, y_mm: f64, frames: usize) -> &mut Self {
        for frame in 0..frames {
            let sway = if frame % 2 == 0 { 0.0 } else { 14.0 };
            self.flash(|scene| scene.arm = arm(x_mm + sway, y_mm + sway));
        }
        self
    }

    /// A shot from below: a hand at the shooting line, a disc on its way, and the board as `change` leaves it.
    pub fn shot(&mut self, side: Side, change: impl FnOnce(&mut Vec<Disc>)) -> &mut Self {
        self.hand(30.0, 330.0, 3);
        self.flash(|scene| scene.discs.push(disc(side, 25.0, 190.0)));
        change(&mut self.scene.discs);
        self.rest(0.8)
    }

    /// A shot that leaves its disc at (x, y).
    pub fn draw(&mut self, side: Side, x_mm: f64, y_mm: f64) -> &mut Self {
        self.shot(side, |discs| discs.push(disc(side, x_mm, y_mm)))
    }

    /// A hand takes the discs that `goes` names, one after another, and leaves.
    pub fn take(&mut self, goes: impl Fn(&Disc) -> bool) -> &mut Self {
        let taken: Vec<Disc> = self.scene.discs.iter().filter(|disc| goes(disc)).copied().collect();
        for disc in taken {
            let (x, y) = (disc.at.x, disc.at.y);
            self.hand(x + 0.1, y + 0.1, 2);
            self.scene.discs.retain(|other| other.at != disc.at);
            self.flash(|scene| scene.arm = arm(x * 0.9 + 6.0, y * 0.9 + 6.0));
        }
        self
    }

    /// Hands clear the board and the ditch.
    pub fn clear(&mut self) -> &mut Self {
        self.take(|_| true).rest(0.8)
    }

    /// A person presses a key.
    pub fn key(&mut self, key: Key) -> &mut Self {
        self.tell(Told::Key(key))
    }

    /// The camera fails or comes back.
    pub fn camera(&mut self, state: CameraState) -> &mut Self {
        self.tell(Told::Camera(state))
    }

    /// The source ends.
    pub fn end(&mut self) -> &mut Self {
        self.tell(Told::End)
    }

    fn tell(&mut self, what: Told) -> &mut Self {
        let (input, events) = self.player.tell(what, self.frame, self.at());
        self.inputs.push(input);
        self.events.extend(events);
        self
    }

    /// Shows a picture for one frame.
    pub fn show(&mut self, picture: &RgbImage) {
        let seen = noisy(picture, &mut self.noise);
        let sent = match self.quality {
            Some(quality) => through_jpeg(&seen, quality),
            None => seen,
        };
        if let Some((input, events)) = self.player.frame(&sent, self.frame, self.at()) {
            self.inputs.push(input);
            self.events.extend(events);
        }
        self.frame += 1;
    }

    fn at(&self) -> Duration {
        Duration::from_micros(self.frame * 1_000_000 / FPS)
    }

    /// What happened, in short words.
    pub fn story(&self) -> Vec<String> {
        self.events.iter().filter_map(|event| words(&event.what)).collect()
    }
}

/// An event in short words; None for what scripts do not ask about.
pub fn words(what: &What) -> Option<String> {
    let side = |side: &Option<Side>| match side {
        Some(Side::A) => "a",
        Some(Side::B) => "b",
        None => "?",
    };
    Some(match what {
        What::Board { change, .. } => match change {
            BoardChange::Found => "found".to_owned(),
            BoardChange::Lost => "lost".to_owned(),
            BoardChange::Moved => "bumped".to_owned(),
        },
        What::Settled { count, .. } => {
            format!("= {}", count.sides.iter().map(|side| side.total.to_string()).collect::<Vec<_>>().join(" "))
        }
        What::Disc { change: DiscChange::Placed, side: of, value, .. } => format!("{}+{value}", side(of)),
        What::Disc { change: DiscChange::Moved, side: of, value, .. } => format!("{}>{value}", side(of)),
        What::Disc { change: DiscChange::Removed, side: of, .. } => format!("{}-", side(of)),
        What::Twenty { side: of, .. } => format!("20 {}", side(&Some(*of))),
        What::Held { .. } => "held".to_owned(),
        What::Clearing => return None,
        What::Sides { .. } => return None,
        What::Advice { text, .. } => format!("advice: {text}"),
        What::Round(result) => {
            let ended = match result.ended {
                Ended::Cleared => "cleared",
                Ended::AllShot => "all shot",
                Ended::Quiet => "quiet",
                Ended::Key => "key",
                Ended::SourceEnded => "end",
            };
            let sides = result.sides.iter().map(|side| format!("{} with {} aside", side.total, side.set_aside));
            format!("ROUND {ended}: {}", sides.collect::<Vec<_>>().join(", "))
        }
        What::Final { .. } => "final".to_owned(),
        What::Resumed => "resumed".to_owned(),
        What::Abandoned => "abandoned".to_owned(),
        What::Camera { state } => format!("camera {state:?}").to_lowercase(),
    })
}

/// The picture of a scene, drawn once however often it is asked for.
pub fn picture(scene: &Scene) -> RgbImage {
    static DRAWN: LazyLock<Mutex<HashMap<String, RgbImage>>> = LazyLock::new(Mutex::default);
    let name = format!("{scene:?}");
    if let Some(known) = DRAWN.lock().unwrap_or_else(PoisonError::into_inner).get(&name) {
        return known.clone();
    }
    let picture = scene.picture();
    DRAWN.lock().unwrap_or_else(PoisonError::into_inner).insert(name, picture.clone());
    picture
}

/// The picture with a sensor's noise: a deviation of about 2 levels, other in every frame.
pub fn noisy(picture: &RgbImage, random: &mut Random) -> RgbImage {
    static NOISE: LazyLock<Vec<i8>> = LazyLock::new(|| {
        let mut random = Random::new(77);
        (0..1 << 16).map(|_| (random.normal() * 2.0).round().clamp(-100.0, 100.0) as i8).collect()
    });
    let mut out = picture.clone();
    // Rows start at a place of their own in one long strip of noise.
    let width = picture.width() as usize * 3;
    for row in out.chunks_exact_mut(width.max(1)) {
        let from = random.whole(0, NOISE.len() - width);
        row.iter_mut().zip(&NOISE[from..]).for_each(|(byte, noise)| *byte = byte.saturating_add_signed(*noise));
    }
    out
}

/// A cup on the board.
pub fn cup(x_mm: f64, y_mm: f64) -> Clutter {
    Clutter {
        at: [x_mm, y_mm],
        radius_mm: 38.0,
        height_mm: 110.0,
        edge_mm: 2.0,
        colour: super::colour::srgb(0xE8E8F0),
        bands: Vec::new(),
    }
}

/// The picture as it comes out of a JPEG of that quality.
fn through_jpeg(picture: &RgbImage, quality: u8) -> RgbImage {
    let mut bytes = Vec::new();
    picture.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, quality)).unwrap();
    image::load_from_memory(&bytes).unwrap().into_rgb8()
}
