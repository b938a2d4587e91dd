//! What a driver says of itself and can be told, as `ethtool` shows it.

use crate::driver::command;
use crate::trouble::Trouble;

pub use crate::driver::driver;

// Commands.
const GET_MERGING: u32 = 0x2b;
const SET_MERGING: u32 = 0x2c;
const GET_CHANNELS: u32 = 0x3c;

#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// What a driver says of its channels: the most that there can be, and how many there are, of those that receive, that send, that do
/// neither, and that do both.
#[repr(C)]
struct Channels {
    command: u32,
    most: [u32; 4],
    receive: u32,
    send: u32,
    other: u32,
    combined: u32,
}

/// Queues from which an interface receives, if its driver says so.
pub fn receive_queues(interface: &str) -> Option<u32> {
    let mut value =
        Channels { command: GET_CHANNELS, most: [0; 4], receive: 0, send: 0, other: 0, combined: 0 };
    // SAFETY: the command takes its channels.
    unsafe { command(interface, &mut value) }.ok()?;
    Some(value.receive.saturating_add(value.combined)).filter(|&queues| queues > 0)
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
