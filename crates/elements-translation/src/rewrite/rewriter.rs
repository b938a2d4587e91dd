//! Rewriters as elements: what IPRewriter and its relatives do with packets, and their handlers.

use super::arguments::{self, Annotations};
use super::counters;
use super::flow_set::{FlowMatch, FlowSet};
use super::index::Home;
use super::input::Outputs;
use super::nat::{Circumstances, Kind, Miss, Nat, Wanted};
use super::newcomers::{NONE, Newcomer, Newcomers};
use super::pattern::Pattern;
use super::record::{Flow, REPLY, flag};
use crate::metrics;
use elements_shared::flow_filter::Filter;
use elements_shared::flow_id::{FlowId, Key};
use packet::{BATCH_MAX, Batch, Packet};
use rcu::Turn;
use router::{
    Args, BadState, Config, ConfigError, Cx, Decision, Element, HandlerError, Handlers, Level, Look, Outcome,
    StateReader, StateWriter, Then, Verdict, metric,
};
use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::marker::PhantomData;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use wire::ip_proto;

/// The form of what is left to another process.
const FORM: u8 = 1;

/// The timers: to look for flows whose time is over, and to go on with that.
const REAP: u32 = 0;
const GO_ON: u32 = 1;
/// Flows that a timer looks at in one go, and how long packets have their turn before the next.
const REAPED_AT_ONCE: usize = 2048;
const PAUSE: Duration = Duration::from_millis(1);

const NOT_REWRITABLE: &str = "no packet that can be rewritten";

/// Packets of a kind: what their flows are found by, and how they are rewritten.
pub(super) trait Protocol: Send + 'static {
    /// The rewriter's kind.
    const KIND: Kind;

    /// What a packet's flow is found by, and its IP protocol. `None` if it has none.
    fn key(nat: &Nat, packet: &Packet) -> Option<(Key, u8)>;

    /// Finds a packet's flow, when the key has not led to it.
    #[inline]
    fn find<'t>(
        set: &'t FlowSet,
        turn: Turn<'t>,
        key: Key,
        hash: u64,
        packet: &Packet,
    ) -> Option<FlowMatch<'t>> {
        let _ = packet;
        set.find_hashed(turn, key, hash)
    }

    /// Whether a packet without a flow may make one.
    #[inline]
    fn may_begin(packet: &Packet) -> bool {
        let _ = packet;
        true
    }

    /// Rewrites a packet that has a key. Returns the flow's flags afterwards.
    fn apply(packet: &mut [u8], turn: Turn<'_>, flow: &Flow, direction: usize) -> u16;
}

/// An instance of a rewriter.
pub(super) struct Rewriter<P> {
    nat: Arc<Nat>,
    /// The table, once the element is initialised.
    set: Option<Arc<FlowSet>>,
    annotations: Annotations,
    reap: Duration,
    /// Whether this instance looks for flows whose time is over.
    reaps: bool,
    chance: RefCell<Chance>,
    protocol: PhantomData<P>,
}

/// Numbers that chance said when it was asked ahead of time, with the largest that was possible. They are used in the order in which they
/// were drawn, so that packets become the same in batches of whatever size.
pub(super) struct Chance(VecDeque<(u32, u32)>);

impl Chance {
    /// The number that will be said after `later` others.
    pub(super) fn foresee(&mut self, later: usize, top: u32, cx: &mut Cx<'_>) -> u32 {
        while self.0.len() <= later.min(BATCH_MAX - 1) {
            self.0.push_back((top, cx.unguessable().up_to(top)));
        }
        self.0.get(later).map_or(0, |(_, number)| *number).min(top)
    }

    /// The number that will be said next, if it is one up to the given one.
    pub(super) fn first(&mut self, top: u32, cx: &mut Cx<'_>) -> Option<u32> {
        let _ = self.foresee(0, top, cx);
        self.0.front().filter(|(most, _)| *most == top).map(|(_, number)| *number)
    }

    /// That number was used.
    pub(super) fn use_first(&mut self) {
        self.0.pop_front();
    }

    /// A number up to the given one.
    fn next(&mut self, top: u32, cx: &mut Cx<'_>) -> u32 {
        match self.0.pop_front() {
            Some((most, number)) if most == top => number,
            _ => cx.unguessable().up_to(top),
        }
    }
}

/// Makes an instance.
///
/// # Errors
/// What is wrong with the arguments.
pub(super) fn create<P: Protocol>(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let made = arguments::make(P::KIND, config)?;
    Ok(Box::new(Rewriter::<P> {
        nat: made.nat,
        set: None,
        annotations: made.annotations,
        reap: made.reap,
        reaps: config.workers().first() == Some(&config.worker()),
        // Has room for all, so that packets do not wait for memory.
        chance: RefCell::new(Chance(VecDeque::with_capacity(BATCH_MAX))),
        protocol: PhantomData,
    }))
}

/// The time in the unit of the tables.
#[inline]
pub(super) fn now_ms(cx: &Cx<'_>) -> u64 {
    (cx.now_ns() / 1_000_000) as u64
}

/// What is known of a packet from a look at it.
#[derive(Clone, Copy)]
struct Sight<'t> {
    key: Key,
    hash: u64,
    /// Where the search for its flow begins; `None` if it can't have one.
    home: Option<Home<'t>>,
    /// The entry that it probably belongs to, and the flow there.
    guess: u32,
    flow: Option<&'t Flow>,
    protocol: u8,
    /// What the packet sets of the flow's flags, if the flow is known: only its first packet does not confirm it.
    confirms: u16,
}

impl<'t> Sight<'t> {
    const NOTHING: Sight<'t> = Sight {
        key: Key::new(0, FlowId { saddr: 0, daddr: 0, sport: 0, dport: 0 }),
        hash: 0,
        home: None,
        guess: NONE,
        flow: None,
        protocol: 0,
        confirms: flag::CONFIRMED,
    };

    /// What a packet says by itself.
    #[inline(always)] // so that it is made where it stays
    fn of<P: Protocol>(nat: &Nat, set: &'t FlowSet, turn: Turn<'t>, packet: &Packet) -> Sight<'t> {
        let Some((key, protocol)) = P::key(nat, packet) else { return Sight::NOTHING };
        let hash = set.hash(key);
        let home = Some(set.index().home(turn, hash));
        Sight { key, hash, home, protocol, ..Sight::NOTHING }
    }

    /// Whether its flow is probably new.
    #[inline]
    fn is_new(&self) -> bool {
        self.home.is_some() && self.guess == NONE
    }

    /// Its flow is known by now.
    fn know(&mut self, Newcomer { found, is_first }: &Newcomer<'t>) {
        (self.guess, self.flow) = (found.entry(), Some(found.flow));
        self.confirms = if *is_first { 0 } else { flag::CONFIRMED };
    }

    /// Looks for its flow.
    #[inline]
    fn guess(&mut self, set: &'t FlowSet) {
        self.guess = self.home.map_or(NONE, |home| home.guess(self.hash));
        self.flow = set.flow(self.guess);
    }
}

impl<P: Protocol> Rewriter<P> {
    /// Looks at all packets of a batch, and asks for what they will need: first for all index lines, then for all records. Says whether
    /// flows of some are probably new.
    #[inline]
    fn prepare<'t>(
        &self,
        turn: Turn<'t>,
        set: &'t FlowSet,
        batch: &Batch,
        sights: &mut [Sight<'t>; BATCH_MAX],
    ) -> bool {
        for (sight, packet) in sights.iter_mut().zip(batch.iter()) {
            *sight = Sight::of::<P>(&self.nat, set, turn, packet);
            if let Some(home) = sight.home {
                home.prefetch();
            }
        }
        let mut has_new = false;
        for sight in &mut sights[..batch.len()] {
            sight.guess(set);
            if let Some(flow) = sight.flow {
                packet::prefetch(flow);
            }
            // IPAddrRewriter finds replies by their destinations, where they do not seem new.
            has_new |= P::KIND != Kind::Addr && sight.is_new();
        }
        has_new
    }

    /// Adds the new flows of a batch, as far as that concerns no others; the rest are made where their packets are processed.
    fn add_new<'t>(
        &self,
        cx: &mut Cx<'_>,
        port: usize,
        batch: &Batch,
        sights: &mut [Sight<'t>; BATCH_MAX],
        newcomers: &Newcomers<'t>,
    ) {
        let (mut keys, mut ats, mut count) = ([Sight::NOTHING.key; BATCH_MAX], [0; BATCH_MAX], 0);
        for (at, (sight, packet)) in sights.iter().zip(batch.iter()).enumerate() {
            (keys[count], ats[count]) = (sight.key, at);
            let makes = sight.is_new() && P::may_begin(packet);
            count += usize::from(makes && !self.nat.is_over_quota(newcomers.set(), sight.key));
        }
        let (chance, mut drafts) = (&mut *self.chance.borrow_mut(), [None; BATCH_MAX]);
        newcomers.foresee(&keys[..count], &mut drafts, chance, cx);
        let now_ms = now_ms(cx);
        let mut adding = newcomers.begin(cx.worker());
        for (&at, draft) in ats[..count].iter().zip(&drafts) {
            let Sight { key, hash, protocol, .. } = sights[at];
            if self.nat.is_over_quota(newcomers.set(), key) {
                continue; // since the batch began
            }
            let wanted = Wanted { at: port, key, hash, protocol };
            let anno = |anno| batch.iter().nth(at).map_or(0, |packet| packet.anno(anno) as u8);
            let reply_anno = self.annotations.reply.map_or(0, anno);
            let Some(new) = newcomers.add(&mut adding, (&wanted, draft), reply_anno, chance, cx, now_ms)
            else {
                break;
            };
            sights[at].know(&new);
        }
    }

    /// Processes a batch that has packets of new flows.
    #[inline(never)]
    fn push_new<'t>(
        &'t self,
        cx: &mut Cx<'_>,
        (set, turn): (&'t FlowSet, Turn<'t>),
        port: usize,
        batch: Batch,
        sights: &mut [Sight<'t>; BATCH_MAX],
        from: (&'t Pattern, Outputs),
    ) {
        self.nat.listen(cx);
        if !set.has_exhausted() {
            let newcomers = Newcomers::new(&self.nat, set, turn, from, cx.worker());
            self.add_new(cx, port, &batch, sights, &newcomers);
        }
        let now_ms = now_ms(cx);
        let mut sights = sights.iter();
        cx.scatter(batch, |cx, packet| {
            let Some(sight) = sights.next() else { return Verdict::Drop(NOT_REWRITABLE) };
            self.process(cx, set, port, packet, sight, now_ms)
        });
    }

    #[inline(always)] // nearly all that there is to do
    fn process(
        &self,
        cx: &mut Cx<'_>,
        set: &FlowSet,
        port: usize,
        packet: &mut Packet,
        sight: &Sight<'_>,
        now_ms: u64,
    ) -> Verdict {
        let turn = cx.turn();
        let Sight { key, hash, home, guess, flow, protocol, confirms } = *sight;
        if home.is_none() {
            return self.pass(turn, port);
        }
        let known = flow.and_then(|flow| FlowMatch::check(flow, guess, key));
        let known = known.or_else(|| P::find(set, turn, key, hash, packet));
        let (found, confirms) = match known {
            Some(found) => (found, confirms),
            None if !P::may_begin(packet) => return self.pass(turn, port),
            None => match self.miss(cx, packet, Wanted { at: port, key, hash, protocol }, now_ms) {
                Miss::Made(found) => (found, 0),
                Miss::Pass(output) => return Verdict::Output(output),
                Miss::Drop(reason) => return Verdict::Drop(reason),
            },
        };
        let flow = found.flow;
        let Some(data) = packet.network_mut() else { return Verdict::Drop(NOT_REWRITABLE) };
        let flags = P::apply(data, turn, flow, found.direction) | confirms;
        flow.touch(now_ms);
        if flags != flow.flags() {
            self.nat.change_flags(set, &found, key.map(), flags);
        }
        self.annotate(packet, &found);
        match found.output() {
            0 => Verdict::Pass,
            output => Verdict::Output(output),
        }
    }

    #[inline(always)] // a few instructions
    fn annotate(&self, packet: &mut Packet, found: &FlowMatch<'_>) {
        // IPAddrRewriter leaves destinations of the forward direction alone, as it does not know them.
        if self.annotations.dst && (P::KIND != Kind::Addr || found.direction == REPLY) {
            packet.set_dst_ip(Ipv4Addr::from_bits(found.rewritten().daddr));
        }
        if let Some(anno) = self.annotations.reply
            && found.direction == REPLY
        {
            packet.set_anno(anno, u64::from(found.flow.reply_anno()));
        }
    }

    #[inline(never)]
    fn miss<'f, 't: 'f>(&'f self, cx: &mut Cx<'t>, packet: &Packet, wanted: Wanted, now_ms: u64) -> Miss<'f> {
        self.nat.listen(cx);
        let turn = cx.turn();
        let reply_anno = self.annotations.reply.map_or(0, |anno| packet.anno(anno) as u8);
        let worker = cx.worker();
        let mut random = |top: u32| self.chance.borrow_mut().next(top, cx);
        let mut with = Circumstances { worker, now_ms, random: &mut random };
        self.nat.miss(turn, wanted, reply_anno, &mut with)
    }

    /// What becomes of a packet that has no flow and cannot make one.
    fn pass(&self, turn: Turn<'_>, port: usize) -> Verdict {
        self.nat.pass(turn, port).map_or(Verdict::Drop(NOT_REWRITABLE), Verdict::Output)
    }

    fn shrink(&self, cx: &Cx<'_>) -> bool {
        self.nat.listen(cx);
        let now_ms = now_ms(cx);
        self.set.as_ref().is_some_and(|set| set.edit(cx.turn()).shrink(now_ms, REAPED_AT_ONCE))
    }
}

impl<P: Protocol> Element for Rewriter<P> {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let set = self.nat.initialize(cx.info(), cx.turn()).map_err(ConfigError::from)?;
        self.set = Some(set);
        if self.reaps && !self.reap.is_zero() {
            cx.timers().after(REAP, self.reap);
        }
        Ok(())
    }

    fn push_one(&mut self, cx: &mut Cx<'_>, port: usize, packet: &mut Packet) -> Option<Verdict> {
        let set = self.set.as_deref()?;
        let mut sight = Sight::of::<P>(&self.nat, set, cx.turn(), packet);
        sight.guess(set);
        let now_ms = now_ms(cx);
        Some(self.process(cx, set, port, packet, &sight, now_ms))
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        let this = &*self;
        let Some(set) = this.set.as_deref() else { return cx.drop_batch(batch, NOT_REWRITABLE) };
        let mut sights = [Sight::NOTHING; BATCH_MAX];
        let turn = cx.turn();
        let has_new = this.prepare(turn, set, &batch, &mut sights);
        if has_new && let Some(from) = this.nat.foreseen(turn, port) {
            return this.push_new(cx, (set, turn), port, batch, &mut sights, from);
        }
        let now_ms = now_ms(cx);
        let mut sights = sights.iter();
        cx.scatter(batch, |cx, packet| {
            // There are as many as packets.
            let Some(sight) = sights.next() else { return Verdict::Drop(NOT_REWRITABLE) };
            this.process(cx, set, port, packet, sight, now_ms)
        });
    }

    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        if self.shrink(cx) {
            cx.timers().after(GO_ON, PAUSE);
        }
        if key == REAP {
            cx.timers().after(REAP, self.reap);
        }
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.nat.clone()))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Some(old) = state.downcast_ref::<Arc<Nat>>() {
            let lost = self.nat.adopt(old, cx.turn(), now_ms(cx));
            // Every instance comes to the same number.
            if lost > 0 && self.reaps {
                cx.say(
                    Level::Warning,
                    format_args!(
                        "{}: {lost} flows lost (their input has another specification now)",
                        cx.name()
                    ),
                );
            }
        }
    }

    /// Flows, which all instances share: the one that looks after their times writes them.
    fn write_state(&mut self, cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        if !self.reaps {
            return false;
        }
        out.form(FORM);
        self.nat.write(out, cx.turn());
        true
    }

    fn read_state(&mut self, cx: &mut Cx<'_>, state: &mut StateReader) -> Result<(), BadState> {
        state.form(FORM)?;
        let lost = self.nat.read(state, cx.turn(), now_ms(cx))?;
        if lost > 0 {
            cx.say(Level::Warning, format_args!("{}: {lost} flows lost", cx.name()));
        }
        Ok(())
    }

    fn explain(&self, look: &Look<'_>, port: usize, packet: &mut Packet) -> Option<Decision> {
        let (set, turn) = (self.set.as_deref()?, look.turn());
        let passed = |because: &str| {
            let then = self.nat.pass(turn, port).map_or(Then::Drop(NOT_REWRITABLE), Then::Output);
            Some(Decision::new(then, because))
        };
        let Some((key, _)) = P::key(&self.nat, packet) else { return passed("no flow can have this packet") };
        let found = set.find(turn, key).or_else(|| P::find(set, turn, key, set.hash(key), packet));
        let Some(found) = found else {
            if !P::may_begin(packet) {
                return passed("it belongs to no flow and begins none");
            }
            let input = self.nat.inputs().get(port)?.read(turn).to_string();
            return Some(Decision::new(Then::Stays, format!("it would begin a flow, by '{input}'")));
        };
        let to = found.rewritten();
        let side = if found.direction == REPLY { "reply of a flow" } else { "flow" };
        let ends = format!("{}:{} > {}:{}", to.source(), to.sport, to.destination(), to.dport);
        P::apply(packet.network_mut()?, turn, found.flow, found.direction);
        self.annotate(packet, &found);
        Some(Decision::new(Then::Output(found.output()), format!("{side}, becomes {ends}")))
    }

    fn handlers(&self, h: &mut Handlers) {
        type R<P> = Rewriter<P>;
        for name in ["table_size", "nmappings"] {
            h.read(name, |e: &mut R<P>, _| sum(&e.nat, |counts| counts.flows()));
        }
        h.read("mapping_failures", |e: &mut R<P>, _| sum(&e.nat, |counts| counts.failures()))
            .measures(&metrics::FAILURES);
        counters::handlers(h, |e: &R<P>| &e.nat);
        h.read("patterns", |e: &mut R<P>, cx| {
            (0..e.nat.inputs().len()).map(|at| pattern(&e.nat, cx.turn(), at)).collect::<String>()
        });
        h.read("size", |e: &mut R<P>, _| e.set.as_ref().map_or(0, |set| set.size())).measures(&metric::FLOWS);
        h.read("capacity", |e: &mut R<P>, _| e.set.as_ref().map_or(0, |set| set.capacity()))
            .measures(&metric::FLOW_CAPACITY);
        h.write("capacity", |e: &mut R<P>, cx, text| {
            let mut capacity = 0;
            let words = lang::conf::split_spaces(&lang::conf::uncomment(text));
            Args::new(words, router::scope(cx))
                .required("CAPACITY", &mut capacity)
                .finish()
                .map_err(|error| error.to_string())?;
            if let Some(set) = &e.set {
                set.set_capacity(capacity);
            }
            while e.shrink(cx) {}
            Ok(())
        });
        h.write("clear", |e: &mut R<P>, cx, _| {
            e.nat.listen(cx);
            if let Some(set) = &e.set {
                set.edit(cx.turn()).clear();
            }
            Ok(())
        });
        for at in 0..self.nat.inputs().len() {
            let name = format!("pattern{at}");
            h.read(&name, move |e: &mut R<P>, cx| pattern(&e.nat, cx.turn(), at));
            h.write(&name, move |e: &mut R<P>, cx, text| {
                e.nat.change_input(cx.info(), router::scope(cx), cx.turn(), at, text)
            });
        }
        let lists: &[(&str, u8)] = match P::KIND {
            Kind::Ip => &[
                ("tcp_table", ip_proto::TCP),
                ("udp_table", ip_proto::UDP),
                ("tcp_mappings", ip_proto::TCP),
                ("udp_mappings", ip_proto::UDP),
            ],
            _ => &[("table", 0), ("mappings", 0)],
        };
        for &(name, protocol) in lists {
            h.read(name, move |e: &mut R<P>, cx| e.nat.list(cx.turn(), e.nat.map(protocol), now_ms(cx)));
        }
        if !matches!(P::KIND, Kind::Addr | Kind::Pair) {
            h.read("endpoints", |e: &mut R<P>, cx| e.nat.endpoint_lines(cx.turn()));
            h.read("endpoints_json", |e: &mut R<P>, cx| e.nat.endpoint_json(cx.turn()));
        }
        h.read_with("count", |e: &mut R<P>, cx, text| {
            Ok(e.nat.count_flows(cx.turn(), &Filter::parse(text)?).to_string())
        });
        h.read_with("flows", |e: &mut R<P>, cx, text| {
            Ok(e.nat.flow_lines(cx.turn(), &Filter::parse(text)?, now_ms(cx)))
        });
        h.read_with("flows_json", |e: &mut R<P>, cx, text| {
            Ok(e.nat.flow_json(cx.turn(), &Filter::parse(text)?, now_ms(cx)))
        });
        h.write_outcome("flows_load", |e: &mut R<P>, cx, text| {
            Outcome::Done(e.nat.load_flows(cx.turn(), text, now_ms(cx)).map_err(HandlerError::from))
        });
        h.write_outcome("kill", |e: &mut R<P>, cx, text| {
            e.nat.listen(cx);
            let killed = Filter::parse(text).map(|filter| e.nat.kill_flows(cx.turn(), &filter).to_string());
            Outcome::Done(killed.map_err(HandlerError::from))
        });
        let lookup = match P::KIND {
            Kind::Ip => "tcp_lookup",
            Kind::Tcp => "lookup",
            _ => return,
        };
        h.read_with(lookup, |e: &mut R<P>, cx, text| e.lookup(cx, text));
    }
}

impl<P: Protocol> Rewriter<P> {
    /// Reads `SADDR SPORT DADDR DPORT` and answers with what becomes of them; nothing if there is no such flow.
    fn lookup(&self, cx: &Cx<'_>, text: &str) -> Result<String, String> {
        let (mut saddr, mut daddr) = (Ipv4Addr::UNSPECIFIED, Ipv4Addr::UNSPECIFIED);
        let (mut sport, mut dport) = (router::IpPort::default(), router::IpPort::default());
        Args::new(lang::conf::split_spaces(text), router::scope(cx))
            .required("SADDR", &mut saddr)
            .required("SPORT", &mut sport)
            .required("DADDR", &mut daddr)
            .required("DPORT", &mut dport)
            .finish()
            .map_err(|error| error.to_string())?;
        let id = FlowId::new(saddr, sport.0, daddr, dport.0);
        let key = Key::new(self.nat.map(ip_proto::TCP), id);
        let found = self.set.as_ref().and_then(|set| set.find(cx.turn(), key));
        let mut answer = String::new();
        if let Some(found) = found {
            let to = found.rewritten();
            let _ = write!(answer, "{} {} {} {}", to.source(), to.sport, to.destination(), to.dport);
        }
        Ok(answer)
    }
}

fn sum(nat: &Nat, of: impl Fn(&super::counts::InputCounts) -> u32) -> u32 {
    nat.counts().iter().map(of).fold(0, u32::wrapping_add)
}

/// The line that shows an input's specification and how many flows it has made.
fn pattern(nat: &Nat, turn: Turn<'_>, at: usize) -> String {
    let mut line = nat.inputs()[at].read(turn).to_string();
    match nat.counts()[at].flows() {
        0 => {}
        flows => line.push_str(&format!(" [{flows}]")),
    }
    line.push('\n');
    line
}
