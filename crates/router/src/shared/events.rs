//! Events: elements report what happens, and listeners receive it.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Events that may wait for a listener.
const BACKLOG: usize = 1024;

/// The way of events from elements to listeners. An element never waits for a listener: what one has no room for is lost, and
/// it is told how much.
///
/// An event is a line whose first word is its topic.
#[derive(Default)]
pub struct Events {
    listeners: Mutex<Vec<Listener>>,
    /// Whether there is a listener: usually not, and then no lock is needed.
    heard: AtomicBool,
}

struct Listener {
    sender: SyncSender<String>,
    topics: Vec<String>,
    lost: u64,
}

impl Listener {
    /// Passes an event on; false if the listener is gone.
    fn hear(&mut self, event: &str) -> bool {
        let topic = event.split_whitespace().next().unwrap_or_default();
        if !self.topics.is_empty() && !self.topics.iter().any(|wanted| wanted == topic) {
            return true;
        }
        // After a gap, room for the event alone is not enough: the number that was lost comes first.
        if self.lost > 0 {
            match self.sender.try_send(format!("lost {}", self.lost)) {
                Ok(()) => self.lost = 0,
                Err(TrySendError::Full(_)) => {
                    self.lost += 1;
                    return true;
                }
                Err(TrySendError::Disconnected(_)) => return false,
            }
        }
        match self.sender.try_send(event.to_owned()) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => {
                self.lost += 1;
                true
            }
            Err(TrySendError::Disconnected(_)) => false,
        }
    }
}

impl Events {
    /// Listens to events of these topics, or of all if none is named, from now on and for as long as the receiver lives. After an
    /// event `lost N`, what the listener knows is out of date: N events had no room.
    pub fn subscribe(&self, topics: Vec<String>) -> Receiver<String> {
        let (sender, receiver) = sync_channel(BACKLOG);
        self.lock().push(Listener { sender, topics, lost: 0 });
        self.heard.store(true, Relaxed);
        receiver
    }

    /// Whether there are listeners.
    #[inline]
    pub fn is_heard(&self) -> bool {
        self.heard.load(Relaxed)
    }

    /// Tells the listeners.
    pub fn publish(&self, event: &str) {
        if !self.is_heard() {
            return;
        }
        let mut listeners = self.lock();
        listeners.retain_mut(|listener| listener.hear(event));
        self.heard.store(!listeners.is_empty(), Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Listener>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who listens hears what concerns it, and how much it missed; who has gone is forgotten.
    #[test]
    fn listeners_hear_events() {
        let events = Events::default();
        events.publish("neighbour before");
        let (all, some) = (events.subscribe(Vec::new()), events.subscribe(vec!["neighbour".to_owned()]));
        events.publish("link down");
        events.publish("neighbour add");
        assert_eq!(all.try_iter().collect::<Vec<_>>(), ["link down", "neighbour add"]);
        assert_eq!(some.try_iter().collect::<Vec<_>>(), ["neighbour add"]);
        drop(all);
        for n in 0..BACKLOG + 5 {
            events.publish(&format!("neighbour {n}"));
        }
        assert_eq!(some.try_iter().count(), BACKLOG);
        events.publish("neighbour last");
        assert_eq!(some.try_iter().collect::<Vec<_>>(), ["lost 5", "neighbour last"]);
        events.publish("neighbour again");
        assert_eq!(some.try_iter().collect::<Vec<_>>(), ["neighbour again"], "what was lost is told once");
        drop(some);
        assert!(events.is_heard());
        events.publish("neighbour unheard");
        assert!(!events.is_heard());
    }
}
