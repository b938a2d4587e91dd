//! What primitives of the IP classifiers' language say about packets, as expressions.

use super::expr::{DIGEST, Expr, MAC, NETWORK, STATE, TRANSPORT};
use super::names::{Family, Field, Kind};
use super::primitive::{Address, Data, Op, Primitive, Side, is_special};
use wire::describe::PROTO_TCP_OR_UDP;
use wire::ip_proto;

impl Primitive {
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
            Some(Kind::State) => {
                all.push(self.negate(Expr::equals(STATE, 0xff << 24, 0xff << 24, self.value << 24)));
            }
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

fn joined(mut parts: Vec<Expr>) -> Expr {
    if parts.len() == 1 { parts.remove(0) } else { Expr::All(parts) }
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
