//! Counts packets or bytes of each aggregate.
//!
//! ```click
//! AggregateCounter([KEYWORDS])
//! ```
//!
//! Each packet is counted under the number in its aggregate annotation. Once frozen, the element counts only
//! aggregates that it has seen before. A second input is always frozen. With two outputs and a push input, packets
//! that were not counted leave by output 1.
//!
//! Ports: 1 or 2 inputs, 1 or 2 outputs. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `BYTES` (boolean, default false): whether to count bytes instead of packets.
//! - `IP_BYTES` (boolean, default false): whether to count bytes from the IP header on, if one is marked.
//! - `MULTIPACKET` (boolean, default true): whether to count also the packets in the extra-packets annotation.
//! - `EXTRA_LENGTH` (boolean, default true): whether to count the bytes in the extra-length annotation too.
//! - `AGGREGATE_FREEZE`, `AGGREGATE_STOP` (integer), `AGGREGATE_CALL` (`N HANDLER [VALUE]`): freezes, stops the
//!   driver, or calls the handler when more than N aggregates would be counted. Give at most one of them.
//! - `COUNT_FREEZE`, `COUNT_STOP` (integer), `COUNT_CALL` (`N HANDLER [VALUE]`): the same when the sum of all counts
//!   reaches N. `FREEZE_AFTER_AGG`, `STOP_AFTER_COUNT` and so on are older names of these six.
//! - `BANNER` (string): a header for the files written.
//! - `CAPACITY` (integer, default 4194304): the maximum number of aggregates; beyond it the element counts as if it
//!   were frozen. Click has no limit.
//!
//! # Handlers
//! - `write_text_file`, `write_ascii_file` (write, file name): writes a file, `-` for standard output, with lines of
//!   an aggregate and its count, in order of aggregates. `write_ip_file` writes aggregates as IP addresses,
//!   `write_pdf_file` each count's share of the total. `write_file` writes pairs of little-endian 32-bit numbers.
//! - `count`, `nagg` (read): the sum of all counts, and the number of aggregates.
//! - `freeze`, `active` (read, write): whether it is frozen, and whether it counts at all.
//! - `stop` (write, button): deactivates the element and stops the driver.
//! - `clear` (write, button): forgets everything.
//! - `reaggregate_counts`, `counts_pdf` (write, button): replaces the data by a distribution of counts: each count
//!   becomes an aggregate, and its count is the number of aggregates that had it.
//! - `banner` (read, write), `aggregate_call`, `count_call` (read, write): the arguments.
//!
//! # Example
//! ```click
//! FromIPSummaryDump(-, STOP true) -> AggregateIP(ip dst) -> c :: AggregateCounter -> Discard;
//! DriverManager(pause, write c.write_text_file -)
//! ```
//!
//! # See also
//! AggregateIP, AggregateIPFlows, FromIPSummaryDump

use super::amount::Amount;
use super::by_aggregate::ByAggregate;
use elements_shared::sprintf::general;
use packet::{Anno, Batch, Packet};
use router::{
    Answer, Call, CallArg, Class, Config, ConfigError, Cx, Element, FileName, Flags, FromArg, Handlers, Pull,
    Raw, Residency, Scope, Step,
};
use std::any::Any;
use std::io::{self, Write};

/// The class.
pub(crate) const CLASS: Class = Class::new("AggregateCounter", create)
    .ports("1-2/1-2")
    .residency(Residency::Exclusive)
    .keeps("aggregates", "CAPACITY", 4_194_304, 48)
    .doc(router::manual!("aggregate_counter.rs"));

/// What happens when a limit is reached.
#[derive(Clone, Debug)]
enum Action {
    Freeze,
    Stop,
    Call(Call),
}

/// A limit, and what happens then.
#[derive(Clone, Debug)]
struct Limit {
    at: u64,
    action: Action,
}

/// `N HANDLER [VALUE]`.
impl FromArg for Limit {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let mut rest = text.trim();
        let at = u64::from_arg(lang::conf::pop_space(&mut rest), scope)?;
        Ok(Limit { at, action: Action::Call(CallArg::from_arg(rest, scope)?.0) })
    }
}

impl Limit {
    /// What a handler of the element `name` says of a limit.
    fn text(limit: &Option<Limit>, name: &str) -> String {
        match limit {
            Some(Limit { at, action: Action::Call(call) }) if call.argument.is_empty() => {
                format!("{at} {}", call.path)
            }
            Some(Limit { at, action: Action::Call(call) }) => format!("{at} {} {}", call.path, call.argument),
            Some(Limit { at, action: Action::Freeze }) => format!("{at} {name}.freeze true"),
            Some(Limit { at, action: Action::Stop }) => format!("{at} {name}.stop"),
            None => String::new(),
        }
    }
}

/// How a file is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Binary,
    Ip,
    Share,
}

struct AggregateCounter {
    counts: ByAggregate<u64>,
    total: u64,
    capacity: usize,
    amount: Amount,
    frozen: bool,
    active: bool,
    banner: String,
    aggregate_limit: Option<Limit>,
    count_limit: Option<Limit>,
    inputs: usize,
    outputs: usize,
}

/// Arguments of one kind of limit.
#[derive(Default)]
struct LimitArgs {
    freeze: Option<u64>,
    stop: Option<u64>,
    call: Option<Raw>,
}

impl LimitArgs {
    /// The call, whose first word is a number of what is `counted`.
    fn call(&self, kind: &str, counted: &str, scope: Scope<'_>) -> Result<Option<Limit>, ConfigError> {
        let Some(Raw(text)) = &self.call else { return Ok(None) };
        let mut rest = text.trim();
        if u64::from_arg(lang::conf::pop_space(&mut rest), scope).is_err() {
            return Err(format!("{kind}_CALL first word should be unsigned ({counted})").into());
        }
        let limit = Limit::from_arg(text, scope);
        Ok(Some(limit.map_err(|error| format!("{kind}_CALL: {error}"))?))
    }

    fn limit(self, kind: &str, counted: &str, scope: Scope<'_>) -> Result<Option<Limit>, ConfigError> {
        let call = self.call(kind, counted, scope)?;
        let freeze = self.freeze.map(|at| Limit { at, action: Action::Freeze });
        let stop = self.stop.map(|at| Limit { at, action: Action::Stop });
        let mut given = [freeze, stop, call].into_iter().flatten();
        match (given.next(), given.next()) {
            (_, Some(_)) => {
                Err(format!("'{kind}_FREEZE', '{kind}_STOP', and '{kind}_CALL' are mutually exclusive")
                    .into())
            }
            (limit, None) => Ok(limit),
        }
    }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut aggregates, mut counts) = (LimitArgs::default(), LimitArgs::default());
    let (mut old_aggregates, mut old_counts) = (LimitArgs::default(), LimitArgs::default());
    let mut e = AggregateCounter {
        counts: ByAggregate::default(),
        total: 0,
        capacity: 1 << 22,
        amount: Amount::default(),
        frozen: false,
        active: true,
        banner: String::new(),
        aggregate_limit: None,
        count_limit: None,
        inputs: config.inputs(),
        outputs: config.outputs(),
    };
    config
        .args()
        .keyword("BYTES", &mut e.amount.bytes)
        .keyword("IP_BYTES", &mut e.amount.ip_bytes)
        .keyword("MULTIPACKET", &mut e.amount.multipacket)
        .keyword("EXTRA_LENGTH", &mut e.amount.extra_length)
        .keyword("AGGREGATE_FREEZE", &mut aggregates.freeze)
        .keyword("AGGREGATE_STOP", &mut aggregates.stop)
        .keyword("AGGREGATE_CALL", &mut aggregates.call)
        .keyword("COUNT_FREEZE", &mut counts.freeze)
        .keyword("COUNT_STOP", &mut counts.stop)
        .keyword("COUNT_CALL", &mut counts.call)
        .keyword("FREEZE_AFTER_AGG", &mut old_aggregates.freeze)
        .keyword("STOP_AFTER_AGG", &mut old_aggregates.stop)
        .keyword("CALL_AFTER_AGG", &mut old_aggregates.call)
        .keyword("FREEZE_AFTER_COUNT", &mut old_counts.freeze)
        .keyword("STOP_AFTER_COUNT", &mut old_counts.stop)
        .keyword("CALL_AFTER_COUNT", &mut old_counts.call)
        .keyword("BANNER", &mut e.banner)
        .keyword("CAPACITY", &mut e.capacity)
        .finish()?;
    let of_aggregates = |args: LimitArgs| args.limit("AGGREGATE", "number of aggregates", config.scope());
    let of_counts = |args: LimitArgs| args.limit("COUNT", "count", config.scope());
    e.aggregate_limit = of_aggregates(aggregates)?.or(of_aggregates(old_aggregates)?);
    e.count_limit = of_counts(counts)?.or(of_counts(old_counts)?);
    Ok(Box::new(e))
}

/// What comes of counting a packet.
enum Counted {
    Yes,
    No,
    /// A call comes first, then the packet is to be counted again.
    Before(Call),
    /// It was counted, and a call comes before the packet goes on.
    After(Call),
}

/// Packets that wait until a call has been made.
struct Waiting {
    call: Call,
    /// The input that they came in by.
    port: usize,
    /// Whether the first one is counted.
    first_counted: bool,
    packets: Batch,
    /// Those before them, if the packets were pulled.
    before: Option<Batch>,
}

impl AggregateCounter {
    /// Counts a packet.
    fn count(&mut self, cx: &mut Cx<'_>, packet: &Packet, frozen: bool) -> Counted {
        let aggregate = packet.anno(Anno::AGGREGATE) as u32;
        let amount = self.amount.of(packet);
        loop {
            if !self.active {
                return Counted::No;
            }
            if amount == 0 {
                return Counted::Yes;
            }
            if let Some(count) = self.counts.get_mut(&aggregate) {
                *count += amount;
                break;
            }
            if frozen || self.frozen || self.counts.len() >= self.capacity {
                return Counted::No;
            }
            // One more than wanted: what is done about that may freeze the element, so everything is asked again.
            if self.aggregate_limit.as_ref().is_none_or(|limit| (self.counts.len() as u64) < limit.at) {
                self.counts.insert(aggregate, amount);
                break;
            }
            let limit = self.aggregate_limit.take();
            if let Some(call) = self.reached(cx, limit) {
                return Counted::Before(call);
            }
        }
        self.total += amount;
        if self.count_limit.as_ref().is_some_and(|limit| self.total >= limit.at) {
            let limit = self.count_limit.take();
            if let Some(call) = self.reached(cx, limit) {
                return Counted::After(call);
            }
        }
        Counted::Yes
    }

    /// Does what is to be done at a limit, but for the call of a handler, which is returned.
    #[cold]
    fn reached(&mut self, cx: &mut Cx<'_>, limit: Option<Limit>) -> Option<Call> {
        match limit?.action {
            Action::Freeze => self.frozen = true,
            Action::Stop => self.stop(cx),
            Action::Call(call) => return Some(call),
        }
        None
    }

    /// Counts packets up to one that has to wait for a call. Those before it are put into `done`, or leave by output 1.
    fn count_all(
        &mut self,
        cx: &mut Cx<'_>,
        port: usize,
        mut batch: Batch,
        mut first_counted: bool,
        (done, pulled): (&mut Batch, bool),
    ) -> Option<Waiting> {
        let mut waiting: Option<Waiting> = None;
        batch.drain(|packet| {
            if let Some(waiting) = &mut waiting {
                return waiting.packets.push(packet);
            }
            let counted = if std::mem::take(&mut first_counted) {
                Counted::Yes
            } else {
                self.count(cx, &packet, port == 1)
            };
            let (call, first_counted) = match counted {
                // The order of packets within each output is kept, which is all that larger batches promise.
                Counted::No if self.outputs > 1 && !pulled => return cx.emit_packet(1, packet),
                Counted::Yes | Counted::No => return done.push(packet),
                Counted::Before(call) => (call, false),
                Counted::After(call) => (call, true),
            };
            let mut packets = cx.batch();
            packets.push(packet);
            waiting = Some(Waiting { call, port, first_counted, packets, before: None });
        });
        cx.consume(batch);
        waiting
    }

    fn stop(&mut self, cx: &mut Cx<'_>) {
        self.active = false;
        cx.info().please_stop();
    }

    fn reaggregate(&mut self) {
        let old = std::mem::take(&mut self.counts);
        self.total = old.len() as u64;
        for count in old.into_values() {
            *self.counts.entry(count as u32).or_default() += 1;
        }
    }

    fn write(&self, name: &str, format: Format) -> io::Result<()> {
        if name == "-" {
            return self.write_to(&mut io::stdout().lock(), format);
        }
        let mut file = io::BufWriter::new(device::files::create(name)?);
        self.write_to(&mut file, format)?;
        file.flush()
    }

    fn write_to(&self, to: &mut dyn Write, format: Format) -> io::Result<()> {
        write!(to, "!IPAggregate 1.0\n{}", self.banner)?;
        if !self.banner.is_empty() && !self.banner.ends_with('\n') {
            writeln!(to)?;
        }
        writeln!(to, "!num_nonzero {}", self.counts.len())?;
        match format {
            Format::Binary => to.write_all(b"!packed_le\n")?,
            Format::Ip => to.write_all(b"!ip\n")?,
            Format::Text | Format::Share => {}
        }
        let mut sorted: Vec<(u32, u64)> = self.counts.iter().map(|(&a, &c)| (a, c)).collect();
        sorted.sort_unstable();
        for (aggregate, count) in sorted {
            match format {
                Format::Text => writeln!(to, "{aggregate} {count}")?,
                Format::Ip => writeln!(to, "{} {count}", std::net::Ipv4Addr::from(aggregate))?,
                Format::Share => writeln!(to, "{aggregate} {}", general(count as f64 / self.total as f64))?,
                Format::Binary => {
                    to.write_all(&aggregate.to_le_bytes())?;
                    to.write_all(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes())?;
                }
            }
        }
        to.flush()
    }

    /// Reads what is written to a call handler; nothing cancels the call.
    fn limit(cx: &Cx<'_>, text: &str, name: &str) -> Result<Option<Limit>, String> {
        let text = text.trim();
        let number = text.split_whitespace().next().unwrap_or("");
        if !text.is_empty() && router::value::<u64>(cx, number).is_err() {
            return Err(format!("argument to '{name}' should be 'N HANDLER [VALUE]'"));
        }
        if text.is_empty() { Ok(None) } else { router::value(cx, text).map(Some) }
    }
}

impl Element for AggregateCounter {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        for limit in [&self.aggregate_limit, &self.count_limit].into_iter().flatten() {
            if let Action::Call(call) = &limit.action {
                call.check_by(cx)?;
            }
        }
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        let mut done = cx.batch();
        let waiting = self.count_all(cx, port, batch, false, (&mut done, false));
        cx.emit(0, done);
        if let Some(waiting) = waiting {
            cx.handlers().start(Box::new(waiting));
        }
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, port: usize, want: usize) -> Pull {
        Pull::Ask { input: port.min(self.inputs - 1), want }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) -> Pull {
        let mut done = cx.batch();
        match self.count_all(cx, port, batch, false, (&mut done, true)) {
            None => Pull::Give(done),
            Some(waiting) => {
                cx.handlers().start(Box::new(Waiting { before: Some(done), ..waiting }));
                Pull::Later
            }
        }
    }

    fn resume(&mut self, cx: &mut Cx<'_>, state: &mut Box<dyn Any + Send>, answer: Answer) -> Step {
        let Some(waiting) = state.downcast_mut::<Waiting>() else { return Step::Done(Ok(String::new())) };
        if let Answer::Start = answer {
            return Step::Call(waiting.call.clone());
        }
        let packets = std::mem::take(&mut waiting.packets);
        let (before, port, first_counted) = (waiting.before.take(), waiting.port, waiting.first_counted);
        let pulled = before.is_some();
        let mut done = before.unwrap_or_else(|| cx.batch());
        let next = self.count_all(cx, port, packets, first_counted, (&mut done, pulled));
        match (next, pulled) {
            (Some(next), true) => cx.handlers().start(Box::new(Waiting { before: Some(done), ..next })),
            (None, true) => cx.answer(done),
            (next, false) => {
                cx.emit(0, done);
                if let Some(next) = next {
                    cx.handlers().start(Box::new(next));
                }
            }
        }
        Step::Done(Ok(String::new()))
    }

    fn handlers(&self, h: &mut Handlers) {
        type C = AggregateCounter;
        for (name, format) in [
            ("write_text_file", Format::Text),
            ("write_ascii_file", Format::Text),
            ("write_file", Format::Binary),
            ("write_ip_file", Format::Ip),
            ("write_pdf_file", Format::Share),
        ] {
            h.write(name, move |e: &mut C, cx, text| {
                let name = router::value::<FileName>(cx, text).map_err(|_| "argument should be filename")?;
                e.write(&name.0, format).map_err(|error| format!("{}: {}", name.0, device::plain(&error)))
            });
        }
        h.read("count", |e: &mut C, _| e.total);
        h.read("nagg", |e: &mut C, _| e.counts.len());
        h.read("freeze", |e: &mut C, _| e.frozen);
        h.write("freeze", |e: &mut C, cx, text| {
            e.frozen = router::value(cx, text).map_err(|_| "type mismatch".to_owned())?;
            Ok(())
        });
        h.read("active", |e: &mut C, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut C, cx, text| {
            e.active = router::value(cx, text).map_err(|_| "type mismatch".to_owned())?;
            Ok(())
        });
        h.write("stop", |e: &mut C, cx, _| {
            e.stop(cx);
            Ok(())
        })
        .as_button();
        h.write("clear", |e: &mut C, _, _| {
            e.counts.clear();
            e.total = 0;
            Ok(())
        })
        .as_button();
        for name in ["reaggregate_counts", "counts_pdf"] {
            h.write(name, |e: &mut C, _, _| {
                e.reaggregate();
                Ok(())
            })
            .as_button();
        }
        h.read("banner", |e: &mut C, _| e.banner.clone());
        h.write("banner", |e: &mut C, _, text| {
            e.banner = match text {
                "\n" => String::new(),
                _ if text.is_empty() || text.ends_with('\n') => text.to_owned(),
                _ => format!("{text}\n"),
            };
            Ok(())
        });
        h.read("aggregate_call", |e: &mut C, cx| Limit::text(&e.aggregate_limit, cx.name()));
        h.write("aggregate_call", |e: &mut C, cx, text| {
            e.aggregate_limit = AggregateCounter::limit(cx, text, "aggregate_call")?;
            Ok(())
        });
        h.read("count_call", |e: &mut C, cx| Limit::text(&e.count_limit, cx.name()));
        h.write("count_call", |e: &mut C, cx, text| {
            e.count_limit = AggregateCounter::limit(cx, text, "count_call")?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::{Flow, Sent, send};
    use packet::Anno;

    fn sent(aggregates: &[u64]) -> Vec<Sent> {
        let one = |&a: &u64| Sent { annotations: vec![(Anno::AGGREGATE, a)], ..Sent::from(vec![0; 30]) };
        aggregates.iter().map(one).collect()
    }

    /// What a file handler writes.
    fn file(flow: &mut Flow, handler: &str) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        assert_eq!(flow.write(handler, path.to_str().unwrap()), "");
        std::fs::read(path).unwrap()
    }

    /// The order of the file is that of aggregates, whatever the order of packets.
    #[test]
    fn counts_and_files() {
        let config = "Inject -> c :: AggregateCounter(BANNER hello) -> Collect(0)";
        let mut flow = send(config, sent(&[0xc0a8_0001, 7, 7, 0, 7, 0]));
        assert_eq!([flow.read("c.count"), flow.read("c.nagg")], ["6", "3"]);
        let head = "!IPAggregate 1.0\nhello\n!num_nonzero 3\n";
        assert_eq!(
            file(&mut flow, "c.write_text_file"),
            format!("{head}0 2\n7 3\n3232235521 1\n").as_bytes()
        );
        let ip = format!("{head}!ip\n0.0.0.0 2\n0.0.0.7 3\n192.168.0.1 1\n");
        assert_eq!(file(&mut flow, "c.write_ip_file"), ip.as_bytes());
        let share = format!("{head}0 0.333333333333\n7 0.5\n3232235521 0.166666666667\n");
        assert_eq!(file(&mut flow, "c.write_pdf_file"), share.as_bytes());
        let binary = file(&mut flow, "c.write_file");
        assert!(binary.starts_with(format!("{head}!packed_le\n").as_bytes()));
        assert!(binary.ends_with(&[7, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0xa8, 0xc0, 1, 0, 0, 0]));
        assert_eq!(flow.write("c.counts_pdf", ""), "");
        assert_eq!([flow.read("c.count"), flow.read("c.nagg")], ["3", "3"]);
        assert_eq!(flow.write("c.clear", "") + &flow.read("c.nagg"), "0");
    }

    #[test]
    fn bytes_and_annotations() {
        let extra = [(Anno::EXTRA_PACKETS, 4), (Anno::EXTRA_LENGTH, 70)].to_vec();
        let packet = || vec![Sent { annotations: extra.clone(), ..Sent::from(vec![0; 30]) }];
        let count = |keywords: &str| {
            let config =
                format!("Inject -> MarkIPHeader(14) -> c :: AggregateCounter({keywords}) -> Collect(0)");
            send(&config, packet()).read("c.count")
        };
        assert_eq!(count(""), "5");
        assert_eq!(count("MULTIPACKET false"), "1");
        assert_eq!(count("BYTES true"), "100");
        assert_eq!(count("BYTES true, EXTRA_LENGTH false, IP_BYTES true"), "16");
    }

    /// Freezing comes before the aggregate that is one too many; frozen, known ones still count.
    #[test]
    fn limits_freeze_or_stop_the_count() {
        let config = |keywords: &str| {
            format!("Inject -> c :: AggregateCounter({keywords}) -> Collect(0); c[1] -> Collect(1)")
        };
        for keywords in ["AGGREGATE_FREEZE 2", "FREEZE_AFTER_AGG 2", "CAPACITY 2"] {
            let mut flow = send(&config(keywords), sent(&[1, 2, 3, 1, 4]));
            assert_eq!([flow.read("c.count"), flow.read("c.nagg")], ["3", "2"], "{keywords}");
            assert_eq!((flow.data(0).len(), flow.data(1).len()), (3, 2));
        }
        let mut flow = send(&config("COUNT_FREEZE 2"), sent(&[1, 2, 3]));
        assert_eq!([flow.read("c.nagg"), flow.read("c.freeze")], ["2", "true"]);
        let mut flow = send(&config("AGGREGATE_STOP 2"), sent(&[1, 2, 3]));
        assert_eq!([flow.read("c.count"), flow.read("c.active")], ["2", "false"]);
        let mut flow = send(&config("COUNT_STOP 5, AGGREGATE_FREEZE 7"), sent(&[1]));
        assert_eq!(
            [flow.read("c.count_call"), flow.read("c.aggregate_call")],
            ["5 c.stop", "7 c.freeze true"]
        );
        let mut flow = send(&config("COUNT_CALL 9 c.freeze true"), sent(&[1]));
        assert_eq!(flow.read("c.count_call"), "9 c.freeze true");
        assert!(flow.write("c.count_call", "x y").contains("should be 'N HANDLER [VALUE]'"));
        assert_eq!(flow.write("c.count_call", "") + &flow.read("c.count_call"), "");
        let text = errors("Idle -> AggregateCounter(COUNT_STOP 1, COUNT_FREEZE 2) -> Discard");
        assert!(text.contains("mutually exclusive"), "{text}");
    }
}
