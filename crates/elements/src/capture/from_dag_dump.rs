//! Reads packets from a trace of a DAG card.
//!
//! ```click
//! FromDAGDump(FILENAME [, KEYWORDS])
//! ```
//!
//! Emits the packets of a file in the extensible record format (ERF) of Endace's DAG cards as fast as it can or, with
//! TIMING, at the speed at which they were captured. Records of the types Ethernet, HDLC over SONET, ATM and AAL5 are
//! supported. The older format of the cards, 64-byte cells, is read too: ENCAP gives their link type. When a record
//! of another type is found, it and everything after it is read as such cells, of ATM, and a message is printed.
//!
//! Packets carry the time of their capture, the number of bytes by which they were truncated (the extra-length
//! annotation), and the link-layer header position. Bytes that pad a record after its packet, and Ethernet's frame
//! check sequence, are not emitted. With FORCE_IP only IP packets are emitted, with their header positions and
//! destination annotations; others leave by output 1 or, if there is none, are dropped. Files may be compressed with
//! gzip, bzip2 or xz. Reading a truncated or damaged file ends there with a message.
//!
//! Ports: no inputs, 1 or 2 outputs. Processing: agnostic, output 1 push. Workers: exclusive.
//!
//! # Arguments
//! - `FILENAME`: the file, `-` for standard input.
//! - `ENCAP` (`ATM`, `SUNATM`, `ETHER`, `HDLC`, `PPP`, `PPP_HDLC` or `IP`): the link type, only for a file of old
//!   cells.
//! - `FORCE_IP` (boolean, default false): whether to emit only IP packets.
//! - `TIMING` (boolean, default false): whether to replay at the speed of the capture.
//! - `STOP`, `ACTIVE`, `SAMPLE`, `START`, `START_AFTER`, `END`, `END_AFTER`, `INTERVAL`, `END_CALL`: as for FromDump.
//! - `MMAP`: accepted for compatibility, without effect.
//!
//! # Handlers
//! - `encap` (read): the link type of the previous packet, or of the first one.
//! - `count`, `reset_counts`, `active`, `stop`, `filename`, `filesize`, `filepos`, `packet_filepos`, `sampling_prob`,
//!   `extend_interval`, `reset_timing`: as for FromDump.
//!
//! # Example
//! ```click
//! FromDAGDump(trace.erf.gz, STOP true, FORCE_IP true) -> IPPrint -> Discard
//! ```
//!
//! # See also
//! FromDump, FromNLANRDump

use super::encap;
use super::trace::{Arguments, Trace};
use device::capture::{Kind, LinkType};
use router::{Activity, Class, Config, ConfigError, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("FromDAGDump", create)
    .ports("0/1-2")
    .processing("a/ah")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .doc(include_str!("from_dag_dump.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut arguments = Arguments::new();
    let (mut timing, mut encap) = (false, None::<String>);
    arguments.slots(config.args()).keyword("TIMING", &mut timing).keyword("ENCAP", &mut encap).finish()?;
    let old = match encap {
        Some(name) => Some(cell_type(&name).ok_or("bad encapsulation type")?),
        None => None,
    };
    let mut e = Trace::new(config, "FromDAGDump", Kind::Dag(old), arguments)?;
    e.timing = timing;
    Ok(Box::new(e))
}

/// The link type with a name, if there are cells of it.
fn cell_type(name: &str) -> Option<LinkType> {
    encap::parse(name).filter(|linktype| {
        use LinkType::{AtmLlc, CiscoHdlc, Ethernet, Ppp, PppHdlc, RawIp, SunAtm};
        matches!(linktype, AtmLlc | SunAtm | Ethernet | CiscoHdlc | Ppp | PppHdlc | RawIp)
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run, run_and_read};

    /// A record of second 9 and a half: its type, the packet's length on the wire, what follows the header.
    fn record(kind: u8, wire_len: u8, body: &[u8]) -> Vec<u8> {
        let len = (16 + body.len()) as u8;
        [&[0, 0, 0, 0x80, 9, 0, 0, 0, kind, 0, 0, len, 0, 0, 0, wire_len][..], body].concat()
    }

    const IP: [u8; 20] = [0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];

    fn ethernet() -> Vec<u8> {
        record(2, 100, &[&[0; 14][..], &[8, 0], &IP].concat())
    }

    fn file(trace: &[Vec<u8>]) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.erf").to_str().unwrap().to_owned();
        std::fs::write(&path, trace.concat()).unwrap();
        (folder, path)
    }

    /// Each record has its link type; IP packets are found behind all of them.
    #[test]
    fn packets() {
        let hdlc = record(1, 24, &[&[15, 0, 8, 0][..], &IP].concat());
        let sun_atm = [0, 0, 0, 0, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
        let atm = record(3, 32, &[&sun_atm[..], &IP].concat());
        let other = record(1, 4, &[15, 0, 0x86, 0]);
        let (_folder, path) = file(&[ethernet(), hdlc, atm, other]);
        let config = format!(
            "d :: FromDAGDump({path}, STOP true, FORCE_IP true)
             -> ToIPSummaryDump({path}.out, FIELDS timestamp ip_dst, HEADER false); d[1] -> o :: Discard"
        );
        assert_eq!(run_and_read(&config, &["d.count", "o.count", "d.encap"]), ["3", "1", "HDLC"]);
        let text = std::fs::read_to_string(format!("{path}.out")).unwrap();
        assert_eq!(text, "9.500000 10.0.0.2\n".repeat(3));
        // All of them, with what the link's headers and what was cut off count.
        run(&format!(
            "FromDAGDump({path}, STOP true) -> ToIPSummaryDump({path}.out, FIELDS payload_len, HEADER false)"
        ));
        assert_eq!(std::fs::read_to_string(format!("{path}.out")).unwrap(), "96\n24\n32\n4\n");
        // Known before the first packet is emitted.
        let config = format!(
            "d :: FromDAGDump({path}, ACTIVE false) -> Discard; Script(print $(d.encap) $(d.filepos), stop)"
        );
        assert_eq!(run(&config), "ETHER 0\n");
    }

    /// Old cells of a link that only the argument tells.
    #[test]
    fn cells() {
        let mut cell = [&[0, 0, 0, 0x80, 9, 0, 0, 0][..], &IP].concat();
        cell.resize(64, 0);
        let (_folder, path) = file(&[cell.clone(), cell]);
        let config =
            format!("d :: FromDAGDump({path}, STOP true, ENCAP IP) -> IPPrint(TIMESTAMP false) -> Discard");
        assert_eq!(run(&config), "10.0.0.1.0 > 10.0.0.2.0: udp 0\n".repeat(2));
        for name in ["FDDI", "#147", "X"] {
            let text = errors(&format!("FromDAGDump({path}, ENCAP {name}) -> Discard"));
            assert!(text.contains("bad encapsulation type"), "{text}");
        }
    }

    /// What is odd or wrong is said, with the place in the file.
    #[test]
    fn damaged() {
        let (_folder, path) = file(&[ethernet(), record(9, 1, &[0; 48]), vec![0; 63]]);
        let config = format!("d :: FromDAGDump({path}, STOP true) -> Discard");
        let said = run(&config);
        let mut lines = said.lines();
        let mut line = || lines.next().unwrap_or("");
        assert!(
            line()
                .starts_with(&format!("d :: FromDAGDump: warning: {path}: record 2, byte 52: odd type 9; ")),
            "{said}"
        );
        assert!(line().starts_with(&format!("d :: FromDAGDump: {path}: record 3, byte 116: ")), "{said}");
        assert_eq!(run_and_read(&config, &["d.count", "d.encap"]), ["2", "ATM"]);
    }
}
