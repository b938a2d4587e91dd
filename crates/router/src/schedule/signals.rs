//! Signals: how elements tell others that they have packets, or room.

/// A notifier's state and the tasks that it wakes.
#[derive(Default)]
pub(crate) struct Signal {
    pub(crate) active: bool,
    /// Of a signal of room: for how many packets there is some.
    pub(crate) room: usize,
    pub(crate) listeners: Vec<u32>,
    /// Signals that become active with this one.
    pub(crate) relays: Vec<u32>,
}

impl Signal {
    pub(crate) fn active() -> Signal {
        Signal { active: true, room: usize::MAX, ..Signal::default() }
    }
}

/// A port where an element wants to know of signals.
#[derive(Clone, Copy)]
pub(crate) enum Wanted {
    /// Packets upstream of a pull input wake the task.
    Input(u16),
    /// Packets upstream of a pull input activate the element's own signal.
    Relay(u16),
    /// Room downstream of a push output wakes the task.
    Output(u16),
    /// The task wants to know of room downstream of a push output, but sleeps on.
    Room(u16),
}
