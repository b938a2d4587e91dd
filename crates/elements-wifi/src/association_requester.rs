//! Joins a wireless network when it is told to.
//!
//! ```click
//! AssociationRequester(RT RATES [, WIRELESS_INFO INFO, ETH ADDRESS, DEBUG])
//! ```
//!
//! Each write to its handler emits an IEEE 802.11 frame by which a station asks the access point of INFO's BSSID to
//! let it join. Takes the answers, and what says that the station is no longer joined. The rates that an access point
//! says it has are noted in RATES. What is for other hosts, or is of other networks, is dropped.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `RT` (name of an AvailableRates): where the network's rates are, and go.
//! - `WIRELESS_INFO` (name of a WirelessInfo): the network. Its INTERVAL is in requests, too, as the number of
//!   beacons that the station may sleep.
//! - `ETH` (Ethernet address, default 0:0:0:0:0:0): the station's address. Frames to others are dropped, unless it is
//!   0:0:0:0:0:0.
//! - `DEBUG` (boolean, default false): whether to say what the answers are.
//!
//! # Handlers
//! - `send_assoc_req` (write): emits a request, whatever is written.
//! - `associated` (read): whether the last answer agreed, and no frame has said since that this is over.
//! - `eth`, `debug` (read, write): the arguments.
//!
//! # Example
//! ```click
//! w :: WirelessInfo(SSID lab, BSSID 2:0:0:0:0:1, CHANNEL 6);
//! rates :: AvailableRates(DEFAULT 2 4 11 22);
//! FromDevice(mon0) -> RadiotapDecap -> FilterTX -> Classifier(0/10%fc, 0/a0%fc)
//!     -> a :: AssociationRequester(ETH 2:0:0:0:0:5, WIRELESS_INFO w, RT rates)
//!     -> SetTXRate(2) -> RadiotapEncap -> Queue -> ToDevice(mon0);
//! Script(write a.send_assoc_req, wait 0.1, read a.associated);
//! ```
//!
//! # See also
//! OpenAuthRequester, ProbeRequester, AssociationResponder, WirelessInfo, AvailableRates

use super::beacon_scanner as beacon;
use super::extra;
use super::management::{self, Frame, Information, Management};
use super::responder::{self, Known, Respond, Responder};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Residency};
use wire::MacAddr;
use wire::ieee80211::management as subtype;

/// The class.
pub(crate) const CLASS: Class = Class::new("AssociationRequester", create)
    .processing("h/h")
    .residency(Residency::Exclusive)
    .makes("requests")
    .absorbs("frames that it has understood")
    .doc(router::manual!("association_requester.rs"));

struct AssociationRequester {
    known: Known,
    address: MacAddr,
    debug: bool,
    associated: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = AssociationRequester {
        known: Known::default(),
        address: MacAddr::ZERO,
        debug: false,
        associated: false,
    };
    config
        .args()
        .keyword("DEBUG", &mut e.debug)
        .keyword("ETH", &mut e.address)
        .keyword("WIRELESS_INFO", &mut e.known.info)
        .required_keyword("RT", &mut e.known.table)
        .finish()?;
    Ok(Box::new(Responder(e)))
}

impl AssociationRequester {
    fn request(&self) -> Frame {
        let own = &self.known.network;
        let (network, channel) = (own.address(), own.channel());
        let rates = self.known.rates.of(network);
        let mut frame = Frame::new(subtype::ASSOCIATION_REQUEST, network, self.address, network);
        frame.number(management::capabilities(own.encrypted())).number(own.interval() as u16);
        frame.name(&own.name()).rates(&rates, channel).more_rates(&rates, channel);
        frame
    }

    /// Takes an answer.
    fn answered(&mut self, cx: &Cx<'_>, frame: &Management<'_>, packet: &Packet) -> Result<(), &'static str> {
        let ([capabilities, status, number], rest) = management::numbers(frame.body)?;
        let information = Information::read(rest);
        if self.debug {
            let capable: String =
                beacon::capabilities(capabilities).iter().map(|word| format!("{word} ")).collect();
            let (signal, rates) = (extra::of(packet).signal(), information.rates_in_words());
            let network = frame.network;
            cx.debug(format_args!(
                "{}: response {network} +{signal} [ {capable}] status {status} associd {number} {rates}",
                cx.name()
            ));
        }
        let rates = information.values();
        if !rates.is_empty() {
            self.known.rates.note(frame.network, rates);
        }
        self.associated = status == 0;
        Ok(())
    }

    /// Takes notice that the station is out.
    fn left(&mut self, cx: &Cx<'_>, frame: &Management<'_>) -> Result<(), &'static str> {
        let ([reason], _) = management::numbers(frame.body)?;
        if self.debug {
            cx.debug(format_args!("{}: disassociation from {} reason {reason}", cx.name(), frame.network));
        }
        self.associated = false;
        Ok(())
    }
}

impl Respond for AssociationRequester {
    fn respond(&mut self, cx: &mut Cx<'_>, packet: &Packet) -> Result<Option<Frame>, &'static str> {
        let frame = management::read(packet.data())?;
        if self.address != MacAddr::ZERO && frame.to != self.address && !frame.to.is_broadcast() {
            return Err(responder::NOT_FOR_US);
        }
        if frame.network != self.known.network.address() {
            return Err(responder::OTHER_NETWORK);
        }
        match frame.subtype {
            subtype::ASSOCIATION_RESPONSE => self.answered(cx, &frame, packet)?,
            subtype::DISASSOCIATION | subtype::DEAUTHENTICATION => self.left(cx, &frame)?,
            _ => return Err(responder::OTHER_KIND),
        }
        Ok(None)
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.known.find(cx)
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = AssociationRequester;
        h.write("send_assoc_req", |e: &mut E, cx, _| {
            e.associated = false;
            responder::send(cx, &e.request());
            Ok(())
        });
        h.read("associated", |e: &mut E, _| e.associated);
        h.read("eth", |e: &mut E, _| e.address);
        h.write("eth", |e: &mut E, cx, text| router::value(cx, text).map(|address| e.address = address));
        h.read("debug", |e: &mut E, _| e.debug);
        h.write("debug", |e: &mut E, cx, text| router::value(cx, text).map(|debug| e.debug = debug));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;

    fn frame(kind: u8, to: u8, network: u8, body: &[u8]) -> Vec<u8> {
        [&[kind, 0, 0, 0][..], &[to; 6], &[network; 6], &[network; 6], &[0x10, 0], body].concat()
    }

    const YES: [u8; 10] = [0x11, 0, 0, 0, 5, 0xc0, 1, 2, 0x82, 22];
    const NO: [u8; 6] = [0x11, 0, 17, 0, 0, 0];

    #[test]
    fn only_answers_of_the_access_point_count() {
        let config = "w :: WirelessInfo(BSSID 2:2:2:2:2:2); r :: AvailableRates(DEFAULT 2 4 22);
             Inject -> a :: AssociationRequester(RT r, WIRELESS_INFO w, ETH 4:4:4:4:4:4, DEBUG true) -> Collect(0)";
        for (frames, associated, dropped) in [
            (vec![frame(0x10, 4, 2, &YES)], "true", 0),
            (vec![frame(0x10, 4, 2, &YES), frame(0x10, 4, 2, &NO)], "false", 0),
            (vec![frame(0x10, 4, 2, &YES), frame(0xa0, 4, 2, &[1, 0])], "false", 0),
            (vec![frame(0x10, 4, 2, &YES), frame(0xc0, 0xff, 2, &[1, 0])], "false", 0),
            (vec![frame(0x10, 4, 6, &YES), frame(0x10, 6, 2, &YES)], "false", 2),
            (
                vec![frame(0x10, 4, 2, &YES), frame(0xa0, 4, 6, &[1, 0]), frame(0xa0, 6, 2, &[1, 0])],
                "true",
                2,
            ),
            (vec![frame(0x10, 4, 2, &YES[..5]), frame(0xb0, 4, 2, &YES)], "false", 2),
        ] {
            let mut flow = send(config, frames.clone());
            assert_eq!(flow.read("a.associated"), associated, "{frames:?}");
            assert_eq!((flow.drops().len(), flow.data(0).len()), (dropped, 0), "{frames:?}");
        }
        let mut flow = send(config, [frame(0x10, 4, 2, &YES), frame(0xc0, 0xff, 2, &[1, 0])]);
        let said = "a: response 02-02-02-02-02-02 +0 [ ESS PRIVACY ] status 0 associd 49157 ( { 2 } 22 )\n\
                    a: disassociation from 02-02-02-02-02-02 reason 1\n";
        assert!(flow.log().contains(said), "{}", flow.log());
        assert_eq!(flow.read("r.rates"), "DEFAULT  2 4 22\n02-02-02-02-02-02  2 22\n");
    }
}
