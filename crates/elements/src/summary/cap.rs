//! The lines that Mark Allman's cap prints about a TCP transfer.
//!
//! `TYPE DIRECTION TIME PACKET NUMBER LENGTH PAYLOAD [NOTES]`, where NUMBER counts segments of the transfer instead of bytes.

use super::form::parse_time;
use super::maker::{Defaults, FlowId, Maker};
use super::record_source::Records;
use super::text_lines::TextLines;
use router::Cx;
use std::io::BufRead;
use wire::{ip_proto, tcp};

/// Segments with higher numbers are taken for errors: all before them are remembered.
const SEGMENT_MAX: usize = 1 << 24;
/// Bytes of a segment about which nothing is known.
const SEGMENT_LEN: u32 = 1460;
/// Bytes of TCP options, at most.
const OPTIONS_MAX: usize = 40;
/// What stands in front of an option of selective acknowledgements: two bytes that fill up, its type, its length.
const SACK_HEAD: usize = 4;

/// A file that is being read.
pub(super) struct Cap {
    text: TextLines,
    /// The defaults, with the flow as packets without paint have it.
    defaults: Defaults,
    /// Whether the trace was made at the receiver.
    is_receiver: bool,
    starts: Starts,
}

/// Where segments begin, by their numbers, without a gap.
struct Starts(Vec<u32>);

impl Starts {
    /// Where a segment begins; those not yet seen are as long as the last one known. `None` if the number is too high.
    fn of(&mut self, number: u32) -> Option<u32> {
        let number = usize::try_from(number).ok().filter(|&number| number < SEGMENT_MAX)?;
        let (last, len) = match self.0[..] {
            [.., before, last] => (last, last.wrapping_sub(before)),
            [last] => (last, SEGMENT_LEN),
            [] => (0, SEGMENT_LEN),
        };
        let mut next = last;
        while self.0.len() <= number {
            next = next.wrapping_add(len);
            self.0.push(next);
        }
        self.0.get(number).copied()
    }

    /// Where a segment of a length begins, which says where the next one does.
    fn of_sent(&mut self, number: u32, len: u32) -> Option<u32> {
        let start = self.of(number)?;
        let (next, end) = (number as usize + 1, start.wrapping_add(len));
        match self.0.get_mut(next) {
            Some(next) => *next = end,
            None => self.0.push(end),
        }
        Some(start)
    }

    /// The blocks of `FIRST-LAST:FIRST-LAST`, as far as they have room.
    fn blocks(&mut self, list: &str, room: usize) -> Vec<[u32; 2]> {
        let block = |block: &str| {
            let (first, last) = block.split_once('-')?;
            let (first, last) = (first.parse().ok()?, last.parse::<u32>().ok()?);
            Some([self.of(first)?, self.of(last.checked_add(1)?)?])
        };
        list.split(':').map_while(block).take(room.saturating_sub(SACK_HEAD) / 8).collect()
    }
}

/// Adds an option of selective acknowledgements.
fn push_sack(options: &mut Vec<u8>, blocks: &[[u32; 2]]) {
    if blocks.is_empty() || options.len() + SACK_HEAD + 8 * blocks.len() > OPTIONS_MAX {
        return;
    }
    options.extend([tcp::option::NOP, tcp::option::NOP, tcp::option::SACK, 2 + 8 * blocks.len() as u8]);
    options.extend(blocks.as_flattened().iter().flat_map(|edge| edge.to_be_bytes()));
}

impl Cap {
    pub(super) fn new(name: &str, flow: FlowId, aggregate: u32, checksum: bool) -> Cap {
        let defaults =
            Defaults { protocol: ip_proto::TCP, flow: Some(flow), aggregate: Some(aggregate), checksum };
        Cap { text: TextLines::new(name), defaults, is_receiver: false, starts: Starts(vec![0]) }
    }

    /// Notes on which side the trace was made.
    fn set_side(&mut self, is_receiver: bool) {
        if self.is_receiver != is_receiver {
            self.is_receiver = is_receiver;
            self.defaults.flow = self.defaults.flow.map(FlowId::reversed);
        }
    }

    /// The packet that a line of a type tells of.
    fn packet(&mut self, kind: &str, told: &str) -> Option<Maker> {
        let (is_away, told) = match told.trim_start().split_at_checked(1)? {
            (">", told) => (true, told),
            ("<", told) => (false, told),
            _ => return None,
        };
        let words: Vec<&str> = told.split_whitespace().collect();
        let [time, unique, number, ip_len, payload_len, notes @ ..] = &words[..] else { return None };
        let [unique, number, _, payload_len] =
            [unique, number, ip_len, payload_len].map(|word| word.parse::<u32>().ok());
        let (unique, number, payload_len) = (unique?, number?, payload_len?);
        let (options, fin) = self.notes(notes)?;
        let len = payload_len.wrapping_add(fin.into());
        let flag = tcp::flag::ACK | if fin { tcp::flag::FIN } else { 0 };
        let (sequence, acknowledged, flags) = match kind {
            "DAT" => (self.starts.of_sent(number, len)?, 1, flag),
            "ACK" => (1, self.starts.of(number.checked_add(1)?)?, flag),
            _ => {
                self.starts.of_sent(number, len.wrapping_add(1))?;
                let answers = !is_away;
                (0, answers.into(), flag & !(if answers { 0 } else { tcp::flag::ACK }) | tcp::flag::SYN)
            }
        };
        let mut maker = Maker::new(self.defaults);
        maker.notes.time_ns = parse_time(time)?;
        maker.notes.paint = (is_away == self.is_receiver).into();
        maker.notes.numbers = Some((unique, number));
        maker.set_ip(8, &[0]);
        maker.set_transport(ip_proto::TCP, 4, &sequence.to_be_bytes());
        maker.set_transport(ip_proto::TCP, 8, &acknowledged.to_be_bytes());
        maker.set_transport(ip_proto::TCP, 14, &[0xff; 2]);
        maker.set_tcp_flags(flags.into());
        maker.set_tcp_options(&options);
        maker.want_payload(payload_len.into());
        maker.finish();
        Some(maker)
    }

    /// What notes say: TCP options, and whether the segment is the last one. Why it was sent is passed over.
    fn notes(&mut self, notes: &[&str]) -> Option<(Vec<u8>, bool)> {
        let (mut options, mut fin) = (Vec::new(), false);
        for note in notes {
            match note.split_once(':') {
                Some(("DSACK", number)) => {
                    let number: u32 = number.parse().ok()?;
                    let block = [self.starts.of(number)?, self.starts.of(number.checked_add(1)?)?];
                    push_sack(&mut options, &[block]);
                }
                Some(("SACK", list)) => {
                    let blocks = self.starts.blocks(list, OPTIONS_MAX - options.len());
                    push_sack(&mut options, &blocks);
                }
                _ => fin |= *note == "FIN",
            }
        }
        Some((options, fin))
    }
}

impl Records for Cap {
    fn open(&mut self, bytes: Box<dyn BufRead + Send>) {
        self.text.open(bytes);
    }

    fn next(&mut self, cx: &Cx<'_>) -> Option<Maker> {
        loop {
            let line = self.text.next(cx)?;
            let Some((kind, told)) = line.split_once(|c: char| c.is_ascii_whitespace()) else { continue };
            match kind {
                "SND" => self.set_side(false),
                "RCV" => self.set_side(true),
                "SYN" | "DAT" | "ACK" => match self.packet(kind, told) {
                    Some(maker) => return Some(maker),
                    None => self.text.complain(cx),
                },
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Segments are as long as they were said to be, and otherwise as the one before.
    #[test]
    fn starts() {
        let mut starts = Starts(vec![0]);
        assert_eq!((starts.of_sent(0, 1), starts.of(1)), (Some(0), Some(1)));
        assert_eq!((starts.of_sent(1, 1000), starts.of(2), starts.of(4)), (Some(1), Some(1001), Some(3001)));
        assert_eq!((starts.of_sent(4, 500), starts.of(6)), (Some(3001), Some(4001)));
        // What is known later counts more.
        assert_eq!((starts.of_sent(1, 10), starts.of(2)), (Some(1), Some(11)));
        assert_eq!(
            (starts.of((1 << 24) - 1).is_some(), starts.of(1 << 24), starts.of(u32::MAX)),
            (true, None, None)
        );
        assert_eq!(Starts(vec![0]).of(2), Some(2920));
        assert!(starts.of_sent((1 << 24) - 1, 5).is_some());
    }

    /// No more blocks than options have room for.
    #[test]
    fn blocks() {
        let flow = FlowId::parse(["-", "-", "-", "-"]).unwrap();
        let options = |notes: &[&str]| Cap::new("x", flow, 1, false).notes(notes).unwrap().0;
        let list = "SACK:5-6:8-8:10-12:14-15:20-21:30-31";
        assert_eq!((options(&[list]).len(), options(&["DSACK:3", list]).len()), (36, 40));
        assert_eq!(options(&[list, "DSACK:3"]).len(), 36);
        assert_eq!(options(&["DSACK:3"]), [1, 1, 5, 10, 0, 0, 0x11, 0x1c, 0, 0, 0x16, 0xd0]);
        assert!(options(&["SACK:x", "SACK_NEW", "FR"]).is_empty());
    }

    proptest! {
        /// No line is too much.
        #[test]
        fn any_notes(numbers in prop::collection::vec(0u32..70_000, 4), notes in "[A-Z0-9:_ <>-]{0,60}") {
            let mut cap = Cap::new("x", FlowId::parse(["-", "-", "-", "-"]).unwrap(), 1, true);
            let [a, b, c, d] = numbers[..] else { unreachable!() };
            for kind in ["SYN", "DAT", "ACK"] {
                cap.packet(kind, &format!("> 1.5 {a} {b} {c} {d} {notes}"));
                cap.packet(kind, &notes);
            }
        }
    }
}
