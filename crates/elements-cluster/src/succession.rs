//! What the instances of a VLBState share, and what others need of it.

use super::shared::Shared;
use cluster::NodeId;
use cluster::label::{Label, Stamp};
use cluster::membership::Phase;
use cluster::succession::{Adoption, Held, Overrun, Refused, Settings, Succession, Tables, Tell, World};
use elements_shared::state_port::{Adopted, Entry, StatePort};
use packet::{DEFAULT_HEADROOM, Packet};
use router::Cx;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wire::ethernet::HEADER_LEN;

/// The EtherType of these messages: the other one of those set aside for experiments.
pub(super) const STATE_TYPE: u16 = 0x88b6;
/// A node that has lost a duty still serves what comes for so long.
const GRACE_NS: u64 = 1_000_000_000;
/// A duty that was never this node's, and one that is.
const NEVER: u64 = 0;
const ACTS: u64 = u64::MAX;
/// A node that drains waits for its successor at most so long.
const PATIENCE_NS: u64 = 3_000_000_000;

/// What the workers of a node share.
pub(super) struct Successions {
    inner: Mutex<Inner>,
    /// Since when a node's duty is not done here any more, if it was.
    acts: Box<[AtomicU64]>,
    /// Grows when duties change.
    changes: AtomicU64,
    /// Flows that are held, at most.
    limit: AtomicUsize,
}

pub(super) struct Inner {
    pub(super) succession: Option<Succession>,
    pub(super) rejected: BTreeMap<&'static str, u64>,
    drains_since_ns: Option<u64>,
    holders: Vec<NodeId>,
}

impl Successions {
    pub(super) fn new(nodes: usize, limit: usize) -> Successions {
        let inner =
            Inner { succession: None, rejected: BTreeMap::new(), drains_since_ns: None, holders: Vec::new() };
        Successions {
            inner: Mutex::new(inner),
            acts: (0..nodes).map(|_| AtomicU64::new(NEVER)).collect(),
            changes: AtomicU64::new(0),
            limit: AtomicUsize::new(limit),
        }
    }

    pub(super) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn limit(&self) -> usize {
        self.limit.load(Relaxed)
    }

    /// Flows that are held, at most, from now on.
    pub(super) fn set_limit(&self, limit: usize) {
        self.limit.store(limit, Relaxed);
        if let Some(succession) = &mut self.inner().succession {
            succession.set_limit(limit);
        }
    }

    /// Whether a node's duty is done here.
    #[inline]
    pub(super) fn acts(&self, of: NodeId) -> bool {
        self.acts.get(usize::from(of)).is_some_and(|acts| acts.load(Relaxed) == ACTS)
    }

    /// Whether packets are served that come for a node: also for a while after another does its duty.
    #[inline]
    pub(super) fn serves(&self, of: NodeId, now_ns: u64) -> bool {
        let Some(acts) = self.acts.get(usize::from(of)) else { return false };
        let since = acts.load(Relaxed);
        since == ACTS || since != NEVER && now_ns.saturating_sub(since) < GRACE_NS
    }

    /// Grows with each change of what this node does.
    #[inline]
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Relaxed)
    }

    /// Bytes have come; what is to be answered.
    pub(super) fn receive(&self, now_ns: u64, bytes: &[u8]) {
        let mut inner = self.inner();
        let Some(succession) = &mut inner.succession else { return };
        if let Err(why) = succession.receive(now_ns, bytes) {
            let reason = match why {
                Refused::Form => "malformed",
                Refused::Code => "not authentic",
                Refused::Stranger => "of or for another node",
                Refused::Replayed => "replayed",
                Refused::Past(_) => "of or for a past life",
            };
            *inner.rejected.entry(reason).or_default() += 1;
        }
    }

    /// Answers to what has come.
    pub(super) fn answers(&self) -> Vec<(NodeId, Vec<u8>)> {
        self.inner().succession.as_mut().map_or_else(Vec::new, Succession::take_answers)
    }

    /// Time passes: what is to be sent.
    pub(super) fn tick(
        &self,
        cx: &mut Cx<'_>,
        node: &Shared,
        settings: &Settings,
        ports: &mut Ports,
    ) -> Vec<(NodeId, Vec<u8>)> {
        let now_ns = cx.now_ns().max(0) as u64;
        let mut guard = self.inner();
        let inner = &mut *guard;
        let Some((phase, key)) = node.phase_and_key() else { return Vec::new() };
        let succession =
            inner.succession.get_or_insert_with(|| Succession::new(settings.clone(), now_ns.max(1), key));
        let drains = phase >= Phase::Draining;
        let published = node.published.read(cx.turn());
        let view = &published.view;
        let world = World {
            takes_part: published.is_active,
            drains,
            reaches: &|other| view.reachable(other),
            stays: &|other| view.reachable(other) && view.transit(other),
        };
        let out = succession.tick(now_ns, &world, &mut WorkerTables { cx, ports });
        let since_ns = *inner.drains_since_ns.get_or_insert(now_ns);
        if !drains {
            inner.drains_since_ns = None;
        } else if !succession.is_over() && now_ns.saturating_sub(since_ns) < PATIENCE_NS {
            node.wait(now_ns);
        }
        self.note(now_ns, node, &mut guard);
        out
    }

    /// Says to packets who does which duty.
    pub(super) fn note(&self, now_ns: u64, node: &Shared, inner: &mut Inner) {
        let Some(succession) = &inner.succession else { return };
        let holder = |of| succession.holder(of).unwrap_or(of);
        let holders: Vec<_> = (0..self.acts.len() as NodeId).map(holder).collect();
        for (of, acts) in self.acts.iter().enumerate() {
            let does = succession.holder(of as NodeId) == Some(node.node);
            let did = acts.load(Relaxed) == ACTS;
            if does != did {
                acts.store(if does { ACTS } else { now_ns.max(1) }, Relaxed);
                self.changes.fetch_add(1, Relaxed);
            }
        }
        if holders != inner.holders {
            node.set_stand_ins(&holders);
            inner.holders = holders;
        }
    }
}

/// The ports of a node's tables.
pub(super) struct Ports(Vec<Watched>);

/// A port, and whether it is this element that watches its table.
struct Watched {
    port: Arc<dyn StatePort>,
    is_own: bool,
}

impl Ports {
    /// Ports that are not watched yet.
    pub(super) fn new(ports: impl IntoIterator<Item = Arc<dyn StatePort>>) -> Ports {
        Ports(ports.into_iter().map(|port| Watched { port, is_own: false }).collect())
    }

    /// Begins or ends to watch all tables: those that another element watches stay its own. `fails` is told why one is not watched.
    pub(super) fn watch(&mut self, is_wanted: bool, mut fails: impl FnMut(String)) {
        for Watched { port, is_own } in &mut self.0 {
            if is_wanted == *is_own {
                continue;
            }
            match port.watch(is_wanted) {
                Ok(()) => *is_own = is_wanted,
                Err(why) => fails(why),
            }
        }
    }

    /// The port of a table that this element watches.
    fn own(&self, table: usize) -> Option<&dyn StatePort> {
        self.0.get(table).filter(|watched| watched.is_own).map(|watched| &*watched.port)
    }
}

/// The tables, for a worker's turn.
struct WorkerTables<'a, 'c, 't> {
    cx: &'a mut Cx<'t>,
    ports: &'c mut Ports,
}

fn told<'t>(tell: &'t mut Tell<'_>) -> impl FnMut(Entry<'_>) + 't {
    move |entry| match entry {
        Entry::Put { key, value } => tell(key, Some(value)),
        Entry::Gone { key } => tell(key, None),
    }
}

impl Tables for WorkerTables<'_, '_, '_> {
    fn watch(&mut self, is_wanted: bool) {
        let WorkerTables { cx, ports } = self;
        ports.watch(is_wanted, |why| cx.error(format_args!("state does not move: {why}")));
    }

    fn widen(&mut self) {
        self.ports.0.iter().filter(|watched| watched.is_own).for_each(|watched| watched.port.widen());
    }

    fn changes(&mut self, table: usize, most: usize, tell: &mut Tell<'_>) -> Result<bool, Overrun> {
        // What another element watches it is told of.
        let Some(port) = self.ports.own(table) else { return Ok(false) };
        port.changes(self.cx, most, &mut told(tell)).map_err(|_| Overrun)
    }

    fn scan(
        &mut self,
        table: usize,
        is_confirmed: bool,
        from: u32,
        most: usize,
        tell: &mut Tell<'_>,
    ) -> Option<u32> {
        self.ports.own(table)?.scan(self.cx, is_confirmed, from, most, &mut told(tell))
    }

    fn adopt(&mut self, table: usize, entries: &[Held]) -> Adoption {
        let mut adoption = Adoption::default();
        let Some(Watched { port, .. }) = self.ports.0.get(table) else { return adoption };
        let now_ms = (self.cx.now_ns() / 1_000_000) as u64;
        let mut all = entries.iter().map(|(key, value)| (&**key, &**value));
        port.adopt(self.cx, now_ms, &mut all, &mut |became| match became {
            Adopted::Taken | Adopted::Known => adoption.taken += 1,
            Adopted::Contended => adoption.contended += 1,
            Adopted::Refused => adoption.refused += 1,
        });
        adoption
    }
}

/// A message to a node as a frame.
pub(super) fn frame(cx: &mut Cx<'_>, to: NodeId, bytes: &[u8]) -> Option<Packet> {
    let mut packet = cx.pool().alloc(DEFAULT_HEADROOM, HEADER_LEN + 2 + bytes.len())?;
    let label = Label { egress: to, port: 0, ingress: 0, hops: 0, stamp: Stamp::None };
    let (head, rest) = packet.data_mut().split_at_mut(HEADER_LEN);
    head[..12].copy_from_slice(&label.encode());
    head[12..].copy_from_slice(&STATE_TYPE.to_be_bytes());
    rest[..2].copy_from_slice(&(bytes.len() as u16).to_be_bytes());
    rest[2..].copy_from_slice(bytes);
    packet.set_mac_offset(0);
    Some(packet)
}

/// The message in a frame.
pub(super) fn message(frame: &[u8]) -> Option<&[u8]> {
    let (head, rest) = frame.split_at_checked(HEADER_LEN)?;
    let (len, rest) = rest.split_first_chunk()?;
    rest.get(..usize::from(u16::from_be_bytes(*len))).filter(|_| is_state(head))
}

/// Whether a frame has such a message.
#[inline]
pub(super) fn is_state(frame: &[u8]) -> bool {
    frame.get(12..14) == Some(&STATE_TYPE.to_be_bytes())
}

#[cfg(test)]
#[path = "succession_tests.rs"]
mod tests;
