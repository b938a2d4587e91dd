//! Marks the position of the link-layer header.
//!
//! ```click
//! MarkMACHeader([OFFSET, LENGTH])
//! ```
//!
//! Marks the link-layer header at OFFSET, without checking it and, if LENGTH is given, the network header LENGTH
//! bytes after that, or behind the VLAN tags that are there, and if that is a whole IP header, what follows it.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `OFFSET` (integer, default 0): where the header starts.
//! - `LENGTH` (integer, default 0): the length of the header. 0 leaves the network header mark as it is.
//!
//! # Example
//! ```click
//! Idle -> MarkMACHeader(0, 14) -> Discard;
//! ```
//!
//! # See also
//! MarkIPHeader

use elements_shared::ether_header::mark_behind;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("MarkMACHeader", create).pure().live().doc(router::manual!("mark_mac_header.rs"));

struct MarkMacHeader {
    offset: u32,
    /// Where the network header is.
    end: Option<usize>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut offset, mut length) = (0u32, 0u32);
    config.args().positional("OFFSET", &mut offset).positional("LENGTH", &mut length).finish()?;
    let end = (length > 0).then_some(offset as usize + length as usize);
    Ok(Box::new(PerPacket(MarkMacHeader { offset, end })))
}

impl Simple for MarkMacHeader {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        packet.set_mac_offset(self.offset as isize);
        if let Some(end) = self.end {
            mark_behind(packet, end);
        }
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send_one;

    #[test]
    fn marks_where_headers_begin() {
        for (arguments, network) in
            [("2", None), ("2, 14", Some(16)), ("2, LENGTH 1", Some(3)), ("2, 0", None)]
        {
            let flow = send_one(&format!("Inject -> MarkMACHeader({arguments}) -> Collect(0)"), vec![0; 20]);
            assert_eq!((flow.only(0).mac_offset(), flow.only(0).network_offset()), (Some(2), network));
        }
    }
}
