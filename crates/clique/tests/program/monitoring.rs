//! The board for Grafana and the alerts for Prometheus ask for metrics and labels that a router has.

use crate::exposition;
use crate::metrics::{scrape, start};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/monitoring");

/// An element of each kind that metrics tell of, and a reason for drops.
const ROUTER: &str = "
    InfiniteSource(LENGTH 60) -> c :: Counter -> check :: CheckIPHeader(VERBOSE false) -> Discard;
    RatedSource(RATE 1000) -> q :: Queue(5) -> Idle;
    r :: RadixIPLookup(0.0.0.0/0 0); Idle -> r -> Discard;
    rw :: IPRewriter(pattern 192.0.2.1 1024-2000 - - 0 0); Idle -> rw -> Discard;
    arp :: ARPTable;";

fn read(file: &str) -> String {
    let path = format!("{FOLDER}/{file}");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The queries of the board: those of its panels, and those that find the values of its variables.
fn board() -> Vec<String> {
    let board: Value = serde_json::from_str(&read("grafana-board.json")).expect("JSON");
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let targets = list(&board["panels"]).into_iter().flat_map(|panel| list(&panel["targets"]));
    let queries: Vec<String> =
        targets.map(|target| target["expr"].as_str().expect("a query").to_owned()).collect();
    let variables = list(&board["templating"]["list"]);
    let variables = variables.iter().filter(|variable| variable["type"] == "query");
    let variables: Vec<String> =
        variables.map(|v| v["query"].as_str().expect("a query").to_owned()).collect();
    assert!(queries.len() > 15 && variables.len() == 2, "{queries:?} {variables:?}");
    [queries, variables].concat()
}

fn alerts() -> Vec<String> {
    let text = read("alerts.yml");
    let alerts: Vec<String> =
        text.lines().filter_map(|line| line.trim().strip_prefix("expr: ").map(str::to_owned)).collect();
    assert_eq!(alerts.len(), text.matches("- alert: ").count(), "a query stands on one line");
    assert!(alerts.len() > 5);
    alerts
}

/// The words of a query outside of strings, each with what stands behind it.
fn words(query: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let (mut rest, mut quoted) = (query, false);
    while let Some(first) = rest.chars().next() {
        let is_in_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        let len = if quoted || !is_in_word(first) {
            first.len_utf8()
        } else {
            rest.find(|c: char| !is_in_word(c)).unwrap_or(rest.len())
        };
        quoted ^= first == '"';
        let (word, behind) = rest.split_at(len);
        if is_in_word(first) && !quoted {
            found.push((word, behind.trim_start()));
        }
        rest = behind;
    }
    found
}

/// The metrics of a query, and the labels: those that are compared, and those in the lists of `by`, `on` and `group_left`.
fn named(query: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut metrics, mut labels) = (BTreeSet::new(), BTreeSet::new());
    for (word, behind) in words(query) {
        if word.starts_with("clique_") || word.starts_with("process_") {
            metrics.insert(word.to_owned());
        } else if behind.starts_with('=') && !behind.starts_with("==") || behind.starts_with("!=\"") {
            labels.insert(word.to_owned());
        } else if matches!(word, "by" | "on" | "group_left") {
            let list = behind.trim_start_matches('(').split(')').next().unwrap_or_default();
            labels.extend(list.split(',').map(|label| label.trim().to_owned()));
        }
    }
    (metrics, labels)
}

#[test]
fn queries_are_taken_apart() {
    let query = "sum by (instance, device) (rate(clique_a_total{job=~\"$job\", x=\"clique_no\"}[5m]) * on (element) group_left (d) clique_b) == 0";
    let (metrics, labels) = named(query);
    assert_eq!(metrics.into_iter().collect::<Vec<_>>(), ["clique_a_total", "clique_b"]);
    assert_eq!(labels.into_iter().collect::<Vec<_>>(), ["d", "device", "element", "instance", "job", "x"]);
}

/// With interfaces where this user may open one.
fn configuration() -> String {
    let is_root = rustix::process::geteuid().is_root();
    let devices = if is_root { "FromDevice(lo) -> Discard; Idle -> ToDevice(lo);" } else { "" };
    format!("{ROUTER} {devices}")
}

/// The labels of each metric of a router that runs; those of interfaces only where this user may open one.
fn told() -> (BTreeMap<String, BTreeSet<String>>, bool) {
    let is_root = rustix::process::geteuid().is_root();
    let (router, _directory, socket) = start(&configuration(), &[]);
    let begin = Instant::now();
    let families = loop {
        let families = scrape(&socket);
        if families.contains_key("clique_element_sampled_seconds_total")
            && families.contains_key("clique_element_drops_total")
        {
            break families;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{families:?}");
        std::thread::sleep(Duration::from_millis(50));
    };
    let mut told: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for series in families.values().flat_map(|family| family.samples.keys()) {
        let (name, labels) = exposition::name_and_labels(series);
        told.entry(name).or_default().extend(labels);
    }
    router.talk("write stop");
    router.end();
    (told, is_root)
}

#[test]
fn boards_and_alerts_ask_for_what_there_is() {
    let (told, has_devices) = told();
    let mut wrong = String::new();
    for query in board().into_iter().chain(alerts()) {
        let (metrics, labels) = named(&query);
        if !has_devices && metrics.iter().any(|metric| metric.starts_with("clique_device_")) {
            continue;
        }
        assert!(!metrics.is_empty(), "{query}");
        let unknown = metrics.iter().filter(|metric| !told.contains_key(*metric));
        unknown.for_each(|metric| wrong += &format!("{metric} is not told: {query}\n"));
        // Prometheus itself adds the first two.
        let has = |label: &str| {
            ["instance", "job"].contains(&label)
                || metrics.iter().any(|metric| told.get(metric).is_some_and(|labels| labels.contains(label)))
        };
        labels
            .iter()
            .filter(|label| !has(label))
            .for_each(|label| wrong += &format!("no {label}: {query}\n"));
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Where there is promtool, it finds nothing wrong with the alerts, nor with the board's queries as rules.
#[test]
fn promtool_agrees() {
    let directory = tempfile::tempdir().expect("a directory");
    let rules = directory.path().join("board.yml");
    let mut text = "groups:\n- name: board\n  rules:\n".to_owned();
    for (number, query) in board().iter().filter(|query| !query.starts_with("label_values(")).enumerate() {
        let query = query.replace("$__rate_interval", "1m").replace('\'', "''");
        text += &format!("  - record: query{number}\n    expr: '{query}'\n");
    }
    std::fs::write(&rules, text).expect("written");
    for file in [std::path::PathBuf::from(format!("{FOLDER}/alerts.yml")), rules] {
        let Ok(output) = Command::new("promtool").args(["check", "rules"]).arg(&file).output() else {
            return eprintln!("skipped: there is no promtool");
        };
        assert!(output.status.success(), "{file:?}: {output:?}");
    }
}

struct Prometheus(Child, u16);

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Prometheus {
    /// One that asks what listens at this socket four times a second; `None` where there is none.
    fn start(directory: &std::path::Path, socket: PathBuf) -> Option<Prometheus> {
        let door = TcpListener::bind("127.0.0.1:0").expect("a port");
        let target = door.local_addr().expect("an address");
        std::thread::spawn(move || {
            for mut client in door.incoming().flatten() {
                let Ok(mut router) = UnixStream::connect(&socket) else { return };
                let (Ok(mut from), Ok(mut to)) = (client.try_clone(), router.try_clone()) else { return };
                std::thread::spawn(move || std::io::copy(&mut from, &mut to));
                std::thread::spawn(move || std::io::copy(&mut router, &mut client));
            }
        });
        let config = directory.join("prometheus.yml");
        let text = format!(
            "global: {{scrape_interval: 250ms, scrape_timeout: 250ms}}\nscrape_configs:\n- job_name: clique\n  static_configs: [targets: ['{target}']]\n"
        );
        std::fs::write(&config, text).expect("written");
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", directory.join("tsdb").display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .stderr(Stdio::null())
            .spawn();
        child.ok().map(|child| Prometheus(child, port))
    }

    /// What it answers a query, if it answers already.
    fn ask(&self, query: &str) -> Option<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.1)).ok()?;
        let query: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
        write!(stream, "GET /api/v1/query?query={query} HTTP/1.0\r\n\r\n").ok()?;
        let mut response = String::new();
        stream.read_to_string(&mut response).ok()?;
        serde_json::from_str(response.split_once("\r\n\r\n")?.1).ok()
    }
}

/// Where there is Prometheus, it answers every query of the board with values, and takes every alert.
#[test]
fn prometheus_answers_the_board() {
    let (router, directory, socket) = start(&configuration(), &[]);
    let Some(prometheus) = Prometheus::start(directory.path(), socket) else {
        return eprintln!("skipped: there is no prometheus");
    };
    let variables: Value = serde_json::from_str(&read("grafana-board.json")).expect("JSON");
    let names: Vec<String> = (variables["templating"]["list"].as_array().into_iter().flatten())
        .filter_map(|variable| variable["name"].as_str().map(|name| format!("${name}")))
        .collect();
    let is_root = rustix::process::geteuid().is_root();
    let begin = Instant::now();
    for (query, is_alert) in
        board().into_iter().map(|q| (q, false)).chain(alerts().into_iter().map(|q| (q, true)))
    {
        if query.starts_with("label_values(") || !is_root && query.contains("clique_device_") {
            continue; // the first is Grafana's
        }
        let all = names.iter().fold(query.replace("$__rate_interval", "1m"), |q, name| q.replace(name, ".*"));
        loop {
            let answer = prometheus.ask(&all);
            let values = answer.as_ref().map(|answer| {
                assert_eq!(answer["status"], "success", "{all}: {answer}");
                answer["data"]["result"].as_array().map_or(0, Vec::len)
            });
            // An alert that is not raised has none.
            if values.is_some_and(|values| is_alert || values > 0) {
                break;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "{all}: {answer:?}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    router.talk("write stop");
    router.end();
}
