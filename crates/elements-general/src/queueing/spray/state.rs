//! What of a window goes to another process: batches with their places in the order, and whether the work on them is done.

use super::window::Rest;
use elements_shared::packet_state;
use packet::{Fifo, Pool};
use router::{BadState, StateReader, StateWriter};

/// The form of what is left to another process.
const FORM: u8 = 1;

/// Writes batches, which stay as they are.
pub(super) fn write(out: &mut StateWriter, all: &mut [Rest]) {
    out.form(FORM);
    out.u64(all.len() as u64);
    for rest in all {
        let (worker, number) = rest.at;
        out.u64(worker as u64);
        out.u64(number);
        out.u64(u64::from(rest.is_finished));
        out.u64(rest.packets.len() as u64);
        for _ in 0..rest.packets.len() {
            // Once around.
            let Some(packet) = rest.packets.pop_front() else { break };
            packet_state::write(out, &packet);
            rest.packets.push_back(packet);
        }
    }
}

/// Reads them again.
///
/// # Errors
/// They are cut short, or of an unknown form.
pub(super) fn read(state: &mut StateReader, pool: &mut Pool) -> Result<Vec<Rest>, BadState> {
    state.form(FORM)?;
    let mut all = Vec::new();
    for _ in 0..state.u64()? {
        let at = (usize::try_from(state.u64()?).unwrap_or(0), state.u64()?);
        let is_finished = state.u64()? != 0;
        let mut packets = Fifo::default();
        for _ in 0..state.u64()? {
            if let Some(packet) = packet_state::read(state, pool)? {
                packets.push_back(packet);
            }
        }
        all.push(Rest { at, packets, is_finished });
    }
    Ok(all)
}
