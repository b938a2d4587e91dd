//! Named pipes: fifo(7).

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::time::{Duration, Instant};

/// Whether a file is a named pipe.
pub fn is_pipe(path: &str) -> bool {
    std::fs::metadata(path).is_ok_and(|file| file.file_type().is_fifo())
}

/// Opens a named pipe for writing, once a program reads it. The system would wait for one for ever, and with the caller all that waits
/// for it; this waits no longer than `patience`.
///
/// # Errors
/// That it cannot be opened; [`io::ErrorKind::TimedOut`] if no program reads it.
pub fn open(path: &str, patience: Duration) -> io::Result<File> {
    let until = Instant::now() + patience;
    loop {
        match File::options().write(true).custom_flags(libc::O_NONBLOCK).open(path) {
            // Again, so that a reader that is slow is waited for; while the first one is open, there is a reader.
            Ok(_first) => return File::options().write(true).open(path),
            Err(error) if error.raw_os_error() != Some(libc::ENXIO) => return Err(error),
            Err(_) if Instant::now() >= until => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "no program reads this pipe"));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn a_pipe_without_a_reader_is_not_waited_for_long() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pipe").to_str().expect("text").to_owned();
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        if !made.is_ok_and(|status| status.success()) {
            return eprintln!("skipped: mkfifo makes no pipe here");
        }
        assert!(is_pipe(&path) && !is_pipe(folder.path().to_str().expect("text")));
        let error = open(&path, Duration::from_millis(50)).expect_err("no reader");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let reads = path.clone();
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            File::open(reads).and_then(|mut pipe| pipe.read_to_string(&mut text)).map(|_| text)
        });
        let mut pipe = open(&path, Duration::from_secs(60)).expect("a reader");
        pipe.write_all(b"words").expect("room");
        drop(pipe);
        assert_eq!(reader.join().expect("a reader").expect("words"), "words");
    }
}
