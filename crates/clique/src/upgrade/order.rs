//! The last act of the program that hands over: the workers have stopped, and execve(2) puts another program in its place.

use super::image::{self, Header, Instance, Keepsake, Way};
use super::trial::{self, Program};
use crate::console::reason;
use control::OwnSocket;
use router::{Info, Left, Router};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::FdFlags;
use rustix::time::{ClockId, clock_gettime};
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::Sender;

/// Says where the file is that was handed over: the number of the process, a colon and the descriptor.
pub(crate) const VARIABLE: &str = "CLIQUE_HAND_OVER";
/// Says why the program that was to take over has not.
pub(crate) const FAILURE: &str = "CLIQUE_HAND_OVER_FAILED";

/// How the program was started.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// Its file, which may be replaced meanwhile.
    pub(crate) program: PathBuf,
    /// What it was called by, and its arguments.
    pub(crate) name: OsString,
    pub(crate) arguments: Vec<OsString>,
}

impl Origin {
    /// How this program was started. To be asked early: later there may be another file at its path.
    pub(crate) fn of_this() -> Option<Origin> {
        let mut arguments = std::env::args_os();
        let name = arguments.next()?;
        Some(Origin { program: std::env::current_exe().ok()?, name, arguments: arguments.collect() })
    }

    /// What it was called by, and its arguments, as bytes.
    fn command(&self) -> Vec<Vec<u8>> {
        let words = std::iter::once(&self.name).chain(&self.arguments);
        words.map(|word| word.clone().into_vec()).collect()
    }

    /// How the program before was started.
    pub(crate) fn of(header: &Header) -> Origin {
        let mut words = header.command.iter().map(|word| OsString::from_vec(word.clone()));
        let name = words.next().unwrap_or_default();
        Origin { program: header.program.clone(), name, arguments: words.collect() }
    }
}

/// What the driver's thread is to do once the workers have stopped.
pub(crate) struct Order {
    pub(crate) program: Program,
    pub(crate) origin: Origin,
    pub(crate) keepsake: Keepsake,
    pub(crate) client: Option<OwnedFd>,
    /// Hears why nothing came of it; otherwise there is no one to hear anything.
    pub(crate) refuse: Sender<String>,
}

/// The monotonic clock, in nanoseconds.
pub(crate) fn now_ns() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

impl Order {
    /// Puts the other program in this one's place. Returns only if that is not possible; the router can go on then.
    pub(crate) fn carry_out(self, router: &mut Router, own: Option<&OwnSocket>) {
        let why = self.hand_over(router, own);
        let _ = self.refuse.send(why); // who asked may be gone
    }

    /// Why that is not possible.
    fn hand_over(&self, router: &mut Router, own: Option<&OwnSocket>) -> String {
        let (halted_ns, router_ns) = (now_ns(), router.clock().now_ns());
        let left = router.write_state();
        let lost = lost(router.info(), &left);
        let old = match trial::own_program() {
            Ok(old) => OwnedFd::from(old),
            Err(error) => return format!("the program that runs cannot be opened: {}", reason(&error)),
        };
        let listener = own.and_then(OwnSocket::listener);
        let mut header = Header {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            program: self.origin.program.clone(),
            command: self.origin.command(),
            halted_ns,
            router_ns,
            common_seed: router.info().common_seed(),
            keepsake: self.keepsake.clone(),
            listener: listener.as_ref().map(AsRawFd::as_raw_fd),
            instances: Vec::new(),
            lost,
        };
        let (mut states, mut stay) = (Vec::new(), Vec::new());
        for (heirloom, fds) in left.heirlooms {
            header.instances.push(Instance {
                name: heirloom.name,
                class: heirloom.class,
                worker: heirloom.worker,
                len: heirloom.bytes.len(),
                fds: fds.iter().map(AsRawFd::as_raw_fd).collect(),
            });
            states.push(heirloom.bytes);
            stay.extend(fds);
        }
        let way = Way { old: old.as_raw_fd(), client: self.client.as_ref().map(AsRawFd::as_raw_fd) };
        let file = match image::encode(way, &header, &states).and_then(|bytes| sealed(&bytes)) {
            Ok(file) => file,
            Err(why) => return why,
        };
        let stay = stay.iter().chain([&old, &file]).chain(&listener).chain(&self.client);
        let Origin { name, arguments, .. } = &self.origin;
        // A signal that has come since would be forgotten.
        if router.info().is_asked_to_stop() {
            return "the router stops".to_owned();
        }
        if self.program.is_replaced() {
            return format!("{}: the file has changed since it was tried", self.program.path.display());
        }
        let error = replace(&self.program.path, (name, arguments), &file, stay, None);
        format!("{}: {}", self.program.path.display(), reason(&error))
    }
}

/// Makes a file in memory that nothing can change any more.
fn sealed(bytes: &[u8]) -> Result<OwnedFd, String> {
    let made = || {
        let fd = rustix::fs::memfd_create("hand-over", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        let mut file = File::from(fd);
        file.write_all(bytes)?;
        rustix::fs::fcntl_add_seals(
            &file,
            SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE,
        )?;
        Ok(OwnedFd::from(file))
    };
    made().map_err(|error: std::io::Error| format!("the state cannot be written: {}", reason(&error)))
}

/// Puts a program in the place of this one. `stay` are the descriptors that it needs. Returns why that is not possible.
pub(crate) fn replace<'a>(
    program: &Path,
    (name, arguments): (&OsString, &[OsString]),
    file: &OwnedFd,
    stay: impl Iterator<Item = &'a OwnedFd>,
    failure: Option<&str>,
) -> std::io::Error {
    let stay: Vec<&OwnedFd> = stay.collect();
    let mark = |flags: FdFlags| {
        stay.iter()
            .try_for_each(|fd| rustix::io::fcntl_setfd(fd.as_fd(), flags))
            .map_err(std::io::Error::from)
    };
    if let Err(error) = mark(FdFlags::empty()) {
        return error;
    }
    let _ = std::io::stdout().flush();
    let mut command = Command::new(program);
    command.arg0(name).args(arguments);
    command.env(VARIABLE, format!("{}:{}", std::process::id(), file.as_raw_fd()));
    match failure {
        Some(why) => command.env(FAILURE, why.replace('\0', "")),
        None => command.env_remove(FAILURE),
    };
    let error = command.exec();
    // They are this program's own again.
    let _ = mark(FdFlags::CLOEXEC);
    error
}

/// What elements have gathered that they cannot write, in sentences.
fn lost(info: &Info, left: &Left) -> Vec<String> {
    let sentence = |&element: &usize| {
        let node = &info.nodes[element];
        let kept = node.class.keeps.map(|keeps| keeps.what);
        let what = kept.or((!node.class.holds.is_empty()).then_some(node.class.holds))?;
        Some(format!("{}: {what}", node.declaration()))
    };
    left.silent.iter().filter_map(sentence).collect()
}
