//! Which flows are asked for: the filters of handlers that list, count and remove them.

use std::net::IpAddr;
use wire::describe;
use wire::net::{Ipv4Net, Ipv6Net};

/// The states of flows that filters know: Linux's words for those of a TCP connection. Flows of other protocols are `OPEN`.
pub const STATES: [&str; 8] =
    ["OPEN", "SYN_SENT", "SYN_RECV", "ESTABLISHED", "FIN_WAIT", "LAST_ACK", "TIME_WAIT", "CLOSE"];

/// Flows that are listed unless the filter has another limit.
const LIMIT: usize = 10_000;

/// What filters, and those who read a list, see of a flow.
pub struct Shown {
    /// The IP protocol; 0 where it is not told apart.
    pub protocol: u8,
    /// Address and port of its originator, and of the other end.
    pub ends: [(IpAddr, u16); 2],
    /// One of [`STATES`]; empty where none is known.
    pub state: &'static str,
    /// Whether the other end was heard.
    pub replied: bool,
    /// Whether it is established, so that new flows do not displace it.
    pub assured: bool,
}

impl Shown {
    /// The word for whether it was answered.
    pub fn assurance(&self) -> &'static str {
        match (self.assured, self.replied) {
            (true, _) => "assured",
            (false, true) => "replied",
            (false, false) => "unreplied",
        }
    }
}

/// Which end of a flow an address or a port is compared with.
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

/// What flows are asked for: those for which all of this holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    protocol: Option<u8>,
    nets: Vec<(Whose, Net)>,
    ports: Vec<(Whose, u16)>,
    state: Option<&'static str>,
    assured: Option<bool>,
    replied: Option<bool>,
    limit: Option<usize>,
}

impl Filter {
    /// Reads a filter: words of `tcp`, `udp`, `icmp`, `icmp6`, `proto N`; `src NET`, `dst NET`, `host NET`; `sport N`, `dport N`, `port N`;
    /// `state STATE`, `assured`, `unassured`, `replied`, `unreplied`; `limit N`.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence.
    pub fn parse(text: &str) -> Result<Filter, String> {
        let mut filter = Filter::default();
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
                    filter.state = Some(state_named(text).ok_or_else(|| format!("'{text}' is no state"))?);
                }
                "limit" => {
                    let text = value()?;
                    filter.limit = Some(text.parse().map_err(|_| format!("'{text}' is no number"))?);
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

    /// Whether it asks for a flow.
    pub fn accepts(&self, flow: &Shown) -> bool {
        let ends = flow.ends;
        let one_of = |whose: Whose, is: &dyn Fn((IpAddr, u16)) -> bool| match whose {
            Whose::Source => is(ends[0]),
            Whose::Destination => is(ends[1]),
            Whose::Either => ends.into_iter().any(is),
        };
        self.protocol.is_none_or(|protocol| protocol == flow.protocol)
            && self.state.is_none_or(|state| state == flow.state)
            && self.assured.is_none_or(|assured| assured == flow.assured)
            && self.replied.is_none_or(|replied| replied == flow.replied)
            && self.nets.iter().all(|(whose, net)| one_of(*whose, &|(address, _)| net.has(address)))
            && self.ports.iter().all(|&(whose, port)| one_of(whose, &|(_, of)| port == of))
    }

    /// How many it wants to see: ten thousand, if it does not say.
    pub fn limit(&self) -> usize {
        self.limit.unwrap_or(LIMIT)
    }

    /// How many it wants to see, if it says so.
    pub fn said_limit(&self) -> Option<usize> {
        self.limit
    }
}

/// The state with such a name.
fn state_named(word: &str) -> Option<&'static str> {
    STATES.into_iter().find(|state| state.eq_ignore_ascii_case(word))
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
pub fn protocol_name(protocol: u8) -> String {
    match protocol {
        // A rewriter that does not tell protocols apart.
        0 => "ip".to_owned(),
        wire::ip_proto::TCP => "tcp".to_owned(),
        wire::ip_proto::UDP => "udp".to_owned(),
        wire::ip_proto::ICMP => "icmp".to_owned(),
        wire::ip_proto::ICMPV6 => "icmp6".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_read() {
        let filter = Filter::parse("tcp src 10.0.0.0/8 dport 80 state established assured limit 3").unwrap();
        assert_eq!((filter.protocol, filter.state, filter.limit()), (Some(6), Some("ESTABLISHED"), 3));
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
