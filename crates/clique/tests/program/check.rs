//! `clique check`.

use crate::{clique, program, without_reasons};
use expect_test::expect;
use std::path::Path;

#[test]
fn check_shows_the_worker_of_each_element() {
    let config = "s :: InfiniteSource -> c :: Counter -> d :: Discard; InfiniteSource -> [0]c";
    expect![[r#"
        exit status: 0
        --- output
        config: no errors

        worker 0: 4 elements
          s                 InfiniteSource  /h   replicated
          c                 Counter         h/h  replicated
          d                 Discard         h/   replicated
          InfiniteSource@4  InfiniteSource  /h   replicated
        worker 1: 0 elements
    "#]]
    .assert_eq(&clique(&["check", "-j", "2", "-e", config]));
}

/// Who uses a port that is not there is told which ones are.
#[test]
fn ports_that_are_not_there() {
    for (config, advice) in [
        ("Idle -> [1] Discard", "Discard has one input, input 0"),
        ("Discard -> Discard", "Discard has no outputs"),
        (
            "Idle -> c :: CheckIPHeader [5] -> Discard",
            "CheckIPHeader has at most 2 outputs, the last one is output 1",
        ),
    ] {
        let found = clique(&["check", "-e", config]);
        assert!(found.contains(&format!("- {advice}\n")), "{found}");
    }
}

/// Keys of any kind are not quoted, also where a variable has them; and the marks are where they belong.
#[test]
fn keys_are_not_quoted() {
    let config = "define($k \"one of letters\"); v :: VLBNode(0, 2, KEY $k, WRONG 1); w :: VLBNode(0, 2, KEY plainly, WRONG 1);
                  Idle -> v -> Discard; Idle -> [1] v [1] -> Discard; Idle -> w -> Discard; Idle -> [1] w [1] -> nowhere";
    for arguments in [&["check", "-e", config][..], &["check", "--json", "-e", config]] {
        let found = clique(arguments);
        assert!(!found.contains("letters") && !found.contains("plainly"), "{found}");
        assert!(found.contains("WRONG") && found.contains("nowhere"), "{found}");
    }
    let found = clique(&["check", "-e", config]);
    assert!(found.contains("VLBNode(0, 2, KEY *******, WRONG 1)"), "{found}");
}

/// A key that one script has in a variable, and another one uses.
#[test]
fn keys_of_other_scripts_are_not_quoted() {
    let key = "00112233445566778899aabbccddeeff00112233";
    let config = format!(
        "keys :: Script(export k {key}, wrong); Script(write e.add_association 192.0.2.1 192.0.2.2 300 aes-gcm key $(keys.k));
         e :: IPsec; Idle -> e -> Discard; Idle -> [1]e[1] -> nowhere"
    );
    for arguments in [&["check", "-e", config.as_str()][..], &["check", "--json", "-e", config.as_str()]] {
        let found = clique(arguments);
        assert!(!found.contains("00112233"), "{found}");
        assert!(found.contains("nowhere") && found.contains("wrong"), "{found}");
    }
}

/// What a check finds, an error's first line each.
fn found(config: &str) -> Vec<String> {
    let output = program(&["check", "--json", "-e", config]).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let diagnostics = report["diagnostics"].as_array().unwrap().iter();
    diagnostics.map(|error| error["message"].as_str().unwrap_or_default().to_owned()).collect()
}

/// No error hides another: unknown names, unconnected ports and wrong arguments are all reported, and nothing that only follows
/// from them.
#[test]
fn no_error_hides_another() {
    let config =
        "Idle -> Counter(FOO 3) -> foo -> Discard; x -> Queue(x) -> Unqueue(BURST q) -> b :: Bar -> Discard";
    let all = found(config);
    assert_eq!(all.len(), 6, "{all:#?}");
    for name in ["'foo'", "'x'", "'Bar'"] {
        assert!(all.iter().any(|error| error.contains(name)), "{name}: {all:#?}");
    }
    let config = "Idle -> Counter(FOO 3) -> Discard; Idle -> Queue(x) -> Unqueue(BURST q) -> Discard; t :: Tee -> Discard";
    let all = found(config);
    assert_eq!(all.len(), 4, "{all:#?}");
    assert!(all.iter().any(|error| error.contains("'t :: Tee' input 0 unused")), "{all:#?}");
    let config = "InfiniteSource(LIMIT x) -> [1] Discard; Idle -> [7] Counter -> Queue; Strip(q) -> Discard";
    let all = found(config);
    assert_eq!(all.len(), 6, "{all:#?}");
    // A run says the same.
    let output =
        program(&["run", "-e", "Idle -> Counter(FOO 3) -> foo; t :: Tee -> Discard"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    for error in ["undeclared element 'foo'", "'t :: Tee' input 0 unused", "Counter"] {
        assert!(said.contains(error), "{error}: {said}");
    }
}

/// A mistake in a compound element is one error, however often the element is used; what its users give it is theirs.
#[test]
fn copies_of_a_compound_repeat_no_error() {
    let uses = "Idle -> a :: Foo -> Discard; Idle -> b :: Foo -> Discard;";
    let config = format!("elementclass Foo {{ input -> Strip(z) -> Counter(FOO 3) -> output }} {uses}");
    assert_eq!(found(&config).len(), 2, "{:?}", found(&config));
    let output = program(&["run", "-e", &config]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.matches("Error: ").count(), 2, "{said}");
    let uses = "Idle -> Foo(x) -> Discard; Idle -> Foo(y) -> Discard;";
    let config = format!("elementclass Foo {{ $n | input -> Strip($n) -> output }} {uses}");
    assert_eq!(found(&config).len(), 2, "{:?}", found(&config));
}

/// A statement that cannot be read hides neither unknown names nor wrong arguments of others; and of what it may have declared or connected
/// nothing is said.
#[test]
fn a_syntax_error_hides_no_other_errors() {
    for (config, expected) in [
        ("Idle -> Counter(FOO 3) -> -> Discard", &["syntax error", "FOO: unknown"][..]),
        ("a :: Counter(FOO 3); b :: Queue(5; c :: Strip(x)", &["expected ')'", "FOO: unknown"]),
        ("a :: Counter(FOO 3); /* b :: Queue(x)", &["input 0", "output 0", "FOO: unknown"]),
        ("a :: Counter(FOO 3 /* b); c :: Queue(x)", &["expected ')'"]),
        ("x : Queue(five); Idle -> x -> y", &["near ':'", "'y'", "CAPACITY: invalid number"]),
        ("x, , y :: Queue(five); Idle -> y", &["near ','", "CAPACITY: invalid number"]),
        (
            "my-queue :: Queue(five); Idle -> my-queue -> Discard",
            &["near '-'", "near '-'", "CAPACITY: invalid number"],
        ),
        ("Idle -> [1 Queue; Idle -> [z] Discard(q)", &["expected ','", "integer", "too many arguments"]),
        (
            "a :: Counter; a :: Queue(five); Idle -> a -> Discard(q)",
            &["ignored on element", "redeclaration", "CAPACITY: invalid number", "too many arguments"],
        ),
        ("require(library no.click); Idle -> foo -> Bar -> Queue(five)", &["library", "CAPACITY"]),
        ("require library x; Idle -> foo -> Queue(five)", &["expected '('", "CAPACITY"]),
        ("elementclass { input -> output } Idle -> A -> Strip(q)", &["element type name", "LENGTH"]),
        (
            "elementclass A { input -> Strip(q) -> -> output } Idle -> A -> Discard; Idle -> Queue(many) -> nix",
            &["near '->'", "'nix'", "LENGTH: invalid number", "CAPACITY: invalid number"],
        ),
        (
            "elementclass A { input -> [x] output } Idle -> [1] A -> Queue(many)",
            &["should be integer", "CAPACITY: invalid number"],
        ),
        (
            "elementclass A { $a $b | input -> Strip($b) -> output } Idle -> A(3) -> Queue(many)",
            &["expected ','", "near 'b'", "near '|'", "CAPACITY: invalid number"],
        ),
        (
            "define(x 5); Idle -> Queue($x) -> ; Discard(q)",
            &["bad 'define'", "near ';'", "too many arguments"],
        ),
        // Ports are not known, nor who refers to whom, nor names for addresses.
        (
            "Idle -> ; t :: Tee -> Discard; c :: Classifier(12/0800, 12/08zz); l :: LinearIPLookup(1.0.0.0/8 7)",
            &["near ';'", "pattern 1: expected a digit"],
        ),
        (
            "Idle -> ; EtherEncap(0x800, port0:eth, 1:2:3:4:5:6); Strip(14, 15)",
            &["near ';'", "too many arguments"],
        ),
        (
            "Idle -> ; Unqueue2(QUEUES nothing); Shaper(x); ARPQuerier(10.0.0.300, 1:2:3:4:5:6)",
            &["near ';'", "RATE", "IP: parse error"],
        ),
        ("Queue :: Counter(FOO 3); Idle -> Strip(q)", &["used as element name", "FOO: unknown", "LENGTH"]),
    ] {
        let all = found(config);
        let is_said = |part: &&str| all.iter().any(|error| error.contains(part));
        assert!(all.len() == expected.len() && expected.iter().all(is_said), "{config}: {all:#?}");
    }
}

/// An error in a library hides none in the configuration that requires it, nor the other way round.
#[test]
fn an_error_in_a_library_hides_no_other_errors() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("l.click"), "elementclass L { input -> Strip(q) -> -> output } ; -> ;")
        .unwrap();
    std::fs::write(dir.path().join("c.click"), "require(library l.click); Idle -> L -> nix -> Queue(five)")
        .unwrap();
    let said = crate::clique_in(dir.path(), &["check", "c.click"]);
    for error in ["l.click:1", "undeclared element 'nix'", "LENGTH", "CAPACITY", "c.click: 5 errors"] {
        assert!(said.contains(error), "{error}: {said}");
    }
}

/// A run says the same as a check.
#[test]
fn a_run_tells_all_errors() {
    let output = program(&["run", "-e", "Idle -> Counter(FOO 3) -> -> foo; Queue(five)"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    for error in ["syntax error near '->'", "undeclared element 'foo'", "FOO: unknown argument", "CAPACITY"] {
        assert!(said.contains(error), "{error}: {said}");
    }
}

/// Configurations with mistakes, and what is said of them: `tests/fixtures/check/NAME.click` and `NAME.txt`.
#[test]
fn mistakes_are_told_as_expected() {
    let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/check"));
    let mut files: Vec<_> = std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "click"));
    assert!(files.len() > 3);
    for path in files {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap();
        let said = crate::clique_in(directory, &["check", name]);
        expect_test::expect_file![path.with_extension("txt")].assert_eq(&said);
    }
}

/// Interfaces have to be here if that is asked for.
#[test]
fn interfaces_are_checked_where_the_router_is_to_run() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/check/another-machine.click");
    let found = clique(&["check", "--here", file]);
    assert!(found.starts_with("exit status: 1\n"), "{found}");
    assert!(found.contains("there is no interface 'eth97' here"), "{found}");
    assert_eq!(found.matches("Error: ").count(), 2, "one for each interface: {found}");

    // Also where no address is needed, whatever else is wrong.
    let here = |config: &str| clique(&["check", "--here", "-e", config]);
    let found = here("FromDevice(eth97) -> Queue(many) -> ToDevice(eth97); FromDevice(lo) -> Discard");
    assert!(found.starts_with("exit status: 1\n"), "{found}");
    assert!(found.contains("there is no interface 'eth97' here") && found.contains("CAPACITY"), "{found}");
    assert_eq!(found.matches("Error: ").count(), 2, "{found}");
    let found = here("FromDevice(eth97) -> -> Discard");
    assert!(found.contains("there is no interface 'eth97' here"), "{found}");
    let found = here("FromDevice(lo) -> Queue -> ToDevice(lo)");
    assert!(found.starts_with("exit status: 0\n"), "{found}");
    // It is there as soon as the router runs.
    let found = here("FromHost(trunk, 10.0.0.1/24) -> Discard; FromDevice(trunk) -> Discard");
    assert!(found.starts_with("exit status: 0\n"), "{found}");
}

/// An interface of another machine may have any name if an element opens it; other names have to be defined.
#[test]
fn interfaces_of_another_machine_have_any_name() {
    let router = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conf/linux-router.click");
    for (inside, outside) in [("lan", "wan"), ("inside", "world"), ("Dept.7", "up_link@a")] {
        let found = clique(&["check", router, &format!("IF0={inside}"), &format!("IF1={outside}")]);
        assert!(found.starts_with("exit status: 0\n"), "{inside}, {outside}: {found}");
    }
    for open in ["FromDevice(trunk)", "FromHost(trunk, 10.0.0.1/24)", "KernelTap(10.0.0.1/24, DEVNAME trunk)"]
    {
        let check = |name: &str| {
            let text = format!("{open} -> EtherEncap(0x800, {name}:eth, 2:0:0:0:0:1) -> Discard");
            clique(&["check", "-e", &text])
        };
        let found = check("trunk");
        assert!(found.starts_with("exit status: 0\n"), "{open}: {found}");
        let found = check("trukn");
        assert!(found.starts_with("exit status: 1\n"), "{open}: {found}");
    }
    // What is no name of an interface is none because an element is to open it.
    let found = clique(&[
        "check",
        "-e",
        "FromDevice(far/off) -> EtherEncap(0x800, far/off:eth, 2:0:0:0:0:1) -> Discard",
    ]);
    assert!(found.starts_with("exit status: 1\n"), "{found}");
}

/// A name of any length is printed, and does not push the others away.
#[test]
fn names_of_any_length() {
    let long = "a".repeat(70_000);
    let output = program(&["check", "-e", &format!("{long} :: Idle -> d :: Discard")]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(&long), "the name is there");
    let line = text.lines().find(|line| line.contains("Discard")).expect("a line");
    assert!(line.len() < 200, "{line}");
}

/// Errors in the text and errors in the graph are found, and so are bad arguments; nothing runs.
#[test]
fn errors_of_each_stage() {
    let text = "InfiniteSource -> Disacrd";
    let graph = "InfiniteSource -> [1] Discard";
    let arguments = "InfiniteSource(LIMIT five) -> Discard(BURST six)";
    for (config, errors) in [(text, 1), (graph, 1), (arguments, 2)] {
        let output = program(&["check", "--json", "-e", config]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{config}");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let found = report["diagnostics"].as_array().map(Vec::len);
        assert_eq!(found, Some(errors), "{report}");
        assert!(report["diagnostics"].as_array().unwrap().iter().all(|error| error["line"] == 1), "{report}");
    }
    expect![[r#"
        exit status: 1
        --- output
        config: 2 errors
        --- messages
        Error: While configuring 'InfiniteSource@1 :: InfiniteSource': LIMIT: ...
           ,-[ config:1:22 ]
           |
         1 | InfiniteSource(LIMIT five) -> Discard(BURST six)
           |                      ^^|^
           |                        `--- expected integer, not 'five'
        ---'
        Error: While configuring 'Discard@2 :: Discard': BURST: ...
           ,-[ config:1:45 ]
           |
         1 | InfiniteSource(LIMIT five) -> Discard(BURST six)
           |                                             ^|^
           |                                              `--- expected integer, not 'six'
        ---'
    "#]]
    .assert_eq(&without_reasons(clique(&["check", "-e", arguments])));
}

#[test]
fn report_as_json() {
    let config = "s :: InfiniteSource -> d :: Discard";
    expect![[r#"
        exit status: 0
        --- output
        {
          "diagnostics": [],
          "elements": [
            {
              "class": "InfiniteSource",
              "inputs": "",
              "name": "s",
              "outputs": "h",
              "residency": "replicated",
              "workers": [
                0
              ]
            },
            {
              "class": "Discard",
              "inputs": "h",
              "name": "d",
              "outputs": "",
              "residency": "replicated",
              "workers": [
                0
              ]
            }
          ],
          "merged": [],
          "queues": [],
          "workers": [
            {
              "elements": [
                "s",
                "d"
              ],
              "worker": 0
            },
            {
              "elements": [],
              "worker": 1
            }
          ]
        }
    "#]]
    .assert_eq(&clique(&["check", "--json", "-j2", "-e", config]));
}

/// There are no packages; a configuration that requires one runs all the same.
#[test]
fn a_required_package_is_warned_of_only() {
    let config = "require(package fancy); Idle -> Discard";
    let found = clique(&["check", "-e", config]);
    assert!(found.starts_with("exit status: 0\n"), "{found}");
    assert!(
        found.contains("package 'fancy' is not loaded: all element classes are part of the program"),
        "{found}"
    );
    assert!(
        clique(&["flatten", "-e", config])
            .starts_with("exit status: 0\n--- output\nrequire(package \"fancy\");")
    );
}

/// A class that only Click or FastClick has is not merely unknown.
#[test]
fn a_class_that_only_click_has_comes_with_advice() {
    for config in ["FromBPF(0) -> Discard", "d :: FromBPF(0) -> Discard"] {
        let found = clique(&["check", "-e", config]);
        assert!(found.starts_with("exit status: 1\n") && found.contains("FromDump"), "{found}");
    }
    assert!(clique(&["elements", "Grid"]).contains("wireless"));
}

/// Whatever a file has in it: errors, in bounded time and memory, and nothing that a terminal would obey.
#[test]
fn absurd_files_are_errors_in_bounded_time() {
    let dir = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..20_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    std::fs::write(dir.path().join("noise"), bytes).unwrap();
    std::fs::write(dir.path().join("deep"), "(".repeat(100_000)).unwrap();
    for file in ["noise", "deep", "."] {
        let output = program(&["check", file]).current_dir(dir.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{file}");
        let messages = String::from_utf8(output.stderr).unwrap();
        assert!(!messages.is_empty() && !messages.contains('\u{1b}'), "{file}: {messages}");
    }
    let found = clique(&["check", "/dev/zero"]);
    assert!(
        found.starts_with("exit status: 1\n") && found.contains("configuration is longer than"),
        "{found}"
    );
}

#[test]
fn a_missing_file_is_an_error() {
    expect![[r#"
        exit status: 1
        --- output
        no/such.click: 1 error
        --- messages
        no/such.click: No such file or directory
    "#]]
    .assert_eq(&clique(&["check", "no/such.click"]));
}

/// The source that is not pinned joins the one that is, because both reach the one switch.
#[test]
fn what_has_to_come_together() {
    let config = "a :: InfiniteSource -> s :: RoundRobinSwitch -> Discard; b :: InfiniteSource -> s;
                  s[1] -> Discard; StaticThreadSched(b 1)";
    let found = clique(&["check", "-j2", "-e", config]);
    let reason = "a runs on worker 1 with all else that reaches s, of which there is one instance\n";
    assert!(found.ends_with(reason), "{found}");
    let output = program(&["check", "-j2", "--json", "-e", config]).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["merged"], serde_json::json!([{ "element": "a", "exclusive": "s", "worker": 1 }]));
}

/// A check creates no files. A router that is set up does.
#[test]
fn nothing_is_created() {
    let dir = tempfile::tempdir().unwrap();
    let config = "InfiniteSource -> ToDump(new.pcap)";
    let run = |command: &str, options: &[&str]| {
        let arguments = [&[command, "-e", config][..], options].concat();
        program(&arguments).current_dir(dir.path()).status().unwrap().code()
    };
    assert_eq!(run("check", &[]), Some(0));
    assert!(!dir.path().join("new.pcap").exists());
    assert_eq!(run("run", &["--quit"]), Some(0));
    assert!(dir.path().join("new.pcap").exists());
}

#[test]
fn the_shipped_configurations_are_good() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conf");
    let key = tempfile::NamedTempFile::new().unwrap(); // which only its owner may read
    std::fs::write(&key, "9f3ac1d277e04b158c6d2e90a1b45f375be0c284").unwrap();
    let keys = ["KEY_OUT", "KEY_IN"].map(|name| format!("{name}={}", key.path().display()));
    let mut files = 0;
    for file in std::fs::read_dir(directory).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "click") {
            let mut arguments = vec!["check", "-j3", path.to_str().unwrap()];
            if ["linux-router.click", "frr-router.click", "load-balancer.click"]
                .iter()
                .any(|name| path.ends_with(name))
            {
                arguments.extend(["IF0=lo", "IF1=lo"]); // the only interface that every machine has
            }
            if ["firewall.click", "ipsec-gateway.click", "nat.click", "nat64.click", "esp-gateway.click"]
                .iter()
                .any(|name| path.ends_with(name))
            {
                arguments.extend(["IN=lo", "OUT=lo"]);
            }
            if path.ends_with("vlan-router.click") {
                arguments.push("IF=lo");
            }
            if path.ends_with("esp-gateway.click") {
                arguments.extend([&*keys[0], &*keys[1]]);
            }
            if ["cluster-nat.click", "cluster-node.click"].iter().any(|name| path.ends_with(name)) {
                arguments.extend(["EXT=lo", "IF1=lo", "IF2=lo", "IF3=lo"]);
            }
            let found = clique(&arguments);
            assert!(found.starts_with("exit status: 0\n") && !found.contains("--- messages"), "{found}");
            files += 1;
        }
    }
    assert!(files > 0, "{directory}");
}
