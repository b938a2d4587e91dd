//! Says at which rates wireless frames are to be sent.
//!
//! ```click
//! SetTXRate([RATE, KEYWORDS])
//! ```
//!
//! Notes rates in the packet's annotation, which ExtraEncap and RadiotapEncap hand on to the interface: it tries the
//! first, then the others in turn.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `RATE`, `RATE1`, `RATE2`, `RATE3` (integer, default -1): rates, in units of 500 kbit/s; -1: none. With RATE 0, the first is 2.
//! - `TRIES`, `TRIES1`, `TRIES2`, `TRIES3` (integer, default 0): how often the frame is sent at that rate at most; 0:
//!   the encapsulation decides.
//! - `ETHTYPE` (integer, default 0): only frames of this Ethernet type are noted; 0: all.
//! - `OFFSET` (integer, default 0): where their Ethernet header starts.
//!
//! # Handlers
//! - `rate`, `tries` (read, write): the arguments RATE and TRIES.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 1) -> SetTXRate(22) -> ExtraEncap -> Discard;
//! ```
//!
//! # See also
//! SetTXPower, ExtraEncap, RadiotapEncap

use super::extra;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};
use wire::ethernet::Header;

/// The class.
pub(crate) const CLASS: Class = Class::new("SetTXRate", create).live().doc(router::manual!("set_tx_rate.rs"));

struct SetTxRate {
    rates: [i32; 4],
    tries: [u32; 4],
    ether_type: u32,
    offset: usize,
}

/// What RATE 0 means.
const DEFAULT: i32 = 2;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut rates, mut tries, mut ether_type, mut offset) = ([-1; 4], [0; 4], 0, 0_u32);
    let [rate, rate1, rate2, rate3] = &mut rates;
    let [try0, try1, try2, try3] = &mut tries;
    config
        .args()
        .positional("RATE", rate)
        .keyword("TRIES", try0)
        .keyword("RATE1", rate1)
        .keyword("TRIES1", try1)
        .keyword("RATE2", rate2)
        .keyword("TRIES2", try2)
        .keyword("RATE3", rate3)
        .keyword("TRIES3", try3)
        .keyword("ETHTYPE", &mut ether_type)
        .keyword("OFFSET", &mut offset)
        .finish()?;
    Ok(Box::new(PerPacket(SetTxRate { rates, tries, ether_type, offset: offset as usize })))
}

impl SetTxRate {
    /// Whether a packet is to be noted.
    #[inline]
    fn concerns(&self, packet: &Packet) -> bool {
        if self.ether_type == 0 {
            return true;
        }
        let header = packet.data().get(self.offset..).and_then(|bytes| Header::new_checked(bytes).ok());
        header.is_some_and(|header| u32::from(header.ether_type()) == self.ether_type)
    }
}

impl Simple for SetTxRate {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if self.concerns(packet) {
            extra::set(packet, |extra| {
                for which in 0..4 {
                    let rate = self.rates[which];
                    let rate = if which == 0 && rate == 0 { DEFAULT } else { rate };
                    extra.set_rate(which, rate as i8);
                    extra.set_tries(which, self.tries[which] as u8);
                }
            });
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = SetTxRate;
        h.read("rate", |e: &mut E, _| e.rates[0]);
        h.write("rate", |e: &mut E, cx, text| router::value(cx, text).map(|rate| e.rates[0] = rate));
        h.read("tries", |e: &mut E, _| e.tries[0]);
        h.write("tries", |e: &mut E, cx, text| router::value(cx, text).map(|tries| e.tries[0] = tries));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;

    #[test]
    fn of_a_type() {
        let frame = |kind: [u8; 2]| [&[1; 13][..], &kind].concat();
        let config =
            "Inject -> s :: SetTXRate(0, RATE1 11, TRIES1 3, ETHTYPE 0x0800, OFFSET 1) -> Collect(0)";
        let mut flow = send(config, [frame([8, 0]), frame([8, 6]), vec![1; 14]]);
        let noted: Vec<_> =
            flow.seen.iter().map(|(_, packet)| packet.annotations()[36..44].to_vec()).collect();
        assert_eq!(noted, [vec![2, 11, 255, 255, 0, 3, 0, 0], vec![0; 8], vec![0; 8]]);
        assert_eq!((flow.read("s.rate"), flow.read("s.tries")), ("0".to_owned(), "0".to_owned()));
    }
}
