//! Large tables, walked for all packets of a batch at the same time.
//!
//! What a packet needs of them is found by loads of which each needs the one before, and no cache has them. So each step is made for all packets before
//! the next one, and asks for what that reads: a batch waits about as long as a packet would (as `lpm` does it for routes).

use super::associations::{Entry, Sa};
use super::policies::Hit;
use packet::{BATCH_MAX, prefetch, prefetch_all};
use rcu::{Chains, Iter, Turn};
use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

/// With more policies or associations than this, packets of a batch are looked up side by side. Fewer are in the second cache, all with their keys.
pub(super) const MANY: usize = 256;
/// How many packets ahead a key is asked for: they are too long to have those of a batch in the first cache.
pub(super) const AHEAD: usize = 2;

/// The pairs of a table that have a batch's keys; `key` makes the one of each packet, if it has any.
#[inline]
pub(super) fn get_all<'t, K, V, S, Q>(
    table: &'t Chains<K, V, S>,
    count: usize,
    key: impl Fn(usize) -> Option<Q>,
    turn: Turn<'t>,
) -> [Option<&'t (K, V)>; BATCH_MAX]
where
    K: Borrow<Q> + Hash + Eq + Send + Sync + 'static,
    V: Send + Sync + 'static,
    Q: Hash + Eq,
    S: BuildHasher,
{
    let mut chains = [None; BATCH_MAX];
    for (at, place) in chains.iter_mut().enumerate().take(count) {
        *place = key(at).map(|key| table.chain(&key)).inspect(|chain| prefetch(*chain));
    }
    let mut walks: [Option<Iter<'_, (K, V)>>; BATCH_MAX] = [const { None }; BATCH_MAX];
    let mut found = [None; BATCH_MAX];
    let places = || chains.iter().take(count).enumerate();
    for (at, chain) in places() {
        let mut walk = chain.map(|chain| chain.iter(turn));
        found[at] = walk.as_mut().and_then(Iterator::next).inspect(|first| prefetch_all(*first));
        walks[at] = walk;
    }
    // Few chains are longer, but a packet that waits for the next pair of such a chain alone waits as long as a batch.
    let mut is_left = true;
    while is_left {
        is_left = false;
        for (at, _) in places() {
            let (Some(pair), Some(rest)) = (found[at], &mut walks[at]) else { continue };
            if key(at).is_some_and(|key| *pair.0.borrow() == key) {
                walks[at] = None;
                continue;
            }
            found[at] = rest.next().inspect(|next| prefetch_all(*next));
            is_left |= found[at].is_some();
        }
    }
    found
}

/// Asks for the associations that packets leave by which these policies are for.
pub(super) fn ask_for_current(hits: &[Option<Hit<'_>>], turn: Turn<'_>) {
    let slots = || hits.iter().flatten().filter_map(|hit| hit.slot());
    slots().for_each(|slot| prefetch(&slot.current));
    let entries = || slots().filter_map(|slot| slot.current.read(turn));
    entries().for_each(prefetch);
    entries().for_each(Entry::prefetch);
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
