use std::fs;
use std::io::{self, Read, Write};

use bzip2::write::BzEncoder;
use clique_device::capture::{Options, Reader, Writer};
use flate2::Compression;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};

use crate::fixture::{pcap, read_all, read_good, some_packets};

pub(crate) fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn bz2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = XzWriter::new(Vec::new(), XzOptions::with_preset(1)).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zst(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

#[test]
fn compressed_captures_are_recognised_by_their_bytes() {
    let plain = pcap(false, false, 1, &some_packets());
    let expected = read_good(&plain);
    assert_eq!(read_good(&gz(&plain)), expected);
    assert_eq!(read_good(&xz(&plain)), expected);
    assert_eq!(read_good(&bz2(&plain)), expected);
    assert_eq!(read_good(&zst(&plain)), expected);
    // Two members are one stream, as `cat a.gz b.gz` makes them.
    let (head, tail) = plain.split_at(50);
    assert_eq!(read_good(&[gz(head), gz(tail)].concat()), expected);
    assert_eq!(read_good(&[bz2(head), bz2(tail)].concat()), expected);
    // Zeros behind are padding.
    for whole in [gz(&plain), bz2(&plain), xz(&plain), zst(&plain)] {
        assert_eq!(read_good(&[whole, vec![0; 512]].concat()), expected);
    }
}

#[test]
fn names_say_what_is_compressed() {
    let dir = tempfile::tempdir().unwrap();
    for (name, magic) in [("t.pcap.gz", &[0x1f, 0x8b][..]), ("t.pcap.bz2", b"BZh")] {
        let path = dir.path().join(name);
        let mut writer = Writer::create(path.to_str().unwrap(), Options::default()).unwrap();
        for packet in some_packets() {
            writer.write(packet.time_ns, packet.orig_len, &packet.bytes).unwrap();
            writer.flush().unwrap(); // must not end the stream
        }
        writer.close().unwrap();
        let bytes = fs::read(&path).unwrap();
        assert!(bytes.starts_with(magic));
        assert_eq!(read_good(&bytes).len(), 5);
    }
}

#[test]
fn a_compressed_capture_cut_anywhere_gives_a_good_prefix_and_an_error() {
    let plain = pcap(true, false, 1, &some_packets());
    let expected = read_good(&plain);
    for whole in [gz(&plain), bz2(&plain), xz(&plain), zst(&plain)] {
        for cut in 0..whole.len() {
            let (records, error) = read_all(&whole[..cut]);
            assert!(expected.starts_with(&records));
            assert!(error.is_some(), "cut at {cut} of {} went unnoticed", whole.len());
        }
    }
}

#[test]
fn flipped_bits_in_compressed_captures_do_no_harm() {
    let plain = pcap(false, false, 1, &some_packets());
    for whole in [gz(&plain), bz2(&plain), xz(&plain), zst(&plain)] {
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                // Whatever comes of it, it comes to an end.
                let _ = read_all(&damaged);
            }
        }
    }
}

/// Gives a byte at a time, as a slow pipe may.
struct Trickle(io::Cursor<Vec<u8>>);

impl Read for Trickle {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let end = buf.len().min(1);
        self.0.read(&mut buf[..end])
    }
}

#[test]
fn a_slow_pipe_changes_nothing() {
    let plain = pcap(false, true, 1, &some_packets());
    for bytes in [plain.clone(), gz(&plain), bz2(&plain), xz(&plain)] {
        let mut reader = Reader::from_read(Box::new(Trickle(io::Cursor::new(bytes))), "pipe").unwrap();
        let mut buf = Vec::new();
        while reader.next(&mut buf).unwrap().is_some() {}
        assert_eq!(reader.records(), 5);
    }
}
