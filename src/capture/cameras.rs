//! The cameras of this computer, to choose from.

/// A camera that may be opened by its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// N of /dev/videoN.
    pub number: u32,
    /// What its maker calls it, where the system says.
    pub name: Option<String>,
}

/// The cameras that the system knows, by number. Of a camera with several devices only the one that gives pictures.
/// Where the system does not say, the first four numbers are listed: opening them tells.
pub fn cameras() -> Vec<Listed> {
    if !cfg!(target_os = "linux") {
        return (0..4).map(|number| Listed { number, name: None }).collect();
    }
    let entries = std::fs::read_dir("/sys/class/video4linux").into_iter().flatten().flatten();
    let mut cameras: Vec<Listed> = entries
        .filter_map(|entry| {
            let number = entry.file_name().to_str()?.strip_prefix("video")?.parse().ok()?;
            let read = |what: &str| std::fs::read_to_string(entry.path().join(what)).ok();
            // Further devices of a camera give its metadata.
            let is_first = read("index").is_none_or(|index| index.trim() == "0");
            let name = read("name").map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
            is_first.then_some(Listed { number, name })
        })
        .collect();
    cameras.sort_by_key(|camera| camera.number);
    cameras
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cameras_are_listed_once_in_the_order_of_their_numbers() {
        let numbers: Vec<u32> = cameras().into_iter().map(|camera| camera.number).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
    }
}
