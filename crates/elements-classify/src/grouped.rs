//! Programs as Click shows those of its IP classifiers: alternatives of one word side by side.

use super::program::{Jump, Program, Test};

/// As many alternatives as this are put into order, because Click searches among them by halving.
const ORDERED_MIN: usize = 7;

impl Program {
    /// The same program; tests of one word that are tried one after the other, and lead to the same place, follow one another.
    pub(super) fn grouped(&self) -> Program {
        let groups = self.groups();
        let mut place = vec![0; self.tests.len()];
        let mut start = 0;
        for group in &groups {
            place[group[0]] = start;
            start += group.len();
        }
        let moved = |jump: Jump| match jump {
            Jump::Step(to) => Jump::Step(place[to]),
            elsewhere => elsewhere,
        };
        let mut tests = Vec::with_capacity(self.tests.len());
        for group in groups {
            let (first, last) = (self.tests[group[0]], self.tests[group[group.len() - 1]]);
            let mut values: Vec<u32> = group.iter().map(|&at| self.tests[at].value).collect();
            if values.len() >= ORDERED_MIN {
                values.sort_by_key(|value| value.swap_bytes()); // as the numbers that a little-endian machine reads
            }
            let end = tests.len() + values.len();
            for value in values {
                let next = tests.len() + 1;
                let no = if next < end { Jump::Step(next) } else { moved(last.no) };
                tests.push(Test { value, yes: moved(first.yes), no, ..first });
            }
        }
        Program { tests, otherwise: self.otherwise }
    }

    /// Tests that are shown together, by index, the one that jumps lead to first.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut entries = vec![0; self.tests.len()];
        for test in &self.tests {
            for jump in [test.no, test.yes] {
                if let Jump::Step(to) = jump {
                    entries[to] += 1;
                }
            }
        }
        let mut groups = Vec::new();
        let mut grouped = vec![false; self.tests.len()];
        for (first, test) in self.tests.iter().enumerate() {
            if grouped[first] {
                continue;
            }
            let mut group = vec![first];
            let mut no = test.no;
            while let Jump::Step(next) = no
                && entries[next] == 1
                && is_alternative(test, &self.tests[next])
            {
                group.push(next);
                grouped[next] = true;
                no = self.tests[next].no;
            }
            groups.push(group);
        }
        groups
    }
}

/// Whether two tests differ in nothing but the value, and in what follows if it is another.
fn is_alternative(a: &Test, b: &Test) -> bool {
    a.yes == b.yes && a.offset == b.offset && a.mask == b.mask
}
