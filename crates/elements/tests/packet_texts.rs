//! Any text as a description of packets: there are packets or complaints, but nothing panics, and the reader comes to an end.

#[path = "packet_texts/formats.rs"]
mod formats;
#[path = "../../../fuzz/mutations.rs"]
mod mutations;

use elements_testing::run_to_end;
use proptest::prelude::*;
use router::{Clock, Log, Options};
use std::path::Path;

/// Reads a text in each of the formats: how many packets come of it, at most.
fn read(text: &[u8]) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("text");
    std::fs::write(&file, text).expect("writable");
    let known = elements::classes();
    let packets = formats::configurations(&file).map(|config| {
        let layout = router::layout(lang::parse(&config, "text", &[]).graph, &known, 1)
            .unwrap_or_else(|errors| panic!("{}", lang::render_click(&errors)));
        let log = Log::Memory(Default::default());
        let options = Options { clock: Clock::simulated(), log, ..Options::default() };
        let Ok((mut router, _)) = router::build(layout, config, &known, options) else { return 0 };
        run_to_end(&mut router);
        router.finish();
        router.info().log.text().lines().filter(|line| line.contains(" > ")).count()
    });
    packets.max().unwrap_or(0)
}

fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/packet_texts");
    let entries = std::fs::read_dir(folder).expect("a corpus");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("readable")).collect()
}

#[test]
fn corpus_is_replayed() {
    let packets: usize = corpus().iter().map(|text| read(text)).sum();
    assert!(packets >= 8, "{packets} packets");
}

/// A good text with bytes changed, and cut: it gets further than random bytes.
fn changed() -> impl Strategy<Value = Vec<u8>> {
    let changes =
        prop::collection::vec((0usize..700, prop_oneof![any::<u8>(), Just(b'9'), Just(b'-')]), 0..6);
    (0usize..8, changes, 0usize..900).prop_map(|(which, changes, keep)| {
        let mut texts = corpus();
        let at = which % texts.len();
        let mut text = texts.swap_remove(at);
        for (at, byte) in changes {
            if let Some(place) = text.get_mut(at) {
                *place = byte;
            }
        }
        text.truncate(keep);
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn whatever_they_say(text in changed()) {
        read(&text);
    }
}

#[test]
fn texts_that_are_nearly_right() {
    mutations::each("packet_texts", |data| {
        read(data);
    });
}
