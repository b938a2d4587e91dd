//! The state of a connection: what a packet makes of it, and how long it stays in memory.
//!
//! TCP has the states of Linux's connection tracking, found by flags alone; whether a segment can be one of its connection at all, by its
//! numbers, says [`super::window`]. All other protocols have one state, and what counts is whether an answer was seen.

use wire::ip_proto;
use wire::tcp::flag;

/// A TCP connection's state. Other protocols are in [`State::Open`] always.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    /// Not TCP.
    Open = 0,
    /// A SYN was seen, of its originator.
    SynSent = 1,
    /// It was answered.
    SynReceived = 2,
    /// The answer was acknowledged.
    Established = 3,
    /// One side has sent its last byte.
    FinWait = 4,
    /// Both sides have.
    LastAck = 5,
    /// Both sides have, and that was acknowledged.
    TimeWait = 6,
    /// It was reset.
    Closed = 7,
}

use State::{Closed, Established, FinWait, LastAck, Open, SynReceived, SynSent, TimeWait};

impl State {
    const ALL: [State; 8] = [Open, SynSent, SynReceived, Established, FinWait, LastAck, TimeWait, Closed];

    /// Linux's word for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Open => "OPEN",
            SynSent => "SYN_SENT",
            SynReceived => "SYN_RECV",
            Established => "ESTABLISHED",
            FinWait => "FIN_WAIT",
            LastAck => "LAST_ACK",
            TimeWait => "TIME_WAIT",
            Closed => "CLOSE",
        }
    }
}

/// What a segment's flags say, as far as they move a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    Syn,
    SynAck,
    Ack,
    Fin,
    Rst,
}

impl Signal {
    /// What flags say; `None` for flags that no TCP sends together.
    pub(super) fn of(flags: u8) -> Option<Signal> {
        const FIN_ACK: u8 = flag::FIN | flag::ACK;
        const SYN_ACK: u8 = flag::SYN | flag::ACK;
        const RST_ACK: u8 = flag::RST | flag::ACK;
        match flags & (flag::FIN | flag::SYN | flag::RST | flag::ACK) {
            flag::SYN => Some(Signal::Syn),
            SYN_ACK => Some(Signal::SynAck),
            flag::ACK => Some(Signal::Ack),
            FIN_ACK => Some(Signal::Fin),
            flag::RST | RST_ACK => Some(Signal::Rst),
            _ => None,
        }
    }
}

/// A connection's state and what else is remembered beside numbers: one word, so that it changes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Progress(u32);

const REPLIED: u32 = 1 << 8;
const ASSURED: u32 = 1 << 9;
/// Which endpoint of the key has sent the first packet.
const FROM_HIGH: u32 = 1 << 10;
/// The connection was older than what is known of it: numbers are not checked.
const PICKED_UP: u32 = 1 << 11;
/// The originator has sent a FIN, and the other side.
const FINS: [u32; 2] = [1 << 12, 1 << 13];

/// What a packet is to a known connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It belongs to it, and makes it this.
    Becomes(Progress),
    /// It belongs to it, and says nothing new: its numbers do not count.
    Ignored,
    /// It begins another connection between the same ends, as this one is over.
    Anew,
    /// It does not belong to it.
    Invalid,
}

impl Progress {
    /// A connection whose first packet this is. `None` if none begins with it; `pick_up` lets those of a connection begin one that is
    /// older than what is known.
    pub(super) fn begin(signal: Option<Signal>, from_high: bool, pick_up: bool) -> Option<Progress> {
        let state = match signal {
            None => Open as u32,
            Some(Signal::Syn) => SynSent as u32,
            Some(Signal::Ack) if pick_up => Established as u32 | PICKED_UP,
            Some(_) => return None,
        };
        Some(Progress(state | if from_high { FROM_HIGH } else { 0 }))
    }

    pub(super) fn of_bits(bits: u32) -> Progress {
        Progress(bits)
    }

    pub(super) fn bits(self) -> u32 {
        self.0
    }

    /// Whether nothing but late packets can come any more.
    pub(super) fn is_past(self) -> bool {
        matches!(self.state(), TimeWait | Closed)
    }

    /// The same where numbers of segments are not known any more.
    pub(super) fn moved(self) -> Progress {
        if self.state() == Open { self } else { self.with(PICKED_UP) }
    }

    /// Bits that another node says, if they are the state of a connection of a protocol.
    pub(super) fn told(bits: u32, protocol: u8) -> Option<Progress> {
        let known = 7 | REPLIED | ASSURED | FROM_HIGH | PICKED_UP | FINS[0] | FINS[1];
        let progress = Progress(bits);
        let fits = bits & !known == 0 && (progress.state() == Open) == (protocol != ip_proto::TCP);
        fits.then_some(progress)
    }

    /// What a list says of a connection of a protocol: the name of its state, whether it was answered and is assured, which sides have sent a FIN, and
    /// whether the upper endpoint is the originator. Numbers of segments are not known.
    pub(super) fn listed(
        state: &str,
        [is_replied, is_assured, from_high]: [bool; 3],
        fins: u32,
        protocol: u8,
    ) -> Option<Progress> {
        let state = State::ALL.into_iter().find(|known| known.name() == state)?;
        let flag = |is: bool, flag: u32| if is { flag } else { 0 };
        let flags = flag(is_replied, REPLIED) | flag(is_assured, ASSURED) | flag(from_high, FROM_HIGH);
        let fins = flag(fins & 1 != 0, FINS[0]) | flag(fins & 2 != 0, FINS[1]);
        let progress = Progress::told(state as u32 | flags | fins, protocol)?;
        Some(progress.moved())
    }

    /// Which sides have sent a FIN: bit 0 is for the originator.
    pub(super) fn fins(self) -> u32 {
        u32::from(self.0 & FINS[0] != 0) + 2 * u32::from(self.0 & FINS[1] != 0)
    }

    pub(super) fn state(self) -> State {
        State::ALL[(self.0 & 7) as usize]
    }

    fn to(self, state: State) -> Progress {
        Progress(self.0 & !7 | state as u32)
    }

    fn with(self, flags: u32) -> Progress {
        Progress(self.0 | flags)
    }

    /// Whether an answer was seen.
    #[inline]
    pub(super) fn is_replied(self) -> bool {
        self.0 & REPLIED != 0
    }

    /// Whether both ends are known to want it: it does not give way to new ones.
    #[inline]
    pub(super) fn is_assured(self) -> bool {
        self.0 & ASSURED != 0
    }

    /// Whether the upper endpoint of the key is the originator.
    #[inline]
    pub(super) fn is_from_high(self) -> bool {
        self.0 & FROM_HIGH != 0
    }

    /// Whether numbers are not checked.
    pub(super) fn is_picked_up(self) -> bool {
        self.0 & PICKED_UP != 0
    }

    /// What a packet of no TCP makes of it: of the originator, or an answer.
    #[inline]
    pub(super) fn other(self, is_reply: bool) -> Progress {
        if is_reply { self.with(REPLIED | ASSURED) } else { self }
    }

    /// What a TCP segment is to it: of the originator, or an answer.
    pub(super) fn step(self, signal: Signal, is_reply: bool) -> Step {
        let seen = if is_reply { self.with(REPLIED) } else { self };
        let becomes = |state| Step::Becomes(seen.to(state));
        match (self.state(), signal, is_reply) {
            (Open, ..) => Step::Invalid,
            (TimeWait | Closed, Signal::Syn, _) => Step::Anew,
            (_, Signal::Rst, _) => becomes(Closed),
            // Both sides may have sent a SYN at once (RFC 9293, section 3.5).
            (SynSent, Signal::Syn, false) => becomes(SynSent),
            (SynSent, Signal::SynAck | Signal::Syn, true) => becomes(SynReceived),
            // An answer to an older connection of the same ends, which the originator resets.
            (SynSent, Signal::Ack, true) => Step::Ignored,
            (SynSent, ..) => Step::Invalid,
            // The originator has begun again: the other side tells it what it knows, and is reset.
            (SynReceived, Signal::Syn, false) => Step::Ignored,
            (SynReceived, Signal::Ack, false) => Step::Becomes(seen.to(Established).with(ASSURED)),
            (SynReceived, Signal::Fin, false) => self.fin(seen.with(ASSURED), false),
            (SynReceived, Signal::Fin, true) => self.fin(seen, true),
            (SynReceived, ..) => becomes(SynReceived),
            // A host that has forgotten the connection; the other tells it what it knows (RFC 5961, section 4).
            (Established | FinWait | LastAck, Signal::Syn, _) => Step::Ignored,
            (Established | FinWait | LastAck, Signal::Fin, _) => {
                let picked_up = if self.is_picked_up() && is_reply { ASSURED } else { 0 };
                self.fin(seen.with(picked_up), is_reply)
            }
            (Established, Signal::Ack, true) if self.is_picked_up() => Step::Becomes(seen.with(ASSURED)),
            (LastAck, Signal::Ack, _) => becomes(TimeWait),
            (Established | FinWait | LastAck | TimeWait, ..) => Step::Becomes(seen),
            // What still comes behind a reset is late.
            (Closed, ..) => Step::Becomes(seen),
        }
    }

    fn fin(self, seen: Progress, is_reply: bool) -> Step {
        let after = seen.with(FINS[usize::from(is_reply)]);
        let both = FINS[0] | FINS[1];
        Step::Becomes(after.to(if after.0 & both == both { LastAck } else { FinWait }))
    }
}

/// How long connections stay when no packet comes, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timeouts {
    /// TCP, established (RFC 5382, REQ-5: two hours and four minutes at least).
    pub(super) tcp: u64,
    /// TCP, while it begins and ends (RFC 5382, REQ-5: four minutes).
    pub(super) tcp_transitory: u64,
    /// TCP, reset: what is on its way arrives.
    pub(super) tcp_closed: u64,
    /// UDP that was answered (RFC 4787, REQ-5: five minutes are recommended).
    pub(super) udp: u64,
    /// UDP without an answer (RFC 4787, REQ-5: two minutes at least).
    pub(super) udp_new: u64,
    /// Questions of ICMP (RFC 5508, REQ-2: 60 seconds).
    pub(super) icmp: u64,
    /// Others.
    pub(super) other: u64,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            tcp: 7_440_000,
            tcp_transitory: 240_000,
            tcp_closed: 10_000,
            udp: 300_000,
            udp_new: 120_000,
            icmp: 60_000,
            other: 600_000,
        }
    }
}

/// One of the timeouts; the number is its place in [`Timeouts::all`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timeout {
    Tcp,
    TcpTransitory,
    TcpClosed,
    Udp,
    UdpNew,
    Icmp,
    Other,
}

impl Timeouts {
    /// All of them.
    pub(super) fn all(&self) -> [u64; 7] {
        let Timeouts { tcp, tcp_transitory, tcp_closed, udp, udp_new, icmp, other } = *self;
        [tcp, tcp_transitory, tcp_closed, udp, udp_new, icmp, other]
    }

    /// Which one says how long a connection stays after its last packet.
    #[inline]
    pub(super) fn which(protocol: u8, progress: Progress) -> Timeout {
        match (progress.state(), protocol) {
            (Established, _) => Timeout::Tcp,
            (Closed, _) => Timeout::TcpClosed,
            (Open, ip_proto::UDP) if progress.is_replied() => Timeout::Udp,
            (Open, ip_proto::UDP) => Timeout::UdpNew,
            (Open, ip_proto::ICMP | ip_proto::ICMPV6) => Timeout::Icmp,
            (Open, _) => Timeout::Other,
            _ => Timeout::TcpTransitory,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_know_all_states() {
        assert_eq!(State::ALL.map(State::name), elements_shared::flow_filter::STATES);
    }

    /// Segments of a connection, `>` by its originator, and what they make of it.
    fn walk(steps: &[(&str, &str)]) {
        let mut at: Option<Progress> = None;
        for (segment, expected) in steps {
            let (is_reply, flags) = (segment.starts_with('<'), &segment[1..]);
            let signal = match flags {
                "S" => Signal::Syn,
                "SA" => Signal::SynAck,
                "A" => Signal::Ack,
                "F" => Signal::Fin,
                _ => Signal::Rst,
            };
            let Some(known) = at else {
                at = Progress::begin(Some(signal), false, false);
                assert_eq!(at.map_or("none", |known| known.state().name()), *expected, "{steps:?}");
                continue;
            };
            let found = match known.step(signal, is_reply) {
                Step::Becomes(next) => {
                    at = Some(next);
                    next.state().name()
                }
                Step::Ignored => "ignored",
                Step::Anew => "anew",
                Step::Invalid => "invalid",
            };
            assert_eq!(found, *expected, "{segment} in {steps:?}");
        }
    }

    #[test]
    fn connections_come_and_go() {
        let open = [(">S", "SYN_SENT"), ("<SA", "SYN_RECV"), (">A", "ESTABLISHED")];
        let with = |rest: &[(&'static str, &'static str)]| walk(&[&open[..], rest].concat());
        with(&[
            ("<A", "ESTABLISHED"),
            (">F", "FIN_WAIT"),
            ("<A", "FIN_WAIT"),
            ("<F", "LAST_ACK"),
            (">A", "TIME_WAIT"),
            (">S", "anew"),
        ]);
        with(&[("<F", "FIN_WAIT"), ("<F", "FIN_WAIT"), (">F", "LAST_ACK"), ("<S", "ignored")]);
        with(&[(">S", "ignored"), (">A", "ESTABLISHED"), ("<R", "CLOSE"), (">A", "CLOSE"), ("<S", "anew")]);
        walk(&[
            (">S", "SYN_SENT"),
            (">S", "SYN_SENT"),
            (">A", "invalid"),
            ("<A", "ignored"),
            ("<R", "CLOSE"),
        ]);
        walk(&[
            (">S", "SYN_SENT"),
            ("<S", "SYN_RECV"),
            (">SA", "SYN_RECV"),
            ("<SA", "SYN_RECV"),
            (">A", "ESTABLISHED"),
        ]);
        for first in [">A", ">SA", ">F", ">R"] {
            walk(&[(first, "none")]);
        }
    }

    #[test]
    fn only_a_completed_handshake_is_assured() {
        let next = |progress: Progress, signal, is_reply| match progress.step(signal, is_reply) {
            Step::Becomes(next) => next,
            step => panic!("{step:?}"),
        };
        let sent = Progress::begin(Some(Signal::Syn), true, false).unwrap();
        let received = next(sent, Signal::SynAck, true);
        assert!(received.is_replied() && !received.is_assured() && received.is_from_high());
        assert!(next(received, Signal::Ack, false).is_assured());
        assert!(!next(received, Signal::SynAck, true).is_assured());
        let udp = Progress::begin(None, false, false).unwrap();
        assert!(!udp.other(false).is_assured() && udp.other(true).is_assured());
        let picked = Progress::begin(Some(Signal::Ack), false, true).unwrap();
        assert!(
            picked.is_picked_up() && !picked.is_assured() && next(picked, Signal::Ack, true).is_assured()
        );
    }

    #[test]
    fn flags_that_no_tcp_sends() {
        for (flags, signal) in [
            (0x02, Some(Signal::Syn)),
            (0xd2, Some(Signal::SynAck)),
            (0x19, Some(Signal::Fin)),
            (0x04, Some(Signal::Rst)),
        ] {
            assert_eq!(Signal::of(flags), signal);
        }
        for flags in [0, 0x01, 0x03, 0x06, 0x29, 0x3f, 0x20, 0x15] {
            assert_eq!(Signal::of(flags), None, "{flags:#x}");
        }
    }
}
