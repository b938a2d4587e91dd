//! Cipher block chaining as Click's elements do it, over the text of an ESP packet.
//!
//! What is carried from block to block has 8 octets. With DES, whose blocks have as many, that is CBC (RFC 2405). With AES, whose blocks have
//! 16, it is Click's own: only the first half of each block is combined with the first half of the encrypted block before it.

use elements_shared::esp_front::{FRONT, IV_LEN};
use wire::esp;

/// Octets of the check value behind the text, which is not encrypted, or not all of it.
pub(super) const DIGEST_LEN: usize = 12;

/// The initialisation vector of a packet, and the blocks of `N` octets behind it that are, or are to be, encrypted: all but the last `ignore`
/// octets, as far as that is whole blocks. Of what is left over, octets that are to be ignored make whole blocks: as Click has it, those
/// beyond another 8 for AES.
pub(super) fn parts<const N: usize>(
    data: &mut [u8],
    ignore: usize,
) -> Result<([u8; IV_LEN], &mut [[u8; N]]), &'static str> {
    const { assert!(N >= IV_LEN) };
    let len = data.len().checked_sub(FRONT).and_then(|len| len.checked_sub(ignore));
    let len = len.ok_or("too short")?;
    let more = if len.is_multiple_of(N) { 0 } else { N - IV_LEN };
    let whole = (len + more).next_multiple_of(N);
    let iv = data.get(esp::HEADER_LEN..).and_then(|rest| rest.first_chunk());
    let iv = *iv.ok_or("too short")?;
    let text = data.get_mut(FRONT..).and_then(|text| text.get_mut(..whole));
    Ok((iv, text.ok_or("no whole number of blocks")?.as_chunks_mut().0))
}

/// What a block hands on, or what is combined with the next.
fn head<const N: usize>(block: &[u8; N]) -> [u8; IV_LEN] {
    block.first_chunk().copied().unwrap_or_default()
}

fn combine<const N: usize>(block: &mut [u8; N], with: [u8; IV_LEN]) {
    block.iter_mut().zip(with).for_each(|(byte, other)| *byte ^= other);
}

/// Encrypts blocks.
#[inline]
pub(super) fn encrypt<const N: usize>(
    mut iv: [u8; IV_LEN],
    blocks: &mut [[u8; N]],
    encrypt_block: impl Fn(&mut [u8; N]),
) {
    for block in blocks {
        combine(block, iv);
        encrypt_block(block);
        iv = head(block);
    }
}

/// Decrypts blocks.
#[inline]
pub(super) fn decrypt<const N: usize>(
    mut iv: [u8; IV_LEN],
    blocks: &mut [[u8; N]],
    decrypt_block: impl Fn(&mut [u8; N]),
) {
    for block in blocks {
        let next = head(block);
        decrypt_block(block);
        combine(block, iv);
        iv = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aes::Aes128;
    use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
    use des::Des;

    fn hex<const N: usize>(digits: &str) -> [u8; N] {
        std::array::from_fn(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).expect("digits"))
    }

    /// The example of FIPS 81, table C1: a text of three blocks in CBC.
    #[test]
    fn des_by_the_standard() {
        let des = Des::new(&hex("0123456789abcdef").into());
        let iv = hex("1234567890abcdef");
        let mut blocks = [*b"Now is t", *b"he time ", *b"for all "];
        encrypt(iv, &mut blocks, |block| des.encrypt_block(block.into()));
        let sealed = ["e5c7cdde872bf27c", "43e934008c389c0f", "683788499a7c05f6"].map(hex::<8>);
        assert_eq!(blocks, sealed);
        decrypt(iv, &mut blocks, |block| des.decrypt_block(block.into()));
        assert_eq!(blocks.concat(), b"Now is the time for all ");
    }

    /// One block with the key of FIPS 197, appendix C.1; and what is carried to the second is half a block.
    #[test]
    fn aes_by_halves() {
        let aes = Aes128::new(&hex("000102030405060708090a0b0c0d0e0f").into());
        let seal = |block: &mut [u8; 16]| aes.encrypt_block(block.into());
        let mut blocks = [hex("00112233445566778899aabbccddeeff"); 2];
        encrypt([0; 8], &mut blocks, seal);
        let first = hex("69c4e0d86a7b0430d8cdb78070b4c55a");
        let mut second = hex::<16>("00112233445566778899aabbccddeeff");
        second[..8].iter_mut().zip(first).for_each(|(byte, other)| *byte ^= other);
        seal(&mut second);
        assert_eq!(blocks, [first, second]);
        decrypt([0; 8], &mut blocks, |block| aes.decrypt_block(block.into()));
        assert_eq!(blocks, [hex("00112233445566778899aabbccddeeff"); 2]);
    }

    /// How many octets are encrypted of a text so long, with a check value behind it.
    #[test]
    fn what_is_encrypted() {
        fn len<const N: usize>(text: usize, ignore: usize) -> Result<usize, &'static str> {
            parts::<N>(&mut vec![0; FRONT + text], ignore).map(|(_, blocks)| N * blocks.len())
        }
        assert_eq!([12, 13, 20, 28].map(|text| len::<8>(text, 12)), [Ok(0), Ok(8), Ok(8), Ok(16)]);
        assert_eq!([12, 20, 28, 36].map(|text| len::<16>(text, 12)), [Ok(0), Ok(16), Ok(16), Ok(32)]);
        assert_eq!([0, 8, 9].map(|text| len::<8>(text, 0)), [Ok(0), Ok(8), Err("no whole number of blocks")]);
        assert_eq!(len::<16>(13, 12), Err("no whole number of blocks"));
        assert_eq!((len::<8>(11, 12), len::<16>(0, usize::MAX)), (Err("too short"), Err("too short")));
        assert!(parts::<8>(&mut [0; FRONT - 1], 0).is_err());
    }
}
