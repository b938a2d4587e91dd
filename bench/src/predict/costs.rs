//! What each class costs by itself, from stages in which others take part.
//!
//! A stage of `tests/stages.txt` may need other elements beside the one that it is for, and packets may meet that more than once: those of IPsec leave by
//! one side and come back by the other. So what a stage costs is a sum over classes, each as often as packets meet it, and the classes' own costs are those
//! that make all sums right.
//!
//! Where two classes need each other in their stages, as Queue and Unqueue do, no sum tells them apart: the one that comes first in the list keeps what both cost
//! there, and the other has what its own stage takes beyond that.

use super::{Case, Meeting, meet};
use crate::classes::{Row, pair};
use router::Classes;
use std::collections::BTreeMap;

/// Packets of a run in which they are only counted.
const COUNTED: u64 = 1_000;
/// Rounds in which costs are made to fit. Most stages have one class; those that need others need few.
const ROUNDS: usize = 50;

/// A class's row, and how often a packet meets what is in its stage.
pub(super) struct Stage<'r> {
    pub(super) row: &'r Row,
    times: BTreeMap<&'static str, f64>,
}

impl<'r> Stage<'r> {
    /// Of a row: counts its packets, with the stage and without.
    fn of(row: &'r Row, classes: &Classes) -> Result<Stage<'r>, String> {
        let (with, without) = pair(row, COUNTED)?;
        let mut times = counts(row, with, classes)?;
        for (class, count) in without.map_or(Ok(BTreeMap::new()), |without| counts(row, without, classes))? {
            *times.entry(class).or_default() -= count;
        }
        let elements = row.times as f64;
        times.values_mut().for_each(|count| *count /= COUNTED as f64 * elements);
        times.retain(|_, count| *count > 0.01);
        Ok(Stage { row, times })
    }
}

/// How many packets classes are handed in a configuration.
fn counts(row: &Row, config: String, classes: &Classes) -> Result<BTreeMap<&'static str, f64>, String> {
    let case = Case { name: row.class.to_owned(), config, parameters: Vec::new() };
    let mut counts = BTreeMap::new();
    for (_, class, handed) in meet(&case, classes)?.elements {
        *counts.entry(class).or_default() += handed;
    }
    Ok(counts)
}

/// The stages of the classes that packets meet, and of those that these need.
pub(super) fn stages<'r>(
    rows: &'r [Row],
    met: &[Meeting],
    classes: &Classes,
) -> Result<Vec<Stage<'r>>, String> {
    let mut wanted: Vec<&str> =
        met.iter().flat_map(|met| met.elements.iter().map(|(_, class, _)| *class)).collect();
    let mut found: Vec<Stage<'r>> = Vec::new();
    while let Some(class) = wanted.pop() {
        let row = rows.iter().find(|row| row.class == class);
        let Some(row) = row.filter(|_| found.iter().all(|stage| stage.row.class != class)) else { continue };
        let stage = Stage::of(row, classes)?;
        wanted.extend(stage.times.keys());
        found.push(stage);
    }
    found.sort_by_key(|stage| rows.iter().position(|row| row.class == stage.row.class));
    Ok(found)
}

/// Whether a stage keeps the cost of another class in it: one that stands behind it in the list and needs this one in its own stage.
fn keeps(stages: &[Stage<'_>], at: usize, other: &str) -> bool {
    let class = stages[at].row.class;
    stages[at..].iter().any(|stage| stage.row.class == other && stage.times.contains_key(class))
}

/// What each class costs by itself, from what its stage costs for each of its elements.
pub(super) fn own(stages: &[Stage<'_>], costs: &[f64]) -> BTreeMap<&'static str, f64> {
    let mut own: BTreeMap<&'static str, f64> = stages.iter().map(|stage| (stage.row.class, 0.0)).collect();
    for _ in 0..ROUNDS {
        for (at, (stage, cost)) in stages.iter().zip(costs).enumerate() {
            let class = stage.row.class;
            let is_other = |other: &str| other != class && !keeps(stages, at, other);
            let others = stage.times.iter().filter(|(other, _)| is_other(other));
            let others: f64 =
                others.map(|(other, times)| times * own.get(other).copied().unwrap_or(0.0)).sum();
            // A class that is met by no packet, but does something all the same, has all that is left.
            let times = stage.times.get(class).copied().unwrap_or(1.0);
            own.insert(class, ((cost - others) / times).max(0.0));
        }
    }
    own.insert("Discard", 0.0); // a source's figure has it
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::rows;

    /// One class by itself; one whose stage needs the first; one that packets meet twice.
    #[test]
    fn others_and_repetitions_are_taken_away() {
        let rows = rows().expect("stages");
        let stage = |at: usize, times: &[(&'static str, f64)]| Stage {
            row: &rows[at],
            times: times.iter().copied().collect(),
        };
        let [a, b, c] = [0, 1, 2].map(|at| rows[at].class);
        let stages =
            [stage(1, &[(b, 1.0), (a, 2.0)]), stage(0, &[(a, 1.0)]), stage(2, &[(c, 2.0), (b, 0.5)])];
        let own = own(&stages, &[50.0, 10.0, 115.0]);
        assert_eq!([a, b, c].map(|class| own[class]), [10.0, 30.0, 50.0]);
    }

    /// Catches a Queue that costs nothing because its Unqueue is said to cost all.
    #[test]
    fn of_two_that_need_each_other_the_first_keeps_what_both_cost() {
        let rows = rows().expect("stages");
        let [a, b] = [0, 1].map(|at| rows[at].class);
        let stage = |at: usize| Stage { row: &rows[at], times: [(a, 1.0), (b, 1.0)].into() };
        let own = own(&[stage(0), stage(1)], &[4.0, 7.0]);
        assert_eq!([own[a], own[b]], [4.0, 3.0]);
    }

    /// IPsec's packets leave by one side of it and come back by the other, and a connection is confirmed behind what found it.
    #[test]
    fn stages_say_what_packets_meet() {
        let (rows, classes) = (rows().expect("stages"), elements::classes());
        let of = |class: &str| rows.iter().find(|row| row.class == class).expect("a row");
        let ipsec = Stage::of(of("IPsec"), &classes).expect("it runs");
        assert_eq!(ipsec.times.get("IPsec"), Some(&2.0));
        let confirm = Stage::of(of("ConnTrackConfirm"), &classes).expect("it runs");
        assert_eq!(confirm.times.get("ConnTrack"), Some(&1.0));
    }
}
