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

use super::associations::Sa;
use super::early::{self, Early};
use super::enter::View;
use super::table::{Shared, Tables, Way};
use super::text;
use elements_shared::ipsec_port::{Change, Policy, Port, Refused};
use packet::{Batch, Packet};
use router::{
    BadState, Class, Config, ConfigError, Cx, Element, HandlerResult, Handlers, Level, Merge, Metric,
    Outcome, Raw, Residency, StateReader, StateWriter,
};
use std::any::Any;
use std::cell::Cell;
use std::sync::Arc;
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

/// Why a packet is dropped that no policy is for.
pub(super) const NO_POLICY: &str = "no policy";
/// Why ESP is dropped that waited for its association in vain.
pub(super) const UNKNOWN: &str = "no such association";
/// Timer: packets that wait are looked at.
pub(super) const WAITING: u32 = 0;
/// The form of what is left to another process.
const FORM: u8 = 1;
/// How often that is done.
pub(super) const LOOK: Duration = Duration::from_millis(5);

/// An instance: one of each worker, all with the same tables. [`super::leave`] and [`super::enter`] are what it does with packets.
pub(super) struct Ipsec {
    shared: Arc<Shared>,
    pub(super) tables: Arc<Tables>,
    /// Whether this instance makes associations and policies of the arguments.
    is_first: bool,
    associations: Vec<Vec<String>>,
    policies: Vec<Policy>,
    pub(super) default_passes: bool,
    pub(super) mtu: usize,
    pub(super) copy_df: bool,
    pub(super) heeds_routers: bool,
    pub(super) nat_port: u16,
    pub(super) has_host: bool,
    /// Packets that wait for their associations.
    pub(super) early: Early<Packet>,
    /// The second that is counted, and the errors in it.
    pub(super) errors: Cell<(i64, u32)>,
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
        errors: Cell::new((0, 0)),
    }))
}

/// What goes to a new configuration.
struct Handover {
    tables: Arc<Tables>,
    early: Early<Packet>,
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

    /// The numbers of associations, without their keys; of all instances one writes.
    fn write_state(&mut self, _cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        if self.is_first {
            out.form(FORM);
            self.tables.write(out);
        }
        self.is_first
    }

    fn read_state(&mut self, cx: &mut Cx<'_>, state: &mut StateReader) -> Result<(), BadState> {
        state.form(FORM)?;
        self.tables.read(state, cx.turn())
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
