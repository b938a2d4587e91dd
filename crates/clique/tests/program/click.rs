//! The program called as `click`.

use crate::{clique, clique_with, text, without_reasons};
use expect_test::{Expect, expect};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Runs the program under the name `click`.
fn click(arguments: &[&str]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("click");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_clique"), &link).unwrap();
    let mut command = Command::new(link);
    command.args(arguments).stdin(Stdio::null()).env("LANG", "C").env_remove("CLICKPATH");
    text(command.output().unwrap())
}

fn check(found: String, expected: Expect) {
    expected.assert_eq(&found);
}

const COUNTS: &str = "s :: InfiniteSource(LIMIT $N, STOP true) -> c :: Counter -> d :: Discard;";

#[test]
fn runs_and_reads() {
    check(
        click(&["-e", COUNTS, "N=4", "-h", "c.count", "--hand=*.byte_count"]),
        expect![[r#"
        exit status: 0
        --- output
        c.count:
        4

        c.byte_count:
        276

        d.byte_count:
        276

    "#]],
    );
    check(
        click(&["-qe", COUNTS, "N=4", "-hc.count"]),
        expect![[r#"
        exit status: 0
        --- output
        0
    "#]],
    );
    check(
        click(&["-x", "c.count", "--expr", COUNTS, "N=4", "--simtime", "-j2", "-a"]),
        expect![[r#"
        exit status: 4
    "#]],
    );
}

/// What FastClick hands to DPDK says how many threads there are, and nothing else.
#[test]
fn arguments_for_dpdk() {
    let config = "Script(print $(.workers), stop)";
    let run = |arguments: &[&str]| click(&[&["--simtime"], arguments, &["-e", config]].concat());
    for (arguments, threads) in [
        (&["--dpdk", "-l", "0-1,7", "-n", "4", "-q", "--"][..], 3),
        (&["--dpdk", "-c", "0x3", "--"][..], 2),
        (&["--dpdk", "-v", "--"][..], 1),
        (&["--dpdk", "-l", "0-3", "--", "-j2"][..], 2),
        (&["-c", "0x7", "-n", "4", "--"][..], 3),
    ] {
        let told = run(arguments);
        assert!(told.contains(&format!("\n{threads}\n")), "{told}");
        assert!(told.contains("arguments for DPDK are ignored"), "{told}");
    }
    assert!(!run(&["-j2"]).contains("DPDK"));
}

#[test]
fn every_name_for_the_driver_leads_there() {
    let expected = "exit status: 0\n--- output\n4\n";
    assert_eq!(clique(&["click", "-e", COUNTS, "N=4", "-h", "c.count"]), expected);
    assert_eq!(clique_with(COUNTS, &["click", "N=4", "-h", "c.count"]), expected);
    let mut command = Command::new(env!("CARGO_BIN_EXE_clique"));
    command.arg0("/usr/bin/click").args(["-e", COUNTS, "N=4", "-h", "c.count"]);
    assert_eq!(text(command.output().unwrap()), expected);
}

/// The last line is said only if the text itself is good.
#[test]
fn errors_are_told_as_by_click() {
    check(
        click(&["-e", "InfiniteSource -> Disacrd(\n"]),
        expect![[r#"
        exit status: 1
        --- messages
        config:2: expected ')'
        config:1: undeclared element 'Disacrd'
    "#]],
    );
    check(
        without_reasons(click(&["-e", "InfiniteSource(LIMIT x, BURST y) -> Discard"])),
        expect![[r#"
            exit status: 1
            --- messages
            config:1: While configuring 'InfiniteSource@1 :: InfiniteSource':
              LIMIT: ...
              BURST: ...
            Router could not be initialized!
        "#]],
    );
    check(
        click(&["-e", "InfiniteSource -> [1] Discard"]),
        expect![[r#"
        exit status: 1
        --- messages
        config:1: 'Discard@2 :: Discard' has no input 1
        Router could not be initialized!
    "#]],
    );
    check(
        click(&["no/such.click"]),
        expect![[r#"
        exit status: 1
        --- messages
        no/such.click: No such file or directory
    "#]],
    );
    check(
        click(&["-e", COUNTS, "N=1", "-h", "c.x", "-h", "c.count"]),
        expect![[r#"
        exit status: 1
        --- output
        c.count:
        1

        --- messages
        no 'c.x' handler
    "#]],
    );
    check(
        click(&["-e", COUNTS, "N=1", "-x", "c.class"]),
        expect![[r#"
        exit status: 255
        --- messages
        exit handler value should be integer
    "#]],
    );
}

#[test]
fn mistakes_on_the_command_line_are_named() {
    check(
        click(&["--thr=x"]),
        expect![[r#"
        exit status: 1
        --- messages
        click: '--threads' expects an integer, not 'x'
        Usage: click [OPTION]... [ROUTERFILE]
        Try 'click --help' for more information.
    "#]],
    );
    check(
        click(&["a.click", "-e", "b"]),
        expect![[r#"
        exit status: 1
        --- messages
        router configuration specified twice
        Usage: click [OPTION]... [ROUTERFILE]
        Try 'click --help' for more information.
    "#]],
    );
    check(
        click(&["-e", COUNTS, "N=1", "N=2", "-h", "c.count"]),
        expect![[r#"
        exit status: 0
        --- output
        1
        --- messages
        parameter 'N' multiply defined
    "#]],
    );
    for good in ["-a=0", "-a1", "--cpu=70", "--no-affinity", "--affinity"] {
        assert_eq!(click(&[good, "-e", COUNTS, "N=1", "-h", "c.count"]), "exit status: 0\n--- output\n1\n");
    }
    check(
        click(&["-a=x"]),
        expect![[r#"
        exit status: 1
        --- messages
        click: '-a' expects an integer, not 'x'
        Usage: click [OPTION]... [ROUTERFILE]
        Try 'click --help' for more information.
    "#]],
    );
    for found in [click(&["--", "-q"]), clique(&["click", "--", "-q"])] {
        assert_eq!(found, "exit status: 1\n--- messages\n-q: No such file or directory\n");
    }
    assert!(click(&["--help"]).starts_with("exit status: 0\n--- output\nUsage: click "));
    assert!(click(&["--version"]).starts_with("exit status: 0\n--- output\nclick (Clique "));
}

/// Who starts the driver can hand a connection on to it.
#[test]
fn connections_from_outside() {
    let (own, its) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_clique"));
    // Its standard input is the connection, whose descriptor therefore has the number 0.
    let child = command
        .args(["click", "--socket", "0", "-R", "-e", "Idle -> c :: Counter -> Discard"])
        .stdin(std::os::fd::OwnedFd::from(its))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(command);
    let mut lines = BufReader::new(own.try_clone().unwrap()).lines().map(Result::unwrap);
    let mut ask = |command: &str, answers: &[&str]| {
        (&own).write_all(format!("{command}\n").as_bytes()).unwrap();
        for answer in answers {
            assert_eq!(lines.next().as_deref(), Some(*answer), "{command}");
        }
    };
    ask("READ c.class", &["Click::ControlSocket/1.3", "200 Read handler 'c.class' OK", "DATA 7"]);
    // Another configuration keeps it.
    ask("WRITE hotconfig Idle -> n :: Discard", &["Counter200 Write handler 'hotconfig' OK"]);
    ask("CHECKREAD n.name", &["200 Read handler 'n.name' OK"]);
    ask("CHECKREAD c.name", &["510 No element named 'c'"]);
    ask("WRITE stop", &["200 Write handler 'stop' OK"]);
    assert_eq!(lines.next(), None);
    assert_eq!(text(child.wait_with_output().unwrap()), "exit status: 0\n");
    let found = click(&["--socket", "77", "-e", ""]);
    assert!(
        found.contains("While initializing 'click_driver@@ControlSocket :: ControlSocket':\n  socket 77: "),
        "{found}"
    );
}

#[test]
fn global_handlers_print_as_in_click() {
    check(
        click(&["-qe", "require(package x) Idle -> Discard", "-h", "driver", "-h", "packages", "-h", "list"]),
        expect![[r#"
            exit status: 0
            --- output
            driver:
            userlevel

            packages:

            list:
            2
            Idle@1
            Discard@2

            --- messages
            config:1: warning: package 'x' is not loaded: all element classes are part of the program
        "#]],
    );
    check(
        click(&["-qe", "", "-h", "hotconfig"]),
        expect![[r#"
        exit status: 1
        --- messages
        no 'hotconfig' handler
    "#]],
    );
    check(
        click(&["-qe", "", "-h", "handlers"]),
        expect![[r#"
        exit status: 0
        --- output
        version	r
        driver	r
        config	r
        flatconfig	r
        requirements	r
        handlers	r
        list	r
        stop	w
        classes	r
        packages	r
        timewarp	r
        workers	r
        rcu	r
        load	r+
        useful_kcycles	r+
    "#]],
    );
}

/// Who requires a compact configuration gets it flat.
#[test]
fn a_required_compact_configuration_is_flat() {
    let config = |text: &str| click(&["-qe", text, "-h", "config"]);
    assert_eq!(config("a  ::  Idle;"), "exit status: 0\n--- output\na  ::  Idle;\n");
    assert_eq!(
        config("require(compact_config) a  ::  Idle;"),
        "exit status: 0\n--- output\nrequire(compact_config);\n\na :: Idle;\n\n"
    );
}

/// A class means also those that extend it, and an interface those that have it.
#[test]
fn handlers_of_kinds() {
    let config = "Idle -> a :: Queue(7) -> Unqueue -> b :: MixedQueue(8) -> Discard; Idle -> r :: StaticIPLookup(1/8 0) -> Discard; Idle -> [1] b";
    let read = |handler: &str| click(&["-qe", config, "-h", handler]);
    let both = "exit status: 0\n--- output\na.capacity:\n7\n\nb.capacity:\n8\n\n";
    for kind in ["Storage", "Queue", "NotifierQueue"] {
        assert_eq!(read(&format!("{kind}.capacity")), both, "{kind}");
    }
    assert_eq!(read("MixedQueue.capacity"), "exit status: 0\n--- output\nb.capacity:\n8\n\n");
    let named = "exit status: 0\n--- output\nr.class:\nStaticIPLookup\n\n";
    assert_eq!(read("IPRouteTable.class"), named);
    let error = "exit status: 1\n--- messages\nno element 'IPRouter'\n";
    assert_eq!(read("IPRouter.table"), error);
}

#[test]
fn an_exit_handler_may_have_a_parameter() {
    let exit =
        |handler: &str| click(&["-qe", "s :: Script(TYPE PASSIVE, return $(add $args 1))", "-x", handler]);
    assert_eq!(exit("s.run 6"), "exit status: 7\n");
    check(
        exit("s.nope"),
        expect![[r#"
        exit status: 255
        --- messages
        no 's.nope' read handler
    "#]],
    );
    check(
        exit("t.run"),
        expect![[r#"
        exit status: 255
        --- messages
        no element named 't'
    "#]],
    );
}

/// Ports that do not fit are complained about as in Click: all in the order of its stages.
#[test]
fn ports_that_do_not_fit() {
    check(
        click(&["-e", "InfiniteSource -> t :: ToDevice(x);\nt -> [2] t"]),
        expect![[r#"
        exit status: 1
        --- messages
        config:1: 't :: ToDevice' has no input 2
        Router could not be initialized!
    "#]],
    );
    check(
        click(&["-e", "s :: TimedSource -> Unqueue -> Discard;\ns -> Discard"]),
        expect![[r#"
        exit status: 1
        --- messages
        's :: TimedSource' push output 0 connected to 'Unqueue@2 :: Unqueue' pull input 0
        Router could not be initialized!
    "#]],
    );
    check(
        click(&["-e", "s :: InfiniteSource -> Discard;\ns -> Discard; s -> Discard; Counter -> Discard"]),
        expect![[r#"
            exit status: 1
            --- messages
            config:1: illegal reuse of 's :: InfiniteSource' push output 0
            config:1: illegal reuse of 's :: InfiniteSource' push output 0
            config:2: 'Counter@5 :: Counter' input 0 unused
            Router could not be initialized!
        "#]],
    );
}

/// All elements are configured before one is initialised, and so are the warnings told.
#[test]
fn warnings_of_configuring_come_first() {
    let config = "Idle -> p :: Pipeliner(NOUSELESS true) -> Queue -> u :: Unqueue(0) -> Discard";
    check(
        click(&["-qe", config]),
        expect![[r#"
            exit status: 0
            --- messages
            config:1: While configuring 'u :: Unqueue':
              warning: BURST size 0, no packets will be pulled
            p :: Pipeliner : Pipeline from 0 to 0
        "#]],
    );
}

#[test]
fn nothing_to_run() {
    check(
        click(&["-e", ""]),
        expect![[r#"
        exit status: 0
        --- messages
        warning: config: configuration has no elements, exiting
    "#]],
    );
    assert_eq!(click(&["-we", ""]), "exit status: 0\n");
    assert_eq!(click(&["--no-w", "-e", ""]), "exit status: 0\n");
}
