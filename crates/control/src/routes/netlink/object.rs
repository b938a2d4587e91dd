//! Messages about next-hop objects: `ip nexthop`.

use super::attributes::{address, attributes, u16_at, u32_at};
use super::route::NextHop;

/// A next-hop object: one next hop, or a group of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    Hop(NextHop),
    /// The numbers of others, with weights from 1 to 65,536. Resilient groups, too.
    Group(Vec<(u32, u32)>),
    Blackhole,
    /// It is for bridges, not for routes.
    Bridge,
}

/// `RTNH_F_DEAD`
const DEAD: u32 = 1;

/// The body of a next-hop message: `struct nhmsg`, attributes.
pub(super) fn read(body: &[u8]) -> Option<(u32, Object)> {
    let id = id(body)?;
    let weight = u32::from(u32_at(body, 4)? & DEAD == 0);
    let mut hop = NextHop { weight, ..NextHop::NONE };
    let (mut members, mut bridge) = (None, false);
    for (kind, value) in attributes(body.get(8..)?) {
        match kind {
            2 => members = Some(group(value)),         // NHA_GROUP
            4 => return Some((id, Object::Blackhole)), // NHA_BLACKHOLE
            5 => hop.interface = u32_at(value, 0)?,    // NHA_OIF
            6 => hop.gateway = address(value),         // NHA_GATEWAY
            // NHA_ENCAP_TYPE: 0 is none
            7 => hop.encapsulated |= u16_at(value, 0).is_some_and(|kind| kind != 0),
            8 => hop.encapsulated = true, // NHA_ENCAP
            11 => bridge = true,          // NHA_FDB
            _ => {}
        }
    }
    hop.gateway = hop.gateway.filter(|gateway| !gateway.is_unspecified());
    Some((id, if bridge { Object::Bridge } else { members.map_or(Object::Hop(hop), Object::Group) }))
}

/// The value of NHA_GROUP: numbers, and weights less one, whose upper bits came later (`weight_high`, Linux 6.12).
fn group(value: &[u8]) -> Vec<(u32, u32)> {
    let members = value.as_chunks::<8>().0.iter();
    let member =
        |entry: &[u8; 8]| Some((u32_at(entry, 0)?, (u32::from(entry[5]) << 8 | u32::from(entry[4])) + 1));
    members.filter_map(member).collect()
}

/// The number of the object that a message is about.
pub(super) fn id(body: &[u8]) -> Option<u32> {
    let (_, id) = attributes(body.get(8..)?).find(|&(kind, _)| kind == 1)?; // NHA_ID
    u32_at(id, 0)
}
