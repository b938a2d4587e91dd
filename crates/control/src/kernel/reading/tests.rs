//! Readings of a kernel that is played.

use super::*;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const LISTS: &[List] = &[List { what: 7, is_optional: true }, List::of(8)];

/// A message of some list.
fn head(kind: u16, flags: u16, ask: Ask, code: i32) -> Head {
    Head { kind, flags, sequence: ask.sequence, code }
}

fn done(ask: Ask) -> Head {
    head(NLMSG_DONE, PART, ask, 0)
}

fn refused(ask: Ask, error: Errno) -> Head {
    head(NLMSG_ERROR, 0, ask, -error.raw_os_error())
}

/// A reading that has begun, what was asked for first, and when that was.
fn begun() -> (Reading, Ask, Instant) {
    let (mut reading, now) = (Reading::new(LISTS), Instant::now());
    assert_eq!((reading.next(), reading.begin(now)), (None, None));
    reading.want(now);
    let ask = reading.begin(now).expect("it is time");
    assert_eq!(ask.what, 7);
    (reading, ask, now)
}

/// Takes in the end of a list that another follows.
fn next(reading: &mut Reading, end: Head, now: Instant) -> Ask {
    match reading.hear(end, now) {
        Step::Ask(ask) => ask,
        other => panic!("{other:?}"),
    }
}

#[test]
fn all_lists_and_then_the_end() {
    let (mut reading, first, now) = begun();
    // What others ask for, and answers to what was given up, are none of its affair.
    let other = Ask { sequence: first.sequence + 1, ..first };
    assert_eq!(reading.hear(done(other), now), Step::Nothing);
    assert_eq!(reading.hear(head(16, PART, first, 0), now), Step::Nothing);
    assert_eq!(reading.hear(head(NLMSG_ERROR, 0, first, 0), now), Step::Nothing, "an acknowledgement");
    let second = next(&mut reading, done(first), now);
    assert_eq!((second.what, reading.hear(done(first), now)), (8, Step::Nothing));
    assert_eq!(reading.hear(done(second), now), Step::End(End::Whole));
    assert_eq!((reading.is_under_way(), reading.is_planned(), reading.next()), (false, false, None));
}

/// An overrun is not forgotten, in whichever list it happens, and no second list is asked for before the end of the first.
#[test]
fn an_overrun_has_everything_read_once_more() {
    for in_second in [false, true] {
        let (mut reading, first, now) = begun();
        let lose = |reading: &mut Reading| {
            reading.overrun(now);
            reading.dry();
            assert_eq!(reading.begin(now), None, "the kernel is busy");
        };
        if !in_second {
            lose(&mut reading);
        }
        let second = next(&mut reading, done(first), now);
        if in_second {
            lose(&mut reading);
        }
        assert_eq!(reading.hear(done(second), now), Step::End(End::Doubtful));
        assert_eq!(reading.begin(now).map(|ask| ask.what), Some(7));
    }
}

/// As long as messages wait the kernel drops changes, so that what it lists would be out of date.
#[test]
fn nothing_is_asked_for_before_all_has_been_heard() {
    let (mut reading, now) = (Reading::new(LISTS), Instant::now());
    reading.overrun(now);
    assert_eq!(reading.begin(now + PATIENCE), None);
    reading.dry();
    assert!(reading.begin(now).is_some());
}

#[test]
fn errors_are_no_ends() {
    for error in [Errno::BUSY, Errno::PERM, Errno::OPNOTSUPP] {
        let (mut reading, first, now) = begun();
        let second = next(&mut reading, done(first), now);
        assert_eq!(reading.hear(refused(second, error), now), Step::End(End::Failed(Some(error))));
        assert_eq!((reading.begin(now), reading.is_planned()), (None, true));
        // The end of a list may carry an error, too. It is the same, and no news.
        let first = reading.begin(now + AGAIN).expect("it tries again");
        let second = next(&mut reading, done(first), now);
        assert_eq!(
            reading.hear(head(NLMSG_DONE, PART, second, -error.raw_os_error()), now),
            Step::End(End::Failed(None))
        );
        assert_eq!(reading.next(), Some(now + AGAIN));
    }
}

#[test]
fn a_list_that_kernels_may_lack() {
    let (mut reading, first, now) = begun();
    let second = next(&mut reading, refused(first, Errno::OPNOTSUPP), now);
    assert_eq!(reading.hear(done(second), now), Step::End(End::Whole));
    let (mut reading, first, now) = begun();
    assert_eq!(reading.hear(refused(first, Errno::BUSY), now), Step::End(End::Failed(Some(Errno::BUSY))));
}

/// What the kernel itself doubts is read once more, a moment later.
#[test]
fn a_list_that_was_interrupted() {
    for at_end in [false, true] {
        let (mut reading, first, now) = begun();
        let interrupted = head(if at_end { NLMSG_DONE } else { 16 }, PART | INTERRUPTED, first, 0);
        let step = reading.hear(interrupted, now);
        let second = match step {
            Step::Ask(ask) => ask,
            _ => next(&mut reading, done(first), now),
        };
        assert_eq!(reading.hear(done(second), now), Step::End(End::Doubtful));
        assert_eq!(reading.next(), Some(now + AGAIN));
    }
}

/// A kernel that goes on to list is waited for; one that has forgotten is asked anew.
#[test]
fn silence_has_an_end() {
    let (mut reading, first, now) = begun();
    let later = now + PATIENCE * 2 / 3;
    reading.hear(head(16, PART, first, 0), later);
    assert_eq!((reading.begin(now + PATIENCE), reading.next()), (None, Some(later + PATIENCE)));
    // Changes are not of the list.
    reading.hear(head(16, 0, first, 0), later + PATIENCE);
    let again = reading.begin(later + PATIENCE).expect("it asks anew");
    assert_eq!(reading.hear(done(first), later), Step::Nothing);
    next(&mut reading, done(again), later);
}

/// What is wanted while everything is read comes behind it.
#[test]
fn wanted_meanwhile() {
    let (mut reading, first, now) = begun();
    reading.want(now + PATIENCE);
    let second = next(&mut reading, done(first), now);
    assert_eq!(reading.hear(done(second), now), Step::End(End::Whole));
    assert_eq!(reading.next(), Some(now + PATIENCE));
    let (mut reading, first, now) = begun();
    reading.spoil(now);
    let second = next(&mut reading, done(first), now);
    assert_eq!(reading.hear(done(second), now), Step::End(End::Doubtful));
    assert_eq!(reading.next(), Some(now));
}

/// Numbers as good as at random.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }
}

/// What a message says of a key.
#[derive(Clone, Debug)]
enum Said {
    Is(u64),
    IsGone(u64),
    /// The end of a list, and what the table had at that moment.
    End(i32, BTreeSet<u64>),
    Error(i32),
}

/// A message: what it answers, whether the list is marked as interrupted, and what it says.
type Sent = (Option<Ask>, bool, Said);

/// Messages were lost.
struct Lost;

/// A list that the kernel makes.
struct Dump {
    ask: Ask,
    /// The keys that are left begin here.
    from: u64,
    interrupted: bool,
}

/// Keys below this are in the first list.
const FIRST: u64 = 16;
const KEYS: u64 = 32;
/// Messages that may wait.
const ROOM: usize = 8;

/// A kernel with a table, as Linux has its sockets.
#[derive(Default)]
struct Kernel {
    table: BTreeSet<u64>,
    waiting: VecDeque<Sent>,
    is_congested: bool,
    /// Whether the next read is told of an overrun.
    overrun: bool,
    dump: Option<Dump>,
}

impl Kernel {
    fn change(&mut self, key: u64) {
        let said = match self.table.insert(key) {
            true => Said::Is(key),
            false => {
                self.table.remove(&key);
                Said::IsGone(key)
            }
        };
        if self.is_congested || self.waiting.len() >= ROOM {
            self.overrun |= !std::mem::replace(&mut self.is_congested, true);
        } else {
            self.waiting.push_back((None, false, said));
        }
    }

    fn ask(&mut self, ask: Ask) {
        if self.dump.is_some() {
            let busy = Said::Error(-Errno::BUSY.raw_os_error());
            return self.waiting.push_back((Some(ask), false, busy));
        }
        self.dump = Some(Dump { ask, from: if ask.what == 7 { 0 } else { FIRST }, interrupted: false });
        self.list(&mut Random(1));
    }

    /// Lists a few keys, if there is room.
    fn list(&mut self, random: &mut Random) {
        let Some(dump) = self.dump.as_mut().filter(|_| self.waiting.len() < ROOM) else { return };
        let end = if dump.ask.what == 7 { FIRST } else { KEYS };
        let next: Vec<u64> = self.table.range(dump.from..end).copied().take(3).collect();
        let ask = Some(dump.ask);
        dump.interrupted |= random.one_in(50);
        for key in &next {
            self.waiting.push_back((ask, dump.interrupted, Said::Is(*key)));
        }
        match next.last() {
            Some(last) => dump.from = last + 1,
            None => {
                let code = if random.one_in(10) { -Errno::NOMEM.raw_os_error() } else { 0 };
                let said = Said::End(code, self.table.clone());
                self.waiting.push_back((ask, dump.interrupted, said));
                self.dump = None;
            }
        }
    }

    /// The next message; or that some were lost.
    fn hear(&mut self, random: &mut Random) -> Option<Result<Sent, Lost>> {
        let heard = match std::mem::take(&mut self.overrun) {
            true => Some(Err(Lost)),
            false => self.waiting.pop_front().map(Ok),
        };
        if self.waiting.len() <= ROOM / 2 && !matches!(heard, Some(Err(Lost))) {
            self.list(random);
        }
        self.is_congested &= !self.waiting.is_empty();
        heard
    }
}

/// Who mirrors the table: keys, and whether they were heard of since the reading began.
struct Mirror {
    reading: Reading,
    known: BTreeMap<u64, bool>,
    whole: usize,
}

impl Mirror {
    fn hear(&mut self, kernel: &mut Kernel, random: &mut Random, now: Instant) {
        match kernel.hear(random) {
            None => self.reading.dry(),
            Some(Err(Lost)) => self.reading.overrun(now),
            Some(Ok((ask, interrupted, said))) => {
                match said {
                    Said::Is(key) => drop(self.known.insert(key, true)),
                    Said::IsGone(key) => drop(self.known.remove(&key)),
                    _ => {}
                }
                let (kind, code) = match said {
                    Said::End(code, _) => (NLMSG_DONE, code),
                    Said::Error(code) => (NLMSG_ERROR, code),
                    _ => (16, 0),
                };
                let flags = u16::from(ask.is_some()) * PART + u16::from(interrupted) * INTERRUPTED;
                let head = Head { kind, flags, sequence: ask.map_or(0, |ask| ask.sequence), code };
                match self.reading.hear(head, now) {
                    Step::Nothing => {}
                    Step::Ask(ask) => kernel.ask(ask),
                    Step::End(End::Whole) => self.sweep(said),
                    Step::End(_) => assert!(self.reading.is_planned()),
                }
            }
        }
    }

    fn sweep(&mut self, said: Said) {
        let Said::End(_, there) = said else { panic!("{said:?}") };
        self.whole += 1;
        for (key, _) in self.known.extract_if(.., |_, heard| !*heard) {
            assert!(!there.contains(&key), "{key} was there when all had been listed");
        }
    }

    fn begin(&mut self, kernel: &mut Kernel, now: Instant) {
        if let Some(ask) = self.reading.begin(now) {
            self.known.values_mut().for_each(|heard| *heard = false);
            kernel.ask(ask);
        }
    }
}

/// Whatever the order of changes, overruns, errors and time: nothing goes that is there, and in the end all is known.
#[test]
fn orders_at_random() {
    let mut whole = 0;
    for seed in 1..=2_000 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let (mut kernel, mut now) = (Kernel::default(), Instant::now());
        let mut mirror = Mirror { reading: Reading::new(LISTS), known: BTreeMap::new(), whole: 0 };
        mirror.reading.want(now);
        for _ in 0..400 {
            match random.below(16) {
                0..=5 => kernel.change(random.below(KEYS)),
                6..=12 => mirror.hear(&mut kernel, &mut random, now),
                13 => mirror.begin(&mut kernel, now),
                14 => now += Duration::from_millis(random.below(1_000)),
                _ if random.one_in(20) => kernel.dump = None, // it forgets
                _ if random.one_in(20) => now += PATIENCE,
                _ if random.one_in(20) => mirror.reading.want(now + Duration::from_secs(random.below(3))),
                _ => {}
            }
        }
        let mut steps = 0;
        while mirror.reading.next().is_some() || !kernel.waiting.is_empty() || kernel.overrun {
            mirror.hear(&mut kernel, &mut random, now);
            if kernel.waiting.is_empty() && !kernel.overrun {
                mirror.hear(&mut kernel, &mut random, now);
                now += AGAIN;
                mirror.begin(&mut kernel, now);
            }
            steps += 1;
            assert!(steps < 100_000, "seed {seed}: it never ends");
        }
        let known: BTreeSet<u64> = mirror.known.keys().copied().collect();
        assert_eq!(known, kernel.table, "seed {seed}");
        whole += mirror.whole;
    }
    assert!(whole > 2_000);
}
