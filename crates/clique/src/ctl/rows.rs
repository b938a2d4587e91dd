//! Tables that handlers print, as objects.

use serde_json::{Map, Value};
use std::borrow::Cow;
use std::net::IpAddr;

/// The columns of tables by the handlers that print them; `None` of other handlers.
fn columns(handler: &str) -> Option<&'static [&'static str]> {
    match handler.rsplit('.').next()? {
        "neighbours" => Some(&["address", "mac", "state", "age_s"]),
        "drop_reasons" => Some(&["packets", "reason"]),
        "handlers" => Some(&["name", "access"]),
        _ => None,
    }
}

/// A table of routes: prefix, gateway or a hyphen, output, as lookup elements print it.
const ROUTE: &[&str] = &["prefix", "gateway", "output", "weight"];

/// The rows of a table, sorted, if the value is one: columns between tabs, or such as the handler is known to print.
pub(super) fn of(handler: &str, value: &str) -> Option<Value> {
    let lines: Vec<&str> = value.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let known = columns(handler);
    let cells = |line: &&str| -> Vec<String> {
        let cell = |text: &str| text.trim().to_owned();
        match known {
            _ if line.contains('\t') => line.split('\t').filter(|cell| !cell.is_empty()).map(cell).collect(),
            Some(names) => line.splitn(names.len(), char::is_whitespace).map(cell).collect(),
            None => line.split_whitespace().map(cell).collect(),
        }
    };
    let is_table = known.is_some() || (!lines.is_empty() && lines.iter().all(|line| line.contains('\t')));
    let mut rows: Vec<Vec<String>> = lines.iter().filter(|_| is_table).map(cells).collect();
    let routes =
        handler.ends_with(".table") && rows.iter().all(|row| row.first().is_some_and(|to| to.contains('/')));
    rows.sort_by(|a, b| natural(a).cmp(&natural(b)));
    if routes {
        rows.sort_by_key(|row| row.first().and_then(|to| destination(to)));
    }
    let names = known.or(routes.then_some(ROUTE));
    let object = |row: Vec<String>| -> Value {
        let name = |at: usize| match names.and_then(|names| names.get(at)) {
            Some(name) => (*name).to_owned(),
            None => format!("column{}", at + 1),
        };
        let pairs = row.into_iter().enumerate().map(|(at, cell)| (name(at), value_of(cell)));
        Value::Object(pairs.collect::<Map<_, _>>())
    };
    is_table.then(|| rows.into_iter().map(object).collect())
}

/// What a handler prints, for people: a table of routes by address and length, whatever order it has them in; next hops of a route keep theirs.
/// Other values are as they were.
pub(super) fn in_order<'v>(handler: &str, value: &'v str) -> Cow<'v, str> {
    let order = |line: &&str| line.split_whitespace().next().and_then(destination);
    let (heads, mut routes): (Vec<&str>, Vec<&str>) = value.lines().partition(|line| line.starts_with('#'));
    if !handler.ends_with(".table") || !routes.iter().all(|line| order(line).is_some()) {
        return value.into();
    }
    routes.sort_by_cached_key(order);
    heads.into_iter().chain(routes).flat_map(|line| [line, "\n"]).collect::<String>().into()
}

/// The prefix `ADDRESS/LENGTH`.
fn destination(text: &str) -> Option<(IpAddr, u8)> {
    let (address, len) = text.split_once('/')?;
    Some((address.parse().ok()?, len.parse().ok()?))
}

/// A number as a number, a hyphen as nothing, all else as a text.
fn value_of(cell: String) -> Value {
    // Words such as `inf` and `1e5` are no numbers here.
    let is_decimal = cell.contains('.') && cell.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    match cell.parse::<i64>() {
        _ if cell == "-" => Value::Null,
        Ok(number) => number.into(),
        Err(_) if is_decimal => cell.parse::<f64>().map_or_else(|_| Value::from(cell.clone()), Value::from),
        Err(_) => cell.into(),
    }
}

/// What to sort rows by: numbers within addresses count as numbers.
fn natural(row: &[String]) -> Vec<(u64, &str)> {
    let parts = row.iter().flat_map(|cell| cell.split_inclusive(|c: char| !c.is_ascii_digit()));
    parts
        .map(|part| {
            let digits = part.trim_end_matches(|c: char| !c.is_ascii_digit());
            (digits.parse().unwrap_or(u64::MAX), part)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn routes_are_printed_in_order() {
        let told = "# Active routes\n9.0.0.0/16\t\t-\t\t0\n2001:db8::/32\t-\t1\n10.0.0.0/8\t\t192.0.2.9\t1\tweight 1\n\
            10.0.0.0/8\t\t192.0.2.1\t2\tweight 3\n9.0.0.0/8\t\t-\t\t0\n2001:a::/32\t-\t1\n";
        let wanted = "# Active routes\n9.0.0.0/8\t\t-\t\t0\n9.0.0.0/16\t\t-\t\t0\n10.0.0.0/8\t\t192.0.2.9\t1\tweight 1\n\
            10.0.0.0/8\t\t192.0.2.1\t2\tweight 3\n2001:a::/32\t-\t1\n2001:db8::/32\t-\t1\n";
        assert_eq!(in_order("r.table", told), wanted);
        for other in ["b\na\n", "10.0.0.0/8 - 1\nx\n", "", "no newline"] {
            assert_eq!(in_order("r.table", other), other);
        }
        assert_eq!(in_order("r.text", told), told);
    }

    #[test]
    fn tables_are_told_by_their_form() {
        assert_eq!(
            of("r.table", "10.0.0.0/8\t\t192.0.2.1\t1\n9.0.0.0/8\t\t-\t\t0\n"),
            Some(json!([
                { "prefix": "9.0.0.0/8", "gateway": null, "output": 0 },
                { "prefix": "10.0.0.0/8", "gateway": "192.0.2.1", "output": 1 },
            ]))
        );
        assert_eq!(
            of("arp.neighbours", "10.0.0.1 - incomplete 2\n"),
            Some(json!([{ "address": "10.0.0.1", "mac": null, "state": "incomplete", "age_s": 2 }]))
        );
        assert_eq!(of("x.y", "1\ta\n"), Some(json!([{ "column1": 1, "column2": "a" }])));
        assert_eq!(of("arp.neighbours", ""), Some(json!([])));
        for no_table in ["5", "a b\nc d\n", "a\tb\nc\n", ""] {
            assert_eq!(of("c.count", no_table), None, "{no_table}");
        }
    }
}
