//! Sends ICMP echo requests and reports the replies.
//!
//! ```click
//! ICMPPingSource(SRC, DST [, KEYWORDS])
//! ```
//!
//! Sends an echo request every INTERVAL; on a pull output, one per pull. Replies that arrive at the input, marked as
//! IP packets and with timestamps, are counted and reported as ping(8) does. `ICMPSendPings` is an older name of this
//! class.
//!
//! Ports: at most 1 input, 1 output. Processing: input push, output agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `SRC`, `DST` (IP addresses): the addresses of the requests.
//! - `INTERVAL` (time span, default 1): time between requests.
//! - `IDENTIFIER` (integer, default 0): the ICMP identifier, in host byte order, as in Click on Linux.
//! - `DATA` (string): what follows the ICMP header.
//! - `LIMIT` (integer, default -1): requests to send; negative means no limit.
//! - `ACTIVE` (boolean, default true): whether requests are sent.
//! - `VERBOSE` (boolean, default true): whether to report replies and, at the end, a summary.
//! - `STOP` (boolean, default false): whether to stop the driver, an interval after the last request.
//! - `MIRROR` (boolean, default false): whether to answer each reply with another request, without limit; not on a
//!   pull output.
//!
//! # Handlers
//! - `count` (read): requests sent. `reset_counts` (write, button): starts again.
//! - `active`, `src`, `dst` (read, write), `limit`, `interval` (write): the arguments.
//! - `summary` (read): requests, replies, losses and round-trip times, as ping(8) prints them; only if the input is
//!   connected.
//! - `rtt_min`, `rtt_avg`, `rtt_max` (read): round-trip times; only if the input is connected.
//!
//! # Example
//! ```click
//! ping :: ICMPPingSource(10.0.0.1, 10.0.0.2, LIMIT 5, STOP true) -> ToHost;
//! FromHost(tap0, 10.0.0.1/24) -> Strip(14) -> CheckIPHeader -> ping;
//! ```
//!
//! # See also
//! ICMPPingResponder, ICMPPingEncap

use packet::{Batch, Packet};
use router::{
    Activity, Bytes, Class, Config, ConfigError, Cx, Element, Flags, Handlers, Pull, Residency, metric,
};
use std::net::Ipv4Addr;
use std::time::Duration;
use wire::{icmpv4, ip_proto, ipv4};

/// The class.
pub(crate) const CLASS: Class = Class::new("ICMPPingSource", create)
    .ports("0-1/1")
    .processing("h/a")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .makes("requests and replies")
    .absorbs("replies")
    .doc(router::manual!("icmp_ping_source.rs"));
const TTL: u8 = 200;
const DATA_AT: usize = ipv4::HEADER_LEN + icmpv4::HEADER_LEN;

/// What is known about replies.
struct Replies {
    /// When each sequence number was sent; negative once it was answered, 0 if it was not sent.
    sent_ns: Vec<i64>,
    received: i64,
    duplicates: i64,
    least_us: u32,
    most_us: u32,
    sum_us: u64,
    squares: u64,
}

impl Replies {
    fn new() -> Replies {
        Replies {
            sent_ns: vec![0; 1 << 16],
            received: 0,
            duplicates: 0,
            least_us: 0,
            most_us: 0,
            sum_us: 0,
            squares: 0,
        }
    }

    /// Notes a reply; its round-trip time, 0 without a time, or nothing if it answers no request.
    fn take(&mut self, sequence: u16, time_ns: i64) -> Option<u32> {
        let sent = &mut self.sent_ns[usize::from(sequence)];
        if *sent == 0 {
            return None;
        }
        if *sent < 0 {
            self.duplicates += 1;
        }
        let mut round_us = 0;
        if time_ns != 0 {
            round_us = u32::try_from((time_ns - sent.abs()) / 1000).unwrap_or(0);
            let first = self.received == 0;
            self.least_us = if first { round_us } else { self.least_us.min(round_us) };
            self.most_us = self.most_us.max(round_us);
            self.sum_us += u64::from(round_us);
            self.squares = self.squares.saturating_add(u64::from(round_us).pow(2));
        }
        self.received += 1;
        *sent = -sent.abs();
        Some(round_us)
    }

    fn average_us(&self) -> u64 {
        self.sum_us / u64::try_from(self.received).unwrap_or(0).max(1)
    }

    fn summary(&self, count: i64) -> String {
        let Replies { received, duplicates, .. } = *self;
        let mut text = format!("{count} packets transmitted, {} received", received - duplicates);
        if duplicates > 0 {
            text += &format!(", +{duplicates} duplicates");
        }
        if count > 0 {
            text += &format!(", {}% packet loss\n", (count - received - duplicates) * 100 / count);
        }
        if received > 0 {
            let average = self.average_us();
            let spread = (self.squares / received as u64).saturating_sub(average * average).isqrt();
            let times = [u64::from(self.least_us), average, u64::from(self.most_us), spread];
            let times = times.map(|us| format!("{}.{:03}", us / 1000, us % 1000)).join("/");
            text += &format!("rtt min/avg/max/mdev = {times}\n");
        }
        text
    }
}

/// Microseconds as Click prints them: with their unit below a millisecond, else in seconds.
fn time_text(us: u64) -> String {
    if (1..1000).contains(&us) {
        return format!("{us}us");
    }
    let text = format!("{}.{:06}", us / 1_000_000, us % 1_000_000);
    format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
}

struct IcmpPingSource {
    src: Ipv4Addr,
    dst: Ipv4Addr,
    interval: Duration,
    identifier: u16,
    /// The packet; headers are filled in for each request.
    frame: Vec<u8>,
    /// Room for another.
    spare: Vec<u8>,
    limit: i64,
    active: bool,
    verbose: bool,
    stop: bool,
    mirror: bool,
    replies: Option<Replies>,
    push: bool,
    count: i64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut data = Bytes(Vec::new());
    let (mut interval, mut limit) = (None::<Duration>, -1i32);
    let mut e = IcmpPingSource {
        src: Ipv4Addr::UNSPECIFIED,
        dst: Ipv4Addr::UNSPECIFIED,
        interval: Duration::from_secs(1),
        identifier: 0,
        frame: Vec::new(),
        spare: Vec::new(),
        limit: -1,
        active: true,
        verbose: true,
        stop: false,
        mirror: false,
        replies: (config.inputs() > 0).then(Replies::new),
        push: config.output_is_push(0),
        count: 0,
    };
    config
        .args()
        .required("SRC", &mut e.src)
        .required("DST", &mut e.dst)
        .keyword("INTERVAL", &mut interval)
        .keyword("IDENTIFIER", &mut e.identifier)
        .keyword("DATA", &mut data)
        .keyword("LIMIT", &mut limit)
        .keyword("ACTIVE", &mut e.active)
        .keyword("VERBOSE", &mut e.verbose)
        .keyword("STOP", &mut e.stop)
        .keyword("MIRROR", &mut e.mirror)
        .finish()?;
    if e.mirror && !e.push {
        return Err("MIRROR invalid on pull element".into());
    }
    if interval.is_some() && !e.push {
        config.warn("element is pull, INTERVAL parameter will be ignored");
    }
    e.interval = interval.unwrap_or(e.interval);
    if e.interval < Duration::from_millis(1) {
        config.warn("INTERVAL so small that it is zero");
    }
    if data.0.len() > usize::from(u16::MAX) - DATA_AT {
        return Err("DATA: more than an IP packet can have".into());
    }
    e.limit = i64::from(limit);
    e.frame = vec![0; DATA_AT];
    e.frame.extend(data.0);
    Ok(Box::new(e))
}

impl IcmpPingSource {
    fn done(&self) -> bool {
        self.limit >= 0 && self.count >= self.limit
    }

    fn make(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        let id = (self.count % 0xffff) as u16 + 1; // never 0
        let message = &mut self.frame[ipv4::HEADER_LEN..];
        message[..4].copy_from_slice(&[icmpv4::kind::ECHO, 0, 0, 0]);
        message[4..6].copy_from_slice(&self.identifier.to_ne_bytes());
        message[6..8].copy_from_slice(&id.to_be_bytes());
        // The frame was made large enough, so this cannot fail.
        let _ = icmpv4::fill_checksum(message);
        let len = self.frame.len() as u16;
        let mut ip = ipv4::Header::new_checked_mut(&mut self.frame).ok()?;
        ip.set_version_and_header_len(ipv4::HEADER_LEN);
        ip.set_total_len(len);
        ip.set_id(id);
        ip.set_ttl(TTL);
        ip.set_protocol(ip_proto::ICMP);
        ip.set_src(self.src);
        ip.set_dst(self.dst);
        ip.fill_checksum();
        let mut packet = cx.pool().packet(&self.frame)?;
        packet.set_network(0, ipv4::HEADER_LEN);
        packet.set_dst_ip(self.dst);
        packet.set_timestamp_ns(cx.now_ns());
        if let Some(replies) = &mut self.replies {
            replies.sent_ns[usize::from(id)] = cx.now_ns();
        }
        self.count += 1;
        Some(packet)
    }

    /// Takes a reply to a request of this element; false if it is something else.
    fn receive(&mut self, cx: &Cx<'_>, packet: &Packet) -> bool {
        let (Some(network), Some(message)) = (packet.network(), packet.transport()) else { return false };
        let Ok(ip) = ipv4::Header::new_checked(network) else { return false };
        let [icmpv4::kind::ECHO_REPLY, _, _, _, id0, id1, seq0, seq1, ..] = *message else { return false };
        if ip.protocol() != ip_proto::ICMP || [id0, id1] != self.identifier.to_ne_bytes() {
            return false;
        }
        let sequence = u16::from_be_bytes([seq0, seq1]);
        let Some(replies) = &mut self.replies else { return true };
        let Some(us) = replies.take(sequence, packet.timestamp_ns()) else { return true };
        if self.verbose {
            let bytes = usize::from(ip.total_len()).saturating_sub(ip.header_len() + icmpv4::HEADER_LEN);
            cx.print(&format!(
                "{} :: ICMPPingSource: {bytes} bytes from {}: icmp_seq={sequence} ttl={} time={}.{:03} ms",
                cx.name(),
                ip.src(),
                ip.ttl(),
                us / 1000,
                us % 1000
            ));
        }
        true
    }

    /// A further request, as long as a reply and with what followed its header.
    fn answer(&mut self, cx: &mut Cx<'_>, reply: &Packet) {
        let Some(bytes) = reply.network().filter(|bytes| bytes.len() >= DATA_AT) else { return };
        self.spare.clear();
        self.spare.extend(bytes);
        self.spare[..DATA_AT].fill(0);
        std::mem::swap(&mut self.frame, &mut self.spare);
        let packet = self.make(cx);
        std::mem::swap(&mut self.frame, &mut self.spare);
        if let Some(packet) = packet {
            cx.emit_packet(0, packet);
        }
    }

    fn wake(&mut self, cx: &mut Cx<'_>, delay: Duration) {
        if !self.active {
            return;
        }
        match self.push {
            true if !cx.timers().is_set(0) => cx.timers().after(0, delay),
            true => {}
            false => cx.signals().set(true),
        }
    }
}

impl Element for IcmpPingSource {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if !self.push {
            cx.signals().provide();
        } else if self.limit != 0 {
            self.wake(cx, self.interval);
        }
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        if self.done() {
            if self.stop {
                cx.info().please_end();
            }
            return;
        }
        if let Some(packet) = self.make(cx) {
            cx.emit_packet(0, packet);
        }
        cx.timers().after(0, self.interval);
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        for packet in batch.iter() {
            if self.receive(cx, packet) && self.mirror {
                self.answer(cx, packet);
            }
        }
        cx.consume(batch);
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        let mut batch = cx.batch();
        while batch.len() < want.min(packet::BATCH_MAX) && !self.done() {
            let Some(packet) = self.make(cx) else { break };
            batch.push(packet);
        }
        if batch.is_empty() && self.done() && cx.signals().is_active() {
            cx.signals().set(false);
            if self.stop {
                cx.info().please_end();
            }
        }
        Pull::Give(batch)
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        let Some(replies) = self.replies.as_ref().filter(|_| self.verbose) else { return };
        for line in replies.summary(self.count).lines() {
            cx.print(&format!("{} :: ICMPPingSource: {line}", cx.name()));
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type P = IcmpPingSource;
        h.read("count", |e: &mut P, _| e.count).measures(&metric::PACKETS);
        h.read("active", |e: &mut P, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut P, cx, text| {
            e.active = router::value(cx, text).map_err(|_| "type mismatch".to_owned())?;
            e.wake(cx, Duration::ZERO);
            if !e.active {
                cx.timers().cancel(0);
            }
            Ok(())
        });
        h.read("src", |e: &mut P, _| e.src);
        h.write("src", |e: &mut P, cx, text| {
            e.src = router::value(cx, text).map_err(|_| "syntax error".to_owned())?;
            Ok(())
        });
        h.read("dst", |e: &mut P, _| e.dst);
        h.write("dst", |e: &mut P, cx, text| {
            e.dst = router::value(cx, text).map_err(|_| "syntax error".to_owned())?;
            Ok(())
        });
        h.write("limit", |e: &mut P, cx, text| {
            let limit = router::value::<i32>(cx, text).map_err(|_| "'limit' should be integer")?;
            e.limit = i64::from(limit);
            if !e.done() {
                e.wake(cx, e.interval);
            }
            Ok(())
        });
        h.write("interval", |e: &mut P, cx, text| {
            e.interval = router::value(cx, text).map_err(|_| "'interval' should be an interval")?;
            Ok(())
        });
        h.write("reset_counts", |e: &mut P, cx, _| {
            e.count = 0;
            e.replies = e.replies.take().map(|_| Replies::new());
            if !e.done() {
                e.wake(cx, e.interval);
            }
            Ok(())
        })
        .as_button();
        if self.replies.is_none() {
            return;
        }
        type Time = fn(&Replies) -> u64;
        let times: [(&str, Time); 3] = [
            ("rtt_min", |replies| replies.least_us.into()),
            ("rtt_avg", Replies::average_us),
            ("rtt_max", |replies| replies.most_us.into()),
        ];
        for (name, time) in times {
            h.read(name, move |e: &mut P, _| {
                e.replies.as_ref().map(time).map_or_else(String::new, time_text)
            });
        }
        h.read("summary", |e: &mut P, _| {
            e.replies.as_ref().map_or_else(String::new, |replies| replies.summary(e.count))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{Replies, time_text};
    use crate::testing::{run, run_and_read};

    /// The whole packet, a second one after the interval, and the end an interval after the last.
    #[test]
    fn sends_a_request_each_interval() {
        let config = "p :: ICMPPingSource(10.0.0.1, 10.0.0.2, IDENTIFIER 0x0102, DATA xy, INTERVAL 0.5, LIMIT 2, STOP true)
                      -> Print(MAXLENGTH 30, TIMESTAMP true) -> IPPrint(TIMESTAMP false) -> Discard";
        let log = run(config);
        let lines: Vec<_> = log.lines().collect();
        let first =
            "1000000000.500000:   30 | 4500001e 00010000 c801dedb 0a000001 0a000002 08007d84 02010001 7879";
        assert_eq!(lines[..2], [first, "10.0.0.1 > 10.0.0.2: icmp echo (513, 1)"]);
        assert!(lines[2].starts_with("1000000001.000000:   30 | 4500001e 00020000"), "{log}");
    }

    #[test]
    fn pulled_requests_come_as_fast_as_asked_for() {
        let config =
            "p :: ICMPPingSource(10.0.0.1, 10.0.0.2, LIMIT 40, STOP true) -> CheckIPHeader -> d :: Discard";
        assert_eq!(run_and_read(config, &["p.count", "d.count", "p.dst"]), ["40", "40", "10.0.0.2"]);
    }

    #[test]
    fn round_trips() {
        let mut replies = Replies::new();
        replies.sent_ns[1] = 1_000_000;
        replies.sent_ns[2] = 2_000_000;
        assert_eq!(replies.take(3, 5_000_000), None);
        assert_eq!(replies.take(1, 3_000_000), Some(2000));
        assert_eq!(replies.take(2, 6_500_000), Some(4500));
        assert_eq!(
            replies.summary(4),
            "4 packets transmitted, 2 received, 50% packet loss\n\
             rtt min/avg/max/mdev = 2.000/3.250/4.500/1.250\n"
        );
        assert_eq!(replies.take(2, 6_500_000), Some(4500));
        assert!(replies.summary(4).starts_with("4 packets transmitted, 2 received, +1 duplicates"));
        assert_eq!(
            [time_text(0), time_text(700), time_text(4500), time_text(2_000_000)],
            ["0s", "700us", "0.0045s", "2s"]
        );
    }
}
