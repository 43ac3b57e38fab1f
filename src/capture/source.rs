//! What a picture can be taken from, as people write it.

use std::path::PathBuf;
use std::str::FromStr;

/// A camera, a video or a folder of frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A camera at this computer: N of /dev/videoN.
    Camera(u32),
    /// A network camera: an rtsp, rtmp, http or https address.
    Address(String),
    /// A video file.
    File(PathBuf),
    /// A folder of frames, played in the order of their names; or what `crokeye watch --record` kept.
    Folder(PathBuf),
}

impl Source {
    /// Does it end by itself? Such a source is played frame by frame, none dropped.
    pub fn is_finite(&self) -> bool {
        matches!(self, Source::File(_) | Source::Folder(_))
    }
}

/// Why a text is no source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// Nothing said.
    #[error("say a camera number, /dev/videoN, an rtsp:// or http:// address, a video file or a folder of frames")]
    Empty,
    /// A path where there is nothing.
    #[error(
        "there is no file {0}: say a camera number, /dev/videoN, an rtsp:// or http:// address, a video file or a folder"
    )]
    NoFile(String),
}

impl FromStr for Source {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SourceError::Empty);
        }
        if let Ok(number) = text.strip_prefix("/dev/video").unwrap_or(text).parse() {
            return Ok(Source::Camera(number));
        }
        let lower = text.to_lowercase();
        if ["rtsp://", "rtsps://", "rtmp://", "http://", "https://"].iter().any(|scheme| lower.starts_with(scheme)) {
            return Ok(Source::Address(text.to_owned()));
        }
        let path = PathBuf::from(text);
        match (path.is_dir(), path.is_file()) {
            (true, _) => Ok(Source::Folder(path)),
            (_, true) => Ok(Source::File(path)),
            _ => Err(SourceError::NoFile(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_told_apart() {
        assert_eq!("0".parse(), Ok(Source::Camera(0)));
        assert_eq!("/dev/video2".parse(), Ok(Source::Camera(2)));
        assert_eq!("RTSP://cam/1".parse(), Ok(Source::Address("RTSP://cam/1".to_owned())));
        assert_eq!("http://phone:8080/video".parse(), Ok(Source::Address("http://phone:8080/video".to_owned())));
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert_eq!(file.parse(), Ok(Source::File(PathBuf::from(file))));
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/samples");
        assert_eq!(folder.parse(), Ok(Source::Folder(PathBuf::from(folder))));
        assert_eq!("nowhere.mp4".parse::<Source>(), Err(SourceError::NoFile("nowhere.mp4".to_owned())));
        assert_eq!(" ".parse::<Source>(), Err(SourceError::Empty));
    }
}
