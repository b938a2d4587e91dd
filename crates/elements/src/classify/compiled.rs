//! Programs laid out for speed.
//!
//! A chain of tests that compare the same bits of the same word with one value after another becomes one hash lookup,
//! so that a thousand alternatives cost as much as a few. What remains is walked forward, once.

use super::program::{Jump, Program, Test, part_of};

/// Values in a chain from which on a lookup is faster than a walk.
const LOOKUP_MIN: usize = 5;
/// Where packets go that match nothing: no such output exists.
pub(super) const NOWHERE: usize = i32::MAX as usize;

/// A jump: a node if it is not negative, else the complement of an output.
type Target = i32;

fn leave(output: usize) -> Target {
    !(output.min(NOWHERE) as i32)
}

/// One test, of one value or of many.
#[derive(Clone, Copy, Debug)]
struct Node {
    offset: u32,
    /// Bytes that the part must have.
    required: u32,
    /// The part of the packet.
    part: u32,
    /// In the machine's byte order, as are all values.
    mask: u32,
    value: u32,
    yes: Target,
    no: Target,
    short: Target,
    /// The lookup that gives the jump, plus one; 0 to compare with `value`.
    lookup: u32,
}

/// A program that classifies packets.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    nodes: Vec<Node>,
    lookups: Vec<Lookup>,
    start: Target,
}

impl Compiled {
    /// Lays out a program.
    pub(super) fn new(program: &Program) -> Compiled {
        let mut compiled = Compiled { nodes: Vec::new(), lookups: Vec::new(), start: 0 };
        if program.tests.is_empty() {
            compiled.start = target(program.otherwise);
            return compiled;
        }
        for (test, chain) in program.tests.iter().zip(chains(&program.tests)) {
            let (part, offset) = part_of(test.offset);
            let mut node = Node {
                offset: offset as u32,
                required: part_of(test.required_len()).1 as u32,
                part: part as u32,
                mask: native(test.mask),
                value: native(test.value),
                yes: target(test.yes),
                no: target(test.no),
                short: target(test.short()),
                lookup: 0,
            };
            if let Some(chain) = chain {
                let values = chain.iter().map(|&at| {
                    let test = &program.tests[at];
                    (native(test.value), target(test.yes))
                });
                compiled.lookups.push(Lookup::new(values));
                node.lookup = compiled.lookups.len() as u32;
                let end = &program.tests[chain[chain.len() - 1]];
                (node.no, node.short) = (target(end.no), target(end.no));
            }
            compiled.nodes.push(node);
        }
        compiled
    }

    /// The output for a packet; [`NOWHERE`] or more if there is none.
    #[inline]
    pub(super) fn run(&self, data: &[u8]) -> usize {
        self.run_on(|_| data)
    }

    /// The same for a program that looks at several parts of the packet.
    #[inline]
    pub(super) fn run_on<'d>(&self, part: impl Fn(usize) -> &'d [u8]) -> usize {
        let mut at = self.start;
        // An output is a complement, so as an unsigned number it lies beyond all nodes: one comparison tells.
        while let Some(node) = self.nodes.get(at as u32 as usize) {
            let (data, from) = (part(node.part as usize), node.offset as usize);
            let word = match data.get(from..from + 4).and_then(|bytes| bytes.first_chunk()) {
                Some(bytes) => u32::from_ne_bytes(*bytes) & node.mask,
                None => match partial_word(data, from, node) {
                    Some(word) => word,
                    None => {
                        at = node.short;
                        continue;
                    }
                },
            };
            // A node with a lookup has the first of its values here, too.
            at = match node.lookup {
                _ if word == node.value => node.yes,
                0 => node.no,
                lookup => self.lookups[lookup as usize - 1].get(word).unwrap_or(node.no),
            };
        }
        !at as usize
    }
}

/// The word at the very end of a packet, which has fewer than four bytes there.
#[cold]
fn partial_word(data: &[u8], from: usize, node: &Node) -> Option<u32> {
    if data.len() < node.required as usize {
        return None;
    }
    let rest = data.get(from..)?;
    let mut bytes = [0; 4];
    bytes[..rest.len()].copy_from_slice(rest);
    Some(u32::from_ne_bytes(bytes) & node.mask)
}

fn native(word: u32) -> u32 {
    u32::from_ne_bytes(word.to_be_bytes())
}

fn target(jump: Jump) -> Target {
    match jump {
        Jump::Step(to) => to as i32,
        Jump::Output(output) => leave(output),
        Jump::Drop => leave(NOWHERE),
    }
}

/// How many jumps lead to each test.
fn entrances(tests: &[Test]) -> Vec<u32> {
    let mut entered = vec![0; tests.len()];
    for jump in tests.iter().flat_map(|test| [test.yes, test.no]) {
        if let Jump::Step(to) = jump {
            entered[to] += 1;
        }
    }
    entered
}

/// The test that continues a chain: reached from `test` alone, for the same bits of the same word.
fn continuation(tests: &[Test], entered: &[u32], test: &Test) -> Option<usize> {
    let Jump::Step(next) = test.no else { return None };
    let other = &tests[next];
    let same = test.offset == other.offset && test.mask == other.mask;
    (same && entered[next] == 1 && !test.short_yes && !other.short_yes).then_some(next)
}

/// Chains long enough for a lookup, by their first test.
fn chains(tests: &[Test]) -> Vec<Option<Vec<usize>>> {
    let entered = entrances(tests);
    let mut continues = vec![false; tests.len()];
    tests.iter().filter_map(|test| continuation(tests, &entered, test)).for_each(|at| continues[at] = true);
    let chain = |i: usize| {
        let mut chain = vec![i];
        let mut last = i;
        while let Some(next) = continuation(tests, &entered, &tests[last]) {
            chain.push(next);
            last = next;
        }
        (chain.len() >= LOOKUP_MIN).then_some(chain)
    };
    (0..tests.len()).map(|i| if continues[i] { None } else { chain(i) }).collect()
}

/// Values and where they lead: an open hash table.
#[derive(Clone, Debug)]
struct Lookup {
    /// Value and target; [`FREE`] marks an empty slot.
    slots: Vec<(u32, Target)>,
    shift: u32,
}

/// No jump leads there: there are fewer nodes.
const FREE: Target = i32::MAX;

impl Lookup {
    /// A table of these; of two equal values the first counts.
    fn new(values: impl ExactSizeIterator<Item = (u32, Target)>) -> Lookup {
        let bits = (values.len() * 2).next_power_of_two().trailing_zeros();
        let mut lookup = Lookup { slots: vec![(0, FREE); 1 << bits], shift: 32 - bits };
        for (value, target) in values {
            let at = lookup.slot(value);
            if lookup.slots[at].1 == FREE {
                lookup.slots[at] = (value, target);
            }
        }
        lookup
    }

    /// The slot that has a value, or where it would go. Less than half of the slots are taken, so there is one.
    #[inline]
    fn slot(&self, value: u32) -> usize {
        let wrap = self.slots.len() - 1;
        // Fibonacci hashing: the high bits of the product depend on all bits of the value.
        let mut at = (value.wrapping_mul(0x9e37_79b9) >> self.shift) as usize & wrap;
        while self.slots[at].1 != FREE && self.slots[at].0 != value {
            at = (at + 1) & wrap;
        }
        at
    }

    #[inline]
    fn get(&self, value: u32) -> Option<Target> {
        let (_, target) = self.slots[self.slot(value)];
        (target != FREE).then_some(target)
    }
}

#[cfg(test)]
mod tests {
    use super::super::pattern::{ByteTest, Clause, Pattern};
    use super::*;
    use proptest::prelude::*;

    /// Few offsets, values and masks, so that patterns overlap, imply and contradict each other; many tests of one bit,
    /// which are treated specially.
    fn clause() -> impl Strategy<Value = Clause> {
        let mask = prop::sample::select(vec![0xffu8, 0xf0, 0x01, 0x03, 0x80, 0x00]);
        let byte =
            (mask, 0u8..4).prop_map(|(mask, value)| ByteTest { mask, value: (value | value << 6) & mask });
        let bit = prop::sample::select(vec![(1u8, 0u8), (1, 1), (2, 0), (2, 2)])
            .prop_map(|(mask, value)| ByteTest { mask, value });
        let bytes = prop_oneof![prop::collection::vec(byte, 1..6), prop::collection::vec(bit, 1)];
        (any::<bool>(), 0usize..7, bytes).prop_map(|(negated, offset, bytes)| Clause {
            negated,
            offset,
            bytes,
        })
    }

    fn patterns() -> impl Strategy<Value = Vec<Pattern>> {
        let pattern = prop::collection::vec(clause(), 0..4).prop_map(|clauses| Pattern { clauses });
        prop::collection::vec(pattern, 1..9)
    }

    fn packet() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop::sample::select(vec![0u8, 1, 2, 3, 0x41, 0x82, 0xc3, 0x40, 0x80]);
        prop::collection::vec(byte, 0..14)
    }

    fn first_match(patterns: &[Pattern], data: &[u8]) -> usize {
        patterns.iter().position(|pattern| pattern.matches(data)).unwrap_or(NOWHERE)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        /// Compiled programs send every packet, short or long, where its first matching pattern says.
        #[test]
        fn as_the_patterns_say(
            patterns in patterns(),
            packets in prop::collection::vec(packet(), 20),
        ) {
            let mut program = Program::new(&patterns);
            let plain = Compiled::new(&program);
            program.optimise();
            let compiled = Compiled::new(&program);
            for data in &packets {
                let expected = first_match(&patterns, data);
                prop_assert_eq!(plain.run(data), expected, "unoptimised, {:?}", data);
                prop_assert_eq!(compiled.run(data), expected, "{:?}\n{}", data, program);
            }
        }
    }

    /// Ten thousand rules compile in bounded time and stay correct; most of them are behind lookups.
    #[test]
    fn many_rules() {
        let rule = |i: u32| Pattern::parse(&format!("12/0800 26/{:08x} 30/{:08x}", i / 10, i)).unwrap();
        let mut patterns: Vec<_> = (0..10_000).map(rule).collect();
        patterns.push(Pattern::default());
        let mut program = Program::new(&patterns);
        program.optimise();
        let compiled = Compiled::new(&program);
        let mut packet = [0u8; 64];
        packet[12] = 8;
        for i in [0, 1, 9, 10, 4_711, 9_999] {
            packet[26..30].copy_from_slice(&(i / 10u32).to_be_bytes());
            packet[30..34].copy_from_slice(&i.to_be_bytes());
            assert_eq!(compiled.run(&packet), i as usize);
        }
        packet[30] = 0xff;
        assert_eq!(compiled.run(&packet), 10_000);
        assert!(!compiled.lookups.is_empty());
    }
}
