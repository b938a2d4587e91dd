//! A strict reader of Prometheus' text format: whatever is not as the format's documentation has it is an error.

use std::collections::{BTreeMap, BTreeSet};

/// A family's type and samples, by series.
#[derive(Debug, Default)]
pub(crate) struct Family {
    pub(crate) kind: String,
    pub(crate) samples: BTreeMap<String, f64>,
}

/// All families, by name.
pub(crate) type Families = BTreeMap<String, Family>;

/// The value of a series, written as in the text.
pub(crate) fn value(families: &Families, series: &str) -> Option<f64> {
    families.values().find_map(|family| family.samples.get(series)).copied()
}

fn is_name(text: &str) -> bool {
    let fine = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    !text.is_empty() && text.chars().all(fine) && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// A sample's name, its labels, and what follows.
type Parts<'l> = (&'l str, Vec<(String, String)>, &'l str);

/// Splits a sample.
fn parts(line: &str) -> Result<Parts<'_>, String> {
    let wrong = |what: &str| format!("{what}: {line}");
    let at = line.find(['{', ' ']).ok_or_else(|| wrong("no value"))?;
    let (name, mut rest) = line.split_at(at);
    let mut labels: Vec<(String, String)> = Vec::new();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        loop {
            let (label, behind) = rest.split_once("=\"").ok_or_else(|| wrong("no label"))?;
            if !is_name(label) || label.contains(':') || labels.iter().any(|(known, _)| known == label) {
                return Err(wrong("bad label"));
            }
            let (mut value, mut chars) = (String::new(), behind.chars());
            loop {
                match chars.next().ok_or_else(|| wrong("no end of a label"))? {
                    '"' => break,
                    '\\' => match chars.next() {
                        Some('n') => value.push('\n'),
                        Some(c @ ('\\' | '"')) => value.push(c),
                        _ => return Err(wrong("bad escape")),
                    },
                    c => value.push(c),
                }
            }
            labels.push((label.to_owned(), value));
            rest = chars.as_str();
            match rest.as_bytes().first() {
                Some(b',') => rest = &rest[1..],
                Some(b'}') => break rest = &rest[1..],
                _ => return Err(wrong("no end of labels")),
            }
        }
    }
    Ok((name, labels, rest))
}

/// The name and the names of labels of a series.
pub(crate) fn name_and_labels(series: &str) -> (String, BTreeSet<String>) {
    match parts(series) {
        Ok((name, labels, _)) => (name.to_owned(), labels.into_iter().map(|(label, _)| label).collect()),
        Err(_) => (series.to_owned(), BTreeSet::new()), // it has none
    }
}

/// Reads a text.
///
/// # Errors
/// The first thing that is wrong.
pub(crate) fn read(text: &str) -> Result<Families, String> {
    if !text.ends_with('\n') {
        return Err("no newline at the end".to_owned());
    }
    let mut families = Families::new();
    let (mut helped, mut current) = (BTreeSet::new(), String::new());
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, _) = help.split_once(' ').ok_or_else(|| format!("no help: {line}"))?;
            if !helped.insert(name.to_owned()) {
                return Err(format!("helped twice: {name}"));
            }
            continue;
        }
        if let Some(typed) = line.strip_prefix("# TYPE ") {
            let (name, kind) = typed.split_once(' ').ok_or_else(|| format!("no type: {line}"))?;
            if !is_name(name) || !["counter", "gauge", "histogram"].contains(&kind) {
                return Err(format!("bad type: {line}"));
            }
            if !helped.contains(name) {
                return Err(format!("no help before the type of {name}"));
            }
            if kind == "counter" && !name.ends_with("_total") {
                return Err(format!("a counter without _total: {name}"));
            }
            let new = Family { kind: kind.to_owned(), samples: BTreeMap::new() };
            if families.insert(name.to_owned(), new).is_some() {
                return Err(format!("typed twice, or not together: {name}"));
            }
            current = name.to_owned();
            continue;
        }
        if line.starts_with('#') || line.trim() != line || line.is_empty() {
            return Err(format!("unexpected line: '{line}'"));
        }
        sample(line, &mut families, &current)?;
    }
    for (name, family) in &families {
        if family.samples.is_empty() {
            return Err(format!("a family without samples: {name}"));
        }
        if family.kind == "histogram" {
            histogram(name, family)?;
        }
    }
    Ok(families)
}

/// Reads a sample, which must belong to the current family.
fn sample(line: &str, families: &mut Families, current: &str) -> Result<(), String> {
    let (name, _, rest) = parts(line)?;
    let family = families.get_mut(current).ok_or_else(|| format!("no type before: {line}"))?;
    let suffix = name.strip_prefix(current).ok_or_else(|| format!("not of {current}: {line}"))?;
    let fits = match family.kind.as_str() {
        "histogram" => ["_bucket", "_sum", "_count"].contains(&suffix),
        _ => suffix.is_empty(),
    };
    let value = rest.strip_prefix(' ').ok_or_else(|| format!("no blank before the value: {line}"))?;
    let value: f64 = value.parse().map_err(|_| format!("no number: {line}"))?;
    if !fits || !value.is_finite() || (family.kind != "gauge" && value < 0.0) {
        return Err(format!("does not fit its family: {line}"));
    }
    let series = line[..line.len() - rest.len()].to_owned();
    match family.samples.insert(series, value) {
        None => Ok(()),
        Some(_) => Err(format!("twice: {line}")),
    }
}

/// Buckets must not fall, end with infinity, and be as many as counted.
fn histogram(name: &str, family: &Family) -> Result<(), String> {
    let mut series: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for (sample, value) in &family.samples {
        let (of, labels, _) =
            parts(&format!("{sample} 0")).map(|(n, l, r)| (n.to_owned(), l, r.to_owned()))?;
        if of.ends_with("_bucket") {
            let (bound, others): (Vec<_>, Vec<_>) = labels.into_iter().partition(|(label, _)| label == "le");
            let bound: f64 = match bound.first().map(|(_, bound)| bound.as_str()) {
                Some("+Inf") => f64::INFINITY,
                Some(bound) => bound.parse().map_err(|_| format!("bad bound: {sample}"))?,
                None => return Err(format!("no bound: {sample}")),
            };
            series.entry(format!("{others:?}")).or_default().push((bound, *value));
        }
    }
    let counts: Vec<f64> = family
        .samples
        .iter()
        .filter(|(s, _)| s.starts_with(&format!("{name}_count")))
        .map(|(_, v)| *v)
        .collect();
    if counts.len() != series.len() || series.is_empty() {
        return Err(format!("counts and buckets do not match: {name}"));
    }
    for (which, mut buckets) in series {
        buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        let falls = buckets.windows(2).any(|pair| pair[1].1 < pair[0].1);
        let (bound, last) = *buckets.last().expect("it has one");
        if falls || bound != f64::INFINITY || !counts.contains(&last) {
            return Err(format!("bad buckets: {name} {which}"));
        }
    }
    Ok(())
}

#[test]
fn the_reader_refuses_what_it_should() {
    let head = "# HELP a_total h\n# TYPE a_total counter\n";
    assert!(read(&format!("{head}a_total{{x=\"q\\\"\\n\\\\\"}} 1\n")).is_ok());
    for wrong in [
        "a_total 1\n",
        "# TYPE a_total counter\na_total 1\n",
        "# HELP a h\n# TYPE a counter\na 1\n",
        head,
        &format!("{head}a_total 1"),
        &format!("{head}a_total 1\na_total 2\n"),
        &format!("{head}a_total -1\n"),
        &format!("{head}a_total NaN\n"),
        &format!("{head}b_total 1\n"),
        &format!("{head}a_total{{x=\"\\q\"}} 1\n"),
        &format!("{head}a_total{{x=\"a\",x=\"b\"}} 1\n"),
        &format!("{head}a_total{{0=\"a\"}} 1\n"),
        &format!("{head}a_total 1\n{head}a_total{{x=\"a\"}} 1\n"),
        "# HELP h h\n# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\n",
        "# HELP h h\n# TYPE h histogram\nh_bucket{le=\"1\"} 1\nh_sum 1\nh_count 1\n",
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}
