//! Traffic: how much goes from where to where, in packets of which size, in which flows.

use crate::NodeId;
use crate::topology::Topology;
use fastrand::Rng;
use serde::Serialize;

/// How much goes from where to where.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Matrix {
    /// From each terminal the same to each other.
    Uniform,
    /// From each terminal all to one, a different one for each; at random.
    Permutation,
    /// From each terminal half to terminal 0, the rest evenly to the others: more than its port can carry.
    HotSpot,
    /// A permutation that is hard for the topology when packets go straight: all to the next terminal in a mesh, half way
    /// round in a torus, by turned digits in a fly.
    Adversarial,
    /// From each terminal to each by weight, a row for each.
    Weights(Vec<Vec<f64>>),
}

/// Sizes of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Sizes {
    /// All the same.
    Fixed(u16),
    /// 7 of 64 bytes, 4 of 594, 1 of 1,518.
    Imix,
}

impl Sizes {
    /// A size.
    #[inline]
    pub fn draw(self, rng: &mut Rng) -> u16 {
        match self {
            Sizes::Fixed(size) => size,
            Sizes::Imix => match rng.u8(..12) {
                0..=6 => 64,
                7..=10 => 594,
                _ => 1_518,
            },
        }
    }

    /// Their mean.
    pub fn mean(self) -> f64 {
        match self {
            Sizes::Fixed(size) => f64::from(size),
            Sizes::Imix => (7.0 * 64.0 + 4.0 * 594.0 + 1_518.0) / 12.0,
        }
    }
}

/// A matrix made ready to draw destinations from.
#[derive(Debug)]
pub struct Destinations {
    terminals: usize,
    matrix: Matrix,
    /// The one destination of each terminal, for permutations.
    fixed: Vec<NodeId>,
    /// Sums of weights up to each destination.
    sums: Vec<Vec<f64>>,
}

impl Destinations {
    /// For the terminals of a topology.
    ///
    /// # Errors
    /// What is wrong with the weights.
    pub fn new(matrix: &Matrix, topology: &Topology, seed: u64) -> Result<Destinations, String> {
        let terminals = topology.terminals();
        let mut ready =
            Destinations { terminals, matrix: matrix.clone(), fixed: Vec::new(), sums: Vec::new() };
        match matrix {
            Matrix::Permutation => ready.fixed = derangement(terminals, &mut Rng::with_seed(seed)),
            Matrix::Adversarial => {
                ready.fixed = (0..terminals).map(|from| adversary(topology, from) as NodeId).collect();
            }
            Matrix::Weights(rows) => {
                if rows.len() != terminals || rows.iter().any(|row| row.len() != terminals) {
                    return Err(format!("a matrix of {terminals} rows and columns is needed"));
                }
                if rows.iter().flatten().any(|weight| !weight.is_finite() || *weight < 0.0) {
                    return Err("weights must be numbers that are not negative".to_owned());
                }
                let sums = |row: &Vec<f64>| {
                    row.iter()
                        .scan(0.0, |sum, weight| Some(std::mem::replace(sum, *sum + weight) + weight))
                        .collect()
                };
                ready.sums = rows.iter().map(sums).collect();
            }
            Matrix::Uniform | Matrix::HotSpot => (),
        }
        Ok(ready)
    }

    /// The share of what comes in at `from` that goes to `to`.
    pub fn share(&self, from: usize, to: usize) -> f64 {
        let others = (self.terminals - 1).max(1) as f64;
        match &self.matrix {
            Matrix::Uniform => f64::from(u8::from(from != to)) / others,
            Matrix::Permutation | Matrix::Adversarial => {
                f64::from(u8::from(usize::from(self.fixed[from]) == to))
            }
            Matrix::HotSpot if from == 0 => f64::from(u8::from(to != 0)) / others,
            Matrix::HotSpot if to == 0 => 0.5,
            Matrix::HotSpot => f64::from(u8::from(from != to)) * 0.5 / (others - 1.0).max(1.0),
            Matrix::Weights(rows) => {
                let sum = self.sums[from].last().copied().unwrap_or_default();
                if sum > 0.0 { rows[from][to] / sum } else { 0.0 }
            }
        }
    }

    /// How much of a full line comes in at `from`: less than 1 for light rows of a matrix of weights.
    pub fn intensity(&self, from: usize) -> f64 {
        let heaviest = self.sums.iter().filter_map(|row| row.last()).fold(0.0, |a: f64, b| a.max(*b));
        match self.sums.get(from).and_then(|row| row.last()) {
            Some(sum) if heaviest > 0.0 => sum / heaviest,
            _ => 1.0,
        }
    }

    /// Where a packet goes.
    #[inline]
    pub fn draw(&self, from: usize, rng: &mut Rng) -> NodeId {
        let other = |rng: &mut Rng| {
            let to = rng.usize(..(self.terminals - 1).max(1));
            (to + usize::from(to >= from)).min(self.terminals - 1) as NodeId
        };
        match &self.matrix {
            Matrix::Uniform => other(rng),
            Matrix::Permutation | Matrix::Adversarial => self.fixed[from],
            Matrix::HotSpot if from == 0 || self.terminals < 3 => other(rng),
            Matrix::HotSpot if rng.bool() => 0,
            Matrix::HotSpot => loop {
                match other(rng) {
                    0 => (),
                    to => return to,
                }
            },
            Matrix::Weights(_) => {
                let sums = &self.sums[from];
                let at = rng.f64() * sums.last().copied().unwrap_or_default();
                sums.partition_point(|sum| *sum <= at).min(self.terminals - 1) as NodeId
            }
        }
    }

    /// Of what comes in at load 1 of `line_rate`, the share that can leave when no external port carries more than that,
    /// and no pair of terminals more than `pair_rate`.
    pub fn admissible(&self, line_rate: f64, load: f64, pair_rate: f64) -> f64 {
        let (mut offered, mut out) = (0.0, 0.0);
        for to in 0..self.terminals {
            let (mut column, mut bounded) = (0.0, 0.0);
            for from in 0..self.terminals {
                let rate = self.share(from, to) * self.intensity(from) * load * line_rate;
                column += rate;
                bounded += rate.min(pair_rate);
            }
            offered += column;
            out += bounded.min(line_rate);
        }
        if offered == 0.0 { 1.0 } else { out / offered }
    }
}

/// A random permutation in which no node keeps its place.
fn derangement(count: usize, rng: &mut Rng) -> Vec<NodeId> {
    let mut order: Vec<NodeId> = (0..count as NodeId).collect();
    rng.shuffle(&mut order);
    // Along the cycle through all in this order.
    let mut fixed = vec![0; count];
    for at in 0..count {
        fixed[usize::from(order[at])] = order[(at + 1) % count];
    }
    fixed
}

fn adversary(topology: &Topology, from: usize) -> usize {
    let terminals = topology.terminals();
    match topology {
        Topology::Torus { extents } => {
            let (mut unit, mut to) = (1, 0);
            for &extent in extents {
                to += (from / unit + (extent - 1) / 2) % extent * unit;
                unit *= extent;
            }
            to
        }
        Topology::Fly { radices, .. } if terminals.is_multiple_of(radices[0]) && radices[0] < terminals => {
            let (first, others) = (from % radices[0], from / radices[0]);
            others + (first + 1) % radices[0] * (terminals / radices[0])
        }
        _ => (from + 1) % terminals,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Destinations come as often as their share says, for every matrix.
    #[test]
    fn draws_follow_shares() {
        let topology = Topology::Mesh { nodes: 5 };
        let weights = (0..5).map(|row| (0..5).map(|column| f64::from(row * column % 4)).collect()).collect();
        let matrices = [
            Matrix::Uniform,
            Matrix::Permutation,
            Matrix::HotSpot,
            Matrix::Adversarial,
            Matrix::Weights(weights),
        ];
        let mut rng = Rng::with_seed(4);
        for matrix in matrices {
            let destinations = Destinations::new(&matrix, &topology, 1).expect("sound");
            for from in (1..5).filter(|&from| destinations.intensity(from) > 0.0) {
                let mut counts = [0; 5];
                (0..4_000).for_each(|_| counts[usize::from(destinations.draw(from, &mut rng))] += 1);
                for (to, count) in counts.into_iter().enumerate() {
                    let share = destinations.share(from, to);
                    assert!(
                        (f64::from(count) / 4_000.0 - share).abs() < 0.04,
                        "{matrix:?} {from} {to} {share}"
                    );
                }
            }
        }
    }

    /// What theory allows: everything if admissible; a port's worth at a hot spot; a link's worth along one path.
    #[test]
    fn the_admissible_load_is_what_theory_allows() {
        let topology = Topology::Mesh { nodes: 8 };
        let of = |matrix| Destinations::new(&matrix, &topology, 1).expect("sound");
        assert_eq!(of(Matrix::Permutation).admissible(1e10, 1.0, f64::INFINITY), 1.0);
        assert!((of(Matrix::Permutation).admissible(1e10, 1.0, 2.5e9) - 0.25).abs() < 1e-9);
        // Seven terminals send half of their line to terminal 0, which takes one.
        assert!((of(Matrix::HotSpot).admissible(1e10, 1.0, f64::INFINITY) - (8.0 - 2.5) / 8.0).abs() < 1e-9);
        let wrong = Destinations::new(&Matrix::Weights(vec![vec![1.0]]), &topology, 1);
        assert!(wrong.is_err());
    }
}
