//! How the kernel keeps the routes of an IPv6 destination: those over gateways with the same metric are one route with several next hops
//! (`fib6_add_rt2node`). It tells of all of them when one is added, and of one when one is removed.

use super::objects::Objects;
use super::routes::{Entry, alike, place_in};
use crate::routes::netlink::{NextHop, Placing};
use elements_shared::route_port::NextHopId;
use std::ops::Range;

/// Whether two next hops are the same to the kernel.
fn is_same(one: &NextHop, other: &NextHop) -> bool {
    (one.gateway, one.interface) == (other.gateway, other.interface)
}

/// Whether two objects have the same next hops, whatever their weights.
pub(super) fn lead_alike(objects: &Objects, one: NextHopId, other: NextHopId) -> bool {
    let (one, other) = (objects.hops(one), objects.hops(other));
    !one.is_empty() && one.len() == other.len() && one.iter().zip(other).all(|(a, b)| is_same(a, b))
}

/// Whether an object may be one of several next hops: it is over gateways.
fn can_join(objects: &Objects, id: NextHopId) -> bool {
    let hops = objects.hops(id);
    !hops.is_empty() && hops.iter().all(|hop| hop.gateway.is_some())
}

/// Whether all next hops of one are among those of the other.
fn is_part(objects: &Objects, one: NextHopId, of: NextHopId) -> bool {
    let (one, of) = (objects.hops(one), objects.hops(of));
    !one.is_empty() && one.iter().all(|hop| of.iter().any(|other| is_same(hop, other)))
}

/// Places a route among the others of its destination. Whether it fits.
pub(super) fn place(list: &mut Vec<Entry>, entry: Entry, placing: Placing, objects: &mut Objects) -> bool {
    let among = alike(list, &entry);
    match placing {
        Placing::Only => super::routes::place(list, entry, placing, objects),
        Placing::Replace => {
            let kind = can_join(objects, entry.object);
            let same_kind = among.clone().find(|&at| can_join(objects, list[at].object) == kind);
            match same_kind.or(among.clone().next()) {
                Some(at) => objects.release(std::mem::replace(&mut list[at], entry).object),
                None => list.insert(among.start, entry),
            }
            !among.is_empty()
        }
        Placing::First | Placing::Last | Placing::Listed => {
            join(list, among, entry, placing, objects);
            true
        }
    }
}

/// Adds a route; those whose next hops are among its own become part of it.
fn join(
    list: &mut Vec<Entry>,
    mut among: Range<usize>,
    entry: Entry,
    placing: Placing,
    objects: &mut Objects,
) {
    let is_several = objects.hops(entry.object).len() > 1 && can_join(objects, entry.object);
    let (mut at, start) = (None, among.start);
    for index in among.clone().rev() {
        let other = list[index];
        let is_listed = placing == Placing::Listed && other.heard == entry.heard;
        let joins = is_several && !is_listed && is_part(objects, other.object, entry.object);
        if joins || other.object == entry.object {
            objects.release(list.remove(index).object);
            among.end -= 1;
            at = Some(index);
        }
    }
    let last = if placing == Placing::Listed { placing } else { Placing::Last };
    let listed = place_in(list, start..among.end, &entry, last);
    let at = at.filter(|_| placing != Placing::Listed).unwrap_or(listed);
    list.insert(at, entry);
}

/// Takes some next hops from a route that has more. Whether there is one.
pub(super) fn take_hops(
    list: &mut [Entry],
    among: Range<usize>,
    entry: &Entry,
    objects: &mut Objects,
) -> bool {
    let Some(at) = among.into_iter().find(|&at| is_part(objects, entry.object, list[at].object)) else {
        return false;
    };
    let gone = objects.hops(entry.object);
    let of = objects.hops(list[at].object).iter();
    let left: Vec<NextHop> = of.filter(|hop| !gone.iter().any(|gone| is_same(hop, gone))).copied().collect();
    let id = objects.hold_hops(&left);
    objects.release(std::mem::replace(&mut list[at].object, id));
    true
}
