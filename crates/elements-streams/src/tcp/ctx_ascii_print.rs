//! Prints the text that packets carry.
//!
//! ```click
//! CTXASCIIPrint([KEYWORDS])
//! ```
//!
//! For each packet with a payload, prints a line `Content of the stream:` and then the payload: what follows the TCP
//! or UDP header if an IP header is marked, and the whole packet otherwise. Unprintable bytes are shown as dots;
//! newlines are kept. Passes packets on.
//!
//! FlowASCIIPrint is an older name. They are FastClick's elements, for streams between TCPIn and TCPOut; here they
//! can be used anywhere.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `ACTIVE` (boolean, default true): whether to print anything.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> CTXManager -> CTXASCIIPrint -> Discard
//! ```
//!
//! # See also
//! Print, FlowPrint, CTXCRC, TCPIn

use super::payload::content;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("CTXASCIIPrint", create).processing("h/h").doc(router::manual!("ctx_ascii_print.rs"));
struct CtxAsciiPrint {
    is_active: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut is_active = true;
    config.args().keyword("ACTIVE", &mut is_active).finish()?;
    Ok(Box::new(PerPacket(CtxAsciiPrint { is_active })))
}

/// A byte as a terminal can show it.
fn shown(byte: u8) -> char {
    let is_text = byte.is_ascii_graphic() || matches!(byte, b' ' | b'\n');
    if is_text { char::from(byte) } else { '.' }
}

#[cold]
fn print(cx: &Cx<'_>, packet: &Packet) {
    let content = content(packet);
    if !content.is_empty() {
        cx.print("Content of the stream:");
        cx.print(&content.iter().map(|&byte| shown(byte)).collect::<String>());
    }
}

impl Simple for CtxAsciiPrint {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if self.is_active {
            print(cx, packet);
        }
        Verdict::Pass
    }
}
