//! Self-test: notifiers.
//!
//! ```click
//! NotifierTest
//! ```
//!
//! When the router starts, this tests how elements tell each other that packets, or room for them, are available. It
//! runs small routers in simulated time, and checks that an element that pulls from a queue sleeps while the queue is
//! empty and is woken by a packet, also through elements that pass packets on and through schedulers with several
//! inputs; that sources sleep before a full queue until there is room; and that elements without a notifier are
//! polled again and again. It prints `All tests pass!`, or the router does not start.
//!
//! Ports: none. Workers: worker 0.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! NotifierTest
//! ```
//!
//! # See also
//! NotifierDebug, UpstreamNotifier, NotifierQueue

use super::trial::{Trial, element};
use router::{Class, Config, ConfigError, Cx, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("NotifierTest", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(include_str!("notifier_test.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    element(config, tests)
}

fn tests(trial: &mut Trial, _cx: &mut Cx<'_>) {
    // Asleep at an empty queue, and woken by each packet.
    trial.run(
        "TimedSource(1, LIMIT 3) -> q :: Queue -> n :: NotifierDebug -> d :: Discard; Script(wait 9, stop)",
        "",
        &[("d.count", "3"), ("d.scheduled", "false"), ("n.signal", "empty.0/1:0"), ("q.length", "0")],
    );
    // A signal stays active while there are packets that nobody takes.
    trial.run(
        "InfiniteSource(LIMIT 3) -> q :: Queue -> n :: NotifierDebug -> u :: Unqueue(ACTIVE false) -> Discard; Script(wait 1, stop)",
        "",
        &[("n.signal", "empty.0/1:1*"), ("q.length", "3"), ("u.count", "0")],
    );
    // Through elements that say nothing themselves, and with several inputs: any of the queues wakes, and only all let sleep.
    trial.run(
        "TimedSource(1, LIMIT 2) -> Queue -> Null -> [0] s :: RoundRobinSched; TimedSource(1.5, LIMIT 2) -> Queue -> [1] s;
         s -> n :: NotifierDebug -> Strip(1) -> d :: Discard; Script(wait 9, stop)",
        "",
        &[("d.count", "4"), ("d.scheduled", "false"), ("n.signal", "empty.0/3:0")],
    );
    // Nothing ever comes from Idle.
    trial.run(
        "Idle -> PullNull -> n :: NotifierDebug -> d :: Discard; Script(wait 1, stop)",
        "",
        &[("d.count", "0"), ("d.scheduled", "false"), ("n.signal", "empty.0/1:0")],
    );
    // A source sleeps before a full queue, and goes on when there is room.
    trial.run(
        "i :: InfiniteSource(LIMIT 9) -> n :: NotifierDebug -> q :: Queue(3) -> u :: Unqueue(ACTIVE false) -> d :: Discard;
         Script(wait 1, stop)",
        "",
        &[("i.count", "3"), ("i.scheduled", "false"), ("q.drops", "0"), ("n.signal", "full.0/1:0")],
    );
    trial.run(
        "i :: InfiniteSource(LIMIT 9) -> n :: NotifierDebug -> q :: Queue(3) -> u :: Unqueue(ACTIVE false) -> d :: Discard;
         Script(wait 1, write u.active true, wait 1, stop)",
        "",
        &[("i.count", "9"), ("d.count", "9"), ("q.drops", "0"), ("n.signal", "full.0/1:1*")],
    );
    // Nobody says whether there is room behind this.
    trial.run(
        "InfiniteSource(LIMIT 9) -> n :: NotifierDebug -> d :: Discard; Script(wait 1, stop)",
        "",
        &[("d.count", "9"), ("n.signal", "busy*")],
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    #[test]
    fn passes() {
        assert_eq!(run("NotifierTest; Script(stop)"), "All tests pass!\n");
    }
}
