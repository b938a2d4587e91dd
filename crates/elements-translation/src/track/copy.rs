//! Connections as entries, for a copy of the table at another node that goes on with them.
//!
//! An entry is a connection's key and its state. What is known of TCP's numbers changes with every segment and does not go along, so
//! that another node goes on with a TCP connection as with one that is older than what is known of it.
//!
//! Connections are confirmed once they are assured.

use super::conn_track::Shared;
use super::record::Record;
use super::sight::Key;
use super::state::Progress;
use super::table::{Entered, Table};
use elements_shared::state_port::{Adopted, Entry, Overrun, StatePort};
use rcu::Turn;
use router::Cx;
use std::sync::atomic::{Ordering::SeqCst, fence};
use wire::ip_proto;

/// Changes that wait to be told, at most.
pub(super) const NOTES: usize = 32_768;

/// Bytes of a key: both addresses, the ports, and the kind.
const KEY: usize = 40;

/// What has changed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// The connection in this record is new, or has another state.
    Put(u32),
    /// The connection with this key is gone.
    Gone(Key),
}

fn key_bytes(key: Key) -> [u8; KEY] {
    let mut bytes = [0; KEY];
    bytes[..16].copy_from_slice(&key.low.to_be_bytes());
    bytes[16..32].copy_from_slice(&key.high.to_be_bytes());
    bytes[32..36].copy_from_slice(&key.ports.to_be_bytes());
    bytes[36..].copy_from_slice(&key.kind.to_be_bytes());
    bytes
}

/// Whether packets can have a key.
pub(super) fn is_possible(key: Key) -> bool {
    let is_ordered = (key.low, key.ports >> 16) <= (key.high, key.ports & 0xffff);
    let fits = match key.version() {
        4 => key.high <= u128::from(u32::MAX),
        6 => true,
        _ => false,
    };
    // Only of ICMP there are kinds of questions.
    let is_question = matches!(key.protocol(), ip_proto::ICMP | ip_proto::ICMPV6);
    is_ordered && fits && (is_question || key.kind >> 16 == 0)
}

/// The key in bytes that any node may have written: one that packets can have.
fn key_of(bytes: &[u8]) -> Option<Key> {
    let (low, rest) = bytes.split_first_chunk()?;
    let (high, rest) = rest.split_first_chunk()?;
    let (ports, rest) = rest.split_first_chunk()?;
    let ports = u32::from_be_bytes(*ports);
    let key = Key {
        low: u128::from_be_bytes(*low),
        high: u128::from_be_bytes(*high),
        ports,
        kind: u32::from_be_bytes(rest.try_into().ok()?),
    };
    is_possible(key).then_some(key)
}

impl Table {
    /// Begins or ends to note changes. False if that is done already.
    fn watch(&self, is_wanted: bool) -> bool {
        let is_free = !(is_wanted && self.notes.is_wanted());
        if is_free {
            self.notes.want(is_wanted);
        }
        is_free
    }

    /// The connection in a record, if it is there and is one of those that are told.
    fn told(&self, number: u32, is_told: impl Fn(&Record) -> bool) -> Option<(Key, &Record)> {
        let (_, record) = self.record(number).filter(|(_, record)| is_told(record))?;
        // Its end looks after that whether it was confirmed.
        fence(SeqCst);
        Some((record.key()?, record))
    }

    /// Tells of a connection, unless its time is over.
    fn tell_of(&self, key: Key, record: &Record, now_ms: u64, tell: &mut dyn FnMut(Entry<'_>)) {
        if !self.is_over(record, now_ms) {
            let value = record.progress().bits().to_be_bytes();
            tell(Entry::Put { key: &key_bytes(key), value: &value });
        }
    }

    /// See [`StatePort::changes`].
    fn changes_in(
        &self,
        turn: Turn<'_>,
        now_ms: u64,
        most: usize,
        tell: &mut dyn FnMut(Entry<'_>),
    ) -> Result<bool, Overrun> {
        let is_told = |record: &Record| self.notes.is_wide() || record.progress().is_assured();
        // What is true now is told. One that has come again and is not confirmed is not what was told.
        self.notes.take(most, |change| match change {
            Change::Put(number) => {
                if let Some((key, record)) = self.told(number, is_told) {
                    self.tell_of(key, record, now_ms, tell);
                }
            }
            Change::Gone(key) => match self.find_key(turn, key).filter(|record| is_told(record)) {
                Some(record) => self.tell_of(key, record, now_ms, tell),
                None => tell(Entry::Gone { key: &key_bytes(key) }),
            },
        })?;
        Ok(!self.notes.is_empty())
    }

    /// See [`StatePort::scan`].
    fn scan_in(
        &self,
        _turn: Turn<'_>,
        now_ms: u64,
        is_confirmed: bool,
        (from, most): (u32, usize),
        tell: &mut dyn FnMut(Entry<'_>),
    ) -> Option<u32> {
        let to = self.used().min(from.saturating_add(u32::try_from(most).unwrap_or(u32::MAX)));
        let is_told = |record: &Record| record.progress().is_assured() == is_confirmed;
        for (key, record) in (from..to).filter_map(|number| self.told(number, is_told)) {
            self.tell_of(key, record, now_ms, tell);
        }
        (to < self.used()).then_some(to)
    }

    /// Takes an entry of another node. A connection that is known here stays as it is.
    fn adopt_entry(&self, turn: Turn<'_>, worker: usize, now_ms: u64, key: &[u8], value: &[u8]) -> Adopted {
        let bits = value.try_into().ok().map(u32::from_be_bytes);
        let told = key_of(key).and_then(|key| Some((key, Progress::told(bits?, key.protocol())?)));
        let Some((key, progress)) = told else { return Adopted::Refused };
        self.remove_past(turn, key, now_ms);
        match self.restore(turn, worker, key, progress.moved(), [now_ms; 2], |_| ()) {
            Some(Entered::Made) => Adopted::Taken,
            Some(Entered::Refused | Entered::OverQuota) => Adopted::Refused,
            Some(Entered::Known) | None => Adopted::Known,
        }
    }

    /// See [`StatePort::adopt`].
    fn adopt_in(
        &self,
        turn: Turn<'_>,
        worker: usize,
        now_ms: u64,
        entries: &mut dyn Iterator<Item = (&[u8], &[u8])>,
        became: &mut dyn FnMut(Adopted),
    ) {
        entries.for_each(|(key, value)| became(self.adopt_entry(turn, worker, now_ms, key, value)));
    }
}

fn now_ms(cx: &Cx<'_>) -> u64 {
    super::conn_track::now_ms(cx)
}

impl StatePort for Shared {
    fn watch(&self, is_wanted: bool) -> Result<(), String> {
        let is_done = self.table().watch(is_wanted);
        if is_done { Ok(()) } else { Err("its connections are watched already".to_owned()) }
    }

    fn widen(&self) {
        self.table().notes.widen();
    }

    fn changes(&self, cx: &Cx<'_>, most: usize, tell: &mut dyn FnMut(Entry<'_>)) -> Result<bool, Overrun> {
        self.table().changes_in(cx.turn(), now_ms(cx), most, tell)
    }

    fn scan(
        &self,
        cx: &Cx<'_>,
        is_confirmed: bool,
        from: u32,
        most: usize,
        tell: &mut dyn FnMut(Entry<'_>),
    ) -> Option<u32> {
        self.table().scan_in(cx.turn(), now_ms(cx), is_confirmed, (from, most), tell)
    }

    fn adopt(
        &self,
        cx: &Cx<'_>,
        now_ms: u64,
        entries: &mut dyn Iterator<Item = (&[u8], &[u8])>,
        became: &mut dyn FnMut(Adopted),
    ) {
        self.table().adopt_in(cx.turn(), cx.worker(), now_ms, entries, became);
    }
}

#[cfg(test)]
mod tests;
