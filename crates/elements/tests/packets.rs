//! Arbitrary frames through every element of the IP router: nothing panics, and the router goes on forwarding.

#[path = "../../../fuzz/mutations.rs"]
mod mutations;

use device::memory::{Config, Interface, Interfaces};
use proptest::prelude::*;
use router::{Clock, Log, Options, Resources};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const CONFIG: &str = include_str!("../../../conf/ip-router.click");

/// Longer than a router takes for any of these frames.
const LONGEST: Duration = Duration::from_secs(60);

/// Runs frames through a router of its own; how many it took in.
fn forward(frames: &[Vec<u8>]) -> u64 {
    let interfaces: Vec<Arc<Interface>> =
        ["eth0", "eth1", "eth2", "eth3"].map(|name| Interface::new(name, Config::rings(1, 4096))).into();
    let registry = Interfaces::new();
    for interface in &interfaces {
        registry.add(interface.clone()).expect("names differ");
    }
    let known = elements::classes();
    let parsed = lang::parse(CONFIG, "ip-router.click", &[]);
    let layout =
        router::layout(parsed.graph, &known, 1).unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let mut resources = Resources::default();
    resources.insert(registry);
    let log = Log::Memory(Default::default());
    let options = Options { resources, log, clock: Clock::real(), ..Options::default() };
    let (mut router, _) = router::build(layout, CONFIG.to_owned(), &known, options)
        .unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let handle = router.handle();
    let mut sent = 0;
    for (i, frame) in frames.iter().enumerate() {
        sent += u64::from(interfaces[i % 4].inject(0, frame).is_ok());
    }
    let received = || interfaces.iter().map(|i| i.rx_stats().packets).sum::<u64>();
    std::thread::scope(|scope| {
        let (running, start) = (scope.spawn(|| router.run()), Instant::now());
        while received() < sent && !running.is_finished() && start.elapsed() < LONGEST {
            std::thread::sleep(Duration::from_micros(200));
        }
        handle.stop();
        running.join().expect("no element panics");
    });
    received()
}

fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/router_packets");
    let entries = std::fs::read_dir(folder).expect("a corpus");
    entries.map(|entry| std::fs::read(entry.expect("an entry").path()).expect("readable")).collect()
}

#[test]
fn corpus_is_replayed() {
    let frames = corpus();
    assert!(frames.len() >= 6);
    assert_eq!(forward(&frames), frames.len() as u64);
}

/// A good frame, cut and with bytes changed: such frames get further than random bytes.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let changes = prop::collection::vec((0usize..80, any::<u8>()), 0..4);
    (0usize..6, changes, 0usize..80).prop_map(|(which, changes, keep)| {
        let mut frames = corpus();
        frames.sort();
        let mut frame = frames.swap_remove(which % frames.len());
        for (at, byte) in changes {
            if let Some(place) = frame.get_mut(at) {
                *place = byte;
            }
        }
        frame.truncate(keep.max(1));
        frame
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn arbitrary_frames(
        frames in prop::collection::vec(prop_oneof![mutated(), prop::collection::vec(any::<u8>(), 1..200)], 1..100)
    ) {
        prop_assert_eq!(forward(&frames), frames.len() as u64);
    }
}

/// Many in one router: making one takes longer than a frame.
#[test]
fn frames_that_are_nearly_right() {
    let mut frames = Vec::new();
    mutations::each("router_packets", |data| {
        frames.extend((!data.is_empty()).then(|| data[..data.len().min(1500)].to_vec()));
        if frames.len() == 100 {
            assert_eq!(forward(&frames), frames.len() as u64);
            frames.clear();
        }
    });
}
