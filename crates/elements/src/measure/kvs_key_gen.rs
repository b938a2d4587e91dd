//! Writes random keys into packets.
//!
//! ```click
//! KVSKeyGen([KEYWORDS])
//! ```
//!
//! Writes a random four-byte number into the data of each UDP packet: a key, for measurements of key-value stores.
//! Packets too short for it pass unchanged, and so do packets without a marked UDP header. Passes packets on from
//! each input to the output of the same number. It is FastClick's element.
//!
//! Ports: 1 or more inputs, as many outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `OFFSET` (integer, default 0): where to write it, counted from the end of the UDP header.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FastUDPFlows(RATE 0, LIMIT 100) -> Unqueue -> MarkIPHeader(14) -> KVSKeyGen -> Discard
//! ```
//!
//! # See also
//! FastUDPFlows, StoreData, WorkPackage

use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element};
use wire::udp;

/// The class.
pub(crate) const CLASS: Class = Class::new("KVSKeyGen", create)
    .ports("1-/=")
    .processing("h/h")
    .flow("#/#")
    .doc(include_str!("kvs_key_gen.rs"));
/// The name of its file in FastClick.
pub(crate) const FILE: Class = Class { name: "KVSGenKey", ..CLASS };

struct KvsKeyGen {
    /// Where the key is behind the transport header's start.
    at: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut offset = 0u32;
    config.args().keyword("OFFSET", &mut offset).finish()?;
    Ok(Box::new(KvsKeyGen { at: udp::HEADER_LEN + offset as usize }))
}

impl KvsKeyGen {
    fn write_key(&self, packet: &mut Packet, key: u32) -> Option<()> {
        let place = packet.transport_mut()?.get_mut(self.at..)?.first_chunk_mut()?;
        *place = key.to_ne_bytes();
        Some(())
    }
}

impl Element for KvsKeyGen {
    fn push(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) {
        for packet in batch.iter_mut() {
            let _ = self.write_key(packet, cx.rng().u32(..));
        }
        cx.emit(port, batch);
    }
}

#[cfg(test)]
mod tests {
    use crate::inject::send;

    /// Four bytes change, in each packet to something else, where there is room for them.
    #[test]
    fn keys() {
        let config = "Inject -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> k :: KVSKeyGen(OFFSET 2) -> Strip(28) -> Collect(0)";
        let data = send(config, [vec![9; 8], vec![9; 8], vec![9; 5]]).data(0);
        for packet in &data[..2] {
            assert_eq!((&packet[..2], &packet[6..]), (&[9, 9][..], &[9, 9][..]));
        }
        assert_ne!(data[0], data[1]);
        assert_eq!(data[2], [9; 5]);
    }
}
