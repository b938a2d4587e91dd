//! Memory under attack: however many hosts send something, or one claims to be, an element keeps no more than its class declares
//! ([`router::Class::keeps`]), and goes on serving those that were there.
//!
//! Each class that keeps something for those whose packets come has a case here. It gets packets of 70,000 random hosts, and now
//! and then one of the same friend. What is allocated is compared with the same configuration without the element.

use packet::{Anno, Batch};
use router::{
    Activity, Class, Classes, Clock, Config, ConfigError, Cx, Element, FromArg, Handlers, Log, Options,
    Residency, Scope,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Counts bytes.
struct Counting;

static BYTES: AtomicI64 = AtomicI64::new(0);

// SAFETY: the system's allocator does it all.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size() as i64, Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size() as i64, Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Strangers that send something.
const FLOOD: u64 = 70_000;
/// One packet in so many is the friend's.
const FRIEND: u64 = 50;
/// What the friend's packets end with.
const MARK: &[u8] = b"friend";
/// Bytes of a packet's buffer.
const BUFFER: i64 = 2112;
/// Classes that do not fill up here: IPRateMonitor looks more closely as rates say, and no time passes.
const QUIET: [&str; 1] = ["IPRateMonitor"];
/// What configurations take beside their elements, such as another packet under way.
const SLACK: i64 = 64 << 10;
/// And what a class has before any packet comes: IPsec's tables of associations.
const TABLES: [(&str, i64); 1] = [("IPsec", 128 << 10)];

const STRANGERS: Class = Class::new("Strangers", strangers)
    .ports("0/1")
    .processing("/h")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .makes("packets");
const FRIENDS: Class = Class::new("Friends", friends)
    .ports("1/0")
    .processing("h/")
    .residency(Residency::Exclusive)
    .absorbs("packets");

/// What strangers send.
#[derive(Clone, Copy)]
enum Kind {
    Udp,
    Syn,
    /// The same, but the friend goes on.
    Open,
    Echo,
    /// First fragments.
    Fragment,
    Udp6,
    Fragment6,
    /// From one host to many.
    Scan,
    Ethernet,
    Wifi,
    Beacon,
    /// Connections of which the packet after the first is missing.
    Gap,
    /// ESP of associations that are not there.
    Esp,
}

impl FromArg for Kind {
    fn from_arg(text: &str, _: Scope<'_>) -> Result<Kind, String> {
        Ok(match text {
            "udp" => Kind::Udp,
            "syn" => Kind::Syn,
            "open" => Kind::Open,
            "echo" => Kind::Echo,
            "fragment" => Kind::Fragment,
            "udp6" => Kind::Udp6,
            "fragment6" => Kind::Fragment6,
            "scan" => Kind::Scan,
            "ethernet" => Kind::Ethernet,
            "wifi" => Kind::Wifi,
            "beacon" => Kind::Beacon,
            "gap" => Kind::Gap,
            "esp" => Kind::Esp,
            other => return Err(format!("no kind {other}")),
        })
    }
}

fn sum(words: impl Iterator<Item = u16>) -> u16 {
    let sum: u32 = words.map(u32::from).sum();
    let sum = (sum >> 16) + (sum & 0xffff);
    !((sum + (sum >> 16)) as u16)
}

fn ipv4(source: u32, target: u32, (id, flags): (u16, u16), protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut header = vec![0x45, 0];
    header.extend((20 + payload.len() as u16).to_be_bytes());
    header.extend(id.to_be_bytes());
    header.extend(flags.to_be_bytes());
    header.extend([64, protocol, 0, 0]);
    header.extend(source.to_be_bytes());
    header.extend(target.to_be_bytes());
    let check = sum(header.chunks(2).map(|word| u16::from_be_bytes([word[0], word[1]])));
    header[10..12].copy_from_slice(&check.to_be_bytes());
    [&header, payload].concat()
}

fn ipv6(source: u64, next: u8, payload: &[u8]) -> Vec<u8> {
    let mut header = vec![0x60, 0, 0, 0];
    header.extend((payload.len() as u16).to_be_bytes());
    header.extend([next, 64, 0x20, 1, 0x0d, 0xb8, 0, 1, 0, 0]);
    header.extend(source.to_be_bytes());
    header.extend([0x20, 1, 0x0d, 0xb8, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    [&header, payload].concat()
}

impl Kind {
    /// A packet of a host, which `random` says.
    fn packet(self, random: u64, is_friend: bool) -> Vec<u8> {
        let host = if is_friend { 0x0a00_0001 } else { 0x0b00_0000 | (random as u32 >> 8) };
        let port = if is_friend { 5000 } else { 1024 + (random >> 40) as u16 % 60_000 };
        let to = 0xc000_0201;
        let udp = [&port.to_be_bytes()[..], &[0, 53, 0, 8 + MARK.len() as u8, 0, 0]].concat();
        let end = if is_friend { MARK } else { &[0; MARK.len()] };
        let udp = [&udp, end].concat();
        let id = random as u16;
        match self {
            Kind::Esp if !is_friend => {
                ipv4(host, to, (id, 0), 50, &[&(random as u32 | 256).to_be_bytes()[..], &[0; 60]].concat())
            }
            Kind::Udp | Kind::Esp => ipv4(host, to, (id, 0), 17, &udp),
            Kind::Syn | Kind::Open => {
                let friendly = if matches!(self, Kind::Open) { 16 } else { 4 };
                let flags = if is_friend { friendly } else { 2 };
                let tcp = [
                    &port.to_be_bytes()[..],
                    &[0, 80, 1, 2, 3, 4, 0, 0, 0, 0, 0x50, flags, 1, 0, 0, 0, 0, 0],
                ]
                .concat();
                ipv4(host, to, (id, 0), 6, &[&tcp[..], if is_friend { end } else { &[] }].concat())
            }
            Kind::Gap => {
                let (flags, sequence) =
                    if is_friend { (4, 0) } else { [(2, 0), (16, 100)][random as usize & 1] };
                let head = [&port.to_be_bytes()[..], &[0, 80, 1, 2, 3, sequence, 0, 0, 0, 0, 0x50, flags]];
                let tcp = [&head.concat()[..], &[1, 0, 0, 0, 0, 0], end].concat();
                ipv4(host, to, (id, 0), 6, &tcp)
            }
            Kind::Echo => {
                ipv4(host, to, (id, 0), 1, &[&[8, 0, 0, 0][..], &port.to_be_bytes(), &[0, 1], end].concat())
            }
            Kind::Fragment if !is_friend => ipv4(host, to, (id, 0x2000), 17, &[&udp[..], &[0; 18]].concat()),
            Kind::Fragment => ipv4(host, to, (id, 0), 17, &udp),
            Kind::Fragment6 if !is_friend => {
                let header = [&[17, 0, 0, 1][..], &(random as u32).to_be_bytes()].concat();
                ipv6(host.into(), 44, &[&header, &udp[..], &[0; 18]].concat())
            }
            Kind::Udp6 | Kind::Fragment6 => ipv6(host.into(), 17, &udp),
            Kind::Scan => ipv4(
                0x0a00_0002,
                if is_friend { 0x0a00_0001 } else { host & 0xff_ffff | 0x0a00_0000 },
                (id, 0),
                17,
                &udp,
            ),
            Kind::Ethernet => {
                let own = [&[2, 0, 0, 0][..], &host.to_be_bytes()[2..], &[0x88, 0xb6], end].concat();
                [&[2, 9, 9, 9, 9, 9][..], &own].concat()
            }
            Kind::Beacon => {
                let host = [&[2, 0][..], &host.to_be_bytes()].concat();
                let header = [&[0x80, 0, 0, 0][..], &[0xff; 6], &host, &host, &[0, 0]].concat();
                let fixed = [&[0; 8][..], &[100, 0, 1, 0]].concat();
                let name = [&[0, 32][..], &[b'a'; 32 - MARK.len()], end].concat();
                [header, fixed, vec![1, 8, 2, 4, 11, 22, 12, 18, 24, 36], name].concat()
            }
            Kind::Wifi => {
                let host = host.to_be_bytes();
                [
                    &[8, 1, 0, 0, 2, 9, 9, 9, 9, 9, 2, 0][..],
                    &host,
                    &[2, 9, 9, 9, 9, 9],
                    &id.to_be_bytes(),
                    &[0; 8],
                    end,
                ]
                .concat()
            }
        }
    }
}

struct Strangers {
    kind: Kind,
    sent: u64,
    limit: u64,
}

fn strangers(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = Strangers { kind: Kind::Udp, sent: 0, limit: FLOOD };
    config.args().required("KIND", &mut e.kind).finish()?;
    Ok(Box::new(e))
}

impl Element for Strangers {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if self.sent >= self.limit {
            return cx.info().please_stop();
        }
        // An odd factor, so that no host comes twice; the upper bits are mixed as well.
        let random_of = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number << 8;
        let random = match self.kind {
            // Two packets of each host.
            Kind::Gap => random_of(self.sent & !1) & !1 | self.sent & 1,
            _ => random_of(self.sent),
        };
        let is_friend = self.sent.is_multiple_of(FRIEND);
        self.sent += 1;
        let data = self.kind.packet(random, is_friend);
        let mut packet = cx.pool().packet(&data).expect("it fits");
        packet.set_anno(Anno::AGGREGATE, if is_friend { 1 } else { random >> 32 });
        cx.emit_packet(0, packet);
        cx.tasks().schedule();
    }
}

#[derive(Default)]
struct Friends {
    count: u64,
}

fn friends(_: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(Friends::default()))
}

impl Element for Friends {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.count += batch.iter().filter(|packet| packet.data().ends_with(MARK)).count() as u64;
        cx.consume(batch);
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut Friends, _| e.count);
    }
}

/// A class under attack: its arguments, with `#` for how many entries there may be, what strangers send, what is in front of the element,
/// and what is behind or beside it.
struct Case {
    class: &'static str,
    arguments: &'static str,
    entries: u64,
    kind: &'static str,
    before: &'static str,
    after: &'static str,
}

const fn case(
    class: &'static str,
    arguments: &'static str,
    entries: u64,
    kind: &'static str,
    before: &'static str,
    after: &'static str,
) -> Case {
    Case { class, arguments, entries, kind, before, after }
}

const IP: &str = "MarkIPHeader";
const NEXT: &str = "MarkIPHeader -> GetIPAddress(16)";
const NEXT6: &str = "MarkIP6Header -> GetIP6Address(24)";
const KNOWN: &str = "Script(write e.insert 10.0.0.1 2:0:0:0:0:9); Idle -> [1]e;";

/// What comes is for an element's second input.
const SECOND: &str = "MarkIPHeader -> x :: Tee -> Discard; Idle";

const HOP: &str = "Script(write e.insert 10.0.0.1 2:0:0:0:0:9); Idle -> [1]e[1] -> Discard; e[2] -> Discard;";

/// Every class that keeps something for strangers.
const CASES: &[Case] = &[
    case("ARPQuerier", "10.0.0.2/8, 2:2:2:2:2:2, CAPACITY 16, ENTRY_CAPACITY #", 2000, "scan", NEXT, KNOWN),
    case("IPAdjacency", "10.0.0.2/8, 2:2:2:2:2:2, CAPACITY 16, ENTRY_CAPACITY #", 2000, "scan", NEXT, HOP),
    case("RadixIPLookup", "0.0.0.0/0 0, FLOWS #", 16_384, "udp", NEXT, ""),
    case("IP6Lookup", "::/0 0, FLOWS #", 16_384, "udp6", NEXT6, ""),
    case("IPRewriter", "keep 0 0, MAPPING_CAPACITY #", 40_000, "udp", IP, ""),
    case("UDPRewriter", "keep 0 0, MAPPING_CAPACITY #", 40_000, "udp", IP, ""),
    case("TCPRewriter", "keep 0 0, MAPPING_CAPACITY #", 40_000, "syn", IP, ""),
    case("ICMPPingRewriter", "keep 0 0, MAPPING_CAPACITY #", 40_000, "echo", IP, ""),
    case("IPAddrRewriter", "keep 0 0, MAPPING_CAPACITY #", 40_000, "udp", IP, ""),
    case("IPAddrPairRewriter", "keep 0 0, MAPPING_CAPACITY #", 40_000, "udp", IP, ""),
    case("ConnTrack", "CAPACITY #", 40_000, "syn", IP, ""),
    case("FlowExporter", "CAPACITY #", 8192, "udp", IP, "e[1] -> Discard;"),
    case(
        "AddressTranslator",
        "0, true, true, 0, 2001:db8::1 1 65535",
        65_536,
        "udp6",
        "MarkIP6Header",
        "Idle -> [1]e[1] -> Discard;",
    ),
    case(
        "NAT64",
        "192.0.2.1 1-65535, MAPPING_CAPACITY #",
        40_000,
        "udp6",
        "StoreData(24, \\<0064ff9b 00000000 00000000 c6336407>)",
        "Idle -> [1]e[1] -> Discard;",
    ),
    case("IPReassembler", "HIMEM #", 500_000, "fragment", IP, ""),
    case("IP6Reassembler", "HIMEM #", 500_000, "fragment6", "MarkIP6Header", ""),
    case("IPsec", "DEFAULT bypass", 256, "esp", SECOND, "x[1] -> [1]e[1] -> f;"),
    case("FlowIPManager", "CAPACITY #", 4096, "udp", IP, ""),
    case("IPRRSwitch", "CAPACITY #", 4096, "udp", IP, ""),
    case("FlowMinLoadSwitch", "CAPACITY #", 4096, "udp", IP, ""),
    case("EtherSwitch", "", 262_144, "ethernet", "Null", "Idle -> [1]e[1] -> f;"),
    case(
        "TCPIn",
        "o, OUTNAME t, CAPACITY #",
        2000,
        "syn",
        IP,
        "Idle -> t :: TCPOut -> Discard; Idle -> o :: TCPIn(e) -> TCPOut -> Discard;",
    ),
    case("AggregateIPFlows", "CAPACITY #", 4000, "udp", IP, ""),
    case("AggregateIPAddrPair", "CAPACITY #", 4000, "udp", IP, ""),
    case("AggregateCounter", "CAPACITY #", 4000, "udp", IP, ""),
    case("AggregatePacketCounter", "ANNO NONE, CAPACITY #", 4000, "udp", IP, ""),
    case("AggregateFirst", "CAPACITY #", 4000, "udp", IP, "e[1] -> f;"),
    case("IPRateMonitor", "PACKETS, 1, 1, MEMORY #", 500, "udp", IP, ""),
    case("AggregateLast", "CAPACITY #", 1000, "udp", IP, "e[1] -> f;"),
    case("ConsistencyCheck", "20, CAPACITY #", 3584, "udp", IP, ""),
    case(
        "TCPReorder",
        "CAPACITY #",
        1500,
        "gap",
        "MarkIPHeader -> FlowIPManager(CAPACITY 2048, TIMEOUT 1)",
        "",
    ),
    case(
        "TCPStateIN",
        "t",
        2048,
        "open",
        "MarkIPHeader -> FlowIPManager(CAPACITY 2048)",
        "Idle -> FlowIPManager(CAPACITY 1) -> t :: TCPStateIN(e) -> Discard;",
    ),
    case("ToIPFlowDumps", "/dev/null, CAPACITY #", 4000, "udp", IP, ""),
    case("BeaconScanner", "", 1024, "beacon", "Null", ""),
    case("RXStats", "", 4096, "wifi", "Null", ""),
    case("WifiDupeFilter", "", 4096, "wifi", "Null", ""),
];

/// Classes whose case is another's: the same table behind another face, or with packets of another kind.
const SAME: &[(&str, &str)] = &[
    ("IPLookup", "RadixIPLookup"),
    ("DirectIPLookup", "RadixIPLookup"),
    ("RangeIPLookup", "RadixIPLookup"),
    ("LinearIPLookup", "RadixIPLookup"),
    ("StaticIPLookup", "RadixIPLookup"),
    ("SortedIPLookup", "RadixIPLookup"),
    ("LookupIP6Route", "IP6Lookup"),
    ("ARPTable", "ARPQuerier"),
    ("IP6NDSolicitor", "ARPQuerier"),
    ("IP6Adjacency", "ARPQuerier"),
    ("ListenEtherSwitch", "EtherSwitch"),
    ("CTXManager", "FlowIPManager"),
    ("CTXDPDKManager", "FlowIPManager"),
    ("FlowIPManagerBucket", "FlowIPManager"),
    ("SimpleTCPReorder", "TCPReorder"),
];

/// Classes whose own tests fill them, since it takes more than packets to do that.
const ELSEWHERE: [&str; 1] = ["AvailableRates"];

/// Bytes that are taken when a configuration has run, and the friend's packets that arrived.
fn run(text: &str) -> Result<(i64, u64), String> {
    let known = elements::classes();
    let known = Classes::new(known.iter().chain([&STRANGERS, &FRIENDS]));
    let before = BYTES.load(Relaxed);
    let parsed = lang::parse(text, "config", &[]);
    assert!(!parsed.has_errors(), "{}", parsed.render_click());
    let layout = router::layout(parsed.graph, &known, 1).map_err(|e| lang::render_click(&e))?;
    let log = Log::Memory(Default::default());
    let options = Options { log, clock: Clock::simulated(), counted: true, ..Options::default() };
    let built = router::build(layout, text.to_owned(), &known, options);
    let (mut router, _) = built.map_err(|e| lang::render_click(&e))?;
    elements_testing::run_to_end(&mut router);
    let friends = router.call(router::Call::read("f.count", "")).expect("a count").parse().expect("a number");
    // Packets are in memory of their own.
    let held: u64 = router.balance().elements.iter().map(|entry| entry.held).sum();
    Ok((BYTES.load(Relaxed) - before + held as i64 * BUFFER, friends))
}

#[test]
fn no_flood_takes_more_than_is_declared() {
    let known = elements::classes();
    let (mut wrong, mut plain) = (Vec::new(), HashMap::new());
    // What is made once for a process is there from now on.
    run("Strangers(udp) -> MarkIPHeader -> f :: Friends").expect("a configuration");
    for Case { class, arguments, entries, kind, before, after } in CASES {
        let Some(budget) = known.get(class).expect("a class").keeps else {
            wrong.push(format!("{class} does not declare what it keeps"));
            continue;
        };
        let arguments = arguments.replace('#', &entries.to_string());
        let without =
            || run(&format!("Strangers({kind}) -> {before} -> f :: Friends")).expect("a configuration").0;
        let without = *plain.entry((kind, before)).or_insert_with(without);
        let text =
            format!("Strangers({kind}) -> {before} -> e :: {class}({arguments}) -> f :: Friends; {after}");
        let (with, friends) = match run(&text) {
            Ok(found) => found,
            Err(error) => {
                wrong.push(format!("{class}: {error}"));
                continue;
            }
        };
        let tables = TABLES.iter().find(|(name, _)| name == class).map_or(0, |(_, bytes)| *bytes);
        let (kept, most) = (with - without, (entries * budget.bytes) as i64 + SLACK + tables);
        println!(
            "{class}: {kept} bytes, {} an entry; at most {most}; {friends} of the friend's",
            kept / *entries as i64
        );
        if kept > most {
            wrong.push(format!("{class} keeps {kept} bytes, more than {most}"));
        }
        // What is declared is not far from the truth either.
        if kept < most / 8 && !QUIET.contains(class) {
            wrong.push(format!("{class} keeps {kept} bytes, far less than {most}"));
        }
        if friends < FLOOD / FRIEND * 9 / 10 {
            wrong.push(format!("{class}: {friends} of the friend's {} packets arrive", FLOOD / FRIEND));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Who declares something is tried, and what is tried is declared.
#[test]
fn each_declaration_is_tried() {
    let known = elements::classes();
    let is_tried = |name: &str| {
        CASES.iter().any(|case| case.class == name)
            || SAME.iter().any(|(same, _)| *same == name)
            || ELSEWHERE.contains(&name)
    };
    let wrong: Vec<&str> = (known.iter())
        .filter(|class| class.alias_of.is_none() && class.keeps.is_some() != is_tried(class.name))
        .map(|class| class.name)
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    for (name, like) in SAME {
        let budgets = [name, like].map(|name| known.get(name).expect("a class").keeps.expect("a budget"));
        assert!(budgets[0].bytes <= 2 * budgets[1].bytes, "{name}");
    }
}
