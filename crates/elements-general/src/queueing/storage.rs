//! What elements that drop by the length of queues know of them: the shared part of elements that store packets, and which ones are near.

use crossbeam_queue::ArrayQueue;
use packet::Packet;
use router::{Cx, Info};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

/// What the instances of an element share that stores packets: a queue, or a line that packets are on.
pub(super) struct Common {
    /// Between workers; on one worker its instance has the packets.
    pub(super) ring: Option<ArrayQueue<Packet>>,
    /// Packets that the instance has, where there is no ring.
    pub(super) length: AtomicUsize,
    pub(super) capacity: AtomicUsize,
    pub(super) highwater: AtomicUsize,
    pub(super) drops: AtomicU64,
    /// The workers that have an instance.
    pub(super) workers: Vec<Sleepers>,
}

/// Who waits on a worker, where the queue crosses workers.
pub(super) struct Sleepers {
    pub(super) worker: usize,
    /// Pullers, for packets.
    pub(super) pullers: AtomicBool,
    /// Sources, for room.
    pub(super) sources: AtomicBool,
}

impl Common {
    /// Of an element with one instance, which takes any number of packets.
    pub(super) fn unbounded() -> Common {
        Common {
            ring: None,
            length: AtomicUsize::new(0),
            capacity: AtomicUsize::new(usize::MAX),
            highwater: AtomicUsize::new(0),
            drops: AtomicU64::new(0),
            workers: Vec::new(),
        }
    }

    fn len(&self) -> usize {
        self.ring.as_ref().map_or_else(|| self.length.load(Relaxed), ArrayQueue::len)
    }
}

/// Queues that another element watches.
#[derive(Default)]
pub(super) struct Watched {
    queues: Vec<Arc<Common>>,
    names: Vec<String>,
}

impl Watched {
    /// The queues that are meant by names, or else the nearest ones on the packets' way.
    pub(super) fn find(cx: &Cx<'_>, names: &[String], downstream: bool) -> Result<Watched, String> {
        let info = cx.info();
        let elements = match names {
            [] => nearest(info, cx.index(), downstream),
            _ => names.iter().map(|name| named(info, name, cx.index())).collect::<Result<_, _>>()?,
        };
        let queue_of = |&element: &usize| info.shared(element);
        let watched = Watched {
            queues: elements.iter().filter_map(queue_of).collect(),
            names: elements.iter().map(|&element| info.nodes[element].name.clone()).collect(),
        };
        if watched.queues.is_empty() { Err("no nearby Queues".to_owned()) } else { Ok(watched) }
    }

    /// Packets in all of them.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.queues.iter().map(|queue| queue.len()).sum()
    }

    /// The argument that names them.
    pub(super) fn argument(&self) -> String {
        self.names.iter().fold("QUEUES".to_owned(), |text, name| text + " " + name)
    }

    /// Their names, one a line.
    pub(super) fn lines(&self) -> String {
        self.names.iter().map(|name| format!("{name}\n")).collect()
    }
}

fn named(info: &Info, name: &str, from: usize) -> Result<usize, String> {
    let element = info.find(name, Some(from)).ok_or_else(|| format!("no element named '{name}'"))?;
    match info.shared::<Common>(element) {
        Some(_) => Ok(element),
        None => Err(format!("'{name}' is not a Storage element")),
    }
}

/// The first queues that packets meet on their way from an element, or that they met last on their way to it.
fn nearest(info: &Info, from: usize, downstream: bool) -> Vec<usize> {
    let mut seen = vec![false; info.nodes.len()];
    let (mut open, mut found) = (vec![from], Vec::new());
    while let Some(element) = open.pop() {
        let node = &info.nodes[element];
        let ports = if downstream { &node.outputs } else { &node.inputs };
        // What an element that drops sends elsewhere is not its concern.
        let ports = if element == from { &ports[..ports.len().min(1)] } else { ports };
        for &(peer, _) in ports.iter().flat_map(|port| &port.peers) {
            if std::mem::replace(&mut seen[peer], true) {
                continue;
            }
            match info.shared::<Common>(peer) {
                Some(_) => found.push(peer),
                None => open.push(peer),
            }
        }
    }
    found.sort_unstable();
    found
}
