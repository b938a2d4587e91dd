//! Sends each packet to an output chosen at random.
//!
//! ```click
//! RandomSwitch
//! ```
//!
//! All outputs are equally likely.
//!
//! Ports: 1 input, 1 or more outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> r :: RandomSwitch;
//! r [0] -> Discard;
//! r [1] -> Discard;
//! ```
//!
//! # See also
//! RoundRobinSwitch, HashSwitch, RandomSample

use packet::{BATCH_MAX, Batch};
use router::{Class, Config, ConfigError, Cx, Element};

/// The class.
pub(crate) const CLASS: Class = Class::new("RandomSwitch", create)
    .ports("1/1-")
    .processing("h/h")
    .doc(router::manual!("random_switch.rs"));

struct RandomSwitch {
    outputs: usize,
    /// With 2, 4 or 8 outputs the bits that a number of theirs has.
    width: Option<u32>,
    bits: Bits,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    let outputs = config.outputs();
    let width = [2, 4, 8].contains(&outputs).then(|| outputs.ilog2());
    Ok(Box::new(RandomSwitch { outputs, width, bits: Bits::default() }))
}

/// Numbers that are made together.
const ROW: usize = 16;

/// Random bits that are left. One drawing has enough for dozens of packets.
#[derive(Default)]
struct Bits {
    bits: u128,
    count: u32,
}

impl Bits {
    /// Numbers of `width` bits, at most 3, of which the first `used` are used: the others come again.
    #[inline]
    fn numbers(&mut self, rng: &mut fastrand::Rng, width: u32, used: usize) -> [u16; ROW] {
        if self.count < width * ROW as u32 {
            self.bits |= u128::from(rng.u64(..)) << self.count;
            self.count += u64::BITS;
        }
        let (mut numbers, mut row) = ([0; ROW], self.bits as u64);
        for four in numbers.as_chunks_mut().0 {
            *four = spread(row & ((1 << (4 * width)) - 1), width);
            row >>= 4 * width;
        }
        let gone = width * used as u32;
        self.bits >>= gone;
        self.count -= gone;
        numbers
    }
}

/// Four numbers of `width` bits, at most 3, that lie beside each other; the first of them lowest.
#[inline]
fn spread(four: u64, width: u32) -> [u16; 4] {
    // Four copies that do not overlap, in each of which one number gets to the start of its 16 bits.
    let gap = 16 - width;
    let copies = four * (1 | 1 << gap | 1 << (2 * gap) | 1 << (3 * gap));
    let each = copies & (0x0001_0001_0001_0001 * ((1 << width) - 1));
    std::array::from_fn(|at| (each >> (16 * at)) as u16)
}

impl Element for RandomSwitch {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        let (outputs, mut ways) = (self.outputs as u64, [0; BATCH_MAX]);
        // Not where it lies: each number would wait until the one before is in memory.
        let mut rng = cx.rng().clone();
        // Each packet has its own part of what is drawn, so that it does not matter how packets are divided among batches.
        match self.width {
            Some(width) => {
                let mut left = batch.len();
                for row in ways.as_chunks_mut().0 {
                    let used = left.min(ROW);
                    if used == 0 {
                        break;
                    }
                    *row = self.bits.numbers(&mut rng, width, used);
                    left -= used;
                }
            }
            None => ways[..batch.len()].fill_with(|| {
                // The upper half of a product is uneven by less than one part in 2^16, for as many outputs as there can be.
                ((u64::from(rng.u32(..)) * outputs) >> 32) as u16
            }),
        }
        *cx.rng() = rng;
        cx.spread(batch, &ways);
    }
}

#[cfg(test)]
mod tests {
    use super::{Bits, ROW};
    use crate::testing::send;
    use std::fmt::Write;

    /// Each output gets about its share, the last one included.
    #[test]
    fn each_pair_of_outputs_is_equally_likely() {
        for outputs in [2, 3, 4, 5, 8] {
            let mut config = "Inject -> r :: RandomSwitch;".to_owned();
            (0..outputs).for_each(|port| write!(config, "r[{port}] -> Collect({port});").expect("no memory"));
            let flow = send(&config, (0..6400u32).map(|number| number.to_be_bytes().to_vec()));
            let mut ways = vec![0; 6400];
            for (port, packet) in &flow.seen {
                let number = u32::from_be_bytes(packet.data().try_into().expect("four bytes"));
                ways[number as usize] = *port;
            }
            let mut pairs = vec![0; outputs * outputs];
            ways.windows(2).for_each(|pair| pairs[pair[0] * outputs + pair[1]] += 1);
            let share = 6400 / (outputs * outputs);
            assert!(
                pairs.iter().all(|&count| share / 2 < count && count < 2 * share),
                "{outputs}: {pairs:?}"
            );
        }
    }

    /// The bits that are drawn are used in order, each once, however many are asked for at a time.
    #[test]
    fn bits_in_order() {
        for width in 1..=3 {
            let (mut rng, mut bits, mut got) = (fastrand::Rng::with_seed(3), Bits::default(), Vec::new());
            for used in (1..=ROW).cycle().take(200) {
                got.extend_from_slice(&bits.numbers(&mut rng, width, used)[..used]);
            }
            let mut rng = fastrand::Rng::with_seed(3);
            let drawn: Vec<u16> = (0..400)
                .flat_map(|_| std::iter::repeat_n(rng.u64(..), 64).enumerate())
                .map(|(at, word)| (word >> at & 1) as u16)
                .collect();
            let width = width as usize;
            for (at, &number) in got.iter().enumerate() {
                let want = (0..width).map(|bit| drawn[width * at + bit] << bit).sum::<u16>();
                assert_eq!(number, want, "number {at} of {width} bits");
            }
        }
    }
}
