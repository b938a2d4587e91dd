//! Reads packets from a summary file.
//!
//! ```click
//! FromIPSummaryDump(FILENAME [, KEYWORDS])
//! ```
//!
//! Makes an IP packet from each line (or binary record) of a file written by ToIPSummaryDump or ipsumdump(1). Fields
//! missing from the file are zero; lengths are stored in the extra-length annotation rather than as data. FILENAME
//! can be `-` for standard input. Files may be compressed with gzip, bzip2 or xz.
//!
//! Lines that begin with `!` describe the file: `!data` names the fields of each line; `!flowid`, `!proto` and
//! `!aggregate` give values common to all packets; `!binary` says that binary records follow. See ToIPSummaryDump for
//! the fields.
//!
//! Ports: no inputs, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `FILENAME`: the file.
//! - `STOP` (boolean, default false): whether to stop the driver at the end.
//! - `ACTIVE` (boolean, default true): whether to emit packets.
//! - `TIMING` (boolean, default false): whether to emit packets at the speed of their timestamps.
//! - `CHECKSUM` (boolean, default false): whether packets have correct checksums, and therefore all of their bytes.
//! - `PROTO` (integer, default 6): the protocol of packets if the file does not give it.
//! - `MULTIPACKET` (boolean, default false): whether a line with a packet count produces that many packets.
//! - `SAMPLE` (number, default 1): the probability with which a packet is emitted.
//! - `CONTENTS`, `FIELDS`, `DEFAULT_CONTENTS`, `DEFAULT_FIELDS` (field names): the fields, until a `!data` line
//!   changes them.
//! - `FLOWID`, `DEFAULT_FLOWID` (`SRC SPORT DST DPORT [PROTO]`): the flow, until a `!flowid` line changes it. It is
//!   reversed for packets whose `direction` is `<`.
//! - `DATA` (string): the lines themselves, instead of FILENAME.
//! - `BURST` (integer, default 1): packets per scheduling.
//! - `TIMES` (integer, default 1): how often to read the file; forever if not positive. Standard input is read once.
//! - `TIMESTAMP` (boolean, default true): whether packets have the timestamps of the file, or none.
//! - `ALLOW_NONEXISTENT` (boolean, default false): whether to treat a missing file like an empty one.
//! - `ZERO`, `MIGRATE` (boolean): accepted; fields missing from the file are always zero.
//!
//! # Handlers
//! - `active` (read, write): the argument. `stop` (write, button): deactivates the element and stops the driver.
//! - `count` (read): packets emitted.
//! - `filename`, `sampling_prob`, `encap` (read): the file, the sampling probability, and `IP`.
//! - `filesize`, `filepos` (read): the file's size (`-` if unknown or compressed), and the current position.
//!
//! # Example
//! ```click
//! FromIPSummaryDump(flows.dump, STOP true, CHECKSUM true) -> IPPrint -> Discard
//! ```
//!
//! # See also
//! ToIPSummaryDump, FromDump

use super::maker::Defaults;
use super::reader::Reader;
use super::record_source::RecordSource;
use device::capture::LinkType;
use elements_shared::encap::Encap;
use router::{Activity, Bytes, Class, Config, ConfigError, Element, FileName, Raw, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("FromIPSummaryDump", create)
    .ports("0/1")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .makes("packets")
    .doc(router::manual!("from_ip_summary_dump.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut filename, mut data) = (None::<FileName>, None::<Bytes>);
    let (mut stop, mut active, mut zero, mut timing, mut checksum) = (false, true, true, false, false);
    let (mut multipacket, mut allow_missing, mut sample) = (false, false, 1.0f64);
    let (mut proto, mut burst) = (6u8, 1usize);
    // Of several keywords for the same the last one counts.
    let (mut names, mut flows) = ([const { None::<Raw> }; 4], [const { None::<Raw> }; 2]);
    let ([default_contents, default_fields, contents, fields], [default_flow, flow]) =
        (&mut names, &mut flows);
    let mut times = 1i32;
    let (mut timestamp, mut migrate) = (true, false);
    config
        .args()
        .positional("FILENAME", &mut filename)
        .keyword("STOP", &mut stop)
        .keyword("ACTIVE", &mut active)
        .keyword("ZERO", &mut zero)
        .keyword("TIMING", &mut timing)
        .keyword("CHECKSUM", &mut checksum)
        .keyword("SAMPLE", &mut sample)
        .keyword("PROTO", &mut proto)
        .keyword("MULTIPACKET", &mut multipacket)
        .keyword("DEFAULT_CONTENTS", default_contents)
        .keyword("DEFAULT_FIELDS", default_fields)
        .keyword("CONTENTS", contents)
        .keyword("FIELDS", fields)
        .keyword("DEFAULT_FLOWID", default_flow)
        .keyword("FLOWID", flow)
        .keyword("ALLOW_NONEXISTENT", &mut allow_missing)
        .keyword("DATA", &mut data)
        .keyword("BURST", &mut burst)
        .keyword("TIMES", &mut times)
        .keyword("TIMESTAMP", &mut timestamp)
        .keyword("MIGRATE", &mut migrate)
        .finish()?;
    let filename = input_name(filename, data.is_some())?;
    let defaults = Defaults { protocol: proto, flow: None, aggregate: None, checksum };
    let reader = reader(config, &filename, defaults, (last_of(names), last_of(flows)))?;
    config.shared(|| Ok(Encap::known(LinkType::RawIp)))?;
    let mut e = RecordSource::new(config, &filename, Box::new(reader));
    e.set_sample(config, sample);
    e.data = data.map(|data| data.0.into());
    (e.allow_missing, e.stop, e.active, e.timing) = (allow_missing, stop, active, timing);
    (e.multipacket, e.timestamp) = (multipacket, timestamp);
    e.again = u32::try_from(times).ok().filter(|times| *times > 0).map(|times| times - 1);
    e.burst = burst.clamp(1, packet::BATCH_MAX);
    Ok(Box::new(e))
}

/// What messages call the lines' origin, and the handler `filename`.
fn input_name(filename: Option<FileName>, has_data: bool) -> Result<String, ConfigError> {
    match (filename, has_data) {
        (Some(_), true) => Err("FILENAME and DATA conflict".into()),
        (None, false) => Err("FILENAME: required argument missing".into()),
        (None, true) => Ok("<data>".to_owned()),
        (Some(name), false) => Ok(name.0),
    }
}

/// The last of several arguments for the same, unless it is empty.
fn last_of<const N: usize>(given: [Option<Raw>; N]) -> Option<String> {
    let last = given.into_iter().flatten().next_back();
    last.map(|Raw(text)| text).filter(|text| !text.is_empty())
}

/// What reads lines, which have these contents and are of this flow until they say otherwise.
fn reader(
    config: &mut Config<'_>,
    filename: &str,
    defaults: Defaults,
    (contents, flow): (Option<String>, Option<String>),
) -> Result<Reader, ConfigError> {
    let mut reader = Reader::new(if filename == "-" { "<stdin>" } else { filename }, defaults);
    if let Some(contents) = contents {
        let faults = reader.set_fields(&contents, None);
        faults.into_iter().for_each(|fault| config.warn(fault));
    }
    if let Some(flow) = flow {
        let words: Vec<&str> = flow.split_whitespace().collect();
        // The keyword may be followed by what a line of a file would be.
        reader.set_flow(words.strip_prefix(&["!flowid"]).unwrap_or(&words))?;
    }
    Ok(reader)
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run, run_and_read};

    fn printed(keywords: &str, data: &str) -> String {
        let data = lang::conf::quote(data);
        run(&format!(
            "FromIPSummaryDump(DATA {data}, STOP true, {keywords}) -> IPPrint(TIMESTAMP true, LENGTH true) -> Discard"
        ))
    }

    /// Lines become packets with the fields that they say, and defaults for the others.
    #[test]
    fn lines_become_packets() {
        let data = "!IPSummaryDump 1.3\n!data timestamp src sport dst dport proto ip_len ip_id\n# note\n\
                    1000.5 1.0.0.1 10 2.0.0.2 20 U 60 7\n1001.000001 1.0.0.3 - 2.0.0.2 80 T 40 -\n";
        assert_eq!(
            printed("CHECKSUM true", data),
            "1000.500000: length 60 1.0.0.1.10 > 2.0.0.2.20: udp 40\n\
             1001.000001: length 40 1.0.0.3.0 > 2.0.0.2.80: . 0:0(0,40,40) win 0\n"
        );
    }

    #[test]
    fn flows_and_complaints() {
        let log = printed("", "!data ip_len nosuch\n!flowid 1.0.0.1 5 2.0.0.2 6 U\n!proto x\nhello\n");
        assert!(log.contains("<data>:1: warning: unknown content type 'nosuch'"), "{log}");
        assert!(log.contains("<data>:3: bad protocol in !proto"), "{log}");
        assert!(log.contains("<data>:4: packet parse error"), "{log}");
        assert!(printed("", "1 2 3\n").contains("no '!data' provided"));
        let log = printed("CONTENTS ip_len, FLOWID 1.0.0.1 5 2.0.0.2 6 U", "30\n");
        assert!(log.contains("1.0.0.1.5 > 2.0.0.2.6: udp"), "{log}");
    }

    /// A first line is unusual that does not describe the file, unless fields are given.
    #[test]
    fn first_lines() {
        let warns = |keywords: &str, data: &str| {
            printed(keywords, data)
                .contains("<data>:1: warning: missing banner line; is this an IP summary dump?")
        };
        assert!(warns("", "# note\n!data ip_src\n1.0.0.1\n"));
        assert!(warns("", "\n!data ip_src\n1.0.0.1\n"));
        assert!(!warns("", "!creator me\n!data ip_src\n1.0.0.1\n"));
        assert!(!warns("FIELDS ip_src", "# note\n1.0.0.1\n"));
    }

    /// Of several keywords for the fields or the flow the last one counts, in a certain order.
    #[test]
    fn keywords_for_fields() {
        let names = ["DEFAULT_CONTENTS ip_dst", "DEFAULT_FIELDS ip_src", "CONTENTS sport", "FIELDS ip_len"];
        for (count, told) in [(2, "9.9.9.9.0 >"), (3, "0.0.0.0.9999 >"), (4, "length 9999 ")] {
            let keywords: Vec<&str> = names[..count].iter().rev().copied().collect();
            let data = if count == 2 { "9.9.9.9\n" } else { "9999\n" };
            let log = printed(&keywords.join(", "), data);
            assert!(log.contains(told), "{log}");
        }
        let log =
            printed("FLOWID 1.0.0.1 1 2.0.0.2 2, DEFAULT_FLOWID 3.0.0.1 1 2.0.0.2 2, FIELDS ip_len", "40\n");
        assert!(log.contains("1.0.0.1.1 >"), "{log}");
    }

    #[test]
    fn the_other_direction_swaps_the_ends() {
        let log = printed("", "!flowid 1.0.0.1 5 2.0.0.2 6 U\n!data direction payload_len\n> 1\n< 2\n");
        let ends =
            |line: &str| line.split_once("length").map(|(_, ends)| ends.to_owned()).unwrap_or_default();
        let ends: Vec<String> = log.lines().map(ends).collect();
        assert_eq!(ends, [" 29 1.0.0.1.5 > 2.0.0.2.6: udp 9", " 30 2.0.0.2.6 > 1.0.0.1.5: udp 10"]);
    }

    /// Times are read however they are written, and printed with their sign.
    #[test]
    fn times() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump").to_str().unwrap().to_owned();
        run(&format!(
            "FromIPSummaryDump(DATA \"!data timestamp ip_len\\n.25 40\\n+2.5 40\\n1e1 40\\n-0.9 40\\n-1.000000001 40\\n3s 40\\n\",
             STOP true) -> ToIPSummaryDump({path}, FIELDS ts, HEADER false)"
        ));
        let lines = "0.250000\n2.500000\n10.000000\n-0.900000\n-1.000000001\n";
        let read = std::fs::read_to_string(&path).unwrap();
        assert!(read.starts_with(lines), "{read}");
        assert_eq!(read.lines().count(), 6, "a unit has no place there, and the packet no time: {read}");
    }

    /// A record for several packets is as many, which share its bytes and time.
    #[test]
    fn several_packets() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump").to_str().unwrap().to_owned();
        let config = format!(
            "FromIPSummaryDump(DATA \"!data count ip_len first_timestamp timestamp ip_proto\\n4 403 10 13 U\\n\",
             STOP true, MULTIPACKET true)
             -> t :: ToIPSummaryDump({path}, FIELDS ts ip_len udp_len count, HEADER false)"
        );
        run(&config);
        let lines = "10.000000 100 80 1\n11.000000 100 80 1\n12.000000 100 80 1\n13.000000 103 83 1\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), lines);
    }

    #[test]
    fn captures_of_its_packets_have_no_link_layer_header() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out").to_str().unwrap().to_owned();
        run(&format!(
            "f :: FromIPSummaryDump(DATA \"!data ip_len\\n20\\n\", STOP true) -> ToDump({path}, USE_ENCAP_FROM f)"
        ));
        let reader = device::capture::Reader::open(&path).unwrap();
        assert_eq!(reader.linktype(), device::capture::LinkType::RawIp);
    }

    #[test]
    fn handlers_tell_size_and_position() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in").to_str().unwrap().to_owned();
        std::fs::write(&path, "!data ip_src\n1.0.0.1\n").unwrap();
        let config = format!("f :: FromIPSummaryDump({path}, STOP true) -> Discard");
        assert_eq!(run_and_read(&config, &["f.filesize", "f.filepos"]), ["21", "21"]);
        std::fs::write(&path, "").unwrap();
        assert!(errors(&config).contains("empty file"));
    }

    /// A file can be read several times, with or without its times.
    #[test]
    fn several_times() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in").to_str().unwrap().to_owned();
        std::fs::write(&path, "!data ts ip_src\n7 1.0.0.1\n8 1.0.0.2\n").unwrap();
        let data = "DATA \"!data ts ip_src\\n7 1.0.0.1\\n8 1.0.0.2\\n\"";
        for (arguments, packets) in
            [(path.clone(), "2"), (format!("{path}, TIMES 3"), "6"), (format!("{data}, TIMES 3"), "6")]
        {
            let config = format!("f :: FromIPSummaryDump({arguments}, STOP true) -> Discard");
            assert_eq!(run_and_read(&config, &["f.count"]), [packets], "{arguments}");
        }
        let config = format!(
            "f :: FromIPSummaryDump({path}, TIMES 0, TIMESTAMP false) -> c :: Counter(COUNT_CALL 9 stop) -> IPPrint(TIMESTAMP true)
             -> Discard"
        );
        let log = run(&config);
        assert!(log.lines().count() >= 9 && log.lines().all(|line| line.starts_with("0.000000: ")), "{log}");
        let empty = "f :: FromIPSummaryDump(DATA \"!data ip_src\\n\", TIMES 0, STOP true) -> Discard";
        assert_eq!(run_and_read(empty, &["f.count"]), ["0"]);
    }

    #[test]
    fn a_missing_file_is_an_error_unless_allowed() {
        assert!(errors("FromIPSummaryDump(/nonexistent/x) -> Discard").contains("/nonexistent/x"));
        assert!(errors("FromIPSummaryDump -> Discard").contains("FILENAME: required argument missing"));
        let config = "f :: FromIPSummaryDump(/nonexistent/x, ALLOW_NONEXISTENT true, STOP true) -> Discard";
        assert_eq!(run_and_read(config, &["f.count", "f.encap"]), ["0", "IP"]);
    }
}
