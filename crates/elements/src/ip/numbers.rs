//! Arguments that are numbers or names for them.

use router::{FromArg, Scope, machine_protocol, parse_error, parse_integer};
use wire::describe;

/// An IP protocol, whose number may be out of range: some names stand for several protocols.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IpProtocol(i128);

impl IpProtocol {
    /// The number as a header has it.
    pub(crate) fn octet(self) -> Result<u8, &'static str> {
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
