//! Bridge messages (IEEE 802.1D, clause 9).

use std::fmt;
use wire::MacAddr;

/// Bytes of a message with its Ethernet header.
pub(super) const LEN: usize = 60;
/// Bytes that it needs to have.
const LEAST_LEN: usize = 52;
/// Where the message starts that the link-layer header is followed by.
const START: usize = 17;
const ALL_BRIDGES: MacAddr = MacAddr([0x01, 0x80, 0xc2, 0, 0, 0]);
/// Link-layer header: the protocol's service access points, and "unnumbered information".
const LINK: [u8; 3] = [0x42, 0x42, 3];
const CONFIGURATION: u8 = 0;
const TOPOLOGY_CHANGE: u8 = 128;
const CHANGED: u8 = 1;
const ACKNOWLEDGED: u8 = 0x80;
/// Times are in units of this part of a second.
const UNITS: u16 = 256;
const SECOND_NS: i64 = 1_000_000_000;

/// What a message says about the way to the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message {
    root: u64,
    cost: u32,
    bridge: u64,
    port: u16,
    changed: bool,
    pub(super) max_age_s: u16,
    pub(super) hello_s: u16,
    pub(super) forward_delay_s: u16,
    /// When the root said it; none for what never grows old.
    pub(super) since_ns: Option<i64>,
}

/// A message that was received.
pub(super) enum Received {
    Configuration { message: Message, acknowledged: bool },
    TopologyChange,
}

fn be<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(START + at..)?.first_chunk().copied()
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    be(bytes, at).map(u16::from_be_bytes)
}

impl Message {
    /// What is worse than anything.
    pub(super) const WORST: Message = Message { root: u64::MAX, cost: u32::MAX, ..Message::own(u64::MAX) };

    /// What a switch says who takes itself for the root.
    pub(super) const fn own(id: u64) -> Message {
        Message {
            root: id,
            cost: 0,
            bridge: id,
            port: 0,
            changed: false,
            max_age_s: 20,
            hello_s: 2,
            forward_delay_s: 15,
            since_ns: None,
        }
    }

    fn rank(&self) -> (u64, u32, u64, u16) {
        (self.root, self.cost, self.bridge, self.port)
    }

    pub(super) fn is_better_than(&self, other: &Message) -> bool {
        self.rank() < other.rank()
    }

    pub(super) fn is_as_good_as(&self, other: &Message) -> bool {
        self.rank() == other.rank()
    }

    /// The same, seen from one hop further away.
    pub(super) fn one_further(&self) -> Message {
        Message { cost: self.cost.saturating_add(1), ..*self }
    }

    /// The same, as a switch says it on one of its ports.
    pub(super) fn said_by(&self, bridge: u64, port: usize) -> Message {
        Message { bridge, port: port as u16, ..*self }
    }

    /// Reads a frame.
    pub(super) fn read(frame: &[u8], now_ns: i64) -> Option<Received> {
        let link = frame.get(14..START)?;
        let [protocol_high, protocol_low, _version, kind, ..] = *be::<5>(frame, 0)?.first_chunk::<5>()?;
        if link != LINK || (protocol_high, protocol_low) != (0, 0) {
            return None;
        }
        match kind {
            TOPOLOGY_CHANGE => return Some(Received::TopologyChange),
            CONFIGURATION if frame.len() >= LEAST_LEN => {}
            _ => return None,
        }
        let [flags] = be(frame, 4)?;
        let age_ns = i64::from(be16(frame, 27)?) * SECOND_NS / i64::from(UNITS);
        let message = Message {
            root: be(frame, 5).map(u64::from_be_bytes)?,
            cost: be(frame, 13).map(u32::from_be_bytes)?,
            bridge: be(frame, 17).map(u64::from_be_bytes)?,
            port: be16(frame, 25)?,
            changed: flags & CHANGED != 0,
            max_age_s: be16(frame, 29)? / UNITS,
            hello_s: be16(frame, 31)? / UNITS,
            forward_delay_s: be16(frame, 33)? / UNITS,
            since_ns: Some(now_ns - age_ns),
        };
        Some(Received::Configuration { message, acknowledged: flags & ACKNOWLEDGED != 0 })
    }

    /// As a frame.
    pub(super) fn write(&self, src: MacAddr, now_ns: i64, acknowledge: bool) -> [u8; LEN] {
        let mut frame = frame(src, 38, CONFIGURATION);
        let age_ns = self.since_ns.map_or(0, |since_ns| now_ns.saturating_sub(since_ns).max(0));
        let age = u16::try_from(age_ns / (SECOND_NS / i64::from(UNITS))).unwrap_or(u16::MAX);
        let flags = if self.changed { CHANGED } else { 0 } | if acknowledge { ACKNOWLEDGED } else { 0 };
        let units = |seconds: u16| seconds.saturating_mul(UNITS).to_be_bytes();
        let fields: [&[u8]; 9] = [
            &[flags],
            &self.root.to_be_bytes(),
            &self.cost.to_be_bytes(),
            &self.bridge.to_be_bytes(),
            &self.port.to_be_bytes(),
            &age.to_be_bytes(),
            &units(self.max_age_s),
            &units(self.hello_s),
            &units(self.forward_delay_s),
        ];
        let mut at = START + 4;
        for field in fields {
            frame[at..at + field.len()].copy_from_slice(field);
            at += field.len();
        }
        frame
    }
}

/// The frame of a message of this type, whose fields are zero.
fn frame(src: MacAddr, len: u16, kind: u8) -> [u8; LEN] {
    let mut frame = [0; LEN];
    frame[..14].copy_from_slice(&wire::ethernet::header(ALL_BRIDGES, src, len));
    frame[14..START].copy_from_slice(&LINK);
    frame[START + 3] = kind;
    frame
}

/// What a frame says, as Click prints it; `None` if it is too short for a message.
pub(in super::super) fn describe(frame: &[u8]) -> Option<String> {
    let [kind] = be(frame, 3)?;
    if kind == TOPOLOGY_CHANGE {
        return Some("TCM".to_owned());
    }
    let [flags] = be(frame, 4)?;
    let kind = if kind == CONFIGURATION { "CFG" } else { "???" };
    let acknowledged = if flags & ACKNOWLEDGED != 0 { "TCA" } else { "tca" };
    let changed = if flags & CHANGED != 0 { "TC" } else { "tc" };
    let [root, bridge] = [be(frame, 5)?, be(frame, 17)?].map(u64::from_be_bytes);
    let cost = u32::from_be_bytes(be(frame, 13)?);
    let port = be16(frame, 25)?;
    let [age, most, hello, delay] = [be16(frame, 27)?, be16(frame, 29)?, be16(frame, 31)?, be16(frame, 33)?];
    Some(format!(
        "{kind} {bridge:16x}:{port:04x}: {acknowledged} {changed}  {cost:08x} -> {root:16x}  \
         a/m/h/d: {age:x}/{most:x}/{hello:x}/{delay:x}"
    ))
}

/// A report of a change of topology.
pub(super) fn topology_change(src: MacAddr) -> [u8; LEN] {
    frame(src, 7, TOPOLOGY_CHANGE)
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let change = if self.changed { "TC" } else { "tc" };
        write!(
            f,
            " {:16x}:{:04x}: {change}  {:x} -> {:16x}  ",
            self.bridge, self.port, self.cost, self.root
        )?;
        write!(f, "m/h/d: {:x}/{:x}/{:x}", self.max_age_s, self.hello_s, self.forward_delay_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What is written is read; nothing else upsets the reader.
        #[test]
        fn round_trip(root in any::<u64>(), cost in any::<u32>(), port in any::<u16>(), age_s in 0i64..200, noise in prop::collection::vec(any::<u8>(), 0..80)) {
            let now_ns = 1_000 * SECOND_NS;
            let message = Message { root, cost, port, since_ns: Some(now_ns - age_s * SECOND_NS), ..Message::own(7) };
            let frame = message.write(MacAddr([2; 6]), now_ns, true);
            match Message::read(&frame, now_ns) {
                Some(Received::Configuration { message: read, acknowledged }) => prop_assert_eq!((read, acknowledged), (message, true)),
                _ => prop_assert!(false),
            }
            prop_assert!(Message::read(&frame[..51], now_ns).is_none());
            let _ = Message::read(&noise, now_ns);
            prop_assert!(matches!(Message::read(&topology_change(MacAddr([2; 6])), 0), Some(Received::TopologyChange)));
        }
    }
}
