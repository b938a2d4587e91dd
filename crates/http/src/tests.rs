//! A router and its server, asked as clients ask.

use crate::clients::Bounds;
use crate::server::start_within;
use crate::{Listen, Server, Source, Token, start};
use router::{Handle, Options};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const CONFIGURATION: &str = "s :: TimedSource(0.01) -> c :: Counter -> q :: Queue(2); elementclass Half { input -> Counter -> output }
    Idle -> h :: Half -> Discard; Idle -> Discard; u :: TimedUnqueue(100) ; q -> u -> Discard;
    Idle -> routes :: IPLookup(10.0.0.0/8 0, 192.0.2.0/24 10.0.0.1 1, 192.0.2.128/25 10.0.0.2 1) -> arp :: ARPQuerier(10.0.0.9, 2:0:0:0:0:9) -> Discard;
    fast :: InfiniteSource(LIMIT -1, ACTIVE false) -> Discard; Idle -> [1]arp; routes[1] -> out :: Discard;
    udp :: TimedSource(0.01, \\<4500 001c 0000 0000 4011 8e9a c000 0201 c633 6402 1388 0035 0008 0000>) -> MarkIPHeader -> ct :: ConnTrack
        -> no :: IPFilter(deny dst 203.0.113.0/24, allow all) -> Discard;";
const TOKEN: &str = "0123456789abcdef0123";
/// How long tests wait for what has to happen.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a configuration takes that has `slow` in it.
const SLOW: Duration = Duration::from_millis(1500);

struct Running {
    server: Server,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn new(token: bool) -> Running {
        Running::within(token, Bounds::default())
    }

    fn within(token: bool, bounds: Bounds) -> Running {
        let (sender, receiver) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let parsed = lang::parse(CONFIGURATION, "config", &[]);
            assert!(!parsed.has_errors(), "{}", parsed.render_click());
            let classes = elements::classes();
            let layout = router::layout(parsed.graph, &classes, 1).expect("a layout");
            let (mut router, _) =
                router::build(layout, CONFIGURATION.to_owned(), &classes, Options::default())
                    .expect("a router");
            sender.send(router.handle()).expect("the test waits");
            router.run();
            router.finish();
        });
        let handle = receiver.recv().expect("a handle");
        let current = handle.clone();
        let source = Source {
            current: Box::new(move || Some(current.clone())),
            replace: Some(Box::new(|wanted| {
                if wanted.text.contains("slow") {
                    std::thread::sleep(SLOW);
                }
                if wanted.text.contains("Counter") {
                    Ok(json!({}))
                } else {
                    Err("config:1: unknown".to_owned())
                }
            })),
        };
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("token");
        std::fs::write(&file, TOKEN).expect("a token");
        let token = token.then(|| Token::read(&file).expect("a token"));
        let server =
            start_within("0".parse().expect("a place"), token, source, crate::api::trace::plain, bounds)
                .expect("a server");
        Running { server, handle, thread: Some(thread) }
    }

    fn address(&self) -> SocketAddr {
        let Listen::Tcp(address) = self.server.listen else { unreachable!() };
        address
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address()).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream
    }

    /// Status and body.
    fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
        let (address, mut stream) = (self.address(), self.connect());
        let host = if headers.contains("Host:") { String::new() } else { format!("Host: {address}\r\n") };
        let length = body.len();
        write!(stream, "{method} {path} HTTP/1.1\r\n{host}{headers}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}").expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, answer.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned()))
    }

    fn get(&self, path: &str) -> Value {
        let (status, body) = self.ask("GET", path, "", "");
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap_or_else(|e| panic!("{path}: {e}: {body}"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.handle.stop();
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[test]
fn the_graph_is_that_of_the_configuration() {
    let router = Running::new(false);
    let graph = router.get("/api/v1/graph");
    let elements = graph["elements"].as_array().expect("elements");
    let at = |name: &str| elements.iter().position(|element| element["name"] == name).expect(name);
    assert_eq!(elements[at("c")]["class"], "Counter");
    assert!(
        elements.iter().any(|element| element["name"].as_str().is_some_and(|name| name.starts_with("h/"))),
        "compound elements have slashes"
    );
    let link = |from, to, push| json!({ "from": at(from), "from_port": 0, "to": at(to), "to_port": 0, "push": push });
    let links = graph["connections"].as_array().expect("connections");
    assert!(links.contains(&link("s", "c", true)) && links.contains(&link("q", "u", false)), "{links:?}");
    assert_eq!(router.get("/api/v1")["elements"], elements.len());
}

/// Catches names whose slashes are taken for the path's.
#[test]
fn handlers_are_read_also_within_compound_elements() {
    let router = Running::new(false);
    assert_eq!(router.get("/api/v1/handlers/q.capacity"), json!({ "value": "2" }));
    let inner = router
        .get("/api/v1/elements")
        .as_array()
        .unwrap()
        .iter()
        .find_map(|e| Some(e["name"].as_str()?.to_owned()).filter(|n| n.starts_with("h/")))
        .unwrap();
    let value = router.get(&format!("/api/v1/handlers/{inner}.class"));
    assert_eq!(value["value"].as_str().map(str::trim), Some("Counter"));
    let element = router.get(&format!("/api/v1/elements/{inner}"));
    assert!(
        element["handlers"].as_array().unwrap().iter().any(|handler| handler["name"] == "count"),
        "{element}"
    );
    assert_eq!(router.ask("GET", "/api/v1/handlers/q.weather", "", "").0, 404);
    assert_eq!(router.ask("GET", "/api/v1/handlers/x.count", "", "").0, 404);
    assert_eq!(router.ask("GET", "/api/v1/handlers/q", "", "").0, 404);
    assert_eq!(router.ask("GET", "/api/v2", "", "").0, 404);
}

#[test]
fn nothing_is_written_without_the_token() {
    let router = Running::new(false);
    let put = |router: &Running, headers: &str| router.ask("PUT", "/api/v1/handlers/c.reset", headers, "").0;
    assert_eq!(put(&router, ""), 403, "the server has no token");
    let router = Running::new(true);
    assert_eq!(put(&router, ""), 401);
    assert_eq!(put(&router, "Authorization: Bearer 0123456789abcdef0124\r\n"), 401);
    let right = format!("Authorization: Bearer {TOKEN}\r\n");
    assert_eq!(put(&router, &right), 200);
    assert_eq!(router.ask("POST", "/api/v1/reload", "", "Idle;").0, 401);
    let refused = router.ask("POST", "/api/v1/reload", &right, "Idle;");
    assert_eq!((refused.0, refused.1.contains("config:1: unknown")), (422, true));
    assert_eq!(router.ask("POST", "/api/v1/reload", &right, "Counter").0, 200);
}

/// A method that a resource has not is said to be wrong, with or without the token, and nothing is written. A reload without a configuration is a mistake
/// of the client's.
#[test]
fn other_methods_are_refused() {
    let router = Running::new(true);
    let right = format!("Authorization: Bearer {TOKEN}\r\n");
    for headers in ["", &right] {
        for (method, path) in [
            ("PUT", "/api/v1/graph"),
            ("DELETE", "/api/v1/handlers/c.reset"),
            ("PUT", "/api/v1/reload"),
            ("POST", "/"),
        ] {
            let (status, said) = router.ask(method, path, headers, "");
            assert_eq!(status, 405, "{method} {path}: {said}");
        }
    }
    for empty in ["", " \n"] {
        assert_eq!(router.ask("POST", "/api/v1/reload", &right, empty).0, 422);
    }
}

/// Catches pages of other sites, by their origin and by a name of theirs that means this machine.
#[test]
fn foreign_pages_are_refused() {
    let router = Running::new(false);
    for headers in [
        "Host: example.org\r\n",
        "Host: localhost\r\nOrigin: http://example.org\r\n",
        "Host: localhost\r\nOrigin: null\r\n",
    ] {
        assert_eq!(router.ask("GET", "/api/v1", headers, "").0, 403, "{headers}");
    }
    assert_eq!(router.ask("GET", "/api/v1", "Host: localhost\r\nOrigin: http://localhost\r\n", "").0, 200);
}

#[test]
fn the_state_has_workers_and_sums() {
    let router = Running::new(false);
    let state = router.get("/api/v1/state");
    assert_eq!(state["workers"].as_array().map(Vec::len), Some(1));
    assert_eq!(state["workers"][0]["up"], true);
    assert!(state["readings"].as_array().unwrap().iter().any(|reading| reading["element"] == "c"), "{state}");
    wait(|| router.get("/api/v1/state")["at_ms"].as_u64() > state["at_ms"].as_u64(), "the state has no time");
    assert!(router.get("/api/v1/drops").is_array() && router.get("/api/v1/history").is_array());
}

/// Catches a resource that the description does not have, or one that it has and that is not there.
#[test]
fn the_description_is_of_what_is_there() {
    let router = Running::new(false);
    let description = router.get("/api/v1/openapi.json");
    let paths = description["paths"].as_object().expect("paths");
    assert_eq!(paths.len(), 17);
    let parameters = |path: &str, method: &str| -> Vec<String> {
        let listed = paths[path][method]["parameters"].as_array().expect("parameters");
        listed.iter().map(|one| format!("{} {} {}", one["in"], one["name"], one["required"])).collect()
    };
    let expected = [r#""path" "element" true"#, r#""query" "address" true"#];
    assert_eq!(parameters("/api/v1/lookup/{element}", "get"), expected);
    let expected = [r#""query" "dry_run" false"#, r#""query" "confirm_s" false"#];
    assert_eq!(parameters("/api/v1/reload", "post"), expected);
    // Two types of one name would be one in the description.
    let property =
        |schema: &str, name: &str| &description["components"]["schemas"][schema]["properties"][name];
    assert!(property("GraphElement", "inputs").is_object() && property("Element", "handlers").is_object());
    // What goes wrong is always told the same way.
    for (path, methods) in paths {
        for (status, answer) in methods.as_object().expect("methods").values().flat_map(|method| {
            let answers = method["responses"].as_object().expect("responses").iter();
            answers.filter(|(status, answer)| status.starts_with('4') && !answer["content"].is_null())
        }) {
            let schema = &answer["content"]["application/json"]["schema"]["$ref"];
            assert_eq!(schema, "#/components/schemas/Problem", "{path} {status}");
        }
    }
    let streams = ["/api/v1/events", "/api/v1/trace"];
    for (path, methods) in paths.iter().filter(|(path, _)| !streams.contains(&path.as_str())) {
        if methods.get("get").is_some() {
            let path = path.replace("{class}", "Counter").replace("{name}", "c").replace("{path}", "c.count");
            let path = path
                .replace("{kind}", "routes")
                .replace("lookup/{element}", "lookup/routes?address=10.1.1.1");
            let path = path.replace("{element}", "routes");
            assert_eq!(router.ask("GET", &path, "", "").0, 200, "{path}");
        }
    }
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let router = Running::new(false);
    for path in [
        "/",
        "/page.js",
        "/page.css",
        "/layout.js",
        "/flows.js",
        "/manual.js",
        "/mesh.js",
        "/rates.js",
        "/tables.js",
        "/trace.js",
    ] {
        let (status, text) = router.ask("GET", path, "", "");
        let foreign =
            text.replace("http://www.w3.org/2000/svg", "").contains("//www") || text.contains("https://");
        assert!(status == 200 && !foreign, "{path}");
    }
}

#[test]
fn a_socket_for_its_owner_alone_is_removed_at_the_end() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("http");
    let source = Source { current: Box::new(|| None), replace: None };
    let server = start(Listen::Unix(path.clone()), None, source).expect("a server");
    assert_eq!(std::fs::metadata(&path).expect("a socket").permissions().mode() & 0o777, 0o600);
    let mut stream = std::os::unix::net::UnixStream::connect(&path).expect("it listens");
    write!(stream, "GET /api/v1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    drop(server);
    assert!(!path.exists());
}

/// Catches elements that are taken for ones with a table, and pages that begin or end elsewhere.
#[test]
fn tables_are_read_by_page() {
    let router = Running::new(false);
    let tables = router.get("/api/v1/tables");
    let named = |table: &Value| {
        format!("{} of {}", table["kind"].as_str().unwrap(), table["element"].as_str().unwrap())
    };
    let tables: Vec<String> = tables.as_array().expect("tables").iter().map(named).collect();
    assert_eq!(tables, ["routes of routes", "neighbours of arp"]);
    let page = |query: &str| router.get(&format!("/api/v1/tables/routes/routes{query}"));
    let rows = [
        json!(["10.0.0.0/8", "-", "0"]),
        json!(["192.0.2.0/24", "10.0.0.1", "1"]),
        json!(["192.0.2.128/25", "10.0.0.2", "1"]),
    ];
    assert_eq!(page("")["rows"], json!(rows));
    let part = page("?from=1&count=1");
    assert_eq!((&part["rows"], &part["total"], &part["from"]), (&json!([rows[1]]), &json!(3), &json!(1)));
    assert_eq!(page("?within=192.0.2.128/25")["rows"], json!([rows[2]]));
    assert_eq!(page("?find=10.0.0.2")["rows"], json!([rows[2]]));
    assert_eq!(router.get("/api/v1/tables/neighbours/arp")["rows"], json!([]));
    for (path, status) in [
        ("tables/routes/arp", 404),
        ("tables/routes/x", 404),
        ("tables/weather/routes", 404),
        ("tables/routes/routes?within=x", 422),
        ("tables/routes/routes?from=-1", 400),
    ] {
        assert_eq!(router.ask("GET", &format!("/api/v1/{path}"), "", "").0, status, "{path}");
    }
}

/// Catches answers that programs cannot read as they read all others.
#[test]
fn what_cannot_be_read_is_answered_in_json() {
    let router = Running::new(true);
    let right = format!("Authorization: Bearer {TOKEN}\r\n");
    for (method, path, status) in [
        ("GET", "tables/routes/routes?from=x", 400),
        ("GET", "lookup/routes", 400),
        ("GET", "events?topics=a&topics=b", 400),
        ("GET", "flows?count=-1", 400),
        ("GET", "trace?packets=0", 400),
        ("GET", "trace?seconds=x", 400),
        ("GET", "handlers/%ff", 400),
        ("POST", "reload?dry_run=maybe", 400),
        ("GET", "reload", 405),
        ("OPTIONS", "graph", 405),
        ("GET", "weather", 404),
    ] {
        let (got, said) = router.ask(method, &format!("/api/v1/{path}"), &right, "");
        let problem: Value = serde_json::from_str(&said).unwrap_or_else(|e| panic!("{path}: {e}: {said}"));
        assert!(
            got == status && problem["error"].as_str().is_some_and(|text| !text.is_empty()),
            "{path}: {got} {said}"
        );
    }
}

/// Waits until something is so.
fn wait(mut is_so: impl FnMut() -> bool, what: &str) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Catches pages that begin or end elsewhere, and a filter that is lost on its way.
#[test]
fn flows_are_read_by_page_and_filter() {
    let router = Running::new(false);
    wait(|| router.get("/api/v1/flows")["total"] == 1, "no flow comes");
    let all = router.get("/api/v1/flows");
    let flow = &all["flows"][0];
    assert_eq!(all["elements"], json!([{ "element": "ct", "class": "ConnTrack", "flows": 1 }]));
    assert_eq!(
        (&flow["element"], &flow["flow"]["source"], &flow["flow"]["dport"]),
        (&json!("ct"), &json!("192.0.2.1"), &json!(53))
    );
    let count = |query: &str| {
        let page = router.get(&format!("/api/v1/flows?{query}"));
        (page["total"].as_u64().unwrap(), page["flows"].as_array().unwrap().len())
    };
    assert_eq!(count("element=ct&filter=udp+dport+53"), (1, 1));
    assert_eq!(count("filter=tcp"), (0, 0));
    assert_eq!(count("from=1"), (1, 0));
    assert_eq!(count("count=0"), (1, 0));
    for (path, status) in
        [("element=x", 404), ("element=c", 404), ("filter=weather", 422), ("filter=udp+limit+3", 422)]
    {
        assert_eq!(router.ask("GET", &format!("/api/v1/flows?{path}"), "", "").0, status, "{path}");
    }
}

#[test]
fn manuals_are_of_classes_that_are_there() {
    let router = Running::new(false);
    let manual = router.get("/api/v1/manuals/Counter");
    let text = manual["text"].as_str().expect("a text");
    assert!(text.contains("# Handlers\n") && !text.contains("//!"), "{text}");
    assert_eq!((&manual["ports"], &manual["alias_of"]), (&json!("1/1"), &Value::Null));
    assert_eq!(router.ask("GET", "/api/v1/manuals/Tee", "", "").0, 404);
}

/// Catches a number of turns that is not the router's own.
#[test]
fn costs_are_sampled_as_the_router_says() {
    let router = Running::new(false);
    let every = router::Observer::new(router.handle.clone()).costs().expect("costs").every;
    assert_eq!(router.get("/api/v1/runtime")["one_turn_in"], every);
    router.handle.call(router::Call::write("fast.active", "true")).expect("it begins");
    wait(
        || router.get("/api/v1/runtime")["elements"].as_array().is_some_and(|elements| !elements.is_empty()),
        "no element costs anything",
    );
    let costs = router.get("/api/v1/runtime");
    let first = &costs["elements"][0];
    let each = first["ns"].as_f64().unwrap() / first["packets"].as_f64().unwrap();
    assert_eq!(first["ns_per_packet"], each, "{costs}");
    assert!(router.get("/api/v1/state")["costs"].is_array());
}

/// A stream of events, without its head.
fn stream(router: &Running, path: &str) -> (u16, BufReader<TcpStream>) {
    let mut stream = router.connect();
    write!(stream, "GET /api/v1/{path} HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    lines.read_line(&mut line).expect("a status");
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    while line != "\r\n" {
        line.clear();
        lines.read_line(&mut line).expect("a head");
    }
    (status, lines)
}

/// The data of the next event.
fn event(stream: &mut BufReader<TcpStream>) -> Value {
    loop {
        let mut line = String::new();
        assert!(stream.read_line(&mut line).expect("a line") > 0, "the stream has ended");
        if let Some(data) = line.strip_prefix("data: ") {
            return serde_json::from_str(data).expect("JSON");
        }
    }
}

#[test]
fn packets_are_traced_step_by_step() {
    let router = Running::new(false);
    let (status, mut steps) = stream(&router, "trace?filter=udp+and+dst+198.51.100.2&packets=2&seconds=60");
    assert_eq!(status, 200);
    let mut told = Vec::new();
    let end = loop {
        let step = event(&mut steps);
        if step["end"] == true {
            break step;
        }
        told.push(step);
    };
    assert_eq!(end, json!({ "end": true, "packets": 2, "lost": 0 }));
    let way: Vec<&str> =
        told.iter().filter(|step| step["packet"] == 1).filter_map(|step| step["element"].as_str()).collect();
    assert!(way.windows(2).any(|pair| pair == ["ct", "no"]), "{way:?}");
    let at = |name: &str| told.iter().find(|step| step["element"] == name).expect("a step");
    assert_eq!(
        (&at("ct")["what"], &at("ct")["class"], &at("ct")["seen"]["len"]),
        (&json!("arrives"), &json!("ConnTrack"), &json!(28))
    );
    assert!(at("ct")["seen"]["bytes"].as_str().is_some_and(|bytes| bytes.starts_with("RQAAHAAA")));
}

/// Catches a trace that goes on without its client, a second one beside it, and filters that nothing understands.
#[test]
fn a_trace_ends_with_its_client() {
    let router = Running::new(false);
    let wrong = router.ask("GET", "/api/v1/trace?filter=weather+and", "", "");
    assert!(wrong.0 == 400 && wrong.1.starts_with(r#"{"error":""#), "{wrong:?}");
    let (status, mut first) = stream(&router, "trace?packets=10000&seconds=3600");
    assert_eq!((status, event(&mut first)["packet"].as_u64()), (200, Some(0)));
    assert_eq!(router.ask("GET", "/api/v1/trace", "", "").0, 409);
    let observer = router::Observer::new(router.handle.clone());
    let trace = || observer.trace("", 1, Duration::from_secs(1));
    assert!(trace().is_err(), "the engine follows one trace");
    drop(first);
    wait(|| trace().is_ok(), "the trace goes on without its client");
    assert_eq!(stream(&router, "trace?packets=1&seconds=1").0, 200);
}

/// A trace is a stream of events like others: it takes one of their places.
#[test]
fn traces_take_places_of_streams() {
    let router = Running::within(false, Bounds { streams: 1, ..Bounds::default() });
    let (_, _events) = stream(&router, "events");
    assert_eq!(router.ask("GET", "/api/v1/trace", "", "").0, 503);
}

/// Catches a page of another site that has a trace begun without reading it.
#[test]
fn foreign_pages_begin_no_trace() {
    let router = Running::new(false);
    for (site, status) in [("cross-site", 403), ("same-site", 403), ("same-origin", 400), ("none", 400)] {
        let headers = format!("Sec-Fetch-Site: {site}\r\n");
        assert_eq!(router.ask("GET", "/api/v1/trace?packets=0", &headers, "").0, status, "{site}");
    }
    assert_eq!(router.ask("GET", "/api/v1", "Sec-Fetch-Site: cross-site\r\n", "").0, 200);
}

#[test]
fn addresses_are_looked_up() {
    let router = Running::new(false);
    let found = |address: &str| router.get(&format!("/api/v1/lookup/routes?address={address}"));
    assert_eq!(found("192.0.2.200"), json!({ "output": 1, "gateway": "10.0.0.2", "to": "out" }));
    assert_eq!(found("10.7.7.7"), json!({ "output": 0, "gateway": null, "to": "arp" }));
    assert_eq!(found("203.0.113.1"), json!({ "output": null, "gateway": null, "to": null }));
    for (path, status) in
        [("routes?address=x", 422), ("routes?address=::1", 422), ("routes", 400), ("c?address=10.0.0.1", 404)]
    {
        assert_eq!(router.ask("GET", &format!("/api/v1/lookup/{path}"), "", "").0, status, "{path}");
    }
}

/// Sends a request on a connection that stays, and returns the answer's status.
fn again(stream: &mut TcpStream) -> Option<u16> {
    write!(stream, "GET /api/v1/handlers/q.capacity HTTP/1.1\r\nHost: localhost\r\n\r\n").ok()?;
    let (mut answer, mut part) = (String::new(), [0; 4096]);
    while !answer.ends_with('}') {
        match stream.read(&mut part).ok()? {
            0 => return None,
            bytes => answer.push_str(std::str::from_utf8(&part[..bytes]).ok()?),
        }
    }
    answer.split(' ').nth(1)?.parse().ok()
}

/// Whether the server closes a connection, and says nothing before.
fn is_closed(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0; 16]) {
        Ok(bytes) => bytes == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

/// Catches a clock that begins anew with each byte, and one that stops a client who asks again and again.
#[test]
fn who_is_silent_or_slow_is_closed() {
    let bounds = Bounds { patience: Duration::from_secs(1), ..Bounds::default() };
    let router = Running::within(false, bounds);
    let began = Instant::now();
    let mut silent = router.connect();
    assert!(is_closed(&mut silent) && began.elapsed() >= bounds.patience);
    let (began, mut slow) = (Instant::now(), router.connect());
    slow.set_nonblocking(true).expect("a socket");
    let mut request = b"GET /api/v1 HTTP/1.1\r\nX: ".iter().chain(std::iter::repeat(&b'x'));
    while slow.read(&mut [0; 16]).is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock) {
        assert!(began.elapsed() < PATIENCE, "a slow client is never closed");
        let _ = slow.write(&[*request.next().expect("no end")]);
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(began.elapsed() >= bounds.patience);
    let (began, mut busy) = (Instant::now(), router.connect());
    while began.elapsed() < bounds.patience * 2 {
        assert_eq!(again(&mut busy), Some(200));
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Catches a clock that runs while the server is at work.
#[test]
fn who_waits_for_an_answer_is_not_silent() {
    let bounds = Bounds { patience: SLOW / 3, connections: 1, ..Bounds::default() };
    let router = Running::within(true, bounds);
    let right = format!("Authorization: Bearer {TOKEN}\r\n");
    std::thread::scope(|scope| {
        let answer = scope.spawn(|| router.ask("POST", "/api/v1/reload", &right, "Counter slow").0);
        std::thread::sleep(SLOW / 3);
        assert!(is_closed(&mut router.connect()), "there is no place while the only client is served");
        assert_eq!(answer.join().expect("an answer"), 200);
    });
}

/// Catches a server that refuses newcomers while others hold its connections, and one that closes the wrong one.
#[test]
fn a_newcomer_gets_the_place_of_who_was_silent_longest() {
    let router = Running::within(false, Bounds { connections: 2, ..Bounds::default() });
    let (mut first, mut second) = (router.connect(), router.connect());
    assert_eq!((again(&mut second), again(&mut first)), (Some(200), Some(200)));
    let mut third = router.connect();
    assert_eq!(again(&mut third), Some(200));
    assert!(is_closed(&mut second));
    assert_eq!((again(&mut first), again(&mut third)), (Some(200), Some(200)));
}

#[test]
fn streams_of_events_are_bounded() {
    let router = Running::within(false, Bounds { streams: 1, ..Bounds::default() });
    let status = || {
        let mut stream = router.connect();
        write!(stream, "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
        let mut head = [0; 12];
        stream.read_exact(&mut head).expect("a status");
        (String::from_utf8_lossy(&head).into_owned(), stream)
    };
    let (head, first) = status();
    assert_eq!(head, "HTTP/1.1 200");
    assert_eq!(status().0, "HTTP/1.1 503");
    drop(first);
    let until = Instant::now() + PATIENCE;
    while status().0 != "HTTP/1.1 200" {
        assert!(Instant::now() < until, "the place of a stream that has ended stays taken");
    }
}

#[test]
fn requests_have_a_size() {
    let router = Running::within(true, Bounds { body: 100, ..Bounds::default() });
    let right = format!("Authorization: Bearer {TOKEN}\r\n");
    assert_eq!(router.ask("POST", "/api/v1/reload", &right, &format!("Counter{:93}", "")).0, 200);
    assert_eq!(router.ask("POST", "/api/v1/reload", &right, &format!("Counter{:94}", "")).0, 413);
}
