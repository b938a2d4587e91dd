//! A sample of forwarded packets, checked against the naive table and against what was sent in.

use super::INTERFACES;
use super::changes::changing;
use super::table::{Hop, Table, covering};
use device::frames::{FrameSet, Kind};
use device::memory::Interface;
use device::traffic::sequence_of;
use lpm::{Key, Naive, Prefix};
use std::collections::HashSet;
use std::sync::Arc;
use wire::{ethernet, ipv4, ipv6};

/// Disagreements that are kept word for word.
const KEPT: usize = 10;

/// Checks samples.
pub(super) struct Checker<'t> {
    table: &'t Table,
    frames: &'t FrameSet,
    /// Whether the frames carry their index, so that the original of a packet can be found.
    numbered: bool,
    changing4: HashSet<Prefix<u32>>,
    changing6: HashSet<Prefix<u128>>,
    /// Packets checked.
    pub(super) checked: u64,
    /// Packets that disagree, the first few.
    pub(super) disagreements: Vec<String>,
    /// How many disagree.
    pub(super) disagreeing: u64,
}

impl<'t> Checker<'t> {
    pub(super) fn new(table: &'t Table, frames: &'t FrameSet, numbered: bool) -> Checker<'t> {
        Checker {
            table,
            frames,
            numbered,
            changing4: changing(&table.v4),
            changing6: changing(&table.v6),
            checked: 0,
            disagreements: Vec::new(),
            disagreeing: 0,
        }
    }

    /// Checks what waits at the interfaces; how many packets that was.
    pub(super) fn drain(&mut self, interfaces: &[Arc<Interface>]) -> usize {
        let mut drained = 0;
        for (port, interface) in interfaces.iter().enumerate() {
            drained += interface.drain_tap(1_024, |frame| {
                self.checked += 1;
                if let Err(why) = self.check(port as u32, frame) {
                    self.disagreeing += 1;
                    if self.disagreements.len() < KEPT {
                        self.disagreements.push(format!("{}: {why}", INTERFACES[port]));
                    }
                }
            });
        }
        drained
    }

    fn check(&self, port: u32, frame: &[u8]) -> Result<(), String> {
        let header = ethernet::Header::new_checked(frame).map_err(|e| format!("no Ethernet frame: {e}"))?;
        let payload = &frame[ethernet::HEADER_LEN..];
        match header.ether_type() {
            ethernet::ether_type::IPV4 => self.check4(port, frame, payload),
            ethernet::ether_type::IPV6 => self.check6(port, frame, payload),
            other => Err(format!("EtherType {other:#06x}")),
        }
    }

    /// The frame that a forwarded one was made from, if it carries a number (ICMP errors do not).
    fn original(&self, frame: &[u8]) -> Result<Option<&[u8]>, String> {
        let Some(number) = sequence_of(frame).filter(|_| self.numbered) else { return Ok(None) };
        let original = self.frames.get(number as usize).ok_or(format!("frame {number} was never sent"))?;
        if original.kind != Kind::Good {
            return Err(format!("frame {number} ({:?}) should not have been forwarded", original.kind));
        }
        Ok(Some(&original.bytes[ethernet::HEADER_LEN..]))
    }

    fn check4(&self, port: u32, frame: &[u8], packet: &[u8]) -> Result<(), String> {
        ipv4::check(packet, true).map_err(|e| format!("IPv4 header: {e}"))?;
        let header = ipv4::Header::new_checked(packet).map_err(|e| e.to_string())?;
        if let Some(original) = self.original(frame)? {
            let before = ipv4::Header::new_checked(original).map_err(|e| e.to_string())?;
            same("destination", header.dst(), before.dst())?;
            same("source", header.src(), before.src())?;
            same("TTL", header.ttl() + 1, before.ttl())?;
            same("payload", &packet[20..], original.get(20..packet.len()).unwrap_or_default())?;
        }
        let hop = |prefix: Prefix<u32>| Hop::of(u128::from(prefix.addr()), prefix.len(), 1).id();
        let address = u32::from(header.dst());
        agrees(&self.table.naive4, &self.changing4, address, port, hop)
            .map_err(|routes| format!("{} left here, but its routes are {routes:?}", header.dst()))
    }

    fn check6(&self, port: u32, frame: &[u8], packet: &[u8]) -> Result<(), String> {
        let header = ipv6::Header::new_checked(packet).map_err(|e| e.to_string())?;
        if let Some(original) = self.original(frame)? {
            let before = ipv6::Header::new_checked(original).map_err(|e| e.to_string())?;
            same("destination", header.dst(), before.dst())?;
            same("hop limit", header.hop_limit() + 1, before.hop_limit())?;
            same("payload", &packet[40..], original.get(40..packet.len()).unwrap_or_default())?;
        }
        let hop = |prefix: Prefix<u128>| Hop::of(prefix.addr(), prefix.len(), 1).id();
        let address = u128::from(header.dst());
        agrees(&self.table.naive6, &self.changing6, address, port, hop)
            .map_err(|routes| format!("{} left here, but its routes are {routes:?}", header.dst()))
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, after: T, before: T) -> Result<(), String> {
    if after == before { Ok(()) } else { Err(format!("{what} {after:?}, expected {before:?}")) }
}

/// Whether a port is one that some version of the table sends this address to: the longest prefix that never changes
/// decides, and each longer one that changes may have either of its routes or be absent. The error lists the ports.
fn agrees<K: Key>(
    naive: &Naive<K>,
    changing: &HashSet<Prefix<K>>,
    address: K,
    port: u32,
    other: impl Fn(Prefix<K>) -> u32,
) -> Result<(), Vec<u32>> {
    let mut ports = Vec::new();
    for (prefix, id) in covering(naive, address) {
        ports.push(id);
        if !changing.contains(&prefix) {
            break;
        }
        ports.push(other(prefix));
    }
    if ports.contains(&port) { Ok(()) } else { Err(ports) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stable prefix ends the search; a changing one lets its other route and the shorter prefix through.
    #[test]
    fn versions_that_agree() {
        let prefix = |text: &str| text.parse::<Prefix<u32>>().expect("a prefix");
        let mut naive = Naive::new();
        for (text, id) in [("10.0.0.0/8", 0), ("10.1.0.0/16", 1), ("10.1.1.0/24", 2)] {
            naive.insert(prefix(text), id);
        }
        let address = 0x0a01_0101;
        let check = |changing: &[&str], port| {
            let changing = changing.iter().map(|text| prefix(text)).collect();
            agrees(&naive, &changing, address, port, |_| 3)
        };
        assert_eq!(check(&[], 2), Ok(()));
        assert_eq!(check(&[], 1), Err(vec![2]));
        assert_eq!(check(&["10.1.1.0/24"], 3), Ok(()));
        assert_eq!(check(&["10.1.1.0/24"], 1), Ok(()));
        assert_eq!(check(&["10.1.1.0/24"], 0), Err(vec![2, 3, 1]));
    }
}
