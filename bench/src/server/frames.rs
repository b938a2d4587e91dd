//! A source of frames of given sizes to random destinations.

use crate::devices::IMIX;
use cluster::sim::trace;
use crossbeam_utils::CachePadded;
use fastrand::Rng;
use packet::Batch;
use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex};
use wire::ipv4::HEADER_LEN;

/// Octets of the ring, at most: more than the caches of one core hold.
const RING: usize = 32 << 20;
/// Frames of the ring, at most.
const FRAMES: usize = 1 << 16;
/// Ethernet's header, and the checksum that hardware adds.
const ETHER: usize = 14;
const FCS: usize = 4;
/// Octets behind an IP header: those of UDP's.
const UDP: usize = 8;

/// Workers that can share a window.
const WORKERS: usize = 2;

/// What each worker has made and what has arrived at it, of the run that goes on: so that several sources can share queues without overflow.
static MADE: [CachePadded<AtomicU64>; WORKERS] = [const { CachePadded::new(AtomicU64::new(0)) }; WORKERS];
static ARRIVED: [CachePadded<AtomicU64>; WORKERS] = [const { CachePadded::new(AtomicU64::new(0)) }; WORKERS];

/// Nothing is under way any more.
pub(super) fn forget_window() {
    MADE.iter().chain(&ARRIVED).for_each(|count| count.store(0, Relaxed));
}

/// Packets of all workers that have not arrived. What arrives is read first, so that it is never less than that.
fn under_way() -> u64 {
    let arrived: u64 = ARRIVED.iter().map(|count| count.load(Relaxed)).sum();
    MADE.iter().map(|count| count.load(Relaxed)).sum::<u64>().saturating_sub(arrived)
}

/// Counts, on each worker, what arrives.
pub(super) const SINK: Class = Class::new("Arrivals", |config| {
    config.args().finish()?;
    Ok(Box::new(Arrivals { count: 0 }))
})
.ports("1/0")
.processing("h/");

struct Arrivals {
    count: u64,
}

impl Element for Arrivals {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.count += batch.len() as u64;
        let here = &ARRIVED[cx.worker() % WORKERS];
        here.store(here.load(Relaxed) + batch.len() as u64, Relaxed);
        cx.consume(batch);
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut Arrivals, _| e.count);
    }
}

/// Makes `LIMIT` packets of `SIZE` octets with Ethernet's checksum, of `imix` or of a `trace`, and stops; `RATE` packets a second, or with 0 as
/// fast as they are taken; with a `WINDOW`, so many are under way at most of all sources together, and [`SINK`]s tell what has arrived. With several
/// outputs a batch goes to each in turn.
///
/// Handler `late` says how late packets were made: half and 99 % of them at most, in nanoseconds.
pub(crate) const CLASS: Class =
    Class::new("Frames", source).ports("0/1-").processing("/h").activity(Activity::Always);

/// Destinations to draw from. A source is made by a line of text, which could not hold them.
static DESTINATIONS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// The rings that were made, which sources share: every worker has one of its own otherwise.
static RINGS: Mutex<Vec<(String, Arc<Ring>)>> = Mutex::new(Vec::new());

/// Sources made from now on draw from these. Rings with others are forgotten.
pub(crate) fn set_destinations(addresses: Vec<u32>) {
    *DESTINATIONS.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = addresses;
    RINGS.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clear();
}

/// Frames, one behind the other.
struct Ring {
    octets: Vec<u8>,
    /// Where each frame begins, and how long it is.
    frames: Vec<(u32, u16)>,
}

struct Frames {
    ring: Arc<Ring>,
    at: usize,
    made: u64,
    limit: u64,
    rate: f64,
    window: u64,
    outputs: usize,
    /// The output of the next batch.
    turn: usize,
    begun_ns: Option<i64>,
    late: hdrhistogram::Histogram<u64>,
}

fn source(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut size, mut limit, mut rate) = (String::new(), 0u64, 0u32);
    let (mut window, outputs) = (0u64, config.outputs());
    config
        .args()
        .required("SIZE", &mut size)
        .required("LIMIT", &mut limit)
        .keyword("RATE", &mut rate)
        .keyword("WINDOW", &mut window)
        .finish()?;
    let late = hdrhistogram::Histogram::new(3).map_err(|_| "no histogram")?;
    let ring = ring(&size)?;
    Ok(Box::new(Frames {
        ring,
        at: 0,
        made: 0,
        limit,
        rate: f64::from(rate),
        window,
        outputs,
        turn: 0,
        begun_ns: None,
        late,
    }))
}

/// Sizes without end. A trace is made once.
pub(super) fn sizes(name: &str) -> Result<Box<dyn Iterator<Item = usize>>, &'static str> {
    static TRACE: LazyLock<Vec<trace::Arrival>> = LazyLock::new(|| {
        trace::make(&trace::Settings { duration_ns: 20_000_000, rate: 8_500_000_000, seed: 1 })
    });
    Ok(match name {
        "imix" => Box::new(IMIX.iter().copied().cycle()),
        // Lengths there are those of IP packets.
        "trace" => Box::new(
            TRACE.iter().cycle().map(|arrival| (usize::from(arrival.bytes) + ETHER + FCS).clamp(64, 1_518)),
        ),
        size => Box::new(std::iter::repeat(size.parse().map_err(|_| "SIZE is a number, imix or trace")?)),
    })
}

fn ring(name: &str) -> Result<Arc<Ring>, &'static str> {
    let mut rings = RINGS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((_, ring)) = rings.iter().find(|(known, _)| known == name) {
        return Ok(ring.clone());
    }
    let (mut octets, mut frames, mut rng) = (Vec::new(), Vec::new(), Rng::with_seed(1));
    let addresses = DESTINATIONS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for size in sizes(name)?.take(FRAMES) {
        let len = size.saturating_sub(FCS).max(ETHER + HEADER_LEN + UDP);
        if octets.len() + len > RING {
            break;
        }
        let to = rng.choice(addresses.iter()).copied().unwrap_or(0x0a00_0202);
        frames.push((octets.len() as u32, len as u16));
        octets.extend(frame(len, to));
    }
    let ring = Arc::new(Ring { octets, frames });
    rings.push((name.to_owned(), ring.clone()));
    Ok(ring)
}

/// A UDP packet in a frame of so many octets.
fn frame(len: usize, to: u32) -> Vec<u8> {
    let mut frame = vec![0; len];
    frame[..ETHER].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
    let ip = &mut frame[ETHER..];
    let ip_len = ip.len();
    ip[..2].copy_from_slice(&[0x45, 0]);
    ip[2..4].copy_from_slice(&(ip_len as u16).to_be_bytes());
    ip[8..10].copy_from_slice(&[64, wire::ip_proto::UDP]);
    ip[12..16].copy_from_slice(&[10, 0, 1, 2]);
    ip[16..20].copy_from_slice(&to.to_be_bytes());
    let sum = wire::checksum::checksum(&ip[..HEADER_LEN]);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    ip[20..24].copy_from_slice(&[3, 232, 7, 208]);
    ip[24..26].copy_from_slice(&((ip_len - HEADER_LEN) as u16).to_be_bytes());
    frame
}

impl Frames {
    /// Packets that are due now, of those that may be made at once; and when the next one is.
    fn due(&mut self, cx: &Cx<'_>) -> (usize, Option<i64>) {
        let most = cx.vector().min((self.limit - self.made) as usize);
        if self.rate == 0.0 {
            return (most, None);
        }
        let now = cx.now_ns();
        let begun = *self.begun_ns.get_or_insert(now);
        let due_ns = |number: u64| begun + (number as f64 * 1e9 / self.rate) as i64;
        let wanted = ((now - begun) as f64 * self.rate / 1e9) as u64 + 1;
        let count = most.min(wanted.saturating_sub(self.made) as usize);
        if count > 0 {
            let late_ns = (now - due_ns(self.made)).max(0).unsigned_abs();
            let _ = self.late.record(late_ns); // it has no upper bound
        }
        (count, Some(due_ns(self.made + count as u64)))
    }
}

impl Element for Frames {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().listen_room(0);
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if self.made == self.limit {
            // What is under way arrives first.
            return if self.window > 0 && under_way() > 0 {
                cx.tasks().schedule()
            } else {
                cx.info().please_stop()
            };
        }
        if !cx.signals().has_room(0) {
            return;
        }
        if self.window > 0 && under_way() + cx.vector() as u64 > self.window {
            return cx.tasks().schedule();
        }
        let (count, next_ns) = self.due(cx);
        let mut batch = cx.batch();
        let ring = self.ring.clone();
        for _ in 0..count {
            let (begin, len) = ring.frames[self.at];
            self.at = if self.at + 1 == ring.frames.len() { 0 } else { self.at + 1 };
            let Some(packet) = cx.pool().packet(&ring.octets[begin as usize..][..usize::from(len)]) else {
                break;
            };
            batch.push(packet);
        }
        self.made += batch.len() as u64;
        let here = &MADE[cx.worker() % WORKERS];
        here.store(here.load(Relaxed) + batch.len() as u64, Relaxed);
        match next_ns.filter(|next_ns| self.made < self.limit && *next_ns > cx.now_ns()) {
            Some(next_ns) => cx.timers().at(0, next_ns),
            None => cx.tasks().schedule(),
        }
        if batch.is_empty() {
            return; // a turn without packets
        }
        cx.emit(self.turn, batch);
        self.turn = if self.turn + 1 == self.outputs { 0 } else { self.turn + 1 };
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.tasks().schedule();
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("late", |e: &mut Frames, _| {
            let late = |share| e.late.value_at_quantile(share);
            format!("{} {}", late(0.5), late(0.99))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{ring, set_destinations};

    /// A ring that was made before the destinations were known has none of them.
    #[test]
    fn rings_have_the_destinations_of_now() {
        let destination = || ring("64").map(|ring| ring.octets[30..34].to_vec());
        assert_eq!(destination(), Ok(vec![10, 0, 2, 2]));
        set_destinations(vec![0xc000_0207]);
        assert_eq!(destination(), Ok(vec![192, 0, 2, 7]));
    }
}
