use super::*;
use elements_testing::flow_samples::{tcp, udp};
use packet::Pool;
use proptest::prelude::*;
use wire::tcp::flag::{ACK, FIN, RST, SYN};

const MS: i64 = 1_000_000;

/// Segments as a test makes them up: direction, flags, sequence number, bytes of data, and when it passes.
fn follow(packets: &[(usize, u8, u32, u32, i64)]) -> Told {
    let mut tcp = Tcp::default();
    for &(direction, flags, sequence, data, at_ms) in packets {
        let marks = u32::from(flags & SYN != 0) + u32::from(flags & FIN != 0);
        let segment = Segments { sequence, len: data + marks, number: 1 };
        tcp.note(direction, &segment, flags, at_ms * MS);
    }
    tcp.told()
}

/// A handshake is timed on both sides, whichever of them is seen first; one whose packets come twice is not, on that side.
#[test]
fn handshakes_are_timed() {
    let [syn, answer, ack] = [(0, SYN, 9, 0, 100), (1, SYN | ACK, 5, 0, 130), (0, ACK, 10, 0, 141)];
    let rtt = |packets: &[_]| follow(packets).rtt_us;
    assert_eq!(rtt(&[syn, answer, ack]), [30_000, 11_000]);
    let late = (0, ACK, 10, 5, 900);
    assert_eq!(rtt(&[syn, answer, ack, late]), [30_000, 11_000], "only the first answer counts");
    assert_eq!(rtt(&[syn, (0, SYN, 9, 0, 110), answer, ack]), [0, 11_000]);
    assert_eq!(rtt(&[syn, answer, (1, SYN | ACK, 5, 0, 135), ack]), [30_000, 0]);
    assert_eq!(rtt(&[syn, answer, (0, SYN, 9, 0, 135), (1, SYN | ACK, 5, 0, 138), ack]), [30_000, 0]);
    assert_eq!(
        rtt(&[(0, SYN | ACK, 5, 0, 130), (1, ACK, 10, 0, 141)]),
        [0, 11_000],
        "the SYN went another way"
    );
    assert_eq!(rtt(&[syn, (1, RST | ACK, 0, 0, 130)]), [0, 0]);
    assert_eq!(rtt(&[syn, (1, ACK, 7, 0, 110), answer]), [30_000, 0]);
    assert_eq!(rtt(&[(0, ACK, 5, 10, 1), (1, ACK, 5, 10, 2)]), [0, 0]);
    // The next connection of the same ports.
    let next = [(0, SYN, 77, 0, 500), (1, SYN | ACK, 3, 0, 502), (0, ACK, 78, 0, 509)];
    assert_eq!(rtt(&[&[syn, answer, ack][..], &next].concat()), [2000, 7000]);
    assert_eq!(follow(&[&[syn, answer, ack, (0, ACK, 10, 99, 200)][..], &next].concat()).again, [0, 0]);
}

/// What ends at or below the highest number was sent before, also across the end of the numbers; questions whether the other side lives
/// are no data.
#[test]
fn segments_that_are_sent_again_count() {
    let again = |packets: &[(usize, u8, u32, u32)]| {
        follow(&packets.iter().map(|&(d, f, s, l)| (d, f, s, l, 1)).collect::<Vec<_>>()).again
    };
    assert_eq!(again(&[(0, SYN, 9, 0), (0, SYN, 9, 0)]), [1, 0]);
    assert_eq!(again(&[(0, ACK, 10, 100), (1, ACK, 10, 50), (0, ACK, 110, 100), (0, ACK, 10, 100)]), [1, 0]);
    assert_eq!(again(&[(1, ACK, 10, 100), (1, ACK | FIN, 110, 0), (1, ACK | FIN, 110, 0)]), [0, 1]);
    assert_eq!(again(&[(0, ACK, 10, 100), (0, ACK, 50, 100)]), [0, 0], "half of it is new");
    assert_eq!(again(&[(0, ACK, u32::MAX - 9, 20), (0, ACK, 10, 20), (0, ACK, u32::MAX - 9, 20)]), [1, 0]);
    assert_eq!(again(&[(0, ACK, 10, 100), (0, ACK, 109, 1), (0, ACK, 109, 0)]), [0, 0], "keepalives");
    assert_eq!(again(&[(0, ACK, 10, 100), (0, ACK, 10, 0), (0, RST, 10, 0)]), [0, 0]);
    let far = 1 << 31 | 5;
    assert_eq!(again(&[(0, ACK, far, 100), (0, ACK, 10, 100), (0, ACK, 110, 100)]), [0, 0], "other numbers");
}

/// A packet says what is needed, unless it is a part of one or none of TCP.
#[test]
fn what_a_packet_says() {
    let of = |bytes: &[u8], tcp_flags| {
        let mut packet = Pool::new().packet(bytes).unwrap();
        packet.set_network_alone(0);
        <Tcp as Estimate>::read(&packet, &Facts { tcp_flags, ..Facts::default() })
    };
    let (a, b) = (([10, 0, 0, 1], 6000), ([192, 0, 2, 1], 80));
    let mut segment = tcp(a, b, ACK | FIN, &[], b"12345678");
    let sequence = 1_000_000;
    assert_eq!(of(&segment, ACK | FIN), Segments { sequence, len: 9, number: 1 });
    assert_eq!(
        of(&[&segment[..], &[0; 6]].concat(), ACK),
        Segments { sequence, len: 9, number: 1 },
        "padding"
    );
    assert_eq!(of(&segment[..39], ACK), Segments::default());
    segment[6] = 0x20;
    assert_eq!(of(&segment, ACK), Segments::default());
    assert_eq!(of(&udp(a, b, b"?"), 0), Segments::default());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// A sender with a path that loses and repeats: what is counted is what it has sent again, alone or in trains.
    #[test]
    fn as_the_sender_counts(start in any::<u32>(), chunks in prop::collection::vec((1u32..4, 0u32..40, any::<bool>()), 1..60)) {
        let (mut sent, mut starts): (Vec<(u32, u32)>, Vec<usize>) = (Vec::new(), Vec::new());
        let (mut next, mut expected) = (start, 0);
        for (len, back, is_again) in chunks {
            let first = sent.len().saturating_sub(back as usize);
            // Everything from some segment on once more, as after a timeout, or a new one.
            if is_again && first < sent.len() {
                let known: Vec<_> = sent[first..].iter().copied().collect::<std::collections::BTreeSet<_>>().into_iter().collect();
                expected += known.len() as u32;
                sent.extend(known);
            } else {
                sent.push((next, len * 100));
                next = next.wrapping_add(len * 100);
            }
            starts.push(sent.len());
        }
        let segment = |&(sequence, len): &(u32, u32)| Segments { sequence, len, number: 1 };
        let (mut singly, mut together) = (Tcp::default(), Tcp::default());
        for one in sent.iter().map(segment) {
            singly.note(1, &one, ACK, 5);
        }
        let mut train = Segments::default();
        for (at, one) in sent.iter().map(segment).enumerate() {
            if starts.contains(&at) && at % 3 == 0 || !<Tcp as Estimate>::join(&mut train, &one) {
                together.note(1, &train, ACK, 5);
                train = one;
            }
        }
        together.note(1, &train, ACK, 5);
        prop_assert_eq!((singly.told().again, together), ([0, expected], singly));
        prop_assert_eq!(singly.after_report().told().again, [0; 2]);
    }
}
