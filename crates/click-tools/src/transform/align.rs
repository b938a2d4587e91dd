//! Adding what aligns packet data.

use super::Flows;
use super::alignment::Alignment;
use super::draft::Draft;
use lang::{Element, Graph, Port, conf};

/// A configuration with what aligns packet data, and what there is to say about it.
#[derive(Debug)]
pub(crate) struct Aligned {
    /// The configuration.
    pub(crate) graph: Graph,
    /// How many Align elements were added.
    pub(crate) added: usize,
    /// Which ones, and why, a line each.
    pub(crate) steps: Vec<String>,
}

/// Adds an Align before each input whose packets need not begin where its element wants them to, as Click's `click-align`
/// does, and an AlignmentInfo that tells elements where packets begin. Aligns that nothing needs are removed.
///
/// What elements want and make of where packets begin is known by their classes' names. `values` is the same graph with
/// values in the place of variables, `flows` says which inputs of its elements lead to which outputs.
pub(crate) fn align(graph: &Graph, values: &Graph, flows: &Flows<'_>) -> Aligned {
    let mut align = Align::new(graph, values, flows);
    align.require();
    align.skip_doubles();
    align.adjust();
    align.remove_redundant();
    align.remove_unused();
    align.tell();
    Aligned { graph: align.draft.finish(), added: align.added, steps: align.steps }
}

/// Adds a CheckAlign before each input whose element wants packets to begin somewhere: `click-align --assertions`.
pub(crate) fn assert_alignment(graph: &Graph, values: &Graph, flows: &Flows<'_>) -> Graph {
    let mut align = Align::new(graph, values, flows);
    let mut wanted = align.ports();
    align.want_inputs(&mut wanted);
    for to in align.inputs() {
        let Alignment::At(modulus, offset) = wanted[to.element].ins[to.port as usize] else { continue };
        if modulus > 1 {
            align.insert("CheckAlign", format!("{modulus}, {offset}, ASSERT true"), to);
        }
    }
    align.draft.finish()
}

const PLACE: &str = "<click-align>";

/// Classes that look into an AlignmentInfo.
const INFORMED: &[&str] = &[
    "CheckIPHeader",
    "CheckIPHeader2",
    "Classifier",
    "ICMPIPEncap",
    "ICMPPingEncap",
    "IPInputCombo",
    "IPsecEncap",
    "UDPIPEncap",
];

/// What an element has to do with where packets begin.
#[derive(Clone, Copy)]
enum Aligner {
    /// It leaves them where they are.
    Keeps,
    /// What leaves it begins here.
    Makes(Alignment),
    /// It moves the beginning by so many bytes.
    Moves(i64),
    /// It wants packets to begin here.
    Wants(Alignment),
    /// It wants packets to begin here, and moves the beginning.
    WantsAndMoves(Alignment, i64),
    /// Any place is good that is always the same modulo four.
    Settles,
    /// It puts an Ethernet header before what enters its input 0, and makes queries of its own.
    Queries,
}

/// Rounds until nothing changes, at most: loops in a graph need not settle.
const ROUNDS: usize = 10_000;

/// Where packets begin at an element's ports.
#[derive(Clone, PartialEq)]
struct Ports {
    ins: Vec<Alignment>,
    outs: Vec<Alignment>,
}

struct Align<'a> {
    draft: Draft,
    aligners: Vec<Aligner>,
    flows: &'a Flows<'a>,
    /// Elements that were there before.
    original: usize,
    /// The number of the next element that is added.
    number: usize,
    added: usize,
    steps: Vec<String>,
}

impl<'a> Align<'a> {
    fn new(graph: &Graph, values: &Graph, flows: &'a Flows<'a>) -> Align<'a> {
        let original = graph.elements.len();
        Align {
            draft: Draft::new(graph),
            aligners: values.elements.iter().map(aligner).collect(),
            flows,
            original,
            number: original + 1,
            added: 0,
            steps: Vec::new(),
        }
    }

    fn is_align(&self, element: usize) -> bool {
        self.draft.get(element).is_some_and(|element| element.class == "Align")
    }

    /// The inputs of the elements that were there before.
    fn inputs(&self) -> Vec<Port> {
        (0..self.original)
            .flat_map(|element| (0..self.draft.used_ports(element).0).map(move |port| Port { element, port }))
            .collect()
    }

    /// All ports, with nothing known of them.
    fn ports(&self) -> Vec<Ports> {
        let unknown = |count: u32| vec![Alignment::Unknown; count as usize];
        (self.draft.indices())
            .map(|element| self.draft.used_ports(element))
            .map(|(ins, outs)| Ports { ins: unknown(ins), outs: unknown(outs) })
            .collect()
    }

    /// Where packets do begin.
    fn have(&self) -> Vec<Ports> {
        let mut ports = self.ports();
        for _ in 0..ROUNDS {
            for (element, ports) in ports.iter_mut().enumerate() {
                self.make_outputs(element, ports);
            }
            let before: Vec<Vec<Alignment>> = ports.iter().map(|ports| ports.ins.clone()).collect();
            ports.iter_mut().for_each(|ports| ports.ins.fill(Alignment::Unknown));
            for c in self.draft.connections() {
                let from = ports[c.from.element].outs[c.from.port as usize];
                let to = &mut ports[c.to.element].ins[c.to.port as usize];
                *to = to.either(from);
            }
            if ports.iter().zip(&before).all(|(ports, before)| ports.ins == *before) {
                break;
            }
        }
        ports
    }

    fn make_outputs(&self, element: usize, Ports { ins, outs }: &mut Ports) {
        let all = ins.iter().copied().fold(Alignment::Unknown, Alignment::either);
        // What has no input says nothing.
        let all = if ins.is_empty() { Alignment::At(1, 0) } else { all };
        match self.aligners[element] {
            Aligner::Makes(alignment) => outs.fill(alignment),
            Aligner::Moves(bytes) | Aligner::WantsAndMoves(_, bytes) => outs.fill(all.moved(bytes)),
            Aligner::Queries => {
                let Some(first) = ins.first() else { return };
                outs.fill(Alignment::At(4, 2));
                outs.iter_mut().take(1).for_each(|out| *out = first.moved(-14));
            }
            Aligner::Keeps | Aligner::Wants(_) | Aligner::Settles => {
                for (output, out) in (0..).zip(outs) {
                    let leads = (0..).zip(&*ins).filter(|&(input, _)| (self.flows)(element, input, output));
                    *out = leads.map(|(_, &of)| of).fold(Alignment::Unknown, Alignment::either);
                }
            }
        }
    }

    /// Where packets should begin.
    fn want(&self) -> Vec<Ports> {
        let mut ports = self.ports();
        for _ in 0..ROUNDS {
            self.want_inputs(&mut ports);
            let before: Vec<Vec<Alignment>> = ports.iter().map(|ports| ports.outs.clone()).collect();
            ports.iter_mut().for_each(|ports| ports.outs.fill(Alignment::Unknown));
            for c in self.draft.connections() {
                let to = ports[c.to.element].ins[c.to.port as usize];
                let from = &mut ports[c.from.element].outs[c.from.port as usize];
                *from = from.both(to);
            }
            if ports.iter().zip(&before).all(|(ports, before)| ports.outs == *before) {
                break;
            }
        }
        ports
    }

    /// What elements want at their inputs, from what is wanted of their outputs.
    fn want_inputs(&self, ports: &mut [Ports]) {
        for (element, Ports { ins, outs }) in ports.iter_mut().enumerate() {
            let all = outs.iter().copied().fold(Alignment::Unknown, Alignment::both);
            let all = if outs.is_empty() { Alignment::At(1, 0) } else { all };
            match self.aligners[element] {
                Aligner::Makes(_) => ins.fill(Alignment::Unknown),
                Aligner::Moves(bytes) => ins.fill(all.moved(-bytes)),
                Aligner::Wants(alignment) | Aligner::WantsAndMoves(alignment, _) => ins.fill(alignment),
                Aligner::Queries => {
                    let wanted = outs.first().copied();
                    ins.fill(Alignment::At(2, 0));
                    if let (Some(first), Some(wanted)) = (ins.first_mut(), wanted) {
                        *first = wanted.moved(14);
                    }
                }
                Aligner::Keeps | Aligner::Settles => {
                    for (input, into) in (0..).zip(ins) {
                        let leads =
                            (0..).zip(&*outs).filter(|&(output, _)| (self.flows)(element, input, output));
                        *into = leads.map(|(_, &of)| of).fold(Alignment::Unknown, Alignment::both);
                    }
                }
            }
        }
    }

    /// Puts an element before an input.
    fn insert(&mut self, class: &str, config: String, to: Port) -> usize {
        let before = self.draft.incoming(to.element);
        let prefix = format!("{class}@click_align");
        let new = self.draft.add_numbered(&prefix, self.number, class, config, PLACE);
        self.number += 1;
        for (i, _) in before.iter().filter(|(_, c)| c.to == to) {
            self.draft.lead(*i, Port { element: new, port: 0 });
        }
        self.draft.append(Port { element: new, port: 0 }, to, PLACE);
        new
    }

    /// Puts an Align before an input, if packets do not begin there as they should.
    fn insert_align(&mut self, to: Port, have: Alignment, want: Alignment) {
        if have.suits(want) || want == Alignment::Impossible {
            return;
        }
        let (modulus, offset) = want.parts();
        let name = self.draft.get(to.element).map_or("", |element| &element.name);
        self.steps.push(format!("{name} [{}]: adding Align({modulus}, {offset}) to fix {have}", to.port));
        self.insert("Align", format!("{modulus}, {offset}"), to);
        self.aligners.push(Aligner::Makes(Alignment::At(modulus, offset)));
        self.added += 1;
    }

    /// Adds what elements require.
    fn require(&mut self) {
        let (have, want) = (self.have(), self.want());
        for to in self.inputs() {
            let at = |ports: &[Ports]| ports[to.element].ins[to.port as usize];
            self.insert_align(to, at(&have), at(&want));
        }
    }

    /// Connects around the upper one of two Aligns in a row, where one of them is the other's only one.
    fn skip_doubles(&mut self) {
        for i in 0..self.draft.connections_made() {
            let Some(c) = self.draft.connection(i).cloned() else { continue };
            if c.from.port != 0
                || c.to.port != 0
                || !self.is_align(c.from.element)
                || !self.is_align(c.to.element)
            {
                continue;
            }
            let (Aligner::Makes(upper), Aligner::Makes(lower)) =
                (self.aligners[c.from.element], self.aligners[c.to.element])
            else {
                continue;
            };
            let above = self.draft.incoming(c.from.element);
            let below = self.draft.outgoing(c.from.element);
            let into_lower = self.draft.incoming(c.to.element);
            if upper.suits(lower) {
                // The lower one is redundant.
            } else if let ([(_, above)], [_]) = (&above[..], &into_lower[..]) {
                self.draft.leave(i, above.from);
            } else if below.len() == 1 {
                above.iter().for_each(|(above, _)| self.draft.lead(*above, c.to));
                self.draft.disconnect(i);
            }
        }
    }

    /// Adds Aligns before elements that need nothing but to know where packets begin.
    fn adjust(&mut self) {
        let have = self.have();
        for to in self.inputs() {
            if !matches!(self.aligners[to.element], Aligner::Settles) {
                continue;
            }
            let ins = &have[to.element].ins;
            let (modulus, offset) = ins.iter().copied().fold(Alignment::Unknown, Alignment::either).parts();
            self.insert_align(to, ins[to.port as usize], Alignment::At(modulus.max(4), offset));
        }
    }

    /// Connects around Aligns that change nothing.
    fn remove_redundant(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            let have = self.have();
            for i in 0..self.draft.connections_made() {
                let Some(c) = self.draft.connection(i).cloned() else { continue };
                let made = have[c.to.element].outs.first().copied().unwrap_or(Alignment::Unknown);
                if !self.is_align(c.to.element)
                    || !have[c.from.element].outs[c.from.port as usize].suits(made)
                {
                    continue;
                }
                changed = true;
                self.draft.disconnect(i);
                for (_, below) in self.draft.outgoing(c.to.element) {
                    let there = self.draft.outgoing(c.from.element);
                    if !there.iter().any(|(_, other)| (other.from, other.to) == (c.from, below.to)) {
                        self.draft.append(c.from, below.to, PLACE);
                    }
                }
            }
        }
    }

    /// Removes Aligns without input or output, and what is said of where packets begin.
    fn remove_unused(&mut self) {
        for element in self.draft.indices() {
            if self.draft.get(element).is_some_and(|element| element.class == "AlignmentInfo") {
                self.draft.remove(element);
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for element in self.draft.indices().filter(|&element| self.is_align(element)).collect::<Vec<_>>()
            {
                let (ins, outs) = self.draft.used_ports(element);
                if ins == 0 || outs == 0 {
                    changed = true;
                    self.added -= usize::from(element >= self.original);
                    self.draft.remove(element);
                }
            }
        }
    }

    /// Adds an AlignmentInfo, if some element looks into it.
    fn tell(&mut self) {
        let have = self.have();
        let mut lines = Vec::new();
        for (element, ports) in self.draft.indices().zip(&have) {
            let Some(element) = self.draft.get(element) else { continue };
            if INFORMED.contains(&element.class.as_str()) && !ports.ins.is_empty() {
                let parts = ports.ins.iter().map(|alignment| alignment.parts());
                let parts: String = parts.map(|(modulus, offset)| format!("  {modulus} {offset}")).collect();
                lines.push(format!("{}{parts}", element.name));
            }
        }
        if !lines.is_empty() {
            let class = "AlignmentInfo";
            let prefix = format!("{class}@click_align");
            self.draft.add_numbered(&prefix, self.number, class, lines.join(",\n  "), PLACE);
        }
    }
}

/// What an element has to do with where packets begin.
fn aligner(element: &Element) -> Aligner {
    let word = Alignment::At(4, 0);
    let arguments = Arguments(conf::split_args(&element.config));
    let on_device = || match arguments.keyword("ALIGNMENT") {
        Some(text) => pair(&conf::split_spaces(text)),
        None if arguments.keyword("TYPE") == Some("IP") => Some(word),
        None => Some(Alignment::At(4, 2)),
    };
    match element.class.as_str() {
        "Align" => pair(&arguments.0).map_or(Aligner::Keeps, Aligner::Makes),
        "Strip" => arguments.number("LENGTH", 0).map_or(Aligner::Keeps, Aligner::Moves),
        "Unstrip" => arguments.number("LENGTH", 0).map_or(Aligner::Keeps, |bytes| Aligner::Moves(-bytes)),
        "CheckIPHeader" | "CheckIPHeader2" | "MarkIPHeader" => {
            // Of old, addresses stood before the offset.
            let offset = arguments.number("OFFSET", 0).or_else(|| arguments.number("OFFSET", 1));
            Aligner::Wants(word.moved(-offset.unwrap_or(0)))
        }
        "Classifier" => Aligner::Settles,
        "EtherEncap" => Aligner::Moves(-14),
        "FromHost" | "FromDevice" | "PollDevice" => on_device().map_or(Aligner::Keeps, Aligner::Makes),
        "ToHost" => on_device().map_or(Aligner::Keeps, Aligner::Wants),
        "SR2SetChecksum" | "SR2CheckHeader" | "SetSRChecksum" | "CheckSRHeader" => {
            Aligner::Makes(Alignment::At(4, 2))
        }
        "ICMPError" if arguments.keyword("ETHER") == Some("true") => Aligner::Keeps,
        "ICMPError" | "InfiniteSource" | "RatedSource" => Aligner::Makes(word),
        "Idle" => Aligner::Makes(Alignment::Any),
        "IPEncap"
        | "UDPIPEncap"
        | "ICMPPingEncap"
        | "RandomUDPIPEncap"
        | "RoundRobinUDPIPEncap"
        | "RoundRobinTCPIPEncap"
        | "StoreUDPTimeSeqRecord" => Aligner::Wants(word),
        "ARPResponder" => Aligner::Wants(Alignment::At(2, 0)),
        "ARPQuerier" => Aligner::Queries,
        "IPInputCombo" => Aligner::WantsAndMoves(Alignment::At(4, 2), 14),
        "GridEncap" => Aligner::WantsAndMoves(word, 98),
        _ => Aligner::Keeps,
    }
}

/// A modulus and an offset.
fn pair(words: &[impl AsRef<str>]) -> Option<Alignment> {
    let [modulus, offset] = words else { return None };
    let number = |word: &str| word.trim_start_matches("MODULUS ").trim_start_matches("OFFSET ").parse().ok();
    let (modulus, offset) = (number(modulus.as_ref())?, number(offset.as_ref())?);
    (modulus > 0 && (0..modulus).contains(&offset)).then_some(Alignment::At(modulus, offset))
}

/// The arguments of an element.
struct Arguments(Vec<String>);

impl Arguments {
    fn keyword(&self, name: &str) -> Option<&str> {
        let value = |argument: &'_ String| conf::keyword(argument).is_some_and(|(found, _)| found == name);
        let argument = self.0.iter().rev().find(|argument| value(argument))?;
        conf::keyword(argument).map(|(_, value)| value)
    }

    /// The number that has a name, or this place.
    fn number(&self, name: &str, place: usize) -> Option<i64> {
        self.keyword(name).or(self.0.get(place).map(String::as_str))?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// All classes lead from each input to each output.
    const ALL: &Flows<'_> = &|_, _, _| true;

    fn check(source: &str, expected: Expect) {
        let graph = lang::parse(source, "config", &[]).graph;
        let after = align(&graph, &graph, ALL);
        expected.assert_eq(&format!("{}\n{} added\n", lang::flatten(&after.graph), after.added));
        assert_eq!(align(&after.graph, &after.graph, ALL).added, 0, "nothing is left to do");
    }

    /// An Ethernet header is in the way of an IP header; what comes from a file can begin anywhere.
    #[test]
    fn elements_get_the_alignment_that_they_require() {
        check(
            "FromDevice(a) -> Strip(14) -> CheckIPHeader -> Discard",
            expect![[r#"
            FromDevice@1 :: FromDevice(a);
            Strip@2 :: Strip(14);
            CheckIPHeader@3 :: CheckIPHeader;
            Discard@4 :: Discard;
            AlignmentInfo@click_align@5 :: AlignmentInfo(CheckIPHeader@3  4 0);

            FromDevice@1 -> Strip@2
                -> CheckIPHeader@3
                -> Discard@4;

            0 added
        "#]],
        );
        check(
            "FromDevice(a) -> CheckIPHeader(OFFSET 14) -> Discard; FromDump(b) -> CheckIPHeader -> Discard",
            expect![[r#"
            FromDevice@1 :: FromDevice(a);
            CheckIPHeader@2 :: CheckIPHeader(OFFSET 14);
            Discard@3 :: Discard;
            FromDump@4 :: FromDump(b);
            CheckIPHeader@5 :: CheckIPHeader;
            Discard@6 :: Discard;
            Align@click_align@7 :: Align(4, 0);
            AlignmentInfo@click_align@8 :: AlignmentInfo(CheckIPHeader@2  4 2,
              CheckIPHeader@5  4 0);

            FromDevice@1 -> CheckIPHeader@2
                -> Discard@3;
            FromDump@4 -> Align@click_align@7
                -> CheckIPHeader@5
                -> Discard@6;

            1 added
        "#]],
        );
        check(
            "FromDevice(a) -> c :: Classifier(12/0800, -); c -> CheckIPHeader -> Discard; c [1] -> Discard",
            expect![[r#"
            FromDevice@1 :: FromDevice(a);
            c :: Classifier(12/0800, -);
            CheckIPHeader@3 :: CheckIPHeader;
            Discard@4 :: Discard;
            Discard@5 :: Discard;
            Align@click_align@6 :: Align(4, 0);
            AlignmentInfo@click_align@8 :: AlignmentInfo(c  4 0,
              CheckIPHeader@3  4 0);

            c [1] -> Discard@5;
            FromDevice@1 -> Align@click_align@6
                -> c
                -> CheckIPHeader@3
                -> Discard@4;

            1 added
        "#]],
        );
    }

    /// One Align for several, and none where one is not needed.
    #[test]
    fn superfluous_aligns_go() {
        check(
            "InfiniteSource -> Align(4, 0) -> CheckIPHeader -> Discard; AlignmentInfo(x 4 2)",
            expect![[r#"
            InfiniteSource@1 :: InfiniteSource;
            CheckIPHeader@3 :: CheckIPHeader;
            Discard@4 :: Discard;
            AlignmentInfo@click_align@6 :: AlignmentInfo(CheckIPHeader@3  4 0);

            InfiniteSource@1 -> CheckIPHeader@3
                -> Discard@4;

            0 added
        "#]],
        );
        check(
            "FromDump(a) -> Align(2, 0) -> CheckIPHeader -> UDPIPEncap(1.0.0.1, 1, 1.0.0.2, 2) -> Discard",
            expect![[r#"
            FromDump@1 :: FromDump(a);
            CheckIPHeader@3 :: CheckIPHeader;
            UDPIPEncap@4 :: UDPIPEncap(1.0.0.1, 1, 1.0.0.2, 2);
            Discard@5 :: Discard;
            Align@click_align@6 :: Align(4, 0);
            AlignmentInfo@click_align@8 :: AlignmentInfo(CheckIPHeader@3  4 0,
              UDPIPEncap@4  4 0);

            FromDump@1 -> Align@click_align@6
                -> CheckIPHeader@3
                -> UDPIPEncap@4
                -> Discard@5;

            1 added
        "#]],
        );
        check(
            "Idle -> CheckIPHeader -> Discard",
            expect![[r#"
            Idle@1 :: Idle;
            CheckIPHeader@2 :: CheckIPHeader;
            Discard@3 :: Discard;
            AlignmentInfo@click_align@4 :: AlignmentInfo(CheckIPHeader@2  1 0);

            Idle@1 -> CheckIPHeader@2
                -> Discard@3;

            0 added
        "#]],
        );
    }

    #[test]
    fn assertions_stand_before_what_needs_alignment() {
        let graph =
            lang::parse("FromDevice(a) -> Strip(14) -> CheckIPHeader -> Discard", "config", &[]).graph;
        expect![[r#"
            FromDevice@1 :: FromDevice(a);
            Strip@2 :: Strip(14);
            CheckIPHeader@3 :: CheckIPHeader;
            Discard@4 :: Discard;
            CheckAlign@click_align@5 :: CheckAlign(4, 0, ASSERT true);

            FromDevice@1 -> Strip@2
                -> CheckAlign@click_align@5
                -> CheckIPHeader@3
                -> Discard@4;
        "#]]
        .assert_eq(&lang::flatten(&assert_alignment(&graph, &graph, ALL)));
    }

    #[test]
    fn the_search_ends_in_a_loop() {
        check(
            "FromDevice(a) -> s :: Strip(1) -> t :: Tee -> s; t [1] -> CheckIPHeader -> Discard",
            expect![[r#"
            FromDevice@1 :: FromDevice(a);
            s :: Strip(1);
            t :: Tee;
            CheckIPHeader@4 :: CheckIPHeader;
            Discard@5 :: Discard;
            Align@click_align@6 :: Align(4, 0);
            AlignmentInfo@click_align@7 :: AlignmentInfo(CheckIPHeader@4  4 0);

            FromDevice@1 -> s
                -> t
                -> s;
            t [1] -> Align@click_align@6
                -> CheckIPHeader@4
                -> Discard@5;

            1 added
        "#]],
        );
    }
}
