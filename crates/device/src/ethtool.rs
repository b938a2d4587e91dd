//! What a driver says of itself and can be told, as `ethtool` shows it.

use crate::driver::command;
use crate::trouble::Trouble;

pub use crate::driver::driver;

// Commands.
const GET_MERGING: u32 = 0x2b;
const SET_MERGING: u32 = 0x2c;

#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// Whether the kernel merges received segments into longer ones (generic receive offload) before a socket sees them.
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
