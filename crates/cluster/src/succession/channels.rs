//! Which messages are believed: those that a live node has just sent to this life of this node, each once.
//!
//! A message names the lives of both. A node that hears one for another life of its, or whose sender names none, answers with the life that
//! it has, and believes nothing: so what was recorded before a node began anew is of no use afterwards. Within two lives numbers grow.

use super::message::{Body, Envelope, open, seal};
use crate::NodeId;
use crate::membership::{Key, Malformed};
use std::collections::BTreeMap;

/// The largest life: a clock says so in the year 2262. There is always a larger number for a node to begin anew with.
const LARGEST_LIFE: u64 = 1 << 63;

/// Why a message is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It has not the form of one.
    Form,
    /// It is not from a node that knows the key.
    Code,
    /// It is for another node, or from none that there is, or names such a node, or a life that no clock leads to.
    Stranger,
    /// It was heard before, or is older than one that was.
    Replayed,
    /// It was meant for another life of this node, or comes from a past one of its sender, who should hear so.
    Past(NodeId),
}

#[derive(Clone, Copy, Debug, Default)]
struct Peer {
    /// The largest life that was heard of.
    life: u64,
    /// The largest number of a message of that life, and which of those right before were heard, too: a bit for each.
    heard: u64,
    before: u64,
    /// The number of the last message to it.
    sent: u64,
}

impl Peer {
    /// Another life begins.
    fn begin(&mut self, life: u64) {
        (self.life, self.heard, self.before) = (life, 0, 0);
    }

    /// Whether a number was not heard before, which it is from now on; and whether it is the largest. Messages that take different ways
    /// overtake each other.
    fn note(&mut self, counter: u64) -> Option<bool> {
        if counter > self.heard {
            let ahead = counter - self.heard;
            let shifted =
                u32::try_from(ahead).ok().and_then(|ahead| self.before.checked_shl(ahead)).unwrap_or(0);
            let last = if self.heard > 0 && ahead <= 64 { 1 << (ahead - 1) } else { 0 };
            (self.heard, self.before) = (counter, shifted | last);
            return Some(true);
        }
        let bit = 1_u64.checked_shl(u32::try_from((self.heard - counter).checked_sub(1)?).ok()?)?;
        (self.before & bit == 0).then(|| {
            self.before |= bit;
            false
        })
    }
}

/// What is believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heard {
    pub(super) from: NodeId,
    pub(super) body: Body,
    /// Whether the sender has said nothing later that came before.
    pub(super) is_latest: bool,
}

/// What is needed to be believed, and to believe.
#[derive(Debug)]
pub(super) struct Channels {
    me: NodeId,
    nodes: NodeId,
    life: u64,
    key: Key,
    peers: BTreeMap<NodeId, Peer>,
}

impl Channels {
    pub(super) fn new(me: NodeId, nodes: NodeId, life: u64, key: Key) -> Channels {
        Channels { me, nodes, life, key, peers: BTreeMap::new() }
    }

    pub(super) fn has_key(&self, key: &Key) -> bool {
        self.key.is_same(key)
    }

    /// Whether a node's life is known, so that it believes what it is told.
    pub(super) fn knows(&self, node: NodeId) -> bool {
        self.peers.get(&node).is_some_and(|peer| peer.life > 0)
    }

    /// The life of a node that is known.
    pub(super) fn life_of(&self, node: NodeId) -> u64 {
        self.peers.get(&node).map_or(0, |peer| peer.life)
    }

    /// The bytes of a message to a node.
    pub(super) fn seal(&mut self, to: NodeId, body: &Body) -> Vec<u8> {
        let peer = self.peers.entry(to).or_default();
        peer.sent += 1;
        let envelope =
            Envelope { from: self.me, to, life: self.life, peer_life: peer.life, counter: peer.sent };
        seal(&self.key, &envelope, body)
    }

    /// The answer to a node that does not know this one's life.
    pub(super) fn answer(&mut self, to: NodeId) -> Vec<u8> {
        let known = self.life_of(to);
        self.seal(to, &Body::Answer(known))
    }

    /// Reads bytes that may come from any sender: who says what.
    ///
    /// # Errors
    /// Why it is not believed.
    pub(super) fn open(&mut self, bytes: &[u8]) -> Result<Heard, Refused> {
        let (envelope, body) = open(&self.key, bytes).map_err(|why| match why {
            Malformed::Form => Refused::Form,
            Malformed::Code => Refused::Code,
        })?;
        let Envelope { from, to, life, peer_life, counter } = envelope;
        if to != self.me || from == self.me || from >= self.nodes || life == 0 || !body.is_within(self.nodes)
        {
            return Err(Refused::Stranger);
        }
        let known = if let Body::Answer(known) = body { known } else { 0 };
        if life.max(known) > LARGEST_LIFE {
            return Err(Refused::Stranger);
        }
        let peer = self.peers.entry(from).or_default();
        if let Body::Answer(known) = body
            && known > self.life
            && life >= peer.life
        {
            // A clock was set back: peers remember a life of this number that is over.
            self.life = known + 1;
            return Err(Refused::Past(from));
        }
        if peer_life != self.life {
            // It is not known when this was said; but the life is good to know, for the answer to reach it.
            if life > peer.life {
                peer.begin(life);
            }
            if matches!(body, Body::Answer(_)) {
                return Err(Refused::Replayed);
            }
            return Err(Refused::Past(from));
        }
        if life < peer.life {
            return Err(Refused::Past(from));
        }
        if life > peer.life {
            peer.begin(life);
        }
        let is_latest = peer.note(counter).ok_or(Refused::Replayed)?;
        Ok(Heard { from, body, is_latest })
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::Part;
    use super::*;

    fn pair() -> [Channels; 2] {
        [(0, 100), (1, 200)].map(|(me, life)| Channels::new(me, 2, life, Key::new(b"k")))
    }

    fn duties(n: u32) -> Body {
        Body::Duties(None, vec![(0, n)])
    }

    fn heard(from: NodeId, body: Body) -> Heard {
        Heard { from, body, is_latest: true }
    }

    /// Two nodes that have just met.
    fn met() -> [Channels; 2] {
        let [mut a, mut b] = pair();
        let first = a.seal(1, &duties(0));
        assert_eq!(b.open(&first), Err(Refused::Past(0)));
        let answer = b.answer(0);
        assert_eq!(a.open(&answer), Ok(heard(1, Body::Answer(100))));
        [a, b]
    }

    /// What is said after the first answer is believed, once.
    #[test]
    fn each_message_is_believed_once() {
        let [mut a, mut b] = met();
        let said = [1, 2, 3].map(|n| a.seal(1, &duties(n)));
        assert_eq!(b.open(&said[0]), Ok(heard(0, duties(1))));
        assert_eq!(b.open(&said[0]), Err(Refused::Replayed));
        assert_eq!(b.open(&said[2]), Ok(heard(0, duties(3))));
        assert_eq!(b.open(&said[1]), Ok(Heard { is_latest: false, ..heard(0, duties(2)) }));
        assert_eq!(b.open(&said[1]), Err(Refused::Replayed));
        // What comes too late is not believed any more.
        let late = a.seal(1, &duties(4));
        (0..64).for_each(|n| drop(a.seal(1, &duties(n))));
        let last = a.seal(1, &duties(5));
        assert!(b.open(&last).is_ok());
        assert_eq!(b.open(&late), Err(Refused::Replayed));
    }

    /// What was said to a life that is over, or by one, is not believed.
    #[test]
    fn lives_that_are_over_say_nothing() {
        let [mut a, mut b] = met();
        let to_old = a.seal(1, &duties(1));
        assert!(b.open(&to_old).is_ok());
        let by_old = a.seal(1, &duties(2));
        let mut later_b = Channels::new(1, 2, 300, Key::new(b"k"));
        assert_eq!(later_b.open(&to_old), Err(Refused::Past(0)));
        let mut later_a = Channels::new(0, 2, 400, Key::new(b"k"));
        let hail = later_a.seal(1, &duties(3));
        assert_eq!(b.open(&hail), Err(Refused::Past(0)));
        let answer = b.answer(0);
        assert!(later_a.open(&answer).is_ok());
        let fresh = later_a.seal(1, &duties(4));
        assert_eq!(b.open(&fresh), Ok(heard(0, duties(4))));
        assert_eq!(b.open(&by_old), Err(Refused::Past(0)));
        // An answer to a life that is over tells nothing, either.
        assert!(Channels::new(0, 2, 500, Key::new(b"k")).open(&answer).is_err());
    }

    /// A node whose clock was set back takes a larger life.
    #[test]
    fn a_node_outlives_its_past() {
        let [_, mut b] = met();
        let mut early = Channels::new(0, 2, 50, Key::new(b"k"));
        let hail = early.seal(1, &duties(1));
        assert_eq!(b.open(&hail), Err(Refused::Past(0)));
        let answer = b.answer(0);
        assert_eq!(early.open(&answer), Err(Refused::Past(1)));
        let hail = early.seal(1, &duties(2));
        assert_eq!(
            b.open(&hail),
            Err(Refused::Past(0)),
            "with a larger life, but none of the receiver's yet"
        );
        let answer = b.answer(0);
        assert!(early.open(&answer).is_ok());
        let fresh = early.seal(1, &duties(3));
        assert!(b.open(&fresh).is_ok());
    }

    /// A life, and a life that is remembered, can always be followed by a larger one.
    #[test]
    fn the_last_number_is_no_life() {
        let [mut a, _] = met();
        let mut endless = Channels::new(1, 2, u64::MAX, Key::new(b"k"));
        let said = endless.seal(0, &duties(1));
        assert_eq!(a.open(&said), Err(Refused::Stranger));
        let said = Channels::new(1, 2, 300, Key::new(b"k")).seal(0, &Body::Answer(u64::MAX));
        assert_eq!(a.open(&said), Err(Refused::Stranger));
    }

    #[test]
    fn strangers_are_none() {
        let [mut a, mut b] = met();
        assert_eq!(b.open(b"what"), Err(Refused::Form));
        let other = Channels::new(0, 2, 900, Key::new(b"other")).seal(1, &duties(1));
        assert_eq!(b.open(&other), Err(Refused::Code));
        let own = a.seal(1, &duties(1));
        assert_eq!(a.open(&own), Err(Refused::Stranger));
        let far = Channels::new(7, 8, 900, Key::new(b"k")).seal(1, &duties(1));
        assert_eq!(b.open(&far), Err(Refused::Stranger));
        let handed = Part::HandOver(vec![(2, 1)]);
        for body in [
            Body::Duties(Some(2), Vec::new()),
            Body::Duties(None, vec![(0, 1), (2, 1)]),
            Body::Streamed { stream: 1, number: 0, part: handed },
        ] {
            assert_eq!(b.open(&a.seal(1, &body)), Err(Refused::Stranger), "{body:?} of two nodes");
        }
    }
}
