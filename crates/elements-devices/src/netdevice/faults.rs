//! Emulates a bad link.
//!
//! ```click
//! Faults([LOSS, CORRUPT, DUPLICATE, DELAY, JITTER, REORDER, CAPACITY, SEED])
//! ```
//!
//! Put it after a FromDevice or before a ToDevice to see how a configuration or its peers cope with loss, bit errors,
//! duplicates, delay and reordering. Each packet is lost, has a bit flipped, or is duplicated, independently and with
//! the given probabilities. The remaining packets leave after DELAY plus a random time up to JITTER, so JITTER
//! changes their order; a packet chosen for REORDER leaves immediately and overtakes those that wait. The same SEED
//! with the same packets gives the same results.
//!
//! To record the traffic, add a ToDump; to limit the rate, a BandwidthShaper.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `LOSS`, `CORRUPT`, `DUPLICATE`, `REORDER` (probability, default 0).
//! - `DELAY`, `JITTER` (time, default 0).
//! - `CAPACITY` (integer, default 10000): the maximum number of packets waiting; more are dropped.
//! - `SEED` (integer): the seed of the random decisions. The default is the router's seed.
//!
//! # Handlers
//! - `length` (read): packets waiting.
//! - `lost`, `corrupted`, `duplicated`, `reordered` (read): packets affected.
//!
//! # Example
//! ```click
//! TimedSource(0.01) -> Faults(LOSS 0.1, DELAY 20ms, JITTER 5ms, SEED 1) -> Counter -> Discard
//! ```
//!
//! # See also
//! RandomSample, DelayShaper, BandwidthShaper, ToDump

use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Residency};
use std::any::Any;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("Faults", create)
    .processing("h/h")
    .residency(Residency::Exclusive)
    .copies()
    .holds("packets that are delayed")
    .doc(router::manual!("faults.rs"));

/// A packet that waits.
struct Delayed {
    at_ns: i64,
    arrival: u64,
    packet: Packet,
}

impl Delayed {
    fn key(&self) -> (i64, u64) {
        (self.at_ns, self.arrival)
    }
}

/// What leaves first is the greatest.
impl Ord for Delayed {
    fn cmp(&self, other: &Delayed) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Delayed {
    fn partial_cmp(&self, other: &Delayed) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Delayed {
    fn eq(&self, other: &Delayed) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Delayed {}

struct Faults {
    loss: f64,
    corrupt: f64,
    duplicate: f64,
    reorder: f64,
    delay_ns: i64,
    jitter_ns: i64,
    capacity: usize,
    seed: u64,
    rng: fastrand::Rng,
    waiting: BinaryHeap<Delayed>,
    arrivals: u64,
    lost: u64,
    corrupted: u64,
    duplicated: u64,
    reordered: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let [mut loss, mut corrupt, mut duplicate, mut reorder] = [0.0f64; 4];
    let (mut delay, mut jitter) = (Duration::ZERO, Duration::ZERO);
    let (mut capacity, mut seed) = (10_000usize, config.seed());
    config
        .args()
        .keyword("LOSS", &mut loss)
        .keyword("CORRUPT", &mut corrupt)
        .keyword("DUPLICATE", &mut duplicate)
        .keyword("DELAY", &mut delay)
        .keyword("JITTER", &mut jitter)
        .keyword("REORDER", &mut reorder)
        .keyword("CAPACITY", &mut capacity)
        .keyword("SEED", &mut seed)
        .finish()?;
    let probabilities =
        [("LOSS", loss), ("CORRUPT", corrupt), ("DUPLICATE", duplicate), ("REORDER", reorder)];
    for (name, probability) in probabilities {
        if !(0.0..=1.0).contains(&probability) {
            return Err(format!("{name}: a probability is between 0 and 1").into());
        }
    }
    if reorder > 0.0 && delay.is_zero() {
        return Err("REORDER needs a DELAY: without one there is no packet to overtake".into());
    }
    let nanoseconds = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX / 4);
    Ok(Box::new(Faults {
        loss,
        corrupt,
        duplicate,
        reorder,
        delay_ns: nanoseconds(delay),
        jitter_ns: nanoseconds(jitter),
        capacity,
        seed,
        rng: fastrand::Rng::with_seed(seed),
        waiting: BinaryHeap::new(),
        arrivals: 0,
        lost: 0,
        corrupted: 0,
        duplicated: 0,
        reordered: 0,
    }))
}

/// What goes to a new configuration.
struct Handover {
    seed: u64,
    rng: fastrand::Rng,
    waiting: BinaryHeap<Delayed>,
    arrivals: u64,
    counts: [u64; 4],
}

impl Faults {
    fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.rng.f64() < probability
    }

    /// Treats a packet; `out` gets what leaves at once.
    fn treat(&mut self, cx: &mut Cx<'_>, mut packet: Packet, out: &mut Batch) {
        if self.happens(self.loss) {
            self.lost += 1;
            return cx.drop(packet, "lost on purpose");
        }
        if self.happens(self.corrupt) && !packet.is_empty() {
            let bit = self.rng.usize(..packet.len() * 8);
            packet.data_mut()[bit / 8] ^= 1 << (bit % 8);
            self.corrupted += 1;
        }
        if self.happens(self.duplicate)
            && let Some(copy) = cx.pool().copy(&packet)
        {
            self.duplicated += 1;
            self.send(cx, copy, out);
        }
        self.send(cx, packet, out);
    }

    /// Sends a packet, now or later.
    fn send(&mut self, cx: &mut Cx<'_>, packet: Packet, out: &mut Batch) {
        let jitter = if self.jitter_ns > 0 { self.rng.i64(0..=self.jitter_ns) } else { 0 };
        let wait = self.delay_ns.saturating_add(jitter);
        let overtakes = wait > 0 && self.happens(self.reorder);
        self.reordered += u64::from(overtakes);
        if wait == 0 || overtakes {
            if out.is_full() {
                let full = std::mem::replace(out, cx.batch());
                cx.emit(0, full);
            }
            return out.push(packet);
        }
        if self.waiting.len() >= self.capacity {
            return cx.drop(packet, "too many packets wait");
        }
        self.arrivals += 1;
        self.waiting.push(Delayed {
            at_ns: cx.now_ns().saturating_add(wait),
            arrival: self.arrivals,
            packet,
        });
    }

    /// Sets the timer for the packet that leaves next.
    fn watch(&self, cx: &mut Cx<'_>) {
        if let Some(next) = self.waiting.peek() {
            cx.timers().at(0, next.at_ns);
        }
    }
}

impl Element for Faults {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        let mut out = cx.batch();
        batch.drain(|packet| self.treat(cx, packet, &mut out));
        cx.consume(batch);
        self.watch(cx);
        if out.is_empty() { cx.consume(out) } else { cx.emit(0, out) }
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        let mut batch = cx.batch();
        while batch.len() < cx.vector()
            && self.waiting.peek().is_some_and(|next| next.at_ns <= cx.now_ns())
            && let Some(next) = self.waiting.pop()
        {
            batch.push(next.packet);
        }
        self.watch(cx);
        if batch.is_empty() { cx.consume(batch) } else { cx.emit(0, batch) }
    }

    /// What waits leaves when it would have. Random decisions go on where they were, unless there is another seed.
    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Handover {
            seed: self.seed,
            rng: self.rng.clone(),
            waiting: std::mem::take(&mut self.waiting),
            arrivals: self.arrivals,
            counts: [self.lost, self.corrupted, self.duplicated, self.reordered],
        }))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(old) = state.downcast::<Handover>() else { return };
        if self.seed == old.seed {
            self.rng = old.rng;
        }
        self.arrivals = old.arrivals;
        for delayed in old.waiting.into_sorted_vec().into_iter().rev() {
            if self.waiting.len() < self.capacity {
                self.waiting.push(delayed);
            } else {
                cx.drop(delayed.packet, "too many packets wait");
            }
        }
        let [lost, corrupted, duplicated, reordered] = old.counts;
        self.lost += lost;
        self.corrupted += corrupted;
        self.duplicated += duplicated;
        self.reordered += reordered;
        self.watch(cx);
    }

    fn held(&self) -> usize {
        self.waiting.len()
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("length", |e: &mut Faults, _| e.waiting.len());
        h.read("lost", |e: &mut Faults, _| e.lost);
        h.read("corrupted", |e: &mut Faults, _| e.corrupted);
        h.read("duplicated", |e: &mut Faults, _| e.duplicated);
        h.read("reordered", |e: &mut Faults, _| e.reordered);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send_singly;

    /// What became of a hundred numbered packets of eight bytes.
    fn through(arguments: &str) -> (Vec<Vec<u8>>, [String; 4]) {
        // The source stops the driver once, the script when all that waited has left.
        let config =
            format!("Inject -> f :: Faults({arguments}) -> Collect(0); DriverManager(pause, wait 1, stop)");
        let mut flow = send_singly(&config, (0..100u8).map(|i| vec![i, 0, 0, 0, 0, 0, 0, 0]));
        assert_eq!(flow.read("f.length"), "0");
        let counts =
            ["lost", "corrupted", "duplicated", "reordered"].map(|name| flow.read(&format!("f.{name}")));
        (flow.data(0), counts)
    }

    #[test]
    fn each_fault() {
        let numbers = |packets: &[Vec<u8>]| packets.iter().map(|packet| packet[0]).collect::<Vec<_>>();
        let all: Vec<u8> = (0..100).collect();
        let (packets, counts) = through("");
        assert_eq!((numbers(&packets), counts.join(" ")), (all.clone(), "0 0 0 0".into()));
        let (packets, counts) = through("LOSS 0.3, SEED 1");
        assert_eq!(packets.len() as u64 + counts[0].parse::<u64>().unwrap(), 100);
        assert!((50..90).contains(&packets.len()) && numbers(&packets).is_sorted());
        assert_eq!(through("LOSS 0.3, SEED 1").0, packets, "the same seed, the same packets");
        assert_ne!(through("LOSS 0.3, SEED 2").0, packets);
        let (packets, counts) = through("CORRUPT 1");
        let bits = packets.iter().enumerate().map(|(i, packet)| {
            let noise = packet.iter().map(|byte| byte.count_ones()).sum::<u32>();
            noise.abs_diff((i as u8).count_ones())
        });
        assert_eq!((bits.max(), bits_of(&packets), counts[1].as_str()), (Some(1), 100, "100"));
        let (packets, _) = through("DUPLICATE 1");
        assert_eq!(numbers(&packets), (0..100).flat_map(|i| [i, i]).collect::<Vec<_>>());
        assert_eq!(numbers(&through("DELAY 10ms").0), all, "delay keeps the order");
        let (packets, counts) = through("DELAY 10ms, REORDER 0.2, SEED 3");
        let overtook = counts[3].parse::<usize>().unwrap();
        assert!((5..50).contains(&overtook) && packets.len() == 100);
        let [first, last] = [&packets[..overtook], &packets[overtook..]].map(numbers);
        assert!(first.is_sorted() && last.is_sorted());
        let jittered = numbers(&through("DELAY 1ms, JITTER 10ms, SEED 4").0);
        let mut sorted = jittered.clone();
        sorted.sort_unstable();
        assert!(!jittered.is_sorted() && sorted == all);
    }

    /// Packets that differ from what was sent.
    fn bits_of(packets: &[Vec<u8>]) -> usize {
        packets.iter().enumerate().filter(|(i, packet)| **packet != [*i as u8, 0, 0, 0, 0, 0, 0, 0]).count()
    }

    #[test]
    fn bad_arguments_are_refused() {
        assert!(
            errors("Idle -> Faults(LOSS 1.5) -> Discard").contains("LOSS: a probability is between 0 and 1")
        );
        assert!(errors("Idle -> Faults(REORDER 0.5) -> Discard").contains("REORDER needs a DELAY"));
    }
}
