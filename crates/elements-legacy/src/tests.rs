//! The elements together, as configurations have them.

use crate::testing::{Sent, send};
use crate::testing::{build, errors};
use elements_testing::samples::udp;
use packet::Anno;
use proptest::prelude::*;
use router::Call;

const KEYS: &str = r"\<0183A947 1ABE01FF FA04103B B1020304> \<112233EE55667788 8877665544332211>";

/// The lookup of one end: packets to 10.0.2.0/24 go into the tunnel, what comes to 192.0.2.2 comes out of it.
fn lookup(rest: &str) -> String {
    format!("r :: RadixIPsecLookup(10.0.2.0/24 192.0.2.2 1 234 {KEYS} {rest}, 192.0.2.2/32 0, 192.0.2.9 2);")
}

/// A packet with a destination annotation.
fn to(address: [u8; 4], data: Vec<u8>) -> Sent {
    let annotations = vec![(Anno::DST_IP, u64::from(u32::from_ne_bytes(address)))];
    Sent { data, annotations, ..Sent::default() }
}

/// The elements of both directions, by the cipher and who checks.
fn ways(cipher: &str, auth: &str) -> [String; 2] {
    [
        format!(
            "MarkIPHeader -> IPsecESPEncap -> {auth}(0) -> {cipher}(1) -> IPsecEncap(50) -> FixIPSrc(192.0.2.1)"
        ),
        format!("StripIPHeader -> {cipher}(0) -> {auth}(1) -> IPsecESPUnencap"),
    ]
}

/// What the tunnel makes of packets.
fn sealed(cipher: &str, packets: impl IntoIterator<Item = Vec<u8>>) -> Vec<Vec<u8>> {
    let [out, _] = ways(cipher, "IPsecAuthHMACSHA1");
    let config = format!(
        "{} Inject -> r; r[1] -> {out} -> Collect(0); r[0] -> Discard; r[2] -> Discard",
        lookup("300 64")
    );
    send(&config, packets.into_iter().map(|packet| to([10, 0, 2, 1], packet))).data(0)
}

/// A configuration that takes packets out of it, and leaves at output 1 what was changed.
fn opening(cipher: &str, rest: &str) -> String {
    format!(
        "{} Inject -> MarkIPHeader -> r; r[0] -> StripIPHeader -> {cipher}(0) -> a :: IPsecAuthHMACSHA1(1) -> IPsecESPUnencap -> Collect(0);
         a[1] -> Collect(1); r[1] -> Discard; r[2] -> Collect(2)",
        lookup(rest)
    )
}

fn arriving(packets: impl IntoIterator<Item = Vec<u8>>) -> Vec<Sent> {
    packets.into_iter().map(|packet| to([192, 0, 2, 2], packet)).collect()
}

#[test]
fn there_and_back() {
    for cipher in ["IPsecAES", "IPsecDES"] {
        let packets: Vec<_> = (0..120).map(udp).collect();
        let sent = sealed(cipher, packets.clone());
        // Through a loop in one router, as between two.
        let flow = send(&opening(cipher, "300 64"), arriving(sent.clone()));
        assert_eq!((flow.data(0), flow.drops()), (packets.clone(), vec![]), "{cipher}");
        for (number, (sent, packet)) in (300u32..).zip(sent.iter().zip(&packets)) {
            assert_eq!(sent[9..20], [50, sent[10], sent[11], 192, 0, 2, 1, 192, 0, 2, 2]);
            assert_eq!(sent[20..28], [&234u32.to_be_bytes()[..], &number.to_be_bytes()].concat());
            let padded = (packet.len() + 2).next_multiple_of(8);
            assert_eq!(sent.len(), 20 + 16 + padded + 12);
            assert!(!sent.windows(8).any(|part| part == &packet[12..20]), "the addresses can be read");
        }
        assert_ne!(sent[0][28..36], sent[1][28..36]);
    }
}

/// One router that is both ends, in a loop through its route table.
#[test]
fn in_a_loop() {
    let [out, back] = ways("IPsecAES", "IPsecAuthHMACSHA1");
    let config = format!(
        "{} Inject -> r; r[1] -> {out} -> r; r[0] -> {back} -> CheckIPHeader -> Collect(0); r[2] -> Discard",
        lookup("1 32")
    );
    let packets: Vec<_> = (0..50).map(udp).collect();
    let mut flow = send(&config, packets.iter().map(|packet| to([10, 0, 2, 7], packet.clone())));
    assert_eq!(flow.data(0), packets);
    assert!(flow.read("r.table").contains("\tspi 234 sent 50 received 50\n"), "{}", flow.read("r.table"));
}

/// No octet behind the IP header can be changed, and none can be left out.
#[test]
fn changes_show() {
    for cipher in ["IPsecAES", "IPsecDES"] {
        let whole = sealed(cipher, [udp(3)]).remove(0);
        for at in 20..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x10;
            let flow = send(&opening(cipher, "300 64"), arriving([changed, whole.clone()]));
            assert_eq!(flow.data(0), [udp(3)], "{cipher}: {at}");
            // The first four are the parameter index, of no association.
            assert_eq!(
                (flow.data(1).len(), flow.drops().len()),
                if at < 24 { (0, 1) } else { (1, 0) },
                "{cipher}: {at}"
            );
        }
        for len in 20..whole.len() {
            let flow = send(&opening(cipher, "300 64"), arriving([whole[..len].to_vec()]));
            assert!(flow.data(0).is_empty(), "{cipher}: {len}");
        }
    }
}

#[test]
fn once_and_in_time() {
    let sent = sealed("IPsecAES", (0..100).map(udp));
    let swapped: Vec<_> = sent.chunks(2).flat_map(|pair| pair.iter().rev().cloned()).collect();
    let flow = send(&opening("IPsecAES", "300 10"), arriving([swapped.clone(), swapped].concat()));
    assert_eq!(flow.data(0).len(), 100);
    assert_eq!(flow.drops(), [("has come before", 10), ("too old", 90)]);
    // The first number is no new beginning, and those before it never come.
    let flow =
        send(&opening("IPsecAES", "300 0"), arriving([sent[50].clone(), sent[0].clone(), sent[51].clone()]));
    assert_eq!((flow.data(0), flow.drops()), (vec![udp(50), udp(51)], vec![("too old", 1)]));
    let flow = send(&opening("IPsecAES", "350 64"), arriving([sent[49].clone(), sent[50].clone()]));
    assert_eq!((flow.data(0), flow.drops()), (vec![udp(50)], vec![("too old", 1)]));
}

/// What comes to the router, and is no packet of a tunnel.
#[test]
fn where_packets_go() {
    let mut fragment = sealed("IPsecAES", [udp(3)]).remove(0);
    fragment[7] = 1;
    let mut unknown = sealed("IPsecAES", [udp(3)]).remove(0);
    unknown[23] = 9;
    let mut short = sealed("IPsecAES", [udp(3)]).remove(0);
    short.truncate(25);
    let mut packets = arriving([udp(3), fragment, unknown, short, vec![0x45]]);
    packets.push(to([8, 8, 8, 8], udp(4)));
    let flow = send(&opening("IPsecAES", "300 64"), packets);
    assert_eq!((flow.data(2), flow.data(0).len()), (vec![udp(3)], 0));
    let reasons = [
        "fragment of an IPsec packet",
        "no IP packet",
        "no association has its SPI",
        "no route",
        "too short",
    ];
    assert_eq!(flow.drops(), reasons.map(|reason| (reason, 1)));
    let log = flow.log();
    assert!(
        log.contains("Invalid SPI 9, Dropping packet\n") && log.contains("no route for 8.8.8.8\n"),
        "{log}"
    );

    let flow = send("Inject -> r :: RadixIPsecLookup(0/0 0) -> Discard", [udp(1)]);
    assert_eq!(flow.drops(), [("no IPsec packet, and output 2 is not in use", 1)]);
    let [out, _] = ways("IPsecAES", "IPsecAuthHMACSHA1");
    let flow = send(
        &format!("Inject -> r :: RadixIPsecLookup(0/0 1); r[0] -> Discard; r[1] -> {out} -> Discard"),
        [udp(1)],
    );
    assert_eq!(
        (flow.drops(), flow.log()),
        (vec![("no such association", 1)], "No Ipsec tunnel for 0.0.0.0. Wrong tunnel setup\n".to_owned())
    );
}

/// Numbers in annotations that are no association's lead nowhere, whatever they are.
#[test]
fn annotations_are_not_trusted() {
    for element in [
        "IPsecESPEncap(9)",
        "IPsecESPUnencap",
        "IPsecAES(0)",
        "IPsecAES(1)",
        "IPsecDES(1)",
        "IPsecAuthHMACSHA1(1)",
    ] {
        let packets = [1 << 40, u64::MAX, 0xdead_beef].map(|id| {
            let annotations = vec![(Anno::IPSEC_SA_DATA_REFERENCE, id)];
            Sent { data: udp(99), annotations, ..Sent::default() }
        });
        let config = format!(
            "{} Idle -> r; r[0] -> Discard; r[1] -> Discard; r[2] -> Discard; Inject -> {element} -> Collect(0)",
            lookup("1 1")
        );
        let flow = send(&config, packets);
        assert_eq!((flow.data(0).len(), flow.drops()), (0, vec![("no such association", 3)]), "{element}");
    }
}

/// Without RadixIPsecLookup, keys and numbers are arguments.
#[test]
fn without_associations() {
    let encap = "Inject -> MarkIPHeader -> e :: IPsecESPEncap(7) ->";
    let key = r"\<01234567 89abcdef>";
    for (there, back) in [
        (
            format!("IPsecAuthSHA1(0) -> IPsecDES(1, {key})"),
            "IPsecDES(0, 0123456789ABCDEF) -> IPsecAuthSHA1(1)".to_owned(),
        ),
        (
            format!("IPsecDES(1, {key}, 0) -> IPsecAuthSHA1(0)"),
            format!("IPsecAuthSHA1(1) -> IPsecDES(0, {key}, IGNORE 0)"),
        ),
    ] {
        let packets: Vec<_> = (0..40).map(udp).collect();
        let flow =
            send(&format!("{encap} {there} -> {back} -> IPsecESPUnencap -> Collect(0)"), packets.clone());
        assert_eq!((flow.data(0), flow.drops()), (packets, vec![]));
    }
    let flow = send(&format!("{encap} Collect(0)"), [udp(4), udp(4)]);
    let data = flow.data(0);
    assert_eq!(
        (data[0][..8].to_vec(), data[1][..8].to_vec()),
        (vec![0, 0, 0, 7, 0, 0, 0, 1], vec![0, 0, 0, 7, 0, 0, 0, 2])
    );
    // 32 octets, 6 of padding, and the protocol.
    assert_eq!(data[0][16..], [udp(4), vec![1, 2, 3, 4, 5, 6, 6, 17]].concat());
    assert_ne!(data[0][8..16], data[1][8..16]);
}

/// Padding that does not count, or is longer than the packet.
#[test]
fn wrong_padding() {
    let front = [0; 16];
    let packets: [(&[u8], &[u8]); 7] = [
        (b"abc\x01\x02\x02\x04", b"abc"),
        (b"\x00\x04", b""),
        (b"abc\x01\x03\x02\x04", b"wrong padding"),
        (b"abc\x00\x01\x04", b"wrong padding"),
        (b"abc\x09\x04", b"wrong padding"),
        (b"\x04", b"too short"),
        (b"", b"too short"),
    ];
    for (text, expected) in packets {
        let flow = send("Inject -> IPsecESPUnencap -> Collect(0)", [[&front[..], text].concat()]);
        match flow.drops().first() {
            Some((reason, 1)) => assert_eq!(reason.as_bytes(), expected),
            _ => assert_eq!(flow.only(0).data(), expected),
        }
    }
}

/// What handlers say and change. Keys are never said.
#[test]
fn routes_change_as_told() {
    let config =
        format!("{} Idle -> r; r[0] -> Discard; r[1] -> Discard; r[2] -> Discard;", lookup("300 64"));
    let mut router = build(&config, 1, 1).expect("a good configuration");
    let mut write = |name: &str, text: &str| router.call(Call::write(format!("r.{name}"), text));
    let tunnel = "10.9.0.0/16 192.0.2.9 1 77";
    let ascii = "ABCDEFFF001DEFD2 ABCDEFFF001DEFD2 1 32";
    let digits = "ABCDEFFF001DEFD2354550FE40CD708E 112233EE556677888877665544332211 1 32";
    assert_eq!(write("add", &format!("{tunnel} {ascii}")), Ok(String::new()));
    assert_eq!(
        write("add", &format!("{tunnel} {digits}")),
        Err("conflict with existing route '10.9.0.0/16 192.0.2.9 1'".into())
    );
    assert_eq!(write("set", &format!("{tunnel} {digits}")), Ok(String::new()));
    assert_eq!(write("remove", "10.9.0.0/16 2"), Err("route '10.9.0.0/16 - 2' not found".into()));
    for (text, message) in [
        ("10.8.0.0/16 9", "bad OUTPUT"),
        ("10.8.0.0/16", "expected 'ADDR/MASK"),
        ("10.8.0.0/16 1 5 short short 1 1", "ENCRYPT_KEY: key has bad length"),
        ("10.8.0.0/16 1 ABCDEFFF001DEFD2 ABCDEFFF001DEFD2 5 1 1", "SPI: number between"),
        (&format!("10.8.0.0/16 1 0 {ascii}"), "SPI: number between 1"),
        ("10.8.0.0/16 1 5 ABCDEFFF001DEFD2 ABCDEFFF001DEFD2 0 1", "REPLAY: number between 1"),
        ("10.8.0.0/16 1 5 ABCDEFFF001DEFD2 ABCDEFFF001DEFD2 1 256", "OOSIZE: number between 0 and 255"),
        ("10.8.0.0/16 1 5 ABCDEFFF001DEFD2 ABCDEFFF001DEFD2 1", "expected 'ADDR/MASK"),
    ] {
        let found = write("add", text).expect_err(text).message;
        assert!(found.contains(message) && !found.contains("ABCDEF"), "{text}: {found}");
    }
    let failing = "set 0/0 2\nremove 10.9.0.0/16\nremove 10.9.0.0/16";
    assert!(write("ctrl", failing).is_err());
    assert_eq!(write("ctrl", "set 0/0 2\n\nremove 10.9.0.0/16"), Ok(String::new()));
    let mut read =
        |name: &str, text: &str| router.call(Call::read(format!("r.{name}"), text)).expect("a value");
    let table = "10.0.2.0/24\t\t192.0.2.2\t1\tspi 234 sent 0 received 0\n192.0.2.2/32\t\t-\t\t0\n192.0.2.9/32\t\t-\t\t2\n0.0.0.0/0\t\t-\t\t2\n";
    assert_eq!(read("table", ""), table);
    assert_eq!([read("lookup", "10.0.2.9"), read("lookup", "10.9.0.1")], ["1 192.0.2.2", "2"]);
}

#[test]
fn wrong_arguments() {
    let long = "ABCDEFFF001DEFD2354550FE40CD708E";
    for (element, message) in [
        ("RadixIPsecLookup(10.0.0.0/8 1)".to_owned(), "argument 1 bad OUTPUT"),
        (
            format!("RadixIPsecLookup(0/0 0, 10.0.0.0/8 0 5 {long}00 {long} 1 1)"),
            "argument 2 ENCRYPT_KEY: key has bad length",
        ),
        ("RadixIPsecLookup(nonsense)".to_owned(), "argument 1 should be 'ADDR/MASK [GATEWAY] OUTPUT"),
        (format!("IPsecDES(1, FFFFFFFFFFFFFFFF, {long})"), "IGNORE: number between"),
        (format!("IPsecDES(1, {long})"), "KEY: key has bad length"),
        ("IPsecAES".to_owned(), "ENCRYPT"),
        ("IPsecAuthSHA1(x)".to_owned(), "VERIFY"),
        ("IPsecESPUnencap(true)".to_owned(), "too many arguments"),
    ] {
        let found = errors(&format!("Idle -> {element} -> Discard"));
        assert!(found.contains(message) && !found.contains(long), "{element}: {found}");
    }
}

/// Associations on the same terms go on in a new configuration, and others begin; routes of handlers move.
#[test]
fn a_new_configuration() {
    let config = |keys: &str, outputs: &str| {
        format!(
            "Idle -> r :: RadixIPsecLookup(10.0.2.0/24 192.0.2.2 1 234 {keys} 300 64); r[0] -> Discard; r[1] -> Discard; {outputs}"
        )
    };
    let read = |router: &mut router::Router| router.call(Call::read("r.table", "")).expect("a table");
    let mut old = build(&config(KEYS, "r[2] -> Discard"), 1, 1).expect("good");
    old.call(Call::write("r.add", format!("10.3.0.0/16 1 9 {KEYS} 5 5"))).expect("a route");
    old.call(Call::write("r.add", "10.4.0.0/16 2")).expect("a route");
    let mut new = build(&config(KEYS, ""), 1, 1).expect("good");
    new.take_over(&mut old).expect("taken over");
    assert_eq!(
        read(&mut new),
        "10.0.2.0/24\t\t192.0.2.2\t1\tspi 234 sent 0 received 0\n10.3.0.0/16\t\t-\t\t1\tspi 9 sent 0 received 0\n"
    );
    assert_eq!(new.info().log.text(), "r: 1 routes lost (their output is gone)\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Nothing that comes gets through, or stops anything.
    #[test]
    fn whatever_comes(
        packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..90), 1..20),
        cipher in prop::sample::select(vec!["IPsecAES", "IPsecDES"]),
    ) {
        let mut packets = packets;
        for packet in &mut packets {
            // Headers that say so, so that most come far.
            let header = [0x45, 0, 0, 90, 0, 0, 0, 0, 9, 50, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 234];
            packet.splice(..packet.len().min(24), header).for_each(drop);
        }
        let flow = send(&opening(cipher, "300 64"), arriving(packets.clone()));
        prop_assert_eq!(flow.data(0).len(), 0);
        // And the elements by themselves, which only trust what is before them.
        for way in [format!("{cipher}(1)"), format!("{cipher}(0)"), "IPsecESPUnencap".to_owned(), "IPsecESPEncap".to_owned()] {
            let config = format!("{} Inject -> r; r[0] -> {way} -> Collect(0); r[1] -> Discard; r[2] -> Discard", lookup("1 255"));
            send(&config, arriving(packets.clone()));
        }
    }
}
