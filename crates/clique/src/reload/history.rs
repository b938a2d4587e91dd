//! The configurations that have run, newest last.
//!
//! They are kept in the directory `history` of the service's state directory, a file each that only its user may read, since configurations
//! have keys in them; without such a directory, in memory.

use super::request::Listed;
use crate::console::{self, reason};
use click_tools::Text;
use serde::{Deserialize, Serialize};
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Configurations that are kept, at most.
const ENTRIES_MAX: usize = 50;
/// Bytes of their texts, at most, as long as two are kept: the one that runs and the one before.
const BYTES_MAX: usize = 16 << 20;
/// The service manager says here where a service keeps what is to outlive it, see systemd.exec(5).
const VARIABLE: &str = "STATE_DIRECTORY";

/// What put a configuration in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum By {
    /// The program started with it.
    Start,
    /// `clique reload`.
    Reload,
    /// The handler `hotconfig`.
    Hotconfig,
}

/// A configuration that has run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(super) number: u64,
    pub(super) name: String,
    pub(super) text: String,
    pub(super) parameters: Vec<(String, String)>,
    pub(super) loaded_s: u64,
    pub(super) by: By,
    pub(super) note: Option<String>,
    /// The number of the one that ran before it was loaded.
    pub(super) before: Option<u64>,
}

/// The configurations that have run.
pub(super) struct History {
    /// By number.
    entries: Vec<Entry>,
    /// The number of the one that runs.
    running: u64,
    /// The number of one that is not forgotten, since another one is on trial in its place.
    on_trial_for: Option<u64>,
    directory: Option<PathBuf>,
}

impl History {
    /// What is kept in the service's state directory, if there is one.
    pub(super) fn of_service() -> History {
        let states = std::env::var(VARIABLE).unwrap_or_default();
        let state = states.split(':').next().filter(|state| !state.is_empty());
        History::load(state.map(|state| Path::new(state).join("history")))
    }

    /// The same where there is a state directory; otherwise what the process has left whose place this one takes.
    pub(super) fn inherited(entries: Vec<Entry>, running: u64) -> History {
        let history = History::of_service();
        match history.directory {
            Some(_) => History { running, ..history },
            None => History { entries, running, on_trial_for: None, directory: None },
        }
    }

    /// All of it, and the number of the one that runs, for another process.
    pub(super) fn left(&self) -> (Vec<Entry>, u64) {
        let entries = if self.directory.is_some() { Vec::new() } else { self.entries.clone() };
        (entries, self.running)
    }

    fn load(directory: Option<PathBuf>) -> History {
        let mut entries = Vec::new();
        let files = directory.iter().filter_map(|directory| std::fs::read_dir(directory).ok()).flatten();
        for path in files.flatten().map(|file| file.path()) {
            if path.extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            let read = std::fs::read(&path).map_err(|error| reason(&error));
            match read.and_then(|text| serde_json::from_slice::<Entry>(&text).map_err(|e| e.to_string())) {
                Ok(entry) => entries.push(entry),
                Err(why) => console::complain(&format!("{}: {why}\n", path.display())),
            }
        }
        entries.sort_by_key(|entry: &Entry| entry.number);
        entries.dedup_by_key(|entry| entry.number);
        let running = entries.iter().max_by_key(|entry| (entry.loaded_s, entry.number));
        let running = running.map_or(0, |entry| entry.number);
        History { running, entries, on_trial_for: None, directory }
    }

    /// The one that runs.
    pub(super) fn running(&self) -> Option<&Entry> {
        self.find(self.running)
    }

    pub(super) fn find(&self, number: u64) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.number == number)
    }

    /// The one in whose place the one that runs was loaded.
    pub(super) fn before(&self) -> Option<&Entry> {
        self.find(self.running()?.before?)
    }

    /// Notes that a configuration runs; its number, which is the old one if it ran last already.
    pub(super) fn add(
        &mut self,
        by: By,
        name: String,
        text: String,
        parameters: Vec<(String, String)>,
    ) -> u64 {
        let new = Text { name, text };
        if self.runs(&new, &parameters) {
            self.run(self.running);
            return self.running;
        }
        let Text { name, text } = new;
        let number = self.entries.last().map_or(1, |last| last.number + 1);
        let before = self.running().map(|entry| entry.number);
        let (loaded_s, note) = (now_s(), None);
        self.entries.push(Entry { number, name, text, parameters, loaded_s, by, note, before });
        self.running = number;
        self.keep(number);
        self.forget_old();
        number
    }

    /// Whether this text runs, with these parameters.
    pub(super) fn runs(&self, new: &Text, parameters: &[(String, String)]) -> bool {
        self.running().is_some_and(|entry| {
            entry.text == new.text && entry.name == new.name && entry.parameters == parameters
        })
    }

    /// Keeps this one as long as another one is on trial in its place.
    pub(super) fn keep_for_trial(&mut self, number: Option<u64>) {
        self.on_trial_for = number;
    }

    /// Notes that a configuration runs again.
    pub(super) fn run(&mut self, number: u64) {
        self.running = number;
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.number == number) {
            entry.loaded_s = now_s();
        }
        self.keep(number);
    }

    /// Notes what became of a configuration.
    pub(super) fn note(&mut self, number: u64, note: &str) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.number == number) {
            entry.note = Some(note.to_owned());
        }
        self.keep(number);
    }

    /// For a client, the newest last.
    pub(super) fn list(&self) -> Vec<Listed> {
        let listed = |entry: &Entry| Listed {
            number: entry.number,
            name: entry.name.clone(),
            loaded_s: entry.loaded_s,
            by: entry.by,
            runs: entry.number == self.running,
            note: entry.note.clone(),
        };
        self.entries.iter().map(listed).collect()
    }

    /// Forgets the oldest: not the one that runs, nor the one before, nor what a trial may go back to.
    fn forget_old(&mut self) {
        let bytes = |entries: &[Entry]| entries.iter().map(|entry| entry.text.len()).sum::<usize>();
        while self.entries.len() > 2 && (self.entries.len() > ENTRIES_MAX || bytes(&self.entries) > BYTES_MAX)
        {
            let needed = [Some(self.running), self.before().map(|entry| entry.number), self.on_trial_for];
            let old = self.entries.iter().position(|entry| !needed.contains(&Some(entry.number)));
            let Some(old) = old else { return };
            let forgotten = self.entries.remove(old);
            if let Some(file) = self.file(forgotten.number) {
                let _ = std::fs::remove_file(file);
            }
        }
    }

    fn file(&self, number: u64) -> Option<PathBuf> {
        Some(self.directory.as_ref()?.join(format!("{number:08}.json")))
    }

    /// Writes a configuration to its file. Where that fails it is kept in memory only.
    fn keep(&self, number: u64) {
        let (Some(entry), Some(file)) = (self.find(number), self.file(number)) else { return };
        if let Err(error) = write(entry, &file) {
            console::complain(&format!("{}: {}\n", file.display(), reason(&error)));
        }
    }
}

/// Writes a file whole or not at all.
fn write(entry: &Entry, file: &Path) -> io::Result<()> {
    if let Some(directory) = file.parent().filter(|directory| !directory.is_dir()) {
        DirBuilder::new().mode(0o700).create(directory)?;
    }
    let new = file.with_extension("new");
    let _ = std::fs::remove_file(&new);
    let mut output = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    output.write_all(serde_json::to_string(entry)?.as_bytes())?;
    output.sync_all()?;
    std::fs::rename(&new, file)
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn add(history: &mut History, text: &str) -> u64 {
        history.add(By::Reload, "a.click".into(), text.into(), Vec::new())
    }

    /// What has run is there for the next program, unreadable for others, and as many as there is room for; neither the one that runs
    /// nor the one before is forgotten.
    #[test]
    fn a_history_outlives_its_program() {
        let state = tempfile::tempdir().unwrap();
        let directory = state.path().join("history");
        let load = || History::load(Some(directory.clone()));
        let mut history = load();
        assert_eq!((add(&mut history, "one"), add(&mut history, "two"), add(&mut history, "two")), (1, 2, 2));
        history.run(1);
        history.note(2, "not confirmed");
        assert_eq!(add(&mut history, "three"), 3);
        assert_eq!(history.before().map(|entry| entry.number), Some(1), "two did not run before three");
        let mut history = History { running: 1, ..load() };
        assert_eq!(history.entries[1].note.as_deref(), Some("not confirmed"));
        for path in std::fs::read_dir(&directory).unwrap().map(|file| file.unwrap().path()) {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
        }
        for number in 0..60 {
            add(&mut history, &format!("text {number}"));
        }
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), ENTRIES_MAX);
        let big = "x".repeat(BYTES_MAX);
        let before = history.running;
        let number = add(&mut history, &big);
        let kept: Vec<u64> = load().entries.iter().map(|entry| entry.number).collect();
        assert_eq!(kept, [before, number]);
        std::fs::write(directory.join("00000099.json"), "{").unwrap();
        assert_eq!(load().running().map(|entry| entry.number), Some(number), "a bad file is no harm");
    }

    /// What a trial may go back to stays, whatever is loaded by another way meanwhile.
    #[test]
    fn a_trial_has_where_to_go_back_to() {
        let mut history = History::load(None);
        let before = add(&mut history, "before");
        history.keep_for_trial(Some(before));
        add(&mut history, "on trial");
        for number in 0..ENTRIES_MAX {
            add(&mut history, &format!("text {number}"));
        }
        assert!(history.find(before).is_some());
        history.keep_for_trial(None);
        add(&mut history, "the next");
        assert!(history.find(before).is_none(), "it is as old as others");
    }
}
