//! Metrics: elements say what the numbers of their handlers mean, so that programs that show numbers need not know elements.

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It only grows, unless it begins anew.
    Counter,
    /// It goes up and down.
    Gauge,
    /// Not a number but a text that belongs to the element, under this label.
    Text(&'static str),
}

/// Something that is counted or measured, in the words of Prometheus: the name ends with the unit, and that of a counter with
/// `_total`.
#[derive(Debug)]
pub struct Metric {
    /// Its name: of lower-case letters, digits and `_`.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// A sentence that says what is counted.
    pub help: &'static str,
}

macro_rules! metrics {
    ($($constant:ident = $kind:expr, $name:literal, $help:literal;)*) => {
        $(
            #[doc = $help]
            pub static $constant: Metric = Metric { name: $name, kind: $kind, help: $help };
        )*
        /// All that are declared here.
        #[cfg(test)]
        const ALL: &[&Metric] = &[$(&$constant),*];
    };
}

use Kind::{Counter, Gauge};

// Who has something else to tell of declares a metric of its own.
metrics! {
    PACKETS = Counter, "clique_element_packets_total", "Packets that the element has counted.";
    BYTES = Counter, "clique_element_bytes_total", "Bytes of the packets that the element has counted.";
    DEVICE = Kind::Text("device"), "clique_device_info", "The interface that an element receives from or sends to.";
    RECEIVED = Counter, "clique_device_received_packets_total", "Packets that the element has received.";
    MISSED = Counter, "clique_device_missed_packets_total",
        "Packets that an interface dropped because the element did not take them in time.";
    SENT = Counter, "clique_device_sent_packets_total", "Packets that the element has sent.";
    QUEUE_PACKETS = Gauge, "clique_queue_packets", "Packets that wait in the queue.";
    QUEUE_CAPACITY = Gauge, "clique_queue_capacity_packets", "Packets that have room in the queue.";
    QUEUE_HIGHWATER = Gauge, "clique_queue_highwater_packets", "Packets that waited in the queue at a time, at most.";
    QUEUE_DROPS = Counter, "clique_queue_dropped_packets_total", "Packets that had no room in the queue.";
    ROUTES = Gauge, "clique_route_table_routes", "Routes in the table.";
    ROUTES_LEARNED = Gauge, "clique_route_source_routes", "Routes that the element has been told of.";
    ROUTE_CACHE_HITS = Counter, "clique_route_cache_hits_total", "Look-ups that the cache of routes answered.";
    ROUTE_CACHE_MISSES = Counter, "clique_route_cache_misses_total", "Look-ups that the cache of routes did not answer.";
    NEIGHBOURS = Gauge, "clique_neighbour_entries", "Neighbours in the table.";
    NEIGHBOUR_WAITING = Gauge, "clique_neighbour_waiting_packets", "Packets that wait for a neighbour's address.";
    NEIGHBOUR_QUERIES = Counter, "clique_neighbour_queries_total", "Questions for neighbours' addresses that were sent.";
    NEIGHBOUR_RESPONSES = Counter, "clique_neighbour_responses_total", "Answers of neighbours that were received.";
    FLOWS = Gauge, "clique_flow_entries", "Flows that the element keeps.";
    FLOW_CAPACITY = Gauge, "clique_flow_capacity", "Flows that the element has room for.";
    FLOW_FAILURES = Counter, "clique_flow_failures_total", "Flows that could not be made.";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names are such as Prometheus wants them, and no two are alike.
    #[test]
    fn names() {
        for (number, metric) in ALL.iter().enumerate() {
            let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(metric.name.starts_with("clique_") && metric.name.chars().all(fine), "{}", metric.name);
            assert_eq!(metric.name.ends_with("_total"), metric.kind == Kind::Counter, "{}", metric.name);
            assert_eq!(
                metric.name.ends_with("_info"),
                matches!(metric.kind, Kind::Text(_)),
                "{}",
                metric.name
            );
            assert!(ALL[..number].iter().all(|other| other.name != metric.name), "{} twice", metric.name);
            assert!(metric.help.ends_with('.'), "{}", metric.help);
        }
    }
}
