//! Sends packets to an interface in memory.
//!
//! ```click
//! ToMemory(DEVNAME [, QUEUE, BURST])
//! ```
//!
//! The counterpart of FromMemory: hands each packet's data to a transmit queue of the interface, which counts it and
//! passes it to its listeners. Each worker has a transmit queue of its own: the first worker that reaches the element
//! uses the first queue, and so on. With QUEUE that queue is used, and only one worker may reach the element.
//!
//! Ports: 1 input, no outputs. Processing: agnostic; packets are pulled as fast as possible. Workers:
//! replicated, a queue for each.
//!
//! # Arguments
//! - `DEVNAME`: the interface.
//! - `QUEUE` (integer): the queue to use.
//! - `BURST` (integer, default: packets in a batch): packets pulled at a time.
//!
//! # Handlers
//! - `count` (read): packets sent. `reset_counts` (write, button): sets it to zero.
//! - `burst` (read, write): the argument.
//!
//! # Example
//! ```click
//! FromMemory(in0) -> Queue -> ToMemory(out0)
//! ```
//!
//! # See also
//! FromMemory, ToDump

use super::from_memory::{interface, successor};
use device::memory::{Interface, Interfaces, TxQueue};
use elements_shared::pulling;
use packet::{BATCH_MAX, Batch, Packet};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Pull, Queues, metric};
use std::any::Any;
use std::sync::Arc;

/// The class.
pub(crate) const CLASS: Class = Class::new("ToMemory", create)
    .ports("1/0")
    .activity(Activity::IfPullInput)
    .absorbs("all packets")
    .doc(router::manual!("to_memory.rs"));

struct ToMemory {
    interface: Arc<Interface>,
    /// Where one of its name is found when it has vanished.
    interfaces: Interfaces,
    number: usize,
    queue: Option<TxQueue>,
    pulls: bool,
    burst: usize,
    count: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut name, mut queue, mut burst) = (String::new(), None::<usize>, config.vector());
    config
        .args()
        .required("DEVNAME", &mut name)
        .positional("QUEUE", &mut queue)
        .positional("BURST", &mut burst)
        .finish()?;
    let (interface, interfaces) = interface(config, &name)?;
    let (queues, workers) = (interface.tx_queues(), config.workers());
    if queue.is_some() && workers.len() > 1 {
        let n = workers.len();
        return Err(format!("QUEUE names one transmit queue, but {n} workers reach this element").into());
    }
    let place = workers.iter().position(|&worker| worker == config.worker()).unwrap_or(0);
    let number = queue.unwrap_or(place);
    if queue.is_some_and(|queue| queue >= queues) {
        return Err(format!("interface '{name}' has {queues} transmit queues, numbered from 0").into());
    }
    if number >= queues {
        let n = workers.len();
        return Err(format!(
            "interface '{name}' has {queues} transmit queues, but {n} workers reach this element and need one each"
        )
        .into());
    }
    Ok(Box::new(ToMemory {
        interface,
        interfaces,
        number,
        queue: None,
        pulls: pulling::pulls(config),
        burst: burst.clamp(1, BATCH_MAX),
        count: 0,
    }))
}

impl ToMemory {
    fn send(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        if self.interface.is_gone() {
            match successor(&self.interface, &self.interfaces) {
                Some(successor) => (self.interface, self.queue) = (successor, None),
                None => return cx.drop_batch(batch, "the interface is gone"),
            }
        }
        if self.queue.is_none() {
            // The element that had it, perhaps in a configuration that this one replaces, may have let go.
            self.queue = self.interface.take_tx(self.number);
        }
        let Some(queue) = &mut self.queue else {
            return cx.drop_batch(batch, "transmit queue in use by another");
        };
        let sent = queue.send_all(batch.iter().map(Packet::data));
        self.count += sent as u64;
        cx.count_drops("receive queue at the other end is full", (batch.len() - sent) as u64);
        cx.consume(batch);
    }
}

impl Element for ToMemory {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.queue = self.interface.take_tx(self.number);
        pulling::begin(cx, self.pulls);
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.send(cx, batch);
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        cx.ask(0, self.burst);
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        pulling::go_on(cx, &batch);
        self.send(cx, batch);
        Pull::Nothing
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.queue.take()?))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(queue) = state.downcast::<TxQueue>()
            && Arc::ptr_eq(queue.interface(), &self.interface)
            && queue.queue() == self.number
        {
            self.queue = Some(*queue);
        }
    }

    fn queues(&self) -> Option<Queues> {
        Some(Queues { interface: self.interface.name().to_owned(), queues: vec![self.number] })
    }

    fn handlers(&self, h: &mut Handlers) {
        h.metric(&metric::DEVICE, |e: &mut ToMemory, _| e.interface.name().to_owned());
        h.count("reset_counts", |e: &mut ToMemory| &mut e.count).measures(&metric::SENT);
        h.read("burst", |e: &mut ToMemory, _| e.burst);
        h.write("burst", |e: &mut ToMemory, cx, text| {
            e.burst = router::value::<usize>(cx, text)?.clamp(1, BATCH_MAX);
            Ok(())
        });
    }
}
