//! Sets the aggregate annotation to a field of the IP packet.
//!
//! ```click
//! AggregateIP(FIELD [, KEYWORDS])
//! ```
//!
//! FIELD consists of a header (`ip`, the name of a protocol such as `tcp`, `ip proto NUMBER`, `tcpudp` for either of
//! these two, `transp` for any, or `payload` for what follows a TCP or UDP header) and the name of one of its fields
//! (`ip src`, `tcp flags`) or a position in it, or both: `[BYTE]`, `[BYTE:BYTES]`, `[BYTE-BYTE]`, with braces for
//! bits. The header may be left out if only one header has a field of that name. `/BITS` takes the first bits of the
//! field, `& MASK` those under a mask of contiguous ones. The field must lie within one aligned four-byte word.
//!
//! Packets must have a marked IP header. Packets without the field (of other protocols, later fragments, truncated)
//! leave by output 1 or, if there is none, are dropped.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic, output 1 push. Workers: replicated.
//!
//! # Arguments
//! - `FIELD`: the field.
//! - `INCREMENTAL` (boolean, default false): whether to append the value to the existing aggregate annotation instead
//!   of replacing it.
//! - `UNSHIFT_IP_ADDR` (boolean, default false): whether a part of an IP address keeps its position in the address:
//!   `ip dst/8` of 10.9.8.7 is then 10.0.0.0.
//!
//! # Handlers
//! - `header` (read): the field's protocol, 0 for IP. `bit_offset`, `bit_length` (read): its first bit in the header,
//!   and its length in bits.
//! - `field` (read): its header, and its name or position.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true, FORCE_IP true) -> AggregateIP(ip dst/24) -> AggregateCounter -> Discard
//! ```
//!
//! # See also
//! AggregateCounter, AggregateIPFlows, AggregateLength

use super::field::Field;
use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Raw, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("AggregateIP", create)
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("aggregate_ip.rs"));

struct AggregateIp {
    field: Field,
    /// Bits by which a value is moved to the left.
    shift: u32,
    incremental: bool,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut text, mut incremental, mut unshift) = (Raw(String::new()), false, false);
    config
        .args()
        .required("FIELD", &mut text)
        .keyword("INCREMENTAL", &mut incremental)
        .keyword("UNSHIFT_IP_ADDR", &mut unshift)
        .finish()?;
    let field = Field::parse(&text.0)?;
    if field.length == 32 && incremental {
        return Err("'INCREMENTAL' is incompatible with field length 32".into());
    }
    let shift = if unshift && field.is_of_address() { 32 - field.offset % 32 - field.length } else { 0 };
    Ok(Box::new(PerPacket(AggregateIp { field, shift, incremental, outputs: config.outputs() })))
}

impl Simple for AggregateIp {
    #[inline(always)] // one call less for every packet
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(value) = self.field.value(packet) else {
            return elements_shared::verdict::fail(self.outputs, "no such IP field");
        };
        let high = if self.incremental { packet.anno(Anno::AGGREGATE) << self.field.length } else { 0 };
        packet.set_anno(Anno::AGGREGATE, high + u64::from(value << self.shift));
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        type A = AggregateIp;
        h.read("header", |e: &mut A, _| e.field.base.protocol());
        h.read("bit_offset", |e: &mut A, _| e.field.offset);
        h.read("bit_length", |e: &mut A, _| e.field.length);
        h.read("field", |e: &mut A, _| e.field.text());
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Sent, send_one};
    use crate::testing::{errors, run_and_read};
    use elements_testing::flow_samples::udp;
    use packet::Anno;

    fn aggregate(element: &str) -> Option<u64> {
        let packet = udp(([18, 26, 4, 1], 5000), ([10, 9, 8, 7], 5001), &[0, 7, 14, 21, 0, 0, 0, 0]);
        let sent = Sent { annotations: vec![(Anno::AGGREGATE, 3)], ..Sent::from(packet) };
        let config = format!("Inject -> MarkIPHeader(0) -> a :: {element} -> Collect(0); a[1] -> Collect(1)");
        let flow = send_one(&config, sent);
        let (at, packet) = &flow.seen[0];
        (*at == 0).then(|| packet.anno(Anno::AGGREGATE))
    }

    /// The sample is from 18.26.4.1 port 5000 to 10.9.8.7 port 5001.
    #[test]
    fn the_field_becomes_the_aggregate() {
        assert_eq!(aggregate("AggregateIP(ip dst)"), Some(0x0a09_0807));
        assert_eq!(aggregate("AggregateIP(ip dst/8)"), Some(10));
        assert_eq!(aggregate("AggregateIP(FIELD dport)"), Some(5001));
        assert_eq!(aggregate("AggregateIP(ip ttl, INCREMENTAL true)"), Some(3 * 256 + 64));
        assert_eq!(aggregate("AggregateIP(data[1])"), Some(7));
        assert_eq!(aggregate("AggregateIP(tcp flags)"), None);
        assert_eq!(aggregate("AggregateIP(data[8])"), None, "the payload has eight bytes");
    }

    #[test]
    fn addresses_unshifted() {
        assert_eq!(aggregate("AggregateIP(ip dst/8, UNSHIFT_IP_ADDR true)"), Some(0x0a00_0000));
        assert_eq!(aggregate("AggregateIP(ip dst & 0xff00, UNSHIFT_IP_ADDR true)"), Some(0x0800));
        assert_eq!(aggregate("AggregateIP(ip ttl, UNSHIFT_IP_ADDR true)"), Some(64));
    }

    #[test]
    fn handlers_say_where_the_field_lies() {
        let read = |field: &str| {
            let config = format!("Idle -> a :: AggregateIP({field}) -> Discard; Script(stop)");
            run_and_read(&config, &["a.header", "a.bit_offset", "a.bit_length", "a.field"])
        };
        assert_eq!(read("ip src"), ["0", "96", "32", "ip src"]);
        assert_eq!(read("ip dst/8"), ["0", "128", "8", "ip dst/8"]);
        assert_eq!(read("dport"), ["tcpudp", "16", "16", "tcpudp dport"]);
        assert_eq!(read("tcp[13]"), ["tcp", "104", "8", "tcp flags"]);
        assert_eq!(read("data[4+2]"), ["payload", "32", "16", "payload[4:2]"]);
    }

    #[test]
    fn arguments_are_checked() {
        assert!(errors("Idle -> AggregateIP(ip dst, INCREMENTAL true) -> Discard").contains("incompatible"));
        assert!(errors("Idle -> AggregateIP(len) -> Discard").contains("expected 'HEADER [NAME]"));
    }
}
