//! Turns IP packets into UDP packets.
//!
//! ```click
//! ForceUDP([DPORT])
//! ```
//!
//! Expects packets with a marked IP header and at least 8 bytes after it. Sets their UDP length, destination port and
//! checksum. Shorter packets are reported and dropped.
//!
//! It is meant for testing other elements with random packets.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `DPORT` (port, default -1): the destination port; -1 means a random one below 1024.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! RandomSource(60) -> ForceIP -> ForceUDP(53) -> IPPrint -> Discard
//! ```
//!
//! # See also
//! ForceIP, SetUDPChecksum, CheckUDPHeader

use super::force::{BadLengths, Port};
use super::message::Message;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::udp::{self, HEADER_LEN, Header};

/// The class.
pub(crate) const CLASS: Class = Class::new("ForceUDP", create).doc(router::manual!("force_udp.rs"));

struct ForceUdp {
    port: Option<u16>,
    bad: BadLengths,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut port = Port::default();
    config.args().positional("DPORT", &mut port).finish()?;
    Ok(Box::new(PerPacket(ForceUdp { port: port.0, bad: BadLengths::default() })))
}

impl ForceUdp {
    fn force(&self, cx: &mut Cx<'_>, packet: &mut Packet) -> Option<()> {
        let message = Message::of(packet)?;
        let datagram = message.bytes_mut(packet).filter(|datagram| datagram.len() >= HEADER_LEN)?;
        let len = datagram.len() as u16; // no IP packet is longer
        let mut header = Header::new_checked_mut(&mut *datagram).ok()?;
        header.set_len(len);
        header.set_dst_port(self.port.unwrap_or_else(|| cx.rng().u16(..1024)));
        udp::fill_checksum_v4(message.src, message.dst, datagram).ok()
    }
}

impl Simple for ForceUdp {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match self.force(cx, packet) {
            Some(()) => Verdict::Pass,
            None => self.bad.reject(cx, "ForceUDP", "bad UDP length"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use elements_testing::samples::hostile;
    use elements_testing::transport_samples::carrying;
    use proptest::prelude::*;

    #[test]
    fn writes_the_port_and_a_right_length() {
        let ports = |arguments: &str| -> Vec<u16> {
            let config =
                format!("Inject -> MarkIPHeader -> ForceUDP({arguments}) -> CheckUDPHeader -> Collect(0)");
            let flow = send(&config, [carrying(17, 1, &[0xee; 8]), carrying(17, 0, &[0xee; 29])]);
            let ports = flow.data(0).into_iter().map(|data| (usize::from(data[0] & 15) * 4, data));
            ports.map(|(at, data)| u16::from_be_bytes([data[at + 2], data[at + 3]])).collect()
        };
        assert_eq!(ports("domain"), [53, 53]);
        assert_eq!(ports("0"), [0, 0]);
        for arguments in ["", "-1"] {
            let ports = ports(arguments);
            assert!(ports.len() == 2 && ports.iter().all(|&port| port < 1024), "{ports:?}");
        }
    }

    #[test]
    fn short_packets() {
        let flow = send("Inject -> MarkIPHeader -> ForceUDP -> Collect(0)", [carrying(17, 0, &[0; 7])]);
        assert_eq!(
            (flow.drops(), flow.log()),
            (vec![("bad UDP length", 1)], "ForceUDP: bad lengths\n".into())
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn whatever_comes(packets in hostile()) {
            send("Inject -> MarkIPHeader -> ForceUDP(53) -> Collect(0)", packets);
        }
    }
}
