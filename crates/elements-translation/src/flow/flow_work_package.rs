//! Generates CPU and memory load for each packet and flow, for measurements.
//!
//! ```click
//! FlowWorkPackage([KEYWORDS])
//! ```
//!
//! Keeps F bytes for each flow, reads or writes them for each packet, and draws random numbers. It identifies flows
//! itself: by addresses, protocol and ports. For packets without a marked IP header, and those of flows for which
//! there is no room, it only draws random numbers. Passes packets on from each input to the output of the same
//! number. It is FastClick's element.
//!
//! Ports: 1 or more inputs, as many outputs. Processing: push. Workers: replicated, each with its own flows.
//!
//! # Arguments
//! - `F` (integer, default 4): bytes kept for each flow, at most 65536.
//! - `PREAD` (integer, default 1), `PWRITE` (integer, default 0): how often they are read, and written, for each
//!   packet.
//! - `FREAD` (integer, default 0), `FWRITE` (integer, default 1): additional reads and writes for the first packet of
//!   a flow. The data written is taken from the packet, from the IP header on.
//! - `W` (integer, default 0): random numbers to draw for each packet.
//!   `PREAD`, `PWRITE`, `FREAD`, `FWRITE` and `W` are at most 1,000,000 each.
//! - `ORDER` (integer, default -1): the offset of a four-byte number in network byte order, such as a TCP sequence
//!   number, that should not be lower than in the previous packet of the same flow; negative: none.
//! - `TABLE_SIZE` (integer, default 65536): the maximum number of flows, of all workers together. FastClick's default
//!   is 67108864.
//! - `SEQUENTIAL` (boolean): accepted; two workers never process the same flow at once.
//! - `ACTIVE` (boolean, default true): whether to do any work besides that of W.
//!
//! # Handlers
//! - `outoforder` (read): packets with a lower number than the previous packet.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> w :: FlowWorkPackage(F 64, PWRITE 1, W 10, ORDER 38) -> Discard;
//! DriverManager(pause, print $(w.outoforder))
//! ```
//!
//! # See also
//! WorkPackage

use elements_shared::flow_id::FlowId;
use elements_shared::flow_key::key;
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, TableSize};
use std::collections::HashMap;
use std::hash::RandomState;
use std::hint::black_box;

/// The class.
pub(crate) const CLASS: Class = Class::new("FlowWorkPackage", create)
    .ports("1-/=")
    .processing("h/h")
    .flow("#/#")
    .doc(router::manual!("flow_work_package.rs"));

/// The most bytes of a flow, and of all.
const MOST: u32 = 1 << 16;
/// What is read, written and drawn for a packet at most, each: it holds its worker up that long.
const STEPS_MAX: u32 = 1_000_000;
const MOST_OF_ALL: usize = 1 << 32;

/// How often what is kept of a flow is read and written.
#[derive(Clone, Copy)]
struct Work {
    reads: u32,
    writes: u32,
}

struct FlowWorkPackage {
    /// Flows' numbers, by protocol, addresses and ports. The hasher has a secret, so that no sender can choose flows that collide.
    flows: HashMap<(u32, FlowId), u32, RandomState>,
    capacity: usize,
    /// What is kept of flows, one after the other.
    kept: Vec<u8>,
    size: usize,
    of_packet: Work,
    of_flow: Work,
    draws: u32,
    /// Where packets have a number, and the last number of each flow.
    order: Option<usize>,
    last: Vec<u32>,
    out_of_order: u64,
    active: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut of_packet, mut of_flow) = (Work { reads: 1, writes: 0 }, Work { reads: 0, writes: 1 });
    let (mut size, mut capacity, mut order, mut draws) = (4u32, TableSize(65536), -1i32, 0u32);
    let (mut sequential, mut active) = (false, true);
    config
        .args()
        .keyword("PREAD", &mut of_packet.reads)
        .keyword("PWRITE", &mut of_packet.writes)
        .keyword("FREAD", &mut of_flow.reads)
        .keyword("FWRITE", &mut of_flow.writes)
        .keyword("F", &mut size)
        .keyword("TABLE_SIZE", &mut capacity)
        .keyword("SEQUENTIAL", &mut sequential)
        .keyword("ORDER", &mut order)
        .keyword("W", &mut draws)
        .keyword("ACTIVE", &mut active)
        .finish()?;
    let Work { reads, writes } = of_packet;
    if [reads, writes, of_flow.reads, of_flow.writes, draws].into_iter().any(|steps| steps > STEPS_MAX) {
        return Err(format!("PREAD, PWRITE, FREAD, FWRITE and W: out of range, bound {STEPS_MAX}").into());
    }
    let capacity = capacity.0.div_ceil(config.workers().len().max(1)).max(1);
    if size > MOST || capacity.saturating_mul(size as usize) > MOST_OF_ALL {
        return Err("F or TABLE_SIZE too large".into());
    }
    let (size, order) = (size as usize, usize::try_from(order).ok());
    Ok(Box::new(FlowWorkPackage {
        // With its room from the beginning, nothing grows while packets come.
        flows: HashMap::with_capacity_and_hasher(capacity, RandomState::new()),
        capacity,
        kept: vec![0; capacity * size],
        size,
        of_packet,
        of_flow,
        draws,
        order,
        last: vec![0; if order.is_some() { capacity } else { 0 }],
        out_of_order: 0,
        active,
    }))
}

impl FlowWorkPackage {
    /// The number of a packet's flow, and whether it is new.
    fn flow(&mut self, packet: &Packet) -> Option<(usize, bool)> {
        let key = key(packet)?;
        let (known, new) = ((key.map(), key.id()), self.flows.len());
        if let Some(&number) = self.flows.get(&known) {
            return Some((number as usize, false));
        }
        if new >= self.capacity {
            return None;
        }
        self.flows.insert(known, new as u32);
        Some((new, true))
    }

    /// Reads and writes what is kept of a flow.
    fn touch(&mut self, flow: usize, packet: &Packet, work: Work) {
        let kept = &mut self.kept[flow * self.size..][..self.size];
        for _ in 0..work.writes {
            let source = packet.network().unwrap_or_default();
            let len = source.len().min(kept.len());
            kept[..len].copy_from_slice(&source[..len]);
            black_box(&mut *kept);
        }
        for _ in 0..work.reads {
            black_box(kept.iter().fold(0u8, |all, byte| all ^ byte));
        }
    }

    /// Compares a packet's number with that of the packet before.
    fn check_order(&mut self, flow: usize, packet: &Packet, new: bool) -> Option<()> {
        let number = u32::from_be_bytes(*packet.data().get(self.order?..)?.first_chunk()?);
        let last = std::mem::replace(self.last.get_mut(flow)?, number);
        self.out_of_order += u64::from(!new && number < last);
        Some(())
    }

    fn work(&mut self, packet: &Packet) {
        let Some((flow, new)) = self.flow(packet) else { return };
        let _ = self.check_order(flow, packet, new);
        if new {
            self.touch(flow, packet, self.of_flow);
        }
        self.touch(flow, packet, self.of_packet);
    }
}

impl Element for FlowWorkPackage {
    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        for packet in batch.iter() {
            if self.active {
                self.work(packet);
            }
            for _ in 0..self.draws {
                black_box(cx.rng().u32(..));
            }
        }
        cx.emit(port, batch);
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("outoforder", |e: &mut FlowWorkPackage, _| e.out_of_order).merged(Merge::Sum);
    }
}
