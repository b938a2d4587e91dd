use super::super::list::AnyPrefix;
use super::*;

fn record_of(kind: u16, subtype: u16, body: &[u8]) -> Vec<u8> {
    let mut record = 1_000u32.to_be_bytes().to_vec();
    record.extend(kind.to_be_bytes());
    record.extend(subtype.to_be_bytes());
    record.extend((body.len() as u32).to_be_bytes());
    record.extend(body);
    record
}

fn counted(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u16).to_be_bytes()[..], bytes].concat()
}

/// ORIGIN, an AS path of this many wide hops, and a next hop.
fn attributes(hops: u8, gateway: [u8; 4]) -> Vec<u8> {
    let mut path = vec![2, hops];
    path.extend(std::iter::repeat_n([0, 0, 1, 1], hops.into()).flatten());
    [&[0x40, 1, 1, 0][..], &[0x40, 2, path.len() as u8], &path, &[0x40, 3, 4], &gateway].concat()
}

/// A record of a message or, without its marker, of something else from a peer: 192.0.2.LAST in AS 5.
fn from_peer(last: u8, subtype: u16, content: &[u8]) -> Vec<u8> {
    let ends = [0, 0, 0, 5, 0, 0, 0, 8, 0, 0, 0, 1, 192, 0, 2, last, 192, 0, 2, 254];
    record_of(16, subtype, &[&ends[..], content].concat())
}

fn message(kind: u8, content: &[u8]) -> Vec<u8> {
    [&[0xff; 16][..], &(19 + content.len() as u16).to_be_bytes(), &[kind], content].concat()
}

fn update_of(last: u8, withdrawn: &[u8], attributes: &[u8], announced: &[u8]) -> Vec<u8> {
    let content = [counted(withdrawn), counted(attributes), announced.to_vec()].concat();
    from_peer(last, 4, &message(2, &content))
}

/// An update of the first peer.
fn update(withdrawn: &[u8], attributes: &[u8], announced: &[u8]) -> Vec<u8> {
    update_of(1, withdrawn, attributes, announced)
}

fn change_of_state(last: u8, old: u8, new: u8) -> Vec<u8> {
    from_peer(last, 5, &[0, old, 0, new])
}

/// An index of two peers and three prefixes, one of IPv6.
fn dump() -> Vec<u8> {
    let peers = [
        &[1, 1, 1, 1, 0, 0, 0, 2][..],
        &[2, 1, 1, 1, 1, 192, 0, 2, 1, 0, 0, 0, 5],
        &[1, 1, 1, 1, 1],
        &[0x20; 16],
        &[0, 6],
    ];
    let entry = |peer: u8, attributes: &[u8]| [&[0, peer, 0, 0, 0, 0][..], &counted(attributes)].concat();
    let both = [
        &[0, 0, 0, 0, 8, 10, 0, 2][..],
        &entry(0, &attributes(3, [1, 1, 1, 1])),
        &entry(1, &attributes(2, [2, 2, 2, 2])),
    ];
    let one = [&[0, 0, 0, 1, 24, 192, 0, 2, 0, 1][..], &entry(0, &attributes(1, [3, 3, 3, 3]))];
    // The next hop alone, as in the RFC.
    let reach = [&[0x80, 14, 17, 16][..], &[0x20; 16]].concat();
    let six = [&[0, 0, 0, 2, 16, 0x20, 0x01, 0, 1][..], &entry(1, &reach)];
    [
        record_of(13, 1, &peers.concat()),
        record_of(13, 2, &both.concat()),
        record_of(13, 2, &one.concat()),
        record_of(13, 4, &six.concat()),
    ]
    .concat()
}

fn lines(bytes: &[u8]) -> Vec<String> {
    lines_of(&list(bytes).strict().unwrap())
}

fn lines_of(list: &List) -> Vec<String> {
    let v4 = list.v4.iter().map(|&(prefix, way)| (AnyPrefix::V4(prefix), way));
    let all = v4.chain(list.v6.iter().map(|&(prefix, way)| (AnyPrefix::V6(prefix), way)));
    all.map(|(prefix, way)| {
        let gateway = list.hops(way)[0].0.gateway;
        format!("{prefix} {}", gateway.map_or("-".to_owned(), |gateway| gateway.to_string()))
    })
    .collect()
}

#[test]
fn a_dump_gives_the_shortest_paths() {
    assert!(is_mrt(&dump()));
    let six = "2001::/16 2020:2020:2020:2020:2020:2020:2020:2020";
    assert_eq!(lines(&dump()), ["10.0.0.0/8 2.2.2.2", "192.0.2.0/24 3.3.3.3", six]);
}

/// One route a record, or many, with a length that is right or, in the oldest files, 4 too small.
#[test]
fn old_dumps_are_read_with_one_route_a_record_or_many() {
    let route = |net: u8, hops: u8| {
        let path = [&[2, hops][..], &vec![1; 2 * usize::from(hops)]].concat();
        let attributes = [&[0x40, 2, path.len() as u8][..], &path, &[0x40, 3, 4, 1, 1, 1, hops]].concat();
        [&[net, 0, 0, 0, 8, 1, 0, 0, 0, 7, 10, 0, 0, 1, 0, 9][..], &counted(&attributes)].concat()
    };
    let one = record_of(12, 1, &[vec![0; 4], route(10, 2)].concat());
    let mut many = record_of(12, 1, &[vec![0; 4], route(11, 1), route(10, 1), route(12, 3)].concat());
    let expected = ["10.0.0.0/8 1.1.1.1", "11.0.0.0/8 1.1.1.1", "12.0.0.0/8 1.1.1.3"];
    assert_eq!(lines(&[one.clone(), many.clone()].concat()), expected);
    many[11] -= 4;
    assert_eq!(lines(&[one.clone(), many, one].concat()), expected);
}

/// A record of a message of 16-bit systems, from 192.0.2.1 in one of these.
fn narrow(asn: u16, content: &[u8]) -> Vec<u8> {
    let ends = [&asn.to_be_bytes()[..], &[0x5b, 0xa0, 0, 0, 0, 1, 192, 0, 2, 1, 192, 0, 2, 254]].concat();
    record_of(16, 1, &[&ends[..], content].concat())
}

/// AS_TRANS stands for a number that does not fit (RFC 6793): the peer is the one that the dump has with its whole number, so its update
/// replaces its route, and the collector, whose number does not fit either, is of another system.
#[test]
fn a_peer_is_the_same_in_narrow_and_wide_records() {
    let peers = [&[1, 1, 1, 1, 0, 0, 0, 1][..], &[2, 1, 1, 1, 1, 192, 0, 2, 1, 0, 3, 0, 5]].concat();
    let entry = [&[0, 0, 0, 0, 0, 0][..], &counted(&attributes(1, [1, 1, 1, 1]))].concat();
    let rib = [&[0, 0, 0, 0, 8, 10, 0, 1][..], &entry].concat();
    let dump = [record_of(13, 1, &peers), record_of(13, 2, &rib)].concat();
    let update = |attributes: &[u8], announced: &[u8], withdrawn: &[u8]| {
        let content = [counted(withdrawn), counted(attributes), announced.to_vec()].concat();
        narrow(23456, &message(2, &content))
    };
    // A path of three systems, then a preference that only a neighbour of the same system would send.
    let path =
        [0x40, 1, 1, 0, 0x40, 2, 8, 2, 3, 0x5b, 0xa0, 0, 2, 0, 3, 0x40, 3, 4, 7, 7, 7, 7, 0x40, 5, 1, 0];
    assert_eq!(lines(&[dump.clone(), update(&path, &[8, 10], &[])].concat()), ["10.0.0.0/8 7.7.7.7"]);
    assert_eq!(lines(&[dump, update(&[], &[], &[8, 10])].concat()), [""; 0]);
}

/// RFC 7607: a path with the number 0 is malformed, and what it announces is withdrawn; an aggregator with it is left out.
#[test]
fn autonomous_system_0_is_none() {
    let path = |asn: u8| [0x40, 1, 1, 0, 0x40, 2, 6, 2, 1, 0, 0, 0, asn, 0x40, 3, 4, 1, 1, 1, 1].to_vec();
    let (good, bad) = (update(&[], &path(9), &[8, 10]), update(&[], &path(0), &[8, 10]));
    assert_eq!(read_all(&good), (vec!["10.0.0.0/8 1.1.1.1".to_owned()], Vec::new()));
    let (routes, faults) = read_all(&[good, bad].concat());
    assert!(
        routes.is_empty() && faults.len() == 1 && faults[0].contains("record 2"),
        "{routes:?} {faults:?}"
    );
    let aggregator = [path(9), vec![0xc0, 7, 8, 0, 0, 0, 0, 192, 0, 2, 1]].concat();
    assert_eq!(lines(&update(&[], &aggregator, &[8, 10])), ["10.0.0.0/8 1.1.1.1"]);
}

/// What is read of a file, and the faults.
fn read_all(bytes: &[u8]) -> (Vec<String>, Vec<String>) {
    let read = list(bytes);
    let faults = read.faults.lines().collect();
    (lines_of(&read), faults)
}

const SIX: &str = "2001::/16 2020:2020:2020:2020:2020:2020:2020:2020";

#[test]
fn updates_after_a_dump_have_the_last_word() {
    let mut bytes = dump();
    bytes.extend(update(&[24, 192, 0, 2], &attributes(1, [7, 7, 7, 7]), &[8, 10, 16, 172, 16]));
    bytes.extend(update(&[16, 172, 16], &[], &[]));
    bytes.extend(update(&[], &attributes(1, [8, 8, 8, 8]), &[20, 172, 31, 0]));
    // Announced and withdrawn in the attributes of IPv6; the second peer's route stays.
    let reach = [&[0x90, 14, 0, 26, 0, 2, 1, 16][..], &[0xfe; 16], &[0, 32, 0x20, 0x01, 0x0d, 0xb8]].concat();
    let reach = [attributes(1, [8, 8, 8, 8]), reach].concat();
    bytes.extend(update(&[], &reach, &[]));
    bytes.extend(update(&[], &[0x80, 15, 6, 0, 2, 1, 16, 0x20, 0x01], &[]));
    let six = "2001:db8::/32 fefe:fefe:fefe:fefe:fefe:fefe:fefe:fefe";
    assert_eq!(lines(&bytes), ["10.0.0.0/8 7.7.7.7", "172.31.0.0/20 8.8.8.8", SIX, six]);
    // The best route goes; the other peer's, which the dump has, takes over.
    bytes.extend(update(&[8, 10], &[], &[]));
    assert_eq!(lines(&bytes), ["10.0.0.0/8 2.2.2.2", "172.31.0.0/20 8.8.8.8", SIX, six]);
}

/// With its session a peer's routes go, those of the dump, too: when it ends in any way, and when another begins.
#[test]
fn routes_go_with_the_session() {
    let announced = [
        update(&[], &attributes(1, [7, 7, 7, 7]), &[8, 10, 8, 11]),
        update_of(9, &[], &attributes(2, [9, 9, 9, 9]), &[8, 11, 8, 12]),
    ]
    .concat();
    let with = |bytes: &[u8]| lines(&[&dump()[..], &announced, bytes].concat());
    let before =
        ["10.0.0.0/8 7.7.7.7", "192.0.2.0/24 3.3.3.3", "11.0.0.0/8 7.7.7.7", "12.0.0.0/8 9.9.9.9", SIX];
    let after = ["10.0.0.0/8 2.2.2.2", "11.0.0.0/8 9.9.9.9", "12.0.0.0/8 9.9.9.9", SIX];
    assert_eq!(with(&[]), before);
    assert_eq!(with(&change_of_state(1, 6, 6)), before);
    assert_eq!(with(&change_of_state(1, 6, 1)), after);
    assert_eq!(with(&change_of_state(1, 5, 6)), after);
    // Two octets for systems; the same in a record with microseconds.
    let narrow = [0, 5, 0, 8, 0, 1, 0, 1, 192, 0, 2, 1, 192, 0, 2, 254, 0, 6, 0, 1];
    assert_eq!(with(&record_of(16, 0, &narrow)), after);
    let micro = [&[0, 0, 1, 0][..], &change_of_state(1, 6, 1)[12..]].concat();
    assert_eq!(with(&record_of(17, 5, &micro)), after);
    // A notification of either end.
    assert_eq!(with(&from_peer(1, 4, &message(3, &[6, 2]))), after);
    assert_eq!(with(&from_peer(1, 7, &message(3, &[6, 2]))), after);
    // What comes after it counts.
    let again = update(&[], &attributes(1, [5, 5, 5, 5]), &[8, 11]);
    assert_eq!(with(&[change_of_state(1, 6, 1), again].concat())[1], "11.0.0.0/8 5.5.5.5");
}

/// What a collector sends to a peer is no route from it.
#[test]
fn sent_updates_are_no_routes() {
    let content = [counted(&[]), counted(&attributes(1, [7, 7, 7, 7])), vec![8, 10]].concat();
    for subtype in [6, 7, 10, 11] {
        let ends = [&[0; 4 * 3][..], &[0; 8]].concat();
        let narrow = [&[0, 5, 0, 8, 0, 0, 0, 1][..], &[0; 8]].concat();
        let ends = if subtype == 6 || subtype == 10 { narrow } else { ends };
        let record = record_of(16, subtype, &[ends, message(2, &content)].concat());
        assert_eq!(read_all(&record), (vec![], vec![]), "{subtype}");
    }
}

fn with_attribute(extra: &[u8]) -> Vec<u8> {
    [attributes(1, [7, 7, 7, 7]), extra.to_vec()].concat()
}

const ANNOUNCED: [u8; 2] = [8, 10];

/// RFC 7606, section 3 g: of an attribute that comes twice the first counts; but for those that carry routes the session ends.
#[test]
fn attributes_that_come_twice() {
    let twice = with_attribute(&[0x40, 3, 4, 8, 8, 8, 8]);
    assert_eq!(read_all(&update(&[], &twice, &ANNOUNCED)), (vec!["10.0.0.0/8 7.7.7.7".into()], vec![]));
    // Also if the second one is malformed.
    let twice = with_attribute(&[0x40, 1, 1, 9]);
    assert_eq!(read_all(&update(&[], &twice, &ANNOUNCED)), (vec!["10.0.0.0/8 7.7.7.7".into()], vec![]));
    for kind in [14, 15] {
        let reach = [&[0x80, kind, 22, 0, 2, 1, 16][..], &[0xfe; 16], &[0, 0]].concat();
        let gone = [0x80, kind, 3, 0, 2, 1].to_vec();
        let once = if kind == 14 { reach } else { gone };
        let bytes = [
            update(&[], &attributes(1, [7, 7, 7, 7]), &[8, 11]),
            update(&[], &with_attribute(&[once.clone(), once].concat()), &ANNOUNCED),
        ];
        let fault = format!("MRT record 2 (byte 77): attribute {kind} comes twice: the session ends");
        assert_eq!(read_all(&bytes.concat()), (vec![], vec![fault]));
    }
}

/// RFC 7606, section 7: what is malformed, and whether the route goes with it.
#[test]
fn malformed_attributes() {
    let path = |bytes: &[u8]| {
        [&[0x40, 1, 1, 0][..], &[0x40, 2, bytes.len() as u8], bytes, &[0x40, 3, 4, 7, 7, 7, 7]].concat()
    };
    let origin = |bytes: &[u8]| [bytes, &[0x40, 2, 0], &[0x40, 3, 4, 7, 7, 7, 7]].concat();
    let next_hop = |bytes: &[u8]| [&[0x40, 1, 1, 0, 0x40, 2, 0][..], bytes].concat();
    // Attributes, and the type of the one that is malformed; none if the route stays.
    let cases: [(Vec<u8>, Option<u8>); 33] = [
        (origin(&[0x40, 1, 1, 2]), None),
        (origin(&[0x40, 1, 1, 3]), Some(1)),
        (origin(&[0x40, 1, 2, 0, 0]), Some(1)),
        (origin(&[0x80, 1, 1, 0]), Some(1)),
        (origin(&[]), Some(1)),
        (path(&[]), None),
        (path(&[3, 1, 0, 0, 0, 9]), None),
        (path(&[2, 2, 0, 0, 0, 9]), Some(2)),
        (path(&[2, 0]), Some(2)),
        (path(&[2]), Some(2)),
        (path(&[5, 1, 0, 0, 0, 9]), Some(2)),
        ([&[0x40, 1, 1, 0][..], &[0x40, 3, 4, 7, 7, 7, 7]].concat(), Some(2)),
        (next_hop(&[0x40, 3, 3, 7, 7, 7]), Some(3)),
        (next_hop(&[0x40, 3, 4, 0, 0, 0, 0]), Some(3)),
        (next_hop(&[0x40, 3, 4, 127, 0, 0, 1]), Some(3)),
        (next_hop(&[0x40, 3, 4, 224, 0, 0, 1]), Some(3)),
        (next_hop(&[]), Some(3)),
        (with_attribute(&[0x80, 4, 3, 0, 0, 0]), Some(4)),
        // From another system: discarded, whatever they are.
        (with_attribute(&[0x40, 5, 3, 0, 0, 0]), None),
        (with_attribute(&[0x80, 9, 3, 0, 0, 0]), None),
        (with_attribute(&[0x80, 10, 3, 0, 0, 0]), None),
        (with_attribute(&[0x40, 6, 1, 0]), None),
        (with_attribute(&[0xc0, 7, 7, 0, 0, 0, 0, 0, 0, 0]), None),
        (with_attribute(&[0xc0, 8, 0]), Some(8)),
        (with_attribute(&[0xc0, 8, 6, 0, 0, 0, 0, 0, 0]), Some(8)),
        (with_attribute(&[0xe0, 8, 4, 0, 0, 0, 0]), None),
        (with_attribute(&[0xc0, 16, 4, 0, 0, 0, 0]), Some(16)),
        (with_attribute(&[0xc0, 17, 1, 0]), None),
        (with_attribute(&[0xc0, 25, 4, 0, 0, 0, 0]), Some(25)),
        (with_attribute(&[0xc0, 32, 4, 0, 0, 0, 0]), Some(32)),
        (with_attribute(&[0xc0, 99, 1, 0]), None),
        // Section 4: it would be longer than the list.
        (with_attribute(&[0xc0, 98, 9, 0]), Some(98)),
        (with_attribute(&[0xc0]), Some(0)),
    ];
    for (attributes, wrong) in cases {
        let before = update(&[], &with_attribute(&[]), &[8, 10, 8, 11]);
        let bytes = [before, update(&[], &attributes, &ANNOUNCED)].concat();
        let (routes, faults) = read_all(&bytes);
        let stays = routes == ["10.0.0.0/8 7.7.7.7", "11.0.0.0/8 7.7.7.7"];
        assert_eq!(
            (stays, routes.len()),
            (wrong.is_none(), 2 - usize::from(wrong.is_some())),
            "{attributes:?}: {faults:?}"
        );
        let said =
            wrong.map(|kind| format!("attribute {kind} is malformed or missing: the routes are withdrawn"));
        assert_eq!(faults.first().and_then(|fault| Some(fault.split_once(": ")?.1)), said.as_deref());
    }
    // Within a system they count.
    let internal = [0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0, 1, 192, 0, 2, 1, 192, 0, 2, 254];
    for wrong in [[0x40, 5, 3, 0, 0, 0], [0x80, 9, 3, 0, 0, 0], [0x80, 10, 3, 0, 0, 0]] {
        let content = [counted(&[]), counted(&with_attribute(&wrong)), ANNOUNCED.to_vec()].concat();
        let record = record_of(16, 4, &[&internal[..], &message(2, &content)].concat());
        assert_eq!(read_all(&record).0, Vec::<String>::new());
    }
}

/// A next hop that is the collector itself is no way, and no error of the session.
#[test]
fn routes_that_lead_back_are_ignored() {
    let bytes = [
        update(&[], &attributes(1, [7, 7, 7, 7]), &[8, 10]),
        update(&[], &attributes(1, [192, 0, 2, 254]), &[8, 10, 8, 11]),
    ];
    assert_eq!(read_all(&bytes.concat()), (vec![], vec![]));
}

/// A prefix that an update withdraws and announces is announced, whichever attribute comes first.
#[test]
fn announcements_win_over_withdrawals() {
    let reach = [&[0x80, 14, 22, 0, 2, 1, 16][..], &[0xfe; 16], &[0, 8, 0x20]].concat();
    let reach = [&[0x80, 14, 23][..], &reach[3..]].concat();
    let gone = [0x80, 15, 5, 0, 2, 1, 8, 0x20];
    let attributes = with_attribute(&[&reach[..], &gone].concat());
    let (routes, faults) = read_all(&update(&ANNOUNCED, &attributes, &ANNOUNCED));
    assert_eq!(routes, ["10.0.0.0/8 7.7.7.7", "2000::/8 fefe:fefe:fefe:fefe:fefe:fefe:fefe:fefe"]);
    assert_eq!(faults, Vec::<String>::new());
}

/// What ends a session beside attributes that come twice.
#[test]
fn updates_that_end_the_session() {
    let short = |bytes: &[u8]| from_peer(1, 4, &message(2, bytes));
    let reach = |len: u8| {
        let value = [&[0, 2, 1, len][..], &vec![0xfe; len.into()], &[0]].concat();
        update(&[], &with_attribute(&[&[0x80, 14, value.len() as u8][..], &value].concat()), &[])
    };
    let v4_reach = with_attribute(&[0x80, 14, 7, 0, 1, 1, 2, 1, 1, 0]);
    for (record, message) in [
        (update(&[33, 1, 1, 1, 1, 1], &[], &[]), "malformed prefixes in an update"),
        (update(&[], &with_attribute(&[]), &[24, 1, 1]), "malformed prefixes in an update"),
        (update(&[], &[0x80, 15, 5, 0, 2, 1, 129, 1], &[]), "malformed prefixes in an update"),
        (short(&[0, 9, 0, 0]), "the fields of an update are longer than it"),
        (short(&[0, 0, 0, 9]), "the fields of an update are longer than it"),
        (reach(4), "a next hop of a wrong length in attribute 14"),
        (reach(24), "a next hop of a wrong length in attribute 14"),
        (update(&[], &v4_reach, &[]), "a next hop of a wrong length in attribute 14"),
        (update(&[], &with_attribute(&[0x40, 99, 0]), &ANNOUNCED), "unknown well-known attribute 99"),
    ] {
        let before = update(&[], &with_attribute(&[]), &[8, 11]);
        let (routes, faults) = read_all(&[before, record].concat());
        assert_eq!(routes, Vec::<String>::new(), "{message}");
        assert_eq!(faults, [format!("MRT record 2 (byte 77): {message}: the session ends")]);
    }
    assert_eq!(read_all(&reach(16)).1, Vec::<String>::new());
}

/// IPv4 routes over IPv6 next hops (RFC 8950), in updates and in dumps.
#[test]
fn next_hops_of_the_other_family() {
    let value = [&[0, 1, 1, 16][..], &[0xfe; 16], &[0, 8, 10]].concat();
    let reach = [&[0x80, 14, value.len() as u8][..], &value].concat();
    let over = "fefe:fefe:fefe:fefe:fefe:fefe:fefe:fefe";
    let own = [&[0x40, 1, 1, 0, 0x40, 2, 0][..], &reach].concat();
    assert_eq!(lines(&update(&[], &own, &[])), [format!("10.0.0.0/8 {over}")]);
    let index = &dump()[..56];
    let dumped = [&[0x80, 14, 17, 16][..], &[0xfe; 16]].concat();
    let entry = [&[0, 0, 0, 0, 8, 10, 0, 1, 0, 0, 0, 0, 0, 0][..], &counted(&dumped)].concat();
    assert_eq!(lines(&[index, &record_of(13, 2, &entry)].concat()), [format!("10.0.0.0/8 {over}")]);
}

/// Every kind of record that has unicast routes, with and without ids; the others have none.
#[test]
fn every_subtype_of_a_dump() {
    let index = &dump()[..56];
    let entry = |id: &[u8], last: u8, hops: u8| {
        [&[0, 0, 0, 0, 0, 0][..], id, &counted(&attributes(hops, [last; 4]))].concat()
    };
    let prefix = |family: &[u8]| [&[0, 0, 0, 0][..], family, &[8, 10, 0, 2]].concat();
    let read = |subtype: u16, family: &[u8], ids: bool| {
        let id = |id: u8| if ids { vec![0, 0, 0, id] } else { Vec::new() };
        let body = [prefix(family), entry(&id(1), 3, 2), entry(&id(2), 4, 1)].concat();
        lines(&[index, &record_of(13, subtype, &body)].concat())
    };
    assert_eq!(read(2, &[], false), ["10.0.0.0/8 4.4.4.4"]);
    assert_eq!(read(8, &[], true), ["10.0.0.0/8 4.4.4.4"]);
    assert_eq!(read(4, &[], false), ["a00::/8 4.4.4.4"]);
    assert_eq!(read(10, &[], true), ["a00::/8 4.4.4.4"]);
    assert_eq!(read(6, &[0, 1, 1], false), ["10.0.0.0/8 4.4.4.4"]);
    assert_eq!(read(12, &[0, 2, 1], true), ["a00::/8 4.4.4.4"]);
    for (subtype, family) in
        [(3, &[][..]), (5, &[]), (7, &[]), (9, &[]), (11, &[]), (6, &[0, 1, 2]), (6, &[0, 25, 65])]
    {
        assert_eq!(read(subtype, family, false), Vec::<String>::new(), "{subtype}");
    }
}

/// An entry of a dump with a malformed attribute is left out, and the others stay.
#[test]
fn malformed_entries_of_a_dump() {
    let index = &dump()[..56];
    let entry = |attributes: &[u8]| [&[0, 0, 0, 0, 0, 0][..], &counted(attributes)].concat();
    let bad = [0x40, 2, 1, 2, 0x40, 3, 4, 9, 9, 9, 9];
    let body = [&[0, 0, 0, 0, 8, 10, 0, 2][..], &entry(&bad), &entry(&attributes(4, [7; 4]))].concat();
    let (routes, faults) = read_all(&[index, &record_of(13, 2, &body)].concat());
    assert_eq!(routes, ["10.0.0.0/8 7.7.7.7"]);
    assert_eq!(
        faults,
        ["MRT record 2 (byte 56): attribute 2 is malformed or missing: the routes are withdrawn"]
    );
}

/// A record that is wrong is left out and named; those behind it are read.
#[test]
fn damaged_records_are_named_and_left_out() {
    let mut bytes = dump();
    let wrong = [
        (record_of(13, 2, &[0, 0, 0, 0, 8, 10, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0]), "peer 9 is not in the index"),
        (record_of(13, 2, &[0, 0, 0, 0, 40, 10, 1, 1, 1, 1, 0, 0]), "prefix length 40 exceeds"),
        (record_of(13, 2, &[0, 0, 0, 0, 8, 10, 0, 1, 0]), "ends within a route"),
        (record_of(13, 1, &[0, 0]), "ends within the index of peers"),
        (from_peer(1, 4, &[0; 19]), "no BGP message where one should be"),
        (from_peer(1, 4, &[0xff; 17]), "ends within a BGP message"),
        (from_peer(1, 5, &[0]), "ends within a change of state"),
        (record_of(999, 1, &[0]), "no record of a known type (type 999)"),
    ];
    for (record, _) in &wrong {
        bytes.extend(record);
    }
    bytes.extend(update(&[], &attributes(1, [7, 7, 7, 7]), &[8, 13]));
    let (routes, faults) = read_all(&bytes);
    assert_eq!(routes, ["10.0.0.0/8 2.2.2.2", "192.0.2.0/24 3.3.3.3", "13.0.0.0/8 7.7.7.7", SIX]);
    assert_eq!(faults.len(), wrong.len());
    for (number, (fault, (_, message))) in (5..).zip(faults.iter().zip(&wrong)) {
        assert!(
            fault.starts_with(&format!("MRT record {number} (byte ")) && fault.contains(message),
            "{fault}"
        );
    }
}

#[test]
fn truncated_files_are_named_at_their_last_record() {
    let mut bytes = dump();
    bytes.extend(update(&[24, 192, 0, 2], &attributes(1, [7, 7, 7, 7]), &[8, 10]));
    let whole: Vec<usize> = {
        let (mut at, mut ends) = (0, vec![0]);
        while at < bytes.len() {
            at += 12 + u32::from_be_bytes(bytes[at + 8..at + 12].try_into().unwrap()) as usize;
            ends.push(at);
        }
        ends
    };
    for cut in 0..bytes.len() {
        let read = list(&bytes[..cut]);
        assert_eq!(read.faults.count(), u64::from(!whole.contains(&cut)), "{cut}");
        // All records before it count.
        let before = whole.iter().filter(|&&end| end <= cut).max().unwrap();
        assert_eq!(lines_of(&read), lines_of(&list(&bytes[..*before])), "{cut}");
    }
    let error = super::super::parse_any(&bytes[..40], super::super::MAIN_TABLE).unwrap_err().to_string();
    assert_eq!(error, "MRT record 1 (byte 0): ends within a record; is the file complete?");
}

proptest::proptest! {
    /// Any change of a few bytes gives a list or an error.
    #[test]
    fn no_damage_panics(changes in proptest::collection::vec((0usize..400, 0u8..=255), 1..6)) {
        let mut bytes = dump();
        bytes.extend(update(&[24, 192, 0, 2], &attributes(1, [7, 7, 7, 7]), &[8, 10]));
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        let _ = list(&bytes);
    }
}
