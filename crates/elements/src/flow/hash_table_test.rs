//! Self-test: the flow table.
//!
//! ```click
//! HashTableTest
//! ```
//!
//! When the router starts, this tests the hash table in which flow managers keep flows: that a flow is found again
//! and is never confused with another, even in a full table; that the table accepts as many flows as it has room for;
//! and that flows expire when they should, and make room for others. It prints `All tests pass!`, or the router does
//! not start.
//!
//! Ports: none. Workers: worker 0.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! HashTableTest
//! ```
//!
//! # See also
//! FlowIPManager

use super::table::Table;
use crate::basic::trial::{Trial, element};
use crate::rewrite::flow_id::{FlowId, Key};
use router::{Class, Config, ConfigError, Cx, Element, Residency};
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class = Class::new("HashTableTest", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(include_str!("hash_table_test.rs"));

const S: i64 = 1_000_000_000;
/// Flows of the large table.
const MANY: u32 = 5000;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    element(config, tests)
}

fn tests(trial: &mut Trial, cx: &mut Cx<'_>) {
    let seed = cx.rng().u64(..);
    small(trial, seed);
    likes(trial, seed);
    large(trial, seed);
    ends(trial, seed);
}

/// A flow of its own for each number.
fn key(number: u32) -> Key {
    let source = Ipv4Addr::from_bits(0x0a00_0000 + number / 7);
    Key::new(6, FlowId::new(source, (number % 7) as u16, Ipv4Addr::new(10, 9, 0, 1), 80))
}

fn small(trial: &mut Trial, seed: u64) {
    let mut table = Table::new(3, 0, seed);
    trial.same("an empty table", table.len(), 0);
    let first = table.enter(key(1), 0);
    trial.holds("a flow is new", first.is_some_and(|(_, _, new)| new));
    let again = table.enter(key(1), 1);
    trial.same("it is found again", again, first.map(|(at, generation, _)| (at, generation, false)));
    table.enter(key(2), 2);
    table.enter(key(3), 3);
    trial.same("a full table", table.len(), 3);
    trial.same("no flow enters a full table", table.enter(key(4), 4), None);
    trial.same("one that is there does", table.enter(key(1), 5), again);
    trial.holds(
        "without a time flows never end",
        !table.expire(i64::MAX / 2, 9, |_, _| ()) && table.len() == 3,
    );
}

/// Flows that are nearly the same are others.
fn likes(trial: &mut Trial, seed: u64) {
    let [a, b] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
    let mut table = Table::new(16, 0, seed);
    for (map, id) in [
        (6, FlowId::new(a, 1, b, 2)),
        (17, FlowId::new(a, 1, b, 2)),
        (6, FlowId::new(b, 1, a, 2)),
        (6, FlowId::new(a, 2, b, 1)),
        (6, FlowId::new(b, 2, a, 1)),
        (6, FlowId::new(a, 1, a, 2)),
    ] {
        let entered = table.enter(Key::new(map, id), 0);
        trial.holds("a flow like another one is new", entered.is_some_and(|(_, _, new)| new));
    }
    trial.same("all are there", table.len(), 6);
}

fn large(trial: &mut Trial, seed: u64) {
    let mut table = Table::new(MANY as usize, 0, seed);
    let places: Vec<_> = (0..MANY).map(|number| table.enter(key(number), 0)).collect();
    let mut used: Vec<u32> = places.iter().flatten().map(|(at, _, _)| *at).collect();
    used.sort_unstable();
    trial.holds("each of many flows has a place of its own", used.iter().copied().eq(0..MANY));
    let found = |(number, place): (u32, &Option<(u32, u32, bool)>)| {
        place.is_some_and(|(at, generation, _)| table.enter(key(number), 1) == Some((at, generation, false)))
    };
    trial.holds("each is found again", (0..MANY).zip(&places).all(found));
    trial.same("and no more", table.enter(key(MANY), 2), None);
}

fn ends(trial: &mut Trial, seed: u64) {
    let mut table = Table::new(4, 10, seed);
    let place = table.enter(key(1), 0).map(|(at, generation, _)| (at, generation));
    // A place is of another generation as soon as it is free.
    let over_place = place.map(|(at, generation)| (at, generation + 1));
    table.enter(key(2), 5 * S);
    let over = |table: &mut Table, second: i64| {
        let mut all = Vec::new();
        while table.expire(second * S, 1, |at, generation| all.push((at, generation))) {}
        all
    };
    trial.same("no flow ends before its time", over(&mut table, 9).len(), 0);
    trial.same("a flow ends after its time", over(&mut table, 12), over_place.into_iter().collect());
    trial.same("the other one stays", table.len(), 1);
    table.enter(key(2), 14 * S);
    trial.same("a flow with packets goes on", over(&mut table, 20).len(), 0);
    let next = table.enter(key(3), 20 * S);
    trial.holds("a new flow takes the place", next.map(|(at, _, _)| at) == place.map(|(at, _)| at));
    trial.holds(
        "and is another one",
        next.map(|(_, generation, _)| generation) != place.map(|(_, generation)| generation),
    );
    trial.same("at last all end", over(&mut table, 100).len(), 2);
    trial.same("the table is empty", table.len(), 0);
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    #[test]
    fn passes() {
        assert_eq!(run("HashTableTest; Script(stop)"), "All tests pass!\n");
    }
}
