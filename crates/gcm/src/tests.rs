use crate::{Key, Short};
use aes_gcm::aead::consts::U12;
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::aes::{Aes128, Aes256};
use aes_gcm::{AeadInOut, AesGcm, KeyInit};
use proptest::prelude::*;

/// What the crate `aes-gcm` makes of a text: the text, and the check value.
fn expected(key: &[u8], nonce: [u8; 12], data: &[u8], text: &[u8]) -> (Vec<u8>, [u8; 16]) {
    let mut sealed = text.to_vec();
    let (nonce, place) = (nonce.into(), InOutBuf::from(sealed.as_mut_slice()));
    let check = match key.len() {
        16 => AesGcm::<Aes128, U12>::new_from_slice(key).unwrap().encrypt_inout_detached(&nonce, data, place),
        _ => AesGcm::<Aes256, U12>::new_from_slice(key).unwrap().encrypt_inout_detached(&nonce, data, place),
    };
    (sealed, check.unwrap().into())
}

/// Octets that look random.
fn octets(seed: u64, len: usize) -> Vec<u8> {
    let next = |state: &u64| {
        Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
    };
    std::iter::successors(next(&seed), next).map(|state| (state >> 56) as u8).take(len).collect()
}

/// Seals and opens as `aes-gcm` does; with anything changed it opens nothing, and leaves the text as it came.
fn check(key: &[u8], data: &[u8], text: &[u8], at: usize, change: u8) {
    let Some(wide) = Key::new(key) else {
        return eprintln!("skipped: this processor has no VAES and VPCLMULQDQ with AVX-512");
    };
    let nonce = octets(at as u64, 12).try_into().unwrap();
    let (sealed, right) = expected(key, nonce, data, text);
    // Around the text nothing is written.
    let mut place = [&[0xa5; 64], text, &[0xa5; 64]].concat();
    let inside = 64..64 + text.len();
    assert_eq!(wide.seal(&nonce, data, &mut place[inside.clone()]), right, "{} {}", data.len(), text.len());
    assert_eq!(place, [&[0xa5; 64], &sealed[..], &[0xa5; 64]].concat());
    assert!(wide.open(&nonce, data, &mut place[inside], &right));
    assert_eq!(place, [&[0xa5; 64], text, &[0xa5; 64]].concat());

    if data.len() <= 16 {
        let mut block = [0; 16];
        block[..data.len()].copy_from_slice(data);
        // What is behind the octets does not count.
        let behind = u128::MAX.checked_shr(8 * data.len() as u32).unwrap_or(0);
        let short = Short::new(u128::from_be_bytes(block) | behind, data.len());
        let mut place = text.to_vec();
        assert_eq!(wide.seal_short(&nonce, short, &mut place), right);
        assert_eq!(place, sealed);
        assert!(wide.open_short(&nonce, short, &mut place, &right));
        assert!(place == text && !wide.open_short(&nonce, short, &mut place, &[0; 16]));
    }

    let (mut data, mut text, mut nonce, mut right) = (data.to_vec(), sealed, nonce, right);
    let lens = [data.len(), text.len(), nonce.len(), right.len()];
    let mut at = at % lens.iter().sum::<usize>();
    for part in [&mut data[..], &mut text, &mut nonce, &mut right] {
        match part.get_mut(at) {
            Some(octet) => {
                *octet ^= change;
                break;
            }
            None => at -= part.len(),
        }
    }
    let before = text.clone();
    assert!(!wide.open(&nonce, &data, &mut text, &right));
    assert_eq!(text, before, "it is what it was");
}

/// All lengths of texts up to where strides repeat, with the data of ESP's header and without, for both lengths of keys.
#[test]
fn all_lengths() {
    for key_len in [16, 32] {
        let key = octets(1, key_len);
        for len in 0..800 {
            for data in [0, 8, 12, 16, 17] {
                check(&key, &octets(2, data), &octets(3, len), len * 7 + data, 0x10);
            }
        }
    }
}

proptest! {
    /// Other keys, and data of any length.
    #[test]
    fn as_aes_gcm(
        long in any::<bool>(), seed in any::<u64>(), data in 0usize..2000, text in 0usize..10_000, at in any::<u32>(), change in 1u8..
    ) {
        let key = octets(seed, if long { 32 } else { 16 });
        check(&key, &octets(seed ^ 1, data), &octets(seed ^ 2, text), at as usize, change);
    }
}

/// A key of a length that AES-GCM does not have here is none.
#[test]
fn lengths_of_keys() {
    assert!([0, 15, 17, 24, 31, 33].into_iter().all(|len| Key::new(&octets(1, len)).is_none()));
}
