//! Wired Equivalent Privacy of IEEE 802.11: RC4 under a key that all in a network have, with an initialization vector
//! in front of what is encrypted, and a checksum behind the text. It is broken, and here for old stations only.

use crc::{CRC_32_ISO_HDLC, Crc, Table};
use rc4::{KeyInit, Rc4, StreamCipher};

/// Octets of an initialization vector.
pub(super) const VECTOR: usize = 3;
/// Octets in front of what is encrypted: initialization vector, which key.
pub(super) const HEAD: usize = VECTOR + 1;
/// Octets behind it: the checksum, which is encrypted, too.
pub(super) const TAIL: usize = 4;
/// Octets of the longest key.
const LONGEST: usize = 16;
/// How many keys a network can have.
const KEYS: u32 = 4;
/// The bit of the octet of which key it is that other ways of encryption set.
const EXTENDED: u8 = 0x20;

static CRC: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISO_HDLC);

/// A key, and its place among the network's.
#[derive(Default)]
pub(super) struct Key {
    bytes: Vec<u8>,
    place: u8,
}

impl Key {
    /// Sets the key's bytes; without any nothing is encrypted with it.
    ///
    /// # Errors
    /// There are too many.
    pub(super) fn set_bytes(&mut self, bytes: Vec<u8>) -> Result<(), String> {
        if bytes.len() > LONGEST {
            return Err(format!("KEY must have at most {LONGEST} bytes"));
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Sets which of the network's keys it is.
    ///
    /// # Errors
    /// There are not so many.
    pub(super) fn set_place(&mut self, place: u32) -> Result<(), String> {
        if place >= KEYS {
            return Err(format!("KEYID must be below {KEYS}"));
        }
        self.place = place as u8;
        Ok(())
    }

    /// Which of the network's keys it is.
    pub(super) fn place(&self) -> u8 {
        self.place
    }

    /// What encrypts and decrypts with a vector; `None` without a key.
    fn cipher(&self, vector: [u8; VECTOR]) -> Option<Rc4> {
        let (mut seed, end) = ([0; VECTOR + LONGEST], VECTOR + self.bytes.len());
        seed[..VECTOR].copy_from_slice(&vector);
        seed.get_mut(VECTOR..end)?.copy_from_slice(&self.bytes);
        Rc4::new_from_slice(&seed[..end]).ok().filter(|_| !self.bytes.is_empty())
    }

    /// Encrypts what has [`HEAD`] octets of room in front and [`TAIL`] behind; `None` without a key.
    pub(super) fn encrypt(&self, whole: &mut [u8], vector: [u8; VECTOR]) -> Option<()> {
        let mut cipher = self.cipher(vector)?;
        let (head, body) = whole.split_first_chunk_mut::<HEAD>()?;
        let [a, b, c] = vector;
        *head = [a, b, c, self.place << 6];
        let (text, sum) = body.split_last_chunk_mut::<TAIL>()?;
        *sum = CRC.checksum(text).to_le_bytes();
        cipher.apply_keystream(body);
        Some(())
    }

    /// Decrypts in place what `encrypt` made; `None` if it is too short, there is no key, or the checksum is wrong.
    pub(super) fn decrypt(&self, whole: &mut [u8]) -> Option<()> {
        let (&mut [a, b, c, _], body) = whole.split_first_chunk_mut::<HEAD>()?;
        self.cipher([a, b, c])?.apply_keystream(body);
        let (text, sum) = body.split_last_chunk::<TAIL>()?;
        (CRC.checksum(text).to_le_bytes() == *sum).then_some(())
    }

    /// Whether something is encrypted with the key of this place.
    pub(super) fn concerns(&self, whole: &[u8]) -> bool {
        whole.get(VECTOR).is_none_or(|which| which & EXTENDED == 0 && which >> 6 == self.place)
    }
}

/// The vector behind another. Those that tell most of the key are left out.
pub(super) fn next(vector: u32) -> u32 {
    let next = vector.wrapping_add(1) & 0xff_ffff;
    let weak = next >> 8 & 0xff == 0xff && (3..LONGEST as u32).contains(&(next >> 16));
    if weak { (next & 0xff_0000) + 0x01_0000 } else { next }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        let mut key = Key::default();
        key.set_bytes(vec![1, 2, 3, 4, 5]).unwrap();
        key
    }

    /// As another implementation of RC4 and CRC-32 has it.
    #[test]
    fn known_answer() {
        let mut whole = [&[0; HEAD][..], &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], b"hello", &[0; TAIL]].concat();
        let clear = whole.clone();
        key().encrypt(&mut whole, [0x11, 0x22, 0x33]).unwrap();
        let secret = [
            0x2c, 0x2c, 0x4e, 0x27, 0x68, 0x34, 0xda, 0x68, 0x33, 0x20, 0x45, 0x66, 0xfa, 0x4d, 0x07, 0xf9,
            0x66,
        ];
        assert_eq!(whole, [&[0x11, 0x22, 0x33, 0][..], &secret].concat());
        let mut other = whole.clone();
        key().decrypt(&mut whole).unwrap();
        assert_eq!(whole[HEAD..clear.len() - TAIL], clear[HEAD..clear.len() - TAIL]);
        other[9] ^= 1;
        assert_eq!(key().decrypt(&mut other), None);
        for short in 0..HEAD + TAIL {
            assert_eq!(key().decrypt(&mut vec![7; short]), None);
        }
        assert_eq!(Key::default().decrypt(&mut [0; 8]), None);
        assert_eq!(Key::default().encrypt(&mut [0; 8], [0; 3]), None);
    }

    #[test]
    fn keys_and_places_out_of_range_are_refused() {
        let mut key = key();
        assert_eq!(key.place(), 0);
        assert!(key.set_bytes(vec![0; 17]).is_err() && key.set_place(4).is_err());
        key.set_place(3).unwrap();
        assert!(key.concerns(&[0, 0, 0, 0xc0]) && !key.concerns(&[0; 4]) && !key.concerns(&[0, 0, 0, 0xe0]));
    }

    /// Of the vectors no two in a row are the same, none is weak, and they begin anew at their end.
    #[test]
    fn the_next_vector_is_another_strong_one() {
        let pairs = [
            (0, 1),
            (0xff_ffff, 0),
            (0x02_fe_ff, 0x02_ff_00),
            (0x03_fe_ff, 0x04_00_00),
            (0x0f_fe_ff, 0x10_00_00),
            (0x10_fe_ff, 0x10_ff_00),
        ];
        for (vector, after) in pairs {
            assert_eq!(next(vector), after, "{vector:06x}");
        }
    }
}
