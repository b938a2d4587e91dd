//! Prints ARP packets in a readable form.
//!
//! ```click
//! ARPPrint([LABEL, KEYWORDS])
//! ```
//!
//! Expects ARP packets with a marked network header, as from CheckARPHeader, or in Ethernet frames, and prints a line
//! for each on standard error. Other packets, and ARP for protocols other than IP, pass without being printed.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `LABEL` (string): printed before each packet.
//! - `TIMESTAMP` (boolean, default true): whether to print the packet's timestamp.
//! - `ETHER` (boolean, default false): whether to print the addresses of the Ethernet header.
//! - `OUTFILE` (file name): where to write, instead of standard error.
//! - `ACTIVE` (boolean, default true): whether to print.
//!
//! # Handlers
//! - `active` (read, write): the argument.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Classifier(12/0806) -> CheckARPHeader(14) -> ARPPrint(arp) -> Discard;
//! ```
//!
//! # See also
//! CheckARPHeader, Print, IPPrint

use elements_shared::label::write_label;
use elements_shared::out_file::{Given, OutFile};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Flags, Handlers, PerPacket, Simple, Verdict};
use std::any::Any;
use std::fmt::Write as _;
use std::net::Ipv4Addr;
use wire::MacAddr;
use wire::ethernet::{HEADER_LEN, Header, ether_type};

/// The class.
pub(crate) const CLASS: Class = Class::new("ARPPrint", create).doc(router::manual!("arp_print.rs"));

/// Type of trailer encapsulation (RFC 893), whose ARP packets look like those of IPv4.
const TRAILERS: u16 = 0x1000;
const FIXED: usize = 8;

struct ArpPrint {
    label: String,
    timestamp: bool,
    ether: bool,
    active: bool,
    output: OutFile,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = ArpPrint {
        label: String::new(),
        timestamp: true,
        ether: false,
        active: true,
        output: OutFile::default(),
    };
    let mut path = None::<router::FileName>;
    config
        .args()
        .positional("LABEL", &mut e.label)
        .keyword("TIMESTAMP", &mut e.timestamp)
        .keyword("ETHER", &mut e.ether)
        .keyword("ACTIVE", &mut e.active)
        .keyword("OUTFILE", &mut path)
        .finish()?;
    e.output = OutFile::new(config, path.map(|path| path.0), String::new())?;
    Ok(Box::new(PerPacket(e)))
}

/// What an ARP packet for IP says. Click prints no other.
fn describe(arp: &[u8]) -> Option<String> {
    let Some(&[h0, h1, p0, p1, hardware_len, protocol_len, o0, o1]) = arp.first_chunk::<FIXED>() else {
        return Some(format!("truncated-arp ({})", arp.len()));
    };
    let [hardware, protocol, operation] = [[h0, h1], [p0, p1], [o0, o1]].map(u16::from_be_bytes);
    if !matches!(protocol, ether_type::IPV4 | TRAILERS) || protocol_len != 4 || hardware_len == 0 {
        return None;
    }
    let Some(addresses) = arp[FIXED..].first_chunk::<20>() else {
        return Some(format!("truncated-arp ({})", arp.len()));
    };
    let mac = |at: usize| MacAddr(std::array::from_fn(|i| addresses[at + i]));
    let ip = |at: usize| Ipv4Addr::from(std::array::from_fn::<u8, 4, _>(|i| addresses[at + i]));
    let (sender, sender_ip, target, target_ip) = (mac(0), ip(6), mac(10), ip(16));
    let mut text = if protocol == TRAILERS { "trailer-".to_owned() } else { String::new() };
    let said = match operation {
        1 if target == MacAddr::ZERO => format!("arp who-has {target_ip} tell {sender_ip}"),
        1 => format!("arp who-has {target_ip} ({target}) tell {sender_ip}"),
        2 => format!("arp reply {sender_ip} is-at {sender}"),
        3 => format!("rarp who-is {target} tell {sender}"),
        4 => format!("rarp reply {target} at {target_ip}"),
        8 => format!("invarp who-is {target} tell {sender}"),
        9 => format!("invarp reply {target} at {target_ip}"),
        other => format!("arp-#{other}"),
    };
    text.push_str(&said);
    if hardware != 1 {
        let _ = write!(text, "hardware #{hardware}"); // writing to a string does not fail
    }
    Some(text)
}

/// A packet from its link-layer header on, or all of it if that is not marked.
fn frame(packet: &Packet) -> &[u8] {
    packet.mac().unwrap_or(packet.data())
}

/// The ARP packet: where the network header is marked, or behind an Ethernet header that announces it.
fn arp(packet: &Packet) -> Option<&[u8]> {
    let announced = || {
        let header = Header::new_checked(frame(packet)).ok()?;
        frame(packet).get(HEADER_LEN..).filter(|_| header.ether_type() == ether_type::ARP)
    };
    packet.network().or_else(announced)
}

impl ArpPrint {
    fn ethernet(packet: &Packet) -> Option<String> {
        let start = packet.mac_offset().unwrap_or(0);
        let whole = packet.network_offset().is_none_or(|network| start + 14 <= network);
        let header = Header::new_checked(frame(packet)).ok().filter(|_| whole)?;
        Some(format!("{} > {}: ", header.src(), header.dst()))
    }
}

impl Simple for ArpPrint {
    fn initialize(&mut self, _cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.output.open()
    }

    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let network = arp(packet).filter(|_| self.active);
        let Some(said) = network.and_then(describe) else { return Verdict::Pass };
        let mut text = String::new();
        write_label(&mut text, &self.label, self.timestamp, packet);
        if self.ether {
            text.push_str(&ArpPrint::ethernet(packet).unwrap_or_default());
        }
        text.push_str(&said);
        self.output.print(cx, &text);
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
        h.read("active", |e: &mut ArpPrint, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut ArpPrint, cx, text| {
            router::value(cx, text).map(|active| e.active = active)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::describe;
    use crate::testing::send_one;
    use proptest::prelude::*;

    fn arp(operation: u8, target: u8) -> Vec<u8> {
        let fixed = [0, 1, 8, 0, 6, 4, 0, operation];
        [&fixed[..], &[1; 6], &[10, 0, 0, 1], &[target; 6], &[10, 0, 0, 2]].concat()
    }

    #[test]
    fn each_kind_of_message_has_its_line() {
        for (packet, line) in [
            (arp(1, 0), "arp who-has 10.0.0.2 tell 10.0.0.1"),
            (arp(1, 3), "arp who-has 10.0.0.2 (03-03-03-03-03-03) tell 10.0.0.1"),
            (arp(2, 3), "arp reply 10.0.0.1 is-at 01-01-01-01-01-01"),
            (arp(3, 3), "rarp who-is 03-03-03-03-03-03 tell 01-01-01-01-01-01"),
            (arp(4, 3), "rarp reply 03-03-03-03-03-03 at 10.0.0.2"),
            (arp(77, 3), "arp-#77"),
            (arp(1, 0)[..7].to_vec(), "truncated-arp (7)"),
        ] {
            assert_eq!(describe(&packet).as_deref(), Some(line));
        }
        assert_eq!(describe(&[0, 1, 9, 9, 6, 4, 0, 1]), None);
    }

    #[test]
    fn arguments_choose_what_stands_before_the_line() {
        let frame = [&[2; 6][..], &[1; 6], &[8, 6], &arp(1, 0)].concat();
        let printed = |arguments: &str| {
            send_one(
                &format!("Inject -> CheckARPHeader(14) -> ARPPrint({arguments}) -> Collect(0)"),
                frame.clone(),
            )
            .log()
        };
        let line = "arp who-has 10.0.0.2 tell 10.0.0.1\n";
        assert_eq!(printed("x, TIMESTAMP false"), format!("x: {line}"));
        let ether = "01-01-01-01-01-01 > 02-02-02-02-02-02: ";
        assert_eq!(printed("TIMESTAMP false, ETHER true"), format!("{ether}{line}"));
        assert_eq!(printed("ACTIVE false"), "");
        // As it is received, and what a responder makes of it; no other frame is ARP.
        let behind = |elements: &str, frame: &[u8]| {
            let config = format!("Inject -> {elements}ARPPrint(TIMESTAMP false, ETHER true) -> Collect(0)");
            send_one(&config, frame.to_vec()).log()
        };
        assert_eq!(behind("", &frame), format!("{ether}{line}"));
        let reply = behind("ARPResponder(10.0.0.2 7:7:7:7:7:7) -> ", &frame);
        assert_eq!(
            reply,
            "07-07-07-07-07-07 > 01-01-01-01-01-01: arp reply 10.0.0.2 is-at 07-07-07-07-07-07\n"
        );
        assert_eq!(behind("StoreData(12, \\<0800>) -> ", &frame), "");
    }

    proptest! {
        #[test]
        fn whatever_comes(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            prop_assert!(describe(&bytes).is_none_or(|said| !said.is_empty()));
        }
    }
}
