//! Runs a task that writes to a handler.
//!
//! ```click
//! HandlerTask(HANDLER [, KEYWORDS])
//! ```
//!
//! Each run of the task writes to the handler. Errors from the handler are not reported.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Arguments
//! - `HANDLER` (`ELEMENT.HANDLER [VALUE]`): the handler, and the value to write.
//! - `ACTIVE` (boolean, default true): whether the task is scheduled at the start; it can be scheduled later with the
//!   handler `scheduled`.
//! - `RESCHEDULE` (boolean, default false): whether the task schedules itself again each time it runs.
//! - `LIMIT` (integer, default 0): the maximum number of times the task runs by itself; 0 means no limit.
//! - `STOP` (boolean, default false): whether to stop the driver when the limit is reached.
//!
//! # Handlers
//! - `count` (read): how often the task has run.
//! - `reset` (write, button): sets the count to zero.
//!
//! # Example
//! ```click
//! InfiniteSource -> q :: Queue -> Idle;
//! HandlerTask(q.reset, RESCHEDULE true)
//! ```
//!
//! # See also
//! NullTask, Script

use super::null_task::Runs;
use router::{Activity, Call, CallArg, Class, Config, ConfigError, Cx, Element, Handlers, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("HandlerTask", create)
    .ports("0/0")
    .activity(Activity::Always)
    .residency(Residency::Exclusive)
    .doc(router::manual!("handler_task.rs"));

struct HandlerTask {
    call: Call,
    runs: Runs,
    active: bool,
    reschedule: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut call = CallArg(Call::write("", ""));
    let (mut runs, mut active, mut reschedule) = (Runs::default(), true, false);
    config
        .args()
        .required("HANDLER", &mut call)
        .keyword("ACTIVE", &mut active)
        .keyword("RESCHEDULE", &mut reschedule)
        .keyword("LIMIT", &mut runs.limit)
        .keyword("STOP", &mut runs.stop)
        .finish()?;
    Ok(Box::new(HandlerTask { call: call.0, runs, active, reschedule }))
}

impl Element for HandlerTask {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.call = self.call.clone().within(cx.index());
        self.call.check(cx.info())?;
        // Either makes the task, so that there are handlers for it.
        if self.active {
            cx.tasks().schedule()
        } else {
            cx.tasks().unschedule()
        }
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if self.runs.one_more(cx) && self.reschedule {
            cx.tasks().schedule();
        }
        cx.handlers().call(self.call.clone());
    }

    fn handlers(&self, h: &mut Handlers) {
        h.count("reset", |e: &mut HandlerTask| &mut e.runs.count);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};

    #[test]
    fn runs_once_unless_it_is_scheduled_again() {
        let config =
            "s :: Switch; Idle -> s -> Discard; { t :: HandlerTask(../s.switch -1) }; Script(wait 1, stop)";
        assert_eq!(run_and_read(&config.replace("../", ""), &["s.switch"]), ["-1"]);
        let config = "s :: RatedSource(ACTIVE false) -> c :: Counter -> Discard;
                      t :: HandlerTask(c.reset, LIMIT 5, RESCHEDULE true, STOP true)";
        assert_eq!(run_and_read(config, &["t.count"]), ["5"]);
        let config = "c :: Counter; Idle -> c -> Discard; t :: HandlerTask(c.reset, ACTIVE false);
                      Script(wait 1, write t.scheduled true, wait 1, write t.scheduled true, wait 1, stop)";
        assert_eq!(run_and_read(config, &["t.count"]), ["2"]);
    }

    #[test]
    fn needs_a_handler_to_write() {
        assert!(errors("HandlerTask(x.reset)").contains("no element named 'x'"));
        assert!(errors("Idle -> c :: Counter -> Discard; HandlerTask(c.rabbit)").contains("rabbit"));
        assert!(errors("Idle -> c :: Counter -> Discard; HandlerTask(c.count)").contains("count"));
    }
}
