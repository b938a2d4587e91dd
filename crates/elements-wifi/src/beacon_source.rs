//! Says that an access point is there.
//!
//! ```click
//! BeaconSource(WIRELESS_INFO INFO, RT RATES [, DEBUG])
//! ```
//!
//! Emits a beacon, an IEEE 802.11 frame with the network's name, rates and channel, every INTERVAL of INFO, in the
//! units of 1024 microseconds that beacons speak of, and answers requests of stations for networks of that name or of
//! any as ProbeResponder does. The time in beacons is 0; interfaces fill it in. Rates are those that RATES has for
//! INFO's BSSID: 1 Mbit/s, and 6 Mbit/s on channels above 15, are what every station must have. What is no request
//! for this network is dropped.
//!
//! Ports: at most 1 input, 1 output. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `WIRELESS_INFO` (name of a WirelessInfo): the network.
//! - `RT` (name of an AvailableRates): where its rates are.
//! - `DEBUG` (boolean, default false): whether to say which requests come.
//!
//! # Handlers
//! - `debug` (read, write): the argument.
//!
//! # Example
//! ```click
//! w :: WirelessInfo(SSID lab, BSSID 2:0:0:0:0:1, CHANNEL 6);
//! rates :: AvailableRates(DEFAULT 2 4 11 22);
//! FromDevice(mon0) -> RadiotapDecap -> FilterTX -> Classifier(0/40%fc)
//!     -> BeaconSource(WIRELESS_INFO w, RT rates) -> SetTXRate(2) -> RadiotapEncap -> Queue -> ToDevice(mon0);
//! ```
//!
//! # See also
//! ProbeResponder, OpenAuthResponder, AssociationResponder, BeaconScanner, WirelessInfo, AvailableRates

use super::management::{Announcement, Frame};
use super::probe_responder::asker;
use super::responder::{self, Known, Respond, Responder};
use packet::Packet;
use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Residency};
use std::time::Duration;
use wire::MacAddr;

/// The class.
pub(crate) const CLASS: Class = Class::new("BeaconSource", create)
    .ports("0-1/1")
    .processing("h/h")
    .activity(Activity::Always)
    .residency(Residency::Exclusive)
    .makes("beacons and probe responses")
    .absorbs("probe requests")
    .doc(router::manual!("beacon_source.rs"));

/// What the standard counts in.
const UNIT: Duration = Duration::from_micros(1024);

struct BeaconSource {
    known: Known,
    debug: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = BeaconSource { known: Known::default(), debug: false };
    config
        .args()
        .required_keyword("WIRELESS_INFO", &mut e.known.info)
        .required_keyword("RT", &mut e.known.table)
        .keyword("DEBUG", &mut e.debug)
        .finish()?;
    Ok(Box::new(Responder(e)))
}

impl BeaconSource {
    fn announce(&self, to: Option<MacAddr>) -> Frame {
        let network = &self.known.network;
        Announcement {
            network: network.address(),
            name: &network.name(),
            channel: network.channel(),
            interval: network.interval(),
            encrypted: network.encrypted(),
            rates: &self.known.rates.of(network.address()),
        }
        .frame(to)
    }

    /// Sees to the next beacon. A handler can have made the interval nonsense meanwhile.
    fn wait(&self, cx: &mut Cx<'_>) {
        let units = u32::try_from(self.known.network.interval()).unwrap_or(1).max(1);
        cx.timers().after(0, UNIT * units);
    }
}

impl Respond for BeaconSource {
    fn respond(&mut self, cx: &mut Cx<'_>, packet: &Packet) -> Result<Option<Frame>, &'static str> {
        let network = &self.known.network;
        let station = asker(cx, packet, &network.name(), network.address(), self.debug)?;
        Ok(Some(self.announce(Some(station))))
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.known.find(cx)?;
        if self.known.network.interval() <= 0 {
            return Err("INTERVAL must be >0".into());
        }
        self.wait(cx);
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>) {
        responder::send(cx, &self.announce(None));
        self.wait(cx);
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = BeaconSource;
        h.read("debug", |e: &mut E, _| e.debug);
        h.write("debug", |e: &mut E, cx, text| router::value(cx, text).map(|debug| e.debug = debug));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run};

    /// Every hundred units, not every 100 ms; what handlers change, the next beacon says.
    #[test]
    fn beacons_follow_the_interval_and_the_handlers() {
        let config = "w :: WirelessInfo(SSID a, BSSID 2:0:0:0:0:1, CHANNEL 6); r :: AvailableRates(DEFAULT 2 22);
             BeaconSource(WIRELESS_INFO w, RT r) -> PrintWifi -> Discard;
             Script(wait 0.102, print \"none\", wait 0.001, write w.interval 1000, write w.ssid bee, write w.wep true,
                    write w.channel -1, wait 0.103, write w.interval 0, write r.insert 2:0:0:0:0:1 12,
                    wait 1.024, write w.interval 1000, stop)";
        let head = "mgmt beacon 02-00-00-00-00-01";
        let lines = run(config);
        let lines: Vec<_> = lines.lines().map(|line| line.split(" | ").last().unwrap_or_default()).collect();
        assert_eq!(
            lines[..4],
            [
                "none",
                &format!("{head} a chan 6 b_int 100 [ ESS ] ({{2}} 22)"),
                &format!("{head} bee chan 0 b_int 1000 [ ESS PRIVACY ] ({{2}} 22)"),
                &format!("{head} bee chan 0 b_int 0 [ ESS PRIVACY ] ({{}} 12)"),
            ]
        );
    }

    #[test]
    fn bad_intervals_and_references_are_refused() {
        let config = |interval: i32| {
            format!(
                "w :: WirelessInfo(INTERVAL {interval}); r :: AvailableRates;
                 BeaconSource(WIRELESS_INFO w, RT r) -> Discard"
            )
        };
        assert!(errors(&config(0)).contains("INTERVAL must be >0"), "{}", errors(&config(0)));
        let wrong = "w :: WirelessInfo; BeaconSource(WIRELESS_INFO w, RT w) -> Discard";
        assert!(errors(wrong).contains("'w' is not a AvailableRates element"), "{}", errors(wrong));
    }
}
