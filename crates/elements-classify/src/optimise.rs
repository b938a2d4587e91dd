//! Simplifying decision programs.
//!
//! Four steps, of which each leaves the meaning as it is, for packets of any length:
//! 1. tests that have to hold together are put into one order, so that patterns that share some share them first;
//! 2. jumps pass over tests whose outcome is known on every path that leads there;
//! 3. neighbouring tests of one word become one;
//! 4. tests that nothing depends on disappear.

use super::expr::{NETWORK, PART, STATE};
use super::program::{Jump, Program, Test, part_of};

/// Comparisons that step 2 makes at most. Beyond, a program is correct but not as short as it could be.
const EFFORT: u64 = 50_000_000;
/// Paths to one test that are told apart; more are replaced by what they have in common at their beginning.
const PATHS: usize = 4;
/// Parts of a packet, of which the state of its connection is the last; see [`part_of`].
const PARTS: usize = STATE / PART + 1;

impl Program {
    /// Simplifies the program.
    pub(super) fn optimise(&mut self) {
        self.sort();
        Threader::new(&mut self.tests).run();
        self.combine();
        self.remove_unused();
    }

    /// Puts tests that are joined by "and" or by "or" into order.
    fn sort(&mut self) {
        let before = self.only_predecessors();
        let mut i = 0;
        while i < self.tests.len() {
            i = if self.exchange(i, &before) { before[i].unwrap_or(i) } else { i + 1 };
        }
    }

    /// For each test, the one that leads to it if there is exactly one; the first test does not count as one.
    fn only_predecessors(&self) -> Vec<Option<usize>> {
        let mut before = vec![None; self.tests.len()];
        let mut seen = vec![false; self.tests.len()];
        for (i, test) in self.tests.iter().enumerate() {
            for jump in [test.no, test.yes] {
                if let Jump::Step(to) = jump {
                    before[to] = (!seen[to] && i > 0).then_some(i);
                    seen[to] = true;
                }
            }
        }
        before
    }

    /// Exchanges test `i` with a successor that is reached from it alone and shares its other branch, if that brings
    /// them into order.
    fn exchange(&mut self, i: usize, before: &[Option<usize>]) -> bool {
        let order = |t: &Test| (rank(t.offset), t.mask, t.value);
        for yes in [false, true] {
            let first = self.tests[i];
            let Jump::Step(next) = first.jump(yes) else { continue };
            let second = self.tests[next];
            let joined = before[next].is_some() && first.jump(!yes) == second.jump(!yes);
            if joined && order(&first) > order(&second) {
                self.tests[i] = second;
                *self.tests[i].jump_mut(yes) = Jump::Step(next);
                self.tests[next] = first;
                *self.tests[next].jump_mut(yes) = second.jump(yes);
                return true;
            }
        }
        false
    }

    /// Makes one test of two that look at the same word one after the other. Last tests first, so that chains collapse.
    fn combine(&mut self) {
        for i in (0..self.tests.len()).rev() {
            while self.combine_or(i) {}
            while self.combine_and(i) {}
        }
    }

    /// Two values that lead to the same place and differ in one bit: the bit does not matter.
    fn combine_or(&mut self, i: usize) -> bool {
        let test = self.tests[i];
        let Jump::Step(next) = test.no else { return false };
        let other = self.tests[next];
        if is_single(test.mask) && is_compatible(&test, &other) {
            flip(&mut self.tests[i]);
            return false;
        }
        let difference = test.value ^ other.value;
        let merged =
            Test { mask: test.mask & !difference, value: test.value & !difference, no: other.no, ..test };
        let alike = test.offset == other.offset && test.mask == other.mask && test.mask != 0;
        let same_short = test.short_yes || !other.short_yes;
        let ok = alike
            && same_short
            && test.yes == other.yes
            && difference & difference.wrapping_sub(1) == 0
            && merged.required_len() == test.required_len();
        if ok {
            self.tests[i] = merged;
        }
        ok
    }

    /// Two tests that must both succeed: one test of all bits.
    fn combine_and(&mut self, i: usize) -> bool {
        let test = self.tests[i];
        let Jump::Step(next) = test.yes else { return false };
        if test.no == self.tests[next].yes && is_single(self.tests[next].mask) {
            flip(&mut self.tests[next]);
        }
        let other = self.tests[next];
        if test.no != other.no || !is_compatible(&test, &other) {
            return false;
        }
        let Some(short_yes) = combined_short(&test, &other) else { return false };
        self.tests[i] = Test {
            offset: if test.mask == 0 { other.offset } else { test.offset },
            mask: test.mask | other.mask,
            value: test.value | other.value,
            yes: other.yes,
            no: test.no,
            short_yes,
        };
        true
    }

    /// Removes tests without effect and tests that are never reached.
    fn remove_unused(&mut self) {
        let mut leads_to: Vec<Jump> = Vec::with_capacity(self.tests.len());
        leads_to.resize(self.tests.len(), Jump::Drop);
        for i in (0..self.tests.len()).rev() {
            let test = &mut self.tests[i];
            for jump in [&mut test.yes, &mut test.no] {
                if let Jump::Step(to) = *jump {
                    *jump = leads_to[to];
                }
            }
            let decides = test.yes != test.no && test.mask != 0;
            leads_to[i] = if decides { Jump::Step(i) } else { test.yes };
        }
        let Some(&start) = leads_to.first() else { return };
        self.otherwise = start;
        let mut wanted = vec![false; self.tests.len()];
        if let Jump::Step(first) = start {
            wanted[first] = true;
        }
        let (mut new_index, mut kept) = (vec![0; self.tests.len()], 0);
        for (i, test) in self.tests.iter().enumerate() {
            if wanted[i] {
                new_index[i] = kept;
                kept += 1;
                for jump in [test.yes, test.no] {
                    if let Jump::Step(to) = jump {
                        wanted[to] = true;
                    }
                }
            }
        }
        let mut at = 0;
        self.tests.retain(|_| {
            at += 1;
            wanted[at - 1]
        });
        for test in &mut self.tests {
            for jump in [&mut test.yes, &mut test.no] {
                if let Jump::Step(to) = jump {
                    *to = new_index[*to];
                }
            }
        }
    }
}

/// The order of words: by offset, but the IP protocol, which decides most, comes before the fragment offset.
fn rank(offset: usize) -> usize {
    if offset == NETWORK + 8 { NETWORK + 3 } else { offset }
}

fn is_single(mask: u32) -> bool {
    mask.is_power_of_two()
}

/// Turns a test of one bit round: the other value, the branches exchanged.
fn flip(test: &mut Test) {
    test.value ^= test.mask;
    std::mem::swap(&mut test.yes, &mut test.no);
    test.short_yes = !test.short_yes;
}

/// Whether some word passes both tests.
fn is_compatible(a: &Test, b: &Test) -> bool {
    let both = a.mask & b.mask;
    a.mask == 0 || b.mask == 0 || (a.offset == b.offset && a.value & both == b.value & both)
}

/// Where packets go that are too short for two tests in one, if that is where both would have sent them. The tests
/// share their "no" branch, and the second follows where the first succeeds.
fn combined_short(first: &Test, second: &Test) -> Option<bool> {
    let (a, b) = (first.required_len(), second.required_len());
    match (first.short_yes, second.short_yes) {
        (false, false) => Some(false),
        (true, true) => (a == b).then_some(true),
        (false, true) => (b <= a).then_some(false),
        (true, false) => (a <= b).then_some(false),
    }
}

/// What is known on a path: the outcome of one test, and what was known before.
#[derive(Clone, Copy)]
struct Fact {
    test: usize,
    yes: bool,
    /// The fact before, plus one; 0 for none.
    parent: usize,
    /// The last fact before about the same word, plus one.
    same_word: usize,
    depth: usize,
    /// Bytes that each part of the packet has at least.
    known_len: [u32; PARTS],
}

/// Moves jumps over tests whose outcome is known.
struct Threader<'p> {
    tests: &'p mut [Test],
    facts: Vec<Fact>,
    /// For each test, the ends of the paths that lead to it: facts plus one, 0 for the empty path.
    paths: Vec<Vec<usize>>,
    effort: u64,
}

impl<'p> Threader<'p> {
    fn new(tests: &'p mut [Test]) -> Self {
        let mut paths = vec![Vec::new(); tests.len()];
        if let Some(first) = paths.first_mut() {
            first.push(0);
        }
        Threader { tests, facts: Vec::new(), paths, effort: EFFORT }
    }

    /// Jumps lead forward, so when a test's turn comes all paths to it are known.
    fn run(&mut self) {
        for i in 0..self.tests.len() {
            let mut paths = std::mem::take(&mut self.paths[i]);
            if paths.len() > PATHS {
                let common = paths[1..].iter().fold(paths[0], |a, &b| self.common(a, b));
                paths = vec![common];
            }
            if paths.is_empty() || self.effort == 0 {
                continue; // never reached, or too much to go on: leave it as it is
            }
            self.branch(i, true, &paths);
            self.branch(i, false, &paths);
        }
    }

    /// Moves the jump of one branch of test `i` as far as it goes, and hands its target the paths.
    fn branch(&mut self, i: usize, yes: bool, paths: &[usize]) {
        let mut ends = Vec::with_capacity(paths.len());
        for &path in paths {
            if self.outcome(path, i) != Some(!yes) {
                ends.push(self.extend(path, i, yes));
            }
        }
        if ends.is_empty() {
            return; // no packet comes this way
        }
        let target = self.advance(self.tests[i].jump(yes), &ends);
        *self.tests[i].jump_mut(yes) = target;
        if let Jump::Step(to) = target {
            self.paths[to].extend(ends);
        }
    }

    /// The last place, from `start` on, to which all paths are bound to come.
    fn advance(&mut self, start: Jump, paths: &[usize]) -> Jump {
        let mut common = start;
        let mut at = vec![start; paths.len()];
        loop {
            let steps = at.iter().filter_map(|jump| if let Jump::Step(to) = jump { Some(*to) } else { None });
            let Some(lowest) = steps.min() else { break };
            for (jump, &path) in at.iter_mut().zip(paths) {
                if *jump == Jump::Step(lowest) {
                    match self.outcome(path, lowest) {
                        Some(yes) => *jump = self.tests[lowest].jump(yes),
                        None => return common,
                    }
                }
            }
            if at.iter().all(|jump| *jump == at[0]) {
                common = at[0];
            }
        }
        common
    }

    /// Adds the outcome of a test to a path.
    fn extend(&mut self, path: usize, test: usize, yes: bool) -> usize {
        let (depth, mut known_len) = match path.checked_sub(1) {
            Some(last) => (self.facts[last].depth + 1, self.facts[last].known_len),
            None => (1, [0; PARTS]),
        };
        let same_word = self.about(path, self.tests[test].offset);
        let t = &self.tests[test];
        if t.mask != 0 && yes != t.short_yes {
            let (part, required) = part_of(t.required_len());
            known_len[part] = known_len[part].max(required as u32);
        }
        self.facts.push(Fact { test, yes, parent: path, same_word, depth, known_len });
        self.facts.len()
    }

    /// The last fact of a path about a word, plus one; 0 for none.
    fn about(&mut self, mut path: usize, offset: usize) -> usize {
        while let Some(last) = path.checked_sub(1) {
            self.effort = self.effort.saturating_sub(1);
            if self.tests[self.facts[last].test].offset == offset {
                break;
            }
            path = self.facts[last].parent;
        }
        path
    }

    /// The outcome of a test at the end of a path, if the path determines it.
    fn outcome(&mut self, path: usize, test: usize) -> Option<bool> {
        let t = self.tests[test];
        if t.mask == 0 {
            return Some(true);
        }
        let known_len = self.facts[path.checked_sub(1)?].known_len[part_of(t.offset).0] as usize;
        let mut fact = self.about(path, t.offset);
        while let Some(last) = fact.checked_sub(1) {
            if self.effort == 0 {
                return None;
            }
            self.effort -= 1;
            let Fact { test, yes, same_word, .. } = self.facts[last];
            let outcome = implied(&self.tests[test], yes, &t, known_len);
            if outcome.is_some() {
                return outcome;
            }
            fact = same_word;
        }
        None
    }

    /// What two paths have in common at their beginning.
    fn common(&mut self, mut a: usize, mut b: usize) -> usize {
        while a != b {
            let depth = |path: usize, facts: &[Fact]| path.checked_sub(1).map_or(0, |last| facts[last].depth);
            self.effort = self.effort.saturating_sub(1);
            if depth(a, &self.facts) >= depth(b, &self.facts) {
                a = self.facts[a - 1].parent; // not the empty path: that would be the shallower one, or equal
            } else {
                b = self.facts[b - 1].parent;
            }
        }
        a
    }
}

/// What the outcome of test `known` says about test `t` of the same word, for packets that have at least `known_len`
/// bytes in that part.
fn implied(known: &Test, yes: bool, t: &Test, known_len: usize) -> Option<bool> {
    let both = known.mask & t.mask;
    let outcome = if yes {
        (both == t.mask).then_some(known.value & both == t.value)?
    } else if both == known.mask && t.value & both == known.value {
        false // what passes `t` would have passed `known`
    } else {
        // The one bit does not have the one value: it has the other.
        (is_single(known.mask) && known.mask == t.mask).then_some(true)?
    };
    let ((_, needs), (_, t_needs)) = (part_of(known.required_len()), part_of(t.required_len()));
    // Packets too short for `known` may have come the same way: then they have to be too short for `t` too, and go there.
    let short = known.short_yes != yes || needs <= known_len;
    let short = short || (needs <= t_needs && t.short_yes == outcome);
    // Those long enough for `known` may be too short for `t`.
    let long = t_needs <= needs.max(known_len) || t.short_yes == outcome;
    (short && long).then_some(outcome)
}
