//! What an element can do: the context that its worker hands it.

mod tasks;

use crate::account::Account;
use crate::clock::Clock;
use crate::control::{Call, Frame, Reply};
use crate::element::Verdict;
use crate::info::Info;
use crate::ready::Awaited;
use crate::sched::Scheduler;
use crate::timers::Timers;
use crate::work::{Control, Work};
use packet::{Batch, Packet, Pool};
use rcu::Turn;
use std::any::Any;
use std::cell::Cell;
use std::hint::cold_path;
use std::sync::Arc;

/// Ways whose batches are found by table while packets part: of those to be dropped, then the first outputs.
pub(crate) const LOTS: usize = 64;
/// There is no batch for this way.
pub(crate) const NO_LOT: u8 = u8::MAX;
/// The way of packets that are dropped; others are outputs.
const DROPPED: u16 = u16::MAX;

/// Packets that are dropped one after the other under the same reason, to be counted together.
#[derive(Default)]
struct Drops {
    reason: &'static str,
    packets: u64,
}

impl Drops {
    /// Notes one more. Where the reason is another one, those before are counted.
    #[inline]
    fn add(&mut self, cx: &mut Cx<'_>, reason: &'static str) -> u16 {
        if !std::ptr::eq(self.reason, reason) {
            self.change(cx, reason);
        }
        self.packets += 1;
        DROPPED
    }

    #[inline(never)] // does not belong into everybody's loop
    fn change(&mut self, cx: &mut Cx<'_>, reason: &'static str) {
        cx.count_drops(self.reason, self.packets);
        *self = Drops { reason, packets: 0 };
    }
}

/// The way to an output.
#[inline]
fn way_to(output: usize) -> u16 {
    output.min(usize::from(DROPPED - 1)) as u16
}

/// A way's place in the table of [`LOTS`], if it is not beyond: [`DROPPED`] comes first.
fn table_place(way: u16) -> usize {
    usize::from(way.wrapping_add(1))
}

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

/// A notifier's state and the tasks that it wakes.
#[derive(Default)]
pub(crate) struct Signal {
    pub(crate) active: bool,
    /// Of a signal of room: for how many packets there is some.
    pub(crate) room: usize,
    pub(crate) listeners: Vec<u32>,
    /// Signals that become active with this one.
    pub(crate) relays: Vec<u32>,
}

impl Signal {
    fn active() -> Signal {
        Signal { active: true, room: usize::MAX, ..Signal::default() }
    }
}

/// A port where an element wants to know of signals.
#[derive(Clone, Copy)]
pub(crate) enum Wanted {
    /// Packets upstream of a pull input wake the task.
    Input(u16),
    /// Packets upstream of a pull input activate the element's own signal.
    Relay(u16),
    /// Room downstream of a push output wakes the task.
    Output(u16),
    /// The task wants to know of room downstream of a push output, but sleeps on.
    Room(u16),
}

/// All that a worker has beside its elements. Nothing in it is shared with another worker but what `info` holds.
pub(crate) struct Core {
    pub(crate) info: Arc<Info>,
    pub(crate) worker: usize,
    pub(crate) pool: Pool,
    pub(crate) rng: fastrand::Rng,
    pub(crate) clock: Clock,
    pub(crate) now_ns: i64,
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
    /// The signals upstream of each pull input where somebody listens, placed like `inputs`.
    pub(crate) upstream: Vec<Vec<u32>>,
    /// The signal by which each element says that it has room.
    pub(crate) rooms: Vec<Option<u32>>,
    /// The signals of room downstream of each push output where somebody listens, placed like `outputs`.
    pub(crate) downstream: Vec<Vec<u32>>,
    /// Ports where somebody asked to listen, before signals are resolved.
    pub(crate) wanted: Vec<(u32, Wanted)>,
    /// Packets dropped, by element and reason.
    pub(crate) drops: Vec<Vec<(&'static str, u64)>>,
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
}

/// The context in which an element runs: its worker's services, for the length of one call.
///
/// References read from RCU cells through [`Cx::turn`] live as long as the worker's turn, which outlasts the call, but
/// nothing that an element stores.
pub struct Cx<'t> {
    pub(crate) core: &'t mut Core,
    pub(crate) turn: Turn<'t>,
}

/// Sending packets on.
impl<'t> Cx<'t> {
    /// Emits a batch at an output. It leaves when the element returns; batches leave in the order in which they were
    /// emitted, each followed to its end before the next. An empty batch goes nowhere; at an output that does not exist
    /// packets are dropped and counted.
    #[inline]
    pub fn emit(&mut self, output: usize, batch: Batch) {
        let core = &mut *self.core;
        let link = match output {
            0 => Some(core.exits.first).filter(|link| link.element != NOWHERE),
            _ if output < core.exits.count as usize => {
                core.outputs.get(core.exits.start as usize + output).copied()
            }
            _ => None,
        };
        match link {
            Some(link) if !batch.is_empty() => {
                core.put(Work::Push { element: link.element, port: link.port, batch });
            }
            _ => self.emit_nowhere(batch),
        }
    }

    #[cold]
    fn emit_nowhere(&mut self, batch: Batch) {
        self.drop_batch(batch, "no such output");
    }

    /// Emits one packet at an output.
    #[inline]
    pub fn emit_packet(&mut self, output: usize, packet: Packet) {
        let batch = self.core.pool.batch_of(packet);
        self.emit(output, batch);
    }

    /// Sends each packet of a batch where `decide` says; packets for one output leave together, outputs in the order of
    /// their first packets. When all packets go one way, the batch itself does.
    #[inline]
    pub fn scatter(&mut self, mut batch: Batch, mut decide: impl FnMut(&mut Self, &mut Packet) -> Verdict) {
        let (mut ways, mut all, mut drops) = ([0; packet::BATCH_MAX], 0, Drops::default());
        let (packets, mut at) = (batch.packets_mut(), 0);
        // Counted by hand, and last of all: an iterator would have its next place ready before the packet is looked
        // at, one register more that is kept until then, or written to the stack and read again.
        while let Some(packet) = packets.get_mut(at) {
            // Asked in one place only: what is called once is inlined, and its verdict never gets into memory.
            let way = match decide(self, packet) {
                Verdict::Pass => 0,
                Verdict::Output(output) => way_to(output),
                Verdict::Drop(reason) => {
                    cold_path();
                    drops.add(self, reason)
                }
            };
            if way != 0 {
                all |= way;
                ways[at] = way;
            }
            at += 1;
        }
        // Nearly always everything passes.
        if all == 0 {
            return self.emit(0, batch);
        }
        self.count_drops(drops.reason, drops.packets);
        self.part(batch, &ways);
    }

    /// Sends each packet of a batch to the output that stands in its place, as [`Cx::scatter`] does: for elements
    /// that tell outputs without a verdict for each packet. What stands behind the last packet's place does not
    /// count. There is no output `u16::MAX`.
    #[inline]
    pub fn spread(&mut self, batch: Batch, outputs: &[u16; packet::BATCH_MAX]) {
        if !batch.is_empty() {
            self.part(batch, outputs);
        }
    }

    /// The rest of `scatter` where not all packets pass: each goes its way, an output or [`DROPPED`].
    #[inline(never)] // one for all
    fn part(&mut self, mut batch: Batch, ways: &[u16; packet::BATCH_MAX]) {
        let ways = &ways[..batch.len()];
        let first = ways.first().copied().unwrap_or_default();
        // One by one: a load of several that were just stored would wait.
        let Some(&second) = ways.iter().find(|&&way| way != first) else {
            return self.leave_as_lot(first, batch);
        };
        // Found out for all at once, since a comparison of eight takes no more than that of one: which do not go the
        // first way, and whether any go a third one; mostly there are two ways.
        let (mut goes, mut further) = ([false; packet::BATCH_MAX], false);
        for (goes, &way) in goes.iter_mut().zip(ways) {
            *goes = way != first;
            further |= (way != first) & (way != second);
        }
        let mut others = self.core.pool.batch();
        batch.part(&goes[..ways.len()], &mut others);
        self.leave_as_lot(first, batch);
        if !further {
            return self.leave_as_lot(second, others);
        }
        self.part_further(others, ways.iter().filter(|&&way| way != first));
    }

    /// The rest of `part` where packets go more ways than two.
    #[inline(never)]
    fn part_further<'w>(&mut self, mut batch: Batch, mut ways: impl Iterator<Item = &'w u16>) {
        let mut lots = std::mem::take(&mut self.core.lots);
        batch.drain(|packet| {
            let way = ways.next().copied().unwrap_or_default();
            self.add_to_lot(&mut lots, way, packet);
        });
        self.core.pool.recycle(batch);
        self.emit_lots(lots);
    }

    #[inline(always)] // what is done to each packet
    fn add_to_lot(&mut self, lots: &mut Vec<(u16, Batch)>, way: u16, packet: Packet) {
        let place = self.core.lot_of.get(table_place(way)).map_or(NO_LOT, |&place| place);
        match lots.get_mut(usize::from(place)) {
            Some((_, lot)) => lot.push(packet),
            None => self.add_to_new_lot(lots, way, packet),
        }
    }

    #[cold]
    fn add_to_new_lot(&mut self, lots: &mut Vec<(u16, Batch)>, way: u16, packet: Packet) {
        // Ways beyond the table are looked for.
        if let Some((_, lot)) = lots.iter_mut().find(|(known, _)| *known == way) {
            return lot.push(packet);
        }
        if let Some(place) = self.core.lot_of.get_mut(table_place(way)) {
            *place = lots.len() as u8;
        }
        let lot = self.core.pool.batch_of(packet);
        lots.push((way, lot));
    }

    #[inline(never)]
    fn emit_lots(&mut self, mut lots: Vec<(u16, Batch)>) {
        for (way, lot) in lots.drain(..) {
            if let Some(place) = self.core.lot_of.get_mut(table_place(way)) {
                *place = NO_LOT;
            }
            self.leave_as_lot(way, lot);
        }
        self.core.lots = lots; // with the room that it has
    }

    /// Sends packets that go one way. Those to be dropped have been counted.
    #[inline]
    fn leave_as_lot(&mut self, way: u16, lot: Batch) {
        if way == DROPPED {
            return self.core.pool.recycle(lot);
        }
        // From the table, output 0, too: which one it is no processor can guess.
        let Exits { start, count, .. } = self.core.exits;
        match self.core.outputs.get(start as usize + usize::from(way)) {
            Some(&Link { element, port }) if u32::from(way) < count => {
                self.core.put(Work::Push { element, port, batch: lot });
            }
            _ => self.emit_nowhere(lot),
        }
    }

    /// Sends a whole batch where a verdict says.
    #[inline]
    pub fn settle(&mut self, verdict: Verdict, batch: Batch) {
        match verdict {
            Verdict::Pass => self.emit(0, batch),
            Verdict::Output(output) => self.emit(output, batch),
            Verdict::Drop(reason) => self.drop_batch(batch, reason),
        }
    }

    /// Like [`Cx::scatter`], but returns the packets that pass instead of emitting them: for pull paths.
    pub fn sift(
        &mut self,
        mut batch: Batch,
        mut decide: impl FnMut(&mut Self, &mut Packet) -> Verdict,
    ) -> Batch {
        batch.filter_map(|mut packet| match decide(self, &mut packet) {
            Verdict::Pass | Verdict::Output(0) => Some(packet),
            Verdict::Output(output) => {
                self.emit_packet(output, packet);
                None
            }
            Verdict::Drop(reason) => {
                self.drop(packet, reason);
                None
            }
        });
        batch
    }

    /// Asks for up to `want` packets at a pull input; [`crate::Element::pulled`] gets them, perhaps none.
    #[inline]
    pub fn ask(&mut self, input: usize, want: usize) {
        let element = self.core.here;
        let want = want.min(packet::BATCH_MAX) as u8;
        self.core.put(Work::Ask { element, port: input as u16, want, own: true });
    }

    /// Answers a request with the packets that pass, after [`crate::Pull::Later`].
    pub fn answer(&mut self, batch: Batch) {
        self.core.put(Work::Answer { batch });
    }

    /// Drops a packet and counts it under a reason.
    #[inline]
    pub fn drop(&mut self, packet: Packet, reason: &'static str) {
        self.count_drops(reason, 1);
        self.core.pool.free(packet);
    }

    /// Drops all packets of a batch and counts them under a reason.
    #[inline]
    pub fn drop_batch(&mut self, batch: Batch, reason: &'static str) {
        if !batch.is_empty() {
            self.count_drops(reason, batch.len() as u64);
        }
        self.core.pool.recycle(batch);
    }

    /// Counts drops of packets that never were in a buffer.
    pub fn count_drops(&mut self, reason: &'static str, packets: u64) {
        if packets == 0 {
            return; // a reason for nothing is none
        }
        let reasons = &mut self.core.drops[self.core.here as usize];
        // The same text is the same pointer nearly always, so that the comparison is one of two words.
        match reasons.iter_mut().find(|(known, _)| std::ptr::eq(*known, reason) || *known == reason) {
            Some((_, count)) => *count += packets,
            None => reasons.push((reason, packets)),
        }
    }

    /// Gives back packets that have reached their destination: not counted as drops.
    #[inline]
    pub fn consume(&mut self, batch: Batch) {
        self.core.pool.recycle(batch);
    }
}

/// Packets, time, chance, the configuration.
impl<'t> Cx<'t> {
    /// The worker's buffers.
    #[inline]
    pub fn pool(&mut self) -> &mut Pool {
        &mut self.core.pool
    }

    /// An empty batch.
    #[inline]
    pub fn batch(&mut self) -> Batch {
        self.core.pool.batch()
    }

    /// The RCU read side: what cells are read with.
    #[inline]
    pub fn turn(&self) -> Turn<'t> {
        self.turn
    }

    /// The time at which the worker's turn began, in nanoseconds since the epoch.
    #[inline]
    pub fn now_ns(&self) -> i64 {
        self.core.now_ns
    }

    /// The worker's random numbers.
    #[inline]
    pub fn rng(&mut self) -> &mut fastrand::Rng {
        &mut self.core.rng
    }

    /// The most packets that a batch should have.
    #[inline]
    pub fn vector(&self) -> usize {
        self.core.info.vector
    }

    /// The worker that this is.
    pub fn worker(&self) -> usize {
        self.core.worker
    }

    /// The element that runs: its index in the configuration.
    pub fn index(&self) -> usize {
        self.core.here as usize
    }

    /// The element's name.
    pub fn name(&self) -> &str {
        &self.core.info.nodes[self.core.here as usize].name
    }

    /// The configuration, resolved.
    pub fn info(&self) -> &Arc<Info> {
        &self.core.info
    }

    /// The shared part of the element with a name, seen from this element's compound.
    ///
    /// # Errors
    /// A sentence for the user: there is no such element, or it has no part of this type. `kind` names the class wanted.
    pub fn shared_of<T: Any + Send + Sync>(&self, name: &str, kind: &str) -> Result<Arc<T>, String> {
        let found = self.core.info.find(name, Some(self.core.here as usize));
        let element = found.ok_or_else(|| format!("no element named '{name}'"))?;
        self.core.info.shared(element).ok_or_else(|| format!("'{name}' is not a {kind} element"))
    }

    /// Writes a message for the user, as a line of its own.
    pub fn log(&self, message: &str) {
        self.core.info.log.line(message);
    }

    /// Warns whoever called the handler that runs; while none runs, the user, in the element's name.
    pub fn warn(&mut self, message: &str) {
        match &mut self.core.warnings {
            Some(warnings) => warnings.push(format!("warning: {message}")),
            None => {
                let info = &self.core.info;
                let declaration = info.nodes[self.core.here as usize].declaration();
                info.log.line(&format!("{declaration}: warning: {message}"));
            }
        }
    }

    /// Writes a message for those who listen on a channel ([`crate::Log::line_on`]).
    pub fn log_on(&self, channel: &str, message: &str) {
        self.core.info.log.line_on(channel, message);
    }

    /// Whether anybody listens to events ([`crate::Events`]).
    #[inline]
    pub fn is_heard(&self) -> bool {
        self.core.info.events.is_heard()
    }

    /// Tells whoever listens of an event: a line whose first word is its topic.
    pub fn publish(&self, event: &str) {
        self.core.info.events.publish(event);
    }

    /// Packets that this element dropped on this worker, by reason.
    pub fn drops(&self) -> &[(&'static str, u64)] {
        &self.core.drops[self.core.here as usize]
    }
}

/// Handlers and the driver.
impl Cx<'_> {
    /// Calls a handler for its effect. It runs when this element returns, before batches that are emitted later.
    pub fn call(&mut self, call: Call) {
        let call = call.within_default(self.core.here as usize);
        self.core.put(Work::Control(Box::new(Control::Call(call))));
    }

    /// Starts a control computation of this element: [`crate::Element::resume`] is called with `state` when this element
    /// returns, before batches that are emitted later.
    pub fn start(&mut self, state: Box<dyn Any + Send>) {
        let frame = Frame { owner: self.core.here, state, reply: Reply::Nobody };
        self.core.put(Work::Control(Box::new(Control::Start(frame))));
    }

    /// A way to talk to the router from other threads.
    pub fn handle(&self) -> crate::Handle {
        crate::Handle::new(self.core.info.clone())
    }

    /// Asks the driver to stop.
    pub fn please_stop(&mut self) {
        self.core.info.please_stop();
    }

    /// Changes how often the driver may still be asked to stop before it does.
    pub fn adjust_run_count(&mut self, by: i64) {
        self.core.info.adjust_run_count(by);
    }
}

impl Core {
    /// Makes an element the one that runs.
    #[inline]
    pub(crate) fn enter(&mut self, element: u32, exits: Exits) {
        self.here = element;
        self.exits = exits;
        self.base = self.list.len();
    }

    /// Adds a work item of the running element.
    #[inline]
    fn put(&mut self, work: Work) {
        if self.first.is_none() { self.first = Some(work) } else { self.list.push(work) }
    }

    /// Whether the running element has made no work item.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.first.is_none()
    }

    /// Takes the running element's first work item, and puts the others in the order in which they come off the list.
    #[inline]
    pub(crate) fn take_first(&mut self) -> Option<Work> {
        if self.list.len() > self.base + 1 {
            self.reverse_rest();
        }
        self.first.take()
    }

    #[cold]
    fn reverse_rest(&mut self) {
        self.list[self.base..].reverse();
    }

    /// Puts what the element that ran made onto the list so that its first item comes off first.
    #[inline]
    pub(crate) fn leave(&mut self) {
        if let Some(work) = self.take_first() {
            self.list.push(work);
        }
    }

    #[inline]
    pub(crate) fn set_signal(&mut self, signal: u32, active: bool) {
        let was = std::mem::replace(&mut self.signals[signal as usize].active, active);
        if active && !was {
            self.wake(signal);
        }
    }

    /// A signal has become active: wakes tasks, and what relays it.
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

    /// Whether any of these signals is active; if there is none, nobody would say.
    #[inline]
    fn any_active(&self, signals: Option<&Vec<u32>>) -> bool {
        match signals {
            Some(signals) if !signals.is_empty() => signals.iter().any(|&s| self.signals[s as usize].active),
            _ => true,
        }
    }

    /// The output that a pull input leads to.
    pub(crate) fn uplink(&self, element: u32, port: u16) -> Link {
        let first = self.first_input[element as usize];
        let end = self.first_input[element as usize + 1];
        let at = first + u32::from(port);
        if at < end { self.inputs[at as usize] } else { Link { element: NOWHERE, port: 0 } }
    }
}
