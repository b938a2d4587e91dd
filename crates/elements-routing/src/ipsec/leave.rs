//! Packets of the protected side: a policy says what becomes of each, and associations protect them.

use super::associations::Sa;
use super::flow::Flow;
use super::ipsec::{Ipsec, NO_POLICY};
use super::policies::{Rule, Slot};
use super::side_by_side::{self, AHEAD};
use super::table::Tables;
use super::usage::{account, expired};
use super::{cut, outbound, too_big};
use elements_shared::ipsec_port::{Action, Notice};
use packet::{BATCH_MAX, Batch, Packet};
use router::{Cx, Verdict};
use std::sync::atomic::Ordering::Relaxed;

/// ICMP errors in a second, at most.
const ERRORS: u32 = 1000;
/// How often an association is asked for while there is none.
const ASK_AGAIN_NS: i64 = 1_000_000_000;

/// What becomes of a packet of the protected side.
#[derive(Clone, Copy)]
enum Fate<'t> {
    Protect(&'t Sa),
    Settled(Verdict),
}

/// Numbers that were taken for packets that follow each other.
#[derive(Default)]
struct Run {
    next: u64,
    left: usize,
    packets: u64,
    bytes: u64,
}

impl Ipsec {
    /// What a policy, or that there is none, says of a packet of the protected side.
    #[inline]
    fn choose<'t>(&self, tables: &'t Tables, rule: Option<&'t Rule>, cx: &Cx<'t>, flow: &Flow) -> Fate<'t> {
        let settled = |passes: bool, reason| {
            Fate::Settled(if passes { Verdict::Output(0) } else { Verdict::Drop(reason) })
        };
        let Some(rule) = rule else { return settled(self.default_passes, NO_POLICY) };
        let slot = match (&rule.policy.action, &rule.slot) {
            (Action::Protect(_), Some(slot)) => slot,
            (Action::Bypass, _) => return settled(true, ""),
            _ => return settled(false, "the policy says discard"),
        };
        let found = match slot.is_by_packet() {
            true => tables.between(&slot.template, flow, cx.turn()),
            false => slot.current.read(cx.turn()).map(|entry| &*entry.0),
        };
        match found {
            Some(sa) if sa.is_good(cx.now_ns()) => Fate::Protect(sa),
            _ => {
                ask(tables, slot, rule, cx, flow);
                settled(false, "no association yet")
            }
        }
    }

    /// Packets of the protected side. First it is found out for all of them what becomes of them, so that packets of one association that follow
    /// each other take their numbers, and are counted, together.
    pub(super) fn leave(&mut self, cx: &mut Cx<'_>, mut batch: Batch) {
        let tables = self.tables.clone();
        let spd = tables.out.read(cx.turn());
        let mut ways = [Fate::Settled(Verdict::Drop("no IP packet")); BATCH_MAX];
        let mut flows: [Option<Flow>; BATCH_MAX] = [None; BATCH_MAX];
        let found = tables.are_many().then(|| {
            flows.iter_mut().zip(batch.iter()).for_each(|(flow, packet)| *flow = Flow::of(packet.data()));
            let found = spd.find_all(&flows[..batch.len()], cx.turn());
            side_by_side::ask_for_current(&found, cx.turn());
            found
        });
        let mut octets = [0; BATCH_MAX];
        for (at, packet) in batch.iter_mut().enumerate() {
            let (way, kept) = (&mut ways[at], &mut flows[at]);
            let rule;
            if let Some(found) = &found {
                (rule, octets[at]) = (found[at], packet.len());
            } else {
                *kept = Flow::of(packet.data());
                rule = kept.as_ref().and_then(|flow| spd.find(flow, cx.turn()));
            }
            let Some(flow) = kept.as_ref() else { continue };
            *way = self.choose(&tables, rule, cx, flow);
            if self.copy_df
                && let Fate::Protect(sa) = *way
                && let Some(mtu) = outbound::too_long(sa, sa.mtu(self.mtu, cx.now_ns()), flow, packet.data())
            {
                self.tell(cx, packet, mtu, sa);
                *way = Fate::Settled(Verdict::Drop("too long for the tunnel"));
            }
        }
        let ask_for_key = |at: usize| {
            if found.is_some()
                && let Some(Fate::Protect(sa)) = ways.get(at)
            {
                sa.prefetch_key(octets[at]);
            }
        };
        (0..AHEAD).for_each(ask_for_key);
        let (len, mut at, mut run) = (batch.len(), 0, Run::default());
        cx.scatter(batch, |cx, packet| {
            let (way, flow) = (ways[at], &flows[at]);
            ask_for_key(at + AHEAD);
            at += 1;
            let (Fate::Protect(sa), Some(flow)) = (way, flow) else {
                let Fate::Settled(verdict) = way else { return Verdict::Drop("no IP packet") };
                return verdict;
            };
            if run.left == 0 {
                let same = |way: &&Fate<'_>| matches!(way, Fate::Protect(other) if std::ptr::eq(*other, sa));
                run.left = 1 + ways[at..len].iter().take_while(same).count();
                run.next = sa.take_numbers(run.left);
                (run.packets, run.bytes) = (0, 0);
            }
            let (number, bytes) = (run.next, packet.len());
            (run.next, run.left) = (run.next + 1, run.left - 1);
            let mut done = outbound::protect(sa, number, flow, packet, self.copy_df);
            if done.is_ok() {
                (run.packets, run.bytes) = (run.packets + 1, run.bytes + bytes as u64);
                if let Some(mtu) = sa.said_mtu(cx.now_ns())
                    && sa.destination.is_ipv6()
                {
                    done = cut::cut(cx, packet, mtu);
                }
            }
            if run.left == 0 {
                account(&tables, sa, run.packets, run.bytes, cx);
            }
            match done {
                Ok(()) => Verdict::Output(0),
                Err(reason) => {
                    if number > sa.last_number() && sa.end() {
                        expired(&tables, sa, true, cx);
                    }
                    Verdict::Drop(reason)
                }
            }
        });
    }

    /// Tells the sender of a packet that it is too long.
    #[cold]
    fn tell(&mut self, cx: &mut Cx<'_>, packet: &Packet, mtu: usize, sa: &Sa) {
        let second = cx.now_ns() / 1_000_000_000;
        if self.errors.0 != second {
            self.errors = (second, 0);
        }
        if self.errors.1 >= ERRORS {
            return;
        }
        self.errors.1 += 1;
        if let Some(answer) = too_big::answer(cx.pool(), packet.data(), mtu, sa.source) {
            cx.emit_packet(1, answer);
        }
    }
}

/// Asks for an association, now and then.
#[cold]
fn ask(tables: &Tables, slot: &Slot, rule: &Rule, cx: &Cx<'_>, flow: &Flow) {
    let (now, asked) = (cx.now_ns(), slot.asked_ns.load(Relaxed));
    if now.saturating_sub(asked) < ASK_AGAIN_NS
        || slot.asked_ns.compare_exchange(asked, now, Relaxed, Relaxed).is_err()
    {
        return;
    }
    let (policy, priority) = (rule.policy.selector, rule.policy.priority);
    let template = slot.wanted(flow);
    tables.notice(Notice::Wanted { template, packet: flow.selector(), policy, priority });
    let (name, from, to) = (cx.name(), template.source, template.destination);
    cx.info().events.publish(&format!("ipsec {name} wanted {from} {to} reqid {}", template.reqid));
}
