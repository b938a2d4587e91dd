//! At which rates stations of a wireless network can be reached: what an AvailableRates shares with others.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wire::MacAddr;

/// Most stations of which rates are kept, so that forged frames do not fill the memory.
const MOST: usize = 4096;

/// The table.
#[derive(Debug, Default)]
pub(super) struct Rates {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    default: Vec<i32>,
    stations: BTreeMap<[u8; 6], Vec<i32>>,
}

impl Table {
    fn insert(&mut self, station: MacAddr, rates: Vec<i32>) {
        let station = station.octets();
        if self.stations.len() < MOST || self.stations.contains_key(&station) {
            self.stations.insert(station, rates);
        }
    }
}

impl Rates {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rates of a station: its own, or the default ones if none are known.
    pub(super) fn of(&self, station: MacAddr) -> Vec<i32> {
        let table = self.table();
        table.stations.get(&station.octets()).unwrap_or(&table.default).clone()
    }

    /// Enters what an argument says: `DEFAULT` or a station, and rates.
    ///
    /// # Errors
    /// A sentence for the user.
    pub(super) fn enter(&self, text: &str) -> Result<(), String> {
        let mut words = text.split_whitespace();
        let (who, rates): (_, Vec<&str>) = (words.next().unwrap_or_default(), words.collect());
        if rates.is_empty() {
            return Err(format!("error param {text} must have > 1 arg"));
        }
        let wrong = || format!("error param {text}: rates must be integers");
        let rates =
            rates.iter().map(|rate| rate.parse().map_err(|_| wrong())).collect::<Result<_, String>>()?;
        if who == "DEFAULT" {
            self.table().default = rates;
            return Ok(());
        }
        let station =
            who.parse().map_err(|_| format!("error param {text}: must start with ethernet address"))?;
        self.table().insert(station, rates);
        Ok(())
    }

    /// Notes the rates that a station says it has; those that this host has not are left out, if it is known which it has.
    pub(super) fn note(&self, station: MacAddr, mut rates: Vec<i32>) {
        let mut table = self.table();
        if !table.default.is_empty() {
            rates.retain(|rate| table.default.contains(rate));
        }
        if station != MacAddr::ZERO {
            table.insert(station, rates);
        }
    }

    /// Forgets a station.
    pub(super) fn remove(&self, station: MacAddr) {
        self.table().stations.remove(&station.octets());
    }

    /// A line for the default rates and for each station.
    pub(super) fn lines(&self) -> String {
        let table = self.table();
        let mut text = String::new();
        let mut line = |who: &str, rates: &[i32]| {
            let rates: String = rates.iter().map(|rate| format!(" {rate}")).collect();
            let _ = writeln!(text, "{who} {rates}"); // writing to a string does not fail
        };
        if !table.default.is_empty() {
            line("DEFAULT", &table.default);
        }
        for (station, rates) in &table.stations {
            line(&MacAddr(*station).to_string(), rates);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_noted_entered_and_removed() {
        let rates = Rates::default();
        rates.note(MacAddr([1; 6]), vec![2, 99]);
        assert_eq!(rates.enter("DEFAULT 2 4  11"), Ok(()));
        assert_eq!(rates.enter("2:2:2:2:2:2 108"), Ok(()));
        rates.note(MacAddr([3; 6]), vec![11, 99, 2]);
        rates.note(MacAddr::ZERO, vec![2]);
        let lines =
            "DEFAULT  2 4 11\n01-01-01-01-01-01  2 99\n02-02-02-02-02-02  108\n03-03-03-03-03-03  11 2\n";
        assert_eq!(rates.lines(), lines);
        assert_eq!([3, 4].map(|n| rates.of(MacAddr([n; 6]))), [vec![11, 2], vec![2, 4, 11]]);
        rates.remove(MacAddr([1; 6]));
        assert!(!rates.lines().contains("01-01"));
        for wrong in ["", "DEFAULT", "x 2", "DEFAULT 2 y"] {
            assert!(rates.enter(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_table_of_stations_is_bounded() {
        let rates = Rates::default();
        for n in 0..MOST as u32 + 5 {
            let [a, b, c, d] = n.to_be_bytes();
            rates.note(MacAddr([9, 9, a, b, c, d]), vec![2]);
        }
        rates.note(MacAddr([9, 9, 0, 0, 0, 1]), vec![4]);
        assert_eq!(rates.table().stations.len(), MOST);
        assert!(rates.lines().contains("09-09-00-00-00-01  4\n"));
    }
}
