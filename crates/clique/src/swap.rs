//! Replacing the configuration of a router that runs.
//!
//! A thread builds the new router while the old one goes on. Only when that has succeeded the old one is interrupted, for
//! as long as it takes to hand its elements' state over; packets that wait in queues are part of that state. Simulated time stands
//! still until a router is built: what is waited for would take none, and the run might be over before.

use crate::reload::Keeper;
use crate::report::Refusal;
use crate::upgrade::order::Order;
use click_tools::{Parameter, Text};
use control::OwnSocket;
use router::{Handle, HandlerError, HandlerResult, Response, Router, Writer};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The answer where building a configuration panics.
pub(crate) const FAULT: &str =
    "a fault of the program: the configuration could not be built, the standard error says more";

/// The router that runs, and the one that is to run next.
pub(crate) struct Swaps {
    current: Current,
    builds: Arc<Builds>,
    /// The socket that leads to whichever router runs.
    own: Mutex<Option<OwnSocket>>,
    orders: Orders,
}

/// Where it is said that another program is to take this one's place.
#[derive(Clone)]
pub(crate) struct Orders {
    current: Current,
    order: Arc<Mutex<Option<Order>>>,
}

impl Orders {
    /// Has the workers stop, and another program take this one's place.
    pub(crate) fn give(&self, order: Order) {
        *lock(&self.order) = Some(order);
        self.current.handle().interrupt();
    }
}

/// The router that runs, whichever that is.
#[derive(Clone)]
pub(crate) struct Current(Arc<Mutex<Handle>>);

/// Where configurations are built, one after the other.
#[derive(Clone)]
pub(crate) struct Requests {
    sender: Sender<Request>,
    builds: Arc<Builds>,
    /// Hears of configurations that were written to `hotconfig`.
    keeper: Keeper,
    /// The parameters that the program was started with.
    parameters: Vec<Parameter>,
}

/// A configuration that is to be built.
struct Request {
    proposal: Proposal,
    reply: Reply,
    unbuilt: Unbuilt,
    /// Who is to remember it when it runs, if not who sent it.
    keeper: Option<Keeper>,
}

/// A configuration that is to run.
#[derive(Clone, Debug)]
pub(crate) struct Proposal {
    pub(crate) text: Text,
    pub(crate) parameters: Vec<Parameter>,
}

impl Proposal {
    pub(crate) fn new(text: Text, parameters: Vec<Parameter>) -> Proposal {
        Proposal { text, parameters }
    }
}

impl Requests {
    /// Has a configuration built and put in the place of what runs.
    fn send(&self, proposal: Proposal, reply: Reply, keeper: Option<Keeper>) {
        let unbuilt = Unbuilt::new(&self.builds);
        // If the thread is gone, so is the reply.
        let _ = self.sender.send(Request { proposal, reply, unbuilt, keeper });
    }

    /// Has what was written to `hotconfig` built and put in the place of what runs.
    fn hotconfig(&self, text: String, writer: Writer) {
        let text = Text { name: "config".to_owned(), text };
        let proposal = Proposal::new(text, self.parameters.clone());
        self.send(proposal, Reply::to(writer), Some(self.keeper.clone()));
    }

    /// Replaces the configuration of the router that runs, and waits until that is done; what is odd about it.
    ///
    /// # Errors
    /// What is wrong; what ran goes on then.
    pub(crate) fn replace(&self, proposal: Proposal) -> Result<Vec<String>, Refusal> {
        let ((sender, response), (refuse, refusal)) = (mpsc::channel(), mpsc::channel());
        self.send(proposal, Reply { refuse: Some(refuse), ..Reply::to(Writer::thread(sender)) }, None);
        let Response { result, warnings, .. } =
            response.recv().unwrap_or_else(|_| Err(HandlerError::stopped()).into());
        match result {
            Ok(_) => Ok(warnings),
            Err(error) => Err(refusal.try_recv().unwrap_or_else(|_| error.message.as_str().into())),
        }
    }

    /// Replaces the configuration by one that the program has made itself, with what is odd about it on the standard error.
    ///
    /// # Errors
    /// What is wrong, in lines.
    pub(crate) fn replace_made(&self, text: String) -> Result<(), String> {
        let text = Text { name: "config".to_owned(), text };
        let replaced = self.replace(Proposal::new(text, Vec::new()));
        let warnings = replaced.map_err(|refusal| refusal.lines)?;
        warnings.iter().for_each(|warning| crate::console::complain(&format!("{warning}\n")));
        Ok(())
    }
}

/// What becomes of the configurations that were sent.
#[derive(Default)]
struct Builds {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// How many are not built yet.
    unbuilt: usize,
    next: Option<Next>,
    /// Whether one is built whose matter is not settled, so that no other is built.
    stands: bool,
}

impl Builds {
    /// Changes the state.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut lock(&self.state));
        self.changed.notify_all();
        result
    }

    /// Waits until the configurations that were sent are built, or one of them is to take its place before the others are.
    fn wait(&self) {
        let goes_on = |state: &mut State| state.unbuilt > 0 && !state.stands;
        drop(self.changed.wait_while(lock(&self.state), goes_on));
    }
}

/// One of the configurations that are not built yet, for as long as it lives.
struct Unbuilt(Arc<Builds>);

impl Unbuilt {
    fn new(builds: &Arc<Builds>) -> Unbuilt {
        builds.change(|state| state.unbuilt += 1);
        Unbuilt(builds.clone())
    }
}

impl Drop for Unbuilt {
    fn drop(&mut self) {
        self.0.change(|state| state.unbuilt -= 1);
    }
}

/// A router that is ready, and who is told what came of it.
struct Next {
    router: Router,
    reply: Reply,
    /// The configuration, and who is to remember it.
    noted: Option<(Keeper, Proposal)>,
    /// Dropped when the matter is settled.
    settled: Sender<()>,
}

/// A router that was built, and what is odd about its configuration.
pub(crate) struct Built {
    pub(crate) router: Router,
    pub(crate) warnings: Vec<String>,
}

/// The answer to who wrote a configuration.
struct Reply {
    /// Until it was told.
    writer: Option<Writer>,
    warnings: Vec<String>,
    /// Where more goes than a sentence, if it is refused.
    refuse: Option<Sender<Refusal>>,
}

impl Reply {
    fn to(writer: Writer) -> Reply {
        Reply { writer: Some(writer), warnings: Vec::new(), refuse: None }
    }

    /// The configuration cannot be built. A script hears it in Click's words, a person with the lines that are wrong.
    fn refuse(mut self, refusal: Refusal) {
        let by_script = self.writer.as_ref().is_none_or(Writer::is_replaced);
        let message = if by_script { refusal.lines.clone() } else { refusal.plain.clone() };
        if let Some(refuse) = self.refuse.take() {
            let _ = refuse.send(refusal); // who asked may be gone
        }
        self.send(Err(message.into()));
    }

    /// The router stands. Who is a part of the one that it replaces has to know it now.
    fn built(&mut self, warnings: Vec<String>) {
        self.warnings = warnings;
        if self.writer.as_ref().is_some_and(Writer::is_replaced) {
            self.tell(Ok(String::new()));
        }
    }

    fn send(mut self, result: HandlerResult) {
        self.tell(result);
    }

    fn tell(&mut self, result: HandlerResult) {
        let response = Response { result, warnings: std::mem::take(&mut self.warnings), status: None };
        let unheard = match self.writer.take() {
            Some(writer) => writer.tell(response).err(),
            None => Some(response),
        };
        // The script that asked may be gone, or may have been told already that all is well: then the console shows the error.
        if let Some(Response { result: Err(error), .. }) = unheard {
            crate::console::complain(&format!("hotconfig: {error}\n"));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Current {
    /// Asks the driver to stop, whatever would have it go on, once packets on their way have arrived.
    pub(crate) fn stop_for_good(&self) {
        lock(&self.0).info().end_for_good();
    }

    /// A way to talk to it.
    pub(crate) fn handle(&self) -> Handle {
        lock(&self.0).clone()
    }
}

impl Swaps {
    /// No other router yet.
    pub(crate) fn new(current: Handle) -> Swaps {
        let current = Current(Arc::new(Mutex::new(current)));
        Swaps {
            orders: Orders { current: current.clone(), order: Arc::default() },
            current,
            builds: Arc::default(),
            own: Mutex::default(),
        }
    }

    /// The router that runs.
    pub(crate) fn current(&self) -> Current {
        self.current.clone()
    }

    /// Where another program is told to take this one's place.
    pub(crate) fn orders(&self) -> Orders {
        self.orders.clone()
    }

    /// Has this socket lead to the router that runs, as long as any does.
    pub(crate) fn lead(&self, own: OwnSocket) {
        own.follow(self.current.handle());
        *lock(&self.own) = Some(own);
    }

    /// Closes that socket.
    pub(crate) fn close(&self) {
        drop(lock(&self.own).take());
    }

    /// Lets the router be replaced by what `build` makes of a configuration, also by its handler `hotconfig` if it has that.
    ///
    /// # Errors
    /// That there is no thread to do so.
    pub(crate) fn allow(
        &self,
        router: &Router,
        keeper: Keeper,
        parameters: Vec<Parameter>,
        build: impl Fn(&Proposal) -> Result<Built, Refusal> + Send + 'static,
    ) -> io::Result<Requests> {
        let (sender, received) = mpsc::channel();
        let requests = Requests { sender, builds: self.builds.clone(), keeper, parameters };
        let (current, builds, again) = (self.current.clone(), self.builds.clone(), requests.clone());
        let serve = move || {
            for Request { proposal, mut reply, unbuilt, keeper } in received {
                // A fault of the program in what is built is no fault of what runs.
                let built = catch_unwind(AssertUnwindSafe(|| build(&proposal)));
                match built.unwrap_or_else(|_| Err(FAULT.into())) {
                    Err(refusal) => {
                        lock(&current.0).info().refuse_swap(&refusal.lines);
                        reply.refuse(refusal);
                    }
                    Ok(Built { router, warnings }) => {
                        offer(&router, &again);
                        // Before the old router is interrupted, so that it gets to it.
                        reply.built(warnings);
                        let (settled, done) = mpsc::channel();
                        builds.change(|state| {
                            let noted = keeper.map(|keeper| (keeper, proposal));
                            (state.next, state.stands) = (Some(Next { router, reply, noted, settled }), true);
                            // At once: a caller that waits for it shall not go on into the next moment of simulated time.
                            lock(&current.0).interrupt();
                        });
                        drop(unbuilt);
                        // Nothing is sent: it is settled when the other end is gone.
                        let _ = done.recv();
                    }
                }
            }
        };
        std::thread::Builder::new().name("hotconfig".to_owned()).spawn(serve)?;
        offer(router, &requests);
        Ok(requests)
    }

    /// After a router has run: puts the next one in its place, if there is one; false if there is nothing to run any more.
    pub(crate) fn swap(&self, router: &mut Router) -> bool {
        let next = lock(&self.builds.state).next.take();
        let Some(Next { router: new, reply, noted, settled }) = next else { return self.hand_over(router) };
        if router.info().is_asked_to_stop() {
            reply.send(Err(HandlerError::stopped()));
            return false;
        }
        match router.replace(new) {
            Err(error) => reply.send(Err(error.to_string().into())),
            Ok(mut old) => {
                *lock(&self.current.0) = router.handle();
                if let Some(own) = &*lock(&self.own) {
                    own.follow(router.handle());
                }
                if let Some((keeper, Proposal { text, parameters })) = noted {
                    keeper.loaded(text, parameters);
                }
                // Before the old elements close the writer's connection, perhaps.
                reply.send(Ok(String::new()));
                old.finish();
            }
        }
        self.builds.change(|state| state.stands = false);
        drop(settled);
        if router.info().clock.is_simulated() {
            self.builds.wait();
        }
        if lock(&self.orders.order).is_some() {
            router.handle().interrupt(); // it comes next
        }
        true
    }

    /// Has another program take this one's place, if that was said: returns true if that was not possible, so that the router goes on, and
    /// false if there is nothing to run any more.
    fn hand_over(&self, router: &mut Router) -> bool {
        let Some(order) = lock(&self.orders.order).take() else { return false };
        if router.info().is_asked_to_stop() {
            return false;
        }
        order.carry_out(router, lock(&self.own).as_ref());
        router.resume();
        true
    }
}

/// Makes the handler of a router send configurations to the thread that builds.
fn offer(router: &Router, requests: &Requests) {
    let (requests, is_simulated) = (requests.clone(), router.info().clock.is_simulated());
    router.allow_reconfigure(Box::new(move |text, writer| {
        requests.hotconfig(text, writer);
        if is_simulated {
            requests.builds.wait();
        }
    }));
}
