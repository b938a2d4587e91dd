//! Files that elements write while packets come.

use device::files;
use std::io::{self, BufWriter, Write};

/// A file, or standard output, which others write to as well: there nothing is kept back when a batch is over, so that it is live and what
/// different elements write stays in order.
pub struct Output {
    to: BufWriter<Box<dyn Write + Send>>,
    live: bool,
}

impl Output {
    /// Creates a file; `-` is standard output.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(name: &str) -> io::Result<Output> {
        Ok(match name {
            "-" => Output::new(Box::new(io::stdout()), true),
            name => Output::new(Box::new(files::create(name)?), false),
        })
    }

    /// A file that keeps what is in it until something is written, for routers that may never run; `-` is standard output.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn reserve(name: &str) -> io::Result<Output> {
        Ok(match name {
            "-" => Output::new(Box::new(io::stdout()), true),
            name => Output::new(Box::new(files::reserve(name)?), false),
        })
    }

    fn new(to: Box<dyn Write + Send>, live: bool) -> Output {
        Output { to: BufWriter::new(to), live }
    }

    /// Hands on what may not wait, after a batch.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn end_batch(&mut self) -> io::Result<()> {
        if self.live { self.to.flush() } else { Ok(()) }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Shown(Arc<Mutex<Vec<u8>>>);

    impl Write for Shown {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The end of a batch shows what was written, but not in files.
    #[test]
    fn live_or_kept_back() {
        for live in [true, false] {
            let shown = Shown::default();
            let mut output = Output::new(Box::new(shown.clone()), live);
            output.write_all(b"line\n").unwrap();
            output.end_batch().unwrap();
            assert_eq!(shown.0.lock().unwrap().is_empty(), !live);
            output.flush().unwrap();
            assert_eq!(*shown.0.lock().unwrap(), b"line\n");
        }
    }
}
