//! Puts radiotap headers in front of wireless frames.
//!
//! ```click
//! RadiotapEncap
//! ```
//!
//! Puts a radiotap header in front of each frame, for an interface in monitor mode: at which rates the frame is to be
//! sent, how often at each of them, whether an acknowledgement is wanted, whether to ask before it for the air (RTS),
//! and whether its number is to stay, as its annotation says. Frames whose rates are indices of modulation and coding
//! schemes get a header of 38 bytes, others one of 31. Where the annotation does not say how often, a frame is sent
//! again eleven times.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 1) -> WifiEncap(0, 0:0:0:0:0:0) -> SetTXRate(22, TRIES 4) -> RadiotapEncap -> Discard;
//! ```
//!
//! # See also
//! RadiotapDecap, SetTXRate, SetRTS, SetNoAck, WifiSeq, ExtraEncap

use super::extra::{self, Extra, flag};
use super::reasons::NO_ROOM;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::radiotap::field;

/// The class.
pub(crate) const CLASS: Class = Class::new("RadiotapEncap", create).doc(router::manual!("radiotap_encap.rs"));

/// Octets of the fixed part, with a bitmap for each rate.
const FIXED: usize = 20;
/// Octets of a header with rates, and of one with indices.
const PLAIN: usize = FIXED + 11;
const INDICES: usize = FIXED + 18;
/// How often a frame is sent again that does not say it.
const RETRIES: u8 = 11;
/// Bits of what an interface is told of a frame, by what its annotation says: ask first whether the air is free, no acknowledgement is
/// wanted, it has a number.
const TOLD: [(u16, u8); 3] = [(flag::RTS, 0x04), (flag::NO_ACK, 0x08), (flag::NUMBERED, 0x10)];
/// Of an index are known the bandwidth, the index itself, the guard interval.
const KNOWN: u8 = 0x07;
/// Twice the bandwidth; a short guard interval.
const WIDE: u8 = 0x01;
const SHORT_GUARD: u8 = 0x04;

struct RadiotapEncap;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(RadiotapEncap)))
}

/// What the interface is told of a frame.
fn told(extra: &Extra) -> u8 {
    TOLD.iter().filter(|(flag, _)| extra.flags() & flag != 0).fold(0, |bits, (_, bit)| bits | bit)
}

fn retries(extra: &Extra, which: usize) -> u8 {
    extra.tries(which).checked_sub(1).unwrap_or(RETRIES)
}

/// How many rates are said: all up to the first that is -1, the first in any case.
fn rates(extra: &Extra) -> usize {
    (1..4).find(|which| extra.rate(*which) == -1).unwrap_or(4)
}

/// The beginning of a header, up to where its fields begin. Each rate has a bitmap of its own, the last of them
/// without a bit that another follows.
fn begin(bytes: &mut [u8], rate: u8, rates: usize) {
    let more = 1_u32 << field::NAMESPACE | 1 << field::MORE;
    let one = 1 << rate | 1 << field::DATA_RETRIES;
    bytes[2] = bytes.len() as u8;
    for (which, map) in bytes[4..FIXED].chunks_exact_mut(4).enumerate() {
        let own = if which < rates { one } else { 0 };
        let transmission = if which == 0 { 1 << field::TX_FLAGS } else { 0 };
        let map_bits = own | transmission | if which < 3 { more } else { 0 };
        map.copy_from_slice(&map_bits.to_le_bytes());
    }
}

/// The header of a frame whose rates are rates.
fn plain(extra: &Extra) -> [u8; PLAIN] {
    let (mut bytes, rates) = ([0; PLAIN], rates(extra));
    begin(&mut bytes, field::RATE, rates);
    bytes[20] = extra.rate(0) as u8;
    bytes[22] = told(extra);
    bytes[24] = retries(extra, 0);
    for which in 1..rates {
        bytes[23 + 2 * which] = extra.rate(which) as u8;
        bytes[24 + 2 * which] = retries(extra, which);
    }
    bytes
}

/// The header of a frame whose rates are indices.
fn indices(extra: &Extra) -> [u8; INDICES] {
    let (mut bytes, rates) = ([0; INDICES], rates(extra));
    begin(&mut bytes, field::MCS, rates);
    let has = |flag: u16, bit: u8| if extra.flags() & flag != 0 { bit } else { 0 };
    bytes[20] = told(extra);
    let flags = has(flag::SHORT_GUARD, SHORT_GUARD) | has(flag::WIDE, WIDE);
    for which in 0..rates {
        let rate = [retries(extra, which), KNOWN, flags, extra.rate(which) as u8];
        bytes[22 + 4 * which..26 + 4 * which].copy_from_slice(&rate);
    }
    bytes
}

impl Simple for RadiotapEncap {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let extra = extra::of(packet);
        let put = if extra.flags() & flag::MCS != 0 {
            packet.push_array().map(|place| *place = indices(&extra))
        } else {
            packet.push_array().map(|place| *place = plain(&extra))
        };
        put.map_or(Verdict::Drop(NO_ROOM), |()| Verdict::Pass)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::radiotap::Header;

    fn fields(bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
        Header::new_checked(bytes)
            .unwrap()
            .fields()
            .map(|(number, contents)| (number, contents.to_vec()))
            .collect()
    }

    /// What is written reads back as radiotap has it, with as many rates as there are.
    #[test]
    fn read_back() {
        let mut extra = Extra::empty();
        extra.set_rate(0, 22);
        extra.set_tries(0, 4);
        extra.set_rate(1, -1);
        extra.mark(flag::NO_ACK, true);
        assert_eq!(fields(&plain(&extra)), [(2, vec![22]), (15, vec![8, 0]), (17, vec![3])]);
        extra.set_rate(1, 11);
        extra.set_rate(2, 2);
        extra.set_tries(2, 1);
        extra.set_rate(3, -1);
        let both = fields(&plain(&extra));
        assert_eq!(both[3..], [(2, vec![11]), (17, vec![11]), (2, vec![2]), (17, vec![0])]);

        extra.mark(flag::SHORT_GUARD, true);
        extra.set_rate(2, -1);
        let seen = fields(&indices(&extra));
        let expected =
            [(15, vec![8, 0]), (17, vec![3]), (19, vec![7, 4, 22]), (17, vec![11]), (19, vec![7, 4, 11])];
        assert_eq!(seen, expected);
    }
}
