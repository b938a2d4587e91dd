//! Prepends UDP and IP headers, taken in turn from several.
//!
//! ```click
//! RoundRobinUDPIPEncap(SRC SPORT DST DPORT [CHECKSUM], ...)
//! ```
//!
//! The first packet gets the headers of the first argument, the next one those of the second, and so on, starting
//! again after the last. Headers are like those of UDPIPEncap; each argument has its own identification counter.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! Each argument is a source address and port, a destination address and port, and whether to compute the UDP checksum (default
//! true).
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! RatedSource -> RoundRobinUDPIPEncap(1.0.0.1 1234 2.0.0.2 1234, 1.0.0.2 1093 2.0.0.2 1234) -> Discard
//! ```
//!
//! # See also
//! UDPIPEncap, RandomUDPIPEncap

use super::super::encap::Destination;
use super::udp_ip_encap::UdpIp;
use packet::Packet;
use router::{
    Class, Config, ConfigError, Cx, Element, FromArg, IpPort, PerPacket, Residency, Simple, Verdict,
};
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class = Class::new("RoundRobinUDPIPEncap", create)
    .residency(Residency::Exclusive)
    .doc(router::manual!("round_robin_udp_ip_encap.rs"));

struct RoundRobinUdpIpEncap {
    headers: Vec<UdpIp>,
    next: usize,
}

/// Reads words: addresses and ports, a probability if `weighted`, perhaps whether there is a checksum. The headers, and the
/// probability.
fn headers(word: &str, weighted: bool, config: &Config<'_>) -> Option<(UdpIp, u32)> {
    let (mut words, scope) = (lang::conf::split_spaces(word), config.scope());
    if weighted && words.len() < 5 {
        return None;
    }
    let weight = if weighted { words.remove(4).parse().ok()? } else { 1 };
    let (src, sport, dst, dport, checksum) = match words.as_slice() {
        [src, sport, dst, dport] => (src, sport, dst, dport, true),
        [src, sport, dst, dport, checksum] => (src, sport, dst, dport, bool::from_arg(checksum, scope).ok()?),
        _ => return None,
    };
    let port = |text: &str| IpPort::from_arg(text, scope).ok();
    let destination = Destination::Address(Ipv4Addr::from_arg(dst, scope).ok()?);
    let src = Ipv4Addr::from_arg(src, scope).ok()?;
    Some((UdpIp::new(config, src, destination, [port(sport)?, port(dport)?], checksum, &[]), weight))
}

/// Reads all arguments: headers, and probabilities, which are 1 unless `weighted`.
pub(super) fn read(config: &Config<'_>, weighted: bool) -> Result<Vec<(UdpIp, u32)>, ConfigError> {
    let mut words = Vec::new();
    config.args().rest(&mut words).finish()?;
    if words.is_empty() {
        return Err("too few arguments".into());
    }
    let form = if weighted {
        "SADDR SPORT DADDR DPORT PROB [CHECKSUM]"
    } else {
        "SADDR SPORT DADDR DPORT [CHECKSUM]"
    };
    let (mut all, mut error) = (Vec::new(), ConfigError::default());
    for (at, word) in words.iter().enumerate() {
        match headers(word, weighted, config) {
            Some(found) => all.push(found),
            None => error.messages.push(format!("argument {at} should be '{form}'")),
        }
    }
    if error.messages.is_empty() { Ok(all) } else { Err(error) }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let headers = read(config, false)?.into_iter().map(|(headers, _)| headers).collect();
    Ok(Box::new(PerPacket(RoundRobinUdpIpEncap { headers, next: 0 })))
}

impl Simple for RoundRobinUdpIpEncap {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let at = self.next;
        self.next = if at + 1 < self.headers.len() { at + 1 } else { 0 };
        self.headers[at].wrap(packet)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send;

    #[test]
    fn in_turn() {
        let config =
            "Inject -> RoundRobinUDPIPEncap(1.0.0.1 5 2.0.0.1 6, 1.0.0.2 7 2.0.0.2 8 false) -> CheckIPHeader
            -> CheckUDPHeader -> Collect(0)";
        let flow = send(config, vec![vec![7]; 4]);
        let seen: Vec<_> = flow
            .data(0)
            .iter()
            .map(|data| (data[5], data[15], data[19], data[21], data[23], data[27] != 0))
            .collect();
        let (first, second) = (|id| (id, 1, 1, 5, 6, true), |id| (id, 2, 2, 7, 8, false));
        assert_eq!(seen, [first(0), second(0), first(1), second(1)]);
    }

    #[test]
    fn arguments_are_checked() {
        let text =
            errors("Idle -> RoundRobinUDPIPEncap(1.0.0.1 5 2.0.0.1 6, 1.0.0.2 70000 2.0.0.2 8) -> Discard");
        assert!(text.contains("argument 1 should be 'SADDR SPORT DADDR DPORT [CHECKSUM]'"), "{text}");
        assert!(errors("Idle -> RoundRobinUDPIPEncap() -> Discard").contains("too few arguments"));
    }
}
