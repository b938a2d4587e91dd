//! Self-test: packets.
//!
//! ```click
//! PacketTest
//! ```
//!
//! When the router starts, this tests packets in buffers of its worker: adding and removing data at both ends, making
//! room by moving data or by a larger buffer, copies, header positions that follow the data, annotations, and batches
//! of packets. It prints `All tests pass!`, or the router does not start.
//!
//! Ports: none. Workers: worker 0.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! PacketTest
//! ```
//!
//! # See also
//! CheckPacket, ComparePackets

use super::trial::{Trial, element};
use packet::{Anno, Batch, DEFAULT_HEADROOM, Packet, Pool};
use router::{Class, Config, ConfigError, Cx, Element, Residency};
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class = Class::new("PacketTest", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(include_str!("packet_test.rs"));

const LOWER: &[u8] = b"abcdefghijklmnopqrstuvwxyz";

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    element(config, tests)
}

fn tests(trial: &mut Trial, cx: &mut Cx<'_>) {
    let pool = cx.pool();
    for part in [ends, room, copies, headers, annotations] {
        match pool.packet(LOWER) {
            Some(packet) => part(trial, pool, packet),
            None => trial.holds("there is memory for a packet", false),
        }
    }
    batches(trial, pool);
}

/// Data is cut off and added at both ends.
fn ends(trial: &mut Trial, pool: &mut Pool, mut p: Packet) {
    trial.same("data", p.data(), LOWER);
    trial.same("headroom", p.headroom(), DEFAULT_HEADROOM);
    trial.same("room", p.headroom() + p.len() + p.tailroom(), p.room());
    trial.holds("3 bytes off the front", p.pull(3));
    trial.same("data after that", p.data(), &LOWER[3..]);
    trial.same("headroom after that", p.headroom(), DEFAULT_HEADROOM + 3);
    trial.holds("3 bytes back in front", p.push(3));
    trial.same("data is as it was", p.data(), LOWER);
    trial.holds("6 bytes off the end", p.take(6));
    trial.same("data without its end", p.data(), &LOWER[..20]);
    trial.holds("6 bytes back at the end", p.put(6));
    trial.same("data is as it was", p.data(), LOWER);
    trial.holds("no more than there is off the front", !p.pull(27));
    trial.holds("no more than there is off the end", !p.take(27));
    trial.same("data is untouched", p.data(), LOWER);
    trial.holds("all off the front", p.pull(26) && p.is_empty());
    pool.free(p);
}

/// Data moves within a buffer, and to a larger one.
fn room(trial: &mut Trial, pool: &mut Pool, mut p: Packet) {
    let wanted = p.headroom() + 10;
    trial.holds("more in front than the headroom", p.push(wanted));
    trial.same("data has moved", &p.data()[wanted..], LOWER);
    trial.holds("as many off again", p.pull(wanted));
    trial.holds("another headroom", p.realign(2) && p.headroom() == 2);
    trial.same("data has moved along", p.data(), LOWER);
    let wanted = p.tailroom() + 1;
    trial.holds("more at the end than the tailroom", p.put(wanted));
    trial.same("data is in front of that", &p.data()[..26], LOWER);
    trial.holds("no more than the buffer has", !p.put(1 << 20));
    let tail = p.room();
    match pool.reserve(p, 0, tail) {
        Ok(larger) => {
            trial.holds("a larger buffer", larger.tailroom() >= tail);
            trial.same("data is there, too", &larger.data()[..26], LOWER);
            pool.free(larger);
        }
        Err(p) => {
            trial.holds("a larger buffer", false);
            pool.free(p);
        }
    }
}

/// A copy is like its original, and another packet.
fn copies(trial: &mut Trial, pool: &mut Pool, mut p: Packet) {
    p.set_network(4, 8);
    p.set_paint(7);
    p.set_timestamp_ns(123);
    let Some(mut copy) = pool.copy(&p) else { return trial.holds("there is memory for a copy", false) };
    trial.same("data of a copy", copy.data(), LOWER);
    trial.same("headers of a copy", [copy.network_offset(), copy.transport_offset()], [Some(4), Some(12)]);
    trial.same("annotations of a copy", (copy.paint(), copy.timestamp_ns()), (7, 123));
    copy.data_mut()[0] = b'!';
    copy.set_paint(9);
    trial.holds("a byte off the copy", copy.pull(1));
    trial.same("data of the original", p.data(), LOWER);
    trial.same("colour of the original", p.paint(), 7);
    trial.same("network header of the changed copy", copy.network_offset(), Some(3));
    pool.free(copy);
    pool.free(p);
}

/// Headers stay where they are, whatever becomes of the bytes around them.
fn headers(trial: &mut Trial, pool: &mut Pool, mut p: Packet) {
    trial.same("no headers", [p.mac_offset(), p.network_offset(), p.transport_offset()], [None; 3]);
    p.set_mac_offset(0);
    p.set_network(10, 5);
    trial.same("network header", p.network(), Some(&LOWER[10..]));
    trial.same("transport header", p.transport(), Some(&LOWER[15..]));
    trial.holds("12 bytes off the front", p.pull(12));
    trial.same("offsets after a pull", [p.mac_offset(), p.network_offset()], [Some(-12), Some(-2)]);
    trial.same("a header in front of the data", p.network(), Some(&LOWER[10..]));
    trial.holds("20 bytes in front", p.push(20));
    trial.same("offsets after a push", [p.mac_offset(), p.transport_offset()], [Some(8), Some(23)]);
    trial.holds("no headroom", p.realign(0));
    trial.same("headers after a move", p.mac(), Some(LOWER));
    trial.same("length of the network header", p.network_header_len(), Some(5));
    trial.holds("20 bytes off the end", p.take(20));
    trial.holds("no bytes of a header that was cut off", p.transport().is_none_or(<[u8]>::is_empty));
    p.clear_network();
    p.clear_mac();
    trial.same(
        "headers are forgotten",
        [p.mac_offset(), p.network_offset(), p.transport_offset()],
        [None; 3],
    );
    pool.free(p);
}

fn annotations(trial: &mut Trial, pool: &mut Pool, mut p: Packet) {
    trial.holds(
        "a new packet has none",
        p.annotations().iter().all(|&byte| byte == 0) && p.timestamp_ns() == 0,
    );
    p.set_dst_ip(Ipv4Addr::new(10, 1, 2, 3));
    trial.same("the destination's bytes", &p.annotations()[..4], &[10, 1, 2, 3]);
    let places = (0..packet::ANNO_BYTES).step_by(4).filter_map(|offset| Anno::new(offset, 4));
    for (number, place) in places.enumerate() {
        p.set_anno(place, 0x0102_0304 + number as u64);
        trial.same("an annotation is kept", p.anno(place), 0x0102_0304 + number as u64);
    }
    trial.holds("no annotation beyond the area", Anno::new(packet::ANNO_BYTES - 2, 4).is_none());
    let bytes = Anno::new(8, 1).into_iter().zip(Anno::new(9, 1));
    for (here, next) in bytes {
        p.set_anno(next, 5);
        p.set_anno(here, 0x1ff);
        trial.same("a value is cut to its place", (p.anno(here), p.anno(next)), (0xff, 5));
    }
    pool.free(p);
}

fn batches(trial: &mut Trial, pool: &mut Pool) {
    let mut batch = pool.batch();
    batch.extend((0..9).filter_map(|n| pool.packet(&[n])));
    let numbers = |batch: &Batch| batch.iter().map(|packet| packet.data()[0]).collect::<Vec<_>>();
    trial.same("packets of a batch", numbers(&batch), (0..9).collect());
    let mut rest = pool.batch();
    batch.split_off(6, &mut rest);
    trial.same(
        "a batch that was split",
        (numbers(&batch), numbers(&rest)),
        (vec![0, 1, 2, 3, 4, 5], vec![6, 7, 8]),
    );
    batch.filter_map(|packet| Some(packet).filter(|packet| packet.data()[0] % 2 == 1));
    trial.same("a batch that was sifted", numbers(&batch), vec![1, 3, 5]);
    let first = batch.pop_front();
    trial.same("its first packet", first.map(|packet| packet.data()[0]), Some(1));
    trial.same("the others", numbers(&batch), vec![3, 5]);
    pool.recycle(batch);
    pool.recycle(rest);
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    #[test]
    fn passes() {
        assert_eq!(run("PacketTest; Script(stop)"), "All tests pass!\n");
    }
}
