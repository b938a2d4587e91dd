//! Sends packets to this machine's kernel.
//!
//! ```click
//! ToHost([DEVNAME, QUEUE])
//! ```
//!
//! The kernel receives the packets on the interface DEVNAME, which a FromHost of the same configuration creates:
//! Ethernet frames, or IP packets if its TYPE is IP. With several workers, the interface has a queue for each. A
//! packet reaches the kernel through the queue of its worker, so that workers do not wait for each other, and the
//! kernel's own receive processing is spread in the same way. Consecutive segments of a TCP flow go as one long segment, unless the FromHost has
//! GSO false.
//!
//! Ports: 1 input, no outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `DEVNAME` (word): the interface's name. It may be left out, as in Click's kernel module, if the configuration
//!   has only one FromHost.
//! - `QUEUE` (integer, default: the worker's own): the queue through which packets are sent, modulo the number of
//!   queues.
//!
//! # Handlers
//! - `dev_name` (read): the argument.
//! - `merged` (read): packets that went as parts of long segments.
//! - `drops` (read): packets that the kernel did not accept.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> ToHost(fake0); FromHost(fake0) -> ToDevice(eth0)
//! ```
//!
//! # See also
//! FromHost, KernelTun, KernelTap

use super::host_port::{self, Common, GONE, RETRY_NS};
use super::host_writer::Writer;
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Decision, Element, Handlers, Look, Merge, Then};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// The class. It is initialised after FromHost.
pub(crate) const CLASS: Class = Class::new("ToHost", create)
    .ports("1/0")
    .processing("h/")
    .phase(1)
    .absorbs("all packets")
    .doc(router::manual!("to_host.rs"));

struct ToHost {
    name: String,
    queue: usize,
    /// The FromHost's part, which has the descriptor.
    host: Option<Arc<Common>>,
    /// None while the interface is gone.
    fd: Option<Arc<OwnedFd>>,
    /// When to look for it again.
    retry_ns: i64,
    writer: Writer,
    failing: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut name, mut queue) = (String::new(), None::<u32>);
    config.args().positional("DEVNAME", &mut name).keyword("QUEUE", &mut queue).finish()?;
    let own = config.workers().iter().position(|&worker| worker == config.worker()).unwrap_or(0);
    let queue = queue.map_or(own, |queue| queue as usize);
    let writer = Writer::new(None);
    Ok(Box::new(ToHost { name, queue, host: None, fd: None, retry_ns: 0, writer, failing: false }))
}

impl Element for ToHost {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let info = cx.info();
        let is_source = |&element: &usize| info.nodes[element].class.name == "FromHost";
        let sources: Vec<usize> = (0..info.nodes.len()).filter(is_source).collect();
        let parts = sources.iter().filter_map(|&element| info.shared::<Common>(element));
        if let ("", [_]) = (self.name.as_str(), &sources[..]) {
            self.name = parts.clone().map(|part| part.name()).collect();
        }
        self.host = parts.clone().find(|part| part.name() == self.name && part.any_queue(0).is_some());
        self.fd = self.host.as_ref().and_then(|host| host.any_queue(self.queue));
        self.writer = self.host.as_ref().map_or(Writer::new(None), |host| host.writer());
        match (&self.fd, self.name.as_str()) {
            (Some(_), _) => Ok(()),
            (None, "") => {
                Err("DEVNAME: required argument missing, unless there is exactly one FromHost".into())
            }
            (None, name) => {
                Err(format!("ToHost({name}) requires an initialized FromHost with the same dev_name").into())
            }
        }
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        if self.fd.is_none() && cx.now_ns() >= self.retry_ns {
            self.fd = self.host.as_ref().and_then(|host| host.any_queue(self.queue));
            self.retry_ns = cx.now_ns() + RETRY_NS;
        }
        let Some(fd) = self.fd.clone() else { return cx.drop_batch(batch, GONE) };
        match self.writer.write(cx, &fd, batch) {
            Ok(()) => self.failing = false,
            Err(error) if host_port::is_gone(error) => {
                // FromHost says it, and opens the interface when it is back.
                (self.fd, self.retry_ns) = (None, cx.now_ns() + RETRY_NS);
            }
            Err(error) if !std::mem::replace(&mut self.failing, true) => {
                let trouble = device::tap::trouble(&self.name, "writing", error.into());
                cx.error(format_args!("{} :: ToHost: {trouble}", cx.name()));
            }
            Err(_) => {}
        }
    }

    fn explain(&self, _look: &Look<'_>, _port: usize, _packet: &mut Packet) -> Option<Decision> {
        Some(Decision::new(Then::Stays, format!("the kernel receives it on {}", self.name)))
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("dev_name", |e: &mut ToHost, _| e.name.clone());
        h.read("merged", |e: &mut ToHost, _| e.writer.merged).merged(Merge::Sum);
        h.read("drops", |_: &mut ToHost, cx| cx.drops().iter().map(|(_, n)| n).sum::<u64>())
            .merged(Merge::Sum);
    }
}
