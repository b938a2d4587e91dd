//! What the instances of a node share: one for each worker.
//!
//! The keeper, behind a lock, is the node's part in the membership protocol. The worker that hears a hello or serves a handler
//! takes the lock; one worker sends hellos. What packets need of it is published under RCU, and each worker takes a copy when
//! it finds that there is something new. Packets take no lock.

use super::handover::Handover;
use super::settings::Settings;
use super::witness::Witness;
use cluster::NodeId;
use cluster::choice::{Chooser, Numbers};
use cluster::load::Sent;
use cluster::membership::{Event, Holder, Key, Member, Phase, Rejected, Roster};
use cluster::view::View;
use elements_shared::keyed_hash::HashKey;
use rcu::{Cell, Domain, Updater, Weigh};
use router::ConfigError;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What packets need of the membership.
pub(super) struct Published {
    /// Another one for each.
    pub(super) version: u64,
    pub(super) view: View,
    /// Whether packets may come in at the external ports.
    pub(super) is_active: bool,
    /// Which cables packets may come over.
    pub(super) accepts: Box<[bool]>,
    /// How often each node has begun anew.
    pub(super) lives: Box<[u32]>,
    /// By which node leaves what is to leave by each; empty: by itself.
    pub(super) stand_ins: Box<[NodeId]>,
}

impl Weigh for Published {
    fn heap_bytes(&self) -> usize {
        let stand_ins = size_of_val::<[NodeId]>(&self.stand_ins);
        self.view.heap_bytes() + self.accepts.len() + size_of_val::<[u32]>(&self.lives) + stand_ins
    }
}

/// What goes on in the node of another configuration.
pub(super) struct Kept {
    pub(super) member: Member,
    pub(super) roster: Holder,
    pub(super) rejected: BTreeMap<&'static str, u64>,
    pub(super) witness: Witness,
    lives: Vec<u32>,
}

/// The node's part in the membership protocol.
pub(super) struct Keeper {
    /// It needs to know when it starts.
    pub(super) member: Option<Member>,
    pub(super) roster: Holder,
    pub(super) rejected: BTreeMap<&'static str, u64>,
    pub(super) witness: Witness,
    /// Numbers of packets that workers of a former configuration gave.
    pub(super) numbers: Numbers,
    /// Whom cables lead to.
    cables: Vec<NodeId>,
    lives: Vec<u32>,
    version: u64,
    was_active: bool,
    /// Something has changed that could not be published yet.
    is_unpublished: bool,
    stand_ins: Vec<NodeId>,
    passed_ns: u64,
    updater: Updater,
}

/// The shared part of a node.
pub(super) struct Shared {
    /// Which node it is, and how many have external ports.
    pub(super) node: NodeId,
    pub(super) terminals: usize,
    keeper: Mutex<Keeper>,
    pub(super) published: Cell<Published>,
    /// What goes into links, by worker.
    pub(super) sent: Arc<Sent>,
    /// When each worker last passed on a packet of others.
    passed_ns: Box<[AtomicU64]>,
    pub(super) handover: Handover,
    /// The workers that have an instance.
    pub(super) workers: Vec<usize>,
    /// The key of flows' hashes.
    pub(super) key: HashKey,
    /// Whether a hello is to be sent at once.
    tells: AtomicBool,
    /// Whether packets come in until another node acts for this one.
    serves_while_draining: AtomicBool,
}

impl Shared {
    pub(super) fn new(settings: &Settings, roster: Roster, workers: &[usize], seed: u64) -> Shared {
        let (node, topology) = (settings.node, &settings.topology);
        let published = Published {
            version: 0,
            view: View::empty(node, topology.terminals()),
            is_active: false,
            accepts: [].into(),
            lives: [].into(),
            stand_ins: [].into(),
        };
        let keeper = Keeper {
            member: None,
            roster: Holder::new(roster),
            rejected: BTreeMap::new(),
            witness: Witness::new(),
            numbers: Numbers::default(),
            cables: topology.neighbours(node),
            lives: vec![0; topology.nodes()],
            version: 0,
            was_active: false,
            is_unpublished: false,
            stand_ins: Vec::new(),
            passed_ns: 0,
            updater: Domain::global().updater(),
        };
        Shared {
            node,
            terminals: topology.terminals(),
            serves_while_draining: AtomicBool::new(false),
            keeper: Mutex::new(keeper),
            published: Cell::new(published),
            sent: Chooser::sent(topology, node, workers.len()),
            passed_ns: workers.iter().map(|_| AtomicU64::new(0)).collect(),
            handover: Handover::new(if settings.is_strict() { workers.len() } else { 1 }),
            workers: workers.to_vec(),
            // Nodes that share a process choose differently all the same.
            key: HashKey::new(seed ^ (u64::from(node) + 1).wrapping_mul(0xd1b5_4a32_d192_ed03)),
            tells: AtomicBool::new(false),
        }
    }

    pub(super) fn keeper(&self) -> MutexGuard<'_, Keeper> {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A worker passes on a packet of others.
    #[inline]
    pub(super) fn passed(&self, place: usize, now_ns: u64) {
        if let Some(at) = self.passed_ns.get(place)
            && at.load(Relaxed) != now_ns
        {
            at.store(now_ns, Relaxed);
        }
    }

    /// Time passes: to be called before each hello.
    pub(super) fn tick(&self, keeper: &mut Keeper, now_ns: u64) {
        let passed_ns = self.passed_ns.iter().map(|at| at.load(Relaxed)).max().unwrap_or(0);
        let is_news = std::mem::replace(&mut keeper.passed_ns, passed_ns) != passed_ns;
        let Some(member) = &mut keeper.member else { return };
        if is_news {
            member.passed(passed_ns);
        }
        member.tick(now_ns);
    }

    /// Takes note of what has happened, and publishes what packets need of it. Whether neighbours should hear of it at once.
    pub(super) fn settle(&self, keeper: &mut Keeper) -> bool {
        let Keeper { member: Some(member), lives, witness, .. } = keeper else { return false };
        let events = member.take_events();
        for event in &events {
            match event {
                Event::Restarted(node) => {
                    lives.iter_mut().skip(usize::from(*node)).take(1).for_each(|life| *life += 1);
                }
                Event::GivenUp { node, hello } => witness.gave_up(*node, *hello),
                Event::View | Event::Phase(_) => {}
            }
        }
        let drains = (Phase::Draining..Phase::Left).contains(&member.phase());
        let is_active = member.is_active() || drains && self.serves_while_draining.load(Relaxed);
        if events.is_empty() && is_active == keeper.was_active && !keeper.is_unpublished {
            return false;
        }
        let published = Published {
            version: keeper.version + 1,
            view: member.view(),
            is_active,
            accepts: keeper.cables.iter().map(|&node| member.accepts(node)).collect(),
            lives: lives.clone().into(),
            stand_ins: keeper.stand_ins.clone().into(),
        };
        let has_news = !events.is_empty() && member.has_news();
        keeper.was_active = is_active;
        keeper.version += 1;
        // If too much memory waits for readers, the next hello brings the next attempt.
        keeper.is_unpublished = self.published.replace(Box::new(published), &keeper.updater).is_err();
        has_news
    }

    /// Packets come in also while the node drains: its state moves first, and then its traffic.
    pub(super) fn serve_while_draining(&self) {
        self.serves_while_draining.store(true, Relaxed);
    }

    /// How far the node takes part, and the key; nothing before it has begun.
    pub(super) fn phase_and_key(&self) -> Option<(Phase, Key)> {
        let keeper = self.keeper();
        let member = keeper.member.as_ref()?;
        Some((member.phase(), member.key()))
    }

    /// A node that drains has still to do with others.
    pub(super) fn wait(&self, now_ns: u64) {
        if let Some(member) = &mut self.keeper().member {
            member.passed(now_ns);
        }
    }

    /// Says by which node leaves what is to leave by each. It is published at once, or with the next hello.
    pub(super) fn set_stand_ins(&self, holders: &[NodeId]) {
        let mut keeper = self.keeper();
        let is_plain = holders.iter().enumerate().all(|(of, &holder)| usize::from(holder) == of);
        keeper.stand_ins = if is_plain { Vec::new() } else { holders.to_vec() };
        keeper.is_unpublished = true;
        self.settle(&mut keeper);
    }

    /// Asks the worker that sends hellos for one.
    pub(super) fn ask_for_hello(&self) {
        self.tells.store(true, Relaxed);
    }

    /// Whether a hello was asked for.
    pub(super) fn is_asked_for_hello(&self) -> bool {
        self.tells.swap(false, Relaxed)
    }
}

impl Keeper {
    /// The node begins to listen, if it does not yet.
    pub(super) fn start(&mut self, settings: &Settings, now_ns: u64) -> Result<(), ConfigError> {
        if self.member.is_none() {
            self.member = Some(Member::new(
                settings.node,
                // Time grows, so a later life has a larger number; where a clock was set back, peers say so.
                now_ns,
                &settings.topology,
                self.roster.current(),
                settings.key()?,
                settings.timing,
                now_ns,
            ));
        }
        Ok(())
    }

    /// Bytes have come over the cable to a node.
    pub(super) fn hear(&mut self, now_ns: u64, from: NodeId, bytes: &[u8]) {
        let Some(member) = &mut self.member else { return };
        if let Err(why) = member.receive(now_ns, from, bytes) {
            *self.rejected.entry(reason(why)).or_default() += 1;
        }
    }

    /// There is another roster.
    pub(super) fn take_roster(&mut self, now_ns: u64) {
        if let Some(member) = &mut self.member {
            member.set_roster(self.roster.current(), now_ns);
        }
    }

    /// What a node of a later configuration goes on with.
    pub(super) fn give(&mut self) -> Option<Kept> {
        let member = self.member.take()?;
        Some(Kept {
            member,
            roster: Holder::new(self.roster.current().clone()),
            rejected: std::mem::take(&mut self.rejected),
            witness: std::mem::replace(&mut self.witness, Witness::new()),
            lives: std::mem::take(&mut self.lives),
        })
    }

    /// Goes on as the node that another was to the others: no hello is given twice.
    pub(super) fn take(&mut self, kept: Kept, settings: &Settings, now_ns: u64) {
        let Kept { mut member, roster, rejected, witness, lives } = kept;
        member.set_timing(settings.timing);
        // What came by a handler or from a server may be newer than the file.
        if self.roster.current().version > roster.current().version {
            member.set_roster(self.roster.current(), now_ns);
        } else {
            self.roster = roster;
        }
        (self.member, self.rejected, self.witness, self.lives) = (Some(member), rejected, witness, lives);
        self.is_unpublished = true;
    }
}

fn reason(why: Rejected) -> &'static str {
    match why {
        Rejected::Stranger(_) => "not authentic",
        Rejected::Unknown(_) => "not in the roster",
        Rejected::WrongLink(_) => "over a wrong link",
        Rejected::Replayed(_) => "replayed",
        Rejected::Duplicate(_) => "second node of a number",
    }
}
