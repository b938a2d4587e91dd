//! Emulates packet loss on a bad link.
//!
//! ```click
//! IP6Drop([ADDR, ..., KEYWORDS])
//! ```
//!
//! Drops packets by the Gilbert-Elliott model: the link is either good or bad, which may change with each packet, and
//! has a different loss probability in each state. It is FastClick's element, in which the addresses have no effect
//! either.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `P` (number from 0 to 1, default 0): the probability that the link becomes bad after a packet. `R` (default 0):
//!   that it becomes good again.
//! - `K` (number from 0 to 1, default 1): the probability that a packet passes while the link is good. `H` (default
//!   0): while it is bad.
//! - `UNIFORM` (boolean, default false): whether packets are lost independently instead, with probability UDROPRATE.
//! - `DETERMINISTIC` (boolean, default false): whether the first packets of every hundred are lost instead, in the
//!   proportion UDROPRATE.
//! - `UDROPRATE` (number from 0 to 1, default 0.03): the loss rate for UNIFORM and DETERMINISTIC.
//! - `SEED` (integer, default 51): the seed of the random losses.
//! - `ADDR` (IPv6 address): accepted.
//!
//! # Handlers
//! - `count` (read): packets received. `drops` (read): packets lost. `drop_source` (read): always 0, as in FastClick.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 1000) -> d :: IP6Drop(P 0.01, R 0.5) -> Discard
//! ```
//!
//! # See also
//! RandomSample, RandomBitErrors

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Residency, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("IP6Drop", create)
    .processing("h/h")
    .residency(Residency::Exclusive)
    .doc(router::manual!("ip6_drop.rs"));

/// When packets are lost.
enum Model {
    GilbertElliott {
        to_bad: Chance,
        to_good: Chance,
        pass_good: Chance,
        pass_bad: Chance,
    },
    Uniform(Chance),
    /// So many of each hundred.
    Deterministic(u64),
}

/// A probability, in parts of 2^32.
#[derive(Clone, Copy)]
struct Chance(u64);

impl Chance {
    fn new(probability: f64) -> Chance {
        Chance((probability * f64::from(2.0_f32.powi(32))).round() as u64)
    }

    #[inline]
    fn comes(self, random: u32) -> bool {
        u64::from(random) < self.0
    }
}

struct Ip6Drop {
    model: Model,
    rng: fastrand::Rng,
    bad: bool,
    count: u64,
    drops: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut addresses, mut p, mut r, mut h, mut k) = (Vec::new(), 0f64, 0f64, 0f64, 1f64);
    let (mut uniform, mut deterministic, mut rate, mut seed) = (false, false, 0.03f64, 51u16);
    config
        .args()
        .rest(&mut addresses)
        .keyword("P", &mut p)
        .keyword("R", &mut r)
        .keyword("H", &mut h)
        .keyword("K", &mut k)
        .keyword("UNIFORM", &mut uniform)
        .keyword("UDROPRATE", &mut rate)
        .keyword("DETERMINISTIC", &mut deterministic)
        .keyword("SEED", &mut seed)
        .finish()?;
    if [p, r, h, k, rate].iter().any(|share| !(0.0..=1.0).contains(share)) {
        return Err("probabilities must be between 0 and 1".into());
    }
    if deterministic && rate > 0.0 && rate < 0.01 {
        return Err("UDROPRATE must be whole per cents with DETERMINISTIC".into());
    }
    let [to_bad, to_good, pass_bad, pass_good] = [p, r, h, k].map(Chance::new);
    let model = match (deterministic, uniform) {
        (true, _) => Model::Deterministic((rate * 100.0).ceil() as u64),
        (_, true) => Model::Uniform(Chance::new(rate)),
        _ => Model::GilbertElliott { to_bad, to_good, pass_good, pass_bad },
    };
    let rng = fastrand::Rng::with_seed(seed.into());
    Ok(Box::new(PerPacket(Ip6Drop { model, rng, bad: false, count: 0, drops: 0 })))
}

impl Ip6Drop {
    #[inline]
    fn is_lost(&mut self) -> bool {
        match self.model {
            Model::GilbertElliott { to_bad, to_good, pass_good, pass_bad } => {
                let (pass, change) = if self.bad { (pass_bad, to_good) } else { (pass_good, to_bad) };
                let random = self.rng.u64(..);
                self.bad ^= change.comes((random >> 32) as u32);
                !pass.comes(random as u32)
            }
            Model::Uniform(chance) => chance.comes(self.rng.u32(..)),
            Model::Deterministic(of_hundred) => self.count % 100 < of_hundred,
        }
    }
}

impl Simple for Ip6Drop {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, _packet: &mut Packet) -> Verdict {
        self.count += 1;
        if !self.is_lost() {
            return Verdict::Pass;
        }
        self.drops += 1;
        Verdict::Drop("lost, as configured")
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut Ip6Drop, _| e.count);
        h.read("drops", |e: &mut Ip6Drop, _| e.drops);
        h.read("drop_source", |_: &mut Ip6Drop, _| 0);
    }
}
