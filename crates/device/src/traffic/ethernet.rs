//! The Ethernet addresses of made-up frames.

/// Ethernet destination and source address of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ethernet {
    /// Where it goes: the router's interface.
    pub destination: [u8; 6],
    /// Where it comes from.
    pub source: [u8; 6],
}

impl Default for Ethernet {
    /// Two locally administered addresses, 02:00:00:00:00:02 and 02:00:00:00:00:01.
    fn default() -> Ethernet {
        Ethernet { destination: [2, 0, 0, 0, 0, 2], source: [2, 0, 0, 0, 0, 1] }
    }
}
