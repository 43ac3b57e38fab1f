//! What a count of a scene has to say, from the scene's numbers alone.

use super::scene::{Disc, Pose, Scene};
use crokeye::board::{Line, Side, State, Zone};
use crokeye::geometry::{BoardMm, ImagePx, Point};

/// The exact truth of a scene.
#[derive(Clone, Debug)]
pub struct Truth {
    /// All discs but those in the ditch.
    pub discs: Vec<TruthDisc>,
    /// Points of sides a and b.
    pub totals: [u32; 2],
}

/// The truth about one disc.
#[derive(Clone, Copy, Debug)]
pub struct TruthDisc {
    pub side: Side,
    pub base: Point<BoardMm>,
    /// Image of the base's centre; None where it is behind the camera.
    pub image_base: Option<Point<ImagePx>>,
    pub state: State,
    pub zone: Zone,
    /// The nearest line and the margin to it (negative: touching or beyond), for flat discs.
    pub margin: Option<(Line, f64)>,
}

impl Scene {
    /// The truth of this scene.
    pub fn truth(&self) -> Truth {
        let discs: Vec<TruthDisc> =
            self.discs.iter().filter(|disc| disc.pose != Pose::Ditch).map(|disc| self.truth_of(disc)).collect();
        let totals = [Side::A, Side::B]
            .map(|side| discs.iter().filter(|disc| disc.side == side).map(|disc| disc.zone.value()).sum());
        Truth { discs, totals }
    }

    fn truth_of(&self, disc: &Disc) -> TruthDisc {
        let inner_mm = self.board.as_ref().map_or([0.0; 3], |board| board.inner_mm());
        let (zone, margin) = judge(disc.at.norm() + self.set.radius_mm, inner_mm);
        let (state, zone, margin) = match disc.pose {
            Pose::InHole => (State::InHole, Zone::Twenty, None),
            Pose::Leaning { .. } => (State::Leaning, Zone::Fifteen, None),
            Pose::Flat if zone == Zone::Out => (State::Off, zone, Some(margin)),
            Pose::Flat => (State::Flat, zone, Some(margin)),
            Pose::Ditch => (State::Off, Zone::Out, None),
        };
        let image_base = self.camera().project(disc.at, self.floor_mm(disc));
        TruthDisc { side: disc.side, base: disc.at, image_base, state, zone, margin }
    }
}

/// The line rule: the zone of a flat disc whose far edge is at `reach_mm`, and the margin to the nearest line.
pub fn judge(reach_mm: f64, inner_mm: [f64; 3]) -> (Zone, (Line, f64)) {
    let margins = inner_mm.map(|edge| edge - reach_mm);
    let zone = match margins {
        [_, _, fifteen] if fifteen > 0.0 => Zone::Fifteen,
        [_, ten, _] if ten > 0.0 => Zone::Ten,
        [five, _, _] if five > 0.0 => Zone::Five,
        _ => Zone::Out,
    };
    let nearest = (0..3).min_by(|&i, &j| margins[i].abs().total_cmp(&margins[j].abs())).unwrap_or(0);
    (zone, (Line::ALL[nearest], margins[nearest]))
}
