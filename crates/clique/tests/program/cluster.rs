//! `clique cluster`.

use super::clique;

/// What RB4 of the RouteBricks paper comes to.
#[test]
fn plan_of_four() {
    let text = clique(&["cluster", "plan", "--ports", "4", "--latency", "24"]);
    for line in [
        "topology              full mesh",
        "links                 6 of at least 5 Gbps",
        "20 Gbps with uniform traffic, 30 Gbps with the worst (c = 2 to 3)",
        "48.0 us straight, 72.0 us balanced",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}

/// Figure 3 as JSON and as a picture; a server that is too slow is an error with a reason.
#[test]
fn figure_3_is_printed_as_json_and_as_a_picture() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("figure3.svg");
    let file = file.to_str().expect("UTF-8");
    let text = clique(&["cluster", "plan", "--figure3", "--svg", file, "--json"]);
    let json: serde_json::Value =
        serde_json::from_str(text.trim_start_matches("exit status: 0\n--- output\n")).expect("JSON");
    assert_eq!(json["rows"][8]["points"][0]["servers"], 3_072);
    assert!(std::fs::read_to_string(file).expect("written").starts_with("<svg"));
    let slow = clique(&["cluster", "plan", "--ports", "8", "--packet-rate", "1000"]);
    assert!(slow.starts_with("exit status: 1\n") && slow.contains("too slow"), "{slow}");
}

/// Numbers without sense are refused, and none is so large that sums overflow or nothing ends.
#[test]
fn numbers_out_of_bounds() {
    for arguments in [
        "plan --ports 1000000000000",
        "plan --ports 0",
        "plan --ports 8 --line-rate 0.5",
        "sim --line-rate 0.5",
        "sim --latency 1e18",
        "sim --warmup nan",
        "sim --topology torus --dimensions 0",
        "sim --fail node:1@0..1e300",
        "reordering --milliseconds 999999999999999999",
    ] {
        let wrong = clique(&["cluster"].into_iter().chain(arguments.split(' ')).collect::<Vec<_>>());
        assert!(wrong.starts_with("exit status: 2\n"), "{arguments}: {wrong}");
    }
    for (arguments, error) in [
        ("plan --ports 8 --switch-ports 3", "switches of 3 ports connect nothing"),
        ("sim --topology fly --fanout 1", "at least two links"),
    ] {
        let wrong = clique(&["cluster"].into_iter().chain(arguments.split(' ')).collect::<Vec<_>>());
        assert!(wrong.starts_with("exit status: 1\n") && wrong.contains(error), "{arguments}: {wrong}");
    }
}

/// A permutation through a mesh: all of it arrives, and the same seed says the same.
#[test]
fn sim_of_a_permutation() {
    let run = || {
        let arguments = "cluster sim --ports 6 --line-rate 500M --traffic permutation --load 0.9 --milliseconds 15 \
                         --warmup 5 --order none --json";
        let text = clique(&arguments.split_whitespace().collect::<Vec<_>>());
        text.trim_start_matches("exit status: 0\n--- output\n").to_owned()
    };
    let json: serde_json::Value = serde_json::from_str(&run()).expect("JSON");
    assert!(json["of_theory"].as_f64() > Some(0.95), "{json}");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&run()).expect("JSON"), json);
    let wrong = clique(&["cluster", "sim", "--fail", "node:x@1..2"]);
    assert!(wrong.starts_with("exit status: 2\n") && wrong.contains("node:3@10..20"), "{wrong}");
}

/// A matrix from a file, with a mistake in it and without.
#[test]
fn sim_with_a_matrix() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("matrix");
    let run = |text: &str| {
        std::fs::write(&file, text).expect("written");
        let file = file.to_str().expect("UTF-8");
        clique(&[
            "cluster",
            "sim",
            "--ports",
            "2",
            "--traffic",
            "file",
            "--matrix",
            file,
            "--milliseconds",
            "6",
        ])
    };
    assert!(run("# two ports\n0 1\n0.5, 0\n").contains("of theory"));
    assert!(run("0 1\n0 one\n").contains("matrix:2: invalid float literal"));
    assert!(run("0 1\n").contains("a matrix of 2 rows and columns is needed"));
}

/// Order, compared; a strict cluster never reorders.
#[test]
fn a_strict_cluster_never_reorders() {
    let text = clique(&["cluster", "reordering", "--milliseconds", "20"]);
    let line = |name: &str| {
        text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {text}"))
    };
    let count = |name: &str| line(name)[27..].split_whitespace().next().and_then(|n| n.parse::<u32>().ok());
    assert!(count("Direct, packet by packet") > Some(37) && count("Direct, flowlets") < Some(2), "{text}");
    assert_eq!([count("Direct, strict by number"), count("Direct, strict by rest")], [Some(0); 2], "{text}");
}

/// Puts a cluster up in one process, with hosts that ping through it: when all of its nodes are as in `whole`, drains one, and takes
/// all down when they are as in `drained`. Both say what 'clique cluster status' shows, and how often.
fn try_in_a_process(arguments: &[&str], whole: &[(&str, usize)], node: &str, drained: &[(&str, usize)]) {
    let folder = tempfile::tempdir().expect("a directory");
    let socket = folder.path().join("socket");
    let socket = socket.to_str().expect("UTF-8");
    let up = super::program(
        &[&["cluster", "up", "--local", "4", "--in-memory", "-u", socket], arguments].concat(),
    )
    .stdout(std::process::Stdio::piped())
    .stderr(std::process::Stdio::piped())
    .spawn()
    .expect("the program can be started");
    let until = |wanted: &[(&str, usize)]| {
        for _ in 0..600 {
            let text = clique(&["cluster", "status", "-u", socket]);
            if wanted.iter().all(|(part, count)| text.matches(part).count() == *count) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("{}", clique(&["cluster", "status", "-u", socket]));
    };
    until(whole);
    assert_eq!(clique(&["cluster", "drain", "-u", socket, node]), "exit status: 0\n");
    until(drained);
    assert_eq!(clique(&["cluster", "down", "-u", socket]), "exit status: 0\n");
    let text = super::text(up.wait_with_output().expect("it ends"));
    assert!(text.starts_with("exit status: 0\n") && text.contains("packets transmitted"), "{text}");
}

/// Four nodes that are a mesh.
#[test]
fn four_nodes_in_a_process() {
    let drained = [("n1/vlb      left", 1), ("active         2/3", 3)];
    try_in_a_process(&["--order", "strict"], &[("active         3/3     3/3", 4)], "n1/vlb", &drained);
}

/// Four nodes that are a fly, with eight between them, of which one drains: all are reached without it.
#[test]
fn a_fly_in_a_process() {
    let whole = [("active         3/3     4/4", 4), ("active         4/4     4/4", 8)];
    let drained =
        [("n5/vlb      left", 1), ("active         3/3     3/4", 2), ("active         4/4     3/4", 2)];
    try_in_a_process(&["--fly", "2", "--order", "strict"], &whole, "n5/vlb", &drained);
    let many = clique(&["cluster", "up", "--local", "64", "--fly", "2", "--print"]);
    assert!(many.starts_with("exit status: 2\n") && many.contains("such a fly has 448 nodes"), "{many}");
}
