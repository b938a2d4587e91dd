//! A rewriter's flows as entries, for a copy of its table at another node that goes on with them.
//!
//! Flows are confirmed by the first packet after the one that made them, of either direction.

use super::changes::Change;
use super::deltas::Deltas;
use super::editor::Editor;
use super::left::{halves, pair, read_id, write_id};
use super::nat::{Kind, Nat};
use super::record::{FORWARD, Flow, NewFlow};
use super::rewriter::now_ms;
use crate::end::End;
use elements_shared::flow_id::{FlowId, Key};
use elements_shared::state_port::{Adopted, Entry, MOST_BYTES, Overrun, StatePort};
use rcu::Turn;
use router::{BadState, Cx, Descriptors, StateReader, StateWriter};
use std::sync::atomic::{Ordering::SeqCst, fence};

/// Bytes of a key: the place of the map among the rewriter's, and the forward flow identifier.
const KEY: usize = 13;

/// A flow that another node has told of.
struct Told {
    new: NewFlow,
    flags: u16,
    deltas: Option<Deltas>,
}

impl Nat {
    fn key_bytes(&self, key: Key) -> Option<[u8; KEY]> {
        let map = self.maps().position(|map| map == key.map())?;
        let mut bytes = [map as u8; KEY];
        bytes[1..9].copy_from_slice(&key.addresses().to_be_bytes());
        bytes[9..].copy_from_slice(&key.ports().to_be_bytes());
        Some(bytes)
    }

    fn key_of(&self, bytes: &[u8]) -> Option<Key> {
        let &[map, a0, a1, a2, a3, a4, a5, a6, a7, p0, p1, p2, p3] = bytes else { return None };
        let map = self.maps().nth(map.into())?;
        let addresses = u64::from_be_bytes([a0, a1, a2, a3, a4, a5, a6, a7]);
        Some(Key::new(map, FlowId::from_words(addresses, u32::from_be_bytes([p0, p1, p2, p3]))))
    }

    /// Whether a flow's time is over, though it is still there.
    fn is_over(&self, flow: &Flow, now_ms: u64) -> bool {
        let Some(map) = flow.map() else { return true };
        let policy = self.policy(map);
        let stays_ms = policy.timeout_ms(flow.flags()).max(policy.guarantee_ms);
        flow.last_ms().saturating_add(stays_ms) <= now_ms
    }

    /// Tells of a flow that is there, unless its time is over.
    fn tell(&self, turn: Turn<'_>, flow: &Flow, now_ms: u64, tell: &mut dyn FnMut(Entry<'_>)) {
        if self.is_over(flow, now_ms) {
            return;
        }
        let new = flow.describe();
        let Some(key) = self.key_bytes(Key::new(new.map, new.id)) else { return };
        let mut out = StateWriter::default();
        write_id(&mut out, new.rewritten);
        out.u32(pair(new.outputs[0], new.outputs[1]));
        out.u32(pair(new.ip_change, new.transport_change));
        out.u32(pair(new.input, u16::from_be_bytes([new.protocol, new.reply_anno])));
        out.u32(flow.flags().into());
        let deltas = flow.deltas(turn);
        out.u32(deltas.is_some().into());
        deltas.into_iter().for_each(|deltas| deltas.write(&mut out));
        let (value, _) = out.into_parts();
        if value.len() + KEY <= MOST_BYTES {
            tell(Entry::Put { key: &key, value: &value });
        }
    }

    fn told(&self, key: Key, value: &[u8]) -> Result<Told, BadState> {
        let mut state = StateReader::new(value.into(), Descriptors::default());
        let rewritten = read_id(&mut state)?;
        let (outputs, changes) = (halves(state.u32()?), halves(state.u32()?));
        let (input, rest) = halves(state.u32()?);
        let flags = state.u32()? as u16;
        let deltas = if state.u32()? == 0 { None } else { Some(Deltas::read(&mut state)?) };
        let [protocol, reply_anno] = rest.to_be_bytes();
        let new = NewFlow {
            map: key.map(),
            protocol,
            id: key.id(),
            rewritten,
            outputs: [outputs.0, outputs.1],
            input,
            ip_change: changes.0,
            transport_change: changes.1,
            reply_anno,
            mapped: false,
        };
        Ok(Told { new, flags, deltas })
    }

    /// Removes the flow with a key if it is over, or is a TCP connection that has ended where `goes_on` says that another one has not: it would
    /// hide a flow that goes on.
    fn remove_past(&self, editor: &mut Editor<'_>, key: Key, now_ms: u64, goes_on: bool) {
        let Some(found) = editor.find(key) else { return };
        let has_ended = goes_on && self.policy(key.map()).has_ended(found.flow.flags());
        if has_ended || self.is_over(found.flow, now_ms) {
            editor.end(found.record, End::Replaced);
        }
    }

    /// Takes an entry of another node. A flow that is here already and not over stays, and no port that it has is given away.
    fn adopt_entry(&self, editor: &mut Editor<'_>, now_ms: u64, key: &[u8], value: &[u8]) -> Adopted {
        let told = self.key_of(key).and_then(|key| self.told(key, value).ok());
        let Some(Told { mut new, flags, deltas }) = told else { return Adopted::Refused };
        let fits = usize::from(new.input) < self.inputs().len()
            && new.outputs.iter().all(|&output| self.has_output(output))
            && (self.protocol(new.map) == 0 || self.protocol(new.map) == new.protocol);
        if !fits {
            return Adopted::Refused;
        }
        self.take_in(editor, &mut new, (flags, deltas), now_ms, now_ms)
    }

    /// Adds a flow that goes on here, whose input and outputs exist. One that is here already and not over stays.
    pub(super) fn take_in(
        &self,
        editor: &mut Editor<'_>,
        new: &mut NewFlow,
        (flags, deltas): (u16, Option<Deltas>),
        last_ms: u64,
        now_ms: u64,
    ) -> Adopted {
        let [forward, reply] = new.keys();
        let goes_on = !self.policy(new.map).has_ended(flags);
        [forward, reply].into_iter().for_each(|key| self.remove_past(editor, key, now_ms, goes_on));
        match editor.find(forward) {
            Some(found) if found.direction == FORWARD && found.rewritten() == new.rewritten => Adopted::Known,
            Some(_) => Adopted::Contended,
            None if editor.find(reply).is_some() => Adopted::Contended,
            None if self.resume(editor, new, (flags, deltas), last_ms, now_ms) => Adopted::Taken,
            None => Adopted::Refused,
        }
    }
}

/// Whether a flow is there and is one of those that are told.
fn is_told(flow: &Flow, is_told: impl Fn(&Flow) -> bool) -> bool {
    let is_told = is_told(flow);
    // Its end looks after that whether it was confirmed.
    fence(SeqCst);
    is_told && flow.map().is_some() && !flow.is_mapping()
}

impl Nat {
    /// See [`StatePort::changes`].
    fn changes_in(
        &self,
        turn: Turn<'_>,
        now_ms: u64,
        most: usize,
        tell: &mut dyn FnMut(Entry<'_>),
    ) -> Result<bool, Overrun> {
        let Some(set) = self.set() else { return Ok(false) };
        let mut list = Vec::new();
        let more = set.take_changes(most, &mut list)?;
        let told = |flow: &&Flow| is_told(flow, |flow| set.tells_all() || flow.is_confirmed());
        for change in list {
            // What is true now is told. One that has come again and is not confirmed is not what was told.
            match change {
                Change::Put(record) => {
                    if let Some(flow) = set.flow(record * 2).filter(told) {
                        self.tell(turn, flow, now_ms, tell);
                    }
                }
                Change::Gone(key) => {
                    let found = set.find(turn, key).filter(|found| found.flow.key(FORWARD) == key);
                    match (found.map(|found| found.flow).filter(told), self.key_bytes(key)) {
                        (Some(flow), _) => self.tell(turn, flow, now_ms, tell),
                        (None, Some(key)) => tell(Entry::Gone { key: &key }),
                        (None, None) => {}
                    }
                }
            }
        }
        Ok(more)
    }

    /// See [`StatePort::scan`].
    fn scan_in(
        &self,
        turn: Turn<'_>,
        now_ms: u64,
        is_confirmed: bool,
        (from, most): (u32, usize),
        tell: &mut dyn FnMut(Entry<'_>),
    ) -> Option<u32> {
        let set = self.set()?;
        let mut record = from;
        for _ in 0..most {
            let flow = set.flow(record * 2)?;
            if is_told(flow, |flow| flow.is_confirmed() == is_confirmed) {
                self.tell(turn, flow, now_ms, tell);
            }
            record += 1;
        }
        Some(record)
    }

    /// See [`StatePort::adopt`].
    fn adopt_in(
        &self,
        turn: Turn<'_>,
        now_ms: u64,
        entries: &mut dyn Iterator<Item = (&[u8], &[u8])>,
        became: &mut dyn FnMut(Adopted),
    ) {
        let Some(set) = self.set() else { return entries.for_each(|_| became(Adopted::Refused)) };
        let mut editor = set.edit(turn);
        entries.for_each(|(key, value)| became(self.adopt_entry(&mut editor, now_ms, key, value)));
    }
}

impl StatePort for Nat {
    fn watch(&self, is_wanted: bool) -> Result<(), String> {
        let set = self.set().ok_or("it has no table yet")?;
        let is_own = self.kind != Kind::Six && !self.shares_table();
        match is_own && set.want_changes(is_wanted) {
            true => Ok(()),
            false => Err("its flows are watched already, or are in a table that it shares".to_owned()),
        }
    }

    fn widen(&self) {
        self.set().into_iter().for_each(|set| set.widen_changes());
    }

    fn changes(&self, cx: &Cx<'_>, most: usize, tell: &mut dyn FnMut(Entry<'_>)) -> Result<bool, Overrun> {
        self.changes_in(cx.turn(), now_ms(cx), most, tell)
    }

    fn scan(
        &self,
        cx: &Cx<'_>,
        is_confirmed: bool,
        from: u32,
        most: usize,
        tell: &mut dyn FnMut(Entry<'_>),
    ) -> Option<u32> {
        self.scan_in(cx.turn(), now_ms(cx), is_confirmed, (from, most), tell)
    }

    fn adopt(
        &self,
        cx: &Cx<'_>,
        now_ms: u64,
        entries: &mut dyn Iterator<Item = (&[u8], &[u8])>,
        became: &mut dyn FnMut(Adopted),
    ) {
        self.adopt_in(cx.turn(), now_ms, entries, became);
    }
}

#[cfg(test)]
mod tests;
