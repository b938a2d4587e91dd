//! The interface for programs, asked by schemathesis with whatever its own description allows and does not allow.

use crate::program;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

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

struct Router(Child);

impl Drop for Router {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
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
    let token = directory.path().join("token");
    std::fs::write(&token, "0123456789abcdef0123\n").expect("written");
    std::fs::write(directory.path().join("schemathesis.toml"), KNOWN).expect("written");
    let options = ["run", "-e", ROUTER, "--http", "0", "--http-token", token.to_str().expect("UTF-8")];
    let mut command = program(&options);
    let child = command.stderr(Stdio::piped()).env("XDG_RUNTIME_DIR", directory.path()).spawn();
    let mut router = Router(child.expect("the program can be started"));
    let mut said = BufReader::new(router.0.stderr.take().expect("piped"));
    let mut line = String::new();
    said.read_line(&mut line).expect("a line");
    let page = line.trim().rsplit_once(' ').map_or("", |(_, page)| page).to_owned();
    // What the router says besides is not to fill the pipe.
    std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
    for header in ["Accept: */*", "Authorization: Bearer 0123456789abcdef0123"] {
        let mut client = Command::new("schemathesis");
        client.args(["run", &format!("{page}api/v1/openapi.json"), "-H", header, "--max-time", "6"]);
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
    assert!(router.0.try_wait().expect("asked").is_none(), "the router has ended");
}
