//! A network between hosts and routers: a switch that learns who is where, and the wires to it.

use crate::datagram::Mac;
use std::collections::BTreeMap;

/// Where a frame comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Station {
    /// A host, by its number.
    Host(usize),
    /// An interface of a router, by both numbers.
    Port(usize, usize),
}

/// A switch with its wires, and their weather.
#[derive(Clone, Debug)]
pub struct Link {
    /// What stories call it.
    pub name: String,
    /// Who is at it.
    pub stations: Vec<Station>,
    /// How long a frame takes.
    pub delay_ns: i64,
    /// How much longer it may take, so that later frames overtake it.
    pub jitter_ns: i64,
    /// Of a thousand frames, so many are lost.
    pub loss: u32,
    /// Whether it carries anything.
    pub up: bool,
    /// Whether the model says what its weather does, so that nothing that is lost here is excused.
    pub is_modelled: bool,
    /// Whether the model reads what is sent into it, at its end.
    pub is_read: bool,
    /// Behind which station each Ethernet address was seen.
    seen: BTreeMap<Mac, Station>,
}

impl Link {
    /// A link in good order that takes 10 µs.
    pub fn new(name: &str, stations: Vec<Station>) -> Link {
        Link {
            name: name.to_owned(),
            stations,
            delay_ns: 10_000,
            jitter_ns: 0,
            loss: 0,
            up: true,
            is_modelled: false,
            is_read: false,
            seen: BTreeMap::new(),
        }
    }

    /// To whom a frame goes from a station: to one if its Ethernet address is known, otherwise to all others.
    pub fn targets(&mut self, from: Station, frame: &[u8]) -> Vec<Station> {
        let mac =
            |at: usize| frame.get(at..at + 6).and_then(|mac| Mac::try_from(mac).ok()).unwrap_or_default();
        self.seen.insert(mac(6), from);
        let known = self.seen.get(&mac(0)).filter(|_| mac(0)[0] & 1 == 0);
        match known {
            Some(&to) => [to].into_iter().filter(|&to| to != from).collect(),
            None => self.stations.iter().copied().filter(|&to| to != from).collect(),
        }
    }

    /// When a frame that is sent now comes out; `None` if it is lost.
    pub fn carry(&self, now_ns: i64, rng: &mut fastrand::Rng) -> Option<i64> {
        let lost = !self.up || self.loss > 0 && rng.u32(..1000) < self.loss;
        let jitter = if self.jitter_ns > 0 { rng.i64(..self.jitter_ns) } else { 0 };
        (!lost).then_some(now_ns + self.delay_ns + jitter)
    }

    /// Whether every frame arrives, in order.
    pub fn is_good(&self) -> bool {
        self.up && self.loss == 0 && self.jitter_ns == 0
    }
}
