//! Counts packets and bytes, and keeps the counts in a file.
//!
//! ```click
//! CounterFile(FILENAME [, KEYWORDS])
//! ```
//!
//! Passes packets on unchanged. The file consists of two eight-byte numbers in host byte order: packets and bytes.
//! Programs may read it, or map it into memory, while the router runs: it is updated a hundred times a second if
//! packets have arrived, and at the end. If the file exists already, counting continues from its values; a longer
//! file is rejected. It is FastClick's element, which counts directly in the file.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: shared; counts of all workers together.
//!
//! # Arguments
//! - `FILENAME` (file name): the file, which is created if it does not exist.
//! - `BATCH_PRECISE` (boolean): FastClick's; accepted.
//!
//! # Handlers
//! - `count`, `byte_count` (read): packets and bytes so far.
//! - `reset`, `reset_counts` (write, button): set both to zero.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 100, STOP true) -> CounterFile(/tmp/counts) -> Discard
//! ```
//!
//! # See also
//! Counter, MultiCounter

use device::files;
use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, FileName, Handlers, Pull, Residency};
use std::any::Any;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("CounterFile", create).residency(Residency::Shared).doc(router::manual!("counter_file.rs"));

/// How often the file is written.
const INTERVAL: Duration = Duration::from_millis(10);

/// What the file says: packets, and bytes.
type Counts = [u64; 2];

/// What a worker has counted, which it alone writes: apart from what others write.
#[derive(Default)]
#[repr(align(128))]
struct Counted([AtomicU64; 2]);

/// What all workers have in common.
struct Common {
    counted: Box<[Counted]>,
    /// What is added to all that; may be negative, as such numbers wrap.
    offset: [AtomicU64; 2],
}

struct CounterFile {
    name: String,
    common: Arc<Common>,
    mine: usize,
    /// Of the worker that writes it.
    file: Option<File>,
    /// Whether the file has room for both counts.
    is_whole: bool,
    written: Counts,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut name, mut precise) = (FileName(String::new()), false);
    config.args().required("FILENAME", &mut name).keyword("BATCH_PRECISE", &mut precise).finish()?;
    let workers = config.workers().len();
    let common = config.shared(|| {
        let counted = (0..workers).map(|_| Default::default()).collect();
        Ok(Common { counted, offset: Default::default() })
    })?;
    let mine = config.workers().iter().position(|&worker| worker == config.worker()).unwrap_or(0);
    Ok(Box::new(CounterFile { name: name.0, common, mine, file: None, is_whole: false, written: [0; 2] }))
}

/// Opens a file of counts; they are 0 where it ends before.
fn open(name: &str) -> std::io::Result<(File, Counts)> {
    let options = &mut File::options();
    let file =
        files::open_with(options.read(true).write(true).create(true).truncate(false), name)?.into_file();
    let mut bytes = [0; size_of::<Counts>()];
    let metadata = file.metadata()?;
    if metadata.is_file() {
        if metadata.len() > bytes.len() as u64 {
            return Err(std::io::Error::other("longer than two counts"));
        }
        read_up_to(&file, &mut bytes)?;
    }
    let (packets, octets) = bytes.split_at(size_of::<u64>());
    let number = |bytes: &[u8]| bytes.first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes));
    Ok((file, [number(packets), number(octets)]))
}

/// Reads what a file begins with.
fn read_up_to(file: &File, bytes: &mut [u8]) -> std::io::Result<()> {
    let mut at = 0;
    while at < bytes.len() {
        match file.read_at(&mut bytes[at..], at as u64)? {
            0 => break,
            count => at += count,
        }
    }
    Ok(())
}

impl CounterFile {
    #[inline]
    fn add(&self, batch: &Batch) {
        let more = [batch.len(), batch.iter().map(|packet| packet.len()).sum()];
        for (count, more) in self.common.counted[self.mine].0.iter().zip(more) {
            count.store(count.load(Relaxed).wrapping_add(more as u64), Relaxed);
        }
    }

    fn counts(&self) -> Counts {
        [0, 1].map(|at| {
            let offset = self.common.offset[at].load(Relaxed);
            self.common
                .counted
                .iter()
                .fold(offset, |sum, counts| sum.wrapping_add(counts.0[at].load(Relaxed)))
        })
    }

    /// Has counts go on from these.
    fn set(&self, counts: Counts) {
        for ((offset, count), now) in self.common.offset.iter().zip(counts).zip(self.counts()) {
            offset.store(offset.load(Relaxed).wrapping_add(count.wrapping_sub(now)), Relaxed);
        }
    }

    /// Brings the file up to date.
    fn write(&mut self) {
        let counts = self.counts();
        if counts == self.written {
            return;
        }
        let bytes = counts.map(u64::to_ne_bytes);
        // A disk that is full has room later.
        if self.file.as_ref().is_some_and(|file| file.write_all_at(bytes.as_flattened(), 0).is_ok()) {
            self.written = counts;
        }
    }
}

impl Element for CounterFile {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if self.mine != 0 {
            return Ok(());
        }
        let failed = |error: std::io::Error| format!("{}: {}", self.name, device::plain(&error));
        let (file, counts) = open(&self.name).map_err(failed)?;
        self.set(counts);
        (self.file, self.written) = (Some(file), counts);
        cx.timers().after(0, Duration::ZERO); // once the router runs
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        if let Some(file) = self.file.as_ref().filter(|_| !std::mem::replace(&mut self.is_whole, true)) {
            // For those who map it. What a full disk refuses is written later.
            let is_short =
                |data: &std::fs::Metadata| data.is_file() && data.len() < size_of::<Counts>() as u64;
            if file.metadata().as_ref().is_ok_and(is_short) {
                let _ = file.set_len(size_of::<Counts>() as u64);
            }
        }
        self.write();
        cx.timers().after(key, INTERVAL);
    }

    fn finish(&mut self, _cx: &mut Cx<'_>) {
        self.write();
    }

    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.add(&batch);
        cx.emit(0, batch);
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Ask { input: 0, want }
    }

    fn pulled(&mut self, _cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        self.add(&batch);
        Pull::Give(batch)
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        self.file = None; // its namesake writes it from now on
        Some(Box::new(self.counts()))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(counts) = state.downcast::<Counts>() {
            self.set(*counts);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut CounterFile, _| e.counts()[0]);
        h.read("byte_count", |e: &mut CounterFile, _| e.counts()[1]);
        for name in ["reset", "reset_counts"] {
            h.write(name, |e: &mut CounterFile, _, _| {
                e.set([0; 2]);
                Ok(())
            })
            .as_button();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::open;
    use crate::testing::{build, errors};
    use router::Call;

    /// Counts go on where the file's end, and into it.
    #[test]
    fn in_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("counts");
        let name = path.to_str().expect("a name");
        std::fs::write(&path, [5u64, 100].map(u64::to_ne_bytes).as_flattened()).expect("a file");
        let config =
            format!("InfiniteSource(DATA abc, LIMIT 4, STOP true) -> c :: CounterFile({name}) -> Discard;");
        for expected in [["9", "112"], ["13", "124"]] {
            let mut router = build(&config, 2, 32).unwrap_or_else(|errors| panic!("{errors}"));
            router.run();
            let read =
                ["c.count", "c.byte_count"].map(|path| router.call(Call::read(path, "")).unwrap_or_default());
            router.finish();
            assert_eq!(read, expected);
            let (_, counts) = open(name).expect("counts");
            assert_eq!(counts.map(|count| count.to_string()), expected);
        }
        let said = errors(&format!("Idle -> CounterFile({name}/counts) -> Discard"));
        assert!(said.contains("Not a directory"), "{said}");
        std::fs::write(&path, "something that the user needs").expect("a file");
        let said = errors(&format!("Idle -> CounterFile({name}) -> Discard"));
        assert!(said.contains("longer than two counts"), "{said}");
        assert_eq!(std::fs::read(&path).expect("a file").len(), 29);
    }
}
