//! Marks where the link-layer header is.
//!
//! ```click
//! MarkMACHeader([OFFSET, ENDOFFSET])
//! ```
//!
//! Marks the link-layer header at OFFSET, without looking at it, and the network header at ENDOFFSET if that is given.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `OFFSET` (integer, default 0): where the header starts.
//! - `ENDOFFSET` (integer): where it ends. Not before OFFSET.
//!
//! # Example
//! ```click
//! Idle -> MarkMACHeader(0, 14) -> Discard;
//! ```
//!
//! # See also
//! MarkIPHeader

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("MarkMACHeader", create).doc(include_str!("mark_mac_header.rs"));

struct MarkMacHeader {
    offset: u32,
    end: Option<u32>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = MarkMacHeader { offset: 0, end: None };
    config.args().positional("OFFSET", &mut e.offset).positional("ENDOFFSET", &mut e.end).finish()?;
    if e.end.is_some_and(|end| end < e.offset) {
        return Err("ENDOFFSET must be >= OFFSET".into());
    }
    Ok(Box::new(PerPacket(e)))
}

impl Simple for MarkMacHeader {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        packet.set_mac_offset(self.offset as isize);
        if let Some(end) = self.end {
            packet.set_network(end as isize, 0);
        }
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::inject::send_one;
    use crate::testing::errors;

    #[test]
    fn marks() {
        for (arguments, network) in [("2", None), ("2, 16", Some(16))] {
            let flow = send_one(&format!("Inject -> MarkMACHeader({arguments}) -> Collect(0)"), vec![0; 20]);
            assert_eq!((flow.only(0).mac_offset(), flow.only(0).network_offset()), (Some(2), network));
        }
        assert!(errors("Idle -> MarkMACHeader(2, 1) -> Discard").contains("ENDOFFSET"));
    }
}
