//! Where packets go: as the product's lookup elements send them.

use packet::Packet;
use router::Verdict;
use std::net::Ipv4Addr;

/// A next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hop {
    /// The gateway; the unspecified address if there is none.
    pub gateway: Ipv4Addr,
    /// The output.
    pub port: u32,
}

impl Hop {
    /// One of some next hops by its number: each has a gateway of its own, and outputs come in turn.
    pub fn numbered(number: u32, outputs: u32) -> Hop {
        Hop { gateway: Ipv4Addr::from(0x0a00_0001 + number), port: number % outputs.max(1) }
    }
}

/// Sets a packet's destination annotation to the gateway, and says which output it leaves by.
#[inline(always)] // in the loop of each element
pub(crate) fn send(packet: &mut Packet, hop: Option<&Hop>) -> Verdict {
    let Some(&Hop { gateway, port }) = hop else { return Verdict::Drop("no route") };
    if gateway != Ipv4Addr::UNSPECIFIED {
        packet.set_dst_ip(gateway);
    }
    Verdict::Output(port as usize)
}
