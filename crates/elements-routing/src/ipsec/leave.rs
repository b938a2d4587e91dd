//! Packets of the protected side: a policy says what becomes of each, and associations protect them.

use super::associations::Sa;
use super::flow::{Brief, Flow, Upper};
use super::ipsec::{Ipsec, NO_POLICY};
use super::policies::{Hit, Slot};
use super::side_by_side::{self, AHEAD};
use super::table::Tables;
use super::usage::{account, expired};
use super::{cut, outbound, too_big};
use elements_shared::ipsec_port::Notice;
use packet::{BATCH_MAX, Batch, Packet};
use router::{Cx, Verdict};

/// ICMP errors in a second, at most.
const ERRORS: u32 = 1000;

/// What becomes of a packet of the protected side.
#[derive(Clone, Copy)]
enum Fate<'t> {
    Protect(&'t Sa),
    Pass,
    Drop(&'static str),
}

/// What becomes of a packet, and what that needs of its headers.
#[derive(Clone, Copy)]
struct Way<'t> {
    fate: Fate<'t>,
    upper: Upper,
    /// Octets that are not too long for the association, whatever else is true of the packet.
    fits: u32,
    /// Octets that the packet has.
    bytes: u32,
}

impl Way<'_> {
    const NO_IP: Self = Way { fate: Fate::Drop("no IP packet"), upper: Upper::NONE, fits: 0, bytes: 0 };
}

/// The ways of a batch's packets.
type Ways<'t> = [Way<'t>; BATCH_MAX];

/// Numbers that were taken for packets that follow each other.
#[derive(Default)]
struct Run {
    next: u64,
    left: usize,
    packets: u64,
    bytes: u64,
    /// How long a packet may be over IPv6, if a router has said so.
    cut: Option<usize>,
}

impl Ipsec {
    /// What a policy, or that there is none, says of a packet of the protected side.
    #[inline]
    fn choose<'t>(&self, tables: &'t Tables, hit: Option<Hit<'t>>, cx: &Cx<'t>, flow: &Flow) -> Fate<'t> {
        let settled = |passes: bool, reason| if passes { Fate::Pass } else { Fate::Drop(reason) };
        let Some(hit) = hit else { return settled(self.default_passes, NO_POLICY) };
        let Some(slot) = hit.slot() else { return settled(hit.bypasses(), "the policy says discard") };
        let found = match slot.is_by_packet() {
            true => tables.between(&slot.template, flow, cx.turn()),
            false => slot.current.read(cx.turn()).map(|entry| &*entry.0),
        };
        match found {
            Some(sa) if sa.is_good(cx.now_ns()) => Fate::Protect(sa),
            _ => {
                ask(tables, slot, hit, cx, flow);
                Fate::Drop("no association yet")
            }
        }
    }

    /// As [`Ipsec::choose`], with what that needs.
    #[inline]
    fn way<'t>(&self, tables: &'t Tables, hit: Option<Hit<'t>>, cx: &Cx<'t>, flow: &Flow) -> Way<'t> {
        let fate = self.choose(tables, hit, cx, flow);
        let fits = match fate {
            Fate::Protect(sa) if self.copy_df => {
                outbound::fitting(sa, sa.mtu(self.mtu, cx.now_ns()), flow.offset) as u32
            }
            _ => u32::MAX,
        };
        Way { fate, upper: flow.upper(), fits, bytes: 0 }
    }

    /// Finds the ways one by one. Packets of a flow often follow each other, and have one way.
    fn ways<'t>(&self, tables: &'t Tables, cx: &Cx<'t>, batch: &Batch, ways: &mut Ways<'t>) {
        let spd = tables.out.read(cx.turn());
        let mut before = (None, Way::NO_IP);
        for (way, packet) in ways.iter_mut().zip(batch.iter()) {
            let brief = Brief::of(packet.data());
            if brief.is_none() || brief != before.0 {
                let found = Flow::of(packet.data())
                    .map(|flow| self.way(tables, spd.find(&flow, cx.turn()), cx, &flow));
                before = (brief, found.unwrap_or(Way::NO_IP));
            }
            *way = before.1;
        }
    }

    /// Finds the ways side by side, as packets of many flows wait for tables that no cache has.
    #[inline(never)] // what it needs of the stack is only touched where there are many
    fn ways_of_many<'t>(&self, tables: &'t Tables, cx: &Cx<'t>, batch: &Batch, ways: &mut Ways<'t>) {
        let spd = tables.out.read(cx.turn());
        let mut flows: [Option<Flow>; BATCH_MAX] = [None; BATCH_MAX];
        flows.iter_mut().zip(batch.iter()).for_each(|(flow, packet)| *flow = Flow::of(packet.data()));
        let flows = &flows[..batch.len()];
        let found = spd.find_all(flows, cx.turn());
        side_by_side::ask_for_current(&found, cx.turn());
        for ((way, flow), hit) in ways.iter_mut().zip(flows).zip(found) {
            if let Some(flow) = flow {
                *way = self.way(tables, hit, cx, flow);
            }
        }
    }

    /// Packets of the protected side. First it is found out for all of them what becomes of them, so that packets of one association that follow
    /// each other take their numbers, and are counted, together.
    pub(super) fn leave(&mut self, cx: &mut Cx<'_>, mut batch: Batch) {
        let tables = &*self.tables;
        let mut ways = [Way::NO_IP; BATCH_MAX];
        let many = tables.are_many();
        if many {
            self.ways_of_many(tables, cx, &batch, &mut ways);
        } else {
            self.ways(tables, cx, &batch, &mut ways);
        }
        for (way, packet) in ways.iter_mut().zip(batch.iter_mut()) {
            let Fate::Protect(sa) = way.fate else { continue };
            way.bytes = packet.len() as u32;
            if way.bytes > way.fits
                && let Some(mtu) = outbound::too_long(way.fits as usize, way.upper, packet.data())
            {
                self.tell(cx, packet, mtu, sa);
                way.fate = Fate::Drop("too long for the tunnel");
            } else if let Err(reason) = outbound::make_room(sa, way.upper, packet) {
                way.fate = Fate::Drop(reason);
            }
        }
        let ask_for_key = |at: usize| {
            if many && let Some(Way { fate: Fate::Protect(sa), bytes, .. }) = ways.get(at) {
                sa.prefetch_key(*bytes as usize);
            }
        };
        (0..AHEAD).for_each(ask_for_key);
        let (len, mut at, mut run) = (batch.len(), 0, Run::default());
        cx.scatter(batch, |cx, packet| {
            let way = &ways[at];
            ask_for_key(at + AHEAD);
            at += 1;
            let sa = match way.fate {
                Fate::Protect(sa) => sa,
                Fate::Pass => return Verdict::Pass,
                Fate::Drop(reason) => return Verdict::Drop(reason),
            };
            if run.left == 0 {
                let same =
                    |way: &&Way<'_>| matches!(way.fate, Fate::Protect(other) if std::ptr::eq(other, sa));
                let left = 1 + ways[at..len].iter().take_while(same).count();
                let cut = sa.said_mtu(cx.now_ns()).filter(|_| sa.destination.is_ipv6());
                run = Run { next: sa.take_numbers(left), left, packets: 0, bytes: 0, cut };
            }
            let number = run.next;
            (run.next, run.left) = (run.next + 1, run.left - 1);
            let mut done = outbound::protect(sa, number, way.upper, packet, self.copy_df);
            if done.is_ok() {
                (run.packets, run.bytes) = (run.packets + 1, run.bytes + u64::from(way.bytes));
                if let Some(mtu) = run.cut {
                    done = cut::cut(cx, packet, mtu);
                }
            }
            if run.left == 0 {
                account(tables, sa, run.packets, run.bytes, cx);
            }
            match done {
                Ok(()) => Verdict::Pass,
                Err(reason) => {
                    if number > sa.last_number() && sa.end() {
                        expired(tables, sa, true, cx);
                    }
                    Verdict::Drop(reason)
                }
            }
        });
    }

    /// Tells the sender of a packet that it is too long.
    #[cold]
    fn tell(&self, cx: &mut Cx<'_>, packet: &Packet, mtu: usize, sa: &Sa) {
        let second = cx.now_ns() / 1_000_000_000;
        let (counted, told) = self.errors.get();
        let told = if counted == second { told } else { 0 };
        if told >= ERRORS {
            return;
        }
        self.errors.set((second, told + 1));
        if let Some(answer) = too_big::answer(cx.pool(), packet.data(), mtu, sa.source) {
            cx.emit_packet(1, answer);
        }
    }
}

/// Asks for an association, now and then.
#[cold]
fn ask(tables: &Tables, slot: &Slot, hit: Hit<'_>, cx: &Cx<'_>, flow: &Flow) {
    if !slot.is_to_be_asked_for(cx.now_ns()) {
        return;
    }
    let of = hit.rule().policy;
    let (policy, priority) = (of.selector, of.priority);
    let template = slot.wanted(flow);
    tables.notice(Notice::Wanted { template, packet: flow.selector(), policy, priority });
    let (name, from, to) = (cx.name(), template.source, template.destination);
    cx.info().events.publish(&format!("ipsec {name} wanted {from} {to} reqid {}", template.reqid));
}
