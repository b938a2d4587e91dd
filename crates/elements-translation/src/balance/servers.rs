//! Which server is a packet's: what FastClick's load balancers share.

use super::ip_rr_switch::flow;
use super::loads::{Loads, Metric};
use super::shifter::{Side, change};
use elements_shared::flow_id::Key;
use elements_shared::ip_header::NO_HEADER;
use elements_shared::keyed_hash::HashKey;
use packet::{Anno, Packet};
use router::{Args, Config, ConfigError, Cx, FromArg, Handlers, Scope, Simple, Verdict};
use std::any::Any;
use std::net::Ipv4Addr;
use std::sync::Arc;
use wire::ethernet::{Header, MacAddr};

/// How servers are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// One after the other.
    #[default]
    RoundRobin,
    /// One after the other, those with less load more often.
    Weighted,
    /// The one with the least load.
    Least,
    /// The one of two at random that has less load.
    PowerOfTwo,
    /// By addresses and ports.
    Hash,
    /// By some bytes of the frame.
    HashIp,
    /// By the aggregate annotation.
    HashAggregate,
    /// The same, by a table in which most stays as it is when there are more servers.
    ConstantHashAggregate,
}

impl FromArg for Mode {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        // A string to FastClick, which may be quoted.
        match String::from_arg(text, scope)?.as_str() {
            // FastClick's weights never change without the mode `awrr`.
            "rr" | "wrr" => Ok(Mode::RoundRobin),
            "awrr" => Ok(Mode::Weighted),
            "least" => Ok(Mode::Least),
            "pow2" => Ok(Mode::PowerOfTwo),
            "hash" | "hash_crc" => Ok(Mode::Hash),
            "hash_ip" => Ok(Mode::HashIp),
            "hash_agg" => Ok(Mode::HashAggregate),
            "cst_hash_agg" => Ok(Mode::ConstantHashAggregate),
            _ => {
                let known = "'rr', 'wrr', 'awrr', 'least', 'pow2', 'hash', 'hash_crc', 'hash_ip', 'hash_agg' or 'cst_hash_agg'";
                router::parse_error(known, text)
            }
        }
    }
}

/// How servers are chosen, and how many.
#[derive(Debug)]
pub(crate) struct Settings {
    mode: Mode,
    /// 0 for all.
    used: u32,
    metric: Metric,
    awrr_ms: u32,
    awrr_alpha: f64,
    /// 0 for some for each server.
    buckets: u32,
    force_track_load: bool,
    autoscale: String,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            mode: Mode::RoundRobin,
            used: 0,
            metric: Metric::Connections,
            awrr_ms: 100,
            awrr_alpha: 0.0,
            buckets: 0,
            force_track_load: false,
            autoscale: String::new(),
        }
    }
}

impl Settings {
    /// Adds their arguments to what is read.
    pub(crate) fn read<'s, 'v>(&'v mut self, args: Args<'s, 'v>) -> Args<'s, 'v> {
        args.keyword("LB_MODE", &mut self.mode)
            .keyword("NSERVER", &mut self.used)
            .keyword("LST_MODE", &mut self.metric)
            .keyword("AWRR_TIME", &mut self.awrr_ms)
            .keyword("AWRR_ALPHA", &mut self.awrr_alpha)
            .keyword("CST_BUCKETS", &mut self.buckets)
            .keyword("FORCE_TRACK_LOAD", &mut self.force_track_load)
            .keyword("AUTOSCALE", &mut self.autoscale)
    }
}

/// Turns of servers that have more or less of them.
#[derive(Clone, Debug)]
struct Weights {
    turns: Vec<u32>,
    alpha: f64,
    interval_ns: i64,
    /// When weights are to be looked at again.
    next_ns: i64,
}

/// Turns that a server has, at least and at most.
const TURNS: std::ops::RangeInclusive<f64> = 2.0..=30.0;
const NS_PER_MS: i64 = 1_000_000;
/// Buckets for each server.
const BUCKETS: usize = 100;
const MOST_BUCKETS: usize = 1 << 24;

impl Weights {
    fn new(settings: &Settings, servers: usize) -> Weights {
        let mut turns = Vec::with_capacity(servers * *TURNS.end() as usize);
        turns.extend(0..servers as u32);
        let interval_ns = i64::from(settings.awrr_ms.max(1)) * NS_PER_MS;
        Weights { turns, alpha: settings.awrr_alpha, interval_ns, next_ns: i64::MIN }
    }

    /// Gives each server as many turns as its load leaves, if it is time, in random order.
    fn adapt(&mut self, cx: &mut Cx<'_>, servers: usize, load: impl Fn(usize) -> u64) {
        if cx.now_ns() < self.next_ns {
            return;
        }
        let first = self.next_ns == i64::MIN;
        self.next_ns = cx.now_ns().saturating_add(self.interval_ns);
        if first {
            return;
        }
        let average = (0..servers).map(&load).sum::<u64>() / servers as u64;
        self.turns.clear();
        for server in 0..servers {
            let turns = turns(load(server), average, self.alpha);
            self.turns.extend(std::iter::repeat_n(server as u32, turns));
        }
        cx.rng().shuffle(&mut self.turns);
    }
}

/// The turns of a server with this load among others that have the average.
fn turns(load: u64, average: u64, alpha: f64) -> usize {
    let (load, average) = (load as f64, average as f64);
    if load == 0.0 {
        return *TURNS.end() as usize;
    }
    let turns = 10.0 * average / ((1.0 - alpha) * load + alpha * average);
    turns.clamp(*TURNS.start(), *TURNS.end()) as usize
}

/// A number for a pair of numbers, no other pair's as long as they are small.
fn cantor(a: u32, b: u32) -> u32 {
    let sum = a.wrapping_add(b);
    (sum.wrapping_mul(sum.wrapping_add(1)) / 2).wrapping_add(b)
}

/// A server for each bucket, such that another server changes few of them.
fn ring(servers: usize, buckets: usize) -> Box<[u32]> {
    let mut ring = vec![None; buckets];
    for round in 0..buckets.div_ceil(servers) {
        for server in 0..servers as u32 {
            ring[cantor(server, round as u32) as usize % buckets] = Some(server);
        }
    }
    let mut last = 0;
    let fill = |bucket: Option<u32>| {
        last = bucket.unwrap_or(last);
        last
    };
    ring.into_iter().map(fill).collect()
}

/// What one number is among fewer, as FastClick folds it.
fn fold(number: usize, among: usize) -> usize {
    (number >> 16 ^ number & 0xffff) % among
}

/// A number from the bytes of a frame where addresses end and ports begin.
fn sum_of_bytes(packet: &Packet, servers: usize) -> usize {
    const BYTES: std::ops::Range<usize> = 32..40;
    let bytes = packet.data().get(BYTES).unwrap_or_default();
    let sum: usize = bytes.iter().map(|&byte| usize::from(byte)).sum();
    match servers {
        2 | 4 | 8 => (sum ^ sum >> 4) & (servers - 1),
        _ => sum % servers,
    }
}

/// How a server is told apart, and what makes a packet one for it.
pub(crate) trait Target: Copy + PartialEq + Send + 'static {
    /// Sends a packet there.
    fn send(self, packet: &mut Packet) -> Verdict;
}

impl Target for Ipv4Addr {
    #[inline]
    fn send(self, packet: &mut Packet) -> Verdict {
        if change(packet, Side::Destination, |_| self, |port| port).is_none() {
            return Verdict::Drop(NO_HEADER);
        }
        packet.set_dst_ip(self);
        Verdict::Pass
    }
}

impl Target for MacAddr {
    #[inline]
    fn send(self, packet: &mut Packet) -> Verdict {
        match Header::new_checked_mut(packet.data_mut()) {
            Ok(mut header) => {
                header.set_dst(self);
                Verdict::Pass
            }
            Err(_) => Verdict::Drop("no Ethernet header"),
        }
    }
}

/// An output as a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Output(pub(crate) usize);

impl Target for Output {
    #[inline]
    fn send(self, _packet: &mut Packet) -> Verdict {
        Verdict::Output(self.0)
    }
}

/// Servers, one of which is chosen for a packet or a flow, and what they got.
#[derive(Clone, Debug)]
pub(crate) struct Servers<A> {
    addresses: Vec<A>,
    used: usize,
    mode: Mode,
    metric: Metric,
    loads: Arc<Loads>,
    /// The worker's place among those that count.
    place: usize,
    next: usize,
    key: HashKey,
    weights: Weights,
    ring: Box<[u32]>,
}

impl<A: Target> Servers<A> {
    /// At least one. Their loads are what the element's instances share.
    pub(crate) fn new(
        addresses: Vec<A>,
        settings: Settings,
        config: &mut Config<'_>,
    ) -> Result<Servers<A>, ConfigError> {
        let (count, workers) = (addresses.len(), config.workers().len());
        let loads = config.shared(|| Ok(Loads::new(count, workers)))?;
        Servers::with(addresses, settings, loads, config)
    }

    /// With these loads. A worker begins with another server than the next one; flows that are chosen for by a hash
    /// have the same one on all workers.
    pub(crate) fn with(
        addresses: Vec<A>,
        settings: Settings,
        loads: Arc<Loads>,
        config: &Config<'_>,
    ) -> Result<Servers<A>, ConfigError> {
        if addresses.is_empty() {
            return Err("DST: required argument missing".into());
        }
        let used = match settings.used as usize {
            0 => addresses.len(),
            used => used.min(addresses.len()),
        };
        let buckets =
            if settings.buckets == 0 { addresses.len() * BUCKETS } else { settings.buckets as usize };
        let constant = settings.mode == Mode::ConstantHashAggregate;
        Ok(Servers {
            used,
            mode: settings.mode,
            metric: settings.metric,
            loads,
            place: config.workers().iter().position(|&worker| worker == config.worker()).unwrap_or(0),
            next: config.worker() % used,
            key: HashKey::new(config.common_seed()),
            weights: Weights::new(&settings, used),
            ring: if constant { ring(used, buckets.clamp(1, MOST_BUCKETS)) } else { Box::default() },
            addresses,
        })
    }

    /// Goes on as those of a former configuration would have, and says where each of them is among these now.
    pub(crate) fn adopt(&mut self, old: &Servers<A>) -> Vec<Option<usize>> {
        self.next = old.next % self.used;
        self.key = old.key;
        let now = |(at, server): (usize, &A)| {
            let is_here = |&at: &usize| self.addresses.get(at).is_some_and(|own| own == server);
            Some(at).filter(is_here).or_else(|| (0..self.addresses.len()).find(is_here))
        };
        let now: Vec<_> = old.addresses.iter().enumerate().map(now).collect();
        for (server, at) in now.iter().enumerate() {
            if let Some(at) = *at {
                self.loads.adopt((self.place, at), &old.loads, (old.place, server));
            }
        }
        now
    }

    /// Says how many there are, once for all workers.
    pub(crate) fn tell(&self, cx: &Cx<'_>) {
        if self.place == 0 {
            tell_routes(cx, format_args!("{} routes", self.addresses.len()));
        }
    }

    /// The next in turn of so many.
    fn turn(&mut self, of: usize) -> usize {
        let turn = if self.next < of { self.next } else { 0 };
        self.next = if turn + 1 < of { turn + 1 } else { 0 };
        turn
    }

    fn load(&self, server: usize) -> u64 {
        self.loads.of(self.metric, server)
    }

    /// The number of the server that is chosen for a packet.
    #[inline]
    pub(crate) fn pick(&mut self, cx: &mut Cx<'_>, packet: &Packet) -> usize {
        let aggregate = packet.anno(Anno::AGGREGATE) as u32 as usize;
        match self.mode {
            Mode::RoundRobin => self.turn(self.used),
            Mode::Weighted => self.pick_by_weight(cx),
            Mode::Least => (0..self.used).min_by_key(|&server| self.load(server)).unwrap_or(0),
            Mode::PowerOfTwo => {
                let two = [cx.rng().usize(..self.used), cx.rng().usize(..self.used)];
                if self.load(two[0]) > self.load(two[1]) { two[1] } else { two[0] }
            }
            Mode::Hash => {
                let id = flow(packet).unwrap_or_default();
                (Key::new(0, id)).hash(&self.key) as usize % self.used
            }
            Mode::HashIp => sum_of_bytes(packet, self.used),
            Mode::HashAggregate => fold(aggregate, self.used),
            Mode::ConstantHashAggregate => self.ring[fold(aggregate, self.ring.len())] as usize,
        }
    }

    fn pick_by_weight(&mut self, cx: &mut Cx<'_>) -> usize {
        let (loads, metric) = (&self.loads, self.metric);
        self.weights.adapt(cx, self.used, |server| loads.of(metric, server));
        let turn = self.turn(self.weights.turns.len());
        self.weights.turns[turn] as usize
    }

    /// Sends a packet to a server, and counts it.
    #[inline]
    pub(crate) fn send(&mut self, server: usize, packet: &mut Packet) -> Verdict {
        let verdict = self.addresses[server].send(packet);
        if !matches!(verdict, Verdict::Drop(_)) {
            self.loads.charge(self.place, server, packet);
        }
        verdict
    }

    /// Declares the handlers of an element that has servers.
    pub(crate) fn handlers<E: Any>(h: &mut Handlers, of: fn(&E) -> &Servers<A>) {
        h.read("nb_total_servers", move |e: &mut E, _| of(e).addresses.len());
        h.read("nb_active_servers", move |e: &mut E, _| of(e).used);
        h.read("load_conn", move |e: &mut E, _| of(e).loads.list(Metric::Connections));
        h.read("load_packets", move |e: &mut E, _| of(e).loads.list(Metric::Packets));
        h.read("load_bytes", move |e: &mut E, _| of(e).loads.list(Metric::Bytes));
        h.read_with("load", move |e: &mut E, cx, text| match text.trim() {
            "" => Ok(of(e).loads.list(Metric::Cpu)),
            text => match router::value::<usize>(cx, text)? {
                server if server < of(e).addresses.len() => {
                    Ok(of(e).loads.of(Metric::Cpu, server).to_string())
                }
                _ => Ok("unknown".to_owned()),
            },
        });
        h.write("load", move |e: &mut E, cx, text| {
            let text: String = router::value(cx, text)?;
            of(e).loads.set_cpu(&text)
        });
    }
}

/// An element that chooses a server for each packet: what IPLoadBalancer and L2LoadBalancer are.
pub(crate) struct Balancer<A>(pub(crate) Servers<A>);

/// Says what routes a load balancer has, as FastClick's do.
pub(crate) fn tell_routes(cx: &Cx<'_>, routes: std::fmt::Arguments<'_>) {
    cx.log(format_args!("{} has {routes}", cx.info().nodes[cx.index()].declaration()));
}

impl<A: Target> Simple for Balancer<A> {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.0.tell(cx);
        Ok(())
    }

    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let server = self.0.pick(cx, packet);
        self.0.send(server, packet)
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.0.clone()))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Some(old) = state.downcast_ref() {
            self.0.adopt(old);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        Servers::handlers(h, |e: &Balancer<A>| &e.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every server has its share, the first one more, as in FastClick, and most buckets keep their server when there is one more.
    #[test]
    fn every_server_has_a_share_of_the_ring() {
        let (few, more) = (ring(4, 500), ring(5, 500));
        let share = |of: u32| few.iter().filter(|&&server| server == of).count();
        assert_eq!([0, 1, 2, 3].map(share), [264, 77, 75, 84]);
        assert_eq!(few.iter().zip(&more).filter(|(old, new)| old != new).count(), 123);
        assert_eq!(*ring(2, 7), [0, 1, 0, 0, 1, 0, 1]);
        assert_eq!(*ring(3, 1), [2]);
        assert!(ring(1, 7).iter().all(|&server| server == 0));
    }

    #[test]
    fn turns_by_load() {
        assert_eq!((turns(50, 50, 0.0), turns(0, 50, 0.0), turns(100, 50, 0.0)), (10, 30, 5));
        assert_eq!((turns(30, 50, 0.0), turns(1, 50, 0.0), turns(10_000, 50, 0.0)), (16, 30, 2));
        assert_eq!(turns(80, 50, -1.0), 4);
    }
}
