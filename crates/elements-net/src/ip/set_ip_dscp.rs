//! Sets the differentiated services code point.
//!
//! ```click
//! SetIPDSCP(DSCP)
//! ```
//!
//! Expects packets with a marked IP header; others are dropped. The checksum is updated.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `DSCP` (integer, 0 to 63): the code point.
//!
//! # Handlers
//! - `dscp` (read, write): the code point.
//!
//! # Example
//! ```click
//! ... -> CheckIPHeader -> SetIPDSCP(46) -> ...
//! ```
//!
//! # See also
//! SetIPECN, MarkIPCE, IPEncap

use elements_shared::ip_header::{NO_HEADER, header_mut};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Flags, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SetIPDSCP", create).pure().live().doc(router::manual!("set_ip_dscp.rs"));

struct SetIpDscp(u8);

/// A code point.
fn checked(dscp: u32) -> Result<u8, &'static str> {
    u8::try_from(dscp).ok().filter(|&dscp| dscp < 64).ok_or("diffserv code point out of range")
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut dscp = 0u32;
    config.args().required("DSCP", &mut dscp).finish()?;
    Ok(Box::new(PerPacket(SetIpDscp(checked(dscp)?))))
}

impl Simple for SetIpDscp {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(mut ip) = header_mut(packet) else { return Verdict::Drop(NO_HEADER) };
        let tos = self.0 << 2 | ip.ecn();
        ip.update_tos(tos);
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("dscp", |e: &mut SetIpDscp, _| e.0).flagged(Flags::CALM);
        h.write("dscp", |e: &mut SetIpDscp, cx, text| {
            e.0 = checked(router::keyword_value(cx, "DSCP", text)?)?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::{send, send_one};
    use elements_testing::samples::{edited, hostile, udp};
    use proptest::prelude::*;

    #[test]
    fn leaves_the_congestion_bits() {
        for tos in [0, 0xff, 0x02] {
            let [before, after] = [tos, 46 << 2 | tos & 3].map(|tos| edited(udp(3), |ip| ip.set_tos(tos)));
            let mut flow = send_one("Inject -> MarkIPHeader -> s :: SetIPDSCP(46) -> Collect(0)", before);
            assert_eq!((flow.data(0), flow.read("s.dscp")), (vec![after], "46".into()));
            assert_eq!((flow.write("s.dscp", "7"), flow.read("s.dscp")), (String::new(), "7".into()));
            assert!(flow.write("s.dscp", "64").contains("out of range"));
        }
        assert!(errors("Idle -> SetIPDSCP(64) -> Discard").contains("diffserv code point out of range"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn whatever_comes(packets in hostile()) {
            let n = packets.iter().filter(|data| data.len() >= 20).count();
            let flow = send("Inject -> MarkIPHeader -> SetIPDSCP(9) -> SetIPECN(1) -> MarkIPCE -> Collect(0)", packets);
            prop_assert_eq!(flow.seen.len(), n);
            prop_assert!(flow.data(0).iter().all(|data| data[1] == 9 << 2 | 3));
        }
    }
}
