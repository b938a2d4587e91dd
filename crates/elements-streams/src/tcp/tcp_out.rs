//! End of a path that can modify TCP streams.
//!
//! ```click
//! TCPOut([READONLY, KEYWORDS])
//! ```
//!
//! Gives TCP packets from a TCPIn the sequence numbers that the receiver expects after elements in between have
//! removed and inserted data, the right length, and correct checksums. A segment longer than the longest received of
//! the stream is split into several.
//!
//! If elements have removed all data of a packet, or end the connection with a RST in its place, the sender is told
//! immediately by a packet generated here, which leaves by output 1. Without that output, the packet that was emptied
//! makes the receiver acknowledge the data; and a receiver that has got a RST answers further packets with a RST of
//! its own.
//!
//! It is FastClick's element.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: push. Workers: one, that of the TCPIn.
//!
//! # Arguments
//! - `READONLY`, `CHECKSUM`: FastClick's; accepted. Checksums are always computed.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> c :: IPClassifier(dst tcp port 80, src tcp port 80);
//! c[0] -> in :: TCPIn(RETURNNAME back) -> TCPOut -> Discard;
//! c[1] -> back :: TCPIn(RETURNNAME in) -> TCPOut -> Discard;
//! ```
//!
//! # See also
//! TCPIn, IPOut

use super::connections::{Connections, Exit, Path, split};
use super::tcp_in::add;
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("TCPOut", create)
    .ports("1/1-2")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .makes("segments and answers")
    .doc(router::manual!("tcp_out.rs"));

struct TcpOut {
    /// Set by `initialize`.
    path: Option<Path>,
    /// Whether senders can be told something.
    second: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut readonly, mut checksum) = (false, true);
    config.args().positional("READONLY", &mut readonly).keyword("CHECKSUM", &mut checksum).finish()?;
    Ok(Box::new(TcpOut { path: None, second: config.outputs() > 1 }))
}

/// Batches on their way.
struct Leaving {
    on: Batch,
    back: Batch,
}

impl TcpOut {
    fn leave(
        &self,
        cx: &mut Cx<'_>,
        connections: &mut Connections,
        direction: usize,
        mut packet: Packet,
        leaving: &mut Leaving,
    ) {
        match connections.leave(direction, &mut packet) {
            Exit::Pass { most } => {
                while let Some(rest) = split(cx.pool(), &mut packet, most) {
                    add(cx, 0, &mut leaving.on, std::mem::replace(&mut packet, rest));
                }
                add(cx, 0, &mut leaving.on, packet);
            }
            Exit::Answer(answer) => {
                if let Some(back) = self.second.then(|| answer.packet(cx.pool(), &packet)).flatten() {
                    connections.answered(direction, &packet);
                    add(cx, 1, &mut leaving.back, back);
                }
                add(cx, 0, &mut leaving.on, packet);
            }
            Exit::Drop(reason) => cx.drop(packet, reason),
        }
    }
}

impl Element for TcpOut {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.path = Some(Path::of_out(cx.info(), cx.index())?);
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        let Some(path) = &self.path else { return cx.consume(batch) };
        let mut leaving = Leaving { on: cx.batch(), back: cx.batch() };
        let mut connections = path.lock();
        batch.drain(|packet| self.leave(cx, &mut connections, path.direction, packet, &mut leaving));
        drop(connections);
        cx.consume(batch);
        for (output, batch) in [(0, leaving.on), (1, leaving.back)] {
            if batch.is_empty() { cx.consume(batch) } else { cx.emit(output, batch) }
        }
    }
}
