//! Scripts, seen from outside: what they print.

use crate::testing::{build, errors, run, run_and_read};
use elements_testing::run_to_end;
use proptest::prelude::*;
use router::Call;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// What a script prints, beside a counter `c`; it is stopped after ten seconds.
fn says(script: &str) -> String {
    run(&format!("c :: Counter; Idle -> c -> Discard; s :: Script({script}); Script(wait 10, stop)"))
}

#[test]
fn variables_and_quotes() {
    let script =
        "set x $(c.count), print $x, set x \"$(c.count)\", print $x, setq x \"$(c.count)\", print $x";
    assert_eq!(says(script), "0\n\"0\"\n0\n");
    let script =
        "print c.count, print \"c.count\", print '\"c.count\"', set x c.count, print $x, print $($x)";
    assert_eq!(says(script), "0\nc.count\n\"c.count\"\nc.count\n0\n");
    let process = std::process::id();
    assert_eq!(says("init x 5, printn $x, printn \"\\n\", print ${x}$y $$x"), format!("5\n5$y {process}x\n"));
    assert_eq!(says("export x $(add 1 2), print x, print s.x, write set x 7, print $(get x)"), "3\n3\n7\n");
    assert_eq!(
        says("print $(unquote \"a  b\"), printq length \"a b\", print length \"a b\""),
        "a  b\n3\n5\n"
    );
    assert_eq!(says("write set args a b c, print $(shift) $(shift args) $args"), "a b c\n");
}

#[test]
fn jumps_follow_labels_and_conditions() {
    let script = "set x 0, label begin_loop, print $x, set x $(s.add $x 1), goto begin_loop $(s.lt $x 5)";
    assert_eq!(says(script), "0\n1\n2\n3\n4\n");
    let script = "goto end maybe, print 1, goto x, print 2, label x, print 3";
    assert_eq!(says(script), "While executing 's :: Script':\n  bad condition 'maybe'\n1\n3\n");
    assert_eq!(says("set x a$x, print $x, goto begin $(lt $(length $x) 3)"), "a\naa\naaa\n");
    assert_eq!(says("label a, goto a"), "s :: Script: too many jumps, giving up\n");
}

#[test]
fn errors_name_the_script_and_the_call() {
    assert_eq!(
        says("print $(d.count), read c.nothing, write c.count 1, print c.count 1, write s.step x, print $?"),
        "While executing 's :: Script':\n  no element named 'd'\n$(d.count)  no 'c.nothing' read handler\n  \
         no 'c.count' write handler\n  read handler 'c.count' does not take parameters\n  \
         While calling 's.step x':\n    syntax error\n-22\n"
    );
    assert_eq!(
        says("read c.count, read class, error too bad, print 1"),
        "c.count:\n0\ns.class:\nScript\nWhile executing 's :: Script':\n  too bad\n"
    );
    assert_eq!(
        says("print >/no/such/file 1, print 2"),
        "While executing 's :: Script':\n  /no/such/file: No such file or directory\n2\n"
    );
}

#[test]
fn pause_and_wait_block_the_script() {
    let config = "s :: Script(print 1, pause, print 2, wait 5, print 3, pause 2, print 4, stop);
                  Script(print \"a\", wait 1, write s.step, print \"b\", wait 1, write s.step, print \"c\", wait 10, write s.step,
                         print \"d\", wait 1, write s.step 1)";
    assert_eq!(run(config), "1\na\n2\nb\n3\nc\nd\n4\n");
    // A wait that no step interrupts; time as an expansion.
    assert_eq!(says("print now, set t 1.5s, wait $t, print now"), "1000000000.000000\n1000000001.500000\n");
    assert_eq!(says("wait 1 mile, print 1"), "While initializing 's :: Script':\n  syntax error at 'wait'\n");
}

#[test]
fn passive_scripts_return_values() {
    let config = "p :: Script(TYPE PASSIVE, return $(add $# $1));
                  f :: Script(TYPE PASSIVE, goto small $(le $1 1), returnq $(mul $1 $(f.run $(sub $1 1))), label small, return 1);
                  e :: Script(TYPE PASSIVE, error no $args);
                  Script(print p.run 40 b, print f.run 10, print $(e.run way), write e.run, print $?, stop)";
    let said = "42\n3628800\nWhile executing 'Script@4 :: Script':\n  no way\n  While calling 'e.run':\n    no \n-1\n";
    assert_eq!(run(config), said.replacen("  no way\n", "  no way\n\n", 0));
}

#[test]
fn proxies_answer_to_any_name() {
    let config = "s :: Script(TYPE PROXY, goto nota $(ne $0 a), returnq \"you called 'a' $args\", label nota,
                             goto notb $(ne $0 b), returnq \"b: $write\", label notb, error bad handler);
                  Script(print s.a 1 2, write s.b, print s.b, print s.zzz, print s.class, stop)";
    let said = "you called 'a' 1 2\nb: false\nWhile executing 'Script@2 :: Script':\n  While calling 's.zzz':\n    bad handler\nScript\n";
    assert_eq!(run(config), said);
}

/// Each packet decides its own output, by what the elements behind the script have seen of those before it.
#[test]
fn packets_choose_their_output() {
    let config =
        "InfiniteSource(LIMIT 7, STOP true) -> s :: Script(TYPE PACKET, goto drop $(ge $(a.count) 3),
                      return $(mod $(add $(a.count) $(b.count)) 2), label drop, exit);
                  s[0] -> a :: Counter -> Discard; s[1] -> b :: Counter -> Discard";
    assert_eq!(run_and_read(config, &["a.count", "b.count", "s.drop_reasons"]), ["3", "2", "2\tscript\n"]);
    let config = "InfiniteSource(LIMIT 2, STOP true) -> s :: Script(print $input)[0, 1] => [0] a :: Discard, [0] Discard";
    assert_eq!(run_and_read(config, &["a.count"]), ["2"]);
    assert!(errors("Idle -> Script(TYPE PASSIVE)").contains("ports allowed only on PACKET scripts"));
    assert!(errors("Script(TYPE PACKET)").contains("PACKET script must have inputs"));
    assert!(errors("Script(TYPE SOMETIMES)").contains("bad TYPE"));
}

#[test]
fn instructions_read_and_write_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("f").display().to_string();
    let script = format!(
        "print >{file} $(c.count)a, print >>{file} \"b\", append c.count {file}, print cat {file}, save s.class {file}, \
         print catq {file}, print length $(cat {file})"
    );
    assert_eq!(says(&script), "0a\nb\n0\n\"Script\\n\"\n7\n");
}

/// Handlers of elements on another worker, also when scripts of two workers call each other.
#[test]
fn scripts_call_handlers_on_other_workers() {
    let config = "StaticThreadSched(source 1, q 1);
                  source :: InfiniteSource(LIMIT 100) -> c :: Counter -> Discard;
                  p :: Script(TYPE PASSIVE, goto last $(eq $1 0), return $1$(q.run $(sub $1 1)), label last, return .);
                  q :: Script(TYPE PASSIVE, return $1$(p.run $(sub $1 1)));
                  Script(wait 1, print c.count, print p.run 6, print $(q.run 5), write c.reset, print c.count, stop)";
    let mut router = build(config, 2, 32).unwrap_or_else(|errors| panic!("{errors}"));
    run_to_end(&mut router);
    assert_eq!(router.info().log.text(), "100\n654321.\n54321.\n0\n");
    assert_eq!(router.call(Call::read("p.run", "4")).as_deref(), Ok("4321."));
}

/// A packet's script switches the path that the packet takes, and reads what elements before it have counted.
#[test]
fn packets_read_and_write_the_elements_around_them() {
    let config = "InfiniteSource(LIMIT 5, STOP true) -> before :: Counter
                  -> Script(TYPE PACKET, write sw.switch $(mod $(after.count) 2)) -> after :: Counter
                  -> sw :: Switch -> a :: Counter -> Discard; sw[1] -> b :: Counter -> Discard";
    assert_eq!(run_and_read(config, &["after.count", "a.count", "b.count"]), ["5", "3", "2"]);
    let config = "InfiniteSource(LIMIT 3, STOP true) -> before :: Counter
                  -> Script(TYPE PACKET, print before.count, end) -> Discard";
    let mut router = build(config, 1, 1).unwrap_or_else(|errors| panic!("{errors}"));
    run_to_end(&mut router);
    assert_eq!(router.info().log.text(), "1\n2\n3\n");
}

/// In a pull path a packet waits for its script; what the script sends elsewhere is pushed there.
#[test]
fn packets_in_pull_paths() {
    let config =
        "InfiniteSource(LIMIT 6) -> q :: Queue -> s :: Script(TYPE PACKET, return $(mod $(n.count) 2))
                  -> u :: Unqueue -> n :: Counter -> Discard; s[1] -> o :: Counter -> Discard;
                  Script(wait 1, write n.reset, wait 1, stop)";
    assert_eq!(run_and_read(config, &["n.count", "o.count", "q.length"]), ["0", "5", "0"]);
}

/// A router on two threads, in real time.
fn build_threads(config: &str) -> router::Router {
    let parsed = lang::parse(config, "config", &[]);
    let known = crate::testing::library();
    let layout =
        router::layout(parsed.graph, &known, 2).unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let log = router::Log::Memory(Default::default());
    let options = router::Options { workers: 2, log, ..router::Options::default() };
    match router::build(layout, config.to_owned(), &known, options) {
        Ok((router, _)) => router,
        Err(errors) => panic!("{}", lang::render_click(&errors)),
    }
}

/// Scripts on two threads call each other at the same time, some levels deep, and no caller waits for ever.
#[test]
fn mutual_calls_on_threads() {
    let config = "StaticThreadSched(q 1, b 1, r 1);
                  p :: Script(TYPE PASSIVE, goto last $(eq $1 0), return $1$(q.run $(sub $1 1)), label last, return .);
                  q :: Script(TYPE PASSIVE, goto last $(eq $1 0), return $1$(p.run $(sub $1 1)), label last, return .);
                  a :: Script(set i 0, label next, set x $(q.run 5), set i $(add $i 1), goto next $(lt $i 200),
                              print \"a$x\", write r.run);
                  b :: Script(set i 0, label next, set x $(p.run 4), set i $(add $i 1), goto next $(lt $i 200),
                              print \"b$x\", write r.run);
                  r :: Script(TYPE PASSIVE, init n 0, set n $(add $n 1), goto end $(lt $n 2), stop)";
    let mut router = build_threads(config);
    run_to_end(&mut router);
    let text = router.info().log.text();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["a54321.", "b4321."]);
}

/// The driver waits for a script on another worker, which calls back, to decide whether it stops.
#[test]
fn the_driver_is_steered_from_another_worker() {
    let config = "StaticThreadSched(d 1);
                  InfiniteSource(LIMIT 10, STOP true) -> c :: Counter -> Discard;
                  d :: DriverManager(pause, print c.count, write c.reset, pause, print c.count, stop);
                  Script(wait 0.3, stop)";
    for mut router in
        [build(config, 2, 32).unwrap_or_else(|errors| panic!("{errors}")), build_threads(config)]
    {
        run_to_end(&mut router);
        assert_eq!(router.info().log.text(), "10\n0\n");
    }
}

#[test]
fn a_signal_runs_its_script() {
    let config = "Script(TYPE SIGNAL USR1, print \"got it\", write main.step);
                  main :: Script(printn $(kill USR1 $$), pause, printn $(kill USR1 $$), pause, print \"done\", stop)";
    assert_eq!(run(config), "got it\ngot it\ndone\n");
    assert!(errors("Script(TYPE SIGNAL)").contains("bad signal number"));
    assert!(errors("Script(TYPE SIGNAL USR1 KILLER)").contains("bad signal number"));
    assert!(errors("Script(TYPE SIGNAL 9)").contains("bad signal number"));
}

/// However often the driver is asked to stop at once, it does.
#[test]
fn a_driver_script_that_never_stops() {
    let config = "d :: DriverManager(label again, pause, goto again)";
    let mut router = build(config, 1, 1).unwrap_or_else(|errors| panic!("{errors}"));
    router.info().adjust_run_count(i64::from(i32::MIN));
    run_to_end(&mut router);
    assert_eq!(router.info().log.text(), "");
}

/// Names are those of the compound that a script lives in.
#[test]
fn scripts_in_compounds() {
    let config = "x :: { input -> c :: Counter -> output; s :: Script(TYPE PASSIVE, return $(c.count)$1) };
                  InfiniteSource(LIMIT 4, STOP true) -> x -> Discard";
    assert_eq!(run_and_read(config, &["x/s.run", "s.run"]), ["4", "error: no element named 's'"]);
}

/// A script that calls itself without end is given up, also when its calls multiply.
#[test]
fn endless_recursion() {
    let config = "p :: Script(TYPE PASSIVE, set x $(p.run)$(p.run)); Script(print p.run, stop)";
    assert!(run(config).contains("too many runs inside each other, giving up"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever scripts do to themselves and each other, they come to an end; or can be stopped, since a thousand
    /// jumps of one may each make another jump a thousand times.
    #[test]
    fn scripts_end(first in program(), second in program()) {
        let config = format!("s :: Script({first}); p :: Script(TYPE PASSIVE, {second}); Script(wait 100, stop)");
        let mut router = build(&config, 1, 1).unwrap_or_else(|errors| panic!("{errors}"));
        let (handle, (done, ended)) = (router.handle(), mpsc::channel::<()>());
        let patience = thread::spawn(move || {
            if ended.recv_timeout(Duration::from_secs(2)) == Err(mpsc::RecvTimeoutError::Timeout) {
                handle.stop();
            }
        });
        run_to_end(&mut router);
        drop(done);
        prop_assert!(patience.join().is_ok());
    }
}

/// Some instructions in some order.
fn program() -> impl Strategy<Value = String> {
    let instructions = [
        "set x $(add $x 1)",
        "goto a",
        "goto b $(lt $x 3)",
        "pause",
        "pause 2",
        "wait 0.1",
        "write s.goto a",
        "write p.goto b",
        "write s.run",
        "write p.run",
        "write s.step",
        "write s.step 2",
        "write p.step",
        "set x $(p.run $x)",
        "return $x",
        "returnq $(s.run)",
        "loop",
        "end",
        "exit",
        "error e",
        "label c",
        "read x",
        "write stop 0",
        "init y $(p.run)",
    ];
    prop::collection::vec(prop::sample::select(instructions.to_vec()), 0..8)
        .prop_map(|list| format!("label a, {}, label b", list.join(", ")))
}
