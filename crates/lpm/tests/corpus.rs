//! Replays the corpora of the fuzz targets `route_list`, `mrt_read` and `route_tables`.

#[path = "../../../fuzz/mutations.rs"]
mod mutations;
mod operations;
mod round_trip;

use lpm::import::{self, mrt};
use std::path::Path;

/// The entries of a corpus: name and bytes.
fn corpus(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let entries = std::fs::read_dir(folder).expect("a corpus").map(|entry| {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, std::fs::read(path).expect("readable"))
    });
    entries.collect()
}

/// Names that begin with `bad` have something that cannot be used, all others are lists.
#[test]
fn every_route_list_of_the_corpus_is_read_or_refused() {
    for (name, data) in corpus("route_list") {
        let read = import::read(&data[..], import::Options::default()).and_then(import::List::strict);
        assert_eq!(read.is_err(), name.starts_with("bad"), "{name}: {read:?}");
        if let Ok(list) = read {
            assert!(!list.is_empty(), "{name}");
        }
    }
}

#[test]
fn every_mrt_file_of_the_corpus_is_read_or_refused() {
    for (name, data) in corpus("mrt_read") {
        let mut events = 0;
        let faults = mrt::read(&data, &mut |_| events += 1);
        assert_eq!(!faults.is_empty(), name.starts_with("bad"), "{name}: {faults:?}");
        assert!(events > 0 || !faults.is_empty(), "{name}");
    }
}

#[test]
fn operations_of_the_corpus_agree() {
    let steps: usize = corpus("route_tables").into_iter().map(|(_, data)| operations::run(&data)).sum();
    assert!(steps > 1000, "{steps}");
}

#[test]
fn route_lists_that_are_nearly_right() {
    mutations::each("route_list", round_trip::run);
}

#[test]
fn mrt_files_that_are_nearly_right() {
    mutations::each("mrt_read", |data| round_trip::same(&mrt::list(data)));
}

/// Bytes that are looked at: the table, and 64 operations, as the fuzz target has it.
const BYTES: usize = 1 + 64 * 8;

#[test]
fn operations_that_are_nearly_right() {
    mutations::each("route_tables", |data| {
        operations::run(&data[..data.len().min(BYTES)]);
    });
}
