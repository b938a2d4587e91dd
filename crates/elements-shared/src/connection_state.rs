//! The state of a packet's connection: what ConnTrack writes into packets, and classifiers read.

use packet::{Anno, Packet};

/// What a packet is to the connections that are known. The words are those of Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum ConnectionState {
    /// It was not looked at, or is of a kind that has no connections: a later fragment, neighbour discovery.
    #[default]
    Untracked = 0,
    /// It begins a connection, or belongs to one that has had no answer yet.
    New = 1,
    /// It belongs to a connection that has had an answer, or is that answer.
    Established = 2,
    /// It is an ICMP error about a packet of a known connection.
    Related = 3,
    /// It cannot belong to any connection, nor begin one.
    Invalid = 4,
}

/// The lower bits, which say the state; the others say which table remembers the connection.
const STATE_BITS: u32 = 3;

use ConnectionState::{Established, Invalid, New, Related, Untracked};

impl ConnectionState {
    /// All states; the position of each is its number.
    pub const ALL: [ConnectionState; 5] = [Untracked, New, Established, Related, Invalid];

    /// Where packets carry it: a byte that Click's annotations leave free.
    pub const ANNO: Anno = Anno { offset: 18, size: 1 };

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Untracked => "untracked",
            New => "new",
            Established => "established",
            Related => "related",
            Invalid => "invalid",
        }
    }

    /// The state that a word names.
    pub fn named(word: &str) -> Option<ConnectionState> {
        ConnectionState::ALL.into_iter().find(|state| state.name() == word)
    }

    /// The state that a packet carries.
    #[inline]
    pub fn of(packet: &Packet) -> ConnectionState {
        let number = packet.anno(Self::ANNO) & ((1 << STATE_BITS) - 1);
        // A number that no state has comes from an element that uses the byte otherwise.
        ConnectionState::ALL.get(number as usize).copied().unwrap_or_default()
    }

    /// Makes a packet carry it.
    #[inline]
    pub fn mark(self, packet: &mut Packet) {
        self.mark_remembered(packet, 0);
    }

    /// The same, and that the table of connections with this number, which is below 32, remembers the packet's connection. No table has the number 0.
    #[inline]
    pub fn mark_remembered(self, packet: &mut Packet, table: u8) {
        packet.set_anno(Self::ANNO, self as u64 | u64::from(table) << STATE_BITS);
    }

    /// Whether a packet belongs to a connection that this table remembers.
    #[inline]
    pub fn is_remembered(packet: &Packet, table: u8) -> bool {
        table != 0 && packet.anno(Self::ANNO) >> STATE_BITS == u64::from(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_lead_back() {
        for (number, state) in ConnectionState::ALL.into_iter().enumerate() {
            assert_eq!(state as usize, number);
            assert_eq!(ConnectionState::named(state.name()), Some(state));
        }
        assert_eq!(ConnectionState::named("syn"), None);
        // No annotation with a name has the byte.
        let end = |anno: &Anno| anno.offset + anno.size;
        let meets = |anno: &Anno| (anno.offset..end(anno)).contains(&ConnectionState::ANNO.offset);
        assert!(!Anno::NAMES.iter().any(|(_, anno)| meets(anno)));
    }
}
