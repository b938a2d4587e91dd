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
    /// A paragraph before the table; none if it is empty.
    pub(in crate::report) text: String,
    pub(in crate::report) caption: String,
    pub(in crate::report) heads: Vec<String>,
    pub(in crate::report) rows: Vec<Vec<String>>,
}

impl Table {
    pub(in crate::report) fn new(caption: &str, heads: &[&str]) -> Table {
        Table {
            text: String::new(),
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

/// A median with its range, as commands print it (`{median, min, max}`, `from` and `to`, `least` and `most`), or a number alone.
pub(in crate::report) fn bar(value: &Value) -> Option<Bar> {
    let median = value.as_f64().or_else(|| value["median"].as_f64())?;
    let end = |names: [&str; 3]| names.iter().find_map(|name| value[name].as_f64()).unwrap_or(median);
    Some(Bar { value: median, from: end(["min", "from", "least"]), to: end(["max", "to", "most"]) })
}

/// `median (least–most)`.
pub(in crate::report) fn spread(value: &Value) -> String {
    scaled(value, 1.0)
}

pub(in crate::report) fn scaled(value: &Value, by: f64) -> String {
    shown(bar(value).map(|bar| Bar { value: bar.value * by, from: bar.from * by, to: bar.to * by }))
}

/// A figure with its range, if it has one.
pub(in crate::report) fn shown(bar: Option<Bar>) -> String {
    match bar {
        None => "–".to_owned(),
        Some(bar) if bar.value <= 0.0 && bar.from < bar.to => nothing(bar),
        Some(bar) if bar.from == bar.to => number(bar.value),
        Some(bar) => format!("{} ({}–{})", number(bar.value), number(bar.from), number(bar.to)),
    }
}

/// A difference that is not above zero: what it is less than, as far as runs vary.
fn nothing(bar: Bar) -> String {
    match bar.to {
        to if to > 0.0 => {
            format!("< {}, within the spread ({}–{})", number(to), number(bar.from), number(to))
        }
        to => format!("0, within the spread ({}–{})", number(bar.from), number(to)),
    }
}

/// The ratio of two figures: of their medians, and the least and the most that their ranges allow.
pub(in crate::report) fn ratio_of(of: Option<Bar>, to: Option<Bar>) -> Option<Bar> {
    let (of, to) = of.zip(to).filter(|(_, to)| to.from > 0.0)?;
    Some(Bar { value: of.value / to.value, from: of.from / to.to, to: of.to / to.from })
}

/// The median and the range of figures that several rows have.
pub(in crate::report) fn median(mut figures: Vec<f64>) -> Option<Bar> {
    figures.sort_by(f64::total_cmp);
    let (from, to) = figures.first().zip(figures.last())?;
    let middle = f64::midpoint(figures[(figures.len() - 1) / 2], figures[figures.len() / 2]);
    Some(Bar { value: middle, from: *from, to: *to })
}

/// Adds a point to the line of a name.
pub(in crate::report) fn add(lines: &mut plot::Lines, name: &str, point: (f64, f64)) {
    match lines.iter_mut().find(|(known, _)| known == name) {
        Some((_, points)) => points.push(point),
        None => lines.push((name.to_owned(), vec![point])),
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
    shown(flat(figure))
}

/// A bar chart with one bar for each named figure.
pub(in crate::report) fn one_series(title: &str, unit: &str, rows: Vec<(String, Option<Bar>)>) -> String {
    let rows: Vec<_> =
        rows.into_iter().filter(|(_, bar)| bar.is_some()).map(|(name, bar)| (name, vec![bar])).collect();
    plot::bars(title, unit, &[], &rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Catches a command that has other names for the ends of a range.
    #[test]
    fn all_ranges_are_shown() {
        for ends in [["min", "max"], ["from", "to"], ["least", "most"]] {
            let value = json!({ "median": 2.0, ends[0]: 1.0, ends[1]: 4.0 });
            assert_eq!(spread(&value), "2.00 (1.00–4.00)", "{ends:?}");
        }
        let below = json!({ "ns_median": -0.5, "ns_min": -1.0, "ns_max": 2.0 });
        assert_eq!(flat_text(&below), "< 2.00, within the spread (-1.00–2.00)");
        let never = json!({ "median": -0.5, "min": -1.0, "max": -0.25 });
        assert_eq!(spread(&never), "0, within the spread (-1.00–-0.250)");
        assert_eq!((spread(&json!(2.0)), spread(&Value::Null)), ("2.00".to_owned(), "–".to_owned()));
    }

    #[test]
    fn a_ratio_has_the_ends_that_ranges_allow() {
        let bar = |from, value, to| Some(Bar { value, from, to });
        assert_eq!(shown(ratio_of(bar(2.0, 3.0, 4.0), bar(0.5, 1.0, 2.0))), "3.00 (1.00–8.00)");
        assert_eq!(shown(ratio_of(bar(2.0, 3.0, 4.0), bar(0.0, 1.0, 2.0))), "–");
        assert_eq!(shown(median(vec![4.0, 1.0, 2.0])), "2.00 (1.00–4.00)");
        assert_eq!(shown(median(Vec::new())), "–");
    }
}
