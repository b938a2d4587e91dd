//! Generates CPU and memory load for each packet, for measurements.
//!
//! ```click
//! WorkPackage(S, N, R, PAYLOAD [, KEYWORDS])
//! ```
//!
//! Draws W random numbers for each packet, and then reads at N places that they determine: in the packet or in an
//! array. Passes packets on from each input to the output of the same number. It is FastClick's element.
//!
//! Ports: 1 or more inputs, as many outputs. Processing: push. Workers: shared; each has its own array.
//!
//! # Arguments
//! - `S` (integer): the size of the array, in megabytes.
//! - `N` (integer): reads for each packet, at most 1,000,000.
//! - `R` (integer): the percentage of reads that go to the packet.
//! - `PAYLOAD` (boolean): whether these go to the whole packet, or to its first 54 bytes.
//! - `W` (integer, default 1): random numbers for each packet, at most 1,000,000.
//! - `ANALYSIS` (boolean, default false): whether to measure how long this takes, by the machine's clock even in
//!   simulated time.
//!
//! # Handlers
//! - `cycles_work` (read): random numbers so far.
//! - `cycles` (read): with ANALYSIS, the nanoseconds that the work has taken; FastClick counts processor cycles.
//! - `cycles_per_work` (read): `cycles` per random number; `nan` before the first one.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 100) -> WorkPackage(1, 5, 20, true, W 10) -> Discard
//! ```
//!
//! # See also
//! CycleCountAccum

use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, Residency};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// The class.
pub(crate) const CLASS: Class = Class::new("WorkPackage", create)
    .ports("1-/=")
    .processing("h/h")
    .flow("#/#")
    .residency(Residency::Shared)
    .doc(router::manual!("work_package.rs"));

/// Bytes of Ethernet, IPv4 and TCP headers.
const HEADERS: usize = 54;
/// Reads for a packet at most, and numbers drawn: it holds its worker up that long.
const STEPS_MAX: u32 = 1_000_000;
const WORDS_PER_MB: usize = 1024 * 1024 / size_of::<u32>();

/// What the work of all workers has taken.
#[derive(Default)]
struct Spent {
    ns: AtomicU64,
    draws: AtomicU64,
}

struct WorkPackage {
    array: Vec<u32>,
    reads: u32,
    /// Per cent of them.
    from_packet: u32,
    payload: bool,
    draws: u32,
    drawn: u64,
    /// Measured if there is one.
    spent: Option<Arc<Spent>>,
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
    if reads.max(draws) > STEPS_MAX {
        return Err(format!("N and W: out of range, bound {STEPS_MAX}").into());
    }
    let mut rng = fastrand::Rng::with_seed(config.seed());
    let array = (0..usize::from(megabytes) * WORDS_PER_MB).map(|_| rng.u32(..)).collect();
    let spent = config.shared(|| Ok(Spent::default()))?;
    let spent = analysis.then_some(spent);
    Ok(Box::new(WorkPackage { array, reads, from_packet, payload, draws, drawn: 0, spent }))
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
        let start = self.spent.is_some().then(Instant::now);
        batch.iter().for_each(|packet| self.work(cx, packet));
        let draws = batch.len() as u64 * u64::from(self.draws);
        self.drawn += draws;
        if let (Some(start), Some(spent)) = (start, &self.spent) {
            spent.ns.fetch_add(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX), Relaxed);
            spent.draws.fetch_add(draws, Relaxed);
        }
        cx.emit(port, batch);
    }

    fn handlers(&self, h: &mut Handlers) {
        type W = WorkPackage;
        h.read("cycles_work", |e: &mut W, _| e.drawn).merged(Merge::Sum);
        h.read("cycles", |e: &mut W, _| e.spent.as_ref().map_or(0, |spent| spent.ns.load(Relaxed)));
        h.read("cycles_per_work", |e: &mut W, _| match e.spent.as_ref() {
            Some(spent) if spent.draws.load(Relaxed) > 0 => {
                format!("{:.4}", spent.ns.load(Relaxed) as f64 / spent.draws.load(Relaxed) as f64)
            }
            _ => "nan".to_owned(),
        });
    }
}
