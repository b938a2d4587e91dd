//! Figures as people read them.

/// A number in at most five places: `12`, `1.23k`, `45.6M`.
pub(super) fn short(value: f64) -> String {
    scaled(value, 1000.0, &["", "k", "M", "G", "T", "P", "E"])
}

/// Bytes, in powers of 1,024: `12 B`, `1.23 KiB`.
pub(super) fn bytes(value: f64) -> String {
    scaled(value, 1024.0, &[" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"])
}

fn scaled(value: f64, step: f64, units: &[&str]) -> String {
    let (mut value, mut unit) = (value, 0);
    // What would be written as 1000 is a 1 of the next unit.
    while value.abs() >= 999.5 && unit + 1 < units.len() {
        (value, unit) = (value / step, unit + 1);
    }
    let places = match value.abs() {
        v if v >= 99.95 || v.fract() == 0.0 && unit == 0 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.places$}{}", units[unit])
}

/// The same, or a dash for what is not known.
pub(super) fn or_dash(value: Option<f64>, form: fn(f64) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), form)
}

/// A share in per cent.
pub(super) fn percent(value: f64) -> String {
    format!("{:.0}%", value * 100.0)
}

/// A duration: `12.3 us`, `45 ms`, `1:02:03`.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.001 => format!("{:.0} us", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s if s < 60.0 => format!("{s:.1} s"),
        s => {
            let whole = s as u64;
            let (days, hours, minutes) = (whole / 86_400, whole / 3600 % 24, whole / 60 % 60);
            let days = if days > 0 { format!("{days}d ") } else { String::new() };
            format!("{days}{hours}:{minutes:02}:{:02}", whole % 60)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_sizes_and_times_are_written_short() {
        let said = [0.0, 7.0, 0.25, 12.34, 999.4, 999.6, 1234.0, 99_960.0, 12_345_678.0].map(short);
        assert_eq!(said, ["0", "7", "0.25", "12.3", "999", "1.00k", "1.23k", "100k", "12.3M"]);
        assert_eq!([512.0, 2048.0, 70_000_000.0].map(bytes), ["512 B", "2.00 KiB", "66.8 MiB"]);
        let times = [0.000_012, 0.0456, 5.0, 61.0, 90_061.0].map(duration);
        assert_eq!(times, ["12 us", "45.6 ms", "5.0 s", "0:01:01", "1d 1:01:01"]);
    }
}
