//! Checks the numbers that NumberPacket wrote into packets.
//!
//! ```click
//! CheckNumberPacket([OFFSET, COUNT, KEYWORDS])
//! ```
//!
//! Packets with a number below COUNT leave by output 0, and each number is counted separately. The first ten other
//! numbers are reported. Packets with other numbers, and packets too short for one, leave by output 1, or are dropped
//! if there is none. It is FastClick's element.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `OFFSET` (integer, default 40): where the number is in the packet.
//! - `COUNT` (integer, default 0): numbers below this are expected.
//! - `NET_ORDER` (boolean, default false): whether numbers are in network byte order, instead of host byte order.
//!
//! # Handlers
//! - `count` (read, write): the argument.
//! - `max`, `min` (read): the most, or least, frequent number and how often it occurred, as `[NUMBER] : TIMES`.
//! - `dump` (read): how often each number occurred, one per line.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 5) -> NumberPacket -> CheckNumberPacket(40, 5) -> Discard
//! ```
//!
//! # See also
//! NumberPacket

use super::number_packet::{OFFSET, number};
use packet::Packet;
use router::{
    Class, Config, ConfigError, Cx, Element, Handlers, Level, PerPacket, Residency, Simple, TableSize,
    Verdict,
};

/// The class.
pub(crate) const CLASS: Class = Class::new("CheckNumberPacket", create)
    .ports("1/1-2")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .doc(router::manual!("check_number_packet.rs"));

/// Unexpected numbers that lines tell of; further ones would only fill the log.
const TOLD: u32 = 10;

struct CheckNumberPacket {
    offset: usize,
    net_order: bool,
    /// How often each number came.
    times: Vec<u32>,
    outputs: usize,
    /// Numbers that lines told of.
    told: u32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut offset, mut net_order, mut count) = (OFFSET, false, TableSize(0));
    config
        .args()
        .positional("OFFSET", &mut offset)
        .positional("COUNT", &mut count)
        .keyword("NET_ORDER", &mut net_order)
        .finish()?;
    Ok(Box::new(PerPacket(CheckNumberPacket {
        offset: offset as usize,
        net_order,
        times: vec![0; count.0],
        outputs: config.outputs(),
        told: 0,
    })))
}

/// A number and how often it came, as handlers say it. Where there is none, they say what FastClick's begin their search with.
fn said(found: Option<(usize, &u32)>, none: i32) -> String {
    found.map_or_else(|| format!("[-1] : {none}"), |(number, times)| format!("[{number}] : {times}"))
}

impl CheckNumberPacket {
    #[cold]
    fn complain(&mut self, cx: &Cx<'_>, number: u64) {
        if self.told == TOLD {
            return;
        }
        self.told += 1;
        let (name, count) = (cx.name(), self.times.len());
        cx.say(
            Level::Warning,
            format_args!("{name} :: CheckNumberPacket: {number} out of scope (count is {count}) !"),
        );
    }
}

impl Simple for CheckNumberPacket {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let number = number(packet, self.offset, self.net_order);
        let times = number.and_then(|n| self.times.get_mut(usize::try_from(n).ok()?));
        match (times, number) {
            (Some(times), _) => {
                *times = times.saturating_add(1);
                return Verdict::Pass;
            }
            (None, Some(number)) => self.complain(cx, number),
            (None, None) => {}
        }
        elements_shared::verdict::fail(self.outputs, "no expected number")
    }

    fn handlers(&self, h: &mut Handlers) {
        type C = CheckNumberPacket;
        h.read("count", |e: &mut C, _| e.times.len());
        h.write("count", |e: &mut C, cx, text| {
            let TableSize(count) = router::value(cx, text)?;
            e.times.resize(count, 0);
            Ok(())
        });
        // The first of several, as for the least.
        h.read("max", |e: &mut C, _| {
            said(e.times.iter().enumerate().rev().max_by_key(|(_, times)| **times), -1)
        });
        h.read("min", |e: &mut C, _| {
            said(e.times.iter().enumerate().min_by_key(|(_, times)| **times), i32::MAX)
        });
        h.read("dump", |e: &mut C, _| {
            let lines = e.times.iter().enumerate().map(|(number, times)| format!("{number}: {times}\n"));
            lines.collect::<String>()
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::build;
    use router::Call;

    /// Who writes a count cannot have all memory taken, no more than a configuration can.
    #[test]
    fn bounded_count() {
        let mut router = build("Idle -> c :: CheckNumberPacket(COUNT 3) -> Discard", 1, 32)
            .unwrap_or_else(|e| panic!("{e}"));
        let refused = router.call(Call::write("c.count", "4294967295"));
        assert!(refused.is_err_and(|why| why.message.contains("268435456")));
        assert_eq!(router.call(Call::read("c.count", "")).as_deref(), Ok("3"));
    }
}
