//! Answers stations that look for networks.
//!
//! ```click
//! ProbeResponder(RT RATES, INTERVAL INTERVAL [, KEYWORDS])
//! ```
//!
//! Takes requests of stations for networks of a name or of any, IEEE 802.11 frames, and emits the answer if this
//! network is meant: a frame that says what beacons do. (Click's also has an element of information that the standard
//! has in beacons only.) What is no such request is dropped.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `RT` (name of an AvailableRates): where the network's rates are.
//! - `INTERVAL` (integer): time between beacons, in units of 1024 microseconds; above 0.
//! - `SSID` (string): the network's name.
//! - `BSSID` (Ethernet address, default 0:0:0:0:0:0): its access point's address. Requests to others are dropped,
//!   unless it is 0:0:0:0:0:0.
//! - `CHANNEL` (integer, default 0): its channel; 0: not said.
//! - `DEBUG` (boolean, default false): whether to say which requests come.
//!
//! # Handlers
//! - `ssid`, `bssid`, `channel`, `interval`, `debug` (read, write): the arguments.
//!
//! # Example
//! ```click
//! rates :: AvailableRates(DEFAULT 2 4 11 22);
//! FromDevice(mon0) -> RadiotapDecap -> FilterTX -> Classifier(0/40%fc)
//!     -> ProbeResponder(RT rates, SSID lab, BSSID 2:0:0:0:0:1, CHANNEL 6, INTERVAL 100)
//!     -> SetTXRate(2) -> RadiotapEncap -> Queue -> ToDevice(mon0);
//! ```
//!
//! # See also
//! BeaconSource, ProbeRequester, AvailableRates

use super::management::{self, Announcement, BASIC, Frame, Information};
use super::responder::{self, Known, Respond, Responder};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers};
use wire::MacAddr;
use wire::ieee80211::management as subtype;

/// The class.
pub(crate) const CLASS: Class = Class::new("ProbeResponder", create)
    .processing("h/h")
    .makes("responses")
    .absorbs("frames that it has understood")
    .doc(router::manual!("probe_responder.rs"));

struct ProbeResponder {
    known: Known,
    name: String,
    address: MacAddr,
    channel: i32,
    interval: i32,
    debug: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = ProbeResponder {
        known: Known::default(),
        name: String::new(),
        address: MacAddr::ZERO,
        channel: 0,
        interval: 0,
        debug: false,
    };
    config
        .args()
        .keyword("DEBUG", &mut e.debug)
        .keyword("CHANNEL", &mut e.channel)
        .keyword("SSID", &mut e.name)
        .keyword("BSSID", &mut e.address)
        .keyword("INTERVAL", &mut e.interval)
        .required_keyword("RT", &mut e.known.table)
        .finish()?;
    if e.interval <= 0 {
        return Err("INTERVAL must be >0".into());
    }
    Ok(Box::new(Responder(e)))
}

/// Which station looks for a network of this name with this address; or says why its frame is dropped.
pub(super) fn asker(
    cx: &Cx<'_>,
    packet: &Packet,
    name: &str,
    address: MacAddr,
    debug: bool,
) -> Result<MacAddr, &'static str> {
    let frame = management::read(packet.data())?;
    if frame.subtype != subtype::PROBE_REQUEST {
        return Err(responder::OTHER_KIND);
    }
    let wanted = |asked: MacAddr| asked.is_broadcast() || asked == address || address == MacAddr::ZERO;
    if !wanted(frame.to) || !wanted(frame.network) {
        return Err(responder::NOT_FOR_US);
    }
    let asked = Information::read(frame.body);
    let said = || String::from_utf8_lossy(asked.name);
    if !asked.means(name) {
        if debug {
            cx.debug(format_args!("{}: other ssid {} wanted {name}", cx.name(), said()));
        }
        return Err(responder::OTHER_NETWORK);
    }
    if debug {
        let star = |rate: u8| if rate & BASIC != 0 { "* " } else { "" };
        let rates: String = asked.rates().map(|rate| format!(" {}{}", star(rate), rate & !BASIC)).collect();
        cx.debug(format_args!("{}: ProbeReq: {} ssid {} rates {{{rates} }}", cx.name(), frame.from, said()));
    }
    Ok(frame.from)
}

impl Respond for ProbeResponder {
    fn respond(&mut self, cx: &mut Cx<'_>, packet: &Packet) -> Result<Option<Frame>, &'static str> {
        let station = asker(cx, packet, &self.name, self.address, self.debug)?;
        let answer = Announcement {
            network: self.address,
            name: &self.name,
            channel: self.channel,
            interval: self.interval,
            encrypted: false,
            rates: &self.known.rates.of(self.address),
        };
        Ok(Some(answer.frame(Some(station))))
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.known.find(cx)
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = ProbeResponder;
        h.read("debug", |e: &mut E, _| e.debug);
        h.write("debug", |e: &mut E, cx, text| router::value(cx, text).map(|debug| e.debug = debug));
        h.read("ssid", |e: &mut E, _| e.name.clone());
        h.write("ssid", |e: &mut E, _, text| {
            e.name = text.to_owned();
            Ok(())
        });
        h.read("bssid", |e: &mut E, _| e.address);
        h.write("bssid", |e: &mut E, cx, text| router::value(cx, text).map(|address| e.address = address));
        h.read("channel", |e: &mut E, _| e.channel);
        h.write("channel", |e: &mut E, cx, text| router::value(cx, text).map(|channel| e.channel = channel));
        h.read("interval", |e: &mut E, _| e.interval);
        h.write("interval", |e: &mut E, cx, text| {
            router::value(cx, text).map(|interval| e.interval = interval)
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send;

    /// A request to an address and a network, for a name.
    fn request(to: u8, network: u8, name: &[u8]) -> Vec<u8> {
        let header = [&[0x40, 0, 0, 0][..], &[to; 6], &[4; 6], &[network; 6], &[0, 0]].concat();
        [&header[..], &[0, name.len() as u8], name, &[1, 2, 0x82, 22]].concat()
    }

    /// Stations that ask for this network or for any, of this access point or of all, are answered; others are not.
    #[test]
    fn only_requests_for_this_network_are_answered() {
        let config = "r :: AvailableRates(DEFAULT 2 22); Inject
             -> p :: ProbeResponder(RT r, SSID lab, BSSID 2:2:2:2:2:2, CHANNEL 6, INTERVAL 100, DEBUG true) -> Collect(0)";
        let other = [&[0x80][..], &request(0xff, 0xff, b"")[1..]].concat();
        let mut flow = send(
            config,
            [
                request(0xff, 0xff, b""),
                request(2, 2, b"lab"),
                request(0xff, 0xff, b"labo"),
                request(6, 0xff, b"lab"),
                request(0xff, 6, b"lab"),
                other,
                vec![0x48; 30],
                vec![0x40; 23],
            ],
        );
        let answer = [
            &[0x50, 0, 0, 0][..],
            &[4; 6],
            &[2; 6],
            &[2; 6],
            &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100, 0, 1, 0, 0, 3],
            b"lab",
            &[1, 2, 0x82, 22, 3, 1, 6],
        ];
        assert_eq!(flow.data(0), [answer.concat(), answer.concat()]);
        assert_eq!(
            flow.drops(),
            [
                ("another kind of management frame", 1),
                ("for another host", 2),
                ("for another network", 1),
                ("no IEEE 802.11 header", 1),
                ("no management frame", 1)
            ]
        );
        let said =
            "p: ProbeReq: 04-04-04-04-04-04 ssid lab rates { * 2 22 }\np: other ssid labo wanted lab\n";
        assert!(flow.log().contains(said), "{}", flow.log());
        assert_eq!((flow.write("p.ssid", "den"), flow.read("p.ssid").as_str()), (String::new(), "den"));
    }

    /// An answer is a packet of its own: what the request's says of how it was received does not go along.
    #[test]
    fn new_packets() {
        let config =
            "r :: AvailableRates; Inject -> SetTXRate(22) -> ProbeResponder(RT r, INTERVAL 1) -> Collect(0)";
        assert_eq!(send(config, [request(0xff, 0xff, b"")]).only(0).annotations()[16..44], [0; 28]);
        let wrong = "r :: AvailableRates; Idle -> ProbeResponder(RT r) -> Discard";
        assert!(errors(wrong).contains("INTERVAL must be >0"), "{}", errors(wrong));
    }
}
