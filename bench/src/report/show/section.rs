//! What a section is made of: tables, charts, and figures as text.

use crate::report::plot::{self, Bar, number};
use serde_json::Value;
use std::sync::LazyLock;

/// A part of the page about one topic.
pub(in crate::report) struct Section {
    pub(in crate::report) topic: &'static str,
    /// What the source found, what this machine shows, why they differ: a paragraph each.
    pub(in crate::report) text: Vec<String>,
    pub(in crate::report) tables: Vec<Table>,
    /// SVG.
    pub(in crate::report) charts: Vec<String>,
}

/// A table; cells are text, the first column names the row.
pub(in crate::report) struct Table {
    pub(in crate::report) caption: String,
    pub(in crate::report) heads: Vec<String>,
    pub(in crate::report) rows: Vec<Vec<String>>,
}

impl Table {
    pub(in crate::report) fn new(caption: &str, heads: &[&str]) -> Table {
        Table {
            caption: caption.to_owned(),
            heads: heads.iter().map(|head| (*head).to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    pub(in crate::report) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

/// The figures of the papers, as published.
pub(crate) static PUBLISHED: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../published.json")).unwrap_or_default());

pub(in crate::report) fn section(text: &[&str], tables: Vec<Table>, charts: Vec<String>) -> Section {
    let text = text.iter().map(|paragraph| (*paragraph).to_owned()).collect();
    Section {
        topic: "",
        text,
        tables,
        charts: charts.into_iter().filter(|chart| !chart.is_empty()).collect(),
    }
}

/// The list under a name; empty if there is none.
pub(in crate::report) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

pub(in crate::report) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "–".to_owned(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        // Counts have no digits behind the point.
        other if other.is_u64() => plot::grouped(&other.to_string()),
        other => other.as_f64().map_or_else(|| other.to_string(), number),
    }
}

/// A median with its range, as commands print it: `{median, min, max}`, or a number alone.
pub(in crate::report) fn bar(value: &Value) -> Option<Bar> {
    let median = value.as_f64().or_else(|| value["median"].as_f64())?;
    let end = |names: [&str; 2]| names.iter().find_map(|name| value[name].as_f64()).unwrap_or(median);
    Some(Bar { value: median, from: end(["min", "from"]), to: end(["max", "to"]) })
}

/// `median (least–most)`.
pub(in crate::report) fn spread(value: &Value) -> String {
    scaled(value, 1.0)
}

pub(in crate::report) fn scaled(value: &Value, by: f64) -> String {
    match bar(value) {
        None => "–".to_owned(),
        Some(bar) if bar.from == bar.to => number(bar.value * by),
        Some(bar) => {
            format!("{} ({}–{})", number(bar.value * by), number(bar.from * by), number(bar.to * by))
        }
    }
}

/// A ratio, if both are there.
pub(in crate::report) fn ratio(of: Option<f64>, to: Option<f64>) -> String {
    match (of, to) {
        (Some(of), Some(to)) if to > 0.0 => format!("{:.2}", of / to),
        _ => "–".to_owned(),
    }
}

/// `ns_median`, `ns_min`, `ns_max` as one.
pub(in crate::report) fn flat(figure: &Value) -> Option<Bar> {
    let median = figure["ns_median"].as_f64()?;
    Some(Bar { value: median, from: figure["ns_min"].as_f64()?, to: figure["ns_max"].as_f64()? })
}

pub(in crate::report) fn flat_text(figure: &Value) -> String {
    flat(figure).map_or("–".to_owned(), |bar| {
        format!("{} ({}–{})", number(bar.value), number(bar.from), number(bar.to))
    })
}

/// A bar chart with one bar for each named figure.
pub(in crate::report) fn one_series(title: &str, unit: &str, rows: Vec<(String, Option<Bar>)>) -> String {
    let rows: Vec<_> =
        rows.into_iter().filter(|(_, bar)| bar.is_some()).map(|(name, bar)| (name, vec![bar])).collect();
    plot::bars(title, unit, &[], &rows)
}
