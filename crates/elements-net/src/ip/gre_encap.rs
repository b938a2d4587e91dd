//! Encapsulates packets in GRE.
//!
//! ```click
//! GREEncap(PROTOCOL [, KEYWORDS])
//! ```
//!
//! Prepends a GRE header (generic routing encapsulation, RFC 2784); use IPEncap to add an IP header with protocol 47.
//! It comes from Click's package `gre`, but the checksum covers the header and everything after it, as the RFC
//! requires.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated; they share one sequence.
//!
//! # Arguments
//! - `PROTOCOL` (integer): the EtherType of the payload.
//! - `CHECKSUM` (boolean, default false): whether to add a checksum.
//! - `KEY` (integer, default 0): the key, which distinguishes several tunnels between the same hosts; 0: no key.
//! - `SEQUENCE` (boolean, default false): whether to add sequence numbers, from 0 on.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 1) -> UDPIPEncap(10.0.0.1, 1, 10.0.0.2, 2) -> GREEncap(0x0800, KEY 7) -> IPEncap(47, 1.0.0.1, 2.0.0.1) -> Discard;
//! ```
//!
//! # See also
//! CheckGREHeader, StripGREHeader, IPEncap

use elements_shared::ecn;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use wire::ethernet::ether_type;
use wire::gre::{self, Header};

/// The class.
pub(crate) const CLASS: Class = Class::new("GREEncap", create).doc(router::manual!("gre_encap.rs"));

struct GreEncap {
    /// The header, as long as it is, with zeros in place of checksum and number.
    header: [u8; gre::LONGEST],
    len: usize,
    summed: bool,
    /// Whether IP packets are inside, whose congestion mark the outer header is to have.
    ip: bool,
    /// The next packet's number, if they are numbered.
    next: Option<Arc<AtomicU32>>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut protocol, mut key, mut summed, mut numbers) = (0u16, 0u32, false, false);
    config
        .args()
        .required("PROTOCOL", &mut protocol)
        .keyword("CHECKSUM", &mut summed)
        .keyword("KEY", &mut key)
        .keyword("SEQUENCE", &mut numbers)
        .finish()?;
    let ip = matches!(protocol, ether_type::IPV4 | ether_type::IPV6);
    let (key, sequence) = (Some(key).filter(|key| *key != 0), numbers.then_some(0));
    let header = Header { protocol, summed, key, sequence };
    let next = Some(config.shared(|| Ok(AtomicU32::new(0)))?).filter(|_| numbers);
    Ok(Box::new(PerPacket(GreEncap { header: header.bytes(), len: header.len(), summed, ip, next })))
}

impl GreEncap {
    /// Puts a header of `N` bytes in front. `None` if there is no room.
    #[inline(always)] // one call less for every packet
    fn put<const N: usize>(&self, packet: &mut Packet) -> Option<()> {
        *packet.push_array::<N>()? = *self.header.first_chunk()?;
        Some(())
    }

    /// Fills in what differs from packet to packet.
    #[inline(never)] // headers that have nothing of it are put in front by few instructions
    fn fill(&self, packet: &mut Packet) {
        let data = packet.data_mut();
        // Nothing comes behind the number.
        let number = data.get_mut(..self.len).and_then(|header| header.last_chunk_mut());
        if let (Some(next), Some(number)) = (&self.next, number) {
            *number = next.fetch_add(1, Relaxed).to_be_bytes();
        }
        if self.summed {
            gre::fill_checksum(data);
        }
    }
}

impl Simple for GreEncap {
    #[inline(always)] // one call less for every packet
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if self.ip {
            packet.set_enclosed_ecn(ecn::mark(packet.data()).unwrap_or(0));
        }
        let put = match self.len {
            4 => self.put::<4>(packet),
            8 => self.put::<8>(packet),
            12 => self.put::<12>(packet),
            _ => self.put::<16>(packet),
        };
        if put.is_none() {
            return Verdict::Drop("no headroom");
        }
        if self.summed || self.next.is_some() {
            self.fill(packet);
        }
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{send, send_one};

    #[test]
    fn writes_checksum_key_and_sequence_number() {
        let plain = send_one("Inject -> GREEncap(0x0800) -> Collect(0)", vec![9]);
        assert_eq!(plain.data(0), [[0, 0, 8, 0, 9]]);
        let config = "Inject -> GREEncap(0x86dd, CHECKSUM true, KEY 7, SEQUENCE true) -> Collect(0)";
        let flow = send(config, [vec![9], vec![9, 9]]);
        // The words add up to b000 + 86dd + 7 + 0900, and in the second packet 1 + 0909.
        let start = [0xb0, 0, 0x86, 0xdd];
        let first = [&start[..], &[0xc0, 0x1a, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 9]].concat();
        let second = [&start[..], &[0xc0, 0x10, 0, 0, 0, 0, 0, 7, 0, 0, 0, 1, 9, 9]].concat();
        assert_eq!(flow.data(0), [first, second]);
    }
}
