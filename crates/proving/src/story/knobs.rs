//! The choices that make one of a family's configurations.

use std::collections::BTreeMap;

/// A choice that a family offers. Position 0 is the plainest.
#[derive(Clone, Copy, Debug)]
pub struct Knob {
    /// Its name.
    pub name: &'static str,
    /// How many positions it has.
    pub positions: u32,
    /// Whether it can be turned while the router runs: by a hot swap.
    pub live: bool,
}

/// The positions of knobs; of those that are not here, 0. A knob that a family gets later leaves old stories as they were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Knobs {
    positions: BTreeMap<String, u32>,
}

impl Knobs {
    /// The position of a knob.
    pub fn get(&self, name: &str) -> u32 {
        self.positions.get(name).copied().unwrap_or(0)
    }

    /// Turns a knob.
    pub fn set(&mut self, name: &str, position: u32) {
        match position {
            0 => self.positions.remove(name),
            _ => self.positions.insert(name.to_owned(), position),
        };
    }

    /// With a knob turned.
    pub fn with(&self, name: &str, position: u32) -> Knobs {
        let mut knobs = self.clone();
        knobs.set(name, position);
        knobs
    }

    /// The knobs that are not at 0.
    pub fn turned(&self) -> impl Iterator<Item = (&str, u32)> {
        self.positions.iter().map(|(name, &position)| (name.as_str(), position))
    }
}
