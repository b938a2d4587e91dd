//! Sends packets to a network interface.
//!
//! ```click
//! ToDevice(DEVNAME [, BURST, METHOD, QUEUE, DEBUG, GSO])
//! ```
//!
//! Sends packets, which start with their link-layer header, to interface DEVNAME: a whole batch with one system call
//! and, with METHOD XDP, directly from the packets' buffers. Unlike Click's element it also accepts pushed packets,
//! so that each worker can send what it has received on a socket of its own; a Queue in front, as in Click, works
//! too. Needs root, or the capability CAP_NET_RAW.
//!
//! Packets that were sent leave by output 0 if it is connected. Packets that the kernel did not accept leave by
//! output 1, or are dropped and counted by reason. A pull input waits while the interface's queue is full.
//!
//! Of pushed packets that find the interface's queue full, up to 64 control frames (those of FromDevice) are kept and sent before anything
//! else as soon as there is room, unless output 1 is connected: neighbours and adjacencies survive while more is to be sent than the
//! interface takes. While they wait, other packets are dropped untried. More control frames than that are dropped, with a reason of their
//! own. What waits in a Queue in front is not looked at.
//!
//! With METHOD LINUX, consecutive packets of a batch that are segments of one TCP flow are handed to the kernel as one long segment of up to
//! 64 KiB: as long ones they reach hosts on virtual links (veth, TAP, virtio), and hardware that cuts them; where neither is, the kernel cuts them.
//! What comes out is what went in, byte for byte: only packets are merged whose headers differ in nothing but what cutting restores, whose
//! checksums are right, and that fit the MTU.
//!
//! Ports: 1 input, up to 2 outputs. Processing: agnostic input, push outputs. Workers: replicated, a socket for each.
//!
//! # Arguments
//! - `DEVNAME`: the interface.
//! - `BURST` (integer, default: packets in a batch): packets pulled at a time.
//! - `METHOD` (word, default LINUX): LINUX for a packet socket, PCAP for the same; XDP for an AF_XDP socket. A worker
//!   for which the interface has no queue uses a packet socket instead. NETMAP and DPDK are treated as LINUX, with a
//!   warning.
//! - `QUEUE` (integer): with METHOD XDP, the queue to use; by default each worker has a queue of its own. With METHOD
//!   LINUX the kernel chooses, by the sending processor (XPS) or by the packet's flow, and QUEUE is an error.
//! - `DEBUG` (boolean, default false): whether to report each error, not only the first of a series.
//! - `GSO` (boolean, default true): whether segments are merged.
//!
//! # Handlers
//! - `count` (read): packets sent. `reset_counts` (write, button): sets it to zero.
//! - `merged` (read): packets that were sent as parts of long segments.
//! - `pulls` (read): how often packets were pulled.
//! - `signal` (read): whether packets may be available upstream.
//! - `debug` (read, write): the argument.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> EtherMirror -> Queue -> ToDevice(eth0)
//! ```
//!
//! # See also
//! FromDevice, ToDump, Queue

use super::hardware::{self, Hardware, Side};
use super::left;
use device::Trouble;
use device::control::ControlFrames;
use device::port::Tx;
use device::xdp;
use elements_shared::pulling;
use packet::{BATCH_MAX, Batch, Packet};
use router::{
    Activity, BadState, Class, Config, ConfigError, Cx, Decision, Element, Handlers, Look, Merge, Pull,
    Queues, StateReader, StateWriter, Then, metric,
};
use rustix::io::Errno;
use std::any::Any;
use std::io;
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("ToDevice", create)
    .ports("1/0-2")
    .processing("a/h")
    .activity(Activity::IfPullInput)
    .absorbs("packets, without an output")
    .holds("packets that found the interface full")
    .doc(router::manual!("to_device.rs"));

/// Why packets wait that are pulled, and others are dropped.
const FULL: &str = "the interface's queue is full";
/// Why control frames are dropped: a batch of them waits.
const CONTROL_FULL: &str = "the interface's queue is full, and 64 control frames wait for it";
/// How long to leave a full interface alone.
const BACKOFF: Duration = Duration::from_micros(100);
/// Timers: to ask for packets again, or to send control frames that wait; to remind the kernel of packets; to look whether an XDP socket's
/// interface is still there, since the socket has buffers of which others may be in want, and for the MTU, which bounds what is merged.
const RESUME: u32 = 0;
const GO_ON: u32 = 1;
const CHECK: u32 = 2;
/// How often to look for an interface that has gone.
const RETRY_NS: i64 = 500_000_000;
const RETRY: Duration = Duration::from_nanos(RETRY_NS as u64);

struct ToDevice {
    interface: String,
    /// The XDP socket's queue.
    queue: Option<u32>,
    tx: Option<Tx>,
    pulls_input: bool,
    outputs: usize,
    burst: usize,
    debug: bool,
    /// Packets that found the interface full: the last that were pulled, or control frames among those that were pushed.
    held: Option<Batch>,
    /// What tells control frames.
    control: ControlFrames,
    /// Whether the last packet failed: only the first of a series is reported.
    failing: bool,
    retry_ns: i64,
    count: u64,
    /// Packets that were sent as parts of long segments.
    merged: u64,
    pulls: u64,
    /// Whether segments are merged.
    gso: bool,
    /// What FastClick's device elements have beside.
    hardware: Option<Hardware>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut interface, mut burst, mut method) = (String::new(), config.vector(), "LINUX".to_owned());
    let (mut debug, mut queue, mut gso) = (false, None::<u32>, true);
    config
        .args()
        .required("DEVNAME", &mut interface)
        .keyword("BURST", &mut burst)
        .keyword("METHOD", &mut method)
        .keyword("QUEUE", &mut queue)
        .keyword("DEBUG", &mut debug)
        .keyword("GSO", &mut gso)
        .finish()?;
    if interface.is_empty() {
        return Err("interface not set".into());
    }
    if burst == 0 {
        return Err("bad BURST".into());
    }
    let method = super::method::method(config, method);
    make(config, interface, &method, Wishes { queue, burst, debug, gso, hardware: None })
}

/// What is wanted of an interface.
pub(super) struct Wishes {
    pub(super) queue: Option<u32>,
    pub(super) burst: usize,
    pub(super) debug: bool,
    pub(super) gso: bool,
    pub(super) hardware: Option<Hardware>,
}

/// Makes an element that sends as it is wanted.
pub(super) fn make(
    config: &Config<'_>,
    interface: String,
    method: &str,
    wishes: Wishes,
) -> Result<Box<dyn Element>, ConfigError> {
    let Wishes { queue, burst, debug, gso, hardware } = wishes;
    let place = config.workers().iter().position(|&worker| worker == config.worker()).unwrap_or(0) as u32;
    let queue = match method {
        "LINUX" | "PCAP" if queue.is_some() => {
            let xps = format!("/sys/class/net/{interface}/queues/tx-*/xps_cpus");
            return Err(format!("QUEUE: of a packet socket the kernel chooses the queue ({xps} says how); METHOD XDP has queues").into());
        }
        "LINUX" | "PCAP" => None,
        "XDP" => queue.or_else(|| Some(place).filter(|&place| place < xdp::queues(&interface))),
        _ => return Err("bad METHOD".into()),
    };
    let mut made = ToDevice {
        interface,
        queue,
        tx: None,
        pulls_input: pulling::pulls(config),
        outputs: config.outputs(),
        burst: burst.min(BATCH_MAX),
        debug,
        held: None,
        control: ControlFrames::new(),
        failing: false,
        retry_ns: 0,
        count: 0,
        merged: 0,
        pulls: 0,
        gso,
        hardware,
    };
    if let Some(mut state) = config.inherited() {
        // What makes no sense is as good as nothing: the interface is opened.
        let _ = made.inherit(&mut state);
    }
    Ok(Box::new(made))
}

/// The form of what is left to another process.
const FORM: u8 = 1;

/// Why packets are dropped, by what the kernel said.
fn reason(error: &io::Error) -> &'static str {
    match Errno::from_io_error(error) {
        Some(Errno::NETDOWN) => "the interface is down",
        Some(Errno::AGAIN | Errno::NOBUFS) => FULL,
        Some(Errno::MSGSIZE) => "longer than the interface's MTU",
        Some(Errno::NXIO | Errno::NODEV) => "the interface is gone",
        _ => "the kernel refused to send",
    }
}

impl ToDevice {
    /// Goes on with what its namesake has left in another process.
    fn inherit(&mut self, state: &mut StateReader) -> Result<(), BadState> {
        state.form(FORM)?;
        (self.count, self.pulls) = (state.u64()?, state.u64()?);
        let tx = left::read(state)?.and_then(|kept| Tx::go_on_with(kept).ok());
        self.tx = tx.filter(|tx| self.queue.is_none() && !tx.is_stale(&self.interface));
        Ok(())
    }

    /// Sends a batch as far as the kernel takes it. What finds the interface full comes back if it `waits`; otherwise control frames are kept and
    /// others dropped.
    fn send(&mut self, cx: &mut Cx<'_>, mut batch: Batch, waits: bool) -> Option<Batch> {
        let mut done = (self.outputs > 0).then(|| cx.batch());
        let keeps = !waits && self.outputs < 2;
        while !batch.is_empty() {
            let Some(tx) = &mut self.tx else {
                self.reopen(cx);
                if self.tx.is_none() {
                    self.fail(cx, batch, "the interface is gone");
                    self.finish_sent(cx, done);
                    return None;
                }
                continue;
            };
            let sent = tx.send(cx.pool(), &mut batch, done.as_mut());
            self.count += sent.count as u64;
            self.merged += sent.merged as u64;
            let Some(error) = sent.error else {
                self.failing = false;
                continue;
            };
            if error.kind() == io::ErrorKind::Interrupted {
                continue;
            }
            let reason = reason(&error);
            if reason == FULL && waits {
                self.finish_sent(cx, done);
                return Some(batch);
            }
            self.complain(cx, error);
            if reason == FULL && keeps && self.keep_control(cx, &mut batch) {
                // The next place is theirs.
                cx.drop_batch(batch, FULL);
                batch = cx.batch();
                break;
            }
            if self.tx.as_ref().is_some_and(|tx| tx.is_stale(&self.interface)) {
                cx.tasks().stop_waiting();
                self.tx = None;
                self.retry_ns = 0;
                continue;
            }
            // One packet may be at fault, or all will fail: those that are left are tried one by one.
            let mut rest = cx.batch();
            batch.split_off(1, &mut rest);
            self.fail(cx, batch, reason);
            batch = rest;
        }
        cx.consume(batch);
        self.finish_sent(cx, done);
        if self.tx.as_ref().is_some_and(Tx::has_unsent) {
            cx.timers().after(GO_ON, BACKOFF);
        }
        None
    }

    /// Keeps the control frames of a batch that finds the interface full, as far as there is room for them; whether there are any.
    #[cold]
    fn keep_control(&mut self, cx: &mut Cx<'_>, batch: &mut Batch) -> bool {
        let before = batch.len();
        let (mut held, mut more) = (self.held.take().unwrap_or_else(|| cx.batch()), cx.batch());
        batch.filter_map(|packet| {
            if !self.control.has(packet.data()) {
                return Some(packet);
            }
            let place = if held.is_full() { &mut more } else { &mut held };
            place.push(packet);
            None
        });
        cx.drop_batch(more, CONTROL_FULL);
        if held.is_empty() {
            cx.consume(held);
        } else {
            self.held = Some(held);
            cx.timers().after(RESUME, BACKOFF);
        }
        batch.len() < before
    }

    /// Sends what was held, as far as there is room.
    fn send_held(&mut self, cx: &mut Cx<'_>) {
        if let Some(held) = self.held.take() {
            self.held = self.send(cx, held, true);
            if self.held.is_some() {
                cx.timers().after(RESUME, BACKOFF);
            }
        }
    }

    /// Reports what the kernel says, if it is the first of a series.
    #[cold]
    fn complain(&mut self, cx: &mut Cx<'_>, error: io::Error) {
        if std::mem::replace(&mut self.failing, true) && !self.debug {
            return;
        }
        let trouble = std::cell::Cell::new(Some(error));
        cx.error(std::fmt::from_fn(|f| {
            let Some(error) = trouble.take() else { return Ok(()) };
            write!(f, "{} :: ToDevice: {}", cx.name(), Trouble::while_sending(&self.interface, error))
        }));
    }

    #[cold]
    fn reopen(&mut self, cx: &mut Cx<'_>) {
        if cx.now_ns() >= self.retry_ns {
            self.retry_ns = cx.now_ns() + RETRY_NS;
            self.tx = Tx::open(&self.interface, self.queue, self.gso).ok();
        }
    }

    /// Lets go of an interface that has gone, which the next packet would find out.
    fn check(&mut self, cx: &mut Cx<'_>) {
        match &mut self.tx {
            Some(tx) if tx.is_stale(&self.interface) => {
                cx.tasks().stop_waiting();
                (self.tx, self.retry_ns) = (None, 0);
            }
            Some(tx) => tx.replenish(&self.interface),
            None => {}
        }
        cx.timers().after(CHECK, 2 * RETRY);
    }

    fn finish_sent(&self, cx: &mut Cx<'_>, sent: Option<Batch>) {
        match sent {
            Some(sent) if sent.is_empty() => cx.consume(sent),
            Some(sent) => cx.emit(0, sent),
            None => {}
        }
    }

    /// These packets cannot be sent.
    #[cold]
    fn fail(&mut self, cx: &mut Cx<'_>, failed: Batch, reason: &'static str) {
        if self.outputs > 1 {
            cx.emit(1, failed);
        } else {
            cx.drop_batch(failed, reason);
        }
    }
}

impl Element for ToDevice {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if let Some(hardware) = &mut self.hardware
            && !hardware.begin()?
        {
            // It goes on as with an interface that has gone.
            self.retry_ns = i64::MAX;
            pulling::begin(cx, self.pulls_input);
            return Ok(());
        }
        let opened = self.tx.take().map_or_else(|| Tx::open(&self.interface, self.queue, self.gso), Ok);
        match opened {
            Ok(tx) => self.tx = Some(tx),
            // The configuration that this one replaces will let go.
            Err(trouble) if trouble.is_held_here() => {}
            Err(trouble) => return Err(trouble.to_string().into()),
        }
        if self.queue.is_some() || self.tx.as_ref().is_some_and(Tx::merges) {
            cx.timers().after(CHECK, RETRY);
        }
        pulling::begin(cx, self.pulls_input);
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        if self.held.is_some() {
            self.send_held(cx);
            if self.held.is_some() {
                // None overtakes another, and none of the others takes the place that they wait for.
                self.keep_control(cx, &mut batch);
                return self.fail(cx, batch, FULL);
            }
        }
        let waits = self.send(cx, batch, false);
        debug_assert!(waits.is_none(), "pushed packets cannot wait");
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        self.send_held(cx);
        if self.held.is_some() {
            return;
        }
        self.pulls += 1;
        cx.ask(0, self.burst);
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        if batch.is_empty() && !cx.signals().may_have(0) {
            cx.consume(batch);
            return Pull::Nothing; // the queue wakes the task
        }
        self.held = self.send(cx, batch, true);
        match self.held {
            Some(_) => cx.timers().after(RESUME, BACKOFF),
            None => cx.tasks().schedule(),
        }
        Pull::Nothing
    }

    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        match key {
            RESUME if self.pulls_input => return cx.tasks().schedule(),
            RESUME => return self.send_held(cx),
            CHECK => return self.check(cx),
            _ => {}
        }
        let Some(tx) = self.tx.as_mut().filter(|tx| tx.has_unsent()) else { return };
        // What is wrong with the interface the next packet will find out.
        if tx.go_on(cx.pool()).is_ok() && tx.has_unsent() {
            cx.timers().after(GO_ON, BACKOFF);
        }
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        if let Some(held) = self.held.take() {
            cx.drop_batch(held, "left over at the end");
        }
    }

    fn explain(&self, _look: &Look<'_>, _port: usize, _packet: &mut Packet) -> Option<Decision> {
        let then = if self.outputs > 0 { Then::Output(0) } else { Then::Stays };
        Some(Decision::new(then, format!("{} sends it", self.interface)))
    }

    fn held(&self) -> usize {
        self.held.as_ref().map_or(0, Batch::len)
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new((self.held.take(), self.count, self.merged)))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<(Option<Batch>, u64, u64)>() {
            let (held, count, merged) = *state;
            self.count += count;
            self.merged += merged;
            match held {
                Some(held) if self.pulls_input && self.held.is_none() => self.held = Some(held),
                Some(held) if self.pulls_input => cx.drop_batch(held, FULL),
                Some(mut held) => {
                    self.keep_control(cx, &mut held);
                    cx.drop_batch(held, "the new configuration pushes");
                }
                None => {}
            }
        }
    }

    /// Its packet socket, which takes time to open and to close.
    fn write_state(&mut self, _cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        out.form(FORM);
        out.u64(self.count);
        out.u64(self.pulls);
        left::write(out, self.tx.as_ref().and_then(|tx| tx.keep().ok().flatten()));
        true
    }

    fn queues(&self) -> Option<Queues> {
        let queues = self.queue.into_iter().map(|queue| queue as usize).collect();
        Some(Queues { interface: self.interface.clone(), queues })
    }

    fn handlers(&self, h: &mut Handlers) {
        h.metric(&metric::DEVICE, |e: &mut ToDevice, _| e.interface.clone());
        h.count("reset_counts", |e: &mut ToDevice| &mut e.count).measures(&metric::SENT);
        h.read("merged", |e: &mut ToDevice, _| e.merged).merged(Merge::Sum);
        h.read("pulls", |e: &mut ToDevice, _| e.pulls).merged(Merge::Sum);
        h.read("signal", |e: &mut ToDevice, cx| e.pulls_input && cx.signals().may_have(0));
        h.read("debug", |e: &mut ToDevice, _| e.debug);
        h.write("debug", |e: &mut ToDevice, cx, text| {
            e.debug = router::value(cx, text).map_err(|_| "type mismatch".to_owned())?;
            Ok(())
        });
        if self.hardware.is_some() {
            hardware::handlers(h, Side::Sends, |e: &ToDevice| e.hardware.as_ref());
            for name in ["dropped", "n_dropped"] {
                h.read(name, |_: &mut ToDevice, cx| cx.drops().iter().map(|(_, count)| count).sum::<u64>())
                    .merged(Merge::Sum);
            }
            h.read("n_sent", |e: &mut ToDevice, _| e.count).merged(Merge::Sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;

    #[test]
    fn bad_arguments_are_refused() {
        let said = errors("Idle -> ToDevice(lo, METHOD FROG)");
        assert!(said.contains("bad METHOD"), "{said}");
        let said = errors("Idle -> ToDevice(lo, 3)");
        assert!(said.contains("too many arguments"), "{said}");
    }
}
