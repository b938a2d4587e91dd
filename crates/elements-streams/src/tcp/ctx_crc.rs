//! Computes a CRC of the data of each flow.
//!
//! ```click
//! CTXCRC
//! ```
//!
//! Computes a CRC-32 of the concatenated payloads of each flow's packets: what follows the TCP or UDP header if an IP
//! header is marked, and the whole packet otherwise. It is the CRC of SetCRC32: polynomial 0x04c11db7, not reflected,
//! initial value all ones, result not inverted. Passes packets on. A flow manager upstream identifies flows; packets
//! without a flow are dropped. Put a TCPReorder or a TCPIn in front of it, so that data is in order and is counted
//! only once.
//!
//! FlowCRC is an older name. They are FastClick's elements, which serve as a load for measurements.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! - `crc` (read): the CRC, in hexadecimal, of the flow of the most recent packet; empty before the first packet.
//!   FastClick has no such handler.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> CTXManager -> CTXCRC -> Discard
//! ```
//!
//! # Differences from FastClick
//! The CRC values differ from FastClick's. No packet leaves by output 1, which is meant for closed streams.
//!
//! # See also
//! SetCRC32, CTXASCIIPrint, FlowHyperScan, CTXManager, TCPIn

use super::payload::content;
use elements_shared::crc32::CRC;
use elements_shared::flow_space::{Given, NO_FLOW, Space};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("CTXCRC", create).ports("1/1-2").processing("h/h").doc(router::manual!("ctx_crc.rs"));
struct CtxCrc {
    /// The checks of flows.
    flows: Space<u32>,
    last: Option<u32>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(CtxCrc { flows: Space::default(), last: None })))
}

impl Simple for CtxCrc {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.flows.connect(cx)
    }

    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some((check, new)) = self.flows.of(packet.flow(), drop) else { return Verdict::Drop(NO_FLOW) };
        let mut digest = if new { CRC.digest() } else { CRC.digest_with_initial(*check) };
        digest.update(content(packet));
        *check = digest.finalize();
        self.last = Some(*check);
        Verdict::Pass
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.flows.give()))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<Given<u32>>() {
            self.flows.adopt(cx, *state, Some);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("crc", |e: &mut CtxCrc, _| e.last.map_or(String::new(), |check| format!("{check:08x}")));
    }
}
