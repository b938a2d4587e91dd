//! Counts how well stations are heard.
//!
//! ```click
//! RXStats
//! ```
//!
//! Passes Ethernet frames and notes for each source rate, signal and noise, as the packet's annotation has them. What
//! ends before the source does passes, too. Of 4096 sources there is room.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! - `stats` (read): a line for each source: its address; rate, signal and noise of its last frame; averages and sums
//!   of both; how many frames came, and how many seconds ago the last.
//! - `reset` (write): forgets all sources.
//!
//! # Example
//! ```click
//! FromDevice(mon0) -> RadiotapDecap -> Classifier(0/08%0c) -> WifiDecap -> s :: RXStats -> Discard;
//! Script(wait 5, read s.stats, loop);
//! ```
//!
//! # See also
//! RadiotapDecap, ExtraDecap, BeaconScanner

use super::extra;
use super::print_tx_feedback::address;
use elements_shared::label::write_time;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Residency, Simple, Verdict};
use std::collections::HashMap;
use std::fmt::Write as _;
use wire::MacAddr;

/// The class.
pub(crate) const CLASS: Class = Class::new("RXStats", create)
    .residency(Residency::Exclusive)
    .keeps("sources", "", 4096, 96)
    .doc(router::manual!("rx_stats.rs"));

/// Most sources that are kept; the table has room for them from the beginning.
const MOST: usize = 4096;
/// Where the source of an Ethernet frame is.
const SOURCE: u32 = 6;

#[derive(Clone, Copy, Debug, Default)]
struct Source {
    rate: i8,
    /// Signal and noise of the last frame, and of all.
    last: [u8; 2],
    sums: [u64; 2],
    packets: u64,
    at_ns: i64,
}

impl Source {
    fn line(&self, address: MacAddr, now_ns: i64) -> String {
        let Source { rate, last: [signal, noise], sums, packets, at_ns } = *self;
        let mut text = format!("{address} rate {rate} signal {signal} noise {noise}");
        for (what, sum) in ["signal", "noise"].into_iter().zip(sums) {
            let _ = write!(text, " avg_{what} "); // writing to a string does not fail
            write_time(&mut text, (sum * 1000 / packets.max(1)) as i64 * 1_000_000);
        }
        let _ = write!(
            text,
            " total_signal {} total_noise {} packets {packets} last_received ",
            sums[0], sums[1]
        );
        write_time(&mut text, now_ns - at_ns);
        text + "\n"
    }
}

struct RxStats {
    sources: HashMap<[u8; 6], Source>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(RxStats { sources: HashMap::with_capacity(MOST) })))
}

impl Simple for RxStats {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(address) = address(packet, SOURCE) else { return Verdict::Pass };
        let key = address.octets();
        if self.sources.len() < MOST || self.sources.contains_key(&key) {
            let (extra, source) = (extra::of(packet), self.sources.entry(key).or_default());
            source.rate = extra.rate(0);
            source.last = [extra.signal(), extra.noise()];
            source.sums = [0, 1].map(|which| source.sums[which] + u64::from(source.last[which]));
            source.packets += 1;
            source.at_ns = cx.now_ns();
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = RxStats;
        h.read("stats", |e: &mut E, cx| {
            let mut sources: Vec<_> = e.sources.iter().collect();
            sources.sort_unstable_by_key(|(address, _)| **address);
            let line = |(address, source): (&[u8; 6], &Source)| source.line(MacAddr(*address), cx.now_ns());
            sources.into_iter().map(line).collect::<String>()
        });
        h.write("reset", |e: &mut E, _, _| {
            e.sources.clear();
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Sent, send};
    use packet::Anno;

    #[test]
    fn signals_are_summed_by_sender() {
        let frame = |source: u8, signal: u64| Sent {
            data: [[1; 6], [source; 6]].concat(),
            annotations: vec![(Anno::new(32, 1).unwrap(), signal), (Anno::new(36, 1).unwrap(), 22)],
            ..Sent::default()
        };
        let short = Sent { data: vec![1; 11], ..Sent::default() };
        let config = "Inject -> s :: RXStats -> Collect(0)";
        let mut flow = send(config, [frame(4, 10), frame(2, 7), frame(4, 21), short]);
        let stats = flow.read("s.stats");
        let lines: Vec<_> =
            stats.lines().map(|line| line.split(" last_received 0.").next().unwrap()).collect();
        let second = "04-04-04-04-04-04 rate 22 signal 21 noise 0 avg_signal 15.500000 avg_noise 0.000000 \
                      total_signal 31 total_noise 0 packets 2";
        assert!(lines.len() == 2 && lines[0].contains(" packets 1") && lines[1] == second, "{stats}");
        assert_eq!((flow.data(0).len(), flow.write("s.reset", "")), (4, String::new()));
        assert_eq!(flow.read("s.stats"), "");
    }
}
