//! Connections as text.

use super::record::Record;
use super::sight::Key;
use super::state::Progress;
use super::table::Table;
use elements_shared::flow_filter::{Filter, Shown, protocol_name};
use rcu::Turn;
use std::fmt::Write as _;
use std::net::IpAddr;

pub(super) fn originator_first(key: Key, progress: Progress) -> [(IpAddr, u16); 2] {
    let high = progress.is_from_high();
    [key.end(high), key.end(!high)]
}

/// A connection's protocol and ends, the originator's first: `tcp 10.0.0.1 4000 192.0.2.1 80`.
pub(super) fn ends(key: Key, progress: Progress) -> String {
    let [(source, sport), (destination, dport)] = originator_first(key, progress);
    format!("{} {source} {sport} {destination} {dport}", protocol_name(key.protocol()))
}

fn shown(key: Key, progress: Progress) -> Shown {
    Shown {
        protocol: key.protocol(),
        ends: originator_first(key, progress),
        state: progress.state().name(),
        replied: progress.is_replied(),
        assured: progress.is_assured(),
    }
}

/// The connections that a filter asks for, without its limit.
pub(super) fn of<'t>(
    filter: &Filter,
    table: &'t Table,
    turn: Turn<'t>,
    now_ms: u64,
) -> impl Iterator<Item = (u32, Key, &'t Record)> {
    table.all(turn, now_ms).filter(move |(_, key, record)| filter.accepts(&shown(*key, record.progress())))
}

/// One line for each connection.
pub(super) fn lines(filter: &Filter, table: &Table, turn: Turn<'_>, now_ms: u64) -> String {
    let mut text = String::new();
    let mut all = of(filter, table, turn, now_ms);
    for (_, key, record) in all.by_ref().take(filter.limit()) {
        let progress = record.progress();
        let left_s = table.over_ms(record).saturating_sub(now_ms) / 1000;
        let (state, assured) = (progress.state().name(), shown(key, progress).assurance());
        let _ = writeln!(text, "{} {state} {assured} exp{left_s}", ends(key, progress));
    }
    let more = all.count();
    if more > 0 {
        let _ = writeln!(text, "... and {more} more");
    }
    text
}

/// A number that is mostly 0, and is said only if it is not.
fn number(name: &str, number: u32) -> String {
    if number == 0 { String::new() } else { format!(",\"{name}\":{number}") }
}

/// An array with an object for each connection.
pub(super) fn json(filter: &Filter, table: &Table, turn: Turn<'_>, now_ms: u64) -> String {
    let mut text = String::from("[");
    for (_, key, record) in of(filter, table, turn, now_ms).take(filter.limit()) {
        let progress = record.progress();
        let [(source, sport), (destination, dport)] = originator_first(key, progress);
        let seconds = |ms: u64| ms / 1000;
        let comma = if text.len() > 1 { "," } else { "" };
        let _ = write!(
            text,
            "{comma}\n{{\"protocol\":\"{}\",\"source\":\"{source}\",\"sport\":{sport},\"destination\":\"{destination}\",\
             \"dport\":{dport},\"state\":\"{}\",\"replied\":{},\"assured\":{},\"age_s\":{},\"idle_s\":{},\"expires_s\":{}{}{}}}",
            protocol_name(key.protocol()),
            progress.state().name(),
            progress.is_replied(),
            progress.is_assured(),
            seconds(now_ms.saturating_sub(record.begun_ms())),
            seconds(now_ms.saturating_sub(record.last_ms())),
            seconds(table.over_ms(record).saturating_sub(now_ms)),
            number("kind", key.kind >> 16),
            number("fins", progress.fins()),
        );
    }
    text + "\n]\n"
}
