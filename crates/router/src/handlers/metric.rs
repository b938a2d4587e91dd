//! Metrics: elements say what the numbers of their handlers mean, so that programs that show numbers need not know elements.
//!
//! An element declares what it measures beside itself: `static ROUTES: Metric = Metric::gauge("clique_routes", "...")`. What elements
//! of several families measure is here.

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

/// Something that is counted or measured, in the words of Prometheus. A wrong name in a `static` does not compile.
#[derive(Debug)]
pub struct Metric {
    /// Its name: of lower-case letters, digits and `_`.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// A sentence that says what is counted.
    pub help: &'static str,
}

impl Metric {
    /// A number that only grows. The name ends with the unit and `_total`.
    pub const fn counter(name: &'static str, help: &'static str) -> Metric {
        assert!(ends_with(name, "_total"), "the name of a counter ends with _total");
        Metric::new(name, Kind::Counter, help)
    }

    /// A number that goes up and down. The name ends with the unit.
    pub const fn gauge(name: &'static str, help: &'static str) -> Metric {
        assert!(!ends_with(name, "_total") && !ends_with(name, "_info"), "a gauge has no such ending");
        Metric::new(name, Kind::Gauge, help)
    }

    /// A text, under a label. The name ends with `_info`.
    pub const fn text(name: &'static str, label: &'static str, help: &'static str) -> Metric {
        assert!(ends_with(name, "_info"), "the name of a text ends with _info");
        Metric::new(name, Kind::Text(label), help)
    }

    const fn new(name: &'static str, kind: Kind, help: &'static str) -> Metric {
        let mut at = 0;
        while at < name.len() {
            let byte = name.as_bytes()[at];
            assert!(
                matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'),
                "a letter that Prometheus does not take"
            );
            at += 1;
        }
        assert!(ends_with(help, "."), "the help is a sentence");
        Metric { name, kind, help }
    }
}

const fn ends_with(text: &str, end: &str) -> bool {
    match text.as_bytes().split_at_checked(text.len().saturating_sub(end.len())) {
        Some((_, tail)) => is_same(tail, end.as_bytes()),
        None => false,
    }
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// Packets that an element has counted.
pub static PACKETS: Metric =
    Metric::counter("clique_element_packets_total", "Packets that the element has counted.");
/// Bytes of these packets.
pub static BYTES: Metric =
    Metric::counter("clique_element_bytes_total", "Bytes of the packets that the element has counted.");
/// An interface.
pub static DEVICE: Metric =
    Metric::text("clique_device_info", "device", "The interface that an element receives from or sends to.");
/// Packets from an interface.
pub static RECEIVED: Metric =
    Metric::counter("clique_device_received_packets_total", "Packets that the element has received.");
/// Packets to an interface.
pub static SENT: Metric =
    Metric::counter("clique_device_sent_packets_total", "Packets that the element has sent.");
/// Flows in a table.
pub static FLOWS: Metric = Metric::gauge("clique_flow_entries", "Flows that the element keeps.");
/// Room for flows in a table.
pub static FLOW_CAPACITY: Metric =
    Metric::gauge("clique_flow_capacity", "Flows that the element has room for.");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_told_apart() {
        let ends = |text| (ends_with(text, "_total"), ends_with(text, "_info"));
        assert_eq!(
            [ends("a_total"), ends("_total"), ends("total"), ends("a_info"), ends("")],
            [(true, false), (true, false), (false, false), (false, true), (false, false)]
        );
    }

    #[test]
    #[should_panic(expected = "ends with _total")]
    fn a_counter_without_total_is_refused() {
        Metric::counter("clique_packets", "Packets.");
    }

    #[test]
    #[should_panic(expected = "Prometheus")]
    fn a_name_with_a_hyphen_is_refused() {
        Metric::gauge("clique-packets", "Packets.");
    }
}
