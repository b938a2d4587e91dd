//! Turns IP packets into TCP packets.
//!
//! ```click
//! ForceTCP([DPORT, RANDOM_DPORT, FLAGS])
//! ```
//!
//! Expects packets with a marked IP header and at least 20 bytes after it. Sets their TCP checksum, and the fields
//! given as arguments. A TCP header length that is too small, or beyond the packet, becomes a random one within the
//! packet. Shorter packets are dropped, and the first one is reported.
//!
//! It is meant for testing other elements with random packets.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated; each counts packets separately.
//!
//! # Arguments
//! - `DPORT` (port, default 0): the destination port; 0 or -1 leaves it as it is.
//! - `RANDOM_DPORT` (boolean, default false): whether, without DPORT, the first two packets of every eight get port
//!   80, and the fourth a random port below 1024.
//! - `FLAGS` (integer, default -1): the flags octet; -1 leaves it as it is.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! RandomSource(60) -> ForceIP -> ForceTCP(80, FLAGS 2) -> SetIPChecksum -> IPPrint -> Discard
//! ```
//!
//! # See also
//! ForceIP, SetTCPChecksum, CheckTCPHeader

use super::force::{BadLengths, Port};
use super::message::Message;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::tcp::{self, HEADER_LEN, Header};

/// The class.
pub(crate) const CLASS: Class = Class::new("ForceTCP", create).doc(router::manual!("force_tcp.rs"));

/// The octet of the header whose upper half is the header's length in words.
const OFFSET_OCTET: usize = 12;

struct ForceTcp {
    port: Option<u16>,
    random: bool,
    flags: Option<u8>,
    count: u32,
    bad: BadLengths,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut port, mut random, mut flags) = (Port::default(), false, -1i32);
    config
        .args()
        .positional("DPORT", &mut port)
        .positional("RANDOM_DPORT", &mut random)
        .positional("FLAGS", &mut flags)
        .finish()?;
    let port = port.0.filter(|&port| port > 0);
    let flags = (flags != -1).then_some(flags as u8);
    Ok(Box::new(PerPacket(ForceTcp { port, random, flags, count: 0, bad: BadLengths::default() })))
}

/// The octet with a header length that is below the least or beyond the segment replaced by a random one.
fn corrected(cx: &mut Cx<'_>, octet: u8, len: usize) -> u8 {
    if (HEADER_LEN..=len).contains(&(usize::from(octet >> 4) * 4)) {
        return octet;
    }
    let any = match len - HEADER_LEN {
        0 => len,
        spare => cx.rng().usize(..spare),
    };
    (any >> 2 << 4) as u8 | octet & 0x0f
}

impl ForceTcp {
    /// The port of this packet, if it gets another one.
    fn next_port(&mut self, cx: &mut Cx<'_>) -> Option<u16> {
        let turn = self.count & 7;
        self.count = self.count.wrapping_add(1);
        self.port.or_else(|| match turn {
            0 | 1 if self.random => Some(80),
            3 if self.random => Some(cx.rng().u16(..1024)),
            _ => None,
        })
    }

    fn force(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Option<()> {
        let message = Message::of(packet)?;
        let segment = message.bytes_mut(packet).filter(|segment| segment.len() >= HEADER_LEN)?;
        segment[OFFSET_OCTET] = corrected(cx, segment[OFFSET_OCTET], segment.len());
        let mut header = Header::new_checked_mut(&mut *segment).ok()?;
        if let Some(flags) = self.flags {
            header.set_flags(flags);
        }
        if let Some(port) = self.next_port(cx) {
            header.set_dst_port(port);
        }
        tcp::fill_checksum_v4(message.src, message.dst, segment).ok()
    }
}

impl Simple for ForceTcp {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match self.force(cx, packet) {
            Some(()) => Verdict::Pass,
            None => self.bad.reject(cx, "ForceTCP", "bad TCP length"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use elements_testing::samples::hostile;
    use elements_testing::transport_samples::{carrying, tcp};
    use proptest::prelude::*;

    fn config(arguments: &str) -> String {
        format!("Inject -> MarkIPHeader -> ForceTCP({arguments}) -> Collect(0)")
    }

    #[test]
    fn writes_the_ports_and_flags_asked_for() {
        let ports = |arguments: &str| -> Vec<u16> {
            let flow = send(&config(arguments), vec![carrying(6, 1, &tcp(b"abc")); 9]);
            flow.data(0).iter().map(|data| u16::from_be_bytes([data[26], data[27]])).collect()
        };
        assert_eq!(ports(""), [80; 9]);
        assert_eq!(ports("22, true"), [22; 9]);
        let mut segment = tcp(b"");
        segment[3] = 99;
        let flow = send(&config("-1, true, 8"), vec![carrying(6, 0, &segment); 9]);
        let ports: Vec<u8> = flow.data(0).iter().map(|data| data[23]).collect();
        assert_eq!([&ports[..3], &ports[4..]].concat(), [80, 80, 99, 99, 99, 99, 99, 80]);
        assert!(flow.data(0)[3][22] < 4);
        assert!(flow.data(0).iter().all(|data| data[33] == 8));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Packets are dropped, or their header length is within them; the checksum is right.
        #[test]
        fn whatever_comes(packets in hostile(), octet in any::<u8>()) {
            send(&config("FLAGS 2, RANDOM_DPORT true"), packets);
            let mut segment = tcp(b"abcdefgh");
            segment[12] = octet;
            let flow = send(&config(""), [carrying(6, 0, &segment)]);
            let bytes = &flow.only(0).data()[20..];
            prop_assert!(usize::from(bytes[12] >> 4) * 4 <= bytes.len());
            let ip = wire::ipv4::Header::new_checked(flow.only(0).data()).unwrap();
            prop_assert_eq!(wire::tcp::verify_checksum_v4(ip.src(), ip.dst(), bytes), Ok(()));
        }
    }
}
