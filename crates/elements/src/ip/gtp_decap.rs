//! Decapsulates packets from GTP.
//!
//! ```click
//! GTPDecap
//! ```
//!
//! Removes the GTP header (GPRS tunnelling protocol) from the front of packets, including its four optional bytes if
//! its flags say that they are present. Sets the aggregate annotation to the tunnel endpoint identifier. Packets
//! shorter than the header are dropped. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> Strip(42) -> GTPDecap -> MarkIPHeader -> IPPrint -> Discard
//! ```
//!
//! # See also
//! GTPEncap, Strip

use super::gtp_encap::HEADER_LEN;
use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("GTPDecap", create).doc(include_str!("gtp_decap.rs"));

/// Why packets are dropped that have none.
pub(super) const NO_HEADER: &str = "no GTP header";
/// An extension header, a sequence number, an N-PDU number: if there is one, there is room for all.
const OPTIONS: u8 = 7;
/// The room for them.
const OPTIONS_LEN: usize = 4;

/// How long a header is that begins so.
pub(super) fn header_len(flags: u8) -> usize {
    HEADER_LEN + if flags & OPTIONS == 0 { 0 } else { OPTIONS_LEN }
}

struct GtpDecap;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(GtpDecap)))
}

impl Simple for GtpDecap {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(&[flags, _, _, _, teid @ ..]) = packet.data().first_chunk::<HEADER_LEN>() else {
            return Verdict::Drop(NO_HEADER);
        };
        packet.set_anno(Anno::AGGREGATE, u32::from_be_bytes(teid).into());
        if packet.pull(header_len(flags)) { Verdict::Pass } else { Verdict::Drop(NO_HEADER) }
    }
}
