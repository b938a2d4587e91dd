//! Any bytes as a text that describes packets, in each of the formats: packets or complaints, never a panic, never an endless reader.
//!
//! The corpus is replayed by `crates/elements/tests/packet_texts.rs`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use router::{Clock, Log, Options};

#[path = "../../crates/elements/tests/packet_texts/formats.rs"]
mod formats;

fuzz_target!(|data: &[u8]| {
    let folder = std::env::temp_dir().join(format!("packet-texts-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("text");
    std::fs::write(&file, data).expect("writable");
    let known = elements::classes();
    for config in formats::configurations(&file) {
        let Ok(layout) = router::layout(lang::parse(&config, "text", &[]).graph, &known, 1) else { continue };
        let options = Options { clock: Clock::simulated(), log: Log::Memory(Default::default()), ..Options::default() };
        // What is no such text is refused.
        if let Ok((mut router, _)) = router::build(layout, config, &known, options) {
            router.run();
            router.finish();
        }
    }
});
