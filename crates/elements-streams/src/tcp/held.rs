//! Packets of a stream that an element holds until it is decided what becomes of their data.

use packet::{Packet, Pool};
use std::collections::VecDeque;
use std::ops::Range;

/// Packets that are held of a stream at most.
pub(super) const MOST: usize = 64;

/// Changes to a text, in their order: what stands at some place of it is replaced.
#[derive(Default)]
pub(super) struct Edits {
    list: Vec<Edit>,
    bytes: Vec<u8>,
}

struct Edit {
    place: Range<usize>,
    /// What comes there: of `bytes`.
    with: Range<usize>,
}

impl Edits {
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.bytes.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Has bytes come in place of others.
    pub(super) fn replace(&mut self, place: Range<usize>, with: impl IntoIterator<Item = u8>) {
        let start = self.bytes.len();
        self.bytes.extend(with);
        self.list.push(Edit { place, with: start..self.bytes.len() });
    }

    /// What a part of the text becomes. What is longer than what it replaces is where that ended.
    fn apply(&self, text: &[u8], part: Range<usize>, out: &mut Vec<u8>) {
        out.clear();
        let mut at = part.start;
        for edit in self.touching(&part) {
            let (place, with) = (&edit.place, &self.bytes[edit.with.clone()]);
            let (start, end) = (place.start.max(part.start), place.end.min(part.end));
            out.extend_from_slice(&text[at..start]);
            let within = |at: usize| (at - place.start).min(with.len());
            let stop = if place.end <= part.end { with.len() } else { within(end) };
            out.extend_from_slice(&with[within(start)..stop]);
            at = end;
        }
        out.extend_from_slice(&text[at..part.end]);
    }

    fn touching<'e>(&'e self, part: &Range<usize>) -> impl Iterator<Item = &'e Edit> + use<'e> {
        let Range { start, end } = *part;
        let first = self.list.partition_point(|edit| edit.place.end <= start);
        self.list[first..].iter().take_while(move |edit| edit.place.start < end)
    }
}

struct Waits {
    packet: Packet,
    /// Bytes at its end that are not decided.
    open: usize,
}

/// Packets that are held.
#[derive(Default)]
pub(super) struct Held {
    packets: VecDeque<Waits>,
    /// What is not decided of their data, together.
    text: Vec<u8>,
}

/// There is no buffer for what this packet becomes.
#[derive(Debug)]
pub(super) struct NoRoom(pub(super) Packet);

impl Held {
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// The first packet.
    pub(super) fn first(&self) -> Option<&Packet> {
        self.packets.front().map(|waits| &waits.packet)
    }

    /// Takes the first packet; what is not decided is of no use then.
    pub(super) fn take_first(&mut self) -> Option<Packet> {
        self.packets.pop_front().map(|waits| waits.packet)
    }

    /// What is not decided.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Adds a packet whose last bytes are not decided.
    pub(super) fn push(&mut self, packet: Packet, open: usize) {
        let data = packet.data();
        self.text.extend_from_slice(&data[data.len() - open..]);
        self.packets.push_back(Waits { packet, open });
    }

    /// Notes data of a packet that goes on as it is, from which it cannot be said yet what it begins.
    pub(super) fn note(&mut self, data: &[u8]) {
        self.text.extend_from_slice(data);
    }

    /// Forgets data that was noted, and is decided.
    pub(super) fn forget(&mut self, decided: usize) {
        self.text.drain(..decided);
    }

    /// Changes the text, of which what is before `decided` is decided, and lets packets leave of which all is.
    pub(super) fn settle(
        &mut self,
        pool: &mut Pool,
        edits: &Edits,
        decided: usize,
        scratch: &mut Vec<u8>,
        mut leave: impl FnMut(&mut Pool, Packet),
    ) -> Result<(), NoRoom> {
        let (mut start, mut stays) = (0, 0);
        for _ in 0..self.packets.len() {
            let Some(mut waits) = self.packets.pop_front() else { break };
            let part = start..start + waits.open;
            start = part.end;
            if edits.touching(&part).next().is_some() {
                edits.apply(&self.text, part.clone(), scratch);
                waits.packet = rewrite(pool, waits.packet, waits.open, scratch)?;
            }
            if part.end <= decided && stays == 0 {
                leave(pool, waits.packet);
            } else {
                stays += 1;
                waits.open = part.end - decided.clamp(part.start, part.end);
                self.packets.push_back(waits);
            }
        }
        self.text.drain(..decided);
        Ok(())
    }

    /// Lets go of all packets.
    pub(super) fn clear(&mut self, mut leave: impl FnMut(Packet)) {
        self.text.clear();
        self.packets.drain(..).for_each(|waits| leave(waits.packet));
    }
}

/// Makes room behind a packet's data.
fn reserve(pool: &mut Pool, mut packet: Packet, more: usize) -> Result<Packet, Packet> {
    if packet.tailroom() >= more {
        return Ok(packet);
    }
    let stripped = unstrip(&mut packet);
    let mut packet = pool.reserve(packet, 0, more)?;
    let _ = packet.pull(stripped);
    Ok(packet)
}

/// Takes the link header back into the data, so that it comes along into another buffer: how many bytes.
fn unstrip(packet: &mut Packet) -> usize {
    let stripped = packet.mac_offset().map_or(0, |offset| offset.min(0).unsigned_abs());
    if stripped <= packet.headroom() && packet.push(stripped) { stripped } else { 0 }
}

/// A copy of a packet, link header and all.
pub(super) fn copy(pool: &mut Pool, packet: &mut Packet) -> Option<Packet> {
    let stripped = unstrip(packet);
    let mut copy = pool.copy(packet);
    for packet in copy.iter_mut().chain([packet]) {
        // Both begin with it.
        let _ = packet.pull(stripped);
    }
    copy
}

/// Replaces the last bytes of a packet.
pub(super) fn rewrite(pool: &mut Pool, packet: Packet, old: usize, new: &[u8]) -> Result<Packet, NoRoom> {
    let more = new.len().saturating_sub(old);
    let mut packet = reserve(pool, packet, more).map_err(NoRoom)?;
    let fits = if more > 0 { packet.put(more) } else { packet.take(old - new.len()) };
    let start = packet.len().saturating_sub(new.len());
    match packet.data_mut().get_mut(start..) {
        Some(end) if fits && end.len() == new.len() => end.copy_from_slice(new),
        _ => return Err(NoRoom(packet)),
    }
    Ok(packet)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Each byte of an edit stands where the byte stood that it replaces, and what is left of it behind the last one.
    #[test]
    fn edits_across_packets() {
        let mut pool = Pool::new();
        let mut held = Held::default();
        for (data, open) in [("h:abc", 3), ("de", 2), ("", 0), ("fgh", 3)] {
            held.push(pool.packet(data.as_bytes()).unwrap(), open);
        }
        let mut edits = Edits::default();
        edits.replace(1..2, []);
        edits.replace(2..6, *b"12345");
        let mut left = Vec::new();
        let mut leave =
            |_: &mut Pool, packet: Packet| left.push(String::from_utf8(packet.data().to_vec()).unwrap());
        held.settle(&mut pool, &edits, 7, &mut Vec::new(), &mut leave).unwrap();
        assert_eq!((held.text(), held.len()), (&b"h"[..], 1));
        edits.clear();
        edits.replace(0..1, []);
        held.settle(&mut pool, &edits, 1, &mut Vec::new(), &mut leave).unwrap();
        assert_eq!(left, ["h:a1", "23", "", "45g"]);
        assert!(held.is_empty());
    }

    /// A header that was stripped comes along, into a copy as well as into a larger buffer.
    #[test]
    fn link_headers() {
        let mut pool = Pool::new();
        let mut packet = pool.packet(b"link:data").unwrap();
        packet.set_mac_offset(0);
        assert!(packet.pull(5));
        let copy = copy(&mut pool, &mut packet).unwrap();
        let large = rewrite(&mut pool, packet, 2, &[b'x'; 5000]).unwrap();
        for (mut packet, len) in [(copy, 4), (large, 5002)] {
            assert_eq!(packet.len(), len);
            assert!(packet.push(5));
            assert_eq!(packet.data()[..7], *b"link:da");
        }
    }

    /// There is an end to what a packet can become.
    #[test]
    fn no_room() {
        let (mut pool, mut held, mut edits) = (Pool::new(), Held::default(), Edits::default());
        held.push(pool.packet(b"ab").unwrap(), 1);
        edits.replace(0..1, vec![0; 100_000]);
        let NoRoom(packet) = held.settle(&mut pool, &edits, 1, &mut Vec::new(), |_, _| ()).unwrap_err();
        assert_eq!(packet.data(), b"ab");
    }

    proptest! {
        /// However a text is cut into packets, and whenever its parts are decided, the edits are made.
        #[test]
        fn as_a_whole(pieces in prop::collection::vec("[a-z]{0,5}", 1..8), cuts in prop::collection::vec((0usize..6, 1usize..4, 0usize..6), 0..8)) {
            let (mut pool, mut held, mut edits) = (Pool::new(), Held::default(), Edits::default());
            for piece in &pieces {
                held.push(pool.packet(piece.as_bytes()).unwrap(), piece.len());
            }
            let whole = pieces.concat();
            let (mut at, mut base, mut expected, mut left) = (0, 0, String::new(), String::new());
            for (gap, width, new) in cuts {
                let place = at + gap..at + gap + width;
                if place.end > whole.len() {
                    break;
                }
                expected.push_str(&whole[at..place.start]);
                expected.push_str(&"#".repeat(new));
                at = place.end;
                edits.clear();
                edits.replace(place.start - base..place.end - base, vec![b'#'; new]);
                held.settle(&mut pool, &edits, at - base, &mut Vec::new(), |_, packet| left.push_str(std::str::from_utf8(packet.data()).unwrap())).unwrap();
                base = at;
            }
            expected.push_str(&whole[at..]);
            edits.clear();
            held.settle(&mut pool, &edits, whole.len() - base, &mut Vec::new(), |_, packet| left.push_str(std::str::from_utf8(packet.data()).unwrap())).unwrap();
            prop_assert_eq!(left, expected);
            prop_assert!(held.is_empty());
        }
    }
}
