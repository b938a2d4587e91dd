//! Stops the driver once one of several tasks is no longer scheduled.
//!
//! ```click
//! QuitWatcher(ELEMENT, ...)
//! ```
//!
//! Checks a hundred times a second whether the tasks of the elements are scheduled, and asks the driver to stop as
//! soon as one of them is not.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Arguments
//! Names of elements that have tasks. Elements without tasks are reported once, and not watched.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! s :: InfiniteSource(LIMIT 1000) -> Discard;
//! QuitWatcher(s)
//! ```
//!
//! # See also
//! DriverManager, Script

use router::{
    Activity, Answer, Call, Class, Config, ConfigError, Cx, Element, Level, Residency, Response, Step,
};
use std::any::Any;
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("QuitWatcher", create)
    .ports("0/0")
    .activity(Activity::Always)
    .residency(Residency::Exclusive)
    .doc(router::manual!("quit_watcher.rs"));

const INTERVAL: Duration = Duration::from_millis(10);

struct QuitWatcher {
    names: Vec<String>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut names = Vec::new();
    config.args().rest(&mut names).finish()?;
    Ok(Box::new(QuitWatcher { names }))
}

impl QuitWatcher {
    /// The question about the element with this number among those watched, if there are so many.
    fn question(&self, at: usize) -> Option<Call> {
        self.names.get(at).map(|name| Call::read(format!("{name}.scheduled"), ""))
    }
}

impl Element for QuitWatcher {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if let Some(name) = self.names.iter().find(|name| cx.info().find(name, Some(cx.index())).is_none()) {
            return Err(format!("no element named '{name}'").into());
        }
        cx.timers().after(0, INTERVAL);
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.handlers().start(Box::new(0usize));
    }

    fn resume(&mut self, cx: &mut Cx<'_>, state: &mut Box<dyn Any + Send>, answer: Answer) -> Step {
        let Some(at) = state.downcast_mut::<usize>() else { return Step::Done(Ok(String::new())) };
        if let Answer::Response(Response { result: Err(error), .. }) = &answer {
            // It will not have a task later either.
            cx.say(Level::Warning, &error.message);
            *at -= 1;
            self.names.remove(*at);
        }
        if matches!(&answer, Answer::Response(Response { result: Ok(value), .. }) if value.trim() == "false")
        {
            cx.info().please_end();
            return Step::Done(Ok(String::new()));
        }
        let question = self.question(*at);
        *at += 1;
        match question {
            Some(call) => Step::Call(call.within(cx.index())),
            None => {
                cx.timers().after(0, INTERVAL);
                Step::Done(Ok(String::new()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run, run_and_read};

    /// The second source has no end.
    #[test]
    fn stops_when_the_first_watched_source_ends() {
        let config = "elementclass C { s :: InfiniteSource(LIMIT 500) -> d :: Discard; t :: RatedSource -> Discard; QuitWatcher(t, s) }; c :: C";
        assert_eq!(run_and_read(config, &["c/d.count"]), ["500"]);
        assert!(errors("QuitWatcher(x)").contains("no element named 'x'"));
        // An element without a task does not keep it from watching the next one.
        let config = "Idle -> d :: Discard; s :: InfiniteSource(LIMIT 5) -> Discard; QuitWatcher(d, s)";
        assert_eq!(run_and_read(config, &["s.count"]), ["5"]);
        let said = run(config);
        assert_eq!(said.matches("d.scheduled").count(), 1, "{said}");
    }
}
