//! What the designs would reach on more processors than this machine has.
//!
//! Gunther's scalability law with contention alone: of the time t that a packet takes one thread, s passes while no other thread gets on, so n threads
//! reach n / (t + (n - 1) s). Two measured rates, of one thread and of two, give both. Transfers of cache lines between more than two processors are
//! not in it, so it flatters locks.

use serde::Serialize;

/// Processors for which rates are computed.
const PROCESSORS: [usize; 4] = [2, 4, 8, 16];

/// A computed rate.
#[derive(Serialize)]
pub(super) struct Modelled {
    pub(super) design: &'static str,
    pub(super) processors: usize,
    pub(super) mpps: f64,
    /// The part of a packet's time in which no other thread gets on; above 1 where two threads are slower than one.
    serial_share: f64,
}

/// The rates of a design, in million packets a second, of which one thread reaches `one` and two reach `two`, each on a processor of its own.
pub(super) fn rates(design: &'static str, one: f64, two: f64) -> impl Iterator<Item = Modelled> {
    let alone = 1.0 / one;
    let serial = (2.0 / two - alone).max(0.0);
    PROCESSORS.into_iter().map(move |processors| {
        let mpps = processors as f64 / (alone + (processors - 1) as f64 * serial);
        Modelled { design, processors, mpps, serial_share: serial / alone }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is measured comes out again; without a serial part each processor adds as much; with one lock for all, the rate stays.
    #[test]
    fn rates_pass_through_what_was_measured() {
        let of =
            |one, two| rates("any", one, two).map(|m| (m.processors, m.mpps.round())).collect::<Vec<_>>();
        assert_eq!(of(10.0, 20.0), [(2, 20.0), (4, 40.0), (8, 80.0), (16, 160.0)]);
        assert_eq!(of(10.0, 10.0), [(2, 10.0), (4, 10.0), (8, 10.0), (16, 10.0)]);
        assert_eq!(of(10.0, 16.0), [(2, 16.0), (4, 23.0), (8, 29.0), (16, 34.0)]);
        assert_eq!(of(10.0, 25.0)[3], (16, 160.0), "caches may make two quicker than twice one");
    }
}
