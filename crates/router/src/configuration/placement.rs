//! Which worker runs what.
//!
//! Work starts at *roots*: elements with a task or timers of their own. A root has a home: the worker that it is
//! pinned to, worker 0, or (for multi-queue sources) every worker. Everything that a root reaches, pushing downstream
//! and pulling upstream as far as the next queue or other element that hands packets over, has an instance on the
//! root's worker. Roots that reach the same [`Residency::Exclusive`] element have to share one worker.

use crate::configuration::class::{Activity, Described, Residency};
use crate::configuration::node::Port;
use std::collections::BTreeMap;

/// The outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// For each element, the workers that have an instance of it, ascending.
    pub workers: Vec<Vec<usize>>,
    /// Why roots that could have run on several workers share one: (root, exclusive element, worker).
    pub merged: Vec<(usize, usize, usize)>,
    /// For each element, the worker that its own work is for: a root's home, or else the first that has an instance.
    pub homes: Vec<usize>,
}

struct Root {
    element: usize,
    homes: Vec<usize>,
    pinned: bool,
    reach: Vec<usize>,
}

/// Places every element on workers `0..workers`, which pins must be among.
pub(crate) fn place(
    classes: &[&'static Described],
    ports: &[[Vec<Port>; 2]],
    pins: &BTreeMap<usize, usize>,
    workers: usize,
) -> Placement {
    let mut roots = Vec::new();
    for (element, class) in classes.iter().enumerate() {
        let pulls = ports[element][0].first().is_some_and(|port| !port.push);
        let active = match class.activity {
            Activity::Never => false,
            Activity::Always | Activity::PerWorker => true,
            Activity::IfPullInput => pulls,
        };
        if active {
            roots.push(root(element, classes, ports, pins, workers));
        }
    }
    let mut rooted = vec![false; classes.len()];
    for root in &roots {
        root.reach.iter().for_each(|&element| rooted[element] = true);
    }
    // What nothing reaches can still be reached through handlers; it lives with what it reaches in turn.
    for element in 0..classes.len() {
        if !rooted[element] {
            let root = root(element, classes, ports, pins, workers);
            root.reach.iter().for_each(|&reached| rooted[reached] = true);
            roots.push(root);
        }
    }
    let merged = merge(classes, &mut roots);
    let mut placement = Placement { workers: vec![Vec::new(); classes.len()], merged, homes: Vec::new() };
    for root in &roots {
        for &element in &root.reach {
            let list = &mut placement.workers[element];
            list.extend(root.homes.iter().filter(|home| !list.contains(home)).copied().collect::<Vec<_>>());
        }
    }
    placement.workers.iter_mut().for_each(|list| list.sort_unstable());
    placement.homes = placement.workers.iter().map(|list| list.first().copied().unwrap_or(0)).collect();
    for root in &roots {
        placement.homes[root.element] = root.homes[0];
    }
    placement
}

fn root(
    element: usize,
    classes: &[&'static Described],
    ports: &[[Vec<Port>; 2]],
    pins: &BTreeMap<usize, usize>,
    workers: usize,
) -> Root {
    let pin = pins.get(&element).copied();
    let homes = match (pin, classes[element].activity) {
        (Some(worker), _) => vec![worker],
        (None, Activity::PerWorker) => (0..workers).collect(),
        (None, _) => vec![0],
    };
    Root { element, homes, pinned: pin.is_some(), reach: reach(element, classes, ports) }
}

/// All elements that work started by an element can touch, itself included.
fn reach(from: usize, classes: &[&'static Described], ports: &[[Vec<Port>; 2]]) -> Vec<usize> {
    let mut seen = vec![false; ports.len()];
    let mut reached = Vec::new();
    let mut open = vec![from];
    seen[from] = true;
    while let Some(element) = open.pop() {
        reached.push(element);
        if element != from && classes[element].hands_over {
            continue; // the other side is the element's own work
        }
        let downstream = ports[element][1].iter().filter(|port| port.push);
        let upstream = ports[element][0].iter().filter(|port| !port.push);
        for &(peer, _) in downstream.chain(upstream).flat_map(|port| &port.peers) {
            // A queue's other side is other tasks' work, unless it is reached from there, too.
            if !std::mem::replace(&mut seen[peer], true) {
                open.push(peer);
            }
        }
    }
    reached
}

/// Moves roots that share an exclusive element to one worker, until no two disagree.
fn merge(classes: &[&'static Described], roots: &mut [Root]) -> Vec<(usize, usize, usize)> {
    let mut merged = Vec::new();
    let mut by_exclusive: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, root) in roots.iter().enumerate() {
        for &element in root.reach.iter().filter(|&&e| classes[e].residency == Residency::Exclusive) {
            by_exclusive.entry(element).or_default().push(index);
        }
    }
    loop {
        let mut changed = false;
        for (&exclusive, sharers) in &by_exclusive {
            let pinned = sharers.iter().find(|&&r| roots[r].pinned).map(|&r| roots[r].homes[0]);
            let worker = pinned
                .or_else(|| sharers.iter().flat_map(|&r| roots[r].homes.iter().copied()).min())
                .unwrap_or(0);
            for &r in sharers {
                if roots[r].homes != [worker] {
                    roots[r].homes = vec![worker];
                    roots[r].pinned |= pinned.is_some();
                    merged.push((roots[r].element, exclusive, worker));
                    changed = true;
                }
            }
        }
        // Two pins can pull a root to and fro; after as many rounds as there are roots the last word stands.
        if !changed || merged.len() > roots.len() * roots.len().max(8) {
            return merged;
        }
    }
}
