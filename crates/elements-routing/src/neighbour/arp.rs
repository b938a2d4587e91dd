//! Neighbours of IPv4: ARP (RFC 826; RFC 1122, section 2.3.2).

use super::arguments::TableArgs;
use super::querier::{Link, Querier, Shared};
use super::state::{News, Query};
use elements_shared::ether_address::Prefix;
use elements_shared::ether_header::{Ready, mark_frame};
use packet::{DEFAULT_HEADROOM, Packet};
use router::{Args, ConfigError, Cx, FromArg, Handlers, Level, Scope};
use std::net::Ipv4Addr;
use std::sync::atomic::Ordering::Relaxed;
use wire::ethernet::{HEADER_LEN, Header, ether_type, header};
use wire::{MacAddr, arp, ipv4};

/// Which announcements are believed that this host did not ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unasked {
    /// All, as in Click.
    #[default]
    Accept,
    /// Those of addresses in the table, as RFC 826 says.
    Update,
    /// None: an announcement of another address makes the known neighbour be asked whether it is still there.
    Refuse,
}

impl FromArg for Unasked {
    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        match text {
            "accept" => Ok(Unasked::Accept),
            "update" => Ok(Unasked::Update),
            "refuse" => Ok(Unasked::Refuse),
            _ => Err(format!("expected 'accept', 'update' or 'refuse', not '{text}'")),
        }
    }
}

/// This host on a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arp {
    pub(crate) ip: Ipv4Addr,
    pub(crate) mac: MacAddr,
    pub(crate) broadcast: Ipv4Addr,
    /// Whether queries for known addresses are broadcast, too.
    pub(crate) broadcast_poll: bool,
    pub(crate) unasked: Unasked,
}

impl Arp {
    /// What the arguments of an ARPQuerier say: this host, the table, and the element whose table it is. `broadcast_poll` is the default of
    /// the argument.
    pub(crate) fn read<'s>(
        args: Args<'s, '_>,
        scope: Scope<'s>,
        mut broadcast_poll: bool,
    ) -> Result<(Arp, TableArgs, Option<String>), ConfigError> {
        let mut table_args = TableArgs::default();
        let (mut broadcast, mut table_name) = (None::<Ipv4Addr>, None::<String>);
        let (mut unasked, mut cache) = (Unasked::default(), false);
        let mut words = Vec::new();
        table_args
            .read(args)
            .keyword("BROADCAST", &mut broadcast)
            .keyword("TABLE", &mut table_name)
            .keyword("BROADCAST_POLL", &mut broadcast_poll)
            .keyword("UNASKED", &mut unasked)
            .keyword("CACHE", &mut cache) // of FastClick's threads, each of which would take a lock; here none does
            .rest(&mut words)
            .finish()?;
        if words.len() == 1 {
            words.push(words[0].clone());
        }
        let (mut prefix, mut mac) = (Prefix::default(), MacAddr::ZERO);
        Args::new(words, scope).required("IP", &mut prefix).required("ETH", &mut mac).finish()?;
        let broadcast = broadcast.unwrap_or_else(|| default_broadcast(&prefix));
        let link = Arp { ip: prefix.address, mac, broadcast, broadcast_poll, unasked };
        Ok((link, table_args, table_name))
    }
}

fn default_broadcast(prefix: &Prefix) -> Ipv4Addr {
    if prefix.broadcast() == prefix.address { Ipv4Addr::BROADCAST } else { prefix.broadcast() }
}

impl Link for Arp {
    type Address = Ipv4Addr;
    const NO_ANSWER: &'static str = "no answer to ARP queries";
    const QUERIES: &'static str = "ARP queries";

    #[inline]
    fn is_ready(&self) -> bool {
        !self.ip.is_unspecified()
    }

    #[inline]
    fn destination(packet: &Packet) -> Ipv4Addr {
        packet.dst_ip()
    }

    #[inline]
    fn header(&self, to: MacAddr) -> Ready {
        Ready::of(&header(to, self.mac, ether_type::IPV4))
    }

    fn special(&self, ip: Ipv4Addr) -> Option<Result<MacAddr, &'static str>> {
        Some(if self.ip.is_unspecified() {
            Err("no own IP address")
        } else if ip.is_broadcast() || ip == self.broadcast {
            Ok(MacAddr::BROADCAST)
        } else if ip.is_multicast() {
            Ok(MacAddr::from_ipv4_multicast(ip))
        } else if ip.is_unspecified() {
            Err(NO_DESTINATION)
        } else {
            return None;
        })
    }

    fn complain(&self, cx: &mut Cx<'_>, shared: &Shared<Ipv4Addr>) {
        if self.is_ready() && shared.warned.swap(1, Relaxed) == 0 {
            let declaration = cx.info().nodes[cx.index()].declaration();
            cx.say(
                Level::Warning,
                format_args!("{declaration}: would query for 0.0.0.0; missing dest IP addr annotation?"),
            );
        }
    }

    fn query(&self, cx: &mut Cx<'_>, ip: Ipv4Addr, whom: Query) -> Option<Packet> {
        let to = match whom {
            Query::One(mac) if !self.broadcast_poll => mac,
            _ => MacAddr::BROADCAST,
        };
        let frame_len = HEADER_LEN + arp::PACKET_LEN;
        let mut query = cx.pool().alloc(DEFAULT_HEADROOM - HEADER_LEN, frame_len)?;
        let (ethernet, rest) = query.data_mut().split_first_chunk_mut()?;
        let mut request = arp::Packet::new_checked_mut(rest).ok()?;
        *ethernet = header(to, self.mac, ether_type::ARP);
        request.set_operation(arp::REQUEST);
        request.set_sender(self.mac, self.ip);
        request.set_target(MacAddr::ZERO, ip);
        mark_frame(&mut query);
        Some(query)
    }

    /// What a packet says of its sender.
    fn news(&self, packet: &Packet) -> Option<(Ipv4Addr, News, bool)> {
        let (ethernet, payload) = packet.data().split_first_chunk()?;
        let said = arp::check(payload).ok()?;
        let (ip, mac) = (said.sender_ip(), said.sender_mac());
        if Header::new(ethernet).ether_type() != ether_type::ARP || mac.is_group() {
            return None;
        }
        let (overrides, for_us) = (self.unasked != Unasked::Refuse, said.target_ip() == self.ip);
        match said.operation() {
            arp::REPLY => {
                // A reply to another host shows nothing.
                let news = News { mac: Some(mac), solicited: overrides || for_us, overrides };
                Some((ip, news, self.unasked == Unasked::Accept))
            }
            // RFC 826: the sender's entry is brought up to date if there is one, and made if this host is asked, which is about to send
            // there. That packets arrive there it does not show. Who only probes has no address yet (RFC 5227), and this host's own is not
            // a neighbour's.
            arp::REQUEST if !ip.is_unspecified() && ip != self.ip => {
                Some((ip, News { mac: Some(mac), solicited: false, overrides }, overrides && for_us))
            }
            _ => None,
        }
    }

    fn is_response(packet: &Packet) -> bool {
        packet.len() >= HEADER_LEN + arp::PACKET_LEN
    }

    #[inline]
    fn take_hop(packet: &mut Packet) -> Option<bool> {
        let mut ip = ipv4::Header::new(packet.data_mut().first_chunk_mut()?);
        let lives = ip.ttl() > 1;
        if lives {
            ip.decrement_ttl();
        }
        Some(lives)
    }

    fn read_again(&self, cx: &Cx<'_>, config: &str) -> Option<Result<(Arp, TableArgs), ConfigError>> {
        let read = Arp::read(router::arguments(cx, config), router::scope(cx), self.broadcast_poll);
        Some(read.map(|(link, args, _)| (link, args)))
    }

    fn is_same_host(&self, other: &Arp) -> bool {
        (self.ip, self.mac) == (other.ip, other.mac)
    }

    fn succeeds(&self, old: &Arp) -> bool {
        self.is_same_host(old) && self.broadcast == old.broadcast
    }

    fn handlers<const HOP: bool>(h: &mut Handlers) {
        type Q<const HOP: bool> = Querier<Arp, HOP>;
        h.read("broadcast", |e: &mut Q<HOP>, _| e.link.broadcast);
        h.write("broadcast", |e: &mut Q<HOP>, cx, text| {
            e.link.broadcast = router::value(cx, text)?;
            Ok(())
        });
        h.read("ipaddr", |e: &mut Q<HOP>, _| e.link.ip);
        h.write("ipaddr", |e: &mut Q<HOP>, cx, text| {
            e.link.ip = router::value(cx, text)?;
            Ok(())
        });
    }
}

const NO_DESTINATION: &str = "destination 0.0.0.0";
