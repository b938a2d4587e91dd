use super::*;

const MS: u64 = 1_000_000;

fn member(me: NodeId, incarnation: u64, now: u64) -> Member {
    let mesh = Topology::Mesh { nodes: 3 };
    Member::new(me, incarnation, &mesh, &Roster::simple(3), Key::new(b"key"), Timing::default(), now)
}

/// Lets nodes talk, every ten milliseconds, each hearing all others but for pairs that are cut.
fn talk(nodes: &mut [Member], from: u64, until: u64, cut: &[(usize, usize)]) {
    for now in (from..until).step_by(10 * MS as usize) {
        for sender in 0..nodes.len() {
            nodes[sender].tick(now);
            let bytes = nodes[sender].hello();
            for receiver in (0..nodes.len()).filter(|&receiver| receiver != sender) {
                if !cut.contains(&(sender, receiver)) && !cut.contains(&(receiver, sender)) {
                    let link = nodes[sender].me;
                    let _ = nodes[receiver].receive(now, link, &bytes);
                }
            }
        }
    }
}

fn three() -> Vec<Member> {
    let mut nodes: Vec<_> = (0..3).map(|me| member(me, 100 + u64::from(me), 0)).collect();
    talk(&mut nodes, 0, 300 * MS, &[]);
    assert!(nodes.iter().all(Member::is_active));
    nodes
}

/// Nodes find each other; a cut link is known to both ends and, as reach, to the third; it comes back.
#[test]
fn links_come_and_go() {
    let mut nodes = three();
    assert!(nodes[0].view().direct(1) && nodes[0].view().via(2, 1));
    talk(&mut nodes, 300 * MS, 380 * MS, &[(0, 1)]);
    assert!(!nodes[0].view().direct(1) && nodes[0].view().via(2, 1));
    assert!(!nodes[2].view().via(0, 1) && nodes[2].view().direct(1));
    talk(&mut nodes, 380 * MS, 420 * MS, &[]);
    assert!(nodes[0].view().direct(1) && nodes[2].view().via(0, 1));
}

/// A node that did not run for a while gives up no peer for that, if it hears them then; and one that is dead all the same within
/// the hold time of its own running.
#[test]
fn pauses_are_no_silence() {
    for pause in [60, 1_000] {
        let mut nodes = three();
        let resumed = (290 + pause) * MS;
        // What the others said meanwhile is read after the first tick.
        let said: Vec<_> = [1, 2].map(|node: usize| (nodes[node].me, nodes[node].hello())).into();
        nodes[0].tick(resumed);
        assert_eq!(
            nodes[0].counts(),
            Counts { pauses: 1, longest_pause_ns: pause * MS, ..Counts::default() }
        );
        assert!(nodes[0].view().direct(1) && nodes[0].view().direct(2));
        let (node, bytes) = &said[0];
        nodes[0].receive(resumed + MS, *node, bytes).expect("good");
        for now in (resumed + 10 * MS..=resumed + 40 * MS).step_by(10 * MS as usize) {
            nodes[0].tick(now);
        }
        // Node 2 was really silent.
        assert!(nodes[0].view().direct(1) && !nodes[0].view().direct(2));
        assert_eq!(nodes[0].counts().given_up, 1);
    }
}

/// A node that did not run when it should have listened, or told others that it takes part, does so afterwards: packets that come in at
/// it sooner would be those of a stranger, or of a former life.
#[test]
fn pauses_are_no_time_to_join() {
    let mut nodes = three();
    nodes[0] = member(0, 900, 300 * MS);
    // It was started long ago, but has not run; the others hear it at once.
    talk(&mut nodes[1..], 300 * MS, 700 * MS, &[]);
    talk(&mut nodes, 700 * MS, 820 * MS, &[]);
    assert_eq!(nodes[0].phase(), Phase::Listening);
    let mut now = 820 * MS;
    while nodes[0].phase() == Phase::Listening {
        talk(&mut nodes, now, now + 10 * MS, &[]);
        now += 10 * MS;
    }
    let resumed = now + 1_000 * MS;
    talk(&mut nodes[1..], now, resumed, &[]);
    nodes[0].tick(resumed);
    assert!(!nodes[0].is_active());
    talk(&mut nodes, resumed, resumed + 30 * MS, &[]);
    assert!(nodes[0].is_active());
}

/// A node that has not begun to talk does not pause, and who is given up is told with the last hello of it.
#[test]
fn what_there_was_to_note() {
    let mut node = member(0, 100, 0);
    node.tick(900 * MS);
    assert_eq!(node.counts(), Counts::default());
    let mut nodes = three();
    let said = nodes[2].hellos();
    talk(&mut nodes[..2], 300 * MS, 400 * MS, &[]);
    assert!(nodes[0].take_events().contains(&Event::GivenUp { node: 2, hello: said }));
}

/// Also on a machine on which it is always late, a node that is dead is given up: each time counts for something.
#[test]
fn silence_adds_up() {
    let mut nodes = three();
    let late = (300..).step_by(40).find(|&now| {
        nodes[0].tick(now * MS);
        nodes[0].counts().given_up == 2
    });
    // Of the 130 ms since node 0 last heard anything, 10 and three times 20 count.
    assert_eq!(late, Some(420));
}

/// A cut in one direction only is a cut.
#[test]
fn links_are_up_both_ways() {
    let mut nodes = three();
    for now in (300 * MS..380 * MS).step_by(10 * MS as usize) {
        nodes[1].tick(now);
        let bytes = nodes[1].hello();
        nodes[0].receive(now, 1, &bytes).expect("good");
        nodes[0].tick(now);
    }
    // Node 1 has not heard node 0 for long and says so.
    assert!(nodes[0].accepts(1) && !nodes[0].view().direct(1));
}

/// What is not authentic, comes over a wrong link or comes again is not believed.
#[test]
fn strangers_are_rejected() {
    let mut nodes = three();
    let good = nodes[1].hello();
    let mut forged = good.clone();
    forged[6] ^= 3;
    assert_eq!(nodes[0].receive(300 * MS, 2, &forged), Err(Rejected::Stranger(Malformed::Code)));
    assert_eq!(nodes[0].receive(300 * MS, 1, b"hi"), Err(Rejected::Stranger(Malformed::Form)));
    assert_eq!(nodes[0].receive(300 * MS, 2, &good), Err(Rejected::WrongLink(1)));
    assert_eq!(nodes[0].receive(300 * MS, 1, &good), Ok(()));
    assert_eq!(nodes[0].receive(300 * MS, 1, &good), Err(Rejected::Replayed(1)));
    let mesh = Topology::Mesh { nodes: 10 };
    let other = Member::new(9, 1, &mesh, &Roster::simple(10), Key::new(b"key"), Timing::default(), 0).hello();
    assert_eq!(nodes[0].receive(300 * MS, 9, &other), Err(Rejected::Unknown(9)));
}

/// A second node of the same number stays out, whether its life is older or younger; when the first dies, it takes over.
#[test]
fn duplicates_stay_out() {
    for incarnation in [50, 500] {
        let mut nodes = three();
        nodes.push(member(1, incarnation, 300 * MS));
        talk(&mut nodes, 300 * MS, 900 * MS, &[]);
        assert!(nodes[1].is_active() && !nodes[3].is_active(), "{incarnation}");
        let mut rest = vec![nodes.remove(0), nodes.remove(1), nodes.remove(1)];
        talk(&mut rest, 900 * MS, 1_500 * MS, &[]);
        assert!(rest[2].is_active(), "{incarnation}");
        assert!(rest[0].take_events().contains(&Event::Restarted(1)), "{incarnation}");
    }
}

/// Of two that wait to take over, one does.
#[test]
fn one_of_two_takes_over() {
    let mut nodes = three();
    nodes.extend([member(1, 50, 300 * MS), member(1, 60, 300 * MS)]);
    // No cable leads from one to the other.
    talk(&mut nodes, 300 * MS, 600 * MS, &[(3, 4)]);
    nodes.remove(1);
    talk(&mut nodes, 600 * MS, 1_500 * MS, &[(2, 3)]);
    assert_eq!(nodes[2..].iter().filter(|node| node.is_active()).count(), 1);
}

/// A node that restarts takes part again whatever its clock says: behind, as before, or ahead, and ahead and behind in turn. Its peers
/// hear of each life once.
#[test]
fn a_node_restarts_with_any_clock() {
    let mut nodes = three();
    let mut now = 300 * MS;
    for incarnation in [5, 5, 101, 900 << 40, 7, 800 << 40, 0] {
        nodes[0].take_events();
        nodes[1] = member(1, incarnation, now);
        talk(&mut nodes, now, now + 600 * MS, &[]);
        now += 600 * MS;
        assert!(
            nodes[1].is_active() && nodes[0].view().direct(1) && nodes[1].view().direct(0),
            "{incarnation}"
        );
        let restarts = nodes[0].take_events().iter().filter(|&&event| event == Event::Restarted(1)).count();
        assert_eq!(restarts, 1, "{incarnation}");
    }
}

/// What a stranger has recorded of former lives is not believed while the node is down, nor when it is back with a clock that is behind.
#[test]
fn former_lives_are_not_replayed() {
    let mut nodes = three();
    let record = |nodes: &mut Vec<Member>, now: u64| -> Vec<Vec<u8>> {
        let said: Vec<_> = (0..20).map(|_| nodes[1].hello()).collect();
        said.iter().for_each(|bytes| nodes[0].receive(now, 1, bytes).expect("good"));
        said
    };
    let mut recorded = record(&mut nodes, 300 * MS);
    nodes[1] = member(1, 5, 300 * MS);
    talk(&mut nodes, 300 * MS, 900 * MS, &[]);
    assert!(nodes[1].is_active());
    recorded.extend(record(&mut nodes, 900 * MS));
    let replay = |nodes: &mut Vec<Member>, from: u64| {
        for now in (from..from + 300 * MS).step_by(10 * MS as usize) {
            for bytes in &recorded {
                assert!(nodes[0].receive(now, 1, bytes).is_err());
            }
            talk(nodes, now, now + 10 * MS, &[]);
        }
    };
    replay(&mut nodes, 900 * MS);
    assert!(nodes[0].view().direct(1));
    let dead = nodes.remove(1);
    replay(&mut nodes, 1_200 * MS);
    assert!(!nodes[0].view().direct(1) && !nodes[0].accepts(1));
    // Life 6 was told of, and no hello of it recorded.
    nodes.push(member(1, 6, 1_500 * MS));
    replay(&mut nodes, 1_500 * MS);
    assert!(nodes[0].view().direct(1) && nodes[2].is_active() && nodes[2].incarnation > dead.incarnation);
}

/// A node that starts while a second node of a number tries to get in believes the one that takes part, whichever it hears
/// first.
#[test]
fn newcomers_believe_who_takes_part() {
    let mut nodes = three();
    let mut twin = member(1, 900, 300 * MS);
    let mut late = member(2, 901, 700 * MS);
    let bytes = twin.hello();
    assert_eq!(late.receive(700 * MS, 1, &bytes), Ok(()));
    let old = nodes[1].hello();
    assert_eq!(late.receive(701 * MS, 1, &old), Ok(()));
    assert_eq!(late.receive(702 * MS, 1, &twin.hello()), Err(Rejected::Duplicate(1)));
    assert_eq!(late.receive(702 * MS, 1, &bytes), Err(Rejected::Duplicate(1)));
    assert_eq!(late.receive(702 * MS, 1, &old), Err(Rejected::Replayed(1)));
}

/// A node that cannot be heard by most does not join.
#[test]
fn joining_takes_a_majority() {
    let mut nodes: Vec<_> = (0..3).map(|me| member(me, 100, 0)).collect();
    talk(&mut nodes, 0, 300 * MS, &[(0, 1), (0, 2)]);
    assert_eq!(nodes.iter().map(Member::is_active).collect::<Vec<_>>(), [false, false, false]);
    talk(&mut nodes, 300 * MS, 600 * MS, &[(0, 1)]);
    assert!(nodes[2].is_active());
}

/// Draining: nothing new, then nothing at all, then gone; at once no peer sends there any more.
#[test]
fn a_draining_node_is_sent_less_and_less_then_leaves() {
    let mut nodes = three();
    nodes[1].drain(300 * MS);
    talk(&mut nodes, 300 * MS, 330 * MS, &[]);
    let view = nodes[0].view();
    assert!(!view.via(1, 2) && view.direct(1) && view.via_still(1, 2));
    for now in [330, 360, 390] {
        nodes[1].passed(now * MS);
        talk(&mut nodes, now * MS, (now + 30) * MS, &[]);
    }
    assert_eq!(nodes[1].phase(), Phase::Draining);
    talk(&mut nodes, 420 * MS, 600 * MS, &[]);
    assert_eq!(nodes[1].phase(), Phase::Left);
    assert!(!nodes[0].view().direct(1));
    // Flows that never rest are moved in the end.
    let mut nodes = three();
    nodes[1].drain(300 * MS);
    for now in (300..5_400).step_by(30) {
        nodes[1].passed(now * MS);
        talk(&mut nodes, now * MS, (now + 30) * MS, &[]);
    }
    assert_eq!(nodes[1].phase(), Phase::Leaving);
    assert!(!nodes[0].view().via_still(1, 2) && nodes[0].view().direct(1));
}

/// A roster that no longer says that a node shall drain brings it back, from whatever phase; an operator's word stays.
#[test]
fn back_from_draining() {
    let roster = |version, drain| {
        let mut roster = Roster { version, ..Roster::simple(3) };
        roster.nodes.get_mut(&1).expect("there").drain = drain;
        roster
    };
    for waited in [10, 1_000] {
        let mut nodes = three();
        nodes[1].set_roster(&roster(2, true), 300 * MS);
        talk(&mut nodes, 300 * MS, (300 + waited) * MS, &[]);
        assert_eq!(nodes[1].phase(), if waited == 10 { Phase::Draining } else { Phase::Left });
        nodes[1].set_roster(&roster(3, false), 1_300 * MS);
        talk(&mut nodes, 1_300 * MS, 1_800 * MS, &[]);
        assert!(nodes[1].is_active() && nodes[0].view().via(1, 2) && nodes[0].view().direct(1));
    }
    let mut nodes = three();
    nodes[1].drain(300 * MS);
    nodes[1].set_roster(&roster(2, false), 310 * MS);
    assert_eq!(nodes[1].phase(), Phase::Draining);
}

mod fly;
