//! What sources put into their packets.

use packet::{Batch, Packet};
use router::{Cx, Element, Flags, Handlers};

/// What packets contain unless the user says otherwise: Click's text, which the output of scripts depends on.
pub(super) const DEFAULT_DATA: &[u8] =
    b"Random bullshit in a packet, at least 64 bytes long. Well, now it is.";

/// No packet has room for so many bytes. More need not be kept to find that out.
const TOO_LONG: usize = 1 << 17;

/// Data, repeated or cut off to a length.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// The data.
    pub(super) data: Vec<u8>,
    /// Bytes of a packet; negative: as many as the data.
    pub(super) length: i32,
    bytes: Vec<u8>,
    /// Whether each packet has random bytes instead.
    random: bool,
}

impl Contents {
    pub(super) fn new(data: Vec<u8>, length: i32) -> Contents {
        let mut contents = Contents { data, length, bytes: Vec::new(), random: false };
        contents.fill();
        contents
    }

    /// Random bytes, so many in each packet.
    pub(super) fn random(length: i32) -> Contents {
        Contents { random: true, ..Contents::new(Vec::new(), length) }
    }

    /// Makes packets' bytes anew after data or length changed.
    pub(super) fn fill(&mut self) {
        let length = usize::try_from(self.length).unwrap_or(self.data.len()).min(TOO_LONG);
        self.bytes = self.data.iter().copied().cycle().take(length).collect();
        self.bytes.resize(length, 0); // of no data there is nothing to repeat
    }

    /// Whether each packet has random bytes of its own.
    pub(super) fn is_random(&self) -> bool {
        self.random
    }

    /// Bytes of a packet.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Makes packets, fewer if memory is short.
    #[inline]
    pub(super) fn make(&self, cx: &mut Cx<'_>, packets: usize, timestamp_ns: i64) -> Batch {
        let mut batch = cx.batch();
        for _ in 0..packets.min(packet::BATCH_MAX) {
            let Some(packet) = self.make_one(cx, timestamp_ns) else { break };
            batch.push(packet);
        }
        batch
    }

    /// Makes a packet, unless memory is short.
    #[inline(always)] // there are two users, and it is what a source does
    pub(super) fn make_one(&self, cx: &mut Cx<'_>, timestamp_ns: i64) -> Option<Packet> {
        let mut packet = cx.pool().packet(&self.bytes)?;
        if self.random {
            cx.rng().fill(packet.data_mut());
        }
        packet.set_timestamp_ns(timestamp_ns);
        Some(packet)
    }
}

/// A source whose handlers say what its packets contain.
pub(super) trait Filled: Element {
    /// Whether data written to the handler is made as long as packets shall be.
    const FITS: bool = true;

    fn contents(&mut self) -> &mut Contents;

    /// The contents changed.
    fn refilled(&mut self, cx: &mut Cx<'_>) {
        let _ = cx;
    }
}

/// The handler `data`.
pub(super) fn data_handlers<S: Filled>(h: &mut Handlers) {
    h.read("data", |e: &mut S, _| lang::bytes::to_text(e.contents().data.clone()))
        .flagged(Flags::RAW | Flags::CALM);
    h.write("data", |e: &mut S, cx, text| {
        let contents = e.contents();
        contents.data = lang::bytes::of_text(text).into_owned();
        match S::FITS {
            true => contents.fill(),
            false => contents.bytes.clone_from(&contents.data),
        }
        e.refilled(cx);
        Ok(())
    });
}

/// The handlers `length` and, by its old name, `datasize`; and what they say to what is no number.
pub(super) fn length_handlers<S: Filled>(h: &mut Handlers, flags: Flags, error: &'static str) {
    for (name, flags) in [("length", flags), ("datasize", flags | Flags::DEPRECATED)] {
        h.read(name, |e: &mut S, _| e.contents().length).flagged(flags);
        h.write(name, move |e: &mut S, cx, text| {
            e.contents().length = router::value(cx, text).map_err(|_| error.to_owned())?;
            e.contents().fill();
            e.refilled(cx);
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_cut_or_repeated_to_the_length() {
        assert_eq!(DEFAULT_DATA.len(), 69);
        let bytes = |length| Contents::new(b"abc".to_vec(), length).bytes;
        assert_eq!([bytes(-1), bytes(2), bytes(7)], [&b"abc"[..], b"ab", b"abcabca"]);
        assert_eq!(Contents::new(Vec::new(), 2).bytes, [0, 0]);
    }
}
