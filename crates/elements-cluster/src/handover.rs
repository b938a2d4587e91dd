//! Packets that one worker of an egress node gives to another.
//!
//! Numbered packets of a lane have to meet where they are put in order, although devices spread them over the workers as they
//! like. Each lane is one worker's; the others hand its packets over, through a ring for each worker.

use cluster::NodeId;
use crossbeam_queue::ArrayQueue;
use packet::Packet;
use router::Cx;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed, Ordering::SeqCst, fence};

/// Packets that may wait for a worker.
const CAPACITY: usize = 4_096;

struct Ring {
    packets: ArrayQueue<Packet>,
    /// Whether the task that empties it has to be woken.
    sleeps: AtomicBool,
}

/// The rings of a node's workers; none where nothing has to be handed over.
pub(super) struct Handover {
    rings: Box<[Ring]>,
}

impl Handover {
    /// Rings for so many workers.
    pub(super) fn new(workers: usize) -> Handover {
        let ring = |_| Ring { packets: ArrayQueue::new(CAPACITY), sleeps: AtomicBool::new(true) };
        Handover { rings: if workers > 1 { (0..workers).map(ring).collect() } else { [].into() } }
    }

    /// Whose a lane is: which of the workers.
    #[inline]
    pub(super) fn owner(&self, ingress: NodeId, bucket: u8) -> usize {
        match self.rings.len() {
            0 => 0,
            workers => (usize::from(ingress) + usize::from(bucket)) % workers,
        }
    }

    /// Gives a packet to a worker, or back if too many wait there.
    pub(super) fn give(&self, to: usize, packet: Packet) -> Result<(), Packet> {
        match self.rings.get(to) {
            Some(ring) => ring.packets.push(packet),
            None => Err(packet),
        }
    }

    /// Wakes those that sleep although packets wait for them; `workers` says which worker of the router each is.
    pub(super) fn wake(&self, cx: &mut Cx<'_>, workers: &[usize]) {
        // Pairs with the fence of `sleep`: the task sees the packets, or this worker sees that it sleeps.
        fence(SeqCst);
        for (ring, &worker) in self.rings.iter().zip(workers) {
            if !ring.packets.is_empty() && ring.sleeps.load(Relaxed) && ring.sleeps.swap(false, Relaxed) {
                cx.tasks().schedule_on(worker);
            }
        }
    }

    /// A packet for a worker.
    pub(super) fn take(&self, me: usize) -> Option<Packet> {
        self.rings.get(me)?.packets.pop()
    }

    /// A worker's task has found nothing more; whether it must go on all the same.
    pub(super) fn sleep(&self, me: usize) -> bool {
        let Some(ring) = self.rings.get(me) else { return false };
        ring.sleeps.store(true, Relaxed);
        fence(SeqCst);
        !ring.packets.is_empty() && ring.sleeps.swap(false, Relaxed)
    }

    /// Packets that wait.
    pub(super) fn len(&self) -> usize {
        self.rings.iter().map(|ring| ring.packets.len()).sum()
    }
}
