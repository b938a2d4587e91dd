//! Replays the corpus of the fuzz target `capture_read`.

#[path = "../../../fuzz/mutations.rs"]
mod mutations;

use clique_device::capture::Reader;
use std::path::Path;

/// The good records of a file.
fn records(data: &[u8]) -> usize {
    let bytes = Box::new(std::io::Cursor::new(data.to_vec()));
    let Ok(mut reader) = Reader::from_read(bytes, "corpus") else { return 0 };
    let (mut good, mut record) = (0, Vec::new());
    while let Ok(Some(_)) = reader.next(&mut record) {
        good += 1;
    }
    good
}

#[test]
fn damaged_captures_end() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/capture_read");
    let (mut good, mut count) = (0, 0);
    for entry in std::fs::read_dir(folder).expect("a corpus") {
        let data = std::fs::read(entry.expect("an entry").path()).expect("readable");
        good += records(&data);
        count += 1;
    }
    assert!(count >= 5 && good >= 1, "{count} files, {good} records");
}

#[test]
fn captures_that_are_nearly_right() {
    mutations::each("capture_read", |data| {
        records(data);
    });
}
