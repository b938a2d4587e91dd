//! Separates packets by comparing their forward and reverse rates.
//!
//! ```click
//! CompareBlock(FWD_WEIGHT, REV_WEIGHT, THRESH)
//! ```
//!
//! A packet leaves by output 1 if one of its rate annotations is greater than THRESH, and its forward rate times
//! FWD_WEIGHT is greater than its reverse rate times REV_WEIGHT. Other packets leave by output 0. Rates below 1 count
//! as 1.
//!
//! Ports: 1 input, 2 outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `FWD_WEIGHT`, `REV_WEIGHT` (integers): the weights of the two rates.
//! - `THRESH` (integer): packets pass if neither rate is greater than this.
//!
//! # Handlers
//! - `fwd_weight`, `rev_weight`, `thresh` (read, write): the arguments.
//!
//! # Example
//! ```click
//! InfiniteSource -> b :: CompareBlock(5, 2, 100);
//! b [0] -> Discard;
//! b [1] -> Discard;
//! ```
//!
//! # See also
//! Block, IPRateMonitor

use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("CompareBlock", create)
    .ports("1/2")
    .processing("h/h")
    .live()
    .doc(router::manual!("compare_block.rs"));

struct CompareBlock {
    fwd_weight: i32,
    rev_weight: i32,
    thresh: i32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = CompareBlock { fwd_weight: 0, rev_weight: 1, thresh: 0 };
    config
        .args()
        .required("FWD_WEIGHT", &mut e.fwd_weight)
        .required("REV_WEIGHT", &mut e.rev_weight)
        .required("THRESH", &mut e.thresh)
        .finish()?;
    Ok(Box::new(PerPacket(e)))
}

impl CompareBlock {
    fn is_unequal(&self, forward: i32, reverse: i32) -> bool {
        let (forward, reverse) = (forward.max(1), reverse.max(1));
        let weigh = |weight: i32, rate: i32| i64::from(weight) * i64::from(rate);
        forward.max(reverse) > self.thresh
            && weigh(self.fwd_weight, forward) > weigh(self.rev_weight, reverse)
    }
}

impl Simple for CompareBlock {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let rate = |place| packet.anno(place) as i32;
        if self.is_unequal(rate(Anno::FWD_RATE), rate(Anno::REV_RATE)) {
            Verdict::Output(1)
        } else {
            Verdict::Pass
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type C = CompareBlock;
        type Field = fn(&mut C) -> &mut i32;
        let mut field = |name: &str, field: Field| {
            h.read(name, move |e: &mut C, _| *field(e));
            h.write(name, move |e: &mut C, cx, text| {
                *field(e) = router::value(cx, text).map_err(|_| "not an integer".to_owned())?;
                Ok(())
            });
        };
        field("fwd_weight", |e| &mut e.fwd_weight);
        field("rev_weight", |e| &mut e.rev_weight);
        field("thresh", |e| &mut e.thresh);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Sent, send};
    use packet::Anno;

    #[test]
    fn weighted_rates_choose_the_output() {
        let rates = [(0u64, 0u64), (50, 50), (50, 101), (101, 50), (40, 100), (41, 101), (1000, 0)];
        let packets = rates.map(|(forward, reverse)| Sent {
            annotations: vec![(Anno::FWD_RATE, forward), (Anno::REV_RATE, reverse)],
            ..Sent::from(vec![forward as u8])
        });
        let config = "Inject -> b :: CompareBlock(5, 2, 100); b[0] -> Collect(0); b[1] -> Collect(1)";
        let mut flow = send(config, packets);
        assert_eq!(
            (flow.data(0), flow.data(1)),
            (vec![vec![0], vec![50], vec![40]], vec![vec![50], vec![101], vec![41], vec![232]])
        );
        assert_eq!(flow.write("b.thresh", "x"), "error: not an integer");
        assert_eq!((flow.write("b.rev_weight", "7"), flow.read("b.rev_weight")), (String::new(), "7".into()));
    }
}
