//! What a [`Watcher`](super::Watcher) is told, and its line in a recording.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::event::CameraState;
use super::gate::Glimpse;

/// One thing that the watcher is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Number of the frame, from 0.
    pub frame: u64,
    /// Time on the source's clock.
    pub at: Duration,
    /// What there is to be told.
    pub what: Told,
}

/// What there is to be told.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// What a frame shows.
    Glimpse(Glimpse),
    /// A person pressed a key.
    Key(Key),
    /// The source fails or comes back.
    Camera(CameraState),
    /// The source has ended.
    End,
}

/// What a person may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    /// The round is over.
    EndRound,
    /// Look again.
    Look,
}

/// An input in a recording: one JSON object a line, pictures in files of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Number of the frame.
    pub frame: u64,
    /// Microseconds on the source's clock.
    pub at_us: u64,
    /// What was told.
    #[serde(flatten)]
    pub seen: Seen,
}

/// What was told, with the names of pictures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "seen", rename_all = "snake_case")]
pub enum Seen {
    /// See [`Glimpse::Search`].
    Search {
        /// File name.
        picture: String,
    },
    /// See [`Glimpse::Moving`].
    Moving,
    /// See [`Glimpse::Resting`].
    Resting,
    /// See [`Glimpse::Still`].
    Still {
        /// File name.
        picture: String,
        /// Frames in it.
        frames: u32,
        /// Was this rest judged before?
        refined: bool,
    },
    /// See [`Glimpse::Hole`].
    Hole {
        /// File name.
        picture: String,
    },
    /// See [`Glimpse::Dark`].
    Dark,
    /// See [`Key`].
    Key {
        /// Which one.
        key: Key,
    },
    /// See [`CameraState`].
    Camera {
        /// Which one.
        state: CameraState,
    },
    /// The source has ended.
    End,
}

impl Input {
    /// The line of this input, its picture kept as `picture`.
    pub fn line(&self, picture: &str) -> Line {
        let picture = picture.to_owned();
        let seen = match &self.what {
            Told::Glimpse(Glimpse::Search(_)) => Seen::Search { picture },
            Told::Glimpse(Glimpse::Moving) => Seen::Moving,
            Told::Glimpse(Glimpse::Resting) => Seen::Resting,
            Told::Glimpse(Glimpse::Still { frames, refined, .. }) => {
                Seen::Still { picture, frames: *frames, refined: *refined }
            }
            Told::Glimpse(Glimpse::Hole(_)) => Seen::Hole { picture },
            Told::Glimpse(Glimpse::Dark) => Seen::Dark,
            Told::Key(key) => Seen::Key { key: *key },
            Told::Camera(state) => Seen::Camera { state: *state },
            Told::End => Seen::End,
        };
        Line { frame: self.frame, at_us: self.at.as_micros() as u64, seen }
    }

    /// The picture that goes with it.
    pub fn picture(&self) -> Option<&image::RgbImage> {
        match &self.what {
            Told::Glimpse(Glimpse::Search(rgb) | Glimpse::Hole(rgb) | Glimpse::Still { rgb, .. }) => Some(rgb),
            _ => None,
        }
    }
}

impl Line {
    /// Name of the file that holds the picture.
    pub fn picture(&self) -> Option<&str> {
        match &self.seen {
            Seen::Search { picture } | Seen::Hole { picture } | Seen::Still { picture, .. } => Some(picture),
            _ => None,
        }
    }

    /// The input again, with its picture (an empty one where it needs none).
    pub fn input(&self, rgb: image::RgbImage) -> Input {
        let what = match &self.seen {
            Seen::Search { .. } => Told::Glimpse(Glimpse::Search(rgb)),
            Seen::Moving => Told::Glimpse(Glimpse::Moving),
            Seen::Resting => Told::Glimpse(Glimpse::Resting),
            Seen::Still { frames, refined, .. } => {
                Told::Glimpse(Glimpse::Still { rgb, frames: *frames, refined: *refined })
            }
            Seen::Hole { .. } => Told::Glimpse(Glimpse::Hole(rgb)),
            Seen::Dark => Told::Glimpse(Glimpse::Dark),
            Seen::Key { key } => Told::Key(*key),
            Seen::Camera { state } => Told::Camera(*state),
            Seen::End => Told::End,
        };
        Input { frame: self.frame, at: Duration::from_micros(self.at_us), what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::RgbImage;

    #[test]
    fn an_input_comes_back_from_its_line() {
        let rgb = RgbImage::new(2, 2);
        let glimpses = [
            Glimpse::Search(rgb.clone()),
            Glimpse::Moving,
            Glimpse::Resting,
            Glimpse::Still { rgb: rgb.clone(), frames: 5, refined: true },
            Glimpse::Hole(rgb.clone()),
            Glimpse::Dark,
        ];
        let mut all: Vec<Told> = glimpses.map(Told::Glimpse).into();
        all.extend([Told::Key(Key::EndRound), Told::Camera(CameraState::Lost), Told::End]);
        for what in all {
            let input = Input { frame: 7, at: Duration::from_micros(123_457), what };
            let text = serde_json::to_string(&input.line("f.png")).unwrap();
            let line: Line = serde_json::from_str(&text).unwrap();
            assert_eq!(line.picture().is_some(), input.picture().is_some());
            assert_eq!(line.input(rgb.clone()), input, "{text}");
        }
    }
}
