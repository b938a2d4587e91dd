//! Where packets go that have been looked up: to next hops, by flow where there are several.

use super::super::family::Family;
use super::super::sticky::Sticky;
use super::super::target::{Forwarding, Hop, pick};
use elements_shared::flow_hash::Flows;
use lpm::Group;
use packet::Packet;
use router::{Cx, Verdict};

/// Packets without a route that are reported, each instance.
const COMPLAINTS: u32 = 5;

/// Sends packets where routes lead.
pub(super) struct Forwarder<F: Family> {
    pub(super) flows: Flows,
    /// The next hops of flows, where they are remembered.
    pub(super) sticky: Option<Sticky<Hop<F::Gateway>>>,
    /// Where packets go that no route leads anywhere.
    pub(super) no_route: Option<u32>,
    /// The element class that reports them, if one does.
    pub(super) reporter: Option<&'static str>,
    pub(super) complaints: u32,
}

impl<F: Family> Forwarder<F> {
    /// Sends a packet to its next hop.
    #[inline(always)] // in two loops, of which the verdict would otherwise go through memory
    pub(super) fn send(
        &mut self,
        cx: &Cx<'_>,
        packet: &mut Packet,
        forwarding: Option<&Forwarding<F>>,
    ) -> Verdict {
        let Hop { gateway, port } = match forwarding {
            Some(Forwarding::One(hop)) => *hop,
            Some(others) => return self.send_elsewhere(cx, packet, others),
            None => return self.no_route(cx, packet),
        };
        if gateway != F::NONE {
            F::set_destination(packet, gateway);
        }
        Verdict::Output(port as usize)
    }

    /// The same where a route leads to several next hops, to one of another family, or nowhere.
    #[inline(never)] // the loop is for the others
    fn send_elsewhere(&mut self, cx: &Cx<'_>, packet: &mut Packet, forwarding: &Forwarding<F>) -> Verdict {
        let hop = match forwarding {
            Forwarding::One(hop) => Hop { gateway: F::Gateway::from(hop.gateway), port: hop.port },
            Forwarding::Across(hop) => *hop,
            Forwarding::Many(group) => self.choose(cx, packet, group),
            Forwarding::Nowhere => return Verdict::Drop("route leads nowhere"),
        };
        F::lead(packet, hop.gateway);
        Verdict::Output(hop.port as usize)
    }

    /// The next hop of several for a packet: by its flow.
    fn choose(&mut self, cx: &Cx<'_>, packet: &Packet, group: &Group<Hop<F::Gateway>>) -> Hop<F::Gateway> {
        let flow = F::flow(packet, &self.flows);
        let chosen = *pick(group, flow);
        match &mut self.sticky {
            None => chosen,
            Some(sticky) => {
                let is_there = |hop: &_| group.members().iter().any(|(member, _)| member == hop);
                sticky.choose(flow, cx.now_ns(), chosen, is_there)
            }
        }
    }

    #[cold]
    fn no_route(&mut self, cx: &Cx<'_>, packet: &Packet) -> Verdict {
        if let Some(port) = self.no_route {
            return Verdict::Output(port as usize);
        }
        if let Some(reporter) = self.reporter.filter(|_| self.complaints < COMPLAINTS) {
            self.complaints += 1;
            cx.log(&format!("{reporter}: no route for {}", F::address(F::destination(packet))));
        }
        Verdict::Drop("no route")
    }

    /// The next hops of flows, and how flows are hashed, for another element.
    pub(super) fn give(&mut self) -> Option<(Flows, Sticky<Hop<F::Gateway>>)> {
        self.sticky.as_mut().map(|sticky| (self.flows, sticky.give()))
    }

    /// Goes on with another element's flows, if it hashed them as this one does.
    pub(super) fn adopt(&mut self, flows: Flows, old: Sticky<Hop<F::Gateway>>) {
        if let Some(sticky) = self.sticky.as_mut().filter(|_| flows == self.flows) {
            sticky.adopt(old);
        }
    }
}
