//! The stories in `stories/`: what once went wrong, as short as it gets, and what is known to go wrong still.

use proving::known::KNOWN;
use proving::story::{self, Story};
use std::path::Path;

fn files() -> Vec<(String, Story)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("stories");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
        let text = std::fs::read_to_string(&path).expect("readable");
        found.push((name, text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))));
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found
}

/// Each comes to a good end, or shows the known fault that names it: when that is mended, the list is to say so.
#[test]
fn stories_that_went_wrong_go_right_now() {
    for (name, story) in files() {
        let outcome = story::run(&story).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(outcome.unknown(&story), None, "{name}");
        for known in KNOWN.iter().filter(|known| known.story == name) {
            let shows = outcome.faults.iter().any(|fault| known.explains(&story, &fault.what));
            assert!(shows, "{name} does not show that {} any more: take it out of the list", known.reason);
        }
    }
}

/// Every known fault has its story.
#[test]
fn known_faults_have_stories() {
    let names: Vec<_> = files().into_iter().map(|(name, _)| name).collect();
    for known in KNOWN {
        assert!(names.iter().any(|name| name == known.story), "no story '{}'", known.story);
    }
}
