//! Computes the IP header checksum.
//!
//! ```click
//! SetIPChecksum()
//! ```
//!
//! Expects packets with a marked IP header. Packets whose header is cut short or says it is are dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Handlers
//! - `drops` (read): packets dropped.
//!
//! # Example
//! ```click
//! InfiniteSource -> MarkIPHeader -> SetIPChecksum -> Discard
//! ```
//!
//! # See also
//! CheckIPHeader

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};
use wire::ipv4;

/// The class.
pub(crate) const CLASS: Class = Class::new("SetIPChecksum", create).doc(include_str!("set_ip_checksum.rs"));

struct SetIpChecksum(u64);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(SetIpChecksum(0))))
}

impl Simple for SetIpChecksum {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match packet.network_mut().map(ipv4::fill_checksum) {
            Some(Ok(())) => Verdict::Pass,
            _ => {
                if self.0 == 0 {
                    cx.log("SetIPChecksum: bad input packet");
                }
                self.0 += 1;
                Verdict::Drop("bad IP header")
            }
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("drops", |e: &mut SetIpChecksum, _| e.0).merged(Merge::Sum);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    #[test]
    fn sets_a_checksum_that_checks() {
        let data = "4500001c 00000000 40110000 0a000001 0a000102 0001000200080000";
        let config = format!(
            "InfiniteSource(DATA \\<{data}>, LIMIT 1, STOP true) -> MarkIPHeader -> SetIPChecksum -> c :: CheckIPHeader
             -> d :: Discard; InfiniteSource(DATA \\<43>, LIMIT 1) -> MarkIPHeader -> s :: SetIPChecksum -> Discard"
        );
        assert_eq!(run_and_read(&config, &["d.count", "s.drops"])[0], "1");
    }
}
