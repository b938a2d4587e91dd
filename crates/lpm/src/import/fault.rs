//! What could not be read or used of a file, and where it stands.

use std::fmt;

use crate::prefix::PrefixError;

/// Faults that are kept of a file; the others are counted.
const KEPT: usize = 8;

/// What could not be read or used of a file: how much, and the first of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    first: Vec<Fault>,
    count: u64,
}

impl Faults {
    pub(super) fn add(&mut self, fault: Fault) {
        self.count += 1;
        if self.first.len() < KEPT {
            self.first.push(fault);
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The first few.
    pub fn first(&self) -> &[Fault] {
        &self.first
    }

    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// A line for each of the first few, and one that counts the others.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        let more = self.count - self.first.len() as u64;
        let rest = (more > 0).then(|| format!("{more} more could not be used"));
        self.first.iter().map(ToString::to_string).chain(rest)
    }
}

/// One thing that could not be read or used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A line of text.
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        error: LineError,
    },
    /// A route in JSON.
    Route {
        /// Its number, from 1.
        number: u64,
        /// What is wrong with it.
        error: LineError,
    },
    /// An MRT record.
    Record {
        /// Its number, from 1.
        number: u64,
        /// Where it begins, in bytes after decompression.
        offset: u64,
        /// What is wrong with it.
        error: RecordError,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { line, error } => write!(f, "line {line}: {error}"),
            Self::Route { number, error } => write!(f, "route {number}: {error}"),
            Self::Record { number, offset, error } => {
                write!(f, "MRT record {number} (byte {offset}): {error}")
            }
        }
    }
}

impl std::error::Error for Fault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Line { error, .. } | Self::Route { error, .. } => Some(error),
            Self::Record { error, .. } => Some(error),
        }
    }
}

/// What is wrong with a line, or with a route in JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineError {
    /// The prefix.
    Prefix(String, PrefixError),
    /// The gateway is no address.
    Gateway(String),
    /// The port is no number.
    Port(String),
    /// There is something behind the port.
    Extra(String),
    /// This word lacks its value, or has a bad one.
    Value(String),
    /// A next hop without a route that it belongs to.
    NoRoute,
    /// The line is too long or not UTF-8: this is no list of routes.
    NoText,
    /// This is no JSON.
    Json(String),
    /// A word that is not known, so that what it does to the route is not known either.
    Word(String),
    /// A type of route that does not forward by destination.
    Type(String),
    /// The route is of another table than the one that is read.
    Table(String),
    /// The route is for packets with this type of service only.
    Tos(String),
    /// The route is for packets from this source only.
    Source(String),
    /// The route encapsulates packets, in this way.
    Encapsulation(String),
    /// The route changes destinations to this one.
    Translation(String),
    /// The gateway is of a family that is not IP.
    Family(String),
    /// All next hops of the route are dead.
    Dead,
    /// The route leads to this next-hop object, which is not shown.
    Object(String),
    /// This is news of a route that was removed.
    Deleted,
    /// The route sends packets on to the next table, which is not read.
    Throw,
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prefix(text, error) => {
                write!(f, "bad prefix '{text}': {error}; write ADDR/LEN, as in 192.0.2.0/24")
            }
            Self::Gateway(text) => write!(f, "bad gateway '{text}': expected an address, or '-'"),
            Self::Port(text) => write!(f, "bad port '{text}': expected a number"),
            Self::Extra(text) => {
                write!(f, "unexpected '{text}' after the port; a line is 'PREFIX [[GATEWAY] PORT]'")
            }
            Self::Value(word) => write!(f, "bad or missing value after '{word}'"),
            Self::NoRoute => {
                f.write_str("a next hop without a route before it; is the file cut at its beginning?")
            }
            Self::NoText => f.write_str(
                "not a line of text; expected a list of prefixes, the output of 'ip route', or an MRT file",
            ),
            Self::Json(what) => write!(f, "not the JSON of 'ip -j route': {what}"),
            Self::Word(word) => write!(f, "unknown word '{word}'"),
            Self::Type(name) => write!(f, "routes of type '{name}' are not supported"),
            Self::Table(name) => write!(f, "a route of table '{name}'"),
            Self::Tos(tos) => write!(f, "routes by type of service (tos {tos}) are not supported"),
            Self::Source(from) => write!(f, "routes by source (from {from}) are not supported"),
            Self::Encapsulation(kind) => write!(f, "encapsulation ({kind}) is not supported"),
            Self::Translation(to) => write!(f, "translation (to {to}) is not supported"),
            Self::Family(name) => write!(f, "gateways of family '{name}' are not supported"),
            Self::Dead => f.write_str("all next hops are dead"),
            Self::Object(id) => write!(
                f,
                "the next hops of nhid {id} are not shown; set the sysctl net.ipv4.nexthop_compat_mode to 1"
            ),
            Self::Deleted => f.write_str("news of a removed route; expected a table of routes"),
            Self::Throw => {
                f.write_str("a throw route: its packets are dropped here, as no other table follows")
            }
        }
    }
}

impl std::error::Error for LineError {}

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// The file, or a field, ends within this.
    Short(&'static str),
    /// A prefix is longer than its addresses.
    Length(u8),
    /// There are no records of this type.
    Type(u16),
    /// A BGP message does not begin with its marker.
    Marker,
    /// The peer of a route is not in the index of peers.
    Peer(u16),
    /// An attribute of this type is malformed, or missing although it is mandatory: the routes that come with it are
    /// withdrawn (RFC 7606, "treat-as-withdraw").
    Attribute(u8),
    /// The message is so wrong that its session ends, and with it the routes of its peer.
    Session(SessionError),
}

/// What ends a session (RFC 7606, section 3; RFC 4271, section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionError {
    /// Fields of an update are longer than it.
    Fields,
    /// The prefixes of an update are malformed.
    Prefixes,
    /// The reachable or the unreachable routes of RFC 4760 come twice: attributes 14 or 15.
    Twice(u8),
    /// The next hop of attribute 14 has no length that it can have.
    NextHop,
    /// A well-known attribute of this type does not exist.
    Unknown(u8),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short(what) => write!(f, "ends within {what}; is the file complete?"),
            Self::Length(len) => write!(f, "prefix length {len} exceeds the address; the file is damaged"),
            Self::Type(kind) => write!(f, "no record of a known type (type {kind}); the file is damaged"),
            Self::Marker => f.write_str("no BGP message where one should be; the file is damaged"),
            Self::Peer(peer) => {
                write!(f, "peer {peer} is not in the index of peers; does the file lack its beginning?")
            }
            Self::Attribute(kind) => {
                write!(f, "attribute {kind} is malformed or missing: the routes are withdrawn")
            }
            Self::Session(error) => write!(f, "{error}: the session ends"),
        }
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fields => f.write_str("the fields of an update are longer than it"),
            Self::Prefixes => f.write_str("malformed prefixes in an update"),
            Self::Twice(kind) => write!(f, "attribute {kind} comes twice"),
            Self::NextHop => f.write_str("a next hop of a wrong length in attribute 14"),
            Self::Unknown(kind) => write!(f, "unknown well-known attribute {kind}"),
        }
    }
}

impl std::error::Error for RecordError {}
