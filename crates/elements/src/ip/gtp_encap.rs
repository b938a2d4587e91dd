//! Encapsulates packets in GTP.
//!
//! ```click
//! GTPEncap(TEID)
//! ```
//!
//! Prepends a header of the GPRS tunnelling protocol for user data (GTP-U, 3GPP TS 29.281) without options. Use other
//! elements to add UDP and IP headers. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `TEID` (integer): the tunnel endpoint identifier; 0: take it from the aggregate annotation.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 1) -> GTPEncap(5) -> UDPIPEncap(1.0.0.1, 2152, 2.0.0.2, 2152) -> Discard
//! ```
//!
//! # See also
//! GTPDecap, UDPIPEncap

use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("GTPEncap", create).doc(include_str!("gtp_encap.rs"));

/// Bytes of a header without options.
pub(super) const HEADER_LEN: usize = 8;
/// Why packets are dropped that the header's length field cannot hold.
pub(super) const TOO_LONG: &str = "too long for GTP";
/// Version 1, and GTP instead of charging data.
const FLAGS: u8 = 0x30;
/// The message is a packet of the user.
const G_PDU: u8 = 0xff;

/// A header in front of so many bytes.
pub(super) fn header(teid: u32, len: u16) -> [u8; HEADER_LEN] {
    let (teid, len) = (teid.to_be_bytes(), len.to_be_bytes());
    [FLAGS, G_PDU, len[0], len[1], teid[0], teid[1], teid[2], teid[3]]
}

struct GtpEncap {
    /// 0: the annotation says it.
    teid: u32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut teid = 0u32;
    config.args().required("TEID", &mut teid).finish()?;
    Ok(Box::new(PerPacket(GtpEncap { teid })))
}

impl GtpEncap {
    /// Why the packet is to be dropped, if it is.
    #[inline]
    fn encapsulate(&self, packet: &mut Packet) -> Result<(), &'static str> {
        let len = u16::try_from(packet.len()).map_err(|_| TOO_LONG)?;
        let teid = if self.teid == 0 { packet.anno(Anno::AGGREGATE) as u32 } else { self.teid };
        *packet.push_array().ok_or("no headroom")? = header(teid, len);
        Ok(())
    }
}

impl Simple for GtpEncap {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.encapsulate(packet).map_or_else(Verdict::Drop, |()| Verdict::Pass)
    }
}
