//! Files that are opened by their names, without waiting for other programs.
//!
//! The system lets who opens a named pipe (fifo(7)) wait until a program opens its other end, and who writes to a full one until that
//! program reads: for ever, perhaps, and with the caller all that waits for it, a worker or a swap of configurations. Here such a wait
//! ends after [`PATIENCE`], with an error. It ends at once if the last wait for the same file was in vain.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long another program is waited for.
pub const PATIENCE: Duration = Duration::from_secs(1);
/// How long all of a file may take that is read as a whole, and its bytes at most, if it is none that a disk has: another program may
/// write without an end.
const WHOLE_PATIENCE: Duration = Duration::from_secs(10);
const WHOLE_MAX: u64 = 64 << 20;
/// How often it is tried to open a pipe that no program reads.
const PAUSE: Duration = Duration::from_millis(10);

/// A file that waits for no other program for long.
#[derive(Debug)]
pub struct Patient {
    file: File,
    /// The last wait was in vain.
    is_stuck: bool,
}

/// Opens a file to be read.
///
/// # Errors
/// As [`File::open`]; [`io::ErrorKind::TimedOut`] if it is a pipe that no program writes to.
pub fn open(path: impl AsRef<Path>) -> io::Result<Patient> {
    let file = open_with(File::options().read(true), path)?;
    if file.is_pipe() {
        file.wait(libc::POLLIN, PATIENCE, "no program writes to this pipe")?;
    }
    Ok(file)
}

/// Creates a file, or empties it.
///
/// # Errors
/// As [`File::create`]; [`io::ErrorKind::TimedOut`] if it is a pipe that no program reads.
pub fn create(path: impl AsRef<Path>) -> io::Result<Patient> {
    open_with(File::options().write(true).create(true).truncate(true), path)
}

/// Opens a file that is to be written from its beginning, and creates it if it is not there. What is in it stays until something is written:
/// for elements of a router that may never run.
///
/// # Errors
/// As [`create`].
pub fn reserve(path: impl AsRef<Path>) -> io::Result<Reserved> {
    let file = open_with(File::options().write(true).create(true).truncate(false), path)?;
    Ok(Reserved { file, is_begun: false })
}

/// A file that is emptied at the first write, or when it is flushed without one.
#[derive(Debug)]
pub struct Reserved {
    file: Patient,
    is_begun: bool,
}

impl Reserved {
    fn begin(&mut self) -> io::Result<&mut Patient> {
        if !std::mem::replace(&mut self.is_begun, true) && self.file.file.metadata()?.is_file() {
            self.file.file.set_len(0)?;
        }
        Ok(&mut self.file)
    }
}

impl Write for Reserved {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begin()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.begin()?.flush()
    }
}

/// Opens a file as these options say.
///
/// # Errors
/// As [`OpenOptions::open`]; [`io::ErrorKind::TimedOut`] if it is a pipe that no program reads.
pub fn open_with(options: &mut OpenOptions, path: impl AsRef<Path>) -> io::Result<Patient> {
    open_within(PATIENCE, options, path)
}

/// The same with another time for which a reader is waited for.
///
/// # Errors
/// As [`open_with`].
pub fn open_within(
    patience: Duration,
    options: &mut OpenOptions,
    path: impl AsRef<Path>,
) -> io::Result<Patient> {
    let until = Instant::now() + patience;
    options.custom_flags(libc::O_NONBLOCK);
    loop {
        match options.open(&path) {
            Ok(file) => return Ok(Patient { file, is_stuck: false }),
            Err(error) if error.raw_os_error() != Some(libc::ENXIO) => return Err(error),
            // A socket says the same, for good.
            Err(error) if !is_pipe(&path) => return Err(error),
            Err(_) if Instant::now() >= until => return Err(late("no program reads this pipe")),
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}

/// The bytes of a file.
///
/// # Errors
/// As [`std::fs::read`]; [`io::ErrorKind::TimedOut`] if it is a pipe that no program writes to, or not fast enough, and
/// [`io::ErrorKind::FileTooLarge`] if a pipe or a device gives too much.
pub fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let (until, mut file, mut bytes) = (Instant::now() + WHOLE_PATIENCE, open(path)?, Vec::new());
    let data = file.file.metadata()?;
    if data.is_file() || data.is_dir() {
        file.read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    let mut part = [0; 1 << 14];
    loop {
        match file.read(&mut part)? {
            0 => return Ok(bytes),
            count => bytes.extend_from_slice(&part[..count]),
        }
        if bytes.len() as u64 > WHOLE_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if Instant::now() >= until {
            return Err(late("the program that writes to this pipe takes too long"));
        }
    }
}

/// The text of a file.
///
/// # Errors
/// As [`read`], and [`io::ErrorKind::InvalidData`] if it is not UTF-8.
pub fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Whether a file is a named pipe.
pub fn is_pipe(path: impl AsRef<Path>) -> bool {
    std::fs::metadata(path).is_ok_and(|file| file.file_type().is_fifo())
}

fn late(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, what)
}

impl Patient {
    /// Whether it is a pipe.
    pub fn is_pipe(&self) -> bool {
        self.file.metadata().is_ok_and(|file| file.file_type().is_fifo())
    }

    /// The file itself, which does not wait at all.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The file itself, which does not wait at all.
    pub fn into_file(self) -> File {
        self.file
    }

    /// Another handle of the same file.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn try_clone(&self) -> io::Result<Patient> {
        Ok(Patient { file: self.file.try_clone()?, is_stuck: false })
    }

    /// Whether reading would wait for another program now.
    pub fn is_waiting(&self) -> bool {
        self.wait(libc::POLLIN, Duration::ZERO, "").is_err()
    }

    /// From now on this file and its clones wait for other programs as long as it takes.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn wait_for_ever(&self) -> io::Result<()> {
        // SAFETY: no pointers.
        let flags = unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_GETFL) };
        // SAFETY: as above.
        let set = unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_SETFL, flags & !libc::O_NONBLOCK) };
        if flags < 0 || set < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Waits until the file is readable or writable, or another program has closed it.
    fn wait(&self, events: i16, patience: Duration, what: &str) -> io::Result<()> {
        let until = Instant::now() + patience;
        loop {
            let left = until.saturating_duration_since(Instant::now()).as_millis() as i32;
            let mut asked = libc::pollfd { fd: self.file.as_raw_fd(), events, revents: 0 };
            // SAFETY: the kernel reads and writes one structure.
            match unsafe { libc::poll(&raw mut asked, 1, left) } {
                0 => return Err(late(what)),
                count if count > 0 => return Ok(()),
                _ => match io::Error::last_os_error() {
                    error if error.kind() == io::ErrorKind::Interrupted => {}
                    error => return Err(error),
                },
            }
        }
    }

    /// Does something again once the file is ready for it.
    fn patiently(
        &mut self,
        (events, what): (i16, &str),
        mut attempt: impl FnMut(&mut File) -> io::Result<usize>,
    ) -> io::Result<usize> {
        loop {
            match attempt(&mut self.file) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let patience = if self.is_stuck { Duration::ZERO } else { PATIENCE };
                    let waited = self.wait(events, patience, what);
                    self.is_stuck = waited.is_err();
                    waited?;
                }
                done => return done,
            }
        }
    }
}

impl Read for Patient {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let what = "the program that writes to this pipe does not go on";
        self.patiently((libc::POLLIN, what), |file| file.read(bytes))
    }
}

impl Write for Patient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let what = "the program that reads this pipe does not go on";
        self.patiently((libc::POLLOUT, what), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is in a reserved file stays until something is written, or nothing is and that is all.
    #[test]
    fn a_reserved_file_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let text = || std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, "precious").unwrap();
        drop(reserve(&path).unwrap());
        assert_eq!(text(), "precious");
        let mut file = reserve(&path).unwrap();
        file.write_all(b"new").unwrap();
        file.write_all(b"er").unwrap();
        assert_eq!(text(), "newer");
        reserve(&path).unwrap().flush().unwrap();
        assert_eq!(text(), "");
        reserve("/dev/null").unwrap().write_all(b"gone").unwrap();
    }

    /// A folder with a named pipe in it, if the machine makes one.
    fn pipe() -> Option<(tempfile::TempDir, std::path::PathBuf)> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        if !made.is_ok_and(|status| status.success()) {
            eprintln!("skipped: mkfifo makes no pipe here");
            return None;
        }
        Some((folder, path))
    }

    #[test]
    fn a_pipe_without_a_reader_is_not_waited_for_long() {
        let Some((folder, path)) = pipe() else { return };
        assert!(is_pipe(&path) && !is_pipe(folder.path()));
        assert_eq!(create(&path).expect_err("no reader").kind(), io::ErrorKind::TimedOut);
        let reads = path.clone();
        let reader = std::thread::spawn(move || std::fs::read_to_string(reads));
        // On a busy machine a reader may come late.
        let pipe = (0..60).find_map(|_| create(&path).ok());
        pipe.expect("a reader").write_all(b"words").expect("room");
        assert_eq!(reader.join().expect("a reader").expect("words"), "words");
    }

    #[test]
    fn a_pipe_without_a_writer_is_not_waited_for_long() {
        let Some((_folder, path)) = pipe() else { return };
        assert_eq!(open(&path).expect_err("no writer").kind(), io::ErrorKind::TimedOut);
        assert_eq!(read(&path).expect_err("no writer").kind(), io::ErrorKind::TimedOut);
        let writes = path.clone();
        let writer = std::thread::spawn(move || std::fs::write(writes, "words"));
        let words = (0..60).find_map(|_| read_to_string(&path).ok());
        assert_eq!(words.as_deref(), Some("words"));
        writer.join().expect("a writer").expect("a reader");
    }

    /// A program that has the pipe open but neither reads nor writes: one wait, then none.
    #[test]
    fn a_program_that_does_not_go_on_is_not_waited_for_long() {
        let Some((_folder, path)) = pipe() else { return };
        let _lazy = File::options().read(true).write(true).open(&path).expect("a pipe");
        let mut pipe = create(&path).expect("a reader");
        let mut write = || std::iter::repeat_with(|| pipe.write(&[0; 4096])).find_map(Result::err);
        assert_eq!(write().map(|error| error.kind()), Some(io::ErrorKind::TimedOut));
        let began = Instant::now();
        (0..100).for_each(|_| assert!(write().is_some()));
        assert!(began.elapsed() < 50 * PATIENCE, "{:?}", began.elapsed());
    }

    #[test]
    fn a_device_that_never_ends_is_too_much() {
        assert_eq!(read("/dev/zero").expect_err("too much").kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read("/dev/null").expect("nothing"), b"");
    }
}
