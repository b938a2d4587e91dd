//! Several routers as one graph, and one router out of it again.

use super::draft::Draft;
use lang::{Connection, Element, Graph, Landmark, Port, Span, conf};

/// The class of elements that stand for a link between routers. Its arguments are pairs, first for each input and then
/// for each output: router, name and class of the element that was there, and that element's arguments.
pub(crate) const LINK: &str = "RouterLink";

/// A router that is to be combined with others.
#[derive(Debug, Clone)]
pub(crate) struct Component {
    /// Its name, the prefix of its elements.
    pub(crate) name: String,
    /// What it consists of.
    pub(crate) graph: Graph,
}

/// An element of a component: index of the component, index of the element.
pub(crate) type Endpoint = (usize, usize);

/// Combines routers to one graph, as Click's `click-combine` does. Packets that one router gives to the first element of a
/// link come from the second element of it in another: a RouterLink takes the place of both. Links that have an end in
/// common are one.
///
/// # Errors
/// Which element is used as both the beginning and the end of a link.
pub(crate) fn combine(components: &[Component], links: &[(Endpoint, Endpoint)]) -> Result<Graph, Endpoint> {
    if let Some(&(both, _)) = links.iter().find(|(from, _)| links.iter().any(|(_, to)| from == to)) {
        return Err(both);
    }
    let mut all = Graph::default();
    let mut first = Vec::new();
    for component in components {
        let (offset, prefix) = (all.elements.len(), format!("{}/", component.name));
        first.push(offset);
        for element in &component.graph.elements {
            all.push(with_prefix(element, &prefix));
        }
        let end = |port: Port| Port { element: port.element + offset, ..port };
        let connections = component.graph.connections.iter();
        let before = all.connections.len() as u32;
        all.connections.extend(connections.map(|c| Connection {
            from: end(c.from),
            to: end(c.to),
            order: before + c.order,
            ..c.clone()
        }));
        all.requirements.extend(component.graph.requirements.iter().cloned());
    }
    let mut draft = Draft::new(&all);
    for (number, (from, to)) in (1..).zip(groups(links)) {
        let ends: Vec<Endpoint> = from.iter().chain(&to).copied().collect();
        let describe = |&(router, element): &Endpoint| {
            let Component { name, graph } = &components[router];
            let Element { name: of, class, config, .. } = &graph.elements[element];
            [format!("{name} {of} {class}"), as_argument(config)]
        };
        let arguments: Vec<String> = ends.iter().flat_map(describe).collect();
        let link = draft.add(Element {
            name: format!("link{number}"),
            class: LINK.to_owned(),
            config: conf::join_args(&arguments),
            landmark: Landmark::new("<click-combine>", 0),
            span: Span::default(),
        });
        let place = |(router, element): Endpoint| first[router] + element;
        for (port, &end) in (0..).zip(&from) {
            for (i, _) in draft.incoming(place(end)) {
                draft.lead(i, Port { element: link, port });
            }
        }
        for (port, &end) in (0..).zip(&to) {
            for (i, _) in draft.outgoing(place(end)) {
                draft.leave(i, Port { element: link, port });
            }
        }
        ends.into_iter().for_each(|end| draft.remove(place(end)));
    }
    Ok(draft.finish())
}

/// An element inside a component. A link in it, which was combined before, names routers that have the prefix now.
fn with_prefix(element: &Element, prefix: &str) -> Element {
    let mut element = Element { name: format!("{prefix}{}", element.name), ..element.clone() };
    if element.class == LINK {
        let arguments = conf::split_args(&element.config);
        let changed = arguments.iter().enumerate().map(|(i, argument)| match i % 2 {
            0 => format!("{prefix}{argument}"),
            _ => argument.clone(),
        });
        element.config = conf::join_args(&changed.collect::<Vec<_>>());
    }
    element
}

/// Arguments as one argument.
fn as_argument(config: &str) -> String {
    match conf::split_args(config).as_slice() {
        [one] if !one.starts_with('"') => one.clone(),
        _ => conf::quote_text(config),
    }
}

/// What [`as_argument`] was given.
fn from_argument(argument: &str) -> String {
    if argument.starts_with('"') { conf::unquote(argument) } else { argument.to_owned() }
}

/// Beginnings and ends of links, those together that have an end in common.
fn groups(links: &[(Endpoint, Endpoint)]) -> Vec<(Vec<Endpoint>, Vec<Endpoint>)> {
    let mut group: Vec<usize> = (0..links.len()).collect();
    for i in 0..links.len() {
        for j in 0..i {
            if links[i].0 == links[j].0 || links[i].1 == links[j].1 {
                let (old, new) = (group[i].max(group[j]), group[i].min(group[j]));
                group.iter_mut().filter(|g| **g == old).for_each(|g| *g = new);
            }
        }
    }
    let mut found = Vec::new();
    for first in 0..links.len() {
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for (_, &(beginning, end)) in group.iter().zip(links).filter(|(g, _)| **g == first) {
            from.extend((!from.contains(&beginning)).then_some(beginning));
            to.extend((!to.contains(&end)).then_some(end));
        }
        if !from.is_empty() {
            found.push((from, to));
        }
    }
    found
}

/// Takes one component out of a combined graph, as Click's `click-uncombine` does: the elements that have its name as
/// their prefix and whatever is connected with them, with what was there before in the place of links.
///
/// # Errors
/// Which link has arguments that are not those of one.
pub(crate) fn uncombine(graph: &Graph, component: &str) -> Result<Graph, String> {
    let prefix = format!("{component}/");
    let mut draft = Draft::new(graph);
    let mut inside: Vec<usize> = Vec::new();
    for link in draft.indices() {
        let Some(element) = draft.get(link).filter(|element| element.class == LINK).cloned() else {
            continue;
        };
        let ends = ends(&draft, link, &element).ok_or_else(|| element.name.clone())?;
        if !ends.iter().any(|end| end.router == component) {
            let deeper = ends.iter().any(|end| end.router.starts_with(&prefix));
            inside.extend(deeper.then_some(link));
            continue;
        }
        for end in ends.into_iter().filter(|end| end.router == component) {
            let place = draft.add(Element {
                name: end.name,
                class: end.class,
                config: end.config,
                landmark: Landmark::new("<click-uncombine>", 0),
                span: Span::default(),
            });
            inside.push(place);
            let port = Port { element: place, port: 0 };
            if end.is_input {
                let incoming = draft.incoming(link).into_iter().filter(|(_, c)| c.to.port == end.port);
                incoming.for_each(|(i, _)| draft.lead(i, port));
            } else {
                let outgoing = draft.outgoing(link).into_iter().filter(|(_, c)| c.from.port == end.port);
                outgoing.for_each(|(i, _)| draft.leave(i, port));
            }
        }
        draft.remove(link);
    }
    inside.extend(
        draft.indices().filter(|&e| draft.get(e).is_some_and(|element| element.name.starts_with(&prefix))),
    );
    let connected = connected(&draft, inside);
    draft.indices().filter(|&element| !connected[element]).for_each(|element| draft.remove(element));
    Ok(without_prefix(draft.finish(), &prefix))
}

/// One end of a link.
struct End {
    router: String,
    name: String,
    class: String,
    config: String,
    is_input: bool,
    port: u32,
}

/// The ends that a link's arguments describe; nothing if they do not fit its ports.
fn ends(draft: &Draft, link: usize, element: &Element) -> Option<Vec<End>> {
    let inputs = draft.incoming(link).iter().map(|(_, c)| c.to.port + 1).max()?;
    let outputs = draft.outgoing(link).iter().map(|(_, c)| c.from.port + 1).max()?;
    let arguments = conf::split_args(&element.config);
    if arguments.len() != 2 * (inputs + outputs) as usize {
        return None;
    }
    let end = |(i, pair): (u32, &[String])| {
        let [router, name, class] = <[String; 3]>::try_from(conf::split_spaces(&pair[0])).ok()?;
        let is_input = i < inputs;
        let port = if is_input { i } else { i - inputs };
        Some(End { router, name, class, config: from_argument(&pair[1]), is_input, port })
    };
    (0..).zip(arguments.chunks(2)).map(end).collect()
}

/// For each element, whether connections join it with one of these.
fn connected(draft: &Draft, with: Vec<usize>) -> Vec<bool> {
    let mut found = vec![false; draft.indices().len()];
    let mut open = with;
    while let Some(element) = open.pop() {
        if !std::mem::replace(&mut found[element], true) {
            open.extend(draft.incoming(element).iter().map(|(_, c)| c.from.element));
            open.extend(draft.outgoing(element).iter().map(|(_, c)| c.to.element));
        }
    }
    found
}

/// The graph with a prefix taken off names, of elements and in links, where no other element has the name then.
fn without_prefix(graph: Graph, prefix: &str) -> Graph {
    let mut renamed = Graph::default();
    for mut element in graph.elements.iter().cloned() {
        if let Some(name) = element.name.strip_prefix(prefix).filter(|name| graph.find(name).is_none()) {
            element.name = name.to_owned();
        }
        if element.class == LINK {
            let arguments = conf::split_args(&element.config);
            let shorter = arguments.iter().map(|argument| argument.strip_prefix(prefix).unwrap_or(argument));
            element.config = conf::join_args(&shorter.collect::<Vec<_>>());
        }
        renamed.push(element);
    }
    renamed.connections = graph.connections;
    renamed.requirements = graph.requirements;
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn component(name: &str, text: &str) -> Component {
        Component { name: name.to_owned(), graph: lang::parse(text, "config", &[]).graph }
    }

    /// The endpoint that is called so.
    fn end(components: &[Component], router: usize, name: &str) -> Endpoint {
        (router, components[router].graph.find(name).unwrap())
    }

    fn routers() -> Vec<Component> {
        vec![
            component(
                "a",
                "f :: FromDevice(eth0, SNIFFER true) -> Queue -> t :: ToDevice(eth0); Idle -> Discard",
            ),
            component(
                "b",
                "f :: FromDevice(eth1) -> c :: Counter -> q :: Queue -> t :: ToDevice; require(x)",
            ),
            component("c", "g :: FromDevice(\"eth1\") -> Discard; h :: ToDevice(eth2); Idle -> h"),
        ]
    }

    #[test]
    fn link_and_back() {
        let all = routers();
        let end = |router, name| end(&all, router, name);
        // One link with three ends, and one between two, which also closes a circle.
        let links = [(end(0, "t"), end(1, "f")), (end(0, "t"), end(2, "g")), (end(1, "t"), end(0, "f"))];
        let combined = combine(&all, &links).unwrap();
        expect![[r#"
            require(package "x");

            a/Queue@2 :: Queue;
            a/Idle@4 :: Idle;
            a/Discard@5 :: Discard;
            b/c :: Counter;
            b/q :: Queue;
            c/Discard@2 :: Discard;
            c/h :: ToDevice(eth2);
            c/Idle@4 :: Idle;
            link1 :: RouterLink(a t ToDevice, eth0, b f FromDevice, eth1, c g FromDevice, "\"eth1\"");
            link2 :: RouterLink(b t ToDevice, "", a f FromDevice, "eth0, SNIFFER true");

            a/Idle@4 -> a/Discard@5;
            link1 [1] -> c/Discard@2;
            c/Idle@4 -> c/h;
            link2 -> a/Queue@2
                -> link1
                -> b/c
                -> b/q
                -> link2;
        "#]]
        .assert_eq(&lang::flatten(&combined));
        for component in &all {
            let found = uncombine(&combined, &component.name).unwrap();
            let sorted = |graph: &Graph| {
                let mut lines: Vec<String> = graph
                    .elements
                    .iter()
                    .map(|e| format!("{} :: {}({})", e.name, e.class, e.config))
                    .collect();
                lines.extend(graph.connections.iter().map(|c| {
                    let name = |port: Port| (graph.elements[port.element].name.clone(), port.port);
                    format!("{:?}", (name(c.from), name(c.to)))
                }));
                lines.sort();
                lines
            };
            assert_eq!(sorted(&found), sorted(&component.graph), "{}", component.name);
        }
    }

    #[test]
    fn combined_routers_combine_again_and_come_apart_in_steps() {
        let all = routers();
        let link = [(end(&all, 0, "t"), end(&all, 1, "f"))];
        let inner = combine(&all[..2], &link).unwrap();
        let outer = [Component { name: "n".to_owned(), graph: inner.clone() }, all[2].clone()];
        let from = end(&outer, 0, "b/t");
        let combined = combine(&outer, &[(from, end(&outer, 1, "g"))]).unwrap();
        expect![[r#"
            require(package "x");

            n/a/f :: FromDevice(eth0, SNIFFER true);
            n/a/Queue@2 :: Queue;
            n/a/Idle@4 :: Idle;
            n/a/Discard@5 :: Discard;
            n/b/c :: Counter;
            n/b/q :: Queue;
            n/link1 :: RouterLink(n/a t ToDevice, eth0, n/b f FromDevice, eth1);
            c/Discard@2 :: Discard;
            c/h :: ToDevice(eth2);
            c/Idle@4 :: Idle;
            link1 :: RouterLink(n b/t ToDevice, "", c g FromDevice, "\"eth1\"");

            n/a/f -> n/a/Queue@2
                -> n/link1
                -> n/b/c
                -> n/b/q
                -> link1
                -> c/Discard@2;
            n/a/Idle@4 -> n/a/Discard@5;
            c/Idle@4 -> c/h;
        "#]]
        .assert_eq(&lang::flatten(&combined));
        let again = uncombine(&combined, "n").unwrap();
        let b = uncombine(&again, "b").unwrap();
        expect![[r#"
            require(package "x");

            c :: Counter;
            q :: Queue;
            t :: ToDevice;
            f :: FromDevice(eth1);

            f -> c
                -> q
                -> t;
        "#]]
        .assert_eq(&lang::flatten(&b));
    }

    #[test]
    fn errors_name_the_end_or_the_link_at_fault() {
        let all = routers();
        let (t, f) = (end(&all, 0, "t"), end(&all, 1, "f"));
        assert_eq!(combine(&all, &[(t, f), (f, t)]).unwrap_err(), t);
        for text in [
            "l :: RouterLink(a t T, x); Idle -> l -> Discard",
            "l :: RouterLink(a t T, x, b c, y); Idle -> l -> Discard",
        ] {
            assert_eq!(uncombine(&lang::parse(text, "config", &[]).graph, "a").unwrap_err(), "l", "{text}");
        }
    }
}
