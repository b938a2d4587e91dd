//! Security policies, as workers search them (the SPD of RFC 4301, section 4.4.1).
//!
//! Policies whose selectors have the same lengths of prefixes are in one hash table, by these prefixes, so that a search takes a step for each
//! pair of lengths rather than for each policy. There are few pairs: gateways with ten thousand tunnels have one or two. A change is one of an entry
//! of such a table; only where pairs come, go, grow or change their order a new list of them takes the old one's place.

use super::associations::{Entry, Sa};
use super::flow::{Flow, bits, matches_upper};
use super::side_by_side;
use elements_shared::ipsec_port::{Action, Mode, Policy, Selector, Template};
use packet::{BATCH_MAX, prefetch};
use rcu::{Chains, OptionCell, Turn, Weigh};
use std::borrow::Borrow;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// The association that packets of a template leave by, at this time. What packets read comes first, in one cache line.
#[repr(C)]
pub(crate) struct Slot {
    pub(crate) current: OptionCell<Entry>,
    is_by_packet: bool,
    pub(crate) template: Template,
    /// When an association was asked for last; [`NEVER`] if one has come or gone since.
    asked_ns: AtomicI64,
}

/// How often an association is asked for while there is none. A daemon that is still at work on one might make another, so it is left alone for as long
/// as Linux leaves it (net.core.xfrm_acq_expires).
const ASK_AGAIN_NS: i64 = 30_000_000_000;
/// The same where each packet may need another one.
const ASK_FOR_OTHERS_NS: i64 = 1_000_000_000;
const NEVER: i64 = i64::MIN / 2;

impl Slot {
    pub(crate) fn new(template: Template) -> Slot {
        let is_by_packet = template.mode == Mode::Transport && template.destination.is_unspecified();
        let asked_ns = AtomicI64::new(NEVER);
        Slot { current: OptionCell::new(None), is_by_packet, template, asked_ns }
    }

    /// Whether packets choose the association by their own addresses: in transport mode a template need not name them.
    #[inline]
    pub(crate) fn is_by_packet(&self) -> bool {
        self.is_by_packet
    }

    /// Whether an association is to be asked for now. Of several workers one is told so.
    pub(crate) fn is_to_be_asked_for(&self, now_ns: i64) -> bool {
        let asked_ns = self.asked_ns.load(Relaxed);
        let pause_ns = if self.is_by_packet { ASK_FOR_OTHERS_NS } else { ASK_AGAIN_NS };
        now_ns.saturating_sub(asked_ns) >= pause_ns
            && self.asked_ns.compare_exchange(asked_ns, now_ns, Relaxed, Relaxed).is_ok()
    }

    /// Notes that associations have come or gone: the next packet without one asks at once.
    pub(crate) fn has_changed(&self) {
        self.asked_ns.store(NEVER, Relaxed);
    }

    /// What the template asks for, for a packet of the flow.
    pub(crate) fn wanted(&self, flow: &Flow) -> Template {
        if !self.is_by_packet() {
            return self.template;
        }
        let [source, destination] = flow.ends();
        Template { source, destination, ..self.template }
    }
}

/// Whether an association is of the kind that a template asks for.
pub(crate) fn fits(template: &Template, sa: &Sa) -> bool {
    let is = |wanted: IpAddr, has: IpAddr| wanted.is_unspecified() || wanted == has;
    let number = |wanted: u32, has: u32| wanted == 0 || wanted == has;
    template.mode == sa.mode
        && is(template.source, sa.source)
        && is(template.destination, sa.destination)
        && number(template.reqid, sa.reqid)
        && number(template.spi, sa.spi)
}

/// A policy in a table.
#[derive(Clone)]
pub(crate) struct Rule {
    pub(crate) policy: Policy,
    /// Among equals the lowest counts.
    pub(crate) age: u64,
    /// For what is to be protected.
    pub(crate) slot: Option<Arc<Slot>>,
}

/// Which of several policies that match counts: the lowest.
pub(crate) type Rank = (u32, u64);

impl Rule {
    pub(crate) fn rank(&self) -> Rank {
        (self.policy.priority, self.age)
    }

    /// Whether another one is the same in all.
    pub(crate) fn is(&self, other: &Rule) -> bool {
        let slot = |rule: &Rule| rule.slot.as_ref().map(Arc::as_ptr);
        (self.policy, self.age, slot(self)) == (other.policy, other.age, slot(other))
    }
}

/// The prefixes of a selector, as the bits of addresses that count.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Prefixes(u128, u128);

impl Prefixes {
    pub(crate) fn of(selector: &Selector) -> Prefixes {
        Prefixes(bits(selector.source.address), bits(selector.destination.address))
    }
}

/// What packets read of the policies of some prefixes: one cache line. It is of the best, which few prefixes have others beside.
#[derive(Clone)]
#[repr(C, align(64))]
pub(crate) struct Place {
    prefixes: Prefixes,
    slot: Option<Arc<Slot>>,
    rules: Box<Rules>,
    age: u64,
    priority: u32,
    bypasses: bool,
    /// Whether it is for all protocols and ports.
    is_for_all: bool,
}

const _: () = assert!(size_of::<Place>() == 64);

/// Policies with the same prefixes, and first what packets from outside read of them.
#[derive(Clone)]
#[repr(C, align(64))]
struct Rules {
    /// What the best does.
    action: Action,
    /// The best first.
    all: Box<[Rule]>,
}

impl Place {
    /// Of a list that begins with the best. None if it is empty.
    pub(crate) fn new(prefixes: Prefixes, list: Vec<Rule>) -> Option<Place> {
        let best = list.first()?;
        let (action, slot) = (best.policy.action, best.slot.clone());
        let Policy { priority, selector: of, .. } = best.policy;
        Some(Place {
            prefixes,
            slot,
            age: best.age,
            priority,
            bypasses: matches!(action, Action::Bypass),
            is_for_all: of.protocol == 0 && (of.source_port.1, of.destination_port.1) == (0, 0),
            rules: Box::new(Rules { action, all: list.into() }),
        })
    }

    /// All policies, the best first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.rules.all.iter()
    }

    /// The best that matches protocol and ports.
    #[inline]
    fn find(&self, flow: &Flow) -> Option<Hit<'_>> {
        if self.is_for_all {
            return Some(Hit { place: self, at: 0 });
        }
        let at = self.iter().position(|rule| matches_upper(&rule.policy.selector, flow))?;
        Some(Hit { place: self, at })
    }
}

/// Places are found by their prefixes.
impl Borrow<Prefixes> for Place {
    fn borrow(&self) -> &Prefixes {
        &self.prefixes
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Place) -> bool {
        self.prefixes == other.prefixes
    }
}

impl Eq for Place {}

impl Hash for Place {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.prefixes.hash(state);
    }
}

impl Weigh for Place {
    fn heap_bytes(&self) -> usize {
        size_of::<Rules>() + self.rules.all.len() * size_of::<Rule>()
    }
}

/// A policy that counts for a packet.
#[derive(Clone, Copy)]
pub(crate) struct Hit<'t> {
    place: &'t Place,
    /// Which one of the place.
    at: usize,
}

impl<'t> Hit<'t> {
    /// The policy. What packets need of the best they are told by the functions below.
    pub(crate) fn rule(self) -> &'t Rule {
        &self.place.rules.all[self.at]
    }

    #[inline]
    fn rank(self) -> Rank {
        if self.at == 0 { (self.place.priority, self.place.age) } else { self.rule().rank() }
    }

    /// Where the association is that packets leave by, if they are to be protected.
    #[inline]
    pub(crate) fn slot(self) -> Option<&'t Slot> {
        if self.at == 0 { self.place.slot.as_deref() } else { self.rule().slot.as_deref() }
    }

    /// Whether packets pass as they are.
    #[inline]
    pub(crate) fn bypasses(self) -> bool {
        if self.at == 0 { self.place.bypasses } else { matches!(self.rule().policy.action, Action::Bypass) }
    }

    /// What is done with packets.
    #[inline]
    pub(crate) fn action(self) -> &'t Action {
        if self.at == 0 { &self.place.rules.action } else { &self.rule().policy.action }
    }

    /// Asks for that.
    #[inline]
    pub(crate) fn prefetch_action(self) {
        prefetch(&*self.place.rules);
    }
}

/// Policies whose prefixes have the same lengths, by the prefixes.
pub(crate) type Places = Chains<Place, (), BuildHasherDefault<Mixed>>;

/// Policies of a pair of lengths.
pub(crate) struct Pair {
    /// No policy of it has a better rank.
    pub(crate) best: Rank,
    pub(crate) six: bool,
    pub(crate) masks: (u128, u128),
    pub(crate) places: Arc<Places>,
}

impl Pair {
    /// By which prefixes policies for packets of a flow are here. None if it is of the other family.
    #[inline]
    fn prefixes(&self, flow: &Flow) -> Option<Prefixes> {
        let prefixes = Prefixes(flow.source & self.masks.0, flow.destination & self.masks.1);
        (self.six == flow.six).then_some(prefixes)
    }

    /// The policies of prefixes.
    #[inline]
    fn place<'t>(&'t self, prefixes: &Prefixes, turn: Turn<'t>) -> Option<&'t Place> {
        let mut chain = self.places.chain(prefixes).iter(turn).map(|(place, ())| place);
        chain.find(|place| place.prefixes == *prefixes)
    }
}

/// Of two policies that match the one that counts.
#[inline]
fn better<'t>(found: Option<Hit<'t>>, other: Option<Hit<'t>>) -> Option<Hit<'t>> {
    match (found, other) {
        (Some(found), Some(other)) if other.rank() >= found.rank() => Some(found),
        (found, None) => found,
        (_, other) => other,
    }
}

/// The policies of a direction: pairs, those with the best policies first.
#[derive(Default)]
pub(crate) struct Spd(pub(crate) Vec<Pair>);

impl Spd {
    /// The policy that counts for a packet.
    #[inline]
    pub(crate) fn find<'t>(&'t self, flow: &Flow, turn: Turn<'t>) -> Option<Hit<'t>> {
        let mut found: Option<Hit<'_>> = None;
        for pair in &self.0 {
            if found.is_some_and(|found| found.rank() < pair.best) {
                break;
            }
            let Some(prefixes) = pair.prefixes(flow) else { continue };
            let Some(place) = pair.place(&prefixes, turn) else { continue };
            found = better(found, place.find(flow));
        }
        found
    }

    /// The policies that count for a batch's packets, found side by side.
    pub(crate) fn find_all<'t>(
        &'t self,
        flows: &[Option<Flow>],
        turn: Turn<'t>,
    ) -> [Option<Hit<'t>>; BATCH_MAX] {
        let mut found: [Option<Hit<'_>>; BATCH_MAX] = [None; BATCH_MAX];
        for pair in &self.0 {
            let prefixes = |at: usize| {
                let flow = flows[at].as_ref()?;
                let is_settled = found[at].is_some_and(|found| found.rank() < pair.best);
                if is_settled { None } else { pair.prefixes(flow) }
            };
            let all = side_by_side::get_all(&pair.places, flows.len(), prefixes, turn);
            for ((found, place), flow) in found.iter_mut().zip(all).zip(flows) {
                if let (Some((place, ())), Some(flow)) = (place, flow) {
                    *found = better(*found, place.find(flow));
                }
            }
        }
        found
    }

    /// All of them, the best first.
    pub(crate) fn rules<'t>(&'t self, turn: Turn<'t>) -> Vec<&'t Rule> {
        let mut all: Vec<&Rule> = self
            .0
            .iter()
            .flat_map(|pair| pair.places.iter(turn))
            .flat_map(|(place, ())| place.iter())
            .collect();
        all.sort_by_key(|rule| rule.rank());
        all
    }
}

/// Whether a packet that an association protected, or none, was protected as a policy wants it; otherwise the reason why not.
pub(crate) fn admits(hit: Hit<'_>, sa: Option<&Sa>) -> Result<(), &'static str> {
    match (hit.action(), sa) {
        (Action::Discard, _) => Err("the policy says discard"),
        (Action::Protect(template), Some(sa)) if fits(template, sa) => Ok(()),
        (Action::Protect(_), Some(_)) => Err("protected by another association than the policy says"),
        (Action::Protect(_), None) => Err("not protected as the policy says"),
        (Action::Bypass, None) => Ok(()),
        (Action::Bypass, Some(_)) => Err("protected, where the policy says bypass"),
    }
}

/// Mixes the bits of addresses. Who makes policies is trusted, and packets add nothing to the table, so that it needs no secret.
#[derive(Default)]
pub(crate) struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u128(byte.into()));
    }

    #[inline]
    fn write_u128(&mut self, number: u128) {
        let product = u128::from(self.0 ^ number as u64 ^ 0x9e37_79b9_7f4a_7c15)
            * u128::from((number >> 64) as u64 ^ 0xd1b5_4a32_d192_ed03 ^ self.0.rotate_left(29));
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    /// A daemon is not asked again while it may be at work, but at once when what it made is gone.
    #[test]
    fn daemons_are_left_alone() {
        let template = |mode, destination: Ipv4Addr| Template {
            source: Ipv4Addr::UNSPECIFIED.into(),
            destination: destination.into(),
            spi: 0,
            reqid: 1,
            mode,
        };
        let slot = Slot::new(template(Mode::Tunnel, Ipv4Addr::LOCALHOST));
        let second = 1_000_000_000;
        let asked = |slot: &Slot| [0, 1, 29, 30, 31].map(|at| slot.is_to_be_asked_for(at * second));
        assert_eq!(asked(&slot), [true, false, false, true, false]);
        slot.has_changed();
        assert!(slot.is_to_be_asked_for(32 * second) && !slot.is_to_be_asked_for(33 * second));
        let by_packet = Slot::new(template(Mode::Transport, Ipv4Addr::UNSPECIFIED));
        assert_eq!(asked(&by_packet), [true; 5]);
    }
}
