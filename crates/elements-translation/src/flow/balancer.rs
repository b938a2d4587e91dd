//! An element that sends all packets of a flow to one server: what FlowIPLoadBalancer, FlowL2LoadBalancer and FlowSwitch are.

use crate::balance::servers::{Servers, Target};
use elements_shared::flow_space::{Given, NO_FLOW, Space};
use packet::{Batch, Packet};
use router::{ConfigError, Cx, Handlers, Simple, Verdict};
use std::any::Any;

/// The servers of flows.
pub(super) struct FlowBalancer<A> {
    flows: Space<usize>,
    servers: Servers<A>,
}

impl<A> FlowBalancer<A> {
    /// Without flows.
    pub(super) fn new(servers: Servers<A>) -> FlowBalancer<A> {
        FlowBalancer { flows: Space::default(), servers }
    }
}

impl<A: Target> Simple for FlowBalancer<A> {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.servers.tell(cx);
        self.flows.connect(cx)
    }

    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some((server, new)) = self.flows.of(packet.flow(), drop) else { return Verdict::Drop(NO_FLOW) };
        if new {
            *server = self.servers.pick(cx, packet);
        }
        self.servers.send(*server, packet)
    }

    fn process_batch(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        self.flows.prefetch(&batch);
        cx.scatter(batch, |cx, packet| self.process(cx, packet));
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new((self.flows.give(), self.servers.clone())))
    }

    /// Flows keep their servers, as far as these are there; others choose again.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<(Given<usize>, Servers<A>)>() {
            let (flows, servers) = *state;
            let now = self.servers.adopt(&servers);
            self.flows.adopt(cx, flows, |server| now.get(server).copied().flatten());
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        Servers::handlers(h, |e: &FlowBalancer<A>| &e.servers);
    }
}
