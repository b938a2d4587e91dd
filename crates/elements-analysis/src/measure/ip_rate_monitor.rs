//! Measures the traffic from and to addresses, in finer detail where there is more of it.
//!
//! ```click
//! IPRateMonitor(TYPE, RATIO, THRESH [, MEMORY, ANNO])
//! ```
//!
//! Measures rates for the first byte of addresses. If the rate of a group of addresses exceeds THRESH, it also
//! measures the subgroups given by the next byte, down to single addresses. Packets at input 0 count under their
//! source address as forward traffic, packets at input 1 under their destination as reverse traffic. Packets must
//! have a marked IP header; others pass unmeasured.
//!
//! Ports: 1 or 2 inputs, 1 or 2 outputs. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `TYPE` (`PACKETS` or `BYTES`): what to measure.
//! - `RATIO` (number from 0 to 1): the probability with which a packet is measured.
//! - `THRESH` (integer): packets or bytes per second above which a group is subdivided.
//! - `MEMORY` (integer, default 0): kilobytes of memory, at least 100; 0 means 65,536. In Click, 0 means no limit.
//! - `ANNO` (boolean, default true): whether to annotate packets with the forward and reverse rates of their group.
//!
//! # Handlers
//! - `look` (read): the age of the data in units of 8 milliseconds, then one line per group: its address, forward
//!   rate, and reverse rate, separated by tabs.
//! - `thresh`, `mem`, `memmax` (read): the threshold times RATIO, the bytes in use, and their maximum number (0
//!   unless MEMORY is set).
//! - `memmax` (write): the argument MEMORY.
//! - `anno_level` (write, `ADDRESS, LEVEL, SECONDS`, or separated by spaces): for this time, does not subdivide the
//!   address's group of LEVEL (0 to 3).
//! - `reset` (write, button): forgets everything.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> m :: IPRateMonitor(PACKETS, 0.5, 256, 600) -> Discard
//! ```
//!
//! # See also
//! AggregateIP, AggregateCounter

use elements_shared::rate_average::unparse;
use packet::{Anno, Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Pull, Residency};
use std::any::Any;
use std::net::Ipv4Addr;
use wire::ipv4;

/// The class.
pub(crate) const CLASS: Class = Class::new("IPRateMonitor", create)
    .ports("1-2/1-2")
    .residency(Residency::Exclusive)
    .keeps("kilobytes of counters", "MEMORY", 65_536, 1100)
    .doc(router::manual!("ip_rate_monitor.rs"));

const NS_PER_EPOCH: i64 = 8_000_000;
const EPOCHS_PER_S: i64 = 125;
/// Bits of fraction of averages, and the share that an epoch has in one.
const SCALE: u32 = 10;
const STABILITY: u32 = 5;
/// So many epochs without traffic bring an average to zero.
const FORGOTTEN: i64 = 100;
const LEAST_MEMORY: usize = 100 * 1024;
const DEFAULT_MEMORY: usize = 65_536 * 1024;

/// A forward and a reverse rate.
#[derive(Clone, Copy, Default)]
struct Rates {
    averages: [i64; 2],
    pending: [i64; 2],
    epoch: i64,
}

impl Rates {
    fn advance(&mut self, epoch: i64) {
        let idle = epoch - self.epoch - 1;
        if idle < 0 {
            return;
        }
        for (average, pending) in self.averages.iter_mut().zip(&mut self.pending) {
            let mut step =
                |sample: i64| *average += (sample - *average + (1 << (STABILITY - 1))) >> STABILITY;
            step(std::mem::take(pending) << SCALE);
            if idle < FORGOTTEN {
                (0..idle).for_each(|_| step(0));
            } else {
                *average = 0;
            }
        }
        self.epoch = epoch;
    }

    fn add(&mut self, epoch: i64, side: usize, amount: i64) {
        self.advance(epoch);
        self.pending[side] += amount;
    }

    /// Rates a second.
    fn per_second(&self) -> [i64; 2] {
        self.averages.map(|average| (average * EPOCHS_PER_S) >> SCALE)
    }

    fn text(&self, side: usize) -> String {
        unparse(u64::try_from(self.averages[side] * EPOCHS_PER_S).unwrap_or(0), SCALE)
    }
}

/// A group of addresses.
#[derive(Clone, Copy, Default)]
struct Counter {
    rates: Rates,
    /// The groups within it.
    inner: Option<usize>,
    /// It is not looked into before this epoch.
    closed_until: i64,
}

/// The 256 groups within one.
struct Level {
    counters: Vec<Option<Counter>>,
    /// The group that they are in; none for the outermost.
    parent: Option<(usize, u8)>,
}

const LEVEL_BYTES: usize = size_of::<Level>() + 256 * size_of::<Option<Counter>>();

struct IpRateMonitor {
    /// The outermost first; freed places are empty.
    levels: Vec<Option<Level>>,
    free: Vec<usize>,
    used: usize,
    bytes: bool,
    ratio: u32,
    threshold: i64,
    memory_max: usize,
    annotate: bool,
    reset_epoch: i64,
    folded_epoch: i64,
    inputs: usize,
}

/// What goes to a new configuration.
struct Handover {
    bytes: bool,
    levels: Vec<Option<Level>>,
    free: Vec<usize>,
    used: usize,
    epochs: (i64, i64),
}

fn memory(kilobytes: usize) -> usize {
    if kilobytes == 0 { DEFAULT_MEMORY } else { kilobytes.saturating_mul(1024).max(LEAST_MEMORY) }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut kind, mut ratio, mut threshold) = (String::new(), 0.0f64, 0u32);
    let (mut kilobytes, mut annotate) = (0usize, true);
    config
        .args()
        .required("TYPE", &mut kind)
        .required("RATIO", &mut ratio)
        .required("THRESH", &mut threshold)
        .positional("MEMORY", &mut kilobytes)
        .positional("ANNO", &mut annotate)
        .finish()?;
    let bytes = match kind.to_ascii_uppercase().as_str() {
        "PACKETS" => false,
        "BYTES" => true,
        _ => return Err("monitor type should be \"PACKETS\" or \"BYTES\"".into()),
    };
    if !(0.0..=1.0).contains(&ratio) {
        return Err("ratio must be between 0 and 1".into());
    }
    let ratio = (ratio * 65_536.0).round() as u32;
    let mut e = IpRateMonitor {
        levels: Vec::new(),
        free: Vec::new(),
        used: 0,
        bytes,
        ratio,
        threshold: (i64::from(threshold) * i64::from(ratio)) >> 16,
        memory_max: memory(kilobytes),
        annotate,
        reset_epoch: 0,
        folded_epoch: 0,
        inputs: config.inputs(),
    };
    e.reset(0);
    Ok(Box::new(e))
}

impl IpRateMonitor {
    fn reset(&mut self, epoch: i64) {
        self.levels = vec![Some(Level { counters: vec![None; 256], parent: None })];
        self.free.clear();
        self.used = LEVEL_BYTES;
        self.reset_epoch = epoch;
    }

    fn counter(&mut self, level: usize, byte: u8) -> Option<&mut Option<Counter>> {
        self.levels.get_mut(level)?.as_mut()?.counters.get_mut(usize::from(byte))
    }

    /// Looks into a group: the next byte's group in it begins with its rates.
    fn open(&mut self, level: usize, byte: u8, next: u8, rates: Rates) {
        if self.used + LEVEL_BYTES > self.memory_max {
            return;
        }
        self.used += LEVEL_BYTES;
        let mut counters = vec![None; 256];
        counters[usize::from(next)] = Some(Counter { rates, ..Counter::default() });
        let inner = Some(Level { counters, parent: Some((level, byte)) });
        let at = match self.free.pop() {
            Some(at) => {
                self.levels[at] = inner;
                at
            }
            None => {
                self.levels.push(inner);
                self.levels.len() - 1
            }
        };
        if let Some(Some(counter)) = self.counter(level, byte) {
            counter.inner = Some(at);
        }
    }

    /// Forgets the groups within groups, and those within them.
    fn close(&mut self, level: usize) {
        let mut rest = vec![level];
        while let Some(at) = rest.pop() {
            let Some(level) = self.levels.get_mut(at).and_then(Option::take) else { continue };
            rest.extend(level.counters.iter().flatten().filter_map(|counter| counter.inner));
            if let Some((parent, byte)) = level.parent
                && let Some(Some(counter)) = self.counter(parent, byte)
            {
                counter.inner = None;
            }
            self.used -= LEVEL_BYTES;
            self.free.push(at);
        }
    }

    /// Closes groups with so little traffic, or until the memory suffices.
    fn fold(&mut self, epoch: i64, threshold: i64) {
        for at in 1..self.levels.len() {
            let Some(parent) = self.levels[at].as_ref().and_then(|level| level.parent) else { continue };
            let Some(Some(counter)) = self.counter(parent.0, parent.1) else { continue };
            counter.rates.advance(epoch);
            if counter.rates.averages.iter().all(|average| *average < threshold) {
                self.close(at);
            }
        }
    }

    fn update(
        &mut self,
        epoch: i64,
        address: Ipv4Addr,
        side: usize,
        amount: i64,
        measured: bool,
    ) -> [i64; 2] {
        let bytes = address.octets();
        let (mut level, mut depth) = (0, 0);
        let (counter, byte) = loop {
            let byte = bytes[depth];
            let Some(slot) = self.counter(level, byte) else { return [0; 2] };
            let counter = slot.get_or_insert_default();
            if measured {
                counter.rates.add(epoch, side, amount);
            }
            match counter.inner {
                Some(inner) if depth < 3 => (level, depth) = (inner, depth + 1),
                _ => break (*counter, byte),
            }
        };
        let rates = counter.rates.per_second();
        let busy = rates.iter().any(|rate| *rate >= self.threshold);
        if busy && depth < 3 && counter.closed_until < epoch {
            self.open(level, byte, bytes[depth + 1], counter.rates);
        }
        if epoch - self.folded_epoch >= EPOCHS_PER_S {
            self.fold(epoch, self.threshold);
            self.folded_epoch = epoch;
        }
        rates
    }

    fn measure(&mut self, cx: &mut Cx<'_>, packet: &mut Packet, side: usize) {
        let measured = cx.rng().u32(..) & 0xffff <= self.ratio;
        let Some(Ok(ip)) = packet.network().map(ipv4::Header::new_checked) else { return };
        let amount = if self.bytes { i64::from(ip.total_len()) } else { 1 };
        let address = if side == 0 { ip.src() } else { ip.dst() };
        let rates = self.update(cx.now_ns() / NS_PER_EPOCH, address, side, amount, measured);
        if self.annotate {
            packet.set_anno(Anno::FWD_RATE, rates[0] as u64);
            packet.set_anno(Anno::REV_RATE, rates[1] as u64);
        }
    }

    fn print(&mut self, epoch: i64, level: usize, prefix: &str, text: &mut String) {
        for byte in 0..=255 {
            let Some(Some(counter)) = self.counter(level, byte) else { continue };
            if counter.rates.averages == [0; 2] {
                continue;
            }
            counter.rates.advance(epoch);
            let (rates, inner) = (counter.rates, counter.inner);
            let name = if prefix.is_empty() { byte.to_string() } else { format!("{prefix}.{byte}") };
            *text += &format!("{name}\t{}\t{}\n", rates.text(0), rates.text(1));
            if let Some(inner) = inner {
                self.print(epoch, inner, &format!("\t{name}"), text); // four levels at most
            }
        }
    }

    /// Keeps a group closed.
    fn keep_closed(&mut self, address: Ipv4Addr, level: usize, until: i64) {
        let mut at = 0;
        for (depth, byte) in address.octets().into_iter().enumerate() {
            let Some(Some(counter)) = self.counter(at, byte) else { return };
            let inner = counter.inner;
            if depth == level {
                counter.closed_until = until;
                return inner.into_iter().for_each(|inner| self.close(inner));
            }
            let Some(inner) = inner else { return };
            at = inner;
        }
    }

    fn write_level(&mut self, cx: &Cx<'_>, text: &str) -> Result<(), String> {
        let mut words = lang::conf::split_args(text);
        if words.len() == 1 {
            words = lang::conf::split_spaces(text);
        }
        let [address, level, seconds] = &words[..] else { return Err("expecting 3 arguments".to_owned()) };
        let address = router::value(cx, address).map_err(|_| "not an IP address")?;
        let level = router::value::<usize>(cx, level).ok().filter(|level| *level < 4);
        let level = level.ok_or("2nd argument specifies a level, between 0 and 3, to annotate")?;
        let seconds = router::value::<u32>(cx, seconds).ok().filter(|seconds| *seconds > 0);
        let seconds = seconds.ok_or("3rd argument specifies when this rule expires, must be > 0")?;
        self.keep_closed(address, level, cx.now_ns() / NS_PER_EPOCH + i64::from(seconds) * EPOCHS_PER_S);
        Ok(())
    }
}

impl Element for IpRateMonitor {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.reset_epoch = cx.now_ns() / NS_PER_EPOCH;
        self.folded_epoch = self.reset_epoch;
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) {
        batch.iter_mut().for_each(|packet| self.measure(cx, packet, port));
        cx.emit(port, batch);
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, port: usize, want: usize) -> Pull {
        Pull::Ask { input: port.min(self.inputs - 1), want }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) -> Pull {
        batch.iter_mut().for_each(|packet| self.measure(cx, packet, port));
        Pull::Give(batch)
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Handover {
            bytes: self.bytes,
            levels: std::mem::take(&mut self.levels),
            free: std::mem::take(&mut self.free),
            used: self.used,
            epochs: (self.reset_epoch, self.folded_epoch),
        }))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(state) = state.downcast::<Handover>() else { return };
        if state.bytes == self.bytes {
            (self.levels, self.free, self.used) = (state.levels, state.free, state.used);
            (self.reset_epoch, self.folded_epoch) = state.epochs;
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type M = IpRateMonitor;
        h.read("thresh", |e: &mut M, _| e.threshold);
        h.read("mem", |e: &mut M, _| e.used);
        h.read("memmax", |e: &mut M, _| if e.memory_max == DEFAULT_MEMORY { 0 } else { e.memory_max });
        h.write("memmax", |e: &mut M, cx, text| {
            e.memory_max = memory(router::value(cx, text).map_err(|_| "not an integer")?);
            let epoch = cx.now_ns() / NS_PER_EPOCH;
            let mut threshold = e.threshold.max(1);
            while e.used > e.memory_max {
                e.fold(epoch, threshold);
                threshold = threshold.saturating_mul(2);
            }
            Ok(())
        });
        h.read("look", |e: &mut M, cx| {
            let epoch = cx.now_ns() / NS_PER_EPOCH;
            let mut text = format!("{}\n", epoch - e.reset_epoch);
            e.print(epoch, 0, "", &mut text);
            text
        });
        h.write("anno_level", |e: &mut M, cx, text| e.write_level(cx, text));
        h.write("reset", |e: &mut M, cx, _| {
            e.reset(cx.now_ns() / NS_PER_EPOCH);
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build, errors};
    use router::Call;

    /// A busy group is looked into down to the address, a quiet one is not; what is forgotten gives its memory back.
    #[test]
    fn looks_into_busy_groups() {
        let source = |rate: u32, src: &str, dst: &str| {
            format!(
                "FastUDPSource({rate}, 100000, 60, 0:0:0:0:0:1, {src}, 1, 0:0:0:0:0:2, {dst}, 2) -> MarkIPHeader(14)"
            )
        };
        let config = format!(
            "{} -> [0] m :: IPRateMonitor(PACKETS, 1, 500); m[0] -> Discard; {} -> [1] m; m[1] -> Discard;
             RatedSource(RATE 1, LIMIT 4, STOP true) -> Discard",
            source(1000, "18.26.4.9", "1.0.0.1"),
            source(100, "3.0.0.1", "20.0.0.1")
        );
        let mut router = build(&config, 1, 32).unwrap();
        router.run();
        let mut call = |call: Call| router.call(call);
        let look = call(Call::read("m.look", "")).unwrap();
        let lines: Vec<&str> = look.lines().skip(1).collect();
        let starts = ["18\t", "\t18.26\t", "\t\t18.26.4\t", "\t\t\t18.26.4.9\t", "20\t"];
        assert_eq!(lines.len(), starts.len(), "{look}");
        for (line, start) in lines.iter().zip(starts) {
            assert!(line.starts_with(start), "{look}");
        }
        let rate: f64 = lines[3].split('\t').nth(4).unwrap().parse().unwrap();
        assert!((rate - 1000.0).abs() < 100.0, "{look}");
        let used = call(Call::read("m.mem", "")).unwrap();
        call(Call::write("m.anno_level", "18.0.0.0 0 100")).unwrap();
        let after = call(Call::read("m.mem", "")).unwrap();
        assert_eq!(used.parse::<usize>().unwrap(), 4 * after.parse::<usize>().unwrap());
        assert_eq!(call(Call::read("m.thresh", "")).unwrap(), "500");
        // Click's form, and what is wrong with it.
        for (text, error) in [
            ("18.26.4.0, 2, 100", None),
            ("18.26.4.0, 2", Some("expecting 3 arguments")),
            ("x, 2, 100", Some("not an IP address")),
            ("18.26.4.0, 4, 100", Some("2nd argument specifies a level, between 0 and 3, to annotate")),
            ("18.26.4.0, 2, 0", Some("3rd argument specifies when this rule expires, must be > 0")),
        ] {
            let found = call(Call::write("m.anno_level", text)).err().map(|error| error.message);
            assert_eq!(found.as_deref(), error, "{text}");
        }
        call(Call::write("m.reset", "")).unwrap();
        assert_eq!(call(Call::read("m.look", "")).unwrap(), "0\n");
    }

    #[test]
    fn arguments_are_checked() {
        assert!(errors("Idle -> IPRateMonitor(FLOWS, 1, 1) -> Discard").contains("\"PACKETS\" or \"BYTES\""));
        assert!(errors("Idle -> IPRateMonitor(BYTES, 2, 1) -> Discard").contains("between 0 and 1"));
    }
}
