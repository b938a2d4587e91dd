//! Turns IP packets into ICMP packets.
//!
//! ```click
//! ForceICMP([TYPE, CODE])
//! ```
//!
//! Expects packets with a marked IP header and at least 8 bytes after it. Sets their ICMP type, code and checksum.
//! Without TYPE or CODE, half of the packets get random values below 20, and the others keep theirs. Shorter packets
//! are dropped, and the first one is reported.
//!
//! It is meant for testing other elements with random packets.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `TYPE` (ICMP type, name or number): the type.
//! - `CODE` (ICMP code, name or number): the code.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! RandomSource(60) -> ForceIP -> ForceICMP(unreachable, host) -> IPPrint -> Discard
//! ```
//!
//! # See also
//! ForceIP, SetICMPChecksum, CheckICMPHeader

use super::force::BadLengths;
use super::message::Message;
use elements_shared::ip_numbers::{IcmpType, icmp_code};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::icmpv4::{self, Header};

/// The class.
pub(crate) const CLASS: Class = Class::new("ForceICMP", create).doc(router::manual!("force_icmp.rs"));

struct ForceIcmp {
    kind: Option<u8>,
    code: Option<u8>,
    bad: BadLengths,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut kind, mut code) = (None::<IcmpType>, None::<String>);
    config.args().positional("TYPE", &mut kind).positional("CODE", &mut code).finish()?;
    let kind = match kind {
        Some(kind) => Some(kind.octet().ok_or("ICMP type must be between 0 and 255")?),
        None => None,
    };
    let code = match code {
        Some(name) => {
            // No code has a name without a type.
            let code = kind.map_or_else(|| name.parse().ok(), |kind| icmp_code(kind, &name));
            Some(code.ok_or("argument 2 takes ICMP code")?)
        }
        None => None,
    };
    Ok(Box::new(PerPacket(ForceIcmp { kind, code, bad: BadLengths::default() })))
}

impl ForceIcmp {
    fn force(&self, cx: &mut Cx<'_>, packet: &mut Packet) -> Option<()> {
        let parts = Message::of(packet)?;
        let message = parts.bytes_mut(packet)?;
        let mut header = Header::new_checked_mut(&mut *message).ok()?;
        if cx.rng().bool() {
            header.set_kind(cx.rng().u8(..20));
            header.set_code(cx.rng().u8(..20));
        }
        if let Some(kind) = self.kind {
            header.set_kind(kind);
        }
        if let Some(code) = self.code {
            header.set_code(code);
        }
        icmpv4::fill_checksum(message).ok()
    }
}

impl Simple for ForceIcmp {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match self.force(cx, packet) {
            Some(()) => Verdict::Pass,
            None => self.bad.reject(cx, "ForceICMP", "bad ICMP length"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send;
    use elements_testing::samples::hostile;
    use elements_testing::transport_samples::carrying;
    use proptest::prelude::*;

    #[test]
    fn writes_the_type_and_code_asked_for() {
        let seen = |arguments: &str| -> Vec<(u8, u8)> {
            let config = format!("Inject -> MarkIPHeader -> ForceICMP({arguments}) -> Collect(0)");
            let packets = send(&config, vec![carrying(1, 0, &[0xee; 40]); 40]).data(0);
            assert!(packets.iter().all(|data| wire::checksum::verify(&data[20..])));
            packets.iter().map(|data| (data[20], data[21])).collect()
        };
        assert_eq!(seen("unreachable, port"), [(3, 3); 40]);
        assert_eq!(seen("8, 0"), [(8, 0); 40]);
        assert!(seen("").iter().all(|&(kind, code)| (kind, code) == (0xee, 0xee) || kind < 20 && code < 20));
        assert_eq!(seen("0x8, CODE 011"), [(8, 9); 40]);
        assert!(errors("Idle -> ForceICMP(nothing, 0) -> Discard").contains("TYPE: parse error"));
        assert!(errors("Idle -> ForceICMP(256, 0) -> Discard").contains("ICMP type must be between"));
        assert!(errors("Idle -> ForceICMP(echo, host) -> Discard").contains("argument 2 takes ICMP code"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn whatever_comes(packets in hostile()) {
            send("Inject -> MarkIPHeader -> ForceICMP(8, 0) -> Collect(0)", packets);
        }
    }
}
