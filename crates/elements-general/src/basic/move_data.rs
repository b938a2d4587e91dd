//! Copies part of a packet's data to another place in the packet.
//!
//! ```click
//! MoveData(DST_OFFSET, SRC_OFFSET, LENGTH [, KEYWORDS])
//! ```
//!
//! Packets that end at or before the end of the source range pass unchanged. A negative offset counts backwards from
//! the start of the data, into bytes that were stripped; packets with less headroom than that pass unchanged. It is
//! FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `DST_OFFSET`, `SRC_OFFSET` (integer): where to copy to, and from. `LENGTH` (integer): bytes to copy.
//! - `GROW` (boolean, default true): whether to lengthen packets that end before the destination range does;
//!   otherwise they pass unchanged.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource(DATA abcdefgh) -> MoveData(0, 4, 2) -> Print(CONTENTS ASCII) -> Discard
//! ```
//!
//! # See also
//! StoreData, StoreAnno

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("MoveData", create).doc(router::manual!("move_data.rs"));

struct MoveData {
    /// Bytes in front of the data that negative offsets reach. The offsets below count from there.
    front: usize,
    to: usize,
    from: usize,
    length: usize,
    grow: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut to, mut from, mut length, mut grow) = (0i32, 0i32, 0u32, true);
    config
        .args()
        .required("DST_OFFSET", &mut to)
        .required("SRC_OFFSET", &mut from)
        .required("LENGTH", &mut length)
        .keyword("GROW", &mut grow)
        .finish()?;
    let front = i64::from(to.min(from).min(0));
    let [front, to, from] = [-front, i64::from(to) - front, i64::from(from) - front].map(|n| n as usize);
    Ok(Box::new(PerPacket(MoveData { front, to, from, length: length as usize, grow })))
}

/// Copies within the data. What has the length of a field is moved through a register: the library's function would
/// take as long as all the rest.
#[inline(always)] // one call less for every packet
fn copy(data: &mut [u8], from: usize, to: usize, length: usize) {
    match length {
        2 => copy_field::<2>(data, from, to),
        4 => copy_field::<4>(data, from, to),
        8 => copy_field::<8>(data, from, to),
        _ => data.copy_within(from..from + length, to),
    }
}

#[inline(always)] // as above
fn copy_field<const N: usize>(data: &mut [u8], from: usize, to: usize) {
    let field: Option<[u8; N]> = data.get(from..).and_then(|rest| rest.first_chunk()).copied();
    if let Some(field) = field
        && let Some(place) = data.get_mut(to..).and_then(|rest| rest.first_chunk_mut())
    {
        *place = field;
    }
}

impl MoveData {
    /// Copies with what was stripped in sight.
    #[cold]
    fn process_with_front(&self, packet: &mut Packet) -> Verdict {
        if packet.headroom() < self.front || !packet.push(self.front) {
            return Verdict::Pass;
        }
        let verdict = self.copy(packet);
        // As much was put in front just now.
        let _ = packet.pull(self.front);
        verdict
    }

    #[inline(always)] // one call less for every packet
    fn copy(&self, packet: &mut Packet) -> Verdict {
        let (from_end, to_end) = (self.from + self.length, self.to + self.length);
        let data = packet.data_mut();
        if data.len() <= from_end {
            return Verdict::Pass;
        }
        if to_end <= data.len() {
            copy(data, self.from, self.to, self.length);
            return Verdict::Pass;
        }
        if self.grow { self.lengthen(packet) } else { Verdict::Pass }
    }

    /// Copies beyond the end of a packet.
    #[cold]
    fn lengthen(&self, packet: &mut Packet) -> Verdict {
        let old = packet.len();
        if !packet.put(self.to + self.length - old) {
            return Verdict::Drop("too long for a buffer");
        }
        packet.data_mut()[old..].fill(0);
        packet.data_mut().copy_within(self.from..self.from + self.length, self.to);
        Verdict::Pass
    }
}

impl Simple for MoveData {
    #[inline(always)] // one call less for every packet
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if self.front == 0 { self.copy(packet) } else { self.process_with_front(packet) }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send_one;
    use proptest::prelude::*;

    /// A field of the payload into the Ethernet header that was stripped, and one of that header into the payload.
    #[test]
    fn into_what_was_stripped() {
        let data: Vec<u8> = (0..40).collect();
        let moved = |arguments: &str, data: &[u8]| {
            let config = format!("Inject -> Strip(14) -> MoveData({arguments}) -> Unstrip(14) -> Collect(0)");
            send_one(&config, data.to_vec()).only(0).data().to_vec()
        };
        let mut want = data.clone();
        want[10..12].copy_from_slice(&[36, 37]);
        assert_eq!(moved("DST_OFFSET -4, SRC_OFFSET 22, LENGTH 2", &data), want);
        want = data.clone();
        want[20..24].copy_from_slice(&[0, 1, 2, 3]);
        assert_eq!(moved("6, -14, 4", &data), want);
        // Nothing moves where there is not as much, in front or behind.
        assert_eq!(moved("-200, 0, 4", &data), data);
        assert_eq!(moved("-4, 22, 2", &data[..38]), data[..38]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        /// Fields that overlap, and lengths that have no register.
        #[test]
        fn as_the_naive_copy(to in 0usize..12, from in 0usize..12, length in 0usize..12) {
            let data: Vec<u8> = (0..24).collect();
            let mut want = data.clone();
            want[to..to + length].copy_from_slice(&data[from..from + length]);
            let flow = send_one(&format!("Inject -> MoveData({to}, {from}, {length}) -> Collect(0)"), data);
            prop_assert_eq!(flow.only(0).data(), want);
        }
    }
}
