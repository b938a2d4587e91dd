//! A worker's answer when it is asked for its state.

use crate::element::behaviour::target;
use crate::element::handlers::Outcome;
use crate::handlers::response::Merge;
use crate::shared::info::Info;
use crate::shared::survey::{Part, Request, WorkerState};
use crate::worker::instances::{Running, dispatch};

/// Handlers that are read for one answer, so that packets do not wait longer than they do for a task.
const READS: usize = 32;

impl Running<'_> {
    /// Answers for this worker and some of its elements.
    pub(crate) fn survey(&mut self, request: &Request) {
        let info = self.core.info.clone();
        let mut part = Part { state: self.state(), next: request.from, ..Part::default() };
        let mut reads = 0;
        while part.next < info.nodes.len() && reads < READS {
            let element = part.next;
            part.next += 1;
            if info.nodes[element].workers.contains(&self.core.worker) {
                reads += 1 + self.read_metrics(&info, element, &mut part);
            }
        }
        let _ = request.reply.send(part); // the caller may have stopped waiting: fine
    }

    fn state(&self) -> WorkerState {
        WorkerState {
            account: self.core.account.clone(),
            buffers: self.core.pool.cached(),
            failed: self.core.pool.failed(),
            tasks: self.core.tasks.iter().flatten().count(),
        }
    }

    /// Reads what an element measures; how many handlers that took.
    fn read_metrics(&mut self, info: &Info, element: usize, part: &mut Part) -> usize {
        let of_element = |&(reason, packets): &(&'static str, u64)| (element, reason, packets);
        part.drops.extend(self.core.drops[element].iter().map(of_element));
        part.told.extend(self.core.told[element].iter().map(of_element));
        if let Some(task) = self.core.tasks[element] {
            part.runs.push((element, self.core.scheduler.runs(task)));
        }
        let cost = self.core.watch.costs.get(element).filter(|cost| cost.packets > 0);
        part.costs.extend(cost.map(|cost| (element, *cost)));
        let Some(handlers) = info.handlers(element) else { return 0 };
        let is_first = info.nodes[element].workers.first() == Some(&self.core.worker);
        let mut reads = 0;
        for (metric, number, handler) in handlers.metrics() {
            let Some(read) = self.elements.functions[element].measuring(number) else { continue };
            // A value that one instance decides is the first one's to tell.
            if handler.merge == Merge::First && !is_first {
                continue;
            }
            reads += 1;
            let outcome = dispatch!(self, element, |instance, cx| read(target(instance), cx, ""));
            if let Some(Outcome::Done(Ok(value))) = outcome {
                part.readings.push((element, metric, handler.merge, value));
            }
        }
        reads
    }
}
