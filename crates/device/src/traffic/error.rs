//! What can be wrong with a description of traffic.

use std::fmt;

use crate::frames::Kind;

/// Why traffic cannot be made as described.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A share is not between 0 and 1, or the shares of bad packets exceed 1 together.
    Share,
    /// The TTL of good packets is below 2, so that they would expire.
    Hops,
    /// A range of source addresses or ports has no values.
    EmptyRange,
    /// Packets of this kind are wanted, but no addresses for them are given.
    NoAddresses {
        /// What they are meant to test.
        kind: Kind,
    },
    /// A frame size is below 64 or above 65,535 bytes, or the histogram has no weight.
    Size,
    /// The frames together exceed 4 GiB.
    TooLarge,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Share => {
                f.write_str("shares of packets must be between 0 and 1, bad ones together at most 1")
            }
            Error::Hops => f.write_str("the TTL of good packets must be at least 2, or they expire"),
            Error::EmptyRange => f.write_str("a range of source addresses or ports is empty"),
            Error::NoAddresses { kind: Kind::BadChecksum } => {
                f.write_str("packets with a bad header checksum need IPv4 destinations, but none are given")
            }
            Error::NoAddresses { kind: Kind::NoRoute } => {
                f.write_str("packets without a route are wanted, but no unrouted destinations are given")
            }
            Error::NoAddresses { kind } => write!(f, "no addresses are given for packets of kind '{kind}'"),
            Error::Size => f.write_str("frame sizes must be from 64 to 65,535 bytes, with weights above 0"),
            Error::TooLarge => f.write_str("the frames together exceed 4 GiB; use fewer or shorter frames"),
        }
    }
}

impl std::error::Error for Error {}
