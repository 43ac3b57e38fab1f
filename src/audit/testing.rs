//! Small reports and claims for the tests of this module.

use super::claim::{Claim, SideClaim};
use crate::board::{Side, State};
use crate::count::report::{Colour, Disc, ImageSize, Report, SideTotal, Status, ZoneCount};

/// A clear picture with discs of these values: black on side a, natural on side b.
pub(crate) fn report(a: &[u32], b: &[u32]) -> Report {
    let values = a.iter().map(|value| (Side::A, *value)).chain(b.iter().map(|value| (Side::B, *value)));
    let discs: Vec<Disc> = values.enumerate().map(|(at, (side, value))| disc(at, side, value)).collect();
    let side = |side, colour: &str| {
        let mut total =
            SideTotal { side, colour: Some(colour.to_owned()), count: ZoneCount::default(), set_aside: 0, total: 0 };
        for disc in discs.iter().filter(|disc| disc.side == Some(side)) {
            *total.count.slot(disc.value) += 1;
            total.total += disc.value;
        }
        total
    };
    let sides = vec![side(Side::A, "black"), side(Side::B, "natural")];
    Report {
        image: Some(ImageSize { width: 640, height: 480 }),
        status: Status::Counted,
        error: None,
        discs,
        sides,
        ..Report::error("x.jpg", String::new())
    }
}

fn disc(at: usize, side: Side, value: u32) -> Disc {
    let (name, lab) = if side == Side::A { ("black", [15.0, 1.0, 2.0]) } else { ("natural", [70.0, 7.0, 32.0]) };
    let angle = at as f64;
    let rho = [0.0, 250.0, 150.0, 50.0, 0.0][(value / 5) as usize];
    Disc {
        id: at as u32 + 1,
        side: Some(side),
        colour: Colour { name: name.to_owned(), lab },
        base_mm: [rho * angle.cos(), rho * angle.sin()],
        base_px: [320.0 + rho * angle.cos() / 2.0, 240.0 + rho * angle.sin() / 2.0],
        radius_mm: 16.0,
        state: if value == 20 { State::InHole } else { State::Flat },
        value,
        line: None,
        margin_mm: None,
        margin_sigma_mm: None,
        close: false,
        confidence: 0.99,
        visible: 1.0,
    }
}

/// A row with these totals.
pub(crate) fn claim(totals: [u32; 2]) -> Claim {
    let sides = totals.map(|total| SideClaim { total: Some(total), ..SideClaim::default() });
    Claim { row: 2, picture: "x.jpg".to_owned(), time: None, sides }
}
