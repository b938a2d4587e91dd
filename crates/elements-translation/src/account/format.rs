//! What messages look like: IPFIX (RFC 7011, flows of two directions RFC 5103) and NetFlow version 9 (RFC 3954).
//!
//! ```text
//!  IPFIX     version 10 | octets          | export time |              sequence | observation domain | sets ...
//!  version 9 version 9  | records         | uptime      | export time | sequence | source ID          | sets ...
//!
//!  a set     2 or 0, or a template's number from 256 on | octets | templates, or records of that template
//!  template  number | fields | for each: element, octets (with the upper bit of the element set, an enterprise's number follows)
//! ```
//!
//! The lists of fields below are all that says what is in a record: templates and records are both written from them.

use super::estimate::Told;
use super::meter::Parts;
use super::record::{Record, Why};
use crate::rewrite::flow_events::{Event, What};
use std::net::IpAddr;

/// The enterprise whose elements are those of IANA for packets that go the other way (RFC 5103, section 6.1).
const REVERSE: u32 = 29305;
/// ntop's, whose elements for latency and retransmissions collectors know; IANA has none.
const NTOP: u32 = 35632;
/// What version 9, which knows no enterprises, adds to the numbers of ntop's elements.
const NTOP_V9: u16 = 57_472;
/// Set beside an element's number if that is an enterprise's.
const ENTERPRISE: u16 = 1 << 15;

/// Information elements, by their numbers in IANA's registry; those below 128 are version 9's field types as well.
mod element {
    pub(super) const OCTETS: u16 = 1;
    pub(super) const PACKETS: u16 = 2;
    pub(super) const PROTOCOL: u16 = 4;
    pub(super) const TCP_FLAGS: u16 = 6;
    pub(super) const SOURCE_PORT: u16 = 7;
    pub(super) const SOURCE_V4: u16 = 8;
    pub(super) const DESTINATION_PORT: u16 = 11;
    pub(super) const DESTINATION_V4: u16 = 12;
    /// Milliseconds of uptime.
    pub(super) const LAST_SWITCHED: u16 = 21;
    pub(super) const FIRST_SWITCHED: u16 = 22;
    pub(super) const SOURCE_V6: u16 = 27;
    pub(super) const DESTINATION_V6: u16 = 28;
    pub(super) const ICMP_V4: u16 = 32;
    pub(super) const END_REASON: u16 = 136;
    pub(super) const ICMP_V6: u16 = 139;
    /// Milliseconds since the epoch.
    pub(super) const START: u16 = 152;
    pub(super) const END: u16 = 153;
    pub(super) const TRANSLATED_SOURCE_V4: u16 = 225;
    pub(super) const TRANSLATED_DESTINATION_V4: u16 = 226;
    pub(super) const TRANSLATED_SOURCE_PORT: u16 = 227;
    pub(super) const TRANSLATED_DESTINATION_PORT: u16 = 228;
    pub(super) const NAT_EVENT: u16 = 230;
    pub(super) const FIREWALL_EVENT: u16 = 233;
    pub(super) const BIFLOW_DIRECTION: u16 = 239;
    /// Milliseconds since the epoch.
    pub(super) const OBSERVED: u16 = 323;
    pub(super) const EXPORTED_OCTETS: u16 = 40;
    pub(super) const EXPORTED_MESSAGES: u16 = 41;
    pub(super) const EXPORTED_RECORDS: u16 = 42;
    pub(super) const DOMAIN: u16 = 149;
    pub(super) const IGNORED_PACKETS: u16 = 164;
    pub(super) const NOT_SENT_RECORDS: u16 = 166;
    pub(super) const QUOTA: u16 = 466;
    /// Of ntop's. Segments that were sent again, from the source and to it.
    pub(super) const AGAIN_FROM: u16 = 109;
    pub(super) const AGAIN_TO: u16 = 110;
    /// Half of a round trip between the exporter and who has opened the connection, or the other side, in milliseconds.
    pub(super) const CLIENT_LATENCY: u16 = 123;
    pub(super) const SERVER_LATENCY: u16 = 124;
    pub(super) const MOST_SESSIONS: u16 = 471;
}

/// biflowDirection: the first side is the one that began.
const INITIATOR: u64 = 1;
/// natQuotaExceededEvent: as many flows as there may be.
const MAXIMUM_SESSIONS: u64 = 1;

/// A field of a template.
#[derive(Clone, Copy)]
pub(super) struct Field {
    element: u16,
    len: u16,
    /// The enterprise whose element it is; 0 for IANA.
    enterprise: u32,
}

const fn field(element: u16, len: u16) -> Field {
    Field { element, len, enterprise: 0 }
}

const fn reverse(element: u16, len: u16) -> Field {
    Field { element, len, enterprise: REVERSE }
}

/// One of ntop's elements, all of which have four octets.
const fn ntop(element: u16) -> Field {
    Field { element, len: 4, enterprise: NTOP }
}

const fn ntop_v9(element: u16) -> Field {
    field(NTOP_V9 + element, 4)
}

/// A template.
pub(super) struct Template {
    pub(super) number: u16,
    fields: &'static [&'static [Field]],
}

use element::*;

const V4: &[Field] = &[field(SOURCE_V4, 4), field(DESTINATION_V4, 4), field(ICMP_V4, 2)];
const V6: &[Field] = &[field(SOURCE_V6, 16), field(DESTINATION_V6, 16), field(ICMP_V6, 2)];
const TRANSPORT: &[Field] = &[field(SOURCE_PORT, 2), field(DESTINATION_PORT, 2), field(PROTOCOL, 1)];
const COUNTS: &[Field] = &[field(OCTETS, 8), field(PACKETS, 8), field(TCP_FLAGS, 1)];
const TIMES: &[Field] = &[field(START, 8), field(END, 8), field(END_REASON, 1)];
const UPTIMES: &[Field] = &[field(FIRST_SWITCHED, 4), field(LAST_SWITCHED, 4)];
const BACK: &[Field] = &[
    field(BIFLOW_DIRECTION, 1),
    reverse(START, 8),
    reverse(END, 8),
    reverse(OCTETS, 8),
    reverse(PACKETS, 8),
    reverse(TCP_FLAGS, 1),
];

const ESTIMATES: &[Field] = &[ntop(CLIENT_LATENCY), ntop(SERVER_LATENCY), ntop(AGAIN_FROM)];
const BACK_ESTIMATES: &[Field] = &[ntop(AGAIN_TO)];
const ESTIMATES_V9: &[Field] = &[ntop_v9(CLIENT_LATENCY), ntop_v9(SERVER_LATENCY), ntop_v9(AGAIN_FROM)];

/// One direction, of IPv4 and of IPv6; and both.
static IPFIX: [Template; 4] = [
    Template { number: 256, fields: &[V4, TRANSPORT, TIMES, COUNTS] },
    Template { number: 257, fields: &[V6, TRANSPORT, TIMES, COUNTS] },
    Template { number: 258, fields: &[V4, TRANSPORT, TIMES, COUNTS, BACK] },
    Template { number: 259, fields: &[V6, TRANSPORT, TIMES, COUNTS, BACK] },
];
static NETFLOW9: [Template; 2] = [
    Template { number: 256, fields: &[V4, TRANSPORT, UPTIMES, COUNTS] },
    Template { number: 257, fields: &[V6, TRANSPORT, UPTIMES, COUNTS] },
];

/// The same with what is estimated of TCP.
static IPFIX_ESTIMATES: [Template; 4] = [
    Template { number: 267, fields: &[V4, TRANSPORT, TIMES, COUNTS, ESTIMATES] },
    Template { number: 268, fields: &[V6, TRANSPORT, TIMES, COUNTS, ESTIMATES] },
    Template { number: 269, fields: &[V4, TRANSPORT, TIMES, COUNTS, ESTIMATES, BACK, BACK_ESTIMATES] },
    Template { number: 270, fields: &[V6, TRANSPORT, TIMES, COUNTS, ESTIMATES, BACK, BACK_ESTIMATES] },
];
static NETFLOW9_ESTIMATES: [Template; 2] = [
    Template { number: 267, fields: &[V4, TRANSPORT, UPTIMES, COUNTS, ESTIMATES_V9] },
    Template { number: 268, fields: &[V6, TRANSPORT, UPTIMES, COUNTS, ESTIMATES_V9] },
];

const NAT: &[Field] = &[field(OBSERVED, 8), field(NAT_EVENT, 1)];
const FIREWALL: &[Field] = &[field(OBSERVED, 8), field(FIREWALL_EVENT, 1)];
const ENDS_V4: &[Field] = &[field(SOURCE_V4, 4), field(DESTINATION_V4, 4)];
const ENDS_V6: &[Field] = &[field(SOURCE_V6, 16), field(DESTINATION_V6, 16)];
const TRANSLATED: &[Field] = &[
    field(TRANSLATED_SOURCE_V4, 4),
    field(TRANSLATED_DESTINATION_V4, 4),
    field(TRANSLATED_SOURCE_PORT, 2),
    field(TRANSLATED_DESTINATION_PORT, 2),
];
const ENDPOINT: &[Field] = &[
    field(TRANSLATED_SOURCE_V4, 4),
    field(PROTOCOL, 1),
    field(SOURCE_PORT, 2),
    field(TRANSLATED_SOURCE_PORT, 2),
];

/// Events of rewriters (RFC 8158, section 4.3) and of firewalls; the same in both protocols.
static SESSION: Template = Template { number: 260, fields: &[NAT, ENDS_V4, TRANSPORT, TRANSLATED] };
static SESSION_64: Template = Template { number: 271, fields: &[NAT, ENDS_V6, TRANSPORT, TRANSLATED] };
static MAPPING: Template = Template { number: 261, fields: &[NAT, &[field(SOURCE_V4, 4)], ENDPOINT] };
static MAPPING_64: Template = Template { number: 272, fields: &[NAT, &[field(SOURCE_V6, 16)], ENDPOINT] };
static SHORTAGE: Template =
    Template { number: 262, fields: &[NAT, &[field(TRANSLATED_SOURCE_V4, 4), field(PROTOCOL, 1)]] };
static FULL: Template = Template { number: 263, fields: &[NAT, &[field(QUOTA, 4), field(MOST_SESSIONS, 4)]] };
static CONNECTION_V4: Template = Template { number: 264, fields: &[FIREWALL, ENDS_V4, TRANSPORT] };
static CONNECTION_V6: Template = Template { number: 265, fields: &[FIREWALL, ENDS_V6, TRANSPORT] };
static EVENTS: [&Template; 8] =
    [&SESSION, &MAPPING, &SHORTAGE, &FULL, &CONNECTION_V4, &CONNECTION_V6, &SESSION_64, &MAPPING_64];

/// The template of an event's record.
pub(super) fn of_event(event: &Event) -> &'static Template {
    let is_six = event.ends[0].0.is_ipv6();
    match event.what {
        What::SessionMade | What::SessionEnded if is_six => &SESSION_64,
        What::SessionMade | What::SessionEnded => &SESSION,
        What::MappingMade | What::MappingEnded if is_six => &MAPPING_64,
        What::MappingMade | What::MappingEnded => &MAPPING,
        What::NoPorts | What::NoAddresses => &SHORTAGE,
        What::Full(_) => &FULL,
        What::Begun | What::Over | What::Denied if is_six => &CONNECTION_V6,
        What::Begun | What::Over | What::Denied => &CONNECTION_V4,
    }
}

/// natEvent and firewallEvent: the numbers of IANA's registries.
fn number(event: &Event) -> u64 {
    // Of sessions and mappings from IPv6 to IPv4 they are others.
    let six = if event.ends[0].0.is_ipv6() { 2 } else { 0 };
    match event.what {
        What::SessionMade => 4 + six,
        What::SessionEnded => 5 + six,
        What::MappingMade => 8 + six,
        What::MappingEnded => 9 + six,
        What::NoAddresses => 3,
        What::NoPorts => 12,
        What::Full(_) => 13,
        What::Begun => 1,
        What::Over => 2,
        What::Denied => 3,
    }
}

/// What an exporter tells of itself, and of what it has not told (RFC 7011, section 4). The first field is the scope.
pub(super) static STATISTICS: Template = Template {
    number: 266,
    fields: &[
        &[field(DOMAIN, 4)],
        &[field(EXPORTED_MESSAGES, 8), field(EXPORTED_RECORDS, 8), field(EXPORTED_OCTETS, 8)],
        &[field(IGNORED_PACKETS, 8), field(NOT_SENT_RECORDS, 8)],
    ],
};
/// The scope in version 9: the system (RFC 3954, section 6.1).
const SYSTEM: u16 = 1;

/// The values of [`STATISTICS`].
pub(super) struct Statistics {
    pub(super) domain: u32,
    pub(super) messages: u64,
    pub(super) records: u64,
    pub(super) octets: u64,
    pub(super) ignored: u64,
    pub(super) not_sent: u64,
}

/// What a record tells of.
pub(super) trait Subject {
    /// A field's value. Times are in milliseconds since the epoch; those of uptime since `boot_ms`.
    fn value(&self, field: &Field, boot_ms: i64) -> Value;
}

/// The value of a field. Of a number as many of the lower octets are sent as the template says.
pub(super) enum Value {
    Number(u64),
    Address(IpAddr),
}

/// A protocol of collectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// IPFIX; whether a record may have both directions of a flow.
    Ipfix {
        both: bool,
    },
    NetFlow9,
}

/// What a message's header says.
pub(super) struct Head {
    pub(super) now_ms: i64,
    /// When the uptime began.
    pub(super) boot_ms: i64,
    pub(super) sequence: u32,
    pub(super) domain: u32,
    /// Records and templates.
    pub(super) count: u16,
}

/// A flow as a record tells it: from the view of one of its ends.
pub(super) struct View<'r> {
    pub(super) parts: &'r Parts,
    pub(super) record: &'r Record,
    pub(super) told: Told,
    pub(super) why: Why,
    /// The end that is the source.
    pub(super) source: usize,
}

impl Format {
    /// Octets in a message's header.
    pub(super) fn header_len(self) -> usize {
        match self {
            Format::Ipfix { .. } => 16,
            Format::NetFlow9 => 20,
        }
    }

    /// The number of sets that have templates.
    pub(super) fn template_set(self) -> u16 {
        match self {
            Format::Ipfix { .. } => 2,
            Format::NetFlow9 => 0,
        }
    }

    /// The number of sets that have templates of options.
    pub(super) fn options_set(self) -> u16 {
        self.template_set() + 1
    }

    /// Sets end at multiples of so many octets.
    pub(super) fn alignment(self) -> usize {
        match self {
            Format::Ipfix { .. } => 1,
            Format::NetFlow9 => 4,
        }
    }

    /// The templates of flows: of one direction, and of both.
    fn of_flows(self, with_estimates: bool) -> &'static [Template] {
        match (self, with_estimates) {
            (Format::Ipfix { both: true }, false) => &IPFIX,
            (Format::Ipfix { both: false }, false) => &IPFIX[..2],
            (Format::Ipfix { both: true }, true) => &IPFIX_ESTIMATES,
            (Format::Ipfix { both: false }, true) => &IPFIX_ESTIMATES[..2],
            (Format::NetFlow9, false) => &NETFLOW9,
            (Format::NetFlow9, true) => &NETFLOW9_ESTIMATES,
        }
    }

    /// All templates, those of events if there can be any.
    pub(super) fn templates(
        self,
        with_events: bool,
        with_estimates: bool,
    ) -> impl Iterator<Item = &'static Template> {
        let events = if with_events { &EVENTS[..] } else { &[] };
        self.of_flows(with_estimates).iter().chain(events.iter().copied())
    }

    /// The records that tell of a flow: their templates, and which ends are their sources. A direction without packets has none.
    pub(super) fn records(
        self,
        parts: &Parts,
        record: &Record,
        with_estimates: bool,
    ) -> impl Iterator<Item = (&'static Template, usize)> {
        let templates = self.of_flows(with_estimates);
        let family = usize::from(parts.ends[0].0.is_ipv6());
        let has = record.packets.map(|packets| packets > 0);
        let together = self == Format::Ipfix { both: true } && has == [true; 2];
        let both = together.then(|| (&templates[2 + family], 0));
        let apart = (0..2).filter(move |&end| has[end] && !together);
        both.into_iter().chain(apart.map(move |end| (&templates[family], end)))
    }

    /// Fills a message's header in.
    pub(super) fn fill_header(self, message: &mut [u8], head: &Head) {
        let len = message.len() as u16;
        let time = (head.now_ms / 1000) as u32;
        let uptime = (head.now_ms - head.boot_ms) as u32;
        let words: &[u32] = match self {
            Format::Ipfix { .. } => &[10 << 16 | u32::from(len), time, head.sequence, head.domain],
            Format::NetFlow9 => &[9 << 16 | u32::from(head.count), uptime, time, head.sequence, head.domain],
        };
        for (place, word) in message.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_be_bytes());
        }
    }
}

impl Template {
    fn fields(&self) -> impl Iterator<Item = &'static Field> {
        self.fields.iter().copied().flatten()
    }

    /// Octets in a record.
    pub(super) fn record_len(&self) -> usize {
        self.fields().map(|field| usize::from(field.len)).sum()
    }

    /// Appends the template itself.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.number.to_be_bytes());
        out.extend((self.fields().count() as u16).to_be_bytes());
        for field in self.fields() {
            let marked = if field.enterprise != 0 { field.element | ENTERPRISE } else { field.element };
            out.extend(marked.to_be_bytes());
            out.extend(field.len.to_be_bytes());
            if field.enterprise != 0 {
                out.extend(field.enterprise.to_be_bytes());
            }
        }
    }

    /// Appends the template as one of options: its first field is the scope.
    pub(super) fn write_options(&self, out: &mut Vec<u8>, format: Format) {
        let fields = self.fields().count() as u16;
        let counts = match format {
            Format::Ipfix { .. } => [self.number, fields, 1],
            // The octets of scopes, and those of the other fields.
            Format::NetFlow9 => [self.number, 4, 4 * (fields - 1)],
        };
        out.extend(counts.iter().flat_map(|count| count.to_be_bytes()));
        for (at, field) in self.fields().enumerate() {
            let is_system = at == 0 && format == Format::NetFlow9;
            out.extend(if is_system { SYSTEM } else { field.element }.to_be_bytes());
            out.extend(field.len.to_be_bytes());
        }
    }

    /// Appends a record.
    pub(super) fn write_record(&self, out: &mut Vec<u8>, subject: &impl Subject, boot_ms: i64) {
        for field in self.fields() {
            match subject.value(field, boot_ms) {
                Value::Number(number) => {
                    out.extend(&number.to_be_bytes()[8 - usize::from(field.len.min(8))..])
                }
                Value::Address(IpAddr::V4(address)) => out.extend(address.octets()),
                Value::Address(IpAddr::V6(address)) => out.extend(address.octets()),
            }
        }
    }
}

impl Field {
    /// The number among ntop's elements, if it is one of them.
    fn ntop(&self) -> Option<u16> {
        match self.enterprise {
            NTOP => Some(self.element),
            0 => self.element.checked_sub(NTOP_V9),
            _ => None,
        }
    }
}

/// The value of one of ntop's elements, from the view of an end.
fn ntop_value(element: u16, told: Told, source: usize) -> u64 {
    // Half of a round trip, rounded.
    let half_ms = |rtt_us: u32| (u64::from(rtt_us) + 1000) / 2000;
    match element {
        SERVER_LATENCY => half_ms(told.rtt_us[0]),
        CLIENT_LATENCY => half_ms(told.rtt_us[1]),
        AGAIN_FROM => told.again[source].into(),
        AGAIN_TO => told.again[1 - source].into(),
        _ => 0,
    }
}

impl Subject for View<'_> {
    fn value(&self, field: &Field, boot_ms: i64) -> Value {
        let View { parts, record, told, why, source } = *self;
        if let Some(element) = field.ntop() {
            return Value::Number(ntop_value(element, told, source));
        }
        let (element, is_reverse) = (field.element, field.enterprise == REVERSE);
        let (from, to) = (parts.ends[source], parts.ends[1 - source]);
        // Whose packets the field is about.
        let sender = source ^ usize::from(is_reverse);
        let (first_ms, last_ms) = record.times_ms(sender);
        Value::Number(match element {
            SOURCE_V4 | SOURCE_V6 => return Value::Address(from.0),
            DESTINATION_V4 | DESTINATION_V6 => return Value::Address(to.0),
            SOURCE_PORT => from.1.into(),
            DESTINATION_PORT => to.1.into(),
            PROTOCOL => parts.protocol.into(),
            ICMP_V4 | ICMP_V6 => record.icmp[sender].into(),
            OCTETS => record.octets[sender],
            PACKETS => record.packets[sender],
            TCP_FLAGS => record.tcp_flags[sender].into(),
            START => first_ms as u64,
            END => last_ms as u64,
            FIRST_SWITCHED => (first_ms - boot_ms) as u64,
            LAST_SWITCHED => (last_ms - boot_ms) as u64,
            END_REASON => why as u64,
            BIFLOW_DIRECTION => INITIATOR,
            _ => 0,
        })
    }
}

impl Subject for Statistics {
    fn value(&self, field: &Field, _boot_ms: i64) -> Value {
        Value::Number(match field.element {
            DOMAIN => self.domain.into(),
            EXPORTED_MESSAGES => self.messages,
            EXPORTED_RECORDS => self.records,
            EXPORTED_OCTETS => self.octets,
            IGNORED_PACKETS => self.ignored,
            NOT_SENT_RECORDS => self.not_sent,
            _ => 0,
        })
    }
}

impl Subject for Event {
    fn value(&self, field: &Field, _boot_ms: i64) -> Value {
        let [(source, sport), (destination, dport)] = self.ends;
        let [(new_source, new_sport), (new_destination, new_dport)] = self.translated;
        Value::Number(match field.element {
            OBSERVED => self.at_ms,
            NAT_EVENT | FIREWALL_EVENT => number(self),
            SOURCE_V4 | SOURCE_V6 => return Value::Address(source),
            DESTINATION_V4 | DESTINATION_V6 => return Value::Address(destination),
            TRANSLATED_SOURCE_V4 => return Value::Address(new_source.into()),
            TRANSLATED_DESTINATION_V4 => return Value::Address(new_destination.into()),
            SOURCE_PORT => sport.into(),
            DESTINATION_PORT => dport.into(),
            TRANSLATED_SOURCE_PORT => new_sport.into(),
            TRANSLATED_DESTINATION_PORT => new_dport.into(),
            PROTOCOL => self.protocol.into(),
            QUOTA => MAXIMUM_SESSIONS,
            MOST_SESSIONS => match self.what {
                What::Full(limit) => limit.into(),
                _ => 0,
            },
            _ => 0,
        })
    }
}
