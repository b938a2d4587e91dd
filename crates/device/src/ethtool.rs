//! What a driver says of itself and can be told, as `ethtool` shows it.

use crate::sys;
use crate::trouble::Trouble;
use std::io;

// Requests and their commands.
const SIOCETHTOOL: libc::c_ulong = 0x8946;
const DRIVER_INFO: u32 = 0x3;
const GET_MERGING: u32 = 0x2b;
const SET_MERGING: u32 = 0x2c;

/// The start of the kernel's answer about a driver, and room for the rest.
#[repr(C)]
struct DriverInfo {
    command: u32,
    driver: [u8; 32],
    rest: [u8; 256],
}

#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// Sends a command with its data.
///
/// # Safety
/// `data` must be what the command that it begins with reads and writes.
unsafe fn command<T>(interface: &str, data: &mut T) -> io::Result<()> {
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

/// Whether the kernel merges received segments into longer ones (generic receive offload) before anybody sees them.
///
/// # Errors
/// What the kernel refuses.
pub fn merges(interface: &str) -> Result<bool, Trouble> {
    let mut value = Value { command: GET_MERGING, data: 0 };
    // SAFETY: the command takes a value.
    unsafe { command(interface, &mut value) }
        .map_err(Trouble::at(interface, "asking for its offloads (ETHTOOL_GGRO)"))?;
    Ok(value.data != 0)
}

/// Sets whether the kernel merges received segments.
///
/// # Errors
/// What the kernel refuses.
pub fn set_merges(interface: &str, merges: bool) -> Result<(), Trouble> {
    let mut value = Value { command: SET_MERGING, data: merges.into() };
    // SAFETY: the command takes a value.
    unsafe { command(interface, &mut value) }
        .map_err(Trouble::at(interface, "setting its offloads (ETHTOOL_SGRO)"))
}
