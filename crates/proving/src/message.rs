//! What packets carry, so that each is known wherever it turns up.

use crate::datagram::Segment;
use std::fmt;

/// The smallest payload that can carry a message.
pub const LEN_MIN: usize = 16;

const MAGIC: [u8; 4] = *b"prov";

/// One payload of a flow. No two payloads of a story are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    /// The flow that it belongs to.
    pub flow: u32,
    /// Its place in the flow.
    pub number: u32,
    /// Whether it is the answer to the message of the same flow and number. An ICMP echo reply carries what the request
    /// carried, so a receiver tells the two apart by the ICMP type.
    pub answer: bool,
}

impl Message {
    /// The answer to this message.
    pub fn answered(self) -> Message {
        Message { answer: true, ..self }
    }

    /// The message that this one answers, or this one.
    pub fn asked(self) -> Message {
        Message { answer: false, ..self }
    }

    /// The payload of so many bytes, [`LEN_MIN`] at least. What follows the message depends on it, too, so that mixed-up bytes show.
    pub fn to_bytes(self, len: usize) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.flow.to_be_bytes());
        bytes.extend(self.number.to_be_bytes());
        bytes.extend([u8::from(self.answer), 0, 0, 0]);
        bytes.extend((LEN_MIN..len).map(|at| self.filler(at)));
        bytes
    }

    /// The message at the start of a payload that may have been cut, as those in ICMP errors are; `None` if there is none.
    pub fn quoted(bytes: &[u8]) -> Option<Message> {
        let word = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let answer = *bytes.get(12)? == 1;
        bytes.starts_with(&MAGIC).then_some(Message { flow: word(4)?, number: word(8)?, answer })
    }

    /// The message in a segment that may have been cut: an echo reply carries an answer, whatever its payload says.
    pub fn of(segment: &Segment) -> Option<Message> {
        let message = Message::quoted(segment.data())?;
        let replies = matches!(segment, Segment::Echo { reply: true, .. });
        Some(if replies { message.answered() } else { message })
    }

    /// The message that a whole payload carries; `None` for a payload that carries none.
    ///
    /// # Errors
    /// Which byte of the payload is wrong.
    pub fn parse(bytes: &[u8]) -> Result<Option<Message>, String> {
        let Some(message) = Message::quoted(bytes) else { return Ok(None) };
        match (LEN_MIN..bytes.len()).find(|&at| bytes[at] != message.filler(at)) {
            Some(at) => Err(format!("byte {at} of the payload of {message} is not what was sent")),
            None => Ok(Some(message)),
        }
    }

    fn filler(self, at: usize) -> u8 {
        (self.flow.wrapping_mul(31) ^ self.number.wrapping_mul(7)).wrapping_add(at as u32) as u8
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answer = if self.answer { " (answer)" } else { "" };
        write!(f, "flow {} message {}{answer}", self.flow, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_come_back_and_damage_shows() {
        let message = Message { flow: 3, number: 70_000, answer: false };
        let mut bytes = message.to_bytes(100);
        assert_eq!((bytes.len(), Message::parse(&bytes)), (100, Ok(Some(message))));
        assert_eq!(Message::quoted(&bytes[..20]), Some(message));
        bytes[50] ^= 1;
        assert!(Message::parse(&bytes).is_err());
        assert_eq!(Message::parse(&bytes[1..]), Ok(None));
    }
}
