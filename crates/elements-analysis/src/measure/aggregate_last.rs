//! Keeps the last packet of each aggregate.
//!
//! ```click
//! AggregateLast([KEYWORDS])
//! ```
//!
//! Holds each packet until another of its aggregate arrives, which takes over its annotations: the number of packets
//! and bytes it stands for, and the time of the aggregate's first packet. Earlier packets leave by output 1 or, if
//! there is none, are dropped. Last packets leave by output 0 when `clear` is written, in order of aggregates.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `NOTIFIER` (AggregateIPFlows or AggregateIPAddrPair): when this element has reported that an aggregate has
//!   ended, the aggregate's last packet leaves as soon as the next packet arrives.
//! - `STOP_AFTER_CLEAR` (boolean, default false): whether to stop the driver after `clear`.
//! - `CAPACITY` (integer, default 65536): the maximum number of packets held; packets of other aggregates are treated
//!   as earlier ones. Click has no limit.
//!
//! # Handlers
//! - `clear` (write, button): emits all packets held.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true, FORCE_IP true) -> AggregateIPFlows -> last :: AggregateLast(STOP_AFTER_CLEAR true)
//!     -> ToIPSummaryDump(-, CONTENTS aggregate count ip_src ip_dst);
//! DriverManager(pause, write last.clear, pause)
//! ```
//!
//! # See also
//! AggregateFirst, AggregateIPFlows

use super::by_aggregate::ByAggregate;
use super::notifier::{Notifier, Over};
use packet::{Anno, Batch, Packet};
use router::{Activity, Class, Config, ConfigError, Cx, Element, ElementName, Handlers, Residency};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class = Class::new("AggregateLast", create)
    .ports("1/1-2")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .holds("the last packet of each aggregate")
    .keeps("packets", "CAPACITY", 65_536, 2200)
    .doc(router::manual!("aggregate_last.rs"));

struct AggregateLast {
    last: ByAggregate<Packet>,
    capacity: usize,
    stop: bool,
    notifier: Option<String>,
    over: Option<Over>,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut capacity, mut stop, mut notifier) = (1 << 16, false, None::<ElementName>);
    config
        .args()
        .keyword("NOTIFIER", &mut notifier)
        .keyword("STOP_AFTER_CLEAR", &mut stop)
        .keyword("CAPACITY", &mut capacity)
        .finish()?;
    Ok(Box::new(AggregateLast {
        last: ByAggregate::default(),
        capacity,
        stop,
        notifier: notifier.map(|element| element.name),
        over: None,
        outputs: config.outputs(),
    }))
}

/// Lets a packet stand for an earlier one, too.
fn take_over(packet: &mut Packet, earlier: &Packet) {
    let packets = packet.anno(Anno::EXTRA_PACKETS) + 1 + earlier.anno(Anno::EXTRA_PACKETS);
    packet.set_anno(Anno::EXTRA_PACKETS, packets);
    let bytes = packet.anno(Anno::EXTRA_LENGTH) + earlier.len() as u64 + earlier.anno(Anno::EXTRA_LENGTH);
    packet.set_anno(Anno::EXTRA_LENGTH, bytes);
    packet.set_anno(Anno::FIRST_TIMESTAMP, earlier.anno(Anno::FIRST_TIMESTAMP));
}

impl AggregateLast {
    fn keep(&mut self, cx: &mut Cx<'_>, mut packet: Packet) {
        let aggregate = packet.anno(Anno::AGGREGATE) as u32;
        if let Some(last) = self.last.get_mut(&aggregate) {
            take_over(&mut packet, last);
            let earlier = std::mem::replace(last, packet);
            return self.pass_over(cx, earlier, "not the last of its aggregate");
        }
        if self.last.len() >= self.capacity {
            return self.pass_over(cx, packet, "too many aggregates");
        }
        packet.set_anno(Anno::FIRST_TIMESTAMP, packet.timestamp_ns() as u64);
        self.last.insert(aggregate, packet);
    }

    /// Lets the last packets of aggregates go that are over.
    fn let_go(&mut self, cx: &mut Cx<'_>) {
        for aggregate in self.over.iter().flat_map(Over::take) {
            if let Some(packet) = self.last.remove(&aggregate) {
                cx.emit_packet(0, packet);
            }
        }
    }

    fn pass_over(&self, cx: &mut Cx<'_>, packet: Packet, reason: &'static str) {
        if self.outputs > 1 { cx.emit_packet(1, packet) } else { cx.drop(packet, reason) }
    }
}

impl Element for AggregateLast {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if let Some(name) = &self.notifier {
            self.over = Some(Notifier::named(cx, name)?.listen());
        }
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        batch.drain(|packet| self.keep(cx, packet));
        cx.consume(batch);
        // Behind the packets: those of the aggregate may be among them.
        self.let_go(cx);
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        let mut all: Vec<(u32, Packet)> = self.last.drain().collect();
        all.sort_unstable_by_key(|(aggregate, _)| *aggregate);
        let mut batch = cx.batch();
        for (_, packet) in all {
            if batch.len() == packet::BATCH_MAX {
                let full = std::mem::replace(&mut batch, cx.batch());
                cx.emit(0, full);
            }
            batch.push(packet);
        }
        cx.emit(0, batch);
        if self.stop {
            cx.info().please_end();
        }
    }

    fn held(&self) -> usize {
        self.last.len()
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(std::mem::take(&mut self.last)))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<ByAggregate<Packet>>() {
            self.last = *state;
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.write("clear", |_: &mut AggregateLast, cx, _| {
            cx.tasks().schedule();
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::build;
    use router::Call;

    /// The last packets come in order, and tell how many they stand for.
    #[test]
    fn last_packets() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump").to_str().unwrap().to_owned();
        let config = format!(
            "FromIPSummaryDump(DATA \"!data ts aggregate ip_len\\n1 7 30\\n2 3 40\\n3 7 50\\n4 9 60\\n5 7 70\\n\", STOP true)
             -> l :: AggregateLast(CAPACITY 2, STOP_AFTER_CLEAR true)
             -> ToIPSummaryDump({path}, HEADER false, FIELDS ts first_ts aggregate count); l[1] -> d :: Discard;
             DriverManager(pause, write l.clear, pause)"
        );
        let mut router = build(&config, 1, 32).unwrap();
        router.run();
        assert_eq!(router.call(Call::read("d.count", "")).as_deref(), Ok("3"));
        router.finish();
        let lines = "2.000000 2.000000 3 1\n5.000000 1.000000 7 3\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), lines);
    }

    /// A flow's last packet leaves when the flow is over, the others when they are asked for.
    #[test]
    fn the_last_packet_leaves_when_its_flow_is_over() {
        let config = "FromIPSummaryDump(DATA \"!data ts ip_src sport ip_dst dport ip_proto\n1 1.1.1.1 1 2.2.2.2 2 U\n2 1.1.1.1 1 2.2.2.2 2 U
            3 3.3.3.3 1 2.2.2.2 2 U\n9 1.1.1.1 1 2.2.2.2 2 U\n\", STOP true) -> f :: AggregateIPFlows(UDP_TIMEOUT 5)
            -> l :: AggregateLast(NOTIFIER f) -> Print(TIMESTAMP true, CONTENTS NONE) -> Discard;
            DriverManager(pause, print \"now\", write l.clear, wait 0)";
        let said = crate::testing::run(config);
        let times: Vec<&str> = said.lines().map(|line| line.split(['.', ':']).next().unwrap_or("")).collect();
        assert_eq!(times, ["2", "now", "3", "9"], "{said}");
        let wrong = crate::testing::errors("i :: Idle -> AggregateLast(NOTIFIER i) -> Discard");
        assert!(wrong.contains("i is not an AggregateNotifier"), "{wrong}");
    }
}
