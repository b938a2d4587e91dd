//! The element behind ARPQuerier, IP6NDSolicitor, IPAdjacency and IP6Adjacency: puts packets into Ethernet frames, and
//! asks for the addresses of neighbours.

use super::arguments::{TableArgs, handlers, settle, write_clear};
use super::state::{News, Query, Timing};
use super::table::{Address, Advice, Limits, NeighbourLookup, Neighbours, Resolution, Waiter};
use super::waiting::Waiting;
use elements_shared::ether_header::{NO_ROOM, Ready};
use packet::{Anno, Batch, Packet};
use router::{
    BadState, Config, ConfigError, Cx, Decision, Element, Handlers, Look, Metric, StateReader, StateWriter,
    Then, Verdict,
};
use std::any::Any;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use wire::MacAddr;

static NEIGHBOUR_QUERIES: Metric =
    Metric::counter("clique_neighbour_queries_total", "Questions for neighbours' addresses that were sent.");
static NEIGHBOUR_RESPONSES: Metric =
    Metric::counter("clique_neighbour_responses_total", "Answers of neighbours that were received.");

/// What differs between IPv4 and IPv6.
pub(crate) trait Link: PartialEq + Clone + Send + 'static {
    /// IP addresses.
    type Address: Address + router::FromArg;
    /// Why packets are dropped whose neighbour does not answer.
    const NO_ANSWER: &'static str;
    /// What queries are called in the handler `stats`.
    const QUERIES: &'static str;

    /// Whether this host has an address of its own.
    fn is_ready(&self) -> bool;
    /// The destination annotation.
    fn destination(packet: &Packet) -> Self::Address;
    /// The header of a frame to this address.
    fn header(&self, to: MacAddr) -> Ready;
    /// The header for a packet, from that for packets of this family.
    #[inline]
    fn fit(packet: &Packet, header: Ready) -> Ready {
        let _ = packet;
        header
    }
    /// The Ethernet address for an IP address that no neighbour has, but a group or all; or why a packet for it is dropped.
    fn special(&self, ip: Self::Address) -> Option<Result<MacAddr, &'static str>>;
    /// A query for an address.
    fn query(&self, cx: &mut Cx<'_>, ip: Self::Address, whom: Query) -> Option<Packet>;
    /// What a packet tells about a neighbour, and whether to believe it unasked.
    fn news(&self, packet: &Packet) -> Option<(Self::Address, News, bool)>;
    /// Whether a packet counts as a response, good or bad.
    fn is_response(packet: &Packet) -> bool;
    /// Takes one hop off a packet's life and returns true, or returns false if that was the last; `None` without a header.
    fn take_hop(packet: &mut Packet) -> Option<bool>;
    /// A packet without a usable destination was dropped.
    fn complain(&self, cx: &mut Cx<'_>, shared: &Shared<Self::Address>);
    /// What new arguments say of this host and the table; `None` if this class takes none while it runs.
    fn read_again(&self, cx: &Cx<'_>, config: &str) -> Option<Result<(Self, TableArgs), ConfigError>> {
        let _ = (cx, config);
        None
    }
    /// Whether this is still the same host, so that what neighbours have said of themselves holds.
    fn is_same_host(&self, other: &Self) -> bool {
        self == other
    }
    /// Whether this is the same host on the same network as in the old configuration, so that its table and counts hold.
    fn succeeds(&self, old: &Self) -> bool {
        self == old
    }
    /// Declares handlers beside those that all have.
    fn handlers<const HOP: bool>(h: &mut Handlers);
}

/// What the instances on several workers share: counts of rare events, and the table unless another one is used.
pub(crate) struct Shared<A: Address> {
    pub(crate) own: Option<Arc<Neighbours<A>>>,
    /// What the table calls its interface.
    pub(crate) interface: String,
    pub(crate) queries: AtomicU64,
    pub(crate) responses: AtomicU64,
    pub(crate) drops: AtomicU64,
    pub(crate) warned: AtomicU64,
}

/// The element; with `HOP`, it takes a hop off each packet's life, too.
pub(crate) struct Querier<L: Link, const HOP: bool> {
    pub(crate) link: L,
    pub(crate) shared: Arc<Shared<L::Address>>,
    pub(crate) table: Arc<Neighbours<L::Address>>,
    /// The element whose table to use, by name.
    table_name: Option<String>,
    /// How long neighbours in that table count as reachable, if that is said here.
    reachable_ns: Option<i64>,
    query_output: usize,
    /// Where packets go whose neighbour does not answer.
    failed_output: Option<usize>,
    /// Whether this instance looks for addresses that age.
    keeper: bool,
    waiting: Waiting<L::Address>,
    agenda: Agenda<L::Address>,
}

/// When this instance has to look after addresses.
struct Agenda<A> {
    dates: HashMap<A, Date>,
    order: BTreeSet<(i64, A)>,
}

/// When to look after an address, and the VLAN of the last packet for it: queries that no packet causes go there, too.
#[derive(Clone, Copy)]
struct Date {
    at_ns: i64,
    vlan: u64,
}

impl<A: Address> Agenda<A> {
    fn new() -> Agenda<A> {
        Agenda { dates: HashMap::new(), order: BTreeSet::new() }
    }

    /// Enters an address, or with `None` strikes it off.
    fn set(&mut self, ip: A, date: Option<Date>) {
        let old = match date {
            Some(date) => self.dates.insert(ip, date),
            None => self.dates.remove(&ip),
        };
        if let Some(old) = old {
            self.order.remove(&(old.at_ns, ip));
        }
        self.order.extend(date.map(|date| (date.at_ns, ip)));
    }

    /// The VLAN of an address that is entered.
    fn vlan(&self, ip: A) -> u64 {
        self.dates.get(&ip).map_or(0, |date| date.vlan)
    }

    fn first(&self) -> Option<(i64, A)> {
        self.order.first().copied()
    }
}

/// Timers: Click's, which forgets old addresses; the agenda; the one that notes which have become stale.
const EXPIRE: u32 = 0;
const AGENDA: u32 = 1;
const AGE: u32 = 2;

/// Where packets go whose life is over.
const EXPIRED_OUTPUT: usize = 2;

/// The form of what is left to another process.
const FORM: u8 = 1;

const CROWDED: &str = "too many packets wait for addresses";
/// Why packets that wait are dropped when another configuration takes this one's place.
const OTHER_NETWORK: &str = "another network";

/// Makes an instance. Of outputs, the first is for frames, the second (or first, if there is none) for queries; with `HOP` comes one for
/// packets whose life is over; a last one, if there is one, is for packets whose neighbour does not answer.
pub(crate) fn create<L: Link, const HOP: bool>(
    config: &mut Config<'_>,
    link: L,
    table_name: Option<String>,
    args: &TableArgs,
    defaults: Timing,
) -> Result<Box<dyn Element>, ConfigError> {
    let interface = args.interface(config);
    let limits = args.limits(defaults)?;
    let own = table_name.is_none().then_some(limits);
    let key = config.common_seed();
    let shared = config.shared(|| {
        Ok(Shared {
            own: own.map(|limits| Arc::new(Neighbours::new(limits, key))),
            interface,
            queries: AtomicU64::new(0),
            responses: AtomicU64::new(0),
            drops: AtomicU64::new(0),
            warned: AtomicU64::new(0),
        })
    })?;
    // Where the table is another element's, this empty one is replaced once all elements exist.
    let table = shared.own.clone().unwrap_or_else(|| Arc::new(Neighbours::new(limits, key)));
    let outputs = config.outputs();
    let failed = if HOP { EXPIRED_OUTPUT + 1 } else { 2 };
    Ok(Box::new(Querier::<L, HOP> {
        keeper: shared.own.is_some() && config.workers().first() == Some(&config.worker()),
        link,
        shared,
        table,
        table_name,
        reachable_ns: args.reachable_ns(),
        query_output: if outputs > 1 { 1 } else { 0 },
        failed_output: (outputs > failed).then_some(failed),
        waiting: Waiting::default(),
        agenda: Agenda::new(),
    }))
}

/// Packets.
impl<L: Link, const HOP: bool> Querier<L, HOP> {
    /// Where a next hop is, if that is known and nothing else is to be done first.
    #[inline]
    fn quick(&self, cx: &Cx<'_>, ip: L::Address) -> Option<MacAddr> {
        match self.table.lookup(cx.turn(), ip, cx.now_ns()) {
            NeighbourLookup::Known(mac) if self.link.is_ready() && !self.waiting.concerns(ip) => Some(mac),
            _ => None,
        }
    }

    /// Takes a hop off a packet's life, where that is this element's business.
    #[inline]
    fn age_packet(packet: &mut Packet) -> Verdict {
        if HOP {
            match L::take_hop(packet) {
                Some(true) => {}
                Some(false) => return Verdict::Output(EXPIRED_OUTPUT),
                None => return Verdict::Drop("no IP header"),
            }
        }
        Verdict::Pass
    }

    /// Returns the packet in a frame if its address is known; otherwise sees to it. `before` is what the packets before had, as
    /// many in a row go to one neighbour.
    #[inline]
    fn forward(
        &mut self,
        cx: &mut Cx<'_>,
        packet: Packet,
        before: &mut Option<(L::Address, Ready)>,
    ) -> Option<Packet> {
        let ip = L::destination(&packet);
        if let Some((known, header)) = *before
            && known == ip
        {
            return self.encapsulate(cx, packet, header);
        }
        let header = self.quick(cx, ip).map(|mac| self.link.header(mac));
        // What is done about an address may change what is known.
        *before = header.map(|header| (ip, header));
        match header {
            Some(header) => self.encapsulate(cx, packet, header),
            None => self.forward_slowly(cx, packet),
        }
    }

    fn frame(&mut self, cx: &mut Cx<'_>, packet: Packet, mac: MacAddr) -> Option<Packet> {
        self.encapsulate(cx, packet, self.link.header(mac))
    }

    #[inline]
    fn encapsulate(&self, cx: &mut Cx<'_>, mut packet: Packet, header: Ready) -> Option<Packet> {
        if L::fit(&packet, header).encapsulate(&mut packet) {
            return Some(packet);
        }
        self.drop(cx, packet, NO_ROOM);
        None
    }

    /// Puts packets into frames where they are, up to the first with which something else is to be done; how many.
    #[inline]
    fn frame_known(&self, cx: &Cx<'_>, packets: &mut [Packet]) -> usize {
        let mut framed = 0;
        // Many in a row go to one neighbour.
        while let Some(packet) = packets.get(framed) {
            let ip = L::destination(packet);
            let Some(mac) = self.quick(cx, ip) else { break };
            let run = frame_run::<L>(&mut packets[framed..], ip, self.link.header(mac));
            if run == 0 {
                break; // no room for the header
            }
            framed += run;
        }
        framed
    }

    /// Takes care of packets of which the first are in frames already.
    fn push_one_by_one(&mut self, cx: &mut Cx<'_>, mut batch: Batch, mut framed: usize) {
        let (mut old, mut before) = (None, None);
        batch.filter_map(|mut packet| {
            if framed > 0 {
                framed -= 1;
                return Some(packet);
            }
            match Self::age_packet(&mut packet) {
                Verdict::Pass => self.forward(cx, packet, &mut before),
                Verdict::Drop(reason) => {
                    cx.drop(packet, reason);
                    None
                }
                Verdict::Output(_) => {
                    old.get_or_insert_with(|| cx.batch()).push(packet);
                    None
                }
            }
        });
        cx.emit(0, batch);
        if let Some(old) = old {
            cx.emit(EXPIRED_OUTPUT, old);
        }
    }

    #[cold]
    fn forward_slowly(&mut self, cx: &mut Cx<'_>, packet: Packet) -> Option<Packet> {
        let ip = L::destination(&packet);
        match self.link.special(ip) {
            Some(Ok(mac)) => self.frame(cx, packet, mac),
            Some(Err(reason)) => {
                self.link.complain(cx, &self.shared);
                self.drop(cx, packet, reason);
                None
            }
            None => self.consult(cx, packet, ip),
        }
    }

    /// Asks the table about a packet's address: sends queries, and has the packet wait if it must.
    fn consult(&mut self, cx: &mut Cx<'_>, packet: Packet, ip: L::Address) -> Option<Packet> {
        let waits = self.waiting.state(ip);
        if waits.is_none_or(|(_, again_ns)| cx.now_ns() >= again_ns) {
            let waiter = Waiter { element: cx.index(), worker: cx.worker() };
            let advice = match self.table.want(cx.turn(), ip, cx.now_ns(), waiter) {
                Ok((advice, effects)) => {
                    settle(cx, effects, &self.shared.interface);
                    advice
                }
                Err(refusal) => {
                    self.drop(cx, packet, refusal.message()); // it has not waited
                    return None;
                }
            };
            if let Some(mac) = advice.mac {
                self.release(cx, ip, mac);
                self.follow(cx, ip, advice, Some(&packet));
                return self.frame(cx, packet, mac);
            }
            self.waiting.expect(ip, advice.again_ns);
            self.follow(cx, ip, advice, Some(&packet));
        }
        self.wait(cx, packet, ip);
        None
    }

    /// Has a packet wait for an address that is asked for.
    fn wait(&mut self, cx: &mut Cx<'_>, packet: Packet, ip: L::Address) {
        let limit = self.table.limits().entry_packets;
        let waits = self.waiting.state(ip).map_or(0, |(packets, _)| packets);
        if limit > 0 && waits >= limit {
            return self.drop_waiting(cx, packet, "too many packets wait for one address");
        }
        if !self.make_room(cx) {
            return self.drop_waiting(cx, packet, CROWDED);
        }
        match self.waiting.push(ip, packet) {
            Some(packet) => self.drop_waiting(cx, packet, L::NO_ANSWER), // not reached: the address is waited for
            None => {
                self.table.waiting().fetch_add(1, Relaxed);
            }
        }
    }

    /// Makes room for one more packet that waits. False if other workers have taken all the room.
    fn make_room(&mut self, cx: &mut Cx<'_>) -> bool {
        let limits = self.table.limits();
        if limits.packets == 0 || self.table.waiting().load(Relaxed) < limits.packets {
            return true;
        }
        while self.table.waiting().load(Relaxed) >= limits.slim_packets() {
            let Some(oldest) = self.waiting.pop_oldest() else { break };
            self.table.waiting().fetch_sub(1, Relaxed);
            self.drop_waiting(cx, oldest, CROWDED);
        }
        self.table.waiting().load(Relaxed) < limits.packets
    }

    fn drop(&self, cx: &mut Cx<'_>, packet: Packet, reason: &'static str) {
        self.shared.drops.fetch_add(1, Relaxed);
        cx.drop(packet, reason);
    }

    fn drop_waiting(&mut self, cx: &mut Cx<'_>, packet: Packet, reason: &'static str) {
        self.table.drops().fetch_add(1, Relaxed);
        cx.drop(packet, reason);
    }

    /// Sends the packets that wait for an address.
    fn release(&mut self, cx: &mut Cx<'_>, ip: L::Address, mac: MacAddr) {
        let packets = self.waiting.take(ip);
        if packets.is_empty() {
            return;
        }
        self.table.waiting().fetch_sub(packets.len(), Relaxed);
        let mut batch = cx.batch();
        for packet in packets {
            if batch.len() >= cx.vector() {
                let full = std::mem::replace(&mut batch, cx.batch());
                cx.emit(0, full);
            }
            if let Some(packet) = self.frame(cx, packet, mac) {
                batch.push(packet);
            }
        }
        cx.emit(0, batch);
    }

    /// Gives up the packets that wait for an address: where to, if it is the neighbour that has failed.
    fn give_up(&mut self, cx: &mut Cx<'_>, ip: L::Address, failed_output: Option<usize>) {
        for packet in self.waiting.take(ip) {
            self.table.waiting().fetch_sub(1, Relaxed);
            match failed_output {
                Some(output) => {
                    self.table.drops().fetch_add(1, Relaxed);
                    cx.emit_packet(output, packet);
                }
                None => self.drop_waiting(cx, packet, L::NO_ANSWER),
            }
        }
    }
}

/// Puts packets to one neighbour into frames, up to the first that goes to another one or has no room for the header; how many.
#[inline]
fn frame_run<L: Link>(packets: &mut [Packet], to: L::Address, header: Ready) -> usize {
    for (at, packet) in packets.iter_mut().enumerate() {
        if L::destination(packet) != to || !L::fit(packet, header).encapsulate(packet) {
            return at;
        }
    }
    packets.len()
}

/// Neighbours.
impl<L: Link, const HOP: bool> Querier<L, HOP> {
    /// Sends the query that the table advises, and enters the next time into the agenda.
    fn follow(&mut self, cx: &mut Cx<'_>, ip: L::Address, advice: Advice, cause: Option<&Packet>) {
        let cause = cause.or(self.waiting.first(ip));
        let vlan = cause.map_or_else(|| self.agenda.vlan(ip), |cause| cause.anno(Anno::VLAN_TCI));
        if let Some(whom) = advice.query {
            let timestamp_ns = cause.map_or(cx.now_ns(), Packet::timestamp_ns);
            match self.link.query(cx, ip, whom) {
                Some(mut query) => {
                    query.set_timestamp_ns(timestamp_ns);
                    query.set_anno(Anno::VLAN_TCI, vlan);
                    self.shared.queries.fetch_add(1, Relaxed);
                    cx.emit_packet(self.query_output, query);
                }
                None => cx.count_drops("no buffer for a query", 1),
            }
        }
        self.agenda.set(ip, advice.alarm_ns.map(|at_ns| Date { at_ns, vlan }));
        self.set_timer(cx);
    }

    fn set_timer(&mut self, cx: &mut Cx<'_>) {
        match self.agenda.first() {
            Some((at_ns, _)) => cx.timers().at(AGENDA, at_ns),
            None => cx.timers().cancel(AGENDA),
        }
    }

    /// Does what is due on the agenda.
    fn work_off(&mut self, cx: &mut Cx<'_>) {
        while let Some((at_ns, ip)) = self.agenda.first()
            && at_ns <= cx.now_ns()
        {
            let Some((advice, effects)) = self.table.tick(cx.turn(), ip, cx.now_ns()) else {
                self.agenda.set(ip, None);
                continue;
            };
            settle(cx, effects, &self.shared.interface);
            self.follow(cx, ip, advice, None);
        }
        self.look_after(cx);
        self.set_timer(cx);
    }

    /// Something happened to addresses that packets wait for.
    fn look_after(&mut self, cx: &mut Cx<'_>) {
        for ip in self.waiting.addresses() {
            match self.table.resolution(ip, cx.now_ns()) {
                Resolution::Known(mac) => self.release(cx, ip, mac),
                Resolution::Failed => self.give_up(cx, ip, self.failed_output),
                Resolution::Gone => self.give_up(cx, ip, None),
                Resolution::Pending => {}
            }
        }
    }

    fn learn(&mut self, cx: &mut Cx<'_>, packet: &Packet) {
        self.shared.responses.fetch_add(u64::from(L::is_response(packet)), Relaxed);
        let Some((ip, news, unasked)) = self.link.news(packet) else { return };
        match self.table.hear(cx.turn(), ip, news, unasked, cx.now_ns()) {
            Ok(mut effects) => {
                if let Resolution::Known(mac) = self.table.resolution(ip, cx.now_ns()) {
                    self.release(cx, ip, mac);
                }
                let here = Waiter { element: cx.index(), worker: cx.worker() };
                effects.wake.retain(|waiter| *waiter != here);
                settle(cx, effects, &self.shared.interface);
            }
            // The packets go on waiting: the next answer may find room.
            Err(refusal) => cx.count_drops(refusal.message(), 1),
        }
    }
}

/// What a new configuration takes over.
struct Handover<L: Link> {
    link: L,
    shared: Arc<Shared<L::Address>>,
    waiting: Waiting<L::Address>,
    /// When the old one had to look after addresses: also those that no packet waits for.
    agenda: HashMap<L::Address, Date>,
}

impl<L: Link, const HOP: bool> Querier<L, HOP> {
    /// Takes new arguments. As in Click, limits that they do not name stay, and the element's own table is emptied if
    /// this is another host now.
    fn change(&mut self, cx: &mut Cx<'_>, link: L, args: &TableArgs) -> Result<(), ConfigError> {
        match &self.shared.own {
            Some(own) => {
                own.set_limits(args.limits_over(Limits { timing: own.timing(), ..own.limits() })?);
                if !self.link.is_same_host(&link) {
                    write_clear(own, cx, &self.shared.interface)?;
                }
            }
            None => args.reachable_ns().into_iter().for_each(|ns| self.table.set_reachable(ns)),
        }
        self.link = link;
        Ok(())
    }
}

impl<L: Link, const HOP: bool> Querier<L, HOP> {
    /// What is known of a packet's neighbour, and what becomes of the packet by it.
    fn explain_neighbour(&self, look: &Look<'_>, packet: &mut Packet) -> Decision {
        let verdict = Self::age_packet(packet);
        if verdict != Verdict::Pass {
            return Decision::new(verdict, "time to live expired");
        }
        let ip = L::destination(packet);
        let known = match self.table.lookup(look.turn(), ip, look.now_ns()) {
            NeighbourLookup::Known(mac) => Some(mac),
            _ => None,
        };
        let framed =
            |packet: &mut Packet, mac: MacAddr, because: String| match L::fit(packet, self.link.header(mac))
                .encapsulate(packet)
            {
                true => Decision::new(Then::Output(0), because),
                false => Decision::new(Then::Drop(NO_ROOM), because),
            };
        if let Some(mac) = known {
            return framed(packet, mac, format!("neighbour {ip} is at {mac}"));
        }
        match self.link.special(ip) {
            Some(Ok(mac)) => return framed(packet, mac, format!("{ip} is for a group, at {mac}")),
            Some(Err(reason)) => {
                return Decision::new(Then::Drop(reason), format!("{ip} is no neighbour's address"));
            }
            None => {}
        }
        match self.table.resolution(ip, look.now_ns()) {
            Resolution::Known(mac) => framed(packet, mac, format!("neighbour {ip} is at {mac}")),
            Resolution::Failed => {
                let then = self.failed_output.map_or(Then::Drop(L::NO_ANSWER), Then::Output);
                Decision::new(then, format!("neighbour {ip} does not answer"))
            }
            Resolution::Pending => Decision::new(
                Then::Stays,
                format!("neighbour {ip} has been asked and has not answered yet; the packet waits"),
            ),
            Resolution::Gone => Decision::new(
                Then::Stays,
                format!("neighbour {ip} is not known: it is asked, and the packet waits"),
            ),
        }
    }
}

impl<L: Link, const HOP: bool> Element for Querier<L, HOP> {
    fn reconfigure(&mut self, cx: &mut Cx<'_>, config: &str) -> Option<Result<(), ConfigError>> {
        let read = self.link.read_again(cx, config)?;
        Some(read.and_then(|(link, args)| self.change(cx, link, &args)))
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if let Some(name) = &self.table_name {
            let of_querier = || cx.shared_of::<Shared<L::Address>>(name, "ARPTable").ok()?.own.clone();
            self.table = match cx.shared_of(name, "ARPTable") {
                Ok(table) => table,
                Err(error) => of_querier().ok_or(error)?,
            };
            self.reachable_ns.into_iter().for_each(|ns| self.table.set_reachable(ns));
        }
        if self.keeper {
            keep(cx, &self.table, true);
        }
        cx.tasks().unschedule(); // the task exists from now on: others may schedule it
        Ok(())
    }

    #[inline]
    fn push_one(&mut self, cx: &mut Cx<'_>, port: usize, packet: &mut Packet) -> Option<Verdict> {
        if port != 0 {
            return None;
        }
        let mac = self.quick(cx, L::destination(packet))?;
        let verdict = Self::age_packet(packet);
        if verdict != Verdict::Pass {
            return Some(verdict);
        }
        if L::fit(packet, self.link.header(mac)).encapsulate(packet) {
            return Some(Verdict::Pass);
        }
        self.shared.drops.fetch_add(1, Relaxed);
        Some(Verdict::Drop(NO_ROOM))
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) {
        if port != 0 {
            batch.iter().for_each(|packet| self.learn(cx, packet));
            return cx.consume(batch);
        }
        let framed = if HOP { 0 } else { self.frame_known(cx, batch.packets_mut()) };
        if framed == batch.len() { cx.emit(0, batch) } else { self.push_one_by_one(cx, batch, framed) }
    }

    /// Another instance has learned something.
    fn run_task(&mut self, cx: &mut Cx<'_>) {
        self.look_after(cx);
    }

    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        if key == AGENDA {
            self.work_off(cx);
        } else {
            keep_on(cx, &self.table, &self.shared.interface, key);
        }
    }

    fn held(&self) -> usize {
        self.waiting.len()
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Handover {
            link: self.link.clone(),
            shared: self.shared.clone(),
            waiting: std::mem::take(&mut self.waiting),
            agenda: std::mem::take(&mut self.agenda.dates),
        }))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(mut handover) = state.downcast::<Handover<L>>() else { return };
        if !self.link.succeeds(&handover.link) {
            // Nothing of it is of use.
            for ip in handover.waiting.addresses() {
                handover.waiting.take(ip).into_iter().for_each(|packet| cx.drop(packet, OTHER_NETWORK));
            }
            return;
        }
        if let (Some(own), Some(old)) = (&self.shared.own, &handover.shared.own) {
            let effects = own.adopt(old, cx.turn(), cx.now_ns());
            settle(cx, effects, &self.shared.interface);
            own.drops().fetch_max(old.drops().load(Relaxed), Relaxed);
        }
        let (new, old) = (&self.shared, &handover.shared);
        let counts =
            [(&new.queries, &old.queries), (&new.responses, &old.responses), (&new.drops, &old.drops)];
        for (new, old) in counts {
            new.fetch_max(old.load(Relaxed), Relaxed); // the same for every instance
        }
        for (ip, date) in handover.agenda {
            self.agenda.set(ip, Some(date));
        }
        self.set_timer(cx);
        for ip in handover.waiting.addresses() {
            for packet in handover.waiting.take(ip) {
                if let Some(packet) = self.consult(cx, packet, ip) {
                    cx.emit_packet(0, packet);
                }
            }
        }
    }

    /// The neighbours that are known, if the table is this element's, and what was counted; packets that wait for others are not written.
    fn write_state(&mut self, cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        let workers = &cx.info().nodes[cx.index()].workers;
        if workers.first() != Some(&cx.worker()) {
            return false;
        }
        out.form(FORM);
        let Shared { queries, responses, drops, .. } = &*self.shared;
        [queries, responses, drops].iter().for_each(|count| out.u64(count.load(Relaxed)));
        out.u32(u32::from(self.shared.own.is_some()));
        if let Some(own) = &self.shared.own {
            own.write(out, cx.now_ns());
        }
        true
    }

    fn read_state(&mut self, cx: &mut Cx<'_>, state: &mut StateReader) -> Result<(), BadState> {
        state.form(FORM)?;
        let shared = self.shared.clone();
        for count in [&shared.queries, &shared.responses, &shared.drops] {
            count.fetch_add(state.u64()?, Relaxed);
        }
        match &shared.own {
            Some(own) if state.u32()? != 0 => {
                let (turn, now_ns) = (cx.turn(), cx.now_ns());
                own.read(state, turn, now_ns, |effects| settle(cx, effects, &shared.interface))
            }
            _ => Ok(()),
        }
    }

    fn explain(&self, look: &Look<'_>, port: usize, packet: &mut Packet) -> Option<Decision> {
        Some(match port {
            0 => self.explain_neighbour(look, packet),
            _ => Decision::new(Then::Stays, "learns from it where a neighbour is"),
        })
    }

    fn handlers(&self, h: &mut Handlers) {
        type Q<L, const HOP: bool> = Querier<L, HOP>;
        handlers(h, |e: &mut Q<L, HOP>| (&*e.table, e.shared.interface.as_str()));
        h.read("stats", |e: &mut Q<L, HOP>, _| {
            let killed = e.shared.drops.load(Relaxed) + e.table.drops().load(Relaxed);
            format!("{killed} packets killed\n{} {} sent\n", e.shared.queries.load(Relaxed), L::QUERIES)
        });
        h.read("queries", |e: &mut Q<L, HOP>, _| e.shared.queries.load(Relaxed)).measures(&NEIGHBOUR_QUERIES);
        h.read("responses", |e: &mut Q<L, HOP>, _| e.shared.responses.load(Relaxed))
            .measures(&NEIGHBOUR_RESPONSES);
        h.read("drops", |e: &mut Q<L, HOP>, _| e.shared.drops.load(Relaxed));
        h.write("clear", |e: &mut Q<L, HOP>, cx, _| {
            for count in [&e.shared.queries, &e.shared.responses, &e.shared.drops] {
                count.store(0, Relaxed);
            }
            write_clear(&e.table, cx, &e.shared.interface)
        });
        L::handlers::<HOP>(h);
    }
}

/// Sets the timers of the instance that looks for addresses that age: as Click's the first time and afterwards.
pub(crate) fn keep<A: Address>(cx: &mut Cx<'_>, table: &Neighbours<A>, first: bool) {
    let timing = table.timing();
    if timing.timeout_ns > 0 {
        let whole_s = timing.timeout_ns as u64 / 1_000_000_000;
        cx.timers().after(EXPIRE, Duration::from_secs(whole_s + u64::from(!first)));
    }
    if timing.reachable_ns > 0 && first {
        keep_noting(cx, table);
    }
}

fn keep_noting<A: Address>(cx: &mut Cx<'_>, table: &Neighbours<A>) {
    let quarter_ns = (table.timing().reachable_ns / 4).max(100_000_000);
    cx.timers().after(AGE, Duration::from_nanos(quarter_ns as u64));
}

/// A timer of that instance has expired.
pub(crate) fn keep_on<A: Address>(cx: &mut Cx<'_>, table: &Neighbours<A>, interface: &str, key: u32) {
    let effects = table.age(cx.turn(), cx.now_ns());
    settle(cx, effects, interface);
    if key == EXPIRE { keep(cx, table, false) } else { keep_noting(cx, table) }
}
