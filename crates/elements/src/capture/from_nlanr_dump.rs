//! Reads packet headers from an NLANR trace.
//!
//! ```click
//! FromNLANRDump(FILENAME [, KEYWORDS])
//! ```
//!
//! Emits an IPv4 packet for each cell of a trace in the formats FR, FR+ or TSH, in which the National Laboratory for
//! Applied Network Research published its traces, as fast as it can or, with TIMING, at the speed at which they were
//! captured. A cell of FR+ and TSH contains an IP header without options and the first 16 bytes of the TCP header. A
//! cell of FR contains addresses, protocol, length, TCP flags and ports; headers are made from these, with zeros
//! elsewhere (Click's element emits no packets for FR).
//!
//! Packets carry the time of their capture, their header positions, their destination annotation and, from TSH, the
//! number of the link as paint. Packets that had IP options, which the trace does not contain, and packets of other
//! IP versions leave by output 1 or, if there is none, are dropped. Files may be compressed with gzip, bzip2 or xz.
//! Reading a truncated file ends there with a message.
//!
//! Ports: no inputs, 1 or 2 outputs. Processing: agnostic, output 1 push. Workers: exclusive.
//!
//! # Arguments
//! - `FILENAME`: the file, `-` for standard input.
//! - `FORMAT` (`fr`, `fr+`, `tsh` or `guess`, default `guess`): the format; guessed from the file name's extension,
//!   ignoring `.gz`, `.Z`, `.bz2` or `.xz`, or else `tsh`.
//! - `TIMING` (boolean, default false): whether to replay at the speed of the capture.
//! - `FILEPOS` (integer): start with the first cell at or after this byte of the (decompressed) file.
//! - `STOP`, `ACTIVE`, `SAMPLE`, `START`, `START_AFTER`, `END`, `END_AFTER`, `INTERVAL`, `END_CALL`: as for FromDump.
//! - `FORCE_IP`, `MMAP`: accepted for compatibility, without effect.
//!
//! # Handlers
//! - `encap` (read): `IP`.
//! - `count`, `reset_counts`, `active`, `stop`, `filename`, `filesize`, `filepos`, `packet_filepos`, `sampling_prob`,
//!   `extend_interval`, `reset_timing`: as for FromDump.
//!
//! # Example
//! ```click
//! FromNLANRDump(ANL-1111215617.tsh.gz, STOP true) -> ToIPSummaryDump(-, FIELDS timestamp ip_src ip_dst)
//! ```
//!
//! # See also
//! FromDump, FromDAGDump, FromIPSummaryDump

use super::trace::{Arguments, Trace};
use device::capture::{Kind, Nlanr};
use router::{Activity, Class, Config, ConfigError, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("FromNLANRDump", create)
    .ports("0/1-2")
    .processing("a/ah")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .doc(include_str!("from_nlanr_dump.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut arguments = Arguments::new();
    let (mut timing, mut filepos, mut format) = (false, 0u64, "guess".to_owned());
    arguments
        .slots(config.args())
        .keyword("FORMAT", &mut format)
        .keyword("FILEPOS", &mut filepos)
        .keyword("TIMING", &mut timing)
        .finish()?;
    let format = match format.to_ascii_lowercase().as_str() {
        "fr" => Nlanr::Fr,
        "fr+" => Nlanr::FrPlus,
        "tsh" => Nlanr::Tsh,
        "guess" => guess(&arguments.filename.0).unwrap_or_else(|| {
            config.warn("cannot guess file format from filename, assuming 'tsh'");
            Nlanr::Tsh
        }),
        _ => return Err("bad FORMAT".into()),
    };
    let mut e = Trace::new(config, "FromNLANRDump", Kind::Nlanr(format), arguments)?;
    (e.filepos, e.timing, e.plain_ip) = (filepos, timing, true);
    Ok(Box::new(e))
}

/// The format that a file's name ends with.
fn guess(name: &str) -> Option<Nlanr> {
    let name = name.to_ascii_lowercase();
    let plain = [".gz", ".z", ".bz2", ".xz"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    match plain.rsplit_once('.')?.1 {
        "fr" => Some(Nlanr::Fr),
        "fr+" => Some(Nlanr::FrPlus),
        "tsh" => Some(Nlanr::Tsh),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{errors, run, run_and_read};

    /// A cell of 44 bytes: a time, a link, an IP header of a length in words, and the first bytes of TCP's.
    fn cell(second: u8, link: u8, header_words: u8) -> Vec<u8> {
        let mut cell =
            vec![0, 0, 0, second, link, 0, 0, 5, 0x40 | header_words, 0, 0, 48, 0, 0, 0, 0, 64, 6, 0, 0];
        cell.extend([10, 0, 0, 1, 10, 0, 0, 2, 4, 0, 0, 80, 0, 0, 0, 7, 0, 0, 0, 9, 0x50, 2, 1, 0]);
        cell
    }

    fn file(name: &str, cells: &[Vec<u8>]) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, cells.concat()).unwrap();
        (folder, path)
    }

    const FIELDS: &str = "FIELDS timestamp link sport dport tcp_seq tcp_flags ip_len wire_len, HEADER false";

    /// Headers, times and links; packets with options, and those of no IP version 4, part.
    #[test]
    fn packets() {
        let cells = [
            cell(1, 3, 5),
            cell(2, 0, 6),
            cell(3, 1, 5),
            [cell(4, 1, 5)[..8].to_vec(), vec![0x60; 36]].concat(),
        ];
        let (_folder, path) = file("a.tsh", &cells);
        let out = format!("{path}.out");
        let config = format!(
            "d :: FromNLANRDump({path}, STOP true) -> ToIPSummaryDump({out}, {FIELDS}); d[1] -> o :: Discard"
        );
        let handlers = ["d.count", "o.count", "d.encap", "d.filesize", "d.filepos", "d.packet_filepos"];
        assert_eq!(run_and_read(&config, &handlers), ["2", "2", "IP", "176", "176", "176"]);
        let text = std::fs::read_to_string(&out).unwrap();
        assert_eq!(text, "1.000005 3 1024 80 7 S 48 36\n3.000005 1 1024 80 7 S 48 36\n");
        let config = format!("d :: FromNLANRDump({path}, STOP true, START 2, END 4, FORMAT tsh) -> Discard");
        assert_eq!(run_and_read(&config, &["d.drop_reasons", "d.count"]), ["1\tno IP packet\n", "1"]);
    }

    #[test]
    fn formats() {
        for (name, format) in [
            ("a.tsh", Some(Nlanr::Tsh)),
            ("x/A.FR+.Z", Some(Nlanr::FrPlus)),
            ("a.fr.bz2", Some(Nlanr::Fr)),
            ("a.gz", None),
            ("tsh", None),
        ] {
            assert_eq!(guess(name), format, "{name}");
        }
        let (_folder, path) = file("a.bin", &[cell(1, 3, 5)]);
        let config = format!("d :: FromNLANRDump({path}, STOP true) -> Discard");
        assert_eq!(run_and_read(&config, &["d.count", "d.packet_filepos"]), ["1", "44"]);
        assert!(errors(&format!("FromNLANRDump({path}, FORMAT pcap) -> Discard")).contains("bad FORMAT"));
    }

    /// The error says where in the file.
    #[test]
    fn damaged() {
        let (_folder, path) = file("a.tsh", &[cell(1, 3, 5), vec![0; 43]]);
        let said = run(&format!("d :: FromNLANRDump({path}, STOP true) -> Discard"));
        assert!(said.starts_with(&format!("d :: FromNLANRDump: {path}: record 2, byte 44: ")), "{said}");
        let (_folder, path) = file("a.tsh", &[]);
        assert!(errors(&format!("FromNLANRDump({path}) -> Discard")).contains("empty file"));
    }
}
