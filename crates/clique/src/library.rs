//! Finds the files of `require(library ...)`.
//!
//! A relative name is looked up along a path of directories as Click does it: for each directory D in `D/conf/click`,
//! `D/conf` and D itself. An empty directory in the path stands for the directory of the file that requires the
//! library, and so does an empty path.

use crate::input::read_bounded;
use std::path::{Path, PathBuf};

/// The name and text of a library that the file `from` requires.
pub(crate) fn find(path: &str, name: &str, from: &str) -> Option<(String, String)> {
    let file = locate(path, name, from)?;
    let bytes = device::files::open(&file).and_then(read_bounded).ok()?;
    Some((file.to_string_lossy().into_owned(), lang::bytes::to_text(bytes)))
}

fn locate(path: &str, name: &str, from: &str) -> Option<PathBuf> {
    if name.starts_with('/') {
        return Some(PathBuf::from(name));
    }
    for directory in path.split(':') {
        let places = match directory {
            "" => vec![beside(from)],
            _ => vec![format!("{directory}/conf/click"), format!("{directory}/conf"), directory.to_owned()],
        };
        if let Some(found) = places.iter().map(|place| Path::new(place).join(name)).find(|file| file.exists())
        {
            return Some(found);
        }
    }
    None
}

/// The directory of a file.
fn beside(file: &str) -> String {
    match file.rsplit_once('/') {
        Some((directory, _)) if !directory.is_empty() => directory.to_owned(),
        _ => ".".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_found_in_the_order_of_the_path() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at("a/conf")).unwrap();
        std::fs::create_dir_all(at("b")).unwrap();
        for file in ["a/conf/x", "b/x", "a/y", "b/y", "b/z"] {
            std::fs::write(at(file), file).unwrap();
        }
        let (a, b) = (at("a").display().to_string(), at("b").display().to_string());
        let text = |path: &str, name: &str, from: &str| find(path, name, from).map(|(_, text)| text);
        assert_eq!(text(&format!("{b}:{a}"), "x", "main"), Some("b/x".into()));
        assert_eq!(text(&format!("{a}:{b}"), "x", "main"), Some("a/conf/x".into()));
        assert_eq!(text(&a, "z", &format!("{b}/main")), None, "a path without an empty part is all there is");
        assert_eq!(text(&format!("{a}:"), "z", &format!("{b}/main")), Some("b/z".into()));
        assert_eq!(text("", "y", &format!("{a}/main")), Some("a/y".into()));
    }
}
