//! How drivers are talked to, and what they are called.

use crate::sys;
use std::io;

/// The request that takes all commands.
const SIOCETHTOOL: libc::c_ulong = 0x8946;
/// The command that asks what a driver is.
const DRIVER_INFO: u32 = 0x3;

/// The start of the kernel's answer about a driver, and room for the rest.
#[repr(C)]
struct DriverInfo {
    command: u32,
    driver: [u8; 32],
    rest: [u8; 256],
}

/// Sends a command with its data.
///
/// # Safety
/// `data` must be what the command that it begins with reads and writes.
pub(crate) unsafe fn command<T>(interface: &str, data: &mut T) -> io::Result<()> {
    let fd = sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
    let mut request = sys::interface_request(interface)?;
    request.ifr_ifru.ifru_data = std::ptr::from_mut(data).cast();
    // SAFETY: the request leads to the data, which outlives the call; the caller answers for their size.
    unsafe { sys::request(&fd, SIOCETHTOOL, &mut request) }
}

/// The name of an interface's driver, if it says.
pub fn driver(interface: &str) -> Option<String> {
    let mut info = DriverInfo { command: DRIVER_INFO, driver: [0; 32], rest: [0; 256] };
    // SAFETY: the kernel writes 196 bytes.
    unsafe { command(interface, &mut info) }.ok()?;
    debug_assert!(info.rest.len() >= 160);
    let name = info.driver.split(|&byte| byte == 0).next()?;
    Some(String::from_utf8_lossy(name).into_owned()).filter(|name| !name.is_empty())
}
