//! Sets the aggregate annotation to a field of the IP packet.
//!
//! ```click
//! AggregateIP(FIELD [, KEYWORDS])
//! ```
//!
//! FIELD is a protocol (`ip`, `tcp`, `udp`, `tcpudp`, `icmp`, `transp`, or `data` for what follows a TCP or UDP header) and
//! the name of one of its fields (`ip src`, `tcp flags`), or a position in it: `[BYTE]`, `[BYTE, BYTES]`, `[BYTE-BYTE]`,
//! `[BYTE+BYTES]`, with braces for bits. The protocol may be missing where the field is unambiguous. `/BITS` takes the first
//! bits of the field, `& MASK` those under a mask whose ones are contiguous. The field must lie within one aligned word of
//! four bytes.
//!
//! Packets must be marked as IP packets. Packets without the field (of other protocols, later fragments, truncated) leave by
//! output 1 or, if there is none, are dropped.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic, output 1 push. Workers: replicated.
//!
//! # Arguments
//! - `FIELD`: the field.
//! - `INCREMENTAL` (boolean, default false): whether the value is appended to the aggregate annotation that is there, instead
//!   of replacing it.
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
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Raw, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("AggregateIP", create).ports("1/1-2").processing("a/ah").doc(include_str!("aggregate_ip.rs"));

struct AggregateIp {
    field: Field,
    incremental: bool,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut text, mut incremental) = (Raw(String::new()), false);
    config.args().required("FIELD", &mut text).keyword("INCREMENTAL", &mut incremental).finish()?;
    let field = Field::parse(&text.0)?;
    if field.length == 32 && incremental {
        return Err("'INCREMENTAL' is incompatible with field length 32".into());
    }
    Ok(Box::new(PerPacket(AggregateIp { field, incremental, outputs: config.outputs() })))
}

impl Simple for AggregateIp {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(value) = self.field.value(packet) else {
            return super::fail(self.outputs, "no such IP field");
        };
        let high = if self.incremental { packet.anno(Anno::AGGREGATE) << self.field.length } else { 0 };
        packet.set_anno(Anno::AGGREGATE, high | u64::from(value));
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::inject::{Sent, send_one};
    use crate::measure::samples::udp;
    use crate::testing::errors;
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
    fn values() {
        assert_eq!(aggregate("AggregateIP(ip dst)"), Some(0x0a09_0807));
        assert_eq!(aggregate("AggregateIP(ip dst/8)"), Some(10));
        assert_eq!(aggregate("AggregateIP(FIELD dport)"), Some(5001));
        assert_eq!(aggregate("AggregateIP(ip ttl, INCREMENTAL true)"), Some(3 * 256 + 64));
        assert_eq!(aggregate("AggregateIP(data[1])"), Some(7));
        assert_eq!(aggregate("AggregateIP(tcp flags)"), None);
        assert_eq!(aggregate("AggregateIP(data[8])"), None, "the payload has eight bytes");
    }

    #[test]
    fn arguments_are_checked() {
        assert!(errors("Idle -> AggregateIP(ip dst, INCREMENTAL true) -> Discard").contains("incompatible"));
        assert!(errors("Idle -> AggregateIP(len) -> Discard").contains("ambiguous data field 'len'"));
    }
}
