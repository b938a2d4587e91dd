//! Replays the corpus of the fuzz target `capture_read`.

use clique_device::capture::Reader;
use std::path::Path;

#[test]
fn corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/capture_read");
    let mut good = 0;
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("a corpus") {
        let data = std::fs::read(entry.expect("an entry").path()).expect("readable");
        count += 1;
        if let Ok(mut reader) = Reader::from_read(Box::new(std::io::Cursor::new(data)), "corpus") {
            let mut record = Vec::new();
            while let Ok(Some(_)) = reader.next(&mut record) {
                good += 1;
            }
        }
    }
    assert!(count >= 5 && good >= 1, "{count} files, {good} records");
}
