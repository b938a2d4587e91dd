//! `clique cluster status`, `drain` and `down`.

use super::local::{self, ClusterFiles};
use super::output::{complain, default_socket, json};
use crate::address::connect;
use crate::console;
use crate::reply::data;
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

    /// What a cluster in namespaces is called.
    #[arg(long, value_name = "NAME", default_value = local::DEFAULT_NAME, conflicts_with_all = ["unix_socket", "port"])]
    name: String,
}

/// A router with nodes.
struct Reached {
    /// What its elements' names begin with here.
    prefix: String,
    client: Result<Client, String>,
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

/// Arguments of `clique cluster down`.
#[derive(clap::Args, Debug)]
pub(crate) struct DownArgs {
    #[command(flatten)]
    place: Args,

    /// Print JSON: what was taken down.
    #[arg(long)]
    json: bool,
}

/// Arguments of `clique cluster drain`.
#[derive(clap::Args, Debug)]
pub(crate) struct DrainArgs {
    #[command(flatten)]
    place: Args,

    /// Print JSON: the element and its phase.
    #[arg(long)]
    json: bool,

    /// The element, as 'clique cluster status' shows it.
    #[arg(value_name = "ELEMENT")]
    element: String,
}

/// What is shown of a node, by handler.
const NUMBERS: [&str; 8] =
    ["direct", "balanced", "spilled", "refused", "passed", "delivered", "late", "given_up"];

/// The cluster in namespaces that is meant, if one is there and nothing else is named.
fn cluster_files(args: &Args) -> Result<Option<ClusterFiles>, String> {
    if args.unix_socket.is_some() || args.port.is_some() {
        return Ok(None);
    }
    let files = ClusterFiles::new(&args.name)?;
    if files.sockets().is_empty() {
        if args.name != local::DEFAULT_NAME {
            return Err(format!("there is no cluster named '{}'", args.name));
        }
        return Ok(None);
    }
    Ok(Some(files))
}

/// The only router that is named.
fn open(args: &Args) -> Result<Client, String> {
    let file = args.unix_socket.clone().unwrap_or_else(default_socket);
    if args.port.is_none() && args.unix_socket.is_none() && !file.exists() {
        return Err("no cluster runs here; 'clique cluster up --local 4' starts one".to_owned());
    }
    connect(args.port, args.port.is_none().then_some(file.as_path()))
}

/// All routers.
fn reach(args: &Args) -> Result<Vec<Reached>, String> {
    let Some(files) = cluster_files(args)? else {
        return Ok(vec![Reached { prefix: String::new(), client: Ok(open(args)?) }]);
    };
    let one = |(node, socket): (u16, PathBuf)| Reached {
        prefix: format!("n{node}/"),
        client: connect(None, Some(&socket)),
    };
    Ok(files.sockets().into_iter().map(one).collect())
}

fn done(command: &str, result: Result<Status, String>) -> Status {
    result.unwrap_or_else(|error| complain(command, error.trim_end(), Status::Failure))
}

/// The nodes that a router has: its elements of class VLBNode or VLBFly.
fn nodes(client: &mut Client) -> Result<Vec<String>, String> {
    let list = data(client.read("list", ""))?;
    let mut found = Vec::new();
    for name in list.lines().skip(1).filter(|line| !line.is_empty()) {
        if matches!(data(client.read(&format!("{name}.class"), ""))?.trim(), "VLBNode" | "VLBFly") {
            found.push(name.to_owned());
        }
    }
    Ok(found)
}

/// Runs `clique cluster status`.
pub(super) fn status(args: &StatusArgs) -> Status {
    let look = || {
        let mut rows = Vec::new();
        for reached in reach(&args.place)? {
            match reached.client {
                Ok(mut client) => rows.extend(rows_of(&mut client, &reached.prefix)?),
                // Others go on without it.
                Err(_) => rows.push(json!({ "element": reached.prefix + "vlb", "phase": "gone" })),
            }
        }
        Ok(if args.json { json(&rows) } else { console::write_result(None, &table(&rows)) })
    };
    done("status", look())
}

fn rows_of(client: &mut Client, prefix: &str) -> Result<Vec<Value>, String> {
    let mut rows = Vec::new();
    for name in nodes(client)? {
        let mut read = |handler: &str| data(client.read(&format!("{name}.{handler}"), ""));
        let (phase, view, links) = (read("phase")?, read("view")?, read("links")?);
        let up = |text: &str| text.lines().filter(|line| line.contains(" up")).count();
        let element = format!("{prefix}{name}");
        let mut row = json!({ "element": element, "phase": phase.trim(), "up": up(&view), "others": view.lines().count() });
        (row["links_up"], row["links"]) = (up(&links).into(), links.lines().count().into());
        for handler in NUMBERS {
            row[handler] = read(handler)?.trim().parse().unwrap_or(0u64).into();
        }
        rows.push(row);
    }
    Ok(rows)
}

fn table(rows: &[Value]) -> String {
    let mut text = format!("{:<12}{:<11}{:>7}{:>8}", "node", "phase", "up", "links");
    NUMBERS.iter().for_each(|name| text.push_str(&format!("{name:>11}")));
    text.push('\n');
    for row in rows {
        let words = ["element", "phase"].map(|name| row[name].as_str().unwrap_or_default());
        text.push_str(&format!("{:<12}{:<11}", words[0], words[1]));
        if row["up"].is_null() {
            text.push('\n');
            continue;
        }
        let [up, links] =
            [("up", "others"), ("links_up", "links")].map(|(up, all)| format!("{}/{}", row[up], row[all]));
        text.push_str(&format!("{up:>7}{links:>8}"));
        NUMBERS.iter().for_each(|name| text.push_str(&format!("{:>11}", row[*name].to_string())));
        text.push('\n');
    }
    text
}

/// Runs `clique cluster drain`.
pub(super) fn drain(args: &DrainArgs) -> Status {
    let write = || {
        for reached in reach(&args.place)? {
            if let Some(element) = args.element.strip_prefix(&reached.prefix) {
                let mut client = reached.client?;
                data(client.write(&format!("{element}.drain"), ""))?;
                if !args.json {
                    return Ok(Status::Fine);
                }
                let phase = data(client.read(&format!("{element}.phase"), ""))?;
                return Ok(json(&json!({ "element": args.element, "phase": phase.trim() })));
            }
        }
        Err(format!("there is no node '{}'", args.element))
    };
    done("drain", write())
}

/// Runs `clique cluster down`.
pub(super) fn down(args: &DownArgs) -> Status {
    let write = || {
        let what = if let Some(files) = cluster_files(&args.place)? {
            let nodes: Vec<u16> = files.sockets().into_iter().map(|(node, _)| node).collect();
            local::down(&files);
            json!({ "name": args.place.name, "nodes": nodes })
        } else {
            data(open(&args.place)?.write("stop", ""))?;
            json!({ "nodes": "in one process" })
        };
        Ok(if args.json { json(&what) } else { Status::Fine })
    };
    done("down", write())
}
