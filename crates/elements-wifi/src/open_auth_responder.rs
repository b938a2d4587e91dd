//! Lets stations in that want to join a network, without proof of who they are.
//!
//! ```click
//! OpenAuthResponder(WIRELESS_INFO INFO [, DEBUG])
//! ```
//!
//! Takes the IEEE 802.11 frames by which stations say who they are, without proof ("open system"), before they join,
//! and emits the answer, which always agrees. What is no such request to the network's access point is dropped, so
//! are those for proof by a key.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `WIRELESS_INFO` (name of a WirelessInfo): the network. Requests to others than its BSSID are dropped, unless
//!   that is 0:0:0:0:0:0.
//! - `DEBUG` (boolean, default false): whether to say which requests come.
//!
//! # Handlers
//! - `debug` (read, write): the argument.
//!
//! # Example
//! ```click
//! w :: WirelessInfo(SSID lab, BSSID 2:0:0:0:0:1, CHANNEL 6);
//! FromDevice(mon0) -> RadiotapDecap -> FilterTX -> Classifier(0/b0%fc)
//!     -> OpenAuthResponder(WIRELESS_INFO w) -> SetTXRate(2) -> RadiotapEncap -> Queue -> ToDevice(mon0);
//! ```
//!
//! # See also
//! AssociationResponder, BeaconSource, OpenAuthRequester, WirelessInfo

use super::management::{self, Frame};
use super::responder::{self, Known, Respond, Responder};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers};
use wire::MacAddr;
use wire::ieee80211::{authentication::OPEN, management::AUTHENTICATION};

/// The class.
pub(crate) const CLASS: Class = Class::new("OpenAuthResponder", create)
    .processing("h/h")
    .makes("responses")
    .absorbs("frames that it has understood")
    .doc(router::manual!("open_auth_responder.rs"));

struct OpenAuthResponder {
    known: Known,
    debug: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = OpenAuthResponder { known: Known::default(), debug: false };
    config
        .args()
        .keyword("DEBUG", &mut e.debug)
        .required_keyword("WIRELESS_INFO", &mut e.known.info)
        .finish()?;
    Ok(Box::new(Responder(e)))
}

/// What a frame says of who its sender is.
pub(super) struct Said {
    pub(super) from: MacAddr,
    /// Which step of the conversation it is.
    pub(super) step: u16,
    /// What came of the step before.
    pub(super) status: u16,
}

/// Reads a frame without proof to an address, or says why it is dropped. To the address 0, all are.
pub(super) fn read(
    cx: &Cx<'_>,
    packet: &Packet,
    address: MacAddr,
    debug: bool,
) -> Result<Said, &'static str> {
    let frame = management::read(packet.data())?;
    if frame.subtype != AUTHENTICATION {
        return Err(responder::OTHER_KIND);
    }
    if address != MacAddr::ZERO && frame.to != address {
        return Err(responder::NOT_FOR_US);
    }
    let ([algorithm, step, status], _) = management::numbers(frame.body)?;
    if algorithm != OPEN {
        return Err("authentication with proof");
    }
    if debug {
        cx.debug(format_args!("{}: auth {algorithm} seq {step} status {status}", cx.name()));
    }
    Ok(Said { from: frame.from, step, status })
}

/// The frame of a step.
pub(super) fn frame(dst: MacAddr, src: MacAddr, network: MacAddr, step: u16) -> Frame {
    const SUCCESS: u16 = 0;
    let mut frame = Frame::new(AUTHENTICATION, dst, src, network);
    frame.number(OPEN).number(step).number(SUCCESS);
    frame
}

impl Respond for OpenAuthResponder {
    fn respond(&mut self, cx: &mut Cx<'_>, packet: &Packet) -> Result<Option<Frame>, &'static str> {
        let network = self.known.network.address();
        let Said { from, step, .. } = read(cx, packet, network, self.debug)?;
        if step != 1 {
            return Err("another step of authentication");
        }
        Ok(Some(frame(from, network, network, 2)))
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.known.find(cx)
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = OpenAuthResponder;
        h.read("debug", |e: &mut E, _| e.debug);
        h.write("debug", |e: &mut E, cx, text| router::value(cx, text).map(|debug| e.debug = debug));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;

    #[test]
    fn only_a_first_open_request_is_answered() {
        let frame = |kind: u8, to: u8, body: &[u8]| {
            [&[kind, 0, 0, 0][..], &[to; 6], &[4; 6], &[2; 6], &[0x10, 0], body].concat()
        };
        let config = "w :: WirelessInfo(BSSID 2:2:2:2:2:2);
             Inject -> a :: OpenAuthResponder(WIRELESS_INFO w, DEBUG true) -> Collect(0)";
        let flow = send(
            config,
            [
                frame(0xb0, 2, &[0, 0, 1, 0, 0, 0]),
                frame(0xb0, 2, &[1, 0, 1, 0, 0, 0]),
                frame(0xb0, 2, &[0, 0, 2, 0, 0, 0]),
                frame(0xb0, 6, &[0, 0, 1, 0, 0, 0]),
                frame(0xb0, 2, &[0, 0, 1, 0, 0]),
                frame(0xc0, 2, &[0, 0, 1, 0, 0, 0]),
            ],
        );
        let answer = [&[0xb0, 0, 0, 0][..], &[4; 6], &[2; 6], &[2; 6], &[0, 0, 0, 0, 2, 0, 0, 0]].concat();
        assert_eq!(flow.data(0), [answer]);
        assert_eq!(
            flow.drops(),
            [
                ("another kind of management frame", 1),
                ("another step of authentication", 1),
                ("authentication with proof", 1),
                ("for another host", 1),
                ("truncated frame", 1)
            ]
        );
        assert!(flow.log().starts_with("a: auth 0 seq 1 status 0\n"), "{}", flow.log());
    }
}
