//! Replays the corpus of the fuzz target `capture_read`.

use clique_device::capture::{Kind, LinkType, Nlanr, Reader};
use std::path::Path;

/// Records of a file read as one of a kind.
fn records(data: &[u8], kind: Kind) -> usize {
    let bytes = Box::new(std::io::Cursor::new(data.to_vec()));
    let Ok(mut reader) = Reader::from_read_as(bytes, "corpus", kind) else { return 0 };
    let (mut good, mut record) = (0, Vec::new());
    while let Ok(Some(_)) = reader.next(&mut record) {
        good += 1;
    }
    good
}

#[test]
fn corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/capture_read");
    let dag = [None, Some(LinkType::Ethernet), Some(LinkType::SunAtm)].map(Kind::Dag);
    let nlanr = [Nlanr::Fr, Nlanr::FrPlus, Nlanr::Tsh].map(Kind::Nlanr);
    let kinds: Vec<Kind> = [Kind::Capture].into_iter().chain(dag).chain(nlanr).collect();
    let mut good = vec![0; kinds.len()];
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("a corpus") {
        let data = std::fs::read(entry.expect("an entry").path()).expect("readable");
        count += 1;
        for (good, kind) in good.iter_mut().zip(&kinds) {
            *good += records(&data, *kind);
        }
    }
    assert!(count >= 10 && good.iter().all(|good| *good >= 1), "{count} files, records {good:?}");
}
