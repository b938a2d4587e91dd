//! Replacing the configuration of a router that runs.
//!
//! A thread builds the new router while the old one goes on. Only when that has succeeded the old one is interrupted, for
//! as long as it takes to hand its elements' state over; packets that wait in queues are part of that state.

use router::{Handle, HandlerResult, Router, STOPPED};
use std::io;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The router that runs, and the one that is to run next.
pub(crate) struct Swaps {
    current: Current,
    next: Arc<Mutex<Option<Next>>>,
}

/// The router that runs, whichever that is.
#[derive(Clone)]
pub(crate) struct Current(Arc<Mutex<Handle>>);

/// Where configurations are built, one after the other.
#[derive(Clone)]
pub(crate) struct Requests(Sender<(String, Reply)>);

impl Requests {
    /// Replaces the configuration of the router that runs, and waits until that is done.
    ///
    /// # Errors
    /// What is wrong; what ran goes on then.
    pub(crate) fn replace(&self, text: String) -> Result<(), String> {
        let (reply, result) = mpsc::channel();
        // If the thread or the router is gone, so is the other end of the channel.
        let _ = self.0.send((text, Reply(reply)));
        result.recv().unwrap_or_else(|_| Err(STOPPED.to_owned())).map(drop)
    }
}

/// A router that is ready, and who is told what came of it.
struct Next {
    router: Router,
    reply: Reply,
    /// Dropped when the matter is settled.
    settled: Sender<()>,
}

/// Who wrote a configuration.
struct Reply(Sender<HandlerResult>);

impl Reply {
    fn send(self, result: HandlerResult) {
        // Nobody may be there to hear of an error: a script does not wait.
        if let Err(mpsc::SendError(Err(message))) = self.0.send(result) {
            crate::console::complain(&format!("hotconfig: {message}\n"));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Current {
    /// Asks the driver to stop, whatever would have it go on.
    pub(crate) fn stop_for_good(&self) {
        lock(&self.0).info().adjust_run_count(i64::from(i32::MIN));
    }
}

impl Swaps {
    /// No other router yet.
    pub(crate) fn new(current: Handle) -> Swaps {
        Swaps { current: Current(Arc::new(Mutex::new(current))), next: Arc::default() }
    }

    /// The router that runs.
    pub(crate) fn current(&self) -> Current {
        self.current.clone()
    }

    /// Lets the router be replaced by what `build` makes of a configuration; if `open`, its handler `hotconfig` can do so.
    ///
    /// # Errors
    /// That there is no thread to do so.
    pub(crate) fn allow(
        &self,
        router: &Router,
        open: bool,
        build: impl Fn(String) -> Result<Router, String> + Send + 'static,
    ) -> io::Result<Requests> {
        let (sender, requests) = mpsc::channel::<(String, Reply)>();
        let (current, next, again) = (self.current.clone(), self.next.clone(), sender.clone());
        let serve = move || {
            for (text, reply) in requests {
                match build(text) {
                    Err(message) => {
                        lock(&current.0).info().swaps.refuse();
                        reply.send(Err(message));
                    }
                    Ok(router) => {
                        if open {
                            offer(&router, again.clone());
                        }
                        let (settled, done) = mpsc::channel();
                        *lock(&next) = Some(Next { router, reply, settled });
                        lock(&current.0).interrupt();
                        // Nothing is sent: it is settled when the other end is gone.
                        let _ = done.recv();
                    }
                }
            }
        };
        std::thread::Builder::new().name("hotconfig".to_owned()).spawn(serve)?;
        if open {
            offer(router, sender.clone());
        }
        Ok(Requests(sender))
    }

    /// After a router has run: puts the next one in its place, if there is one; false if there is nothing to run any more.
    pub(crate) fn swap(&self, router: &mut Router) -> bool {
        let Some(Next { router: new, reply, settled }) = lock(&self.next).take() else { return false };
        if router.info().run_count() <= 0 {
            reply.send(Err(STOPPED.to_owned()));
            return false;
        }
        match router.replace(new) {
            Err(error) => reply.send(Err(error.to_string())),
            Ok(mut old) => {
                *lock(&self.current.0) = router.handle();
                // Before the old elements close the writer's connection, perhaps.
                reply.send(Ok(String::new()));
                old.finish();
            }
        }
        drop(settled);
        true
    }
}

/// Makes the handler of a router send configurations to the thread that builds.
fn offer(router: &Router, requests: Sender<(String, Reply)>) {
    router.allow_reconfigure(Box::new(move |text, reply| {
        // The thread lives as long as the program.
        let _ = requests.send((text, Reply(reply)));
    }));
}
