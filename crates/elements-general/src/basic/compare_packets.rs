//! Compares two streams, packet by packet.
//!
//! ```click
//! ComparePackets([KEYWORDS])
//! ```
//!
//! Compares the first packet of input 0 with the first of input 1, the second with the second, and so on. Two packets
//! differ if their lengths, data, header positions or timestamps do. Both packets of a pair then leave, each by the
//! output with the number of its input. A packet waits until the other one of its pair has arrived, and the next pair
//! is pulled once both have been taken.
//!
//! Ports: 2 inputs, 2 outputs. Processing: pull. Workers: exclusive.
//!
//! # Arguments
//! - `TIMESTAMP` (boolean, default true): whether to compare timestamps.
//!
//! # Handlers
//! - `diffs` (read): pairs that differ. A packet still waiting for its partner counts as a difference.
//! - `diff_details` (read): how many pairs differ in each respect, one per line. A pair may differ in several.
//! - `all_same` (read): whether `diffs` is 0.
//!
//! # Example
//! ```click
//! FromDump(old.pcap, STOP true) -> [0] c :: ComparePackets;
//! FromDump(new.pcap) -> [1] c;
//! c[0] -> Discard; c[1] -> Discard;
//! DriverManager(wait_stop 2, print c.diff_details)
//! ```
//!
//! # See also
//! CheckPacket

use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Pull, Residency};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class = Class::new("ComparePackets", create)
    .ports("2/2")
    .processing("l/l")
    .residency(Residency::Exclusive)
    .holds("packets whose pair is not complete")
    .doc(router::manual!("compare_packets.rs"));

/// In what packets can differ.
const WAYS: [&str; 6] = ["length", "data", "MAC header", "network header", "transport header", "timestamp"];

#[derive(Default)]
struct ComparePackets {
    timestamp: bool,
    /// What was pulled at each input and not yet taken.
    held: [Option<Packet>; 2],
    /// Whether the packets that are held have been compared, so that they may go.
    compared: bool,
    /// The output at which packets were asked for.
    asked: usize,
    diffs: u64,
    details: [u64; WAYS.len()],
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = ComparePackets { timestamp: true, ..ComparePackets::default() };
    config.args().keyword("TIMESTAMP", &mut e.timestamp).finish()?;
    Ok(Box::new(e))
}

impl ComparePackets {
    fn compare(&mut self) {
        let [Some(a), Some(b)] = &self.held else { return };
        let same = [
            a.len() == b.len(),
            a.data() == b.data() || a.len() != b.len(),
            a.mac_offset() == b.mac_offset(),
            (a.network_offset(), a.network_header_len()) == (b.network_offset(), b.network_header_len()),
            a.transport_offset() == b.transport_offset(),
            !self.timestamp || a.timestamp_ns() == b.timestamp_ns(),
        ];
        self.diffs += u64::from(same.contains(&false));
        self.details.iter_mut().zip(same).for_each(|(count, same)| *count += u64::from(!same));
        self.compared = true;
    }

    /// Packets without the other one of their pair, at an input: one or none.
    fn waiting(&self, input: usize) -> u64 {
        u64::from(!self.compared && self.held[input].is_some())
    }

    fn all_diffs(&self) -> u64 {
        self.diffs + self.waiting(0) + self.waiting(1)
    }

    fn details(&self) -> String {
        let mut lines: String =
            WAYS.iter().zip(self.details).map(|(way, count)| format!("{count}\tdifferent {way}\n")).collect();
        for input in 0..2 {
            lines.push_str(&format!("{}\tmore packets in [{input}]\n", self.waiting(input)));
        }
        lines
    }

    /// Goes on: gives what may go, asks for what is missing, or has nothing.
    fn step(&mut self, cx: &mut Cx<'_>, from: usize) -> Pull {
        if self.compared {
            let packet = self.held[self.asked].take();
            self.compared = self.held.iter().any(Option::is_some);
            cx.signals().set(true);
            return packet.map_or(Pull::Nothing, |packet| Pull::Give(cx.pool().batch_of(packet)));
        }
        if let Some(input) = (from..2).find(|&input| self.held[input].is_none()) {
            return Pull::Ask { input, want: 1 };
        }
        if self.held.iter().all(Option::is_some) {
            self.compare();
            return self.step(cx, 2);
        }
        // The puller sleeps until what is missing may be there.
        let has_both = (0..2).all(|input| self.held[input].is_some() || cx.signals().may_have(input));
        cx.signals().set(has_both);
        Pull::Nothing
    }
}

impl Element for ComparePackets {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().provide();
        (0..2).for_each(|input| cx.signals().relay(input));
        Ok(())
    }

    fn pull(&mut self, cx: &mut Cx<'_>, port: usize, _want: usize) -> Pull {
        self.asked = port;
        self.step(cx, 0)
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) -> Pull {
        self.held[port] = batch.pop_front();
        cx.consume(batch);
        self.step(cx, port + 1)
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(std::mem::take(self)))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(old) = state.downcast::<ComparePackets>() {
            *self = ComparePackets { timestamp: self.timestamp, ..*old };
            cx.signals().set(true);
        }
    }

    fn held(&self) -> usize {
        self.held.iter().flatten().count()
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("diffs", |e: &mut ComparePackets, _| e.all_diffs());
        h.read("diff_details", |e: &mut ComparePackets, _| e.details());
        h.read("all_same", |e: &mut ComparePackets, _| e.all_diffs() == 0);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    fn compare(first: &str, second: &str, arguments: &str) -> Vec<String> {
        let config = format!(
            "InfiniteSource(DATA abcd, LIMIT 6) -> SetTimestamp(5) -> {first} -> Queue -> [0] c :: ComparePackets({arguments});
             InfiniteSource(DATA abcd, LIMIT 5) -> SetTimestamp(5) -> {second} -> Queue -> [1] c;
             c -> a :: Discard; c[1] -> b :: Discard; Script(wait 1, stop)"
        );
        run_and_read(&config, &["a.count", "b.count", "c.diffs", "c.all_same", "c.diff_details"])
    }

    #[test]
    fn equal_packets_count_no_difference() {
        let read = compare("Null", "Null", "");
        assert_eq!(read[..4], ["5", "5", "1", "false"], "the sixth waits");
        assert!(
            read[4].starts_with("0\tdifferent length\n") && read[4].contains("1\tmore packets in [0]\n"),
            "{}",
            read[4]
        );
        let read = compare(
            "Null",
            "Null -> t :: Truncate(4); InfiniteSource(DATA abcd, LIMIT 1) -> SetTimestamp(5) -> t",
            "",
        );
        assert_eq!(read[..4], ["6", "6", "0", "true"]);
    }

    #[test]
    fn each_kind_of_difference_is_counted() {
        for (second, way) in [
            ("Truncate(3)", "length"),
            ("StoreData(1, x)", "data"),
            ("MarkMACHeader", "MAC header"),
            ("SetTimestamp(6)", "timestamp"),
        ] {
            let read = compare("Null", second, "");
            assert_eq!(read[..3], ["5", "5", "6"], "{second}");
            assert!(read[4].contains(&format!("5\tdifferent {way}\n")), "{second}: {}", read[4]);
            assert_eq!(read[4].matches("5\t").count(), 1, "{second}: {}", read[4]);
        }
        assert_eq!(compare("Null", "SetTimestamp(6)", "TIMESTAMP false")[2], "1");
    }
}
