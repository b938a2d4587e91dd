//! Reads a route file, with a progress bar on a terminal.

use super::trouble::Trouble;
use crate::console::{self, reason};
use crate::status::Status;
use indicatif::{ProgressBar, ProgressStyle};
use lpm::import::{self, AnyPrefix, Faults, ImportError, List, NextHops, Options};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Read};

/// How files are read.
#[derive(clap::Args, Debug)]
pub(super) struct Reading {
    /// Refuse a file of which anything cannot be read or used; otherwise that is left out and reported.
    #[arg(long, global = true)]
    strict: bool,

    /// Of routes that 'ip route' says a table of, use those of TABLE.
    #[arg(long, global = true, value_name = "TABLE", default_value = import::MAIN_TABLE)]
    table: String,
}

/// A file that was read.
pub(super) struct RouteFile {
    /// Its bytes after decompression.
    pub(super) bytes: Vec<u8>,
    pub(super) list: List,
}

/// Reads a file, or standard input under the name `-`, and reports what is left out.
pub(super) fn read(name: &str, reading: &Reading) -> Result<RouteFile, Trouble> {
    let wrong = |error: &dyn std::fmt::Display| Trouble(Status::Configuration, format!("{name}: {error}"));
    let unreadable = |error: io::Error| Trouble(Status::Configuration, format!("{name}: {}", reason(&error)));
    let (source, size): (Box<dyn Read>, _) = match name {
        "-" => (Box::new(io::stdin().lock()), None),
        _ => {
            let file = File::open(name).map_err(unreadable)?;
            let size = file.metadata().map_err(unreadable)?.len();
            (Box::new(file), Some(size))
        }
    };
    let bar = bar(name, size);
    let mut progress = |read| bar.set_position(read);
    let mut options = Options { progress: Some(&mut progress), ..Options::default() };
    let unpacked = import::unpack(source, &mut options);
    bar.finish_and_clear();
    let bytes = unpacked.map_err(|error| match error {
        ImportError::Io(error) => unreadable(error),
        error => wrong(&error),
    })?;
    let read = import::parse_any(&bytes, &reading.table);
    let list =
        if reading.strict { read.and_then(List::strict) } else { read }.map_err(|error| wrong(&error))?;
    report(name, &list.faults);
    Ok(RouteFile { bytes, list })
}

/// Says what was left out of a file.
fn report(name: &str, faults: &Faults) {
    for line in faults.lines() {
        console::complain(&format!("clique routes: {name}: {line}\n"));
    }
}

/// A bar on standard error; nothing if that is no terminal.
fn bar(name: &str, size: Option<u64>) -> ProgressBar {
    let (bar, template) = match size {
        Some(size) => (ProgressBar::new(size), "{msg} {bar:40} {bytes}/{total_bytes} {elapsed}"),
        None => (ProgressBar::no_length(), "{msg} {spinner} {bytes} {elapsed}"),
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(name.to_owned());
    bar
}

/// A route in JSON.
pub(super) fn route_json(list: &List, prefix: AnyPrefix, next_hops: NextHops) -> Value {
    json!({ "prefix": prefix.to_string(), "next_hops": hops_json(list, next_hops) })
}

/// Where a route leads, in JSON: an empty list for nowhere.
pub(super) fn hops_json(list: &List, next_hops: NextHops) -> Value {
    let hops = list.hops(next_hops);
    let hop = |&(hop, weight): &(import::Hop, u32)| json!({ "gateway": hop.gateway, "interface": list.device(hop), "output": hop.port, "weight": weight });
    hops.iter().map(hop).collect()
}
