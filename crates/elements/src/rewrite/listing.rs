//! The tables of rewriters as text.

use super::flow_id::FlowId;
use super::nat::{Kind, Nat};
use super::record::Flow;
use rcu::Turn;
use std::fmt::Write as _;

impl Nat {
    /// The table as text: a line for each direction of each flow of a map.
    pub(super) fn list(&self, turn: Turn<'_>, map: u32, now_ms: u64) -> String {
        let mut text = String::new();
        let Some(set) = self.set() else { return text };
        for flow in set.flows(turn, map) {
            for direction in 0..2 {
                self.unparse(&mut text, turn, flow, map, direction, now_ms);
            }
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
