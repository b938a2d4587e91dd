//! The lookup element behind all classes.

mod commands;
mod listing;

use super::cache::Cache;
use super::family::Family;
use super::feeds;
use super::flow_port::FlowPort;
use super::forwarder::{Balance, Forwarder, NO_ROUTE};
use super::near::Words;
use super::slots::SlotPolicy;
use super::sticky::{Former, Sticky};
use super::table::{Change, RouteTable};
use super::target::{Forwarding, Route, Target};
use super::waiting::{Place, Shared, Waiting};
use super::words::{foreign_gateway, leads_to, needed_outputs, parse};
use commands::{Entry, Loader, explain};
use elements_shared::feeds::Feeds;
use elements_shared::flow_filter::Filter;
use elements_shared::flow_hash::{Fields, Flows};
use elements_shared::keyed_hash::HashKey;
use elements_shared::membership::Membership;
use elements_shared::state_port::Port;
use lpm::{LongestMatch, Prefix};
use packet::{BATCH_MAX, Batch, Packet};
use router::{
    BadState, Config, ConfigError, Cx, Decision, Element, Flags, Handlers, Level, Look, Merge, Metric,
    StateReader, StateWriter, TableSize, Then, Verdict,
};
use std::any::Any;
use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

static ROUTES: Metric = Metric::gauge("clique_route_table_routes", "Routes in the table.");
static ROUTE_CACHE_HITS: Metric =
    Metric::counter("clique_route_cache_hits_total", "Look-ups that the cache of routes answered.");
static ROUTE_CACHE_MISSES: Metric =
    Metric::counter("clique_route_cache_misses_total", "Look-ups that the cache of routes did not answer.");

static FLOW_HITS: Metric =
    Metric::counter("clique_route_flow_hits_total", "Packets of flows whose next hop was remembered.");
static FLOW_MISSES: Metric =
    Metric::counter("clique_route_flow_misses_total", "Packets of flows of which nothing was remembered.");
static FLOW_EVICTIONS: Metric =
    Metric::counter("clique_route_flow_evictions_total", "New flows that were forgotten for newer ones.");
static FLOW_EXPIRIES: Metric =
    Metric::counter("clique_route_flow_expiries_total", "Flows that were forgotten after their timeout.");
static FLOW_REFUSALS: Metric =
    Metric::counter("clique_route_flow_refusals_total", "Packets of new flows for which there was no room.");
static FLOW_QUOTA_REFUSALS: Metric = Metric::counter(
    "clique_route_flow_quota_refusals_total",
    "Packets of new flows that were too many of one prefix.",
);
static FLOW_MOVES: Metric = Metric::counter(
    "clique_route_flow_moves_total",
    "Flows that changed their next hop, because theirs was gone.",
);

/// A count of flows: its handler, its metric, and the number among what a table counted and the flows that moved.
type FlowCount = (&'static str, &'static Metric, fn(&flows::Stats, u64) -> u64);

const FLOW_COUNTS: [FlowCount; 7] = [
    ("flow_hits", &FLOW_HITS, |stats, _| stats.hits),
    ("flow_misses", &FLOW_MISSES, |stats, _| stats.misses),
    ("flow_evictions", &FLOW_EVICTIONS, |stats, _| stats.evicted),
    ("flow_expiries", &FLOW_EXPIRIES, |stats, _| stats.expired),
    ("flow_refusals", &FLOW_REFUSALS, |stats, _| {
        stats.refused_full + stats.refused_quota + stats.refused_first
    }),
    ("flow_quota_refusals", &FLOW_QUOTA_REFUSALS, |stats, _| stats.refused_quota),
    ("flow_moves", &FLOW_MOVES, |_, moved| moved),
];

/// Bytes that a flow takes at most that is remembered for IPv4, and for IPv6: 64 or 88 in a table, and where flows wait a place in a tree whose
/// nodes are half full.
pub(super) const FLOW_BYTES: u64 = 200;
pub(super) const FLOW6_BYTES: u64 = 280;

/// What differs between classes of lookup elements beside their tables.
#[derive(Clone, Copy)]
pub(super) struct LookupStyle {
    /// Whether routes can change.
    pub(super) dynamic: bool,
    /// How routes are printed.
    pub(super) slots: SlotPolicy,
    /// Whether a route for a prefix that has one replaces it, and it is no error to remove what is not there.
    pub(super) lenient: bool,
    /// The element class that reports packets without a route, if one does.
    pub(super) reporter: Option<&'static str>,
}

impl LookupStyle {
    /// Packets without a route are not reported.
    pub(super) const SILENT: LookupStyle =
        LookupStyle { dynamic: true, slots: SlotPolicy::Holes, lenient: false, reporter: None };

    /// The same, with a table of chains.
    pub(super) const CHAINED: LookupStyle = LookupStyle { slots: SlotPolicy::Chains, ..LookupStyle::SILENT };

    /// Packets without a route are reported under this name.
    pub(super) const fn saying(reporter: &'static str) -> LookupStyle {
        LookupStyle { reporter: Some(reporter), ..LookupStyle::SILENT }
    }
}

/// A lookup element for one family, over one kind of table.
pub(super) struct Lookup<F: Family, T> {
    table: Arc<RouteTable<F, T>>,
    /// What was found lately, where that is remembered.
    cache: Option<Cache<F::Key>>,
    forwarder: Forwarder<F>,
    outputs: usize,
    style: LookupStyle,
    /// Routes of another configuration that were not taken over, because their output is gone.
    lost: usize,
}

/// What goes to a new configuration.
struct Handover<F: Family, T> {
    /// Where routes come and go.
    table: Option<Arc<RouteTable<F, T>>>,
    /// The next hops of flows, and how flows are hashed.
    sticky: Option<(Flows, Former<F>)>,
}

/// Makes an element whose arguments are its first routes.
pub(super) fn create<F: Family, T: LongestMatch<F::Key>>(
    config: &mut Config<'_>,
    style: LookupStyle,
) -> Result<Box<dyn Element>, ConfigError> {
    let outputs = config.outputs();
    let (mut key, mut fields) = (config.common_seed(), Fields::default());
    let mut words = Vec::new();
    let (mut remembered, mut timeout, mut quota) = (TableSize(0), Duration::from_secs(30), 0);
    let (mut no_route, mut cached, mut spread) = (None::<u32>, TableSize(0), false);
    config
        .args()
        .keyword("FLOW", &mut fields)
        .keyword("FLOW_KEY", &mut key)
        .keyword("FLOWS", &mut remembered)
        .keyword("FLOW_TIMEOUT", &mut timeout)
        .keyword("FLOW_QUOTA", &mut quota)
        .keyword("SPREAD", &mut spread)
        .keyword("NOROUTE", &mut no_route)
        .keyword("CACHE", &mut cached)
        .rest(&mut words)
        .finish()?;
    let cache = (cached.0 > 0).then(|| Cache::new(cached.0));
    let mut errors = Vec::new();
    let routes = first_routes::<F>(config, &words, style, &mut errors);
    if let Some(port) = no_route.filter(|&port| port as usize >= outputs) {
        errors.push(format!("NOROUTE: output {port} does not exist; there are {outputs}"));
    }
    if spread && remembered.0 > 0 {
        errors.push(
            "SPREAD and FLOWS exclude each other: packets that are sent one by one have no way to remember"
                .to_owned(),
        );
    }
    if !errors.is_empty() {
        return Err(ConfigError::from(errors));
    }
    let table = config.shared(|| {
        let table = RouteTable::<F, T>::new(style.slots);
        let added = table.configure(routes.into_iter().map(|route| style.add(route)));
        added.map_err(|refusal| ConfigError::from(explain(refusal)))?;
        Ok(table)
    })?;
    offer_membership(config, &table)?;
    if style.dynamic {
        feeds::offer(config, &table)?;
    }
    let flows = Flows { key: HashKey::new(key), fields };
    let balance = match remembered.0 {
        0 if spread => Balance::Spread(0),
        0 => Balance::Hashed,
        size => {
            let waiting = waiting(config, size, timeout)?;
            Balance::Remembered(Box::new(Sticky::new(size, timeout, quota, &flows, waiting)))
        }
    };
    let forwarder = Forwarder { flows, balance, no_route, reporter: style.reporter, complaints: 0 };
    Ok(Box::new(Lookup { table, cache, forwarder, outputs, style, lost: 0 }))
}

/// The flows that wait for one of an element's workers, as an instance sees them.
fn waiting<F: Family>(
    config: &mut Config<'_>,
    size: usize,
    timeout: Duration,
) -> Result<Waiting<F>, ConfigError> {
    let (workers, outputs) = (config.workers().len(), config.outputs());
    let flows = config.shared(|| Ok(Shared::<F>::new(workers)))?;
    let room = size.saturating_mul(workers);
    Port::offer(config, Arc::new(FlowPort::new(flows.clone(), outputs, room, timeout)))?;
    let place =
        Place { worker: config.worker(), workers: config.workers().to_vec(), feeds: Feeds::default() };
    Ok(Waiting::new(flows, place, timeout))
}

/// Lets other elements ask whether a table of IPv4 routes has one for an address.
fn offer_membership<F: Family, T: LongestMatch<F::Key> + 'static>(
    config: &mut Config<'_>,
    table: &Arc<RouteTable<F, T>>,
) -> Result<(), ConfigError> {
    if F::own(Ipv4Addr::UNSPECIFIED.into()).is_none() {
        return Ok(());
    }
    let table = table.clone();
    Membership::offer(config, move |cx, address| {
        let address = F::own(address.into()).map(F::key);
        address.is_some_and(|address| table.lookup_one(address, cx.turn()) != lpm::NONE)
    })
}

/// The routes that arguments say, and what is wrong with others.
fn first_routes<F: Family>(
    config: &mut Config<'_>,
    words: &[String],
    style: LookupStyle,
    errors: &mut Vec<String>,
) -> Vec<Route<F>> {
    let (outputs, mut routes) = (config.outputs(), Vec::new());
    let (mut known, mut doubled, mut needed) = (HashSet::new(), 0, 0);
    for (number, word) in words.iter().enumerate().filter(|(_, word)| !word.is_empty()) {
        match parse::<F>(word, config.scope()) {
            Some((_, Some(to))) if !leads_to(&to, outputs) => {
                match needed_outputs(&to).filter(|_| style.lenient) {
                    Some(more) => needed = needed.max(more),
                    None => errors.push(format!("argument {} bad OUTPUT", number + 1)),
                }
            }
            // As in Click, whatever its warning says, the first of several counts, but for LookupIP6Route the last.
            Some((prefix, Some(_))) if !known.insert(prefix) && !style.lenient => doubled += 1,
            Some((prefix, Some(to))) => routes.push(Route { prefix, to }),
            _ => {
                let why = foreign_gateway::<F>(word, config.scope()).map(|why| format!(": {why}"));
                let why = why.unwrap_or_default();
                errors.push(format!("argument {} should be {}{why}", number + 1, F::ROUTE));
            }
        }
    }
    if needed as usize > outputs && errors.is_empty() {
        errors.push(format!("need {needed} or more output ports"));
    }
    if doubled > 0 && errors.is_empty() {
        let routes = if doubled == 1 { "route" } else { "routes" };
        config.warn(format!("{doubled} {routes} replaced by later versions"));
    }
    if style.lenient && known.is_empty() && errors.is_empty() {
        config.warn("no routes");
    }
    routes
}

impl LookupStyle {
    /// What `add` asks for.
    fn add<F: Family>(self, route: Route<F>) -> Change<F> {
        if self.lenient { Change::Set(route) } else { Change::Add(route) }
    }

    /// What `remove` asks for.
    fn remove<F: Family>(self, prefix: Prefix<F::Key>, to: Option<Target<F::Gateway>>) -> Change<F> {
        if self.lenient { Change::Forget(prefix) } else { Change::Remove(prefix, to) }
    }
}

impl<F: Family, T: LongestMatch<F::Key>> Lookup<F, T> {
    /// The answer of the `lookup` handler; of several next hops, the one for a packet of which only the address is known.
    fn look_up(&self, cx: &Cx<'_>, address: F::Address) -> String {
        let key = F::key(address);
        let id = self.table.lookup_one(key, cx.turn());
        let forwarding = self.table.forwarding(id, cx.turn());
        match forwarding
            .and_then(|forwarding| forwarding.pick(|| self.forwarder.flows.of_address(address.into())))
        {
            Some(hop) if hop.gateway != F::DIRECT => format!("{} {}", hop.port, hop.gateway),
            Some(hop) => hop.port.to_string(),
            None => "-1".to_owned(),
        }
    }

    /// The handlers that change routes.
    fn handlers_of_changes(h: &mut Handlers) {
        for name in ["add", "set", "remove"] {
            h.write_outcome(name, move |e: &mut Lookup<F, T>, cx, text| {
                e.make_all(e.command(name, &lang::conf::uncomment(text), router::scope(cx)))
            });
        }
        h.write_outcome("ctrl", |e: &mut Lookup<F, T>, cx, text| {
            e.make_all(e.control(&lang::conf::uncomment(text), router::scope(cx)))
        });
        h.write_outcome("flush", |e: &mut Lookup<F, T>, _, _| e.make_all(Ok(vec![Change::Flush])))
            .as_button();
        h.write("begin", |e: &mut Lookup<F, T>, _, _| e.table.begin().map_err(explain)).as_button();
        h.write_outcome("commit", |e: &mut Lookup<F, T>, _, _| e.make(RouteTable::commit)).as_button();
        h.write("abort", |e: &mut Lookup<F, T>, _, _| e.table.abort().map_err(explain)).as_button();
        for (name, how) in [("load", Entry::Add), ("replace", Entry::Replace)] {
            h.write_outcome(name, move |e: &mut Lookup<F, T>, _, text| {
                e.loader().aside(text, how, Loader::load)
            });
            h.write_outcome(&format!("{name}_text"), move |e: &mut Lookup<F, T>, _, text| {
                e.loader().aside(text, how, Loader::load_text)
            });
        }
    }

    /// The handlers that tell of flows.
    fn handlers_of_flows(h: &mut Handlers) {
        fn sticky<F: Family, T>(e: &mut Lookup<F, T>) -> Result<&mut Sticky<F>, String> {
            e.forwarder.sticky().ok_or_else(|| "no flows are remembered: give FLOWS a size".to_owned())
        }
        h.read("flows", |e: &mut Lookup<F, T>, cx| {
            e.forwarder.sticky().map_or(0, |sticky| sticky.count(&Filter::default(), cx.now_ns()))
        })
        .merged(Merge::Sum);
        h.read_with("flow_count", |e: &mut Lookup<F, T>, cx, text| {
            let filter = Filter::parse(text)?;
            let count = e.forwarder.sticky().map_or(0, |sticky| sticky.count(&filter, cx.now_ns()));
            Ok(count.to_string())
        })
        .merged(Merge::Sum);
        for (name, list) in
            [("flow_list", Sticky::<F>::list as fn(&_, &_, _) -> _), ("flow_json", Sticky::<F>::json)]
        {
            h.read_with(name, move |e: &mut Lookup<F, T>, cx, text| {
                let filter = Filter::parse(text)?;
                let sticky = e.forwarder.sticky();
                Ok(sticky.map_or(String::new(), |sticky| list(sticky, &filter, cx.now_ns())))
            })
            .merged(Merge::Concatenate)
            .flagged(Flags::EXPENSIVE);
        }
        h.read("flow_capacity", |e: &mut Lookup<F, T>, _| {
            e.forwarder.sticky().map_or(0, |sticky| sticky.capacity())
        });
        h.write("flow_capacity", |e: &mut Lookup<F, T>, cx, text| {
            let size =
                router::value::<TableSize>(cx, text).map_err(|_| "expected a number of flows".to_owned())?;
            sticky(e)?.grow(size.0)
        })
        .to_everywhere();
        h.write("flow_load", |e: &mut Lookup<F, T>, cx, text| {
            let outputs = e.outputs;
            let sticky = sticky(e)?;
            let lost = sticky.load(text, outputs, cx.now_ns())?;
            say_lost(cx, lost, sticky.room());
            Ok(())
        });
        h.write("flow_kill", |e: &mut Lookup<F, T>, cx, text| {
            let words = lang::conf::split_spaces(text);
            let Some(first) = words.first() else {
                return Err(
                    "expected a filter, or the columns of flows, of which '*' stands for any".to_owned()
                );
            };
            if first == "*" || first.parse::<IpAddr>().is_ok() {
                sticky(e)?.kill(&words, cx.now_ns());
            } else {
                sticky(e)?.forget(&Filter::parse(text)?, cx.now_ns());
            }
            Ok(())
        })
        .to_everywhere();
        for (name, metric, count) in FLOW_COUNTS {
            h.read(name, move |e: &mut Lookup<F, T>, _| {
                e.forwarder.sticky().map_or(0, |sticky| count(&sticky.stats(), sticky.moved))
            })
            .merged(Merge::Sum)
            .measures(metric);
        }
    }
}

impl<F: Family, T: LongestMatch<F::Key>> Lookup<F, T> {
    /// Copies the routes that came to another table while its router ran, unless it was done by this element's instance on another
    /// worker and none has come since. Those whose output is gone are counted by the instance that does it.
    fn copy_learned(&mut self, old: &RouteTable<F, T>) -> Result<(), String> {
        if !self.table.follows(old.version()) {
            return Ok(());
        }
        self.lost = self.table.take_over(old, |to| leads_to(to, self.outputs)).map_err(explain)?;
        Ok(())
    }
}

impl<F: Family, T: LongestMatch<F::Key>> Lookup<F, T> {
    /// The route that decides about a packet, and what it decides. Of several next hops it is the one that the flow's hash says; one that is
    /// remembered for the flow may differ.
    fn explain_route(&self, look: &Look<'_>, packet: &mut Packet) -> Decision {
        let address = F::destination(packet);
        let id = self.table.lookup_one(address, look.turn());
        let Some(forwarding) = self.table.forwarding(id, look.turn()) else {
            let then =
                self.forwarder.no_route.map_or(Then::Drop(NO_ROUTE), |port| Then::Output(port as usize));
            return Decision::new(then, format!("no route for {}", F::address(address)));
        };
        let route =
            self.table.prefix_of(address).map_or("a route".to_owned(), |prefix| format!("route {}", prefix));
        let several =
            if matches!(forwarding, Forwarding::Many(_)) { ", one of several next hops" } else { "" };
        let Some(hop) = forwarding.pick(|| F::flow(packet, &self.forwarder.flows)) else {
            return Decision::new(Then::Drop("route leads nowhere"), route);
        };
        let gateway = if hop.gateway == F::DIRECT { String::new() } else { format!(" via {}", hop.gateway) };
        F::lead(packet, hop.gateway);
        Decision::new(Then::Output(hop.port as usize), format!("{route}{gateway}{several}"))
    }
}

impl<F: Family, T: LongestMatch<F::Key>> Element for Lookup<F, T> {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.table.tell(cx.info(), cx.name());
        if let Some(sticky) = self.forwarder.sticky() {
            sticky.set_feeds(Feeds::of(cx.info(), cx.index()));
            cx.timers().after(SHOW, SHOW_EVERY);
        }
        Ok(())
    }

    /// Shows flows to who keeps a copy of them, also where no packets come.
    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        if let Some(sticky) = self.forwarder.sticky().filter(|sticky| sticky.is_copied()) {
            sticky.show(cx.now_ns());
            cx.timers().after(SHOW, SHOW_EVERY);
        }
    }

    #[inline(always)] // one call less for a packet that is alone
    fn push_one(&mut self, cx: &mut Cx<'_>, _port: usize, packet: &mut Packet) -> Option<Verdict> {
        let (address, turn) = (F::destination(packet), cx.turn());
        let id = match &mut self.cache {
            None => self.table.lookup_one(address, turn),
            Some(cache) => {
                let mut id = [lpm::NONE];
                cache.find(&self.table, &self.forwarder.flows, &[address], &mut id, turn);
                id[0]
            }
        };
        let near =
            if F::SHORT && self.forwarder.is_stateless() { self.table.near().words() } else { Words::NONE };
        if let Some(hop) = near.get(id) {
            return Some(Forwarder::<F>::send_to(packet, hop));
        }
        self.forwarder.meet_one(cx, packet);
        Some(self.forwarder.send(cx, packet, 0, self.table.forwarding(id, turn)))
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        let turn = cx.turn();
        // Packets of one flow often come in a row: each run of equal addresses is looked up once.
        let (mut addresses, mut ids) = ([F::Key::default(); BATCH_MAX], [lpm::NONE; BATCH_MAX]);
        let mut last = batch.iter().next().map_or(addresses[0], F::destination);
        let (mut run, mut at) = ([0u8; BATCH_MAX], 0);
        for (run, packet) in run.iter_mut().zip(batch.iter()) {
            let address = F::destination(packet);
            // Compared with what is in a register: each comparison would wait for the store before it.
            at += usize::from(address != last);
            addresses[at % BATCH_MAX] = address;
            (*run, last) = (at as u8, address);
        }
        let runs = (at + 1).min(batch.len());
        let addresses = &addresses[..runs];
        match &mut self.cache {
            None => self.table.lookup(addresses, &mut ids[..runs], turn),
            Some(cache) => {
                cache.find(&self.table, &self.forwarder.flows, addresses, &mut ids[..runs], turn);
            }
        }
        let (forwardings, forwarder) = (self.table.forwardings(turn), &mut self.forwarder);
        forwarder.meet(cx, &batch);
        let near = if F::SHORT && forwarder.is_stateless() { self.table.near().words() } else { Words::NONE };
        let mut next = 0;
        cx.scatter(batch, |cx, packet| {
            let number = next;
            next += 1;
            let id = ids[usize::from(run[number % BATCH_MAX]) % BATCH_MAX];
            match near.get(id) {
                Some(hop) => Forwarder::<F>::send_to(packet, hop),
                None => forwarder.send(cx, packet, number, forwardings.get(id)),
            }
        });
    }

    fn explain(&self, look: &Look<'_>, _port: usize, packet: &mut Packet) -> Option<Decision> {
        Some(self.explain_route(look, packet))
    }

    fn handlers(&self, h: &mut Handlers) {
        if self.style.dynamic {
            Lookup::<F, T>::handlers_of_changes(h);
        }
        h.read_outcome("table", |e: &mut Lookup<F, T>, cx, text| e.list(text, router::scope(cx)))
            .flagged(Flags::EXPENSIVE);
        h.read("length", |e: &mut Lookup<F, T>, _| e.table.len()).measures(&ROUTES);
        Lookup::<F, T>::handlers_of_flows(h);
        h.read("cache_hits", |e: &mut Lookup<F, T>, _| e.cache.as_ref().map_or(0, |cache| cache.hits))
            .merged(Merge::Sum)
            .measures(&ROUTE_CACHE_HITS);
        h.read("cache_misses", |e: &mut Lookup<F, T>, _| e.cache.as_ref().map_or(0, |cache| cache.misses))
            .merged(Merge::Sum)
            .measures(&ROUTE_CACHE_MISSES);
        h.read_with("lookup", |e: &mut Lookup<F, T>, cx, text| {
            let address = router::value::<F::Address>(cx, text);
            address.map(|a| e.look_up(cx, a)).map_err(|_| "expected IP address".to_owned())
        });
    }

    /// The new element has a table of its own, into which routes are copied: this one goes on with its if the swap is refused.
    fn can_take_over(&mut self, _cx: &mut Cx<'_>, old: &dyn Any) -> Result<(), ConfigError> {
        match old.downcast_ref::<Lookup<F, T>>() {
            Some(old) if old.style.dynamic => self.copy_learned(&old.table).map_err(ConfigError::from),
            _ => Ok(()),
        }
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let table = self.style.dynamic.then(|| self.table.clone());
        let sticky = self.forwarder.give();
        (table.is_some() || sticky.is_some()).then(|| Box::new(Handover { table, sticky }) as _)
    }

    /// Routes that came while the old router ran are taken over, unless the new configuration has one for the prefix. Those of the old
    /// configuration are not: an operator who deletes a route from the file wants it gone.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(state) = state.downcast::<Handover<F, T>>() else { return };
        let Handover { table, sticky } = *state;
        if let Some((flows, old)) = sticky {
            self.forwarder.adopt(flows, old, cx.now_ns());
        }
        let Some(old) = table else { return };
        // Updaters do not stop for a swap: what came since the routes were copied.
        if let Err(why) = self.copy_learned(&old) {
            cx.say(Level::Warning, format_args!("{}: routes of the last moment lost: {why}", cx.name()));
        }
        if self.lost > 0 {
            cx.say(
                Level::Warning,
                format_args!("{}: {} routes lost (their output is gone)", cx.name(), self.lost),
            );
        }
    }

    /// The routes that commands and files have brought, which the first instance writes, and the flows that each remembers, if any.
    fn write_state(&mut self, cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        let workers = &cx.info().nodes[cx.index()].workers;
        let has_routes = self.style.dynamic && workers.first() == Some(&cx.worker());
        out.form(FORM);
        out.u32(u32::from(has_routes));
        if has_routes {
            self.table.write(out);
        }
        let sticky = self.forwarder.sticky();
        let flows = sticky.map(|sticky| sticky.list(&Filter::default(), cx.now_ns()));
        out.bytes(flows.as_deref().unwrap_or_default().as_bytes());
        has_routes || flows.is_some()
    }

    fn read_state(&mut self, cx: &mut Cx<'_>, state: &mut StateReader) -> Result<(), BadState> {
        state.form(FORM)?;
        if state.u32()? != 0 {
            let lost = self.table.read(state, self.outputs, router::scope(cx))?;
            if lost > 0 {
                cx.say(Level::Warning, format_args!("{}: {lost} routes lost", cx.name()));
            }
        }
        let flows = String::from_utf8_lossy(state.bytes()?).into_owned();
        let outputs = self.outputs;
        if let Some(sticky) = self.forwarder.sticky().filter(|_| !flows.is_empty()) {
            let lost = sticky.load(&flows, outputs, cx.now_ns());
            let lost = lost.map_err(|_| BadState("its flows are not understood"))?;
            say_lost(cx, lost, sticky.room());
        }
        Ok(())
    }

    fn taken_over(&mut self, cx: &mut Cx<'_>) {
        let Some(sticky) = self.forwarder.sticky() else { return };
        let lost = sticky.settle(cx.now_ns());
        say_lost(cx, lost, sticky.room());
    }
}

/// The timer of a worker that shows its flows, if another node may keep a copy, and how often it does.
const SHOW: u32 = 0;
const SHOW_EVERY: Duration = Duration::from_millis(5);

/// The form of what is left to another process.
const FORM: u8 = 1;

/// Reports flows for which there was no room.
fn say_lost(cx: &Cx<'_>, lost: usize, room: usize) {
    if lost > 0 {
        cx.say(
            Level::Warning,
            format_args!("{}: {lost} flows lost (there is room for {room} now)", cx.name()),
        );
    }
}

#[cfg(test)]
mod tests;
