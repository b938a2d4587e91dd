//! `clique routes import`.

use super::file::{self, Reading, route_json};
use super::trouble::Trouble;
use crate::address::connect;
use crate::console;
use crate::reply;
use crate::report;
use crate::status::Status;
use clap::ValueHint;
use lpm::import::{List, NextHops};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;

/// Arguments of `clique routes import`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A list, the output of 'ip -j route' or 'ip route', or an MRT file, plain or compressed ('-': standard input).
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: String,

    /// Write to OUT instead of standard output.
    #[arg(short, long, value_name = "OUT", conflicts_with = "into", value_hint = ValueHint::FilePath)]
    output: Option<String>,

    /// Give an output to next hops behind INTERFACE; to all others without one if there is no 'INTERFACE='.
    #[arg(long = "to", value_name = "[INTERFACE=]OUTPUT", value_parser = output)]
    outputs: Vec<(Option<String>, u32)>,

    /// Send the routes to this element of a running router.
    #[arg(long, value_name = "ELEMENT", requires = "socket")]
    into: Option<String>,

    /// Replace all routes of the element by these, at once.
    #[arg(long, requires = "into")]
    replace: bool,

    /// The TCP port of the router's control socket.
    #[arg(short, long, value_name = "PORT", group = "socket", requires = "into")]
    port: Option<u16>,

    /// The UNIX-domain socket of the router.
    #[arg(short, long, value_name = "SOCKET", group = "socket", requires = "into", value_hint = ValueHint::FilePath)]
    unix_socket: Option<PathBuf>,
}

fn output(text: &str) -> Result<(Option<String>, u32), String> {
    let (interface, port) = match text.rsplit_once('=') {
        Some((interface, port)) => (Some(interface.to_owned()), port),
        None => (None, text),
    };
    port.parse().map(|port| (interface, port)).map_err(|_| "expected [INTERFACE=]OUTPUT".to_owned())
}

pub(super) fn run(args: &Args, reading: &Reading, json: bool) -> Result<Status, Trouble> {
    let mut list = file::read(&args.file, reading)?.list;
    if let Some(element) = &args.into {
        return load(args, element, &list, json);
    }
    assign(&mut list, &args.outputs);
    if json {
        let all: Vec<Value> =
            list.sorted().iter().map(|&(prefix, next_hops)| route_json(&list, prefix, next_hops)).collect();
        let report = json!({ "routes": all, "skipped": list.skipped, "faults": list.faults.count() });
        return Ok(match &args.output {
            None => report::print_json(&report),
            Some(out) => console::write_result(Some(out), &format!("{report:#}\n")),
        });
    }
    Ok(console::write_result(args.output.as_deref(), &text(&list)))
}

/// All routes in order, in lines that can be read again.
fn text(list: &List) -> String {
    list.sorted().iter().fold(String::new(), |mut text, &(prefix, next_hops)| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{}", list.line(prefix, next_hops));
        text
    })
}

/// Gives outputs to the next hops that have none.
fn assign(list: &mut List, outputs: &[(Option<String>, u32)]) {
    let of = |name: Option<&str>| outputs.iter().rev().find(|(known, _)| known.as_deref() == name);
    let by_device: Vec<_> =
        list.devices.iter().map(|name| of(Some(name)).or(of(None)).map(|o| o.1)).collect();
    let rest = of(None).map(|output| output.1);
    let give = |hop: &mut lpm::import::Hop| {
        let given = hop.device.map_or(rest, |device| by_device.get(device as usize).copied().flatten());
        hop.port = hop.port.or(given);
    };
    let single = |next_hops: &mut NextHops| {
        if let NextHops::Hop(hop) = next_hops {
            give(hop);
        }
    };
    list.v4.iter_mut().for_each(|(_, next_hops)| single(next_hops));
    list.v6.iter_mut().for_each(|(_, next_hops)| single(next_hops));
    list.groups.iter_mut().flatten().for_each(|(hop, _)| give(hop));
}

/// Sends an element the routes, which were found to be right, with outputs in the first line.
fn load(args: &Args, element: &str, list: &List, json: bool) -> Result<Status, Trouble> {
    let default = args.outputs.iter().rev().find(|(interface, _)| interface.is_none());
    let named = args
        .outputs
        .iter()
        .filter_map(|(interface, port)| interface.as_ref().map(|interface| format!("{interface}={port}")));
    let words: Vec<String> = default.map(|(_, port)| port.to_string()).into_iter().chain(named).collect();
    let value = format!("{}\n{}", words.join(" "), text(list));
    let failure = |message: String| Trouble(Status::Failure, message);
    let mut client = connect(args.port, args.unix_socket.as_deref()).map_err(failure)?;
    let handler = if args.replace { "replace_text" } else { "load_text" };
    let reply = reply::fine(client.write(&format!("{element}.{handler}"), &value)).map_err(failure)?;
    for warning in reply.warnings() {
        console::complain(&format!("clique routes: {element}: {warning}\n"));
    }
    let (v4, v6) = (list.v4.len(), list.v6.len());
    if json {
        return Ok(report::print_json(
            &json!({ "element": element, "ipv4": v4, "ipv6": v6, "skipped": list.skipped, "faults": list.faults.count() }),
        ));
    }
    Ok(console::write_result(
        None,
        &format!("{element}: {}: {v4} IPv4 and {v6} IPv6 routes read\n", args.file),
    ))
}
