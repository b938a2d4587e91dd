//! Passes packets whose forward rate is low.
//!
//! ```click
//! Block(THRESH)
//! ```
//!
//! Packets whose forward-rate annotation is greater than THRESH leave by output 1, the others by output 0.
//!
//! Ports: 1 input, 2 outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `THRESH` (integer): the highest rate that passes; 0 lets everything pass.
//!
//! # Handlers
//! - `thresh` (read, write): the argument.
//!
//! # Example
//! ```click
//! InfiniteSource -> b :: Block(1000);
//! b [0] -> Discard;
//! b [1] -> Discard;
//! ```
//!
//! # See also
//! IPRateMonitor, CheckPaint

use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("Block", create).ports("1/2").processing("h/h").live().doc(router::manual!("block.rs"));

struct Block {
    thresh: i32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = Block { thresh: 0 };
    config.args().required("THRESH", &mut e.thresh).finish()?;
    Ok(Box::new(PerPacket(e)))
}

impl Simple for Block {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let rate = packet.anno(Anno::FWD_RATE) as i32;
        if self.thresh == 0 || rate <= self.thresh { Verdict::Pass } else { Verdict::Output(1) }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("thresh", |e: &mut Block, _| e.thresh);
        h.write("thresh", |e: &mut Block, cx, text| {
            e.thresh = router::value(cx, text).map_err(|_| "not an integer".to_owned())?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Sent, send};
    use packet::Anno;

    /// The threshold itself passes; zero switches the element off.
    #[test]
    fn rates_above_the_threshold_are_blocked() {
        let rates = [0u64, 9, 10, 11, 1000];
        let packets = || {
            rates.map(|rate| Sent {
                annotations: vec![(Anno::FWD_RATE, rate)],
                ..Sent::from(vec![rate as u8])
            })
        };
        let config =
            |thresh| format!("Inject -> b :: Block({thresh}); b[0] -> Collect(0); b[1] -> Collect(1)");
        let flow = send(&config(10), packets());
        assert_eq!((flow.data(0).len(), flow.data(1).len()), (3, 2));
        assert_eq!(send(&config(0), packets()).data(0).len(), 5);
    }
}
