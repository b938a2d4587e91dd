//! Removing what no packet passes.

use super::Flows;
use super::draft::Draft;
use lang::{Graph, Landmark, Port, conf};
use std::collections::HashSet;

/// What an element does with packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Role {
    /// Whether it is a source of packets, others than those that it was given, and whether it is a sink, which does something
    /// with them besides handing them on. If its class says nothing of that, an element without inputs is a source, and one without
    /// outputs is a sink.
    pub(crate) ends: Option<(bool, bool)>,
    /// What enters it never leaves it, and what leaves it is nothing.
    pub(crate) blocks: bool,
}

/// What is left of a configuration, and what there is to say about it.
#[derive(Debug)]
pub(crate) struct Undead {
    /// The configuration.
    pub(crate) graph: Graph,
    /// What was found and done, with places.
    pub(crate) steps: Vec<(Landmark, String)>,
    /// Whether anything was alive, or there was nothing from the beginning.
    pub(crate) alive: bool,
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
/// `values` is the same graph with values in the place of variables, `roles` says what each of its elements does, `flows`
/// which of its inputs lead to which outputs.
pub(crate) fn undead(graph: &Graph, values: &Graph, roles: &[Role], flows: &Flows<'_>) -> Undead {
    let mut undead = Work {
        draft: Draft::new(graph),
        used: graph.used_ports(),
        values,
        roles: roles.to_vec(),
        flows,
        number: graph.elements.len() + 1,
        steps: Vec::new(),
    };
    undead.decide_switches();
    undead.remove_nulls();
    undead.number = undead.there().count() + 1;
    let alive = undead.remove_dead();
    while undead.shrink() {}
    undead.fill_blanks();
    Undead { graph: undead.draft.finish(), steps: undead.steps, alive }
}

/// Where Idles come from.
const PLACE: &str = "<click-undead>";

struct Work<'a> {
    draft: Draft,
    /// Inputs and outputs that each element has to have.
    used: Vec<(u32, u32)>,
    values: &'a Graph,
    roles: Vec<Role>,
    flows: &'a Flows<'a>,
    /// The number of the next Idle.
    number: usize,
    steps: Vec<(Landmark, String)>,
}

impl Work<'_> {
    fn class(&self, element: usize) -> Option<&str> {
        self.draft.get(element).map(|element| element.class.as_str())
    }

    /// The elements that are there.
    fn there(&self) -> impl Iterator<Item = usize> {
        self.draft.indices().filter(|&element| self.draft.get(element).is_some())
    }

    /// Notes what was found or done: `what`, in which `*` stands for the element's declaration.
    fn note(&mut self, element: usize, what: &str) {
        let Some(element) = self.draft.get(element) else { return };
        let what = what.replace('*', &format!("'{} :: {}'", element.name, element.class));
        self.steps.push((element.landmark.clone(), what));
    }

    fn add_idle(&mut self) -> usize {
        let idle = self.draft.add_numbered("Idle", self.number, "Idle", String::new(), PLACE);
        self.number += 1;
        self.used.push((0, 0));
        self.roles.push(Role { ends: Some((false, false)), blocks: true });
        idle
    }

    /// Connects around switches that never move, and what they do not lead to or from with an Idle.
    fn decide_switches(&mut self) {
        for class in ["StaticSwitch", "StaticPullSwitch"] {
            for element in self.draft.indices() {
                if self.class(element) == Some(class) {
                    self.decide_switch(element, class == "StaticPullSwitch");
                }
            }
        }
    }

    fn decide_switch(&mut self, element: usize, pull: bool) {
        let Ok(chosen) = conf::uncomment(&self.values.elements[element].config).parse::<i64>() else {
            return;
        };
        let (incoming, outgoing) = (self.draft.incoming(element), self.draft.outgoing(element));
        let idle = Port { element: self.add_idle(), port: 0 };
        let next = |used: &mut u32| std::mem::replace(used, *used + 1);
        let mut ports = 0;
        if pull {
            let source = incoming.iter().find(|(_, c)| i64::from(c.to.port) == chosen);
            let from = source.map_or(idle, |(_, c)| c.from);
            outgoing.iter().for_each(|&(i, _)| self.draft.leave(i, from));
            for &(i, ref c) in &incoming {
                if i64::from(c.to.port) != chosen {
                    self.draft.lead(i, Port { port: next(&mut ports), ..idle });
                }
            }
        } else {
            let target = outgoing.iter().find(|(_, c)| i64::from(c.from.port) == chosen);
            let to = target.map_or(idle, |(_, c)| c.to);
            incoming.iter().for_each(|&(i, _)| self.draft.lead(i, to));
            for &(i, ref c) in &outgoing {
                if i64::from(c.from.port) != chosen {
                    self.draft.leave(i, Port { port: next(&mut ports), ..idle });
                }
            }
        }
        self.draft.remove(element);
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

    /// Removes what is dead; says whether anything was alive, or nothing was there.
    fn remove_dead(&mut self) -> bool {
        let live = self.live();
        let there: Vec<usize> = self.there().collect();
        for &element in &there {
            if !live.contains(&element) {
                self.note(element, "removing *");
                self.draft.remove(element);
            }
        }
        !live.is_empty() || there.is_empty()
    }

    /// Elements that are sources, and those that are sinks.
    fn ends(&mut self) -> [Vec<usize>; 2] {
        let mut ends: [Vec<usize>; 2] = Default::default();
        for element in self.there().collect::<Vec<_>>() {
            let declared = self.roles[element].ends;
            let (inputs, outputs) = self.draft.used_ports(element);
            let (source, sink) = declared.unwrap_or((inputs == 0, outputs == 0));
            let assuming = if declared.is_some() { "" } else { "assuming " };
            let what = match (source, sink) {
                (true, true) => "source and sink",
                (true, false) => "source",
                (false, true) => "sink",
                (false, false) => continue,
            };
            self.note(element, &format!("{assuming}* is {what}"));
            ends[0].extend(source.then_some(element));
            ends[1].extend(sink.then_some(element));
        }
        ends
    }

    /// The elements that stay.
    fn live(&mut self) -> HashSet<usize> {
        let [sources, sinks] = self.ends();
        let there: Vec<usize> = self.there().collect();
        let reached = self.spread(&sources, true);
        let mut asked: HashSet<usize> = HashSet::new();
        let unused = |this: &Self, element: usize| this.draft.used_ports(element) == (0, 0);
        let live = loop {
            let ends: Vec<usize> = sinks.iter().chain(&asked).copied().collect();
            let needed = self.spread(&ends, false);
            let stays = |e: &usize| {
                reached.contains(e) && needed.contains(e) || unused(self, *e) || asked.contains(e)
            };
            let live: HashSet<usize> = there.iter().copied().filter(stays).collect();
            let before = asked.len();
            asked.extend(live.iter().flat_map(|&element| self.mentioned(element)));
            if asked.len() == before {
                break live;
            }
        };
        for element in there {
            if unused(self, element) && self.roles[element].ends == Some((false, false)) {
                self.note(element, "assuming * is live");
            }
        }
        live
    }

    /// The elements that packets from these reach, or else those from which packets reach these; none that block.
    fn spread(&self, ends: &[usize], forward: bool) -> HashSet<usize> {
        let mut reached: HashSet<usize> = ends.iter().copied().collect();
        let mut ports: HashSet<Port> = HashSet::new();
        // What is next to a port on this element's side of the connection that leads on.
        let next = |element: usize| {
            let connections =
                if forward { self.draft.outgoing(element) } else { self.draft.incoming(element) };
            connections
                .into_iter()
                .map(|(_, c)| if forward { (c.from.port, c.to) } else { (c.to.port, c.from) })
        };
        let mut open: Vec<Port> = ends.iter().flat_map(|&end| next(end)).map(|(_, there)| there).collect();
        while let Some(at) = open.pop() {
            let Port { element, port } = at;
            if self.roles[element].blocks || !ports.insert(at) {
                continue;
            }
            reached.insert(element);
            let leads = |other: u32| {
                if forward { (self.flows)(element, port, other) } else { (self.flows)(element, other, port) }
            };
            open.extend(next(element).filter(|&(own, _)| leads(own)).map(|(_, there)| there));
        }
        reached
    }

    /// The elements that an element's arguments name.
    fn mentioned(&self, element: usize) -> Vec<usize> {
        let Some(element) = self.values.elements.get(element) else { return Vec::new() };
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '@' | '/');
        (element.config.split(|c| !is_name(c)).filter(|word| !word.is_empty()))
            .filter_map(|word| self.values.find_in(word, &element.name))
            .filter(|&found| self.draft.get(found).is_some())
            .collect()
    }

    /// Removes ports of schedulers and tees that are not used any more; says whether one of them went altogether.
    fn shrink(&mut self) -> bool {
        let mut changed = false;
        for class in ["RoundRobinSched", "PrioSched", "StrideSched", "Tee", "PullTee"] {
            for element in self.draft.indices() {
                if self.class(element) != Some(class) {
                    continue;
                }
                let (shrunk, kind) = match class {
                    "Tee" => (self.shrink_outputs(element, 0), "tee"),
                    "PullTee" => (self.shrink_outputs(element, 1), "tee"),
                    _ => (self.shrink_inputs(element, class == "StrideSched"), "scheduler"),
                };
                if shrunk {
                    self.note(element, &format!("removing redundant {kind} *"));
                    changed |= self.skip(element);
                }
            }
        }
        changed
    }

    /// Closes the gaps between the inputs of a scheduler, which may have an argument for each; says whether one is left.
    fn shrink_inputs(&mut self, element: usize, with_arguments: bool) -> bool {
        let Some(config) = self.draft.get(element).map(|element| &element.config) else { return false };
        let arguments = conf::split_args(config);
        let mut incoming = self.draft.incoming(element);
        incoming.sort_by_key(|(_, c)| c.to.port);
        let kept: Vec<u32> = incoming.iter().map(|(_, c)| c.to.port).collect();
        // An argument of an input that went at the end stays, and then the input has to stay, too.
        if with_arguments && Some(arguments.len()) != kept.last().map(|&port| port as usize + 1) {
            return false;
        }
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
        self.used[element].1 = outputs;
        self.draft.set_config(element, outputs.to_string());
        outputs == 1 && outgoing.len() == 1
    }

    /// Connects ports that lead nowhere to an Idle.
    fn fill_blanks(&mut self) {
        // Element by element, its inputs first.
        let mut blanks: Vec<(bool, Port)> = Vec::new();
        for element in self.there() {
            let (inputs, outputs) = self.used[element];
            let (into, from) = (self.draft.incoming(element), self.draft.outgoing(element));
            let into: HashSet<u32> = into.iter().map(|(_, c)| c.to.port).collect();
            let from: HashSet<u32> = from.iter().map(|(_, c)| c.from.port).collect();
            let missing =
                |count: u32, there: HashSet<u32>| (0..count).filter(move |port| !there.contains(port));
            blanks.extend(missing(inputs, into).map(|port| (true, Port { element, port })));
            blanks.extend(missing(outputs, from).map(|port| (false, Port { element, port })));
        }
        if blanks.is_empty() {
            return;
        }
        let idle = self.add_idle();
        let (mut inputs, mut outputs) = (0.., 0..);
        for (is_input, at) in blanks {
            let next = if is_input { outputs.next() } else { inputs.next() };
            let idle = Port { element: idle, port: next.unwrap_or_default() };
            match is_input {
                true => self.draft.append(idle, at, PLACE),
                false => self.draft.append(at, idle, PLACE),
            }
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
            "ToDump" | "ToDevice" => Role { ends: Some((false, true)), blocks: false },
            "Idle" => Role { ends: Some((false, false)), blocks: true },
            _ => Role::default(),
        };
        graph.elements.iter().map(|element| role(&element.class)).collect()
    }

    fn check(source: &str, expected: Expect) {
        let graph = lang::parse(source, "config", &[]).graph;
        let flows = |_, _, _| true;
        let after = undead(&graph, &graph, &roles(&graph), &flows).graph;
        expected.assert_eq(&lang::flatten(&after));
        // The Idle may get another number.
        let again = undead(&after, &after, &roles(&after), &flows).graph;
        let size = |graph: &Graph| (graph.elements.len(), graph.connections.len());
        assert_eq!(size(&again), size(&after), "nothing is left to do");
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

    /// The Idle of a switch that has nothing to lead there stays, as it does in Click.
    #[test]
    fn static_switches_become_direct_connections() {
        check(
            "InfiniteSource -> a :: StaticSwitch(-1) -> ToDump(a); InfiniteSource -> b :: StaticSwitch(1); b => ToDump(b), ToDump(c);
             x, y :: Queue; InfiniteSource -> x; InfiniteSource -> y; x, y => s :: StaticPullSwitch(/* first */ 0) -> ToDump(d);
             InfiniteSource -> z :: StaticSwitch(what) -> ToDump(e);
             InfiniteSource -> StaticSwitch(0) -> ToDump(f)",
            expect![[r#"
                InfiniteSource@4 :: InfiniteSource;
                ToDump@7 :: ToDump(c);
                x :: Queue;
                InfiniteSource@10 :: InfiniteSource;
                ToDump@13 :: ToDump(d);
                InfiniteSource@14 :: InfiniteSource;
                z :: StaticSwitch(what);
                ToDump@16 :: ToDump(e);
                InfiniteSource@17 :: InfiniteSource;
                ToDump@19 :: ToDump(f);
                Idle@22 :: Idle;

                InfiniteSource@4 -> ToDump@7;
                InfiniteSource@10 -> x
                    -> ToDump@13;
                InfiniteSource@14 -> z
                    -> ToDump@16;
                InfiniteSource@17 -> ToDump@19;
            "#]],
        );
    }

    /// A chain of several, with several before the first or after the last.
    #[test]
    fn chains_of_nulls_go() {
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
    fn ports_without_traffic_go() {
        check(
            "InfiniteSource -> t :: Tee; t [0] -> Discard; t [1] -> ToDump(a); t [2] -> ToDump(b);
             InfiniteSource -> Tee(2) => Discard, q :: Queue; Idle -> r :: Queue;
             q, r, q2 :: Queue => s :: StrideSched(10, 20, 30) -> pt :: PullTee => ToDevice(c), Discard;
             InfiniteSource -> q2;
             InfiniteSource -> c :: CheckIPHeader => ToDump(d), Discard; i :: Idle -> [1] u :: Union -> ToDump(e); c -> u;",
            expect![[r#"
                InfiniteSource@1 :: InfiniteSource;
                t :: Tee(3);
                Discard@3 :: Discard;
                ToDump@4 :: ToDump(a);
                ToDump@5 :: ToDump(b);
                InfiniteSource@6 :: InfiniteSource;
                Tee@7 :: Tee(2);
                Discard@8 :: Discard;
                q :: Queue;
                q2 :: Queue;
                s :: StrideSched(10, 30);
                pt :: PullTee(2);
                ToDevice@15 :: ToDevice(c);
                Discard@16 :: Discard;
                InfiniteSource@17 :: InfiniteSource;
                InfiniteSource@18 :: InfiniteSource;
                c :: CheckIPHeader;
                ToDump@20 :: ToDump(d);
                Discard@21 :: Discard;
                u :: Union;
                ToDump@24 :: ToDump(e);
                Idle@25 :: Idle;

                InfiniteSource@1 -> t
                    -> Discard@3;
                t [1] -> ToDump@4;
                t [2] -> ToDump@5;
                InfiniteSource@6 -> Tee@7
                    -> Discard@8;
                Tee@7 [1] -> q
                    -> s
                    -> pt
                    -> ToDevice@15;
                InfiniteSource@17 -> q2
                    -> [1] s;
                pt [1] -> Discard@16;
                InfiniteSource@18 -> c
                    -> ToDump@20;
                c [1] -> Discard@21;
                c -> u
                    -> ToDump@24;
                Idle@25 -> [1] u;
            "#]],
        );
    }

    /// What others mention may be asked what it saw, and what has no ports in use says something to others.
    #[test]
    fn elements_that_others_mention_stay() {
        check(
            "AddressInfo(x 1.2.3.4); g :: { FromDump(a) -> c :: Counter -> Discard; Script(print c.count) };
             FromDump(b) -> Counter -> Discard",
            expect![[r#"
                AddressInfo@1 :: AddressInfo(x 1.2.3.4);
                FromDump@3 :: FromDump(b);
                Counter@4 :: Counter;
                Discard@5 :: Discard;
                g/FromDump@1 :: FromDump(a);
                g/c :: Counter;
                g/Discard@3 :: Discard;
                g/Script@4 :: Script(print c.count);

                FromDump@3 -> Counter@4
                    -> Discard@5;
                g/FromDump@1 -> g/c
                    -> g/Discard@3;
            "#]],
        );
    }
}
