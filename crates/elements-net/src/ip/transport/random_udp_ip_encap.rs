//! Prepends UDP and IP headers, chosen at random from several.
//!
//! ```click
//! RandomUDPIPEncap(SRC SPORT DST DPORT PROB [CHECKSUM], ...)
//! ```
//!
//! Each packet gets the headers of one argument, chosen at random. Headers are like those of UDPIPEncap; each
//! argument has its own identification counter.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! Each argument is a source address and port, a destination address and port, a weight (a whole number), and whether
//! to compute the UDP checksum (default true).
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! RatedSource -> RandomUDPIPEncap(1.0.0.1 1234 2.0.0.2 1234 1, 1.0.0.2 1093 2.0.0.2 1234 2) -> Discard
//! ```
//!
//! # See also
//! UDPIPEncap, RoundRobinUDPIPEncap

use super::round_robin_udp_ip_encap::read;
use super::udp_ip_encap::UdpIp;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("RandomUDPIPEncap", create).doc(router::manual!("random_udp_ip_encap.rs"));

struct RandomUdpIpEncap {
    /// Headers, and the sums of the weights up to and with theirs.
    headers: Vec<(UdpIp, u64)>,
    total: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut total = 0;
    let add = |(headers, weight)| {
        total += u64::from(weight);
        (headers, total)
    };
    let headers = read(config, true)?.into_iter().map(add).collect();
    if total == 0 {
        return Err("no argument has a probability".into());
    }
    Ok(Box::new(PerPacket(RandomUdpIpEncap { headers, total })))
}

impl Simple for RandomUdpIpEncap {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let drawn = cx.rng().u64(..self.total);
        match self.headers.iter_mut().find(|(_, sum)| drawn < *sum) {
            Some((headers, _)) => headers.wrap(packet),
            None => Verdict::Pass, // the last sum is the total, so there is one
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};

    /// Three of four packets are from the second address, none from the third.
    #[test]
    fn in_proportion() {
        let config = "InfiniteSource(LIMIT 4000, STOP true) -> RandomUDPIPEncap(1.0.0.1 1 2.0.0.2 2 1, 1.0.0.2 1 2.0.0.2 2 3,
            1.0.0.3 1 2.0.0.2 2 0 false) -> c :: IPClassifier(src host 1.0.0.1, src host 1.0.0.2, -);
            c[0] -> one :: Counter -> Discard; c[1] -> two :: Counter -> Discard; c[2] -> rest :: Counter -> Discard";
        let counts = run_and_read(config, &["one.count", "two.count", "rest.count"]);
        let one: u32 = counts[0].parse().unwrap_or(0);
        assert!((850..1150).contains(&one) && counts[2] == "0", "{counts:?}");
    }

    #[test]
    fn arguments_are_checked() {
        let text = errors("Idle -> RandomUDPIPEncap(1.0.0.1 5 2.0.0.1 6) -> Discard");
        assert!(text.contains("argument 0 should be 'SADDR SPORT DADDR DPORT PROB [CHECKSUM]'"), "{text}");
        assert!(
            errors("Idle -> RandomUDPIPEncap(1.0.0.1 5 2.0.0.1 6 0) -> Discard")
                .contains("no argument has a probability")
        );
    }
}
