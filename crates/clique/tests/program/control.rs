//! Talking to a router while it runs.

use crate::{program, without_times};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A router that runs, with a socket.
pub(crate) struct Running {
    /// Until its end is awaited.
    child: Option<Child>,
    _directory: tempfile::TempDir,
    pub(crate) socket: PathBuf,
}

impl Running {
    /// Starts a configuration; returns when it listens.
    pub(crate) fn start(command: &str, config: &str, options: &[&str]) -> Running {
        let directory = tempfile::tempdir().expect("a directory");
        let socket = directory.path().join("socket");
        let mut arguments = vec![command, "-e", config, "-u", socket.to_str().expect("UTF-8")];
        arguments.extend(options);
        let mut child = program(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program can be started");
        let start = Instant::now();
        // The file is there a moment before the router listens.
        while UnixStream::connect(&socket).is_err() {
            assert!(start.elapsed() < PATIENCE, "the socket does not come");
            assert!(child.try_wait().expect("awaited").is_none(), "the router has ended");
            std::thread::sleep(Duration::from_millis(5));
        }
        Running { child: Some(child), _directory: directory, socket }
    }

    /// Sends commands; all responses.
    pub(crate) fn talk(&self, commands: &str) -> String {
        talk(&self.socket, commands)
    }

    /// Sends a signal, as kill(1) names it.
    fn kill(&self, signal: &str) {
        let kill = std::process::Command::new("kill").args([signal, &self.pid()]).status();
        assert!(kill.expect("kill").success());
    }

    pub(crate) fn pid(&self) -> String {
        self.child.as_ref().expect("it runs").id().to_string()
    }

    /// Waits for the next line of its output.
    fn line(&mut self) -> String {
        let output = self.child.as_mut().and_then(|child| child.stdout.as_mut()).expect("piped");
        let (mut line, mut byte) = (Vec::new(), [0]);
        // Byte by byte, since `end` reads what is left.
        while output.read(&mut byte).expect("read") == 1 && byte != *b"\n" {
            line.extend(byte);
        }
        String::from_utf8(line).expect("UTF-8")
    }

    /// Waits for the end.
    pub(crate) fn end(mut self) -> Output {
        let child = self.child.take().expect("it runs");
        child.wait_with_output().expect("the program can be awaited")
    }
}

/// A router of a test that fails must not go on for ever.
impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn talk(socket: &Path, commands: &str) -> String {
    let mut stream = UnixStream::connect(socket).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("set");
    stream.write_all(format!("{commands}\nquit\n").as_bytes()).expect("written");
    let mut reader = BufReader::new(stream);
    let mut text = String::new();
    reader.read_line(&mut text).expect("a greeting");
    assert_eq!(text, "Click::ControlSocket/1.3\r\n");
    text.clear();
    reader.read_to_string(&mut text).expect("an end");
    text.replace("\r\n", "\n").replace("200 Goodbye!\n", "")
}

/// What a program printed.
fn text(output: &[u8]) -> &str {
    std::str::from_utf8(output).expect("UTF-8")
}

/// A configuration as the data of a command.
fn hotconfig(config: &str) -> String {
    format!("writedata hotconfig {}\n{config}", config.len())
}

const QUEUED: &str = "InfiniteSource(LIMIT 500, BURST 7) -> q :: Queue(1000) -> i :: Idle;";

/// Packets that wait in a queue are there after a swap, on one worker, on two, and in simulated time; a configuration that
/// is wrong changes nothing, and its writer is told why.
#[test]
fn packets_in_a_queue_survive_a_hot_swap() {
    for options in [&["-R"][..], &["-R", "-j", "2"], &["-R", "--simtime"]] {
        let router = Running::start("run", QUEUED, options);
        let start = Instant::now();
        while !router.talk("read q.length").ends_with("500") {
            assert!(start.elapsed() < PATIENCE, "the queue does not fill");
        }
        let said = router.talk(&hotconfig("q :: Queue -> n :: Nonsense"));
        assert!(said.starts_with("520-Write handler 'hotconfig' error:\n520"), "{said}");
        for part in ["unknown element class 'Nonsense'", "config:1:20", "^"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let said = router.talk(
            &(hotconfig("Idle -> q :: Queue(600) -> i :: Idle; n :: Idle -> Discard") + "read q.length"),
        );
        assert_eq!(
            said, "200 Write handler 'hotconfig' OK\n200 Read handler 'q.length' OK\nDATA 3\n500",
            "{options:?}: packets or the connection were lost"
        );
        assert!(router.talk("read list").contains("\nn\n"));
        // Also the new router can be replaced.
        let said = router.talk(&(hotconfig(QUEUED) + "read q.capacity\nwrite stop"));
        assert!(said.contains("DATA 4\n1000") && said.ends_with("200 Write handler 'stop' OK\n"), "{said}");
        let output = router.end();
        assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()), "{options:?}");
    }
}

/// A configuration that is refused by its last element, whose socket cannot move, harms none of those before: the tunnel has its key, and the
/// queue its packets and its length.
#[test]
fn a_refused_swap_changes_nothing() {
    let config = |length: u32, address: &str| {
        format!(
            "src :: InfiniteSource(DATA \\<4500001400000000400000000a0000010a000002>, LIMIT 50)
               -> e :: ESPEncap(300, \\<00112233445566778899aabbccddeeff01020304>) -> q :: Queue({length}) -> i :: Idle;
             Idle -> rt :: IPLookup(0.0.0.0/0 0) -> Discard; fpm :: FPMServer(lo 0, IPV4 rt, PORT 0, ADDRESS {address});"
        )
    };
    let router = Running::start("run", &config(200, "127.0.0.1"), &["-R"]);
    let start = Instant::now();
    while !router.talk("read q.length").ends_with("50") {
        assert!(start.elapsed() < PATIENCE, "the queue does not fill");
    }
    for _ in 0..2 {
        let said = router.talk(&hotconfig(&config(10, "127.0.0.2")));
        assert!(said.contains("it listens elsewhere"), "{said}");
    }
    router.talk("write src.reset");
    while !router.talk("read q.length").ends_with("100") {
        assert!(start.elapsed() < PATIENCE, "{}", router.talk("read drops"));
    }
    assert!(router.talk("read e.sequence").ends_with("100"));
    let said = router.talk(&(hotconfig(&config(300, "127.0.0.1")) + "read q.length"));
    // The new source may be on its way.
    let length = said.lines().last().and_then(|line| line.parse().ok());
    assert!(
        length.is_some_and(|length: u32| (100..=150).contains(&length)),
        "the right one is taken: {said}"
    );
    router.talk("write stop");
    router.end();
}

/// Random numbers do not come again after a swap, also with a seed, which in turn gives the same run again.
#[test]
fn random_numbers_do_not_begin_anew() {
    let config = "s :: Script(TYPE PASSIVE, return $(random 1 1000000000)); i :: Idle -> Discard;";
    let numbers = |options: &[&str]| {
        let router = Running::start("run", config, options);
        let mut said = vec![router.talk("read s.run")];
        for _ in 0..2 {
            router.talk(&hotconfig(config));
            said.push(router.talk("read s.run"));
        }
        router.talk("write stop");
        router.end();
        let different: std::collections::HashSet<_> = said.iter().collect();
        assert!(different.len() == 3 && said[0].contains("DATA"), "{options:?}: {said:?}");
        said
    };
    let seeded = ["-R", "--seed", "5"];
    assert_eq!(numbers(&seeded), numbers(&seeded));
    assert_ne!(numbers(&["-R"]), numbers(&["-R"]));
}

/// In simulated time a script that writes configurations has each built before it goes on, hears what is wrong with
/// it, and is replaced at once by one that is right; what was written behind that is built before the new one goes
/// on.
#[test]
fn hotconfig_by_scripts_in_simulated_time() {
    let (bad, worse, good) =
        (r#""Idle -> Bad""#, r#""Idle -> Worse""#, r#""Script(wait 1, print 'new', stop)""#);
    let heard = |name: &str| {
        format!("  While calling 'hotconfig Idle -> {name}':\n    config:1: undeclared element '{name}'\n")
    };
    let by_script = |heard: String| format!("TIME ERROR While executing 'Script@1 :: Script':\n{heard}");
    for (written, out, err) in [
        ([bad, worse], "old\n", by_script(heard("Bad") + "TIME ERROR " + &heard("Worse"))),
        ([bad, good], "new\n", by_script(heard("Bad"))),
        // The script is gone by then.
        ([good, bad], "new\n", "TIME ERROR hotconfig: config:1: undeclared element 'Bad'\n".to_owned()),
        ([good, good], "new\n", String::new()),
    ] {
        let [first, second] = written;
        let config =
            format!("Script(writeq hotconfig {first}, writeq hotconfig {second}, wait 1, print 'old', stop)");
        let output = program(&["run", "-R", "--simtime", "-e", &config]).output().expect("a run");
        let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert_eq!([said[0].clone(), without_times(&said[1])], [out.to_owned(), err], "{written:?}");
    }
}

/// In real time a script that writes a configuration waits until it is built, and hears what is wrong with it and
/// what is odd, while packets go on. Who called the script waits with it.
#[test]
fn hotconfig_by_scripts_in_real_time() {
    let bad = "Idle -> Bad";
    let many = "Idle -> Counter -> Discard; ".repeat(3000) + bad;
    let config = format!(
        "InfiniteSource -> c :: Counter -> Discard;
         p :: Script(TYPE PASSIVE, writeq hotconfig \"$args\", print \"inner $?\");
         Script(write p.run {bad}, print \"outer $?\",
                set before $(c.count), writeq hotconfig \"{many}\", print $?, print $(gt $(c.count) $before),
                writeq hotconfig \"Idle -> MSQueue -> Discard; Script(print '\\\"new\\\"', stop)\", print \"old $?\",
                wait 100, print never)"
    );
    let output = program(&["run", "-R", "-e", &config]).output().expect("a run");
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert_eq!(said[0], "inner -22\nouter 0\n-22\ntrue\nold 0\n\"new\"\n", "{}", said[1]);
    let heard = |script: &str, config: &str, what: &str| {
        format!(
            "TIME ERROR While executing '{script} :: Script':\n  While calling 'hotconfig {config}':\n    config:1: {what}"
        )
    };
    let undeclared = "undeclared element 'Bad'\n";
    let mut expected = heard("p", bad, undeclared) + &heard("Script@5", &many, undeclared);
    expected +=
        "TIME WARN    While calling 'hotconfig Idle -> MSQueue -> Discard; Script(print '\"new\"', stop)':
    config:1: While configuring 'MSQueue@2 :: MSQueue':
      warning: MSQueue is deprecated, use ThreadSafeQueue instead\n";
    assert_eq!(without_times(&said[1]), expected);
}

/// An element that pulls packets through a script does not wait for a configuration that the script writes; what is wrong is
/// said all the same. A client that called a script through a socket waits for it.
#[test]
fn who_waits_for_hotconfig() {
    let config = "InfiniteSource(LIMIT 1) -> Queue -> Script(writeq hotconfig \"Idle -> Bad\", print \"pulled $?\", return 0)
                    -> Unqueue -> c :: Counter -> Discard;
                  p :: Script(TYPE PASSIVE, writeq hotconfig $args, return $?)";
    let router = Running::start("run", config, &["-R"]);
    let start = Instant::now();
    while !router.talk("read c.count").ends_with("\n1") {
        assert!(start.elapsed() < PATIENCE, "the packet does not come");
    }
    assert_eq!(router.talk("read p.run Idle -> Worse"), "200 Read handler 'p.run' OK\nDATA 3\n-22");
    assert_eq!(router.talk("read p.run Idle -> d :: Discard"), "200 Read handler 'p.run' OK\nDATA 1\n0");
    while router.talk("read d.class").starts_with('5') {
        assert!(start.elapsed() < PATIENCE, "the new router does not come");
    }
    router.talk("write stop");
    let output = router.end();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "pulled 0\n");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("hotconfig: config:1: undeclared element 'Bad'\n"), "{said}");
}

/// A configuration that is odd, and a handler that warns, are no errors: the code says so, and `clique ctl` shows it.
#[test]
fn warnings_are_told() {
    let router = Running::start("run", QUEUED, &["-R"]);
    let said = router.talk(&hotconfig("Idle -> MSQueue -> Discard; u :: InfiniteSource -> Discard"));
    assert_eq!(
        said,
        "220-Write handler 'hotconfig' OK with warnings:\n\
         220-config:1: While configuring 'MSQueue@2 :: MSQueue':\n\
         220   warning: MSQueue is deprecated, use ThreadSafeQueue instead\n"
    );
    let said = router.talk("write u.tickets 0");
    assert_eq!(said, "220-Write handler 'u.tickets' OK with warnings:\n220 warning: tickets pinned at 1\n");
    let ctl = |arguments: &[&str]| {
        let socket = router.socket.to_str().expect("UTF-8");
        crate::clique(&[&["ctl", "-u", socket], arguments].concat())
    };
    let shown = "--- messages\nwarning: tickets pinned at 1\n";
    assert_eq!(ctl(&["write", "u.tickets", "-7"]), format!("exit status: 0\n{shown}"));
    let object = r#"{"name":"u.tickets","warnings":["warning: tickets pinned at 1"],"written":true}"#;
    assert_eq!(
        ctl(&["--json", "write", "u.tickets", "-7"]),
        format!("exit status: 0\n--- output\n{object}\n{shown}")
    );
    router.talk("write stop");
    let output = router.end();
    assert_eq!(
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned()),
        (Some(0), String::new())
    );
}

/// A ChatterSocket that goes on in a new configuration greets, and lets standard error hear its channel, as that one says.
#[test]
fn chatter_follows_a_new_configuration() {
    let config =
        |options: &str, rest: &str| format!("cs :: ChatterSocket(TCP, 0, CHANNEL x{options}); {rest}");
    let router = Running::start("run", &config("", "Idle -> Discard"), &["-R"]);
    let new = config(
        ", GREETING false, QUIET_CHANNEL false",
        "TimedSource(0.01) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> IPPrint(CHANNEL x) -> Discard",
    );
    assert!(router.talk(&hotconfig(&new)).starts_with("200"));
    let said = router.talk("read cs.port");
    let port: u16 = said.rsplit('\n').next().and_then(|port| port.parse().ok()).expect("a port");
    let mut heard = [0; 6];
    std::net::TcpStream::connect(("127.0.0.1", port))
        .expect("a connection")
        .read_exact(&mut heard)
        .expect("heard");
    router.talk("write stop");
    let printed = router.end().stderr;
    assert_eq!(heard, printed[..6], "{}", String::from_utf8_lossy(&heard));
}

/// Bytes that are no text come out as they went in: from the command's data and from a script's text to a handler,
/// and from there to a client and to the standard output; a configuration with such bytes is what `config` says.
#[test]
fn bytes_pass_unchanged() {
    let router = Running::start("run", QUEUED, &["-R"]);
    let exchange = |sent: &[u8]| {
        let mut stream = UnixStream::connect(&router.socket).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("set");
        stream.write_all(sent).expect("written");
        let mut said = Vec::new();
        stream.read_to_end(&mut said).expect("an end");
        said
    };
    let ends = |said: Vec<u8>, end: &[u8]| {
        assert!(said.ends_with(end), "{}", said.escape_ascii());
    };
    let config =
        b"Script(print \"\xfe\", print \"\\<fdc3a9>\"); s :: InfiniteSource(\"\xff\", LIMIT 0) -> Discard";
    let mut sent = format!("writedata hotconfig {}\r\n", config.len()).into_bytes();
    sent.extend_from_slice(config);
    sent.extend_from_slice(b"read s.data\r\nread config\r\nquit\r\n");
    ends(
        exchange(&sent),
        &[&b"DATA 1\r\n\xff200 Read handler 'config' OK\r\nDATA 82\r\n"[..], config, b"200 Goodbye!\r\n"]
            .concat(),
    );
    ends(
        exchange(b"writedata s.data 3\r\n\x80\xf4\x8fread s.data\r\nquit\r\n"),
        b"\r\nDATA 3\r\n\x80\xf4\x8f200 Goodbye!\r\n",
    );
    ends(exchange(b"read \xff.a\r\nquit\r\n"), b"\r\n510 No element named '\\377'\r\n200 Goodbye!\r\n");
    router.talk("write stop");
    assert_eq!(router.end().stdout, b"\xfe\n\xfd\xc3\xa9\n");
}

/// Without `-R` there is no such handler.
#[test]
fn hotconfig_is_not_there_unasked() {
    let router = Running::start("click", "Idle -> Discard", &[]);
    assert_eq!(router.talk("write hotconfig Idle -> Discard"), "511 No handler named 'hotconfig'\n");
    assert!(!router.talk("read handlers").contains("hotconfig"));
    assert_eq!(router.talk("read list").lines().nth(5), Some("click_driver@@ControlSocket"));
    router.talk("write stop");
    assert_eq!(router.end().status.code(), Some(0));
}

/// A signal that a script serves does not stop the router; after the script it does.
#[test]
fn scripts_have_signals_first() {
    let config = "Script(TYPE SIGNAL INT, print \"got\", end); Idle -> Discard";
    let mut router = Running::start("run", config, &[]);
    for _ in 0..2 {
        router.kill("-INT");
        assert_eq!(router.line(), "got");
        assert!(router.talk("read driver").ends_with("userlevel"), "the router has stopped");
    }
    router.talk("write stop");
    let output = router.end();
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), ""));
}

/// Scripts serve a signal in the order of their elements; it has its usual effect only if none of them is ready to. Signals that come
/// while one runs merge and find it ready again.
#[test]
fn several_scripts_serve_a_signal_in_order() {
    let config = "Script(TYPE SIGNAL USR1, print \"one\", end); Script(TYPE SIGNAL USR1 TERM, print \"two\", exit);
                  Script(TYPE SIGNAL TERM USR1, print \"three\", end); Script(TYPE SIGNAL USR2, print \"long\", end); Idle -> Discard";
    let mut router = Running::start("run", config, &[]);
    for (signal, said) in
        [("-USR1", &["one", "two", "three"][..]), ("-USR1", &["one", "three"]), ("-TERM", &["three"])]
    {
        router.kill(signal);
        said.iter().for_each(|said| assert_eq!(router.line(), *said));
    }
    for _ in 0..10 {
        router.kill("-USR2");
    }
    assert_eq!(router.line(), "long");
    assert!(router.talk("read driver").ends_with("userlevel"), "the router has stopped");
    router.talk("write stop");
    let output = router.end();
    assert_eq!((output.status.code(), text(&output.stdout).replace("long\n", "")), (Some(0), String::new()));
}

/// A script that waits once it has a signal comes to its end: who serves the signal is decided when it comes, and not
/// by what the script does meanwhile. The next one has its usual effect.
#[test]
fn scripts_that_wait_come_to_their_end() {
    // Several times, since it was wrong in every second run or so.
    for _ in 0..8 {
        let config =
            "Script(TYPE SIGNAL TERM, print \"got\", wait 0.1, print \"end\", stop); Idle -> Discard";
        let router = Running::start("run", config, &[]);
        router.kill("-TERM");
        assert_eq!(text(&router.end().stdout), "got\nend\n");
    }
    let config = "Script(TYPE SIGNAL TERM, print \"got\", exit); Idle -> Discard";
    let mut router = Running::start("run", config, &[]);
    router.kill("-TERM");
    assert_eq!(router.line(), "got");
    assert!(router.talk("read driver").ends_with("userlevel"), "the router has stopped");
    router.kill("-TERM");
    assert_eq!(router.end().status.code(), Some(0));
}

#[test]
fn each_command_of_ctl_answers_in_text_and_json() {
    let config = "InfiniteSource(LIMIT 3) -> c :: Counter -> q :: Queue(5) -> Idle";
    let router = Running::start("run", config, &["-R"]);
    let ctl = |arguments: &[&str]| {
        let socket = router.socket.to_str().expect("UTF-8");
        crate::clique(&[&["ctl", "-u", socket], arguments].concat())
    };
    let fine = |output: &str| format!("exit status: 0\n--- output\n{output}");
    assert_eq!(ctl(&["read", "q.capacity"]), fine("5\n"));
    assert_eq!(ctl(&["read", "q.capacity", "--json"]), fine("{\"name\":\"q.capacity\",\"value\":\"5\"}\n"));
    assert_eq!(ctl(&["write", "q.capacity", "7"]), "exit status: 0\n");
    assert_eq!(
        ctl(&["watch", "-n", "2", "-i", "0", "q.capacity", "c.class"]),
        fine(&"q.capacity: 7\nc.class: Counter\n".repeat(2))
    );
    assert_eq!(ctl(&["--json", "watch", "-n", "1", "q.capacity"]), fine("{\"q.capacity\":\"7\"}\n"));
    // Several at once, by name, by pattern and by class.
    assert_eq!(ctl(&["read", "q.capacity", "c.class"]), fine("q.capacity: 7\nc.class: Counter\n"));
    assert_eq!(ctl(&["read", "?.class"]), fine("c.class: Counter\nq.class: Queue\n"));
    assert_eq!(ctl(&["read", "Queue.cap*"]), fine("q.capacity: 7\n"));
    assert_eq!(
        ctl(&["--json", "read", "*.capacity", "c.class"]),
        fine(
            "{\"handlers\":[{\"name\":\"q.capacity\",\"value\":\"7\"},{\"name\":\"c.class\",\"value\":\"Counter\"}]}\n"
        )
    );
    assert!(ctl(&["read", "x*.capacity"]).contains("no handler 'x*.capacity' that can be read"));
    assert_eq!(
        ctl(&["describe", "q.length"]),
        fine("q :: Queue\nA FIFO queue.\n\n  length  r-  packets stored.\n")
    );
    let described = ctl(&["describe", "c"]);
    assert!(described.contains("\n  count ") && described.contains("clique elements Counter"), "{described}");
    let list = ctl(&["list"]);
    assert!(list.contains("\nc                            Counter\n"), "{list}");
    assert!(ctl(&["list", "q"]).contains("\nq.capacity\trw"));
    assert!(
        ctl(&["list", "[cq]", "--json"])
            .contains("{\"name\":\"c.count\",\"readable\":true,\"writable\":false}")
    );
    assert_eq!(ctl(&["read", "x.y"]), "exit status: 3\n--- messages\nclique ctl: No element named 'x'\n");
    let file = router.socket.with_file_name("new");
    std::fs::write(&file, "Idle -> new :: Discard").expect("written");
    // An empty file is no error, but it can hardly be meant.
    assert_eq!(
        ctl(&["write", "hotconfig", "-f", "/dev/null"]),
        "exit status: 0\n--- messages\nconfig: warning: configuration has no elements\n"
    );
    assert_eq!(ctl(&["write", "hotconfig", "-f", file.to_str().expect("UTF-8")]), "exit status: 0\n");
    let socket = router.socket.to_str().expect("UTF-8");
    let said = crate::clique_with(
        "new.class\n\nread new.name\nwrite stop\nquit\nread nothing\n",
        &["ctl", "-u", socket],
    );
    assert_eq!(said, fine("Discard\nnew\n"));
    assert_eq!(router.end().status.code(), Some(0));
    assert!(crate::clique(&["ctl", "-u", "/nowhere/socket", "list"]).ends_with(
        "clique ctl: /nowhere/socket: No such file or directory; no router listens there, as with \
             'clique run -u /nowhere/socket ...'\n"
    ));
    assert!(crate::clique(&["ctl", "-p", "1", "-u", "x", "list"]).contains("cannot be used with"));
}

/// The flows that look-ups of routes remember are listed, counted and forgotten; look-ups that remember none have nothing to say.
#[test]
fn flows_of_look_ups() {
    let config = "s :: FastUDPFlows(0, 1000, 64, 0:0:0:0:0:1, 9.0.0.1, 0:0:0:0:0:2, 9.0.0.2, 10, 100000) -> Unqueue -> Strip(14)
         -> MarkIPHeader -> GetIPAddress(16) -> a :: IPLookup(0/0 1.1.1.1 0) -> r :: IPLookup(0/0 1.1.1.1 0, FLOWS 1000, FLOW_TIMEOUT 0) -> Discard";
    let router = Running::start("run", config, &["-R"]);
    let ctl = |arguments: &[&str]| {
        let socket = router.socket.to_str().expect("UTF-8");
        crate::clique(&[&["ctl", "-u", socket], arguments].concat())
    };
    let fine = |output: &str| format!("exit status: 0\n--- output\n{output}");
    let start = Instant::now();
    while ctl(&["flows", "-c", "udp", "assured"]) != fine("r\t10\n") {
        assert!(start.elapsed() < PATIENCE, "{}", ctl(&["flows"]));
    }
    let list = ctl(&["flows", "src", "9.0.0.1"]);
    assert_eq!(list.matches("9.0.0.1 ").count(), 10, "{list}");
    let json = ctl(&["--json", "flows", "limit", "1"]);
    assert!(json.contains("{\"elements\":[{\"element\":\"r\",\"flows\":[{"), "{json}");
    let lines = ctl(&["flows", "--lines"]);
    assert_eq!(lines.matches("\"element\":\"r\"").count(), 10, "{lines}");
    assert_eq!(lines.matches("\"gateway\":\"1.1.1.1\"").count(), 10, "{lines}");
    assert_eq!(ctl(&["flows", "-k", "udp"]), fine("r\t10\n"));
    assert_eq!(ctl(&["--json", "flows", "-c"]), fine("{\"elements\":[{\"count\":0,\"element\":\"r\"}]}\n"));
    // What was listed is taken in, unless a line is wrong.
    let folder = tempfile::tempdir().expect("a folder");
    let import = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).expect("writable");
        ctl(&["flows", "--import", file.to_str().expect("UTF-8")])
    };
    let known = lines.strip_prefix(&fine("")).expect("lines");
    assert_eq!(import("listed", known), fine("r\t10 flows taken\n"));
    assert_eq!(ctl(&["flows", "-c", "udp", "assured"]), fine("r\t10\n"));
    let wrong = import("wrong", &format!("\n{}", known.replacen("\"output\":0", "\"output\":9", 1)));
    assert!(wrong.contains("\nline 2: expected a flow as `flow_list` writes it"), "{wrong}");
    assert!(import("strange", "{\"element\":\"a\"}").contains("not as it lists flows"));
    assert!(import("nowhere", "{\"element\":\"x\"}").contains("clique ctl: "));
    assert!(ctl(&["flows", "-e", "a"]).contains("'a' does not list flows"));
    assert_eq!(ctl(&["write", "stop"]), "exit status: 0\n");
    assert_eq!(router.end().status.code(), Some(0));
}

/// A command that prints until its reader has seen enough ends when the reader goes.
#[test]
fn readers_that_go() {
    let router = Running::start("run", "RatedSource(RATE 1000) -> c :: Counter -> Discard", &[]);
    let socket = router.socket.to_str().expect("UTF-8");
    for arguments in [
        &["ctl", "-u", socket, "watch", "-i", "0.1", "c.count"][..],
        &["ctl", "-u", socket, "--json", "watch", "-i", "0.1", "c.count"],
        &["top", "-u", socket, "--json", "-i", "0.1"],
    ] {
        let mut child =
            program(arguments).stdout(Stdio::piped()).spawn().expect("the program can be started");
        let mut output = BufReader::new(child.stdout.take().expect("it was piped"));
        output.read_line(&mut String::new()).expect("a line");
        drop(output);
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("awaited") {
                break status;
            }
            if start.elapsed() > PATIENCE {
                let _ = child.kill();
                panic!("{arguments:?} does not end");
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        assert_eq!(status.code(), Some(0), "{arguments:?}");
    }
}

/// A TCP port, here one that the system chooses.
#[test]
fn the_system_may_choose_the_tcp_port() {
    for (command, port) in [("run", "--port=0"), ("click", "-p0")] {
        let handler = "click_driver@@ControlSocket.port";
        let said = crate::clique(&[command, "-q", port, "-h", handler, "-e", "Idle -> Discard"]);
        let number = said
            .strip_prefix("exit status: 0\n--- output\n")
            .and_then(|port| port.trim().parse::<u16>().ok());
        assert!(number.is_some_and(|port| port > 0), "{said}");
    }
    // The first is taken, the next may be free.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let first = taken.local_addr().unwrap().port();
    let options = ["-q", "-h", "click_driver@@ControlSocket.port", "-e", "Idle -> Discard"];
    let said = crate::clique(&[&["click", "-p", &format!("{first}+")], &options[..]].concat());
    let number = said.lines().nth(2).and_then(|port| port.parse::<u16>().ok());
    assert!(number.is_some_and(|port| port > first) || first == u16::MAX, "{said}");
    let said = crate::clique(&["run", "-q", "-p", "1, READONLY true", "-e", "Idle -> Discard"]);
    assert!(said.contains("PORT requires TCP port"), "{said}");
    // It is the option that is at fault, and not what is first in the configuration.
    let said = crate::clique(&["run", "-q", "-p", &first.to_string(), "-e", "Idle -> Discard"]);
    let place = format!("bind: Address already in use\n  at option '-p {first}'\n");
    assert!(said.contains(&place), "{said}");
    let said = crate::clique(&["run", "-q", "--metrics", "/nowhere/m", "-e", "Idle -> Discard"]);
    assert!(said.contains("\n  at option '--metrics /nowhere/m'\n") && !said.contains("Idle"), "{said}");
}

/// What happens to neighbours is told as it happens, as text and in JSON.
#[test]
fn events_are_watched() {
    let config = "t :: ARPTable(INTERFACE eth7); Idle -> Discard";
    let router = Running::start("run", config, &[]);
    let socket = router.socket.to_str().expect("UTF-8");
    let watch = |options: &[&str]| {
        let fixed = ["ctl", "-u", socket, "watch", "--events", "neighbour", "-n", "2"];
        let arguments = [&fixed[..], options].concat();
        program(&arguments).stdout(Stdio::piped()).spawn().expect("the program can be started")
    };
    let watchers = [watch(&[]), watch(&["--json"])];
    let mut done = false;
    let start = Instant::now();
    // They may not listen yet: what they do not hear is told again.
    let mut watchers = watchers.map(Some);
    let mut said = [String::new(), String::new()];
    while !done {
        assert!(start.elapsed() < PATIENCE, "nothing is heard");
        router.talk("write t.insert 10.0.0.2 2:2:2:2:2:2 permanent\nwrite t.delete 10.0.0.2\nwrite t.clear");
        for (watcher, said) in watchers.iter_mut().zip(&mut said) {
            if watcher.as_mut().is_some_and(|w| w.try_wait().expect("awaited").is_some())
                && let Some(watcher) = watcher.take()
            {
                let output = watcher.wait_with_output().expect("awaited");
                *said = String::from_utf8(output.stdout).expect("UTF-8");
            }
        }
        done = watchers.iter().all(Option::is_none);
    }
    router.talk("write stop");
    router.end();
    let [text, json] = said;
    assert_eq!((text.lines().count(), json.lines().count()), (2, 2), "{text}{json}");
    let possible = [
        "neighbour add 10.0.0.2 02-02-02-02-02-02 permanent eth7",
        "neighbour change 10.0.0.2 - failed eth7",
        "neighbour delete 10.0.0.2 - failed eth7",
    ];
    assert!(text.lines().all(|line| possible.contains(&line)), "{text}");
    for line in json.lines() {
        let event: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(
            [&event["event"], &event["address"], &event["interface"]],
            ["neighbour", "10.0.0.2", "eth7"]
        );
        assert!(["permanent", "failed"].iter().any(|state| event["state"] == *state), "{line}");
    }
}

/// Who watches the router hears of a configuration that is refused, and why, however it was sent; then of one that is not.
#[test]
fn refused_swaps_are_events() {
    let router = Running::start("run", "Idle -> Discard", &["-R"]);
    let watcher = UnixStream::connect(&router.socket).expect("a connection");
    watcher.set_read_timeout(Some(PATIENCE)).expect("set");
    (&watcher).write_all(b"WATCH router\n").expect("written");
    let mut lines = BufReader::new(&watcher).lines().map(|line| line.expect("a line"));
    assert_eq!(lines.nth(1).as_deref(), Some("200 Watching"));
    assert!(router.talk(&hotconfig("Idle -> Bad; Idle -> Worse")).starts_with("520"));
    let file = router.socket.with_extension("click");
    std::fs::write(&file, "Idle -> Wrong").expect("written");
    let [file, socket] = [&file, &router.socket].map(|path| path.to_str().expect("UTF-8"));
    assert!(crate::clique(&["reload", "--dry-run", "-u", socket, file]).starts_with("exit status: 1"));
    assert!(crate::clique(&["reload", "-u", socket, file]).starts_with("exit status: 1"));
    assert!(router.talk(&hotconfig("Idle -> c :: Counter -> Discard")).starts_with("200"));
    let expected = [
        "EVENT router refused config:1: undeclared element 'Bad'; config:1: undeclared element 'Worse'"
            .to_owned(),
        format!("EVENT router refused {file}:1: undeclared element 'Wrong'"),
        "EVENT router replaced".to_owned(),
    ];
    assert_eq!(lines.take(3).collect::<Vec<_>>(), expected);
    router.talk("write stop");
    router.end();
}
