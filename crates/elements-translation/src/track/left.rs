//! Connections as bytes, for another process that goes on with them.

use super::sight::Key;
use super::state::Progress;
use super::table::{Entered, Table};
use rcu::Turn;
use router::{BadState, StateReader, StateWriter};

impl Table {
    /// Writes the connections whose time is not over.
    pub(super) fn write(&self, out: &mut StateWriter, turn: Turn<'_>, now_ms: u64) {
        let all: Vec<_> = self.all(turn, now_ms).collect();
        out.u64(all.len() as u64);
        for (_, key, record) in all {
            for half in [(key.low >> 64) as u64, key.low as u64, (key.high >> 64) as u64, key.high as u64] {
                out.u64(half);
            }
            out.u32(key.ports);
            out.u32(key.kind);
            out.u32(record.progress().bits());
            out.u64(record.begun_ms());
            out.u64(record.last_ms());
            record.sides.iter().flat_map(|side| side.numbers()).for_each(|number| out.u32(number));
        }
    }

    /// Reads connections, as far as there is room for them. Returns how many there was none for.
    pub(super) fn read(&self, state: &mut StateReader, turn: Turn<'_>) -> Result<u64, BadState> {
        let mut lost = 0;
        self.pause_log(true);
        let read = (0..state.u64()?).try_for_each(|number| {
            let mut whole = || Ok(u128::from(state.u64()?) << 64 | u128::from(state.u64()?));
            let (low, high) = (whole()?, whole()?);
            let key = Key { low, high, ports: state.u32()?, kind: state.u32()? };
            let progress = Progress::of_bits(state.u32()?);
            let times = [state.u64()?, state.u64()?];
            let mut sides = [[0; 5]; 2];
            for number in sides.iter_mut().flatten() {
                *number = state.u32()?;
            }
            let added = self.restore(turn, number as usize, key, progress, times, |record| {
                record.sides.iter().zip(sides).for_each(|(side, numbers)| side.set_numbers(numbers));
            });
            lost += u64::from(added == Some(Entered::Refused));
            Ok(())
        });
        self.pause_log(false);
        read.map(|()| lost)
    }
}
