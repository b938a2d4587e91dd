//! Interfaces behind which this program is: what the kernel sends there is read, what is written there the kernel receives.

use crate::sys;
use crate::trouble::Trouble;
use std::fs::OpenOptions;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;

/// What an interface carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// IP packets (TUN).
    Packets,
    /// Ethernet frames (TAP).
    Frames,
}

/// How the kernel's end is set up; what is not said stays as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Setup {
    /// The kernel's address, and its prefix length.
    pub address: Option<(Ipv4Addr, u8)>,
    /// The kernel's Ethernet address.
    pub ether: Option<[u8; 6]>,
    /// The longest packet, without link-layer header.
    pub mtu: Option<u32>,
}

/// Opens an interface, or makes it; without a name the kernel finds one. The result is the descriptor, which does not
/// block, and the name. If `shared`, it can be opened several times, and each flow keeps to one descriptor. Each packet has a
/// [`Note`](crate::segments::Note) in front, so that the kernel may leave checksums to the reader, and, if `segments`, the cutting of long
/// TCP segments.
///
/// # Errors
/// What the kernel refuses, and why perhaps.
pub fn open(
    name: &str,
    carries: Carries,
    shared: bool,
    segments: bool,
) -> Result<(OwnedFd, String), Trouble> {
    let shown = if name.is_empty() { "/dev/net/tun" } else { name };
    let refused = |doing| {
        move |error: io::Error| {
            let hint = match error.raw_os_error() {
                Some(libc::ENOENT | libc::ENODEV) => Some("the kernel has no TUN/TAP driver: modprobe tun"),
                Some(libc::EBUSY) => Some("another program has it"),
                Some(libc::EINVAL) => Some("there is an interface of this name, of another kind"),
                _ => None,
            };
            Trouble::new(shown, doing, error, hint)
        }
    };
    let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun");
    let fd = OwnedFd::from(file.map_err(refused("opening /dev/net/tun"))?);
    let kind = if carries == Carries::Frames { libc::IFF_TAP } else { libc::IFF_TUN };
    let flags = kind | libc::IFF_NO_PI | libc::IFF_VNET_HDR | if shared { libc::IFF_MULTI_QUEUE } else { 0 };
    let mut request = sys::interface_request(name).map_err(refused("naming it"))?;
    request.ifr_ifru.ifru_flags = flags as i16;
    // SAFETY: TUNSETIFF takes a name and flags.
    unsafe { sys::request(&fd, libc::TUNSETIFF as _, &mut request) }
        .map_err(refused("making it (TUNSETIFF)"))?;
    let left = libc::TUN_F_CSUM | if segments { libc::TUN_F_TSO4 | libc::TUN_F_TSO6 } else { 0 };
    // SAFETY: TUNSETOFFLOAD takes a number.
    unsafe { sys::command(&fd, libc::TUNSETOFFLOAD as _, left as _) }
        .map_err(refused("telling it what may be left to do (TUNSETOFFLOAD)"))?;
    let name = request.ifr_name.iter().map(|&c| c as u8).take_while(|&c| c != 0);
    Ok((fd, String::from_utf8_lossy(&name.collect::<Vec<u8>>()).into_owned()))
}

/// Whether there is an interface of this name.
pub fn is_there(name: &str) -> bool {
    sys::index_of(name).is_ok()
}

/// What the kernel said when an interface was read or written, and what to do.
pub fn trouble(name: &str, doing: &str, error: io::Error) -> Trouble {
    let hint = match error.raw_os_error() {
        Some(libc::EIO) => Some("bring it up: it was set down (ip link set NAME up)"),
        Some(libc::EBADFD) => Some("it was deleted"),
        Some(libc::EINVAL) => Some("the packet is none of the kind that it carries"),
        Some(libc::EAGAIN | libc::ENOBUFS) => Some("the kernel's queue is full (txqueuelen)"),
        _ => None,
    };
    Trouble::new(name, doing, error, hint)
}

fn inet(address: Ipv4Addr) -> libc::sockaddr {
    let mut data = [0; 14];
    // Behind the port, which is 0.
    for (to, from) in data[2..].iter_mut().zip(address.octets()) {
        *to = from as libc::c_char;
    }
    libc::sockaddr { sa_family: libc::AF_INET as u16, sa_data: data }
}

/// Sets an interface's kernel end up, and brings it up.
///
/// # Errors
/// What the kernel refuses, and why perhaps.
pub fn set_up(name: &str, setup: &Setup) -> Result<(), Trouble> {
    let at = |doing| Trouble::at(name, doing);
    let fd = sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0).map_err(at("opening a socket"))?;
    let change = |code: libc::c_ulong, doing, fill: &dyn Fn(&mut libc::ifreq)| {
        let mut request = sys::interface_request(name).map_err(at("naming it"))?;
        fill(&mut request);
        // SAFETY: each call below fills what its code takes.
        unsafe { sys::request(&fd, code, &mut request) }.map_err(at(doing))
    };
    if let Some(ether) = setup.ether {
        change(libc::SIOCSIFHWADDR as _, "setting its Ethernet address", &|request| {
            let mut data = [0; 14];
            data.iter_mut().zip(ether).for_each(|(to, from)| *to = from as libc::c_char);
            let address = libc::sockaddr { sa_family: libc::ARPHRD_ETHER, sa_data: data };
            request.ifr_ifru.ifru_hwaddr = address;
        })?;
    }
    if let Some((address, prefix_len)) = setup.address {
        let mask = u32::MAX.checked_shl(32 - u32::from(prefix_len)).unwrap_or(0);
        change(libc::SIOCSIFADDR as _, "setting its address", &|request| {
            request.ifr_ifru.ifru_addr = inet(address);
        })?;
        change(libc::SIOCSIFNETMASK as _, "setting its netmask", &|request| {
            request.ifr_ifru.ifru_netmask = inet(mask.into());
        })?;
    }
    if let Some(mtu) = setup.mtu {
        change(libc::SIOCSIFMTU as _, "setting its MTU", &|request| request.ifr_ifru.ifru_mtu = mtu as i32)?;
    }
    let mut request = sys::interface_request(name).map_err(at("naming it"))?;
    // SAFETY: it takes a name and gives flags.
    unsafe { sys::request(&fd, libc::SIOCGIFFLAGS as _, &mut request) }.map_err(at("reading its flags"))?;
    // SAFETY: the call has just stored the flags.
    let flags = unsafe { request.ifr_ifru.ifru_flags };
    change(libc::SIOCSIFFLAGS as _, "bringing it up", &|request| {
        request.ifr_ifru.ifru_flags = flags | (libc::IFF_UP | libc::IFF_RUNNING) as i16;
    })
}
