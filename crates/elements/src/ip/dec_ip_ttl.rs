//! Decrements the time to live.
//!
//! ```click
//! DecIPTTL([KEYWORDS])
//! ```
//!
//! Expects packets with a marked IP header. Decrements the TTL and corrects the checksum incrementally (RFC 1624). Packets
//! whose TTL is 0 or 1 leave unchanged at output 1 if it is in use, for ICMPError, and are dropped otherwise.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated.
//!
//! # Arguments
//! - `ACTIVE` (boolean, default true): whether anything is done at all.
//! - `MULTICAST` (boolean, default true): whether packets to multicast addresses are treated.
//!
//! # Handlers
//! - `drops` (read): packets whose time was up.
//! - `active` (read, write): the argument.
//!
//! # Example
//! ```click
//! InfiniteSource -> Strip(14) -> CheckIPHeader -> dt :: DecIPTTL -> Discard; dt[1] -> Discard
//! ```
//!
//! # See also
//! ICMPError, CheckIPHeader, DecIP6HLIM

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};
use wire::ipv4;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("DecIPTTL", create).ports("1/1-2").processing("a/ah").doc(include_str!("dec_ip_ttl.rs"));

struct DecIpTtl {
    active: bool,
    multicast: bool,
    outputs: usize,
    drops: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = DecIpTtl { active: true, multicast: true, outputs: config.outputs(), drops: 0 };
    config.args().keyword("ACTIVE", &mut e.active).keyword("MULTICAST", &mut e.multicast).finish()?;
    Ok(Box::new(PerPacket(e)))
}

impl Simple for DecIpTtl {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if !self.active {
            return Verdict::Pass;
        }
        let header = packet.network_mut().and_then(|bytes| ipv4::Header::new_checked_mut(bytes).ok());
        let Some(mut header) = header else { return Verdict::Drop("no IP header") };
        if !self.multicast && header.dst().is_multicast() {
            return Verdict::Pass;
        }
        if header.ttl() <= 1 {
            self.drops += 1;
            return super::fail(self.outputs, "time to live expired");
        }
        header.decrement_ttl();
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("drops", |e: &mut DecIpTtl, _| e.drops).merged(Merge::Sum);
        h.read("active", |e: &mut DecIpTtl, _| e.active);
        h.write("active", |e: &mut DecIpTtl, cx, text| {
            e.active = router::value(cx, text)?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// TTL 3 passes twice with a right checksum, then comes out at output 1.
    #[test]
    fn counts_down_with_right_checksums() {
        let data = "4500001c 00000000 03110000 0a000001 0a000102 0001000200080000";
        let config = format!(
            "InfiniteSource(DATA \\<{data}>, LIMIT 2, STOP true) -> MarkIPHeader -> SetIPChecksum
             -> DecIPTTL -> a :: CheckIPHeader -> DecIPTTL -> b :: CheckIPHeader -> d :: DecIPTTL -> pass :: Discard;
             d[1] -> expired :: Discard;"
        );
        let read = run_and_read(&config, &["a.drops", "b.drops", "pass.count", "expired.count", "d.drops"]);
        assert_eq!(read, ["0", "0", "0", "2", "2"]);
    }
}
