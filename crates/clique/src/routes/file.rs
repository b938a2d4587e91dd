//! Reads a route file, with a progress bar on a terminal.

use super::trouble::Trouble;
use crate::console::reason;
use crate::status::Status;
use indicatif::{ProgressBar, ProgressStyle};
use lpm::import::{self, AnyPrefix, ImportError, List, NextHops, Options};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Read};

/// A file that was read.
pub(super) struct RouteFile {
    /// Its bytes after decompression.
    pub(super) bytes: Vec<u8>,
    pub(super) list: List,
}

/// Reads a file, or standard input under the name `-`.
pub(super) fn read(name: &str) -> Result<RouteFile, Trouble> {
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
    let list = import::parse_any(&bytes).map_err(|error| wrong(&error))?;
    Ok(RouteFile { bytes, list })
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
