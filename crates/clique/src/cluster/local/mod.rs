//! A cluster on this machine: a process for each node, in a network namespace of its own with cables to others, to all in a mesh, and a
//! host behind each node that has an external port.
//!
//! What belongs to it lies in a directory under `/run`: the shared key, configurations, control sockets, process numbers, what
//! the nodes print. So another process can show it and take it down, also when the one that put it up is gone.

mod configuration;
mod network;
mod trial;

use super::order::OrderArgument;
use super::output::json;
use super::wiring::Wiring;
use crate::address::connect;
use crate::console;
use crate::reply::data;
use crate::status::Status;
use network::Network;
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use trial::Trial;

/// How long nodes may take until all take part, and until they have ended.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at what has changed.
const PAUSE: Duration = Duration::from_millis(50);

/// Where a cluster of a name has its files.
pub(super) struct ClusterFiles {
    name: String,
    directory: PathBuf,
}

/// What is put up.
pub(super) struct Deployment {
    pub(super) wiring: Wiring,
    pub(super) order: OrderArgument,
    /// Whether each node translates what its host sends, and is replaced by another.
    pub(super) translates: bool,
    /// Workers of each node.
    pub(super) threads: u16,
    /// Whether the hosts try it.
    pub(super) with_trial: bool,
    /// When it is taken down again, if by itself.
    pub(super) seconds: Option<u32>,
    /// Whether programs read what is printed.
    pub(super) json: bool,
}

impl ClusterFiles {
    pub(super) fn new(name: &str) -> Result<ClusterFiles, String> {
        let fits = (1..=20).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !fits {
            return Err(format!("'{name}' is no name of up to 20 letters, digits and hyphens"));
        }
        Ok(ClusterFiles {
            name: name.to_owned(),
            directory: Path::new("/run").join(format!("clique-cluster-{name}")),
        })
    }

    /// Nodes that were put up, with their sockets.
    pub(super) fn sockets(&self) -> Vec<(u16, PathBuf)> {
        let number = |file: &Path| file.file_stem()?.to_str()?.strip_prefix('n')?.parse().ok();
        let files = std::fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let mut found: Vec<(u16, PathBuf)> = files
            .map(|entry| entry.path())
            .filter(|file| file.extension().is_some_and(|end| end == "pid"))
            .filter_map(|file| Some((number(&file)?, file.with_extension("sock"))))
            .collect();
        found.sort();
        found
    }

    fn file(&self, node: u16, end: &str) -> PathBuf {
        self.directory.join(format!("n{node}.{end}"))
    }

    /// Takes everything down, whatever there is of it.
    fn remove(&self, nodes: u16) {
        network::remove(&self.name, nodes);
        let _ = std::fs::remove_dir_all(&self.directory); // what is not there needs no removing
    }
}

/// Whether this process may make namespaces.
pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The nodes' configurations, as they would run.
pub(super) fn print(deployment: &Deployment) -> Status {
    let text = |node| format!("// Node {node}\n{}\n", configuration::of(node, deployment, "KEYFILE"));
    console::write_result(None, &(0..deployment.wiring.nodes()).map(text).collect::<String>())
}

/// Puts a cluster up, and takes it down when it is told so, or its time is over.
pub(super) fn up(files: &ClusterFiles, deployment: &Deployment) -> Result<Status, String> {
    Network::check_programs(deployment.with_trial)?;
    let over = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, over.clone()).map_err(|error| error.to_string())?;
    }
    if let Err(error) = std::fs::create_dir(&files.directory) {
        return Err(match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                "such a cluster is there already; 'clique cluster down' takes it down".to_owned()
            }
            _ => format!("{}: {}", files.directory.display(), console::reason(&error)),
        });
    }
    let mut running = Vec::new();
    let done = live(files, deployment, &over, &mut running);
    stop(files, &mut running);
    files.remove(deployment.wiring.nodes());
    done
}

fn live(
    files: &ClusterFiles,
    deployment: &Deployment,
    over: &AtomicBool,
    running: &mut Vec<Child>,
) -> Result<Status, String> {
    let (network, wiring) =
        (Network::new(&files.name, deployment.wiring.clone(), deployment.translates), &deployment.wiring);
    network.build()?;
    write_key(&files.directory.join("key"))?;
    for node in 0..wiring.nodes() {
        running.push(start(files, &network, deployment, node)?);
    }
    wait_until_active(files, wiring.nodes(), over)?;
    if !deployment.json {
        console::complain(&describe(files, &network, wiring));
    }
    let mut trials = Vec::new();
    if deployment.with_trial && !over.load(Relaxed) {
        let note = |trial: &Trial| {
            if !deployment.json {
                console::complain(&trial.line());
            }
        };
        trials = trial::run(&network, wiring.terminals(), note)?;
    }
    let mut status = if trials.iter().all(|trial| trial.is_well) { Status::Fine } else { Status::Failure };
    if deployment.json && json(&inventory(files, &network, wiring, &trials)) != Status::Fine {
        status = Status::Failure;
    }
    let until = deployment.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds.into()));
    while !over.load(Relaxed) && until.is_none_or(|until| Instant::now() < until) {
        note_ends(running);
        if running.is_empty() {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    Ok(status)
}

/// Writes a key that no other user can read.
fn write_key(file: &Path) -> Result<(), String> {
    let write = || {
        let mut key = [0; 32];
        File::open("/dev/urandom")?.read_exact(&mut key)?;
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?.write_all(&key)
    };
    write().map_err(|error: std::io::Error| format!("{}: {}", file.display(), console::reason(&error)))
}

/// Starts a node in its namespace.
fn start(
    files: &ClusterFiles,
    network: &Network,
    deployment: &Deployment,
    node: u16,
) -> Result<Child, String> {
    let key = files.directory.join("key").display().to_string();
    let config = files.file(node, "click");
    let explain = |error: std::io::Error| format!("node {node}: {}", console::reason(&error));
    std::fs::write(&config, configuration::of(node, deployment, &key)).map_err(explain)?;
    let log = File::create(files.file(node, "log")).map_err(explain)?;
    let program = std::env::current_exe().map_err(explain)?;
    let child = Command::new("ip")
        .args(["netns", "exec", &network.node(node)])
        .arg(program)
        // Each node by itself would take the first processors, as all others do: the kernel knows better where there is room.
        .args(["run", "--affinity=false", "-j", &deployment.threads.to_string(), "-u"])
        .arg(files.file(node, "sock"))
        .arg(config)
        .stdin(Stdio::null())
        .stdout(log.try_clone().map_err(explain)?)
        .stderr(log)
        .spawn()
        .map_err(explain)?;
    // 'ip' becomes the node, under the same number.
    std::fs::write(files.file(node, "pid"), format!("{}\n", child.id())).map_err(explain)?;
    Ok(child)
}

fn wait_until_active(files: &ClusterFiles, nodes: u16, over: &AtomicBool) -> Result<(), String> {
    let until = Instant::now() + PATIENCE;
    for node in 0..nodes {
        while !is_active(&files.file(node, "sock")) && !over.load(Relaxed) {
            if Instant::now() > until {
                let said = std::fs::read_to_string(files.file(node, "log")).unwrap_or_default();
                return Err(format!("node {node} does not take part\n{}", said.trim_end()));
            }
            std::thread::sleep(PAUSE);
        }
    }
    Ok(())
}

/// Whether a node takes part, reaches all others, and all its cables are whole.
fn is_active(socket: &Path) -> bool {
    let look = || {
        let mut client = connect(None, Some(socket))?;
        let phase = data(client.read("vlb.phase", ""))?;
        let known = data(client.read("vlb.view", ""))? + &data(client.read("vlb.links", ""))?;
        Ok::<bool, String>(phase.trim() == "active" && !known.contains(" down"))
    };
    look().unwrap_or(false)
}

fn describe(files: &ClusterFiles, network: &Network, wiring: &Wiring) -> String {
    let (nodes, last) = (wiring.describe(), wiring.terminals() - 1);
    format!(
        "{nodes}; 'clique cluster status' shows them, 'drain' and 'down' take them down{}\n\
         a host at each, {} to {}: ip netns exec {} ping {}\n\
         what nodes say: {}/n*.log\n",
        if files.name == DEFAULT_NAME { String::new() } else { format!(" (with --name {})", files.name) },
        network.host(0),
        network.host(last),
        network.host(0),
        network::address(last, 2),
        files.directory.display()
    )
}

/// Where everything is, for programs.
fn inventory(files: &ClusterFiles, network: &Network, wiring: &Wiring, trials: &[Trial]) -> Value {
    let node = |node: u16| {
        let mut entry = json!({
            "element": format!("n{node}/vlb"),
            "namespace": network.node(node),
            "socket": files.file(node, "sock"),
            "log": files.file(node, "log"),
        });
        if node < wiring.terminals() {
            entry["host"] = network.host(node).into();
            entry["host_address"] = network::address(node, 2).into();
        }
        entry
    };
    let trial = |trial: &Trial| json!({ "from": trial.from, "to": trial.to, "what": trial.what, "said": trial.said, "well": trial.is_well });
    json!({
        "name": files.name,
        "nodes": (0..wiring.nodes()).map(node).collect::<Vec<_>>(),
        "trials": trials.iter().map(trial).collect::<Vec<_>>(),
    })
}

/// The name of a cluster that has none.
pub(super) const DEFAULT_NAME: &str = "local";

/// Forgets nodes that have ended, and says so.
fn note_ends(running: &mut Vec<Child>) {
    running.retain_mut(|child| match child.try_wait() {
        Ok(Some(status)) => {
            console::complain(&format!("process {} has ended ({status})\n", child.id()));
            false
        }
        _ => true,
    });
}

/// Ends the nodes that are left: asks them, and after a while ends them.
fn stop(files: &ClusterFiles, running: &mut Vec<Child>) {
    ask_to_stop(files);
    let until = Instant::now() + Duration::from_secs(3);
    while running.iter_mut().any(|child| matches!(child.try_wait(), Ok(None))) && Instant::now() < until {
        std::thread::sleep(PAUSE);
    }
    for child in running {
        let _ = child.kill(); // it has ended already, or ends now
        let _ = child.wait();
    }
}

fn ask_to_stop(files: &ClusterFiles) {
    for (_, socket) in files.sockets() {
        if let Ok(mut client) = connect(None, Some(&socket)) {
            let _ = data(client.write("stop", "")); // one that does not answer is ended otherwise
        }
    }
}

/// Takes a cluster down: its nodes stop, and the process that put it up removes the rest. If that one is gone, this does it.
pub(super) fn down(files: &ClusterFiles) {
    let nodes = files.sockets().iter().map(|(node, _)| node + 1).max().unwrap_or(0);
    let pids = files.sockets().into_iter().filter_map(|(node, _)| {
        let text = std::fs::read_to_string(files.file(node, "pid")).ok()?;
        rustix::process::Pid::from_raw(text.trim().parse().ok()?)
    });
    let pids: Vec<_> = pids.collect();
    ask_to_stop(files);
    let until = Instant::now() + Duration::from_secs(5);
    while files.directory.exists() && Instant::now() < until {
        std::thread::sleep(PAUSE);
    }
    if files.directory.exists() {
        for pid in pids.into_iter().filter(|&pid| is_node(pid)) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        files.remove(nodes);
    }
}

/// Whether a process is one of ours: its number may have been given to another since.
fn is_node(pid: rustix::process::Pid) -> bool {
    let of = |path: String| std::fs::read_link(path).ok();
    let program = of(format!("/proc/{}/exe", pid.as_raw_nonzero()));
    program.is_some() && program == of("/proc/self/exe".to_owned())
}
