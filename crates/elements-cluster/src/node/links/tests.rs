use super::*;
use cluster::label::{Label, Stamp};
use cluster::transit::{Next, next};
use proptest::prelude::*;

fn stamps() -> impl Strategy<Value = Stamp> {
    prop_oneof![
        4 => Just(Stamp::None),
        3 => any::<(u8, u16)>().prop_map(|(bucket, number)| Stamp::Sequence { bucket, number }),
        1 => (0u16..9).prop_map(Stamp::Via),
        1 => (any::<(u8, u16)>(), 0u16..9).prop_map(|((bucket, number), via)| Stamp::Numbered { bucket, number, via }),
    ]
}

/// A packet with this label.
fn labelled(label: Label) -> Batch {
    let mut batch = Batch::new();
    batch.extend(packet::Pool::new().packet(&[&label.encode()[..], &[8, 0, 0x45]].concat()));
    batch
}

proptest! {
    /// What is done without a closer look is what [`next`] says; and a closer look is needed for stopovers, at the end of a label's hops, and where
    /// there is no such node.
    #[test]
    fn ways_are_those_of_labels(fly: bool, me in 0u16..12, egress in 0u16..14, hops in 0u8..4, stamp in stamps()) {
        let topology = if fly { Topology::fly(4, 2) } else { Topology::Mesh { nodes: 9 } };
        let me = me % topology.nodes() as u16;
        // As if every link were at the port behind its number, but one that is nowhere.
        let ports: Vec<_> = (0..topology.links(me.into())).map(|link| (link != 7).then_some(link + 1)).collect();
        let mut signposts = Signposts::new(&topology, me, &ports, ports.len() + 1);
        let label = Label { egress, port: 3, ingress: 5, hops, stamp };
        let mut ways = [0; BATCH_MAX];
        let is_usual = signposts.look(&labelled(label), &mut ways);
        let sum: u32 = signposts.loads.iter().map(|load| load.packets).sum();
        prop_assert_eq!(sum, u32::from(is_usual));
        let expected = match next(&topology, me, label) {
            _ if !topology.is_terminal(egress) => None,
            Next::Deliver => Some(OWN),
            Next::Forward(link, onward) if stamp.via().is_none() => {
                let mut bytes = label.encode();
                bytes[HEAD] -= HOP;
                prop_assert_eq!(bytes, onward.encode());
                ports[link]
            }
            _ => None,
        };
        // What leaves here may have been by way of this node, which is seldom.
        if stamp.via().is_none() || is_usual {
            prop_assert_eq!(is_usual.then_some(usize::from(ways[0])), expected);
        }
    }
}

#[test]
fn frames_without_labels_are_unusual() {
    let mut signposts = Signposts::new(&Topology::Mesh { nodes: 2 }, 0, &[None, Some(1)], 2);
    let good = Label { egress: 1, port: 0, ingress: 1, hops: 1, stamp: Stamp::None }.encode();
    for bytes in [
        &good[..11],
        &[],
        &[0xff; 60],
        &[&[2, 0xc0], &good[2..]].concat(),
        &[&good[..6], &[0x11], &good[7..]].concat(),
    ] {
        let mut batch = labelled(Label::decode(&good).expect("a label"));
        batch.extend(packet::Pool::new().packet(bytes));
        assert!(!signposts.look(&batch, &mut [0; BATCH_MAX]), "{bytes:?}");
        assert!(signposts.loads.iter().all(|load| load.packets == 0));
    }
}
