//! Hellos that do not fit into a frame, in parts.
//!
//! ```text
//! "CLQ2" | sender 2 | incarnation 8 | counter 8 | which part 1, from 0 | parts 1 | bytes of the hello
//! code: HMAC-SHA-256 over all before, first 16 bytes
//! ```
//!
//! Each part has a code of its own: only nodes that know the key can have parts remembered. All parts in a row are a hello with its own
//! code, which is read as if it had come in one frame. If one part is lost, so is the hello; the next one replaces it.

use super::hello::{CODE, Key, Malformed, u16_at, u64_at};
use crate::NodeId;

/// Parts of a hello, at most.
pub(super) const MOST_PARTS: usize = 16;

const MAGIC: [u8; 4] = *b"CLQ2";
const HEAD: usize = 24;

/// Lives of a neighbour of which parts wait for others, at most: that which is heard, and two that want to be.
const MOST_LIVES: usize = 3;

/// Which hello a part is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) sender: NodeId,
    pub(super) incarnation: u64,
    pub(super) counter: u64,
}

/// A part whose code is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part<'b> {
    pub(super) of: Origin,
    number: u8,
    parts: u8,
    bytes: &'b [u8],
}

/// Whether bytes say that they are a part.
pub(super) fn is_part(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// How many bytes a hello may have that goes in as many parts as there may be, each of at most `most` bytes.
pub fn most_in_frames(most: usize) -> usize {
    MOST_PARTS * most.saturating_sub(HEAD + CODE)
}

/// A hello in pieces of at most `most` bytes; in one, as it is, if it fits. Pieces of a hello that is longer than [`most_in_frames`] are longer
/// than that.
pub(super) fn cut(hello: Vec<u8>, of: Origin, most: usize, key: &Key) -> Vec<Vec<u8>> {
    if hello.len() <= most {
        return vec![hello];
    }
    let room = most.saturating_sub(HEAD + CODE).max(hello.len().div_ceil(MOST_PARTS));
    let parts = hello.len().div_ceil(room) as u8;
    let part = |(number, bytes)| Part { of, number, parts, bytes }.encode(key);
    (0..).zip(hello.chunks(room)).map(part).collect()
}

impl<'b> Part<'b> {
    fn encode(&self, key: &Key) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD + self.bytes.len() + CODE);
        bytes.extend(MAGIC);
        bytes.extend(self.of.sender.to_be_bytes());
        bytes.extend(self.of.incarnation.to_be_bytes());
        bytes.extend(self.of.counter.to_be_bytes());
        bytes.extend([self.number, self.parts]);
        bytes.extend(self.bytes);
        key.sign(&mut bytes);
        bytes
    }

    /// Reads bytes that may come from any sender.
    ///
    /// # Errors
    /// They are not a part of a hello of a node that knows the key.
    pub(super) fn decode(bytes: &'b [u8], key: &Key) -> Result<Part<'b>, Malformed> {
        let (head, bytes) = key.opened(bytes, MAGIC, HEAD)?;
        let of = Origin { sender: u16_at(head, 4), incarnation: u64_at(head, 6), counter: u64_at(head, 14) };
        let (number, parts) = (head[22], head[23]);
        if bytes.is_empty() || number >= parts || !(2..=MOST_PARTS).contains(&parts.into()) {
            return Err(Malformed::Form);
        }
        Ok(Part { of, number, parts, bytes })
    }
}

/// What comes of a part.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Gathered {
    /// It was the last one that was missing: the bytes of the hello.
    Whole(Vec<u8>),
    /// Others are missing.
    Waits,
    /// It is there already, or a later hello of that life has begun.
    Again,
    /// Other parts of that hello say that it has another number of them.
    Misfit,
}

/// The parts of a neighbour's hellos that wait for others: of one hello of each life, the latest.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    /// The life that began to wait first stands first.
    waiting: Vec<Pieces>,
    /// Hellos that were given up because of a later one, with parts missing.
    given_up: u64,
}

#[derive(Debug)]
struct Pieces {
    incarnation: u64,
    counter: u64,
    parts: Vec<Option<Box<[u8]>>>,
}

impl Gathering {
    /// Hellos of which parts wait for others.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Hellos that were given up since this was last asked.
    pub(super) fn take_given_up(&mut self) -> u64 {
        std::mem::take(&mut self.given_up)
    }

    /// Adds a part. `heard` is the life of the neighbour that is heard: others make room for it.
    pub(super) fn add(&mut self, part: &Part<'_>, heard: u64) -> Gathered {
        let Origin { incarnation, counter, .. } = part.of;
        let at = match self.waiting.iter().position(|pieces| pieces.incarnation == incarnation) {
            Some(at) => at,
            None => {
                if self.waiting.len() == MOST_LIVES {
                    let oldest = self.waiting.iter().position(|pieces| pieces.incarnation != heard);
                    self.waiting.remove(oldest.unwrap_or(0));
                    self.given_up += 1;
                }
                self.waiting.push(Pieces::new(part));
                self.waiting.len() - 1
            }
        };
        let pieces = &mut self.waiting[at];
        if counter < pieces.counter {
            return Gathered::Again;
        }
        if counter > pieces.counter {
            *pieces = Pieces::new(part);
            self.given_up += 1;
        }
        let outcome = pieces.add(part);
        if let Gathered::Whole(_) = outcome {
            self.waiting.remove(at);
        }
        outcome
    }
}

impl Pieces {
    /// None of the hello that a part is of.
    fn new(part: &Part<'_>) -> Pieces {
        let Origin { incarnation, counter, .. } = part.of;
        Pieces { incarnation, counter, parts: vec![None; part.parts.into()] }
    }

    fn add(&mut self, part: &Part<'_>) -> Gathered {
        if self.parts.len() != usize::from(part.parts) {
            return Gathered::Misfit;
        }
        let place = &mut self.parts[usize::from(part.number)];
        if place.is_some() {
            return Gathered::Again;
        }
        *place = Some(part.bytes.into());
        match self.parts.iter().cloned().collect::<Option<Vec<_>>>() {
            Some(all) => Gathered::Whole(all.concat()),
            None => Gathered::Waits,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key() -> Key {
        Key::new(b"a key")
    }

    fn of(incarnation: u64, counter: u64) -> Origin {
        Origin { sender: 3, incarnation, counter }
    }

    /// Bytes that tell one hello from another.
    fn hello(counter: u64, len: usize) -> Vec<u8> {
        (0..len).map(|at| (at as u64 * 7 + counter) as u8).collect()
    }

    proptest! {
        /// Pieces fit into frames, and are together what was cut, in whatever order they come; with another key, or a bit changed, they
        /// are none.
        #[test]
        fn what_is_cut_comes_together(len in 1usize..4_000, most in 300usize..1_500, turn: usize, bit: usize) {
            let (whole, mut pieces) = (hello(1, len), cut(hello(1, len), of(5, 1), most, &key()));
            prop_assert!(pieces.iter().all(|piece| piece.len() <= most));
            prop_assert_eq!(pieces.len() == 1, len <= most);
            if len <= most {
                prop_assert_eq!(&pieces[0], &whole);
                return Ok(());
            }
            let places = pieces.len();
            pieces.rotate_left(turn % places);
            let mut gathering = Gathering::default();
            for (place, piece) in pieces.iter_mut().enumerate() {
                prop_assert_eq!(Part::decode(piece, &Key::new(b"another")), Err(Malformed::Code));
                let outcome = gathering.add(&Part::decode(piece, &key()).expect("a part"), 5);
                let is_last = place + 1 == places;
                prop_assert_eq!(outcome, if is_last { Gathered::Whole(whole.clone()) } else { Gathered::Waits });
                let bit = bit % (8 * piece.len());
                piece[bit / 8] ^= 1 << (bit % 8);
                prop_assert!(Part::decode(piece, &key()).is_err());
            }
            prop_assert_eq!(gathering.len(), 0);
        }

        /// Against a list of all that came: a hello is whole when each of its parts has come since the first of them, none came twice, and
        /// no later hello of that life has begun.
        #[test]
        fn lost_doubled_and_late_parts(steps in proptest::collection::vec((0u64..3, 1u64..5, 0usize..3), 1..60)) {
            let mut gathering = Gathering::default();
            let mut naive: Vec<(u64, u64, Vec<usize>)> = Vec::new();
            let (mut begun, mut given_up, mut whole) = (0, 0, 0);
            for (life, counter, number) in steps {
                let pieces = cut(hello(counter, 250), of(life, counter), 140, &key());
                prop_assert_eq!(pieces.len(), 3);
                let outcome = gathering.add(&Part::decode(&pieces[number], &key()).expect("a part"), 0);
                // Of three lives none has to make room.
                let latest = naive.iter().position(|(of, ..)| *of == life);
                let expected = match latest.map(|at| &mut naive[at]) {
                    Some((_, latest, _)) if *latest > counter => Gathered::Again,
                    Some((_, latest, there)) if *latest == counter => {
                        if there.contains(&number) { Gathered::Again } else {
                            there.push(number);
                            if there.len() == 3 { Gathered::Whole(hello(counter, 250)) } else { Gathered::Waits }
                        }
                    }
                    Some(entry) => {
                        *entry = (life, counter, vec![number]);
                        (begun, given_up) = (begun + 1, given_up + 1);
                        Gathered::Waits
                    }
                    None => {
                        naive.push((life, counter, vec![number]));
                        begun += 1;
                        Gathered::Waits
                    }
                };
                if let Gathered::Whole(_) = expected {
                    naive.retain(|(of, ..)| *of != life);
                    whole += 1;
                }
                prop_assert_eq!(outcome, expected);
                prop_assert_eq!(gathering.len(), naive.len());
            }
            // What began has come together, was given up, or waits.
            prop_assert_eq!(gathering.take_given_up(), given_up);
            prop_assert_eq!(begun, whole + given_up + gathering.len() as u64);
        }

        /// Any bytes can be read, also with a right code.
        #[test]
        fn any_bytes_can_be_read_as_a_part(mut bytes in proptest::collection::vec(any::<u8>(), 4..90)) {
            bytes[..4].copy_from_slice(&MAGIC);
            prop_assert!(Part::decode(&bytes, &key()).is_err());
            key().sign(&mut bytes);
            if let Ok(part) = Part::decode(&bytes, &key()) {
                prop_assert_eq!(&part.encode(&key()), &bytes);
                let _ = Gathering::default().add(&part, 0);
            }
        }
    }

    /// Lives that want to be heard make room for each other, never the one that is heard: replayed parts of old lives do not
    /// disturb it.
    #[test]
    fn memory_is_bounded_and_the_life_that_is_heard_stays() {
        let mut gathering = Gathering::default();
        let pieces = cut(hello(9, 250), of(7, 9), 140, &key());
        let part = |at: usize| Part::decode(&pieces[at], &key()).expect("a part");
        assert_eq!(gathering.add(&part(0), 7), Gathered::Waits);
        for life in 100..200 {
            let other = cut(hello(1, 250), of(life, 1), 140, &key());
            let first = Part::decode(&other[0], &key()).expect("a part");
            assert_eq!(gathering.add(&first, 7), Gathered::Waits);
            assert!(gathering.len() <= MOST_LIVES);
        }
        assert_eq!(gathering.take_given_up(), 98);
        assert_eq!(gathering.add(&part(1), 7), Gathered::Waits);
        assert_eq!(gathering.add(&part(2), 7), Gathered::Whole(hello(9, 250)));
    }

    /// Parts that contradict each other, or say what cannot be.
    #[test]
    fn wrong_numbers_of_parts() {
        let mut gathering = Gathering::default();
        let add = |gathering: &mut Gathering, number, parts| {
            let bytes = Part { of: of(1, 1), number, parts, bytes: b"x" }.encode(&key());
            Part::decode(&bytes, &key()).map(|part| gathering.add(&part, 1))
        };
        for (number, parts) in [(0, 0), (0, 1), (2, 2), (0, 17), (255, 255)] {
            assert_eq!(add(&mut gathering, number, parts), Err(Malformed::Form), "{number} of {parts}");
        }
        assert_eq!(add(&mut gathering, 0, 2), Ok(Gathered::Waits));
        assert_eq!(add(&mut gathering, 1, 3), Ok(Gathered::Misfit));
        assert_eq!(add(&mut gathering, 1, 2), Ok(Gathered::Whole(b"xx".to_vec())));
        let empty = Part { of: of(1, 1), number: 0, parts: 2, bytes: b"" }.encode(&key());
        assert_eq!(Part::decode(&empty, &key()), Err(Malformed::Form));
    }

    /// What does not even fit into sixteen parts is cut into longer ones, and comes together all the same.
    #[test]
    fn longer_than_there_is_room() {
        let pieces = cut(hello(1, 5_000), of(1, 1), 60, &key());
        assert_eq!((pieces.len(), most_in_frames(60)), (MOST_PARTS, 320));
        let mut gathering = Gathering::default();
        let add = |piece: &Vec<u8>| gathering.add(&Part::decode(piece, &key()).expect("a part"), 1);
        let outcomes: Vec<Gathered> = pieces.iter().map(add).collect();
        assert_eq!(outcomes.last(), Some(&Gathered::Whole(hello(1, 5_000))));
    }
}
