//! Programs laid out for speed.
//!
//! A chain of tests that compare the same bits of the same word with one value after another becomes one hash lookup,
//! so that a thousand alternatives cost as much as a few. What remains is walked forward, once.
//!
//! Whether a packet has all bytes that any test looks at is asked once, before the first test: nearly all packets do ([`Quick`]).
//! For the others each test asks.

use super::program::{Jump, Program, Test, part_of};
use packet::Packet;

/// Values in a chain from which on a lookup is faster than a walk.
const LOOKUP_MIN: usize = 5;
/// Where packets go that match nothing: no such output exists.
pub(super) const NOWHERE: usize = i32::MAX as usize;

/// A jump: a node if it is not negative, else the complement of an output.
type Target = i32;

/// Where [`Quick`] goes from a node with a lookup whose first value is not there. As an unsigned number it lies beyond all nodes, as
/// outputs do.
const LOOK_UP: Target = i32::MAX;

fn leave(output: usize) -> Target {
    !(output.min(NOWHERE) as i32)
}

/// Bytes of a packet that one node compares.
const WIDE: usize = 8;
/// Bytes that [`Quick`] has to reach all that begins where 8 bits say.
const FRONT: usize = u8::MAX as usize + WIDE;

/// What a program looks at first of all: the front of a packet, or of what follows its network header, so wide that every offset of 8
/// bits lies within.
#[derive(Clone, Copy)]
pub(super) struct Front<'p> {
    bytes: &'p [u8; FRONT],
    /// Those that are the packet's, which may have more than that.
    len: usize,
}

impl<'p> Front<'p> {
    /// That of a packet for a program that reaches so far; `None` if the packet, or its buffer, ends too early.
    #[inline(always)]
    pub(super) fn of(packet: &'p Packet, reach: u32) -> Option<Front<'p>> {
        packet.wide_data(reach).map(Front::new)
    }

    /// That of `bytes`, of which `len` are the packet's.
    #[inline(always)]
    pub(super) fn new((bytes, len): (&'p [u8; FRONT], usize)) -> Front<'p> {
        Front { bytes, len }
    }

    /// The bytes from an offset on, in the machine's byte order. An offset of 8 bits is within, which the compiler knows.
    #[inline(always)]
    fn word(&self, near: u8) -> u64 {
        u64::from_ne_bytes(std::array::from_fn(|i| self.bytes[usize::from(near) + i]))
    }
}

/// One test, of one value, of two or of many.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))] // one cache line, found by a shift
struct Node {
    /// In the machine's byte order, as are all values.
    mask: u64,
    value: u64,
    /// What is as good as `value`; the same, if nothing is.
    other: u64,
    offset: u32,
    /// Bytes that the part must have.
    required: u32,
    /// The part of the packet.
    part: u32,
    yes: Target,
    no: Target,
    short: Target,
    /// `no`, or [`LOOK_UP`].
    other_than: Target,
    /// The lookup that gives the jump, plus one; 0 to compare with `value`. Its values are the first four bytes.
    lookup: u32,
    /// `offset`, where it is that small.
    near: u8,
}

const _: () = assert!(size_of::<Node>() == 64);

/// A program that classifies packets.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    nodes: Vec<Node>,
    lookups: Vec<Lookup>,
    start: Target,
    /// Bytes that the longest of all nodes wants; more than any packet has if some lie where [`Quick`] does not reach.
    reach: u32,
}

impl Compiled {
    /// Lays out a program.
    pub(super) fn new(program: &Program) -> Compiled {
        let mut compiled = Compiled { nodes: Vec::new(), lookups: Vec::new(), start: 0, reach: 0 };
        if program.tests.is_empty() {
            compiled.start = target(program.otherwise);
            return compiled;
        }
        let (entered, chains) = (entrances(&program.tests), chains(&program.tests));
        for (at, chain) in chains.iter().enumerate() {
            let node = match chain {
                Some(chain) => compiled.lookup_node(program, chain),
                None => Span::new(program, at).joined(program, &entered, &chains).node(),
            };
            compiled.nodes.push(node);
        }
        let wants = |node: &Node| match u8::try_from(node.offset) {
            Ok(_) => node.required,
            Err(_) => u32::MAX,
        };
        compiled.reach = compiled.nodes.iter().map(wants).max().unwrap_or(0);
        compiled
    }

    /// The node of a chain of tests of one word.
    fn lookup_node(&mut self, program: &Program, chain: &[usize]) -> Node {
        let tests = || chain.iter().map(|&at| &program.tests[at]);
        self.lookups.push(Lookup::new(tests().map(|test| (native(test.value), target(test.yes)))));
        let mut node = Span::new(program, chain[0]).node_at_word();
        if let Some(end) = tests().next_back() {
            (node.no, node.short) = (target(end.no), target(end.no));
        }
        Node { lookup: self.lookups.len() as u32, other_than: LOOK_UP, ..node }
    }

    /// The same if the program is quick with this data, behind which lies what would mislead it.
    #[cfg(test)]
    pub(super) fn run_quick(&self, data: &[u8]) -> Option<usize> {
        let mut bytes = [0x45; FRONT];
        let len = data.len().min(FRONT);
        bytes[..len].copy_from_slice(&data[..len]);
        let quick = self.quick()?;
        (data.len() >= quick.reach as usize).then(|| quick.run(Front { bytes: &bytes, len: data.len() }))
    }

    /// The same program for those who have the fronts of several packets.
    #[inline(always)]
    pub(super) fn quick(&self) -> Option<Quick<'_>> {
        let nodes = self.nodes.as_slice();
        nodes.first().map(|first| Quick { program: self, nodes, first, reach: self.reach })
    }

    /// The output for a packet; [`NOWHERE`] if there is none.
    #[inline(always)] // one call less for every packet
    pub(super) fn run_on_packet(&self, packet: &Packet) -> usize {
        match self.quick() {
            Some(quick) => quick.run_on_packet(packet),
            None => self.run(packet.data()),
        }
    }

    /// The output for a packet's data; [`NOWHERE`] if there is none.
    pub(super) fn run(&self, data: &[u8]) -> usize {
        self.run_on(|_| data)
    }

    /// The same for a program that looks at several parts of the packet.
    pub(super) fn run_on<'d>(&self, part: impl Fn(usize) -> &'d [u8]) -> usize {
        match self.nodes.first() {
            Some(first) => self.run_from(first, part),
            None => !self.start as u32 as usize,
        }
    }

    /// The rest from a node on.
    #[inline(never)] // not among what is quick: that needs few registers
    fn run_from<'s, 'd>(&'s self, mut node: &'s Node, part: impl Fn(usize) -> &'d [u8]) -> usize {
        loop {
            let word = word_of(part(node.part as usize), node);
            let at = word.map_or(node.short, |word| self.jump(node, word));
            match self.nodes.get(at as u32 as usize) {
                Some(next) => node = next,
                None => return !at as u32 as usize,
            }
        }
    }

    /// Where a node leads with these bytes, of which those that do not count are 0.
    #[inline]
    fn jump(&self, node: &Node, word: u64) -> Target {
        // A node with a lookup has the first of its values here, too.
        match node.lookup {
            _ if word == node.value || word == node.other => node.yes,
            0 => node.no,
            lookup => self.lookups[lookup as usize - 1].get(first_half(word)).unwrap_or(node.no),
        }
    }
}

/// Bits of the bytes from an offset on.
#[derive(Clone, Copy)]
struct Bits {
    near: u8,
    mask: u64,
}

impl Bits {
    #[inline(always)]
    fn at(self, front: Front<'_>) -> u64 {
        front.word(self.near) & self.mask
    }
}

/// A program at work on many packets, of which nearly all have all bytes that it looks at.
#[derive(Clone, Copy)]
pub(super) struct Quick<'c> {
    program: &'c Compiled,
    nodes: &'c [Node],
    first: &'c Node,
    /// Bytes that a packet must have.
    pub(super) reach: u32,
}

impl Quick<'_> {
    /// The output that these packets have in common, if one look at each can tell: nearly always they do, since a batch comes from one
    /// interface, and interfaces carry mostly one kind of packet.
    #[inline]
    pub(super) fn common(&self, packets: &[Packet]) -> Option<usize> {
        let (first, others) = packets.split_first()?;
        let front = Front::of(first, self.reach)?;
        let (looks, output) = self.way(front)?;
        let [one, two] = looks.map(|look| (look, look.at(front)));
        let has = |front: Front<'_>, (look, word): (Bits, u64)| look.at(front) == word;
        let fronts = || others.iter().map(|packet| Front::of(packet, self.reach));
        let are_alike = match two.0.mask {
            0 => fronts().all(|front| front.is_some_and(|front| has(front, one))),
            _ => fronts().all(|front| front.is_some_and(|front| has(front, one) && has(front, two))),
        };
        are_alike.then_some(output)
    }

    /// What the program looks at in a packet, if that are two words at most, and the output where that leads.
    #[inline(never)] // for a packet of each batch
    fn way(&self, front: Front<'_>) -> Option<([Bits; 2], usize)> {
        let (mut node, mut looks) = (self.first, [Bits { near: 0, mask: 0 }; 2]);
        loop {
            let look = looks.iter_mut().find(|look| look.mask == 0 || look.near == node.near)?;
            *look = Bits { near: node.near, mask: look.mask | node.mask };
            let at = self.program.jump(node, front.word(node.near) & node.mask);
            match self.nodes.get(at as u32 as usize) {
                Some(next) => node = next,
                None if at == leave(NOWHERE) => return None,
                None => return Some((looks, !at as u32 as usize)),
            }
        }
    }

    /// The output for a packet; [`NOWHERE`] if there is none.
    #[inline(always)] // one call less for every packet
    pub(super) fn run_on_packet(&self, packet: &Packet) -> usize {
        let front = Front::of(packet, self.reach);
        front.map_or_else(|| self.program.run(packet.data()), |front| self.run(front))
    }

    /// The output for a packet that has as many bytes as the program reaches; [`NOWHERE`] if there is none.
    #[inline(always)] // one call less for every packet
    pub(super) fn run(&self, front: Front<'_>) -> usize {
        let mut node = self.first;
        loop {
            let word = front.word(node.near) & node.mask;
            let at = if word == node.value || word == node.other { node.yes } else { node.other_than };
            // An output is a complement, so as an unsigned number it lies beyond all nodes: one comparison tells.
            match self.nodes.get(at as u32 as usize) {
                Some(next) => node = next,
                None if at == leave(0) => return 0, // asked first, as nearly all do that
                None if at != LOOK_UP => return !at as u32 as usize,
                None => {
                    let data = &front.bytes[..front.len.min(FRONT)];
                    return self.program.run_from(node, |_| data);
                }
            }
        }
    }
}

/// What a node compares; `None` if the packet is too short.
#[inline]
fn word_of(data: &[u8], node: &Node) -> Option<u64> {
    let from = node.offset as usize;
    match data.get(from..from + WIDE).and_then(|bytes| bytes.first_chunk()) {
        Some(bytes) => Some(u64::from_ne_bytes(*bytes) & node.mask),
        None => partial_word(data, from, node),
    }
}

/// The word at the very end of a packet, which has fewer bytes there.
#[cold]
fn partial_word(data: &[u8], from: usize, node: &Node) -> Option<u64> {
    if data.len() < node.required as usize {
        return None;
    }
    let rest = data.get(from..)?;
    let mut bytes = [0; WIDE];
    bytes[..rest.len()].copy_from_slice(rest);
    Some(u64::from_ne_bytes(bytes) & node.mask)
}

/// The first four bytes of a word, as they lie in memory.
fn first_half(word: u64) -> u32 {
    let [a, b, c, d, ..] = word.to_ne_bytes();
    u32::from_ne_bytes([a, b, c, d])
}

/// Bytes of one part that a packet must have, all of them, to get on: what one node tests. Packets without them, or too short for
/// them, go elsewhere.
#[derive(Clone, Copy)]
struct Span {
    part: usize,
    /// Where the bytes begin.
    start: usize,
    /// Where the last one that counts ends.
    required: usize,
    /// From `start` on, the first byte most significant.
    mask: u64,
    value: u64,
    other: u64,
    yes: Jump,
    no: Jump,
    short: Jump,
}

impl Span {
    /// That of a test.
    fn new(program: &Program, at: usize) -> Span {
        let test = &program.tests[at];
        let (part, start) = part_of(test.offset);
        let [mask, value] = [test.mask, test.value].map(|word| u64::from(word) << 32);
        Span {
            part,
            start,
            required: part_of(test.required_len()).1,
            mask,
            value,
            other: value,
            yes: test.yes,
            no: test.no,
            short: test.short(),
        }
    }

    /// Joined with the tests that follow it alone, as far as one node can do their work.
    fn joined(mut self, program: &Program, entered: &[u32], chains: &[Option<Vec<usize>>]) -> Span {
        let follower = |jump: Jump| match jump {
            Jump::Step(next) if chains[next].is_none() => Some((next, Span::new(program, next))),
            _ => None,
        };
        // Another value that is as good: a packet without this one is asked for that one.
        if let Some((next, other)) = follower(self.no)
            && entered[next] == 1
            && other.yes == self.yes
            && (other.part, other.start, other.mask) == (self.part, self.start, self.mask)
            && (self.short, other.short) == (self.no, other.no)
        {
            (self.other, self.no, self.short) = (other.value, other.no, other.short);
        }
        // More that has to hold. Two tests may lead to it: those that have just become one.
        let ways_in = if self.other == self.value { 1 } else { 2 };
        let mut enters = ways_in;
        while let Some((next, span)) = follower(self.yes)
            && entered[next] == enters
            && let Some(joined) = self.and(&span)
        {
            self = joined;
            enters = 1;
        }
        self
    }

    /// Both, if they go together.
    fn and(&self, then: &Span) -> Option<Span> {
        let fails = [self.short, then.no, then.short].iter().all(|&jump| jump == self.no);
        let (start, end) = (self.first().min(then.first()), self.required.max(then.required));
        if !fails || self.part != then.part || self.mask == 0 || then.mask == 0 || end - start > WIDE {
            return None;
        }
        let (a, b) = (self.from(start), then.from(start));
        let disjoint = a.mask & b.mask == 0;
        disjoint.then_some(Span {
            required: end,
            mask: a.mask | b.mask,
            value: a.value | b.value,
            other: a.other | b.value,
            yes: then.yes,
            ..a
        })
    }

    /// The first byte that counts.
    fn first(&self) -> usize {
        self.start + self.mask.leading_zeros() as usize / 8
    }

    /// The same bytes seen from elsewhere, from where the span reaches all that count.
    fn from(self, start: usize) -> Span {
        let moved = |word: u64| match start.checked_sub(self.start) {
            Some(ahead) => word.checked_shl(8 * ahead as u32).unwrap_or(0),
            None => word.checked_shr(8 * (self.start - start) as u32).unwrap_or(0),
        };
        let [mask, value, other] = [self.mask, self.value, self.other].map(moved);
        Span { start, mask, value, other, ..self }
    }

    /// The node that tests it: of the bytes that end where the last one that counts does, so that packets that have it have
    /// them all.
    fn node(self) -> Node {
        self.from(self.required.saturating_sub(WIDE)).node_at_word()
    }

    /// The node that tests it from `start` on.
    fn node_at_word(self) -> Node {
        let native = |word: u64| u64::from_ne_bytes(word.to_be_bytes());
        Node {
            mask: native(self.mask),
            value: native(self.value),
            other: native(self.other),
            offset: self.start as u32,
            required: self.required as u32,
            part: self.part as u32,
            yes: target(self.yes),
            no: target(self.no),
            short: target(self.short),
            other_than: target(self.no),
            lookup: 0,
            near: self.start as u8,
        }
    }
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
                for quick in [plain.run_quick(data), compiled.run_quick(data)].into_iter().flatten() {
                    prop_assert_eq!(quick, expected, "quick, {:?}\n{}", data, program);
                }
            }
        }
    }

    /// Tests of different words become one node where eight bytes have them all, and so do two values that are as good.
    #[test]
    fn tests_become_one_node() {
        let test = |offset, byte: u32, at: u32, yes, no| {
            let shift = 24 - 8 * at;
            Test { offset, mask: 0xff << shift, value: byte << shift, yes, no, short_yes: false }
        };
        let program = Program {
            tests: vec![
                test(0, 6, 3, Jump::Step(2), Jump::Step(1)),
                test(0, 17, 3, Jump::Step(2), Jump::Drop),
                test(8, 10, 2, Jump::Step(3), Jump::Drop),
                test(12, 1, 0, Jump::Output(0), Jump::Drop),
            ],
            otherwise: Jump::Drop,
        };
        let compiled = Compiled::new(&program);
        let first = &compiled.nodes[0];
        assert_eq!((first.yes, first.no, first.mask.count_ones()), (3, leave(NOWHERE), 16));
        let packet = |a, b, c| [0, 0, 0, a, 0, 0, 0, 0, 0, 0, b, 0, c];
        for (data, output) in [
            (packet(6, 10, 1), 0),
            (packet(17, 10, 1), 0),
            (packet(7, 10, 1), NOWHERE),
            (packet(6, 11, 1), NOWHERE),
            (packet(17, 10, 2), NOWHERE),
        ] {
            assert_eq!(compiled.run(&data), output, "{data:?}");
            assert_eq!(compiled.run(&data[..12]), NOWHERE);
            assert_eq!(compiled.run(&data[..10]), NOWHERE);
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
            assert_eq!(compiled.run_quick(&packet), Some(i as usize));
        }
        packet[30] = 0xff;
        assert_eq!(compiled.run(&packet), 10_000);
        assert!(!compiled.lookups.is_empty());
    }
}
