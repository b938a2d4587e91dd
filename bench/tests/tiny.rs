//! Every benchmark runs, with few packets, so that none rots.

use std::process::Command;

/// The figures that a benchmark prints.
fn figures(benchmark: &str) -> Vec<serde_json::Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_clique-bench"))
        .args([benchmark, "--tiny", "--json"])
        .output()
        .expect("the benchmark starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    report["figures"].as_array().expect("figures").clone()
}

#[test]
fn forward_has_a_positive_time_in_each_row() {
    let figures = figures("forward");
    assert_eq!(figures.len(), 16);
    assert!(figures.iter().all(|figure| figure["ns_median"].as_f64() > Some(0.0)));
}

#[test]
fn rewriter_reports_all_rows() {
    assert_eq!(figures("rewriter").len(), 16);
}

/// All routes arrive, forwarding goes on, and a group that changes is one change.
#[test]
fn fpm_fills_tables_of_both_families() {
    let figures = figures("fpm");
    assert_eq!(figures.len(), 2);
    for figure in &figures {
        for name in ["routes_per_cpu_second", "idle_pps", "busy_pps", "group_us_median"] {
            assert!(figure[name].as_f64() > Some(0.0), "{name}: {figure}");
        }
    }
}

/// Fifteen subjects at three lengths, or fewer where the processor cannot run one or two of the ciphers; three of them beside another.
#[test]
fn esp_reports_ciphers_beside_elements() {
    let figures = figures("esp");
    assert!([39, 42, 45].contains(&figures.len()), "{}", figures.len());
    let rates: Vec<_> = figures.iter().filter_map(|figure| figure["rate"]["times"].as_f64()).collect();
    assert!(rates.len() == 9 && rates.iter().all(|times| *times > 0.0), "{rates:?}");
    assert!(figures.iter().all(|figure| figure["ns_median"].as_f64() > Some(0.0)));
}

/// Each configuration meets elements that have a cost.
#[test]
fn predict_adds_up_what_is_met() {
    let figures = figures("predict");
    assert_eq!(figures.len(), 11);
    for figure in &figures {
        assert!(
            figure["predicted_ns"].as_f64() > Some(0.0) && figure["ns_median"].as_f64() > Some(0.0),
            "{figure}"
        );
        let met = figure["elements"].as_array().expect("elements");
        let sum: f64 = met.iter().filter_map(|met| met["ns"].as_f64()).sum();
        assert!((sum - figure["predicted_ns"].as_f64().expect("a number")).abs() < 1e-6, "{figure}");
        // Sources make each packet once, and a sink of them is met as often.
        assert!(met.iter().any(|met| met["times_a_packet"] == 1.0), "{figure}");
    }
}

/// Seven ways to share out the work, three applications of eight sizes, their loads, memory, and what follows by arithmetic: more servers are
/// needed for more ports.
#[test]
fn server_reports_all_rows() {
    let figures = figures("server");
    let named = |begin: &str| {
        let begins =
            |figure: &&serde_json::Value| figure["name"].as_str().is_some_and(|name| name.starts_with(begin));
        figures.iter().filter(begins).collect::<Vec<_>>()
    };
    assert_eq!(named("parallel: ").len(), 7);
    assert_eq!(named("application: ").len(), 24);
    assert_eq!(named("load: ").len(), 24);
    assert_eq!(named("projection: ").len(), 3);
    assert!(named("parallel: ").iter().all(|figure| figure["mpps"]["median"].as_f64() > Some(0.0)));
    assert!(named("memory: ").iter().all(|figure| figure["lines_gbps"]["median"].as_f64() > Some(0.0)));
    assert_eq!(named("checksum: ").len(), 3);
    assert!(named("checksum: ").iter().all(|figure| figure["octets_a_ns"]["median"].as_f64() > Some(0.0)));
    // A source that ignores its rate would be at the highest.
    let late = |load: &&&serde_json::Value| load["load_percent"] == 1.0;
    assert!(named("load: ").iter().filter(late).all(|load| load["mpps"]["median"].as_f64() < Some(5.0)));
    let servers: Vec<_> = named("servers: ").iter().filter_map(|row| row["servers"][0].as_u64()).collect();
    assert!(servers.len() == 10 && servers.is_sorted(), "{servers:?}");
}

#[test]
fn filter_reports_all_rows() {
    assert_eq!(figures("filter").len(), 4);
}

/// Five tables, four figures each, for one worker and for two; and no flood displaces an established flow of the product's tables.
#[test]
fn flows_reports_all_rows() {
    let figures = figures("flows");
    assert_eq!(figures.len(), 5 * 4 * 2);
    assert!(figures.iter().all(|figure| figure["ns_median"].as_f64() > Some(0.0)));
    assert!(figures.iter().all(|figure| figure["lost"].as_u64() == Some(0)));
}

/// Four designs, for one thread and for two; locks take time in those that have them, and none in the product.
#[test]
fn bsd_reports_all_designs() {
    let figures = figures("bsd");
    assert_eq!(figures.len(), 8);
    assert!(figures.iter().all(|figure| figure["mpps_median"].as_f64() > Some(0.0)));
    let ours = figures.iter().filter(|figure| figure["design"] == "clique");
    assert!(ours.into_iter().all(|figure| figure["lock_share"].as_f64() == Some(0.0)));
}

/// Both paths lead to the same next hops, and the table knows its destinations.
#[test]
fn flows_compares_remembered_routes() {
    let report = tiny(&["flows", "--cache"]);
    let figures = report["figures"].as_array().expect("figures");
    assert_eq!(figures.len(), 8);
    let cached: Vec<_> = figures.iter().filter(|figure| figure["table"] == "cached").collect();
    assert!(cached.iter().all(|figure| figure["hits"].as_f64() > Some(0.9)), "{cached:?}");
}

/// Every stage's configuration is accepted and comes to its end, and is a row unless it asks for none.
#[test]
fn every_stage_is_a_row_of_classes() {
    let stages = include_str!("../../tests/stages.txt").lines();
    let counts =
        stages.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_whitespace().nth(3));
    let measured = counts.filter(|count| *count != "0").count();
    assert_eq!(figures("classes").len(), measured);
}

/// With root there is a figure for each forwarder, otherwise a reason.
#[test]
fn devices_report_figures_or_a_reason() {
    let report = tiny(&["devices"]);
    let figures = report["figures"].as_array().expect("figures");
    match report["skipped"].as_str() {
        None => {
            // DPDK's program over two kinds of sockets, one of which gets a load, where it is installed.
            let has_testpmd = report["missing"].is_null();
            assert_eq!(figures.len(), if has_testpmd { 19 } else { 17 });
            // A forwarder that takes all and sends nothing would be the fastest.
            assert!(figures[1..].iter().all(|figure| figure["lost"].as_u64() < Some(1_000)), "{figures:?}");
            let loads = if has_testpmd { 15 } else { 12 };
            assert_eq!(report["latencies"].as_array().map(Vec::len), Some(loads));
            assert_eq!(report["replacements"].as_array().map(Vec::len), Some(2));
        }
        Some(reason) => println!("skipped: {reason}"),
    }
}

#[test]
fn rcu_read_has_a_positive_time_in_each_row() {
    let report = tiny(&["rcu-read"]);
    let figures = report["figures"].as_array().expect("figures");
    // Nine schemes and perhaps liburcu, in four situations.
    assert!([36, 40].contains(&figures.len()), "{}", figures.len());
    assert!(figures.iter().all(|figure| figure["ns_a_read"]["median"].as_f64() > Some(0.0)));
}

#[test]
fn rcu_update_reports_all_rows_and_a_limit() {
    let report = tiny(&["rcu-update"]);
    let figures = report["figures"].as_array().expect("figures");
    // Eleven cases, perhaps over liburcu, too.
    assert!([11, 22].contains(&figures.len()), "{}", figures.len());
    let limit = report["limit_bytes"].as_f64().expect("a limit");
    let ours = figures.iter().filter(|figure| figure["library"] == "clique rcu");
    let peaks: Vec<_> = ours.filter_map(|figure| figure["waiting_bytes_max"]["max"].as_f64()).collect();
    assert_eq!(peaks.len(), 9);
    assert!(peaks.iter().all(|peak| *peak <= limit));
}

#[test]
fn rcu_grace_meets_grace_periods_in_each_row() {
    let report = tiny(&["rcu-grace"]);
    let figures = report["figures"].as_array().expect("figures");
    assert_eq!(figures.len(), 30);
    assert!(figures.iter().all(|figure| figure["grace_periods"].as_u64() > Some(0)));
}

#[test]
fn rcu_costs_reports_ten_rows_at_least() {
    let report = tiny(&["rcu-costs"]);
    // Without a second processor nothing is transferred.
    assert!(report["figures"].as_array().map(Vec::len) >= Some(10));
}

#[test]
fn rcu_model_reports_break_evens_and_charts() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = tiny(&["rcu-model", "--svg", &folder.path().display().to_string()]);
    assert_eq!(report["break_even"].as_array().map(Vec::len), Some(8));
    let charts: Vec<_> = std::fs::read_dir(folder.path()).expect("its files").collect();
    assert_eq!(charts.len(), 6);
}

#[test]
fn rcu_hash_reports_all_rows_and_charts() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = tiny(&["rcu-hash", "--svg", &folder.path().display().to_string()]);
    assert_eq!(std::fs::read_dir(folder.path()).expect("charts").count(), 3);
    let figures = report["figures"].as_array().expect("figures");
    assert_eq!(figures.len(), 3 * 6 * 6);
    assert!(figures.iter().all(|figure| figure["operations_per_s"]["median"].as_f64() > Some(0.0)));
}

#[test]
fn rcu_ap_reports_all_rows() {
    // Fails by itself if an item was not as its owner left it.
    let report = tiny(&["rcu-ap"]);
    assert_eq!(report["figures"].as_array().map(Vec::len), Some(5 * 7 + 6 * 7));
}

#[test]
fn rcu_thesis_reports_all_rows() {
    let report = tiny(&["rcu-thesis"]);
    // With two threads at most: two rows, one, two, one; twice.
    assert_eq!(report["rows"].as_array().map(Vec::len), Some(12));
    // Three protections on one worker and on two; lock and RCU while routes change.
    let elements = report["elements"].as_array().expect("elements");
    assert_eq!(elements.len(), 8);
    assert!(elements.iter().all(|row| row["ns"]["median"].as_f64() > Some(0.0)));
}

/// What a benchmark reports when it runs tiny.
fn tiny(arguments: &[&str]) -> serde_json::Value {
    let output = Command::new(env!("CARGO_BIN_EXE_clique-bench"))
        .args(arguments)
        .args(["--tiny", "--json"])
        .output()
        .expect("the benchmark starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn lpm_reports_lookups_changes_and_steps() {
    let updates = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/lpm/tests/data/rrc15-20100227.1610.gz");
    let report = tiny(&["lpm", "--updates", updates]);
    // Two families, three traces, six ways, three tables.
    assert_eq!(report["figures"].as_array().expect("figures").len(), 108);
    let changes = report["changes"].as_array().expect("changes");
    assert_eq!(changes.len(), 2);
    assert!(changes.iter().all(|of| of["single_changes_per_s"]["median"].as_f64() > Some(0.0)));
    assert_eq!(report["updates"][0]["withdrawals"], 138);
    let steps = report["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), 6);
    assert!(steps.iter().all(|of| of["lines"].as_f64() >= Some(1.0)));
}

#[test]
fn cluster_reports_all_rows() {
    let figures = figures("cluster");
    // Seven costs; four roles of nodes with two sizes; a simulated cluster with two matrices; workers; six orders, two sizes with two
    // matrices each; flowlets and single packets at two loads with two matrices; RB4; busy nodes; a flow over several workers.
    assert_eq!(figures.len(), 7 + 8 + 2 + WORKERS_ROWS + 6 + 4 + 8 + RB4_ROWS + 7 + ELEPHANT_ROWS);
    assert!(figures[..7].iter().all(|figure| figure["ns"].as_f64() > Some(0.0)));
}

/// What a source takes, a router alone, and a node's three roles.
const WORKERS_ROWS: usize = 2 + 3;

/// Both workers of a node get packets through in each role; otherwise there would be no figures.
#[test]
fn workers_share_a_node() {
    let report = tiny(&["cluster", "--only", "workers"]);
    let figures = report["figures"].as_array().expect("figures");
    assert_eq!(figures.len(), WORKERS_ROWS);
    for column in ["one_ns", "two_ns", "times"] {
        assert!(figures.iter().all(|figure| figure[column]["median"].is_f64()), "{column}: {figures:?}");
    }
    assert!(figures[2..].iter().all(|figure| figure["goal"].as_f64() == Some(1.8)), "{figures:?}");
}

/// Work of seven times, ESP with two sizes of packets, and the work that pays.
const ELEPHANT_ROWS: usize = 7 + 2 + 1;

/// A flow that is spread over workers arrives whole and in order, in real time and in virtual time; otherwise there would be no figures.
#[test]
fn elephants_arrive_in_order() {
    let report = tiny(&["cluster", "--only", "elephant"]);
    let figures = report["figures"].as_array().expect("figures");
    assert_eq!(figures.len(), ELEPHANT_ROWS);
    for column in ["times", "virtual_two_times", "virtual_four_times"] {
        assert!(
            figures[..9].iter().all(|figure| figure[column].as_f64() > Some(0.0)),
            "{column}: {figures:?}"
        );
    }
}

/// Ten loss-free rates, latency at three loads of each; four roles with three sizes; four orders; four nodes over one with two matrices.
const RB4_ROWS: usize = 10 + 10 * 3 + 12 + 4 + 2;

/// Nodes forward, in order where they are told to, and take time for it; a hop is shorter than the way.
#[test]
fn rb4_is_measured_with_running_nodes() {
    let report = tiny(&["cluster", "--only", "rb4"]);
    let figures = report["figures"].as_array().expect("figures");
    assert_eq!(figures.len(), RB4_ROWS);
    let of = |begin: &str| -> Vec<&serde_json::Value> {
        let is =
            |figure: &&serde_json::Value| figure["name"].as_str().is_some_and(|name| name.starts_with(begin));
        figures.iter().filter(is).collect()
    };
    assert!(of("rb4 rate: ").iter().all(|rate| rate["packets_per_s"]["median"].as_f64() > Some(1e4)));
    assert!(of("rb4 cost: ").iter().all(|cost| cost["node_ns"]["median"].as_f64() > Some(0.0)));
    for latency in of("rb4 latency: mesh") {
        let p50 = |column: &str| latency[column]["p50"].as_f64();
        assert!(p50("egress_us") > Some(0.0) && p50("across_us") > p50("egress_us"), "{latency}");
    }
    let orders = of("rb4 order: ");
    let percent = |at: usize| orders[at]["percent"]["median"].as_f64();
    // Classic VLB, Direct, flowlet, strict.
    assert!(percent(0) > Some(0.0) && percent(1) > Some(0.0), "{orders:?}");
    assert_eq!(percent(3), Some(0.0));
}
