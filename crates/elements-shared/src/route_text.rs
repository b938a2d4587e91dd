//! Routes as Click prints them.

use std::fmt::{Display, Write};

/// A route in columns, as tables show it: prefix, gateway and output, and something behind them.
pub fn line(prefix: &dyn Display, gateway: &dyn Display, output: &dyn Display, rest: &str) -> String {
    let mut line = format!("{prefix}\t");
    if line.len() < 17 {
        line.push('\t');
    }
    let at = line.len();
    let _ = write!(line, "{gateway}\t"); // writing to a string does not fail
    if line.len() < at + 9 {
        line.push('\t');
    }
    let _ = writeln!(line, "{output}{rest}");
    line
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn short_columns_get_a_second_tab() {
        assert_eq!(line(&"1.0.0.0/8", &"-", &-1, ""), "1.0.0.0/8\t\t-\t\t-1\n");
        assert_eq!(
            line(&"100.100.100.0/24", &"100.100.100.1", &2, "\tx"),
            "100.100.100.0/24\t100.100.100.1\t2\tx\n"
        );
    }
}
