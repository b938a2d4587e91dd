//! Turns Ethernet frames into wireless frames.
//!
//! ```click
//! WifiEncap(MODE [, BSSID, WIRELESS_INFO, DEBUG])
//! ```
//!
//! Takes the Ethernet header of packets off and puts an IEEE 802.2 header with its type, and an IEEE 802.11 header of
//! a data frame with its addresses in front instead. Sequence numbers are the interface's matter. Packets that end
//! before an Ethernet header does are dropped, and so is everything while MODE is above 3.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `MODE` (integer): where frames go: 0, from station to station; 1, from a station to its access point; 2, from an access point to a
//!   station; 3, from one access point to another, but with three addresses, as in Click.
//! - `BSSID` (Ethernet address, default 0:0:0:0:0:0): the network, which is its access point's address.
//! - `WIRELESS_INFO` (name of a WirelessInfo): says the network instead of BSSID.
//! - `DEBUG` (boolean, default false): without effect, as in Click.
//!
//! # Handlers
//! - `mode`, `bssid`, `debug` (read, write): the arguments.
//!
//! # Example
//! ```click
//! w :: WirelessInfo(SSID lab, BSSID 0:1:2:3:4:5);
//! FromHost(radio) -> WifiEncap(1, WIRELESS_INFO w) -> Queue -> SetTXRate(22) -> RadiotapEncap -> ToDevice(mon0);
//! ```
//!
//! # See also
//! WifiDecap, WirelessInfo, RadiotapEncap, ExtraEncap

use super::reasons::{NO_HEADER, NO_ROOM};
use super::wireless_info::Network;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, ElementName, Handlers, PerPacket, Simple, Verdict};
use std::sync::Arc;
use wire::MacAddr;
use wire::ethernet;
use wire::ieee80211::{Direction, Ends, HEADER_LEN, Header, SNAP, SNAP_LEN};

/// The class.
pub(crate) const CLASS: Class = Class::new("WifiEncap", create).live().doc(router::manual!("wifi_encap.rs"));

struct WifiEncap {
    mode: u32,
    address: MacAddr,
    debug: bool,
    info: Option<ElementName>,
    /// Set by `initialize`.
    network: Option<Arc<Network>>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut mode, mut address, mut debug, mut info) = (0, MacAddr::ZERO, false, None::<ElementName>);
    config
        .args()
        .required("MODE", &mut mode)
        .positional("BSSID", &mut address)
        .keyword("WIRELESS_INFO", &mut info)
        .keyword("DEBUG", &mut debug)
        .finish()?;
    Ok(Box::new(PerPacket(WifiEncap { mode, address, debug, info, network: None })))
}

impl WifiEncap {
    /// Puts the headers in front of the contents of an Ethernet frame; or says why it is dropped.
    #[inline]
    fn encapsulate(&self, packet: &mut Packet) -> Result<(), &'static str> {
        if self.mode > 3 {
            return Err("invalid mode");
        }
        let header = ethernet::Header::new_checked(packet.data()).map_err(|_| NO_HEADER)?;
        let network = self.network.as_ref().map_or(self.address, |network| network.address());
        let ends = Ends { dst: header.dst(), src: header.src(), network };
        let [high, low] = header.ether_type().to_be_bytes();
        let _ = packet.pull(ethernet::HEADER_LEN);
        let link: &mut [u8; SNAP_LEN] = packet.push_array().ok_or(NO_ROOM)?;
        let [a, b, c, d, e, f] = SNAP;
        *link = [a, b, c, d, e, f, high, low];
        let place: &mut [u8; HEADER_LEN] = packet.push_array().ok_or(NO_ROOM)?;
        Header::new(place).set_data(Direction::new(self.mode as u8), ends);
        Ok(())
    }
}

impl Simple for WifiEncap {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if let Some(info) = &self.info {
            self.network = Some(cx.shared_of(&info.name, "WirelessInfo")?);
        }
        Ok(())
    }

    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.encapsulate(packet).map_or_else(Verdict::Drop, |()| Verdict::Pass)
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = WifiEncap;
        h.read("mode", |e: &mut E, _| e.mode);
        h.write("mode", |e: &mut E, cx, text| router::value(cx, text).map(|mode| e.mode = mode));
        h.read("bssid", |e: &mut E, _| e.address);
        h.write("bssid", |e: &mut E, cx, text| router::value(cx, text).map(|address| e.address = address));
        h.read("debug", |e: &mut E, _| e.debug);
        h.write("debug", |e: &mut E, cx, text| router::value(cx, text).map(|debug| e.debug = debug));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send;

    #[test]
    fn each_mode_has_its_order_of_addresses() {
        let frame = [&[1; 6][..], &[2; 6], &[8, 6, 99]].concat();
        for (mode, order) in [(0, [1, 2, 9]), (1, [9, 2, 1]), (2, [1, 9, 2]), (3, [1, 2, 9])] {
            let config = format!("Inject -> WifiEncap({mode}, 9:9:9:9:9:9) -> Collect(0)");
            let flow = send(&config, [frame.clone(), frame[..13].to_vec()]);
            let [one, two, three] = order.map(|n| [n; 6]);
            let rest = [0, 0, 0xaa, 0xaa, 3, 0, 0, 0, 8, 6, 99];
            assert_eq!(flow.data(0), [[&[8, mode, 0, 0][..], &one, &two, &three, &rest].concat()]);
            assert_eq!(flow.drops(), [("no IEEE 802.11 header", 1)]);
        }
        let flow = send("Inject -> WifiEncap(4) -> Collect(0)", [frame]);
        assert_eq!(flow.drops(), [("invalid mode", 1)]);
    }

    #[test]
    fn network_of_another_element() {
        let frame = [&[1; 6][..], &[2; 6], &[8, 6, 99]].concat();
        let config =
            "w :: WirelessInfo(BSSID 7:7:7:7:7:7); Inject -> WifiEncap(1, WIRELESS_INFO w) -> Collect(0)";
        assert_eq!(send(config, [frame]).only(0).data()[4..10], [7; 6]);
        let wrong = "n :: Null; Idle -> WifiEncap(1, WIRELESS_INFO n) -> n -> Discard";
        assert!(errors(wrong).contains("'n' is not a WirelessInfo element"), "{}", errors(wrong));
    }
}
