//! Whose turn it is by stride scheduling: what StrideSched and StrideSwitch share.

use router::{Config, ConfigError, Cx, Handlers, MAX_TICKETS};
use std::any::Any;

/// Stride of a port with one ticket.
const STRIDE1: u32 = 1 << 16;

/// How far a port's pass goes with a turn: 2 to 65,536.
fn stride(tickets: u32) -> u32 {
    STRIDE1 / tickets.clamp(1, MAX_TICKETS)
}

/// The tickets in a configuration string, for so many ports.
fn tickets(text: &str, ports: usize, side: &str) -> Result<Vec<u32>, ConfigError> {
    let words = lang::conf::split_args(text);
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
    if error.messages.is_empty() { Ok(tickets) } else { Err(error) }
}

/// A port that is served: its pass, its number and its stride less one, in one word. Clients change places with each packet, and what is
/// written in two pieces and read as one has to wait; so would the stride if it were looked up.
#[derive(Clone, Copy, Debug)]
struct Client(u64);

impl Client {
    /// The client with tickets, at a pass. Ports are numbered with 16 bits.
    fn new(port: usize, pass: u32, tickets: u32) -> Client {
        Client(u64::from(pass) << 32 | u64::from(port as u16) << 16 | u64::from(stride(tickets) - 1))
    }

    #[inline]
    fn number(self) -> u16 {
        (self.0 >> 16) as u16
    }

    #[inline]
    fn port(self) -> usize {
        usize::from(self.number())
    }

    #[inline]
    fn pass(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Whether it comes later than another; passes wrap around.
    #[inline]
    fn is_after(self, other: Client) -> bool {
        // With all that is below the other's pass set, the difference is negative if its pass is smaller, and only
        // then. That passes needn't be taken out of the words first saves three instructions.
        ((other.0 | u64::from(u32::MAX)).wrapping_sub(self.0) as i64) < 0
    }

    /// The client after its turn.
    #[inline]
    fn charged(self) -> Client {
        let stride = u64::from(self.0 as u16) + 1;
        Client(self.0.wrapping_add(stride << 32))
    }
}

/// Ports with tickets, in the order in which they are to be served.
#[derive(Debug, Default)]
pub(crate) struct Strides {
    /// Tickets of each port.
    tickets: Vec<u32>,
    /// Ports with any tickets, by ascending pass.
    line: Vec<Client>,
}

/// Turns one after the other. The client that is first is kept apart meanwhile: each turn would wait until the one before is in memory.
pub(crate) struct Turns<'l> {
    first: Client,
    /// Where it goes in the end.
    place: &'l mut Client,
    others: &'l mut [Client],
}

impl Turns<'_> {
    /// The port that is first in line, which now has its turn.
    #[inline]
    pub(crate) fn next(&mut self) -> u16 {
        let client = self.first.charged();
        match self.others.split_first_mut() {
            Some((mut place, others)) if client.is_after(*place) => {
                self.first = *place;
                for next in others {
                    if !client.is_after(*next) {
                        break;
                    }
                    *place = *next;
                    place = next;
                }
                *place = client;
            }
            _ => self.first = client,
        }
        client.number()
    }
}

impl Drop for Turns<'_> {
    fn drop(&mut self) {
        *self.place = self.first;
    }
}

/// An order that can be gone back to.
#[derive(Debug, Default)]
pub(crate) struct SavedOrder(Vec<Client>);

impl Strides {
    /// Reads tickets, one argument for each of so many ports.
    pub(crate) fn read(config: &mut Config<'_>, ports: usize, side: &str) -> Result<Strides, ConfigError> {
        let tickets = tickets(config.text(), ports, side)?;
        for (i, _) in tickets.iter().enumerate().filter(|(_, n)| **n > MAX_TICKETS) {
            config.warn(format!("input {i}'s tickets reduced to {MAX_TICKETS}")); // outputs, too, in Click
        }
        Ok(Strides::new(&tickets))
    }

    /// Takes new arguments. Ports keep their places in line.
    pub(crate) fn reread(&mut self, cx: &mut Cx<'_>, config: &str, side: &str) -> Result<(), ConfigError> {
        for (port, tickets) in tickets(config, self.tickets.len(), side)?.into_iter().enumerate() {
            self.set_tickets(port, i64::from(tickets))?;
        }
        cx.signals().set(true); // a port without tickets may have packets
        Ok(())
    }

    fn new(tickets: &[u32]) -> Strides {
        let tickets: Vec<u32> = tickets.iter().map(|&tickets| tickets.min(MAX_TICKETS)).collect();
        let mut strides = Strides { line: Vec::with_capacity(tickets.len()), tickets };
        // Backwards, because a port goes before its equals.
        for port in (0..strides.tickets.len()).rev() {
            strides.join(port, 0);
        }
        strides
    }

    /// Puts a port into line, a stride behind `pass`, if it has tickets.
    fn join(&mut self, port: usize, pass: u32) {
        let tickets = self.tickets[port];
        if tickets > 0 {
            self.line.push(Client::new(port, pass, tickets).charged());
            self.settle(self.line.len() - 1);
        }
    }

    /// Moves a client forward to where it belongs among those before it.
    fn settle(&mut self, at: usize) {
        let client = self.line[at];
        let place = self.line[..at].iter().position(|&other| !client.is_after(other)).unwrap_or(at);
        self.line[place..=at].rotate_right(1);
    }

    /// The ports, in line.
    #[inline]
    pub(crate) fn in_line(&self) -> impl Iterator<Item = usize> {
        self.line.iter().map(|client| client.port())
    }

    /// Says that the first port in line had its turn.
    #[inline]
    pub(crate) fn served(&mut self) {
        if let Some(mut turns) = self.turns() {
            turns.next();
        }
    }

    /// The line, for many turns; `None` if no port is in it.
    #[inline]
    pub(crate) fn turns(&mut self) -> Option<Turns<'_>> {
        let (place, others) = self.line.split_first_mut()?;
        Some(Turns { first: *place, place, others })
    }

    /// Says that the first `n` ports in line had their turns, all but the last in vain.
    pub(crate) fn served_many(&mut self, n: usize) {
        let waiting = self.line.len() - n;
        self.line.rotate_left(n);
        for at in waiting..self.line.len() {
            self.line[at] = self.line[at].charged();
            self.settle(at);
        }
    }

    /// Remembers the order.
    pub(crate) fn save(&self, order: &mut SavedOrder) {
        order.0.clone_from(&self.line);
    }

    /// Goes back to an order: what was served since was not.
    pub(crate) fn restore(&mut self, order: &SavedOrder) {
        self.line.clone_from(&order.0);
    }

    fn set_tickets(&mut self, port: usize, tickets: i64) -> Result<(), String> {
        let Ok(tickets) = u32::try_from(tickets.min(i64::from(MAX_TICKETS))) else {
            return Err("number of tickets must be >= 0".to_owned());
        };
        self.tickets[port] = tickets;
        let place = self.line.iter().position(|client| client.port() == port);
        match place {
            Some(place) if tickets == 0 => drop(self.line.remove(place)),
            Some(place) => self.line[place] = Client::new(port, self.line[place].pass(), tickets),
            None if tickets > 0 => {
                // Its turn comes as if it had just been served; in an empty line, at once.
                let pass = self.line.first().map_or(stride(tickets).wrapping_neg(), |first| first.pass());
                self.join(port, pass);
            }
            None => {}
        }
        Ok(())
    }

    /// Declares the handlers of an element that has strides.
    pub(crate) fn handlers<E: Any>(&self, h: &mut Handlers, of: fn(&mut E) -> &mut Strides) {
        for port in 0..self.tickets.len() {
            let name = format!("tickets{port}");
            h.read(&name, move |e: &mut E, _| of(e).tickets[port]);
            h.write(&name, move |e: &mut E, cx: &mut Cx<'_>, text| {
                let tickets =
                    router::value(cx, text).map_err(|_| "tickets value must be integer".to_owned())?;
                cx.signals().set(true); // a port without tickets may have packets
                of(e).set_tickets(port, tickets)
            });
        }
        h.read("config", move |e: &mut E, _| {
            of(e).tickets.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
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
        fn ports_are_served_in_proportion_to_tickets(tickets in prop::collection::vec(0u32..6, 1..6)) {
            let mut strides = Strides::new(&tickets);
            let total: u32 = tickets.iter().sum();
            let mut turns = vec![0u32; tickets.len()];
            for _ in 0..total * 100 {
                let port = strides.in_line().next().expect("a port has tickets");
                turns[port] += 1;
                strides.served();
            }
            for (turns, tickets) in turns.iter().zip(&tickets) {
                prop_assert!(turns.abs_diff(tickets * 100) <= 2 + tickets, "{turns} of {tickets}");
            }
        }
    }

    /// Also when several are passed over at once.
    #[test]
    fn a_port_goes_before_its_equals() {
        let mut strides = Strides::new(&[1, 1, 1]);
        strides.served_many(3);
        assert_eq!(strides.in_line().collect::<Vec<_>>(), [2, 1, 0]);
        strides.set_tickets(1, 0).expect("zero is allowed");
        assert_eq!((strides.line.len(), strides.set_tickets(1, -1).is_err()), (2, true));
    }

    /// A turn of the first is a turn of the first one.
    #[test]
    fn one_is_some() {
        let (mut one, mut many) = (Strides::new(&[3, 1, 2, 2, 7]), Strides::new(&[3, 1, 2, 2, 7]));
        for _ in 0..200 {
            one.served();
            many.served_many(1);
            assert!(one.in_line().eq(many.in_line()));
        }
    }
}
