use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use clique_device::capture::{ErrorKind, Format, LinkType, Options, RECORD_LEN_MAX, Reader, Writer};
use proptest::prelude::*;

use crate::fixture::{Wanted, pcap, read_all, read_good};

/// An output that a test can look into.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_all(packets: &[Wanted], options: Options) -> Vec<u8> {
    let output = Shared::default();
    let mut writer = Writer::from_write(Box::new(output.clone()), "test", options).unwrap();
    for packet in packets {
        writer.write(packet.time_ns, packet.orig_len, &packet.bytes).unwrap();
    }
    writer.close().unwrap();
    output.0.lock().unwrap().clone()
}

fn any_packets() -> impl Strategy<Value = Vec<Wanted>> {
    let packet = (0..(1_i64 << 32) * 1_000_000_000, any::<u32>(), prop::collection::vec(any::<u8>(), 0..200));
    prop::collection::vec(
        packet.prop_map(|(time_ns, orig_len, bytes)| Wanted { time_ns, orig_len, bytes }),
        0..20,
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        packets in any_packets(), nanoseconds: bool, ng: bool, snaplen in prop_oneof![Just(0), 1..300_u32],
        code in prop_oneof![Just(1), Just(101), Just(105), 0..0xffff_u32],
    ) {
        let format = if ng { Format::PcapNg } else { Format::Pcap };
        let linktype = LinkType::from_code(code);
        let file = write_all(&packets, Options { linktype, snaplen, nanoseconds, format });
        let read = read_good(&file);
        prop_assert_eq!(read.len(), packets.len());
        for ((record, bytes), packet) in read.iter().zip(&packets) {
            let unit = if nanoseconds { 1 } else { 1000 };
            prop_assert_eq!(record.time_ns, packet.time_ns / unit * unit);
            prop_assert_eq!(record.orig_len, packet.orig_len.max(packet.bytes.len() as u32));
            prop_assert_eq!(record.linktype, linktype);
            let limit = if snaplen == 0 { usize::MAX } else { snaplen as usize };
            prop_assert_eq!(bytes, &packet.bytes[..packet.bytes.len().min(limit)]);
        }
    }

    #[test]
    fn both_byte_orders_and_resolutions_are_read(packets in any_packets(), big: bool, nanoseconds: bool) {
        let read = read_good(&pcap(big, nanoseconds, 1, &packets));
        prop_assert_eq!(read.len(), packets.len());
        for ((record, bytes), packet) in read.iter().zip(&packets) {
            let unit = if nanoseconds { 1 } else { 1000 };
            prop_assert_eq!(record.time_ns, packet.time_ns / unit * unit);
            prop_assert_eq!(record.orig_len, packet.orig_len.max(packet.bytes.len() as u32));
            prop_assert_eq!(bytes, &packet.bytes);
        }
    }
}

#[test]
fn default_output_is_what_libpcap_writes() {
    let packets = [Wanted { time_ns: 3_000_004_999, orig_len: 60, bytes: vec![0xab; 3] }];
    let file = write_all(&packets, Options { snaplen: 2000, ..Options::default() });
    let mut expected =
        vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xd0, 7, 0, 0, 1, 0, 0, 0];
    expected.extend([3, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 60, 0, 0, 0, 0xab, 0xab, 0xab]);
    if cfg!(target_endian = "little") {
        assert_eq!(file, expected);
    }
    assert_eq!(file[..24], write_all(&[], Options { snaplen: 2000, ..Options::default() }));
}

#[test]
fn no_snaplen_is_written_as_the_largest_and_still_bounds_a_record() {
    let long = vec![7; RECORD_LEN_MAX as usize + 5];
    let packets = [Wanted { time_ns: 0, orig_len: 0, bytes: long }];
    let file = write_all(&packets, Options { snaplen: 0, ..Options::default() });
    assert_eq!(file[16..20], [0xff; 4]);
    let read = read_good(&file);
    assert_eq!(read[0].1.len(), RECORD_LEN_MAX as usize);
    assert_eq!(read[0].0.orig_len, RECORD_LEN_MAX + 5);
}

#[test]
fn a_time_the_format_cannot_hold_is_refused_and_nothing_is_written() {
    for (format, time_ns) in [(Format::Pcap, -1), (Format::Pcap, i64::MAX), (Format::PcapNg, -1)] {
        let output = Shared::default();
        let options = Options { format, ..Options::default() };
        let mut writer = Writer::from_write(Box::new(output.clone()), "test", options).unwrap();
        let error = writer.write(time_ns, 1, &[1]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Time { .. }), "{error}");
        writer.write(1000, 2, &[1, 2]).unwrap();
        drop(writer);
        let read = read_good(&output.0.lock().unwrap());
        assert_eq!(read.len(), 1);
        assert_eq!(read[0].1, [1, 2]);
    }
}

/// Takes so many bytes and no more.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let count = bytes.len().min(self.0);
        self.0 -= count;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_reported_by_write_flush_and_close() {
    let options = Options::default();
    let mut writer = Writer::from_write(Box::new(Full(100_000)), "full", options).unwrap();
    let error = (0..1000).find_map(|_| writer.write(0, 0, &[0; 1500]).err()).expect("100 kB do not hold it");
    assert!(error.to_string().contains("full: record "), "{error}");
    assert!(writer.write(0, 0, &[]).is_err(), "an incomplete record must stay the last");
    assert!(writer.flush().is_err());
    assert!(writer.close().is_err());

    let mut writer = Writer::from_write(Box::new(Full(3)), "full", options).unwrap();
    assert!(matches!(writer.close().unwrap_err().kind(), ErrorKind::Write(_)));
}

/// The records that a full disk does not hold are counted: those in the buffer too, and what was written can be read.
#[test]
fn lost_records_are_counted() {
    for (format, room) in
        [Format::Pcap, Format::PcapNg].into_iter().flat_map(|f| [(f, 100_000), (f, 65_600), (f, 10)])
    {
        let disk = Shared::default();
        let full = Limited { left: room, disk: disk.clone() };
        let options = Options { format, ..Options::default() };
        let mut writer = Writer::from_write(Box::new(full), "full", options).unwrap();
        let failed = (0..1000).find(|i| writer.write(1_000, 0, &vec![7; 60 + i]).is_err()).unwrap();
        let (records, _) = read_all(&disk.0.lock().unwrap());
        assert_eq!(writer.records(), records.len() as u64, "{format:?} {room}");
        assert_eq!(writer.records() + writer.lost(), failed as u64, "{format:?} {room}");
    }
}

/// A disk that is full after so many bytes, of which a test can see the contents.
struct Limited {
    left: usize,
    disk: Shared,
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(self.left);
        if count == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.left -= count;
        self.disk.write(&bytes[..count])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Each packet of a pcapng file keeps its link type; a pcap file has one, and takes the IP packets of others if that is IP.
#[test]
fn link_types_of_packets() {
    let ip = [&[0x45][..], &[0; 19]].concat();
    let ether = [&[2; 12][..], &[8, 0], &ip].concat();
    let arp = [&[2; 12][..], &[8, 6], &ip].concat();
    let other = LinkType::Other(147);
    let write = |linktype, format| {
        let output = Shared::default();
        let options = Options { linktype, format, ..Options::default() };
        let mut writer = Writer::from_write(Box::new(output.clone()), "test", options).unwrap();
        let packets =
            [(LinkType::Ethernet, &ether), (LinkType::RawIp, &ip), (LinkType::Ethernet, &arp), (other, &ip)];
        let written = packets.map(|(linktype, bytes)| writer.write_as(linktype, 1_000, 100, bytes));
        let refused = written.map(|result| result.err().map(|error| error.to_string()));
        writer.close().unwrap();
        let read = read_good(&output.0.lock().unwrap());
        (read.into_iter().map(|(r, bytes)| (r.linktype, r.orig_len, bytes)).collect::<Vec<_>>(), refused)
    };
    let all = [
        (LinkType::Ethernet, 100, ether.clone()),
        (LinkType::RawIp, 100, ip.clone()),
        (LinkType::Ethernet, 100, arp.clone()),
        (other, 100, ip.clone()),
    ];
    assert_eq!(write(LinkType::LinuxSll, Format::PcapNg), (all.to_vec(), [const { None }; 4]));
    let (read, refused) = write(LinkType::Ethernet, Format::Pcap);
    assert_eq!(read, [all[0].clone(), all[2].clone()]);
    let text = refused[1].as_ref().expect("no Ethernet");
    assert!(
        text.contains("a packet of link type raw IP does not fit into a file of link type Ethernet"),
        "{text}"
    );
    assert!(refused[3].is_some());
    let (read, refused) = write(LinkType::RawIp, Format::Pcap);
    assert_eq!(read, [(LinkType::RawIp, 86, ip.clone()), all[1].clone()]);
    assert!(refused[2].is_some() && refused[3].is_some());
}

#[test]
fn flush_and_drop_leave_a_readable_file() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.pcap", "b.pcap.gz"] {
        let path = dir.path().join(name);
        let path = path.to_str().unwrap();
        let mut writer = Writer::create(path, Options::default()).unwrap();
        writer.write(1000, 1, &[1]).unwrap();
        writer.flush().unwrap();
        let mut buf = Vec::new();
        assert!(Reader::open(path).unwrap().next(&mut buf).unwrap().is_some(), "{name} after flush");
        writer.write(2000, 1, &[2]).unwrap();
        drop(writer);
        let mut reader = Reader::open(path).unwrap();
        while reader.next(&mut buf).unwrap().is_some() {}
        assert_eq!(reader.records(), 2, "{name} after drop");
    }
}

#[test]
fn files_that_cannot_be_created_name_the_reason() {
    let error = Writer::create("/nonexistent/x.pcap", Options::default()).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Create(_)));
    let error = Writer::create("x.pcap.xz", Options::default()).err().unwrap();
    assert!(error.to_string().contains("xz compression is not supported"), "{error}");
    let options = Options { linktype: LinkType::Other(70_000), format: Format::PcapNg, ..Options::default() };
    let error = Writer::create("/nonexistent/x.pcap", options).err().unwrap();
    assert!(error.to_string().contains("link type 70000 is out of range"), "{error}");
}

#[test]
fn captures_may_move_between_threads() {
    fn movable<T: Send>() {}
    movable::<Reader>();
    movable::<Writer>();
}
