//! System calls with safe arguments: what std does not have.

use std::ffi::{CString, c_int, c_ulong};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

/// Types without references and without padding that the kernel would have to fill: any bytes are a value.
///
/// # Safety
/// Every bit pattern must be a valid value.
pub(crate) unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($type:ty),* $(,)?) => {
        $(
            // SAFETY: integers, or a C structure of integers (and raw pointers, which are never followed here).
            unsafe impl Plain for $type {}
        )*
    };
}

plain!(
    c_int,
    u32,
    libc::tpacket_stats,
    libc::tpacket_req,
    libc::tpacket_req3,
    libc::packet_mreq,
    libc::sock_fprog,
    libc::xdp_umem_reg,
    libc::xdp_mmap_offsets,
    libc::xdp_statistics,
    libc::xdp_options,
);

fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Makes a socket that does not block.
pub(crate) fn socket(domain: c_int, kind: c_int, protocol: c_int) -> io::Result<OwnedFd> {
    #[cfg(test)]
    asked::note(domain);
    // SAFETY: no pointers.
    let fd =
        check(unsafe { libc::socket(domain, kind | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC, protocol) })?;
    // SAFETY: the descriptor was just made and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Sets a socket option.
pub(crate) fn set_option<T: Plain>(fd: &OwnedFd, level: c_int, name: c_int, value: &T) -> io::Result<()> {
    let len = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads `len` bytes of the value. Where an option's structure points further (filters), the
    // caller's pointer is checked by the kernel.
    check(unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, std::ptr::from_ref(value).cast(), len) })?;
    Ok(())
}

/// Reads a socket option.
pub(crate) fn option<T: Plain>(fd: &OwnedFd, level: c_int, name: c_int) -> io::Result<T> {
    let mut len = size_of::<T>() as libc::socklen_t;
    // SAFETY: any bytes are a value of a plain type.
    let mut value: T = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes at most `len` bytes to the value.
    check(unsafe {
        libc::getsockopt(fd.as_raw_fd(), level, name, std::ptr::from_mut(&mut value).cast(), &mut len)
    })?;
    Ok(value)
}

/// Binds a socket to an address given as its C structure.
///
/// # Safety
/// `A` must be a socket address: a structure of integers that starts with the family.
pub(crate) unsafe fn bind<A>(fd: &OwnedFd, address: &A) -> io::Result<()> {
    let len = size_of::<A>() as libc::socklen_t;
    // SAFETY: the kernel reads `len` bytes of the address.
    check(unsafe { libc::bind(fd.as_raw_fd(), std::ptr::from_ref(address).cast(), len) })?;
    Ok(())
}

/// The address that a packet socket is bound to.
pub(crate) fn packet_address(fd: &OwnedFd) -> io::Result<libc::sockaddr_ll> {
    // SAFETY: a structure of integers.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    let mut len = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes to the address.
    check(unsafe { libc::getsockname(fd.as_raw_fd(), std::ptr::from_mut(&mut address).cast(), &mut len) })?;
    Ok(address)
}

/// Sends a datagram to the peer that a socket has by itself: of a netlink socket, the kernel.
pub(crate) fn send(fd: &OwnedFd, bytes: &[u8]) -> io::Result<()> {
    // SAFETY: the kernel reads as many bytes as there are.
    let sent = unsafe { libc::send(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0) };
    if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Receives a datagram: its length, which is no more than there is space.
pub(crate) fn receive(fd: &OwnedFd, space: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the kernel writes no more bytes than there is space.
    let got = unsafe { libc::recv(fd.as_raw_fd(), space.as_mut_ptr().cast(), space.len(), 0) };
    usize::try_from(got).map_err(|_| io::Error::last_os_error())
}

/// The error that a socket has kept, if any; it is forgotten.
pub(crate) fn pending_error(fd: &OwnedFd) -> Option<io::Error> {
    match option::<c_int>(fd, libc::SOL_SOCKET, libc::SO_ERROR) {
        Ok(0) => None,
        Ok(code) => Some(io::Error::from_raw_os_error(code)),
        Err(error) => Some(error),
    }
}

/// The number that the kernel knows an interface by.
pub(crate) fn index_of(interface: &str) -> io::Result<c_int> {
    let name = CString::new(interface).map_err(|_| io::Error::from_raw_os_error(libc::ENODEV))?;
    // SAFETY: the name ends with a zero byte.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index as c_int),
    }
}

/// An interface request that names an interface.
pub(crate) fn interface_request(interface: &str) -> io::Result<libc::ifreq> {
    // SAFETY: a structure of integers and a union of such and of pointers that no code follows.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if interface.len() >= request.ifr_name.len() || interface.contains('\0') {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

/// Sends an interface request.
///
/// # Safety
/// The request must be what `code` takes.
pub(crate) unsafe fn request(fd: &OwnedFd, code: c_ulong, request: &mut libc::ifreq) -> io::Result<()> {
    // SAFETY: the kernel reads and writes within the request, and what the caller answers for.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), code as libc::Ioctl, std::ptr::from_mut(request)) })?;
    Ok(())
}

/// The MTU of an interface.
pub(crate) fn mtu(interface: &str) -> io::Result<usize> {
    // Any socket will do. One for packets would not: closing it waits for all processors, 15 ms and more, and workers ask each second.
    let fd = socket(libc::AF_UNIX, libc::SOCK_DGRAM, 0)?;
    let mut named = interface_request(interface)?;
    // SAFETY: this takes a request that names an interface, and answers with a number.
    unsafe { request(&fd, libc::SIOCGIFMTU as c_ulong, &mut named) }?;
    // SAFETY: the kernel has filled in the number.
    let mtu = unsafe { named.ifr_ifru.ifru_mtu };
    Ok(usize::try_from(mtu).unwrap_or(0))
}

/// What the kernel says that an interface is: a number `ARPHRD_`.
pub(crate) fn link_type(interface: &str) -> io::Result<u16> {
    let fd = socket(libc::AF_UNIX, libc::SOCK_DGRAM, 0)?;
    let mut named = interface_request(interface)?;
    // SAFETY: this takes a request that names an interface, and answers with an address of the interface's kind.
    unsafe { request(&fd, libc::SIOCGIFHWADDR as c_ulong, &mut named) }?;
    // SAFETY: the kernel has filled in the address.
    Ok(unsafe { named.ifr_ifru.ifru_hwaddr.sa_family })
}

/// Sends a command with a number.
///
/// # Safety
/// The number must be what `code` takes, and no address.
pub(crate) unsafe fn command(fd: &OwnedFd, code: c_ulong, number: c_ulong) -> io::Result<()> {
    // SAFETY: no pointers, as the caller answers for.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), code as libc::Ioctl, number) })?;
    Ok(())
}

/// Names of all interfaces of this network namespace.
pub fn interfaces() -> Vec<String> {
    let text = fs::read_to_string("/proc/net/dev").unwrap_or_default();
    text.lines().filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned())).collect()
}

/// Memory that is shared with the kernel.
pub(crate) struct Mapping {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: plain memory, bound to no thread; who touches it is up to its owner.
unsafe impl Send for Mapping {}
// SAFETY: a shared mapping only gives its address.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` bytes of a descriptor, or (without one) of new memory.
    pub(crate) fn new(fd: Option<&OwnedFd>, len: usize, offset: i64) -> io::Result<Mapping> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = match fd {
            Some(_) => libc::MAP_SHARED | libc::MAP_POPULATE,
            None => libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
        };
        let raw = fd.map_or(-1, AsRawFd::as_raw_fd);
        // SAFETY: a new mapping at an address of the kernel's choice disturbs no existing memory.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), len, access, flags, raw, offset) };
        match NonNull::new(base.cast::<u8>()) {
            Some(base) if base.as_ptr().cast() != libc::MAP_FAILED => Ok(Mapping { base, len }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Where it starts.
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Its bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is this owner's, and nothing refers to it any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.len) };
    }
}

/// Which sockets a test's thread has asked for, by domain.
#[cfg(test)]
pub(crate) mod asked {
    use libc::c_int;
    use std::cell::RefCell;

    thread_local!(static ASKED: RefCell<Vec<c_int>> = const { RefCell::new(Vec::new()) });

    pub(super) fn note(domain: c_int) {
        ASKED.with_borrow_mut(|asked| asked.push(domain));
    }

    /// Those since this was called last.
    pub(crate) fn take() -> Vec<c_int> {
        ASKED.take()
    }
}
