//! Packets for the tests of transport elements, and checksums computed the slow way.

use crate::samples::{DST, SRC, edited, with_options};
use proptest::prelude::*;

/// The one's complement of the one's complement sum, a bit at a time as RFC 1071 has it.
pub fn naive_checksum(bytes: &[u8]) -> u16 {
    let mut sum = 0u64;
    for (at, &byte) in bytes.iter().enumerate() {
        sum += u64::from(byte) << if at % 2 == 0 { 8 } else { 0 };
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// The checksum of a TCP or UDP message between the addresses of the samples.
pub fn naive_with_pseudo_header(protocol: u8, message: &[u8]) -> u16 {
    let mut bytes = [&SRC.octets()[..], &DST.octets(), &[0, protocol]].concat();
    bytes.extend((message.len() as u16).to_be_bytes());
    bytes.extend(message);
    naive_checksum(&bytes)
}

/// An IP packet with this message, and `words` words of options.
pub fn carrying(protocol: u8, words: usize, message: &[u8]) -> Vec<u8> {
    let mut data = with_options(&vec![1; words * 4], 0);
    data.truncate(20 + words * 4);
    data.extend(message);
    let len = data.len() as u16;
    edited(data, |ip| {
        ip.set_protocol(protocol);
        ip.set_total_len(len);
    })
}

/// A TCP segment with a header of 20 bytes, without checksum.
pub fn tcp(data: &[u8]) -> Vec<u8> {
    let mut segment = vec![0; 20];
    segment[..4].copy_from_slice(&[0x13, 0x88, 0x00, 0x50]);
    segment[4..12].copy_from_slice(&[0, 0, 0, 9, 0, 0, 0, 7]);
    (segment[12], segment[13]) = (0x50, 0x18);
    segment.extend(data);
    segment
}

/// A UDP datagram without checksum.
pub fn udp(data: &[u8]) -> Vec<u8> {
    let mut datagram = vec![0x13, 0x88, 0x00, 0x35];
    datagram.extend((data.len() as u16 + 8).to_be_bytes());
    datagram.extend([0, 0]);
    datagram.extend(data);
    datagram
}

/// With the checksum at this place.
pub fn summed(mut message: Vec<u8>, at: usize, sum: u16) -> Vec<u8> {
    message[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    message
}

/// Data of any length, even and odd.
pub fn data() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..200)
}
