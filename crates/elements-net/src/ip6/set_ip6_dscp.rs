//! Sets the differentiated services code point of IPv6 packets.
//!
//! ```click
//! SetIP6DSCP(DSCP)
//! ```
//!
//! Expects packets with a marked IPv6 header, and drops others. The two ECN bits next to the code point are not
//! changed.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `DSCP` (0 to 63): the code point.
//!
//! # Handlers
//! - `dscp` (read, write): the argument.
//! - `config` (write): replaces the argument.
//!
//! # Example
//! ```click
//! Idle -> CheckIP6Header -> SetIP6DSCP(46) -> Discard;
//! ```
//!
//! # See also
//! CheckIP6Header, MarkIP6Header

use super::header::NO_HEADER;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Flags, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SetIP6DSCP", create).pure().live().doc(router::manual!("set_ip6_dscp.rs"));

struct SetIp6Dscp(u8);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut dscp = 0_u32;
    config.args().required("DSCP", &mut dscp).finish()?;
    match u8::try_from(dscp) {
        Ok(dscp) if dscp <= 63 => Ok(Box::new(PerPacket(SetIp6Dscp(dscp)))),
        _ => Err("diffserv code point out of range".into()),
    }
}

impl Simple for SetIp6Dscp {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let bytes = packet.network_mut().and_then(|bytes| bytes.first_chunk_mut::<2>());
        let Some([first, second]) = bytes else { return Verdict::Drop(NO_HEADER) };
        *first = *first & 0xf0 | self.0 >> 2;
        *second = *second & 0x3f | self.0 << 6;
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("dscp", |e: &mut SetIp6Dscp, _| e.0).flagged(Flags::CALM);
        h.write("dscp", |e: &mut SetIp6Dscp, cx, text| {
            let dscp: u8 = router::value(cx, text)?;
            if dscp > 63 {
                return Err("diffserv code point out of range".to_owned());
            }
            e.0 = dscp;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send;

    #[test]
    fn sets_the_dscp_and_nothing_beside_it() {
        let packet = |first: u8, second: u8| [&[first, second][..], &[0; 38]].concat();
        let mut flow = send(
            "Inject -> MarkIP6Header -> s :: SetIP6DSCP(46) -> Collect(0)",
            [packet(0x6f, 0xff), packet(0x60, 0), vec![0x60]],
        );
        assert_eq!(flow.data(0), [packet(0x6b, 0xbf), packet(0x6b, 0x80)]);
        assert_eq!((flow.read("s.dscp"), flow.drops()), ("46".to_owned(), vec![("no IPv6 header", 1)]));
        assert!(errors("Idle -> SetIP6DSCP(64) -> Discard").contains("out of range"));
    }
}
