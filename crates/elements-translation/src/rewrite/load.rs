//! Flows of a rewriter that another router has listed, taken in.

use super::deltas::Deltas;
use super::nat::{FULL, Kind, Nat, Wanted};
use super::record::NewFlow;
use crate::flow_lines::{Became, Object, load};
use elements_shared::flow_id::{FlowId, Key};
use elements_shared::hexadecimal::from_hexadecimal;
use elements_shared::state_port::Adopted;
use rcu::Turn;
use router::{Descriptors, StateReader};
use std::net::{IpAddr, Ipv4Addr};

/// A flow that a line tells of.
struct Told {
    new: NewFlow,
    flags: u16,
    deltas: Option<Deltas>,
    idle_ms: u64,
}

/// The ends that a line names, by the beginning of the names.
fn ends(line: &Object<'_>, of: &str) -> Result<[(IpAddr, u16); 2], String> {
    let end = |address: &str, port: &str| line.end(&format!("{of}{address}"), &format!("{of}{port}"));
    Ok([end("source", "sport")?, end("destination", "dport")?])
}

fn v4(address: IpAddr) -> Result<u32, String> {
    match address {
        IpAddr::V4(address) => Ok(address.to_bits()),
        IpAddr::V6(address) => Err(format!("{address} is no IPv4 address")),
    }
}

fn id_of([(source, sport), (destination, dport)]: [(IpAddr, u16); 2]) -> Result<FlowId, String> {
    Ok(FlowId { saddr: v4(source)?, daddr: v4(destination)?, sport, dport })
}

fn deltas(digits: &str) -> Option<Deltas> {
    let bytes = from_hexadecimal(digits.as_bytes())?;
    Deltas::read(&mut StateReader::new(bytes.into(), Descriptors::default())).ok()
}

impl Nat {
    /// The identifier of a flow with these ends. A host of IPv6 gets a number if it has none.
    fn told_id(&self, turn: Turn<'_>, ends: [(IpAddr, u16); 2], now_ms: u64) -> Result<FlowId, String> {
        let Some(six) = &self.six else { return id_of(ends) };
        let [(source, sport), (destination, dport)] = ends;
        let (IpAddr::V6(source), IpAddr::V6(destination)) = (source, destination) else {
            return Err("source and destination are no IPv6 addresses".to_owned());
        };
        let remote: Ipv4Addr = six.remote(destination).ok_or("destination not in the prefix")?;
        let saddr =
            six.number(turn, source, now_ms).ok_or("no room for another host, or none that one can be")?;
        Ok(FlowId { saddr, daddr: remote.to_bits(), sport, dport })
    }

    fn told_line(&self, turn: Turn<'_>, line: &Object<'_>, now_ms: u64) -> Result<Told, String> {
        let protocol = line.protocol()?;
        let map = self.map(protocol);
        if !self.has_protocol(map, protocol) {
            return Err("no flows of this protocol".to_owned());
        }
        let at: u16 = line.get("input")?;
        let outputs: [u16; 2] = [line.get("output")?, line.get("reply_output")?];
        if usize::from(at) >= self.inputs().len() || !outputs.iter().all(|&output| self.has_output(output)) {
            return Err("no such input or output".to_owned());
        }
        let id = self.told_id(turn, ends(line, "")?, now_ms)?;
        let rewritten = id_of(ends(line, "translated.")?)?;
        if !self.can_make(id, rewritten) || rewritten != self.completed(rewritten) {
            return Err("what it becomes is not what such flows become".to_owned());
        }
        let wanted = Wanted { at: at.into(), key: Key::new(map, id), hash: 0, protocol };
        let digits: String = line.get_or("deltas", String::new())?;
        let deltas = match digits.as_str() {
            "" => None,
            digits => Some(deltas(digits).ok_or("bad deltas")?),
        };
        let new = NewFlow {
            reply_anno: line.get_or("reply_anno", 0)?,
            ..self.new_flow(&wanted, rewritten, outputs)
        };
        Ok(Told { new, flags: line.get_or("flags", 0)?, deltas, idle_ms: line.ago_ms("idle_s")? })
    }

    /// Whether a map has flows of a protocol: any where it tells none apart.
    fn has_protocol(&self, map: u32, protocol: u8) -> bool {
        match self.kind {
            Kind::Addr | Kind::Pair => protocol == 0,
            _ => [0, protocol].contains(&self.protocol(map)) && protocol != 0,
        }
    }

    /// Whether the specification of a flow's input may have made it.
    ///
    /// # Errors
    /// It makes others.
    fn check_rule(&self, turn: Turn<'_>, new: &NewFlow) -> Result<(), String> {
        let input = self.inputs()[usize::from(new.input)].read(turn);
        match input.may_make(new) {
            true => Ok(()),
            false => Err(format!("input {} makes no such flow: {}", new.input, input.rule())),
        }
    }

    /// Takes in flows, as `flows_json` writes them, an object in each line. One that is known here stays as it is, no port that it has is
    /// given away, and one that the specification of its input cannot have made is refused.
    ///
    /// # Errors
    /// See [`load`].
    pub(super) fn load_flows(&self, turn: Turn<'_>, text: &str, now_ms: u64) -> Result<String, String> {
        let set = self.set().ok_or("it has no table yet")?;
        let mut editor = set.edit(turn);
        editor.pause_events(true);
        let read = |line: &Object<'_>| self.told_line(turn, line, now_ms);
        let loaded = load(text, read, |Told { mut new, flags, deltas, idle_ms }| {
            self.check_rule(turn, &new)?;
            let last_ms = now_ms.saturating_sub(idle_ms);
            match self.take_in(&mut editor, &mut new, (flags, deltas), last_ms, now_ms) {
                Adopted::Taken => Ok(Became::Taken),
                Adopted::Known => Ok(Became::Known),
                Adopted::Contended => Err("another flow has its addresses and ports".to_owned()),
                Adopted::Refused => Err(FULL.to_owned()),
            }
        });
        editor.pause_events(false);
        loaded
    }
}
