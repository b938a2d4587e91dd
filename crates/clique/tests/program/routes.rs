//! `clique routes`.

use crate::control::Running;
use crate::{clique, clique_in, clique_with};
use expect_test::expect;
use std::path::Path;
use tempfile::TempDir;

const KERNEL: &str = "default via 192.0.2.1 dev eth0 proto dhcp metric 100
10.0.0.0/8 proto bgp metric 20
\tnexthop via 192.0.2.2 dev eth0 weight 1
\tnexthop via 192.0.2.3 dev eth1 weight 3
10.1.0.0/16 via 192.0.2.4 dev eth1
blackhole 10.66.0.0/16
2001:db8::/32 via fe80::1 dev eth0
local 192.0.2.5 dev eth0 table local
";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("writable");
    write("kernel", KERNEL);
    write("list", "10.1.0.0/16 192.0.2.9 2\n10.66.0.0/16 1\n172.16.0.0/12 1\n");
    write("bad", "10.0.0.0/8\n\n10.0.0.0/40 1\n");
    folder
}

#[test]
fn import_prints_one_format() {
    let folder = folder();
    expect![[r#"
        exit status: 0
        --- output
        0.0.0.0/0 via 192.0.2.1 dev eth0
        unicast 10.0.0.0/8
        	nexthop via 192.0.2.2 dev eth0 weight 1
        	nexthop via 192.0.2.3 output 2 weight 3
        10.1.0.0/16 192.0.2.4 2
        blackhole 10.66.0.0/16
        2001:db8::/32 via fe80::1 dev eth0
    "#]]
    .assert_eq(&clique_in(folder.path(), &["routes", "import", "kernel", "--to", "eth1=2"]));
    // With outputs for all, next hops and their weights are written as 'set' takes them.
    let all = clique_in(folder.path(), &["routes", "import", "kernel", "--to", "eth1=2", "--to", "0"]);
    assert!(all.contains("\n10.0.0.0/8 nexthop 192.0.2.2 0 1 nexthop 192.0.2.3 2 3\n"), "{all}");
    assert_eq!(clique_in(folder.path(), &["routes", "import", "list", "-o", "copy"]), "exit status: 0\n");
    let copy = std::fs::read_to_string(folder.path().join("copy")).expect("written");
    assert_eq!(copy, "10.1.0.0/16 192.0.2.9 2\n10.66.0.0/16 1\n172.16.0.0/12 1\n");
    expect![[r#"
        exit status: 0
        --- output
        {
          "faults": 0,
          "routes": [
            {
              "next_hops": [
                {
                  "gateway": "1.2.3.4",
                  "interface": null,
                  "output": 5,
                  "weight": 1
                }
              ],
              "prefix": "10.0.0.0/8"
            }
          ],
          "skipped": 0
        }
    "#]]
    .assert_eq(&clique_with("10.0.0.0/8 via 1.2.3.4", &["routes", "import", "-", "--to", "5", "--json"]));
}

#[test]
fn errors_name_file_line_and_remedy() {
    let folder = folder();
    expect![[r#"
        exit status: 1
        --- messages
        clique routes: bad: line 3: bad prefix '10.0.0.0/40': prefix length 40 exceeds 32; write ADDR/LEN, as in 192.0.2.0/24
    "#]]
    .assert_eq(&clique_in(folder.path(), &["routes", "stats", "--strict", "bad"]));
    // Without '--strict' it is left out, and said.
    expect![[r#"
        exit status: 0
        --- output
        10.0.0.1	10.0.0.0/8	connected
        --- messages
        clique routes: bad: line 3: bad prefix '10.0.0.0/40': prefix length 40 exceeds 32; write ADDR/LEN, as in 192.0.2.0/24
    "#]]
    .assert_eq(&clique_in(folder.path(), &["routes", "lookup", "bad", "10.0.0.1"]));
    // A file of something else has no route at all.
    let other = clique_with("Dear router,\nforward!\n", &["routes", "import", "-"]);
    assert!(other.starts_with("exit status: 1\n") && other.contains("line 1: bad prefix 'Dear'"), "{other}");
    expect![[r#"
        exit status: 1
        --- messages
        clique routes: nowhere: No such file or directory
    "#]]
    .assert_eq(&clique_in(folder.path(), &["routes", "import", "nowhere"]));
}

/// The kernel's JSON, and a table that is asked for.
#[test]
fn kernel_routes_in_json_and_of_other_tables() {
    let json = r#"[{"dst":"10.0.0.0/8","via":{"family":"inet6","host":"fe80::1"},"dev":"eth0","flags":[]},
        {"dst":"10.1.0.0/16","gateway":"192.0.2.1","dev":"eth0","table":"100","flags":[]},
        {"dst":"10.2.0.0/16","encap":"mpls","dst":"7","gateway":"192.0.2.1","dev":"eth0","flags":[]}]"#;
    expect![[r#"
        exit status: 0
        --- output
        10.0.0.0/8 fe80::1 3
        --- messages
        clique routes: -: route 2: a route of table '100'
        clique routes: -: route 3: encapsulation (mpls) is not supported
    "#]]
    .assert_eq(&clique_with(json, &["routes", "import", "-", "--to", "eth0=3"]));
    let other = clique_with(json, &["routes", "import", "--table", "100", "-"]);
    assert!(other.contains("output\n10.1.0.0/16 via 192.0.2.1 dev eth0\n"), "{other}");
    let strict = clique_with(json, &["routes", "import", "--strict", "-"]);
    assert!(strict.starts_with("exit status: 1\n--- messages\nclique routes: -: route 2: "), "{strict}");
}

#[test]
fn lookup_tells_the_prefix_and_its_next_hops() {
    let folder = folder();
    let arguments =
        ["routes", "lookup", "kernel", "10.1.2.3", "10.2.0.0", "10.66.1.1", "9.9.9.9", "2001:db9::"];
    expect![[r#"
        exit status: 0
        --- output
        10.1.2.3	10.1.0.0/16	via 192.0.2.4 dev eth1
        10.2.0.0	10.0.0.0/8	via 192.0.2.2 dev eth0 weight 1, via 192.0.2.3 dev eth1 weight 3
        10.66.1.1	10.66.0.0/16	nowhere
        9.9.9.9	0.0.0.0/0	via 192.0.2.1 dev eth0
        2001:db9::	-	no route
    "#]]
    .assert_eq(&clique_in(folder.path(), &arguments));
    let list = folder.path().join("list");
    let list = list.to_str().expect("UTF-8");
    let found = clique_with("172.16.0.1\n8.8.8.8\n", &["routes", "lookup", list, "--json"]);
    assert!(found.contains("\"prefix\": \"172.16.0.0/12\"") && found.contains("\"prefix\": null"), "{found}");
    let error = clique_with("172.16.0.1\nhere\n", &["routes", "lookup", list]);
    assert!(error.contains("standard input: line 2: 'here' is no address"), "{error}");
}

#[test]
fn diff_lists_what_is_removed_added_and_changed() {
    let folder = folder();
    expect![[r#"
        exit status: 0
        --- output
        - 0.0.0.0/0	via 192.0.2.1 dev eth0
        - 10.0.0.0/8	via 192.0.2.2 dev eth0 weight 1, via 192.0.2.3 dev eth1 weight 3
        ~ 10.1.0.0/16	via 192.0.2.4 dev eth1 -> via 192.0.2.9 output 2
        ~ 10.66.0.0/16	nowhere -> output 1
        + 172.16.0.0/12	output 1
        - 2001:db8::/32	via fe80::1 dev eth0
        3 removed, 1 added, 2 changed
    "#]]
    .assert_eq(&clique_in(folder.path(), &["routes", "diff", "kernel", "list"]));
    let same = clique_in(folder.path(), &["routes", "diff", "kernel", "kernel"]);
    assert_eq!(same, "exit status: 0\n--- output\n0 removed, 0 added, 0 changed\n");
    let json = clique_in(folder.path(), &["routes", "diff", "--json", "--prefixes", "kernel", "list"]);
    assert!(json.contains("\"changed\": 0") && json.contains("\"removed\": 3"), "{json}");
}

/// The shipped table: its size is known, and so is the file's, but not how many bytes the tables take.
#[test]
fn stats_count_prefixes_and_updates() {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/internet-prefixes.txt.xz");
    let text = clique(&["routes", "stats", table.to_str().expect("UTF-8")]);
    assert!(text.contains("IPv4: 901899 prefixes, 0 to nowhere; 1 next hops; table "), "{text}");
    assert!(text.contains("IPv6: 160147 prefixes"), "{text}");
    let updates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lpm/tests/data/updates.mrt");
    let json = clique(&["routes", "stats", "--json", updates.to_str().expect("UTF-8")]);
    for expected in ["\"announced\": 3", "\"withdrawn\": 1", "\"peers\": 1", "\"prefixes\": 2"] {
        assert!(json.contains(expected), "{json}");
    }
}

/// Real updates over a table of which they change a part.
#[test]
fn replayed_updates_agree_with_a_slow_table() {
    let folder = folder();
    let updates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lpm/tests/data/rrc15-20100227.1610.gz");
    let updates = updates.to_str().expect("UTF-8");
    let json = clique_in(folder.path(), &["routes", "replay", "--json", "list", updates]);
    for expected in
        ["\"prefixes_before\": 3", "\"announcements\": 404", "\"withdrawals\": 440", "\"wrong\": 0"]
    {
        assert!(json.contains(expected), "{json}");
    }
    let text = clique_in(folder.path(), &["routes", "replay", "list", updates]);
    assert!(text.contains("as a slow table says"), "{text}");
    let none = clique_in(folder.path(), &["routes", "replay", "list", "list"]);
    assert!(none.contains("list: not an MRT file"), "{none}");
}

#[test]
fn import_into_a_running_router() {
    let folder = folder();
    let config = "Idle -> r :: IPLookup; r[0] -> Discard; r[1] -> Discard; r[2] -> Discard; InfiniteSource(ACTIVE false) -> Discard";
    let running = Running::start("run", config, &[]);
    let socket = running.socket.to_str().expect("UTF-8").to_owned();
    let import = |file: &str, rest: &[&str]| {
        let arguments = [&["routes", "import", file, "--into", "r", "-u", &socket][..], rest].concat();
        clique_in(folder.path(), &arguments)
    };
    let done = import("kernel", &["--to", "eth0=0", "--to", "eth1=2"]);
    assert_eq!(done, "exit status: 0\n--- output\nr: kernel: 4 IPv4 and 1 IPv6 routes read\n");
    assert!(running.talk("read r.lookup 10.1.1.1").contains("2 192.0.2.4"));
    // What comes from standard input is sent all the same.
    let arguments = ["routes", "import", "-", "--into", "r", "-u", &socket, "--to", "1"];
    let done = clique_with("10.9.0.0/16 192.0.2.9 2\n10.10.0.0/16\n", &arguments);
    assert_eq!(done, "exit status: 0\n--- output\nr: -: 2 IPv4 and 0 IPv6 routes read\n");
    assert!(running.talk("read r.lookup 10.9.1.1").contains("2 192.0.2.9"));
    assert!(running.talk("read r.length").contains("\n6"));
    let done = import("list", &["--replace"]);
    assert_eq!(done, "exit status: 0\n--- output\nr: list: 3 IPv4 and 0 IPv6 routes read\n");
    assert!(running.talk("read r.length").contains("\n3"));
    let refused = import("kernel", &["--to", "eth0=7", "--to", "1"]);
    assert!(refused.contains("exit status: 3") && refused.contains("output 7 of"), "{refused}");
    running.talk("write stop");
    running.end();
}
