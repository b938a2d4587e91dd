//! Writes bytes into packets.
//!
//! ```click
//! StoreData(OFFSET, DATA)
//! ```
//!
//! Replaces what a packet has from OFFSET on by DATA, as far as the packet reaches: it never becomes longer.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `OFFSET` (integer): where to write.
//! - `DATA` (string): what to write.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> StoreData(12, \<0800>) -> Discard
//! ```
//!
//! # See also
//! StoreTimestamp, Paint

use packet::Packet;
use router::{Bytes, Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("StoreData", create).doc(include_str!("store_data.rs"));

struct StoreData {
    offset: usize,
    data: Vec<u8>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut offset, mut data) = (0u32, Bytes::default());
    config.args().required("OFFSET", &mut offset).required("DATA", &mut data).finish()?;
    Ok(Box::new(PerPacket(StoreData { offset: offset as usize, data: data.0 })))
}

impl Simple for StoreData {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if let Some(place) = packet.data_mut().get_mut(self.offset..) {
            let length = place.len().min(self.data.len());
            place[..length].copy_from_slice(&self.data[..length]);
        }
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::inject::send;

    /// Within, across the end, at the end, beyond it.
    #[test]
    fn stores() {
        let packets = [&b"abcdef"[..], b"abcd", b"abc", b"a"].map(<[u8]>::to_vec);
        let flow = send("Inject -> StoreData(3, \\<00 01>) -> Collect(0)", packets);
        assert_eq!(flow.data(0), [&b"abc\0\x01f"[..], b"abc\0", b"abc", b"a"]);
    }
}
