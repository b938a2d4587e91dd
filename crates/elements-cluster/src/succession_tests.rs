//! Who watches a table, if two elements would.

use super::*;
use std::sync::atomic::AtomicBool;

/// A table that one at a time may watch.
#[derive(Default)]
struct Table(AtomicBool);

impl StatePort for Table {
    fn watch(&self, is_wanted: bool) -> Result<(), String> {
        if self.0.swap(is_wanted, Relaxed) && is_wanted { Err("watched already".to_owned()) } else { Ok(()) }
    }

    fn changes(
        &self,
        _: &Cx<'_>,
        _: usize,
        _: &mut dyn FnMut(Entry<'_>),
    ) -> Result<bool, elements_shared::state_port::Overrun> {
        Ok(false)
    }

    fn scan(&self, _: &Cx<'_>, _: bool, _: u32, _: usize, _: &mut dyn FnMut(Entry<'_>)) -> Option<u32> {
        None
    }

    fn adopt(
        &self,
        _: &Cx<'_>,
        _: u64,
        _: &mut dyn Iterator<Item = (&[u8], &[u8])>,
        _: &mut dyn FnMut(Adopted),
    ) {
    }
}

/// An element ends only the watch that it got: the second of two that would watch the same table is told so each time that it begins anew, has
/// nothing of it, and takes nothing from the first.
#[test]
fn the_second_does_not_take_the_watch_of_the_first() {
    let table: Arc<Table> = Arc::default();
    let [mut first, mut second] = [(); 2].map(|()| Ports::new([table.clone() as Arc<dyn StatePort>]));
    first.watch(true, |why| panic!("{why}"));
    for _ in 0..2 {
        let mut errors = Vec::new();
        second.watch(false, |why| panic!("{why}"));
        second.watch(true, |why| errors.push(why));
        assert_eq!(errors, ["watched already"]);
        assert!(first.own(0).is_some() && second.own(0).is_none());
    }
    first.watch(false, |why| panic!("{why}"));
    second.watch(true, |why| panic!("{why}"));
    assert!(first.own(0).is_none() && second.own(0).is_some());
}
