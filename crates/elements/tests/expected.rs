//! Configurations that say what comes of them: the examples in `conf/` and the small ones in `tests/conformance/`.
//!
//! In such a file a line `//= TEXT` is the next line that elements print; behind a line `//? ELEMENT.HANDLER` it is a line
//! of what that handler says once the run is over. Each runs in simulated time with vectors of 1 and of 32 and on one and
//! on two workers; a line `//! workers 1` keeps it on one.

use clique_elements as elements;
use router::{Call, Clock, Log, Options};
use std::path::{Path, PathBuf};

/// What a file expects.
#[derive(Default)]
struct Expected {
    printed: Vec<String>,
    handlers: Vec<(String, Vec<String>)>,
    workers: Vec<usize>,
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
            } else if let Some(workers) = line.strip_prefix("//! workers ") {
                expected.workers = workers.split_whitespace().flat_map(str::parse).collect();
            }
        }
        expected
    }

    fn is_empty(&self) -> bool {
        self.printed.is_empty() && self.handlers.is_empty()
    }
}

/// Runs a configuration: what it printed, and what handlers say then.
fn run(
    name: &str,
    text: &str,
    workers: usize,
    vector: usize,
    handlers: &[(String, Vec<String>)],
) -> (String, Vec<String>) {
    let parsed = lang::parse(text, name, &[]);
    assert!(!parsed.has_errors(), "{}", parsed.render_click());
    let known = elements::classes();
    let layout = router::layout(parsed.graph, &known, workers)
        .unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let log = Log::Memory(Default::default());
    let options = Options { workers, vector, clock: Clock::simulated(), log, ..Options::default() };
    let (mut router, _) = router::build(layout, text.to_owned(), &known, options)
        .unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    router.run();
    let read = |(path, _): &(String, Vec<String>)| {
        router.call(Call::read(path.as_str(), "")).unwrap_or_else(|error| format!("error: {error}"))
    };
    let values = handlers.iter().map(read).collect();
    router.finish();
    (router.info().log.text(), values)
}

/// Runs every file of a folder that expects something, in all its forms: how many there were, and what was otherwise.
fn check(folder: &str) -> (usize, String) {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(folder);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "click"));
    files.sort();
    let (mut checked, mut wrong) = (0, String::new());
    let mut compare = |how: String, found: &str, expected: &[String]| {
        if found.lines().ne(expected.iter().map(String::as_str)) {
            wrong += &format!(
                "{how}\n  found    {:?}\n  expected {expected:?}\n",
                found.lines().collect::<Vec<_>>()
            );
        }
    };
    for file in files {
        let text = std::fs::read_to_string(&file).expect("readable");
        let expected = Expected::read(&text);
        if expected.is_empty() {
            continue;
        }
        checked += 1;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for &workers in &expected.workers {
            for vector in [1, 32] {
                let how = format!("{name}, {workers} workers, vector {vector}");
                let (printed, values) = run(&name, &text, workers, vector, &expected.handlers);
                compare(how.clone(), &printed, &expected.printed);
                for ((path, lines), value) in expected.handlers.iter().zip(values) {
                    compare(format!("{how}: {path}"), &value, lines);
                }
            }
        }
    }
    (checked, wrong)
}

#[test]
fn examples_do_what_they_say() {
    let (checked, wrong) = check("conf");
    assert!(wrong.is_empty(), "{wrong}");
    assert!(checked >= 15);
}

#[test]
fn documented_behaviour() {
    let (checked, wrong) = check("tests/conformance");
    assert!(wrong.is_empty(), "{wrong}");
    assert!(checked >= 20);
}
