//! Carries packets between routers on one machine.
//!
//! ```click
//! FromDPDKRing(MEM_POOL, FROM_PROC, TO_PROC [, KEYWORDS])
//! ToDPDKRing(MEM_POOL, FROM_PROC, TO_PROC [, KEYWORDS])
//! ```
//!
//! FromDPDKRing emits the packets sent to a ToDPDKRing in another process, or in its own. Two of them are connected
//! if they have the same two names, in either order. Unlike in FastClick there is no DPDK and no primary process:
//! packets go through a UNIX datagram socket with an abstract name, to which every process of this network namespace
//! can write. Annotations are not transferred. Packets sent while no process receives are dropped, and so are packets
//! that do not fit into the socket's queue of 1000 packets.
//!
//! Ports: FromDPDKRing has 1 output, ToDPDKRing 1 input. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `MEM_POOL` (string): without effect.
//! - `FROM_PROC`, `TO_PROC` (strings): the ring's names.
//! - `BURST`, `NDESC`, `NUMA_ZONE`, `IQUEUE`, `TIMEOUT` (integers): without effect.
//! - `SP_ENQ`, `SC_DEQ`, `FORCE_LOOKUP`, `FORCE_CREATE`, `BLOCKING` (booleans): without effect.
//!
//! # Handlers
//! - `count` (read): packets received, or sent.
//! - `dropped` (read): packets that could not be sent.
//!
//! # Example
//! ```click
//! FromDPDKRing(MEM_POOL 1, FROM_PROC nat_rx, TO_PROC main_tx) -> Counter -> ToDPDKRing(MEM_POOL 2, FROM_PROC nat_tx, TO_PROC main_rx);
//! ```
//!
//! # See also
//! Socket, FromDevice, FromDPDKDevice

use super::socket::{self, Socket};
use packet::Batch;
use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Residency};

/// The class that receives.
pub(crate) const FROM: Class = Class::new("FromDPDKRing", create)
    .ports("0/1")
    .processing("/h")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .makes("packets")
    .absorbs("packets")
    .holds("packets that wait to be sent")
    .doc(router::manual!("dpdk_ring.rs"));

/// The one that sends.
pub(crate) const TO: Class = Class { name: "ToDPDKRing", ports: "1/0", processing: "h/", ..FROM };

struct Ring(Socket);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut pool, mut from, mut to) = (None::<String>, String::new(), String::new());
    let (mut numbers, mut switches) = ([0_i32; 5], [false; 5]);
    let [burst, descriptors, zone, queue, timeout] = &mut numbers;
    let [single_in, single_out, lookup, make, blocking] = &mut switches;
    let args = config
        .args()
        .positional("MEM_POOL", &mut pool)
        .required("FROM_PROC", &mut from)
        .required("TO_PROC", &mut to)
        .keyword("BURST", burst)
        .keyword("NDESC", descriptors)
        .keyword("NUMA_ZONE", zone)
        .keyword("SP_ENQ", single_in)
        .keyword("SC_DEQ", single_out)
        .keyword("FORCE_LOOKUP", lookup)
        .keyword("FORCE_CREATE", make);
    if config.outputs() == 0 {
        args.keyword("IQUEUE", queue).keyword("BLOCKING", blocking).keyword("TIMEOUT", timeout).finish()?;
    } else {
        args.finish()?;
    }
    if from.is_empty() || to.is_empty() {
        return Err("FROM_PROC and TO_PROC must not be empty".into());
    }
    Ok(Box::new(Ring(socket::datagrams(config, &name(&from, &to))?)))
}

/// The name of the socket of a ring: each end calls itself the first.
fn name(from: &str, to: &str) -> String {
    let (first, second) = if from < to { (from, to) } else { (to, from) };
    format!("@clique ring {first} {second}")
}

impl Element for Ring {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.0.initialize(cx)
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        self.0.push(cx, port, batch);
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        self.0.run_task(cx);
    }

    fn held(&self) -> usize {
        self.0.held()
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut Ring, _| e.0.carried());
        h.read("dropped", |e: &mut Ring, _| e.0.refused());
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build_at, errors};
    use router::{Call, Clock, Resources};

    #[test]
    fn bad_arguments_are_refused() {
        for (arguments, error) in [
            ("1, a", "TO_PROC: required argument missing"),
            ("1, \"\", b", "FROM_PROC and TO_PROC must not be empty"),
            ("1, a, b, BLOCKING true", "BLOCKING: unknown argument"),
            (&format!("1, a, {}", "x".repeat(100)), "too long"),
        ] {
            let said = errors(&format!("FromDPDKRing({arguments}) -> Discard"));
            assert!(said.contains(error), "{said}");
        }
    }

    /// Ends that name each other find each other; what is sent to an end that is not there is dropped.
    #[test]
    fn ends_meet() {
        let id = std::process::id();
        let config = format!(
            "TimedSource(0.01, hello) -> t :: Tee
               -> to :: ToDPDKRing(MEM_POOL 1, FROM_PROC main{id}, TO_PROC nat{id}, IQUEUE 64, BLOCKING true);
             t[1] -> lost :: ToDPDKRing(1, main{id}, nobody{id});
             from :: FromDPDKRing(MEM_POOL 2, FROM_PROC nat{id}, TO_PROC main{id}, BURST 32)
               -> Counter(COUNT_CALL 3 stop) -> Print(got) -> Discard;
             Script(wait 10, stop)"
        );
        let mut router =
            build_at(&config, 1, 32, Clock::real(), Resources::default()).unwrap_or_else(|e| panic!("{e}"));
        router.run();
        let mut read = |path: &str| router.call(Call::read(path, "")).unwrap().parse::<u64>().unwrap();
        assert!(read("to.count") >= 3 && read("from.count") >= 3);
        assert!(read("lost.dropped") >= 3 && read("lost.count") == 0);
        assert!(router.info().log.text().contains("got:    5 | 68656c6c 6f"));
    }
}
