//! Says who a station is that wants to join a wireless network.
//!
//! ```click
//! OpenAuthRequester([WIRELESS_INFO INFO, ETH ADDRESS, DEBUG])
//! ```
//!
//! Each write to its handler emits an IEEE 802.11 frame by which a station tells the access point of INFO's BSSID who
//! it is, without proof ("open system"), which is what comes before AssociationRequester. Takes the answers; drops
//! what is none to this station.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `WIRELESS_INFO` (name of a WirelessInfo): the network.
//! - `ETH` (Ethernet address, default 0:0:0:0:0:0): the station's address. Answers to others are dropped, unless it
//!   is 0:0:0:0:0:0.
//! - `DEBUG` (boolean, default false): whether to say what the answers are.
//!
//! # Handlers
//! - `send_auth_req` (write): emits a request, whatever is written.
//! - `authenticated` (read): whether the last answer agreed.
//! - `eth`, `debug` (read, write): the arguments.
//!
//! # Example
//! ```click
//! w :: WirelessInfo(SSID lab, BSSID 2:0:0:0:0:1, CHANNEL 6);
//! FromDevice(mon0) -> RadiotapDecap -> FilterTX -> Classifier(0/b0%fc)
//!     -> a :: OpenAuthRequester(ETH 2:0:0:0:0:5, WIRELESS_INFO w)
//!     -> SetTXRate(2) -> RadiotapEncap -> Queue -> ToDevice(mon0);
//! Script(write a.send_auth_req, wait 0.1, read a.authenticated);
//! ```
//!
//! # See also
//! AssociationRequester, ProbeRequester, OpenAuthResponder, WirelessInfo

use super::management::Frame;
use super::open_auth_responder::{Said, frame, read};
use super::responder::{self, Known, Respond, Responder};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Residency};
use wire::MacAddr;

/// The class.
pub(crate) const CLASS: Class = Class::new("OpenAuthRequester", create)
    .processing("h/h")
    .residency(Residency::Exclusive)
    .makes("requests")
    .absorbs("frames that it has understood")
    .doc(router::manual!("open_auth_requester.rs"));

struct OpenAuthRequester {
    known: Known,
    address: MacAddr,
    debug: bool,
    authenticated: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = OpenAuthRequester {
        known: Known::default(),
        address: MacAddr::ZERO,
        debug: false,
        authenticated: false,
    };
    config
        .args()
        .keyword("DEBUG", &mut e.debug)
        .keyword("ETH", &mut e.address)
        .keyword("WIRELESS_INFO", &mut e.known.info)
        .finish()?;
    Ok(Box::new(Responder(e)))
}

impl Respond for OpenAuthRequester {
    fn respond(&mut self, cx: &mut Cx<'_>, packet: &Packet) -> Result<Option<Frame>, &'static str> {
        let Said { from, step, status } = read(cx, packet, self.address, self.debug)?;
        if from != self.known.network.address() {
            return Err(responder::OTHER_NETWORK);
        }
        self.authenticated = step == 2 && status == 0;
        Ok(None)
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.known.find(cx)
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = OpenAuthRequester;
        h.write("send_auth_req", |e: &mut E, cx, _| {
            let network = e.known.network.address();
            e.authenticated = false;
            responder::send(cx, &frame(network, e.address, network, 1));
            Ok(())
        });
        h.read("authenticated", |e: &mut E, _| e.authenticated);
        h.read("eth", |e: &mut E, _| e.address);
        h.write("eth", |e: &mut E, cx, text| router::value(cx, text).map(|address| e.address = address));
        h.read("debug", |e: &mut E, _| e.debug);
        h.write("debug", |e: &mut E, cx, text| router::value(cx, text).map(|debug| e.debug = debug));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;

    fn answer(to: u8, from: u8, status: u8) -> Vec<u8> {
        [&[0xb0, 0, 0, 0][..], &[to; 6], &[from; 6], &[from; 6], &[0x10, 0, 0, 0, 2, 0, status, 0]].concat()
    }

    /// Only the answer of the network's access point to this station counts, and of those the last.
    #[test]
    fn the_last_answer_of_the_access_point_counts() {
        let config = "w :: WirelessInfo(BSSID 2:2:2:2:2:2);
             Inject -> a :: OpenAuthRequester(WIRELESS_INFO w, ETH 4:4:4:4:4:4, DEBUG true) -> Collect(0)";
        for (answers, authenticated) in [
            (vec![answer(4, 2, 0)], "true"),
            (vec![answer(4, 2, 0), answer(4, 2, 1), answer(4, 6, 0), answer(6, 2, 0)], "false"),
        ] {
            let dropped = answers.len() / 2;
            let mut flow = send(config, answers);
            assert_eq!((flow.read("a.authenticated").as_str(), flow.drops().len()), (authenticated, dropped));
            assert!(flow.log().starts_with("a: auth 0 seq 2 status 0\n"), "{}", flow.log());
            assert_eq!(flow.write("a.send_auth_req", ""), "");
            assert_eq!(flow.read("a.authenticated"), "false");
        }
    }
}
