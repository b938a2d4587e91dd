//! Tables that grow, lists and hash chains: against naive ones, and under readers.
#![cfg(not(loom))]

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

use proptest::prelude::*;
use rcu::{Chains, Config, Domain, List, Slots};

fn manual() -> Domain {
    // SAFETY: each test uses its cells with its one domain only.
    unsafe { Domain::isolated(Config::manual()) }
}

/// Counts itself while it exists; dead, it is not itself any more.
struct Alive {
    name: u32,
    alive: AtomicBool,
    count: Arc<AtomicUsize>,
}

impl Alive {
    fn new(name: u32, count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Relaxed);
        Self { name, alive: true.into(), count: count.clone() }
    }

    fn name(&self) -> u32 {
        assert!(self.alive.load(Relaxed), "freed under a reader");
        self.name
    }
}

impl rcu::Weigh for Alive {
    fn heap_bytes(&self) -> usize {
        0
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.alive.store(false, Relaxed);
        self.count.fetch_sub(1, Relaxed);
    }
}

/// Keys at the borders of segments, and some others.
fn index() -> impl Strategy<Value = usize> {
    prop_oneof![0..8usize, 30..34usize, 94..98usize, 0..10_000usize]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn slots_are_a_map(updates in prop::collection::vec((index(), prop::option::of(any::<u32>())), 0..60)) {
        let domain = manual();
        let (slots, mut naive) = (Slots::new(), BTreeMap::new());
        let (updater, guard) = (domain.updater(), domain.guard());
        for (index, value) in updates {
            slots.set(index, value.map(Box::new), &updater).unwrap();
            match value {
                Some(value) => _ = naive.insert(index, value),
                None => _ = naive.remove(&index),
            }
            prop_assert_eq!(slots.get(index, guard.turn()).copied(), naive.get(&index).copied());
        }
        let found: Vec<_> = slots.iter(guard.turn()).map(|(index, value)| (index, *value)).collect();
        prop_assert_eq!(found, naive.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn chains_are_a_map(updates in prop::collection::vec((0..20u8, prop::option::of(any::<u32>())), 0..60)) {
        let domain = manual();
        let count = Arc::new(AtomicUsize::new(0));
        let (chains, mut naive) = (Chains::new(4), BTreeMap::new());
        let updater = domain.updater();
        for (key, value) in updates {
            match value {
                Some(value) => {
                    let replaced = chains.insert(key, Alive::new(value, &count), &updater).unwrap();
                    prop_assert_eq!(replaced, naive.insert(key, value).is_some());
                }
                None => {
                    let removed = chains.remove(&key, &updater).unwrap();
                    prop_assert_eq!(removed, naive.remove(&key).is_some());
                }
            }
        }
        {
            let guard = domain.guard();
            let turn = guard.turn();
            let found: BTreeMap<_, _> = chains.iter(turn).map(|(key, value)| (*key, value.name())).collect();
            prop_assert_eq!(&found, &naive);
            for key in 0..20 {
                prop_assert_eq!(chains.get(&key, turn).map(Alive::name), naive.get(&key).copied());
            }
        }
        domain.barrier();
        prop_assert_eq!(count.load(Relaxed), naive.len());
        drop(chains);
        prop_assert_eq!(count.load(Relaxed), 0);
    }
}

#[test]
fn slots_end_somewhere() {
    let domain = manual();
    let guard = domain.guard();
    let slots = Slots::<u8>::new();
    assert_eq!(slots.get(Slots::<u8>::CAPACITY, guard.turn()), None);
    assert_eq!(slots.get(usize::MAX, guard.turn()), None);
    slots.set(Slots::<u8>::CAPACITY - 1, None, &domain.updater()).unwrap(); // makes no segment
}

#[test]
fn a_full_domain_changes_nothing() {
    let domain = manual();
    domain.set_limit_bytes(0);
    let updater = domain.updater();
    updater.call(0, || ()).unwrap(); // alone, anything goes
    let list = List::new();
    let mut edit = list.edit();
    edit.push_front(1);
    assert_eq!(edit.replace(2, |_| true, &updater).unwrap_err().into_inner(), 2);
    edit.remove(|_| true, &updater).unwrap_err();
    assert_eq!(edit.replace(2, |_| false, &updater).unwrap(), Some(2));
    assert!(!edit.remove(|_| false, &updater).unwrap());
    drop(edit);
    let chains = Chains::new(1);
    assert!(!chains.insert("a", 1, &updater).unwrap(), "needs no room");
    assert_eq!(chains.insert("a", 2, &updater).unwrap_err().into_inner(), ("a", 2));
    let guard = domain.guard();
    assert_eq!(list.iter(guard.turn()).collect::<Vec<_>>(), [&1]);
    assert_eq!(chains.get("a", guard.turn()), Some(&1));
}

/// Readers walk a list of which two editors remove, replace and insert. What is never touched is always found, in
/// its order, and what is found is alive.
#[test]
fn walks_under_two_editors() {
    const FIXED: u32 = 5;
    const ROUNDS: u32 = 500;
    // SAFETY: one domain, one list.
    let domain = unsafe { Domain::isolated(Config::default()) };
    let count = Arc::new(AtomicUsize::new(0));
    let list = List::new();
    (0..FIXED).for_each(|name| list.edit().push_front(Alive::new(name, &count)));
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers = [(); 2].map(|()| {
            let mut reader = domain.register("walker");
            let (list, stop) = (&list, &stop);
            scope.spawn(move || {
                let mut walks = 0;
                while !stop.load(Relaxed) || walks == 0 {
                    let names = list.iter(reader.turn()).map(Alive::name);
                    let fixed: Vec<_> = names.filter(|name| *name < FIXED).collect();
                    assert_eq!(fixed, (0..FIXED).rev().collect::<Vec<_>>());
                    reader.quiescent();
                    walks += 1;
                }
            })
        });
        let editors = [100, 200].map(|first| {
            let (updater, list, count) = (domain.updater(), &list, &count);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let name = first + round % 8;
                    let mut edit = list.edit();
                    let new = Alive::new(name, count);
                    if let Some(new) = edit.replace(new, |old| old.name() == name, &updater).unwrap() {
                        edit.push_front(new);
                    }
                    let other = first + round * 3 % 8;
                    edit.remove(|old| old.name() == other, &updater).unwrap();
                }
            })
        });
        editors.into_iter().for_each(|editor| editor.join().unwrap());
        stop.store(true, Relaxed);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
    domain.barrier();
    let left = list.iter(domain.guard().turn()).count();
    assert_eq!(count.load(Relaxed), left);
    drop(list);
    assert_eq!(count.load(Relaxed), 0);
}
