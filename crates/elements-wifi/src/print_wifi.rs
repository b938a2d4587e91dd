//! Prints wireless frames in a readable form.
//!
//! ```click
//! PrintWifi([LABEL, TIMESTAMP])
//! ```
//!
//! Prints a line for each IEEE 802.11 frame on standard error: its length; rate, signal and noise as its annotation
//! has them; what it is; addresses, number, and what the annotation says else. Of beacons and of answers to probes it
//! prints what they say of their network instead of addresses.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `LABEL` (string): printed before each frame.
//! - `TIMESTAMP` (boolean, default false): whether to print the packet's timestamp.
//!
//! # Example
//! ```click
//! FromDump(radio.pcap, STOP true) -> RadiotapDecap -> PrintWifi -> Discard;
//! ```
//!
//! # See also
//! RadiotapDecap, BeaconScanner, Print

use super::beacon_scanner::{self as beacon, Beacon};
use super::extra::{self, Extra, flag as noted};
use elements_shared::label::write_label;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::fmt::Write as _;
use wire::MacAddr;
use wire::ieee80211::{self, Direction, HEADER_LEN, Header, element, flag, kind, management};

/// The class.
pub(crate) const CLASS: Class = Class::new("PrintWifi", create).doc(router::manual!("print_wifi.rs"));

struct PrintWifi {
    label: String,
    timestamp: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = PrintWifi { label: String::new(), timestamp: false };
    config.args().positional("LABEL", &mut e.label).keyword("TIMESTAMP", &mut e.timestamp).finish()?;
    Ok(Box::new(PerPacket(e)))
}

/// A little-endian number at an offset; 0 behind the end.
fn number(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u16::from_le_bytes(*bytes))
}

/// Why a station leaves.
fn reason(code: u16) -> String {
    const REASONS: [&str; 9] = [
        "unspecified",
        "auth_expire",
        "auth_leave",
        "assoc_expire/inactive",
        "assoc_toomany",
        "not_authed",
        "not_assoced",
        "assoc_leave",
        "assoc_not_authed",
    ];
    let known = usize::from(code).checked_sub(1).and_then(|at| REASONS.get(at));
    known.map_or_else(|| format!("unknown reason {code}"), |reason| (*reason).to_owned())
}

/// What came of a request.
fn status(code: u16) -> String {
    let known = match code {
        0 => "success",
        1 => "unspecified",
        10 => "capinfo",
        11 => "not_assoced",
        12 => "other",
        13 => "alg",
        14 => "seq",
        15 => "challenge",
        16 => "timeout",
        18 => "basic_rates",
        22 => "too_many_stations",
        23 => "rates",
        25 => "shortslot_required",
        _ => return format!("unknown status {code}"),
    };
    known.to_owned()
}

/// The name and the rates that a request has in its elements of information.
fn request(information: &[u8]) -> (String, String) {
    const RATES: usize = 15;
    const BASIC: u8 = 0x80;
    let (mut name, mut basic, mut other) = ("(invalid ssid)".to_owned(), Vec::new(), Vec::new());
    for (id, contents) in ieee80211::elements(information) {
        match id {
            element::SSID => name = String::from_utf8_lossy(&contents[..contents.len().min(32)]).into_owned(),
            element::RATES => {
                let rates = contents.iter().take(RATES);
                let (must, can): (Vec<u8>, Vec<u8>) = rates.partition(|rate| **rate & BASIC != 0);
                (basic, other) = (must.iter().map(|rate| rate & !BASIC).collect(), can);
            }
            _ => {}
        }
    }
    (name, format!("({{{}}} {})", beacon::words(&basic), beacon::words(&other)))
}

/// What a beacon says of its network.
fn network(beacon: &Beacon) -> String {
    let capable: String =
        beacon::capabilities(beacon.capabilities).iter().map(|word| format!("{word} ")).collect();
    let [basic, other] = [&beacon.rates[0], &beacon.rates[1]].map(|rates| beacon::words(rates));
    format!(
        "{} {} chan {} b_int {} [ {capable}] ({{{basic}}} {other})",
        MacAddr(beacon.address),
        beacon::name(&beacon.name),
        beacon.channel.unwrap_or(0),
        beacon.interval
    )
}

/// What a management frame other than a beacon is.
fn describe_management(subtype: u8, body: &[u8]) -> String {
    let capable = || beacon::capabilities(number(body, 0)).join(" ");
    match subtype {
        management::ASSOCIATION_REQUEST => {
            let (name, rates) = request(body.get(4..).unwrap_or_default());
            format!("assoc_req listen_int {} [{}] ssid {name} rates {rates} ", number(body, 2), capable())
        }
        management::ASSOCIATION_RESPONSE => {
            let code = number(body, 2);
            format!("assoc_resp [{}] status {code} {} associd {} ", capable(), status(code), number(body, 4))
        }
        management::REASSOCIATION_REQUEST => "reassoc_req ".to_owned(),
        management::REASSOCIATION_RESPONSE => "reassoc_resp ".to_owned(),
        management::PROBE_REQUEST => {
            let (name, rates) = request(body);
            format!("probe_req ssid {name} {rates} ")
        }
        management::ATIM => "atim ".to_owned(),
        management::DISASSOCIATION => format!("disassoc {} ", reason(number(body, 0))),
        management::AUTHENTICATION => {
            let [algorithm, step] = [number(body, 0), number(body, 2)];
            format!("auth alg {algorithm} auth_seq {step} status {} ", status(number(body, 4)))
        }
        management::DEAUTHENTICATION => "deauth ".to_owned(),
        other => format!("unknown-subtype-{} ", other << 4),
    }
}

fn describe_control(subtype: u8, duration: u16) -> String {
    match subtype {
        10 => "psp  ".to_owned(),
        11 => "rts  ".to_owned(),
        12 => "cts  ".to_owned(),
        13 => format!("ack  {duration} "),
        14 => "cfe  ".to_owned(),
        15 => "cfea ".to_owned(),
        other => format!("unknown-subtype-{} ", other << 4),
    }
}

/// What else is known of a frame.
fn remarks(extra: &Extra, flags: u8) -> String {
    let of_extra = [
        (noted::TX, " tx"),
        (noted::TX_FAIL, " fail"),
        (noted::ALTERNATE, " alt_rate"),
        (noted::RX_ERROR, " err"),
        (noted::RX_MORE, " more"),
    ];
    let of_frame = [(flag::RETRY, " retry"), (flag::PROTECTED, " wep")];
    let extra_words = of_extra.iter().filter(|(bit, _)| extra.flags() & bit != 0).map(|(_, word)| *word);
    let frame_words = of_frame.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, word)| *word);
    extra_words.chain(frame_words).collect()
}

/// The line of a frame, behind label and time. Of a short one, what is missing counts as 0.
fn describe(frame: &[u8], extra: &Extra) -> String {
    let mut whole = [0; HEADER_LEN];
    let len = frame.len().min(HEADER_LEN);
    whole[..len].copy_from_slice(&frame[..len]);
    let header = Header::new(&whole);
    let rate = match extra.rate(0) {
        11 => " 5.5".to_owned(),
        rate => format!("{:2}", rate / 2),
    };
    let mut text = format!("{:4} | {rate}Mb +{:2}/{:2} | ", frame.len(), extra.signal(), extra.noise());
    let (subtype, body) = (header.subtype(), frame.get(HEADER_LEN..).unwrap_or_default());
    let what = match header.kind() {
        kind::MANAGEMENT => {
            let announces = matches!(subtype, management::BEACON | management::PROBE_RESPONSE);
            if announces {
                let word = if subtype == management::BEACON { "beacon" } else { "probe_resp" };
                let said =
                    beacon::read(frame).map_or_else(|| "(truncated)".to_owned(), |beacon| network(&beacon));
                return format!("{text}mgmt {word} {said}");
            }
            format!("mgmt {}", describe_management(subtype, body))
        }
        kind::CONTROL => format!("cntl {}", describe_control(subtype, header.duration())),
        kind::DATA => match header.direction() {
            Direction::Stations => "data nods ".to_owned(),
            Direction::ToAccessPoint => "data tods ".to_owned(),
            Direction::FromAccessPoint => "data frds ".to_owned(),
            Direction::AccessPoints => "data dsds ".to_owned(),
        },
        other => format!("unknown-type-{} ", other << 2),
    };
    text.push_str(&what);
    let known = 1 + usize::from(frame.len() >= 16) + usize::from(frame.len() > 22);
    let addresses: Vec<String> = header.addresses().iter().take(known).map(MacAddr::to_string).collect();
    // Writing to a string does not fail.
    let _ = write!(text, "{} ", addresses.join(" "));
    if frame.len() >= HEADER_LEN {
        let _ = write!(text, "seq {} ", header.sequence());
        if header.fragment() != 0 || header.flags() & flag::MORE_FRAGMENTS != 0 {
            text.pop();
            let _ = write!(text, " frag {} ", header.fragment());
        }
    }
    let _ = write!(text, "[{} ] ", remarks(extra, header.flags()));
    if extra.flags() & noted::TX != 0 {
        let _ = write!(text, " retries {}", extra.tries(0));
    }
    text
}

impl Simple for PrintWifi {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let mut text = String::new();
        write_label(&mut text, &self.label, self.timestamp, packet);
        text.push_str(&describe(packet.data(), &extra::of(packet)));
        cx.print(&text);
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame(kind: u8, flags: u8, number: u16, body: &[u8]) -> Vec<u8> {
        let start = [kind, flags, 0x3a, 1];
        [&start[..], &[1; 6], &[2; 6], &[3; 6], &number.to_le_bytes(), body].concat()
    }

    #[test]
    fn each_kind_of_frame_has_its_line() {
        let ends = "01-01-01-01-01-01 02-02-02-02-02-02 03-03-03-03-03-03 ";
        let association = [1, 0, 10, 0, 0, 2, b'h', b'i', 1, 3, 0x82, 0x84, 22];
        let beacon = [0, 0, 0, 0, 0, 0, 0, 0, 100, 0, 1, 0, 0, 3, b'l', b'a', b'b', 1, 2, 0x82, 22, 3, 1, 6];
        for (frame, line) in [
            (frame(8, 0, 0x25, &[7]), format!("  25 |  0Mb + 0/ 0 | data nods {ends}seq 2 frag 5 [ ] ")),
            (frame(8, 0x49, 0x20, &[]), format!("  24 |  0Mb + 0/ 0 | data tods {ends}seq 2 [ retry wep ] ")),
            (
                frame(0, 0, 0x20, &association),
                format!(
                    "  37 |  0Mb + 0/ 0 | mgmt assoc_req listen_int 10 [ESS] ssid hi rates ({{2 4}} 22) {ends}seq 2 [ ] "
                ),
            ),
            (
                frame(0x10, 0, 0, &[0x11, 0, 23, 0, 5, 0xc0]),
                format!(
                    "  30 |  0Mb + 0/ 0 | mgmt assoc_resp [ESS PRIVACY] status 23 rates associd 49157 {ends}seq 0 [ ] "
                ),
            ),
            (
                frame(0xb0, 0, 0, &[0, 0, 1]),
                format!("  27 |  0Mb + 0/ 0 | mgmt auth alg 0 auth_seq 0 status success {ends}seq 0 [ ] "),
            ),
            (
                frame(0xa0, 0, 0, &[4, 0]),
                format!("  26 |  0Mb + 0/ 0 | mgmt disassoc assoc_expire/inactive {ends}seq 0 [ ] "),
            ),
            (
                frame(0x80, 0, 0, &beacon),
                "  48 |  0Mb + 0/ 0 | mgmt beacon 03-03-03-03-03-03 lab chan 6 b_int 100 [ ESS ] ({2} 22)"
                    .to_owned(),
            ),
            (frame(0x80, 0, 0, &[]), "  24 |  0Mb + 0/ 0 | mgmt beacon (truncated)".to_owned()),
            (
                frame(0xd4, 0, 0, &[])[..10].to_vec(),
                "  10 |  0Mb + 0/ 0 | cntl ack  314 01-01-01-01-01-01 [ ] ".to_owned(),
            ),
            (vec![0x0c], "   1 |  0Mb + 0/ 0 | unknown-type-12 00-00-00-00-00-00 [ ] ".to_owned()),
        ] {
            assert_eq!(describe(&frame, &Extra::empty()), line);
        }
    }

    #[test]
    fn the_line_shows_rate_tries_and_flags() {
        let mut extra = Extra::empty();
        for (rate, said) in [(11, " 5.5"), (22, "11"), (108, "54")] {
            extra.set_rate(0, rate);
            assert!(
                describe(&frame(8, 0, 0, &[]), &extra).starts_with(&format!("  24 | {said}Mb + 0/ 0 | data"))
            );
        }
        extra.mark(noted::TX | noted::TX_FAIL | noted::RX_ERROR, true);
        extra.set_tries(0, 4);
        assert!(describe(&frame(8, 0, 0, &[]), &extra).ends_with("seq 0 [ tx fail err ]  retries 4"));
    }

    proptest! {
        #[test]
        fn whatever_comes(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            prop_assert!(describe(&bytes, &Extra::empty()).contains("Mb +"));
        }
    }
}
