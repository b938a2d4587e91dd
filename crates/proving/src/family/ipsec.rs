//! IPsec between two sites (RFC 4303), over IPv4 and over IPv6, with an attacker in the middle who repeats, changes and reorders packets.
//!
//! Each gateway has ESPEncap and ESPDecap, or the IPsec element with associations and policies; either understands the other. What was
//! repeated or changed never arrives and is counted with its reason; what is only late does arrive. Keys are turned at one end after the other;
//! numbers go on when a gateway is replaced. IPsec also has associations one after the other, as a daemon brings them: the youngest protects, and what
//! comes by one that is not known yet waits for it.

mod early;

use super::contract::Family;
use super::sites::{self, EAST, LINK_MTU, Passage, TRANSIT, Tunnel, WEST};
use crate::datagram::CE;
use crate::ledger::{Ledger, Sent};
use crate::machine::Machine;
use crate::model::{Fate, Model, Verdict};
use crate::story::{Knob, Knobs, Step, Story};
use crate::world::Network;
use early::Early;
use fastrand::Rng;
use std::cmp::Ordering;
use std::net::IpAddr;

/// The family.
pub(super) struct Ipsec;

/// The longest packet that goes in, over IPv4 and over IPv6: as much as fits with headers, padding and check value.
const INSIDE: [usize; 2] = [LINK_MTU - 57, LINK_MTU - 77];
/// Numbers of keys, by the position of the knob: two for AES-128, one for AES-256.
const KEYS: u32 = 3;
/// How often IPsec's associations are followed by others, at most.
const TURNS: u32 = 4;
/// How much greater the number of the next association is.
const NEXT: usize = 0x10;
/// The files that have the keys of the first position, by direction.
const FILES: [&str; 2] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/keys/east.key"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/keys/west.key"),
];
/// How many numbers a packet may be late, by the position of the knob.
const WINDOWS: [u32; 2] = [1024, 64];
/// What the router in the middle says of congestion, by the position of the knob.
const MARKS: [[&str; 2]; 3] =
    [["", ""], ["-> SetIPECN(ce)", "-> SetIP6ECN(ce)"], ["-> SetIPECN(ect1)", "-> SetIP6ECN(ect1)"]];

/// What the attacker does to encrypted packets (`esp[0]`), by the position of the knob; `$at` is a place in them.
const MISCHIEF: [&str; 6] = [
    "esp[0] -> output;",
    // Repeats each at once.
    "esp[0] -> twice :: Tee -> output; twice[1] -> copies :: Counter -> output;",
    // Repeats each after a while.
    "esp[0] -> twice :: Tee -> output;
     twice[1] -> copies :: Counter -> SetTimestamp -> Queue(4000) -> DelayUnqueue(20ms) -> output;",
    // Sends a copy ahead that is not the same.
    "esp[0] -> twice :: Tee -> StoreData($at, \\<5a5b5c5d>) -> copies :: Counter -> output; twice[1] -> output;",
    // Lets every other one be late.
    "esp[0] -> turns :: RoundRobinSwitch -> output; turns[1] -> SetTimestamp -> late :: Queue(4000) -> DelayUnqueue(3ms) -> output;",
    // Changes every other one.
    "esp[0] -> turns :: RoundRobinSwitch -> output; turns[1] -> StoreData($at, \\<5a5b5c5d>) -> output;",
];
/// How long packets may be on their way, those that come late included.
const UNDER_WAY_NS: i64 = 100_000_000;
const AT_ONCE: u32 = 1;
const AGAIN: u32 = 2;
const AHEAD: u32 = 3;
const LATE: u32 = 4;
const CHANGED: u32 = 5;

const KNOBS: &[Knob] = &[
    Knob { name: "six", positions: 2, live: true },
    Knob { name: "outside", positions: 2, live: true },
    Knob { name: "key", positions: KEYS, live: true },
    Knob { name: "file", positions: 2, live: true },
    Knob { name: "esn", positions: 2, live: false },
    Knob { name: "window", positions: WINDOWS.len() as u32, live: true },
    Knob { name: "mischief", positions: MISCHIEF.len() as u32, live: true },
    Knob { name: "mark", positions: MARKS.len() as u32, live: true },
    Knob { name: "tap", positions: sites::TAPS.len() as u32, live: true },
    Knob { name: "exit", positions: sites::EXITS.len() as u32, live: true },
    Knob { name: "element", positions: 2, live: true },
    Knob { name: "turn", positions: TURNS, live: true },
];

impl Family for Ipsec {
    fn name(&self) -> &'static str {
        "ipsec"
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
        Box::new(Associations {
            knobs: std::array::from_fn(|_| knobs.clone()),
            behind: [false; 2],
            anew_ns: [Some(i64::MIN); 2],
            forgets: [false; 2],
            unlearns: [false; 2],
            lowered: [false; 2],
            early: Early::default(),
            forgot_ns: [i64::MIN; 2],
            repeated_ns: Some(i64::MIN),
            changing: false,
            losing: false,
            swapped: false,
        })
    }

    fn step(&self, story: &Story, rng: &mut Rng) -> Step {
        if rng.u32(..6) > 0 {
            return sites::flow(rng);
        }
        // A gateway that is behind follows the other; else either goes on.
        let [west, east] = ["west", "east"].map(|machine| turned(story, machine));
        let (machine, value) = match west.cmp(&east) {
            Ordering::Less => ("west", east),
            Ordering::Equal => (if rng.bool() { "west" } else { "east" }, (west + 1) % TURNS),
            Ordering::Greater => ("east", west),
        };
        Step::Swap { machine: machine.to_owned(), knob: "turn".to_owned(), value }
    }
}

/// How many turns on a gateway is after the steps so far.
fn turned(story: &Story, gateway: &str) -> u32 {
    let last = story.steps.iter().rev().find_map(|step| match step {
        Step::Swap { machine, knob, value } if machine == gateway && knob == "turn" => Some(*value),
        _ => None,
    });
    last.unwrap_or_else(|| story.knobs.get("turn"))
}

fn mtu(knobs: &Knobs) -> usize {
    if knobs.get("outside") == 1 { 2_000 } else { INSIDE[knobs.get("six") as usize] }
}

/// A key and salt for the direction to a side, in digits; of the association that is so many turns on.
fn key(to: usize, position: u32, turn: u32) -> String {
    let (len, mix) = (if position == 2 { 36 } else { 20 }, position as usize * 53 + turn as usize * 29);
    (0..len).map(|at| format!("{:02x}", (at * 7 + to * 101 + mix + 11) % 256)).collect()
}

/// The number of the association to a side.
fn spi(to: usize) -> usize {
    0x1000 + to
}

/// The file that has the key of the direction to a side, if it is to be read from there.
fn file(to: usize, knobs: &Knobs) -> Option<&'static str> {
    (knobs.get("key") == 0 && knobs.get("file") == 1).then_some(FILES[usize::from(to == WEST)])
}

/// The arguments that both ends of a direction have in common.
fn association(to: usize, knobs: &Knobs) -> String {
    let key = match file(to, knobs) {
        Some(file) => format!("KEYFILE {file}"),
        None => format!("KEY \\<{}>", key(to, knobs.get("key"), 0)),
    };
    format!("{}, {key}, ESN {}", spi(to), knobs.get("esn") == 1)
}

/// The same as IPsec has it, so many turns on.
fn words(to: usize, knobs: &Knobs, turn: u32) -> String {
    let key = match file(to, knobs).filter(|_| turn == 0) {
        Some(file) => format!("keyfile {file}"),
        None => format!("key {}", key(to, knobs.get("key"), turn)),
    };
    let esn = if knobs.get("esn") == 1 { " esn" } else { "" };
    format!("{} aes-gcm {key} reqid 7{esn}", spi(to) + turn as usize * NEXT)
}

/// How many turns on the youngest association of a gateway is: the one that protects. Those before are there, too.
fn turn(knobs: &Knobs) -> u32 {
    if knobs.get("element") == 1 { knobs.get("turn") } else { 0 }
}

/// IPsec's arguments. Associations are there for tunnels of both families: the other gateway may choose another one than this.
fn arguments(side: usize, knobs: &Knobs) -> String {
    let window = WINDOWS[knobs.get("window") as usize];
    // What is cut outside of the tunnel is protected whole.
    let mut arguments = vec![format!("COPY_DF {}", knobs.get("outside") == 0)];
    for (turn, six) in (0..=turn(knobs)).flat_map(|turn| [(turn, false), (turn, true)]) {
        let (own, peer) = sites::ends(six, side);
        arguments.push(format!("SA {own} {peer} {}", words(1 - side, knobs, turn)));
        arguments.push(format!("SA {peer} {own} {} window {window}", words(side, knobs, turn)));
    }
    let (own, peer) = sites::ends(knobs.get("six") == 1, side);
    for (six, length) in [(false, 24), (true, 64)] {
        let (near, far) = (sites::site(six, side, 0), sites::site(six, 1 - side, 0));
        arguments.push(format!("POLICY out {near}/{length} {far}/{length} protect {own} {peer} reqid 7"));
        arguments.push(format!("POLICY in {far}/{length} {near}/{length} protect 0.0.0.0 0.0.0.0 reqid 7"));
    }
    arguments.join(", ")
}

fn tunnel(side: usize, knobs: &Knobs) -> Tunnel {
    let six = knobs.get("six") == 1;
    let ((own, peer), (_, peer4)) = (sites::ends(six, side), sites::ends(false, side));
    let peer6 = sites::digits(sites::ends(true, side).1);
    let (esp, esp6) = (format!("src host {peer4} and ip proto 50"), format!("6/32 8/{peer6}"));
    if knobs.get("element") == 1 {
        let chain = format!(
            "[1]ipsec :: IPsec({}); ipsec[1] -> inner;
             ipsec[0] -> leaving :: Classifier(0/40%f0, -); leaving[0] -> routes; leaving[1] -> IP6Fragmenter({LINK_MTU}) -> routes6",
            arguments(side, knobs)
        );
        let heads = [0, 1].map(|_| "[0]ipsec".to_owned());
        return Tunnel {
            mtu: mtu(knobs),
            heads,
            tails: vec![(esp, chain)],
            tails6: vec![(esp6, "[1]ipsec".to_owned())],
        };
    }
    let outer = match six {
        false => format!("IPEncap(esp, {own}, {peer}) -> routes"),
        true => format!("IP6Encap(esp, {own}, {peer}) -> IP6Fragmenter({LINK_MTU}) -> routes6"),
    };
    let window = WINDOWS[knobs.get("window") as usize];
    let open = format!("open :: ESPDecap({}, WINDOW {window})", association(side, knobs));
    Tunnel {
        mtu: mtu(knobs),
        heads: [format!("seal :: ESPEncap({}) -> {outer}", association(1 - side, knobs)), "seal".to_owned()],
        tails: vec![(esp, format!("StripIPHeader -> {open} -> inner"))],
        tails6: vec![(esp6, "StripIPHeader -> open".to_owned())],
    }
}

fn transit(knobs: &Knobs) -> String {
    let (marks, mischief) = (MARKS[knobs.get("mark") as usize], MISCHIEF[knobs.get("mischief") as usize]);
    let passing = |side: usize| [0, 1].map(|six| format!("{} -> to{side}{six} :: Mischief{six}", marks[six]));
    let class = |six: usize, esp: &str, at: usize| {
        let body = mischief.replace("$at", &at.to_string());
        format!(
            "elementclass Mischief{six} {{ input -> esp :: Classifier({esp}, -); {body} esp[1] -> output; }}\n"
        )
    };
    let (class4, class6) = (class(0, "9/32", 20 + 24), class(1, "6/32", 40 + 24));
    format!("{class4}{class6}{}", sites::transit(knobs, LINK_MTU, [passing(WEST), passing(EAST)]))
}

/// What the gateways must do, and what may happen between them.
#[derive(Clone)]
struct Associations {
    /// What each router's configuration is made of.
    knobs: [Knobs; 3],
    /// Whether numbers in the direction to a side began anew, and the other end waits for greater ones.
    behind: [bool; 2],
    /// When numbers in the direction to a side last began anew; `None` if that is just now.
    anew_ns: [Option<i64>; 2],
    /// Whether the gateway of a side forgets just now which numbers have come.
    forgets: [bool; 2],
    /// Whether the gateway of a side forgets it just now of some associations only.
    unlearns: [bool; 2],
    /// Whether the gateway of a side has given up associations, whose numbers begin anew when it gets them again.
    lowered: [bool; 2],
    /// Packets that wait for associations.
    early: Early,
    /// When the gateway of a side last forgot which numbers had come: it may take packets again that were sent before.
    forgot_ns: [i64; 2],
    /// When the attacker last gave up repeating packets; `None` if that is just now.
    repeated_ns: Option<i64>,
    /// Whether some router is just being replaced.
    changing: bool,
    /// Whether packets that are late on purpose are just lost.
    losing: bool,
    /// Whether any router was replaced or began anew.
    swapped: bool,
}

impl Associations {
    fn mischief(&self) -> u32 {
        self.knobs[TRANSIT].get("mischief")
    }

    /// Whether packets that were sent at some time or later may have been repeated.
    fn repeated(&self, since_ns: i64) -> bool {
        [AT_ONCE, AGAIN].contains(&self.mischief()) || self.repeated_ns.is_none_or(|at_ns| at_ns >= since_ns)
    }

    fn passage(&self, side: usize, sent: &Sent) -> Passage {
        let (from, to) = (&self.knobs[side], &self.knobs[1 - side]);
        if from.get("key") != to.get("key") {
            return Passage::Lost;
        }
        if turn(from) > turn(to) {
            // Perhaps the association comes while the packet waits, see `early`.
            return if to.get("element") == 1 { Passage::Open } else { Passage::Lost };
        }
        // A part that was changed may win over the right one.
        let cut = from.get("outside") == 1 && sent.look.len > INSIDE[1];
        let late = self.mischief() == LATE && to.get("window") > 0;
        let mangled = self.mischief() == CHANGED || cut && self.mischief() == AHEAD;
        if self.behind[1 - side] || self.losing || mangled || late {
            return Passage::Open;
        }
        let (inner, marked) = (sent.look.ecn, self.knobs[TRANSIT].get("mark"));
        let outer = [inner, CE, 1][marked as usize];
        sites::mark_behind(inner, outer).map_or(Passage::Lost, Passage::Comes)
    }

    /// The gateway of a side begins its numbers anew, and forgets those of the other.
    fn renew(&mut self, side: usize) {
        (self.behind[1 - side], self.anew_ns[1 - side]) = (true, None);
        self.forgets[side] = true;
        self.early.give_up();
    }

    /// Whether what comes to a side now waits for its association.
    fn waits_at(&self, to: usize) -> bool {
        let [from, to] = [1 - to, to].map(|side| &self.knobs[side]);
        from.get("key") == to.get("key") && turn(from) > turn(to) && to.get("element") == 1
    }

    /// A gateway that goes on gets associations, or gives some up.
    fn turns(&mut self, side: usize, old: &Knobs, new: &Knobs) {
        match turn(old).cmp(&turn(new)) {
            Ordering::Less if self.lowered[side] => {
                (self.behind[1 - side], self.anew_ns[1 - side]) = (true, None);
                self.early.give_up();
            }
            Ordering::Less => self.early.open(side),
            Ordering::Equal => {}
            Ordering::Greater => {
                (self.unlearns[side], self.lowered[side]) = (true, true);
                self.early.give_up();
            }
        }
    }
}

impl Model for Associations {
    fn fate(&self, sent: &Sent) -> Fate {
        let mtus = [WEST, EAST].map(|side| mtu(&self.knobs[side]));
        sites::fate(sent, mtus, |side, sent| self.passage(side, sent))
    }

    fn keeps_order(&self, _: &Sent) -> bool {
        !self.changing && self.mischief() != LATE
    }

    /// Workers of the other gateway take numbers for packets that wait for a neighbour, each on its own: when these go on, they go worker by
    /// worker, and 64 numbers are not many. The greater window has room for all that waits.
    fn overtaken(&self, machine: usize) -> &'static [&'static str] {
        let knobs = &self.knobs[machine];
        match (knobs.get("window"), knobs.get("esn")) {
            _ if machine == TRANSIT => &[],
            (0, _) => &[],
            // With extended numbers it is taken for one of the next 2^32.
            (_, 1) if ![AHEAD, CHANGED].contains(&self.mischief()) => &["too old", "was changed"],
            _ => &["too old"],
        }
    }

    fn write(&mut self, _: usize, _: &str, _: &str) -> Verdict {
        Verdict::Either
    }

    fn swap(&mut self, machine: usize, old: &Knobs, new: &Knobs) -> Verdict {
        let differs = |name: &str| old.get(name) != new.get(name);
        let is_gateway = machine != TRANSIT;
        let (is_ipsec, mut loses) = (is_gateway && new.get("element") == 1, false);
        if is_gateway && (differs("key") || differs("element")) {
            self.renew(machine);
        } else if is_ipsec {
            // Each family has its own numbers there, and the other end may have one window for both.
            self.behind[1 - machine] |= differs("six");
            // With another window, what is late counts as come.
            loses = differs("window");
        }
        if is_gateway {
            self.turns(machine, old, new);
        } else if old != new {
            self.early.give_up();
        }
        if !is_gateway && [AT_ONCE, AGAIN].contains(&old.get("mischief")) {
            self.repeated_ns = None;
        }
        self.losing = loses || !is_gateway && old.get("mischief") == LATE && differs("mischief");
        self.knobs[machine] = new.clone();
        (self.changing, self.swapped) = (true, true);
        Verdict::Succeeds
    }

    fn restart(&mut self, machine: usize) {
        if machine != TRANSIT {
            self.renew(machine);
        }
        self.swapped = true;
    }

    fn settle(&mut self, now_ns: i64) {
        (self.changing, self.losing) = (false, false);
        for side in [WEST, EAST] {
            let anew_ns = *self.anew_ns[side].get_or_insert(now_ns);
            // Greater numbers than the new ones may still be on their way.
            let is_over = anew_ns.saturating_add(UNDER_WAY_NS) < now_ns;
            if std::mem::take(&mut self.forgets[side]) {
                self.forgot_ns[side] = now_ns;
                self.behind[side] &= !is_over;
            }
            if std::mem::take(&mut self.unlearns[side]) {
                self.forgot_ns[side] = now_ns;
            }
            self.settle_early(side, now_ns);
        }
        self.repeated_ns.get_or_insert(now_ns);
    }

    /// The attacker makes one copy of each packet. A gateway takes both if it has forgotten between them that the first has come.
    fn copies(&self, way: [IpAddr; 2], since_ns: i64) -> usize {
        let [Some((from, _)), Some((to, _))] = way.map(sites::place) else { return 0 };
        let takes_again = from != to && self.forgot_ns[to] >= since_ns;
        usize::from(takes_again && self.repeated(since_ns))
    }

    /// What was repeated or changed is dropped by the gateway where it came, for a right reason.
    fn at_end(&self, machines: &mut [Machine], ledger: &Ledger, calm: bool) -> Vec<String> {
        if !calm {
            return Vec::new();
        }
        let mut wrong = self.missing(ledger);
        if self.swapped || self.knobs[TRANSIT].get("outside") == 1 {
            return wrong;
        }
        for side in [WEST, EAST] {
            let mut copies = 0;
            for six in 0..2 {
                let count = machines[TRANSIT].read(&format!("to{side}{six}/copies.count"));
                copies += count.ok().and_then(|count| count.trim().parse::<u64>().ok()).unwrap_or(0);
            }
            let drops = machines[side]
                .drops()
                .into_iter()
                .filter(|(element, ..)| element == "open" || element == "ipsec");
            // What is behind the window is taken for one of the next 2^32 (RFC 4303, appendix A2.2), with another half of its number.
            let extended = self.knobs[side].get("esn") > 0;
            let expected: &[&str] = match self.mischief() {
                AT_ONCE | AGAIN if extended => &["has come before", "too old", "was changed"],
                AT_ONCE | AGAIN => &["has come before", "too old"],
                AHEAD => &["was changed", "has come before"],
                LATE => &["too old"],
                CHANGED => &["was changed"],
                _ => &[],
            };
            let (right, others): (Vec<_>, Vec<_>) =
                drops.partition(|(_, reason, _)| expected.contains(reason));
            let congested = |reason: &str| reason.starts_with("congestion");
            wrong.extend(
                others
                    .iter()
                    .filter(|(_, reason, _)| !congested(reason))
                    .map(|drop| format!("on side {side}: {drop:?}")),
            );
            let dropped: u64 = right.iter().map(|(_, _, count)| count).sum();
            if (1..LATE).contains(&self.mischief()) && dropped != copies {
                wrong.push(format!(
                    "{copies} copies came to side {side}, and {dropped} were dropped: {right:?}"
                ));
            }
        }
        wrong
    }

    fn kept(&self, machine: usize, old: &Knobs, new: &Knobs) -> Vec<String> {
        let differs = |name: &str| old.get(name) != new.get(name);
        let more: &[&str] = match new.get("element") {
            _ if machine == TRANSIT || differs("key") || differs("element") => &[],
            0 => &["seal.sequence", "open.sequence"],
            _ if differs("turn") => &["ipsec.policies"],
            _ if differs("six") => &["ipsec.associations"],
            _ => &["ipsec.associations", "ipsec.policies"],
        };
        ["routes.table", "routes6.table"].iter().chain(more).map(|&path| path.to_owned()).collect()
    }

    fn copy(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}
