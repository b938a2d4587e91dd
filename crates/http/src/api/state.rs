//! What the router does: workers, measurements, drops, memory that waits.

use super::answer::{Failure, ask};
use crate::history::Sample;
use crate::shared::Shared;
use crate::survey::{Answer, Surveys};
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use router::{Handle, Survey};
use serde::Serialize;
use std::sync::{Arc, PoisonError};
use utoipa::ToSchema;

/// The turns of a worker of which one is looked at: the router's own number.
pub(crate) const ONE_TURN_IN: u64 = 1024;

/// The router in a few words.
#[derive(Serialize, ToSchema)]
struct Summary {
    /// The program's version.
    version: &'static str,
    workers: usize,
    elements: usize,
    /// How often a configuration took another one's place.
    configuration: u64,
    /// Packets in a vector.
    vector: usize,
    /// Whether this server may be written to.
    writable: bool,
}

/// The router in a few words.
#[utoipa::path(get, path = "/api/v1", responses((status = 200, body = Summary), (status = 503, body = crate::access::Problem)))]
pub(super) async fn router(State(shared): State<Arc<Shared>>) -> Response {
    ask(shared, |shared, handle| {
        let info = handle.info();
        let workers =
            info.nodes.iter().flat_map(|node| node.workers.iter().copied()).max().map_or(1, |most| most + 1);
        Ok(Summary {
            version: env!("CARGO_PKG_VERSION"),
            workers,
            elements: info.nodes.len(),
            configuration: info.swaps.done(),
            vector: info.vector,
            writable: shared.token.is_some(),
        })
    })
    .await
}

/// One worker.
#[derive(Serialize, ToSchema)]
struct Worker {
    /// Whether it answered.
    up: bool,
    /// How busy it is, from 0 to 1.
    load: f64,
    turns: u64,
    busy_ns: u64,
    idle_ns: u64,
    asleep_ns: u64,
    /// Packets in all batches that elements were handed.
    packets: u64,
    /// Buffers in use and free.
    buffers: (usize, usize),
}

/// What an element measures.
#[derive(Serialize, ToSchema)]
struct Reading {
    element: String,
    metric: &'static str,
    value: String,
}

/// Packets that an element dropped for a reason, or did not let on and told their senders why.
#[derive(Serialize, ToSchema)]
struct Drop {
    element: String,
    class: &'static str,
    reason: &'static str,
    packets: u64,
    /// Whether their senders were told the reason by ICMP.
    told: bool,
}

/// What an element has cost in the turns that were looked at.
#[derive(Serialize, ToSchema)]
struct Cost {
    element: String,
    class: &'static str,
    packets: u64,
    batches: u64,
    /// Nanoseconds in the element alone.
    ns: u64,
    /// None where no packet came.
    ns_per_packet: Option<f64>,
}

/// Where the time goes, by a sample.
#[derive(Serialize, ToSchema)]
struct Runtime {
    /// One turn in so many is looked at.
    one_turn_in: u64,
    /// What costs most comes first.
    elements: Vec<Cost>,
}

/// Memory that waits to be freed.
#[derive(Serialize, ToSchema)]
struct Rcu {
    grace_periods: u64,
    waiting_bytes: u64,
    limit_bytes: u64,
    readers: usize,
    stalls: u64,
}

/// What the router does at a moment. Counts are totals.
#[derive(Serialize, ToSchema)]
struct Moment {
    /// When workers said it: milliseconds since they were first asked. Rates are differences over this.
    at_ms: u64,
    workers: Vec<Worker>,
    readings: Vec<Reading>,
    drops: Vec<Drop>,
    /// One turn in so many is looked at for `costs`.
    one_turn_in: u64,
    costs: Vec<Cost>,
    rcu: Rcu,
    /// The sums that the history keeps.
    totals: Sample,
}

fn survey(shared: &Shared, handle: &Handle) -> Result<Arc<Answer>, Failure> {
    Surveys::read(&shared.surveys, handle).map_err(|_| Failure::Stopped)
}

fn drops_of(handle: &Handle, survey: &Survey) -> Vec<Drop> {
    let drop = |told: bool, &(element, reason, packets): &(usize, &'static str, u64)| {
        let node = &handle.info().nodes[element];
        Drop { element: node.name.clone(), class: node.class.name, reason, packets, told }
    };
    let told = survey.told.iter().map(|row| drop(true, row));
    survey.drops.iter().map(|row| drop(false, row)).chain(told).collect()
}

fn costs_of(handle: &Handle, survey: &Survey) -> Vec<Cost> {
    let cost = |(element, cost): &(usize, router::Cost)| {
        let node = &handle.info().nodes[*element];
        Cost {
            element: node.name.clone(),
            class: node.class.name,
            packets: cost.packets,
            batches: cost.batches,
            ns: cost.ns,
            ns_per_packet: (cost.packets > 0).then(|| cost.ns as f64 / cost.packets as f64),
        }
    };
    survey.costs.iter().map(cost).collect()
}

/// What the router does now: at most a fifth of a second old.
#[utoipa::path(get, path = "/api/v1/state", responses((status = 200, body = Moment), (status = 503, body = crate::access::Problem)))]
pub(super) async fn state(State(shared): State<Arc<Shared>>) -> Response {
    ask(shared, |shared, handle| {
        let survey = survey(shared, &handle)?;
        let worker = |state: &Option<router::WorkerState>| match state {
            None => Worker {
                up: false,
                load: 0.0,
                turns: 0,
                busy_ns: 0,
                idle_ns: 0,
                asleep_ns: 0,
                packets: 0,
                buffers: (0, 0),
            },
            Some(state) => Worker {
                up: true,
                load: state.account.load,
                turns: state.account.turns,
                busy_ns: state.account.busy_ns,
                idle_ns: state.account.idle_ns,
                asleep_ns: state.account.asleep_ns,
                packets: state.account.batches.packets(),
                buffers: state.buffers,
            },
        };
        let reading = |reading: &router::Reading| Reading {
            element: handle.info().nodes[reading.element].name.clone(),
            metric: reading.metric.name,
            value: reading.value.trim().to_owned(),
        };
        let stats = rcu::Domain::global().stats();
        Ok(Moment {
            at_ms: survey.at_ms,
            workers: survey.workers.iter().map(worker).collect(),
            readings: survey.readings.iter().map(reading).collect(),
            drops: drops_of(&handle, &survey),
            one_turn_in: ONE_TURN_IN,
            costs: costs_of(&handle, &survey),
            rcu: Rcu {
                grace_periods: stats.grace_periods,
                waiting_bytes: stats.bytes_waiting as u64,
                limit_bytes: stats.bytes_limit as u64,
                readers: stats.readers,
                stalls: stats.stalls,
            },
            totals: Sample::of(&survey),
        })
    })
    .await
}

/// Packets that were dropped, by element and reason, most first.
#[utoipa::path(get, path = "/api/v1/drops", responses((status = 200, body = [Drop]), (status = 503, body = crate::access::Problem)))]
pub(super) async fn drops(State(shared): State<Arc<Shared>>) -> Response {
    ask(shared, |shared, handle| {
        let mut drops = drops_of(&handle, &*survey(shared, &handle)?);
        drops.sort_by_key(|drop| std::cmp::Reverse(drop.packets));
        Ok(drops)
    })
    .await
}

/// What elements have cost so far, those in which packets were seen, by a sample of the turns.
#[utoipa::path(get, path = "/api/v1/runtime", responses((status = 200, body = Runtime), (status = 503, body = crate::access::Problem)))]
pub(super) async fn runtime(State(shared): State<Arc<Shared>>) -> Response {
    ask(shared, |shared, handle| {
        let mut elements = costs_of(&handle, &*survey(shared, &handle)?);
        elements.sort_by_key(|cost| std::cmp::Reverse(cost.ns));
        Ok(Runtime { one_turn_in: ONE_TURN_IN, elements })
    })
    .await
}

/// The last hour, a sample every ten seconds, the oldest first.
#[utoipa::path(get, path = "/api/v1/history", responses((status = 200, body = [Sample])))]
pub(super) async fn history(State(shared): State<Arc<Shared>>) -> Response {
    let samples: Vec<Sample> =
        shared.history.lock().unwrap_or_else(PoisonError::into_inner).samples.iter().cloned().collect();
    Json(samples).into_response()
}
