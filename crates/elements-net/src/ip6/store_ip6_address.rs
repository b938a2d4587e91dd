//! Writes an IPv6 address into packets.
//!
//! ```click
//! StoreIP6Address(OFFSET)
//! StoreIP6Address(ADDR, OFFSET)
//! ```
//!
//! Writes ADDR or, without it, the IPv6 destination address annotation into the packet. Checksums are not updated.
//! Packets too short for the address leave by output 1 if it is connected, and pass unchanged otherwise.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated.
//!
//! # Arguments
//! - `ADDR` (IPv6 address): the address to write.
//! - `OFFSET` (integer, `src` or `dst`): where to write it, from the start of the IPv6 header; from the start of the
//!   data if none is marked.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! ... -> CheckIP6Header -> StoreIP6Address(2001:db8::1, src) -> ...
//! ```
//!
//! # See also
//! GetIP6Address, SetIP6Address, StoreIPAddress

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::net::Ipv6Addr;

/// The class.
pub(crate) const CLASS: Class = Class::new("StoreIP6Address", create)
    .pure()
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("store_ip6_address.rs"));

struct StoreIp6Address {
    /// The annotation, if there is none.
    address: Option<Ipv6Addr>,
    offset: usize,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut address, mut offset) = (None::<Ipv6Addr>, String::new());
    // The first of two arguments is the address.
    let two = lang::conf::split_args(config.text()).len() > 1;
    let args = config.args();
    let args = if two { args.required("ADDR", &mut address) } else { args };
    args.required("OFFSET", &mut offset).finish()?;
    Ok(Box::new(PerPacket(StoreIp6Address { address, offset: place(&offset)?, outputs: config.outputs() })))
}

/// An offset from the start of a header, or the name of an address in it.
fn place(text: &str) -> Result<usize, ConfigError> {
    match text.to_ascii_lowercase().as_str() {
        "src" => Ok(8),
        "dst" => Ok(24),
        number => router::parse_integer(number)
            .and_then(|offset| usize::try_from(offset).ok())
            .ok_or_else(|| "last argument should be byte offset of IPv6 address".into()),
    }
}

impl StoreIp6Address {
    /// Stores the address; false if there is no room for it.
    fn store(&self, packet: &mut Packet) -> bool {
        let address = self.address.unwrap_or_else(|| packet.dst_ip6());
        let bytes =
            if packet.network_offset().is_some() { packet.network_mut() } else { Some(packet.data_mut()) };
        let place = bytes.and_then(|bytes| bytes.get_mut(self.offset..)?.first_chunk_mut());
        place.map(|place| *place = address.octets()).is_some()
    }
}

impl Simple for StoreIp6Address {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if self.store(packet) || self.outputs < 2 { Verdict::Pass } else { Verdict::Output(1) }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send;

    /// The address or the annotation, exactly there; too short packets stay as they are.
    #[test]
    fn writes_the_address_where_there_is_room() {
        let flow =
            send("Inject -> StoreIP6Address(2001:db8::1, 2) -> Collect(0)", [vec![9; 20], vec![9; 17]]);
        let [long, short] = &flow.data(0)[..] else { panic!("two packets") };
        assert_eq!((&long[..6], long[17], &long[18..]), (&[9, 9, 0x20, 1, 0x0d, 0xb8][..], 1, &[9, 9][..]));
        assert_eq!(*short, [9; 17]);
        let flow = send("Inject -> SetIP6Address(::7) -> StoreIP6Address(0) -> Collect(0)", [vec![9; 16]]);
        assert_eq!(flow.data(0)[0][15], 7);
        assert!(errors("Idle -> StoreIP6Address(nowhere) -> Discard").contains("byte offset"));
        assert!(errors("Idle -> StoreIP6Address(::1, 2, 3) -> Discard").contains("too many arguments"));
    }
}
