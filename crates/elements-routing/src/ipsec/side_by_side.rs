//! Large tables, walked for all packets of a batch at the same time.
//!
//! What a packet needs of them is found by loads of which each needs the one before, and no cache has them. So each step is made for all packets before
//! the next one, and asks for what that reads: a batch waits about as long as a packet would (as `lpm` does it for routes).

use super::associations::Sa;
use super::policies::Rule;
use packet::{BATCH_MAX, prefetch, prefetch_all};
use rcu::{Chains, Turn};
use std::hash::{BuildHasher, Hash};

/// With more policies or associations than this, packets of a batch are looked up side by side. Fewer are in the second cache, all with their keys.
pub(super) const MANY: usize = 256;
/// How many packets ahead a key is asked for: they are too long to have those of a batch in the first cache.
pub(super) const AHEAD: usize = 2;

/// The values of a batch's keys; `key` makes the one of each packet, if it has any. What `get` says of each.
#[inline]
pub(super) fn get_all<'t, K, V, S>(
    table: &'t Chains<K, V, S>,
    count: usize,
    key: impl Fn(usize) -> Option<K>,
    turn: Turn<'t>,
) -> [Option<&'t V>; BATCH_MAX]
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Send + Sync + 'static,
    S: BuildHasher,
{
    let mut chains = [None; BATCH_MAX];
    for (at, place) in chains.iter_mut().enumerate().take(count) {
        *place = key(at).map(|key| table.chain(&key)).inspect(|chain| prefetch(*chain));
    }
    for chain in chains.iter().flatten() {
        if let Some(first) = chain.iter(turn).next() {
            prefetch_all(first);
        }
    }
    let mut found = [None; BATCH_MAX];
    for ((at, place), chain) in found.iter_mut().enumerate().zip(chains) {
        if let Some(chain) = chain
            && let Some(key) = key(at)
        {
            *place = chain.iter(turn).find(|(other, _)| *other == key).map(|(_, value)| value);
        }
    }
    found
}

/// Asks for the associations that packets leave by which these rules are for.
pub(super) fn ask_for_current(rules: &[Option<&Rule>], turn: Turn<'_>) {
    let slots = || rules.iter().flatten().filter_map(|rule| rule.slot.as_deref());
    slots().for_each(|slot| prefetch(&slot.current));
    let entries = || slots().filter_map(|slot| slot.current.read(turn));
    entries().for_each(prefetch);
    entries().for_each(|entry| entry.0.prefetch());
    entries().for_each(|entry| entry.0.prefetch_live());
}

/// Asks for what packets need that have come by these associations with these lower halves of numbers.
pub(super) fn ask_for_windows<'t>(came: impl Iterator<Item = (&'t Sa, u32)> + Clone) {
    came.clone().for_each(|(sa, _)| sa.prefetch());
    came.clone().for_each(|(sa, _)| {
        sa.prefetch_live();
        prefetch(&*sa.replay);
    });
    came.for_each(|(sa, low)| sa.replay.prefetch(low));
}
