//! What RFC2507Comp and RFC2507Decomp agree upon: the form of packets, and how headers of a connection differ from the last ones.

/// First byte of packets that are otherwise as they were.
pub(super) const OTHER: u8 = 0;
/// First byte of packets with whole headers; a connection's number follows.
pub(super) const FULL: u8 = 1;
/// First byte of packets with compressed headers; a connection's number, a byte of [`change`] and TCP's checksum follow.
pub(super) const COMPRESSED: u8 = 2;
/// Bytes in front of what changed.
pub(super) const FIXED_LEN: usize = 5;
/// Connections are numbered from 1.
pub(super) const CONNECTIONS: usize = 14;

/// Bytes of the headers that are compressed: without options.
pub(super) const HEADERS_LEN: usize = 40;
/// Headers of IP and TCP.
pub(super) type Headers = [u8; HEADERS_LEN];

/// Offsets of fields.
pub(super) mod at {
    pub(crate) const ID: usize = 4;
    pub(crate) const ADDRESSES: usize = 12;
    pub(crate) const SEQ: usize = 24;
    pub(crate) const ACK: usize = 28;
    pub(crate) const FLAGS: usize = 33;
    pub(crate) const WINDOW: usize = 34;
    pub(crate) const CHECKSUM: usize = 36;
    pub(crate) const URGENT: usize = 38;
}

/// What changed, as bits.
pub(super) mod change {
    pub(crate) const URGENT: u8 = 1;
    pub(crate) const WINDOW: u8 = 1 << 1;
    pub(crate) const ACK: u8 = 1 << 2;
    pub(crate) const SEQ: u8 = 1 << 3;
    /// Not a change, but the flag.
    pub(crate) const PUSH: u8 = 1 << 4;
    pub(crate) const ID: u8 = 1 << 5;
}

/// TCP's flags that a compressed header can change.
pub(super) const PUSH: u8 = 8;
pub(super) const URGENT: u8 = 32;

/// The fields whose differences are sent, in order.
const FIELDS: [(u8, usize, usize); 5] = [
    (change::URGENT, at::URGENT, 2),
    (change::WINDOW, at::WINDOW, 2),
    (change::ACK, at::ACK, 4),
    (change::SEQ, at::SEQ, 4),
    (change::ID, at::ID, 2),
];

fn read(headers: &Headers, at: usize, len: usize) -> u32 {
    headers[at..at + len].iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn write(headers: &mut Headers, at: usize, len: usize, number: u32) {
    headers[at..at + len].copy_from_slice(&number.to_be_bytes()[4 - len..]);
}

/// What is sent of headers.
#[derive(Debug)]
pub(super) struct Difference {
    pub(super) changes: u8,
    bytes: [u8; 3 * FIELDS.len()],
    len: usize,
}

impl Difference {
    /// The difference to a connection's last headers; none if it cannot be sent.
    pub(super) fn of(last: &Headers, now: &Headers) -> Option<Difference> {
        let same = |from: usize, to: usize| last[from..to] == now[from..to];
        let flags = last[at::FLAGS] ^ now[at::FLAGS];
        // Version and service; fragmentation, time to live and protocol; addresses and ports; TCP's length and reserved bits.
        if !(same(0, 2)
            && same(6, 10)
            && same(at::ADDRESSES, at::SEQ)
            && same(32, 33)
            && flags & !(PUSH | URGENT) == 0)
        {
            return None;
        }
        let mut all = Difference { changes: 0, bytes: [0; 3 * FIELDS.len()], len: 0 };
        for (bit, at, len) in FIELDS {
            let (old, new) = (read(last, at, len), read(now, at, len));
            if bit == change::ID && new == old.wrapping_add(1) & 0xffff {
                continue; // which goes without saying
            }
            match new.checked_sub(old)? {
                0 if bit == change::ID => return None,
                0 => {}
                step => all.add(bit, step)?,
            }
        }
        if now[at::FLAGS] & PUSH != 0 {
            all.changes |= change::PUSH;
        }
        let urgent = all.changes & change::URGENT != 0;
        (urgent == (now[at::FLAGS] & URGENT != 0)).then_some(all)
    }

    fn add(&mut self, bit: u8, step: u32) -> Option<()> {
        let [high, low] = u16::try_from(step).ok()?.to_be_bytes();
        let code = [0, high, low];
        let code = if high == 0 { &code[2..] } else { &code[..] };
        self.bytes[self.len..self.len + code.len()].copy_from_slice(code);
        self.len += code.len();
        self.changes |= bit;
        Some(())
    }

    /// What the changed fields grew by.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Brings a connection's headers up to date. Returns how many bytes that took; none if there are too few.
pub(super) fn apply(headers: &mut Headers, changes: u8, bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    for (bit, at, len) in FIELDS {
        let step = match changes & bit {
            0 => u32::from(bit == change::ID),
            _ => take(&mut rest)?,
        };
        write(headers, at, len, read(headers, at, len).wrapping_add(step));
    }
    let flag = |bit, flag| if changes & bit != 0 { flag } else { 0 };
    let flags = flag(change::PUSH, PUSH) | flag(change::URGENT, URGENT);
    headers[at::FLAGS] = headers[at::FLAGS] & !(PUSH | URGENT) | flags;
    Some(bytes.len() - rest.len())
}

/// A number: one byte, or zero and two.
fn take(bytes: &mut &[u8]) -> Option<u32> {
    let (number, len) = match **bytes {
        [0, high, low, ..] => (u16::from_be_bytes([high, low]), 3),
        [0, ..] | [] => return None,
        [low, ..] => (low.into(), 1),
    };
    *bytes = &bytes[len..];
    Some(number.into())
}
