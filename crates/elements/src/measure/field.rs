//! Fields of IP packets by their names: `ip dst`, `tcp flags`, `ip src/8`, `data[4+2]`.

use packet::Packet;
use wire::{ip_proto, ipv4, tcp, udp};

/// Where a field's offset counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// The IP header.
    Ip,
    /// The transport header of these protocols.
    Transport(Protocol),
    /// What follows a TCP or UDP header.
    Payload,
}

/// Transport protocols that a field belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Any,
    Tcp,
    Udp,
    TcpOrUdp,
    Icmp,
}

impl Protocol {
    fn has(self, number: u8) -> bool {
        match self {
            Protocol::Any => true,
            Protocol::Tcp => number == ip_proto::TCP,
            Protocol::Udp => number == ip_proto::UDP,
            Protocol::TcpOrUdp => number == ip_proto::TCP || number == ip_proto::UDP,
            Protocol::Icmp => number == ip_proto::ICMP,
        }
    }

    /// Whether a field of this protocol can be meant where `wanted` was said.
    fn suits(self, wanted: Protocol) -> bool {
        use Protocol::{Any, Tcp, TcpOrUdp, Udp};
        self == wanted
            || wanted == Any
            || (self == TcpOrUdp && matches!(wanted, Tcp | Udp))
            || (wanted == TcpOrUdp && matches!(self, Tcp | Udp))
    }
}

/// A field of at most 32 bits that lies within an aligned word of four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) base: Base,
    /// Bits from the base.
    pub(super) offset: u32,
    /// Bits.
    pub(super) length: u32,
}

/// Names, bases, offsets and lengths in bits.
#[rustfmt::skip]
const NAMES: &[(&str, Base, u32, u32)] = {
    use Base::Ip;
    const TCP: Base = Base::Transport(Protocol::Tcp);
    const UDP: Base = Base::Transport(Protocol::Udp);
    const PORTS: Base = Base::Transport(Protocol::TcpOrUdp);
    const ICMP: Base = Base::Transport(Protocol::Icmp);
    &[
        ("vers", Ip, 0, 4), ("hl", Ip, 4, 4), ("tos", Ip, 8, 8), ("dscp", Ip, 8, 6), ("ecn", Ip, 14, 2),
        ("len", Ip, 16, 16), ("id", Ip, 32, 16), ("off", Ip, 48, 16), ("rf", Ip, 48, 1), ("df", Ip, 49, 1),
        ("mf", Ip, 50, 1), ("fragoff", Ip, 51, 13), ("ttl", Ip, 64, 8), ("proto", Ip, 72, 8),
        ("csum", Ip, 80, 16), ("sum", Ip, 80, 16), ("src", Ip, 96, 32), ("dst", Ip, 128, 32),
        ("sport", PORTS, 0, 16), ("dport", PORTS, 16, 16),
        ("len", UDP, 32, 16), ("csum", UDP, 48, 16), ("sum", UDP, 48, 16),
        ("seq", TCP, 32, 32), ("seqno", TCP, 32, 32), ("ackno", TCP, 64, 32), ("hl", TCP, 96, 4),
        ("flags", TCP, 104, 8), ("urg", TCP, 106, 1), ("ack", TCP, 107, 1), ("psh", TCP, 108, 1),
        ("push", TCP, 108, 1), ("rst", TCP, 109, 1), ("syn", TCP, 110, 1), ("fin", TCP, 111, 1),
        ("win", TCP, 112, 16), ("window", TCP, 112, 16), ("csum", TCP, 128, 16), ("sum", TCP, 128, 16),
        ("urp", TCP, 144, 16),
        ("type", ICMP, 0, 8), ("code", ICMP, 8, 8), ("csum", ICMP, 16, 16), ("sum", ICMP, 16, 16),
    ]
};

fn base_named(word: &str) -> Option<Base> {
    Some(match word {
        "ip" => Base::Ip,
        "tcp" => Base::Transport(Protocol::Tcp),
        "udp" => Base::Transport(Protocol::Udp),
        "tcpudp" => Base::Transport(Protocol::TcpOrUdp),
        "icmp" => Base::Transport(Protocol::Icmp),
        "transp" | "transport" => Base::Transport(Protocol::Any),
        "data" => Base::Payload,
        _ => return None,
    })
}

impl Base {
    /// What begins there in a packet with this header, if it is not the header itself.
    fn behind<'p>(
        self,
        ip: ipv4::Header<&'p [u8; ipv4::HEADER_LEN]>,
        packet: &'p Packet,
    ) -> Option<&'p [u8]> {
        let transport = packet.transport().filter(|_| ip.is_first_fragment())?;
        match self {
            Base::Transport(protocol) if protocol.has(ip.protocol()) => Some(transport),
            Base::Payload => payload(ip.protocol(), transport),
            Base::Transport(_) | Base::Ip => None,
        }
    }

    /// What it is called in descriptions of fields.
    pub(super) fn name(self) -> &'static str {
        base_name(self)
    }
}

fn base_name(base: Base) -> &'static str {
    match base {
        Base::Ip => "ip",
        Base::Payload => "data",
        Base::Transport(Protocol::Any) => "transp",
        Base::Transport(Protocol::Tcp) => "tcp",
        Base::Transport(Protocol::Udp) => "udp",
        Base::Transport(Protocol::TcpOrUdp) => "tcpudp",
        Base::Transport(Protocol::Icmp) => "icmp",
    }
}

/// Takes letters and digits off the front of a text.
fn pop_word<'a>(text: &mut &'a str) -> &'a str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    *text = rest;
    word
}

/// Takes a number off the front of a text, and spaces around it.
fn pop_number(text: &mut &str) -> Option<u32> {
    let trimmed = text.trim_start();
    let end = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
    let (digits, rest) = trimmed.split_at(end);
    let number = digits.parse().ok()?;
    *text = rest.trim_start();
    Some(number)
}

impl Field {
    /// The field that a text describes.
    ///
    /// # Errors
    /// What is wrong with it, as a sentence.
    pub(super) fn parse(text: &str) -> Result<Field, String> {
        let text = lang::conf::unquote(text);
        let mut rest = text.trim();
        let whole = rest;
        let mut base = base_named(pop_word(&mut rest));
        if base.is_none() {
            rest = whole;
        }
        let first = whole.len() - rest.len();
        rest = rest.trim_start();
        let field = if rest.starts_with(['[', '{']) && base.is_some() {
            Field::by_position(base.take().unwrap_or(Base::Ip), &whole[..first], &mut rest)?
        } else {
            Field::by_name(base, pop_word(&mut rest))?
        };
        let field = if rest.is_empty() { field } else { field.narrowed(rest.trim_start())? };
        field.checked()
    }

    /// `[BYTE]`, `[BYTE, BYTES]`, `[BYTE-BYTE]`, `[BYTE+BYTES]`, and the same in braces for bits.
    fn by_position(base: Base, name: &str, rest: &mut &str) -> Result<Field, String> {
        let (open, scale) = if rest.starts_with('[') { ('[', 8) } else { ('{', 1) };
        let close = if open == '[' { ']' } else { '}' };
        let expected = || format!("(expected '{name}[OFF]', '{name}[OFF1, OFF2]', or '{name}[OFF+LEN]')");
        let bad = || format!("syntax error after '{open}' {}", expected());
        *rest = &rest[1..];
        let first = pop_number(rest).ok_or_else(bad)?;
        let separator = rest.chars().next().unwrap_or(' ');
        let length = match separator {
            ',' | '+' | '-' => {
                *rest = &rest[1..];
                let second = pop_number(rest).ok_or_else(bad)?;
                if separator == '-' { second.saturating_add(1).saturating_sub(first) } else { second }
            }
            _ => 1,
        };
        *rest = rest.strip_prefix(close).ok_or_else(|| format!("missing '{close}' {}", expected()))?;
        if length == 0 {
            return Err("nonpositive length".to_owned());
        }
        Ok(Field { base, offset: first.saturating_mul(scale), length: length.saturating_mul(scale) })
    }

    fn by_name(base: Option<Base>, name: &str) -> Result<Field, String> {
        if name.is_empty() {
            return Err("missing data field".to_owned());
        }
        let suits = |found: Base| match (base, found) {
            (None, _) => true,
            (Some(Base::Transport(wanted)), Base::Transport(has)) => has.suits(wanted),
            (Some(base), found) => base == found,
        };
        let all: Vec<_> = NAMES.iter().filter(|(known, ..)| *known == name).collect();
        let meant: Vec<_> = all.iter().filter(|(_, base, ..)| suits(*base)).collect();
        let list = |of: &[&(&str, Base, u32, u32)]| {
            of.iter().map(|(_, base, ..)| base_name(*base)).collect::<Vec<_>>().join(", ")
        };
        match meant[..] {
            [&&(_, base, offset, length)] => Ok(Field { base, offset, length }),
            [] if all.is_empty() => Err(format!("unknown data field '{name}'")),
            [] => {
                let (kind, others) = (base.map_or("", base_name), list(&all));
                Err(format!("no such data field '{kind} {name}'\n('{name}' is valid for {others})"))
            }
            _ => {
                let choice: Vec<_> = meant.iter().map(|found| **found).collect();
                Err(format!("ambiguous data field '{name}'\n(specify one of {})", list(&choice)))
            }
        }
    }

    /// Takes a part: `/BITS`, `/MASK` or `& MASK`.
    fn narrowed(self, text: &str) -> Result<Field, String> {
        const GARBAGE: &str = "garbage after data field";
        if let Some(rest) = text.strip_prefix('/') {
            let rest = rest.trim();
            if let Ok(bits) = rest.parse::<u32>() {
                if bits == 0 || bits > self.length {
                    return Err(format!("'/NUM' should be between '/1' and '/{}'", self.length));
                }
                return Ok(Field { length: bits, ..self });
            }
            let mask = wire::net::parse_ipv4(rest)
                .map_err(|_| format!("{GARBAGE}: expected '/NUM' or '/IPADDR'"))?;
            if self.length != 32 {
                return Err("'/IPADDR' only usable with IP addresses".to_owned());
            }
            return self.masked(u32::from(mask), "/IPADDR");
        }
        let rest = text.strip_prefix('&').ok_or(GARBAGE)?.trim();
        let mask = router::parse_integer(rest).and_then(|mask| u32::try_from(mask).ok());
        self.masked(mask.ok_or_else(|| format!("{GARBAGE}: expected '& MASK'"))?, "& MASK")
    }

    fn masked(self, mask: u32, name: &str) -> Result<Field, String> {
        if self.length < 32 && mask >> self.length != 0 {
            return Err(format!("'{name}' value '{mask}' is longer than base field"));
        }
        let (low, ones) = (mask.trailing_zeros(), mask.count_ones());
        if mask == 0 || u64::from(mask) >> low != (1 << ones) - 1 {
            return Err(format!("'{name}' must contain exactly one contiguous set of 1 bits"));
        }
        Ok(Field { offset: self.offset + self.length - low - ones, length: ones, ..self })
    }

    fn checked(self) -> Result<Field, String> {
        let last = self.offset.saturating_add(self.length - 1);
        if self.offset / 32 != last / 32 {
            return Err("field specification does not fit within a single word".to_owned());
        }
        Ok(self)
    }

    /// Whether it lies in one of the two addresses of an IP header.
    pub(super) fn is_of_address(self) -> bool {
        self.base == Base::Ip && (96..160).contains(&self.offset)
    }

    /// Protocol and name, if the field or one that begins with it has a name.
    pub(super) fn name(self) -> Option<String> {
        let here =
            || NAMES.iter().filter(|(_, base, offset, _)| (*base, *offset) == (self.base, self.offset));
        let whole = here().find(|(.., length)| *length == self.length);
        let part = || here().filter(|(.., length)| *length > self.length).min_by_key(|(.., length)| *length);
        let (name, _, _, length) = whole.or_else(part)?;
        let bits = if *length > self.length { format!("/{}", self.length) } else { String::new() };
        Some(format!("{} {name}{bits}", base_name(self.base)))
    }

    /// All bits of the field set.
    pub(super) fn mask(self) -> u32 {
        u32::MAX >> (32 - self.length)
    }

    /// The value in a packet whose headers are marked. As in Click the whole word around it must be there.
    #[inline(always)] // one call less for every packet
    pub(super) fn value(self, packet: &Packet) -> Option<u32> {
        let network = packet.network()?;
        let ip = ipv4::Header::new_checked(network).ok()?;
        let bytes = if self.base == Base::Ip { network } else { self.base.behind(ip, packet)? };
        let at = (self.offset / 32 * 4) as usize;
        let word = bytes.get(at..at + 4)?.first_chunk::<4>()?;
        Some((u32::from_be_bytes(*word) >> (32 - self.offset % 32 - self.length)) & self.mask())
    }
}

/// What follows the transport header.
fn payload(protocol: u8, transport: &[u8]) -> Option<&[u8]> {
    match protocol {
        ip_proto::TCP => transport.get(tcp::Header::new_checked(transport).ok()?.header_len()..),
        ip_proto::UDP => transport.get(udp::HEADER_LEN..),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_by_name_and_position() {
        let is = |text: &str, base: Base, offset: u32, length: u32| {
            assert_eq!(Field::parse(text), Ok(Field { base, offset, length }), "{text}");
        };
        is("ip dst", Base::Ip, 128, 32);
        is("dst/8", Base::Ip, 128, 8);
        is("ip src / 255.255.0.0", Base::Ip, 96, 16);
        is("ip src & 0xff00", Base::Ip, 112, 8);
        is("tcp sport", Base::Transport(Protocol::TcpOrUdp), 0, 16);
        is("udp len", Base::Transport(Protocol::Udp), 32, 16);
        is("ip[9]", Base::Ip, 72, 8);
        is("transp[0, 2]", Base::Transport(Protocol::Any), 0, 16);
        is("data{4-6}", Base::Payload, 4, 3);
        is("'icmp type'", Base::Transport(Protocol::Icmp), 0, 8);
    }

    #[test]
    fn faults_are_explained() {
        for (text, part) in [
            ("", "missing data field"),
            ("ip", "missing data field"),
            ("ip nosuch", "unknown data field 'nosuch'"),
            ("len", "ambiguous data field 'len'"),
            ("ip sport", "('sport' is valid for tcpudp)"),
            ("ip dst/33", "between '/1' and '/32'"),
            ("ip tos & 0x5", "one contiguous set"),
            ("ip tos & 0x100", "longer than base field"),
            ("ip dst rubbish", "garbage after data field"),
            ("ip[2, 4]", "single word"),
            ("ip[2", "missing ']'"),
            ("ip[x]", "syntax error"),
        ] {
            let error = Field::parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
