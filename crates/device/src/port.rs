//! The ways to reach the kernel's interfaces, behind one face.

use crate::frame::{Frame, Sent};
use crate::offload;
use crate::packet_socket::{self, Group, Keeping, Kept, PacketRx, PacketTx};
use crate::trouble::Trouble;
use crate::xdp::{self, XdpRx, XdpTx};
use packet::{Anno, BATCH_MAX, Batch, Packet, Pool};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

pub use crate::frame::Taken;

/// How to receive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// Through a packet socket, perhaps keeping frames from the kernel, except what the rules leave to it.
    Packet(packet_socket::Options, Option<Vec<xdp::Rule>>),
    /// Through XDP sockets.
    Xdp(xdp::Options),
}

/// How frames that have to be copied become packets.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Free bytes in front of each.
    pub headroom: usize,
    /// Whether to set the time.
    pub timestamp: bool,
}

impl Shape {
    /// Makes a packet of a received frame; `None` without memory.
    #[inline]
    fn packet(self, pool: &mut Pool, frame: &Frame<'_>) -> Option<Packet> {
        let tag = if frame.vlan.is_some() && frame.data.len() >= 12 { 4 } else { 0 };
        let mut packet = pool.alloc(self.headroom, frame.data.len() + tag)?;
        match frame.vlan {
            Some((protocol, tci)) if tag > 0 => {
                let (addresses, rest) = frame.data.split_at(12);
                let data = packet.data_mut();
                data[..12].copy_from_slice(addresses);
                data[12..14].copy_from_slice(&protocol.to_be_bytes());
                data[14..16].copy_from_slice(&tci.to_be_bytes());
                data[16..].copy_from_slice(rest);
            }
            _ => packet.data_mut().copy_from_slice(frame.data),
        }
        if frame.unfinished {
            offload::finish_checksum(packet.data_mut());
        }
        packet.set_mac_offset(0);
        packet.set_kind(frame.addressee);
        if self.timestamp {
            packet.set_timestamp_ns(frame.time_ns);
        }
        if frame.len > frame.data.len() {
            packet.set_anno(Anno::EXTRA_LENGTH, (frame.len - frame.data.len()) as u64);
        }
        Some(packet)
    }
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
                    taken.looked_at += rx.receive(max - taken.looked_at, |frame| {
                        if wanted(&frame) {
                            match shape.packet(pool, &frame) {
                                Some(packet) => batch.push(packet),
                                None => taken.lost += 1,
                            }
                        }
                    });
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
            let count = rx.receive(max - taken.looked_at, |frame| {
                if wanted(&frame) {
                    match shape.packet(pool, &frame) {
                        Some(packet) => batch.push(packet),
                        None => taken.lost += 1,
                    }
                }
            });
            taken.looked_at += count.taken;
            taken.refused += count.refused;
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

    /// How frames come, for the user.
    pub fn mode(&self) -> String {
        match self {
            Rx::Packet(_) => "packet socket".to_owned(),
            Rx::Xdp(queues) => queues.iter().map(XdpRx::mode).collect::<Vec<_>>().join("; "),
        }
    }
}

/// What sends.
pub enum Tx {
    /// A packet socket.
    Packet(PacketTx),
    /// An XDP socket.
    Xdp(XdpTx),
}

impl Tx {
    /// Opens an interface; with a queue an XDP socket.
    ///
    /// # Errors
    /// What the kernel refuses, and why perhaps.
    pub fn open(interface: &str, queue: Option<u32>) -> Result<Tx, Trouble> {
        match queue {
            Some(queue) => XdpTx::open(interface, queue).map(Tx::Xdp),
            None => PacketTx::open(interface).map(Tx::Packet),
        }
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

    /// Finds buffers to copy to if there are none since there was no memory. For a timer.
    pub fn replenish(&mut self) {
        if let Tx::Xdp(tx) = self {
            tx.replenish();
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
