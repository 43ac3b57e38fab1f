//! The values a rule parameter can take: one enum a parameter, named as referees and the rule texts name them.
//!
//! Each variant exists because at least one published rule text says so (the texts are cited in `models/rules/*.toml`).

use serde::{Deserialize, Serialize};

macro_rules! named {
    ($(#[$meta:meta])* $name:ident { $( $(#[$vmeta:meta])* $variant:ident = $text:literal ),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name { $( $(#[$vmeta])* #[serde(rename = $text)] $variant ),+ }
    };
}

named!(
    /// What a disc that touches a scoring line is worth.
    LineRule {
        /// The lower of the two zones: the only published rule.
        Lower = "lower",
    }
);
named!(
    /// Which edge of the disc is looked at when a touch is judged.
    TouchBasis {
        /// The bottom edge, where wood meets wood.
        ContactEdge = "contact_edge",
        /// The outline as seen from above.
        Outline = "outline",
    }
);
named!(
    /// A disc lying on the shooting line when the shot has ended.
    ShootingLineRest {
        /// Out of play, to the ditch.
        Out = "out",
        /// Stays where it is.
        In = "in",
    }
);
named!(
    /// When a moving disc that meets the outer line is out.
    EdgeTouch {
        /// Touching or crossing puts it out, yet one that comes back by itself, having struck nothing outside, plays on.
        TouchOrCrossOutSpinning = "touch_or_cross_out+spinning",
        /// Touching or crossing puts it out: once off, it is off.
        TouchOrCrossOut = "touch_or_cross_out",
        /// Only a disc that comes to rest on the line is out, or one that left the raised surface at any time.
        StopsTouchingOut = "stops_touching_out",
        /// Only leaving the raised surface puts it out during the shot.
        LeavesSurfaceOut = "leaves_surface_out",
    }
);
named!(
    /// What makes a 20.
    TwentyDef {
        /// Completely in the hole and lying flat.
        FullFlat = "full_flat",
        /// Completely in the hole.
        Full = "full",
        /// "In the hole", not defined further.
        InHole = "in_hole",
        /// Completely within, not hanging or leaning.
        FullNotLeaning = "full_not_leaning",
        /// Settles flat in the hole.
        Flat = "flat",
    }
);
named!(
    /// What a disc leaning into the hole is.
    LeanerValue {
        /// It scores the lowest region it touches: 15.
        Fifteen = "fifteen",
        /// It stays where it is until struck; no value named, so it counts where it lies: 15.
        Stays = "stays",
    }
);
named!(
    /// Which discs an invalid shot removes.
    InvalidRemoves {
        /// The shot disc only.
        Shooter = "shooter",
        /// The shot disc and the discs of its own colour that it struck.
        ShooterAndOwnStruck = "shooter+own_struck",
        /// The shot disc and every disc it struck.
        ShooterAndAllStruck = "shooter+all_struck",
        /// The shot disc; in a failed combination, every disc struck by it too.
        ShooterAndStruckInCombination = "shooter+struck_in_combination",
    }
);
named!(
    /// Must a shot hit an opposing disc when there is one?
    HitRequired {
        /// Yes, directly or through a disc of one's own.
        DirectOrViaOwn = "direct_or_via_own",
        /// Yes; the text does not say how.
        Contact = "contact",
        /// No.
        Off = "off",
    }
);
named!(
    /// How far in a disc must end on an open board.
    Reach {
        /// On the 15 line or inside it.
        Touch = "touch",
        /// Fully inside the 15 line.
        Inside = "inside",
    }
);
named!(
    /// Which disc may satisfy the no-hiding rule.
    HidingBy {
        /// The shot disc alone.
        ShotDisc = "shot_disc",
        /// The shot disc or any disc it struck.
        AnyStruck = "any_struck",
    }
);

/// The no-hiding rule: a shot on a board without opposing discs must end near the centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NoHiding {
    /// No such rule.
    Off,
    /// The rule holds.
    On {
        /// How far in.
        reach: Reach,
        /// Which disc.
        by: HidingBy,
    },
}

named!(
    /// Discs moved by a disc that had gone out and came back.
    Rebound {
        /// They stay where they are; a 20 so made counts.
        DamageStays = "damage_stays",
        /// They are put back to their former places.
        DamageReplaced = "damage_replaced",
    }
);
named!(
    /// How two totals become points of the match.
    Conversion {
        /// 2 to the higher, 1 each when level; among three: 2, 1, 0.
        MatchPoints = "match_points",
        /// The higher side scores the difference.
        Difference = "difference",
        /// Each side scores its own total.
        Additive = "additive",
    }
);

/// When the match is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum End {
    /// After exactly this many rounds.
    Rounds(u32),
    /// When a side has reached this many points.
    Target(u32),
    /// When a side has reached `points` and leads by `margin`.
    FirstTo {
        /// Points to reach.
        points: u32,
        /// Lead needed.
        margin: u32,
    },
}

named!(
    /// Points of a level round.
    RoundTie {
        /// One each (1-1).
        Shared = "1-1",
        /// Nothing for anybody (0-0).
        Nothing = "0-0",
    }
);
named!(
    /// What follows when the match ends level.
    EndTie {
        /// A draw is a result.
        Draw = "draw",
        /// Rounds are added until one side leads.
        ExtraRound = "extra_round",
        /// One determining round; level again is a draw.
        FinalRound = "final_round",
        /// A shoot-out, whose winner is entered.
        ShootOut = "shoot_out",
    }
);
named!(
    /// Who starts the next round. With clockwise seats each of these is the seat after the one that led.
    NextFirst {
        /// The other side.
        Alternate = "alternate",
        /// The next player clockwise.
        Clockwise = "clockwise",
        /// The person to the left of the lead shooter.
        LeftOfLead = "left_of_lead",
    }
);
named!(
    /// Where a shot may start.
    Quadrant {
        /// The disc touches the shooting line of its own quadrant.
        TouchLine = "touch_line",
        /// As above, at least half of the disc inside the quadrant.
        HalfIn = "half_in",
        /// It may overhang if it touches the quadrant line and the shooting line.
        TouchBothLines = "touch_both_lines",
    }
);
named!(
    /// What is written down after a round.
    ScorerInput {
        /// The totals of both sides.
        Totals = "totals",
        /// The round's points: 2, 1 or 0.
        Points = "points",
    }
);
named!(
    /// A round cut short by the clock.
    TimeOut {
        /// The side with fewer shots shoots once more before counting.
        OneMoreShot = "one_more_shot",
        /// The discs on the board are counted as they lie.
        CountAsIs = "count_as_is",
    }
);
