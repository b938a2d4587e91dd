//! Lets a ConnTrack remember the connections whose packets come here.
//!
//! ```click
//! ConnTrackConfirm(CONNTRACK)
//! ```
//!
//! Stands behind a filter. A packet that a ConnTrack has marked as `new` makes that remember its connection; all packets leave
//! by the output that has the number of their input, as they are. So a packet that the filter refuses leaves nothing behind, and a
//! flood of them takes no room. Where a connection cannot be remembered, because the table is full or for QUOTA, its packet is dropped.
//!
//! Ports: 1 or more inputs, as many outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `CONNTRACK` (element): the ConnTrack.
//!
//! # Example
//! ```click
//! ct[0] -> IPFilter(allow state established, allow state new and dst tcp port 80, deny all) -> ConnTrackConfirm(ct) -> out;
//! ```
//!
//! # Differences from Click
//! Click has no class of this name.
//!
//! # See also
//! ConnTrack, IPFilter

use super::conn_track::{Shared, now_ms};
use super::sight::Sight;
use super::table::FULL;
use elements_shared::connection_state::ConnectionState;
use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, Verdict};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The class.
pub(crate) const CLASS: Class = Class::new("ConnTrackConfirm", create)
    .ports("1-/=")
    .processing("h/h")
    .flow("#/#")
    .doc(router::manual!("conn_track_confirm.rs"));

struct ConnTrackConfirm {
    name: String,
    shared: Option<Arc<Shared>>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut name = String::new();
    config.args().required("CONNTRACK", &mut name).finish()?;
    Ok(Box::new(ConnTrackConfirm { name, shared: None }))
}

impl Element for ConnTrackConfirm {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let shared: Arc<Shared> = cx.shared_of(&self.name, "ConnTrack")?;
        shared.is_confirmed.store(true, Relaxed);
        self.shared = Some(shared);
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        let Some(shared) = &self.shared else { return cx.drop_batch(batch, FULL) };
        let (table, now_ms) = (shared.table(), now_ms(cx));
        cx.scatter(batch, |cx, packet| {
            let is_remembered = ConnectionState::is_remembered(packet, table.number());
            if !is_remembered && ConnectionState::of(packet) == ConnectionState::New {
                let entered = table.enter(cx.turn(), cx.worker(), &Sight::of(packet), now_ms);
                if let Some(reason) = entered.refusal() {
                    return Verdict::Drop(reason);
                }
            }
            Verdict::Output(port)
        });
    }
}
