//! The tables of rewriters as text.
//!
//! Lines come in the order in which Click walks through its hash table (on little-endian machines with 64 bits), as scripts
//! compare tables as a whole. What Click removes and adds again may end up in another place of the same bucket here.

use super::nat::{Kind, Nat};
use super::record::{FORWARD, Flow, REPLY};
use elements_shared::flow_id::FlowId;
use rcu::Turn;
use std::fmt::Write as _;

impl Nat {
    /// The table as text: a line for each direction of each flow of a map.
    pub(super) fn list(&self, turn: Turn<'_>, map: u32, now_ms: u64) -> String {
        let mut text = String::new();
        let Some(set) = self.set() else { return text };
        let of_flow = |flow| [(flow, FORWARD), (flow, REPLY)];
        let mut lines: Vec<(&Flow, usize)> = set.flows(turn, map).flat_map(of_flow).collect();
        // Where both directions have the same identifier, the table has one entry.
        lines.retain(|&(flow, direction)| direction == REPLY || flow.id(FORWARD) != flow.id(REPLY));
        let buckets = buckets(lines.len());
        lines.reverse(); // the newest comes first in its bucket
        lines.sort_by_key(|&(flow, direction)| bucket(flow.id(direction), buckets));
        for (flow, direction) in lines {
            self.unparse(&mut text, turn, flow, map, direction, now_ms);
        }
        text
    }

    fn unparse(
        &self,
        text: &mut String,
        turn: Turn<'_>,
        flow: &Flow,
        map: u32,
        direction: usize,
        now_ms: u64,
    ) {
        let (from, to) = (flow.id(direction), flow.rewritten(direction));
        let written = match self.kind {
            Kind::Ip | Kind::Tcp | Kind::Udp => write!(text, "{from} => {to}"),
            Kind::Ping => {
                let triple = |id: FlowId| format!("({}, {}, {})", id.source(), id.destination(), id.sport);
                write!(text, "{} => {}", triple(from), triple(to))
            }
            Kind::Addr => write!(text, "{} => {}", from.source(), to.source()),
            Kind::Six => {
                let [from, to] = [from, to].map(|id| {
                    let [(source, sport), (destination, dport)] = self.ends(id);
                    format!("({source}, {sport}, {destination}, {dport})")
                });
                write!(text, "{from} => {to}")
            }
            Kind::Pair => {
                let pair = |id: FlowId| format!("({}, {})", id.source(), id.destination());
                write!(text, "{} => {}", pair(from), pair(to))
            }
        };
        let shift = flow.deltas(turn).map_or(0, |deltas| deltas.newest(direction));
        if shift != 0 {
            let _ = write!(text, " seq {shift:+}");
        }
        let star = |this: usize| if direction == this { "*" } else { "" };
        let timeout_ms = self.policy(map).timeout_ms(flow.flags());
        let left_ms = flow.last_ms().saturating_add(timeout_ms) as i64 - now_ms as i64;
        let _ = written.and_then(|()| {
            writeln!(
                text,
                " [{}{} {}{}] i{} exp{}",
                star(0),
                flow.output(0),
                star(1),
                flow.output(1),
                flow.input(),
                (left_ms + 500).div_euclid(1000)
            )
        });
    }
}

/// Buckets of a hash table with this many entries: it grows when there are more than two a bucket.
fn buckets(entries: usize) -> u64 {
    let mut buckets = 63;
    while entries as u64 > 2 * buckets {
        buckets = 2 * buckets + 1;
    }
    buckets
}

/// The bucket of an entry. The addresses are numbers in network order, rotated by as much as the ports say.
fn bucket(id: FlowId, buckets: u64) -> u64 {
    let rotated = |address: u32, by: u32| {
        let number = address.swap_bytes();
        u64::from(number) << by | u64::from(number.wrapping_shr(32 - by))
    };
    // A signed number, whose sign fills the upper half.
    let ports = (u32::from(id.dport) << 16 | u32::from(id.sport)) as i32 as i64 as u64;
    let source = rotated(id.saddr, u32::from(id.sport % 16));
    let destination = rotated(id.daddr, 31 - u32::from(id.dport % 16));
    (source ^ destination ^ ports) % buckets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewrite::samples::id;

    /// What the same arithmetic yields in C.
    #[test]
    fn a_bucket_is_the_one_that_click_computes() {
        let of = |from, to| bucket(id(from, to), 63);
        assert_eq!(of("10.0.0.1:5000", "5.6.7.8:80"), 58);
        assert_eq!(of("5.6.7.8:80", "1.2.3.4:40000"), 21);
        assert_eq!(of("10.0.0.2:16", "200.1.2.3:65535"), 53);
        assert_eq!(of("200.1.2.3:65535", "10.0.0.2:16"), 48);
        assert_eq!([126, 127, 255].map(buckets), [63, 127, 255]);
    }
}
