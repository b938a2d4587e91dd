//! Fields of IP packets by their names: `ip dst`, `tcp flags`, `ip src/8`, `data[4+2]`.

use packet::Packet;
use wire::{describe, ip_proto, ipv4, tcp, udp};

/// Where a field's offset counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// The IP header.
    Ip,
    /// The transport header, whatever the protocol.
    Transport,
    /// The TCP or UDP header.
    TcpOrUdp,
    /// The header of this protocol.
    Protocol(u8),
    /// What follows a TCP or UDP header.
    Payload,
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

const TCP: Base = Base::Protocol(ip_proto::TCP);
const UDP: Base = Base::Protocol(ip_proto::UDP);
const ICMP: Base = Base::Protocol(ip_proto::ICMP);

/// Names, bases, offsets and lengths in bits. Of several names for a field the first is shown.
#[rustfmt::skip]
const NAMES: &[(&str, Base, u32, u32)] = {
    use Base::{Ip, TcpOrUdp};
    &[
        ("vers", Ip, 0, 4), ("hl", Ip, 4, 4), ("tos", Ip, 8, 8), ("dscp", Ip, 8, 6), ("ecn", Ip, 14, 2),
        ("len", Ip, 16, 16), ("id", Ip, 32, 16), ("off", Ip, 48, 16), ("rf", Ip, 48, 1), ("df", Ip, 49, 1),
        ("mf", Ip, 50, 1), ("fragoff", Ip, 51, 13), ("ttl", Ip, 64, 8), ("proto", Ip, 72, 8),
        ("sum", Ip, 80, 16), ("csum", Ip, 80, 16), ("src", Ip, 96, 32), ("dst", Ip, 128, 32),
        ("sport", TcpOrUdp, 0, 16), ("dport", TcpOrUdp, 16, 16),
        ("sport", UDP, 0, 16), ("dport", UDP, 16, 16), ("len", UDP, 32, 16), ("sum", UDP, 48, 16), ("csum", UDP, 48, 16),
        ("sport", TCP, 0, 16), ("dport", TCP, 16, 16), ("seq", TCP, 32, 32), ("seqno", TCP, 32, 32),
        ("ackno", TCP, 64, 32), ("hl", TCP, 96, 4), ("flags", TCP, 104, 8), ("urg", TCP, 106, 1), ("ack", TCP, 107, 1),
        ("ackf", TCP, 107, 1),
        ("psh", TCP, 108, 1), ("push", TCP, 108, 1), ("rst", TCP, 109, 1), ("syn", TCP, 110, 1), ("fin", TCP, 111, 1),
        ("win", TCP, 112, 16), ("window", TCP, 112, 16), ("sum", TCP, 128, 16), ("csum", TCP, 128, 16), ("urp", TCP, 144, 16),
        ("type", ICMP, 0, 8), ("code", ICMP, 8, 8), ("sum", ICMP, 16, 16), ("csum", ICMP, 16, 16),
    ]
};

const EXPECTED: &str = "expected 'HEADER [NAME] [{OFFSET:LENGTH}] [/PREFIX] [& MASK]'";
const BAD_PLACE: &str = "bad offset or length in TCP/IP field";
const BAD_PART: &str = "bad prefix or mask in TCP/IP field";

impl Base {
    fn of_protocol(number: u16) -> Option<Base> {
        Some(match number {
            0 => Base::Ip,
            describe::PROTO_TCP_OR_UDP => Base::TcpOrUdp,
            describe::PROTO_TRANSPORT => Base::Transport,
            describe::PROTO_PAYLOAD => Base::Payload,
            _ => Base::Protocol(u8::try_from(number).ok()?),
        })
    }

    fn named(word: &str) -> Option<Base> {
        match word {
            "ip" => Some(Base::Ip),
            // Older names.
            "transport" => Some(Base::Transport),
            "data" => Some(Base::Payload),
            _ if word.starts_with(|c: char| c.is_ascii_digit()) => None,
            _ => describe::protocol(word).and_then(Base::of_protocol),
        }
    }

    /// What begins there in a packet with this header, if it is not the header itself.
    fn behind<'p>(
        self,
        ip: ipv4::Header<&'p [u8; ipv4::HEADER_LEN]>,
        packet: &'p Packet,
    ) -> Option<&'p [u8]> {
        let transport = packet.transport().filter(|_| ip.is_first_fragment())?;
        match (self, ip.protocol()) {
            (Base::Protocol(wanted), protocol) if wanted != protocol => None,
            (Base::TcpOrUdp, protocol) if !matches!(protocol, ip_proto::TCP | ip_proto::UDP) => None,
            (Base::Payload, protocol) => payload(protocol, transport),
            (Base::Ip, _) => None,
            _ => Some(transport),
        }
    }

    /// What handlers call its protocol: a name, or a number if it has none.
    pub(super) fn protocol(self) -> String {
        let number = match self {
            Base::Ip => 0,
            Base::Transport => describe::PROTO_TRANSPORT,
            Base::TcpOrUdp => describe::PROTO_TCP_OR_UDP,
            Base::Protocol(number) => number.into(),
            Base::Payload => describe::PROTO_PAYLOAD,
        };
        describe::protocol_name(number).map_or_else(|| number.to_string(), str::to_owned)
    }

    /// What descriptions of fields call it.
    fn header(self) -> String {
        match self {
            Base::Ip => "ip".to_owned(),
            Base::Protocol(number) if describe::protocol_name(number.into()).is_none() => {
                format!("ip proto {number}")
            }
            _ => self.protocol(),
        }
    }
}

/// Takes what stands before a space or one of the signs that may follow a name off the front of a text.
fn pop_word<'a>(text: &mut &'a str) -> &'a str {
    let end = text.find(|c: char| c.is_whitespace() || "/[{&".contains(c)).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    *text = rest;
    word
}

/// Takes a number off the front of a text, and spaces around it.
fn pop_number(text: &mut &str) -> Option<u32> {
    let trimmed = text.trim_start();
    let end = trimmed.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(trimmed.len());
    let (digits, rest) = trimmed.split_at(end);
    let number = router::parse_integer(digits).and_then(|number| u32::try_from(number).ok())?;
    *text = rest.trim_start();
    Some(number)
}

/// Takes the name of a header off the front of a text.
fn pop_base(text: &mut &str) -> Option<Base> {
    let mut rest = *text;
    let mut base = Base::named(pop_word(&mut rest))?;
    let mut number = rest.trim_start();
    if base == Base::Ip
        && pop_word(&mut number) == "proto"
        && let Some(protocol) = pop_number(&mut number)
    {
        (base, rest) = (Base::of_protocol(u16::try_from(protocol).ok()?)?, number);
    }
    *text = rest;
    Some(base)
}

/// Takes a place, in bits, off the front of a text: `[BYTE]`, `[BYTE:BYTES]`, `[BYTE-BYTE]`, and the same in braces for bits.
fn pop_place(text: &mut &str) -> Option<(u32, u32)> {
    let mut rest = *text;
    let (close, scale) = match rest.chars().next()? {
        '[' => (']', 8),
        '{' => ('}', 1),
        _ => return None,
    };
    rest = &rest[1..];
    let first = pop_number(&mut rest)?;
    let separator = rest.chars().next()?;
    let length = match separator {
        // Commas and pluses are older forms of colons.
        ':' | ',' | '+' | '-' => {
            rest = &rest[1..];
            let second = pop_number(&mut rest)?;
            if separator == '-' { second.saturating_add(1).saturating_sub(first) } else { second }
        }
        _ => 1,
    };
    *text = rest.strip_prefix(close)?;
    Some((first.saturating_mul(scale), length.saturating_mul(scale)))
}

impl Field {
    /// The field that a text describes.
    ///
    /// # Errors
    /// What is wrong with it, as a sentence.
    pub(super) fn parse(text: &str) -> Result<Field, String> {
        let text = lang::conf::unquote(text);
        let mut rest = text.trim();
        let base = pop_base(&mut rest);
        rest = rest.trim_start();
        let mut behind = rest;
        let named = Field::named(base, pop_word(&mut behind));
        if named.is_some() {
            rest = behind.trim_start();
        }
        let place = pop_place(&mut rest);
        let field = match (named, base, place) {
            (Some(field), _, None) => field,
            (Some(field), _, Some((offset, length))) => field.part(offset, length)?,
            (None, Some(_), Some((_, 0))) => return Err(BAD_PLACE.to_owned()),
            (None, Some(base), Some((offset, length))) => Field { base, offset, length },
            _ => return Err(EXPECTED.to_owned()),
        };
        let field = field.narrowed(&mut rest)?;
        if !rest.trim().is_empty() {
            return Err("garbage after field specification".to_owned());
        }
        field.checked()
    }

    /// The field with a name. Without a header the name must be in one only.
    fn named(base: Option<Base>, name: &str) -> Option<Field> {
        let known = NAMES.iter().filter(|(known, ..)| *known == name);
        let mut meant = known.filter(|(_, of, ..)| match base {
            Some(base) => *of == base,
            // The ports of one protocol are those of both.
            None => !(name.ends_with("port") && matches!(of, Base::Protocol(_))),
        });
        let &(_, base, offset, length) = meant.next()?;
        meant.next().is_none().then_some(Field { base, offset, length })
    }

    /// A part of a field that has a name.
    fn part(self, offset: u32, length: u32) -> Result<Field, String> {
        if length == 0 || offset.saturating_add(length) > self.length {
            return Err(BAD_PLACE.to_owned());
        }
        Ok(Field { offset: self.offset + offset, length, ..self })
    }

    /// Takes the first bits, `/BITS`, or those under a mask, `& MASK`.
    fn narrowed(mut self, rest: &mut &str) -> Result<Field, String> {
        if let Some(mut bits) = rest.trim_start().strip_prefix('/') {
            // An address is an older form of a mask.
            let end = bits.trim_start().find(char::is_whitespace).unwrap_or(bits.trim_start().len());
            if let Ok(mask) = wire::net::parse_ipv4(&bits.trim_start()[..end]) {
                *rest = &bits.trim_start()[end..];
                return self.masked(u32::from(mask));
            }
            let length = pop_number(&mut bits).ok_or("garbage after field specification")?;
            if length == 0 || length > self.length {
                return Err(BAD_PART.to_owned());
            }
            (self.length, *rest) = (length, bits);
        }
        if let Some(mut mask) = rest.trim_start().strip_prefix('&') {
            let value = pop_number(&mut mask).ok_or("garbage after field specification")?;
            *rest = mask;
            return self.masked(value);
        }
        Ok(self)
    }

    fn masked(self, mask: u32) -> Result<Field, String> {
        let (low, ones) = (mask.trailing_zeros(), mask.count_ones());
        let contiguous = mask != 0 && u64::from(mask) >> low == (1 << ones) - 1;
        if !contiguous || low + ones > self.length {
            return Err(BAD_PART.to_owned());
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

    /// Header and name, or header and place.
    pub(super) fn text(self) -> String {
        let (header, Field { base, offset, length }) = (self.base.header(), self);
        let name = |offset: u32, length: u32| {
            NAMES
                .iter()
                .find(|known| (known.1, known.2, known.3) == (base, offset, length))
                .map(|known| known.0)
        };
        if let Some(name) = name(offset, length) {
            return format!("{header} {name}");
        }
        // A part of a field that is a byte, or two, or four.
        let around = [8, 16, 32].into_iter().filter(|size| offset / size == (offset + length - 1) / size);
        let found = around.filter_map(|size| Some((size, name(offset / size * size, size)?))).next();
        let (name, at) = match found {
            Some((size, name)) if offset % size == 0 => return format!("{header} {name}/{length}"),
            Some((size, name)) => (format!(" {name}"), offset % size),
            None => (String::new(), offset),
        };
        match (at % 8, length) {
            (0, 8) => format!("{header}{name}[{}]", at / 8),
            (0, bits) if bits % 8 == 0 => format!("{header}{name}[{}:{}]", at / 8, bits / 8),
            (_, 1) => format!("{header}{name}{{{at}}}"),
            _ => format!("{header}{name}{{{at}:{length}}}"),
        }
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
    fn fields_by_name_and_place() {
        let is = |text: &str, base: Base, offset: u32, length: u32| {
            assert_eq!(Field::parse(text), Ok(Field { base, offset, length }), "{text}");
        };
        is("ip dst", Base::Ip, 128, 32);
        is("dst/8", Base::Ip, 128, 8);
        is("ip src / 255.255.0.0", Base::Ip, 96, 16);
        is("ip src & 0xff00", Base::Ip, 112, 8);
        is("ip src/16 & 0xff", Base::Ip, 104, 8);
        is("ip src[1:2]", Base::Ip, 104, 16);
        is("tcp flags {3}", TCP, 107, 1);
        is("tcp sport", TCP, 0, 16);
        is("ip proto 17 sport", UDP, 0, 16);
        is("dport", Base::TcpOrUdp, 16, 16);
        is("udp len", UDP, 32, 16);
        is("ip[9]", Base::Ip, 72, 8);
        is("ip proto", Base::Ip, 72, 8);
        is("gre[0:2]", Base::Protocol(47), 0, 16);
        is("transp[0, 2]", Base::Transport, 0, 16);
        is("payload[0x4+2]", Base::Payload, 32, 16);
        is("data{4-6}", Base::Payload, 4, 3);
        is("'icmp type'", ICMP, 0, 8);
    }

    #[test]
    fn a_parsed_field_prints_in_its_usual_form() {
        for (text, shown) in [
            ("sport", "tcpudp sport"),
            ("tcp push", "tcp psh"),
            ("tcp[13]", "tcp flags"),
            ("ip dst/8", "ip dst/8"),
            ("ip src[1:2]", "ip src[1:2]"),
            ("ip src & 0xff", "ip src[3]"),
            ("tcp flags & 0x6", "tcp flags{5:2}"),
            ("data[4+2]", "payload[4:2]"),
            ("ip proto 200 [4]", "ip proto 200[4]"),
            ("gre{3}", "gre{3}"),
        ] {
            assert_eq!(Field::parse(text).map(Field::text).as_deref(), Ok(shown), "{text}");
        }
    }

    #[test]
    fn faults_are_explained() {
        for (text, part) in [
            ("", EXPECTED),
            ("ip", EXPECTED),
            ("ip nosuch", EXPECTED),
            ("len", EXPECTED),
            ("ip sport", EXPECTED),
            ("ip dst/33", BAD_PART),
            ("ip tos & 0x5", BAD_PART),
            ("ip tos & 0x100", BAD_PART),
            ("ip tos[1]", BAD_PLACE),
            ("ip[3:0]", BAD_PLACE),
            ("ip dst rubbish", "garbage after field specification"),
            ("ip[2, 4]", "single word"),
            ("ip[2", EXPECTED),
            ("ip[x]", EXPECTED),
        ] {
            let error = Field::parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
