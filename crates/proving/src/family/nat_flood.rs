//! A gateway with room for few flows, and hosts that flood it: the flows of which both sides take part go on, and no other gets their ports.
//!
//! Flows that were not answered are guaranteed no time, so that each new one displaces another.

use super::contract::{Family, replace};
use super::nat::{Nat, crowded};
use crate::model::Model;
use crate::story::{FlowStep, Knob, Knobs, Step, Story};
use crate::world::{ECHO_PORT, Kind, Network};
use fastrand::Rng;

/// The family.
pub(super) struct NatFlood;

/// Flows that there is room for.
const ROOM: u32 = 48;
/// A port at which no host answers.
const SILENT: u16 = 9;

impl Family for NatFlood {
    fn name(&self) -> &'static str {
        "nat-flood"
    }

    /// Those of the other family but the last one: an endpoint has a mapping for each flow.
    fn knobs(&self) -> &'static [Knob] {
        Nat.knobs().split_last().map_or(&[], |(_, knobs)| knobs)
    }

    fn network(&self, knobs: &Knobs) -> Network {
        Nat.network(knobs)
    }

    fn config(&self, machine: usize, knobs: &Knobs) -> String {
        let mut text = Nat.config(machine, knobs);
        replace(&mut text, "$FLOWS 100000", &format!("$FLOWS {ROOM}"));
        replace(
            &mut text,
            "MAPPING_CAPACITY $FLOWS",
            "MAPPING_CAPACITY $FLOWS, GUARANTEE 0, UDP_GUARANTEE 0",
        );
        replace(&mut text, "MAPPING_CAPACITY rw", "MAPPING_CAPACITY rw, GUARANTEE 0");
        text
    }

    fn model(&self, knobs: &Knobs) -> Box<dyn Model> {
        crowded(knobs)
    }

    /// Flows that are answered and go on for a while, and floods of such as are not.
    fn step(&self, story: &Story, rng: &mut Rng) -> Step {
        let Step::Flow(flow) = Nat.step(story, rng) else { unreachable!("that family has flows only") };
        let gap_ns = [0, 1_000, 50_000][rng.usize(..3)];
        match rng.u32(..3) {
            0 => Step::Flow(FlowStep {
                kind: Kind::Udp,
                count: rng.u32(50..=200),
                size: 16,
                gap_ns,
                ttl: 64,
                ports: [rng.u16(10_000..10_400), SILENT],
                spread: true,
                ..flow
            }),
            1 => Step::Flow(FlowStep {
                kind: [Kind::Udp, Kind::Tcp][rng.usize(..2)],
                gap_ns: [50_000, 1_000_000, 5_000_000][rng.usize(..3)],
                ttl: 64,
                ports: [flow.ports[0], [ECHO_PORT, 80][rng.usize(..2)]],
                ..flow
            }),
            _ => Step::Flow(flow),
        }
    }
}
