//! Runs a task that does nothing.
//!
//! ```click
//! NullTask([KEYWORDS])
//! ```
//!
//! The task schedules itself repeatedly, to measure the cost of one turn of the driver.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Arguments
//! - `LIMIT` (integer, default 0): the maximum number of runs; 0 means no limit.
//! - `STOP` (boolean, default false): whether to stop the driver when the limit is reached.
//! - `ACTIVE` (boolean, default true): whether the task is scheduled at the start; it can be scheduled later with the
//!   handler `scheduled`.
//!
//! # Handlers
//! - `count` (read): how often the task has run.
//! - `reset` (write, button): sets the count to zero.
//!
//! # Example
//! ```click
//! NullTask(LIMIT 1000000, STOP true)
//! ```
//!
//! # See also
//! HandlerTask, ScheduleInfo

use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("NullTask", create)
    .ports("0/0")
    .activity(Activity::Always)
    .residency(Residency::Exclusive)
    .doc(router::manual!("null_task.rs"));

/// How often a task runs, and what then.
#[derive(Default)]
pub(super) struct Runs {
    pub(super) count: u64,
    pub(super) limit: u64,
    pub(super) stop: bool,
}

impl Runs {
    /// Counts a run. Whether the task may run again; the driver is asked to stop if not, and if that is wanted.
    pub(super) fn one_more(&mut self, cx: &mut Cx<'_>) -> bool {
        self.count += 1;
        let more = self.limit == 0 || self.count < self.limit;
        if !more && self.stop {
            cx.info().please_stop();
        }
        more
    }
}

struct NullTask {
    runs: Runs,
    active: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = NullTask { runs: Runs::default(), active: true };
    config
        .args()
        .keyword("LIMIT", &mut e.runs.limit)
        .keyword("STOP", &mut e.runs.stop)
        .keyword("ACTIVE", &mut e.active)
        .finish()?;
    Ok(Box::new(e))
}

impl Element for NullTask {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        // Either makes the task, so that there are handlers for it.
        if self.active {
            cx.tasks().schedule()
        } else {
            cx.tasks().unschedule()
        }
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if self.runs.one_more(cx) {
            cx.tasks().schedule();
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.count("reset", |e: &mut NullTask| &mut e.runs.count);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{run, run_and_read};

    #[test]
    fn counts_and_stops() {
        assert_eq!(run_and_read("t :: NullTask(LIMIT 17, STOP true)", &["t.count", "t.runs"]), ["17", "17"]);
        let config = "t :: NullTask(LIMIT 3, ACTIVE false); Script(wait 1, print >>/dev/null $(t.count), write t.scheduled true, wait 1,
                      write t.reset, write t.scheduled true, wait 1, stop)";
        assert_eq!(run_and_read(config, &["t.count", "t.scheduled"]), ["3", "false"]);
        assert_eq!(
            run_and_read("t :: NullTask(LIMIT 3, ACTIVE false); Script(wait 1, stop)", &["t.count"]),
            ["0"]
        );
    }

    /// Handlers about a task are there where a task is. What is checked before elements are initialised may be about one that comes.
    #[test]
    fn only_tasks_have_handlers_of_tasks() {
        let config = "HandlerTask(t.scheduled true); Idle -> c :: Counter -> Discard; t :: NullTask(LIMIT 1);
             s :: TimedSource -> Discard; ScheduleInfo(s 2); Script(write c.scheduled true, stop)";
        let handlers = ["c.scheduled", "c.runs", "s.tickets", "s.home_thread"];
        let missing = handlers.map(|name| format!("error: no '{name}' read handler"));
        assert_eq!(run_and_read(config, &handlers), missing);
        assert_eq!(run_and_read(config, &["t.tickets", "t.home_thread"]), ["1024", "0"]);
        assert!(run(config).contains("no 'c.scheduled' write handler"));
    }
}
