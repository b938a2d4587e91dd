//! Connections that another router has listed, taken in.

use super::copy::is_possible;
use super::sight::Key;
use super::state::Progress;
use super::table::{Entered, Table};
use crate::flow_lines::{Became, Object, load};
use rcu::Turn;
use std::net::IpAddr;

/// A connection that a line tells of: its key, its state, and how long ago it began and had its last packet.
struct Told {
    key: Key,
    progress: Progress,
    ago_ms: [u64; 2],
}

fn read(line: &Object<'_>) -> Result<Told, String> {
    let protocol = line.protocol()?;
    let (from, to) = (line.end("source", "sport")?, line.end("destination", "dport")?);
    let version: u32 = match [from.0, to.0] {
        [IpAddr::V4(_), IpAddr::V4(_)] => 4,
        [IpAddr::V6(_), IpAddr::V6(_)] => 6,
        _ => return Err("source and destination are of different versions of IP".to_owned()),
    };
    let bits = |(address, port): (IpAddr, u16)| match address {
        IpAddr::V4(address) => (address.to_bits().into(), port),
        IpAddr::V6(address) => (address.to_bits(), port),
    };
    let kind: u16 = line.get_or("kind", 0)?;
    let (key, from_high) =
        Key::new(u32::from(protocol) | version << 8 | u32::from(kind) << 16, bits(from), bits(to));
    if !is_possible(key) {
        return Err("bad kind: only of ICMP there are kinds of questions".to_owned());
    }
    let state: String = line.get("state")?;
    let flags = [line.get("replied")?, line.get("assured")?, from_high];
    let progress = Progress::listed(&state, flags, line.get_or("fins", 0)?, protocol)
        .ok_or_else(|| format!("bad state of this protocol: '{}'", state.escape_default()))?;
    Ok(Told { key, progress, ago_ms: [line.ago_ms("age_s")?, line.ago_ms("idle_s")?] })
}

impl Table {
    /// Takes in connections, as `flows_json` writes them, an object in each line. One that is known here stays as it is.
    ///
    /// # Errors
    /// See [`load`].
    pub(super) fn load(
        &self,
        turn: Turn<'_>,
        worker: usize,
        text: &str,
        now_ms: u64,
    ) -> Result<String, String> {
        self.pause_log(true);
        let loaded = load(text, read, |Told { key, progress, ago_ms }| {
            self.remove_past(turn, key, now_ms);
            let times = ago_ms.map(|ago_ms| now_ms.saturating_sub(ago_ms));
            match self.restore(turn, worker, key, progress, times, |_| ()) {
                Some(Entered::Made) => Ok(Became::Taken),
                Some(Entered::Known) | None => Ok(Became::Known),
                Some(entered) => Err(entered.refusal().unwrap_or_default().to_owned()),
            }
        });
        self.pause_log(false);
        loaded
    }
}
