//! Another configuration for a router that runs, and the way back.

use crate::control::Running;
use crate::{program, text};
use serde_json::Value;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A user's directories, with a router that was started without any option for others to find it.
struct User {
    directory: tempfile::TempDir,
    router: Child,
}

impl User {
    /// Starts a configuration; returns when it is found.
    fn start(config: &str) -> User {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        std::fs::create_dir(at("state")).expect("a directory");
        std::fs::write(at("first.click"), config).expect("written");
        let mut router = program(&["run", "first.click"]);
        router.current_dir(directory.path()).env("XDG_RUNTIME_DIR", directory.path());
        router.env("STATE_DIRECTORY", at("state"));
        let router = router.stderr(Stdio::piped()).spawn().expect("the program can be started");
        let user = User { directory, router };
        user.until("found", || user.run(&["history"]).contains("exit status: 0"));
        user
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.directory.path().join(name), text).expect("written");
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program(arguments);
        command.current_dir(self.directory.path()).env("XDG_RUNTIME_DIR", self.directory.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> String {
        text(self.command(arguments).output().expect("the program can be started"))
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.command(arguments).arg("--json").output().expect("the program can be started");
        serde_json::from_slice(&output.stdout).expect("an object")
    }

    fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let start = Instant::now();
        while !holds() {
            assert!(start.elapsed() < PATIENCE, "{what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn sockets(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.directory.path().join("clique")).expect("a directory");
        files.map(|file| file.expect("a file").path()).collect()
    }

    /// Ends the router; what it said.
    fn end(mut self) -> String {
        self.router.kill().expect("it runs");
        let mut said = String::new();
        let mut messages = self.router.stderr.take().expect("a pipe");
        messages.read_to_string(&mut said).expect("text");
        said
    }

    /// Whether the router that runs has an element.
    fn has(&self, element: &str) -> bool {
        self.run(&["ctl", "read", &format!("{element}.class")]).contains("exit status: 0")
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let _ = self.router.kill();
        let _ = self.router.wait();
    }
}

const FIRST: &str = "InfiniteSource(LIMIT 50) -> q :: Queue(1000) -> Idle; one :: Idle";

/// What has no interfaces has nothing to be tried on, and what is wrong is said as without a shadow: nothing is waited for or loaded.
#[test]
fn a_shadow_wants_interfaces() {
    let user = User::start(FIRST);
    user.write("second.click", FIRST);
    let said = user.run(&["reload", "--shadow", "1h", "second.click"]);
    assert!(said.starts_with("exit status: 3"), "{said}");
    assert!(said.contains("no element that receives packets from an interface"), "{said}");
    user.write("wrong.click", "Frog -> Discard");
    let said = user.run(&["reload", "--shadow", "1h", "wrong.click"]);
    assert!(said.starts_with("exit status: 1") && said.contains("Frog"), "{said}");
    assert!(user.run(&["reload", "--accept-differences", "second.click"]).starts_with("exit status: 2"));
    assert_eq!(user.json(&["history"])["configurations"].as_array().map(Vec::len), Some(1));
}

/// What would change is said before, and nothing changes by it; then the configuration runs and the queue has its packets.
#[test]
fn a_configuration_is_looked_at_and_then_loaded() {
    let user = User::start(FIRST);
    user.write("second.click", "src :: InfiniteSource(LIMIT $n) -> q :: Queue(2000) -> Idle; define($n 7)");
    user.until("the queue fills", || user.run(&["ctl", "read", "q.length"]).contains("\n50\n"));
    let expected = "exit status: 0
--- output
elements
  - InfiniteSource@1 :: InfiniteSource(LIMIT 50)
  - one :: Idle
  + src :: InfiniteSource(LIMIT 0)
arguments
  q :: Queue
    - 1000
    + 2000
connections
  - InfiniteSource@1 -> q
  + src -> q
state that is lost
  InfiniteSource@1 :: InfiniteSource (state does not follow to 'src': names differ)
    50  Packets that the element has counted
";
    let said = user.run(&["reload", "--dry-run", "second.click", "n=0"]);
    // Not every element counts the same.
    let (expected, said) = [expected, &said]
        .map(|text| text.split("state that is lost").next().unwrap_or_default().to_owned())
        .into();
    assert_eq!(said, expected);
    assert!(user.has("one"));
    let object = user.json(&["reload", "second.click", "n=0"]);
    assert_eq!((&object["answer"], &object["number"]), (&"loaded".into(), &2.into()));
    assert!(!user.has("one"));
    assert!(user.run(&["ctl", "read", "q.length"]).contains("\n50\n"));
    assert!(user.run(&["reload", "second.click", "n=0"]).contains("no differences\nconfiguration 2 runs\n"));

    // A queue of another name starts empty.
    user.write("third.click", "src :: InfiniteSource(LIMIT 0) -> r :: Queue(2000) -> Idle");
    let lost = &user.json(&["reload", "-n", "third.click"])["difference"]["state_lost"];
    assert_eq!(lost[0]["name"], "q", "{lost}");
    assert_eq!(lost[0]["amounts"][0]["value"], "50", "{lost}");
    assert!(user.has("q"));
}

/// A refused configuration changes nothing, and is refused as `check` refuses it.
#[test]
fn a_refusal_says_where_and_why() {
    let user = User::start(FIRST);
    user.write("bad.click", "x :: InfiniteSource(LIMIT five)\n  -> Quee -> Idle;\n");
    let said = user.run(&["reload", "bad.click"]);
    for part in ["exit status: 1", "bad.click:2:6", "did you mean 'Queue'?", "bad.click:1:27", "^"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(user.has("one"));
    let object = user.json(&["reload", "bad.click"]);
    assert_eq!(object["answer"], "refused");
    assert_eq!(object["diagnostics"].as_array().map(Vec::len), Some(2), "{object}");
    assert_eq!(object["diagnostics"][0]["column"], 6);
    assert_eq!(user.json(&["history"])["configurations"].as_array().map(Vec::len), Some(1));
    assert!(user.run(&["reload", "none.click"]).contains("none.click: No such file"));
    assert!(user.run(&["rollback", "7"]).contains("no configuration 7 is kept"));
    assert!(user.run(&["confirm"]).contains("exit status: 3"));
}

/// A file that was cut short takes no router down, and a misspelt parameter is told.
#[test]
fn what_is_empty_is_refused_and_what_is_unknown_told() {
    let user = User::start("define($N 1); a :: Idle;");
    user.write("empty.click", "// nothing is left\n");
    let said = user.run(&["reload", "empty.click"]);
    assert!(said.contains("the configuration has no elements") && user.has("a"), "{said}");
    user.write("next.click", "define($N 1); b :: Idle;");
    let said = user.run(&["reload", "next.click", "M=2"]);
    assert!(said.contains("the configuration has no parameter '$M'") && user.has("b"), "{said}");
    assert!(!user.run(&["reload", "first.click", "N=2"]).contains("no parameter"));
}

/// A client that has gone is not needed for the way back: the router sees to it.
#[test]
fn what_is_not_confirmed_is_taken_back() {
    let user = User::start(FIRST);
    user.write("second.click", "q :: Queue(1000) -> Idle; Idle -> q; two :: Idle");
    let mut client = user.command(&["reload", "--confirm", "2", "second.click"]);
    let mut client = client.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a client");
    user.until("it runs", || user.has("two"));
    let _ = client.kill();
    client.wait().expect("awaited");
    let said = user.run(&["reload", "first.click"]);
    assert!(said.contains("waits to be confirmed") || user.has("one"), "{said}");
    user.until("the old one runs again", || user.has("one"));
    let list = user.json(&["history"])["configurations"].clone();
    assert_eq!((&list[0]["runs"], &list[1]["note"]), (&true.into(), &"not confirmed".into()), "{list}");

    assert!(user.run(&["reload", "-c", "3600", "second.click"]).contains("taken back in 3600 seconds"));
    assert!(user.run(&["history"]).contains("to be confirmed within"));
    assert!(user.run(&["confirm"]).contains("configuration 3 is kept"));
    assert!(user.has("two"));
    // Not to the one that was never confirmed.
    assert!(user.run(&["rollback"]).contains("configuration 1 runs again, in the place of 3"));
    assert!(user.has("one"));
    assert!(user.run(&["rollback", "2"]).contains("configuration 2 runs again, in the place of 1"));
    assert!(user.run(&["history", "1"]).contains(FIRST));
    for file in std::fs::read_dir(user.directory.path().join("state/history")).expect("a directory") {
        let mode = file.expect("a file").metadata().expect("known").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

/// Where there is nothing else to go back to, a trial would be none: it is refused, and no other one is prevented.
#[test]
fn what_runs_already_cannot_be_on_trial() {
    let user = User::start(FIRST);
    user.write("second.click", "two :: Idle");
    user.run(&["reload", "second.click"]);
    let said = user.run(&["reload", "--confirm", "60", "second.click"]);
    assert!(said.starts_with("exit status: 3") && said.contains("nothing to go back to"), "{said}");
    assert!(user.run(&["reload", "second.click"]).contains("configuration 2 runs"));
    assert!(user.run(&["reload", "--confirm", "60", "first.click"]).contains("taken back in 60 seconds"));
}

/// Parameters that a reload does not name are those that the program was started with, not those of the reload before: a dry run says so.
#[test]
fn parameters_are_those_of_the_start() {
    let user = User::start("define($A 1, $B 2); one :: Idle");
    user.run(&["reload", "first.click", "A=7"]);
    let planned = user.json(&["reload", "--dry-run", "first.click", "B=3"]);
    assert_eq!(planned["parameters"].to_string(), r#"[["B","3"]]"#, "{planned}");
}

/// A configuration that was put on trial can be taken back before its time.
#[test]
fn a_trial_is_broken_off() {
    let user = User::start(FIRST);
    user.write("second.click", "two :: Idle");
    user.run(&["reload", "-c", "3600", "second.click"]);
    assert!(user.has("two"));
    assert!(user.run(&["rollback"]).contains("configuration 1 runs again, in the place of 2"));
    assert!(user.has("one") && user.run(&["confirm"]).contains("no configuration waits"));
    let said = user.end();
    let rolled_back =
        said.lines().filter(|line| line.ends_with("first.click runs again, by 'clique rollback'"));
    assert_eq!(rolled_back.count(), 1, "{said}");
}

/// The user's own socket is for that user only, leads to each configuration in turn, and goes with the router; what a killed one left behind
/// is cleared away by the next.
#[test]
fn the_users_router_is_found() {
    let mut user = User::start(FIRST);
    let sockets = user.sockets();
    let mode = |path: &Path| std::fs::metadata(path).expect("known").permissions().mode() & 0o777;
    assert_eq!(sockets.len(), 1);
    assert_eq!(mode(&sockets[0]), 0o600);
    assert_eq!(mode(sockets[0].parent().expect("a directory")), 0o700);
    let other = user.command(&["run", "-e", "Idle"]).spawn().expect("the program can be started");
    let mut other = guarded(other);
    user.until("both are found", || user.run(&["ctl", "list"]).contains("several routers run"));
    let id = user.router.id();
    assert!(user.run(&["ctl", "list"]).contains(&format!("clique/{id}.socket    process {id}: ")));
    user.router.kill().expect("killed");
    user.router.wait().expect("awaited");
    assert!(user.run(&["ctl", "list"]).contains("Idle@1  Idle"), "the other one is the only one");
    other.0.kill().expect("killed");
    other.0.wait().expect("awaited");
    assert!(user.run(&["ctl", "list"]).contains("no router is found in"));
    assert_eq!(user.sockets().len(), 2);
    let again = user.command(&["run", "-e", "Idle"]).spawn().expect("the program can be started");
    let again = guarded(again);
    user.until("the new one is found", || user.run(&["ctl", "list"]).contains("Idle@1  Idle"));
    assert_eq!(user.sockets().len(), 1);
    let hidden = user.command(&["run", "--no-socket", "-e", "Script(stop)"]).status().expect("a run");
    assert!(hidden.success());
    drop(again);
}

/// A program that does not outlive its test.
struct Guard(Child);

fn guarded(child: Child) -> Guard {
    Guard(child)
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sockets of elements take no such request where the router runs without `-R`, where they are only read, and where they lead to one element.
#[test]
fn not_every_socket_reloads() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), "two :: Idle").expect("written");
    let name = file.path().to_str().expect("UTF-8");
    let directory = tempfile::tempdir().expect("a directory");
    let at = directory.path().join("s");
    let socket = at.to_str().expect("UTF-8");
    let refused = |place: &str| {
        let said = crate::clique(&["reload", "-u", place, name]);
        assert!(
            said.starts_with("exit status: 3") && said.contains("Permission denied for reload"),
            "{said}"
        );
    };
    for (options, config) in [
        (&["--no-socket"][..], "Idle".to_owned()),
        (&["-R"], format!("ControlSocket(UNIX, {socket}, READONLY true)")),
        (&["-R"], format!("ControlSocket(UNIX, {socket}, PROXY i); i :: Idle")),
    ] {
        let router = Running::start("run", &config, options);
        refused(if config == "Idle" { router.socket.to_str().expect("UTF-8") } else { socket });
        router.talk("write stop");
        router.end();
    }
    let router = Running::start("run", "Idle", &["-R"]);
    let said = crate::clique(&["reload", "-u", router.socket.to_str().expect("UTF-8"), name]);
    assert!(said.contains("configuration 2 runs"), "{said}");
    // What is written to the handler is remembered, too.
    assert!(router.talk("write hotconfig three :: Idle").starts_with("200"));
    let said = crate::clique(&["rollback", "-u", router.socket.to_str().expect("UTF-8")]);
    assert!(said.contains("configuration 2 runs again, in the place of 3"), "{said}");
    router.talk("write stop");
    router.end();
}
