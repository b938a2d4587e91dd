//! Sets the hop limit of IPv6 packets.
//!
//! ```click
//! SetIP6Hlim(HLIM)
//! ```
//!
//! Expects packets with a marked IPv6 header, and drops others.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `HLIM` (0 to 255): the hop limit.
//!
//! # Handlers
//! - `hopLimit` (read, write): the argument.
//! - `config` (write): replaces the argument.
//!
//! # Example
//! ```click
//! Idle -> CheckIP6Header -> SetIP6Hlim(64) -> Discard;
//! ```
//!
//! # See also
//! CheckIP6Header, DecIP6HLIM, SetIP6FlowLabel

use super::header::NO_HEADER;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SetIP6Hlim", create).pure().live().doc(router::manual!("set_ip6_hlim.rs"));

/// Where the hop limit is in the header.
const HOP_LIMIT: usize = 7;

struct SetIp6Hlim(u8);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut limit = 0;
    config.args().required("HLIM", &mut limit).finish()?;
    Ok(Box::new(PerPacket(SetIp6Hlim(limit))))
}

impl Simple for SetIp6Hlim {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match packet.network_mut().and_then(|bytes| bytes.get_mut(HOP_LIMIT)) {
            Some(limit) => *limit = self.0,
            None => return Verdict::Drop(NO_HEADER),
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("hopLimit", |e: &mut SetIp6Hlim, _| e.0);
        h.write("hopLimit", |e: &mut SetIp6Hlim, cx, text| {
            e.0 = router::keyword_value(cx, "HLIM", text)?;
            Ok(())
        })
        .of_argument("HLIM");
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send;

    #[test]
    fn sets_the_hop_limit() {
        let packet = |limit: u8| [&[0x60, 0, 0, 0, 0, 0, 59, limit][..], &[0; 32]].concat();
        let mut flow = send(
            "Inject -> MarkIP6Header -> s :: SetIP6Hlim(9) -> Collect(0)",
            [packet(1), packet(255), vec![0x60]],
        );
        assert_eq!(flow.data(0), [packet(9), packet(9)]);
        assert_eq!((flow.read("s.hopLimit"), flow.drops()), ("9".to_owned(), vec![("no IPv6 header", 1)]));
        assert!(errors("Idle -> SetIP6Hlim(256) -> Discard").contains("HLIM"));
    }
}
