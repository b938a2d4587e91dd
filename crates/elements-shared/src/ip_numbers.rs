//! Arguments that are numbers or names for them: protocols, and types and codes of ICMP messages.

use router::{FromArg, Scope, machine_protocol, parse_error, parse_integer};
use wire::describe;

/// An IP protocol, whose number may be out of range: some names stand for several protocols.
#[derive(Clone, Copy, Debug, Default)]
pub struct IpProtocol(i128);

impl IpProtocol {
    /// The number as a header has it.
    pub fn octet(self) -> Result<u8, &'static str> {
        u8::try_from(self.0).map_err(|_| "bad IP protocol")
    }
}

impl FromArg for IpProtocol {
    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        // Machines list protocols in capitals, too; not all have the list.
        let named = || describe::protocol(&text.to_lowercase()).map(i128::from);
        let listed = || machine_protocol(text).map(i128::from);
        match parse_integer(text).or_else(named).or_else(listed) {
            Some(number) => Ok(IpProtocol(number)),
            None => parse_error("IP protocol", text),
        }
    }
}

/// A type of ICMP messages, whose number may be out of range.
#[derive(Clone, Copy, Debug, Default)]
pub struct IcmpType(i128);

impl IcmpType {
    /// The number as a header has it, if it fits.
    pub fn octet(self) -> Option<u8> {
        u8::try_from(self.0).ok()
    }
}

impl FromArg for IcmpType {
    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        let named = || describe::icmp_type(text).map(i128::from);
        match parse_integer(text).or_else(named) {
            Some(number) => Ok(IcmpType(number)),
            None => parse_error("ICMP type", text),
        }
    }
}

/// The code that a text stands for in ICMP messages of a type.
pub fn icmp_code(kind: u8, text: &str) -> Option<u8> {
    let number = parse_integer(text).map(|number| u8::try_from(number).ok());
    number.unwrap_or_else(|| describe::icmp_code(kind, text))
}
