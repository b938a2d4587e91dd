//! Puts IP packets into Ethernet frames, with addresses found by ARP.
//!
//! ```click
//! ARPQuerier(IP, ETH [, KEYWORDS])
//! ARPQuerier(NAME [, KEYWORDS])
//! ```
//!
//! IP and ETH are this host's addresses on the network; NAME is a name that stands for both.
//!
//! Packets at input 0 are IP packets with a destination annotation. If the Ethernet address for it is known, the packet
//! leaves by output 0 in an Ethernet frame. Otherwise it waits, and an ARP query goes out: by output 1, or by output 0 if
//! that is the only one. ARP replies arrive at input 1, with their Ethernet headers; then the packets that wait leave, in
//! their order.
//!
//! Packets for 0.0.0.0 are dropped. Packets for 255.255.255.255 and for the network's broadcast address go to
//! FF-FF-FF-FF-FF-FF, packets for multicast groups to the group's Ethernet address (RFC 1112, section 6.4).
//!
//! Queries for one address go out ten times a second at most, and every two seconds after ten without answer. An address
//! that is still used some time after it was last confirmed is asked for again before it expires.
//!
//! On several workers the table of addresses is shared and is read without locks. Packets wait on the worker on which
//! they arrived. Unlike in Click, packets that wait leave by the ARPQuerier at which they arrived also where several
//! share a table, and they leave at once when the address is inserted by a handler.
//!
//! Ports: 2 inputs, 1 or 2 outputs. Processing: push. Workers: shared.
//!
//! # Arguments
//! - `IP` (IP address or prefix), `ETH` (Ethernet address): this host's.
//! - `TABLE` (element name): the ARPTable, or ARPQuerier, whose table to use, instead of an own one. CAPACITY,
//!   ENTRY_CAPACITY, ENTRY_PACKET_CAPACITY, CAPACITY_SLIM_FACTOR and TIMEOUT have no effect then.
//! - `CAPACITY`, `ENTRY_CAPACITY`, `ENTRY_PACKET_CAPACITY`, `CAPACITY_SLIM_FACTOR`, `TIMEOUT`: see ARPTable.
//! - `POLL_TIMEOUT` (time, default 1 minute): how long after its last confirmation an address is asked for again; 0 for
//!   never.
//! - `BROADCAST` (IP address): the network's broadcast address. The default is the last one of the prefix, if IP is one.
//! - `BROADCAST_POLL` (boolean, default false): whether queries for known addresses are broadcast, too, instead of sent
//!   to the neighbour itself.
//!
//! # Handlers
//! - `ipaddr`, `broadcast` (read, write): addresses.
//! - `table`, `count`, `length` (read), `insert`, `delete` (write): see ARPTable.
//! - `stats` (read): packets dropped and queries sent, as text.
//! - `queries`, `responses` (read): ARP queries sent, ARP packets received.
//! - `drops` (read): packets dropped, without those that waited in vain.
//! - `clear` (write): forgets all addresses and sets counts to zero.
//!
//! # Example
//! ```click
//! c :: Classifier(12/0806 20/0002, 12/0800);
//! a :: ARPQuerier(18.26.4.24, 00:00:C0:AE:67:EF);
//! c[0] -> [1]a;
//! c[1] -> Strip(14) -> CheckIPHeader -> GetIPAddress(16) -> a -> Queue -> ToDevice(eth0);
//! ```
//!
//! # See also
//! ARPTable, ARPResponder, AddressInfo

use super::address::Prefix;
use super::arp_table::{TableArgs, expiry_timer, nanoseconds, wake, write_clear, write_delete, write_insert};
use super::neighbours::{Asked, Fate, Neighbours, Waiter};
use super::waiting::Waiting;
use super::{NO_ROOM, encapsulate};
use packet::{Anno, Batch, DEFAULT_HEADROOM, Packet};
use router::{Args, Class, Config, ConfigError, Cx, Element, Handlers, Refused, Residency};
use std::any::Any;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use wire::ethernet::{HEADER_LEN, Header, ether_type, header};
use wire::{MacAddr, arp};

/// The class.
pub(crate) const CLASS: Class = Class::new("ARPQuerier", create)
    .ports("2/1-2")
    .processing("h/h")
    .flow("xy/x")
    .residency(Residency::Shared)
    .doc(include_str!("arp_querier.rs"));

/// What the instances on several workers share: counts of rare events, and the table unless another one is used.
#[derive(Default)]
struct Shared {
    own: Option<Arc<Neighbours>>,
    queries: AtomicU64,
    responses: AtomicU64,
    drops: AtomicU64,
    warned: AtomicBool,
}

struct ARPQuerier {
    shared: Arc<Shared>,
    table: Arc<Neighbours>,
    /// The element whose table to use, by name.
    table_name: Option<String>,
    ip: Ipv4Addr,
    mac: MacAddr,
    broadcast: Ipv4Addr,
    poll_ns: i64,
    broadcast_poll: bool,
    query_output: usize,
    /// Whether this instance looks for expired addresses.
    expires: bool,
    waiting: Waiting,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut table_args = TableArgs::default();
    let (mut broadcast, mut table_name) = (None::<Ipv4Addr>, None::<String>);
    let (mut poll, mut broadcast_poll) = (Duration::from_secs(60), false);
    let mut words = Vec::new();
    table_args
        .read(config.args())
        .keyword("BROADCAST", &mut broadcast)
        .keyword("TABLE", &mut table_name)
        .keyword("POLL_TIMEOUT", &mut poll)
        .keyword("BROADCAST_POLL", &mut broadcast_poll)
        .rest(&mut words)
        .finish()?;
    if words.len() == 1 {
        words.push(words[0].clone());
    }
    let (mut prefix, mut mac) = (Prefix::default(), MacAddr::ZERO);
    Args::new(words, config.scope()).required("IP", &mut prefix).required("ETH", &mut mac).finish()?;
    let own = match &table_name {
        Some(_) => None,
        None => Some(table_args.limits()?),
    };
    let shared = config.shared(|| {
        Ok(Shared { own: own.map(|limits| Arc::new(Neighbours::new(limits))), ..Shared::default() })
    })?;
    // Where the table is another element's, this empty one is replaced once all elements exist.
    let table = shared.own.clone().unwrap_or_else(|| Arc::new(Neighbours::new(Default::default())));
    Ok(Box::new(ARPQuerier {
        expires: shared.own.is_some() && config.workers().first() == Some(&config.worker()),
        shared,
        table,
        table_name,
        ip: prefix.address,
        mac,
        broadcast: broadcast.unwrap_or_else(|| default_broadcast(&prefix)),
        poll_ns: nanoseconds(poll),
        broadcast_poll,
        query_output: config.outputs().saturating_sub(1),
        waiting: Waiting::default(),
    }))
}

fn default_broadcast(prefix: &Prefix) -> Ipv4Addr {
    if prefix.broadcast() == prefix.address { Ipv4Addr::BROADCAST } else { prefix.broadcast() }
}

/// Input 0: IP packets.
impl ARPQuerier {
    /// Returns the packet in a frame if its address is known; otherwise sees to it.
    #[inline]
    fn forward(&mut self, cx: &mut Cx<'_>, packet: Packet) -> Option<Packet> {
        let ip = packet.dst_ip();
        match self.table.lookup(cx.turn(), ip, cx.now_ns(), self.poll_ns) {
            Some((mac, poll)) if !self.ip.is_unspecified() => {
                if poll || !self.waiting.is_empty() {
                    self.before(cx, &packet, mac, poll);
                }
                self.frame(cx, packet, mac)
            }
            _ => self.forward_unknown(cx, packet, ip),
        }
    }

    #[inline]
    fn frame(&mut self, cx: &mut Cx<'_>, mut packet: Packet, mac: MacAddr) -> Option<Packet> {
        if encapsulate(&mut packet, &header(mac, self.mac, ether_type::IPV4)) {
            return Some(packet);
        }
        self.drop(cx, packet, NO_ROOM);
        None
    }

    /// What comes before a packet with a known address: packets for it that waited, and perhaps a query.
    #[cold]
    fn before(&mut self, cx: &mut Cx<'_>, packet: &Packet, mac: MacAddr, poll: bool) {
        self.release(cx, packet.dst_ip(), mac);
        if poll {
            let to = if self.broadcast_poll { MacAddr::BROADCAST } else { mac };
            self.query(cx, packet, to);
        }
    }

    #[cold]
    fn forward_unknown(&mut self, cx: &mut Cx<'_>, packet: Packet, ip: Ipv4Addr) -> Option<Packet> {
        if self.ip.is_unspecified() {
            self.drop(cx, packet, "no own IP address");
        } else if ip.is_broadcast() || ip == self.broadcast {
            return self.frame(cx, packet, MacAddr::BROADCAST);
        } else if ip.is_multicast() {
            return self.frame(cx, packet, MacAddr::from_ipv4_multicast(ip));
        } else if ip.is_unspecified() {
            if !self.shared.warned.swap(true, Relaxed) {
                let name = cx.name();
                cx.log(&format!(
                    "{name} :: ARPQuerier: would query for 0.0.0.0; missing dest IP addr annotation?"
                ));
            }
            self.drop(cx, packet, "destination 0.0.0.0");
        } else {
            return self.wait(cx, packet, ip);
        }
        None
    }

    /// Has a packet wait for its address, and asks for that when it is time.
    fn wait(&mut self, cx: &mut Cx<'_>, packet: Packet, ip: Ipv4Addr) -> Option<Packet> {
        let state = self.waiting.state(ip);
        if state.is_none_or(|(_, again_ns)| cx.now_ns() >= again_ns) {
            let waiter = Waiter { element: cx.index(), worker: cx.worker() };
            let (asked, evicted) = self.table.ask(cx.turn(), ip, cx.now_ns(), waiter);
            wake(cx, evicted);
            match asked {
                Asked::Known(mac) => {
                    self.release(cx, ip, mac);
                    return self.frame(cx, packet, mac);
                }
                Asked::Wait { query, again_ns } => {
                    self.waiting.expect(ip, again_ns);
                    if query {
                        self.query(cx, &packet, MacAddr::BROADCAST);
                    }
                }
            }
        }
        let limit = self.table.limits().entry_packets;
        if limit > 0 && state.is_some_and(|(packets, _)| packets >= limit) {
            self.drop_waiting(cx, packet, "too many packets wait for one address");
        } else if self.make_room(cx) {
            if let Some(packet) = self.waiting.push(ip, packet) {
                self.drop_waiting(cx, packet, NO_ANSWER); // not reached: the address is waited for
            } else {
                self.table.waiting().fetch_add(1, Relaxed);
            }
        } else {
            self.drop_waiting(cx, packet, CROWDED);
        }
        None
    }

    /// Makes room for one more packet that waits. False if other workers have taken all the room.
    fn make_room(&mut self, cx: &mut Cx<'_>) -> bool {
        let limits = *self.table.limits();
        if limits.packets == 0 || self.table.waiting().load(Relaxed) < limits.packets {
            return true;
        }
        while self.table.waiting().load(Relaxed) >= limits.slim_packets() {
            let Some(oldest) = self.waiting.pop_oldest() else { break };
            self.table.waiting().fetch_sub(1, Relaxed);
            self.drop_waiting(cx, oldest, CROWDED);
        }
        self.table.waiting().load(Relaxed) < limits.packets
    }

    fn drop(&mut self, cx: &mut Cx<'_>, packet: Packet, reason: &'static str) {
        self.shared.drops.fetch_add(1, Relaxed);
        cx.drop(packet, reason);
    }

    fn drop_waiting(&mut self, cx: &mut Cx<'_>, packet: Packet, reason: &'static str) {
        self.table.drops().fetch_add(1, Relaxed);
        cx.drop(packet, reason);
    }

    /// Sends a query for the address of a packet.
    fn query(&mut self, cx: &mut Cx<'_>, cause: &Packet, to: MacAddr) {
        let frame_len = HEADER_LEN + arp::PACKET_LEN;
        let Some(mut query) = cx.pool().alloc(DEFAULT_HEADROOM - HEADER_LEN, frame_len) else {
            return cx.log("in arp querier: cannot make packet!");
        };
        if let Some((ethernet, rest)) = query.data_mut().split_first_chunk_mut()
            && let Ok(mut request) = arp::Packet::new_checked_mut(rest)
        {
            *ethernet = header(to, self.mac, ether_type::ARP);
            request.set_operation(arp::REQUEST);
            request.set_sender(self.mac, self.ip);
            request.set_target(MacAddr::ZERO, cause.dst_ip());
        }
        query.set_mac_offset(0);
        query.set_timestamp_ns(cause.timestamp_ns());
        query.set_anno(Anno::VLAN_TCI, cause.anno(Anno::VLAN_TCI));
        self.shared.queries.fetch_add(1, Relaxed);
        cx.emit_packet(self.query_output, query);
    }
}

const CROWDED: &str = "too many packets wait for addresses";
const NO_ANSWER: &str = "no answer to ARP queries";

/// Input 1: ARP replies; and what follows from them.
impl ARPQuerier {
    fn learn(&mut self, cx: &mut Cx<'_>, packet: &Packet) {
        if packet.len() < HEADER_LEN + arp::PACKET_LEN {
            return;
        }
        self.shared.responses.fetch_add(1, Relaxed);
        let Some((ethernet, payload)) = packet.data().split_first_chunk() else { return };
        let Ok(reply) = arp::check(payload) else { return };
        let (ip, mac) = (reply.sender_ip(), reply.sender_mac());
        let is_reply =
            Header::new(ethernet).ether_type() == ether_type::ARP && reply.operation() == arp::REPLY;
        if !is_reply || mac.is_group() {
            return;
        }
        match self.table.insert(cx.turn(), ip, mac, cx.now_ns()) {
            Ok(waiters) => {
                self.release(cx, ip, mac);
                let here = Waiter { element: cx.index(), worker: cx.worker() };
                wake(cx, waiters.into_iter().filter(|waiter| *waiter != here).collect());
            }
            // The packets go on waiting: the next reply may find room.
            Err(_) => cx.count_drops("ARP reply lost: too many changes wait to be reclaimed", 1),
        }
    }

    /// Sends the packets that wait for an address.
    fn release(&mut self, cx: &mut Cx<'_>, ip: Ipv4Addr, mac: MacAddr) {
        let packets = self.waiting.take(ip);
        if packets.is_empty() {
            return;
        }
        self.table.waiting().fetch_sub(packets.len(), Relaxed);
        let mut batch = cx.batch();
        for packet in packets {
            if batch.len() >= cx.vector() {
                let full = std::mem::replace(&mut batch, cx.batch());
                cx.emit(0, full);
            }
            if let Some(packet) = self.frame(cx, packet, mac) {
                batch.push(packet);
            }
        }
        cx.emit(0, batch);
    }

    /// Drops the packets that wait for an address.
    fn give_up(&mut self, cx: &mut Cx<'_>, ip: Ipv4Addr) {
        for packet in self.waiting.take(ip) {
            self.table.waiting().fetch_sub(1, Relaxed);
            self.drop_waiting(cx, packet, NO_ANSWER);
        }
    }
}

/// What a new configuration takes over.
struct Kept {
    addresses: (Ipv4Addr, MacAddr, Ipv4Addr),
    shared: Arc<Shared>,
    waiting: Waiting,
}

impl Element for ARPQuerier {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if let Some(name) = &self.table_name {
            let of_querier = || cx.shared_of::<Shared>(name, "ARPTable").ok()?.own.clone();
            self.table = match cx.shared_of(name, "ARPTable") {
                Ok(table) => table,
                Err(error) => of_querier().ok_or(error)?,
            };
        }
        if self.expires {
            expiry_timer(cx, &self.table, true);
        }
        cx.unschedule(); // the task exists from now on: others may schedule it
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) {
        if port == 0 {
            batch.filter_map(|packet| self.forward(cx, packet));
            cx.emit(0, batch);
        } else {
            batch.iter().for_each(|packet| self.learn(cx, packet));
            cx.consume(batch);
        }
    }

    /// Something happened to an address that packets wait for.
    fn run_task(&mut self, cx: &mut Cx<'_>) {
        for ip in self.waiting.addresses() {
            match self.table.fate(ip, cx.now_ns()) {
                Fate::Known(mac) => self.release(cx, ip, mac),
                Fate::Gone => self.give_up(cx, ip),
                Fate::Pending => {}
            }
        }
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        wake(cx, self.table.expire(cx.turn(), cx.now_ns()));
        expiry_timer(cx, &self.table, false);
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Kept {
            addresses: (self.ip, self.mac, self.broadcast),
            shared: self.shared.clone(),
            waiting: std::mem::take(&mut self.waiting),
        }))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) -> Result<(), Refused> {
        let Ok(mut kept) = state.downcast::<Kept>() else { return Ok(()) };
        if kept.addresses != (self.ip, self.mac, self.broadcast) {
            return Ok(()); // another network: nothing of it is of use
        }
        if let (Some(own), Some(old)) = (&self.shared.own, &kept.shared.own) {
            wake(cx, own.adopt(old, cx.turn(), cx.now_ns()));
            own.drops().fetch_max(old.drops().load(Relaxed), Relaxed);
        }
        let (new, old) = (&self.shared, &kept.shared);
        let counts =
            [(&new.queries, &old.queries), (&new.responses, &old.responses), (&new.drops, &old.drops)];
        for (new, old) in counts {
            new.fetch_max(old.load(Relaxed), Relaxed); // the same for every instance
        }
        for ip in kept.waiting.addresses() {
            for packet in kept.waiting.take(ip) {
                if let Some(packet) = self.wait(cx, packet, ip) {
                    cx.emit_packet(0, packet);
                }
            }
        }
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        type Q = ARPQuerier;
        h.read("table", |e: &mut Q, cx| e.table.list(cx.now_ns()));
        h.read("stats", |e: &mut Q, _| {
            let killed = e.shared.drops.load(Relaxed) + e.table.drops().load(Relaxed);
            format!("{killed} packets killed\n{} ARP queries sent\n", e.shared.queries.load(Relaxed))
        });
        h.read("count", |e: &mut Q, _| e.table.len());
        h.read("length", |e: &mut Q, _| e.table.waiting().load(Relaxed));
        h.read("queries", |e: &mut Q, _| e.shared.queries.load(Relaxed));
        h.read("responses", |e: &mut Q, _| e.shared.responses.load(Relaxed));
        h.read("drops", |e: &mut Q, _| e.shared.drops.load(Relaxed));
        h.read("broadcast", |e: &mut Q, _| e.broadcast);
        h.write("broadcast", |e: &mut Q, cx, text| {
            e.broadcast = router::value(cx, text)?;
            Ok(())
        });
        h.read("ipaddr", |e: &mut Q, _| e.ip);
        h.write("ipaddr", |e: &mut Q, cx, text| {
            e.ip = router::value(cx, text)?;
            Ok(())
        });
        h.write("insert", |e: &mut Q, cx, text| write_insert(&e.table, cx, text));
        h.write("delete", |e: &mut Q, cx, text| write_delete(&e.table, cx, text));
        h.write("clear", |e: &mut Q, cx, _| {
            for count in [&e.shared.queries, &e.shared.responses, &e.shared.drops] {
                count.store(0, Relaxed);
            }
            write_clear(&e.table, cx)
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build, errors, run, run_and_read};
    use router::Call;

    /// A source of IP packets for an address, with the annotation set.
    fn source(name: &str, last: u8, rest: &str) -> String {
        format!(
            "{name} :: InfiniteSource(DATA \\<45000014 00000000 40000000 0a000001 0a0000{last:02x}>, {rest})
             -> GetIPAddress(16) -> [0]a; "
        )
    }

    const QUERIER: &str = "a :: ARPQuerier(10.0.0.1/24, 1:1:1:1:1:1";

    /// One query brings the answer; the packets leave in frames, in order, and none is lost.
    #[test]
    fn query_and_answer() {
        let frame = "0/020202020202010101010101080045";
        let query = "0/ffffffffffff010101010101 12/08060001080006040001 22/010101010101 28/0a000001
                     32/000000000000 38/0a000002";
        let config = format!(
            "{QUERIER}); {} a[0] -> f :: Classifier({frame}, -) -> d :: Discard; f[1] -> bad :: Discard;
             a[1] -> q :: Classifier({query}, -) -> r :: ARPResponder(10.0.0.2 2:2:2:2:2:2) -> [1]a; q[1] -> bad;",
            source("s", 2, "LIMIT 70, BURST 40, STOP true")
        );
        let read =
            ["d.count", "d.byte_count", "bad.count", "a.queries", "a.responses", "a.drops", "a.length"];
        assert_eq!(run_and_read(&config, &read), ["70", "2380", "0", "1", "1", "0", "0"]);
        assert_eq!(
            run_and_read(&config, &["a.table", "a.count", "a.stats", "a.ipaddr", "a.broadcast"]),
            [
                "10.0.0.2 1 02-02-02-02-02-02 0.000000\n",
                "1",
                "0 packets killed\n1 ARP queries sent\n",
                "10.0.0.1",
                "10.0.0.255"
            ]
        );
    }

    /// Broadcast and multicast need no query; 0.0.0.0 is dropped, with one message.
    #[test]
    fn special_addresses() {
        let zero = "z :: InfiniteSource(DATA \\<45>, LIMIT 3) -> [0]a; ";
        let group = "g :: InfiniteSource(DATA \\<45000014 00000000 40000000 0a000001 e1820304>, LIMIT 2)
                     -> GetIPAddress(16) -> [0]a; ";
        let config = format!(
            "{QUERIER}); {zero} {group} {} InfiniteSource(ACTIVE false) -> [1]a; a[1] -> none :: Discard;
             a[0] -> c :: Classifier(0/ffffffffffff, 0/01005e020304, -); c[0] -> b :: Discard;
             c[1] -> m :: Discard; c[2] -> Discard;",
            source("s", 255, "LIMIT 5, STOP true")
        );
        assert_eq!(
            run_and_read(&config, &["b.count", "m.count", "none.count", "a.drops"]),
            ["5", "2", "0", "3"]
        );
        let said = "a :: ARPQuerier: would query for 0.0.0.0; missing dest IP addr annotation?\n";
        assert_eq!(run(&config), said);
    }

    /// At the capacity half of the waiting packets go, the oldest first; the others leave when the address is inserted,
    /// also in the table of another element.
    #[test]
    fn capacity_and_insert() {
        let config = format!(
            "t :: ARPTable(CAPACITY 8); {QUERIER}, TABLE t); {}
             InfiniteSource(LIMIT 1000, STOP true) -> Discard; InfiniteSource(ACTIVE false) -> [1]a;
             a[0] -> d :: Discard; a[1] -> q :: Discard;",
            source("s", 2, "LIMIT 9, END_CALL t.insert 10.0.0.2 2:2:2:2:2:2")
        );
        assert_eq!(
            run_and_read(&config, &["d.count", "q.count", "t.drops", "t.length", "a.drops"]),
            ["4", "1", "5", "0", "0"]
        );
    }

    /// An address that nobody answers for is given up after the timeout, and its packets with it.
    #[test]
    fn timeout() {
        let config = format!(
            "{QUERIER}, TIMEOUT 2); {} InfiniteSource(ACTIVE false) -> [1]a;
             a[0] -> d :: Discard; a[1] -> q :: Discard;",
            source("s", 2, "LIMIT 3")
        );
        let mut router = build(&config, 1, 32).unwrap();
        let handle = router.handle();
        let stop = std::thread::spawn(move || {
            // Simulated time goes on as soon as the router is idle.
            while handle.call(Call::read("a.count", "")) != Ok("0".to_owned()) || !seen(&handle) {}
            handle.stop();
        });
        router.run();
        stop.join().unwrap();
        let mut read = |path: &str| router.call(Call::read(path, "")).unwrap();
        assert_eq!(
            [read("a.length"), read("d.count"), read("a.stats")],
            ["0".to_owned(), "0".to_owned(), "3 packets killed\n1 ARP queries sent\n".to_owned()]
        );
    }

    fn seen(handle: &router::Handle) -> bool {
        handle.call(Call::read("a.queries", "")) != Ok("0".to_owned())
    }

    /// Packets that wait on one worker leave there when another ARPQuerier, on another worker, learns the address.
    #[test]
    fn two_workers() {
        let reply =
            "\\<ffffffffffff 020202020202 0806 0001080006040002 020202020202 0a000002 010101010101 0a000001>";
        let config = format!(
            "t :: ARPTable; {QUERIER}, TABLE t); b :: ARPQuerier(10.0.0.1, 1:1:1:1:1:1, TABLE t); {}
             InfiniteSource(ACTIVE false) -> [1]a; InfiniteSource(ACTIVE false) -> [0]b;
             s2 :: InfiniteSource(DATA {reply}, LIMIT 1, ACTIVE false) -> [1]b;
             a[0] -> d :: Counter(COUNT_CALL 7 stop) -> Discard; a[1] -> Discard; b -> Discard;
             StaticThreadSched(s2 1);",
            source("s", 2, "LIMIT 7, END_CALL s2.active true")
        );
        let mut router = build(&config, 2, 32).unwrap_or_else(|error| panic!("{error}"));
        let workers = |router: &mut router::Router, path: &str| router.call(Call::read(path, "")).unwrap();
        assert_ne!(workers(&mut router, "s.workers"), workers(&mut router, "s2.workers"));
        router.run();
        assert_eq!(router.call(Call::read("d.count", "")), Ok("7".to_owned()));
        assert_eq!(router.call(Call::read("t.length", "")), Ok("0".to_owned()));
    }

    /// A namesake in a new configuration knows what the old one knew, and has the packets that waited.
    #[test]
    fn taken_over() {
        let config = |rest: &str| {
            format!(
                "{QUERIER}); {} {} InfiniteSource(ACTIVE false) -> [1]a;
                 a[0] -> d :: Counter(COUNT_CALL 6 stop) -> Discard; a[1] -> Discard; {rest}",
                source("s", 2, "LIMIT 4"),
                source("s3", 3, "LIMIT 2"),
            )
        };
        let stop = "InfiniteSource(LIMIT 500, STOP true) -> Discard;";
        let mut old = build(&config(stop), 1, 1).unwrap();
        old.call(Call::write("a.insert", "10.0.0.3 3:3:3:3:3:3")).unwrap();
        old.run();
        let read = |router: &mut router::Router, path: &str| router.call(Call::read(path, "")).unwrap();
        assert_eq!([read(&mut old, "a.length"), read(&mut old, "d.count")], ["4", "2"]);
        let mut new = build(&config("").replace("LIMIT 4", "LIMIT 0"), 1, 1).unwrap();
        new.take_over(&mut old).unwrap();
        assert_eq!([read(&mut new, "a.length"), read(&mut new, "a.count")], ["4", "2"]);
        new.call(Call::write("a.insert", "10.0.0.2 2:2:2:2:2:2")).unwrap();
        new.run(); // stops with the sixth packet: two new ones, four that waited
        assert_eq!(read(&mut new, "a.length"), "0");
    }

    #[test]
    fn arguments() {
        let text = errors(
            "InfiniteSource -> [0]a :: ARPQuerier(10.0.0.1, 1:1:1:1:1:1, TABLE x) -> Discard; InfiniteSource -> [1]a",
        );
        assert!(text.contains("no element named 'x'"), "{text}");
        let text =
            errors("InfiniteSource -> [0]a :: ARPQuerier(10.0.0.1) -> Discard; InfiniteSource -> [1]a");
        assert!(text.contains("ETH: parse error: Ethernet address expected"), "{text}");
    }
}
