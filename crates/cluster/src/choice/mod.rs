//! The choice of a packet's path.
//!
//! An ingress node decides by what it knows itself: how much it has sent to each egress, how busy its own links are,
//! and what it has heard from the others ([`View`]). There is no scheduler, and no feedback from the egress.
//!
//! *Valiant*: each packet goes by way of a node chosen at random, so that any traffic becomes uniform; each packet
//! crosses two links. *Direct* (adaptive, with local information): to each egress a share of up to R/N goes straight,
//! where R is the rate that comes in at a node and N the number of nodes; the rest is spread evenly over all others.
//! Uniform traffic then crosses one link, and no link needs more than 2R/N.
//!
//! Packets of one flow that take different paths overtake each other. [`OrderPolicy`] says what is done about that.

mod burst;
mod flows;
mod path;
mod settings;

use crate::label::Stamp;
use crate::load::{Queues, Sent};
use crate::topology::Topology;
use crate::view::View;
use crate::{NodeId, PortId};
use burst::Pending;
use fastrand::Rng;
use flows::{Flow, Flows, Route};
use std::sync::Arc;

pub use burst::{Burst, Known};
pub use flows::{BUCKETS, Lane, Numbers};
pub use path::Path;
pub use settings::{OrderPolicy, Scheme, Settings};

/// Why a packet cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No way to the egress is known.
    Unreachable,
    /// Every link that could be taken has as much waiting as it may.
    Full,
}

impl Refusal {
    /// In words.
    pub fn reason(self) -> &'static str {
        match self {
            Refusal::Unreachable => "egress node unreachable",
            Refusal::Full => "internal links full",
        }
    }
}

/// A packet's way and what it is stamped with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The way.
    pub path: Path,
    /// The link out of this node.
    pub link: usize,
    /// For the label.
    pub stamp: Stamp,
}

/// What was chosen so far, in packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Straight to the egress.
    pub direct: u64,
    /// By way of another node.
    pub balanced: u64,
    /// Of both: not by the way of their flowlet, since that was full.
    pub spilled: u64,
    /// Flows that were moved to another way, since much waited for the link of theirs.
    pub moved: u64,
    /// Not sent.
    pub refused: u64,
}

/// Chooses ways at one node.
#[derive(Debug)]
pub struct Chooser {
    topology: Topology,
    settings: Settings,
    view: View,
    rng: Rng,
    /// The links, and behind them what may go straight to each egress.
    queues: Queues,
    /// Links there are.
    links: usize,
    /// When a flow last moved away from each link although something of it waited there.
    moved_ns: Vec<u64>,
    /// How long a link takes for a full frame.
    frame_ns: u64,
    /// By way of whom the last packet to each egress went.
    cursors: Vec<NodeId>,
    flows: Flows,
    counts: Counts,
    /// What a burst sends, by link, and the links into which one has sent; of none between bursts.
    pending: Vec<Pending>,
    open: Vec<usize>,
}

/// Two flows leave a link that far apart, in times that it takes for what may wait in comfort.
const MOVES_APART: u64 = 2;

/// Bits of a full frame.
const FRAME_BITS: u64 = 1_518 * 8;

/// Stopovers that are tried before a full link is put up with.
const TRIES: usize = 8;

impl Chooser {
    /// One for the node whose view is given.
    pub fn new(topology: Topology, view: View, settings: Settings) -> Chooser {
        let (me, terminals) = (view.me(), topology.terminals());
        let mut rng = Rng::with_seed(settings.seed ^ (u64::from(me) << 32));
        let links = topology.links(usize::from(me));
        let mut chooser = Chooser {
            queues: Queues::new(links + terminals),
            links,
            moved_ns: vec![0; links],
            frame_ns: 0,
            // Starting anywhere, so that nodes do not all take the same stopover first.
            cursors: (0..terminals).map(|_| rng.u16(..terminals.max(1) as u16)).collect(),
            flows: Flows::new(&settings, terminals),
            counts: Counts::default(),
            pending: vec![Pending::default(); links],
            open: Vec::with_capacity(links),
            topology,
            view,
            rng,
            settings,
        };
        chooser.set_rates();
        chooser
    }

    /// Divides the line rate between the nodes that are up.
    fn set_rates(&mut self) {
        let share = self.settings.line_rate / self.view.alive() as u64;
        let (links, queues) = (self.links, self.links + self.topology.terminals());
        self.frame_ns = FRAME_BITS * 1_000_000_000 / self.settings.link_rate.max(1);
        (0..links).for_each(|link| self.queues.set_rate(link, self.settings.link_rate));
        (links..queues).for_each(|allowance| self.queues.set_rate(allowance, share));
    }

    /// Counters for nodes with so many workers, each of which has a chooser.
    pub fn sent(topology: &Topology, me: NodeId, workers: usize) -> Arc<Sent> {
        Sent::new(workers, topology.links(usize::from(me)) + topology.terminals())
    }

    /// Makes this the chooser of one of a node's workers: it knows what the others send, and numbers packets in buckets of its own.
    pub fn share(&mut self, sent: Arc<Sent>, worker: usize, workers: usize) {
        self.queues.share(sent, worker);
        self.flows.set_lane(Lane::of(worker, workers));
    }

    /// The numbers that were given so far, for the workers of another configuration.
    pub fn numbers(&self) -> (Lane, Numbers) {
        self.flows.numbers()
    }

    /// Goes on from the numbers of all workers of a former configuration.
    pub fn set_numbers(&mut self, numbers: &Numbers) {
        self.flows.set_numbers(numbers);
    }

    /// Takes over what another chooser of this node has counted, which is no more.
    pub fn add_counts(&mut self, counts: Counts) {
        self.counts.direct += counts.direct;
        self.counts.balanced += counts.balanced;
        self.counts.spilled += counts.spilled;
        self.counts.moved += counts.moved;
        self.counts.refused += counts.refused;
    }

    /// What the node knows of the others.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Something has changed.
    pub fn set_view(&mut self, view: View) {
        self.view = view;
        self.set_rates();
    }

    /// Other settings, from now on; the seed stays. What is remembered of flows is kept if it means the same as before.
    pub fn set_settings(&mut self, settings: Settings) {
        if (self.settings.order, self.settings.flow_bits) != (settings.order, settings.flow_bits) {
            let lane = self.flows.lane();
            self.flows = Flows::new(&settings, self.topology.terminals());
            self.flows.set_lane(lane);
        }
        self.settings = settings;
        self.set_rates();
    }

    /// What was chosen so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// How the node chooses.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Chooses the way of a packet that has come in here and leaves at another node.
    ///
    /// # Errors
    /// Why it cannot be sent.
    #[inline]
    pub fn choose(
        &mut self,
        now_ns: u64,
        flow: u64,
        egress: NodeId,
        bytes: u32,
    ) -> Result<Decision, Refusal> {
        let chosen = match self.settings.order {
            OrderPolicy::None | OrderPolicy::Sequence => {
                self.pick(now_ns, egress, bytes).map(|path| self.route(egress, path))
            }
            OrderPolicy::Pinned => {
                self.pinned(now_ns, flow, egress, bytes).map(|path| self.route(egress, path))
            }
            OrderPolicy::Flowlet => self.flowlet(now_ns, flow, egress, bytes),
            OrderPolicy::Quiet => self.quiet(now_ns, flow, egress, bytes),
        };
        match chosen {
            Ok(route) => Ok(self.take(now_ns, flow, egress, bytes, route)),
            Err(refusal) => {
                self.counts.refused += 1;
                Err(refusal)
            }
        }
    }

    /// The link by which a packet of another ingress node goes on to its egress: the one that it would take in a cluster that is whole,
    /// if nothing is known of links.
    ///
    /// # Errors
    /// No link leads there.
    #[inline]
    pub fn onward(&self, link: usize, egress: NodeId) -> Result<usize, Refusal> {
        if self.view.knows_links() {
            self.view.first_link(egress).ok_or(Refusal::Unreachable)
        } else {
            Ok(link)
        }
    }

    /// A packet of another ingress node goes through here, into this link.
    ///
    /// # Errors
    /// As much is waiting for the link as may.
    #[inline]
    pub fn pass(&mut self, now_ns: u64, link: usize, bytes: u32) -> Result<(), Refusal> {
        if link >= self.links {
            return Err(Refusal::Unreachable);
        }
        if !self.queues.fits(link, now_ns, bytes, self.settings.bound_bytes) {
            return Err(Refusal::Full);
        }
        self.queues.add(link, now_ns, bytes);
        Ok(())
    }

    /// Whether a link has room for packets of other ingress nodes, one after the other: so many bytes together, the longest of them as long. Where
    /// it is too close to tell, it has not; [`Chooser::pass`] knows of each.
    #[inline]
    pub fn has_room(&mut self, now_ns: u64, link: usize, bytes: u32, most: u32) -> bool {
        link < self.links && self.queues.fit(link, now_ns, bytes, most, self.settings.bound_bytes)
    }

    /// Packets of other ingress nodes go through here, into a link that has room for them.
    #[inline]
    pub fn pass_all(&mut self, now_ns: u64, link: usize, bytes: u32) {
        self.queues.add(link, now_ns, bytes);
    }

    /// Accounts for a packet that is sent.
    #[inline]
    fn take(&mut self, now_ns: u64, flow: u64, egress: NodeId, bytes: u32, route: Route) -> Decision {
        let link = usize::from(route.link);
        let path = match route.path {
            Path::Direct => {
                self.queues.add(self.links + usize::from(egress), now_ns, bytes);
                Path::Direct
            }
            Path::Via(node) if node == egress => Path::Direct,
            path => path,
        };
        match path {
            Path::Direct => self.counts.direct += 1,
            Path::Via(_) => self.counts.balanced += 1,
        }
        self.queues.add(link, now_ns, bytes);
        // In a mesh the first link tells the stopover.
        let via = match path {
            Path::Via(node) if !matches!(self.topology, Topology::Mesh { .. }) => Some(node),
            _ => None,
        };
        let stamp = match (self.flows.number(flow, egress), via) {
            (None, None) => Stamp::None,
            (None, Some(via)) => Stamp::Via(via),
            (Some((bucket, number)), None) => Stamp::Sequence { bucket, number },
            (Some((bucket, number)), Some(via)) => Stamp::Numbered { bucket, number, via },
        };
        Decision { path, link, stamp }
    }

    /// The link by which a new flow goes that goes to another terminal first.
    #[inline]
    fn link(&self, first: NodeId) -> usize {
        self.view.first_link(first).unwrap_or_else(|| self.topology.first_link(self.view.me(), first))
    }

    /// A way with the link that new flows take.
    #[inline]
    fn route(&self, egress: NodeId, path: Path) -> Route {
        Route { path, link: self.link(path.first(egress)) as u16 }
    }

    /// Whether a way exists.
    #[inline]
    fn exists(&self, egress: NodeId, path: Path) -> bool {
        exists(&self.view, egress, path)
    }

    /// Whether a flow that took a way may go on doing so.
    #[inline]
    fn persists(&self, egress: NodeId, route: Route) -> bool {
        persists(&self.view, egress, route)
    }

    /// Whether the first link of a way has room.
    #[inline]
    fn fits(&mut self, now_ns: u64, bytes: u32, route: Route, bound_bytes: u32) -> bool {
        self.queues.fits(usize::from(route.link), now_ns, bytes, bound_bytes)
    }

    /// A way for one packet or for a new flowlet.
    #[inline]
    fn pick(&mut self, now_ns: u64, egress: NodeId, bytes: u32) -> Result<Path, Refusal> {
        match self.settings.scheme {
            Scheme::Straight if !self.view.direct(egress) => Err(Refusal::Unreachable),
            Scheme::Straight => self.if_bounded(now_ns, egress, bytes, Path::Direct),
            Scheme::Valiant => self.valiant(now_ns, egress, bytes),
            Scheme::Direct => {
                if self.may_go_straight(now_ns, egress, bytes) {
                    return Ok(Path::Direct);
                }
                self.balance(now_ns, egress, bytes)
            }
        }
    }

    fn may_go_straight(&mut self, now_ns: u64, egress: NodeId, bytes: u32) -> bool {
        let allowance = self.links + usize::from(egress);
        self.view.direct(egress)
            && self.queues.fits(allowance, now_ns, bytes, self.settings.direct_burst_bytes)
            && self.fits(now_ns, bytes, self.route(egress, Path::Direct), self.settings.comfortable_bytes)
    }

    fn if_bounded(&mut self, now_ns: u64, egress: NodeId, bytes: u32, path: Path) -> Result<Path, Refusal> {
        let route = self.route(egress, path);
        if self.fits(now_ns, bytes, route, self.settings.bound_bytes) { Ok(path) } else { Err(Refusal::Full) }
    }

    /// By way of a random node. If that is the egress, or this node itself, the packet goes straight.
    fn valiant(&mut self, now_ns: u64, egress: NodeId, bytes: u32) -> Result<Path, Refusal> {
        let nodes = self.view.nodes() as NodeId;
        for _ in 0..TRIES {
            let node = self.rng.u16(..nodes);
            let path = if node == self.view.me() { Path::Direct } else { Path::Via(node) };
            if self.exists(egress, path) {
                return self.if_bounded(now_ns, egress, bytes, path);
            }
        }
        self.balance(now_ns, egress, bytes)
    }

    /// By way of all others in turn, the egress among them: that splits the traffic of each pair of nodes evenly, which is
    /// what keeps the second half of the way from being overloaded. A packet whose stopover is its egress goes straight;
    /// if the egress had no turn, a pair that has the full line would put (R - R/N)/(N-2) on each other link, twice, and
    /// links of 2R/N would not do. Links without room are passed over while there are others.
    fn balance(&mut self, now_ns: u64, egress: NodeId, bytes: u32) -> Result<Path, Refusal> {
        let nodes = self.view.nodes();
        let start = usize::from(*self.cursors.get(usize::from(egress)).ok_or(Refusal::Unreachable)?);
        let (mut best, mut tried) = (None, 0);
        let mut at = start;
        for _ in 0..nodes {
            at = if at + 1 >= nodes { 0 } else { at + 1 };
            let node = at as NodeId;
            let path = Path::Via(node);
            if !self.exists(egress, path) {
                continue;
            }
            let link = self.link(node);
            if self.queues.fits(link, now_ns, bytes, self.settings.comfortable_bytes) {
                self.cursors[usize::from(egress)] = node;
                return Ok(path);
            }
            let waiting = self.queues.waiting_ns(link, now_ns);
            if best.is_none_or(|(least, _)| waiting < least) {
                best = Some((waiting, path));
            }
            tried += 1;
            if tried == TRIES {
                break;
            }
        }
        self.cursors[usize::from(egress)] = if start + 1 >= nodes { 0 } else { start as NodeId + 1 };
        // Nothing is comfortable: the least busy.
        let (_, path) = best.ok_or(Refusal::Unreachable)?;
        self.if_bounded(now_ns, egress, bytes, path)
    }

    /// A way that follows from the flow alone; of flows whose way is gone, and only of those, another.
    fn pinned(&mut self, now_ns: u64, flow: u64, egress: NodeId, bytes: u32) -> Result<Path, Refusal> {
        let nodes = self.view.nodes() as u64;
        let mut hash = flows::mix(flow, egress);
        for _ in 0..4 * TRIES {
            let node = ((u128::from(hash) * u128::from(nodes)) >> 64) as NodeId;
            let path = if node == self.view.me() { Path::Direct } else { Path::Via(node) };
            if self.exists(egress, path) {
                return self.if_bounded(now_ns, egress, bytes, path);
            }
            hash = flows::mix(hash, egress);
        }
        // Hardly anything is up: any way at all.
        let any = (0..nodes as NodeId).map(Path::Via).find(|&path| self.exists(egress, path));
        let any = any.or_else(|| self.view.direct(egress).then_some(Path::Direct));
        self.if_bounded(now_ns, egress, bytes, any.ok_or(Refusal::Unreachable)?)
    }

    /// How much may wait for a link that the ways of flowlets lead into. In a mesh, as much as fits: the second link of a way has
    /// a single packet's share of each node at most. In a fly ways of other nodes' flows cross further on, where this node does not see
    /// how much waits, so that a flow which fills its own link is spread before it fills those.
    #[inline]
    fn room_bytes(&self) -> u32 {
        match self.topology {
            Topology::Mesh { .. } => self.settings.bound_bytes,
            _ => self.settings.comfortable_bytes / 4,
        }
    }

    /// The way of the flowlet while its link has room. When something waits there, a flow moves as a whole to a link with far less if
    /// nothing of it is in that queue, so that it does not overtake itself; when much waits, one that does move now and then, too,
    /// and out of order this once; and when the link is full, and no other is better, single packets go other ways.
    fn flowlet(&mut self, now_ns: u64, flow: u64, egress: NodeId, bytes: u32) -> Result<Route, Refusal> {
        let (flow, fresh) = self.flows.fresh(now_ns, flow, egress, self.settings.flowlet_gap_ns);
        if let Some(route) = fresh.filter(|&route| self.persists(egress, route)) {
            let comfortable = self.settings.comfortable_bytes;
            if self.fits(now_ns, bytes, route, (comfortable / 2).min(self.room_bytes())) {
                return Ok(route);
            }
            if let Some(other) = self.escape(now_ns, flow, egress, route) {
                self.flows.assign(flow, other);
                self.counts.moved += 1;
                return Ok(other);
            }
            if self.fits(now_ns, bytes, route, self.room_bytes()) {
                return Ok(route);
            }
            let path = self.pick(now_ns, egress, bytes)?;
            self.counts.spilled += 1;
            return Ok(self.route(egress, path));
        }
        self.assign(now_ns, flow, egress, bytes)
    }

    /// Another way for a flow: one whose first link has less than half waiting of what waits for its own.
    fn escape(&mut self, now_ns: u64, flow: Flow, egress: NodeId, from: Route) -> Option<Route> {
        let Topology::Mesh { nodes } = self.topology else { return None };
        let link = usize::from(from.link);
        let waiting_ns = self.queues.waiting_ns(link, now_ns);
        let is_through = flow.gap_ns > waiting_ns + self.frame_ns;
        if !is_through {
            // Each packet that comes may be the one that takes its flow away, so that is most likely a large one. A while must pass
            // until it shows what became of that; but where the link is full, this packet would go another way in any case.
            let comfortable = self.settings.comfortable_bytes;
            let since_ns = now_ns.saturating_sub(*self.moved_ns.get(link)?);
            let is_early =
                since_ns < u64::from(comfortable) * 8 * MOVES_APART * 1_000_000_000 / self.settings.link_rate;
            let bound = if is_early { self.settings.bound_bytes } else { comfortable };
            if self.fits(now_ns, 0, from, bound) {
                return None;
            }
        }
        let start = self.rng.usize(..nodes);
        let mut best = None;
        for at in (0..nodes).map(|step| (start + step) % nodes).take(4 * TRIES) {
            let node = at as NodeId;
            let path = if node == self.view.me() { Path::Direct } else { Path::Via(node) };
            if !self.exists(egress, path) {
                continue;
            }
            let route = self.route(egress, path);
            let waits_ns = self.queues.waiting_ns(usize::from(route.link), now_ns);
            if 2 * waits_ns < waiting_ns && best.is_none_or(|(least, _)| waits_ns < least) {
                best = Some((waits_ns, route));
            }
        }
        let (_, route) = best?;
        if !is_through {
            self.moved_ns[link] = now_ns;
        }
        Some(route)
    }

    /// A new way for a flow.
    fn assign(&mut self, now_ns: u64, flow: Flow, egress: NodeId, bytes: u32) -> Result<Route, Refusal> {
        let path = self.pick(now_ns, egress, bytes)?;
        let route = self.route(egress, path);
        self.flows.assign(flow, route);
        Ok(route)
    }

    /// The way of the flow until nothing of it can be under way any more, whatever happens.
    fn quiet(&mut self, now_ns: u64, flow: u64, egress: NodeId, bytes: u32) -> Result<Route, Refusal> {
        let (flow, fresh) = self.flows.fresh(now_ns, flow, egress, self.settings.transit_max_ns);
        if let Some(route) = fresh {
            if !self.persists(egress, route) {
                // What went that way before may still arrive; only what is sent counts as the flow's last packet.
                self.flows.undo(flow);
                return Err(Refusal::Unreachable);
            }
            let fits = self.fits(now_ns, bytes, route, self.settings.bound_bytes);
            return if fits { Ok(route) } else { Err(Refusal::Full) };
        }
        self.assign(now_ns, flow, egress, bytes)
    }
}

/// Whether a way exists.
#[inline]
fn exists(view: &View, egress: NodeId, path: Path) -> bool {
    match path {
        Path::Direct => view.direct(egress),
        Path::Via(node) if node == egress => view.direct(egress),
        Path::Via(node) => view.via(node, egress),
    }
}

/// Whether a flow that took a way may go on doing so.
#[inline]
fn persists(view: &View, egress: NodeId, route: Route) -> bool {
    let is_there = match route.path {
        Path::Via(node) if node != egress => view.via_still(node, egress),
        path => exists(view, egress, path),
    };
    is_there && view.link_still(usize::from(route.link), route.path.first(egress))
}

/// An external port of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct External {
    /// Its node.
    pub node: NodeId,
    /// The port on that node.
    pub port: PortId,
}

#[cfg(test)]
mod tests;
