//! What is kept of a flow between two reports.

use super::sight::Facts;
use wire::tcp::flag;

/// Counts of both directions since the last report; the first direction is that of the flow's first packet. Times are in milliseconds, and
/// count from [`Record::start_ms`] on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) octets: [u64; 2],
    pub(super) packets: [u64; 2],
    /// When the first packet since the last report came, since the epoch.
    pub(super) start_ms: i64,
    first: [u32; 2],
    last: [u32; 2],
    /// All flags that TCP segments had.
    pub(super) tcp_flags: [u8; 2],
    /// Type and code of the first ICMP message.
    pub(super) icmp: [u16; 2],
    /// Whether it waits to be reported while it goes on.
    pub(super) is_due: bool,
}

const _: () = assert!(size_of::<Record>() == 64);

/// Why a flow is reported: the values of flowEndReason (RFC 7011 and the registry of IANA, element 136).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Why {
    /// No packet came for some time.
    Idle = 1,
    /// It goes on, and was not reported for some time.
    Active = 2,
    /// TCP has closed it.
    End = 3,
    /// A user asked for it.
    Forced = 4,
    /// Another flow needs its place.
    Displaced = 5,
}

impl Record {
    /// Counts packets of one direction that come at a time. How long ago the first one since the last report came, in milliseconds.
    #[inline]
    pub(super) fn count(&mut self, direction: usize, facts: &Facts, now_ms: i64) -> i64 {
        if self.packets[direction] == 0 {
            self.begin(direction, facts, now_ms);
        }
        let age = self.age_ms(now_ms);
        self.last[direction] = offset(age);
        self.packets[direction] += u64::from(facts.packets);
        self.octets[direction] += u64::from(facts.octets);
        self.tcp_flags[direction] |= facts.tcp_flags;
        age
    }

    /// Notes the first packets of a direction.
    #[cold]
    fn begin(&mut self, direction: usize, facts: &Facts, now_ms: i64) {
        if self.is_empty() {
            self.start_ms = now_ms;
        }
        self.first[direction] = offset(self.age_ms(now_ms));
        self.icmp[direction] = facts.icmp;
    }

    /// Whether nothing came since the last report.
    pub(super) fn is_empty(&self) -> bool {
        self.packets == [0; 2]
    }

    /// How long ago the first packet since the last report came, in milliseconds.
    #[inline]
    pub(super) fn age_ms(&self, now_ms: i64) -> i64 {
        now_ms - self.start_ms
    }

    /// Whether TCP has closed the flow: both sides, or one by a reset.
    #[inline]
    pub(super) fn has_ended(&self) -> bool {
        let [a, b] = self.tcp_flags;
        a & b & flag::FIN != 0 || (a | b) & flag::RST != 0
    }

    /// When the first and the last packet of a direction came, in milliseconds since the epoch.
    pub(super) fn times_ms(&self, direction: usize) -> (i64, i64) {
        (self.start_ms + i64::from(self.first[direction]), self.start_ms + i64::from(self.last[direction]))
    }
}

/// An age as a record has it.
#[inline]
fn offset(age_ms: i64) -> u32 {
    match u32::try_from(age_ms) {
        Ok(offset) => offset,
        Err(_) => beyond(age_ms),
    }
}

/// That of a record with a clock that was set back, or which is older than it can tell.
#[cold]
fn beyond(age_ms: i64) -> u32 {
    if age_ms < 0 { 0 } else { u32::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each direction has its own counts and times; what a report ends begins anew with the next packet.
    #[test]
    fn directions_are_counted_apart() {
        let facts = |octets, tcp_flags| Facts { octets, packets: 1, tcp_flags, icmp: 0 };
        let mut record = Record::default();
        record.count(0, &facts(40, flag::SYN), 5000);
        record.count(1, &facts(60, flag::SYN | flag::ACK), 5020);
        record.count(0, &facts(100, flag::ACK | flag::FIN), 5030);
        assert!(!record.has_ended());
        record.count(1, &facts(40, flag::FIN), 5100);
        assert!(record.has_ended());
        assert_eq!((record.octets, record.packets), ([140, 100], [2, 2]));
        assert_eq!([0, 1].map(|direction| record.times_ms(direction)), [(5000, 5030), (5020, 5100)]);
        assert_eq!(record.tcp_flags, [flag::SYN | flag::ACK | flag::FIN, flag::SYN | flag::ACK | flag::FIN]);
        record = Record::default();
        record.count(1, &facts(52, flag::RST), 9000);
        assert!(record.has_ended());
        // A clock that is set back.
        record.count(0, &facts(52, 0), 8000);
        assert_eq!(
            (record.age_ms(9500), record.times_ms(1), record.times_ms(0)),
            (500, (9000, 9000), (9000, 9000))
        );
        // More than a record can tell.
        record.count(1, &facts(52, 0), 9000 + (1 << 40));
        assert_eq!(record.times_ms(1), (9000, 9000 + i64::from(u32::MAX)));
    }
}
