use super::*;
use crate::view::{Nodes, Peer};
use proptest::prelude::*;

const R: u64 = 10_000_000_000;
const POLICIES: [OrderPolicy; 5] =
    [OrderPolicy::None, OrderPolicy::Pinned, OrderPolicy::Flowlet, OrderPolicy::Quiet, OrderPolicy::Sequence];

fn chooser(nodes: usize, change: impl FnOnce(&mut Settings)) -> Chooser {
    let mut settings = Settings::new(R, 2 * R / nodes as u64);
    change(&mut settings);
    Chooser::new(Topology::Mesh { nodes }, View::whole(0, nodes), settings)
}

/// Sends at a share of the line rate for a hundred milliseconds; packets by way.
fn send(chooser: &mut Chooser, percent: u64, egress: NodeId) -> Vec<Decision> {
    let step = 1_000 * 8 * 1_000_000_000 / R * 100 / percent;
    let times = (0..100_000_000).step_by(step as usize);
    times.filter_map(|now| chooser.choose(now, now / step % 97, egress, 1_000).ok()).collect()
}

fn share(decisions: &[Decision], path: Path) -> f64 {
    decisions.iter().filter(|d| d.path == path).count() as f64 / decisions.len() as f64
}

/// What is no more than R/N goes straight; of more, R/N does, and the rest is spread evenly over all others, the egress
/// among them.
#[test]
fn direct_vlb_sends_its_share_straight_and_spreads_the_rest() {
    let mut c = chooser(4, |s| s.order = OrderPolicy::None);
    assert_eq!(share(&send(&mut c, 25, 2), Path::Direct), 1.0);
    let mut c = chooser(4, |s| s.order = OrderPolicy::None);
    let all = send(&mut c, 100, 2);
    assert!((share(&all, Path::Direct) - 0.5).abs() < 0.02, "{}", share(&all, Path::Direct));
    for node in [1, 3] {
        assert!((share(&all, Path::Via(node)) - 0.25).abs() < 0.01);
    }
    assert_eq!(c.counts().refused, 0);
}

/// Valiant's way is chosen evenly among all nodes; two of them mean straight.
#[test]
fn valiants_way_is_chosen_evenly_among_all_nodes() {
    let mut c = chooser(8, |s| (s.order, s.scheme) = (OrderPolicy::None, Scheme::Valiant));
    let all = send(&mut c, 90, 2);
    assert!((share(&all, Path::Direct) - 0.25).abs() < 0.02);
    assert!((share(&all, Path::Via(5)) - 0.125).abs() < 0.02);
}

/// No link gets more than its rate and the bound, and what exceeds all links is refused.
#[test]
fn links_are_bounded() {
    for order in POLICIES {
        let mut c = chooser(4, |s| (s.order, s.link_rate) = (order, R / 10));
        let all = send(&mut c, 100, 2);
        for link in 1..4 {
            let bytes = 1_000 * all.iter().filter(|d| d.link == link).count() as u64;
            let most = 100_000_000 * (R / 10) / 8_000_000_000 + u64::from(c.settings().bound_bytes);
            assert!(bytes <= most, "{order:?}: {bytes} of {most}");
        }
        assert!(c.counts().refused > 0);
    }
}

/// Packets of a flowlet stay together, also when the straight share is used up, and part only when the link is full.
#[test]
fn flowlets_stay_together() {
    let mut c = chooser(4, |_| ());
    let (mut way, mut moves) = ([None; 97], 0);
    for now in (0..50_000_000u64).step_by(1_200) {
        let flow = now / 1_200 % 97;
        let decision = c.choose(now, flow, 2, 1_000).expect("room");
        let before = way[flow as usize].replace(decision.path);
        moves += u64::from(before.is_some_and(|before| before != decision.path));
    }
    // A flow that moves stays where it has moved to.
    assert_eq!((c.counts().spilled, c.counts().moved), (0, moves));
    assert!(moves < 97, "{moves}");
    // After a rest the flow may go elsewhere; within a gap it may not, even if a link is full.
    let mut c = chooser(4, |s| s.link_rate = R / 100);
    let sent = (0..1_000).filter(|&now| c.choose(now, 5, 2, 1_000).is_ok()).count();
    assert!(sent < 1_000);
    assert!(c.counts().spilled > 0);
}

/// With strict order by rest, a flow whose way is gone waits until nothing of it is under way.
#[test]
fn quiet_flows_wait() {
    let mut c = chooser(4, |s| s.order = OrderPolicy::Quiet);
    let first = c.choose(0, 5, 2, 1_000).expect("room").path;
    assert_eq!(first, Path::Direct);
    let mut view = View::whole(0, 4);
    view.set(2, Peer { up: false, transit: true, reach: Nodes::All });
    c.set_view(view);
    assert_eq!(c.choose(9_000_000, 5, 2, 1_000), Err(Refusal::Unreachable));
    assert!(matches!(c.choose(10_000_001, 5, 2, 1_000).expect("room").path, Path::Via(_)));
}

/// Numbers of a bucket follow each other, whatever ways the packets take.
#[test]
fn numbers_of_a_bucket_follow_each_other() {
    let mut c = chooser(4, |s| s.order = OrderPolicy::Sequence);
    let mut last = None;
    for now in 0..100_000 {
        let Stamp::Sequence { bucket, number } = c.choose(now * 1_000, 5, 2, 1_000).expect("room").stamp
        else {
            panic!("no number")
        };
        if let Some((b, n)) = last.replace((bucket, number)) {
            assert_eq!((bucket, number), (b, u16::wrapping_add(n, 1)));
        }
    }
}

/// In an n-fly the stopover is in the label, since the first link does not tell.
#[test]
fn stopovers_in_a_fly() {
    let fly = Topology::fly(16, 4);
    let settings = Settings { order: OrderPolicy::None, ..Settings::new(R, R / 2) };
    let mut c = Chooser::new(fly, View::whole(0, 16), settings);
    let all = send(&mut c, 90, 9);
    assert!(all.iter().all(|d| matches!((d.path, d.stamp), (Path::Via(a), Stamp::Via(b)) if a == b)
        || (d.path, d.stamp) == (Path::Direct, Stamp::None)));
    assert!(share(&all, Path::Direct) < 0.2);
}

/// With strict order packets of a fly bear both, numbers that follow each other and the stopover.
#[test]
fn numbers_in_a_fly() {
    let settings = Settings { order: OrderPolicy::Sequence, ..Settings::new(R, R / 2) };
    let mut c = Chooser::new(Topology::fly(16, 4), View::whole(0, 16), settings);
    let (mut next, mut balanced) = (0, 0);
    for now in 0..1_000 {
        let decision = c.choose(now * 1_000, 5, 9, 1_000).expect("room");
        let number = match (decision.stamp, decision.path) {
            (Stamp::Sequence { number, .. }, Path::Direct) => number,
            (Stamp::Numbered { number, via, .. }, Path::Via(node)) if via == node => number,
            other => panic!("{other:?}"),
        };
        balanced += usize::from(decision.path != Path::Direct);
        assert_eq!(number, next);
        next += 1;
    }
    assert!(balanced > 500);
}

proptest! {
    /// Whatever is known of the others, a way that is chosen exists, and one is found if there is any.
    #[test]
    fn a_way_that_is_chosen_exists_and_one_is_found_if_there_is_any(
        up in proptest::collection::vec(any::<(bool, bool, u16)>(), 3..12),
        order in 0usize..5, scheme in 0usize..3, flow: u64,
    ) {
        let nodes = up.len() + 1;
        let mut view = View::empty(0, nodes);
        for (node, &(up, transit, reach)) in up.iter().enumerate() {
            let reach = Nodes::of((0..16).filter(|bit| reach >> bit & 1 == 1));
            view.set(node as NodeId + 1, Peer { up, transit, reach });
        }
        let order = POLICIES[order];
        let scheme = [Scheme::Straight, Scheme::Valiant, Scheme::Direct][scheme];
        let mut c = chooser(nodes, |s| (s.order, s.scheme) = (order, scheme));
        c.set_view(view.clone());
        for egress in 1..nodes as NodeId {
            match c.choose(1, flow, egress, 64) {
                Ok(Decision { path: Path::Direct, .. }) => prop_assert!(view.direct(egress)),
                Ok(Decision { path: Path::Via(node), .. }) => prop_assert!(view.via(node, egress)),
                // Flows of one bucket wait for each other; a straight scheme knows one way only.
                Err(why) => {
                    prop_assert_eq!(why, Refusal::Unreachable);
                    let may_refuse = scheme == Scheme::Straight || order == OrderPolicy::Quiet;
                    prop_assert!(may_refuse || !view.reachable(egress));
                }
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_ways(seed: u64, order in 0usize..5) {
        let order = POLICIES[order];
        let run = || {
            let mut c = chooser(5, |s| (s.order, s.seed) = (order, seed));
            (0..2_000u64).map(|at| c.choose(at * 800, at % 97, 3, 1_000)).collect::<Vec<_>>()
        };
        prop_assert_eq!(run(), run());
    }
}

proptest! {
    /// Packets of a burst take the ways that they take one by one, and as much is accounted for then: with rests, full links, nodes that
    /// come and go, long packets, in mesh and fly.
    #[test]
    fn a_burst_is_as_its_packets(
        order in 0usize..POLICIES.len(),
        fly: bool,
        narrow: bool,
        bursts in proptest::collection::vec(
            (0u64..60_000, 0u8..24, proptest::collection::vec((0u64..24, 1u16..4, 60u32..3_000), 1..64)),
            1..40,
        ),
    ) {
        let topology = if fly { Topology::fly(4, 2) } else { Topology::Mesh { nodes: 4 } };
        let mut settings = Settings::new(R, R / 2);
        settings.order = POLICIES[order];
        if narrow {
            // What may go straight is bounded before the link is.
            settings.direct_burst_bytes = 8 << 10;
        }
        let [mut one, mut other] = [(); 2].map(|()| Chooser::new(topology.clone(), View::whole(0, 4), settings.clone()));
        let mut now = 1_000_000_000;
        for (pause, event, packets) in bursts {
            now += if event == 0 { 150_000_000 } else { pause };
            if (1..10).contains(&event) {
                let mut view = one.view().clone();
                let only = Nodes::of([(pause / 8 % 4) as NodeId]);
                let reach = if pause % 8 < 4 { Nodes::All } else { only };
                view.set(1 + NodeId::from(event) % 3, Peer { up: pause % 5 > 0, transit: pause % 3 > 0, reach });
                one.set_view(view.clone());
                other.set_view(view);
            }
            let mut burst = one.burst(now);
            for (flow, egress, bytes) in packets {
                // Most packets are short, as most bursts' are.
                let bytes = if event % 2 == 0 { bytes / 20 + 60 } else { bytes };
                let known = burst.find(flow, egress, &mut 0);
                prop_assert_eq!(burst.choose(known, egress, bytes), other.choose(now, flow, egress, bytes));
            }
            drop(burst);
            prop_assert_eq!(one.counts(), other.counts());
            for queue in 0..one.links + 4 {
                prop_assert_eq!(one.queues.waiting_ns(queue, now), other.queues.waiting_ns(queue, now), "queue {}", queue);
            }
        }
    }

    /// Several packets are taken only where each of them would be, and leave as much waiting; and where there is a good deal of room, they are.
    #[test]
    fn many_pass_as_one_by_one(bursts in proptest::collection::vec((0u64..200_000, proptest::collection::vec(60u32..9_000, 1..60)), 1..40)) {
        let [mut one, mut other] = [(); 2].map(|()| chooser(4, |s| s.link_rate = R / 3));
        let mut now = 5_000;
        for (pause, sizes) in bursts {
            now += pause;
            let (sum, most) = (sizes.iter().sum(), sizes.iter().copied().max().unwrap_or(0));
            let waiting = one.queues.waiting_ns(2, now);
            if one.has_room(now, 2, sum, most) {
                one.pass_all(now, 2, sum);
                for &size in &sizes {
                    prop_assert_eq!(other.pass(now, 2, size), Ok(()));
                }
            } else {
                prop_assert!(u64::from(sum + most) * 24 / 10 + waiting + 10 >= 262_144 * 24 / 10, "{} wait", waiting);
                for &size in &sizes {
                    prop_assert_eq!(one.pass(now, 2, size), other.pass(now, 2, size));
                }
            }
            prop_assert_eq!(one.queues.waiting_ns(2, now), other.queues.waiting_ns(2, now));
        }
    }
}
