//! Sends packets where routes lead.

use super::family::Family;
use super::sticky::{Former, Sticky};
use super::target::{Forwarding, Hop};
use elements_shared::flow_hash::Flows;
use packet::{Batch, Packet};
use router::{Cx, Verdict};

/// Why a packet is dropped that no route leads anywhere.
pub(super) const NO_ROUTE: &str = "no route";
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

    /// Whether a packet's flow is of no consequence where its route leads to one next hop. A flow that is remembered may have several later.
    #[inline]
    pub(super) fn is_stateless(&self) -> bool {
        !matches!(self.balance, Balance::Remembered(_))
    }

    /// Sends a packet to a next hop.
    #[inline(always)] // in two loops, of which the verdict would otherwise go through memory
    pub(super) fn send_to(packet: &mut Packet, hop: Hop<F::Address>) -> Verdict {
        if hop.gateway != F::NONE {
            F::set_destination(packet, hop.gateway);
        }
        Verdict::Output(hop.port as usize)
    }

    /// Sends a packet where its route leads.
    #[inline(always)] // in two loops, of which the verdict would otherwise go through memory
    pub(super) fn send(
        &mut self,
        cx: &Cx<'_>,
        packet: &mut Packet,
        number: usize,
        forwarding: Option<&Forwarding<F>>,
    ) -> Verdict {
        match forwarding {
            Some(Forwarding::One(hop)) if self.is_stateless() => Self::send_to(packet, *hop),
            Some(others) => self.send_elsewhere(cx, packet, number, others),
            None => self.no_route(cx, packet),
        }
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
            cx.complain(
                format_args!("{reporter}: no route for {}", F::address(F::destination(packet))),
                NO_ROUTE,
            );
        }
        Verdict::Drop(NO_ROUTE)
    }

    /// The table of flows, if there is one, for others than packets.
    pub(super) fn sticky(&mut self) -> Option<&mut Sticky<F>> {
        match &mut self.balance {
            Balance::Remembered(sticky) => {
                sticky.catch_up();
                Some(sticky)
            }
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
