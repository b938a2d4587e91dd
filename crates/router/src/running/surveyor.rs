//! Asks all workers at once for their own state and that of their elements.
//!
//! Each worker answers for its own instances, between two tasks, a few elements at a time, so that packets never wait
//! for long. The surveyor merges the answers. A worker that does not answer in time is left out.

use crate::calls::handle::Handle;
use crate::error::HandlerError;
use crate::handlers::metric::Metric;
use crate::handlers::response::Merge;
use crate::shared::info::Info;
use crate::shared::mailbox::Message;
use crate::shared::observing::Cost;
use crate::shared::survey::{Part, Request, WorkerState};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long to wait for one worker before looking at the others.
const STEP: Duration = Duration::from_millis(5);

/// What an element says of itself.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The element.
    pub element: usize,
    /// What is measured.
    pub metric: &'static Metric,
    /// The value, of all workers together.
    pub value: String,
}

/// A router's state.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// The workers'; `None` of one that did not answer.
    pub workers: Vec<Option<WorkerState>>,
    /// The elements', by metric and element.
    pub readings: Vec<Reading>,
    /// Packets that elements dropped: element, reason and number.
    pub drops: Vec<(usize, &'static str, u64)>,
    /// Packets that elements did not let on and whose senders they told why: element, reason and number.
    pub told: Vec<(usize, &'static str, u64)>,
    /// How often the tasks of elements have run: element, worker and number.
    pub runs: Vec<(usize, usize, u64)>,
    /// What elements have cost in the turns that were looked at (one in 1,024), of those that have seen packets then.
    pub costs: Vec<(usize, Cost)>,
}

/// Asks a router.
pub struct Surveyor {
    handle: Handle,
    /// What workers have been asked and not answered in time: nothing else is asked of them until they have, lest it pile up.
    owed: Vec<Option<Receiver<Part>>>,
}

/// What a worker has been asked.
struct Asked {
    answer: Receiver<Part>,
    /// Whether that was for a survey that has stopped waiting.
    stale: bool,
}

/// What has been put together so far.
#[derive(Default)]
struct Gathered {
    values: BTreeMap<(&'static str, usize), (&'static Metric, Merge, Vec<String>)>,
    drops: BTreeMap<(usize, &'static str), u64>,
    told: BTreeMap<(usize, &'static str), u64>,
    runs: Vec<(usize, usize, u64)>,
    costs: BTreeMap<usize, Cost>,
}

impl Surveyor {
    /// One that asks this router.
    pub fn new(handle: Handle) -> Surveyor {
        let owed = handle.info().mailboxes.iter().map(|_| None).collect();
        Surveyor { handle, owed }
    }

    /// What is known about the configuration.
    pub fn info(&self) -> &Arc<Info> {
        self.handle.info()
    }

    /// Asks all workers and waits for their answers, not longer than `patience` in all. Not for use on a worker.
    ///
    /// # Errors
    /// That the router has stopped.
    pub fn survey(&mut self, patience: Duration) -> Result<Survey, HandlerError> {
        let deadline = Instant::now() + patience;
        let mut asked: Vec<Option<Asked>> = (std::mem::take(&mut self.owed).into_iter().enumerate())
            .map(|(worker, owed)| match owed {
                Some(answer) => Some(Asked { answer, stale: true }),
                None => Some(self.ask(worker, 0)),
            })
            .collect();
        let mut states = vec![None; asked.len()];
        let mut gathered = Gathered::default();
        let mut over = false;
        while asked.iter().any(Option::is_some) && Instant::now() < deadline && !over {
            over = self.handle.info().is_over();
            // Only the first that has not answered is waited for; the others are looked at.
            let mut wait = STEP;
            for (worker, asked) in asked.iter_mut().enumerate() {
                let Some(Asked { answer, stale }) = &*asked else { continue };
                match answer.recv_timeout(wait) {
                    Err(RecvTimeoutError::Timeout) => wait = Duration::ZERO,
                    Err(RecvTimeoutError::Disconnected) => over = true,
                    Ok(_) if *stale => *asked = Some(self.ask(worker, 0)),
                    Ok(part) if part.next < self.info().nodes.len() => {
                        *asked = Some(self.ask(worker, part.next));
                        gathered.add(worker, part);
                    }
                    Ok(part) => {
                        *asked = None;
                        states[worker] = Some(part.state.clone());
                        gathered.add(worker, part);
                    }
                }
            }
        }
        self.owed = asked.into_iter().map(|asked| asked.map(|asked| asked.answer)).collect();
        if over { Err(HandlerError::stopped()) } else { Ok(gathered.finish(states)) }
    }

    fn ask(&self, worker: usize, from: usize) -> Asked {
        let (reply, answer) = channel();
        self.info().mailboxes[worker].send(Message::Survey(Request { from, reply }));
        Asked { answer, stale: false }
    }
}

impl Gathered {
    fn add(&mut self, worker: usize, part: Part) {
        for (element, metric, merge, value) in part.readings {
            let known = self.values.entry((metric.name, element));
            known.or_insert((metric, merge, Vec::new())).2.push(value);
        }
        for (element, reason, packets) in part.drops {
            *self.drops.entry((element, reason)).or_default() += packets;
        }
        for (element, reason, packets) in part.told {
            *self.told.entry((element, reason)).or_default() += packets;
        }
        self.runs.extend(part.runs.into_iter().map(|(element, runs)| (element, worker, runs)));
        for (element, cost) in part.costs {
            self.costs.entry(element).or_default().merge(&cost);
        }
    }

    fn finish(self, workers: Vec<Option<WorkerState>>) -> Survey {
        let merged = |((_, element), (metric, merge, values)): (_, (_, Merge, Vec<String>))| {
            let value = merge.apply(values.into_iter().map(Ok).collect()).ok()?;
            Some(Reading { element, metric, value })
        };
        let by_reason = |((element, reason), packets)| (element, reason, packets);
        let mut runs = self.runs;
        runs.sort_unstable();
        Survey {
            workers,
            readings: self.values.into_iter().filter_map(merged).collect(),
            drops: self.drops.into_iter().map(by_reason).collect(),
            told: self.told.into_iter().map(by_reason).collect(),
            runs,
            costs: self.costs.into_iter().collect(),
        }
    }
}
