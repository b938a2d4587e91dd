//! Charts as SVG within the page, so that they follow its light or dark colours.

use std::fmt::Write as _;

/// A figure with its least and most.
#[derive(Clone, Copy)]
pub(super) struct Bar {
    pub(super) value: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Bar {
    /// A figure without a range.
    pub(super) fn just(value: f64) -> Bar {
        Bar { value, from: value, to: value }
    }
}

/// Text within HTML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// What stands behind a bar. A difference below zero is none.
fn behind(bar: Bar) -> String {
    if bar.value < 0.0 { format!("&lt; {}", number(bar.to.max(0.0))) } else { number(bar.value) }
}

/// Three digits, or as many as are before the point.
pub(super) fn number(value: f64) -> String {
    let digits = match value.abs() {
        v if !v.is_finite() => return "–".to_owned(),
        v if v >= 100.0 || v == 0.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.digits$}");
    match text.split_once('.') {
        Some((whole, rest)) => format!("{}.{rest}", grouped(whole)),
        None => grouped(&text),
    }
}

/// A place on an axis: whole numbers have no digits behind the point.
fn mark(value: f64) -> String {
    if value.fract() == 0.0 { grouped(&format!("{value:.0}")) } else { number(value) }
}

/// A whole number with commas.
pub(super) fn grouped(whole: &str) -> String {
    let mut text = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) && !text.ends_with('-') {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

const WIDTH: f64 = 760.0;
/// What a character takes, about.
const CHARACTER: f64 = 6.6;
const ROW: f64 = 18.0;
/// Series with a colour of their own in page.css.
const COLOURS: usize = 8;

/// Horizontal bars: groups of named rows, each with a bar for each series that has a figure there.
pub(super) fn bars(title: &str, unit: &str, series: &[&str], rows: &[(String, Vec<Option<Bar>>)]) -> String {
    let most = rows.iter().flat_map(|(_, bars)| bars.iter().flatten()).map(|bar| bar.to).fold(0.0, f64::max);
    if most <= 0.0 {
        return String::new();
    }
    let longest = rows.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    let labels = (longest as f64 * CHARACTER + 12.0).max(120.0).round();
    let scale = (WIDTH - labels - 90.0).max(100.0) / most;
    let lines: usize = rows.iter().map(|(_, bars)| bars.iter().flatten().count().max(1)).sum();
    let height = 44.0 + lines as f64 * ROW + rows.len() as f64 * 6.0;
    let mut svg = begin(title, height);
    let mut y = 36.0;
    for (label, bars) in rows {
        let _ = write!(
            svg,
            "<text x='{}' y='{}' text-anchor='end'>{}</text>",
            labels - 8.0,
            y + 12.0,
            escaped(label)
        );
        for (of, bar) in bars.iter().enumerate() {
            let Some(bar) = bar else { continue };
            let (width, middle) = ((bar.value * scale).max(1.0), y + ROW / 2.0 - 1.0);
            let _ = write!(
                svg,
                "<rect class='s{}' x='{labels}' y='{y}' width='{width:.1}' height='{}'><title>{}: {} {unit}</title></rect>\
                 <path class='range' d='M{:.1} {middle}H{:.1}'/><text x='{:.1}' y='{}'>{}</text>",
                of % COLOURS,
                ROW - 4.0,
                escaped(series.get(of).copied().unwrap_or_default()),
                behind(*bar),
                labels + bar.from.max(0.0) * scale, // a difference may be below nothing
                labels + bar.to * scale,
                labels + bar.to.max(bar.value) * scale + 6.0,
                y + 12.0,
                behind(*bar)
            );
            y += ROW;
        }
        if bars.iter().flatten().next().is_none() {
            y += ROW;
        }
        y += 6.0;
    }
    svg + &legend(series, unit) + "</svg>"
}

/// One bar of named parts, of which those that have room show their names.
pub(super) fn stacked(title: &str, unit: &str, parts: &[(String, f64)]) -> String {
    let sum: f64 = parts.iter().map(|(_, value)| value.max(0.0)).sum();
    if sum <= 0.0 {
        return String::new();
    }
    let (mut svg, mut x) = (begin(title, 64.0), 0.0);
    for (of, (name, value)) in parts.iter().enumerate() {
        let width = value.max(0.0) / sum * WIDTH;
        let _ = write!(
            svg,
            "<rect class='s{}' x='{x:.1}' y='22' width='{width:.1}' height='22'><title>{}: {} {unit}</title></rect>",
            of % COLOURS,
            escaped(name),
            number(*value)
        );
        if CHARACTER * (name.chars().count() as f64 + 1.0) < width {
            let _ = write!(svg, "<text x='{x:.1}' y='58'>{}</text>", escaped(name));
        }
        x += width;
    }
    svg + &legend(&[], &format!("{} {unit}", number(sum))) + "</svg>"
}

/// Named lines of points.
pub(super) type Lines = Vec<(String, Vec<(f64, f64)>)>;

/// Lines over a linear axis, both from zero.
pub(super) fn lines(title: &str, x: &str, y: &str, lines: &Lines) -> String {
    let points = || lines.iter().flat_map(|(_, points)| points);
    let (most_x, most_y) = points().fold((0.0, 0.0), |(a, b): (f64, f64), (x, y)| (a.max(*x), b.max(*y)));
    if most_x <= 0.0 || most_y <= 0.0 {
        return String::new();
    }
    let (left, bottom, top) = (60.0, 300.0, 40.0);
    let at = |(x, y): (f64, f64)| {
        (left + x / most_x * (WIDTH - left - 40.0), bottom - y / most_y * (bottom - top))
    };
    let mut svg = begin(title, 340.0);
    for part in 0..=4 {
        let value = most_y * f64::from(part) / 4.0;
        let (_, height) = at((0.0, value));
        let _ = write!(
            svg,
            "<path class='grid' d='M{left} {height:.1}H{}'/><text x='{}' y='{:.1}' text-anchor='end'>{}</text>",
            WIDTH - 40.0,
            left - 6.0,
            height + 4.0,
            number(value)
        );
    }
    let mut marks: Vec<f64> = points().map(|(x, _)| *x).collect();
    marks.sort_by(f64::total_cmp);
    marks.dedup();
    let mut free = f64::NEG_INFINITY;
    for x in marks {
        let (middle, text) = (at((x, 0.0)).0, mark(x));
        // One that would cover the one before it is left out.
        if middle >= free {
            let _ = write!(svg, "<text x='{middle:.1}' y='316' text-anchor='middle'>{text}</text>");
            free = middle + CHARACTER * (text.chars().count() as f64 + 2.0);
        }
    }
    for (of, (name, points)) in lines.iter().enumerate() {
        let path: Vec<_> =
            points.iter().map(|point| at(*point)).map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let _ = write!(
            svg,
            "<path class='l{}' d='M{}'><title>{}</title></path>",
            of % COLOURS,
            path.join("L"),
            escaped(name)
        );
        for point in points {
            let (px, py) = at(*point);
            let _ = write!(
                svg,
                "<circle class='s{}' cx='{px:.1}' cy='{py:.1}' r='3'><title>{}: {}</title></circle>",
                of % COLOURS,
                escaped(name),
                number(point.1)
            );
        }
    }
    let names: Vec<&str> = lines.iter().map(|(name, _)| name.as_str()).collect();
    let _ = write!(svg, "<text x='{WIDTH}' y='334' text-anchor='end'>{}</text>", escaped(x));
    svg + &legend(&names, y) + "</svg>"
}

fn begin(title: &str, height: f64) -> String {
    format!(
        "<svg viewBox='0 0 {WIDTH} {height}' role='img' aria-label='{0}'><text x='0' y='14' class='title'>{0}</text>",
        escaped(title)
    )
}

fn legend(series: &[&str], unit: &str) -> String {
    let mut svg = String::new();
    let mut x = 0.0;
    for (of, name) in series.iter().enumerate() {
        let _ = write!(
            svg,
            "<rect class='s{}' x='{x}' y='20' width='10' height='10'/><text x='{}' y='29'>{}</text>",
            of % COLOURS,
            x + 14.0,
            escaped(name)
        );
        x += 30.0 + CHARACTER * name.chars().count() as f64;
    }
    let _ = write!(svg, "<text x='{WIDTH}' y='14' text-anchor='end'>{}</text>", escaped(unit));
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let written = [0.0, 0.123_45, 1.234, 12.34, 1_234.5, 1_234_567.0, f64::NAN].map(number);
        assert_eq!(written, ["0", "0.123", "1.23", "12.3", "1,234", "1,234,567", "–"]);
    }

    #[test]
    fn markup_in_names_is_text() {
        let bar = Some(Bar { value: 1.0, from: 0.5, to: 2.0 });
        let svg = bars("<a>", "ns", &["x & y"], &[("<b>".to_owned(), vec![bar])]);
        assert!(svg.contains("&lt;a&gt;") && svg.contains("x &amp; y") && !svg.contains("<b>"), "{svg}");
        assert!(bars("", "", &[], &[]).is_empty());
        let svg = stacked("", "ns", &[("<a>".to_owned(), 3.0), ("b".to_owned(), 1.0), ("c".to_owned(), 0.0)]);
        assert!(
            svg.contains("width='570.0'") && svg.contains("&lt;a&gt;") && svg.contains("4.00 ns"),
            "{svg}"
        );
        assert!(stacked("", "", &[]).is_empty());
        let below = Some(Bar { value: -0.5, from: -1.0, to: 2.0 });
        let svg = bars("", "ns", &[], &[(String::new(), vec![below])]);
        assert!(svg.contains("&lt; 2.00"), "{svg}");
        assert!(!svg.contains("-0.5"), "{svg}");
    }
}
