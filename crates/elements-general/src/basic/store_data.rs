//! Writes bytes into packets.
//!
//! ```click
//! StoreData(OFFSET, DATA [, MASK, GROW])
//! ```
//!
//! Overwrites a packet's bytes from OFFSET on with DATA, as far as the packet reaches. Packets that end before OFFSET
//! are not changed.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `OFFSET` (integer): where to write.
//! - `DATA` (string): what to write.
//! - `MASK` (string, at most as long as DATA): the bits to write; bits that are 0 in MASK are left as they are. All
//!   bits beyond the end of MASK are written.
//! - `GROW` (boolean, default false): whether to lengthen packets that are too short for DATA.
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
pub(crate) const CLASS: Class = Class::new("StoreData", create).pure().doc(router::manual!("store_data.rs"));

struct StoreData {
    offset: u32,
    /// Data and mask, if they are at most four bytes, as most fields of headers are.
    short: Option<(u32, u32)>,
    /// Without the bits that stay.
    data: Vec<u8>,
    /// The bits that are written, as long as the data.
    mask: Vec<u8>,
    grow: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut offset, mut data, mut mask, mut grow) = (0u32, Bytes::default(), Bytes::default(), false);
    config
        .args()
        .required("OFFSET", &mut offset)
        .required("DATA", &mut data)
        .positional("MASK", &mut mask)
        .keyword("GROW", &mut grow)
        .finish()?;
    let (Bytes(mut data), Bytes(mut mask)) = (data, mask);
    if mask.len() > data.len() {
        return Err("MASK must be no longer than DATA".into());
    }
    mask.resize(data.len(), 0xff);
    data.iter_mut().zip(&mask).for_each(|(byte, mask)| *byte &= mask);
    let short = padded(&data).map(u32::from_ne_bytes).zip(padded(&mask).map(u32::from_ne_bytes));
    Ok(Box::new(PerPacket(StoreData { offset, short, data, mask, grow })))
}

/// Writes the bits of a mask, as far as there is room for them: four bytes at a time, since most fields of headers have so many.
#[inline]
fn store(place: &mut [u8], data: &[u8], mask: &[u8]) {
    let room = place.len().min(data.len()).min(mask.len());
    let (words, bytes) = place[..room].as_chunks_mut::<4>();
    let ((data_words, data), (mask_words, mask)) = (data[..room].as_chunks(), mask[..room].as_chunks());
    for (word, (data, mask)) in words.iter_mut().zip(data_words.iter().zip(mask_words)) {
        let [old, data, mask] = [*word, *data, *mask].map(u32::from_ne_bytes);
        *word = (old & !mask | data).to_ne_bytes();
    }
    for (byte, (data, mask)) in bytes.iter_mut().zip(data.iter().zip(mask)) {
        *byte = *byte & !mask | data;
    }
}

impl StoreData {
    /// Data that is longer, or lies where the packet has not as many bytes.
    fn store_any(&self, packet: &mut Packet) -> Verdict {
        let offset = self.offset as usize;
        let missing = (offset + self.data.len()).saturating_sub(packet.len());
        if self.grow && missing > 0 && packet.len() > offset && !packet.put(missing) {
            return Verdict::Drop("too long for a buffer");
        }
        if let Some(place) = packet.data_mut().get_mut(offset..) {
            store(place, &self.data, &self.mask);
        }
        Verdict::Pass
    }
}

/// Bytes with zeros behind them, if there are not more than `N`.
fn padded<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    let mut padded = [0; N];
    padded.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(padded)
}

impl Simple for StoreData {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match self.short {
            Some((data, mask)) if let Some(place) = packet.data_array_mut(self.offset) => {
                *place = (u32::from_ne_bytes(*place) & !mask | data).to_ne_bytes();
                Verdict::Pass
            }
            _ => self.store_any(packet),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;

    /// Within, across the end, at the end, beyond it.
    #[test]
    fn writes_no_further_than_the_end() {
        let packets = [&b"abcdef"[..], b"abcd", b"abc", b"a"].map(<[u8]>::to_vec);
        let flow = send("Inject -> StoreData(3, \\<00 01>) -> Collect(0)", packets);
        assert_eq!(flow.data(0), [&b"abc\0\x01f"[..], b"abc\0", b"abc", b"a"]);
    }

    /// Bits that the mask leaves out stay, and packets grow if they are told to.
    #[test]
    fn masks_and_growth() {
        let packets = || [&b"abcdef"[..], b"abcd", b"abc"].map(<[u8]>::to_vec);
        let flow = send("Inject -> StoreData(3, \\<ff ff>, \\<80>, GROW true) -> Collect(0)", packets());
        assert_eq!(flow.data(0), [&b"abc\xe4\xfff"[..], b"abc\xe4\xff", b"abc"]);
        let said = crate::testing::errors("Idle -> StoreData(0, a, ab) -> Discard");
        assert!(said.contains("MASK must be no longer than DATA"), "{said}");
    }
}
