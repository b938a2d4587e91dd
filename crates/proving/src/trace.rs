//! A digest of all frames of a story: two runs with the same digest were the same run.

use std::fmt;

/// FNV-1a over the time, the link and the bytes of each frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace {
    digest: u64,
    /// Frames so far.
    pub frames: u64,
}

impl Default for Trace {
    fn default() -> Trace {
        Trace { digest: 0xcbf2_9ce4_8422_2325, frames: 0 }
    }
}

impl Trace {
    /// Adds a frame.
    pub fn add(&mut self, at_ns: i64, link: usize, frame: &[u8]) {
        self.frames += 1;
        for &byte in at_ns.to_be_bytes().iter().chain(&[link as u8]).chain(frame) {
            self.digest = (self.digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.digest)
    }
}
