//! Sockets: one for each queue of an interface, each with a receiving and a sending half.
//!
//! The kernel allows one socket for a queue, but elements that receive and elements that send are different ones. So a
//! socket is kept by number of interface and queue, and each half is handed to one owner, who gives it back by dropping it.

use super::program::{Grip, Rule};
use super::ring::{Ring, Which};
use crate::packet_socket::{Addressee, Frame, Sent};
use crate::sys::{self, Mapping};
use crate::trouble::Trouble;
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Bytes of a frame's place in the shared memory.
const CHUNK: usize = 2048;
/// Entries of each ring, and frames of each half.
const FRAMES: u32 = 2048;
/// Bytes that a frame may have: the kernel keeps some of the chunk for programs.
const FRAME_MAX: usize = CHUNK - 256;
/// Frames that the kernel sends in one system call when it copies them.
const SENT_AT_ONCE: usize = 32;

/// How to receive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Receive frames for other hosts, too.
    pub promiscuous: bool,
    /// What is left to the kernel.
    pub left: Vec<Rule>,
    /// Microseconds for which the kernel looks for frames itself when it is called; 0 for not at all.
    pub busy_poll: u32,
}

type Rings = (Ring<libc::xdp_desc>, Ring<u64>);

/// A socket.
struct Socket {
    fd: Arc<OwnedFd>,
    memory: Mapping,
    queue: u32,
    index: i32,
    zero_copy: bool,
    /// The halves that nobody has: rx and fill ring; tx and completion ring with the chunks that are free.
    rx: Mutex<Option<Rings>>,
    tx: Mutex<Option<(Rings, Vec<u64>)>>,
}

type Sockets = HashMap<(i32, u32), Weak<Socket>>;
type Grips = HashMap<i32, (Vec<Rule>, Weak<Grip>)>;

static SOCKETS: Mutex<Option<Sockets>> = Mutex::new(None);
static GRIPS: Mutex<Option<Grips>> = Mutex::new(None);

/// What the locks here protect is whole between any two statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Receive queues that an interface has; 1 if it does not say.
pub fn queues(interface: &str) -> u32 {
    let files = std::fs::read_dir(format!("/sys/class/net/{interface}/queues"));
    let names = files.into_iter().flatten().flatten().map(|file| file.file_name());
    (names.filter(|name| name.to_string_lossy().starts_with("rx-")).count() as u32).max(1)
}

/// The program on an interface, put there by whoever asks first.
fn grip(interface: &str, index: i32, left: &[Rule]) -> Result<Arc<Grip>, Trouble> {
    let mut grips = lock(&GRIPS);
    let known = grips.get_or_insert_default();
    if let Some((rules, grip)) = known.get(&index)
        && let Some(grip) = grip.upgrade()
    {
        if rules == left {
            return Ok(grip);
        }
        let error = io::Error::from_raw_os_error(libc::EINVAL);
        let hint = "all elements on it have to leave the same packets to the kernel";
        return Err(Trouble::new(interface, "putting the XDP program on it", error, Some(hint)));
    }
    let grip = Grip::take(index, queues(interface), left).map_err(|error| {
        let hint = match error.raw_os_error() {
            Some(libc::EBUSY | libc::EEXIST) => Some("another program has an XDP program there: ip link shows it, 'ip link set dev INTERFACE xdp off' removes it"),
            Some(libc::ERANGE | libc::E2BIG) => Some("its MTU is too large for XDP: ip link set INTERFACE mtu 1500"),
            Some(libc::EOPNOTSUPP | libc::EINVAL) => Some("the kernel (5.9 or later is needed) or the driver has no XDP: use METHOD LINUX"),
            _ => None,
        };
        Trouble::new(interface, "putting the XDP program on it", error, hint)
    })?;
    let grip = Arc::new(grip);
    known.insert(index, (left.to_vec(), Arc::downgrade(&grip)));
    Ok(grip)
}

impl Socket {
    /// The socket of a queue, made if there is none.
    fn of(interface: &str, queue: u32) -> Result<Arc<Socket>, Trouble> {
        let index = sys::index_of(interface).map_err(Trouble::at(interface, "looking it up"))?;
        let mut sockets = lock(&SOCKETS);
        let known = sockets.get_or_insert_default();
        if let Some(socket) = known.get(&(index, queue)).and_then(Weak::upgrade) {
            return Ok(socket);
        }
        let socket = Arc::new(Socket::open(interface, index, queue)?);
        known.insert((index, queue), Arc::downgrade(&socket));
        Ok(socket)
    }

    fn open(interface: &str, index: i32, queue: u32) -> Result<Socket, Trouble> {
        let at = |doing| Trouble::at(interface, doing);
        let fd = sys::socket(libc::AF_XDP, libc::SOCK_RAW, 0).map_err(at("opening an XDP socket"))?;
        let memory =
            Mapping::new(None, 2 * FRAMES as usize * CHUNK, 0).map_err(at("mapping memory for frames"))?;
        let register = libc::xdp_umem_reg {
            addr: memory.base().as_ptr() as u64,
            len: memory.len() as u64,
            chunk_size: CHUNK as u32,
            headroom: 0,
            flags: 0,
            tx_metadata_len: 0,
        };
        sys::set_option(&fd, libc::SOL_XDP, libc::XDP_UMEM_REG, &register)
            .map_err(at("registering memory for frames (XDP_UMEM_REG)"))?;
        let ring = at("making its rings");
        let mut fill: Ring<u64> = Ring::new(&fd, Which::Fill, FRAMES).map_err(&ring)?;
        let completion = Ring::new(&fd, Which::Completion, FRAMES).map_err(&ring)?;
        let rx = Ring::new(&fd, Which::Rx, FRAMES).map_err(&ring)?;
        let tx = Ring::new(&fd, Which::Tx, FRAMES).map_err(&ring)?;
        (0..u64::from(FRAMES)).for_each(|chunk| fill.write(chunk * CHUNK as u64));
        fill.publish();
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: libc::XDP_USE_NEED_WAKEUP,
            sxdp_ifindex: index as u32,
            sxdp_queue_id: queue,
            sxdp_shared_umem_fd: 0,
        };
        // Without a wish the kernel takes zero copy where the driver can do it, and copies otherwise.
        bind_patiently(&fd, &address).map_err(|error| {
            let hint = match error.raw_os_error() {
                Some(libc::EBUSY) => Some("another program receives from this queue"),
                Some(libc::EINVAL) => Some("it has no such queue (ethtool -l shows them)"),
                _ => None,
            };
            Trouble::new(interface, &format!("binding an XDP socket to queue {queue}"), error, hint)
        })?;
        let options: io::Result<libc::xdp_options> = sys::option(&fd, libc::SOL_XDP, libc::XDP_OPTIONS);
        let free = (u64::from(FRAMES)..2 * u64::from(FRAMES)).map(|chunk| chunk * CHUNK as u64).collect();
        Ok(Socket {
            fd: Arc::new(fd),
            memory,
            queue,
            index,
            zero_copy: options.is_ok_and(|options| options.flags & libc::XDP_OPTIONS_ZEROCOPY != 0),
            rx: Mutex::new(Some((rx, fill))),
            tx: Mutex::new(Some(((tx, completion), free))),
        })
    }

    /// Bytes of the shared memory; cut to it, whatever the kernel said.
    fn slice(&self, address: u64, len: usize) -> &[u8] {
        let start = (address as usize).min(self.memory.len());
        let len = len.min(self.memory.len() - start);
        // SAFETY: within the mapping, which lives as long as `self`; the chunk belongs to the half that asks.
        unsafe { std::slice::from_raw_parts(self.memory.base().as_ptr().add(start), len) }
    }

    /// Calls the kernel so that it goes on.
    fn kick(&self) -> io::Result<()> {
        // SAFETY: nothing is sent from memory.
        let result = unsafe {
            libc::sendto(self.fd.as_raw_fd(), std::ptr::null(), 0, libc::MSG_DONTWAIT, std::ptr::null(), 0)
        };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// How often, and with which pause, a queue is asked for that somebody has.
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
    socket: Arc<Socket>,
    grip: Arc<Grip>,
    /// Makes the interface receive frames for other hosts.
    _promiscuous: Option<OwnedFd>,
}

/// Somebody in this process has this half of the queue already.
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
        let grip = grip(interface, socket.index, &options.left)?;
        let rings = lock(&socket.rx).take().ok_or_else(|| in_use(interface, queue))?;
        // From here on dropping `rx` gives the rings back.
        let mut rx = XdpRx { rings: Some(rings), socket, grip, _promiscuous: None };
        let at = |doing| Trouble::at(interface, doing);
        if options.promiscuous {
            rx._promiscuous = Some(promiscuous(rx.socket.index).map_err(at("setting promiscuous mode"))?);
        }
        if options.busy_poll > 0 {
            busy_poll(&rx.socket.fd, options.busy_poll).map_err(at("polling busily (SO_BUSY_POLL)"))?;
        }
        rx.grip.set(queue, &rx.socket.fd).map_err(at("putting the socket into the map"))?;
        Ok(rx)
    }

    /// How frames come, for the user.
    pub fn mode(&self) -> String {
        let program = if self.grip.native { "native" } else { "generic" };
        let copy = if self.socket.zero_copy { "zero copy" } else { "copied" };
        format!("queue {}, {program} XDP, {copy}", self.socket.queue)
    }

    /// What is readable when there are frames.
    pub fn fd(&self) -> &Arc<OwnedFd> {
        &self.socket.fd
    }

    /// Hands up to `max` frames to `f`; returns how many there were.
    pub fn receive(&mut self, max: usize, time_ns: i64, mut f: impl FnMut(Frame<'_>)) -> usize {
        let Some((rx, fill)) = &mut self.rings else { return 0 };
        let mut count = 0;
        while count < max
            && let Some(described) = rx.read()
        {
            let data = self.socket.slice(described.addr, described.len as usize);
            f(Frame {
                data,
                len: data.len(),
                time_ns,
                addressee: addressee(data),
                vlan: None,
                unfinished: false,
            });
            // As many as come out go in, so there is always room.
            fill.write(described.addr & !(CHUNK as u64 - 1));
            count += 1;
        }
        if count > 0 {
            rx.release();
            fill.publish();
        }
        if fill.needs_wakeup() && count > 0 {
            let _ = self.socket.kick(); // it says so again if this failed
        }
        count
    }

    /// Frames that were lost so far for want of room.
    pub fn drops(&self) -> u64 {
        let stats = sys::option::<libc::xdp_statistics>(&self.socket.fd, libc::SOL_XDP, libc::XDP_STATISTICS);
        stats.map_or(0, |s| s.rx_dropped + s.rx_ring_full + s.rx_fill_ring_empty_descs)
    }

    /// What went wrong since this was asked last.
    pub fn failure(&self, interface: &str) -> Option<Trouble> {
        let error = sys::pending_error(&self.socket.fd)?;
        Some(Trouble::new(interface, "receiving", error, Some("waiting for it to come back")))
    }

    /// Whether the interface of this name is another one now, or none.
    pub fn is_stale(&self, interface: &str) -> bool {
        sys::index_of(interface).ok() != Some(self.socket.index)
    }
}

impl Drop for XdpRx {
    fn drop(&mut self) {
        self.grip.clear(self.socket.queue);
        *lock(&self.socket.rx) = self.rings.take();
    }
}

fn addressee(frame: &[u8]) -> Addressee {
    match frame.first_chunk::<6>() {
        Some([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]) => Addressee::Broadcast,
        Some([first, ..]) if first & 1 == 1 => Addressee::Multicast,
        _ => Addressee::Host,
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

fn busy_poll(fd: &OwnedFd, microseconds: u32) -> io::Result<()> {
    const SO_PREFER_BUSY_POLL: i32 = 69;
    const SO_BUSY_POLL_BUDGET: i32 = 70;
    sys::set_option(fd, libc::SOL_SOCKET, SO_PREFER_BUSY_POLL, &1i32)?;
    sys::set_option(fd, libc::SOL_SOCKET, libc::SO_BUSY_POLL, &microseconds)?;
    sys::set_option(fd, libc::SOL_SOCKET, SO_BUSY_POLL_BUDGET, &64i32)
}

/// Sends frames to one queue.
pub struct XdpTx {
    rings: Option<Rings>,
    free: Vec<u64>,
    socket: Arc<Socket>,
}

impl XdpTx {
    /// Opens a queue of an interface.
    ///
    /// # Errors
    /// What the kernel refuses, and why perhaps.
    pub fn open(interface: &str, queue: u32) -> Result<XdpTx, Trouble> {
        let socket = Socket::of(interface, queue)?;
        let (rings, free) = lock(&socket.tx).take().ok_or_else(|| in_use(interface, queue))?;
        Ok(XdpTx { rings: Some(rings), free, socket })
    }

    /// Whether the interface of this name is another one now, or none.
    pub fn is_stale(&self, interface: &str) -> bool {
        sys::index_of(interface).ok() != Some(self.socket.index)
    }

    /// Sends frames as far as there is room for them.
    pub fn send<'a>(&mut self, frames: impl Iterator<Item = &'a [u8]>) -> Sent {
        self.reclaim();
        let (mut count, mut error) = (0, None);
        for frame in frames {
            if let Err(refused) = self.put(frame) {
                error = Some(refused);
                break;
            }
            count += 1;
        }
        Sent { count, error: self.flush(count).err().or(error) }
    }

    /// Takes back chunks whose frames were sent.
    pub fn reclaim(&mut self) {
        let Some((_, completion)) = &mut self.rings else { return };
        while let Some(chunk) = completion.read() {
            self.free.push(chunk & !(CHUNK as u64 - 1));
        }
        completion.release();
    }

    /// Copies a frame to where the kernel finds it after [`XdpTx::flush`].
    ///
    /// # Errors
    /// It is too long, or there is no room now.
    pub fn put(&mut self, frame: &[u8]) -> io::Result<()> {
        if frame.len() > FRAME_MAX {
            return Err(io::Error::from_raw_os_error(libc::EMSGSIZE));
        }
        let full = io::Error::from(io::ErrorKind::WouldBlock);
        let Some((tx, _)) = self.rings.as_mut().filter(|_| !self.free.is_empty()) else { return Err(full) };
        if tx.room(1) == 0 {
            return Err(full);
        }
        let Some(chunk) = self.free.pop() else { return Err(full) };
        // SAFETY: the chunk lies in the mapping and is this half's; the frame fits, and lies elsewhere.
        unsafe {
            let to = self.socket.memory.base().as_ptr().add(chunk as usize);
            std::ptr::copy_nonoverlapping(frame.as_ptr(), to, frame.len());
        }
        tx.write(libc::xdp_desc { addr: chunk, len: frame.len() as u32, options: 0 });
        Ok(())
    }

    /// Has the kernel send the `count` frames that were put last.
    ///
    /// # Errors
    /// What the kernel says about the interface.
    pub fn flush(&mut self, count: usize) -> io::Result<()> {
        let Some((tx, _)) = &mut self.rings else { return Ok(()) };
        tx.publish();
        // A kernel that copies sends some frames a call, and asks to be called again.
        for _ in 0..count.div_ceil(SENT_AT_ONCE) {
            if !tx.needs_wakeup() {
                break;
            }
            match self.socket.kick() {
                Ok(()) => break,
                Err(again)
                    if matches!(again.raw_os_error(), Some(libc::EAGAIN | libc::EBUSY | libc::ENOBUFS)) => {}
                Err(failed) => return Err(failed),
            }
        }
        Ok(())
    }
}

impl Drop for XdpTx {
    fn drop(&mut self) {
        let free = std::mem::take(&mut self.free);
        *lock(&self.socket.tx) = self.rings.take().map(|rings| (rings, free));
    }
}
