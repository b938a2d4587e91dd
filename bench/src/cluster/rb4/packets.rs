//! Packets that come in from outside, and how they are told apart underway.

use super::node::port_address;
use crate::devices::IMIX;
use cluster::label::{Label, Stamp};
use cluster::sim::trace::{self, Arrival};
use fastrand::Rng;
use std::sync::Arc;

/// Where a packet has its number: behind the UDP header. A label takes the place of the Ethernet header, so that it is there everywhere.
pub(in crate::cluster) const NUMBER: usize = 42;
/// Flows between two ports, unless a trace says otherwise.
const FLOWS: u32 = 256;
/// How long made-up traces are, and how fast their packets come in them.
const TRACE_NS: u64 = 60_000_000;
const TRACE_RATE: u64 = 8_500_000_000;

/// A packet that comes in.
#[derive(Clone, Copy, Debug)]
pub(in crate::cluster) struct Coming {
    pub(in crate::cluster) at_ns: u64,
    /// Of its input.
    pub(in crate::cluster) flow: u32,
    /// The network that it is for.
    pub(in crate::cluster) to: usize,
    /// Its length with the four bytes that hardware adds.
    pub(in crate::cluster) size: usize,
}

/// Packets that come in one after the other.
pub(super) type Stream = Box<dyn Iterator<Item = Coming>>;

/// Sizes and times of packets.
#[derive(Clone)]
pub(super) enum Traffic {
    /// Evenly spaced, these sizes in turn.
    Sizes(&'static str, &'static [usize]),
    /// As in a trace, at another pace. One for each input.
    Trace(Arc<Vec<Vec<Arrival>>>),
}

impl Traffic {
    /// 64 bytes, IMIX and a trace.
    pub(super) fn all(tiny: bool) -> [Traffic; 3] {
        let duration_ns = if tiny { TRACE_NS / 30 } else { TRACE_NS };
        let made = |seed| trace::make(&trace::Settings { duration_ns, rate: TRACE_RATE, seed });
        let trace = Traffic::Trace(Arc::new((1..=4).map(made).collect()));
        [Traffic::Sizes("64 bytes", &[64]), Traffic::Sizes("IMIX", &IMIX), trace]
    }

    /// What it is called.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Traffic::Sizes(name, _) => name,
            Traffic::Trace(_) => "trace",
        }
    }

    /// Bytes of a packet, on average.
    pub(super) fn mean(&self) -> f64 {
        let of = |sizes: &mut dyn Iterator<Item = usize>| {
            let (sum, count) = sizes.fold((0, 0), |(sum, count), size| (sum + size, count + 1));
            sum as f64 / f64::from(count.max(1))
        };
        match self {
            Traffic::Sizes(_, sizes) => of(&mut sizes.iter().copied()),
            Traffic::Trace(traces) => of(&mut traces.iter().flatten().map(size)),
        }
    }

    /// Sizes one after the other, without end.
    pub(super) fn sizes(&self) -> Box<dyn Iterator<Item = usize>> {
        match self {
            Traffic::Sizes(_, sizes) => Box::new(sizes.iter().copied().cycle()),
            Traffic::Trace(traces) => {
                let traces = traces.clone();
                Box::new((0..).map(move |at: usize| size(&traces[0][at % traces[0].len()])))
            }
        }
    }

    /// `count` packets of an input from a time on, so many a second. `to` says where a flow goes.
    pub(super) fn stream(
        &self,
        input: usize,
        from_ns: u64,
        rate: f64,
        count: usize,
        to: impl Fn(u32) -> usize + 'static,
    ) -> Stream {
        let gap_ns = 1e9 / rate;
        match self {
            Traffic::Sizes(_, sizes) => {
                let (sizes, mut rng) = (*sizes, Rng::with_seed(input as u64));
                // Not all inputs at once.
                let first_ns = rng.f64() * gap_ns;
                Box::new((0..count).map(move |at| {
                    let flow = rng.u32(..FLOWS);
                    let at_ns = from_ns + (first_ns + at as f64 * gap_ns) as u64;
                    Coming { at_ns, flow, to: to(flow), size: sizes[(at + input) % sizes.len()] }
                }))
            }
            Traffic::Trace(traces) => {
                let traces = traces.clone();
                let trace = &traces[input % traces.len()];
                let span_ns = trace.last().map_or(1, |last| last.at_ns.max(1)) as f64;
                let (pace, length) = (trace.len() as f64 * gap_ns / span_ns, trace.len());
                Box::new((0..count).map(move |at| {
                    let arrival = &traces[input % traces.len()][at % length];
                    let rounds = (at / length) as f64 * span_ns;
                    let at_ns = from_ns + ((rounds + arrival.at_ns as f64) * pace) as u64;
                    Coming { at_ns, flow: arrival.flow, to: to(arrival.flow), size: size(arrival) }
                }))
            }
        }
    }
}

/// Bytes of a packet of a trace, with the four that hardware adds.
pub(super) fn size(arrival: &Arrival) -> usize {
    usize::from(arrival.bytes).clamp(64, 1518)
}

/// Makes the frame of a packet that comes in at the port of a network.
pub(in crate::cluster) fn make(frame: &mut Vec<u8>, number: u64, input: usize, packet: &Coming) {
    let (len, [_, _, f1, f0]) = (packet.size - 4, packet.flow.to_be_bytes());
    frame.clear();
    frame.extend(port_address(input));
    frame.extend([2, 0, 0, 3, input as u8, 0, 8, 0, 0x45, 0]);
    frame.extend(((len - 14) as u16).to_be_bytes());
    frame.extend([0, 0, 0, 0, 64, 17, 0, 0, 198, 18, input as u8, (packet.flow >> 16) as u8]);
    frame.extend([10, 0, packet.to as u8, 2]);
    let sum = wire::checksum::checksum(&frame[14..34]);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame.extend([f1, f0, 0, 9]);
    frame.extend(((len - 34) as u16).to_be_bytes());
    frame.extend([0, 0]);
    frame.extend(number.to_be_bytes());
    frame.resize(len, 0);
}

/// Puts the label in place that a frame has on the first link of its way.
pub(super) fn label(frame: &mut [u8], ingress: u16, egress: u16, stamp: Stamp) {
    let label = Label { egress, port: 0, ingress, hops: 1, stamp }.encode();
    frame[..label.len()].copy_from_slice(&label);
}

/// The number of a packet, if it is one of those above.
pub(in crate::cluster) fn number(frame: &[u8]) -> Option<usize> {
    let is_ours = frame.get(12..14) == Some(&[8, 0]) && frame.get(36..38) == Some(&[0, 9]);
    let number = frame.get(NUMBER..)?.first_chunk()?;
    is_ours.then(|| u64::from_be_bytes(*number) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet is told by its number, with a label and without; other frames have none.
    #[test]
    fn packets_keep_their_number() {
        let mut frame = Vec::new();
        make(&mut frame, 77, 3, &Coming { at_ns: 0, flow: 0x1_0002, to: 2, size: 64 });
        assert_eq!((frame.len(), number(&frame)), (60, Some(77)));
        assert!(wire::checksum::verify(&frame[14..34]));
        label(&mut frame, 3, 2, Stamp::None);
        assert_eq!(number(&frame), Some(77));
        assert_eq!(Label::decode(&frame).map(|label| label.egress), Some(2));
        assert_eq!(number(&[0; 40]), None);
    }

    /// Packets of all kinds of traffic come in order of time, as many a second as wanted.
    #[test]
    fn streams_have_the_rate_that_is_wanted() {
        for traffic in Traffic::all(true) {
            let packets: Vec<Coming> = traffic.stream(1, 5_000, 1e6, 20_000, |_| 0).collect();
            assert_eq!(packets.len(), 20_000);
            assert!(packets.is_sorted_by_key(|packet| packet.at_ns) && packets[0].at_ns >= 5_000);
            let took = (packets[19_999].at_ns - 5_000) as f64;
            assert!((took / 20e6 - 1.0).abs() < 0.1, "{}: {took}", traffic.name());
        }
    }
}
