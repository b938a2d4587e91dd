//! The interface for programs, asked by schemathesis with whatever its own description allows and does not allow.

use crate::program;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Routes, a queue that drops, a neighbour table: something behind each resource.
const ROUTER: &str = "RatedSource(RATE 100) -> UDPIPEncap(10.0.0.2, 1000, 192.0.2.9, 53) -> c :: Counter
      -> rt :: LinearIPLookup(10.0.0.0/8 0, 0.0.0.0/0 192.0.2.1 1); rt[0] -> Discard; rt[1] -> q :: Queue(100) -> Idle; t :: ARPTable;";

/// What there is in that router, so that not all that is asked for is missing.
const KNOWN: &str = r#"
[[operations]]
include-path = "/api/v1/handlers/{path}"
parameters = { "path.path" = ["c.count", "q.capacity", "rt.lookup", "t.insert", "c.reset"] }
[[operations]]
include-path = "/api/v1/lookup/{element}"
parameters = { "path.element" = "rt" }
[[operations]]
include-path = "/api/v1/tables/{kind}/{element}"
parameters = { "path.kind" = "routes", "path.element" = "rt" }
[[operations]]
include-path = "/api/v1/elements/{name}"
parameters = { "path.name" = "rt" }
"#;

/// What may change a router.
const TOKEN: &str = "0123456789abcdef0123";

struct Router {
    child: Child,
    /// Where its page is.
    page: String,
}

impl Router {
    /// Starts one, with its page and a token, whose user's directory this is.
    fn start(directory: &Path) -> Router {
        let token = directory.join("token");
        std::fs::write(&token, format!("{TOKEN}\n")).expect("written");
        let options = ["run", "-e", ROUTER, "--http", "0", "--http-token", token.to_str().expect("UTF-8")];
        let mut command = program(&options);
        let child = command.stderr(Stdio::piped()).env("XDG_RUNTIME_DIR", directory.join("run")).spawn();
        let mut child = child.expect("the program can be started");
        let mut said = BufReader::new(child.stderr.take().expect("piped"));
        let mut line = String::new();
        said.read_line(&mut line).expect("a line");
        let page = line.trim().rsplit_once(' ').map_or("", |(_, page)| page).to_owned();
        // What the router says besides is not to fill the pipe.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        Router { child, page }
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A router that nobody can reload, since its user has no directory for sockets, says so, and ends when it is told to.
#[test]
fn what_cannot_be_reloaded_says_so() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut router = Router::start(directory.path());
    let host = router.page.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let mut client = TcpStream::connect(&host).expect("connected");
    client.set_read_timeout(Some(PATIENCE)).expect("set");
    let request = format!(
        "POST /api/v1/reload?dry_run=true HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n\
        Content-Type: text/plain\r\nContent-Length: 15\r\n\r\nIdle -> Discard"
    );
    client.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    client.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 4") || answer.starts_with("HTTP/1.1 5"), "{answer}");
    kill_process(Pid::from_child(&router.child), Signal::TERM).expect("sent");
    let begin = Instant::now();
    while router.child.try_wait().expect("asked").is_none() {
        assert!(begin.elapsed() < PATIENCE, "it does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Nothing that a client sends is answered in another way than the description says, and nothing makes the router fail. Where
/// schemathesis (`pip install schemathesis`) is not installed there is no test.
#[test]
fn the_description_holds() {
    if Command::new("schemathesis").arg("--version").output().is_err() {
        return eprintln!("skipped: there is no schemathesis");
    }
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("schemathesis.toml"), KNOWN).expect("written");
    std::fs::create_dir(directory.path().join("run")).expect("a directory");
    let mut router = Router::start(directory.path());
    let page = router.page.clone();
    for header in ["Accept: */*".to_owned(), format!("Authorization: Bearer {TOKEN}")] {
        let mut client = Command::new("schemathesis");
        client.args(["run", &format!("{page}api/v1/openapi.json"), "-H", &header, "--max-time", "6"]);
        // Streams do not end, and whether a handler takes a text is none of the description's business.
        client.args([
            "--exclude-path",
            "/api/v1/events",
            "--exclude-path",
            "/api/v1/trace",
            "--exclude-checks",
            "positive_data_acceptance",
        ]);
        client.args(["--generation-deterministic", "--no-color", "--warnings", "off"]);
        let output = client.current_dir(directory.path()).output().expect("a client");
        assert!(output.status.success(), "{header}: {}", String::from_utf8_lossy(&output.stdout));
    }
    assert!(router.child.try_wait().expect("asked").is_none(), "the router has ended");
}
