//! What a packet costs whose route, next hop and neighbour are looked up each, and one for which a table by destination has all three.
//!
//! An entry of that table counts as long as neither its region of addresses has another route nor its neighbour another address: it holds a
//! number of each, as the paper's flow table would need without its references (Li, Qing, Macy, section 5). With churn, a route
//! changes after every 10,000 packets, so about a thousand times a second.

use super::{Arguments, Book};
use flows::{Destination4, HashKey, Limits, Table};
use lpm::{Prefix, Routes, Table4, import};
use rcu::{Domain, Turn, Weigh};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const BATCH: usize = 32;
const NEXT_HOPS: u32 = 256;
const REGION_BITS: u32 = 12;
/// Packets between two changes of routes.
const CALM: usize = 10_000;
const NOW: i64 = 1;

#[derive(Clone, Copy)]
struct Hop {
    gateway: u32,
    port: u32,
}

impl Weigh for Hop {
    fn heap_bytes(&self) -> usize {
        0
    }
}

/// What is remembered of a destination.
#[derive(Clone, Copy, Default)]
struct Entry {
    port: u32,
    next_hop: u32,
    mac: [u8; 6],
    route_number: u64,
    neighbour_number: u64,
}

/// Routes, next hops and neighbours.
struct World {
    routes: Table4,
    hops: Routes<Hop>,
    neighbours: Table<Destination4, [u8; 6]>,
    regions: Vec<AtomicU64>,
    neighbour_numbers: Vec<AtomicU64>,
}

impl World {
    fn new(prefixes: &[Prefix<u32>]) -> Result<World, String> {
        let domain = Domain::global();
        let (routes, hops) = (Table4::new(domain), Routes::new(domain));
        let limits = Limits { unconfirmed: NEXT_HOPS as usize, ..Limits::new(NEXT_HOPS as usize) };
        let mut neighbours = Table::new(limits, HashKey::new(5));
        for number in 0..NEXT_HOPS {
            let gateway = 0x0a00_0000 | number;
            hops.insert(Hop { gateway, port: number % 4 }).map_err(|error| error.to_string())?;
            let (key, mac) = (Destination4(gateway), [2, 0, 0, 0, 0, number as u8]);
            neighbours.insert(neighbours.hash(&key), key, mac, NOW).map_err(|error| error.to_string())?;
        }
        let spread = |prefix: &Prefix<u32>| (prefix.addr() >> 8).wrapping_mul(0x9e37_79b1) >> 24;
        let all = prefixes.iter().map(|prefix| (*prefix, spread(prefix) % NEXT_HOPS));
        routes.replace_all(all).map_err(|error| error.to_string())?;
        let numbers = |count: usize| (0..count).map(|_| AtomicU64::new(1)).collect();
        Ok(World {
            routes,
            hops,
            neighbours,
            regions: numbers(1 << REGION_BITS),
            neighbour_numbers: numbers(NEXT_HOPS as usize),
        })
    }

    /// Route, next hop and neighbour of some addresses.
    #[inline]
    fn look_up(&mut self, addresses: &[u32], found: &mut [Entry], turn: Turn<'_>) {
        let mut ids = [lpm::NONE; BATCH];
        self.routes.lookup_batch(addresses, &mut ids[..addresses.len()], turn);
        for ((found, &id), &address) in found.iter_mut().zip(&ids).zip(addresses) {
            *found = Entry::default();
            let Some(&hop) = self.hops.get(id, turn) else { continue };
            let gateway = Destination4(hop.gateway);
            let slot = self.neighbours.find(self.neighbours.hash(&gateway), &gateway);
            let mac = slot.and_then(|slot| self.neighbours.value(slot)).copied().unwrap_or_default();
            let route_number = self.regions[(address >> (32 - REGION_BITS)) as usize].load(Ordering::Acquire);
            let neighbour_number = self.neighbour_numbers[id as usize].load(Ordering::Acquire);
            *found = Entry { port: hop.port, next_hop: id, mac, route_number, neighbour_number };
        }
    }

    #[inline]
    fn is_current(&self, address: u32, entry: &Entry) -> bool {
        let route = &self.regions[(address >> (32 - REGION_BITS)) as usize];
        let neighbour = &self.neighbour_numbers[entry.next_hop as usize % NEXT_HOPS as usize];
        route.load(Ordering::Acquire) == entry.route_number
            && neighbour.load(Ordering::Acquire) == entry.neighbour_number
    }

    /// A route changes, as far as who remembers routes is concerned.
    fn change(&self, rng: &mut fastrand::Rng) {
        self.regions[rng.usize(..self.regions.len())].fetch_add(1, Ordering::Release);
    }
}

/// The paths for all addresses, one packet each; something that depends on what was found.
fn split(world: &mut World, addresses: &[u32], churn: bool, turn: Turn<'_>) -> u64 {
    let (mut found, mut sum, mut rng) = ([Entry::default(); BATCH], 0u64, fastrand::Rng::with_seed(1));
    for (at, batch) in addresses.chunks(BATCH).enumerate() {
        if churn && (at * BATCH) % CALM < BATCH {
            world.change(&mut rng);
        }
        world.look_up(batch, &mut found, turn);
        sum += found[..batch.len()]
            .iter()
            .map(|entry| u64::from(entry.port) + u64::from(entry.mac[5]))
            .sum::<u64>();
    }
    sum
}

/// The same with a table of destinations, and how many it knew.
fn cached(
    world: &mut World,
    table: &mut Table<Destination4, Entry>,
    addresses: &[u32],
    churn: bool,
    turn: Turn<'_>,
) -> (u64, usize) {
    let (mut wanted, mut slots) = ([(0, Destination4(0)); BATCH], [None; BATCH]);
    let (mut missing, mut places, mut found) = ([0; BATCH], [0; BATCH], [Entry::default(); BATCH]);
    let (mut sum, mut hits, mut rng) = (0u64, 0, fastrand::Rng::with_seed(1));
    for (at, batch) in addresses.chunks(BATCH).enumerate() {
        if churn && (at * BATCH) % CALM < BATCH {
            world.change(&mut rng);
        }
        for (wanted, &address) in wanted.iter_mut().zip(batch) {
            let key = Destination4(address);
            *wanted = (table.hash(&key), key);
        }
        table.find_batch(&wanted[..batch.len()], &mut slots);
        table.expire(NOW, 2, &mut |_, _| ());
        let mut count = 0;
        for (number, (&address, slot)) in batch.iter().zip(&slots).enumerate() {
            let entry = slot.and_then(|slot| table.meet(slot, NOW)).copied();
            match entry.filter(|entry| world.is_current(address, entry)) {
                Some(entry) => {
                    hits += 1;
                    sum += u64::from(entry.port) + u64::from(entry.mac[5]);
                }
                None => {
                    (missing[count], places[count]) = (address, number);
                    count += 1;
                }
            }
        }
        world.look_up(&missing[..count], &mut found, turn);
        for (entry, &number) in found.iter().zip(&places[..count]) {
            sum += u64::from(entry.port) + u64::from(entry.mac[5]);
            let (hash, key) = wanted[number];
            match slots[number].and_then(|slot| table.value_mut(slot)) {
                Some(value) => *value = *entry,
                // Two packets of a batch may have the same new destination: the second is refused.
                None => drop(table.insert(hash, key, *entry, NOW)),
            }
        }
    }
    (sum, hits)
}

/// Destinations inside the prefixes of the table.
fn destinations(prefixes: &[Prefix<u32>], count: usize) -> Vec<u32> {
    let mut rng = fastrand::Rng::with_seed(3);
    let inside = |prefix: Prefix<u32>, rng: &mut fastrand::Rng| {
        prefix.addr() | rng.u32(..) & u32::MAX.checked_shr(prefix.len().into()).unwrap_or(0)
    };
    (0..count).map(|_| inside(prefixes[rng.usize(..prefixes.len())], &mut rng)).collect()
}

/// Packets to these destinations: by Zipf's law with exponent 1, or all alike.
fn packets(destinations: &[u32], count: usize, zipf: bool) -> Vec<u32> {
    let mut rng = fastrand::Rng::with_seed(4);
    if !zipf {
        return (0..count).map(|_| destinations[rng.usize(..destinations.len())]).collect();
    }
    let mut total = 0.0;
    let sums: Vec<f64> = (1..=destinations.len())
        .map(|rank| {
            total += 1.0 / rank as f64;
            total
        })
        .collect();
    let rank = |drawn: f64| sums.partition_point(|&sum| sum < drawn).min(destinations.len() - 1);
    (0..count).map(|_| destinations[rank(rng.f64() * total)]).collect()
}

/// Measures both paths, interleaved.
pub(super) fn measure(
    arguments: &Arguments,
    runs: usize,
    count: usize,
    sizes: &[usize],
    book: &mut Book,
) -> Result<(), String> {
    let list = import::read_file(&arguments.routes, import::Options::default())
        .map_err(|error| error.to_string())?;
    let step = if arguments.tiny { 101 } else { 1 };
    let prefixes: Vec<_> = list.v4.iter().step_by(step).map(|(prefix, _)| *prefix).collect();
    let mut world = World::new(&prefixes)?;
    let guard = Domain::global().guard();
    for &size in sizes {
        let destinations = destinations(&prefixes, size);
        for (zipf, churn, what) in [
            (true, false, "zipf"),
            (true, true, "zipf-churn"),
            (false, false, "uniform"),
            (false, true, "uniform-churn"),
        ] {
            let packets = packets(&destinations, count, zipf);
            let room = size + size / 4;
            let mut table = Table::new(Limits { unconfirmed: room, ..Limits::new(room) }, HashKey::new(7));
            // Each destination twice, so that all are known and established.
            for _ in 0..2 {
                cached(&mut world, &mut table, &destinations, false, guard.turn());
            }
            for _ in 0..runs {
                let start = Instant::now();
                let plain = split(&mut world, &packets, churn, guard.turn());
                let ns = start.elapsed().as_nanos() as f64 / count as f64;
                book.of(("split", what, size, 1)).ns.push(ns);
                let start = Instant::now();
                let (sum, hits) = cached(&mut world, &mut table, &packets, churn, guard.turn());
                let series = book.of(("cached", what, size, 1));
                series.ns.push(start.elapsed().as_nanos() as f64 / count as f64);
                series.hits = Some(hits as f64 / count as f64);
                series.bytes = Some(table.bytes() as f64 / table.limits().capacity as f64);
                if sum != plain {
                    return Err("both paths must lead to the same next hops".to_owned());
                }
            }
        }
    }
    Ok(())
}
