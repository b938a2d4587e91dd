//! Rewriting packets: headers of a flow's packets change, checksums by as much (RFC 1624).

use super::deltas::Deltas;
use super::record::{FORWARD, Flow, REPLY, flag};
use elements_shared::flow_id::FlowId;
use rcu::Turn;
use wire::ipv4::{HEADER_LEN, Header};
use wire::{ip_proto, tcp};

/// The fixed part of an IPv4 header that starts `packet`, and what follows it with its options.
#[inline]
pub(super) fn split(packet: &[u8]) -> Option<(Header<&[u8; HEADER_LEN]>, &[u8])> {
    let header = Header::new_checked(packet).ok()?;
    let transport = packet.get(header.header_len().max(HEADER_LEN)..)?;
    Some((header, transport))
}

/// The same, writable, without options.
#[inline]
pub(super) fn split_mut(packet: &mut [u8]) -> Option<(Header<&mut [u8; HEADER_LEN]>, &mut [u8])> {
    let (header, rest) = packet.split_first_chunk_mut::<HEADER_LEN>()?;
    let options = Header::new(&*header).header_len().saturating_sub(HEADER_LEN);
    let transport = rest.get_mut(options..)?;
    Some((Header::new(header), transport))
}

/// The one's complement difference between 16-bit words: what a checksum's complement grows by when `old` becomes `new`.
/// All ones stands for no difference.
pub(super) fn difference<const N: usize>(old: [u16; N], new: [u16; N]) -> u16 {
    let words = old.iter().map(|&word| u32::from(!word)).chain(new.iter().map(|&word| u32::from(word)));
    fold(0xffff + words.sum::<u32>())
}

/// The differences between two flow identifiers: of the addresses, and of all their words.
#[inline]
pub(super) fn differences(old: FlowId, new: FlowId) -> (u16, u16) {
    // Words of 32 bits sum up to the same as their halves (RFC 1071, 2.C).
    let halves = |addresses: u64| (addresses >> 32) + (addresses & 0xffff_ffff);
    let addresses = 0xffff + halves(!old.addresses()) + halves(new.addresses());
    let ports = u64::from(!old.ports()) + u64::from(new.ports());
    let fold = |sum: u64| {
        let sum = halves(sum);
        fold((sum >> 16) as u32 + (sum & 0xffff) as u32)
    };
    (fold(addresses), fold(addresses + ports))
}

#[inline]
fn fold(sum: u32) -> u16 {
    let sum = (sum >> 16) + (sum & 0xffff);
    ((sum >> 16) + (sum & 0xffff)) as u16
}

/// A checksum after a difference in what it covers.
#[inline]
pub(super) fn adjusted(checksum: u16, difference: u16) -> u16 {
    match difference {
        0 | 0xffff => checksum,
        // What is added is not zero, so that the sum is not zero either.
        difference => {
            let sum = u32::from(!checksum) + u32::from(difference);
            !((sum + (sum >> 16)) as u16)
        }
    }
}

/// The words of both addresses.
pub(super) fn address_words(id: FlowId) -> [u16; 4] {
    [(id.saddr >> 16) as u16, id.saddr as u16, (id.daddr >> 16) as u16, id.daddr as u16]
}

/// The words of addresses and ports.
pub(super) fn words(id: FlowId) -> [u16; 6] {
    let [a, b, c, d] = address_words(id);
    [a, b, c, d, id.sport, id.dport]
}

/// Sets both addresses and changes the checksum.
#[inline]
pub(super) fn set_addresses(ip: &mut Header<&mut [u8; HEADER_LEN]>, id: FlowId, difference: u16) {
    let checksum = adjusted(ip.checksum(), difference);
    ip.set_addresses(id.addresses());
    ip.set_checksum(checksum);
}

/// A 16-bit word of a header.
#[inline]
pub(super) fn word(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|word| u16::from_be_bytes(*word))
}

/// Sets a 16-bit word of a header; nothing if the header ends before.
#[inline]
pub(super) fn set_word(bytes: &mut [u8], at: usize, value: u16) {
    if let Some(word) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        *word = value.to_be_bytes();
    }
}

/// Sets the ports, which TCP, UDP and DCCP have in the same place.
#[inline]
pub(super) fn set_ports(transport: &mut [u8], id: FlowId) {
    if let Some(ports) = transport.first_chunk_mut() {
        *ports = id.ports().to_be_bytes();
    }
}

const TCP_CHECKSUM: usize = 16;
const UDP_CHECKSUM: usize = 6;
/// Bytes of a TCP header up to and with its checksum.
const TCP_MIN: usize = TCP_CHECKSUM + 2;

/// Changes the transport checksum of the first fragment of a packet, where the protocol has one and it is used.
#[inline]
pub(super) fn adjust_transport(protocol: u8, transport: &mut [u8], difference: u16) {
    let at = match protocol {
        ip_proto::TCP => TCP_CHECKSUM,
        ip_proto::UDP if transport.len() >= wire::udp::HEADER_LEN => UDP_CHECKSUM,
        _ => return,
    };
    let Some(old) = word(transport, at) else { return };
    if protocol == ip_proto::UDP {
        if old != 0 {
            // Zero would say that there is no checksum.
            let new = adjusted(old, difference);
            set_word(transport, at, if new == 0 { 0xffff } else { new });
        }
    } else {
        set_word(transport, at, adjusted(old, difference));
    }
}

/// Rewrites a UDP packet without options, as nearly all are: all that changes lies in one place. False, and nothing
/// changed, if it is another.
#[inline]
fn plain_udp(packet: &mut [u8], flow: &Flow, direction: usize) -> bool {
    let Some((header, transport)) = packet.split_first_chunk_mut::<HEADER_LEN>() else { return false };
    let Some(transport) = transport.first_chunk_mut::<{ wire::udp::HEADER_LEN }>() else { return false };
    let mut ip = Header::new(header);
    let plain = ip.has_no_options() && ip.protocol() == ip_proto::UDP;
    if plain {
        let id = flow.rewritten(direction);
        set_addresses(&mut ip, id, flow.ip_change(direction));
        set_ports(transport, id);
        adjust_transport(ip_proto::UDP, transport, flow.transport_change(direction));
    }
    plain
}

/// The same for whatever has ports where UDP has them.
#[inline(never)]
fn any_udp(packet: &mut [u8], flow: &Flow, direction: usize) {
    let id = flow.rewritten(direction);
    if let Some((mut ip, transport)) = split_mut(packet) {
        set_addresses(&mut ip, id, flow.ip_change(direction));
        set_ports(transport, id);
        adjust_transport(ip.protocol(), transport, flow.transport_change(direction));
    }
}

/// Rewrites a packet of a UDP flow, or of a TCP flow whose state does not matter. Returns the flow's flags afterwards. It has ports: later
/// fragments belong to no flow.
#[inline]
pub(super) fn udp(packet: &mut [u8], flow: &Flow, direction: usize) -> u16 {
    if !plain_udp(packet, flow, direction) {
        any_udp(packet, flow, direction);
    }
    udp_flags(flow.flags(), direction)
}

/// The flags of a UDP flow after a packet.
#[inline]
pub(super) fn udp_flags(mut flags: u16, direction: usize) -> u16 {
    if direction != FORWARD {
        flags |= flag::REPLIED;
    }
    if flags & (3 * flag::PACKET) < 3 * flag::PACKET {
        flags += flag::PACKET;
    }
    flags
}

/// The same for a packet of a TCP flow.
#[inline]
pub(super) fn tcp(packet: &mut [u8], turn: Turn<'_>, flow: &Flow, direction: usize) -> u16 {
    let id = flow.rewritten(direction);
    let flags = flow.flags();
    let Some((mut ip, transport)) = split_mut(packet) else { return flags };
    set_addresses(&mut ip, id, flow.ip_change(direction));
    if transport.len() < TCP_MIN {
        return flags;
    }
    set_ports(transport, id);
    adjust_transport(ip_proto::TCP, transport, flow.transport_change(direction));
    let header_len = usize::from(transport[12] >> 4) * 4;
    let has_data = ip.header_len() + header_len < usize::from(ip.total_len());
    if let Some(deltas) = flow.deltas(turn).filter(|_| transport.len() >= header_len) {
        renumber(transport, header_len, deltas, direction);
    }
    tcp_flags(flags, transport[13], has_data, direction)
}

/// The flags of a TCP flow after a packet.
#[inline]
pub(super) fn tcp_flags(flags: u16, packet: u8, has_data: bool, direction: usize) -> u16 {
    let done = flag::FORWARD_DONE << direction;
    let flags = match direction {
        FORWARD if packet & tcp::flag::ACK != 0 && flags & flag::ANSWERED != 0 => flags | flag::COMPLETE,
        REPLY if packet & tcp::flag::RST == 0 => flags | flag::ANSWERED,
        _ => flags,
    };
    let ended = if packet & tcp::flag::RST != 0 {
        flags | flag::BOTH_DONE
    } else if packet & tcp::flag::FIN != 0 {
        flags | done
    } else if packet & tcp::flag::SYN != 0 || has_data {
        flags & !done
    } else {
        flags
    };
    if has_data { ended | flag::FORWARD_DATA << direction } else { ended }
}

/// Changes a TCP segment's sequence and acknowledgement numbers, those of selective acknowledgements, too.
#[cold]
fn renumber(transport: &mut [u8], header_len: usize, deltas: &Deltas, direction: usize) {
    let Ok(mut header) = tcp::Header::new_checked_mut(transport) else { return };
    if deltas.changes(direction) {
        let (old, new) = (header.sequence(), deltas.sequence(direction, header.sequence()));
        header.set_sequence(new);
        header.update_checksum_u32(old, new);
    }
    if deltas.changes(1 - direction) {
        let (old, new) =
            (header.acknowledgement(), deltas.acknowledgement(direction, header.acknowledgement()));
        header.set_acknowledgement(new);
        header.update_checksum_u32(old, new);
        renumber_sack(transport, header_len, deltas, direction);
    }
}

/// The same for selective acknowledgements.
fn renumber_sack(transport: &mut [u8], header_len: usize, deltas: &Deltas, direction: usize) {
    let Some(checksum) = word(transport, TCP_CHECKSUM) else { return };
    let Some(options) = transport.get_mut(tcp::HEADER_LEN..header_len) else { return };
    let before = wire::checksum::checksum(options);
    let mut at = 0;
    while let Some(&kind) = options.get(at) {
        if kind == tcp::option::NOP {
            at += 1;
            continue;
        }
        let len = options.get(at + 1).map_or(0, |&len| usize::from(len));
        let option = options.get_mut(at..at + len);
        let Some(option) = option.filter(|_| kind != tcp::option::END && len >= 2) else { break };
        if kind == tcp::option::SACK {
            let (edges, _) = option[2..].as_chunks_mut::<4>();
            for edge in edges {
                *edge = deltas.acknowledgement(direction, u32::from_be_bytes(*edge)).to_be_bytes();
            }
        }
        at += len;
    }
    // The options begin at an even place, so that their own sum is a part of the segment's.
    let after = wire::checksum::checksum(options);
    set_word(transport, TCP_CHECKSUM, wire::checksum::update_u16(checksum, !before, !after));
}

/// Changes the addresses of a packet only, and the checksums that cover them.
#[inline]
pub(super) fn addresses(packet: &mut [u8], flow: &Flow, direction: usize, id: FlowId) {
    if let Some((mut ip, transport)) = split_mut(packet) {
        set_addresses(&mut ip, id, flow.ip_change(direction));
        if ip.is_first_fragment() && (ip.protocol() != ip_proto::TCP || transport.len() >= TCP_MIN) {
            adjust_transport(ip.protocol(), transport, flow.transport_change(direction));
        }
    }
}

/// Where an ICMP message has its checksum.
const ICMP_CHECKSUM: usize = 2;
/// Where an ICMP echo has its identifier.
pub(super) const ICMP_ID: usize = 4;

/// Rewrites an ICMP echo or its reply.
pub(super) fn echo(packet: &mut [u8], flow: &Flow, direction: usize) {
    let id = flow.rewritten(direction);
    let Some((mut ip, icmp)) = split_mut(packet) else { return };
    set_addresses(&mut ip, id, flow.ip_change(direction));
    set_word(icmp, ICMP_ID, if direction == FORWARD { id.sport } else { id.dport });
    adjust_icmp(&ip, icmp, flow.transport_change(direction));
}

/// Changes the checksum of an ICMP message, which ends where the packet does by its header: what a link has padded
/// behind it does not count.
pub(super) fn adjust_icmp(ip: &Header<&mut [u8; HEADER_LEN]>, icmp: &mut [u8], difference: u16) {
    let len = usize::from(ip.total_len()).saturating_sub(ip.header_len());
    let Some(old) = word(icmp, ICMP_CHECKSUM) else { return };
    let mut new = adjusted(old, difference);
    // Both zeros of the one's complement look alike to the receiver, but only nothing at all sums up to the positive one.
    let nothing =
        || icmp.iter().take(len).enumerate().all(|(at, &byte)| byte == 0 || at / 2 == ICMP_CHECKSUM / 2);
    if new == 0 && nothing() {
        new = 0xffff;
    }
    set_word(icmp, ICMP_CHECKSUM, new);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_difference_gives_the_full_checksum_both_ways(data in prop::collection::vec(any::<u16>(), 8), new in prop::array::uniform4(any::<u16>())) {
            let sum = |words: &[u16]| {
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
                wire::checksum::checksum(&bytes)
            };
            prop_assume!(data[4..].iter().any(|&word| word != 0));
            let old: [u16; 4] = data[..4].try_into().unwrap();
            let change = difference(old, new);
            let changed: Vec<u16> = new.iter().chain(&data[4..]).copied().collect();
            prop_assert_eq!(adjusted(sum(&data), change), sum(&changed));
            prop_assert_eq!(adjusted(sum(&changed), !change), sum(&data));
        }

        /// Identifiers differ by what their words do.
        #[test]
        fn differences_of_identifiers(old in any::<(u64, u32)>(), new in any::<(u64, u32)>(), same in any::<(bool, bool)>()) {
            let from = FlowId::from_words(old.0, old.1);
            let to = FlowId::from_words(if same.0 { old.0 } else { new.0 }, if same.1 { old.1 } else { new.1 });
            let expected = (difference(address_words(from), address_words(to)), difference(words(from), words(to)));
            prop_assert_eq!(differences(from, to), expected);
        }
    }

    /// The states of TCP connections as Click tracks them.
    #[test]
    fn flags_follow_the_states_of_a_connection() {
        use tcp::flag::{ACK, FIN, RST, SYN};
        let after = |flags, packet, data, direction| tcp_flags(flags, packet, data, direction);
        assert_eq!(after(0, SYN, false, 0), 0);
        assert_eq!(after(0, ACK, true, 0), flag::FORWARD_DATA);
        assert_eq!(after(flag::FORWARD_DATA, ACK, true, 1), flag::BOTH_DATA | flag::ANSWERED);
        assert_eq!(after(0, FIN, false, 0), flag::FORWARD_DONE);
        assert_eq!(after(flag::FORWARD_DONE, FIN, false, 1), flag::BOTH_DONE | flag::ANSWERED);
        // Only an acknowledgement of an answer completes a handshake: who sends with another's address has neither.
        assert_eq!(after(0, ACK, false, 0), 0);
        assert_eq!(after(0, SYN | ACK, false, 1), flag::ANSWERED);
        assert_eq!(after(flag::ANSWERED, SYN, false, 0), flag::ANSWERED);
        assert_eq!(after(flag::ANSWERED, ACK, false, 0), flag::ANSWERED | flag::COMPLETE);
        assert_eq!(after(0, RST, false, 1), flag::BOTH_DONE);
        assert_eq!(after(flag::BOTH_DONE, SYN, false, 0), 2);
        assert_eq!(after(flag::BOTH_DONE, ACK, false, 0), flag::BOTH_DONE);
    }
}
