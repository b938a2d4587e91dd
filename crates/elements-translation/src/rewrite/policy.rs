//! How long flows stay.

use super::record::flag;

/// The flags of a UDP flow of at least three packets, in both directions.
const STREAMING: u16 = (3 * flag::PACKET) | flag::REPLIED;

/// How long flows stay, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Policy {
    /// For how long a flow cannot be removed to make room after each packet, while it is not assured.
    pub(super) guarantee_ms: u64,
    /// After which idle time it is removed.
    pub(super) timeouts: Timeouts,
}

/// Idle times, by what is known of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timeouts {
    /// The same for all.
    Plain(u64),
    /// TCP: no data in at least one direction; data in both; both directions ended.
    Tcp { nodata: u64, data: u64, done: u64 },
    /// UDP: few packets or one direction; three packets and both directions.
    Udp { few: u64, streaming: u64 },
}

impl Policy {
    /// Whether both sides take part in a flow with these flags, so that no flow that may be one of a flood displaces it: a TCP connection whose
    /// handshake is complete, until it ends, and a UDP flow that was answered.
    #[inline]
    pub(super) fn is_assured(&self, flags: u16) -> bool {
        match self.timeouts {
            Timeouts::Plain(_) => false,
            Timeouts::Tcp { .. } => {
                let is_open = flags & flag::COMPLETE != 0 || flags & flag::BOTH_DATA == flag::BOTH_DATA;
                is_open && !self.has_ended(flags)
            }
            Timeouts::Udp { .. } => flags & flag::REPLIED != 0,
        }
    }

    /// For how long after its last packet a flow with these flags is not removed to make room.
    #[inline]
    pub(super) fn stay_ms(&self, flags: u16) -> u64 {
        if self.is_assured(flags) { self.timeout_ms(flags) } else { self.guarantee_ms }
    }

    /// The idle time of a flow with these flags.
    #[inline]
    pub(super) fn timeout_ms(&self, flags: u16) -> u64 {
        match self.timeouts {
            Timeouts::Plain(timeout) => timeout,
            Timeouts::Tcp { done, .. } if flags & flag::BOTH_DONE == flag::BOTH_DONE => done,
            Timeouts::Tcp { data, .. } if flags & flag::BOTH_DATA == flag::BOTH_DATA => data,
            Timeouts::Tcp { nodata, .. } => nodata,
            Timeouts::Udp { streaming, .. } if flags & STREAMING == STREAMING => streaming,
            Timeouts::Udp { few, .. } => few,
        }
    }

    /// Whether these are the flags of a TCP connection that both sides have ended.
    pub(super) fn has_ended(&self, flags: u16) -> bool {
        matches!(self.timeouts, Timeouts::Tcp { .. }) && flags & flag::BOTH_DONE == flag::BOTH_DONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeout_follows_the_state_of_a_flow() {
        let tcp = Policy { guarantee_ms: 0, timeouts: Timeouts::Tcp { nodata: 1, data: 2, done: 3 } };
        let times = |flags| tcp.timeout_ms(flags);
        assert_eq!([times(0), times(flag::FORWARD_DATA), times(flag::BOTH_DATA)], [1, 1, 2]);
        assert_eq!(
            [times(flag::BOTH_DATA | flag::FORWARD_DONE), times(flag::BOTH_DONE | flag::BOTH_DATA)],
            [2, 3]
        );
        assert!(tcp.has_ended(flag::BOTH_DONE | flag::FORWARD_DATA) && !tcp.has_ended(flag::FORWARD_DONE));
        let udp = Policy { guarantee_ms: 0, timeouts: Timeouts::Udp { few: 1, streaming: 2 } };
        let times = |replied, packets| udp.timeout_ms(replied * flag::REPLIED + packets * flag::PACKET);
        assert_eq!([times(0, 3), times(1, 2), times(1, 3)], [1, 1, 2]);
        assert!(!udp.has_ended(flag::REPLIED | flag::PACKET));
    }

    /// One side alone assures nothing, and an end takes it back.
    #[test]
    fn flows_of_both_sides_stay() {
        let policy = |timeouts| Policy { guarantee_ms: 5, timeouts };
        let tcp = policy(Timeouts::Tcp { nodata: 100, data: 200, done: 50 });
        let stays = |flags: u16| tcp.stay_ms(flags);
        assert_eq!([stays(0), stays(flag::ANSWERED), stays(flag::FORWARD_DATA)], [5, 5, 5]);
        assert_eq!([stays(flag::ANSWERED | flag::COMPLETE), stays(flag::BOTH_DATA)], [100, 200]);
        assert_eq!(stays(flag::COMPLETE | flag::BOTH_DATA | flag::BOTH_DONE), 5);
        assert_eq!(stays(flag::BOTH_DATA | flag::FORWARD_DONE), 200);
        let udp = policy(Timeouts::Udp { few: 100, streaming: 200 });
        assert_eq!([udp.stay_ms(3 * flag::PACKET), udp.stay_ms(flag::PACKET | flag::REPLIED)], [5, 100]);
        assert_eq!(policy(Timeouts::Plain(100)).stay_ms(flag::REPLIED), 5);
    }
}
