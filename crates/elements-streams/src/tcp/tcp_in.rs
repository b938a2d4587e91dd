//! Start of a path that can modify TCP streams.
//!
//! ```click
//! TCPIn([RETURNNAME, KEYWORDS])
//! ```
//!
//! Elements between a TCPIn and its TCPOut may change, remove and insert data of TCP packets. The TCPOut then
//! translates sequence numbers for the receiver, and the TCPIn of the other direction, RETURNNAME, translates the
//! receiver's acknowledgements. If an element drops a packet, its data counts as removed.
//!
//! Packets of each direction leave in order; packets that arrive too early wait. Retransmitted data has already been
//! modified, so elements do not see it again. With a second output, it leaves there, in the form in which it left the
//! TCPOut; with only one output, its headers pass through the elements in between and the TCPOut adds the data. For
//! this, sent data is kept until it is acknowledged. New data is dropped while there is no room for it; its sender
//! retransmits it later.
//!
//! A connection begins with a SYN; other packets of unknown connections are dropped, except RST. Selective
//! acknowledgements are disabled, by changing the option in SYNs. An element in between ends a connection by sending
//! a RST in place of a packet: afterwards only headers pass.
//!
//! All four elements of both directions must be on one worker. It is FastClick's element; it needs no flow manager.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: push. Workers: one.
//!
//! # Arguments
//! - `RETURNNAME` (element): the TCPIn of the other direction. It may be left out if there is only one other TCPIn,
//!   so that `~tcp>` can be used for both; FastClick requires it.
//! - `OUTNAME` (element): the TCPOut of this direction. It may be left out if there is only one downstream.
//! - `FLOWDIRECTION` (0 or 1): accepted; the other direction has the other value.
//! - `REORDER` (boolean, default true): whether packets that arrive too early wait. If not, they are dropped.
//! - `CAPACITY` (integer, default 16384): the maximum number of connections. For this and the following arguments,
//!   the first TCPIn of the two counts; FastClick has none of them.
//! - `BUFFER` (integer, default 262144): bytes kept for each direction of a connection, at least 16384.
//! - `WAITING` (integer, default 4096): the maximum number of waiting packets; elements in between can hold as many
//!   again.
//! - `TIMEOUT` (seconds, default 600): idle time after which a connection is forgotten; 0 for never. A closed
//!   connection is forgotten after 30 seconds.
//! - `VERBOSE`, `PROACK`, `RETRANSMIT_PT`: FastClick's; accepted.
//!
//! # Handlers
//! - `connections` (read): known connections. FastClick has no such handler.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> c :: IPClassifier(dst tcp port 80, src tcp port 80);
//! c[0] -> in :: TCPIn(RETURNNAME back) -> TCPOut -> Discard;
//! c[1] -> back :: TCPIn(RETURNNAME in) -> TCPOut -> Discard;
//! ```
//!
//! # Differences from FastClick
//! If there is one output and no TCPRetransmitter, FastClick prints a warning, and loses retransmitted data. It
//! treats connections as modified only if an element in between says that it changes lengths. Connections are not
//! kept when the configuration is replaced.
//!
//! # See also
//! TCPOut, WordMatcher, HTTPIn, CTXIDSMatcher, TCPReorder, IPIn, UDPIn

use super::connections::{Connections, ENDED, Entry, Inlet, Path, hide};
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, ElementName, Handlers, Residency, TableSize};
use std::any::Any;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("TCPIn", create)
    .ports("1/1-2")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .holds_jointly("packets of TCP streams")
    .doc(router::manual!("tcp_in.rs"));

/// Why packets are dropped.
const EARLY: &str = "too early";
/// How often to look for connections that are over.
const INTERVAL: Duration = Duration::from_secs(10);
/// Bytes that have to be kept at least.
const LEAST: usize = 16384;

struct TcpIn {
    /// Set by `initialize`.
    path: Option<Path>,
    reorders: bool,
    /// Whether what comes again has an output of its own.
    second: bool,
    /// Whether it is looked for connections that are over.
    looks: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut back, mut out) = (ElementName::default(), ElementName::default());
    let (mut direction, mut reorders, mut proack, mut pass) = (-1i32, true, false, false);
    let (mut capacity, mut buffer, mut waiting) = (TableSize(16384), 262_144usize, TableSize(4096));
    let (mut timeout, mut verbose) = (600u32, String::new());
    config
        .args()
        .positional("RETURNNAME", &mut back)
        .keyword("FLOWDIRECTION", &mut direction)
        .keyword("REORDER", &mut reorders)
        .keyword("OUTNAME", &mut out)
        .keyword("VERBOSE", &mut verbose)
        .keyword("PROACK", &mut proack)
        .keyword("RETRANSMIT_PT", &mut pass)
        .keyword("CAPACITY", &mut capacity)
        .keyword("BUFFER", &mut buffer)
        .keyword("WAITING", &mut waiting)
        .keyword("TIMEOUT", &mut timeout)
        .finish()?;
    if !(-1..=1).contains(&direction) {
        return Err(format!("FLOWDIRECTION {direction} is not valid.").into());
    }
    if !(LEAST..=1 << 30).contains(&buffer) {
        return Err(format!("BUFFER: {LEAST} to {} bytes", 1 << 30).into());
    }
    config
        .shared(|| {
            Ok(Inlet {
                back: back.name.clone(),
                out: Some(out.name.clone()).filter(|name| !name.is_empty()),
                direction: usize::try_from(direction).ok(),
                connections: Mutex::new(Connections::new(capacity.0, buffer, waiting.0, timeout)),
            })
        })
        .map(|_: Arc<Inlet>| ())?;
    Ok(Box::new(TcpIn { path: None, reorders, second: config.outputs() > 1, looks: false }))
}

/// Batches on their way.
struct Leaving {
    next: Batch,
    again: Batch,
}

/// Adds a packet to those that leave, in batches that are not too large.
pub(super) fn add(cx: &mut Cx<'_>, output: usize, out: &mut Batch, packet: Packet) {
    if out.len() >= cx.vector() || out.is_full() {
        let next = cx.batch();
        cx.emit(output, std::mem::replace(out, next));
    }
    out.push(packet);
}

impl TcpIn {
    /// Takes a packet, and those that have waited for it.
    fn enter(
        &self,
        cx: &mut Cx<'_>,
        connections: &mut Connections,
        direction: usize,
        first: Packet,
        leaving: &mut Leaving,
    ) {
        let mut ahead = Some(first);
        while let Some(mut packet) = ahead.take() {
            match connections.enter(direction, &mut packet, cx.now_ns()) {
                Entry::Pass => {
                    ahead = connections.next(direction, &packet);
                    add(cx, 0, &mut leaving.next, packet);
                }
                Entry::Again if self.second => match connections.repeat(direction, &mut packet) {
                    Some(()) => add(cx, 1, &mut leaving.again, packet),
                    None => cx.drop(packet, ENDED),
                },
                Entry::Again => {
                    hide(&mut packet);
                    add(cx, 0, &mut leaving.next, packet);
                }
                Entry::Early if self.reorders => {
                    if let Err((packet, reason)) = connections.wait(direction, packet) {
                        cx.drop(packet, reason);
                    }
                }
                Entry::Early => cx.drop(packet, EARLY),
                Entry::Drop(reason) => {
                    ahead = connections.next(direction, &packet);
                    cx.drop(packet, reason);
                }
            }
        }
    }
}

impl Element for TcpIn {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.path = Some(Path::of_in(cx.info(), cx.index())?);
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        let Some(path) = &self.path else { return cx.consume(batch) };
        let mut leaving = Leaving { next: cx.batch(), again: cx.batch() };
        let mut connections = path.lock();
        batch.drain(|packet| self.enter(cx, &mut connections, path.direction, packet, &mut leaving));
        cx.count_drops(ENDED, connections.take_lost());
        drop(connections);
        cx.consume(batch);
        for (output, batch) in [(0, leaving.next), (1, leaving.again)] {
            if batch.is_empty() { cx.consume(batch) } else { cx.emit(output, batch) }
        }
        if !std::mem::replace(&mut self.looks, true) {
            cx.timers().after(0, INTERVAL);
        }
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        let Some(path) = &self.path else { return };
        let mut connections = path.lock();
        connections.sweep(cx.now_ns());
        self.looks = connections.len() > 0;
        cx.count_drops(ENDED, connections.take_lost());
        drop(connections);
        if self.looks {
            cx.timers().after(0, INTERVAL);
        }
    }

    fn held(&self) -> usize {
        // Of the two TCPIn of a pair one says it for both, and for the elements between.
        let path = self.path.as_ref().filter(|path| path.direction == 0);
        path.map_or(0, |path| path.lock().held())
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("connections", |e: &mut TcpIn, _| e.path.as_ref().map_or(0, |path| path.lock().len()));
    }

    fn target(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}
