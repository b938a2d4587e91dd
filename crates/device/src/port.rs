//! The ways to reach the kernel's interfaces, behind one face.

use crate::frame::{Frame, Sent};
use crate::kept::{Keeping, Kept};
use crate::packet_socket::{self, Group, PacketRx, PacketTx, Queued};
use crate::trouble::Trouble;
use crate::xdp::{self, XdpRx, XdpTx};
use packet::{BATCH_MAX, Batch, Packet, Pool};
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

pub use crate::frame::Taken;
pub use crate::shape::Shape;

/// How to receive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// Through a packet socket, perhaps keeping frames from the kernel, except what the rules leave to it.
    Packet(packet_socket::Options, Option<Vec<xdp::Rule>>),
    /// Through XDP sockets.
    Xdp(xdp::Options),
}

/// What receives.
pub enum Rx {
    /// Packet sockets, each with what keeps the frames from the kernel; several if this goes on with those of other workers.
    Packet(Vec<(PacketRx, Option<OwnedFd>)>),
    /// XDP sockets, one for each queue.
    Xdp(Vec<XdpRx>),
}

impl Rx {
    /// Opens an interface: these queues of it, or a share in the group.
    ///
    /// # Errors
    /// What the kernel refuses, and why perhaps.
    /// Control frames that come by themselves come to what is `first`.
    pub fn open(
        interface: &str,
        method: &Method,
        queues: &[u32],
        group: Option<&mut Group>,
        first: bool,
    ) -> Result<Rx, Trouble> {
        match method {
            Method::Packet(options, left) => {
                let rx = PacketRx::open(interface, options, group, first)?;
                let hint = "kernel 6.6 or later is needed; without SNIFFER false the kernel gets them, too";
                let refuse =
                    |error| Trouble::new(interface, "keeping frames from the kernel", error, Some(hint));
                let take = |left: &Vec<_>| xdp::take_from_kernel(rx.index(), left).map_err(refuse);
                let grip = left.as_ref().map(take).transpose()?;
                Ok(Rx::Packet(vec![(rx, grip)]))
            }
            Method::Xdp(options) => {
                let open = |&queue: &u32| XdpRx::open(interface, queue, options);
                queues.iter().map(open).collect::<Result<_, _>>().map(Rx::Xdp)
            }
        }
    }

    /// What another program that takes this one's place needs to go on with the sockets; `None` of XDP sockets, whose buffers end with the
    /// program.
    ///
    /// # Errors
    /// That descriptors cannot be copied.
    pub fn keep(&self) -> io::Result<Option<Kept>> {
        let Rx::Packet(sockets) = self else { return Ok(None) };
        let mut kept = Kept { numbers: vec![sockets.len() as u64], ..Kept::default() };
        for (rx, grip) in sockets {
            rx.keep(&mut kept)?;
            kept.numbers.push(u64::from(grip.is_some()));
            kept.fds.extend(grip.as_ref().map(OwnedFd::try_clone).transpose()?);
        }
        Ok(Some(kept))
    }

    /// Packets that have been received and did not fit into a batch: they go on beside what is kept.
    pub fn left_over(&self) -> impl Iterator<Item = &Packet> {
        let packet = if let Rx::Packet(sockets) = self { &sockets[..] } else { &[] };
        packet.iter().flat_map(|(rx, _)| rx.left_over())
    }

    /// Takes a packet that was left over, in the order in which they were: it comes before what is in the rings. XDP sockets return it.
    #[must_use = "a packet belongs to a pool"]
    pub fn put_back(&mut self, packet: Packet) -> Option<Packet> {
        if let Rx::Packet(sockets) = self
            && let Some((rx, _)) = sockets.first_mut()
        {
            rx.spill.push_back(packet);
            return None;
        }
        Some(packet)
    }

    /// Goes on with what another program has kept.
    ///
    /// # Errors
    /// That it makes no sense, or that rings cannot be mapped.
    pub fn go_on(kept: Kept) -> io::Result<Rx> {
        let mut keeping = Keeping::new(kept);
        let mut sockets = Vec::new();
        for _ in 0..keeping.number()? {
            let rx = PacketRx::go_on(&mut keeping)?;
            let grip = if keeping.number()? == 0 { None } else { Some(keeping.fd()?) };
            sockets.push((rx, grip));
        }
        if sockets.is_empty() { Err(io::ErrorKind::InvalidData.into()) } else { Ok(Rx::Packet(sockets)) }
    }

    /// Adds up to `max` received frames, as far as the batch holds them, for which `wanted` holds. XDP does not say when
    /// frames came: `now_ns` is taken for it.
    #[inline]
    pub fn receive(
        &mut self,
        pool: &mut Pool,
        batch: &mut Batch,
        (max, now_ns): (usize, i64),
        shape: Shape,
        mut wanted: impl FnMut(&Frame<'_>) -> bool,
    ) -> Taken {
        let max = max.min(BATCH_MAX - batch.len());
        match self {
            Rx::Packet(sockets) => {
                let mut taken = Taken::default();
                for (rx, _) in sockets.iter_mut() {
                    taken.add(of_socket(
                        rx,
                        pool,
                        batch,
                        max.saturating_sub(taken.looked_at),
                        shape,
                        &mut wanted,
                    ));
                }
                if sockets.len() > 1 {
                    sockets.rotate_left(1);
                }
                taken
            }
            Rx::Xdp(queues) => {
                let mut taken = Taken::default();
                for rx in queues.iter_mut() {
                    let of_this = rx.receive(pool, batch, max - taken.looked_at, &mut wanted);
                    taken.looked_at += of_this.looked_at;
                    taken.lost += of_this.lost;
                }
                // Another queue is the first next time, so that a busy one does not starve the others.
                if queues.len() > 1 {
                    queues.rotate_left(1);
                }
                if shape.timestamp {
                    batch.iter_mut().for_each(|packet| packet.set_timestamp_ns(now_ns));
                }
                taken
            }
        }
    }

    /// Adds up to `max` received control frames that come by themselves, as far as the batch holds them, for which `wanted` holds.
    #[inline]
    pub fn receive_control(
        &mut self,
        pool: &mut Pool,
        batch: &mut Batch,
        max: usize,
        shape: Shape,
        mut wanted: impl FnMut(&Frame<'_>) -> bool,
    ) -> Taken {
        let mut taken = Taken::default();
        let max = max.min(BATCH_MAX - batch.len());
        let (packet, xdp) = match self {
            Rx::Packet(sockets) => (&mut sockets[..], &mut [][..]),
            Rx::Xdp(queues) => (&mut [][..], &mut queues[..]),
        };
        let packet = packet.iter_mut().filter_map(|(rx, _)| rx.control());
        for rx in packet.chain(xdp.iter_mut().filter_map(XdpRx::control)) {
            let left = pour(&mut rx.spill, batch);
            let mut of_this = Taken { looked_at: left, ..Taken::default() };
            let max = if left > 0 { 0 } else { max.saturating_sub(taken.looked_at) };
            let count = rx.receive(max, |frame, queued, spill| {
                if wanted(&frame) {
                    of_this.add(put(shape, pool, batch, &frame, queued, spill));
                }
                !batch.is_full() && spill.is_empty()
            });
            of_this.looked_at += count.taken;
            of_this.refused += count.refused;
            taken.add(of_this);
        }
        taken
    }

    /// What is readable when there are frames.
    pub fn fds(&self) -> impl Iterator<Item = &Arc<OwnedFd>> {
        let (packet, xdp) = match self {
            Rx::Packet(sockets) => (&sockets[..], &[][..]),
            Rx::Xdp(queues) => (&[][..], &queues[..]),
        };
        packet.iter().flat_map(|(rx, _)| rx.fds()).chain(xdp.iter().flat_map(XdpRx::fds))
    }

    /// The sockets one by one.
    pub fn split(self) -> Vec<Rx> {
        match self {
            Rx::Packet(sockets) => sockets.into_iter().map(|socket| Rx::Packet(vec![socket])).collect(),
            Rx::Xdp(queues) => queues.into_iter().map(|queue| Rx::Xdp(vec![queue])).collect(),
        }
    }

    /// Receives from another one's sockets, too. They are of the same method.
    pub fn append(&mut self, other: Rx) {
        match (self, other) {
            (Rx::Packet(sockets), Rx::Packet(others)) => sockets.extend(others),
            (Rx::Xdp(queues), Rx::Xdp(others)) => queues.extend(others),
            (Rx::Packet(_), Rx::Xdp(_)) | (Rx::Xdp(_), Rx::Packet(_)) => {}
        }
    }

    /// The queues that are served; none by packet sockets.
    pub fn queues(&self) -> impl Iterator<Item = u32> {
        let xdp = match self {
            Rx::Packet(_) => &[][..],
            Rx::Xdp(queues) => queues,
        };
        xdp.iter().map(XdpRx::queue)
    }

    /// Lets others have a share of a packet socket's frames: says which group they are to join.
    ///
    /// # Errors
    /// What the kernel refuses, and why perhaps; it goes on alone then.
    pub fn share(&mut self, interface: &str, group: &mut Group) -> Result<(), Trouble> {
        match self {
            Rx::Packet(sockets) => sockets.iter_mut().try_for_each(|(rx, _)| rx.share(interface, group)),
            Rx::Xdp(_) => Ok(()),
        }
    }

    /// Lets nothing more into packet sockets; what is in their rings can still be received.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn close(&self) -> io::Result<()> {
        match self {
            Rx::Packet(sockets) => sockets.iter().try_for_each(|(rx, _)| rx.close()),
            Rx::Xdp(_) => Ok(()),
        }
    }

    /// Forgets what is in packet sockets' rings.
    pub fn skip(&mut self) {
        if let Rx::Packet(sockets) = self {
            sockets.iter_mut().for_each(|(rx, _)| rx.skip());
        }
    }

    /// Frames that were lost because no worker fetched them in time, since this was asked last: data, and control frames.
    pub fn take_losses(&mut self) -> (u64, u64) {
        let add = |(a, b): (u64, u64), (c, d)| (a + c, b + d);
        match self {
            Rx::Packet(sockets) => sockets.iter_mut().map(|(rx, _)| rx.take_losses()).fold((0, 0), add),
            Rx::Xdp(queues) => queues.iter_mut().map(XdpRx::take_losses).fold((0, 0), add),
        }
    }

    /// Frames that it holds, at most: fewer than have to come before one is lost.
    pub fn room(&self) -> usize {
        match self {
            Rx::Packet(sockets) => sockets.iter().map(|(rx, _)| rx.room()).min().unwrap_or(0),
            Rx::Xdp(_) => xdp::ROOM,
        }
    }

    /// What went wrong since this was asked last.
    pub fn failure(&self, interface: &str) -> Option<Trouble> {
        match self {
            Rx::Packet(sockets) => sockets.iter().find_map(|(rx, _)| rx.failure(interface)),
            Rx::Xdp(queues) => queues.iter().find_map(|rx| rx.failure(interface)),
        }
    }

    /// Whether the interface of this name is another one now, or none: it has to be opened again.
    pub fn is_stale(&self, interface: &str) -> bool {
        match self {
            Rx::Packet(sockets) => sockets.iter().any(|(rx, _)| rx.is_stale(interface)),
            Rx::Xdp(queues) => queues.iter().any(|rx| rx.is_stale(interface)),
        }
    }

    /// Whether frames may come that are longer than this was opened for.
    pub fn is_outgrown(&self, interface: &str) -> bool {
        match self {
            Rx::Packet(sockets) => sockets.iter().any(|(rx, _)| rx.is_outgrown(interface)),
            Rx::Xdp(_) => false,
        }
    }

    /// Lends the kernel buffers that it lacks since there was no memory for them; whether it still lacks some. For a timer.
    pub fn replenish(&mut self) -> bool {
        match self {
            Rx::Packet(_) => false,
            Rx::Xdp(queues) => queues.iter_mut().map(XdpRx::replenish).filter(|&lacks| lacks).count() > 0,
        }
    }

    /// Whether the kernel lacks so many buffers that it will lose frames.
    pub fn is_starved(&self) -> bool {
        match self {
            Rx::Packet(_) => false,
            Rx::Xdp(queues) => queues.iter().any(XdpRx::is_starved),
        }
    }

    /// Whether long segments come whole through packet sockets.
    pub fn has_segments(&self) -> bool {
        matches!(self, Rx::Packet(sockets) if sockets.iter().all(|(rx, _)| rx.has_segments()))
    }

    /// Whether the kernel has lost its place in a packet socket's ring ([`PacketRx::is_stuck`]).
    pub fn is_stuck(&self) -> bool {
        matches!(self, Rx::Packet(sockets) if sockets.iter().any(|(rx, _)| rx.is_stuck()))
    }

    /// How frames come, for the user.
    pub fn mode(&self) -> String {
        match self {
            Rx::Packet(_) if self.has_segments() => "packet socket with long segments".to_owned(),
            Rx::Packet(_) => "packet socket".to_owned(),
            Rx::Xdp(queues) => queues.iter().map(XdpRx::mode).collect::<Vec<_>>().join("; "),
        }
    }
}

/// Receives from a packet socket: packets of a long frame that are left, or up to `max` frames. A long frame is the last one.
#[inline]
fn of_socket(
    rx: &mut PacketRx,
    pool: &mut Pool,
    batch: &mut Batch,
    max: usize,
    shape: Shape,
    mut wanted: impl FnMut(&Frame<'_>) -> bool,
) -> Taken {
    let mut taken = Taken::default();
    if max == 0 {
        return taken;
    }
    taken.looked_at = pour(&mut rx.spill, batch);
    if taken.looked_at == 0 {
        // A batch that has been filled in part by another socket has room for so many.
        let full = (batch.len() + max).min(BATCH_MAX);
        let count = rx.receive(max, |frame, queued, spill| {
            if wanted(&frame) {
                taken.add(put(shape, pool, batch, &frame, queued, spill));
            }
            batch.len() < full && spill.is_empty()
        });
        taken.looked_at = count;
    }
    taken
}

/// Makes packets of a frame, and puts them into the batch, or as far as that is full, into `spill`, which has to be empty.
#[inline]
fn put(
    shape: Shape,
    pool: &mut Pool,
    batch: &mut Batch,
    frame: &Frame<'_>,
    queued: &mut Queued<'_>,
    spill: &mut VecDeque<Packet>,
) -> Taken {
    let mut taken = Taken::default();
    if frame.note.is_long() || frame.waits {
        taken = shape.packets(pool, frame, queued, spill);
        pour(spill, batch);
    } else {
        match shape.packet(pool, frame) {
            Some(packet) => batch.push(packet),
            None => taken.lost = 1,
        }
    }
    taken
}

/// Moves packets into a batch as far as it has room; returns how many.
#[inline]
fn pour(spill: &mut VecDeque<Packet>, batch: &mut Batch) -> usize {
    let count = spill.len().min(BATCH_MAX - batch.len());
    batch.extend(spill.drain(..count));
    count
}

/// What sends.
pub enum Tx {
    /// A packet socket.
    Packet(PacketTx),
    /// An XDP socket.
    Xdp(XdpTx),
}

impl Tx {
    /// Opens an interface; with a queue an XDP socket. A packet socket merges segments if it `merges`.
    ///
    /// # Errors
    /// What the kernel refuses, and why perhaps.
    pub fn open(interface: &str, queue: Option<u32>, merges: bool) -> Result<Tx, Trouble> {
        match queue {
            Some(queue) => XdpTx::open(interface, queue).map(Tx::Xdp),
            None => PacketTx::open(interface, merges).map(Tx::Packet),
        }
    }

    /// Whether segments are merged.
    pub fn merges(&self) -> bool {
        matches!(self, Tx::Packet(tx) if tx.merges())
    }

    /// Sends packets, the first of the batch first, as far as the kernel takes them: those that it takes leave the batch.
    /// `sent` gets them, or copies of them, if the caller wants to see them again.
    #[inline]
    pub fn send(&mut self, pool: &mut Pool, batch: &mut Batch, mut sent: Option<&mut Batch>) -> Sent {
        match self {
            Tx::Packet(tx) => {
                let outcome = tx.send(batch.iter().map(Packet::data));
                let mut left = outcome.count;
                batch.filter_map(|packet| {
                    if left == 0 {
                        return Some(packet);
                    }
                    left -= 1;
                    match &mut sent {
                        Some(sent) => sent.push(packet),
                        None => pool.free(packet),
                    }
                    None
                });
                outcome
            }
            Tx::Xdp(tx) => tx.send(pool, batch, sent),
        }
    }

    /// What another program that takes this one's place needs to go on with the socket; `None` of an XDP socket.
    ///
    /// # Errors
    /// That its descriptor cannot be copied.
    pub fn keep(&self) -> io::Result<Option<Kept>> {
        match self {
            Tx::Packet(tx) => tx.keep().map(Some),
            Tx::Xdp(_) => Ok(None),
        }
    }

    /// Goes on with what another program has kept.
    ///
    /// # Errors
    /// That it makes no sense.
    pub fn go_on_with(kept: Kept) -> io::Result<Tx> {
        PacketTx::go_on(kept).map(Tx::Packet)
    }

    /// Whether frames wait that the kernel did not take up when it was told of them; [`Tx::go_on`] tells it again.
    #[inline]
    pub fn has_unsent(&self) -> bool {
        matches!(self, Tx::Xdp(tx) if tx.has_unsent())
    }

    /// Tells the kernel again of frames that it was told of.
    ///
    /// # Errors
    /// What the kernel says about the interface.
    pub fn go_on(&mut self, pool: &mut Pool) -> io::Result<()> {
        match self {
            Tx::Packet(_) => Ok(()),
            Tx::Xdp(tx) => tx.go_on(pool),
        }
    }

    /// Finds buffers to copy to if there are none since there was no memory, and asks for the interface's MTU. For a timer.
    pub fn replenish(&mut self, interface: &str) {
        match self {
            Tx::Packet(tx) => tx.look(interface),
            Tx::Xdp(tx) => {
                tx.replenish();
            }
        }
    }

    /// Whether the interface of this name is another one now, or none: it has to be opened again.
    pub fn is_stale(&self, interface: &str) -> bool {
        match self {
            Tx::Packet(tx) => tx.is_stale(interface),
            Tx::Xdp(tx) => tx.is_stale(interface),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept::NONE;

    /// What was left over goes on before anything else, in its order, and as much at a time as a batch holds. (A mapping of /dev/zero stands for
    /// the ring.)
    #[test]
    fn what_was_left_over_comes_first() {
        let fd = std::fs::OpenOptions::new().read(true).write(true).open("/dev/zero").unwrap().into();
        let numbers = [1, 0, 0, 2144, 30, 65_536, 300, 299, 5, 6, 1, NONE, NONE, 0, 0].to_vec();
        let mut rx = Rx::go_on(Kept { fds: vec![fd], numbers }).unwrap();
        let mut pool = Pool::new();
        for i in 0..BATCH_MAX + 6 {
            let mut packet = pool.alloc(100, 60).unwrap();
            packet.data_mut().fill(i as u8);
            assert!(rx.put_back(packet).is_none());
        }
        let first = |packets: &[Packet]| packets.iter().map(|packet| packet.data()[7]).collect::<Vec<_>>();
        let left: Vec<u8> = rx.left_over().map(|packet| packet.data()[7]).collect();
        assert_eq!(left, (0..BATCH_MAX as u8 + 6).collect::<Vec<_>>());
        let shape = Shape { headroom: 100, timestamp: false };
        let mut receive = |pool: &mut Pool| {
            let mut batch = pool.batch();
            rx.receive(pool, &mut batch, (BATCH_MAX, 0), shape, |_| true);
            let got = first(batch.packets());
            pool.recycle(batch);
            got
        };
        assert_eq!(receive(&mut pool), left[..BATCH_MAX]);
        assert_eq!(receive(&mut pool), left[BATCH_MAX..]);
        assert_eq!(receive(&mut pool), [0; 0]);
    }
}
