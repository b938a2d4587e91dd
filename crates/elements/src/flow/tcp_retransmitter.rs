//! Accepted where retransmissions join a TCP stream again.
//!
//! ```click
//! TCPRetransmitter([INITIALBUFFERSIZE])
//! SimpleTCPRetransmitter([KEYWORDS])
//! ```
//!
//! Passes packets of both inputs on. In FastClick's configurations input 0 is for what a TCPOut emits, and input 1
//! for what the second output of the TCPIn does, packets that came again: here they have left that TCPIn already in
//! the form in which they left the TCPOut the first time. They are FastClick's elements.
//!
//! Ports: 1 or 2 inputs, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `INITIALBUFFERSIZE`, `PROACK`, `VERBOSE`, `READONLY`: FastClick's; accepted. The TCPIn's BUFFER says how much is kept.
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
//! FastClick's acknowledges what arrived when a sender has not heard of it, and TCPRetransmitter sends by itself
//! again. Here the sender does that, as it is told only of what the receiver has. What comes again must not come from
//! elsewhere than a TCPIn.
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
    .doc(include_str!("tcp_retransmitter.rs"));
/// The one that leaves everything to the ends.
pub(crate) const SIMPLE: Class = Class { name: "SimpleTCPRetransmitter", ..CLASS };

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
