//! Prints spanning tree messages.
//!
//! ```click
//! DebugBridge(LABEL)
//! ```
//!
//! Expects spanning tree messages (IEEE 802.1D) with their Ethernet headers, as sent by EtherSpanTree, and prints a
//! line for each: the bridge and port that sent it; the flags for topology change acknowledgement (`TCA`) and
//! topology change (`TC`); the path cost to the root, and the root; and message age, maximum age, hello time and
//! forward delay, in units of 1/256 s. Everything but the label is hexadecimal. Packets too short for a message pass
//! without being printed.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `LABEL` (string): printed before each message.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Classifier(14/4242) -> DebugBridge(eth0) -> Discard;
//! ```
//!
//! # See also
//! EtherSpanTree, EtherSwitch

use super::ether_span_tree::describe;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("DebugBridge", create).doc(router::manual!("debug_bridge.rs"));

struct DebugBridge {
    label: String,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut label = String::new();
    config.args().required("LABEL", &mut label).finish()?;
    Ok(Box::new(PerPacket(DebugBridge { label })))
}

impl Simple for DebugBridge {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if let Some(said) = describe(packet.data()) {
            cx.print(&format!("{} {said}", self.label));
        }
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use proptest::prelude::*;

    #[test]
    fn each_message_prints_as_one_line() {
        let mut configuration = [
            &[1, 0x80, 0xc2, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 38, 0x42, 0x42, 3, 0, 0, 0, 0, 0x80][..],
            &[0xde, 0xad, 0, 0, 0, 0, 0, 1, 0, 0, 0, 7, 0x0e, 0xad, 0, 0, 0, 0, 0, 2, 0, 5],
            &[1, 0, 20, 0, 2, 0, 15, 0],
        ]
        .concat();
        let mut change = configuration.clone();
        change[20] = 128;
        let flow =
            send("Inject -> DebugBridge(x) -> Collect(0)", [configuration.clone(), change[..21].to_vec()]);
        let line =
            "x CFG  ead000000000002:0005: TCA tc  00000007 -> dead000000000001  a/m/h/d: 100/1400/200/f00\n";
        assert_eq!(flow.log(), format!("{line}x TCM\n"));
        (configuration[20], configuration[21]) = (9, 1);
        let flow = send("Inject -> DebugBridge(x) -> Collect(0)", [configuration]);
        assert!(flow.log().starts_with("x ???  ead000000000002:0005: tca TC  "), "{}", flow.log());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn whatever_comes(packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 1..40)) {
            let flow = send("Inject -> DebugBridge(x) -> Collect(0)", packets.clone());
            prop_assert_eq!(flow.data(0), packets);
        }
    }
}
