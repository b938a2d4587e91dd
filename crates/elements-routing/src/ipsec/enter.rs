//! Packets from outside: associations open what is protected, and policies let packets in.

use super::associations::Sa;
use super::early::{self, Early};
use super::flow::{Brief, Flow};
use super::inbound::{self, Arrival, Kind};
use super::ipsec::{Ipsec, LOOK, NO_POLICY, UNKNOWN, WAITING};
use super::policies::{Hit, Spd, admits};
use super::side_by_side::{self, AHEAD};
use super::table::Tables;
use super::too_big::{self, TooBig};
use super::usage::account;
use packet::{BATCH_MAX, Batch, Packet};
use rcu::Turn;
use router::Cx;
use std::net::IpAddr;

/// What becomes of a packet from outside that is not let in.
enum Other {
    Early,
    /// It is for the daemon of this machine.
    Host,
    /// It was only for an address translator on its way, or was about ESP and has been heeded.
    Done,
    Refused(&'static str),
}

/// What packets from outside are looked up in.
#[derive(Clone, Copy)]
pub(super) struct View<'t> {
    tables: &'t Tables,
    policies: &'t Spd,
    turn: Turn<'t>,
}

impl<'t> View<'t> {
    pub(super) fn of(tables: &'t Tables, turn: Turn<'t>) -> View<'t> {
        View { tables, policies: tables.into.read(turn), turn }
    }

    /// The association that a packet names.
    #[inline]
    fn association(&self, (spi, destination): (u32, IpAddr)) -> Option<&'t Sa> {
        self.tables.sad.find(spi, destination, self.turn)
    }

    /// The associations that the packets of a batch name, found side by side; and what they need of them is asked for.
    fn associations(&self, arrivals: &[Option<Arrival>]) -> [Option<&'t Sa>; BATCH_MAX] {
        let name = |at: usize| arrivals[at].as_ref().and_then(Arrival::name);
        let found = self.tables.sad.find_all(arrivals.len(), name, self.turn);
        let both = found.iter().zip(arrivals).filter_map(|both| Some(((*both.0)?, both.1.as_ref()?.low)));
        side_by_side::ask_for_windows(both);
        found
    }
}

/// What a packet from outside contains that a policy is to let in: behind an association, if it was protected.
#[derive(Clone, Copy)]
struct Inner<'t> {
    flow: Flow,
    sa: Option<&'t Sa>,
    /// Whether the one before has the same flow.
    is_alike: bool,
}

/// What was in the packet that was opened last: packets of a flow often follow each other, and have one policy. With many associations they seldom do, and
/// that is not looked at.
#[derive(Clone, Copy)]
struct Last {
    are_many: bool,
    before: Option<(Brief, Flow)>,
}

impl Last {
    /// What is in a packet, if it is an IP packet.
    #[inline]
    fn inner<'t>(&mut self, packet: &Packet, sa: &'t Sa) -> Option<Inner<'t>> {
        let brief = if self.are_many { None } else { Brief::of(packet.data()) };
        if let (Some((before, flow)), Some(brief)) = (&self.before, &brief)
            && before == brief
        {
            return Some(Inner { flow: *flow, sa: Some(sa), is_alike: true });
        }
        let flow = Flow::of(packet.data())?;
        self.before = brief.map(|brief| (brief, flow));
        Some(Inner { flow, sa: Some(sa), is_alike: false })
    }
}

/// Packets of one association that came one after the other, and their octets: they are counted together.
#[derive(Default)]
struct Came<'t> {
    of: Option<&'t Sa>,
    packets: u64,
    bytes: u64,
}

impl<'t> Came<'t> {
    #[inline]
    fn add(&mut self, sa: &'t Sa, bytes: usize, tables: &Tables, cx: &Cx<'_>) {
        if !self.of.is_some_and(|of| std::ptr::eq(of, sa)) {
            self.count(tables, cx);
            *self = Came { of: Some(sa), packets: 0, bytes: 0 };
        }
        (self.packets, self.bytes) = (self.packets + 1, self.bytes + bytes as u64);
    }

    #[inline]
    fn count(&self, tables: &Tables, cx: &Cx<'_>) {
        if let Some(sa) = self.of {
            account(tables, sa, self.packets, self.bytes, cx);
        }
    }
}

impl Ipsec {
    /// Packets from outside. First all are decrypted, and then policies are asked, so that those of all can be looked up side by side.
    pub(super) fn enter(&mut self, cx: &mut Cx<'_>, mut batch: Batch) {
        let tables = &*self.tables;
        let newest = tables.newest();
        let (view, mut came) = (View::of(tables, cx.turn()), Came::default());
        let mut early = std::mem::take(&mut self.early);
        if early.note(newest) {
            self.look_again(cx, view, &mut early);
        }
        let mut arrivals = [None; BATCH_MAX];
        for (arrival, packet) in arrivals.iter_mut().zip(batch.iter()) {
            *arrival = Arrival::of(packet.data(), self.nat_port);
        }
        let found = tables.are_many().then(|| view.associations(&arrivals[..batch.len()]));
        let ask_for_key = |at: usize| {
            if let (Some(Some(sa)), Some(Some(arrival))) =
                (found.as_ref().and_then(|found| found.get(at)), arrivals.get(at))
            {
                sa.prefetch_key(arrival.text);
            }
        };
        (0..AHEAD).for_each(ask_for_key);
        let mut inside: [Option<Inner<'_>>; BATCH_MAX] = [None; BATCH_MAX];
        let (mut at, mut kept, mut last) = (0, 0, Last { are_many: found.is_some(), before: None });
        // Packets of an association often follow each other.
        let mut named: (Option<(u32, IpAddr)>, Option<&Sa>) = (None, None);
        batch.filter_map(|mut packet| {
            let arrival = &arrivals[at];
            let sa = match &found {
                Some(found) => found[at],
                None => {
                    let name = arrival.as_ref().and_then(Arrival::name);
                    if name != named.0 {
                        named = (name, name.and_then(|name| view.association(name)));
                    }
                    named.1
                }
            };
            ask_for_key(at + AHEAD);
            at += 1;
            match self.open(cx, view, &early, &mut came, &mut last, arrival, sa, &mut packet) {
                Ok(inner) => {
                    inside[kept] = Some(inner);
                    kept += 1;
                    Some(packet)
                }
                Err(Other::Early) => wait(cx, &mut early, packet),
                Err(other) => turn_away(cx, other, packet),
            }
        });
        came.count(tables, cx);
        self.early = early;
        self.check_all(cx, view, &inside[..kept], &mut batch);
        cx.emit(1, batch);
    }

    /// Lets those in that have waited for their associations, and drops those that have waited in vain.
    #[cold]
    pub(super) fn look_again(&self, cx: &mut Cx<'_>, view: View<'_>, early: &mut Early<Packet>) {
        let mut came = Came::default();
        early.again(cx.now_ns(), |early, mut packet, is_over| {
            let arrival = Arrival::of(packet.data(), self.nat_port);
            let name = arrival.as_ref().and_then(Arrival::name);
            let (sa, mut last) =
                (name.and_then(|name| view.association(name)), Last { are_many: true, before: None });
            let opened = self.open(cx, view, early, &mut came, &mut last, &arrival, sa, &mut packet);
            let admitted = opened
                .and_then(|inner| self.check(inner, view.policies.find(&inner.flow, view.turn), &mut packet));
            match admitted {
                Ok(()) => cx.emit_packet(1, packet),
                Err(Other::Early) if is_over => cx.drop(packet, UNKNOWN),
                Err(Other::Early) => return Some(packet),
                Err(other) => return turn_away(cx, other, packet),
            }
            None
        });
        came.count(view.tables, cx);
    }

    /// What a packet from outside contains: what was protected no longer is. A policy is to be asked yet.
    #[inline]
    #[allow(
        clippy::too_many_arguments,
        reason = "what a batch has in common, and what its packets have each"
    )]
    fn open<'t>(
        &self,
        cx: &Cx<'_>,
        view: View<'t>,
        early: &Early<Packet>,
        came: &mut Came<'t>,
        last: &mut Last,
        arrival: &Option<Arrival>,
        sa: Option<&'t Sa>,
        packet: &mut Packet,
    ) -> Result<Inner<'t>, Other> {
        let Some(Arrival { flow, kind, spi, .. }) = arrival else {
            return Err(Other::Refused("no IP packet"));
        };
        let at = match *kind {
            Kind::Esp(at) => at,
            Kind::Ike if self.has_host => return Err(Other::Host),
            // A receiver ignores it (RFC 3948, section 4).
            Kind::KeepAlive => return Err(Other::Done),
            Kind::Clear if self.heeds_routers && heed(cx, view, flow, packet.data()) => {
                return Err(Other::Done);
            }
            Kind::Fragment => return Err(Other::Refused("a fragment of ESP")),
            Kind::Ike | Kind::Clear => {
                last.before = None;
                return Ok(Inner { flow: *flow, sa: None, is_alike: false });
            }
        };
        if spi.is_none() {
            return Err(Other::Refused("too short"));
        }
        let sa = sa.filter(|sa| !early.may_wait_for(sa.age())).ok_or(Other::Early)?;
        // A sender that both ends have agreed to find at a port comes from there, and others from none.
        if sa.ports.is_some() != (flow.protocol == wire::ip_proto::UDP) {
            return Err(Other::Refused("in UDP, or not, against what was agreed"));
        }
        if !sa.is_good(cx.now_ns()) {
            return Err(Other::Refused("the association is over"));
        }
        inbound::open(sa, flow, at, packet).map_err(Other::Refused)?;
        came.add(sa, packet.len(), view.tables, cx);
        last.inner(packet, sa).ok_or(Other::Refused("no IP packet inside"))
    }

    /// Leaves those of a batch that policies let in.
    #[inline]
    fn check_all(&self, cx: &mut Cx<'_>, view: View<'_>, inside: &[Option<Inner<'_>>], batch: &mut Batch) {
        let found = view.tables.are_many().then(|| {
            let mut flows = [None; BATCH_MAX];
            flows.iter_mut().zip(inside).for_each(|(flow, inner)| *flow = inner.map(|inner| inner.flow));
            let found = view.policies.find_all(&flows[..inside.len()], view.turn);
            found.iter().flatten().for_each(|hit| hit.prefetch_action());
            found
        });
        let (mut at, mut before) = (0, None);
        batch.filter_map(|mut packet| {
            let inner = inside[at]?;
            let hit = match &found {
                Some(found) => found[at],
                None if inner.is_alike => before,
                None => view.policies.find(&inner.flow, view.turn),
            };
            (at, before) = (at + 1, hit);
            match self.check(inner, hit, &mut packet) {
                Ok(()) => Some(packet),
                Err(other) => turn_away(cx, other, packet),
            }
        });
    }

    /// Whether a policy, or that there is none, lets a packet in that was protected by an association, or by none.
    #[inline]
    fn check(&self, inner: Inner<'_>, hit: Option<Hit<'_>>, packet: &mut Packet) -> Result<(), Other> {
        match hit {
            Some(hit) => admits(hit, inner.sa).map_err(Other::Refused)?,
            // What is protected although no policy says so was not agreed on.
            None if self.default_passes && inner.sa.is_none() => {}
            None => return Err(Other::Refused(NO_POLICY)),
        }
        if inner.sa.is_none() {
            inbound::mark(packet);
        }
        Ok(())
    }
}

/// A packet from outside goes another way than in.
#[inline]
fn turn_away(cx: &mut Cx<'_>, other: Other, packet: Packet) -> Option<Packet> {
    match other {
        Other::Host => cx.emit_packet(2, packet),
        Other::Refused(reason) => cx.drop(packet, reason),
        Other::Early | Other::Done => drop(packet),
    }
    None
}

/// Whether a packet is what a router says of ESP that an association has sent; it is heeded.
#[inline]
fn heed(cx: &Cx<'_>, view: View<'_>, flow: &Flow, packet: &[u8]) -> bool {
    too_big::read(flow, packet).is_some_and(|said| heed_router(cx, view, said))
}

#[cold]
fn heed_router(cx: &Cx<'_>, view: View<'_>, said: TooBig) -> bool {
    let Some((sa, is_shorter)) = view.tables.heed(&said, view.turn, cx.now_ns()) else { return false };
    if is_shorter {
        let (name, to, mtu) = (cx.name(), sa.destination, sa.mtu(usize::MAX, cx.now_ns()));
        cx.info().events.publish(&format!("ipsec {name} mtu {mtu} {to} 0x{:08x}", sa.spi));
    }
    true
}

/// Lets a packet wait for its association, if there is room.
#[cold]
fn wait(cx: &mut Cx<'_>, early: &mut Early<Packet>, packet: Packet) -> Option<Packet> {
    match early.push(cx.now_ns() + early::PATIENCE_NS, packet) {
        Ok(()) if !cx.timers().is_set(WAITING) => cx.timers().after(WAITING, LOOK),
        Ok(()) => {}
        Err(packet) => cx.drop(packet, UNKNOWN),
    }
    None
}
