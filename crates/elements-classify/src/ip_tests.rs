//! The pattern language on real packets, and against a reading of its own.

use super::filter::{self, Style};
use super::names::Family;
use super::ways::Alone;
use crate::testing::{Flow, Sent, send};
use crate::testing::{build, errors};
use proptest::prelude::*;
use router::{Class, Classes, Clock, Config, ConfigError, Element, Options, Resources};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

/// A packet to be described in a test.
#[derive(Clone, Debug)]
struct Ip {
    src: Ipv4Addr,
    dst: Ipv4Addr,
    proto: u8,
    tos: u8,
    ttl: u8,
    id: u16,
    frag: u16,
    options: usize,
    payload: Vec<u8>,
}

impl Default for Ip {
    fn default() -> Ip {
        let payload = [0x13u8, 0x88, 0, 80, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x02, 0x20, 0, 0, 0, 0, 0].to_vec();
        Ip {
            src: Ipv4Addr::new(10, 0, 0, 1),
            dst: Ipv4Addr::new(18, 26, 4, 9),
            proto: 6,
            tos: 0xb8,
            ttl: 64,
            id: 0x1234,
            frag: 0,
            options: 0,
            payload,
        }
    }
}

impl Ip {
    fn bytes(&self) -> Vec<u8> {
        let len = 20 + self.options * 4 + self.payload.len();
        let mut data = vec![0x45 + self.options as u8, self.tos];
        data.extend((len as u16).to_be_bytes());
        data.extend(self.id.to_be_bytes());
        data.extend(self.frag.to_be_bytes());
        data.extend([self.ttl, self.proto, 0, 0]);
        data.extend(self.src.octets());
        data.extend(self.dst.octets());
        data.extend(vec![1; self.options * 4]);
        data.extend(&self.payload);
        data
    }
}

const V4: Style = Style { family: Family::V4, output_each: true, fast: false };
const V6: Style = Style { family: Family::V6, output_each: true, fast: false };

/// Patterns, packets, and whether the packets match the patterns. `Probe` finds out, where names mean something.
struct Cases {
    style: Style,
    cases: Vec<(String, Vec<u8>)>,
    answers: Mutex<Vec<Result<bool, String>>>,
}

const PROBE: Class = Class::new("Probe", probe).ports("0/0");

struct Probe;

impl Element for Probe {}

fn probe(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let cases = config.resource::<Arc<Cases>>().ok_or("Probe without cases")?;
    let mut known: Option<(&str, Result<Alone, String>)> = None;
    let answers = cases.cases.iter().map(|(pattern, data)| {
        let header_len = data.first().map_or(0, |first| usize::from(first & 15) * 4);
        if known.as_ref().is_none_or(|(text, _)| text != pattern) {
            known = Some((pattern, filter::alone(cases.style, config.scope(), pattern)));
        }
        let (_, alone) = known.as_ref().unwrap();
        alone.as_ref().map(|alone| alone.matches(data, header_len)).map_err(Clone::clone)
    });
    *cases.answers.lock().unwrap() = answers.collect();
    Ok(Box::new(Probe))
}

fn answers(style: Style, cases: Vec<(String, Vec<u8>)>) -> Vec<Result<bool, String>> {
    let cases = Arc::new(Cases { style, cases, answers: Mutex::default() });
    let mut resources = Resources::default();
    resources.insert(cases.clone());
    let known = Classes::new([&PROBE]);
    let layout =
        router::layout(lang::parse("Probe", "config", &[]).graph, &known, 1).unwrap_or_else(|_| panic!());
    let options = Options { clock: Clock::simulated(), resources, ..Options::default() };
    router::build(layout, String::new(), &known, options).unwrap_or_else(|_| panic!());
    std::mem::take(&mut *cases.answers.lock().unwrap())
}

fn check_all(style: Style, data: &[u8], yes: &[&str], no: &[&str]) {
    let patterns: Vec<&str> = yes.iter().chain(no).map(|pattern| pattern.trim()).collect();
    let cases = patterns.iter().map(|pattern| ((*pattern).to_owned(), data.to_vec())).collect();
    for (i, (pattern, answer)) in patterns.iter().zip(answers(style, cases)).enumerate() {
        assert_eq!(answer, Ok(i < yes.len()), "{pattern}");
    }
}

fn check(data: &[u8], yes: &[&str], no: &[&str]) {
    check_all(V4, data, yes, no);
}

/// Every primitive, and the ways to write it.
#[test]
fn each_primitive_matches_what_it_should() {
    let tcp = Ip::default().bytes();
    let yes = "-;any;all;true;tcp;ip proto tcp;proto 6;ip proto == 6;src host 10.0.0.1;src 10.0.0.1;host 10.0.0.1;10.0.0.1;
        dst 18.26.4.9;dest 18.26.4.9;src or dst 18.26.4.9;src net 10.0.0.0/8;net 10.0.0.0 mask 255.0.0.0;10.0.0.0/255.0.0.0;
        src and dst net 0.0.0.0/0;src host != 1.2.3.4;src & 255.0.0.255 == 10.9.9.1;src host & 0xff000000 10.0.0.0;
        dst port 80;dst tcp port www;port 5000;tcp port 80;dst www;src port > 1023;src port >= 5000;src port <= 5000;
        src port & 0xff00 == 0x1300;dst port != 81;dst port 79 or 80;dst port < 81;dst port 79 or www;
        ip vers 4;ip hl 5;ip id 0x1234;ip tos 184;ip dscp 46;ip ttl 64;ip ttl > 63;ip ttl < 65;ttl & 64 != 0;ip len 40;len >= 40;
        unfrag;ip unfrag;not ip frag;!frag;tcp opt syn;syn;opt syn;tcp win 8192;win > 8000;
        ip[0] 0x45;ip[0:1] & 0xf0 == 0x40;ip[8] == 64;ip[12:4] == 0x0a000001;ip[2,3] 40;transp[2:2] 80;tcp[13] & 2 != 0;
        tcpudp[0:2] 5000;transp;tcpudp;! ( udp );tcp && !udp;tcp and not udp;tcp dst port 80;(dst port www or dst port ssh) and syn;
        tcp ? dst port 80 : false;udp ? false : tcp;udp ? false : icmp ? false : true;tcp syn dst port 80;!!tcp;src tcp port 5000;
        ip proto != 17;ip proto > 5;ip proto & 2 == 2;not proto 17;ip proto != udp"
        .split(';');
    let no = "false;udp;icmp;!tcp;src 18.26.4.9;src and dst 10.0.0.1;src host != 10.0.0.1;net 11.0.0.0/8;port 81;udp port 80;
        src port < 5000;src port > 5000;dst port > 80;dst port >= 81;dst port < 80;dst port != 80;frag;ip frag;ack;tcp opt ack;tcp win 1;
        icmp type 0;icmp type != 4;ip hl 6;ip vers 6;ip ce;ip ttl 63;src port 80 or 81;tcp ? udp : true;ip[0] 0x46;tcp[13] & 16 != 0;
        udp[0:2] 5000;!transp;ip proto != tcpudp;dst port & 1 == 1;tcp syn ack;ip ect;ip[40] 0;transp[20] 0;
        src port 5000 and dst port 5000"
        .split(';');
    check(&tcp, &yes.collect::<Vec<_>>(), &no.collect::<Vec<_>>());
}

/// Headers that are not there do not match, whatever is asked of them, and "not" turns that round.
#[test]
fn fragments_and_short_packets() {
    let later = Ip { frag: 0x2001, ..Ip::default() }.bytes();
    check(
        &later,
        &["frag", "tcp", "!dst port 80", "10.0.0.1", "tcp[0:2] != 1 or true"],
        &["dst port 80", "dst port != 80", "syn", "unfrag"],
    );
    let first = Ip { frag: 0x2000, ..Ip::default() }.bytes();
    check(&first, &["frag", "dst port 80", "syn"], &["unfrag"]);
    let short = Ip { payload: vec![0x13, 0x88, 0], ..Ip::default() }.bytes();
    check(
        &short,
        &["src port 5000", "!dst port 80", "!(dst port > 1)"],
        &["dst port 80", "dst port != 80", "dst port > 1", "dst port >= 0 and syn"],
    );
    let bare = &Ip::default().bytes()[..14];
    check(bare, &["tcp", "ttl 64", "!src 10.0.0.1"], &["src 10.0.0.1", "src != 10.0.0.1", "dst port 80"]);
    let icmp = Ip { proto: 1, payload: vec![8, 0, 0, 0, 0, 0, 0, 0], options: 2, ..Ip::default() }.bytes();
    check(
        &icmp,
        &["icmp type echo", "icmp type 8", "icmp echo", "ip hl 7", "icmp type > 7", "type echo"],
        &["icmp type echo-reply", "echo-reply"],
    );
    let ecn = Ip { tos: 3, ..Ip::default() }.bytes();
    check(&ecn, &["ce", "ip ect", "ip ect 3", "tos 3"], &["ip dscp 1", "ip ect 1"]);
}

fn sent(config: &str, packets: &[Vec<u8>]) -> Flow {
    send(config, packets.to_vec())
}

/// The elements send packets where patterns and actions say, and drop the others.
#[test]
fn packets_go_where_patterns_and_actions_say() {
    let dns = Ip { proto: 17, payload: vec![0x13, 0x88, 0, 53, 0, 8, 0, 0], ..Ip::default() }.bytes();
    let packets = [Ip::default().bytes(), dns, Ip { proto: 47, ..Ip::default() }.bytes()];
    let config = "AddressInfo(inside 10.0.0.0/8, gate 18.26.4.9);
                  Inject -> MarkIPHeader -> c :: IPClassifier(src net inside && tcp, dst gate and udp port dns);
                  c[0] -> Collect(0); c[1] -> Collect(1);";
    let flow = sent(config, &packets);
    assert_eq!(
        (flow.data(0).len(), flow.data(1).len(), flow.drops()),
        (1, 1, vec![("no pattern matches", 1)])
    );
    let config = "Inject -> MarkIPHeader -> f :: IPFilter(deny udp, allow tcp dst port 80, 1 all);
                  f[0] -> Collect(0); f[1] -> Collect(1);";
    let flow = sent(config, &packets);
    assert_eq!((flow.data(0).len(), flow.data(1).len(), flow.drops()), (1, 1, vec![("filtered", 1)]));
}

/// Ethernet addresses count where the link-layer header is marked.
#[test]
fn ethernet_addresses() {
    let mut frame = vec![0, 1, 2, 3, 4, 5, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 8, 0];
    frame.extend(Ip::default().bytes());
    let config = "Inject -> Strip(14) -> CheckIPHeader(CHECKSUM false) -> c :: IPClassifier(src ether host 10:11:12:13:14:16,
                    src 10:11:12:13:14:15 and ether dst 0:1:2:3:4:5, -);
                  c[0] -> Collect(0); c[1] -> Collect(1); c[2] -> Collect(2);";
    let flow = sent(config, &[frame]);
    assert_eq!(flow.data(0).len() + flow.data(1).len() + flow.data(2).len(), 1);
    assert_eq!(flow.data(0).len(), 0);
}

#[test]
fn wrong_patterns_are_refused_in_clicks_words() {
    for (pattern, message) in [
        ("src", "partial directive"),
        ("10", "specify header field or 'port'"),
        ("host 10", "'ip host': address missing"),
        ("tcp or", "missing expression"),
        ("not", "missing expression after 'not'"),
        ("(tcp", "missing ')'"),
        ("tcp )", "garbage after expression at ')'"),
        ("tcp ? udp", "missing ':' in ternary expression"),
        ("ip[0", "missing ']'"),
        ("ip[0:9] 1", "LEN in '[POS:LEN]' out of range, should be between 1 and 4"),
        ("ip[3:2] 1", "field [3:2] does not fit in a single word"),
        ("ip[x] 1", "syntax error after '[', expected '[POS]' or '[POS:LEN]'"),
        ("port 70000", "out of range, bound 65535"),
        ("ip ttl & 0x100 1", "'ip ttl': mask out of range, bound 0xFF"),
        ("host > 1.2.3.4", "'ip host': operator not supported"),
        ("tcp opt > 3", "'tcp opt': operator or mask not supported"),
        ("src dst 1.2.3.4", "'src' or 'dst' specified twice"),
        ("tcp udp port 1", "transport protocol specified twice"),
        ("icmp port 80", "'port': bad protocol 1"),
        ("echo", "'<none>  echo' is ambiguous; try 'port  echo', 'port  echo', 'icmp type  echo'"),
        ("port syn", "is meaningless; try 'tcp opt  syn'"),
        ("ip frag 3", "'ip frag': value not supported"),
        ("bogus", "empty term near 'bogus'"),
        ("port > bogus", "dangling operator near 'bogus'"),
        ("ether host 10.0.0.1", "address missing"),
    ] {
        let text = errors(&format!("Idle -> IPClassifier(\"{pattern}\") -> Discard;"));
        assert!(text.contains(message), "{pattern}: {text}");
    }
    for (rules, message) in [
        ("bogus tcp", "pattern 0: unknown slot ID 'bogus'"),
        ("allow, 7 tcp", "pattern 1: slot '7' out of range"),
    ] {
        let text = errors(&format!("Idle -> IPFilter({rules}) -> Discard;"));
        assert!(text.contains(message), "{text}");
    }
    assert!(
        errors("Idle -> IPClassifier(-, -) -> Discard;").contains("need 1 arguments, one per output port")
    );
}

#[test]
fn odd_patterns_are_warned_of() {
    let config = "Idle -> c :: IPClassifier(tcp port > 70000, src tcp, -);
                  c[0] -> Discard; c[1] -> Discard; c[2] -> Discard;";
    let known = crate::testing::library();
    let layout =
        router::layout(lang::parse(config, "config", &[]).graph, &known, 1).unwrap_or_else(|_| panic!());
    let options = Options { clock: Clock::simulated(), ..Options::default() };
    let (_, warnings) = router::build(layout, String::new(), &known, options).unwrap_or_else(|_| panic!());
    let text = lang::render_click(&warnings);
    for part in [
        "pattern 0: relation '> 70000' is always false (range 0-65535)",
        "pattern 1: 'src proto': 'src' or 'dst' ignored",
        "output 0 matches no packets",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn handlers_read_and_replace_patterns() {
    let config = "InfiniteSource(LIMIT 3, STOP true) -> MarkIPHeader -> c :: IPClassifier(tcp, -);
                  c[0] -> Discard; c[1] -> Discard;";
    let mut router = build(config, 1, 32).unwrap();
    let mut read = |path: &str| router.call(router::Call::read(path, "")).unwrap();
    let program = " 0 264/00060000%00ff0000  yes->[0]  no->[1]\nsafe length 266\nalignment offset 0\n";
    assert_eq!(read("c.program"), program);
    assert_eq!((read("c.pattern0"), read("c.config")), ("tcp".to_owned(), "tcp, -".to_owned()));
    let mut write = |path: &str, value: &str| router.call(router::Call::write(path, value));
    write("c.pattern0", "udp").unwrap();
    assert!(write("c.pattern1", "port").unwrap_err().message.contains("pattern 1: 'port': value missing"));
    assert!(write("c.config", "tcp").unwrap_err().message.contains("need 2 arguments"));
    let mut read = |path: &str| router.call(router::Call::read(path, "")).unwrap();
    assert_eq!(read("c.config"), "udp, -");
    assert!(read("c.program").starts_with(" 0 264/00110000%00ff0000  yes->[0]  no->[1]\n"));
}

/// IPv6: addresses, the traffic class, what is behind extension headers, fragments.
#[test]
fn patterns_match_ipv6_behind_extension_headers() {
    let mut packet = vec![0x6b, 0x80, 0, 7, 0, 28, 0, 64];
    packet.extend("2001:db8::1".parse::<std::net::Ipv6Addr>().unwrap().octets());
    packet.extend("2001:db8:2::2".parse::<std::net::Ipv6Addr>().unwrap().octets());
    let hop_by_hop = [6u8, 0, 1, 4, 0, 0, 0, 0];
    packet.extend(hop_by_hop);
    packet.extend(&Ip::default().payload);
    let yes = "tcp;ip6 proto tcp;src 2001:db8::1;host 2001:db8:2::2;src net 2001:db8::/32;dst port 80;syn;ip tos 184;ip dscp 46;
        ip flow 7;ip hlim 64;ttl 64;ip vers 6;unfrag;ip len 28;ip[7] 64;tcp[2:2] 80;net 0::0/0;src & ffff:: == 2001::;
        2001:db8::/64 and !src net 2001:db9::/32"
        .split(';');
    let no =
        "udp;frag;src 2001:db8::2;net 2001:db9::/32;dst port 81;icmp;icmp type echo;ip vers 4".split(';');
    check_all(V6, &packet, &yes.collect::<Vec<_>>(), &no.collect::<Vec<_>>());
    packet[6] = 44; // a fragment header now, of a later fragment
    packet[42..44].copy_from_slice(&0x0009u16.to_be_bytes());
    check_all(V6, &packet, &["tcp", "frag", "!dst port 80"], &["dst port 80", "unfrag"]);
    check_all(V6, &packet[..45], &["src 2001:db8::1"], &["tcp or frag or dst port 80"]);
}

/// What the patterns of the next test are made of: a text, and what it means.
type Meaning = fn(&Ip, u32) -> bool;

fn ports(ip: &Ip) -> Option<(u32, u32)> {
    let has = [6, 17].contains(&ip.proto) && ip.frag & 0x1fff == 0;
    let port = |at: usize| ip.payload.get(at..at + 2).map(|b| u32::from(b[0]) << 8 | u32::from(b[1]));
    if has { Some((port(0)?, port(2)?)) } else { None }
}

const MEANINGS: &[(&str, Meaning)] = &[
    ("ip ttl == N", |ip, n| u32::from(ip.ttl) == n % 256),
    ("ip ttl < N", |ip, n| u32::from(ip.ttl) < n % 256),
    ("ip ttl >= N", |ip, n| u32::from(ip.ttl) >= n % 256),
    ("ip proto N", |ip, n| u32::from(ip.proto) == n % 256),
    ("src port > N", |ip, n| ports(ip).is_some_and(|(src, _)| src > n)),
    ("dst port <= N", |ip, n| ports(ip).is_some_and(|(_, dst)| dst <= n)),
    ("port != N", |ip, n| ports(ip).is_some_and(|(src, dst)| src != n && dst != n)),
    // The opposite of "src and dst port >= N", as in Click.
    ("src and dst port < N", |ip, n| ports(ip).is_some_and(|(src, dst)| src < n || dst < n)),
    ("udp port N", |ip, n| ip.proto == 17 && ports(ip).is_some_and(|(src, dst)| src == n || dst == n)),
    ("src port & 0x0f0f > 0x0105", |ip, _| ports(ip).is_some_and(|(src, _)| src & 0x0f0f > 0x105)),
    ("dst port & 0x3c0 <= 0x155", |ip, _| ports(ip).is_some_and(|(_, dst)| dst & 0x3c0 <= 0x155)),
    ("frag", |ip, _| ip.frag & 0x3fff != 0),
    ("src 10.0.0.1", |ip, _| ip.src == Ipv4Addr::new(10, 0, 0, 1)),
    ("net 18.26.0.0/16", |ip, _| [ip.src, ip.dst].iter().any(|a| a.octets()[..2] == [18, 26])),
    ("ip id & 0xff00 != 0x1200", |ip, _| ip.id & 0xff00 != 0x1200),
];

fn term() -> impl Strategy<Value = (usize, u32, bool)> {
    let number =
        prop_oneof![0u32..256, 0u32..=65535, prop::sample::select(vec![1, 6, 17, 80, 0xffff, 1023, 0x100])];
    (0..MEANINGS.len(), number, any::<bool>())
}

fn packets() -> impl Strategy<Value = Ip> {
    let byte = prop_oneof![any::<u8>(), prop::sample::select(vec![0u8, 1, 3, 4, 80, 255])];
    let payload = prop::collection::vec(byte, 4..20);
    let frag = prop::sample::select(vec![0u16, 0, 0, 0x4000, 0x2000, 0x2001, 1]);
    let proto = prop::sample::select(vec![6u8, 6, 17, 17, 1, 47]);
    let address =
        prop::sample::select(vec!["10.0.0.1", "10.0.0.2", "18.26.0.1", "18.26.255.255", "18.27.0.0"]);
    let address = address.prop_map(|text| text.parse::<Ipv4Addr>().unwrap());
    (payload, frag, proto, address.clone(), address, any::<u8>(), any::<u16>(), 0usize..3).prop_map(
        |(payload, frag, proto, src, dst, ttl, id, options)| Ip {
            payload,
            frag,
            proto,
            src,
            dst,
            ttl,
            id,
            options,
            tos: 0,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// Patterns, written out and read, mean what they say: an "or" of "and"s of primitives and their opposites.
    #[test]
    fn patterns_mean_what_they_say(
        pattern in prop::collection::vec(prop::collection::vec(term(), 1..4), 1..4),
        packets in prop::collection::vec(packets(), 20),
    ) {
        let one = |&(which, number, negated): &(usize, u32, bool)| {
            let (text, _) = MEANINGS[which];
            let number = if text.starts_with("ip") { number % 256 } else { number % 65536 };
            format!("{}{}", if negated { "!" } else { "" }, text.replace('N', &number.to_string()))
        };
        let all = |terms: &Vec<_>| terms.iter().map(one).collect::<Vec<_>>().join(" and ");
        let text = pattern.iter().map(all).collect::<Vec<_>>().join(" or ");
        let holds = |ip: &Ip| {
            let one = |&(which, number, negated): &(usize, u32, bool)| MEANINGS[which].1(ip, number % 65536) != negated;
            pattern.iter().any(|terms| terms.iter().all(one))
        };
        let expected: Vec<_> = packets.iter().map(|ip| Ok(holds(ip))).collect();
        let cases = packets.iter().map(|ip| (text.clone(), ip.bytes())).collect();
        prop_assert_eq!(answers(V4, cases), expected, "{}", text);
    }

    /// Whatever is written, reading it ends, with a pattern or with messages.
    #[test]
    fn any_text_is_read(
        words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..24),
        noise in ".{0,24}",
        data in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        let text = words.join(" ");
        for style in [V4, V6] {
            answers(style, vec![(text.clone(), data.clone()), (format!("{noise}{text}"), data.clone()), (noise.clone(), data.clone())]);
        }
    }
}

const WORDS: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "!",
    "?",
    ":",
    "&",
    "&&",
    "||",
    "=",
    "==",
    "!=",
    "<",
    ">",
    "<=",
    ">=",
    ",",
    "-",
    "and",
    "or",
    "not",
    "src",
    "dst",
    "ip",
    "ip6",
    "ether",
    "host",
    "net",
    "port",
    "proto",
    "tcp",
    "udp",
    "icmp",
    "transp",
    "tcpudp",
    "payload",
    "type",
    "opt",
    "syn",
    "frag",
    "unfrag",
    "ce",
    "ect",
    "tos",
    "ttl",
    "win",
    "len",
    "true",
    "false",
    "any",
    "mask",
    "0",
    "1",
    "5",
    "13",
    "80",
    "255",
    "65535",
    "65536",
    "-1",
    "4294967295",
    "99999999999999999999",
    "0:2",
    "3:4",
    "10.0.0.1",
    "10.0.0.0/8",
    "0.0.0.0",
    "2001:db8::1",
    "::/0",
    "1:2:3:4:5:6",
    "www",
    "echo",
    "bogus",
];

/// Nesting has an end: more of it is an error, not the end of the stack.
#[test]
fn deep_nesting() {
    let deep = format!("{}tcp{}", "(".repeat(100_000), ")".repeat(100_000));
    let choices = format!("{}tcp{}", "tcp ? ".repeat(50_000), " : udp".repeat(50_000));
    let wide = "tcp ? udp : ".repeat(2_000) + "tcp";
    let nots = "! ".repeat(100_000) + "tcp";
    let cases = [deep, choices, wide, nots].map(|text| (text, Ip::default().bytes())).to_vec();
    let found = answers(V4, cases);
    for deep in &found[..2] {
        assert!(deep.as_ref().unwrap_err().contains("expression too deeply nested"), "{deep:?}");
    }
    assert_eq!(found[2..], [Ok(false), Ok(true)]);
}
/// Thousands of rules are read, and searched: a packet goes where the first of them says.
#[test]
fn thousands_of_rules() {
    let rule = |i: u16| format!("{} src 10.{}.{}.0/24 && dst port {}", i % 3, i / 256, i % 256, 1 + i % 7);
    let rules: Vec<String> = (0..3000).map(rule).collect();
    let config = format!(
        "Inject -> MarkIPHeader -> f :: IPFilter({}, allow icmp); f[0] -> Collect(0); f[1] -> Collect(1); f[2] -> Collect(2);",
        rules.join(", ")
    );
    let numbers = [0u16, 1, 2, 255, 256, 1000, 1001, 2998, 2999, 3000];
    let packet = |i: u16| {
        let mut ip = Ip { src: Ipv4Addr::new(10, (i / 256) as u8, i as u8, 77), ..Ip::default() };
        ip.payload[2..4].copy_from_slice(&(1 + i % 7).to_be_bytes());
        ip.bytes()
    };
    let mut flow = sent(&config, &numbers.map(packet));
    for output in 0..3 {
        let expected = numbers.iter().filter(|&&i| i < 3000 && i % 3 == output).map(|&i| packet(i));
        assert_eq!(flow.data(output.into()), expected.collect::<Vec<_>>());
    }
    assert_eq!(flow.drops(), [("filtered", 1)]);
    assert!(flow.read("f.program").lines().count() > 9000);
}

/// What patterns say about the states of connections: the words repeat, and their negations hold. In `answers` all states are
/// tried, and that of no connection is answered for.
#[test]
fn states_of_connections() {
    for (style, packet) in [(V4, Ip::default().bytes()), (V6, vec![0x60; 40])] {
        let yes = [
            "state untracked",
            "!state new",
            "state != new",
            "state new or untracked",
            "not state new or related",
        ];
        let no = [
            "state new",
            "state established or related",
            "!(state untracked)",
            "state != untracked",
            "state invalid ? true : false",
        ];
        check_all(style, &packet, &yes, &no);
    }
    check(
        &Ip::default().bytes(),
        &["state untracked tcp && src 10.0.0.1", "tcp ? state untracked : false"],
        &["state new or udp"],
    );
    for (pattern, message) in [
        ("state", "expected new, established"),
        ("state > new", "operator or mask not supported"),
        ("state syn", "expected new, established"),
        ("new", "empty term near 'new'"),
    ] {
        let text = errors(&format!("Idle -> IPClassifier({pattern}) -> Discard;"));
        assert!(text.contains(message), "{pattern}: {text}");
    }
}

/// Each packet goes where the rules send those of its connection's state, one by one and in batches.
#[test]
fn rules_ask_for_the_state() {
    use elements_shared::connection_state::ConnectionState;
    let marked = |state: u64| Sent {
        data: Ip::default().bytes(),
        annotations: vec![(ConnectionState::ANNO, state)],
        ..Sent::default()
    };
    for filler in ["", &"allow udp src 1.2.3.4 and dst port 7, ".repeat(40)] {
        let config = format!(
            "Inject -> MarkIPHeader -> f :: IPFilter({filler} 0 state established or related, deny state invalid, 1 state new and tcp, 2 all);
             f[0] -> Collect(0); f[1] -> Collect(1); f[2] -> Collect(2);"
        );
        // The last number belongs to no state.
        let mut flow = send(&config, [0, 1, 2, 3, 4, 200].map(marked));
        assert_eq!([0, 1, 2].map(|output| flow.data(output).len()), [2, 1, 2]);
        assert_eq!(flow.drops(), [("filtered", 1)]);
        // Several tests of the state stand behind each other in the program, which is simplified as a whole.
        assert!(flow.read("f.program").contains("yes->[1]"), "{}", flow.read("f.program"));
    }
    // Which outputs are in use is found out by that program, when the router starts.
    let config = "Inject -> MarkIPHeader -> f :: IPClassifier(state established or related, state new and tcp, state new);
         f[0] -> Collect(0); f[1] -> Collect(1); f[2] -> Collect(2);";
    let flow = send(config, [0, 1, 2, 3, 4, 200].map(marked));
    assert_eq!([0, 1, 2].map(|output| flow.data(output).len()), [2, 1, 0]);
}

/// Rules are counted, those that are to be are logged, and what is decided stays the same.
#[test]
fn rules_are_counted() {
    let udp = Ip { proto: 17, ..Ip::default() }.bytes();
    let icmp = Ip { proto: 1, ..Ip::default() }.bytes();
    let packets = vec![Ip::default().bytes(), udp.clone(), udp, icmp];
    let config = |rules: &str| {
        format!("Inject -> MarkIPHeader -> f :: IPFilter({rules}); f[0] -> Collect(0); f[1] -> Collect(1);")
    };
    let mut flow = sent(&config("allow tcp, 1 log udp, COUNT true"), &packets);
    assert_eq!((flow.data(0).len(), flow.data(1).len(), flow.drops()), (1, 2, vec![("filtered", 1)]));
    assert_eq!(flow.read("f.rule_packets"), "1\t0: allow tcp\n2\t1: 1 log udp\n1\tno rule\n");
    assert_eq!(flow.read("f.rule_bytes"), "40\t0: allow tcp\n80\t1: 1 log udp\n40\tno rule\n");
    let mut flow = sent(&config("allow tcp, 1 udp"), &packets);
    assert_eq!(flow.read("f.rule_packets"), "");
    assert!(errors("Idle -> IPFilter(allow all, COUNT maybe) -> Discard;").contains("COUNT: expected bool"));
}
