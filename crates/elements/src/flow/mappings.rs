//! Which host and port stands behind each port of a translator's address: what FlowIPNAT and FlowIPNATReverse share.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// An entry that is in use; the address is in front of the port.
const USED: u64 = 1 << 48;

/// A host for each port. Entries are words that stand by themselves: whoever reads one gets all of it.
pub(super) struct Mappings {
    pub(super) address: Ipv4Addr,
    entries: Box<[AtomicU64]>,
}

impl Mappings {
    pub(super) fn new(address: Ipv4Addr) -> Mappings {
        Mappings { address, entries: (0..=u16::MAX).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Says who stands behind a port.
    pub(super) fn set(&self, port: u16, host: Ipv4Addr, host_port: u16) {
        let entry = USED | u64::from(host.to_bits()) << 16 | u64::from(host_port);
        self.entries[usize::from(port)].store(entry, Relaxed);
    }

    /// Nobody does any more.
    pub(super) fn clear(&self, port: u16) {
        self.entries[usize::from(port)].store(0, Relaxed);
    }

    /// Who stands behind a port.
    #[inline]
    pub(super) fn get(&self, port: u16) -> Option<(Ipv4Addr, u16)> {
        let entry = self.entries[usize::from(port)].load(Relaxed);
        (entry & USED != 0).then_some((Ipv4Addr::from_bits((entry >> 16) as u32), entry as u16))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries() {
        let mappings = Mappings::new(Ipv4Addr::new(1, 2, 3, 4));
        let host = Ipv4Addr::new(255, 0, 0, 254);
        mappings.set(1024, host, 65535);
        mappings.set(65535, Ipv4Addr::UNSPECIFIED, 0);
        assert_eq!(mappings.get(1024), Some((host, 65535)));
        assert_eq!(mappings.get(65535), Some((Ipv4Addr::UNSPECIFIED, 0)));
        mappings.clear(1024);
        assert_eq!(mappings.get(1024), None);
    }
}
