//! What nodes tell each other of their duties and of what they remember of connections, as bytes.
//!
//! ```text
//! "CLQS" | version 1 | kind 1 | sender 2 | receiver 2 | sender's life 8 | receiver's life 8 | counter 8 | body | code 16
//! 0 answer:    the largest life of the receiver that the sender knows 8
//! 1 duties:    heir 2 (0xffff: none) | duties
//! 2 begin:     stream 8 | number 8 | count 1 | names of tables: length 1, name
//! 3 entries:   stream 8 | number 8 | entries: kind 1 (0 gone, 1 put) | table 1 | length 1 | key [| length 2 | value]
//! 4 hand-over: stream 8 | number 8 | duties
//! 5 received:  stream 8 | number that is expected next 8
//! 6 whole:     stream 8 | number 8
//! duties:      count 2 | for each: node 2, term 4        code: HMAC-SHA-256 over all before, first 16 bytes
//! ```
//!
//! Numbers are big-endian. Terms of duties are at most 2^31.

use crate::NodeId;
use crate::membership::{Key, Malformed};

const MAGIC: [u8; 4] = *b"CLQS";
const VERSION: u8 = 1;
const HEAD: usize = 34;
/// Bytes of entries in a message, at most, so that it fits into a frame.
pub const MOST_ENTRIES: usize = 1_300;
/// Tables of a node, at most.
pub const MOST_TABLES: usize = 16;
/// Bytes of a table's name, at most.
const MOST_NAME: usize = 64;
const NOBODY: NodeId = NodeId::MAX;
/// The largest term that is believed, so that a duty can always change hands once more.
const LARGEST_TERM: u32 = 1 << 31;

/// A duty: the node whose traffic is meant, and how often it has changed hands.
pub type Duty = (NodeId, u32);

/// Who speaks to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The sender.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
    /// The sender's life: a later one has a larger number.
    pub life: u64,
    /// The receiver's life, as far as the sender knows it.
    pub peer_life: u64,
    /// Grows with each message of a life to this receiver.
    pub counter: u64,
}

/// A message that has its place in a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The stream begins: everything follows. These are the tables.
    Begin(Vec<String>),
    /// Entries, as bytes; see [`entries`].
    Entries(Vec<u8>),
    /// All that was there when the stream began has been said.
    Whole,
    /// All has been said; the receiver has these duties now.
    HandOver(Vec<Duty>),
}

/// What is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// The receiver does not know the sender's life, or not the right one.
    Answer(u64),
    /// What the sender does, and which node holds what it remembers.
    Duties(Option<NodeId>, Vec<Duty>),
    /// A part of a stream, with its number.
    Streamed {
        /// Which stream: a later one has a larger number.
        stream: u64,
        /// From 0.
        number: u64,
        /// What it is.
        part: Part,
    },
    /// All before a number has come.
    Received {
        /// Of this stream.
        stream: u64,
        /// The number.
        next: u64,
    },
}

/// Something that a table remembers, or not any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'b> {
    /// Which table.
    pub table: u8,
    /// By what it is found.
    pub key: &'b [u8],
    /// None: it is gone.
    pub value: Option<&'b [u8]>,
}

/// Adds an entry to bytes. False, and nothing is added, if it is too long.
pub fn add_entry(bytes: &mut Vec<u8>, entry: Entry<'_>) -> bool {
    let Ok(key_len) = u8::try_from(entry.key.len()) else { return false };
    let value_len = entry.value.map_or(0, |value| 2 + value.len());
    if bytes.len() + 3 + entry.key.len() + value_len > MOST_ENTRIES {
        return false;
    }
    bytes.extend([u8::from(entry.value.is_some()), entry.table, key_len]);
    bytes.extend(entry.key);
    if let Some(value) = entry.value {
        bytes.extend((value.len() as u16).to_be_bytes());
        bytes.extend(value);
    }
    true
}

/// The entries in bytes; an item without one says that the rest is none.
pub fn entries(bytes: &[u8]) -> impl Iterator<Item = Option<Entry<'_>>> {
    let mut reader = Reader(bytes);
    std::iter::from_fn(move || {
        if reader.0.is_empty() {
            return None;
        }
        let entry = reader.entry();
        if entry.is_none() {
            reader.0 = &[];
        }
        Some(entry)
    })
}

/// Reads from the front.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, len: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self, len: usize) -> Option<u64> {
        Some(self.take(len)?.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    fn duties(&mut self) -> Option<Vec<Duty>> {
        let count = self.number(2)? as usize;
        let all = self.take(6 * count)?;
        all.chunks_exact(6).map(|duty| Reader(duty).duty()).collect()
    }

    fn duty(&mut self) -> Option<Duty> {
        let (node, term) = (self.number(2)? as NodeId, self.number(4)? as u32);
        (term <= LARGEST_TERM).then_some((node, term))
    }

    fn names(&mut self) -> Option<Vec<String>> {
        let count = self.number(1)? as usize;
        let name = |reader: &mut Self| {
            let len = reader.number(1)? as usize;
            String::from_utf8(reader.take(len)?.to_vec()).ok()
        };
        (count <= MOST_TABLES).then(|| (0..count).map(|_| name(self)).collect())?
    }

    fn entry(&mut self) -> Option<Entry<'b>> {
        let (kind, table) = (self.number(1)?, self.number(1)? as u8);
        let key_len = self.number(1)? as usize;
        let key = self.take(key_len)?;
        let value = match kind {
            0 => None,
            1 => {
                let len = self.number(2)? as usize;
                Some(self.take(len)?)
            }
            _ => return None,
        };
        Some(Entry { table, key, value })
    }
}

fn write_duties(bytes: &mut Vec<u8>, duties: &[Duty]) {
    bytes.extend((duties.len() as u16).to_be_bytes());
    for (node, term) in duties {
        bytes.extend(node.to_be_bytes());
        bytes.extend(term.to_be_bytes());
    }
}

impl Body {
    /// Whether all nodes that it names are of a cluster of so many.
    pub(super) fn is_within(&self, nodes: NodeId) -> bool {
        let (heir, duties) = match self {
            Body::Duties(heir, duties) => (*heir, &duties[..]),
            Body::Streamed { part: Part::HandOver(duties), .. } => (None, &duties[..]),
            _ => return true,
        };
        heir.is_none_or(|heir| heir < nodes) && duties.iter().all(|&(of, _)| of < nodes)
    }

    fn kind(&self) -> u8 {
        match self {
            Body::Answer(_) => 0,
            Body::Duties(..) => 1,
            Body::Streamed { part: Part::Begin(_), .. } => 2,
            Body::Streamed { part: Part::Entries(_), .. } => 3,
            Body::Streamed { part: Part::HandOver(_), .. } => 4,
            Body::Received { .. } => 5,
            Body::Streamed { part: Part::Whole, .. } => 6,
        }
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Body::Answer(known) => bytes.extend(known.to_be_bytes()),
            Body::Duties(heir, duties) => {
                bytes.extend(heir.unwrap_or(NOBODY).to_be_bytes());
                write_duties(bytes, duties);
            }
            Body::Streamed { stream, number, part } => {
                bytes.extend(stream.to_be_bytes());
                bytes.extend(number.to_be_bytes());
                part.write(bytes);
            }
            Body::Received { stream, next } => {
                bytes.extend(stream.to_be_bytes());
                bytes.extend(next.to_be_bytes());
            }
        }
    }

    fn read(kind: u8, bytes: &[u8]) -> Option<Body> {
        let mut reader = Reader(bytes);
        let body = match kind {
            0 => Body::Answer(reader.number(8)?),
            1 => {
                let heir = Some(reader.number(2)? as NodeId).filter(|&heir| heir != NOBODY);
                Body::Duties(heir, reader.duties()?)
            }
            2..=4 | 6 => Body::Streamed {
                stream: reader.number(8)?,
                number: reader.number(8)?,
                part: Part::read(kind, &mut reader)?,
            },
            5 => Body::Received { stream: reader.number(8)?, next: reader.number(8)? },
            _ => return None,
        };
        reader.0.is_empty().then_some(body)
    }
}

impl Part {
    fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Part::Begin(names) => {
                let short = || names.iter().take(MOST_TABLES).map(|name| name.as_bytes());
                bytes.push(short().count() as u8);
                for name in short() {
                    let name = &name[..name.len().min(MOST_NAME)];
                    bytes.push(name.len() as u8);
                    bytes.extend(name);
                }
            }
            Part::Entries(entries) => bytes.extend(entries),
            Part::Whole => {}
            Part::HandOver(duties) => write_duties(bytes, duties),
        }
    }

    fn read(kind: u8, reader: &mut Reader<'_>) -> Option<Part> {
        Some(match kind {
            2 => Part::Begin(reader.names()?),
            3 => {
                let bytes = std::mem::take(&mut reader.0);
                Part::Entries(entries(bytes).all(|entry| entry.is_some()).then(|| bytes.to_vec())?)
            }
            6 => Part::Whole,
            _ => Part::HandOver(reader.duties()?),
        })
    }
}

/// The bytes of a message, with their code.
pub fn seal(key: &Key, envelope: &Envelope, body: &Body) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + 64);
    bytes.extend(MAGIC);
    bytes.extend([VERSION, body.kind()]);
    bytes.extend(envelope.from.to_be_bytes());
    bytes.extend(envelope.to.to_be_bytes());
    for number in [envelope.life, envelope.peer_life, envelope.counter] {
        bytes.extend(number.to_be_bytes());
    }
    body.write(&mut bytes);
    key.sign(&mut bytes);
    bytes
}

/// Reads bytes that may come from any sender.
///
/// # Errors
/// They are no message of a node that knows the key, or of another version.
pub fn open(key: &Key, bytes: &[u8]) -> Result<(Envelope, Body), Malformed> {
    let (head, rest) = key.opened(bytes, MAGIC, HEAD)?;
    let mut reader = Reader(&head[4..]);
    let mut number = |len| reader.number(len).ok_or(Malformed::Form);
    let (version, kind) = (number(1)? as u8, number(1)? as u8);
    let envelope = Envelope {
        from: number(2)? as NodeId,
        to: number(2)? as NodeId,
        life: number(8)?,
        peer_life: number(8)?,
        counter: number(8)?,
    };
    let body = Body::read(kind, rest).filter(|_| version == VERSION).ok_or(Malformed::Form)?;
    Ok((envelope, body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn duties() -> impl Strategy<Value = Vec<Duty>> {
        vec((any::<u16>(), 0..=LARGEST_TERM), 0..5)
    }

    fn body() -> impl Strategy<Value = Body> {
        let raw =
            vec((any::<u8>(), vec(any::<u8>(), 0..20), proptest::option::of(vec(any::<u8>(), 0..40))), 0..9);
        let part = prop_oneof![
            vec("[a-z/]{0,9}", 0..4).prop_map(Part::Begin),
            raw.prop_map(|all| {
                let mut bytes = Vec::new();
                for (table, key, value) in &all {
                    assert!(add_entry(&mut bytes, Entry { table: *table, key, value: value.as_deref() }));
                }
                Part::Entries(bytes)
            }),
            Just(Part::Whole),
            duties().prop_map(Part::HandOver),
        ];
        prop_oneof![
            any::<u64>().prop_map(Body::Answer),
            (proptest::option::of(0u16..1000), duties())
                .prop_map(|(heir, duties)| Body::Duties(heir, duties)),
            (any::<(u64, u64)>(), part).prop_map(|((stream, number), part)| Body::Streamed {
                stream,
                number,
                part
            }),
            any::<(u64, u64)>().prop_map(|(stream, next)| Body::Received { stream, next }),
        ]
    }

    proptest! {
        /// What is written is read; with another key, or one bit changed anywhere, nothing is.
        #[test]
        fn read_with_the_right_key_and_unchanged_only(body in body(), n: (u16, u16, u64, u64, u64), bit: usize) {
            let envelope = Envelope { from: n.0, to: n.1, life: n.2, peer_life: n.3, counter: n.4 };
            let (key, other) = (Key::new(b"a key"), Key::new(b"another"));
            let mut bytes = seal(&key, &envelope, &body);
            prop_assert_eq!(open(&key, &bytes), Ok((envelope, body)));
            prop_assert_eq!(open(&other, &bytes), Err(Malformed::Code));
            let bit = bit % (bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(open(&key, &bytes).is_err());
        }

        /// Any bytes can be read, also with a right code; what is read is written as it was.
        #[test]
        fn any_bytes_can_be_read(mut bytes in vec(any::<u8>(), HEAD..HEAD + 90), kind in 0..8u8) {
            let key = Key::new(b"");
            prop_assert!(open(&key, &bytes).is_err());
            bytes[..6].copy_from_slice(&[MAGIC[0], MAGIC[1], MAGIC[2], MAGIC[3], VERSION, kind]);
            key.sign(&mut bytes);
            if let Ok((envelope, body)) = open(&key, &bytes) {
                let again = seal(&key, &envelope, &body);
                prop_assert_eq!(open(&key, &again), Ok((envelope, body)));
            }
        }
    }

    /// A duty that has a term can change hands once more.
    #[test]
    fn the_last_number_is_no_term() {
        let key = Key::new(b"");
        let envelope = Envelope { from: 0, to: 1, life: 1, peer_life: 1, counter: 1 };
        let read = |term| open(&key, &seal(&key, &envelope, &Body::Duties(None, vec![(2, term)])));
        assert!(read(LARGEST_TERM).is_ok());
        assert_eq!(read(u32::MAX), Err(Malformed::Form));
        assert_eq!(read(LARGEST_TERM + 1), Err(Malformed::Form));
    }

    /// The longest message fits into a frame of 1,500 bytes, with the two that say how long it is and a label.
    #[test]
    fn fits_into_a_frame() {
        let mut bytes = Vec::new();
        while add_entry(&mut bytes, Entry { table: 0, key: &[1; 13], value: Some(&[2; 40]) }) {}
        let part = Part::Entries(bytes);
        let envelope = Envelope { from: 0, to: 1, life: 1, peer_life: 1, counter: 1 };
        let body = Body::Streamed { stream: 1, number: 1, part };
        assert!(2 + seal(&Key::new(b"k"), &envelope, &body).len() <= 1_400);
    }
}
