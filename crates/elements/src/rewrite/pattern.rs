//! Rewriting patterns: what new flows' identifiers become.

use super::exhausted::Domain;
use super::flow_id::FlowId;
use router::{FromArg, IpMask, Scope, parse_integer};
use std::fmt;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A pattern: fixed fields, and at most one that varies over a range, the source port or the source address.
#[derive(Debug, Default)]
pub(super) struct Pattern {
    /// 0 stands for "as it is", here and below.
    saddr: u32,
    sport: u16,
    daddr: u32,
    dport: u16,
    /// Whether ports are part of the pattern.
    ports: bool,
    /// The largest number that is added to the field that varies.
    top: u32,
    choice: Choice,
    /// The number to try next, where numbers go in sequence. Shared by all who use the pattern.
    next: AtomicU32,
}

/// How a number is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Choice {
    /// The flow's own port if possible, otherwise at random.
    #[default]
    Same,
    /// `?`: at random.
    Random,
    /// `#`: one after the other.
    Sequence,
}

impl Choice {
    /// Splits the suffix off that says how.
    fn split(text: &str) -> (&str, Choice) {
        if let Some(range) = text.strip_suffix('#') {
            (range, Choice::Sequence)
        } else if let Some(range) = text.strip_suffix('?') {
            (range, Choice::Random)
        } else {
            (text, Choice::Same)
        }
    }
}

/// A port number, other than 0.
fn port(text: &str) -> Option<u16> {
    parse_integer(text).and_then(|n| u16::try_from(n).ok()).filter(|&port| port > 0)
}

impl Pattern {
    /// Reads `SADDR SPORT DADDR DPORT`, `SADDR DADDR`, or `SADDR DADDR SPORT`.
    ///
    /// # Errors
    /// What is wrong.
    pub(super) fn parse(words: &[String], scope: Scope<'_>) -> Result<Pattern, String> {
        let (saddr, sport, daddr, dport) = match words {
            [saddr, daddr] => (saddr, None, daddr, None),
            [saddr, daddr, sport] => (saddr, Some(sport), daddr, None),
            [saddr, sport, daddr, dport] => (saddr, Some(sport), daddr, Some(dport)),
            _ => return Err("syntax error".to_owned()),
        };
        let mut pattern = Pattern { ports: sport.is_some(), ..Pattern::default() };
        pattern.read_saddr(saddr, scope).ok_or("bad source address")?;
        if let Some(sport) = sport {
            pattern.read_sport(sport).ok_or("bad source port")?;
        }
        if daddr != "-" {
            pattern.daddr =
                Ipv4Addr::from_arg(daddr, scope).map_err(|_| "bad destination address")?.to_bits();
        }
        if let Some(dport) = dport.filter(|dport| *dport != "-") {
            pattern.dport = port(dport).ok_or("bad destination port")?;
        }
        Ok(pattern)
    }

    fn read_saddr(&mut self, text: &str, scope: Scope<'_>) -> Option<()> {
        if text == "-" {
            return Some(());
        }
        if let Ok(address) = Ipv4Addr::from_arg(text, scope) {
            self.saddr = address.to_bits();
            return Some(());
        }
        let (range, choice) = Choice::split(text);
        let (first, top) = match range.split_once('-') {
            Some((first, last)) => {
                let first = Ipv4Addr::from_arg(first, scope).ok()?.to_bits();
                let last = Ipv4Addr::from_arg(last, scope).ok()?.to_bits();
                (first, last.checked_sub(first)?)
            }
            None => hosts(range, scope)?,
        };
        (self.saddr, self.top) = (first, top);
        self.choice = choice;
        Some(())
    }

    fn read_sport(&mut self, text: &str) -> Option<()> {
        if text == "-" {
            return Some(());
        }
        if let Some(port) = port(text) {
            self.sport = port;
            return Some(());
        }
        let (range, choice) = Choice::split(text);
        let (first, last) = range.split_once('-')?;
        let number = |text: &str| parse_integer(text).and_then(|n| u16::try_from(n).ok());
        (self.sport, self.top) = (number(first)?, u32::from(number(last)?.checked_sub(number(first)?)?));
        self.choice = choice;
        Some(())
    }

    /// A flow's identifier with the pattern's fields; those that vary have their first value.
    fn fixed(&self, id: FlowId) -> FlowId {
        FlowId {
            saddr: if self.saddr != 0 { self.saddr } else { id.saddr },
            sport: if self.sport != 0 { self.sport } else { id.sport },
            daddr: if self.daddr != 0 { self.daddr } else { id.daddr },
            dport: if self.dport != 0 { self.dport } else { id.dport },
        }
    }

    /// What a flow's port or address would be taken from, if the pattern has a range.
    pub(super) fn domain(&self, id: FlowId) -> Option<Domain> {
        let fixed = self.fixed(id);
        let (id, first) = match self.ports {
            true => (FlowId { sport: 0, ..fixed }, u32::from(self.sport)),
            false => (FlowId { saddr: 0, ..fixed }, self.saddr),
        };
        (self.top > 0).then_some(Domain { id, range: (first, self.top) })
    }

    /// What a flow's identifier becomes: the first choice that is `free`. `None` if none is. `random` makes a number up to
    /// the given one.
    pub(super) fn choose(
        &self,
        id: FlowId,
        random: &mut dyn FnMut(u32) -> u32,
        free: &mut dyn FnMut(FlowId) -> bool,
    ) -> Option<FlowId> {
        let fixed = self.fixed(id);
        if self.top == 0 {
            return Some(fixed);
        }
        let varied = |number: u32| match self.ports {
            true => FlowId { sport: self.sport.wrapping_add(number as u16), ..fixed },
            false => FlowId { saddr: self.saddr.wrapping_add(number), ..fixed },
        };
        let own = u32::from(id.sport).wrapping_sub(u32::from(self.sport));
        if self.ports && self.choice == Choice::Same && own <= self.top && free(varied(own)) {
            return Some(varied(own));
        }
        let next = Some(self.next.load(Relaxed)).filter(|&next| next <= self.top).unwrap_or(0);
        let start = if self.choice == Choice::Sequence { next } else { random(self.top) };
        let number = (start..=self.top).chain(0..start).find(|&number| free(varied(number)))?;
        self.next.store(number.wrapping_add(1), Relaxed);
        Some(varied(number))
    }
}

/// The addresses of a prefix: the first one, and how many more there are. Without those whose host bits are all zeros or
/// all ones, where there are others.
fn hosts(text: &str, scope: Scope<'_>) -> Option<(u32, u32)> {
    let (addr, mask) = match IpMask::from_arg(text, scope) {
        Ok(net) => (net.addr.to_bits(), net.mask.to_bits()),
        Err(_) => (Ipv4Addr::from_arg(text, scope).ok()?.to_bits(), u32::MAX),
    };
    wire::net::mask_len_v4(Ipv4Addr::from_bits(mask)).filter(|&len| addr != 0 && len > 0)?;
    Some(match !mask {
        0 => (addr, 0),
        1 => (addr & mask, 1),
        hosts => (addr & mask | 1, hosts - 2),
    })
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = |addr: u32| match addr {
            0 => "-".to_owned(),
            addr => Ipv4Addr::from_bits(addr).to_string(),
        };
        let port = |port: u16| if port == 0 { "-".to_owned() } else { port.to_string() };
        f.write_str(&address(self.saddr))?;
        if self.top > 0 && !self.ports {
            write!(f, "-{}", address(self.saddr.wrapping_add(self.top)))?;
        }
        if self.ports {
            write!(f, " {}", port(self.sport))?;
            if self.top > 0 && self.sport != 0 {
                write!(f, "-{}", u32::from(self.sport) + self.top)?;
            }
        }
        write!(f, " {}", address(self.daddr))?;
        if self.ports {
            write!(f, " {}", port(self.dport))?;
        }
        Ok(())
    }
}
