//! Messages about links: the machine's interfaces.

use super::attributes::{attributes, text, u32_at};

/// What the kernel says of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The number that the kernel knows it by.
    pub(crate) index: u32,
    /// Empty if it is not said.
    pub(crate) name: String,
    /// Whether it is up and has a carrier.
    pub(crate) is_up: bool,
    /// The routing table of a VRF, if it is one.
    pub(crate) vrf_table: Option<u32>,
}

/// `IFF_UP`, `IFF_LOWER_UP`
const UP: u32 = 1 | 0x1_0000;
/// Bytes of `struct ifinfomsg`.
const BODY: usize = 16;

/// The body of a link message: `struct ifinfomsg`, attributes.
pub(super) fn read(body: &[u8]) -> Option<Link> {
    let (index, flags) = (u32_at(body, 4)?, u32_at(body, 8)?);
    let (mut name, mut vrf_table) = (String::new(), None);
    for (kind, value) in attributes(body.get(BODY..)?) {
        match kind {
            3 => name = text(value),           // IFLA_IFNAME
            18 => vrf_table = table_of(value), // IFLA_LINKINFO
            _ => {}
        }
    }
    Some(Link { index, name, is_up: flags & UP == UP, vrf_table })
}

/// The value of IFLA_LINKINFO: IFLA_VRF_TABLE in IFLA_INFO_DATA, where IFLA_INFO_KIND is `vrf`.
fn table_of(value: &[u8]) -> Option<u32> {
    let of = |wanted| attributes(value).find(|&(kind, _)| kind == wanted).map(|(_, value)| value);
    (text(of(1)?) == "vrf").then_some(())?;
    attributes(of(2)?).find(|&(kind, _)| kind == 1).and_then(|(_, table)| u32_at(table, 0))
}
