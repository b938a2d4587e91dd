//! Another program takes the place of the one that runs a router.

use crate::{program, text};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// UDP from 10.0.0.1 port 4000 to 198.51.100.1 port 53, "hello".
const PACKET: &str = "4500002100000000401146970a000001c63364010fa00035000d000068656c6c6f";

/// State of many kinds, and sources that rest until a handler wakes them.
fn config() -> String {
    format!(
        "s :: InfiniteSource(DATA \\<{PACKET}>, LIMIT 7, ACTIVE false) -> c :: Counter -> MarkIPHeader
           -> ct :: ConnTrack -> nat :: IPRewriter(pattern 192.0.2.1 1024-65535# - - 0 0)
           -> q :: Queue(20) -> u :: Unqueue(ACTIVE false) -> d :: Counter -> Discard;
         i :: InfiniteSource(DATA \\<{PACKET}>, LIMIT 5, ACTIVE false)
           -> e :: ESPEncap(300, KEY \\<00112233 44556677 8899aabb ccddeeff 01020304>) -> Discard;
         t :: ARPTable; r :: RadixIPLookup(0.0.0.0/0 0); Idle -> r -> Discard;
         f :: InfiniteSource(DATA \\<{PACKET}>, LIMIT 3, ACTIVE false) -> MarkIPHeader -> GetIPAddress(16)
           -> l :: RadixIPLookup(0.0.0.0/0 0, FLOWS 100) -> Discard;"
    )
}

/// A router, and what it has said.
struct Router {
    directory: tempfile::TempDir,
    process: Child,
}

impl Router {
    fn start(config: &str, options: &[&str]) -> Router {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::write(directory.path().join("first.click"), config).expect("written");
        let mut command = program(&["run"]);
        command.args(options).arg("first.click");
        command.current_dir(directory.path()).env("XDG_RUNTIME_DIR", directory.path());
        let process = command.stderr(Stdio::piped()).spawn().expect("the program can be started");
        let router = Router { directory, process };
        let start = Instant::now();
        while !router.run(&["history"]).contains("exit status: 0") {
            assert!(start.elapsed() < PATIENCE, "the router does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
        router
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program(arguments);
        command.current_dir(self.directory.path()).env("XDG_RUNTIME_DIR", self.directory.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> String {
        text(self.command(arguments).output().expect("the program can be started"))
    }

    /// The value of a handler.
    fn read(&self, handler: &str) -> String {
        let output = self.command(&["ctl", "read", handler]).output().expect("the program can be started");
        assert!(output.status.success(), "{handler}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    }

    fn write(&self, handler: &str, value: &str) {
        let said = self.run(&["ctl", "write", handler, value]);
        assert!(said.contains("exit status: 0"), "{handler}: {said}");
    }

    fn until(&self, handler: &str, value: &str) {
        let start = Instant::now();
        while self.read(handler) != value {
            assert!(start.elapsed() < PATIENCE, "{handler}: {}", self.read(handler));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Has something to hand over.
    fn fill(&self) {
        self.write("q.capacity", "50");
        self.write("s.active", "true");
        self.until("q.length", "7");
        self.write("i.active", "true");
        self.until("e.sequence", "5");
        self.write("f.active", "true");
        self.until("l.flows", "1");
        self.write("t.insert", "10.0.0.9 0:1:2:3:4:5");
        self.write("r.add", "10.1.0.0/16 0");
    }

    /// All that is to be the same afterwards.
    fn state(&self) -> Vec<String> {
        let handlers = [
            "c.count",
            "c.byte_count",
            "q.length",
            "q.capacity",
            "q.highwater_length",
            "ct.count",
            "ct.counters",
            "nat.size",
            "nat.udp_table",
            "e.sequence",
            "t.count",
            "r.table",
            "l.flows",
        ];
        let untimed = |text: String| {
            text.lines().map(|line| line.split(" i0 ").next().unwrap_or("").to_owned()).collect()
        };
        handlers.map(|handler| untimed(self.read(handler))).to_vec()
    }

    /// The file that the process runs.
    fn executable(&self) -> PathBuf {
        std::fs::read_link(format!("/proc/{}/exe", self.process.id())).expect("the process is there")
    }

    /// The descriptors that the process has.
    fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.process.id())).expect("the process is there").count()
    }

    /// A copy of the program.
    fn copy(&self) -> PathBuf {
        let copy = self.at("new-clique");
        std::fs::copy(env!("CARGO_BIN_EXE_clique"), &copy).expect("copied");
        copy
    }

    /// A program that is the right one as long as it is tried, and then ends like this.
    fn impostor(&self, end: &str) -> PathBuf {
        let (script, clique) = (self.at("impostor"), env!("CARGO_BIN_EXE_clique"));
        let text =
            format!("#!/bin/sh\nif [ \"$1\" = try-hand-over ]; then exec {clique} \"$@\"; fi\n{end}\n");
        std::fs::write(&script, text.replace("CLIQUE", clique)).expect("written");
        std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).expect("made executable");
        script
    }

    fn upgrade(&self, to: &Path) -> String {
        self.run(&["upgrade", to.to_str().expect("a name")])
    }

    /// The router still has what it had, and forwards.
    fn goes_on(&mut self, before: &[String]) {
        assert!(self.process.try_wait().expect("a child").is_none(), "the process has ended");
        assert_eq!(self.state(), before);
        self.write("u.active", "true");
        self.until("d.count", "7");
        self.until("q.length", "0");
        // More of the same flow.
        self.write("s.reset", "");
        self.write("s.active", "true");
        self.until("d.count", "14");
        assert_eq!((self.read("c.count"), self.read("ct.count")), ("14".to_owned(), "1".to_owned()));
        assert_eq!(self.read("nat.size"), before[7]);
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The process stays, another file runs, and the state is there: counts, waiting packets, connections, translations, neighbours, routes. No
/// descriptor is left over, however often that happens.
#[test]
fn another_program_takes_over() {
    for workers in ["-j1", "-j2"] {
        let mut router = Router::start(&config(), &[workers]);
        router.fill();
        let (before, descriptors) = (router.state(), router.descriptors());
        let copy = router.copy();
        let said = router.upgrade(&copy);
        assert!(said.contains("exit status: 0") && said.contains("goes on in the place of"), "{said}");
        assert_eq!(router.executable(), copy.canonicalize().expect("a file"));
        assert_eq!(router.state(), before);
        // Once more, from where it was started now.
        let said = router.command(&["upgrade", "--json"]).output().expect("the program can be started");
        let said: Value = serde_json::from_slice(&said.stdout).expect("an object");
        assert_eq!((&said["answer"], &said["lost"]), (&"upgraded".into(), &Value::Array(Vec::new())));
        assert!(said["gap_ms"].as_f64().is_some_and(|gap| gap > 0.0), "{said}");
        let start = Instant::now();
        while router.descriptors() > descriptors {
            assert!(start.elapsed() < PATIENCE, "{} descriptors, {descriptors} before", router.descriptors());
        }
        router.goes_on(&before);
    }
}

/// What cannot take over is refused, and nothing changes.
#[test]
fn strangers_are_refused() {
    let mut router = Router::start(&config(), &[]);
    router.fill();
    let before = router.state();
    let words = router.at("words");
    std::fs::write(&words, "some words").expect("written");
    let tried = [
        (Path::new("/bin/true"), "no program that takes over"),
        (Path::new("/bin/cat"), "no program that takes over"),
        (&words, "Permission denied"),
        (Path::new("/nonexistent"), "No such file"),
    ];
    for (stranger, why) in tried {
        let said = router.upgrade(stranger);
        assert!(said.contains("exit status: 3") && said.contains(why), "{said}");
    }
    let said = router.run(&["upgrade", "--dry-run"]);
    assert!(said.contains("exit status: 0") && said.contains("could take over"), "{said}");
    assert_eq!(router.executable(), Path::new(env!("CARGO_BIN_EXE_clique")).canonicalize().expect("a file"));
    router.goes_on(&before);
}

/// A program that fails after the router was handed over to it gives it back, with all state: because it does not know the command line, or since the
/// router cannot be built.
#[test]
fn who_fails_gives_back() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    for (end, why) in [
        ("exec CLIQUE run --no-such-option".to_owned(), "no-such-option"),
        (format!("exec CLIQUE run -p {port} first.click"), "it has ended at once"),
    ] {
        let mut router = Router::start(&config(), &[]);
        router.fill();
        let before = router.state();
        let said = router.upgrade(&router.impostor(&end));
        assert!(said.contains("exit status: 3") && said.contains(why), "{said}");
        assert!(said.contains("the one before goes on, with its state"), "{said}");
        assert_eq!(
            router.executable(),
            Path::new(env!("CARGO_BIN_EXE_clique")).canonicalize().expect("a file")
        );
        router.goes_on(&before);
    }
}

/// The configuration that runs goes on, not the file; those before are known, and one that waits to be confirmed still does.
#[test]
fn the_history_goes_on() {
    let router = Router::start("first :: Idle", &[]);
    std::fs::write(router.at("second.click"), "second :: Idle").expect("written");
    let said = router.run(&["reload", "--confirm", "3600", "second.click"]);
    assert!(said.contains("configuration 2 runs"), "{said}");
    let said = router.run(&["upgrade"]);
    assert!(said.contains("exit status: 0"), "{said}");
    assert_eq!(router.read("second.class"), "Idle");
    let said = router.run(&["history"]);
    assert!(said.contains("1  ") && said.contains("* 2  ") && said.contains("to be confirmed"), "{said}");
    let said = router.run(&["rollback"]);
    assert!(said.contains("configuration 1 runs again"), "{said}");
    assert_eq!(router.read("first.class"), "Idle");
}

/// Only the router's own user may ask, through a socket that says who it is.
#[test]
fn not_through_tcp() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("an address").port().to_string();
    drop(free);
    let router = Router::start("Idle", &["-R", "-p", &port]);
    let said = router.run(&["upgrade", "-p", &port]);
    assert!(said.contains("exit status: 3") && said.contains("through a UNIX-domain socket"), "{said}");
    // Who listens there goes on listening there.
    let said = router.run(&["upgrade"]);
    assert!(said.contains("exit status: 0"), "{said}");
    let said = router.run(&["ctl", "-p", &port, "read", "version"]);
    assert!(said.contains("exit status: 0"), "{said}");
}
