//! Decision programs: tests of 32-bit words, each leading forward.

use super::expr::PART;
use super::pattern::{Clause, Pattern};
use std::fmt;

/// The part of the packet that an offset belongs to, and the offset there.
#[inline]
pub(super) fn part_of(offset: usize) -> (usize, usize) {
    (offset / PART, offset % PART)
}

/// The offset as it is printed: as in Click, parts lie 256 bytes apart, and the first is not special.
fn printed(offset: usize) -> usize {
    let (part, offset) = part_of(offset);
    part.saturating_sub(1) * 256 + offset
}

/// Where a test leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Jump {
    /// To a later test.
    Step(usize),
    /// The packet leaves here.
    Output(usize),
    /// No pattern matches.
    Drop,
}

/// Whether some bits of a word of the packet have certain values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Test {
    /// Where the word is: a multiple of 4. Different parts of the packet, if a program looks at several, are
    /// [`PART`] apart.
    pub(super) offset: usize,
    /// The bits, the packet's first byte most significant.
    pub(super) mask: u32,
    /// Their values.
    pub(super) value: u32,
    /// Where packets go that have them.
    pub(super) yes: Jump,
    /// Where packets go that do not.
    pub(super) no: Jump,
    /// Whether packets too short to tell go where `yes` leads, instead of where `no` leads.
    pub(super) short_yes: bool,
}

impl Test {
    /// Bytes that a packet must have for the test to be made.
    pub(super) fn required_len(&self) -> usize {
        match self.mask {
            0 => 0,
            mask => self.offset + 4 - mask.trailing_zeros() as usize / 8,
        }
    }

    /// The jump of one branch.
    pub(super) fn jump(&self, yes: bool) -> Jump {
        if yes { self.yes } else { self.no }
    }

    /// The jump of one branch, to be changed.
    pub(super) fn jump_mut(&mut self, yes: bool) -> &mut Jump {
        if yes { &mut self.yes } else { &mut self.no }
    }

    /// Where packets go that are too short. A test of no bits is made without looking.
    pub(super) fn short(&self) -> Jump {
        self.jump(self.short_yes || self.mask == 0)
    }
}

/// A decision program. It starts with the first test; without any, all packets go to `otherwise`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// The tests. Jumps lead to later ones only.
    pub(super) tests: Vec<Test>,
    /// Where all packets go if there are no tests.
    pub(super) otherwise: Jump,
}

impl Program {
    /// The program that tries the patterns one after the other; the output is the number of the first that matches.
    pub(super) fn new(patterns: &[Pattern]) -> Program {
        let mut program = Program { tests: Vec::new(), otherwise: Jump::Drop };
        for (output, pattern) in patterns.iter().enumerate() {
            let start = program.tests.len();
            let length = pattern.clauses.iter().map(words).sum::<usize>().max(1);
            let fail = if output + 1 < patterns.len() { Jump::Step(start + length) } else { Jump::Drop };
            program.add(pattern, Jump::Output(output), fail);
        }
        program
    }

    fn add(&mut self, pattern: &Pattern, success: Jump, fail: Jump) {
        if pattern.clauses.is_empty() {
            let always = Test { offset: 0, mask: 0, value: 0, yes: success, no: fail, short_yes: false };
            return self.tests.push(always);
        }
        let last = pattern.clauses.len() - 1;
        for (i, clause) in pattern.clauses.iter().enumerate() {
            let end = self.tests.len() + words(clause);
            let holds = if i == last { success } else { Jump::Step(end) };
            self.add_clause(clause, holds, fail);
        }
    }

    /// Adds a clause; where it holds packets go to `holds`, else to `fails`.
    fn add_clause(&mut self, clause: &Clause, holds: Jump, fails: Jump) {
        let (all, not_all) = if clause.negated { (fails, holds) } else { (holds, fails) };
        let first = clause.offset / 4;
        let last = first + words(clause) - 1;
        for word in first..=last {
            let (mut mask, mut value) = (0, 0);
            for at in word * 4..word * 4 + 4 {
                let byte = at.checked_sub(clause.offset).and_then(|i| clause.bytes.get(i));
                mask = mask << 8 | byte.map_or(0, |byte| u32::from(byte.mask));
                value = value << 8 | byte.map_or(0, |byte| u32::from(byte.value));
            }
            let yes = if word == last { all } else { Jump::Step(self.tests.len() + 1) };
            self.tests.push(Test { offset: word * 4, mask, value, yes, no: not_all, short_yes: false });
        }
    }

    /// The length from which on no test meets the end of the packet.
    pub(super) fn safe_len(&self) -> usize {
        self.tests.iter().map(|test| printed(test.required_len())).max().unwrap_or(0)
    }

    /// The same program with other outputs in the place of its own, and one, which may be
    /// [`NOWHERE`](super::compiled::NOWHERE), for packets that match nothing.
    pub(super) fn with_outputs(&self, output: impl Fn(usize) -> usize, otherwise: usize) -> Program {
        let other = |jump: Jump| match jump {
            Jump::Step(_) => jump,
            Jump::Output(own) => Jump::Output(output(own)),
            Jump::Drop => Jump::Output(otherwise),
        };
        let tests = self.tests.iter().map(|test| Test { yes: other(test.yes), no: other(test.no), ..*test });
        Program { tests: tests.collect(), otherwise: other(self.otherwise) }
    }

    /// Which of `outputs` outputs get packets.
    pub(super) fn used(&self, outputs: usize) -> Vec<bool> {
        let mut used = vec![false; outputs];
        let mut mark = |jump: Jump| {
            if let Jump::Output(output) = jump
                && let Some(used) = used.get_mut(output)
            {
                *used = true;
            }
        };
        match self.tests.as_slice() {
            [] => mark(self.otherwise),
            tests => tests.iter().for_each(|test| {
                mark(test.yes);
                mark(test.no);
            }),
        }
        used
    }
}

/// Words that a clause touches.
fn words(clause: &Clause) -> usize {
    (clause.offset + clause.bytes.len()).div_ceil(4) - clause.offset / 4
}

impl fmt::Display for Jump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Jump::Step(step) => write!(f, "step {step}"),
            Jump::Output(output) => write!(f, "[{output}]"),
            Jump::Drop => f.write_str("[X]"),
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Test { offset, mask, value, yes, no, .. } = self;
        let offset = printed(*offset);
        write!(f, "{offset:3}/{value:08x}%{mask:08x}  yes->{yes}  no->{no}")?;
        f.write_str(if self.short_yes { "  short->yes" } else { "" })
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, test) in self.tests.iter().enumerate() {
            writeln!(f, "{i:2} {test}")?;
        }
        match self.otherwise {
            _ if !self.tests.is_empty() => {}
            // As Click has it, which prints a number that is no output.
            Jump::Drop => writeln!(f, "all->[{}]", i32::MAX)?,
            jump => writeln!(f, "all->{jump}")?,
        }
        writeln!(f, "safe length {}\nalignment offset 0", self.safe_len())
    }
}
