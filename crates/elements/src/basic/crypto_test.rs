//! Self-test: checksums and hashes.
//!
//! ```click
//! CryptoTest
//! ```
//!
//! When the router starts, this tests the functions that stand in for Click's cryptography: MD5, which
//! ToIPSummaryDump writes, with the examples of RFC 1321; the CRC of SetCRC32; and the Internet checksum, including
//! pseudo-headers and incremental updates for a changed field. There are no ciphers and no other keyed hashes here.
//! It prints `All tests pass!`, or the router does not start.
//!
//! Ports: none. Workers: worker 0.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! CryptoTest
//! ```
//!
//! # See also
//! SetCRC32, SetIPChecksum, ToIPSummaryDump

use super::set_crc32::crc32;
use super::trial::{Trial, element};
use md5::{Digest, Md5};
use router::{Class, Config, ConfigError, Cx, Element, Residency};
use std::net::{Ipv4Addr, Ipv6Addr};
use wire::checksum::{Sum, checksum, pseudo_v4, pseudo_v6, update_u16, update_u32, verify};

/// The class.
pub(crate) const CLASS: Class = Class::new("CryptoTest", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(include_str!("crypto_test.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    element(config, tests)
}

fn tests(trial: &mut Trial, _cx: &mut Cx<'_>) {
    md5(trial);
    crc(trial);
    internet(trial);
    updates(trial);
}

fn md5(trial: &mut Trial) {
    for (text, digest) in [
        ("", "d41d8cd98f00b204e9800998ecf8427e"),
        ("a", "0cc175b9c0f1b6a831c399e269772661"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"),
        ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
        (
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            "d174ab98d277d9f5a5611c2c9f419d9f",
        ),
        (
            "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
            "57edf4a22be3c955ac49da2e2107b67a",
        ),
    ] {
        let found: String = Md5::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        trial.same(&format!("MD5 of '{text}'"), found.as_str(), digest);
    }
}

/// The remainder bit by bit, as the polynomial says.
fn crc_by_bits(bytes: &[u8]) -> u32 {
    bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte) << 24, |crc, _| {
            (crc << 1) ^ if crc >> 31 == 1 { 0x04c1_1db7 } else { 0 }
        })
    })
}

fn crc(trial: &mut Trial) {
    trial.same("CRC of the digits", crc32(b"123456789"), 0x0376_e6e7);
    let bytes: Vec<u8> = (0..200u32).map(|n| (n * 7 + n / 3) as u8).collect();
    for length in [0, 1, 3, 4, 5, 15, 16, 17, 20, 31, 33, 64, 199] {
        trial.same(&format!("CRC of {length} bytes"), crc32(&bytes[..length]), crc_by_bits(&bytes[..length]));
    }
}

fn internet(trial: &mut Trial) {
    // The example of RFC 1071, section 3.
    let example = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
    trial.same("checksum of RFC 1071's example", checksum(&example), !0xddf2);
    trial.same("checksum of nothing", checksum(&[]), 0xffff);
    trial.same("checksum of an odd byte", checksum(&[0x12]), !0x1200);
    trial.same("checksum in parts", Sum::of(&example[..4]).add_bytes(&example[4..]).checksum(), !0xddf2);
    let mut header =
        [0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0, 0, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7];
    trial.same("checksum of an IPv4 header", checksum(&header), 0xb861);
    trial.same("checksum of 20 bytes", Sum::of_20(&header).checksum(), 0xb861);
    header[10..12].copy_from_slice(&0xb861u16.to_be_bytes());
    trial.holds("a header with its checksum is right", verify(&header));
    trial.same("checksum without its field", Sum::except(&header, 10).checksum(), 0xb861);
    header[15] ^= 0x10;
    trial.holds("a header that was changed is wrong", !verify(&header));
    let long: Vec<u8> = (0..1500u32).map(|n| ((n * n) >> 3) as u8).collect();
    let slow = long.chunks(2).fold(0u32, |sum, pair| sum + u32::from(pair[0]) * 256 + u32::from(pair[1]));
    let slow = (slow & 0xffff) + (slow >> 16);
    trial.same("checksum of 1500 bytes", checksum(&long), !((slow + (slow >> 16)) as u16));
    let pseudo = pseudo_v4(Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2), 17, 8);
    trial.same("checksum of a UDP pseudo-header", pseudo.checksum(), !(0x0a00 + 1 + 0x0a00 + 2 + 17 + 8));
    let pseudo = pseudo_v6(Ipv6Addr::LOCALHOST, Ipv6Addr::LOCALHOST, 58, 0x1_0004);
    trial.same("checksum of an IPv6 pseudo-header", pseudo.checksum(), !(1 + 1 + 58 + 1 + 4));
}

/// A checksum that is brought up to date is that of the changed bytes.
fn updates(trial: &mut Trial) {
    let mut bytes: Vec<u8> = (1..=40).collect();
    for (old, new) in [(0x0102, 0xfffe), (0xfffe, 0), (0, 0xffff)] {
        let before = checksum(&bytes);
        bytes[..2].copy_from_slice(&u16::to_be_bytes(new));
        trial.same("a checksum with a new word", update_u16(before, old, new), checksum(&bytes));
    }
    let before = checksum(&bytes);
    let old = u32::from_be_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
    bytes[4..8].copy_from_slice(&0xc0a8_0101u32.to_be_bytes());
    trial.same("a checksum with a new address", update_u32(before, old, 0xc0a8_0101), checksum(&bytes));
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    #[test]
    fn passes() {
        assert_eq!(run("CryptoTest; Script(stop)"), "All tests pass!\n");
    }
}
