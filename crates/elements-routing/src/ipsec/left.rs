//! Numbers of associations as bytes, for another process that has the same associations: none may come twice under a key.
//!
//! Keys are not written. The other process has an association from its arguments, and goes on with its numbers; one that the kernel brings
//! it (KernelIPsec) goes on behind what the kernel was told, as after a restart.

use super::table::Tables;
use rcu::Turn;
use router::{BadState, StateReader, StateWriter};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

impl Tables {
    /// Writes the numbers of all associations.
    pub(super) fn write(&self, out: &mut StateWriter) {
        let all = self.associations();
        out.u64(all.len() as u64);
        for usage in all.iter().map(|sa| sa.usage()) {
            match usage.destination {
                IpAddr::V4(address) => out.bytes(&address.octets()),
                IpAddr::V6(address) => out.bytes(&address.octets()),
            }
            out.u32(usage.spi);
            [usage.sent, usage.received, usage.packets, usage.bytes].iter().for_each(|&count| out.u64(count));
        }
    }

    /// Goes on with the numbers of associations that are here, too.
    pub(super) fn read(&self, state: &mut StateReader, turn: Turn<'_>) -> Result<(), BadState> {
        for _ in 0..state.u64()? {
            let octets = state.bytes()?;
            let four = <[u8; 4]>::try_from(octets).map(|octets| IpAddr::V4(Ipv4Addr::from(octets)));
            let sixteen = <[u8; 16]>::try_from(octets).map(|octets| IpAddr::V6(Ipv6Addr::from(octets)));
            let destination = four.or(sixteen).map_err(|_| BadState("no address of an association"))?;
            let spi = state.u32()?;
            let [sent, received, packets, bytes] = [state.u64()?, state.u64()?, state.u64()?, state.u64()?];
            if let Some(sa) = self.sad.find(spi, destination, turn) {
                sa.go_on([sent, received], [packets, bytes]);
            }
        }
        Ok(())
    }
}
