//! Writes an IP address into packets.
//!
//! ```click
//! StoreIPAddress(OFFSET)
//! StoreIPAddress(ADDR, OFFSET)
//! ```
//!
//! Writes ADDR into the packet; without ADDR, the destination address annotation, unless that is 0.0.0.0. At a
//! numeric offset nothing else is changed; for the source or destination of a marked IP header, the checksums of the
//! IP header and of TCP and UDP are updated too. Packets too short for the address leave by output 1 if it is
//! connected and are dropped otherwise.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated.
//!
//! # Arguments
//! - `ADDR` (address): the address to write.
//! - `OFFSET` (integer, or `src` or `dst`): where to write it.
//!
//! # Example
//! ```click
//! ... -> StoreIPAddress(1.0.0.1, src) -> ...
//! ```
//!
//! # See also
//! SetIPAddress, GetIPAddress, SetIPChecksum, IPAddrRewriter

use elements_shared::ip_header::{header, header_mut};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::net::Ipv4Addr;
use wire::{ip_proto, tcp, udp};

/// The class.
pub(crate) const CLASS: Class = Class::new("StoreIPAddress", create)
    .pure()
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("store_ip_address.rs"));

/// Where the address goes.
#[derive(Clone, Copy)]
enum AddressField {
    Data(usize),
    Source,
    Destination,
}

struct StoreIpAddress {
    address: Option<Ipv4Addr>,
    field: AddressField,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut address, mut place) = (None::<Ipv4Addr>, String::new());
    // The first of two arguments is the address.
    let two = lang::conf::split_args(config.text()).len() > 1;
    let args = config.args();
    let args = if two { args.required("ADDR", &mut address) } else { args };
    args.required("OFFSET", &mut place).finish()?;
    let offset = || router::parse_integer(&place).and_then(|offset| usize::try_from(offset).ok());
    let field = match place.to_ascii_lowercase().as_str() {
        "src" => AddressField::Source,
        "dst" => AddressField::Destination,
        _ => AddressField::Data(offset().ok_or("type mismatch: OFFSET requires integer")?),
    };
    Ok(Box::new(PerPacket(StoreIpAddress { address, field, outputs: config.outputs() })))
}

/// Changes an address of the header, and the checksums that cover it. None if there is no header.
fn rewrite(packet: &mut Packet, source: bool, new: Ipv4Addr) -> Option<()> {
    let ip = header(packet).filter(|ip| ip.header_len() >= wire::ipv4::HEADER_LEN)?;
    let old = if source { ip.src() } else { ip.dst() };
    let protocol = if ip.is_first_fragment() { ip.protocol() } else { 0 };
    if let Some(mut ip) = header_mut(packet) {
        if source { ip.update_src(new) } else { ip.update_dst(new) }
    }
    let Some(transport) = packet.transport_mut() else { return Some(()) };
    match protocol {
        ip_proto::TCP => {
            if let Ok(mut header) = tcp::Header::new_checked_mut(transport) {
                header.update_checksum_u32(old.into(), new.into());
            }
        }
        ip_proto::UDP => {
            if let Ok(mut header) = udp::Header::new_checked_mut(transport) {
                header.update_checksum_u32(old.into(), new.into());
            }
        }
        _ => {}
    }
    Some(())
}

/// Writes an address at an offset in the data. None if it does not fit.
fn write_at(packet: &mut Packet, offset: usize, address: Ipv4Addr) -> Option<()> {
    *packet.data_mut().get_mut(offset..)?.first_chunk_mut::<4>()? = address.octets();
    Some(())
}

impl Simple for StoreIpAddress {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let annotated = || Some(packet.dst_ip()).filter(|address| !address.is_unspecified());
        let Some(address) = self.address.or_else(annotated) else { return Verdict::Pass };
        let done = match self.field {
            AddressField::Data(offset) => write_at(packet, offset, address),
            AddressField::Source => rewrite(packet, true, address),
            AddressField::Destination => rewrite(packet, false, address),
        };
        match done {
            Some(()) => Verdict::Pass,
            None => elements_shared::verdict::fail(self.outputs, "no place for the address"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::{send, send_one};
    use elements_testing::samples::{hostile, udp};
    use proptest::prelude::*;

    #[test]
    fn into_the_data() {
        let config = "Inject -> s :: StoreIPAddress(1.2.3.4, 2) -> Collect(0); s[1] -> Collect(1)";
        let flow = send(config, [vec![0; 6], vec![0; 5]]);
        assert_eq!((flow.data(0), flow.data(1)), (vec![vec![0, 0, 1, 2, 3, 4]], vec![vec![0; 5]]));
        let flow = send("Inject -> StoreIPAddress(ADDR 1.2.3.4, OFFSET src) -> Collect(0)", [vec![0; 60]]);
        assert_eq!(flow.drops(), [("no place for the address", 1)]);
        let config = "Inject -> SetIPAddress(5.6.7.8) -> StoreIPAddress(0) -> SetIPAddress(0.0.0.0)
            -> StoreIPAddress(1) -> Collect(0)";
        assert_eq!(send_one(config, vec![0; 5]).data(0), [[5, 6, 7, 8, 0]]);
    }

    /// Both checksums stay right, and an absent one absent.
    #[test]
    fn into_the_header() {
        for (set, check) in [("SetUDPChecksum ->", "CheckUDPHeader ->"), ("", "")] {
            let config = format!(
                "Inject -> MarkIPHeader -> {set} StoreIPAddress(1.2.3.4, src) -> StoreIPAddress(9.9.9.9, DST)
                 -> CheckIPHeader -> {check} Collect(0)"
            );
            let flow = send_one(&config, udp(9));
            let data = flow.only(0).data();
            assert_eq!(data[12..20], [1, 2, 3, 4, 9, 9, 9, 9]);
            assert_eq!(data[26..28] == [0, 0], set.is_empty());
        }
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for (arguments, message) in [
            ("", "OFFSET"),
            ("x, 1", "ADDR"),
            ("there", "type mismatch: OFFSET requires integer"),
            ("1.2.3.4, -1", "type mismatch: OFFSET requires integer"),
        ] {
            assert!(errors(&format!("Idle -> StoreIPAddress({arguments}) -> Discard")).contains(message));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn whatever_comes(packets in hostile()) {
            let n = packets.iter().filter(|data| !data.is_empty()).count();
            let config = "Inject -> MarkIPHeader -> a :: StoreIPAddress(1.2.3.4, src) -> b :: StoreIPAddress(9.9.9.9, 30) -> Collect(0);
                a[1] -> Collect(1); b[1] -> Collect(2)";
            prop_assert_eq!(send(config, packets).seen.len(), n);
        }
    }
}
