//! The flow table of rewriters in every interleaving (within a preemption bound) of small programs, under the C11 memory model.
//!
//! These are the table's sources, with loom's primitives in the place of those in `rewrite/sync.rs`. In every interleaving a flow has
//! at most one entry, no port is given twice, and a reader finds nothing or a whole flow, which stays what it is until his turn ends.
//! Grace periods are `rcu`'s, which has models of its own: here a step of theirs is one step.
//!
//! What each protection is for is shown by taking it away: [`MUTANTS`] says which model fails then, and with what words. Each model runs
//! in a process of its own, as what a failed one leaves behind is of no use. An argument chooses models and mutants by their names.

// The models need a part of the table, and run none of the tests in these files.
#![allow(dead_code, unused_imports)]

#[path = "../src/rewrite/bits.rs"]
mod bits;
#[path = "../src/rewrite/bucket.rs"]
mod bucket;
#[path = "../src/rewrite/changes.rs"]
mod changes;
#[path = "../src/rewrite/counts.rs"]
mod counts;
#[path = "../src/rewrite/crowds.rs"]
mod crowds;
#[path = "../src/rewrite/deltas.rs"]
mod deltas;
#[path = "../src/rewrite/editor.rs"]
mod editor;
#[path = "../src/end.rs"]
mod end;
#[path = "../src/rewrite/exhausted.rs"]
mod exhausted;
#[path = "../src/rewrite/expiry.rs"]
mod expiry;
#[path = "../src/rewrite/flow_events.rs"]
mod flow_events;
#[path = "../src/rewrite/flow_set.rs"]
mod flow_set;
#[path = "../src/rewrite/index.rs"]
mod index;
#[path = "../src/rewrite/lane.rs"]
mod lane;
#[path = "../src/rewrite/policy.rs"]
mod policy;
#[path = "../src/quota.rs"]
mod quota;
#[path = "../src/rewrite/record.rs"]
mod record;

/// What takes the place of `rewrite/sync.rs`: small sizes, and primitives that loom watches.
mod sync {
    use loom::sync::atomic;
    pub(super) use loom::sync::{Mutex, MutexGuard};
    use rcu::{Account, Backpressure, Config, Domain, Token, Turn, Updater};
    use std::cell::RefCell;
    use std::rc::Rc;
    use std::sync::OnceLock;
    use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release};

    pub(super) const LANES: usize = 2;
    pub(super) const BLOCK: u32 = 1;
    pub(super) const ROOM: usize = 2;
    pub(super) const PART: usize = 1;
    pub(super) const SHARDS: usize = 2;
    pub(super) const SLOTS: usize = 4;
    pub(super) const FILL: usize = 50; // a bucket that grows has a slot left
    pub(super) const FIRST_CHUNK: u32 = 64;
    pub(super) const LINES: bool = false;

    /// The protection that this process does without.
    pub(super) static WITHOUT: OnceLock<String> = OnceLock::new();

    fn without(protection: &str) -> bool {
        WITHOUT.get().is_some_and(|without| without == protection)
    }

    fn order(order: Ordering) -> Ordering {
        match order {
            Acquire if without("acquire") => Relaxed,
            Release if without("release") => Relaxed,
            _ => order,
        }
    }

    /// Loom's atomics, less the protection that is taken away.
    macro_rules! atomics {
        ($($name:ident $number:ty),*) => { $(
            pub(super) struct $name(atomic::$name);

            impl $name {
                pub(super) fn new(value: $number) -> $name {
                    $name(atomic::$name::new(value))
                }

                pub(super) fn load(&self, with: Ordering) -> $number {
                    self.0.load(order(with))
                }

                pub(super) fn store(&self, value: $number, with: Ordering) {
                    self.0.store(value, order(with));
                }

                pub(super) fn fetch_add(&self, by: $number, with: Ordering) -> $number {
                    self.fetch_update(with, with, |old| Some(old.wrapping_add(by))).unwrap_or_else(|old| old)
                }

                pub(super) fn fetch_sub(&self, by: $number, with: Ordering) -> $number {
                    self.fetch_add(by.wrapping_neg(), with)
                }

                pub(super) fn fetch_update(
                    &self,
                    set: Ordering,
                    fetch: Ordering,
                    change: impl Fn($number) -> Option<$number>,
                ) -> Result<$number, $number> {
                    if without("one_step") {
                        let old = self.0.load(fetch);
                        return change(old).map(|new| self.0.store(new, set)).map(|()| old).ok_or(old);
                    }
                    self.0.fetch_update(set, fetch, change)
                }
            }

            impl Default for $name {
                fn default() -> $name {
                    $name::new(0)
                }
            }
        )* };
    }

    atomics!(AtomicU32 u32, AtomicU64 u64, AtomicUsize usize);

    pub(super) fn try_set(word: &AtomicU64, was: u64, is: u64) -> bool {
        without("bucket_lock") || word.0.compare_exchange(was, is, order(Acquire), Relaxed).is_ok()
    }

    pub(super) fn pause(_tries: &mut u32) {
        loom::thread::yield_now();
    }

    pub(super) fn as_lock(lock: impl FnOnce()) {
        if !without("growth_lock") {
            lock();
        }
    }

    /// `rcu`'s cell, of whose order loom is told.
    pub(super) struct Cell<T: Send + Sync + 'static> {
        cell: rcu::Cell<T>,
        published: atomic::AtomicUsize,
    }

    impl<T: Send + Sync + 'static> Cell<T> {
        pub(super) fn new(value: T) -> Cell<T> {
            Cell { cell: rcu::Cell::new(value), published: atomic::AtomicUsize::new(0) }
        }

        pub(super) fn read<'t>(&'t self, turn: Turn<'t>) -> &'t T {
            self.published.fetch_or(0, Acquire);
            self.cell.read(turn)
        }

        pub(super) fn replace_weighing(
            &self,
            new: Box<T>,
            bytes: usize,
            updater: &Updater,
        ) -> Result<(), Backpressure<Box<T>>> {
            self.published.fetch_add(1, Release);
            self.cell.replace_weighing(new, bytes, updater)
        }
    }

    thread_local! {
        // Loom runs a model's threads as coroutines of one thread.
        static RUN: RefCell<Option<Rc<Run>>> = const { RefCell::new(None) };
    }

    /// The domain of one run of a model, of whose order loom is told: who holds nothing any more comes before the end of a grace
    /// period, and its beginning before who holds something again.
    pub(super) struct Run {
        domain: Domain,
        order: atomic::AtomicUsize,
    }

    pub(super) struct Reader(rcu::Reader, Rc<Run>);

    pub(super) fn domain() -> Rc<Run> {
        // SAFETY: all cells and turns of a run are this domain's.
        let domain = || unsafe { Domain::isolated(Config::manual()) };
        let new = || Rc::new(Run { domain: domain(), order: atomic::AtomicUsize::new(0) });
        RUN.with_borrow_mut(|run| run.get_or_insert_with(new).clone())
    }

    /// Ends the run that the domain belongs to.
    pub(super) fn end() {
        domain().domain.barrier();
        RUN.take();
    }

    impl Run {
        pub(super) fn register(self: Rc<Self>, name: &str) -> Reader {
            self.order.fetch_or(0, AcqRel);
            let reader = self.domain.register(name);
            _ = reader.turn(); // it is online from here on
            Reader(reader, self)
        }

        pub(super) fn updater(&self) -> Updater {
            self.domain.updater()
        }

        pub(super) fn account(&self, name: &'static str) -> Account {
            self.domain.account(name)
        }

        pub(super) fn start(&self) -> Token {
            self.order.fetch_or(0, AcqRel);
            self.domain.start()
        }

        pub(super) fn poll(&self, token: Token) -> bool {
            self.order.fetch_or(0, AcqRel);
            without("grace_period") || self.domain.poll(token)
        }
    }

    impl Reader {
        pub(super) fn turn(&self) -> Turn<'_> {
            self.0.turn()
        }
    }

    impl Drop for Reader {
        fn drop(&mut self) {
            self.1.order.fetch_or(0, AcqRel);
            self.0.offline();
        }
    }

    pub(super) fn look_again<T>(look: impl FnOnce() -> Option<T>) -> Option<T> {
        if without("look_again") { None } else { look() }
    }

    pub(super) fn hold_lane<T>(lock: impl FnOnce() -> T) -> Option<T> {
        (!without("hold_lane")).then(lock)
    }

    pub(super) fn recalled(left: &mut usize) -> usize {
        if without("recall") { 0 } else { std::mem::take(left) }
    }

    pub(super) fn is_in_order([a, b]: [u64; 2]) -> bool {
        without("lock_order") || a <= b
    }
}

use counts::InputCounts;
use elements_shared::flow_id::FlowId;
use flow_set::{Entered, FlowSet};
use loom::thread;
use policy::{Policy, Timeouts};
use record::{FORWARD, MAPPINGS, NewFlow};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use sync::domain;

/// How often a run takes the processor from a thread that could go on. Three takes ten times as long, and shows no more.
const PREEMPTIONS: usize = 2;

/// When flows are made; none stays after [`LATER`].
const NOW: u64 = 1000;
const LATER: u64 = 2000;

/// A host's flow, which gets a port.
fn flow(host: u32, port: u16) -> NewFlow {
    let id = FlowId { saddr: 0x0a00_0000 + host, daddr: 0x0506_0708, sport: 1, dport: 80 };
    NewFlow {
        map: 0,
        protocol: 17,
        id,
        rewritten: FlowId { saddr: 0x0100_0000, sport: port, ..id },
        outputs: [0, 1],
        input: 0,
        ip_change: host as u16,
        transport_change: port,
        reply_anno: 0,
        mapped: false,
    }
}

/// The flow that the replies to a flow would make.
fn turned(new: NewFlow) -> NewFlow {
    NewFlow { id: new.rewritten.reversed(), rewritten: new.id.reversed(), ..new }
}

/// A flow of an endpoint that has one mapping for all.
fn mapped(port: u16) -> NewFlow {
    let new = flow(1, 1);
    let to = |id| FlowId { dport: port, ..id };
    NewFlow { id: to(new.id), rewritten: to(new.rewritten), mapped: true, ..new }
}

/// What came of entering a flow: the port that it has, where it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Came {
    Made(FlowId),
    Known(FlowId),
    Taken,
    Refused,
}
use Came::{Known, Made, Refused, Taken};

/// A table and who counts its flows.
struct World {
    set: FlowSet,
    counts: Arc<[InputCounts]>,
}

impl World {
    /// A table with these flows.
    fn new(capacity: i32, flows: &[NewFlow]) -> Arc<World> {
        let counts: Arc<[InputCounts]> = [InputCounts::default()].into();
        let world = World { set: FlowSet::new(1, capacity), counts: counts.clone() };
        let reader = domain().register("setup");
        let policy = Policy { guarantee_ms: 0, timeouts: Timeouts::Plain(LATER - NOW) };
        let mut editor = world.set.edit(reader.turn());
        editor.register(0, policy, counts);
        // Makes all records, which loom does not see ordered before what other threads do with them.
        let first = editor.insert(&flow(0, 0), NOW, NOW).map(|found| found.record);
        editor.remove(first.expect("there is room"));
        for new in flows {
            assert!(editor.insert(new, NOW - 10, NOW).is_some());
        }
        drop(editor);
        Arc::new(world)
    }

    /// A worker has met a new flow.
    fn enter(&self, worker: usize, new: &NewFlow, varies: bool, now_ms: u64) -> Came {
        let reader = domain().register("worker");
        match self.set.enter(reader.turn(), worker, new, varies, now_ms) {
            Entered::Made(found) => Made(found.rewritten()),
            Entered::Known(found) => Known(found.rewritten()),
            Entered::Taken => Taken,
            Entered::Refused => Refused,
        }
    }

    /// A worker has met a new flow of an endpoint that has one mapping for all, or gets one.
    fn enter_mapped(&self, worker: usize, new: &NewFlow) {
        let (reader, mapping) = (domain().register("worker"), new.mapping(0));
        let turn = reader.turn();
        while self.set.hold(turn, worker, mapping.keys()[FORWARD], FORWARD).is_none() {
            let entered = self.set.enter(turn, worker, &mapping, true, NOW);
            assert!(matches!(entered, Entered::Made(_) | Entered::Known(_)), "there is room for a mapping");
        }
        assert!(matches!(self.set.enter(turn, worker, new, true, NOW), Entered::Made(_)));
    }

    /// A mapping is there as long as flows count for it.
    fn check_mapped(&self) {
        let reader = domain().register("check");
        let flows = self.set.flows(reader.turn(), 0).count() as u32;
        let holders: Vec<u32> = self.set.flows(reader.turn(), MAPPINGS).map(|flow| flow.holders()).collect();
        assert_eq!(holders, Vec::from_iter((flows > 0).then_some(flows)), "counted for the mapping");
    }

    /// Looks a flow up, going forward, which may be in the table as one of these: finds one of them, or nothing. Says whether it did.
    fn look(&self, flows: &[NewFlow]) -> bool {
        let reader = domain().register("reader");
        let Some(found) = self.set.find(reader.turn(), flows[0].keys()[0]) else { return false };
        for _ in 0..2 {
            // Also when others have gone on, and the flow with them.
            let is = found.flow.describe();
            let whole = |new: &&NewFlow| {
                (new.id, new.rewritten, new.ip_change, new.transport_change)
                    == (is.id, is.rewritten, is.ip_change, is.transport_change)
            };
            assert!(flows.iter().any(|new| whole(&new)), "not a whole flow: {is:?}");
        }
        true
    }

    /// Time passes.
    fn shrink(&self) {
        let reader = domain().register("control");
        while self.set.edit(reader.turn()).shrink(LATER, 2) {}
    }

    /// Nothing is in the table twice, and all is counted.
    fn check(&self) {
        let reader = domain().register("check");
        let turn = reader.turn();
        let all: Vec<NewFlow> = self.set.flows(turn, 0).map(|flow| flow.describe()).collect();
        for key in all.iter().flat_map(|new| new.keys()) {
            let mut entries = 0;
            self.set.index().find(turn, self.set.hash(key), |entry| {
                entries += usize::from(self.set.check(entry, key).is_some());
                false
            });
            assert_eq!(entries, 1, "entries of {}, of {all:?}", key.id());
        }
        let counted = self.counts[0].flows() as usize;
        assert_eq!([self.set.size(), counted], [all.len(); 2], "flows are counted");
        assert!(all.len() as i64 <= i64::from(self.set.capacity()), "too many flows: {all:?}");
    }
}

/// A thread with a stack that is large enough: a queue of callbacks is made there.
fn spawn<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> thread::JoinHandle<T> {
    const WORDS: usize = 1 << 15;
    thread::Builder::new().stack_size(WORDS).spawn(body).expect("one of a model's few")
}

/// Two workers enter a flow each, side by side; what came of it, in order.
fn side_by_side(world: &Arc<World>, flows: [NewFlow; 2], varies: bool) -> [Came; 2] {
    let theirs = world.clone();
    let other = spawn(move || theirs.enter(1, &flows[1], varies, NOW));
    let mine = world.enter(0, &flows[0], varies, NOW);
    let mut came = [mine, other.join().unwrap()];
    world.check();
    came.sort();
    came
}

/// Two workers meet the same flow at once, and each has another port for it.
fn the_same_flow() {
    let world = World::new(8, &[]);
    let came = side_by_side(&world, [flow(1, 1), flow(1, 2)], true);
    assert!(matches!(came, [Made(one), Known(same)] if one == same), "{came:?}");
}

/// One worker meets a flow, another its replies. Its keys are in different shards.
fn both_directions() {
    let world = World::new(8, &[]);
    let new = in_shards(&world, 1, [1, 0]);
    let came = side_by_side(&world, [new, turned(new)], true);
    assert!(matches!(came, [Made(_), Known(_)]), "{came:?}");
}

/// Two workers have the same port for different flows.
fn the_same_port() {
    let world = World::new(8, &[]);
    let came = side_by_side(&world, [flow(1, 1), flow(2, 1)], true);
    assert!(matches!(came, [Made(_), Taken]), "{came:?}");
}

/// The same, where ports do not vary: the later one gets it.
fn the_later_one_has_the_port() {
    let world = World::new(8, &[]);
    let came = side_by_side(&world, [flow(1, 1), flow(2, 1)], false);
    assert!(matches!(came, [Made(_), Made(_)]), "{came:?}");
    assert_eq!(world.set.size(), 1);
}

/// A look-up beside a worker who adds the flow.
fn a_look_beside_one_who_adds() {
    let world = World::new(8, &[]);
    let theirs = world.clone();
    let other = spawn(move || theirs.look(&[flow(1, 1)]));
    assert!(matches!(world.enter(0, &flow(1, 1), true, NOW), Made(_)));
    other.join().unwrap();
    assert!(world.look(&[flow(1, 1)]));
}

/// A look-up beside two workers who add the same flow.
fn a_look_beside_two_who_add() {
    let world = World::new(8, &[]);
    let theirs = world.clone();
    let other = spawn(move || theirs.look(&[flow(1, 1), flow(1, 2)]));
    let came = side_by_side(&world, [flow(1, 1), flow(1, 2)], true);
    assert!(matches!(came, [Made(one), Known(same)] if one == same), "{came:?}");
    other.join().unwrap();
}

/// There is room for one of two flows.
fn room_for_one() {
    let world = World::new(1, &[]);
    let came = side_by_side(&world, [flow(1, 1), flow(2, 2)], true);
    assert!(matches!(came, [Made(_), Made(_) | Refused]), "one takes the other's place: {came:?}");
}

/// A worker has room left when another one needs it.
fn room_that_another_one_has() {
    let world = World::new(2, &[]);
    assert!(matches!(world.enter(0, &flow(1, 1), true, NOW), Made(_)));
    let came = side_by_side(&world, [flow(2, 2), flow(3, 3)], true);
    assert!(matches!(came, [Made(_), Made(_) | Refused]), "{came:?}");
    assert_eq!(world.set.size(), 2, "all room is used");
}

/// The table is full when two workers meet the same flow.
fn the_same_flow_in_a_full_table() {
    let world = World::new(2, &[flow(8, 8), flow(9, 9)]);
    let came = side_by_side(&world, [flow(1, 1), flow(1, 2)], true);
    assert!(matches!(came, [Made(one), Known(same)] if one == same), "{came:?}");
    assert!([8, 9].iter().filter(|&&host| world.look(&[flow(host, host as u16)])).count() == 1);
}

/// A flow makes room for another while it is looked up.
fn a_look_at_one_who_goes() {
    let world = World::new(1, &[flow(9, 9)]);
    let theirs = world.clone();
    let other = spawn(move || theirs.look(&[flow(9, 9)]));
    for host in 1..=3 {
        // The second one could use the first one's record, if its reader let go of it.
        assert!(matches!(world.enter(0, &flow(host, host as u16), true, NOW + u64::from(host)), Made(_)));
    }
    other.join().unwrap();
    world.check();
}

/// A flow's time is over while another one wants its port.
fn expiry_beside_one_who_adds() {
    let world = World::new(8, &[flow(9, 1)]);
    let theirs = world.clone();
    let other = spawn(move || theirs.shrink());
    let came = world.enter(0, &flow(1, 1), true, NOW);
    other.join().unwrap();
    world.check();
    assert!(matches!(came, Made(_) | Taken), "{came:?}");
}

/// The index grows while two workers add flows.
fn growth_beside_two_who_add() {
    let world = World::new(8, &[flow(9, 9)]);
    let came = side_by_side(&world, [flow(1, 1), flow(2, 2)], true);
    assert!(matches!(came, [Made(_), Made(_)]), "{came:?}");
    assert!([flow(9, 9), flow(1, 1), flow(2, 2)].iter().all(|new| world.look(&[*new])));
}

/// A flow of a host, or of one of nine after it, with ports of as many numbers, whose keys are in these shards.
fn in_shards(world: &World, host: u32, shards: [usize; 2]) -> NewFlow {
    let of = |new: &NewFlow| new.keys().map(|key| world.set.hash(key) as usize % sync::SHARDS);
    let numbers = host..host + 10;
    let mut flows = numbers.clone().flat_map(|host| numbers.clone().map(move |port| flow(host, port as u16)));
    flows.find(|new| of(new) == shards).expect("a hash spreads")
}

/// A shard grows with one flow while another one is added to it.
fn growth_beside_one_who_adds_there() {
    let world = World::new(8, &[]);
    let first = in_shards(&world, 20, [0, 0]);
    assert!(matches!(world.enter(0, &first, true, NOW), Made(_)));
    let flows = [in_shards(&world, 30, [0, 1]), in_shards(&world, 40, [0, 1])];
    let came = side_by_side(&world, flows, true);
    assert!(matches!(came, [Made(_), Made(_)]), "{came:?}");
}

/// The index grows while a flow is looked up that stays.
fn a_look_beside_growth() {
    let world = World::new(8, &[flow(9, 9)]);
    let theirs = world.clone();
    let other = spawn(move || assert!(theirs.look(&[flow(9, 9)]), "it was there all the time"));
    assert!(matches!(world.enter(0, &flow(1, 1), true, NOW), Made(_)));
    assert!(matches!(world.enter(0, &flow(2, 2), true, NOW), Made(_)));
    other.join().unwrap();
    world.check();
}

/// Two workers meet flows of an endpoint that has no mapping yet.
fn two_flows_of_a_new_mapping() {
    let world = World::new(8, &[]);
    let theirs = world.clone();
    let other = spawn(move || theirs.enter_mapped(1, &mapped(81)));
    world.enter_mapped(0, &mapped(80));
    other.join().unwrap();
    world.check_mapped();
}

/// The last flow of a mapping goes while a worker adds another one.
fn a_mapping_whose_last_flow_goes() {
    let world = World::new(8, &[]);
    world.enter_mapped(0, &mapped(80));
    let theirs = world.clone();
    let other = spawn(move || theirs.shrink());
    world.enter_mapped(0, &mapped(81));
    other.join().unwrap();
    world.check_mapped();
}

macro_rules! models {
    ($($name:ident)*) => { &[$((stringify!($name), $name as fn())),*] };
}

const MODELS: &[(&str, fn())] = models! {
    the_same_flow
    both_directions
    the_same_port
    the_later_one_has_the_port
    a_look_beside_one_who_adds
    a_look_beside_two_who_add
    room_for_one
    room_that_another_one_has
    the_same_flow_in_a_full_table
    a_look_at_one_who_goes
    expiry_beside_one_who_adds
    growth_beside_two_who_add
    growth_beside_one_who_adds_there
    a_look_beside_growth
    two_flows_of_a_new_mapping
    a_mapping_whose_last_flow_goes
};

/// What is taken away, the model that fails then, and what it says.
const MUTANTS: &[(&str, &str, &str)] = &[
    // The worker does not look for what came into the table since it looked without a lock.
    ("look_again", "the_same_flow", "entries of"),
    ("look_again", "the_same_port", "entries of"),
    ("look_again", "the_same_flow_in_a_full_table", "entries of"),
    // Two change a bucket at once.
    ("bucket_lock", "the_same_flow", "entries of"),
    ("bucket_lock", "growth_beside_two_who_add", "entries of"),
    // A shard is replaced by a copy without what is added meanwhile.
    ("growth_lock", "growth_beside_one_who_adds_there", "entries of"),
    // Buckets are locked in any order: two wait for each other.
    ("lock_order", "both_directions", "maximum number of branches"),
    // Numbers are read, then written: room, and records, are given twice.
    ("one_step", "room_for_one", "flows"),
    ("one_step", "two_flows_of_a_new_mapping", "counted for the mapping"),
    // Room is given anew while a lane goes on using it.
    ("recall", "room_that_another_one_has", "too many flows"),
    // A mapping may go between being found and being counted.
    ("hold_lane", "a_mapping_whose_last_flow_goes", "counted for the mapping"),
    // Who finds an entry need not find its record filled in.
    ("acquire", "a_look_beside_one_who_adds", "not a whole flow"),
    ("release", "a_look_beside_one_who_adds", "not a whole flow"),
    // The record of a removed flow is used again at once.
    ("grace_period", "a_look_at_one_who_goes", "not a whole flow"),
];

/// Runs a model here.
fn run(model: fn()) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.max_branches = 10_000;
    builder.check(move || {
        spawn(model).join().unwrap();
        sync::end();
    });
}

/// Runs a model in a process of its own; what it has written if it has failed.
fn outcome(model: &str, without: &str) -> Option<String> {
    let this = std::env::current_exe().expect("a program runs");
    let output = Command::new(this).args(["--model", model, without]).output().expect("it runs again");
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, name, without] = &args[..]
        && flag == "--model"
        && let Some((_, model)) = MODELS.iter().find(|model| model.0 == name)
    {
        sync::WITHOUT.get_or_init(|| without.clone());
        return run(*model);
    }
    if args.iter().any(|arg| arg == "--list") {
        return;
    }
    let chosen =
        |name: &str| args.iter().filter(|arg| !arg.starts_with('-')).all(|arg| name.contains(arg.as_str()));
    let mut failures = 0;
    for (name, _) in MODELS.iter().filter(|model| chosen(model.0)) {
        let failed = outcome(name, "nothing");
        println!("model {name} ... {}", if failed.is_some() { "FAILED" } else { "ok" });
        failures += usize::from(failed.is_some());
        failed.iter().for_each(|text| eprintln!("{text}"));
    }
    for (without, name, words) in MUTANTS.iter().filter(|mutant| chosen(mutant.0)) {
        let failed = outcome(name, without);
        let killed = failed.as_ref().is_some_and(|text| text.contains(words));
        println!("model {name} without {without} ... {}", if killed { "fails, ok" } else { "SURVIVES" });
        failures += usize::from(!killed);
        failed.iter().filter(|_| !killed).for_each(|text| eprintln!("{text}"));
    }
    assert_eq!(failures, 0, "models or mutants");
}
