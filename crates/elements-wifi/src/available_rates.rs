//! Knows the rates of stations of a wireless network.
//!
//! ```click
//! AvailableRates(ENTRY, ...)
//! ```
//!
//! Has no packets: BeaconScanner, AssociationResponder and AssociationRequester note here the rates that they hear
//! of, and elements that send look here. Rates of 4096 stations have room.
//!
//! Ports: none. Workers: shared.
//!
//! # Arguments
//! - `ENTRY` (words): `DEFAULT` and the rates that this host has, or a station's Ethernet address and its rates; in
//!   units of 500 kbit/s.
//!
//! # Handlers
//! - `rates` (read): a line for the default rates and for each station.
//! - `insert` (write): adds an entry, in the form of the arguments.
//! - `remove` (write): an Ethernet address; forgets the station.
//! - `debug` (read, write): a boolean, without effect.
//!
//! # Example
//! ```click
//! rates :: AvailableRates(DEFAULT 2 4 11 22, 0:1:2:3:4:5 2 4);
//! ```
//!
//! # See also
//! BeaconScanner, SetTXRate

use super::rates::Rates;
use router::{Class, Config, ConfigError, Element, Handlers, Residency};
use std::sync::Arc;
use wire::MacAddr;

/// The class.
pub(crate) const CLASS: Class = Class::new("AvailableRates", create)
    .ports("0/0")
    .residency(Residency::Shared)
    .keeps("stations", "", 4096, 1200)
    .doc(router::manual!("available_rates.rs"));

struct AvailableRates {
    rates: Arc<Rates>,
    debug: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    // Words by themselves: DEFAULT and addresses that begin with a letter look like keywords.
    let mut entries: Vec<String> = Vec::new();
    config.args().rest(&mut entries).finish()?;
    let rates = config.shared(|| {
        let rates = Rates::default();
        for entry in &entries {
            rates.enter(entry)?;
        }
        Ok(rates)
    })?;
    Ok(Box::new(AvailableRates { rates, debug: false }))
}

impl Element for AvailableRates {
    fn handlers(&self, h: &mut Handlers) {
        type E = AvailableRates;
        h.read("rates", |e: &mut E, _| e.rates.lines());
        h.write("insert", |e: &mut E, _, text| e.rates.enter(text));
        h.write("remove", |e: &mut E, cx, text| {
            router::value::<MacAddr>(cx, text).map(|station| e.rates.remove(station))
        });
        h.read("debug", |e: &mut E, _| e.debug);
        h.write("debug", |e: &mut E, cx, text| router::value(cx, text).map(|debug| e.debug = debug));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build, errors};
    use router::Call;

    #[test]
    fn handlers_insert_and_remove_rates() {
        let config = "r :: AvailableRates(DEFAULT 2 4, a:b:c:d:e:f 22, 1:2:3:4:5:6 2); Idle -> Discard";
        let mut router = build(config, 2, 1).unwrap();
        assert_eq!(router.call(Call::write("r.insert", "3:3:3:3:3:3 11")), Ok(String::new()));
        assert_eq!(router.call(Call::write("r.remove", "1:2:3:4:5:6")), Ok(String::new()));
        let rates = "DEFAULT  2 4\n03-03-03-03-03-03  11\n0A-0B-0C-0D-0E-0F  22\n";
        assert_eq!(router.call(Call::read("r.rates", "")), Ok(rates.to_owned()));
        let wrong = "AvailableRates(DEFAULT); Idle -> Discard";
        assert!(errors(wrong).contains("error param DEFAULT must have > 1 arg"), "{}", errors(wrong));
    }
}
