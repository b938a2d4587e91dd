//! Finding the first of many rules by looking at one field, then checking the few that are left.
//!
//! Entries (alternatives of rules, [`super::terms`]) divide the values of a field into intervals. For each interval of the
//! field that tells entries apart best there is a list of those that accept it, in order. If it is short, its entries are
//! checked one after the other: each is a handful of comparisons of numbers. If it is long, it is divided by another field in
//! the same way. Where neither helps, because too many entries are for nearly all packets, the search says so, and
//! [`super::vectors`] finds the answer. It also says so for packets that do not have all of the fields.
//!
//! # What makes it fast
//! What there is to check of an entry lies in its list, in a few numbers: its kind ([`super::kinds`]), which of few
//! things it wants of the protocol and such fields, and an interval for each of the other fields. All of that is
//! compared without a branch; there is one for each entry, not one for each field. So a packet takes a handful of
//! loads, few of which wait for one another: its fields, the interval of the first, what follows that, the list. An
//! entry of which this does not say all is *odd*, and what is left is looked up elsewhere.

use super::expr::{DIGEST, NETWORK, Parts, Rule, TRANSPORT};
use super::kinds::Kinds;
use super::program::part_of;
use super::ranks::Ranks;
use super::search::{KEYS, SearchTree};
use super::terms::{Field, Set, Term};
use std::collections::HashMap;
use wire::ipv4;

/// Fields that are looked at, at most.
pub(super) const FIELDS: usize = 8;
/// Entries of a list that are checked one after the other, at most.
const FEW: usize = 8;
/// Entries in all lists together, at most: so many for each entry, and some more.
const SPREAD: usize = 32;
/// A field that leaves more than this part of a list on average is no help, in per cent.
const USEFUL: usize = 70;

/// One alternative of a rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) rule: u32,
    /// Whether the rule's expression has to be evaluated.
    pub(super) inexact: bool,
    /// Output of the rule; the largest number to drop.
    pub(super) output: u32,
}

/// Where a field is in a packet.
#[derive(Clone, Copy, Debug)]
struct FieldLocation {
    part: u32,
    offset: u32,
    mask: u32,
    shift: u32,
}

impl FieldLocation {
    fn of(field: Field) -> FieldLocation {
        let (part, offset) = part_of(field.offset);
        FieldLocation { part: part as u32, offset: offset as u32, mask: field.mask, shift: field.shift() }
    }

    /// The same in a packet of IPv4 without options, seen from its network header; none for other parts.
    fn seen_from_network(field: Field) -> Option<FieldLocation> {
        let location = FieldLocation::of(field);
        match field.offset {
            NETWORK..TRANSPORT => Some(location),
            TRANSPORT..DIGEST => {
                Some(FieldLocation { offset: location.offset + ipv4::HEADER_LEN as u32, ..location })
            }
            _ => None,
        }
    }
}

/// Whether a field's value is in an interval.
#[derive(Clone, Copy, Debug)]
struct Check {
    place: u32,
    low: u32,
    /// How far above `low` the interval goes.
    span: u32,
    /// How many further intervals of the same field follow, of which one is enough.
    others: u32,
}

impl Check {
    #[inline]
    fn holds(&self, values: &[u32; FIELDS]) -> bool {
        values[self.place as usize % FIELDS].wrapping_sub(self.low) <= self.span
    }
}

/// The intervals of one field's values.
#[derive(Clone, Debug)]
enum Intervals {
    Tree(SearchTree),
    /// For fields of two bytes with many intervals.
    Ranks(Ranks),
}

impl Intervals {
    fn new(field: Field, starts: &[u32]) -> Intervals {
        // One node of a tree is smaller, and looked at as quickly.
        match field.largest() <= 0xffff && starts.len() > KEYS {
            true => Intervals::Ranks(Ranks::new(starts)),
            false => Intervals::Tree(SearchTree::new(starts)),
        }
    }

    #[inline]
    fn find(&self, value: u32) -> usize {
        match self {
            Intervals::Tree(tree) => tree.find(value),
            Intervals::Ranks(ranks) => ranks.find(value),
        }
    }
}

/// What follows an interval: `len` numbers from `start` on in the lists, or one of these. While they are made, entries are counted instead.
#[derive(Clone, Copy, Debug)]
struct Branch {
    start: u32,
    len: u32,
}

impl Branch {
    /// Where the lists have so many numbers for each entry.
    fn in_numbers(self, stride: usize) -> Branch {
        if [CUT, MANY].contains(&self.len) {
            return self;
        }
        let times = |entries: u32| entries.checked_mul(stride as u32);
        match (times(self.start), times(self.len)) {
            (Some(start), Some(len)) => Branch { start, len },
            _ => Branch { start: u32::MAX, len: MANY },
        }
    }
}

/// A length that says that `start` is a cut.
const CUT: u32 = u32::MAX;
/// A length that says that there are too many.
const MANY: u32 = u32::MAX - 1;

/// The intervals of one field.
#[derive(Clone, Debug)]
struct Cut {
    place: usize,
    intervals: Intervals,
    branches: Vec<Branch>,
}

/// Numbers at the start of each list's entry, before its intervals: the head, and the output.
const HEAD: usize = 2;
/// Bits of the head that are the kind. Those above are the entry's number.
const KIND_BITS: u32 = 6;
/// The head's bit of odd entries.
const ODD: u32 = 1 << 31;
/// Entries that heads can number.
const MOST: usize = 1 << (31 - KIND_BITS);

/// Rules, to be searched.
#[derive(Clone, Debug)]
pub(super) struct Cuts {
    locations: Vec<FieldLocation>,
    /// The same for packets of IPv4 without options; none if a field is in neither of their headers.
    usual: Option<Vec<FieldLocation>>,
    root: Branch,
    cuts: Vec<Cut>,
    kinds: Kinds,
    /// Places of the fields that lists have intervals of.
    columns: [u8; FIELDS],
    /// Numbers that lists have for each entry.
    stride: usize,
    /// All lists: [`HEAD`] numbers for each entry and two for each column, where its interval starts and how far it goes.
    lists: Vec<u32>,
    /// Each entry, and where its checks are.
    entries: Vec<(Entry, u32, u32)>,
    checks: Vec<Check>,
}

impl Cuts {
    /// Prepares a search through these alternatives of rules, looking at these fields.
    pub(super) fn new(terms: &[(usize, Term)], entries: &[Entry], fields: &[Field]) -> Cuts {
        let mut builder =
            Builder { terms, fields, cuts: Vec::new(), lists: Vec::new(), known: HashMap::new(), room: 0 };
        builder.room = SPREAD * terms.len() + 10_000;
        let all: Vec<u32> = (0..terms.len() as u32).collect();
        let root = if terms.len() < MOST {
            builder.branch(&all, &[])
        } else {
            Branch { start: u32::MAX, len: MANY }
        };
        let Builder { cuts, lists, .. } = builder;
        let first = cuts.get(root.start as usize).filter(|_| root.len == CUT).map(|cut| cut.place);
        let kinds = Kinds::new(terms, fields, first);
        // The cuts have looked at the first field already.
        let unseen = (0..fields.len()).filter(|&place| Some(place) != first);
        let columns: Vec<usize> = unseen.clone().filter(|&place| !kinds.has(place)).collect();
        let mut search = Cuts {
            locations: fields.iter().copied().map(FieldLocation::of).collect(),
            usual: fields.iter().copied().map(FieldLocation::seen_from_network).collect(),
            root,
            cuts,
            kinds,
            columns: std::array::from_fn(|at| columns.get(at).map_or(0, |&place| place as u8)),
            stride: HEAD + 2 * columns.len(),
            lists: Vec::new(),
            entries: Vec::with_capacity(terms.len()),
            checks: Vec::new(),
        };
        for ((_, term), &entry) in terms.iter().zip(entries) {
            let start = search.checks.len() as u32;
            unseen.clone().for_each(|place| search.check(place, fields[place], term));
            search.entries.push((entry, start, search.checks.len() as u32));
        }
        let stride = search.stride;
        search.root = search.root.in_numbers(stride);
        let branches = search.cuts.iter_mut().flat_map(|cut| &mut cut.branches);
        branches.for_each(|branch| *branch = branch.in_numbers(stride));
        search.lists.reserve_exact(lists.len() * stride);
        for entry in lists {
            let sets = columns.iter().map(|&place| terms[entry as usize].1.set(fields[place]));
            search.list(entry, sets);
        }
        search
    }

    /// Adds what has to be checked of a field.
    fn check(&mut self, place: usize, field: Field, term: &Term) {
        let Some(set) = term.set(field) else { return };
        for (i, &(from, to)) in set.intervals.iter().enumerate() {
            let others = if i == 0 { set.intervals.len() as u32 - 1 } else { 0 };
            self.checks.push(Check { place: place as u32, low: from, span: to - from, others });
        }
        if set.intervals.is_empty() {
            // Only for packets without the field, which are not found here: two checks that never hold both.
            self.checks.extend([0, 1].map(|low| Check { place: place as u32, low, span: 0, others: 0 }));
        }
    }

    /// Adds an entry to the list that is being made, which wants this of the columns.
    fn list<'t>(&mut self, number: u32, sets: impl Iterator<Item = Option<&'t Set>>) {
        let (entry, ..) = self.entries[number as usize];
        let head = self.lists.len();
        self.lists.extend([number << KIND_BITS | self.kinds.of(number), entry.output]);
        let mut odd = entry.inexact;
        for set in sets {
            let (from, to) = match set.map(|set| set.intervals.as_slice()) {
                None => (0, u32::MAX),
                Some([interval]) => *interval,
                Some(several) => {
                    odd = true;
                    let ends = several.first().zip(several.last());
                    ends.map_or((0, u32::MAX), |(first, last)| (first.0, last.1))
                }
            };
            self.lists.extend([from, to - from]);
        }
        self.lists[head] |= if odd { ODD } else { 0 };
    }

    /// The output of the first entry that accepts a packet, if any does; nothing if this search cannot tell.
    pub(super) fn find(&self, parts: &Parts<'_>, rules: &[Rule]) -> Option<Option<u32>> {
        let accepts = |head, values: &_| self.accepts(head, values, parts, rules);
        self.search(&self.locations, |part| parts.get(part as usize), accepts)
    }

    /// The same for a packet of IPv4 without options, which begins with its network header, and whose link-layer header no rule looks at:
    /// with one part there is less to do.
    #[inline(always)]
    pub(super) fn find_usual(&self, network: &[u8], rules: &[Rule]) -> Option<Option<u32>> {
        let accepts = |head, values: &_| self.accepts_usual(head, values, network, rules);
        self.search(self.usual.as_deref()?, |_| network, accepts)
    }

    /// Searches for a packet whose fields are at these locations of these parts. Odd entries are looked at by `accepts`.
    #[inline(always)] // once for each kind of parts
    fn search<'p>(
        &self,
        locations: &[FieldLocation],
        part: impl Fn(u32) -> &'p [u8],
        accepts: impl Fn(u32, &[u32; FIELDS]) -> bool,
    ) -> Option<Option<u32>> {
        // Written to in place: values that were just written one by one cannot be moved together without waiting.
        let mut values = [0; FIELDS];
        for (value, location) in values.iter_mut().zip(locations) {
            let at = location.offset as usize;
            let bytes = part(location.part).get(at..at + 4)?.first_chunk()?;
            *value = (u32::from_be_bytes(*bytes) & location.mask) >> location.shift;
        }
        let mut branch = self.root;
        while branch.len == CUT {
            let cut = self.cuts.get(branch.start as usize)?;
            branch = *cut.branches.get(cut.intervals.find(values[cut.place % FIELDS]))?;
        }
        // Where there are too many, this is beyond the lists.
        let mut list = self.lists.get(branch.start as usize..)?.get(..branch.len as usize)?;
        let kinds = self.kinds.accepting(&values);
        while let Some((entry, others)) = list.split_at_checked(self.stride) {
            let Some((&[head, output], mut intervals)) = entry.split_first_chunk() else { break };
            let mut holds = kinds >> (head % (1 << KIND_BITS)) & 1 != 0;
            let mut columns = self.columns.iter();
            while let (Some((&[low, span], rest)), Some(&place)) =
                (intervals.split_first_chunk(), columns.next())
            {
                holds &= values[usize::from(place) % FIELDS].wrapping_sub(low) <= span;
                intervals = rest;
            }
            if holds && (head & ODD == 0 || accepts(head, &values)) {
                return Some(Some(output));
            }
            list = others;
        }
        Some(None)
    }

    /// Whether the odd entry with a head accepts a packet of IPv4 without options.
    #[cold]
    fn accepts_usual(&self, head: u32, values: &[u32; FIELDS], network: &[u8], rules: &[Rule]) -> bool {
        let transport = network.get(ipv4::HEADER_LEN..).unwrap_or_default();
        self.accepts(head, values, &Parts::new(&[], network, transport, &[]), rules)
    }

    /// Whether the odd entry with a head accepts a packet.
    #[cold]
    fn accepts(&self, head: u32, values: &[u32; FIELDS], parts: &Parts<'_>, rules: &[Rule]) -> bool {
        let number = (head & !ODD) >> KIND_BITS;
        let Some(&(entry, start, end)) = self.entries.get(number as usize) else { return false };
        let mut checks = self.checks.get(start as usize..end as usize).unwrap_or_default();
        while let Some((check, rest)) = checks.split_first() {
            let (others, rest) = rest.split_at(rest.len().min(check.others as usize));
            if !check.holds(values) && !others.iter().any(|other| other.holds(values)) {
                return false;
            }
            checks = rest;
        }
        !entry.inexact || rules[entry.rule as usize].expr.matches(parts)
    }
}

struct Builder<'t> {
    terms: &'t [(usize, Term)],
    fields: &'t [Field],
    cuts: Vec<Cut>,
    lists: Vec<u32>,
    /// What was decided for entries already, whatever fields were looked at.
    known: HashMap<Vec<u32>, Branch>,
    /// Entries that further lists may have.
    room: usize,
}

impl Builder<'_> {
    /// What to do with these entries, when these fields were looked at.
    fn branch(&mut self, entries: &[u32], seen: &[usize]) -> Branch {
        if let Some(&branch) = self.known.get(entries) {
            return branch;
        }
        let branch = self.new_branch(entries, seen);
        self.known.insert(entries.to_vec(), branch);
        branch
    }

    fn new_branch(&mut self, entries: &[u32], seen: &[usize]) -> Branch {
        if entries.len() <= FEW {
            let start = self.lists.len() as u32;
            self.lists.extend(entries);
            return Branch { start, len: entries.len() as u32 };
        }
        let unseen = (0..self.fields.len()).filter(|place| !seen.contains(place));
        let costs = unseen.map(|place| (self.cost(entries, place), place));
        let affordable = costs.filter(|&((lengths, count), _)| {
            lengths <= self.room && lengths * 100 <= count * entries.len() * USEFUL
        });
        let average = |lengths: usize, count: usize| lengths as f64 / count as f64;
        let best = affordable.min_by(|&((a, m), _), &((b, n), _)| average(a, m).total_cmp(&average(b, n)));
        match best {
            Some(((lengths, _), place)) => {
                self.room -= lengths;
                self.cut(entries, place, seen)
            }
            None => Branch { start: u32::MAX, len: MANY },
        }
    }

    /// Where entries begin and cease to accept values of a field.
    fn changes(&self, entries: &[u32], place: usize) -> Vec<(u32, u32, bool)> {
        let field = self.fields[place];
        let mut changes = Vec::new();
        for &entry in entries {
            let everything = [(0, field.largest())];
            let set = self.terms[entry as usize].1.set(field);
            for &(from, to) in set.map_or(&everything[..], |set| &set.intervals) {
                changes.push((from, entry, true));
                changes.extend((to < field.largest()).then(|| (to + 1, entry, false)));
            }
        }
        changes.sort_unstable();
        changes
    }

    /// Entries in the lists of all intervals of a field together, and how many intervals there are.
    fn cost(&self, entries: &[u32], place: usize) -> (usize, usize) {
        let (mut accepting, mut lengths, mut count) = (0isize, 0, 0);
        for changes in self.changes(entries, place).chunk_by(|a, b| a.0 == b.0) {
            accepting += changes.iter().map(|&(_, _, begins)| if begins { 1 } else { -1 }).sum::<isize>();
            lengths += accepting as usize;
            count += 1;
        }
        (lengths, count.max(1))
    }

    /// Divides entries by a field.
    fn cut(&mut self, entries: &[u32], place: usize, seen: &[usize]) -> Branch {
        let seen = [seen, &[place]].concat();
        let changes = self.changes(entries, place);
        let (mut starts, mut branches) = (Vec::new(), Vec::new());
        let mut accepting: Vec<u32> = Vec::new();
        // The cut's number comes first: those below it have higher ones.
        let number = self.cuts.len();
        let field = self.fields[place];
        self.cuts.push(Cut { place, intervals: Intervals::new(field, &[]), branches: Vec::new() });
        if changes.first().is_none_or(|&(start, ..)| start > 0) {
            branches.push(self.branch(&[], &seen));
        }
        for changes in changes.chunk_by(|a, b| a.0 == b.0) {
            for &(_, entry, begins) in changes {
                match (accepting.binary_search(&entry), begins) {
                    (Err(at), true) => accepting.insert(at, entry),
                    (Ok(at), false) => drop(accepting.remove(at)),
                    _ => {}
                }
            }
            starts.extend((changes[0].0 > 0).then_some(changes[0].0));
            branches.push(self.branch(&accepting, &seen));
        }
        self.cuts[number] = Cut { place, intervals: Intervals::new(field, &starts), branches };
        Branch { start: number as u32, len: CUT }
    }
}
