//! How fast routes change, and what lookups take meanwhile.

use super::family::Family;
use super::traces;
use crate::rcu::{Bound, Spread, processor_time};
use lpm::{Prefix, Table};
use rcu::Domain;
use serde::Serialize;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// Figures of one table. Times are those of the processor, so that others on the machine count little.
#[derive(Serialize)]
pub(super) struct Figure {
    family: &'static str,
    prefixes: usize,
    /// Putting all routes into an empty table.
    build_s: Spread,
    /// Giving single prefixes another next hop.
    replacements_per_s: Spread,
    /// Withdrawing single prefixes and announcing them again; both count.
    single_changes_per_s: Spread,
    /// Withdrawing everything, and announcing it again.
    reset_s: Spread,
    /// Nanoseconds a lookup, in batches of 32, prefixes all alike, without a writer.
    idle_ns: Spread,
    /// The same while another thread makes single changes as fast as it can.
    changing_ns: Spread,
    /// The rate of lookups while routes change, to that of idle, round by round.
    kept: Option<Spread>,
    /// Nanoseconds a lookup while another thread withdraws everything and announces it again, over and over.
    resetting_ns: Spread,
    /// The rate of lookups meanwhile, to that of idle, round by round.
    kept_resetting: Option<Spread>,
    /// Nanoseconds a lookup on each of two processors that look up at once.
    two_ns: Spread,
    /// The rate of both to that of one, round by round.
    two_processors: Option<Spread>,
}

type Routes<K> = [(Prefix<K>, u32)];

pub(super) fn measure<K: Family>(routes: &Routes<K>, rounds: usize, tiny: bool) -> Result<Figure, String> {
    let mut rng = fastrand::Rng::with_seed(2);
    let count = if tiny { 1_000 } else { 100_000 };
    let (mut build, mut replace, mut single, mut reset) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let table = Table::new(Domain::global());
    announce(&table, routes).map_err(|e| e.to_string())?;
    for _ in 0..rounds {
        let fresh = Table::new(Domain::global());
        build.push(seconds(|| announce(&fresh, routes))?);
        let picked: Vec<_> = (0..count).map(|_| routes[rng.usize(..routes.len())]).collect();
        let other = |id: u32| if id == 0 { 1 } else { id - 1 };
        let took = seconds(|| {
            picked.iter().try_for_each(|&(prefix, id)| table.insert(prefix, other(id)).map(|_| ()))
        })?;
        replace.push(count as f64 / took);
        single.push(2.0 * count as f64 / seconds(|| flap(&table, &picked))?);
        announce(&table, routes).map_err(|e| e.to_string())?;
        reset.push(seconds(|| {
            table.apply(routes.iter().map(|&(prefix, _)| (prefix, None)))?;
            table.apply(routes.iter().map(|&(prefix, id)| (prefix, Some(id))))
        })?);
    }
    let Meanwhile { idle, changing, resetting, two } =
        meanwhile(&table, routes, rounds, if tiny { 1 } else { 100 })?;
    let twice: Vec<f64> = idle.iter().map(|ns| 2.0 * ns).collect();
    Ok(Figure {
        family: K::NAME,
        prefixes: routes.len(),
        build_s: Spread::of(&build),
        replacements_per_s: Spread::of(&replace),
        single_changes_per_s: Spread::of(&single),
        reset_s: Spread::of(&reset),
        idle_ns: Spread::of(&idle),
        changing_ns: Spread::of(&changing),
        kept: Spread::of_ratios(&idle, &changing),
        resetting_ns: Spread::of(&resetting),
        kept_resetting: Spread::of_ratios(&idle, &resetting),
        two_ns: Spread::of(&two),
        two_processors: Spread::of_ratios(&twice, &two),
    })
}

fn announce<K: Family>(table: &Table<K>, routes: &Routes<K>) -> Result<(), lpm::TableError> {
    table.apply(routes.iter().map(|&(prefix, id)| (prefix, Some(id))))
}

fn flap<K: Family>(table: &Table<K>, picked: &Routes<K>) -> Result<(), lpm::TableError> {
    picked.iter().try_for_each(|&(prefix, id)| {
        table.remove(prefix)?;
        table.insert(prefix, id).map(|_| ())
    })
}

fn seconds(run: impl FnOnce() -> Result<(), lpm::TableError>) -> Result<f64, String> {
    let start = processor_time();
    run().map_err(|e| e.to_string())?;
    Ok((processor_time() - start).as_secs_f64())
}

/// Nanoseconds a lookup on the first processor, round by round.
#[derive(Default)]
struct Meanwhile {
    /// While no other thread does anything.
    idle: Vec<f64>,
    /// While another thread makes single changes.
    changing: Vec<f64>,
    /// While another thread resets the session.
    resetting: Vec<f64>,
    /// While another thread looks up, too; the mean of both.
    two: Vec<f64>,
}

fn meanwhile<K: Family>(
    table: &Table<K>,
    routes: &Routes<K>,
    rounds: usize,
    ms: u64,
) -> Result<Meanwhile, String> {
    let prefixes: Vec<_> = routes.iter().map(|&(prefix, _)| prefix).collect();
    let [_, addrs, _] = traces::draw(&prefixes, 3);
    let mut found = Meanwhile::default();
    let mut rng = fastrand::Rng::with_seed(5);
    for _ in 0..rounds {
        let alone = || read(table, &addrs, ms, 0);
        found.idle.push(alone());
        found.changing.push(beside(alone, || flap(table, &[routes[rng.usize(..routes.len())]]))?);
        found.resetting.push(beside(alone, || {
            table.apply(routes.iter().map(|&(prefix, _)| (prefix, None)))?;
            announce(table, routes)
        })?);
        let both = thread::scope(|scope| {
            let other = scope.spawn(|| read(table, &addrs, ms, 1));
            let here = alone();
            other.join().map(|there| f64::midpoint(here, there))
        });
        found.two.push(both.map_err(|_| "a reader panicked".to_owned())?);
    }
    Ok(found)
}

/// What `reading` finds while another thread writes, on the second processor.
fn beside(
    reading: impl Fn() -> f64,
    mut write: impl FnMut() -> Result<(), lpm::TableError> + Send,
) -> Result<f64, String> {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let _bound = Bound::to(1);
            while !stop.load(Relaxed) {
                write()?;
            }
            Ok(())
        });
        let ns = reading();
        stop.store(true, Relaxed);
        writer.join().unwrap_or(Ok(())).map_err(|e: lpm::TableError| e.to_string()).map(|()| ns)
    })
}

/// Nanoseconds a lookup of a worker on this processor, which reports a quiescent state after every 32 batches.
fn read<K: Family>(table: &Table<K>, addrs: &[K], ms: u64, processor: usize) -> f64 {
    let _bound = Bound::to(processor);
    let mut reader = Domain::global().register("lookups");
    let mut out = [0; 32];
    let mut lookups = 0;
    let start = processor_time();
    let mut took = Duration::ZERO;
    let pieces = addrs.chunks_exact(1024).cycle();
    for piece in pieces {
        for addrs in piece.chunks_exact(32) {
            table.lookup_batch(addrs, &mut out, reader.turn());
            black_box(&out);
        }
        reader.quiescent();
        lookups += piece.len();
        if lookups % (1 << 15) == 0 {
            took = processor_time() - start;
            if took >= Duration::from_millis(ms) {
                break;
            }
        }
    }
    took.as_nanos() as f64 / lookups as f64
}

impl Figure {
    pub(super) fn print(&self) {
        println!(
            "{}: {} prefixes built in {:.3} s; {:.2} M replacements/s; {:.2} M withdrawals and announcements/s; all withdrawn \
             and announced again in {:.3} s; lookups {:.2} ns idle, {:.2} ns while routes change ({:.3} of the rate), {:.2} ns while \
             all are reset ({:.3} of the rate); two processors look up {:.2} times as much as one",
            self.family,
            self.prefixes,
            self.build_s.median,
            self.replacements_per_s.median / 1e6,
            self.single_changes_per_s.median / 1e6,
            self.reset_s.median,
            self.idle_ns.median,
            self.changing_ns.median,
            self.kept.map_or(0.0, |kept| kept.median),
            self.resetting_ns.median,
            self.kept_resetting.map_or(0.0, |kept| kept.median),
            self.two_processors.map_or(0.0, |rate| rate.median)
        );
    }
}
