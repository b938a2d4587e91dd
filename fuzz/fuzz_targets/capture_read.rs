//! Any bytes as a capture or trace of each kind: an error or records, never a panic, never an endless reader.
//!
//! The corpus is replayed by `crates/device/tests/corpus.rs`.

#![no_main]

use device::capture::{Kind, LinkType, Nlanr, Reader};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let dag = [None, Some(LinkType::Ethernet), Some(LinkType::SunAtm)].map(Kind::Dag);
    let nlanr = [Nlanr::Fr, Nlanr::FrPlus, Nlanr::Tsh].map(Kind::Nlanr);
    for kind in [Kind::Capture].into_iter().chain(dag).chain(nlanr) {
        if let Ok(mut reader) = Reader::from_read_as(Box::new(std::io::Cursor::new(data.to_vec())), "fuzz", kind) {
            let mut record = Vec::new();
            while let Ok(Some(_)) = reader.next(&mut record) {
                reader.take_warning();
            }
        }
    }
});
