//! Text formats: plain route lists, and what `ip route` prints.

use std::collections::HashMap;
use std::net::IpAddr;

use super::error::{ImportError, LineError};
use super::list::{AnyPrefix, Hop, List, NextHops};
use crate::prefix::{Key, Prefix, PrefixError};

/// Longest line that is accepted, in bytes.
const MAX_LINE: usize = 1 << 12;

/// Reads routes from text.
///
/// # Errors
/// [`ImportError::Line`] for the first line that is wrong.
pub fn parse(text: &[u8]) -> Result<List, ImportError> {
    let mut reader = Reader::default();
    for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        reader.line(line).map_err(|error| ImportError::Line { line: number, error })?;
    }
    reader.close();
    Ok(reader.list)
}

/// Reads a prefix of either family. IPv4 addresses may lack their last numbers where there is a length: `0/0`, `10.1/16`.
///
/// # Errors
/// [`PrefixError`].
pub fn parse_prefix(text: &str) -> Result<AnyPrefix, PrefixError> {
    if text.contains(':') {
        return text.parse().map(AnyPrefix::V6);
    }
    match text.split_once('/') {
        Some((address, len)) if address.matches('.').count() < 3 => {
            let missing = ".0".repeat(3 - address.matches('.').count());
            format!("{address}{missing}/{len}").parse().map(AnyPrefix::V4)
        }
        _ => text.parse().map(AnyPrefix::V4),
    }
}

/// A line that is an IPv4 prefix and nothing else, in the usual notation: most lines of most lists, so this one is quick.
/// `None` leaves a line to the others.
fn bare_v4(line: &[u8]) -> Option<Prefix<u32>> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (mut addr, mut rest) = (0u32, line);
    for end in [b'.', b'.', b'.', b'/'] {
        let (octet, behind) = decimal(rest)?;
        rest = behind.strip_prefix(&[end])?;
        addr = addr << 8 | u32::from(u8::try_from(octet).ok()?);
    }
    let (len, rest) = decimal(rest)?;
    if !rest.is_empty() {
        return None;
    }
    Prefix::new(addr, u8::try_from(len).ok()?).ok()
}

/// The same for IPv6.
fn bare_v6(line: &[u8]) -> Option<Prefix<u128>> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let bare =
        line.len() <= 43 && line.iter().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'/'));
    std::str::from_utf8(line).ok().filter(|text| bare && text.contains(':'))?.parse().ok()
}

/// A number of one to three digits without leading zeros, and what is behind it.
#[inline]
fn decimal(text: &[u8]) -> Option<(u32, &[u8])> {
    let digit = |at: usize| text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10);
    let mut value = u32::from(digit(0)?);
    let mut count = 1;
    while count < 3
        && value > 0
        && let Some(next) = digit(count)
    {
        value = 10 * value + u32::from(next);
        count += 1;
    }
    Some((value, &text[count..]))
}

/// Reads line after line.
#[derive(Default)]
struct Reader {
    list: List,
    devices: HashMap<String, u32>,
    /// The route of `ip route` whose next hops may follow.
    open: Option<Open>,
    /// Metric and place in the list of the kernel's routes.
    metrics: HashMap<AnyPrefix, (u64, usize)>,
    /// Whether the latest route was for IPv6.
    v6: bool,
}

/// A route whose next hops may follow.
struct Open {
    prefix: Option<AnyPrefix>,
    metric: u64,
    hops: Vec<(Hop, u32)>,
    nowhere: bool,
}

impl Reader {
    /// Reads one line without its line end.
    fn line(&mut self, line: &[u8]) -> Result<(), LineError> {
        if let Some(prefix) = bare_v4(line) {
            self.close();
            self.v6 = false;
            self.list.v4.push((prefix, NextHops::Hop(Hop::default())));
            return Ok(());
        }
        if let Some(prefix) = bare_v6(line) {
            self.close();
            self.v6 = true;
            self.list.v6.push((prefix, NextHops::Hop(Hop::default())));
            return Ok(());
        }
        if line.len() > MAX_LINE {
            return Err(LineError::NoText);
        }
        let line = std::str::from_utf8(line).map_err(|_| LineError::NoText)?;
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_ascii_whitespace();
        let Some(first) = words.next() else { return Ok(()) };
        if first == "nexthop" {
            return self.next_hop(words);
        }
        self.close();
        let rest = words.clone();
        match (Kind::of(first), words.next()) {
            (Some(Kind::Forward), Some(prefix)) => self.kernel(prefix, words, false),
            (Some(Kind::Nowhere), Some(prefix)) => self.kernel(prefix, words, true),
            (Some(Kind::Own), Some(_)) => {
                // Addresses of the machine itself are no matter of forwarding; its next hops would go with it.
                self.list.skipped += 1;
                self.open = Some(Open { prefix: None, metric: 0, hops: Vec::new(), nowhere: false });
                Ok(())
            }
            (Some(_), None) => Err(LineError::Prefix(String::new(), PrefixError::Address)),
            (None, Some(word)) if first == "default" || is_attribute(word) => self.kernel(first, rest, false),
            (None, None) if first == "default" => self.kernel(first, rest, false),
            _ => self.plain(first, rest),
        }
    }

    /// `PREFIX [[GATEWAY] PORT]`.
    fn plain<'a>(&mut self, prefix: &str, mut words: impl Iterator<Item = &'a str>) -> Result<(), LineError> {
        let prefix = parse_prefix(prefix).map_err(|error| LineError::Prefix(prefix.to_owned(), error))?;
        let hop = match (words.next(), words.next()) {
            (None, _) => Hop::default(),
            (Some(port), None) => Hop { port: Some(number(port)?), ..Hop::default() },
            (Some(gateway), Some(port)) => {
                Hop { gateway: read_gateway(gateway, prefix)?, port: Some(number(port)?), device: None }
            }
        };
        if let Some(extra) = words.next() {
            return Err(LineError::Extra(extra.to_owned()));
        }
        self.v6 = matches!(prefix, AnyPrefix::V6(_));
        self.list.push(prefix, NextHops::Hop(hop));
        Ok(())
    }

    /// A line of `ip route`, without the word for its type.
    fn kernel<'a>(
        &mut self,
        prefix: &str,
        words: impl Iterator<Item = &'a str> + Clone,
        nowhere: bool,
    ) -> Result<(), LineError> {
        let attributes = Attributes::read(words, &mut self.list.devices, &mut self.devices)?;
        let prefix = match prefix {
            "default" => {
                let v6 = match attributes.hops.first().and_then(|(hop, _)| hop.gateway) {
                    Some(gateway) if !attributes.foreign => gateway.is_ipv6(),
                    _ => self.v6 && !attributes.foreign,
                };
                if v6 { AnyPrefix::V6(Prefix::covering(0, 0)) } else { AnyPrefix::V4(Prefix::covering(0, 0)) }
            }
            _ => parse_prefix(prefix).map_err(|error| LineError::Prefix(prefix.to_owned(), error))?,
        };
        self.v6 = matches!(prefix, AnyPrefix::V6(_));
        if attributes.elsewhere {
            self.list.skipped += 1;
        }
        self.open = Some(Open {
            prefix: Some(prefix).filter(|_| !attributes.elsewhere),
            metric: attributes.metric,
            hops: attributes.hops,
            nowhere,
        });
        Ok(())
    }

    /// A line `nexthop ...`, one of several of the route before.
    fn next_hop<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> Result<(), LineError> {
        let attributes = Attributes::read(words, &mut self.list.devices, &mut self.devices)?;
        let open = self.open.as_mut().ok_or(LineError::NoRoute)?;
        open.hops.extend(attributes.hops);
        Ok(())
    }

    /// Enters the open route.
    #[inline]
    fn close(&mut self) {
        if self.open.is_some() {
            self.close_open();
        }
    }

    fn close_open(&mut self) {
        let Some(open) = self.open.take() else { return };
        let Some(prefix) = open.prefix else { return };
        let better = self.metrics.get(&prefix).copied();
        match better {
            // The kernel uses the smallest metric only.
            Some((metric, _)) if metric < open.metric => self.list.skipped += 1,
            // Old kernels print a route with several IPv6 next hops as several routes.
            Some((metric, at)) if metric == open.metric && !open.nowhere && !open.hops.is_empty() => {
                let mut hops = self.list.hops(self.next_hops(prefix, at));
                hops.extend(open.hops);
                let next_hops = self.enter(hops);
                self.set_next_hops(prefix, at, next_hops);
            }
            Some((_, at)) => {
                self.list.skipped += 1;
                let next_hops = if open.nowhere { NextHops::Nowhere } else { self.enter(open.hops) };
                self.set_next_hops(prefix, at, next_hops);
                self.metrics.insert(prefix, (open.metric, at));
            }
            None => {
                let next_hops = if open.nowhere { NextHops::Nowhere } else { self.enter(open.hops) };
                let at = if self.v6 { self.list.v6.len() } else { self.list.v4.len() };
                self.list.push(prefix, next_hops);
                self.metrics.insert(prefix, (open.metric, at));
            }
        }
    }

    fn next_hops(&self, prefix: AnyPrefix, at: usize) -> NextHops {
        match prefix {
            AnyPrefix::V4(_) => self.list.v4[at].1,
            AnyPrefix::V6(_) => self.list.v6[at].1,
        }
    }

    fn set_next_hops(&mut self, prefix: AnyPrefix, at: usize, next_hops: NextHops) {
        match prefix {
            AnyPrefix::V4(_) => self.list.v4[at].1 = next_hops,
            AnyPrefix::V6(_) => self.list.v6[at].1 = next_hops,
        }
    }

    fn enter(&mut self, hops: Vec<(Hop, u32)>) -> NextHops {
        match hops[..] {
            [] => NextHops::Hop(Hop::default()),
            [(hop, _)] => NextHops::Hop(hop),
            _ => {
                self.list.groups.push(hops);
                NextHops::Group((self.list.groups.len() - 1) as u32)
            }
        }
    }
}

/// What the word for a type, before the prefix, says of a route.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// To be forwarded.
    Forward,
    /// To be dropped.
    Nowhere,
    /// For the machine itself.
    Own,
}

impl Kind {
    fn of(word: &str) -> Option<Kind> {
        match word {
            "unicast" => Some(Kind::Forward),
            "blackhole" | "unreachable" | "prohibit" | "throw" => Some(Kind::Nowhere),
            "local" | "broadcast" | "multicast" | "anycast" | "nat" => Some(Kind::Own),
            _ => None,
        }
    }
}

/// Whether a word follows the prefix in a line of `ip route`.
fn is_attribute(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "advmss",
        "congctl",
        "cwnd",
        "dev",
        "dead",
        "encap",
        "error",
        "expires",
        "from",
        "hoplimit",
        "initcwnd",
        "initrwnd",
        "linkdown",
        "lock",
        "metric",
        "mtu",
        "nexthop",
        "nhid",
        "offload",
        "onlink",
        "pervasive",
        "pref",
        "proto",
        "quickack",
        "realm",
        "realms",
        "rt_offload",
        "rtt",
        "rttvar",
        "scope",
        "src",
        "ssthresh",
        "table",
        "tos",
        "trap",
        "unresolved",
        "via",
        "weight",
        "\\",
    ];
    WORDS.contains(&word)
}

/// What the words behind a prefix say.
#[derive(Default)]
struct Attributes {
    hops: Vec<(Hop, u32)>,
    metric: u64,
    /// Whether the gateway is of another family than the prefix (`via inet6`).
    foreign: bool,
    /// Whether the route does not count for forwarding by destination alone: it is of another table, or asks for more.
    elsewhere: bool,
}

impl Attributes {
    fn read<'a>(
        mut words: impl Iterator<Item = &'a str>,
        names: &mut Vec<String>,
        known: &mut HashMap<String, u32>,
    ) -> Result<Self, LineError> {
        let mut read = Attributes::default();
        let (mut hop, mut weight) = (Hop::default(), 1);
        let value = |word: &'static str, words: &mut dyn Iterator<Item = &'a str>| {
            words.next().ok_or(LineError::Value(word))
        };
        while let Some(word) = words.next() {
            match word {
                "via" => {
                    let mut gateway = value("via", &mut words)?;
                    if matches!(gateway, "inet" | "inet6") {
                        read.foreign = true;
                        gateway = value("via", &mut words)?;
                    }
                    let address = gateway.parse().map_err(|_| LineError::Gateway(gateway.to_owned()))?;
                    hop.gateway = Some(address);
                }
                "dev" => {
                    let name = value("dev", &mut words)?;
                    let id = known.get(name).copied().unwrap_or_else(|| {
                        names.push(name.to_owned());
                        known.insert(name.to_owned(), (names.len() - 1) as u32);
                        (names.len() - 1) as u32
                    });
                    hop.device = Some(id);
                }
                "weight" => {
                    let text = value("weight", &mut words)?;
                    weight =
                        text.parse().ok().filter(|&weight| weight > 0).ok_or(LineError::Value("weight"))?;
                }
                "metric" => {
                    let text = value("metric", &mut words)?;
                    read.metric = text.parse().map_err(|_| LineError::Value("metric"))?;
                }
                "table" => read.elsewhere |= !matches!(value("table", &mut words)?, "main" | "default"),
                "tos" | "from" => {
                    value("tos", &mut words)?;
                    read.elsewhere = true;
                }
                // `ip -o route` prints all in one line.
                "nexthop" => {
                    read.hops.extend(Some((hop, weight)).filter(|_| hop != Hop::default()));
                    (hop, weight) = (Hop::default(), 1);
                }
                // All else says how the kernel came by the route, or treats its packets.
                _ => {}
            }
        }
        if hop != Hop::default() {
            read.hops.push((hop, weight));
        }
        Ok(read)
    }
}

fn read_gateway(text: &str, prefix: AnyPrefix) -> Result<Option<IpAddr>, LineError> {
    let gateway = match prefix {
        _ if text == "-" => return Ok(None),
        AnyPrefix::V4(_) => u32::parse(text).map(|addr| IpAddr::V4(addr.into())),
        AnyPrefix::V6(_) => u128::parse(text).map(|addr| IpAddr::V6(addr.into())),
    };
    match gateway {
        Some(addr) => Ok(Some(addr).filter(|addr| !addr.is_unspecified())),
        None => Err(LineError::Gateway(text.to_owned())),
    }
}

fn number(text: &str) -> Result<u32, LineError> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits).ok_or_else(|| LineError::Port(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a text says, a line a next hop.
    fn lines(text: &str) -> Vec<String> {
        let list = parse(text.as_bytes()).unwrap();
        let v4 = list.v4.iter().map(|&(prefix, next_hops)| (AnyPrefix::V4(prefix), next_hops));
        let v6 = list.v6.iter().map(|&(prefix, next_hops)| (AnyPrefix::V6(prefix), next_hops));
        let mut lines = Vec::new();
        for (prefix, next_hops) in v4.chain(v6) {
            if next_hops == NextHops::Nowhere {
                lines.push(format!("{prefix} nowhere"));
            }
            for (hop, weight) in list.hops(next_hops) {
                let gateway = hop.gateway.map_or("-".to_owned(), |gateway| gateway.to_string());
                let port = hop.port.map_or("-".to_owned(), |port| port.to_string());
                let device = list.device(hop).unwrap_or("-");
                lines.push(format!("{prefix} {gateway} {port} {device} {weight}"));
            }
        }
        lines.push(format!("{} skipped", list.skipped));
        lines
    }

    #[test]
    fn a_plain_list_has_prefixes_next_hops_and_ports() {
        let text = "# routes\n10.0.0.0/8\n\n192.0.2.0/255.255.255.0 10.0.0.1 2 # a comment\r\n2001:db8::/32 - 3\n1.2.3.4 4\n
            2001:db8::/48 fe80::1 5\n0/0\n10.1/16 4";
        let expected = [
            "10.0.0.0/8 - - - 1",
            "192.0.2.0/24 10.0.0.1 2 - 1",
            "1.2.3.4/32 - 4 - 1",
            "0.0.0.0/0 - - - 1",
            "10.1.0.0/16 - 4 - 1",
            "2001:db8::/32 - 3 - 1",
            "2001:db8::/48 fe80::1 5 - 1",
            "0 skipped",
        ];
        assert_eq!(lines(text), expected);
    }

    proptest::proptest! {
        /// The quick way is taken for what it is meant for, and never finds anything else than the other.
        #[test]
        fn the_quick_way_agrees(text in "[0-9]{1,4}\\.[0-9]{1,3}(\\.[0-9]{1,3}){1,3}/[0-9]{1,3}[ \r]?", addr: u32, len in 0u8..=32) {
            if let Some(prefix) = bare_v4(text.as_bytes()) {
                proptest::prop_assert_eq!(text.trim_end().parse(), Ok(prefix));
            }
            let prefix = Prefix::<u32>::new(addr, len).unwrap();
            proptest::prop_assert_eq!(bare_v4(prefix.to_string().as_bytes()), Some(prefix));
        }
    }

    #[test]
    fn ip_route_v4() {
        let text = "default via 192.0.2.1 dev eth0 proto dhcp src 192.0.2.5 metric 100
default via 192.0.2.9 dev wlan0 proto dhcp metric 600
10.0.0.0/8 proto bgp metric 20
\tnexthop via 192.0.2.2 dev eth0 weight 1
\tnexthop via inet6 fe80::7 dev eth1 weight 3 onlink
192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.5 linkdown
blackhole 10.66.0.0/16 proto static
unreachable 10.67.0.0/16
unicast 10.68.0.0/16 via 192.0.2.3 dev eth0 table main
local 192.0.2.5 dev eth0 table local proto kernel scope host src 192.0.2.5
10.69.0.0/16 via 192.0.2.3 dev eth0 table 100
10.70.0.0/16 nhid 12 via 192.0.2.3 dev eth0
10.71.0.0/16 tos lowdelay via 192.0.2.3 dev eth0
";
        let expected = [
            "0.0.0.0/0 192.0.2.1 - eth0 1",
            "10.0.0.0/8 192.0.2.2 - eth0 1",
            "10.0.0.0/8 fe80::7 - eth1 3",
            "192.0.2.0/24 - - eth0 1",
            "10.66.0.0/16 nowhere",
            "10.67.0.0/16 nowhere",
            "10.68.0.0/16 192.0.2.3 - eth0 1",
            "10.70.0.0/16 192.0.2.3 - eth0 1",
            "4 skipped",
        ];
        assert_eq!(lines(text), expected);
    }

    /// In IPv6, a default route without a gateway follows others; several next hops may be several routes; a better metric
    /// may come later.
    #[test]
    fn ip_route_v6() {
        let text = "2001:db8:1::/64 dev eth0 proto kernel metric 256 pref medium
2001:db8:2::/48 via fe80::1 dev eth0 metric 1024 pref medium
2001:db8:2::/48 via fe80::2 dev eth1 metric 1024 pref medium
2001:db8:3::/48 via fe80::1 dev eth0 metric 1024
2001:db8:3::/48 via fe80::2 dev eth1 metric 512
anycast fe80:: dev eth0 table local
multicast ff00::/8 dev eth0 table local metric 256
default dev wg0 metric 1024
";
        let expected = [
            "2001:db8:1::/64 - - eth0 1",
            "2001:db8:2::/48 fe80::1 - eth0 1",
            "2001:db8:2::/48 fe80::2 - eth1 1",
            "2001:db8:3::/48 fe80::2 - eth1 1",
            "::/0 - - wg0 1",
            "3 skipped",
        ];
        assert_eq!(lines(text), expected);
        let one_line = "10.0.0.0/8 proto bgp metric 20 \\\tnexthop via 1.1.1.1 dev a weight 2 \\\tnexthop via 2.2.2.2 dev b weight 1";
        assert_eq!(lines(one_line), ["10.0.0.0/8 1.1.1.1 - a 2", "10.0.0.0/8 2.2.2.2 - b 1", "0 skipped"]);
        assert_eq!(lines("default via fe80::1 dev eth0"), ["::/0 fe80::1 - eth0 1", "0 skipped"]);
        assert_eq!(lines("default via inet6 fe80::1 dev eth0"), ["0.0.0.0/0 fe80::1 - eth0 1", "0 skipped"]);
    }

    #[test]
    fn a_bad_line_is_named() {
        let cases = [
            (
                "1.0.0.0/8\n10.0.0.0/33\n",
                "line 2: bad prefix '10.0.0.0/33': prefix length 33 exceeds 32; write ADDR/LEN, as in 192.0.2.0/24",
            ),
            ("1.0.0.0/8 x", "line 1: bad port 'x': expected a number"),
            ("1.0.0.0/8 +1", "line 1: bad port '+1': expected a number"),
            (
                "1.0.0.0/8 ::1 1",
                "line 1: bad gateway '::1': expected an address of the prefix's family, or '-'",
            ),
            ("1.0.0.0/8 - 1 2", "line 1: unexpected '2' after the port; a line is 'PREFIX [[GATEWAY] PORT]'"),
            ("1.0.0.0/8 via", "line 1: bad or missing value after 'via'"),
            ("1.0.0.0/8 dev", "line 1: bad or missing value after 'dev'"),
            ("default via x", "line 1: bad gateway 'x': expected an address of the prefix's family, or '-'"),
            (
                "\nnexthop via 1.2.3.4",
                "line 2: a next hop without a route before it; is the file cut at its beginning?",
            ),
            (
                "10.0.0.0/8 proto bgp\n nexthop via 1.2.3.4 weight 0",
                "line 2: bad or missing value after 'weight'",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(parse(text.as_bytes()).unwrap_err().to_string(), message);
        }
        let error = parse(b"\n\xff\xfe").unwrap_err().to_string();
        assert!(error.starts_with("line 2: not a line of text; expected a list of prefixes"), "{error}");
        assert!(parse(&[b'1'; 5000]).is_err());
    }
}
