//! Prints IPv4 packets in a readable form.
//!
//! ```click
//! IPPrint([LABEL, KEYWORDS])
//! ```
//!
//! Writes a line like tcpdump's for each packet to standard error. Packets whose network header position is not set
//! pass without being printed, so put IPPrint after CheckIPHeader or MarkIPHeader.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `LABEL` (string): text at the start of each line.
//! - `CONTENTS` (`NONE`, `HEX` or `ASCII`, or a boolean, default `NONE`): how to print the packet's data.
//! - `PAYLOAD` (`NO`, `HEX` or `ASCII`, or a boolean, default `NO`): how to print the packet's payload; use it
//!   instead of CONTENTS.
//! - `MAXLENGTH` (integer, default 1500): bytes of data to print; negative means all. `NBYTES` is an older name.
//! - `ID`, `TTL`, `TOS`, `LENGTH` (booleans, default false): whether to print these header fields.
//! - `ETHER` (boolean, default false): whether to print the Ethernet addresses, if there is a marked Ethernet header.
//! - `TIMESTAMP` (boolean, default true): whether to print the packet's timestamp.
//! - `AGGREGATE`, `VLAN`, `PAINT` (booleans, default false): whether to print these annotations; VLAN is FastClick's.
//! - `SWAP` (boolean, default true): whether ICMP echo identifiers and sequence numbers are in network byte order.
//! - `OUTFILE` (file name): where to write, instead of standard error.
//! - `CHANNEL` (word, default `default`): the channel to write to instead of standard error. Only clients connected
//!   to a ChatterSocket on that channel get the lines.
//! - `ACTIVE` (boolean, default true): whether to print anything.
//!
//! # Handlers
//! - `active` (read, write): the argument.
//!
//! # Example
//! ```click
//! FastUDPSource(10, 5, 60, 2:0:0:0:0:1, 1.0.0.1, 1234, 2:0:0:0:0:2, 2.0.0.2, domain)
//!     -> IPPrint(dns, ID true) -> Discard
//! ```
//!
//! # See also
//! Print, CheckIPHeader, ChatterSocket

use super::ip_text;
use super::print::Contents;
use elements_shared::label::write_label;
use elements_shared::out_file::{Given, OutFile};
use packet::{Anno, Packet};
use router::{
    Class, Config, ConfigError, Cx, Decision, Element, Flags, Handlers, Look, PerPacket, Simple, Verdict,
};
use std::any::Any;
use std::fmt::Write as _;
use wire::ethernet::{HEADER_LEN, Header};
use wire::ipv4;

/// The class.
pub(crate) const CLASS: Class = Class::new("IPPrint", create).doc(router::manual!("ip_print.rs"));

/// How to print the payload: as contents, with `NO` for `NONE` and without the short forms of booleans.
fn payload(word: &str) -> Result<Contents, String> {
    match word.to_ascii_uppercase().as_str() {
        "NO" | "FALSE" => Ok(Contents::None),
        "YES" | "TRUE" | "HEX" => Ok(Contents::Hex),
        "ASCII" => Ok(Contents::Ascii),
        other => Err(format!("bad payload value '{other}'; should be 'false', 'hex', or 'ascii'")),
    }
}

struct IpPrint {
    label: String,
    contents: Contents,
    /// Whether contents means the payload only.
    payload: bool,
    length: i32,
    id: bool,
    ttl: bool,
    tos: bool,
    ip_length: bool,
    timestamp: bool,
    aggregate: bool,
    vlan: bool,
    paint: bool,
    swap: bool,
    active: bool,
    ether: bool,
    output: OutFile,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = IpPrint {
        label: String::new(),
        contents: Contents::None,
        payload: false,
        length: 1500,
        id: false,
        ttl: false,
        tos: false,
        ip_length: false,
        timestamp: true,
        aggregate: false,
        vlan: false,
        paint: false,
        swap: true,
        active: true,
        ether: false,
        output: OutFile::default(),
    };
    let (mut contents, mut payload_word) = ("no".to_owned(), "no".to_owned());
    let (mut nbytes, mut path, mut channel) = (None, None::<router::FileName>, String::new());
    config
        .args()
        .positional("LABEL", &mut e.label)
        .keyword("CONTENTS", &mut contents)
        .keyword("PAYLOAD", &mut payload_word)
        .keyword("MAXLENGTH", &mut e.length)
        .keyword("NBYTES", &mut nbytes)
        .keyword("ETHER", &mut e.ether)
        .keyword("ID", &mut e.id)
        .keyword("TIMESTAMP", &mut e.timestamp)
        .keyword("VLAN", &mut e.vlan)
        .keyword("PAINT", &mut e.paint)
        .keyword("TOS", &mut e.tos)
        .keyword("TTL", &mut e.ttl)
        .keyword("SWAP", &mut e.swap)
        .keyword("LENGTH", &mut e.ip_length)
        .keyword("AGGREGATE", &mut e.aggregate)
        .keyword("ACTIVE", &mut e.active)
        .keyword("OUTFILE", &mut path)
        .keyword("CHANNEL", &mut channel)
        .finish()?;
    e.length = nbytes.unwrap_or(e.length);
    e.contents = Contents::named(&contents)?;
    let payload = payload(&payload_word)?;
    if payload != Contents::None {
        if e.contents != Contents::None {
            return Err("specify at most one of PAYLOAD and CONTENTS".into());
        }
        (e.contents, e.payload) = (payload, true);
    }
    e.output = OutFile::new(config, path.map(|path| path.0), channel)?;
    Ok(Box::new(PerPacket(e)))
}

/// The addresses of a marked Ethernet header in front of the network header.
fn ethernet(packet: &Packet) -> Option<String> {
    let whole = packet.mac_offset()? + HEADER_LEN as isize <= packet.network_offset()?;
    let header = Header::new_checked(packet.mac()?).ok().filter(|_| whole)?;
    Some(format!("{} > {}: ", header.src(), header.dst()))
}

impl IpPrint {
    /// The text for a packet whose network header and all that follows is `network`.
    fn text(&self, packet: &Packet, network: &[u8]) -> String {
        let mut text = String::new();
        self.write_marks(&mut text, packet);
        let Ok(ip) = ipv4::Header::new_checked(network) else {
            text.push_str("truncated-ip");
            return text;
        };
        for (wanted, name, value) in [
            (self.id, "id", ip.id()),
            (self.ttl, "ttl", ip.ttl().into()),
            (self.tos, "tos", ip.tos().into()),
            (self.ip_length, "length", ip.total_len()),
        ] {
            if wanted {
                let _ = write!(text, "{name} {value} "); // writing to a string does not fail
            }
        }
        let transport = packet.transport().unwrap_or_default();
        ip_text::write(&mut text, &ip, transport, packet.len(), self.swap);
        if self.contents != Contents::None {
            let data = if self.payload { ip_text::payload(&ip, transport) } else { packet.data() };
            self.write_data(&mut text, data);
        }
        text
    }

    /// Label, time and annotations.
    fn write_marks(&self, text: &mut String, packet: &Packet) {
        write_label(text, &self.label, self.timestamp, packet);
        // Writing to a string does not fail.
        if self.aggregate {
            let _ = write!(text, "#{}", packet.anno(Anno::AGGREGATE));
        }
        if self.vlan {
            let _ = write!(text, " VLAN:{}", (packet.anno(Anno::VLAN_TCI) as u16).swap_bytes());
        }
        if self.paint {
            let _ = write!(text, "{}{}", if self.aggregate { "." } else { "paint " }, packet.paint());
        }
        if self.aggregate || self.vlan || self.paint {
            text.push_str(": ");
        }
        if self.ether {
            text.push_str(&ethernet(packet).unwrap_or_default());
        }
    }

    /// Bytes on lines of their own, in groups.
    fn write_data(&self, text: &mut String, data: &[u8]) {
        let (line, group) = if self.contents == Contents::Hex { (24, 4) } else { (48, 8) };
        let length = usize::try_from(self.length).unwrap_or(usize::MAX).min(data.len());
        for (i, &byte) in data[..length].iter().enumerate() {
            if i % line == 0 {
                text.push_str("\n  ");
            } else if i % group == 0 {
                text.push(' ');
            }
            self.contents.write_byte(text, byte);
        }
    }
}

impl Simple for IpPrint {
    fn explain(&self, _look: &Look<'_>, _packet: &mut Packet) -> Option<Decision> {
        Some(Decision::new(Verdict::Pass, ""))
    }

    fn initialize(&mut self, _cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.output.open()
    }

    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if self.active
            && let Some(network) = packet.network()
        {
            self.output.print(cx, &self.text(packet, network));
        }
        Verdict::Pass
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        self.output.finish(cx);
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.output.give()?))
    }

    /// The file goes on.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(given) = state.downcast::<Given>() {
            self.output.adopt(cx, *given);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("active", |e: &mut IpPrint, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut IpPrint, cx, text| {
            e.active = router::value(cx, text)?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build, errors, run};
    use elements_testing::run_to_end;

    const SOURCE: &str = "FastUDPSource(0, 1, 60, 0:0:0:0:0:1, 1.0.0.1, 9, 1:1:1:1:1:2, 2.0.0.2, 80)";
    const STOP: &str = "RatedSource(LIMIT 4, STOP true) -> Discard";

    fn printed(arguments: &str) -> String {
        run(&format!("{SOURCE} -> Strip(38) -> Paint(7) -> IPPrint({arguments}) -> Discard; {STOP}"))
    }

    #[test]
    fn keywords_add_their_parts_in_clicks_order() {
        let line = "1.0.0.1.9 > 2.0.0.2.80: udp 26\n";
        assert_eq!(printed(""), format!("0.000000: {line}"));
        assert_eq!(printed("l, TIMESTAMP false"), format!("l: {line}"));
        assert_eq!(
            printed("l, PAINT true, LENGTH true, TOS true, TTL true, ID true"),
            format!("l: 0.000000: paint 7: id 0 ttl 250 tos 0 length 46 {line}")
        );
        assert_eq!(
            printed("TIMESTAMP false, AGGREGATE true, PAINT true, CONTENTS hex, MAXLENGTH 6"),
            format!("#0.7: {}\n  001a{} 0000\n", line.trim_end(), &printed("CONTENTS HEX")[47..51])
        );
        assert_eq!(
            printed("TIMESTAMP false, PAYLOAD ASCII"),
            format!("{}\n  ........ ........ ..\n", line.trim_end())
        );
        assert_eq!(printed("ACTIVE false"), "");
    }

    #[test]
    fn not_ip_passes() {
        assert_eq!(run("InfiniteSource(LIMIT 1, STOP true) -> IPPrint -> Discard"), "");
    }

    #[test]
    fn to_a_file() {
        let path = std::env::temp_dir().join(format!("ip_print-{}", std::process::id()));
        let config = format!("{SOURCE} -> IPPrint(OUTFILE {}) -> Discard; {STOP}", path.display());
        let mut router = build(&config, 1, 1).unwrap_or_else(|errors| panic!("{errors}"));
        run_to_end(&mut router);
        router.finish();
        let text = std::fs::read_to_string(&path).expect("the file was written");
        std::fs::remove_file(&path).expect("and can be removed");
        assert_eq!(text, "0.000000: 1.0.0.1.9 > 2.0.0.2.80: udp 26\n");
    }

    /// What could not be written is told, and of which file.
    #[test]
    fn to_a_full_disk() {
        let config = format!("{SOURCE} -> p :: IPPrint(OUTFILE /dev/full) -> Discard; {STOP}");
        let mut router = build(&config, 1, 1).unwrap_or_else(|errors| panic!("{errors}"));
        run_to_end(&mut router);
        router.finish();
        assert_eq!(router.info().log.text(), "p: /dev/full: No space left on device\n");
    }

    #[test]
    fn bad_arguments() {
        assert!(errors("Idle -> IPPrint(PAYLOAD maybe) -> Discard").contains("bad payload value 'MAYBE'"));
        assert!(errors("Idle -> IPPrint(PAYLOAD yes, CONTENTS 1) -> Discard").contains("at most one of"));
        assert!(
            errors("Idle -> IPPrint(OUTFILE /no/such/file) -> Discard")
                .contains("/no/such/file: No such file or directory\n")
        );
    }
}
