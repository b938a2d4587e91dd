//! The text in which metrics are told, in Prometheus' format (version 0.0.4) or that of OpenMetrics (1.0.0).

use std::fmt::{Display, Write};

/// A format of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Prometheus' own, which every collector reads.
    Prometheus,
    /// OpenMetrics'.
    OpenMetrics,
}

impl Format {
    /// The media type, for HTTP.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Format::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// What the samples of a family are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Counter,
    Gauge,
    Info,
    Histogram,
}

/// Labels and their values.
pub(crate) type Labels<'a> = &'a [(&'a str, &'a str)];

/// A text that grows.
pub(crate) struct Exposition {
    format: Format,
    text: String,
}

/// A family that is being written: its head comes with its first sample, so that none is without.
pub(crate) struct Family<'e> {
    out: &'e mut Exposition,
    name: &'static str,
    kind: Kind,
    help: &'static str,
    begun: bool,
}

impl Exposition {
    pub(crate) fn new(format: Format) -> Exposition {
        Exposition { format, text: String::new() }
    }

    /// Begins a family. The name of a counter ends with `_total`, that of an info with `_info`. A name must come once only.
    pub(crate) fn family(&mut self, name: &'static str, kind: Kind, help: &'static str) -> Family<'_> {
        Family { out: self, name, kind, help, begun: false }
    }

    /// A family of one sample without labels.
    pub(crate) fn one(&mut self, name: &'static str, kind: Kind, help: &'static str, value: impl Display) {
        self.family(name, kind, help).sample(&[], value);
    }

    /// The whole text.
    pub(crate) fn finish(mut self) -> String {
        if self.format == Format::OpenMetrics {
            self.text.push_str("# EOF\n");
        }
        self.text
    }

    fn head(&mut self, name: &str, kind: Kind, help: &str) {
        let openly = self.format == Format::OpenMetrics;
        // OpenMetrics names a family without the suffixes of its samples.
        let name = match kind {
            Kind::Counter if openly => name.strip_suffix("_total").unwrap_or(name),
            Kind::Info if openly => name.strip_suffix("_info").unwrap_or(name),
            _ => name,
        };
        let word = match kind {
            Kind::Counter => "counter",
            Kind::Info if openly => "info",
            Kind::Gauge | Kind::Info => "gauge",
            Kind::Histogram => "histogram",
        };
        self.text.push_str("# HELP ");
        self.text.push_str(name);
        self.text.push(' ');
        escape(help, openly, &mut self.text);
        let _ = writeln!(self.text, "\n# TYPE {name} {word}");
        let unit = ["bytes", "seconds"]
            .into_iter()
            .find(|unit| name.strip_suffix(unit).is_some_and(|stem| stem.ends_with('_')));
        if let Some(unit) = unit.filter(|_| openly) {
            let _ = writeln!(self.text, "# UNIT {name} {unit}");
        }
    }

    fn sample(&mut self, name: &str, suffix: &str, labels: Labels<'_>, value: impl Display) {
        self.text.push_str(name);
        self.text.push_str(suffix);
        for (number, (label, value)) in labels.iter().enumerate() {
            self.text.push(if number == 0 { '{' } else { ',' });
            self.text.push_str(label);
            self.text.push_str("=\"");
            escape(value, true, &mut self.text);
            self.text.push('"');
        }
        let close = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.text, "{close} {value}");
    }
}

impl Family<'_> {
    /// Writes a sample. No two may have the same labels.
    pub(crate) fn sample(&mut self, labels: Labels<'_>, value: impl Display) {
        self.begin();
        self.out.sample(self.name, "", labels, value);
    }

    /// Writes the samples of a histogram: how many values there are up to each bound, and beyond all, and their sum. `buckets` counts
    /// each value once.
    pub(crate) fn histogram(
        &mut self,
        labels: Labels<'_>,
        buckets: impl Iterator<Item = (f64, u64)>,
        beyond: u64,
        sum: impl Display,
    ) {
        self.begin();
        let mut count = 0;
        for (bound, more) in buckets {
            count += more;
            self.bucket(labels, &format!("{bound:?}"), count);
        }
        count += beyond;
        self.bucket(labels, "+Inf", count);
        self.out.sample(self.name, "_sum", labels, sum);
        self.out.sample(self.name, "_count", labels, count);
    }

    fn bucket(&mut self, labels: Labels<'_>, bound: &str, count: u64) {
        let labels: Vec<(&str, &str)> = labels.iter().copied().chain([("le", bound)]).collect();
        self.out.sample(self.name, "_bucket", &labels, count);
    }

    fn begin(&mut self) {
        if !std::mem::replace(&mut self.begun, true) {
            self.out.head(self.name, self.kind, self.help);
        }
    }
}

/// Adds a text in which backslashes, ends of lines and, where they would end it, quotes are written as two characters.
fn escape(text: &str, quotes: bool, to: &mut String) {
    for c in text.chars() {
        match c {
            '\\' => to.push_str("\\\\"),
            '\n' => to.push_str("\\n"),
            '"' if quotes => to.push_str("\\\""),
            c => to.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(format: Format) -> String {
        let mut out = Exposition::new(format);
        out.one("a_total", Kind::Counter, "Some \"things\" \\ more\nor less.", 7);
        out.family("none", Kind::Gauge, "No samples, no family.");
        let mut info = out.family("b_info", Kind::Info, "Text.");
        info.sample(&[("x", "a\\b\"c\nd"), ("y", "")], 1);
        let mut times = out.family("c_seconds", Kind::Histogram, "Times.");
        times.histogram(&[("w", "0")], [(0.001, 2), (1.0, 3)].into_iter(), 1, 2.5);
        out.finish()
    }

    #[test]
    fn prometheus_text_has_types_escapes_and_buckets() {
        let expected = r#"# HELP a_total Some "things" \\ more\nor less.
# TYPE a_total counter
a_total 7
# HELP b_info Text.
# TYPE b_info gauge
b_info{x="a\\b\"c\nd",y=""} 1
# HELP c_seconds Times.
# TYPE c_seconds histogram
c_seconds_bucket{w="0",le="0.001"} 2
c_seconds_bucket{w="0",le="1.0"} 5
c_seconds_bucket{w="0",le="+Inf"} 6
c_seconds_sum{w="0"} 2.5
c_seconds_count{w="0"} 6
"#;
        assert_eq!(example(Format::Prometheus), expected);
    }

    #[test]
    fn open_metrics_text_ends_with_eof_and_names_families() {
        let text = example(Format::OpenMetrics);
        let heads: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
        assert_eq!(
            heads,
            [
                r#"# HELP a Some \"things\" \\ more\nor less."#,
                "# TYPE a counter",
                "# HELP b Text.",
                "# TYPE b info",
                "# HELP c_seconds Times.",
                "# TYPE c_seconds histogram",
                "# UNIT c_seconds seconds",
                "# EOF",
            ]
        );
        assert!(text.contains("\na_total 7\n") && text.contains("\nb_info{"), "{text}");
    }
}
