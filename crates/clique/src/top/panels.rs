//! Tables as they are shown, on a screen or in a text: titles, columns, cells.

use super::figures::{bytes, duration, or_dash, percent, short};
use super::order::fill;
use super::view::{Rcu, View};

/// How a figure is to be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tone {
    #[default]
    Plain,
    /// Of little interest.
    Faint,
    Good,
    Warning,
    Bad,
}

/// What a table has in one place.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Text(String, Tone),
    /// A share, drawn as a bar.
    Bar(f64, Tone),
}

impl Cell {
    /// How it is taken.
    pub(super) fn tone(&self) -> Tone {
        match self {
            Cell::Text(_, tone) | Cell::Bar(_, tone) => *tone,
        }
    }
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// Names, which may be cut.
    Names,
    /// Words, which stand at the left.
    Words,
    /// Numbers, which stand at the right.
    Numbers,
    /// Bars.
    Bars,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) title: &'static str,
    pub(super) holds: Holds,
    /// Which columns go first where there is no room for all: the highest; 0 stays.
    pub(super) spare: u8,
}

/// A table.
#[derive(Clone, Debug)]
pub(super) struct Panel {
    pub(super) title: &'static str,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Cell>>,
}

/// The panels that may be chosen, in order.
pub(super) const TITLES: [&str; 8] =
    ["Elements", "Queues", "Drops", "Interfaces", "Tables", "RCU", "Flows", "IPsec"];

/// All panels in the order of [`TITLES`].
pub(super) fn all(view: &View) -> [Panel; TITLES.len()] {
    [
        elements(view),
        queues(view),
        drops(view),
        interfaces(view),
        tables(view),
        rcu(view),
        flows(view),
        associations(view),
    ]
}

fn columns(list: &[(&'static str, Holds, u8)]) -> Vec<Column> {
    list.iter().map(|&(title, holds, spare)| Column { title, holds, spare }).collect()
}

fn name(text: &str) -> Cell {
    Cell::Text(text.to_owned(), Tone::Plain)
}

fn faint(text: impl Into<String>) -> Cell {
    Cell::Text(text.into(), Tone::Faint)
}

fn number(text: String) -> Cell {
    let tone = if text == "0" || text == "-" { Tone::Faint } else { Tone::Plain };
    Cell::Text(text, tone)
}

/// A figure that had better be 0.
fn trouble(value: Option<f64>, tone: Tone) -> Cell {
    match value {
        Some(value) if value > 0.0 => Cell::Text(short(value), tone),
        value => faint(or_dash(value, short)),
    }
}

/// How a share of what is limited is taken.
fn load(share: f64) -> Tone {
    match share {
        s if s < 0.7 => Tone::Good,
        s if s < 0.9 => Tone::Warning,
        _ => Tone::Bad,
    }
}

/// What workers do.
pub(super) fn workers(view: &View) -> Panel {
    use Holds::{Bars, Numbers};
    let row = |worker: &super::view::Worker| {
        let share = |share: Option<f64>| number(or_dash(share, percent));
        let busy = worker.busy.unwrap_or(0.0);
        let bar = if worker.up { Cell::Bar(busy, load(busy)) } else { faint("does not answer") };
        vec![
            number(worker.worker.to_string()),
            bar,
            share(worker.busy),
            share(worker.idle),
            share(worker.asleep),
            number(or_dash(worker.packets_rate, short)),
            number(or_dash(worker.batch, short)),
            number(or_dash(worker.dispatches_rate, short)),
            number(or_dash(worker.turns_rate, short)),
            number(or_dash(worker.tasks, short)),
        ]
    };
    Panel {
        title: "Workers",
        columns: columns(&[
            ("worker", Numbers, 0),
            ("", Bars, 0),
            ("busy", Numbers, 0),
            ("idle", Numbers, 0),
            ("asleep", Numbers, 0),
            ("packets/s", Numbers, 0),
            ("batch", Numbers, 0),
            ("hops/s", Numbers, 2),
            ("turns/s", Numbers, 3),
            ("tasks", Numbers, 4),
        ]),
        rows: view.workers.iter().map(row).collect(),
    }
}

fn elements(view: &View) -> Panel {
    use Holds::{Names, Numbers};
    let row = |element: &super::view::Element| {
        vec![
            name(&element.element),
            faint(&element.class),
            number(or_dash(element.packets_rate, short)),
            number(or_dash(element.bytes_rate, bytes)),
            number(or_dash(element.packets, short)),
            trouble(element.drops_rate, Tone::Bad),
            trouble(Some(element.drops), Tone::Warning),
            number(or_dash(element.ns_per_packet, short)),
            number(or_dash(element.runs_rate, short)),
        ]
    };
    Panel {
        title: TITLES[0],
        columns: columns(&[
            ("element", Names, 0),
            ("class", Names, 5),
            ("packets/s", Numbers, 0),
            ("bytes/s", Numbers, 3),
            ("packets", Numbers, 1),
            ("drops/s", Numbers, 0),
            ("drops", Numbers, 0),
            ("ns/packet", Numbers, 2),
            ("runs/s", Numbers, 4),
        ]),
        rows: view.elements.iter().map(row).collect(),
    }
}

fn queues(view: &View) -> Panel {
    use Holds::{Bars, Names, Numbers};
    let row = |queue: &super::view::Queue| {
        let share = fill(queue);
        vec![
            name(&queue.element),
            share.map_or_else(|| faint("-"), |share| Cell::Bar(share, load(share))),
            number(short(queue.packets)),
            number(or_dash(queue.capacity, short)),
            number(or_dash(queue.highwater, short)),
            trouble(queue.drops_rate, Tone::Bad),
            trouble(queue.drops, Tone::Warning),
        ]
    };
    Panel {
        title: TITLES[1],
        columns: columns(&[
            ("queue", Names, 0),
            ("", Bars, 0),
            ("packets", Numbers, 0),
            ("of", Numbers, 0),
            ("most", Numbers, 1),
            ("drops/s", Numbers, 0),
            ("drops", Numbers, 2),
        ]),
        rows: view.queues.iter().map(row).collect(),
    }
}

fn drops(view: &View) -> Panel {
    use Holds::{Names, Numbers};
    let row = |drop: &super::view::Drop| {
        vec![
            trouble(drop.packets_rate, Tone::Bad),
            number(short(drop.packets)),
            name(&drop.element),
            Cell::Text(drop.reason.clone(), Tone::Plain),
        ]
    };
    Panel {
        title: TITLES[2],
        columns: columns(&[
            ("drops/s", Numbers, 0),
            ("drops", Numbers, 0),
            ("element", Names, 0),
            ("reason", Names, 0),
        ]),
        rows: view.drops.iter().map(row).collect(),
    }
}

fn interfaces(view: &View) -> Panel {
    use Holds::{Names, Numbers};
    let row = |interface: &super::view::Interface| {
        vec![
            name(&interface.interface),
            number(or_dash(interface.received_rate, short)),
            number(short(interface.received)),
            trouble(interface.missed_rate, Tone::Bad),
            trouble(Some(interface.missed), Tone::Warning),
            number(or_dash(interface.sent_rate, short)),
            number(short(interface.sent)),
        ]
    };
    Panel {
        title: TITLES[3],
        columns: columns(&[
            ("interface", Names, 0),
            ("received/s", Numbers, 0),
            ("received", Numbers, 2),
            ("missed/s", Numbers, 0),
            ("missed", Numbers, 1),
            ("sent/s", Numbers, 0),
            ("sent", Numbers, 2),
        ]),
        rows: view.interfaces.iter().map(row).collect(),
    }
}

fn tables(view: &View) -> Panel {
    use Holds::{Names, Numbers, Words};
    let row = |table: &super::view::Table| {
        vec![
            name(&table.element),
            faint(&table.class),
            faint(table.kind),
            number(short(table.entries)),
            number(or_dash(table.capacity, short)),
        ]
    };
    Panel {
        title: TITLES[4],
        columns: columns(&[
            ("table", Names, 0),
            ("class", Names, 1),
            ("of", Words, 0),
            ("entries", Numbers, 0),
            ("room", Numbers, 2),
        ]),
        rows: view.tables.iter().map(row).collect(),
    }
}

/// Microseconds as milliseconds.
fn milliseconds(us: f64) -> String {
    format!("{:.1}", us / 1000.0)
}

/// The largest flows, and what is estimated of their TCP.
fn flows(view: &View) -> Panel {
    use Holds::{Names, Numbers, Words};
    let row = |flow: &super::flows::Flow| {
        vec![
            number(or_dash(flow.octets_rate, bytes)),
            number(bytes(flow.octets)),
            number(or_dash(flow.rtt_server_us, milliseconds)),
            number(or_dash(flow.rtt_client_us, milliseconds)),
            number(or_dash(flow.retransmitted.map(|[from, to]| from + to), short)),
            faint(&flow.protocol),
            name(&format!("{} {}", flow.source, flow.sport)),
            name(&format!("{} {}", flow.destination, flow.dport)),
            faint(&flow.element),
        ]
    };
    Panel {
        title: TITLES[6],
        columns: columns(&[
            ("octets/s", Numbers, 0),
            ("octets", Numbers, 1),
            ("server ms", Numbers, 3),
            ("client ms", Numbers, 3),
            ("again", Numbers, 3),
            ("of", Words, 0),
            ("from", Names, 0),
            ("to", Names, 0),
            ("element", Names, 2),
        ]),
        rows: view.flows.iter().map(row).collect(),
    }
}

/// The busiest IPsec associations.
fn associations(view: &View) -> Panel {
    use Holds::{Names, Numbers, Words};
    let row = |of: &super::associations::Association| {
        vec![
            number(or_dash(of.packets_rate, short)),
            number(or_dash(of.octets_rate, bytes)),
            number(short(of.packets)),
            name(&of.source),
            name(&of.destination),
            faint(&of.spi),
            if of.expired { Cell::Text("expired".to_owned(), Tone::Warning) } else { faint(&of.algorithm) },
            faint(&of.element),
        ]
    };
    Panel {
        title: TITLES[7],
        columns: columns(&[
            ("packets/s", Numbers, 0),
            ("octets/s", Numbers, 1),
            ("packets", Numbers, 2),
            ("from", Names, 0),
            ("to", Names, 0),
            ("SPI", Words, 1),
            ("cipher", Words, 2),
            ("element", Names, 2),
        ]),
        rows: view.associations.iter().map(row).collect(),
    }
}

/// Reclamation, and the buffers of packets.
fn rcu(view: &View) -> Panel {
    let rcu = &view.rcu;
    let mut rows = figures(rcu);
    for stalled in &rcu.stalled {
        let waited = Cell::Text(duration(stalled.seconds), Tone::Bad);
        rows.push(vec![name(&format!("{} keeps it waiting for", stalled.reader)), waited]);
    }
    for buffers in &view.buffers {
        let share = if buffers.capacity > 0.0 { buffers.in_use / buffers.capacity } else { 0.0 };
        let text = format!("{} of {}", short(buffers.in_use), short(buffers.capacity));
        let tone = if share < 0.7 { Tone::Plain } else { load(share) };
        rows.push(vec![name(&format!("{} packet buffers in use", buffers.size)), Cell::Text(text, tone)]);
    }
    Panel { title: TITLES[5], columns: columns(&[("", Holds::Words, 0), ("", Holds::Numbers, 0)]), rows }
}

fn figures(rcu: &Rcu) -> Vec<Vec<Cell>> {
    let share = rcu.waiting_bytes.zip(rcu.limit_bytes).filter(|(_, limit)| *limit > 0.0);
    let tone = share.map_or(Tone::Plain, |(waiting, limit)| match load(waiting / limit) {
        Tone::Good => Tone::Plain,
        tone => tone,
    });
    let waiting = format!("{} of {}", or_dash(rcu.waiting_bytes, bytes), or_dash(rcu.limit_bytes, bytes));
    let parts =
        rcu.parts.iter().map(|(part, waiting)| vec![name(&format!("- {part}")), number(bytes(*waiting))]);
    let mut rows = vec![
        vec![name("grace periods/s"), number(or_dash(rcu.grace_periods_rate, short))],
        vec![name("a grace period takes"), number(or_dash(rcu.grace_period_s, duration))],
        vec![name("waits to be freed"), Cell::Text(waiting, tone)],
        vec![name("objects that wait"), number(or_dash(rcu.waiting_objects, short))],
        vec![name("objects freed/s"), number(or_dash(rcu.freed_rate, short))],
        vec![name("updates refused/s"), trouble(rcu.refused_rate, Tone::Bad)],
        vec![name("updates refused"), trouble(rcu.refused, Tone::Warning)],
        vec![name("readers that were late"), trouble(rcu.stalls, Tone::Warning)],
    ];
    rows.splice(3..3, parts); // below what waits
    rows
}
