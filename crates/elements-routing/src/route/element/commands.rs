//! What the handlers of a lookup element are told: routes one by one, in transactions, and from files.

use super::Lookup;
use crate::route::family::Family;
use crate::route::table::{Change, Refusal, RouteTable, patiently};
use crate::route::target::{Hop, Route, Target};
use crate::route::words::{Outputs, leads_to, parse};
use lpm::{LongestMatch, Prefix, import};
use router::{HandlerResult, Outcome, Scope};
use std::path::Path;

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
        let (prefix, to) = parsed.ok_or_else(expected)?;
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

    /// Reads a whole file, then sets all its routes at once.
    pub(super) fn load(&self, text: &str) -> Result<(), String> {
        let words = lang::conf::split_spaces(text);
        let (file, outputs) = words
            .split_first()
            .ok_or_else(|| "expected 'FILE [OUTPUT] [INTERFACE=OUTPUT ...]'".to_owned())?;
        let file = lang::conf::unquote(file);
        let read = || import::read_file(Path::new(&file), import::Options::default());
        self.enter(read, outputs).map_err(|error| format!("{file}: {error}"))
    }

    /// The same with routes that come behind the first line.
    pub(super) fn load_text(&self, text: &str) -> Result<(), String> {
        let (outputs, routes) = text.split_once('\n').unwrap_or((text, ""));
        self.enter(|| import::parse_any(routes.as_bytes()), &lang::conf::split_spaces(outputs))
    }

    /// Sets all routes of a list at once, with outputs as the words say.
    fn enter(
        &self,
        read: impl FnOnce() -> Result<import::List, import::ImportError>,
        words: &[impl AsRef<str>],
    ) -> Result<(), String> {
        let outputs = Outputs::parse(words)?;
        let list = read().map_err(|error| error.to_string())?;
        let route = |(prefix, forwarding): (Prefix<F::Key>, import::NextHops)| {
            let one = |hop| self.hop(&list, prefix, hop, &outputs);
            let to = match forwarding {
                import::NextHops::Hop(hop) => Target::One(one(hop)?),
                _ => {
                    let hops = list.hops(forwarding).into_iter();
                    let hops = hops.map(|(hop, weight)| Ok((one(hop)?, weight)));
                    Target::of(hops.collect::<Result<Vec<_>, String>>()?)
                }
            };
            Ok(Route { prefix, to })
        };
        let routes: Result<Vec<Route<F>>, String> = F::routes(&list).iter().copied().map(route).collect();
        self.table.set_all(&routes?).map_err(|refusal| explain(refusal))
    }

    /// One next hop of a list.
    fn hop(
        &self,
        list: &import::List,
        prefix: Prefix<F::Key>,
        hop: import::Hop,
        outputs: &Outputs,
    ) -> Result<Hop<F::Gateway>, String> {
        let gateway = match hop.gateway {
            None => F::DIRECT,
            Some(gateway) => F::gateway(gateway)
                .ok_or_else(|| format!("gateway {gateway} of {prefix} is of the other address family"))?,
        };
        let port = match hop.port {
            Some(port) => port,
            None => outputs.of(list.device(hop)).ok_or_else(|| {
                let device = list.device(hop).unwrap_or_default();
                format!("no output is given for interface '{device}' of {prefix}; add '{device}=OUTPUT'")
            })?,
        };
        if port as usize >= self.outputs {
            return Err(format!("output {port} of {prefix} does not exist; there are {}", self.outputs));
        }
        Ok(Hop { gateway, port })
    }
}
