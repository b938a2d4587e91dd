//! How packets are searched for the first rule that they match: by a decision program ([`super::program`]) or, where there are many
//! rules, by bit vectors ([`super::vectors`]).

use super::compiled::{Compiled, NOWHERE, Quick};
use super::expr::{MAC, NETWORK, Parts, Rule};
use super::names::Family;
use super::program::Program;
use super::usual;
use super::vectors::Vectors;
#[cfg(test)]
use elements_shared::connection_state::ConnectionState;
use packet::Packet;

/// Tests of a program from which on a search by bit vectors is faster.
const SEARCH_MIN: usize = 48;

#[derive(Debug)]
enum Search {
    Program(Compiled),
    Vectors(Box<Vectors>),
}

/// The quicker way for packets without IP options or extension headers: all parts are seen from the network header.
#[derive(Debug)]
enum Usual {
    Program(Compiled),
    /// The search is able to.
    Vectors,
    /// There is none.
    None,
}

/// The way in which packets are searched.
#[derive(Debug)]
pub(super) struct Way {
    search: Search,
    usual: Usual,
    /// Whether some rule looks at the link-layer header.
    uses_mac: bool,
}

impl Way {
    /// The way for some rules.
    pub(super) fn new(rules: &[Rule], family: Family) -> Way {
        let tests: usize = rules.iter().map(|rule| rule.expr.tests()).sum();
        let uses_mac = rules.iter().any(|rule| rule.expr.looks_at(MAC..NETWORK));
        let (search, usual) = if tests < SEARCH_MIN {
            let mut program = Program::of_rules(rules);
            program.optimise();
            let usual = usual::program(&program, family);
            let usual = usual.map_or(Usual::None, |program| Usual::Program(Compiled::new(&program)));
            (Search::Program(Compiled::new(&program)), usual)
        } else {
            let usual = if family == Family::V4 && !uses_mac { Usual::Vectors } else { Usual::None };
            (Search::Vectors(Box::new(Vectors::new(rules.to_vec()))), usual)
        };
        Way { search, usual, uses_mac }
    }

    /// The output for a packet, where there is a program for usual packets; [`NOWHERE`] if it is dropped.
    #[inline(always)]
    pub(super) fn run_quick(&self, program: Quick<'_>, packet: &Packet, family: Family) -> usize {
        let front = usual::front(packet, family, program.reach);
        front.map_or_else(|| self.run(packet, family), |front| program.run(front))
    }

    /// The output for a packet; [`NOWHERE`] if it is dropped.
    #[inline(never)] // what is quicker stays small
    pub(super) fn run(&self, packet: &Packet, family: Family) -> usize {
        if let Some(network) = usual::network(packet, family) {
            match (&self.usual, &self.search) {
                (Usual::Program(program), _) => return program.run(network),
                (Usual::Vectors, Search::Vectors(vectors)) => {
                    if let Some(output) = vectors.run_usual(network) {
                        return output.unwrap_or(NOWHERE);
                    }
                }
                _ => {}
            }
        }
        self.run_general(packet, family)
    }

    /// The program for usual packets, if there is one.
    pub(super) fn quick(&self) -> Option<Quick<'_>> {
        match &self.usual {
            Usual::Program(program) => program.quick(),
            Usual::Vectors | Usual::None => None,
        }
    }

    #[inline(never)] // it has most to do
    fn run_general(&self, packet: &Packet, family: Family) -> usize {
        self.with_parts(packet, family, |parts| self.search(parts))
    }

    /// Does something with the parts of a packet.
    #[inline(always)] // once for every packet
    pub(super) fn with_parts<R>(
        &self,
        packet: &Packet,
        family: Family,
        look: impl FnOnce(&Parts<'_>) -> R,
    ) -> R {
        let network = packet.network().unwrap_or_default();
        let mut mac = [0; 16];
        let mac_len = if self.uses_mac { copy_mac(packet, &mut mac) } else { 0 };
        let mac = &mac[..mac_len];
        if family == Family::V4 {
            return look(&Parts::new(mac, network, packet.transport().unwrap_or_default(), &[]));
        }
        match digest_v6(network) {
            Some((digest, transport)) => look(&Parts::new(mac, network, transport, &digest)),
            None => look(&Parts::new(mac, network, &[], &[])),
        }
    }

    #[inline]
    fn search(&self, parts: &Parts<'_>) -> usize {
        match &self.search {
            Search::Program(program) => program.run_on(|part| parts.get(part)),
            Search::Vectors(vectors) => vectors.run(parts).unwrap_or(NOWHERE),
        }
    }
}

/// Copies the link-layer header to two bytes behind the start, where its addresses are in the words that Click names.
/// Returns where it ends.
fn copy_mac(packet: &Packet, to: &mut [u8; 16]) -> usize {
    let Some(mac) = packet.mac() else { return 0 };
    let len = mac.len().min(14);
    to[2..2 + len].copy_from_slice(&mac[..len]);
    2 + len
}

/// What IPv6 patterns want to know of a packet beside its fields: the transport protocol, and whether it is a fragment (bit
/// 0) or even a later one (bit 1). Also the transport header.
pub(super) fn digest_v6(network: &[u8]) -> Option<([u8; 4], &[u8])> {
    let upper = wire::ipv6::upper_layer(network).ok()?;
    let flags = u8::from(upper.fragment.is_some()) | u8::from(!upper.first_fragment) << 1;
    Some(([upper.protocol, flags, 0, 0], network.get(upper.offset..).unwrap_or_default()))
}

/// One pattern: by itself, as a program, and to be searched.
#[cfg(test)]
pub(super) struct Alone {
    family: Family,
    pattern: String,
    rule: Rule,
    /// One for each state.
    ways: Vec<(ConnectionState, Way, Vectors)>,
}

#[cfg(test)]
impl Alone {
    pub(super) fn new(family: Family, pattern: &str, rule: Rule) -> Alone {
        let way = |state| {
            let rules = vec![Rule { expr: rule.expr.in_state(state), ..rule.clone() }];
            (state, Way::new(&rules, family), Vectors::new(rules))
        };
        let ways = ConnectionState::ALL.into_iter().map(way).collect();
        Alone { family, pattern: pattern.to_owned(), rule, ways }
    }

    /// Whether a packet of an untracked connection matches, which all have to agree on, in every state. The packet starts with the
    /// network header.
    pub(super) fn matches(&self, packet: &[u8], header_len: usize) -> bool {
        let found = if self.family == Family::V6 { digest_v6(packet) } else { None };
        let (digest, transport) = match (self.family, &found) {
            (Family::V4, _) => (&[][..], packet.get(header_len..).unwrap_or_default()),
            (Family::V6, Some((digest, transport))) => (&digest[..], *transport),
            (Family::V6, None) => (&[][..], &[][..]),
        };
        let (pattern, usual_header) =
            (&self.pattern, usual::has_usual_header(packet, header_len, self.family));
        let mut answer = false;
        for (state, way, vectors) in self.ways.iter().rev() {
            let byte = [*state as u8, 0, 0, 0];
            let parts = Parts::new(&[], packet, transport, digest).with_state(&byte);
            let matches = self.rule.expr.matches(&parts);
            assert_eq!(way.search(&parts) == 0, matches, "program: {pattern}, {state:?}");
            assert_eq!(vectors.run(&parts) == Some(0), matches, "search: {pattern}, {state:?}");
            if self.family == Family::V4
                && usual_header
                && let Some(output) = vectors.run_usual(packet)
            {
                assert_eq!(output == Some(0), matches, "usual search: {pattern}, {state:?}");
            }
            if let Usual::Program(usual) = &way.usual
                && usual_header
            {
                assert_eq!(usual.run(packet) == 0, matches, "usual: {pattern}, {state:?}");
                if let Some(output) = usual.run_quick(packet) {
                    assert_eq!(output == 0, matches, "quick: {pattern}, {state:?}");
                }
            }
            answer = matches;
        }
        answer
    }
}
