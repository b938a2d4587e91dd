//! Classifies packets by the average length of the most recent ones.
//!
//! ```click
//! CheckAverageLength(MINLENGTH)
//! ```
//!
//! While the last 15 packets average fewer than MINLENGTH bytes, packets leave by output 1, otherwise by output 0.
//! Streams of short packets are likely to carry voice or games.
//!
//! Ports: 1 input, 2 outputs. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `MINLENGTH` (integer): the average length, in bytes, from which packets leave by output 0.
//!
//! # Handlers
//! - `minlength` (read, write): the argument; `min` (write) is the same.
//!
//! # Example
//! ```click
//! RatedSource -> c :: CheckAverageLength(200);
//! c[0] -> Discard; c[1] -> SetIPDSCP(46) -> Discard;
//! ```
//!
//! # See also
//! CheckLength, Meter

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Residency, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("CheckAverageLength", create)
    .ports("1/2")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .doc(router::manual!("check_average_length.rs"));

/// Packets that the average is of.
const PACKETS: usize = 15;

struct CheckAverageLength {
    min: u32,
    /// Lengths of the last packets, in a ring.
    lengths: [u32; PACKETS],
    next: usize,
    /// Packets so far, up to as many as are averaged.
    seen: u32,
    sum: u32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut min = 0;
    config.args().required("MINLENGTH", &mut min).finish()?;
    Ok(Box::new(PerPacket(CheckAverageLength { min, lengths: [0; PACKETS], next: 0, seen: 0, sum: 0 })))
}

impl Simple for CheckAverageLength {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let oldest = std::mem::replace(&mut self.lengths[self.next], packet.len() as u32);
        self.next = if self.next + 1 == PACKETS { 0 } else { self.next + 1 };
        self.seen = (self.seen + 1).min(PACKETS as u32);
        self.sum = self.sum + packet.len() as u32 - oldest;
        // The same as `sum / seen < min`, for which no packet has to wait.
        let short = u64::from(self.sum) < u64::from(self.min) * u64::from(self.seen);
        if short { Verdict::Output(1) } else { Verdict::Pass }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("minlength", |e: &mut CheckAverageLength, _| e.min);
        for name in ["minlength", "min"] {
            h.write(name, |e: &mut CheckAverageLength, cx, text| {
                e.min = router::value(cx, text)?;
                Ok(())
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;

    /// The average of those that have come, then of the last fifteen.
    #[test]
    fn the_average_of_the_last_fifteen_chooses_the_output() {
        let mut lengths = vec![100, 299, 200, 199];
        lengths.extend([200; 12]);
        lengths.extend([185, 186, 400]);
        let mut flow = send(
            "Inject -> c :: CheckAverageLength(200); c[0] -> Collect(0); c[1] -> Collect(1)",
            lengths.iter().map(|&length| vec![0; length]),
        );
        let average = |i: usize| {
            let last = &lengths[(i + 1).saturating_sub(15)..=i];
            last.iter().sum::<usize>() / last.len()
        };
        let high: Vec<usize> =
            (0..lengths.len()).filter(|&i| average(i) >= 200).map(|i| lengths[i]).collect();
        assert!(!high.is_empty() && high.len() < lengths.len());
        assert_eq!(flow.data(0).iter().map(Vec::len).collect::<Vec<_>>(), high);
        assert_eq!(flow.write("c.min", "7") + &flow.read("c.minlength"), "7");
    }
}
