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

use elements_shared::ip_header::{NO_HEADER, header_mut};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Flags, Handlers, PerPacket, Simple, Verdict};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SetIPECN", create).pure().live().doc(router::manual!("set_ip_ecn.rs"));

/// The bits, as an argument or a handler says.
pub(crate) struct CodePoint {
    pub(crate) bits: u8,
    /// As it was written.
    text: String,
}

/// The bits that an argument stands for.
fn bits(text: &str) -> Result<u8, &'static str> {
    match text {
        "0" | "no" | "-" => Ok(0),
        "1" | "ect1" | "ECT(1)" => Ok(1),
        "2" | "ect2" | "ECT(0)" => Ok(2),
        "3" | "ce" | "CE" => Ok(3),
        _ => Err("bad ECN argument"),
    }
}

impl CodePoint {
    /// Reads the argument.
    pub(crate) fn read(config: &Config<'_>) -> Result<CodePoint, ConfigError> {
        let mut text = router::Raw::default();
        config.args().required("ECN", &mut text).finish()?;
        Ok(CodePoint { bits: bits(&text.0)?, text: text.0 })
    }

    /// Declares the handler of an element that has one.
    pub(crate) fn handlers<E: Any>(h: &mut Handlers, of: fn(&mut E) -> &mut CodePoint) {
        h.read("ecn", move |e: &mut E, _| of(e).text.clone()).flagged(Flags::CALM);
        h.write("ecn", move |e: &mut E, _, text| {
            *of(e) = CodePoint { bits: bits(text.trim())?, text: text.trim().to_owned() };
            Ok(())
        });
    }
}

struct SetIpEcn(CodePoint);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(PerPacket(SetIpEcn(CodePoint::read(config)?))))
}

impl Simple for SetIpEcn {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(mut ip) = header_mut(packet) else { return Verdict::Drop(NO_HEADER) };
        let tos = ip.tos() & !3 | self.0.bits;
        ip.update_tos(tos);
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        CodePoint::handlers(h, |e: &mut SetIpEcn| &mut e.0);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send_one;
    use elements_testing::samples::{edited, udp};

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
