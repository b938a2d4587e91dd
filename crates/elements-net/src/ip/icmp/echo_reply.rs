//! The reply to a plain echo request, made of its headers in a few instructions.

use std::hint::cold_path;
use wire::icmpv4::{self, kind};
use wire::ip_proto;
use wire::ipv4::{self, FLAG_DF};

/// Bytes of an IP header without options and of the ICMP header behind it.
pub(super) const FRONT: usize = ipv4::HEADER_LEN + icmpv4::HEADER_LEN;

/// Version 4 and a header length of 20 bytes.
const WITHOUT_OPTIONS: u8 = 0x45;

/// `N` bytes from `at` on: a load.
#[inline]
fn load<const N: usize>(front: &[u8; FRONT], at: usize) -> [u8; N] {
    std::array::from_fn(|i| front[at + i])
}

/// Makes a request the reply, but for its addresses: a new datagram with the longest time to live, and the reply's type; updates
/// both checksums. False, and nothing changed, for what is no such request, has options, is a fragment, or has a checksum that wraps
/// around on the way, which is so for few of all requests, that of nothing but zeros among them.
#[inline]
pub(super) fn answer(front: &mut [u8; FRONT]) -> bool {
    let (Some(checksum), Some(first)) = (renewed_checksum(front), reply_first(front)) else {
        cold_path();
        return false;
    };
    front[6..10].copy_from_slice(&[0, 0, u8::MAX, ip_proto::ICMP]);
    front[10..12].copy_from_slice(&checksum);
    front[ipv4::HEADER_LEN..][..4].copy_from_slice(&first);
    true
}

/// The IP checksum of the new datagram: what the flags' word loses the checksum gains, and it loses what the time to live gains.
#[inline]
fn renewed_checksum(front: &[u8; FRONT]) -> Option<[u8; 2]> {
    // Version and header length to fragment field in one load; a difference of zero in the first octet is what is asked for, so
    // that nothing is borrowed from the others then.
    const PLAIN: u64 = u64::from_le_bytes([0xff, 0, 0, 0, 0, 0, !((FLAG_DF >> 8) as u8), 0xff]);
    let begin = u64::from_le_bytes(load(front, 0)).wrapping_sub(u64::from(WITHOUT_OPTIONS));
    if begin & PLAIN != 0 || front[9] != ip_proto::ICMP {
        return None;
    }
    let flags = (begin >> 48) as u32;
    let checksum = u32::from(u16::from_le_bytes(load(front, 10)));
    let renewed = (checksum + flags + u32::from(front[8])).wrapping_sub(0xff);
    (renewed < 0xffff).then_some((renewed as u16).to_le_bytes())
}

/// The first four octets of the ICMP reply: what the type loses the checksum gains.
#[inline]
fn reply_first(front: &[u8; FRONT]) -> Option<[u8; 4]> {
    const { assert!(kind::ECHO_REPLY == 0) };
    const GAIN: u32 = (kind::ECHO as u32) << 16;
    let first = load(front, ipv4::HEADER_LEN);
    let is_request = first[..2] == [kind::ECHO, 0];
    let first = u32::from_le_bytes(first);
    (is_request && first < 0xffff_0000 - GAIN).then(|| (first + (GAIN - kind::ECHO as u32)).to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> [u8; FRONT] {
        let mut front = [0; FRONT];
        front[..4].copy_from_slice(&[0x45, 0, 0, 28]);
        front[8..20].copy_from_slice(&[64, 1, 0x12, 0x34, 10, 0, 0, 1, 10, 0, 0, 2]);
        front[20..].copy_from_slice(&[kind::ECHO, 0, 0, 0, 1, 2, 3, 4]);
        front
    }

    /// The same, by the headers' own operations.
    fn naive(front: &mut [u8; FRONT]) {
        let (header, message) = front.split_at_mut(ipv4::HEADER_LEN);
        ipv4::Header::new_checked_mut(header).unwrap().renew(ip_proto::ICMP);
        icmpv4::Header::new_checked_mut(message).unwrap().answer_echo();
    }

    #[test]
    fn every_ip_checksum_is_updated_or_left_to_the_slow_way() {
        for (flags, ttl) in [(0, 0), (0, 64), (0, 255), (0x40, 0), (0x40, 254), (0x40, 255)] {
            let mut left_out = 0;
            for checksum in 0..=u16::MAX {
                let mut front = request();
                (front[6], front[8]) = (flags, ttl);
                front[10..12].copy_from_slice(&checksum.to_be_bytes());
                let mut expected = front;
                naive(&mut expected);
                match answer(&mut front) {
                    true => assert_eq!(front, expected, "{checksum:#x}"),
                    false => left_out += 1,
                }
            }
            assert!(left_out <= 256, "{left_out}");
        }
    }

    #[test]
    fn every_message_checksum_is_updated_or_left_to_the_slow_way() {
        let mut left_out = Vec::new();
        for checksum in 0..=u16::MAX {
            let mut front = request();
            front[22..24].copy_from_slice(&checksum.to_be_bytes());
            let mut expected = front;
            naive(&mut expected);
            match answer(&mut front) {
                true => assert_eq!(front, expected, "{checksum:#x}"),
                false => left_out.push(checksum),
            }
        }
        let zeros = !u16::from_be_bytes([kind::ECHO, 0]);
        assert!(left_out.len() < 10 && left_out.contains(&zeros), "{} left out", left_out.len());
    }

    #[test]
    fn others_are_left_as_they_are() {
        let is_answered = |edit: &dyn Fn(&mut [u8; FRONT])| {
            let mut front = request();
            edit(&mut front);
            let before = front;
            let answered = answer(&mut front);
            assert!(answered || front == before);
            answered
        };
        assert!(is_answered(&|_| ()));
        for (at, values) in
            [(6, &[0x20, 0x80, 0x1f, 0x60][..]), (7, &[1]), (9, &[0, 2, 17]), (20, &[0, 7, 9]), (21, &[1])]
        {
            for &value in values {
                assert!(!is_answered(&|front| front[at] = value), "{at} {value}");
            }
        }
        for first in 0..=255 {
            assert_eq!(is_answered(&|front| front[0] = first), first == 0x45, "{first:#x}");
        }
    }
}
