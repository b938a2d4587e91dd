//! The last good roster, on disk.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A file that always holds a whole text.
pub(super) struct Cache {
    file: PathBuf,
    /// What it holds, as far as is known.
    held: Option<String>,
}

impl Cache {
    pub(super) fn new(file: impl Into<PathBuf>) -> Cache {
        Cache { file: file.into(), held: None }
    }

    /// What is there, if anything.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub(super) fn read(&mut self) -> Result<Option<String>, String> {
        match device::files::read_to_string(&self.file) {
            Ok(text) => {
                self.held = Some(text.clone());
                Ok(Some(text))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("{}: {error}", self.file.display())),
        }
    }

    /// Keeps a text. A machine that loses power has the old text afterwards, or the new one, and never a part.
    ///
    /// # Errors
    /// It cannot be written; the old text is still there.
    pub(super) fn write(&mut self, text: &str) -> Result<(), String> {
        if self.held.as_deref() == Some(text) {
            return Ok(());
        }
        self.replace(text).map_err(|error| format!("{}: {error}", self.file.display()))?;
        self.held = Some(text.to_owned());
        Ok(())
    }

    fn replace(&self, text: &str) -> std::io::Result<()> {
        let mut name = self.file.clone().into_os_string();
        name.push(".new");
        let new = Path::new(&name);
        let mut file = device::files::create(new)?;
        file.write_all(text.as_bytes())?;
        file.file().sync_all()?;
        std::fs::rename(new, &self.file)?;
        let folder = self.file.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was written is read, by others too; what cannot be written leaves what was there.
    #[test]
    fn a_failed_write_leaves_what_was_written_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("roster");
        let mut cache = Cache::new(&file);
        assert_eq!(cache.read(), Ok(None));
        assert_eq!((cache.write("one"), cache.write("two")), (Ok(()), Ok(())));
        assert_eq!(Cache::new(&file).read(), Ok(Some("two".to_owned())));
        std::fs::create_dir(folder.path().join("roster.new")).expect("in the way");
        assert!(cache.write("three").is_err());
        assert_eq!(Cache::new(&file).read(), Ok(Some("two".to_owned())));
    }
}
