//! Sizes of frames.

use fastrand::Rng;

use super::Error;

/// Shortest Ethernet frame in bytes, frame check sequence included (IEEE 802.3).
const SIZE_MIN: u16 = 64;
/// Bytes of the frame check sequence, which is part of a frame's size but never stored.
const CHECK_LEN: u16 = 4;

/// Sizes of frames as they are on a wire: in bytes, with the four bytes of frame check sequence that are not stored.
///
/// A frame of size 64 is therefore 60 bytes in memory and one of size 1,518 carries 1,500 bytes of IP. Frames whose
/// headers do not fit their size are as long as they must be: IPv6 with UDP takes size 66, with a sequence 74.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sizes {
    /// All of this size.
    Fixed(u16),
    /// The usual simple Internet mix: sizes 64, 594 and 1,518 in proportions 7 to 4 to 1.
    Imix,
    /// Sizes and their weights.
    Histogram(Vec<(u16, u32)>),
}

/// Draws stored lengths.
pub(super) struct Picker {
    /// Stored length and the sum of weights up to and including it.
    steps: Vec<(usize, u64)>,
    total: u64,
}

impl Sizes {
    pub(super) fn picker(&self) -> Result<Picker, Error> {
        let weights: &[(u16, u32)] = match self {
            Sizes::Fixed(size) => &[(*size, 1)],
            Sizes::Imix => &[(64, 7), (594, 4), (1518, 1)],
            Sizes::Histogram(weights) => weights,
        };
        let mut steps = Vec::with_capacity(weights.len());
        let mut total = 0;
        for &(size, weight) in weights {
            if size < SIZE_MIN {
                return Err(Error::Size);
            }
            total += u64::from(weight);
            steps.push((usize::from(size - CHECK_LEN), total));
        }
        if total == 0 { Err(Error::Size) } else { Ok(Picker { steps, total }) }
    }
}

impl Picker {
    pub(super) fn pick(&self, rng: &mut Rng) -> usize {
        let drawn = rng.u64(..self.total);
        // The last sum is the total, which is above what was drawn.
        self.steps[self.steps.partition_point(|(_, sum)| *sum <= drawn)].0
    }
}
