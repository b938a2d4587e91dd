//! What rounds found, and what is said of several.

use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Values of several rounds, by the row and the column that they are for.
#[derive(Default)]
pub(in crate::cluster) struct Rounds {
    pub(in crate::cluster) values: BTreeMap<(String, &'static str), Vec<f64>>,
    /// Times of single packets, in nanoseconds.
    pub(in crate::cluster) times: BTreeMap<(String, &'static str), Vec<u32>>,
}

impl Rounds {
    pub(in crate::cluster) fn add(&mut self, row: impl Into<String>, column: &'static str, value: f64) {
        self.values.entry((row.into(), column)).or_default().push(value);
    }

    /// Median, least and most.
    pub(in crate::cluster) fn spread(&self, row: &str, column: &'static str) -> Value {
        let mut values = self.values.get(&(row.to_owned(), column)).cloned().unwrap_or_default();
        values.sort_unstable_by(f64::total_cmp);
        match values[..] {
            [] => Value::Null,
            [least, .., most] => json!({ "median": values[values.len() / 2], "least": least, "most": most }),
            [value] => json!({ "median": value, "least": value, "most": value }),
        }
    }

    pub(in crate::cluster) fn median(&self, row: &str, column: &'static str) -> f64 {
        self.spread(row, column)["median"].as_f64().unwrap_or_default()
    }
}

/// Half, nine of ten, 99 of a hundred, and all of the packets took no longer than this, in microseconds.
pub(in crate::cluster) fn percentiles(times: &mut [u32]) -> Value {
    times.sort_unstable();
    let of = |share: f64| {
        let at = ((times.len() as f64 * share).ceil() as usize).clamp(1, times.len()) - 1;
        f64::from(times[at]) / 1e3
    };
    if times.is_empty() {
        return Value::Null;
    }
    json!({ "p50": of(0.5), "p90": of(0.9), "p99": of(0.99), "max": of(1.0) })
}
