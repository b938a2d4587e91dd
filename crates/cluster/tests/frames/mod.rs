//! What comes over the links of a cluster's node, and its roster. A fuzz target and ordinary tests try the same.

use cluster::label::Label;
use cluster::membership::{Hello, Key, Member, Roster, Timing};
use cluster::succession::{Adoption, Held, Overrun, Settings, Succession, Tables, Tell, World, message};
use cluster::topology::Topology;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const KEY: &[u8] = b"the key of all nodes";
/// The length of a hello's code.
const CODE: usize = 16;

/// The first byte says what the others are: a frame, a roster, hellos and parts of hellos, each behind its length, for a node of a mesh or
/// of a fly, or messages of what nodes remember. They get the right code, or none would be looked at.
pub(crate) fn run(data: &[u8]) {
    let Some((&kind, rest)) = data.split_first() else { return };
    match kind % 5 {
        0 => drop(Label::decode(rest)),
        1 => drop(Roster::parse(&String::from_utf8_lossy(rest))),
        2 => hellos(&Topology::Mesh { nodes: 4 }, rest),
        3 => hellos(&Topology::fly(4, 2), rest),
        _ => messages(rest),
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

/// Tables that take everything.
struct Greedy(u64);

impl Tables for Greedy {
    fn watch(&mut self, _: bool) {}

    fn widen(&mut self) {}

    fn changes(&mut self, _: usize, _: usize, _: &mut Tell<'_>) -> Result<bool, Overrun> {
        Ok(false)
    }

    fn scan(&mut self, _: usize, _: bool, _: u32, _: usize, _: &mut Tell<'_>) -> Option<u32> {
        None
    }

    fn adopt(&mut self, table: usize, entries: &[Held]) -> Adoption {
        assert_eq!(table, 0);
        self.0 += entries.len() as u64;
        Adoption { taken: entries.len() as u64, ..Adoption::default() }
    }
}

/// For node 0 in its life 7, of four nodes of which node 3 is dead.
fn messages(mut rest: &[u8]) {
    let (key, mut now_ns, mut tables) = (Key::new(KEY), 1_000_000_000, Greedy(0));
    let settings = Settings { me: 0, nodes: 4, tables: vec!["rw".to_owned()], limit: 8 };
    let mut succession = Succession::new(settings, 7, key.clone());
    while let Some((&len, more)) = rest.split_first() {
        let (body, more) = more.split_at(usize::from(len).min(more.len()));
        rest = more;
        let bytes = signed(body);
        if let Ok((envelope, body)) = message::open(&key, &bytes) {
            let again = message::seal(&key, &envelope, &body);
            assert_eq!(message::open(&key, &again), Ok((envelope, body)));
        }
        let _ = succession.receive(now_ns, &bytes); // most are refused
        assert!(succession.receive(now_ns, &bytes).is_err(), "the same again");
        now_ns += 10_000_000;
        let lives = |node| node < 3;
        let world = World { takes_part: true, drains: false, reaches: &lives, stays: &lives };
        for (_, bytes) in succession.tick(now_ns, &world, &mut tables) {
            assert!(message::open(&key, &bytes).is_ok(), "its own message");
        }
        assert!(succession.held() <= 8, "what it holds is bounded");
        assert_eq!(succession.counts().adopted, tables.0);
    }
}
