//! What is estimated of TCP from segments that pass: round trips and retransmissions.
//!
//! Only handshakes are timed: SYN to SYN/ACK is the way to the server and back, SYN/ACK to ACK the way to the client and back, as seen from here. One
//! of whose packets there were two is not, since nothing says which of them was answered (Karn, 1987). A segment is sent again if it ends
//! at or below the highest number that its sender has used; one that others have overtaken looks like that, too.

use super::sight::Facts;
use packet::Packet;
use std::fmt::Debug;
use wire::tcp::{self, flag};
use wire::{ip_proto, ipv4, ipv6};

/// Segments of a connection are no further apart than its largest window (RFC 7323, section 2.2).
const WINDOW: u32 = 1 << 30;

/// What is estimated of a flow beside its counts: nothing (`()`), or [`Tcp`]. A type, so that who wants none pays for none.
pub(super) trait Estimate: Copy + Debug + Default + Send + 'static {
    /// What it needs of a packet, or of several in a row.
    type Segment: Copy + Debug + Default + Send;
    /// What flows of a configuration with the other choice have.
    type Other: Estimate;

    /// Reads a packet with a marked network header.
    fn read(packet: &Packet, facts: &Facts) -> Self::Segment;
    /// Adds the next packet of the same flow and direction, if both can be noted together.
    fn join(last: &mut Self::Segment, next: &Self::Segment) -> bool;
    /// Notes a packet.
    fn note(&mut self, direction: usize, segment: &Self::Segment, flags: u8, now_ns: i64);
    /// What a report says.
    fn told(&self) -> Told;
    /// What it is after a report.
    fn after_report(&self) -> Self;
}

/// What a report says of a flow's TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Told {
    /// Round trips between here and the server, and between here and the client, in microseconds; 0 where that is not known.
    pub(super) rtt_us: [u32; 2],
    /// Segments of each direction that were sent again since the last report.
    pub(super) again: [u32; 2],
}

impl Estimate for () {
    type Segment = ();
    type Other = Tcp;

    #[inline(always)]
    fn read(_packet: &Packet, _facts: &Facts) {}

    #[inline(always)]
    fn join(_last: &mut (), _next: &()) -> bool {
        true
    }

    #[inline(always)]
    fn note(&mut self, _direction: usize, _segment: &(), _flags: u8, _now_ns: i64) {}

    fn told(&self) -> Told {
        Told::default()
    }

    fn after_report(&self) {}
}

/// Segments of a direction in a row, each of which begins where the one before has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Segments {
    /// The number of the first.
    pub(super) sequence: u32,
    /// What numbers each of them takes: data, SYN and FIN.
    pub(super) len: u32,
    /// How many there are; those that take no numbers do not count.
    pub(super) number: u32,
}

impl Segments {
    fn end(&self) -> u32 {
        self.sequence.wrapping_add(self.len.wrapping_mul(self.number))
    }
}

/// How far a handshake is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    #[default]
    Unknown,
    /// A SYN has come, or several.
    Asked,
    AskedAgain,
    /// A SYN/ACK has come.
    Answered,
    /// It is over, or cannot be timed.
    Done,
}

/// What is known of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tcp {
    /// The number behind the last one that each side has used.
    highest: [u32; 2],
    is_known: [bool; 2],
    /// When the last packet of the handshake came, in microseconds of the clock.
    mark_us: u32,
    step: Step,
    /// The direction of the side that asks.
    client: u8,
    told: Told,
}

const _: () = assert!(size_of::<Tcp>() <= 36);

impl Tcp {
    fn since_mark(&self, now_us: u32) -> u32 {
        now_us.wrapping_sub(self.mark_us).max(1)
    }

    /// Times a handshake.
    fn time(&mut self, direction: usize, segment: &Segments, flags: u8, now_us: u32) {
        let is_client = usize::from(self.client) == direction;
        let repeats = is_client && self.is_known[direction] && self.highest[direction] == segment.end();
        match (self.step, flags & (flag::SYN | flag::ACK | flag::RST)) {
            (Step::Asked | Step::AskedAgain, flag::SYN) if repeats => self.step = Step::AskedAgain,
            (Step::Answered | Step::Done, flag::SYN) if repeats => self.step = Step::Done,
            (_, flag::SYN) => {
                // A connection begins, perhaps where there was another one before.
                self.is_known = [false; 2];
                (self.step, self.client, self.mark_us) = (Step::Asked, direction as u8, now_us);
                self.told.rtt_us = [0; 2];
            }
            (Step::Asked, SYN_ACK) if !is_client => {
                self.told.rtt_us[0] = self.since_mark(now_us);
                (self.step, self.mark_us) = (Step::Answered, now_us);
            }
            (Step::AskedAgain, SYN_ACK) if !is_client => {
                (self.step, self.mark_us) = (Step::Answered, now_us);
            }
            (Step::Unknown, SYN_ACK) => {
                self.client = 1 - direction as u8;
                (self.step, self.mark_us) = (Step::Answered, now_us);
            }
            (Step::Answered, SYN_ACK) => self.step = Step::Done,
            (Step::Answered, flag::ACK) if is_client => {
                self.told.rtt_us[1] = self.since_mark(now_us);
                self.step = Step::Done;
            }
            _ => {}
        }
    }

    /// Counts segments that are sent again.
    fn count(&mut self, direction: usize, segment: &Segments, flags: u8) {
        let highest = &mut self.highest[direction];
        let behind = highest.wrapping_sub(segment.sequence);
        let is_behind = behind.cast_signed() > 0;
        if !self.is_known[direction] || is_behind && behind > WINDOW {
            // The first one that is seen, or numbers that have nothing to do with what was.
            (self.is_known[direction], *highest) = (true, segment.end());
            return;
        }
        if segment.end().wrapping_sub(*highest).cast_signed() > 0 {
            *highest = segment.end();
        }
        let is_marked = flags & (flag::SYN | flag::FIN) != 0;
        // Who only asks whether the other one is still there sends the last byte once more (RFC 9293, section 3.8.4).
        let is_keepalive = behind == 1 && segment.len == 1 && segment.number == 1 && !is_marked;
        if is_behind && !is_keepalive {
            self.told.again[direction] += (behind / segment.len).min(segment.number);
        }
    }
}

const SYN_ACK: u8 = flag::SYN | flag::ACK;

impl Estimate for Tcp {
    type Segment = Segments;
    type Other = ();

    #[inline]
    fn read(packet: &Packet, facts: &Facts) -> Segments {
        // Only TCP has flags.
        if facts.tcp_flags == 0 { Segments::default() } else { read(packet).unwrap_or_default() }
    }

    #[inline]
    fn join(last: &mut Segments, next: &Segments) -> bool {
        if next.len == 0 {
            return true;
        }
        if last.len == 0 {
            *last = *next;
            return true;
        }
        let follows = last.len == next.len && last.end() == next.sequence;
        last.number += u32::from(follows);
        follows
    }

    #[inline]
    fn note(&mut self, direction: usize, segment: &Segments, flags: u8, now_ns: i64) {
        if self.step != Step::Done || flags & flag::SYN != 0 {
            self.time(direction, segment, flags, (now_ns / 1000) as u32);
        }
        if segment.len != 0 && flags & flag::RST == 0 {
            self.count(direction, segment, flags);
        }
    }

    fn told(&self) -> Told {
        self.told
    }

    fn after_report(&self) -> Tcp {
        Tcp { told: Told { again: [0; 2], ..self.told }, ..*self }
    }
}

/// Reads a TCP segment; nothing of one that goes on in later fragments, or ends within its header.
fn read(packet: &Packet) -> Option<Segments> {
    let network = packet.network()?;
    let (at, len) = match network.first()? >> 4 {
        4 => {
            let ip = ipv4::Header::new_checked(network).ok()?;
            if ip.is_fragment() {
                return None;
            }
            (ip.header_len(), usize::from(ip.total_len()))
        }
        _ => {
            let ip = ipv6::Header::new_checked(network).ok()?;
            let upper = match ip.next_header() {
                ip_proto::TCP => ipv6::HEADER_LEN,
                _ => ipv6::upper_layer(network).ok().filter(|upper| upper.fragment.is_none())?.offset,
            };
            (upper, ipv6::HEADER_LEN + usize::from(ip.payload_len()))
        }
    };
    let header = tcp::Header::new_checked(network.get(at..)?).ok()?;
    let data = len.checked_sub(at + header.header_len().max(tcp::HEADER_LEN))?;
    let flags = header.flags();
    let marks = u32::from(flags & flag::SYN != 0) + u32::from(flags & flag::FIN != 0);
    Some(Segments { sequence: header.sequence(), len: data as u32 + marks, number: 1 })
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;
