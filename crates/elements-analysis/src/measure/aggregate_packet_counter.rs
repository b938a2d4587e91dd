//! Counts packets by aggregate and packet number.
//!
//! ```click
//! AggregatePacketCounter([KEYWORDS])
//! ```
//!
//! Passes packets on from each input to the output with the same number, and records which packet numbers of each
//! aggregate were seen at which input. Packets whose aggregate annotation is 0 are not counted; if there were no
//! others, a message at the end says so.
//!
//! Ports: any number of inputs, as many outputs. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `ANNO` (annotation of four bytes, or `NONE`; default `PACKET_NUMBER`): the annotation that holds the packet
//!   number. With `NONE` all packets have the number 0.
//! - `CAPACITY` (integer, default 1048576): the maximum number of packet numbers of all aggregates together; packets with
//!   any more are not counted. Click has no limit.
//! - `NOTIFIER` (element): accepted, without effect, as in Click.
//! - `PACKETNO` (0, 1 or negative, default 0): which packet number annotation to use: the one at byte 32 or the one
//!   at byte 36. With a negative number all packets have the number 0.
//!
//! # Handlers
//! - `count` (read): packets counted.
//! - `received` (read with an aggregate): the numbers of its packets seen at any input, one per line.
//! - `undelivered` (read with an aggregate): the numbers of its packets seen at input 0, but less often or never at
//!   input 1.
//! - `clear` (write, button): forgets everything.
//!
//! # Example
//! ```click
//! c :: AggregatePacketCounter;
//! FromDump(sent.pcap) -> AggregateIPFlows -> [0] c [0] -> Discard;
//! FromDump(received.pcap) -> AggregateIPFlows -> [1] c [1] -> Discard;
//! ```
//!
//! # See also
//! AggregateCounter, AggregateIPFlows

use super::by_aggregate::ByAggregate;
use packet::{Anno, Batch, Packet};
use router::{
    AnnoOf, Class, Config, ConfigError, Cx, Element, ElementName, FromArg, Handlers, Pull, Residency,
    Verdict, parse_integer,
};
use std::collections::BTreeMap;

/// The class.
pub(crate) const CLASS: Class = Class::new("AggregatePacketCounter", create)
    .ports("1-/=")
    .flow("#/#")
    .residency(Residency::Exclusive)
    .keeps("packet numbers", "CAPACITY", 1_048_576, 512)
    .doc(router::manual!("aggregate_packet_counter.rs"));

/// How often each packet number was seen at each input.
type Numbers = BTreeMap<u32, Box<[u64]>>;

struct AggregatePacketCounter {
    /// Where the packet number is, if it counts.
    number: Option<Anno>,
    inputs: usize,
    flows: ByAggregate<Numbers>,
    /// Numbers of all aggregates, and how many there may be.
    known: usize,
    capacity: usize,
    /// Whether packets came, and whether any had an aggregate.
    came: bool,
    counted: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut which, mut place, mut notifier) = (0i32, None::<String>, None::<ElementName>);
    let mut capacity = 1usize << 20;
    config
        .args()
        .keyword("PACKETNO", &mut which)
        .keyword("ANNO", &mut place)
        .keyword("NOTIFIER", &mut notifier)
        .keyword("CAPACITY", &mut capacity)
        .finish()?;
    let number = match (place.as_deref(), which) {
        (Some("NONE"), _) => None,
        (Some(place), _) => {
            Some(AnnoOf::<4>::from_arg(place, config.scope()).map_err(|_| "bad ANNO".to_owned())?.0)
        }
        (None, 0) => Some(Anno::PACKET_NUMBER),
        (None, 1) => Some(Anno::SEQUENCE_NUMBER),
        (None, ..0) => None,
        (None, _) => return Err("'PACKETNO' cannot be bigger than 1".into()),
    };
    let (inputs, flows) = (config.inputs(), ByAggregate::default());
    Ok(Box::new(AggregatePacketCounter {
        number,
        inputs,
        flows,
        known: 0,
        capacity,
        came: false,
        counted: false,
    }))
}

impl AggregatePacketCounter {
    fn note(&mut self, port: usize, packet: &Packet) {
        let aggregate = packet.anno(Anno::AGGREGATE) as u32;
        self.came = true;
        if aggregate == 0 {
            return;
        }
        self.counted = true;
        let number = self.number.map_or(0, |place| packet.anno(place) as u32);
        let is_known = self.flows.get(&aggregate).is_some_and(|numbers| numbers.contains_key(&number));
        if !is_known && self.known >= self.capacity {
            return;
        }
        self.known += usize::from(!is_known);
        let counts = self.flows.entry(aggregate).or_default().entry(number);
        if let Some(count) = counts.or_insert_with(|| vec![0; self.inputs].into()).get_mut(port) {
            *count += 1;
        }
    }

    /// The numbers of an aggregate's packets whose counts are such, one a line.
    fn list(&self, text: &str, such: impl Fn(&[u64]) -> bool) -> Result<String, String> {
        let aggregate = match text.trim() {
            "" => Some(0),
            text => parse_integer(text).and_then(|number| u32::try_from(number).ok()),
        };
        let aggregate = aggregate.ok_or("argument should be aggregate number")?;
        let numbers = self.flows.get(&aggregate).into_iter().flatten().filter(|(_, counts)| such(counts));
        Ok(numbers.map(|(number, _)| format!("{number}\n")).collect())
    }
}

impl Element for AggregatePacketCounter {
    fn push_one(&mut self, _cx: &mut Cx<'_>, port: usize, packet: &mut Packet) -> Option<Verdict> {
        self.note(port, packet);
        Some(Verdict::Output(port))
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        batch.iter().for_each(|packet| self.note(port, packet));
        cx.emit(port, batch);
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, port: usize, want: usize) -> Pull {
        Pull::Ask { input: port, want }
    }

    fn pulled(&mut self, _cx: &mut Cx<'_>, port: usize, batch: Batch) -> Pull {
        batch.iter().for_each(|packet| self.note(port, packet));
        Pull::Give(batch)
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        if self.came && !self.counted {
            cx.warn("saw no packets with aggregate annotations");
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type A = AggregatePacketCounter;
        h.read("count", |e: &mut A, _| {
            e.flows.values().flat_map(Numbers::values).flat_map(|counts| counts.iter()).sum::<u64>()
        });
        h.read_with("received", |e: &mut A, _, text| e.list(text, |counts| counts.iter().any(|&n| n > 0)));
        if self.inputs > 1 {
            h.read_with("undelivered", |e: &mut A, _, text| e.list(text, |counts| counts[0] > counts[1]));
        }
        h.write("clear", |e: &mut A, _, _| {
            e.flows.clear();
            e.known = 0;
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::{Sent, send_singly};
    use packet::Anno;

    /// Byte 0 says at which input a packet arrives, then come aggregate and number.
    fn sent([port, aggregate, number]: [u8; 3]) -> Sent {
        Sent {
            data: vec![port],
            annotations: vec![(Anno::AGGREGATE, aggregate.into()), (Anno::PACKET_NUMBER, number.into())],
            ..Sent::default()
        }
    }

    #[test]
    fn packets_that_do_not_arrive_are_listed() {
        let config =
            "Inject -> c :: Classifier(0/00, -); c[0] -> [0]a :: AggregatePacketCounter; c[1] -> [1]a;
                      a[0] -> Collect(0); a[1] -> Collect(1)";
        let packets = [
            [0, 5, 1],
            [0, 5, 2],
            [0, 5, 2],
            [0, 5, 9],
            [1, 5, 1],
            [1, 5, 2],
            [1, 5, 7],
            [0, 6, 3],
            [0, 0, 4],
        ];
        let mut flow = send_singly(config, packets.iter().copied().map(sent));
        assert_eq!((flow.data(0).len(), flow.data(1).len(), flow.read("a.count")), (6, 3, "8".into()));
        assert_eq!(flow.read_with("a.received", "5"), "1\n2\n7\n9\n");
        assert_eq!(flow.read_with("a.undelivered", "5"), "2\n9\n");
        assert_eq!(
            (flow.read_with("a.received", "0"), flow.read_with("a.received", "7")),
            (String::new(), String::new())
        );
        assert_eq!(flow.read_with("a.received", "x"), "error: argument should be aggregate number");
        for (anno, received) in
            [("ANNO 36", "0\n"), ("ANNO NONE", "0\n"), ("ANNO PACKET_NUMBER", "1\n2\n9\n")]
        {
            let config = format!("Inject -> a :: AggregatePacketCounter({anno}) -> Collect(0)");
            let mut flow = send_singly(&config, packets[..4].iter().copied().map(sent));
            assert_eq!(flow.read_with("a.received", "5"), received, "{anno}");
        }
        assert!(errors("Idle -> AggregatePacketCounter(ANNO PAINT) -> Discard").contains("bad ANNO"));
        assert_eq!((flow.write("a.clear", ""), flow.read("a.count")), (String::new(), "0".into()));
        assert!(
            errors("Idle -> AggregatePacketCounter(PACKETNO 2) -> Discard")
                .contains("cannot be bigger than 1")
        );
    }
}
