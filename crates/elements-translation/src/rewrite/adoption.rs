//! How flows go from a configuration to the next one.

use super::editor::Editor;
use super::flow_events::Ends;
use super::input::Input;
use super::nat::Nat;
use super::nat64::Six;
use super::record::{MAPPINGS, NewFlow, flag};
use elements_shared::flow_id::Key;
use rcu::Turn;
use std::sync::Arc;

impl Nat {
    /// Takes over the flows of a rewriter of the same name in an old configuration, as far as they come from inputs whose specification
    /// is the same here, or whose mapper still has the pattern that made them. Returns how many there are of others: as if it had been written
    /// to the handler, an old specification's flows go. Every instance may ask; the first one does it.
    pub(super) fn adopt(&self, old: &Nat, turn: Turn<'_>, now_ms: u64) -> usize {
        *self.adopted.get_or_init(|| self.adopt_once(old, turn, now_ms))
    }

    fn adopt_once(&self, old: &Nat, turn: Turn<'_>, now_ms: u64) -> usize {
        let (Some(set), Some(old_set)) = (self.set(), old.set()) else { return 0 };
        if self.kind != old.kind {
            return 0;
        }
        if let (Some(six), Some(old_six)) = (&self.six, &old.six)
            && !six.adopt(old_six)
        {
            self.tell_all_ended(old, turn, now_ms);
            return old.maps().map(|map| old_set.flows(turn, map).count()).sum();
        }
        let pairs = self.inputs().iter().zip(old.inputs());
        let inputs: Vec<_> = pairs.map(|(new, old)| (new.read(turn), old.read(turn))).collect();
        let mut lost = 0;
        let mut editor = set.edit(turn);
        editor.pause_events(true);
        for (map, old_map) in self.maps().zip(old.maps()) {
            for flow in old_set.flows(turn, old_map) {
                let mut new = NewFlow { map, ..flow.describe() };
                let goes_on = |(now, before): &(&Input, &Input)| now.keeps(before, &new);
                if !inputs.get(usize::from(new.input)).is_some_and(goes_on) {
                    lost += 1;
                    continue;
                }
                if editor.find(Key::new(map, new.id)).is_some() {
                    continue;
                }
                let maps = inputs[usize::from(new.input)].0.maps_endpoints();
                let held = match self.filtering.filter(|_| maps) {
                    Some(filtering) => editor.hold(&new, filtering.mappings(), now_ms),
                    None => Some(false),
                };
                let Some(held) = held else { continue };
                new.mapped = held;
                let Some(found) = editor.insert(&new, flow.last_ms(), now_ms) else {
                    if new.mapped {
                        editor.release(&new, usize::MAX);
                    }
                    continue;
                };
                found.flow.set_flags(
                    flow.flags() & !flag::DELTAS & !flag::MAPPED | found.flow.flags() & flag::MAPPED,
                );
                if let Some(deltas) = flow.deltas(turn) {
                    editor.set_deltas(found.flow, deltas.clone());
                }
                editor.replace(found.record);
            }
        }
        editor.pause_events(false);
        for before in self.all_of(old, turn) {
            if editor.find(Key::new(before.map, before.id)).is_none() {
                editor.tell_ended(&before, now_ms);
            }
        }
        for (new, old) in self.counts().iter().zip(old.counts()) {
            new.adopt(old);
        }
        lost
    }

    /// Flows and mappings of an old rewriter, with the maps that they would have here.
    fn all_of<'t>(&self, old: &'t Nat, turn: Turn<'t>) -> impl Iterator<Item = NewFlow> {
        let maps = self.maps().zip(old.maps());
        let maps = maps.flat_map(|(new, old)| [(new, old), (new | MAPPINGS, old | MAPPINGS)]);
        maps.flat_map(move |(map, old_map)| {
            let flows = old.set().map(|set| set.flows(turn, old_map));
            flows.into_iter().flatten().map(move |flow| NewFlow { map, ..flow.describe() })
        })
    }

    /// Tells that flows have ended whose addresses only the old translator knows.
    fn tell_all_ended(&self, old: &Nat, turn: Turn<'_>, now_ms: u64) {
        let (Some(set), Some(six), Some(old_six)) = (self.set(), &self.six, &old.six) else { return };
        let mut editor = set.edit(turn);
        let name = |editor: &mut Editor<'_>, six: &Arc<Six>| {
            let ends: Arc<dyn Ends> = six.clone();
            self.maps().for_each(|map| editor.name(map, &ends));
        };
        name(&mut editor, old_six);
        self.all_of(old, turn).for_each(|before| editor.tell_ended(&before, now_ms));
        name(&mut editor, six);
    }
}
