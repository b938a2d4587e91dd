//! Packets that arrive at a router that runs: copies of them.

use super::stand_ins;
use crate::address::Address;
use crate::observe::{bytes, event, number};
use crate::reply;
use lang::Graph;
use router::Classes;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Bytes of packets that are kept, at most, with what each takes besides.
const BYTES_MAX: usize = 128 << 20;
/// What a packet takes besides its bytes.
const EACH: usize = size_of::<Arrived>() + 16;
/// Bytes of each packet, at least, and what an interface's frames have besides its MTU.
const SNAPLEN: usize = 2_048;
const HEADERS: usize = 64;

/// A place where packets come into the running router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tap {
    /// An output of an element.
    edge: String,
    /// The interface whose packets come from there.
    pub(super) port: String,
}

/// A packet that has arrived.
#[derive(Clone, Debug)]
pub(super) struct Arrived {
    pub(super) at_ns: i64,
    /// Which of the interfaces it came from.
    pub(super) port: usize,
    pub(super) bytes: Vec<u8>,
}

/// What has arrived.
#[derive(Debug, Default)]
pub(super) struct Recording {
    pub(super) ports: Vec<String>,
    /// In the order of time.
    pub(super) packets: Vec<Arrived>,
    /// Packets that the taps lost because this program was too slow.
    pub(super) lost: u64,
    /// Packets that were longer than what a tap keeps, or found no room in memory.
    pub(super) left_out: u64,
}

/// The outputs of a configuration by which packets come from its interfaces.
pub(super) fn taps(graph: &Graph, known: &Classes) -> Vec<Tap> {
    let mut taps = Vec::new();
    for connection in &graph.connections {
        let element = &graph.elements[connection.from.element];
        let class = known.get(&element.class);
        let Some(port) = class.and_then(|class| stand_ins::source(class, &element.config)) else { continue };
        let tap = Tap { edge: format!("{}[{}]", element.name, connection.from.port), port };
        if !taps.contains(&tap) {
            taps.push(tap);
        }
    }
    taps
}

/// Records what comes by some taps for so long.
///
/// # Errors
/// Why that is not possible, or that another configuration has taken the place of the running one meanwhile.
pub(super) fn record(address: &Address, taps: &[Tap], span: Duration) -> Result<Recording, String> {
    let mut recording = Recording::default();
    for tap in taps {
        if !recording.ports.contains(&tap.port) {
            recording.ports.push(tap.port.clone());
        }
    }
    let (room, ports) = (AtomicUsize::new(BYTES_MAX), &recording.ports);
    let parts: Vec<Result<Recording, String>> = std::thread::scope(|scope| {
        let listen = |tap| {
            let room = &room;
            scope.spawn(move || listen(address, tap, ports, span, room))
        };
        let threads: Vec<_> = taps.iter().map(listen).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err("a thread failed".to_owned())))
            .collect()
    });
    for part in parts {
        let part = part?;
        recording.packets.extend(part.packets);
        recording.lost += part.lost;
        recording.left_out += part.left_out;
    }
    recording.packets.sort_by_key(|packet| packet.at_ns);
    Ok(recording)
}

/// Records what comes by one.
fn listen(
    address: &Address,
    tap: &Tap,
    ports: &[String],
    span: Duration,
    room: &AtomicUsize,
) -> Result<Recording, String> {
    let (mut recording, begun) = (Recording::default(), Instant::now());
    let port = ports.iter().position(|port| *port == tap.port).unwrap_or(0);
    let mut client = address.connect()?;
    let snaplen = snaplen(&tap.port);
    reply::fine(client.capture(&tap.edge, 0, span.as_secs().max(1), snaplen, ""))?;
    loop {
        let packet = event(&mut client)?;
        if packet["end"].as_bool() == Some(true) {
            recording.lost = number(&packet, "lost");
            break;
        }
        let bytes = bytes(&packet);
        let takes = bytes.len() + EACH;
        let is_whole = bytes.len() as u64 == number(&packet, "len");
        if !is_whole || room.fetch_update(Relaxed, Relaxed, |room| room.checked_sub(takes)).is_err() {
            recording.left_out += 1;
            continue;
        }
        let at_ns = number(&packet, "at_ns") as i64;
        recording.packets.push(Arrived { at_ns, port, bytes });
    }
    // A capture ends early when the elements that it looks at are gone.
    if begun.elapsed() + Duration::from_millis(500) < span {
        return Err("another configuration has taken the place of the running one".to_owned());
    }
    Ok(recording)
}

/// Bytes of each packet of an interface that a tap keeps: as many as the interface has, if that is known here.
fn snaplen(port: &str) -> usize {
    let mtu = std::fs::read_to_string(format!("/sys/class/net/{port}/mtu"));
    let mtu = mtu.ok().and_then(|mtu| mtu.trim().parse::<usize>().ok()).unwrap_or(0);
    (mtu + HEADERS).clamp(SNAPLEN, router::Capture::SNAPLEN_MAX)
}
