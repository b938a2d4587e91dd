//! ICMP messages in the words of the other version (RFC 7915, sections 4.2 and 5.2), with the packets inside.

use super::{Change, Head, LEAST_MTU, MALFORMED, NewHeader, Refusal, TOO_LONG, read4, read6, trim};
use packet::Packet;
use std::net::Ipv6Addr;
use wire::checksum::{Sum, pseudo_v6};
use wire::icmpv6;
use wire::ip_proto::ICMPV6;

/// Bytes in front of the packet that an error is about.
const HEADER_LEN: usize = 8;
/// Where an echo has its identifier.
const ID: usize = 4;
const UNTRANSLATABLE: Refusal = "ICMP message without a translation";
const BAD_CHECKSUM: Refusal = "bad ICMP checksum";

/// The first eight bytes of a message.
type Head8 = [u8; HEADER_LEN];

fn head(packet: &Packet, at: usize) -> Result<Head8, Refusal> {
    packet.data().get(at..).and_then(|bytes| bytes.first_chunk()).copied().ok_or(MALFORMED)
}

fn mtu_of([.., a, b]: Head8) -> usize {
    usize::from(u16::from_be_bytes([a, b]))
}

/// A head of this type and code, and what follows them.
fn with(kind: u8, code: u8, [a, b, c, d]: [u8; 4]) -> Head8 {
    [kind, code, 0, 0, a, b, c, d]
}

/// The head of an ICMPv6 error for that of an ICMP error.
fn error_to_icmpv6(head: Head8) -> Option<Head8> {
    let [kind, code, _, _, pointer, ..] = head;
    Some(match (kind, code) {
        (3, 0 | 1 | 5..=8 | 11 | 12) => with(1, 0, [0; 4]),
        (3, 2) => with(4, 1, [0, 0, 0, 6]),
        (3, 3) => with(1, 4, [0; 4]),
        (3, 4) => {
            // A router that says no MTU is old; the least one always works.
            let mtu = match mtu_of(head) {
                0 => LEAST_MTU,
                mtu => (mtu + 20).max(LEAST_MTU),
            };
            with(2, 0, (mtu as u32).to_be_bytes())
        }
        (3, 9 | 10 | 13 | 15) => with(1, 1, [0; 4]),
        (11, code) => with(3, code, [0; 4]),
        (12, 0 | 2) => {
            let pointer = match pointer {
                0 => 0,
                1 => 1,
                2 | 3 => 4,
                8 => 7,
                9 => 6,
                12..=15 => 8,
                16..=19 => 24,
                _ => return None,
            };
            with(4, 0, [0, 0, 0, pointer])
        }
        _ => return None,
    })
}

/// The head of an ICMP error for that of an ICMPv6 error.
fn error_to_icmpv4(head: Head8) -> Option<Head8> {
    let [kind, code, _, _, rest @ ..] = head;
    let number = u32::from_be_bytes(rest);
    Some(match (kind, code) {
        (1, 0 | 2 | 3) => with(3, 1, [0; 4]),
        (1, 1) => with(3, 10, [0; 4]),
        (1, 4) => with(3, 3, [0; 4]),
        (2, _) => {
            let [a, b] = u16::try_from(number.saturating_sub(20)).unwrap_or(u16::MAX).to_be_bytes();
            with(3, 4, [0, 0, a, b])
        }
        (3, code) => with(11, code, [0; 4]),
        (4, 0) => {
            let pointer = match number {
                0 => 0,
                1 => 1,
                4 | 5 => 2,
                6 => 9,
                7 => 8,
                8..=23 => 12,
                24..=39 => 16,
                _ => return None,
            };
            with(12, 0, [pointer, 0, 0, 0])
        }
        (4, 1) => with(3, 2, [0; 4]),
        _ => return None,
    })
}

/// The bytes that an error quotes, if this is one that has a translation.
pub(super) fn quoted<'p, A>(packet: &'p Packet, outer: &Head<A>, to6: bool) -> Option<&'p [u8]> {
    if outer.protocol != ICMPV6 {
        return None;
    }
    let new = head(packet, outer.header_len).ok()?;
    let is_error = if to6 { error_to_icmpv6(new) } else { error_to_icmpv4(new) }.is_some();
    packet.data().get(outer.header_len + HEADER_LEN..).filter(|_| is_error)
}

/// The type of the other version's echo message, and whether this is one.
fn echo(kind: u8, to6: bool) -> Option<u8> {
    match (kind, to6) {
        (8, true) => Some(128),
        (0, true) => Some(129),
        (128, false) => Some(8),
        (129, false) => Some(0),
        _ => None,
    }
}

/// Replaces `old_len` bytes at `at` by a header; the packet becomes longer or shorter.
fn splice(packet: &mut Packet, at: usize, old_len: usize, (bytes, len): NewHeader) -> Result<(), Refusal> {
    let end = packet.len();
    if len > old_len && !packet.put(len - old_len) {
        return Err(TOO_LONG);
    }
    let data = packet.data_mut();
    data.copy_within(at + old_len..end, at + len);
    data[at..at + len].copy_from_slice(&bytes[..len]);
    trim(packet, end + len - old_len)
}

/// Translates the packet that an error is about, which may be cut off.
fn translate_inner(packet: &mut Packet, at: usize, change: &Change, to6: bool) -> Result<(), Refusal> {
    let bytes = packet.data().get(at..).ok_or(MALFORMED)?;
    if to6 {
        let inner = read4(bytes)?;
        translate_payload(packet, at, &inner, change, true)?;
        splice(packet, at, inner.header_len, inner.write6(change.v6, inner.payload_len)?)
    } else {
        let inner = read6(bytes)?;
        translate_payload(packet, at, &inner, change, false)?;
        splice(packet, at, inner.header_len, inner.write4(change.v4, inner.payload_len, 0)?)
    }
}

/// Translates what is behind its headers.
fn translate_payload<A>(
    packet: &mut Packet,
    at: usize,
    inner: &Head<A>,
    change: &Change,
    to6: bool,
) -> Result<(), Refusal> {
    let payload = packet.data_mut().get_mut(at + inner.header_len..).ok_or(MALFORMED)?;
    if inner.protocol == ICMPV6 && !inner.is_later_fragment() {
        translate_inner_echo(payload, inner, change, to6)?;
    }
    inner.adjust(payload, change, to6);
    Ok(())
}

/// Translates the echo message that an error is about. Its checksum changes by as much as what it covers: the sum of what is
/// cut off cannot be computed anew.
fn translate_inner_echo<A>(
    payload: &mut [u8],
    inner: &Head<A>,
    change: &Change,
    to6: bool,
) -> Result<(), Refusal> {
    let Some(&kind) = payload.first() else { return Ok(()) };
    payload[0] = echo(kind, to6).ok_or(UNTRANSLATABLE)?;
    let mut renumbered = Sum::ZERO;
    if let (Some([id, _]), Some(field)) = (change.ports, payload.get_mut(ID..ID + 2)) {
        renumbered = renumbered.add_u16(!u16::from_be_bytes([field[0], field[1]])).add_u16(id);
        field.copy_from_slice(&id.to_be_bytes());
    }
    let Some([new, code, high, low]) = payload.first_chunk_mut::<4>() else { return Ok(()) };
    if inner.is_part() {
        return Ok(()); // IPv6 sums the length of the whole, which a fragment does not tell
    }
    let words = [kind, *new].map(|kind| Sum::ZERO.add_u16(u16::from_be_bytes([kind, *code])));
    let pseudo = pseudo_v6(change.v6[0], change.v6[1], ICMPV6, inner.payload_len as u32);
    // Subtracting is adding the complement.
    let difference = words[1].add_u16(words[0].checksum()).add(renumbered);
    let difference = if to6 { difference.add(pseudo) } else { difference.add_u16(pseudo.checksum()) };
    [*high, *low] = difference.add_u16(!u16::from_be_bytes([*high, *low])).checksum().to_be_bytes();
    Ok(())
}

/// The head of an echo in the other version.
fn translated_echo(head: Head8, kind: u8, change: &Change) -> Head8 {
    let [_, code, _, _, mut a, mut b, c, d] = head;
    if let Some([id, _]) = change.ports {
        [a, b] = id.to_be_bytes();
    }
    [kind, code, 0, 0, a, b, c, d]
}

/// Makes an ICMPv6 message of the ICMP message in an IPv4 packet.
pub(super) fn to_icmpv6<A>(
    packet: &mut Packet,
    outer: &Head<A>,
    change: &Change,
    quoted: Option<&Change>,
) -> Result<(), Refusal> {
    let at = outer.header_len;
    let mut new = head(packet, at)?;
    if !wire::checksum::verify(&packet.data()[at..]) {
        return Err(BAD_CHECKSUM);
    }
    if let Some(kind) = echo(new[0], true) {
        new = translated_echo(new, kind, change);
    } else {
        new = error_to_icmpv6(new).ok_or(UNTRANSLATABLE)?;
        translate_inner(packet, at + HEADER_LEN, quoted.ok_or(UNTRANSLATABLE)?, true)?;
        // An error is no longer than what may be sent anywhere (RFC 4443, section 2.4).
        let longest = at + LEAST_MTU - wire::ipv6::HEADER_LEN;
        let len = packet.len().min(longest);
        trim(packet, len)?;
    }
    let message = &mut packet.data_mut()[at..];
    message[..HEADER_LEN].copy_from_slice(&new);
    icmpv6::fill_checksum(change.v6[0], change.v6[1], message).map_err(|_| MALFORMED)
}

/// Makes an ICMP message of the ICMPv6 message in an IPv6 packet.
pub(super) fn to_icmpv4(
    packet: &mut Packet,
    outer: &Head<Ipv6Addr>,
    change: &Change,
    quoted: Option<&Change>,
) -> Result<(), Refusal> {
    let at = outer.header_len;
    let mut new = head(packet, at)?;
    let [src, dst] = outer.ends;
    if icmpv6::verify_checksum(src, dst, &packet.data()[at..]).is_err() {
        return Err(BAD_CHECKSUM);
    }
    if let Some(kind) = echo(new[0], false) {
        new = translated_echo(new, kind, change);
    } else {
        new = error_to_icmpv4(new).ok_or(UNTRANSLATABLE)?;
        translate_inner(packet, at + HEADER_LEN, quoted.ok_or(UNTRANSLATABLE)?, false)?;
    }
    let message = &mut packet.data_mut()[at..];
    message[..HEADER_LEN].copy_from_slice(&new);
    message[2..4].fill(0);
    let sum = wire::checksum::checksum(message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    Ok(())
}
