//! Sets the source address of packets that ask for it.
//!
//! ```click
//! FixIPSrc(IPADDR)
//! ```
//!
//! A packet whose fix-IP-source annotation is set (ICMPError sets it on errors that the router itself sends) gets IPADDR as
//! its source address; its checksum is corrected and the annotation cleared. Other packets pass unchanged.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `IPADDR` (address): the source address.
//!
//! # Example
//! ```click
//! InfiniteSource -> MarkIPHeader -> FixIPSrc(1.0.0.1) -> Discard
//! ```
//!
//! # See also
//! ICMPError

use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::net::Ipv4Addr;
use wire::ipv4;

/// The class.
pub(crate) const CLASS: Class = Class::new("FixIPSrc", create).doc(include_str!("fix_ip_src.rs"));

struct FixIpSrc(Ipv4Addr);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut address = Ipv4Addr::UNSPECIFIED;
    config.args().required("IPADDR", &mut address).finish()?;
    Ok(Box::new(PerPacket(FixIpSrc(address))))
}

impl FixIpSrc {
    #[cold]
    fn fix(&self, packet: &mut Packet) {
        packet.set_anno(Anno::FIX_IP_SRC, 0);
        if let Some(mut header) =
            packet.network_mut().and_then(|bytes| ipv4::Header::new_checked_mut(bytes).ok())
        {
            header.set_src(self.0);
        }
        if let Some(bytes) = packet.network_mut() {
            // A header that is too short for its own length field keeps its checksum: it cannot be sent anyway.
            let _ = ipv4::fill_checksum(bytes);
        }
    }
}

impl Simple for FixIpSrc {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if packet.anno(Anno::FIX_IP_SRC) != 0 {
            self.fix(packet);
        }
        Verdict::Pass
    }
}
