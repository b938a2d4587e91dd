//! Flows that one router lists and another goes on with.

use crate::testing::{Flow, build_at, send_singly};
use elements_testing::flow_samples::{echo, tcp, udp};
use elements_testing::ip6_samples;
use router::{Call, Clock, HandlerError, Resources, Router};
use wire::tcp::flag::{ACK, FIN, SYN};

const A: [u8; 4] = [10, 0, 0, 1];
const B: [u8; 4] = [192, 0, 2, 1];

/// What a handler lists, as lines in order.
fn lines(json: &str) -> Vec<String> {
    let objects = json.lines().map(|line| line.trim_end_matches(','));
    let mut lines: Vec<String> = objects.filter(|line| line.starts_with('{')).map(str::to_owned).collect();
    lines.sort();
    lines
}

/// A router that sends these packets, one after the other, and has not begun yet.
fn second(elements: &str, packets: &[Vec<u8>]) -> (Router, Clock) {
    let clock = Clock::simulated();
    (at(&clock, elements, packets), clock)
}

fn at(clock: &Clock, elements: &str, packets: &[Vec<u8>]) -> Router {
    let sources: String = packets
        .iter()
        .enumerate()
        .map(|(at, packet)| {
            let data: String = packet.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("s{at} :: RatedSource(DATA \\<{data}>, RATE 10, LIMIT 1, ACTIVE false) -> in; ")
        })
        .collect();
    let begin: String = (0..packets.len()).map(|at| format!("write s{at}.active true, wait 0.2, ")).collect();
    let config = format!("{elements} {sources} Idle -> in; Script({begin} wait 1000)");
    let router = build_at(&config, 1, 1, clock.clone(), Resources::default());
    router.unwrap_or_else(|error| panic!("{error}"))
}

fn run(router: &mut Router, clock: &Clock, ms: i64) {
    for _ in 0..ms / 20 {
        router.run_rounds(1000);
        clock.jump(clock.now_ns() + 20_000_000);
    }
}

fn read(router: &mut Router, path: &str) -> String {
    router.call(Call::read(path, "")).unwrap()
}

fn load(router: &mut Router, path: &str, text: &str) -> Result<String, HandlerError> {
    router.call(Call::write(path, text))
}

/// Lists what one router has, has another take that in, and compares what the other lists. `element` has the handlers.
fn hand_over(first: &mut Flow, router: &mut Router, element: &str) -> Vec<String> {
    let (list, load_path) = (format!("{element}.flows_json"), format!("{element}.flows_load"));
    let told = lines(&first.read(&list));
    let text = told.join("\n");
    assert_eq!(load(router, &load_path, &text).unwrap(), format!("{} flows taken, 0 known", told.len()));
    assert_eq!(lines(&read(router, &list)), told);
    assert_eq!(load(router, &load_path, &text).unwrap(), format!("0 flows taken, {} known", told.len()));
    told
}

const WALL: &str = "ct :: ConnTrack; in :: MarkIPHeader -> c :: Classifier(12/0a, 8/20010db80001, -);
    c[0] -> [0]ct; c[1] -> [0]ct; c[2] -> [1]ct; ct[0] -> Discard; ct[1] -> Discard;";

/// A segment of a connection from a port. Each side sends a SYN, and then nothing but ACK, or a FIN.
fn segment(port: u16, reply: bool, flags: u8) -> Vec<u8> {
    let (from, to) = if reply { ((B, 80), (A, port)) } else { ((A, port), (B, 80)) };
    let [sequence, acknowledgement] = [flags & SYN == 0, flags & ACK != 0].map(u32::from);
    let mut packet = tcp(from, to, flags, &[], b"");
    packet[24..28].copy_from_slice(&sequence.to_be_bytes());
    packet[28..32].copy_from_slice(&acknowledgement.to_be_bytes());
    packet
}

#[test]
fn connections_go_on_elsewhere() {
    let config = "ct :: ConnTrack; Inject -> MarkIPHeader -> c :: Classifier(12/0a, 8/20010db80001, -);
        c[0] -> [0]ct; c[1] -> [0]ct; c[2] -> [1]ct; ct[0] -> Collect(0); ct[1] -> Collect(1);";
    let mut pong = echo(B, A, 7, 1);
    pong[20] = 0;
    let six = |from: &str, to: &str, ports: [u8; 4]| {
        let body = [&ports[..], &[0, 8, 0, 0]].concat();
        ip6_samples::with_addresses(ip6_samples::with_body(17, &body), from, to)
    };
    let (a6, b6) = ("2001:db8:1::1", "2001:db8:2::2");
    let packets = vec![
        segment(4000, false, SYN),
        segment(4000, true, SYN | ACK),
        segment(4000, false, ACK),
        udp((A, 4000), (B, 53), b"?"),
        udp((B, 53), (A, 4000), b"!"),
        udp((A, 4001), (B, 53), b"?"),
        echo(A, B, 7, 1),
        pong.clone(),
        // From the higher end, and from a side that has ended.
        udp((B, 9), (A, 9), b"?"),
        segment(5000, false, SYN),
        segment(5000, true, SYN | ACK),
        segment(5000, false, ACK),
        segment(5000, true, FIN | ACK),
        six(a6, b6, [0x13, 0x88, 0, 53]),
        six(b6, a6, [0, 53, 0x13, 0x88]),
    ];
    let mut first = send_singly(config, packets);
    // Later packets of connections that are established, one that ends, and an answer to what was asked for elsewhere.
    let later = [
        segment(4000, true, ACK),
        udp((B, 53), (A, 4000), b"!"),
        udp((B, 53), (A, 4001), b"!"),
        pong,
        segment(5000, false, FIN | ACK),
        six(b6, a6, [0, 53, 0x13, 0x88]),
    ];
    let (mut router, clock) = second(WALL, &later);
    let told = hand_over(&mut first, &mut router, "ct");
    assert_eq!(told.len(), 7);
    let says = |what: &str| told.iter().any(|line| line.contains(what));
    assert!(says("\"fins\":2") && says("\"kind\":"), "{told:#?}");
    run(&mut router, &clock, 2000);
    let counters = read(&mut router, "ct.counters");
    let has = |line: &str| counters.lines().any(|known| known.replace('\t', " ") == line);
    assert!(has("6 established") && has("0 new") && has("0 invalid"), "{counters}");
    assert!(read(&mut router, "ct.flows").contains("LAST_ACK"));
}

#[test]
fn wrong_connections_are_refused() {
    let (mut router, _clock) =
        second("ct :: ConnTrack(CAPACITY 2); in :: MarkIPHeader -> ct -> Discard;", &[]);
    let line = |rest: &str| {
        let ends = "\"source\":\"10.0.0.1\",\"sport\":1,\"dport\":2";
        format!("{{\"protocol\":\"tcp\",{ends},\"replied\":true,\"assured\":true,{rest}}}")
    };
    let text = [
        line("\"destination\":\"10.0.0.2\",\"state\":\"ESTABLISHED\""),
        line("\"destination\":\"10.0.0.2\",\"state\":\"OPEN\""),
        line("\"destination\":\"::1\",\"state\":\"CLOSE\""),
        line("\"destination\":\"10.0.0.2\",\"state\":\"CLOSE\",\"kind\":1"),
        line("\"state\":\"CLOSE\""),
    ];
    let said = load(&mut router, "ct.flows_load", &text.join("\n")).unwrap_err().to_string();
    let expected = [
        "no flow is taken",
        "line 2: bad state of this protocol: 'OPEN'",
        "line 3: source and destination are of different versions of IP",
        "line 4: bad kind: only of ICMP there are kinds of questions",
        "line 5: no destination",
    ];
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
    assert_eq!(read(&mut router, "ct.count"), "0");
    let many: String = (3..6)
        .map(|host| line(&format!("\"destination\":\"10.0.0.{host}\",\"state\":\"ESTABLISHED\"")) + "\n")
        .collect();
    let said = load(&mut router, "ct.flows_load", &many).unwrap_err().to_string();
    assert_eq!(said, "2 flows taken, 0 known\nline 3: no room for another connection");
}

const NAT: &str = "rw :: IPRewriter(pattern 1.2.3.4 40000-40999 - - 0 1, drop); in :: MarkIPHeader -> c :: Classifier(12/0a, -);
    c[0] -> [0]rw; c[1] -> [1]rw;";

/// Flows keep what they became; replies find back; no packet of theirs makes another, whatever the second router's dice say.
#[test]
fn translations_go_on_elsewhere() {
    for mapping in ["", ", MAPPING endpoint-independent, FILTERING address-dependent"] {
        let nat = NAT.replace("drop)", &format!("drop{mapping})"));
        let config =
            format!("{} rw[0] -> Collect(0); rw[1] -> Collect(1);", nat.replace("in ::", "Inject ->"));
        let to_server = |host: u8| udp(([10, 0, 0, host], 4000), (B, 53), b"?");
        let mut begins: Vec<Vec<u8>> = (1..=20).map(to_server).collect();
        begins.push(tcp((A, 4000), (B, 80), SYN, &[], b""));
        let mut before = send_singly(&config, begins.clone());
        // The same router goes on: its ports are drawn alike.
        let replies: Vec<Vec<u8>> = before.data(0).iter().map(|sent| reply_to(sent)).collect();
        let mut first = send_singly(&config, [begins.clone(), replies.clone()].concat());
        assert_eq!((before.data(0), replies.len()), (first.data(0), 21));
        assert_eq!(first.data(1).len(), 21);
        let later = [begins[3].clone(), replies[7].clone(), replies[20].clone(), begins[20].clone()];
        let (mut router, clock) = second(
            &format!("{nat} rw[0] -> a :: Counter -> Discard; rw[1] -> b :: Counter -> Discard;"),
            &later,
        );
        let told = hand_over(&mut first, &mut router, "rw");
        assert_eq!(told.len(), 21);
        if !mapping.is_empty() {
            assert_eq!(
                lines(&first.read("rw.endpoints_json")),
                lines(&read(&mut router, "rw.endpoints_json"))
            );
        }
        run(&mut router, &clock, 1500);
        let counts = ["rw.made", "rw.table_size", "a.count", "b.count"].map(|path| read(&mut router, path));
        assert_eq!(counts, ["0", "21", "2", "2"]);
        // A port that is another's is not given away, and what cannot be is not taken.
        let taken = told[0].replace("\"sport\":4000", "\"sport\":4999");
        let said = load(&mut router, "rw.flows_load", &taken).unwrap_err().to_string();
        assert_eq!(said, "0 flows taken, 0 known\nline 1: another flow has its addresses and ports");
        for (field, wrong) in [("\"input\":0", "\"input\":7"), ("\"reply_output\":1", "\"reply_output\":9")] {
            let said =
                load(&mut router, "rw.flows_load", &told[0].replace(field, wrong)).unwrap_err().to_string();
            assert_eq!(said, "no flow is taken\nline 1: no such input or output");
        }
        let _ = before.read("rw.size");
    }
}

/// What an input's specification cannot have made is refused, line by line, and the rest is taken.
#[test]
fn translations_that_contradict_their_input_are_refused() {
    let elements = "m :: RoundRobinIPMapper(- - 10.9.0.1 80 0 1, - - 10.9.0.2 80 1 0);
        rw :: IPRewriter(pattern 1.2.3.4 40000-40999 - - 0 1, drop, pass 1, keep 0 1, m, pattern 1.2.3.5 - - - 0 1);
        in :: MarkIPHeader -> [0]rw; Idle -> [1]rw; Idle -> [2]rw; Idle -> [3]rw; Idle -> [4]rw; Idle -> [5]rw;
        rw[0] -> Discard; rw[1] -> Discard;";
    let (mut router, _clock) = second(elements, &[]);
    // The last number of the source's address tells the lines apart.
    let line = |host: u8, input: u8, outputs: [u8; 2], became: (&str, u16, &str, u16)| {
        let ((source, sport, destination, dport), [output, reply]) = (became, outputs);
        format!(
            "{{\"protocol\":\"udp\",\"source\":\"10.0.0.{host}\",\"sport\":4000,\"destination\":\"192.0.2.1\",\"dport\":53,\
             \"input\":{input},\"output\":{output},\"reply_output\":{reply},\
             \"translated\":{{\"source\":\"{source}\",\"sport\":{sport},\"destination\":\"{destination}\",\"dport\":{dport}}}}}"
        )
    };
    let to = |source, sport| (source, sport, "192.0.2.1", 53);
    let pattern = "input 0 makes no such flow: its pattern is '1.2.3.4 40000-40999 - - 0 1'";
    let keep = "input 3 makes no such flow: it keeps addresses and ports, 'keep 0 1'";
    let mapper = "input 4 makes no such flow: its mapper has no pattern for it";
    let lines = [
        (line(1, 0, [0, 1], to("1.2.3.4", 40000)), None),
        (line(2, 0, [0, 1], to("1.2.3.4", 39999)), Some(pattern)),
        (line(3, 0, [0, 1], to("1.2.3.4", 41000)), Some(pattern)),
        (line(4, 0, [0, 1], to("1.2.3.5", 40001)), Some(pattern)),
        (line(5, 0, [0, 1], ("1.2.3.4", 40001, "192.0.2.2", 53)), Some(pattern)),
        (line(6, 0, [1, 0], to("1.2.3.4", 40001)), Some(pattern)),
        (line(7, 0, [0, 1], to("1.2.3.4", 40999)), None),
        (line(8, 1, [0, 1], to("1.2.3.4", 40002)), Some("input 1 makes no such flow: it drops packets")),
        (
            line(9, 2, [1, 1], to("10.0.0.9", 4000)),
            Some("input 2 makes no such flow: it passes packets as they are"),
        ),
        (line(10, 3, [0, 1], to("10.0.0.10", 4001)), Some(keep)),
        (line(11, 3, [0, 1], to("10.0.0.11", 4000)), None),
        (line(12, 4, [0, 1], ("10.0.0.12", 4000, "10.9.0.2", 80)), Some(mapper)),
        (line(13, 4, [1, 0], ("10.0.0.13", 4000, "10.9.0.2", 80)), None),
        (line(14, 5, [0, 1], to("1.2.3.5", 4000)), None),
    ];
    let text: Vec<&str> = lines.iter().map(|(line, _)| line.as_str()).collect();
    let wrong = lines.iter().zip(1..).filter_map(|((_, why), at)| Some(format!("line {at}: {}", (*why)?)));
    let expected: Vec<String> = std::iter::once("5 flows taken, 0 known".to_owned()).chain(wrong).collect();
    let said = load(&mut router, "rw.flows_load", &text.join("\n")).unwrap_err().to_string();
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
    let flows = read(&mut router, "rw.flows");
    let taken = |(host, (_, why)): (usize, &(String, Option<&str>))| {
        flows.contains(&format!("udp 10.0.0.{} 4000", host + 1)) == why.is_none()
    };
    assert!(flows.lines().count() == 5 && lines.iter().enumerate().all(taken), "{flows}");
}

/// Pings are told apart by one number, from which the other follows; and so they are in another router.
#[test]
fn pings_go_on_elsewhere() {
    let elements = "rw :: ICMPPingRewriter(pattern 1.2.3.4 40000-40999 - - 0 1, drop); in :: MarkIPHeader -> [0]rw; Idle -> [1]rw;
        rw[1] -> Discard;";
    let config = format!("{} rw[0] -> Collect(0);", elements.replace("in ::", "Inject ->"));
    let mut first = send_singly(&config, (1..=9).map(|host| echo([10, 0, 0, host], B, 7, 1)));
    let (mut router, _clock) = second(&format!("{elements} rw[0] -> Discard;"), &[]);
    assert_eq!(hand_over(&mut first, &mut router, "rw").len(), 9);
}

/// The packet that answers a UDP or TCP packet.
fn reply_to(sent: &[u8]) -> Vec<u8> {
    let address = |at: usize| <[u8; 4]>::try_from(&sent[at..at + 4]).unwrap();
    let port = |at: usize| u16::from_be_bytes([sent[at], sent[at + 1]]);
    let (from, to) = ((address(16), port(22)), (address(12), port(20)));
    if sent[9] == 6 { tcp(from, to, SYN | ACK, &[], b"") } else { udp(from, to, b"!") }
}

/// Hosts of IPv6 get numbers of their own in the second translator.
#[test]
fn translations_between_versions_go_on_elsewhere() {
    let host = |host: u32| {
        let packet = ip6_samples::with_body(17, &[0x13, 0x88, 0, 53, 0, 8, 0xff, 0xff]);
        ip6_samples::with_addresses(packet, &format!("2001:db8::{host:x}"), "64:ff9b::192.0.2.1")
    };
    let config = "n :: NAT64(192.0.2.9 2000-2999); Inject -> MarkIP6Header -> n -> Collect(0); Idle -> [1]n[1] -> Collect(1);";
    let mut first = send_singly(config, (1..=9).map(host));
    let elements = "n :: NAT64(192.0.2.9 2000-2999); in :: MarkIP6Header -> n -> a :: Counter -> Discard; Idle -> [1]n[1] -> Discard;";
    let (mut router, clock) = second(elements, &[host(77), host(4), host(4)]);
    let told = hand_over(&mut first, &mut router, "n");
    assert_eq!(told.len(), 9);
    run(&mut router, &clock, 1500);
    assert_eq!(["n.made", "n.hosts", "a.count"].map(|path| read(&mut router, path)), ["1", "10", "3"]);
    let strange = told[0].replace("\"destination\":\"64:ff9b::c000:201\"", "\"destination\":\"2001:db8::1\"");
    let said = load(&mut router, "n.flows_load", &strange).unwrap_err().to_string();
    assert_eq!(said, "no flow is taken\nline 1: destination not in the prefix");
}

/// Who watches the router hears of flows that begin and end, and why; also after a swap.
#[test]
fn who_watches_hears_of_flows() {
    let clock = Clock::simulated();
    let config = |first: u8| {
        let elements = "in :: MarkIPHeader -> ct :: ConnTrack(UDP_NEW_TIMEOUT 3600) -> rw :: IPRewriter(pattern 1.2.3.4 40000-40099# - - 0 0,
            CAPACITY 2, UDP_GUARANTEE 0, UDP_TIMEOUT 3, REAP_INTERVAL 1) -> Discard;";
        let packets: Vec<_> =
            (first..first + 3).map(|host| udp(([10, 0, 0, host], 9), (B, 53), b"?")).collect();
        at(&clock, elements, &packets)
    };
    let mut router = config(1);
    let events = router.info().events.subscribe(vec!["flow".to_owned()]);
    let heard = |router: &mut Router, of: &str| {
        run(router, &clock, 1500);
        let all: Vec<String> = events.try_iter().filter(|event| event.contains(of)).collect();
        all.iter()
            .map(|event| event.replace(&format!(" {of} "), " ").replace(" 192.0.2.1 53", " B"))
            .collect::<Vec<_>>()
    };
    let flow =
        |what: &str, host: u8, port: u16| format!("flow {what} udp 10.0.0.{host} 9 B > 1.2.3.4 {port} B");
    assert_eq!(
        heard(&mut router, "rw"),
        [flow("new", 1, 40000), flow("new", 2, 40001), flow("evicted", 1, 40000), flow("new", 3, 40002)]
    );
    router.call(Call::write("rw.kill", "src 10.0.0.2")).unwrap();
    assert_eq!(heard(&mut router, "rw"), [flow("killed", 2, 40001)]);
    assert_eq!(heard(&mut router, "rw"), [flow("expired", 3, 40002)]);
    router.handle().interrupt();
    router.replace(config(5)).unwrap().finish();
    // Who watches the router that goes on has to say so there, and ConnTrack finds out within a second.
    let events = router.info().events.subscribe(vec!["flow".to_owned()]);
    run(&mut router, &clock, 1500);
    let _ = events.try_iter().count();
    router.call(Call::write("ct.kill", "src 10.0.0.2")).unwrap();
    router.call(Call::write("rw.kill", "src 10.0.0.7")).unwrap();
    let all: Vec<String> = events.try_iter().collect();
    let killed = [
        "flow killed ct udp 10.0.0.2 9 192.0.2.1 53",
        "flow killed rw udp 10.0.0.7 9 192.0.2.1 53 > 1.2.3.4 40002 192.0.2.1 53",
    ];
    assert_eq!(all, killed);
}
