//! Fragments that wait for the others of their packet.

use crate::datagram::{CE, Datagram};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// What the fragments of a packet have in common (RFC 791, section 3.2; RFC 8200, section 4.5).
type Key = (IpAddr, IpAddr, u8, u32);

/// How long fragments wait. An identifier that comes again after that belongs to another packet.
const PATIENCE_NS: i64 = 10_000_000_000;

#[derive(Default)]
pub(super) struct Parts {
    packets: BTreeMap<Key, Packet>,
}

#[derive(Default)]
struct Packet {
    last_ns: i64,
    parts: BTreeMap<usize, Datagram>,
    /// Where the packet ends, once its last part is here.
    end: Option<usize>,
    /// The offsets of a packet that was complete: nothing more of it may come.
    done: BTreeSet<usize>,
}

impl Parts {
    /// Takes a packet, or a part of one; returns the packet that is whole now.
    ///
    /// # Errors
    /// That a part has come twice.
    pub(super) fn add(&mut self, now_ns: i64, part: Datagram) -> Result<Option<Datagram>, String> {
        let Some(fragment) = part.fragment else { return Ok(Some(part)) };
        let key = (part.src, part.dst, part.protocol, fragment.id);
        let packet = self.packets.entry(key).or_default();
        if now_ns - packet.last_ns > PATIENCE_NS {
            *packet = Packet::default();
        }
        packet.last_ns = now_ns;
        if packet.done.contains(&fragment.offset) || packet.parts.contains_key(&fragment.offset) {
            return Err(format!("the part at {} of a packet from {} comes twice", fragment.offset, part.src));
        }
        if !fragment.more {
            packet.end = Some(fragment.offset + part.payload.len());
        }
        packet.parts.insert(fragment.offset, part);
        Ok(packet.whole())
    }
}

impl Packet {
    fn whole(&mut self) -> Option<Datagram> {
        let mut payload = Vec::new();
        for (&offset, part) in &self.parts {
            if offset != payload.len() {
                return None;
            }
            payload.extend(&part.payload);
        }
        if self.end != Some(payload.len()) {
            return None;
        }
        let parts = std::mem::take(&mut self.parts);
        // Congestion that one part has met the whole has met (RFC 3168, section 5.3).
        let congested = parts.values().any(|part| part.ecn == CE);
        self.done = parts.keys().copied().collect();
        let first = parts.into_values().next()?;
        let ecn = if congested { CE } else { first.ecn };
        Some(Datagram { fragment: None, payload, ecn, ..first })
    }
}
