//! What is shown of a router: tables of rows, made of two readings of its metrics.

use super::associations::Association;
use super::flows::Flow;
use super::samples::{Readings, Sample, Samples};
use serde::Serialize;
use std::collections::BTreeMap;

/// All that is shown. Rates are per second, `None` while there is nothing to compare with.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct View {
    pub(super) router: Router,
    pub(super) workers: Vec<Worker>,
    pub(super) elements: Vec<Element>,
    pub(super) queues: Vec<Queue>,
    pub(super) drops: Vec<Drop>,
    pub(super) interfaces: Vec<Interface>,
    pub(super) tables: Vec<Table>,
    pub(super) rcu: Rcu,
    pub(super) buffers: Vec<Buffers>,
    pub(super) flows: Vec<Flow>,
    pub(super) associations: Vec<Association>,
}

/// The program.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Router {
    pub(super) version: String,
    /// Seconds since the program was started.
    pub(super) uptime_s: Option<f64>,
    pub(super) elements: Option<f64>,
    pub(super) hot_swaps: Option<f64>,
    pub(super) hot_swaps_refused: Option<f64>,
    /// Processors in use.
    pub(super) processors: Option<f64>,
    pub(super) memory_bytes: Option<f64>,
    /// Seconds between the readings.
    pub(super) interval_s: Option<f64>,
}

/// How a worker spends its time.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Worker {
    pub(super) worker: u64,
    /// Whether it has answered.
    pub(super) up: bool,
    /// Shares of its time.
    pub(super) busy: Option<f64>,
    pub(super) idle: Option<f64>,
    pub(super) asleep: Option<f64>,
    pub(super) packets_rate: Option<f64>,
    /// Packets in a batch, on average.
    pub(super) batch: Option<f64>,
    pub(super) dispatches_rate: Option<f64>,
    pub(super) turns_rate: Option<f64>,
    pub(super) tasks: Option<f64>,
}

/// An element that counts, drops or has a task.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Element {
    pub(super) element: String,
    pub(super) class: String,
    pub(super) packets: Option<f64>,
    pub(super) packets_rate: Option<f64>,
    pub(super) bytes_rate: Option<f64>,
    pub(super) drops: f64,
    pub(super) drops_rate: Option<f64>,
    pub(super) runs_rate: Option<f64>,
    /// Time in the element alone, by a sample of the turns since the reading before, or of all if that has none.
    pub(super) ns_per_packet: Option<f64>,
}

/// A queue.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Queue {
    pub(super) element: String,
    pub(super) class: String,
    pub(super) packets: f64,
    pub(super) capacity: Option<f64>,
    pub(super) highwater: Option<f64>,
    pub(super) drops: Option<f64>,
    pub(super) drops_rate: Option<f64>,
}

/// Packets that an element dropped for a reason.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Drop {
    pub(super) element: String,
    pub(super) class: String,
    pub(super) reason: String,
    pub(super) packets: f64,
    pub(super) packets_rate: Option<f64>,
}

/// An interface, and all that elements receive from it and send to it.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Interface {
    pub(super) interface: String,
    pub(super) received: f64,
    pub(super) received_rate: Option<f64>,
    pub(super) missed: f64,
    pub(super) missed_rate: Option<f64>,
    pub(super) sent: f64,
    pub(super) sent_rate: Option<f64>,
}

/// A table of an element.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Table {
    pub(super) element: String,
    pub(super) class: String,
    /// What is in it.
    pub(super) kind: &'static str,
    pub(super) entries: f64,
    pub(super) capacity: Option<f64>,
}

/// Deferred reclamation.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Rcu {
    pub(super) grace_periods_rate: Option<f64>,
    /// How long a grace period took on average, in seconds.
    pub(super) grace_period_s: Option<f64>,
    pub(super) waiting_bytes: Option<f64>,
    pub(super) limit_bytes: Option<f64>,
    /// What fills it.
    pub(super) parts: Vec<(String, f64)>,
    pub(super) waiting_objects: Option<f64>,
    pub(super) freed_rate: Option<f64>,
    pub(super) refused: Option<f64>,
    pub(super) refused_rate: Option<f64>,
    pub(super) stalls: Option<f64>,
    pub(super) stalled: Vec<Stalled>,
}

/// A reader that keeps a grace period waiting.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Stalled {
    pub(super) reader: String,
    pub(super) seconds: f64,
}

/// Buffers of packets of one size.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Buffers {
    pub(super) size: String,
    pub(super) in_use: f64,
    pub(super) free: f64,
    pub(super) capacity: f64,
}

/// Seconds since the epoch.
fn now_s() -> f64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}

/// When a router's program was started, by which it is told from one that was started later.
pub(super) fn start_s(samples: &Samples) -> Option<f64> {
    samples.one("process_start_time_seconds")
}

impl View {
    /// What two readings show.
    pub(super) fn of(readings: &Readings<'_>) -> View {
        View {
            router: router(readings),
            workers: workers(readings),
            elements: elements(readings),
            queues: queues(readings),
            drops: drops(readings),
            interfaces: interfaces(readings),
            tables: tables(readings.now),
            rcu: rcu(readings),
            buffers: buffers(readings.now),
            flows: Vec::new(),
            associations: Vec::new(),
        }
    }
}

fn router(readings: &Readings<'_>) -> Router {
    let now = readings.now;
    let swaps = |outcome| now.find("clique_hot_swaps_total", &[("outcome", outcome)]);
    let version = now.named("clique_build_info").next();
    Router {
        version: version.map_or_else(String::new, |info| info.label("version").to_owned()),
        uptime_s: start_s(now).map(|start| (now_s() - start).max(0.0)),
        elements: now.one("clique_elements"),
        hot_swaps: swaps("done"),
        hot_swaps_refused: swaps("refused"),
        processors: readings.rate("process_cpu_seconds_total", &[]),
        memory_bytes: now.one("process_resident_memory_bytes"),
        interval_s: readings.before.map(|_| readings.seconds),
    }
}

fn workers(readings: &Readings<'_>) -> Vec<Worker> {
    let now = readings.now;
    let worker = |up: &Sample| {
        let label = [("worker", up.label("worker"))];
        let rate = |name: &str| readings.rate(name, &label);
        let time = |state| readings.rate("clique_worker_seconds_total", &[label[0], ("state", state)]);
        let (busy, idle, asleep) = (time("busy"), time("idle"), time("asleep"));
        // A worker that has just woken up accounts for sleep that began before: its time is what it accounts for.
        let all = [busy, idle, asleep].into_iter().flatten().sum::<f64>();
        let share = |time: Option<f64>| time.filter(|_| all > 0.0).map(|time| time / all);
        let batches = rate("clique_worker_batch_packets_count");
        let packets_rate = rate("clique_worker_batch_packets_sum");
        Worker {
            worker: up.label("worker").parse().unwrap_or_default(),
            up: up.value() > 0.0,
            busy: share(busy),
            idle: share(idle),
            asleep: share(asleep),
            batch: packets_rate.zip(batches).filter(|(_, batches)| *batches > 0.0).map(|(p, b)| p / b),
            packets_rate,
            dispatches_rate: rate("clique_worker_dispatches_total"),
            turns_rate: rate("clique_worker_turns_total"),
            tasks: now.find("clique_worker_tasks", &label),
        }
    };
    let mut workers: Vec<Worker> = now.named("clique_worker_up").map(worker).collect();
    workers.sort_by_key(|worker| worker.worker);
    workers
}

/// The sum of some figures, of those that are known.
fn add(sum: &mut Option<f64>, more: Option<f64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0.0) + more);
    }
}

/// What elements have counted, whatever they call it.
const COUNTED: [&str; 3] = [
    "clique_element_packets_total",
    "clique_device_received_packets_total",
    "clique_device_sent_packets_total",
];

fn elements(readings: &Readings<'_>) -> Vec<Element> {
    let now = readings.now;
    let mut found: BTreeMap<String, Element> = BTreeMap::new();
    let mut element = |sample: &Sample, change: &mut dyn FnMut(&mut Element)| {
        let name = sample.label("element").to_owned();
        let class = sample.label("class").to_owned();
        let drops_rate = readings.before.map(|_| 0.0);
        let new = Element { element: name.clone(), class, drops_rate, ..Element::default() };
        change(found.entry(name).or_insert(new));
    };
    for name in COUNTED {
        for sample in now.named(name) {
            let rate = readings.rate(name, &[("element", sample.label("element"))]);
            element(sample, &mut |element| {
                add(&mut element.packets, Some(sample.value()));
                add(&mut element.packets_rate, rate);
            });
        }
    }
    for sample in now.named("clique_element_bytes_total") {
        let rate = readings.rate("clique_element_bytes_total", &[("element", sample.label("element"))]);
        element(sample, &mut |element| element.bytes_rate = rate);
    }
    for (sample, rate) in dropped(readings) {
        element(sample, &mut |element| {
            element.drops += sample.value();
            add(&mut element.drops_rate, rate);
        });
    }
    for sample in now.named("clique_task_runs_total") {
        let labels = [("element", sample.label("element")), ("worker", sample.label("worker"))];
        let rate = readings.rate("clique_task_runs_total", &labels);
        element(sample, &mut |element| add(&mut element.runs_rate, rate));
    }
    // Elements that only work, and neither count nor drop, have no row for that.
    for sample in now.named(SAMPLED_PACKETS) {
        if let Some(element) = found.get_mut(sample.label("element")) {
            element.ns_per_packet = cost(readings, sample);
        }
    }
    found.into_values().collect()
}

const SAMPLED_PACKETS: &str = "clique_element_sampled_packets_total";

/// Nanoseconds a packet in the element of a sample.
fn cost(readings: &Readings<'_>, packets: &Sample) -> Option<f64> {
    const TIME: &str = "clique_element_sampled_seconds_total";
    let label = [("element", packets.label("element"))];
    let ratio = |time: Option<f64>, packets: Option<f64>| {
        let (time, packets) = time.zip(packets).filter(|(_, packets)| *packets > 0.0)?;
        Some(time * 1e9 / packets)
    };
    ratio(readings.rate(TIME, &label), readings.rate(SAMPLED_PACKETS, &label))
        .or_else(|| ratio(readings.now.find(TIME, &label), Some(packets.value())))
}

/// Packets that elements dropped, by element and reason, and how many a second.
fn dropped<'r>(readings: &'r Readings<'_>) -> impl Iterator<Item = (&'r Sample, Option<f64>)> {
    const NAME: &str = "clique_element_drops_total";
    readings.now.named(NAME).map(|sample| {
        let labels = [("element", sample.label("element")), ("reason", sample.label("reason"))];
        (sample, readings.rate(NAME, &labels))
    })
}

fn drops(readings: &Readings<'_>) -> Vec<Drop> {
    let drop = |(sample, packets_rate): (&Sample, Option<f64>)| Drop {
        element: sample.label("element").to_owned(),
        class: sample.label("class").to_owned(),
        reason: sample.label("reason").to_owned(),
        packets: sample.value(),
        packets_rate,
    };
    dropped(readings).map(drop).collect()
}

fn queues(readings: &Readings<'_>) -> Vec<Queue> {
    let now = readings.now;
    let queue = |sample: &Sample| {
        let element = [("element", sample.label("element"))];
        Queue {
            element: sample.label("element").to_owned(),
            class: sample.label("class").to_owned(),
            packets: sample.value(),
            capacity: now.find("clique_queue_capacity_packets", &element),
            highwater: now.find("clique_queue_highwater_packets", &element),
            drops: now.find("clique_queue_dropped_packets_total", &element),
            drops_rate: readings.rate("clique_queue_dropped_packets_total", &element),
        }
    };
    now.named("clique_queue_packets").map(queue).collect()
}

fn interfaces(readings: &Readings<'_>) -> Vec<Interface> {
    let now = readings.now;
    let mut found: BTreeMap<&str, Interface> = BTreeMap::new();
    for info in now.named("clique_device_info") {
        let name = info.label("device");
        let element = [("element", info.label("element"))];
        let interface = found.entry(name).or_default();
        interface.interface = name.to_owned();
        let mut count = |metric: &str, sum: fn(&mut Interface) -> (&mut f64, &mut Option<f64>)| {
            let (all, rate) = sum(interface);
            *all += now.find(metric, &element).unwrap_or(0.0);
            add(rate, readings.rate(metric, &element));
        };
        count("clique_device_received_packets_total", |i| (&mut i.received, &mut i.received_rate));
        count("clique_device_missed_packets_total", |i| (&mut i.missed, &mut i.missed_rate));
        count("clique_device_sent_packets_total", |i| (&mut i.sent, &mut i.sent_rate));
    }
    found.into_values().collect()
}

/// Metrics of tables: what is in them, and the metric of their capacity.
const TABLES: [(&str, &str, &str); 4] = [
    ("clique_route_table_routes", "routes", ""),
    ("clique_route_source_routes", "learned", ""),
    ("clique_neighbour_entries", "neighbours", ""),
    ("clique_flow_entries", "flows", "clique_flow_capacity"),
];

fn tables(now: &Samples) -> Vec<Table> {
    let of = |(name, kind, capacity): (&'static str, &'static str, &'static str)| {
        now.named(name).map(move |sample| Table {
            element: sample.label("element").to_owned(),
            class: sample.label("class").to_owned(),
            kind,
            entries: sample.value(),
            capacity: now.find(capacity, &[("element", sample.label("element"))]),
        })
    };
    TABLES.into_iter().flat_map(of).collect()
}

fn rcu(readings: &Readings<'_>) -> Rcu {
    let now = readings.now;
    let rate = |name: &str| readings.rate(name, &[]);
    let periods = rate("clique_rcu_grace_period_seconds_count");
    let time = rate("clique_rcu_grace_period_seconds_sum");
    let stalled = now
        .named("clique_rcu_stalled_reader_seconds")
        .map(|sample| Stalled { reader: sample.label("reader").to_owned(), seconds: sample.value() });
    let parts = now
        .named("clique_rcu_waiting_part_bytes")
        .map(|sample| (sample.label("part").to_owned(), sample.value()))
        .filter(|(_, bytes)| *bytes > 0.0);
    Rcu {
        grace_periods_rate: rate("clique_rcu_grace_periods_total"),
        grace_period_s: time.zip(periods).filter(|(_, periods)| *periods > 0.0).map(|(t, p)| t / p),
        waiting_bytes: now.one("clique_rcu_waiting_bytes"),
        limit_bytes: now.one("clique_rcu_limit_bytes"),
        parts: parts.collect(),
        waiting_objects: now.one("clique_rcu_waiting_callbacks"),
        freed_rate: rate("clique_rcu_callbacks_total"),
        refused: now.one("clique_rcu_refused_callbacks_total"),
        refused_rate: rate("clique_rcu_refused_callbacks_total"),
        stalls: now.one("clique_rcu_stalls_total"),
        stalled: stalled.collect(),
    }
}

fn buffers(now: &Samples) -> Vec<Buffers> {
    let of = |sample: &Sample| {
        let size = ("size", sample.label("size"));
        let state = |state| now.find("clique_packet_buffers", &[size, ("state", state)]).unwrap_or(0.0);
        Buffers {
            size: size.1.to_owned(),
            in_use: state("in_use"),
            free: state("free"),
            capacity: sample.value(),
        }
    };
    let mut all: Vec<Buffers> = now.named("clique_packet_buffers_capacity").map(of).collect();
    all.sort_by(|a, b| b.size.cmp(&a.size)); // small ones first
    all
}
