//! The calibration sheet as a PDF: black squares by their corners, nothing else.

use crokeye::capture::views::CORNERS;

/// Paper sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Paper {
    /// 297 x 210 mm.
    A4,
    /// 420 x 297 mm.
    A3,
    /// 11 x 8.5 in.
    Letter,
}

/// Points a millimetre.
const POINTS: f64 = 72.0 / 25.4;
/// White border about the squares, mm: the corners are found by it too.
const BORDER_MM: f64 = 14.0;

impl Paper {
    /// Width and height, mm, lying.
    fn size_mm(self) -> [f64; 2] {
        match self {
            Paper::A4 => [297.0, 210.0],
            Paper::A3 => [420.0, 297.0],
            Paper::Letter => [279.4, 215.9],
        }
    }
}

/// The PDF file of a sheet with squares as large as the paper allows, in whole millimetres.
pub fn sheet(paper: Paper) -> Vec<u8> {
    let [width, height] = paper.size_mm();
    let (columns, rows) = (CORNERS[0] + 1, CORNERS[1] + 1);
    let square = ((width - 2.0 * BORDER_MM) / columns as f64).min((height - 2.0 * BORDER_MM) / rows as f64).floor();
    let (left, lower) = ((width - square * columns as f64) / 2.0, (height - square * rows as f64) / 2.0);
    let mut drawing = String::from("0 g\n");
    for row in 0..rows {
        for column in (row % 2..columns).step_by(2) {
            let x = (left + square * column as f64) * POINTS;
            let y = (lower + square * row as f64) * POINTS;
            let side = square * POINTS;
            drawing.push_str(&format!("{x:.3} {y:.3} {side:.3} {side:.3} re f\n"));
        }
    }
    let text = format!("crokeye calibration sheet: squares of {square:.0} mm");
    drawing.push_str(&format!("BT /F1 8 Tf {:.1} {:.1} Td ({text}) Tj ET\n", left * POINTS, 5.0 * POINTS));
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {:.3} {:.3}] /Contents 4 0 R \
             /Resources << /Font << /F1 5 0 R >> >> >>",
            width * POINTS,
            height * POINTS
        ),
        format!("<< /Length {} >>\nstream\n{drawing}endstream", drawing.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let mut out = String::from("%PDF-1.4\n");
    let mut places = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        places.push(out.len());
        out.push_str(&format!("{} 0 obj\n{object}\nendobj\n", index + 1));
    }
    let table = out.len();
    out.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1));
    places.iter().for_each(|place| out.push_str(&format!("{place:010} 00000 n \n")));
    let size = objects.len() + 1;
    out.push_str(&format!("trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n"));
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sheet_has_every_black_square_and_a_table_that_points_at_its_objects() {
        for (paper, square) in [(Paper::A4, "26 mm"), (Paper::A3, "38 mm"), (Paper::Letter, "25 mm")] {
            let text = String::from_utf8(sheet(paper)).unwrap();
            assert_eq!(text.matches(" re f").count(), 35);
            assert!(text.contains(square), "{paper:?}");
            let table = text.split("0000000000 65535 f \n").nth(1).unwrap();
            for (index, line) in table.lines().take(5).enumerate() {
                let place: usize = line[..10].parse().unwrap();
                assert!(text[place..].starts_with(&format!("{} 0 obj", index + 1)));
            }
        }
    }
}
