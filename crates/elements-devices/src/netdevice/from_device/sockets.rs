//! The sockets by which FromDevice receives: opened, shared between workers, taken over, and opened again when an interface is back.

use super::{AGAIN, CHECK, FromDevice, RETRY};
use crate::netdevice::link;
use crate::netdevice::shares::Shares;
use device::Trouble;
use device::capture::LinkType;
use device::port::{Method, Rx};
use device::xdp;
use router::Cx;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often to look for buffers that the kernel lacks, and how long a new configuration waits for them: those of sockets that were
/// closed come back after two seconds.
pub(super) const HUNGRY: Duration = Duration::from_millis(50);
const HUNGRY_MAX: Duration = Duration::from_secs(3);

/// Whether another element has the queue that this one is to receive from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Waits {
    No,
    /// When a configuration is replaced, the one that ran has it still, and will hand it over.
    Briefly,
    /// It has not let go, which was said.
    Long,
}

pub(super) fn lock(shares: &Mutex<Shares>) -> MutexGuard<'_, Shares> {
    shares.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FromDevice {
    /// The queues that this worker opens; of a packet socket, whether it opens one.
    pub(super) fn mine(&self) -> Vec<u32> {
        let (place, workers) = self.place;
        let mine = |queue: &u32| *queue as usize % workers == place;
        match self.queue {
            Some(queue) => Some(u32::from(queue)).filter(mine).into_iter().collect(),
            None if matches!(self.method, Method::Packet(..)) => vec![place as u32],
            None => (0..xdp::queues(&self.interface)).filter(mine).collect(),
        }
    }

    /// Whether packets sockets of several workers divide the frames between them.
    fn is_shared(&self) -> bool {
        self.place.1 > 1 && self.queue.is_none() && matches!(self.method, Method::Packet(..))
    }

    /// Goes on with this worker's share of the old instances' sockets.
    pub(super) fn go_on(&mut self, cx: &mut Cx<'_>, queues: &[u32]) {
        // It was opened beside them, and has received the same.
        self.rx = None;
        let mut shares = lock(&self.shares);
        let founded = if self.is_shared() { shares.found(&self.interface) } else { Ok(()) };
        let place = if self.queue.is_some() { (0, 1) } else { self.place };
        let mut rx = shares.take(Some(place).filter(|_| !queues.is_empty()), queues);
        let has = |rx: &Option<Rx>, queue| rx.as_ref().is_some_and(|rx| rx.queues().any(|of| of == queue));
        let missing: Vec<u32> = match self.method {
            Method::Packet(..) if rx.is_some() => Vec::new(),
            _ => queues.iter().copied().filter(|&queue| !has(&rx, queue)).collect(),
        };
        let mut is_whole = true;
        if !missing.is_empty() {
            let group = self.is_shared().then_some(&mut shares.group);
            let more = founded.and_then(|()| Rx::open(&self.interface, &self.method, &missing, group, false));
            match (&mut rx, more) {
                (Some(rx), Ok(more)) => rx.append(more),
                (none, Ok(more)) => *none = Some(more),
                (_, Err(trouble)) => {
                    cx.error(format_args!("{} :: FromDevice: {trouble}", cx.name()));
                    is_whole = false;
                }
            }
        }
        shares.settle(self.place.1);
        drop(shares);
        cx.timers().cancel(AGAIN);
        (self.rx, self.waits) = (rx, Waits::No);
        if self.rx.is_some() {
            cx.timers().after(CHECK, RETRY);
            cx.tasks().schedule();
        }
        // Frames of a queue wait for its socket; those of packet sockets go to the others in the group.
        if !is_whole && matches!(self.method, Method::Xdp(_)) {
            self.waits = Waits::Long;
            cx.timers().after(AGAIN, RETRY);
        }
    }

    /// Opens the interface, or finds out that the element has to wait for another one that has it.
    pub(super) fn open(&mut self, cx: &mut Cx<'_>) -> Result<(), Trouble> {
        let queues = self.mine();
        if queues.is_empty() {
            cx.tasks().unschedule();
            return Ok(());
        }
        let mut shares = lock(&self.shares);
        let group = self.is_shared().then_some(&mut shares.group);
        let first = self.speaks();
        let opened = match self.rx.take() {
            // Those that another process has left; who has none joins their group.
            Some(mut rx) => group.map_or(Ok(()), |group| rx.share(&self.interface, group)).map(|()| rx),
            None => Rx::open(&self.interface, &self.method, &queues, group, first),
        };
        drop(shares);
        match opened {
            Ok(rx) => {
                if let (Method::Xdp(_), mode) = (&self.method, rx.mode()) {
                    cx.log(format_args!("{} :: FromDevice({}): {mode}", cx.name(), self.interface));
                }
                self.look_for_segments(cx, &rx);
                cx.timers().after(CHECK, RETRY);
                (self.rx, self.waits) = (Some(rx), Waits::No);
                cx.tasks().schedule();
            }
            Err(trouble) if trouble.is_held_here() => {
                self.waits = match self.waits {
                    Waits::No => Waits::Briefly,
                    Waits::Briefly => {
                        cx.error(format_args!("{} :: FromDevice: {trouble}", cx.name()));
                        Waits::Long
                    }
                    Waits::Long => Waits::Long,
                };
                cx.timers().after(AGAIN, RETRY);
            }
            Err(trouble) => return Err(trouble),
        }
        Ok(())
    }

    /// Opens the interface anew, for what it has become.
    pub(super) fn reopen(&mut self, cx: &mut Cx<'_>) {
        self.rx = None;
        if self.open(cx).is_err() {
            cx.timers().after(AGAIN, RETRY);
        }
    }

    /// Says if long segments do not come though they are wanted, and could: of other links, and with SNAPLEN, they do not.
    fn look_for_segments(&self, cx: &Cx<'_>, rx: &Rx) {
        if let Method::Packet(options, _) = &self.method
            && options.segments
            && options.snaplen.is_none()
            && self.linktype == LinkType::Ethernet
            && !rx.has_segments()
        {
            cx.log(format_args!(
                "{} :: FromDevice({}): the kernel does not hand over long segments (PACKET_VNET_HDR)",
                cx.name(),
                self.interface
            ));
        }
    }

    /// Gives the kernel the buffers that it lacks, which an interface that was let go of may have still. Not for a worker: it waits.
    pub(super) fn wait_for_buffers(&mut self) {
        let until = Instant::now() + HUNGRY_MAX;
        while let Some(rx) = &mut self.rx
            && rx.is_starved()
            && xdp::buffers_are_due()
            && Instant::now() < until
        {
            std::thread::sleep(HUNGRY);
            rx.replenish();
        }
    }

    /// Whether it is this worker's instance that says what becomes of the interface, for all.
    pub(super) fn speaks(&self) -> bool {
        self.place.0 == 0 || !self.is_shared()
    }

    /// Says when an interface that was down is up again.
    fn look_whether_up(&mut self, cx: &mut Cx<'_>) {
        if !self.is_down {
            return;
        }
        if device::links::named(&self.interface).is_none_or(|link| !link.has_carrier) {
            return cx.timers().after(AGAIN, RETRY);
        }
        self.is_down = false;
        if self.speaks() {
            link::is_up(cx, &self.interface);
        }
    }

    /// Looks whether an interface that had gone is back, as another one of the same name perhaps.
    pub(super) fn look_again(&mut self, cx: &mut Cx<'_>) {
        let is_there = self.rx.as_ref().is_some_and(|rx| !rx.is_stale(&self.interface));
        if is_there && self.waits == Waits::No {
            return self.look_whether_up(cx); // the socket goes on by itself
        }
        self.is_down = false;
        let waited = self.waits != Waits::No;
        cx.tasks().stop_waiting();
        self.rx = None;
        match self.open(cx) {
            Ok(()) if waited || self.waits != Waits::No => {}
            Ok(()) => link::is_back(cx, &self.interface),
            Err(_) => cx.timers().after(AGAIN, RETRY),
        }
    }
}
