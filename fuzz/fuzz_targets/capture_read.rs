//! Any bytes as a capture: an error or records, never a panic, never an endless reader.
//!
//! The corpus is replayed by `crates/device/tests/corpus.rs`.

#![no_main]

use device::capture::Reader;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(mut reader) = Reader::from_read(Box::new(std::io::Cursor::new(data.to_vec())), "fuzz") {
        let mut record = Vec::new();
        while let Ok(Some(_)) = reader.next(&mut record) {}
    }
});
