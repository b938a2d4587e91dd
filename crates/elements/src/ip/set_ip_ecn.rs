//! Sets the explicit congestion notification bits.
//!
//! ```click
//! SetIPECN(ECN)
//! ```
//!
//! Expects packets with a marked IP header; others are dropped. The checksum is updated.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `ECN`: `0`, `no` or `-` (not capable), `1`, `ect1` or `ECT(1)`, `2`, `ect2` or `ECT(0)`, `3`, `ce` or `CE`
//!   (congestion experienced).
//!
//! # Handlers
//! - `ecn` (read, write): the argument.
//!
//! # Example
//! ```click
//! ... -> CheckIPHeader -> SetIPECN(ect2) -> ...
//! ```
//!
//! # See also
//! SetIPDSCP, MarkIPCE

use super::header::{NO_HEADER, header_mut};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Flags, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("SetIPECN", create).live().doc(include_str!("set_ip_ecn.rs"));

struct SetIpEcn {
    bits: u8,
    /// The argument as it was written.
    text: String,
}

/// The bits that an argument stands for.
pub(crate) fn bits(text: &str) -> Result<u8, &'static str> {
    match text {
        "0" | "no" | "-" => Ok(0),
        "1" | "ect1" | "ECT(1)" => Ok(1),
        "2" | "ect2" | "ECT(0)" => Ok(2),
        "3" | "ce" | "CE" => Ok(3),
        _ => Err("bad ECN argument"),
    }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut text = router::Raw::default();
    config.args().required("ECN", &mut text).finish()?;
    Ok(Box::new(PerPacket(SetIpEcn { bits: bits(&text.0)?, text: text.0 })))
}

impl Simple for SetIpEcn {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(mut ip) = header_mut(packet) else { return Verdict::Drop(NO_HEADER) };
        let tos = ip.tos() & !3 | self.bits;
        ip.update_tos(tos);
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("ecn", |e: &mut SetIpEcn, _| e.text.clone()).flagged(Flags::CALM);
        h.write("ecn", |e: &mut SetIpEcn, _, text| {
            e.bits = bits(text.trim())?;
            e.text = text.trim().to_owned();
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{edited, udp};
    use crate::inject::send_one;
    use crate::testing::errors;

    #[test]
    fn leaves_the_code_point() {
        for (argument, ecn) in [("no", 0), ("ECT(1)", 1), ("ECT(0)", 2), ("ect2", 2), ("3", 3)] {
            let [before, after] = [0xb9, 0xb8 | ecn].map(|tos| edited(udp(3), |ip| ip.set_tos(tos)));
            let config = format!("Inject -> MarkIPHeader -> s :: SetIPECN({argument}) -> Collect(0)");
            let mut flow = send_one(&config, before);
            assert_eq!((flow.data(0), flow.read("s.ecn")), (vec![after], argument.into()));
            assert_eq!((flow.write("s.ecn", "ce"), flow.read("s.ecn")), (String::new(), "ce".into()));
        }
        assert!(errors("Idle -> SetIPECN(4) -> Discard").contains("bad ECN argument"));
    }
}
