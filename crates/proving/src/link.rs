//! A wire between hosts and routers: what one sends, all others hear.

/// Where a frame comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Station {
    /// A host, by its number.
    Host(usize),
    /// An interface of a router, by both numbers.
    Port(usize, usize),
}

/// A wire and its weather.
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
}

impl Link {
    /// A wire in good order that takes 10 µs.
    pub fn new(name: &str, stations: Vec<Station>) -> Link {
        Link { name: name.to_owned(), stations, delay_ns: 10_000, jitter_ns: 0, loss: 0, up: true }
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
