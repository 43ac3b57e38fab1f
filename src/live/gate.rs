//! Motion and stillness: which frames are worth a count.
//!
//! In: every frame with its time. Out: a [`Glimpse`] where something is to be told: the board moves, rests, or has come
//! to rest and here is the fused picture. Only what lies on the board is looked at. A stretch of stillness begins with
//! an anchor; a frame belongs to it while no more than a few blocks differ from the anchor by more than noise, after
//! the light of the whole board has been brought to the anchor's.

use std::time::Duration;

use image::RgbImage;

use super::fuse::Fuse;
use super::thumb::Thumb;
use crate::geometry::Point;
use crate::register::Registration;

/// When a board is still.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// How long nothing may move before the board is judged. Discs that still roll move by more than a block's noise
    /// in this time; longer delays every judgement.
    pub settle: Duration,
    /// Frames that are fused for the second, better judgement of a rest.
    pub fuse_frames: u32,
    /// Blocks that may differ: noise alone makes one in a million exceed five deviations.
    pub stray_blocks: usize,
    /// Least difference of a block that is motion, red + green + blue: compression makes blocks breathe by 12 at most,
    /// at quality 50 and with a sensor's noise of 2 levels. The edge of a black disc on maple that moves by 0.4 px shows.
    pub least_change: f32,
}

impl Default for Config {
    fn default() -> Self {
        Self { settle: Duration::from_millis(120), fuse_frames: 10, stray_blocks: 3, least_change: 13.0 }
    }
}

/// What a frame shows, where that is worth telling.
#[derive(Clone, Debug, PartialEq)]
pub enum Glimpse {
    /// No board is known yet: look for one here.
    Search(RgbImage),
    /// Something moves on the board.
    Moving,
    /// All rests, and was judged already.
    Resting,
    /// The board has come to rest, or `refined`: the same rest, seen in more frames.
    Still {
        /// The fused picture.
        rgb: RgbImage,
        /// Frames in it.
        frames: u32,
        /// Was this rest judged before?
        refined: bool,
    },
    /// The hole rests with another content than before while the rest of the board moves.
    Hole(RgbImage),
    /// The picture is black or without any contrast: the lens is covered, or the light is off.
    Dark,
}

/// What is told again while it lasts is told this often: timers need it, a log need not hold every frame.
const REPEAT: Duration = Duration::from_millis(500);
/// How often a board is looked for while none is known.
const SEARCH: Duration = Duration::from_millis(1_000);
/// How far beyond the playing surface changes count, mm.
const BEYOND_MM: f64 = 12.0;
/// How far beyond the hole's edge its content is looked at, mm.
const HOLE_BEYOND_MM: f64 = 3.0;
/// Mean brightness (of 765) below which a picture is black.
const BLACK: f32 = 24.0;
/// Spread of the blocks (of 765) below which a picture has no content.
const FLAT: f32 = 6.0;
/// Noise of one block in deviations that is taken for motion.
const NOISE_DEVIATIONS: f32 = 6.0;
/// More than this, red + green + blue, is no sensor's noise but a moving camera.
const MOST_NOISE: f32 = 10.0;
/// Share of the hole's blocks that must differ for another content.
const HOLE_SHARE: f64 = 0.25;

/// The part of the picture that matters, as blocks of a [`Thumb`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Area {
    board: Vec<usize>,
    hole: Vec<usize>,
}

impl Area {
    /// The area of a board in pictures that `width` x `height` px have.
    pub fn of(board: &Registration, size_px: (u32, u32)) -> Self {
        let thumb = Thumb::of(&RgbImage::new(size_px.0, size_px.1));
        let mut area = Self::default();
        for block in 0..thumb.values.len() {
            let [x, y] = thumb.middle_px(block);
            let Some(at) = board.camera.board_at(Point::new(x, y), 0.0) else { continue };
            if at.norm() < board.surface_mm + BEYOND_MM {
                area.board.push(block);
            }
            if at.norm() < board.hole_mm + HOLE_BEYOND_MM {
                area.hole.push(block);
            }
        }
        area
    }
}

/// A stretch of frames that do not differ.
#[derive(Clone, Debug, Default)]
struct Stretch {
    anchor: Vec<f32>,
    since: Duration,
    frames: u32,
}

/// Watches frames for rest.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    config: Config,
    area: Option<Area>,
    now: Thumb,
    board: Stretch,
    hole: Stretch,
    /// The hole as it was last told.
    hole_told: Vec<f32>,
    fuse: Fuse,
    /// Judgements of this rest asked for.
    judged: u32,
    noise: f32,
    told: Option<(Kind, Duration)>,
    searched: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Moving,
    Resting,
    Dark,
}

impl Gate {
    /// A gate that knows no board yet.
    pub fn new(config: Config) -> Self {
        Self { config, ..Self::default() }
    }

    /// Tells where the board is, or that it is no longer known. What rests is judged anew.
    pub fn set_area(&mut self, area: Option<Area>) {
        if self.area != area {
            self.area = area;
            self.restart();
        }
    }

    /// Forgets the current rest: after a gap in the frames, or when a person asks for a look.
    pub fn restart(&mut self) {
        self.board = Stretch::default();
        self.hole = Stretch::default();
        self.hole_told.clear();
        self.fuse.clear();
        self.judged = 0;
        self.told = None;
    }

    /// Looks at a frame taken at `at`.
    pub fn take(&mut self, rgb: &RgbImage, at: Duration) -> Option<Glimpse> {
        self.now.take(rgb);
        if is_dark(&self.now.values) {
            self.board.frames = 0;
            self.judged = 0;
            return self.tell(Kind::Dark, at).then_some(Glimpse::Dark);
        }
        let Some(area) = &self.area else {
            let due = self.searched.is_none_or(|last| at >= last + SEARCH);
            return due.then(|| {
                self.searched = Some(at);
                Glimpse::Search(rgb.clone())
            });
        };
        let board = values(&self.now.values, &area.board);
        let threshold = self.config.least_change.max(NOISE_DEVIATIONS * self.noise);
        let same = self.board.frames > 0 && {
            let (changed, noise) = differing(&self.board.anchor, &board, threshold);
            // Also while something moves: a sensor noisier than was thought would else never be still.
            if self.board.anchor.len() == board.len() {
                let noise = noise.min(MOST_NOISE);
                self.noise = if self.noise > 0.0 { 0.9 * self.noise + 0.1 * noise } else { noise };
            }
            changed <= self.config.stray_blocks
        };
        if !same {
            let was_moving = self.judged == 0;
            self.board = Stretch { anchor: board, since: at, frames: 1 };
            self.fuse.clear();
            self.judged = 0;
            if let Some(hole) = self.hole(rgb, at, threshold) {
                return Some(hole);
            }
            if !was_moving {
                self.told = None;
            }
            return self.tell(Kind::Moving, at).then_some(Glimpse::Moving);
        }
        self.board.frames += 1;
        self.rest(rgb, at)
    }

    /// A frame of a rest.
    fn rest(&mut self, rgb: &RgbImage, at: Duration) -> Option<Glimpse> {
        if self.fuse.frames() < self.config.fuse_frames {
            self.fuse.add(rgb);
        }
        let first = self.judged == 0 && at >= self.board.since + self.config.settle;
        let better = self.judged == 1 && self.fuse.frames() >= self.config.fuse_frames;
        if first || better {
            self.judged += 1;
            self.told = Some((Kind::Resting, at));
            self.hole_told = self.area.as_ref().map(|area| values(&self.now.values, &area.hole)).unwrap_or_default();
            return Some(Glimpse::Still { rgb: self.fuse.mean(), frames: self.fuse.frames(), refined: better });
        }
        if self.judged == 0 {
            return self.tell(Kind::Moving, at).then_some(Glimpse::Moving);
        }
        self.tell(Kind::Resting, at).then_some(Glimpse::Resting)
    }

    /// While the board moves: does the hole rest, with another content?
    fn hole(&mut self, rgb: &RgbImage, at: Duration, threshold: f32) -> Option<Glimpse> {
        let hole = values(&self.now.values, &self.area.as_ref()?.hole);
        let stray = (hole.len() as f64 * HOLE_SHARE).ceil() as usize;
        let changed = |from: &[f32]| from.len() != hole.len() || differing(from, &hole, threshold).0 >= stray.max(1);
        if self.hole.frames == 0 || changed(&self.hole.anchor) {
            self.hole = Stretch { anchor: hole, since: at, frames: 1 };
            return None;
        }
        self.hole.frames += 1;
        let rests = at >= self.hole.since + self.config.settle;
        if !rests || !changed(&self.hole_told) {
            return None;
        }
        self.hole_told = hole;
        Some(Glimpse::Hole(rgb.clone()))
    }

    /// Is it time to tell this (again)?
    fn tell(&mut self, kind: Kind, at: Duration) -> bool {
        let due = self.told.is_none_or(|(told, last)| told != kind || at >= last + REPEAT);
        if due {
            self.told = Some((kind, at));
        }
        due
    }
}

fn values(all: &[f32], blocks: &[usize]) -> Vec<f32> {
    blocks.iter().filter_map(|&block| all.get(block).copied()).collect()
}

/// Blocks that differ by more than `threshold` once the light agrees, and the noise of the others (mean difference
/// over 0.8, which is one deviation).
fn differing(anchor: &[f32], now: &[f32], threshold: f32) -> (usize, f32) {
    if anchor.len() != now.len() || now.is_empty() {
        return (usize::MAX, 0.0);
    }
    let light = |values: &[f32]| values.iter().sum::<f32>().max(1.0);
    // Light that changes slowly is no motion; a hand changes the sum too, but then many blocks differ anyway.
    let gain = (light(now) / light(anchor)).clamp(0.97, 1.03);
    let (mut changed, mut sum, mut quiet) = (0, 0.0f32, 0usize);
    for (a, n) in anchor.iter().zip(now) {
        let difference = (n - a * gain).abs();
        if difference > threshold {
            changed += 1;
        } else {
            sum += difference;
            quiet += 1;
        }
    }
    (changed, sum / quiet.max(1) as f32 / 0.8)
}

/// Is there nothing to see?
fn is_dark(values: &[f32]) -> bool {
    let count = values.len().max(1) as f32;
    let mean = values.iter().sum::<f32>() / count;
    let spread = (values.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / count).sqrt();
    mean < BLACK || spread < FLAT
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgb;

    const SIZE: (u32, u32) = (640, 480);

    /// Wood with a dark square at (x, y), in light `light`; `seed` decides the noise.
    fn picture(x: u32, y: u32, light: f32, seed: u32) -> RgbImage {
        RgbImage::from_fn(SIZE.0, SIZE.1, |column, row| {
            let inside = column.wrapping_sub(x) < 24 && row.wrapping_sub(y) < 24;
            let noise = (column.wrapping_mul(31) ^ row.wrapping_mul(57) ^ seed.wrapping_mul(0x9E37)) % 5;
            let level = |value: f32| (value * light + noise as f32) as u8;
            if inside { Rgb([level(40.0); 3]) } else { Rgb([level(180.0), level(150.0), level(110.0)]) }
        })
    }

    /// A gate over the middle of the picture, its hole at (320, 240).
    fn gate() -> Gate {
        let mut gate = Gate::new(Config::default());
        let thumb = Thumb::of(&RgbImage::new(SIZE.0, SIZE.1));
        let within = |radius: f64| -> Vec<usize> {
            let near = |block: &usize| {
                let [x, y] = thumb.middle_px(*block);
                (x - 320.0).hypot(y - 240.0) < radius
            };
            (0..thumb.values.len()).filter(near).collect()
        };
        gate.set_area(Some(Area { board: within(200.0), hole: within(14.0) }));
        gate
    }

    /// What ten frames a second of these pictures are told as, one letter a frame.
    fn told(gate: &mut Gate, pictures: impl IntoIterator<Item = RgbImage>, from: u64) -> String {
        let letter = |glimpse: Option<Glimpse>| match glimpse {
            None => '.',
            Some(Glimpse::Search(_)) => '?',
            Some(Glimpse::Moving) => 'm',
            Some(Glimpse::Resting) => 'r',
            Some(Glimpse::Still { refined: false, .. }) => 'S',
            Some(Glimpse::Still { .. }) => 'R',
            Some(Glimpse::Hole(_)) => 'H',
            Some(Glimpse::Dark) => 'd',
        };
        let at = |frame: usize| Duration::from_millis(100 * (from + frame as u64));
        pictures.into_iter().enumerate().map(|(frame, rgb)| letter(gate.take(&rgb, at(frame)))).collect()
    }

    fn still(x: u32, y: u32, frames: u32) -> impl Iterator<Item = RgbImage> {
        (0..frames).map(move |seed| picture(x, y, 1.0, seed))
    }

    #[test]
    fn a_rest_is_judged_after_120_ms_and_again_after_ten_frames() {
        assert_eq!(told(&mut gate(), still(200, 200, 20), 0), "m.S....r..R....r....");
    }

    #[test]
    fn what_moves_on_the_board_starts_anew() {
        let rolling = (0..4).map(|step| picture(200 + 9 * step, 200, 1.0, step));
        let story = told(&mut gate(), still(200, 200, 5).chain(rolling).chain(still(240, 200, 4)), 0);
        assert_eq!(story, "m.S...m....S.");
    }

    #[test]
    fn what_moves_beside_the_board_is_nothing() {
        let passing = (0..8).map(|step| picture(10 + 9 * step, 20, 1.0, step));
        assert_eq!(told(&mut gate(), passing, 0), "m.S....r");
    }

    #[test]
    fn slow_light_is_no_motion_and_a_switched_lamp_is() {
        let fading = (0..10).map(|step| picture(200, 200, 1.0 - 0.002 * step as f32, step));
        assert!(!told(&mut gate(), fading, 0)[3..].contains('m'));
        let switched = still(200, 200, 4).chain((0..4).map(|seed| picture(200, 200, 0.6, seed)));
        assert_eq!(told(&mut gate(), switched, 0), "m.S.m.S.");
    }

    #[test]
    fn a_noisy_sensor_comes_to_rest_too() {
        let noisy = (0..30u32).map(|seed| {
            let mut rgb = picture(200, 200, 1.0, seed);
            let mut state = seed + 1;
            for pixel in rgb.pixels_mut() {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                pixel.0 = pixel.0.map(|value| value.saturating_add((state >> 28) as u8));
            }
            rgb
        });
        assert!(told(&mut gate(), noisy, 0).contains('S'));
    }

    #[test]
    fn a_disc_in_the_hole_is_told_while_a_hand_moves_elsewhere() {
        let mut gate = gate();
        told(&mut gate, still(200, 200, 5), 0);
        let both = |step: u32| {
            let mut rgb = picture(200 + 11 * (step % 2), 330, 1.0, step);
            (308..332).for_each(|x| (228..252).for_each(|y| rgb.put_pixel(x, y, Rgb([30; 3]))));
            rgb
        };
        assert_eq!(told(&mut gate, (0..5).map(both), 5), "m.H..");
    }

    #[test]
    fn a_black_picture_is_dark_and_without_a_board_one_is_searched_for() {
        let black = (0..3).map(|_| RgbImage::new(SIZE.0, SIZE.1));
        assert_eq!(told(&mut gate(), black, 0), "d..");
        let mut blind = Gate::new(Config::default());
        assert_eq!(told(&mut blind, still(200, 200, 11), 0), "?.........?");
    }
}
