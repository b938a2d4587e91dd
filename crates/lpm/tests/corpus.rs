//! Replays the corpus of the fuzz target `route_list`.

use lpm::import;
use std::path::Path;

#[test]
fn corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/route_list");
    let mut routes = 0;
    let mut errors = 0;
    for entry in std::fs::read_dir(folder).expect("a corpus") {
        let data = std::fs::read(entry.expect("an entry").path()).expect("readable");
        match import::read(&data[..], import::Options::default()) {
            Ok(list) => routes += list.v4.len() + list.v6.len(),
            Err(_) => errors += 1,
        }
    }
    assert!(errors >= 2, "{routes} routes, {errors} errors");
}
