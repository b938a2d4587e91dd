//! Endpoints inside that are the same outside wherever they send, and who reaches them there: mapping and filtering as RFC 4787 (UDP, sections
//! 4 and 5) and RFC 5382 (TCP, REQ-1 and REQ-3) name them. So are the identifiers of pings mapped (RFC 5508, REQ-1).
//!
//! The table of flows has a record more for each endpoint: its mapping, which is found by the endpoint or by what it is outside, and so
//! cannot be another's. It counts the endpoint's flows and goes with the last of them. Where filtering asks for it, the endpoint has another
//! such record for each address that it sends to.
//!
//! A worker that makes a flow counts it first, then adds it: the mapping stays meanwhile, as its removal takes all lanes, and the count one.

use super::flow_set::{Entered, FlowMatch, FlowSet};
use super::input::Input;
use super::nat::{CONTENDED, Circumstances, FULL, NOT_MADE, Nat, ROUNDS, Wanted};
use super::record::{FORWARD, Flow, MAPPINGS, NewFlow, REPLY};
use elements_shared::flow_filter::protocol_name;
use elements_shared::flow_id::{FlowId, Key};
use rcu::Turn;
use std::fmt::Write as _;

/// Who reaches a mapped endpoint from outside (RFC 4787, section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filtering {
    /// Any host.
    EndpointIndependent,
    /// Hosts that it has sent to.
    AddressDependent,
    /// Endpoints that it has sent to.
    AddressAndPortDependent,
}

const ENDPOINT_INDEPENDENT: &str = "endpoint-independent";
const ADDRESS_DEPENDENT: &str = "address-dependent";
const ADDRESS_AND_PORT_DEPENDENT: &str = "address-and-port-dependent";

impl Filtering {
    /// Reads the words of both keywords. `None` if mappings depend on where an endpoint sends, as Click's do.
    ///
    /// # Errors
    /// What is wrong.
    pub(super) fn read(
        mapping: Option<&str>,
        filtering: Option<&str>,
    ) -> Result<Option<Filtering>, &'static str> {
        let filtering = match filtering.unwrap_or(ADDRESS_AND_PORT_DEPENDENT) {
            ENDPOINT_INDEPENDENT => Filtering::EndpointIndependent,
            ADDRESS_DEPENDENT => Filtering::AddressDependent,
            ADDRESS_AND_PORT_DEPENDENT => Filtering::AddressAndPortDependent,
            _ => return Err("bad FILTERING"),
        };
        match mapping.unwrap_or(ADDRESS_AND_PORT_DEPENDENT) {
            ENDPOINT_INDEPENDENT => Ok(Some(filtering)),
            ADDRESS_AND_PORT_DEPENDENT if filtering == Filtering::AddressAndPortDependent => Ok(None),
            ADDRESS_AND_PORT_DEPENDENT => Err("FILTERING needs MAPPING endpoint-independent"),
            _ => Err("bad MAPPING"),
        }
    }

    /// How many of [`NewFlow::mappings`] a flow counts for.
    pub(super) fn mappings(self) -> usize {
        if self == Filtering::AddressDependent { 2 } else { 1 }
    }
}

/// What the mapping of a packet from outside is found by, or with a peer, the note that its endpoint has sent there.
fn mapping_of(key: Key, peer: u32) -> Key {
    Key::new(key.map() | MAPPINGS, FlowId { saddr: peer, sport: 0, ..key.id() })
}

impl Nat {
    /// Makes the flow of a key, as what its endpoint is outside, or finds that another worker has made it; says which.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn make_mapped<'t>(
        &self,
        set: &'t FlowSet,
        turn: Turn<'t>,
        input: &Input,
        wanted: Wanted,
        with: &mut Circumstances<'_>,
    ) -> Result<(FlowMatch<'t>, bool), &'static str> {
        let endpoint = self.endpoint(set, turn, input, wanted, with)?;
        let Wanted { key, protocol, .. } = wanted;
        self.enter_mapped(set, turn, endpoint.flow, key.id(), protocol, with)
    }

    /// The mapping of a flow's endpoint, which is made if need be. The flow counts for it from here on.
    ///
    /// # Errors
    /// Why there is none.
    fn endpoint<'t>(
        &self,
        set: &'t FlowSet,
        turn: Turn<'t>,
        input: &Input,
        wanted: Wanted,
        with: &mut Circumstances<'_>,
    ) -> Result<FlowMatch<'t>, &'static str> {
        let anywhere = FlowId { daddr: 0, dport: 0, ..wanted.key.id() };
        let mappings = Key::new(wanted.key.map() | MAPPINGS, anywhere);
        let known = Key::new(mappings.map(), FlowId { dport: wanted.at as u16, ..anywhere });
        // Each further round means that another worker has made a mapping, or removed one. Or that the endpoint has no address and no port: then
        // what it is found by may be what another one is outside.
        for _ in 0..ROUNDS {
            if let Some(found) = set.hold(turn, with.worker, known, FORWARD) {
                return Ok(found);
            }
            let Some(choice) = self.choose(set, turn, input, mappings, with) else {
                // Perhaps because another worker has made this very mapping, with the last number.
                return set.hold(turn, with.worker, known, FORWARD).ok_or(NOT_MADE);
            };
            let new = self.describe(wanted, choice.id, choice.outputs).ok_or(NOT_MADE)?;
            if let Entered::Refused = set.enter(turn, with.worker, &new.mapping(0), true, with.now_ms) {
                return Err(FULL);
            }
        }
        Err(CONTENDED)
    }

    /// Adds a flow of an endpoint, for whose mapping it counts already. Otherwise it counts no more.
    ///
    /// # Errors
    /// Why there is none.
    fn enter_mapped<'t>(
        &self,
        set: &'t FlowSet,
        turn: Turn<'t>,
        endpoint: &Flow,
        id: FlowId,
        protocol: u8,
        with: &Circumstances<'_>,
    ) -> Result<(FlowMatch<'t>, bool), &'static str> {
        let mapping = endpoint.describe();
        let rewritten = self.completed(FlowId { daddr: id.daddr, dport: id.dport, ..mapping.rewritten });
        let (ip_change, transport_change) = self.changes(id, rewritten);
        let new = NewFlow {
            map: mapping.map & !MAPPINGS,
            protocol,
            id,
            rewritten,
            ip_change,
            transport_change,
            mapped: true,
            ..mapping
        };
        if !self.note_peer(set, turn, &new, with) {
            set.release(turn, &new, 1);
            return Err(FULL);
        }
        let known = match set.enter(turn, with.worker, &new, true, with.now_ms) {
            Entered::Made(found) => return Ok((found, true)),
            Entered::Known(found) => Ok((found, false)),
            Entered::Taken => Err(NOT_MADE),
            Entered::Refused => Err(FULL),
        };
        set.release(turn, &new, usize::MAX);
        known
    }

    /// Notes whom an endpoint sends to, if filtering asks for that. False if there is no room.
    fn note_peer(&self, set: &FlowSet, turn: Turn<'_>, new: &NewFlow, with: &Circumstances<'_>) -> bool {
        let most = self.filtering.map_or(0, Filtering::mappings);
        // The first one is the mapping itself.
        new.mappings().take(most).skip(1).all(|note| {
            for _ in 0..ROUNDS {
                if set.hold(turn, with.worker, note.keys()[FORWARD], FORWARD).is_some() {
                    return true;
                }
                match set.enter(turn, with.worker, &note, true, with.now_ms) {
                    Entered::Made(_) | Entered::Known(_) => {}
                    Entered::Taken | Entered::Refused => return false,
                }
            }
            false
        })
    }

    /// Makes a flow for a packet from outside, if it is for a mapped endpoint and filtering lets it in; or finds that another worker has.
    pub(super) fn admit<'t>(
        &self,
        set: &'t FlowSet,
        turn: Turn<'t>,
        key: Key,
        protocol: u8,
        with: &Circumstances<'_>,
    ) -> Option<(FlowMatch<'t>, bool)> {
        if !self.lets_in(set, turn, key) {
            return None;
        }
        let id = key.id();
        let mapping = mapping_of(key, 0);
        let inside = set.find(turn, mapping)?.flow.id(FORWARD);
        if self.is_over_quota(set, Key::new(key.map(), inside)) {
            return None;
        }
        let endpoint = set.hold(turn, with.worker, mapping, REPLY)?.flow;
        let outward = FlowId { daddr: id.saddr, dport: id.sport, ..endpoint.id(FORWARD) };
        let (found, new) = self.enter_mapped(set, turn, endpoint, outward, protocol, with).ok()?;
        Some((FlowMatch { direction: REPLY, ..found }, new))
    }

    /// Whether a packet from outside of no flow is for a mapped endpoint, and filtering lets it in.
    pub(super) fn lets_in(&self, set: &FlowSet, turn: Turn<'_>, key: Key) -> bool {
        let knows =
            |peer| set.find(turn, mapping_of(key, peer)).is_some_and(|found| found.direction == REPLY);
        match self.filtering {
            Some(Filtering::EndpointIndependent) => knows(0),
            Some(Filtering::AddressDependent) => knows(key.id().saddr),
            Some(Filtering::AddressAndPortDependent) | None => false,
        }
    }

    /// The mappings of all endpoints, with the flows that count for them.
    fn endpoints<'t>(&'t self, turn: Turn<'t>) -> impl Iterator<Item = &'t Flow> {
        let set = self.set().into_iter();
        let all = set.flat_map(move |set| self.maps().flat_map(move |map| set.flows(turn, map | MAPPINGS)));
        all.filter(|flow| flow.rewritten(FORWARD).daddr == 0)
    }

    /// One line for each mapped endpoint.
    pub(super) fn endpoint_lines(&self, turn: Turn<'_>) -> String {
        let mut text = String::new();
        for flow in self.endpoints(turn) {
            let end = |id: FlowId| {
                let [(source, sport), _] = self.ends(id);
                format!("{source} {sport}")
            };
            let (from, to) = (end(flow.id(FORWARD)), end(flow.rewritten(FORWARD)));
            let (protocol, flows) = (protocol_name(flow.protocol()), flow.holders());
            let _ = writeln!(text, "{protocol} {from} > {to} i{} [{flows}]", flow.input());
        }
        text
    }

    /// An array with an object for each mapped endpoint.
    pub(super) fn endpoint_json(&self, turn: Turn<'_>) -> String {
        let mut text = String::from("[");
        for flow in self.endpoints(turn) {
            let end = |id: FlowId| {
                let [(source, sport), _] = self.ends(id);
                format!("\"source\":\"{source}\",\"sport\":{sport}")
            };
            let _ = write!(
                text,
                "{}\n{{\"protocol\":\"{}\",{},\"translated\":{{{}}},\"input\":{},\"flows\":{}}}",
                if text.len() > 1 { "," } else { "" },
                protocol_name(flow.protocol()),
                end(flow.id(FORWARD)),
                end(flow.rewritten(FORWARD)),
                flow.input(),
                flow.holders(),
            );
        }
        text + "\n]\n"
    }
}
