//! What a worker has beside its elements.

use crate::chance::secret::Secret;
use crate::configuration::node::Port;
use crate::context::leash::Leash;
use crate::context::watch::Watch;
use crate::context::work::{Load, Work};
use crate::schedule::awaited::Awaited;
use crate::schedule::carriers::Carries;
use crate::schedule::sched::Scheduler;
use crate::schedule::signals::{Signal, Wanted};
use crate::schedule::timers::Timers;
use crate::shared::account::Account;
use crate::shared::clock::Clock;
use crate::shared::info::Info;
use crate::shared::mailbox::Mailbox;
use chacha20::ChaCha12Rng;
use packet::{Batch, Pool};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Ways whose batches are found by table while packets part: of those to be dropped, then the first outputs.
pub(crate) const LOTS: usize = 64;
/// Places of a worker behind those of its elements, for what captures put into edges. Each has an input and an output.
pub(crate) const TAPS: usize = 32;
/// There is no batch for this way.
pub(crate) const NO_LOT: u8 = u8::MAX;
/// Where an output leads.
#[derive(Clone, Copy)]
pub(crate) struct Link {
    pub(crate) element: u32,
    pub(crate) port: u16,
}

/// The element number of a link that leads nowhere.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// Where an element's outputs lead: the first one by itself, all of them as `outputs[start..][..count]`.
#[derive(Clone, Copy)]
pub(crate) struct Exits {
    pub(crate) first: Link,
    pub(crate) start: u32,
    pub(crate) count: u32,
}

impl Exits {
    /// Those of an element without outputs.
    pub(crate) const NONE: Exits = Exits { first: Link { element: NOWHERE, port: 0 }, start: 0, count: 0 };
}

/// All that a worker has beside its elements. Nothing in it is shared with another worker but what `info` holds.
pub(crate) struct Core {
    pub(crate) info: Arc<Info>,
    pub(crate) worker: usize,
    /// The worker's own, of those of all workers.
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) pool: Pool,
    pub(crate) rng: fastrand::Rng,
    /// Where numbers come from that strangers shall not guess; in runs with a seed they come from `rng`.
    pub(crate) secret: Option<ChaCha12Rng>,
    pub(crate) clock: Clock,
    pub(crate) now_ns: i64,
    /// Whether the last turn ended before it came to its timers.
    pub(crate) owes_timers: bool,
    /// After so many tasks the clock is asked.
    pub(crate) tasks_per_look: usize,
    /// Whether it is asked after each, and the time charged to the task.
    pub(crate) times_tasks: bool,
    /// The element that runs.
    pub(crate) here: u32,
    pub(crate) list: Vec<Work>,
    /// The first work item that the running element makes; usually the only one, so that it never gets onto the list.
    pub(crate) first: Option<Work>,
    /// Length of the list when the running element was called: what lies above are its further items.
    pub(crate) base: usize,
    /// How far a packet goes that is alone.
    pub(crate) leash: Leash,
    /// Why the element that has just said [`Next::DROP`](crate::context::next::Next::DROP) drops its packet.
    pub(crate) reason: &'static str,
    /// The running element's outputs.
    pub(crate) exits: Exits,
    /// Where outputs lead, by element and port.
    pub(crate) outputs: Vec<Link>,
    pub(crate) first_output: Vec<u32>,
    /// Where each element's pull inputs lead.
    pub(crate) inputs: Vec<Link>,
    pub(crate) first_input: Vec<u32>,
    pub(crate) scheduler: Scheduler,
    /// Each element's task, if it has one.
    pub(crate) tasks: Vec<Option<u32>>,
    pub(crate) timers: Timers,
    /// Descriptors for which tasks wait.
    pub(crate) awaited: Vec<Awaited>,
    pub(crate) signals: Vec<Signal>,
    /// The signal that each element provides.
    pub(crate) provides: Vec<Option<u32>>,
    /// The signals upstream of each pull input where the element listens, placed like `inputs`.
    pub(crate) upstream: Vec<Vec<u32>>,
    /// The signal by which each element says that it has room.
    pub(crate) rooms: Vec<Option<u32>>,
    /// The signals of room downstream of each push output where the element listens, placed like `outputs`.
    pub(crate) downstream: Vec<Vec<u32>>,
    /// What each element's task does with packets on their way; found out when the router ends.
    pub(crate) carriers: Vec<Carries>,
    /// Ports where an element asked to listen, before signals are resolved.
    pub(crate) wanted: Vec<(u32, Wanted)>,
    /// Packets dropped, by element and reason.
    pub(crate) drops: Vec<Vec<(&'static str, u64)>>,
    /// Packets that each element did not let on and whose senders it told why, by reason.
    pub(crate) told: Vec<Vec<(&'static str, u64)>>,
    /// Scratch space of `part_further`: batches by way, in order of first use.
    pub(crate) lots: Vec<(u16, Batch)>,
    /// Where the batch for each of the first ways is among them; [`NO_LOT`] if there is none. A table, because which
    /// way is next is what no processor can guess.
    pub(crate) lot_of: [u8; LOTS],
    pub(crate) next_call: u64,
    /// Whether the router has run.
    pub(crate) began: bool,
    /// The status that the handler that runs fails with, if it says so.
    pub(crate) status: Cell<Option<i64>>,
    /// What the handler that runs has warned of so far; `None` while none runs.
    pub(crate) warnings: Option<Vec<String>>,
    /// How often the run count had been raised when the element that steers the driver was asked whether to stop, until it has
    /// decided.
    pub(crate) asked: Option<u64>,
    /// How often it was asked in a row.
    pub(crate) asks: u32,
    pub(crate) account: Account,
    pub(crate) watch: Watch,
    /// The element that has panicked.
    pub(crate) broken: Option<u32>,
}

impl Core {
    /// That of a worker at its beginning.
    pub(crate) fn new(info: &Arc<Info>, worker: usize) -> Core {
        let (mut outputs, mut first_output) = links(info.nodes.iter().map(|node| &node.outputs), true);
        let (mut inputs, mut first_input) = links(info.nodes.iter().map(|node| &node.inputs), false);
        for (links, first) in [(&mut outputs, &mut first_output), (&mut inputs, &mut first_input)] {
            for _ in 0..TAPS {
                links.push(Link { element: NOWHERE, port: 0 });
                first.push(links.len() as u32);
            }
        }
        let count = info.nodes.len();
        Core {
            info: info.clone(),
            worker,
            mailbox: info.mailboxes[worker].clone(),
            pool: packet::Pool::new(),
            rng: fastrand::Rng::with_seed(
                info.plan.seed((worker as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            ),
            secret: info.plan.secret.as_ref().map(Secret::generator),
            clock: info.clock.clone(),
            now_ns: info.clock.now_ns(),
            owes_timers: false,
            tasks_per_look: 1,
            times_tasks: false,
            here: 0,
            list: Vec::with_capacity(256),
            first: None,
            base: 0,
            leash: Leash::default(),
            reason: "",
            exits: Exits::NONE,
            upstream: vec![Vec::new(); inputs.len()],
            downstream: vec![Vec::new(); outputs.len()],
            rooms: vec![None; count],
            outputs,
            first_output,
            inputs,
            first_input,
            scheduler: Scheduler::default(),
            tasks: vec![None; count],
            timers: Timers::default(),
            awaited: Vec::new(),
            signals: Vec::new(),
            provides: vec![None; count],
            carriers: Vec::new(),
            wanted: Vec::new(),
            drops: vec![Vec::new(); count + TAPS],
            told: vec![Vec::new(); count + TAPS],
            lots: Vec::new(),
            lot_of: [NO_LOT; LOTS],
            next_call: 0,
            status: Cell::new(None),
            warnings: None,
            began: false,
            asked: None,
            asks: 0,
            account: Account::default(),
            watch: Watch::new(count, info.clock.is_simulated()),
            broken: None,
        }
    }

    /// Each element's outputs.
    pub(crate) fn all_exits(&self) -> impl Iterator<Item = Exits> {
        exits(&self.outputs, &self.first_output)
    }

    /// Makes an element the one that runs.
    #[inline]
    pub(crate) fn enter(&mut self, element: u32, exits: &Exits) {
        self.here = element;
        self.exits = *exits;
        self.base = self.list.len();
    }

    /// Adds a work item of the running element.
    #[inline]
    pub(crate) fn put(&mut self, work: Work) {
        self.leash.cut();
        if self.first.is_none() { self.first = Some(work) } else { self.put_further(work) }
    }

    #[inline(never)] // elements that make one item only save no registers for this
    fn put_further(&mut self, work: Work) {
        self.list.push(work);
    }

    /// Takes the running element's first work item, and puts the others in the order in which they come off the list.
    #[inline]
    pub(crate) fn take_first(&mut self) -> Option<Work> {
        if self.list.len() > self.base + 1 {
            self.reverse_rest();
        }
        self.first.take()
    }

    /// Takes the running element's first work item if that is packets for another element, and else puts it onto the list; and puts the
    /// others in order as [`Core::take_first`] does. A variant at a time: an item that is moved as a whole goes by way of the stack.
    #[inline]
    pub(crate) fn take_load(&mut self) -> Option<(Link, Load)> {
        if self.list.len() > self.base + 1 {
            self.reverse_rest();
        }
        match self.first.take_if(|work| matches!(work, Work::Push { .. })) {
            Some(Work::Push { element, port, batch }) => Some((Link { element, port }, Load::Batch(batch))),
            _ => self.take_other_load(),
        }
    }

    #[inline(never)] // seldom, where there are batches
    fn take_other_load(&mut self) -> Option<(Link, Load)> {
        match self.first.take()? {
            Work::Alone { element, port, packet } => Some((Link { element, port }, Load::Packet(packet))),
            other => {
                self.list.push(other);
                None
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn reverse_rest(&mut self) {
        self.list[self.base..].reverse();
    }

    /// Puts what the element that ran made onto the list so that its first item comes off first.
    #[inline]
    pub(crate) fn leave(&mut self) {
        // Without a first one there are no others.
        if self.first.is_some()
            && let Some(work) = self.take_first()
        {
            self.list.push(work);
        }
    }

    /// Where an output of the running element leads, if it is one and leads somewhere.
    #[inline]
    pub(crate) fn exit(&self, output: usize) -> Option<Link> {
        match output {
            0 => Some(self.exits.first).filter(|link| link.element != NOWHERE),
            _ if output < self.exits.count as usize => {
                self.outputs.get(self.exits.start as usize + output).copied()
            }
            _ => None,
        }
    }

    /// Whether an output, if it is one, of the running element leads somewhere.
    pub(crate) fn leads(&self, output: Option<usize>) -> bool {
        let Exits { start, count, .. } = self.exits;
        let link = output.filter(|&output| output < count as usize).map(|output| start as usize + output);
        link.and_then(|at| self.outputs.get(at)).is_some_and(|link| link.element != NOWHERE)
    }

    /// The task of the element that runs, which is made if it has none.
    #[inline]
    pub(crate) fn own_task(&mut self) -> u32 {
        self.task_of(self.here as usize)
    }

    /// Schedules the task of the element that runs, which is not the task that ran last.
    #[inline(never)] // seldom
    pub(crate) fn schedule_own(&mut self) {
        let task = self.own_task();
        self.scheduler.schedule(task);
    }

    /// The task of an element, which is made if it has none.
    #[inline]
    pub(crate) fn task_of(&mut self, element: usize) -> u32 {
        match self.tasks[element] {
            Some(task) => task,
            None => self.new_task(element),
        }
    }

    #[cold]
    #[inline(never)]
    fn new_task(&mut self, element: usize) -> u32 {
        let task = self.scheduler.add(element as u32);
        self.tasks[element] = Some(task);
        self.info.has_task[element].store(true, Relaxed);
        task
    }

    /// Packets for which each element downstream of the running one's outputs has room.
    pub(crate) fn room_downstream(&self) -> usize {
        let Exits { start, count, .. } = self.exits;
        let outputs = self.downstream.get(start as usize..(start + count) as usize).unwrap_or_default();
        let rooms = outputs.iter().flatten().map(|&signal| self.signals[signal as usize].room);
        rooms.min().unwrap_or(usize::MAX)
    }

    #[inline]
    pub(crate) fn set_signal(&mut self, signal: u32, active: bool) {
        let was = std::mem::replace(&mut self.signals[signal as usize].active, active);
        if active && !was {
            self.wake(signal);
        }
    }

    /// A signal has become active: wakes tasks, and what relays it.
    #[inline(never)]
    fn wake(&mut self, signal: u32) {
        for i in 0..self.signals[signal as usize].listeners.len() {
            let element = self.signals[signal as usize].listeners[i];
            if let Some(task) = self.tasks[element as usize] {
                self.scheduler.schedule(task);
            }
        }
        // Ends because a signal that is active already goes no further.
        for i in 0..self.signals[signal as usize].relays.len() {
            self.set_signal(self.signals[signal as usize].relays[i], true);
        }
    }

    /// Whether any of these signals is active; true if there is none to say.
    #[inline]
    pub(crate) fn any_active(&self, signals: Option<&Vec<u32>>) -> bool {
        match signals {
            Some(signals) if !signals.is_empty() => signals.iter().any(|&s| self.signals[s as usize].active),
            _ => true,
        }
    }

    /// The output that a pull input leads to.
    #[inline]
    pub(crate) fn uplink(&self, element: u32, port: u16) -> Link {
        let first = self.first_input[element as usize];
        let end = self.first_input[element as usize + 1];
        let at = first + u32::from(port);
        if at < end { self.inputs[at as usize] } else { Link { element: NOWHERE, port: 0 } }
    }
}

/// Where ports of one kind lead, and where each element's start.
fn links<'a>(lists: impl Iterator<Item = &'a Vec<Port>>, single: bool) -> (Vec<Link>, Vec<u32>) {
    let (mut links, mut first) = (Vec::new(), vec![0]);
    for ports in lists {
        links.extend(ports.iter().map(|port| match port.peers.first() {
            // A pull output or push input may have many peers, but nothing is ever sent that way.
            Some(&(element, at)) if port.push == single => Link { element: element as u32, port: at as u16 },
            _ => Link { element: NOWHERE, port: 0 },
        }));
        first.push(links.len() as u32);
    }
    (links, first)
}

/// Each element's part of all outputs; `first[e]` is where that of element `e` begins.
fn exits(outputs: &[Link], first: &[u32]) -> impl Iterator<Item = Exits> {
    first.windows(2).map(|pair| {
        let (start, count) = (pair[0], pair[1] - pair[0]);
        let first = outputs.get(start as usize).filter(|_| count > 0);
        Exits { first: first.copied().unwrap_or(Exits::NONE.first), start, count }
    })
}
