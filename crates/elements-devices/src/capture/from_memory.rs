//! Receives packets from an interface in memory.
//!
//! ```click
//! FromMemory(DEVNAME [, QUEUE, BURST])
//! ```
//!
//! In-memory interfaces are created by the program that embeds the router: for demonstrations, benchmarks and tests.
//! This element copies their frames into packets, with the current time, the link-layer header position and the
//! packet type (addressed to a host, multicast or broadcast).
//!
//! Each worker serves its own receive queues: with W workers, worker w serves the queues w, w + W and so on. With
//! QUEUE only that queue is served, by worker QUEUE modulo W. While a queue is empty it is polled ten thousand times
//! a second; a queue that will never get another frame costs nothing. When the interface vanishes, the element waits until it or another one
//! of its name is there.
//!
//! Ports: no inputs, 1 output. Processing: push. Workers: an instance on each.
//!
//! # Arguments
//! - `DEVNAME`: the interface.
//! - `QUEUE` (integer): the queue to serve.
//! - `BURST` (integer, default: packets in a batch): frames read from a queue at a time.
//!
//! # Handlers
//! - `count` (read): packets received. `reset_counts` (write, button): sets it to zero.
//! - `burst` (read, write): the argument.
//!
//! # Example
//! ```click
//! FromMemory(in0) -> Strip(14) -> CheckIPHeader -> Discard
//! ```
//!
//! # See also
//! ToMemory, FromDump

use device::memory::{Interface, Interfaces, RxQueue};
use packet::{BATCH_MAX, Kind, Packet};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Queues, metric};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;
use wire::ethernet::Header;

/// The class.
pub(crate) const CLASS: Class = Class::new("FromMemory", create)
    .ports("0/1")
    .processing("h/h")
    .activity(Activity::PerWorker)
    .makes("packets")
    .doc(router::manual!("from_memory.rs"));

/// How long to look away from empty queues.
const PAUSE: Duration = Duration::from_micros(100);
/// Looks at empty queues before looking away.
const PATIENCE: u32 = 64;

struct FromMemory {
    interface: Arc<Interface>,
    /// Where one of its name is found when it has vanished.
    interfaces: Interfaces,
    /// The queues to serve, and those of them that this element has got hold of.
    wanted: Vec<usize>,
    queues: Vec<RxQueue>,
    burst: usize,
    idle: u32,
    warned: bool,
    count: u64,
}

/// The interface with a name, and where it is found.
pub(super) fn interface(
    config: &Config<'_>,
    name: &str,
) -> Result<(Arc<Interface>, Interfaces), ConfigError> {
    let Some(interfaces) = config.resource::<Interfaces>() else {
        return Err(format!("no interface '{name}': this program has no interfaces in memory").into());
    };
    let known = || interfaces.all().iter().map(|i| format!("'{}'", i.name())).collect::<Vec<_>>().join(", ");
    let interface = interfaces.get(name).ok_or_else(|| match known() {
        known if known.is_empty() => format!("no interface '{name}' in memory; there are none"),
        known => format!("no interface '{name}' in memory; there are {known}"),
    })?;
    Ok((interface, interfaces.clone()))
}

/// The interface that has taken the place of one that has vanished, and is there.
#[cold]
pub(super) fn successor(gone: &Arc<Interface>, interfaces: &Interfaces) -> Option<Arc<Interface>> {
    interfaces.get(gone.name()).filter(|interface| !Arc::ptr_eq(interface, gone) && !interface.is_gone())
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
    let queues = interface.rx_queues();
    if queue.is_some_and(|queue| queue >= queues) {
        return Err(format!("interface '{name}' has {queues} receive queues, numbered from 0").into());
    }
    let workers = config.workers();
    let place = workers.iter().position(|&worker| worker == config.worker()).unwrap_or(0);
    let mine = |queue: &usize| queue % workers.len().max(1) == place;
    let wanted = match queue {
        Some(queue) => Some(queue).filter(mine).into_iter().collect(),
        None => (0..queues).filter(mine).collect(),
    };
    Ok(Box::new(FromMemory {
        interface,
        interfaces,
        wanted,
        queues: Vec::new(),
        burst: burst.clamp(1, BATCH_MAX),
        idle: 0,
        warned: false,
        count: 0,
    }))
}

impl FromMemory {
    /// Takes hold of queues that others had until now, for instance a configuration that this one replaces.
    #[cold]
    fn take_queues(&mut self, cx: &Cx<'_>) {
        for &number in &self.wanted {
            if self.queues.iter().any(|queue| queue.queue() == number) {
                continue;
            }
            match self.interface.take_rx(number) {
                Some(queue) => self.queues.push(queue),
                None if !self.warned => {
                    let (name, device) = (cx.name(), self.interface.name());
                    cx.log(format_args!(
                        "{name} :: FromMemory: waits for receive queue {number} of '{device}', which is in use"
                    ));
                    self.warned = true;
                }
                None => {}
            }
        }
    }

    /// Receives a burst from each queue; false if there was nothing.
    fn receive(&mut self, cx: &mut Cx<'_>) -> bool {
        let mut some = false;
        for queue in &mut self.queues {
            let (mut batch, mut lost) = (cx.batch(), 0);
            let now_ns = cx.now_ns();
            let received = queue.next_burst(self.burst, |frame| match cx.pool().packet(frame) {
                Some(mut packet) => {
                    describe(&mut packet, now_ns);
                    batch.push(packet);
                }
                None => lost += 1,
            });
            if lost > 0 {
                cx.count_drops("no buffer for a received frame", lost);
            }
            some |= received > 0;
            self.count += batch.len() as u64;
            cx.emit(0, batch);
        }
        some
    }
}

/// Notes what is known about a received frame.
#[inline]
fn describe(packet: &mut Packet, now_ns: i64) {
    packet.set_timestamp_ns(now_ns);
    packet.set_mac_offset(0);
    if let Ok(header) = Header::new_checked(packet.data())
        && header.dst().is_group()
    {
        packet.set_kind(if header.dst().is_broadcast() { Kind::Broadcast } else { Kind::Multicast });
    }
}

impl Element for FromMemory {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if !self.wanted.is_empty() {
            cx.tasks().schedule();
        }
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if self.interface.is_gone()
            && let Some(successor) = successor(&self.interface, &self.interfaces)
        {
            self.interface = successor;
            self.queues.clear();
        }
        if self.queues.len() < self.wanted.len() {
            self.take_queues(cx);
        }
        if self.receive(cx) {
            self.idle = 0;
            return cx.tasks().schedule();
        }
        let complete = self.queues.len() == self.wanted.len();
        if complete && self.queues.iter().all(RxQueue::is_exhausted) {
            return; // nothing will ever come
        }
        self.idle += 1;
        if self.idle < PATIENCE {
            cx.tasks().schedule();
        } else {
            self.idle = 0;
            cx.timers().after(0, PAUSE);
        }
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.tasks().schedule();
    }

    /// Queues go on to a namesake; a queue that it does not want is free again.
    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(std::mem::take(&mut self.queues)))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(queues) = state.downcast::<Vec<RxQueue>>() {
            let ours = |queue: &RxQueue| {
                Arc::ptr_eq(queue.interface(), &self.interface) && self.wanted.contains(&queue.queue())
            };
            self.queues.extend(queues.into_iter().filter(ours));
        }
    }

    fn queues(&self) -> Option<Queues> {
        let interface = self.interface.name().to_owned();
        (!self.wanted.is_empty()).then(|| Queues { interface, queues: self.wanted.clone() })
    }

    fn handlers(&self, h: &mut Handlers) {
        h.metric(&metric::DEVICE, |e: &mut FromMemory, _| e.interface.name().to_owned());
        h.count("reset_counts", |e: &mut FromMemory| &mut e.count).measures(&metric::RECEIVED);
        h.read("burst", |e: &mut FromMemory, _| e.burst);
        h.write("burst", |e: &mut FromMemory, cx, text| {
            e.burst = router::value::<usize>(cx, text)?.clamp(1, BATCH_MAX);
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::build_with;
    use device::frames::{Builder, Kind};
    use device::memory::{Config, Feed, FrameSet, InjectError, Interface, Interfaces};
    use router::{Call, Resources, Router};
    use std::sync::Arc;

    /// Four frames of 60 to 63 bytes, the first of them a broadcast.
    fn frames() -> Arc<FrameSet> {
        let mut builder = Builder::new();
        for i in 0..4 {
            let mut frame = vec![i as u8; 60 + i];
            frame[0] = if i == 0 { 0xff } else { 2 };
            frame[1..6].fill(0xff);
            builder.push(Kind::Good, &frame).unwrap();
        }
        Arc::new(builder.build())
    }

    fn resources(interfaces: &[&Arc<Interface>]) -> Resources {
        let all = Interfaces::new();
        interfaces.iter().for_each(|interface| all.add((*interface).clone()).unwrap());
        let mut resources = Resources::default();
        resources.insert(all);
        resources
    }

    fn looped(queues: usize, limit: u64) -> Arc<Interface> {
        let set = frames();
        let rx =
            (0..queues).map(|start| Feed::Frames { set: set.clone(), start, limit: Some(limit) }).collect();
        Interface::new("in0", Config { rx, tx_queues: queues, tap: None })
    }

    fn read(router: &mut Router, path: &str) -> String {
        router.call(Call::read(path, "")).unwrap()
    }

    /// Every worker serves its queues, and sends to a queue of its own.
    #[test]
    fn queues_and_workers() {
        let interface = looped(3, 100);
        let config = "f :: FromMemory(in0) -> t :: ToMemory(in0)";
        let mut router = build_with(config, 2, 32, resources(&[&interface])).unwrap();
        let handle = router.handle();
        let stop = std::thread::spawn(move || {
            while handle.call(Call::read("t.count", "")) != Ok("300".to_owned()) {}
            handle.stop();
        });
        router.run();
        stop.join().unwrap();
        assert_eq!([read(&mut router, "f.count"), read(&mut router, "t.count")], ["300", "300"]);
        let sent = |queue| interface.tx_queue_stats(queue).unwrap().packets;
        assert_eq!([sent(0), sent(1), sent(2)], [200, 100, 0]);
        assert_eq!(interface.tx_stats().bytes, 300 * 61 + 150);
    }

    /// While an interface is gone nothing arrives and what is sent is counted as dropped; then it goes on, whether the same interface returns
    /// or another one of its name comes.
    #[test]
    fn an_interface_comes_and_goes() {
        let interface = || Interface::new("in0", Config::rings(1, 8));
        let (first, all) = (interface(), Interfaces::new());
        all.add(first.clone()).unwrap();
        let mut resources = Resources::default();
        resources.insert(all.clone());
        let mut router = build_with("f :: FromMemory(in0) -> t :: ToMemory(in0)", 1, 32, resources).unwrap();
        let pass = |router: &mut Router, interface: &Arc<Interface>| {
            let taken = interface.inject(0, &[2; 60]);
            for _ in 0..2 {
                router.run_rounds(200);
                router.info().clock.jump(router.info().clock.now_ns() + 1_000_000);
            }
            (taken, [read(router, "f.count"), read(router, "t.count")])
        };
        assert_eq!(pass(&mut router, &first), (Ok(()), ["1", "1"].map(str::to_owned)));
        first.inject(0, &[3; 60]).unwrap();
        let mut with_it = 0;
        first.set_gone(true, |_| with_it += 1);
        assert_eq!(pass(&mut router, &first), (Err(InjectError::Gone), ["1", "1"].map(str::to_owned)));
        first.set_gone(false, |_| ());
        assert_eq!(pass(&mut router, &first), (Ok(()), ["2", "2"].map(str::to_owned)));
        let second = interface();
        assert!(all.succeed(second.clone()).is_err(), "the first is there");
        first.set_gone(true, |_| ());
        all.succeed(second.clone()).unwrap();
        assert_eq!(pass(&mut router, &second), (Ok(()), ["3", "3"].map(str::to_owned)));
        assert_eq!((with_it, second.tx_stats().packets), (1, 1));
    }

    /// One queue only, and a sink that pulls.
    #[test]
    fn one_queue() {
        let interface = looped(2, 50);
        let config =
            "f :: FromMemory(in0, 1, BURST 7) -> Counter(COUNT_CALL 50 stop) -> t :: ToMemory(in0, QUEUE 1)";
        let mut router = build_with(config, 1, 32, resources(&[&interface])).unwrap();
        router.run();
        assert_eq!(read(&mut router, "f.count"), "50");
        assert_eq!(interface.tx_queue_stats(1).unwrap().packets, 50);
    }

    #[test]
    fn frames_that_arrive_later_are_found() {
        let feed = Feed::Ring { capacity: 8 };
        let interface = Interface::new("in0", Config { rx: vec![feed], tx_queues: 1, tap: None });
        let config = "f :: FromMemory(in0) -> c :: Classifier(0/68656c6c6f, -) -> Counter(COUNT_CALL 3 stop) -> Discard;
                      c[1] -> Discard";
        let mut router = build_with(config, 1, 32, resources(&[&interface])).unwrap();
        let sender = std::thread::spawn(move || {
            for frame in ["hello", "other", "hello", "hello there"] {
                interface.inject(0, frame.as_bytes()).unwrap();
                std::thread::yield_now();
            }
        });
        router.run();
        sender.join().unwrap();
        assert_eq!(read(&mut router, "f.count"), "4");
    }

    /// A namesake in a new configuration has the queues, and goes on where they stopped.
    #[test]
    fn taken_over() {
        let interface = looped(1, 100);
        let config =
            |n| format!("f :: FromMemory(in0) -> Counter(COUNT_CALL {n} stop) -> t :: ToMemory(in0)");
        let build = |n| build_with(&config(n), 1, 1, resources(&[&interface])).unwrap();
        let mut old = build(30);
        old.run();
        let before: u64 = read(&mut old, "f.count").parse().unwrap();
        let mut new = build(100 - before);
        new.take_over(&mut old).unwrap();
        drop(old);
        new.run();
        assert_eq!(
            (read(&mut new, "f.count"), interface.tx_stats().packets),
            ((100 - before).to_string(), 100)
        );
    }

    /// Queues find those who serve them where elements move to other workers: each frame passes once.
    #[test]
    fn other_workers_take_over() {
        const FRAMES: u64 = 20_000;
        let interface = looped(3, FRAMES);
        let folder = tempfile::tempdir().unwrap();
        let path = |branch: &str| format!("f :: FromMemory(in0) -> u :: Tee -> t :: ToMemory(in0); {branch}");
        let both = path("u[1] -> Discard");
        // ToDump is on one worker, and so is what leads there.
        let one = path(&format!("u[1] -> ToDump({}, SNAPLEN 20)", folder.path().join("dump").display()));
        let build = |config: &str| build_with(config, 2, 8, resources(&[&interface])).unwrap();
        let passed = || interface.tx_stats().packets;
        let mut router = build(&both);
        for (swap, next) in [&one, &both, &one, &both].into_iter().enumerate() {
            let (handle, enough) = (router.handle(), (swap as u64 + 1) * FRAMES / 4);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while passed() < enough {
                        std::thread::yield_now();
                    }
                    handle.interrupt();
                });
                router.run();
            });
            router.replace(build(next)).unwrap().finish();
        }
        let handle = router.handle();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let start = std::time::Instant::now();
                while passed() < 3 * FRAMES && start.elapsed().as_secs() < 60 {
                    std::thread::yield_now();
                }
                handle.stop();
            });
            router.run();
        });
        assert_eq!(passed(), 3 * FRAMES);
    }

    #[test]
    fn bad_interfaces_queues_and_workers_are_refused() {
        let interface = looped(2, 1);
        let error = |config, workers| build_with(config, workers, 1, resources(&[&interface])).err().unwrap();
        assert!(
            error("FromMemory(out7) -> Discard", 1)
                .contains("no interface 'out7' in memory; there are 'in0'")
        );
        assert!(error("FromMemory(in0, 2) -> Discard", 1).contains("has 2 receive queues"));
        assert!(error("FromMemory(in0) -> ToMemory(in0, 1)", 2).contains("2 workers reach this element"));
        assert!(error("FromMemory(in0) -> ToMemory(in0)", 3).contains("need one each"));
        let none = build_with("FromMemory(in0) -> Discard", 1, 1, Resources::default()).err().unwrap();
        assert!(none.contains("no interfaces in memory"), "{none}");
    }
}
