//! Inputs that are nearly right: those of a fuzz target's corpus, changed at random. Ordinary tests hand them to what the target runs, without
//! a fuzzer and with the stable toolchain; this file is a module of theirs.
//!
//! Tests try the same few hundred inputs each time, for a few seconds at most. With the variable FUZZ_SECONDS they try others for so long, from a seed that is printed;
//! FUZZ_SEED gives it. An input that makes the test panic, or takes longer than a minute, is stored in `fuzz/artifacts/`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Inputs in ordinary tests, and how long they may take together.
const USUAL: u32 = 300;
const USUAL_TIME: Duration = Duration::from_secs(3);
/// No input takes longer, however busy the machine is.
const LONGEST: Duration = Duration::from_secs(60);
/// Longer inputs find nothing that shorter ones do not.
const BYTES_MAX: usize = 4096;

/// Runs the inputs of a target.
pub(crate) fn each(target: &str, mut run: impl FnMut(&[u8])) {
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let usual = if seconds.is_some() { from_clock() } else { 1 };
    let seed = std::env::var("FUZZ_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let corpus = corpus(target);
    assert!(!corpus.is_empty(), "{target}: no corpus");
    let (mut random, watched) = (Random(seed), Watched::start(target));
    let (start, mut count) = (Instant::now(), 0);
    let time = seconds.map_or(USUAL_TIME, Duration::from_secs);
    let most = if seconds.is_some() { u32::MAX } else { USUAL };
    while count < most && start.elapsed() < time {
        let input = mutated(&corpus, &mut random);
        watched.set(Some(&input));
        run(&input);
        watched.set(None);
        count += 1;
    }
    println!("{target}: {count} inputs, FUZZ_SEED={seed}");
}

fn from_clock() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |time| time.as_nanos() as u64)
}

/// The files of a corpus, in the order of their names.
pub(crate) fn corpus(target: &str) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = std::fs::read_dir(folder("corpus").join(target))
        .expect("a corpus")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("readable")).collect()
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz").join(name)
}

/// An input that runs, and since when.
type Current = Option<(Instant, Vec<u8>)>;

/// The input that runs, which is stored if the test does not come to its end.
struct Watched {
    target: String,
    input: Arc<Mutex<Current>>,
}

impl Watched {
    fn start(target: &str) -> Watched {
        let input: Arc<Mutex<Current>> = Arc::default();
        let (weak, name) = (Arc::downgrade(&input), target.to_owned());
        std::thread::spawn(move || {
            while let Some(input) = weak.upgrade() {
                let slow = input.lock().expect("whole").take_if(|(since, _)| since.elapsed() > LONGEST);
                if let Some((_, bytes)) = slow {
                    store(&name, &bytes);
                    std::process::abort();
                }
                drop(input);
                std::thread::sleep(Duration::from_millis(500));
            }
        });
        Watched { target: target.to_owned(), input }
    }

    fn set(&self, input: Option<&[u8]>) {
        *self.input.lock().expect("whole") = input.map(|bytes| (Instant::now(), bytes.to_vec()));
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some((_, bytes)) = self.input.lock().expect("whole").take() {
            store(&self.target, &bytes);
        }
    }
}

fn store(target: &str, bytes: &[u8]) {
    let file = folder("artifacts").join(target).join(format!("mutated-{}", std::process::id()));
    let stored =
        std::fs::create_dir_all(file.parent().expect("a folder")).and_then(|()| std::fs::write(&file, bytes));
    eprintln!("{target}: the input is {bytes:?}, {}: {stored:?}", file.display());
}

/// An input and up to eight changes of it.
fn mutated(corpus: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut input = random.of(corpus).clone();
    for _ in 0..=random.below(8) {
        change(&mut input, corpus, random);
    }
    input.truncate(BYTES_MAX);
    input
}

fn change(input: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut Random) {
    const ODD: [u64; 10] = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, u64::MAX];
    let (from, to) = random.range(input.len());
    match random.below(8) {
        0 => input.get_mut(from).into_iter().for_each(|byte| *byte ^= 1 << random.below(8)),
        1 => input.get_mut(from).into_iter().for_each(|byte| *byte = random.next() as u8),
        2 => drop(input.drain(from..to)),
        3 => input.extend_from_within(from..to),
        4 => {
            let other = random.of(corpus);
            let (start, end) = random.range(other.len());
            input.splice(from..to, other[start..end].iter().copied());
        }
        5 => {
            let bytes = random.of(&ODD).to_be_bytes();
            let width = 1 << random.below(4);
            input.iter_mut().skip(from).zip(&bytes[8 - width..]).for_each(|(byte, new)| *byte = *new);
        }
        6 => {
            let number = random.of(&ODD).to_string();
            input.splice(from..to, number.bytes());
        }
        _ => {
            let new: Vec<u8> = (0..random.below(16)).map(|_| random.next() as u8).collect();
            input.splice(from..from, new);
        }
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// A part of so many: most are short.
    fn range(&mut self, len: usize) -> (usize, usize) {
        let from = self.below(len + 1);
        let most = if self.below(4) == 0 { len } else { 8 };
        (from, (from + self.below(most + 1)).min(len))
    }
}
