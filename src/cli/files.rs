//! The pictures that a command line names: files, folders with all below them, and patterns.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// File names that pictures have.
const PICTURES: [&str; 6] = ["jpg", "jpeg", "png", "webp", "heic", "heif"];
/// Names of pictures that are not read, but should not be passed over silently.
const FOREIGN: [&str; 6] = ["avif", "gif", "tif", "tiff", "bmp", "jxl"];

/// What is taken out of folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// Pictures that can be read.
    Readable,
    /// Every picture.
    Every,
}

/// The files named by `given`: a folder stands for the pictures in it and below, by name; a pattern (`night-*/*.jpg`) that
/// the shell left alone for what it matches. A folder or pattern without any stays, and is refused in its turn like every
/// other thing that is no picture. Nothing inside the folder `except` is taken. With [`Take::Every`] what is called like a
/// picture and is no file (a broken link, a pipe) is taken too, to be refused in its turn.
pub fn expand(given: &[PathBuf], take: Take, except: Option<&Path>) -> Vec<PathBuf> {
    let except = except.and_then(|folder| folder.canonicalize().ok());
    let walk = |path: &Path| {
        let mut out = Vec::new();
        below(path, take, except.as_deref(), &mut out);
        out
    };
    let each = |path: &PathBuf| {
        let found: Vec<PathBuf> = if path.is_dir() {
            walk(path)
        } else if path.exists() {
            Vec::new()
        } else {
            let pattern = path.to_string_lossy();
            let direct = |path: &PathBuf| !is_roundabout(path, &pattern);
            let paths = glob::glob(&pattern).into_iter().flatten().flatten().filter(direct);
            let taken = |path: PathBuf| if is_picture(&path, take) { vec![path] } else { Vec::new() };
            paths.flat_map(|path| if path.is_dir() { walk(&path) } else { taken(path) }).collect()
        };
        if found.is_empty() { vec![path.clone()] } else { found }
    };
    given.iter().flat_map(each).collect()
}

/// The whole of a file of at most `most` bytes, however long it says that it is.
///
/// # Errors
/// It cannot be read, or holds more.
pub fn whole(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(most + 1).read_to_end(&mut bytes))
        .with_context(|| format!("reading {}", path.display()))?;
    if bytes.len() as u64 > most {
        bail!("{} holds more than {most} bytes, which is more than any such file has", path.display());
    }
    Ok(bytes)
}

/// Whether the `**` of a pattern found this path by way of a link to a folder, which may lead in a circle.
fn is_roundabout(path: &Path, pattern: &str) -> bool {
    let Some(fixed) = Path::new(pattern).components().position(|part| part.as_os_str() == "**") else { return false };
    let parts: Vec<_> = path.components().collect();
    (fixed + 1..parts.len()).any(|end| parts[..end].iter().collect::<PathBuf>().is_symlink())
}

/// Pictures in `folder` and below, by name. Hidden folders and links to folders are left out: a link may lead in a circle.
fn below(folder: &Path, take: Take, except: Option<&Path>, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    for path in entries {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if hidden {
            continue;
        }
        if path.is_dir() && !path.is_symlink() {
            let excepted = except.is_some_and(|except| path.canonicalize().is_ok_and(|path| path == except));
            if !excepted {
                below(&path, take, except, out);
            }
        } else if is_picture(&path, take) && !path.is_dir() && (take == Take::Every || path.is_file()) {
            out.push(path);
        }
    }
}

fn is_picture(path: &Path, take: Take) -> bool {
    let Some(extension) = path.extension().map(|extension| extension.to_string_lossy().to_lowercase()) else {
        return false;
    };
    let extension = extension.as_str();
    PICTURES.contains(&extension) || (take == Take::Every && FOREIGN.contains(&extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_and_pipes_are_told_and_never_lead_in_circles() {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        std::fs::create_dir_all(path("night/late")).unwrap();
        std::fs::write(path("night/1.jpg"), b"").unwrap();
        std::fs::write(path("night/late/2.jpg"), b"").unwrap();
        symlink("..", path("night/late/round")).unwrap();
        symlink("nowhere.jpg", path("night/broken.jpg")).unwrap();
        symlink("1.jpg", path("night/link.jpg")).unwrap();
        symlink("night", path("same")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(path("night/pipe.jpg")).status().unwrap().success());
        let names = |given: &str, take| -> Vec<String> {
            let found = expand(&[path(given)], take, None);
            found.iter().map(|p| p.strip_prefix(root.path()).unwrap().display().to_string()).collect()
        };
        let readable = ["night/1.jpg", "night/late/2.jpg", "night/link.jpg"];
        assert_eq!(names("night", Take::Readable), readable);
        let every = ["night/1.jpg", "night/broken.jpg", "night/late/2.jpg", "night/link.jpg", "night/pipe.jpg"];
        assert_eq!(names("night", Take::Every), every);
        assert_eq!(names("**/1.jpg", Take::Readable), ["night/1.jpg"]);
        assert_eq!(names("same/**/2.jpg", Take::Readable), ["same/late/2.jpg"]);
    }

    #[test]
    fn folders_and_patterns_stand_for_their_pictures() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        for name in ["b.jpg", "a.PNG", "notes.txt", "old.gif", "night/2.webp", "out/report.jpg", ".hidden/x.jpg"] {
            std::fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            std::fs::write(path(name), b"").unwrap();
        }
        let names = |given: &[PathBuf], take| -> Vec<String> {
            let found = expand(given, take, Some(&path("out")));
            found.iter().map(|p| p.strip_prefix(root.path()).unwrap().display().to_string()).collect()
        };
        let folder = [root.path().to_owned()];
        assert_eq!(names(&folder, Take::Readable), ["a.PNG", "b.jpg", "night/2.webp"]);
        assert_eq!(names(&folder, Take::Every), ["a.PNG", "b.jpg", "night/2.webp", "old.gif"]);
        assert_eq!(names(&[path("*.jpg"), path("n*")], Take::Readable), ["b.jpg", "night/2.webp"]);
        assert_eq!(names(&[path("none-*.jpg"), path("notes.txt")], Take::Readable), ["none-*.jpg", "notes.txt"]);
    }
}
