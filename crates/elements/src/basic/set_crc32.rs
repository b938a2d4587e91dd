//! Appends a checksum to packets.
//!
//! ```click
//! SetCRC32
//! ```
//!
//! Appends four bytes: the CRC-32 of the data (polynomial 04C11DB7, most significant bit first, initial value all
//! ones, result not inverted), in little-endian order.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> SetCRC32 -> CheckCRC32 -> Discard
//! ```
//!
//! # See also
//! CheckCRC32

use super::pad::lengthen;
use crc::{Algorithm, CRC_32_MPEG_2, Crc, Table};
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Pull};

/// The class.
pub(crate) const CLASS: Class = Class::new("SetCRC32", create).doc(include_str!("set_crc32.rs"));

/// Bytes of the checksum.
pub(crate) const BYTES: usize = 4;

/// The polynomial 0x04c11db7, not reflected, from all ones on, not inverted; 16 bytes at a time.
pub(crate) static CRC: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_MPEG_2);

/// The same from zeros on.
static FROM_ZEROS: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&Algorithm { init: 0, ..CRC_32_MPEG_2 });

/// Bytes that are taken at a time; what is left over goes byte by byte, each waiting for the one before.
const BLOCK: usize = 16;

/// The check of some bytes.
pub(crate) fn crc32(data: &[u8]) -> u32 {
    // To start from ones is to start from zeros with the first four bytes inverted, and then zeros in front change nothing: they
    // fill up the first block.
    let odd = data.len() % BLOCK;
    let first = if odd < BYTES { odd + BLOCK } else { odd };
    let Some((head, rest)) = data.split_at_checked(first) else { return CRC.checksum(data) };
    let mut blocks = [0; 2 * BLOCK];
    blocks[2 * BLOCK - first..].copy_from_slice(head);
    blocks[2 * BLOCK - first..][..BYTES].iter_mut().for_each(|byte| *byte = !*byte);
    let mut digest = FROM_ZEROS.digest();
    digest.update(if first > BLOCK { &blocks } else { &blocks[BLOCK..] });
    digest.update(rest);
    digest.finalize()
}

struct SetCrc32;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(SetCrc32))
}

fn append(cx: &mut Cx<'_>, packet: Packet) -> Option<Packet> {
    let crc = crc32(packet.data());
    match lengthen(cx, packet, BYTES) {
        Ok(mut packet) => {
            let end = packet.len() - BYTES;
            packet.data_mut()[end..].copy_from_slice(&crc.to_le_bytes());
            Some(packet)
        }
        Err(packet) => {
            cx.drop(packet, "too long for a buffer");
            None
        }
    }
}

impl Element for SetCrc32 {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        batch.filter_map(|packet| append(cx, packet));
        cx.emit(0, batch);
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Ask { input: 0, want }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) -> Pull {
        batch.filter_map(|packet| append(cx, packet));
        Pull::Give(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::{CRC, crc32};
    use proptest::prelude::*;

    proptest! {
        /// Bytes of any number, also fewer than a block.
        #[test]
        fn as_byte_by_byte(data in prop::collection::vec(any::<u8>(), 0..100)) {
            prop_assert_eq!(crc32(&data), CRC.checksum(&data));
        }
    }

    /// The catalogue's check value of this variant (CRC-32/MPEG-2).
    #[test]
    fn known_value() {
        assert_eq!(crc32(b"123456789"), 0x0376_e6e7);
    }
}
