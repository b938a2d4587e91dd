//! Watches packets of a router that runs: traces, captures, explanations, drops, and the time that elements take.

use crate::calls::handle::Handle;
use crate::configuration::filter::Filter;
use crate::error::HandlerError;
use crate::running::build::Configured;
use crate::running::router::Router;
use crate::shared::info::Info;
use crate::shared::mailbox::Message;
use crate::shared::observing::{Capture, Cost, Edge, Trace};
use crate::shared::orders::{Begin, Dropped, Explained, Explanation, Order, Report};
use packet::Packet;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long a worker is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// Other workers that an explanation goes on to, at most.
const HANDOVERS_MAX: usize = 64;

/// Watches packets of a router. Nothing that it does changes what becomes of them.
#[derive(Clone)]
pub struct Observer {
    handle: Handle,
}

/// A trace that runs until this is dropped, or its time is over.
pub struct Tracing {
    trace: Arc<Trace>,
    info: Arc<Info>,
}

impl std::ops::Deref for Tracing {
    type Target = Trace;

    fn deref(&self) -> &Trace {
        &self.trace
    }
}

impl Tracing {
    /// Whether its time, or the router's, is over.
    pub fn is_over(&self) -> bool {
        self.trace.is_over(self.info.clock.now_ns()) || self.info.is_over()
    }
}

impl Drop for Tracing {
    fn drop(&mut self) {
        self.trace.end();
        order(&self.info, || Order::Trace(None));
        self.info.traced.store(false, Relaxed);
    }
}

/// A capture that runs until this is dropped, or its time is over.
pub struct Capturing {
    capture: Arc<Capture>,
    info: Arc<Info>,
}

impl std::ops::Deref for Capturing {
    type Target = Capture;

    fn deref(&self) -> &Capture {
        &self.capture
    }
}

impl Capturing {
    /// Whether its time, or the router's, is over.
    pub fn is_over(&self) -> bool {
        self.capture.is_over(self.info.clock.now_ns()) || self.info.is_over()
    }
}

impl Drop for Capturing {
    fn drop(&mut self) {
        self.capture.end();
        order(&self.info, || Order::Untap(self.capture.clone()));
    }
}

/// The way that a packet would take.
#[derive(Clone, Debug, Default)]
pub struct Way {
    /// Its steps; those of copies one after the other.
    pub steps: Vec<Explained>,
    /// Whether it has more steps than are told: a loop.
    pub is_cut: bool,
}

/// What elements have cost in the turns that were looked at.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    /// By element.
    pub elements: Vec<Cost>,
    /// The turns.
    pub turns: u64,
    /// One turn in so many is looked at.
    pub every: u64,
}

fn order(info: &Info, order: impl Fn() -> Order) {
    info.mailboxes.iter().for_each(|mailbox| mailbox.send(Message::Observe(order())));
}

impl Observer {
    /// One of this router.
    pub fn new(handle: Handle) -> Observer {
        Observer { handle }
    }

    /// What is known about the configuration.
    pub fn info(&self) -> &Arc<Info> {
        self.handle.info()
    }

    /// The filter of an expression; without one all packets are meant.
    ///
    /// # Errors
    /// What is wrong with it, or that the program understands none.
    pub fn filter(&self, expression: &str) -> Result<Option<Filter>, HandlerError> {
        if expression.trim().is_empty() {
            return Ok(None);
        }
        let compile =
            self.info().filters.ok_or_else(|| HandlerError::from("this program knows no filters"))?;
        Ok(Some(compile(expression, self.info().outer_scope()).map_err(HandlerError::from)?))
    }

    /// Follows the next packets that an expression means, for so long at most. One trace runs at a time.
    ///
    /// # Errors
    /// What is wrong with the expression, or that another trace runs.
    pub fn trace(&self, filter: &str, packets: u32, within: Duration) -> Result<Tracing, HandlerError> {
        let filter = self.filter(filter)?.unwrap_or_else(|| Arc::new(|_: &Packet| true));
        let info = self.info().clone();
        if info.traced.swap(true, Relaxed) {
            return Err("another trace runs".into());
        }
        let trace = Arc::new(Trace::new(filter, packets, until_ns(&info, within)));
        order(&info, || Order::Trace(Some(trace.clone())));
        Ok(Tracing { trace, info })
    }

    /// Shows the packets of an edge that an expression means, for so long at most.
    ///
    /// # Errors
    /// What is wrong with the expression, or that there is no such port.
    pub fn capture(
        &self,
        edge: Edge,
        filter: &str,
        snaplen: usize,
        within: Duration,
    ) -> Result<Capturing, HandlerError> {
        let info = self.info().clone();
        let node = info.nodes.get(edge.element).ok_or_else(|| HandlerError::from("no such element"))?;
        let (ports, side) = if edge.input { (&node.inputs, "input") } else { (&node.outputs, "output") };
        if edge.port >= ports.len() {
            let name = &node.name;
            return Err(format!("'{name}' has no {side} {}, it has {}", edge.port, ports.len()).into());
        }
        let capture = Arc::new(Capture::new(self.filter(filter)?, snaplen, until_ns(&info, within)));
        order(&info, || Order::Tap(edge, capture.clone()));
        Ok(Capturing { capture, info })
    }

    /// What would become of a packet with these bytes at an input, or at the element's output 0 if none is said, by the tables as they are.
    /// Nothing changes by it.
    ///
    /// # Errors
    /// That a worker does not answer.
    pub fn explain(&self, bytes: &[u8], element: usize, input: Option<usize>) -> Result<Way, HandlerError> {
        walk(self.info(), bytes, element, input, |worker, begin, element, input| {
            let (reply, answer) = channel();
            let explain = Order::Explain { begin, element, input, reply };
            self.info().mailboxes[worker].send(Message::Observe(explain));
            self.hear(&answer)
        })
    }

    /// Packets dropped so far, and those whose senders were told, by element and reason, each with an example. Examples are renewed for a while after each call.
    ///
    /// # Errors
    /// That the router has stopped.
    pub fn drops(&self) -> Result<Vec<Dropped>, HandlerError> {
        let mut sums: BTreeMap<(usize, &'static str, bool), Dropped> = BTreeMap::new();
        for report in self.reports()? {
            for dropped in report.drops {
                let key = (dropped.element, dropped.reason, dropped.told);
                match sums.get_mut(&key) {
                    None => drop(sums.insert(key, dropped)),
                    Some(sum) => {
                        sum.packets += dropped.packets;
                        let at = |sample: &Option<_>| {
                            sample.as_ref().map(|view: &crate::shared::observing::View| view.at_ns)
                        };
                        if at(&dropped.sample) > at(&sum.sample) {
                            sum.sample = dropped.sample;
                        }
                    }
                }
            }
        }
        Ok(sums.into_values().collect())
    }

    /// What elements have cost so far.
    ///
    /// # Errors
    /// That the router has stopped.
    pub fn costs(&self) -> Result<Costs, HandlerError> {
        let elements = vec![Cost::default(); self.info().nodes.len()];
        let mut costs = Costs { elements, turns: 0, every: crate::context::watch::TURNS };
        for report in self.reports()? {
            costs.turns += report.turns;
            costs.elements.iter_mut().zip(&report.costs).for_each(|(sum, cost)| sum.merge(cost));
        }
        Ok(costs)
    }

    fn reports(&self) -> Result<Vec<Report>, HandlerError> {
        let ask = |mailbox: &Arc<crate::shared::mailbox::Mailbox>| {
            let (reply, answer) = channel();
            mailbox.send(Message::Observe(Order::Report(reply)));
            answer
        };
        let answers: Vec<_> = self.info().mailboxes.iter().map(ask).collect();
        answers.iter().map(|answer| self.hear(answer)).collect()
    }

    fn hear<T>(&self, answer: &Receiver<T>) -> Result<T, HandlerError> {
        let until = Instant::now() + PATIENCE;
        loop {
            match answer.recv_timeout(Duration::from_millis(50)) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Timeout) if self.info().is_over() => {
                    return Err(HandlerError::stopped());
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() < until => {}
                Err(RecvTimeoutError::Timeout) => return Err("a worker does not answer".into()),
                Err(RecvTimeoutError::Disconnected) => return Err(HandlerError::stopped()),
            }
        }
    }
}

fn until_ns(info: &Info, within: Duration) -> i64 {
    info.clock.now_ns().saturating_add(i64::try_from(within.as_nanos()).unwrap_or(i64::MAX))
}

/// Asks worker after worker, each as far as it knows.
fn walk(
    info: &Info,
    bytes: &[u8],
    element: usize,
    input: Option<usize>,
    mut ask: impl FnMut(usize, Begin, usize, Option<usize>) -> Result<Explanation, HandlerError>,
) -> Result<Way, HandlerError> {
    let worker_of = |element: usize| info.nodes.get(element).and_then(|node| node.workers.first().copied());
    let Some(worker) = worker_of(element) else { return Err("no worker runs this element".into()) };
    let Explanation { steps, mut elsewhere, is_cut } =
        ask(worker, Begin::Bytes(bytes.to_vec()), element, input)?;
    let mut way = Way { steps, is_cut };
    for _ in 0..HANDOVERS_MAX {
        let Some((element, port, packet)) = elsewhere.pop() else { return Ok(way) };
        let Some(worker) = worker_of(element) else { continue };
        let more = ask(worker, Begin::Packet(packet), element, Some(port))?;
        way.steps.extend(more.steps);
        way.is_cut |= more.is_cut;
        elsewhere.extend(more.elsewhere);
    }
    way.is_cut |= !elsewhere.is_empty();
    Ok(way)
}

impl Router {
    /// As [`Observer::explain`], of a router that does not run on other threads.
    ///
    /// # Errors
    /// That no worker runs the element.
    pub fn explain(
        &mut self,
        bytes: &[u8],
        element: usize,
        input: Option<usize>,
    ) -> Result<Way, HandlerError> {
        let info = self.info.clone();
        walk(&info, bytes, element, input, |worker, begin, element, input| {
            let worker = &mut self.workers[worker];
            worker.core.now_ns = worker.core.clock.now_ns();
            Ok(worker.running().explain(begin, element, input))
        })
    }
}

impl Configured {
    /// As [`Observer::explain`], by what arguments say: nothing has been opened, and no element is initialised.
    ///
    /// # Errors
    /// That no worker runs the element.
    pub fn explain(
        &mut self,
        bytes: &[u8],
        element: usize,
        input: Option<usize>,
    ) -> Result<Way, HandlerError> {
        self.router.explain(bytes, element, input)
    }

    /// What is known about the configuration.
    pub fn info(&self) -> &Arc<Info> {
        self.router.info()
    }
}
