//! Hellos as bytes.
//!
//! ```text
//! "CLQ1" | phase 1 | sender 2 | incarnation 8 | counter 8 | roster version 8 | entries 2
//! entries: node 2 | flags 1 (1: link up, 2: past) | incarnation 8        code: HMAC-SHA-256 over all before, first 16 bytes
//! in an n-fly, between entries and code: terminals 2 | for each 2 bits: what it can be used for | for each 2 bits: who reaches it
//! | lives 2 | lives: terminal 2 | incarnation 8
//! ```
//!
//! One that does not fit into a frame goes in parts ([`super::parts`]).

use super::horizon::Horizon;
use crate::NodeId;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;

const MAGIC: [u8; 4] = *b"CLQ1";
const HEAD: usize = 33;
const ENTRY: usize = 11;
const LIFE: usize = 10;
/// Bytes of a code.
pub(super) const CODE: usize = 16;
/// Flags of an entry.
const UP: u8 = 1;
const PAST: u8 = 2;

/// The key that all nodes share.
#[derive(Clone)]
pub struct Key(Hmac<Sha256>);

impl Key {
    /// A key from bytes, of any length.
    pub fn new(bytes: &[u8]) -> Key {
        Key(Hmac::new_from_slice(bytes).expect("HMAC takes keys of any length"))
    }

    /// Whether it is the same key. How long that takes tells nothing of it.
    pub fn is_same(&self, other: &Key) -> bool {
        self.0.clone().finalize() == other.0.clone().finalize()
    }

    /// Adds the code of bytes to them.
    pub(crate) fn sign(&self, bytes: &mut Vec<u8>) {
        let code = self.0.clone().chain_update(bytes.as_slice()).finalize().into_bytes();
        bytes.extend(&code[..CODE]);
    }

    /// What was signed, without its code: so many bytes of a head that begins with what is given, and the rest.
    ///
    /// # Errors
    /// It does not begin so, is shorter, or was not signed with this key.
    pub(crate) fn opened<'b>(
        &self,
        bytes: &'b [u8],
        magic: [u8; 4],
        head: usize,
    ) -> Result<(&'b [u8], &'b [u8]), Malformed> {
        let split = bytes.len().checked_sub(CODE).filter(|at| *at >= head).ok_or(Malformed::Form)?;
        let (body, code) = bytes.split_at(split);
        if !body.starts_with(&magic) {
            return Err(Malformed::Form);
        }
        self.0.clone().chain_update(body).verify_truncated_left(code).map_err(|_| Malformed::Code)?;
        Ok(body.split_at(head))
    }
}

impl fmt::Debug for Key {
    /// Shows nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

/// How far a node takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It listens, and does not forward yet.
    Listening,
    /// It takes part.
    Active,
    /// It forwards what already goes through it, but wants nothing new.
    Draining,
    /// It forwards what still comes, but no node should send anything by way of it.
    Leaving,
    /// It is gone.
    Left,
}

const PHASES: [Phase; 5] = [Phase::Listening, Phase::Active, Phase::Draining, Phase::Leaving, Phase::Left];

/// A node that the sender hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    /// Which.
    pub node: NodeId,
    /// Whether frames can be sent there.
    pub up: bool,
    /// Which life of it.
    pub incarnation: u64,
    /// The life is not heard any more, but the node is, with a smaller number: it needs a larger one than this.
    pub is_past: bool,
}

/// What a node tells its neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Who.
    pub sender: NodeId,
    /// Which life of it: a later one has a larger number.
    pub incarnation: u64,
    /// Grows with each hello of a life.
    pub counter: u64,
    /// The version of its roster.
    pub version: u64,
    /// How far it takes part.
    pub phase: Phase,
    /// Whom it hears.
    pub heard: Vec<Heard>,
    /// In an n-fly: what lies beyond it.
    pub horizon: Option<Horizon>,
    /// In an n-fly: lives of terminals that it has heard of, a few at a time, at most [`Hello::MOST_LIVES`].
    pub lives: Vec<(NodeId, u64)>,
}

/// Why bytes are no hello of a node that knows the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// They do not have the form of one.
    Form,
    /// The code is wrong.
    Code,
}

impl Hello {
    /// Lives in one hello, at most.
    pub const MOST_LIVES: usize = 16;

    /// The bytes, with their code.
    pub fn encode(&self, key: &Key) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD + ENTRY * self.heard.len() + CODE);
        bytes.extend(MAGIC);
        bytes.push(self.phase as u8);
        bytes.extend(self.sender.to_be_bytes());
        bytes.extend(self.incarnation.to_be_bytes());
        bytes.extend(self.counter.to_be_bytes());
        bytes.extend(self.version.to_be_bytes());
        bytes.extend((self.heard.len() as u16).to_be_bytes());
        for heard in &self.heard {
            bytes.extend(heard.node.to_be_bytes());
            bytes.push((u8::from(heard.up) * UP) | (u8::from(heard.is_past) * PAST));
            bytes.extend(heard.incarnation.to_be_bytes());
        }
        if let Some(horizon) = &self.horizon {
            horizon.encode(&mut bytes);
            bytes.extend((self.lives.len() as u16).to_be_bytes());
            for (node, incarnation) in &self.lives {
                bytes.extend(node.to_be_bytes());
                bytes.extend(incarnation.to_be_bytes());
            }
        }
        key.sign(&mut bytes);
        bytes
    }

    /// How many bytes a hello has at most that names so many nodes and, in an n-fly, so many terminals.
    pub fn most_bytes(heard: usize, terminals: Option<usize>) -> usize {
        let of_fly = |terminals| Horizon::len(terminals) + 2 + LIFE * Hello::MOST_LIVES.min(terminals);
        HEAD + ENTRY * heard + terminals.map_or(0, of_fly) + CODE
    }

    /// Reads bytes that may come from any sender.
    ///
    /// # Errors
    /// They are not the hello of a node that knows the key.
    pub fn decode(bytes: &[u8], key: &Key) -> Result<Hello, Malformed> {
        let (head, rest) = key.opened(bytes, MAGIC, HEAD)?;
        let (entries, rest) =
            rest.split_at_checked(usize::from(u16_at(head, 31)) * ENTRY).ok_or(Malformed::Form)?;
        let (horizon, lives) = match rest {
            [] => (None, Vec::new()),
            rest => {
                let (horizon, rest) = Horizon::decode(rest).ok_or(Malformed::Form)?;
                (Some(horizon), lives_of(rest).ok_or(Malformed::Form)?)
            }
        };
        let heard = |entry: &[u8]| Heard {
            node: u16_at(entry, 0),
            up: entry[2] & UP != 0,
            incarnation: u64_at(entry, 3),
            is_past: entry[2] & PAST != 0,
        };
        Ok(Hello {
            phase: *PHASES.get(usize::from(head[4])).ok_or(Malformed::Form)?,
            sender: u16_at(head, 5),
            incarnation: u64_at(head, 7),
            counter: u64_at(head, 15),
            version: u64_at(head, 23),
            heard: entries.chunks_exact(ENTRY).map(heard).collect(),
            horizon,
            lives,
        })
    }
}

fn lives_of(bytes: &[u8]) -> Option<Vec<(NodeId, u64)>> {
    let (count, lives) = bytes.split_at_checked(2)?;
    let life = |life: &[u8]| (u16_at(life, 0), u64_at(life, 2));
    (lives.len() == LIFE * usize::from(u16_at(count, 0)))
        .then(|| lives.chunks_exact(LIFE).map(life).collect())
}

/// The caller has checked that the bytes are there.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// The caller has checked that the bytes are there.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hello() -> impl Strategy<Value = Hello> {
        let heard = proptest::collection::vec(any::<(u16, bool, u64, bool)>(), 0..20);
        (any::<(u16, u64, u64, u64)>(), 0..5usize, heard).prop_map(|(numbers, phase, heard)| Hello {
            sender: numbers.0,
            incarnation: numbers.1,
            counter: numbers.2,
            version: numbers.3,
            phase: PHASES[phase],
            heard: heard
                .into_iter()
                .map(|(node, up, incarnation, is_past)| Heard { node, up, incarnation, is_past })
                .collect(),
            horizon: None,
            lives: Vec::new(),
        })
    }

    proptest! {
        /// What is written is read; with another key, or one bit changed anywhere, nothing is.
        #[test]
        fn a_hello_is_read_with_the_right_key_and_unchanged_only(hello in hello(), bit: usize) {
            let (key, other) = (Key::new(b"a key"), Key::new(b"another"));
            let mut bytes = hello.encode(&key);
            prop_assert_eq!(Hello::decode(&bytes, &key), Ok(hello));
            prop_assert_eq!(Hello::decode(&bytes, &other), Err(Malformed::Code));
            prop_assert_eq!((key.is_same(&Key::new(b"a key")), key.is_same(&other)), (true, false));
            let bit = bit % (bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(Hello::decode(&bytes, &key).is_err());
        }

        /// Any bytes can be read, also with a right code.
        #[test]
        fn any_bytes_can_be_read_as_a_hello(mut bytes in proptest::collection::vec(any::<u8>(), 0..90)) {
            let key = Key::new(b"");
            prop_assert!(Hello::decode(&bytes, &key).is_err());
            if let Some(head) = bytes.first_chunk_mut() {
                *head = MAGIC;
            }
            key.sign(&mut bytes);
            if let Ok(hello) = Hello::decode(&bytes, &key) {
                prop_assert_eq!(hello.heard.len(), usize::from(u16_at(&bytes, 31)));
            }
        }
    }

    /// The hello of a node that hears all others fits into a frame, with the two bytes that say how long it is.
    #[test]
    fn fits_into_a_frame() {
        let entry = |node| Heard { node, up: true, incarnation: u64::MAX, is_past: false };
        let heard: Vec<_> = (1..super::super::MOST_NODES as u16).map(entry).collect();
        let mut hello = Hello {
            sender: 0,
            incarnation: 1,
            counter: 1,
            version: 1,
            phase: Phase::Active,
            heard,
            horizon: None,
            lives: Vec::new(),
        };
        let key = Key::new(b"k");
        assert_eq!(hello.encode(&key).len(), Hello::most_bytes(super::super::MOST_NODES - 1, None));
        assert!(2 + hello.encode(&key).len() <= 1_500);
        // A node of a fly names its own cables only, so that 128 is no limit there: with 35 links each way a hello of 1,024 terminals fits
        // into a frame, and with a cable to each of as many nodes into nine.
        assert!(2 + Hello::most_bytes(2 * 35, Some(1_024)) <= 1_500);
        assert!(Hello::most_bytes(1_024, Some(1_024)) <= super::super::most_in_frames(1_498) * 9 / 16);
        // A fly of a thousand terminals, with 32 links each way.
        (hello.heard, hello.horizon) = (hello.heard[..64].to_vec(), Some(Horizon::new(1_000)));
        hello.lives = (0..Hello::MOST_LIVES as u16).map(|node| (node, u64::MAX)).collect();
        assert_eq!(hello.encode(&key).len(), Hello::most_bytes(64, Some(1_000)));
        assert!(2 + hello.encode(&key).len() <= 1_500);
        assert_eq!(Hello::decode(&hello.encode(&key), &key), Ok(hello));
    }

    /// The code is that of RFC 4231's second test case.
    #[test]
    fn is_hmac_sha_256() {
        let code = Key::new(b"Jefe").0.chain_update(b"what do ya want for nothing?").finalize().into_bytes();
        assert_eq!(code[..6], [0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60]);
    }
}
