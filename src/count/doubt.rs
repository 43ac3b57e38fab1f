//! What may be wrong with a count, and what it would change.
//!
//! In: the judged scene and its totals. Out: the entries for a person's eyes. A count with none of them is `counted`: so
//! every way to a wrong total that can be noticed must be noticed here, and what cannot change a total must not.

use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_4, TAU};

use crate::board::{Line, Side, State, Zone};
use crate::geometry::{BoardMm, Point};
use crate::register::Registration;

use super::report::{ImageSize, Review, SideTotal, rounded};
use super::sides::Naming;
use super::{Options, Scene, index, palette};

/// Two discs whose centres are nearer than two radii less this, mm, lie in one place: a fit is never that far off.
const OVERLAP_SLACK_MM: f64 = 2.5;

/// The same where one of the two leans or lies in the hole: its circle is seen shorter, its height is another.
const OVERLAP_SLACK_LEANING_MM: f64 = 8.0;

/// A disc that covers a peg's middle by more than this, mm, stands on it: pegs lean in the picture and are placed to
/// about this much.
const PEG_SLACK_MM: f64 = 2.0;

/// A line of which less than this share was seen cannot be trusted to decide.
const MIN_RING_COVERAGE: f64 = 0.1;

/// Everything that a person should look at, the whole board first, then disc by disc.
pub(super) fn review(
    size: ImageSize,
    scene: &Scene,
    totals: &[SideTotal; 2],
    naming: &Naming,
    options: &Options,
) -> Vec<Review> {
    let totals = Totals(totals);
    let mut out = board_doubts(size, scene, &totals, naming, options);
    for disc in 0..scene.verdicts.len() {
        out.extend(disc_doubts(scene, disc, &totals, options));
    }
    out.extend(overlaps(scene, &totals));
    out.sort_by_key(|entry| entry.disc);
    out
}

/// The totals as they stand, to be changed by a doubt.
struct Totals<'a>(&'a [SideTotal; 2]);

impl Totals<'_> {
    /// What `side` would have if a disc counted `then` instead of `now`.
    fn instead(&self, side: Option<Side>, now: Zone, then: Zone) -> BTreeMap<Side, u32> {
        let sides = side.map_or(vec![Side::A, Side::B], |side| vec![side]);
        // A disc of no side counts for none now.
        let now = if side.is_some() { now.value() } else { 0 };
        sides
            .into_iter()
            .map(|side| (side, (self.0[index(side)].total + then.value()).saturating_sub(now)))
            .filter(|(side, total)| *total != self.0[index(*side)].total)
            .collect()
    }
}

/// A candidate that was taken for no disc, but by less than this probability: a person should look.
const REFUSED_DOUBT: f64 = 0.08;

/// What may be a disc on the playing surface although it was not taken for one: its place, and the doubt.
fn refused(scene: &Scene) -> impl Iterator<Item = ([f64; 2], String)> + '_ {
    let reach = scene.registration.inner_mm()[0];
    let found = |at: crate::geometry::Point<crate::geometry::BoardMm>| {
        scene.detections.discs.iter().any(|d| d.base.distance(at) < scene.detections.set.radius_mm)
    };
    scene
        .detections
        .rejected
        .iter()
        .filter(move |r| r.probability > REFUSED_DOUBT && r.base.norm() < reach && !found(r.base))
        .map(|r| {
            let percent = (r.probability * 100.0).round();
            let place = if r.base.norm() < 8.0 {
                "in the hole".to_owned()
            } else {
                format!("{} mm from the centre", r.base.norm().round())
            };
            (
                [r.base.x, r.base.y].map(|mm| rounded(mm, 2)),
                format!("what lies {place} was not taken for a disc, but may be one ({percent} %)"),
            )
        })
}

fn board_doubts(size: ImageSize, scene: &Scene, totals: &Totals, naming: &Naming, options: &Options) -> Vec<Review> {
    let entry = |reason: String| Review { disc: None, reason, at_mm: None, total_if_other: BTreeMap::new() };
    let refused = refused(scene).map(|(at, reason)| Review { at_mm: Some(at), ..entry(reason) });
    let mut out: Vec<Review> = refused.collect();
    let scoring = scene.verdicts.iter().any(|verdict| verdict.zone != Zone::Out);
    if let Some(doubt) = naming.doubt.as_ref().filter(|_| scoring) {
        let [a, b] = totals.0;
        let on_board = |side: &SideTotal| side.total - 20 * side.set_aside;
        let swapped = [(Side::A, on_board(b) + 20 * a.set_aside), (Side::B, on_board(a) + 20 * b.set_aside)];
        out.push(Review { total_if_other: swapped.into_iter().collect(), ..entry(doubt.clone()) });
    }
    let unseen = unseen_share(size, scene);
    if unseen > 0.0 {
        let percent = (unseen * 100.0).ceil();
        out.push(entry(format!(
            "about {percent} % of the playing surface is outside the picture: discs may lie there"
        )));
    }
    for ring in &scene.registration.rings {
        if ring.coverage < MIN_RING_COVERAGE {
            let (name, percent) = (ring.line.name(), (ring.coverage * 100.0).round());
            out.push(entry(format!("only {percent} % of the {name} line was seen")));
        }
    }
    for side in totals.0 {
        let discs = side.count.discs() + side.set_aside;
        if discs > options.max_discs {
            let colour = side.colour.as_deref().unwrap_or("one side's");
            let most = options.max_discs;
            out.push(entry(format!("{discs} {colour} discs, more than the {most} that can be")));
        }
    }
    out
}

/// Share of the places where a scoring disc's centre can be that the picture does not show.
fn unseen_share(size: ImageSize, scene: &Scene) -> f64 {
    const RINGS: usize = 12;
    const SPOKES: usize = 48;
    let reach_mm = scene.registration.rings[0].inner_mm - scene.detections.set.radius_mm;
    let (width, height) = (f64::from(size.width), f64::from(size.height));
    let seen =
        |rho: f64, angle: f64| {
            let at = Point::<BoardMm>::new(rho * angle.cos(), rho * angle.sin());
            scene.registration.camera.project(at, 0.0).is_some_and(|image| {
                image.x >= -0.5 && image.y >= -0.5 && image.x < width - 0.5 && image.y < height - 0.5
            })
        };
    // Rings of equal area.
    let unseen = (0..RINGS * SPOKES)
        .filter(|cell| {
            let rho = reach_mm * (((cell / SPOKES) as f64 + 1.0) / RINGS as f64).sqrt();
            !seen(rho, (cell % SPOKES) as f64 * TAU / SPOKES as f64)
        })
        .count();
    unseen as f64 / (RINGS * SPOKES) as f64
}

fn disc_doubts(scene: &Scene, disc: usize, totals: &Totals, options: &Options) -> Vec<Review> {
    let (fit, verdict) = (&scene.detections.discs[disc], &scene.verdicts[disc]);
    let mut out = Vec::new();
    let mut push = |reason: String, other: BTreeMap<Side, u32>| {
        out.push(Review { disc: Some(id(disc)), reason, at_mm: None, total_if_other: other });
    };
    let now = verdict.zone;
    if let Some(call) = verdict.call.filter(|call| call.close) {
        let (line, then) = (call.line.name(), call.otherwise);
        let (margin, sigma) = (millimetres(call.margin_mm.abs()), millimetres(call.sigma_mm));
        let reason = format!("{margin} mm from the {line} line (±{sigma} mm): {} or {}", now.value(), then.value());
        push(reason, totals.instead(fit.side, now, then));
    }
    let counts = now != Zone::Out || verdict.close_other().is_some();
    if !counts {
        return out;
    }
    if fit.side.is_none() {
        let colour = palette::name_of(fit.lab);
        push(format!("its colour ({colour}) is of neither side"), totals.instead(None, now, now));
    }
    if fit.confidence < options.min_confidence {
        let percent = (fit.confidence * 100.0).round();
        push(format!("only {percent} % sure to be a disc of its side"), totals.instead(fit.side, now, Zone::Out));
    }
    match verdict.state {
        State::Leaning => push(
            "leans over the hole's edge: 15, or 20 if it lies flat in the hole".to_owned(),
            totals.instead(fit.side, now, Zone::Twenty),
        ),
        State::InHole if fit.confidence < options.min_confidence => push(
            "not surely flat in the hole: 20, or 15 if it leans".to_owned(),
            totals.instead(fit.side, now, Zone::Fifteen),
        ),
        _ => {}
    }
    if stands_on_peg(scene, disc) {
        push("lies where a peg stands".to_owned(), totals.instead(fit.side, now, Zone::Out));
    }
    out
}

/// Number of a disc in reports.
pub(super) fn id(disc: usize) -> u32 {
    disc as u32 + 1
}

/// A length for people: enough digits to not read 0.0.
pub(super) fn millimetres(length_mm: f64) -> String {
    if length_mm.abs() < 0.095 { format!("{length_mm:.2}") } else { format!("{length_mm:.1}") }
}

fn stands_on_peg(scene: &Scene, disc: usize) -> bool {
    let placed = &scene.placed[disc];
    pegs(&scene.registration)
        .any(|peg| peg.distance(placed.base) < placed.radius_mm - PEG_SLACK_MM - 3.0 * placed.random_sigma_mm)
}

/// Where the eight pegs stand; none where their direction could not be told.
pub(super) fn pegs(registration: &Registration) -> impl Iterator<Item = Point<BoardMm>> {
    let ring = registration.rings[Line::Fifteen as usize];
    let radius_mm = (ring.inner_mm + ring.outer_mm) / 2.0;
    registration.peg_rad.into_iter().flat_map(move |first| {
        (0..8).map(move |k| {
            let angle = first + f64::from(k) * FRAC_PI_4;
            Point::new(radius_mm * angle.cos(), radius_mm * angle.sin())
        })
    })
}

/// Pairs of discs that lie in one place, told at the second of them.
fn overlaps(scene: &Scene, totals: &Totals) -> Vec<Review> {
    let mut out = Vec::new();
    // What lies in the ditch lies deeper, and partly under the surface's edge.
    let on_surface = |disc: &usize| scene.placed[*disc].base.norm() < scene.registration.surface_mm;
    let tilted = |disc: usize| matches!(scene.verdicts[disc].state, State::Leaning | State::InHole);
    let discs: Vec<usize> = (0..scene.placed.len()).filter(on_surface).collect();
    for (rank, &second) in discs.iter().enumerate() {
        for &first in &discs[..rank] {
            let (one, two) = (&scene.placed[first], &scene.placed[second]);
            let slack = if tilted(first) || tilted(second) { OVERLAP_SLACK_LEANING_MM } else { OVERLAP_SLACK_MM };
            let doubt = slack.max(4.0 * one.random_sigma_mm.hypot(two.random_sigma_mm));
            let apart = one.base.distance(two.base);
            let zones = [first, second].map(|disc| scene.verdicts[disc].zone);
            if apart < one.radius_mm + two.radius_mm - doubt && zones != [Zone::Out; 2] {
                let reason = format!("lies {apart:.0} mm from disc {}: one is stacked or no disc", id(first));
                let other = totals.instead(scene.detections.discs[second].side, zones[1], Zone::Out);
                out.push(Review { disc: Some(id(second)), reason, at_mm: None, total_if_other: other });
            }
        }
    }
    out
}

#[cfg(test)]
mod tests;
