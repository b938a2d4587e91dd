//! The first acts of the program that takes over, and the way back to the one before.

use super::image::{self, Header, Image, Way};
use super::order::{self, FAILURE, Origin, VARIABLE};
use crate::console;
use crate::reload::{Answer, Upgraded};
use device::inherited::adopt;
use router::{Clock, Descriptors, Estate, Heirloom, Level};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a program may take to begin to forward before the one before takes over again.
const PATIENCE: Duration = Duration::from_secs(20);

/// What was handed over to this process, until it forwards.
static ARRIVAL: Mutex<Option<Arc<Arrival>>> = Mutex::new(None);

/// What was handed over.
pub(crate) struct Arrival {
    /// What elements have left, and the rest.
    pub(crate) image: Image,
    file: OwnedFd,
    old: OwnedFd,
    client: Option<OwnedFd>,
    /// The descriptors of elements, for the way back; copies of them go to elements.
    originals: Vec<OwnedFd>,
    listener: Option<OwnedFd>,
    estate: Estate,
    /// Why the program that was to take over has not: then this is the one before.
    failed: Option<String>,
    /// Whether this program forwards, so that there is no way back any more.
    settled: AtomicBool,
}

/// What was handed over to this process, as long as it has not begun to forward.
pub(crate) fn pending() -> Option<Arc<Arrival>> {
    let arrival = ARRIVAL.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
    (!arrival.settled.load(Ordering::Acquire)).then_some(arrival)
}

/// Takes what was handed over, if anything was. To be called first of all.
pub(crate) fn begin() {
    *ARRIVAL.lock().unwrap_or_else(PoisonError::into_inner) = find().map(Arc::new);
    if pending().is_some_and(|arrival| arrival.failed.is_none()) {
        let wait = || {
            std::thread::sleep(PATIENCE);
            if let Some(arrival) = pending() {
                arrival.go_back("it has not begun to forward in time");
            }
        };
        let _ = std::thread::Builder::new().name("hand-over".to_owned()).spawn(wait);
    }
}

/// The program is about to end, or something in it has failed: goes back to the one before if this one has not begun to forward.
pub(crate) fn fail(why: &str) {
    if let Some(arrival) = pending() {
        arrival.go_back(why);
    }
}

fn find() -> Option<Arrival> {
    let place = std::env::var(VARIABLE).ok()?;
    let (process, fd) = place.split_once(':')?;
    // Children of a program that was handed over to have the variable, too.
    if process.parse() != Ok(std::process::id()) {
        return None;
    }
    let mut file = File::from(adopt(fd.parse().ok()?).ok()?);
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).ok()?;
    let Way { old, client } = image::way(&bytes)?;
    let (old, client) = (adopt(old).ok()?, client.and_then(|fd| adopt(fd).ok()));
    let failed = std::env::var(FAILURE).ok();
    match image::decode(&bytes) {
        Ok(image) => Some(Arrival::new(image, file.into(), old, client, failed)),
        Err(why) if failed.is_none() => {
            // The one before can read what it wrote.
            let origin = Origin::of_this()?;
            let stay = [&old].into_iter().chain(&client);
            let file = OwnedFd::from(file);
            // All that it was to hand on has no owner here, and stays open.
            go_back_to(&old, &origin, &file, stay, &why);
            None
        }
        Err(why) => {
            console::complain(&format!("clique: {why}; the router begins anew\n"));
            None
        }
    }
}

/// Puts the program before in the place of this one. Returns if that is not possible.
fn go_back_to<'a>(
    old: &OwnedFd,
    origin: &Origin,
    file: &'a OwnedFd,
    stay: impl Iterator<Item = &'a OwnedFd>,
    why: &str,
) {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::MetadataExt;
    let id = |found: std::fs::Metadata| (found.dev(), found.ino());
    let opened = format!("/proc/self/fd/{}", old.as_raw_fd());
    let is_there = |path: &PathBuf| {
        let [at, of] = [std::fs::metadata(path), std::fs::metadata(&opened)].map(|found| found.ok().map(id));
        at.is_some() && at == of
    };
    // By its name if it still has one, which then is the process's.
    let named = Some(origin.program.clone()).filter(is_there);
    let program = named.unwrap_or_else(|| PathBuf::from(&opened));
    let error =
        order::replace(&program, (&origin.name, &origin.arguments), file, stay.chain([file]), Some(why));
    console::complain(&format!("clique: the program before cannot go on: {}\n", console::reason(&error)));
}

impl Arrival {
    fn new(
        image: Image,
        file: OwnedFd,
        old: OwnedFd,
        client: Option<OwnedFd>,
        failed: Option<String>,
    ) -> Arrival {
        let (mut originals, mut heirlooms) = (Vec::new(), Vec::new());
        for (instance, state) in image.header.instances.iter().zip(&image.states) {
            let mut fds = Vec::new();
            for &fd in &instance.fds {
                let original = adopt(fd).ok();
                fds.push(original.as_ref().and_then(|fd| fd.try_clone().ok()));
                originals.extend(original);
            }
            heirlooms.push(Heirloom {
                name: instance.name.clone(),
                class: instance.class.clone(),
                worker: instance.worker,
                bytes: state.as_slice().into(),
                fds: Descriptors::new(fds),
            });
        }
        let listener = image.header.listener.and_then(|fd| adopt(fd).ok());
        Arrival {
            image,
            file,
            old,
            client,
            originals,
            listener,
            estate: Estate { heirlooms },
            failed,
            settled: AtomicBool::new(false),
        }
    }

    fn header(&self) -> &Header {
        &self.image.header
    }

    /// What elements have left.
    pub(crate) fn estate(&self) -> &Estate {
        &self.estate
    }

    /// The time as the router before saw it, which goes on.
    pub(crate) fn clock(&self) -> Clock {
        let Header { halted_ns, router_ns, .. } = *self.header();
        Clock::Real { start: Instant::now(), start_ns: router_ns + (order::now_ns() - halted_ns) }
    }

    /// The key of hashes that the router before had.
    pub(crate) fn common_seed(&self) -> u64 {
        self.header().common_seed
    }

    /// The socket that belongs to no element.
    pub(crate) fn listener(&self) -> Option<OwnedFd> {
        self.listener.as_ref()?.try_clone().ok()
    }

    /// Goes back to the program before. Returns if that is not possible, or if this is that program.
    fn go_back(&self, why: &str) {
        if self.failed.is_some() || self.settled.swap(true, Ordering::AcqRel) {
            return;
        }
        let origin = Origin::of(self.header());
        let stay = self.originals.iter().chain([&self.old]).chain(&self.listener).chain(&self.client);
        go_back_to(&self.old, &origin, &self.file, stay, why);
    }

    /// The router forwards from now on. Answers the client, and closes what is not needed any more. `unread` is what elements could not read.
    pub(crate) fn forwards(&self, unread: Vec<String>) {
        if self.settled.swap(true, Ordering::AcqRel) {
            return;
        }
        let gap_ms = (order::now_ns() - self.header().halted_ns) as f64 / 1e6;
        let answer = match &self.failed {
            Some(why) => Answer::Refused {
                message: format!(
                    "the new program could not begin: {}\nthe one before goes on, with its state; nothing was forwarded for {gap_ms:.0} ms",
                    why.trim_end()
                ),
                diagnostics: serde_json::Value::Array(Vec::new()),
            },
            None => {
                let mut lost = self.header().lost.clone();
                lost.extend(unread);
                let carried: std::collections::BTreeSet<_> =
                    self.header().instances.iter().map(|instance| &instance.name).collect();
                Answer::Upgraded(Upgraded {
                    from: self.header().version.clone(),
                    to: env!("CARGO_PKG_VERSION").to_owned(),
                    dry_run: false,
                    gap_ms,
                    carried: carried.len(),
                    lost,
                })
            }
        };
        self.say(&answer, gap_ms);
        let text = serde_json::to_string(&answer).unwrap_or_default();
        for left in &self.estate.heirlooms {
            left.fds.close_rest();
        }
        if let Some(Ok(client)) = self.client.as_ref().map(OwnedFd::try_clone) {
            let _ = File::from(client).write_all(&control::reload_answered(&text)); // it may be gone
        }
        // With the last reference the file, the old program and what elements have not taken are closed.
        *ARRIVAL.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Tells of it where messages go.
    fn say(&self, answer: &Answer, gap_ms: f64) {
        let text = match answer {
            Answer::Refused { message, .. } => message.clone(),
            _ => format!(
                "version {} goes on in the place of {}; nothing was forwarded for {gap_ms:.1} ms",
                env!("CARGO_PKG_VERSION"),
                self.header().version
            ),
        };
        console::say(Level::Info, &format!("clique run: {text}\n"));
    }
}
