//! Messages are read as the kernel writes them.

use super::*;
use crate::mutations;
use elements_shared::ipsec_port::{Action, Algorithm, Direction, Mode, Selector, Template, Usage};
use elements_shared::route_port::Destination;
use std::net::IpAddr;

/// A message of a body that has octets in places.
fn message(kind: u16, len: usize, places: &[(usize, &[u8])], attributes: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut body = vec![0; len];
    for (at, octets) in places {
        body[*at..at + octets.len()].copy_from_slice(octets);
    }
    for (kind, value) in attributes {
        body.extend((4 + value.len() as u16).to_ne_bytes());
        body.extend(kind.to_ne_bytes());
        body.extend(value);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    let mut message = ((HEADER + body.len()) as u32).to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    message.extend([0; 10]);
    message.extend(body);
    message
}

fn named(name: &str, numbers: &[u32], key: &[u8]) -> Vec<u8> {
    let mut value = name.as_bytes().to_vec();
    value.resize(64, 0);
    numbers.iter().for_each(|number| value.extend(number.to_ne_bytes()));
    [value, key.to_vec()].concat()
}

const TO: [u8; 4] = [198, 51, 100, 1];
const FROM: [u8; 4] = [192, 0, 2, 1];
const SPI: [u8; 4] = [0, 0, 0x10, 1];
const FOREVER: [u8; 32] = [0xff; 32];

/// An association as `ip xfrm state add` makes it.
fn association(attributes: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let family = AF_INET.to_ne_bytes();
    let seven = 7u32.to_ne_bytes();
    let places: [(usize, &[u8]); 9] = [
        (56, &TO),
        (72, &SPI),
        (76, &[ESP]),
        (80, &FROM),
        (96, &FOREVER),
        (208, &seven),
        (212, &family),
        (214, &[1]),
        (215, &[32]),
    ];
    message(NEWSA, SA_INFO, &places, attributes)
}

fn gcm() -> (u16, Vec<u8>) {
    (ALG_AEAD, named("rfc4106(gcm(aes))", &[160, 128], &[0x5a; 20]))
}

/// A policy as `ip xfrm policy add` makes it.
fn policy(kind: u16, direction: u8, templates: usize) -> Vec<u8> {
    let family = AF_INET.to_ne_bytes();
    let (priority, index) = (9u32.to_ne_bytes(), 17u32.to_ne_bytes());
    let places: [(usize, &[u8]); 11] = [
        (0, &[10, 0, 2, 0]),
        (16, &[10, 0, 1, 0]),
        (32, &[0, 53, 0xff, 0xff]),
        (40, &family),
        (42, &[24, 24, 17]),
        (152, &priority),
        (156, &index),
        (160, &[direction]),
        (161, &[0]),
        (162, &[0]),
        (163, &[0]),
    ];
    let mut template = [0; TEMPLATE];
    template[..4].copy_from_slice(&TO);
    template[20] = ESP;
    template[24..26].copy_from_slice(&family);
    template[28..32].copy_from_slice(&FROM);
    template[44] = 7;
    template[48] = 1;
    message(kind, POLICY_INFO, &places, &[(TMPL, template.repeat(templates))])
}

fn only(bytes: &[u8]) -> Message {
    let mut found = messages(bytes);
    assert_eq!(found.len(), 1);
    found.remove(0)
}

fn known(bytes: &[u8]) -> Known {
    match only(bytes) {
        Message::Association(known) => *known,
        other => panic!("no association: {other:?}"),
    }
}

#[test]
fn associations() {
    let state = [5u32, 6, 0].map(u32::to_ne_bytes).concat();
    let read = known(&association(&[gcm(), (REPLAY_VAL, state)]));
    let of = &read.association;
    assert_eq!((of.source, of.destination), (IpAddr::from(FROM), IpAddr::from(TO)));
    assert_eq!((of.spi, of.reqid, of.mode, of.window), (0x1001, 7, Mode::Tunnel, 32));
    assert_eq!((of.algorithm, of.key.octets(), of.used), (Algorithm::AesGcm, &[0x5a; 20][..], (5, 6)));
    assert_eq!((of.soft.bytes, of.hard.packets, read.bitmap), (u64::MAX, u64::MAX, None));
    // What is logged of it by mistake has no key.
    assert!(!format!("{read:?}").contains("90, 90"));

    let state = [4u32, 1, 2, 3, 4, 128].map(u32::to_ne_bytes).concat();
    let encap = [&2u16.to_ne_bytes()[..], &4500u16.to_be_bytes(), &4501u16.to_be_bytes(), &[0; 18]].concat();
    let read = known(&association(&[gcm(), (REPLAY_ESN_VAL, state), (ENCAP, encap)]));
    assert_eq!(
        (read.association.window, read.bitmap, read.association.ports),
        (128, Some(4), Some((4500, 4501)))
    );

    let cbc = (ALG_CRYPT, named("cbc(aes)", &[128], &[1; 16]));
    let hmac = (ALG_AUTH_TRUNC, named("hmac(sha256)", &[256, 128], &[2; 32]));
    let read = known(&association(&[cbc.clone(), hmac.clone()]));
    assert_eq!(read.association.key.octets(), [[1; 16].as_slice(), &[2; 32]].concat());
    let chacha = (ALG_AEAD, named("rfc7539esp(chacha20,poly1305)", &[288, 128], &[3; 36]));
    assert_eq!(known(&association(&[chacha])).association.algorithm, Algorithm::ChaCha20Poly1305);

    for (attributes, reason) in [
        (vec![], "no key yet"),
        (vec![(ALG_AEAD, named("rfc4106(gcm(aes))", &[160, 64], &[0; 20]))], "less than 128 bits"),
        (vec![cbc, (ALG_AUTH_TRUNC, named("hmac(sha1)", &[160, 96], &[2; 20]))], "not known"),
        (vec![gcm(), (IF_ID, vec![1, 0, 0, 0])], "XFRM interface"),
        (vec![gcm(), (MARK, vec![1, 0, 0, 0, 0xff, 0, 0, 0])], "mark"),
    ] {
        match only(&association(&attributes)) {
            Message::Unusable(_, 0x1001, why) => assert!(why.contains(reason), "{why}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn associations_go() {
    let family = AF_INET.to_ne_bytes();
    let gone = message(DELSA, 24, &[(0, &TO), (16, &SPI), (20, &family), (22, &[ESP])], &[]);
    assert_eq!(only(&gone), Message::Gone(TO.into(), 0x1001));
    let places: [(usize, &[u8]); 4] = [(56, &TO), (72, &SPI), (76, &[ESP]), (212, &family)];
    let mut expired = message(EXPIRE, SA_INFO + 8, &places, &[]);
    assert_eq!(only(&expired), Message::Other, "a soft limit is the daemon's affair");
    expired[HEADER + SA_INFO] = 1;
    assert_eq!(only(&expired), Message::Gone(TO.into(), 0x1001));
    assert_eq!(only(&message(FLUSHSA, 8, &[(0, &[ESP])], &[])), Message::AllGone);
    assert_eq!(only(&message(FLUSHSA, 8, &[(0, &[51])], &[])), Message::Other);
}

fn prefix(address: [u8; 4]) -> Destination {
    Destination { address: address.into(), len: 24 }
}

fn selector() -> Selector {
    let (source, destination) = (prefix([10, 0, 1, 0]), prefix([10, 0, 2, 0]));
    Selector { source, destination, protocol: 17, source_port: (0, 0), destination_port: (53, 0xffff) }
}

fn template() -> Template {
    Template { source: FROM.into(), destination: TO.into(), spi: 0, reqid: 7, mode: Mode::Tunnel }
}

#[test]
fn policies() {
    let Message::Policy(read) = only(&policy(NEWPOLICY, 1, 1)) else { panic!("no policy") };
    assert_eq!((read.direction, read.tag, read.priority), (Direction::Out, 17, 9));
    assert_eq!((read.selector, read.action), (selector(), Action::Protect(template())));
    for (direction, templates, wanted) in [(0, 0, Direction::In), (2, 0, Direction::In)] {
        let Message::Policy(read) = only(&policy(UPDPOLICY, direction, templates)) else {
            panic!("no policy")
        };
        assert_eq!((read.direction, read.action), (wanted, Action::Bypass));
    }
    assert!(matches!(only(&policy(NEWPOLICY, 1, 2)), Message::UnusablePolicy(..)));
    let mut optional = policy(NEWPOLICY, 1, 1);
    optional[HEADER + POLICY_INFO + 4 + 50] = 1;
    let Message::UnusablePolicy(read, why) = only(&optional) else {
        panic!("it is taken as if it were required")
    };
    assert!(read.action == Action::Discard && why.contains("level use"), "{why}");
    assert_eq!(only(&policy(NEWPOLICY, 3, 0)), Message::Other, "a socket's");
    let family = AF_INET.to_ne_bytes();
    let info = policy(NEWPOLICY, 1, 0)[HEADER..HEADER + POLICY_INFO].to_vec();
    let gone = message(DELPOLICY, 64, &[(40, &family)], &[(POLICY, info)]);
    assert_eq!(only(&gone), Message::PolicyGone(Direction::Out, 17, selector()));
    assert_eq!(only(&message(FLUSHPOLICY, 0, &[], &[])), Message::NoPolicies);
}

/// What is told names what it is about, where the kernel looks for it.
#[test]
fn what_the_kernel_is_told() {
    let used = Usage {
        destination: TO.into(),
        spi: 0x1001,
        packets: 3,
        bytes: 400,
        sent: 1 << 32 | 9,
        received: 0,
        used_ns: 8_000_000_000,
    };
    let told = usage(&used, Numbers { bitmap: None, window: 32, made: 5 });
    assert_eq!(told.len(), HEADER + 48 + 36 + 16);
    assert_eq!((&told[HEADER..HEADER + 4], &told[HEADER + 16..HEADER + 20]), (&TO[..], &SPI[..]));
    assert_eq!(told[HEADER + 52..HEADER + 60], 400u64.to_ne_bytes());
    let told = usage(&used, Numbers { bitmap: Some(2), window: 64, made: 5 });
    let state = &told[HEADER + 48 + 36 + 4..];
    assert_eq!(state[..16], [2u32, 9, 0, 1].map(u32::to_ne_bytes).concat());
    assert_eq!(state.len(), 24 + 8);
    // An expiry is read as the kernel's own is, and a policy with its template as one that was added.
    assert_eq!(only(&expire(TO.into(), 0x1001, true)), Message::Gone(TO.into(), 0x1001));
    let wanted = acquire(&template(), &selector(), &selector(), 9);
    assert_eq!(wanted.len(), HEADER + 280 + 4 + TEMPLATE);
    let (info, templates) = (&wanted[HEADER + 96..HEADER + 96 + POLICY_INFO], &wanted[HEADER + 284..]);
    let again = message(NEWPOLICY, POLICY_INFO, &[(0, info)], &[(TMPL, templates.to_vec())]);
    let Message::Policy(read) = only(&again) else { panic!("no policy") };
    assert_eq!((read.selector, read.action), (selector(), Action::Protect(template())));
}

/// Messages with octets changed, cut off, left out and repeated: each is read as something, and what is read can be told again.
#[test]
fn messages_that_are_nearly_right() {
    mutations::each("xfrm", |data| {
        for message in messages(data) {
            let _ = format!("{message:?}");
            if let Message::Association(known) = message {
                assert!(known.association.key.octets().len() <= data.len());
            }
        }
    });
}

/// The corpus of the fuzz target is what this module's samples are.
#[test]
fn samples_are_the_corpus() {
    let state = [4u32, 1, 2, 3, 4, 128].map(u32::to_ne_bytes).concat();
    let samples = [
        ("associations", [association(&[gcm()]), association(&[gcm(), (REPLAY_ESN_VAL, state)])].concat()),
        ("policies", [policy(NEWPOLICY, 1, 1), policy(UPDPOLICY, 2, 2), policy(DELPOLICY, 0, 0)].concat()),
        ("expiry", expire(TO.into(), 0x1001, true)),
    ];
    let place = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/xfrm");
    for (name, bytes) in samples {
        if std::env::var_os("WRITE_CORPUS").is_some() {
            std::fs::create_dir_all(&place).expect("a directory");
            std::fs::write(place.join(name), &bytes).expect("written");
        }
        assert_eq!(std::fs::read(place.join(name)).ok(), Some(bytes), "{name}: WRITE_CORPUS=1 writes it");
    }
}
