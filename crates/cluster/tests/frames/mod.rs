//! What comes over the links of a cluster's node, and its roster. A fuzz target and ordinary tests try the same.

use cluster::label::Label;
use cluster::membership::{Hello, Key, Member, Roster, Timing};
use cluster::topology::Topology;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const KEY: &[u8] = b"the key of all nodes";
/// The length of a hello's code.
const CODE: usize = 16;

/// The first byte says what the others are: a frame, a roster, or hellos and parts of hellos, each behind its length, for a node of a mesh or
/// of a fly. They get the right code, or none would be looked at.
pub(crate) fn run(data: &[u8]) {
    let Some((&kind, rest)) = data.split_first() else { return };
    match kind % 4 {
        0 => drop(Label::decode(rest)),
        1 => drop(Roster::parse(&String::from_utf8_lossy(rest))),
        2 => hellos(&Topology::Mesh { nodes: 4 }, rest),
        _ => hellos(&Topology::fly(4, 2), rest),
    }
}

fn hellos(topology: &Topology, mut rest: &[u8]) {
    let (key, mut now_ns) = (Key::new(KEY), 1_000_000_000);
    let roster = Roster::simple(topology.nodes() as u16);
    let mut member = Member::new(0, 7, topology, &roster, key.clone(), Timing::default(), now_ns);
    while let Some((&len, more)) = rest.split_first() {
        let (body, more) = more.split_at(usize::from(len).min(more.len()));
        rest = more;
        let bytes = signed(body);
        if let Ok(hello) = Hello::decode(&bytes, &key) {
            assert_eq!(hello.encode(&key), bytes_of(&hello, &key));
        }
        for from in topology.neighbours(0) {
            let _ = member.receive(now_ns, from, &bytes); // most are refused
        }
        now_ns += 10_000_000;
        member.tick(now_ns);
        member.view();
        assert!(Hello::decode(&member.hello(), &key).is_ok(), "its own hello");
        assert!(member.frames(100).iter().all(|frame| frame.len() <= 100), "its parts");
    }
}

/// Reading what was written gives the same again.
fn bytes_of(hello: &Hello, key: &Key) -> Vec<u8> {
    Hello::decode(&hello.encode(key), key).expect("its own bytes").encode(key)
}

fn signed(body: &[u8]) -> Vec<u8> {
    let mut code = Hmac::<Sha256>::new_from_slice(KEY).expect("any length");
    code.update(body);
    [body, &code.finalize().into_bytes()[..CODE]].concat()
}
