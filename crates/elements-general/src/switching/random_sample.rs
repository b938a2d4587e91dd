//! Passes a random sample of the packets.
//!
//! ```click
//! RandomSample([P, KEYWORDS])
//! ```
//!
//! Each packet passes with probability P. The others leave by output 1 if it is connected, and are dropped otherwise.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic, but output 1 is push. Workers: replicated; drops add up.
//!
//! # Arguments
//! - `P` (number from 0 to 1): the probability that a packet passes. `SAMPLE` is another name.
//! - `DROP` (number from 0 to 1): the probability that it does not, instead of P.
//! - `ACTIVE` (boolean, default true): whether to sample; otherwise all packets pass.
//!
//! # Handlers
//! - `sampling_prob`, `drop_prob` (read, write): the probabilities.
//! - `active` (read, write): the argument.
//! - `drops` (read): packets that did not pass.
//! - `config` (read): the arguments.
//!
//! # Example
//! ```click
//! InfiniteSource -> RandomSample(DROP 0.01) -> Discard
//! ```
//!
//! # See also
//! RandomSwitch, RandomBitErrors

use elements_shared::fraction::Fraction;
use elements_shared::verdict::reject;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Flags, Handlers, Merge, PerPacket, Simple, Verdict};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class = Class::new("RandomSample", create)
    .ports("1/1-2")
    .processing("a/ah")
    .live()
    .doc(router::manual!("random_sample.rs"));

/// Bits behind the point that probabilities have.
const BITS: u32 = 28;
type Probability = Fraction<BITS>;

struct RandomSample {
    sample: Probability,
    active: bool,
    drops: u64,
    second: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut p, mut sample, mut drop) = (None::<Probability>, None::<Probability>, None::<Probability>);
    let mut active = true;
    config
        .args()
        .positional("P", &mut p)
        .keyword("SAMPLE", &mut sample)
        .keyword("DROP", &mut drop)
        .keyword("ACTIVE", &mut active)
        .finish()?;
    if sample.is_some() && drop.is_some() {
        return Err("give at most one of SAMPLE and DROP".into());
    }
    let dropped = drop.and_then(Fraction::complement);
    let sample = sample.or(dropped).or(p).filter(|p| p.complement().is_some());
    let sample = sample.ok_or("sampling probability must be between 0 and 1")?;
    let second = config.outputs() > 1;
    Ok(Box::new(PerPacket(RandomSample { sample, active, drops: 0, second })))
}

impl Simple for RandomSample {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, _packet: &mut Packet) -> Verdict {
        if !self.active || self.sample.happens(cx) {
            return Verdict::Pass;
        }
        self.drops += 1;
        reject(self.second, "not in the sample")
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.drops))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        self.drops += state.downcast_ref::<u64>().copied().unwrap_or_default();
    }

    fn handlers(&self, h: &mut Handlers) {
        type R = RandomSample;
        let read = |cx: &Cx<'_>, text: &str| -> Result<Probability, String> {
            let p: Option<Probability> = router::value(cx, text).ok();
            let p = p.filter(|p| p.complement().is_some());
            p.ok_or_else(|| "Must be given a number between 0.0 and 1.0".to_owned())
        };
        h.read("sampling_prob", |e: &mut R, _| e.sample);
        h.read("drop_prob", |e: &mut R, _| e.sample.complement().unwrap_or_default());
        h.write("sampling_prob", move |e: &mut R, cx, text| {
            e.sample = read(cx, text)?;
            Ok(())
        });
        h.write("drop_prob", move |e: &mut R, cx, text| {
            e.sample = read(cx, text)?.complement().unwrap_or_default();
            Ok(())
        });
        h.read("active", |e: &mut R, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut R, cx, text| {
            e.active = router::value(cx, text)?;
            Ok(())
        });
        h.read("drops", |e: &mut R, _| e.drops).merged(Merge::Sum);
        h.read("config", |e: &mut R, _| format!("SAMPLE {}, ACTIVE {}", e.sample, e.active));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};

    /// The rest leaves at output 1.
    #[test]
    fn about_the_right_part_passes() {
        let config =
            "InfiniteSource(LIMIT 4000, STOP true) -> s :: RandomSample(0.25) -> d :: Counter -> Discard;
                      s[1] -> e :: Counter -> Discard;";
        let values = run_and_read(config, &["d.count", "e.count", "s.drops"]);
        let passed: u32 = values[0].parse().unwrap_or(0);
        assert!((850..1150).contains(&passed), "{values:?}");
        assert_eq!((values[1].parse(), &values[1]), (Ok(4000 - passed), &values[2]));
    }

    /// Nothing passes with probability 0, everything with 1 or while inactive.
    #[test]
    fn all_or_nothing_passes_at_the_extremes() {
        for (arguments, passed) in [("0", "0"), ("1", "99"), ("DROP 1, ACTIVE false", "99"), ("DROP 1", "0")]
        {
            let config =
                format!("InfiniteSource(LIMIT 99, STOP true) -> RandomSample({arguments}) -> d :: Discard");
            assert_eq!(run_and_read(&config, &["d.count"]), [passed], "{arguments}");
        }
        let config = "Idle -> s :: RandomSample(DROP 0.1) -> Discard; DriverManager(stop)";
        let handlers = ["s.sampling_prob", "s.drop_prob", "s.config"];
        assert_eq!(run_and_read(config, &handlers), ["0.9", "0.1", "SAMPLE 0.9, ACTIVE true"]);
        for bad in ["", "1.5", "DROP 2"] {
            let said = errors(&format!("Idle -> RandomSample({bad}) -> Discard"));
            assert!(said.contains("sampling probability must be between 0 and 1"), "{said}");
        }
        let said = errors("Idle -> RandomSample(-0.5) -> Discard");
        assert!(said.contains("P: parse error"), "{said}");
    }
}
