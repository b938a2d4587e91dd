//! Metrics of a router that runs, by HTTP and on the display.

use crate::control::Running;
use crate::exposition::{self, Families, value};
use crate::program;
use serde_json::Value;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends a request; the head and the body of the response.
fn request(socket: &Path, text: &str) -> (String, String) {
    let mut stream = UnixStream::connect(socket).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("set");
    stream.write_all(text.as_bytes()).expect("written");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("an end");
    let (head, body) = response.split_once("\r\n\r\n").expect("a head");
    assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
    (head.to_owned(), body.to_owned())
}

pub(crate) fn scrape(socket: &Path) -> Families {
    let (head, body) =
        request(socket, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("text/plain; version=0.0.4"), "{head}");
    exposition::read(&body).unwrap_or_else(|wrong| panic!("{wrong}\n\n{body}"))
}

/// A router that tells metrics at a socket beside its control socket.
pub(crate) fn start(config: &str, options: &[&str]) -> (Running, tempfile::TempDir, std::path::PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let socket = directory.path().join("metrics");
    let mut all = vec!["--metrics", socket.to_str().expect("UTF-8")];
    all.extend(options);
    let router = Running::start("run", config, &all);
    let start = Instant::now();
    // The control socket is opened before this one.
    while UnixStream::connect(&socket).is_err() {
        assert!(start.elapsed() < PATIENCE, "the socket for metrics does not come");
        std::thread::sleep(Duration::from_millis(5));
    }
    (router, directory, socket)
}

/// Two workers that never rest, a compound element, and packets that are dropped.
const BUSY: &str = "
    elementclass Both { input -> c :: Counter -> output }
    StaticThreadSched(a 0, b 1);
    a :: InfiniteSource(LENGTH 60) -> one/two :: Both -> d :: Discard;
    b :: InfiniteSource(LENGTH 60) -> c :: Counter -> check :: CheckIPHeader(VERBOSE false) -> Discard;
    RatedSource(RATE 1000) -> q :: Queue(5) -> Idle;";

/// Series whose values may fall although they are counters: none.
fn assert_grown(before: &Families, after: &Families) {
    let mut grown = 0;
    for (name, family) in before.iter().filter(|(_, family)| family.kind != "gauge") {
        for (series, old) in &family.samples {
            let new = after.get(name).and_then(|family| family.samples.get(series));
            let new = *new.unwrap_or_else(|| panic!("{series} is gone"));
            assert!(new >= *old, "{series} falls from {old} to {new}");
            grown += usize::from(new > *old);
        }
    }
    assert!(grown > 10, "hardly anything has grown");
}

/// While packets flow on two workers, counters only grow; every text is as the format wants it.
#[test]
fn counters_only_grow_while_packets_flow() {
    let (router, _directory, socket) = start(BUSY, &["-j", "2"]);
    let start = Instant::now();
    let mut before = scrape(&socket);
    let counted = |families: &Families| {
        let of = |series| value(families, series).unwrap_or(0.0);
        [
            of("clique_element_packets_total{element=\"one/two/c\",class=\"Counter\"}"),
            of("clique_element_packets_total{element=\"c\",class=\"Counter\"}"),
            of(
                "clique_element_drops_total{element=\"check\",class=\"CheckIPHeader\",reason=\"bad IP version\"}",
            ),
        ]
    };
    for _ in 0..5 {
        // Both workers have a share of the processor at some time.
        let after = loop {
            let after = scrape(&socket);
            let (old, new) = (counted(&before), counted(&after));
            if old.iter().zip(new).all(|(old, new)| new > *old) {
                break after;
            }
            assert!(start.elapsed() < PATIENCE, "nothing moves: {old:?} {new:?}");
        };
        assert_grown(&before, &after);
        before = after;
    }
    for worker in ["0", "1"] {
        assert_eq!(value(&before, &format!("clique_worker_up{{worker=\"{worker}\"}}")), Some(1.0));
        let busy = format!("clique_worker_seconds_total{{worker=\"{worker}\",state=\"busy\"}}");
        assert!(value(&before, &busy) > Some(0.0), "{busy}");
    }
    assert!(value(&before, "process_resident_memory_bytes") > Some(1e6));
    router.talk("write stop");
    router.end();
}

#[test]
fn handlers_of_a_router_at_rest_agree_with_metrics() {
    let config = "
        StaticThreadSched(a 0, b 1);
        a :: RatedSource(RATE 10000, LIMIT 700) -> c :: Counter -> q :: Queue(100) -> Idle;
        b :: InfiniteSource(LIMIT 40, LENGTH 100) -> strip :: CheckIPHeader -> Discard;
        r :: RadixIPLookup(10.0.0.0/8 0, 10.1.0.0/16 0, 0.0.0.0/0 0); Idle -> r -> Discard;
        arp :: ARPTable;";
    let (router, _directory, socket) = start(config, &["-j", "2"]);
    let start = Instant::now();
    while !router.talk("read c.count").contains("\n700") || !router.talk("read b.count").contains("\n40") {
        assert!(start.elapsed() < PATIENCE, "they never come");
    }
    let families = scrape(&socket);
    for (handler, series) in [
        ("c.count", "clique_element_packets_total{element=\"c\",class=\"Counter\"}"),
        ("c.byte_count", "clique_element_bytes_total{element=\"c\",class=\"Counter\"}"),
        ("q.length", "clique_queue_packets{element=\"q\",class=\"Queue\"}"),
        ("q.capacity", "clique_queue_capacity_packets{element=\"q\",class=\"Queue\"}"),
        ("q.highwater_length", "clique_queue_highwater_packets{element=\"q\",class=\"Queue\"}"),
        ("q.drops", "clique_queue_dropped_packets_total{element=\"q\",class=\"Queue\"}"),
        ("a.runs", "clique_task_runs_total{element=\"a\",class=\"RatedSource\",worker=\"0\"}"),
        ("b.runs", "clique_task_runs_total{element=\"b\",class=\"InfiniteSource\",worker=\"1\"}"),
        ("arp.count", "clique_neighbour_entries{element=\"arp\",class=\"ARPTable\"}"),
        ("r.length", "clique_route_table_routes{element=\"r\",class=\"RadixIPLookup\"}"),
    ] {
        let said = router.talk(&format!("read {handler}"));
        let said: f64 = said.lines().last().and_then(|line| line.trim().parse().ok()).expect("a number");
        assert_eq!(value(&families, series), Some(said), "{handler} {series}");
    }
    let drops = families["clique_element_drops_total"].samples.iter();
    let of_check: f64 = drops.filter(|(series, _)| series.contains("\"strip\"")).map(|(_, n)| n).sum();
    assert_eq!(of_check, 40.0, "{families:?}");
    assert_eq!(value(&families, "clique_hot_swaps_total{outcome=\"done\"}"), Some(0.0));
    router.talk("write stop");
    router.end();
}

/// A client that accepts OpenMetrics gets it; a request that cannot be served gets its status.
#[test]
fn each_request_gets_its_format_or_its_status() {
    let (router, _directory, socket) = start("Idle -> Discard", &[]);
    let ask = |text: &str| request(&socket, &format!("{text}\r\nConnection: close\r\n\r\n"));
    let (head, body) =
        ask("GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text;version=1.0.0,text/plain;q=0.1");
    assert!(head.contains("Content-Type: application/openmetrics-text; version=1.0.0"), "{head}");
    assert!(body.ends_with("\n# EOF\n") && body.contains("# TYPE clique_worker_turns counter\n"), "{body}");
    assert!(body.contains("# TYPE clique_build info\n"), "{body}");
    for (text, status) in [
        ("GET /metrics?x=1 HTTP/1.1", "200"),
        ("GET / HTTP/1.1", "200"),
        ("GET /other HTTP/1.1", "404"),
        ("POST /metrics HTTP/1.1\r\nContent-Length: 0", "405"),
        ("POST /metrics HTTP/1.1\r\nContent-Length: 100000000", "413"),
        ("GET /metrics HTTP/1.1\r\nHost: example.com", "403"),
        ("GET /metrics HTTP/1.1\r\nHost: localhost\r\nOrigin: http://example.com", "403"),
        ("nonsense", "400"),
    ] {
        let (head, _) = ask(text);
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{text}: {head}");
    }
    router.talk("write stop");
    router.end();
}

/// Metrics go on when the configuration is replaced: the socket and its connections stay, and swaps are counted.
#[test]
fn metrics_outlive_a_swap() {
    let (router, _directory, socket) = start("Idle -> a :: Counter -> Discard", &["-R"]);
    let hotconfig = |config: &str| router.talk(&format!("writedata hotconfig {}\n{config}", config.len()));
    let mut connection = UnixStream::connect(&socket).expect("a connection");
    assert!(hotconfig("Idle -> b :: Counter -> Discard").contains("200"));
    assert!(hotconfig("Idle -> Nonsense").contains("520"));
    connection.write_all(b"GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n").expect("written");
    let mut response = String::new();
    connection.read_to_string(&mut response).expect("an end");
    let (_, body) = response.split_once("\r\n\r\n").expect("a head");
    let families = exposition::read(body).expect("fine");
    assert_eq!(value(&families, "clique_hot_swaps_total{outcome=\"done\"}"), Some(1.0));
    assert_eq!(value(&families, "clique_hot_swaps_total{outcome=\"refused\"}"), Some(1.0));
    assert_eq!(value(&families, "clique_element_packets_total{element=\"b\",class=\"Counter\"}"), Some(0.0));
    assert!(value(&families, "clique_worker_turns_total{worker=\"0\"}") > Some(0.0));
    router.talk("write stop");
    router.end();
}

/// Runs `clique top` on a router.
fn top(router: &Running, options: &[&str]) -> String {
    let mut arguments = vec!["top", "-u", router.socket.to_str().expect("UTF-8"), "-i", "0.3"];
    arguments.extend(options);
    let output = program(&arguments).output().expect("the program can be started");
    let (text, messages) = (String::from_utf8(output.stdout), String::from_utf8(output.stderr));
    let (text, messages) = (text.expect("UTF-8"), messages.expect("UTF-8"));
    assert!(output.status.success(), "{text}{messages}");
    text
}

/// Tables for people, once; objects for programs.
#[test]
fn top_prints_tables_or_objects() {
    let router = Running::start("run", BUSY, &["-j", "2"]);
    let text = top(&router, &["--once"]);
    for expected in ["Workers\n", "Elements\n", "Queues\n", "Drops\n", "RCU\n", "one/two/c", "queue full"] {
        assert!(text.contains(expected), "{expected} is missing:\n{text}");
    }
    let lines = top(&router, &["--json", "-n", "2", "--filter", "one/two"]);
    let objects: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(objects.len(), 2);
    for object in objects {
        assert_eq!(object["elements"].as_array().map(Vec::len), Some(1), "{object}");
        assert_eq!(object["elements"][0]["element"], "one/two/c", "{object}");
        assert!(object["elements"][0]["packets_rate"].as_f64() > Some(0.0), "{object}");
        assert_eq!(object["queues"].as_array().map(Vec::len), Some(0), "{object}");
        let workers = object["workers"].as_array().expect("a list");
        assert_eq!(workers.len(), 2);
        for worker in workers {
            let shares: f64 =
                ["busy", "idle", "asleep"].iter().filter_map(|share| worker[share].as_f64()).sum();
            assert!((shares - 1.0).abs() < 1e-6, "{worker}");
        }
    }
    router.talk("write stop");
    router.end();
}

/// What is estimated of TCP is shown with the flows: a SYN that was sent twice.
#[test]
fn estimates_are_shown() {
    const EXPORTER: &str = "
        InfiniteSource(DATA \\<45000028 00000000 40060000 0a000001 c0000201  17700050 00000001 00000000 50020000 00000000>, LIMIT 2)
          -> MarkIPHeader -> fx :: FlowExporter(ESTIMATES true) -> d :: Discard; fx[1] -> Discard;";
    let router = Running::start("run", EXPORTER, &[]);
    let start = Instant::now();
    while router.talk("read d.count").lines().last() != Some("2") {
        assert!(start.elapsed() < PATIENCE, "{}", router.talk("read d.count"));
    }
    let socket = router.socket.to_str().expect("UTF-8");
    let ctl = |arguments: &[&str]| crate::clique(&[&["ctl", "-u", socket], arguments].concat());
    let fine = |output: &str| format!("exit status: 0\n--- output\n{output}");
    assert_eq!(ctl(&["flows"]), fine("tcp 10.0.0.1 6000 192.0.2.1 80 80 octets again 1 0\n"));
    assert_eq!(ctl(&["flows", "udp"]), "exit status: 0\n");
    let json = ctl(&["--json", "flows", "dport", "80"]);
    assert!(json.contains(r#"{"elements":[{"element":"fx","flows":[{"#), "{json}");
    assert!(json.contains(r#""retransmitted":[1,0]"#) && json.contains(r#""rtt_server_us":null"#), "{json}");
    for arguments in [&["flows", "-c"][..], &["flows", "-k", "tcp"], &["flows", "-e", "fx", "-c"]] {
        assert!(
            ctl(arguments).contains(" flows") && !ctl(arguments).contains("status: 0"),
            "{}",
            ctl(arguments)
        );
    }
    let object: Value = serde_json::from_str(&top(&router, &["--json", "-n", "1"])).expect("JSON");
    let flow = &object["flows"][0];
    assert_eq!(flow["retransmitted"], serde_json::json!([1.0, 0.0]), "{object}");
    assert!(flow["rtt_server_us"].is_null(), "{object}");
    let text = top(&router, &["--once"]);
    assert!(text.contains("again") && text.contains("server ms"), "{text}");
    router.talk("write stop");
    router.end();
}

/// Flows and associations are shown where elements know them, the busiest first.
#[test]
fn top_shows_flows_and_associations() {
    const GATEWAY: &str = "
        ipsec :: IPsec(
          SA 192.0.2.1 198.51.100.1 0x1001 aes-gcm key 000102030405060708090a0b0c0d0e0f10111213,
          SA 198.51.100.1 192.0.2.1 0x2001 aes-gcm key 000102030405060708090a0b0c0d0e0f10111214,
          POLICY out 10.0.1.0/24 10.0.2.0/24 protect 192.0.2.1 198.51.100.1);
        InfiniteSource(LENGTH 60, LIMIT 5) -> UDPIPEncap(10.0.1.1, 1000, 10.0.2.1, 53) -> fx :: FlowExporter -> [0]ipsec;
        fx[1] -> Discard; Idle -> [1]ipsec;
        ipsec[0] -> Discard; ipsec[1] -> Discard;";
    let router = Running::start("run", GATEWAY, &[]);
    let object: Value = serde_json::from_str(&top(&router, &["--json", "-n", "1"])).expect("JSON");
    let associations = object["associations"].as_array().expect("a list");
    let told: Vec<_> = associations.iter().map(|of| (of["spi"].as_str(), of["packets"].as_f64())).collect();
    assert_eq!(told, [(Some("0x00001001"), Some(5.0)), (Some("0x00002001"), Some(0.0))], "{object}");
    assert_eq!(object["flows"][0]["destination"], "10.0.2.1", "{object}");
    let text = top(&router, &["--once"]);
    assert!(text.contains("IPsec\n") && text.contains("0x00002001") && text.contains("Flows\n"), "{text}");
    assert_eq!(router.talk("read ipsec.associations 1").matches("reqid").count(), 1);
    assert!(!router.talk("read ipsec.associations few").contains("200 "), "no number");
    router.talk("write stop");
    router.end();
}

/// What a packet costs in an element is in the metrics once a turn was looked at, and in the rows of `clique top` that are there anyway.
#[test]
fn the_time_in_elements_is_told() {
    let config = format!("{BUSY} InfiniteSource(LENGTH 60) -> p :: Paint(1) -> Discard;");
    let (router, _directory, socket) = start(&config, &["-j", "2"]);
    let begin = Instant::now();
    let labels = "{element=\"one/two/c\",class=\"Counter\"}";
    let (seconds, packets) = loop {
        let families = scrape(&socket);
        let of = |what: &str| value(&families, &format!("clique_element_sampled_{what}_total{labels}"));
        if let Some(found) = of("seconds").zip(of("packets")) {
            break found;
        }
        assert!(begin.elapsed() < PATIENCE, "no turn is looked at");
        std::thread::sleep(Duration::from_millis(50));
    };
    let ns = seconds * 1e9 / packets;
    assert!(packets >= 1.0 && (0.0..1e9).contains(&ns), "{seconds} {packets}");
    let object: Value = serde_json::from_str(&top(&router, &["--json", "-n", "1"])).expect("JSON");
    let elements = object["elements"].as_array().expect("a list");
    let cost = |name: &str| {
        let row = elements.iter().find(|row| row["element"] == name);
        row.unwrap_or_else(|| panic!("{name} is missing: {object}"))["ns_per_packet"].clone()
    };
    assert!(cost("one/two/c").is_number(), "{object}");
    assert!(elements.iter().all(|row| row["element"] != "p"), "it counts nothing: {object}");
    let text = top(&router, &["--once"]);
    assert!(text.contains("ns/packet"), "{text}");
    router.talk("write stop");
    router.end();
}

/// Without a router there is an error; the screen needs a terminal.
#[test]
fn top_needs_a_router_and_a_terminal() {
    let said = crate::clique(&["top", "-u", "/nowhere/at/all", "--once"]);
    assert!(said.starts_with("exit status: 3") && said.contains("no router listens there"), "{said}");
    let said = crate::clique(&["top", "-u", "/nowhere/at/all"]);
    assert!(said.contains("standard output is no terminal; use --once or --json"), "{said}");
    let said = crate::clique(&["run", "-e", "Idle", "--metrics", "localhost:1"]);
    assert!(said.starts_with("exit status: 2") && said.contains("ADDRESS:PORT"), "{said}");
}
