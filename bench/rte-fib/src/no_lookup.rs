//! Sends packets to next hops that no table says.
//!
//! ```click
//! NoLookup(HOPS)
//! ```
//!
//! Does to each packet what RteFibLookup does, but a hash of the destination annotation stands for the table's answer. What
//! a lookup element takes beyond this one is what its table takes.
//!
//! Ports: 1 input, any number of outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `HOPS` (integer, at least 1): the number of next hops. The first has the gateway 10.0.0.1 and output 0, the second 10.0.0.2 and output
//!   1, and so on; after the last output comes the first.
//!
//! # Example
//! ```click
//! Idle -> n :: NoLookup(256); n[0] -> Discard; n[1] -> Discard
//! ```
//!
//! # See also
//! RteFibLookup

use crate::hops::{Hop, send};
use packet::{BATCH_MAX, Batch};
use router::{Class, Config, ConfigError, Cx, Element};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("NoLookup", create).ports("1/-").processing("h/h").doc(router::manual!("no_lookup.rs"));

/// The golden ratio's part of 2^32: products with it are spread evenly.
const GOLDEN: u32 = 0x9e37_79b9;

struct NoLookup {
    hops: Vec<Hop>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut count = 0u32;
    config.args().required("HOPS", &mut count).finish()?;
    if count == 0 {
        return Err("HOPS must be at least 1".into());
    }
    let outputs = config.outputs() as u32;
    Ok(Box::new(NoLookup { hops: (0..count).map(|number| Hop::numbered(number, outputs)).collect() }))
}

impl Element for NoLookup {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        let mut found = [0; BATCH_MAX];
        let count = self.hops.len() as u64;
        for (found, packet) in found.iter_mut().zip(batch.iter()) {
            let hash = u32::from(packet.dst_ip()).wrapping_mul(GOLDEN);
            *found = (u64::from(hash) * count) >> 32;
        }
        let (hops, mut found) = (&self.hops, found.iter());
        cx.scatter(batch, |_, packet| {
            let number = found.next().map_or(usize::MAX, |&number| number as usize);
            send(packet, hops.get(number))
        });
    }
}
