//! The designs: from the unified table under one lock to tables without locks.

use super::LockClock;
use flows::{Destination4, HashKey, Limits, Table};
use ip_network_table::IpNetworkTable;
use lpm::{Routes, Table4};
use parking_lot::{Mutex, RwLock};
use rcu::{Domain, Reader};
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use wire::ipv4::{HEADER_LEN, Header};

/// The default router, and its Ethernet address.
const ROUTER: u32 = 0x0a00_0001;
const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
/// Neighbours beside the router.
const NEIGHBOURS: u32 = 16;

/// A way that finds out where packets go.
pub(super) trait Design: Sync {
    const NAME: &'static str;
    /// What each thread has for itself.
    type Local;

    fn new() -> Self;
    fn local(&self) -> Self::Local;
    /// The Ethernet address of the next hop.
    fn output(&self, local: &mut Self::Local, destination: u32, clock: &mut LockClock) -> Option<[u8; 6]>;
    /// Between two runs of packets.
    fn between(&self, _: &mut Self::Local) {}
}

/// Writes a packet's headers.
#[inline]
pub(super) fn write(frame: &mut [u8; 60], destination: u32, way: Option<[u8; 6]>) {
    frame[..6].copy_from_slice(&way.unwrap_or([0xff; 6]));
    let Some(bytes) = frame[14..].first_chunk_mut::<HEADER_LEN>() else { return };
    let mut header = Header::new(bytes);
    header.set_version_and_header_len(HEADER_LEN);
    header.set_total_len(46);
    header.set_ttl(64);
    header.set_protocol(wire::ip_proto::UDP);
    header.set_src(Ipv4Addr::new(10, 0, 0, 2));
    header.set_dst(destination.into());
    header.fill_checksum();
}

/// A route, with the lock that guards its reference count.
struct Rtentry {
    state: Mutex<RtState>,
    gateway: Option<u32>,
}

#[derive(Default)]
struct RtState {
    references: u32,
    /// Of an indirect route, the entry of its gateway, by its number.
    gateway_entry: Option<usize>,
    /// Of a cloned route, the link address.
    link: Option<[u8; 6]>,
}

fn net(address: u32, len: u8) -> ip_network::IpNetwork {
    ip_network::IpNetwork::new_truncate(Ipv4Addr::from(address), len)
        .unwrap_or(ip_network::IpNetwork::V4(ip_network::Ipv4Network::DEFAULT_ROUTE))
}

/// Prefixes, and numbers of entries.
type Radix = IpNetworkTable<usize>;

fn longest(table: &Radix, address: u32) -> Option<usize> {
    table.longest_match(Ipv4Addr::from(address)).map(|(_, number)| *number)
}

impl Rtentry {
    /// Counts one user more, or one less, under the entry's lock.
    fn count(&self, more: bool, clock: &mut LockClock) {
        let mut state = clock.during(|| self.state.lock());
        state.references =
            if more { state.references.wrapping_add(1) } else { state.references.wrapping_sub(1) };
        clock.during(|| drop(state));
    }
}

/// Routes and link addresses in one table: `ip_output` and `arpresolve` of before FreeBSD 8.
pub(super) struct Legacy {
    table: Mutex<Radix>,
    entries: Vec<Rtentry>,
}

/// Entries 0 and 1: the default route, and the interface's. With `cloned`, an entry for each neighbour, the router's first.
fn entries(cloned: bool) -> (Radix, Vec<Rtentry>) {
    let (mut table, mut entries) = (Radix::new(), Vec::new());
    let state = |gateway_entry, link| Mutex::new(RtState { references: 0, gateway_entry, link });
    let gateway_entry = cloned.then_some(2);
    table.insert(net(0, 0), 0);
    entries.push(Rtentry { state: state(gateway_entry, None), gateway: Some(ROUTER) });
    table.insert(net(0x0a00_0000, 24), 1);
    entries.push(Rtentry { state: state(None, None), gateway: None });
    for number in (0..NEIGHBOURS).filter(|_| cloned) {
        table.insert(net(ROUTER + number, 32), entries.len());
        entries.push(Rtentry { state: state(None, Some(MAC)), gateway: None });
    }
    (table, entries)
}

impl Design for Legacy {
    const NAME: &'static str = "legacy";
    type Local = ();

    fn new() -> Self {
        let (table, entries) = entries(true);
        Legacy { table: Mutex::new(table), entries }
    }

    fn local(&self) {}

    fn output(&self, (): &mut (), destination: u32, clock: &mut LockClock) -> Option<[u8; 6]> {
        let table = clock.during(|| self.table.lock());
        let number = longest(&table, destination);
        clock.during(|| drop(table));
        let route = self.entries.get(number?)?;
        route.count(true, clock);
        // The link address may vanish while the route is held: the entry that has it is locked.
        let state = clock.during(|| route.state.lock());
        let gateway = state.gateway_entry;
        clock.during(|| drop(state));
        let resolved = gateway.and_then(|number| self.entries.get(number)).unwrap_or(route);
        let state = clock.during(|| resolved.state.lock());
        let link = state.link;
        clock.during(|| drop(state));
        route.count(false, clock);
        link
    }
}

/// A neighbour, with its lock.
struct Lle {
    link: RwLock<[u8; 6]>,
    valid: AtomicBool,
}

/// Routes in one table, neighbours in another, with the locks of FreeBSD 8.
pub(super) struct Split {
    table: RwLock<Radix>,
    entries: Vec<Rtentry>,
    neighbours: RwLock<HashMap<u32, usize>>,
    lles: Vec<Lle>,
}

impl Split {
    /// The route and the neighbour of a destination; the route is counted as used.
    fn look_up(&self, destination: u32, clock: &mut LockClock) -> Option<(usize, usize)> {
        let table = clock.during(|| self.table.read());
        let number = longest(&table, destination);
        clock.during(|| drop(table));
        let route = self.entries.get(number?)?;
        route.count(true, clock);
        let neighbours = clock.during(|| self.neighbours.read());
        let lle = neighbours.get(&route.gateway.unwrap_or(destination)).copied();
        clock.during(|| drop(neighbours));
        Some((number?, lle?))
    }
}

impl Design for Split {
    const NAME: &'static str = "split";
    type Local = ();

    fn new() -> Self {
        let (table, entries) = entries(false);
        let neighbours = (0..NEIGHBOURS).map(|number| (ROUTER + number, number as usize)).collect();
        let lles =
            (0..NEIGHBOURS).map(|_| Lle { link: RwLock::new(MAC), valid: AtomicBool::new(true) }).collect();
        Split { table: RwLock::new(table), entries, neighbours: RwLock::new(neighbours), lles }
    }

    fn local(&self) {}

    fn output(&self, (): &mut (), destination: u32, clock: &mut LockClock) -> Option<[u8; 6]> {
        let (route, lle) = self.look_up(destination, clock)?;
        let link = clock.during(|| self.lles[lle].link.read());
        let mac = *link;
        clock.during(|| drop(link));
        self.entries[route].count(false, clock);
        Some(mac)
    }
}

/// What a flow table has of a destination: its neighbour, and that one's address.
#[derive(Clone, Copy, Default)]
pub(super) struct Cached {
    lle: usize,
    link: [u8; 6],
}

/// The same, with a flow table for each processor that hashes destinations and keeps references.
pub(super) struct FlowTable(Split);

impl Design for FlowTable {
    const NAME: &'static str = "flow table";
    type Local = Table<Destination4, Cached>;

    fn new() -> Self {
        FlowTable(Split::new())
    }

    fn local(&self) -> Self::Local {
        Table::new(Limits::new(4096), HashKey::new(9))
    }

    fn output(&self, local: &mut Self::Local, destination: u32, clock: &mut LockClock) -> Option<[u8; 6]> {
        let key = Destination4(destination);
        let hash = local.hash(&key);
        let known = local.find(hash, &key).and_then(|slot| local.meet(slot, 1).copied());
        // A change of the entry is seen without its lock.
        if let Some(known) = known.filter(|known| self.0.lles[known.lle].valid.load(Ordering::Acquire)) {
            return Some(known.link);
        }
        // The reference to the route is the flow's until it goes.
        let (_, lle) = self.0.look_up(destination, clock)?;
        let guard = clock.during(|| self.0.lles[lle].link.read());
        let link = *guard;
        clock.during(|| drop(guard));
        let _ = local.insert(hash, key, Cached { lle, link }, 1);
        Some(link)
    }
}

/// This product's: routes and neighbours behind read-copy update.
pub(super) struct Ours {
    routes: Table4,
    hops: Routes<u32>,
    neighbours: HashMap<u32, u32>,
    links: Routes<[u8; 6]>,
}

impl Design for Ours {
    const NAME: &'static str = "clique";
    type Local = Reader;

    fn new() -> Self {
        let domain = Domain::global();
        let (routes, hops, links) = (Table4::new(domain), Routes::new(domain), Routes::new(domain));
        let mut neighbours = HashMap::new();
        // There is room in what is empty.
        if let (Ok(hop), Ok(prefix)) = (hops.insert(ROUTER), lpm::Prefix::new(0, 0)) {
            let _ = routes.insert(prefix, hop);
        }
        for number in 0..NEIGHBOURS {
            if let Ok(link) = links.insert(MAC) {
                neighbours.insert(ROUTER + number, link);
            }
        }
        Ours { routes, hops, neighbours, links }
    }

    fn local(&self) -> Reader {
        Domain::global().register("sender")
    }

    fn output(&self, local: &mut Reader, destination: u32, _: &mut LockClock) -> Option<[u8; 6]> {
        let turn = local.turn();
        let gateway = self.hops.get(self.routes.lookup(destination, turn)?, turn)?;
        self.links.get(*self.neighbours.get(gateway)?, turn).copied()
    }

    fn between(&self, local: &mut Reader) {
        local.quiescent();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All designs lead to the default router, and count no user that has gone.
    #[test]
    fn all_lead_to_the_router() {
        fn leads<D: Design>() -> D {
            let design = D::new();
            let mut local = design.local();
            for destination in [0xc633_6401, 0xc633_6401, 0x0102_0304] {
                assert_eq!(
                    design.output(&mut local, destination, &mut LockClock::default()),
                    Some(MAC),
                    "{}",
                    D::NAME
                );
            }
            design
        }
        let legacy = leads::<Legacy>();
        assert!(legacy.entries.iter().all(|entry| entry.state.lock().references == 0));
        let split = leads::<Split>();
        assert!(split.entries.iter().all(|entry| entry.state.lock().references == 0));
        let flow_table = leads::<FlowTable>();
        assert_eq!(flow_table.0.entries[0].state.lock().references, 2, "one for each flow");
        leads::<Ours>();
    }
}
