//! The largest flows, as elements that export flows tell them.

use super::samples::Samples;
use control::Client;
use serde::{Deserialize, Serialize};

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
    /// Round trips between here and the server, and between here and the client, in microseconds; those that are known.
    pub(super) rtt_server_us: Option<f64>,
    pub(super) rtt_client_us: Option<f64>,
    /// Segments of each direction that were sent again, if that is known.
    pub(super) retransmitted: Option<[f64; 2]>,
}

/// What an element tells of a flow.
#[derive(Deserialize)]
struct Told {
    octets: f64,
    protocol: String,
    source: String,
    sport: u16,
    destination: String,
    dport: u16,
    rtt_server_us: Option<f64>,
    rtt_client_us: Option<f64>,
    retransmitted: Option<[f64; 2]>,
}

impl Flow {
    fn is(&self, other: &Flow) -> bool {
        (&self.element, &self.protocol, self.ends()) == (&other.element, &other.protocol, other.ends())
    }

    fn ends(&self) -> [(&str, u16); 2] {
        [(&self.source, self.sport), (&self.destination, self.dport)]
    }

    /// Reads a line with an object.
    fn parse(element: &str, line: &str) -> Option<Flow> {
        let told: Told = serde_json::from_str(line).ok()?;
        Some(Flow {
            element: element.to_owned(),
            protocol: told.protocol,
            source: told.source,
            sport: told.sport,
            destination: told.destination,
            dport: told.dport,
            octets: told.octets,
            octets_rate: None,
            rtt_server_us: told.rtt_server_us,
            rtt_client_us: told.rtt_client_us,
            retransmitted: told.retransmitted,
        })
    }

    /// Adds what another worker knows of the flow.
    fn add(&mut self, other: Flow) {
        self.octets += other.octets;
        self.rtt_server_us = self.rtt_server_us.or(other.rtt_server_us);
        self.rtt_client_us = self.rtt_client_us.or(other.rtt_client_us);
        let sum = |[a, b]: [f64; 2]| other.retransmitted.map_or([a, b], |[c, d]| [a + c, b + d]);
        self.retransmitted = self.retransmitted.map(sum).or(other.retransmitted);
    }
}

/// The flows that an element's lines tell, each once, the largest first.
fn read(element: &str, text: &str) -> Vec<Flow> {
    let mut flows: Vec<Flow> = Vec::new();
    for flow in text.lines().filter_map(|line| Flow::parse(element, line)) {
        match flows.iter_mut().find(|known| known.is(&flow)) {
            Some(known) => known.add(flow),
            None => flows.push(flow),
        }
    }
    flows.sort_by(|a, b| b.octets.total_cmp(&a.octets));
    flows
}

/// The largest flows of all elements that tell some.
pub(super) fn ask(client: &mut Client, samples: &Samples) -> Vec<Flow> {
    let mut flows = Vec::new();
    for exporter in samples.named(EXPORTERS) {
        let element = exporter.label("element");
        // An element that has gone meanwhile, or cannot tell, has none.
        let Ok(text) = crate::reply::data(client.read(&format!("{element}.talkers_json"), ASKED)) else {
            continue;
        };
        flows.extend(read(element, &text));
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

    fn line(octets: u32, port: u16, more: &str) -> String {
        format!(
            r#"{{"octets":{octets},"protocol":"tcp","source":"10.0.0.1","sport":{port},"destination":"2001:db8::1","dport":53{more}}}"#
        )
    }

    #[test]
    fn flows_have_rates_until_they_are_exported() {
        let read = |octets, port| Flow::parse("fx", &line(octets, port, "")).unwrap();
        let before = [read(1000, 1), read(5000, 2)];
        let now = with_rates(vec![read(3000, 1), read(10, 2), read(7, 3)], Some(&before), 2.0);
        assert_eq!(now.iter().map(|flow| flow.octets_rate).collect::<Vec<_>>(), [Some(1000.0), None, None]);
        assert_eq!(now[0].ends(), [("10.0.0.1", 1), ("2001:db8::1", 53)]);
        assert_eq!(with_rates(vec![read(3000, 1)], None, 0.0)[0].octets_rate, None);
        assert!(["", "x", "{}"].iter().all(|line| Flow::parse("fx", line).is_none()));
    }

    /// What several workers know of a flow is one row; of its handshake one of them knows.
    #[test]
    fn workers_are_added_up() {
        let some = |rtt: &str, again: &str| {
            format!(r#","rtt_server_us":{rtt},"rtt_client_us":null,"retransmitted":{again}"#)
        };
        let text =
            [line(10, 1, &some("null", "[1,2]")), line(25, 2, ""), line(20, 1, &some("1500", "[0,3]"))];
        let flows = read("fx", &text.join("\n"));
        let octets: Vec<_> = flows.iter().map(|flow| (flow.sport, flow.octets)).collect();
        assert_eq!(octets, [(1, 30.0), (2, 25.0)]);
        assert_eq!((flows[0].rtt_server_us, flows[0].rtt_client_us), (Some(1500.0), None));
        assert_eq!((flows[0].retransmitted, flows[1].retransmitted), (Some([1.0, 5.0]), None));
    }
}
