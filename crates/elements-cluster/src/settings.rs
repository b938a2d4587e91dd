//! The arguments of VLBNode and VLBFly.

use cluster::NodeId;
use cluster::choice::{self, OrderPolicy, Scheme};
use cluster::label::{MAX_HOPS, MOST_NUMBERED};
use cluster::membership::{Hello, Key, MOST_NODES, Roster, Timing, most_in_frames};
use cluster::resequence;
use cluster::topology::Topology;
use elements_shared::files;
use elements_shared::key_argument::without_key;
use router::{Bandwidth, Bytes, Config, ConfigError, FileName};
use std::time::Duration;

/// How the nodes of a cluster are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wiring {
    Mesh,
    Fly,
}

/// The arguments without KEY, which stands at a place if it has no keyword, for handlers.
pub(super) fn shown(config: &str, place: usize) -> Option<String> {
    const OTHERS: &[&str] = &[
        "NODE",
        "NODES",
        "TERMINALS",
        "FANOUT",
        "KEYFILE",
        "ORDER",
        "SCHEME",
        "LINE_RATE",
        "LINK_RATE",
        "ROSTER",
        "HELLO",
        "HOLD",
        "FLOWLET",
        "WAIT",
    ];
    without_key(config, place, OTHERS)
}

/// What a node is told.
pub(super) struct Settings {
    pub(super) node: NodeId,
    pub(super) topology: Topology,
    key: Secret,
    pub(super) timing: Timing,
    pub(super) choice: choice::Settings,
    pub(super) resequence: resequence::Settings,
}

/// Where the key is.
enum Secret {
    Bytes(Vec<u8>),
    File(String),
}

/// Times are not longer than this, so that none of what is computed from them overflows.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

impl Settings {
    /// Reads the arguments, and the files that they name.
    pub(super) fn read(config: &mut Config<'_>, wiring: Wiring) -> Result<(Settings, Roster), ConfigError> {
        let (mut node, mut size, mut fanout) = (0, 0, 0);
        let (mut key, mut key_file) = (None::<Bytes>, None::<FileName>);
        let (mut order, mut scheme) = ("FLOWLET".to_owned(), "DIRECT".to_owned());
        let (mut line_rate, mut link_rate) =
            (Bandwidth { bytes_per_second: 1_250_000_000 }, None::<Bandwidth>);
        let (mut roster_file, mut timing) = (None::<FileName>, Timing::default());
        let mut resequence = resequence::Settings::default();
        let time = Duration::from_nanos;
        let (mut hello, mut hold) = (time(timing.hello_ns), time(timing.hold_ns));
        let (mut flowlet, mut wait) = (Duration::from_millis(100), time(resequence.wait_ns));
        let args = config.args().required("NODE", &mut node);
        let args = match wiring {
            Wiring::Mesh => args.required("NODES", &mut size),
            Wiring::Fly => args.required("TERMINALS", &mut size).required("FANOUT", &mut fanout),
        };
        args.positional("KEY", &mut key)
            .keyword("KEYFILE", &mut key_file)
            .keyword("ORDER", &mut order)
            .keyword("SCHEME", &mut scheme)
            .keyword("LINE_RATE", &mut line_rate)
            .keyword("LINK_RATE", &mut link_rate)
            .keyword("ROSTER", &mut roster_file)
            .keyword("HELLO", &mut hello)
            .keyword("HOLD", &mut hold)
            .keyword("FLOWLET", &mut flowlet)
            .keyword("WAIT", &mut wait)
            .finish()?;
        let topology = match wiring {
            Wiring::Mesh => mesh(node, size)?,
            Wiring::Fly => fly(node, size, fanout)?,
        };
        let ports = 1 + topology.neighbours(node).len();
        if config.inputs() != ports || config.outputs() != ports {
            return Err(match wiring {
                Wiring::Mesh => error("as many inputs and outputs as NODES must be connected"),
                Wiring::Fly => error(&format!(
                    "node {node} has {} links: {ports} inputs and outputs must be connected",
                    ports - 1
                )),
            });
        }
        if line_rate.bytes_per_second == 0 || hello.is_zero() || hold <= hello {
            return Err(error("LINE_RATE and HELLO must not be zero, and HOLD must be longer than HELLO"));
        }
        if [hello, hold, flowlet, wait].iter().any(|time| *time > LONGEST) {
            return Err(error("HELLO, HOLD, FLOWLET and WAIT must not be longer than a day"));
        }
        let line_rate = line_rate.bytes_per_second * 8;
        let link_rate = link_rate.map_or(2 * line_rate / spread(&topology), |rate| rate.bytes_per_second * 8);
        let mut choice = choice::Settings::new(line_rate, link_rate.max(1));
        choice.order = order_of(&order)?;
        let is_numbered_fly = choice.order == OrderPolicy::Sequence && wiring == Wiring::Fly;
        if is_numbered_fly && usize::from(size) > MOST_NUMBERED {
            return Err(error(&format!(
                "ORDER: STRICT: in a fly labels have room for numbers with up to {MOST_NUMBERED} terminals"
            )));
        }
        choice.scheme = scheme_of(&scheme)?;
        choice.flowlet_gap_ns = ns(flowlet);
        (timing.hello_ns, timing.hold_ns, resequence.wait_ns) = (ns(hello), ns(hold), ns(wait));
        // Numbers begin anew with a node, and who is to put them in order must know of it before.
        let lives = usize::from(size).div_ceil(Hello::MOST_LIVES);
        let rounds = if is_numbered_fly { 2 * topology.diameter() * lives } else { 0 };
        timing.announce_ns = ns(hello) * (2 + rounds as u64);
        (timing.listen_ns, timing.quiet_ns) = (3 * ns(hold), ns(hold).max(ns(flowlet)) + ns(hold));
        let key = match (key, key_file) {
            (Some(key), None) => Secret::Bytes(key.0),
            (None, Some(file)) => {
                elements_shared::key_file::warn_if_open(config, &file.0);
                Secret::File(file.0)
            }
            _ => return Err(error("either KEY or KEYFILE is needed")),
        };
        let roster = match roster_file {
            None => Roster::simple(topology.nodes() as NodeId),
            Some(file) => {
                let text = files::read_to_string(&file.0)
                    .map_err(|why| error(&format!("ROSTER: {}: {why}", file.0)))?;
                let wrong =
                    |errors: Vec<String>| error(&format!("ROSTER: {}: {}", file.0, errors.join("; ")));
                Roster::parse(&text).and_then(|roster| roster.within(topology.nodes())).map_err(wrong)?
            }
        };
        Ok((Settings { node, topology, key, timing, choice, resequence }, roster))
    }

    /// The key that all nodes share. Its file is read when the node starts, not when its configuration is checked.
    pub(super) fn key(&self) -> Result<Key, ConfigError> {
        match &self.key {
            Secret::Bytes(bytes) => Ok(Key::new(bytes)),
            Secret::File(file) => match files::read(file) {
                Ok(bytes) if !bytes.is_empty() => Ok(Key::new(&bytes)),
                Ok(_) => Err(error(&format!("KEYFILE: {file}: empty"))),
                Err(why) => Err(error(&format!("KEYFILE: {file}: {why}"))),
            },
        }
    }

    pub(super) fn is_strict(&self) -> bool {
        self.choice.order == OrderPolicy::Sequence
    }
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn error(message: &str) -> ConfigError {
    ConfigError::from(message)
}

/// A mesh that has a node of this number.
fn mesh(node: NodeId, nodes: NodeId) -> Result<Topology, ConfigError> {
    if usize::from(nodes) > MOST_NODES {
        return Err(error(&format!(
            "NODES: {nodes} are too many: hellos name every node and fit into a frame for at most {MOST_NODES}; larger clusters are flies (VLBFly)"
        )));
    }
    if node >= nodes {
        return Err(error("NODE: must be less than NODES"));
    }
    Ok(Topology::Mesh { nodes: usize::from(nodes) })
}

/// The fly of so many terminals, if it has a node of this number, and labels and hellos have room for it.
fn fly(node: NodeId, terminals: NodeId, fanout: NodeId) -> Result<Topology, ConfigError> {
    if terminals < 2 || fanout < 2 {
        return Err(error("TERMINALS and FANOUT: 2 at least"));
    }
    let topology = Topology::fly(terminals.into(), fanout.into());
    let nodes = topology.nodes();
    if nodes > usize::from(NodeId::MAX) || topology.max_hops() > usize::from(MAX_HOPS) {
        return Err(error(&format!(
            "TERMINALS: labels have no room for {nodes} nodes and {} hops; a larger FANOUT takes fewer",
            topology.max_hops()
        )));
    }
    if usize::from(node) >= nodes {
        return Err(error(&format!("NODE: the fly has {nodes} nodes, from 0 to {}", nodes - 1)));
    }
    let cables = topology.neighbours(node).len();
    if Hello::most_bytes(cables, Some(terminals.into())) > most_in_frames(HELLO_ROOM) {
        return Err(error(&format!(
            "TERMINALS: hellos that speak of {terminals} terminals and {cables} cables do not fit into 16 frames; a smaller FANOUT makes them shorter"
        )));
    }
    Ok(topology)
}

/// Bytes of a hello that a frame of 1,500 has room for: two say how long it is.
pub(super) const HELLO_ROOM: usize = 1_500 - 2;

/// Over how many links a node spreads what comes in.
fn spread(topology: &Topology) -> u64 {
    let links = match topology {
        Topology::Fly { radices, .. } => radices.iter().copied().min().unwrap_or(1),
        topology => topology.terminals(),
    };
    links as u64
}

/// The argument ORDER.
fn order_of(text: &str) -> Result<OrderPolicy, ConfigError> {
    match text.to_ascii_uppercase().as_str() {
        "NONE" => Ok(OrderPolicy::None),
        "PINNED" => Ok(OrderPolicy::Pinned),
        "FLOWLET" => Ok(OrderPolicy::Flowlet),
        "STRICT" => Ok(OrderPolicy::Sequence),
        _ => Err(error("ORDER: NONE, PINNED, FLOWLET or STRICT expected")),
    }
}

/// The argument SCHEME.
fn scheme_of(text: &str) -> Result<Scheme, ConfigError> {
    match text.to_ascii_uppercase().as_str() {
        "DIRECT" => Ok(Scheme::Direct),
        "VALIANT" => Ok(Scheme::Valiant),
        _ => Err(error("SCHEME: DIRECT or VALIANT expected")),
    }
}
