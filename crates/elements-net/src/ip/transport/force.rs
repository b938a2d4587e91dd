//! What elements that force fields into packets have in common.

use router::{Cx, FromArg, IpPort, Scope, Verdict};

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

/// What becomes of packets whose lengths are wrong: they are dropped, and the first one is spoken of.
#[derive(Default)]
pub(super) struct BadLengths(bool);

impl BadLengths {
    #[cold]
    pub(super) fn reject(&mut self, cx: &mut Cx<'_>, class: &str, reason: &'static str) -> Verdict {
        if !std::mem::replace(&mut self.0, true) {
            cx.complain(format_args!("{class}: bad lengths"), reason);
        }
        Verdict::Drop(reason)
    }
}
