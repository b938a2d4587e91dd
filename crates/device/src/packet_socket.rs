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
mod long;
mod ring;
mod transmit;

use crate::control;
use crate::segments::Cut;
use crate::sys;
use crate::trouble::Trouble;
use filter::Wanted;
use long::Place;
use packet::Packet;
use ring::{FRAMES, FRAMES_OF_MANY, Ring};
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

pub use crate::frame::{Frame, Sent};
pub use control_ring::{ControlRx, ControlTaken};
pub use long::Queued;
pub use transmit::PacketTx;

/// Frames for which a ring has room, at least.
const FRAMES_LEAST: usize = 256;

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
    /// Long segments come whole, with a note about how they are to be cut; not with a `snaplen`, which cuts them.
    pub segments: bool,
}

/// Receives the frames of an interface, or a share of them.
pub struct PacketRx {
    door: Door,
    losses: Losses,
    index: i32,
    /// What the kernel knows the group by that it is in.
    group: Option<u16>,
    /// Bytes of a frame by the interface's MTU, if they follow it.
    follows: Option<usize>,
    /// Where control frames come, if they come by themselves, and here.
    control: Option<ControlRx>,
    /// Packets of a long frame that did not fit into a batch.
    pub(crate) spill: VecDeque<Packet>,
    /// Frames since the last look at losses.
    recent: usize,
    /// Whether the kernel has lost the ring's next slot.
    is_stuck: bool,
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
    Ok(snaplen_of(sys::mtu(interface)?))
}

/// The same for an interface with this MTU.
fn snaplen_of(mtu: usize) -> usize {
    (mtu + LINK_LEN).clamp(SNAPLEN_LEAST, SNAPLEN_MOST)
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

/// A socket with its ring.
struct Door {
    fd: Arc<OwnedFd>,
    ring: Ring,
    /// Whether long frames come through it, with notes.
    is_noted: bool,
    /// Where those are read that the ring has no room for.
    place: Place,
}

impl Door {
    fn new(fd: OwnedFd, ring: Ring, is_noted: bool) -> Door {
        Door { fd: Arc::new(fd), ring, is_noted, place: Place::new(is_noted) }
    }

    /// Hands up to `max` frames to `f`, until it says that it wants no more; returns how many there were.
    #[inline]
    fn receive(&mut self, max: usize, mut f: impl FnMut(Frame<'_>, &mut Queued<'_>) -> bool) -> usize {
        let (fd, place) = (&self.fd, &mut self.place);
        self.ring.receive(max, |frame| {
            let mut queued = Queued::new(fd, place, frame.waits);
            let goes_on = f(frame, &mut queued);
            queued.skip();
            goes_on
        })
    }
}

/// Room for the packets of a long frame that do not fit into a batch.
fn spill(door: &Door) -> VecDeque<Packet> {
    VecDeque::with_capacity(if door.is_noted { Cut::MOST } else { 1 })
}

/// Whether the frames of an interface begin with Ethernet headers.
fn has_ethernet_headers(interface: &str) -> bool {
    sys::link_type(interface).is_ok_and(|kind| matches!(kind, libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK))
}

/// Makes a socket that receives the frames of an interface into a ring, but lets nothing in yet: nothing may come before all is set.
fn door_of(
    interface: &str,
    index: i32,
    (frames, snaplen): (usize, usize),
    options: &Options,
) -> Result<Door, Trouble> {
    let at = |doing| Trouble::at(interface, doing);
    let fd = sys::socket(libc::AF_PACKET, libc::SOCK_RAW, 0).map_err(at("opening a packet socket"))?;
    // Longer frames do not take more memory.
    let frames = (frames * SNAPLEN_LEAST / snaplen.max(SNAPLEN_LEAST)).max(FRAMES_LEAST);
    let wants_long = options.segments && options.snaplen.is_none();
    let is_noted = wants_long && has_ethernet_headers(interface) && long::ask(&fd);
    let ring = Ring::new(&fd, frames, snaplen, options.wait_ms, is_noted)
        .map_err(at("making the receive ring (PACKET_RX_RING)"))?;
    if !options.outbound {
        // Older kernels do not know it; `receive` leaves such frames out, too.
        let _ = sys::set_option(&fd, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1i32);
    }
    filter::close(&fd).map_err(at("closing the socket's door"))?;
    bind(&fd, index, libc::ETH_P_ALL as u16).map_err(at("binding a packet socket"))?;
    Ok(Door::new(fd, ring, is_noted))
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
        let mtu = sys::mtu(interface).map_err(at("asking for its MTU"))?;
        let snaplen = options.snaplen.unwrap_or_else(|| snaplen_of(mtu));
        let frames = if fanout.is_some() { FRAMES_OF_MANY } else { FRAMES };
        let door = door_of(interface, index, (frames, snaplen), options)?;
        let kind = if options.promiscuous { libc::PACKET_MR_PROMISC } else { libc::PACKET_MR_ALLMULTI };
        let member =
            libc::packet_mreq { mr_ifindex: index, mr_type: kind as u16, mr_alen: 0, mr_address: [0; 8] };
        sys::set_option(&door.fd, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &member)
            .map_err(at("setting promiscuous mode (PACKET_ADD_MEMBERSHIP)"))?;
        let first = first && options.control;
        let control = first.then(|| ControlRx::open(interface, index, snaplen, options, &[])).transpose()?;
        let rules = control::rules();
        let bound = door.is_noted.then_some(mtu + LINK_LEN);
        let sharing = "sharing packets between workers (PACKET_FANOUT)";
        if let Some(group) = &fanout {
            join(&door.fd, index, group).map_err(at(sharing))?;
            // At once: a frame that the group gives to a socket whose door is closed is lost, and the kernel takes its time to compile what
            // decides from then on.
            filter::lift(&door.fd).map_err(at("opening the socket's door"))?;
        }
        filter::open(&door.fd, (options.queue, bound), options.control.then_some(Wanted::Others(&rules)))
            .map_err(at("choosing its frames"))?;
        let group = fanout.map(|group| group.note(&door.fd, index).map_err(at(sharing))).transpose()?;
        let follows = options.snaplen.is_none().then_some(mtu);
        let spill = spill(&door);
        let losses = Losses::default();
        Ok(PacketRx { door, losses, index, group, follows, control, spill, recent: 0, is_stuck: false })
    }

    /// Whether long segments come whole.
    pub fn has_segments(&self) -> bool {
        self.door.is_noted
    }

    /// Whether the kernel has lost its place in the ring, so that it drops all that comes: the socket has to be opened anew, without long
    /// segments. Linux does so after a segment that its note cannot describe.
    pub fn is_stuck(&self) -> bool {
        self.is_stuck
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
                let joined = join(&self.door.fd, self.index, group)
                    .and_then(|()| group.note(&self.door.fd, self.index));
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
        filter::close(&self.door.fd)
    }

    /// Forgets what is in the ring.
    pub(crate) fn skip(&mut self) {
        self.spill.clear();
        self.door.receive(FRAMES, |_, _| true);
        self.control.iter_mut().for_each(ControlRx::skip);
    }

    /// Whether the interface's MTU has become too large for the ring, so that it has to be opened anew.
    pub fn is_outgrown(&self, interface: &str) -> bool {
        let outgrows =
            |mtu: usize| sys::mtu(interface).is_ok_and(|now| now > mtu && now + LINK_LEN > self.longest(mtu));
        self.follows.is_some_and(outgrows)
    }

    /// Bytes of a frame, at most, if the MTU is this: where long segments come, the filter goes by it as well.
    fn longest(&self, mtu: usize) -> usize {
        if self.door.is_noted { mtu + LINK_LEN } else { snaplen_of(mtu) }
    }

    /// Packets of long frames that did not fit into a batch, those of control frames first.
    pub(crate) fn left_over(&self) -> impl Iterator<Item = &Packet> {
        self.control.iter().flat_map(|control| &control.spill).chain(&self.spill)
    }

    /// What is readable when there are frames.
    pub fn fds(&self) -> impl Iterator<Item = &Arc<OwnedFd>> {
        std::iter::once(&self.door.fd).chain(self.control.iter().map(ControlRx::fd))
    }

    /// Hands up to `max` frames to `f`; returns how many there were. For sockets that have not asked for long segments.
    pub fn receive_each(&mut self, max: usize, mut f: impl FnMut(Frame<'_>)) -> usize {
        self.receive(max, |frame, _, _| {
            f(frame);
            true
        })
    }

    /// Hands up to `max` frames to `f`, until it says that it wants no more; returns how many there were. What is to become of the packets
    /// of a long frame, it puts into the second argument.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        max: usize,
        mut f: impl FnMut(Frame<'_>, &mut Queued<'_>, &mut VecDeque<Packet>) -> bool,
    ) -> usize {
        let spill = &mut self.spill;
        let count = self.door.receive(max, |frame, queued| f(frame, queued, spill));
        self.recent += count;
        count
    }

    /// Where control frames come, if they come by themselves, and here.
    #[inline]
    pub fn control(&mut self) -> Option<&mut ControlRx> {
        self.control.as_mut()
    }

    /// Frames that it holds, at most.
    pub fn room(&self) -> usize {
        self.door.ring.room()
    }

    /// Frames that were lost because a ring was full, since this was asked last: data, and control frames.
    pub fn take_losses(&mut self) -> (u64, u64) {
        let control = self.control.as_mut().map_or(0, ControlRx::take_losses);
        let data = self.losses.take(&self.door.fd);
        // Drops without a frame are those of a ring that is full, or stuck.
        let is_idle = std::mem::take(&mut self.recent) == 0 && !self.door.ring.has_more_than(0);
        self.is_stuck |= self.door.is_noted && data > 0 && is_idle;
        (data, control)
    }

    /// What went wrong since this was asked last: the interface went down, perhaps, or is gone.
    pub fn failure(&self, interface: &str) -> Option<Trouble> {
        let error = sys::pending_error(&self.door.fd)?;
        Some(Trouble::new(interface, "receiving", error, Some("waiting for it to come back")))
    }

    /// Whether the interface of this name is another one now, or none: the socket has to be opened again.
    pub fn is_stale(&self, interface: &str) -> bool {
        // One that left and came back under its number, from another namespace for instance, has lost the socket all the same.
        sys::index_of(interface).ok() != Some(self.index) || bound_to(&self.door.fd) != Some(self.index)
    }
}

/// Sockets that share the frames of an interface.
#[derive(Debug, Default)]
pub struct Group {
    /// The interface, and what the kernel knows the group by.
    known: Option<(i32, u16)>,
}

impl Group {
    /// Notes what the kernel knows the group of a socket by.
    fn note(&mut self, fd: &OwnedFd, index: i32) -> io::Result<u16> {
        let joined: u32 = sys::option(fd, libc::SOL_PACKET, libc::PACKET_FANOUT)?;
        self.known = Some((index, joined as u16));
        Ok(joined as u16)
    }
}

/// Joins a group of sockets; the first founds it, and has it noted.
fn join(fd: &OwnedFd, index: i32, group: &Group) -> io::Result<()> {
    let way = match group.known {
        Some((of, id)) if of == index => (libc::PACKET_FANOUT_HASH << 16) | u32::from(id),
        _ => (libc::PACKET_FANOUT_HASH | libc::PACKET_FANOUT_FLAG_UNIQUEID) << 16,
    };
    sys::set_option(fd, libc::SOL_PACKET, libc::PACKET_FANOUT, &way)
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
