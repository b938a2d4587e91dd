//! Prints IPv6 headers.
//!
//! ```click
//! IP6Print([LABEL, KEYWORDS])
//! ```
//!
//! Prints a line for each packet, which must have a marked IPv6 header: addresses, payload length, next header and hop
//! limit. A packet without a whole header is printed as `(Not an IP packet)`.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `LABEL` (string): text at the start of each line, before a colon.
//! - `CONTENTS` (boolean, default false): whether to print the packet's bytes below, in hexadecimal.
//! - `NBYTES` (integer, default 1500): the maximum number of bytes to print.
//! - `ACTIVE` (boolean, default true): whether to print anything.
//!
//! # Handlers
//! - `active` (read, write): the argument.
//!
//! # Example
//! ```click
//! Idle -> CheckIP6Header -> IP6Print(in) -> Discard;
//! ```
//!
//! # See also
//! IPPrint, Print

use super::header::header;
use packet::Packet;
use router::{
    Class, Config, ConfigError, Cx, Decision, Element, Flags, Handlers, Look, PerPacket, Simple, Verdict,
};
use std::fmt::Write;

/// The class.
pub(crate) const CLASS: Class = Class::new("IP6Print", create).doc(router::manual!("ip6_print.rs"));

/// Bytes in a line, and in a group of digits.
const LINE: usize = 24;
const GROUP: usize = 4;

struct Ip6Print {
    label: String,
    contents: bool,
    bytes: usize,
    active: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = Ip6Print { label: String::new(), contents: false, bytes: 1500, active: true };
    config
        .args()
        .positional("LABEL", &mut e.label)
        .keyword("CONTENTS", &mut e.contents)
        .keyword("NBYTES", &mut e.bytes)
        .keyword("ACTIVE", &mut e.active)
        .finish()?;
    if !e.label.is_empty() {
        e.label += ": ";
    }
    Ok(Box::new(PerPacket(e)))
}

impl Ip6Print {
    fn text(&self, packet: &Packet) -> String {
        let mut text = self.label.clone();
        // Writing to a string does not fail.
        let _ = match header(packet) {
            Some(ip) => write!(
                text,
                "{} -> {} plen {}, next {}, hlim {}",
                ip.src(),
                ip.dst(),
                ip.payload_len(),
                ip.next_header(),
                ip.hop_limit()
            ),
            None => write!(text, "(Not an IP packet)"),
        };
        if self.contents {
            text += "\n  ";
            for (i, byte) in packet.data().iter().take(self.bytes).enumerate() {
                let _ = write!(text, "{byte:02x}");
                text += match i + 1 {
                    end if end % LINE == 0 => "\n  ",
                    end if end % GROUP == 0 => " ",
                    _ => "",
                };
            }
        }
        text
    }
}

impl Simple for Ip6Print {
    fn explain(&self, _look: &Look<'_>, _packet: &mut Packet) -> Option<Decision> {
        Some(Decision::new(Verdict::Pass, ""))
    }

    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if self.active {
            cx.print(&self.text(packet));
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("active", |e: &mut Ip6Print, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut Ip6Print, cx, text| {
            e.active = router::value(cx, text)?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{send, send_one};
    use elements_testing::ip6_samples::udp;

    #[test]
    fn prints_the_header_and_the_bytes_asked_for() {
        let flow = send("Inject -> MarkIP6Header -> IP6Print(in) -> Collect(0)", [udp(4), vec![0x60; 9]]);
        let header = "in: 2001:db8:1::1 -> 2001:db8:2::2 plen 12, next 17, hlim 64\n";
        assert_eq!(flow.log(), format!("{header}in: (Not an IP packet)\n"));
        assert_eq!(flow.data(0), [udp(4), vec![0x60; 9]]);
        let flow =
            send_one("Inject -> MarkIP6Header -> IP6Print(CONTENTS true, NBYTES 27) -> Collect(0)", udp(4));
        let bytes = "  60000000 000c1140 20010db8 00010000 00000000 00000001\n  20010d";
        assert_eq!(flow.log(), format!("{}{bytes}\n", &header[4..]));
        let flow = send_one("Inject -> MarkIP6Header -> IP6Print(ACTIVE false) -> Collect(0)", udp(4));
        assert_eq!(flow.log(), "");
    }
}
