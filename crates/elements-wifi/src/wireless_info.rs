//! Says which wireless network other elements are of.
//!
//! ```click
//! WirelessInfo([SSID, BSSID, CHANNEL, INTERVAL, WEP])
//! ```
//!
//! Has no packets: elements that are named below look here for the network that their frames are of, which handlers
//! change while the router runs.
//!
//! Ports: none. Workers: shared.
//!
//! # Arguments
//! - `SSID` (string): the network's name.
//! - `BSSID` (Ethernet address, default 0:0:0:0:0:0): its access point's address.
//! - `CHANNEL` (integer, default -1): its channel; -1: none.
//! - `INTERVAL` (integer, default 100): time between beacons, in units of 1024 microseconds.
//! - `WEP` (boolean, default false): whether frames are encrypted.
//!
//! # Handlers
//! - `ssid`, `bssid`, `channel`, `interval`, `wep` (read, write): the arguments.
//! - `reset` (write): sets them to their defaults.
//!
//! # Example
//! ```click
//! w :: WirelessInfo(SSID lab, BSSID 0:1:2:3:4:5, CHANNEL 11);
//! InfiniteSource(LIMIT 1) -> WifiEncap(2, WIRELESS_INFO w) -> Discard;
//! ```
//!
//! # See also
//! WifiEncap, BeaconSource, OpenAuthResponder, AssociationResponder, ProbeRequester, OpenAuthRequester,
//! AssociationRequester, BeaconTracker

use router::{Class, Config, ConfigError, Element, Handlers, Residency};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use wire::MacAddr;

/// The class.
pub(crate) const CLASS: Class = Class::new("WirelessInfo", create)
    .ports("0/0")
    .residency(Residency::Shared)
    .doc(router::manual!("wireless_info.rs"));

/// What is known of a network. The address is looked at for each frame.
#[derive(Debug)]
pub(super) struct Network {
    name: Mutex<String>,
    address: AtomicU64,
    channel: AtomicI32,
    interval: AtomicI32,
    encrypted: AtomicBool,
}

impl Default for Network {
    fn default() -> Network {
        Network {
            name: Mutex::default(),
            address: AtomicU64::new(0),
            channel: AtomicI32::new(-1),
            interval: AtomicI32::new(100),
            encrypted: AtomicBool::new(false),
        }
    }
}

impl Network {
    /// Its access point's address.
    #[inline]
    pub(super) fn address(&self) -> MacAddr {
        let [_, _, octets @ ..] = self.address.load(Relaxed).to_be_bytes();
        MacAddr(octets)
    }

    fn set_address(&self, address: MacAddr) {
        let [a, b, c, d, e, f] = address.octets();
        self.address.store(u64::from_be_bytes([0, 0, a, b, c, d, e, f]), Relaxed);
    }

    /// Its name.
    pub(super) fn name(&self) -> String {
        self.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_name(&self, name: String) {
        *self.name.lock().unwrap_or_else(PoisonError::into_inner) = name;
    }

    /// Its channel; -1: none.
    pub(super) fn channel(&self) -> i32 {
        self.channel.load(Relaxed)
    }

    /// Time between beacons, in units of 1024 microseconds.
    pub(super) fn interval(&self) -> i32 {
        self.interval.load(Relaxed)
    }

    /// Whether data frames are encrypted.
    pub(super) fn encrypted(&self) -> bool {
        self.encrypted.load(Relaxed)
    }

    fn reset(&self) {
        let new = Network::default();
        self.set_name(new.name());
        self.set_address(new.address());
        self.channel.store(new.channel.into_inner(), Relaxed);
        self.interval.store(new.interval.into_inner(), Relaxed);
        self.encrypted.store(new.encrypted.into_inner(), Relaxed);
    }
}

struct WirelessInfo {
    network: Arc<Network>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut name, mut address) = (String::new(), MacAddr::ZERO);
    let (mut channel, mut interval, mut encrypted) = (-1, 100, false);
    config
        .args()
        .keyword("SSID", &mut name)
        .keyword("BSSID", &mut address)
        .keyword("CHANNEL", &mut channel)
        .keyword("INTERVAL", &mut interval)
        .keyword("WEP", &mut encrypted)
        .finish()?;
    let network = config.shared(|| {
        let network = Network {
            name: name.into(),
            channel: channel.into(),
            interval: interval.into(),
            encrypted: encrypted.into(),
            ..Network::default()
        };
        network.set_address(address);
        Ok(network)
    })?;
    Ok(Box::new(WirelessInfo { network }))
}

impl Element for WirelessInfo {
    fn handlers(&self, h: &mut Handlers) {
        type E = WirelessInfo;
        h.read("ssid", |e: &mut E, _| e.network.name());
        h.write("ssid", |e: &mut E, _, text| {
            e.network.set_name(text.to_owned());
            Ok(())
        });
        h.read("bssid", |e: &mut E, _| e.network.address());
        h.write("bssid", |e: &mut E, cx, text| {
            router::value(cx, text).map(|address| e.network.set_address(address))
        });
        h.read("channel", |e: &mut E, _| e.network.channel());
        h.write("channel", |e: &mut E, cx, text| {
            router::value(cx, text).map(|channel| e.network.channel.store(channel, Relaxed))
        });
        h.read("interval", |e: &mut E, _| e.network.interval());
        h.write("interval", |e: &mut E, cx, text| {
            router::value(cx, text).map(|interval| e.network.interval.store(interval, Relaxed))
        });
        h.read("wep", |e: &mut E, _| e.network.encrypted());
        h.write("wep", |e: &mut E, cx, text| {
            router::value(cx, text).map(|encrypted| e.network.encrypted.store(encrypted, Relaxed))
        });
        h.write("reset", |e: &mut E, _, _| {
            e.network.reset();
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::build;
    use router::{Call, Router};

    fn shown(router: &mut Router) -> String {
        ["ssid", "bssid", "channel", "interval", "wep"]
            .map(|name| router.call(Call::read(format!("w.{name}"), "")).unwrap())
            .join(" ")
    }

    #[test]
    fn handlers_change_and_reset_the_information() {
        let config =
            "w :: WirelessInfo(SSID \"my net\", BSSID 1:2:3:4:5:6, CHANNEL 6, WEP true); Idle -> Discard";
        let mut router = build(config, 1, 1).unwrap();
        assert_eq!(shown(&mut router), "my net 01-02-03-04-05-06 6 100 true");
        for (name, value) in
            [("ssid", "other"), ("bssid", "a:b:c:d:e:f"), ("channel", "11"), ("interval", "50")]
        {
            assert_eq!(router.call(Call::write(format!("w.{name}"), value)), Ok(String::new()));
        }
        assert_eq!(shown(&mut router), "other 0A-0B-0C-0D-0E-0F 11 50 true");
        assert_eq!(router.call(Call::write("w.reset", "")), Ok(String::new()));
        assert_eq!(shown(&mut router), " 00-00-00-00-00-00 -1 100 false");
    }
}
