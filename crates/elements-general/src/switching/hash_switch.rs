//! Distributes packets over its outputs by a hash of some of their bytes.
//!
//! ```click
//! HashSwitch(OFFSET, LENGTH)
//! ```
//!
//! Packets in which the LENGTH bytes from OFFSET on are equal leave by the same output: the sum of the bytes modulo
//! the number of outputs or, with 2, 4 or 8 outputs, the low bits of the sum XORed with the sum shifted right by four
//! bits. Packets that are too short leave by output 0.
//!
//! Ports: 1 input, 1 or more outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `OFFSET` (integer): where the bytes start.
//! - `LENGTH` (integer): the number of bytes; not 0.
//! - `MAX` (integer): FastClick's; use only this many outputs, from the first on; 0, or more than there are, means
//!   all.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! RandomSource(64) -> h :: HashSwitch(26, 8);
//! h [0] -> Discard;
//! h [1] -> Discard;
//! ```
//!
//! # See also
//! RandomSwitch, RoundRobinSwitch, Switch

use packet::{BATCH_MAX, Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("HashSwitch", create).ports("1/1-").processing("h/h").doc(router::manual!("hash_switch.rs"));

struct HashSwitch {
    offset: usize,
    end: usize,
    /// Outputs in use.
    outputs: usize,
    /// With 2, 4 or 8 of them the bits that their numbers have.
    mask: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut offset, mut length) = (0u32, 0u32);
    let mut max = 0u32;
    config
        .args()
        .required("OFFSET", &mut offset)
        .required("LENGTH", &mut length)
        .keyword("MAX", &mut max)
        .finish()?;
    if length == 0 {
        return Err("length must be > 0".into());
    }
    let offset = offset as usize;
    let end = offset.saturating_add(length as usize);
    let outputs = match max as usize {
        0 => config.outputs(),
        max => max.min(config.outputs()),
    };
    let mask = if [2, 4, 8].contains(&outputs) { outputs - 1 } else { 0 };
    Ok(Box::new(HashSwitch { offset, end, outputs, mask }))
}

/// The sum of eight bytes.
#[inline]
fn sum_of_8(bytes: &[u8; 8]) -> usize {
    const EVERY_OTHER: u64 = 0x00ff_00ff_00ff_00ff;
    let word = u64::from_ne_bytes(*bytes);
    // Four sums of two bytes, which the factor's ones add up in the upper quarter.
    let pairs = (word & EVERY_OTHER) + (word >> 8 & EVERY_OTHER);
    (pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48) as usize
}

/// The sum of all bytes. Two addresses, of which one most often wants it, are as long as a word.
#[inline]
fn sum(bytes: &[u8]) -> usize {
    match bytes.as_array() {
        Some(word) => sum_of_8(word),
        None => bytes.iter().map(|&byte| usize::from(byte)).sum(),
    }
}

impl HashSwitch {
    #[inline]
    fn output(&self, packet: &Packet) -> usize {
        let Some(bytes) = packet.data().get(self.offset..self.end) else { return 0 };
        let sum = sum(bytes);
        if self.mask != 0 { (sum ^ (sum >> 4)) & self.mask } else { sum % self.outputs }
    }
}

impl Element for HashSwitch {
    #[inline]
    fn push_one(&mut self, _cx: &mut Cx<'_>, _port: usize, packet: &mut Packet) -> Option<Verdict> {
        Some(Verdict::Output(self.output(packet)))
    }

    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        let mut ways = [0; BATCH_MAX];
        for (way, packet) in ways.iter_mut().zip(batch.iter()) {
            *way = self.output(packet) as u16; // ports are numbered with 16 bits
        }
        cx.spread(batch, &ways);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send;

    /// The outputs are Click's, for powers of two and others; bytes outside the range do not matter.
    #[test]
    fn outputs_are_clicks() {
        let packets =
            [vec![9, 0x12, 0x01], vec![8, 0x12, 0x01], vec![0, 0x10, 0x01], vec![0, 0x05, 0], vec![7, 7]];
        let three =
            "Inject -> h :: HashSwitch(1, 2); h[0] -> Collect(0); h[1] -> Collect(1); h[2] -> Collect(2)";
        let flow = send(three, packets.clone());
        let counts = |flow: &crate::testing::Flow, outputs| -> Vec<_> {
            (0..outputs).map(|o| flow.data(o).len()).collect()
        };
        assert_eq!(counts(&flow, 3), [1, 2, 2]); // 0x13 % 3 = 1, 0x11 % 3 = 2, 5 % 3 = 2, too short: 0
        let two = "Inject -> h :: HashSwitch(1, 2); h[0] -> Collect(0); h[1] -> Collect(1)";
        // 0x13 ^ 1 is even, 0x11 ^ 1, too, 5 ^ 0 is odd
        assert_eq!(counts(&send(two, packets), 2), [4, 1]);
    }

    #[test]
    fn every_range_of_bytes_adds_up() {
        let bytes: Vec<u8> = (0..40).map(|i: u8| 255 - i / 2 * (i % 3)).collect();
        for (start, end) in (0..40).flat_map(|start| (start..40).map(move |end| (start, end))) {
            let expected: usize = bytes[start..end].iter().map(|&byte| usize::from(byte)).sum();
            assert_eq!(super::sum(&bytes[start..end]), expected);
        }
        assert_eq!(super::sum(&[255; 64]), 255 * 64);
    }

    #[test]
    fn bad_arguments() {
        assert!(errors("Idle -> HashSwitch(1, 0) -> Discard").contains("length must be > 0"));
    }
}
