//! Proposals: where in the top view edges agree on the middle of a disc.
//!
//! Every edge point votes, towards both sides, for the middles of discs of any radius in the known range whose outline
//! would have its normal there; then each peak is fitted to the edges around it.

use crate::geometry::{BoardMm, Point};
use crate::kernels::gradient::{Edge, Gradient};
use crate::kernels::vote::Votes;

use super::shape::{Shape, Sight};
use super::view::TopView;

/// Edge points weaker than this many times the view's median gradient do not vote. Lower finds wood on wood and costs
/// time.
const THRESHOLD_MEDIANS: f32 = 1.3;
/// At this many medians a vote has half its full weight.
const HALF_WEIGHT_MEDIANS: f32 = 3.0;
/// No gradient weaker than this votes, grey levels a view px: below it is the JPEG's own texture.
const THRESHOLD_FLOOR: f32 = 0.8;
/// Peaks closer than this to a stronger one are the same disc, mm.
const PEAK_REACH_MM: f64 = 5.0;
/// So many peaks are looked at.
const MOST_PEAKS: usize = 80;

/// The edges of a view, and what is ordinary there.
#[derive(Clone, Debug)]
pub struct EdgeMap {
    /// All edge points in raster order.
    pub edges: Vec<Edge>,
    /// Median gradient of the view, grey levels a px.
    pub median: f32,
    cells: Vec<Vec<u32>>,
    columns: usize,
}

/// Side of a cell of the edge index, px of the view.
const CELL_PX: usize = 16;

impl EdgeMap {
    /// The edges of a (smoothed) view.
    pub fn of(view: &TopView) -> Self {
        let gradient = Gradient::of(&view.planes);
        let centre = view.half_px as f32;
        let radius = ((view.radius_mm - 1.0) * view.px_per_mm) as f32 - 2.0;
        let median = gradient.median(centre, centre, radius);
        let threshold = (THRESHOLD_MEDIANS * median).max(THRESHOLD_FLOOR);
        let edges = gradient.edges(threshold, centre, centre, radius);
        let columns = gradient.columns / CELL_PX + 1;
        let mut cells = vec![Vec::new(); columns * (gradient.rows / CELL_PX + 1)];
        for (i, e) in edges.iter().enumerate() {
            cells[(e.y as usize / CELL_PX) * columns + e.x as usize / CELL_PX].push(i as u32);
        }
        Self { edges, median: median.max(0.3), cells, columns }
    }

    /// Edges within a square of half side `reach` px about `(x, y)`.
    pub fn near(&self, x: f64, y: f64, reach: f64) -> impl Iterator<Item = &Edge> {
        let rows = self.cells.len() / self.columns;
        let cell = |v: f64| (v.max(0.0) as usize) / CELL_PX;
        let (left, right) = (cell(x - reach), cell(x + reach).min(self.columns - 1));
        let (top, bottom) = (cell(y - reach), cell(y + reach).min(rows - 1));
        (top..=bottom)
            .flat_map(move |row| (left..=right).map(move |column| row * self.columns + column))
            .flat_map(|cell| self.cells[cell].iter())
            .map(|&i| &self.edges[i as usize])
    }

    /// Weight of an edge's vote, 0 to 1.
    pub fn weight(&self, e: &Edge) -> f32 {
        e.strength / (e.strength + HALF_WEIGHT_MEDIANS * self.median)
    }
}

/// Peaks of the votes for discs with a radius in `radii_mm`, best first: where the middle of a disc may be, on the
/// middle plane.
pub fn propose(view: &TopView, map: &EdgeMap, sight: &Sight, shape: &Shape, radii_mm: [f64; 2]) -> Vec<Point<BoardMm>> {
    let (rows, columns) = view.planes.shape();
    let mut votes = Votes::new(columns, rows);
    let scale = view.px_per_mm;
    let steps = (((radii_mm[1] - radii_mm[0]) * scale).round() as usize).max(1);
    let step_px = ((radii_mm[1] - radii_mm[0]) * scale / steps as f64) as f32;
    let first_px = (radii_mm[0] * scale) as f32;
    let stick_px = ((shape.height_mm / 2.0 - shape.edge_mm) * scale) as f32;
    for e in &map.edges {
        let weight = map.weight(e);
        let lean = sight.lean(view.mm(e.x as f64, e.y as f64));
        let lean = [lean[0] as f32, lean[1] as f32];
        let q = lean[0] * e.nx + lean[1] * e.ny;
        let sign = if q < 0.0 { -1.0 } else { 1.0 };
        let (sx, sy) = (sign * stick_px * lean[0], sign * stick_px * lean[1]);
        for k in 0..=steps {
            let r = first_px + step_px * k as f32;
            let (dx, dy) = (r * e.nx + sx, r * e.ny + sy);
            votes.add(e.x - dx, e.y - dy, weight);
            votes.add(e.x + dx, e.y + dy, weight);
        }
    }
    votes.spread();
    let reach = (PEAK_REACH_MM * scale).round().max(2.0) as usize;
    let peaks = votes.peaks(0.0, reach);
    peaks.iter().take(MOST_PEAKS).map(|p| view.mm(p.x as f64, p.y as f64)).collect()
}
