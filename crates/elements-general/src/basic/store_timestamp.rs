//! Writes packets' timestamps into their data.
//!
//! ```click
//! StoreTimestamp(OFFSET)
//! StoreTimestamp(TAIL true)
//! ```
//!
//! Writes the timestamp as eight bytes: nanoseconds since the epoch, in host byte order. A packet that is too short
//! is extended with zeros; if that is impossible, it is dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `OFFSET` (integer): where in the packet to write.
//! - `TAIL` (boolean, default false): whether to append the timestamp to the packet instead.
//!
//! # Example
//! ```click
//! RatedSource -> StoreTimestamp(28) -> Discard
//! ```
//!
//! # See also
//! SetTimestamp, StoreData

use elements_shared::packet_end::write_behind_end;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("StoreTimestamp", create).doc(router::manual!("store_timestamp.rs"));

/// Where the timestamp is written; none: behind the packet.
struct StoreTimestamp(Option<u32>);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut offset, mut tail) = (-1i32, false);
    config.args().positional("OFFSET", &mut offset).keyword("TAIL", &mut tail).finish()?;
    let offset = u32::try_from(offset).ok();
    if offset.is_some() == tail {
        return Err("supply exactly one of 'OFFSET' and 'TAIL'".into());
    }
    Ok(Box::new(PerPacket(StoreTimestamp(offset))))
}

impl Simple for StoreTimestamp {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let stamp = packet.timestamp_ns().to_ne_bytes();
        if let Some(place) = self.0.and_then(|offset| packet.data_array_mut(offset)) {
            *place = stamp;
            return Verdict::Pass;
        }
        let offset = self.0.map_or(packet.len(), |offset| offset as usize);
        if write_behind_end(packet, offset, stamp) {
            Verdict::Pass
        } else {
            Verdict::Drop("no room for a timestamp")
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send;

    #[test]
    fn writes_the_stamp_and_makes_room_for_it() {
        let stamp = 5_250_000_000_i64.to_ne_bytes();
        for (arguments, expected) in [
            ("1", [&[7][..], &stamp, &[7]].concat()),
            ("4", [&[7; 4][..], &stamp].concat()),
            ("12", [&[7; 10][..], &[0; 2], &stamp].concat()),
            ("TAIL true", [&[7; 10][..], &stamp].concat()),
        ] {
            let config = format!("Inject -> SetTimestamp(5.25) -> StoreTimestamp({arguments}) -> Collect(0)");
            assert_eq!(send(&config, [vec![7; 10]]).data(0), [expected]);
        }
        let flow = send("Inject -> StoreTimestamp(2000000000) -> Collect(0)", [vec![1]]);
        assert_eq!(flow.drops(), [("no room for a timestamp", 1)]);
        for arguments in ["", "3, TAIL true"] {
            assert!(
                errors(&format!("Idle -> StoreTimestamp({arguments}) -> Discard")).contains("exactly one")
            );
        }
    }
}
