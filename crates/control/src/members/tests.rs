//! A VLBNode, and an etcd that is played: as much of the gateway as is asked for.

use crate::testing::{read, until, wait, with};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use router::{Classes, Options};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

const ONE: &str = "version 2\nnode 0 a ports 1\nnode 1 b ports 1\n";
const TWO: &str = "version 3\nnode 0 a ports 1\nnode 1 b ports 1 drain\n";

/// What the played etcd has.
#[derive(Default)]
struct Store {
    values: BTreeMap<String, String>,
    revision: i64,
    /// The revision that changed the roster last.
    changed: i64,
    /// Connections that watch.
    watches: Vec<TcpStream>,
    /// The password that is asked for, if one is.
    password: Option<String>,
    /// How often a lease was renewed.
    renewed: usize,
}

#[derive(Clone)]
struct Etcd {
    store: Arc<Mutex<Store>>,
    port: u16,
}

const TOKEN: &str = "abc.1";

fn text_of(value: &Value) -> String {
    let bytes = BASE64_STANDARD.decode(value.as_str().unwrap_or_default()).expect("base64");
    String::from_utf8(bytes).expect("text")
}

impl Etcd {
    fn start() -> Etcd {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let etcd = Etcd {
            port: listener.local_addr().expect("bound").port(),
            store: Arc::new(Mutex::new(Store { revision: 1, ..Store::default() })),
        };
        let serving = etcd.clone();
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                let (socket, etcd) = (socket.expect("a client"), serving.clone());
                std::thread::spawn(move || etcd.serve(socket));
            }
        });
        etcd
    }

    fn serve(&self, mut socket: TcpStream) {
        let mut reader = BufReader::new(socket.try_clone().expect("a socket"));
        let (mut line, mut head) = (String::new(), Vec::new());
        while reader.read_line(&mut line).is_ok_and(|len| len > 2) {
            head.push(std::mem::take(&mut line).trim().to_owned());
        }
        let header = |name: &str| head.iter().find_map(|line| line.strip_prefix(name));
        let length = header("Content-Length: ").and_then(|n| n.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("a body");
        let path = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
        let request: Value = serde_json::from_slice(&body).expect("JSON");
        let mut store = self.store.lock().expect("whole");
        let may = store.password.is_none() || header("Authorization: ") == Some(TOKEN);
        if path == "/v3/watch" && may {
            // A client that has gone is no matter.
            let _ = store.watch(socket, &request["create_request"]);
            return;
        }
        let answer = if may || path == "/v3/auth/authenticate" { store.answer(path, &request) } else { None };
        let (status, answer) = match answer {
            Some(answer) => (200, answer.to_string()),
            None => (400, json!({ "error": "etcdserver: refused", "code": 3 }).to_string()),
        };
        let length = answer.len();
        let _ = write!(socket, "HTTP/1.1 {status} x\r\nContent-Length: {length}\r\n\r\n{answer}");
    }

    /// The operator changes the roster.
    fn put_roster(&self, text: &str) {
        let mut store = self.store.lock().expect("whole");
        store.revision += 1;
        store.changed = store.revision;
        store.values.insert("/t/roster".to_owned(), text.to_owned());
        let change = store.change();
        // Clients that have gone are forgotten.
        store.watches.retain(|socket| send_chunk(socket, &change).is_ok());
    }

    /// All connections end, as when the server is stopped.
    fn hang_up(&self) {
        self.store.lock().expect("whole").watches.clear();
    }

    fn value(&self, key: &str) -> Option<String> {
        self.store.lock().expect("whole").values.get(key).cloned()
    }
}

/// A line of a stream of answers, cut in two chunks.
fn send_chunk(mut socket: &TcpStream, value: &Value) -> std::io::Result<()> {
    let line = format!("{value}\n");
    [&line[..3], &line[3..]].iter().try_for_each(|part| write!(socket, "{:x}\r\n{part}\r\n", part.len()))
}

impl Store {
    /// Begins a watch. What has changed since the revision that the client asks for, it is told at once.
    fn watch(&mut self, mut socket: TcpStream, request: &Value) -> std::io::Result<()> {
        socket.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
        send_chunk(&socket, &json!({ "result": { "created": true } }))?;
        let from = request["start_revision"].as_str().and_then(|from| from.parse().ok());
        if from.is_some_and(|from: i64| from <= self.changed) {
            send_chunk(&socket, &self.change())?;
        }
        self.watches.push(socket);
        Ok(())
    }

    /// The last change of the roster, as those who watch are told it.
    fn change(&self) -> Value {
        let event = json!({ "kv": { "value": BASE64_STANDARD.encode(&self.values["/t/roster"]) } });
        json!({ "result": { "events": [event] } })
    }

    fn answer(&mut self, path: &str, request: &Value) -> Option<Value> {
        let header = json!({ "revision": self.revision.to_string() });
        Some(match path {
            "/v3/auth/authenticate" if request["password"].as_str() == self.password.as_deref() => {
                json!({ "header": header, "token": TOKEN })
            }
            "/v3/kv/range" => match self.values.get(&text_of(&request["key"])) {
                Some(text) => json!({ "header": header, "kvs": [{ "value": BASE64_STANDARD.encode(text) }] }),
                None => json!({ "header": header }),
            },
            "/v3/kv/put" => {
                assert_eq!(request["lease"], "77");
                self.revision += 1;
                self.values.insert(text_of(&request["key"]), text_of(&request["value"]));
                json!({ "header": header })
            }
            "/v3/lease/grant" => json!({ "ID": "77", "TTL": request["TTL"] }),
            "/v3/lease/keepalive" => {
                self.renewed += 1;
                json!({ "result": { "ID": "77", "TTL": "1" } })
            }
            "/v3/lease/revoke" => {
                self.values.remove("/t/members/0");
                json!({ "header": header })
            }
            _ => return None,
        })
    }
}

fn known() -> Classes {
    Classes::new(elements::classes().iter().chain(crate::CLASSES.iter().copied()))
}

/// Runs a node that asks etcd servers.
fn with_node(arguments: &str, act: impl FnOnce(&router::Handle)) {
    let config = format!(
        "vlb :: VLBNode(0, 2, KEY k); etcd :: EtcdRoster(vlb, PREFIX /t/, TTL 1, {arguments});
         Idle -> vlb -> Discard; Idle -> [1]vlb[1] -> Discard;"
    );
    with(&config, &known(), act);
}

fn has(text: &'static str) -> impl Fn(&str) -> bool {
    move |found: &str| found.contains(text)
}

/// A number among statistics.
fn number(stats: &str, name: &str) -> u64 {
    let line = stats.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.trim().parse().ok()).unwrap_or_else(|| panic!("no {name} in {stats}"))
}

/// The roster is that of etcd, also when it changes; what is refused is counted; the node is told of, as long as it is there.
#[test]
fn the_roster_follows_etcd() {
    let etcd = Etcd::start();
    etcd.put_roster(ONE);
    with_node(&format!("SERVER 127.0.0.1:{}", etcd.port), |handle| {
        until(handle, "vlb.roster", |text| text == ONE);
        until(handle, "etcd.connected", |text| text == "true");
        etcd.put_roster("version 9\nrubbish\n");
        // Where all take turns a lease may run out, and a new session reads again: once at least.
        until(handle, "etcd.stats", |text| number(text, "refused") >= 1);
        etcd.put_roster(TWO);
        until(handle, "vlb.roster", |text| text == TWO);
        until(handle, "etcd.stats", |text| number(text, "taken") >= 2);
        wait("the lease is renewed", || etcd.store.lock().expect("whole").renewed >= 2);
        let told = || etcd.value("/t/members/0").unwrap_or_default();
        wait("the version is told", || told().lines().last() == Some("version 3"));
    });
    wait("the lease is given up", || etcd.value("/t/members/0").is_none());
}

/// A server that goes away changes nothing; another one is asked, and what changed meanwhile is known then.
#[test]
fn servers_come_and_go() {
    let (one, two) = (Etcd::start(), Etcd::start());
    one.put_roster(ONE);
    two.put_roster(TWO);
    with_node(&format!("SERVER 127.0.0.1:{}, SERVER 127.0.0.1:{}", one.port, two.port), |handle| {
        until(handle, "vlb.roster", |text| text == ONE);
        until(handle, "etcd.connected", |text| text == "true");
        one.hang_up();
        until(handle, "etcd.error", has("closed the connection"));
        assert_eq!(read(handle, "vlb.roster"), ONE);
        until(handle, "vlb.roster", |text| text == TWO);
        until(handle, "etcd.stats", has("connected 1\nsessions 2\n"));
    });
}

/// Without etcd, a node has the roster that it had last.
#[test]
fn starts_from_what_was_kept() {
    let (etcd, folder) = (Etcd::start(), tempfile::tempdir().expect("a folder"));
    let cache = folder.path().join("roster").display().to_string();
    etcd.put_roster(TWO);
    with_node(&format!("SERVER 127.0.0.1:{}, CACHE {cache}", etcd.port), |handle| {
        until(handle, "vlb.roster", |text| text == TWO);
        until(handle, "etcd.connected", |text| text == "true");
        etcd.put_roster("version 1\nnode 0 a ports 1\n");
        until(handle, "etcd.stats", has("refused 1"));
    });
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    with_node(&format!("SERVER 127.0.0.1:{closed}, CACHE {cache}"), |handle| {
        until(handle, "vlb.roster", |text| text == TWO);
        until(handle, "etcd.error", has("refused"));
        assert_eq!(read(handle, "etcd.connected"), "false");
    });
}

/// Name and password come from a file; etcd refuses a wrong one, and no message shows it.
#[test]
fn credentials_come_from_a_file_and_are_not_shown() {
    let (etcd, folder) = (Etcd::start(), tempfile::tempdir().expect("a folder"));
    etcd.put_roster(ONE);
    etcd.store.lock().expect("whole").password = Some("open:sesame".to_owned());
    let file = folder.path().join("credentials");
    std::fs::write(&file, "ali:wrong\n").expect("written");
    let arguments = format!("SERVER 127.0.0.1:{}, CREDENTIALS {}", etcd.port, file.display());
    with_node(&arguments, |handle| {
        let error = until(handle, "etcd.error", has("refused"));
        assert!(!error.contains("wrong"), "{error}");
        std::fs::write(&file, "ali:open:sesame\n").expect("written");
        until(handle, "vlb.roster", |text| text == ONE);
    });
}

#[test]
fn mistakes_in_the_configuration_are_refused() {
    let wrong = |arguments: &str| {
        let config = format!("v :: VLBNode(0, 1, KEY k); Idle -> v -> Discard; EtcdRoster({arguments});");
        let parsed = lang::parse(&config, "config", &[]);
        let known = known();
        let layout = router::layout(parsed.graph, &known, 1).expect("a layout");
        let built = router::build(layout, config.clone(), &known, Options::default());
        lang::render_click(&built.err().expect("a mistake"))
    };
    assert!(wrong("w").contains("does not name an element"));
    assert!(wrong("v, SERVER http://127.0.0.1:2379/").contains("expected a host and a port"));
    assert!(wrong("v, TTL 0").contains("TTL: from 1 to 86400"));
    assert!(wrong("v, CAFILE a, CERTFILE b").contains("CERTFILE and KEYFILE: both or none"));
    assert!(wrong("v, CERTFILE a, KEYFILE b").contains("CAFILE is needed, too"));
    if !cfg!(feature = "tls") {
        assert!(
            wrong("v, CAFILE a")
                .contains("CAFILE: this program was built without TLS: build with '--features tls'")
        );
    }
}

/// Servers that take turns at being unreachable are said once each.
#[test]
fn each_unreachable_server_is_said_once() {
    let free =
        || TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
    let (one, two) = (free(), free());
    with_node(&format!("SERVER 127.0.0.1:{one}, SERVER 127.0.0.1:{two}"), |handle| {
        for port in [one, two, one, two, one] {
            until(handle, "etcd.error", |error| error.contains(&format!(":{port}")));
        }
        assert_eq!(handle.info().log.text().matches("the roster stays as it is").count(), 2);
    });
}
