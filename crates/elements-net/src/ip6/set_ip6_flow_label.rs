//! Sets the flow label of IPv6 packets.
//!
//! ```click
//! SetIP6FlowLabel(FLOW)
//! ```
//!
//! Expects packets with a marked IPv6 header, and drops others.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `FLOW` (0 to 1048575): the flow label.
//!
//! # Handlers
//! - `flowlabel` (read, write): the argument.
//! - `config` (write): replaces the argument.
//!
//! # Example
//! ```click
//! Idle -> CheckIP6Header -> SetIP6FlowLabel(7) -> Discard;
//! ```
//!
//! # See also
//! CheckIP6Header, MarkIP6Header, SetIP6DSCP, SetIP6ECN, SetIP6Hlim

use super::header::NO_HEADER;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SetIP6FlowLabel", create).live().doc(router::manual!("set_ip6_flow_label.rs"));

/// Bits of a flow label.
const LABEL: u32 = 0xf_ffff;

struct SetIp6FlowLabel(u32);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut label = 0;
    config.args().required("FLOW", &mut label).finish()?;
    Ok(Box::new(PerPacket(SetIp6FlowLabel(checked(label)?))))
}

fn checked(label: u32) -> Result<u32, String> {
    if label <= LABEL { Ok(label) } else { Err("flow label out of range".to_owned()) }
}

impl Simple for SetIp6FlowLabel {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let bytes = packet.network_mut().and_then(|bytes| bytes.first_chunk_mut::<4>());
        let Some(word) = bytes else { return Verdict::Drop(NO_HEADER) };
        *word = (u32::from_be_bytes(*word) & !LABEL | self.0).to_be_bytes();
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("flowlabel", |e: &mut SetIp6FlowLabel, _| e.0);
        h.write("flowlabel", |e: &mut SetIp6FlowLabel, cx, text| {
            e.0 = checked(router::keyword_value(cx, "FLOW", text)?)?;
            Ok(())
        })
        .of_argument("FLOW");
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send;

    #[test]
    fn sets_the_flow_label_and_nothing_beside_it() {
        let packet = |word: u32| [&word.to_be_bytes()[..], &[0; 36]].concat();
        let mut flow = send(
            "Inject -> MarkIP6Header -> s :: SetIP6FlowLabel(0x12345) -> Collect(0)",
            [packet(0x6abf_ffff), packet(0x6000_0000), vec![0x60]],
        );
        assert_eq!(flow.data(0), [packet(0x6ab1_2345), packet(0x6001_2345)]);
        assert_eq!(
            (flow.read("s.flowlabel"), flow.drops()),
            ("74565".to_owned(), vec![("no IPv6 header", 1)])
        );
        assert_eq!(flow.write("s.flowlabel", "7") + &flow.read("s.flowlabel"), "7");
        assert!(errors("Idle -> SetIP6FlowLabel(0x100000) -> Discard").contains("out of range"));
    }
}
