//! Routes that change while packets are forwarded.

use super::table::{Table, route4, route6};
use fastrand::Rng;
use lpm::Prefix;
use router::{Call, Handle};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Every how-manieth prefix may change.
const CHANGING_ONE_IN: usize = 16;

/// The prefixes that change, for the checker: their route is one of two, or absent.
pub(super) fn changing<K: Copy + Eq + std::hash::Hash>(prefixes: &[Prefix<K>]) -> HashSet<Prefix<K>>
where
    Prefix<K>: Eq + std::hash::Hash,
{
    prefixes.iter().step_by(CHANGING_ONE_IN).copied().collect()
}

/// Changes routes at a steady rate: next hops replaced, prefixes withdrawn and announced again.
pub(super) struct Changes<'t> {
    table: &'t Table,
    handle: Handle,
    per_second: u64,
    seed: u64,
    made: AtomicU64,
}

impl<'t> Changes<'t> {
    pub(super) fn new(table: &'t Table, handle: Handle, per_second: u64, seed: u64) -> Self {
        Changes { table, handle, per_second, seed, made: AtomicU64::new(0) }
    }

    /// Changes made so far.
    pub(super) fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// Makes changes until `over`; the errors, of which there should be none.
    pub(super) fn run(&self, over: &AtomicBool) -> Vec<String> {
        let (mut rng, mut errors) = (Rng::with_seed(self.seed), Vec::new());
        let (mut gone4, mut gone6) = (None, None);
        let start = Instant::now();
        while self.per_second > 0 && !over.load(Ordering::Relaxed) {
            let due = (start.elapsed().as_secs_f64() * self.per_second as f64) as u64;
            if self.made() >= due {
                std::thread::sleep(Duration::from_micros(200));
                continue;
            }
            let done = if rng.u8(..4) == 0 && !self.table.v6.is_empty() {
                self.change(&mut rng, "routes6", &self.table.v6, &mut gone6, route6)
            } else if !self.table.v4.is_empty() {
                self.change(&mut rng, "routes4", &self.table.v4, &mut gone4, route4)
            } else {
                Ok(())
            };
            if let Err(error) = done {
                // At the end the router stops before this thread knows.
                if self.handle.info().halted() || errors.len() >= 10 {
                    break;
                }
                errors.push(error);
            }
            self.made.fetch_add(1, Ordering::Relaxed);
        }
        errors
    }

    /// One change: announces what the last one withdrew, or withdraws a prefix, or replaces a next hop.
    fn change<K: Copy>(
        &self,
        rng: &mut Rng,
        element: &str,
        prefixes: &[Prefix<K>],
        gone: &mut Option<Prefix<K>>,
        route: impl Fn(Prefix<K>, u32) -> String,
    ) -> Result<(), String> {
        if let Some(prefix) = gone.take() {
            return self.write(element, "add", route(prefix, rng.u32(..2)));
        }
        let changing = prefixes.len().div_ceil(CHANGING_ONE_IN);
        let prefix = prefixes[rng.usize(..changing) * CHANGING_ONE_IN];
        if rng.u8(..4) == 0 {
            *gone = Some(prefix);
            let text = route(prefix, 0);
            let address = text.split(' ').next().unwrap_or_default();
            return self.write(element, "remove", address.to_owned());
        }
        self.write(element, "set", route(prefix, rng.u32(..2)))
    }

    fn write(&self, element: &str, handler: &str, route: String) -> Result<(), String> {
        let call = Call::write(format!("{element}.{handler}"), route.clone());
        self.handle.call(call).map(drop).map_err(|error| format!("{element}.{handler} {route}: {error}"))
    }
}
