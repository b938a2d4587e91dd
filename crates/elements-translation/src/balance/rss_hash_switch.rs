//! Distributes packets over its outputs as network cards distribute them over their queues.
//!
//! ```click
//! RSSHashSwitch([KEYWORDS])
//! ```
//!
//! The output is the Toeplitz hash of a packet's addresses and ports, modulo MAX. The key is `6D5A` repeated, so that
//! both directions of a connection leave by the same output. Packets need a marked IP or IPv6 header. For protocols
//! other than TCP and UDP, and for fragments, only addresses count. All other packets leave by output 0. It is
//! FastClick's element.
//!
//! Ports: 1 input, 1 or more outputs. Processing: push. Workers: replicated; all compute the same.
//!
//! # Arguments
//! - `MAX` (integer, default the number of outputs): how many outputs to use.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> s :: RSSHashSwitch;
//! s [0] -> Discard;
//! s [1] -> Discard;
//! ```
//!
//! # See also
//! HashSwitch, IPRRSwitch, FlowMinLoadSwitch, AggregateHash

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::{ip_proto, ipv4};

/// The class.
pub(crate) const CLASS: Class = Class::new("RSSHashSwitch", create)
    .ports("1/1-")
    .processing("h/h")
    .doc(router::manual!("rss_hash_switch.rs"));

/// What the key repeats.
const KEY: u16 = 0x6d5a;

struct RssHashSwitch {
    outputs: u32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut outputs = config.outputs() as u32;
    config.args().keyword("MAX", &mut outputs).finish()?;
    if outputs == 0 || outputs as usize > config.outputs() {
        return Err(format!("MAX: between 1 and {} expected", config.outputs()).into());
    }
    Ok(Box::new(PerPacket(RssHashSwitch { outputs })))
}

/// The words of some bytes, joined by exclusive or.
#[inline]
fn joined(bytes: &[u8]) -> u16 {
    bytes.as_chunks().0.iter().fold(0, |sum, word| sum ^ u16::from_be_bytes(*word))
}

/// The Toeplitz hash of words that are joined so: it is linear, and with this key each word counts alike.
#[inline]
fn toeplitz(joined: u16) -> u32 {
    let bits = (0..16u32).filter(|bit| joined << bit & 0x8000 != 0);
    let half = bits.fold(0, |hash, bit| hash ^ KEY.rotate_left(bit));
    u32::from(half) << 16 | u32::from(half)
}

/// The joined words of a packet's addresses and ports. Ports of fragments do not count: later ones have none.
#[inline]
fn tuple(packet: &Packet) -> Option<u16> {
    let network = packet.network()?;
    let (addresses, protocol) = match network.first()? >> 4 {
        4 => {
            let ip = ipv4::Header::new_checked(network).ok()?;
            (&network[12..20], Some(ip.protocol()).filter(|_| !ip.is_fragment()))
        }
        6 => (network.get(8..40)?, network.get(6).copied()),
        _ => return None,
    };
    let has_ports = matches!(protocol, Some(ip_proto::TCP | ip_proto::UDP));
    let ports = packet.transport().filter(|_| has_ports).and_then(|transport| transport.get(..4));
    Some(joined(addresses) ^ ports.map_or(0, joined))
}

impl Simple for RssHashSwitch {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let hash = tuple(packet).map_or(0, toeplitz);
        Verdict::Output((hash % self.outputs) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash as it is defined: for each bit that is set, 32 bits of the key from that bit on.
    fn defined(bytes: &[u8], key: &[u8]) -> u32 {
        let bit_of = |bytes: &[u8], at: usize| u32::from(bytes[at / 8] >> (7 - at % 8) & 1);
        let window = |at: usize| (at..at + 32).fold(0, |word, at| word << 1 | bit_of(key, at));
        (0..bytes.len() * 8).filter(|&at| bit_of(bytes, at) == 1).fold(0, |hash, at| hash ^ window(at))
    }

    #[test]
    fn is_the_hash_of_cards() {
        // Microsoft's example of addresses and ports checks the definition, with its key.
        let tuple = [66, 9, 149, 187, 161, 142, 100, 80, 0x0a, 0xea, 0x06, 0xe6];
        let key =
            [0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0];
        assert_eq!(defined(&tuple, &key), 0x51cc_c178);
        let repeated: Vec<u8> = KEY.to_be_bytes().repeat(20);
        assert_eq!(toeplitz(joined(&tuple)), defined(&tuple, &repeated));
        assert_eq!(toeplitz(0), 0);
    }
}
