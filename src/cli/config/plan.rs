//! What is chosen for the boards, checked and understood.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Result, anyhow, ensure};
use crokeye::capture::profile::Profile;
use crokeye::capture::sample;
use crokeye::capture::source::Source;
use crokeye::count::SideColours;
use crokeye::live::Region;
use crokeye::service::board::{Label, Look};

use super::layers::Effective;
use crate::cli::count::{pair, within};
use crate::cli::snap;
use crate::cli::watch::region;

/// Longest id of a board, letters.
const LONGEST_ID: usize = 20;
/// Longest name of a board, letters.
const LONGEST_NAME: usize = 60;

/// What is planned for a board.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How it is called.
    pub label: Label,
    /// Where its frames come from; None: the first camera that works, else the sample.
    pub source: Option<String>,
    /// Size to ask a camera for, px.
    pub size_px: Option<(u32, u32)>,
    /// Frames a second of a folder, or to ask a camera for.
    pub fps: Option<f64>,
    /// So many times faster than its clock, where the source has one.
    pub speed: f64,
    /// How it is looked at.
    pub look: Look,
    /// The match to play.
    pub match_id: Option<String>,
}

impl Plan {
    /// Does it play the sample?
    pub fn is_sample(&self) -> bool {
        self.source.as_deref() == Some(sample::NAME)
    }
}

/// The boards of a configuration.
///
/// # Errors
/// A value is none of its kind, two boards have one id or one source, or one of several has no source.
pub fn plans(effective: &Effective) -> Result<Vec<Plan>> {
    let all: Vec<Plan> = (0..effective.house.board.len()).map(|at| plan(effective, at)).collect::<Result<_>>()?;
    let (mut ids, mut sources) = (BTreeMap::new(), BTreeMap::new());
    for (at, Plan { label: Label { id, .. }, source, .. }) in all.iter().enumerate() {
        let key = |name: &str| effective.origin(&format!("board.{at}.{name}"));
        let before = ids.insert(id, at);
        ensure!(before.is_none(), "{}: two boards have the id {id}: give each its own", key("id"));
        ensure!(
            source.is_some() || all.len() == 1,
            "board {id} has no source: of several boards each needs one (source = \"0\")"
        );
        let Some(source) = source.as_ref().filter(|source| *source != sample::NAME) else { continue };
        let before = sources.insert(source, id);
        ensure!(
            before.is_none(),
            "{}: boards {} and {id} have the source {source}: give each its own",
            key("source"),
            before.map_or("", |id| id.as_str())
        );
    }
    Ok(all)
}

fn plan(effective: &Effective, at: usize) -> Result<Plan> {
    let said = effective.house.board.get(at).cloned().unwrap_or_default();
    let wrong = |key: &str, reason: String| {
        let origin = effective.origin(&format!("board.{at}.{key}"));
        anyhow!("{origin}: {key} of board {}: {reason}", said.id.as_deref().unwrap_or("?"))
    };
    let number = |key: &str, value: Option<f64>, range| {
        value.map(|value| within(&value.to_string(), range).map_err(|reason| wrong(key, reason))).transpose()
    };
    let tray = |key: &str, value: &Option<String>| -> Result<Option<Region>> {
        value.as_deref().map(|text| region(text).map_err(|reason| wrong(key, reason))).transpose()
    };
    let id = said.id.clone().unwrap_or_default();
    let letters = id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    ensure!(
        letters && (1..=LONGEST_ID).contains(&id.len()),
        wrong("id", format!("{id:?} is no id: say 1 to {LONGEST_ID} small letters, digits or -"))
    );
    let name = said.name.as_deref().map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned);
    ensure!(
        name.as_ref().is_none_or(|name| name.chars().count() <= LONGEST_NAME && !name.contains(char::is_control)),
        wrong("name", format!("it has at most {LONGEST_NAME} letters"))
    );
    let source = said.source.as_deref().map(str::trim).map(str::to_owned);
    if let Some(text) = source.as_deref().filter(|text| *text != sample::NAME) {
        Source::from_str(text).map_err(|error| wrong("source", error.to_string()))?;
    }
    if let Some(name) = &said.calibration {
        Profile::path(name).map_err(|error| wrong("calibration", error.to_string()))?;
    }
    let sides = said.sides.as_deref().map(|text| {
        let (a, b) = pair(text)?;
        SideColours::named(a, b).map_err(|error| error.to_string())
    });
    let discs = said.discs;
    ensure!(
        discs.is_none_or(|discs| (1..=24).contains(&discs)),
        wrong("discs", "say a number from 1 to 24".to_owned())
    );
    let default = Look::default();
    let quiet = number("quiet", said.quiet, 1.0..=86_400.0)?;
    Ok(Plan {
        label: Label { id: id.clone(), name },
        source,
        size_px: said.size.as_deref().map(snap::size).transpose().map_err(|reason| wrong("size", reason))?,
        fps: number("fps", said.fps, 0.1..=240.0)?,
        speed: number("speed", said.speed, 0.1..=100.0)?.unwrap_or(1.0),
        look: Look {
            fov_deg: number("fov", said.fov, 5.0..=170.0)?,
            calibration: said.calibration.clone(),
            sides: sides.transpose().map_err(|reason: String| wrong("sides", reason))?,
            close_level: number("close_level", said.close_level, 1e-9..=0.5)?.unwrap_or(default.close_level),
            discs,
            quiet: quiet.map_or(default.quiet, Duration::from_secs_f64),
            trays: [tray("tray_a", &said.tray_a)?, tray("tray_b", &said.tray_b)?],
            start: None,
        },
        match_id: said.match_id.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::layers::Flags;
    use super::*;

    fn of(text: &str) -> Result<Vec<Plan>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hall.toml");
        std::fs::write(&path, text).unwrap();
        plans(&Effective::read(&Flags { config: Some(path), ..Flags::default() })?)
    }

    #[test]
    fn boards_have_ids_by_their_place_and_what_is_said_of_them() {
        let two = of("[[board]]\nsource = 'sample'\n[[board]]\nid = 'b-2'\nname = ' Table 2 '\nsource = '1'\n\
                      size = '1280x720'\ntray_a = '0,0,9,9'\nsides = 'red,black'\nmatch = '7'\n")
        .unwrap();
        let labels: Vec<_> = two.iter().map(|plan| (plan.label.id.as_str(), plan.label.name.as_deref())).collect();
        assert_eq!(labels, [("1", None), ("b-2", Some("Table 2"))]);
        assert_eq!(
            (two[0].is_sample(), two[1].size_px, two[1].match_id.as_deref()),
            (true, Some((1280, 720)), Some("7"))
        );
        assert!(two[1].look.trays[0].is_some() && two[1].look.sides.is_some());
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_key() {
        for (text, said) in [
            ("[[board]]\nid = 'A b'", "id of board A b"),
            ("[[board]]\nfps = 1000", "fps of board 1"),
            ("[[board]]\nsize = 'big'", "size of board 1"),
            ("[[board]]\ntray_b = '1,2'", "tray_b of board 1"),
            ("[[board]]\nsides = 'red,plaid'", "sides of board 1"),
            ("[[board]]\nsource = 'nowhere.mp4'", "source of board 1"),
            ("[[board]]\ncalibration = '../x'", "calibration of board 1"),
            ("[[board]]\ndiscs = 99", "discs of board 1"),
            ("[[board]]\nsource = '0'\n[[board]]", "board 2 has no source"),
            ("[[board]]\nsource = '0'\n[[board]]\nsource = '0'", "boards 1 and 2 have the source 0"),
            ("[[board]]\nsource = '0'\n[[board]]\nid = '1'\nsource = '1'", "two boards have the id 1"),
        ] {
            let error = format!("{:#}", of(text).unwrap_err());
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
