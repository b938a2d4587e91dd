//! Metrics as they are read from their text.

use std::collections::BTreeMap;

/// A sample: what it is called, whose it is, and how much.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sample {
    name: String,
    labels: Vec<(String, String)>,
    value: f64,
}

impl Sample {
    /// The value of a label; empty if there is no such label.
    pub(super) fn label(&self, name: &str) -> &str {
        self.labels.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    pub(super) fn value(&self) -> f64 {
        self.value
    }
}

/// All samples of one reading.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples {
    /// By name and labels, as they were written.
    by_series: BTreeMap<String, Sample>,
}

impl Samples {
    /// Reads a text in Prometheus' format. Lines that are not understood are passed over: a newer router may have more to say.
    pub(super) fn parse(text: &str) -> Samples {
        let mut by_series = BTreeMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some((series, sample)) = sample(line) {
                by_series.insert(series.to_owned(), sample);
            }
        }
        Samples { by_series }
    }

    /// The samples of a name, in the order of their labels.
    pub(super) fn named<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'s Sample> {
        let from = self.by_series.range(name.to_owned()..);
        let ours = from.take_while(move |(series, _)| series.starts_with(name));
        ours.map(|(_, sample)| sample).filter(move |sample| sample.name == name)
    }

    /// The sample of a name that has these labels, among others perhaps. Quick if the first of them is the series' first one.
    pub(super) fn find(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let fits = |sample: &&Sample| {
            sample.name == name && labels.iter().all(|&(label, value)| sample.label(label) == value)
        };
        let among = |prefix: String| {
            let from = self.by_series.range(prefix.clone()..);
            let ours = from.take_while(|(series, _)| series.starts_with(&prefix));
            ours.map(|(_, sample)| sample).find(fits).map(Sample::value)
        };
        let first = labels.first().map(|(label, value)| format!("{name}{{{label}=\"{value}\""));
        first.and_then(&among).or_else(|| among(name.to_owned()))
    }

    /// The only sample of a name, or the first.
    pub(super) fn one(&self, name: &str) -> Option<f64> {
        self.find(name, &[])
    }
}

/// Two readings, some time apart.
pub(super) struct Readings<'s> {
    pub(super) now: &'s Samples,
    pub(super) before: Option<&'s Samples>,
    /// Seconds between them.
    pub(super) seconds: f64,
}

impl Readings<'_> {
    /// How much more there is a second of a counter; `None` if nothing is known of before, or it began anew.
    pub(super) fn rate(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let now = self.now.find(name, labels)?;
        // What was not there before had counted nothing: drops for a new reason, for instance.
        let before = self.before?.find(name, labels).unwrap_or(0.0);
        (now >= before && self.seconds > 0.0).then(|| (now - before) / self.seconds)
    }
}

/// A line's series and sample.
fn sample(line: &str) -> Option<(&str, Sample)> {
    let (name, mut rest) = line.split_at(line.find(['{', ' '])?);
    let mut labels = Vec::new();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        while !rest.starts_with('}') {
            let (label, behind) = rest.split_once("=\"")?;
            let (value, behind) = quoted(behind)?;
            labels.push((label.to_owned(), value));
            rest = behind.strip_prefix(',').unwrap_or(behind);
        }
        rest = &rest[1..];
    }
    let series = &line[..line.len() - rest.len()];
    let value = rest.split_whitespace().next()?.parse().ok()?;
    Some((series, Sample { name: name.to_owned(), labels, value }))
}

/// A value up to the quote that ends it, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                c => value.push(c),
            },
            c => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read() {
        let samples = Samples::parse(
            "# HELP a Some.\na 1\na_b{x=\"q\\\"\\\\\\n}\",y=\"\"} 2.5 17\nbad\na{x=\"1\",} 3\na{x 4\n\nc{} NaN\nd +Inf\n",
        );
        let named = |name| samples.named(name).map(Sample::value).collect::<Vec<_>>();
        assert_eq!((named("a"), named("a_b"), named("d")), (vec![1.0, 3.0], vec![2.5], vec![f64::INFINITY]));
        assert_eq!(samples.find("a_b", &[("x", "q\"\\\n}")]), Some(2.5));
        assert_eq!(samples.find("a_b", &[("x", "q")]), None);
        assert_eq!(samples.one("bad"), None);
    }

    #[test]
    fn a_counter_that_began_anew_has_no_rate() {
        let [before, now] =
            ["a{x=\"1\"} 10\nb 9\n", "a{x=\"1\"} 30\na{x=\"2\"} 4\nb 8\n"].map(Samples::parse);
        let readings = Readings { now: &now, before: Some(&before), seconds: 2.0 };
        assert_eq!(readings.rate("a", &[("x", "1")]), Some(10.0));
        assert_eq!(readings.rate("a", &[("x", "2")]), Some(2.0), "it is new");
        assert_eq!(readings.rate("b", &[]), None, "it began anew");
        assert_eq!(readings.rate("c", &[]), None);
        assert_eq!(Readings { before: None, ..readings }.rate("a", &[("x", "1")]), None);
    }
}
