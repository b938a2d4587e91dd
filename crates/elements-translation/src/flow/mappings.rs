//! Who stands behind each port of a translator's address: what translators and their reverse elements share.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering, Ordering::Relaxed, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};
use wire::tcp::flag::{FIN, RST};

/// What a translator replaced in the packets of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) client: Ipv4Addr,
    pub(super) client_port: u16,
    /// Where the client's packets went before.
    pub(super) dst: Ipv4Addr,
    /// The number of the server to which they go instead.
    pub(super) server: u16,
}

/// Who sent a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    Client,
    Server,
}

/// Of an entry's word: the client's port, the server, then these, and a number that changes with each mapping.
const USED: u64 = 1 << 32;
const CLIENT_FIN: u64 = 1 << 33;
const SERVER_FIN: u64 = 1 << 34;
/// The TCP connection is over.
const OVER: u64 = 1 << 35;
const ENDING: u64 = CLIENT_FIN | SERVER_FIN | OVER;
const NEXT: u64 = 1 << 36;

/// One port's. The owner of the port, the worker of its flow, writes all of it; a worker that sees packets notes how a connection ends.
#[derive(Default)]
struct Entry {
    word: AtomicU64,
    /// The client's address and the other one.
    addresses: AtomicU64,
}

/// A mapping for each port.
pub(super) struct Mappings {
    entries: Box<[Entry]>,
    /// Ports of flows that came from the configuration before. Only a swap looks here.
    taken_over: Mutex<BTreeSet<u16>>,
}

/// A mapping that was read, to note things of it and no other one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token(u64);

impl Token {
    /// Whether the TCP connection was over.
    pub(super) fn is_over(self) -> bool {
        self.0 & OVER != 0
    }
}

impl Mappings {
    pub(super) fn new() -> Mappings {
        let entries = (0..=u16::MAX).map(|_| Entry::default()).collect();
        Mappings { entries, taken_over: Mutex::default() }
    }

    /// Says who stands behind a port. For its owner.
    pub(super) fn set(&self, port: u16, mapping: Mapping) {
        let entry = &self.entries[usize::from(port)];
        let number = entry.word.load(Relaxed).wrapping_add(NEXT) & !(NEXT - 1);
        // Who reads the addresses finds another word afterwards than before.
        entry.word.store(number, Relaxed);
        fence(Ordering::Release);
        let Mapping { client, client_port, dst, server } = mapping;
        entry.addresses.store(u64::from(client.to_bits()) << 32 | u64::from(dst.to_bits()), Relaxed);
        let word = number | USED | u64::from(server) << 16 | u64::from(client_port);
        entry.word.store(word, Ordering::Release);
    }

    fn taken_over(&self) -> MutexGuard<'_, BTreeSet<u16>> {
        self.taken_over.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A flow of the configuration before goes on with its port: whether no other one does.
    pub(super) fn take_over(&self, port: u16) -> bool {
        self.taken_over().insert(port)
    }

    /// Whether a flow of the configuration before goes on with a port.
    pub(super) fn is_taken_over(&self, port: u16) -> bool {
        self.taken_over().contains(&port)
    }

    /// Says the same of a port as others do. For its owner.
    pub(super) fn copy(&self, port: u16, others: &Mappings) {
        let (entry, other) = (&self.entries[usize::from(port)], &others.entries[usize::from(port)]);
        entry.addresses.store(other.addresses.load(Relaxed), Relaxed);
        entry.word.store(other.word.load(Ordering::Acquire), Ordering::Release);
    }

    /// No connection has the port any more. For its owner.
    pub(super) fn clear(&self, port: u16) {
        self.entries[usize::from(port)].word.fetch_and(!USED, Relaxed);
    }

    /// Who stands behind a port.
    #[inline]
    pub(super) fn get(&self, port: u16) -> Option<(Mapping, Token)> {
        let entry = &self.entries[usize::from(port)];
        let word = entry.word.load(Ordering::Acquire);
        let addresses = entry.addresses.load(Relaxed);
        fence(Ordering::Acquire);
        let unchanged = (entry.word.load(Relaxed) ^ word) & !ENDING == 0;
        (word & USED != 0 && unchanged).then(|| {
            let mapping = Mapping {
                client: Ipv4Addr::from_bits((addresses >> 32) as u32),
                client_port: word as u16,
                dst: Ipv4Addr::from_bits(addresses as u32),
                server: (word >> 16) as u16,
            };
            (mapping, Token(word))
        })
    }

    /// Whether the TCP connection behind a port is over.
    pub(super) fn is_over(&self, port: u16) -> bool {
        self.entries[usize::from(port)].word.load(Relaxed) & (USED | OVER) == USED | OVER
    }

    /// Notes what a TCP packet with these flags means for the end of its connection: whether that is over.
    #[inline]
    pub(super) fn note(&self, port: u16, Token(token): Token, from: From, flags: u8) -> bool {
        if flags & (FIN | RST) == 0 {
            return token & OVER != 0;
        }
        let word = &self.entries[usize::from(port)].word;
        let noted = word.fetch_update(Relaxed, Relaxed, |now| {
            ((now ^ token) & !ENDING == 0).then(|| now | ends(now, from, flags))
        });
        noted.is_ok_and(|before| (before | ends(before, from, flags)) & OVER != 0)
    }
}

/// What a packet adds to the end of a connection: a RST ends it, and a FIN of each side.
fn ends(word: u64, from: From, flags: u8) -> u64 {
    if flags & RST != 0 {
        return OVER;
    }
    let fin = if from == From::Client { CLIENT_FIN } else { SERVER_FIN };
    let both = (word | fin) & (CLIENT_FIN | SERVER_FIN) == CLIENT_FIN | SERVER_FIN;
    if both { fin | OVER } else { fin }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(last: u8) -> Mapping {
        let (client, dst) = (Ipv4Addr::new(255, 0, 0, last), Ipv4Addr::new(1, 2, 3, last));
        Mapping { client, client_port: 65535, dst, server: 0xfffe }
    }

    #[test]
    fn a_mapping_is_found_until_it_is_cleared() {
        let mappings = Mappings::new();
        mappings.set(1024, mapping(1));
        mappings.set(65535, mapping(2));
        assert_eq!(mappings.get(1024).map(|found| found.0), Some(mapping(1)));
        assert_eq!(mappings.get(65535).map(|found| found.0), Some(mapping(2)));
        mappings.clear(1024);
        assert!(mappings.get(1024).is_none() && !mappings.is_over(1024));
    }

    /// A FIN from each side, or a RST from one; what is late does not end the next connection.
    #[test]
    fn ends_of_connections() {
        let mappings = Mappings::new();
        mappings.set(5, mapping(1));
        let token = mappings.get(5).expect("set").1;
        assert!(!mappings.note(5, token, From::Client, FIN));
        assert!(!mappings.note(5, token, From::Client, FIN));
        assert!(mappings.note(5, token, From::Server, FIN | 16));
        assert!(mappings.is_over(5));
        assert_eq!(mappings.get(5).map(|found| found.0), Some(mapping(1)));
        mappings.set(5, mapping(2));
        assert!(!mappings.note(5, token, From::Server, RST) && !mappings.is_over(5));
        let token = mappings.get(5).expect("set").1;
        assert!(mappings.note(5, token, From::Server, RST) && mappings.is_over(5));
    }
}
