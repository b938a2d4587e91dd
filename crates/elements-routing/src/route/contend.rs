//! Elements that change and read a route table as fast as they can, to show that it bears it.

use super::family::{Family, V4};
use super::table::{Change, RouteTable};
use super::target::{Hop, Route, Target};
use lpm::faithful::RadixTable;
use router::{Config, ConfigError, Cx, Element, FromArg, Handlers};
use std::net::Ipv4Addr;
use std::sync::Arc;

/// Rounds each time the task runs, if nothing is said.
const BURST: u64 = 100;
/// Rounds that a scheduling makes at most: its worker does nothing else meanwhile.
const BURST_MAX: u64 = 65_536;

/// What writers contend for, if nothing is said.
const PREFIX: &str = "1.0.0.1/32";

type Table = RouteTable<V4, RadixTable>;

/// What both kinds have: a table, and how long they go on.
struct Rounds {
    name: String,
    /// Known when all elements are configured.
    table: Option<Arc<Table>>,
    burst: u64,
    limit: Option<u64>,
    stop: bool,
    count: u64,
}

impl Rounds {
    fn new() -> Self {
        Self { name: String::new(), table: None, burst: BURST, limit: None, stop: false, count: 0 }
    }

    /// Finds the table, and starts.
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.table = Some(cx.shared_of(&self.name, "RadixIPLookup")?);
        cx.tasks().schedule();
        Ok(())
    }

    /// Runs the rounds that are due, and says when they are over.
    fn run(&mut self, cx: &mut Cx<'_>, mut round: impl FnMut(&Table, &Cx<'_>)) {
        let Some(table) = &self.table else { return };
        let rest = self.limit.map_or(u64::MAX, |limit| limit - self.count);
        let due = self.burst.min(BURST_MAX).min(rest);
        (0..due).for_each(|_| round(table, cx));
        self.count += due;
        if due < rest {
            cx.tasks().schedule();
        } else if self.stop {
            cx.info().please_end();
        }
    }
}

/// Adds and removes a route, again and again.
pub(super) struct Writer {
    rounds: Rounds,
    route: Route<V4>,
    /// Changes that the table refused.
    refused: u64,
}

/// Makes a writer; `gateway` is the one that it takes if none is given.
pub(super) fn writer(
    config: &mut Config<'_>,
    mut gateway: Ipv4Addr,
) -> Result<Box<dyn Element>, ConfigError> {
    let (mut rounds, mut prefix) = (Rounds::new(), PREFIX.to_owned());
    config
        .args()
        .required("TABLE", &mut rounds.name)
        .positional("PREFIX", &mut prefix)
        .positional("GATEWAY", &mut gateway)
        .keyword("BURST", &mut rounds.burst)
        .keyword("LIMIT", &mut rounds.limit)
        .keyword("STOP", &mut rounds.stop)
        .finish()?;
    let prefix = V4::prefix(&prefix, config.scope()).ok_or("PREFIX should be 'ADDR/MASK'")?;
    let route = Route { prefix, to: Target::One(Hop { gateway: gateway.into(), port: 0 }) };
    Ok(Box::new(Writer { rounds, route, refused: 0 }))
}

impl Element for Writer {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.rounds.initialize(cx)
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        let (route, refused) = (&self.route, &mut self.refused);
        self.rounds.run(cx, |table, _| {
            let add = Change::Set(route.clone());
            // Another writer of the same prefix may have removed it meanwhile: that is refused, too.
            let remove = Change::Remove(route.prefix, None);
            *refused +=
                [add, remove].into_iter().filter(|c| table.change([c.clone()]).is_err()).count() as u64;
        });
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut Writer, _| e.rounds.count);
        h.read("refused", |e: &mut Writer, _| e.refused);
    }
}

/// Looks an address up, again and again.
pub(super) struct Reader {
    rounds: Rounds,
    address: Ipv4Addr,
    /// Gateways that may be the answer.
    right: Vec<Ipv4Addr>,
    wrong: u64,
}

/// Makes a reader.
pub(super) fn reader(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut rounds, mut words) = (Rounds::new(), Vec::new());
    let mut address = Ipv4Addr::UNSPECIFIED;
    config
        .args()
        .required("TABLE", &mut rounds.name)
        .required("ADDRESS", &mut address)
        .rest(&mut words)
        .keyword("BURST", &mut rounds.burst)
        .keyword("LIMIT", &mut rounds.limit)
        .keyword("STOP", &mut rounds.stop)
        .finish()?;
    let right = words.iter().map(|word| Ipv4Addr::from_arg(word, config.scope())).collect::<Result<_, _>>();
    let right = right.map_err(|error| format!("GATEWAY: {error}"))?;
    Ok(Box::new(Reader { rounds, address, right, wrong: 0 }))
}

impl Element for Reader {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.rounds.initialize(cx)
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        let (key, right, wrong) = (V4::key(self.address), &self.right, &mut self.wrong);
        self.rounds.run(cx, |table, cx| {
            let id = table.lookup_one(key, cx.turn());
            let hop = table.forwarding(id, cx.turn()).and_then(|forwarding| forwarding.pick(|| 0));
            *wrong +=
                u64::from(!hop.is_some_and(|hop| {
                    V4::near(hop.gateway).is_some_and(|gateway| right.contains(&gateway))
                }));
        });
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut Reader, _| e.rounds.count);
        h.read("wrong", |e: &mut Reader, _| e.wrong);
    }
}
