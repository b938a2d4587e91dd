//! Routes from threads that bring them: the table's side of a [`RoutePort`].
//!
//! A feed's next hops are cells of the table, for which it has numbers of its own. A list of changes becomes a [`Plan`], which is checked as
//! a whole before anything is published, and then carried out in order: cells are replaced, and prefixes between two of these are
//! published together. If there is no room on the way, the thread waits for a grace period without holding the table's lock, and goes on.
//! If none comes free in time, what was done is taken back.

use super::family::Family;
use super::hops::Owner;
use super::table::{Books, Patience, Refusal, RouteTable, refused, refused_hops};
use super::target::{Hop, Target};
use elements_shared::route_port::{Change, Destination, NextHopId, Refused, RouteFeed, RoutePort, Way};
use lpm::{LongestMatch, Prefix};
use router::{Config, ConfigError};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// The greatest weight of a way, as the kernel has it.
const WEIGHT_MAX: u32 = 1 << 16;

/// Sources of routes, and what they have announced.
pub(super) struct Feeds {
    /// The names of origins, by number; the first is that of commands and files.
    origins: Vec<Arc<str>>,
    feeds: HashMap<u32, Numbers>,
    latest: u32,
}

/// The ids of a feed's next hops.
#[derive(Default)]
struct Numbers {
    ids: HashMap<NextHopId, u32>,
}

impl Default for Feeds {
    fn default() -> Self {
        Feeds { origins: vec!["ctl".into()], feeds: HashMap::new(), latest: 0 }
    }
}

impl Feeds {
    /// The number of an origin.
    pub(super) fn origin(&mut self, name: &str) -> u16 {
        let known = self.origins.iter().position(|known| **known == *name);
        let at = known.unwrap_or_else(|| {
            self.origins.push(name.into());
            self.origins.len() - 1
        });
        // There are as many as elements and clients of one configuration: not so many.
        u16::try_from(at).unwrap_or(u16::MAX)
    }

    /// The name of an origin.
    pub(super) fn name(&self, origin: u16) -> Arc<str> {
        self.origins.get(usize::from(origin)).cloned().unwrap_or_else(|| "".into())
    }

    fn join(&mut self, name: &str) -> Owner {
        self.latest += 1;
        self.feeds.insert(self.latest, Numbers::default());
        Owner { origin: self.origin(name), feed: self.latest }
    }
}

/// Why a plan ends.
enum Fault {
    /// A change is wrong.
    Wrong(usize, String),
    /// There is no room: at all, or until a grace period is over.
    NoRoom { busy: bool, why: String },
}

impl Fault {
    fn of<F: Family>(refusal: Refusal<F>) -> Fault {
        match refusal {
            Refusal::Busy(why) => Fault::NoRoom { busy: true, why },
            Refusal::Full(why) => Fault::NoRoom { busy: false, why },
            _ => Fault::NoRoom { busy: false, why: "refused".to_owned() },
        }
    }
}

/// One step of a plan.
enum Step<F: Family> {
    /// A cell leads elsewhere.
    Cell { id: u32, number: NextHopId, to: Target<F::Gateway> },
    /// So many prefixes lead elsewhere.
    Prefixes(Range<usize>),
}

/// What was done, and how it was before.
enum Done<F: Family> {
    Cell(u32, Target<F::Gateway>),
    Prefixes(Range<usize>, Vec<Option<u32>>),
}

/// What a list of changes comes to.
struct Plan<F: Family> {
    owner: Owner,
    outputs: usize,
    /// What becomes of numbers that the list announces or forgets.
    numbers: HashMap<NextHopId, Option<u32>>,
    /// Cells that were made for it.
    announced: Vec<u32>,
    /// Cells that no number names any more.
    forgotten: Vec<u32>,
    prefixes: Vec<(Prefix<F::Key>, Option<u32>)>,
    steps: Vec<Step<F>>,
    /// Where the prefixes begin that no step has yet.
    open: usize,
    /// The number that was asked for last: lists name one many times in a row.
    last: Option<(NextHopId, u32)>,
    /// Cells that routes of the list lead to.
    led_to: HashSet<u32>,
    ahead: Ahead<F>,
}

/// What the table will be, as far as that was needed to check a list.
struct Ahead<F: Family> {
    /// How many of the plan's prefixes are in it.
    seen: usize,
    leads: HashMap<Prefix<F::Key>, Option<u32>>,
    /// How many prefixes more, or fewer, lead to a cell.
    uses: HashMap<u32, i64>,
}

impl<F: Family> Plan<F> {
    fn new(owner: Owner, outputs: usize) -> Plan<F> {
        Plan {
            owner,
            outputs,
            numbers: HashMap::new(),
            announced: Vec::new(),
            forgotten: Vec::new(),
            prefixes: Vec::new(),
            steps: Vec::new(),
            open: 0,
            last: None,
            led_to: HashSet::new(),
            ahead: Ahead { seen: 0, leads: HashMap::new(), uses: HashMap::new() },
        }
    }

    /// Enters a change.
    fn enter<T: LongestMatch<F::Key>>(
        &mut self,
        table: &RouteTable<F, T>,
        known: &Numbers,
        change: &Change,
    ) -> Result<(), Trouble<F>> {
        match change {
            Change::NextHop(number, ways) => {
                let to = self.target(*number, ways)?;
                match self.id(known, *number) {
                    Some(id) => {
                        self.close();
                        self.steps.push(Step::Cell { id, number: *number, to });
                    }
                    None => {
                        let id = table.hops.announce(self.owner, to).map_err(refused_hops)?;
                        self.announced.push(id);
                        self.numbers.insert(*number, Some(id));
                    }
                }
            }
            Change::ForgetNextHop(number) => {
                let id = self.id(known, *number).ok_or_else(|| unknown(*number))?;
                let uses = self.uses(table, id);
                if uses > 0 {
                    return Err(format!("next hop {number} is in use: {uses} routes lead to it").into());
                }
                self.numbers.insert(*number, None);
                self.forgotten.push(id);
                self.last = None;
            }
            Change::Route(to, number) => {
                let id = self.id(known, *number).ok_or_else(|| unknown(*number))?;
                let route = (prefix::<F>(to)?, Some(id));
                if self.prefixes.last().is_none_or(|last| last.1 != Some(id)) {
                    self.led_to.insert(id);
                }
                self.prefixes.push(route);
            }
            Change::Withdraw(to) => {
                let prefix = prefix::<F>(to)?;
                if self.owns(table, prefix) {
                    self.prefixes.push((prefix, None));
                }
            }
        }
        Ok(())
    }

    /// The cell that a number has by now.
    fn id(&mut self, known: &Numbers, number: NextHopId) -> Option<u32> {
        if let Some((last, id)) = self.last
            && last == number
        {
            return Some(id);
        }
        let id = match self.numbers.get(&number) {
            Some(drafted) => *drafted,
            None => known.ids.get(&number).copied(),
        }?;
        self.last = Some((number, id));
        Some(id)
    }

    /// Where ways lead.
    fn target(&self, number: NextHopId, ways: &[Way]) -> Result<Target<F::Gateway>, String> {
        let hop = |way: &Way| {
            if way.port as usize >= self.outputs {
                let (port, outputs) = (way.port, self.outputs);
                return Err(format!(
                    "output {port} of next hop {number} does not exist; there are {outputs}"
                ));
            }
            if !(1..=WEIGHT_MAX).contains(&way.weight) {
                return Err(format!(
                    "weight {} of next hop {number} is not between 1 and {WEIGHT_MAX}",
                    way.weight
                ));
            }
            let gateway = match way.gateway {
                None => F::DIRECT,
                Some(address) => F::gateway(address).ok_or_else(|| {
                    format!("gateway {address} of next hop {number} is of the other address family")
                })?,
            };
            Ok((Hop { gateway, port: way.port }, way.weight))
        };
        Ok(Target::of(ways.iter().map(hop).collect::<Result<Vec<_>, String>>()?))
    }

    /// Ends a run of prefixes.
    fn close(&mut self) {
        if self.open < self.prefixes.len() {
            self.steps.push(Step::Prefixes(self.open..self.prefixes.len()));
            self.open = self.prefixes.len();
        }
    }

    /// Brings what will be up to the plan.
    fn look_ahead<T: LongestMatch<F::Key>>(&mut self, table: &RouteTable<F, T>) {
        let Ahead { seen, leads, uses } = &mut self.ahead;
        for &(prefix, id) in &self.prefixes[*seen..] {
            let before = leads.get(&prefix).copied().unwrap_or_else(|| table.prefixes.get(prefix));
            if let Some(before) = before {
                *uses.entry(before).or_default() -= 1;
            }
            if let Some(id) = id {
                *uses.entry(id).or_default() += 1;
            }
            leads.insert(prefix, id);
        }
        *seen = self.prefixes.len();
    }

    /// How many prefixes will lead to a cell.
    fn uses<T: LongestMatch<F::Key>>(&mut self, table: &RouteTable<F, T>, id: u32) -> i64 {
        let now = i64::try_from(table.hops.uses(id)).unwrap_or(i64::MAX / 2);
        if now == 0 && !self.led_to.contains(&id) {
            return 0;
        }
        self.look_ahead(table);
        now + self.ahead.uses.get(&id).copied().unwrap_or(0)
    }

    /// Whether the route for a prefix will be this origin's.
    fn owns<T: LongestMatch<F::Key>>(&mut self, table: &RouteTable<F, T>, prefix: Prefix<F::Key>) -> bool {
        let here = table.prefixes.get(prefix).and_then(|id| table.hops.owner(id));
        if here.is_some_and(|owner| owner.origin == self.owner.origin) {
            return true;
        }
        if self.prefixes.is_empty() {
            return false;
        }
        self.look_ahead(table);
        matches!(self.ahead.leads.get(&prefix), Some(Some(_)))
    }

    /// Forgets the cells that were made for it.
    fn give_up<T: LongestMatch<F::Key>>(self, table: &RouteTable<F, T>) {
        self.announced.into_iter().for_each(|id| table.hops.let_go(id));
    }
}

/// What is wrong with a change, or that there is no room.
enum Trouble<F: Family> {
    Wrong(String),
    Refused(Refusal<F>),
}

impl<F: Family> From<String> for Trouble<F> {
    fn from(why: String) -> Self {
        Trouble::Wrong(why)
    }
}

impl<F: Family> From<Refusal<F>> for Trouble<F> {
    fn from(refusal: Refusal<F>) -> Self {
        Trouble::Refused(refusal)
    }
}

fn unknown(number: NextHopId) -> String {
    format!("next hop {number} was not announced")
}

fn prefix<F: Family>(to: &Destination) -> Result<Prefix<F::Key>, String> {
    let address = F::own(to.address)
        .ok_or_else(|| format!("{}/{} is of the other address family", to.address, to.len))?;
    Prefix::new(F::key(address), to.len).map_err(|error| format!("{}/{}: {error}", to.address, to.len))
}

impl<F: Family, T: LongestMatch<F::Key>> RouteTable<F, T> {
    /// Makes a feed's changes, all or none. Waits for room.
    fn feed(&self, owner: Owner, outputs: usize, changes: &[Change]) -> Result<(), Fault> {
        let mut waited = false;
        loop {
            let mut plan = Plan::new(owner, outputs);
            let mut books = self.books();
            let Some(known) = books.feeds.feeds.get(&owner.feed) else { return Ok(()) };
            let entered = changes.iter().enumerate().try_for_each(|(at, change)| {
                plan.enter(self, known, change).map_err(|trouble| match trouble {
                    Trouble::Wrong(why) => Fault::Wrong(at, why),
                    Trouble::Refused(refusal) => Fault::of(refusal),
                })
            });
            plan.close();
            match entered {
                Ok(()) => {
                    books = self.carry_out(books, plan)?;
                    drop(books);
                    return Ok(());
                }
                // Ids that have gone are free after a grace period.
                Err(Fault::NoRoom { .. }) if !std::mem::replace(&mut waited, true) => {
                    plan.give_up(self);
                    drop(books);
                    Patience::new().wait_for_ids();
                }
                Err(fault) => {
                    plan.give_up(self);
                    return Err(fault);
                }
            }
        }
    }

    /// Publishes a plan, which is right. Lets go of the books where it waits.
    fn carry_out<'t>(
        &'t self,
        mut books: std::sync::MutexGuard<'t, Books<F>>,
        plan: Plan<F>,
    ) -> Result<std::sync::MutexGuard<'t, Books<F>>, Fault> {
        let (mut patience, mut waited, mut done) = (Patience::new(), false, Vec::new());
        for step in &plan.steps {
            loop {
                let refusal = match self.take_step(&books, &plan, step, &mut done) {
                    Ok(()) => break,
                    Err(refusal) => refusal,
                };
                // Not with the books: a worker that wants them in its turn would never be quiescent.
                drop(books);
                let again = match refusal {
                    Refusal::Busy(_) => patience.wait_for_room(),
                    // Blocks that wait for a grace period count as used: a full table may not be.
                    _ => !std::mem::replace(&mut waited, true) && patience.wait_for_ids(),
                };
                books = self.books();
                if !again {
                    let whole = self.take_back(&plan, done);
                    plan.give_up(self);
                    return Err(match (Fault::of(refusal), whole) {
                        (Fault::NoRoom { busy, why }, false) => Fault::NoRoom {
                            busy,
                            why: format!("{why}; part of the changes could not be taken back"),
                        },
                        (fault, _) => fault,
                    });
                }
            }
        }
        for done in done {
            let Done::Prefixes(range, had) = done else { continue };
            let moves = &plan.prefixes[range];
            self.hops.moved(had.into_iter().zip(moves.iter().map(|(_, id)| *id)));
            books.withdrawn(moves.iter().filter(|(_, id)| id.is_none()).map(|(prefix, _)| prefix));
        }
        if let Some(known) = books.feeds.feeds.get_mut(&plan.owner.feed) {
            for (number, id) in plan.numbers {
                match id {
                    Some(id) => known.ids.insert(number, id),
                    None => known.ids.remove(&number),
                };
            }
        }
        plan.forgotten.into_iter().for_each(|id| self.hops.let_go(id));
        Ok(books)
    }

    fn take_step(
        &self,
        books: &Books<F>,
        plan: &Plan<F>,
        step: &Step<F>,
        done: &mut Vec<Done<F>>,
    ) -> Result<(), Refusal<F>> {
        match step {
            Step::Cell { id, number, to } => {
                let Some(before) = self.hops.target(*id).filter(|before| before != to) else { return Ok(()) };
                self.hops.replace(*id, to.clone()).map_err(refused_hops)?;
                done.push(Done::Cell(*id, before));
                self.report_hop(books, *id, *number);
            }
            Step::Prefixes(range) => {
                let moves = &plan.prefixes[range.clone()];
                let had = self.publish_moves(moves).map_err(refused)?;
                self.report(books, moves, &had);
                done.push(Done::Prefixes(range.clone(), had));
            }
        }
        Ok(())
    }

    /// Takes back what was done; false if there is no room for all of it.
    fn take_back(&self, plan: &Plan<F>, done: Vec<Done<F>>) -> bool {
        let back = |done| match done {
            Done::Cell(id, before) => self.hops.replace(id, before).is_ok(),
            Done::Prefixes(range, had) => {
                let moves: Vec<_> = plan.prefixes[range].iter().zip(had).rev().collect();
                let moves: Vec<_> = moves.into_iter().map(|(&(prefix, _), had)| (prefix, had)).collect();
                self.publish_moves(&moves).is_ok()
            }
        };
        let failed = done.into_iter().rev().filter_map(|done| (!back(done)).then_some(())).count();
        failed == 0
    }

    /// Withdraws the routes that an origin's earlier feeds have left and that this one has not set again; how many they were.
    fn sweep(&self, owner: Owner) -> Result<usize, Fault> {
        let books = self.books();
        let mut routes = Vec::with_capacity(self.prefixes.len());
        self.prefixes.for_each(&mut |prefix, id| routes.push((prefix, id)));
        let left = self.hops.owned(routes, |of| of.origin == owner.origin && of.feed != owner.feed);
        let count = left.len();
        if count > 0 {
            let mut plan = Plan::new(owner, 0);
            plan.prefixes = left.into_iter().map(|prefix| (prefix, None)).collect();
            plan.close();
            drop(self.carry_out(books, plan)?);
        }
        Ok(count)
    }

    /// A feed ends: its routes stay, without numbers.
    fn leave(&self, owner: Owner) {
        let known = self.books().feeds.feeds.remove(&owner.feed);
        known.into_iter().flat_map(|known| known.ids.into_values()).for_each(|id| self.hops.let_go(id));
    }
}

/// A table with a number of outputs, as sources of routes see it.
struct TablePort<F: Family, T> {
    table: Arc<RouteTable<F, T>>,
    outputs: usize,
}

/// A source's way into a table.
struct TableFeed<F: Family, T: LongestMatch<F::Key>> {
    table: Arc<RouteTable<F, T>>,
    outputs: usize,
    owner: Owner,
}

/// Offers a table to sources of routes.
///
/// # Errors
/// As those of [`Config::shared`].
pub(super) fn offer<F: Family, T: LongestMatch<F::Key>>(
    config: &mut Config<'_>,
    table: &Arc<RouteTable<F, T>>,
) -> Result<(), ConfigError> {
    let port = TablePort { table: table.clone(), outputs: config.outputs() };
    elements_shared::route_port::Port::offer(config, Arc::new(port))
}

impl<F: Family, T: LongestMatch<F::Key>> RoutePort for TablePort<F, T> {
    fn join(&self, origin: &str) -> Box<dyn RouteFeed> {
        let owner = self.table.books().feeds.join(origin);
        Box::new(TableFeed { table: self.table.clone(), outputs: self.outputs, owner })
    }

    fn is_v6(&self) -> bool {
        F::own(std::net::Ipv6Addr::UNSPECIFIED.into()).is_some()
    }
}

impl<F: Family, T: LongestMatch<F::Key>> TableFeed<F, T> {
    fn explain(fault: Fault) -> Refused {
        match fault {
            Fault::Wrong(at, why) => Refused::Wrong(at, why),
            Fault::NoRoom { busy: true, why } => Refused::Backpressure(why),
            Fault::NoRoom { busy: false, why } => Refused::Full(why),
        }
    }
}

impl<F: Family, T: LongestMatch<F::Key>> RouteFeed for TableFeed<F, T> {
    fn apply(&mut self, changes: &[Change]) -> Result<(), Refused> {
        self.table.feed(self.owner, self.outputs, changes).map_err(Self::explain)
    }

    fn sweep(&mut self) -> Result<usize, Refused> {
        self.table.sweep(self.owner).map_err(Self::explain)
    }
}

impl<F: Family, T: LongestMatch<F::Key>> Drop for TableFeed<F, T> {
    fn drop(&mut self) {
        self.table.leave(self.owner);
    }
}

#[cfg(test)]
#[path = "feeds_tests.rs"]
mod tests;
