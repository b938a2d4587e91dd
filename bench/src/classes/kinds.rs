//! Which stages are simple: `tests/not-simple.txt`.

use super::rows::Row;

const NOT_SIMPLE: &str = include_str!("../../../tests/not-simple.txt");

/// Classes or stages, each with the reason why it is not simple.
fn known() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = NOT_SIMPLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut reason = "";
    lines.filter_map(move |line| match line.strip_prefix("  ") {
        Some(stage) => Some((stage, reason)),
        None => {
            reason = line.split(':').next().unwrap_or_default();
            None
        }
    })
}

/// Why a row is not simple, if it is not.
pub(crate) fn not_simple(row: &Row) -> Option<&'static str> {
    known().find(|(stage, _)| [row.class, row.stage].contains(stage)).map(|(_, reason)| reason)
}

#[cfg(test)]
mod tests {
    use super::super::rows::rows;
    use super::*;

    /// Each line names a row, and none is there twice.
    #[test]
    fn lines_name_rows() {
        let rows = rows().expect("the rows are right");
        let mut seen = std::collections::BTreeSet::new();
        for (stage, reason) in known() {
            assert!(rows.iter().any(|row| [row.class, row.stage].contains(&stage)), "{stage}");
            assert!(!reason.is_empty() && seen.insert(stage), "{stage}");
        }
        let simple = rows.iter().filter(|row| not_simple(row).is_none()).count();
        assert!(simple * 3 > rows.len(), "{simple} of {}", rows.len());
    }
}
