//! Frames through AF_PACKET sockets: every driver can do that.
//!
//! Frames are received through a ring that is shared with the kernel ([`ring`]): looking whether there are any costs no
//! system call. Frames are sent by the batch, with one system call.
//!
//! Control frames ([`crate::control`]) come through a socket and a ring of their own ([`control_ring`]), so that a data path that is
//! overloaded does not lose them: filters ([`filter`]) divide the frames between the two sockets.

mod control_ring;
mod filter;
mod kept;
mod ring;

use crate::control;
use crate::sys;
use crate::trouble::Trouble;
use filter::Wanted;
use ring::{FRAMES, FRAMES_OF_MANY, Ring};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

pub use crate::frame::{Frame, Sent};
pub use control_ring::{ControlRx, ControlTaken};
pub(crate) use kept::Keeping;
pub use kept::Kept;

/// Frames for which a ring has room, at least.
const FRAMES_LEAST: usize = 256;
/// Frames that are sent with one system call.
const SEND_MAX: usize = 64;

/// How to receive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Receive frames for other hosts, too.
    pub promiscuous: bool,
    /// Receive what this machine sends, too.
    pub outbound: bool,
    /// Bytes of a frame, at most; `None`: as many as the interface's MTU needs, and 2,046 at least.
    pub snaplen: Option<usize>,
    /// Milliseconds for which the kernel may hold frames back until there are more; 0 for not at all.
    pub wait_ms: u32,
    /// Only what arrived at this queue of the interface.
    pub queue: Option<u16>,
    /// Control frames come by themselves.
    pub control: bool,
}

/// Receives the frames of an interface, or a share of them.
pub struct PacketRx {
    fd: Arc<OwnedFd>,
    ring: Ring,
    losses: Losses,
    index: i32,
    /// What the kernel knows the group by that it is in.
    group: Option<u16>,
    /// Bytes of a frame, at most, if they follow the interface's MTU.
    follows: Option<usize>,
    /// Where control frames come, if they come by themselves, and here.
    control: Option<ControlRx>,
}

/// Frames that a socket has lost because its ring was full.
#[derive(Default)]
struct Losses {
    /// Those that were told of.
    told: u64,
    total: u64,
}

impl Losses {
    /// Asks the kernel, which forgets what it has told.
    fn ask(&mut self, fd: &OwnedFd) -> u64 {
        let now = sys::option::<libc::tpacket_stats>(fd, libc::SOL_PACKET, libc::PACKET_STATISTICS);
        self.total += now.map_or(0, |stats| u64::from(stats.tp_drops));
        self.total
    }

    /// Those since this was asked last.
    fn take(&mut self, fd: &OwnedFd) -> u64 {
        let total = self.ask(fd);
        total - std::mem::replace(&mut self.told, total)
    }
}

/// Bytes of a frame that an interface can receive: its MTU, a link-layer header and two VLAN tags; not less than Click's default, and no
/// more than the kernel tells of.
pub(crate) fn default_snaplen(interface: &str) -> io::Result<usize> {
    Ok((sys::mtu(interface)? + LINK_LEN).clamp(SNAPLEN_LEAST, SNAPLEN_MOST))
}

/// Bytes in front of a packet, at most.
const LINK_LEN: usize = 14 + 2 * 4;
const SNAPLEN_LEAST: usize = 2046;
const SNAPLEN_MOST: usize = 65_535;

/// The number of the interface that a socket is bound to: that of none once its interface has gone.
fn bound_to(fd: &OwnedFd) -> Option<i32> {
    sys::packet_address(fd).ok().map(|address| address.sll_ifindex)
}

fn bind(fd: &OwnedFd, index: i32, protocol: u16) -> io::Result<()> {
    // SAFETY: a structure of integers.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol.to_be();
    address.sll_ifindex = index;
    // SAFETY: it is a socket address.
    unsafe { sys::bind(fd, &address) }
}

/// Makes a socket that receives the frames of an interface into a ring, but lets nothing in yet: nothing may come before all is set.
fn ring_on(
    interface: &str,
    index: i32,
    (frames, snaplen): (usize, usize),
    options: &Options,
) -> Result<(OwnedFd, Ring), Trouble> {
    let at = |doing| Trouble::at(interface, doing);
    let fd = sys::socket(libc::AF_PACKET, libc::SOCK_RAW, 0).map_err(at("opening a packet socket"))?;
    // Longer frames do not take more memory.
    let frames = (frames * SNAPLEN_LEAST / snaplen.max(SNAPLEN_LEAST)).max(FRAMES_LEAST);
    let ring = Ring::new(&fd, frames, snaplen, options.wait_ms)
        .map_err(at("making the receive ring (PACKET_RX_RING)"))?;
    if !options.outbound {
        // Older kernels do not know it; `receive` leaves such frames out, too.
        let _ = sys::set_option(&fd, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1i32);
    }
    filter::close(&fd).map_err(at("closing the socket's door"))?;
    bind(&fd, index, libc::ETH_P_ALL as u16).map_err(at("binding a packet socket"))?;
    Ok((fd, ring))
}

impl PacketRx {
    /// Opens an interface. With `fanout`, each frame goes to one of the sockets that were opened with it, by flow. If control frames come
    /// by themselves, they come to the sockets that are `first`.
    ///
    /// # Errors
    /// What the kernel refuses, and why perhaps.
    pub fn open(
        interface: &str,
        options: &Options,
        fanout: Option<&mut Group>,
        first: bool,
    ) -> Result<PacketRx, Trouble> {
        let at = |doing| Trouble::at(interface, doing);
        let index = sys::index_of(interface).map_err(at("looking it up"))?;
        let snaplen = match options.snaplen {
            Some(snaplen) => snaplen,
            None => default_snaplen(interface).map_err(at("asking for its MTU"))?,
        };
        let frames = if fanout.is_some() { FRAMES_OF_MANY } else { FRAMES };
        let (fd, ring) = ring_on(interface, index, (frames, snaplen), options)?;
        let kind = if options.promiscuous { libc::PACKET_MR_PROMISC } else { libc::PACKET_MR_ALLMULTI };
        let member =
            libc::packet_mreq { mr_ifindex: index, mr_type: kind as u16, mr_alen: 0, mr_address: [0; 8] };
        sys::set_option(&fd, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &member)
            .map_err(at("setting promiscuous mode (PACKET_ADD_MEMBERSHIP)"))?;
        let join =
            |group| join(&fd, index, group).map_err(at("sharing packets between workers (PACKET_FANOUT)"));
        let group = fanout.map(join).transpose()?;
        let first = first && options.control;
        let control = first.then(|| ControlRx::open(interface, index, snaplen, options, &[])).transpose()?;
        let rules = control::rules();
        filter::open(&fd, options.queue, options.control.then_some(Wanted::Others(&rules)))
            .map_err(at("choosing its frames"))?;
        let follows = options.snaplen.is_none().then_some(snaplen);
        let losses = Losses::default();
        Ok(PacketRx { fd: Arc::new(fd), ring, losses, index, group, follows, control })
    }

    /// The number that the kernel knows the interface by.
    pub(crate) fn index(&self) -> i32 {
        self.index
    }

    /// Lets others have a share of the frames: says which group they are to join. A socket that is in none founds it.
    ///
    /// # Errors
    /// What the kernel refuses, and why perhaps; the socket goes on alone then.
    pub(crate) fn share(&mut self, interface: &str, group: &mut Group) -> Result<(), Trouble> {
        match self.group {
            Some(id) => group.known = Some((self.index, id)),
            None => {
                *group = Group::default();
                let joined = join(&self.fd, self.index, group);
                self.group = Some(
                    joined
                        .map_err(Trouble::at(interface, "sharing packets between workers (PACKET_FANOUT)"))?,
                );
            }
        }
        Ok(())
    }

    /// Lets nothing more in: what is in the ring can still be received.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn close(&self) -> io::Result<()> {
        self.control.iter().try_for_each(ControlRx::close)?;
        filter::close(&self.fd)
    }

    /// Forgets what is in the ring.
    pub(crate) fn skip(&mut self) {
        self.ring.receive(FRAMES, |_| {});
        self.control.iter_mut().for_each(ControlRx::skip);
    }

    /// Whether the interface's MTU has become too large for the ring, so that it has to be opened anew.
    pub fn is_outgrown(&self, interface: &str) -> bool {
        self.follows.is_some_and(|len| default_snaplen(interface).is_ok_and(|now| now > len))
    }

    /// What is readable when there are frames.
    pub fn fds(&self) -> impl Iterator<Item = &Arc<OwnedFd>> {
        std::iter::once(&self.fd).chain(self.control.iter().map(ControlRx::fd))
    }

    /// Hands up to `max` frames to `f`; returns how many there were.
    #[inline]
    pub fn receive(&mut self, max: usize, f: impl FnMut(Frame<'_>)) -> usize {
        self.ring.receive(max, f)
    }

    /// Where control frames come, if they come by themselves, and here.
    #[inline]
    pub fn control(&mut self) -> Option<&mut ControlRx> {
        self.control.as_mut()
    }

    /// Frames that it holds, at most.
    pub fn room(&self) -> usize {
        self.ring.room()
    }

    /// Frames that were lost because a ring was full, since this was asked last: data, and control frames.
    pub fn take_losses(&mut self) -> (u64, u64) {
        let control = self.control.as_mut().map_or(0, ControlRx::take_losses);
        (self.losses.take(&self.fd), control)
    }

    /// What went wrong since this was asked last: the interface went down, perhaps, or is gone.
    pub fn failure(&self, interface: &str) -> Option<Trouble> {
        let error = sys::pending_error(&self.fd)?;
        Some(Trouble::new(interface, "receiving", error, Some("waiting for it to come back")))
    }

    /// Whether the interface of this name is another one now, or none: the socket has to be opened again.
    pub fn is_stale(&self, interface: &str) -> bool {
        // One that left and came back under its number, from another namespace for instance, has lost the socket all the same.
        sys::index_of(interface).ok() != Some(self.index) || bound_to(&self.fd) != Some(self.index)
    }
}

/// Sockets that share the frames of an interface.
#[derive(Debug, Default)]
pub struct Group {
    /// The interface, and what the kernel knows the group by.
    known: Option<(i32, u16)>,
}

/// Joins a group of sockets; the first founds it. Returns what the kernel knows it by.
fn join(fd: &OwnedFd, index: i32, group: &mut Group) -> io::Result<u16> {
    let way = match group.known {
        Some((of, id)) if of == index => (libc::PACKET_FANOUT_HASH << 16) | u32::from(id),
        _ => (libc::PACKET_FANOUT_HASH | libc::PACKET_FANOUT_FLAG_UNIQUEID) << 16,
    };
    sys::set_option(fd, libc::SOL_PACKET, libc::PACKET_FANOUT, &way)?;
    let joined: u32 = sys::option(fd, libc::SOL_PACKET, libc::PACKET_FANOUT)?;
    group.known = Some((index, joined as u16));
    Ok(joined as u16)
}

/// Sends frames to an interface.
pub struct PacketTx {
    fd: OwnedFd,
    index: i32,
}

impl PacketTx {
    /// Opens an interface.
    ///
    /// # Errors
    /// What the kernel refuses, and why perhaps.
    pub fn open(interface: &str) -> Result<PacketTx, Trouble> {
        let at = |doing| Trouble::at(interface, doing);
        let fd = sys::socket(libc::AF_PACKET, libc::SOCK_RAW, 0).map_err(at("opening a packet socket"))?;
        let index = sys::index_of(interface).map_err(at("looking it up"))?;
        // Protocol 0: nothing is received.
        bind(&fd, index, 0).map_err(at("binding a packet socket"))?;
        Ok(PacketTx { fd, index })
    }

    /// Whether the interface of this name is another one now, or none: the socket has to be opened again.
    pub fn is_stale(&self, interface: &str) -> bool {
        // One that left and came back under its number, from another namespace for instance, has lost the socket all the same.
        sys::index_of(interface).ok() != Some(self.index) || bound_to(&self.fd) != Some(self.index)
    }

    /// Sends frames, up to 64 of them.
    pub fn send<'a>(&mut self, frames: impl Iterator<Item = &'a [u8]>) -> Sent {
        // SAFETY: structures of integers and pointers, where zero means none.
        let mut vectors: [libc::iovec; SEND_MAX] = unsafe { std::mem::zeroed() };
        // SAFETY: as above.
        let mut messages: [libc::mmsghdr; SEND_MAX] = unsafe { std::mem::zeroed() };
        let mut count = 0;
        for ((frame, vector), message) in frames.zip(&mut vectors).zip(&mut messages) {
            *vector = libc::iovec { iov_base: frame.as_ptr().cast_mut().cast(), iov_len: frame.len() };
            message.msg_hdr.msg_iov = vector;
            message.msg_hdr.msg_iovlen = 1;
            count += 1;
        }
        if count == 0 {
            return Sent { count, error: None };
        }
        // SAFETY: the first `count` messages refer to frames and vectors that outlive the call; the kernel only reads them.
        let sent = unsafe { libc::sendmmsg(self.fd.as_raw_fd(), messages.as_mut_ptr(), count as u32, 0) };
        match usize::try_from(sent) {
            Ok(sent) if sent == count => Sent { count, error: None },
            // The call after a part was sent says why the next frame was not.
            Ok(sent) => Sent { count: sent, error: Some(io::ErrorKind::Interrupted.into()) },
            Err(_) => Sent { count: 0, error: Some(io::Error::last_os_error()) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether an interface has outgrown its ring is asked each second, by workers: not with a packet socket, whose close waits for all
    /// processors.
    #[test]
    fn the_look_for_the_mtu_opens_no_packet_socket() {
        sys::asked::take();
        let _ = default_snaplen("lo");
        let asked = sys::asked::take();
        assert!(!asked.contains(&libc::AF_PACKET), "{asked:?}");
        assert!(!asked.is_empty(), "the look does not ask as it did");
    }
}
