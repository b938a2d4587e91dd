//! So many associations that a batch's packets are looked up side by side; and few, where packets that follow each other have one way.

use super::policies::{Hit, Slot};
use super::side_by_side::{self, MANY};
use super::table::Tables;
use super::{flow::Flow, text};
use crate::testing::send;
use elements_shared::ipsec_port::Change;
use elements_testing::{ip6_samples, samples};
use packet::BATCH_MAX;
use rcu::{Domain, Turn};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

const TUNNELS: u32 = 2400;

/// The algorithms, each with octets of key.
const ALGORITHMS: [(&str, usize); 5] =
    [("aes-gcm", 20), ("aes-gcm", 36), ("chacha20-poly1305", 36), ("aes-gmac", 20), ("aes-cbc-sha256", 48)];

/// How a tunnel's packets are protected: its ends are of either family, and one in 50 has no association.
fn association(tunnel: u32) -> Option<String> {
    let (algorithm, octets) = ALGORITHMS[tunnel as usize % ALGORITHMS.len()];
    let key: String = (0..octets as u32).map(|at| format!("{:02x}", (tunnel * 31 + at * 7) % 256)).collect();
    let rest = if tunnel.is_multiple_of(3) { "esn" } else { "" };
    (!tunnel.is_multiple_of(50)).then(|| {
        format!(
            "SA {} {:#x} {algorithm} key {key} reqid {} {rest}",
            ends(tunnel),
            0x1000 + tunnel,
            tunnel + 1
        )
    })
}

fn ends(tunnel: u32) -> String {
    match tunnel % 4 {
        0 => format!("2001:db8::1 2001:db8::2:{:x}", tunnel % 7),
        _ => format!("192.0.2.1 198.51.100.{}", tunnel % 7),
    }
}

/// Packets of a tunnel are of either family, too.
fn is_six(tunnel: u32) -> bool {
    tunnel % 5 == 1
}

fn arguments(side: &str) -> String {
    let policy = |tunnel: u32| {
        let (from, to) = match is_six(tunnel) {
            true => ("::/0".to_owned(), Ipv6Addr::from(0xfd00 << 112 | u128::from(tunnel)).to_string()),
            false => ("0.0.0.0/0".to_owned(), Ipv4Addr::from(0x0a00_0000 + tunnel).to_string()),
        };
        format!("POLICY {side} {from} {to} protect {} reqid {}", ends(tunnel), tunnel + 1)
    };
    // Of another pair of lengths, before and behind all others.
    let others = [
        format!("POLICY {side} 0.0.0.0/0 10.0.0.0/24 discard proto 6 priority 0"),
        format!("POLICY {side} 0.0.0.0/0 10.0.0.0/8 bypass priority 9"),
    ];
    let policies = (0..TUNNELS).map(|tunnel| policy(tunnel) + " priority 5").chain(others);
    policies.chain((0..TUNNELS).filter_map(association)).collect::<Vec<_>>().join(",\n")
}

/// The packet with a number, for any tunnel or for one of those that are not there: 10.0.0.0/8 passes as it is.
fn packet(number: u32) -> (u32, Vec<u8>) {
    let tunnel = number.wrapping_mul(0x9e37_79b9) >> 7 & 0xfff;
    let len = number as usize * 13 % 300;
    if is_six(tunnel) {
        let mut packet = ip6_samples::udp(len);
        packet[24..40].copy_from_slice(&(0xfd00 << 112 | u128::from(tunnel)).to_be_bytes());
        return (tunnel, packet);
    }
    let (from, to) = (Ipv4Addr::new(192, 168, 0, 1), Ipv4Addr::from(0x0a00_0000 + tunnel));
    (tunnel, samples::with_addresses(samples::udp(len), from, to))
}

/// Packets of all tunnels in random order pass both gateways: in batches the same ones come out as one at a time (`send` compares them), all those and in the
/// order that they were sent in; those without policy or association are dropped.
#[test]
fn as_one_by_one() {
    let config = format!(
        "Inject -> out :: IPsec({}); Idle -> [1]out; out[1] -> Collect(1);
         out[0] -> [1]into :: IPsec({}); Idle -> into; into[0] -> Collect(2); into[1] -> Collect(0)",
        arguments("out"),
        arguments("in"),
    );
    let packets: Vec<(u32, Vec<u8>)> = (0..6000).map(packet).collect();
    let protected = |tunnel: u32| tunnel < TUNNELS && association(tunnel).is_some();
    let clear = |tunnel: u32| tunnel >= TUNNELS && !is_six(tunnel);
    let came: Vec<Vec<u8>> = packets
        .iter()
        .filter(|(tunnel, _)| protected(*tunnel) || clear(*tunnel))
        .map(|(_, packet)| packet.clone())
        .collect();
    let without =
        packets.iter().filter(|(tunnel, _)| *tunnel < TUNNELS && !protected(*tunnel)).count() as u64;
    let strange = packets.iter().filter(|(tunnel, _)| *tunnel >= TUNNELS && is_six(*tunnel)).count() as u64;
    let flow = send(&config, packets.into_iter().map(|(_, packet)| packet));
    assert!(flow.data(0) == came, "{} instead of {}", flow.data(0).len(), came.len());
    let mut drops = flow.drops();
    drops.sort_unstable();
    assert_eq!(drops, [("no association yet", without), ("no policy", strange)]);
}

/// With few associations a packet has the way of the one before where both are of a flow, and only there: packets of four flows, some of them in a row, by two
/// associations, one of which is not the one that the policy at the other end names; and some that are not protected.
#[test]
fn few_in_a_row() {
    const ENDS: &str = "192.0.2.1 192.0.2.2";
    const PORTS: [u8; 5] = [7, 9, 11, 13, 7];
    let key = "00".repeat(20);
    let associations = [1, 2]
        .map(|number| format!("SA {ENDS} {} aes-gcm key {key} reqid {number}", 0x1000 + number))
        .join(", ");
    let policies = |side: &str, of_13: u32| {
        let protected = [(7, 1), (9, 2), (13, of_13)].map(|(port, reqid)| {
            format!("POLICY {side} 0.0.0.0/0 10.0.0.0/8 protect {ENDS} reqid {reqid} proto 17 dport {port}")
        });
        format!("{}, POLICY {side} 0.0.0.0/0 10.0.0.0/8 bypass proto 17 dport 11", protected.join(", "))
    };
    let config = format!(
        "Inject -> out :: IPsec({associations}, {}); Idle -> [1]out; out[1] -> Collect(1);
         out[0] -> [1]into :: IPsec({associations}, {}); Idle -> into; into[0] -> Collect(2); into[1] -> Collect(0)",
        policies("out", 1),
        policies("in", 2),
    );
    let packet = |number: u32| {
        let mut packet = samples::with_addresses(
            samples::udp(number as usize % 50),
            [192, 168, 0, 1].into(),
            [10, 0, 0, 1].into(),
        );
        let port = PORTS[((number / (1 + number % 4)).wrapping_mul(0x9e37_79b9) >> 9) as usize % PORTS.len()];
        packet[22..24].copy_from_slice(&[0, port]);
        (port, packet)
    };
    let packets: Vec<(u8, Vec<u8>)> = (0..2000).map(packet).collect();
    let admitted = |port: u8| port != 13;
    let came: Vec<Vec<u8>> =
        packets.iter().filter(|(port, _)| admitted(*port)).map(|(_, packet)| packet.clone()).collect();
    let refused = (packets.len() - came.len()) as u64;
    let flow = send(&config, packets.into_iter().map(|(_, packet)| packet));
    assert!(flow.data(0) == came, "{} instead of {}", flow.data(0).len(), came.len());
    assert_eq!(flow.drops(), [("protected by another association than the policy says", refused)]);
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Associations and policies change after those of a batch were looked up and asked for: what was found stays as it was for the turn, and there is
/// always one.
#[test]
fn changes_between_the_steps_do_no_harm() {
    const COUNT: u32 = MANY as u32 + 50;
    let association = |tunnel: u32, generation: u32| {
        let spi = generation * 1000 + tunnel;
        let text = format!("192.0.2.1 192.0.2.2 {spi} aes-gcm key {spi:040x} reqid {}", 1 + tunnel);
        Change::Associate(Box::new(text::association(&words(&text), 0, true).expect("an association")))
    };
    let policy = |tunnel: u32, generation: u32| {
        let to = Ipv4Addr::from(0x0a00_0000 + tunnel);
        let (reqid, priority) = (1 + tunnel, generation);
        let text =
            format!("out 0.0.0.0/0 {to} protect 192.0.2.1 192.0.2.2 reqid {reqid} priority {priority}");
        Change::Policy(Box::new(text::policy(&words(&text)).expect("a policy")))
    };
    let (tables, end) = (Tables::new(1), AtomicBool::new(false));
    let first = (0..COUNT).flat_map(|tunnel| [association(tunnel, 1), policy(tunnel, 1)]);
    assert_eq!(tables.apply(first.collect()), vec![]);
    assert!(tables.are_many());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let domain = Domain::global();
            for round in 0.. {
                let flows: [Option<Flow>; BATCH_MAX] = std::array::from_fn(|at| {
                    let to = Ipv4Addr::from(0x0a00_0000 + (round * 37 + at as u32 * 11) % COUNT);
                    Flow::of(&samples::with_addresses(samples::udp(4), [192, 0, 2, 9].into(), to))
                });
                let guard = domain.guard();
                check(&tables, &flows, guard.turn());
                if end.load(Relaxed) {
                    return;
                }
            }
        });
        for generation in 2..12 {
            for tunnel in 0..COUNT {
                let gone = Change::Dissociate([192, 0, 2, 2].into(), (generation - 1) * 1000 + tunnel);
                let changes = vec![association(tunnel, generation), policy(tunnel, generation), gone];
                assert_eq!(tables.apply(changes), vec![]);
            }
        }
        end.store(true, Relaxed);
    });
}

/// The rules that were found for flows are theirs, and each has an association that is its own.
fn check(tables: &Tables, flows: &[Option<Flow>], turn: Turn<'_>) {
    let hits = tables.out.read(turn).find_all(flows, turn);
    side_by_side::ask_for_current(&hits, turn);
    let slot = |hit: Hit<'_>| hit.slot().map(std::ptr::from_ref::<Slot>);
    for (flow, hit) in flows.iter().zip(hits) {
        let (flow, hit) = (flow.as_ref().expect("a packet"), hit.expect("a policy"));
        assert_eq!(hit.rule().policy.selector.destination.address, flow.ends()[1]);
        let found = tables.out.read(turn).find(flow, turn).expect("a policy");
        assert_eq!(slot(hit), slot(found));
        let current = hit.slot().and_then(|slot| slot.current.read(turn)).expect("an association");
        let tunnel = current.0.spi % 1000;
        assert_eq!(current.0.reqid, 1 + tunnel);
        assert_eq!(flow.ends()[1], Ipv4Addr::from(0x0a00_0000 + tunnel));
    }
}
