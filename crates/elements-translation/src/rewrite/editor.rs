//! The editor, which changes the table of flows as a whole, with all lanes in hand.
//!
//! See [`super::flow_set`].

use super::changes::Change;
use super::counts::InputCounts;
use super::deltas::Deltas;
use super::exhausted::{self, Exhausted};
use super::expiry::{BEST_EFFORT, GUARANTEED};
use super::flow_events::{Ends, Event, Listener, Log, What};
use super::flow_set::{FlowMatch, FlowSet};
use super::index::Entries as _;
use super::lane::{BESIDE, Lane, Owner, listed};
use super::policy::Policy;
use super::record::{FORWARD, Flow, MAPPINGS, NewFlow, Node, REPLY, flag};
use super::sync::{LANES, MutexGuard};
use crate::end::End;
use elements_shared::flow_id::Key;
use rcu::Turn;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::fence;

/// The right to change a table: there is one at a time.
pub(super) struct Editor<'s> {
    pub(super) set: &'s FlowSet,
    pub(super) turn: Turn<'s>,
    /// The lane of flows that are added.
    pub(super) at: usize,
    pub(super) exhausted: MutexGuard<'s, Exhausted>,
    pub(super) lanes: [MutexGuard<'s, Lane>; LANES],
}

impl<'s> Editor<'s> {
    /// Says whose flows a map holds.
    pub(super) fn register(&mut self, map: u32, policy: Policy, inputs: Arc<[InputCounts]>) {
        for lane in &mut self.lanes {
            let owners = &mut lane.owners;
            owners.resize(owners.len().max(map as usize + 1), None);
            owners[map as usize] = Some(Owner { policy, inputs: inputs.clone(), ends: None, listener: None });
        }
    }

    /// Says who the numbers stand for that a registered map's flows have for addresses.
    pub(super) fn name(&mut self, map: u32, ends: &Arc<dyn Ends>) {
        for lane in &mut self.lanes {
            if let Some(Some(owner)) = lane.owners.get_mut(map as usize) {
                owner.ends = Some(ends.clone());
            }
        }
    }

    /// Says who hears of a registered map's flows.
    pub(super) fn listen(&mut self, map: u32, listener: &Arc<Listener>) {
        for lane in &mut self.lanes {
            if let Some(Some(owner)) = lane.owners.get_mut(map as usize) {
                owner.listener = Some(listener.clone());
            }
        }
    }

    /// See [`FlowSet::find`]; the answer holds as long as the editor does.
    pub(super) fn find(&self, key: Key) -> Option<FlowMatch<'s>> {
        self.set.find(self.turn, key)
    }

    /// Adds a flow that was used last at `last_ms`. Its forward key must not be in the table; a flow that has its reply
    /// key is removed. `None` if there is no room: the flow that would have to go first is the new one, or records are
    /// short. The flow's owner counts it.
    pub(super) fn insert(&mut self, new: &NewFlow, last_ms: u64, now_ms: u64) -> Option<FlowMatch<'s>> {
        if let Some(old) = self.find(new.keys()[1]) {
            self.end(old.record, End::Replaced);
        }
        let (record, flow, _) = self.allocate()?;
        flow.fill(new, last_ms);
        if !self.publish(record, flow) {
            flow.bury();
            self.lanes[self.at].removed.push(record);
            return None;
        }
        self.set.crowds.note(self.turn, new.map, new.rewritten);
        self.recall();
        self.count(flow, 1);
        if !flow.is_mapping() {
            self.set.quota.take(|| self.lanes[self.at].source_of(flow));
        }
        self.replace(record);
        let capacity = i64::from(self.set.capacity());
        if self.set.size() as i64 > capacity {
            self.shift(now_ms, usize::MAX);
            let victim = self.evict(now_ms).unwrap_or(record);
            if victim == record {
                flow.change_flags(flag::MAPPED, 0); // who adds it has counted it
            }
            if victim == record {
                self.take_out(record);
                return None;
            }
            self.lanes[self.at].log.set_now(now_ms);
            self.end(victim, End::Evicted);
        } else {
            let slab = &self.set.slab;
            self.lanes[self.at].shift(slab, now_ms, BESIDE);
        }
        self.note(record, flow);
        Some(FlowMatch { flow, record, direction: FORWARD })
    }

    /// See [`Lane::note`].
    pub(super) fn note(&mut self, record: u32, flow: &Flow) {
        self.lanes[flow.lane()].note(record, flow);
    }

    /// Removes a flow because a user says so.
    pub(super) fn remove(&mut self, record: u32) {
        self.end(record, End::Killed);
    }

    /// Removes a flow.
    pub(super) fn end(&mut self, record: u32, end: End) {
        let Some(flow) = self.set.slab.get(record).filter(|flow| flow.map().is_some()) else { return };
        let lane = &self.lanes[flow.lane()];
        lane.count_end(flow, end);
        lane.publish(end.name(), || flow.describe(), flow.map().unwrap_or(MAPPINGS));
        self.lanes[flow.lane()].tell(false, || flow.describe());
        self.take_out(record);
    }

    /// Removes a flow that nothing is told of.
    fn take_out(&mut self, record: u32) {
        let Some(flow) = self.set.slab.get(record) else { return };
        if flow.map().is_none() {
            return;
        }
        let mapped = flow.flags() & flag::MAPPED != 0;
        let (gone, key, is_mapping) = (flow.describe(), flow.key(FORWARD), flow.is_mapping());
        if let Some(map) = flow.map() {
            // A port is taken by who gives it to packets, and by who expects replies to it.
            for id in [flow.rewritten(FORWARD), flow.id(FORWARD).reversed()] {
                self.exhausted.forget(map, id);
                self.set.crowds.forget(self.turn, map, id);
            }
        }
        self.unlist(record);
        self.count(flow, -1);
        if !is_mapping {
            self.set.quota.give(|| self.lanes[flow.lane()].source_of(flow));
        }
        flow.bury();
        let lane = &mut *self.lanes[flow.lane()];
        if !is_mapping {
            // A look at everything may just have seen that the flow is confirmed, and not yet that it is gone.
            fence(SeqCst);
            lane.changes.add(flow.is_confirmed(), Change::Gone(key));
        }
        lane.expiry.remove(&self.set.slab, record);
        lane.removed.push(record);
        if mapped {
            self.release(&gone, usize::MAX);
        }
    }

    /// A flow that is to be added counts for `most` of its mappings, which are made if need be. Otherwise nothing is counted: for no
    /// room `None`, and false if its endpoint, or what that is outside, belongs to another mapping.
    pub(super) fn hold(&mut self, new: &NewFlow, most: usize, now_ms: u64) -> Option<bool> {
        for (held, mapping) in new.mappings().take(most).enumerate() {
            let [forward, reply] = mapping.keys();
            let found = match self.find(forward) {
                Some(found) if found.rewritten() == mapping.rewritten => Ok(found),
                Some(_) => Err(Some(false)),
                None if self.find(reply).is_some() => Err(Some(false)),
                None => self.insert(&mapping, now_ms, now_ms).ok_or(None),
            };
            match found {
                Ok(found) => found.flow.hold(),
                Err(why) => {
                    self.release(new, held);
                    return why;
                }
            }
        }
        Some(true)
    }

    /// A flow counts no more for the first `most` of its mappings. Those without flows go.
    pub(super) fn release(&mut self, flow: &NewFlow, most: usize) {
        for mapping in flow.mappings().take(most) {
            if let Some(found) = self.find(mapping.keys()[FORWARD])
                && found.flow.release()
            {
                self.remove(found.record);
            }
        }
    }

    /// Notes that nothing is left of what a map's flows take numbers from.
    pub(super) fn exhausted(&mut self, map: u32, domain: exhausted::Domain) {
        self.exhausted.add(map, domain);
    }

    /// Tells that a flow of a protocol, or of any, found nothing left at that time.
    pub(super) fn tell_exhausted(&mut self, domain: exhausted::Domain, protocol: u8, now_ms: u64) {
        let (what, first) = match domain.id.saddr {
            0 => (What::NoAddresses, domain.range.0),
            address => (What::NoPorts, address),
        };
        let translated = [(first.into(), 0), (domain.id.destination(), domain.id.dport)];
        self.log(now_ms).add_shortage(|| Event { protocol, translated, ..Event::new(what) });
    }

    /// Tells that a worker's flow was made, or that there was no room for it.
    pub(super) fn tell_entered(&mut self, new: &NewFlow, is_made: bool, now_ms: u64) {
        let capacity = self.set.capacity().max(0) as u32;
        let log = self.log(now_ms);
        if !is_made {
            return log.add_shortage(|| Event { protocol: new.protocol, ..Event::new(What::Full(capacity)) });
        }
        self.lanes[self.at].count_made(new);
        self.lanes[self.at].publish("new", || *new, new.map);
        self.lanes[self.at].tell(true, || *new);
    }

    /// Tells that a flow of the configuration before has ended.
    pub(super) fn tell_ended(&mut self, gone: &NewFlow, now_ms: u64) {
        self.log(now_ms);
        self.lanes[self.at].tell(false, || *gone);
    }

    /// Tells nothing for a while, or does so again.
    pub(super) fn pause_events(&mut self, is_paused: bool) {
        self.lanes.iter_mut().for_each(|lane| lane.log.pause(is_paused));
    }

    /// The log of the lane that flows are added to.
    fn log(&mut self, now_ms: u64) -> &mut Log {
        let log = &mut self.lanes[self.at].log;
        log.set_now(now_ms);
        log
    }

    /// Removes all flows that a map's input has made.
    pub(super) fn remove_input(&mut self, map: u32, input: usize) {
        for record in 0..self.set.next.0.load(Relaxed) {
            let flow = self.set.slab.get(record);
            if flow.is_some_and(|flow| flow.map() == Some(map) && flow.input() == input) {
                self.remove(record);
            }
        }
    }

    /// Removes all flows, of all owners.
    pub(super) fn clear(&mut self) {
        for record in 0..self.set.next.0.load(Relaxed) {
            // Mappings go with their flows: a worker may be about to add one.
            if self.set.slab.get(record).is_some_and(|flow| !flow.is_mapping()) {
                self.remove(record);
            }
        }
    }

    /// Removes flows whose time is over, and others while there are too many, and then what is known of ranges that are crowded no more.
    /// Looks at `most` flows, and says whether there may be more to do.
    pub(super) fn shrink(&mut self, now_ms: u64, most: usize) -> bool {
        self.lanes.iter_mut().for_each(|lane| lane.log.set_now(now_ms));
        self.recall();
        // One thing after the other: who has to go shows only when all are where they belong.
        if self.shift(now_ms, most) || self.expire(now_ms, most) {
            return true;
        }
        let mut removed = 0;
        while removed < most && self.set.size() as i64 > i64::from(self.set.capacity()).max(0) {
            let Some(record) = self.evict(now_ms).or_else(|| self.first_guaranteed()) else { break };
            self.end(record, End::Evicted);
            removed += 1;
        }
        // What is known of ranges whose flows are gone would cost each new flow something.
        removed == most || self.set.crowds.sweep_some(&mut self.exhausted.adder, self.turn)
    }

    /// Removes flows whose time is over: looks at `most` of them. Whether there may be more.
    fn expire(&mut self, now_ms: u64, most: usize) -> bool {
        let mut looks = 0;
        while let Some((at, record)) = self.due(now_ms) {
            if looks == most {
                return true;
            }
            looks += 1;
            if self.settled(at, record, now_ms) {
                self.end(record, End::Expired);
            }
        }
        false
    }

    /// Something has made a flow's time shorter: puts it in its place.
    pub(super) fn replace(&mut self, record: u32) {
        if let Some(flow) = self.set.slab.get(record).filter(|flow| flow.map().is_some()) {
            self.lanes[flow.lane()].place(&self.set.slab, record, flow);
        }
    }

    /// From the sequence number `from` on, packets of a flow's direction count `change` bytes more.
    pub(super) fn add_delta(&mut self, found: &FlowMatch<'_>, from: u32, change: i32) -> bool {
        let flow = found.flow;
        let mut deltas = flow.deltas(self.turn).cloned().unwrap_or_default();
        let done = deltas.add(found.direction, from, change) && self.set_deltas(flow, deltas);
        self.note(found.record, flow);
        done
    }

    /// Gives a flow these changes of sequence numbers.
    pub(super) fn set_deltas(&mut self, flow: &Flow, deltas: Deltas) -> bool {
        let done = flow.deltas.replace(Some(Box::new(deltas)), &self.lanes[0].updater).is_ok();
        if done {
            flow.change_flags(0, flag::DELTAS);
        }
        done
    }

    /// A record that no reader knows. If the lane has none, another lane's.
    fn allocate(&mut self) -> Option<(u32, &'s Flow, &'s Node)> {
        let found = self.lanes[self.at].allocate(self.set);
        if found.is_some() {
            return found;
        }
        self.lanes.iter_mut().for_each(|lane| lane.recycle());
        let record = self.lanes.iter_mut().find_map(|lane| lane.free.pop())?;
        self.lanes[self.at].free.push(record);
        self.lanes[self.at].allocate(self.set)
    }

    /// Lists a record in the index under both its keys.
    fn publish(&mut self, record: u32, flow: &Flow) -> bool {
        let (set, turn) = (self.set, self.turn);
        let keys = [FORWARD, REPLY].map(|direction| flow.key(direction));
        let (hashes, entries) = (keys.map(|key| set.hash(key)), listed(keys, record));
        let updater = &self.lanes[0].updater;
        set.index.change(turn, updater, hashes, set, |held| held.insert(entries)).is_some()
    }

    fn unlist(&mut self, record: u32) {
        for entry in [record * 2, record * 2 + 1] {
            self.set.index.remove(self.turn, self.set.hash_of(entry), entry);
        }
    }

    fn count(&mut self, flow: &Flow, by: i32) {
        self.set.room.0.add(by);
        self.lanes[flow.lane()].count(self.set, flow, by);
    }

    /// Takes back what room lanes have left, if there is no other.
    fn recall(&mut self) {
        let lanes = self.lanes.iter_mut().map(|lane| &mut lane.room);
        self.set.room.0.recall(self.set.capacity(), lanes);
    }

    /// The first flow of a queue, of all lanes: its time and its record.
    fn first(&mut self, queue: usize) -> Option<(u64, u32)> {
        let slab = &self.set.slab;
        self.lanes.iter_mut().filter_map(|lane| lane.expiry.first(slab, queue)).min()
    }

    /// The first of those that may be removed, if its time has come.
    fn due(&mut self, now_ms: u64) -> Option<(u64, u32)> {
        let slab = &self.set.slab;
        self.lanes.iter_mut().filter_map(|lane| lane.expiry.due(slab, BEST_EFFORT, now_ms)).min()
    }

    /// The lane that a record belongs to.
    fn lane_of(&mut self, record: u32) -> &mut Lane {
        let lane = self.set.slab.get(record).map_or(self.at, |flow| flow.lane());
        &mut self.lanes[lane]
    }

    /// Moves flows whose guarantee has ended to the other queue: looks at `most` of them. Whether there may be more.
    fn shift(&mut self, now_ms: u64, most: usize) -> bool {
        let slab = &self.set.slab;
        let mut left = most;
        self.lanes.iter_mut().for_each(|lane| left -= lane.shift(slab, now_ms, left));
        left == 0
    }

    /// Whether the first flow of the best-effort queue is in its place there; moves it if not.
    fn settled(&mut self, at: u64, record: u32, now_ms: u64) -> bool {
        let slab = &self.set.slab;
        self.lane_of(record).settled(slab, at, record, now_ms)
    }

    /// The flow that has to go first to make room.
    fn evict(&mut self, now_ms: u64) -> Option<u32> {
        loop {
            let (at, record) = self.first(BEST_EFFORT)?;
            if self.settled(at, record, now_ms) {
                return Some(record);
            }
        }
    }

    /// The flow whose guarantee ends first.
    fn first_guaranteed(&mut self) -> Option<u32> {
        let slab = &self.set.slab;
        loop {
            let (at, record) = self.first(GUARANTEED)?;
            let lane = self.lane_of(record);
            let guaranteed_ms = slab.get(record).map_or(at, |flow| lane.times(flow).0);
            if guaranteed_ms <= at {
                return Some(record);
            }
            lane.expiry.set(slab, record, GUARANTEED, guaranteed_ms);
        }
    }
}
