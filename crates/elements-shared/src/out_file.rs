//! The arguments `OUTFILE` and `CHANNEL` of elements that print: a file that all instances write to, or a channel of messages, instead of
//! standard error.

use device::files::{self, Reserved};
use router::{Config, ConfigError, Cx};
use std::io::{BufWriter, Write};
use std::sync::{Arc, Mutex, MutexGuard};

/// The file of all instances, once it is open.
type Shared = Mutex<Option<BufWriter<Reserved>>>;

/// Where lines go: to a file, or to a channel, of which the default one is standard error.
#[derive(Default)]
pub struct OutFile {
    file: Option<(String, Arc<Shared>)>,
    channel: String,
}

/// What goes to a new configuration.
pub struct Given {
    path: String,
    file: BufWriter<Reserved>,
}

fn lock(shared: &Shared) -> MutexGuard<'_, Option<BufWriter<Reserved>>> {
    shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl OutFile {
    /// The file with this name, which is opened by [`OutFile::open`]; without one, the channel.
    ///
    /// # Errors
    /// The element shares something else already.
    pub fn new(
        config: &mut Config<'_>,
        path: Option<String>,
        channel: String,
    ) -> Result<OutFile, ConfigError> {
        let shared = |path| Ok::<_, ConfigError>((path, config.shared(|| Ok(Shared::default()))?));
        Ok(OutFile { file: path.map(shared).transpose()?, channel })
    }

    /// Opens the file, unless another instance has. What is in it stays until a line is written, or until the element has run and ends.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn open(&self) -> Result<(), ConfigError> {
        let Some((path, shared)) = &self.file else { return Ok(()) };
        let mut file = lock(shared);
        if file.is_none() {
            let opened =
                files::reserve(path).map_err(|error| format!("{path}: {}", device::plain(&error)))?;
            *file = Some(BufWriter::new(opened));
        }
        Ok(())
    }

    /// Writes a line.
    pub fn print(&self, cx: &Cx<'_>, text: &str) {
        let Some((path, shared)) = &self.file else { return cx.info().log.line_on(&self.channel, text) };
        if let Some(file) = &mut *lock(shared)
            && let Err(error) = writeln!(file, "{text}")
        {
            complain(cx, path, &error);
        }
    }

    /// The open file, for the element's namesake in a configuration that replaces this one.
    pub fn give(&self) -> Option<Given> {
        let (path, shared) = self.file.as_ref()?;
        Some(Given { path: path.clone(), file: lock(shared).take()? })
    }

    /// Goes on with the file of a namesake, if it is this one's.
    pub fn adopt(&self, cx: &Cx<'_>, mut given: Given) {
        match self.file.as_ref().filter(|(path, _)| *path == given.path) {
            Some((_, shared)) => *lock(shared) = Some(given.file),
            None => {
                if let Err(error) = given.file.flush() {
                    complain(cx, &given.path, &error);
                }
            }
        }
    }

    /// Writes what is kept back.
    pub fn finish(&self, cx: &Cx<'_>) {
        if !cx.has_run() {
            return;
        }
        if let Some((path, shared)) = &self.file
            && let Some(file) = &mut *lock(shared)
            && let Err(error) = file.flush()
        {
            complain(cx, path, &error);
        }
    }
}

fn complain(cx: &Cx<'_>, path: &str, error: &std::io::Error) {
    cx.error(format_args!("{}: {path}: {}", cx.name(), device::plain(error)));
}
