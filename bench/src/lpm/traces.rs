//! Addresses to look up.

use super::family::Family;
use lpm::Prefix;

/// Addresses in a trace.
pub(super) const LEN: usize = 1 << 20;

/// How addresses are drawn.
pub(super) const NAMES: [&str; 3] = ["uniform", "prefixes", "zipf"];

/// Draws a trace of each kind: all addresses alike (IPv6: those of 2000::/3, elsewhere nothing is routed); all prefixes
/// alike, and all addresses in one; prefixes by Zipf's law with exponent 1, in an order that is shuffled.
pub(super) fn draw<K: Family>(prefixes: &[Prefix<K>], seed: u64) -> [Vec<K>; 3] {
    let mut rng = fastrand::Rng::with_seed(seed);
    let uniform = (0..LEN).map(|_| K::any(&mut rng)).collect();
    let weighted = (0..LEN).map(|_| inside(prefixes[rng.usize(..prefixes.len())], &mut rng)).collect();
    let mut order: Vec<usize> = (0..prefixes.len()).collect();
    rng.shuffle(&mut order);
    let mut total = 0.0;
    let sums: Vec<f64> = (1..=prefixes.len())
        .map(|rank| {
            total += 1.0 / rank as f64;
            total
        })
        .collect();
    let zipf = (0..LEN)
        .map(|_| {
            let drawn = rng.f64() * total;
            let rank = sums.partition_point(|&sum| sum < drawn).min(order.len() - 1);
            inside(prefixes[order[rank]], &mut rng)
        })
        .collect();
    [uniform, weighted, zipf]
}

/// An address inside a prefix.
fn inside<K: Family>(prefix: Prefix<K>, rng: &mut fastrand::Rng) -> K {
    let (first, last) = (prefix.addr().to_left(), prefix.last().to_left());
    K::from_left(first | rng.u128(..) & (first ^ last))
}
