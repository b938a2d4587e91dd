//! Accepted for compatibility; rejoins retransmissions with a TCP stream.
//!
//! ```click
//! TCPRetransmitter([INITIALBUFFERSIZE])
//! SimpleTCPRetransmitter([KEYWORDS])
//! ```
//!
//! Passes packets of both inputs on. In FastClick's configurations, input 0 is for packets from a TCPOut, and input 1
//! for the retransmissions from the second output of the TCPIn; here these already have the form in which they left
//! the TCPOut the first time. They are FastClick's elements.
//!
//! Ports: 1 or 2 inputs, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `INITIALBUFFERSIZE`, `PROACK`, `VERBOSE`, `READONLY`: FastClick's; accepted. The TCPIn's BUFFER determines how
//!   much is kept.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> c :: IPClassifier(dst tcp port 80, src tcp port 80);
//! c[0] -> in :: TCPIn(RETURNNAME back) -> TCPOut -> [0] r :: SimpleTCPRetransmitter -> Discard;
//! in[1] -> [1] r;
//! c[1] -> back :: TCPIn(RETURNNAME in) -> TCPOut -> Discard;
//! ```
//!
//! # Differences from FastClick
//! FastClick acknowledges data that has arrived if the sender has not been told, and its TCPRetransmitter retransmits
//! data itself. Here the sender retransmits, since it is told only of data that the receiver has. Retransmissions
//! must come from a TCPIn.
//!
//! # See also
//! TCPIn, TCPOut, TCPReorder

use super::between::comes_again_by;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("TCPRetransmitter", create)
    .ports("1-2/1")
    .processing("h/h")
    .doc(router::manual!("tcp_retransmitter.rs"));
struct TcpRetransmitter;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut size, mut proack, mut verbose, mut readonly) = (0u32, false, false, false);
    config
        .args()
        .positional("INITIALBUFFERSIZE", &mut size)
        .keyword("PROACK", &mut proack)
        .keyword("VERBOSE", &mut verbose)
        .keyword("READONLY", &mut readonly)
        .finish()?;
    Ok(Box::new(PerPacket(TcpRetransmitter)))
}

impl Simple for TcpRetransmitter {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        comes_again_by(cx.info(), cx.index())
    }

    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, _packet: &mut Packet) -> Verdict {
        Verdict::Pass
    }
}
