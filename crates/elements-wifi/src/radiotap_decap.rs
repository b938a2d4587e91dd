//! Takes radiotap headers off wireless frames.
//!
//! ```click
//! RadiotapDecap
//! ```
//!
//! Linux puts a radiotap header in front of each frame that an interface in monitor mode shows. What it says of time,
//! channel, signal, noise, rate and outcome becomes the packet's annotation; the header is taken off, and a frame
//! check sequence at the end, too. Fields of kinds that are unknown end the reading. Packets without a whole header
//! are dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Example
//! ```click
//! FromDevice(mon0) -> RadiotapDecap -> FilterPhyErr -> PrintWifi -> Discard;
//! ```
//!
//! # See also
//! RadiotapEncap, Prism2Decap, ExtraDecap, PrintWifi, WifiDecap

use super::extra::{self, Extra, flag};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::radiotap::{self, Header, field};

/// The class.
pub(crate) const CLASS: Class = Class::new("RadiotapDecap", create).doc(router::manual!("radiotap_decap.rs"));

/// Octets of a frame check sequence.
const CHECK_LEN: usize = 4;
/// A bit of the flags of sent frames: too often sent in vain.
const FAILED: u8 = 1;
/// A bit of the flags of received frames: the physical layer's check failed.
const BAD_PHYSICAL: u8 = 2;

struct RadiotapDecap;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(RadiotapDecap)))
}

/// Notes what a field says.
#[inline]
fn note(extra: &mut Extra, number: u8, contents: &[u8]) {
    let &[first, ..] = contents else { return };
    match (number, contents) {
        (field::TSFT, &[a, b, c, d, e, f, g, h]) => extra.set_time([a, b, c, d, e, f, g, h]),
        (field::FLAGS, _) => {
            if first & radiotap::flag::PADDED != 0 {
                extra.set_padded();
            }
            if first & radiotap::flag::BAD_CHECK_SEQUENCE != 0 {
                extra.mark(flag::RX_ERROR, true);
            }
        }
        (field::RATE, _) => extra.set_rate(0, first as i8),
        (field::MCS, &[_, _, index]) => {
            extra.set_rate(0, index as i8);
            extra.mark(flag::MCS, true);
        }
        (field::DATA_RETRIES, _) => extra.set_tries(0, first.wrapping_add(1)),
        (field::CHANNEL, &[low, high, ..]) => extra.set_channel([low, high]),
        (field::DBM_SIGNAL | field::DB_SIGNAL, _) => extra.set_signal(first),
        (field::DBM_NOISE | field::DB_NOISE, _) => extra.set_noise(first),
        (field::RX_FLAGS, _) if first & BAD_PHYSICAL != 0 => extra.mark(flag::RX_ERROR, true),
        (field::TX_FLAGS, _) => {
            extra.mark(flag::TX, true);
            extra.mark(flag::TX_FAIL, first & FAILED != 0);
        }
        _ => {}
    }
}

impl Simple for RadiotapDecap {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Ok(header) = Header::new_checked(packet.data()) else {
            return Verdict::Drop("no radiotap header");
        };
        let (mut extra, mut checked) = (Extra::empty(), false);
        for (number, contents) in header.fields() {
            note(&mut extra, number, contents);
            checked |= number == field::FLAGS && contents[0] & radiotap::flag::CHECK_SEQUENCE != 0;
        }
        let len = header.len();
        if checked && !packet.take(CHECK_LEN.min(packet.len() - len)) {
            return Verdict::Drop("no radiotap header");
        }
        extra::set(packet, |own| *own = extra);
        let _ = packet.pull(len);
        packet.set_mac_offset(0);
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;

    /// A header as Linux makes it: time, flags, rate, channel, signal, noise; then a frame with its check sequence.
    fn frame(flags: u8) -> Vec<u8> {
        let fixed = [0, 0, 26, 0, 0x6f, 0x40, 0, 0];
        let fields = [1, 2, 3, 4, 5, 6, 7, 8, flags, 108, 0x6c, 9, 0xc0, 0, 0xd0, 0xa1, 2, 0];
        [&fixed[..], &fields, &[8, 0, 9, 9, 0xaa, 0xbb, 0xcc, 0xdd]].concat()
    }

    #[test]
    fn the_header_becomes_the_annotation() {
        let config = "Inject -> RadiotapDecap -> e :: FilterPhyErr -> Collect(0); e[1] -> Collect(1)";
        let clean = {
            let mut clean = frame(0x10);
            clean[24] = 0;
            clean
        };
        let flow = send(config, [clean.clone(), frame(0), frame(0x50), clean[..25].to_vec(), vec![1; 40]]);
        assert_eq!(flow.data(0), [[8, 0, 9, 9]]);
        assert_eq!(flow.data(1), [vec![8, 0, 9, 9, 0xaa, 0xbb, 0xcc, 0xdd], vec![8, 0, 9, 9]]);
        let (_, packet) = flow.seen.iter().find(|(at, _)| *at == 0).unwrap();
        let seen = packet.annotations();
        assert_eq!(seen[16..32], [1, 0x20, 0x49, 7, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0x6c, 9]);
        assert_eq!((seen[32], seen[33], seen[36]), (0xd0, 0xa1, 108));
        assert_eq!((packet.mac_offset(), flow.drops()), (Some(0), vec![("no radiotap header", 2)]));
    }

    #[test]
    fn sent_frames() {
        let header = |bits: u32, rest: &[u8]| {
            let mut bytes = vec![0, 0, 8 + rest.len() as u8, 0];
            bytes.extend(bits.to_le_bytes());
            [&bytes[..], rest, &[7]].concat()
        };
        let flow = send(
            "Inject -> RadiotapDecap -> f :: FilterTX -> Collect(0); f[1] -> Collect(1)",
            [header(1 << 15 | 1 << 17 | 1 << 19, &[1, 0, 4, 7, 0, 13]), header(0, &[])],
        );
        assert_eq!((flow.data(0).len(), flow.data(1).len()), (1, 1));
        let (_, packet) = flow.seen.iter().find(|(at, _)| *at == 1).unwrap();
        let seen = packet.annotations();
        assert_eq!((&seen[28..30], seen[36], seen[40]), (&[3, 2][..], 13, 5));
    }
}
