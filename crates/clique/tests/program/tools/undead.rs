//! `click-undead`.

use super::{check, fails};
use crate::{clique, clique_in};
use expect_test::expect;

#[test]
fn dead_elements_go_and_are_told_of() {
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
            # 1 "config"
            r :: RandomSource(64);
            # 1 "config"
            Counter@11 :: Counter;
            # 1 "config"
            Discard@12 :: Discard;
            # 16 ""
            InfiniteSource@1 -> Queue@4
                -> ToDump@9;
            r -> Counter@11
                -> Discard@12;
            --- messages
            config:1: 'InfiniteSource@1 :: InfiniteSource' is source
            config:1: assuming 'Discard@3 :: Discard' is sink
            config:1: 'ToDump@9 :: ToDump' is sink
            config:1: assuming 'r :: RandomSource' is source
            config:1: assuming 'Discard@12 :: Discard' is sink
            config:1: removing 'Discard@3 :: Discard'
            config:1: removing 'Idle@7 :: Idle'
            config:1: removing 'Queue@8 :: Queue'
            <click-undead>: removing 'Idle@13 :: Idle'
            config:1: removing redundant scheduler 'rr :: PrioSched'
        "#]],
    );
    fails(
        clique(&["click-undead", "-e", "Idle -> Counter -> Discard"]),
        "warning: no live elements in configuration",
    );
    fails(
        clique(&["click-undead", "-e", "Idle -> [1] Discard"]),
        "config:1: too many inputs for 'Discard@2', 1 allowed\n\
         config:1: 'Discard@2' input 1 used here\n\
         config:1: 'Discard@2' push input 0 not connected\n\
         warning: no live elements in configuration",
    );
    fails(clique(&["click-undead", "-k", "-e", "Idle"]), "click-undead: there is no kernel module here");
}

/// What elements of these classes do with packets, as far as their classes say it. Where they do not, connections decide, of which
/// there are none.
#[test]
fn roles_of_classes() {
    const OPEN: &str = "assuming is source and sink";
    for (class, expected) in [
        ("InfiniteSource", "is source"),
        ("FromDevice", OPEN),
        ("FromDump", OPEN),
        ("ToDevice", "is sink"),
        ("ToDump", "is sink"),
        ("ToIPSummaryDump", "is sink"),
        ("KernelTun", "is source and sink"),
        ("Socket", "is source and sink"),
        ("Discard", OPEN),
        ("Idle", "assuming is live"),
        ("Queue", OPEN),
        ("Unqueue", OPEN),
        ("RoundRobinUnqueue", OPEN),
        ("PrioSched", OPEN),
        ("Tee", OPEN),
        ("AddressInfo", OPEN),
    ] {
        let said = clique(&["click-undead", "-V", "-e", &format!("a :: {class}")]);
        let name = format!("'a :: {class}' ");
        let found: Vec<String> = said
            .lines()
            .filter_map(|line| {
                let (before, after) = line.split_once(&name)?;
                let assuming = if before.ends_with("assuming ") { "assuming " } else { "" };
                after.starts_with("is ").then(|| format!("{assuming}{after}"))
            })
            .collect();
        assert_eq!(found, [expected], "{class}");
    }
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

/// Classes that are not known and ports that do not fit are told of, and the rest is done.
#[test]
fn what_is_unknown_or_unfit_is_told_of_and_the_rest_done() {
    let config = "InfiniteSource -> a :: Nonesuch -> Null -> ToDump(x); Idle -> b :: Nonesuch -> Discard; c :: Counter -> Discard";
    check(
        clique(&["click-undead", "-e", config]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "config"
        InfiniteSource@1 :: InfiniteSource;
        # 1 "config"
        a :: Nonesuch;
        # 1 "config"
        ToDump@4 :: ToDump(x);
        # 1 "config"
        c :: Counter;
        # 1 "config"
        Discard@9 :: Discard;
        # 12 ""
        InfiniteSource@1 -> a
            -> ToDump@4;
        c -> Discard@9;
        --- messages
        config:1: warning: unknown element class 'Nonesuch'
        config:1: too few inputs for 'c', 1 required
    "#]],
    );
}
