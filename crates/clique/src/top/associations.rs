//! The IPsec associations that carry most, as elements tell them.

use super::samples::Samples;
use control::Client;
use serde::Serialize;

/// The metric that elements have which protect packets.
const GATEWAYS: &str = "clique_ipsec_associations";
/// Associations that are asked for, of each element.
const ASKED: &str = "50";

/// An association, one way.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Association {
    pub(super) element: String,
    pub(super) source: String,
    pub(super) destination: String,
    pub(super) spi: String,
    pub(super) algorithm: String,
    pub(super) packets: f64,
    pub(super) octets: f64,
    pub(super) packets_rate: Option<f64>,
    pub(super) octets_rate: Option<f64>,
    /// Whether its lifetime is over.
    pub(super) expired: bool,
}

impl Association {
    fn is(&self, other: &Association) -> bool {
        (&self.element, &self.destination, &self.spi) == (&other.element, &other.destination, &other.spi)
    }

    /// Reads a line of the handler `associations`.
    fn parse(element: &str, line: &str) -> Option<Association> {
        let words: Vec<&str> = line.split(' ').collect();
        let &[source, destination, spi, algorithm, ..] = words.as_slice() else { return None };
        let after = |name| words.iter().skip_while(|word| **word != name).nth(1)?.parse().ok();
        Some(Association {
            element: element.to_owned(),
            source: source.to_owned(),
            destination: destination.to_owned(),
            spi: spi.to_owned(),
            algorithm: algorithm.to_owned(),
            packets: after("packets")?,
            octets: after("bytes")?,
            packets_rate: None,
            octets_rate: None,
            expired: words.last() == Some(&"expired"),
        })
    }
}

/// Those of all elements that carry most.
pub(super) fn ask(client: &mut Client, samples: &Samples) -> Vec<Association> {
    let mut associations = Vec::new();
    for gateway in samples.named(GATEWAYS).filter(|gateway| gateway.value() > 0.0) {
        let element = gateway.label("element");
        // An element that has gone meanwhile has none.
        let Ok(text) = crate::reply::data(client.read(&format!("{element}.associations"), ASKED)) else {
            continue;
        };
        associations.extend(text.lines().filter_map(|line| Association::parse(element, line)));
    }
    associations
}

/// With what they do in a second since a reading so many seconds before. A new one has no rate.
pub(super) fn with_rates(
    mut associations: Vec<Association>,
    before: Option<&[Association]>,
    seconds: f64,
) -> Vec<Association> {
    let rate = |now: f64, then: f64| (now >= then && seconds > 0.0).then(|| (now - then) / seconds);
    for association in &mut associations {
        if let Some(old) = before.and_then(|all| all.iter().find(|old| old.is(association))) {
            association.packets_rate = rate(association.packets, old.packets);
            association.octets_rate = rate(association.octets, old.octets);
        }
    }
    associations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn associations_have_rates() {
        let read = |packets: u32, more: &str| {
            let line = format!(
                "192.0.2.1 2001:db8::1 0x00001001 aes-gcm tunnel reqid 7 esn udp 4500 4500 packets {packets} bytes 900 \
                 sent 5 received 0{more}"
            );
            Association::parse("gate", &line).unwrap()
        };
        let now = with_rates(vec![read(30, " mtu 1400 expired")], Some(&[read(10, "")]), 2.0);
        assert_eq!((now[0].packets_rate, now[0].octets_rate), (Some(10.0), Some(0.0)));
        assert!(now[0].expired && !read(1, " mtu 1400").expired);
        assert_eq!((now[0].destination.as_str(), now[0].spi.as_str()), ("2001:db8::1", "0x00001001"));
        // After a restart counts begin anew, and there may be no reading before.
        assert_eq!(with_rates(vec![read(1, "")], Some(&[read(10, "")]), 2.0)[0].packets_rate, None);
        assert_eq!(with_rates(vec![read(1, "")], None, 0.0)[0].packets_rate, None);
        assert!(
            ["", "a b c d", "a b c d packets x bytes 1"].iter().all(|l| Association::parse("g", l).is_none())
        );
    }
}
