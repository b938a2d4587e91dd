//! Sockets: one for each queue of an interface, each with a receiving and a sending half.
//!
//! The kernel allows one socket for a queue, but elements that receive and elements that send are different ones. So a
//! socket is kept by number of interface and queue, and each half is handed to one owner, who gives it back by dropping it.
//!
//! The memory that socket and kernel share is the packet pool's own ([`Window`]), in unaligned chunks: one buffer is one
//! chunk. A buffer in the fill ring is lent to the kernel; what comes back through the receive ring is a packet, its data
//! where the kernel put them. A packet in the send ring is lent, too, whichever socket it came from, and its buffer comes back
//! through the completion ring. Each socket registers the window by itself instead of sharing one registration, so that an
//! interface that does without copies and one that cannot live side by side.

use super::attic;
use super::program::Grip;
use super::ring::{Ring, Which};
use crate::control;
use crate::ethtool;
use crate::frame::{Frame, Sent, Taken};
use crate::links;
use crate::packet_socket::{self, ControlRx, default_snaplen};
use crate::rule::Rule;
use crate::sys;
use crate::trouble::Trouble;
use packet::{BATCH_MAX, Batch, Borrower, Loan, Packet, Pool, Window};
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Entries of each ring, and buffers that wait for frames if there are so many, of an interface with one queue: what
/// comes at 250,000 frames a second while its worker waits 30 ms for a processor, which several turns of the
/// scheduler take where others want it, too.
const FRAMES: u32 = 8192;
/// The same of each queue of many, which share frames between them.
const FRAMES_OF_MANY: u32 = 2048;
/// Frames that a queue holds at least, if there is memory.
pub(crate) const ROOM: usize = FRAMES_OF_MANY as usize;
/// Buffers that the sending half keeps for packets that cannot be lent.
const SPARE: usize = BATCH_MAX;
/// Buffers outside the window that a worker looks at, at most, when it looks for some in it. The next time it looks at others.
const LOOKED_AT: usize = 1024;
/// Bytes in front of a frame that the kernel keeps for XDP programs.
const KERNEL: usize = 256;
/// Bytes that a frame may have.
const FRAME_MAX: usize = Window::STRIDE - Window::RESERVED - KERNEL;
/// Frames that the kernel sends in one system call when it copies them.
const SENT_AT_ONCE: usize = 32;
/// Lower bits of a frame's place; the upper ones say how far the data is behind it.
const PLACE_BITS: u32 = libc::XSK_UNALIGNED_BUF_OFFSET_SHIFT as u32;

/// How to receive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Receive frames for other hosts, too.
    pub promiscuous: bool,
    /// What is left to the kernel.
    pub left: Vec<Rule>,
    /// Microseconds for which the kernel looks for frames itself when it is called; 0 for not at all.
    pub busy_poll: u32,
    /// Control frames come by themselves, through a packet socket, if the kernel can do that.
    pub control: bool,
}

type Rings = (Ring<libc::xdp_desc>, Ring<u64>);

/// A socket.
struct Socket {
    fd: Arc<OwnedFd>,
    window: &'static Window,
    borrower: Borrower,
    queue: u32,
    index: i32,
    zero_copy: bool,
    /// Buffers that wait for frames, or would if there were so many.
    waiting: usize,
    /// The halves that no element has: rx and fill ring with the number of buffers that lack; tx and completion ring with buffers to
    /// copy to.
    rx: Mutex<Option<(Rings, usize)>>,
    tx: Mutex<Option<(Rings, Vec<Packet>)>>,
}

type Sockets = HashMap<(i32, u32), Weak<Socket>>;
type Grips = HashMap<i32, Weak<Hold>>;

/// The program on an interface, and what comes past it.
struct Hold {
    grip: Grip,
    /// What it was made for: rules, and whether control frames come by themselves.
    made_for: (Vec<Rule>, bool),
    /// Where control frames come, while no element has it.
    control: Mutex<Option<ControlRx>>,
}

static SOCKETS: Mutex<Option<Sockets>> = Mutex::new(None);
static GRIPS: Mutex<Option<Grips>> = Mutex::new(None);

/// What the locks here protect is whole between any two statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Receive queues that an interface has; 1 if it does not say.
pub fn queues(interface: &str) -> u32 {
    let Some(folder) = links::folder(interface) else {
        // `/sys` is another namespace's. The driver knows how many there are; the kernel, how many there may be.
        let most = || links::named(interface).map_or(1, |link| link.queues_max);
        return ethtool::receive_queues(interface).unwrap_or_else(most);
    };
    let files = std::fs::read_dir(folder.join("queues"));
    let names = files.into_iter().flatten().flatten().map(|file| file.file_name());
    (names.filter(|name| name.to_string_lossy().starts_with("rx-")).count() as u32).max(1)
}

/// Entries of the rings of each of so many queues.
fn ring_size(queues: u32) -> u32 {
    let share = FRAMES / queues.max(1);
    // A power of two, as the kernel wants it.
    FRAMES_OF_MANY.max(1 << share.max(1).ilog2())
}

/// Buffers of the window that wait for a socket's frames: a quarter of what other sockets have left, so that some are
/// left for packets under way and for sockets that are yet to come.
fn share(ring: u32, window: usize, taken: usize) -> usize {
    (window.saturating_sub(taken) / 4).min(ring as usize)
}

/// Whether buffers of sockets that were closed have yet to come back, which takes two seconds.
pub fn buffers_are_due() -> bool {
    !attic::is_empty()
}

/// The program on an interface, put there for the caller that asks first.
fn hold(interface: &str, index: i32, options: &Options) -> Result<Arc<Hold>, Trouble> {
    let mut grips = lock(&GRIPS);
    let known = grips.get_or_insert_default();
    let made_for = (options.left.clone(), options.control);
    if let Some(hold) = known.get(&index).and_then(Weak::upgrade).filter(|hold| hold.grip.is_on(index)) {
        if hold.made_for == made_for {
            return Ok(hold);
        }
        let error = io::Error::from_raw_os_error(libc::EINVAL);
        let hint = "all elements on it have to leave the same packets to the kernel";
        return Err(Trouble::new(interface, "putting the XDP program on it", error, Some(hint)));
    }
    let control = if options.control { control::rules() } else { Vec::new() };
    let left = &options.left;
    let grip = Grip::take(index, queues(interface), left, &control).map_err(|error| {
        let hint = match error.raw_os_error() {
            Some(libc::EBUSY | libc::EEXIST) => Some("another program has an XDP program there: ip link shows it, 'ip link set dev INTERFACE xdp off' removes it"),
            Some(libc::ERANGE | libc::E2BIG) => Some("its MTU is too large for XDP: ip link set INTERFACE mtu 1500"),
            Some(libc::EOPNOTSUPP | libc::EINVAL) => Some("the kernel (5.9 or later is needed) or the driver has no XDP: use METHOD LINUX"),
            _ => None,
        };
        Trouble::new(interface, "putting the XDP program on it", error, hint)
    })?;
    let control = if grip.leaves_control() { Some(control_socket(interface, index, left)?) } else { None };
    let hold = Arc::new(Hold { grip, made_for, control: Mutex::new(control) });
    known.insert(index, Arc::downgrade(&hold));
    Ok(hold)
}

/// A socket for the control frames that do not come by XDP.
fn control_socket(interface: &str, index: i32, left: &[Rule]) -> Result<ControlRx, Trouble> {
    let snaplen = default_snaplen(interface).map_err(Trouble::at(interface, "asking for its MTU"))?;
    let options = packet_socket::Options {
        promiscuous: false,
        outbound: false,
        snaplen: None,
        wait_ms: 0,
        queue: None,
        control: true,
        segments: true,
    };
    ControlRx::open(interface, index, snaplen, &options, left)
}

impl Socket {
    /// The socket of a queue, made if there is none.
    fn of(interface: &str, queue: u32) -> Result<Arc<Socket>, Trouble> {
        let index = sys::index_of(interface).map_err(Trouble::at(interface, "looking it up"))?;
        let mut sockets = lock(&SOCKETS);
        let known = sockets.get_or_insert_default();
        let same = known.get(&(index, queue)).and_then(Weak::upgrade);
        if let Some(socket) = same.filter(|socket| !socket.is_cut_off()) {
            return Ok(socket);
        }
        known.retain(|_, socket| socket.strong_count() > 0);
        let taken = known.values().filter_map(Weak::upgrade).map(|socket| socket.waiting).sum();
        let socket = Arc::new(Socket::open(interface, index, queue, taken)?);
        known.insert((index, queue), Arc::downgrade(&socket));
        Ok(socket)
    }

    fn open(interface: &str, index: i32, queue: u32, taken: usize) -> Result<Socket, Trouble> {
        let at = |doing| Trouble::at(interface, doing);
        let no_memory =
            || Trouble::at(interface, "finding buffers")(io::Error::from_raw_os_error(libc::ENOMEM));
        attic::sweep();
        let window = Window::get().ok_or_else(no_memory)?;
        let fd = Arc::new(sys::socket(libc::AF_XDP, libc::SOCK_RAW, 0).map_err(at("opening an XDP socket"))?);
        let register = libc::xdp_umem_reg {
            addr: window.base().as_ptr() as u64,
            len: window.bytes() as u64,
            chunk_size: Window::STRIDE as u32,
            headroom: Window::RESERVED as u32,
            flags: libc::XDP_UMEM_UNALIGNED_CHUNK_FLAG,
            tx_metadata_len: 0,
        };
        sys::set_option(&fd, libc::SOL_XDP, libc::XDP_UMEM_REG, &register)
            .map_err(at("registering memory for frames (XDP_UMEM_REG)"))?;
        let (ring, frames) = (at("making its rings"), ring_size(queues(interface)));
        let fill: Ring<u64> = Ring::new(&fd, Which::Fill, frames).map_err(&ring)?;
        let completion = Ring::new(&fd, Which::Completion, frames).map_err(&ring)?;
        let rx = Ring::new(&fd, Which::Rx, frames).map_err(&ring)?;
        let tx = Ring::new(&fd, Which::Tx, frames).map_err(&ring)?;
        // From here on whatever was lent is found again when this is dropped.
        let mut socket = Socket {
            fd,
            window,
            borrower: window.borrower(),
            queue,
            index,
            zero_copy: false,
            waiting: share(frames, window.bytes() / Window::STRIDE, taken),
            rx: Mutex::new(None),
            tx: Mutex::new(None),
        };
        let (mut rings, mut missing) = ((rx, fill), socket.waiting);
        socket.fill(&mut rings, &mut missing, usize::MAX);
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: libc::XDP_USE_NEED_WAKEUP,
            sxdp_ifindex: index as u32,
            sxdp_queue_id: queue,
            sxdp_shared_umem_fd: 0,
        };
        // Without a wish the kernel takes zero copy where the driver can do it, and copies otherwise.
        bind_patiently(&socket.fd, &address).map_err(|error| {
            let hint = match error.raw_os_error() {
                Some(libc::EBUSY) => Some("another program receives from this queue"),
                Some(libc::EINVAL) => Some("it has no such queue (ethtool -l shows them)"),
                _ => None,
            };
            Trouble::new(interface, &format!("binding an XDP socket to queue {queue}"), error, hint)
        })?;
        let options: io::Result<libc::xdp_options> =
            sys::option(&socket.fd, libc::SOL_XDP, libc::XDP_OPTIONS);
        socket.zero_copy = options.is_ok_and(|options| options.flags & libc::XDP_OPTIONS_ZEROCOPY != 0);
        socket.tx = Mutex::new(Some(((tx, completion), socket.spare(usize::MAX))));
        socket.rx = Mutex::new(Some((rings, missing)));
        Ok(socket)
    }

    /// Lends the kernel the buffers that lack, as far as there are any among those that are looked at.
    fn fill(&self, (_, fill): &mut Rings, missing: &mut usize, others: usize) {
        let starts = self.window.lend_many(&self.borrower, *missing, others);
        starts.iter().for_each(|&start| fill.write(start));
        fill.publish();
        *missing -= starts.len();
    }

    /// Buffers of the window to copy packets to.
    fn spare(&self, others: usize) -> Vec<Packet> {
        let starts = self.window.lend_many(&self.borrower, SPARE, others);
        // SAFETY: the kernel was not told of them.
        starts
            .into_iter()
            .filter_map(|start| unsafe { self.window.take_back(start, 0, &self.borrower) })
            .collect()
    }

    /// Whether the kernel has taken the socket from its interface, which is gone: for good, also if it comes back under its number.
    fn is_cut_off(&self) -> bool {
        self.kick_rx().is_err_and(|error| error.raw_os_error() == Some(libc::ENXIO))
    }

    /// The distance of a frame's data from the window's start.
    #[inline]
    fn place(address: u64) -> u64 {
        (address & ((1 << PLACE_BITS) - 1)) + (address >> PLACE_BITS)
    }

    /// Calls the kernel so that it goes on sending.
    fn kick_tx(&self) -> io::Result<()> {
        // SAFETY: nothing is sent from memory.
        let result = unsafe {
            libc::sendto(self.fd.as_raw_fd(), std::ptr::null(), 0, libc::MSG_DONTWAIT, std::ptr::null(), 0)
        };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Calls the kernel so that it goes on receiving, or looks for frames itself.
    fn kick_rx(&self) -> io::Result<()> {
        let (fd, none) = (self.fd.as_raw_fd(), std::ptr::null_mut());
        // SAFETY: nothing is received into memory.
        let result = unsafe {
            libc::recvfrom(fd, none, 0, libc::MSG_DONTWAIT, std::ptr::null_mut(), std::ptr::null_mut())
        };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        attic::keep(Arc::downgrade(&self.fd), self.borrower);
    }
}

/// How often, and with which pause, a queue is asked for that another element has.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(25);

/// Binds a socket to its queue. The kernel lets go of a queue only a while after its last socket was closed.
fn bind_patiently(fd: &OwnedFd, address: &libc::sockaddr_xdp) -> io::Result<()> {
    for _ in 1..TRIES {
        // SAFETY: it is a socket address.
        match unsafe { sys::bind(fd, address) } {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => std::thread::sleep(PAUSE),
            done => return done,
        }
    }
    // SAFETY: as above.
    unsafe { sys::bind(fd, address) }
}

/// Receives the frames of one queue.
pub struct XdpRx {
    rings: Option<Rings>,
    /// Buffers that the kernel lacks because there was no memory.
    missing: usize,
    socket: Arc<Socket>,
    hold: Arc<Hold>,
    /// Where control frames come, if they come by themselves, and here.
    control: Option<ControlRx>,
    /// Frames lost for want of room of which was told.
    told: u64,
    busy_poll: bool,
    /// Makes the interface receive frames for other hosts.
    _promiscuous: Option<OwnedFd>,
}

/// Another element in this process has this half of the queue already.
fn in_use(interface: &str, queue: u32) -> Trouble {
    let hint = "another element has it; QUEUE chooses one";
    Trouble::new(interface, &format!("using queue {queue}"), io::ErrorKind::ResourceBusy.into(), Some(hint))
}

impl XdpRx {
    /// Opens a queue of an interface.
    ///
    /// # Errors
    /// What the kernel refuses, and why perhaps.
    pub fn open(interface: &str, queue: u32, options: &Options) -> Result<XdpRx, Trouble> {
        let socket = Socket::of(interface, queue)?;
        let hold = hold(interface, socket.index, options)?;
        let (rings, missing) = lock(&socket.rx).take().ok_or_else(|| in_use(interface, queue))?;
        // From here on dropping `rx` gives the rings back.
        let busy_poll = options.busy_poll > 0;
        let control = lock(&hold.control).take();
        let rings = Some(rings);
        let mut rx = XdpRx { rings, missing, socket, hold, control, told: 0, busy_poll, _promiscuous: None };
        rx.told = rx.losses();
        let at = |doing| Trouble::at(interface, doing);
        if options.promiscuous {
            rx._promiscuous = Some(promiscuous(rx.socket.index).map_err(at("setting promiscuous mode"))?);
        }
        if busy_poll {
            set_busy_poll(&rx.socket.fd, options.busy_poll).map_err(at("polling busily (SO_BUSY_POLL)"))?;
        }
        rx.hold.grip.set(queue, &rx.socket.fd).map_err(at("putting the socket into the map"))?;
        Ok(rx)
    }

    /// How frames come, for the user.
    pub fn mode(&self) -> String {
        let program = if self.hold.grip.native { "native" } else { "generic" };
        let copy = if self.socket.zero_copy { "zero copy" } else { "copied" };
        format!("queue {}, {program} XDP, {copy}", self.socket.queue)
    }

    /// The queue that it is of.
    pub(crate) fn queue(&self) -> u32 {
        self.socket.queue
    }

    /// What is readable when there are frames.
    pub fn fds(&self) -> impl Iterator<Item = &Arc<OwnedFd>> {
        std::iter::once(&self.socket.fd).chain(self.control.iter().map(ControlRx::fd))
    }

    /// Where control frames come, if they come by themselves, and here.
    #[inline]
    pub fn control(&mut self) -> Option<&mut ControlRx> {
        self.control.as_mut()
    }

    /// Adds up to `max` received frames, as far as the batch holds them, for which `wanted` holds. For each the kernel gets
    /// another buffer; a frame for which there is none is lost.
    #[inline]
    pub fn receive(
        &mut self,
        pool: &mut Pool,
        batch: &mut Batch,
        max: usize,
        mut wanted: impl FnMut(&Frame<'_>) -> bool,
    ) -> Taken {
        let mut taken = Taken::default();
        let Some((rx, fill)) = &mut self.rings else { return taken };
        let Socket { window, borrower, .. } = &*self.socket;
        let max = max.min(BATCH_MAX - batch.len());
        while taken.looked_at < max
            && let Some(described) = rx.read()
        {
            taken.looked_at += 1;
            let (place, len) = (Socket::place(described.addr), described.len as usize);
            // SAFETY: the kernel has given the buffer back through the receive ring.
            let Some(data) = (unsafe { window.data(place, len, borrower) }) else { continue };
            let frame = Frame::plain(data);
            let kind = frame.addressee;
            let again = window.start_of(place);
            if !wanted(&frame) {
                fill.write(again);
                continue;
            }
            // As many buffers as come out go in, so there is always room in the fill ring.
            let packet = match window.lend_new(pool, borrower) {
                Loan::Lent(start) => {
                    fill.write(start);
                    // SAFETY: as above, and the kernel is not told of this buffer again.
                    unsafe { window.take_back(place, len, borrower) }
                }
                Loan::Outside(packet) => {
                    pool.free(packet);
                    fill.write(again);
                    pool.alloc(KERNEL, data.len()).map(|mut packet| {
                        packet.data_mut().copy_from_slice(data);
                        packet
                    })
                }
                Loan::Nothing => {
                    fill.write(again);
                    None
                }
            };
            match packet {
                Some(mut packet) => {
                    packet.set_mac_offset(0);
                    packet.set_kind(kind);
                    batch.push(packet);
                }
                None => taken.lost += 1,
            }
        }
        if taken.looked_at > 0 {
            rx.release();
            fill.publish();
        }
        // A driver that found no buffers waits to be called; one that is to be polled, always.
        let kick = if taken.looked_at > 0 { fill.needs_wakeup() } else { self.busy_poll };
        if kick {
            let _ = self.socket.kick_rx(); // if it failed the ring says so again
        }
        taken
    }

    /// Lends the kernel the buffers that it lacks since there was no memory for them; whether it still lacks some. For a timer.
    pub fn replenish(&mut self) -> bool {
        if let Some(rings) = self.rings.as_mut().filter(|_| self.missing > 0) {
            self.socket.fill(rings, &mut self.missing, LOOKED_AT);
        }
        self.missing > 0
    }

    /// Whether the kernel has less than half of the buffers that it should have.
    pub fn is_starved(&self) -> bool {
        2 * self.missing > self.socket.waiting
    }

    /// Frames that were lost for want of room since this was asked last: data, and control frames.
    pub fn take_losses(&mut self) -> (u64, u64) {
        let (now, control) = (self.losses(), self.control.as_mut().map_or(0, ControlRx::take_losses));
        (now.saturating_sub(std::mem::replace(&mut self.told, now)), control)
    }

    /// Frames that the socket has lost so far for want of room.
    fn losses(&self) -> u64 {
        let stats = sys::option::<libc::xdp_statistics>(&self.socket.fd, libc::SOL_XDP, libc::XDP_STATISTICS);
        // `rx_fill_ring_empty_descs` counts looks for a buffer, not frames; a frame that was copied is in `rx_dropped`, too.
        stats.map_or(0, |s| s.rx_dropped + s.rx_ring_full)
    }

    /// What went wrong since this was asked last.
    pub fn failure(&self, interface: &str) -> Option<Trouble> {
        let error = sys::pending_error(&self.socket.fd)?;
        Some(Trouble::new(interface, "receiving", error, Some("waiting for it to come back")))
    }

    /// Whether the interface of this name is another one now, or none, or was away.
    pub fn is_stale(&self, interface: &str) -> bool {
        sys::index_of(interface).ok() != Some(self.socket.index) || self.socket.is_cut_off()
    }
}

impl Drop for XdpRx {
    fn drop(&mut self) {
        self.hold.grip.clear(self.socket.queue);
        *lock(&self.socket.rx) = self.rings.take().map(|rings| (rings, self.missing));
        if let Some(control) = self.control.take() {
            *lock(&self.hold.control) = Some(control);
        }
    }
}

/// A socket that makes an interface promiscuous for as long as it lives.
fn promiscuous(index: i32) -> io::Result<OwnedFd> {
    let fd = sys::socket(libc::AF_PACKET, libc::SOCK_RAW, 0)?;
    let kind = libc::PACKET_MR_PROMISC as u16;
    let member = libc::packet_mreq { mr_ifindex: index, mr_type: kind, mr_alen: 0, mr_address: [0; 8] };
    sys::set_option(&fd, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &member)?;
    Ok(fd)
}

fn set_busy_poll(fd: &OwnedFd, microseconds: u32) -> io::Result<()> {
    const SO_PREFER_BUSY_POLL: i32 = 69;
    const SO_BUSY_POLL_BUDGET: i32 = 70;
    sys::set_option(fd, libc::SOL_SOCKET, SO_PREFER_BUSY_POLL, &1i32)?;
    sys::set_option(fd, libc::SOL_SOCKET, libc::SO_BUSY_POLL, &microseconds)?;
    sys::set_option(fd, libc::SOL_SOCKET, SO_BUSY_POLL_BUDGET, &64i32)
}

/// Sends packets to one queue.
pub struct XdpTx {
    rings: Option<Rings>,
    spare: Vec<Packet>,
    socket: Arc<Socket>,
    /// Whether the kernel was left with frames that it has not begun to send.
    unsent: bool,
}

impl XdpTx {
    /// Opens a queue of an interface.
    ///
    /// # Errors
    /// What the kernel refuses, and why perhaps.
    pub fn open(interface: &str, queue: u32) -> Result<XdpTx, Trouble> {
        let socket = Socket::of(interface, queue)?;
        let (rings, spare) = lock(&socket.tx).take().ok_or_else(|| in_use(interface, queue))?;
        Ok(XdpTx { rings: Some(rings), spare, socket, unsent: false })
    }

    /// Whether the interface of this name is another one now, or none, or was away.
    pub fn is_stale(&self, interface: &str) -> bool {
        sys::index_of(interface).ok() != Some(self.socket.index) || self.socket.is_cut_off()
    }

    /// Finds buffers to copy to if there are none since there was no memory; whether there are none still. For a timer.
    pub fn replenish(&mut self) -> bool {
        if self.spare.is_empty() {
            self.spare = self.socket.spare(LOOKED_AT);
        }
        self.spare.is_empty()
    }

    /// Sends packets, the first of the batch first, as far as there is room for them; they are gone from it then. `sent` gets
    /// copies of them.
    #[inline]
    pub fn send(&mut self, pool: &mut Pool, batch: &mut Batch, mut sent: Option<&mut Batch>) -> Sent {
        self.reclaim(pool);
        let (mut count, mut error) = (0, None);
        batch.filter_map(|packet| {
            if error.is_some() {
                return Some(packet);
            }
            let copy = sent.as_ref().and_then(|_| pool.copy(&packet));
            match self.put(pool, packet) {
                Ok(()) => {
                    count += 1;
                    if let (Some(sent), Some(copy)) = (&mut sent, copy) {
                        sent.push(copy);
                    }
                    None
                }
                Err((refused, packet)) => {
                    error = Some(refused);
                    Some(packet)
                }
            }
        });
        Sent { count, merged: 0, error: self.flush(count).err().or(error) }
    }

    /// Takes back buffers whose frames were sent.
    #[inline]
    fn reclaim(&mut self, pool: &mut Pool) {
        let Some((_, completion)) = &mut self.rings else { return };
        let Socket { window, borrower, .. } = &*self.socket;
        let mut some = false;
        while let Some(place) = completion.read() {
            some = true;
            // SAFETY: the kernel has given the buffer back through the completion ring.
            let Some(packet) = (unsafe { window.take_back(Socket::place(place), 0, borrower) }) else {
                continue;
            };
            if self.spare.len() < SPARE { self.spare.push(packet) } else { pool.free(packet) }
        }
        if some {
            completion.release();
        }
    }

    /// Lends a packet to the kernel, which hears of it with [`XdpTx::flush`].
    #[inline]
    fn put(&mut self, pool: &mut Pool, packet: Packet) -> Result<(), (io::Error, Packet)> {
        let len = packet.len();
        if len > FRAME_MAX || len == 0 {
            return Err((io::Error::from_raw_os_error(libc::EMSGSIZE), packet));
        }
        let full = || io::Error::from(io::ErrorKind::WouldBlock);
        let Some((tx, _)) = &mut self.rings else { return Err((full(), packet)) };
        if tx.room(1) == 0 {
            return Err((full(), packet));
        }
        let Socket { window, borrower, .. } = &*self.socket;
        let place = match window.lend(packet, borrower) {
            Ok((_, place)) => place,
            Err(packet) => {
                let copied = self.spare.pop().and_then(|mut spare| {
                    let fits = spare.put(len);
                    debug_assert!(fits, "a spare buffer is empty");
                    spare.data_mut().copy_from_slice(packet.data());
                    window.lend(spare, borrower).ok()
                });
                let Some((_, place)) = copied else { return Err((full(), packet)) };
                pool.free(packet);
                place
            }
        };
        tx.write(libc::xdp_desc { addr: place, len: len as u32, options: 0 });
        Ok(())
    }

    /// Has the kernel send the `count` frames that were put last, and those before them that it did not take up.
    fn flush(&mut self, count: usize) -> io::Result<()> {
        let Some((tx, _)) = &mut self.rings else { return Ok(()) };
        if count > 0 {
            tx.publish();
        } else if !self.unsent {
            return Ok(());
        }
        self.unsent = false;
        // A kernel that copies sends some frames a call, and asks to be called again.
        for _ in 0..count.div_ceil(SENT_AT_ONCE).max(1) {
            if !tx.needs_wakeup() {
                return Ok(());
            }
            match self.socket.kick_tx() {
                Ok(()) => return Ok(()),
                Err(again)
                    if matches!(again.raw_os_error(), Some(libc::EAGAIN | libc::EBUSY | libc::ENOBUFS)) => {}
                Err(failed) => return Err(failed),
            }
        }
        self.unsent = true;
        Ok(())
    }

    /// Has the kernel send what it did not take up when it was told.
    ///
    /// # Errors
    /// What the kernel says about the interface.
    pub fn go_on(&mut self, pool: &mut Pool) -> io::Result<()> {
        self.reclaim(pool);
        self.flush(0)
    }

    /// Whether the kernel was left with frames that it is not told of unless more are sent or [`XdpTx::go_on`] is called.
    pub fn has_unsent(&self) -> bool {
        self.unsent
    }
}

impl Drop for XdpTx {
    fn drop(&mut self) {
        let spare = std::mem::take(&mut self.spare);
        *lock(&self.socket.tx) = self.rings.take().map(|rings| (rings, spare));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With fewer buffers a socket is not worth having.
    const FRAMES_MIN: usize = 64;

    #[test]
    fn many_queues_share() {
        assert_eq!([0, 1, 2, 3, 4, 64].map(ring_size), [8192, 8192, 4096, 2048, 2048, 2048]);
    }

    /// Sixteen queues of a window find buffers, and leave some.
    #[test]
    fn each_queue_gets_some() {
        let mut taken = 0;
        let first: Vec<usize> = (0..16)
            .map(|_| {
                let some = share(FRAMES, 32_768, taken);
                taken += some;
                some
            })
            .collect();
        assert_eq!(first[..3], [8192, 6144, 4608]);
        assert!(first.iter().all(|&some| some >= FRAMES_MIN) && taken < 32_768, "{first:?}");
        assert_eq!(share(FRAMES_OF_MANY, 32_768, 8 * 2048), 2048);
    }
}
