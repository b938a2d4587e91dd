//! Copies the highest TCP sequence number of one stream to packets of another.
//!
//! ```click
//! CopyTCPSeq()
//! ```
//!
//! Passes packets from each input to the output of the same number. The highest sequence number of the TCP packets at
//! input 0 is remembered and, once there is one, copied to TCP packets at input 1. Other packets, and those without a
//! marked IP header, pass unchanged. Checksums are not updated.
//!
//! Ports: 2 inputs, 2 outputs. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! - `reset` (write, button): forgets the number.
//!
//! # Example
//! ```click
//! c :: CopyTCPSeq;
//! FromDump(in.pcap, FORCE_IP true) -> [0] c [0] -> Discard;
//! FastTCPFlows(1, 10, 60, 1:1:1:1:1:1, 1.0.0.1, 2:2:2:2:2:2, 2.0.0.2, 1, 5) -> Unqueue -> [1] c [1] -> SetTCPChecksum -> Discard;
//! ```
//!
//! # See also
//! CopyFlowID, TCPRewriter

use super::copying::{CopyRule, Copying};
use elements_shared::ip_header::header;
use packet::Packet;
use router::{Class, Config, ConfigError, Element, Residency};
use wire::{ip_proto, tcp};

/// The class.
pub(crate) const CLASS: Class = Class::new("CopyTCPSeq", create)
    .ports("2/2")
    .residency(Residency::Exclusive)
    .doc(router::manual!("copy_tcp_seq.rs"));

/// The highest number so far.
#[derive(Default)]
struct Highest(Option<u32>);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(Copying(Highest::default())))
}

fn is_tcp(packet: &Packet) -> bool {
    header(packet).is_some_and(|ip| ip.begins(ip_proto::TCP))
}

impl CopyRule for Highest {
    fn notice(&mut self, packet: &Packet) {
        let segment = packet.transport().filter(|_| is_tcp(packet));
        let Some(Ok(header)) = segment.map(tcp::Header::new_checked) else { return };
        let number = header.sequence();
        // Numbers start again at 0 behind the largest.
        if self.0.is_none_or(|highest| number.wrapping_sub(highest) as i32 > 0) {
            self.0 = Some(number);
        }
    }

    fn apply(&self, packet: &mut Packet) {
        let Some(highest) = self.0.filter(|_| is_tcp(packet)) else { return };
        if let Some(Ok(mut header)) = packet.transport_mut().map(tcp::Header::new_checked_mut) {
            header.set_sequence(highest);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send_singly;
    use elements_testing::transport_samples::{carrying, tcp};

    /// The highest number, also behind the largest there is; nothing before there is one.
    #[test]
    fn the_highest_number_is_copied() {
        let config = "Inject -> MarkIPHeader -> c :: IPClassifier(src tcp port 1, -) -> [0] f :: CopyTCPSeq -> Collect(0);
                      c[1] -> [1] f [1] -> Collect(1)";
        let packet = |port: u8, number: u32| {
            let mut data = carrying(6, 0, &tcp(b"x"));
            (data[20], data[21]) = (0, port);
            data[24..28].copy_from_slice(&number.to_be_bytes());
            data
        };
        let sent = [
            packet(9, 7),
            packet(1, 0xffff_fff0),
            packet(1, 0xffff_ff00),
            packet(9, 7),
            packet(1, 5),
            packet(9, 7),
        ];
        let flow = send_singly(config, sent);
        let seen: Vec<_> =
            flow.data(1).iter().map(|data| u32::from_be_bytes(*data[24..].first_chunk().unwrap())).collect();
        assert_eq!(seen, [7, 0xffff_fff0, 5]);
        assert_eq!(flow.data(0).len(), 3);
    }
}
