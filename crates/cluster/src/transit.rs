//! What a node does with a frame that came over a link.

use crate::NodeId;
use crate::label::Label;
use crate::topology::Topology;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It leaves the cluster here, at the port that the label names.
    Deliver,
    /// On into this link, with this label.
    Forward(usize, Label),
    /// It has crossed as many links as it may.
    Exhausted,
    /// It should not be here.
    Astray,
}

/// What node `me` does with a frame that came over a link.
///
/// It looks at the label and at nothing else: no route, no view of the others, no second choice. In a mesh a stopover sends
/// straight to the egress. In a fly links lead from level to level, and from a terminal only what has it as its stopover goes on, which it
/// has no longer then: twice through all levels is the longest way. So nodes that know different things cannot send a packet round
/// and round, and if links are plugged wrongly the hops run out.
#[inline]
pub fn next(topology: &Topology, me: NodeId, label: Label) -> Next {
    let via = label.stamp.via();
    let is_before_via = via.is_some_and(|via| via != me);
    if label.egress == me && !is_before_via {
        return Next::Deliver;
    }
    if matches!(topology, Topology::Fly { .. }) && topology.is_terminal(me) && via != Some(me) {
        return Next::Astray;
    }
    let (target, stamp) = match via {
        Some(via) if is_before_via => (via, label.stamp),
        _ => (label.egress, label.stamp.without_via()),
    };
    let onward = Label { stamp, ..label }.hop();
    match (onward, topology.toward(usize::from(me), usize::from(target))) {
        (Some(label), Some(link)) => Next::Forward(link, label),
        _ => Next::Exhausted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::Stamp;
    use proptest::prelude::*;

    proptest! {
        /// From any node to any other by way of any third, in mesh and fly, within the hops that are allowed.
        #[test]
        fn a_frame_arrives_by_way_of_any_third_node(fly: bool, strict: bool, size in 3usize..40, from: u16, egress: u16, via: u16) {
            let topology = if fly { Topology::fly(size, 4) } else { Topology::Mesh { nodes: size } };
            let node = |n: u16| n % size as u16;
            let (from, egress, via) = (node(from), node(egress), node(via));
            prop_assume!(from != egress && via != from && via != egress);
            let stamp = match (fly, strict) {
                (false, false) => Stamp::None,
                (false, true) => Stamp::Sequence { bucket: 5, number: 77 },
                (true, false) => Stamp::Via(via),
                (true, true) => Stamp::Numbered { bucket: 5, number: 77, via },
            };
            let hops = topology.max_hops() as u8;
            let label = Label { egress, port: 3, ingress: from, hops, stamp };
            let mut at = topology.neighbour(usize::from(from), topology.first_link(from, via));
            let mut label = label.hop().expect("hops");
            let mut seen_via = at == usize::from(via);
            loop {
                match next(&topology, at as NodeId, label) {
                    Next::Deliver => break,
                    Next::Forward(link, onward) => {
                        at = topology.neighbour(at, link);
                        seen_via |= at == usize::from(via);
                        label = onward;
                    }
                    Next::Exhausted | Next::Astray => prop_assert!(false, "no way on"),
                }
            }
            prop_assert_eq!((at, seen_via), (usize::from(egress), true));
            let expected = if strict { Stamp::Sequence { bucket: 5, number: 77 } } else { Stamp::None };
            prop_assert_eq!((label.stamp, label.ingress), (expected, from));
        }

        #[test]
        fn a_frame_stops_whatever_label_and_wiring(fly: bool, bytes: [u8; 12], wiring in proptest::collection::vec(0u16..9, 9)) {
            let topology = if fly { Topology::fly(4, 2) } else { Topology::Mesh { nodes: 9 } };
            let Some(mut label) = Label::decode(&bytes) else { return Ok(()) };
            label.egress %= 4;
            let mut at = 0;
            for _ in 0..=crate::label::MAX_HOPS {
                match next(&topology, at, label) {
                    Next::Forward(link, onward) => (at, label) = (wiring[link % 9], onward),
                    _ => return Ok(()),
                }
            }
            prop_assert!(false, "still going");
        }
    }

    /// A terminal of a fly sends on what has it as its stopover and nothing else.
    #[test]
    fn terminals_are_no_levels() {
        let fly = Topology::fly(4, 2);
        let label = |stamp| Label { egress: 2, port: 0, ingress: 0, hops: 5, stamp };
        assert_eq!([Stamp::None, Stamp::Via(3)].map(|stamp| next(&fly, 1, label(stamp))), [Next::Astray; 2]);
        assert!(matches!(
            next(&fly, 1, label(Stamp::Via(1))),
            Next::Forward(_, Label { stamp: Stamp::None, .. })
        ));
    }
}
