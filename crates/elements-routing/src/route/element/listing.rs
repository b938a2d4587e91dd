//! What a table prints: at once if it is short, otherwise by a thread, since a full table takes tenths of a second.

use super::{Lookup, LookupStyle};
use crate::route::family::Family;
use crate::route::table::RouteTable;
use crate::route::target::Route;
use lpm::{LongestMatch, Prefix};
use router::{Outcome, Scope};

/// Routes that a worker lists within its turn, at most: that takes it less than a millisecond.
const AT_ONCE: usize = 1 << 10;

impl<F: Family, T: LongestMatch<F::Key>> Lookup<F, T> {
    /// The answer of the `table` handler: all routes, or those inside a prefix.
    pub(super) fn list(&self, within: &str, scope: Scope<'_>) -> Outcome {
        let within = match within.trim() {
            "" => None,
            prefix => match F::prefix(prefix, scope) {
                None => return Outcome::Done(Err("expected '[ADDR/MASK]'".into())),
                prefix => prefix,
            },
        };
        if self.table.len() <= AT_ONCE {
            return Outcome::Done(Ok(text(&self.table, self.style, within)));
        }
        let (table, style) = (self.table.clone(), self.style);
        Outcome::Aside(Box::new(move || Ok(text(&table, style, within)).into()))
    }
}

fn text<F: Family, T: LongestMatch<F::Key>>(
    table: &RouteTable<F, T>,
    style: LookupStyle,
    within: Option<Prefix<F::Key>>,
) -> String {
    let mut routes = table.routes();
    if let Some(within) = within {
        routes.retain(|Route { prefix, .. }| prefix.len() >= within.len() && within.contains(prefix.addr()));
    }
    if !style.lenient {
        return routes.iter().map(Route::lines).collect();
    }
    let head = if table.was_used() || !routes.is_empty() { "# Active routes\n" } else { "" };
    head.to_owned() + &routes.iter().map(Route::plain_lines).collect::<String>()
}
