//! IPv4 packets as text, in the words of Click's IPPrint, whatever the packets contain.

use std::fmt::Write;
use std::net::Ipv4Addr;
use wire::describe::{icmp_code_name, icmp_type_name, protocol_name};
use wire::{icmpv4, ip_proto, ipv4, tcp};

type Ip<'a> = ipv4::Header<&'a [u8; ipv4::HEADER_LEN]>;

/// Appends a packet: addresses, ports, what the transport header says, fragment. `transport` is everything from the
/// transport header on, `length` the bytes of data in the packet. `swap`: ICMP echo numbers are in network order.
pub(super) fn write(text: &mut String, ip: &Ip<'_>, transport: &[u8], length: usize, swap: bool) {
    let payload_len = i64::from(ip.total_len()) - ip.header_len() as i64;
    let seen = transport.len().min(usize::try_from(payload_len).unwrap_or(0));
    let transport = &transport[..seen];
    // Writing to a string does not fail, here and below.
    let _ = match ip.protocol() {
        ip_proto::TCP => write_tcp(text, ip, transport, length),
        ip_proto::UDP => write_udp(text, ip, transport),
        ip_proto::ICMP => write_icmp(text, ip, transport, swap),
        protocol => write!(text, "{} > {}: ip-proto-{protocol}", ip.src(), ip.dst()),
    };
    if ip.is_fragment() {
        let more = if ip.more_fragments() { "+" } else { "" };
        let _ = write!(text, " (frag {}:{payload_len}@{}{more})", ip.id(), ip.fragment_offset());
    }
}

/// What follows the transport header, or all after the IP header if that is not known.
pub(super) fn payload<'a>(ip: &Ip<'_>, transport: &'a [u8]) -> &'a [u8] {
    let header_len = match ip.protocol() {
        _ if !ip.is_first_fragment() => 0,
        ip_proto::TCP => transport.get(12).map_or(usize::MAX, |offset| usize::from(offset >> 4) * 4),
        ip_proto::UDP => wire::udp::HEADER_LEN,
        _ => 0,
    };
    transport.get(header_len..).unwrap_or_default()
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// `ADDRESS.PORT > ADDRESS.PORT: `, or less and false where no ports are to be seen.
fn write_ports(
    text: &mut String,
    ip: &Ip<'_>,
    transport: &[u8],
    name: &str,
) -> Result<bool, std::fmt::Error> {
    let (src, dst) = (ip.src(), ip.dst());
    match (ip.is_first_fragment(), be16(transport, 0), be16(transport, 2)) {
        (false, ..) => write!(text, "{src} > {dst}: {name}").map(|()| false),
        (_, Some(sport), Some(dport)) => write!(text, "{src}.{sport} > {dst}.{dport}: ").map(|()| true),
        _ => write!(text, "{src} > {dst}: truncated-{name}").map(|()| false),
    }
}

fn write_tcp(text: &mut String, ip: &Ip<'_>, transport: &[u8], length: usize) -> std::fmt::Result {
    if !write_ports(text, ip, transport, "tcp")? {
        return Ok(());
    }
    let (Some(seq), Some(ack), Some(&offset), Some(&flags)) =
        (be32(transport, 4), be32(transport, 8), transport.get(12), transport.get(13))
    else {
        return text.write_str("truncated-tcp");
    };
    let ip_len = ip.total_len();
    let mut seq_len = i64::from(ip_len) - ip.header_len() as i64 - i64::from(offset >> 4) * 4;
    for (flag, letter, counts) in [
        (tcp::flag::SYN, 'S', 1),
        (tcp::flag::FIN, 'F', 1),
        (tcp::flag::RST, 'R', 0),
        (tcp::flag::PSH, 'P', 0),
    ] {
        if flags & flag != 0 {
            text.push(letter);
            seq_len += counts;
        }
    }
    if flags & (tcp::flag::SYN | tcp::flag::FIN | tcp::flag::RST | tcp::flag::PSH) == 0 {
        text.push('.');
    }
    let end = seq.wrapping_add(seq_len as u32);
    write!(text, " {seq}:{end}({seq_len},{length},{ip_len})")?;
    if flags & tcp::flag::ACK != 0 {
        write!(text, " ack {ack}")?;
    }
    match be16(transport, 14) {
        Some(window) => write!(text, " win {window}"),
        None => text.write_str("truncated-tcp"),
    }
}

fn write_udp(text: &mut String, ip: &Ip<'_>, transport: &[u8]) -> std::fmt::Result {
    if !write_ports(text, ip, transport, "udp")? {
        return Ok(());
    }
    match be16(transport, 4).filter(|_| transport.len() >= wire::udp::HEADER_LEN) {
        Some(len) => write!(text, "udp {len}"),
        None => text.write_str("truncated-udp"),
    }
}

fn write_icmp(text: &mut String, ip: &Ip<'_>, transport: &[u8], swap: bool) -> std::fmt::Result {
    write!(text, "{} > {}: ", ip.src(), ip.dst())?;
    if !ip.is_first_fragment() {
        return text.write_str("icmp");
    }
    let &[kind, code, ..] = transport else { return text.write_str("truncated-icmp") };
    match kind {
        icmpv4::kind::ECHO_REPLY => write_echo(text, "icmp echo-reply ", transport, swap),
        icmpv4::kind::ECHO => write_echo(text, "icmp echo ", transport, swap),
        icmpv4::kind::UNREACHABLE => write_unreachable(text, code, transport),
        _ => {
            match icmp_type_name(kind) {
                Some(name) => write!(text, "icmp {name}")?,
                None => write!(text, "icmp type {kind}")?,
            }
            match icmp_code_name(kind, code) {
                Some(name) => write!(text, " {name}"),
                None if code != 0 => write!(text, " code {code}"),
                None => Ok(()),
            }
        }
    }
}

fn write_echo(text: &mut String, name: &str, transport: &[u8], swap: bool) -> std::fmt::Result {
    text.push_str(name);
    let (Some(id), Some(sequence)) = (be16(transport, 4), be16(transport, 6)) else {
        return text.write_str("truncated-icmp");
    };
    let shown = |value: u16| if swap { value } else { value.swap_bytes() };
    write!(text, "({}, {})", shown(id), shown(sequence))
}

/// Says what of the packet quoted in the message could not be reached.
fn write_unreachable(text: &mut String, code: u8, transport: &[u8]) -> std::fmt::Result {
    let reason =
        icmp_code_name(icmpv4::kind::UNREACHABLE, code).map_or_else(|| format!("code {code}"), str::to_owned);
    let quoted = transport.get(8..).unwrap_or_default();
    let Some(quoted) = quoted.get(..ipv4::HEADER_LEN).map(|_| quoted) else {
        return write!(text, "icmp unreachable {reason} truncated-icmp");
    };
    // The header's length was checked just now.
    let dst = be32(quoted, 16).map_or(Ipv4Addr::UNSPECIFIED, Ipv4Addr::from);
    let (protocol, header_len) = (quoted[9], usize::from(quoted[0] & 15) * 4);
    write!(text, "icmp {dst} unreachable {reason}")?;
    match (code, protocol_name(protocol.into())) {
        (icmpv4::unreachable::PROTOCOL, Some(name)) => write!(text, " {name}"),
        (icmpv4::unreachable::PROTOCOL, None) => write!(text, " {protocol}"),
        (icmpv4::unreachable::PORT, name) => {
            match name {
                Some(name) => write!(text, " {name}")?,
                None => write!(text, " protocol {protocol}")?,
            }
            match be16(quoted, header_len + 2) {
                Some(port) => write!(text, "/{port}"),
                None => text.write_str("truncated-icmp"),
            }
        }
        (icmpv4::unreachable::FRAGMENTATION_NEEDED, _) => match be16(transport, 6) {
            Some(mtu @ 1..) => write!(text, " (mtu {mtu})"),
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An IP packet of a protocol, with this fragment field and transport part, as text.
    fn text(protocol: u8, fragment: u16, transport: &[u8]) -> String {
        let mut bytes = vec![0; 20];
        let mut header = ipv4::Header::new_checked_mut(&mut bytes).expect("20 bytes");
        header.set_version_and_header_len(20);
        header.set_total_len(20 + transport.len() as u16);
        header.set_id(77);
        header.set_fragment_field(fragment);
        header.set_protocol(protocol);
        header.set_src(Ipv4Addr::new(1, 2, 3, 4));
        header.set_dst(Ipv4Addr::new(5, 6, 7, 8));
        let ip = ipv4::Header::new_checked(&bytes).expect("20 bytes");
        let mut text = String::new();
        write(&mut text, &ip, transport, 20 + transport.len(), true);
        text
    }

    fn segment(flags: u8) -> Vec<u8> {
        let mut segment = vec![0x04, 0xd2, 0, 80, 0, 0, 0, 10, 0, 0, 0, 20, 0x50, flags, 0x10, 0, 0, 0, 0, 0];
        segment.extend([0; 5]);
        segment
    }

    #[test]
    fn prints_tcp_flags_and_numbers() {
        let pair = "1.2.3.4.1234 > 5.6.7.8.80:";
        assert_eq!(text(6, 0, &segment(0x02)), format!("{pair} S 10:16(6,45,45) win 4096"));
        assert_eq!(text(6, 0, &segment(0x10)), format!("{pair} . 10:15(5,45,45) ack 20 win 4096"));
        assert_eq!(text(6, 0, &segment(0x1d)), format!("{pair} FRP 10:16(6,45,45) ack 20 win 4096"));
        assert_eq!(text(6, 0, &segment(0)[..13]), format!("{pair} truncated-tcp"));
        assert_eq!(text(6, 0, &segment(0)[..3]), "1.2.3.4 > 5.6.7.8: truncated-tcp");
    }

    #[test]
    fn prints_where_a_fragment_lies() {
        assert_eq!(
            text(17, 0x2000, &[0, 1, 0, 2, 0, 99, 0, 0]),
            "1.2.3.4.1 > 5.6.7.8.2: udp 99 (frag 77:8@0+)"
        );
        assert_eq!(text(17, 2, &[0; 8]), "1.2.3.4 > 5.6.7.8: udp (frag 77:8@16)");
        assert_eq!(text(6, 2, &[0; 8]), "1.2.3.4 > 5.6.7.8: tcp (frag 77:8@16)");
        assert_eq!(text(1, 2, &[0; 8]), "1.2.3.4 > 5.6.7.8: icmp (frag 77:8@16)");
        assert_eq!(text(89, 0, &[0; 8]), "1.2.3.4 > 5.6.7.8: ip-proto-89");
    }

    #[test]
    fn prints_icmp_messages_and_what_they_quote() {
        let pair = "1.2.3.4 > 5.6.7.8:";
        assert_eq!(text(1, 0, &[8, 0, 0, 0, 1, 2, 0, 3]), format!("{pair} icmp echo (258, 3)"));
        assert_eq!(text(1, 0, &[0, 0, 0, 0, 1, 2, 0, 3]), format!("{pair} icmp echo-reply (258, 3)"));
        assert_eq!(text(1, 0, &[11, 0, 0, 0]), format!("{pair} icmp timeexceeded transit"));
        assert_eq!(text(1, 0, &[200, 4, 0, 0]), format!("{pair} icmp type 200 code 4"));
        assert_eq!(text(1, 0, &[8]), format!("{pair} truncated-icmp"));
        let mut message = vec![3, 3, 0, 0, 0, 0, 0, 0, 0x45];
        message.resize(8 + 28, 0);
        message[8 + 9] = 17;
        message[8 + 16..8 + 20].copy_from_slice(&[9, 9, 9, 9]);
        message[8 + 23] = 53;
        assert_eq!(text(1, 0, &message), format!("{pair} icmp 9.9.9.9 unreachable port udp/53"));
        message[1] = 2;
        assert_eq!(text(1, 0, &message), format!("{pair} icmp 9.9.9.9 unreachable protocol udp"));
        (message[1], message[6]) = (4, 2);
        assert_eq!(text(1, 0, &message), format!("{pair} icmp 9.9.9.9 unreachable needfrag (mtu 512)"));
        assert_eq!(text(1, 0, &message[..20]), format!("{pair} icmp unreachable needfrag truncated-icmp"));
    }

    /// No bytes whatever make it panic.
    #[test]
    fn any_bytes() {
        let mut rng = 12345u32;
        for _ in 0..20_000 {
            let mut bytes = [0u8; 48];
            for byte in &mut bytes {
                rng = rng.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *byte = (rng >> 24) as u8;
            }
            bytes[9] = [1, 6, 17, 50][(rng >> 8) as usize % 4];
            let ip = ipv4::Header::new_checked(&bytes[..20]).expect("20 bytes");
            let transport = &bytes[20..20 + (rng >> 16) as usize % 29];
            write(&mut String::new(), &ip, transport, 48, rng & 1 == 0);
            let _ = payload(&ip, transport);
        }
    }
}
