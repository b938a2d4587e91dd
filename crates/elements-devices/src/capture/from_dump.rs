//! Reads packets from a capture file.
//!
//! ```click
//! FromDump(FILENAME [, TIMING, KEYWORDS])
//! ```
//!
//! Emits the packets of a pcap or pcapng file as fast as it can or, with TIMING, at the speed at which they were
//! captured. Files may be compressed with gzip, bzip2, xz or zstd, and may have timestamps in nanoseconds. FILENAME can be
//! `-` for standard input.
//!
//! Packets carry the time of their capture, the number of bytes by which they were truncated (the extra-length
//! annotation), and the link-layer header position. With FORCE_IP only IP packets are emitted, with their header
//! positions and destination annotations; others leave by output 1 or, if there is none, are dropped. FORCE_IP is
//! implied for packets without link-layer headers.
//!
//! The interfaces of a pcapng file may have different link types: each packet has that of its own. A message says so, unless FORCE_IP
//! makes all the same or ToDump's USE_ENCAP_FROM tells them apart.
//!
//! Bad records, and packets of more than 69,440 bytes, are skipped and counted as drops; a message says the first of them, and how many
//! there were. Reading ends with a message where a file is truncated, or damaged so that no further record can be found.
//! Reading from a pipe that has no data makes the whole worker wait.
//!
//! Ports: no inputs, 1 or 2 outputs. Processing: agnostic, output 1 push. Workers: exclusive.
//!
//! # Arguments
//! - `FILENAME`: the file.
//! - `TIMING` (boolean, default false): whether to replay at the speed of the capture.
//! - `STOP` (boolean, default false): whether to stop the driver at the end.
//! - `END_CALL` (handler call): called at the end.
//! - `ACTIVE` (boolean, default true): whether to emit packets.
//! - `SAMPLE` (number, default 1): the probability with which a packet is emitted.
//! - `FORCE_IP` (boolean, default false): whether to emit only IP packets. The file must contain Ethernet, IP, BSD
//!   loopback, FDDI, PPP, HDLC, ATM, IEEE 802.11 (also with a Prism or radiotap header) or Linux cooked packets.
//! - `START`, `END` (time): only packets from START on and before END, in seconds since the epoch.
//! - `START_AFTER`, `END_AFTER` (time span): the same, counted from the first packet of the file.
//! - `INTERVAL` (time span): the end, counted from the beginning of the range.
//! - `FILEPOS` (integer): start with the first packet at or after this byte of the (decompressed) file.
//! - `FORCE_LEN` (integer, default -1): if 0, truncated packets are extended with zeros to their original length; if
//!   60 to 9,000, all packets are extended or cut to this length, less 14 if the file has no Ethernet headers.
//! - `ACCELERATION` (integer, default 100): with TIMING, the speed in per cent of that of the capture.
//! - `TIMING_FNT` (string): with TIMING, a formula for that speed, where `x` is the number of seconds since the first
//!   packet: `100` keeps the original speed, `10 + 5 * x` increases it. It may contain `+ - * / % ^`, parentheses,
//!   `pi`, `e`, and `abs`, `acos`, `asin`, `atan`, `atan2`, `ceil`, `cos`, `cosh`, `exp`, `floor`, `ln`, `log`,
//!   `max`, `min`, `pow`, `sin`, `sinh`, `sqrt`, `squarewave`, `tan`, `tanh`. If the result is not positive, no more
//!   packets are emitted.
//! - `MMAP`, `PRELOAD`, `BURST`: accepted for compatibility, without effect.
//!
//! At the end of the range STOP and END_CALL take effect as at the end of the file; without them the element becomes
//! inactive there. If END_CALL leaves it active, the packets after the end of the range follow.
//!
//! # Handlers
//! - `count` (read): packets emitted. `reset_counts` (write, button): sets it to zero.
//! - `active` (read, write): the argument. `stop` (write, button): deactivates the element and stops the driver.
//! - `filename`, `filesize`, `filepos`, `packet_filepos`, `encap`, `sampling_prob` (read): the file's name, its size
//!   (`-` if unknown), the current position, the position of the last packet, the link type, the sampling
//!   probability. `filepos` can be written: reading continues with the first packet at or after that byte; if the end
//!   had been reached before, only once `active` is written.
//! - `extend_interval` (write, time span): moves the end of the range.
//! - `reset_timing` (write, button): treats the next packet as the first of the file.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap.gz, STOP true, FORCE_IP true) -> IPPrint -> Discard
//! ```
//!
//! # See also
//! ToDump, FromMemory

use super::trace::{Arguments, Trace};
use elements_shared::formula::Formula;
use router::{Activity, Class, Config, ConfigError, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("FromDump", create)
    .ports("0/1-2")
    .processing("a/ah")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .makes("packets")
    .doc(router::manual!("from_dump.rs"));

/// Lengths that all packets can be given.
const FORCED_LENGTHS: std::ops::RangeInclusive<i32> = 60..=9000;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut arguments = Arguments::new();
    let (mut timing, mut filepos, mut formula) = (false, 0u64, String::new());
    let (mut force_len, mut acceleration, mut preload, mut burst) = (-1i32, 100u32, 0i64, 0u32);
    arguments
        .slots(config.args())
        .positional("TIMING", &mut timing)
        .keyword("FILEPOS", &mut filepos)
        .keyword("FORCE_LEN", &mut force_len)
        .keyword("ACCELERATION", &mut acceleration)
        .keyword("PRELOAD", &mut preload)
        .keyword("BURST", &mut burst)
        .keyword("TIMING_FNT", &mut formula)
        .finish()?;
    let parsed = Formula::parse(&formula);
    if parsed.is_none() && !formula.trim().is_empty() {
        return Err("TIMING_FNT: bad formula".into());
    }
    if force_len > 0 && !FORCED_LENGTHS.contains(&force_len) {
        return Err("FORCE_LEN requires a valid frame size".into());
    }
    if acceleration == 0 {
        return Err("ACCELERATION must be positive".into());
    }
    let mut e = Trace::new(config, arguments)?;
    (e.filepos, e.timing, e.acceleration, e.formula) = (filepos, timing, acceleration, parsed);
    e.force_len = usize::try_from(force_len).ok();
    Ok(Box::new(e))
}

#[cfg(test)]
mod tests {
    use crate::testing::{build, errors, run, run_and_read};
    use device::capture::{Format, LinkType, Options, Writer};
    use router::Call;

    const SECOND: i64 = 1_000_000_000;

    /// A capture of packets of 60, 61, ... bytes, a second apart, in a file of its own folder.
    fn capture(name: &str, packets: usize, options: Options) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        let mut writer = Writer::create(&path, options).unwrap();
        for i in 0..packets {
            let mut bytes = vec![i as u8; 60 + i];
            // An IPv4 packet for 10.0.0.i; the packet with the odd number is none.
            bytes[12..14].copy_from_slice(if i == 1 { &[8, 6] } else { &[8, 0] });
            bytes[14] = 0x45;
            bytes[30..34].copy_from_slice(&[10, 0, 0, i as u8]);
            writer.write(1_000 * SECOND + i as i64 * SECOND, 100 + i as u32, &bytes).unwrap();
        }
        writer.close().unwrap();
        (folder, path)
    }

    /// All of a file, whatever its format, and what handlers say about it.
    #[test]
    fn whole_files() {
        for (name, format) in [
            ("a.pcap", Format::Pcap),
            ("a.pcap.gz", Format::Pcap),
            ("a.pcap.bz2", Format::Pcap),
            ("a.ng", Format::PcapNg),
        ] {
            let (_folder, path) = capture(name, 5, Options { format, ..Options::default() });
            let config = format!("d :: FromDump({path}, STOP true) -> c :: Counter -> Discard");
            let read =
                run_and_read(&config, &["d.count", "c.byte_count", "d.encap", "d.active", "d.filename"]);
            assert_eq!(read, ["5", "310", "ETHER", "false", path.as_str()]);
            let size = if name.ends_with("gz") || name.ends_with("bz2") {
                "-".to_owned()
            } else {
                std::fs::metadata(&path).unwrap().len().to_string()
            };
            assert_eq!(run_and_read(&config, &["d.filesize"]), [size]);
        }
    }

    /// Only what lies in the range; the end of the range is an end.
    #[test]
    fn only_packets_in_the_range_leave() {
        let (_folder, path) = capture("a.pcap", 8, Options::default());
        for (arguments, packets) in [
            ("START 1002", "6"),
            ("START_AFTER 2", "6"),
            ("END 1002", "2"),
            ("END_AFTER 2.5", "3"),
            ("START 1001, INTERVAL 2", "2"),
            ("START 2000", "0"),
            ("SAMPLE 0", "0"),
            ("FILEPOS 25", "7"),
        ] {
            let config = format!("d :: FromDump({path}, STOP true, {arguments}) -> Discard");
            assert_eq!(run_and_read(&config, &["d.count"]), [packets], "{arguments}");
        }
        // A call that leaves the element active lets the rest follow; it comes before them.
        let config = format!(
            "FromDump({path}, END 1003, END_CALL c.reset) -> c :: Counter -> Discard;
             InfiniteSource(LIMIT 1000, STOP true) -> Discard;"
        );
        assert_eq!(
            run_and_read(&config, &["c.count"]),
            ["0"],
            "the call is made at the end of the file, too"
        );
    }

    /// Reading goes on where it is told to: with the whole file again, with its last packets.
    #[test]
    fn reading_goes_on_at_the_written_position() {
        for name in ["a.pcap", "a.pcap.gz"] {
            let (_folder, path) = capture(name, 8, Options::default());
            let config = format!(
                "d :: FromDump({path}, END_CALL s.run) -> Discard; s :: Script(TYPE PASSIVE, init n 0, set n $(add $n 1),
                 print $(d.count), write d.filepos $(if $(eq $n 1) 0 500), write d.active $(le $n 2), goto end $(le $n 2), stop, label end)"
            );
            let lines = run(&config);
            assert_eq!(lines.lines().take(2).collect::<Vec<_>>(), ["8", "16"], "{name}: {lines}");
        }
        let (_folder, path) = capture("a.pcap", 8, Options::default());
        let config =
            format!("d :: FromDump({path}, ACTIVE false) -> Discard; Script(write d.filepos 99999, stop)");
        assert!(run(&config).contains("FILEPOS out of range"));
    }

    #[test]
    fn timing_keeps_the_pace_of_the_capture() {
        let (_folder, path) = capture("a.pcap", 4, Options::default());
        let config = format!("FromDump({path}, TIMING true, STOP true) -> Discard");
        let mut router = build(&config, 1, 32).unwrap();
        let start = router.clock().now_ns();
        router.run();
        assert_eq!(router.clock().now_ns() - start, 3 * SECOND);
    }

    /// A formula says the pace at each packet; where it is not positive, nothing follows.
    #[test]
    fn a_formula_sets_the_pace_at_each_packet() {
        let (_folder, path) = capture("a.pcap", 4, Options::default());
        let run = |formula: &str| {
            let config =
                format!("d :: FromDump({path}, TIMING true, STOP true, TIMING_FNT \"{formula}\") -> Discard");
            let mut router = build(&config, 1, 32).unwrap();
            let start = router.clock().now_ns();
            router.run();
            let count = router.call(Call::read("d.count", "")).unwrap();
            ((router.clock().now_ns() - start) / (SECOND / 100), count)
        };
        assert_eq!(run("100"), (300, "4".to_owned()));
        assert_eq!(run("100 * (1 + x)"), (100 + 50 + 40, "4".to_owned()));
        assert_eq!(run("100 - 100 * x"), (100, "2".to_owned()));
        let text = errors(&format!("FromDump({path}, TIMING_FNT \"2 +\") -> Discard"));
        assert!(text.contains("TIMING_FNT: bad formula"), "{text}");
    }

    /// IP packets are marked, others part; packets without link header are IP packets by nature.
    #[test]
    fn forced_ip() {
        let (_folder, path) = capture("a.pcap", 4, Options::default());
        let config =
            format!("d :: FromDump({path}, FORCE_IP true, STOP true) -> a :: Discard; d[1] -> b :: Discard");
        assert_eq!(run_and_read(&config, &["a.count", "b.byte_count", "d.count"]), ["3", "61", "3"]);
        let config = format!("d :: FromDump({path}, FORCE_IP true, STOP true) -> a :: Discard");
        assert_eq!(run_and_read(&config, &["d.drop_reasons"]), ["1\tno IP packet\n"]);
        let (_folder, path) =
            capture("b.pcap", 4, Options { linktype: LinkType::RawIp, ..Options::default() });
        let config = format!("d :: FromDump({path}, STOP true) -> a :: Discard");
        let read = run_and_read(&config, &["a.count", "d.encap", "d.drop_reasons"]);
        assert_eq!(read, ["0", "IP", "4\tno IP packet\n"], "none of them begins with an IP version");
        let (_folder, path) =
            capture("c.pcap", 1, Options { linktype: LinkType::Other(147), ..Options::default() });
        let text = errors(&format!("FromDump({path}, FORCE_IP true) -> Discard"));
        assert!(text.contains("unknown linktype 147; can't force IP packets"), "{text}");
    }

    /// A truncated file ends with a message, after what was good.
    #[test]
    fn truncated_file() {
        let (_folder, path) = capture("a.pcap", 4, Options::default());
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        let config = format!("d :: FromDump({path}, STOP true) -> Discard");
        let read = run_and_read(&config, &["d.count", "d.drop_reasons"]);
        assert_eq!(read, ["3", "1\tbad record in the capture\n"]);
        let said = run(&config);
        assert!(said.contains(&path) && said.starts_with("d :: FromDump: "), "{said}");
        let text = errors("FromDump(/nonexistent/file.pcap) -> Discard");
        assert!(text.contains("/nonexistent/file.pcap"), "{text}");
    }

    /// A record that is too long for a buffer is skipped, said and counted; one of an IP packet of 65,535 bytes is not too long.
    #[test]
    fn too_long_a_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pcap").to_str().unwrap().to_owned();
        let mut writer = Writer::create(&path, Options::default()).unwrap();
        for len in [60, 65_535, 65_549, 69_441, 200_000, 69_440, 60] {
            writer.write(1_000 * SECOND, 0, &vec![0; len]).unwrap();
        }
        writer.close().unwrap();
        let config = format!("d :: FromDump({path}, STOP true) -> c :: Counter -> Discard");
        let at = 24 + 3 * 16 + 60 + 65_535 + 65_549;
        let first = format!("byte {at}: a packet of 69441 bytes is skipped: 69440 are the most");
        assert_eq!(
            run(&config),
            format!("d :: FromDump: {path}: {first}\nd :: FromDump: {path}: 2 records could not be used\n")
        );
        let read = run_and_read(&config, &["d.count", "c.byte_count", "d.drop_reasons"]);
        assert_eq!(read, ["5", "200644", "2\tlonger than a packet buffer\n"]);
    }

    /// A bad record costs itself; the first is said.
    #[test]
    fn bad_records() {
        let (_folder, path) = capture("a.pcap", 6, Options::default());
        let mut bytes = std::fs::read(&path).unwrap();
        let third = 24 + 2 * 16 + 60 + 61;
        bytes[third + 8..third + 12].copy_from_slice(&[0xff; 4]);
        std::fs::write(&path, bytes).unwrap();
        let config = format!("d :: FromDump({path}, STOP true) -> Discard");
        assert_eq!(
            run_and_read(&config, &["d.count", "d.drop_reasons"]),
            ["5", "1\tbad record in the capture\n"]
        );
        let said = run(&config);
        let expected = format!("d :: FromDump: {path}: record 3, byte {third}: bad packet header: ");
        assert!(said.starts_with(&expected) && said.ends_with("; it is skipped\n"), "{said}");
        // What lies in front of the position where reading begins is of no interest.
        let config = format!("d :: FromDump({path}, STOP true, FILEPOS {}) -> Discard", third + 1);
        assert_eq!(
            (run(&config), run_and_read(&config, &["d.count"])),
            (String::new(), vec!["3".to_owned()])
        );
    }

    /// Each packet has the link type of its interface.
    #[test]
    fn several_link_types() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pcapng").to_str().unwrap().to_owned();
        let options = Options { format: Format::PcapNg, ..Options::default() };
        let mut writer = Writer::create(&path, options).unwrap();
        let ip = [&[0x45][..], &[0; 15], &[10, 0, 0, 1]].concat();
        let ether = [&[2; 12][..], &[8, 0], &ip].concat();
        let arp = [&[2; 12][..], &[8, 6], &ip].concat();
        for (linktype, bytes) in [
            (LinkType::Ethernet, &ether),
            (LinkType::RawIp, &ip),
            (LinkType::Ethernet, &arp),
            (LinkType::RawIp, &ether),
        ] {
            writer.write_as(linktype, SECOND, 0, bytes).unwrap();
        }
        writer.close().unwrap();
        let config = format!("d :: FromDump({path}, STOP true) -> Discard");
        let said = run(&config);
        assert!(said.contains("several link types (Ethernet, raw IP)"), "{said}");
        let read = run_and_read(&config, &["d.count", "d.drop_reasons"]);
        assert_eq!(read, ["3", "1\tno IP packet\n"], "one without link header is no IP packet");
        let config = format!(
            "d :: FromDump({path}, STOP true, FORCE_IP true) -> CheckIPHeader(VERBOSE true) -> Discard"
        );
        assert_eq!(run_and_read(&config, &["d.count", "d.drop_reasons"]), ["2", "2\tno IP packet\n"]);
    }

    /// After the end another position alone starts nothing.
    #[test]
    fn position_after_the_end() {
        let (_folder, path) = capture("a.pcap", 8, Options::default());
        let run = |script: &str| {
            let config = format!(
                "d :: FromDump({path}) -> c :: Counter -> Discard; Script(wait 1, {script}, wait 1, stop)"
            );
            run_and_read(&config, &["c.count"]).remove(0)
        };
        assert_eq!(run("write d.filepos 0"), "8");
        assert_eq!(run("write d.filepos 0, write d.active true"), "16");
    }

    /// A configuration can be checked where its captures are not.
    #[test]
    fn checked_without_its_file() {
        let parsed = lang::parse("FromDump(/nonexistent/file.pcap) -> Discard", "config", &[]);
        let known = crate::testing::library();
        let layout = router::layout(parsed.graph, &known, 1).unwrap();
        assert!(router::check(layout, String::new(), &known, router::Options::default()).is_ok());
    }

    #[test]
    fn a_pull_output_gives_what_is_asked_for() {
        let (_folder, path) = capture("a.pcap", 5, Options::default());
        let config = format!("d :: FromDump({path}, STOP true) -> c :: Discard(BURST 3)");
        assert_eq!(run_and_read(&config, &["c.count", "d.count"]), ["5", "5"]);
    }

    /// A namesake in a new configuration goes on where the old one stopped.
    #[test]
    fn taken_over() {
        let (_folder, path) = capture("a.pcap", 9, Options::default());
        let mut old =
            build(&format!("d :: FromDump({path}, END_AFTER 4, STOP true) -> Discard"), 1, 1).unwrap();
        old.run();
        let mut new = build(&format!("d :: FromDump({path}, STOP true) -> Discard"), 1, 1).unwrap();
        new.take_over(&mut old).unwrap();
        new.run();
        assert_eq!(new.call(Call::read("d.count", "")), Ok("4".to_owned())); // the fifth was read and dropped
    }
}
