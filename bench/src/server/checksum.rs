//! How fast the Internet checksum is (RFC 1071), as UDP and TCP have it over their data, beside how fast memory is read: one core.

use super::run::Effort;
use crate::rcu::{Bound, Spread};
use serde_json::{Value, json};
use std::hint::black_box;
use std::time::Instant;

/// Octets of a long packet's data.
const DATA: usize = 1_450;

/// Rows of octets a nanosecond: checksums in the caches and from memory, and memory alone.
pub(super) fn figures(effort: &Effort) -> Vec<Value> {
    let _bound = Bound::to(0);
    let array = vec![0x5au8; effort.memory.max(DATA)];
    let mut rates = [const { Vec::new() }; 3];
    for _ in 0..effort.rounds {
        rates[0].push(rate(&array, || again(&array[..DATA], array.len() / DATA)));
        rates[1].push(rate(&array, || sums(&array)));
        rates[2].push(rate(&array, || read(&array)));
    }
    ["1,450 octets in the caches", "1,450 octets from memory", "none: memory is read"]
        .into_iter()
        .zip(&rates)
        .map(|(name, rates)| json!({ "name": format!("checksum: {name}"), "octets_a_ns": Spread::of(rates) }))
        .collect()
}

/// Octets a nanosecond of work on as many octets as the array has.
fn rate(array: &[u8], work: impl FnOnce() -> u64) -> f64 {
    let begin = Instant::now();
    black_box(work());
    array.len() as f64 / begin.elapsed().as_nanos().max(1) as f64
}

fn again(data: &[u8], times: usize) -> u64 {
    (0..times).map(|_| u64::from(wire::checksum::checksum(black_box(data)))).sum()
}

fn sums(array: &[u8]) -> u64 {
    array.chunks(DATA).map(|data| u64::from(wire::checksum::checksum(data))).sum()
}

fn read(array: &[u8]) -> u64 {
    let words = array.as_chunks::<8>().0.iter();
    words.fold(0, |sum: u64, word| sum.wrapping_add(u64::from_ne_bytes(*word)))
}
