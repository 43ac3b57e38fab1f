//! What may be chosen for the service, in the same words as flag, as variable and in the file.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;
use clap::builder::BoolishValueParser;
use crokeye::service::connectors::settings::{Croki, Mqtt, Secret, Settings, Webhook};
use serde::{Deserialize, Serialize};

/// What is chosen for the whole service; what is not said is None.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct House {
    /// Address to listen at; beyond this computer only with a password file [default: 127.0.0.1].
    #[arg(long, value_name = "ADDRESS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<IpAddr>,

    /// Port; 0 for any that is free [default: 8080].
    #[arg(long, value_name = "PORT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,

    /// The database of matches [default: the one of `crokeye match`].
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub db: Option<PathBuf>,

    /// Passwords of viewers and referees, a line each as `crokeye serve --hash-password` writes it.
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password_file: Option<PathBuf>,

    /// Everybody may see scoreboard, overlay and events, although a password is asked for elsewhere.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_parser = BoolishValueParser::new())]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_scoreboard: Option<bool>,

    /// Take a round at once when nothing is close and nothing needs review.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_parser = BoolishValueParser::new())]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_accept: Option<bool>,

    /// The boards; in the file alone.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub board: Vec<Choices>,

    /// Programs that are sent what happens; in the file alone, as are the two that follow.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub webhook: Vec<Webhook>,

    /// The laptop of a Dutch championship.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub croki: Option<Croki>,

    /// A broker of messages.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mqtt: Option<Mqtt>,
}

impl House {
    /// Who elsewhere is told.
    pub fn connectors(&self) -> Settings {
        Settings { webhook: self.webhook.clone(), croki: self.croki.clone(), mqtt: self.mqtt.clone() }
    }

    /// Everything that is kept from others.
    pub fn secrets(&mut self) -> impl Iterator<Item = &mut Secret> {
        let hooks = self.webhook.iter_mut().filter_map(|hook| hook.secret.as_mut());
        let croki = self.croki.iter_mut().map(|croki| &mut croki.api_key);
        hooks.chain(croki).chain(self.mqtt.iter_mut().filter_map(|mqtt| mqtt.password.as_mut()))
    }
}

/// What is chosen for a board; what is not said is None.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[command(next_help_heading = "The board (of several, each has its own in the configuration)")]
pub struct Choices {
    /// Its id in addresses: small letters, digits and - [default: its place, 1 for the first].
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,

    /// Its name on the pages.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,

    /// Camera number, /dev/videoN, rtsp:// or http:// (MJPEG) address, video file, folder of frames, or `sample`
    /// [default: the first camera that works, else sample].
    #[arg(long, short, value_name = "SOURCE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,

    /// Frames a second of a folder; of a camera, what to ask it for.
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fps: Option<f64>,

    /// Picture size to ask a camera for.
    #[arg(long, value_name = "WxH")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,

    /// Horizontal field of view of the pictures, degrees.
    #[arg(long, value_name = "DEGREES")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fov: Option<f64>,

    /// The camera's calibration: calibration/NAME.toml (`crokeye calibrate` writes it).
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<String>,

    /// Play a video, folder or the sample so many times faster than its clock [default: 1].
    #[arg(long, value_name = "TIMES")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,

    /// Colours of side a and side b, as in `crokeye count` [default: learnt from the board].
    #[arg(long, value_name = "A,B")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sides: Option<String>,

    /// Chance of a wrong call that is tolerated [default: 0.001].
    #[arg(long, value_name = "CHANCE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub close_level: Option<f64>,

    /// Discs of a side, where the rule set's number is not what is played.
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discs: Option<u32>,

    /// Rest after which a round is over although not every shot was seen [default: 60].
    #[arg(long, value_name = "SECONDS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet: Option<f64>,

    /// Where side a sets 20s aside, in pixels of the picture: counted as a cross-check.
    #[arg(long, value_name = "X,Y,W,H")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tray_a: Option<String>,

    /// Where side b sets 20s aside.
    #[arg(long, value_name = "X,Y,W,H")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tray_b: Option<String>,

    /// The match to play [default: the one played last, else the newest, if it is not over].
    #[arg(long = "match", value_name = "ID")]
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub match_id: Option<String>,
}
