//! Whose turn it is by stride scheduling: what StrideSched and StrideSwitch share.

use router::{Config, ConfigError, Cx, Handlers, MAX_TICKETS};
use std::any::Any;

/// Stride of a port with one ticket.
const STRIDE1: u32 = 1 << 16;

#[derive(Clone, Debug, Default)]
struct Client {
    tickets: u32,
    stride: u32,
    pass: u32,
}

impl Client {
    fn set_tickets(&mut self, tickets: u32) {
        self.tickets = tickets;
        self.stride = STRIDE1.checked_div(tickets).unwrap_or(0);
    }

    /// Whether it comes later than another; passes wrap around.
    fn is_after(&self, other: &Client) -> bool {
        self.pass.wrapping_sub(other.pass) as i32 > 0
    }
}

/// Ports with tickets, in the order in which they are to be served.
#[derive(Debug)]
pub(crate) struct Strides {
    clients: Vec<Client>,
    /// Ports with any tickets, by ascending pass.
    order: Vec<usize>,
}

impl Strides {
    /// Reads tickets, one argument for each of so many ports.
    pub(crate) fn read(config: &mut Config<'_>, ports: usize, side: &str) -> Result<Strides, ConfigError> {
        let words = lang::conf::split_args(config.text());
        if words.len() != ports {
            return Err(format!("need {ports} arguments, one per {side} port").into());
        }
        let (mut tickets, mut error) = (Vec::new(), ConfigError::default());
        for (i, word) in words.iter().enumerate() {
            match router::parse_integer(word) {
                None => error.messages.push(format!("argument {i} should be number of tickets (integer)")),
                Some(..0) => error.messages.push(format!("argument {i} (number of tickets) must be >= 0")),
                Some(n) => tickets.push(u32::try_from(n).unwrap_or(u32::MAX)),
            }
        }
        if !error.messages.is_empty() {
            return Err(error);
        }
        for (i, _) in tickets.iter().enumerate().filter(|(_, n)| **n > MAX_TICKETS) {
            config.warn(format!("{side} {i}'s tickets reduced to {MAX_TICKETS}"));
        }
        Ok(Strides::new(&tickets))
    }

    fn new(tickets: &[u32]) -> Strides {
        let mut clients = vec![Client::default(); tickets.len()];
        for (client, &tickets) in clients.iter_mut().zip(tickets) {
            client.set_tickets(tickets.min(MAX_TICKETS));
            client.pass = client.stride;
        }
        let mut strides = Strides { clients, order: Vec::with_capacity(tickets.len()) };
        // Backwards, because a port goes before its equals.
        (0..tickets.len()).rev().filter(|&port| tickets[port] > 0).for_each(|port| strides.insert(port));
        strides
    }

    fn insert(&mut self, port: usize) {
        let client = &self.clients[port];
        let at = self.order.iter().position(|&other| !client.is_after(&self.clients[other]));
        self.order.insert(at.unwrap_or(self.order.len()), port);
    }

    /// The port that is `n`-th in line.
    #[inline]
    pub(crate) fn nth(&self, n: usize) -> Option<usize> {
        self.order.get(n).copied()
    }

    /// Says that the first `n` ports in line had their turns.
    pub(crate) fn served(&mut self, n: usize) {
        for i in 0..n {
            let client = &mut self.clients[self.order[i]];
            client.pass = client.pass.wrapping_add(client.stride);
        }
        if n == 1 {
            let port = self.order.remove(0);
            return self.insert(port);
        }
        let waiting = self.order.split_off(n);
        let served = std::mem::replace(&mut self.order, waiting);
        served.into_iter().for_each(|port| self.insert(port));
    }

    fn set_tickets(&mut self, port: usize, tickets: i64) -> Result<(), String> {
        let Ok(tickets) = u32::try_from(tickets.min(i64::from(MAX_TICKETS))) else {
            return Err("number of tickets must be >= 0".to_owned());
        };
        let old = self.clients[port].tickets;
        self.clients[port].set_tickets(tickets);
        if tickets == 0 {
            self.order.retain(|&other| other != port);
        } else if old == 0 {
            let first = self.order.first().map(|&first| self.clients[first].pass);
            self.clients[port].pass = first.map_or(0, |pass| pass.wrapping_add(self.clients[port].stride));
            self.insert(port);
        }
        Ok(())
    }

    /// Declares the handlers of an element that has strides.
    pub(crate) fn handlers<E: Any>(&self, h: &mut Handlers, of: fn(&mut E) -> &mut Strides) {
        for port in 0..self.clients.len() {
            let name = format!("tickets{port}");
            h.read(&name, move |e: &mut E, _| of(e).clients[port].tickets);
            h.write(&name, move |e: &mut E, cx: &mut Cx<'_>, text| {
                let tickets =
                    router::value(cx, text).map_err(|_| "tickets value must be integer".to_owned())?;
                cx.set_signal(true); // who had no tickets may have packets
                of(e).set_tickets(port, tickets)
            });
        }
        h.read("config", move |e: &mut E, _| {
            of(e).clients.iter().map(|c| c.tickets.to_string()).collect::<Vec<_>>().join(", ")
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every port is served in proportion to its tickets, to within one turn or two, and none without tickets.
        #[test]
        fn proportional(tickets in prop::collection::vec(0u32..6, 1..6)) {
            let mut strides = Strides::new(&tickets);
            let total: u32 = tickets.iter().sum();
            let mut turns = vec![0u32; tickets.len()];
            for _ in 0..total * 100 {
                let port = strides.nth(0).expect("somebody has tickets");
                turns[port] += 1;
                strides.served(1);
            }
            for (turns, tickets) in turns.iter().zip(&tickets) {
                prop_assert!(turns.abs_diff(tickets * 100) <= 2 + tickets, "{turns} of {tickets}");
            }
        }
    }

    /// Ports that are equal keep their order, also when several are passed over at once.
    #[test]
    fn ties() {
        let mut strides = Strides::new(&[1, 1, 1]);
        strides.served(3);
        let mut order: Vec<_> = (0..3).filter_map(|n| strides.nth(n)).collect();
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2]);
        strides.set_tickets(1, 0).expect("zero is allowed");
        assert_eq!((strides.order.len(), strides.set_tickets(1, -1).is_err()), (2, true));
    }
}
