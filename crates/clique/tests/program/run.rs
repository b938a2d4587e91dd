//! `clique run`.

use crate::{clique, clique_in, clique_with, is_time, program, text, without_reasons, without_times};
use expect_test::{Expect, expect};
use rustix::process::{Pid, Signal, kill_process};
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const COUNTS: &str = "s :: InfiniteSource(LIMIT 5, STOP true) -> c :: Counter -> d :: Discard;";

fn check(found: String, expected: Expect) {
    expected.assert_eq(&found);
}

#[test]
fn one_handler_is_printed_bare() {
    check(
        clique(&["run", "-e", COUNTS, "-h", "c.count"]),
        expect![[r#"
        exit status: 0
        --- output
        5
    "#]],
    );
}

#[test]
fn several_handlers_are_printed_with_names() {
    check(
        clique(&["run", "-e", COUNTS, "-h", "c.count", "--handler=list"]),
        expect![[r#"
        exit status: 0
        --- output
        c.count:
        5

        list:
        3
        s
        c
        d

    "#]],
    );
}

/// The reader of a capture from standard output finds its header first, also if the script that steers the driver prints at once.
#[test]
fn header_before_all() {
    for options in [&["run", "--simtime"][..], &["run"]] {
        let config = "Idle -> ToDump(-); DriverManager(print \"first\", stop)";
        let output = program(&[options, &["-e", config]].concat()).output().expect("a run");
        let said = output.stdout;
        assert!(said.starts_with(&0xa1b2_c3d4_u32.to_ne_bytes()), "{}", said.escape_ascii());
        assert!(said.ends_with(b"first\n"), "{}", said.escape_ascii());
    }
}

/// What elements write to standard output stays in order, and comes at once.
#[test]
fn standard_output_is_in_order() {
    const CONFIG: &str = "InfiniteSource(LIMIT 1) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> ToIPSummaryDump(-, FIELDS ip_src);
        TimedSource(2, LIMIT 2) -> UDPIPEncap(3.0.0.1, 1, 2.0.0.2, 2) -> ToIPSummaryDump(-, FIELDS ip_src, HEADER false);
        DriverManager(wait 1, print \"first\", wait 2, print \"second\", wait 2, print \"third\", stop)";
    check(
        clique(&["run", "--simtime", "-e", CONFIG]),
        expect![[r#"
        exit status: 0
        --- output
        !IPSummaryDump 1.3
        !data ip_src
        1.0.0.1
        first
        3.0.0.1
        second
        3.0.0.1
        third
    "#]],
    );
    let capture = "TimedSource(2, LIMIT 1) -> ToDump(-, SNAPLEN 1); DriverManager(wait 1, print \"first\", wait 2, print \"second\", stop)";
    let said =
        program(&["run", "--simtime", "-e", capture]).output().expect("the program can be started").stdout;
    // The capture's header, and a packet of one byte.
    assert!(said.starts_with(&[0xd4, 0xc3, 0xb2, 0xa1]));
    assert_eq!((&said[24..30], &said[30 + 17..]), (&b"first\n"[..], &b"second\n"[..]));
}

/// A pattern stands for the elements that have the handler; so does a class.
#[test]
fn patterns_and_classes_stand_for_elements() {
    check(
        clique(&["run", "-e", COUNTS, "-h", "[cd].byte_count"]),
        expect![[r#"
        exit status: 0
        --- output
        c.byte_count:
        345

        d.byte_count:
        345

    "#]],
    );
    check(
        clique(&["run", "-e", COUNTS, "-h", "*.limit"]),
        expect![[r#"
        exit status: 0
        --- output
        s.limit:
        5

    "#]],
    );
    check(
        clique(&["run", "-e", COUNTS, "-h", "Counter.count"]),
        expect![[r#"
        exit status: 0
        --- output
        c.count:
        5

    "#]],
    );
}

/// The run went well, so what can be read is printed.
#[test]
fn handlers_that_cannot_be_read() {
    let handlers =
        ["-h", "x.count", "-h", "y*.count", "-h", "c.cont", "-h", "c.reset", "-h", "stop", "-h", "c.count"];
    check(
        clique(&[&["run", "-e", COUNTS][..], &handlers].concat()),
        expect![[r#"
        exit status: 3
        --- output
        c.count:
        5

        --- messages
        no element 'x'
        no element matching 'y*'
        no 'c.cont' handler
        'c.reset' is a write handler
        'stop' is a write handler
    "#]],
    );
}

#[test]
fn a_configuration_is_read_from_standard_input() {
    let expected = "exit status: 0\n--- output\n5\n";
    assert_eq!(clique_with(COUNTS, &["run", "-h", "c.count"]), expected);
    assert_eq!(clique_with(COUNTS, &["run", "-", "-h", "c.count"]), expected);
    check(
        clique_with("x", &["run"]),
        expect![[r#"
            exit status: 1
            --- messages
            Error: undeclared element 'x'
               ,-[ <stdin>:1:1 ]
               |
             1 | x
               | |
               | `-- expected the name of an element declared before, or of an element class; declare it with 'x :: CLASS'
            ---'
        "#]],
    );
}

#[test]
fn a_missing_file_is_an_error() {
    check(
        clique(&["run", "no/such.click"]),
        expect![[r#"
        exit status: 1
        --- messages
        no/such.click: No such file or directory
    "#]],
    );
}

/// Errors name file, line and column, show the line, and say what is similar; all are reported.
#[test]
fn errors_show_the_place() {
    let dir = tempfile::tempdir().unwrap();
    let config = "// three errors\nInfiniteSource -> Disacrd;\na :: Counter -> b :: Countr;\n";
    std::fs::write(dir.path().join("bad.click"), config).unwrap();
    check(
        clique_in(dir.path(), &["run", "bad.click"]),
        expect![[r#"
        exit status: 1
        --- messages
        Error: undeclared element 'Disacrd'
           ,-[ bad.click:2:19 ]
           |
         2 | InfiniteSource -> Disacrd;
           |                   ^^^|^^^
           |                      `----- unknown element class 'Disacrd'; did you mean 'Discard'?
        ---'
        Error: unknown element class 'Countr'
           ,-[ bad.click:3:22 ]
           |
         3 | a :: Counter -> b :: Countr;
           |                      ^^^|^^
           |                         `---- did you mean 'Counter'?
        ---'
        Error: 'a :: Counter' input 0 unused
           ,-[ bad.click:3:1 ]
           |
         3 | a :: Counter -> b :: Countr;
           | |
           | `-- connect it, or feed it from Idle
        ---'
    "#]],
    );
    let config = "s :: InfiniteSource(LIMIT five,\n  BURST -) -> Discard(BURST x);\n";
    std::fs::write(dir.path().join("bad.click"), config).unwrap();
    check(
        without_reasons(clique_in(dir.path(), &["run", "bad.click"])),
        expect![[r#"
            exit status: 1
            --- messages
            Error: While configuring 's :: InfiniteSource': LIMIT: ...
               ,-[ bad.click:1:27 ]
               |
             1 | s :: InfiniteSource(LIMIT five,
               |                           ^^|^
               |                             `--- expected integer, not 'five'
            ---'
            Error: While configuring 's :: InfiniteSource': BURST: ...
               ,-[ bad.click:2:9 ]
               |
             2 |   BURST -) -> Discard(BURST x);
               |         |
               |         `-- expected integer, not '-'
            ---'
            Error: While configuring 'Discard@2 :: Discard': BURST: ...
               ,-[ bad.click:2:29 ]
               |
             2 |   BURST -) -> Discard(BURST x);
               |                             |
               |                             `-- expected integer, not 'x'
            ---'
        "#]],
    );
}

#[test]
fn parameters_replace_values_and_unknown_ones_are_warned_of() {
    let config = "define($LIMIT 3); InfiniteSource(LIMIT $LIMIT, STOP true) -> d :: Discard";
    let run =
        |parameters: &[&str]| clique(&[&["run", "-e", config, "-h", "d.count"][..], parameters].concat());
    assert_eq!(run(&[]), "exit status: 0\n--- output\n3\n");
    assert_eq!(run(&["LIMIT=8"]), "exit status: 0\n--- output\n8\n");
    // The configuration runs with its own value, which is hardly what was meant.
    assert_eq!(
        run(&["LIMI=8"]),
        "exit status: 0\n--- output\n3\n--- messages\nWarning: the configuration has no parameter '$LIMI'\n"
    );
    let checked = clique(&["check", "-e", "Idle -> Print(${A}x$AB) -> Discard", "A=1", "B=1", "AB=1"]);
    assert!(checked.contains("has no parameter '$B'\n") && checked.contains("1 warning\n"), "{checked}");
    check(
        run(&["LIMIT=8", "LIMIT=9"]),
        expect![[r#"
        exit status: 2
        --- messages
        clique run: parameter 'LIMIT' is given twice
    "#]],
    );
}

#[test]
fn required_libraries_are_found_in_the_path() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("lib/conf")).unwrap();
    std::fs::write(dir.path().join("lib/conf/end.click"), "elementclass End { input -> Discard }").unwrap();
    let config = "require(library end.click); InfiniteSource(LIMIT 2, STOP true) -> e :: End";
    let arguments = ["run", "-e", config, "-h", "e/Discard@1.count"];
    let found = clique_in(dir.path(), &[&arguments[..], &["-C", "lib"]].concat());
    assert_eq!(found, "exit status: 0\n--- output\n2\n");
    let found = text(program(&arguments).current_dir(dir.path()).env("CLICKPATH", "x:lib").output().unwrap());
    assert_eq!(found, "exit status: 0\n--- output\n2\n");
    assert!(clique(&arguments).contains("library 'end.click' not found"));
}

#[test]
fn bad_command_lines() {
    for arguments in
        [&["run", "-z"][..], &["run", "-j", "0"], &["run", "a", "b"], &["run", "-e", "", "a"], &["walk"], &[]]
    {
        let found = clique(arguments);
        assert!(found.starts_with("exit status: 2\n--- messages\n"), "{arguments:?}: {found}");
    }
}

#[test]
fn the_flat_configuration_is_written_to_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let config = "elementclass E { input -> Counter -> Discard } InfiniteSource -> e :: E";
    assert_eq!(clique_in(dir.path(), &["run", "-q", "-o", "flat", "-e", config]), "exit status: 0\n");
    check(
        std::fs::read_to_string(dir.path().join("flat")).unwrap_or_default(),
        expect![[r#"
        InfiniteSource@1 :: InfiniteSource;
        e/Counter@1 :: Counter;
        e/Discard@2 :: Discard;

        InfiniteSource@1 -> e/Counter@1
            -> e/Discard@2;
    "#]],
    );
    check(
        clique_in(dir.path(), &["run", "-q", "-o", "no/such/dir", "-e", config]),
        expect![[r#"
        exit status: 3
        --- messages
        no/such/dir: No such file or directory
    "#]],
    );
}

/// A number, a boolean, or neither.
#[test]
fn an_exit_handlers_value_is_the_status() {
    for (handler, status) in [("c.count", 5), ("c.class", 3), ("s.active", 0), ("x.y", 3)] {
        let found = clique(&["run", "-e", COUNTS, "-x", handler]);
        assert!(found.starts_with(&format!("exit status: {status}\n")), "{handler}: {found}");
    }
}

#[test]
fn nothing_to_run() {
    check(
        clique(&["run", "-e", "// nothing"]),
        expect![[r#"
        exit status: 0
        --- messages
        warning: config: configuration has no elements, exiting
    "#]],
    );
    assert_eq!(clique(&["run", "-w", "-e", "// nothing"]), "exit status: 0\n");
    assert_eq!(clique(&["run", "-q", "-e", "// nothing"]), "exit status: 0\n");
}

#[test]
fn the_times_of_a_run_are_printed() {
    check(
        clique(&["run", "-t", "-e", COUNTS]).replace(char::is_numeric, "N"),
        expect![[r#"
        exit status: N
        --- output
        N.NNNu N.NNNs N:NN.NN
    "#]],
    );
}

/// Several workers, real and simulated time, whatever the number of packets at a time: the same counts.
#[test]
fn ways_to_run() {
    for options in
        [&["-j", "2"][..], &["-j2", "-a=false"], &["--simtime"], &["--simtime=5", "-j3"], &["--vector", "1"]]
    {
        let found = clique(&[&["run", "-e", COUNTS, "-h", "d.count"], options].concat());
        assert_eq!(found, "exit status: 0\n--- output\n5\n", "{options:?}");
    }
}

#[test]
fn statistics_as_json() {
    let output = program(&["run", "--json", "--simtime", "-e", COUNTS, "-h", "c.count", "-h", "c.x"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(output.stderr, b"");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["handlers"], serde_json::json!([{ "name": "c.count", "value": "5" }]));
    assert_eq!(report["errors"], serde_json::json!(["no 'c.x' handler"]));
    assert_eq!(report["diagnostics"], serde_json::json!([]));
    assert_eq!((&report["elements"], &report["workers"], &report["seed"]), (&3.into(), &1.into(), &0.into()));
    assert!(report["dispatches"].as_u64() >= Some(10), "{report}");
}

/// Packets that come to nothing are counted where it happens, on all workers.
#[test]
fn drops_as_json() {
    let config = "InfiniteSource(LIMIT 5, STOP true) -> c :: Classifier(0/0123) -> Discard";
    let output = program(&["run", "--json", "-e", config]).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let drop = &report["drops"][0];
    assert_eq!((&drop["element"], &drop["packets"]), (&"c".into(), &5.into()), "{report}");
}

/// Tools find the place without parsing messages.
#[test]
fn diagnostics_as_json() {
    let output = program(&["run", "--json", "-e", "InfiniteSource ->\n Disacrd"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let error = &report["diagnostics"][0];
    assert_eq!((&error["file"], &error["line"], &error["column"]), (&"config".into(), &2.into(), &2.into()));
    assert_eq!(error["help"], "unknown element class 'Disacrd'; did you mean 'Discard'?");
}

/// Output that cannot be written is an error; a reader that has seen enough is none.
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = program(&["run", "-e", COUNTS, "-h", "c.count"]).stdout(full).output().unwrap();
    check(
        text(output),
        expect![[r#"
        exit status: 3
        --- messages
        standard output: No space left on device
    "#]],
    );
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = program(&["run", "-e", COUNTS, "-h", "c.count"]).stdout(writer).output().unwrap();
    assert_eq!(text(output), "exit status: 0\n");
}

/// A process that is ended should the test fail.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the program and waits until it listens to signals.
fn start(arguments: &[&str]) -> Running {
    let child = program(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let running = Running(child);
    let tasks = format!("/proc/{}/task", running.0.id());
    let deadline = Instant::now() + Duration::from_secs(60);
    let listens = || {
        let tasks = std::fs::read_dir(&tasks).into_iter().flatten().flatten();
        tasks
            .map(|task| std::fs::read_to_string(task.path().join("comm")))
            .any(|name| name.is_ok_and(|name| name.trim() == "signals"))
    };
    while !listens() {
        assert!(Instant::now() < deadline, "the router did not start");
        std::thread::sleep(Duration::from_millis(5));
    }
    running
}

fn signal(running: &Running, signal: Signal) {
    let id = Pid::from_child(&running.0);
    kill_process(id, signal).unwrap();
}

/// The router stops in order: handlers are read afterwards, and the status is that of a router that stopped by itself.
#[test]
fn signals_stop_the_router() {
    let busy = "InfiniteSource -> c :: Counter -> Discard";
    let idle = "InfiniteSource(ACTIVE false) -> c :: Counter -> Discard";
    for config in [busy, idle] {
        for (kind, options) in
            [(Signal::INT, &["-j1"][..]), (Signal::TERM, &["-j2"]), (Signal::INT, &["--simtime"])]
        {
            let mut running = start(&[&["run", "-e", config, "-h", "c.class"], options].concat());
            signal(&running, kind);
            let status = running.0.wait().unwrap();
            let mut output = String::new();
            running.0.stdout.take().unwrap().read_to_string(&mut output).unwrap();
            assert_eq!((status.code(), output.as_str()), (Some(0), "Counter\n"), "{config} {options:?}");
        }
    }
}

/// A terminal that is closed stops the router in order, unless the program was started to go on without it, as by nohup(1).
#[test]
fn a_hangup_stops_the_router_unless_ignored() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:\t")).unwrap();
    if u64::from_str_radix(ignored, 16).unwrap() & 1 == 0 {
        let mut running = start(&["run", "-e", "Idle -> c :: Counter -> Discard", "-h", "c.class"]);
        signal(&running, Signal::HUP);
        assert_eq!(ended(&mut running.0).code(), Some(0));
        let mut output = String::new();
        running.0.stdout.take().unwrap().read_to_string(&mut output).unwrap();
        assert_eq!(output, "Counter\n");
    }
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_clique"), "run", "-e"]);
    let script = "Script(print \"$(now)\", wait 0.5, stop)";
    let mut running = Running(shell.arg(script).stdout(Stdio::piped()).spawn().unwrap());
    running.0.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    signal(&running, Signal::HUP);
    assert_eq!(ended(&mut running.0).code(), Some(0));
}

/// The end of a program, which must come.
fn ended(child: &mut Child) -> std::process::ExitStatus {
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("the program does not end");
}

/// A router whose output has no reader stops, but not if it has a control socket, or if only its messages are unread.
#[test]
fn a_router_stops_when_its_output_has_no_reader() {
    let socket = "; ControlSocket(TCP, 0)";
    for (more, both, goes_on) in [("", true, false), ("", false, true), (socket, true, true)] {
        let config = format!("RatedSource(RATE 1000) -> Print(x) -> Discard{more}");
        let (mut reader, writer) = std::io::pipe().unwrap();
        let output = if both { writer.try_clone().unwrap().into() } else { Stdio::null() };
        let spawned = program(&["run", "-e", &config]).stdout(output).stderr(writer).spawn();
        let mut running = Running(spawned.unwrap());
        reader.read_exact(&mut [0; 10]).unwrap();
        drop(reader);
        if goes_on {
            std::thread::sleep(Duration::from_millis(500));
            assert_eq!(running.0.try_wait().unwrap(), None, "{config}");
        } else {
            assert_eq!(ended(&mut running.0).code(), Some(0));
        }
    }
}

/// A signal that comes a while after the first does not wait for the router, which writes to a pipe that nothing reads here.
#[test]
fn second_signal_ends_at_once() {
    let mut running = start(&["run", "-e", "InfiniteSource -> Print -> Discard"]);
    // The router runs, and fills the pipe, which holds 64 KiB (pipe(7)) with gaps at the ends of pages.
    while rustix::io::ioctl_fionread(running.0.stderr.as_ref().unwrap()).unwrap() < 60_000 {
        std::thread::sleep(Duration::from_millis(5));
    }
    signal(&running, Signal::INT);
    std::thread::sleep(Duration::from_millis(1500));
    assert!(running.0.try_wait().unwrap().is_none(), "the pipe was read");
    signal(&running, Signal::TERM);
    assert_eq!(running.0.wait().unwrap().signal(), Some(15));
}

/// Two signals at once ask for one stop, in order: timeout(1) sends one to the process and another to its group.
#[test]
fn two_signals_at_once_stop_the_router_in_order() {
    let mut running = start(&["run", "-e", "InfiniteSource -> c :: Counter -> Discard", "-h", "c.class"]);
    signal(&running, Signal::STOP);
    let state = format!("/proc/{}/stat", running.0.id());
    while !std::fs::read_to_string(&state).unwrap().contains(") T ") {
        std::thread::sleep(Duration::from_millis(1));
    }
    for kind in [Signal::INT, Signal::TERM, Signal::CONT] {
        signal(&running, kind);
    }
    let status = running.0.wait().unwrap();
    let mut output = String::new();
    running.0.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    assert_eq!((status.code(), output.as_str()), (Some(0), "Counter\n"));
}

/// A signal that comes while the elements are set up stops the router in order as soon as it stands.
#[test]
fn a_signal_during_set_up_is_kept() {
    // The shell's process becomes the program.
    let command = "exec $0 run -e \"Script(set x \\$(kill TERM $$), print 1); InfiniteSource -> c :: Counter -> Discard\" \
                   -h c.class";
    let output = Command::new("sh").args(["-c", command, env!("CARGO_BIN_EXE_clique")]).output().unwrap();
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"1\nCounter\n"[..]), "{output:?}");
}

/// A script that steers the driver comes to its end at one signal, however many stops it waits for.
#[test]
fn a_signal_reaches_the_end_of_a_script() {
    let script = "DriverManager(pause, print 1, pause, print 2, pause, print 3)";
    let mut running = start(&["run", "-e", &format!("InfiniteSource -> Discard; {script}")]);
    signal(&running, Signal::INT);
    let status = running.0.wait().unwrap();
    let mut output = String::new();
    running.0.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    assert_eq!((status.code(), output.as_str()), (Some(0), "1\n2\n3\n"));
}

/// Configurations that want interfaces in memory can be set up and looked at.
#[test]
fn interfaces_in_memory() {
    let config = "FromMemory(eth0) -> c :: Counter -> ToMemory(DEVNAME \"eth1\")";
    check(
        clique(&["run", "-q", "-j2", "-e", config, "-h", "c.count"]),
        expect![[r#"
        exit status: 0
        --- output
        0
        --- messages
        Warning: nothing arrives at the interfaces in memory: 'eth0', 'eth1'
    "#]],
    );
}

/// Interfaces are those of the program's network namespace, although `/sys` shows another's: here its `eth0`, if it has one, is not
/// ours.
#[test]
fn interfaces_are_those_of_the_own_network_namespace() {
    let set_up =
        "ip link add c0 address 02:00:00:00:00:07 type veth peer name eth0 address 02:00:00:00:00:08 &&
                  ip address add 10.9.8.7/24 dev c0 && exec \"$0\" run -e \"$1\"";
    let config = "AddressInfo(a c0:eth, b c0, c eth0:eth); InfiniteSource(LIMIT 1, STOP true)
                  -> EtherEncap(0x800, a, c) -> Print(x, 14) -> Discard;";
    let program = env!("CARGO_BIN_EXE_clique");
    let mut command = std::process::Command::new("unshare");
    let output = command.args(["--net", "sh", "-c", set_up, program, config]).output();
    let Ok(output) = output.inspect_err(|error| eprintln!("skipped: unshare: {error}")) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("not permitted") {
        return eprintln!("skipped: {said}");
    }
    assert!(said.contains("02000000 00080200 00000007 0800"), "{said}");
}

/// What the program says as objects: what each line has in these fields.
fn said(arguments: &[&str], fields: &[&str]) -> Vec<Vec<String>> {
    let output = program(&[&["run", "--log-format", "json"], arguments].concat()).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let object = |line| serde_json::from_str::<serde_json::Value>(line).unwrap_or_else(|_| panic!("{line}"));
    let field = |object: &serde_json::Value, name: &str| object[name].as_str().unwrap_or("none").to_owned();
    text.lines().map(object).map(|object| fields.iter().map(|name| field(&object, name)).collect()).collect()
}

/// A line names the element and says why, ten times a second; then it is said how many more there were. `click` says what Click does.
#[test]
fn messages_name_elements_and_reasons_and_are_limited() {
    let config = "InfiniteSource(LIMIT 25) -> c :: CheckIPHeader(VERBOSE true) -> Discard; \
         i :: InfiniteSource(DATA x, LIMIT 3, ACTIVE false) -> SetPacketType(BROADCAST) -> d :: DropBroadcasts -> Print(no) -> Discard; \
         Script(wait 1.5, write i.active true, wait 0.1, stop)";
    let output = program(&["run", "--simtime", "-e", config]).output().unwrap();
    let lines = without_times(&String::from_utf8(output.stderr).unwrap());
    let expected = "TIME WARN  c: IP header check failed: bad IP version\n".repeat(10)
        + "TIME WARN  c :: CheckIPHeader: 15 more messages were held back\n\
           TIME WARN  d :: DropBroadcasts: dropped a packet: link-layer broadcast or multicast\n";
    assert_eq!(lines, expected);
    let fields = said(&["--simtime", "-e", config], &["level", "element", "class", "reason"]);
    assert_eq!(fields[0], ["warning", "c", "CheckIPHeader", "bad IP version"]);
    assert_eq!(fields[10], ["warning", "c", "CheckIPHeader", "none"]);
    assert_eq!(fields[11], ["warning", "d", "DropBroadcasts", "link-layer broadcast or multicast"]);
    let output = program(&["run", "--log-level", "error", "--simtime", "-e", config]).output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    // Messages that are still held back when the router ends are told of, too.
    let ends = "InfiniteSource(LIMIT 11, STOP true) -> c :: CheckIPHeader(VERBOSE true) -> Discard";
    let last = said(&["-e", ends], &["message"]).concat().pop();
    assert_eq!(last.as_deref(), Some("c :: CheckIPHeader: 1 more message was held back"));
    // What is printed on purpose is always written, and Click's messages by Click's name.
    let prints = "InfiniteSource(LIMIT 25, STOP true) -> Print(x) -> Discard";
    assert_eq!(said(&["--log-level", "error", "-e", prints], &["element"]).len(), 25);
    let click = clique(&["click", "--simtime", "-e", config]);
    assert_eq!(click.matches("c: IP header check failed: bad IP version\n").count(), 25, "{click}");
    assert!(click.contains("\nDropBroadcasts: dropped a packet\n"), "{click}");
}

/// Each message is an object, with the element that says it; the same lines are texts otherwise.
#[test]
fn messages_are_objects_where_that_is_asked_for() {
    let config = "elementclass C { input -> p :: Print(\"a\\\\b \\\"c\") -> output } \
         InfiniteSource(LIMIT 2, STOP true) -> c :: C -> Discard; Idle -> FromNowhere(x) -> Discard;";
    let good = config.split_once(" Idle").unwrap().0;
    let lines = said(&["-e", good], &["level", "element", "class"]);
    assert_eq!(lines, [["info", "c/p", "Print"], ["info", "c/p", "Print"]]);
    let texts = program(&["run", "-e", good]).output().unwrap().stderr;
    let messages = said(&["-e", good], &["message"]).concat();
    assert_eq!(messages.iter().map(|message| format!("{message}\n")).collect::<String>().as_bytes(), texts);
    for time in said(&["-e", good], &["time"]).concat() {
        assert!(time.strip_suffix('Z').is_some_and(is_time), "{time}");
    }
    // What is wrong with a configuration, and with what was asked for.
    let lines = said(&["-e", config], &["level", "message"]);
    assert!(lines.len() == 1 && lines[0][0] == "error" && lines[0][1].contains("FromNowhere"), "{lines:?}");
    let lines = said(&["-e", good, "-h", "c.none"], &["level", "element"]);
    assert_eq!(lines.last().unwrap(), &["error", "none"], "{lines:?}");
    let lines = said(&["-q", "-e", "Message(odd, WARNING)"], &["level", "message"]);
    assert!(lines.iter().any(|line| line[0] == "warning" && line[1].contains("odd")), "{lines:?}");
}

/// Lines for the journal begin with a priority and have no time; those for anything else, and Click's, do as they always do.
#[test]
fn the_journal_gets_priorities() {
    let directory = tempfile::tempdir().unwrap();
    let said = |arguments: &[&str], is_journal: bool| {
        let log = std::fs::File::create(directory.path().join("log")).unwrap();
        let place = std::os::unix::fs::MetadataExt::ino(&log.metadata().unwrap());
        let device = std::os::unix::fs::MetadataExt::dev(&log.metadata().unwrap());
        let stream = format!("{device}:{}", if is_journal { place } else { place + 1 });
        let mut command = program(arguments);
        assert!(command.env("JOURNAL_STREAM", stream).stderr(log).status().unwrap().success());
        without_times(&std::fs::read_to_string(directory.path().join("log")).unwrap())
    };
    let config = "InfiniteSource(LIMIT 1, STOP true) -> Print(x, 0) -> c :: CheckIPHeader -> Discard";
    let run = ["run", "-e", config];
    let (printed, message) = ("x:   69\n", "c: IP header check failed: bad IP version\n");
    assert_eq!(said(&run, true), format!("<6>{printed}<4>{message}"));
    assert_eq!(said(&run, false), format!("{printed}TIME WARN  {message}"));
    assert_eq!(said(&["click", "-e", config], true), format!("{printed}{message}"));
    let json = said(&["run", "--log-format", "json", "-e", config], true);
    assert!(json.lines().count() == 2 && json.lines().all(|line| line.starts_with("{\"time\"")), "{json}");
}
