//! The largest flows, as elements that export flows tell them.

use super::samples::Samples;
use control::Client;
use serde::Serialize;

/// The metric that elements have which know their largest flows.
const EXPORTERS: &str = "clique_flow_records_exported_total";
/// Flows that are asked for, of each element and worker.
const ASKED: &str = "20";

/// A flow, both directions together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Flow {
    pub(super) element: String,
    pub(super) protocol: String,
    pub(super) source: String,
    pub(super) sport: u16,
    pub(super) destination: String,
    pub(super) dport: u16,
    /// Octets since the flow was exported last.
    pub(super) octets: f64,
    pub(super) octets_rate: Option<f64>,
}

impl Flow {
    fn is(&self, other: &Flow) -> bool {
        (&self.element, &self.protocol, self.ends()) == (&other.element, &other.protocol, other.ends())
    }

    fn ends(&self) -> [(&str, u16); 2] {
        [(&self.source, self.sport), (&self.destination, self.dport)]
    }

    /// Reads a line: octets, a tab, protocol, source, port, destination, port.
    fn parse(element: &str, line: &str) -> Option<Flow> {
        let (octets, flow) = line.split_once('\t')?;
        let [protocol, source, sport, destination, dport] =
            flow.split(' ').collect::<Vec<_>>().try_into().ok()?;
        Some(Flow {
            element: element.to_owned(),
            protocol: protocol.to_owned(),
            source: source.to_owned(),
            sport: sport.parse().ok()?,
            destination: destination.to_owned(),
            dport: dport.parse().ok()?,
            octets: octets.parse().ok()?,
            octets_rate: None,
        })
    }
}

/// The largest flows of all elements that tell some.
pub(super) fn ask(client: &mut Client, samples: &Samples) -> Vec<Flow> {
    let mut flows = Vec::new();
    for exporter in samples.named(EXPORTERS) {
        let element = exporter.label("element");
        // An element that has gone meanwhile, or cannot tell, has none.
        let Ok(text) = crate::reply::data(client.read(&format!("{element}.talkers"), ASKED)) else {
            continue;
        };
        flows.extend(text.lines().filter_map(|line| Flow::parse(element, line)));
    }
    flows
}

/// With the octets a second since a reading so many seconds before. A flow that was exported between has none.
pub(super) fn with_rates(mut flows: Vec<Flow>, before: Option<&[Flow]>, seconds: f64) -> Vec<Flow> {
    for flow in &mut flows {
        let old = before.and_then(|all| all.iter().find(|old| old.is(flow)));
        let more = old.map(|old| flow.octets - old.octets).filter(|more| *more >= 0.0 && seconds > 0.0);
        flow.octets_rate = more.map(|more| more / seconds);
    }
    flows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_have_rates_until_they_are_exported() {
        let read = |octets: u32, port: u16| {
            Flow::parse("fx", &format!("{octets}\tudp 10.0.0.1 {port} 2001:db8::1 53")).unwrap()
        };
        let before = [read(1000, 1), read(5000, 2)];
        let now = with_rates(vec![read(3000, 1), read(10, 2), read(7, 3)], Some(&before), 2.0);
        assert_eq!(now.iter().map(|flow| flow.octets_rate).collect::<Vec<_>>(), [Some(1000.0), None, None]);
        assert_eq!(now[0].ends(), [("10.0.0.1", 1), ("2001:db8::1", 53)]);
        assert_eq!(with_rates(vec![read(3000, 1)], None, 0.0)[0].octets_rate, None);
        assert!(["", "x\tudp a 1 b 2", "1\tudp a b"].iter().all(|line| Flow::parse("fx", line).is_none()));
    }
}
