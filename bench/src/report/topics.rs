//! What a report measures: the commands, with the options of a quick and of a full run.

use super::depth::Depth;
use super::peers::Peer;

/// How a topic is measured.
pub(super) enum Measured {
    /// A command of this program; what a quick run adds to it, and what a full one adds.
    Command(&'static [&'static str], &'static [&'static str], &'static [&'static str]),
    /// The same of the program `clique` beside this one.
    Router(&'static [&'static str], &'static [&'static str], &'static [&'static str]),
    /// Programs with Click's command line, in turns with ours.
    Peers,
}

/// One thing that a report measures.
pub(super) struct Topic {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) command: Measured,
}

const fn topic(
    name: &'static str,
    title: &'static str,
    command: &'static [&'static str],
    quick: &'static [&'static str],
    full: &'static [&'static str],
) -> Topic {
    Topic { name, title, command: Measured::Command(command, quick, full) }
}

/// All of them, in the order of the page.
pub(super) const TOPICS: &[Topic] = &[
    topic(
        "forward",
        "Packets through whole configurations",
        &["forward"],
        &["--runs", "7", "--packets", "2000000"],
        &["--runs", "15", "--packets", "5000000", "--instructions"],
    ),
    Topic { name: "peers", title: "The same configuration in other routers", command: Measured::Peers },
    Topic {
        name: "demo",
        title: "The full tables, routes that change, packets that fail",
        command: Measured::Router(&["demo"], &["--seconds", "5"], &["--seconds", "20"]),
    },
    topic(
        "server",
        "RouteBricks: one server",
        &["server"],
        &["--rounds", "3", "--packets", "2000000", "--seconds", "0.2"],
        &["--rounds", "9", "--instructions"],
    ),
    topic("predict", "What a configuration will cost", &["predict"], &["--runs", "3"], &["--runs", "9"]),
    topic("esp", "IPsec", &["esp"], &["--runs", "3", "--packets", "100000"], &["--runs", "9"]),
    topic(
        "rewriter",
        "NAT and flows",
        &["rewriter"],
        &["--runs", "3", "--packets", "2000000"],
        &["--runs", "7"],
    ),
    topic(
        "flows",
        "Tables of flows",
        &["flows"],
        &["--runs", "3", "--flows", "1000,100000"],
        &["--runs", "5"],
    ),
    topic(
        "bsd",
        "Split L2 and L3, flow table: Figures 7, 9 and 10",
        &["bsd"],
        &["--samples", "3", "--seconds", "0.5", "--threads", "1,2,4"],
        &["--samples", "5"],
    ),
    topic(
        "filter",
        "Packet filters",
        &["filter"],
        &["--runs", "3", "--packets", "2000000"],
        &["--runs", "7"],
    ),
    topic(
        "lpm-lookups",
        "Lookups in the full Internet tables",
        &["lpm", "--only", "lookups"],
        &["--rounds", "5", "--dpdk"],
        &["--rounds", "15", "--dpdk", "--peers"],
    ),
    topic(
        "lpm-changes",
        "Routes that change while others are looked up",
        &["lpm", "--only", "changes"],
        &["--rounds", "3"],
        &["--rounds", "9"],
    ),
    topic(
        "lpm-load",
        "Loading the full tables",
        &["lpm", "--only", "load"],
        &["--rounds", "3"],
        &["--rounds", "9"],
    ),
    topic("fpm", "Routes from a routing suite", &["fpm"], &["--runs", "3"], &["--runs", "7"]),
    topic(
        "rcu-thesis",
        "RCU for user-level Click: Tables 7 to 14, Figures 11 to 18",
        &["rcu-thesis"],
        &["--tasks", "4", "--threads", "4", "--repetitions", "3"],
        &["--tasks", "32", "--threads", "8"],
    ),
    topic("rcu-ap", "AP-RCU: Table I", &["rcu-ap"], &["--runs", "3", "3", "--operations", "65536"], &[]),
    topic("rcu-read", "What a protected read costs", &["rcu-read"], &["--rounds", "5"], &["--rounds", "15"]),
    topic("rcu-update", "Updates a second", &["rcu-update"], &["--rounds", "3", "--ms", "200"], &[]),
    topic("rcu-grace", "How long grace periods take", &["rcu-grace"], &["--ms", "200"], &[]),
    topic("rcu-costs", "Deferred destruction: what operations cost", &["rcu-costs"], &["--rounds", "5"], &[]),
    topic("rcu-hash", "Deferred destruction: the hash table", &["rcu-hash"], &["--rounds", "3"], &[]),
    topic("rcu-model", "Deferred destruction: when RCU pays", &["rcu-model"], &["--rounds", "5"], &[]),
    topic(
        "cluster",
        "RouteBricks: many servers as one router",
        // Without `nodes`, whose costs are below those of RB4's nodes.
        &[
            "cluster", "--only", "roles", "--only", "orders", "--only", "flowlets", "--only", "scale",
            "--only", "rb4", "--only", "busy", "--only", "workers", "--only", "elephant",
        ],
        &["--runs", "3", "--ports", "64"],
        &["--runs", "9"],
    ),
    topic(
        "devices",
        "The kernel's interfaces (root)",
        &["devices"],
        &["--rounds", "3", "--latency", "0.5", "--replace", "0"],
        &["--rounds", "9"],
    ),
];

impl Topic {
    /// The program that measures it.
    pub(super) fn program(&self) -> &'static str {
        match self.command {
            Measured::Command(..) => "clique-bench",
            Measured::Router(..) => "clique",
            Measured::Peers => "clique-bench report",
        }
    }

    /// The arguments with which this program measures it.
    pub(super) fn command(&self, depth: Depth, peers: &[Peer]) -> Vec<String> {
        let (command, more) = match (&self.command, depth) {
            (Measured::Command(command, ..), Depth::Tiny) => (*command, &["--tiny"][..]),
            (Measured::Router(command, ..), Depth::Tiny) => (*command, &["--seconds", "1"][..]),
            (Measured::Command(command, quick, _) | Measured::Router(command, quick, _), Depth::Quick) => {
                (*command, *quick)
            }
            (Measured::Command(command, _, full) | Measured::Router(command, _, full), Depth::Full) => {
                (*command, *full)
            }
            (Measured::Peers, _) => return peers.iter().map(|peer| format!("--peer {peer}")).collect(),
        };
        command.iter().chain(more).chain(&["--json"]).map(|word| (*word).to_owned()).collect()
    }
}

/// The topics of these names; all, if there are none.
///
/// # Errors
/// A name is none.
pub(super) fn chosen(names: &[String]) -> Result<Vec<&'static Topic>, String> {
    if let Some(name) = names.iter().find(|name| TOPICS.iter().all(|topic| topic.name != **name)) {
        let known: Vec<_> = TOPICS.iter().map(|topic| topic.name).collect();
        return Err(format!("no topic is called '{name}'; there are {}", known.join(", ")));
    }
    Ok(TOPICS
        .iter()
        .filter(|topic| names.is_empty() || names.iter().any(|name| name == topic.name))
        .collect())
}

/// What is measured by this program, in each depth: the arguments, and the name of the topic.
#[cfg(test)]
pub(crate) fn commands() -> impl Iterator<Item = (&'static str, Vec<String>)> {
    TOPICS.iter().filter(|topic| matches!(topic.command, Measured::Command(..))).flat_map(|topic| {
        [Depth::Tiny, Depth::Quick, Depth::Full].map(|depth| (topic.name, topic.command(depth, &[])))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a median that is one of two figures, or the greater of them.
    #[test]
    fn medians_are_of_three_rounds_or_more() {
        for topic in TOPICS {
            for depth in [Depth::Quick, Depth::Full] {
                let command = topic.command(depth, &[]);
                let counts = command
                    .windows(2)
                    .filter(|words| ["--runs", "--rounds", "--samples"].contains(&words[0].as_str()));
                for count in counts.map(|words| words[1].parse::<usize>().expect("a number")) {
                    assert!(count >= 3 && count % 2 == 1, "{}: {count}", topic.name);
                }
            }
        }
    }
}
