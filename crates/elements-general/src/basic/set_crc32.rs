//! Appends a checksum to packets.
//!
//! ```click
//! SetCRC32
//! ```
//!
//! Appends four bytes: the CRC-32 of the data (polynomial 04C11DB7, most significant bit first, initial value all
//! ones, result not inverted), in little-endian order.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> SetCRC32 -> CheckCRC32 -> Discard
//! ```
//!
//! # See also
//! CheckCRC32

use elements_shared::crc32::{BYTES, crc32};
use elements_shared::packet_end::lengthen;
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Pull};

/// The class.
pub(crate) const CLASS: Class = Class::new("SetCRC32", create).doc(router::manual!("set_crc32.rs"));

struct SetCrc32;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(SetCrc32))
}

fn append(cx: &mut Cx<'_>, packet: Packet) -> Option<Packet> {
    let crc = crc32(packet.data());
    match lengthen(cx, packet, BYTES) {
        Ok(mut packet) => {
            let end = packet.len() - BYTES;
            packet.data_mut()[end..].copy_from_slice(&crc.to_le_bytes());
            Some(packet)
        }
        Err(packet) => {
            cx.drop(packet, "too long for a buffer");
            None
        }
    }
}

impl Element for SetCrc32 {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        batch.filter_map(|packet| append(cx, packet));
        cx.emit(0, batch);
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Ask { input: 0, want }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) -> Pull {
        batch.filter_map(|packet| append(cx, packet));
        Pull::Give(batch)
    }
}
