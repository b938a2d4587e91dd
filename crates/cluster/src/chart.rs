//! Line charts as SVG.

use std::fmt::Write;

/// Whether numbers are placed by their logarithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// By themselves, from zero.
    Linear,
    /// By their logarithm.
    Log,
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What is written beside it.
    pub label: String,
    /// How numbers are placed.
    pub scale: Scale,
}

/// A line through points.
#[derive(Clone, Debug)]
pub struct Series {
    /// What is written in the legend.
    pub name: String,
    /// Its points.
    pub points: Vec<(f64, f64)>,
    /// Whether the line is broken.
    pub dashed: bool,
}

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What is written above it.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What it shows.
    pub series: Vec<Series>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 480.0;
/// Room at the left, right, top and bottom.
const MARGINS: [f64; 4] = [80.0, 20.0, 40.0, 60.0];
/// Told apart also without colour vision.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999"];

/// Where numbers lie along an axis.
struct Span {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Span {
    fn of(scale: Scale, values: impl Iterator<Item = f64>) -> Span {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| scale == Scale::Linear || *value > 0.0) {
            (low, high) = (low.min(value), high.max(value));
        }
        match scale {
            _ if low > high => Span { scale, low: 0.1, high: 1.0 },
            Scale::Linear => {
                Span { scale, low: low.min(0.0), high: if high > 0.0 { high * 1.05 } else { 1.0 } }
            }
            Scale::Log => Span { scale, low: low / 1.2, high: high * 1.2 },
        }
    }

    /// From 0 at the low end to 1 at the high end.
    fn place(&self, value: f64) -> f64 {
        let by = |v: f64| if self.scale == Scale::Log { v.max(self.low).ln() } else { v };
        (by(value) - by(self.low)) / (by(self.high) - by(self.low))
    }

    /// Numbers that are written at the axis.
    fn ticks(&self) -> Vec<f64> {
        match self.scale {
            Scale::Log => {
                let base: f64 = if self.high / self.low > 1e5 { 10.0 } else { 2.0 };
                let (first, last) = (self.low.log(base).ceil() as i32, self.high.log(base).floor() as i32);
                (first..=last).map(|power| base.powi(power)).collect()
            }
            Scale::Linear => {
                let rough = (self.high - self.low) / 6.0;
                let unit = 10f64.powf(rough.log10().floor());
                let step = [1.0, 2.0, 5.0, 10.0].map(|k| k * unit).into_iter().find(|s| *s >= rough);
                let step = step.unwrap_or(unit);
                (0..).map(|k| k as f64 * step).take_while(|v| *v <= self.high).collect()
            }
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

impl Chart {
    /// The chart as an SVG document.
    pub fn svg(&self) -> String {
        sheet(std::slice::from_ref(self))
    }

    /// What the chart draws, at the origin.
    fn body(&self) -> String {
        let points = || self.series.iter().flat_map(|series| series.points.iter());
        let x = Span::of(self.x.scale, points().map(|p| p.0));
        let y = Span::of(self.y.scale, points().map(|p| p.1));
        let [left, right, top, bottom] = MARGINS;
        let at_x = |value| left + x.place(value) * (WIDTH - left - right);
        let at_y = |value| HEIGHT - bottom - y.place(value) * (HEIGHT - top - bottom);
        let mut svg = String::new();
        let mut line = |text: std::fmt::Arguments<'_>| {
            // Writing into a string cannot fail.
            let _ = writeln!(svg, "{text}");
        };
        line(format_args!(r#"<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>"#));
        let middle = WIDTH / 2.0;
        let label = |text: &str, place: String| {
            format!("<text {place} text-anchor=\"middle\">{}</text>", escape(text))
        };
        line(format_args!("{}", label(&self.title, format!(r#"x="{middle}" y="22" font-size="15""#))));
        line(format_args!("{}", label(&self.x.label, format!(r#"x="{middle}" y="{}""#, HEIGHT - 15.0))));
        let turned = format!(r#"transform="translate(18 {}) rotate(-90)""#, HEIGHT / 2.0);
        line(format_args!("{}", label(&self.y.label, turned)));
        for tick in x.ticks() {
            let (at, end) = (at_x(tick), HEIGHT - bottom);
            line(format_args!(r##"<path d="M{at:.1} {top}V{end}" stroke="#ddd"/>"##));
            line(format_args!("{}", label(&number(tick), format!(r#"x="{at:.1}" y="{}""#, end + 18.0))));
        }
        for tick in y.ticks() {
            let (at, end) = (at_y(tick), WIDTH - right);
            line(format_args!(r##"<path d="M{left} {at:.1}H{end}" stroke="#ddd"/>"##));
            let place = format!(r#"x="{}" y="{:.1}""#, left - 28.0, at + 4.0);
            line(format_args!("{}", label(&number(tick), place)));
        }
        for (index, series) in self.series.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            let dash = if series.dashed { r#" stroke-dasharray="6 4""# } else { "" };
            let way: Vec<_> =
                series.points.iter().map(|p| format!("{:.1},{:.1}", at_x(p.0), at_y(p.1))).collect();
            line(format_args!(
                r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>"#,
                way.join(" ")
            ));
            let height = top + 16.0 * (index + 1) as f64;
            line(format_args!(
                r#"<path d="M{} {}h24" stroke="{colour}" stroke-width="2"{dash}/><text x="{}" y="{height}">{}</text>"#,
                left + 10.0,
                height - 4.0,
                left + 40.0,
                escape(&series.name)
            ));
        }
        svg
    }
}

/// Charts below each other, as one SVG document.
pub fn sheet(charts: &[Chart]) -> String {
    let height = HEIGHT * charts.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n"
    );
    for (place, chart) in charts.iter().enumerate() {
        // Writing into a string cannot fail.
        let _ =
            writeln!(svg, "<g transform=\"translate(0 {})\">\n{}</g>", HEIGHT * place as f64, chart.body());
    }
    svg + "</svg>\n"
}

/// A number with as many digits as it needs.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points lie inside the frame, in order, also where a logarithm has none.
    #[test]
    fn points_lie_inside() {
        let axis = |label: &str| Axis { label: label.to_owned(), scale: Scale::Log };
        let points = vec![(4.0, 4.0), (64.0, 192.0), (2_048.0, 8_192.0)];
        let series = vec![Series { name: "a & b".to_owned(), points, dashed: false }];
        let svg = Chart { title: "t".to_owned(), x: axis("x"), y: axis("y"), series }.svg();
        let way = svg.split("points=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a line");
        let places: Vec<f64> = way.split([' ', ',']).map(|n| n.parse().expect("a number")).collect();
        assert!(
            places.iter().all(|&p| (0.0..WIDTH).contains(&p))
                && places[0] < places[2]
                && places[1] > places[3]
        );
        assert!(svg.contains("a &amp; b") && svg.contains(">2048<"));
    }
}
