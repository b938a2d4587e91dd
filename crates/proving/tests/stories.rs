//! The stories in `stories/`: what once went wrong, as short as it gets, and what a mutation needs.

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

/// Each comes to a good end.
#[test]
fn stories_that_went_wrong_go_right_now() {
    for (name, story) in files() {
        let outcome = story::run(&story).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(outcome.fault(), None, "{name}");
    }
}
