//! Figure 8: the three applications at sizes from 64 to 1,518 octets, IMIX and a made-up trace.

use super::frames;
use super::run::{Case, Effort, time};
use crate::rcu::Spread;
use serde_json::{Value, json};

/// The applications, as they are shipped.
pub(super) const APPLICATIONS: [(&str, &str); 3] = [
    ("minimal forwarding", include_str!("../../../conf/routebricks/minimal.click")),
    ("IP routing", include_str!("../../../conf/routebricks/routing.click")),
    ("IPsec", include_str!("../../../conf/routebricks/ipsec.click")),
];

/// Sizes of frames, with the four octets that hardware adds.
const SIZES: [&str; 8] = ["64", "128", "256", "512", "1024", "1518", "imix", "trace"];

/// An application whose packets are those of [`frames`], so many a second, or with 0 as fast as it takes them.
pub(super) fn case((name, text): (&str, &str), size: &str, packets: u64, rate: u64) -> Result<Case, String> {
    let (begin, end) = ("InfiniteSource(", "STOP true)");
    let changed = text.split_once(begin).and_then(|(before, rest)| Some((before, rest.split_once(end)?.1)));
    let (before, behind) = changed.ok_or_else(|| format!("{name} has no InfiniteSource"))?;
    Ok(Case {
        name: format!("{name}, {size}"),
        config: format!("{before}frames :: Frames({size}, LIMIT $packets, RATE {rate}){behind}"),
        parameters: ["IN", "OUT"].map(|side| (side.to_owned(), format!("MEMORY {packets}"))).into(),
        workers: 1,
        vector: router::DEFAULT_VECTOR,
        sinks: vec!["sent".to_owned()],
    })
}

/// Lets sources draw from the routes.
pub(super) fn spread_destinations(effort: &Effort) -> Result<(), String> {
    let prefixes = crate::devices::prefixes(&effort.routes)?;
    frames::set_destinations(prefixes.iter().map(|prefix| prefix.addr()).collect());
    Ok(())
}

/// A row for each application and size.
pub(super) fn figures(effort: &Effort) -> Result<Vec<Value>, String> {
    spread_destinations(effort)?;
    let is_wanted =
        |name: &str, size: &str| effort.application.as_deref().is_none_or(|one| one == name && size == "64");
    let rows: Vec<_> = APPLICATIONS
        .into_iter()
        .flat_map(|app| SIZES.map(|size| (app, size)))
        .filter(|((name, _), size)| is_wanted(name, size))
        .collect();
    let mut times = vec![Vec::new(); rows.len()];
    for _ in 0..effort.rounds {
        for ((application, size), times) in rows.iter().zip(&mut times) {
            let took = time(&case(*application, size, effort.packets, 0)?, effort)?;
            times.push(took.elapsed_ns / took.packets);
        }
    }
    let figure = |((application, size), ns): (&((&str, &str), &str), &Vec<f64>)| {
        let octets = mean(size);
        let gbps: Vec<f64> = ns.iter().map(|ns| octets * 8.0 / ns).collect();
        json!({
            "name": format!("application: {}, {size}", application.0),
            "application": application.0,
            "size": size,
            "octets": octets,
            "ns": Spread::of(ns),
            "gbps_a_core": Spread::of(&gbps),
            "instructions_per_packet": if *size == "64" { instructions(application.0, effort) } else { None },
        })
    };
    Ok(rows.iter().zip(&times).map(figure).collect())
}

/// Instructions of a 64-byte packet, if they are to be counted and can be: without valgrind the other figures are still worth having.
fn instructions(application: &str, effort: &Effort) -> Option<f64> {
    if !effort.instructions {
        return None;
    }
    let routes = effort.routes.display().to_string();
    let command = [
        "server",
        "--only",
        "applications",
        "--rounds",
        "1",
        "--routes",
        &routes,
        "--application",
        application,
    ];
    crate::callgrind::per_packet_of(&command).inspect_err(|error| eprintln!("{application}: {error}")).ok()
}

/// Octets of a frame, on average.
fn mean(size: &str) -> f64 {
    const COUNT: usize = 12_000; // IMIX comes in twelves
    let sum: usize = frames::sizes(size).map_or(0, |sizes| sizes.take(COUNT).sum());
    sum as f64 / COUNT as f64
}
