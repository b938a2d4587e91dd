//! What nodes have in place of network cards: frames of one turn, one behind the other in memory that is used again in the next. Rings of
//! buffers, which four nodes would have to cycle through in the caches of one processor, would cost more than the nodes.

use super::node::BURST;
use packet::{Batch, Kind};
use router::{Class, Config, ConfigError, Cx, Element};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Takes all frames that are there, each turn.
pub(super) const FROM_CABLE: Class = Class::new("FromCable", from_cable).ports("0/1").processing("/h");
/// Puts frames where they are found at the end of the turn.
pub(super) const TO_CABLE: Class = Class::new("ToCable", to_cable).ports("1/0").processing("h/");

/// Frames one behind the other.
#[derive(Default)]
pub(super) struct Train {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Train {
    pub(super) fn push(&mut self, frame: &[u8]) {
        self.bytes.extend_from_slice(frame);
        self.ends.push(self.bytes.len());
    }

    /// Shows all frames, and is empty then.
    pub(super) fn drain(&mut self, mut f: impl FnMut(&[u8])) {
        let mut start = 0;
        for &end in &self.ends {
            f(&self.bytes[start..end]);
            start = end;
        }
        self.bytes.clear();
        self.ends.clear();
    }
}

/// An interface of a node.
pub(super) struct Cable {
    name: String,
    inward: Mutex<Train>,
    outward: Mutex<Train>,
}

impl Cable {
    pub(super) fn new(name: &str) -> Arc<Cable> {
        Arc::new(Cable { name: name.to_owned(), inward: Mutex::default(), outward: Mutex::default() })
    }

    /// What the node finds in its next turn.
    pub(super) fn inward(&self) -> MutexGuard<'_, Train> {
        self.inward.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the node has sent.
    pub(super) fn outward(&self) -> MutexGuard<'_, Train> {
        self.outward.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The interfaces of a router.
pub(super) struct Cables(pub(super) Vec<Arc<Cable>>);

fn named(config: &mut Config<'_>) -> Result<Arc<Cable>, ConfigError> {
    let mut name = String::new();
    config.args().required("DEVNAME", &mut name).finish()?;
    let cables = config.resource::<Cables>().into_iter().flat_map(|cables| &cables.0);
    let cable = cables.filter(|cable| cable.name == name).map(Arc::clone).next();
    Ok(cable.ok_or_else(|| format!("no cable '{name}'"))?)
}

struct FromCable(Arc<Cable>);

fn from_cable(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(FromCable(named(config)?)))
}

impl Element for FromCable {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.timers().after(0, Duration::from_nanos(1));
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.timers().after(0, Duration::from_nanos(1));
        let mut train = self.0.inward();
        if train.ends.is_empty() {
            return;
        }
        let (mut batch, now_ns) = (cx.batch(), cx.now_ns());
        train.drain(|frame| {
            if let Some(mut packet) = cx.pool().packet(frame) {
                packet.set_timestamp_ns(now_ns);
                packet.set_mac_offset(0);
                if frame[0] & 1 != 0 {
                    packet.set_kind(Kind::Broadcast);
                }
                batch.push(packet);
            }
        });
        debug_assert!(batch.len() <= BURST);
        cx.emit(0, batch);
    }
}

struct ToCable(Arc<Cable>);

fn to_cable(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(ToCable(named(config)?)))
}

impl Element for ToCable {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        let mut out = self.0.outward();
        batch.iter().for_each(|packet| out.push(packet.data()));
        drop(out);
        cx.consume(batch);
    }
}
