//! Packets that wait for what is before them.

use packet::Packet;

/// No slot.
const NONE: u32 = u32::MAX;

/// Of a packet's data in its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The sequence number of the first byte.
    pub(super) start: u32,
    /// That of the byte after the last.
    pub(super) end: u32,
}

/// Whether a sequence number comes before another one, which is at most half of all away.
#[inline]
pub(super) fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// The packets of a flow that wait, by where they start.
#[derive(Clone, Copy)]
pub(super) struct List {
    first: u32,
    last: u32,
}

impl Default for List {
    fn default() -> List {
        List { first: NONE, last: NONE }
    }
}

impl List {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.first == NONE
    }
}

struct Slot {
    packet: Option<Packet>,
    span: Span,
    /// The next one in the list, or the next free one.
    next: u32,
}

/// Room for packets of all flows, made at the beginning.
pub(super) struct Waiting {
    slots: Box<[Slot]>,
    free: u32,
    len: usize,
}

/// Why a packet cannot wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// One with the same start does.
    Known,
    /// There is no room.
    Full,
}

impl Waiting {
    pub(super) fn new(capacity: usize) -> Waiting {
        let capacity = capacity.min(NONE as usize) as u32;
        let span = Span { start: 0, end: 0 };
        let next = |at| if at + 1 < capacity { at + 1 } else { NONE };
        let slots = (0..capacity).map(|at| Slot { packet: None, span, next: next(at) }).collect();
        Waiting { slots, free: if capacity > 0 { 0 } else { NONE }, len: 0 }
    }

    /// Packets that wait, of all flows.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds a packet where it belongs, behind the others as a rule.
    pub(super) fn insert(
        &mut self,
        list: &mut List,
        span: Span,
        packet: Packet,
    ) -> Result<(), (Packet, Refusal)> {
        let before_it = match self.place_before(list, span.start) {
            Ok(at) => at,
            Err(refusal) => return Err((packet, refusal)),
        };
        let at = self.free;
        let Some(slot) = self.slots.get_mut(at as usize) else { return Err((packet, Refusal::Full)) };
        self.free = slot.next;
        self.len += 1;
        let next = if before_it == NONE { list.first } else { self.slots[before_it as usize].next };
        self.slots[at as usize] = Slot { packet: Some(packet), span, next };
        match self.slots.get_mut(before_it as usize) {
            Some(slot) => slot.next = at,
            None => list.first = at,
        }
        if next == NONE {
            list.last = at;
        }
        Ok(())
    }

    /// The last one that starts before `start`.
    fn place_before(&self, list: &List, start: u32) -> Result<u32, Refusal> {
        let starts_before =
            |at: u32| self.slots.get(at as usize).is_some_and(|slot| before(slot.span.start, start));
        if starts_before(list.last) {
            return Ok(list.last);
        }
        let (mut found, mut at) = (NONE, list.first);
        while starts_before(at) {
            (found, at) = (at, self.slots[at as usize].next);
        }
        match self.slots.get(at as usize) {
            Some(slot) if slot.span.start == start => Err(Refusal::Known),
            _ => Ok(found),
        }
    }

    /// Where the first packet of a flow starts.
    #[inline]
    pub(super) fn start(&self, list: &List) -> Option<u32> {
        Some(self.slots.get(list.first as usize)?.span.start)
    }

    /// Takes the first packet of a flow.
    pub(super) fn take(&mut self, list: &mut List) -> Option<(Span, Packet)> {
        let at = list.first;
        let slot = self.slots.get_mut(at as usize)?;
        let packet = slot.packet.take()?;
        list.first = std::mem::replace(&mut slot.next, self.free);
        self.free = at;
        self.len -= 1;
        if list.first == NONE {
            list.last = NONE;
        }
        Some((self.slots[at as usize].span, packet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Pool;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// As maps by distance from where the flows begin.
        #[test]
        fn as_maps(origin in any::<u32>(), capacity in 0usize..6, steps in prop::collection::vec((0usize..2, prop::option::of(0u32..8)), 0..60)) {
            let mut pool = Pool::new();
            let (mut waiting, mut lists, mut maps) = (Waiting::new(capacity), [List::default(); 2], [BTreeMap::new(), BTreeMap::new()]);
            for (flow, step) in steps {
                let total = maps[0].len() + maps[1].len();
                match step {
                    Some(offset) => {
                        let span = Span { start: origin.wrapping_add(offset), end: origin.wrapping_add(offset + 1) };
                        let packet = pool.packet(&[offset as u8]).unwrap();
                        let expected = if maps[flow].contains_key(&offset) { Err(Refusal::Known) } else if total == capacity { Err(Refusal::Full) } else { Ok(()) };
                        let done = waiting.insert(&mut lists[flow], span, packet).map_err(|(packet, refusal)| { drop(packet); refusal });
                        prop_assert_eq!(done, expected);
                        if done.is_ok() {
                            maps[flow].insert(offset, ());
                        }
                    }
                    None => {
                        let expected = maps[flow].pop_first().map(|(offset, ())| offset);
                        let start = waiting.start(&lists[flow]);
                        let taken = waiting.take(&mut lists[flow]).map(|(span, packet)| (span.start, u32::from(packet.data()[0])));
                        prop_assert_eq!(taken.map(|(_, offset)| offset), expected);
                        prop_assert_eq!(start, taken.map(|(start, _)| start));
                    }
                }
                prop_assert_eq!(waiting.len(), maps[0].len() + maps[1].len());
                prop_assert_eq!(lists[flow].is_empty(), maps[flow].is_empty());
            }
        }
    }
}
