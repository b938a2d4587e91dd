//! Neighbours as bytes, for another process that goes on with them.

use super::address::Address;
use super::effects::Effects;
use super::state::Entry;
use super::table::Neighbours;
use rcu::Turn;
use router::{BadState, StateReader, StateWriter};

impl<A: Address> Neighbours<A> {
    /// Writes the neighbours that are known: others are asked for again.
    pub(crate) fn write(&self, out: &mut StateWriter, now_ns: i64) {
        let timing = self.timing();
        let mut known = Vec::new();
        self.for_each(|ip, entry| {
            if entry.mac(&timing, now_ns).is_some() {
                known.push((ip, *entry));
            }
        });
        out.u64(known.len() as u64);
        for (ip, entry) in known {
            out.u64((ip.bits() >> 64) as u64);
            out.u64(ip.bits() as u64);
            entry.write(out);
        }
    }

    /// Reads neighbours, those that are not known here, as far as there is room; what became of each is told to `tell`.
    pub(crate) fn read(
        &self,
        state: &mut StateReader,
        turn: Turn<'_>,
        now_ns: i64,
        mut tell: impl FnMut(Effects<A>),
    ) -> Result<(), BadState> {
        for _ in 0..state.u64()? {
            let ip = A::of_bits(u128::from(state.u64()?) << 64 | u128::from(state.u64()?));
            let entry = Entry::read(state)?;
            // What has no room is asked for again.
            if self.is_unknown(turn, ip)
                && let Ok(effects) = self.restore(turn, ip, entry, now_ns)
            {
                tell(effects);
            }
        }
        Ok(())
    }
}
