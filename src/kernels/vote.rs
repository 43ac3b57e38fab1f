//! Votes in a raster: add at a place, smooth, find the peaks.

use std::ops::Range;

/// A raster of votes, row-major.
#[derive(Clone, Debug)]
pub struct Votes {
    data: Vec<f32>,
    columns: usize,
    rows: usize,
}

/// A local maximum of votes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// Column, px.
    pub x: f32,
    /// Row, px.
    pub y: f32,
    /// Votes there.
    pub votes: f32,
}

impl Votes {
    /// No votes yet.
    pub fn new(columns: usize, rows: usize) -> Self {
        Self { data: vec![0.0; columns * rows], columns, rows }
    }

    /// Adds `weight` at the pixel nearest to `(x, y)`; nothing outside the raster.
    #[inline]
    pub fn add(&mut self, x: f32, y: f32, weight: f32) {
        let (column, row) = ((x + 0.5) as i32, (y + 0.5) as i32);
        if column >= 0 && row >= 0 && (column as usize) < self.columns && (row as usize) < self.rows {
            self.data[row as usize * self.columns + column as usize] += weight;
        }
    }

    /// Sums every vote over the 3 × 3 window around it; the border becomes zero.
    pub fn spread(&mut self) {
        let (columns, rows) = (self.columns, self.rows);
        if columns < 3 || rows < 3 {
            self.data.fill(0.0);
            return;
        }
        let mut across = vec![0.0; columns * rows];
        for (out, row) in across.chunks_exact_mut(columns).zip(self.data.chunks_exact(columns)) {
            for x in 1..columns - 1 {
                out[x] = row[x - 1] + row[x] + row[x + 1];
            }
        }
        self.data.fill(0.0);
        for y in 1..rows - 1 {
            let out = &mut self.data[y * columns..(y + 1) * columns];
            let (above, rest) = across[(y - 1) * columns..].split_at(columns);
            let (here, below) = rest.split_at(columns);
            for x in 0..columns {
                out[x] = above[x] + here[x] + below[x];
            }
        }
    }

    /// Maxima above `floor` (at least 0) that have no greater within `reach` px, best first (raster order among equals).
    pub fn peaks(&self, floor: f32, reach: usize) -> Vec<Peak> {
        let (columns, rows) = (self.columns, self.rows);
        let mut out = Vec::new();
        // A maximum within its reach is the first greatest of whatever block of that side it lies in.
        let side = reach + 1;
        let mut greatest = vec![0.0f32; columns];
        for top in (reach..rows.saturating_sub(reach)).step_by(side) {
            let bottom = (top + side).min(rows - reach);
            greatest.fill(floor);
            for row in self.data[top * columns..bottom * columns].chunks_exact(columns) {
                for (most, votes) in greatest.iter_mut().zip(row) {
                    *most = if *votes > *most { *votes } else { *most };
                }
            }
            for left in (reach..columns.saturating_sub(reach)).step_by(side) {
                let right = (left + side).min(columns - reach);
                let votes = greatest[left..right].iter().copied().fold(floor, f32::max);
                if votes > floor
                    && let Some((x, y)) = self.first(votes, left..right, top..bottom)
                    && self.is_peak(x, y, reach, votes)
                {
                    out.push(Peak { x: x as f32, y: y as f32, votes });
                }
            }
        }
        out.sort_by(|a, b| b.votes.total_cmp(&a.votes).then(a.y.total_cmp(&b.y)).then(a.x.total_cmp(&b.x)));
        out
    }

    /// The first place, in raster order, with so many votes in a block.
    fn first(&self, votes: f32, columns: Range<usize>, mut rows: Range<usize>) -> Option<(usize, usize)> {
        rows.find_map(|y| {
            let row = &self.data[y * self.columns..][columns.clone()];
            row.iter().position(|v| *v == votes).map(|x| (columns.start + x, y))
        })
    }

    fn is_peak(&self, x: usize, y: usize, reach: usize, votes: f32) -> bool {
        for row in y - reach..=y + reach {
            let line = &self.data[row * self.columns + x - reach..=row * self.columns + x + reach];
            // Among equals the first in raster order is the peak.
            let beaten = match row.cmp(&y) {
                std::cmp::Ordering::Less => line.iter().any(|v| *v >= votes),
                std::cmp::Ordering::Equal => {
                    line[..reach].iter().any(|v| *v >= votes) || line.iter().any(|v| *v > votes)
                }
                std::cmp::Ordering::Greater => line.iter().any(|v| *v > votes),
            };
            if beaten {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_with_most_votes_is_the_first_peak() {
        let mut votes = Votes::new(40, 30);
        for _ in 0..5 {
            votes.add(20.2, 10.4, 1.0);
        }
        for _ in 0..3 {
            votes.add(9.6, 21.0, 1.0);
        }
        votes.add(-3.0, 5.0, 9.0);
        votes.spread();
        let peaks = votes.peaks(0.5, 3);
        assert_eq!(peaks.len(), 2);
        assert!((peaks[0].x - 20.0).abs() <= 1.0 && (peaks[0].y - 10.0).abs() <= 1.0);
        assert_eq!(peaks[0].votes, 5.0);
        assert_eq!(peaks[1].votes, 3.0);
    }

    #[test]
    fn a_plateau_gives_one_peak() {
        let mut votes = Votes::new(20, 20);
        votes.add(10.0, 10.0, 1.0);
        votes.spread();
        assert_eq!(votes.peaks(0.5, 4).len(), 1);
    }

    #[test]
    fn peaks_are_the_places_without_a_greater_one_in_reach() {
        let (columns, rows, reach) = (37, 29, 3);
        let mut votes = Votes::new(columns, rows);
        // Whole numbers without an order, with equals among them.
        let mixed = |i: usize| (i as u32).wrapping_mul(2_654_435_761) >> 16;
        votes.data.iter_mut().enumerate().for_each(|(i, v)| *v = ((mixed(i) ^ mixed(i * i)) % 61) as f32);
        let mut expected = Vec::new();
        for y in reach..rows - reach {
            for x in reach..columns - reach {
                if votes.data[y * columns + x] > 4.0 && votes.is_peak(x, y, reach, votes.data[y * columns + x]) {
                    expected.push((x, y));
                }
            }
        }
        let mut found: Vec<_> = votes.peaks(4.0, reach).iter().map(|p| (p.x as usize, p.y as usize)).collect();
        found.sort_by_key(|&(x, y)| (y, x));
        assert!(found.len() > 5);
        assert_eq!(found, expected);
    }
}
