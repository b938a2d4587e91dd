//! Two sites with a network between them that knows neither: gateways made of the shipped `conf/linux-router.click`, and one such router
//! between them.
//!
//! `west` has the hosts `a` and `a2`, `east` has `b` and `b2`. The first port of a gateway leads to its hosts, the second to `transit`.
//! What goes through between the gateways is for the families to say: see [`gateway`].

use super::contract::replace;
use crate::datagram::{CE, Mac, protocol};
use crate::host::{Address, Host};
use crate::ledger::Sent;
use crate::link::{Link, Station};
use crate::model::Fate;
use crate::story::{FlowStep, Knobs, Step};
use crate::world::{ECHO_PORT, Kind, Network};
use fastrand::Rng;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const SHIPPED: &str = include_str!("../../../../conf/linux-router.click");

/// The routers' places: the gateways', by their side, and that of the router between them.
pub(super) const WEST: usize = 0;
pub(super) const EAST: usize = 1;
pub(super) const TRANSIT: usize = 2;

/// The longest packet on every link.
pub(super) const LINK_MTU: usize = 1500;
/// Answers to pings that are longer than this may be cut, or too long for the way back.
const LONG: usize = 1300;
/// The longest piece that hosts send of a packet that is too long for them.
const HOST_PIECE: usize = 1496;

/// What stands between an interface and the router, by the position of the knob `tap`.
pub(super) const TAPS: [&str; 3] = ["", "-> seen :: Counter", "-> seen :: RoundRobinSwitch"];
/// How frames leave, by the position of the knob `exit`.
pub(super) const EXITS: [&str; 3] = [
    "to :: ToMemory($device);",
    "to :: Queue(1000); to -> ToMemory($device);",
    "to :: ThreadSafeQueue(500); to -> ToMemory($device);",
];

/// What joins the sites, in one gateway.
pub(super) struct Tunnel {
    /// The longest packet that goes in.
    pub(super) mtu: usize,
    /// What IPv4 and IPv6 packets pass on their way into it, up to where they are routed.
    pub(super) heads: [String; 2],
    /// What comes out: IPClassifier's patterns for what is for the gateway, and what such packets pass, `inner` at last.
    pub(super) tails: Vec<(String, String)>,
    /// The same for IPv6, with Classifier's patterns.
    pub(super) tails6: Vec<(String, String)>,
}

/// Hosts, links and routers.
pub(super) fn network() -> Network {
    let host = |(name, side, number): (&str, usize, u8)| {
        let address = |six| {
            let prefix = if six { 64 } else { 24 };
            Address { ip: site(six, side, number), prefix, gateway: Some(site(six, side, 1)) }
        };
        Host::new(name, [2, 0, 0, 1, side as u8, number], vec![address(false), address(true)])
    };
    let hosts = [("a", WEST, 10), ("a2", WEST, 11), ("b", EAST, 10), ("b2", EAST, 11)].map(host);
    let lan = |side: usize| {
        let hosts = [2 * side, 2 * side + 1].map(Station::Host);
        hosts.into_iter().chain([Station::Port(side, 0)]).collect()
    };
    let wan = |side| vec![Station::Port(side, 1), Station::Port(TRANSIT, side)];
    let links = vec![
        Link::new("lan-west", lan(WEST)),
        Link::new("wan-west", wan(WEST)),
        Link::new("wan-east", wan(EAST)),
        Link::new("lan-east", lan(EAST)),
    ];
    let machines = ["west", "east", "transit"].map(|name| (name.to_owned(), 2)).to_vec();
    Network { hosts: hosts.into(), links, machines }
}

/// The address of a host or a gateway at a site.
pub(super) fn site(six: bool, side: usize, number: u8) -> IpAddr {
    match six {
        false => Ipv4Addr::new(10, 0, side as u8 + 1, number).into(),
        true => Ipv6Addr::new(0x2001, 0xdb8, side as u16 + 1, 0, 0, 0, 0, u16::from(number)).into(),
    }
}

/// The address in the network between a gateway and `transit`: the gateway's is number 2.
fn between(six: bool, side: usize, number: u8) -> IpAddr {
    match (six, side) {
        (false, WEST) => Ipv4Addr::new(192, 0, 2, number).into(),
        (false, _) => Ipv4Addr::new(198, 51, 100, number).into(),
        (true, _) => Ipv6Addr::new(0x2001, 0xdb8, 0xf1 + side as u16, 0, 0, 0, 0, u16::from(number)).into(),
    }
}

/// Between which address of a gateway and which of the other the tunnel runs.
pub(super) fn ends(six: bool, side: usize) -> (IpAddr, IpAddr) {
    (between(six, side, 2), between(six, 1 - side, 2))
}

/// An IPv6 address as Classifier has it.
pub(super) fn digits(ip: IpAddr) -> String {
    match ip {
        IpAddr::V6(ip) => ip.octets().iter().map(|byte| format!("{byte:02x}")).collect(),
        IpAddr::V4(ip) => ip.octets().iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

/// The shipped router with its interfaces, and an IPv4 and an IPv6 address at each port.
pub(super) fn router(machine: usize, knobs: &Knobs, mtu: usize, addresses: [[IpAddr; 2]; 2]) -> String {
    let (tap, exit) = (TAPS[knobs.get("tap") as usize], EXITS[knobs.get("exit") as usize]);
    let mut text = SHIPPED.to_owned();
    replace(&mut text, "FromDevice($device, METHOD $METHOD)", &format!("FromMemory($device) {tap}"));
    replace(&mut text, "to :: ToDevice($device, METHOD $METHOD);", exit);
    replace(&mut text, "$MTU 1500", &format!("$MTU {mtu}"));
    // No model counts errors by the second.
    replace(&mut text, "$ERRORS 1000", "$ERRORS 0");
    for (port, [four, six]) in addresses.into_iter().enumerate() {
        let mac: Mac = [2, 0, 0, 2, machine as u8, port as u8];
        let mac = mac.map(|byte| format!("{byte:x}")).join(":");
        replace(&mut text, &format!("$IF{port}:eth"), &mac);
        replace(&mut text, &format!("$NET{port} 10.0.{}.1/24", port + 1), &format!("$NET{port} {four}/24"));
        let shipped = format!("$SIX{port} 2001:db8:{}::1/64", port + 1);
        replace(&mut text, &shipped, &format!("$SIX{port} {six}/64"));
    }
    text
}

/// The router between the gateways. What it forwards passes these elements, by the side where it goes, IPv4 and IPv6
/// packets each their own.
pub(super) fn transit(knobs: &Knobs, mtu: usize, passing: [[String; 2]; 2]) -> String {
    let address = |side| [false, true].map(|six| between(six, side, 1));
    let mut text = router(TRANSIT, knobs, mtu, [address(WEST), address(EAST)]);
    for (port, [four, six]) in passing.into_iter().enumerate() {
        replace(
            &mut text,
            &format!("routes[{}] -> p{port}; routes6[{}] -> [1]p{port};", port + 1, port + 1),
            &format!("routes[{}] {four} -> p{port}; routes6[{}] {six} -> [1]p{port};", port + 1, port + 1),
        );
    }
    text
}

/// The gateway of a side. Packets to the other site enter the tunnel, and what comes out of it is forwarded; a packet is forwarded
/// by both gateways, and hears of its length and its time to live as on any other way.
pub(super) fn gateway(side: usize, knobs: &Knobs, tunnel: &Tunnel) -> String {
    let address = |six| [site(six, side, 1), between(six, side, 2)];
    let ([four, wan], [six, wan6]) = (address(false), address(true));
    let mut text = router(side, knobs, LINK_MTU, [[four, six], [wan, wan6]]);
    for (six, connected) in [(false, "port1:ipnet 2,"), (true, "port1:ip6net 2,")] {
        let length = if six { 64 } else { 24 };
        // The first output that the shipped configuration leaves free.
        let entry = if six { 5 } else { 7 };
        let (inside, outside, next) =
            (site(six, 1 - side, 0), between(six, 1 - side, 0), between(six, side, 1));
        replace(
            &mut text,
            connected,
            &format!("{connected} {outside}/{length} {next} 2, {inside}/{length} {entry},"),
        );
    }
    // What the router itself says fits into the tunnel.
    replace(&mut text, "IP6Fragmenter($MTU) -> routes6", "IP6Fragmenter(1280) -> routes6");
    let (tails, tails6) = (&tunnel.tails, &tunnel.tails6);
    replace(
        &mut text,
        "host :: IPClassifier(icmp type echo, udp or tcp, -);",
        &format!(
            "{}; sort[{}] -> host :: IPClassifier(icmp type echo, udp or tcp, -);",
            sort("sort :: IPClassifier", tails),
            tails.len()
        ),
    );
    replace(
        &mut text,
        "pings6 :: ICMP6PingResponder",
        &format!(
            "{}; sort6[{}] -> pings6 :: ICMP6PingResponder",
            sort("sort6 :: Classifier", tails6),
            tails6.len()
        ),
    );
    let chains = |name: &str, tails: &[(String, String)]| {
        let chain =
            |(number, (_, chain)): (usize, &(String, String))| format!("{name}[{number}] -> {chain};\n");
        tails.iter().enumerate().map(chain).collect::<String>()
    };
    let ([head, head6], mtu) = (&tunnel.heads, tunnel.mtu);
    format!(
        "{text}
         inner :: Classifier(0/40%f0, 0/60%f0, -);
         {}{}
         inner[0] -> CheckIPHeader -> routes; inner[1] -> CheckIP6Header -> GetIP6Address(24) -> routes6; inner[2] -> Discard;
         routes[7] -> DropBroadcasts -> FixIPSrc(port0:ip) -> entry :: DecIPTTL -> size :: IPFragmenter({mtu}) -> {head};
         entry[1] -> ICMPError(port0:ip, timeexceeded, RATE $ERRORS) -> routes;
         size[1] -> ICMPError(port0:ip, unreachable, needfrag, PMTU {mtu}, RATE $ERRORS) -> routes;
         routes6[5] -> FixIP6Src(port0:ip6) -> entry6 :: DecIP6HLIM -> size6 :: IP6Fragmenter({mtu}) -> {head6};
         entry6[1] -> ICMP6Error(port0:ip6, 3, 0, RATE $ERRORS) -> routes6;
         size6[1] -> ICMP6Error(port0:ip6, 2, 0, PMTU {mtu}, RATE $ERRORS) -> routes6;",
        chains("sort", tails),
        chains("sort6", tails6),
    )
}

fn sort(declared: &str, tails: &[(String, String)]) -> String {
    let patterns: Vec<&str> = tails.iter().map(|(pattern, _)| pattern.as_str()).chain(["-"]).collect();
    format!("{declared}({})", patterns.join(", "))
}

/// A flow between hosts, or to a gateway.
pub(super) fn flow(rng: &mut Rng) -> Step {
    let from = rng.usize(..4);
    let (six, away) = (rng.bool(), rng.u32(..8) > 0);
    let side = if away { 1 - from / 2 } else { from / 2 };
    let number = [10, 11, 10, 11, 1, 99][rng.usize(..6)];
    let size = [16, 64, 500, 1300, 1380, 1450, 3000][rng.usize(..7)];
    Step::Flow(FlowStep {
        from: ["a", "a2", "b", "b2"][from].to_owned(),
        to: site(six, side, number),
        kind: [Kind::Udp, Kind::Tcp, Kind::Ping][rng.usize(..3)],
        count: rng.u32(1..=40),
        size,
        gap_ns: [0, 1_000, 50_000, 1_000_000][rng.usize(..4)],
        ttl: if rng.u32(..4) == 0 { rng.u8(1..=3) } else { 64 },
        ecn: rng.u8(..4),
        ports: [rng.u16(1024..), if rng.bool() { ECHO_PORT } else { rng.u16(1..1024) }],
        whole: rng.bool() && size < HOST_PIECE - 60,
        spread: false,
    })
}

/// What a tunnel does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passage {
    /// It comes out at the other end, with this mark of explicit congestion notification.
    Comes(u8),
    /// It may come out, once at most.
    Open,
    /// It does not come out, and its sender hears nothing.
    Lost,
}

/// What becomes of a packet. `mtus` are those of the tunnel by the side where packets go in, as `passage` is asked.
pub(super) fn fate(sent: &Sent, mtus: [usize; 2], passage: impl Fn(usize, &Sent) -> Passage) -> Fate {
    let (look, side, six) = (&sent.look, sent.host / 2, sent.look.dst.is_ipv6());
    let Some((other, number)) = place(look.dst) else { return Fate::Open };
    let host =
        number.checked_sub(10).filter(|number| *number < 2).map(|number| 2 * other + usize::from(number));
    if other == side {
        return match host {
            Some(host) if host != sent.host => Fate::arrives(host, 0, true),
            None if number == 1 => at_gateway(sent),
            _ => Fate::Open, // who talks to itself needs no network; and a neighbour that is not there does not answer
        };
    }
    let refused = |four, other| Fate::Refused(Some(if six { other } else { four }));
    if look.ttl <= 1 {
        return refused((11, 0), (3, 0));
    }
    if look.whole && look.len.min(HOST_PIECE) > mtus[side] {
        return refused((3, 4), (2, 0));
    }
    let behind = match host {
        None if number == 1 => at_gateway(sent),
        _ if look.ttl <= 2 => refused((11, 0), (3, 0)),
        Some(host) => Fate::arrives(host, 2, true),
        None => Fate::Open, // the news that there is no answer takes seconds
    };
    match (passage(side, sent), behind) {
        (Passage::Lost, _) => Fate::Refused(None),
        (Passage::Open, _) => Fate::Open,
        (Passage::Comes(ecn), Fate::Arrives { hosts, hops, as_sent, .. }) => {
            Fate::Arrives { hosts, hops, as_sent, ecn: Some(ecn) }
        }
        (Passage::Comes(_), Fate::Answered) if look.len > LONG => Fate::Open,
        // Its parts may leave the tunnel on several workers, each of which puts together what it gets.
        (Passage::Comes(_), Fate::Refused(_)) if look.len > HOST_PIECE => Fate::Open,
        (Passage::Comes(_), told) => back(sent, told, |answer| passage(other, answer)),
    }
}

/// What comes of what the other gateway says about a packet, which goes through the tunnel, too.
fn back(sent: &Sent, told: Fate, passage: impl Fn(&Sent) -> Passage) -> Fate {
    let mut answer = sent.clone();
    if told != Fate::Answered {
        // Answers to pings are pings the other way round. Errors are short, and do not know of marks.
        (answer.look.ecn, answer.look.len) = (0, 0);
    }
    match passage(&answer) {
        Passage::Comes(_) => told,
        Passage::Open => Fate::Open,
        Passage::Lost => Fate::Refused(None),
    }
}

/// The mark of a packet that leaves a tunnel (RFC 6040, section 4.2), by the mark inside and outside; `None` if it is dropped.
pub(super) fn mark_behind(inner: u8, outer: u8) -> Option<u8> {
    match (inner, outer) {
        (0, CE) => None,
        (0, _) => Some(0),
        (2, 1) => Some(1),
        (_, CE) => Some(CE),
        _ => Some(inner),
    }
}

/// What becomes of a packet for a router itself: it answers pings, and has no services.
pub(super) fn at_gateway(sent: &Sent) -> Fate {
    match sent.look.protocol {
        protocol::ICMP | protocol::ICMP6 => Fate::Answered,
        _ if sent.look.dst.is_ipv6() => Fate::Refused(Some((1, 4))),
        _ => Fate::Refused(Some((3, 3))),
    }
}

/// The site that an address is in, and its number there.
pub(super) fn place(ip: IpAddr) -> Option<(usize, u8)> {
    let found = |side: &usize, number: u8| site(ip.is_ipv6(), *side, number) == ip;
    (WEST..=EAST)
        .find_map(|side| (0..=u8::MAX).find(|&number| found(&side, number)).map(|number| (side, number)))
}
