//! Patterns as alternatives, each of which says of every field which values it may have.
//!
//! "Source 10.0.0.0/8 and port 80 or 443" becomes four alternatives (source or destination network, source or destination
//! port), each of which is a set of values for some fields. Where a pattern would have too many alternatives, or compares
//! bits in a way that makes no handsome set, the alternatives say less than the pattern: they are only what is necessary,
//! and their user has to look at the pattern itself, too.

use super::expr::{Expr, Literal};

/// Alternatives of one pattern, at most.
const TERMS: usize = 24;
/// Intervals of one set, at most.
const INTERVALS: usize = 128;

/// A field of one, two or four bytes of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Field {
    /// Where the word is.
    pub(super) offset: usize,
    /// The bits of the word.
    pub(super) mask: u32,
}

impl Field {
    /// How far left of the word's end the field stands.
    pub(super) fn shift(self) -> u32 {
        self.mask.trailing_zeros()
    }

    /// Its largest value.
    pub(super) fn largest(self) -> u32 {
        self.mask >> self.shift()
    }
}

/// Values of a field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Set {
    /// Intervals, ends included, in order and apart from each other.
    pub(super) intervals: Vec<(u32, u32)>,
    /// Whether packets that do not have the field count as well.
    pub(super) absent: bool,
    /// Whether packets may count that have only some of the field's bytes.
    pub(super) partial: bool,
}

impl Set {
    fn is_empty(&self) -> bool {
        self.intervals.is_empty() && !self.absent && !self.partial
    }

    fn is_full(&self, max: u32) -> bool {
        self.absent && self.partial && self.intervals == [(0, max)]
    }

    /// The values that a comparison accepts; none if they are too scattered.
    fn of(literal: &Literal, field: Field) -> Option<Set> {
        let (mask, value) = (literal.mask >> field.shift(), literal.value >> field.shift());
        let run = if mask == 0 { field.largest() } else { (1 << mask.trailing_zeros()) - 1 };
        // Bits above the lowest one that counts, but do not count themselves: each value of them is one interval.
        let free = field.largest() & !mask & !run;
        if free.count_ones() > INTERVALS.ilog2() {
            return None;
        }
        let mut intervals = Vec::with_capacity(1 << free.count_ones());
        let mut bits = 0u32;
        loop {
            intervals.push((value | bits, value | bits | run));
            bits = bits.wrapping_sub(free) & free;
            if bits == 0 {
                break;
            }
        }
        // Comparisons of the field's first bytes alone need only these.
        let partial = literal.short || mask & 0xff == 0;
        let mut set = Set { intervals, absent: literal.short, partial };
        set.tidy();
        if !literal.equal {
            set.complement(field.largest());
        }
        Some(set)
    }

    /// Sorts the intervals, and joins those that touch.
    fn tidy(&mut self) {
        self.intervals.sort_unstable();
        let mut joined: Vec<(u32, u32)> = Vec::with_capacity(self.intervals.len());
        for &(from, to) in &self.intervals {
            match joined.last_mut() {
                Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
                _ => joined.push((from, to)),
            }
        }
        self.intervals = joined;
    }

    fn complement(&mut self, max: u32) {
        let mut rest = Vec::with_capacity(self.intervals.len() + 1);
        let mut next = Some(0);
        for &(from, to) in &self.intervals {
            if let Some(next) = next.filter(|&next| next < from) {
                rest.push((next, from - 1));
            }
            next = to.checked_add(1).filter(|&next| next <= max);
        }
        rest.extend(next.map(|next| (next, max)));
        self.intervals = rest;
    }

    fn union(&self, other: &Set) -> Set {
        let intervals = self.intervals.iter().chain(&other.intervals).copied().collect();
        let (absent, partial) = (self.absent || other.absent, self.partial || other.partial);
        let mut set = Set { intervals, absent, partial };
        set.tidy();
        set
    }

    fn intersection(&self, other: &Set) -> Set {
        let (mut i, mut j, mut intervals) = (0, 0, Vec::new());
        while let (Some(a), Some(b)) = (self.intervals.get(i), other.intervals.get(j)) {
            let (from, to) = (a.0.max(b.0), a.1.min(b.1));
            if from <= to {
                intervals.push((from, to));
            }
            if a.1 < b.1 {
                i += 1;
            } else {
                j += 1;
            }
        }
        Set { intervals, absent: self.absent && other.absent, partial: self.partial && other.partial }
    }
}

/// One alternative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    /// What fields have to be, by field; other fields may be anything.
    pub(super) sets: Vec<(Field, Set)>,
    /// Whether that is all, so that no packet needs a second look.
    pub(super) exact: bool,
}

impl Term {
    /// The values that a field may have; none if it may have any.
    pub(super) fn set(&self, field: Field) -> Option<&Set> {
        let found = self.sets.binary_search_by_key(&field, |&(field, _)| field);
        found.ok().map(|at| &self.sets[at].1)
    }

    const ANYTHING: Term = Term { sets: Vec::new(), exact: true };

    /// Both; none if no packet can be both.
    fn and(&self, other: &Term) -> Option<Term> {
        let mut term = Term { sets: self.sets.clone(), exact: self.exact && other.exact };
        for (field, set) in &other.sets {
            match term.sets.binary_search_by_key(field, |&(field, _)| field) {
                Ok(at) => {
                    let both = term.sets[at].1.intersection(set);
                    if both.is_empty() {
                        return None;
                    }
                    if both.intervals.len() > INTERVALS {
                        term.exact = false; // keep the one that is there
                    } else {
                        term.sets[at].1 = both;
                    }
                }
                Err(at) => term.sets.insert(at, (*field, set.clone())),
            }
        }
        Some(term)
    }

    /// One term for two that differ in one field only.
    fn or(&self, other: &Term) -> Option<Term> {
        let fields = |term: &Term| term.sets.iter().map(|(field, _)| *field).collect::<Vec<_>>();
        if self.exact != other.exact || fields(self) != fields(other) {
            return None;
        }
        let mut differing = (0..self.sets.len()).filter(|&i| self.sets[i].1 != other.sets[i].1);
        let (first, second) = (differing.next(), differing.next());
        if second.is_some() {
            return None;
        }
        let mut term = self.clone();
        if let Some(at) = first {
            let union = self.sets[at].1.union(&other.sets[at].1);
            if union.intervals.len() > INTERVALS {
                return None;
            }
            term.sets[at].1 = union;
        }
        Some(term)
    }

    /// What packets of both have in common at least.
    fn hull(&self, other: &Term) -> Term {
        let both = self.sets.iter().filter_map(|(field, set)| {
            let at = other.sets.binary_search_by_key(field, |&(field, _)| field).ok()?;
            let union = set.union(&other.sets[at].1);
            let useful = union.intervals.len() <= INTERVALS && !union.is_full(field.largest());
            useful.then_some((*field, union))
        });
        Term { sets: both.collect(), exact: false }
    }
}

/// The alternatives of a pattern: a packet that matches is one of them, and one of an exact one matches.
pub(super) fn terms(expr: &Expr) -> Vec<Term> {
    match expr {
        Expr::Const(false) => Vec::new(),
        Expr::Const(true) => vec![Term::ANYTHING],
        Expr::Literal(literal) => of_literal(literal),
        Expr::All(parts) => parts.iter().fold(vec![Term::ANYTHING], |all, part| both(&all, &terms(part))),
        Expr::Any(parts) => parts.iter().fold(Vec::new(), |any, part| either(any, terms(part))),
        Expr::Choose(parts) => of_choice(parts),
    }
}

fn of_literal(literal: &Literal) -> Vec<Term> {
    let field = Field { offset: literal.offset, mask: literal.field };
    match Set::of(literal, field) {
        None => vec![Term { sets: Vec::new(), exact: false }],
        Some(set) => vec![Term { sets: vec![(field, set)], exact: true }],
    }
}

fn both(a: &[Term], b: &[Term]) -> Vec<Term> {
    if a.len() * b.len() > TERMS {
        // One of them is necessary, too: the one with fewer alternatives.
        let fewer = if a.len() <= b.len() { a } else { b };
        return fewer.iter().map(|term| Term { exact: false, ..term.clone() }).collect();
    }
    let pairs = a.iter().flat_map(|a| b.iter().filter_map(|b| a.and(b)));
    either(Vec::new(), pairs.collect())
}

fn either(mut any: Vec<Term>, more: Vec<Term>) -> Vec<Term> {
    for term in more {
        let joined = any.iter().enumerate().find_map(|(i, other)| other.or(&term).map(|term| (i, term)));
        match joined {
            Some((i, term)) => any[i] = term,
            None if any.len() < TERMS => any.push(term),
            None => {
                if let Some(last) = any.last_mut() {
                    *last = last.hull(&term);
                }
            }
        }
    }
    any
}

/// "If the condition holds, this result; else what follows", from the last choice to the first.
fn of_choice(parts: &[Expr]) -> Vec<Term> {
    let (pairs, otherwise) = parts.as_chunks::<2>();
    let last = otherwise.first().map(terms).unwrap_or_default();
    pairs.iter().rev().fold(last, |rest, [condition, result]| {
        let holds = both(&terms(condition), &terms(result));
        let fails = both(&terms(&condition.clone().not()), &rest);
        either(holds, fails)
    })
}
