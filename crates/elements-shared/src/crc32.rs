//! The cyclic redundancy check of SetCRC32.

use crc::{Algorithm, CRC_32_MPEG_2, Crc, Table};

/// Bytes of the checksum.
pub const BYTES: usize = 4;

/// The polynomial 0x04c11db7, not reflected, from all ones on, not inverted; 16 bytes at a time.
pub static CRC: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_MPEG_2);

/// The same from zeros on.
static FROM_ZEROS: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&Algorithm { init: 0, ..CRC_32_MPEG_2 });

/// Bytes that are taken at a time; what is left over goes byte by byte, each waiting for the one before.
const BLOCK: usize = 16;

/// The check of some bytes.
pub fn crc32(data: &[u8]) -> u32 {
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
