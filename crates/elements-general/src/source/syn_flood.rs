//! Generates TCP packets that each open a new connection.
//!
//! ```click
//! SYNFlood(SRCIP, DSTIP [, SPORT, DPORT, KEYWORDS])
//! ```
//!
//! Generates TCP packets with the SYN flag, with 14 zero bytes before the IP header to leave room for an Ethernet
//! header. Each packet has the next higher source port; after the last port comes the next source address, with ports
//! from 1 on. Sequence numbers are random. The IP and TCP checksums are 0: SetIPChecksum and SetTCPChecksum set them.
//! It is FastClick's element; SynFlood is another name for it.
//!
//! Ports: no inputs, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `SRCIP`, `DSTIP` (IP addresses): the first source, and the destination.
//! - `SPORT` (integer, default 1): the first source port. `DPORT` (integer, default 80): the destination port.
//! - `LIMIT` (integer, default -1): packets to make; on a push output the last burst is always a complete one.
//!   Negative means no limit.
//! - `BURST` (integer, default 32): packets pushed per scheduling, at most 4,096.
//! - `LEN` (integer, default 60): bytes of each packet, at least 60.
//! - `STOP` (boolean, default true): whether to stop the driver after LIMIT packets.
//! - `ACTIVE` (boolean, default true): whether to generate packets.
//!
//! # Handlers
//! - `active` (read, write): the argument.
//! - `stop` (write, button): deactivates the element and stops the driver.
//!
//! # Example
//! ```click
//! SYNFlood(10.1.1.1, 172.16.1.1, LIMIT 1000) -> MarkIPHeader(14) -> SetIPChecksum -> SetTCPChecksum -> Discard
//! ```
//!
//! # See also
//! FastTCPFlows, FastUDPFlows

use super::burst::AT_ONCE;
use packet::{BATCH_MAX, Batch, DEFAULT_HEADROOM, Packet};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Flags, Handlers, Pull, Residency};
use std::net::Ipv4Addr;
use wire::ethernet::HEADER_LEN as LINK_LEN;
use wire::tcp::{self, flag};
use wire::{ip_proto, ipv4};

/// The class.
pub(crate) const CLASS: Class = Class::new("SYNFlood", create)
    .ports("0/1")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .makes("packets")
    .doc(router::manual!("syn_flood.rs"));

const LEAST_LEN: u32 = 60;
const MOST_LEN: u32 = 65_535;
const TTL: u8 = 250;

struct SynFlood {
    source: Ipv4Addr,
    destination: Ipv4Addr,
    source_port: u16,
    destination_port: u16,
    len: usize,
    burst: usize,
    /// Packets that are still to be made; none: no end.
    left: Option<u64>,
    stop: bool,
    active: bool,
    push: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut source, mut destination) = (Ipv4Addr::UNSPECIFIED, Ipv4Addr::UNSPECIFIED);
    let (mut source_port, mut destination_port) = (1u16, 80u16);
    let (mut limit, mut burst, mut len, mut stop, mut active) = (-1i64, 32u32, LEAST_LEN, true, true);
    config
        .args()
        .required("SRCIP", &mut source)
        .required("DSTIP", &mut destination)
        .positional("SPORT", &mut source_port)
        .positional("DPORT", &mut destination_port)
        .keyword("STOP", &mut stop)
        .keyword("ACTIVE", &mut active)
        .keyword("BURST", &mut burst)
        .keyword("LIMIT", &mut limit)
        .keyword("LEN", &mut len)
        .finish()?;
    if len > MOST_LEN {
        return Err(format!("LEN must be at most {MOST_LEN}").into());
    }
    if len < LEAST_LEN {
        config.warn(format!("packet length < {LEAST_LEN}, defaulting to {LEAST_LEN}"));
    }
    Ok(Box::new(SynFlood {
        source,
        destination,
        source_port,
        destination_port,
        len: len.max(LEAST_LEN) as usize,
        burst: burst.max(1) as usize,
        left: u64::try_from(limit).ok(),
        stop,
        active,
        push: config.output_is_push(0),
    }))
}

impl SynFlood {
    fn write(&self, cx: &mut Cx<'_>, bytes: &mut [u8]) -> Result<(), wire::Error> {
        bytes.fill(0);
        let (header, segment) = bytes[LINK_LEN..].split_at_mut(ipv4::HEADER_LEN);
        header[0] = 0x45; // version and length, without which there is no header
        let mut ip = ipv4::Header::new_checked_mut(header)?;
        ip.set_total_len((self.len - LINK_LEN) as u16);
        ip.set_ttl(TTL);
        ip.set_protocol(ip_proto::TCP);
        ip.set_src(self.source);
        ip.set_dst(self.destination);
        let mut tcp = tcp::Header::new_checked_mut(segment)?;
        tcp.set_header_len(tcp::HEADER_LEN);
        tcp.set_src_port(self.source_port);
        tcp.set_dst_port(self.destination_port);
        tcp.set_sequence(cx.rng().u32(..));
        tcp.set_acknowledgement(cx.rng().u32(..));
        tcp.set_flags(flag::SYN);
        tcp.set_window(u16::MAX);
        Ok(())
    }

    fn make_one(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        let mut packet = cx.pool().alloc(DEFAULT_HEADROOM, self.len)?;
        self.write(cx, packet.data_mut()).ok()?;
        self.source_port = self.source_port.wrapping_add(1);
        if self.source_port == 0 {
            self.source_port = 1;
            self.source = Ipv4Addr::from_bits(self.source.to_bits().wrapping_add(1));
        }
        self.left = self.left.map(|left| left.saturating_sub(1));
        Some(packet)
    }

    fn make(&mut self, cx: &mut Cx<'_>, n: usize) -> Batch {
        let mut batch = cx.batch();
        for _ in 0..n.min(BATCH_MAX) {
            match self.make_one(cx) {
                Some(packet) => batch.push(packet),
                None => break,
            }
        }
        batch
    }

    fn wake(&mut self, cx: &mut Cx<'_>) {
        if self.push { cx.tasks().schedule() } else { cx.signals().set(self.active) }
    }
}

impl Element for SynFlood {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if !self.push {
            cx.signals().provide();
        } else if self.active {
            cx.tasks().schedule();
        }
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if !self.active {
            return;
        }
        if self.left == Some(0) {
            if self.stop {
                cx.info().please_end();
            }
            return;
        }
        let mut rest = self.burst.min(AT_ONCE);
        while rest > 0 {
            let batch = self.make(cx, rest.min(cx.vector()));
            rest = if batch.is_empty() { 0 } else { rest - batch.len() };
            cx.emit(0, batch);
        }
        cx.tasks().schedule();
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        let left = self.left.map_or(want, |left| usize::try_from(left).unwrap_or(usize::MAX).min(want));
        if !self.active || left == 0 {
            if self.active && self.stop && cx.signals().is_active() {
                cx.info().please_end();
            }
            cx.signals().set(false);
            return Pull::Nothing;
        }
        Pull::Give(self.make(cx, left))
    }

    fn handlers(&self, h: &mut Handlers) {
        type S = SynFlood;
        h.read("active", |e: &mut S, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut S, cx, text| {
            e.active = router::value(cx, text)?;
            e.wake(cx);
            Ok(())
        });
        h.write("stop", |e: &mut S, cx, _| {
            e.active = false;
            cx.info().please_stop();
            Ok(())
        })
        .as_button();
    }
}
