//! Tunnels between two sites: IP in IP, GRE and UDP, over IPv4 and over IPv6.
//!
//! Each gateway chooses how it wraps packets, and unwraps whatever the other chooses. Packets that are too long for the tunnel are cut or
//! refused before they go in, or wrapped as they are, cut outside, and put together at the other end. The router between the gateways
//! may tell of congestion on the wrapped packets (RFC 6040).

use super::contract::{Family, replace};
use super::sites::{self, EAST, LINK_MTU, Passage, TRANSIT, Tunnel, WEST};
use crate::datagram::CE;
use crate::ledger::Sent;
use crate::model::{Fate, Model, Verdict};
use crate::story::{Knob, Knobs, Step, Story};
use crate::world::Network;
use fastrand::Rng;

/// The family.
pub(super) struct Tunnels;

/// A way to wrap packets.
struct Wrap {
    /// Whether in IPv6.
    six: bool,
    /// Bytes in front of a packet.
    overhead: usize,
    /// What goes between the packet and the outer header, for IPv4 and IPv6 packets.
    shims: [&'static str; 2],
    /// The protocols of the outer header; without them, the wrap is UDP.
    protocols: Option<[u8; 2]>,
}

const WRAPS: [Wrap; 6] = [
    Wrap { six: false, overhead: 20, shims: ["", ""], protocols: Some([4, 41]) },
    Wrap { six: true, overhead: 40, shims: ["", ""], protocols: Some([4, 41]) },
    Wrap { six: false, overhead: 24, shims: GRE, protocols: Some([47, 47]) },
    Wrap { six: true, overhead: 44, shims: GRE, protocols: Some([47, 47]) },
    Wrap { six: false, overhead: 28, shims: ["", ""], protocols: None },
    Wrap { six: true, overhead: 48, shims: ["", ""], protocols: None },
];
const GRE: [&str; 2] = ["GREEncap(0x0800) ->", "GREEncap(0x86dd) ->"];
/// The port of tunnels in UDP.
const PORT: u16 = 4000;

/// The outer TTLs, by the position of the knob: far more than enough, just enough, and too few for the router in the middle.
const LIVES: [u8; 3] = [250, 3, 2];
/// What the router in the middle says of congestion, by the position of the knob: nothing; that there is some; the same, as routers
/// should, which drop those who cannot be told; ECT(1).
const MARKS: [[&str; 2]; 4] = [
    ["", ""],
    ["-> SetIPECN(ce)", "-> SetIP6ECN(ce)"],
    ["-> MarkIPCE", "-> SetIP6ECN(ce)"],
    ["-> SetIPECN(ect1)", "-> SetIP6ECN(ect1)"],
];
/// How frames leave the router in the middle if it is slow: one every 50 microseconds.
const SLOW: &str = "to :: Queue(4000); to -> line :: RatedUnqueue(20000, BURST_SIZE 1) -> ToMemory($device);";
/// The longest packet between the router in the middle and the gateways, by the position of the knob.
const MIDDLE: [usize; 2] = [LINK_MTU, 1400];

const KNOBS: &[Knob] = &[
    Knob { name: "wrap", positions: WRAPS.len() as u32, live: true },
    Knob { name: "outside", positions: 2, live: true },
    Knob { name: "life", positions: LIVES.len() as u32, live: true },
    Knob { name: "mark", positions: MARKS.len() as u32, live: true },
    Knob { name: "middle", positions: MIDDLE.len() as u32, live: true },
    Knob { name: "pace", positions: 2, live: true },
    Knob { name: "tap", positions: sites::TAPS.len() as u32, live: true },
    Knob { name: "exit", positions: sites::EXITS.len() as u32, live: true },
];

impl Family for Tunnels {
    fn name(&self) -> &'static str {
        "tunnel"
    }

    fn knobs(&self) -> &'static [Knob] {
        KNOBS
    }

    fn network(&self, _: &Knobs) -> Network {
        sites::network()
    }

    fn config(&self, machine: usize, knobs: &Knobs) -> String {
        match machine {
            TRANSIT => transit(knobs),
            side => sites::gateway(side, knobs, &tunnel(side, knobs)),
        }
    }

    fn model(&self, knobs: &Knobs) -> Box<dyn Model> {
        Box::new(Pair { knobs: std::array::from_fn(|_| knobs.clone()), changing: false, losing: false })
    }

    fn step(&self, _: &Story, rng: &mut Rng) -> Step {
        sites::flow(rng)
    }

    fn held_ns(&self) -> i64 {
        150_000_000
    }
}

/// The router in the middle. If it is slow, packets leave it one after the other, so that fragments come apart.
fn transit(knobs: &Knobs) -> String {
    let passing = MARKS[knobs.get("mark") as usize].map(str::to_owned);
    let mut text = sites::transit(knobs, middle(knobs), [passing.clone(), passing]);
    if knobs.get("pace") == 1 {
        replace(&mut text, sites::EXITS[knobs.get("exit") as usize], SLOW);
    }
    text
}

fn wrap(knobs: &Knobs) -> &'static Wrap {
    &WRAPS[knobs.get("wrap") as usize]
}

fn middle(knobs: &Knobs) -> usize {
    MIDDLE[knobs.get("middle") as usize]
}

fn is_outside(knobs: &Knobs) -> bool {
    knobs.get("outside") == 1
}

/// The longest packet that goes into the tunnel: one that fits when it is wrapped, or any.
fn mtu(knobs: &Knobs) -> usize {
    if is_outside(knobs) { 2_000 } else { LINK_MTU - wrap(knobs).overhead }
}

fn tunnel(side: usize, knobs: &Knobs) -> Tunnel {
    let (wrap, life) = (wrap(knobs), LIVES[knobs.get("life") as usize]);
    let (own, peer) = sites::ends(wrap.six, side);
    let head = |inner: usize| {
        let shim = wrap.shims[inner];
        let outer = match (wrap.six, wrap.protocols) {
            (false, Some(protocols)) => format!("IPEncap({}, {own}, {peer}, TTL {life})", protocols[inner]),
            (true, Some(protocols)) => format!("IP6Encap({}, {own}, {peer}, HLIM {life})", protocols[inner]),
            (false, None) => format!("UDPIPEncap({own}, {PORT}, {peer}, {PORT})"),
            (true, None) => format!("UDPIP6Encap({own}, {PORT}, {peer}, {PORT})"),
        };
        // Of IPv6 packets only the source makes fragments.
        let rest =
            if wrap.six { format!("IP6Fragmenter({LINK_MTU}) -> routes6") } else { "routes".to_owned() };
        format!("{shim} {outer} -> {rest}")
    };
    let (_, peer4) = sites::ends(false, side);
    let peer6 = sites::digits(sites::ends(true, side).1);
    let pair = |pattern: String, chain: &str| (pattern, chain.to_owned());
    let (bare, gre) = ("StripIPHeader -> inner", "StripIPHeader -> StripGREHeader -> inner");
    let udp = "StripTransportHeader -> inner";
    // Packets in UDP have the same ends, whatever they contain: one element numbers them.
    let heads = match wrap.protocols {
        Some(_) => [head(0), head(1)],
        None => [format!("wrapped :: {}", head(0).trim_start()), "wrapped".to_owned()],
    };
    Tunnel {
        mtu: mtu(knobs),
        heads,
        tails: vec![
            pair(format!("src host {peer4} and (ip proto 4 or ip proto 41)"), bare),
            pair(format!("src host {peer4} and ip proto 47"), gre),
            pair(
                format!("src host {peer4} and udp dst port {PORT}"),
                "CheckUDPHeader -> StripTransportHeader -> inner",
            ),
        ],
        tails6: vec![
            pair(format!("6/04 8/{peer6}"), bare),
            pair(format!("6/29 8/{peer6}"), bare),
            pair(format!("6/2f 8/{peer6}"), gre),
            pair(format!("6/11 8/{peer6} 42/{PORT:04x}"), udp),
        ],
    }
}

/// What the gateways and the router between them must do.
#[derive(Clone)]
struct Pair {
    /// What each router's configuration is made of.
    knobs: [Knobs; 3],
    /// Whether some router is just being replaced. Packets of a flow may go two ways then, and overtake.
    changing: bool,
    /// Whether what waits in the middle is just lost, because the queue has no namesake any more.
    losing: bool,
}

impl Pair {
    fn passage(&self, side: usize, sent: &Sent) -> Passage {
        let (wrap, inner) = (wrap(&self.knobs[side]), sent.look.ecn);
        let is_udp = wrap.protocols.is_none();
        if !is_udp && LIVES[self.knobs[side].get("life") as usize] < LIVES[1]
            || self.is_too_long(side, sent.look.len)
        {
            return Passage::Lost;
        }
        if self.losing {
            return Passage::Open;
        }
        // Packets in UDP have no mark outside, and what is there is not looked at.
        let outside = if is_udp { 0 } else { inner };
        let outer = match (self.knobs[TRANSIT].get("mark"), wrap.six, outside) {
            (2, false, 0) => return Passage::Lost,
            (1 | 2, ..) => CE,
            (3, ..) => 1,
            _ => outside,
        };
        let mark = if is_udp { Some(inner) } else { sites::mark_behind(inner, outer) };
        mark.map_or(Passage::Lost, Passage::Comes)
    }

    /// Whether the router in the middle refuses a packet that goes through whole.
    fn is_too_long(&self, side: usize, len: usize) -> bool {
        let (wrap, middle) = (wrap(&self.knobs[side]), middle(&self.knobs[TRANSIT]));
        // It cuts what is IPv4. Of what gateways cut, the first part is as long as links allow.
        wrap.six && (len + wrap.overhead).min(LINK_MTU - 8) > middle
    }
}

impl Model for Pair {
    fn fate(&self, sent: &Sent) -> Fate {
        let mtus = [WEST, EAST].map(|side| mtu(&self.knobs[side]));
        sites::fate(sent, mtus, |side, sent| self.passage(side, sent))
    }

    fn keeps_order(&self, _: &Sent) -> bool {
        !self.changing
    }

    fn write(&mut self, _: usize, _: &str, _: &str) -> Verdict {
        Verdict::Either
    }

    fn swap(&mut self, machine: usize, old: &Knobs, new: &Knobs) -> Verdict {
        self.losing = machine == TRANSIT && old.get("pace") == 1 && new.get("pace") == 0;
        self.knobs[machine] = new.clone();
        self.changing = true;
        Verdict::Succeeds
    }

    fn settle(&mut self, _: i64) {
        (self.changing, self.losing) = (false, false);
    }

    fn kept(&self, _: usize, _: &Knobs, _: &Knobs) -> Vec<String> {
        ["routes.table", "routes6.table"].map(str::to_owned).to_vec()
    }

    fn copy(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}
