//! Finding the first of thousands of rules that matches, in nearly constant time.
//!
//! # The idea
//! A rule is a list of alternatives ([`super::terms`]), *entries* here: sets of values for some fields (source address,
//! destination port, protocol, ...). Entries keep the order of their rules. For each field that many entries look at, the
//! ends of all their intervals divide the numbers into classes, and every class has a *row*: one bit for each entry, set if
//! the entry accepts the numbers of the class. A packet's class is found by one look-up for each field ([`Lookup`]). The
//! entries that accept the packet in all fields are the intersection of its rows, and the first bit of that is the answer.
//!
//! # What makes it fast
//! Fields that have few different rows are joined: their classes together give one row. An entry that does not look at a
//! field accepts everything there. It is kept out of the rows and in one row for the field, so that a row of the source
//! addresses has only the few rules for this very source. Of a row, only the 64-bit words that are not zero are stored, and a
//! *summary* of 64 bits says which these are: first the summaries are intersected, then, usually, a single word. A *block*
//! therefore has 64 words, 4096 entries; more rules make more blocks, which are searched one after the other. Building takes
//! a pass over the classes of each field, of which there are at most twice as many as entries.
//!
//! # What makes it right
//! Entries of a rule together accept every packet that the rule matches. An entry that may accept more, because its pattern
//! does not divide into sets, or looks at a field that the block does not, is marked: the rule's expression is evaluated
//! before the entry counts. A field has a class of its own for packets that do not have it. Packets that have only some of
//! its bytes are in another one, where no entry counts before its rule's expression is evaluated.

use super::classes::Classes;
use super::cuts::{Cuts, Entry, FIELDS};
use super::expr::{Parts, Rule};
use super::terms::{Field, Set, Term, terms};
use std::collections::{BTreeMap, BTreeSet};

/// Words of a block.
const WORDS: usize = 64;
/// Entries of a block.
const ENTRIES: usize = WORDS * 64;
/// Rows that fields may have together and still be joined.
const JOINED: usize = 256;

/// A bit for each entry.
pub(super) type Bits = [u64; WORDS];

/// Changes the bit of an entry.
pub(super) fn flip(bits: &mut Bits, entry: usize) {
    bits[entry / 64] ^= 1 << (entry % 64);
}

/// Rules, to be searched.
#[derive(Clone, Debug)]
pub(super) struct Vectors {
    rules: Vec<Rule>,
    /// The quicker search, which does not find everything.
    cuts: Cuts,
    blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
struct Block {
    /// The fields of all columns, and whether a field is its column's last.
    keys: Vec<(Classes, bool)>,
    columns: Vec<Column>,
    entries: Vec<Entry>,
    /// The words that have entries.
    used: u64,
}

/// One field of a block, or several joined.
#[derive(Clone, Debug)]
struct Column {
    rows: Vec<Row>,
    /// Words of rows that have several, one row after the other.
    words: Vec<u64>,
    /// Entries that every row has.
    indifferent: Box<Bits>,
    indifferent_summary: u64,
}

/// The other entries that accept a class.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Which words are not zero.
    summary: u64,
    /// The first of them.
    first: u64,
    /// Where all of them are.
    start: u32,
    /// Whether words that are zero are there, too, between the first and the last that are not.
    dense: bool,
}

impl Vectors {
    /// Prepares a search through these rules.
    pub(super) fn new(rules: Vec<Rule>) -> Vectors {
        let of_rule = |(i, rule): (usize, &Rule)| terms(&rule.expr).into_iter().map(move |term| (i, term));
        let terms: Vec<(usize, Term)> = rules.iter().enumerate().flat_map(of_rule).collect();
        let fields = fields(&terms);
        let cuts = Cuts::new(&terms, &entries(&terms, &rules, &fields), &fields);
        let blocks = terms.chunks(ENTRIES).map(|terms| Block::new(terms, &rules)).collect();
        Vectors { rules, cuts, blocks }
    }

    /// The output of the first rule that matches; none if it says to drop, or no rule matches.
    #[inline]
    pub(super) fn run(&self, parts: &Parts<'_>) -> Option<usize> {
        let output = match self.cuts.find(parts, &self.rules) {
            Some(output) => output,
            None => self.find(parts).map(|entry| entry.output),
        };
        output.and_then(number)
    }

    /// The same for a packet of IPv4 without options, which begins with its network header, and whose link-layer header no rule looks at;
    /// nothing if the quicker search cannot tell.
    #[inline(always)]
    pub(super) fn run_usual(&self, network: &[u8]) -> Option<Option<usize>> {
        Some(self.cuts.find_usual(network, &self.rules)?.and_then(number))
    }

    /// The first entry that accepts a packet, whatever the packet.
    fn find(&self, parts: &Parts<'_>) -> Option<Entry> {
        self.blocks.iter().find_map(|block| block.find(parts, &self.rules))
    }
}

/// An entry's output as a number; none if that is to drop.
#[inline]
fn number(output: u32) -> Option<usize> {
    (output != u32::MAX).then_some(output as usize)
}

/// The entries of these terms, for a search that looks at some fields.
fn entries(terms: &[(usize, Term)], rules: &[Rule], fields: &[Field]) -> Vec<Entry> {
    let entry = |&(rule, ref term): &(usize, Term)| Entry {
        rule: rule as u32,
        inexact: !term.exact || term.sets.iter().any(|(field, _)| !fields.contains(field)),
        output: rules[rule].output.map_or(u32::MAX, |output| output as u32),
    };
    terms.iter().map(entry).collect()
}

impl Block {
    fn new(terms: &[(usize, Term)], rules: &[Rule]) -> Block {
        let fields = fields(terms);
        let full = terms.len().div_ceil(64);
        let used = if full == WORDS { u64::MAX } else { (1 << full) - 1 };
        let (keys, columns) = columns(&fields, terms);
        Block { keys, columns, entries: entries(terms, rules, &fields), used }
    }

    #[inline]
    fn find(&self, parts: &Parts<'_>, rules: &[Rule]) -> Option<Entry> {
        let mut rows = [0; FIELDS];
        let mut partial = false;
        let mut numbers = rows.iter_mut();
        let mut at = 0;
        for (classes, last) in &self.keys {
            at += classes.of(parts, &mut partial);
            if *last && let Some(row) = numbers.next() {
                *row = at as u32;
                at = 0;
            }
        }
        let mut summary = self.used;
        for (column, &row) in self.columns.iter().zip(&rows) {
            summary &= column.rows[row as usize].summary | column.indifferent_summary;
        }
        while summary != 0 {
            let at = summary.trailing_zeros() as usize;
            summary &= summary - 1;
            let mut word = u64::MAX;
            for (column, &row) in self.columns.iter().zip(&rows) {
                word &= column.word(row as usize, at);
            }
            while word != 0 {
                // The last word may have fewer entries.
                let entry = *self.entries.get(at * 64 + word.trailing_zeros() as usize)?;
                if !(partial || entry.inexact) || rules[entry.rule as usize].expr.matches(parts) {
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

/// A column for each field, or for several that have few rows; and the fields in the order of their columns, each with
/// whether it is the last of its column. Fields with many rows come first.
fn columns(fields: &[Field], terms: &[(usize, Term)]) -> (Vec<(Classes, bool)>, Vec<Column>) {
    let mut found: Vec<_> = fields.iter().map(|&field| Classes::new(field, terms)).collect();
    found.sort_by_key(|(_, rows)| std::cmp::Reverse(rows.len()));
    let (mut keys, mut columns): (Vec<(Classes, bool)>, Vec<Column>) = (Vec::new(), Vec::new());
    let mut rows: Vec<Bits> = Vec::new();
    for (mut classes, more) in found {
        if !rows.is_empty() && rows.len() * more.len() > JOINED {
            columns.push(Column::new(&std::mem::take(&mut rows)));
        } else if let Some((_, last)) = keys.last_mut() {
            *last = false;
        }
        classes.spread(rows.len().max(1));
        keys.push((classes, true));
        rows = if rows.is_empty() { more } else { joined(&rows, &more) };
    }
    if !rows.is_empty() {
        columns.push(Column::new(&rows));
    }
    (keys, columns)
}

/// The intersections of two lists of rows; all of the first with each of the second, one after the other.
fn joined(rows: &[Bits], more: &[Bits]) -> Vec<Bits> {
    let both = |a: &Bits, b: &Bits| std::array::from_fn(|word| a[word] & b[word]);
    more.iter().flat_map(|b| rows.iter().map(move |a| both(a, b))).collect()
}

impl Column {
    fn new(rows: &[Bits]) -> Column {
        let indifferent: Bits =
            std::array::from_fn(|word| rows.iter().fold(u64::MAX, |all, row| all & row[word]));
        let mut column = Column {
            rows: Vec::with_capacity(rows.len()),
            words: Vec::new(),
            indifferent_summary: summary(&indifferent),
            indifferent: Box::new(indifferent),
        };
        for row in rows {
            let own: Bits = std::array::from_fn(|word| row[word] & !indifferent[word]);
            column.push(&own);
        }
        column
    }

    fn push(&mut self, bits: &Bits) {
        let summary = summary(bits);
        let start = self.words.len() as u32;
        let nonzero = |&at: &usize| summary >> at & 1 != 0;
        let (first, last) = ((0..WORDS).find(nonzero).unwrap_or(0), (0..WORDS).rfind(nonzero).unwrap_or(0));
        let dense = last - first < 2 * summary.count_ones() as usize;
        if first < last {
            let stored = bits[first..=last].iter().filter(|&&word| dense || word != 0);
            self.words.extend(stored);
        }
        self.rows.push(Row { summary, first: bits[first], start, dense });
    }

    /// One word of the entries that accept the class of a row.
    #[inline]
    fn word(&self, row: usize, at: usize) -> u64 {
        let (row, bit) = (&self.rows[row], 1 << at);
        let own = if row.summary & bit == 0 {
            0
        } else {
            match row.summary & (bit - 1) {
                0 => row.first,
                _ if row.dense => self.words[row.start as usize + at - row.summary.trailing_zeros() as usize],
                before => self.words[row.start as usize + before.count_ones() as usize],
            }
        };
        own | self.indifferent[at]
    }
}

fn summary(bits: &Bits) -> u64 {
    bits.iter().rev().fold(0, |summary, &word| summary << 1 | u64::from(word != 0))
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

    /// Parts of all lengths, from none to more than any rule looks at.
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
        Parts::new(mac, network, transport, digest)
    }

    fn first_match(rules: &[Rule], packet: &Packet) -> Option<usize> {
        rules.iter().find(|rule| rule.expr.matches(&parts(packet))).and_then(|rule| rule.output)
    }

    fn by_blocks(vectors: &Vectors, parts: &Parts<'_>) -> Option<usize> {
        let entry = vectors.find(parts)?;
        (entry.output != u32::MAX).then_some(entry.output as usize)
    }

    /// The search, the program and the simplified program send every packet where its first matching rule says.
    fn all_ways_agree(rules: &[Rule], packets: &[Packet]) -> Result<(), TestCaseError> {
        let vectors = Vectors::new(rules.to_vec());
        let mut program = Program::of_rules(rules);
        let plain = Compiled::new(&program);
        program.optimise();
        let compiled = Compiled::new(&program);
        for packet in packets {
            let parts = parts(packet);
            let expected = first_match(rules, packet);
            prop_assert_eq!(vectors.run(&parts), expected, "search");
            prop_assert_eq!(by_blocks(&vectors, &parts), expected, "search by bit vectors");
            let output =
                |compiled: &Compiled| Some(compiled.run_on(|part| parts.get(part))).filter(|&o| o < NOWHERE);
            prop_assert_eq!(output(&plain), expected, "program");
            prop_assert_eq!(output(&compiled), expected, "simplified\n{}", program);
        }
        Ok(())
    }

    /// Comparisons of the first byte, the first two, or the first three of one word.
    fn crowded() -> impl Strategy<Value = Rule> {
        let mask = prop::sample::select(vec![0xff00_0000u32, 0x0100_0000, 0xffff_0000, 0xffff_ff00]);
        let value = prop::sample::select(vec![0u32, 0x0101_0100, 0x0102_0100]);
        let literal = (mask, value, any::<bool>(), any::<bool>()).prop_map(|(mask, value, equal, short)| {
            let (offset, field, value) = (TRANSPORT, u32::MAX, value & mask);
            Expr::Literal(Literal { offset, mask, value, field, equal, short })
        });
        let all = prop::collection::vec(literal, 1..4).prop_map(Expr::All);
        (all, 0usize..9).prop_map(|(expr, output)| Rule { expr, output: Some(output) })
    }

    fn cut_off() -> impl Strategy<Value = Packet> {
        prop::collection::vec(0u8..3, 0..4).prop_map(|word| [vec![], vec![], word, vec![]])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]
        #[test]
        fn all_ways_lead_to_the_first_match(
            rules in rules(1..12),
            packets in prop::collection::vec(packet(), 20),
        ) {
            all_ways_agree(&rules, &packets)?;
        }

        /// Also where packets end within the word that is compared.
        #[test]
        fn packets_that_end_within_a_word(
            rules in prop::collection::vec(crowded(), 1..5),
            packets in prop::collection::vec(cut_off(), 20),
        ) {
            all_ways_agree(&rules, &packets)?;
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]
        /// The same with rules for several words of a block.
        #[test]
        fn many_rules(rules in rules(100..400), packets in prop::collection::vec(packet(), 50)) {
            let vectors = Vectors::new(rules.clone());
            for packet in &packets {
                let expected = first_match(&rules, packet);
                prop_assert_eq!(vectors.run(&parts(packet)), expected);
                prop_assert_eq!(by_blocks(&vectors, &parts(packet)), expected);
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
            let parts = Parts::new(&[], &network, &transport, &[]);
            assert_eq!(vectors.run(&parts), Some(i as usize));
            assert_eq!(by_blocks(&vectors, &parts), Some(i as usize));
            assert_eq!(vectors.run(&Parts::new(&[], &network, &[], &[])), None);
        }
    }
}
