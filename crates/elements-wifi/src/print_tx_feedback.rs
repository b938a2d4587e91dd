//! Prints what became of wireless frames that this host has sent.
//!
//! ```click
//! PrintTXFeedback([LABEL, OFFSET])
//! ```
//!
//! Prints a line for each packet on standard error: its timestamp, who it was for, and what its annotation says:
//! flags (2: no station acknowledged it; 4: it was sent at another rate than the first), rates and how often it was sent
//! at each.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `LABEL` (string): printed before each packet, instead of the class.
//! - `OFFSET` (integer, default 0): where the address is that the frame was for: 4 in IEEE 802.11 frames.
//!
//! # Example
//! ```click
//! FromDevice(mon0) -> RadiotapDecap -> t :: FilterTX -> Discard; t[1] -> PrintTXFeedback(sent, OFFSET 4) -> Discard;
//! ```
//!
//! # See also
//! FilterTX, RadiotapDecap, PrintWifi

use super::extra;
use elements_shared::label::write_time;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::fmt::Write as _;
use wire::MacAddr;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("PrintTXFeedback", create).doc(router::manual!("print_tx_feedback.rs"));

struct PrintTxFeedback {
    label: String,
    offset: u32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = PrintTxFeedback { label: String::new(), offset: 0 };
    config.args().positional("LABEL", &mut e.label).keyword("OFFSET", &mut e.offset).finish()?;
    Ok(Box::new(PerPacket(e)))
}

/// The address at an offset, if it is in the packet.
pub(super) fn address(packet: &Packet, offset: u32) -> Option<MacAddr> {
    packet.data().get(offset as usize..)?.first_chunk().map(|octets| MacAddr(*octets))
}

impl Simple for PrintTxFeedback {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let extra = extra::of(packet);
        let mut text = match self.label.as_str() {
            "" => "PrintTXFeedback ".to_owned(),
            label => format!("{label}: "),
        };
        write_time(&mut text, packet.timestamp_ns());
        let dst = address(packet, self.offset).unwrap_or(MacAddr::ZERO);
        // Writing to a string does not fail.
        let _ = write!(text, " {dst} flags {}", extra.flags());
        for (which, number) in ["", "1", "2", "3"].into_iter().enumerate() {
            let (rate, tries) = (extra.rate(which), extra.tries(which));
            let _ = write!(text, " rate{number} {rate} tries{number} {tries}");
        }
        cx.print(&text);
        Verdict::Pass
    }
}
