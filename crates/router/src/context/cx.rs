//! What an element can do: the context that its worker hands it.

use crate::chance::secret::Unguessable;
use crate::context::core::{Core, Link};
use crate::context::verdict::Verdict;
use crate::context::watch::Wanted;
use crate::context::work::Work;
use crate::shared::info::Info;
use crate::shared::observing::View;
use crate::shared::record::Level;
use packet::{Batch, Packet, Pool};
use rcu::Turn;
use std::any::Any;
use std::fmt::Display;
use std::hint::cold_path;
use std::sync::Arc;

/// Why packets are dropped that are emitted where there is no output.
const NO_OUTPUT: &str = "no such output";

/// The context in which an element runs: its worker's services, for the length of one call.
///
/// What every packet needs is here: sending on, dropping, buffers, time. The rest is reached by purpose: [`Cx::tasks`],
/// [`Cx::timers`], [`Cx::signals`] and [`Cx::handlers`]. What does not depend on the worker is in [`Cx::info`].
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
        match self.core.exit(output) {
            Some(Link { element, port }) if !batch.is_empty() => {
                self.core.put(Work::Push { element, port, batch });
            }
            _ => self.emit_nowhere(batch),
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn emit_nowhere(&mut self, batch: Batch) {
        self.drop_batch(batch, NO_OUTPUT);
    }

    /// Emits one packet at an output.
    #[inline]
    pub fn emit_packet(&mut self, output: usize, packet: Packet) {
        match self.core.exit(output) {
            Some(Link { element, port }) => self.core.put(Work::Alone { element, port, packet }),
            None => {
                cold_path();
                self.drop(packet, NO_OUTPUT);
            }
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

    /// Asks for up to `want` packets at a pull input; [`crate::Element::pulled`] gets them, perhaps none.
    #[inline]
    pub fn ask(&mut self, input: usize, want: usize) {
        let element = self.core.here;
        let want = want.min(packet::BATCH_MAX) as u8;
        self.core.put(Work::Ask { element, port: input as u16, want, own: true });
    }

    /// Answers a request with the packets that pass, after [`crate::Pull::Later`].
    #[inline]
    pub fn answer(&mut self, batch: Batch) {
        self.core.put(Work::Answer { batch });
    }

    /// Drops a packet and counts it under a reason.
    #[inline]
    pub fn drop(&mut self, packet: Packet, reason: &'static str) {
        if self.looks_at_drops(reason) {
            self.core.look_at_drop(&packet, reason);
        }
        self.count_drops(reason, 1);
        self.core.pool.free(packet);
    }

    /// Drops all packets of a batch and counts them under a reason.
    #[inline]
    pub fn drop_batch(&mut self, batch: Batch, reason: &'static str) {
        if !batch.is_empty() {
            if self.looks_at_drops(reason) {
                batch.iter().for_each(|packet| self.core.look_at_drop(packet, reason));
            }
            self.count_drops(reason, batch.len() as u64);
        }
        self.core.pool.recycle(batch);
    }

    /// Whether a packet that the running element drops for this reason is looked at: the first one, and others when an observer wants
    /// it.
    #[inline]
    pub(crate) fn looks_at_drops(&self, reason: &'static str) -> bool {
        let known = self.core.drops[self.core.here as usize].first();
        self.core.watch.drops
            || known.is_none_or(|(known, _)| !std::ptr::eq(*known, reason)) && self.is_new(reason)
    }

    #[inline(never)]
    fn is_new(&self, reason: &'static str) -> bool {
        !self.core.drops[self.core.here as usize].iter().any(|(known, _)| *known == reason)
    }

    /// The packets that elements of this worker have dropped since an element asked last, with the reasons, and how many they have dropped in
    /// all. The next `most` of them are kept for the next call. For one element of a router, which asks now and then: what one has got is
    /// gone for another.
    pub fn take_drops(&mut self, most: usize) -> (Vec<(&'static str, View)>, u64) {
        let wanted = Wanted { left: most, seen: Vec::with_capacity(most) };
        self.core.watch.drops |= most > 0;
        let seen = std::mem::replace(&mut self.core.watch.wanted, wanted).seen;
        let all = self.core.drops.iter().flatten().map(|(_, packets)| packets).sum();
        (seen, all)
    }

    /// Counts drops of packets that never were in a buffer.
    #[inline]
    pub fn count_drops(&mut self, reason: &'static str, packets: u64) {
        // Most elements drop for one reason, and the same text is the same pointer nearly always.
        match self.core.drops[self.core.here as usize].first_mut() {
            Some((known, count)) if std::ptr::eq(*known, reason) => *count += packets,
            _ => self.count_other_drops(reason, packets),
        }
    }

    #[inline(never)]
    fn count_other_drops(&mut self, reason: &'static str, packets: u64) {
        if packets == 0 {
            return; // a reason for nothing is none
        }
        add(&mut self.core.drops[self.core.here as usize], reason, packets);
    }

    /// The packet as an example of those that [`count_told`](Self::count_told) counts for a reason, if one is wanted.
    pub fn told_example(&self, packet: &Packet, reason: &'static str) -> Option<View> {
        let known = &self.core.told[self.core.here as usize];
        let is_wanted = self.core.watch.drops || !known.iter().any(|(known, _)| *known == reason);
        is_wanted.then(|| View::of(packet, self.now_ns()))
    }

    /// Counts a packet that goes no further, whose sender the running element tells why. What tells it is made of the packet, so that this is no
    /// drop.
    pub fn count_told(&mut self, reason: &'static str, example: Option<View>) {
        let here = self.core.here as usize;
        add(&mut self.core.told[here], reason, 1);
        if let Some(view) = example {
            self.core.watch.keep_sample(here, reason, view);
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

    /// Whether the router has ever run, or has taken another's place. One that is refused as another's successor never has: in [`crate::Element::finish`], what it would
    /// write or remove may be the other's, which goes on.
    pub fn has_run(&self) -> bool {
        self.core.info.has_run.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// The time at which the worker's turn began, in nanoseconds since the epoch.
    #[inline]
    pub fn now_ns(&self) -> i64 {
        self.core.now_ns
    }

    /// The worker's random numbers for what strangers see and shall not guess.
    #[inline]
    pub fn unguessable(&mut self) -> Unguessable<'_> {
        Unguessable { secret: self.core.secret.as_mut(), seeded: &mut self.core.rng }
    }

    /// The worker's random numbers for what is left to chance. They are fast, and an observer of some can tell the others:
    /// [`Cx::unguessable`] has those for identifiers and keys.
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
    #[inline]
    pub fn worker(&self) -> usize {
        self.core.worker
    }

    /// The element that runs: its index in the configuration.
    #[inline]
    pub fn index(&self) -> usize {
        self.core.here as usize
    }

    /// The element's name.
    #[inline]
    pub fn name(&self) -> &str {
        &self.core.info.nodes[self.core.here as usize].name
    }

    /// The configuration, resolved.
    #[inline]
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

    /// Tells the user something, as a line of its own. It begins with the element's name and class, unless the message names the element.
    ///
    /// Of an element's messages in a second of the clock, of whatever level, the first ten are written; then a line says how many others
    /// there were. A message that is not written is not even formatted, so that `format_args!` costs nothing then. With
    /// [`Log::Click`](crate::Log::Click) each message is written, as it is.
    pub fn log(&self, message: impl Display) {
        self.speak(Level::Info, None, &message);
    }

    /// The same of what keeps this element from its work.
    pub fn error(&self, message: impl Display) {
        self.speak(Level::Error, None, &message);
    }

    /// The same of what this element does, step by step, where its arguments ask for that.
    pub fn debug(&self, message: impl Display) {
        self.speak(Level::Debug, None, &message);
    }

    /// The same of a packet that is refused, and why: the line ends with the reason, unless the message has it.
    pub fn complain(&self, message: impl Display, reason: &str) {
        self.speak(Level::Warning, Some(reason), &message);
    }

    /// The same of something that matters so much.
    pub fn say(&self, level: Level, message: impl Display) {
        self.speak(level, None, &message);
    }

    fn speak(&self, level: Level, reason: Option<&str>, message: &dyn Display) {
        self.core.info.speak(self.core.now_ns, Some(self.index()), level, reason, message);
    }

    /// Prints a line as it is, each time: for elements whose purpose that is.
    pub fn print(&self, line: &str) {
        self.core.info.print(self.index(), line);
    }

    /// Warns the caller of the handler that runs; while none runs, the user, in the element's name.
    pub fn warn(&mut self, message: &str) {
        match &mut self.core.warnings {
            Some(warnings) => warnings.push(format!("warning: {message}")),
            None => {
                let declaration = self.core.info.nodes[self.core.here as usize].declaration();
                self.speak(Level::Warning, None, &format_args!("{declaration}: warning: {message}"));
            }
        }
    }

    /// Packets that this element dropped on this worker, by reason.
    #[inline]
    pub fn drops(&self) -> &[(&'static str, u64)] {
        &self.core.drops[self.core.here as usize]
    }
}

/// Counts packets for a reason.
fn add(reasons: &mut Vec<(&'static str, u64)>, reason: &'static str, packets: u64) {
    match reasons.iter_mut().find(|(known, _)| std::ptr::eq(*known, reason) || *known == reason) {
        Some((_, count)) => *count += packets,
        None => reasons.push((reason, packets)),
    }
}
