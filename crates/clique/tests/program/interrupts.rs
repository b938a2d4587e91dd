//! Clients that are interrupted, or whose terminal is closed: they end, and what they have is not lost.

use crate::control::Running;
use crate::{program, text};
use rustix::process::{Pid, Signal, kill_process};
use std::io::Read;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Packets that are dropped, and some that are not.
const ROUTER: &str = "RatedSource(LENGTH 20, RATE 200) -> UDPIPEncap(10.0.0.1, 1, 10.0.0.2, 2) -> filter :: IPFilter(deny all) -> Discard;
    RatedSource(LENGTH 20, RATE 200) -> UDPIPEncap(10.0.0.3, 1, 10.0.0.4, 2) -> c :: Counter -> Discard;";

/// Starts a client of a router.
fn client(router: &Running, command: &str, options: &[&str]) -> Child {
    let mut client = program(&[command, "-u", router.socket.to_str().expect("UTF-8")]);
    client.args(options).stdout(Stdio::piped()).stderr(Stdio::piped());
    client.spawn().expect("the program can be started")
}

/// Sends `^C`'s signal to a client, whose output is what it printed.
fn interrupt(mut client: Child) -> Output {
    kill_process(Pid::from_child(&client), Signal::INT).expect("sent");
    let begin = Instant::now();
    while client.try_wait().expect("asked").is_none() {
        if begin.elapsed() > PATIENCE {
            client.kill().expect("killed");
            panic!("it does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    client.wait_with_output().expect("an output")
}

/// The summary of what has come so far, also while packets go on to come.
#[test]
fn an_interrupted_trace_prints_its_summary() {
    let router = Running::start("run", ROUTER, &[]);
    let tracer = client(&router, "trace", &["-n", "10000", "--summary", "--seconds", "600", "udp"]);
    std::thread::sleep(Duration::from_secs(2));
    let said = text(interrupt(tracer));
    assert!(said.starts_with("exit status: 0\n--- output\n"), "{said}");
    for way in ["filter > (DROPPED: filtered)\n", " c > Discard"] {
        assert!(said.contains(way), "{way}: {said}");
    }
    router.talk("write stop");
    router.end();
}

/// The file is whole, and the last line says how many packets it has.
#[test]
fn an_interrupted_capture_says_how_much_it_has() {
    let router = Running::start("run", ROUTER, &[]);
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("edge.pcapng");
    let name = file.to_str().expect("UTF-8");
    let length = || std::fs::metadata(&file).map_or(0, |file| file.len());
    let capture = client(&router, "capture", &["c[0]", "-w", name]);
    let begin = Instant::now();
    while length() < 1000 && begin.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
    }
    let said = text(interrupt(capture));
    let packets = said.lines().find_map(|line| line.strip_suffix(" packets captured until the interruption"));
    let packets: u64 = packets.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{said}"));
    assert!(said.starts_with("exit status: 0\n"), "{said}");
    // Its header has 92 bytes, a packet of 48 has 80 with what is around it.
    assert_eq!(length(), 92 + 80 * packets, "{said}");
    router.talk("write stop");
    router.end();
}

/// The file has an example of what was dropped, whenever the signal comes.
#[test]
fn interrupted_drops_keep_their_examples() {
    let router = Running::start("run", ROUTER, &[]);
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("examples.pcapng");
    let name = file.to_str().expect("UTF-8");
    // Of one, the next reading is far away.
    for interval in ["0.1", "100"] {
        let mut follower = client(&router, "drops", &["--follow", "-i", interval, "-w", name]);
        if interval == "0.1" {
            follower.stdout.as_mut().expect("piped").read_exact(&mut [0; 10]).expect("a table");
        } else {
            std::fs::remove_file(&file).expect("removed");
            std::thread::sleep(Duration::from_secs(1));
        }
        let said = text(interrupt(follower));
        assert!(said.starts_with("exit status: 0\n") && said.contains("filter"), "{interval}: {said}");
        let bytes = std::fs::read(&file).expect("examples");
        let comment = b"filter: filtered";
        assert!(bytes.windows(comment.len()).any(|part| part == comment), "{interval}");
    }
    router.talk("write stop");
    router.end();
}

/// Starts a program at a terminal of its own, closes that once something is shown, and waits for the program's end.
const TERMINAL: &str = "
import fcntl, os, pty, signal, struct, sys, termios, time
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 50, 120, 0, 0))
    os.execv(sys.argv[1], sys.argv[1:])
signal.alarm(60)
seen = b''
while b'RatedSource' not in seen:
    seen += os.read(terminal, 4096)
os.close(terminal)
end = time.time() + 30
while time.time() < end:
    if os.waitpid(child, os.WNOHANG)[0]:
        sys.exit(0)
    time.sleep(0.01)
os.kill(child, 9)
sys.exit('it goes on without its terminal')
";

/// `clique top` ends with its terminal. Where Python is not installed there is no test.
#[test]
fn top_ends_when_its_terminal_closes() {
    if Command::new("python3").arg("--version").output().is_err() {
        return eprintln!("skipped: there is no python3");
    }
    let router = Running::start("run", ROUTER, &[]);
    let socket = router.socket.to_str().expect("UTF-8");
    let mut top = Command::new("python3");
    top.args(["-c", TERMINAL, env!("CARGO_BIN_EXE_clique"), "top", "-i", "0.1", "-u", socket]);
    top.env("TERM", "xterm");
    let said = text(top.stdin(Stdio::null()).output().expect("python"));
    assert!(said.starts_with("exit status: 0\n"), "{said}");
    router.talk("write stop");
    router.end();
}

/// The tables fit the columns that the environment tells, or else 80.
#[test]
fn tables_of_top_fit() {
    let long = "a_name_that_is_long/and_another_one_that_is_no_shorter/and_an_element_with_a_name_of_its_own";
    let config =
        format!("RatedSource(RATE 1000) -> {long} :: Counter -> {long}2 :: IPFilter(deny all) -> Discard");
    let router = Running::start("run", &config, &[]);
    let socket = router.socket.to_str().expect("UTF-8");
    for (columns, most) in [(None, 80), (Some("100"), 100), (Some("80"), 80)] {
        let mut top = program(&["top", "--once", "-i", "0.2", "-u", socket]);
        top.env_remove("COLUMNS").envs(columns.map(|columns| ("COLUMNS", columns)));
        let said = text(top.output().expect("the program can be started"));
        let widest = said.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(said.contains("RatedSource") && (60..=most).contains(&widest), "{widest}: {said}");
    }
    router.talk("write stop");
    router.end();
}

/// A line of JSON for each packet at an edge.
#[test]
fn captures_as_json() {
    let router = Running::start("run", ROUTER, &[]);
    let capture = |edge: &str| {
        let child = client(&router, "capture", &[edge, "--json", "-n", "2", "--seconds", "60"]);
        let output = child.wait_with_output().expect("awaited");
        let lines = String::from_utf8(output.stdout).expect("UTF-8");
        let packets: Vec<serde_json::Value> =
            lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert!(output.status.success() && packets.len() == 2, "{lines}");
        packets[0].clone()
    };
    let packet = capture("c[0]");
    assert_eq!((packet["element"].as_str(), packet["output"].as_u64()), (Some("c"), Some(0)));
    assert_eq!((packet["len"].as_u64(), packet["input"].as_u64()), (Some(48), None));
    assert!(packet["at_ns"].is_u64(), "{packet}");
    assert!(
        packet["summary"].as_str().is_some_and(|line| line.starts_with("udp 10.0.0.3:1 > 10.0.0.4:2")),
        "{packet}"
    );
    let bytes = packet["bytes"].as_str().expect("bytes");
    assert!(bytes.starts_with("45000030") && bytes.len() == 96, "{bytes}");
    assert_eq!(capture("[0]c")["input"].as_u64(), Some(0));
    router.talk("write stop");
    router.end();
}
