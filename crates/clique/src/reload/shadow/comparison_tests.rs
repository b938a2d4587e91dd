use super::*;
use std::collections::BTreeMap;

fn sent(port: &str, bytes: &[u8]) -> Sent {
    Sent { port: port.to_owned(), bytes: bytes.to_vec() }
}

fn outcome(sent: Vec<Sent>) -> Outcome {
    Outcome { sent, dropped: Vec::new() }
}

fn packet() -> (String, String) {
    ("a packet".to_owned(), "eth0".to_owned())
}

/// What one sends later than the other, or in another order, is no difference, and no example is left of it.
#[test]
fn neither_time_nor_order_counts() {
    let mut comparison = Comparison::default();
    comparison.add(&outcome(vec![sent("a", b"1"), sent("a", b"2")]), &outcome(vec![sent("a", b"2")]), packet);
    comparison.add(&Outcome::default(), &outcome(vec![sent("a", b"1")]), packet);
    let compared = comparison.end();
    assert_eq!(compared.interfaces["a"].sent, Both { running: 2, new: 2 });
    assert_eq!(compared.interfaces["a"].alone, Both::default());
    assert_eq!(compared.examples, []);
}

/// By another interface, twice for once, and dropped by another element for the same reason: only the last is none.
#[test]
fn differences_are_counted_and_have_examples() {
    let mut comparison = Comparison::default();
    comparison.add(&outcome(vec![sent("a", b"1")]), &outcome(vec![sent("b", b"1")]), packet);
    comparison.add(&outcome(vec![sent("a", b"2")]), &outcome(vec![sent("a", b"2"), sent("a", b"2")]), packet);
    let dropped =
        |element: &str, reason| Outcome { sent: Vec::new(), dropped: vec![(element.to_owned(), reason)] };
    comparison.add(&dropped("x", "ttl"), &dropped("y", "ttl"), packet);
    comparison.add(&Outcome::default(), &dropped("y", "filter"), packet);
    let compared = comparison.end();
    assert_eq!(compared.interfaces["a"].alone, Both { running: 1, new: 1 });
    assert_eq!(compared.interfaces["b"].alone, Both { running: 0, new: 1 });
    assert_eq!(compared.drops["ttl"], Both { running: 1, new: 1 });
    assert_eq!(compared.drops["filter"], Both { running: 0, new: 1 });
    let lines: Vec<_> = compared.examples.iter().map(|e| (e.running.as_str(), e.new.as_str())).collect();
    let expected =
        [("sent by a", "sent by b"), ("sent by a", "sent by a"), ("not sent", "dropped by 'y': filter")];
    assert_eq!(lines, expected);
}

/// An IPv4 packet in a frame.
fn frame(id: u16, ttl: u8) -> Vec<u8> {
    let mut ip = [0; 28];
    let mut header = ipv4::Header::new_checked_mut(&mut ip[..]).expect("long enough");
    header.set_version_and_header_len(20);
    header.set_total_len(28);
    header.set_ttl(ttl);
    header.set_id(id);
    header.fill_checksum();
    [&[2; 12][..], &[8, 0], &ip].concat()
}

/// Identifications do not count; a checksum that is wrong does, and so does all else.
#[test]
fn identifications_do_not_count() {
    let differ = |a: &[u8], b: &[u8]| hash(a) != hash(b);
    assert!(!differ(&frame(1, 64), &frame(0xffff, 64)));
    assert!(!differ(&frame(1, 64)[14..], &frame(2, 64)[14..]));
    assert!(differ(&frame(1, 64), &frame(1, 63)));
    let mut wrong = frame(1, 64);
    wrong[24] ^= 1;
    assert!(differ(&wrong, &frame(1, 64)));
}

/// The multisets are those of a naive count, whatever is sent when.
#[test]
fn as_a_naive_count_says() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..50 {
        let mut comparison = Comparison::default();
        let mut naive = BTreeMap::<(String, u8), i64>::new();
        for _ in 0..random.usize(..100) {
            let mut some = |sign: i64| {
                let mut sends = Vec::new();
                for _ in 0..random.usize(..3) {
                    let (port, byte) = (["a", "b"][random.usize(..2)], random.u8(..4));
                    sends.push(sent(port, &[byte]));
                    *naive.entry((port.to_owned(), byte)).or_default() += sign;
                }
                outcome(sends)
            };
            let (running, new) = (some(1), some(-1));
            comparison.add(&running, &new, packet);
        }
        let compared = comparison.end();
        for port in ["a", "b"] {
            let of = |sign: i64| {
                let balances =
                    naive.iter().filter(|((name, _), _)| name == port).map(|(_, b)| (b * sign).max(0));
                balances.sum::<i64>().unsigned_abs()
            };
            let alone = compared.interfaces.get(port).map_or(Both::default(), |traffic| traffic.alone);
            assert_eq!(alone, Both { running: of(1), new: of(-1) });
        }
        assert_eq!(compared.examples.is_empty(), naive.values().all(|balance| *balance == 0));
    }
}
