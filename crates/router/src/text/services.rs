//! Names of ports and protocols, from this machine's services(5) and protocols(5) files.

use std::collections::HashMap;
use std::sync::OnceLock;

/// Names and what they stand for.
type Table = HashMap<String, u16>;

/// A line's first name, its number with what follows it, and its other names. None for a line that says nothing.
fn fields(line: &str) -> Option<(&str, &str, impl Iterator<Item = &str>)> {
    let mut words = line.split('#').next()?.split_whitespace();
    Some((words.next()?, words.next()?, words))
}

fn enter<'n>(table: &mut Table, name: &'n str, others: impl Iterator<Item = &'n str>, number: u16) {
    for name in std::iter::once(name).chain(others) {
        table.entry(name.to_owned()).or_insert(number);
    }
}

/// Reads lines `NAME PORT/PROTOCOL [NAME...]`. Of several ports with a name the first counts; they hardly ever differ.
fn services(text: &str) -> Table {
    let mut table = Table::new();
    for (name, place, others) in text.lines().filter_map(fields) {
        let port = place.split_once(['/', ',']).and_then(|(port, _)| port.parse().ok());
        if let Some(port) = port {
            enter(&mut table, name, others, port);
        }
    }
    table
}

/// Reads lines `NAME NUMBER [NAME...]`.
fn protocols(text: &str) -> Table {
    let mut table = Table::new();
    for (name, number, others) in text.lines().filter_map(fields) {
        if let Ok(number) = number.parse::<u8>() {
            enter(&mut table, name, others, number.into());
        }
    }
    table
}

/// What a name stands for in a file of this machine, which is read once. A file that cannot be read lists nothing.
fn look_up(name: &str, known: &OnceLock<Table>, file: &str, read: fn(&str) -> Table) -> Option<u16> {
    let table = known.get_or_init(|| read(&std::fs::read_to_string(file).unwrap_or_default()));
    table.get(name).copied()
}

/// The port of a service that this machine knows.
pub fn service_port(name: &str) -> Option<u16> {
    static SERVICES: OnceLock<Table> = OnceLock::new();
    look_up(name, &SERVICES, "/etc/services", services)
}

/// The number of a protocol that this machine knows.
pub fn machine_protocol(name: &str) -> Option<u8> {
    static PROTOCOLS: OnceLock<Table> = OnceLock::new();
    look_up(name, &PROTOCOLS, "/etc/protocols", protocols).and_then(|number| u8::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read() {
        let text = "# comment\n\nhttp\t80/tcp\twww web # World Wide Web\nsyslog 514/udp\nbad\nworse x/tcp\nhttp 80/udp\nlast 9,tcp";
        let table = services(text);
        let known = ["http", "web", "syslog", "last", "bad", "worse", "World"];
        let ports = known.map(|name| table.get(name).copied());
        assert_eq!(ports, [Some(80), Some(80), Some(514), Some(9), None, None, None]);
        let table = protocols("ip 0 IP\nospf 89 OSPFIGP # Open Shortest Path First IGP\nlarge 300\n");
        let known = ["IP", "ospf", "OSPFIGP", "large"].map(|name| table.get(name).copied());
        assert_eq!(known, [Some(0), Some(89), Some(89), None]);
        assert_eq!(look_up("http", &OnceLock::new(), "/nowhere/at/all", services), None);
    }
}
