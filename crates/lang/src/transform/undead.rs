//! Removing what no packet passes.

use super::draft::Draft;
use crate::conf;
use crate::diag::{Landmark, Span};
use crate::graph::{Connection, Graph, Port};
use std::collections::{HashMap, HashSet};

/// What an element does with packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Role {
    /// Packets come from it, others than those that it was given.
    pub source: bool,
    /// It does something with packets besides handing them on and dropping them.
    pub sink: bool,
    /// What enters it never leaves it, and what leaves it is nothing.
    pub blocks: bool,
}

/// Removes from a graph what does not matter to any packet that goes from a source to a sink, as Click's `click-undead`
/// does:
///
/// - StaticSwitch, StaticPullSwitch and Null, in the way that their packets take;
/// - elements that are not on a way from a source to a sink, unless they have no ports in use, as information elements;
/// - inputs of schedulers and outputs of Tee and PullTee that nothing uses any more, and those of them that have one left.
///
/// Ports of the elements that are left which lead nowhere now are connected to an Idle. An element that one of those that
/// stay mentions by name counts as a sink, since it may be asked what it saw.
///
/// `values` is the same graph with values in the place of variables, `roles` says what each of its elements does.
pub fn undead(graph: &Graph, values: &Graph, roles: &[Role]) -> Graph {
    let used = graph.used_ports();
    let mut undead = Undead { draft: Draft::new(graph), used, values, roles };
    undead.decide_switches();
    undead.remove_nulls();
    undead.remove_dead();
    while undead.shrink() {}
    undead.fill_blanks();
    undead.draft.finish()
}

/// Schedulers whose inputs are alike, apart from their order.
const SCHEDULERS: &[&str] =
    &["RoundRobinSched", "SimpleRoundRobinSched", "PrioSched", "SimplePrioSched", "DRRSched"];

struct Undead<'a> {
    draft: Draft,
    /// Inputs and outputs that each element has to have.
    used: Vec<(u32, u32)>,
    values: &'a Graph,
    roles: &'a [Role],
}

impl Undead<'_> {
    fn class(&self, element: usize) -> Option<&str> {
        self.draft.get(element).map(|element| element.class.as_str())
    }

    /// Connects around switches that never move.
    fn decide_switches(&mut self) {
        for element in self.draft.indices() {
            let Some(class @ ("StaticSwitch" | "StaticPullSwitch")) = self.class(element) else { continue };
            let pull = class == "StaticPullSwitch";
            let Ok(chosen) = conf::uncomment(&self.values.elements[element].config).parse::<i64>() else {
                continue;
            };
            let (incoming, outgoing) = (self.draft.incoming(element), self.draft.outgoing(element));
            let is_chosen = |port: u32| i64::from(port) == chosen;
            if pull {
                if let Some((_, source)) = incoming.iter().find(|(_, c)| is_chosen(c.to.port)) {
                    outgoing.iter().for_each(|&(i, _)| self.draft.leave(i, source.from));
                }
            } else if let Some((_, target)) = outgoing.iter().find(|(_, c)| is_chosen(c.from.port)) {
                incoming.iter().for_each(|&(i, _)| self.draft.lead(i, target.to));
            }
            self.draft.remove(element);
        }
    }

    /// Connects around elements that do nothing.
    fn remove_nulls(&mut self) {
        for element in self.draft.indices() {
            if self.class(element) == Some("Null") && self.used[element] == (1, 1) {
                self.skip(element);
            }
        }
    }

    /// Connects what leads to an element with what it leads to, and removes the element, unless there are several of both.
    fn skip(&mut self, element: usize) -> bool {
        let (incoming, outgoing) = (self.draft.incoming(element), self.draft.outgoing(element));
        match (&incoming[..], &outgoing[..]) {
            ([(_, source)], _) => outgoing.iter().for_each(|&(i, _)| self.draft.leave(i, source.from)),
            (_, [(_, target)]) => incoming.iter().for_each(|&(i, _)| self.draft.lead(i, target.to)),
            _ => return false,
        }
        self.draft.remove(element);
        true
    }

    fn remove_dead(&mut self) {
        let live = self.live();
        for element in self.draft.indices() {
            if !live.contains(&element) {
                self.draft.remove(element);
            }
        }
    }

    /// The elements that stay.
    fn live(&self) -> HashSet<usize> {
        let mut ways: [HashMap<usize, Vec<usize>>; 2] = Default::default();
        for c in self.draft.connections() {
            ways[0].entry(c.from.element).or_default().push(c.to.element);
            ways[1].entry(c.to.element).or_default().push(c.from.element);
        }
        let there = || self.draft.indices().filter(|&element| self.draft.get(element).is_some());
        let reached = self.spread(&ways[0], there().filter(|&e| self.roles[e].source));
        let mut asked: HashSet<usize> = HashSet::new();
        loop {
            let sinks = there().filter(|e| self.roles[*e].sink || asked.contains(e));
            let needed = self.spread(&ways[1], sinks);
            let stays = |e: &usize| {
                reached.contains(e) && needed.contains(e) || self.used[*e] == (0, 0) || asked.contains(e)
            };
            let live: HashSet<usize> = there().filter(stays).collect();
            let before = asked.len();
            asked.extend(live.iter().flat_map(|&element| self.mentioned(element)));
            if asked.len() == before {
                return live;
            }
        }
    }

    /// What can be reached from these elements, but not through those that block.
    fn spread(&self, ways: &HashMap<usize, Vec<usize>>, from: impl Iterator<Item = usize>) -> HashSet<usize> {
        let mut reached: HashSet<usize> = from.collect();
        let mut open: Vec<usize> = reached.iter().copied().collect();
        while let Some(element) = open.pop() {
            for &next in ways.get(&element).into_iter().flatten() {
                if !self.roles[next].blocks && reached.insert(next) {
                    open.push(next);
                }
            }
        }
        reached
    }

    /// The elements that an element's arguments name.
    fn mentioned(&self, element: usize) -> Vec<usize> {
        let element = &self.values.elements[element];
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '@' | '/');
        (element.config.split(|c| !is_name(c)).filter(|word| !word.is_empty()))
            .filter_map(|word| self.values.find_in(word, &element.name))
            .filter(|&found| self.draft.get(found).is_some())
            .collect()
    }

    /// Removes ports of schedulers and tees that are not used any more; says whether one of them went altogether.
    fn shrink(&mut self) -> bool {
        let mut changed = false;
        for element in self.draft.indices() {
            let shrunk = match self.class(element) {
                Some("StrideSched") => self.shrink_inputs(element, true),
                Some(class) if SCHEDULERS.contains(&class) => self.shrink_inputs(element, false),
                Some("Tee") => self.shrink_outputs(element, 0),
                Some("PullTee") => self.shrink_outputs(element, 1),
                _ => false,
            };
            changed |= shrunk && self.skip(element);
        }
        changed
    }

    /// Closes the gaps between the inputs of a scheduler, which may have an argument for each; says whether one is left.
    fn shrink_inputs(&mut self, element: usize, with_arguments: bool) -> bool {
        let Some(config) = self.draft.get(element).map(|element| &element.config) else { return false };
        let arguments = conf::split_args(config);
        let mut incoming = self.draft.incoming(element);
        incoming.sort_by_key(|(_, c)| c.to.port);
        if with_arguments && arguments.len() != self.used[element].0 as usize {
            return false;
        }
        let kept: Vec<u32> = incoming.iter().map(|(_, c)| c.to.port).collect();
        for (port, &(i, _)) in (0..).zip(&incoming) {
            self.draft.lead(i, Port { element, port });
        }
        if with_arguments {
            let kept: Vec<&String> = kept.iter().map(|&port| &arguments[port as usize]).collect();
            self.draft.set_config(element, conf::join_args(&kept));
        }
        self.used[element].0 = incoming.len() as u32;
        incoming.len() == 1
    }

    /// Closes the gaps between the outputs of a tee from `first` on; says whether one output is left.
    fn shrink_outputs(&mut self, element: usize, first: u32) -> bool {
        let mut outgoing = self.draft.outgoing(element);
        outgoing.sort_by_key(|(_, c)| c.from.port);
        let fixed = outgoing.iter().filter(|(_, c)| c.from.port < first).count();
        for (port, &(i, _)) in (first..).zip(&outgoing[fixed..]) {
            self.draft.leave(i, Port { element, port });
        }
        let outputs = first + (outgoing.len() - fixed) as u32;
        if outputs < self.used[element].1 {
            self.used[element].1 = outputs;
            self.draft.set_config(element, outputs.to_string());
        }
        outputs == 1 && outgoing.len() == 1
    }

    /// Connects ports that lead nowhere to an Idle.
    fn fill_blanks(&mut self) {
        let elements: Vec<usize> =
            self.draft.indices().filter(|&element| self.draft.get(element).is_some()).collect();
        let mut blanks: [Vec<Port>; 2] = Default::default();
        for element in elements {
            let connected = [
                self.draft.incoming(element).iter().map(|(_, c)| c.to.port).collect::<HashSet<u32>>(),
                self.draft.outgoing(element).iter().map(|(_, c)| c.from.port).collect(),
            ];
            let (inputs, outputs) = self.used[element];
            for (side, count) in [inputs, outputs].into_iter().enumerate() {
                let missing = (0..count).filter(|port| !connected[side].contains(port));
                blanks[side].extend(missing.map(|port| Port { element, port }));
            }
        }
        if blanks.iter().all(Vec::is_empty) {
            return;
        }
        let idle = self.draft.add_anonymous("Idle", "<click-undead>");
        let landmark = Landmark::new("<click-undead>", 0);
        // After all that was written.
        let span = Span { source: u32::MAX, ..Span::default() };
        let connection = |from, to| Connection { from, to, landmark: landmark.clone(), span };
        let [inputs, outputs] = blanks;
        for (port, to) in (0..).zip(inputs) {
            self.draft.connect(connection(Port { element: idle, port }, to));
        }
        for (port, from) in (0..).zip(outputs) {
            self.draft.connect(connection(from, Port { element: idle, port }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// The roles of some classes; all others only hand packets on.
    fn roles(graph: &Graph) -> Vec<Role> {
        let role = |class: &str| match class {
            "InfiniteSource" | "FromDump" => Role { source: true, ..Role::default() },
            "ToDump" | "ToDevice" => Role { sink: true, ..Role::default() },
            "Idle" => Role { blocks: true, ..Role::default() },
            _ => Role::default(),
        };
        graph.elements.iter().map(|element| role(&element.class)).collect()
    }

    fn check(source: &str, expected: Expect) {
        let graph = crate::parse(source, "config", &[]).graph;
        let after = undead(&graph, &graph, &roles(&graph));
        expected.assert_eq(&crate::flatten(&after));
        assert!(undead(&after, &after, &roles(&after)).same_as(&after), "nothing is left to do");
    }

    /// The example of Click's manual page.
    #[test]
    fn all_of_it() {
        check(
            "Idle -> Counter -> td1 :: ToDump(a);
             InfiniteSource -> ss :: StaticSwitch(1);
             ss [0] -> ToDump(c);
             ss [1] -> Queue -> rr :: RoundRobinSched;
             Idle -> [1] rr;
             rr -> td2 :: ToDump(b);",
            expect![[r#"
                InfiniteSource@4 :: InfiniteSource;
                Queue@7 :: Queue;
                td2 :: ToDump(b);

                InfiniteSource@4 -> Queue@7
                    -> td2;
            "#]],
        );
    }

    #[test]
    fn switches() {
        check(
            "InfiniteSource -> a :: StaticSwitch(-1) -> ToDump(a); InfiniteSource -> b :: StaticSwitch(1); b => ToDump(b), ToDump(c);
             x, y :: Queue; InfiniteSource -> x; InfiniteSource -> y; x, y => s :: StaticPullSwitch(/* first */ 0) -> ToDump(d);
             InfiniteSource -> z :: StaticSwitch(what) -> ToDump(e)",
            expect![[r#"
                InfiniteSource@4 :: InfiniteSource;
                ToDump@7 :: ToDump(c);
                x :: Queue;
                InfiniteSource@10 :: InfiniteSource;
                ToDump@13 :: ToDump(d);
                InfiniteSource@14 :: InfiniteSource;
                z :: StaticSwitch(what);
                ToDump@16 :: ToDump(e);

                InfiniteSource@4 -> ToDump@7;
                InfiniteSource@10 -> x
                    -> ToDump@13;
                InfiniteSource@14 -> z
                    -> ToDump@16;
            "#]],
        );
    }

    /// A chain of several, with several before the first or after the last.
    #[test]
    fn nulls() {
        check(
            "InfiniteSource, InfiniteSource => [0, 0] n :: Null -> Null -> ToDump(a);
             InfiniteSource -> q :: Queue -> m :: Null; m -> ToDevice(a); m -> ToDevice(b);
             l :: Null -> l;",
            expect![[r#"
                InfiniteSource@1 :: InfiniteSource;
                InfiniteSource@2 :: InfiniteSource;
                ToDump@5 :: ToDump(a);
                InfiniteSource@6 :: InfiniteSource;
                q :: Queue;
                ToDevice@9 :: ToDevice(a);
                ToDevice@10 :: ToDevice(b);

                InfiniteSource@1 -> ToDump@5;
                InfiniteSource@2 -> ToDump@5;
                InfiniteSource@6 -> q
                    -> ToDevice@9;
                q -> ToDevice@10;
            "#]],
        );
    }

    #[test]
    fn ports() {
        check(
            "InfiniteSource -> t :: Tee; t [0] -> Discard; t [1] -> ToDump(a); t [2] -> ToDump(b);
             InfiniteSource -> Tee(2) => Discard, q :: Queue; Idle -> r :: Queue;
             q, r, q2 :: Queue => s :: StrideSched(10, 20, 30) -> pt :: PullTee => ToDevice(c), Discard;
             InfiniteSource -> q2;
             InfiniteSource -> c :: CheckIPHeader => ToDump(d), Discard; i :: Idle -> [1] u :: Union -> ToDump(e); c -> u;",
            expect![[r#"
                InfiniteSource@1 :: InfiniteSource;
                t :: Tee(2);
                ToDump@4 :: ToDump(a);
                ToDump@5 :: ToDump(b);
                InfiniteSource@6 :: InfiniteSource;
                q :: Queue;
                q2 :: Queue;
                s :: StrideSched(10, 30);
                ToDevice@15 :: ToDevice(c);
                InfiniteSource@17 :: InfiniteSource;
                InfiniteSource@18 :: InfiniteSource;
                c :: CheckIPHeader;
                ToDump@20 :: ToDump(d);
                u :: Union;
                ToDump@24 :: ToDump(e);
                Idle@16 :: Idle;

                InfiniteSource@1 -> t
                    -> ToDump@4;
                t [1] -> ToDump@5;
                InfiniteSource@6 -> q
                    -> s
                    -> ToDevice@15;
                InfiniteSource@17 -> q2
                    -> [1] s;
                InfiniteSource@18 -> c
                    -> ToDump@20;
                c -> u
                    -> ToDump@24;
                c [1] -> Idle@16
                    -> [1] u;
            "#]],
        );
    }

    /// What others mention may be asked what it saw, and what has no ports in use says something to others.
    #[test]
    fn information() {
        check(
            "AddressInfo(x 1.2.3.4); g :: { FromDump(a) -> c :: Counter -> Discard; Script(print c.count) };
             FromDump(b) -> Counter -> Discard",
            expect![[r#"
                AddressInfo@1 :: AddressInfo(x 1.2.3.4);
                g/FromDump@1 :: FromDump(a);
                g/c :: Counter;
                g/Script@4 :: Script(print c.count);
                Idle@5 :: Idle;

                g/FromDump@1 -> g/c
                    -> Idle@5;
            "#]],
        );
    }
}
