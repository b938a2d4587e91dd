//! Charts of lines over a logarithmic axis.

use plotters::prelude::*;
use std::path::Path;

/// A chart, drawn as SVG.
pub(crate) struct Chart<'a> {
    pub(crate) file: &'a str,
    pub(crate) title: &'a str,
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
    /// Named lines of points, whose x are above zero.
    pub(crate) lines: Vec<(String, Vec<(f64, f64)>)>,
}

impl Chart<'_> {
    /// Draws it into a folder.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn draw(&self, folder: &Path) -> Result<(), String> {
        let path = folder.join(self.file);
        let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
        let points = || self.lines.iter().flat_map(|(_, points)| points);
        let (from, to) = points().fold((f64::MAX, 0.0f64), |(from, to), (x, _)| (from.min(*x), to.max(*x)));
        let highest = points().map(|(_, y)| *y).fold(0.0, f64::max);
        // A fraction needs no room above one.
        let top = if highest <= 1.0 { (1.1 * highest).clamp(0.01, 1.0) } else { 1.1 * highest };
        let area = SVGBackend::new(&path, (720, 440)).into_drawing_area();
        area.fill(&WHITE).map_err(|e| failed(&e))?;
        let mut chart = ChartBuilder::on(&area)
            .caption(self.title, ("sans-serif", 18))
            .margin(12)
            .margin_right(24)
            .x_label_area_size(44)
            .y_label_area_size(56)
            .build_cartesian_2d((from..to).log_scale(), 0.0..top)
            .map_err(|e| failed(&e))?;
        let mut mesh = chart.configure_mesh();
        mesh.light_line_style(WHITE).x_desc(self.x).y_desc(self.y).draw().map_err(|e| failed(&e))?;
        for (number, (name, points)) in self.lines.iter().enumerate() {
            let color = Palette99::pick(number).stroke_width(2);
            chart
                .draw_series(LineSeries::new(points.iter().copied(), color))
                .map_err(|e| failed(&e))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color));
        }
        let mut labels = chart.configure_series_labels();
        labels.background_style(WHITE.mix(0.8)).border_style(BLACK.mix(0.4));
        labels.position(SeriesLabelPosition::MiddleLeft).draw().map_err(|e| failed(&e))?;
        drop(chart);
        area.present().map_err(|e| failed(&e))
    }
}
