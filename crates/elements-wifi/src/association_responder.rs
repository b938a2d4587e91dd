//! Lets stations join a network.
//!
//! ```click
//! AssociationResponder(RT RATES [, WIRELESS_INFO INFO, DEBUG])
//! ```
//!
//! Takes the IEEE 802.11 frames by which stations ask to join a network of a name or of any, or to join it again, and
//! emits the answer, which agrees, if this network is meant. Each station has a number of its own, from 1 on; of
//! 2007, as many as there are numbers, the one that joined first gives its number to the next. The rates that a
//! station says it has are noted in RATES. Stations that leave are forgotten. Other frames, and those to other hosts,
//! are dropped.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `RT` (name of an AvailableRates): where the network's rates are, and those of stations go.
//! - `WIRELESS_INFO` (name of a WirelessInfo): the network. Requests to others than its BSSID are dropped, unless
//!   that is 0:0:0:0:0:0.
//! - `DEBUG` (boolean, default false): whether to say which requests come.
//!
//! # Handlers
//! - `stations` (read): a line for each station: its address and number.
//! - `debug` (read, write): the argument.
//!
//! # Example
//! ```click
//! w :: WirelessInfo(SSID lab, BSSID 2:0:0:0:0:1, CHANNEL 6);
//! rates :: AvailableRates(DEFAULT 2 4 11 22);
//! FromDevice(mon0) -> RadiotapDecap -> FilterTX -> Classifier(0/00%dc)
//!     -> AssociationResponder(WIRELESS_INFO w, RT rates) -> SetTXRate(2) -> RadiotapEncap -> Queue -> ToDevice(mon0);
//! ```
//!
//! # See also
//! OpenAuthResponder, BeaconSource, AssociationRequester, WirelessInfo, AvailableRates

use super::beacon_scanner as beacon;
use super::management::{self, Frame, Information, Management};
use super::responder::{self, Known, Respond, Responder};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Residency};
use std::fmt::Write as _;
use wire::MacAddr;
use wire::ieee80211::management as subtype;

/// The class.
pub(crate) const CLASS: Class = Class::new("AssociationResponder", create)
    .processing("h/h")
    .residency(Residency::Exclusive)
    .makes("responses")
    .absorbs("frames that it has understood")
    .doc(router::manual!("association_responder.rs"));

/// As many numbers of stations as there are.
const MOST: usize = 2007;
/// Bits that numbers of stations have in frames.
const NUMBER_BITS: u16 = 0xc000;
/// What came of a request: all is well.
const SUCCESS: u16 = 0;

/// Who has which number: the first has 1.
struct Stations {
    /// Those that have left are 0.
    addresses: Vec<MacAddr>,
    /// Whose number goes to the next station when there is no other.
    oldest: usize,
}

impl Stations {
    fn new() -> Stations {
        Stations { addresses: Vec::with_capacity(MOST), oldest: 0 }
    }

    fn find(&self, station: MacAddr) -> Option<usize> {
        self.addresses.iter().position(|address| *address == station)
    }

    /// The number of a station, which may be new.
    fn number(&mut self, station: MacAddr) -> u16 {
        let at = self.find(station).or_else(|| self.find(MacAddr::ZERO)).unwrap_or_else(|| self.make_room());
        self.addresses[at] = station;
        at as u16 + 1
    }

    fn make_room(&mut self) -> usize {
        if self.addresses.len() < MOST {
            self.addresses.push(MacAddr::ZERO);
            return self.addresses.len() - 1;
        }
        let at = self.oldest;
        self.oldest = (at + 1) % MOST;
        at
    }

    fn forget(&mut self, station: MacAddr) {
        if let Some(at) = self.find(station) {
            self.addresses[at] = MacAddr::ZERO;
        }
    }

    fn lines(&self) -> String {
        let mut text = String::new();
        for (at, address) in
            self.addresses.iter().enumerate().filter(|(_, address)| **address != MacAddr::ZERO)
        {
            let _ = writeln!(text, "{address} {}", at + 1); // writing to a string does not fail
        }
        text
    }
}

struct AssociationResponder {
    known: Known,
    debug: bool,
    stations: Stations,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = AssociationResponder { known: Known::default(), debug: false, stations: Stations::new() };
    config
        .args()
        .keyword("DEBUG", &mut e.debug)
        .keyword("WIRELESS_INFO", &mut e.known.info)
        .required_keyword("RT", &mut e.known.table)
        .finish()?;
    Ok(Box::new(Responder(e)))
}

/// What a station says that wants to join.
struct Request<'a> {
    capabilities: u16,
    /// How many beacons it may sleep.
    listens: u16,
    information: Information<'a>,
    /// What the answer is.
    answer: u8,
}

impl<'a> Request<'a> {
    fn read(frame: &Management<'a>) -> Result<Request<'a>, &'static str> {
        let ([capabilities, listens], rest) = management::numbers(frame.body)?;
        let (answer, rest) = match frame.subtype {
            subtype::ASSOCIATION_REQUEST => (subtype::ASSOCIATION_RESPONSE, rest),
            // Where it comes from, first.
            _ => (subtype::REASSOCIATION_RESPONSE, rest.get(6..).ok_or("truncated frame")?),
        };
        Ok(Request { capabilities, listens, information: Information::read(rest), answer })
    }

    fn describe(&self, Management { from, to, network, .. }: &Management<'_>) -> String {
        let capable: String =
            beacon::capabilities(self.capabilities).iter().map(|word| format!("{word} ")).collect();
        let (listens, rates) = (self.listens, self.information.rates_in_words());
        format!("request src {from} dst {to} bssid {network}[ {capable}]  listen_int {listens} {rates}")
    }
}

impl AssociationResponder {
    /// Answers a station that wants to join.
    fn join(&mut self, cx: &Cx<'_>, frame: &Management<'_>) -> Result<Frame, &'static str> {
        let request = Request::read(frame)?;
        let own = &self.known.network;
        let name = own.name();
        if !request.information.means(&name) {
            if self.debug {
                let other = String::from_utf8_lossy(request.information.name);
                cx.debug(format_args!("{}: other ssid {other} wanted {name}", cx.name()));
            }
            return Err(responder::OTHER_NETWORK);
        }
        let number = NUMBER_BITS | self.stations.number(frame.from);
        if self.debug {
            cx.debug(format_args!("{}: {}", cx.name(), request.describe(frame)));
            cx.debug(format_args!("{}: association {} associd {number}", cx.name(), frame.from));
        }
        let rates = request.information.values();
        if !rates.is_empty() {
            self.known.rates.note(frame.from, rates);
        }
        let (network, channel) = (own.address(), own.channel());
        let rates = self.known.rates.of(network);
        let mut answer = Frame::new(request.answer, frame.from, network, network);
        answer.number(management::capabilities(own.encrypted())).number(SUCCESS).number(number);
        answer.rates(&rates, channel).more_rates(&rates, channel);
        Ok(answer)
    }
}

impl Respond for AssociationResponder {
    fn respond(&mut self, cx: &mut Cx<'_>, packet: &Packet) -> Result<Option<Frame>, &'static str> {
        let frame = management::read(packet.data())?;
        let own = self.known.network.address();
        if own != MacAddr::ZERO && frame.to != own {
            return Err(responder::NOT_FOR_US);
        }
        match frame.subtype {
            subtype::ASSOCIATION_REQUEST | subtype::REASSOCIATION_REQUEST => self.join(cx, &frame).map(Some),
            subtype::DISASSOCIATION | subtype::DEAUTHENTICATION => {
                self.stations.forget(frame.from);
                Ok(None)
            }
            _ => Err(responder::OTHER_KIND),
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.known.find(cx)
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = AssociationResponder;
        h.read("stations", |e: &mut E, _| e.stations.lines());
        h.read("debug", |e: &mut E, _| e.debug);
        h.write("debug", |e: &mut E, cx, text| router::value(cx, text).map(|debug| e.debug = debug));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::send_singly;

    fn frame(kind: u8, to: u8, from: u8, body: &[u8]) -> Vec<u8> {
        [&[kind, 0, 0, 0][..], &[to; 6], &[from; 6], &[2; 6], &[0x10, 0], body].concat()
    }

    const JOIN: [u8; 13] = [0x11, 0, 10, 0, 0, 3, b'l', b'a', b'b', 1, 2, 0x82, 22];

    #[test]
    fn stations_join_and_leave() {
        let again = [&JOIN[..4], &[9; 6], &JOIN[4..]].concat();
        let config =
            "w :: WirelessInfo(SSID lab, BSSID 2:2:2:2:2:2, WEP true); r :: AvailableRates(DEFAULT 2 4 11);
             Inject -> a :: AssociationResponder(WIRELESS_INFO w, RT r, DEBUG true) -> Collect(0)";
        let mut flow = send_singly(
            config,
            [
                frame(0, 2, 4, &JOIN),
                frame(0, 2, 6, &[1, 0, 10, 0]),
                frame(0x20, 2, 4, &again),
                frame(0, 8, 10, &JOIN),                            // to another
                frame(0, 2, 10, &[1, 0, 10, 0, 0, 2, b'l', b'a']), // another's name
                frame(0, 2, 10, &JOIN[..3]),
                frame(0x20, 2, 10, &again[..9]),
                frame(0xa0, 2, 4, &[8, 0]), // leaves
                frame(0, 2, 12, &JOIN),
                frame(0xb0, 2, 12, &[0; 6]),
            ],
        );
        let answer = |kind: u8, to: u8, number: u8| {
            frame(kind, to, 2, &[0x11, 0, 0, 0, number, 0xc0, 1, 3, 0x82, 4, 11])
                .iter()
                .enumerate()
                .map(|(at, octet)| if at == 22 { 0 } else { *octet })
                .collect::<Vec<u8>>()
        };
        assert_eq!(
            flow.data(0),
            [answer(0x10, 4, 1), answer(0x10, 6, 2), answer(0x30, 4, 1), answer(0x10, 12, 1)]
        );
        assert_eq!(
            flow.drops(),
            [
                ("another kind of management frame", 1),
                ("for another host", 1),
                ("for another network", 1),
                ("truncated frame", 2)
            ]
        );
        assert_eq!(flow.read("a.stations"), "0C-0C-0C-0C-0C-0C 1\n06-06-06-06-06-06 2\n");
        assert_eq!(flow.read("r.rates"), "DEFAULT  2 4 11\n04-04-04-04-04-04  2\n0C-0C-0C-0C-0C-0C  2\n");
        let said = "a: request src 04-04-04-04-04-04 dst 02-02-02-02-02-02 bssid 02-02-02-02-02-02[ ESS PRIVACY ]  \
                    listen_int 10 ( { 2 } 22 )\na: association 04-04-04-04-04-04 associd 49153\n";
        assert!(flow.log().starts_with(said), "{}", flow.log());
    }

    #[test]
    fn forged_stations_take_numbers_not_memory() {
        let mut stations = Stations::new();
        let station = |n: u16| MacAddr([2, 2, 2, 2, (n >> 8) as u8, n as u8]);
        let numbers: Vec<u16> = (0..2010).map(|n| stations.number(station(n))).collect();
        assert_eq!((numbers[0], numbers[2006], &numbers[2007..]), (1, 2007, &[1, 2, 3][..]));
        assert_eq!((stations.number(station(100)), stations.number(station(0))), (101, 4));
        stations.forget(station(50));
        assert_eq!((stations.number(station(3000)), stations.addresses.len()), (51, MOST));
    }
}
