//! Stores packets of several inputs, and replays them repeatedly by as many outputs.
//!
//! ```click
//! MultiReplay([QUEUE, KEYWORDS])
//! ```
//!
//! Pulls packets from all inputs, in the order of their timestamps, until one input is exhausted or LIMIT packets are
//! stored. From then on copies of them, in that order, are put into one queue per output, according to their input's
//! number, and can be pulled from there; when one of these queues is full, all others wait for it. The packets'
//! colour is set to the number of their input. After STOP rounds, once the queues are empty, the driver stops. It is
//! FastClick's element.
//!
//! Ports: 1 or more inputs, as many outputs. Processing: pull. Workers: exclusive.
//!
//! # Arguments
//! - `QUEUE` (integer, default 1024): the capacity of each output's queue, in packets.
//! - `STOP` (integer, default -1): how often to replay all packets; negative: forever. With 0 it stops the driver
//!   once the packets are loaded, and becomes inactive.
//! - `BURST` (integer, default 64): packets per scheduling.
//! - `ACTIVE` (boolean, default true): whether to do anything.
//! - `LIMIT` (integer, default -1): packets to store; negative means all.
//! - `STOP_TIME` (integer, default 0): seconds after which no new round begins; 0: no limit.
//! - `VERBOSE` (boolean, default false): whether to print a message at the end of each round.
//! - `QUICK_CLONE`, `USE_SIGNAL`, `FREEONTERMINATE` (boolean), `SLEEP` (integer): accepted; packets are always copied and freed.
//!
//! # Handlers
//! - `loaded` (read): whether the packets have been loaded. `packets` (read): how many are stored. `count` (read):
//!   how many have been replayed.
//! - `active` (read, write), `stop` (read, write): the arguments; `stop` counts down.
//! - `reset` (write, button): discards the stored packets, so that new ones are pulled.
//!
//! # Example
//! ```click
//! FromDump(a.pcap) -> [0]m :: MultiReplay(STOP 10); FromDump(b.pcap) -> [1]m;
//! m[0] -> Unqueue -> Discard; m[1] -> Unqueue -> Discard;
//! ```
//!
//! # See also
//! Replay, MultiReplayUnqueue

use super::recording::Recording;
use super::rounds::Rounds;
use packet::{BATCH_MAX, Batch, Packet};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Flags, Handlers, Pull, Residency};
use std::any::Any;
use std::collections::VecDeque;

/// The class.
pub(crate) const CLASS: Class = Class::new("MultiReplay", create)
    .ports("1-/=")
    .processing("l/l")
    .flow("#/#")
    .activity(Activity::Always)
    .residency(Residency::Exclusive)
    .copies()
    .holds("the recording and copies to be pulled")
    .absorbs("the recording when it is reset")
    .doc(router::manual!("multi_replay.rs"));

struct MultiReplay {
    recording: Recording,
    rounds: Rounds,
    active: bool,
    burst: usize,
    /// Packets that wait at an output, at most.
    capacity: usize,
    waiting: Vec<VecDeque<Packet>>,
    /// The next packet to copy.
    next: usize,
    count: u64,
}

/// What goes to a new configuration.
struct Handover {
    recording: Recording,
    rounds: Rounds,
    waiting: Vec<VecDeque<Packet>>,
    next: usize,
    active: bool,
    count: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut stop, mut burst, mut limit, mut capacity) = (-1, 64usize, -1i64, 1024u32);
    let (mut active, mut verbose, mut time, mut sleep) = (true, false, 0u32, 0u32);
    let (mut quick, mut signal, mut free) = (false, true, true);
    config
        .args()
        .positional("QUEUE", &mut capacity)
        .keyword("STOP", &mut stop)
        .keyword("BURST", &mut burst)
        .keyword("ACTIVE", &mut active)
        .keyword("LIMIT", &mut limit)
        .keyword("STOP_TIME", &mut time)
        .keyword("VERBOSE", &mut verbose)
        .keyword("QUICK_CLONE", &mut quick)
        .keyword("USE_SIGNAL", &mut signal)
        .keyword("FREEONTERMINATE", &mut free)
        .keyword("SLEEP", &mut sleep)
        .finish()?;
    if burst == 0 {
        return Err("BURST must be positive".into());
    }
    if capacity == 0 {
        return Err("QUEUE must be positive".into());
    }
    Ok(Box::new(MultiReplay {
        recording: Recording::new(config.inputs(), limit),
        rounds: Rounds::new(stop, time, verbose),
        active,
        burst,
        capacity: capacity as usize,
        waiting: (0..config.outputs()).map(|_| VecDeque::new()).collect(),
        next: 0,
        count: 0,
    }))
}

impl MultiReplay {
    /// Whether packets wait to be pulled.
    fn is_full(&self) -> bool {
        self.waiting.iter().any(|queue| !queue.is_empty())
    }

    /// The driver is to stop, when everything was pulled, and the element with it.
    fn end(&mut self, cx: &mut Cx<'_>) {
        if !self.is_full() {
            self.active = false;
            self.rounds.end();
            cx.signals().set(false);
            cx.info().please_end();
        }
    }

    /// Copies packets into the queues of their outputs, as long as there is room.
    fn replay(&mut self, cx: &mut Cx<'_>) {
        if self.rounds.left == 0 {
            return self.end(cx);
        }
        for _ in 0..self.burst {
            let Some(packet) = self.recording.packets.get(self.next) else { break };
            let output = if self.recording.merges() { usize::from(packet.paint()) } else { 0 };
            if self.waiting[output].len() >= self.capacity {
                // A pull from it has the replay go on.
                return cx.signals().set(true);
            }
            match cx.pool().copy(packet) {
                Some(copy) => self.waiting[output].push_back(copy),
                None => cx.count_drops("out of memory", 1),
            }
            self.rounds.begin(cx.now_ns());
            self.next += 1;
        }
        cx.signals().set(self.is_full());
        if self.next == self.recording.packets.len() {
            self.next = 0;
            self.rounds.count(cx);
        }
        // Of nothing there are not endless many rounds.
        if self.rounds.left >= 0 || !self.recording.packets.is_empty() {
            cx.tasks().schedule();
        }
    }

    /// Lets go of what waits to be pulled, and of the recording.
    fn let_go(&mut self, cx: &mut Cx<'_>) {
        self.waiting.iter_mut().flat_map(|queue| queue.drain(..)).for_each(|packet| cx.pool().free(packet));
        self.recording.let_go(cx);
        self.next = 0;
    }
}

impl Element for MultiReplay {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.recording.listen(cx);
        cx.signals().provide();
        cx.signals().set(false);
        if self.active {
            cx.tasks().schedule();
        }
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        match self.active {
            true if self.recording.loaded => self.replay(cx),
            true => self.recording.load(cx),
            false => {}
        }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) -> Pull {
        self.recording.pulled(cx, port, batch);
        Pull::Nothing
    }

    fn pull(&mut self, cx: &mut Cx<'_>, port: usize, want: usize) -> Pull {
        let mut copies = cx.batch();
        while copies.len() < want.min(BATCH_MAX)
            && let Some(packet) = self.waiting[port].pop_front()
        {
            copies.push(packet);
        }
        self.count += copies.len() as u64;
        if !self.is_full() {
            cx.signals().set(false);
        }
        if self.active && self.recording.loaded {
            cx.tasks().schedule();
        }
        Pull::Give(copies)
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.tasks().schedule();
    }

    fn held(&self) -> usize {
        self.recording.held() + self.waiting.iter().map(VecDeque::len).sum::<usize>()
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        self.let_go(cx);
    }

    /// The recording, how far it was replayed, and what waits to be pulled.
    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let recording = std::mem::replace(&mut self.recording, Recording::new(0, 0));
        let rounds = std::mem::replace(&mut self.rounds, Rounds::new(0, 0, false));
        let (next, active, count) = (std::mem::take(&mut self.next), self.active, self.count);
        Some(Box::new(Handover {
            recording,
            rounds,
            waiting: std::mem::take(&mut self.waiting),
            next,
            active,
            count,
        }))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(old) = state.downcast::<Handover>() else { return };
        self.recording.take_over(cx, old.recording);
        self.rounds.take_over(&old.rounds);
        for (output, queue) in old.waiting.into_iter().enumerate() {
            for packet in queue {
                match self.waiting.get_mut(output) {
                    Some(queue) if queue.len() < self.capacity => queue.push_back(packet),
                    _ => cx.drop(packet, "the new configuration has no room"),
                }
            }
        }
        self.next = old.next.min(self.recording.packets.len());
        self.count += old.count;
        if self.rounds.left == 0 {
            self.active &= old.active; // the driver was asked to stop
        }
        let is_full = self.is_full();
        cx.signals().set(is_full);
        if self.active {
            cx.tasks().schedule();
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type M = MultiReplay;
        h.read("loaded", |e: &mut M, _| e.recording.loaded);
        h.read("packets", |e: &mut M, _| e.recording.packets.len());
        h.read("count", |e: &mut M, _| e.count);
        h.read("active", |e: &mut M, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut M, cx, text| {
            e.active = router::value(cx, text)?;
            if e.active {
                cx.tasks().schedule();
            }
            Ok(())
        });
        h.read("stop", |e: &mut M, _| e.rounds.left);
        h.write("stop", |e: &mut M, cx, text| {
            e.rounds.left = router::value(cx, text)?;
            Ok(())
        });
        h.write("reset", |e: &mut M, cx, _| {
            e.let_go(cx);
            cx.signals().set(false);
            cx.tasks().schedule();
            Ok(())
        })
        .as_button();
    }
}
