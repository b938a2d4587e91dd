//! Packets and bytes that each rule of a filter has decided about, and the log of some of them.

use super::compiled::NOWHERE;
use packet::Packet;
use router::Cx;
use std::fmt::Write as _;

/// Packets that are logged in a second, at most. Of the others only the number is.
const LOGGED: u32 = 10;
const SECOND_NS: i64 = 1_000_000_000;

/// What is shown of a rule.
#[derive(Clone, Debug)]
pub(super) struct TallyRule {
    pub(super) text: String,
    /// Where its packets go.
    pub(super) output: Option<usize>,
    /// Whether packets that match it are logged.
    pub(super) log: bool,
}

/// What is shown.
#[derive(Clone, Copy)]
pub(super) enum Value {
    Packets,
    Bytes,
}

/// What one instance has counted.
#[derive(Default)]
pub(super) struct Tally {
    /// Packets and bytes by rule, and last of those that none decided about.
    counts: Vec<[u64; 2]>,
    /// The second in which packets were logged, how many, and how many were not.
    second_ns: i64,
    logged: u32,
    suppressed: u64,
}

impl Tally {
    /// Counts a packet that matches a rule, or none ([`NOWHERE`]). Returns its output.
    pub(super) fn count(
        &mut self,
        cx: &mut Cx<'_>,
        rules: &[TallyRule],
        number: usize,
        packet: &Packet,
    ) -> usize {
        if self.counts.len() <= rules.len() {
            self.counts.resize(rules.len() + 1, [0; 2]); // the first packet
        }
        let [packets, bytes] = &mut self.counts[number.min(rules.len())];
        *packets += 1;
        *bytes += packet.len() as u64;
        let Some(rule) = rules.get(number) else { return NOWHERE };
        if rule.log {
            self.log(cx, number, rule, packet);
        }
        rule.output.unwrap_or(NOWHERE)
    }

    #[cold]
    fn log(&mut self, cx: &mut Cx<'_>, number: usize, rule: &TallyRule, packet: &Packet) {
        let now_ns = cx.now_ns();
        if !(0..SECOND_NS).contains(&(now_ns - self.second_ns)) {
            (self.second_ns, self.logged) = (now_ns, 0);
        }
        if self.logged == LOGGED {
            self.suppressed += 1;
            return;
        }
        self.logged += 1;
        let mut line = format!("{}: rule {number} ({}): ", cx.name(), rule.text);
        describe(&mut line, packet.network().unwrap_or_default());
        let suppressed = std::mem::take(&mut self.suppressed);
        if suppressed > 0 {
            let _ = write!(line, "; {suppressed} packets before it were not logged");
        }
        cx.print(&line);
    }

    /// Lines of a number, a tab and a rule.
    pub(super) fn list(&self, rules: &[TallyRule], value: Value) -> String {
        let numbers =
            (0..=rules.len()).map(|at| self.counts.get(at).copied().unwrap_or_default()[value as usize]);
        let mut list = String::new();
        for (at, number) in numbers.enumerate() {
            let _ = match rules.get(at) {
                Some(rule) => writeln!(list, "{number}\t{at}: {}", rule.text),
                None => writeln!(list, "{number}\tno rule"),
            };
        }
        list
    }
}

/// Appends a packet's addresses, protocol and ports.
fn describe(line: &mut String, network: &[u8]) {
    let (from, to, protocol, transport) = match network.first().map(|byte| byte >> 4) {
        Some(4) => {
            let Ok(ip) = wire::ipv4::Header::new_checked(network) else { return };
            let transport = network.get(ip.header_len()..).filter(|_| ip.is_first_fragment());
            (ip.src().to_string(), ip.dst().to_string(), ip.protocol(), transport)
        }
        Some(6) => {
            let Ok(ip) = wire::ipv6::Header::new_checked(network) else { return };
            let upper = wire::ipv6::upper_layer(network).ok();
            let protocol = upper.map_or(ip.next_header(), |upper| upper.protocol);
            let transport =
                upper.filter(|upper| upper.first_fragment).and_then(|upper| network.get(upper.offset..));
            (ip.src().to_string(), ip.dst().to_string(), protocol, transport)
        }
        _ => return,
    };
    let ports = transport.and_then(|transport| transport.first_chunk::<4>());
    let _ = match (protocol, ports) {
        (wire::ip_proto::TCP | wire::ip_proto::UDP, Some([a, b, c, d])) => {
            let [source, destination] = [[*a, *b], [*c, *d]].map(u16::from_be_bytes);
            write!(line, "{from} {source} > {to} {destination} proto {protocol} len {}", network.len())
        }
        _ => write!(line, "{from} > {to} proto {protocol} len {}", network.len()),
    };
}
