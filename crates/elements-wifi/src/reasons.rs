//! Why packets are dropped.

/// Why packets are dropped that end before a frame's header does.
pub(super) const NO_HEADER: &str = "no IEEE 802.11 header";
/// Why packets are dropped whose buffers are full.
pub(super) const NO_ROOM: &str = "no headroom";
