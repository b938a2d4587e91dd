//! Processes hop-by-hop options of IPv6 packets.
//!
//! ```click
//! IP6GWOptions()
//! ```
//!
//! Expects packets with a marked IPv6 header. Packets without a hop-by-hop options header, and those with options that
//! are known or whose type says that they may be ignored, leave by output 0. Known are padding and the router alert
//! option (RFC 2711). For an unknown option the two highest bits of its type
//! say what to do (RFC 8200, section 4.2): 00 ignore it; 01 drop the packet; 10 drop it and send an ICMPv6 parameter
//! problem with code 2; 11 the same unless the packet's destination is a multicast group. Packets about which a message
//! is to be sent leave by output 1, if that is connected, with the option's place in the parameter problem annotation,
//! for ICMP6Error. If an option is cut off by the end of its header, the packet is dropped.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! - `drops` (read): packets with options that do not let them pass, also those that leave by output 1.
//!
//! # Example
//! ```click
//! InfiniteSource -> CheckIP6Header -> o :: IP6GWOptions -> Discard;
//! o[1] -> ICMP6Error(2001:db8::1, 4, 2) -> Discard
//! ```
//!
//! # See also
//! CheckIP6Header, ICMP6Error, IPGWOptions, HopByHopEncap

use super::header::NO_HEADER;
use elements_shared::verdict::fail;
use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};
use wire::ip_proto;
use wire::ipv6::HEADER_LEN;

/// The class. Clique's own: Click forwards packets whatever their options are.
pub(crate) const CLASS: Class = Class::new("IP6GWOptions", create)
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("ip6_gw_options.rs"));

/// Options that are known: one byte and several bytes of padding, and the router alert.
const PAD_1: u8 = 0;
const KNOWN: [u8; 2] = [1, 5];

const CUT: &str = "hop-by-hop option cut off";
const DISCARD: &str = "unknown option says to drop the packet";

/// What options say.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Pass,
    Drop(&'static str),
    /// The sender is told about the option at this place.
    Tell(usize),
}

struct Ip6GwOptions {
    outputs: usize,
    drops: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(Ip6GwOptions { outputs: config.outputs(), drops: 0 })))
}

/// What the hop-by-hop options say of a packet that begins with an IPv6 header with some.
fn outcome(bytes: &[u8]) -> Outcome {
    let is_multicast = bytes.get(24) == Some(&0xff);
    let header = bytes.get(HEADER_LEN..).unwrap_or_default();
    let len = header.get(1).map_or(usize::MAX, |&words| 8 + usize::from(words) * 8);
    let Some(options) = header.get(..len) else { return Outcome::Drop(CUT) };
    let mut at = 2;
    while let Some(&kind) = options.get(at) {
        if kind == PAD_1 {
            at += 1;
            continue;
        }
        let end = options.get(at + 1).map(|&len| at + 2 + usize::from(len)).filter(|&end| end <= len);
        let Some(end) = end else { return Outcome::Drop(CUT) };
        match kind >> 6 {
            _ if KNOWN.contains(&kind) => {}
            0b00 => {}
            0b01 => return Outcome::Drop(DISCARD),
            0b11 if is_multicast => return Outcome::Drop(DISCARD),
            _ => return Outcome::Tell(HEADER_LEN + at),
        }
        at = end;
    }
    Outcome::Pass
}

impl Ip6GwOptions {
    #[cold]
    fn look(&mut self, packet: &mut Packet) -> Verdict {
        match packet.network().map_or(Outcome::Drop(NO_HEADER), outcome) {
            Outcome::Pass => Verdict::Pass,
            Outcome::Drop(reason) => {
                self.drops += 1;
                Verdict::Drop(reason)
            }
            Outcome::Tell(place) => {
                self.drops += 1;
                // The annotation has one byte: about an option further behind no message is sent.
                let Ok(place) = u8::try_from(place) else { return Verdict::Drop(DISCARD) };
                packet.set_anno(Anno::ICMP_PARAMPROB, place.into());
                fail(self.outputs, DISCARD)
            }
        }
    }
}

impl Simple for Ip6GwOptions {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match packet.network().map(|bytes| bytes.get(6)) {
            Some(Some(&next)) if next != ip_proto::HOP_BY_HOP => Verdict::Pass,
            _ => self.look(packet),
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("drops", |e: &mut Ip6GwOptions, _| e.drops).merged(Merge::Sum);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;

    /// A packet to a host or to a group, with these options and data behind.
    fn packet(group: bool, options: &[u8]) -> Vec<u8> {
        let mut options = [&[17, 0], options].concat();
        options.resize(options.len().next_multiple_of(8), 0);
        options[1] = (options.len() / 8 - 1) as u8;
        let mut bytes = vec![0; 40];
        (bytes[0], bytes[5], bytes[6], bytes[7]) = (0x60, (options.len() + 8) as u8, 0, 64);
        (bytes[8], bytes[24]) = (0x20, if group { 0xff } else { 0x20 });
        [bytes, options, vec![7; 8]].concat()
    }

    /// The two highest bits of an unknown option's type say what becomes of the packet (RFC 8200, section 4.2).
    #[test]
    fn types_say_what_to_do() {
        let packets = [
            (packet(false, &[0x3e, 4, 1, 2, 3, 4]), None),
            (packet(false, &[5, 2, 0, 0, 1, 0]), None),
            (packet(false, &[0x7e, 4, 1, 2, 3, 4]), None),
            (packet(false, &[0xbe, 0]), Some(42)),
            (packet(true, &[0, 0xbe, 0]), Some(43)),
            (packet(false, &[1, 0, 0xfe, 1, 9]), Some(44)),
            (packet(true, &[0xfe, 0]), None),
            (packet(false, &[0x3e, 200]), None),
            (packet(false, &[0; 5]), None),
            (packet(false, &[0, 0, 0, 0, 0, 1]), None),
        ];
        let config = "Inject -> MarkIP6Header -> o :: IP6GWOptions -> Collect(0); o[1] -> Collect(1)";
        let mut flow = send(config, packets.iter().map(|packet| packet.0.clone()));
        assert_eq!(flow.data(0), [0, 1, 8].map(|at: usize| packets[at].0.clone()));
        let told: Vec<_> = flow.seen.iter().filter(|seen| seen.0 == 1).map(|seen| &seen.1).collect();
        let places: Vec<u64> = told.iter().map(|packet| packet.anno(packet::Anno::ICMP_PARAMPROB)).collect();
        assert_eq!(places, [42, 43, 44]);
        assert_eq!(flow.read("o.drops"), "7");
        assert_eq!(
            flow.drops(),
            [("hop-by-hop option cut off", 2), ("unknown option says to drop the packet", 2)]
        );
    }

    /// Without a second output such packets are dropped, and others do not notice.
    #[test]
    fn without_a_second_output() {
        let mut plain = packet(false, &[0; 6]);
        plain[6] = 17;
        let packets = [plain.clone(), packet(false, &[0xbe, 0]), packet(false, &[0xbe; 240])];
        let flow = send("Inject -> MarkIP6Header -> IP6GWOptions -> Collect(0)", packets);
        assert_eq!(flow.data(0), [plain]);
        assert_eq!(flow.drops(), [("unknown option says to drop the packet", 2)]);
    }
}
