//! Hosts at nodes that run: one sends packets that say when they were sent and which of their flow they are, another says what came of them.
//! `bench/rb4.sh` starts them in the hosts' namespaces.

use super::rb4::packets::{self, Coming};
use crate::devices::sizes;
use cluster::sim::measure::OrderCheck;
use device::packet_socket::{Options, PacketRx, PacketTx};
use fastrand::Rng;
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use std::time::{Duration, Instant};

/// Frames of a batch.
const BATCH: usize = 64;
/// Flows of a host.
const FLOWS: u32 = 256;
/// Behind the time, which of its flow a packet is.
const PLACE: usize = packets::NUMBER + 8;
/// Where frames have the source port, which tells flows apart.
const FLOW: usize = 34;

/// What a host does.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Send by this interface.
    #[arg(long)]
    send: Option<String>,
    /// Receive at this interface.
    #[arg(long, required_unless_present = "send", conflicts_with = "send")]
    receive: Option<String>,
    /// The number of the host.
    #[arg(long, default_value_t = 0)]
    host: usize,
    /// The number of the host that it sends to.
    #[arg(long, default_value_t = 2)]
    to: usize,
    /// Packets a second.
    #[arg(long, default_value_t = 1_000.0)]
    rate: f64,
    /// For how long.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Bytes of a packet, with the four that hardware adds, or 'imix'.
    #[arg(long, default_value = "64")]
    size: String,
}

/// Is a host.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    match (&arguments.send, &arguments.receive) {
        (Some(interface), _) => send(arguments, interface),
        (None, Some(interface)) => receive(arguments, interface),
        (None, None) => Err("a host sends or receives".to_owned()),
    }
}

fn time_ns() -> u64 {
    let now = clock_gettime(ClockId::Realtime);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Sends evenly, and prints how many packets in how many nanoseconds.
fn send(arguments: &Arguments, interface: &str) -> Result<(), String> {
    let mut tx = PacketTx::open(interface, false).map_err(|trouble| trouble.to_string())?;
    let sizes = sizes(&arguments.size)?;
    let (mut frames, mut places) = (vec![Vec::new(); BATCH], vec![0u16; FLOWS as usize]);
    let (mut rng, begin, mut packets) = (Rng::with_seed(1), Instant::now(), 0u64);
    while begin.elapsed().as_secs_f64() < arguments.seconds {
        let due = (begin.elapsed().as_secs_f64() * arguments.rate) as u64;
        let some = due.saturating_sub(packets).min(BATCH as u64) as usize;
        if some == 0 {
            std::thread::sleep(Duration::from_micros(20));
            continue;
        }
        for (at, frame) in frames[..some].iter_mut().enumerate() {
            let (flow, size) = (rng.u32(..FLOWS), sizes[(packets as usize + at) % sizes.len()]);
            let packet = Coming { at_ns: 0, flow, to: arguments.to, size };
            packets::make(frame, time_ns(), arguments.host, &packet);
            frame[..6].copy_from_slice(&[2, 0, 0, 0, arguments.host as u8, 1]);
            let place = &mut places[flow as usize];
            *place = place.wrapping_add(1);
            frame[PLACE..PLACE + 2].copy_from_slice(&place.to_be_bytes());
        }
        let sent = tx.send(frames[..some].iter().map(Vec::as_slice));
        // The kernel drops the frame that it refuses. Those behind it are made anew, as if those had been lost that it did not take: nothing
        // is out of order for that.
        packets += sent.count as u64 + u64::from(sent.error.is_some());
    }
    println!("{}", json!({ "packets": packets, "ns": begin.elapsed().as_nanos() as u64 }));
    Ok(())
}

/// Receives, and prints how many packets came, how long they had taken, and how many were out of order.
fn receive(arguments: &Arguments, interface: &str) -> Result<(), String> {
    let options = Options {
        promiscuous: false,
        outbound: false,
        snaplen: Some(128),
        wait_ms: 0,
        queue: None,
        control: false,
        segments: false,
    };
    let mut rx = PacketRx::open(interface, &options, None, true).map_err(|trouble| trouble.to_string())?;
    let (mut order, mut times, begin) = (OrderCheck::new(100_000_000), Vec::new(), Instant::now());
    // Flows have to be known before packets of them can be looked at.
    (0..FLOWS).for_each(|flow| _ = order.comes(flow));
    while begin.elapsed().as_secs_f64() < arguments.seconds {
        let got = rx.receive_each(1 << 12, |frame| {
            let Some(sent_ns) = packets::number(frame.data) else { return };
            let Some(&[f1, f0]) = frame.data[FLOW..].first_chunk() else { return };
            let Some(place) = frame.data.get(PLACE..).and_then(|rest| rest.first_chunk()) else { return };
            let flow = u32::from(u16::from_be_bytes([f1, f0]));
            let now_ns = frame.time_ns.max(0) as u64;
            times.push(now_ns.saturating_sub(sent_ns as u64));
            order.leaves(now_ns, flow, u16::from_be_bytes(*place));
        });
        if got == 0 {
            std::thread::sleep(Duration::from_micros(200));
        }
    }
    times.sort_unstable();
    let us = |share: f64| {
        let at = (times.len() as f64 * share) as usize;
        times.get(at).or(times.last()).map_or(0.0, |ns| *ns as f64 / 1e3)
    };
    let found = order.found;
    println!(
        "{}",
        json!({ "packets": times.len(), "reordered": found.sequences, "percent": found.percent(), "late": found.late,
            "p50_us": us(0.5), "p90_us": us(0.9), "p99_us": us(0.99), "max_us": us(1.0) })
    );
    Ok(())
}
