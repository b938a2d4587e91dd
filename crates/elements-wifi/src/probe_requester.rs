//! Looks for wireless networks when it is told to.
//!
//! ```click
//! ProbeRequester([WIRELESS_INFO INFO, ETH ADDRESS, RT RATES, DEBUG])
//! ```
//!
//! Each write to its handler emits an IEEE 802.11 frame by which a station asks the access points around for networks
//! of the name that INFO has, or of any if it has none. Their answers are for BeaconScanner. (Rates, and which of
//! them are basic, are as BeaconSource has them.)
//!
//! Ports: no inputs, 1 output. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `WIRELESS_INFO` (name of a WirelessInfo): the network.
//! - `ETH` (Ethernet address, default 0:0:0:0:0:0): the station's address.
//! - `RT` (name of an AvailableRates): where its rates are.
//! - `DEBUG` (boolean, default false): without effect, as in Click.
//!
//! # Handlers
//! - `send_probe` (write): emits a request, whatever is written.
//! - `eth`, `debug` (read, write): the arguments.
//!
//! # Example
//! ```click
//! rates :: AvailableRates(DEFAULT 2 4 11 22);
//! p :: ProbeRequester(ETH 2:0:0:0:0:5, RT rates) -> SetTXRate(2) -> RadiotapEncap -> Queue -> ToDevice(mon0);
//! FromDevice(mon0) -> RadiotapDecap -> Classifier(0/50%fc) -> s :: BeaconScanner -> Discard;
//! Script(write p.send_probe, wait 0.5, read s.scan, stop);
//! ```
//!
//! # See also
//! BeaconScanner, OpenAuthRequester, AssociationRequester, ProbeResponder, WirelessInfo, AvailableRates

use super::management::Frame;
use super::responder::{self, Known};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Residency};
use wire::MacAddr;
use wire::ieee80211::management::PROBE_REQUEST;

/// The class.
pub(crate) const CLASS: Class = Class::new("ProbeRequester", create)
    .ports("0/1")
    .processing("/h")
    .residency(Residency::Exclusive)
    .makes("requests")
    .doc(router::manual!("probe_requester.rs"));

struct ProbeRequester {
    known: Known,
    address: MacAddr,
    debug: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = ProbeRequester { known: Known::default(), address: MacAddr::ZERO, debug: false };
    config
        .args()
        .keyword("DEBUG", &mut e.debug)
        .keyword("WIRELESS_INFO", &mut e.known.info)
        .keyword("ETH", &mut e.address)
        .keyword("RT", &mut e.known.table)
        .finish()?;
    Ok(Box::new(e))
}

impl ProbeRequester {
    fn request(&self) -> Frame {
        let channel = self.known.network.channel();
        let rates = self.known.rates.of(self.address);
        let mut frame = Frame::new(PROBE_REQUEST, MacAddr::BROADCAST, self.address, MacAddr::BROADCAST);
        frame.name(&self.known.network.name()).rates(&rates, channel).more_rates(&rates, channel);
        frame
    }
}

impl Element for ProbeRequester {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.known.find(cx)
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = ProbeRequester;
        h.write("send_probe", |e: &mut E, cx, _| {
            responder::send(cx, &e.request());
            Ok(())
        });
        h.read("eth", |e: &mut E, _| e.address);
        h.write("eth", |e: &mut E, cx, text| router::value(cx, text).map(|address| e.address = address));
        h.read("debug", |e: &mut E, _| e.debug);
        h.write("debug", |e: &mut E, cx, text| router::value(cx, text).map(|debug| e.debug = debug));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    /// With nothing around it that says more, and as its handlers say.
    #[test]
    fn requests_say_what_arguments_and_handlers_say() {
        let config = "p :: ProbeRequester -> Print(MAXLENGTH 80) -> Discard;
             w :: WirelessInfo(SSID lab, CHANNEL 36); r :: AvailableRates(DEFAULT 2, 2:0:0:0:0:5 12 24);
             q :: ProbeRequester(WIRELESS_INFO w, RT r) -> Print(MAXLENGTH 80) -> Discard;
             Script(write p.send_probe 1, write q.eth 2:0:0:0:0:5, write q.send_probe, stop)";
        let none = "  28 | 40000000 ffffffff ffff0000 00000000 ffffffff ffff0000 00000100";
        let own = "  33 | 40000000 ffffffff ffff0200 00000005 ffffffff ffff0000 00036c61 6201028c 18";
        assert_eq!(run(config), format!("{none}\n{own}\n"));
    }
}
