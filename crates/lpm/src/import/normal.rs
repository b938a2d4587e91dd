//! Normal form: routes in order, each prefix once; as text, it reads back the same.

use std::fmt::{self, Write};
use std::net::IpAddr;

use super::list::{AnyPrefix, Hop, List, NextHops};

impl List {
    /// The routes in order, IPv4 first; of several for one prefix the last, which is the one that counts.
    pub fn sorted(&self) -> Vec<(AnyPrefix, NextHops)> {
        let v4 = self.v4.iter().map(|&(prefix, next_hops)| (AnyPrefix::V4(prefix), next_hops));
        let v6 = self.v6.iter().map(|&(prefix, next_hops)| (AnyPrefix::V6(prefix), next_hops));
        let mut routes: Vec<_> = v4.chain(v6).collect();
        routes.reverse();
        routes.sort_by_key(|&(prefix, _)| prefix);
        routes.dedup_by_key(|&mut (prefix, _)| prefix);
        routes
    }

    /// A route as [`parse`](super::parse) reads it: a line, or more if there are several next hops.
    pub fn line(&self, prefix: AnyPrefix, next_hops: NextHops) -> Line<'_> {
        Line { list: self, prefix, next_hops }
    }

    /// Where a route leads, for people: its next hops with commas between them.
    pub fn describe(&self, next_hops: NextHops) -> String {
        let hops = self.hops(next_hops);
        if next_hops == NextHops::Nowhere {
            return "nowhere".to_owned();
        }
        let mut text = String::new();
        for (hop, weight) in &hops {
            let separator = if text.is_empty() { "" } else { ", " };
            let weight = if hops.len() > 1 { format!(" weight {weight}") } else { String::new() };
            // Writing to a string cannot fail.
            let _ = write!(text, "{separator}{}{weight}", self.words(*hop));
        }
        text
    }

    /// Where one next hop leads, for people.
    fn words(&self, hop: Hop) -> String {
        let gateway = hop.gateway.map(|gateway| format!("via {gateway}"));
        let device = self.device(hop).map(|device| format!("dev {device}"));
        let port = hop.port.map(|port| format!("output {port}"));
        let words: Vec<_> = [gateway, device, port].into_iter().flatten().collect();
        if words.is_empty() { "connected".to_owned() } else { words.join(" ") }
    }

    /// One next hop in the words of `ip route`; an output, which has no word there, takes the place of the interface.
    fn kernel(&self, hop: Hop, v6: bool) -> String {
        let mut text = String::new();
        if let Some(gateway) = hop.gateway {
            let family = match (v6, gateway) {
                (false, IpAddr::V6(_)) => "inet6 ",
                (true, IpAddr::V4(_)) => "inet ",
                _ => "",
            };
            let _ = write!(text, " via {family}{gateway}");
        }
        let _ = match (hop.port, self.device(hop)) {
            (Some(port), _) => write!(text, " output {port}"),
            (None, Some(device)) => write!(text, " dev {device}"),
            (None, None) => Ok(()),
        };
        text
    }
}

/// A route that can be written; see [`List::line`].
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    list: &'a List,
    prefix: AnyPrefix,
    next_hops: NextHops,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (list, prefix) = (self.list, self.prefix);
        let v6 = matches!(prefix, AnyPrefix::V6(_));
        match self.next_hops {
            NextHops::Nowhere => writeln!(f, "blackhole {prefix}"),
            NextHops::Hop(Hop { gateway: None, port: Some(port), .. }) => writeln!(f, "{prefix} {port}"),
            NextHops::Hop(Hop { gateway: Some(gateway), port: Some(port), .. }) => {
                writeln!(f, "{prefix} {gateway} {port}")
            }
            NextHops::Hop(hop) => writeln!(f, "{prefix}{}", list.kernel(hop, v6)),
            NextHops::Group(_) => self.several(f, &list.hops(self.next_hops), v6),
        }
    }
}

impl Line<'_> {
    /// Writes a route with several next hops: as `set` takes it if all have outputs, else as `ip route` prints it.
    fn several(&self, f: &mut fmt::Formatter<'_>, hops: &[(Hop, u32)], v6: bool) -> fmt::Result {
        if hops.iter().all(|(hop, _)| hop.port.is_some()) {
            write!(f, "{}", self.prefix)?;
            for (hop, weight) in hops {
                let gateway = hop.gateway.map_or("-".to_owned(), |gateway| gateway.to_string());
                write!(f, " nexthop {gateway} {} {weight}", hop.port.unwrap_or_default())?;
            }
            return writeln!(f);
        }
        writeln!(f, "unicast {}", self.prefix)?;
        hops.iter().try_for_each(|&(hop, weight)| {
            writeln!(f, "\tnexthop{} weight {weight}", self.list.kernel(hop, v6))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    /// What is written reads back the same, and is as it was expected to be.
    #[test]
    fn lines_read_back() {
        let text = "2001:db8::/32 via fe80::1 dev eth0\n10.0.0.0/8 1\n10.0.0.0/8 1.1.1.1 2\nblackhole 10.1.0.0/16\n\
            9.0.0.0/8\n11.0.0.0/8 proto bgp\n nexthop via 1.2.3.4 dev a weight 2\n nexthop via inet6 fe80::2 dev b\n\
            12.0.0.0/8 via 1.1.1.1\n13.0.0.0/8 dev a scope link\n2001:db8:1::/48 7\n";
        let normal = |list: &List| {
            list.sorted()
                .iter()
                .map(|&(prefix, next_hops)| list.line(prefix, next_hops).to_string())
                .collect::<String>()
        };
        let list = parse(text.as_bytes()).unwrap();
        let written = normal(&list);
        let expected = "9.0.0.0/8\n10.0.0.0/8 1.1.1.1 2\nblackhole 10.1.0.0/16\nunicast 11.0.0.0/8\n\
            \tnexthop via 1.2.3.4 dev a weight 2\n\tnexthop via inet6 fe80::2 dev b weight 1\n12.0.0.0/8 via 1.1.1.1\n\
            13.0.0.0/8 dev a\n2001:db8::/32 via fe80::1 dev eth0\n2001:db8:1::/48 7\n";
        assert_eq!(written, expected);
        let again = parse(written.as_bytes()).unwrap();
        assert_eq!(normal(&again), expected);
        // The same with outputs, where that is known: for all next hops, or for some.
        let outputs = "10.0.0.0/8 fe80::1 0\n11.0.0.0/8 nexthop 1.2.3.4 0 2 nexthop - 1 300\nunicast 12.0.0.0/8\n\
            \tnexthop via 1.2.3.4 output 7 weight 65535\n\tnexthop via inet6 fe80::2 dev b weight 1\n";
        assert_eq!(normal(&parse(outputs.as_bytes()).unwrap()), outputs);
        let group = list.sorted()[3].1;
        let hops = "via 1.2.3.4 dev a weight 2, via fe80::2 dev b weight 1";
        assert_eq!(
            [group, NextHops::Nowhere, NextHops::Hop(Hop::default())]
                .map(|next_hops| list.describe(next_hops)),
            [hops, "nowhere", "connected"]
        );
    }
}
