//! Messages to a collector: records of flows, with templates now and then.

use super::estimate::Told;
use super::format::{Format, Head, STATISTICS, Statistics, Subject, Template, View};
use super::meter::Parts;
use super::numbers::Number;
use super::record::{Record, Why};

/// Octets in a set's header.
const SET_HEADER: usize = 4;
/// The shortest limit of a message: all templates and a record fit.
pub(super) const SHORTEST: usize = 1024;
/// The longest one, which fits a packet's buffer with a UDP header.
pub(super) const LONGEST: usize = 8192;

/// What is said to a collector, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) format: Format,
    pub(super) domain: u32,
    /// Octets of a message, at most.
    pub(super) longest: usize,
    /// After this time the next message has the templates again.
    pub(super) refresh_ms: i64,
    /// Whether there can be events.
    pub(super) with_events: bool,
    /// Whether statistics come with the templates.
    pub(super) with_statistics: bool,
    /// Whether records have what is estimated of TCP.
    pub(super) with_estimates: bool,
}

/// What goes on where a new configuration takes over, so that the collector sees one exporter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Course {
    sequence: u32,
    boot_ms: i64,
    pub(super) counts: Counts,
}

/// What was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) messages: u64,
    pub(super) records: u64,
    pub(super) octets: u64,
    /// Records of messages for which there was no packet.
    pub(super) lost: u64,
}

/// The message that is being written.
pub(super) struct Messages {
    plan: Plan,
    pub(super) course: Course,
    templates_ms: Option<i64>,
    bytes: Vec<u8>,
    /// The number of the set that is being written, and where it begins.
    set: Option<(u16, usize)>,
    /// Records in the message, and templates.
    records: u16,
    templates: u16,
    /// For statistics: packets that nothing is told of, and records that never got into a message.
    pub(super) ignored: u64,
    pub(super) not_told: u64,
}

impl Messages {
    /// None yet.
    pub(super) fn new(plan: Plan) -> Messages {
        Messages {
            plan,
            course: Course::default(),
            templates_ms: None,
            bytes: Vec::with_capacity(plan.longest),
            set: None,
            records: 0,
            templates: 0,
            ignored: 0,
            not_told: 0,
        }
    }

    /// Has the uptime count from now on.
    pub(super) fn boot(&mut self, now_ms: i64) {
        self.course.boot_ms = now_ms;
    }

    /// What the next message begins with.
    pub(super) fn number(&self) -> Number {
        let Course { sequence, boot_ms, .. } = self.course;
        Number { sequence, boot_ms }
    }

    /// Goes on where the same exporter, to the collector, has left off.
    pub(super) fn go_on(&mut self, number: Number) {
        (self.course.sequence, self.course.boot_ms) = (number.sequence, number.boot_ms);
    }

    /// Goes on with another's counts.
    pub(super) fn adopt(&mut self, old: Course) {
        let counts = &mut self.course.counts;
        counts.messages += old.counts.messages;
        counts.records += old.counts.records;
        counts.octets += old.counts.octets;
        counts.lost += old.counts.lost;
    }

    /// Adds the records that tell of a flow. Messages that are full go to `send`, which says whether it has sent them.
    pub(super) fn add(
        &mut self,
        now_ms: i64,
        (parts, record, told, why): (&Parts, &Record, Told, Why),
        send: &mut impl FnMut(&[u8]) -> bool,
    ) {
        let Plan { format, with_estimates, .. } = self.plan;
        for (template, source) in format.records(parts, record, with_estimates) {
            self.add_record(now_ms, template, &View { parts, record, told, why, source }, send);
        }
    }

    /// Adds a record.
    pub(super) fn add_record(
        &mut self,
        now_ms: i64,
        template: &Template,
        subject: &impl Subject,
        send: &mut impl FnMut(&[u8]) -> bool,
    ) {
        if self.records > 0 && self.len_with(template) > self.plan.longest {
            self.finish(now_ms, send);
        }
        if self.bytes.is_empty() {
            self.begin(now_ms);
        }
        self.open(template.number);
        template.write_record(&mut self.bytes, subject, self.course.boot_ms);
        self.records += 1;
    }

    /// How long the message is with one more record.
    fn len_with(&self, template: &Template) -> usize {
        let header =
            if self.set.is_some_and(|(number, _)| number == template.number) { 0 } else { SET_HEADER };
        let most_padding = 2 * (self.plan.format.alignment() - 1);
        self.bytes.len() + header + template.record_len() + most_padding
    }

    fn begin(&mut self, now_ms: i64) {
        let format = self.plan.format;
        self.bytes.resize(format.header_len(), 0);
        let is_due = |sent_ms: i64| !(0..self.plan.refresh_ms).contains(&(now_ms - sent_ms));
        if self.templates_ms.is_none_or(is_due) {
            self.templates_ms = Some(now_ms);
            self.open(format.template_set());
            for template in format.templates(self.plan.with_events, self.plan.with_estimates) {
                template.write(&mut self.bytes);
                self.templates += 1;
            }
            if self.plan.with_statistics {
                self.add_statistics();
            }
        }
    }

    /// Adds what the exporter tells of itself, and its template.
    fn add_statistics(&mut self) {
        let Plan { format, domain, .. } = self.plan;
        let Counts { messages, records, octets, lost } = self.course.counts;
        self.open(format.options_set());
        STATISTICS.write_options(&mut self.bytes, format);
        self.templates += 1;
        self.open(STATISTICS.number);
        let (ignored, not_sent) = (self.ignored, lost + self.not_told);
        let statistics = Statistics { domain, messages, records, octets, ignored, not_sent };
        STATISTICS.write_record(&mut self.bytes, &statistics, self.course.boot_ms);
        self.records += 1;
    }

    /// Has what comes next stand in a set with this number.
    fn open(&mut self, number: u16) {
        if self.set.is_some_and(|(open, _)| open == number) {
            return;
        }
        self.close();
        self.set = Some((number, self.bytes.len()));
        self.bytes.extend(number.to_be_bytes());
        self.bytes.extend([0; 2]);
    }

    /// Ends the set that is open.
    fn close(&mut self) {
        let Some((_, start)) = self.set.take() else { return };
        while !self.bytes.len().is_multiple_of(self.plan.format.alignment()) {
            self.bytes.push(0);
        }
        let len = (self.bytes.len() - start) as u16;
        self.bytes[start + 2..start + 4].copy_from_slice(&len.to_be_bytes());
    }

    /// Sends the message, if there is one.
    pub(super) fn finish(&mut self, now_ms: i64, send: &mut impl FnMut(&[u8]) -> bool) {
        if self.bytes.is_empty() {
            return;
        }
        self.close();
        let Course { sequence, boot_ms, counts } = &mut self.course;
        let Plan { format, domain, .. } = self.plan;
        let count = self.records + self.templates;
        let head = Head { now_ms, boot_ms: *boot_ms, sequence: *sequence, domain, count };
        format.fill_header(&mut self.bytes, &head);
        let records = u64::from(self.records);
        // A collector sees what it has not got by a gap in the numbers: of records, or of messages.
        *sequence = sequence.wrapping_add(match format {
            Format::Ipfix { .. } => u32::from(self.records),
            Format::NetFlow9 => 1,
        });
        if send(&self.bytes) {
            counts.messages += 1;
            counts.records += records;
            counts.octets += self.bytes.len() as u64;
        } else {
            counts.lost += records;
            // The templates may have been lost with it.
            self.templates_ms = None;
        }
        self.bytes.clear();
        (self.records, self.templates) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::decoder::{Decoder, Message};
    use super::super::sight::Facts;
    use super::*;
    use proptest::prelude::*;
    use std::net::IpAddr;

    /// A flow as a test makes it up: addresses by a number, ports, packets of each direction with their octets.
    type Made = (bool, u8, u16, u8, [Vec<u16>; 2]);

    fn made() -> impl Strategy<Value = Made> {
        let packets = || prop::collection::vec(any::<u16>(), 0..4);
        (any::<bool>(), any::<u8>(), any::<u16>(), any::<u8>(), [packets(), packets()])
    }

    fn parts((v6, host, port, protocol, _): &Made) -> Parts {
        let address = |last: u8| match v6 {
            true => IpAddr::V6([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, last].into()),
            false => IpAddr::V4([10, 0, 1, last].into()),
        };
        Parts { ends: [(address(*host), *port), (address(255 - host / 2), 80)], protocol: *protocol }
    }

    fn record((.., packets): &Made, at_ms: i64) -> Record {
        let mut record = Record::default();
        for (direction, packets) in packets.iter().enumerate() {
            for (number, octets) in packets.iter().enumerate() {
                let facts =
                    Facts { octets: (*octets).into(), packets: 1, tcp_flags: 1 << number, icmp: *octets };
                record.count(direction, &facts, at_ms + 10 * number as i64 + direction as i64);
            }
        }
        record
    }

    /// What is estimated of a flow, by its number.
    fn told(number: u32) -> Told {
        Told { rtt_us: [4000 * number, 2000 * number + 2999], again: [number, 7 * number] }
    }

    /// What a collector has to learn of the estimates: latencies of client and server, retransmissions of each direction that has packets.
    fn expected_estimates(flow: &Made, number: u128) -> Vec<[u128; 3]> {
        let again = [number, 7 * number];
        let sides = (0..2).filter(|&direction| !flow.4[direction].is_empty());
        sides.map(|direction| [number + 1, 2 * number, again[direction]]).collect()
    }

    /// What a collector learns of them.
    fn learned_estimates(message: &Message) -> Vec<[u128; 3]> {
        let mut sides = Vec::new();
        for record in message.records.iter().filter(|record| !record.contains_key(&(0, 164))) {
            let get = |element: u16| match message.version {
                9 => record.get(&(0, 57_472 + element)).copied(),
                _ => record.get(&(35_632, element)).copied(),
            };
            let Some(from) = get(109) else { continue };
            let latencies = [123, 124].map(|element| get(element).unwrap());
            sides.push([latencies[0], latencies[1], from]);
            sides.extend(get(110).map(|to| [latencies[0], latencies[1], to]));
        }
        sides
    }

    /// What a collector has to learn of a flow: each direction that has packets, with the numbers of its fields.
    fn expected(flow: &Made, at_ms: i64) -> Vec<[u128; 9]> {
        let Parts { ends, protocol } = parts(flow);
        let number = |address: IpAddr| match address {
            IpAddr::V4(address) => u128::from(address.to_bits()),
            IpAddr::V6(address) => address.to_bits(),
        };
        let side = |direction: usize| {
            let packets = &flow.4[direction];
            let [from, to] = [ends[direction], ends[1 - direction]];
            let start = (at_ms + direction as i64) as u128;
            let octets = packets.iter().map(|&octets| u128::from(octets)).sum();
            let last = packets.len().saturating_sub(1) as u128;
            let flags = (1 << packets.len()) - 1;
            let ports = u128::from(from.1) << 16 | u128::from(to.1);
            [
                number(from.0),
                number(to.0),
                ports,
                protocol.into(),
                start,
                start + 10 * last,
                octets,
                packets.len() as u128,
                flags,
            ]
        };
        (0..2).filter(|&direction| !flow.4[direction].is_empty()).map(side).collect()
    }

    /// What a collector learns of the directions of a record, by what the RFCs say of its fields.
    fn learned(message: &Message) -> Vec<[u128; 9]> {
        let mut sides = Vec::new();
        // Those without addresses are statistics.
        for record in message.records.iter().filter(|record| !record.contains_key(&(0, 164))) {
            let get = |enterprise: u32, element: u16| record.get(&(enterprise, element)).copied();
            let any = |elements: [u16; 2]| elements.into_iter().find_map(|element| get(0, element)).unwrap();
            let (from, to) = (any([8, 27]), any([12, 28]));
            let ports = (get(0, 7).unwrap(), get(0, 11).unwrap());
            let boot_ms = message.time_s * 1000 - message.uptime_ms.unwrap_or(0);
            let times = |enterprise| match (get(enterprise, 152), get(enterprise, 153)) {
                (Some(start), Some(end)) => [start, end],
                _ => [22, 21].map(|element| boot_ms + get(0, element).unwrap()),
            };
            let side = |enterprise: u32, (from, to): (u128, u128), (near, far): (u128, u128)| {
                let [start, end] = times(enterprise);
                let counts = [1, 2, 6].map(|element| get(enterprise, element).unwrap());
                [from, to, near << 16 | far, get(0, 4).unwrap(), start, end, counts[0], counts[1], counts[2]]
            };
            sides.push(side(0, (from, to), ports));
            if get(29305, 1).is_some() {
                assert_eq!(get(0, 239), Some(1));
                sides.push(side(29305, (to, from), (ports.1, ports.0)));
            }
        }
        sides
    }

    fn formats() -> impl Strategy<Value = Format> {
        prop::sample::select(vec![
            Format::Ipfix { both: true },
            Format::Ipfix { both: false },
            Format::NetFlow9,
        ])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        /// A decoder that knows nothing of this exporter but the RFCs finds what was counted; the sequence numbers say how much there was;
        /// no message is too long, and templates come again after their time.
        #[test]
        fn what_is_sent_is_what_was_counted(
            format in formats(),
            with_estimates in any::<bool>(),
            longest in SHORTEST..1500,
            flows in prop::collection::vec(made(), 1..60),
            refresh_ms in 1..2000i64,
        ) {
            let start_ms = 1_700_000_000_000;
            let plan = Plan { format, domain: 77, longest, refresh_ms, with_events: true, with_statistics: true, with_estimates };
            let mut messages = Messages::new(plan);
            messages.boot(start_ms - 5000);
            let mut sent: Vec<Vec<u8>> = Vec::new();
            let mut send = |message: &[u8]| { sent.push(message.to_vec()); true };
            for (at, flow) in flows.iter().enumerate() {
                let now_ms = start_ms + 1000 * (at as i64 / 7);
                let record = record(flow, now_ms);
                messages.add(now_ms, (&parts(flow), &record, told(at as u32), Why::Idle), &mut send);
                if at % 7 == 6 {
                    messages.finish(now_ms, &mut send);
                }
            }
            messages.finish(start_ms + 1000 * (flows.len() as i64 / 7), &mut send);
            let mut decoder = Decoder::default();
            let (mut found, mut number, mut templates_s) = (Vec::new(), 0u32, 0);
            let mut found_estimates = Vec::new();
            let (mut messages_before, mut octets) = (0, 0);
            for bytes in &sent {
                prop_assert!(bytes.len() <= longest);
                let message = decoder.decode(bytes).unwrap();
                prop_assert_eq!((message.domain, message.sequence), (77, number));
                number += if message.version == 9 { 1 } else { message.records.len() as u32 };
                // Statistics count what was sent before.
                if let Some(told) = message.records.iter().find(|record| record.contains_key(&(0, 164))) {
                    let values = [41, 40, 164, 166].map(|element| told[&(0, element)]);
                    prop_assert_eq!(values, [messages_before, octets, 0, 0]);
                }
                messages_before += 1;
                octets += bytes.len() as u128;
                found.extend(learned(&message));
                found_estimates.extend(learned_estimates(&message));
                if message.templates > 0 {
                    templates_s = message.time_s;
                }
                prop_assert!((message.time_s - templates_s) * 1000 <= refresh_ms as u128);
            }
            let all = |(at, flow)| expected(flow, start_ms + 1000 * (at as i64 / 7));
            let expected: Vec<_> = flows.iter().enumerate().flat_map(all).collect();
            prop_assert_eq!(found, expected);
            let all = |(at, flow)| expected_estimates(flow, at as u128);
            let estimates: Vec<_> = flows.iter().enumerate().flat_map(all).filter(|_| with_estimates).collect();
            prop_assert_eq!(found_estimates, estimates);
            let Counts { messages, lost, .. } = messages.course.counts;
            prop_assert_eq!((messages, lost), (sent.len() as u64, 0));
        }
    }

    /// A message that cannot be sent leaves a gap in the numbers, and the next one has the templates again.
    #[test]
    fn what_is_lost_is_seen_by_the_numbers() {
        let flow: Made = (false, 1, 2, 17, [vec![100], vec![]]);
        for (format, next) in [(Format::Ipfix { both: true }, 2), (Format::NetFlow9, 1)] {
            let plan = Plan {
                format,
                domain: 1,
                longest: 1400,
                refresh_ms: 60_000,
                with_events: false,
                with_statistics: false,
                with_estimates: false,
            };
            let mut messages = Messages::new(plan);
            let mut sent = Vec::new();
            for is_sent in [false, true] {
                let mut send = |message: &[u8]| {
                    sent.push(message.to_vec());
                    is_sent
                };
                for _ in 0..2 {
                    messages.add(7000, (&parts(&flow), &record(&flow, 7000), told(0), Why::Idle), &mut send);
                }
                messages.finish(7000, &mut send);
            }
            let second = Decoder::default().decode(&sent[1]).unwrap();
            assert_eq!((second.sequence, second.records.len()), (next, 2));
            let Counts { messages, records, lost, .. } = messages.course.counts;
            assert_eq!((messages, records, lost), (1, 2, 2));
        }
    }
}
