//! The truth of a scene as the label file that lies beside a picture.

use super::scene::Scene;
use super::truth::Truth;
use crokeye::board::{Side, State};
use serde_json::{Value, json};

impl Scene {
    /// The label of this scene's picture: discs (without those in the ditch), totals and the camera.
    pub fn label(&self) -> Value {
        let camera = self.camera();
        let Truth { discs, totals } = self.truth();
        let discs: Vec<Value> = discs
            .iter()
            .enumerate()
            .map(|(id, disc)| {
                let state = match disc.state {
                    State::InHole => "in_hole",
                    State::Leaning => "leaning",
                    State::Flat | State::Off => "flat",
                };
                json!({
                    "id": id,
                    "side": if disc.side == Side::A { "a" } else { "b" },
                    "zone": disc.zone.value(),
                    "state": state,
                    "x_mm": disc.base.x,
                    "y_mm": disc.base.y,
                    "margin_mm": disc.margin.map(|(_, margin_mm)| margin_mm),
                    "line": disc.margin.map(|(line, _)| line.inside().value()),
                    "image_base": disc.image_base.map(|at| at.to_array()),
                })
            })
            .collect();
        let scale = camera.scale_px_per_mm(crokeye::geometry::Point::new(0.0, 0.0), 0.0).unwrap_or(0.0);
        json!({
            "board": self.board.is_some(),
            "discs": discs,
            "totals": {"a": totals[0], "b": totals[1]},
            "disc_radius_px": self.set.radius_mm * scale,
            "camera": {
                "width": self.view.width_px, "height": self.view.height_px,
                "fx": camera.focal_px, "fy": camera.focal_px, "cx": camera.principal.x, "cy": camera.principal.y,
                "k1": camera.k1, "k2": camera.k2, "R": camera.rotation, "t": camera.translation_mm,
            },
            "tags": {"synthetic": true, "seed": self.seed, "tilt_deg": self.view.tilt_rad.to_degrees()},
        })
    }
}
