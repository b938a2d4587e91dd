//! Routes as words, for another process that goes on with them: those that commands and files have brought since the configuration was
//! loaded. Routes of feeds are announced anew to the other process.

use super::family::Family;
use super::table::RouteTable;
use super::target::Route;
use super::words::{leads_to, parse};
use lpm::LongestMatch;
use router::{BadState, Scope, StateReader, StateWriter};

impl<F: Family, T: LongestMatch<F::Key>> RouteTable<F, T> {
    /// Writes the routes that commands have brought.
    pub(super) fn write(&self, out: &mut StateWriter) {
        let routes = self.commanded();
        out.u64(routes.len() as u64);
        for Route { prefix, to } in routes {
            out.bytes(format!("{prefix} {}", Route::<F>::destination_words(&to)).as_bytes());
        }
    }

    /// Reads routes. Returns how many have no output or no room.
    pub(super) fn read(
        &self,
        state: &mut StateReader,
        outputs: usize,
        scope: Scope<'_>,
    ) -> Result<usize, BadState> {
        let (mut routes, mut lost) = (Vec::new(), 0);
        for _ in 0..state.u64()? {
            let words = String::from_utf8_lossy(state.bytes()?).into_owned();
            match parse::<F>(&words, scope) {
                Some((prefix, Some(to))) if leads_to(&to, outputs) => routes.push(Route { prefix, to }),
                _ => lost += 1,
            }
        }
        let all = routes.len();
        Ok(if self.command(routes).is_ok() { lost } else { lost + all })
    }
}
