//! Section 5.3 and Figure 3, by arithmetic: what more cores and more servers would do.

use cluster::plan::paper;
use serde_json::{Value, json};

/// Cores of the paper's server, and of the one that it expects.
const CORES: [f64; 2] = [8.0, 32.0];
/// Gigabits a second of 64-octet packets that it measured and projected for these.
const PUBLISHED: [(&str, [f64; 2]); 3] =
    [("minimal forwarding", [9.7, 38.8]), ("IP routing", [6.35, 19.9]), ("IPsec", [1.4, 5.8])];

/// Rates of more cores as if each did what one does here, and the servers for routers of N ports.
pub(super) fn figures(measured: &[Value]) -> Vec<Value> {
    let cores = PUBLISHED.iter().filter_map(|(application, published)| {
        let one = measured.iter().find(|row| row["application"] == *application && row["size"] == "64")?;
        let gbps = one["gbps_a_core"]["median"].as_f64()?;
        Some(json!({
            "name": format!("projection: {application}"),
            "published_gbps": published,
            "gbps": CORES.map(|cores| cores * gbps),
            "cores": CORES,
        }))
    });
    let servers = paper::figure3().into_iter().map(|row| {
        json!({
            "name": format!("servers: {} ports", row.ports),
            "ports": row.ports,
            "servers": row.points.iter().map(|point| point.servers).collect::<Vec<_>>(),
            "kinds": paper::CONFIGURATIONS.map(|kind| kind.name),
            "switched_in_servers": row.switched.in_servers,
            "kilowatts": row.points.iter().map(|point| point.kilowatts).collect::<Vec<_>>(),
        })
    });
    cores.chain(servers).collect()
}
