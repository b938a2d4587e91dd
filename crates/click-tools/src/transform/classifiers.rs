//! Making one Classifier of several.

use super::draft::Draft;
use lang::{Connection, Graph, Port, conf};

/// The class whose patterns can be joined.
const CLASSIFIER: &str = "Classifier";

/// Classes that go when nothing leads to them any more.
const ALL: [&str; 3] = [CLASSIFIER, "IPClassifier", "IPFilter"];

/// Joins each Classifier with those right before it, as Click's `click-fastclassifier` does: the patterns of both are tried at
/// once. If that was possible anywhere, classifiers that nothing leads to are removed.
///
/// A packet that no pattern of the second one matches is dropped. Where it would go on to further patterns of the first one
/// instead, they stay two, unlike in Click.
pub(crate) fn merge_classifiers(graph: &Graph) -> Graph {
    let mut draft = Draft::new(&graph.as_written());
    let mut merged = false;
    for element in draft.indices() {
        while is(&draft, element, &[CLASSIFIER]) && merge_any(&mut draft, element) {
            merged = true;
        }
    }
    if merged {
        let idle = |element: &usize| is(&draft, *element, &ALL) && draft.incoming(*element).is_empty();
        let idle: Vec<usize> = draft.indices().filter(idle).collect();
        idle.into_iter().for_each(|element| draft.remove(element));
    }
    draft.finish()
}

fn is(draft: &Draft, element: usize, classes: &[&str]) -> bool {
    draft.get(element).is_some_and(|element| classes.contains(&element.class.as_str()))
}

/// Joins a Classifier with one of those before it, the last connected first; says whether that was possible.
fn merge_any(draft: &mut Draft, second: usize) -> bool {
    let incoming = draft.incoming(second);
    let sources = incoming.iter().rev().map(|(_, c)| c.from);
    let mut sources = sources.filter(|from| from.element != second && is(draft, from.element, &[CLASSIFIER]));
    let found = sources.find_map(|from| Some((from, Merged::new(draft, from, second)?)));
    let Some((from, merged)) = found else { return false };
    merged.apply(draft, from);
    true
}

/// Two Classifiers as one.
struct Merged {
    config: String,
    /// The connections that leave the first one, by output.
    first: Vec<usize>,
    /// Where those of the second one lead.
    targets: Vec<Port>,
}

impl Merged {
    /// What a Classifier and the second one, to which an output of it leads, are together.
    fn new(draft: &Draft, from: Port, second: usize) -> Option<Merged> {
        let patterns = |element: usize| Some(conf::split_args(&draft.get(element)?.config));
        let (own, others) = (patterns(from.element)?, patterns(second)?);
        let (first, leaving) = (leaving(draft, from.element)?, leaving(draft, second)?);
        let at = from.port as usize;
        let drops_rightly = at + 1 == own.len() || others.iter().any(|pattern| pattern == "-");
        let fits = own.len() == first.len() && others.len() == leaving.len() && !leaving.is_empty();
        let targets: Vec<Port> = leaving.iter().map(|(_, c)| c.to).collect();
        let loops = targets.iter().any(|to| to.element == second);
        (fits && drops_rightly && !loops).then_some(())?;
        let both = others.iter().map(|other| match (own[at].as_str(), other.as_str()) {
            (own, "-") => own.to_owned(),
            ("-", other) => other.to_owned(),
            (own, other) => format!("{own} {other}"),
        });
        let all: Vec<String> = own[..at].iter().cloned().chain(both).chain(own[at + 1..].to_vec()).collect();
        let first = first.into_iter().map(|(i, _)| i).collect();
        Some(Merged { config: conf::join_args(&all), first, targets })
    }

    fn apply(self, draft: &mut Draft, Port { element, port }: Port) {
        draft.set_config(element, self.config);
        draft.disconnect(self.first[port as usize]);
        let more = self.targets.len() as u32 - 1;
        for (own, &connection) in (0..).zip(&self.first).skip(port as usize + 1) {
            draft.leave(connection, Port { element, port: own + more });
        }
        for (own, to) in (port..).zip(self.targets) {
            draft.append(Port { element, port: own }, to, "");
        }
    }
}

/// The connections that leave an element, by output, if there is one for each.
fn leaving(draft: &Draft, element: usize) -> Option<Vec<(usize, Connection)>> {
    let mut connections = draft.outgoing(element);
    connections.sort_by_key(|(_, c)| c.from.port);
    (0..).zip(&connections).all(|(port, (_, c))| c.from.port == port).then_some(connections)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(source: &str, expected: Expect) {
        let graph = lang::parse(source, "config", &[]).graph;
        expected.assert_eq(&lang::flatten(&merge_classifiers(&graph)));
    }

    #[test]
    fn one_of_three() {
        check(
            "Idle -> a :: Classifier(0/01, 0/02, -) -> b :: Classifier(1/03, -) -> c :: Classifier(2/04, -);
             a[1] -> A; a[2] -> c; b[1] -> B; c => C, D; Idle -> IPFilter(allow all) -> E; IPClassifier(-) -> F",
            expect![[r#"
                Idle@1 :: Idle;
                a :: Classifier(0/01 1/03 2/04, 0/01 1/03, 0/01, 0/02, 2/04, -);
                A@5 :: A;
                B@6 :: B;
                C@7 :: C;
                D@8 :: D;
                Idle@9 :: Idle;
                IPFilter@10 :: IPFilter(allow all);
                E@11 :: E;
                F@13 :: F;

                Idle@1 -> a
                    -> C@7;
                a [3] -> A@5;
                a [2] -> B@6;
                a [4] -> C@7;
                a [1] -> D@8;
                a [5] -> D@8;
                Idle@9 -> IPFilter@10
                    -> E@11;
            "#]],
        );
    }

    /// Packets that the second one drops must not go on to the other patterns of the first one; each output leads somewhere, once.
    #[test]
    fn classifiers_that_drop_packets_stay_two() {
        for source in [
            "Idle -> a :: Classifier(0/01, -) -> b :: Classifier(1/03) -> A; a[1] -> B",
            "Idle -> a :: Classifier(0/01, -) -> b :: Classifier(1/03, -) => A, B; a[0] -> C; a[1] -> D",
            "Idle -> a :: Classifier(0/01, -) -> b :: Classifier(1/03, -) -> A; a[1] -> D",
            "Idle -> a :: Classifier(0/01) -> b :: Classifier(1/03, -) -> A; b[1] -> b",
            "Classifier(0/01) -> A",
        ] {
            let graph = lang::parse(source, "config", &[]).graph;
            assert!(merge_classifiers(&graph).same_as(&graph), "{source}");
        }
    }
}
