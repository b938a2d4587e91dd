//! What calls of handlers come to.

use crate::error::HandlerError;

/// The value of a read, or what a write answers; or why there is none.
pub type HandlerResult = Result<String, HandlerError>;

/// What a call comes to: its result, and what the handler warned of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The result.
    pub result: HandlerResult,
    /// Warnings, as they are shown: in lines, with the word.
    pub warnings: Vec<String>,
    /// The status of a write that failed, unless it is that of most (EINVAL).
    pub status: Option<i64>,
}

impl From<HandlerResult> for Response {
    fn from(result: HandlerResult) -> Response {
        Response { result, warnings: Vec::new(), status: None }
    }
}

impl Response {
    /// Merges the responses of all instances; what several of them warn of is said once.
    pub(crate) fn merged(merge: Merge, responses: impl Iterator<Item = Response>) -> Response {
        let (mut results, mut warnings, mut status) = (Vec::new(), Vec::new(), None);
        for response in responses {
            results.push(response.result);
            status = status.or(response.status);
            for warning in response.warnings {
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
        }
        Response { result: merge.apply(results), warnings, status }
    }
}

/// How the values that several instances of one element return become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Merge {
    /// The first instance's.
    #[default]
    First,
    /// The sum of numbers.
    Sum,
    /// One after the other.
    Concatenate,
    /// One after the other, with spaces between.
    Words,
    /// Lines of a number, a tab and a label: the numbers of each label added up, labels in order of appearance.
    Tally,
}

impl Merge {
    /// Merges the values of all instances, in the order of workers. Values that are no numbers do not sum: the first
    /// stands then.
    pub fn apply(self, values: Vec<HandlerResult>) -> HandlerResult {
        let mut values = values.into_iter();
        let Some(first) = values.next() else { return Ok(String::new()) };
        if self == Merge::Tally {
            return std::iter::once(first).chain(values).collect::<Result<Vec<_>, _>>().map(|v| tally(&v));
        }
        let mut merged = first?;
        for value in values {
            let value = value?;
            match self {
                Merge::First | Merge::Tally => {}
                Merge::Concatenate => merged.push_str(&value),
                Merge::Words => merged.extend([" ", &value]),
                Merge::Sum => {
                    if let Some(sum) = add(&merged, &value) {
                        merged = sum;
                    }
                }
            }
        }
        Ok(merged)
    }
}

fn tally(values: &[String]) -> String {
    let mut sums: Vec<(&str, u64)> = Vec::new();
    for line in values.iter().flat_map(|value| value.lines()) {
        let Some((number, label)) = line.split_once('\t') else { continue };
        let number: u64 = number.parse().unwrap_or(0);
        match sums.iter_mut().find(|(known, _)| *known == label) {
            Some((_, sum)) => *sum += number,
            None => sums.push((label, number)),
        }
    }
    sums.iter().map(|(label, sum)| format!("{sum}\t{label}\n")).collect()
}

fn add(a: &str, b: &str) -> Option<String> {
    if let (Ok(a), Ok(b)) = (a.trim().parse::<i128>(), b.trim().parse::<i128>()) {
        return Some((a + b).to_string());
    }
    let (a, b) = (a.trim().parse::<f64>().ok()?, b.trim().parse::<f64>().ok()?);
    Some((a + b).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_merge_as_declared() {
        let merge =
            |how: Merge, values: &[&str]| how.apply(values.iter().map(|v| Ok((*v).to_owned())).collect());
        assert_eq!(merge(Merge::Sum, &["1", "41"]).as_deref(), Ok("42"));
        assert_eq!(merge(Merge::Sum, &["0.5", "1"]).as_deref(), Ok("1.5"));
        assert_eq!(merge(Merge::First, &["a", "b"]).as_deref(), Ok("a"));
        assert_eq!(merge(Merge::Concatenate, &["a\n", "b\n"]).as_deref(), Ok("a\nb\n"));
        assert_eq!(merge(Merge::Words, &["1", "0.5"]).as_deref(), Ok("1 0.5"));
        let tallied = merge(Merge::Tally, &["1\tx\n2\ty\n", "", "3\ty\n4\tz\n"]);
        assert_eq!(tallied.as_deref(), Ok("1\tx\n5\ty\n4\tz\n"));
        assert_eq!(Merge::Sum.apply(vec![Ok("1".into()), Err("no".into())]), Err("no".into()));
    }
}
