//! Runs configurations that say what comes of them.
//!
//! In such a file a line `//= TEXT` is the next line that elements print; behind a line `//? ELEMENT.HANDLER` it is a line
//! of what that handler says once the run is over. Each runs in simulated time with vectors of 1 and of 32 and on one and
//! on two workers; a line `//! workers 1` keeps it on one.
//!
//! `//! error TEXT` says that the configuration is refused, with a message that has the text. `$DIR` is a directory
//! of the run's own; a line `//< NAME TEXT` is the next line of a file there. Behind a line `//! then` comes another
//! configuration, which runs when the first has come to its end and sees the same files. Behind `//! swap` comes one
//! that takes the place of the one before, as with `hotconfig`: it takes over its elements' state, and time goes on.

use router::{Balance, Call, Classes, Clock, Log, Options, Router};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

/// What a configuration expects.
#[derive(Default)]
struct Expected {
    printed: Vec<String>,
    handlers: Vec<(String, Vec<String>)>,
    errors: Vec<String>,
    workers: Vec<usize>,
    files: Vec<(String, String)>,
}

impl Expected {
    fn read(text: &str) -> Expected {
        let mut expected = Expected { workers: vec![1, 2], ..Expected::default() };
        for line in text.lines() {
            if let Some(path) = line.strip_prefix("//? ") {
                expected.handlers.push((path.trim().to_owned(), Vec::new()));
            } else if let Some(text) = line.strip_prefix("//=") {
                let text = text.strip_prefix(' ').unwrap_or(text).to_owned();
                match expected.handlers.last_mut() {
                    Some((_, lines)) => lines.push(text),
                    None => expected.printed.push(text),
                }
            } else if let Some(text) = line.strip_prefix("//! error ") {
                expected.errors.push(text.to_owned());
            } else if let Some(workers) = line.strip_prefix("//! workers ") {
                expected.workers = workers.split_whitespace().flat_map(str::parse).collect();
            } else if let Some(rest) = line.strip_prefix("//< ") {
                let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
                expected.files.push((name.to_owned(), text.to_owned()));
            }
        }
        expected
    }

    fn is_empty(&self) -> bool {
        self.printed.is_empty() && self.handlers.is_empty() && self.errors.is_empty()
    }

    /// What is otherwise.
    fn differences(&self, found: Result<Actual, String>) -> String {
        let (printed, values) = match found {
            Ok(Actual { .. }) if !self.errors.is_empty() => {
                return format!("  not refused: {:?}\n", self.errors);
            }
            Ok(Actual { printed, values }) => (printed, values),
            Err(messages) => {
                let missing = self.errors.iter().any(|error| !messages.contains(error));
                return if missing || self.errors.is_empty() { messages } else { String::new() };
            }
        };
        let compare = |what: &str, found: &str, expected: &[String]| {
            if found.lines().eq(expected.iter().map(String::as_str)) {
                return String::new();
            }
            let found: Vec<_> = found.lines().collect();
            format!("  {what}found    {found:?}\n  expected {expected:?}\n")
        };
        let handlers = self.handlers.iter().zip(values);
        let handlers = handlers.map(|((path, lines), value)| compare(&format!("{path}: "), &value, lines));
        compare("", &printed, &self.printed) + &handlers.collect::<String>()
    }
}

/// What a configuration printed, and what handlers said in the end.
struct Actual {
    printed: String,
    values: Vec<String>,
}

/// How configurations are run.
struct Form<'a> {
    known: &'a Classes,
    directory: &'a Path,
    workers: usize,
    vector: usize,
}

/// A configuration's part in a file.
struct Act<'a> {
    text: &'a str,
    /// Whether it takes over from the one before.
    swaps: bool,
    expected: Expected,
}

/// Builds a configuration's router.
fn build(text: &str, form: &Form<'_>, clock: Clock) -> Result<Router, String> {
    let Form { known, directory, workers, vector } = *form;
    let parameters = [("DIR".to_owned(), directory.display().to_string())];
    let library = |name: &str, _: &str| {
        let text = std::fs::read_to_string(directory.join(name)).ok()?;
        Some((name.to_owned(), text))
    };
    let options = lang::Options { params: &parameters, library: Some(&library), ..lang::Options::default() };
    let parsed = lang::parse_with(text, "config", &options);
    if parsed.has_errors() {
        return Err(parsed.render_click());
    }
    let refused = |errors: Vec<lang::Diagnostic>| lang::render_click(&errors);
    let layout = router::layout(parsed.graph, known, workers).map_err(refused)?;
    let log = Log::Memory(Default::default());
    let options = Options { workers, vector, clock, log, counted: true, ..Options::default() };
    let (router, found) = router::build(layout, text.to_owned(), known, options).map_err(refused)?;
    let said: Vec<_> = found.into_iter().filter(|found| found.is_message()).collect();
    router.info().log.print(&lang::render_click(&said));
    Ok(router)
}

/// Runs the configurations of a file one after the other: what was otherwise.
fn play(acts: &[Act<'_>], form: &Form<'_>) -> String {
    let (mut differences, mut before, mut clock) = (String::new(), None::<Router>, Clock::simulated());
    for (at, act) in acts.iter().enumerate() {
        act.expected.files.iter().for_each(|(name, line)| append(&form.directory.join(name), line));
        if !act.swaps {
            clock = Clock::simulated();
        }
        let goes_on = acts.get(at + 1).is_some_and(|next| next.swaps);
        let (mut unbalanced, mut left) = (String::new(), None);
        let found = build(act.text, form, clock.clone()).and_then(|mut router| {
            if let Some(mut old) = before.take_if(|_| act.swaps) {
                router.take_over(&mut old).map_err(|error| error.to_string())?;
                left = Some(old.balance());
                old.finish();
            }
            router.run();
            let read = |(path, _): &(String, Vec<String>)| {
                router.call(Call::read(path.as_str(), "")).unwrap_or_else(|error| format!("error: {error}"))
            };
            let values = act.expected.handlers.iter().map(read).collect();
            unbalanced += &imbalances(&router.balance(), left.as_ref());
            if !goes_on {
                router.finish();
            }
            let printed = router.info().log.text().replace(&form.directory.display().to_string(), "$DIR");
            before = Some(router);
            Ok(Actual { printed, values })
        });
        differences += &act.expected.differences(found);
        differences += &unbalanced;
    }
    differences
}

/// Elements whose packets are not all accounted for, also not where one router has taken over from another one.
fn imbalances(now: &Balance, before: Option<&Balance>) -> String {
    let swap = before.map_or(Ok(()), |before| now.check_swap(before));
    let found = [now.check(), swap].into_iter().filter_map(Result::err).flatten();
    found.map(|imbalance| format!("  {imbalance}\n")).collect()
}

/// The configurations of a folder of the repository that expect something: name, text.
pub(crate) fn files(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(folder);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "click"));
    files.sort();
    let read = |file: PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (name, std::fs::read_to_string(&file).expect("readable"))
    };
    files.into_iter().map(read).filter(|(_, text)| !Expected::read(text).is_empty()).collect()
}

/// Runs every configuration of a folder in all its forms: how many there are, and what was otherwise.
pub(crate) fn check(folder: &str, known: &Classes) -> (usize, String) {
    let (files, mut wrong) = (files(folder), String::new());
    let (starts, started) = mpsc::channel();
    std::thread::spawn(|| watch(started));
    for (name, text) in &files {
        let acts: Vec<_> = acts(text).collect();
        let workers = acts[0].expected.workers.iter();
        for (workers, vector) in workers.flat_map(|&workers| [(workers, 1), (workers, 32)]) {
            starts.send(format!("{name}, {workers} workers, vector {vector}")).expect("it watches");
            let directory = tempfile::tempdir().expect("a directory");
            let differences = play(&acts, &Form { known, directory: directory.path(), workers, vector });
            if !differences.is_empty() {
                wrong += &format!("{name}, {workers} workers, vector {vector}\n{differences}");
            }
        }
    }
    (files.len(), wrong)
}

/// Longer than any configuration takes that comes to an end.
const LONGEST: Duration = Duration::from_secs(120);

/// Ends the tests when the configuration that was started last does not come to an end, and says which it is.
fn watch(started: mpsc::Receiver<String>) {
    let mut name = String::new();
    loop {
        match started.recv_timeout(LONGEST) {
            Ok(next) => name = next,
            Err(mpsc::RecvTimeoutError::Disconnected) => return,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                // Not `eprintln!`: what a test prints is kept back until it ends, and this one does not.
                let _ = writeln!(std::io::stderr(), "{name}: still running after {} s", LONGEST.as_secs());
                std::process::exit(1);
            }
        }
    }
}

/// The configurations that run one after the other.
fn acts(text: &str) -> impl Iterator<Item = Act<'_>> {
    text.split("//! then\n").flat_map(|part| {
        let acts = part.split("//! swap\n").enumerate();
        acts.map(|(at, text)| Act { text, swaps: at > 0, expected: Expected::read(text) })
    })
}

fn append(file: &Path, line: &str) {
    let before = std::fs::read_to_string(file).unwrap_or_default();
    std::fs::write(file, before + line + "\n").expect("writable");
}

/// The classes of all elements of a folder's configurations.
#[allow(dead_code)] // one of the tests that use this module asks
pub(crate) fn classes_of(folder: &str) -> BTreeSet<String> {
    let files = files(folder);
    let acts = files.iter().flat_map(|(_, text)| acts(text));
    let elements = acts.flat_map(|act| lang::parse(act.text, "config", &[]).graph.elements);
    elements.map(|element| element.class).collect()
}
