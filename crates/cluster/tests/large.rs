//! Flies of 1,024 nodes, all of which talk, or some of which do.

use cluster::NodeId;
use cluster::membership::{Hello, Key, Member, Rejected, Roster, Timing, most_in_frames, settled};
use cluster::topology::Topology;
use std::collections::BTreeSet;

const MS: u64 = 1_000_000;

fn member(me: NodeId, topology: &Topology, roster: &Roster) -> Member {
    let timing = Timing { listen_ns: 20 * MS, hold_ns: 30 * MS, ..Timing::default() };
    Member::new(me, 100, topology, roster, Key::new(b"key"), timing, 0)
}

/// A fly whose nodes talk.
struct Fly {
    topology: Topology,
    cables: Vec<Vec<NodeId>>,
    members: Vec<Member>,
    dead: BTreeSet<NodeId>,
    cut: (NodeId, NodeId),
    now: u64,
}

impl Fly {
    fn is_whole(&self, a: NodeId, b: NodeId) -> bool {
        let is_cut = self.cut == (a, b) || self.cut == (b, a);
        !is_cut && !self.dead.contains(&a) && !self.dead.contains(&b)
    }

    /// All say hello, in two parts, those first that packets come to last: one round tells all terminals what has changed.
    fn round(&mut self) {
        self.now += 10 * MS;
        for sender in (0..self.members.len()).rev().filter(|&node| !self.dead.contains(&(node as NodeId))) {
            self.members[sender].tick(self.now);
            let frames = self.members[sender].frames(300);
            for at in 0..self.cables[sender].len() {
                let receiver = self.cables[sender][at];
                if !self.is_whole(sender as NodeId, receiver) {
                    continue;
                }
                for bytes in &frames {
                    let heard =
                        self.members[usize::from(receiver)].receive(self.now, sender as NodeId, bytes);
                    assert_eq!(heard, Ok(()));
                }
            }
        }
    }
}

/// 256 terminals and 768 nodes between them find each other, hellos in parts; when nodes of each level die and a cable is cut, each
/// terminal comes to know what a computation over the whole fly knows.
#[test]
fn all_of_1024_nodes() {
    let topology = Topology::fly(256, 8);
    assert_eq!(topology.nodes(), 1_024);
    let roster = Roster::simple(1_024);
    let mut fly = Fly {
        cables: (0..1_024).map(|me| topology.neighbours(me)).collect(),
        members: (0..1_024).map(|me| member(me, &topology, &roster)).collect(),
        dead: BTreeSet::new(),
        cut: (0, 0),
        now: 0,
        topology,
    };
    (0..6).for_each(|_| fly.round());
    assert!(fly.members.iter().all(Member::is_active));
    assert!((1..4).all(|parts| fly.members[parts * 256].frames(300).len() == 2));
    fly.dead.extend([17, 300, 700, 900]);
    fly.cut = (3, fly.topology.neighbour(3, 1) as NodeId);
    (0..10).for_each(|_| fly.round());
    let settled = settled(&fly.topology, |a, b| fly.is_whole(a, b));
    for terminal in (0..256).filter(|terminal| !fly.dead.contains(&(*terminal as NodeId))) {
        assert_eq!(fly.members[terminal].view(), settled[terminal], "{terminal}");
    }
    assert!(!settled[0].direct(17) && settled[0].direct(3));
}

/// In a fly of one level each of 1,024 nodes has 512 cables. What a node says that hears many of them takes several frames as they are on
/// cables; a node believes it once all have come, in whatever order.
#[test]
fn as_many_cables_as_terminals() {
    let topology = Topology::fly(512, 512);
    assert_eq!((topology.nodes(), topology.neighbours(0).len()), (1_024, 512));
    let roster = Roster::simple(1_024);
    let mut between = member(512, &topology, &roster);
    let mut terminals: Vec<Member> = (0..200).map(|me| member(me, &topology, &roster)).collect();
    for (me, terminal) in (0..).zip(&mut terminals) {
        let frames = terminal.frames(1_498);
        assert_eq!(frames.len(), 1);
        between.receive(MS, me, &frames[0]).expect("believed");
    }
    let hello = between.hello();
    assert!(hello.len() > 1_498 && hello.len() <= Hello::most_bytes(512, Some(512)));
    let frames = between.frames(1_498);
    assert_eq!(frames.len(), 2);
    let terminal = &mut terminals[7];
    assert_eq!(terminal.receive(2 * MS, 512, &frames[1]), Ok(()));
    assert_eq!(terminal.receive(2 * MS, 512, &frames[1]), Err(Rejected::Replayed(512)));
    assert!(Hello::decode(&terminal.hello(), &Key::new(b"key")).is_ok_and(|hello| hello.heard.is_empty()));
    assert_eq!(terminal.receive(2 * MS, 512, &frames[0]), Ok(()));
    let hears = Hello::decode(&terminal.hello(), &Key::new(b"key")).expect("its own");
    assert_eq!(hears.heard.iter().map(|heard| heard.node).collect::<Vec<_>>(), [512]);
    // All nodes together: the longest hello of a fly of 1,024 terminals fits.
    assert!(Hello::most_bytes(1_024, Some(1_024)) <= most_in_frames(1_498));
}
