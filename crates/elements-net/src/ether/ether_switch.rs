//! A learning Ethernet switch.
//!
//! ```click
//! EtherSwitch([TIMEOUT])
//! ```
//!
//! The input and output with the same number form a port, connected to one LAN. The source address of each frame
//! shows behind which port a station is. A frame to a known station leaves by that station's port; if it came in by
//! the same port, it is dropped. Frames to unknown stations and to groups leave by every port except the one they
//! came in by.
//!
//! All workers share one table of stations. It has 32,768 sets of 8 stations, over which addresses are hashed; when a
//! set is full, the station in it that has been silent longest is forgotten. As a result, of 65,536 stations all but
//! about ten are known, of 131,072 all but about one in a hundred, and never more than 262,144. Ages are measured by
//! the frames' timestamps, or by the router's clock for frames without one. Unlike in Click, group addresses are not
//! learned, and the table is listed in order of addresses.
//!
//! Ports: any number of inputs, as many outputs. Processing: push. Workers: shared.
//!
//! # Arguments
//! - `TIMEOUT` (seconds, default 300): how long a station may be silent before it is forgotten; fractions are
//!   rounded. With 0 nothing is learned: every frame is flooded.
//!
//! # Handlers
//! - `table` (read): the stations, one per line: address and port.
//! - `timeout` (read, write): the argument.
//! - `remove_port_forwarding` (write): lists, separated by commas, each of a port and the other ports to which frames
//!   from it are no longer forwarded. `reset_port_forwarding` (write): removes these restrictions.
//! - `port_forwarding` (read): for each port, one per line, how many and which other ports its frames may go to:
//!   `weight: 2`, a tab, and `0: 011`.
//!
//! # Example
//! ```click
//! s :: EtherSwitch;
//! FromDevice(eth0) -> [0]s[0] -> Queue -> ToDevice(eth0);
//! FromDevice(eth1) -> [1]s[1] -> Queue -> ToDevice(eth1);
//! ```
//!
//! # See also
//! ListenEtherSwitch, HostEtherFilter, Hub

use super::stations::Stations;
use super::vlan::NO_HEADER;
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Residency};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use wire::ethernet::Header;

/// The class.
pub(crate) const CLASS: Class = Class::new("EtherSwitch", create)
    .ports("-/=")
    .processing("h/h")
    .flow("#/[^#]")
    .residency(Residency::Shared)
    .copies()
    .keeps("stations", "", 262_144, 32)
    .doc(router::manual!("ether_switch.rs"));

struct EtherSwitch {
    lans: Arc<Lans>,
    outputs: usize,
    /// Whether the last output hears everything.
    listener: bool,
    /// Batches by output in the order of first use; empty between calls.
    lots: Vec<(usize, Batch)>,
}

/// What the switch's instances share.
struct Lans {
    stations: Stations,
    /// For each port, whether frames from there may go to each of the outputs.
    forwarding: Box<[Box<[AtomicBool]>]>,
}

impl Lans {
    fn new(timeout_s: u32, seed: u64, ports: usize) -> Lans {
        let row = |source| (0..ports).map(|output| AtomicBool::new(output != source)).collect();
        Lans { stations: Stations::new(timeout_s, seed), forwarding: (0..ports).map(row).collect() }
    }

    #[inline]
    fn forwards(&self, source: usize, output: usize) -> bool {
        self.forwarding.get(source).and_then(|row| row.get(output)).is_some_and(|may| may.load(Relaxed))
    }

    fn reset_forwarding(&self) {
        for (source, row) in self.forwarding.iter().enumerate() {
            row.iter().enumerate().for_each(|(output, may)| may.store(output != source, Relaxed));
        }
    }

    /// Takes ways away: words of a port and of those to which its frames do not go any more, in lists separated by
    /// commas. All of them or none.
    fn remove_forwarding(&self, text: &str) -> Option<()> {
        let mut gone = Vec::new();
        for list in text.split(',') {
            let ports =
                list.split_whitespace().map(|word| word.parse().ok()).collect::<Option<Vec<usize>>>()?;
            let (&source, outputs) = ports.split_first()?;
            let row = self.forwarding.get(source)?;
            gone.extend(outputs.iter().map(|&output| row.get(output)).collect::<Option<Vec<_>>>()?);
        }
        gone.into_iter().for_each(|may| may.store(false, Relaxed));
        Some(())
    }

    fn forwarding(&self) -> String {
        let mut text = String::new();
        for (source, row) in self.forwarding.iter().enumerate() {
            let bits: String = row.iter().map(|may| if may.load(Relaxed) { '1' } else { '0' }).collect();
            let weight = bits.matches('1').count();
            text.push_str(&format!("weight: {weight}\t{source}: {bits}\n"));
        }
        text
    }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    build(config, false)
}

/// Makes a switch, or one with a listener.
pub(super) fn build(config: &mut Config<'_>, listener: bool) -> Result<Box<dyn Element>, ConfigError> {
    let mut timeout = Duration::from_secs(300);
    config.args().keyword("TIMEOUT", &mut timeout).finish()?;
    let (timeout_s, seed, outputs) = (seconds(timeout), config.seed(), config.outputs());
    let lans = config.shared(|| Ok(Lans::new(timeout_s, seed, outputs)))?;
    Ok(Box::new(EtherSwitch { lans, outputs, listener, lots: Vec::with_capacity(outputs) }))
}

/// Whole seconds, to the nearest, as Click counts them.
fn seconds(span: Duration) -> u32 {
    u32::try_from(span.as_secs() + u64::from(span.subsec_millis() >= 500)).unwrap_or(u32::MAX)
}

impl EtherSwitch {
    #[inline]
    fn add(&mut self, cx: &mut Cx<'_>, output: usize, packet: Packet) {
        match self.lots.iter_mut().find(|(known, _)| *known == output) {
            Some((_, lot)) => lot.push(packet),
            None => {
                let lot = cx.pool().batch_of(packet);
                self.lots.push((output, lot));
            }
        }
    }

    fn add_copy(&mut self, cx: &mut Cx<'_>, output: usize, packet: &Packet) {
        match cx.pool().copy(packet) {
            Some(copy) => self.add(cx, output, copy),
            None => cx.count_drops("out of memory", 1),
        }
    }

    fn flood(&mut self, cx: &mut Cx<'_>, source: usize, packet: Packet) {
        // Where the frame itself goes, and not a copy.
        let Some(last) = (0..self.outputs).rev().find(|&output| self.lans.forwards(source, output)) else {
            return cx.drop(packet, "no other LAN");
        };
        for output in 0..last {
            if self.lans.forwards(source, output) {
                self.add_copy(cx, output, &packet);
            }
        }
        self.add(cx, last, packet);
    }

    #[inline]
    fn switch(&mut self, cx: &mut Cx<'_>, source: usize, packet: Packet) {
        let Ok(header) = Header::new_checked(packet.data()) else { return cx.drop(packet, NO_HEADER) };
        let (src, dst) = (header.src(), header.dst());
        let now_ns = Some(packet.timestamp_ns()).filter(|&time_ns| time_ns != 0).unwrap_or(cx.now_ns());
        let mut found = None;
        let stations = &self.lans.stations;
        if stations.timeout_s() != 0 {
            if !src.is_group() {
                stations.learn(src, source, now_ns);
            }
            if !dst.is_group() {
                found = stations.port(dst, now_ns);
            }
        }
        match (found, self.listener) {
            (None, _) => self.flood(cx, source, packet),
            (Some(port), true) if port == source => self.add(cx, self.outputs - 1, packet),
            (Some(port), false) if port == source => cx.drop(packet, "from its own LAN"),
            (Some(port), false) if !self.lans.forwards(source, port) => {
                cx.drop(packet, "port forwarding removed")
            }
            (Some(port), listener) => {
                if listener {
                    self.add_copy(cx, self.outputs - 1, &packet);
                }
                self.add(cx, port, packet);
            }
        }
    }
}

impl Element for EtherSwitch {
    fn push(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) {
        batch.drain(|packet| self.switch(cx, port, packet));
        cx.consume(batch);
        let mut lots = std::mem::take(&mut self.lots);
        for (output, lot) in lots.drain(..) {
            cx.emit(output, lot);
        }
        self.lots = lots; // with the room that it has
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.lans.clone()))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<Arc<Lans>>() {
            self.lans.stations.adopt(&state.stations, self.outputs - usize::from(self.listener));
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = EtherSwitch;
        h.read("table", |e: &mut E, _| {
            e.lans.stations.list().iter().map(|(mac, port)| format!("{mac} {port}\n")).collect::<String>()
        });
        h.read("timeout", |e: &mut E, _| e.lans.stations.timeout_s());
        h.write("timeout", |e: &mut E, cx, text| {
            let timeout = router::value(cx, text).map_err(|_| "expected timeout (integer)")?;
            e.lans.stations.set_timeout_s(seconds(timeout));
            Ok(())
        });
        h.read("port_forwarding", |e: &mut E, _| e.lans.forwarding());
        h.write("remove_port_forwarding", |e: &mut E, _, text| {
            e.lans.remove_forwarding(text).ok_or_else(|| "invalid port forwarding".into())
        });
        h.write("reset_port_forwarding", |e: &mut E, _, _| {
            e.lans.reset_forwarding();
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send_singly;
    use proptest::prelude::*;

    /// The first byte of the payload, 0 to 2, says at which LAN a frame arrives.
    const SWITCH: &str = "Inject -> c :: Classifier(14/00, 14/01, 14/02, -); c[3] -> Discard;
        c[0] -> [0]s :: EtherSwitch(TIMEOUT 60); c[1] -> [1]s; c[2] -> [2]s;
        s[0] -> Collect(0); s[1] -> Collect(1); s[2] -> Collect(2);";

    pub(super) fn frame(dst: u8, src: u8, port: u8) -> Vec<u8> {
        [&[dst; 6][..], &[src; 6], &[8, 0, port]].concat()
    }

    #[test]
    fn learns_where_stations_are() {
        let mut flow = send_singly(
            SWITCH,
            [
                frame(4, 2, 0),    // to everywhere else
                frame(2, 4, 1),    // back to the first
                frame(2, 6, 0),    // stays there
                frame(0xff, 2, 0), // to all
                frame(4, 8, 2),    // to the second
                frame(2, 4, 2),    // the second has moved
                frame(4, 2, 0),
            ],
        );
        assert_eq!(flow.data(0), [frame(2, 4, 1), frame(2, 4, 2)]);
        assert_eq!(flow.data(1), [frame(4, 2, 0), frame(0xff, 2, 0), frame(4, 8, 2)]);
        assert_eq!(flow.data(2), [frame(4, 2, 0), frame(0xff, 2, 0), frame(4, 2, 0)]);
        assert_eq!(flow.drops(), [("from its own LAN", 1)]);
        let table = "02-02-02-02-02-02 0\n04-04-04-04-04-04 2\n06-06-06-06-06-06 0\n08-08-08-08-08-08 2\n";
        assert_eq!((flow.read("s.table"), flow.read("s.timeout")), (table.to_owned(), "60".to_owned()));
        assert_eq!(flow.write("s.timeout", "x"), "error: expected timeout (integer)");
        for (written, read) in [("5", "5"), ("1.4", "1"), ("1.5", "2"), ("0.6", "1"), ("0.4", "0")] {
            assert_eq!((flow.write("s.timeout", written), flow.read("s.timeout")), ("".into(), read.into()));
        }
    }

    #[test]
    fn a_timeout_of_zero_makes_it_a_hub() {
        let mut flow = send_singly(&SWITCH.replace("60", "0"), [frame(4, 2, 0), frame(2, 4, 1), vec![0; 13]]);
        assert_eq!([0, 1, 2].map(|at| flow.data(at).len()), [1, 1, 2]);
        assert_eq!(flow.read("s.table"), "");
        assert_eq!(
            send_singly("Inject -> s :: EtherSwitch -> Collect(0)", [frame(4, 2, 0)]).drops(),
            [("no other LAN", 1)]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        /// Nothing comes back to where it came from, and groups reach all other ports.
        #[test]
        fn whatever_comes(frames in prop::collection::vec((0u8..8, 0u8..8, 0u8..3), 1..40)) {
            let frames: Vec<_> = frames.into_iter().map(|(dst, src, port)| frame(dst, src, port)).collect();
            let flow = send_singly(SWITCH, frames.clone());
            for at in 0..3 {
                prop_assert!(flow.data(at).iter().all(|frame| usize::from(frame[14]) != at));
                let groups = |frames: &[Vec<u8>]| frames.iter().filter(|f| f[0] & 1 == 1).count();
                let others: Vec<_> = frames.iter().filter(|f| usize::from(f[14]) != at).cloned().collect();
                prop_assert_eq!(groups(&flow.data(at)), groups(&others));
            }
        }
    }
}
