//! An IPsec gateway between a protected side and the outside.
//!
//! ```click
//! IPsec([SA, POLICY, DEFAULT, MTU, COPY_DF, PMTU, NAT_PORT])
//! ```
//!
//! Protects packets from one side, and lets those from the other side in that are protected as its policies say (RFC 4301, with ESP of RFC 4303).
//! IPv4 and IPv6 packets pass, through tunnels of either family.
//!
//! Input 0 takes IP packets of the protected side, behind CheckIPHeader or CheckIP6Header. The policy with the lowest priority that matches says what
//! becomes of them: they leave at output 0 as ESP, leave there as they are, or are dropped.
//!
//! Input 1 takes IP packets from outside. ESP, and ESP in UDP (RFC 3948), is decrypted and leaves at output 1 if a policy wants it to be protected
//! like that; other packets leave there if a policy lets them in as they are. IKE, on UDP port 500 or behind the marker of RFC 3948, leaves at output 2 if
//! that is in use, and is a packet like others if not. ESP in fragments must be put together before, with IPReassembler and
//! IP6Reassembler. A keepalive for address translators ends here, as RFC 3948 has it; the daemon sends this side's. Dummies and padding that hide traffic (RFC 4303, sections 2.6 and 2.7) are dropped and removed.
//!
//! ESP of an association that is not there waits for it, up to 256 packets on each worker and a second: when keys are renewed, the peer may use the new ones
//! before KernelIPsec's thread has run. Packets of one association leave in order. Those that have waited in vain, and those for which there is no room, are
//! dropped as `no such association`. A hot swap takes along what waits.
//!
//! Packets that leave have their destination annotation set and their header marked, for a route table behind each output. A tunnel's header has the
//! packet's DSCP and, by RFC 6040, its congestion mark; an IPv4 packet that must not be cut makes one that must not be cut. Packets that would be longer
//! than MTU as ESP are dropped if they must not be cut; senders get ICMP errors that name the length that fits, at output 1 and at most 1000 a
//! second on each worker. Those that may be cut are protected whole: IPFragmenter behind output 0 cuts them. If a router outside says that it cannot pass a packet of ESP on
//! because that is too long (ICMP's fragmentation needed, or packet too big), the association's packets are no longer than what it names
//! for ten minutes: at least 576 octets over IPv4, and 1280 over IPv6. What may be cut, or must pass because IPv6 senders need not send less than 1280 octets, is cut to
//! that length here if it goes over IPv6, where no router does it. An error is believed if it repeats addresses, SPI and number of
//! one of the last million packets that the association has sent, which those on the way can see.
//!
//! Associations and policies come from arguments, from handlers, and from KernelIPsec, which brings those of an IKE daemon. When several associations fit
//! a policy the youngest protects, and all of them are accepted. One that reaches a hard limit protects nothing more. Those that reach a limit and
//! those that are wanted are told to who brought them. Events of the topic `ipsec` (`WATCH`) say that too, and that an association is `new`, is `renewed` (another one
//! of the same ends and reqid is there), or is `gone`: `ipsec ELEMENT renewed DESTINATION SPI`. No handler shows a key.
//!
//! Ports: 2 inputs, 2 or 3 outputs. Processing: push. Workers: shared; all use the same associations. Not in Click.
//!
//! # Arguments
//! - `SA` (any number): an association, as the words `SOURCE DESTINATION SPI ALGORITHM keyfile FILE`, and behind them any of `reqid N`, `mode transport`,
//!   `esn`, `window N` (default 1024), `udp PORT PORT`, `soft-bytes N`, `hard-bytes N`, `soft-packets N`, `hard-packets N`, `soft-seconds N`, and
//!   `hard-seconds N`. The algorithms are `aes-gcm` (key and 4 octets of salt: 20 or 36 octets), `chacha20-poly1305` (36), `aes-gmac` (20 or
//!   36), and `aes-cbc-sha256` (key of AES, and 32 octets of HMAC's: 48 or 64). `key DIGITS` in the place of `keyfile FILE` is for trials:
//!   handlers do not show it, but others may read the configuration's file.
//! - `POLICY` (any number): `out|in SOURCE/LEN DESTINATION/LEN protect SOURCE DESTINATION`, or `bypass` or `discard` in the place of the last three, and
//!   behind that any of `reqid N`, `mode transport`, `spi N`, `proto N`, `sport N`, `dport N`, `priority N` (default 0), `tag N`. For `in`,
//!   SOURCE is outside. In transport mode `protect 0.0.0.0 0.0.0.0` stands for the packet's own addresses.
//! - `DEFAULT` (`discard` or `bypass`, default `discard`): what is done with packets that no policy is for.
//! - `MTU` (integer, default 1500): the longest packet that leaves at output 0 without being cut.
//! - `COPY_DF` (boolean, default true): whether packets that must not be cut make ones that must not be cut. If not, all are protected whole, senders learn
//!   nothing of MTU, and what is too long is cut behind output 0.
//! - `PMTU` (boolean, default true): whether routers outside are believed that packets of ESP are too long. If not, such errors are packets like
//!   others, which a policy must let in.
//! - `NAT_PORT` (integer, default 4500): the UDP port at which ESP arrives through address translators.
//!
//! # Handlers
//! - `associations` (read, a number): a line for each, or for so many with the most packets, without its key: source, destination, SPI, algorithm, mode, what it has done, and `mtu N` if a router has said so.
//! - `policies` (read): a line for each, the best of each direction first, as POLICY has them.
//! - `association_count`, `policy_count` (read): how many there are.
//! - `waiting` (read): packets that wait for their associations.
//! - `add_association`, `add_policy` (write): words as those of SA and POLICY. An association with the same destination, SPI and key goes on with its numbers.
//! - `remove_association` (write): `DESTINATION SPI`.
//! - `remove_policy` (write): words as those of POLICY; direction, prefixes, protocol, ports and tag count.
//! - `flush` (write, button): takes all associations and policies away.
//!
//! # Example
//! ```click
//! IPsec(SA 192.0.2.1 198.51.100.1 0x1001 aes-gcm keyfile there.key, SA 198.51.100.1 192.0.2.1 0x2001 aes-gcm keyfile here.key,
//!   POLICY out 10.0.1.0/24 10.0.2.0/24 protect 192.0.2.1 198.51.100.1,
//!   POLICY in 10.0.2.0/24 10.0.1.0/24 protect 198.51.100.1 192.0.2.1)
//! ```
//!
//! # See also
//! KernelIPsec, ESPEncap, ESPDecap, IPReassembler, IPFragmenter

use super::associations::{Limit, Sa};
use super::cut;
use super::early::{self, Early};
use super::flow::Flow;
use super::inbound::{self, Arrival, Kind};
use super::outbound;
use super::policies::{Rule, Slot, Spd, admits};
use super::side_by_side::{self, AHEAD};
use super::table::{Shared, Tables, Way};
use super::too_big::TooBig;
use super::{text, too_big};
use elements_shared::ipsec_port::{Action, Change, Notice, Policy, Port, Refused};
use packet::{BATCH_MAX, Batch, Packet};
use rcu::Turn;
use router::{
    Class, Config, ConfigError, Cx, Element, HandlerResult, Handlers, Level, Merge, Metric, Outcome, Raw,
    Residency, Verdict,
};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("IPsec", create)
    .ports("2/2-3")
    .processing("h/h")
    .residency(Residency::Shared)
    .makes("ICMP errors, and fragments of ESP over IPv6")
    .absorbs("keepalives of address translators, and ICMP errors about ESP that are heeded")
    .holds("packets that came before their association")
    // A buffer each, and a share of the tables, which strangers cannot make longer.
    .keeps("packets that came before their association", "", early::MOST as u64, 2560)
    .hides(text::shown)
    .doc(router::manual!("ipsec.rs"));

static ASSOCIATIONS: Metric =
    Metric::gauge("clique_ipsec_associations", "Security associations of the element.");
static POLICIES: Metric = Metric::gauge("clique_ipsec_policies", "Security policies of the element.");

/// ICMP errors in a second, at most.
const ERRORS: u32 = 1000;
/// How often an association is asked for while there is none.
const ASK_AGAIN_NS: i64 = 1_000_000_000;
const NO_POLICY: &str = "no policy";
const UNKNOWN: &str = "no such association";
/// Timer: packets that wait are looked at.
const WAITING: u32 = 0;
/// How often that is done.
const LOOK: Duration = Duration::from_millis(5);

struct Ipsec {
    shared: Arc<Shared>,
    tables: Arc<Tables>,
    /// Whether this instance makes associations and policies of the arguments.
    is_first: bool,
    associations: Vec<Vec<String>>,
    policies: Vec<Policy>,
    default_passes: bool,
    mtu: usize,
    copy_df: bool,
    heeds_routers: bool,
    nat_port: u16,
    has_host: bool,
    /// Packets that wait for their associations.
    early: Early<Packet>,
    /// The second that is counted, and the errors in it.
    errors: (i64, u32),
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut associations, mut policies) = (Vec::<Raw>::new(), Vec::<Raw>::new());
    let (mut default, mut mtu, mut nat_port) = ("discard".to_owned(), 1500u32, 4500u16);
    let (mut copy_df, mut heeds_routers) = (true, true);
    let args = config.args().keywords("SA", &mut associations).keywords("POLICY", &mut policies);
    let args =
        args.keyword("DEFAULT", &mut default).keyword("MTU", &mut mtu).keyword("NAT_PORT", &mut nat_port);
    let args = args.keyword("COPY_DF", &mut copy_df).keyword("PMTU", &mut heeds_routers);
    args.finish()?;
    if !matches!(default.as_str(), "discard" | "bypass") {
        return Err("DEFAULT is discard or bypass".into());
    }
    if !(576..=65_535).contains(&mtu) {
        return Err("MTU must be between 576 and 65535".into());
    }
    let words = |raw: &Raw| {
        lang::conf::split_spaces(&raw.0)
            .into_iter()
            .map(|word| lang::conf::unquote(&word))
            .collect::<Vec<_>>()
    };
    let associations: Vec<Vec<String>> = associations.iter().map(words).collect();
    for words in &associations {
        // Files are read when the router starts, not when its configuration is checked.
        let of = text::association(words, 0, false).map_err(|why| format!("SA: {why}"))?;
        match words.iter().position(|word| word == "keyfile").and_then(|at| words.get(at + 1)) {
            Some(file) => elements_shared::key_file::warn_if_open(config, file),
            None => drop(Sa::new(of, 0, 0, None).map_err(|why| format!("SA: {why}"))?),
        }
    }
    let policies =
        policies.iter().map(|raw| text::policy(&words(raw)).map_err(|why| format!("POLICY: {why}")));
    let policies = policies.collect::<Result<Vec<Policy>, String>>()?;
    let seed = config.seed();
    let shared = config.shared(|| Ok(Shared::new(seed)))?;
    Port::offer(config, Arc::new(Way(shared.clone())))?;
    let is_first = config.workers().first() == Some(&config.worker());
    Ok(Box::new(Ipsec {
        tables: shared.tables(),
        shared,
        is_first,
        associations,
        policies,
        default_passes: default == "bypass",
        mtu: mtu as usize,
        copy_df,
        heeds_routers,
        nat_port,
        has_host: config.outputs() > 2,
        early: Early::new(),
        errors: (0, 0),
    }))
}

/// What goes to a new configuration.
struct Handover {
    tables: Arc<Tables>,
    early: Early<Packet>,
}

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
struct View<'t> {
    tables: &'t Tables,
    policies: &'t Spd,
    turn: Turn<'t>,
}

impl<'t> View<'t> {
    fn of(tables: &'t Tables, turn: Turn<'t>) -> View<'t> {
        View { tables, policies: tables.into.read(turn), turn }
    }

    /// The association that a packet names.
    #[inline]
    fn association(&self, arrival: &Arrival) -> Option<&'t Sa> {
        let (spi, destination) = arrival.name()?;
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

/// What becomes of a packet of the protected side.
#[derive(Clone, Copy)]
enum Fate<'t> {
    Protect(&'t Sa),
    Settled(Verdict),
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
    fn leave(&mut self, cx: &mut Cx<'_>, mut batch: Batch) {
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

    /// Packets from outside. First all are decrypted, and then policies are asked, so that those of all can be looked up side by side.
    fn enter(&mut self, cx: &mut Cx<'_>, mut batch: Batch) {
        let tables = self.tables.clone();
        let newest = tables.newest();
        let (view, mut came) = (View::of(&tables, cx.turn()), Came::default());
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
        let (mut at, mut kept) = (0, 0);
        batch.filter_map(|mut packet| {
            let arrival = &arrivals[at];
            let sa = match &found {
                Some(found) => found[at],
                None => arrival.as_ref().and_then(|arrival| view.association(arrival)),
            };
            ask_for_key(at + AHEAD);
            at += 1;
            match self.open(cx, view, &early, &mut came, arrival, sa, &mut packet) {
                Ok(inner) => {
                    inside[kept] = Some(inner);
                    kept += 1;
                    Some(packet)
                }
                Err(Other::Early) => wait(cx, &mut early, packet),
                Err(other) => turn_away(cx, other, packet),
            }
        });
        came.count(&tables, cx);
        self.early = early;
        self.check_all(cx, view, &inside[..kept], &mut batch);
        cx.emit(1, batch);
    }

    /// Lets those in that have waited for their associations, and drops those that have waited in vain.
    #[cold]
    fn look_again(&self, cx: &mut Cx<'_>, view: View<'_>, early: &mut Early<Packet>) {
        let mut came = Came::default();
        early.again(cx.now_ns(), |early, mut packet, is_over| {
            let arrival = Arrival::of(packet.data(), self.nat_port);
            let sa = arrival.as_ref().and_then(|arrival| view.association(arrival));
            let opened = self.open(cx, view, early, &mut came, &arrival, sa, &mut packet);
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
            Kind::Ike | Kind::Clear => return Ok(Inner { flow: *flow, sa: None }),
        };
        if spi.is_none() {
            return Err(Other::Refused("too short"));
        }
        let sa = sa.filter(|sa| !early.may_wait_for(sa.age)).ok_or(Other::Early)?;
        // A sender that both ends have agreed to find at a port comes from there, and others from none.
        if sa.ports.is_some() != (flow.protocol == wire::ip_proto::UDP) {
            return Err(Other::Refused("in UDP, or not, against what was agreed"));
        }
        if !sa.is_good(cx.now_ns()) {
            return Err(Other::Refused("the association is over"));
        }
        inbound::open(sa, flow, at, packet).map_err(Other::Refused)?;
        came.add(sa, packet.len(), view.tables, cx);
        let flow = Flow::of(packet.data()).ok_or(Other::Refused("no IP packet inside"))?;
        Ok(Inner { flow, sa: Some(sa) })
    }

    /// Leaves those of a batch that policies let in.
    #[inline]
    fn check_all(&self, cx: &mut Cx<'_>, view: View<'_>, inside: &[Option<Inner<'_>>], batch: &mut Batch) {
        let found = view.tables.are_many().then(|| {
            let mut flows = [None; BATCH_MAX];
            flows.iter_mut().zip(inside).for_each(|(flow, inner)| *flow = inner.map(|inner| inner.flow));
            view.policies.find_all(&flows[..inside.len()], view.turn)
        });
        let mut at = 0;
        batch.filter_map(|mut packet| {
            let inner = inside[at]?;
            let rule = match &found {
                Some(found) => found[at],
                None => view.policies.find(&inner.flow, view.turn),
            };
            at += 1;
            match self.check(inner, rule, &mut packet) {
                Ok(()) => Some(packet),
                Err(other) => turn_away(cx, other, packet),
            }
        });
    }

    /// Whether a rule, or that there is none, lets a packet in that was protected by an association, or by none.
    #[inline]
    fn check(&self, inner: Inner<'_>, rule: Option<&Rule>, packet: &mut Packet) -> Result<(), Other> {
        match rule {
            Some(rule) => admits(rule, inner.sa).map_err(Other::Refused)?,
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

/// Numbers that were taken for packets that follow each other.
#[derive(Default)]
struct Run {
    next: u64,
    left: usize,
    packets: u64,
    bytes: u64,
}

#[inline]
fn account(tables: &Tables, sa: &Sa, packets: u64, bytes: u64, cx: &Cx<'_>) {
    if let Some(limit) = sa.account(packets, bytes, cx.now_ns()) {
        expired(tables, sa, limit == Limit::Hard, cx);
    }
}

#[cold]
fn expired(tables: &Tables, sa: &Sa, hard: bool, cx: &Cx<'_>) {
    tables.notice(Notice::Expired { destination: sa.destination, spi: sa.spi, hard });
    let limit = if hard { "hard" } else { "soft" };
    let (name, spi) = (cx.name(), sa.spi);
    cx.info().events.publish(&format!("ipsec {name} expired {limit} {} 0x{spi:08x}", sa.destination));
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

impl Element for Ipsec {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if self.is_first {
            self.tables.stir(cx.now_ns());
            self.tables.tell(cx.info(), cx.name());
            let changes = self.changes(cx.now_ns())?;
            if let Some((_, why)) = self.tables.apply_arguments(changes).first() {
                return Err(why.to_string().into());
            }
        }
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        if port == 0 { self.leave(cx, batch) } else { self.enter(cx, batch) }
    }

    /// Packets wait.
    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        let tables = self.tables.clone();
        let newest = tables.newest();
        let (view, mut early) = (View::of(&tables, cx.turn()), std::mem::take(&mut self.early));
        early.note(newest);
        self.look_again(cx, view, &mut early);
        self.early = early;
        if self.early.len() > 0 {
            cx.timers().after(WAITING, LOOK);
        }
    }

    fn held(&self) -> usize {
        self.early.len()
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let early = std::mem::take(&mut self.early);
        Some(Box::new(Handover { tables: self.tables.clone(), early }))
    }

    /// The tables go on, with what arguments have changed. Their numbers must: none may come twice under a key.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(state) = state.downcast::<Handover>() else { return };
        self.shared.take_over(state.tables);
        self.early.adopt(state.early, |packet| cx.drop(packet, UNKNOWN));
    }

    fn taken_over(&mut self, cx: &mut Cx<'_>) {
        self.tables = self.shared.tables();
        if self.is_first {
            self.tables.tell(cx.info(), cx.name());
            let changes = self.changes(cx.now_ns()).unwrap_or_default();
            for (_, why) in self.tables.apply_arguments(changes) {
                cx.say(Level::Warning, format_args!("{}: {why}", cx.name()));
            }
        }
        if self.early.len() > 0 {
            cx.timers().after(WAITING, LOOK);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        // By a thread: one that changes the tables keeps them locked while it waits for workers.
        h.read_outcome("associations", |e: &mut Ipsec, cx, most| {
            let (tables, now) = (e.tables.clone(), cx.now_ns());
            let most = match most.trim() {
                "" => usize::MAX,
                number => match router::value(cx, number) {
                    Ok(most) => most,
                    Err(why) => return Outcome::Done(Err(why.into())),
                },
            };
            Outcome::Aside(Box::new(move || {
                let mut all = tables.associations();
                if most < all.len() {
                    all.sort_by_cached_key(|sa| std::cmp::Reverse(sa.usage().packets));
                    all.truncate(most);
                }
                HandlerResult::Ok(all.iter().map(|sa| text::show_association(sa, now)).collect()).into()
            }))
        })
        .merged(Merge::First);
        h.read("policies", |e: &mut Ipsec, _| {
            e.tables.policies().iter().map(text::show_policy).collect::<String>()
        })
        .merged(Merge::First);
        h.read("association_count", |e: &mut Ipsec, _| e.tables.count().0)
            .merged(Merge::First)
            .measures(&ASSOCIATIONS);
        h.read("policy_count", |e: &mut Ipsec, _| e.tables.count().1)
            .merged(Merge::First)
            .measures(&POLICIES);
        h.read("waiting", |e: &mut Ipsec, _| e.early.len()).merged(Merge::Sum);
        h.write_outcome("add_association", |e: &mut Ipsec, cx, words| {
            e.change(
                text::association(&split(words), cx.now_ns(), true).map(|of| Change::Associate(Box::new(of))),
            )
        })
        .as_secret();
        h.write_outcome("add_policy", |e: &mut Ipsec, _, words| {
            e.change(text::policy(&split(words)).map(|policy| Change::Policy(Box::new(policy))))
        });
        h.write_outcome("remove_association", |e: &mut Ipsec, _, words| {
            e.change(text::name(&split(words)).map(|(destination, spi)| Change::Dissociate(destination, spi)))
        });
        h.write_outcome("remove_policy", |e: &mut Ipsec, _, words| {
            e.change(
                text::policy(&split(words)).map(|p| Change::ForgetPolicy(p.direction, p.tag, p.selector)),
            )
        });
        h.write_outcome("flush", |e: &mut Ipsec, _, _| {
            let tables = e.tables.clone();
            aside(move || tables.apply(vec![Change::DissociateAll, Change::ForgetPolicies]))
        })
        .as_button();
    }
}

fn split(words: &str) -> Vec<String> {
    words.split_whitespace().map(str::to_owned).collect()
}

impl Ipsec {
    /// What the arguments say. Files of keys are read.
    fn changes(&self, now_ns: i64) -> Result<Vec<Change>, ConfigError> {
        let mut changes = Vec::new();
        for words in &self.associations {
            let of = text::association(words, now_ns, true).map_err(|why| format!("SA: {why}"))?;
            changes.push(Change::Associate(Box::new(of)));
        }
        changes.extend(self.policies.iter().map(|policy| Change::Policy(Box::new(*policy))));
        Ok(changes)
    }

    fn change(&self, change: Result<Change, String>) -> Outcome {
        match change {
            Err(why) => Outcome::Done(Err(why.into())),
            Ok(change) => {
                let tables = self.tables.clone();
                aside(move || tables.apply(vec![change]))
            }
        }
    }
}

/// A thread changes the tables: it may have to wait for a grace period, and that for this worker.
fn aside(change: impl FnOnce() -> Vec<(usize, Refused)> + Send + 'static) -> Outcome {
    Outcome::Aside(Box::new(move || {
        let result = match change().into_iter().next() {
            None => Ok(String::new()),
            Some((_, why)) => HandlerResult::Err(why.to_string().into()),
        };
        result.into()
    }))
}

#[cfg(test)]
#[path = "ipsec_tests.rs"]
mod tests;
