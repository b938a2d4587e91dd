//! The hosts on either side: sending, receiving, and what becomes of packets between.

use super::Arguments;
use device::packet_socket::{Options, PacketRx, PacketTx};
use lpm::Prefix;
use rustix::time::{ClockId, clock_gettime};
use std::io::BufRead;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Frames of a batch.
const BATCH: usize = 64;
/// Where the UDP destination port is; 9 is sent to.
const PORT: usize = 36;
/// Where the time is at which a frame was sent, behind the UDP header.
const TIME: usize = 42;
/// A mix of sizes as it is usual on the Internet: seven short, four middling, one long.
pub(crate) const IMIX: [usize; 12] = [64, 64, 594, 64, 64, 594, 64, 1518, 64, 594, 64, 594];

/// Sizes, with the four bytes that hardware adds, in the order in which they are sent.
pub(crate) fn sizes(name: &str) -> Result<Vec<usize>, String> {
    match name {
        "imix" => Ok(IMIX.to_vec()),
        number => match number.parse() {
            Ok(size @ 64..=1518) => Ok(vec![size]),
            _ => Err(format!("{number}: a size is a number from 64 to 1518, or 'imix'")),
        },
    }
}

/// Makes frames of UDP datagrams to many addresses, a batch at a time.
struct Traffic {
    frames: Vec<Vec<u8>>,
    addresses: Vec<u32>,
    sizes: Vec<usize>,
    next: usize,
}

impl Traffic {
    fn new(arguments: &Arguments) -> Result<Traffic, String> {
        let prefixes = super::prefixes(&arguments.routes)?;
        // Not those that the machines themselves have.
        let usable = |prefix: &&Prefix<u32>| prefix.addr() >> 24 != 10 && prefix.len() > 0;
        let prefixes: Vec<_> = prefixes.iter().filter(usable).collect();
        let mut rng = fastrand::Rng::with_seed(7);
        let address = |_| {
            let prefix = prefixes[rng.usize(..prefixes.len())];
            prefix.addr() | rng.u32(..) & u32::MAX.checked_shr(prefix.len().into()).unwrap_or(0)
        };
        let addresses = (0..arguments.destinations.max(1)).map(address).collect();
        Ok(Traffic {
            frames: (0..BATCH).map(|_| Vec::with_capacity(1518)).collect(),
            addresses,
            sizes: sizes(&arguments.size)?,
            next: 0,
        })
    }

    /// The next frames, `count` of them.
    fn batch(&mut self, count: usize, to: [u8; 6]) -> impl Iterator<Item = &[u8]> {
        let now = clock_gettime(ClockId::Realtime);
        let now_ns = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
        for frame in &mut self.frames[..count] {
            let (address, size) =
                (self.addresses[self.next % self.addresses.len()], self.sizes[self.next % self.sizes.len()]);
            let len = size - 4;
            self.next += 1;
            frame.clear();
            frame.extend(to);
            frame.extend([2, 0, 0, 0, 1, 2, 8, 0, 0x45, 0]);
            frame.extend(((len - 14) as u16).to_be_bytes());
            frame.extend([0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 1, 2]);
            frame.extend(address.to_be_bytes());
            let sum = wire::checksum::checksum(&frame[14..34]);
            frame[24..26].copy_from_slice(&sum.to_be_bytes());
            frame.extend([4, 0, 0, 9]);
            frame.extend(((len - 34) as u16).to_be_bytes());
            frame.extend([0, 0]);
            frame.extend(now_ns.to_be_bytes());
            frame.resize(len, 0);
        }
        self.frames[..count].iter().map(Vec::as_slice)
    }
}

/// What the kernel counts of an interface of this namespace.
fn statistic(interface: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/sys/class/net/{interface}/statistics/{name}"));
    text.unwrap_or_default().trim().parse().unwrap_or(0)
}

/// Packets that have arrived at b.
fn arrived() -> u64 {
    statistic("b", "rx_packets")
}

/// Processor time of this process so far, in nanoseconds.
fn own_time() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Sends all packets, a window of them under way, and prints the processor time that this took, how many did not arrive, and the
/// time that passed.
pub(super) fn send_window(arguments: &Arguments) -> Result<(), String> {
    let mut tx = PacketTx::open("a", false).map_err(|trouble| trouble.to_string())?;
    let mut traffic = Traffic::new(arguments)?;
    let listened = arguments.forwarder.as_deref() != Some("nobody");
    // What is for another machine the kernel drops at once.
    let to = [2, 0, 0, 0, 1, if listened { 1 } else { 0xff }];
    let (begin, before, start) = (Instant::now(), own_time(), arrived());
    let (mut sent, mut missed) = (0, 0);
    while sent < arguments.packets {
        sent += tx.send(traffic.batch(BATCH, to)).count as u64;
        let mut patience = Instant::now();
        let mut last = arrived();
        while listened && sent - missed > last - start + arguments.window.min(arguments.packets) {
            std::thread::sleep(Duration::from_micros(20));
            let now = arrived();
            if now > last {
                (last, patience) = (now, Instant::now());
            } else if patience.elapsed() > Duration::from_millis(200) {
                missed = sent - (now - start); // given up
            }
        }
    }
    let elapsed = begin.elapsed();
    let patience = Instant::now();
    while listened && arrived() - start < sent && patience.elapsed() < Duration::from_millis(300) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let lost = if listened { sent.saturating_sub(arrived() - start) } else { 0 };
    println!("{} {lost} {}", own_time() - before, elapsed.as_nanos());
    Ok(())
}

/// Sends at the rates that standard input says, a line each, and for each until the next line; prints what came of it then ([`Passed`]).
pub(super) fn send_paced(arguments: &Arguments) -> Result<(), String> {
    let options = Options {
        promiscuous: false,
        outbound: false,
        snaplen: Some(128),
        wait_ms: 0,
        queue: None,
        control: false,
        segments: false,
    };
    let mut rx = PacketRx::open("b", &options, None, true).map_err(|trouble| trouble.to_string())?;
    let mut tx = PacketTx::open("a", false).map_err(|trouble| trouble.to_string())?;
    let mut traffic = Traffic::new(arguments)?;
    let (told, orders) = mpsc::channel();
    std::thread::spawn(move || {
        let mut lines = std::io::stdin().lock().lines().map_while(Result::ok);
        while lines.next().is_some_and(|line| told.send(line).is_ok()) {}
    });
    println!("ready");
    while let Ok(order) = orders.recv() {
        let rate = order.trim().parse().map_err(|_| format!("'{order}' is no rate"))?;
        println!("{}", stint(rate, &orders, &mut rx, &mut tx, &mut traffic).line());
    }
    Ok(())
}

/// What became of packets that were sent at a rate.
#[derive(Clone, Copy)]
pub(super) struct Passed {
    pub(super) packets: u64,
    pub(super) lost: u64,
    /// For how long they were sent.
    pub(super) ns: u64,
    /// How long they took: median, 99 and 99.9 percent, longest.
    pub(super) latency_ns: [u64; 4],
    /// Those that the cable to the router did not take.
    pub(super) not_taken: u64,
}

impl Passed {
    fn line(&self) -> String {
        let numbers = [[self.packets, self.lost, self.ns, self.not_taken], self.latency_ns].concat();
        numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
    }

    pub(super) fn parse(line: &str) -> Option<Passed> {
        let numbers: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let [packets, lost, ns, not_taken, p50, p99, p999, longest] = numbers[..] else { return None };
        Some(Passed { packets, lost, ns, latency_ns: [p50, p99, p999, longest], not_taken })
    }
}

/// Sends `rate` packets a second until the next order.
fn stint(
    rate: f64,
    orders: &mpsc::Receiver<String>,
    rx: &mut PacketRx,
    tx: &mut PacketTx,
    traffic: &mut Traffic,
) -> Passed {
    let over = AtomicBool::new(false);
    let (arrived_before, refused_before) = (arrived(), statistic("a", "tx_dropped"));
    std::thread::scope(|scope| {
        let receiver = scope.spawn(|| take_times(rx, &over));
        let (begin, mut packets) = (Instant::now(), 0u64);
        while matches!(orders.try_recv(), Err(mpsc::TryRecvError::Empty)) {
            let due = (begin.elapsed().as_secs_f64() * rate) as u64;
            match due.saturating_sub(packets).min(BATCH as u64) as usize {
                0 => std::thread::sleep(Duration::from_micros(20)),
                some => {
                    let sent = tx.send(traffic.batch(some, [2, 0, 0, 0, 1, 1]));
                    // The kernel drops the frame that it refuses.
                    packets += sent.count as u64 + u64::from(sent.error.is_some());
                }
            }
        }
        let ns = begin.elapsed().as_nanos() as u64;
        settle();
        over.store(true, Ordering::Relaxed);
        let mut times = receiver.join().unwrap_or_default();
        times.sort_unstable();
        let quantile = |q: f64| times.get((times.len() as f64 * q) as usize).or(times.last());
        let latency_ns = [0.5, 0.99, 0.999, 1.0].map(|q| quantile(q).map_or(0, |&ns| ns.max(0) as u64));
        let lost = packets.saturating_sub(arrived() - arrived_before);
        Passed { packets, lost, ns, latency_ns, not_taken: statistic("a", "tx_dropped") - refused_before }
    })
}

/// Waits until no packet has arrived for a while: a router that waits for its processor still has some.
fn settle() {
    let (begin, mut last, mut quiet) = (Instant::now(), arrived(), Instant::now());
    while quiet.elapsed() < Duration::from_millis(300) && begin.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(20));
        let now = arrived();
        if now > last {
            (last, quiet) = (now, Instant::now());
        }
    }
}

/// How long each packet took that arrives until it is over, in nanoseconds.
fn take_times(rx: &mut PacketRx, over: &AtomicBool) -> Vec<i64> {
    let mut times = Vec::with_capacity(1 << 20);
    loop {
        let last = over.load(Ordering::Relaxed);
        let got = rx.receive_each(1 << 12, |frame| {
            // The kernel talks on the cable, too.
            let ours = frame.data.get(PORT..PORT + 2) == Some(&[0, 9]) && frame.data[23] == 17;
            if ours && let Some(at) = frame.data.get(TIME..).and_then(|rest| rest.first_chunk()) {
                times.push(frame.time_ns - u64::from_be_bytes(*at) as i64);
            }
        });
        if got == 0 && last {
            return times;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}
