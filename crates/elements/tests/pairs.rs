//! Random packets through every element, and through pairs of elements: nothing panics, and every run comes to its end.
//!
//! `tests/stages.txt` has the elements. Sums that overflow panic, too, as tests are compiled. What a fuzzer finds
//! (`fuzz/fuzz_targets/element_pairs.rs`) is in a corpus, which is replayed here.

mod headers;
#[path = "../../../fuzz/mutations.rs"]
mod mutations;
mod stages;

use packet::Anno;
use router::{Activity, Class, Classes, Config, ConfigError, Cx, Element, Residency};
use stages::{BEFORE, Stage, stages, story};
use std::sync::LazyLock;

/// Packets of a run.
const PACKETS: u32 = 96;
/// Pairs that are tried, and the seed that chooses them: some of all, others in each run of the tests would not help
/// to reproduce a failure. The variables PAIRS and SEED say otherwise, for a search that lasts longer.
const PAIRS: u64 = 1_000;
const SEED: u64 = 1;

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

/// Emits packets of all kinds, most of them nearly right, and stops the driver.
const HOSTILE: Class = Class::new("Hostile", create)
    .ports("0/1")
    .processing("/h")
    .activity(Activity::Always)
    .residency(Residency::Exclusive);

struct Hostile {
    rng: fastrand::Rng,
    left: u32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut seed, mut left) = (0u32, 0u32);
    config.args().required("SEED", &mut seed).required("LIMIT", &mut left).finish()?;
    Ok(Box::new(Hostile { rng: fastrand::Rng::with_seed(seed.into()), left }))
}

/// Beginnings of packets, with lengths and checksums that fit or do not.
const GOOD: [&str; 9] = [
    "020000000002020000000001080045000022000000004011a5c90a0000010a00010204d20035000e0000",
    "0200000000020200000000018100000708004500001c",
    "ffffffffffff020000000001080600010800060400010200000000010a0000010000000000000a0000fe",
    "4500002e00000000ff1165ba0a0000010a00010204d20035001a0000",
    "4600003200000000ff06000001020304050607080707040a000000004d2005000000001000000025002ffff0000",
    "4500003c00002000ff0165ba0a0000010a00010208000000000100014500001c000000004011a5c90a0000020a000103",
    "6000000000201140200100000000000000000000000000012001000000000000000000000000000204d2003500200000",
    "60000000002000402001000000000000000000000000000120010000000000000000000000000002060005020000010011000001",
    "6000000000203aff20010000000000000000000000000001ff0200000000000000000001ff00000287000000000000002001",
];

fn bytes(text: &str) -> Vec<u8> {
    let digit =
        |at: usize| text.as_bytes().get(at).map_or(0, |&c| (c as char).to_digit(16).unwrap_or(0) as u8);
    (0..text.len() / 2).map(|i| digit(2 * i) << 4 | digit(2 * i + 1)).collect()
}

impl Hostile {
    fn data(&mut self) -> Vec<u8> {
        let rng = &mut self.rng;
        let mut data = bytes(GOOD[rng.usize(0..GOOD.len())]);
        let longer = [0, 4, 40, 1400][rng.usize(0..4)];
        data.extend((0..rng.usize(0..=longer)).map(|_| rng.u8(..)));
        for _ in 0..rng.usize(0..4) {
            let at = rng.usize(0..data.len().min(64));
            data[at] = [0, 0xff, rng.u8(..), data[at] ^ 1 << rng.u8(0..8)][rng.usize(0..4)];
        }
        if rng.u8(0..4) == 0 {
            data.truncate(rng.usize(0..data.len()));
        }
        data
    }
}

impl Element for Hostile {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if self.left == 0 {
            return cx.info().please_stop();
        }
        let mut batch = cx.batch();
        for _ in 0..self.left.min(8) {
            self.left -= 1;
            let data = self.data();
            let Some(mut packet) = cx.pool().packet(&data) else { continue };
            packet.set_anno(Anno::PAINT, self.rng.u64(..));
            packet.set_anno(Anno::EXTRA_LENGTH, self.rng.u64(..) & 0x3f);
            if self.rng.bool() {
                let start = self.rng.usize(0..=packet.len());
                packet.set_network(start as isize, self.rng.usize(0..80));
            }
            batch.push(packet);
        }
        cx.tasks().schedule();
        cx.emit(0, batch);
    }
}

static KNOWN: LazyLock<Classes> = LazyLock::new(|| stages::known(&elements::classes(), Some(&HOSTILE)));

fn run(config: &str, vector: usize) -> u64 {
    stages::run(config, vector, &KNOWN)
}

fn through(chosen: &[Stage], before: &str, seed: usize) -> String {
    stages::through(&format!("Hostile({seed}, {PACKETS})"), before, chosen)
}

#[test]
fn each_stage_runs_alone() {
    for (seed, stage) in stages().iter().enumerate() {
        for (i, before) in BEFORE.iter().enumerate() {
            let (config, vector) = (through(&[*stage], before, seed), [1, 32][(seed + i) % 2]);
            assert!(run(&config, vector) > 2, "no packets: {config}");
        }
    }
}

/// Classes that take packets, but need an interface or another program, or keep the router from starting.
const ELSEWHERE: [&str; 17] = [
    "Error",
    "KernelTap",
    "KernelTun",
    "McastSocket",
    "RawSocket",
    "Socket",
    "ToDPDKDevice",
    "ToDPDKDeviceXCHG",
    "ToDPDKRing",
    "ToDevice",
    "ToHost",
    "ToMemory",
    "ToNetmapDevice",
    "ToRawSocket",
    "ToSocket",
    "ToXDP",
    "XDPToDevice",
];

/// No class with an input was forgotten.
#[test]
fn every_class_has_a_stage() {
    let text: String = stages().iter().map(|stage| format!("{} ", stage.text)).collect();
    let words: std::collections::HashSet<&str> =
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let known = elements::classes();
    let takes = |class: &&Class| !class.ports.starts_with("0/");
    let missing: Vec<&str> = (known.iter().filter(takes).map(|class| class.name))
        .filter(|name| !words.contains(name) && !ELSEWHERE.contains(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Now and then another router takes the first one's place.
#[test]
fn in_pairs() {
    let (stages, mut rng) = (stages(), fastrand::Rng::with_seed(setting("SEED", SEED)));
    for seed in 0..setting("PAIRS", PAIRS) as usize {
        let pair = [stages[rng.usize(0..stages.len())], stages[rng.usize(0..stages.len())]];
        let config = through(&pair, BEFORE[rng.usize(0..BEFORE.len())], seed);
        stages::run_times(1 + u32::from(seed % 8 == 0), &config, [1, 32][rng.usize(0..2)], &KNOWN);
    }
}

/// Routers take over what elements have kept of all kinds of packets, and go on with it.
#[test]
fn a_replaced_router_goes_on_with_what_was_kept() {
    for (seed, stage) in stages().iter().enumerate() {
        let config = through(&[*stage], BEFORE[seed % BEFORE.len()], seed);
        let (once, twice) = (run(&config, 32), stages::run_times(2, &config, 32, &KNOWN));
        assert!(twice > once, "no packets: {config}");
    }
}

#[test]
fn corpus_is_replayed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/element_pairs");
    let mut replayed = 0;
    for entry in std::fs::read_dir(folder).expect("a corpus") {
        let bytes = std::fs::read(entry.expect("an entry").path()).expect("readable");
        let (config, vector) = story(&bytes).expect("a story");
        assert!(run(&config, vector) > 0, "{config}");
        replayed += 1;
    }
    assert!(replayed >= 20);
}

#[test]
fn stories_that_are_nearly_right() {
    let known = stages::known(&elements::classes(), None);
    mutations::each("element_pairs", |data| {
        if let Some((config, vector)) = story(data) {
            stages::run(&config, vector, &known);
        }
    });
}
