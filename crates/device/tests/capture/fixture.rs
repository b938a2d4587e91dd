//! A second, naive way to make and read captures, to hold the first one against.

use std::io::Cursor;

use clique_device::capture::{Error, Reader, Record};

/// A packet as a test wants it in a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) time_ns: i64,
    pub(crate) orig_len: u32,
    pub(crate) bytes: Vec<u8>,
}

/// Everything that can be read from `bytes`, and the error that ended it, if one did, or else what is wrong with the first record that
/// was skipped.
pub(crate) fn read_all(bytes: &[u8]) -> (Vec<(Record, Vec<u8>)>, Option<Error>) {
    let mut records = Vec::new();
    let mut reader = match Reader::from_read(Box::new(Cursor::new(bytes.to_vec())), "test") {
        Ok(reader) => reader,
        Err(error) => return (records, Some(error)),
    };
    let mut buf = Vec::new();
    loop {
        match reader.next(&mut buf) {
            Ok(Some(record)) => records.push((record, buf.clone())),
            Ok(None) => return (records, reader.complaint()),
            Err(error) => {
                assert_eq!(reader.next(&mut buf).unwrap(), None, "nothing follows an error");
                assert_eq!(error.records_good(), records.len() as u64);
                return (records, Some(error));
            }
        }
    }
}

/// The same, where nothing is wrong.
pub(crate) fn read_good(bytes: &[u8]) -> Vec<(Record, Vec<u8>)> {
    let (records, error) = read_all(bytes);
    assert!(error.is_none(), "{}", error.unwrap());
    records
}

/// Appends numbers in one byte order.
#[derive(Clone)]
pub(crate) struct Bytes {
    pub(crate) big: bool,
    pub(crate) out: Vec<u8>,
}

impl Bytes {
    pub(crate) fn new(big: bool) -> Bytes {
        Bytes { big, out: Vec::new() }
    }

    pub(crate) fn u16(mut self, value: u16) -> Bytes {
        self.out.extend(if self.big { value.to_be_bytes() } else { value.to_le_bytes() });
        self
    }

    pub(crate) fn u32(mut self, value: u32) -> Bytes {
        self.out.extend(if self.big { value.to_be_bytes() } else { value.to_le_bytes() });
        self
    }

    pub(crate) fn u64(mut self, value: u64) -> Bytes {
        self.out.extend(if self.big { value.to_be_bytes() } else { value.to_le_bytes() });
        self
    }

    pub(crate) fn raw(mut self, bytes: &[u8]) -> Bytes {
        self.out.extend(bytes);
        self
    }

    pub(crate) fn pad(mut self) -> Bytes {
        while !self.out.len().is_multiple_of(4) {
            self.out.push(0);
        }
        self
    }

    /// A pcapng option.
    pub(crate) fn option(self, code: u16, value: &[u8]) -> Bytes {
        self.u16(code).u16(value.len() as u16).raw(value).pad()
    }

    /// A pcapng block with this body.
    pub(crate) fn block(self, kind: u32, body: impl FnOnce(Bytes) -> Bytes) -> Bytes {
        let body = body(Bytes::new(self.big)).pad().out;
        let length = body.len() as u32 + 12;
        self.u32(kind).u32(length).raw(&body).u32(length)
    }

    pub(crate) fn section(self) -> Bytes {
        self.block(0x0a0d0d0a, |b| b.u32(0x1a2b3c4d).u16(1).u16(0).u64(u64::MAX))
    }

    pub(crate) fn interface(self, linktype: u16, snaplen: u32) -> Bytes {
        self.block(1, |b| b.u16(linktype).u16(0).u32(snaplen))
    }

    pub(crate) fn enhanced(self, interface: u32, ticks: u64, orig_len: u32, bytes: &[u8]) -> Bytes {
        self.block(6, |b| {
            b.u32(interface)
                .u32((ticks >> 32) as u32)
                .u32(ticks as u32)
                .u32(bytes.len() as u32)
                .u32(orig_len)
                .raw(bytes)
        })
    }
}

/// A pcap file.
pub(crate) fn pcap(big: bool, nanoseconds: bool, linktype: u32, packets: &[Wanted]) -> Vec<u8> {
    let magic = if nanoseconds { 0xa1b23c4d } else { 0xa1b2c3d4 };
    let mut file = Bytes::new(big).u32(magic).u16(2).u16(4).u32(0).u32(0).u32(65535).u32(linktype);
    for packet in packets {
        let fraction = packet.time_ns % 1_000_000_000 / if nanoseconds { 1 } else { 1000 };
        file = file
            .u32((packet.time_ns / 1_000_000_000) as u32)
            .u32(fraction as u32)
            .u32(packet.bytes.len() as u32)
            .u32(packet.orig_len)
            .raw(&packet.bytes);
    }
    file.out
}

/// A few packets of different lengths.
pub(crate) fn some_packets() -> Vec<Wanted> {
    (0..5_u8)
        .map(|i| Wanted {
            time_ns: 1_700_000_000_000_000_000 + i64::from(i) * 1_234_567,
            orig_len: 100 + u32::from(i),
            bytes: vec![i; 7 * usize::from(i)],
        })
        .collect()
}
