//! Sets the ECN "congestion experienced" mark.
//!
//! ```click
//! MarkIPCE([FORCE])
//! ```
//!
//! Sets the congestion experienced code point of packets with a marked IP header, and updates the checksum. Packets
//! that are not ECN-capable are dropped instead, since their senders take loss as the sign of congestion.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `FORCE` (boolean, default false): whether to mark all packets.
//!
//! # Handlers
//! - `drops` (read): packets dropped. (In Click it stays 0.)
//!
//! # Example
//! ```click
//! r :: RED(5, 50, 0.02); r[1] -> MarkIPCE -> ...
//! ```
//!
//! # See also
//! SetIPECN, RED

use elements_shared::ip_header::{NO_HEADER, header_mut};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("MarkIPCE", create).doc(router::manual!("mark_ip_ce.rs"));

/// Both bits: congestion experienced.
const CE: u8 = 3;

struct MarkIpCe {
    force: bool,
    drops: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = MarkIpCe { force: false, drops: 0 };
    config.args().positional("FORCE", &mut e.force).finish()?;
    Ok(Box::new(PerPacket(e)))
}

impl Simple for MarkIpCe {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(mut ip) = header_mut(packet) else { return Verdict::Drop(NO_HEADER) };
        if ip.ecn() == 0 && !self.force {
            self.drops += 1;
            return Verdict::Drop("congestion, and the sender knows no mark");
        }
        if ip.ecn() != CE {
            let tos = ip.tos() | CE;
            ip.update_tos(tos);
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("drops", |e: &mut MarkIpCe, _| e.drops).merged(Merge::Sum);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use elements_testing::samples::{edited, udp};

    #[test]
    fn by_what_the_sender_knows() {
        let sent = [0x10, 0x11, 0x12, 0x13].map(|tos| edited(udp(3), |ip| ip.set_tos(tos)));
        let marked = edited(udp(3), |ip| ip.set_tos(0x13));
        let mut flow = send("Inject -> MarkIPHeader -> m :: MarkIPCE -> Collect(0)", sent.clone());
        assert_eq!((flow.data(0), flow.read("m.drops")), (vec![marked.clone(); 3], "1".into()));
        let flow = send("Inject -> MarkIPHeader -> MarkIPCE(true) -> Collect(0)", sent);
        assert_eq!(flow.data(0), vec![marked; 4]);
    }
}
