//! The ways to reach the kernel's interfaces, behind one face.

use crate::packet_socket::{self, Frame, Group, PacketRx, PacketTx, Sent};
use crate::trouble::Trouble;
use crate::xdp::{self, XdpRx, XdpTx};
use std::os::fd::OwnedFd;
use std::sync::Arc;

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
    /// A packet socket, and what keeps the frames from the kernel.
    Packet(PacketRx, Option<OwnedFd>),
    /// XDP sockets, one for each queue.
    Xdp(Vec<XdpRx>),
}

impl Rx {
    /// Opens an interface: these queues of it, or a share in the group.
    ///
    /// # Errors
    /// What the kernel refuses, and why perhaps.
    pub fn open(
        interface: &str,
        method: &Method,
        queues: &[u32],
        group: Option<&mut Group>,
    ) -> Result<Rx, Trouble> {
        match method {
            Method::Packet(options, left) => {
                let rx = PacketRx::open(interface, options, group)?;
                let hint = "kernel 6.6 or later is needed; without SNIFFER false the kernel gets them, too";
                let refuse =
                    |error| Trouble::new(interface, "keeping frames from the kernel", error, Some(hint));
                let take = |left: &Vec<_>| xdp::take_from_kernel(rx.index(), left).map_err(refuse);
                let grip = left.as_ref().map(take).transpose()?;
                Ok(Rx::Packet(rx, grip))
            }
            Method::Xdp(options) => {
                let open = |&queue: &u32| XdpRx::open(interface, queue, options);
                queues.iter().map(open).collect::<Result<_, _>>().map(Rx::Xdp)
            }
        }
    }

    /// Hands up to `max` frames (of each queue) to `f`; returns how many were looked at. XDP does not say when frames came:
    /// `now_ns` is taken for it.
    #[inline]
    pub fn receive(&mut self, max: usize, now_ns: i64, mut f: impl FnMut(Frame<'_>)) -> usize {
        match self {
            Rx::Packet(rx, _) => rx.receive(max, f),
            Rx::Xdp(queues) => queues.iter_mut().map(|rx| rx.receive(max, now_ns, &mut f)).sum(),
        }
    }

    /// What is readable when there are frames.
    pub fn fds(&self) -> impl Iterator<Item = &Arc<OwnedFd>> {
        let (packet, xdp) = match self {
            Rx::Packet(rx, _) => (Some(rx.fd()), &[][..]),
            Rx::Xdp(queues) => (None, &queues[..]),
        };
        packet.into_iter().chain(xdp.iter().map(XdpRx::fd))
    }

    /// Frames that were lost so far because nobody fetched them in time.
    pub fn drops(&mut self) -> u64 {
        match self {
            Rx::Packet(rx, _) => rx.drops(),
            Rx::Xdp(queues) => queues.iter().map(XdpRx::drops).sum(),
        }
    }

    /// What went wrong since this was asked last.
    pub fn failure(&self, interface: &str) -> Option<Trouble> {
        match self {
            Rx::Packet(rx, _) => rx.failure(interface),
            Rx::Xdp(queues) => queues.iter().find_map(|rx| rx.failure(interface)),
        }
    }

    /// Whether the interface of this name is another one now, or none: it has to be opened again.
    pub fn is_stale(&self, interface: &str) -> bool {
        match self {
            Rx::Packet(rx, _) => rx.is_stale(interface),
            Rx::Xdp(queues) => queues.iter().any(|rx| rx.is_stale(interface)),
        }
    }

    /// How frames come, for the user.
    pub fn mode(&self) -> String {
        match self {
            Rx::Packet(..) => "packet socket".to_owned(),
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

    /// Sends frames, as far as the kernel takes them.
    #[inline]
    pub fn send<'a>(&mut self, frames: impl Iterator<Item = &'a [u8]>) -> Sent {
        match self {
            Tx::Packet(tx) => tx.send(frames),
            Tx::Xdp(tx) => tx.send(frames),
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
