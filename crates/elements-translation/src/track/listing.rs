//! Connections as text: which ones are asked for, and how they are shown.

use super::record::Record;
use super::sight::Key;
use super::state::{Progress, State};
use super::table::Table;
use rcu::Turn;
use std::fmt::Write as _;
use std::net::IpAddr;
use wire::describe;
use wire::net::{Ipv4Net, Ipv6Net};

/// Connections that are listed unless the filter has another LIMIT.
const LIMIT: usize = 10_000;

/// Which end of a connection an address or a port is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Source,
    Destination,
    Either,
}

/// The addresses of a network.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Net {
    V4(Ipv4Net),
    V6(Ipv6Net),
}

impl Net {
    fn parse(text: &str) -> Option<Net> {
        let whole = |len: u8| if text.contains('/') { text.to_owned() } else { format!("{text}/{len}") };
        let v4 = whole(32).parse().ok().map(Net::V4);
        v4.or_else(|| whole(128).parse().ok().map(Net::V6))
    }

    fn has(&self, address: IpAddr) -> bool {
        match (self, address) {
            (Net::V4(net), IpAddr::V4(address)) => net.contains(address),
            (Net::V6(net), IpAddr::V6(address)) => net.contains(address),
            _ => false,
        }
    }
}

/// What connections are asked for: those for which all of this holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Filter {
    protocol: Option<u8>,
    nets: Vec<(Whose, Net)>,
    ports: Vec<(Whose, u16)>,
    state: Option<State>,
    assured: Option<bool>,
    replied: Option<bool>,
    limit: usize,
}

impl Filter {
    /// Reads a filter: words of `tcp`, `udp`, `icmp`, `icmp6`, `proto N`; `src NET`, `dst NET`, `host NET`; `sport N`, `dport N`, `port N`;
    /// `state STATE`, `assured`, `unassured`, `replied`, `unreplied`; `limit N`.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence.
    pub(super) fn parse(text: &str) -> Result<Filter, String> {
        let (protocol, state, assured, replied) = (None, None, None, None);
        let mut filter =
            Filter { protocol, nets: Vec::new(), ports: Vec::new(), state, assured, replied, limit: LIMIT };
        let mut words = text.split_whitespace();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("'{word}' needs a value"));
            let whose = match word {
                "src" | "sport" => Whose::Source,
                "dst" | "dport" => Whose::Destination,
                _ => Whose::Either,
            };
            match word {
                "src" | "dst" | "host" => {
                    let text = value()?;
                    let net = Net::parse(text).ok_or_else(|| format!("'{text}' is no address or network"))?;
                    filter.nets.push((whose, net));
                }
                "sport" | "dport" | "port" => {
                    let text = value()?;
                    let port = text.parse().map_err(|_| format!("'{text}' is no port"))?;
                    filter.ports.push((whose, port));
                }
                "proto" => {
                    let text = value()?;
                    filter.protocol =
                        Some(protocol_named(text).ok_or_else(|| format!("'{text}' is no protocol"))?);
                }
                "state" => {
                    let text = value()?;
                    filter.state = Some(State::named(text).ok_or_else(|| format!("'{text}' is no state"))?);
                }
                "limit" => {
                    let text = value()?;
                    filter.limit = text.parse().map_err(|_| format!("'{text}' is no number"))?;
                }
                "assured" | "unassured" => filter.assured = Some(word == "assured"),
                "replied" | "unreplied" => filter.replied = Some(word == "replied"),
                _ => {
                    filter.protocol =
                        Some(protocol_named(word).ok_or_else(|| format!("unknown word '{word}'"))?)
                }
            }
        }
        Ok(filter)
    }

    fn accepts(&self, key: Key, progress: Progress) -> bool {
        let ends = originator_first(key, progress);
        let one_of = |whose: Whose, is: &dyn Fn((IpAddr, u16)) -> bool| match whose {
            Whose::Source => is(ends[0]),
            Whose::Destination => is(ends[1]),
            Whose::Either => ends.into_iter().any(is),
        };
        self.protocol.is_none_or(|protocol| protocol == key.protocol())
            && self.state.is_none_or(|state| state == progress.state())
            && self.assured.is_none_or(|assured| assured == progress.is_assured())
            && self.replied.is_none_or(|replied| replied == progress.is_replied())
            && self.nets.iter().all(|(whose, net)| one_of(*whose, &|(address, _)| net.has(address)))
            && self.ports.iter().all(|&(whose, port)| one_of(whose, &|(_, of)| port == of))
    }

    /// The connections that it asks for, without its limit.
    pub(super) fn of<'t>(
        &self,
        table: &'t Table,
        turn: Turn<'t>,
        now_ms: u64,
    ) -> impl Iterator<Item = (u32, Key, &'t Record)> {
        table.all(turn, now_ms).filter(move |(_, key, record)| self.accepts(*key, record.progress()))
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }
}

/// A protocol's number, or its name.
fn protocol_named(word: &str) -> Option<u8> {
    let named = || match word {
        "icmp6" => Some(wire::ip_proto::ICMPV6),
        word => describe::protocol(word).and_then(|number| u8::try_from(number).ok()),
    };
    word.parse().ok().or_else(named)
}

/// A protocol's name, or its number.
fn protocol_name(protocol: u8) -> String {
    match protocol {
        wire::ip_proto::TCP => "tcp".to_owned(),
        wire::ip_proto::UDP => "udp".to_owned(),
        wire::ip_proto::ICMP => "icmp".to_owned(),
        wire::ip_proto::ICMPV6 => "icmp6".to_owned(),
        other => other.to_string(),
    }
}

fn originator_first(key: Key, progress: Progress) -> [(IpAddr, u16); 2] {
    let high = progress.is_from_high();
    [key.end(high), key.end(!high)]
}

/// A connection's protocol and ends, the originator's first: `tcp 10.0.0.1 4000 192.0.2.1 80`.
pub(super) fn ends(key: Key, progress: Progress) -> String {
    let [(source, sport), (destination, dport)] = originator_first(key, progress);
    format!("{} {source} {sport} {destination} {dport}", protocol_name(key.protocol()))
}

fn assurance(progress: Progress) -> &'static str {
    match (progress.is_assured(), progress.is_replied()) {
        (true, _) => "assured",
        (false, true) => "replied",
        (false, false) => "unreplied",
    }
}

/// One line for each connection.
pub(super) fn lines(filter: &Filter, table: &Table, turn: Turn<'_>, now_ms: u64) -> String {
    let mut text = String::new();
    let mut all = filter.of(table, turn, now_ms);
    for (_, key, record) in all.by_ref().take(filter.limit()) {
        let progress = record.progress();
        let left_s = table.over_ms(record).saturating_sub(now_ms) / 1000;
        let (state, assured) = (progress.state().name(), assurance(progress));
        let _ = writeln!(text, "{} {state} {assured} exp{left_s}", ends(key, progress));
    }
    let more = all.count();
    if more > 0 {
        let _ = writeln!(text, "... and {more} more");
    }
    text
}

/// An array with an object for each connection.
pub(super) fn json(filter: &Filter, table: &Table, turn: Turn<'_>, now_ms: u64) -> String {
    let mut text = String::from("[");
    for (_, key, record) in filter.of(table, turn, now_ms).take(filter.limit()) {
        let progress = record.progress();
        let [(source, sport), (destination, dport)] = originator_first(key, progress);
        let seconds = |ms: u64| ms / 1000;
        let comma = if text.len() > 1 { "," } else { "" };
        let _ = write!(
            text,
            "{comma}\n{{\"protocol\":\"{}\",\"source\":\"{source}\",\"sport\":{sport},\"destination\":\"{destination}\",\
             \"dport\":{dport},\"state\":\"{}\",\"replied\":{},\"assured\":{},\"age_s\":{},\"idle_s\":{},\"expires_s\":{}}}",
            protocol_name(key.protocol()),
            progress.state().name(),
            progress.is_replied(),
            progress.is_assured(),
            seconds(now_ms.saturating_sub(record.begun_ms())),
            seconds(now_ms.saturating_sub(record.last_ms())),
            seconds(table.over_ms(record).saturating_sub(now_ms)),
        );
    }
    text + "\n]\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_read() {
        let filter = Filter::parse("tcp src 10.0.0.0/8 dport 80 state established assured limit 3").unwrap();
        assert_eq!((filter.protocol, filter.state, filter.limit()), (Some(6), Some(State::Established), 3));
        assert_eq!(filter.ports, [(Whose::Destination, 80)]);
        assert!(Filter::parse("host 2001:db8::1 proto 47 unreplied").is_ok());
        for (text, message) in [
            ("src", "'src' needs a value"),
            ("src 10.0.0.0.1", "'10.0.0.0.1' is no address or network"),
            ("port 70000", "'70000' is no port"),
            ("state syn", "'syn' is no state"),
            ("bogus", "unknown word 'bogus'"),
            ("limit x", "'x' is no number"),
        ] {
            assert_eq!(Filter::parse(text).unwrap_err(), message);
        }
    }
}
