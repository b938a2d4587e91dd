//! What the headers of a packet say, for people: names and values, and a line.

use router::View;
use std::net::{Ipv4Addr, Ipv6Addr};
use wire::MacAddr;

/// Ethernet's type fields.
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const ARP: u16 = 0x0806;
const VLAN: [u16; 2] = [0x8100, 0x88a8];

/// Names and values of header fields, in the order of the packet.
pub(super) type Fields = Vec<(&'static str, String)>;

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn mac_at(bytes: &[u8], at: usize) -> Option<String> {
    Some(MacAddr(*bytes.get(at..)?.first_chunk()?).to_string())
}

fn ip4_at(bytes: &[u8], at: usize) -> Option<String> {
    Some(Ipv4Addr::from(*bytes.get(at..)?.first_chunk::<4>()?).to_string())
}

fn ip6_at(bytes: &[u8], at: usize) -> Option<String> {
    Some(Ipv6Addr::from(*bytes.get(at..)?.first_chunk::<16>()?).to_string())
}

/// Whether an IP packet begins here: version and lengths fit.
fn is_ip(bytes: &[u8], len: usize) -> bool {
    match bytes.first().map(|first| first >> 4) {
        Some(4) => {
            let header = usize::from(bytes[0] & 15) * 4;
            header >= 20
                && u16_at(bytes, 2)
                    .is_some_and(|total| usize::from(total) >= header && usize::from(total) <= len)
        }
        Some(6) => u16_at(bytes, 4).is_some_and(|payload| usize::from(payload) + 40 <= len),
        _ => false,
    }
}

/// Where the packet's frame and network header begin.
struct Layers {
    ethernet: bool,
    ether_type: Option<u16>,
    network: Option<usize>,
}

fn layers(view: &View) -> Layers {
    let bytes = &view.bytes[..];
    if view.network == Some(0) || is_ip(bytes, view.len) {
        return Layers { ethernet: false, ether_type: None, network: Some(0) };
    }
    let (mut at, mut kind) = (12, u16_at(bytes, 12));
    while kind.is_some_and(|kind| VLAN.contains(&kind)) && at < 20 {
        at += 4;
        kind = u16_at(bytes, at);
    }
    let is_network = matches!(kind, Some(IPV4 | IPV6));
    Layers { ethernet: bytes.len() >= 14, ether_type: kind, network: is_network.then_some(at + 2) }
}

/// Whether the bytes begin with an Ethernet header; otherwise an IP header.
pub(super) fn is_ethernet(view: &View) -> bool {
    layers(view).ethernet
}

/// All fields.
pub(super) fn fields(view: &View) -> Fields {
    let (bytes, layers, mut found) = (&view.bytes[..], layers(view), Fields::new());
    let mut add = |name, value: Option<String>| found.extend(value.map(|value| (name, value)));
    if layers.ethernet {
        add("eth.src", mac_at(bytes, 6));
        add("eth.dst", mac_at(bytes, 0));
        let tag = u16_at(bytes, 12).filter(|kind| VLAN.contains(kind)).and_then(|_| u16_at(bytes, 14));
        add("vlan", tag.map(|tag| (tag & 0xfff).to_string()));
        if layers.ether_type == Some(ARP) {
            add(
                "arp.op",
                u16_at(bytes, 20).map(|op| if op == 1 { "request".into() } else { "reply".to_owned() }),
            );
            add("arp.sender", ip4_at(bytes, 28));
            add("arp.target", ip4_at(bytes, 38));
        } else if layers.network.is_none() {
            add("eth.type", layers.ether_type.map(|kind| format!("{kind:#06x}")));
        }
    }
    let Some(ip) = layers.network.and_then(|at| bytes.get(at..)) else {
        found.push(("len", view.len.to_string()));
        return found;
    };
    let (protocol, transport) = match ip.first().map(|first| first >> 4) {
        Some(4) => {
            add("ip.src", ip4_at(ip, 12));
            add("ip.dst", ip4_at(ip, 16));
            add("ip.ttl", ip.get(8).map(u8::to_string));
            add("ip.tos", ip.get(1).filter(|tos| **tos != 0).map(u8::to_string));
            let fragment = u16_at(ip, 6).unwrap_or(0);
            add("ip.df", (fragment & 0x4000 != 0).then(|| "1".to_owned()));
            add(
                "ip.fragment",
                (fragment & 0x3fff != 0).then(|| (u32::from(fragment & 0x1fff) * 8).to_string()),
            );
            let first = fragment & 0x1fff == 0;
            (ip.get(9).copied(), ip.get(usize::from(ip[0] & 15) * 4..).filter(|_| first))
        }
        Some(6) => {
            add("ip.src", ip6_at(ip, 8));
            add("ip.dst", ip6_at(ip, 24));
            add("ip.ttl", ip.get(7).map(u8::to_string));
            (ip.get(6).copied(), ip.get(40..))
        }
        _ => (None, None),
    };
    let name = match protocol {
        Some(1) => Some("icmp".to_owned()),
        Some(6) => Some("tcp".to_owned()),
        Some(17) => Some("udp".to_owned()),
        Some(58) => Some("icmp6".to_owned()),
        other => other.map(|number| number.to_string()),
    };
    add("ip.proto", name);
    match (protocol, transport) {
        (Some(6 | 17), Some(transport)) => {
            add("sport", u16_at(transport, 0).map(|port| port.to_string()));
            add("dport", u16_at(transport, 2).map(|port| port.to_string()));
            add(
                "tcp.flags",
                transport.get(13).filter(|_| protocol == Some(6)).map(|flags| flag_names(*flags)),
            );
        }
        (Some(1 | 58), Some(transport)) => {
            let both = transport.first().zip(transport.get(1));
            add("icmp", both.map(|(kind, code)| format!("{kind}/{code}")));
        }
        _ => {}
    }
    found.push(("len", view.len.to_string()));
    found
}

fn flag_names(flags: u8) -> String {
    let names = ["F", "S", "R", "P", ".", "U", "E", "C"];
    names.iter().enumerate().filter(|(bit, _)| flags >> bit & 1 == 1).map(|(_, name)| *name).collect()
}

/// A packet in a line.
pub fn line(view: &View) -> String {
    let fields = fields(view);
    let get = |name: &str| fields.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
    let end = |address: &str, port: &str| match (get(address), get(port)) {
        (Some(address), Some(port)) if address.contains(':') => format!("[{address}]:{port}"),
        (Some(address), Some(port)) => format!("{address}:{port}"),
        (address, _) => address.unwrap_or("?").to_owned(),
    };
    if let (Some(op), Some(sender), Some(target)) = (get("arp.op"), get("arp.sender"), get("arp.target")) {
        return format!("arp {op} {sender} > {target} len {}", view.len);
    }
    if let Some(protocol) = get("ip.proto") {
        let mut text = format!("{protocol} {} > {}", end("ip.src", "sport"), end("ip.dst", "dport"));
        for (label, name) in [("type", "icmp"), ("flags", "tcp.flags"), ("ttl", "ip.ttl"), ("len", "len")] {
            text.extend(get(name).map(|value| format!(" {label} {value}")));
        }
        return text;
    }
    match (get("eth.src"), get("eth.dst"), get("eth.type")) {
        (Some(from), Some(to), kind) => {
            format!("{from} > {to} type {} len {}", kind.unwrap_or("?"), view.len)
        }
        _ => format!("{} bytes", view.len),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(text: &str) -> View {
        let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        let bytes: Vec<u8> = digits.chunks(2).map(byte).collect();
        View { len: bytes.len(), bytes, ..View::default() }
    }

    /// What is cut off, or is no IP at all, is said as far as it is there.
    #[test]
    fn lines() {
        let ip = "4500001c00004000 40110000 0a000102 0a090909 03e8 0035 0008 0000";
        let frame = format!("020000000001 020000000002 0800 {ip}");
        let udp = "udp 10.0.1.2:1000 > 10.9.9.9:53 ttl 64 len ";
        assert_eq!(line(&view(ip)), format!("{udp}28"));
        assert_eq!(line(&view(&frame)), format!("{udp}42"));
        assert!(is_ethernet(&view(&frame)) && !is_ethernet(&view(ip)));
        let arp =
            "ffffffffffff 020000000002 0806 0001080006040001 020000000002 0a000102 000000000000 0a000101";
        assert_eq!(line(&view(arp)), "arp request 10.0.1.2 > 10.0.1.1 len 42");
        assert_eq!(line(&view("01020304")), "4 bytes");
        let all: Vec<u8> = view(&frame).bytes;
        for end in 0..all.len() {
            let _ = line(&View { len: end, bytes: all[..end].to_vec(), ..View::default() });
        }
    }
}
