//! Compresses the headers of TCP packets.
//!
//! ```click
//! RFC2507Comp
//! ```
//!
//! Expects packets that start with an IP header. After the first packet of a TCP connection, most of the 40 bytes of
//! headers are replaced by an encoding of what changed in them, as RFC 2507 specifies: three or four bytes and the
//! TCP checksum. RFC2507Decomp at the other end of the link restores them; the link must neither lose nor reorder
//! packets. Fourteen connections have a context at a time; a new one takes the place of another.
//!
//! Each packet gets a leading byte that gives its type: 0 unchanged, 1 with full headers and the context's number, 2
//! with compressed headers. Fragments, packets with IP options, packets of other protocols, and packets that begin or
//! end a connection are sent unchanged. The IP header is no longer marked.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true, FORCE_IP true) -> RFC2507Comp -> link :: Queue -> Unqueue -> RFC2507Decomp -> CheckIPHeader -> Discard
//! ```
//!
//! # Differences from Click
//! Nothing is printed. Contexts are reused in turn. Where Click's decompressor would restore a wrong identification,
//! urgent flag or other flags, packets are sent with full headers.
//!
//! # See also
//! RFC2507Decomp

use super::header_compression::{COMPRESSED, CONNECTIONS, Difference, FULL, HEADERS_LEN, Headers, OTHER, at};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Residency, Simple, Verdict};
use wire::ip_proto;
use wire::ipv4;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("RFC2507Comp", create).residency(Residency::Exclusive).doc(include_str!("rfc2507_comp.rs"));

const NO_ROOM: &str = "no room for a context's number";

/// The last headers of each connection.
struct Rfc2507Comp {
    contexts: [Option<Headers>; CONNECTIONS],
    /// The context that is taken next.
    next: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(Rfc2507Comp { contexts: [None; CONNECTIONS], next: 0 })))
}

/// TCP's flags FIN, SYN, RST and ACK.
const MATTER: u8 = 0x17;
const ACK: u8 = 0x10;

/// The headers of a packet, if they can be compressed.
fn headers(data: &[u8]) -> Option<Headers> {
    let headers = *data.first_chunk::<HEADERS_LEN>()?;
    let ip = ipv4::Header::new_checked(&headers[..]).ok()?;
    let is_plain = headers[0] == 0x45 && !ip.is_fragment() && ip.protocol() == ip_proto::TCP;
    let whole = usize::from(ip.total_len()) == data.len();
    (is_plain && whole && headers[at::FLAGS] & MATTER == ACK).then_some(headers)
}

impl Rfc2507Comp {
    /// The context of the connection that headers belong to.
    fn context(&self, headers: &Headers) -> Option<usize> {
        let connection = |headers: &Headers| headers[at::ADDRESSES..at::SEQ].first_chunk::<12>().copied();
        let wanted = connection(headers);
        self.contexts.iter().position(|known| known.as_ref().is_some_and(|known| connection(known) == wanted))
    }

    /// Compresses a packet; false if there is no room for that.
    fn compress(&mut self, packet: &mut Packet) -> bool {
        let Some(now) = headers(packet.data()) else {
            return packet.push_array().map(|front| *front = [OTHER]).is_some();
        };
        let known = self.context(&now);
        let place = known.unwrap_or(self.next);
        if known.is_none() {
            self.next = (self.next + 1) % CONNECTIONS;
            self.contexts[place] = None;
        }
        let last = self.contexts[place].replace(now);
        let number = place as u8 + 1;
        match last.and_then(|last| Difference::of(&last, &now)) {
            None => packet.push_array().map(|front| *front = [FULL, number]).is_some(),
            Some(difference) => {
                let [high, low] = [now[at::CHECKSUM], now[at::CHECKSUM + 1]];
                let fixed = [COMPRESSED, number, difference.changes, high, low];
                let len = fixed.len() + difference.bytes().len();
                let shortened = packet.pull(HEADERS_LEN - len);
                let front = &mut packet.data_mut()[..len];
                front[..fixed.len()].copy_from_slice(&fixed);
                front[fixed.len()..].copy_from_slice(difference.bytes());
                shortened
            }
        }
    }
}

impl Simple for Rfc2507Comp {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        packet.clear_network();
        if self.compress(packet) { Verdict::Pass } else { Verdict::Drop(NO_ROOM) }
    }
}
