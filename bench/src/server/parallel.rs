//! Figures 6 and 7: what it costs when several cores touch a packet or a queue, and what batches save.
//!
//! A forwarding path is a receive queue, minimal forwarding and a transmit queue. The queues are Queue elements here. In memory a core's own queue
//! at a port of its own, (b), and at a port that it shares, (d), are the same.

use super::run::{Case, Effort, time};
use crate::rcu::Spread;
use serde_json::{Value, json};

/// Times the packets that applications get. A path takes some 10 ns a packet, and a run of less than a tenth of a second is mostly its beginning:
/// places that were never touched, a processor that wakes up. Runs of 5 and of 20 million packets differed by two in their rates.
const LONGER: u64 = 8;

/// What stands between a source and a sink: a Queue, and the task that empties it.
const PATH: &str = "Queue(2048) -> u :: Unqueue(BURST $BURST) -> d :: Arrivals";

/// A way to share out the work: its name, forwarding paths, configuration, sinks.
struct Scenario {
    name: &'static str,
    paths: f64,
    config: String,
    sinks: &'static [&'static str],
}

fn scenarios() -> Vec<Scenario> {
    let own = format!("elementclass Path {{ s :: Frames(64, LIMIT $LIMIT, WINDOW 1024) -> {PATH} }}");
    let split = format!(
        "elementclass Split {{ s :: Frames(64, LIMIT $LIMIT, WINDOW 1024); s[0] -> output; s[1] -> [1]output }}
         elementclass Out {{ input -> {PATH} }}"
    );
    vec![
        Scenario {
            name: "(a) one packet, two cores",
            paths: 1.0,
            config: format!("{own} a :: Path; StaticThreadSched(a/s 0, a/u 1);"),
            sinks: &["a/d"],
        },
        Scenario {
            name: "(b), (d) a core its packets and queues",
            paths: 2.0,
            config: format!("{own} a :: Path; b :: Path; StaticThreadSched(a/s 0, a/u 0, b/s 1, b/u 1);"),
            sinks: &["a/d", "b/d"],
        },
        Scenario {
            name: "(c) one core splits what comes in",
            paths: 1.0,
            config: format!(
                "{split} a :: Split; x :: Out; y :: Out; a[0] -> x; a[1] -> y; StaticThreadSched(a/s 0, x/u 0, y/u 1);"
            ),
            sinks: &["x/d", "y/d"],
        },
        Scenario {
            name: "(e) a transmit queue for both cores",
            paths: 2.0,
            config: format!(
                "{split} a :: Split; b :: Split; x :: Out; y :: Out; a[0] -> x; a[1] -> y; b[0] -> x; b[1] -> y;
                 StaticThreadSched(a/s 0, b/s 1, x/u 0, y/u 1);"
            ),
            sinks: &["x/d", "y/d"],
        },
        Scenario {
            name: "(f) a transmit queue for each core",
            paths: 2.0,
            config: format!(
                "{split} a :: Split; b :: Split; v :: Out; w :: Out; x :: Out; y :: Out; a[0] -> v; a[1] -> w; b[0] -> x; b[1] -> y;
                 StaticThreadSched(a/s 0, v/u 0, w/u 0, b/s 1, x/u 1, y/u 1);"
            ),
            sinks: &["v/d", "w/d", "x/d", "y/d"],
        },
    ]
}

/// Batches of 32 in all scenarios, and the steps of Figure 7: without batches in (e) and (f).
pub(super) fn figures(effort: &Effort) -> Result<Vec<Value>, String> {
    let scenarios = scenarios();
    let rows: Vec<(&Scenario, usize)> = scenarios
        .iter()
        .map(|scenario| (scenario, 32))
        .chain(
            scenarios
                .iter()
                .filter(|s| s.name.starts_with("(e)") || s.name.starts_with("(f)"))
                .map(|s| (s, 1)),
        )
        .collect();
    let mut rates = vec![Vec::new(); rows.len()];
    let packets = effort.packets * LONGER;
    for _ in 0..effort.rounds {
        for ((scenario, batch), rates) in rows.iter().zip(&mut rates) {
            let took = time(&case(scenario, *batch, packets), effort)?;
            rates.push(took.packets / took.elapsed_ns * 1e3);
        }
    }
    let figure = |((scenario, batch), rates): (&(&Scenario, usize), &Vec<f64>)| {
        let per_path: Vec<f64> = rates.iter().map(|rate| rate / scenario.paths).collect();
        json!({
            "name": format!("parallel: {}, batches of {batch}", scenario.name),
            "mpps": Spread::of(rates),
            "mpps_a_path": Spread::of(&per_path),
        })
    };
    Ok(rows.iter().zip(&rates).map(figure).collect())
}

fn case(scenario: &Scenario, batch: usize, packets: u64) -> Case {
    Case {
        name: scenario.name.to_owned(),
        config: format!("define($LIMIT 1, $BURST 1); {}", scenario.config),
        parameters: vec![
            ("LIMIT".to_owned(), ((packets as f64 / scenario.paths) as u64).to_string()),
            ("BURST".to_owned(), batch.to_string()),
        ],
        workers: 2,
        vector: batch,
        sinks: scenario.sinks.iter().map(|sink| (*sink).to_owned()).collect(),
    }
}
