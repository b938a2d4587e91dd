//! Fields that all entries want one of few things of: which of these a packet has, as bits.
//!
//! A thousand rules for ports all want the protocol to be TCP or UDP, and the packet to be no later fragment. What an entry
//! wants of all such fields together is its *kind*, and there are few. For each value of such a field a word has a bit for each kind
//! that accepts it; the intersection for a packet's fields says for each kind whether it accepts the packet.

use super::terms::{Field, Set, Term};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Kinds, at most: a bit for each.
const KINDS: usize = 64;

/// The kinds that accept a field's values: for fields of one byte, or of two, of which the first tells where the table starts
/// that the second is looked up in. Few of these are different.
#[derive(Clone, Debug)]
struct Table {
    starts: Box<[u32; 256]>,
    words: Vec<u64>,
}

impl Table {
    /// `accepts` says which kinds accept a value. It gives the same for values between which none of `starts` is.
    fn new(field: Field, starts: &[u32], accepts: impl Fn(u32) -> u64) -> Table {
        let mut all: Vec<u64> = Vec::with_capacity(1 << 16);
        let ends = starts.iter().copied().chain([field.largest() + 1]);
        for (start, end) in [0].into_iter().chain(starts.iter().copied()).zip(ends) {
            all.resize(end as usize, accepts(start));
        }
        let mut table = Table { starts: Box::new([0; 256]), words: Vec::new() };
        let mut known: HashMap<&[u64], u32> = HashMap::new();
        for (start, words) in table.starts.iter_mut().zip(all.chunks(256)) {
            *start = *known.entry(words).or_insert_with(|| {
                table.words.extend(words);
                (table.words.len() - words.len()) as u32
            });
        }
        table
    }

    #[inline]
    fn get(&self, value: u32) -> u64 {
        let start = self.starts[value as usize / 256 % 256];
        self.words.get((start + value % 256) as usize).copied().unwrap_or(0)
    }
}

/// The kinds of some entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Kinds {
    /// Places of the fields, and their tables.
    fields: Vec<(usize, Table)>,
    /// The kind of each entry.
    of_entry: Vec<u32>,
}

impl Kinds {
    /// The kinds of these alternatives of rules. Looks at those of the fields that are suitable, but not at `first`.
    pub(super) fn new(terms: &[(usize, Term)], fields: &[Field], first: Option<usize>) -> Kinds {
        let mut profiles = vec![0; terms.len()]; // what each entry wants of the fields so far, numbered
        let mut chosen = Vec::new();
        for place in suitable(terms, fields, first) {
            let more = refined(terms, fields[place], &profiles);
            if more.iter().max().is_none_or(|&largest| largest < KINDS) {
                profiles = more;
                chosen.push(place);
            }
        }
        let example: BTreeMap<usize, &Term> =
            profiles.iter().zip(terms).map(|(&kind, (_, term))| (kind, term)).collect();
        let table = |&place: &usize| (place, table(fields[place], &example));
        Kinds {
            fields: chosen.iter().map(table).collect(),
            of_entry: profiles.iter().map(|&kind| kind as u32).collect(),
        }
    }

    /// The kind of an entry: less than 64.
    pub(super) fn of(&self, entry: u32) -> u32 {
        self.of_entry[entry as usize]
    }

    /// Whether a field is looked at here.
    pub(super) fn has(&self, place: usize) -> bool {
        self.fields.iter().any(|&(known, _)| known == place)
    }

    /// The kinds that accept a packet with these values, as bits.
    #[inline(always)] // for every packet
    pub(super) fn accepting<const FIELDS: usize>(&self, values: &[u32; FIELDS]) -> u64 {
        let mut all = u64::MAX;
        for (place, table) in &self.fields {
            all &= table.get(values[place % FIELDS]);
        }
        all
    }
}

/// Places of fields of one or two bytes, those first of which the fewest different things are wanted.
fn suitable(terms: &[(usize, Term)], fields: &[Field], first: Option<usize>) -> Vec<usize> {
    let small = (0..fields.len()).filter(|&place| Some(place) != first && fields[place].largest() <= 0xffff);
    let wanted = |place: usize| {
        let sets: BTreeSet<Option<&Set>> = terms.iter().map(|(_, term)| term.set(fields[place])).collect();
        sets.len()
    };
    let mut counted: Vec<(usize, usize)> = small.map(|place| (wanted(place), place)).collect();
    counted.sort_unstable();
    counted.into_iter().filter(|&(wanted, _)| wanted <= KINDS).map(|(_, place)| place).collect()
}

/// The numbers of what entries want of some fields, once they are told apart by another field, too.
fn refined(terms: &[(usize, Term)], field: Field, profiles: &[usize]) -> Vec<usize> {
    let mut known = HashMap::new();
    let wanted = terms.iter().zip(profiles).map(|((_, term), &profile)| (profile, term.set(field)));
    let mut number = |wanted| {
        let next = known.len();
        *known.entry(wanted).or_insert(next)
    };
    wanted.map(&mut number).collect()
}

/// The table of a field, with a term for each kind.
fn table(field: Field, kinds: &BTreeMap<usize, &Term>) -> Table {
    let mut starts = BTreeSet::new();
    for set in kinds.values().filter_map(|term| term.set(field)) {
        starts.extend(set.intervals.iter().flat_map(|&(from, to)| [from, to + 1])); // of two bytes at most
    }
    let starts: Vec<u32> = starts.range(1..=field.largest()).copied().collect();
    let accepts = |value: u32| {
        let wants = |term: &Term| term.set(field).is_none_or(|set| contains(set, value));
        let accepting = kinds.iter().filter(|(_, term)| wants(term));
        accepting.fold(0, |bits, (&kind, _)| bits | 1 << kind)
    };
    Table::new(field, &starts, accepts)
}

fn contains(set: &Set, value: u32) -> bool {
    set.intervals.iter().any(|&(from, to)| (from..=to).contains(&value))
}
