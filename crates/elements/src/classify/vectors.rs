//! Finding the first of thousands of rules that matches, in nearly constant time.
//!
//! # The idea
//! A rule is a list of alternatives ([`super::terms`]), *entries* here: sets of values for some fields (source address,
//! destination port, protocol, ...). Entries keep the order of their rules. For each field that many entries look at, the
//! ends of all their intervals divide the numbers into classes, and every class has a *row*: one bit for each entry, set if
//! the entry accepts the numbers of the class. A packet's class is found by one search for each field ([`SearchTree`]; a
//! table for fields of one byte). The entries that accept the packet in all fields are the intersection of its rows, and
//! the first bit of that is the answer.
//!
//! # What makes it fast
//! An entry that does not look at a field accepts everything there. It is kept out of the rows and in one row for the field,
//! so that a row of the source addresses has only the few rules for this very source. Of a row, only the 64-bit words that
//! are not zero are stored, and a *summary* of 64 bits says which these are: first the summaries are intersected, then,
//! usually, a single word. A *block* therefore has 64 words, 4096 entries; more rules make more blocks, which are searched
//! one after the other. Building takes a pass over the classes of each field, of which there are at most twice as many as
//! entries.
//!
//! # What makes it right
//! Entries of a rule together accept every packet that the rule matches. An entry that may accept more, because its pattern
//! does not divide into sets, or looks at a field that the block does not, is marked: the rule's expression is evaluated
//! before the entry counts. A field has a class of its own for packets that do not have it. Packets that have only some of
//! its bytes are in another one, where no entry counts before its rule's expression is evaluated.

use super::expr::{Parts, Rule};
use super::program::part_of;
use super::search::SearchTree;
use super::terms::{Field, Set, Term, terms};
use std::collections::{BTreeMap, BTreeSet};

/// Words of a block.
const WORDS: usize = 64;
/// Entries of a block.
const ENTRIES: usize = WORDS * 64;
/// Fields that a block looks at, at most: those that tell the entries apart best.
const FIELDS: usize = 8;

type Bits = [u64; WORDS];

/// Rules, to be searched.
#[derive(Clone, Debug)]
pub(super) struct Vectors {
    rules: Vec<Rule>,
    blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
struct Block {
    columns: Vec<Column>,
    entries: Vec<Entry>,
    /// The words that have entries.
    used: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    rule: u32,
    /// Whether the rule's expression has to be evaluated.
    inexact: bool,
    /// Output of the rule; the largest number to drop.
    output: u32,
}

/// One field of a block.
#[derive(Clone, Debug)]
struct Column {
    part: u32,
    offset: u32,
    shift: u32,
    max: u32,
    classes: Classes,
    rows: Vec<Row>,
    /// The rows' words, one row after the other.
    words: Vec<u64>,
    /// Entries that accept everything.
    indifferent: Box<Bits>,
    indifferent_summary: u64,
}

/// How numbers become classes; the number of the row.
#[derive(Clone, Debug)]
enum Classes {
    Table(Box<[u16; 256]>),
    Tree(SearchTree),
}

/// The entries that look at a field and accept a class.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// Which words are not zero.
    summary: u64,
    /// Where the first of them is.
    start: u32,
}

/// What a packet has of a field.
enum Value {
    All(u32),
    Some,
    None,
}

/// For packets that have only a part of the field: entries that may accept them.
const PARTIAL_ROW: usize = 0;
/// For packets that do not have the field.
const ABSENT_ROW: usize = 1;
/// The first class.
const CLASS_ROW: usize = 2;

impl Vectors {
    /// Prepares a search through these rules.
    pub(super) fn new(rules: Vec<Rule>) -> Vectors {
        let mut blocks = Vec::new();
        let mut block: Vec<(usize, Term)> = Vec::new();
        for (i, rule) in rules.iter().enumerate() {
            for term in terms(&rule.expr) {
                if block.len() == ENTRIES {
                    blocks.push(Block::new(&std::mem::take(&mut block), &rules));
                }
                block.push((i, term));
            }
        }
        if !block.is_empty() {
            blocks.push(Block::new(&block, &rules));
        }
        Vectors { rules, blocks }
    }

    /// The output of the first rule that matches; none if it says to drop, or no rule matches.
    #[inline]
    pub(super) fn run(&self, parts: &Parts<'_>) -> Option<usize> {
        let entry = self.blocks.iter().find_map(|block| block.find(parts, &self.rules))?;
        (entry.output != u32::MAX).then_some(entry.output as usize)
    }
}

impl Block {
    fn new(terms: &[(usize, Term)], rules: &[Rule]) -> Block {
        let fields = fields(terms);
        let columns = fields.iter().map(|&field| Column::new(field, terms)).collect();
        let entry = |&(rule, ref term): &(usize, Term)| Entry {
            rule: rule as u32,
            inexact: !term.exact || term.sets.iter().any(|(field, _)| !fields.contains(field)),
            output: rules[rule].output.map_or(u32::MAX, |output| output as u32),
        };
        let full = terms.len().div_ceil(64);
        let used = if full == WORDS { u64::MAX } else { (1 << full) - 1 };
        Block { columns, entries: terms.iter().map(entry).collect(), used }
    }

    #[inline]
    fn find(&self, parts: &Parts<'_>, rules: &[Rule]) -> Option<Entry> {
        let mut rows = [Row::default(); FIELDS];
        let mut summary = self.used;
        let mut certain = true;
        for (column, row) in self.columns.iter().zip(&mut rows) {
            let class = column.class(parts);
            *row = column.rows[class];
            summary &= row.summary | column.indifferent_summary;
            certain &= class != PARTIAL_ROW;
        }
        while summary != 0 {
            let at = summary.trailing_zeros() as usize;
            summary &= summary - 1;
            let all = |word: u64, (column, row): (&Column, &Row)| word & column.word(row, at);
            let mut word = self.columns.iter().zip(&rows).fold(u64::MAX, all);
            while word != 0 {
                // The last word may have fewer entries.
                let entry = *self.entries.get(at * 64 + word.trailing_zeros() as usize)?;
                if (certain && !entry.inexact) || rules[entry.rule as usize].expr.matches(parts) {
                    return Some(entry);
                }
                word &= word - 1;
            }
        }
        None
    }
}

/// The fields that tell entries apart best: those for which they want the most different things.
fn fields(terms: &[(usize, Term)]) -> Vec<Field> {
    let mut wanted: BTreeMap<Field, (BTreeSet<&Set>, usize)> = BTreeMap::new();
    for (field, set) in terms.iter().flat_map(|(_, term)| &term.sets) {
        let (sets, entries) = wanted.entry(*field).or_default();
        sets.insert(set);
        *entries += 1;
    }
    let mut fields: Vec<_> =
        wanted.iter().map(|(field, (sets, entries))| (sets.len(), *entries, *field)).collect();
    fields.sort_unstable_by(|a, b| b.cmp(a));
    fields.iter().take(FIELDS).map(|&(_, _, field)| field).collect()
}

impl Column {
    fn new(field: Field, terms: &[(usize, Term)]) -> Column {
        let (part, offset) = part_of(field.offset);
        let mut column = Column {
            part: part as u32,
            offset: offset as u32,
            shift: field.shift(),
            max: field.largest(),
            classes: Classes::Table(Box::new([0; 256])),
            rows: Vec::new(),
            words: Vec::new(),
            indifferent: Box::new([0; WORDS]),
            indifferent_summary: 0,
        };
        let (mut partial, mut absent) = ([0; WORDS], [0; WORDS]);
        // Where entries begin and cease to accept.
        let mut changes: Vec<(u32, usize)> = Vec::new();
        for (entry, (_, term)) in terms.iter().enumerate() {
            match term.sets.binary_search_by_key(&field, |&(field, _)| field) {
                Err(_) => flip(&mut column.indifferent, entry),
                Ok(at) => {
                    let set = &term.sets[at].1;
                    if set.partial {
                        flip(&mut partial, entry);
                    }
                    if set.absent {
                        flip(&mut absent, entry);
                    }
                    for &(from, to) in &set.intervals {
                        changes.push((from, entry));
                        changes.extend((to < column.max).then(|| (to + 1, entry)));
                    }
                }
            }
        }
        column.indifferent_summary = summary(&column.indifferent);
        column.push_row(&partial);
        column.push_row(&absent);
        changes.sort_unstable();
        let mut starts = Vec::new();
        let mut accepting = [0; WORDS];
        if changes.first().is_none_or(|&(start, _)| start > 0) {
            column.push_row(&accepting);
        }
        for changes in changes.chunk_by(|a, b| a.0 == b.0) {
            changes.iter().for_each(|&(_, entry)| flip(&mut accepting, entry));
            column.push_row(&accepting);
            starts.extend(Some(changes[0].0).filter(|&start| start > 0));
        }
        column.classes = Classes::new(&starts, column.max);
        column
    }

    fn push_row(&mut self, bits: &Bits) {
        self.rows.push(Row { summary: summary(bits), start: self.words.len() as u32 });
        self.words.extend(bits.iter().filter(|&&word| word != 0));
    }

    /// The row for a packet.
    #[inline]
    fn class(&self, parts: &Parts<'_>) -> usize {
        match self.value(parts) {
            Value::All(value) => CLASS_ROW + self.classes.of(value),
            Value::Some => PARTIAL_ROW,
            Value::None => ABSENT_ROW,
        }
    }

    #[inline]
    fn value(&self, parts: &Parts<'_>) -> Value {
        let part = parts.get(self.part as usize);
        let from = self.offset as usize;
        match part.get(from..from + 4).and_then(|bytes| bytes.first_chunk()) {
            Some(bytes) => Value::All(u32::from_be_bytes(*bytes) >> self.shift & self.max),
            None => self.partial(part.get(from..).unwrap_or_default()),
        }
    }

    /// The value where the packet ends before the word does.
    #[cold]
    fn partial(&self, bytes: &[u8]) -> Value {
        let last = 4 - self.shift as usize / 8;
        let first = last - (32 - self.max.leading_zeros() as usize) / 8;
        if bytes.len() <= first {
            return Value::None;
        }
        if bytes.len() < last {
            return Value::Some;
        }
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        Value::All(u32::from_be_bytes(word) >> self.shift & self.max)
    }

    /// One word of the entries that accept.
    #[inline]
    fn word(&self, row: &Row, at: usize) -> u64 {
        let bit = 1 << at;
        let own = if row.summary & bit == 0 {
            0
        } else {
            let before = (row.summary & (bit - 1)).count_ones();
            self.words[(row.start + before) as usize]
        };
        own | self.indifferent[at]
    }
}

fn flip(bits: &mut Bits, entry: usize) {
    bits[entry / 64] ^= 1 << (entry % 64);
}

fn summary(bits: &Bits) -> u64 {
    bits.iter().rev().fold(0, |summary, &word| summary << 1 | u64::from(word != 0))
}

impl Classes {
    fn new(starts: &[u32], max: u32) -> Classes {
        if max > 0xff {
            return Classes::Tree(SearchTree::new(starts));
        }
        let class = |value: u32| starts.partition_point(|&start| start <= value) as u16;
        Classes::Table(Box::new(std::array::from_fn(|value| class(value as u32))))
    }

    #[inline]
    fn of(&self, value: u32) -> usize {
        match self {
            Classes::Table(table) => usize::from(table[value as usize & 0xff]),
            Classes::Tree(tree) => tree.find(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::compiled::{Compiled, NOWHERE};
    use super::super::expr::{DIGEST, Expr, Literal, MAC, NETWORK, TRANSPORT};
    use super::super::program::Program;
    use super::*;
    use proptest::prelude::*;

    /// Comparisons of few words with few values, in fields of all lengths.
    fn literal() -> impl Strategy<Value = Expr> {
        let places = prop::sample::select(vec![
            (NETWORK + 4, 0xffff, 0x1fff),
            (NETWORK + 8, 0xff_0000, 0xff_0000),
            (NETWORK + 12, u32::MAX, u32::MAX),
            (NETWORK + 12, u32::MAX, 0xffff_ff00),
            (NETWORK + 12, u32::MAX, 0x0f0f_0f0f),
            (TRANSPORT, 0xffff_0000, 0xffff_0000),
            (TRANSPORT, 0xffff_0000, 0xff00_0000),
            (TRANSPORT, 0xffff, 0xffff),
            (TRANSPORT, 0xffff, 0x0001),
            (TRANSPORT + 4, 0xff00_0000, 0x4000_0000),
            (TRANSPORT + 4, 0x00ff_ff00, 0x00ff_8000),
            (MAC, 0xffff, 0xffff),
            (DIGEST, 0xff00_0000, 0xff00_0000),
        ]);
        let value = prop::sample::select(vec![0, 0x0101_0101u32, 0x0102_0102, 0x4101_0001, u32::MAX]);
        (places, value, any::<bool>(), any::<bool>()).prop_map(
            |((offset, field, mask), value, equal, short)| {
                Expr::Literal(Literal { offset, mask, value: value & mask, field, equal, short })
            },
        )
    }

    fn expr() -> impl Strategy<Value = Expr> {
        let leaf = prop_oneof![12 => literal(), 1 => any::<bool>().prop_map(Expr::Const)];
        leaf.prop_recursive(4, 24, 5, |inner| {
            let some = prop::collection::vec(inner, 0..5);
            prop_oneof![
                some.clone().prop_map(Expr::All),
                some.clone().prop_map(Expr::Any),
                some.clone().prop_map(Expr::Choose),
                some.clone().prop_map(|parts| Expr::All(parts).not()),
                some.prop_map(|parts| Expr::Choose(parts).differs()),
            ]
        })
    }

    fn rules(number: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Rule>> {
        let rule = (expr(), prop::option::of(0usize..9)).prop_map(|(expr, output)| Rule { expr, output });
        prop::collection::vec(rule, number)
    }

    /// Parts of all lengths, from none to more than anybody looks at.
    type Packet = [Vec<u8>; 4];

    fn packet() -> impl Strategy<Value = Packet> {
        let byte = prop::sample::select(vec![0u8, 1, 2, 0x41, 0xff]);
        let part = |most: usize| {
            prop_oneof![
                prop::collection::vec(byte.clone(), most),
                prop::collection::vec(byte.clone(), 0..most)
            ]
        };
        (part(16), part(20), part(9), part(4))
            .prop_map(|(mac, net, transport, digest)| [mac, net, transport, digest])
    }

    fn parts([mac, network, transport, digest]: &Packet) -> Parts<'_> {
        Parts { mac, network, transport, digest }
    }

    fn first_match(rules: &[Rule], packet: &Packet) -> Option<usize> {
        rules.iter().find(|rule| rule.expr.matches(&parts(packet))).and_then(|rule| rule.output)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]
        /// The search, the program and the simplified program send every packet where its first matching rule says.
        #[test]
        fn all_ways_lead_to_the_first_match(
            rules in rules(1..12),
            packets in prop::collection::vec(packet(), 20),
        ) {
            let vectors = Vectors::new(rules.clone());
            let mut program = Program::of_rules(&rules);
            let plain = Compiled::new(&program);
            program.optimise();
            let compiled = Compiled::new(&program);
            for packet in &packets {
                let parts = parts(packet);
                let expected = first_match(&rules, packet);
                prop_assert_eq!(vectors.run(&parts), expected, "search");
                let output = |compiled: &Compiled| Some(compiled.run_on(|part| parts.get(part))).filter(|&o| o < NOWHERE);
                prop_assert_eq!(output(&plain), expected, "program");
                prop_assert_eq!(output(&compiled), expected, "simplified\n{}", program);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]
        /// The same with rules for several words of a block.
        #[test]
        fn many_rules(rules in rules(100..400), packets in prop::collection::vec(packet(), 50)) {
            let vectors = Vectors::new(rules.clone());
            for packet in &packets {
                prop_assert_eq!(vectors.run(&parts(packet)), first_match(&rules, packet));
            }
        }
    }

    /// More rules than a block has: the first match may be in any of them.
    #[test]
    fn several_blocks() {
        let rule = |i: u32| {
            let field = |offset, value| Expr::equals(offset, u32::MAX, u32::MAX, value);
            let expr = Expr::All(vec![field(NETWORK + 12, i / 3), field(TRANSPORT, i % 7)]);
            Rule { expr, output: Some(i as usize) }
        };
        let vectors = Vectors::new((0..10_000).map(rule).collect());
        assert_eq!(vectors.blocks.len(), 3);
        let mut network = [0; 20];
        for i in [0, 1, 4095, 4096, 8191, 8192, 9_999u32] {
            network[12..16].copy_from_slice(&(i / 3).to_be_bytes());
            let transport = (i % 7).to_be_bytes();
            let parts = Parts { mac: &[], network: &network, transport: &transport, digest: &[] };
            assert_eq!(vectors.run(&parts), Some(i as usize));
            assert_eq!(vectors.run(&Parts { transport: &[], ..parts }), None);
        }
    }
}
