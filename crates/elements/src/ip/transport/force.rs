//! What elements that force fields into packets have in common.

use router::{FromArg, IpPort, Scope};

/// A destination port; -1 stands for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Port(pub(super) Option<u16>);

impl FromArg for Port {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        if text == "-1" {
            return Ok(Port(None));
        }
        IpPort::from_arg(text, scope).map(|IpPort(port)| Port(Some(port)))
    }
}
