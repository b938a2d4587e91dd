//! Handlers that list, count and remove the flows of a rewriter that a filter asks for.

use super::flow_events::Ends as _;
use super::flow_set::FlowSet;
use super::nat::Nat;
use super::policy::Timeouts;
use super::record::{FORWARD, Flow, REPLY, flag};
use crate::track::State;
use elements_shared::flow_filter::{Filter, Shown, protocol_name};
use elements_shared::flow_id::FlowId;
use rcu::Turn;
use router::StateWriter;
use std::fmt::Write as _;
use std::net::IpAddr;

/// What else another router has to know of a flow to go on with it.
fn rest(flow: &Flow, turn: Turn<'_>) -> String {
    let [output, reply_output] = [FORWARD, REPLY].map(|direction| flow.output(direction));
    let mut text = format!(
        ",\"input\":{},\"output\":{output},\"reply_output\":{reply_output},\"flags\":{}",
        flow.input(),
        flow.flags() & !flag::DELTAS & !flag::MAPPED
    );
    if flow.reply_anno() != 0 {
        let _ = write!(text, ",\"reply_anno\":{}", flow.reply_anno());
    }
    if let Some(deltas) = flow.deltas(turn) {
        let mut out = StateWriter::default();
        deltas.write(&mut out);
        let digits: String = out.into_parts().0.iter().map(|byte| format!("{byte:02x}")).collect();
        let _ = write!(text, ",\"deltas\":\"{digits}\"");
    }
    text
}

impl Nat {
    /// The ends that an identifier stands for.
    pub(super) fn ends(&self, id: FlowId) -> [(IpAddr, u16); 2] {
        match &self.six {
            Some(six) => six.ends(id),
            None => [(id.source().into(), id.sport), (id.destination().into(), id.dport)],
        }
    }

    /// What a filter sees of a flow: as its first packet arrived.
    fn shown(&self, flow: &Flow, map: u32) -> Shown {
        let flags = flow.flags();
        let has = |wanted: u16| flags & wanted == wanted;
        let (state, replied) = match self.policy(map).timeouts {
            Timeouts::Tcp { .. } if has(flag::BOTH_DONE) => (State::Closed, true),
            Timeouts::Tcp { .. } if has(flag::BOTH_DATA) || has(flag::COMPLETE) => (State::Established, true),
            Timeouts::Tcp { .. } => (State::Open, has(flag::ANSWERED)),
            Timeouts::Udp { .. } => (State::Open, has(flag::REPLIED)),
            Timeouts::Plain(_) => (State::Open, false),
        };
        let assured = self.policy(map).is_assured(flags);
        let state = state.name();
        Shown { protocol: flow.protocol(), ends: self.ends(flow.id(FORWARD)), state, replied, assured }
    }

    /// The flows that a filter asks for, without its limit, and their numbers.
    fn asked<'t>(
        &'t self,
        set: &'t FlowSet,
        turn: Turn<'t>,
        filter: &'t Filter,
    ) -> impl Iterator<Item = (u32, u32, &'t Flow)> {
        let all = self
            .maps()
            .flat_map(move |map| set.numbered(turn, map).map(move |(record, flow)| (map, record, flow)));
        all.filter(move |(map, _, flow)| filter.accepts(&self.shown(flow, *map)))
    }

    fn expires_s(&self, flow: &Flow, map: u32, now_ms: u64) -> u64 {
        let timeout_ms = self.policy(map).timeout_ms(flow.flags());
        flow.last_ms().saturating_add(timeout_ms).saturating_sub(now_ms) / 1000
    }

    /// How many flows a filter asks for.
    pub(super) fn count_flows(&self, turn: Turn<'_>, filter: &Filter) -> usize {
        self.set().map_or(0, |set| self.asked(set, turn, filter).count())
    }

    /// One line for each flow.
    pub(super) fn flow_lines(&self, turn: Turn<'_>, filter: &Filter, now_ms: u64) -> String {
        let mut text = String::new();
        let Some(set) = self.set() else { return text };
        let mut all = self.asked(set, turn, filter);
        for (map, _, flow) in all.by_ref().take(filter.limit()) {
            let shown = self.shown(flow, map);
            let write = |id: FlowId| {
                let [(source, sport), (destination, dport)] = self.ends(id);
                format!("{source} {sport} {destination} {dport}")
            };
            let (from, to) = (write(flow.id(FORWARD)), write(flow.rewritten(FORWARD)));
            let (protocol, state, assured) = (protocol_name(shown.protocol), shown.state, shown.assurance());
            let _ = writeln!(
                text,
                "{protocol} {from} > {to} {state} {assured} exp{}",
                self.expires_s(flow, map, now_ms)
            );
        }
        let more = all.count();
        if more > 0 {
            let _ = writeln!(text, "... and {more} more");
        }
        text
    }

    /// An array with an object for each flow.
    pub(super) fn flow_json(&self, turn: Turn<'_>, filter: &Filter, now_ms: u64) -> String {
        let mut text = String::from("[");
        let Some(set) = self.set() else { return text + "]\n" };
        for (map, _, flow) in self.asked(set, turn, filter).take(filter.limit()) {
            let shown = self.shown(flow, map);
            let write = |id: FlowId| {
                let [(source, sport), (destination, dport)] = self.ends(id);
                format!(
                    "\"source\":\"{source}\",\"sport\":{sport},\"destination\":\"{destination}\",\"dport\":{dport}"
                )
            };
            let _ = write!(
                text,
                "{}\n{{\"protocol\":\"{}\",{},\"translated\":{{{}}},\"state\":\"{}\",\"replied\":{},\"assured\":{},\"idle_s\":{},\"expires_s\":{}{}}}",
                if text.len() > 1 { "," } else { "" },
                protocol_name(shown.protocol),
                write(flow.id(FORWARD)),
                write(flow.rewritten(FORWARD)),
                shown.state,
                shown.replied,
                shown.assured,
                now_ms.saturating_sub(flow.last_ms()) / 1000,
                self.expires_s(flow, map, now_ms),
                rest(flow, turn),
            );
        }
        text + "\n]\n"
    }

    /// Removes the flows that a filter asks for. Returns how many there were.
    pub(super) fn kill_flows(&self, turn: Turn<'_>, filter: &Filter) -> usize {
        let Some(set) = self.set() else { return 0 };
        // With all lanes in hand no flow changes its record.
        let mut editor = set.edit(turn);
        let records: Vec<u32> = self.asked(set, turn, filter).map(|(_, record, _)| record).collect();
        records.iter().for_each(|&record| editor.remove(record));
        records.len()
    }
}
