//! What a pattern of the IP classifiers says about a packet: comparisons of words, joined by "and", "or" and "?:".

use super::program::{Jump, Program, Test, part_of};
use elements_shared::connection_state::ConnectionState;

/// Bytes that comparisons look at, by part of the packet; see [`PART`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parts<'p>([&'p [u8]; 6]);

impl<'p> Parts<'p> {
    /// The parts: up to 14 bytes of the link-layer header, two bytes behind the start so that its words are Click's; all
    /// from the network header on; all from the transport header on; what was found out about the packet beforehand. The
    /// state of its connection is unknown.
    #[inline]
    pub(super) fn new(mac: &'p [u8], network: &'p [u8], transport: &'p [u8], digest: &'p [u8]) -> Parts<'p> {
        Parts([&[], mac, network, transport, digest, &[]])
    }

    /// The same for a packet whose connection is in a state: a byte and three of padding.
    #[cfg(test)]
    pub(super) fn with_state(mut self, state: &'p [u8; 4]) -> Parts<'p> {
        self.0[5] = state;
        self
    }

    /// The part with a number.
    #[inline]
    pub(super) fn get(&self, part: usize) -> &'p [u8] {
        self.0[part.min(5)]
    }
}

/// Offsets of different parts are this far apart; the part is the offset's high bits.
pub(super) const PART: usize = 1 << 20;
/// Offset of the link-layer header, minus two.
pub(super) const MAC: usize = PART;
/// Offset of the network header.
pub(super) const NETWORK: usize = 2 * PART;
/// Offset of the transport header.
pub(super) const TRANSPORT: usize = 3 * PART;
/// Offset of the digest.
pub(super) const DIGEST: usize = 4 * PART;
/// Offset of the state of the packet's connection. No packet is searched by it: see [`Expr::in_state`].
pub(super) const STATE: usize = 5 * PART;

/// One comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Literal {
    /// Where the word is.
    pub(super) offset: usize,
    /// The bits that count; never none.
    pub(super) mask: u32,
    /// What they are compared with.
    pub(super) value: u32,
    /// The field that the comparison is about: whole bytes of the word, with all bits of the mask.
    pub(super) field: u32,
    /// Whether they have to be equal, or different.
    pub(super) equal: bool,
    /// Whether the comparison holds for packets that end before the last of the bits.
    pub(super) short: bool,
}

impl Literal {
    fn test(&self, holds: Jump, fails: Jump) -> Test {
        let (yes, no) = if self.equal { (holds, fails) } else { (fails, holds) };
        let short_yes = self.short == self.equal;
        Test { offset: self.offset, mask: self.mask, value: self.value, yes, no, short_yes }
    }

    fn holds(&self, parts: &Parts<'_>) -> bool {
        let (part, from) = part_of(self.offset);
        let required = 4 - self.mask.trailing_zeros() as usize / 8;
        let bytes = parts.get(part).get(from..).unwrap_or_default();
        if bytes.len() < required {
            return self.short;
        }
        let word = match bytes.first_chunk() {
            Some(bytes) => u32::from_be_bytes(*bytes),
            None => {
                let mut word = [0; 4];
                word[..bytes.len()].copy_from_slice(bytes);
                u32::from_be_bytes(word)
            }
        };
        (word & self.mask == self.value) == self.equal
    }
}

/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expr {
    /// Always, or never.
    Const(bool),
    /// One comparison.
    Literal(Literal),
    /// All of these.
    All(Vec<Expr>),
    /// Any of these.
    Any(Vec<Expr>),
    /// Condition, result, condition, result, ..., result otherwise; without the last, nothing else matches.
    Choose(Vec<Expr>),
}

impl Expr {
    /// A comparison of some bits of a field.
    pub(super) fn equals(offset: usize, field: u32, mask: u32, value: u32) -> Expr {
        match mask {
            0 => Expr::Const(true),
            _ => {
                Expr::Literal(Literal { offset, mask, value: value & mask, field, equal: true, short: false })
            }
        }
    }

    /// The opposite, also for packets that are too short.
    pub(super) fn not(mut self) -> Expr {
        self.negate(true);
        self
    }

    /// The opposite for packets that have what is compared; packets that are too short do not match either.
    pub(super) fn differs(mut self) -> Expr {
        self.negate(false);
        self
    }

    fn negate(&mut self, short: bool) {
        match self {
            Expr::Const(value) => *value = !*value,
            Expr::Literal(literal) => {
                literal.equal = !literal.equal;
                literal.short ^= short;
            }
            Expr::All(parts) | Expr::Any(parts) => {
                parts.iter_mut().for_each(|part| part.negate(short));
                let parts = std::mem::take(parts);
                *self = if matches!(self, Expr::All(_)) { Expr::Any(parts) } else { Expr::All(parts) };
            }
            Expr::Choose(parts) => {
                if parts.len().is_multiple_of(2) {
                    parts.push(Expr::Const(false)); // what was left unsaid
                }
                let last = parts.len() - 1;
                let results = parts.iter_mut().enumerate().filter(|(i, _)| i % 2 == 1 || *i == last);
                results.for_each(|(_, part)| part.negate(short));
            }
        }
    }

    /// Whether a packet matches.
    pub(super) fn matches(&self, parts: &Parts<'_>) -> bool {
        match self {
            Expr::Const(value) => *value,
            Expr::Literal(literal) => literal.holds(parts),
            Expr::All(all) => all.iter().all(|part| part.matches(parts)),
            Expr::Any(any) => any.iter().any(|part| part.matches(parts)),
            Expr::Choose(choices) => {
                let (pairs, otherwise) = choices.as_chunks::<2>();
                match pairs.iter().find(|[condition, _]| condition.matches(parts)) {
                    Some([_, result]) => result.matches(parts),
                    None => otherwise.first().is_some_and(|part| part.matches(parts)),
                }
            }
        }
    }

    /// Whether it compares words in this range of offsets.
    pub(super) fn looks_at(&self, offsets: std::ops::Range<usize>) -> bool {
        match self {
            Expr::Const(_) => false,
            Expr::Literal(literal) => offsets.contains(&literal.offset),
            Expr::All(parts) | Expr::Any(parts) | Expr::Choose(parts) => {
                parts.iter().any(|part| part.looks_at(offsets.clone()))
            }
        }
    }

    /// What it says about packets whose connection is in a state: what it says about states is decided.
    pub(super) fn in_state(&self, state: ConnectionState) -> Expr {
        let decided = |parts: &[Expr]| parts.iter().map(|part| part.in_state(state)).collect();
        match self {
            Expr::Literal(literal) if literal.offset == STATE => {
                let is = literal.value == (state as u32) << 24;
                Expr::Const(is == literal.equal)
            }
            Expr::Const(_) | Expr::Literal(_) => self.clone(),
            Expr::All(parts) => Expr::All(decided(parts)),
            Expr::Any(parts) => Expr::Any(decided(parts)),
            Expr::Choose(parts) => Expr::Choose(decided(parts)),
        }
    }

    /// Tests that a program needs for it.
    pub(super) fn tests(&self) -> usize {
        match self {
            Expr::Const(_) | Expr::Literal(_) => 1,
            Expr::All(parts) | Expr::Any(parts) | Expr::Choose(parts) => {
                parts.iter().map(Expr::tests).sum::<usize>().max(1)
            }
        }
    }

    /// Appends it to a program: packets that match go to `holds`, others to `fails`.
    fn append(&self, program: &mut Program, holds: Jump, fails: Jump) {
        let start = program.tests.len();
        let constant = |value: bool| {
            let yes = if value { holds } else { fails };
            Test { offset: NETWORK, mask: 0, value: 0, yes, no: fails, short_yes: false }
        };
        match self {
            Expr::Const(value) => program.tests.push(constant(*value)),
            Expr::Literal(literal) => program.tests.push(literal.test(holds, fails)),
            Expr::All(parts) if parts.is_empty() => program.tests.push(constant(true)),
            Expr::Any(parts) | Expr::Choose(parts) if parts.is_empty() => program.tests.push(constant(false)),
            Expr::All(parts) | Expr::Any(parts) => {
                let all = matches!(self, Expr::All(_));
                let mut end = start;
                for (i, part) in parts.iter().enumerate() {
                    end += part.tests();
                    let next = Jump::Step(end);
                    match i + 1 == parts.len() {
                        true => part.append(program, holds, fails),
                        false if all => part.append(program, next, fails),
                        false => part.append(program, holds, next),
                    }
                }
            }
            Expr::Choose(parts) => {
                let mut end = start;
                for (i, part) in parts.iter().enumerate() {
                    end += part.tests();
                    let condition = i % 2 == 0 && i + 1 < parts.len();
                    let (yes, no) = match condition {
                        true => (Jump::Step(end), Jump::Step(end + parts[i + 1].tests())),
                        false => (holds, fails),
                    };
                    // A condition without a result otherwise: what follows the last result fails.
                    let last = i + 2 == parts.len();
                    part.append(program, yes, if condition && last { fails } else { no });
                }
            }
        }
    }
}

/// A pattern and what becomes of packets that match it.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// The pattern.
    pub(super) expr: Expr,
    /// The output; none to drop them.
    pub(super) output: Option<usize>,
}

impl Program {
    /// The program that tries the rules one after the other.
    pub(super) fn of_rules(rules: &[Rule]) -> Program {
        let mut program = Program { tests: Vec::new(), otherwise: Jump::Drop };
        let mut end = 0;
        for (i, rule) in rules.iter().enumerate() {
            end += rule.expr.tests();
            let fails = if i + 1 < rules.len() { Jump::Step(end) } else { Jump::Drop };
            rule.expr.append(&mut program, rule.output.map_or(Jump::Drop, Jump::Output), fails);
        }
        program
    }
}
