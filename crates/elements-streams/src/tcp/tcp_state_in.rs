//! Tracks TCP connections from beginning to end.
//!
//! ```click
//! TCPStateIN(RETURNNAME [, KEYWORDS])
//! ```
//!
//! Passes the packets of connections on, and determines together with RETURNNAME, the TCPStateIN of the other
//! direction, when a connection is over for this direction: with a RST, or when both sides have sent a FIN and an ACK
//! after this side's own. Later packets of the connection leave by output 1, or are dropped if there is none, unless
//! they start with a SYN.
//!
//! A flow manager upstream identifies flows; packets without a flow are dropped. Both TCPStateIN must be on one
//! worker. It is FastClick's element.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: push. Workers: one.
//!
//! # Arguments
//! - `RETURNNAME` (element): the TCPStateIN of the other direction.
//! - `ACCEPT_NONSYN` (boolean, default true): whether connections may begin with a packet other than a SYN. Otherwise
//!   such packets are dropped.
//! - `VERBOSE`: accepted.
//!
//! # Handlers
//! - `map_size` (read): connections that only this direction has seen.
//! - `established` (read): connections begun by the other direction and seen by this one too, and not yet over.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager -> c :: IPClassifier(dst tcp port 80, src tcp port 80);
//! c[0] -> up :: TCPStateIN(RETURNNAME down) -> Discard;
//! c[1] -> down :: TCPStateIN(RETURNNAME up) -> Discard;
//! ```
//!
//! # Differences from FastClick
//! FastClick considers a connection over at the second FIN, or at an ACK after the first one. It forgets a connection
//! 16 seconds after its last packet; here the flow manager's TIMEOUT counts.
//!
//! # See also
//! FlowIPManager, FlowIPNAT, TCPIn

use super::segment::{NO_TCP, Segment};
use elements_shared::flow_id::FlowId;
use elements_shared::flow_key::key;
use elements_shared::flow_space::{Given, NO_FLOW, Space};
use packet::Packet;
use router::{
    Class, Config, ConfigError, Cx, Element, ElementName, Handlers, PerPacket, Residency, Simple, Verdict,
};
use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wire::tcp::flag;

/// The class.
pub(crate) const CLASS: Class = Class::new("TCPStateIN", create)
    .ports("1/1-2")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .keeps("connections, as many as the flow manager has room for", "", 65_536, 256)
    .doc(router::manual!("tcp_state_in.rs"));

/// Why packets are dropped.
const OVER: &str = "connection over";
const NO_SYN: &str = "connection without SYN";
/// How often to look for flows that are over.
const INTERVAL: Duration = Duration::from_secs(1);

/// What both directions know of a connection.
struct Connection {
    /// Directions that have sent a FIN.
    ended: AtomicU64,
    /// Where it counts, once both have seen it.
    established: Mutex<Option<Arc<AtomicU64>>>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        let counter = self.established.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(counter) = counter {
            counter.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// What one direction tells the other one. Both are on one worker, so neither ever waits.
struct Shared {
    back: String,
    /// Connections that one direction only has seen, as the other one's packets name them.
    table: Mutex<HashMap<FlowId, Arc<Connection>>>,
}

impl Shared {
    fn table(&self) -> MutexGuard<'_, HashMap<FlowId, Arc<Connection>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is known of a flow.
#[derive(Clone, Default)]
struct Flow {
    connection: Option<(FlowId, Arc<Connection>)>,
    has_ended: bool,
}

/// What goes to a new configuration.
struct Handover {
    flows: Given<Flow>,
    /// Connections that one direction only has seen.
    waiting: HashMap<FlowId, Arc<Connection>>,
    established: Arc<AtomicU64>,
}

struct TcpStateIn {
    flows: Space<Flow>,
    own: Arc<Shared>,
    /// Set by `initialize`.
    other: Option<Arc<Shared>>,
    accepts_all: bool,
    second: bool,
    established: Arc<AtomicU64>,
    /// Whether it is looked for flows that are over.
    looks: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut back, mut accepts_all, mut verbose) = (ElementName::default(), true, 0u32);
    config
        .args()
        .required("RETURNNAME", &mut back)
        .keyword("ACCEPT_NONSYN", &mut accepts_all)
        .keyword("VERBOSE", &mut verbose)
        .finish()?;
    let own = config.shared(|| Ok(Shared { back: back.name, table: Mutex::default() }))?;
    let second = config.outputs() > 1;
    Ok(Box::new(PerPacket(TcpStateIn {
        flows: Space::default(),
        own,
        other: None,
        accepts_all,
        second,
        established: Arc::default(),
        looks: false,
    })))
}

/// Forgets a connection of a flow, also where the other direction would look for it.
fn release(own: &Shared, flow: &mut Flow) {
    let Some((id, connection)) = flow.connection.take() else { return };
    let mut table = own.table();
    if table.get(&id.reversed()).is_some_and(|known| Arc::ptr_eq(known, &connection)) {
        table.remove(&id.reversed());
    }
}

impl TcpStateIn {
    /// The connection of a packet of a new flow.
    fn open(&self, id: FlowId, is_syn: bool) -> Option<Arc<Connection>> {
        if let Some(known) = self.other.as_ref().and_then(|other| other.table().remove(&id)) {
            self.established.fetch_add(1, Ordering::Relaxed);
            *known.established.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(self.established.clone());
            return Some(known);
        }
        if !is_syn && !self.accepts_all {
            return None;
        }
        let new = Arc::new(Connection { ended: AtomicU64::new(0), established: Mutex::new(None) });
        self.own.table().insert(id.reversed(), new.clone());
        Some(new)
    }

    fn reject(&self, reason: &'static str) -> Verdict {
        if self.second { Verdict::Output(1) } else { Verdict::Drop(reason) }
    }
}

/// Whether a connection is over with this packet for the direction that it comes from, which may have sent a FIN before.
fn is_over(connection: &Connection, segment: &Segment, has_ended: &mut bool) -> bool {
    if segment.has(flag::RST) {
        return true;
    }
    if segment.has(flag::FIN) {
        let is_first = !std::mem::replace(has_ended, true);
        connection.ended.fetch_add(u64::from(is_first), Ordering::Relaxed);
        return false;
    }
    *has_ended && segment.has(flag::ACK) && connection.ended.load(Ordering::Relaxed) >= 2
}

impl Simple for TcpStateIn {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.flows.connect(cx)?;
        let other: Arc<Shared> = cx.shared_of(&self.own.back, "TCPStateIN")?;
        let info = cx.info();
        if info.find(&other.back, Some(cx.index())) != Some(cx.index()) {
            return Err(format!("'{}' has another RETURNNAME than '{}'", self.own.back, cx.name()).into());
        }
        let back = info.find(&self.own.back, Some(cx.index()));
        let is_apart = |&back: &usize| info.nodes[back].workers != info.nodes[cx.index()].workers;
        if let Some(back) = back.filter(is_apart) {
            let (name, other) = (cx.name(), &info.nodes[back].name);
            let advice = "both directions of a connection have to run on one; place their sources with StaticThreadSched";
            return Err(format!("'{name}' and '{other}' run on different workers: {advice}").into());
        }
        self.other = Some(other);
        Ok(())
    }

    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let (Some(segment), Some(key)) = (Segment::of(packet), key(packet)) else {
            return Verdict::Drop(NO_TCP);
        };
        if !std::mem::replace(&mut self.looks, true) {
            cx.timers().after(0, INTERVAL);
        }
        let own = self.own.clone();
        let Some((flow, is_new)) = self.flows.of(packet.flow(), |mut old| release(&own, &mut old)) else {
            return Verdict::Drop(NO_FLOW);
        };
        let mut known = std::mem::take(flow);
        let is_syn = segment.has(flag::SYN);
        if known.connection.is_none() && (is_new || is_syn) {
            match self.open(key.id(), is_syn) {
                Some(connection) => {
                    known = Flow { connection: Some((key.id(), connection)), has_ended: false }
                }
                None => return self.reject(NO_SYN),
            }
        }
        let Some((_, connection)) = &known.connection else { return self.reject(OVER) };
        if is_over(connection, &segment, &mut known.has_ended) {
            release(&self.own, &mut known);
        }
        if let Some((flow, _)) = self.flows.of(packet.flow(), drop) {
            *flow = known;
        }
        Verdict::Pass
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        let own = &self.own;
        let mut count = 0;
        self.flows.sweep(|mut old| release(own, &mut old));
        self.flows.each(|_| count += 1);
        self.looks = count > 0;
        if self.looks {
            cx.timers().after(0, INTERVAL);
        }
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let waiting = std::mem::take(&mut *self.own.table());
        Some(Box::new(Handover { flows: self.flows.give(), waiting, established: self.established.clone() }))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<Handover>() {
            let Handover { flows, waiting, established } = *state;
            self.flows.adopt(cx, flows, Some);
            self.own.table().extend(waiting);
            // Connections count there.
            self.established = established;
            self.looks = !self.flows.is_empty();
            if self.looks {
                cx.timers().after(0, INTERVAL);
            }
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("map_size", |e: &mut TcpStateIn, _| e.own.table().len());
        h.read("established", |e: &mut TcpStateIn, _| e.established.load(Ordering::Relaxed));
    }
}
