//! The measurement runs, and the element does what it says.

use lang::Graph;
use router::{Call, Classes, Options, Resources, Router, Standing};
use rte_fib::fib::Pages;
use rte_fib::{Ring, Traffic};
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;

/// The program compares all tables before it measures: a wrong answer is an error.
#[test]
fn the_measurement_reports_all_contenders() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_rte-fib")).args(["--tiny", "--json"]).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let figures = report["figures"].as_array().expect("figures");
    // With both rings; without AVX-512 there is one contender less.
    assert!([8, 10].contains(&figures.len()), "{report:#}");
    assert!(figures.iter().all(|figure| figure["ns_a_packet"]["median"].as_f64() > Some(0.0)));
    let notes = report["notes"].as_array().expect("notes").iter().filter_map(|note| note.as_str());
    assert_eq!(notes.filter(|note| note.starts_with("same output and gateway")).count(), 2);
}

fn graph(text: &str) -> Graph {
    let parsed = lang::parse(text, "test", &[]);
    assert!(!parsed.has_errors(), "{}", parsed.render_click());
    parsed.graph
}

/// A router that sends to these destinations.
fn router(text: &str, list: Vec<u32>) -> Result<Router, String> {
    // The other test's process may have taken all huge ones.
    rte_fib::fib::start(Pages::Small).expect("DPDK starts");
    let families = [elements_general::FAMILIES, elements_net::FAMILIES, elements_routing::FAMILIES];
    let product = families.iter().copied().flatten().copied().flatten().copied();
    let known = Classes::new(product.chain(rte_fib::CLASSES.iter().copied()));
    let layout = router::layout(graph(text), &known, 1).map_err(|e| lang::render_click(&e))?;
    let mut resources = Resources::default();
    resources.insert(Arc::new(Traffic { lists: vec![list], rings: vec![Ring::new(4096, 64)] }));
    let options = Options { resources, vector: 32, counted: true, ..Options::default() };
    let built = router::build(layout, text.to_owned(), &known, options);
    built.map(|(router, _)| router).map_err(|e| lang::render_click(&e))
}

fn read(router: &mut Router, path: &str, argument: &str) -> String {
    router.call(Call::read(path, argument)).expect("a value")
}

/// Overlapping prefixes of all kinds, a list with a wide range of answers, batches of all sizes: against the product's element, and packets
/// are conserved.
#[test]
fn random_routes_lead_where_iplookup_leads() {
    let mut rng = fastrand::Rng::with_seed(7);
    let mut routes = BTreeMap::new();
    for _ in 0..300 {
        let len = rng.u32(14..=32);
        let prefix = (0x0a00_0000 | rng.u32(..) & 0x0003_ffff) & u32::MAX << (32 - len);
        let gateway = if rng.bool() { format!("192.0.2.{}", rng.u8(1..9)) } else { "-".to_owned() };
        routes.insert((prefix, len), format!("{gateway} {}", rng.u32(0..3)));
    }
    let routes: Vec<String> = routes
        .iter()
        .map(|(&(prefix, len), to)| format!("{}/{len} {to}", std::net::Ipv4Addr::from(prefix)))
        .collect();
    let routes = routes.join(", ");
    let list: Vec<u32> = (0..5000).map(|_| 0x0a00_0000 | rng.u32(..) & 0x0007_ffff).collect();
    let path = |name: &str, class: &str| {
        format!(
            "{name}_source :: RingSource -> CheckIPHeader -> {name} :: {class}; {name}_sink :: Sink;
             {name}[0] -> {name}_sink; {name}[1] -> [1]{name}_sink; {name}[2] -> [2]{name}_sink;"
        )
    };
    let text = path("own", &format!("IPLookup({routes})"))
        + &path("fib", &format!("RteFibLookup({routes}, ROUTES 1000)"));
    let mut router = router(&text, list).expect("a router");
    for packets in [1, 2, 31, 33, 5000] {
        let fates = ["own", "fib"].map(|name| {
            router.call(Call::write(format!("{name}_sink.note"), "true")).expect("noting");
            router
                .call(Call::write(format!("{name}_source.send"), format!("0 0 {packets}")))
                .expect("sending");
            while router.run_rounds(1000) == Standing::Busy {}
            (
                read(&mut router, &format!("{name}_sink.noted"), ""),
                read(&mut router, &format!("{name}.drop_reasons"), ""),
            )
        });
        assert_eq!(fates[0], fates[1], "{packets} packets");
        assert!(packets < 5000 || fates[0].1.contains("no route"), "all have a route");
    }
    router.balance().check().expect("packets are conserved");
    for address in ["10.0.0.1", "10.1.2.3", "11.0.0.0", "10.3.255.255"] {
        let [own, fib] = ["own.lookup", "fib.lookup"].map(|path| read(&mut router, path, address));
        assert_eq!(own, fib, "{address}");
    }
}

#[test]
fn wrong_routes_are_refused() {
    let error = |route: &str| {
        let text = format!("Idle -> r :: RteFibLookup({route}, ROUTES 1000) -> Discard;");
        router(&text, vec![0]).err().expect("an error")
    };
    assert!(error("10.0.0.0/8 1").contains("output 1 does not exist"), "{}", error("10.0.0.0/8 1"));
    assert!(error("10.0.0.0/8").contains("ADDR/MASK [GATEWAY] OUTPUT"), "{}", error("10.0.0.0/8"));
}
