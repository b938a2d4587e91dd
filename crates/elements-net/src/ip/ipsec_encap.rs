//! Prepends an IP header for the other end of an IPsec tunnel (old).
//!
//! ```click
//! IPsecEncap(PROTO)
//! ```
//!
//! For configurations that use Click's IPsec elements; new ones should use IPEncap. The header's destination is the destination address
//! annotation, which RadixIPsecLookup sets to the other end of the tunnel. Its source is left empty, and an annotation asks FixIPSrc to fill it
//! in. The TTL is 250, and the identification counts up from 0. Packets that do not fit into an IP packet are dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated; each has its own identifications.
//!
//! # Arguments
//! - `PROTO` (protocol name or number): the protocol, `esp` or 50. Click's documentation has more arguments, those of IPEncap, which Click itself
//!   does not take.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> StoreIPAddress(192.0.2.2, 0) -> GetIPAddress(0) -> IPsecEncap(esp) -> FixIPSrc(192.0.2.1) -> Discard
//! ```
//!
//! # See also
//! RadixIPsecLookup, FixIPSrc, IPEncap

use super::encap::{Destination, MarkOf, NO_FIT, Template, push_headers};
use elements_shared::ecn;
use elements_shared::identification::Identification;
use elements_shared::ip_numbers::IpProtocol;
use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::any::Any;
use std::net::Ipv4Addr;
use wire::ipv4::HEADER_LEN;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("IPsecEncap", create).live().doc(router::manual!("ipsec_encap.rs"));

const TTL: u8 = 250;

struct IpsecEncap {
    template: Template<HEADER_LEN>,
    id: Identification,
    mark: MarkOf,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut protocol = IpProtocol::default();
    config.args().required("PROTO", &mut protocol).finish()?;
    let protocol = protocol.octet()?;
    let template = Template::of(protocol, TTL, Ipv4Addr::UNSPECIFIED, Destination::Annotation);
    let (id, mark) = (Identification::new(config, 0, &[]), MarkOf::protocol(protocol));
    Ok(Box::new(PerPacket(IpsecEncap { template, id, mark })))
}

impl Simple for IpsecEncap {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let mark = self.mark.mark(packet);
        if push_headers::<true, HEADER_LEN>(packet, &self.template, self.id.take(), |_| ()).is_none() {
            return Verdict::Drop(NO_FIT);
        }
        if mark != 0 {
            ecn::set_mark(packet.data_mut(), mark);
        }
        packet.set_anno(Anno::FIX_IP_SRC, 1);
        Verdict::Pass
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.id))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Some(id) = state.downcast_ref() {
            self.id.go_on(*id);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::{Sent, send};
    use packet::Anno;

    /// The header is for where the annotation says, and FixIPSrc completes it.
    #[test]
    fn to_the_annotation() {
        let address = u64::from(u32::from_ne_bytes([9, 8, 7, 6]));
        let sent = |data: &[u8]| Sent {
            data: data.to_vec(),
            annotations: vec![(Anno::DST_IP, address)],
            ..Sent::default()
        };
        let packets = [sent(b"abc"), sent(&[0; 65_516]), sent(b"de")];
        let flow =
            send("Inject -> IPsecEncap(esp) -> FixIPSrc(1.2.3.4) -> CheckIPHeader -> Collect(0)", packets);
        let data = flow.data(0);
        assert_eq!(data[0][..10], [0x45, 0, 0, 23, 0, 0, 0, 0, 250, 50]);
        assert_eq!(
            (&data[0][12..], &data[1][2..6]),
            (&b"\x01\x02\x03\x04\x09\x08\x07\x06abc"[..], &[0, 22, 0, 2][..])
        );
        assert_eq!(flow.drops(), [("too long for an IP packet", 1)]);
        assert!(errors("Idle -> IPsecEncap(300) -> Discard").contains("bad IP protocol"));
    }
}
