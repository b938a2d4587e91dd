//! Packets that confirm their flows: a look-up and what it notes in one.

use super::Table;
use crate::index::{NOTHING, PERHAPS};
use crate::key::Key;
use crate::records::{CONFIRMED, LIVE, MARK, PAIR, Record, Slot};
use crate::time::Instant;

/// What the index says of a hash. It may be out of date, or belong to another key: [`Table::meet_guessed`] finds out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guess(u32);

impl Guess {
    /// No guess: a look-up searches.
    pub const NONE: Guess = Guess(PERHAPS);

    /// Whether it names a record at all.
    #[inline]
    pub fn is_some(self) -> bool {
        self.0 < PERHAPS
    }
}

/// Where a flow was found, for its next packet.
impl From<Slot> for Guess {
    #[inline]
    fn from(slot: Slot) -> Guess {
        Guess(slot.0)
    }
}

/// A flow that has a packet now.
#[derive(Debug, PartialEq, Eq)]
pub struct Met<'t, V> {
    /// Where it is.
    pub slot: Slot,
    /// Its state.
    pub state: u8,
    /// Its value.
    pub value: &'t mut V,
}

impl<K: Key, V: Default, const KEYS: usize> Table<K, V, KEYS> {
    /// Notes that a flow has a packet now, and confirms it: for tables in which a second packet is enough. Its value.
    #[inline]
    pub fn meet(&mut self, slot: Slot, now_ns: i64) -> Option<&mut V> {
        if !self.live(slot)?.is(CONFIRMED) {
            self.confirm(slot, now_ns);
        }
        let record = self.live_mut(slot)?;
        record.seen = Instant::from_ns(now_ns).mark();
        Some(&mut record.value)
    }

    /// Asks for the record that a hash most likely belongs to, and says which one that is; of use some time after
    /// [`Table::prefetch`].
    #[inline]
    pub fn guessed(&self, hash: u64) -> Guess {
        Guess(self.guess(hash))
    }

    /// The value of a confirmed flow that was guessed and whose time is not over, which has a packet now. It reads the record alone. `None`
    /// says nothing of the key: [`Table::find`] does. The table may have changed since the guess.
    #[inline]
    pub fn meet_alive(&mut self, guess: Guess, key: &K, now_ns: i64) -> Option<&mut V> {
        let name = guess.0;
        if !self.is_confirmed_name(name, key) || self.is_over(Slot(name), now_ns) {
            return None;
        }
        let record = self.records.get_mut(name & !MARK)?;
        record.seen = Instant::from_ns(now_ns).mark();
        self.stats.hits += 1;
        Some(&mut record.value)
    }

    /// Asks for the record that was guessed.
    #[inline]
    pub fn prefetch_guessed(&self, guess: Guess) {
        self.prefetch_record(guess.0);
    }

    /// Whether a guess is right, and the flow confirmed.
    #[inline]
    pub fn is_known(&self, guess: Guess, key: &K) -> bool {
        self.is_confirmed_name(guess.0, key)
    }

    /// A confirmed flow that was guessed, which has a packet now, whether its time is over or not. It reads the record alone. `None` says
    /// nothing of the key: [`Table::find`] does. The table may have changed since the guess.
    #[inline]
    pub fn meet_known(&mut self, guess: Guess, key: &K, now_ns: i64) -> Option<Met<'_, V>> {
        let name = guess.0;
        let record = self.records.get_mut(name & !MARK).filter(|record| is_confirmed(record, name, key))?;
        record.seen = Instant::from_ns(now_ns).mark();
        self.stats.hits += 1;
        Some(Met { slot: Slot(name), state: record.state, value: &mut record.value })
    }

    /// [`Table::find`] for a hash that was guessed when so many records had been made ([`Stats::inserted`](crate::Stats::inserted)): where nothing
    /// was there then, and none was made since, it does not search again.
    #[inline]
    pub fn find_guessed(&mut self, guess: Guess, made: u64, hash: u64, key: &K) -> Option<Slot> {
        if guess.0 == NOTHING && made == self.stats.inserted {
            self.stats.misses += 1;
            return None;
        }
        self.find(hash, key)
    }

    /// [`Table::find`] and [`Table::meet`] in one. For a confirmed flow that was guessed it reads the record alone. The table may
    /// have changed since the guess.
    #[inline]
    pub fn meet_guessed(&mut self, guess: Guess, hash: u64, key: &K, now_ns: i64) -> Option<Met<'_, V>> {
        if !self.is_confirmed_name(guess.0, key) {
            return self.meet_searched(hash, key, now_ns);
        }
        self.meet_known(guess, key, now_ns)
    }

    /// Whether a name leads to a key of a confirmed flow that is there.
    #[inline]
    fn is_confirmed_name(&self, name: u32, key: &K) -> bool {
        self.records.get(name & !MARK).is_some_and(|record| is_confirmed(record, name, key))
    }

    #[inline(never)]
    fn meet_searched(&mut self, hash: u64, key: &K, now_ns: i64) -> Option<Met<'_, V>> {
        let slot = self.find(hash, key)?;
        self.meet(slot, now_ns)?;
        self.live_mut(slot).map(|record| Met { slot, state: record.state, value: &mut record.value })
    }
}

/// Whether a name of a record stands for a key of a confirmed flow that is there. A place keeps the keys of a flow that is gone, and the second
/// key of a record counts only if it has two.
#[inline]
fn is_confirmed<K: Key, V, const KEYS: usize>(record: &Record<K, V, KEYS>, name: u32, key: &K) -> bool {
    let flags = LIVE | CONFIRMED | if name & MARK != 0 { PAIR } else { 0 };
    record.is(flags) && record.key(name).is_some_and(|known| known == key)
}
