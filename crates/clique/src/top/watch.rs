//! What is made of one reading after the other.

use super::samples::Readings;
use super::source::Reading;
use super::view::{View, start_s};
use super::{associations, flows};

/// How far apart two times may be that are the start of the same program, in seconds: the system counts in ticks.
const SAME_START_S: f64 = 1.5;

/// The last reading, to compare the next one with.
#[derive(Default)]
pub(super) struct Watch {
    last: Option<Reading>,
}

/// What a reading has brought.
pub(super) struct News {
    pub(super) view: View,
    /// Something that the user should know of: it is another program, or another configuration.
    pub(super) notice: Option<&'static str>,
}

impl Watch {
    /// Takes the next reading.
    pub(super) fn take(&mut self, reading: Reading) -> News {
        let before = self.last.take();
        let start = |reading: &Reading| start_s(&reading.samples).unwrap_or(0.0);
        let another = |old: &Reading| (start(old) - start(&reading)).abs() > SAME_START_S;
        let restarted = before.as_ref().is_some_and(another);
        let swaps =
            |reading: &Reading| reading.samples.find("clique_hot_swaps_total", &[("outcome", "done")]);
        let replaced = before.as_ref().is_some_and(|old| swaps(old) != swaps(&reading));
        // Two programs' figures have nothing to do with each other.
        let before = before.filter(|_| !restarted);
        let readings = Readings {
            now: &reading.samples,
            seconds: before.as_ref().map_or(0.0, |old| (reading.at - old.at).as_secs_f64()),
            before: before.as_ref().map(|old| &old.samples),
        };
        let mut view = View::of(&readings);
        let flows = before.as_ref().map(|old| &*old.flows);
        view.flows = flows::with_rates(reading.flows.clone(), flows, readings.seconds);
        let old = before.as_ref().map(|old| &*old.associations);
        view.associations = associations::with_rates(reading.associations.clone(), old, readings.seconds);
        self.last = Some(reading);
        let notice = match (restarted, replaced) {
            (true, _) => Some("the router was started anew"),
            (false, true) => Some("the configuration was replaced"),
            (false, false) => None,
        };
        News { view, notice }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::samples::Samples;
    use std::time::{Duration, Instant};

    /// Figures of a program that was started later are compared with nothing, and a configuration that took another's place is noticed.
    #[test]
    fn another_program_or_configuration_is_noticed() {
        let (mut watch, at) = (Watch::default(), Instant::now());
        let mut read = |second: u64, start: f64, swaps: u32, packets: u32| {
            let text = format!(
                "process_start_time_seconds {start}\nclique_hot_swaps_total{{outcome=\"done\"}} {swaps}\n\
                 clique_element_packets_total{{element=\"c\",class=\"Counter\"}} {packets}\n"
            );
            let samples = Samples::parse(&text);
            let reading = Reading {
                at: at + Duration::from_secs(second),
                samples,
                flows: Vec::new(),
                associations: Vec::new(),
            };
            let news = watch.take(reading);
            (news.view.elements[0].packets_rate, news.notice)
        };
        assert_eq!(read(0, 100.0, 0, 10), (None, None));
        assert_eq!(read(2, 100.0, 0, 30), (Some(10.0), None));
        assert_eq!(read(3, 100.01, 1, 5), (None, Some("the configuration was replaced")));
        assert_eq!(read(4, 100.0, 1, 7), (Some(2.0), None));
        assert_eq!(read(5, 200.0, 0, 90), (None, Some("the router was started anew")));
        assert_eq!(read(6, 200.0, 0, 91), (Some(1.0), None));
    }
}
