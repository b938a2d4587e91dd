//! The families of metrics, section by section.

use super::exposition::{Exposition, Kind};
use rcu::Stats;
use router::{Info, Metric, Reading, Survey, WorkerState, metric};
use std::collections::BTreeMap;
use std::time::Duration;

/// Seconds in so many nanoseconds.
fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// The program and its configuration.
pub(super) fn program(out: &mut Exposition, info: &Info, took: Duration) {
    let version = [("version", env!("CARGO_PKG_VERSION"))];
    out.family("clique_build_info", Kind::Info, "The program.").sample(&version, 1);
    out.one("clique_elements", Kind::Gauge, "Elements of the configuration.", info.nodes.len());
    let mut swaps = out.family(
        "clique_hot_swaps_total",
        Kind::Counter,
        "Configurations written to replace the one that ran.",
    );
    swaps.sample(&[("outcome", "done")], info.swaps.done());
    swaps.sample(&[("outcome", "refused")], info.swaps.refused());
    let help = "How long it took to ask the workers for these figures.";
    out.one("clique_survey_seconds", Kind::Gauge, help, took.as_secs_f64());
}

/// A counter of each worker.
type Count = fn(&WorkerState) -> u64;

/// Sizes by which batches are told apart: more than one, and not more than the next.
const BOUNDS: [usize; 8] = [0, 1, 2, 4, 8, 16, 32, 64];

/// What workers do.
pub(super) fn workers(out: &mut Exposition, survey: &Survey) {
    let mut up = out.family(
        "clique_worker_up",
        Kind::Gauge,
        "Whether the worker answers (1) or has been busy for too long (0).",
    );
    for (number, state) in survey.workers.iter().enumerate() {
        up.sample(&[("worker", &number.to_string())], u8::from(state.is_some()));
    }
    let states = || {
        let answers = survey.workers.iter().enumerate();
        answers.filter_map(|(number, state)| Some((number.to_string(), state.as_ref()?)))
    };
    let mut time = out.family(
        "clique_worker_seconds_total",
        Kind::Counter,
        "Time of turns that moved packets (busy), of turns that found none (idle), and of sleep (asleep).",
    );
    for (worker, state) in states() {
        let account = &state.account;
        for (what, ns) in
            [("busy", account.busy_ns), ("idle", account.idle_ns), ("asleep", account.asleep_ns)]
        {
            time.sample(&[("worker", &worker), ("state", what)], seconds(ns));
        }
    }
    let counters: [(&str, &str, Count); 4] = [
        ("clique_worker_turns_total", "Turns of the worker's loop.", |state| state.account.turns),
        ("clique_worker_idle_turns_total", "Turns that found nothing to do.", |state| {
            state.account.idle_turns
        }),
        ("clique_worker_sleeps_total", "How often the worker went to sleep.", |state| state.account.sleeps),
        ("clique_worker_dispatches_total", "Hops of batches between elements.", |state| {
            state.account.dispatches
        }),
    ];
    for (name, help, count) in counters {
        let mut family = out.family(name, Kind::Counter, help);
        states().for_each(|(worker, state)| family.sample(&[("worker", &worker)], count(state)));
    }
    let mut tasks = out.family("clique_worker_tasks", Kind::Gauge, "Tasks of elements that the worker runs.");
    states().for_each(|(worker, state)| tasks.sample(&[("worker", &worker)], state.tasks));
    let help = "Packets in the batches that sources, devices and queues brought on their way.";
    let mut batches = out.family("clique_worker_batch_packets", Kind::Histogram, help);
    for (worker, state) in states() {
        let sizes = &state.account.batches;
        // Empty ones, the answers of empty queues, count for nothing. A bound is the largest size that is still below it.
        let ranges = BOUNDS.iter().zip(&BOUNDS[1..]);
        let buckets = ranges.map(|(&from, &to)| (to as f64, sizes.between(from + 1, to + 1)));
        let beyond = sizes.between(BOUNDS[BOUNDS.len() - 1] + 1, usize::MAX);
        batches.histogram(&[("worker", &worker)], buckets, beyond, sizes.packets());
    }
}

/// Where buffers of packets are.
pub(super) fn packets(out: &mut Exposition, survey: &Survey) {
    let (small, large) = packet::usage();
    let states = || survey.workers.iter().flatten();
    let at_hand: (usize, usize) =
        states().map(|state| state.buffers).fold((0, 0), |sum, more| (sum.0 + more.0, sum.1 + more.1));
    let classes = [("small", small, at_hand.0), ("large", large, at_hand.1)];
    let help = "Buffers of packets that have been used so far: those with packets in them (in_use), and the others (free).";
    let mut buffers = out.family("clique_packet_buffers", Kind::Gauge, help);
    // What workers have at hand that do not answer is not known.
    let known = survey.workers.iter().all(Option::is_some);
    for (size, usage, at_hand) in classes.into_iter().filter(|_| known) {
        let free = (at_hand + usage.spare).min(usage.circulating);
        buffers.sample(&[("size", size), ("state", "in_use")], usage.circulating - free);
        buffers.sample(&[("size", size), ("state", "free")], free);
    }
    let mut capacity =
        out.family("clique_packet_buffers_capacity", Kind::Gauge, "Buffers of packets that there can be.");
    classes.iter().for_each(|(size, usage, _)| capacity.sample(&[("size", size)], usage.capacity));
    let help = "Packets that could not be made because there was no memory for more buffers.";
    let mut failed = out.family("clique_packet_buffers_exhausted_total", Kind::Counter, help);
    for (worker, state) in survey.workers.iter().enumerate() {
        if let Some(state) = state {
            failed.sample(&[("worker", &worker.to_string())], state.failed);
        }
    }
}

/// Powers of four of a nanosecond that grace periods are told apart by: from a microsecond to a quarter of a minute.
const PERIODS: std::ops::RangeInclusive<usize> = 10..=34;

/// Deferred reclamation.
pub(super) fn rcu(out: &mut Exposition, stats: &Stats) {
    use Kind::{Counter, Gauge};
    let figures = [
        ("clique_rcu_readers", Gauge, "Readers that grace periods wait for.", stats.readers as u64),
        ("clique_rcu_grace_periods_total", Counter, "Grace periods that are over.", stats.grace_periods),
        ("clique_rcu_waiting_bytes", Gauge, "Memory that waits to be freed.", stats.bytes_waiting as u64),
        ("clique_rcu_limit_bytes", Gauge, "Memory that may wait to be freed.", stats.bytes_limit as u64),
        (
            "clique_rcu_waiting_callbacks",
            Gauge,
            "Objects that wait to be freed.",
            stats.callbacks_waiting as u64,
        ),
        (
            "clique_rcu_blocking_callbacks",
            Gauge,
            "Callbacks that may block and have not finished.",
            stats.blocking_waiting as u64,
        ),
        ("clique_rcu_callbacks_total", Counter, "Objects that were freed.", stats.callbacks_run),
        (
            "clique_rcu_refused_callbacks_total",
            Counter,
            "Updates that were refused because too much waited to be freed.",
            stats.callbacks_refused,
        ),
        (
            "clique_rcu_panicked_callbacks_total",
            Counter,
            "Objects whose destructor failed.",
            stats.callbacks_panicked,
        ),
        (
            "clique_rcu_forced_quiescences_total",
            Counter,
            "How often a reader was asked to end its turn early.",
            stats.quiescences_forced,
        ),
        (
            "clique_rcu_stalls_total",
            Counter,
            "Readers that kept a grace period waiting for too long.",
            stats.stalls,
        ),
    ];
    for (name, kind, help, value) in figures {
        out.one(name, kind, help, value);
    }
    let held: usize = stats.accounts.iter().map(|(_, bytes)| bytes).sum();
    let help = "Memory that waits to be freed, by what it is.";
    let mut parts = out.family("clique_rcu_waiting_part_bytes", Gauge, help);
    parts.sample(&[("part", "replaced values")], stats.bytes_waiting.saturating_sub(held) as u64);
    for (name, bytes) in &stats.accounts {
        parts.sample(&[("part", *name)], *bytes as u64);
    }
    // Readers that have the same name are told as one: the one that is worst.
    let mut stalled: BTreeMap<&str, Duration> = BTreeMap::new();
    for stall in &stats.stalled {
        let worst = stalled.entry(&stall.reader).or_default();
        *worst = stall.waited.max(*worst);
    }
    let help = "How long a reader has kept a grace period waiting, of those that take too long.";
    let mut family = out.family("clique_rcu_stalled_reader_seconds", Gauge, help);
    for (reader, waited) in stalled {
        family.sample(&[("reader", reader)], waited.as_secs_f64());
    }
    let help = "From the start of a grace period until a thread noticed its end.";
    let mut periods = out.family("clique_rcu_grace_period_seconds", Kind::Histogram, help);
    let latency = &stats.latency;
    let (mut from, mut buckets) = (0, Vec::new());
    for log2 in PERIODS.step_by(2) {
        buckets.push((seconds(1 << log2), latency.buckets[from..=log2].iter().sum()));
        from = log2 + 1;
    }
    let beyond = latency.buckets[from..].iter().sum();
    periods.histogram(&[], buckets.into_iter(), beyond, latency.sum.as_secs_f64());
}

/// What elements say of themselves.
pub(super) fn elements(out: &mut Exposition, info: &Info, survey: &Survey) {
    let node = |element: usize| {
        let node = &info.nodes[element];
        [("element", node.name.as_str()), ("class", node.class.name)]
    };
    let mut readings = survey.readings.as_slice();
    while let [first, ..] = readings {
        let metric = first.metric;
        let count = readings.iter().take_while(|reading| reading.metric.name == metric.name).count();
        let (these, others) = readings.split_at(count);
        family(out, metric, these, node);
        readings = others;
    }
    let help = "Packets that the element dropped.";
    let mut drops = out.family("clique_element_drops_total", Kind::Counter, help);
    for &(element, reason, packets) in &survey.drops {
        let [name, class] = node(element);
        drops.sample(&[name, class, ("reason", reason)], packets);
    }
    let help = "Packets that the element did not let on, telling their senders why by ICMP.";
    let mut told = out.family("clique_element_told_total", Kind::Counter, help);
    for &(element, reason, packets) in &survey.told {
        let [name, class] = node(element);
        told.sample(&[name, class, ("reason", reason)], packets);
    }
    let mut runs =
        out.family("clique_task_runs_total", Kind::Counter, "How often the element's task has run.");
    for &(element, worker, number) in &survey.runs {
        let [name, class] = node(element);
        runs.sample(&[name, class, ("worker", &worker.to_string())], number);
    }
    costs(out, survey, node);
}

/// Where the time goes: of a few turns, so that only the ratio of the two says something.
fn costs<'i>(out: &mut Exposition, survey: &Survey, node: impl Fn(usize) -> [(&'i str, &'i str); 2]) {
    let help = "Time in the element alone, in the turns that were looked at.";
    let mut time = out.family("clique_element_sampled_seconds_total", Kind::Counter, help);
    survey.costs.iter().for_each(|(element, cost)| time.sample(&node(*element), seconds(cost.ns)));
    let help = "Packets that the element saw in the turns that were looked at.";
    let mut packets = out.family("clique_element_sampled_packets_total", Kind::Counter, help);
    survey.costs.iter().for_each(|(element, cost)| packets.sample(&node(*element), cost.packets));
}

/// A family of metrics of elements.
fn family<'i>(
    out: &mut Exposition,
    metric: &'static Metric,
    readings: &[Reading],
    node: impl Fn(usize) -> [(&'i str, &'i str); 2],
) {
    let kind = match metric.kind {
        metric::Kind::Counter => Kind::Counter,
        metric::Kind::Gauge => Kind::Gauge,
        metric::Kind::Text(_) => Kind::Info,
    };
    let mut family = out.family(metric.name, kind, metric.help);
    for reading in readings {
        let [name, class] = node(reading.element);
        let value = reading.value.trim();
        match metric.kind {
            metric::Kind::Text(label) if !value.is_empty() => {
                family.sample(&[name, class, (label, value)], 1)
            }
            metric::Kind::Text(_) => {}
            // What is no number, because the element has none to tell, is left out.
            _ if value.parse::<f64>().is_ok_and(f64::is_finite) => family.sample(&[name, class], value),
            _ => {}
        }
    }
}
