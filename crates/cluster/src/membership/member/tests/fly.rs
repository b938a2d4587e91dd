//! Members of an n-fly, and packets that go from one to the next as each of them believes.

use super::*;
use crate::choice::{Chooser, OrderPolicy, Path, Settings};
use crate::label::{Label, Stamp};
use crate::membership::settled;
use crate::transit::{self, Next};
use proptest::prelude::*;

/// A fly whose nodes talk.
struct Fly {
    topology: Topology,
    members: Vec<Member>,
    now: u64,
    dead: Vec<NodeId>,
    /// Cables.
    cut: Vec<(NodeId, NodeId)>,
    /// Bytes that a frame has room for.
    most: usize,
}

impl Fly {
    fn new(terminals: usize, fanout: usize) -> Fly {
        Fly::with_frames(terminals, fanout, 1_498)
    }

    fn with_frames(terminals: usize, fanout: usize, most: usize) -> Fly {
        let topology = Topology::fly(terminals, fanout);
        let nodes = topology.nodes() as NodeId;
        let member = |me| {
            let (roster, key) = (Roster::simple(nodes), Key::new(b"key"));
            Member::new(me, 100 + u64::from(me), &topology, &roster, key, Timing::default(), 0)
        };
        let members = (0..nodes).map(member).collect();
        let mut fly = Fly { members, topology, now: 0, dead: vec![], cut: vec![], most };
        fly.talk(400);
        assert!(fly.members.iter().all(Member::is_active));
        fly
    }

    fn is_whole(&self, a: NodeId, b: NodeId) -> bool {
        let is_dead = |node| self.dead.contains(&node);
        !is_dead(a) && !is_dead(b) && !self.cut.contains(&(a, b)) && !self.cut.contains(&(b, a))
    }

    /// So many milliseconds pass.
    fn talk(&mut self, ms: u64) {
        for _ in 0..ms / 10 {
            self.now += 10 * MS;
            for sender in (0..self.members.len() as NodeId).filter(|node| !self.dead.contains(node)) {
                self.members[usize::from(sender)].tick(self.now);
                let frames = self.members[usize::from(sender)].frames(self.most);
                for receiver in self.topology.neighbours(sender) {
                    if self.is_whole(sender, receiver) {
                        let receiver = &mut self.members[usize::from(receiver)];
                        for bytes in &frames {
                            let _ = receiver.receive(self.now, sender, bytes);
                        }
                    }
                }
            }
        }
    }

    fn chooser(&self, me: NodeId, order: OrderPolicy) -> Chooser {
        let settings = Settings { order, ..Settings::new(10_000_000_000, 10_000_000_000) };
        Chooser::new(self.topology.clone(), self.members[usize::from(me)].view(), settings)
    }

    /// The link by which new flows of a terminal go to another.
    fn onward(&self, me: NodeId, to: NodeId) -> Option<usize> {
        self.members[usize::from(me)].view().first_link(to)
    }

    /// The nodes that a packet visits behind its ingress node, and whether it arrives.
    fn walk(&self, from: NodeId, to: NodeId, path: Path, link: usize) -> (Vec<NodeId>, bool) {
        let stamp = if let Path::Via(via) = path { Stamp::Via(via) } else { Stamp::None };
        let hops = self.topology.max_hops() as u8 - 1;
        let mut label = Label { egress: to, port: 0, ingress: from, hops, stamp };
        let (mut at, mut link, mut way) = (from, link, Vec::new());
        loop {
            let next = self.topology.neighbour(usize::from(at), link) as NodeId;
            if !self.is_whole(at, next) || !self.members[usize::from(next)].accepts(at) {
                return (way, false);
            }
            way.push(next);
            at = next;
            match transit::next(&self.topology, at, label) {
                Next::Deliver => return (way, at == to),
                Next::Forward(own, onward) => {
                    label = onward;
                    link = if self.topology.is_terminal(at) {
                        self.onward(at, to).expect("a link")
                    } else {
                        own
                    };
                }
                Next::Exhausted | Next::Astray => return (way, false),
            }
        }
    }

    /// All ways that a terminal would choose end at the egress. How many terminals are reached, of all pairs.
    fn check(&self) -> usize {
        let mut reached = 0;
        let alive = |node: &NodeId| !self.dead.contains(node) && self.members[usize::from(*node)].is_active();
        for from in (0..self.topology.terminals() as NodeId).filter(alive) {
            let mut chooser = self.chooser(from, OrderPolicy::None);
            for to in (0..self.topology.terminals() as NodeId).filter(|&to| to != from) {
                let mut arrives = false;
                for packet in 0..12 {
                    // Three straight ones fit into the allowance; others are balanced.
                    let at = (u64::from(to) * 12 + packet) * 10_000;
                    let Ok(decision) = chooser.choose(at, packet, to, 9_000) else { continue };
                    let (way, arrived) = self.walk(from, to, decision.path, decision.link);
                    assert!(
                        arrived,
                        "{from} to {to} by {decision:?}: {way:?}, dead {:?}, cut {:?}",
                        self.dead, self.cut
                    );
                    let half =
                        |via| way.split(|&node| node == via).map(<[NodeId]>::to_vec).collect::<Vec<_>>();
                    let halves = if let Path::Via(via) = decision.path { half(via) } else { vec![way] };
                    for mut part in halves {
                        let length = part.len();
                        part.sort_unstable();
                        part.dedup();
                        assert_eq!(part.len(), length, "no node twice in either half");
                    }
                    arrives = true;
                }
                reached += usize::from(arrives);
            }
        }
        reached
    }
}

/// Nodes between terminals that die are gone round, whichever dies and whatever the destination; a terminal that dies is no stopover any more.
#[test]
fn dead_nodes_are_gone_round() {
    for dead in 0..12 {
        let mut fly = Fly::new(4, 2);
        assert_eq!(fly.check(), 12);
        fly.dead.push(dead);
        fly.talk(100);
        let expected = if fly.topology.is_terminal(dead) { 6 } else { 12 };
        assert_eq!(fly.check(), expected, "{dead}");
    }
}

/// A cut cable costs nothing but its own capacity, and is used again when it is whole.
#[test]
fn cut_cables_are_gone_round() {
    let mut fly = Fly::new(9, 3);
    for (from, to) in [(0, 10), (9, 18), (20, 1)] {
        let default = fly.topology.link_to(from, to).expect("a link");
        let used = |fly: &Fly| {
            fly.topology.is_terminal(from) && (0..9).any(|to| fly.onward(from, to) == Some(default))
        };
        fly.cut.push((from, to));
        fly.talk(100);
        assert_eq!(fly.check(), 72);
        assert!(!used(&fly));
        fly.cut.clear();
        fly.talk(100);
        assert_eq!(fly.check(), 72);
        assert_eq!(used(&fly), from == 0);
    }
}

/// A terminal without any way of its own to another uses a stopover that has one, and is none for others.
#[test]
fn terminals_that_lack_one() {
    let mut fly = Fly::new(8, 2);
    // To terminals 0 and 1 lead nodes 24 and 25; to 25 lead ways from terminals 6 and 7 by node 15 only.
    fly.dead.extend([24, 15]);
    fly.talk(200);
    let view = fly.members[6].view();
    assert!(!view.direct(0) && view.via(2, 0) && !view.transit(7) && view.direct(7));
    assert!(fly.members[0].view().transit(1) && !fly.members[0].view().transit(6));
    assert_eq!(fly.check(), 56);
}

/// A terminal that does not run while it lacks one for a moment does not conclude that it lacks that one for good.
#[test]
fn pauses_are_no_lack() {
    let mut fly = Fly::new(8, 2);
    let pause = |fly: &mut Fly| {
        fly.now += 1_000 * MS;
        fly.members[6].tick(fly.now);
        fly.members[6].is_stopover()
    };
    // As in `terminals_that_lack_one`, but terminal 6 has only just noticed.
    fly.dead.extend([24, 15]);
    while fly.members[6].lacking_ns.is_none() {
        fly.talk(10);
    }
    assert!(pause(&mut fly));
    fly.talk(200);
    assert!(!fly.members[6].is_stopover());
}

/// Frames that come against the direction of a link are not accepted.
#[test]
fn links_have_one_direction() {
    let fly = Fly::new(4, 2);
    assert!(fly.members[4].accepts(0) && !fly.members[0].accepts(4) && fly.members[0].accepts(8));
    assert!(fly.members[0].is_connected(4) && !fly.members[0].is_connected(5 + 7));
}

/// A node between that drains gets nothing new while there are other ways, and what is under way arrives; a flow that goes through
/// it stays until it leaves.
#[test]
fn nodes_between_drain() {
    let mut fly = Fly::new(4, 2);
    let mut chooser = fly.chooser(1, OrderPolicy::Flowlet);
    let first = chooser.choose(0, 5, 2, 100).expect("a way");
    let through = fly.topology.neighbour(1, first.link) as NodeId;
    let now = fly.now;
    fly.members[usize::from(through)].drain(now);
    fly.talk(30);
    chooser.set_view(fly.members[1].view());
    assert_eq!(chooser.choose(MS, 5, 2, 100), Ok(first));
    assert!((0..4).all(|to| fly.onward(1, to) != Some(first.link)), "new flows go elsewhere");
    assert!(fly.walk(1, 2, first.path, first.link).1);
    fly.talk(300);
    assert_eq!(fly.members[usize::from(through)].phase(), Phase::Left);
    chooser.set_view(fly.members[1].view());
    assert_ne!(chooser.choose(2 * MS, 5, 2, 100).map(|decision| decision.link), Ok(first.link));
    assert_eq!(fly.check(), 12);
}

/// A terminal that drains is no stopover for new flows, and what ends there still arrives.
#[test]
fn a_draining_terminal_is_no_stopover_and_still_an_egress() {
    let mut fly = Fly::new(4, 2);
    let now = fly.now;
    fly.members[3].drain(now);
    fly.talk(50);
    let view = fly.members[0].view();
    assert!(view.direct(3) && !view.via(3, 1) && view.via_still(3, 1));
    fly.talk(300);
    assert!(!fly.members[0].view().direct(3));
    assert_eq!(fly.check(), 6);
}

/// All terminals hear of another life of one, also those that have no cable to its neighbours, and only once, before packets may come
/// in there.
#[test]
fn lives_go_round() {
    for (terminals, fanout) in [(4, 2), (40, 7)] {
        let mut fly = Fly::new(terminals, fanout);
        fly.talk(200);
        fly.members.iter_mut().for_each(|member| drop(member.take_events()));
        let (roster, key) = (Roster::simple(fly.topology.nodes() as NodeId), Key::new(b"key"));
        // Two rounds of all lives for each level.
        let timing = Timing { announce_ns: 20 * MS + 2 * 3 * 3 * 10 * MS, ..Timing::default() };
        fly.members[2] = Member::new(2, 1_000, &fly.topology, &roster, key, timing, fly.now);
        while !fly.members[2].is_active() {
            fly.talk(10);
        }
        for node in (0..fly.topology.terminals()).filter(|&node| node != 2) {
            let mut events = fly.members[node].take_events();
            events.retain(|event| matches!(event, Event::Restarted(_)));
            assert_eq!(events, [Event::Restarted(2)], "{node} of {terminals}");
        }
    }
}

/// A node that restarts takes part again, and a second one of its number stays out, whatever their clocks say, also where hellos come in
/// parts; one of which a part is lost is counted, and the next one is believed.
#[test]
fn hellos_in_parts() {
    let mut fly = Fly::with_frames(4, 2, 80);
    assert!(fly.members[4].frames(80).len() > 2);
    let fresh = |fly: &Fly, incarnation| {
        let (roster, key) = (Roster::simple(12), Key::new(b"key"));
        Member::new(4, incarnation, &fly.topology, &roster, key, Timing::default(), fly.now)
    };
    for incarnation in [5, 5, 104, 900 << 40, 7] {
        fly.members[4] = fresh(&fly, incarnation);
        // It waits until nothing is heard of the life before, whose number it may have.
        fly.talk(600);
        assert!(fly.members[4].is_active() && fly.members[0].is_connected(4), "{incarnation}");
        assert_eq!(fly.check(), 12);
    }
    for incarnation in [1, u64::MAX >> 1] {
        let mut twin = fresh(&fly, incarnation);
        for _ in 0..40 {
            fly.talk(10);
            twin.tick(fly.now);
            for other in fly.topology.neighbours(4).into_iter().map(usize::from) {
                let (frames, now) = ((twin.frames(80), fly.members[4].frames(80)), fly.now);
                // Parts of both come in turn.
                for bytes in frames.0.iter().zip(&frames.1).flat_map(|(a, b)| [a, b]) {
                    let _ = fly.members[other].receive(now, 4, bytes);
                }
                let frames = fly.members[other].frames(80);
                for bytes in &frames {
                    let _ = twin.receive(now, other as NodeId, bytes);
                }
            }
        }
        assert!(fly.members[4].is_active() && !twin.is_active(), "{incarnation}");
    }
    let before = fly.members[0].counts().incomplete;
    for _ in 0..3 {
        let frames = fly.members[4].frames(80);
        let now = fly.now;
        frames[1..].iter().for_each(|bytes| fly.members[0].receive(now, 4, bytes).expect("believed"));
        assert_eq!(fly.members[0].receive(now, 4, &frames[1]), Err(Rejected::Replayed(4)));
    }
    assert_eq!(fly.members[0].counts().incomplete, before + 2);
    let frames = fly.members[4].frames(80);
    let (now, first) = (fly.now, frames[0].clone());
    frames.iter().for_each(|bytes| fly.members[0].receive(now, 4, bytes).expect("believed"));
    assert_eq!(fly.members[0].receive(now, 4, &first), Err(Rejected::Replayed(4)));
    assert_eq!(fly.members[0].receive(now, 5, &first), Err(Rejected::WrongLink(4)));
    assert_eq!(fly.members[1].receive(now, 40, &first[..60]), Err(Rejected::Stranger(Malformed::Code)));
    assert_eq!(fly.members[1].receive(now, 4, &first[..30]), Err(Rejected::Stranger(Malformed::Form)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever is dead or cut, once nodes know, no packet is sent where it would be lost, or comes to a node twice in a half of its
    /// way; and a node that has a way straight or by a node that has all ways has one.
    #[test]
    fn no_way_leads_nowhere(
        size in 3usize..10, fanout in 2usize..4, most in prop_oneof![Just(1_498), 60usize..130],
        dead in proptest::collection::vec(any::<u16>(), 0..3), cut in proptest::collection::vec(any::<(u16, u16)>(), 0..4),
    ) {
        let mut fly = Fly::with_frames(size, fanout, most);
        let nodes = fly.topology.nodes() as NodeId;
        fly.dead = dead.iter().map(|node| node % nodes).collect();
        for (a, b) in cut {
            let around = fly.topology.neighbours(a % nodes);
            fly.cut.push((a % nodes, around[usize::from(b) % around.len()]));
        }
        fly.talk(300);
        fly.check();
        // What is computed for simulations is what nodes come to know by telling each other.
        let settled = settled(&fly.topology, |a, b| fly.is_whole(a, b));
        for node in (0..size as NodeId).filter(|node| !fly.dead.contains(node)) {
            let member = &fly.members[usize::from(node)];
            prop_assert!(!member.is_active() || member.view() == settled[usize::from(node)], "{}", node);
        }
    }
}
