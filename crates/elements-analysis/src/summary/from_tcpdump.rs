//! Generates packets from the text printed by tcpdump(1).
//!
//! ```click
//! FromTcpdump(FILENAME [, KEYWORDS])
//! ```
//!
//! Makes an IP packet from each line of a file written by `tcpdump -tt -n` in the older format
//! (`1000.5 1.0.0.1.10 > 2.0.0.2.80: S 1:1(0) win 5840 <mss 1460>`), as far as the line describes it. Relative TCP
//! sequence numbers become absolute again. Everything not given is zero; the length of the data is stored in the
//! extra-length annotation. FILENAME can be `-` for standard input. Files may be compressed with gzip, bzip2 or xz.
//!
//! Ports: no inputs, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `FILENAME`: the file.
//! - `STOP` (boolean, default false): whether to stop the driver at the end.
//! - `ACTIVE` (boolean, default true): whether to emit packets.
//! - `CHECKSUM` (boolean, default false): whether packets have correct checksums, and therefore all of their bytes.
//! - `SAMPLE` (number, default 1): the probability with which a packet is emitted.
//! - `ZERO` (boolean): accepted; data missing from the lines is always zero.
//!
//! # Handlers
//! - `active` (read, write): the argument. `stop` (write, button): deactivates the element and stops the driver.
//! - `count` (read): packets emitted.
//! - `filename`, `sampling_prob`, `encap` (read): the file, the sampling probability, and `IP`.
//! - `filesize`, `filepos` (read): the file's size (`-` if unknown or compressed), and the current position.
//!
//! # Example
//! ```click
//! FromTcpdump(trace.txt, STOP true) -> ToIPSummaryDump(-, CONTENTS timestamp ip_src ip_dst ip_proto)
//! ```
//!
//! # See also
//! FromIPSummaryDump, FromDump

use super::record_source::RecordSource;
use super::tcpdump::Lines;
use device::capture::LinkType;
use elements_shared::encap::Encap;
use router::{Activity, Class, Config, ConfigError, Element, FileName, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("FromTcpdump", create)
    .ports("0/1")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .makes("packets")
    .doc(router::manual!("from_tcpdump.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut filename, mut stop, mut active) = (FileName::default(), false, true);
    let (mut zero, mut checksum, mut sample) = (true, false, 1.0f64);
    config
        .args()
        .required("FILENAME", &mut filename)
        .keyword("STOP", &mut stop)
        .keyword("ACTIVE", &mut active)
        .keyword("ZERO", &mut zero)
        .keyword("CHECKSUM", &mut checksum)
        .keyword("SAMPLE", &mut sample)
        .finish()?;
    config.shared(|| Ok(Encap::known(LinkType::RawIp)))?;
    let shown = if filename.0 == "-" { "<stdin>" } else { &filename.0 };
    let lines = Box::new(Lines::new(shown, checksum));
    let mut e = RecordSource::new(config, &filename.0, lines);
    (e.stop, e.active) = (stop, active);
    e.set_sample(config, sample);
    Ok(Box::new(e))
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run};

    #[test]
    fn lines_become_packets_with_absolute_sequence_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (text, dump) = (path("text"), path("dump"));
        std::fs::write(
            &text,
            "1000.5 1.0.0.1.10 > 2.0.0.2.80: S 7000:7000(0) win 5840 <mss 1460,nop,wscale 2> (DF) (ttl 64, id 77, len 48)\n\
             1000.6 2.0.0.2.80 > 1.0.0.1.10: S 90000:90000(0) ack 7001 win 100\n\
             1000.7 1.0.0.1.10 > 2.0.0.2.80: P 1:11(10) ack 1 win 5840\n\
             1000.8 1.0.0.1.5 > 2.0.0.2.53: udp 20 (ttl 9)\n\
             1000.9 1.0.0.1 > 2.0.0.2: icmp: echo request\n\
             rubbish\n",
        )
        .unwrap();
        let log = run(&format!(
            "FromTcpdump({text}, STOP true)
             -> ToIPSummaryDump({dump}, HEADER false, FIELDS ts src sport dport proto len ttl tcp_flags tcp_seq tcp_ack tcp_opt)"
        ));
        assert_eq!(
            std::fs::read_to_string(&dump).unwrap(),
            "1000.500000 1.0.0.1 10 80 T 48 64 S 7000 0 mss1460;wscale2\n\
             1000.600000 2.0.0.2 80 10 T 40 2 SA 90000 7001 .\n\
             1000.700000 1.0.0.1 10 80 T 50 2 PA 7001 90001 .\n\
             1000.800000 1.0.0.1 5 53 U 48 9 - - - -\n\
             1000.900000 1.0.0.1 - - I 20 2 - - - -\n"
        );
        assert_eq!(log, format!("{text}:6: packet parse error\n"));
    }

    #[test]
    fn missing_file() {
        assert!(errors("FromTcpdump(/nonexistent/x) -> Discard").contains("/nonexistent/x"));
    }
}
