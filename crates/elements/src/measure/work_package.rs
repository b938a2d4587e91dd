//! Works for each packet, for nothing: a load for measurements.
//!
//! ```click
//! WorkPackage(S, N, R, PAYLOAD [, KEYWORDS])
//! ```
//!
//! Draws W random numbers for each packet, and then reads at N places that they choose: of the packet or of an array. Passes packets on
//! from each input to the output of the same number. It is FastClick's element; cycles are not counted.
//!
//! Ports: 1 or more inputs, as many outputs. Processing: push. Workers: replicated, an array each.
//!
//! # Arguments
//! - `S` (integer): megabytes of the array.
//! - `N` (integer): reads for each packet.
//! - `R` (integer): per cent of them that go to the packet.
//! - `PAYLOAD` (boolean): whether they go to all of the packet, or to its first 54 bytes.
//! - `W` (integer, default 1): random numbers for each packet.
//! - `ANALYSIS` (boolean): accepted.
//!
//! # Handlers
//! - `cycles_work` (read): random numbers so far.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 100) -> WorkPackage(1, 5, 20, true, W 10) -> Discard
//! ```
//!
//! # See also
//! RandLoad

use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge};
use std::hint::black_box;

/// The class.
pub(crate) const CLASS: Class = Class::new("WorkPackage", create)
    .ports("1-/=")
    .processing("h/h")
    .flow("#/#")
    .doc(include_str!("work_package.rs"));

/// Bytes of Ethernet, IPv4 and TCP headers.
const HEADERS: usize = 54;
const WORDS_PER_MB: usize = 1024 * 1024 / size_of::<u32>();

struct WorkPackage {
    array: Vec<u32>,
    reads: u32,
    /// Per cent of them.
    from_packet: u32,
    payload: bool,
    draws: u32,
    drawn: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut megabytes, mut reads, mut from_packet, mut payload) = (0u16, 0u32, 0u32, false);
    let (mut draws, mut analysis) = (1u32, false);
    config
        .args()
        .required("S", &mut megabytes)
        .required("N", &mut reads)
        .required("R", &mut from_packet)
        .required("PAYLOAD", &mut payload)
        .keyword("W", &mut draws)
        .keyword("ANALYSIS", &mut analysis)
        .finish()?;
    let mut rng = fastrand::Rng::with_seed(config.seed());
    let array = (0..usize::from(megabytes) * WORDS_PER_MB).map(|_| rng.u32(..)).collect();
    Ok(Box::new(WorkPackage { array, reads, from_packet, payload, draws, drawn: 0 }))
}

impl WorkPackage {
    fn work(&self, cx: &mut Cx<'_>, packet: &Packet) {
        let mut number = 0;
        for _ in 0..self.draws {
            number = black_box(cx.rng().u32(..));
        }
        let bytes = &packet.data()[..if self.payload { packet.len() } else { packet.len().min(HEADERS) }];
        for _ in 0..self.reads {
            let place = |len: usize| (number as usize * len) >> 32;
            let in_packet = (u64::from(number) * 100) >> 32 < u64::from(self.from_packet);
            let word = match in_packet {
                true => bytes.get(place(bytes.len())..).and_then(|bytes| bytes.first_chunk()),
                false => None,
            };
            let word = word.map(|word| u32::from_ne_bytes(*word));
            let value = word.or_else(|| self.array.get(place(self.array.len())).copied()).unwrap_or(0);
            number = black_box(value ^ number.rotate_left(8).wrapping_mul(0x9e37_79b9));
        }
    }
}

impl Element for WorkPackage {
    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        batch.iter().for_each(|packet| self.work(cx, packet));
        self.drawn += batch.len() as u64 * u64::from(self.draws);
        cx.emit(port, batch);
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("cycles_work", |e: &mut WorkPackage, _| e.drawn).merged(Merge::Sum);
    }
}
