//! The typed way into the tables of an IPsec element, for threads that bring security associations and policies: the mirror of the kernel's,
//! a client's commands.
//!
//! An element offers an [`IpsecPort`] beside its tables, as lookup elements offer theirs ([`crate::route_port`]). A source joins it and
//! changes the tables from its own thread: no packet worker reads a key or installs one.

pub use wire::esp::Algorithm;

use crate::route_port::Destination;
use router::{Config, ConfigError, Cx};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

/// Octets that must not be seen. They are overwritten when they are dropped, and print as nothing.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct KeyMaterial(Vec<u8>);

impl KeyMaterial {
    /// Takes octets over.
    pub fn new(octets: Vec<u8>) -> KeyMaterial {
        KeyMaterial(octets)
    }

    /// What the cipher works with.
    pub fn octets(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for KeyMaterial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

impl Drop for KeyMaterial {
    fn drop(&mut self) {
        self.0.fill(0);
        std::hint::black_box(&self.0); // or else nothing would need the zeros
    }
}

/// What is protected (RFC 4301, section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// A whole packet, behind a new header.
    Tunnel,
    /// What is behind a packet's own header.
    Transport,
}

/// After how much an association is to be renewed, or ends. `u64::MAX` is never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Octets of protected packets.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
    /// Nanoseconds since the epoch.
    pub at_ns: u64,
}

impl Limits {
    /// None.
    pub const NONE: Limits = Limits { bytes: u64::MAX, packets: u64::MAX, at_ns: u64::MAX };
}

/// A security association: one direction of what two gateways agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Association {
    /// Who encrypts.
    pub source: IpAddr,
    /// Who decrypts.
    pub destination: IpAddr,
    /// The number by which the receiver knows it; 256 or more.
    pub spi: u32,
    /// Ties policies to it; 0 for none.
    pub reqid: u32,
    /// What is protected.
    pub mode: Mode,
    /// How.
    pub algorithm: Algorithm,
    /// With which key.
    pub key: KeyMaterial,
    /// Whether sequence numbers have 64 bits.
    pub extended: bool,
    /// How many numbers a packet may be late; 0 takes replays for new packets, as Linux does then.
    pub window: u32,
    /// The UDP ports of source and destination where ESP goes through UDP (RFC 3948).
    pub ports: Option<(u16, u16)>,
    /// When it is to be renewed.
    pub soft: Limits,
    /// When it ends.
    pub hard: Limits,
    /// The sequence number that was sent last, and the greatest that has come, where it was used before.
    pub used: (u64, u64),
}

/// Where packets go, as a policy sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the protected side.
    Out,
    /// To the protected side: what Linux calls `in` and `fwd`.
    In,
}

/// Ports that match: `(value, mask)`.
pub type Ports = (u16, u16);

/// Which packets a policy is for (RFC 4301, section 4.4.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Selector {
    /// Where they come from.
    pub source: Destination,
    /// Where they go.
    pub destination: Destination,
    /// The protocol; 0 for all.
    pub protocol: u8,
    /// The source port, or the type of an ICMP message.
    pub source_port: Ports,
    /// The destination port, or the code of an ICMP message.
    pub destination_port: Ports,
}

/// Which associations a policy means; an address may be unspecified, and numbers 0, where all do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Template {
    /// Who encrypts.
    pub source: IpAddr,
    /// Who decrypts.
    pub destination: IpAddr,
    /// The number, if it must be a certain one.
    pub spi: u32,
    /// What ties it to associations.
    pub reqid: u32,
    /// What is protected.
    pub mode: Mode,
}

/// What is done with packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// They are, or must have been, protected by an association of this kind.
    Protect(Template),
    /// They pass as they are.
    Bypass,
    /// They are dropped.
    Discard,
}

/// A policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// For packets that go there.
    pub direction: Direction,
    /// Tells policies apart that have the same direction and selector: the index that the kernel gives to policies of its own.
    pub tag: u32,
    /// For which of them.
    pub selector: Selector,
    /// The lowest that matches counts; among equals the oldest.
    pub priority: u32,
    /// What is done.
    pub action: Action,
}

/// One change of the tables. Each is made for itself, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// There is this association from now on. One with the same destination, number and key keeps its sequence numbers and counts.
    Associate(Box<Association>),
    /// There is none with this destination and number any more.
    Dissociate(IpAddr, u32),
    /// There is no association any more.
    DissociateAll,
    /// There is this policy from now on, in the place of one with the same direction, tag and selector.
    Policy(Box<Policy>),
    /// There is none with these any more.
    ForgetPolicy(Direction, u32, Selector),
    /// There is no policy any more.
    ForgetPolicies,
}

/// Why a change was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It asks for what the element cannot do. What it says is for people, and says nothing of keys.
    Unsupported(String),
    /// No room for what has to wait for a grace period came free in time.
    Backpressure,
    /// The table has as many entries as it may have.
    Full,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Unsupported(why) => f.write_str(why),
            Refused::Backpressure => f.write_str("too much memory waits for a grace period"),
            Refused::Full => f.write_str("the table is full"),
        }
    }
}

impl std::error::Error for Refused {}

/// What an association has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Whose.
    pub destination: IpAddr,
    /// Whose.
    pub spi: u32,
    /// Packets that were protected, or found to be right.
    pub packets: u64,
    /// Their octets.
    pub bytes: u64,
    /// The last sequence number that was sent.
    pub sent: u64,
    /// The greatest that has come.
    pub received: u64,
    /// When it was used last, in nanoseconds since the epoch; 0 for never.
    pub used_ns: u64,
}

/// What packets have found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// An association has reached a limit: the hard one, after which it protects nothing, or the soft one.
    Expired {
        /// Whose.
        destination: IpAddr,
        /// Whose.
        spi: u32,
        /// Which limit.
        hard: bool,
    },
    /// A packet with these addresses, protocol and ports needs an association of this kind, and there is none.
    Wanted {
        /// What kind.
        template: Template,
        /// The packet, as a selector that nothing else matches.
        packet: Selector,
        /// The selector of the policy.
        policy: Selector,
        /// Its priority.
        priority: u32,
    },
}

/// How a source changes an element's tables. Dropping it leaves them as they are.
pub trait IpsecFeed: Send {
    /// Makes changes in order, those that are right, and says what is wrong with the others, by their places.
    fn apply(&mut self, changes: Vec<Change>) -> Vec<(usize, Refused)>;

    /// What associations have done.
    fn usage(&self) -> Vec<Usage>;

    /// What has been found out since the last call. As many wait as there is room for; further ones are repeated when there is cause again.
    fn notices(&mut self) -> Vec<Notice>;
}

/// The tables of an element, as those who bring associations see them.
pub trait IpsecPort: Send + Sync {
    /// A feed. One at a time should ask for notices.
    fn join(&self) -> Box<dyn IpsecFeed>;
}

/// An element's shared part that holds its port.
pub struct Port(Arc<dyn IpsecPort>);

impl Port {
    /// Offers tables to threads that bring associations.
    ///
    /// # Errors
    /// As those of [`Config::shared`].
    pub fn offer(config: &mut Config<'_>, port: Arc<dyn IpsecPort>) -> Result<(), ConfigError> {
        config.shared(|| Ok(Port(port)))?;
        Ok(())
    }

    /// That of the element with a name, seen from the element that asks, once all are configured.
    ///
    /// # Errors
    /// There is no such element, or it is no IPsec.
    pub fn of(cx: &Cx<'_>, name: &str) -> Result<Arc<dyn IpsecPort>, ConfigError> {
        let port: Arc<Port> = cx.shared_of(name, "IPsec").map_err(ConfigError::from)?;
        Ok(port.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_print_as_nothing() {
        let key = KeyMaterial::new(vec![0xab; 20]);
        assert_eq!(format!("{key:?} {:?}", Some(&key)), "(secret) Some((secret))");
    }
}
