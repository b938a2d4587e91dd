//! Why bytes or text were refused.

use std::fmt;

/// Why received bytes are not the header they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Error {
    /// Fewer bytes than the fixed header or the announced part needs.
    Truncated,
    /// The version field names another protocol version.
    BadVersion,
    /// The header length field is below the minimum.
    BadHeaderLength,
    /// The total or payload length contradicts the header length or the bytes at hand.
    BadLength,
    /// The checksum does not match the bytes.
    BadChecksum,
    /// An option whose length runs out of its header, or is below the minimum.
    BadOption,
    /// A chain of extension headers longer than the bound of the walk.
    TooManyHeaders,
    /// A fixed field (hardware type, address length ...) has a value that this view does not describe.
    BadField,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::Truncated => "truncated packet",
            Error::BadVersion => "bad IP version",
            Error::BadHeaderLength => "bad header length",
            Error::BadLength => "bad length",
            Error::BadChecksum => "bad checksum",
            Error::BadOption => "bad option",
            Error::TooManyHeaders => "too many extension headers",
            Error::BadField => "unsupported field value",
        })
    }
}

impl std::error::Error for Error {}

/// Why a text is not an address or prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParseError {
    /// Not an Ethernet address.
    MacAddr,
    /// Not an IPv4 address in dotted-quad form.
    Ipv4Addr,
    /// Not an IPv4 prefix `a.b.c.d/len` or `a.b.c.d/mask`.
    Ipv4Prefix,
    /// Not an IPv6 prefix `addr/len` or `addr/mask`.
    Ipv6Prefix,
    /// The mask is not a run of ones followed by zeros, so it has no prefix length.
    Mask,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ParseError::MacAddr => "expected an Ethernet address such as 00-01-02-0A-BC-EF",
            ParseError::Ipv4Addr => "expected an IPv4 address such as 10.0.0.1",
            ParseError::Ipv4Prefix => "expected an IPv4 prefix such as 10.0.0.0/8 or 10.0.0.0/255.0.0.0",
            ParseError::Ipv6Prefix => "expected an IPv6 prefix such as 2001:db8::/32",
            ParseError::Mask => "expected a mask of leading ones, such as 255.255.0.0",
        })
    }
}

impl std::error::Error for ParseError {}
