//! The choice: which of the candidates are discs, none in two places at once, and what is at the hole.

use super::Rejected;
use super::colour;
use super::hole::{self, HoleFit, Verdict};
use super::search::{Candidate, HOLE_REACH_MM, Search};
use crate::geometry::{BoardMm, Point};

/// What is as bright as the sensor can tell and further than this from every disc's colour is a reflection.
const GLARE_KIN: f32 = 25.0;
/// With a disc lying this near, nothing else fits into the hole, mm.
const HOLE_CLEAR_MM: f64 = 15.0;
/// A disc hanging over the hole's edge is off the centre by so much more than one in the hole can be, at its middle's
/// height, mm: the hole's own rim is not.
const OVERHANG_MM: f64 = 2.4;
/// And by this seen at the surface's height, mm.
const OVERHANG_SURFACE_MM: f64 = 1.6;
/// Its outline is a disc's: see [`super::evidence::Evidence::likelihood`].
const OVERHANG_LIKELIHOOD: f32 = -1.1;
/// Less probable than this is no disc.
const LEAST_PROBABILITY: f64 = 0.5;

/// What was chosen.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Discs on the surface, or over the hole's edge.
    pub discs: Vec<Candidate>,
    /// What lies in the hole or leans into it.
    pub hole: Option<(HoleFit, Verdict)>,
    /// What was refused.
    pub rejected: Vec<Rejected>,
}

/// Chooses among the candidates of `search`, for a hole of radius `hole_mm`.
pub fn choose(search: &Search<'_>, hole_mm: f64) -> Choice {
    let glance = |at: &Point<BoardMm>| Rejected { base: *at, reason: "no outline at a glance", probability: 0.0 };
    let mut choice = Choice { discs: Vec::new(), hole: None, rejected: search.dismissed.iter().map(glance).collect() };
    let (near, far): (Vec<&Candidate>, Vec<&Candidate>) =
        search.candidates.iter().partition(|c| c.fit.at.norm() < HOLE_REACH_MM);
    for c in far {
        match refuse(search, c, &choice.discs) {
            Some((reason, probability)) => choice.rejected.push(Rejected { base: c.fit.at, reason, probability }),
            None => choice.discs.push(c.clone()),
        }
    }
    if choice.discs.iter().any(|d| d.fit.at.norm() < HOLE_CLEAR_MM) {
        return choice;
    }
    let rim_mm = hole::rim_mm(hole_mm, search.shape.shape.radius_mm);
    // `search` sorts by probability.
    let best = near.first();
    if let Some(over) = best
        && over.probability > LEAST_PROBABILITY
        && over.evidence.likelihood > OVERHANG_LIKELIHOOD
        && overhangs(search, over.fit.at, rim_mm)
    {
        choice.discs.push((*over).clone());
        return choice;
    }
    let hole = hole::measure(search, rim_mm);
    let kin = search.kin.iter().map(|k| colour::distance(*k, hole.interior.lab)).reduce(f32::min).map(f64::from);
    let verdict = hole::judge(&hole, kin, best.map_or(0.0, |c| c.probability));
    if verdict.probability > LEAST_PROBABILITY {
        choice.hole = Some((hole, verdict));
    } else {
        let reason = "the hole's own rim and floor";
        choice.rejected.push(Rejected { base: hole.at, reason, probability: verdict.probability });
    }
    choice
}

/// Why `c` is no disc beside those already chosen, and how probable it is one all the same.
fn refuse(search: &Search<'_>, c: &Candidate, chosen: &[Candidate]) -> Option<(&'static str, f64)> {
    if chosen.iter().any(|k| k.fit.at.distance(c.fit.at) < search.apart_mm()) {
        Some(("overlaps a better candidate", 0.0))
    } else if c.probability < LEAST_PROBABILITY {
        Some(("too little of an outline", c.probability))
    } else if c.fit.at.norm() < HOLE_CLEAR_MM && c.evidence.likelihood < OVERHANG_LIKELIHOOD {
        Some(("the hole's rim", 0.0))
    } else if c.interior.clipped && c.evidence.kin > GLARE_KIN {
        Some(("a lamp mirrored in the board", 0.0))
    } else {
        None
    }
}

/// True where what was taken for a disc at `at` is further off the centre of the hole of radius `rim_mm` than a disc in it
/// can lie, seen at either height.
fn overhangs(search: &Search<'_>, at: Point<BoardMm>, rim_mm: f64) -> bool {
    let scene = &search.scene;
    let play_mm = (rim_mm - search.shape.shape.radius_mm).max(0.0);
    let on_surface = scene.camera.project(at, scene.plane_mm).and_then(|p| scene.camera.board_at(p, 0.0));
    at.norm() > play_mm + OVERHANG_MM && on_surface.is_some_and(|p| p.norm() > play_mm + OVERHANG_SURFACE_MM)
}
