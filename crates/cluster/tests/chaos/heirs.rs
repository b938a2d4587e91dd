//! What terminals remember of flows, and who goes on with it: a table for each, and a ledger of what must be where.
//!
//! The flows of a node's hosts are at the node that does its duty. Some of them are confirmed; they begin, change and end there. When that node dies,
//! what is older than a tenth of a second goes on at its successor, if that one has been told everything and is well.

use cluster::NodeId;
use cluster::membership::Key;
use cluster::succession::{Adoption, Held, Overrun, Settings, Succession, Tables, Tell};
use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet};

const MS: u64 = 1_000_000;
/// What a dead node's successor may not have: what is younger.
pub(super) const YOUNG: u64 = 100 * MS;
/// Flows of a node, at most.
const FLOWS: u16 = 1_024;
/// Places that are looked at at once: so few that much happens meanwhile, and so many that all are in a tenth of a second.
const PLACES: u32 = 512;
/// Changes that a table keeps: as many as it may take over at once, as the product's do.
const NOTES: usize = 2_048;

/// A flow: the node whose it is, and its number.
pub(super) type FlowId = (NodeId, u16);

fn bytes((owner, number): FlowId) -> [u8; 4] {
    let ([o0, o1], [n0, n1]) = (owner.to_be_bytes(), number.to_be_bytes());
    [o0, o1, n0, n1]
}

fn flow(key: &[u8]) -> Option<FlowId> {
    let [o0, o1, n0, n1] = *<&[u8; 4]>::try_from(key).ok()?;
    Some((u16::from_be_bytes([o0, o1]), u16::from_be_bytes([n0, n1])))
}

/// A flow in a table.
#[derive(Clone, Copy)]
struct Entry {
    value: u64,
    is_confirmed: bool,
    /// When it was put here or changed.
    since_ns: u64,
}

/// What a node's translator is to the succession.
#[derive(Default)]
struct Table {
    now_ns: u64,
    nodes: NodeId,
    flows: BTreeMap<FlowId, Entry>,
    notes: Vec<FlowId>,
    is_watched: bool,
    is_wide: bool,
    is_lost: bool,
}

impl Table {
    fn note(&mut self, id: FlowId, is_confirmed: bool) {
        if !self.is_watched || !is_confirmed && !self.is_wide {
            return;
        }
        if self.notes.len() < NOTES { self.notes.push(id) } else { self.is_lost = true }
    }

    fn put(&mut self, id: FlowId, value: u64, is_confirmed: bool) {
        self.flows.insert(id, Entry { value, is_confirmed, since_ns: self.now_ns });
        self.note(id, is_confirmed);
    }

    fn remove(&mut self, id: FlowId) {
        let is_confirmed = self.flows.remove(&id).is_some_and(|entry| entry.is_confirmed);
        self.note(id, is_confirmed);
    }
}

impl Tables for Table {
    fn watch(&mut self, is_wanted: bool) {
        (self.is_watched, self.is_wide, self.is_lost) = (is_wanted, false, false);
        self.notes.clear();
    }

    fn widen(&mut self) {
        self.is_wide = true;
    }

    fn changes(&mut self, _: usize, most: usize, tell: &mut Tell<'_>) -> Result<bool, Overrun> {
        if std::mem::take(&mut self.is_lost) {
            self.notes.clear();
            return Err(Overrun);
        }
        let some = self.notes.len().min(most);
        for id in self.notes.drain(..some) {
            let shown = self.flows.get(&id).filter(|entry| entry.is_confirmed || self.is_wide);
            tell(&bytes(id), shown.map(|entry| entry.value.to_be_bytes()).as_ref().map(|value| &value[..]));
        }
        Ok(!self.notes.is_empty())
    }

    fn scan(
        &mut self,
        _: usize,
        is_confirmed: bool,
        from: u32,
        _: usize,
        tell: &mut Tell<'_>,
    ) -> Option<u32> {
        for place in from..from + PLACES {
            let id = ((place / u32::from(FLOWS)) as NodeId, (place % u32::from(FLOWS)) as u16);
            let shown = self.flows.get(&id).filter(|entry| entry.is_confirmed == is_confirmed);
            shown.into_iter().for_each(|entry| tell(&bytes(id), Some(&entry.value.to_be_bytes())));
        }
        Some(from + PLACES).filter(|next| *next < u32::from(FLOWS) * u32::from(self.nodes))
    }

    fn adopt(&mut self, _: usize, entries: &[Held]) -> Adoption {
        let mut adoption = Adoption::default();
        for (key, value) in entries {
            let value = <&[u8; 8]>::try_from(&**value).map(|value| u64::from_be_bytes(*value));
            let (Some(id), Ok(value)) = (flow(key), value) else {
                adoption.refused += 1;
                continue;
            };
            // A flow that is here already goes on as it is.
            if !self.flows.contains_key(&id) {
                self.put(id, value, true);
            }
            adoption.taken += 1;
        }
        adoption
    }
}

/// A terminal's part in it.
pub(super) struct Heir {
    pub(super) succession: Succession,
    settings: Settings,
    table: Table,
}

fn key() -> Key {
    Key::new(b"secret")
}

impl Heir {
    /// Of one that begins now.
    pub(super) fn new(me: NodeId, nodes: NodeId, now_ns: u64) -> Heir {
        let settings = Settings { me, nodes, tables: vec!["flows".to_owned()], limit: 100_000 };
        let table = Table { nodes, now_ns, ..Table::default() };
        Heir { succession: Succession::new(settings.clone(), 1 + now_ns, key()), settings, table }
    }

    /// Goes on in another configuration, with its flows.
    pub(super) fn renew(&mut self) {
        assert!(self.succession.renew(&self.settings, &key()), "the same node");
    }

    /// The nodes whose duty it does.
    pub(super) fn duties(&self) -> Vec<NodeId> {
        self.succession.duties().into_iter().map(|(of, _)| of).collect()
    }

    /// Time passes: what is to be sent.
    pub(super) fn tick(
        &mut self,
        now_ns: u64,
        world: &cluster::succession::World<'_>,
    ) -> Vec<(NodeId, Vec<u8>)> {
        self.table.now_ns = now_ns;
        self.succession.tick(now_ns, world, &mut self.table)
    }
}

/// What is known of a flow.
#[derive(Default)]
struct Known {
    value: u64,
    /// It has changed while it moved, perhaps when the other node had it already.
    is_between: bool,
    /// When it began, if it did while others moved.
    moving_ns: Option<u64>,
    is_gone: bool,
    /// Nothing is expected of it any more.
    is_doubtful: bool,
}

/// What must be where.
#[derive(Default)]
pub(super) struct Ledger {
    flows: BTreeMap<FlowId, Known>,
    numbers: BTreeMap<NodeId, u16>,
    /// Until when the duty of a node moves, since the one that did it died.
    moving_until_ns: BTreeMap<NodeId, u64>,
    /// Nodes whose duty was done by one that died without an heir.
    orphans: BTreeSet<NodeId>,
    /// Flows of which something was expected at the end.
    pub(super) judged: u64,
}

/// How long a duty may take to move.
pub(super) const MOVES: u64 = 600 * MS;

impl Ledger {
    /// Flows begin, change and end at a node that does some duties. `moves`: perhaps they move just now. With `is_sole` false another one does them, too,
    /// and all that happens is doubtful.
    pub(super) fn traffic(
        &mut self,
        heir: &mut Heir,
        rng: &mut Rng,
        moves: bool,
        is_sole: &dyn Fn(NodeId) -> bool,
    ) {
        let now_ns = heir.table.now_ns;
        for owner in heir.duties() {
            if rng.bool() {
                let number = self.numbers.entry(owner).or_default();
                if *number < FLOWS {
                    let (id, value) = ((owner, *number), rng.u64(..));
                    *number += 1;
                    heir.table.put(id, value, rng.u8(..4) > 0);
                    self.flows.insert(id, Known { value, is_doubtful: !is_sole(owner), ..Known::default() });
                    self.flows.entry(id).and_modify(|known| known.moving_ns = moves.then_some(now_ns));
                }
            }
            let all: Vec<FlowId> =
                heir.table.flows.range((owner, 0)..(owner, FLOWS)).map(|(id, _)| *id).collect();
            let Some(&id) = all.get(rng.usize(..all.len().max(1))) else { continue };
            let Some(known) = self.flows.get_mut(&id) else { continue };
            known.is_doubtful |= !is_sole(owner);
            match rng.u8(..8) {
                0 => {
                    heir.table.remove(id);
                    known.is_gone = true;
                    // Those that end while they move may last at the other.
                    known.is_doubtful |= moves;
                }
                1..3 => {
                    (known.value, known.is_between) = (rng.u64(..), moves);
                    heir.table.put(id, known.value, true);
                }
                _ => {}
            }
        }
    }

    /// Another node dies or drains, perhaps the heir of one that has just died or is about to leave: then what that one is to take over just now may be
    /// lost, of a node that drains what began while the rest moved.
    pub(super) fn disturb(&mut self, now_ns: u64) {
        let Ledger { flows, moving_until_ns, .. } = self;
        for (id, known) in flows {
            let is_moving = moving_until_ns.get(&id.0).is_some_and(|until_ns| now_ns < *until_ns);
            known.is_doubtful |= is_moving || known.moving_ns.is_some_and(|at_ns| at_ns + MOVES > now_ns);
        }
    }

    /// A node dies. Its flows go on, if it `has_heir`, as far as they are older than `since_ns`.
    pub(super) fn dies(&mut self, now_ns: u64, heir: &Heir, has_heir: bool, since_ns: u64) {
        self.disturb(now_ns);
        let young_ns = since_ns.min(now_ns.saturating_sub(YOUNG));
        for owner in heir.duties() {
            self.moving_until_ns.insert(owner, now_ns + MOVES);
            if !has_heir {
                self.orphans.insert(owner);
            }
            for (id, known) in self.flows.range_mut((owner, 0)..(owner, FLOWS)) {
                let entry = heir.table.flows.get(id);
                let is_told = entry.is_some_and(|entry| entry.is_confirmed && entry.since_ns < young_ns);
                // An end is as young as any change, and leaves no time.
                known.is_doubtful |= !has_heir || !is_told;
            }
        }
    }

    /// Nodes that do well cannot reach each other: nothing is expected any more of what there is, but that no two do the same.
    pub(super) fn tear(&mut self, nodes: NodeId) {
        self.flows.values_mut().for_each(|known| known.is_doubtful = true);
        self.orphans.extend(0..nodes);
    }

    /// At the end: what is wrong with what nodes that take part do and have.
    pub(super) fn judge(&mut self, nodes: NodeId, heirs: &[&Heir]) -> Vec<String> {
        let mut wrong = Vec::new();
        for owner in 0..nodes {
            let actors: Vec<_> = heirs.iter().filter(|heir| heir.duties().contains(&owner)).collect();
            let is_well = actors.len() == 1 || actors.is_empty() && self.orphans.contains(&owner);
            if !is_well {
                let names: Vec<_> = actors.iter().map(|heir| heir.settings.me).collect();
                wrong.push(format!("the duty of {owner} is done by {names:?}"));
            }
            let [actor] = actors[..] else { continue };
            // Others send there what is for it.
            let believed = heirs.iter().map(|heir| (heir.settings.me, heir.succession.holder(owner)));
            let mislead =
                believed.filter(|&(_, holder)| holder.is_some_and(|holder| holder != actor.settings.me));
            wrong.extend(mislead.map(|(me, holder)| {
                format!(
                    "{me} believes that {holder:?} does the duty of {owner}, and {} does",
                    actor.settings.me
                )
            }));
            for (id, known) in
                self.flows.range((owner, 0)..(owner, FLOWS)).filter(|(_, known)| !known.is_doubtful)
            {
                self.judged += 1;
                let value = actor.table.flows.get(id).map(|entry| entry.value);
                let expected = Some(known.value).filter(|_| !known.is_gone);
                let is_well =
                    if known.is_between { value.is_some() || known.is_gone } else { value == expected };
                if !is_well {
                    wrong.push(format!(
                        "{} has {value:?} of {id:?}, and should have {expected:?}",
                        actor.settings.me
                    ));
                }
            }
        }
        wrong
    }
}
