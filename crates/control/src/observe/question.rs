//! Hypothetical packets, as people describe them, and the edges of the graph.

use super::Wrong;
use super::framing::is_framed;
use router::{Edge, Info};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::MacAddr;

/// A packet and where it comes in: `udp 10.0.0.1:53 > 192.0.2.7:1000 in eth0 [KEYWORD VALUE]...`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    protocol: u8,
    from: (IpAddr, u16),
    to: (IpAddr, u16),
    ttl: u8,
    /// Bytes of the IP packet.
    len: usize,
    may_fragment: bool,
    flags: u8,
    macs: (Option<MacAddr>, Option<MacAddr>),
    vlan: Option<u16>,
    /// Whether it has an Ethernet header; `None` if that is not said.
    framed: Option<bool>,
    /// Where it comes in: an interface, or an element, perhaps with an input.
    place: String,
}

/// Where a packet comes in, and as what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The element.
    pub element: usize,
    /// Its input; `None` where it brings the packet.
    pub input: Option<usize>,
    /// Whether the packet has an Ethernet header.
    pub framed: bool,
    /// Why it has one or none if that was not said, and how to say otherwise: a sentence for the user.
    pub assumed: Option<String>,
}

const TCP: u8 = 6;
const UDP: u8 = 17;

/// An address, perhaps with a port: `10.0.0.1:53`, `[2001:db8::1]:53`, `2001:db8::1`.
fn end(text: &str) -> Result<(IpAddr, u16), Wrong> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok((address, 0));
    }
    let (address, port) = text.rsplit_once(':').ok_or_else(|| format!("'{text}' is no address"))?;
    let address = address.trim_start_matches('[').trim_end_matches(']');
    let address = address.parse().map_err(|_| format!("'{text}' is no address"))?;
    Ok((address, port.parse().map_err(|_| format!("'{port}' is no port"))?))
}

fn mac(text: &str) -> Result<MacAddr, Wrong> {
    text.parse().map_err(|_| Wrong(format!("'{text}' is no Ethernet address")))
}

impl Question {
    /// Reads a description.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Question, Wrong> {
        const USAGE: &str = "a packet is 'PROTOCOL ADDRESS[:PORT] > ADDRESS[:PORT] in INTERFACE-OR-ELEMENT'";
        let words: Vec<&str> = text.split_whitespace().collect();
        let [protocol, from, ">", to, "in", place, rest @ ..] = &words[..] else { return Err(USAGE.into()) };
        let (from, to) = (end(from)?, end(to)?);
        if from.0.is_ipv4() != to.0.is_ipv4() {
            return Err("both addresses are of one family".into());
        }
        let protocol = match *protocol {
            "icmp" if from.0.is_ipv4() => 1,
            "icmp" | "icmp6" => 58,
            "tcp" => TCP,
            "udp" => UDP,
            "gre" => 47,
            "esp" => 50,
            "ah" => 51,
            "ospf" => 89,
            "sctp" => 132,
            other => other.parse().map_err(|_| format!("unknown protocol '{other}'"))?,
        };
        let mut question = Question {
            protocol,
            from,
            to,
            ttl: 64,
            len: 0,
            may_fragment: true,
            flags: 2,
            macs: (None, None),
            vlan: None,
            framed: None,
            place: (*place).to_owned(),
        };
        let mut rest = rest.iter();
        while let Some(keyword) = rest.next() {
            let mut value =
                || rest.next().copied().ok_or_else(|| Wrong(format!("'{keyword}' wants a value")));
            let number = |text: &str| {
                text.parse::<u16>().map_err(|_| Wrong(format!("'{text}' is no number up to 65535")))
            };
            match *keyword {
                "ttl" => question.ttl = u8::try_from(number(value()?)?).map_err(|_| "ttl is 255 at most")?,
                "len" => question.len = number(value()?)?.into(),
                "df" => question.may_fragment = false,
                "syn" => question.flags = 2,
                "ack" => question.flags = 0x10,
                "rst" => question.flags = 4,
                "fin" => question.flags = 0x11,
                "vlan" => {
                    let id = Some(number(value()?)?).filter(|id| *id <= 0xfff);
                    question.vlan = Some(id.ok_or("a VLAN is 4095 at most")?);
                }
                "from" => question.macs.0 = Some(mac(value()?)?),
                "to" => question.macs.1 = Some(mac(value()?)?),
                "bare" => question.framed = Some(false),
                "frame" => question.framed = Some(true),
                other => {
                    return Err(Wrong(format!(
                        "unknown word '{other}': ttl N, len N, df, syn, ack, rst, fin, vlan N, from MAC, to MAC, frame, or bare"
                    )));
                }
            }
        }
        Ok(question)
    }

    /// Where the packet comes in, and whether with an Ethernet header: where the question does not say, as other packets do there.
    ///
    /// # Errors
    /// That there is no such place.
    pub fn place(&self, info: &Info) -> Result<Place, Wrong> {
        let (element, input) = self.element(info)?;
        if let Some(framed) = self.framed.or(self.has_link_words().then_some(true)) {
            return Ok(Place { element, input, framed, assumed: None });
        }
        let name = &info.nodes[element].name;
        let known = is_framed(info, element, input);
        let framed = known.unwrap_or(true);
        let (is, other) = if framed { ("a frame", "bare") } else { ("bare", "frame") };
        let assumed = match known {
            // An interface brings frames, as its user expects.
            Some(true) if input.is_none() => None,
            Some(_) => Some(format!(
                "the packet is {is}, as others that come to {name}; the word '{other}' says otherwise"
            )),
            None => Some(format!(
                "the packet is taken for {is}: whether others that come to {name} are is not known; the word '{other}' says otherwise"
            )),
        };
        Ok(Place { element, input, framed, assumed })
    }

    /// Whether the question has words about an Ethernet header.
    fn has_link_words(&self) -> bool {
        self.macs != (None, None) || self.vlan.is_some()
    }

    /// The element where the packet comes in, with its input if it is not brought by it.
    fn element(&self, info: &Info) -> Result<(usize, Option<usize>), Wrong> {
        if let Ok(Edge { element, input, port }) = edge(info, &self.place) {
            let node = &info.nodes[element];
            if !input && !node.inputs.is_empty() && self.place.contains('[') {
                return Err(Wrong(format!("a packet comes in at an input, as in '[0]{}'", node.name)));
            }
            return Ok((element, (input || !node.inputs.is_empty()).then_some(if input { port } else { 0 })));
        }
        let of_interface = |node: &router::Node| {
            let words = lang::conf::split_args(&node.config);
            let first = words.first().map(|word| lang::conf::unquote(word));
            node.inputs.is_empty()
                && !node.outputs.is_empty()
                && first.as_deref() == Some(self.place.as_str())
        };
        let found = info.nodes.iter().position(of_interface);
        Ok((
            found.ok_or_else(|| format!("there is neither an interface nor an element '{}'", self.place))?,
            None,
        ))
    }

    /// The Ethernet address of the place's interface, to which frames go unless another is said.
    fn interface_mac(&self, info: &Info, element: usize) -> Option<MacAddr> {
        let first = lang::conf::split_args(&info.nodes[element].config).into_iter().next()?;
        if let Some(mac) = info.ether_of(element, &first) {
            return Some(mac);
        }
        // An interface that is not there: the filter behind it knows which frames are its own.
        let behind = info.nodes[element].outputs.first()?.peers.first()?.0;
        let first = lang::conf::split_args(&info.nodes[behind].config).into_iter().next()?;
        info.ether_of(behind, &first)
    }

    /// The packet's bytes.
    ///
    /// # Errors
    /// That it would be shorter than its headers, or longer than a packet can be.
    pub fn bytes(&self, info: &Info, place: &Place) -> Result<Vec<u8>, Wrong> {
        let mut bytes = Vec::new();
        if place.framed {
            let to = self
                .macs
                .1
                .or_else(|| self.interface_mac(info, place.element))
                .unwrap_or(MacAddr([2, 0, 0, 0, 0, 1]));
            bytes.extend(to.0);
            bytes.extend(self.macs.0.unwrap_or(MacAddr([2, 0, 0, 0, 0, 2])).0);
            bytes.extend(self.vlan.into_iter().flat_map(|tag| [0x81, 0, (tag >> 8) as u8, tag as u8]));
            bytes.extend(if self.from.0.is_ipv4() { [8, 0] } else { [0x86, 0xdd] });
        }
        bytes.extend(self.ip_packet()?);
        Ok(bytes)
    }

    fn transport(&self, room: usize) -> Vec<u8> {
        let mut bytes = match self.protocol {
            TCP => {
                let mut header = vec![0; 20];
                (header[12], header[13]) = (0x50, self.flags);
                header
            }
            UDP => vec![0; 8],
            1 => vec![8, 0, 0, 0, 0, 1, 0, 1],
            58 => vec![128, 0, 0, 0, 0, 1, 0, 1],
            _ => Vec::new(),
        };
        let len = bytes.len().max(room);
        bytes.resize(len, 0);
        if matches!(self.protocol, TCP | UDP) {
            bytes[..2].copy_from_slice(&self.from.1.to_be_bytes());
            bytes[2..4].copy_from_slice(&self.to.1.to_be_bytes());
        }
        if self.protocol == UDP {
            bytes[4..6].copy_from_slice(&(len as u16).to_be_bytes());
        }
        bytes
    }

    fn ip_packet(&self) -> Result<Vec<u8>, Wrong> {
        let header = if self.from.0.is_ipv4() { 20 } else { 40 };
        if self.len > 0 && self.len < header {
            return Err(Wrong(format!("len counts the IP header: {header} at least")));
        }
        let mut payload = self.transport(self.len.saturating_sub(header));
        let mut sum = Sum::default();
        let mut ip = match (self.from.0, self.to.0) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                let total =
                    u16::try_from(header + payload.len()).map_err(|_| "longer than a packet can be")?;
                sum.pseudo(
                    &[from, to].map(|address: Ipv4Addr| address.octets()).concat(),
                    self.protocol,
                    payload.len(),
                );
                let mut ip = vec![0x45, 0];
                ip.extend(total.to_be_bytes());
                ip.extend([0, 1, if self.may_fragment { 0 } else { 0x40 }, 0, self.ttl, self.protocol, 0, 0]);
                ip.extend(from.octets());
                ip.extend(to.octets());
                let check = Sum::of(&ip);
                ip[10..12].copy_from_slice(&check.to_be_bytes());
                ip
            }
            (IpAddr::V6(from), IpAddr::V6(to)) => {
                let length = u16::try_from(payload.len()).map_err(|_| "longer than a packet can be")?;
                sum.pseudo(
                    &[from, to].map(|address: Ipv6Addr| address.octets()).concat(),
                    self.protocol,
                    payload.len(),
                );
                let mut ip = vec![0x60, 0, 0, 0];
                ip.extend(length.to_be_bytes());
                ip.extend([self.protocol, self.ttl]);
                ip.extend(from.octets());
                ip.extend(to.octets());
                ip
            }
            _ => return Err("both addresses are of one family".into()),
        };
        let at = match self.protocol {
            TCP => Some(16),
            UDP => Some(6),
            1 | 58 => Some(2),
            _ => None,
        };
        if let Some(at) = at {
            let check = if self.protocol == 1 { Sum::of(&payload) } else { sum.end(&payload) };
            payload[at..at + 2].copy_from_slice(&check.to_be_bytes());
        }
        ip.extend(payload);
        Ok(ip)
    }
}

/// The Internet checksum (RFC 1071).
#[derive(Default)]
struct Sum(u32);

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        for pair in bytes.chunks(2) {
            self.0 += u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0));
            self.0 = (self.0 & 0xffff) + (self.0 >> 16);
        }
    }

    fn pseudo(&mut self, addresses: &[u8], protocol: u8, len: usize) {
        self.add(addresses);
        self.add(&[0, protocol]);
        self.add(&(len as u16).to_be_bytes());
    }

    fn end(mut self, bytes: &[u8]) -> u16 {
        self.add(bytes);
        !(self.0 as u16)
    }

    fn of(bytes: &[u8]) -> u16 {
        Sum::default().end(bytes)
    }
}

/// An edge: `ELEMENT`, `ELEMENT[PORT]` for an output, `[PORT]ELEMENT` for an input. Without a port, output 0, or input 0 if there is no output.
///
/// # Errors
/// That there is no such element.
pub fn edge(info: &Info, text: &str) -> Result<Edge, Wrong> {
    let port = |digits: &str| digits.parse::<usize>().map_err(|_| Wrong(format!("'{digits}' is no port")));
    let (name, input, port) =
        if let Some((digits, name)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            (name, Some(true), port(digits)?)
        } else if let Some((name, digits)) = text.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
            (name, Some(false), port(digits)?)
        } else {
            (text, None, 0)
        };
    let element = info.find(name, None).ok_or_else(|| format!("no element named '{name}'"))?;
    Ok(Edge { element, input: input.unwrap_or(info.nodes[element].outputs.is_empty()), port })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions() {
        let question = Question::parse("udp 10.0.0.1:53 > 192.0.2.7:1000 in eth0 ttl 3 len 100 df").unwrap();
        let bytes = question.ip_packet().unwrap();
        assert_eq!((bytes.len(), bytes[8], bytes[6], Sum::of(&bytes[..20])), (100, 3, 0x40, 0));
        let mut sum = Sum::default();
        sum.pseudo(&bytes[12..20], 17, 80);
        assert_eq!(sum.end(&bytes[20..]), 0);
        assert_eq!(
            Question::parse("tcp [2001:db8::1]:1 > 2001:db8::2 in e").unwrap().ip_packet().unwrap().len(),
            60
        );
        for wrong in [
            "",
            "udp 10.0.0.1 > 10.0.0.2",
            "udp 10.0.0.1 > ::1 in e",
            "udp x > 10.0.0.2 in e",
            "foo 10.0.0.1 > 10.0.0.2 in e",
            "udp 10.0.0.1 > 10.0.0.2 in e ttl 256",
            "udp 10.0.0.1 > 10.0.0.2 in e ttl",
            "udp 10.0.0.1 > 10.0.0.2 in e vlan 4096",
            "udp 10.0.0.1 > 10.0.0.2 in e len 70000",
        ] {
            assert!(Question::parse(wrong).is_err(), "{wrong}");
        }
        assert!(Question::parse("udp 1.2.3.4 > 5.6.7.8 in e len 19").unwrap().ip_packet().is_err());
    }
}
