//! An element that looks routes up in the thesis' table, without protection, under a reader-writer lock and under RCU, in a router's path: what of a
//! table's gain a router sees.

use super::thesis::Prefix;
use crate::assembly;
use crate::rcu::Spread;
use crate::server::frames;
use packet::{Anno, Batch};
use rcu_flavours::structures::{RouteSession, RouteTable};
use rcu_flavours::{Flavour, Qsbr, RwLock, Unprotected};
use router::{Call, Class, Classes, Config, ConfigError, Cx, Element, Log, Options, Resources, Router};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The path of an IP router without its interfaces.
const PATH: &str = "s :: Frames(64, LIMIT $LIMIT) -> Strip(14) -> CheckIPHeader -> Lookup -> ttl :: DecIPTTL -> d :: Discard; ttl[1] -> Discard";
/// Pause of the writer between replacements: 100,000 routes a second at most.
const PAUSE: Duration = Duration::from_micros(10);

struct Lookup<F: Flavour>(RouteSession<u32, F>);

fn create<F: Flavour>(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError>
where
    RouteTable<u32, F>: Send + Sync,
{
    config.args().finish()?;
    let table = config.resource::<RouteTable<u32, F>>().ok_or("no table")?;
    let mut session = table.session();
    session.offline();
    Ok(Box::new(Lookup(session)))
}

impl<F: Flavour> Element for Lookup<F> {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        for packet in batch.iter_mut() {
            let to = packet.data()[16..].first_chunk().map_or(0, |octets| u32::from_be_bytes(*octets));
            let route = self.0.lookup(to).unwrap_or_default();
            packet.set_anno(Anno::PAINT, u64::from(route));
        }
        self.0.quiescent();
        cx.emit(0, batch);
    }
}

/// What was measured in a row.
struct Row {
    name: &'static str,
    workers: usize,
    writes: bool,
    run: fn(&Row, &[Prefix], u64) -> Result<f64, String>,
    ns: Vec<f64>,
}

/// Rows for one and two workers, with and without a thread that replaces routes.
pub(super) fn figures(routes: &[Prefix], packets: u64, repetitions: usize) -> Result<Vec<Value>, String> {
    frames::set_destinations(routes.iter().map(|(prefix, _)| *prefix).collect());
    let mut rows = Vec::new();
    for (workers, writes) in [(1, false), (2, false), (1, true)] {
        let mut add = |name, run| rows.push(Row { name, workers, writes, run, ns: Vec::new() });
        if !writes {
            add("no protection", |row, routes, packets| {
                // SAFETY: there is no updater while there are readers.
                #[allow(unsafe_code)]
                let instance = unsafe { Unprotected::new() };
                time(row, instance, routes, packets)
            });
        }
        add("reader-writer lock", |row, routes, packets| time(row, RwLock::new(), routes, packets));
        add("RCU", |row, routes, packets| time(row, Qsbr::new(), routes, packets));
    }
    for _ in 0..repetitions {
        for row in &mut rows {
            let ns = (row.run)(row, routes, packets)?;
            row.ns.push(ns);
        }
    }
    let figure = |row: &Row| json!({ "protection": row.name, "workers": row.workers, "routes_change": row.writes, "ns": Spread::of(&row.ns) });
    Ok(rows.iter().map(figure).collect())
}

/// Nanoseconds that pass for a packet.
fn time<F: Flavour>(row: &Row, instance: F, routes: &[Prefix], packets: u64) -> Result<f64, String>
where
    RouteTable<u32, F>: Send + Sync,
{
    let table = RouteTable::<u32, F>::with_capacity(instance, routes.len());
    let mut session = table.session();
    routes.iter().enumerate().for_each(|(at, (prefix, len))| {
        session.insert(*prefix, *len, at as u32);
    });
    session.barrier();
    session.offline();
    let mut router = build::<F>(row, table.clone(), packets)?;
    let over = AtomicBool::new(!row.writes);
    let elapsed = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut rng = fastrand::Rng::with_seed(1);
            while !over.load(Relaxed) {
                let (prefix, len) = routes[rng.usize(..routes.len())];
                session.insert(prefix, len, rng.u32(..));
                session.offline();
                std::thread::sleep(PAUSE);
            }
        });
        let start = Instant::now();
        router.run();
        let elapsed = start.elapsed();
        over.store(true, Relaxed);
        elapsed
    });
    router.finish();
    let mut arrived = 0.0;
    for path in ["a", "b"].iter().take(row.workers) {
        let count = router.call(Call::read(format!("{path}/d.count"), ""))?;
        arrived += count.trim().parse::<f64>().map_err(|_| format!("'{count}' is no number"))?;
    }
    Ok(elapsed.as_nanos() as f64 / arrived)
}

fn build<F: Flavour>(row: &Row, table: RouteTable<u32, F>, packets: u64) -> Result<Router, String>
where
    RouteTable<u32, F>: Send + Sync,
{
    let lookup = const { &Class::new("Lookup", create::<F>).ports("1/1").processing("h/h") };
    let library = elements::classes();
    let known = Classes::new(library.iter().chain([&frames::CLASS, lookup]));
    let (paths, placed) = match row.workers {
        1 => ("a :: Path;", "a/s 0"),
        _ => ("a :: Path; b :: Path;", "a/s 0, b/s 1"),
    };
    let config =
        format!("define($LIMIT 1); elementclass Path {{ {PATH} }} {paths} StaticThreadSched({placed});");
    let limit = (packets / row.workers as u64).to_string();
    let mut resources = Resources::default();
    resources.insert(table);
    let log = Log::Memory(std::sync::Mutex::default());
    let options = Options { workers: row.workers, pin: Some(0), log, resources, ..Options::default() };
    assembly::build((row.name, &config), &[("LIMIT".to_owned(), limit)], &known, options)
}
