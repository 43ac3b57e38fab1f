//! The public JSON of a count, `crokeye.count/1`.
//!
//! Names, order and meaning are what other programs rely on: fields may be added, never renamed. Lengths are
//! millimetres unless a name ends in `_px`, `_ms` or `_deg`. Numbers are rounded here, once, to what they are worth.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::{Line, Side, State, Zone};

/// Name and version of the format.
pub const SCHEMA: &str = "crokeye.count/1";

/// One count of one picture.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = Count)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The picture's path or camera.
    pub source: String,
    /// Size of the picture as a viewer shows it; null where it could not be read.
    pub image: Option<ImageSize>,
    /// Whether the totals can be trusted.
    pub status: Status,
    /// A sentence, where status is error.
    pub error: Option<String>,
    /// Where the board is; null where none was found.
    pub board: Option<Board>,
    /// The discs, from the centre outwards.
    pub discs: Vec<Disc>,
    /// Totals, side a then side b; empty where there is no board.
    pub sides: Vec<SideTotal>,
    /// What a person should look at.
    pub review: Vec<Review>,
    /// Where the time went.
    pub timing_ms: Timing,
}

/// Size of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImageSize {
    /// Width, px.
    pub width: u32,
    /// Height, px.
    pub height: u32,
}

/// What a count is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = CountStatus)]
pub enum Status {
    /// No close call and no doubt can change a total.
    Counted,
    /// A person should look: the totals are a proposal.
    Review,
    /// No board was found.
    NoBoard,
    /// The picture could not be read.
    Error,
}

/// The registered board.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = CountedBoard)]
pub struct Board {
    /// The matched board model, or "measured".
    pub model: String,
    /// Image of the hole's centre.
    pub centre_px: [f64; 2],
    /// Board plane (mm, homogeneous) to image px, without lens distortion, row by row.
    pub homography: [[f64; 3]; 3],
    /// Null where none was estimated.
    pub distortion: Option<Distortion>,
    /// The scoring lines, outermost first.
    pub rings: Vec<Ring>,
    /// Radius of the hole.
    pub hole_mm: f64,
    /// Radius of the playing surface's rim.
    pub surface_mm: f64,
    /// Direction of a quadrant line, 0 to 90; null where it could not be told.
    pub quadrant_deg: Option<f64>,
    /// Direction of a peg, 0 to 45; null where it could not be told.
    pub peg_deg: Option<f64>,
    /// The camera above the board.
    pub camera: BoardCamera,
    /// How well lines and picture agree.
    pub quality: Quality,
}

/// Radial distortion in OpenCV's convention, about the principal point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct Distortion {
    /// First term.
    pub k1: f64,
    /// Second term.
    pub k2: f64,
}

/// A scoring line as painted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct Ring {
    /// "5", "10" or "15".
    pub name: Line,
    /// The edge that decides values.
    pub inner_mm: f64,
    /// The other edge.
    pub outer_mm: f64,
    /// RMS distance of the line seen from the line fitted.
    pub residual_px: f64,
    /// Share of the circumference that was seen, 0 to 1.
    pub coverage: f64,
}

/// The camera's place over the board.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct BoardCamera {
    /// Where its plumb line meets the board's plane.
    pub foot_mm: [f64; 2],
    /// Its height above the playing surface.
    pub height_mm: f64,
    /// One standard deviation of the height.
    pub height_sigma_mm: f64,
    /// Focal length.
    pub focal_px: f64,
    /// Principal point.
    pub principal_px: [f64; 2],
    /// Tilt of the optical axis against the board's normal.
    pub tilt_deg: f64,
}

/// How good a registration is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct Quality {
    /// RMS residual over all lines.
    pub residual_px: f64,
    /// Mean share of the lines that was seen, 0 to 1.
    pub coverage: f64,
}

/// One disc.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Disc {
    /// 1 for the disc nearest to the centre, and on outwards.
    pub id: u32,
    /// Null for a colour of neither side.
    pub side: Option<Side>,
    /// Its colour.
    pub colour: Colour,
    /// Centre of the circle that touches the board, parallax removed.
    pub base_mm: [f64; 2],
    /// That same point in the image.
    pub base_px: [f64; 2],
    /// Radius of that circle.
    pub radius_mm: f64,
    /// How it lies.
    pub state: State,
    /// 20, 15, 10, 5 or 0.
    pub value: u32,
    /// The line nearest to its far edge; null in the hole.
    pub line: Option<Line>,
    /// Distance of its far edge inside that line's inner edge; negative when touching or beyond.
    pub margin_mm: Option<f64>,
    /// One standard deviation of the margin.
    pub margin_sigma_mm: Option<f64>,
    /// True when too close to call: the value is a proposal.
    pub close: bool,
    /// How sure it is that this is a disc of that side, 0 to 1.
    pub confidence: f64,
    /// Share of the outline that was seen, 0 to 1.
    pub visible: f64,
}

/// A colour by name and measure.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Colour {
    /// Name of the nearest known colour.
    pub name: String,
    /// CIE L*a*b* (D65).
    pub lab: [f64; 3],
}

/// What one side has.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct SideTotal {
    /// Which side.
    pub side: Side,
    /// Its colour; null where none of its discs was seen and none was named.
    pub colour: Option<String>,
    /// Discs on the board by value.
    pub count: ZoneCount,
    /// 20s taken off the board during the round.
    pub set_aside: u32,
    /// Points, those set aside included.
    pub total: u32,
}

/// Discs by value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct ZoneCount {
    /// In the hole.
    #[serde(rename = "20")]
    pub twenty: u32,
    /// Inside the 15 line.
    #[serde(rename = "15")]
    pub fifteen: u32,
    /// Inside the 10 line.
    #[serde(rename = "10")]
    pub ten: u32,
    /// Inside the shooting line.
    #[serde(rename = "5")]
    pub five: u32,
    /// On the shooting line or beyond.
    #[serde(rename = "0")]
    pub out: u32,
}

impl ZoneCount {
    /// Counts one more disc of that value.
    pub fn add(&mut self, zone: Zone) {
        *self.slot(zone.value()) += 1;
    }

    /// How many discs have this value; what is no value counts with those that are out.
    pub fn slot(&mut self, value: u32) -> &mut u32 {
        match value {
            20 => &mut self.twenty,
            15 => &mut self.fifteen,
            10 => &mut self.ten,
            5 => &mut self.five,
            _ => &mut self.out,
        }
    }

    /// Points of the discs counted.
    pub fn points(&self) -> u32 {
        20 * self.twenty + 15 * self.fifteen + 10 * self.ten + 5 * self.five
    }

    /// How many discs were counted.
    pub fn discs(&self) -> u32 {
        self.twenty + self.fifteen + self.ten + self.five + self.out
    }
}

/// One thing that a person should look at.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = CountReview)]
pub struct Review {
    /// The disc; null where it is about the whole board.
    pub disc: Option<u32>,
    /// A sentence part: what is in doubt and why.
    pub reason: String,
    /// Where that lies which was not taken for a disc, but may be one: mm from the centre.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_mm: Option<[f64; 2]>,
    /// The totals that would change if the doubt is true, by side.
    pub total_if_other: BTreeMap<Side, u32>,
}

/// Where the time went; 0 where no clock was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, ToSchema)]
#[schema(as = CountTiming)]
pub struct Timing {
    /// Reading and decoding the file.
    pub decode: f64,
    /// Finding the board.
    pub register: f64,
    /// Finding the discs.
    pub detect: f64,
    /// All of it.
    pub total: f64,
}

impl SideTotal {
    /// What people call the side.
    pub fn name(&self) -> &str {
        self.colour.as_deref().unwrap_or(match self.side {
            Side::A => "side a",
            Side::B => "side b",
        })
    }
}

impl Review {
    /// The doubt and what it would change as one line for people; `sides` are those of its report.
    pub fn sentence(&self, sides: &[SideTotal]) -> String {
        let start = self.disc.map_or(String::new(), |id| format!("#{id} "));
        let changed = sides.iter().filter_map(|side| Some((side, self.total_if_other.get(&side.side)?)));
        let totals: Vec<String> = changed.map(|(side, total)| format!("{} {total}", side.name())).collect();
        let end = if totals.is_empty() { String::new() } else { format!(" (then {})", totals.join(", ")) };
        format!("{start}{}{end}", self.reason)
    }
}

impl Timing {
    /// Adds what it took to read and decode the file.
    pub fn add_decode(&mut self, decode_ms: f64) {
        self.decode = rounded(decode_ms, 2);
        self.total = rounded(self.total + decode_ms, 2);
    }
}

impl Report {
    /// The report of a picture without a board, with the reason.
    pub fn no_board(source: &str, size: ImageSize, reason: String) -> Self {
        Self {
            image: Some(size),
            status: Status::NoBoard,
            error: None,
            review: vec![Review { disc: None, reason, at_mm: None, total_if_other: BTreeMap::new() }],
            ..Self::error(source, String::new())
        }
    }

    /// The report of a picture that could not be read.
    pub fn error(source: &str, sentence: String) -> Self {
        Self {
            schema: SCHEMA,
            source: source.to_owned(),
            image: None,
            status: Status::Error,
            error: Some(sentence),
            board: None,
            discs: Vec::new(),
            sides: Vec::new(),
            review: Vec::new(),
            timing_ms: Timing::default(),
        }
    }
}

/// `value` to that many decimals; -0 becomes 0.
pub(crate) fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (value * scale).round() / scale + 0.0
}

/// `value` to ten significant digits, for matrices whose elements differ by orders of magnitude.
pub(super) fn significant(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let digits = 9 - value.abs().log10().floor() as i32;
    let scale = 10f64.powi(digits.clamp(-290, 290));
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_what_numbers_are_worth() {
        assert_eq!(rounded(1.23456, 2), 1.23);
        assert!(rounded(-0.0001, 2).is_sign_positive());
        assert_eq!(significant(0.000_123_456_789_012_345), 0.000_123_456_789_0);
        assert_eq!(significant(-1_234.567_890_123), -1_234.567_890);
        assert_eq!(significant(f64::NAN), 0.0);
    }

    #[test]
    fn a_side_counts_discs_by_value() {
        let mut count = ZoneCount::default();
        [Zone::Twenty, Zone::Fifteen, Zone::Ten, Zone::Ten, Zone::Five, Zone::Out]
            .into_iter()
            .for_each(|zone| count.add(zone));
        assert_eq!((count.points(), count.discs()), (60, 6));
        assert_eq!(serde_json::to_string(&count).unwrap(), r#"{"20":1,"15":1,"10":2,"5":1,"0":1}"#);
    }

    #[test]
    fn a_doubt_is_told_with_what_it_would_change() {
        let side = |side, colour: Option<&str>| SideTotal {
            side,
            colour: colour.map(str::to_owned),
            count: ZoneCount::default(),
            set_aside: 0,
            total: 40,
        };
        let entry = Review {
            disc: Some(4),
            reason: "0.1 mm from the 10 line".to_owned(),
            at_mm: None,
            total_if_other: [(Side::A, 35), (Side::B, 45)].into(),
        };
        let sides = [side(Side::A, Some("black")), side(Side::B, None)];
        assert_eq!(entry.sentence(&sides), "#4 0.1 mm from the 10 line (then black 35, side b 45)");
    }

    #[test]
    fn an_unreadable_picture_is_reported_with_its_sentence() {
        let json = serde_json::to_value(Report::error("a.jpg", "the file is empty".to_owned())).unwrap();
        assert_eq!(json["status"], "error");
        assert_eq!(json["error"], "the file is empty");
        assert_eq!(json["schema"], "crokeye.count/1");
        assert!(json["board"].is_null() && json["sides"].as_array().unwrap().is_empty());
    }
}
