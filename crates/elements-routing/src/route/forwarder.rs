//! Sends packets where routes lead.

use super::family::Family;
use super::sticky::{Former, Sticky};
use super::target::{Forwarding, Hop};
use elements_shared::flow_hash::Flows;
use packet::{Batch, Packet};
use router::{Cx, Verdict};

/// Packets without a route that are reported, each instance.
const COMPLAINTS: u32 = 5;
/// The golden ratio's part of 2^64: its multiples are spread evenly, however many there are (Knuth, "The art of computer programming", vol. 3, 6.4).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// How one of several next hops is chosen for a packet.
pub(super) enum Balance<F: Family> {
    /// By its flow's hash.
    Hashed,
    /// It is the one that its flow had before.
    Remembered(Box<Sticky<F>>),
    /// Each packet for itself, in turn; so many were sent.
    Spread(u64),
}

/// Sends packets.
pub(super) struct Forwarder<F: Family> {
    pub(super) flows: Flows,
    pub(super) balance: Balance<F>,
    /// Where packets go that no route leads anywhere.
    pub(super) no_route: Option<u32>,
    /// The element class that reports them, if one does.
    pub(super) reporter: Option<&'static str>,
    pub(super) complaints: u32,
}

impl<F: Family> Forwarder<F> {
    /// Says which packets are sent next: [`Forwarder::send`] names them by their numbers.
    #[inline]
    pub(super) fn meet(&mut self, cx: &Cx<'_>, batch: &Batch) {
        if let Balance::Remembered(sticky) = &mut self.balance {
            sticky.meet(batch.iter(), &self.flows, cx.now_ns());
        }
    }

    /// The same for one packet, whose number is 0.
    #[inline]
    pub(super) fn meet_one(&mut self, cx: &Cx<'_>, packet: &Packet) {
        if let Balance::Remembered(sticky) = &mut self.balance {
            sticky.meet(std::iter::once(packet), &self.flows, cx.now_ns());
        }
    }

    /// Sends a packet to its next hop.
    #[inline(always)] // in two loops, of which the verdict would otherwise go through memory
    pub(super) fn send(
        &mut self,
        cx: &Cx<'_>,
        packet: &mut Packet,
        number: usize,
        forwarding: Option<&Forwarding<F>>,
    ) -> Verdict {
        let Hop { gateway, port } = match forwarding {
            // A flow that has one next hop now may have several later.
            Some(Forwarding::One(hop)) if !matches!(self.balance, Balance::Remembered(_)) => *hop,
            Some(others) => return self.send_elsewhere(cx, packet, number, others),
            None => return self.no_route(cx, packet),
        };
        if gateway != F::NONE {
            F::set_destination(packet, gateway);
        }
        Verdict::Output(port as usize)
    }

    /// The same where a route leads to several next hops, to one of another family, or nowhere; or where flows are remembered.
    #[inline(never)] // the loop is for the others
    fn send_elsewhere(
        &mut self,
        cx: &Cx<'_>,
        packet: &mut Packet,
        number: usize,
        forwarding: &Forwarding<F>,
    ) -> Verdict {
        let flows = &self.flows;
        let hop = match &mut self.balance {
            Balance::Hashed => forwarding.pick(|| F::flow(packet, flows)),
            Balance::Remembered(sticky) => sticky.choose(number, cx.now_ns(), forwarding),
            Balance::Spread(sent) => {
                *sent = sent.wrapping_add(1);
                forwarding.pick(|| sent.wrapping_mul(GOLDEN))
            }
        };
        let Some(hop) = hop else { return Verdict::Drop("route leads nowhere") };
        F::lead(packet, hop.gateway);
        Verdict::Output(hop.port as usize)
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

    /// The table of flows, if there is one.
    pub(super) fn sticky(&mut self) -> Option<&mut Sticky<F>> {
        match &mut self.balance {
            Balance::Remembered(sticky) => Some(sticky),
            Balance::Hashed | Balance::Spread(_) => None,
        }
    }

    /// The next hops of flows, and how flows are hashed, for another element.
    pub(super) fn give(&mut self) -> Option<(Flows, Former<F>)> {
        let flows = self.flows;
        self.sticky().map(|sticky| (flows, sticky.give()))
    }

    /// Goes on with another element's flows, if it told them apart as this one does.
    pub(super) fn adopt(&mut self, flows: Flows, old: Former<F>, now_ns: i64) {
        let (alike, same) = (flows == self.flows, flows.fields == self.flows.fields);
        if let Some(sticky) = self.sticky().filter(|_| same) {
            sticky.adopt(old, alike, now_ns);
        }
    }
}
