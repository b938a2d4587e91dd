//! `clique routes lookup`.

use super::file::{self, Reading, hops_json};
use super::trouble::Trouble;
use crate::console;
use crate::report;
use crate::status::Status;
use clap::ValueHint;
use lpm::import::{AnyPrefix, List, NextHops};
use lpm::{Prefix, Table, TableError};
use rcu::Domain;
use serde_json::{Value, json};
use std::fmt::Write;
use std::io::Read;
use std::net::IpAddr;

/// Arguments of `clique routes lookup`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The file of routes ('-': standard input).
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: String,

    /// Addresses; without any, they are read from standard input.
    #[arg(value_name = "ADDRESS")]
    addresses: Vec<IpAddr>,
}

pub(super) fn run(args: &Args, reading: &Reading, json: bool) -> Result<Status, Trouble> {
    let list = file::read(&args.file, reading)?.list;
    let addresses = match &args.addresses[..] {
        [] if args.file == "-" => {
            return Err(Trouble(Status::Usage, "routes come from standard input; name addresses".into()));
        }
        [] => from_input()?,
        named => named.to_vec(),
    };
    let tables = Tables::new(&list).map_err(|error| Trouble(Status::Failure, error.to_string()))?;
    if json {
        let answers: Vec<Value> = addresses.iter().map(|&address| answer(&tables, &list, address)).collect();
        return Ok(report::print_json(&Value::Array(answers)));
    }
    let text = addresses.iter().fold(String::new(), |mut text, &address| {
        // Writing to a string cannot fail.
        let _ = match tables.longest(address) {
            Some((prefix, next_hops)) => writeln!(text, "{address}\t{prefix}\t{}", list.describe(next_hops)),
            None => writeln!(text, "{address}\t-\tno route"),
        };
        text
    });
    Ok(console::write_result(None, &text))
}

fn answer(tables: &Tables, list: &List, address: IpAddr) -> Value {
    let found = tables.longest(address);
    json!({
        "address": address,
        "prefix": found.map(|(prefix, _)| prefix.to_string()),
        "next_hops": found.map(|(_, next_hops)| hops_json(list, next_hops)),
    })
}

/// Addresses, one a word.
fn from_input() -> Result<Vec<IpAddr>, Trouble> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| {
        Trouble(Status::Configuration, format!("standard input: {}", console::reason(&error)))
    })?;
    let lines = (1..)
        .zip(text.lines())
        .flat_map(|(line, text)| text.split_whitespace().map(move |word| (line, word)));
    lines
        .map(|(line, word)| {
            let wrong = || format!("standard input: line {line}: '{word}' is no address");
            word.parse().map_err(|_| Trouble(Status::Configuration, wrong()))
        })
        .collect()
}

/// The tables of both families; ids are places in the sorted routes.
struct Tables {
    routes: Vec<(AnyPrefix, NextHops)>,
    v4: Table<u32>,
    v6: Table<u128>,
}

impl Tables {
    fn new(list: &List) -> Result<Tables, TableError> {
        let domain = Domain::global();
        let (routes, v4, v6) = (list.sorted(), Table::new(domain), Table::new(domain));
        let ids = || (0..).zip(&routes);
        v4.apply(ids().filter_map(|(id, (prefix, _))| match prefix {
            AnyPrefix::V4(prefix) => Some((*prefix, Some(id))),
            AnyPrefix::V6(_) => None,
        }))?;
        v6.apply(ids().filter_map(|(id, (prefix, _))| match prefix {
            AnyPrefix::V6(prefix) => Some((*prefix, Some(id))),
            AnyPrefix::V4(_) => None,
        }))?;
        Ok(Tables { routes, v4, v6 })
    }

    fn longest(&self, address: IpAddr) -> Option<(AnyPrefix, NextHops)> {
        let id = match address {
            IpAddr::V4(address) => self.v4.longest(address.into()).map(|(_, id): (Prefix<u32>, _)| id),
            IpAddr::V6(address) => self.v6.longest(address.into()).map(|(_, id): (Prefix<u128>, _)| id),
        };
        self.routes.get(id? as usize).copied()
    }
}
