//! `clique cluster status`, `drain` and `down`.

use super::{complain, default_socket, json};
use crate::console;
use crate::ctl::{connect, data};
use crate::status::Status;
use control::Client;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Where a cluster's nodes are reached.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The UNIX-domain socket of the nodes [default: that of 'clique cluster up'].
    #[arg(short, long, value_name = "FILE")]
    unix_socket: Option<PathBuf>,

    /// The TCP port of the control socket of a node on this machine.
    #[arg(short, long, value_name = "PORT", conflicts_with = "unix_socket")]
    port: Option<u16>,
}

/// Arguments of `clique cluster status`.
#[derive(clap::Args, Debug)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    place: Args,

    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Arguments of `clique cluster drain`.
#[derive(clap::Args, Debug)]
pub(crate) struct DrainArgs {
    #[command(flatten)]
    place: Args,

    /// The element, as 'clique cluster status' shows it.
    #[arg(value_name = "ELEMENT")]
    element: String,
}

/// What is shown of a node, by handler.
const NUMBERS: [&str; 7] = ["direct", "balanced", "spilled", "refused", "passed", "delivered", "late"];

fn open(args: &Args) -> Result<Client, String> {
    let file = args.unix_socket.clone().unwrap_or_else(default_socket);
    connect("127.0.0.1", args.port, args.port.is_none().then_some(file.as_path()))
}

fn done(command: &str, result: Result<Status, String>) -> Status {
    result.unwrap_or_else(|error| complain(command, error.trim_end(), Status::Failure))
}

/// The nodes that a router has: its elements of class VLBNode.
fn nodes(client: &mut Client) -> Result<Vec<String>, String> {
    let list = data(client.read("list", ""))?;
    let mut found = Vec::new();
    for name in list.lines().skip(1).filter(|line| !line.is_empty()) {
        if data(client.read(&format!("{name}.class"), ""))?.trim() == "VLBNode" {
            found.push(name.to_owned());
        }
    }
    Ok(found)
}

/// Runs `clique cluster status`.
pub(super) fn status(args: &StatusArgs) -> Status {
    let look = || {
        let mut client = open(&args.place)?;
        let mut rows = Vec::new();
        for name in nodes(&mut client)? {
            let mut read = |handler: &str| data(client.read(&format!("{name}.{handler}"), ""));
            let (phase, view) = (read("phase")?, read("view")?);
            let up = view.lines().filter(|line| line.contains(" up")).count();
            let mut row =
                json!({ "element": name, "phase": phase.trim(), "up": up, "others": view.lines().count() });
            for handler in NUMBERS {
                row[handler] = read(handler)?.trim().parse().unwrap_or(0u64).into();
            }
            rows.push(row);
        }
        Ok(if args.json { json(&rows) } else { console::write_result(None, &table(&rows)) })
    };
    done("status", look())
}

fn table(rows: &[Value]) -> String {
    let mut text = format!("{:<12}{:<11}{:>7}", "node", "phase", "up");
    NUMBERS.iter().for_each(|name| text.push_str(&format!("{name:>11}")));
    text.push('\n');
    for row in rows {
        let words = ["element", "phase"].map(|name| row[name].as_str().unwrap_or_default());
        text.push_str(&format!(
            "{:<12}{:<11}{:>7}",
            words[0],
            words[1],
            format!("{}/{}", row["up"], row["others"])
        ));
        NUMBERS.iter().for_each(|name| text.push_str(&format!("{:>11}", row[*name].to_string())));
        text.push('\n');
    }
    text
}

/// Runs `clique cluster drain`.
pub(super) fn drain(args: &DrainArgs) -> Status {
    let write = || {
        let mut client = open(&args.place)?;
        data(client.write(&format!("{}.drain", args.element), "")).map(|_| Status::Fine)
    };
    done("drain", write())
}

/// Runs `clique cluster down`.
pub(super) fn down(args: &Args) -> Status {
    let write = || {
        let mut client = open(args)?;
        data(client.write("stop", "")).map(|_| Status::Fine)
    };
    done("down", write())
}
