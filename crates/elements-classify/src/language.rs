//! The pattern language of the IP classifiers.
//!
//! ```text
//! expr   ::= or | or ? expr : expr
//! or     ::= term | or || term            "or" is "||"
//! term   ::= factor | term && factor      "and" is "&&", and may be left out
//! factor ::= ! factor | ( expr ) | test   "not" is "!"
//! test   ::= true | false | qualifiers [& mask] [relation] data
//! ```
//!
//! What a test leaves out is taken from the test before it.

use super::expr::Expr;
use super::names::{Family, Field, Kind, Meaning};
use super::primitive::{Address, Data, Header, Mask, Messages, Op, Primitive, Side};
use router::{FromArg, IpMask, Scope, parse_integer};
use std::net::{Ipv4Addr, Ipv6Addr};
use wire::ethernet::MacAddr;
use wire::net::{Ipv6Net, mask_v6, parse_ipv6_and_len};

/// Parentheses and ternary operators within each other, at most.
const DEPTH: usize = 256;

/// Splits a pattern into words: names, numbers, addresses, operators.
pub(super) fn words(text: &str) -> Vec<&str> {
    let in_word = |c: char| c.is_ascii_alphanumeric() || "-./@_:".contains(c);
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let second = rest[first.len_utf8()..].chars().next();
        let len = match (first, second) {
            ('&' | '|', second) if second == Some(first) => 2,
            ('<' | '>' | '!' | '=', Some('=')) => 2,
            _ => rest.find(|c| !in_word(c)).filter(|&len| len > 0).unwrap_or(match in_word(first) {
                true => rest.len(),
                false => first.len_utf8(),
            }),
        };
        let (word, behind) = rest.split_at(len);
        words.push(word);
        rest = behind.trim_start();
    }
    words
}

/// Reads the patterns of one element.
#[derive(Clone, Copy)]
pub(super) struct Language<'s> {
    pub(super) family: Family,
    /// What names mean.
    pub(super) scope: Scope<'s>,
}

impl Language<'_> {
    /// Reads a pattern from its words.
    pub(super) fn read(self, words: &[&str], messages: &mut Messages) -> Expr {
        let everything = match words {
            [] => true,
            [word] => ["-", "any", "all"].contains(word),
            _ => false,
        };
        if everything {
            return Expr::Const(true);
        }
        let mut parser =
            Parser { language: self, words, at: 0, depth: 0, before: Primitive::default(), messages };
        let expr = parser.expr();
        if let Some(word) = words.get(parser.at) {
            parser.messages.error(format!("garbage after expression at '{word}'"));
        }
        expr
    }

    fn address(self, text: &str) -> Option<Address> {
        let mut address = Address { mask: [u32::MAX; 4], ..Address::default() };
        match self.family {
            Family::V4 => {
                address.words[0] = Ipv4Addr::from_arg(text, self.scope).ok()?.to_bits();
                address.len = 1;
            }
            Family::V6 => {
                address.words = words_of(Ipv6Addr::from_arg(text, self.scope).ok()?);
                address.len = 4;
            }
        }
        Some(address)
    }

    fn prefix(self, text: &str) -> Option<Address> {
        match self.family {
            Family::V4 => {
                let IpMask { addr, mask } = IpMask::from_arg(text, self.scope).ok()?;
                Some(Address { words: [addr.to_bits(), 0, 0, 0], mask: [mask.to_bits(), 0, 0, 0], len: 1 })
            }
            Family::V6 => {
                let written = parse_ipv6_and_len(text).ok();
                let named = || Ipv6Net::from_arg(text, self.scope).ok().map(|net| (net.addr(), net.len()));
                let (addr, len) = written.or_else(named)?;
                Some(Address { words: words_of(addr), mask: words_of(mask_v6(len)), len: 4 })
            }
        }
    }

    fn ether(self, text: &str) -> Option<[u8; 6]> {
        MacAddr::from_arg(text, self.scope).ok().map(|address| address.0)
    }
}

fn words_of(address: Ipv6Addr) -> [u32; 4] {
    let bits = address.to_bits();
    [96, 64, 32, 0].map(|shift| (bits >> shift) as u32)
}

/// A 32-bit number, signed or not.
fn number(text: &str) -> Option<u32> {
    let number = parse_integer(text)?;
    u32::try_from(number).ok().or_else(|| i32::try_from(number).ok().map(|number| number as u32))
}

fn is_or(word: &str) -> bool {
    word == "or" || word == "||"
}

fn is_and(word: &str) -> bool {
    word == "and" || word == "&&"
}

fn is_not(word: &str) -> bool {
    word == "not" || word == "!"
}

struct Parser<'p, 's> {
    language: Language<'s>,
    words: &'p [&'p str],
    at: usize,
    depth: usize,
    /// The last primitive.
    before: Primitive,
    messages: &'p mut Messages,
}

impl<'p> Parser<'p, '_> {
    fn word(&self) -> Option<&'p str> {
        self.words.get(self.at).copied()
    }

    /// The word, unless it is the last one, which cannot be an operator.
    fn operator(&self) -> &'p str {
        if self.at + 1 < self.words.len() { self.words[self.at] } else { "" }
    }

    fn takes(&mut self, is: impl Fn(&str) -> bool) -> bool {
        let takes = self.word().is_some_and(is);
        self.at += usize::from(takes);
        takes
    }

    fn expr(&mut self) -> Expr {
        if self.depth == DEPTH {
            self.messages.error("expression too deeply nested");
            self.at = self.words.len();
            return Expr::Const(false);
        }
        self.depth += 1;
        let mut parts = vec![self.or()];
        while self.takes(|word| word == "?") {
            let start = self.at;
            let result = self.expr();
            if self.at == start || self.word() != Some(":") {
                self.messages.error("missing ':' in ternary expression");
                break;
            }
            self.at += 1;
            parts.push(result);
            let otherwise = self.or();
            parts.push(otherwise);
        }
        self.depth -= 1;
        if parts.len() == 1 { parts.remove(0) } else { Expr::Choose(parts) }
    }

    fn or(&mut self) -> Expr {
        let mut terms = vec![self.term()];
        while self.takes(is_or) {
            terms.push(self.term());
        }
        if terms.len() == 1 { terms.remove(0) } else { Expr::Any(terms) }
    }

    fn term(&mut self) -> Expr {
        let mut factors = Vec::new();
        let mut expected = true;
        loop {
            let start = self.at;
            let factor = self.factor();
            if self.at == start {
                if expected {
                    self.messages.error("missing expression");
                }
                break;
            }
            factors.extend(factor);
            expected = self.takes(is_and);
        }
        if factors.len() == 1 { factors.remove(0) } else { Expr::All(factors) }
    }

    fn factor(&mut self) -> Option<Expr> {
        let mut negated = false;
        let start = self.at;
        while self.takes(is_not) {
            negated = !negated;
        }
        let behind_not = self.at;
        let expr = if self.takes(|word| word == "(") {
            let inside = self.at;
            let expr = self.expr();
            if self.at == inside {
                self.messages.error("missing expression after '('");
            }
            if !self.takes(|word| word == ")") && self.at != inside {
                self.messages.error("missing ')'");
            }
            Some(if negated { expr.not() } else { expr })
        } else {
            self.test(negated)
        };
        if behind_not > start && self.at == behind_not {
            let word = self.words[behind_not - 1];
            self.messages.error(format!("missing expression after '{word}'"));
        }
        expr
    }

    fn test(&mut self, mut negated: bool) -> Option<Expr> {
        let first = self.word()?;
        if is_or(first) || [")", "?", ":"].contains(&first) {
            return None;
        }
        if first == "true" || first == "false" {
            self.at += 1;
            return Some(Expr::Const((first == "true") != negated));
        }
        let start = self.at;
        let mut primitive = Primitive::default();
        let mut header = None;
        self.qualifiers(&mut primitive, &mut header, &mut negated);
        if self.at != start {
            self.before = Primitive::default();
        }
        if self.before.kind == Some(Kind::Ether) {
            header = Some(Header::Ether);
        }
        if self.operator() == "[" && self.at > start && primitive.kind.is_none() {
            self.brackets(&mut primitive);
        }
        let mask = self.mask(header);
        self.relation(&mut primitive);
        let valid = self.data(&mut primitive, header);
        if self.at == start {
            let word = self.word().unwrap_or_default();
            self.messages.error(format!("empty term near '{word}'"));
            return None;
        }
        if !valid {
            return None;
        }
        match primitive.check(&self.before, header, mask, self.messages) {
            Ok(()) => {
                let expr = primitive.expr(self.language.family);
                self.before = primitive;
                Some(if negated { expr.not() } else { expr })
            }
            Err(error) => {
                self.messages.error(error);
                None
            }
        }
    }

    /// Collects what stands before the data.
    fn qualifiers(&mut self, primitive: &mut Primitive, header: &mut Option<Header>, negated: &mut bool) {
        while let Some(word) = self.word() {
            match self.language.family.lookup(word, None, None, &mut |_| {}) {
                Meaning::Kind(kind) => {
                    primitive.set_kind(kind, self.messages);
                    if let Kind::Field(Field { proto: Some(proto), .. }) = kind {
                        primitive.set_proto(proto, self.messages);
                    }
                }
                Meaning::Value(Kind::Proto, proto) => primitive.set_proto(proto as u16, self.messages),
                Meaning::Unknown => match word {
                    "src" => {
                        let side = self.src_side();
                        primitive.set_side(side, self.messages);
                    }
                    "dst" | "dest" => primitive.set_side(Side::Dst, self.messages),
                    "ip" | "ip6" | "ether" if header.is_none() => {
                        *header = Some(if word == "ether" { Header::Ether } else { Header::Ip });
                    }
                    "not" | "!" => *negated = !*negated,
                    _ => return,
                },
                Meaning::Value(..) | Meaning::Wrong => return,
            }
            self.at += 1;
        }
    }

    /// The side that "src" starts: `src and dst` and `src or dst` are one qualifier.
    fn src_side(&mut self) -> Side {
        let side = match self.words.get(self.at + 1..self.at + 3) {
            Some([and, "dst" | "dest"]) if is_and(and) => Side::Both,
            Some([or, "dst" | "dest"]) if is_or(or) => Side::Either,
            _ => return Side::Src,
        };
        self.at += 2;
        side
    }

    /// `[POS]`, `[POS:LEN]` or `[FIRST,LAST]`.
    fn brackets(&mut self, primitive: &mut Primitive) {
        let inside = self.at + 1;
        let Some(len) = self.words[inside..].iter().position(|word| *word == "]") else {
            self.at = inside;
            return self.messages.error("missing ']'");
        };
        self.at = inside + len + 1;
        let text = self.words[inside..inside + len].concat();
        let integer = |text: &str| parse_integer(text).and_then(|number| i64::try_from(number).ok());
        let read = || {
            if let Some((pos, len)) = text.split_once(':') {
                Some((integer(pos)?, integer(len)?))
            } else if let Some((first, last)) = text.split_once(',') {
                let first = integer(first)?;
                Some((first, integer(last)?.saturating_sub(first).saturating_add(1)))
            } else {
                Some((integer(&text)?, 1))
            }
        };
        match read() {
            None => self.messages.error("syntax error after '[', expected '[POS]' or '[POS:LEN]'"),
            Some((_, len)) if !(1..=4).contains(&len) => {
                self.messages.error("LEN in '[POS:LEN]' out of range, should be between 1 and 4");
            }
            Some((pos, len)) if !(0..=0x1fff).contains(&pos) || pos / 4 != (pos + len - 1) / 4 => {
                self.messages.error(format!("field [{pos}:{len}] does not fit in a single word"));
            }
            Some((pos, len)) => {
                let field = Field { proto: primitive.proto, offset: pos as u32 * 8, bits: len as u32 * 8 };
                primitive.set_kind(Kind::Field(field), self.messages);
            }
        }
    }

    fn mask(&mut self, header: Option<Header>) -> Option<Mask> {
        if self.operator() != "&" {
            return None;
        }
        let text = self.words[self.at + 1];
        let not = |other| header != Some(other);
        let mask = if let Some(number) = number(text) {
            Mask::Int(number)
        } else if let Some(address) = self.language.address(text).filter(|_| not(Header::Ether)) {
            Mask::Host(address)
        } else if let Some(address) = self.language.ether(text).filter(|_| not(Header::Ip)) {
            Mask::Ether(address)
        } else {
            return None;
        };
        self.at += 2;
        let zero = match mask {
            Mask::Int(number) => number == 0,
            Mask::Host(address) => address.words == [0; 4],
            Mask::Ether(_) => false,
        };
        if zero {
            self.messages.error("zero mask ignored");
            return None;
        }
        Some(mask)
    }

    fn relation(&mut self, primitive: &mut Primitive) {
        (primitive.op, primitive.negated) = match self.operator() {
            "=" | "==" => (Op::Equal, false),
            "!=" => (Op::Equal, true),
            ">" => (Op::Greater, false),
            "<" => (Op::Less, false),
            ">=" => (Op::Less, true),
            "<=" => (Op::Greater, true),
            _ => return,
        };
        self.at += 1;
    }

    /// Takes the data, if there is some. False if it is a name that makes no sense here; the user has been told.
    fn data(&mut self, primitive: &mut Primitive, header: Option<Header>) -> bool {
        let Some(word) = self.word() else { return true };
        let Language { family, .. } = self.language;
        let messages = &mut *self.messages;
        // A word alone behind a state may be another one: `state new or related`.
        let repeated = self.before.kind.filter(|&kind| kind == Kind::State && primitive.kind.is_none());
        let state = repeated.map(|kind| family.lookup(word, Some(kind), None, &mut |_| {}));
        let meaning = state.filter(|&meaning| meaning != Meaning::Unknown).unwrap_or_else(|| {
            family.lookup(word, primitive.kind, primitive.proto, &mut |message| messages.error(message))
        });
        self.at += 1;
        if meaning == Meaning::Wrong {
            return false;
        }
        let scope = self.language.scope;
        let kind = primitive.kind;
        let named_port = |wanted| {
            let port = || scope.port(word).or_else(|| router::service_port(word));
            (kind == wanted).then(port).flatten().map(|port| Data::Named(Kind::Port, port.into()))
        };
        let found = meaning.data().or_else(|| number(word).map(Data::Int));
        let found = found.or_else(|| named_port(Some(Kind::Port)));
        let found = found.or_else(|| self.address(word, kind, header)).or_else(|| named_port(None));
        match found {
            Some(data) => primitive.data = data,
            None => {
                if primitive.op != Op::Equal || primitive.negated {
                    self.messages.error(format!("dangling operator near '{word}'"));
                }
                self.at -= 1;
            }
        }
        true
    }

    /// An address in the word before: alone, with a mask behind it, or an Ethernet address.
    fn address(&mut self, word: &str, kind: Option<Kind>, header: Option<Header>) -> Option<Data> {
        let language = self.language;
        if header != Some(Header::Ether) {
            if let Some(mut address) = language.address(word) {
                let mask = match self.words.get(self.at..self.at + 2) {
                    Some(["mask", mask]) => language.address(mask),
                    _ => None,
                };
                if let Some(mask) = mask {
                    self.at += 2;
                    address.mask = mask.words;
                    return Some(Data::Net(address));
                }
                let prefix = language.prefix(word).filter(|_| kind == Some(Kind::Net));
                return Some(prefix.map_or(Data::Host(address), Data::Net));
            }
            if let Some(prefix) = language.prefix(word) {
                return Some(Data::Net(prefix));
            }
        }
        language.ether(word).filter(|_| header != Some(Header::Ip)).map(Data::Ether)
    }
}
