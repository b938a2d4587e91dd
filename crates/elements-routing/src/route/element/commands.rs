//! What the handlers of a lookup element are told: routes one by one, in transactions, and from files.

use super::Lookup;
use crate::route::family::Family;
use crate::route::table::{Change, Refusal, RouteTable, patiently};
use crate::route::target::{Hop, Route, Target};
use crate::route::words::{Outputs, foreign_gateway, leads_to, parse};
use lpm::{LongestMatch, Prefix, import};
use router::{HandlerResult, Outcome, Response, Scope};
use std::path::Path;
use std::sync::Arc;

/// What becomes of the routes that a table has when others are entered.
#[derive(Clone, Copy)]
pub(super) enum Entry {
    /// They stay, unless another has their prefix.
    Add,
    /// They go.
    Replace,
}

/// Why a route of a list cannot be entered.
enum Unusable {
    /// A gateway is none that the table can lead to.
    Gateway(String),
    /// An output is not there: then nothing is entered, since the command is wrong rather than the route.
    Output(String),
}

/// Whether words begin with `--strict`, and the others.
fn strictness(words: &[String]) -> (bool, &[String]) {
    match words {
        [first, rest @ ..] if first == "--strict" => (true, rest),
        _ => (false, words),
    }
}

/// What a table says when it refuses a change, for the user.
pub(super) fn explain<F: Family>(refusal: Refusal<F>) -> String {
    match refusal {
        Refusal::Exists(old) => format!("conflict with existing route '{}'", old.words()),
        Refusal::Missing(route) => format!("route '{}' not found", route.words()),
        Refusal::Full(why) | Refusal::Busy(why) => why,
        Refusal::Open => "a transaction is open already; 'commit' or 'abort' it first".to_owned(),
        Refusal::NotOpen => "no transaction is open; 'begin' opens one".to_owned(),
    }
}

/// The answer of a handler that has changed a table.
fn answer<F: Family>(done: Result<(), Refusal<F>>) -> HandlerResult {
    done.map(|()| String::new()).map_err(|refusal| explain(refusal).into())
}

impl<F: Family, T: LongestMatch<F::Key>> Lookup<F, T> {
    /// What `add`, `set` or `remove` asks for.
    fn read_command(&self, command: &str, text: &str, scope: Scope<'_>) -> Result<Change<F>, String> {
        let removes = command == "remove";
        let parsed = parse::<F>(text, scope);
        let expected =
            || format!("expected 'ADDR/MASK [GATEWAY{}'", if removes { " OUTPUT]" } else { "] OUTPUT" });
        let unread = || foreign_gateway::<F>(text, scope).unwrap_or_else(expected);
        let (prefix, to) = parsed.ok_or_else(unread)?;
        if to.as_ref().is_some_and(|to| !leads_to(to, self.outputs)) {
            let wrong = if self.style.lenient { "output port out of range" } else { "bad OUTPUT" };
            return Err(wrong.to_owned());
        }
        match (command, to) {
            ("remove", to) => Ok(self.style.remove(prefix, to)),
            (_, None) => Err(expected()),
            ("add", Some(to)) => Ok(self.style.add(Route { prefix, to })),
            (_, Some(to)) => Ok(Change::Set(Route { prefix, to })),
        }
    }

    /// What `add`, `set` or `remove` asks for, as a list of changes.
    pub(super) fn command(
        &self,
        command: &str,
        text: &str,
        scope: Scope<'_>,
    ) -> Result<Vec<Change<F>>, String> {
        Ok(vec![self.read_command(command, text, scope)?])
    }

    /// What a command a line asks for.
    pub(super) fn control(&self, text: &str, scope: Scope<'_>) -> Result<Vec<Change<F>>, String> {
        let mut changes = Vec::new();
        for line in text.lines() {
            let mut rest = line.trim();
            let command = lang::conf::pop_space(&mut rest);
            match command {
                "" => continue,
                "add" | "set" | "remove" => {
                    changes.push(self.read_command(command, rest, scope)?);
                }
                _ if self.style.lenient => {
                    return Err("bad command, should be `add' or `remove'".to_owned());
                }
                other => return Err(format!("bad command '{other}'")),
            }
        }
        Ok(changes)
    }

    /// Makes a change of the table. If there is no room for it, a thread waits until there is: the worker has to go on for that.
    pub(super) fn make(
        &self,
        change: impl Fn(&RouteTable<F, T>) -> Result<(), Refusal<F>> + Send + 'static,
    ) -> Outcome {
        match change(&self.table) {
            Err(Refusal::Busy(_)) => {
                let table = self.table.clone();
                Outcome::Aside(Box::new(move || answer(patiently(|| change(&table))).into()))
            }
            done => Outcome::Done(answer(done)),
        }
    }

    /// Makes changes in order, all or none.
    pub(super) fn make_all(&self, changes: Result<Vec<Change<F>>, String>) -> Outcome {
        match changes {
            Ok(changes) => self.make(move |table| table.change(changes.iter().cloned())),
            Err(error) => Outcome::Done(Err(error.into())),
        }
    }

    /// What enters routes of files and texts, apart from the element.
    pub(super) fn loader(&self) -> Loader<F, T> {
        Loader { table: self.table.clone(), outputs: self.outputs }
    }
}

/// Enters routes of files and texts: in a thread of its own, since a full table takes tenths of a second.
pub(super) struct Loader<F: Family, T> {
    table: Arc<RouteTable<F, T>>,
    outputs: usize,
}

impl<F: Family, T: LongestMatch<F::Key>> Loader<F, T> {
    /// Has a thread enter routes as the text of a handler says; what is left out is a warning.
    pub(super) fn aside(
        self,
        text: &str,
        how: Entry,
        enter: fn(&Self, &str, Entry) -> Result<Vec<String>, String>,
    ) -> Outcome {
        let text = text.to_owned();
        Outcome::Aside(Box::new(move || match enter(&self, &text, how) {
            Ok(left) => {
                let warnings = left.into_iter().map(|line| format!("warning: {line}")).collect();
                Response { result: Ok(String::new()), warnings, status: None }
            }
            Err(error) => HandlerResult::Err(error.into()).into(),
        }))
    }

    /// Reads a whole file, then adds its routes or puts them in the place of all, at once. Returns what is left out.
    pub(super) fn load(&self, text: &str, how: Entry) -> Result<Vec<String>, String> {
        let words = lang::conf::split_spaces(text);
        let (strict, words) = strictness(&words);
        let (file, outputs) = words
            .split_first()
            .ok_or_else(|| "expected '[--strict] FILE [OUTPUT] [INTERFACE=OUTPUT ...]'".to_owned())?;
        let file = lang::conf::unquote(file);
        let read = || import::read_file(Path::new(&file), import::Options::default());
        let named = |message: String| format!("{file}: {message}");
        let left = self.enter(read, strict, outputs, how).map_err(named)?;
        Ok(left.into_iter().map(named).collect())
    }

    /// The same with routes that come behind the first line.
    pub(super) fn load_text(&self, text: &str, how: Entry) -> Result<Vec<String>, String> {
        let (first, routes) = text.split_once('\n').unwrap_or((text, ""));
        let words = lang::conf::split_spaces(first);
        let (strict, outputs) = strictness(&words);
        self.enter(|| import::parse_any(routes.as_bytes(), import::MAIN_TABLE), strict, outputs, how)
    }

    /// Enters all routes of a list at once, with outputs as the words say. Returns what is left out.
    fn enter(
        &self,
        read: impl FnOnce() -> Result<import::List, import::ImportError>,
        strict: bool,
        words: &[impl AsRef<str>],
        how: Entry,
    ) -> Result<Vec<String>, String> {
        let outputs = Outputs::parse(words)?;
        let read = if strict { read().and_then(import::List::strict) } else { read() };
        let list = read.map_err(|error| error.to_string())?;
        let mut routes = Vec::new();
        let mut across = (0u64, None);
        for &(prefix, next_hops) in F::routes(&list) {
            match self.target(&list, prefix, next_hops, &outputs) {
                Ok(to) => routes.push(Route { prefix, to }),
                Err(Unusable::Gateway(why)) if !strict => {
                    across = (across.0 + 1, across.1.or(Some(why)));
                }
                Err(Unusable::Gateway(why) | Unusable::Output(why)) => return Err(why),
            }
        }
        let set = match how {
            Entry::Add => patiently(|| self.table.set_all(&routes)),
            // An empty file empties the table, but one of something else does not.
            Entry::Replace if routes.is_empty() && !(list.is_empty() && list.faults.is_empty()) => {
                return Err("it has no route for this table".to_owned());
            }
            Entry::Replace => patiently(|| self.table.replace_all(&routes)),
        };
        set.map_err(explain)?;
        let first = across.1.into_iter();
        let more = (across.0 > 1).then(|| format!("{} more have such gateways", across.0 - 1));
        Ok(list.faults.lines().chain(first).chain(more).collect())
    }

    /// Where a route of a list leads.
    fn target(
        &self,
        list: &import::List,
        prefix: Prefix<F::Key>,
        next_hops: import::NextHops,
        outputs: &Outputs,
    ) -> Result<Target<F::Gateway>, Unusable> {
        let one = |hop| self.hop(list, prefix, hop, outputs);
        match next_hops {
            import::NextHops::Hop(hop) => Ok(Target::One(one(hop)?)),
            _ => {
                let hops = list.hops(next_hops).into_iter();
                let hops = hops.map(|(hop, weight)| Ok((one(hop)?, weight)));
                Ok(Target::of(hops.collect::<Result<Vec<_>, Unusable>>()?))
            }
        }
    }

    /// One next hop of a list.
    fn hop(
        &self,
        list: &import::List,
        prefix: Prefix<F::Key>,
        hop: import::Hop,
        outputs: &Outputs,
    ) -> Result<Hop<F::Gateway>, Unusable> {
        let gateway = match hop.gateway {
            None => F::DIRECT,
            Some(gateway) => F::gateway(gateway).ok_or_else(|| {
                Unusable::Gateway(format!(
                    "gateway {gateway} of {prefix} is of the other address family: not supported"
                ))
            })?,
        };
        let port = match hop.port {
            Some(port) => port,
            None => outputs.of(list.device(hop), F::near(gateway).is_none()).ok_or_else(|| {
                let device = list.device(hop).unwrap_or_default();
                Unusable::Output(format!(
                    "no output is given for interface '{device}' of {prefix}; add '{device}=OUTPUT'"
                ))
            })?,
        };
        if port as usize >= self.outputs {
            let message = format!("output {port} of {prefix} does not exist; there are {}", self.outputs);
            return Err(Unusable::Output(message));
        }
        Ok(Hop { gateway, port })
    }
}

#[cfg(test)]
mod tests {
    use crate::route::family::V4;
    use crate::route::slots::SlotPolicy;
    use crate::route::table::RouteTable;
    use crate::route::target::{Hop, Route, Target};
    use crate::testing::build;
    use lpm::faithful::{DirectTable, LinearTable, RadixTable, RangeTable};
    use lpm::{LongestMatch, Prefix, Table4};
    use rcu::Domain;
    use router::{Call, Router};
    use std::net::Ipv4Addr;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};

    const THREE: &str = "r[0] -> a :: Discard; r[1] -> b :: Discard; r[2] -> c :: Discard;";

    fn write(router: &mut Router, path: &str, value: &str) -> Result<String, String> {
        router.call(Call::write(path, value)).map_err(|error| error.message)
    }

    fn read(router: &mut Router, path: &str, argument: &str) -> String {
        router.call(Call::read(path, argument)).expect("readable")
    }

    fn router(class: &str, routes: &str) -> Router {
        let config = format!("InfiniteSource(ACTIVE false) -> r :: {class}({routes}); {THREE}");
        build(&config, 1, 1).expect("a good configuration")
    }

    /// What a script writes, with the warnings that it causes.
    fn run_script(class: &str, script: &str) -> String {
        crate::testing::run(&format!("Idle -> r :: {class}; {THREE} Script({script}, stop)"))
    }

    fn file(folder: &Path, name: &str, text: &str) -> String {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("writable");
        path.display().to_string()
    }

    #[test]
    fn load_adds_and_replace_exchanges() {
        let folder = tempfile::tempdir().expect("a folder");
        let one = file(folder.path(), "one", "10.0.0.0/8 1\n11.0.0.0/8 192.0.2.1 1\n12.0.0.0/8 1\n");
        let two = file(folder.path(), "two", "12.0.0.0/8 2\n13.0.0.0/8\n");
        for class in ["IPLookup", "RadixIPLookup", "DirectIPLookup", "RangeIPLookup", "LinearIPLookup"] {
            let r = &mut router(class, "9.0.0.0/8 0");
            assert_eq!(write(r, "r.load", &one), Ok(String::new()));
            assert_eq!(read(r, "r.length", ""), "4");
            assert_eq!(write(r, "r.load", &format!("{two} 2")), Ok(String::new()));
            assert_eq!((read(r, "r.length", ""), read(r, "r.lookup", "12.0.0.1")), ("5".into(), "2".into()));
            assert_eq!(write(r, "r.replace", &format!("{two} 1")), Ok(String::new()));
            let found = ["9.0.0.1", "10.0.0.1", "11.0.0.1", "12.0.0.1", "13.0.0.1"];
            assert_eq!(found.map(|address| read(r, "r.lookup", address)), ["-1", "-1", "-1", "2", "1"]);
            assert_eq!(read(r, "r.length", ""), "2");
            assert_eq!(write(r, "r.replace_text", "0\n14.0.0.0/8\n"), Ok(String::new()));
            assert_eq!((read(r, "r.length", ""), read(r, "r.lookup", "14.0.0.1")), ("1".into(), "0".into()));
        }
    }

    /// Within a transaction it is one change of several, and goes with it.
    #[test]
    fn a_transaction_replaces_when_it_is_committed() {
        let r = &mut router("IPLookup", "9.0.0.0/8 0");
        for (end, length, found) in [("abort", "1", "-1"), ("commit", "3", "1")] {
            for (name, value) in
                [("begin", ""), ("add", "10.0.0.0/8 0"), ("replace_text", "\n11.0.0.0/8 1\n12.0.0.0/8 1")]
            {
                assert_eq!(write(r, &format!("r.{name}"), value), Ok(String::new()));
            }
            assert_eq!(write(r, "r.add", "13.0.0.0/8 1"), Ok(String::new()));
            assert_eq!(read(r, "r.length", ""), "1");
            assert_eq!(write(r, &format!("r.{end}"), ""), Ok(String::new()));
            assert_eq!(
                (read(r, "r.length", ""), read(r, "r.lookup", "11.0.0.1")),
                (length.into(), found.into())
            );
        }
    }

    /// What cannot be used is left out and said, unless it must not be; a file of something else replaces nothing.
    #[test]
    fn what_cannot_be_used_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let some = file(folder.path(), "some", "10.0.0.0/8 1\n11.0.0.0/8 tos 4 via 192.0.2.1\n12.0.0.0/77\n");
        let said = run_script("IPLookup", &format!("write r.load {some}, print $(r.length)"));
        let (warnings, length) = said.trim_end().rsplit_once('\n').expect("several lines");
        assert!(warnings.contains("some: line 2: routes by type of service"), "{said}");
        assert!(warnings.contains("some: line 3: bad prefix") && length == "1", "{said}");
        let r = &mut router("IPLookup", "9.0.0.0/8 0, 10.0.0.0/8 1");
        let six = "\n2001:db8::/32 1\n";
        for (name, value, message) in [
            ("load", format!("--strict {some}"), "line 2: routes by type of service"),
            ("replace", format!("--strict {some}"), "line 2: routes by type of service"),
            ("load_text", "--strict 1\n10.0.0.0/8\nx".into(), "line 2: bad prefix 'x'"),
            ("replace_text", "\nnothing of the kind\n".into(), "line 1: bad prefix 'nothing'"),
            ("replace_text", six.into(), "it has no route for this table"),
            ("replace", "/nowhere".into(), "/nowhere: No such file"),
            ("replace_text", "\n10.0.0.0/8 7\n".into(), "output 7 of 10.0.0.0/8 does not exist"),
        ] {
            let error = write(r, &format!("r.{name}"), &value).unwrap_err();
            assert!(error.contains(message), "{name}: {error}");
            assert_eq!(read(r, "r.length", ""), "2");
        }
        assert_eq!(write(r, "r.replace_text", "\n# nothing\n"), Ok(String::new()));
        assert_eq!(read(r, "r.length", ""), "0");
    }

    /// IPv4 routes lead over IPv6 gateways; in a table of IPv6 the other way is none.
    #[test]
    fn gateways_of_the_other_family() {
        let text = "default via 10.0.0.1 dev eth0 \n10.247.0.0/16 nhid 14 via inet6 fe80::1 dev eth1 proto bgp metric 20 \n";
        let r = &mut router("IPLookup", "");
        assert_eq!(write(r, "r.load_text", &format!("eth0=0 eth1=1\n{text}")), Ok(String::new()));
        let found = ["8.8.8.8", "10.247.0.1"].map(|address| read(r, "r.lookup", address));
        assert_eq!(found, ["0 10.0.0.1", "1 fe80::1"]);
        assert_eq!(write(r, "r.load_text", &format!("eth0=0 eth1=1,2\n{text}")), Ok(String::new()));
        let found = ["8.8.8.8", "10.247.0.1"].map(|address| read(r, "r.lookup", address));
        assert_eq!(found, ["0 10.0.0.1", "2 fe80::1"]);
        // In the form of a list, the output is the line's own.
        let list = "10.248.0.0/16 fe80::2 2\n10.249.0.0/16 nexthop fe80::2 2 nexthop 192.0.2.1 1\n";
        assert_eq!(write(r, "r.load_text", &format!("\n{list}")), Ok(String::new()));
        assert_eq!(read(r, "r.lookup", "10.248.0.1"), "2 fe80::2");
        assert!(read(r, "r.table", "").contains("10.249.0.0/16\t\tfe80::2\t\t2\tweight 1\n"));
        let said = write(&mut router("IP6Lookup", ""), "r.add", "2001:db8::/32 192.0.2.1 1").unwrap_err();
        assert_eq!(said, "gateway 192.0.2.1 is of the other address family");
        let folder = tempfile::tempdir().expect("a folder");
        let text = "2001:db8::/32 fe80::1 1\n2001:db8:1::/48 192.0.2.1 1\n2001:db8:2::/48 192.0.2.2 1\n";
        let six = file(folder.path(), "six", text);
        let said = run_script("IP6Lookup", &format!("write r.load {six}, print $(r.length)"));
        assert!(said.contains("gateway 192.0.2.1 of 2001:db8:1::/48") && said.contains("1 more"), "{said}");
        assert!(said.ends_with("1\n"), "{said}");
        assert!(write(&mut router("IP6Lookup", ""), "r.load", &format!("--strict {six}")).is_err());
    }

    /// What `table` prints can be loaded again, weights and all.
    #[test]
    fn a_printed_table_loads_again() {
        for (class, routes) in [
            ("IPLookup", "10.0.0.0/8 nexthop 192.0.2.1 0 40000 nexthop - 1, 11.0.0.0/8 - -1, 0/0 fe80::1 2"),
            ("IP6Lookup", "2001:db8::/32 nexthop fe80::1 0 300 nexthop - 1 2, ::/0 fe80::1 2"),
            ("LookupIP6Route", "2001:db8::/32 nexthop fe80::1 0 300 nexthop :: 1 2, ::/0 fe80::1 2"),
        ] {
            let (mut first, mut second) = (router(class, routes), router(class, ""));
            let printed = read(&mut first, "r.table", "");
            assert_eq!(write(&mut second, "r.load_text", &format!("\n{printed}")), Ok(String::new()));
            let sorted = |text: String| {
                let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
                lines.sort();
                lines
            };
            assert_eq!(sorted(read(&mut second, "r.table", "")), sorted(printed), "{class}");
        }
    }

    /// While routes are exchanged, each look-up finds the old ones or the new ones.
    #[test]
    fn an_exchange_has_no_gap() {
        fn exchange<T: LongestMatch<u32>>() {
            let table = RouteTable::<V4, T>::new(SlotPolicy::Holes);
            let route = |address: [u8; 4], len, port| {
                let prefix = Prefix::new(u32::from(Ipv4Addr::from(address)), len).expect("a length");
                Route::<V4> { prefix, to: Target::One(Hop { gateway: Ipv4Addr::UNSPECIFIED.into(), port }) }
            };
            let old = [route([10, 0, 0, 0], 8, 0), route([11, 0, 0, 0], 8, 0), route([12, 1, 0, 0], 16, 0)];
            let new = [route([10, 1, 0, 0], 16, 1), route([11, 0, 0, 0], 9, 1), route([12, 0, 0, 0], 8, 1)];
            table.set_all(&old).expect("room");
            let over = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        let guard = Domain::global().guard();
                        for address in [[10, 1, 2, 3], [11, 2, 3, 4], [12, 1, 5, 6]] {
                            let id = table.lookup_one(u32::from(Ipv4Addr::from(address)), guard.turn());
                            assert!(table.forwarding(id, guard.turn()).is_some(), "{address:?}");
                        }
                    }
                });
                for turn in 0..300 {
                    let routes = if turn % 2 == 0 { &new } else { &old };
                    table.replace_all(routes).expect("room");
                    assert_eq!(table.len(), 3);
                }
                over.store(true, Ordering::Relaxed);
            });
        }
        exchange::<Table4>();
        exchange::<RadixTable>();
        exchange::<DirectTable>();
        exchange::<RangeTable>();
        exchange::<LinearTable>();
    }
}
