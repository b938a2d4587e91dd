//! Flows of a rewriter as bytes, for another process that goes on with them.

use super::deltas::Deltas;
use super::editor::Editor;
use super::nat::Nat;
use super::record::{NewFlow, flag};
use elements_shared::flow_id::{FlowId, Key};
use rcu::Turn;
use router::{BadState, StateReader, StateWriter};

pub(super) fn write_id(out: &mut StateWriter, id: FlowId) {
    out.u64(id.addresses());
    out.u32(id.ports());
}

pub(super) fn read_id(state: &mut StateReader) -> Result<FlowId, BadState> {
    Ok(FlowId::from_words(state.u64()?, state.u32()?))
}

/// Two short numbers in one.
pub(super) fn pair(high: u16, low: u16) -> u32 {
    u32::from(high) << 16 | u32::from(low)
}

pub(super) fn halves(pair: u32) -> (u16, u16) {
    ((pair >> 16) as u16, pair as u16)
}

impl Nat {
    /// Writes the flows of all maps, with the specifications of the inputs that have made them.
    pub(super) fn write(&self, out: &mut StateWriter, turn: Turn<'_>) {
        out.u32(self.inputs().len() as u32);
        for (input, counts) in self.inputs().iter().zip(self.counts()) {
            out.bytes(input.read(turn).to_string().as_bytes());
            out.u32(counts.failures());
        }
        let Some(set) = self.set() else { return out.u64(0) };
        let maps = self.maps().enumerate();
        let all: Vec<_> =
            maps.flat_map(|(at, map)| set.flows(turn, map).map(move |flow| (at, flow))).collect();
        out.u64(all.len() as u64);
        for (map, flow) in all {
            let new = flow.describe();
            let deltas = flow.deltas(turn);
            out.u32(map as u32);
            write_id(out, new.id);
            write_id(out, new.rewritten);
            out.u32(pair(new.outputs[0], new.outputs[1]));
            out.u32(pair(new.ip_change, new.transport_change));
            out.u32(pair(new.input, u16::from_be_bytes([new.protocol, new.reply_anno])));
            out.u32(u32::from(flow.flags()));
            out.u64(flow.last_ms());
            out.u32(u32::from(deltas.is_some()));
            if let Some(deltas) = deltas {
                deltas.write(out);
            }
        }
    }

    /// Reads flows. Those whose input has another specification now are lost, as when a configuration is replaced, and those that have no
    /// room: returns how many.
    pub(super) fn read(&self, state: &mut StateReader, turn: Turn<'_>, now_ms: u64) -> Result<u64, BadState> {
        let mut goes_on = Vec::new();
        for at in 0..state.u32()? as usize {
            let before = state.bytes()?.to_vec();
            let failures = state.u32()?;
            let input = self.inputs().get(at).map(|input| input.read(turn).to_string());
            goes_on.push(input.is_some_and(|input| input.as_bytes() == before));
            if let Some(counts) = self.counts().get(at) {
                counts.go_on(failures);
            }
        }
        let count = state.u64()?;
        let Some(set) = self.set() else { return Ok(count) };
        let maps: Vec<u32> = self.maps().collect();
        let mut editor = set.edit(turn);
        editor.pause_events(true);
        let mut lost = 0;
        let read = (0..count).try_for_each(|_| {
            let map = maps.get(state.u32()? as usize).copied();
            let (id, rewritten) = (read_id(state)?, read_id(state)?);
            let (outputs, changes) = (halves(state.u32()?), halves(state.u32()?));
            let (input, rest) = halves(state.u32()?);
            let (flags, last_ms) = (state.u32()? as u16, state.u64()?);
            let deltas = if state.u32()? == 0 { None } else { Some(Deltas::read(state)?) };
            let [protocol, reply_anno] = rest.to_be_bytes();
            let has_outputs = [outputs.0, outputs.1].iter().all(|&output| self.has_output(output));
            let fits = goes_on.get(usize::from(input)) == Some(&true) && has_outputs;
            let Some(map) = map.filter(|_| fits) else {
                lost += 1;
                return Ok(());
            };
            if editor.find(Key::new(map, id)).is_some() {
                return Ok(());
            }
            let mut new = NewFlow {
                map,
                protocol,
                id,
                rewritten,
                outputs: [outputs.0, outputs.1],
                input,
                ip_change: changes.0,
                transport_change: changes.1,
                reply_anno,
                mapped: false,
            };
            lost += u64::from(!self.resume(&mut editor, &mut new, (flags, deltas), last_ms, now_ms));
            Ok(())
        });
        editor.pause_events(false);
        read.map(|()| lost)
    }

    /// Adds a flow that goes on here, with its flags and changes of sequence numbers. The caller has made sure that its input exists and
    /// that its keys are free. False if there is no room.
    pub(super) fn resume(
        &self,
        editor: &mut Editor<'_>,
        new: &mut NewFlow,
        (flags, deltas): (u16, Option<Deltas>),
        last_ms: u64,
        now_ms: u64,
    ) -> bool {
        let is_mapped = self.inputs()[usize::from(new.input)].read(editor.turn).maps_endpoints();
        if let Some(filtering) = self.filtering.filter(|_| is_mapped) {
            let Some(held) = editor.hold(new, filtering.mappings(), now_ms) else { return false };
            new.mapped = held;
        }
        let Some(found) = editor.insert(new, last_ms, now_ms) else {
            if new.mapped {
                editor.release(new, usize::MAX);
            }
            return false;
        };
        let own = found.flow.flags() & flag::MAPPED;
        found.flow.set_flags(flags & !flag::DELTAS & !flag::MAPPED | own);
        if let Some(deltas) = deltas {
            editor.set_deltas(found.flow, deltas);
        }
        editor.replace(found.record);
        editor.note(found.record, found.flow);
        true
    }
}
