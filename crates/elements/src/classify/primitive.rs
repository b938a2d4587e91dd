//! Primitives of the IP classifiers' language: what `src tcp port > 1023` comes to.
//!
//! A primitive is first collected from its words, then checked and completed from the primitive before it (`port 80 or
//! 81`), and last made an expression. What it compares is there, or the primitive does not match: `src host != 10.0.0.1`
//! is not true of a packet without addresses.

use super::expr::{DIGEST, Expr, MAC, NETWORK, TRANSPORT};
use super::names::{Family, Field, Kind, protocol_text};
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
    value: u32,
    mask: u32,
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

    /// What a checked primitive says about packets.
    pub(super) fn expr(&self, family: Family) -> Expr {
        let mut all = Vec::new();
        if let Some(proto) = self.proto {
            all.extend(protocol_is(family, proto));
        }
        let transport = match self.kind {
            Some(Kind::Port | Kind::TcpOpt) => true,
            Some(Kind::Field(field)) => field.proto.is_some(),
            _ => false,
        };
        if transport {
            all.push(first_fragment(family));
        }
        match self.kind {
            Some(Kind::Host) => all.push(self.host(family)),
            Some(Kind::Ether) => all.push(self.ether()),
            Some(Kind::Proto) => all.extend(self.protocol(family)),
            Some(Kind::Frag) => all.push(fragment(family)),
            Some(Kind::Unfrag) => all.push(fragment(family).differs()),
            Some(Kind::Port) => {
                let port = |shift: u32| self.compare(TRANSPORT, 0xffffu32 << shift, shift);
                all.push(self.sides(port(16), port(0)));
            }
            Some(Kind::TcpOpt) => {
                all.push(Expr::equals(TRANSPORT + 12, 0xff << 16, self.mask << 16, self.value << 16));
            }
            Some(Kind::Ect) => all.push(self.relation(family.tos())),
            Some(Kind::Ce) => {
                let tos = family.tos();
                let (offset, field, shift) = tos.place(NETWORK);
                all.push(Expr::equals(offset, field, 3 << shift, 3 << shift));
            }
            Some(Kind::Field(field)) => all.push(self.relation(field)),
            Some(Kind::Net) | None => {}
        }
        match all.len() {
            1 => all.remove(0),
            _ => Expr::All(all),
        }
    }

    /// The part of a `proto` primitive that is not yet said by `self.proto`.
    fn protocol(&self, family: Family) -> Option<Expr> {
        if self.proto.is_some() {
            return None;
        }
        let special = u16::try_from(self.value).ok().filter(|&proto| is_special(proto));
        let (offset, shift) = family.protocol();
        Some(self.negate(match special {
            Some(proto) => protocol_is(family, proto).unwrap_or(Expr::Const(true)),
            None => self.compare(offset, 0xff << shift, shift),
        }))
    }

    fn relation(&self, field: Field) -> Expr {
        let (offset, window, shift) = field.place(if field.proto.is_some() { TRANSPORT } else { NETWORK });
        self.negate(self.compare(offset, window, shift))
    }

    fn negate(&self, expr: Expr) -> Expr {
        if self.negated { expr.differs() } else { expr }
    }

    fn sides(&self, src: Expr, dst: Expr) -> Expr {
        self.negate(match self.side {
            Some(Side::Src) => src,
            Some(Side::Dst) => dst,
            Some(Side::Both) => Expr::All(vec![src, dst]),
            Some(Side::Either) | None => Expr::Any(vec![src, dst]),
        })
    }

    fn host(&self, family: Family) -> Expr {
        let (Data::Host(address) | Data::Net(address)) = self.data else { return Expr::Const(false) };
        let at = |offset: usize| {
            let word = |i: usize| Expr::equals(offset + 4 * i, u32::MAX, address.mask[i], address.words[i]);
            // Words without a mask say nothing, if there are others.
            let used = (0..address.len).filter(|&i| i == 0 || address.mask[i] != 0);
            joined(used.map(word).collect())
        };
        let (src, dst) = family.addresses();
        self.sides(at(src), at(dst))
    }

    fn ether(&self) -> Expr {
        let Data::Net(Address { words, mask, .. }) = self.data else { return Expr::Const(false) };
        // The link-layer part starts two bytes early: the destination is at 2, the source at 8.
        let part =
            |offset, field: u32, word: u32, mask: u32| Expr::equals(MAC + offset, field, mask & field, word);
        let low = |bits: u32| bits >> 16;
        let dst = vec![
            part(0, 0xffff, low(words[0]), low(mask[0])),
            part(4, u32::MAX, words[0] << 16 | low(words[1]), mask[0] << 16 | low(mask[1])),
        ];
        let src = vec![part(8, u32::MAX, words[0], mask[0]), part(12, 0xffff_0000, words[1], mask[1])];
        self.sides(joined(src), joined(dst))
    }

    /// The comparison of a number, as tests of leading bits: `x > 5` is "one of the bits above is set, or ...".
    fn compare(&self, offset: usize, field: u32, shift: u32) -> Expr {
        let (mut mask, mut value) = (self.mask, self.value & self.mask);
        if self.op == Op::Equal {
            return Expr::equals(offset, field, mask << shift, value << shift);
        }
        let mut tests: Vec<(bool, Expr)> = Vec::new();
        while value < mask {
            // If the number has the top bit, a larger one has all bits that it has at the top, and more of the others;
            // if not, a larger one has one of the bits that it lacks at the top, or more of the others.
            let high = value > mask >> 1;
            let differing = if high { !(value + 1) & mask } else { value };
            let upper = mask & u32::MAX.checked_shl(32 - differing.leading_zeros()).unwrap_or(0);
            let expected = if high { upper } else { 0 };
            let test = Expr::equals(offset, field, upper << shift, expected << shift);
            tests.push((high, if high { test } else { test.differs() }));
            mask &= !upper;
            value &= mask;
        }
        let join = |rest: Option<Expr>, (high, test): (bool, Expr)| {
            Some(match rest {
                None => test,
                Some(rest) if high => Expr::All(vec![test, rest]),
                Some(rest) => Expr::Any(vec![test, rest]),
            })
        };
        tests.into_iter().rev().fold(None, join).unwrap_or(Expr::Const(false))
    }
}

/// Numbers beyond the 8 bits of a protocol, which stand for several.
fn is_special(proto: u16) -> bool {
    proto == PROTO_TCP_OR_UDP || proto == PROTO_TRANSPORT
}

/// Protocols whose headers start with two ports.
const PORTED: [u8; 4] = [ip_proto::TCP, ip_proto::UDP, ip_proto::DCCP, ip_proto::SCTP];

fn joined(mut parts: Vec<Expr>) -> Expr {
    if parts.len() == 1 { parts.remove(0) } else { Expr::All(parts) }
}

fn ether_words(bytes: [u8; 6], mask: [u8; 6]) -> Address {
    let words = |b: [u8; 6]| {
        [u32::from_be_bytes([b[0], b[1], b[2], b[3]]), u32::from_be_bytes([b[4], b[5], 0, 0]), 0, 0]
    };
    Address { words: words(bytes), mask: words(mask), len: 2 }
}

/// Whether the protocol is this one.
fn protocol_is(family: Family, proto: u16) -> Option<Expr> {
    let (offset, shift) = family.protocol();
    let is = |proto: u8| Expr::equals(offset, 0xff << shift, 0xff << shift, u32::from(proto) << shift);
    match u8::try_from(proto) {
        Ok(proto) => Some(is(proto)),
        Err(_) if proto == PROTO_TCP_OR_UDP => Some(Expr::Any(vec![is(ip_proto::TCP), is(ip_proto::UDP)])),
        Err(_) => None,
    }
}

/// Whether the packet is a fragment.
fn fragment(family: Family) -> Expr {
    match family {
        Family::V4 => Expr::equals(NETWORK + 4, 0xffff, 0x3fff, 0).differs(),
        Family::V6 => Expr::equals(DIGEST, 0xff << 16, 1 << 16, 1 << 16),
    }
}

/// Whether the packet has the transport header: it is no fragment but a first one.
fn first_fragment(family: Family) -> Expr {
    match family {
        Family::V4 => Expr::equals(NETWORK + 4, 0xffff, 0x1fff, 0),
        Family::V6 => Expr::equals(DIGEST, 0xff << 16, 2 << 16, 0),
    }
}
