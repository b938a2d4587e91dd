//! Prepends UDP and IP headers with increasing port numbers.
//!
//! ```click
//! DynamicUDPIPEncap(SRC, SPORT, DST, DPORT [, CHECKSUM, INTERVAL])
//! ```
//!
//! Does what UDPIPEncap does, but both ports grow by 1 each time INTERVAL packets have passed.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `SRC` (address): the source.
//! - `SPORT` (port): the first source port.
//! - `DST` (address or `DST_ANNO`): the destination; `DST_ANNO` takes it from the destination address annotation.
//! - `DPORT` (port): the first destination port.
//! - `CHECKSUM` (boolean, default true): whether to compute the UDP checksum.
//! - `INTERVAL` (integer, default 0): packets between two increments; 0 means that the ports stay the same.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! RatedSource -> DynamicUDPIPEncap(1.0.0.1, 1234, 2.0.0.2, 1234, true, 10) -> Discard
//! ```
//!
//! # See also
//! UDPIPEncap, RoundRobinUDPIPEncap, FastUDPSource

use super::udp_ip_encap::{UdpIp, read};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Residency, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("DynamicUDPIPEncap", create)
    .residency(Residency::Exclusive)
    .doc(router::manual!("dynamic_udp_ip_encap.rs"));

struct DynamicUdpIpEncap {
    headers: UdpIp,
    interval: u32,
    /// Packets since the last step.
    count: u32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut interval = 0;
    let headers = read(config, Some(&mut interval))?;
    Ok(Box::new(PerPacket(DynamicUdpIpEncap { headers, interval, count: 0 })))
}

impl Simple for DynamicUdpIpEncap {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let verdict = self.headers.wrap(packet);
        self.count = self.count.wrapping_add(1);
        if self.count == self.interval {
            self.headers.set_ports(self.headers.ports().map(|port| port.wrapping_add(1)));
            self.count = 0;
        }
        verdict
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;

    #[test]
    fn ports_go_up() {
        let ports = |arguments: &str| -> Vec<[u8; 4]> {
            let config = format!(
                "Inject -> DynamicUDPIPEncap({arguments}) -> CheckIPHeader -> CheckUDPHeader -> Collect(0)"
            );
            let flow = send(&config, vec![vec![7]; 5]);
            flow.data(0).iter().map(|data| [data[20], data[21], data[22], data[23]]).collect()
        };
        let steps = [[0, 255, 255, 255], [0, 255, 255, 255], [1, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 1]];
        assert_eq!(ports("1.2.3.4, 255, 5.6.7.8, 65535, true, 2"), steps);
        assert_eq!(ports("1.2.3.4, 255, 5.6.7.8, 65535"), [[0, 255, 255, 255]; 5]);
    }
}
