//! Where packets enter and leave a copy of a router: in the place of interfaces.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A packet that a copy has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    /// The interface's name.
    pub(super) port: String,
    pub(super) bytes: Vec<u8>,
}

/// What the elements in the place of devices share with those who drive a copy: interfaces by name.
#[derive(Clone, Default)]
pub(super) struct Doors(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    entrances: BTreeMap<String, Entrance>,
    sent: Vec<Sent>,
}

/// An interface from which an element receives.
struct Entrance {
    element: String,
    link: Link,
    waiting: VecDeque<Vec<u8>>,
}

/// What is behind an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Link {
    /// Whether its packets are bare IP packets, and no frames.
    pub(super) is_bare: bool,
    /// Whether this machine's kernel is there.
    pub(super) is_host: bool,
}

impl Doors {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets an element receive from an interface.
    ///
    /// # Errors
    /// That another element does.
    pub(super) fn open(&self, port: &str, element: &str, link: Link) -> Result<(), String> {
        let mut inner = self.lock();
        match inner.entrances.get(port) {
            Some(other) if other.element != element => Err(format!(
                "'{}' and '{element}' receive from '{port}', and nothing says which of them has which packets",
                other.element
            )),
            _ => {
                let entrance = Entrance { element: element.to_owned(), link, waiting: VecDeque::new() };
                inner.entrances.insert(port.to_owned(), entrance);
                Ok(())
            }
        }
    }

    /// Puts a packet where the element that receives from an interface finds it: that element's name. `None` if there is no such element.
    pub(super) fn arrive(&self, port: &str, bytes: &[u8]) -> Option<String> {
        let mut inner = self.lock();
        let entrance = inner.entrances.get_mut(port)?;
        entrance.waiting.push_back(bytes.to_vec());
        Some(entrance.element.clone())
    }

    /// The next packet that has arrived at an interface.
    pub(super) fn next(&self, port: &str) -> Option<Vec<u8>> {
        self.lock().entrances.get_mut(port)?.waiting.pop_front()
    }

    /// Notes a packet that an element sends by an interface.
    pub(super) fn leave(&self, port: &str, bytes: &[u8]) {
        self.lock().sent.push(Sent { port: port.to_owned(), bytes: bytes.to_vec() });
    }

    /// What has been sent since this was called last.
    pub(super) fn take_sent(&self) -> Vec<Sent> {
        std::mem::take(&mut self.lock().sent)
    }

    /// Whether the packets of an interface are bare IP packets.
    pub(super) fn is_bare(&self, port: &str) -> bool {
        self.lock().entrances.get(port).is_some_and(|entrance| entrance.link.is_bare)
    }

    /// The interface behind which the kernel is, if there is only one.
    pub(super) fn only_host(&self) -> Option<String> {
        let inner = self.lock();
        let mut hosts = inner.entrances.iter().filter(|(_, entrance)| entrance.link.is_host);
        let (port, _) = hosts.next()?;
        hosts.next().is_none().then(|| port.clone())
    }

    /// The interfaces that elements receive from.
    pub(super) fn ports(&self) -> Vec<String> {
        self.lock().entrances.keys().cloned().collect()
    }
}
