//! Stores packets and replays them repeatedly when pulled.
//!
//! ```click
//! Replay([KEYWORDS])
//! ```
//!
//! At the first pull it pulls packets until there are no more, and stores them. From then on it answers pulls with
//! copies of them, in order, STOP times, and then stops the driver. If nothing arrives within a millisecond, nothing
//! is stored. It is FastClick's element with one input.
//!
//! Ports: 1 input, 1 output. Processing: pull. Workers: exclusive.
//!
//! # Arguments
//! - `STOP` (integer, default -1): how often to replay all packets; negative: forever.
//! - `ACTIVE` (boolean, default true): whether to answer pulls.
//! - `LIMIT` (integer, default -1): packets to store; negative means all.
//! - `STOP_TIME` (integer, default 0): seconds after which no new round begins; 0: no limit.
//! - `VERBOSE` (boolean, default false): whether to print a message at the end of each round.
//! - `QUEUE`, `BURST`, `SLEEP` (integer), `QUICK_CLONE`, `USE_SIGNAL`, `FREEONTERMINATE` (boolean): accepted; packets
//!   are copied when they are pulled.
//!
//! # Handlers
//! - `loaded` (read): whether the packets have been loaded. `packets` (read): how many are stored. `count` (read):
//!   how many have been replayed.
//! - `active` (read, write), `stop` (read, write): the arguments; `stop` counts down.
//! - `reset` (write, button): discards the stored packets, so that new ones are pulled.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap) -> Replay(STOP 10) -> Unqueue -> Discard;
//! ```
//!
//! # See also
//! ReplayUnqueue, MultiReplay, FromDump

use super::rounds::{FIRST_WAIT, Rounds, tell_loaded, tell_loading};
use packet::{BATCH_MAX, Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Flags, Handlers, Pull, Residency, metric};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class = Class::new("Replay", create)
    .processing("l/l")
    .residency(Residency::Exclusive)
    .copies()
    .holds("the recording")
    .absorbs("the recording when it is reset")
    .doc(router::manual!("replay.rs"));

struct Replay {
    rounds: Rounds,
    active: bool,
    limit: usize,
    packets: Vec<Packet>,
    /// Whether it was said that packets are being pulled.
    loading: bool,
    /// Whether there was nothing to pull at first.
    empty: bool,
    loaded: bool,
    /// The next packet to give.
    next: usize,
    count: u64,
    /// Packets asked for by the pull that is being answered.
    want: usize,
}

/// What goes to a new configuration.
struct Handover {
    rounds: Rounds,
    packets: Vec<Packet>,
    loaded: bool,
    /// Whether it was said that packets are being pulled, and whether there was nothing to pull.
    told: (bool, bool),
    next: usize,
    active: bool,
    count: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut stop, mut active, mut limit, mut queue, mut burst) = (-1, true, -1i64, 0u32, 0u32);
    let (mut verbose, mut quick, mut signal, mut free, mut time) = (false, false, true, true, 0u32);
    let mut sleep = 0u32;
    config
        .args()
        .positional("QUEUE", &mut queue)
        .keyword("STOP", &mut stop)
        .keyword("ACTIVE", &mut active)
        .keyword("LIMIT", &mut limit)
        .keyword("BURST", &mut burst)
        .keyword("VERBOSE", &mut verbose)
        .keyword("QUICK_CLONE", &mut quick)
        .keyword("USE_SIGNAL", &mut signal)
        .keyword("FREEONTERMINATE", &mut free)
        .keyword("STOP_TIME", &mut time)
        .keyword("SLEEP", &mut sleep)
        .finish()?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let packets = Vec::new();
    let rounds = Rounds::new(stop, time, verbose);
    let (loading, empty, loaded) = (false, false, false);
    Ok(Box::new(Replay {
        rounds,
        active,
        limit,
        packets,
        loading,
        empty,
        loaded,
        next: 0,
        count: 0,
        want: 0,
    }))
}

impl Replay {
    /// Copies of the next packets; ends the last round.
    fn give(&mut self, cx: &mut Cx<'_>) -> Pull {
        let mut copies = cx.batch();
        while self.active && copies.len() < self.want {
            if self.next == self.packets.len() {
                self.next = 0;
                self.rounds.count(cx);
            }
            if self.packets.is_empty() && self.rounds.left < 0 {
                cx.signals().set(false);
                break;
            }
            if self.rounds.left == 0 {
                self.active = false;
                self.rounds.end();
                cx.signals().set(false);
                cx.info().please_end();
                break;
            }
            let Some(packet) = self.packets.get(self.next) else { continue };
            match cx.pool().copy(packet) {
                Some(copy) => copies.push(copy),
                None => cx.count_drops("out of memory", 1),
            }
            self.rounds.begin(cx.now_ns());
            self.next += 1;
        }
        self.count += copies.len() as u64;
        Pull::Give(copies)
    }

    fn let_go(&mut self, cx: &mut Cx<'_>) {
        self.packets.drain(..).for_each(|packet| cx.pool().free(packet));
    }
}

impl Element for Replay {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().provide();
        cx.signals().set(self.active);
        cx.signals().relay(0);
        Ok(())
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        if !self.active {
            cx.signals().set(false);
            return Pull::Nothing;
        }
        self.want = want.min(BATCH_MAX);
        if self.loaded {
            return self.give(cx);
        }
        if !std::mem::replace(&mut self.loading, true) {
            tell_loading(cx, 1);
        }
        Pull::Ask { input: 0, want: cx.vector().min(BATCH_MAX).min(self.limit - self.packets.len()).max(1) }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) -> Pull {
        let none = batch.is_empty();
        batch.drain(|packet| self.packets.push(packet));
        cx.consume(batch);
        if none && self.packets.is_empty() && (cx.signals().may_have(0) || !self.empty) {
            // Nothing has come yet.
            let may_have = cx.signals().may_have(0);
            cx.signals().set(may_have);
            if !cx.signals().may_have(0) {
                self.empty = true;
                cx.timers().after(0, FIRST_WAIT);
            }
            return Pull::Nothing;
        }
        if none || self.packets.len() >= self.limit {
            self.loaded = true;
            tell_loaded(cx, self.packets.len(), none.then_some(0));
            return self.give(cx);
        }
        Pull::Ask { input: 0, want: cx.vector().min(BATCH_MAX).min(self.limit - self.packets.len()) }
    }

    /// Has the puller look again whether something has come.
    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.signals().set(self.active);
    }

    fn held(&self) -> usize {
        self.packets.len()
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        self.let_go(cx);
    }

    /// The recording, and how far it was replayed.
    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Handover {
            rounds: std::mem::replace(&mut self.rounds, Rounds::new(0, 0, false)),
            packets: std::mem::take(&mut self.packets),
            loaded: std::mem::take(&mut self.loaded),
            told: (self.loading, self.empty),
            next: std::mem::take(&mut self.next),
            active: self.active,
            count: self.count,
        }))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(mut old) = state.downcast::<Handover>() else { return };
        let most = self.limit.min(old.packets.len());
        old.packets
            .drain(most..)
            .for_each(|packet| cx.drop(packet, "the new configuration has a lower LIMIT"));
        self.rounds.take_over(&old.rounds);
        (self.packets, self.next) = (old.packets, old.next.min(most));
        self.loaded = old.loaded || most == self.limit;
        (self.loading, self.empty) = old.told;
        self.count += old.count;
        if self.rounds.left == 0 {
            self.active &= old.active; // the driver was asked to stop
        }
        cx.signals().set(self.active);
    }

    fn handlers(&self, h: &mut Handlers) {
        type R = Replay;
        h.read("loaded", |e: &mut R, _| e.loaded);
        h.read("packets", |e: &mut R, _| e.packets.len());
        h.read("count", |e: &mut R, _| e.count).measures(&metric::PACKETS);
        h.read("active", |e: &mut R, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut R, cx, text| {
            e.active = router::value(cx, text)?;
            cx.signals().set(e.active);
            Ok(())
        });
        h.read("stop", |e: &mut R, _| e.rounds.left);
        h.write("stop", |e: &mut R, cx, text| {
            e.rounds.left = router::value(cx, text)?;
            Ok(())
        });
        h.write("reset", |e: &mut R, cx, _| {
            e.let_go(cx);
            (e.loading, e.empty, e.loaded, e.next) = (false, false, false, 0);
            cx.signals().set(e.active);
            Ok(())
        })
        .as_button();
    }
}
