//! The program called as Click's tools.

use crate::{clique, clique_in, clique_with, text};
use expect_test::{Expect, expect};
use std::process::{Command, Stdio};

fn check(found: String, expected: Expect) {
    expected.assert_eq(&found);
}

const CONFIG: &str = "
// Sources count, sinks do not.
elementclass Half { $n | input -> Counter(COUNT_CALL $n q.reset) -> [0] q :: Queue(CAPACITY $N) -> output }
define($N 7)
InfiniteSource(LIMIT $N) -> h :: Half(3)
  -> Unqueue -> t :: Tee(2) -> Discard;
t[1] -> Paint(\"$N\") -> Discard";

/// Directives, definitions, declarations, connections: as Click's tools write them.
#[test]
fn flatten() {
    check(
        clique(&[
            "click-flatten",
            "-e",
            "define($N 7) InfiniteSource(LIMIT $N) -> h :: { -> Counter -> }\n-> Discard",
        ]),
        expect![[r#"
            exit status: 0
            --- output
            define($N 7);

            # 1 "config"
            InfiniteSource@1 :: InfiniteSource(LIMIT $N);
            # 2 "config"
            Discard@3 :: Discard;
            # 1 "config"
            h/Counter@1 :: Counter;
            # 10 ""
            InfiniteSource@1 -> h/Counter@1
                -> Discard@3;
        "#]],
    );
}

/// Variables stay, unless the text would mean something else then when it is read again.
#[test]
fn variables() {
    check(
        clique(&["click-flatten", "-e", CONFIG]),
        expect![[r#"
            exit status: 0
            --- output
            define($N 7);

            # 5 "config"
            InfiniteSource@1 :: InfiniteSource(LIMIT $N);
            # 6 "config"
            Unqueue@3 :: Unqueue;
            # 6 "config"
            t :: Tee(2);
            # 6 "config"
            Discard@5 :: Discard;
            # 7 "config"
            Paint@6 :: Paint("$N");
            # 7 "config"
            Discard@7 :: Discard;
            # 3 "config"
            h/Counter@1 :: Counter(COUNT_CALL 3 q.reset);
            # 3 "config"
            h/q :: Queue(CAPACITY $N);
            # 20 ""
            InfiniteSource@1 -> h/Counter@1
                -> h/q
                -> Unqueue@3
                -> t
                -> Discard@5;
            t [1] -> Paint@6
                -> Discard@7;
        "#]],
    );
    check(
        clique(&[
            "click-flatten",
            "--expand-vars",
            "-e",
            "define($N 7) a :: Idle(${N-1}, $M, \"$N\")",
            "N=5",
        ]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "config"
        a :: Idle(5, $M, "5");
    "#]],
    );
    check(
        clique(&["click-flatten", "-e", "define($N 7) a :: Idle(${N-1}, $M)", "N=5"]),
        expect![[r#"
        exit status: 0
        --- output
        define($N 5);

        # 1 "config"
        a :: Idle($N, $M);
    "#]],
    );
}

#[test]
fn variables_in_quotes() {
    let text = "elementclass X { $x | Bar(\"$x\") } define($N 7) X($N)";
    check(
        clique(&["click-flatten", "-e", text]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "config"
        X@1/Bar@1 :: Bar("7");
    "#]],
    );
}

#[test]
fn lists() {
    check(
        clique(&["click-flatten", "-c", "-e", CONFIG]),
        expect![[r#"
        exit status: 0
        --- output
        Counter
        Discard
        InfiniteSource
        Paint
        Queue
        Tee
        Unqueue
    "#]],
    );
    check(
        clique(&["click-flatten", "-n", "-e", CONFIG]),
        expect![[r#"
        exit status: 0
        --- output
        Discard@5
        Discard@7
        InfiniteSource@1
        Paint@6
        Unqueue@3
        h/Counter@1
        h/q
        t
    "#]],
    );
    check(
        clique(&["click-flatten", "--class", "-d", "-e", CONFIG]),
        expect![[r#"
        exit status: 0
        --- output
        Discard@5 :: Discard
        Discard@7 :: Discard
        InfiniteSource@1 :: InfiniteSource
        Paint@6 :: Paint
        Unqueue@3 :: Unqueue
        h/Counter@1 :: Counter
        h/q :: Queue
        t :: Tee
    "#]],
    );
}

/// The links' names lead to the tools, too.
#[test]
fn names() {
    let dir = tempfile::tempdir().unwrap();
    for tool in [
        "click-flatten",
        "click-check",
        "click-undead",
        "click-pretty",
        "click2xml",
        "click-xform",
        "click-align",
        "click-combine",
        "click-uncombine",
    ] {
        let link = dir.path().join(tool);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_clique"), &link).unwrap();
        let mut command = Command::new(&link);
        command.args(["--help"]).stdin(Stdio::null()).env("LANG", "C");
        let found = text(command.output().unwrap());
        assert!(
            found.starts_with(&format!("exit status: 0\n--- output\nUsage: {tool} [OPTION]... [ROUTERFILE")),
            "{found}"
        );
        assert_eq!(found, clique(&[tool, "--help"]));
    }
}

/// What is written is read again, to the same text.
#[test]
fn input_and_output() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.click"), CONFIG).unwrap();
    assert_eq!(clique_in(dir.path(), &["click-flatten", "a.click", "-o", "b.click"]), "exit status: 0\n");
    let flat = clique_with(CONFIG, &["click-flatten"]);
    assert_eq!(
        clique_in(dir.path(), &["click-flatten", "-f", "b.click"]),
        flat.replace("<stdin>", "a.click")
    );
    check(
        clique_in(dir.path(), &["click-flatten", "a.click", "-o", "no/such/file"]),
        expect![[r#"
            exit status: 1
            --- messages
            no/such/file: No such file or directory
        "#]],
    );
}

#[test]
fn errors() {
    check(
        clique(&["click-flatten", "-e", "a ->"]),
        expect![[r#"
        exit status: 1
        --- messages
        config:1: syntax error near ''
    "#]],
    );
    check(
        clique(&["click-flatten", "-e", ""]),
        expect![[r#"
        exit status: 0
        --- messages
        config: warning: empty configuration
    "#]],
    );
    check(
        clique(&["click-flatten", "no/such.click"]),
        expect![[r#"
        exit status: 1
        --- messages
        no/such.click: No such file or directory
    "#]],
    );
    check(
        clique(&["click-flatten", "-e", "", "N=1", "N=2"]),
        expect![[r#"
        exit status: 1
        --- messages
        click-flatten: parameter 'N' multiply defined
    "#]],
    );
    check(
        clique(&["click-flatten", "-e", "", "b.click"]),
        expect![[r#"
        exit status: 1
        --- messages
        click-flatten: router configuration specified twice
        Usage: click-flatten [OPTION]... [ROUTERFILE]
        Try 'click-flatten --help' for more information.
    "#]],
    );
    check(
        clique(&["click-check", "-p", "-o", "x"]),
        expect![[r#"
        exit status: 1
        --- messages
        click-check: output file specified twice
        Usage: click-check [OPTION]... [ROUTERFILE]
        Try 'click-check --help' for more information.
    "#]],
    );
    check(
        clique(&["click-flatten", "--ex"]),
        expect![[r#"
        exit status: 1
        --- messages
        click-flatten: option '--ex' is ambiguous
        click-flatten: (Possibilities are '--expand-vars' and '--expression'.)
        Usage: click-flatten [OPTION]... [ROUTERFILE]
        Try 'click-flatten --help' for more information.
    "#]],
    );
}

/// The other files of an archive stay in it, unless only the configuration is asked for.
#[test]
fn archives() {
    let dir = tempfile::tempdir().unwrap();
    let member = |name: &str, data: &str| {
        let pad = if data.len() % 2 == 1 { "\n" } else { "" };
        format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n{data}{pad}", 1, 2, 3, 644, data.len())
    };
    let (other, config) = (member("elementmap.xml/", "<a/>!"), member("config/", "Idle -> Discard"));
    std::fs::write(dir.path().join("a"), format!("!<arch>\n{other}{config}")).unwrap();
    let flat = clique_in(dir.path(), &["click-flatten", "--config", "a"]);
    check(
        flat.clone(),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "a"
        Idle@1 :: Idle;
        # 1 "a"
        Discard@2 :: Discard;
        # 6 ""
        Idle@1 -> Discard@2;
    "#]],
    );
    assert_eq!(clique_in(dir.path(), &["click-flatten", "a", "-o", "b"]), "exit status: 0\n");
    let written = std::fs::read_to_string(dir.path().join("b")).unwrap();
    assert!(written.starts_with("!<arch>\nconfig/         0"), "{written}");
    assert!(written.ends_with(&other), "{written}");
    assert_eq!(clique_in(dir.path(), &["click-flatten", "--config", "b"]), flat);
}

#[test]
fn check_says() {
    check(
        clique(&["click-check", "-e", "Idle -> Discard"]),
        expect![[r#"
        exit status: 0
        --- messages
        config: configuration OK in userlevel driver
    "#]],
    );
    check(
        clique(&["click-check", "-q", "-e", "Idle -> Discard"]),
        expect![[r#"
        exit status: 0
    "#]],
    );
    check(
        clique(&["click-check", "+u", "-e", "Idle -> Discard(BURST x)"]),
        expect![[r#"
        exit status: 0
    "#]],
    );
    check(
        clique(&["click-check", "--userlevel", "-e", "Idle -> c :: Counter -> c"]),
        expect![[r#"
        exit status: 0
        --- messages
        config: configuration OK in userlevel driver
    "#]],
    );
    check(
        clique(&["click-check", "-pe", "define($A 3) Idle -> Strip($A) -> Discard"]),
        expect![[r#"
        exit status: 0
        --- output
        define($A 3);

        # 1 "config"
        Idle@1 :: Idle;
        # 1 "config"
        Strip@2 :: Strip($A);
        # 1 "config"
        Discard@3 :: Discard;
        # 10 ""
        Idle@1 -> Strip@2
            -> Discard@3;
    "#]],
    );
    check(
        clique(&["click-check", "-l", "-p", "-e", "Idle -> Discard"]),
        expect![[r#"
        exit status: 1
        --- messages
        config: there is no linuxmodule driver here
    "#]],
    );
    check(
        clique(&["click-check", "-e", "Idle -> Nothing"]),
        expect![[r#"
        exit status: 1
        --- messages
        config:1: undeclared element 'Nothing'
    "#]],
    );
}

#[test]
fn align() {
    check(
        clique(&["click-align", "-V", "-e", "FromDump(x) -> CheckIPHeader -> Discard"]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "config"
        FromDump@1 :: FromDump(x);
        # 1 "config"
        CheckIPHeader@2 :: CheckIPHeader;
        # 1 "config"
        Discard@3 :: Discard;
        # 0 "<click-align>"
        AlignmentInfo@click_align@4 :: AlignmentInfo;
        # 10 ""
        FromDump@1 -> CheckIPHeader@2
            -> Discard@3;
        --- messages
        click-align: note: elements need no alignment here, nothing to align
    "#]],
    );
    check(
        clique(&["click-align", "--assertions", "-e", "Idle"]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "config"
        Idle@1 :: Idle;
    "#]],
    );
}

/// What makes nothing but speed passes a configuration through; what makes C++ or needs the kernel's module says so.
#[test]
fn compilers() {
    check(
        clique(&["click-fastclassifier", "-u", "-e", "Idle -> Classifier(12/0800) -> Discard"]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "config"
        Idle@1 :: Idle;
        # 1 "config"
        Classifier@2 :: Classifier(12/0800);
        # 1 "config"
        Discard@3 :: Discard;
        # 8 ""
        Idle@1 -> Classifier@2
            -> Discard@3;
        --- messages
        click-fastclassifier: note: nothing to do, the configuration is written as it is
    "#]],
    );
    check(
        clique(&["click-devirtualize", "-n", "Idle", "--reverse", "-e", "Idle"]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "config"
        Idle@1 :: Idle;
    "#]],
    );
    check(
        clique(&["click-fastclassifier", "-s", "-e", "Idle"]),
        expect![[r#"
        exit status: 1
        --- messages
        click-fastclassifier: there is no source code to print: elements are compiled into the program
    "#]],
    );
    check(
        clique(&["click-devirtualize", "-k", "-e", "Idle"]),
        expect![[r#"
        exit status: 1
        --- messages
        click-devirtualize: there is no kernel module here: run the configuration with 'click'
    "#]],
    );
    for tool in ["click-mkmindriver", "click-buildtool", "click-install", "click-uninstall"] {
        let found = clique(&[tool]);
        assert!(found.starts_with(&format!("exit status: 1\n--- messages\n{tool}: ")), "{found}");
        assert!(
            clique(&[tool, "--help"]).starts_with(&format!("exit status: 0\n--- output\nUsage: {tool} "))
        );
    }
}

#[test]
fn undead() {
    let config = "define($W 1) InfiniteSource(LIMIT 5) -> ss :: StaticSwitch($W) -> Discard; ss [1] -> Queue -> Null -> rr :: PrioSched; \
        Idle -> Queue -> [1] rr -> ToDump($W.pcap); r :: RandomSource(64) -> Counter -> Discard";
    check(
        clique(&["click-undead", "-V", "-e", config]),
        expect![[r#"
            exit status: 0
            --- output
            define($W 1);

            # 1 "config"
            InfiniteSource@1 :: InfiniteSource(LIMIT 5);
            # 1 "config"
            Queue@4 :: Queue;
            # 1 "config"
            ToDump@9 :: ToDump($W.pcap);
            # 10 ""
            InfiniteSource@1 -> Queue@4
                -> ToDump@9;
            --- messages
            config:1: removing 'ss :: StaticSwitch'
            config:1: removing 'Discard@3 :: Discard'
            config:1: removing 'Null@5 :: Null'
            config:1: removing 'rr :: PrioSched'
            config:1: removing 'Idle@7 :: Idle'
            config:1: removing 'Queue@8 :: Queue'
            config:1: removing 'r :: RandomSource'
            config:1: removing 'Counter@11 :: Counter'
            config:1: removing 'Discard@12 :: Discard'
        "#]],
    );
    check(
        clique(&["click-undead", "-e", "Idle -> [1] Discard"]),
        expect![[r#"
        exit status: 1
        --- messages
        config:1: 'Discard@2 :: Discard' has no input 1
    "#]],
    );
    check(
        clique(&["click-undead", "-k", "-e", "Idle"]),
        expect![[r#"
        exit status: 1
        --- messages
        click-undead: there is no kernel module here
    "#]],
    );
}

/// Pieces of a way with what can be removed: from FROM on, to as many outputs of X.
const PIECES: &[(&str, usize)] = &[
    ("FROM -> X :: Null;", 1),
    ("FROM -> X :: Counter;", 1),
    ("FROM -> Queue -> Null -> X :: Unqueue;", 1),
    ("FROM -> X :: StaticSwitch(-1);", 2),
    ("FROM -> X :: StaticSwitch(0);", 2),
    ("FROM -> X :: StaticSwitch(1);", 2),
    ("FROM -> X :: StaticSwitch(2);", 2),
    ("FROM -> X :: Tee;", 2),
    ("FROM -> X :: Classifier(0/73, -);", 2),
    ("FROM -> Queue -> [0] sX :: StaticPullSwitch(0) -> X :: Unqueue; Idle -> [1] sX;", 1),
    ("FROM -> Queue -> [0] sX :: PrioSched -> X :: Unqueue; Idle -> Queue -> [1] sX;", 1),
    ("FROM -> Queue -> [1] sX :: RoundRobinSched -> X :: Unqueue; Idle -> [0] sX;", 1),
    ("FROM -> Queue -> [1] sX :: StrideSched(3, 5) -> X :: Unqueue; Idle -> Queue -> [0] sX;", 1),
    ("FROM -> Queue -> tX :: PullTee -> X :: Unqueue; tX [1] -> Discard;", 1),
];

/// A random configuration: sources with packets of their own, pieces, and files at the end, which are all that counts.
fn random_config(seed: u64) -> String {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut text = "DriverManager(wait 2s, stop);\n".to_owned();
    // Outputs that push and are not connected yet.
    let mut open: Vec<String> = (0..random.usize(1..4)).map(|i| format!("s{i}")).collect();
    for source in &open {
        let class = if random.u8(0..4) == 0 { "Idle" } else { "TimedSource(0.1, DATA NAME)" };
        text.push_str(&format!("{source} :: {};\n", class.replace("NAME", source)));
    }
    for i in 0..random.usize(2..12) {
        let from = open.swap_remove(random.usize(0..open.len()));
        let (piece, outputs) = PIECES[random.usize(0..PIECES.len())];
        text.push_str(&format!("{}\n", piece.replace("FROM", &from).replace('X', &format!("x{i}"))));
        open.extend((0..outputs).map(|port| format!("x{i} [{port}]")));
    }
    for (i, from) in open.iter().enumerate() {
        let sink = ["Discard", "ToDump(FILE.pcap)"][random.usize(0..2)];
        text.push_str(&format!("{from} -> {};\n", sink.replace("FILE", &i.to_string())));
    }
    text
}

/// Whatever is removed, the same packets come out at the same time.
#[test]
fn undead_changes_no_output() {
    let run = |config: &str| {
        let dir = tempfile::tempdir().unwrap();
        let found = clique_in(dir.path(), &["click", "--simtime", "-e", config]);
        assert_eq!(found, "exit status: 0\n", "{config}");
        let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(dir.path())
            .unwrap()
            .map(|file| file.unwrap().path())
            .map(|path| {
                (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap())
            })
            // A file without a packet need not be there: nothing could have led to it.
            .filter(|(_, bytes)| bytes.len() > 24)
            .collect();
        files.sort();
        files
    };
    let (mut packets, mut smaller) = (0, 0);
    for seed in 0..50 {
        let config = random_config(seed);
        let after = clique(&["click-undead", "-e", &config]);
        let after =
            after.strip_prefix("exit status: 0\n--- output\n").unwrap_or_else(|| panic!("{config}: {after}"));
        let files = run(&config);
        assert_eq!(run(after), files, "{config}\nbecame\n{after}");
        packets += usize::from(!files.is_empty());
        let flat = clique(&["click-flatten", "-e", &config]);
        smaller += usize::from(flat.lines().count() > after.lines().count());
    }
    assert!(packets > 15 && smaller > 30, "{packets} with packets, {smaller} smaller");
}

#[test]
fn xform() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write("c.click", "define($N 4)\nIdle -> Meter(1000) -> q :: Queue($N) -> Discard");
    write(
        "p.click",
        "elementclass M { $kept |\n input -> Meter($kept)\n -> Queue($n) -> output }
         elementclass M_Replacement { input -> Queue($n)\n -> Shaper($n, $kept) -> output }
         elementclass Unpaired { input -> output }",
    );
    write("e.click", "elementclass E { -> Idle -> } elementclass E_Replacement { -> Idle -> ");
    let run = |arguments: &[&str]| clique_in(dir.path(), &[&["click-xform"], arguments].concat());
    let after = run(&["c.click", "p.click"]);
    check(
        after.clone(),
        expect![[r#"
        exit status: 0
        --- output
        define($N 4);

        # 2 "c.click"
        Idle@1 :: Idle;
        # 2 "c.click"
        Discard@4 :: Discard;
        # 4 "p.click"
        M@1/Queue@1 :: Queue($N);
        # 5 "p.click"
        M@1/Shaper@2 :: Shaper($N, 1000);
        # 12 ""
        Idle@1 -> M@1/Queue@1
            -> M@1/Shaper@2
            -> Discard@4;
    "#]],
    );
    assert_eq!(run(&["-p", "p.click", "-f", "c.click"]), after);
    assert_eq!(run(&["c.click", "p.click", "-o", "after.click"]), "exit status: 0\n");
    check(
        run(&["-r", "after.click", "p.click"]),
        expect![[r#"
        exit status: 0
        --- output
        define($N 4);

        # 2 "c.click"
        Idle@1 :: Idle;
        # 2 "c.click"
        Discard@4 :: Discard;
        # 2 "p.click"
        M@2/Meter@1 :: Meter(1000);
        # 3 "p.click"
        M@2/Queue@2 :: Queue($N);
        # 12 ""
        Idle@1 -> M@2/Meter@1
            -> M@2/Queue@2
            -> Discard@4;
    "#]],
    );
    check(
        run(&["-e", "a :: Idle"]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "config"
        a :: Idle;
        --- messages
        warning: no patterns read
    "#]],
    );
    check(
        run(&["-e", "a :: Idle", "e.click"]),
        expect![[r#"
        exit status: 1
        --- messages
        e.click:1: expected '}'
    "#]],
    );
}

#[test]
fn combine_and_uncombine() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write("a.click", "define($DEV eth0) FromDevice($DEV, SNIFFER true) -> Queue -> t :: ToDevice($DEV)");
    write("b.click", "FromDevice(eth1) -> Counter -> Queue -> ToDevice(eth1)");
    let combine = |arguments: &[&str]| clique_in(dir.path(), &[&["click-combine"], arguments].concat());
    let uncombine = |arguments: &[&str]| clique_in(dir.path(), &[&["click-uncombine"], arguments].concat());
    let routers = ["A=a.click", "-n", "B", "b.click"];
    let links = ["A.t=B.eth1", "-l", "B.eth1=A.eth0"];
    check(
        combine(&[&routers[..], &links, &["-c"]].concat()),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "a.click"
        A/Queue@2 :: Queue;
        # 1 "b.click"
        B/Counter@2 :: Counter;
        # 1 "b.click"
        B/Queue@3 :: Queue;
        # 0 "<click-combine>"
        link1 :: RouterLink(A t ToDevice, eth0, B FromDevice@1 FromDevice, eth1);
        # 0 "<click-combine>"
        link2 :: RouterLink(B ToDevice@4 ToDevice, eth1, A FromDevice@1 FromDevice, "eth0, SNIFFER true");
        # 12 ""
        link1 -> B/Counter@2
            -> B/Queue@3
            -> link2
            -> A/Queue@2
            -> link1;
    "#]],
    );
    let all = combine(&[&routers[..], &links, &["-o", "ab"]].concat());
    assert_eq!(all, "exit status: 0\n");
    assert_eq!(uncombine(&["ab", "A"]), uncombine(&["-n", "A", "-f", "ab"]));
    check(
        uncombine(&["ab", "B"]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "b.click"
        Counter@2 :: Counter;
        # 1 "b.click"
        Queue@3 :: Queue;
        # 0 "<click-uncombine>"
        FromDevice@1 :: FromDevice(eth1);
        # 0 "<click-uncombine>"
        ToDevice@4 :: ToDevice(eth1);
        # 10 ""
        FromDevice@1 -> Counter@2
            -> Queue@3
            -> ToDevice@4;
    "#]],
    );
    // A combined router in another.
    assert_eq!(
        combine(&["N=ab", "C=b.click", "-o", "nc"]),
        "exit status: 0\n--- messages\nwarning: no links between routers\n"
    );
    let normal = |text: String| {
        text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect::<String>()
    };
    assert_eq!(normal(uncombine(&["nc", "N/A"])), normal(uncombine(&["ab", "A"])));

    check(
        combine(&[]),
        expect![[r#"
        exit status: 1
        --- messages
        click-combine: no routers specified
    "#]],
    );
    check(
        combine(&["a.click", "1=b.click"]),
        expect![[r#"
        exit status: 1
        --- messages
        click-combine: two routers named '1'
    "#]],
    );
    check(
        combine(&["A=a.click", "B=b.click", "A.t=B.eth7", "C.t=B.eth1", "A.=B.eth1"]),
        expect![[r#"
        exit status: 1
        --- messages
        click-combine: router 'B' has no element or device named 'eth7'
        click-combine: no router named 'C'
        click-combine: bad link definition 'A.=B.eth1'
    "#]],
    );
    check(
        combine(&["A=a.click", "B=b.click", "A.t=B.eth1", "B.eth1=A.t"]),
        expect![[r#"
        exit status: 1
        --- messages
        click-combine: warning: router 'A' element 't' has unexpected class
        click-combine:   expected FromDevice or PollDevice, got ToDevice
        click-combine: router 'A' element 't' used as both source and destination
    "#]],
    );
    check(
        uncombine(&["ab"]),
        expect![[r#"
        exit status: 1
        --- messages
        click-uncombine: no component specified
    "#]],
    );
    check(
        uncombine(&["ab", "C"]),
        expect![[r#"
        exit status: 1
        --- messages
        ab: no 'C' component
    "#]],
    );
    check(
        uncombine(&["a.click", "A"]),
        expect![[r#"
        exit status: 1
        --- messages
        a.click: not created by 'click-combine' (no 'componentmap')
    "#]],
    );
}

const SMALL: &str = "// Two <ways>\nelementclass X { $n | -> Counter -> Strip($n) -> }\n\
    s :: InfiniteSource(DATA \"<&'>\",\n LIMIT 3) -> X(2) -> Queue -> d :: Discard;";

#[test]
fn pretty() {
    check(
        clique(&["click-pretty", "-u", "http://doc/%s.html", "-e", SMALL]),
        expect![[r#"
        exit status: 0
        --- output
        <!DOCTYPE html>
        <html><head>
        <meta charset='utf-8'>
        <title>Configuration</title>
        <style>
        .c-kw { font-weight: bold }
        .c-cfg { color: green }
        .c-cmt { color: gray }
        .ei, .et { font-family: sans-serif }
        .conntable td { padding-right: 1em }
        </style>
        </head><body>
        <h1>Configuration</h1>
        <pre><span class='c-cmt'>// Two &lt;ways&gt;</span>
        <span class='c-kw'>elementclass</span> X { $n | -&gt; Counter -&gt; Strip(<span class='c-cfg'>$n</span>) -&gt; }
        <a name='e-s'><span class='c-ed' title='s :: InfiniteSource'>s</span></a> :: InfiniteSource(<span class='c-cfg'>DATA &quot;&lt;&amp;&#39;&gt;&quot;,
         LIMIT 3</span>) -&gt; X(<span class='c-cfg'>2</span>) -&gt; <a name='e-Queue@3'><span class='c-ed' title='Queue@3 :: Queue'>Queue</span></a> -&gt; <a name='e-d'><span class='c-ed' title='d :: Discard'>d</span></a> :: Discard;</pre>
        <h1><a name='index'>Element index</a></h1>
        <p class='ei'><b>Queue@3</b> :: <a href='http://doc/Queue.html'>Queue</a> - <a href='#e-Queue@3'><i>config</i></a>, <a href='#et-Queue@3'><i>table</i></a></p>
        <p class='ei'><b>X@2/Counter@1</b> :: <a href='http://doc/Counter.html'>Counter</a> - <a href='#et-X@2/Counter@1'><i>table</i></a></p>
        <p class='ei'><b>X@2/Strip@2</b> :: <a href='http://doc/Strip.html'>Strip</a> - <a href='#et-X@2/Strip@2'><i>table</i></a></p>
        <p class='ei'><b>d</b> :: <a href='http://doc/Discard.html'>Discard</a> - <a href='#e-d'><i>config</i></a>, <a href='#et-d'><i>table</i></a></p>
        <p class='ei'><b>s</b> :: <a href='http://doc/InfiniteSource.html'>InfiniteSource</a> - <a href='#e-s'><i>config</i></a>, <a href='#et-s'><i>table</i></a></p>
        <h1><a name='tables'>Element tables</a></h1>
        <p class='et'><a name='et-Queue@3'><b>Queue@3</b></a> :: <a href='http://doc/Queue.html'>Queue</a></p>
        <table class='conntable'>
        <tr><td>input 0</td><td>(push)</td><td>&lt;-</td><td><a href='#et-X@2/Strip@2'>X@2/Strip@2</a> [0]</td></tr>
        <tr><td>output 0</td><td>(pull)</td><td>-&gt;</td><td>[0] <a href='#et-d'>d</a></td></tr>
        </table>
        <p class='et'><a name='et-X@2/Counter@1'><b>X@2/Counter@1</b></a> :: <a href='http://doc/Counter.html'>Counter</a></p>
        <table class='conntable'>
        <tr><td>input 0</td><td>(push)</td><td>&lt;-</td><td><a href='#et-s'>s</a> [0]</td></tr>
        <tr><td>output 0</td><td>(push)</td><td>-&gt;</td><td>[0] <a href='#et-X@2/Strip@2'>X@2/Strip@2</a></td></tr>
        </table>
        <p class='et'><a name='et-X@2/Strip@2'><b>X@2/Strip@2</b></a> :: <a href='http://doc/Strip.html'>Strip</a></p>
        <table class='conntable'>
        <tr><td>input 0</td><td>(push)</td><td>&lt;-</td><td><a href='#et-X@2/Counter@1'>X@2/Counter@1</a> [0]</td></tr>
        <tr><td>output 0</td><td>(push)</td><td>-&gt;</td><td>[0] <a href='#et-Queue@3'>Queue@3</a></td></tr>
        </table>
        <p class='et'><a name='et-d'><b>d</b></a> :: <a href='http://doc/Discard.html'>Discard</a></p>
        <table class='conntable'>
        <tr><td>input 0</td><td>(pull)</td><td>&lt;-</td><td><a href='#et-Queue@3'>Queue@3</a> [0]</td></tr>
        <tr><td colspan='4'>no outputs</td></tr>
        </table>
        <p class='et'><a name='et-s'><b>s</b></a> :: <a href='http://doc/InfiniteSource.html'>InfiniteSource</a></p>
        <table class='conntable'>
        <tr><td colspan='4'>no inputs</td></tr>
        <tr><td>output 0</td><td>(push)</td><td>-&gt;</td><td>[0] <a href='#et-X@2/Counter@1'>X@2/Counter@1</a></td></tr>
        </table>
        </body></html>
    "#]],
    );
    check(
        clique(&["click-pretty", "--dot", "-e", "Idle -> Nowhere :: Unknown"]),
        expect![[r#"
        exit status: 0
        --- output
        digraph click {
          node [shape=record];
          e0 [label="{Idle@1\nIdle|{<o0> 0}}"];
          e1 [label="{{<i0> 0}|Nowhere\nUnknown}"];
          e0:o0 -> e1:i0;
        }
    "#]],
    );
    check(
        clique(&["click-pretty", "-t", "x", "-e", SMALL]),
        expect![[r#"
        exit status: 1
        --- messages
        click-pretty: there are no templates here; the page is always the same
    "#]],
    );
    check(
        clique(&["click-pretty", "--gml", "-e", SMALL]),
        expect![[r#"
        exit status: 1
        --- messages
        click-pretty: there is neither GML nor GraphML here; '--dot' and 'clique graph --format json' are
    "#]],
    );
}

#[test]
fn xml() {
    check(
        clique(&["click2xml", "-e", SMALL]),
        expect![[r#"
        exit status: 0
        --- output
        <?xml version="1.0" encoding="UTF-8" standalone="no"?>
        <!DOCTYPE configuration SYSTEM "http://www.pdos.lcs.mit.edu/click/clickconfig.dtd">
        <configuration xmlns="http://www.lcdf.org/click/xml/">
        <element name="s" classname="InfiniteSource" file="config" line="3" ninputs="0" noutputs="1" processing="/h" config="DATA &quot;&lt;&amp;&#39;&gt;&quot;,&#10; LIMIT 3" />
        <element name="Queue@3" classname="Queue" file="config" line="4" ninputs="1" noutputs="1" processing="h/l" />
        <element name="d" classname="Discard" file="config" line="4" ninputs="1" noutputs="0" processing="l/" />
        <element name="X@2/Counter@1" classname="Counter" file="config" line="2" ninputs="1" noutputs="1" processing="h/h" />
        <element name="X@2/Strip@2" classname="Strip" file="config" line="2" ninputs="1" noutputs="1" processing="h/h" config="2" />
        <connection from="X@2/Strip@2" fromport="0" to="Queue@3" toport="0" processing="h" />
        <connection from="Queue@3" fromport="0" to="d" toport="0" processing="l" />
        <connection from="s" fromport="0" to="X@2/Counter@1" toport="0" processing="h" />
        <connection from="X@2/Counter@1" fromport="0" to="X@2/Strip@2" toport="0" processing="h" />
        </configuration>
    "#]],
    );
    check(
        clique(&["click2xml", "-l", "-e", "a :: Unknown -> [1] a"]),
        expect![[r#"
        exit status: 0
        --- output
        <?xml version="1.0" encoding="UTF-8" standalone="no"?>
        <!DOCTYPE configuration SYSTEM "http://www.pdos.lcs.mit.edu/click/clickconfig.dtd">
        <configuration xmlns="http://www.lcdf.org/click/xml/">
        <element name="a" classname="Unknown" file="config" line="1" ninputs="2" noutputs="1" processing="aa/a" />
        <connection from="a" fromport="0" to="a" toport="1" processing="a" />
        </configuration>
        --- messages
        click2xml: warning: there is no linuxmodule driver here
    "#]],
    );
}
