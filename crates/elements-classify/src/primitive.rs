//! Primitives of the IP classifiers' language: what `src tcp port > 1023` comes to.
//!
//! A primitive is first collected from its words, then checked and completed from the primitive before it (`port 80
//! or 81`), and last made an expression ([`super::assertion`]). What it compares is there, or the primitive does not
//! match: `src host != 10.0.0.1` is not true of a packet without addresses.

use super::names::{Field, Kind, protocol_text};
use wire::describe::{PROTO_TCP_OR_UDP, PROTO_TRANSPORT};
use wire::ip_proto;

/// Which address or port is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Src,
    Dst,
    Both,
    Either,
}

impl Side {
    fn text(self) -> &'static str {
        match self {
            Side::Src => "src ",
            Side::Dst => "dst ",
            Side::Both => "src and dst ",
            Side::Either => "src or dst ",
        }
    }
}

/// A relation; all six are made of these with or without "not".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Op {
    #[default]
    Equal,
    Greater,
    Less,
}

/// An address in words, the first `len` of four, with a mask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) words: [u32; 4],
    pub(super) mask: [u32; 4],
    pub(super) len: usize,
}

/// What follows a primitive's qualifiers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Data {
    #[default]
    None,
    /// A number.
    Int(u32),
    /// A name's number, and what it is the name of.
    Named(Kind, u32),
    /// An address alone.
    Host(Address),
    /// An address with a mask.
    Net(Address),
    /// An Ethernet address.
    Ether([u8; 6]),
}

/// A mask that the user gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mask {
    Int(u32),
    Host(Address),
    Ether([u8; 6]),
}

/// Which header was named in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    Ip,
    Ether,
}

/// What is wrong with a pattern, and what is odd about it.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// Put in front of every message.
    pub(super) prefix: String,
    pub(super) errors: Vec<String>,
    pub(super) warnings: Vec<String>,
}

impl Messages {
    pub(super) fn error(&mut self, text: impl AsRef<str>) {
        self.errors.push(format!("{}{}", self.prefix, text.as_ref()));
    }

    pub(super) fn warning(&mut self, text: impl AsRef<str>) {
        self.warnings.push(format!("{}{}", self.prefix, text.as_ref()));
    }
}

/// One primitive.
#[derive(Clone, Debug, Default)]
pub(super) struct Primitive {
    pub(super) kind: Option<Kind>,
    pub(super) side: Option<Side>,
    pub(super) proto: Option<u16>,
    pub(super) op: Op,
    pub(super) negated: bool,
    pub(super) data: Data,
    /// The number that is compared, and the bits that count.
    pub(super) value: u32,
    pub(super) mask: u32,
}

impl Primitive {
    pub(super) fn set_kind(&mut self, kind: Kind, messages: &mut Messages) {
        if self.kind.is_some() {
            messages.error("type specified twice");
        }
        self.kind = Some(kind);
    }

    pub(super) fn set_side(&mut self, side: Side, messages: &mut Messages) {
        if self.side.is_some() {
            messages.error("'src' or 'dst' specified twice");
        }
        self.side = Some(side);
    }

    pub(super) fn set_proto(&mut self, proto: u16, messages: &mut Messages) {
        if self.proto.is_some_and(|known| known != proto) {
            messages.error("transport protocol specified twice");
        }
        self.proto = Some(proto);
    }

    fn text(&self) -> String {
        format!("{}{}", self.side.map_or("", Side::text), Kind::text(self.kind))
    }

    fn op_text(&self) -> &'static str {
        match (self.op, self.negated) {
            (Op::Greater, false) => ">",
            (Op::Greater, true) => "<=",
            (Op::Less, false) => "<",
            (Op::Less, true) => ">=",
            (Op::Equal, false) => "=",
            (Op::Equal, true) => "!=",
        }
    }

    fn wrong<T>(&self, what: &str) -> Result<T, String> {
        Err(format!("'{}': {what}", self.text()))
    }

    /// Completes and checks the primitive.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn check(
        &mut self,
        before: &Primitive,
        header: Option<Header>,
        mask: Option<Mask>,
        messages: &mut Messages,
    ) -> Result<(), String> {
        let given_side = self.side;
        self.infer_kind(before)?;
        let ether = matches!(self.data, Data::Ether(_));
        let header = header.unwrap_or(if ether { Header::Ether } else { Header::Ip });
        if header == Header::Ether && self.kind == Some(Kind::Host) {
            self.kind = Some(Kind::Ether);
        }
        match self.kind {
            Some(Kind::Host | Kind::Net | Kind::Ether) => self.check_address(header, mask)?,
            _ if header != Header::Ip => return self.wrong("ip only"),
            Some(Kind::Proto) => self.check_proto(mask, messages)?,
            Some(Kind::Port) => self.check_port(mask, messages)?,
            Some(Kind::TcpOpt) => self.check_tcp_opt(mask)?,
            Some(Kind::State) => self.check_state(mask)?,
            Some(Kind::Ect) => self.check_ect(mask, messages)?,
            Some(Kind::Ce | Kind::Frag | Kind::Unfrag) => {
                if self.data != Data::None || mask.is_some() {
                    return self.wrong("value not supported");
                }
            }
            Some(Kind::Field(field)) => self.check_field(field, mask, messages)?,
            None => return Err("partial directive".to_owned()),
        }
        match self.kind {
            Some(Kind::Host | Kind::Port | Kind::Ether) => self.side = self.side.or(Some(Side::Either)),
            _ if given_side.is_some() => {
                messages.warning(format!("'{}': 'src' or 'dst' ignored", self.text()));
            }
            _ => {}
        }
        Ok(())
    }

    /// Finds out what kind of primitive it is, if no word has said so.
    fn infer_kind(&mut self, before: &Primitive) -> Result<(), String> {
        if self.kind.is_some() {
            return Ok(());
        }
        let kind = match self.data {
            Data::Host(_) => Kind::Host,
            Data::Net(_) => Kind::Net,
            Data::Ether(_) => Kind::Ether,
            Data::Named(kind, _) => kind,
            Data::Int(_) => match before.kind {
                Some(kind @ (Kind::Field(_) | Kind::Proto | Kind::Port)) => kind,
                _ => return Err("specify header field or 'port'".to_owned()),
            },
            Data::None if self.proto.is_some() => Kind::Proto,
            Data::None => return Err("partial directive".to_owned()),
        };
        match kind {
            Kind::Host | Kind::Net | Kind::Ether | Kind::TcpOpt => self.side = self.side.or(before.side),
            Kind::Port => {
                self.side = self.side.or(before.side);
                self.proto = self.proto.or(before.proto);
            }
            Kind::Field(field) => self.proto = self.proto.or(field.proto),
            _ => {}
        }
        self.kind = Some(kind);
        Ok(())
    }

    fn check_address(&mut self, header: Header, mask: Option<Mask>) -> Result<(), String> {
        let right = match (self.kind, header) {
            (Some(Kind::Host), Header::Ip) => matches!(self.data, Data::Host(_)),
            (Some(Kind::Net), Header::Ip) => matches!(self.data, Data::Net(_)),
            (Some(Kind::Ether), Header::Ether) => matches!(self.data, Data::Ether(_)),
            _ => false,
        };
        if !right {
            return self.wrong("address missing");
        }
        if self.op != Op::Equal {
            return self.wrong("operator not supported");
        }
        match (&mut self.data, mask) {
            (Data::Ether(_), None | Some(Mask::Ether(_))) | (_, None) => {}
            (Data::Host(address) | Data::Net(address), Some(Mask::Int(mask))) if address.len == 1 => {
                address.mask[0] = mask;
            }
            (Data::Host(address) | Data::Net(address), Some(Mask::Host(mask))) => address.mask = mask.words,
            _ => return self.wrong("bad mask"),
        }
        if let (Data::Ether(bytes), Some(Mask::Ether(mask))) = (self.data, mask) {
            // Kept as a network: words and their masks.
            self.data = Data::Net(ether_words(bytes, mask));
        } else if let Data::Ether(bytes) = self.data {
            self.data = Data::Net(ether_words(bytes, [0xff; 6]));
        }
        if self.kind == Some(Kind::Net) {
            self.kind = Some(Kind::Host);
        }
        Ok(())
    }

    fn check_proto(&mut self, mask: Option<Mask>, messages: &mut Messages) -> Result<(), String> {
        let given = match self.data {
            Data::Int(number) | Data::Named(Kind::Proto, number) => Some(number),
            Data::None => None,
            _ => return self.wrong("value missing"),
        };
        if let (Some(given), Some(proto)) = (given, self.proto)
            && given != u32::from(proto)
        {
            return self.wrong("specified twice");
        }
        let Some(number) = given.or(self.proto.map(u32::from)) else { return self.wrong("value missing") };
        self.proto = None;
        let special = u16::try_from(number).ok().filter(|&proto| is_special(proto));
        if let Some(proto) = special {
            if self.op != Op::Equal || mask.is_some() {
                return Err(format!("'{}': operator or mask not supported", protocol_text(proto)));
            }
            (self.value, self.mask) = (number, 0xff);
            self.proto = (!self.negated).then_some(proto);
            return Ok(());
        }
        self.set_number(number, 0xff, mask, messages)?;
        if self.op == Op::Equal && self.mask == 0xff && !self.negated {
            self.proto = Some(number as u16);
        }
        Ok(())
    }

    fn check_port(&mut self, mask: Option<Mask>, messages: &mut Messages) -> Result<(), String> {
        let (Data::Int(number) | Data::Named(Kind::Port, number)) = self.data else {
            return self.wrong("value missing");
        };
        match self.proto.map_or(PROTO_TCP_OR_UDP, |proto| proto) {
            PROTO_TCP_OR_UDP => self.proto = Some(PROTO_TCP_OR_UDP),
            proto if PORTED.iter().any(|&p| u16::from(p) == proto) => {}
            proto => return Err(format!("'port': bad protocol {proto}")),
        }
        self.set_number(number, 0xffff, mask, messages)
    }

    fn check_tcp_opt(&mut self, mask: Option<Mask>) -> Result<(), String> {
        let (Data::Int(number) | Data::Named(Kind::TcpOpt, number)) = self.data else {
            return self.wrong("value missing");
        };
        match self.proto {
            None => self.proto = Some(ip_proto::TCP.into()),
            Some(proto) if proto == u16::from(ip_proto::TCP) => {}
            Some(proto) => return Err(format!("'tcp opt': bad protocol {proto}")),
        }
        if self.op != Op::Equal || self.negated || mask.is_some() {
            return self.wrong("operator or mask not supported");
        }
        if number > 255 {
            return Err(format!("'tcp opt': value {} out of range", number as i32));
        }
        (self.value, self.mask) = (number, number);
        Ok(())
    }

    fn check_state(&mut self, mask: Option<Mask>) -> Result<(), String> {
        let Data::Named(Kind::State, number) = self.data else {
            return self.wrong("expected new, established, related, invalid or untracked");
        };
        if self.op != Op::Equal || mask.is_some() {
            return self.wrong("operator or mask not supported");
        }
        self.value = number;
        Ok(())
    }

    fn check_ect(&mut self, mask: Option<Mask>, messages: &mut Messages) -> Result<(), String> {
        match self.data {
            Data::None => {
                // Any of the two bits.
                self.negated = true;
                self.set_number(0, 3, mask, messages)
            }
            Data::Int(number) => self.set_number(number, 3, mask, messages),
            _ => self.wrong("value missing"),
        }
    }

    fn check_field(
        &mut self,
        field: Field,
        mask: Option<Mask>,
        messages: &mut Messages,
    ) -> Result<(), String> {
        let number = match self.data {
            Data::Int(number) => number,
            Data::Named(kind, number) if kind == Kind::Field(field) => number,
            _ => return self.wrong("value missing"),
        };
        self.set_number(number, field.max(), mask, messages)
    }

    /// Sets number and mask, checked against what the field can hold, and makes `<` of `>`.
    fn set_number(
        &mut self,
        number: u32,
        full: u32,
        given: Option<Mask>,
        messages: &mut Messages,
    ) -> Result<(), String> {
        let mask = match given {
            None => full,
            Some(Mask::Int(mask)) => mask,
            Some(_) => return self.wrong("bad mask"),
        };
        if mask & full != mask {
            return self.wrong(&format!("mask out of range, bound 0x{full:X}"));
        }
        (self.value, self.mask) = (number, mask);
        if self.op == Op::Equal {
            return if number > full { self.wrong(&format!("out of range, bound {full}")) } else { Ok(()) };
        }
        let less = self.op == Op::Less;
        if (less && (number == 0 || number > mask)) || (!less && number >= mask) {
            let holds = (less && number > mask) != self.negated;
            let op = self.op_text();
            messages.warning(format!("relation '{op} {number}' is always {holds} (range 0-{mask})"));
            (self.value, self.mask, self.op, self.negated) = (0, 0, Op::Equal, !holds);
            return Ok(());
        }
        if less {
            self.value -= 1;
            self.negated = !self.negated;
            self.op = Op::Greater;
        }
        // The largest number of masked bits that is not greater: bits below the first one that the mask lacks are all set.
        let lacking = self.value & !mask;
        if lacking != 0 {
            let below = u32::MAX.checked_shr(lacking.leading_zeros() + 1).unwrap_or(0);
            self.value = (self.value | below) & mask;
        }
        Ok(())
    }
}

/// Numbers beyond the 8 bits of a protocol, which stand for several.
pub(super) fn is_special(proto: u16) -> bool {
    proto == PROTO_TCP_OR_UDP || proto == PROTO_TRANSPORT
}

/// Protocols whose headers start with two ports.
const PORTED: [u8; 4] = [ip_proto::TCP, ip_proto::UDP, ip_proto::DCCP, ip_proto::SCTP];

fn ether_words(bytes: [u8; 6], mask: [u8; 6]) -> Address {
    let words = |b: [u8; 6]| {
        [u32::from_be_bytes([b[0], b[1], b[2], b[3]]), u32::from_be_bytes([b[4], b[5], 0, 0]), 0, 0]
    };
    Address { words: words(bytes), mask: words(mask), len: 2 }
}
