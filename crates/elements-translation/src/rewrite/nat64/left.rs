//! IPv6 hosts as bytes, for another process that goes on with their flows.

use super::hosts::Left;
use super::six::Six;
use rcu::Turn;
use router::{BadState, StateReader, StateWriter};
use std::net::Ipv6Addr;

impl Six {
    /// Writes the prefix and the hosts.
    pub(super) fn write(&self, out: &mut StateWriter, turn: Turn<'_>) {
        out.bytes(self.prefix.to_string().as_bytes());
        let all = self.hosts().leave(turn);
        out.u64(all.len() as u64);
        for Left { entry, address, seen_s, is_listed } in all {
            let bits = address.to_bits();
            out.u64((bits >> 64) as u64);
            out.u64(bits as u64);
            out.u32(entry);
            out.u32(seen_s);
            out.u32(u32::from(is_listed));
        }
    }

    /// Reads hosts, before the first packet. False if they cannot go on here.
    pub(super) fn read(&self, state: &mut StateReader, turn: Turn<'_>) -> Result<bool, BadState> {
        let is_same = state.bytes()? == self.prefix.to_string().as_bytes();
        let count = state.u64()?;
        let mut all = Vec::new();
        for _ in 0..count {
            let [high, low] = [state.u64()?, state.u64()?].map(u128::from);
            let address = Ipv6Addr::from_bits(high << 64 | low);
            let (entry, seen_s, is_listed) = (state.u32()?, state.u32()?, state.u32()? != 0);
            all.push(Left { entry, address, seen_s, is_listed });
        }
        if is_same {
            self.hosts().go_on(turn, &all);
        }
        Ok(is_same)
    }
}
