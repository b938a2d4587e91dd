//! Rewriting patterns: what new flows' identifiers become.

use super::exhausted::{Domain, Field};
use super::record::NewFlow;
use super::share::Share;
use elements_shared::flow_id::FlowId;
use router::{FromArg, IpMask, Scope, parse_integer};
use std::fmt;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use wire::ip_proto;

/// A pattern: fixed fields, and at most one that varies over a range, the source port or the source address.
#[derive(Debug)]
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
    /// The number to try next, where numbers go in sequence: one for each share. All who use the pattern go on with them.
    next: Box<[Next; NEXTS]>,
}

/// What says which numbers of a range flows can have.
pub(super) trait Free {
    /// Whether no other flow has become this.
    fn is_free(&mut self, id: FlowId) -> bool;

    /// The first number from here on that may be free, which it is as a rule where that is known.
    fn next(&mut self, from: u32) -> Option<u32> {
        Some(from)
    }
}

/// Numbers to try next. Further shares use those of others.
const NEXTS: usize = 32;

/// The number that a worker tries next, apart from those of others.
#[derive(Debug)]
#[repr(align(128))]
struct Next(AtomicU32);

/// Whether they say the same, however far each has come in its range.
impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        let words = |p: &Pattern| (p.saddr, p.sport, p.daddr, p.dport, p.ports, p.top, p.choice);
        words(self) == words(other)
    }
}

impl Default for Pattern {
    fn default() -> Pattern {
        Pattern {
            saddr: 0,
            sport: 0,
            daddr: 0,
            dport: 0,
            ports: false,
            top: 0,
            choice: Choice::default(),
            next: Box::new([const { Next(AtomicU32::new(0)) }; NEXTS]),
        }
    }
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
    /// `1.2.3.4 SPORT - -`.
    #[cfg(test)]
    pub(super) fn of_ports(sport: &str) -> Pattern {
        let saddr = Ipv4Addr::new(1, 2, 3, 4).to_bits();
        let mut pattern = Pattern { saddr, ports: true, ..Pattern::default() };
        pattern.read_sport(sport).expect("ports");
        pattern
    }

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

    /// What a flow's port (or what the `field` says instead) or address would be taken from, if the pattern has a range.
    pub(super) fn domain(&self, id: FlowId, field: Field) -> Option<Domain> {
        let field = if self.ports { field } else { Field::Addresses };
        let (id, _) = field.split(self.fixed(id));
        let first = if self.ports { u32::from(self.sport) } else { self.saddr };
        (self.top > 0).then_some(Domain { id, field, range: (first, self.top) })
    }

    /// Whether a field varies, so that what a flow becomes depends on what other flows have become.
    pub(super) fn varies(&self) -> bool {
        self.top > 0
    }

    /// Whether it can map endpoints independently of where they send to: it chooses what they are outside, and leaves alone where they send.
    pub(super) fn maps_endpoints(&self) -> bool {
        self.varies() && (self.daddr, self.dport) == (0, 0)
    }

    /// Whether it may have made a flow, whatever was free then.
    pub(super) fn may_make(&self, flow: &NewFlow) -> bool {
        let NewFlow { id, rewritten, protocol, .. } = *flow;
        let fixed = match protocol {
            // The second port of a ping follows from the first one.
            ip_proto::ICMP => FlowId { dport: rewritten.dport, ..self.fixed(id) },
            _ => self.fixed(id),
        };
        if !self.varies() {
            return rewritten == fixed;
        }
        let (number, varied) = match self.ports {
            true => {
                let number = rewritten.sport.wrapping_sub(self.sport);
                (u32::from(number), FlowId { sport: rewritten.sport, ..fixed })
            }
            false => (rewritten.saddr.wrapping_sub(self.saddr), FlowId { saddr: rewritten.saddr, ..fixed }),
        };
        number <= self.top && rewritten == varied
    }

    /// A flow's identifier with the pattern's fields and this number in the one that varies.
    #[inline]
    fn varied(&self, fixed: FlowId, number: u32) -> FlowId {
        match self.ports {
            true => FlowId { sport: self.sport.wrapping_add(number as u16), ..fixed },
            false => FlowId { saddr: self.saddr.wrapping_add(number), ..fixed },
        }
    }

    /// What a flow's identifier becomes whatever chance says, if that is free: with its own port, or where nothing varies.
    #[inline]
    pub(super) fn first(&self, id: FlowId) -> Option<FlowId> {
        let own = u32::from(id.sport).wrapping_sub(u32::from(self.sport));
        let keeps_own = self.ports && self.choice == Choice::Same && own <= self.top;
        match (self.varies(), self.fixed(id)) {
            (false, fixed) => Some(fixed),
            (true, fixed) => keeps_own.then(|| self.varied(fixed, own)),
        }
    }

    /// The numbers of a share from which chance chooses; `None` where chance says nothing.
    pub(super) fn part(&self, share: Share) -> Option<RangeInclusive<u32>> {
        (self.varies() && self.choice != Choice::Sequence).then(|| share.part(self.top))
    }

    /// What a flow's identifier becomes with this number in the field that varies.
    #[inline]
    pub(super) fn numbered(&self, id: FlowId, number: u32) -> FlowId {
        self.varied(self.fixed(id), number)
    }

    /// What a flow's identifier becomes: the first choice that is free. `None` if none is. Numbers of the `share` come first;
    /// with one share for all, the order is Click's. `random` makes a number up to the given one.
    pub(super) fn choose(
        &self,
        id: FlowId,
        share: Share,
        random: &mut dyn FnMut(u32) -> u32,
        free: &mut dyn Free,
    ) -> Option<FlowId> {
        let first = self.first(id);
        if let Some(id) = first
            && (!self.varies() || free.is_free(id))
        {
            return first;
        }
        let fixed = self.fixed(id);
        let varied = |number| self.varied(fixed, number);
        let part = share.part(self.top);
        let (first, last) = (*part.start(), *part.end());
        let Next(next) = &self.next[share.number() % NEXTS];
        let start = match self.choice {
            Choice::Sequence => Some(next.load(Relaxed)).filter(|next| part.contains(next)).unwrap_or(first),
            Choice::Same | Choice::Random => first + random(last - first),
        };
        // The others' numbers last. A range ends before its second number.
        let end = |last: u32| u64::from(last) + 1;
        let ranges = [
            (start.into(), end(last)),
            (first.into(), start.into()),
            (end(last), end(self.top)),
            (0, first.into()),
        ];
        let number = ranges.into_iter().find_map(|range| find(range, free, &varied))?;
        if self.choice == Choice::Sequence {
            next.store(number.wrapping_add(1), Relaxed);
        }
        Some(varied(number))
    }
}

/// The first number of a range that is free.
fn find((from, end): (u64, u64), free: &mut dyn Free, varied: &impl Fn(u32) -> FlowId) -> Option<u32> {
    let mut from = from;
    while from < end {
        let number = free.next(from as u32).filter(|&next| u64::from(next) < end)?;
        if free.is_free(varied(number)) {
            return Some(number);
        }
        from = u64::from(number) + 1;
    }
    None
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    impl<F: FnMut(FlowId) -> bool> Free for F {
        fn is_free(&mut self, id: FlowId) -> bool {
            self(id)
        }
    }

    /// The ports that flows get one after the other, if workers make them in this order.
    fn ports(pattern: &Pattern, workers: &[usize], order: &[usize]) -> Vec<u16> {
        let mut taken = BTreeSet::new();
        let ports = order.iter().filter_map(|&worker| {
            let share = Share::of_worker(worker, workers);
            let mut free = |id: FlowId| !taken.contains(&id.sport);
            let chosen = pattern.choose(FlowId::default(), share, &mut |top| top / 2, &mut free)?;
            taken.insert(chosen.sport);
            Some(chosen.sport)
        });
        ports.collect()
    }

    #[test]
    fn one_worker_has_the_whole_range() {
        assert_eq!(ports(&Pattern::of_ports("10-15#"), &[3], &[3; 8]), [10, 11, 12, 13, 14, 15]);
        assert_eq!(ports(&Pattern::of_ports("10-15?"), &[3], &[3; 8]), [12, 13, 14, 15, 10, 11]);
    }

    /// Each goes through its own part, then takes what is left.
    #[test]
    fn two_workers() {
        let order = [0, 1, 0, 1, 0, 0, 0, 1, 0];
        assert_eq!(ports(&Pattern::of_ports("10-17#"), &[0, 1], &order), [10, 14, 11, 15, 12, 13, 16, 17]);
        assert_eq!(ports(&Pattern::of_ports("10-17?"), &[0, 1], &order), [11, 15, 12, 16, 13, 10, 14, 17]);
    }

    /// What a pattern makes of a flow it may have made, and nothing else.
    #[test]
    fn what_it_may_have_made() {
        let id = FlowId { saddr: 9, sport: 17, daddr: 8, dport: 80 };
        let pattern = Pattern::of_ports("10-17");
        let made = FlowId { saddr: pattern.saddr, sport: 12, ..id };
        let may = |pattern: &Pattern, protocol, rewritten| {
            pattern.may_make(&NewFlow { id, rewritten, protocol, ..NewFlow::default() })
        };
        assert!(may(&pattern, ip_proto::UDP, made));
        let others = [
            FlowId { sport: 18, ..made },
            FlowId { sport: 9, ..made },
            FlowId { saddr: 9, ..made },
            FlowId { dport: 81, ..made },
        ];
        assert!(others.iter().all(|&other| !may(&pattern, ip_proto::UDP, other)));
        assert_eq!(others.map(|other| may(&pattern, ip_proto::ICMP, other)), [false, false, false, true]);
        let one = Pattern::of_ports("12");
        assert!(may(&one, ip_proto::UDP, made) && !may(&one, ip_proto::UDP, others[0]));
    }

    /// A flow keeps its port if that is free, whichever worker's part it is in.
    #[test]
    fn the_same_port() {
        let id = FlowId { sport: 17, ..FlowId::default() };
        let chosen =
            Pattern::of_ports("10-17").choose(id, Share::of_worker(0, &[0, 1]), &mut |_| 0, &mut |_| true);
        assert_eq!(chosen.map(|id| id.sport), Some(17));
    }
}
